"""Assignments: simple, compound, `++` and `--`."""

from __future__ import annotations

from whence.formats.c.arithmetic import common, convert
from whence.formats.c.calls import Calls
from whence.formats.c.effects import disturbs, where
from whence.formats.c.nodes import Node
from whence.formats.c.operators import COMPOUND, POST_DECREMENT, POST_INCREMENT, PRE_INCREMENT
from whence.formats.c.types import promoted, refuse
from whence.model.program import (
    Assign,
    Binary,
    BinaryOperator,
    Call,
    Expression,
    IntConstant,
    IntType,
    Load,
    Member,
    Place,
    PointerAdd,
    PointerType,
    RecordType,
    Type,
    VariablePlace,
)

__all__ = ["Assignments"]


class Assignments(Calls):
    def _assignment_value(self, node: Node) -> Expression:
        place = self.assignment(node, used=True)
        return self.loaded(place, node)

    def assignment(self, node: Node, used: bool = False) -> Place:
        """Writes the assignment; its value is afterwards that of the place returned."""
        target, value_node = node.expressions()
        place = self.place(target)
        called = self._called(value_node, place)
        if used and not isinstance(place, VariablePlace):
            called = None
        outer, self.out = self.out, []
        try:
            value = None
            if called is None:
                value = self.value(value_node)
            else:
                self._call(called, place)
            statements = self.out
        finally:
            self.out = outer
        way = where(place)
        if statements and disturbs(statements, way, self.addressed):
            frozen = self.frozen(place, node)
            if called is not None:
                # The call is read again, now with the place that does not move.
                last = statements[-1]
                assert isinstance(last, Call)
                statements[-1] = Call(
                    0, frozen, last.callee, last.arguments, last.type, last.origin, last.expansion
                )
            place = frozen
        self.out += statements
        if value is not None:
            if not isinstance(place.type, RecordType):
                value = convert(value, place.type, node.origin, node.expansion)
            self.emit(Assign(0, place, value, node.origin, node.expansion))
            # The place is read again where the value is used: it must not move by then.
            if used and disturbs([Assign(0, place, value)], way, self.addressed):
                return self._settled(place, value, node)
        return place

    def _settled(self, place: Place, value: Expression, node: Node) -> Place:
        """The assignment changed the way to its own place (`p = p->next = q`): its value goes
        through a temporary."""
        last = self.out.pop()
        assert isinstance(last, Assign)
        result = self.temporary(place.type, node)
        self.emit(Assign(0, result, value, node.origin, node.expansion))
        self.emit(
            Assign(
                0,
                place,
                Load(result, place.type, node.origin, node.expansion),
                node.origin,
                node.expansion,
            )
        )
        return result

    def _compound_assignment(self, node: Node) -> Place:
        kind = self.unit.lib.binary_operator(node.cursor)
        operator = COMPOUND.get(kind)
        if operator is None:
            raise refuse("this operator", node.origin)
        target, value_node = node.expressions()
        place = self.place(target)
        value, statements = self.apart(value_node)
        if statements and disturbs(statements, where(place), self.addressed):
            place = self.frozen(place, node)
        self.out += statements
        old = Load(place, place.type, target.origin, target.expansion)
        new = self._combined(operator, old, value, place, node)
        self.emit(Assign(0, place, new, node.origin, node.expansion))
        return place

    def _increment(self, node: Node, used: bool) -> Expression:
        operator = self.unit.lib.unary_operator(node.cursor)
        (operand,) = node.expressions()
        place = self.place(operand)
        old: Expression = Load(place, place.type, operand.origin, operand.expansion)
        after = used and operator in (POST_INCREMENT, POST_DECREMENT)
        if after:
            old = self.saved(old, operand)
        one = IntConstant(1, self.unit.int, node.origin, node.expansion)
        sign: BinaryOperator = "+" if operator in (POST_INCREMENT, PRE_INCREMENT) else "-"
        new = self._combined(sign, old, one, place, node)
        self.emit(Assign(0, place, new, node.origin, node.expansion))
        if after:
            return old
        return Load(place, place.type, node.origin, node.expansion)

    def _combined(
        self, operator: BinaryOperator, old: Expression, by: Expression, place: Place, node: Node
    ) -> Expression:
        """The value of `old operator by` at the type of `place`."""
        if isinstance(place.type, PointerType):
            stride = self._stride(place.type, node)
            return PointerAdd(
                old, by, stride, operator == "-", place.type, node.origin, node.expansion
            )
        bits = self.unit.model.int_bits
        type = place.type
        if isinstance(place, Member) and place.field.width is not None:
            assert isinstance(type, IntType)
            if place.field.width < bits or (place.field.width == bits and type.signed):
                type = IntType(bits, True)
        if operator in ("<<", ">>"):
            assert isinstance(type, IntType)
            computed: Type = promoted(type, bits)
            if isinstance(by.type, IntType):
                by = convert(by, promoted(by.type, bits))
        else:
            computed = common(type, by.type, bits)
            by = convert(by, computed)
        value = Binary(
            operator,
            convert(old, computed, node.origin, node.expansion),
            by,
            computed,
            node.origin,
            node.expansion,
        )
        return convert(value, place.type, node.origin, node.expansion)
