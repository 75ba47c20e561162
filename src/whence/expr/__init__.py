"""One typed expression language with several interpretations of it."""
