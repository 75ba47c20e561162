"""Values of inputs to try: at the bounds, at constants that guards compare them with, and one of
each class that guards treat alike (section 3)."""

from __future__ import annotations

from collections.abc import Iterator

from whence.expr.tree import Binary, IntLiteral, Name
from whence.expr.walk import subexpressions
from whence.testing.model import TimedModel, Variable

__all__ = ["classes", "interesting"]

#: An input with so few values is tried with all of them.
_FEW = 4
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


def interesting(model: TimedModel, variable: Variable) -> tuple[int, ...]:
    """The values of an input to try: its bounds, and what lies at constants that it is compared
    with, on both sides."""
    low, high = variable.limits
    if high - low < _FEW:
        return tuple(range(low, high + 1))
    found = {low, high}
    for _, constant in _comparisons(model, variable):
        found.update((constant - 1, constant, constant + 1))
    return tuple(sorted(value for value in found if low <= value <= high))


def classes(model: TimedModel, variable: Variable) -> tuple[tuple[int, int], ...]:
    """The ranges of an input within which each comparison of a guard with a constant has one
    truth value."""
    low, high = variable.limits
    begins = {low}
    for op, constant in _comparisons(model, variable):
        if op in ("<", ">=", "==", "!="):
            begins.add(constant)
        if op in ("<=", ">", "==", "!="):
            begins.add(constant + 1)
    ordered = sorted(begin for begin in begins if low <= begin <= high)
    ends = [*(begin - 1 for begin in ordered[1:]), high]
    return tuple(zip(ordered, ends, strict=True))


def _comparisons(model: TimedModel, variable: Variable) -> Iterator[tuple[str, int]]:
    for machine in model.machines:
        for one in machine.transitions:
            for part in () if one.guard is None else subexpressions(one.guard):
                if not isinstance(part, Binary) or part.op not in _FLIPPED:
                    continue
                sides = ((part.left, part.right, part.op), (part.right, part.left, None))
                for side, other, op in sides:
                    if (
                        isinstance(side, Name)
                        and side.symbol == variable.symbol
                        and isinstance(other, IntLiteral)
                    ):
                        yield op or _FLIPPED[part.op], other.value
