"""Expressions of C into expressions without effects and the statements that have them."""

from __future__ import annotations

from typing import Any

from whence.formats.c.arithmetic import COMPARISONS, common, convert, unary
from whence.formats.c.effects import disturbs
from whence.formats.c.nodes import Node
from whence.formats.c.types import promoted, refuse
from whence.formats.c.unit import Symbols, Unit
from whence.model.program import (
    AddressOf,
    ArrayType,
    Assert,
    Assign,
    Binary,
    BinaryOperator,
    Call,
    Conditional,
    Declare,
    Dereference,
    Element,
    Evaluate,
    Expansion,
    Expression,
    Field,
    FloatConstant,
    FloatType,
    FunctionAddress,
    FunctionType,
    If,
    IntConstant,
    IntType,
    Load,
    Logical,
    Member,
    NullPointer,
    Place,
    PointerAdd,
    PointerDifference,
    PointerType,
    RecordType,
    Statement,
    Storage,
    Type,
    Unary,
    Variable,
    VariablePlace,
    VoidType,
    size_of,
)
from whence.source import Diagnostic, InputError, Origin

__all__ = ["Expressions", "truth"]

# The kinds of operators as libclang numbers them (CXBinaryOperatorKind, CXUnaryOperatorKind).
_BINARY: dict[int, BinaryOperator] = {
    3: "*",
    4: "/",
    5: "%",
    6: "+",
    7: "-",
    8: "<<",
    9: ">>",
    11: "<",
    12: ">",
    13: "<=",
    14: ">=",
    15: "==",
    16: "!=",
    17: "&",
    18: "^",
    19: "|",
}
_AND, _OR, _ASSIGN, _COMMA = 20, 21, 22, 33
_COMPOUND: dict[int, BinaryOperator] = {
    23: "*",
    24: "/",
    25: "%",
    26: "+",
    27: "-",
    28: "<<",
    29: ">>",
    30: "&",
    31: "^",
    32: "|",
}
_POST_INCREMENT, _POST_DECREMENT, _PRE_INCREMENT, _PRE_DECREMENT = 1, 2, 3, 4
_ADDRESS, _DEREFERENCE, _PLUS, _MINUS, _NOT, _LOGICAL_NOT = 5, 6, 7, 8, 9, 10
_EXTENSION = 13

_REFUSED = {
    "ADDR_LABEL_EXPR": "addresses of labels",
    "IMAGINARY_LITERAL": "complex numbers (`_Complex`)",
    "GENERIC_SELECTION_EXPR": "`_Generic`",
    "BLOCK_EXPR": "blocks",
}

#: How deep an expression may nest before part of it becomes a statement of its own.
_DEPTH = 60


class Expressions:
    """Reads the expressions of one function, or, with `constant`, of a global initialiser.

    `out` is the list of statements that is being written.
    """

    def __init__(self, unit: Unit, function: str = "", constant: bool = False) -> None:
        self.unit = unit
        self.function = function
        self.constant = constant
        self.out: list[Statement] = []
        self.locals: dict[str, Variable] = {}
        self.symbols = Symbols()
        self.addressed: set[Variable] = set()
        self._temporaries = 0
        self._depth = 0

    # --- writing statements -----------------------------------------------------------------

    def emit(self, statement: Statement) -> None:
        if self.constant:
            raise InputError(
                Diagnostic("an initialiser of a global must be constant", statement.origin)
            )
        self.out.append(statement)

    def local(
        self, name: str, type: Type, storage: Storage, origin: Origin, volatile: bool = False
    ) -> Variable:
        key = f"{self.function}::{name}"
        number = 1
        while key in self.locals:
            number += 1
            key = f"{self.function}::{name}#{number}"
        variable = Variable(key, name, type, storage, origin, volatile, self.function)
        self.locals[key] = variable
        return variable

    def temporary(self, type: Type, node: Node) -> VariablePlace:
        self._temporaries += 1
        name = f"${self._temporaries}"
        variable = self.local(name, type, "temporary", node.origin)
        return VariablePlace(variable, type, node.origin, node.expansion)

    def saved(self, value: Expression, node: Node) -> Expression:
        """The value, kept from what happens later."""
        if isinstance(value, (IntConstant, FloatConstant, NullPointer, FunctionAddress)):
            return value
        place = self.temporary(value.type, node)
        self.emit(Assign(0, place, value, node.origin, node.expansion))
        return Load(place, value.type, node.origin, node.expansion)

    def apart(self, node: Node) -> tuple[Expression, list[Statement]]:
        """The value, and the statements that come before it, not written yet."""
        outer, self.out = self.out, []
        try:
            value = self.value(node)
            return value, self.out
        finally:
            self.out = outer

    def operands(self, nodes: list[Node]) -> list[Expression]:
        """The values from left to right, none disturbed by what later ones do."""
        values: list[Expression] = []
        for node in nodes:
            value, statements = self.apart(node)
            if statements:
                for index, earlier in enumerate(values):
                    if disturbs(statements, (earlier,), self.addressed):
                        values[index] = self.saved(earlier, nodes[index])
                self.out += statements
            values.append(value)
        return values

    def frozen(self, place: Place, node: Node) -> Place:
        """The same place, whatever happens to the variables that led to it."""
        match place:
            case VariablePlace():
                return place
            case Element():
                return Element(
                    self.frozen(place.array, node),
                    self.saved(place.index, node),
                    place.type,
                    place.flexible,
                    place.origin,
                    place.expansion,
                )
            case Member():
                return Member(
                    self.frozen(place.record, node),
                    place.field,
                    place.type,
                    place.origin,
                    place.expansion,
                )
            case Dereference():
                pointer = self.saved(place.pointer, node)
                return Dereference(pointer, place.type, place.origin, place.expansion)

    # --- places -----------------------------------------------------------------------------

    @staticmethod
    def bare(node: Node) -> Node:
        """Without parentheses and `__extension__`."""
        while node.kind == "PAREN_EXPR" and node.children:
            node = node.expressions()[-1]
        return node

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
                if operator == _EXTENSION:
                    return self.is_place(node.expressions()[0])
                return bool(
                    operator == _DEREFERENCE
                    and node.type.get_canonical().kind.name
                    not in ("FUNCTIONPROTO", "FUNCTIONNOPROTO")
                )
            case "UNEXPOSED_EXPR":
                # `__func__` is a string literal in disguise.
                inner = node.expressions()
                return len(inner) == 1 and inner[0].kind == "STRING_LITERAL" and (
                    node.type.get_canonical().kind.name == "CONSTANTARRAY"
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
                return self._compound_literal(node)
            case "UNARY_OPERATOR":
                (operand,) = node.expressions()
                if self.unit.lib.unary_operator(node.cursor) == _EXTENSION:
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
        if statements and disturbs(statements, _where(place), self.addressed):
            place = self.frozen(place, node)
        self.out += statements
        return Element(
            place, value, type, self._flexible(place), node.origin, node.expansion
        )

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
            if len(inner) == 1 and self.is_place(inner[0]) and not _is_parameter(inner[0]):
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
            record = Dereference(
                pointer, pointer.type.target, base.origin, base.expansion
            )
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

    def _compound_literal(self, node: Node) -> Place:
        from whence.formats.c.initializers import initialise

        type = self.unit.type(node)
        literal = node.expressions()[-1]
        if self.constant:
            raise refuse("compound literals outside functions", node.origin)
        variable = self.local("(literal)", type, "local", node.origin)
        place = VariablePlace(variable, type, node.origin, node.expansion)
        self.emit(Declare(0, variable, node.origin, node.expansion))
        initialise(self, place, literal)
        return place

    # --- values -----------------------------------------------------------------------------

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

    def loaded(self, place: Place, node: Node) -> Expression:
        """What a place stands for as a value: of an array, the address of its first element."""
        if isinstance(place.type, ArrayType):
            return AddressOf(
                place, self.unit.pointer(place.type.element), node.origin, node.expansion
            )
        return Load(place, place.type, node.origin, node.expansion)

    def _constant(self, node: Node) -> Expression:
        type = self.unit.type(node)
        value = self.unit.lib.value(node.cursor)
        if value is None:
            raise refuse(
                "this constant (the size of an array of variable length?)", node.origin
            )
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
            constant = IntConstant(
                cursor.enum_value, IntType(64, True), node.origin, node.expansion
            )
            return convert(constant, type)
        if cursor.kind.name == "FUNCTION_DECL":
            key = self.unit.function_key(cursor, node.origin)
            function = self.unit.types.function(cursor.type, node.origin)
            return FunctionAddress(
                key, self.unit.pointer(function), node.origin, node.expansion
            )
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

    # --- operators --------------------------------------------------------------------------

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

    def _increment(self, node: Node, used: bool) -> Expression:
        operator = self.unit.lib.unary_operator(node.cursor)
        (operand,) = node.expressions()
        place = self.place(operand)
        old: Expression = Load(place, place.type, operand.origin, operand.expansion)
        after = used and operator in (_POST_INCREMENT, _POST_DECREMENT)
        if after:
            old = self.saved(old, operand)
        one = IntConstant(1, self.unit.int, node.origin, node.expansion)
        sign: BinaryOperator = "+" if operator in (_POST_INCREMENT, _PRE_INCREMENT) else "-"
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

    def _stride(self, type: Type, node: Node) -> int:
        assert isinstance(type, PointerType)
        if isinstance(type.target, (VoidType, FunctionType)):
            return 1  # as gcc and clang have it
        size = size_of(type.target)
        if size == 0 and not isinstance(type.target, RecordType):
            raise refuse("arithmetic on a pointer to what has no size", node.origin)
        return size

    def _binary(self, node: Node) -> Expression:
        kind = self.unit.lib.binary_operator(node.cursor)
        left_node, right_node = node.expressions()
        if kind == _ASSIGN:
            return self._assignment_value(node)
        if kind == _COMMA:
            self.effect(left_node)
            return self.value(right_node)
        type = self.unit.type(node)
        if kind in (_AND, _OR):
            return self._logical(node, kind)
        operator = _BINARY.get(kind)
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
            return PointerAdd(
                pointer, index, stride, operator == "-", type, origin, expansion
            )
        if operator not in ("<<", ">>"):
            left, right = convert(left, type), convert(right, type)
        return Binary(operator, left, right, type, origin, expansion)

    def _logical(self, node: Node, kind: int) -> Expression:
        left_node, right_node = node.expressions()
        type = self.unit.type(node)
        left = truth(self.value(left_node))
        right, statements = self.apart(right_node)
        right = truth(right)
        operator = "&&" if kind == _AND else "||"
        if not statements:
            return Logical(
                "&&" if kind == _AND else "||", left, right, type, node.origin, node.expansion
            )
        result = self.temporary(type, node)
        origin, expansion = right_node.origin, right_node.expansion
        decided = IntConstant(int(kind == _OR), type, left_node.origin, left_node.expansion)
        outcome = right
        if not _is_truth(right):
            outcome = Binary("!=", right, _zero(right), type, origin, expansion)
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
            self.emit(
                If(0, condition, tuple(then_list), tuple(otherwise_list), origin, expansion)
            )
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
        second = Assign(
            0, result, otherwise, otherwise_node.origin, otherwise_node.expansion
        )
        self.emit(
            If(0, condition, (*then_list, first), (*otherwise_list, second), origin, expansion)
        )
        return Load(result, type, origin, expansion)

    # --- assignments ------------------------------------------------------------------------

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
        where = _where(place)
        if statements and disturbs(statements, where, self.addressed):
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
            if used and disturbs([Assign(0, place, value)], where, self.addressed):
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

    def _called(self, node: Node, place: Place) -> Node | None:
        """The call whose result goes into the place as it is."""
        if isinstance(place, Member) and place.field.width is not None:
            return None
        inner = self.bare(node)
        if inner.kind == "CALL_EXPR" and self.unit.type(inner) == place.type:
            callee = self.callee_name(inner)
            if callee not in _OWN:
                return inner
        return None

    def _compound_assignment(self, node: Node) -> Place:
        kind = self.unit.lib.binary_operator(node.cursor)
        operator = _COMPOUND.get(kind)
        if operator is None:
            raise refuse("this operator", node.origin)
        target, value_node = node.expressions()
        place = self.place(target)
        value, statements = self.apart(value_node)
        if statements and disturbs(statements, _where(place), self.addressed):
            place = self.frozen(place, node)
        self.out += statements
        old = Load(place, place.type, target.origin, target.expansion)
        new = self._combined(operator, old, value, place, node)
        self.emit(Assign(0, place, new, node.origin, node.expansion))
        return place

    # --- effects ----------------------------------------------------------------------------

    def effect(self, node: Node) -> None:
        """Writes what the expression does; its value is not needed."""
        node = self.bare(node)
        match node.kind:
            case "BINARY_OPERATOR":
                kind = self.unit.lib.binary_operator(node.cursor)
                if kind == _ASSIGN:
                    self.assignment(node)
                    return
                if kind == _COMMA:
                    for part in node.expressions():
                        self.effect(part)
                    return
                if kind in (_AND, _OR):
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
                if operator == _EXTENSION:
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
        then, otherwise = (right, ()) if kind == _AND else ((), right)
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

    # --- calls ------------------------------------------------------------------------------

    def callee_name(self, node: Node) -> str:
        referenced = node.cursor.referenced
        if referenced is not None and referenced.kind.name == "FUNCTION_DECL":
            return str(referenced.spelling)
        return ""

    def _call_value(self, node: Node) -> Expression:
        name = self.callee_name(node)
        if name in _OWN:
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
        if name in _OWN:
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
        self.emit(
            Call(0, result, callee, tuple(arguments), type, node.origin, node.expansion)
        )

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
            if node.kind == "UNARY_OPERATOR" and self.unit.lib.unary_operator(
                node.cursor
            ) in (_ADDRESS, _DEREFERENCE):
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


_OWN = frozenset({"__whence_assert", "__builtin_expect"})


def _innermost(node: Node) -> Node:
    while node.kind != "STRING_LITERAL" and node.expressions():
        node = node.expressions()[0]
    return node


def _is_parameter(node: Node) -> bool:
    """Parameters that are declared as arrays are pointers."""
    node = Expressions.bare(node)
    return bool(
        node.kind == "DECL_REF_EXPR" and node.cursor.referenced.kind.name == "PARM_DECL"
    )


def truth(value: Expression) -> Expression:
    """A condition without the `!= 0` that says nothing."""
    while (
        isinstance(value, Binary)
        and value.operator == "!="
        and isinstance(value.right, (IntConstant, NullPointer))
        and (isinstance(value.right, NullPointer) or value.right.value == 0)
    ):
        value = value.left
    return value


def _is_truth(value: Expression) -> bool:
    """Whether the value is 0 or 1 in any case."""
    match value:
        case Logical():
            return True
        case Binary(operator=operator):
            return operator in COMPARISONS
        case Unary(operator=operator):
            return operator == "!"
    return False


def _zero(value: Expression) -> Expression:
    match value.type:
        case PointerType():
            return NullPointer(value.type, value.origin, value.expansion)
        case FloatType():
            return FloatConstant(0.0, value.type, value.origin, value.expansion)
        case _:
            return IntConstant(0, value.type, value.origin, value.expansion)


def _where(place: Place) -> tuple[Expression, ...]:
    """What decides where the place is, as one expression to look into."""
    return (AddressOf(place, PointerType(place.type, 0)),)



