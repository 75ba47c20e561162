"""Bus logs: readers of frames, messages out of frames (ISO-TP), events out of messages (UDS)."""
