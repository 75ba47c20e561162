"""Expressions of C into expressions without effects and the statements that have them."""

from __future__ import annotations

from whence.formats.c.arithmetic import COMPARISONS, convert, is_truth, truth, unary, zero
from whence.formats.c.assignments import Assignments
from whence.formats.c.initializers import initialise
from whence.formats.c.nodes import Node
from whence.formats.c.operators import AND, ASSIGN, BINARY, COMMA, EXTENSION, OR
from whence.formats.c.types import place_of, refuse
from whence.model.program import (
    AddressOf,
    ArrayType,
    Assign,
    Binary,
    Conditional,
    Declare,
    Dereference,
    Evaluate,
    Expansion,
    Expression,
    FloatConstant,
    FloatType,
    FunctionAddress,
    FunctionType,
    If,
    IntConstant,
    IntType,
    Load,
    Logical,
    NullPointer,
    Place,
    PointerAdd,
    PointerDifference,
    PointerType,
    RecordType,
    Statement,
    VariablePlace,
    VoidType,
)

__all__ = ["Expressions"]

_REFUSED = {
    "ADDR_LABEL_EXPR": "addresses of labels",
    "IMAGINARY_LITERAL": "complex numbers (`_Complex`)",
    "GENERIC_SELECTION_EXPR": "`_Generic`",
    "BLOCK_EXPR": "blocks",
}

#: How deep an expression may nest before part of it becomes a statement of its own.
_DEPTH = 60


class Expressions(Assignments):
    def value(self, node: Node) -> Expression:
        """The value of an expression; what it does is written to `out`."""
        self._depth += 1
        try:
            value = self._value(node)
            if self._depth > _DEPTH and self._depth % 20 == 0 and not self.constant:
                return self.saved(value, node)
            return value
        except RecursionError:
            raise refuse("an expression that nests this deep", node.origin) from None
        finally:
            self._depth -= 1

    def _value(self, node: Node) -> Expression:
        node = self.bare(node)
        if node.kind in _REFUSED:
            raise refuse(_REFUSED[node.kind], node.origin)
        if self.is_place(node):
            return self.loaded(self.place(node), node)
        match node.kind:
            case "INTEGER_LITERAL" | "CHARACTER_LITERAL" | "FLOATING_LITERAL":
                return self._constant(node)
            case "CXX_UNARY_EXPR":
                return self._constant(node)
            case "DECL_REF_EXPR":
                return self._reference(node)
            case "UNEXPOSED_EXPR":
                return self._unexposed(node)
            case "CSTYLE_CAST_EXPR":
                return self._cast(node)
            case "UNARY_OPERATOR":
                return self._unary(node)
            case "BINARY_OPERATOR":
                return self._binary(node)
            case "COMPOUND_ASSIGNMENT_OPERATOR":
                place = self._compound_assignment(node)
                return self.loaded(place, node)
            case "CONDITIONAL_OPERATOR":
                return self._conditional(node)
            case "CALL_EXPR":
                return self._call_value(node)
            case "StmtExpr":
                return self._statement_expression(node)
        raise refuse(f"this expression ({node.kind.lower()})", node.origin)

    def _constant(self, node: Node) -> Expression:
        type = self.unit.type(node)
        value = self.unit.lib.value(node.cursor)
        if value is None:
            raise refuse("this constant (the size of an array of variable length?)", node.origin)
        constant: Expression
        if isinstance(value, int):
            assert isinstance(type, IntType)
            constant = IntConstant(value, IntType(64, True), node.origin, node.expansion)
        else:
            constant = FloatConstant(value, FloatType(64), node.origin, node.expansion)
        return convert(constant, type)

    def _reference(self, node: Node) -> Expression:
        cursor = node.cursor.referenced
        if cursor.kind.name == "ENUM_CONSTANT_DECL":
            type = self.unit.type(node)
            expansion = node.expansion
            if expansion is None:
                expansion = Expansion(cursor.spelling, node.origin, place_of(cursor), True)
            constant = IntConstant(cursor.enum_value, IntType(64, True), node.origin, expansion)
            return convert(constant, type)
        if cursor.kind.name == "FUNCTION_DECL":
            key = self.unit.function_key(cursor, node.origin)
            function = self.unit.types.function(cursor.type, node.origin)
            return FunctionAddress(key, self.unit.pointer(function), node.origin, node.expansion)
        raise refuse(f"`{cursor.spelling}` as an expression", node.origin)

    def _unexposed(self, node: Node) -> Expression:
        inner = node.expressions()
        if any(child.kind == "MEMBER_REF" for child in node.children) or not inner:
            # offsetof, and builtins whose value clang knows.
            type = self.unit.type(node)
            if isinstance(type, IntType):
                return self._constant(node)
            raise refuse("this builtin function", node.origin)
        if len(inner) == 4:
            return self._elvis(node, inner)
        if len(inner) != 1:
            raise refuse("this builtin function", node.origin)
        type = self.unit.type(node)
        child = self.bare(inner[0])
        if isinstance(type, FunctionType) and child.kind == "DECL_REF_EXPR":
            return self._value(child)
        value = self.value(child)
        if isinstance(type, (RecordType, VoidType, ArrayType, FunctionType)):
            return value
        return convert(value, type, node.origin, node.expansion)

    def _elvis(self, node: Node, inner: list[Node]) -> Expression:
        """GNU C's `a ?: b`."""
        type = self.unit.type(node)
        first = self.saved(self.value(inner[0]), inner[0])
        result = self.temporary(type, node)
        otherwise, statements = self.apart(inner[3])
        then = convert(first, type)
        take = Assign(0, result, then, node.origin, node.expansion)
        other = Assign(0, result, convert(otherwise, type), node.origin, node.expansion)
        self.emit(If(0, first, (take,), (*statements, other), node.origin, node.expansion))
        return Load(result, type, node.origin, node.expansion)

    def _cast(self, node: Node) -> Expression:
        operand = node.expressions()[-1]
        type = self.unit.type(node)
        if isinstance(type, VoidType):
            self.effect(operand)
            return IntConstant(0, VoidType(), node.origin, node.expansion)
        value = self.value(operand)
        if isinstance(type, RecordType) and value.type != type:
            raise refuse("casts to unions", node.origin)
        if isinstance(value, NullPointer) and isinstance(type, IntType):
            return IntConstant(0, type, node.origin, node.expansion)
        return convert(value, type, node.origin, node.expansion)

    def _unary(self, node: Node) -> Expression:
        operator = self.unit.lib.unary_operator(node.cursor)
        (operand,) = node.expressions()
        match operator:
            case 5:  # &
                return self._address(node, operand)
            case 6:  # *, of a pointer to a function
                return self.value(operand)
            case 13:  # __extension__
                return self.value(operand)
            case 1 | 2 | 3 | 4:
                return self._increment(node, used=True)
        type = self.unit.type(node)
        value = self.value(operand)
        match operator:
            case 7:  # +
                return convert(value, type)
            case 8:  # -
                return unary("-", value, type, node.origin, node.expansion)
            case 9:
                return unary("~", value, type, node.origin, node.expansion)
            case 10:
                return unary("!", truth(value), type, node.origin, node.expansion)
        raise refuse("this operator", node.origin)

    def _address(self, node: Node, operand: Node) -> Expression:
        type = self.unit.type(node)
        inner = self.bare(operand)
        if not self.is_place(inner):
            return convert(self.value(inner), type)
        place = self.place(inner)
        if isinstance(place, Dereference):
            return convert(place.pointer, type)
        return AddressOf(place, type, node.origin, node.expansion)

    def _binary(self, node: Node) -> Expression:
        kind = self.unit.lib.binary_operator(node.cursor)
        left_node, right_node = node.expressions()
        if kind == ASSIGN:
            return self._assignment_value(node)
        if kind == COMMA:
            self.effect(left_node)
            return self.value(right_node)
        type = self.unit.type(node)
        if kind in (AND, OR):
            return self._logical(node, kind)
        operator = BINARY.get(kind)
        if operator is None:
            raise refuse("this operator", node.origin)
        left, right = self.operands([left_node, right_node])
        origin, expansion = node.origin, node.expansion
        left_pointer = isinstance(left.type, PointerType)
        right_pointer = isinstance(right.type, PointerType)
        if operator in COMPARISONS:
            if left_pointer and not right_pointer:
                right = convert(right, left.type)
            elif right_pointer and not left_pointer:
                left = convert(left, right.type)
            elif left_pointer and left.type != right.type:
                right = convert(right, left.type)
            return Binary(operator, left, right, type, origin, expansion)
        if left_pointer and right_pointer:
            stride = self._stride(left.type, node)
            return PointerDifference(left, right, stride, type, origin, expansion)
        if left_pointer or right_pointer:
            pointer, index = (left, right) if left_pointer else (right, left)
            stride = self._stride(pointer.type, node)
            return PointerAdd(pointer, index, stride, operator == "-", type, origin, expansion)
        if operator not in ("<<", ">>"):
            left, right = convert(left, type), convert(right, type)
        return Binary(operator, left, right, type, origin, expansion)

    def _logical(self, node: Node, kind: int) -> Expression:
        left_node, right_node = node.expressions()
        type = self.unit.type(node)
        left = truth(self.value(left_node))
        right, statements = self.apart(right_node)
        right = truth(right)
        operator = "&&" if kind == AND else "||"
        if not statements:
            return Logical(
                "&&" if kind == AND else "||", left, right, type, node.origin, node.expansion
            )
        result = self.temporary(type, node)
        origin, expansion = right_node.origin, right_node.expansion
        decided = IntConstant(int(kind == OR), type, left_node.origin, left_node.expansion)
        outcome = right
        if not is_truth(right):
            outcome = Binary("!=", right, zero(right), type, origin, expansion)
        evaluated = (*statements, Assign(0, result, outcome, origin, expansion))
        known = (Assign(0, result, decided, left_node.origin, left_node.expansion),)
        then, otherwise = (evaluated, known) if operator == "&&" else (known, evaluated)
        self.emit(If(0, left, then, otherwise, left_node.origin, left_node.expansion))
        return Load(result, type, node.origin, node.expansion)

    def _conditional(self, node: Node) -> Expression:
        condition_node, then_node, otherwise_node = node.expressions()
        condition = truth(self.value(condition_node))
        type = self.unit.type(node)
        origin, expansion = node.origin, node.expansion
        if isinstance(type, VoidType):
            then_list = self.effects_apart(then_node)
            otherwise_list = self.effects_apart(otherwise_node)
            self.emit(If(0, condition, tuple(then_list), tuple(otherwise_list), origin, expansion))
            return IntConstant(0, VoidType(), origin, expansion)
        then, then_list = self.apart(then_node)
        otherwise, otherwise_list = self.apart(otherwise_node)
        if isinstance(type, RecordType):
            scalar = False
        else:
            then, otherwise = convert(then, type), convert(otherwise, type)
            scalar = True
        if scalar and not then_list and not otherwise_list:
            return Conditional(condition, then, otherwise, type, origin, expansion)
        result = self.temporary(type, node)
        first = Assign(0, result, then, then_node.origin, then_node.expansion)
        second = Assign(0, result, otherwise, otherwise_node.origin, otherwise_node.expansion)
        self.emit(
            If(0, condition, (*then_list, first), (*otherwise_list, second), origin, expansion)
        )
        return Load(result, type, origin, expansion)

    def effect(self, node: Node) -> None:
        """Writes what the expression does; its value is not needed."""
        node = self.bare(node)
        match node.kind:
            case "BINARY_OPERATOR":
                kind = self.unit.lib.binary_operator(node.cursor)
                if kind == ASSIGN:
                    self.assignment(node)
                    return
                if kind == COMMA:
                    for part in node.expressions():
                        self.effect(part)
                    return
                if kind in (AND, OR):
                    self._effect_logical(node, kind)
                    return
            case "COMPOUND_ASSIGNMENT_OPERATOR":
                self._compound_assignment(node)
                return
            case "UNARY_OPERATOR":
                operator = self.unit.lib.unary_operator(node.cursor)
                if operator in (1, 2, 3, 4):
                    self._increment(node, used=False)
                    return
                if operator == EXTENSION:
                    self.effect(node.expressions()[0])
                    return
            case "CALL_EXPR":
                self._call(node, None)
                return
            case "CONDITIONAL_OPERATOR":
                condition_node, then_node, otherwise_node = node.expressions()
                condition = truth(self.value(condition_node))
                then = tuple(self.effects_apart(then_node))
                otherwise = tuple(self.effects_apart(otherwise_node))
                self.emit(If(0, condition, then, otherwise, node.origin, node.expansion))
                return
            case "CSTYLE_CAST_EXPR" if isinstance(self.unit.type(node), VoidType):
                self.effect(node.expressions()[-1])
                return
            case "UNEXPOSED_EXPR":
                inner = node.expressions()
                kind_name = node.type.get_canonical().kind.name
                if len(inner) == 1 and (kind_name == "VOID" or not self.is_place(inner[0])):
                    self.effect(inner[0])
                    return
            case "StmtExpr":
                self._statement_expression(node)
                return
        value = self.value(node)
        if not isinstance(value.type, (VoidType, RecordType)) and not isinstance(
            value, (IntConstant, FloatConstant, FunctionAddress, NullPointer)
        ):
            self.emit(Evaluate(0, value, node.origin, node.expansion))

    def _effect_logical(self, node: Node, kind: int) -> None:
        left_node, right_node = node.expressions()
        left = truth(self.value(left_node))
        right = tuple(self.effects_apart(right_node))
        then, otherwise = (right, ()) if kind == AND else ((), right)
        self.emit(If(0, left, then, otherwise, node.origin, node.expansion))

    def effects_apart(self, node: Node) -> list[Statement]:
        outer, self.out = self.out, []
        try:
            self.effect(node)
            return self.out
        finally:
            self.out = outer

    def _statement_expression(self, node: Node) -> Expression:
        """GNU C's `({ ...; value; })`."""
        raise refuse("statements in expressions (`({ ... })`)", node.origin)

    def compound_literal(self, node: Node) -> Place:
        type = self.unit.type(node)
        literal = node.expressions()[-1]
        if self.constant:
            raise refuse("compound literals outside functions", node.origin)
        variable = self.local("(literal)", type, "local", node.origin)
        place = VariablePlace(variable, type, node.origin, node.expansion)
        self.emit(Declare(0, variable, node.origin, node.expansion))
        initialise(self, place, literal)
        return place
