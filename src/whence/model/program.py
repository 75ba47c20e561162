"""A C program in a small core language, typed, with every conversion explicit.

Expressions have no side effects: a call, an assignment, `++` inside an expression have become
statements of their own, in the order left to right, with temporaries where a value must outlive
them. What remains is what an interpreter executes and an encoder unrolls (Graussam, chapter 3):
assignments, assertions, decisions, loops, calls, and jumps out of labelled blocks.

Conditions (of `If`, `Loop`, `Logical`, `Conditional`, `Assert`, and the operand of `!`) are
scalars; they hold unless they equal 0. Integers wrap or not as their types and the reader of the
program say: the tree only says which operation is done at which type.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, TypeAlias

from whence.source import NOWHERE, Diagnostic, Origin

__all__ = [
    "AddressOf",
    "ArrayType",
    "Assert",
    "Assign",
    "Binary",
    "BinaryOperator",
    "Block",
    "Call",
    "Cast",
    "Clear",
    "Conditional",
    "DataModel",
    "Declare",
    "Dereference",
    "Element",
    "Enumeration",
    "Evaluate",
    "Expansion",
    "Expression",
    "Field",
    "FloatConstant",
    "FloatType",
    "Function",
    "FunctionAddress",
    "FunctionType",
    "Global",
    "If",
    "Initial",
    "IntConstant",
    "IntType",
    "Leave",
    "Load",
    "Logical",
    "Loop",
    "Member",
    "Next",
    "NullPointer",
    "Place",
    "PointerAdd",
    "PointerDifference",
    "PointerType",
    "Program",
    "Record",
    "RecordType",
    "Return",
    "Section",
    "Statement",
    "Storage",
    "Switch",
    "Type",
    "Unary",
    "Variable",
    "VariablePlace",
    "VoidType",
    "size_of",
]


# --- where things come from -----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Expansion:
    """The macro that wrote a node: of macros within macros the outermost, which stands in the
    code. The node's own origin is the use of the macro too, unless the node was spelled in an
    argument: then it is exactly there. `definition` is the `#define`.

    Of a constant that no macro wrote, the constant of an enumeration that names it
    (`enumerated`)."""

    macro: str
    use: Origin
    definition: Origin = NOWHERE
    enumerated: bool = False


# --- types ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class VoidType:
    pass


@dataclass(frozen=True, slots=True)
class IntType:
    """Two's complement. Enumerations and characters are integers of their width; `boolean` is
    `_Bool`: a conversion to it asks whether the value differs from 0."""

    bits: int
    signed: bool
    boolean: bool = False

    @property
    def least(self) -> int:
        return -(1 << self.bits - 1) if self.signed else 0

    @property
    def greatest(self) -> int:
        if self.boolean:
            return 1
        return (1 << self.bits - self.signed) - 1


@dataclass(frozen=True, slots=True)
class FloatType:
    """IEEE 754 binary32 or binary64."""

    bits: int


@dataclass(frozen=True, slots=True)
class PointerType:
    target: Type
    bits: int


@dataclass(frozen=True, slots=True)
class ArrayType:
    """`length` None: not known here (`extern int a[]`, or the last member of a structure)."""

    element: Type
    length: int | None


@dataclass(frozen=True, slots=True)
class RecordType:
    """A structure or union by its name in `Program.records`, which has the fields. A record
    without a definition has size 0 and is only pointed to."""

    name: str
    size: int
    align: int
    union: bool = False


@dataclass(frozen=True, slots=True)
class FunctionType:
    """`prototyped` is false for `f()`: arguments then arrive promoted, and unchecked."""

    result: Type
    parameters: tuple[Type, ...]
    variadic: bool = False
    prototyped: bool = True


Type: TypeAlias = (
    VoidType | IntType | FloatType | PointerType | ArrayType | RecordType | FunctionType
)


def size_of(type: Type) -> int:
    """In bytes; 0 where there is no size."""
    match type:
        case IntType(bits=bits) | FloatType(bits=bits) | PointerType(bits=bits):
            return bits // 8
        case ArrayType():
            return size_of(type.element) * (type.length or 0)
        case RecordType():
            return type.size
        case VoidType() | FunctionType():
            return 0


@dataclass(frozen=True, slots=True)
class Field:
    """`offset` is in bytes. A bit-field has a `width` and begins `bit` bits behind the start of
    the byte at `offset` (`bit` < 8), counted from its least significant bit, on a little-endian
    machine; on a big-endian one from the most significant bit."""

    name: str
    type: Type
    offset: int
    bit: int = 0
    width: int | None = None
    origin: Origin = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Record:
    type: RecordType
    fields: tuple[Field, ...]
    origin: Origin = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Enumeration:
    name: str
    type: IntType
    constants: tuple[tuple[str, int], ...]
    origin: Origin = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class DataModel:
    """`target` is what clang calls the machine."""

    name: str
    target: str
    int_bits: int
    long_bits: int
    pointer_bits: int
    char_signed: bool
    little_endian: bool = True


# --- variables and places -------------------------------------------------------------------

Storage = Literal["global", "static", "parameter", "local", "temporary"]


@dataclass(frozen=True, slots=True)
class Variable:
    """`key` is unique in the program; `name` is what the source calls it. `static` is what lives
    as long as the program and is visible in one file or function only. A `temporary` is ours:
    it holds a value between two statements that one expression became."""

    key: str
    name: str
    type: Type = field(compare=False)
    storage: Storage = field(compare=False)
    origin: Origin = field(default=NOWHERE, compare=False)
    volatile: bool = field(default=False, compare=False)
    #: The function that a local or a static variable stands in.
    function: str = field(default="", compare=False)

    @property
    def lasting(self) -> bool:
        """Whether it lives as long as the program."""
        return self.storage in ("global", "static")


@dataclass(frozen=True, slots=True)
class VariablePlace:
    variable: Variable
    type: Type
    origin: Origin = NOWHERE
    expansion: Expansion | None = None


@dataclass(frozen=True, slots=True)
class Dereference:
    """What a pointer points at. The pointer must not be null, uninitialised, dead or out of the
    bounds of its object (the pointer assertions of Graussam, section 3.2.5)."""

    pointer: Expression
    type: Type
    origin: Origin = NOWHERE
    expansion: Expansion | None = None


@dataclass(frozen=True, slots=True)
class Element:
    """An element of an array that is itself a place; the index must be below its length (the
    bound assertions of section 3.2.6). `p[i]` of a pointer is `Dereference(PointerAdd(p, i))`.
    `flexible`: the array ends a structure and stands for as many elements as there is room."""

    array: Place
    index: Expression
    type: Type
    flexible: bool = False
    origin: Origin = NOWHERE
    expansion: Expansion | None = None


@dataclass(frozen=True, slots=True)
class Member:
    record: Place
    field: Field
    type: Type
    origin: Origin = NOWHERE
    expansion: Expansion | None = None


Place: TypeAlias = VariablePlace | Dereference | Element | Member


# --- expressions ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class IntConstant:
    value: int
    type: Type
    origin: Origin = NOWHERE
    expansion: Expansion | None = None


@dataclass(frozen=True, slots=True)
class FloatConstant:
    value: float
    type: Type
    origin: Origin = NOWHERE
    expansion: Expansion | None = None


@dataclass(frozen=True, slots=True)
class NullPointer:
    type: Type
    origin: Origin = NOWHERE
    expansion: Expansion | None = None


@dataclass(frozen=True, slots=True)
class FunctionAddress:
    function: str
    type: Type
    origin: Origin = NOWHERE
    expansion: Expansion | None = None


@dataclass(frozen=True, slots=True)
class AddressOf:
    """`type` may point at the first element of what the place holds: an array that decays."""

    place: Place
    type: Type
    origin: Origin = NOWHERE
    expansion: Expansion | None = None


@dataclass(frozen=True, slots=True)
class Load:
    """The value of a place: of scalar or record type, or an array where a string initialises
    one."""

    place: Place
    type: Type
    origin: Origin = NOWHERE
    expansion: Expansion | None = None


@dataclass(frozen=True, slots=True)
class Unary:
    operator: Literal["-", "~", "!"]
    operand: Expression
    type: Type
    origin: Origin = NOWHERE
    expansion: Expansion | None = None


BinaryOperator = Literal[
    "+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "<", ">", "<=", ">=", "==", "!="
]


@dataclass(frozen=True, slots=True)
class Binary:
    """Both operands have one type (of shifts, each its own), which is also that of the result
    except for comparisons; these also compare pointers."""

    operator: BinaryOperator
    left: Expression
    right: Expression
    type: Type
    origin: Origin = NOWHERE
    expansion: Expansion | None = None


@dataclass(frozen=True, slots=True)
class PointerAdd:
    """`pointer` moved by `index` elements of `stride` bytes, backwards if `back`."""

    pointer: Expression
    index: Expression
    stride: int
    back: bool
    type: Type
    origin: Origin = NOWHERE
    expansion: Expansion | None = None


@dataclass(frozen=True, slots=True)
class PointerDifference:
    left: Expression
    right: Expression
    stride: int
    type: Type
    origin: Origin = NOWHERE
    expansion: Expansion | None = None


@dataclass(frozen=True, slots=True)
class Logical:
    """The right operand counts, and can fail, only where the left one does not decide."""

    operator: Literal["&&", "||"]
    left: Expression
    right: Expression
    type: Type
    origin: Origin = NOWHERE
    expansion: Expansion | None = None


@dataclass(frozen=True, slots=True)
class Conditional:
    condition: Expression
    then: Expression
    otherwise: Expression
    type: Type
    origin: Origin = NOWHERE
    expansion: Expansion | None = None


@dataclass(frozen=True, slots=True)
class Cast:
    """A conversion between scalars, written or implied."""

    operand: Expression
    type: Type
    origin: Origin = NOWHERE
    expansion: Expansion | None = None


Expression: TypeAlias = (
    IntConstant
    | FloatConstant
    | NullPointer
    | FunctionAddress
    | AddressOf
    | Load
    | Unary
    | Binary
    | PointerAdd
    | PointerDifference
    | Logical
    | Conditional
    | Cast
)


# --- statements -----------------------------------------------------------------------------
# `number` is unique in the program; statements of one function have ascending numbers.


@dataclass(frozen=True, slots=True)
class Declare:
    """The variable begins to live, without a value; again whenever control comes by."""

    number: int
    variable: Variable
    origin: Origin = NOWHERE
    expansion: Expansion | None = None


@dataclass(frozen=True, slots=True)
class Clear:
    """All of the place becomes 0: what an initialiser does before it sets what it names."""

    number: int
    place: Place
    origin: Origin = NOWHERE
    expansion: Expansion | None = None


@dataclass(frozen=True, slots=True)
class Assign:
    number: int
    target: Place
    value: Expression
    origin: Origin = NOWHERE
    expansion: Expansion | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """`callee` is the name of a function or a pointer to one. Arguments of parameters that the
    prototype declares have the parameters' types."""

    number: int
    result: Place | None
    callee: str | Expression
    arguments: tuple[Expression, ...]
    type: FunctionType
    origin: Origin = NOWHERE
    expansion: Expansion | None = None


@dataclass(frozen=True, slots=True)
class Evaluate:
    """An expression whose value nobody uses; evaluating it may still go wrong."""

    number: int
    value: Expression
    origin: Origin = NOWHERE
    expansion: Expansion | None = None


@dataclass(frozen=True, slots=True)
class Assert:
    number: int
    condition: Expression
    text: str
    origin: Origin = NOWHERE
    expansion: Expansion | None = None


@dataclass(frozen=True, slots=True)
class If:
    number: int
    condition: Expression
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...]
    origin: Origin = NOWHERE
    expansion: Expansion | None = None


@dataclass(frozen=True, slots=True)
class Loop:
    """Again and again: `before`, leave unless `condition` (None: holds) holds, `body`, `step`.
    Where `tests_last`, the first round begins with `body`. `Next` goes on with `step`, `Leave`
    behind the loop."""

    number: int
    label: str
    before: tuple[Statement, ...]
    condition: Expression | None
    body: tuple[Statement, ...]
    step: tuple[Statement, ...] = ()
    tests_last: bool = False
    origin: Origin = NOWHERE
    expansion: Expansion | None = None


@dataclass(frozen=True, slots=True)
class Section:
    """Control that enters by one of `values` (ranges, both ends included), or by default, runs
    `body` and then falls through into the next section."""

    values: tuple[tuple[int, int], ...]
    default: bool
    body: tuple[Statement, ...]
    origin: Origin = NOWHERE


@dataclass(frozen=True, slots=True)
class Switch:
    number: int
    label: str
    value: Expression
    sections: tuple[Section, ...]
    origin: Origin = NOWHERE
    expansion: Expansion | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """`body`, once; `Leave` goes behind it. What a forward `goto` became."""

    number: int
    label: str
    body: tuple[Statement, ...]
    origin: Origin = NOWHERE
    expansion: Expansion | None = None


@dataclass(frozen=True, slots=True)
class Leave:
    """On behind the enclosing loop, switch or block of this label."""

    number: int
    label: str
    origin: Origin = NOWHERE
    expansion: Expansion | None = None


@dataclass(frozen=True, slots=True)
class Next:
    """On with the `step` of the enclosing loop of this label."""

    number: int
    label: str
    origin: Origin = NOWHERE
    expansion: Expansion | None = None


@dataclass(frozen=True, slots=True)
class Return:
    number: int
    value: Expression | None
    origin: Origin = NOWHERE
    expansion: Expansion | None = None


Statement: TypeAlias = (
    Declare
    | Clear
    | Assign
    | Call
    | Evaluate
    | Assert
    | If
    | Loop
    | Switch
    | Block
    | Leave
    | Next
    | Return
)


# --- programs -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Initial:
    """What stands at `place` before the program starts: a constant or an address."""

    place: Place
    value: Expression


@dataclass(frozen=True, slots=True)
class Global:
    """A variable that lives as long as the program; what `initial` leaves out is 0. `constant`:
    a string literal, not to be written to. Not `defined`: only declared in what was read."""

    variable: Variable
    initial: tuple[Initial, ...] = ()
    constant: bool = False
    defined: bool = True


@dataclass(frozen=True, slots=True)
class Function:
    """`key` is unique in the program and what calls name; `name` is what the source says.
    `variables` are the parameters and all that `Declare` declares or that are temporary."""

    key: str
    name: str
    type: FunctionType
    parameters: tuple[Variable, ...]
    variables: tuple[Variable, ...]
    body: tuple[Statement, ...]
    static: bool = False
    origin: Origin = NOWHERE


@dataclass(frozen=True, slots=True)
class Program:
    """`declared` are the functions that are called or pointed to and not defined here."""

    functions: Mapping[str, Function]
    globals: Mapping[str, Global]
    records: Mapping[str, Record]
    data_model: DataModel
    declared: Mapping[str, FunctionType] = field(default_factory=lambda: MappingProxyType({}))
    enumerations: tuple[Enumeration, ...] = ()
    files: tuple[str, ...] = ()
    #: What clang warned about.
    warnings: tuple[Diagnostic, ...] = ()
