"""Requirements as people and tools write them down: YAML files, and diagnostic databases."""
