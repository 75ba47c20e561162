"""From a model to the faulty line: the parts of the chain that no room has."""
