"""From what place, from what cause: models, their faults, and what to change."""
