"""Calls, and what our headers turn standard macros into."""

from __future__ import annotations

from typing import Any

from whence.formats.c.arithmetic import convert, truth
from whence.formats.c.lvalues import Lvalues
from whence.formats.c.nodes import Node
from whence.formats.c.operators import ADDRESS, DEREFERENCE
from whence.model.program import (
    Assert,
    Call,
    Expression,
    FunctionType,
    IntConstant,
    Load,
    Member,
    Place,
    PointerType,
    RecordType,
    VoidType,
)

__all__ = ["OWN", "Calls"]

OWN = frozenset({"__whence_assert", "__builtin_expect"})


class Calls(Lvalues):
    def callee_name(self, node: Node) -> str:
        referenced = node.cursor.referenced
        if referenced is not None and referenced.kind.name == "FUNCTION_DECL":
            return str(referenced.spelling)
        return ""

    def _call_value(self, node: Node) -> Expression:
        name = self.callee_name(node)
        if name in OWN:
            return self._own(name, node)
        type = self.unit.type(node)
        if isinstance(type, VoidType):
            self._call(node, None)
            return IntConstant(0, type, node.origin, node.expansion)
        result = self.temporary(type, node)
        self._call(node, result)
        return Load(result, type, node.origin, node.expansion)

    def _call(self, node: Node, result: Place | None) -> None:
        name = self.callee_name(node)
        if name in OWN:
            self._own(name, node)
            return
        callee_node, *argument_nodes = node.expressions()
        direct = self._direct(callee_node)
        callee: str | Expression
        if direct is not None:
            callee = self.unit.function_key(direct, node.origin)
            type = self.unit.types.function(direct.type, node.origin)
            arguments = self.operands(argument_nodes)
        else:
            pointer, *arguments = self.operands([callee_node, *argument_nodes])
            assert isinstance(pointer.type, PointerType)
            assert isinstance(pointer.type.target, FunctionType)
            callee, type = pointer, pointer.type.target
        if type.prototyped:
            arguments = [
                convert(value, parameter) if not isinstance(parameter, RecordType) else value
                for value, parameter in zip(arguments, type.parameters, strict=False)
            ] + arguments[len(type.parameters) :]
        self.emit(Call(0, result, callee, tuple(arguments), type, node.origin, node.expansion))

    def _called(self, node: Node, place: Place) -> Node | None:
        """The call whose result goes into the place as it is."""
        if isinstance(place, Member) and place.field.width is not None:
            return None
        inner = self.bare(node)
        if inner.kind == "CALL_EXPR" and self.unit.type(inner) == place.type:
            callee = self.callee_name(inner)
            if callee not in OWN:
                return inner
        return None

    def plain_call(self, node: Node, place: Place) -> bool:
        """Writes a call whose result goes into the place as it is, if it does."""
        if self._called(node, place) is None:
            return False
        self._call(node, place)
        return True

    def _direct(self, node: Node) -> Any:
        """The declaration of the function that is called by name."""
        while True:
            node = self.bare(node)
            if node.kind == "DECL_REF_EXPR":
                referenced = node.cursor.referenced
                return referenced if referenced.kind.name == "FUNCTION_DECL" else None
            inner = node.expressions()
            if node.kind == "UNEXPOSED_EXPR" and len(inner) == 1:
                node = inner[0]
                continue
            if node.kind == "UNARY_OPERATOR" and self.unit.lib.unary_operator(node.cursor) in (
                ADDRESS,
                DEREFERENCE,
            ):
                node = inner[0]
                continue
            return None

    def _own(self, name: str, node: Node) -> Expression:
        """What our headers turn standard macros into."""
        arguments = node.expressions()[1:]
        if name == "__whence_assert":
            condition = truth(self.value(arguments[0]))
            text = self.unit.lib.spelling(_innermost(arguments[1]).cursor)[1:-1]
            shown = text.decode("utf-8", "replace").replace('\\"', '"').replace("\\\\", "\\")
            self.emit(Assert(0, condition, shown, node.origin, node.expansion))
            return IntConstant(0, VoidType(), node.origin, node.expansion)
        # `__builtin_expect(value, likely)`
        value, _ = self.operands(arguments)
        return value


def _innermost(node: Node) -> Node:
    while node.kind != "STRING_LITERAL" and node.expressions():
        node = node.expressions()[0]
    return node
