"""Expressions of the core language as circuits, and the checks that go with them.

What is encoded is on a path: `guard` holds if a run takes it.  `healthy` is the predicate of the
component that the expression belongs to.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import assert_never

from whence.locate.encode_places import Places, resized
from whence.locate.fault_model import Place
from whence.locate.symbolic import (
    OFFSET,
    Aggregate,
    Alternative,
    Object,
    Pointer,
    Value,
    choose,
    point,
    pointers_equal,
    refuse,
)
from whence.model.program import (
    AddressOf,
    Binary,
    Cast,
    Conditional,
    Dereference,
    Element,
    Expansion,
    Expression,
    FloatConstant,
    FloatType,
    FunctionAddress,
    IntConstant,
    IntType,
    Load,
    Logical,
    NullPointer,
    PointerAdd,
    PointerDifference,
    PointerType,
    Type,
    Unary,
    size_of,
)
from whence.solve import words
from whence.solve.circuits import FALSE, TRUE, Literal
from whence.solve.words import Word

__all__ = ["Expressions"]


@dataclass
class Expressions(Places):
    def expression(self, expression: Expression, outer: Expansion | None = None) -> Value:
        """`outer` is the macro that wrote what the expression is part of."""
        value = self._expression(expression)
        if not _decides(expression) and isinstance(expression.type, IntType):
            part = self._part(expression)
            value = self.havoc(part, value, expression.type, "", expression.origin)
        expansion = expression.expansion
        if expansion is None or expansion == outer or self.place is None:
            return value
        place = self._macro(expansion)
        if place is None or isinstance(value, (Aggregate, Pointer)):
            return value
        if isinstance(expression, IntConstant):
            # One definition, and so one value wherever it is used.
            key = (place, expression.value, len(value))
            known = self._macro_constants.get(key)
            if known is None:
                before, self.guard = self.guard, TRUE
                word = self.havoc(
                    place, value, expression.type, expansion.macro, expansion.definition
                )
                self.guard = before
                assert isinstance(word, tuple)
                known = self._macro_constants[key] = word
            return known
        return self.havoc(
            place, value, expression.type, f"{expansion.macro}(...)", expression.origin
        )

    def _part(self, expression: Expression) -> Place | None:
        """The component that the expression is on its own."""
        if self.place is None or expression.expansion is not None:
            return None
        if isinstance(expression, (IntConstant, Cast)):
            # A conversion is no part that anybody wrote, or one that stands for its operand.
            return None
        place = self.suspects.part(expression.origin, self.place)
        if place is not None:
            self.uses.setdefault(place, set()).add(self.place)
        return place

    def _macro(self, expansion: Expansion) -> Place | None:
        place = self.suspects.macro(expansion)
        if place is not None and self.place is not None:
            self.uses.setdefault(place, set()).add(self.place)
        return place

    def _expression(self, expression: Expression) -> Value:
        circuit = self.circuit
        around = expression.expansion
        match expression:
            case IntConstant():
                return words.constant(expression.value, self._bits(expression))
            case FloatConstant():
                raise refuse("floating point", expression.origin)
            case NullPointer():
                return point(None)
            case FunctionAddress():
                return point(self._function_object(expression.function))
            case AddressOf():
                return self._address(expression)
            case Load():
                return self.load(self.locate(expression.place), expression.origin)
            case Logical() | Unary(operator="!"):
                return self._bit(self.condition(expression, around), self._bits(expression))
            case Unary():
                value = self._word(self.expression(expression.operand, around))
                if expression.operator == "~":
                    return words.bitwise_not(value)
                if _signed(expression.type):
                    zero = words.constant(0, len(value))
                    over = words.subtract_overflows(circuit, zero, value, signed=True)
                    self.check("overflow", over ^ 1)
                return words.negate(circuit, value)
            case Binary():
                if expression.operator in ("<", ">", "<=", ">=", "==", "!="):
                    return self._bit(self.condition(expression, around), self._bits(expression))
                return self._arithmetic(expression)
            case PointerAdd():
                return self._pointer_add(expression)
            case PointerDifference():
                return self._difference(expression)
            case Conditional():
                c = self.condition(expression.condition, around)
                with self.where(c):
                    then = self.expression(expression.then, around)
                with self.where(c ^ 1):
                    otherwise = self.expression(expression.otherwise, around)
                return choose(circuit, c, then, otherwise)
            case Cast():
                return self._cast(expression)
        assert_never(expression)

    def _bits(self, expression: Expression) -> int:
        if isinstance(expression.type, FloatType):
            raise refuse("floating point", expression.origin)
        assert isinstance(expression.type, IntType)
        return expression.type.bits

    def _bit(self, literal: Literal, bits: int) -> Word:
        return (literal, *(FALSE,) * (bits - 1))

    def holds(self, value: Value) -> Literal:
        """As a condition."""
        if isinstance(value, Pointer):
            return self.circuit.any_(
                each.when for each in value.alternatives if each.target is not None
            )
        return words.nonzero(self.circuit, self._word(value))

    def condition(self, expression: Expression, outer: Expansion | None = None) -> Literal:
        literal = self._condition(expression, outer)
        if _decides(expression):
            part = self._part(expression)
            literal = self.havoc_bit(part, literal, "condition", expression.origin)
        if isinstance(expression, (Logical, Unary, Binary)):
            expansion = expression.expansion
            if expansion is not None and expansion != outer and self.place is not None:
                place = self._macro(expansion)
                literal = self.havoc_bit(
                    place, literal, f"{expansion.macro}(...)", expression.origin
                )
        return literal

    def _condition(self, expression: Expression, outer: Expansion | None) -> Literal:
        circuit = self.circuit
        around = expression.expansion
        match expression:
            case Logical():
                left = self.condition(expression.left, around)
                if expression.operator == "&&":
                    with self.where(left):
                        return circuit.and_(left, self.condition(expression.right, around))
                with self.where(left ^ 1):
                    return circuit.or_(left, self.condition(expression.right, around))
            case Unary(operator="!"):
                return self.condition(expression.operand, around) ^ 1
            case Binary() if expression.operator in ("<", ">", "<=", ">=", "==", "!="):
                left_value = self.expression(expression.left, around)
                right_value = self.expression(expression.right, around)
                return self._compare(expression, left_value, right_value)
        if isinstance(expression.type, FloatType):
            raise refuse("floating point", expression.origin)
        return self.holds(self.expression(expression, outer))

    def _compare(self, expression: Binary, p: Value, q: Value) -> Literal:
        circuit, operator = self.circuit, expression.operator
        if operator in ("==", "!="):
            if isinstance(p, Pointer) and isinstance(q, Pointer):
                same = pointers_equal(circuit, p, q)
            else:
                same = words.equal(circuit, self._word(p), self._word(q))
            return same if operator == "==" else same ^ 1
        if isinstance(p, Pointer) and isinstance(q, Pointer):
            return self._order(operator, p, q)
        one, other = self._word(p), self._word(q)
        if operator in (">", "<="):
            one, other = other, one
        less = words.less(circuit, one, other, signed=_signed(expression.left.type))
        return less if operator in ("<", ">") else less ^ 1

    def _order(self, operator: str, p: Pointer, q: Pointer) -> Literal:
        circuit = self.circuit
        if operator in (">", "<="):
            p, q = q, p
        less, comparable = [], []
        for one in p.alternatives:
            for other in q.alternatives:
                if one.target == other.target and isinstance(one.target, Object):
                    both = circuit.and_(one.when, other.when)
                    comparable.append(both)
                    smaller = words.less(circuit, one.offset, other.offset, signed=True)
                    less.append(circuit.and_(both, smaller))
        self.check("pointers", circuit.any_(comparable))
        result = circuit.any_(less)
        return result if operator in ("<", ">") else result ^ 1

    def _arithmetic(self, expression: Binary) -> Word:
        circuit = self.circuit
        around = expression.expansion
        self._bits(expression)
        p = self._word(self.expression(expression.left, around))
        q = self._word(self.expression(expression.right, around))
        signed = _signed(expression.type)
        match expression.operator:
            case "+":
                if signed:
                    self._no_overflow(words.add_overflows, p, q)
                return words.add(circuit, p, q)
            case "-":
                if signed:
                    self._no_overflow(words.subtract_overflows, p, q)
                return words.subtract(circuit, p, q)
            case "*":
                if signed:
                    self._no_overflow(words.multiply_overflows, p, q)
                return words.multiply(circuit, p, q)
            case "/" | "%":
                self.check("division", words.divides_by_zero(circuit, q) ^ 1)
                if signed:
                    over = words.division_overflows(circuit, p, q)
                    self.check("division", over ^ 1)
                divide = words.signed_div_rem if signed else words.unsigned_div_rem
                return divide(circuit, p, q)[expression.operator == "%"]
            case "<<" | ">>":
                amount_signed = _signed(expression.right.type)
                far = words.shifts_too_far(circuit, len(p), q, signed=amount_signed)
                self.check("shifts", far ^ 1)
                if expression.operator == "<<":
                    return words.shift_left(circuit, p, q)
                return words.shift_right(circuit, p, q, signed=signed)
            case "&":
                return words.bitwise_and(circuit, p, q)
            case "|":
                return words.bitwise_or(circuit, p, q)
            case _:
                return words.bitwise_xor(circuit, p, q)

    def _no_overflow(self, overflows: Callable[..., Literal], p: Word, q: Word) -> None:
        if "overflow" in self.model.checks:
            self.check("overflow", overflows(self.circuit, p, q, signed=True) ^ 1)

    def _address(self, expression: AddressOf) -> Pointer:
        # The address of what is behind the last element is fine.
        place = expression.place
        if isinstance(place, Element):
            inner = self.locate(place.array)
            index = self._word(self.expression(place.index))
            assert isinstance(place.index.type, IntType)
            wide = resized(index, OFFSET, place.index.type.signed)
            size = words.constant(size_of(place.type), OFFSET)
            step = words.multiply(self.circuit, wide, size)
            alternatives = tuple(
                Alternative(each.when, each.target, words.add(self.circuit, each.offset, step))
                for each in inner.alternatives
            )
        elif isinstance(place, Dereference):
            value = self.expression(place.pointer)
            assert isinstance(value, Pointer)
            return value
        else:
            alternatives = self.locate(place).alternatives
        for each in alternatives:
            if isinstance(each.target, Object):
                self._addressed[each.target] = None
        return Pointer(alternatives)

    def _function_object(self, key: str) -> Object:
        name = f"function {key}"
        if name not in self.objects:
            made = Object(key, PointerType(IntType(8, False), 64), (), 0)
            made.function = key
            self.objects[name] = made
        return self.objects[name]

    def _pointer_add(self, expression: PointerAdd) -> Pointer:
        circuit = self.circuit
        pointer = self.expression(expression.pointer)
        assert isinstance(pointer, Pointer)
        assert isinstance(expression.index.type, IntType)
        index = self._word(self.expression(expression.index))
        wide = resized(index, OFFSET, expression.index.type.signed)
        step = words.multiply(circuit, wide, words.constant(expression.stride, OFFSET))
        if expression.back:
            step = words.negate(circuit, step)
        moved = []
        for each in pointer.alternatives:
            if isinstance(each.target, Object):
                offset = words.add(circuit, each.offset, step)
                moved.append(Alternative(each.when, each.target, offset))
            else:
                moved.append(each)
        return Pointer(tuple(moved))

    def _difference(self, expression: PointerDifference) -> Word:
        circuit = self.circuit
        p, q = self.expression(expression.left), self.expression(expression.right)
        assert isinstance(p, Pointer)
        assert isinstance(q, Pointer)
        result = words.constant(0, OFFSET)
        comparable = []
        for one in p.alternatives:
            for other in q.alternatives:
                if one.target == other.target:
                    both = circuit.and_(one.when, other.when)
                    comparable.append(both)
                    apart = words.subtract(circuit, one.offset, other.offset)
                    result = words.choose(circuit, both, apart, result)
        self.check("pointers", circuit.any_(comparable))
        stride = words.constant(expression.stride, OFFSET)
        if expression.stride & (expression.stride - 1):
            quotient, _ = words.signed_div_rem(circuit, result, stride)
        else:
            # Without a rest: a shift.
            by = words.constant(expression.stride.bit_length() - 1, OFFSET)
            quotient = words.shift_right(circuit, result, by, signed=True)
        return resized(quotient, self._bits(expression), True)

    def _cast(self, expression: Cast) -> Value:
        operand, type = expression.operand, expression.type
        value = self.expression(operand, expression.expansion)
        if isinstance(type, FloatType) or isinstance(operand.type, FloatType):
            raise refuse("floating point", expression.origin)
        if isinstance(type, PointerType):
            if isinstance(value, Pointer):
                return value
            raise refuse("a conversion of a number to a pointer", expression.origin)
        if not isinstance(type, IntType):
            return value
        if type.boolean:
            return self._bit(self.holds(value), type.bits)
        if isinstance(value, Pointer):
            raise refuse("a conversion of a pointer to a number", expression.origin)
        assert isinstance(operand.type, IntType)
        return resized(self._word(value), type.bits, operand.type.signed)


def _decides(expression: Expression) -> bool:
    """Whether its value is that of a condition."""
    match expression:
        case Logical() | Unary(operator="!"):
            return True
        case Binary():
            return expression.operator in ("<", ">", "<=", ">=", "==", "!=")
    return False


def _signed(type: Type) -> bool:
    return isinstance(type, IntType) and type.signed
