"""The steps, in their order: each is named for what is there behind it."""
