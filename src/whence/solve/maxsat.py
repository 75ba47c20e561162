"""As many of some literals as possible, by MaxSAT (the RC2 algorithm): for comparison only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pysat.examples.rc2 import RC2
from pysat.formula import WCNF

__all__ = ["correction_sets"]


def correction_sets(
    clauses: Iterable[Sequence[int]], wished: Sequence[int], engine: str = "glucose4"
) -> Iterator[frozenset[int]]:
    """The minimal sets of wished literals without which the others can all hold, by size."""
    formula: Any = WCNF()
    for clause in clauses:
        formula.append(list(clause))
    for literal in wished:
        formula.append([literal], weight=1)
    with RC2(formula, solver=engine) as search:
        for model in search.enumerate(block=-1):
            true = frozenset(model)
            yield frozenset(literal for literal in wished if literal not in true)
