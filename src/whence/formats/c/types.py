"""Types of clang into types of the core language."""

from __future__ import annotations

from typing import Any

from whence.formats.c.nodes import library
from whence.model.program import (
    ArrayType,
    Enumeration,
    Field,
    FloatType,
    FunctionType,
    IntType,
    PointerType,
    Record,
    RecordType,
    Type,
    VoidType,
)
from whence.source import NOWHERE, Diagnostic, Origin, UnsupportedError

__all__ = ["Types", "place_of", "promoted", "refuse"]

_SIGNED = {"CHAR_S", "SCHAR", "SHORT", "INT", "LONG", "LONGLONG"}
_UNSIGNED = {"CHAR_U", "UCHAR", "USHORT", "UINT", "ULONG", "ULONGLONG"}

_REFUSED = {
    "INT128": "128-bit integers",
    "UINT128": "128-bit integers",
    "FLOAT128": "128-bit floating point",
    "HALF": "16-bit floating point",
    "FLOAT16": "16-bit floating point",
    "IBM128": "128-bit floating point",
    "COMPLEX": "complex numbers (`_Complex`)",
    "VECTOR": "vector types",
    "EXTVECTOR": "vector types",
    "ATOMIC": "atomic types (`_Atomic`)",
    "VARIABLEARRAY": "arrays of variable length",
    "BLOCKPOINTER": "blocks",
}


def refuse(what: str, origin: Origin, hint: str = "") -> UnsupportedError:
    return UnsupportedError(Diagnostic(f"not supported: {what}", origin, hint))


def promoted(type: IntType, int_bits: int) -> IntType:
    """After C's integer promotions (C99, 6.3.1.1)."""
    if type.boolean or type.bits < int_bits:
        return IntType(int_bits, True)
    return IntType(type.bits, type.signed)


class Types:
    """The types of all translation units; records are shared between these by their names."""

    def __init__(self, pointer_bits: int) -> None:
        self.pointer_bits = pointer_bits
        self.records: dict[str, Record] = {}
        self.enumerations: dict[str, Enumeration] = {}
        self._by_symbol: dict[str, RecordType] = {}
        self._basic: dict[str, Type] = {}
        self._unit = 0

    def begin_unit(self) -> None:
        """Symbols of clang identify a record within one translation unit only."""
        self._unit += 1
        self._by_symbol.clear()

    def pointer(self, target: Type) -> PointerType:
        return PointerType(target, self.pointer_bits)

    def of(self, type: Any, origin: Origin) -> Type:
        """The core type. Raises UnsupportedError for what the core language cannot say."""
        type = type.get_canonical()
        kind = type.kind.name
        known = self._basic.get(kind)
        if known is not None:
            return known
        basic: Type
        if kind in _SIGNED or kind in _UNSIGNED:
            basic = IntType(type.get_size() * 8, kind in _SIGNED)
        elif kind == "BOOL":
            basic = IntType(type.get_size() * 8, False, boolean=True)
        elif kind in ("FLOAT", "DOUBLE", "LONGDOUBLE"):
            basic = self._float(type, kind, origin)
        elif kind == "VOID":
            basic = VoidType()
        else:
            return self._composed(type, kind, origin)
        self._basic[kind] = basic
        return basic

    def _float(self, type: Any, kind: str, origin: Origin) -> FloatType:
        if type.get_size() not in (4, 8):
            raise refuse(
                "`long double` wider than `double`",
                origin,
                "-mlong-double-64 makes it as wide as `double`",
            )
        return FloatType(type.get_size() * 8)

    def _composed(self, type: Any, kind: str, origin: Origin) -> Type:
        match kind:
            case "POINTER":
                pointee = type.get_pointee()
                if pointee.get_canonical().kind.name in ("FUNCTIONPROTO", "FUNCTIONNOPROTO"):
                    return self.pointer(self.function(pointee, origin))
                return self.pointer(self.of(pointee, origin))
            case "ENUM":
                return self._enum(type, origin)
            case "RECORD":
                return self._record(type, origin)
            case "CONSTANTARRAY":
                return ArrayType(self.of(type.element_type, origin), type.element_count)
            case "INCOMPLETEARRAY":
                return ArrayType(self.of(type.element_type, origin), None)
            case "FUNCTIONPROTO" | "FUNCTIONNOPROTO":
                return self.function(type, origin)
        what = _REFUSED.get(kind, f"the type `{type.spelling}`")
        raise refuse(what, origin)

    def function(self, type: Any, origin: Origin) -> FunctionType:
        type = type.get_canonical()
        result = self.of(type.get_result(), origin)
        if type.kind.name == "FUNCTIONNOPROTO":
            return FunctionType(result, (), False, False)
        parameters = tuple(self.of(parameter, origin) for parameter in type.argument_types())
        return FunctionType(result, parameters, type.is_function_variadic())

    def _enum(self, type: Any, origin: Origin) -> Type:
        declaration = type.get_declaration()
        basic = self.of(declaration.enum_type, origin)
        symbol = f"{self._unit}:{declaration.get_usr()}"
        if symbol not in self.enumerations and isinstance(basic, IntType):
            constants = tuple(
                (child.spelling, child.enum_value)
                for child in declaration.get_children()
                if child.kind.name == "ENUM_CONSTANT_DECL"
            )
            place = place_of(declaration)
            self.enumerations[symbol] = Enumeration(type.spelling, basic, constants, place)
        return basic

    def _record(self, type: Any, origin: Origin) -> RecordType:
        declaration = type.get_declaration()
        symbol = declaration.get_usr()
        if symbol in self._by_symbol:
            return self._by_symbol[symbol]
        size = type.get_size()
        complete = size >= 0
        union = declaration.kind.name == "UNION_DECL"
        base = type.spelling
        for word in ("const ", "volatile ", "restrict "):
            base = base.replace(word, "")
        number = 1
        name = base
        while True:
            record = RecordType(name, max(size, 0), type.get_align() if complete else 1, union)
            self._by_symbol[symbol] = record
            fields: tuple[Field, ...] = ()
            if complete:
                fields = self._fields(declaration, origin)
            place = place_of(declaration)
            known = self.records.get(name)
            if known is not None and not complete:
                self._by_symbol[symbol] = known.type
                return known.type
            if known is None or known.type.size == 0:
                self.records[name] = Record(record, fields, place)
                return record
            if known.type == record and known.fields == fields:
                return record
            # Another record of the same name: in another scope or another file.
            number += 1
            name = f"{base}#{number}"

    def _fields(self, declaration: Any, origin: Origin) -> tuple[Field, ...]:
        lib = library()
        fields = []
        for child in declaration.type.get_fields():
            place = place_of(child)
            bits = lib.field_offset(child)
            type = self.of(child.type, place if place.line else origin)
            width = child.get_bitfield_width() if child.is_bitfield() else None
            # The field of a record without a name inside another is called by its type.
            name = "" if "(" in child.spelling else child.spelling
            fields.append(Field(name, type, bits // 8, bits % 8, width, place))
        return tuple(fields)


def place_of(cursor: Any) -> Origin:
    extent = cursor.extent
    lib = library()
    file, line, column, _ = lib.expanded(extent.start)
    if not file:
        return NOWHERE
    _, end_line, end_column, _ = lib.expanded(extent.end)
    return Origin(file, line, column, end_line, end_column)
