"""Timed counterexamples explained and mended (Koelbl, chapters 8 to 10)."""
