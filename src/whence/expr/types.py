"""The types of the expression language.

Every value is made of cells, each one integer wide: arrays and structs are flattened row by row,
field by field.  Clocks and channels have cells too; what these hold is not data but the identity
of the clock or channel.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

__all__ = [
    "BOOL",
    "CLOCK",
    "CONSTRAINT",
    "DIFFERENCE",
    "INT32",
    "PLAIN_INT",
    "VOID",
    "ArrayType",
    "BoolType",
    "Cell",
    "ChannelType",
    "ClockType",
    "ConstraintType",
    "DifferenceType",
    "IntType",
    "ScalarType",
    "StructType",
    "Type",
    "VoidType",
    "cells",
    "named_cells",
]


@dataclass(frozen=True, slots=True)
class IntType:
    """Integers from `lo` to `hi`, both included."""

    lo: int
    hi: int

    def __str__(self) -> str:
        if self == PLAIN_INT:
            return "int"
        return f"int[{self.lo},{self.hi}]"


@dataclass(frozen=True, slots=True)
class BoolType:
    def __str__(self) -> str:
        return "bool"


@dataclass(frozen=True, slots=True)
class ScalarType:
    """A scalar set: `size` values without order. `name` tells one declared set from another."""

    size: int
    name: str

    def __str__(self) -> str:
        return self.name or f"scalar[{self.size}]"


@dataclass(frozen=True, slots=True)
class ClockType:
    def __str__(self) -> str:
        return "clock"


@dataclass(frozen=True, slots=True)
class ChannelType:
    broadcast: bool = False
    urgent: bool = False

    def __str__(self) -> str:
        return f"{'urgent ' * self.urgent}{'broadcast ' * self.broadcast}chan"


@dataclass(frozen=True, slots=True)
class ArrayType:
    """`index.lo .. index.hi` elements; a scalar set as index counts from 0."""

    element: Type
    index: IntType | ScalarType

    @property
    def lo(self) -> int:
        return self.index.lo if isinstance(self.index, IntType) else 0

    @property
    def length(self) -> int:
        if isinstance(self.index, ScalarType):
            return self.index.size
        return self.index.hi - self.index.lo + 1

    def __str__(self) -> str:
        return f"{self.element}[{self.length}]"


@dataclass(frozen=True, slots=True)
class StructType:
    fields: tuple[tuple[str, Type], ...]
    name: str = ""

    def field(self, name: str) -> tuple[int, Type] | None:
        """(cell offset, type) of a field, or None if there is none of that name."""
        offset = 0
        for field_name, field_type in self.fields:
            if field_name == name:
                return offset, field_type
            offset += cells(field_type)
        return None

    def __str__(self) -> str:
        return self.name or "struct"


@dataclass(frozen=True, slots=True)
class DifferenceType:
    """A difference `x - y` of two clocks: only good for being compared with an integer."""

    def __str__(self) -> str:
        return "clock difference"


@dataclass(frozen=True, slots=True)
class ConstraintType:
    """A truth value that depends on clocks: guards, invariants and properties may be of it."""

    def __str__(self) -> str:
        return "clock constraint"


@dataclass(frozen=True, slots=True)
class VoidType:
    def __str__(self) -> str:
        return "void"


Type = (
    IntType
    | BoolType
    | ScalarType
    | ClockType
    | ChannelType
    | ArrayType
    | StructType
    | DifferenceType
    | ConstraintType
    | VoidType
)

#: What `int` without a range means in UPPAAL.
PLAIN_INT = IntType(-32768, 32767)
#: What arithmetic is done in.
INT32 = IntType(-(2**31), 2**31 - 1)
BOOL = BoolType()
CLOCK = ClockType()
DIFFERENCE = DifferenceType()
CONSTRAINT = ConstraintType()
VOID = VoidType()


def cells(type_: Type) -> int:
    """How many cells a value of this type takes."""
    match type_:
        case ArrayType():
            return type_.length * cells(type_.element)
        case StructType():
            return sum(cells(field_type) for _, field_type in type_.fields)
        case VoidType():
            return 0
        case _:
            return 1


@dataclass(frozen=True, slots=True)
class Cell:
    """One integer of a variable: its full name (`P1.list[2].id`) and its own type."""

    name: str
    type: Type


def named_cells(name: str, type_: Type) -> Iterator[Cell]:
    """The cells of a value of type `type_`, in order."""
    match type_:
        case ArrayType():
            for index in range(type_.lo, type_.lo + type_.length):
                yield from named_cells(f"{name}[{index}]", type_.element)
        case StructType():
            for field_name, field_type in type_.fields:
                yield from named_cells(f"{name}.{field_name}", field_type)
        case _:
            yield Cell(name, type_)
