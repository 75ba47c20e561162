"""Small amounts by which several numbers are to be changed, the least of all that will do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import z3

__all__ = ["Amounts", "AtLeast"]

#: (coefficients by variable, constant): the weighted sum is at least the constant.
AtLeast = tuple[Mapping[int, int], int]


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
        most = z3.Int("most", context)
        self._optimizer.add(*(most >= s for s in size))
        # The first objective comes first.
        self._optimizer.minimize(z3.Sum(size))
        self._optimizer.minimize(most)

    def require_any(self, sums: Sequence[AtLeast]) -> None:
        """At least one of the sums is as large as it must be."""
        self._optimizer.add(z3.Or([self._term(*each) for each in sums]))

    def _term(self, coefficients: Mapping[int, int], least: int) -> Any:
        return z3.Sum([k * self._d[number] for number, k in sorted(coefficients.items())]) >= least

    def least(self) -> tuple[int, ...] | None:
        """The values with the least sum of magnitudes, and among these the least largest magnitude;
        None if there are none."""
        if self._optimizer.check() != z3.sat:
            return None
        model = self._optimizer.model()
        return tuple(model.eval(d, model_completion=True).as_long() for d in self._d)
