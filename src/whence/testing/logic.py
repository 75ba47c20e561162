"""Makes checked expressions of parts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from whence.expr.tree import Binary, BoolLiteral, Expr, IntLiteral, Name, Symbol, Unary
from whence.expr.types import BOOL, INT32, IntType
from whence.source import NOWHERE, Origin

__all__ = [
    "both",
    "compare",
    "either",
    "negation",
    "number",
    "operation",
    "read",
    "within",
    "wrapped",
]

TRUE = BoolLiteral(True, type=BOOL)
FALSE = BoolLiteral(False, type=BOOL)


def both(parts: Iterable[Expr | None]) -> Expr:
    """The conjunction; None is true."""
    return _joined("&&", [part for part in parts if part is not None], TRUE)


def either(parts: Iterable[Expr]) -> Expr:
    return _joined("||", list(parts), FALSE)


def _joined(op: str, parts: list[Expr], empty: Expr) -> Expr:
    """In a tree that is as low as can be, the parts from left to right."""
    if not parts:
        return empty
    if len(parts) == 1:
        return parts[0]
    middle = len(parts) // 2
    left, right = _joined(op, parts[:middle], empty), _joined(op, parts[middle:], empty)
    return Binary(op, left, right, type=BOOL, origin=left.origin)


def negation(part: Expr) -> Expr:
    return Unary("!", part, type=BOOL, origin=part.origin)


def number(value: int, origin: Origin = NOWHERE) -> Expr:
    return IntLiteral(value, type=IntType(value, value), origin=origin)


def read(symbol: Symbol) -> Expr:
    return Name(symbol.name, symbol, type=symbol.type)


def compare(op: str, left: Expr, right: Expr) -> Expr:
    return Binary(op, left, right, type=BOOL, origin=left.origin)


def operation(op: str, left: Expr, right: Expr) -> Expr:
    return Binary(op, left, right, type=INT32, origin=left.origin)


def within(symbol: Symbol, first: int, last: int) -> Expr:
    """That a number is from `first` to `last`."""
    if first == last:
        return compare("==", read(symbol), number(first))
    return both(
        (
            compare(">=", read(symbol), number(first)),
            compare("<=", read(symbol), number(last)),
        )
    )


def wrapped(value: Expr, limits: tuple[int, int]) -> Expr:
    """The number within the limits that differs by a multiple of the range's size. `%` has the
    sign of its left side, and the range contains 0: what is shifted is positive."""
    low, high = limits
    size = number(high - low + 1, value.origin)
    rest = operation("%", value, size)
    again = operation("%", operation("+", rest, number(high - low + 1 - low)), size)
    return replace(operation("+", again, number(low)), type=IntType(low, high))
