"""Memory as C has it: objects of bytes, and pointers that know which object they point into.

A pointer is a pair (object, offset). An object is a row of bytes, with a mark for each byte that
says whether it was ever written, and with the pointers that are stored in it, since bytes cannot
say which object is meant. The addresses of objects only matter to programs that look at them.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Callable
from typing import Any, NoReturn

from whence.locate.outcome import FaultKind
from whence.model.program import DataModel, FloatType, IntType, PointerType, Type

__all__ = [
    "ANYWHERE",
    "NULL",
    "Memory",
    "Object",
    "Pointer",
    "Undefined",
    "code_of",
]


class Undefined(Exception):
    """Undefined behaviour; `site` is an index into the places that the compiled program knows."""

    def __init__(self, kind: FaultKind, message: str, site: int) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.site = site


class OutOfMemory(Exception):
    pass


class Object:
    """`size` is -1 where nothing may be accessed: after the end of its life, and of what is no
    memory at all. `init` None: all bytes have been written."""

    __slots__ = (
        "address",
        "constant",
        "data",
        "defs",
        "extent",
        "function",
        "heap",
        "init",
        "name",
        "pointers",
        "size",
        "stream",
    )

    def __init__(self, size: int, name: str, address: int, written: bool) -> None:
        self.data = bytearray(size)
        self.size = size
        self.extent = size
        self.name = name
        self.address = address
        self.init: bytearray | None = None if written else bytearray(size)
        self.pointers: dict[int, Pointer] | None = None
        self.heap = False
        self.constant = False
        self.function: Any = None
        self.stream: Any = None
        #: Where dependences are noted: for each byte the event that wrote it.
        self.defs: list[int] | None = None


Pointer = tuple[Object, int]

ANYWHERE = Object(0, "", 0, True)
ANYWHERE.size = -1
NULL: Pointer = (ANYWHERE, 0)

_ONES = [b"\1" * size for size in range(17)]


def code_of(type: Type) -> str:
    """A short name for how values of a scalar type are stored."""
    match type:
        case IntType(boolean=True):
            return f"b{type.bits}"
        case IntType():
            return f"{'i' if type.signed else 'u'}{type.bits}"
        case FloatType():
            return f"f{type.bits}"
        case PointerType():
            return "p"
    raise AssertionError(type)


_FORMATS = {
    "i8": "b",
    "u8": "B",
    "b8": "B",
    "i16": "h",
    "u16": "H",
    "b16": "H",
    "i32": "i",
    "u32": "I",
    "b32": "I",
    "i64": "q",
    "u64": "Q",
    "f32": "f",
    "f64": "d",
}

Load = Callable[[Object, int, int], Any]
Store = Callable[[Object, int, Any, int], None]


class Memory:
    """The memory of one machine; `begin` makes it new for a run."""

    def __init__(self, model: DataModel, uninitialised_is_zero: bool) -> None:
        self.model = model
        self.pointer_size = model.pointer_bits // 8
        self.pointer_mask = (1 << model.pointer_bits) - 1
        self.order = "<" if model.little_endian else ">"
        self.byteorder: Any = "little" if model.little_endian else "big"
        self.zeroed = uninitialised_is_zero
        self.limit = 0
        self.used = 0
        self._next = 0
        self._bases: list[int] = []
        self._exposed: list[Object] = []
        self.loads: dict[str, Load] = {}
        self.stores: dict[str, Store] = {}
        for code, format in _FORMATS.items():
            self.loads[code] = self._loader(code, self.order + format)
            self.stores[code] = self._storer(code, self.order + format)
        self.loads["p"] = self._pointer_loader()
        self.stores["p"] = self._pointer_storer()
        self._static_address = 0x10000 if model.pointer_bits > 16 else 0x100

    # --- objects ----------------------------------------------------------------------------

    def begin(self, limit: int) -> None:
        self.limit = limit
        self.used = 0
        # Static objects keep their addresses; those of a run come behind them.
        self._next = self._static_address
        self._bases = []
        self._exposed = []

    def static(self, size: int, name: str) -> Object:
        """An object that lives through all runs."""
        made = Object(size, name, self._static_address, True)
        self._static_address = self._static_address + size + 31 & ~15
        return made

    def new(self, size: int, name: str, written: bool = False) -> Object:
        self.used += size
        if self.used > self.limit:
            raise OutOfMemory
        made = Object(size, name, self._next, written or self.zeroed)
        self._next = self._next + size + 31 & ~15
        return made

    def end(self, ended: Object) -> None:
        """The object's life is over."""
        self.used -= ended.extent
        ended.size = -1

    # --- what goes wrong --------------------------------------------------------------------

    def bad(self, object: Object, offset: int, size: int, site: int, writes: bool) -> NoReturn:
        """Says why an access is not allowed."""
        verb = "write to" if writes else "read of"
        if object is ANYWHERE:
            if 0 <= offset < 4096:
                raise Undefined("null pointer", f"{verb} the null pointer's target", site)
            raise Undefined(
                "invalid pointer", f"{verb} the address {offset:#x}, where nothing is", site
            )
        name = object.name
        if object.function is not None or object.stream is not None:
            raise Undefined("invalid pointer", f"{verb} {name}, which is no data", site)
        if object.size < 0:
            if object.heap:
                raise Undefined("dangling pointer", f"{verb} {name} after it was freed", site)
            raise Undefined("dangling pointer", f"{verb} {name} after the end of its life", site)
        if writes and object.constant:
            raise Undefined("read-only", f"write to the string literal {name}", site)
        raise Undefined(
            "out of bounds",
            f"{verb} {size} byte{'s' * (size > 1)} at offset {offset} of {name}, "
            f"which has {object.size}",
            site,
        )

    def unwritten(self, object: Object, site: int) -> NoReturn:
        raise Undefined("uninitialised", f"read of {object.name}, not written before", site)

    # --- scalars ----------------------------------------------------------------------------

    def _loader(self, code: str, format: str) -> Load:
        packing = struct.Struct(format)
        size = packing.size
        unpack = packing.unpack_from
        bad, unwritten = self.bad, self.unwritten
        expose = self._expose
        boolean = code[0] == "b"
        exposes = size in (1, self.pointer_size)

        def load(object: Object, offset: int, site: int) -> Any:
            if offset < 0 or offset + size > object.size:
                bad(object, offset, size, site, False)
            init = object.init
            if init is not None and 0 in init[offset : offset + size]:
                unwritten(object, site)
            if exposes and object.pointers:
                expose(object, offset, size)
            value = unpack(object.data, offset)[0]
            return value != 0 if boolean else value

        def load_byte(object: Object, offset: int, site: int) -> Any:
            if not 0 <= offset < object.size:
                bad(object, offset, 1, site, False)
            init = object.init
            if init is not None and not init[offset]:
                unwritten(object, site)
            if object.pointers:
                expose(object, offset, 1)
            return object.data[offset]

        return load_byte if code == "u8" else load

    def _storer(self, code: str, format: str) -> Store:
        packing = struct.Struct(format)
        size = packing.size
        pack = packing.pack_into
        ones = _ONES[size]
        bad = self.bad
        forget = self.forget

        def store(object: Object, offset: int, value: Any, site: int) -> None:
            if offset < 0 or offset + size > object.size or object.constant:
                bad(object, offset, size, site, True)
            pack(object.data, offset, value)
            init = object.init
            if init is not None:
                init[offset : offset + size] = ones
            if object.pointers:
                forget(object, offset, size)

        return store

    def _pointer_loader(self) -> Load:
        size = self.pointer_size
        bad, unwritten = self.bad, self.unwritten

        def load(object: Object, offset: int, site: int) -> Any:
            if offset < 0 or offset + size > object.size:
                bad(object, offset, size, site, False)
            pointers = object.pointers
            if pointers:
                known = pointers.get(offset)
                if known is not None:
                    return known
            init = object.init
            if init is not None and 0 in init[offset : offset + size]:
                unwritten(object, site)
            address = int.from_bytes(object.data[offset : offset + size], self.byteorder)
            return self.pointer(address) if address else NULL

        return load

    def _pointer_storer(self) -> Store:
        size = self.pointer_size
        ones = _ONES[size]
        bad = self.bad
        mask = self.pointer_mask
        pack = struct.Struct(self.order + {2: "H", 4: "I", 8: "Q"}[size]).pack_into

        def store(object: Object, offset: int, value: Any, site: int) -> None:
            if offset < 0 or offset + size > object.size or object.constant:
                bad(object, offset, size, site, True)
            target, position = value
            pack(object.data, offset, target.address + position & mask)
            init = object.init
            if init is not None:
                init[offset : offset + size] = ones
            pointers = object.pointers
            if pointers is None:
                pointers = object.pointers = {}
            elif pointers:
                self.forget(object, offset, size)
            if target is not ANYWHERE:
                pointers[offset] = value

        return store

    def forget(self, object: Object, offset: int, size: int) -> None:
        """The pointers that a write covers are gone."""
        pointers = object.pointers
        assert pointers is not None
        if size <= 8:
            for position in range(offset - self.pointer_size + 1, offset + size):
                if position in pointers:
                    del pointers[position]
            return
        for position in [p for p in pointers if offset - self.pointer_size < p < offset + size]:
            del pointers[position]

    # --- addresses --------------------------------------------------------------------------

    def _expose(self, object: Object, offset: int, size: int) -> None:
        """Somebody reads the bytes of pointers, and may make pointers of them again."""
        pointers = object.pointers
        assert pointers is not None
        for position in range(offset - self.pointer_size + 1, offset + size):
            known = pointers.get(position)
            if known is not None:
                self.expose(known[0])

    def expose(self, object: Object) -> None:
        if object is ANYWHERE:
            return
        index = bisect_right(self._bases, object.address)
        if index and self._exposed[index - 1] is object:
            return
        self._bases.insert(index, object.address)
        self._exposed.insert(index, object)

    def address(self, pointer: Pointer) -> int:
        """The number that a pointer is converted to."""
        object, offset = pointer
        self.expose(object)
        return object.address + offset & self.pointer_mask

    def pointer(self, address: int) -> Pointer:
        """The pointer that a number is converted to."""
        index = bisect_right(self._bases, address) - 1
        if index >= 0:
            object = self._exposed[index]
            # One past the end is still the object's.
            if address <= object.address + object.extent:
                return (object, address - object.address)
        return (ANYWHERE, address)

    # --- rows of bytes ----------------------------------------------------------------------

    def check(self, pointer: Pointer, size: int, site: int, writes: bool) -> None:
        object, offset = pointer
        if offset < 0 or offset + size > object.size or (writes and object.constant):
            self.bad(object, offset, size, site, writes)

    def read(self, pointer: Pointer, size: int, site: int) -> bytes:
        if size == 0:
            return b""
        self.check(pointer, size, site, False)
        object, offset = pointer
        init = object.init
        if init is not None and 0 in init[offset : offset + size]:
            self.unwritten(object, site)
        if object.pointers:
            self._expose(object, offset, size)
        return bytes(object.data[offset : offset + size])

    def text(self, pointer: Pointer, site: int, limit: int | None = None) -> bytes:
        """A string up to its zero, or up to `limit` bytes."""
        object, offset = pointer
        if limit == 0:
            return b""
        if not 0 <= offset < object.size:
            self.bad(object, offset, 1, site, False)
        stop = object.size if limit is None else min(object.size, offset + limit)
        end = object.data.find(0, offset, stop)
        if object.init is not None:
            hole = object.init.find(0, offset, stop if end < 0 else end + 1)
            if hole >= 0:
                self.unwritten(object, site)
        if end < 0:
            if limit is not None and offset + limit <= object.size:
                return bytes(object.data[offset:stop])
            self.bad(object, object.size, 1, site, False)
        return bytes(object.data[offset:end])

    def write(self, pointer: Pointer, data: bytes, site: int) -> None:
        size = len(data)
        if size == 0:
            return
        self.check(pointer, size, site, True)
        object, offset = pointer
        object.data[offset : offset + size] = data
        if object.init is not None:
            object.init[offset : offset + size] = b"\1" * size
        if object.pointers:
            self.forget(object, offset, size)

    def snapshot(self, object: Object, offset: int, size: int, site: int) -> Object:
        """A copy of bytes as they are, written or not: the value of a structure."""
        if offset < 0 or offset + size > object.size:
            self.bad(object, offset, size, site, False)
        copy = Object(0, object.name, 0, True)
        copy.data = object.data[offset : offset + size]
        copy.size = copy.extent = size
        if object.init is not None:
            copy.init = object.init[offset : offset + size]
        if object.pointers:
            copy.pointers = {
                position - offset: pointer
                for position, pointer in object.pointers.items()
                if offset <= position and position + self.pointer_size <= offset + size
            }
        if object.defs is not None:
            copy.defs = object.defs[offset : offset + size]
        return copy

    def put(self, object: Object, offset: int, value: Object, site: int) -> None:
        """Writes a snapshot."""
        size = value.extent
        if offset < 0 or offset + size > object.size or object.constant:
            self.bad(object, offset, size, site, True)
        object.data[offset : offset + size] = value.data
        if object.init is not None:
            object.init[offset : offset + size] = b"\1" * size if value.init is None else value.init
        elif value.init is not None and 0 in value.init:
            object.init = bytearray(b"\1" * len(object.data))
            object.init[offset : offset + size] = value.init
        if object.pointers:
            self.forget(object, offset, size)
        if value.pointers:
            if object.pointers is None:
                object.pointers = {}
            for position, pointer in value.pointers.items():
                object.pointers[offset + position] = pointer
