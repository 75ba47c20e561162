"""Bounds on floating-point numbers, as intervals of their ordinals (:mod:`whence.expr.ieee`).

Rounding to the nearest keeps order, so that the bounds of an operation are its results at corners:
they are as narrow as can be.  NaN is the last ordinal: where it may be a result, the upper bound is
it.  Where a corner is NaN itself, nothing is known.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from whence.expr.ieee import (
    Format,
    divided,
    from_ordinal,
    infinity,
    nan,
    numbers,
    ordinal,
    rounded,
)
from whence.expr.types import INT32

__all__ = ["Bounds", "bounds_of", "compared", "narrowed"]

#: The lowest and the highest ordinal (or integer).
Bounds = tuple[int, int]

_OPERATIONS: Final[dict[str, Callable[[float, float], float]]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": divided,
}


def _whole(format_: Format) -> Bounds:
    return numbers(format_).lo, numbers(format_).hi


def _ordered(bounds: Bounds, format_: Format) -> Bounds | None:
    """Without NaN; None: it is NaN."""
    if bounds[0] == nan(format_):
        return None
    return bounds[0], min(bounds[1], infinity(format_))


def bounds_of(format_: Format, op: str, arguments: tuple[Bounds, ...]) -> Bounds:
    """Of an operation that is no comparison."""
    match op:
        case "from int":
            return _mapped(arguments[0], lambda n: ordinal(rounded(float(n), format_), format_))
        case "from f32":
            return _mapped(arguments[0], lambda n: ordinal(from_ordinal(n, 32), 64))
        case "from f64":
            return _mapped(arguments[0], lambda n: ordinal(rounded(from_ordinal(n, 64), 32), 32))
        case "to int":
            return _to_int(arguments[0], format_)
        case "neg":
            return _negated(arguments[0], format_)
        case "<?" | ">?":
            return _extreme(op, arguments[0], arguments[1], format_)
    return _arithmetic(op, arguments[0], arguments[1], format_)


def _mapped(bounds: Bounds, function: Callable[[int], int]) -> Bounds:
    return function(bounds[0]), function(bounds[1])


def _to_int(bounds: Bounds, format_: Format) -> Bounds:
    left = _ordered(bounds, format_)
    if left is None:
        return INT32.lo, INT32.hi
    low, high = (from_ordinal(one, format_) for one in left)
    least = INT32.lo if low < INT32.lo else int(min(low, INT32.hi))
    most = INT32.hi if high > INT32.hi else int(max(high, INT32.lo))
    return least, most


def _negated(bounds: Bounds, format_: Format) -> Bounds:
    left = _ordered(bounds, format_)
    if left is None:
        return bounds
    return -1 - left[1], nan(format_) if bounds[1] == nan(format_) else -1 - left[0]


def _extreme(op: str, one: Bounds, other: Bounds, format_: Format) -> Bounds:
    first, second = _ordered(one, format_), _ordered(other, format_)
    if first is None:
        return other
    if second is None:
        return one
    choose = min if op == "<?" else max
    low, high = choose(first[0], second[0]), choose(first[1], second[1])
    # The other one is the result where one is NaN.
    for bounds, beside in ((one, other), (other, one)):
        if bounds[1] == nan(format_):
            low, high = min(low, beside[0]), max(high, beside[1])
    return low, high


def _arithmetic(op: str, one: Bounds, other: Bounds, format_: Format) -> Bounds:
    first, second = _ordered(one, format_), _ordered(other, format_)
    if first is None or second is None:
        return nan(format_), nan(format_)
    unordered = nan(format_) in (one[1], other[1])
    infinite, zero = _has_infinity(first, format_), _has_zero(first)
    infinite_too, zero_too = _has_infinity(second, format_), _has_zero(second)
    match op:
        case "/":
            if zero_too:
                return _whole(format_)
            unordered |= infinite and infinite_too
        case "*":
            unordered |= (infinite and zero_too) or (infinite_too and zero)
        case _:
            unordered |= infinite and infinite_too
    function = _OPERATIONS[op]
    corners = [
        ordinal(
            rounded(function(from_ordinal(a, format_), from_ordinal(b, format_)), format_), format_
        )
        for a in first
        for b in second
    ]
    if nan(format_) in corners:
        return _whole(format_)
    return min(corners), nan(format_) if unordered else max(corners)


def _has_infinity(bounds: Bounds, format_: Format) -> bool:
    return bounds[1] == infinity(format_) or bounds[0] == -1 - infinity(format_)


def _has_zero(bounds: Bounds) -> bool:
    return bounds[0] <= 0 and bounds[1] >= -1


def compared(op: str, one: Bounds, other: Bounds, format_: Format) -> bool | None:
    """The truth of a comparison, if it is the same for all numbers within the bounds."""
    if op in (">", ">="):
        return compared("<" if op == ">" else "<=", other, one, format_)
    if op == "!=":
        same = compared("==", one, other, format_)
        return None if same is None else not same
    first, second = _ordered(one, format_), _ordered(other, format_)
    if first is None or second is None:
        return False
    ordered = nan(format_) not in (one[1], other[1])
    low, high = (from_ordinal(number, format_) for number in first)
    least, most = (from_ordinal(number, format_) for number in second)
    match op:
        case "<":
            always, never = high < least, low >= most
        case "<=":
            always, never = high <= least, low > most
        case _:
            always, never = low == high == least == most, high < least or low > most
    if always and ordered:
        return True
    return False if never else None


def narrowed(op: str, known: Bounds, other: Bounds, format_: Format) -> Bounds | None:
    """What is left of `known` if it compares so, truly, with something in `other`."""
    if op == "!=":
        return known
    left, right = _ordered(known, format_), _ordered(other, format_)
    if left is None or right is None:
        return None
    low, high = left
    # Both zeros are equal.
    match op:
        case "<":
            high = min(high, _below(right[1]) - 1)
        case "<=":
            high = min(high, _above(right[1]))
        case ">":
            low = max(low, _above(right[0]) + 1)
        case ">=":
            low = max(low, _below(right[0]))
        case "==":
            low, high = max(low, _below(right[0])), min(high, _above(right[1]))
    return (low, high) if low <= high else None


def _below(number: int) -> int:
    return -1 if number == 0 else number


def _above(number: int) -> int:
    return 0 if number == -1 else number
