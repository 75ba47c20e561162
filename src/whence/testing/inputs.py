"""Values of inputs to try: at the bounds, at constants that guards compare them with, and one of
each class that guards treat alike (section 3)."""

from __future__ import annotations

from collections.abc import Iterator

from whence.expr.ieee import COMPARISONS, Format, from_ordinal, nan, operation_of, ordinal, rounded
from whence.expr.tree import Binary, Call, Expr, IntLiteral, Name
from whence.expr.walk import subexpressions
from whence.testing.model import TimedModel, Variable

__all__ = ["beside", "classes", "interesting"]

#: An input with so few values is tried with all of them.
_FEW = 4
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


def interesting(model: TimedModel, variable: Variable) -> tuple[int, ...]:
    """The values of an input to try: its bounds, and what lies at constants that it is compared
    with, on both sides. Of a floating-point number, these are the neighbours, and those of both
    zeros."""
    low, high = variable.limits
    if high - low < _FEW:
        return tuple(range(low, high + 1))
    found = {low, high}
    for _, constant in _comparisons(model, variable):
        found.update((constant - 1, constant, constant + 1))
        if variable.ieee is not None and constant in (-1, 0):
            found.update((-2, -1, 0, 1))
    return tuple(sorted(value for value in found if low <= value <= high))


def classes(model: TimedModel, variable: Variable) -> tuple[tuple[int, int], ...]:
    """The ranges of an input within which each comparison of a guard with a constant has one
    truth value."""
    low, high = variable.limits
    begins = {low}
    for op, constant in _comparisons(model, variable):
        first = last = constant
        if variable.ieee is not None:
            begins.add(nan(variable.ieee))
            if constant in (-1, 0):
                first, last = -1, 0
        if op in ("<", ">=", "==", "!="):
            begins.add(first)
        if op in ("<=", ">", "==", "!="):
            begins.add(last + 1)
    ordered = sorted(begin for begin in begins if low <= begin <= high)
    ends = [*(begin - 1 for begin in ordered[1:]), high]
    return tuple(zip(ordered, ends, strict=True))


def beside(model: TimedModel, variable: Variable) -> tuple[Expr, ...]:
    """What guards compare a floating-point input with that is no constant; its value is an ordinal
    of the input's format."""
    found: dict[Expr, None] = {}
    for side, other, _, _ in _pairs(model):
        if (
            variable.ieee is not None
            and isinstance(side, Name)
            and side.symbol == variable.symbol
            and not isinstance(other, IntLiteral)
        ):
            found[other] = None
    return tuple(found)


def _pairs(model: TimedModel) -> Iterator[tuple[Expr, Expr, str, Format | None]]:
    """The comparisons in guards, from both sides, with the format of what is compared."""
    for machine in model.machines:
        for one in machine.transitions:
            for part in () if one.guard is None else subexpressions(one.guard):
                if isinstance(part, Binary) and part.op in _FLIPPED:
                    yield part.left, part.right, part.op, None
                    yield part.right, part.left, _FLIPPED[part.op], None
                elif isinstance(part, Call):
                    found = operation_of(part)
                    if found is not None and found[1] in COMPARISONS:
                        left, right = part.arguments
                        yield left, right, found[1], found[0]
                        yield right, left, _FLIPPED[found[1]], found[0]


def _comparisons(model: TimedModel, variable: Variable) -> Iterator[tuple[str, int]]:
    for side, other, op, format_ in _pairs(model):
        if not isinstance(other, IntLiteral):
            continue
        if isinstance(side, Name) and side.symbol == variable.symbol:
            if format_ is None or other.value != nan(format_):
                yield op, other.value
        elif (
            isinstance(side, Call)
            and side.callee == "f64 from f32"
            and isinstance(side.arguments[0], Name)
            and side.arguments[0].symbol == variable.symbol
        ):
            yield from _narrow(op, other.value)


def _narrow(op: str, constant: int) -> Iterator[tuple[str, int]]:
    """How numbers of 32 bits compare with one of 64 bits that is none of them."""
    value = from_ordinal(constant, 64)
    if value != value or op in ("==", "!="):
        return
    near = ordinal(rounded(value, 32), 32)
    if op in ("<", ">="):
        yield op, near + (from_ordinal(near, 32) < value)
    else:
        yield op, near - (from_ordinal(near, 32) > value)
