"""Fault localization in C programs (Graussam), and the interpreter that runs their tests."""
