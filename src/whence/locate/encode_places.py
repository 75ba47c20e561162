"""Components, memory and places as circuits, and the checks that go with them.

What is encoded is on a path: `guard` holds if a run takes it.  `healthy` is the predicate of the
component that the expression belongs to.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import assert_never

from whence.locate.fault_model import Check, FaultModel, Place, Suspects
from whence.locate.symbolic import (
    OFFSET,
    Aggregate,
    Alternative,
    Cell,
    Leaf,
    Object,
    Pointer,
    State,
    Value,
    choose,
    leaves_of,
    point,
    refuse,
    same_kind,
)
from whence.model.program import (
    ArrayType,
    Dereference,
    Element,
    Expansion,
    Expression,
    IntType,
    Member,
    PointerType,
    Program,
    Type,
    Variable,
    VariablePlace,
    size_of,
)
from whence.model.program import Place as CPlace
from whence.solve import words
from whence.solve.circuits import FALSE, TRUE, Circuit, Literal
from whence.solve.words import Word
from whence.source import Origin, UnsupportedError

__all__ = ["Havoc", "Location", "Places", "resized"]


@dataclass(frozen=True, slots=True)
class Havoc:
    """A value that is anything if `healthy` does not hold: on a path with `guard`, at `origin`,
    `value` became `result`."""

    place: Place
    what: str
    origin: Origin
    guard: Literal
    value: Word
    result: Word
    signed: bool


@dataclass(frozen=True, slots=True)
class Location:
    """Where a place is: alternatives with an offset each. `via` says what was resolved on the way:
    a pointer, an index, or nothing."""

    alternatives: tuple[Alternative, ...]
    type: Type
    bit: int = 0
    width: int | None = None
    via: str = ""


@dataclass
class Places:
    program: Program
    model: FaultModel
    suspects: Suspects
    circuit: Circuit = field(default_factory=Circuit)
    guard: Literal = TRUE
    state: State = field(default_factory=dict)
    #: The component that is being encoded.
    place: Place | None = None
    writing: bool = False
    function: str = ""
    healthy_of: dict[Place, Literal] = field(default_factory=dict)
    havocs: list[Havoc] = field(default_factory=list)
    #: Where macros are used: the places of the statements.
    uses: dict[Place, set[Place]] = field(default_factory=dict)
    objects: dict[str, Object] = field(default_factory=dict)
    #: Variables that cannot be encoded: that matters where they are used.
    refused: dict[str, UnsupportedError] = field(default_factory=dict)
    _macro_constants: dict[tuple[Place, int, int], Word] = field(default_factory=dict)
    _addressed: dict[Object, None] = field(default_factory=dict)

    # ------------------------------------------------------------------------------ components

    def healthy(self, place: Place | None) -> Literal:
        if place is None:
            return TRUE
        known = self.healthy_of.get(place)
        if known is None:
            known = self.healthy_of[place] = self.circuit.input()
        return known

    def havoc(
        self, place: Place | None, value: Value, type: Type, what: str, origin: Origin
    ) -> Value:
        """`value` if the component is healthy, otherwise anything of the type."""
        if place is None:
            return value
        healthy = self.healthy(place)
        if isinstance(value, Pointer):
            return self._havoc_pointer(healthy, value, type)
        if isinstance(value, Aggregate):
            cells = []
            for leaf, cell in value.cells:
                inner = self.havoc(place, cell.value, leaf.type, what, origin)
                assert not isinstance(inner, Aggregate)
                defined = self.circuit.or_(cell.defined, healthy ^ 1)
                cells.append((leaf, Cell(inner, defined)))
            return Aggregate(tuple(cells))
        if isinstance(type, IntType) and type.boolean:
            bit = self.circuit.havoc(healthy, value[0])
            result: Word = (bit, *(FALSE,) * (len(value) - 1))
        else:
            result = words.havoc(self.circuit, healthy, value)
        signed = isinstance(type, IntType) and type.signed
        self.havocs.append(Havoc(place, what, origin, self.guard, value, result, signed))
        return result

    def havoc_bit(self, place: Place | None, value: Literal, what: str, origin: Origin) -> Literal:
        if place is None:
            return value
        result = self.circuit.havoc(self.healthy(place), value)
        self.havocs.append(Havoc(place, what, origin, self.guard, (value,), (result,), False))
        return result

    def _havoc_pointer(self, healthy: Literal, value: Pointer, type: Type) -> Pointer:
        """Null, or anything of the type that a pointer of the program could point at by now."""
        circuit = self.circuit
        target = type.target if isinstance(type, PointerType) else None
        anything: Pointer = point(None)
        for made in self._addressed:
            if made.dead or made.function:
                continue
            places = [
                leaf.offset
                for leaf in made.leaves
                if target is not None and same_kind(leaf.type, target)
            ] or ([0] if made.type == target else [])
            if not places:
                continue
            size = places[1] - places[0] if len(places) > 1 else 1
            bits = (len(places) - 1).bit_length()
            index = words.extend(circuit.inputs(bits), OFFSET, signed=False)
            offset = words.add(
                circuit,
                words.constant(places[0], OFFSET),
                words.multiply(circuit, index, words.constant(size, OFFSET)),
            )
            here = Pointer((Alternative(TRUE, made, offset),))
            chosen = choose(circuit, circuit.input(), here, anything)
            assert isinstance(chosen, Pointer)
            anything = chosen
        result = choose(circuit, healthy, value, anything)
        assert isinstance(result, Pointer)
        return result

    def check(self, kind: Check, holds: Literal, *, always: bool = False) -> None:
        """`holds` on this path, unless its component is not healthy and its checks go with it.
        `always`: also if checks of this kind are not asked for."""
        if (kind not in self.model.checks and not always) or holds == TRUE:
            return
        decisions = self.model.decisions
        dropped = True
        if kind == "pointers":
            dropped = decisions.written_pointers if self.writing else decisions.read_pointers
        elif kind == "bounds":
            dropped = decisions.written_bounds if self.writing else decisions.read_bounds
        unhealthy = self.healthy(self.place) ^ 1 if dropped else FALSE
        circuit = self.circuit
        circuit.require(circuit.implies(self.guard, circuit.or_(unhealthy, holds)))

    @contextmanager
    def where(self, condition: Literal) -> Iterator[None]:
        """Only where the condition holds."""
        before = self.guard
        self.guard = self.circuit.and_(before, condition)
        try:
            yield
        finally:
            self.guard = before

    # --------------------------------------------------------------------------------- objects

    def new_object(self, variable: Variable, key: str = "", *, type: Type | None = None) -> Object:
        """With room behind it if it is an array whose size can be wrong."""
        held = type or variable.type
        leaves = leaves_of(self.program, held, variable.origin)
        room = size_of(held)
        made = Object(variable.name, held, tuple(leaves), room)
        if isinstance(held, ArrayType) and held.length and variable.storage != "parameter":
            place = None
            if variable.function not in self.model.trusted:
                place = self.suspects.array_size(variable.origin, variable.name, variable.function)
            if place is not None:
                element = leaves_of(self.program, held.element, variable.origin)
                size = size_of(held.element)
                more = min(held.length, 4)
                extra = [
                    Leaf(room + at * size + leaf.offset, leaf.type, leaf.bit, leaf.width)
                    for at in range(more)
                    for leaf in element
                ]
                made = Object(variable.name, held, (*leaves, *extra), room)
                made.grown = self.healthy(place) ^ 1
        return made

    def object(self, variable: Variable) -> Object:
        refused = self.refused.get(variable.key)
        if refused is not None:
            raise refused
        return self.objects[variable.key]

    def undefined(self, leaf: Leaf) -> Cell:
        """What nobody has written: anything, but the same each time."""
        if isinstance(leaf.type, PointerType):
            return Cell(point(""), FALSE)
        return Cell(self.circuit.inputs(leaf.bits), FALSE)

    def zero(self, leaf: Leaf) -> Cell:
        if isinstance(leaf.type, PointerType):
            return Cell(point(None), TRUE)
        return Cell(words.constant(0, leaf.bits), TRUE)

    # ---------------------------------------------------------------------------------- places

    def expression(self, expression: Expression, outer: Expansion | None = None) -> Value:
        raise NotImplementedError

    def locate(self, place: CPlace) -> Location:
        circuit = self.circuit
        match place:
            case VariablePlace():
                made = self.object(place.variable)
                return Location(point(made).alternatives, place.type)
            case Member():
                inner = self.locate(place.record)
                return Location(
                    self._moved(inner.alternatives, place.field.offset),
                    place.type,
                    place.field.bit if place.field.width is not None else 0,
                    place.field.width,
                    inner.via,
                )
            case Element():
                inner = self.locate(place.array)
                value = self._word(self._reading(place.index))
                assert isinstance(place.index.type, IntType)
                index = resized(value, OFFSET, place.index.type.signed)
                array = place.array.type
                if isinstance(array, ArrayType) and array.length and not place.flexible:
                    self._check_index(inner, array.length, index)
                stride = words.constant(size_of(place.type), OFFSET)
                step = words.multiply(circuit, index, stride)
                moved = tuple(
                    Alternative(each.when, each.target, words.add(circuit, each.offset, step))
                    for each in inner.alternatives
                )
                constant = words.as_constant(index) is not None
                via = inner.via or ("" if constant else "index")
                return Location(moved, place.type, via=via)
            case Dereference():
                pointer = self._reading(place.pointer)
                assert isinstance(pointer, Pointer)
                there = tuple(
                    each
                    for each in pointer.alternatives
                    if isinstance(each.target, Object) and not each.target.function
                )
                self.check("pointers", circuit.any_(each.when for each in there))
                return Location(there, place.type, via="pointer")
        assert_never(place)

    def _reading(self, expression: Expression) -> Value:
        """The value of an expression that decides where a place is."""
        before, self.writing = self.writing, False
        try:
            return self.expression(expression)
        finally:
            self.writing = before

    def _check_index(self, array: Location, length: int, index: Word) -> None:
        circuit = self.circuit
        bound = words.constant(length, OFFSET)
        inside = words.less(circuit, index, bound, signed=False)
        if len(array.alternatives) == 1:
            made = array.alternatives[0].target
            assert isinstance(made, Object)
            if made.grown != FALSE and made.type == array.type:
                size = made.room // length
                more = (made.leaves[-1].offset - made.room) // size + 1
                wide = words.constant(length + more, OFFSET)
                behind = words.less(circuit, index, wide, signed=False)
                inside = circuit.or_(inside, circuit.and_(made.grown, behind))
        self.check("bounds", inside)

    def _moved(self, alternatives: tuple[Alternative, ...], by: int) -> tuple[Alternative, ...]:
        if not by:
            return alternatives
        offset = words.constant(by, OFFSET)
        return tuple(
            Alternative(each.when, each.target, words.add(self.circuit, each.offset, offset))
            for each in alternatives
        )

    def candidates(
        self, location: Location, leaf: Leaf, origin: Origin
    ) -> list[tuple[Literal, Object, int]]:
        """The leaves that a scalar part of a place can be: each with its condition."""
        circuit = self.circuit
        found = []
        for each in location.alternatives:
            made = each.target
            assert isinstance(made, Object)
            if made.dead:
                continue
            for at in self._matching(made, each.offset, leaf, origin):
                part = made.leaves[at]
                there = words.constant(part.offset - leaf.offset, OFFSET)
                when = circuit.and_(each.when, words.equal(circuit, each.offset, there))
                if part.offset >= made.room:
                    when = circuit.and_(when, made.grown)
                if made.extent is not None:
                    end = words.constant(part.offset + 1, OFFSET)
                    fits = words.less_equal(circuit, end, made.extent, signed=False)
                    when = circuit.and_(when, fits)
                if when != FALSE:
                    found.append((when, made, at))
        return found

    def _matching(self, made: Object, offset: Word, leaf: Leaf, origin: Origin) -> Iterator[int]:
        known = words.as_constant(offset, signed=True)
        if known is not None:
            at = made.place.get((known + leaf.offset, leaf.bit))
            if at is not None and _compatible(made.leaves[at], leaf):
                yield at
                return
            start, end = known + leaf.offset, known + leaf.offset + leaf.type.bits // 8
            if any(part.offset < end and start < _stop(part) for part in made.leaves):
                raise refuse(f"an access to `{made.name}` as another type", origin)
            return
        for at, part in enumerate(made.leaves):
            if part.bit == leaf.bit and _compatible(part, leaf):
                yield at

    def load(self, location: Location, origin: Origin, *, checked: bool = True) -> Value:
        if isinstance(location.type, (IntType, PointerType)):
            leaf = Leaf(0, location.type, location.bit, location.width)
            cell = self._load_leaf(location, leaf, origin)
            if checked:
                self.check("uninitialised", cell.defined)
            value = cell.value
            if isinstance(value, tuple) and location.width is not None:
                assert isinstance(location.type, IntType)
                return words.extend(value, location.type.bits, signed=location.type.signed)
            return value
        parts = leaves_of(self.program, location.type, origin)
        return Aggregate(tuple((leaf, self._load_leaf(location, leaf, origin)) for leaf in parts))

    def _load_leaf(self, location: Location, leaf: Leaf, origin: Origin) -> Cell:
        circuit = self.circuit
        found = self.candidates(location, leaf, origin)
        if len(found) == 1 and found[0][0] == TRUE:
            return self.state[found[0][1], found[0][2]]
        if location.via == "pointer":
            self.check("pointers", circuit.any_(when for when, _, _ in found))
        # Behind the end is anything: it is the check's business.
        value: Value = self.undefined(leaf).value
        defined = TRUE
        for when, made, at in found:
            cell = self.state.get((made, at))
            if cell is None:
                continue
            value = choose(circuit, when, cell.value, value)
            defined = circuit.ite(when, cell.defined, defined)
        assert not isinstance(value, Aggregate)
        return Cell(value, defined)

    def _word(self, value: Value) -> Word:
        assert isinstance(value, tuple)
        return value


def resized(word: Word, bits: int, signed: bool) -> Word:
    return words.truncate(words.extend(word, bits, signed=signed), bits)


def _compatible(part: Leaf, wanted: Leaf) -> bool:
    return part.width == wanted.width and same_kind(part.type, wanted.type)


def _stop(leaf: Leaf) -> int:
    return leaf.offset + (leaf.type.bits // 8 if leaf.width is None else 1)
