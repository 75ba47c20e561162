"""Events as plain text, CSV and JSON lines: for what is not on a CAN bus, and to pass on."""
