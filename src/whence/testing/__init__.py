"""Test generation from concurrent timed state machines (Peleska et al., technical report 2011)."""
