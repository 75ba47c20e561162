"""Readers and writers, one module a format: text in, model out."""
