"""Consistency-based diagnosis, from its definition (Graussam, equation 5.3): all sets of components
are tried, and all values of all variables."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product

__all__ = ["all_minimal", "consistent", "unhealthy_sets"]

Clauses = Sequence[Sequence[int]]


def unhealthy_sets(
    variables: int, clauses: Clauses, observation: Sequence[int], healthy: Sequence[int]
) -> set[frozenset[int]]:
    """For all values of the variables under which everything holds, the components (by number)
    that are not healthy."""
    found = set()
    for values in product([False, True], repeat=variables):
        true = {v if value else -v for v, value in enumerate(values, 1)}
        if all(literal in true for literal in observation) and all(
            any(literal in true for literal in clause) for clause in clauses
        ):
            found.add(frozenset(n for n, literal in enumerate(healthy) if literal not in true))
    return found


def consistent(possible: set[frozenset[int]], diagnosis: frozenset[int]) -> bool:
    """Whether an observation with these sets of components that are not healthy (all that there
    are) is consistent if all outside of the diagnosis are healthy."""
    return any(unhealthy <= diagnosis for unhealthy in possible)


def all_minimal(
    variables: int,
    clauses: Clauses,
    healthy: Sequence[int],
    observations: Sequence[Sequence[int]],
) -> set[frozenset[int]]:
    """The minimal diagnoses, as sets of numbers of components."""
    possible = [unhealthy_sets(variables, clauses, each, healthy) for each in observations]
    found: set[frozenset[int]] = set()
    for size in range(len(healthy) + 1):
        for members in combinations(range(len(healthy)), size):
            diagnosis = frozenset(members)
            if any(smaller <= diagnosis for smaller in found):
                continue
            if all(consistent(each, diagnosis) for each in possible):
                found.add(diagnosis)
    return found
