"""Solvers behind typed faces of a few calls each: rooms never import a solver package."""
