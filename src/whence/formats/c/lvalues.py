"""Expressions that name places (lvalues)."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from whence.formats.c.effects import disturbs, where
from whence.formats.c.nodes import Node
from whence.formats.c.operators import DEREFERENCE, EXTENSION
from whence.formats.c.types import refuse
from whence.formats.c.writing import Writing
from whence.model.program import (
    AddressOf,
    ArrayType,
    Assign,
    Dereference,
    Element,
    Expression,
    Field,
    FunctionType,
    Load,
    Member,
    Place,
    PointerAdd,
    PointerType,
    RecordType,
    Type,
    Variable,
    VariablePlace,
    VoidType,
    size_of,
)
from whence.source import Origin

__all__ = ["Lvalues", "is_parameter"]


class Lvalues(Writing):
    def is_place(self, node: Node) -> bool:
        node = self.bare(node)
        match node.kind:
            case "DECL_REF_EXPR":
                kind = node.cursor.referenced.kind.name
                return kind in ("VAR_DECL", "PARM_DECL")
            case "MEMBER_REF_EXPR" | "ARRAY_SUBSCRIPT_EXPR" | "STRING_LITERAL":
                return True
            case "COMPOUND_LITERAL_EXPR":
                return True
            case "UNARY_OPERATOR":
                operator = self.unit.lib.unary_operator(node.cursor)
                if operator == EXTENSION:
                    return self.is_place(node.expressions()[0])
                return bool(
                    operator == DEREFERENCE
                    and node.type.get_canonical().kind.name
                    not in ("FUNCTIONPROTO", "FUNCTIONNOPROTO")
                )
            case "UNEXPOSED_EXPR":
                # `__func__` is a string literal in disguise.
                inner = node.expressions()
                return (
                    len(inner) == 1
                    and inner[0].kind == "STRING_LITERAL"
                    and (node.type.get_canonical().kind.name == "CONSTANTARRAY")
                )
        return False

    def place(self, node: Node) -> Place:
        node = self.bare(node)
        match node.kind:
            case "DECL_REF_EXPR":
                variable = self._variable(node)
                return VariablePlace(variable, variable.type, node.origin, node.expansion)
            case "STRING_LITERAL":
                return self.unit.string(node)
            case "ARRAY_SUBSCRIPT_EXPR":
                return self._element(node)
            case "MEMBER_REF_EXPR":
                return self._member(node)
            case "COMPOUND_LITERAL_EXPR":
                return self.compound_literal(node)
            case "UNARY_OPERATOR":
                (operand,) = node.expressions()
                if self.unit.lib.unary_operator(node.cursor) == EXTENSION:
                    return self.place(operand)
                return Dereference(
                    self.value(operand), self.unit.type(node), node.origin, node.expansion
                )
            case "UNEXPOSED_EXPR":
                return self.unit.string(node.expressions()[0])
        raise refuse(f"this expression as a place ({node.kind.lower()})", node.origin)

    def _variable(self, node: Node) -> Variable:
        cursor = node.cursor.referenced
        known = self.symbols.get(cursor)
        if known is not None:
            assert isinstance(known, Variable)
            return known
        return self.unit.global_variable(cursor)

    def _element(self, node: Node) -> Place:
        base, index = node.expressions()
        if self._is_pointer(index):
            base, index = index, base
        type = self.unit.type(node)
        array = self._decayed(base)
        if array is None:
            pointer, number = self.operands([base, index])
            stride = self._stride(pointer.type, node)
            moved = PointerAdd(
                pointer, number, stride, False, pointer.type, node.origin, node.expansion
            )
            return Dereference(moved, type, node.origin, node.expansion)
        place = self.place(array)
        value, statements = self.apart(index)
        if statements and disturbs(statements, where(place), self.addressed):
            place = self.frozen(place, node)
        self.out += statements
        return Element(place, value, type, self._flexible(place), node.origin, node.expansion)

    def _is_pointer(self, node: Node) -> bool:
        return node.type.get_canonical().kind.name in (
            "POINTER",
            "CONSTANTARRAY",
            "INCOMPLETEARRAY",
            "VARIABLEARRAY",
        )

    def _decayed(self, node: Node) -> Node | None:
        """The array that decays to a pointer here, if it is an array."""
        node = self.bare(node)
        if node.kind == "UNEXPOSED_EXPR":
            inner = node.expressions()
            if len(inner) == 1 and self.is_place(inner[0]) and not is_parameter(inner[0]):
                kind = inner[0].type.get_canonical().kind.name
                if kind in ("CONSTANTARRAY", "INCOMPLETEARRAY"):
                    return self.bare(inner[0])
        return None

    @staticmethod
    def _flexible(array: Place) -> bool:
        """Whether an array stands for as many elements as there is room: one that ends a
        structure behind a pointer with a length of at most 1, or whose length nobody says."""
        assert isinstance(array.type, ArrayType)
        length = array.type.length
        if length is None:
            return True
        if length > 1 or not isinstance(array, Member):
            return False
        record = array.record
        if not isinstance(record.type, RecordType) or not isinstance(record, Dereference):
            return False
        return array.field.offset + size_of(array.type) + record.type.align > record.type.size

    def _member(self, node: Node) -> Place:
        bases = node.expressions()
        cursor = node.cursor.referenced
        base = bases[0]
        kind = base.type.get_canonical().kind.name
        record: Place
        if kind == "POINTER":
            pointer = self.value(base)
            assert isinstance(pointer.type, PointerType)
            record = Dereference(pointer, pointer.type.target, base.origin, base.expansion)
        elif self.is_place(base):
            record = self.place(base)
        else:
            value = self.value(base)
            record = self.temporary(value.type, base)
            self.emit(Assign(0, record, value, base.origin, base.expansion))
        for field in self.path(record.type, cursor, node.origin):
            record = Member(record, field, field.type, node.origin, node.expansion)
        return record

    def path(self, type: Type, cursor: Any, origin: Origin) -> list[Field]:
        """The way to a member: through members without names, of which clang says nothing."""
        assert isinstance(type, RecordType)
        found = self._path(type, cursor.spelling, self.unit.lib.field_offset(cursor))
        if found is None:
            raise refuse(f"the member `{cursor.spelling}`", origin)
        return found

    def _path(self, type: RecordType, name: str, bits: int) -> list[Field] | None:
        for field in self.unit.types.records[type.name].fields:
            inner = field.type
            if field.name == "" and isinstance(inner, RecordType):
                if "(" in name or not name:
                    if field.offset * 8 == bits:
                        return [field]
                    continue
                rest = self._path(inner, name, bits)
                if rest is not None:
                    return [field, *rest]
            elif field.name == name and field.offset * 8 + field.bit == bits:
                return [field]
        return None

    @abstractmethod
    def compound_literal(self, node: Node) -> Place:
        """The object that a compound literal makes."""

    def loaded(self, place: Place, node: Node) -> Expression:
        """What a place stands for as a value: of an array, the address of its first element."""
        if isinstance(place.type, ArrayType):
            return AddressOf(
                place, self.unit.pointer(place.type.element), node.origin, node.expansion
            )
        return Load(place, place.type, node.origin, node.expansion)

    def _stride(self, type: Type, node: Node) -> int:
        assert isinstance(type, PointerType)
        if isinstance(type.target, (VoidType, FunctionType)):
            return 1  # as gcc and clang have it
        size = size_of(type.target)
        if size == 0 and not isinstance(type.target, RecordType):
            raise refuse("arithmetic on a pointer to what has no size", node.origin)
        return size


def is_parameter(node: Node) -> bool:
    """Parameters that are declared as arrays are pointers."""
    node = Writing.bare(node)
    return bool(node.kind == "DECL_REF_EXPR" and node.cursor.referenced.kind.name == "PARM_DECL")
