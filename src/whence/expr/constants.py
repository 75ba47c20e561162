"""Values that are known before anything runs: of checked expressions over constants."""

from __future__ import annotations

from collections.abc import Mapping

from whence.expr.faults import EvaluationError, Fault
from whence.expr.tree import (
    Binary,
    BoolLiteral,
    Conditional,
    Expr,
    Field,
    Index,
    IntLiteral,
    Name,
    Quantifier,
    Symbol,
    Unary,
)
from whence.expr.types import (
    ArrayType,
    BoolType,
    IntType,
    ScalarType,
    StructType,
    Type,
    cells,
)

__all__ = ["bounds", "default_cells", "fold", "fold_cells"]

Values = Mapping[Symbol, tuple[int, ...]]

_LOW, _HIGH = -(2**31), 2**31 - 1


def bounds(type_: IntType | ScalarType | BoolType) -> tuple[int, int]:
    """The lowest and highest value of a type of one cell."""
    match type_:
        case IntType():
            return type_.lo, type_.hi
        case ScalarType():
            return 0, type_.size - 1
        case BoolType():
            return 0, 1


def default_cells(type_: Type) -> tuple[int, ...]:
    """What a variable starts as that is declared without a value: 0, or the lowest value of a
    range without 0."""
    match type_:
        case IntType(lo, hi):
            return (0,) if lo <= 0 <= hi else (lo,)
        case ArrayType():
            return default_cells(type_.element) * type_.length
        case StructType():
            return tuple(
                value for _, field_type in type_.fields for value in default_cells(field_type)
            )
        case _:
            return (0,) * cells(type_)


def fold(expr: Expr, values: Values) -> int | None:
    """The value of a checked expression of one cell, or None if it is not a constant.

    Raises the :class:`EvaluationError` that evaluating it would.
    """
    match expr:
        case IntLiteral():
            return expr.value
        case BoolLiteral():
            return int(expr.value)
        case Name() | Index() | Field():
            found = fold_cells(expr, values)
            return found[0] if found is not None and len(found) == 1 else None
        case Unary():
            operand = fold(expr.operand, values)
            if operand is None:
                return None
            if expr.op == "!":
                return int(not operand)
            return _fits(-operand if expr.op == "-" else operand, expr)
        case Binary():
            return _fold_binary(expr, values)
        case Conditional():
            condition = fold(expr.condition, values)
            if condition is None:
                return None
            return fold(expr.then if condition else expr.otherwise, values)
        case Quantifier():
            return _fold_quantifier(expr, values)
        case _:
            return None


def fold_cells(expr: Expr, values: Values) -> tuple[int, ...] | None:
    """Like `fold`, for values of any number of cells."""
    match expr:
        case Name():
            return values.get(expr.symbol) if expr.symbol is not None else None
        case Index():
            array_type = expr.array.type
            assert isinstance(array_type, ArrayType)
            array = fold_cells(expr.array, values)
            if array is None:
                return None
            index = fold(expr.index, values)
            if index is None:
                return None
            offset = index - array_type.lo
            if not 0 <= offset < array_type.length:
                raise EvaluationError(
                    Fault.BAD_INDEX, expr.index.origin, _outside(index, array_type)
                )
            width = cells(array_type.element)
            return array[offset * width : (offset + 1) * width]
        case Field():
            record_type = expr.record.type
            assert isinstance(record_type, StructType)
            record = fold_cells(expr.record, values)
            found = record_type.field(expr.name)
            if record is None or found is None:
                return None
            return record[found[0] : found[0] + cells(found[1])]
        case Conditional():
            condition = fold(expr.condition, values)
            if condition is None:
                return None
            return fold_cells(expr.then if condition else expr.otherwise, values)
        case _:
            value = fold(expr, values)
            return None if value is None else (value,)


def _outside(index: int, array: ArrayType) -> str:
    return f"{index} is not in {array.lo}..{array.lo + array.length - 1}"


def _fits(value: int, expr: Expr) -> int:
    if not _LOW <= value <= _HIGH:
        raise EvaluationError(Fault.OVERFLOW, expr.origin, str(value))
    return value


def _fold_binary(expr: Binary, values: Values) -> int | None:
    left = fold(expr.left, values)
    if left is None:
        return None
    # The right side of a connective that is already decided is never evaluated.
    if expr.op == "&&" and not left:
        return 0
    if expr.op == "||" and left:
        return 1
    if expr.op == "imply" and not left:
        return 1
    right = fold(expr.right, values)
    return None if right is None else _operate(expr, left, right)


def _operate(expr: Binary, left: int, right: int) -> int:
    match expr.op:
        case "&&" | "||" | "imply":
            return int(bool(right))
        case "==":
            return int(left == right)
        case "!=":
            return int(left != right)
        case "<":
            return int(left < right)
        case "<=":
            return int(left <= right)
        case ">":
            return int(left > right)
        case ">=":
            return int(left >= right)
        case "<?":
            return min(left, right)
        case ">?":
            return max(left, right)
        case "&":
            return left & right
        case "|":
            return left | right
        case "^":
            return left ^ right
        case "+":
            return _fits(left + right, expr)
        case "-":
            return _fits(left - right, expr)
        case "*":
            return _fits(left * right, expr)
        case "/" | "%":
            if right == 0:
                raise EvaluationError(Fault.DIVISION_BY_ZERO, expr.origin)
            # Division rounds towards zero, and the remainder has the sign of the dividend.
            quotient = abs(left) // abs(right)
            if (left < 0) != (right < 0):
                quotient = -quotient
            return _fits(quotient if expr.op == "/" else left - quotient * right, expr)
        case "<<" | ">>":
            if not 0 <= right <= 31:
                raise EvaluationError(Fault.BAD_SHIFT, expr.origin, str(right))
            return _fits(left << right if expr.op == "<<" else left >> right, expr)
    raise AssertionError(expr.op)


def _fold_quantifier(expr: Quantifier, values: Values) -> int | None:
    symbol = expr.symbol
    assert symbol is not None
    assert isinstance(symbol.type, IntType | ScalarType | BoolType)
    lo, hi = bounds(symbol.type)
    total = 0
    for value in range(lo, hi + 1):
        body = fold(expr.body, {**values, symbol: (value,)})
        if body is None:
            return None
        if expr.kind == "forall" and not body:
            return 0
        if expr.kind == "exists" and body:
            return 1
        total += body
    if expr.kind == "sum":
        return _fits(total, expr)
    return int(expr.kind == "forall")
