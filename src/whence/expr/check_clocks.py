"""Comparisons with clocks, brought into the one form that later stages know:
`clock ~ integer` or `clock - clock ~ integer`."""

from __future__ import annotations

from whence.expr.scope import Problem
from whence.expr.tree import Binary, Expr, IntLiteral, Unary
from whence.expr.types import (
    CLOCK,
    CONSTRAINT,
    DIFFERENCE,
    INT32,
    ClockType,
    DifferenceType,
    IntType,
    Type,
)
from whence.source import Origin

__all__ = ["COMPARISONS", "compare_clocks", "is_clocked"]

#: Each comparison, and the same one read from right to left.
COMPARISONS = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}

_Term = tuple[int, Expr]


def is_clocked(type_: Type | None) -> bool:
    """Whether a value of this type is made of clocks and may only be compared."""
    return isinstance(type_, ClockType | DifferenceType)


class _Side:
    """One side of a comparison as a sum: of clocks, each added or subtracted, and of the rest."""

    def __init__(self, expr: Expr) -> None:
        self.clocks: list[_Term] = []
        self.rest: list[_Term] = []
        self._add(1, expr)

    def _add(self, sign: int, expr: Expr) -> None:
        if isinstance(expr.type, ClockType):
            self.clocks.append((sign, expr))
        elif not isinstance(expr.type, DifferenceType):
            self.rest.append((sign, expr))
        elif isinstance(expr, Unary):
            self._add(-sign if expr.op == "-" else sign, expr.operand)
        else:
            assert isinstance(expr, Binary)
            self._add(sign, expr.left)
            self._add(-sign if expr.op == "-" else sign, expr.right)


def compare_clocks(op: str, left: Expr, right: Expr, origin: Origin) -> Expr:
    """`left op right`, where at least one side is made of clocks, in normal form.

    `!=` becomes `< or >`.
    """
    if op not in COMPARISONS:
        raise Problem(f"clocks cannot be combined by `{op}`", origin)
    lhs, rhs = _Side(left), _Side(right)
    plus, minus = _cancel(lhs.clocks + [(-sign, clock) for sign, clock in rhs.clocks])
    if max(len(plus), len(minus)) > 1 or not (plus or minus):
        raise Problem(
            "a clock constraint compares one clock, or the difference of two, with an integer",
            origin,
        )
    # Read it from right to left where that keeps what was written: `5 < x`, `5 < x - y`.
    turned = not plus or (bool(minus) and bool(lhs.rest) and not rhs.rest)
    if turned:
        plus, minus, lhs, rhs, op = minus, plus, rhs, lhs, COMPARISONS[op]
    bound = _sum(rhs.rest + [(-sign, term) for sign, term in lhs.rest], origin)
    subject = plus[0]
    if minus:
        subject = Binary(
            "-",
            plus[0],
            minus[0],
            type=DIFFERENCE,
            origin=origin if turned else _span(plus[0], minus[0]),
        )
    else:
        assert subject.type == CLOCK
    if op == "!=":
        return Binary(
            "||",
            Binary("<", subject, bound, type=CONSTRAINT, origin=origin),
            Binary(">", subject, bound, type=CONSTRAINT, origin=origin),
            type=CONSTRAINT,
            origin=origin,
        )
    return Binary(op, subject, bound, type=CONSTRAINT, origin=origin)


def _span(first: Expr, last: Expr) -> Origin:
    a, b = first.origin, last.origin
    return a.to(b) if (a.line, a.column) <= (b.line, b.column) else b.to(a)


def _cancel(terms: list[_Term]) -> tuple[list[Expr], list[Expr]]:
    """(clocks added, clocks subtracted), without those that are both."""
    plus = [clock for sign, clock in terms if sign > 0]
    minus = []
    for sign, clock in terms:
        if sign < 0:
            if clock in plus:
                plus.remove(clock)
            else:
                minus.append(clock)
    return plus, minus


def _sum(terms: list[_Term], origin: Origin) -> Expr:
    """The sum of integer terms, starting with one that is added if there is one."""
    total: Expr | None = None
    for sign, term in sorted(terms, key=lambda term: -term[0]):
        if total is not None:
            total = Binary("+" if sign > 0 else "-", total, term, type=INT32, origin=term.origin)
        elif sign > 0:
            total = term
        else:
            total = Unary("-", term, type=INT32, origin=term.origin)
    if total is None:
        return IntLiteral(0, type=IntType(0, 0), origin=origin)
    return total
