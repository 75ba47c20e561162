"""Conditions on integers along a path of a program: added one by one, and asked about.

Integers are mathematical ones; whoever computes modulo something says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import z3

__all__ = ["Condition", "PathConditions", "Term", "choice", "either", "opposite"]

#: Terms and conditions of the solver. They know the operators of Python.
Term: TypeAlias = Any
Condition: TypeAlias = Any


class PathConditions:
    """The conditions of one path; `begin` drops them all. A question that takes too long has the
    answer None."""

    def __init__(self) -> None:
        # A context of its own: see `whence.solve.linear`.
        self._context = z3.Context()
        self._solver: Any = z3.Solver(ctx=self._context)
        self._solver.set("rlimit", 30_000)
        self._count = 0
        self.checks = 0

    def begin(self) -> None:
        self._solver.reset()
        self._count = 0

    def unknown(self, least: int, greatest: int) -> Term:
        """A new one. In each path the same names come in the same order."""
        term = z3.Int(f"x{self._count}", self._context)
        self._count += 1
        self._solver.add(term >= least, term <= greatest)
        return term

    def number(self, value: int) -> Term:
        return z3.IntVal(value, self._context)

    def require(self, condition: Condition) -> None:
        self._solver.add(condition)

    def possible(self, condition: Condition | None = None) -> bool | None:
        """Whether it can hold together with all that is required."""
        self.checks += 1
        answer = self._solver.check(*(() if condition is None else (condition,)))
        if answer == z3.unknown:
            return None
        return bool(answer == z3.sat)

    def values(self, terms: Sequence[Term]) -> tuple[int, ...]:
        """Of one solution. Pre: the last answer was that there is one."""
        model = self._solver.model()
        return tuple(model.eval(term, model_completion=True).as_long() for term in terms)


def opposite(condition: Condition) -> Condition:
    return z3.Not(condition)


def either(conditions: Sequence[Condition]) -> Condition:
    return z3.Or(*conditions)


def choice(condition: Condition, then: Term, otherwise: Term) -> Term:
    return z3.If(condition, then, otherwise)
