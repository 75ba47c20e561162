"""Tests of programs: tables, documents, test universes, and observations within the source."""
