"""Probabilities (Koelbl, section 3.5, last part, and section 7.3): of hazards, of their causes, and
of emergency modes that fail, in continuous-time Markov chains."""
