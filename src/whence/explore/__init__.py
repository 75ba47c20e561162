"""State spaces: zone graphs and discrete ones, searched by one kernel for all models."""
