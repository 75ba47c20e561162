"""Consistency-based diagnosis, from its definition (Graussam, equation 5.3): all sets of components
are tried, and all values of all variables."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product

__all__ = ["all_minimal", "consistent"]

Clauses = Sequence[Sequence[int]]


def consistent(
    variables: int, clauses: Clauses, observation: Sequence[int], healthy: Sequence[int]
) -> bool:
    """Whether values of the variables exist under which everything holds."""
    for values in product([False, True], repeat=variables):
        true = {v if value else -v for v, value in enumerate(values, 1)}
        if (
            all(literal in true for literal in observation)
            and all(literal in true for literal in healthy)
            and all(any(literal in true for literal in clause) for clause in clauses)
        ):
            return True
    return False


def all_minimal(
    variables: int,
    clauses: Clauses,
    healthy: Sequence[int],
    observations: Sequence[Sequence[int]],
) -> set[frozenset[int]]:
    """The minimal diagnoses, as sets of numbers of components."""
    numbers = range(len(healthy))
    found: set[frozenset[int]] = set()
    for size in range(len(healthy) + 1):
        for members in combinations(numbers, size):
            diagnosis = frozenset(members)
            if any(smaller <= diagnosis for smaller in found):
                continue
            rest = [healthy[number] for number in numbers if number not in diagnosis]
            if all(consistent(variables, clauses, each, rest) for each in observations):
                found.add(diagnosis)
    return found
