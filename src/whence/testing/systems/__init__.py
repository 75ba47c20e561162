"""Systems under test: what a test can be run against."""
