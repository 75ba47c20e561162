"""C's conversions, made explicit, and what can be said about constants at once."""

from __future__ import annotations

import struct
from typing import Literal

from whence.formats.c.types import promoted
from whence.model.program import (
    Binary,
    Cast,
    Expansion,
    Expression,
    FloatConstant,
    FloatType,
    IntConstant,
    IntType,
    Logical,
    NullPointer,
    PointerType,
    Type,
    Unary,
    VoidType,
)
from whence.source import Origin

__all__ = ["COMPARISONS", "common", "convert", "is_truth", "truth", "unary", "wrapped", "zero"]

COMPARISONS = frozenset({"<", ">", "<=", ">=", "==", "!="})


def wrapped(value: int, type: IntType) -> int:
    """The value that `value` has at an integer type (C99, 6.3.1.3; as gcc and clang for signed
    types)."""
    if type.boolean:
        return int(value != 0)
    value &= (1 << type.bits) - 1
    if type.signed and value > type.greatest:
        value -= 1 << type.bits
    return value


def convert(
    value: Expression, type: Type, origin: Origin | None = None, expansion: Expansion | None = None
) -> Expression:
    """`value` at `type`; itself where it has that type already."""
    if value.type == type or isinstance(type, VoidType):
        return value
    if origin is None:
        origin, expansion = value.origin, value.expansion
    match value, type:
        case IntConstant(), IntType():
            return IntConstant(wrapped(value.value, type), type, origin, expansion)
        case IntConstant(), FloatType():
            number = float(value.value)
            if type.bits == 32:
                number = _single(number)
            return FloatConstant(number, type, origin, expansion)
        case FloatConstant(), FloatType():
            number = value.value if type.bits == 64 else _single(value.value)
            return FloatConstant(number, type, origin, expansion)
        case (IntConstant(value=0) | NullPointer(), PointerType()):
            return NullPointer(type, origin, expansion)
    return Cast(value, type, origin, expansion)


def _single(number: float) -> float:
    try:
        rounded: float = struct.unpack("<f", struct.pack("<f", number))[0]
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")
    return rounded


def common(left: Type, right: Type, int_bits: int) -> Type:
    """The type at which C computes with operands of these two (C99, 6.3.1.8)."""
    if isinstance(left, FloatType) or isinstance(right, FloatType):
        bits = [type.bits for type in (left, right) if isinstance(type, FloatType)]
        return FloatType(max(bits))
    assert isinstance(left, IntType)
    assert isinstance(right, IntType)
    one, two = promoted(left, int_bits), promoted(right, int_bits)
    if one.bits == two.bits:
        return IntType(one.bits, one.signed and two.signed)
    return one if one.bits > two.bits else two


def unary(
    operator: Literal["-", "~", "!"],
    operand: Expression,
    type: Type,
    origin: Origin,
    expansion: Expansion | None,
) -> Expression:
    if operator == "-" and isinstance(operand, IntConstant) and isinstance(type, IntType):
        value = -operand.value
        if value <= type.greatest or not type.signed:
            return IntConstant(wrapped(value, type), type, origin, expansion)
    if operator == "-" and isinstance(operand, FloatConstant):
        return FloatConstant(-operand.value, type, origin, expansion)
    return Unary(operator, operand, type, origin, expansion)


def truth(value: Expression) -> Expression:
    """A condition without the `!= 0` that says nothing."""
    while (
        isinstance(value, Binary)
        and value.operator == "!="
        and isinstance(value.right, (IntConstant, NullPointer))
        and (isinstance(value.right, NullPointer) or value.right.value == 0)
    ):
        value = value.left
    return value


def is_truth(value: Expression) -> bool:
    """Whether the value is 0 or 1 in any case."""
    match value:
        case Logical():
            return True
        case Binary(operator=operator):
            return operator in COMPARISONS
        case Unary(operator=operator):
            return operator == "!"
    return False


def zero(value: Expression) -> Expression:
    match value.type:
        case PointerType():
            return NullPointer(value.type, value.origin, value.expansion)
        case FloatType():
            return FloatConstant(0.0, value.type, value.origin, value.expansion)
        case _:
            return IntConstant(0, value.type, value.origin, value.expansion)
