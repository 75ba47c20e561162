"""Floating-point operations (:mod:`whence.expr.ieee`) as terms of z3's theory of them.

Between operations terms are of a floating-point sort; they become ordinals, as bit vectors, only
where an integer is asked for."""

from __future__ import annotations

from typing import Any

from whence.expr.ieee import Format, nan
from whence.expr.types import INT32

__all__ = ["Term", "comparison", "float_of", "literal_of", "operation", "ordinal_of", "to_int"]

Term = Any


def _sort(z3: Any, format_: Format) -> Term:
    return z3.Float32() if format_ == 32 else z3.Float64()


def float_of(z3: Any, bits: Term, format_: Format) -> Term:
    """The number whose ordinal is given, as so many bits."""
    flipped = bits ^ z3.BitVecVal((1 << (format_ - 1)) - 1, format_)
    return z3.fpBVToFP(z3.If(bits < 0, flipped, bits), _sort(z3, format_))


def ordinal_of(z3: Any, number: Term, format_: Format) -> Term:
    bits = z3.fpToIEEEBV(number)
    flipped = bits ^ z3.BitVecVal((1 << (format_ - 1)) - 1, format_)
    # That of a NaN may be any pattern: it is not looked at.
    return z3.If(
        z3.fpIsNaN(number), z3.BitVecVal(nan(format_), format_), z3.If(bits < 0, flipped, bits)
    )


def literal_of(z3: Any, number: int, format_: Format) -> Term:
    if number == nan(format_):
        return z3.fpNaN(_sort(z3, format_))
    return z3.simplify(float_of(z3, z3.BitVecVal(number, format_), format_))


def operation(z3: Any, format_: Format, op: str, arguments: list[Term]) -> Term:
    """Pre: no comparison, and not `to int`."""
    nearest = z3.RNE()
    match op:
        case "from int":
            return z3.fpSignedToFP(nearest, arguments[0], _sort(z3, format_))
        case "from f32" | "from f64":
            return z3.fpFPToFP(nearest, arguments[0], _sort(z3, format_))
        case "neg":
            return z3.fpNeg(arguments[0])
        case "+":
            return z3.fpAdd(nearest, *arguments)
        case "-":
            return z3.fpSub(nearest, *arguments)
        case "*":
            return z3.fpMul(nearest, *arguments)
        case "/":
            return z3.fpDiv(nearest, *arguments)
        case "<?" | ">?":
            return _extreme(z3, op, *arguments)
    raise ValueError(f"no operation: {op}")


def _extreme(z3: Any, op: str, one: Term, other: Term) -> Term:
    """The theory leaves open which zero is the smaller one."""
    first = z3.fpLT(one, other) if op == "<?" else z3.fpGT(one, other)
    sign = z3.fpIsNegative(one)
    wanted = sign if op == "<?" else z3.Not(sign)
    return z3.If(
        z3.fpIsNaN(one),
        other,
        z3.If(
            z3.Or(z3.fpIsNaN(other), first, z3.And(z3.fpEQ(one, other), wanted)),
            one,
            other,
        ),
    )


def comparison(z3: Any, op: str, left: Term, right: Term) -> Term:
    match op:
        case "==":
            return z3.fpEQ(left, right)
        case "!=":
            return z3.Not(z3.fpEQ(left, right))
        case "<":
            return z3.fpLT(left, right)
        case "<=":
            return z3.fpLEQ(left, right)
        case ">":
            return z3.fpGT(left, right)
        case ">=":
            return z3.fpGEQ(left, right)
    raise ValueError(f"no comparison: {op}")


def to_int(z3: Any, number: Term, format_: Format) -> tuple[Term, Term]:
    """Rounded towards 0, with 32 bits, and whether there is such a value."""
    sort = _sort(z3, format_)
    least, most = z3.FPVal(INT32.lo, sort), z3.FPVal(2.0**31, sort)
    if format_ == 64:
        above = z3.fpGT(number, z3.FPVal(INT32.lo - 1, sort))
    else:
        above = z3.fpGEQ(number, least)
    fits = z3.And(above, z3.fpLT(number, most))
    return z3.fpToSBV(z3.RTZ(), number, z3.BitVecSort(32)), fits
