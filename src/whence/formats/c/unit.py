"""One translation unit while it is read: names, types, globals, string literals."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from whence.formats.c.nodes import Library, Node, Places, library
from whence.formats.c.types import Types, refuse
from whence.model.program import (
    ArrayType,
    DataModel,
    Element,
    Function,
    FunctionType,
    Global,
    Initial,
    IntConstant,
    IntType,
    Place,
    PointerType,
    RecordType,
    Storage,
    Type,
    Variable,
    VariablePlace,
)
from whence.source import Origin

__all__ = ["Builder", "Symbols", "Unit", "string_bytes"]

_INTERNAL = 2  # CXLinkage_Internal
_EXTERNAL = 4  # CXLinkage_External
_STATIC = 3  # CX_SC_Static

_REFUSED_FUNCTIONS = {
    "setjmp": "`setjmp`: jumps between functions",
    "_setjmp": "`setjmp`: jumps between functions",
    "sigsetjmp": "`sigsetjmp`: jumps between functions",
    "longjmp": "`longjmp`: jumps between functions",
    "siglongjmp": "`siglongjmp`: jumps between functions",
    "signal": "`signal`: functions that are called at any time",
    "sigaction": "`sigaction`: functions that are called at any time",
    "fork": "`fork`: several processes",
    "alloca": "`alloca`: memory of the stack by size",
    "__builtin_alloca": "`alloca`: memory of the stack by size",
}
_REFUSED_PREFIXES = {"pthread_": "threads", "thrd_": "threads", "mtx_": "threads"}


@dataclass
class Builder:
    """What all units contribute to."""

    model: DataModel
    types: Types
    functions: dict[str, Function] = field(default_factory=dict)
    globals: dict[str, Global] = field(default_factory=dict)
    declared: dict[str, FunctionType] = field(default_factory=dict)
    #: Names that are known in all files; what is static gets another key if it has the same.
    external: set[str] = field(default_factory=set)
    taken: set[str] = field(default_factory=set)

    def unique(self, name: str, file: str) -> str:
        """A key for something that is not known by its name elsewhere."""
        key = name
        number = 1
        while key in self.external or key in self.taken:
            key = f"{file}:{name}" if number == 1 else f"{file}:{name}#{number}"
            number += 1
        self.taken.add(key)
        return key


class Symbols:
    """A mapping from declarations of clang, which are compared but not hashed."""

    def __init__(self) -> None:
        self._entries: dict[int, list[tuple[Any, Any]]] = {}

    def get(self, cursor: Any) -> Any:
        for known, value in self._entries.get(cursor.hash, ()):
            if known == cursor:
                return value
        return None

    def put(self, cursor: Any, value: Any) -> None:
        self._entries.setdefault(cursor.hash, []).append((cursor, value))


class Unit:
    def __init__(self, builder: Builder, places: Places, file: str) -> None:
        self.builder = builder
        self.types = builder.types
        self.model = builder.model
        self.places = places
        self.file = file
        self.lib: Library = library()
        self.variables = Symbols()
        self.function_keys = Symbols()
        self._strings: dict[tuple[bytes, Type], Variable] = {}
        self.int = IntType(self.model.int_bits, True)

    def type(self, node: Node) -> Type:
        return self.types.of(node.type, node.origin)

    def pointer(self, target: Type) -> PointerType:
        return self.types.pointer(target)

    # --- functions and variables ------------------------------------------------------------

    def function_key(self, cursor: Any, origin: Origin) -> str:
        """The key of a function that is used at `origin`."""
        cursor = cursor.canonical
        known = self.function_keys.get(cursor)
        if known is not None:
            return str(known)
        name = cursor.spelling
        if name in _REFUSED_FUNCTIONS:
            raise refuse(_REFUSED_FUNCTIONS[name], origin)
        for prefix, what in _REFUSED_PREFIXES.items():
            if name.startswith(prefix):
                raise refuse(f"`{name}`: {what}", origin)
        internal = cursor.linkage.value == _INTERNAL
        key = self.builder.unique(name, self.file) if internal else name
        self.function_keys.put(cursor, key)
        type = self.types.function(cursor.type, origin)
        known_type = self.builder.declared.get(key)
        if known_type is None or not known_type.prototyped:
            self.builder.declared[key] = type
        return key

    def global_variable(self, cursor: Any, function: str = "") -> Variable:
        """The variable of a declaration with the lifetime of the program."""
        cursor = cursor.canonical
        known = self.variables.get(cursor)
        if known is not None:
            assert isinstance(known, Variable)
            return known
        origin, _ = self.places.where(cursor.extent)
        name = cursor.spelling
        type = self.types.of(cursor.type, origin)
        external = cursor.linkage.value == _EXTERNAL
        storage: Storage = "global" if external else "static"
        if external:
            key = name
        else:
            key = self.builder.unique(f"{function}::{name}" if function else name, self.file)
        variable = Variable(
            key, name, type, storage, origin, cursor.type.is_volatile_qualified(), function
        )
        self.variables.put(cursor, variable)
        entry = self.builder.globals.get(key)
        if entry is None or (not entry.defined and _more_complete(type, entry.variable.type)):
            self.builder.globals[key] = Global(variable, defined=False)
        return variable

    # --- string literals --------------------------------------------------------------------

    def string(self, node: Node) -> Place:
        """The place of a string literal: equal literals of a unit share one."""
        type = self.types.of(node.type, node.origin)
        assert isinstance(type, ArrayType)
        assert isinstance(type.element, IntType)
        width = type.element.bits // 8
        text = string_bytes(self.lib.spelling(node.cursor), width, node.origin)
        units = [text[i : i + width] for i in range(0, len(text), width)]
        # A literal that initialises an array is as long as the array.
        length = type.length or 0
        values = [int.from_bytes(unit, "little") for unit in units][:length]
        values += [0] * (length - len(values))
        key = (b"".join(value.to_bytes(width, "little") for value in values), type)
        variable = self._strings.get(key)
        if variable is None:
            shown = text[: 24 * width : width].decode("latin-1").encode("unicode_escape").decode()
            name = f'"{shown}"'
            variable = Variable(
                self.builder.unique(name, self.file), name, type, "static", node.origin
            )
            self._strings[key] = variable
            place = VariablePlace(variable, type)
            element = type.element
            initial = tuple(
                Initial(
                    Element(place, IntConstant(index, self.int), element),
                    IntConstant(value if value <= element.greatest else value - 256, element)
                    if width == 1
                    else IntConstant(value, element),
                )
                for index, value in enumerate(values)
                if value
            )
            self.builder.globals[variable.key] = Global(variable, initial, constant=True)
        return VariablePlace(variable, type, node.origin, node.expansion)


def _more_complete(new: Type, old: Type) -> bool:
    match new, old:
        case ArrayType(), ArrayType():
            return old.length is None and new.length is not None
        case RecordType(), RecordType():
            return old.size == 0
    return False


_ESCAPES = {
    ord("n"): 10,
    ord("t"): 9,
    ord("r"): 13,
    ord("a"): 7,
    ord("b"): 8,
    ord("f"): 12,
    ord("v"): 11,
    ord("e"): 27,
}


def string_bytes(spelling: bytes, width: int, origin: Origin) -> bytes:
    """The bytes of a literal as clang prints it: quoted, with escapes; units are of `width`
    bytes, least significant first, whatever the machine."""
    start = spelling.find(b'"')
    if start < 0 or not spelling.endswith(b'"'):
        raise refuse("this string literal", origin)
    body = spelling[start + 1 : -1]
    result = bytearray()
    index = 0
    while index < len(body):
        byte = body[index]
        if byte != ord("\\"):
            if width > 1 and byte >= 0x80:
                length = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
                code = ord(body[index : index + length].decode("utf-8"))
                result += code.to_bytes(width, "little")
                index += length
                continue
            result += byte.to_bytes(width, "little")
            index += 1
            continue
        escape = body[index + 1]
        index += 2
        if escape in b"01234567":
            digits = 1
            while digits < 3 and index < len(body) and body[index] in b"01234567":
                digits += 1
                index += 1
            value = int(body[index - digits : index], 8)
        elif escape in b"xuU":
            limit = {ord("x"): 8, ord("u"): 4, ord("U"): 8}[escape]
            first = index
            while index < len(body) and index - first < limit and body[index] in _HEX:
                index += 1
            value = int(body[first:index], 16)
        else:
            value = _ESCAPES.get(escape, escape)
        result += (value & (1 << 8 * width) - 1).to_bytes(width, "little")
    return bytes(result)


_HEX = b"0123456789abcdefABCDEF"
