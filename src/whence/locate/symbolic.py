"""Values and memory of a program that is encoded: words, pointers, cells.

An object is a row of *leaves*, its scalar parts, each with a place in bytes.  What the leaves hold
at a point of the program is a `State`, from keys to cells.  A pointer is a choice between targets:
one of the literals of its alternatives is true.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from whence.model.program import (
    ArrayType,
    FloatType,
    IntType,
    PointerType,
    Program,
    RecordType,
    Type,
    size_of,
)
from whence.solve import words
from whence.solve.circuits import FALSE, TRUE, Circuit, Literal
from whence.solve.words import Word
from whence.source import Diagnostic, Origin, UnsupportedError

__all__ = [
    "OFFSET",
    "Aggregate",
    "Alternative",
    "Cell",
    "Leaf",
    "Object",
    "Pointer",
    "State",
    "Target",
    "Value",
    "choose",
    "leaves_of",
    "merge",
    "point",
    "pointers_equal",
    "refuse",
    "same_kind",
]

#: Bits of the offset of a pointer.
OFFSET = 40


@dataclass(frozen=True, slots=True)
class Leaf:
    """A scalar part: `offset` in bytes; of a bit-field also the first bit and how many."""

    offset: int
    type: IntType | PointerType
    bit: int = 0
    width: int | None = None

    @property
    def bits(self) -> int:
        return self.type.bits if self.width is None else self.width


@dataclass(eq=False, slots=True)
class Object:
    """`room` is its size in bytes as the program says; leaves behind that are there if `grown`
    holds. `extent`: only so many bytes are there (None: all)."""

    name: str
    type: Type
    leaves: tuple[Leaf, ...]
    room: int
    grown: Literal = FALSE
    extent: Word | None = None
    constant: bool = False
    dead: bool = False
    function: str = ""
    place: dict[tuple[int, int], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.place = {(leaf.offset, leaf.bit): at for at, leaf in enumerate(self.leaves)}


#: None: null; "": what no pointer may be.
Target: TypeAlias = "Object | str | None"


@dataclass(frozen=True, slots=True)
class Alternative:
    when: Literal
    target: Target
    offset: Word


@dataclass(frozen=True, slots=True)
class Pointer:
    alternatives: tuple[Alternative, ...]


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A structure, or an array: cells by the offset and bit of their leaves in it."""

    cells: tuple[tuple[Leaf, Cell], ...]


Value: TypeAlias = "Word | Pointer | Aggregate"


@dataclass(frozen=True, slots=True)
class Cell:
    """`defined`: something was written to it."""

    value: Word | Pointer
    defined: Literal


State: TypeAlias = "dict[tuple[Object, int], Cell]"


def refuse(what: str, origin: Origin, hint: str = "") -> UnsupportedError:
    return UnsupportedError(Diagnostic(f"{what} cannot be encoded yet", origin, hint=hint))


# ------------------------------------------------------------------------------------- types


def leaves_of(program: Program, type: Type, origin: Origin, limit: int = 4096) -> list[Leaf]:
    """The scalar parts of a type."""
    found: list[Leaf] = []
    for leaf in _leaves(program, type, 0, origin):
        found.append(leaf)
        if len(found) > limit:
            raise refuse(f"an object with more than {limit:,} scalar parts", origin)
    return found


def _leaves(program: Program, type: Type, offset: int, origin: Origin) -> Iterator[Leaf]:
    match type:
        case IntType() | PointerType():
            yield Leaf(offset, type)
        case FloatType():
            raise refuse("floating point", origin)
        case ArrayType():
            size = size_of(type.element)
            for index in range(type.length or 0):
                yield from _leaves(program, type.element, offset + index * size, origin)
        case RecordType():
            if type.union:
                raise refuse("a union", origin)
            for part in program.records[type.name].fields:
                if part.width is not None:
                    assert isinstance(part.type, IntType)
                    if part.width and part.name:
                        yield Leaf(offset + part.offset, part.type, part.bit, part.width)
                else:
                    yield from _leaves(program, part.type, offset + part.offset, origin)
        case _:
            raise refuse("an object of this type", origin)


def same_kind(one: Type, other: Type) -> bool:
    """Whether what is written as one type can be read as the other."""
    if isinstance(one, PointerType):
        return isinstance(other, PointerType)
    return isinstance(one, IntType) and isinstance(other, IntType) and one.bits == other.bits


# ---------------------------------------------------------------------------------- pointers


def point(target: Target, offset: int = 0) -> Pointer:
    return Pointer((Alternative(TRUE, target, words.constant(offset, OFFSET)),))


def _choose_pointer(circuit: Circuit, c: Literal, p: Pointer, q: Pointer) -> Pointer:
    if p == q:
        return p
    chosen: dict[Target, Alternative] = {}
    for each in p.alternatives:
        chosen[each.target] = Alternative(circuit.and_(c, each.when), each.target, each.offset)
    for each in q.alternatives:
        when = circuit.and_(c ^ 1, each.when)
        known = chosen.get(each.target)
        if known is not None:
            offset = words.choose(circuit, c, known.offset, each.offset)
            chosen[each.target] = Alternative(circuit.or_(known.when, when), each.target, offset)
        else:
            chosen[each.target] = Alternative(when, each.target, each.offset)
    left = tuple(each for each in chosen.values() if each.when != FALSE)
    return Pointer(left)


def pointers_equal(circuit: Circuit, p: Pointer, q: Pointer) -> Literal:
    return circuit.any_(
        circuit.all_(
            (
                one.when,
                other.when,
                TRUE if one.target is None else words.equal(circuit, one.offset, other.offset),
            )
        )
        for one in p.alternatives
        for other in q.alternatives
        if one.target == other.target and one.target != ""
    )


# ------------------------------------------------------------------------------------ choices


def choose(circuit: Circuit, c: Literal, p: Value, q: Value) -> Value:
    """p if c, else q."""
    if c == TRUE or p is q:
        return p
    if c == FALSE:
        return q
    if isinstance(p, Pointer) and isinstance(q, Pointer):
        return _choose_pointer(circuit, c, p, q)
    if isinstance(p, Aggregate) and isinstance(q, Aggregate):
        return Aggregate(
            tuple(
                (leaf, choose_cell(circuit, c, one, other))
                for (leaf, one), (_, other) in zip(p.cells, q.cells, strict=True)
            )
        )
    assert isinstance(p, tuple)
    assert isinstance(q, tuple)
    return words.choose(circuit, c, p, q)


def choose_cell(circuit: Circuit, c: Literal, p: Cell, q: Cell) -> Cell:
    if p is q or p == q:
        return p
    value = choose(circuit, c, p.value, q.value)
    assert not isinstance(value, Aggregate)
    return Cell(value, circuit.ite(c, p.defined, q.defined))


def merge(circuit: Circuit, paths: Iterable[tuple[Literal, State]]) -> tuple[Literal, State] | None:
    """Paths that meet (equation 3.6): the condition that one of them was taken, and what holds
    then. None: none can be."""
    left = [(guard, state) for guard, state in paths if guard != FALSE]
    if not left:
        return None
    guard, merged = left[-1]
    for other, state in reversed(left[:-1]):
        merged = merge_two(circuit, other, state, merged)
        guard = circuit.or_(other, guard)
    return guard, merged


def merge_two(circuit: Circuit, c: Literal, then: State, otherwise: State) -> State:
    """What one state has and the other does not, ended on the way to where they meet, or began
    there: it is not looked at any more where it is missing."""
    if then is otherwise:
        return then
    merged = dict(otherwise)
    for key, cell in then.items():
        known = otherwise.get(key)
        if known is None:
            merged[key] = cell
        elif known is not cell:
            merged[key] = choose_cell(circuit, c, cell, known)
    return merged


Chooser = Callable[[Literal, Value, Value], Value]
