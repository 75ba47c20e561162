"""State formulas in the form that the kernel searches for: a list of alternatives, each a
conjunction of a data condition, clock constraints, and possibly `deadlock` or its negation."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import reduce

from whence.expr.evaluate import domain_of
from whence.expr.tree import (
    Binary,
    BoolLiteral,
    Conditional,
    Deadlock,
    Expr,
    InLocation,
    IntLiteral,
    Quantifier,
    Unary,
)
from whence.expr.types import BOOL, CONSTRAINT, ConstraintType, IntType
from whence.expr.walk import subexpressions, substitute
from whence.source import Diagnostic, UnsupportedError

__all__ = ["OPPOSITE", "Alternative", "alternatives", "both", "conjuncts", "negation"]

_LIMIT = 4096
#: The comparisons of clocks whose contrary is one comparison, too.
OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}


@dataclass(frozen=True, slots=True)
class Alternative:
    """`deadlock` is 0 (no matter), 1 (must be deadlocked) or 2 (must not be)."""

    conjuncts: tuple[Expr, ...]
    deadlock: int = 0

    @property
    def condition(self) -> Expr | None:
        """The conjuncts as one guard."""
        if not self.conjuncts:
            return None
        return reduce(both, self.conjuncts)

    @property
    def location(self) -> tuple[int, int] | None:
        """A (process, location) that the alternative demands, if one is plain to see."""
        for conjunct in self.conjuncts:
            for part in conjuncts(conjunct):
                if isinstance(part, InLocation) and isinstance(part.process, IntLiteral):
                    return part.process.value, part.location
        return None

    def __and__(self, other: Alternative) -> Alternative | None:
        if self.deadlock and other.deadlock and self.deadlock != other.deadlock:
            return None
        return Alternative(self.conjuncts + other.conjuncts, self.deadlock or other.deadlock)


def both(left: Expr, right: Expr) -> Expr:
    """`left && right`, of the type that it has."""
    timed = isinstance(left.type, ConstraintType) or isinstance(right.type, ConstraintType)
    return Binary("&&", left, right, type=CONSTRAINT if timed else BOOL, origin=left.origin)


def conjuncts(expr: Expr) -> Iterable[Expr]:
    """The parts of a conjunction."""
    if isinstance(expr, Binary) and expr.op == "&&":
        yield from conjuncts(expr.left)
        yield from conjuncts(expr.right)
    else:
        yield expr


def negation(expr: Expr) -> Expr:
    """`!expr`, of the same kind of type."""
    timed = isinstance(expr.type, ConstraintType)
    return Unary("!", expr, type=CONSTRAINT if timed else BOOL, origin=expr.origin)


def alternatives(formula: Expr) -> tuple[Alternative, ...]:
    """The disjunctive normal form of a state formula; parts without clocks stay whole."""
    return tuple(_normal(formula, True))


def _speaks_of_time(expr: Expr) -> bool:
    return any(
        isinstance(part, Deadlock) or isinstance(part.type, ConstraintType)
        for part in subexpressions(expr)
    )


def _normal(expr: Expr, positive: bool) -> list[Alternative]:
    if isinstance(expr, Deadlock):
        return [Alternative((), 1 if positive else 2)]
    if not _speaks_of_time(expr):
        if isinstance(expr, BoolLiteral):
            return [Alternative(())] if expr.value is positive else []
        return [Alternative((expr if positive else negation(expr),))]
    match expr:
        case Unary("!", operand):
            return _normal(operand, not positive)
        case Binary("imply", left, right):
            if positive:
                return _either(expr, _normal(left, False), _normal(right, True))
            return _both(expr, _normal(left, True), lambda: _normal(right, False))
        case Binary("&&" | "||" as op, left, right):
            if (op == "&&") is positive:
                return _both(expr, _normal(left, positive), lambda: _normal(right, positive))
            return _either(expr, _normal(left, positive), _normal(right, positive))
        case Conditional(condition, then, otherwise):
            chosen = _both(expr, _normal(condition, True), lambda: _normal(then, positive))
            other = _both(expr, _normal(condition, False), lambda: _normal(otherwise, positive))
            return _either(expr, chosen, other)
        case Quantifier(kind="forall" | "exists" as kind, symbol=symbol) if symbol is not None:
            parts = [
                _normal(
                    substitute(expr.body, symbol, IntLiteral(value, type=IntType(value, value))),
                    positive,
                )
                for value in domain_of(symbol)
            ]
            if (kind == "forall") is positive:
                whole = [Alternative(())]
                for part in parts:
                    whole = _both(expr, whole, lambda part=part: part)  # type: ignore[misc]
                return whole
            return _either(expr, *parts)
        case Binary(op, left, right) if op in (*OPPOSITE, "==") and isinstance(
            expr.type, ConstraintType
        ):
            if positive:
                return [Alternative((expr,))]
            if op == "==":
                return [
                    Alternative((replace(expr, op="<"),)),
                    Alternative((replace(expr, op=">"),)),
                ]
            return [Alternative((replace(expr, op=OPPOSITE[op]),))]
    raise UnsupportedError(
        Diagnostic("not supported: clock constraints or deadlock inside this operator", expr.origin)
    )


def _either(expr: Expr, *parts: list[Alternative]) -> list[Alternative]:
    return _limited(expr, [alternative for part in parts for alternative in part])


def _both(
    expr: Expr, left: list[Alternative], right: Callable[[], list[Alternative]]
) -> list[Alternative]:
    if not left:
        return []
    second = right()
    joined = (a & b for a in left for b in second)
    return _limited(expr, [alternative for alternative in joined if alternative is not None])


def _limited(expr: Expr, found: list[Alternative]) -> list[Alternative]:
    if len(found) > _LIMIT:
        raise UnsupportedError(
            Diagnostic(
                f"not supported: a state formula with more than {_LIMIT} alternatives over clocks",
                expr.origin,
            )
        )
    return found
