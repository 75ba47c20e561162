"""When two types fit together, and how types are called in messages."""

from __future__ import annotations

from whence.expr.types import (
    BOOL,
    INT32,
    PLAIN_INT,
    ArrayType,
    BoolType,
    ChannelType,
    ClockType,
    ConstraintType,
    DifferenceType,
    IntType,
    ScalarType,
    StructType,
    Type,
    VoidType,
)

__all__ = [
    "assignable",
    "common_type",
    "describe",
    "holds_channel",
    "holds_clock",
    "is_integral",
    "same_type",
    "widened",
]


def is_integral(type_: Type | None) -> bool:
    """Integers and truth values convert into each other."""
    return isinstance(type_, IntType | BoolType)


def same_type(left: Type | None, right: Type | None) -> bool:
    """Types that are the same but for how their structs are called.

    A range fits a plain `int` (as in UPPAAL), but not another range.
    """
    match left, right:
        case IntType(), IntType():
            return left == right or not {left, right}.isdisjoint((PLAIN_INT, INT32))
        case ArrayType(), ArrayType():
            if isinstance(left.index, ScalarType) or isinstance(right.index, ScalarType):
                fits = left.index == right.index
            else:
                fits = left.length == right.length
            return fits and same_type(left.element, right.element)
        case StructType(), StructType():
            return len(left.fields) == len(right.fields) and all(
                name == other and same_type(type_, other_type)
                for (name, type_), (other, other_type) in zip(
                    left.fields, right.fields, strict=True
                )
            )
        case ChannelType(), ChannelType():
            return True
        case _:
            return left == right


def widened(type_: Type) -> Type:
    """The type of a constant: one declared as `int` may be any number of 32 bits."""
    match type_:
        case IntType():
            return INT32 if type_ == PLAIN_INT else type_
        case ArrayType():
            return ArrayType(widened(type_.element), type_.index)
        case StructType():
            fields = tuple((name, widened(of_field)) for name, of_field in type_.fields)
            return StructType(fields, type_.name)
        case _:
            return type_


def assignable(target: Type | None, value: Type | None) -> bool:
    if is_integral(target):
        return is_integral(value)
    if isinstance(target, ScalarType | ArrayType | StructType):
        return same_type(target, value) and not holds_clock(target) and not holds_channel(target)
    return False


def common_type(left: Type | None, right: Type | None) -> Type | None:
    """What `c ? left : right` is, or None if the two do not fit."""
    match left, right:
        case BoolType(), BoolType():
            return BOOL
        case IntType(), IntType():
            return IntType(min(left.lo, right.lo), max(left.hi, right.hi))
        case ((IntType() | BoolType()), (IntType() | BoolType())):
            return INT32
        case _:
            return left if same_type(left, right) else None


def holds_clock(type_: Type | None) -> bool:
    match type_:
        case ClockType():
            return True
        case ArrayType():
            return holds_clock(type_.element)
        case StructType():
            return any(holds_clock(field_type) for _, field_type in type_.fields)
        case _:
            return False


def holds_channel(type_: Type | None) -> bool:
    match type_:
        case ChannelType():
            return True
        case ArrayType():
            return holds_channel(type_.element)
        case StructType():
            return any(holds_channel(field_type) for _, field_type in type_.fields)
        case _:
            return False


def describe(type_: Type | None) -> str:
    """A type in a message: "an integer", "a clock constraint"."""
    match type_:
        case IntType() | None:
            return "an integer"
        case BoolType():
            return "a truth value"
        case ScalarType():
            return f"a value of scalar set {type_}"
        case ClockType():
            return "a clock"
        case DifferenceType():
            return "a sum or difference of clocks"
        case ConstraintType():
            return "a clock constraint"
        case ChannelType():
            return "a channel"
        case ArrayType():
            return f"an array {type_}"
        case StructType():
            return f"a struct {type_}".replace("struct struct", "struct")
        case VoidType():
            return "nothing (void)"
