"""Slow, obviously right versions of what the package does fast, to test it against."""
