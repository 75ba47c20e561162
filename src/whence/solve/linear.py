"""Linear constraints over the rationals, with "and" and "or": is there a solution, and which?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import z3

__all__ = ["All", "Any_", "AtMost", "Formula", "Linear"]


@dataclass(frozen=True, slots=True)
class AtMost:
    """The sum of (variable, coefficient) is at most `bound`, or less if `strict`."""

    terms: tuple[tuple[int, int], ...]
    bound: int
    strict: bool = False

    @property
    def negated(self) -> AtMost:
        return AtMost(tuple((v, -k) for v, k in self.terms), -self.bound, not self.strict)


@dataclass(frozen=True, slots=True)
class All:
    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Any_:
    parts: tuple[Formula, ...]


Formula = AtMost | All | Any_


class Linear:
    """Formulas over variables 0, 1, …, added one after the other."""

    def __init__(self) -> None:
        # A context of its own: in a shared one, which of several solutions comes out depends on
        # everything that was solved before.
        self._context = z3.Context()
        self._solver: Any = z3.SimpleSolver(ctx=self._context)
        self._true = z3.BoolVal(True, self._context)
        self._variables: list[Any] = []

    def variables(self, count: int) -> list[int]:
        """New variables."""
        first = len(self._variables)
        self._variables += [z3.Real(f"v{first + number}", self._context) for number in range(count)]
        return list(range(first, first + count))

    def require(self, formula: Formula) -> None:
        self._solver.add(self._term(formula))

    def _term(self, formula: Formula) -> Any:
        match formula:
            case AtMost(terms, bound, strict):
                zero = z3.RealVal(0, self._context)
                total = z3.Sum([zero, *(k * self._variables[v] for v, k in terms)])
                return total < bound if strict else total <= bound
            case All(parts):
                return z3.And(*(self._term(part) for part in parts), self._true)
            case Any_(parts):
                return z3.Or(*(self._term(part) for part in parts), z3.Not(self._true))

    def solution(self, also: Sequence[Formula] = ()) -> tuple[Fraction, ...] | None:
        """Values of all variables that satisfy everything required, and `also`."""
        self._solver.push()
        try:
            for formula in also:
                self._solver.add(self._term(formula))
            if self._solver.check() != z3.sat:
                return None
            model = self._solver.model()
            found = []
            for variable in self._variables:
                value = model.eval(variable, model_completion=True)
                found.append(Fraction(value.numerator_as_long(), value.denominator_as_long()))
            return tuple(found)
        finally:
            self._solver.pop()
