"""What values an integer expression can have, as far as its form tells.

Only to leave out checks that cannot fail, so it may be coarse but never wrong.
"""

from __future__ import annotations

from whence.model.program import (
    Binary,
    Cast,
    Conditional,
    Expression,
    IntConstant,
    IntType,
    Load,
    Logical,
    Member,
    Unary,
)

__all__ = ["bounds"]

_COMPARISONS = {"<", ">", "<=", ">=", "==", "!="}


def bounds(expression: Expression, depth: int = 6) -> tuple[int, int]:
    """The least and the greatest value; `depth` bounds how far it looks into the expression."""
    type = expression.type
    if not isinstance(type, IntType):
        return (0, 0)
    whole = (type.least, type.greatest)
    if depth == 0:
        return whole
    match expression:
        case IntConstant():
            return (expression.value, expression.value)
        case Load(place=Member(field=field)) if field.width is not None:
            if type.signed:
                return (-(1 << field.width - 1), (1 << field.width - 1) - 1)
            return (0, min(whole[1], (1 << field.width) - 1))
        case Logical():
            return (0, 1)
        case Unary(operator="!"):
            return (0, 1)
        case Cast(operand=operand) if isinstance(operand.type, IntType) and not type.boolean:
            least, greatest = bounds(operand, depth - 1)
            if whole[0] <= least and greatest <= whole[1]:
                return (least, greatest)
        case Conditional():
            first = bounds(expression.then, depth - 1)
            second = bounds(expression.otherwise, depth - 1)
            return (min(first[0], second[0]), max(first[1], second[1]))
        case Binary(operator=operator, left=left, right=right):
            if operator in _COMPARISONS:
                return (0, 1)
            return _binary(operator, bounds(left, depth - 1), bounds(right, depth - 1), whole)
    return whole


def _binary(
    operator: str, left: tuple[int, int], right: tuple[int, int], whole: tuple[int, int]
) -> tuple[int, int]:
    least, greatest = whole
    match operator:
        case "+":
            least, greatest = left[0] + right[0], left[1] + right[1]
        case "-":
            least, greatest = left[0] - right[1], left[1] - right[0]
        case "*":
            products = [a * b for a in left for b in right]
            least, greatest = min(products), max(products)
        case "&" if left[0] >= 0 and right[0] >= 0:
            return (0, min(left[1], right[1]))
        case "&" if right[0] >= 0:
            return (0, right[1])
        case "&" if left[0] >= 0:
            return (0, left[1])
        case "|" | "^" if left[0] >= 0 and right[0] >= 0:
            least, greatest = 0, (1 << max(left[1], right[1]).bit_length()) - 1
        case "/" if right[0] > 0 and left[0] >= 0:
            return (left[0] // right[1], left[1] // right[0])
        case "%" if right[0] > 0 and left[0] >= 0:
            return (0, min(left[1], right[1] - 1))
        case "%" if right[0] > 0:
            return (-(right[1] - 1), right[1] - 1)
        case ">>" if right[0] >= 0 and left[0] >= 0:
            return (0, left[1] >> right[0])
        case _:
            return whole
    if whole[0] <= least and greatest <= whole[1]:
        return (least, greatest)
    return whole
