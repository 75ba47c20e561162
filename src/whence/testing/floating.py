"""Floating-point numbers of IEEE 754 in the texts of a chart, computed with as C does it.

The checker takes their names for integers. Here expressions get their meaning: operations and
comparisons become those of :mod:`whence.expr.ieee`, after C's usual conversions: beside a number of
64 bits everything becomes one; beside one of 32 bits, integers and fixed-point numbers do, and a
decimal such as `0.1` makes it 64 bits, as it is a double (`0.1f` has 32 bits).  What has no
floating-point number in it is computed as it is without them: `1/3` is 0, `0.5 + 0.25` is exact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from whence.expr.ieee import (
    ARITHMETIC,
    COMPARISONS,
    Format,
    call,
    from_ordinal,
    literal,
    nearest,
    numbers,
)
from whence.expr.scope import Problem
from whence.expr.tree import Binary, Conditional, Expr, IntLiteral, Name, Symbol, SymbolKind, Unary
from whence.expr.types import BOOL
from whence.expr.walk import subexpressions
from whence.source import Origin
from whence.testing.fixed import at_scale, scaled

__all__ = ["Meaning", "constant_symbol", "literal_symbol"]

_LOGIC = ("&&", "||", "imply")


def constant_symbol(number: int, format_: Format) -> Symbol:
    """What stands for a known number in an expression."""
    return Symbol("", f"ieee {format_} {number}", SymbolKind.VARIABLE, numbers(format_))


def literal_symbol(parts: Sequence[int | None]) -> Symbol | None:
    """The number top / below * 10^exponent, with so many bits; None if that is none."""
    if len(parts) != 4 or None in parts or not parts[1]:
        return None
    top, below, exponent, bits = (part or 0 for part in parts)
    format_: Format = 32 if bits == 32 else 64
    value = Fraction(top, below) * Fraction(10) ** max(min(exponent, 99), -99)
    return constant_symbol(nearest(value, format_), format_)


def _known(symbol: Symbol) -> tuple[int, Format] | None:
    if not symbol.name.startswith("ieee "):
        return None
    _, format_, number = symbol.name.split()
    return int(number), 32 if format_ == "32" else 64


@dataclass(frozen=True, slots=True)
class _Kind:
    """A number of a floating-point format, or (None) a whole one, so many times its value."""

    format: Format | None
    scale: int = 1


@dataclass(frozen=True, slots=True)
class Meaning:
    """The scales of fixed-point numbers, and the formats of floating-point ones."""

    scales: Mapping[Symbol, int]
    formats: Mapping[Symbol, Format]

    # ------------------------------------------------------------------------------------ entries

    def truth(self, expr: Expr) -> Expr:
        """A condition."""
        new, kind = self._of(expr)
        if kind.format is None:
            return new
        return call(kind.format, "!=", new, literal(0, expr.origin))

    def assigned(self, expr: Expr, target: Symbol) -> Expr:
        """What a variable becomes: to a whole number or to a fixed-point number it is rounded
        towards 0."""
        wanted = self.formats.get(target)
        if wanted is not None:
            return self._converted(*self._of(expr), wanted)
        scale = self.scales.get(target, 1)
        if not self._floating(expr):
            return at_scale(expr, self.scales, scale)
        new, kind = self._of(expr)
        if kind.format is None:
            return new
        if target.type == BOOL:
            return call(kind.format, "!=", new, literal(0, expr.origin))
        if scale == 1:
            return call(kind.format, "to int", new)
        factor = literal(nearest(Fraction(scale), 64), expr.origin)
        return call(64, "to int", call(64, "*", self._converted(new, kind, 64), factor))

    # ---------------------------------------------------------------------------------- conversion

    def _floating(self, expr: Expr) -> bool:
        return any(
            isinstance(part, Name)
            and part.symbol is not None
            and (part.symbol in self.formats or _known(part.symbol) is not None)
            for part in subexpressions(expr)
        )

    def _of(self, expr: Expr) -> tuple[Expr, _Kind]:
        if not self._floating(expr):
            new, scale = scaled(expr, self.scales)
            return new, _Kind(None, scale)
        match expr:
            case Name(symbol=Symbol() as symbol):
                known = _known(symbol)
                if known is not None:
                    return literal(known[0], expr.origin), _Kind(known[1])
                return expr, _Kind(self.formats[symbol])
            case Unary(op="!", operand=operand):
                return replace(expr, operand=self.truth(operand)), _Kind(None)
            case Unary(op=op, operand=operand):
                inner, kind = self._of(operand)
                if kind.format is None:
                    return replace(expr, operand=inner), kind
                return (inner if op == "+" else call(kind.format, "neg", inner)), kind
            case Binary(op=op, left=left, right=right) if op in _LOGIC:
                return replace(expr, left=self.truth(left), right=self.truth(right)), _Kind(None)
            case Binary():
                return self._binary(expr)
            case Conditional(condition, then, otherwise):
                first, second = self._of(then), self._of(otherwise)
                format_ = _common(first, second)
                if format_ is None:
                    raise _refused("a choice between numbers", expr.origin)
                new = replace(
                    expr,
                    condition=self.truth(condition),
                    then=self._converted(*first, format_),
                    otherwise=self._converted(*second, format_),
                    type=numbers(format_),
                )
                return new, _Kind(format_)
        raise _refused("this expression", expr.origin)

    def _binary(self, expr: Binary) -> tuple[Expr, _Kind]:
        left, right = self._of(expr.left), self._of(expr.right)
        format_ = _common(left, right)
        if format_ is None and left[1].scale == right[1].scale == 1:
            # Truth values that floating-point numbers have been compared for.
            return replace(expr, left=left[0], right=right[0]), _Kind(None)
        if format_ is None or expr.op not in (*COMPARISONS, *ARITHMETIC):
            raise _refused(f"`{expr.op}`", expr.origin)
        if expr.op in COMPARISONS and format_ == 64:
            format_ = self._narrow(left, right)
        first, second = self._converted(*left, format_), self._converted(*right, format_)
        result = call(format_, expr.op, first, second, origin=expr.origin)
        return result, _Kind(None if expr.op in COMPARISONS else format_)

    def _narrow(self, *sides: tuple[Expr, _Kind]) -> Format:
        """Numbers of 32 bits compare with a known one of as many as they would with 64 bits."""
        for expr, kind in sides:
            if kind.format == 32:
                continue
            if not isinstance(expr, IntLiteral):
                return 64
            exact = Fraction(expr.value, kind.scale) if kind.format is None else None
            if exact is None:
                value = from_ordinal(expr.value, 64)
                if value - value != 0:
                    return 64
                exact = Fraction(value)
            near = from_ordinal(nearest(exact, 32), 32)
            if near - near != 0 or Fraction(near) != exact:
                return 64
        return 32

    def _converted(self, expr: Expr, kind: _Kind, wanted: Format) -> Expr:
        if kind.format == wanted:
            return expr
        if kind.format is not None:
            return call(wanted, f"from f{kind.format}", expr)
        if isinstance(expr, IntLiteral):
            return literal(nearest(Fraction(expr.value, kind.scale), wanted), expr.origin)
        if kind.scale == 1:
            return call(wanted, "from int", expr)
        divisor = literal(nearest(Fraction(kind.scale), 64), expr.origin)
        exact = call(64, "/", call(64, "from int", expr), divisor)
        return exact if wanted == 64 else call(32, "from f64", exact)


def _common(left: tuple[Expr, _Kind], right: tuple[Expr, _Kind]) -> Format | None:
    formats = {kind.format for _, kind in (left, right)} - {None}
    if not formats:
        return None
    decimal = any(
        kind.format is None and kind.scale != 1 and isinstance(expr, IntLiteral)
        for expr, kind in (left, right)
    )
    return 64 if decimal or 64 in formats else 32


def _refused(what: str, origin: Origin) -> Problem:
    return Problem(
        f"{what} of floating-point numbers",
        origin,
        "they can be added, subtracted, multiplied, divided, compared and assigned, and have "
        "`<?` (minimum) and `>?` (maximum)",
        unsupported=True,
    )
