"""Many inputs: who works on which of them, and what is kept of what was done."""
