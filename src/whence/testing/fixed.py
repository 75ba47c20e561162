"""Fixed-point numbers: multiples of 1/k are kept as whole numbers, k times as large.

An expression of such numbers becomes one of whole numbers with a *scale*: it has that many times
the value.  Sums and comparisons are made at the least common multiple of the scales of their sides,
products multiply them; all of that is exact.  What is assigned is brought to the scale of its
variable, rounded towards 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from math import lcm

from whence.expr.scope import Problem
from whence.expr.tree import Binary, Conditional, Expr, IntLiteral, Name, Symbol, SymbolKind, Unary
from whence.expr.types import INT32, BoolType, IntType
from whence.model.chart import ChartVariable
from whence.source import Origin
from whence.testing.logic import number, operation

__all__ = ["at_scale", "decimal_symbol", "fixed_numbers", "scaled"]

_KIND = SymbolKind.VARIABLE
_LARGEST = 1_000_000
_SIDES_ALIKE = frozenset(("+", "-", "<?", ">?", "==", "!=", "<", "<=", ">", ">="))
_COMPARISONS = frozenset(("==", "!=", "<", "<=", ">", ">="))
_LOGIC = frozenset(("&&", "||", "imply"))


def decimal_symbol(value: Fraction) -> Symbol:
    """What stands for a decimal number until scales are known."""
    type_ = IntType(value.numerator, value.numerator)
    return Symbol("", f"decimal {value}", kind=_KIND, type=type_)


def scaled(expr: Expr, scales: Mapping[Symbol, int]) -> tuple[Expr, int]:
    """The expression in whole numbers, and how many times its value that is."""
    match expr:
        case Name(symbol=Symbol() as symbol):
            if symbol.name.startswith("decimal "):
                value = Fraction(symbol.name.removeprefix("decimal "))
                return number(value.numerator, expr.origin), value.denominator
            scale = scales.get(symbol, 1)
            return (expr if scale == 1 else replace(expr, name=f"{scale}*{symbol}")), scale
        case Unary(op="!", operand=operand):
            return replace(expr, operand=_whole(operand, scales)), 1
        case Unary(operand=operand):
            inner, scale = scaled(operand, scales)
            return replace(expr, operand=inner), scale
        case Binary(op=op, left=left, right=right) if op in _LOGIC:
            return replace(expr, left=_whole(left, scales), right=_whole(right, scales)), 1
        case Binary(op=op, left=left, right=right):
            return _binary(expr, op, scaled(left, scales), scaled(right, scales))
        case Conditional(condition, then, otherwise):
            first, one = scaled(then, scales)
            second, other = scaled(otherwise, scales)
            common = lcm(one, other)
            new = replace(
                expr,
                condition=_whole(condition, scales),
                then=_times(first, common // one),
                otherwise=_times(second, common // other),
            )
            return (new if common == 1 else replace(new, type=INT32)), common
    return expr, 1


def _binary(
    expr: Binary, op: str, left: tuple[Expr, int], right: tuple[Expr, int]
) -> tuple[Expr, int]:
    if left[1] == right[1] == 1:
        return replace(expr, left=left[0], right=right[0]), 1
    if op in _SIDES_ALIKE:
        common = _checked(lcm(left[1], right[1]), expr.origin)
        new = replace(
            expr,
            left=_times(left[0], common // left[1]),
            right=_times(right[0], common // right[1]),
        )
        if op in _COMPARISONS:
            return new, 1
        return replace(new, type=INT32), common
    if op == "*":
        scale = _checked(left[1] * right[1], expr.origin)
        return replace(expr, left=left[0], right=right[0], type=INT32), scale
    raise Problem(
        f"`{op}` of fixed-point numbers",
        expr.origin,
        "they can be added, subtracted, multiplied, compared and assigned",
        unsupported=True,
    )


def _whole(expr: Expr, scales: Mapping[Symbol, int]) -> Expr:
    """A truth value, or a number that stands for one: different from 0 at any scale."""
    return scaled(expr, scales)[0]


def _checked(scale: int, origin: Origin) -> int:
    if scale > _LARGEST:
        raise Problem(
            f"fixed-point numbers with a step of 1/{scale} here",
            origin,
            f"1/{_LARGEST} is the smallest",
            unsupported=True,
        )
    return scale


def _times(expr: Expr, factor: int) -> Expr:
    if factor == 1:
        return expr
    if isinstance(expr, IntLiteral):
        return number(expr.value * factor, expr.origin)
    if isinstance(expr.type, BoolType):
        expr = Conditional(expr, number(1), number(0), type=IntType(0, 1), origin=expr.origin)
    return operation("*", expr, number(factor, expr.origin))


def at_scale(expr: Expr, scales: Mapping[Symbol, int], wanted: int) -> Expr:
    """For a variable of this scale, rounded towards 0."""
    new, scale = scaled(expr, scales)
    if scale == wanted:
        return new
    common = lcm(scale, wanted)
    new = _times(new, common // scale)
    if common == wanted:
        return new
    if isinstance(new, IntLiteral):
        quotient = abs(new.value) // (common // wanted)
        return number(quotient if new.value >= 0 else -quotient, new.origin)
    return operation("/", new, number(common // wanted, new.origin))


def fixed_numbers(variable: ChartVariable, step: Fraction) -> tuple[int, int, int]:
    """The bounds and the initial value of a fixed-point variable, as it is kept."""
    real = variable.type.bounds
    assert real is not None
    if variable.role == "constant":
        raise Problem(
            f"the fixed-point constant `{variable.name}`",
            variable.origin,
            "write its value where it is used",
            unsupported=True,
        )
    low, high = (int(bound / step) for bound in real)
    if low < INT32.lo or high > INT32.hi:
        raise Problem(f"the range of `{variable.name}` does not fit into 32 bits at this step",
                      variable.origin)  # fmt: skip
    initial = Fraction(min(max(0, low), high)) * step
    if variable.initial is not None:
        try:
            initial = Fraction(variable.initial.text.strip())
        except (ValueError, ZeroDivisionError):
            raise Problem("expected a number", variable.initial.origin(0)) from None
    kept = initial / step
    if kept.denominator != 1 or not low <= kept <= high:
        raise Problem(
            f"the initial value {initial} of `{variable.name}` is no multiple of {step} from "
            f"{real[0]} to {real[1]}",
            variable.origin,
        )
    return low, high, int(kept)
