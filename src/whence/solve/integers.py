"""Small amounts by which several numbers are to be changed, the least of all that will do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import z3

__all__ = ["Amounts", "Condition"]

#: (variable, relation, constant)
Condition = tuple[int, Literal["<=", ">=", "!="], int]


class Amounts:
    """Integers d_0, d_1, … within limits, none of them 0, under conditions that only grow."""

    def __init__(self, limits: Sequence[tuple[int, int]]) -> None:
        """Pre: each limit is (least, greatest)."""
        # A context of its own: see `whence.solve.linear`.
        context = z3.Context()
        self._d = [z3.Int(f"d{number}", context) for number in range(len(limits))]
        self._optimizer: Any = z3.Optimize(ctx=context)
        for d, (least, greatest) in zip(self._d, limits, strict=True):
            self._optimizer.add(d >= least, d <= greatest, d != 0)
        size = [z3.Int(f"s{number}", context) for number in range(len(limits))]
        for d, s in zip(self._d, size, strict=True):
            self._optimizer.add(s >= d, s >= -d)
        self._optimizer.minimize(z3.Sum(size))

    def require_any(self, conditions: Sequence[Condition]) -> None:
        """At least one of the conditions holds."""
        self._optimizer.add(z3.Or([self._term(condition) for condition in conditions]))

    def _term(self, condition: Condition) -> Any:
        number, relation, constant = condition
        d = self._d[number]
        match relation:
            case "<=":
                return d <= constant
            case ">=":
                return d >= constant
            case "!=":
                return d != constant

    def require_sum(self, coefficients: Mapping[int, int], least: int) -> None:
        """The weighted sum is at least `least`."""
        total = z3.Sum([k * self._d[number] for number, k in sorted(coefficients.items())])
        self._optimizer.add(total >= least)

    def least(self) -> tuple[int, ...] | None:
        """The values with the least sum of magnitudes; None if there are none."""
        if self._optimizer.check() != z3.sat:
            return None
        model = self._optimizer.model()
        return tuple(model.eval(d, model_completion=True).as_long() for d in self._d)
