"""Which orders of events cause a hazard, and how likely each is (Koelbl, chapters 3 to 7)."""
