"""What timed charts mean (section 2), three ways: as a relation, a simulator, and abstractly."""
