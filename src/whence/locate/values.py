"""Values of Python into memory of the program and back, and what globals start with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from whence.locate.code_expressions import ExpressionCode, Names
from whence.locate.layout import Layout, is_scalar
from whence.locate.machine import Machine
from whence.locate.memory import NULL, Memory, Object, code_of
from whence.locate.outcome import Value
from whence.model.program import (
    ArrayType,
    Element,
    FloatType,
    FunctionType,
    Global,
    IntConstant,
    IntType,
    Load,
    Member,
    Place,
    PointerType,
    Program,
    RecordType,
    Type,
    VariablePlace,
    VoidType,
    size_of,
)
from whence.source import UsageError

__all__ = ["Initials", "Values"]


@dataclass
class Initials:
    """What `apply` gives globals before a run."""

    objects: list[tuple[Object, bytes, dict[int, Any] | None]] = field(default_factory=list)
    lists: list[tuple[str, list[Any]]] = field(default_factory=list)
    scalars: dict[str, Any] = field(default_factory=dict)

    def apply(self, space: dict[str, Any]) -> None:
        for made, data, pointers in self.objects:
            made.data[:] = data
            made.pointers = None if pointers is None else dict(pointers)
            made.init = None
            made.defs = None
        for name, leaves in self.lists:
            space[name] = leaves.copy()
        space.update(self.scalars)


class Values:
    def __init__(self, program: Program, memory: Memory) -> None:
        self.program = program
        self.memory = memory

    # --- from Python ------------------------------------------------------------------------

    def scalar(self, type: Type, value: Value, name: str) -> Any:
        match type:
            case IntType() if isinstance(value, int):
                if type.boolean:
                    return bool(value)
                if not type.least <= value <= type.greatest:
                    raise UsageError(f"`{name}` cannot hold {value}")
                return int(value)
            case FloatType() if isinstance(value, (int, float)):
                return float(value)
            case PointerType():
                return self._pointed(type, value, name)
        raise UsageError(f"{value!r} is no value for `{name}`")

    def _pointed(self, type: PointerType, value: Value, name: str) -> Any:
        """A pointer to a new object that holds the value."""
        if value is None or value == 0:
            return NULL
        label = f"what `{name}` points at"
        if isinstance(value, bytes):
            made = self.memory.new(len(value) + 1, label, True)
            made.data[:-1] = value
            return (made, 0)
        if isinstance(type.target, (VoidType, FunctionType)) or size_of(type.target) == 0:
            raise UsageError(f"`{name}` points at what has no size: only bytes can be given")
        items = value if isinstance(value, list) else [value]
        size = size_of(type.target)
        made = self.memory.new(size * len(items), label, True)
        for index, item in enumerate(items):
            self.write(made, index * size, type.target, item, name)
        return (made, 0)

    def made(self, type: Type, value: Value, name: str) -> Any:
        """An argument."""
        if is_scalar(type):
            return self.scalar(type, value, name)
        made = Object(size_of(type), name, 0, True)
        self.write(made, 0, type, value, name)
        return made

    def write(self, made: Object, offset: int, type: Type, value: Value, name: str) -> None:
        if is_scalar(type):
            self.memory.stores[code_of(type)](made, offset, self.scalar(type, value, name), 0)
            return
        match type, value:
            case ArrayType(), bytes():
                if len(value) > size_of(type):
                    raise UsageError(f"`{name}` has no room for {len(value)} bytes")
                made.data[offset : offset + len(value)] = value
                return
            case ArrayType(), list():
                if len(value) > (type.length or 0):
                    raise UsageError(f"`{name}` has {type.length} elements, not {len(value)}")
                size = size_of(type.element)
                for index, item in enumerate(value):
                    self.write(made, offset + index * size, type.element, item, name)
                return
            case RecordType(), dict():
                fields = {part.name: part for part in self.program.records[type.name].fields}
                for key, item in value.items():
                    part = fields.get(key)
                    if part is None:
                        raise UsageError(f"`{name}` has no member `{key}`")
                    if part.width is not None:
                        raise UsageError(f"`{name}.{key}` is a bit-field and cannot be set")
                    self.write(made, offset + part.offset, part.type, item, f"{name}.{key}")
                return
        raise UsageError(f"{value!r} is no value for `{name}`")

    def leaves(self, type: Type, value: Value, name: str, layout: Layout) -> list[Any]:
        """The scalar parts of a value, in order; what is not said is 0."""
        match type, value:
            case ArrayType(), (list() | bytes() | None):
                items = list(value or ())
                if len(items) > (type.length or 0):
                    raise UsageError(f"`{name}` has {type.length} elements, not {len(items)}")
                items += [None] * ((type.length or 0) - len(items))
                return [
                    leaf for item in items for leaf in self.leaves(type.element, item, name, layout)
                ]
            case RecordType(), (dict() | None):
                given = value or {}
                parts = self.program.records[type.name].fields
                unknown = given.keys() - {part.name for part in parts}
                if unknown:
                    raise UsageError(f"`{name}` has no member `{min(unknown)}`")
                return [
                    leaf
                    for part in parts
                    for leaf in self.leaves(
                        part.type, given.get(part.name), f"{name}.{part.name}", layout
                    )
                ]
        if value is None and not isinstance(type, PointerType):
            value = 0
        return [self.scalar(type, value, name)]

    # --- to Python --------------------------------------------------------------------------

    def shown(self, type: Type, value: Any) -> Value:
        """A scalar, or the snapshot of a structure. Of a pointer to characters the string, of
        another one whether it is null (None) or not (its address)."""
        match type:
            case IntType():
                return None if value is None else int(value)
            case FloatType():
                return None if value is None else float(value)
            case PointerType():
                return self._shown_pointer(type, value)
            case RecordType() | ArrayType():
                return self.read(value, 0, type)
        return None

    def _shown_pointer(self, type: PointerType, value: Any) -> Value:
        if value is None or value == NULL:
            return None
        target, offset = value
        if isinstance(type.target, IntType) and type.target.bits == 8 and target.size >= 0:
            end = target.data.find(0, offset)
            if 0 <= offset <= end:
                return bytes(target.data[offset:end])
        return self.memory.address(value)

    def read(self, made: Object, offset: int, type: Type) -> Value:
        """What stands in memory; None where nothing was written."""
        match type:
            case ArrayType():
                size = size_of(type.element)
                return [
                    self.read(made, offset + index * size, type.element)
                    for index in range(type.length or 0)
                ]
            case RecordType():
                return {
                    part.name: None
                    if part.width is not None
                    else self.read(made, offset + part.offset, part.type)
                    for part in self.program.records[type.name].fields
                }
        size = size_of(type)
        if made.init is not None and 0 in made.init[offset : offset + size]:
            return None
        known = (made.pointers or {}).get(offset)
        if known is not None:
            return self.shown(type, known)
        data = bytes(made.data[offset : offset + size])
        loose = Object(size, "", 0, True)
        loose.data[:] = data
        return self.shown(type, self.memory.loads[code_of(type)](loose, 0, 0))

    def gathered(self, type: Type, leaves: list[Any]) -> Value:
        """The value whose scalar parts these are; takes them from the list."""
        match type:
            case ArrayType():
                return [self.gathered(type.element, leaves) for _ in range(type.length or 0)]
            case RecordType():
                return {
                    part.name: self.gathered(part.type, leaves)
                    for part in self.program.records[type.name].fields
                }
        return self.shown(type, leaves.pop(0))

    # --- what globals start with ------------------------------------------------------------

    def initials(
        self, statics: dict[str, Object], space: dict[str, Any], names: Names, layout: Layout
    ) -> Initials:
        """Evaluates the initialisers once."""
        result = Initials()
        code = ExpressionCode(names)
        entries = sorted(self.program.globals.values(), key=lambda entry: not entry.constant)
        for entry in entries:
            variable = entry.variable
            name = names.variable(variable)
            if variable.key in statics:
                self._initial_object(entry, statics[variable.key], code, space)
                made = statics[variable.key]
                pointers = None if made.pointers is None else dict(made.pointers)
                if entry.constant:
                    made.constant = True
                else:
                    result.objects.append((made, bytes(made.data), pointers))
            elif is_scalar(variable.type):
                result.scalars[name] = self._zero(variable.type)
                for initial in entry.initial:
                    result.scalars[name] = eval(code.value(initial.value), space)
            else:
                leaves = [self._zero(leaf) for leaf in layout.leaves(variable.type)]
                for initial in entry.initial:
                    spot = code.spot(initial.place)
                    leaves[int(spot.index)] = eval(code.value(initial.value), space)
                result.lists.append((name, leaves))
        return result

    def _initial_object(
        self, entry: Global, made: Object, code: ExpressionCode, space: dict[str, Any]
    ) -> None:
        made.constant = False
        for initial in entry.initial:
            place = initial.place
            offset = _offset(place)
            value = initial.value
            if isinstance(value, Load):
                # A string literal that initialises an array of characters.
                source = space[code.names.variable(_variable(value.place))]
                size = min(size_of(place.type), len(source.data))
                made.data[offset : offset + size] = source.data[:size]
                continue
            result = eval(code.value(value), space)
            if isinstance(place, Member) and place.field.width is not None:
                space["store_bits"](made, offset, place.field.bit, place.field.width, result, 0)
            else:
                self.memory.stores[code_of(place.type)](made, offset, result, 0)

    @staticmethod
    def _zero(type: Type) -> Any:
        if isinstance(type, PointerType):
            return NULL
        return 0.0 if isinstance(type, FloatType) else 0

    # --- helpers of compiled functions ------------------------------------------------------

    def helpers(self, machine: Machine) -> dict[str, Callable[..., Any]]:
        memory = self.memory
        trace = machine.trace

        def new(size: int, name: str) -> Object:
            made = memory.new(size, name)
            if trace is not None:
                made.defs = [0] * size
            return made

        def end_all(*objects: Object) -> None:
            for ended in objects:
                memory.end(ended)

        def snapshot(object: Object, offset: int, size: int, site: int) -> Object:
            if trace is not None:
                trace.used(object, offset, size)
            return memory.snapshot(object, offset, size, site)

        def put(object: Object, offset: int, value: Object, site: int) -> None:
            memory.put(object, offset, value, site)
            if trace is not None:
                trace.wrote(object, offset, value.extent)

        def clear(object: Object, offset: int, size: int, site: int) -> None:
            memory.write((object, offset), bytes(size), site)
            if trace is not None:
                trace.wrote(object, offset, size)

        little = memory.byteorder == "little"

        def load_bits(
            object: Object, offset: int, bit: int, width: int, signed: bool, site: int
        ) -> int:
            count = bit + width + 7 >> 3
            if offset < 0 or offset + count > object.size:
                memory.bad(object, offset, count, site, False)
            init = object.init
            if init is not None and 0 in init[offset : offset + count]:
                memory.unwritten(object, site)
            if trace is not None:
                trace.used(object, offset, count)
            whole = int.from_bytes(object.data[offset : offset + count], memory.byteorder)
            shift = bit if little else 8 * count - bit - width
            value = whole >> shift & (1 << width) - 1
            return value - (1 << width) if signed and value >> width - 1 else value

        def store_bits(
            object: Object, offset: int, bit: int, width: int, value: int, site: int
        ) -> None:
            count = bit + width + 7 >> 3
            if offset < 0 or offset + count > object.size or object.constant:
                memory.bad(object, offset, count, site, True)
            whole = int.from_bytes(object.data[offset : offset + count], memory.byteorder)
            shift = bit if little else 8 * count - bit - width
            mask = (1 << width) - 1
            whole = whole & ~(mask << shift) | (value & mask) << shift
            object.data[offset : offset + count] = whole.to_bytes(count, memory.byteorder)
            if object.init is not None:
                object.init[offset : offset + count] = b"\1" * count
            if object.pointers:
                memory.forget(object, offset, count)
            if trace is not None:
                trace.wrote(object, offset, count)

        return {
            "new": new,
            "end": memory.end,
            "end_all": end_all,
            "snapshot": snapshot,
            "put": put,
            "clear": clear,
            "load_bits": load_bits,
            "store_bits": store_bits,
        }


def _offset(place: Place) -> int:
    """Where a place with constant indices is in its variable."""
    match place:
        case Element(index=IntConstant(value=value)):
            return _offset(place.array) + value * size_of(place.type)
        case Member():
            return _offset(place.record) + place.field.offset
    return 0


def _variable(place: Place) -> Any:
    assert isinstance(place, VariablePlace)
    return place.variable
