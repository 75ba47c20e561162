"""Results that stay: runs of commands, and what they found, in a database."""
