"""MC/DC: a condition decides a guard if the guard changes with it, all others left as they are."""

from __future__ import annotations

from itertools import product

import pytest

from whence.expr.lexer import QUERY_KEYWORDS
from whence.expr.parser import parse_expression
from whence.expr.tree import Binary, BoolLiteral, Expr, Name, Unary
from whence.source import SourceText
from whence.testing.mcdc import conditions, decisive


def truth(expr: Expr, values: dict[str, bool]) -> bool:
    match expr:
        case BoolLiteral(value=value):
            return value
        case Name(name=name):
            return values[name]
        case Unary(operand=operand):
            return not truth(operand, values)
        case Binary(op="&&", left=left, right=right):
            return truth(left, values) and truth(right, values)
        case Binary(op="||", left=left, right=right):
            return truth(left, values) or truth(right, values)
        case Binary(op="imply", left=left, right=right):
            return not truth(left, values) or truth(right, values)
    raise AssertionError(expr)


@pytest.mark.parametrize(
    "text",
    [
        "a",
        "!a",
        "a && b",
        "a || !b",
        "a && (b || c) && !d",
        "!(a && b) || (c imply d)",
        "(a imply b) imply c",
    ],
)
def test_decisive_conditions(text: str) -> None:
    guard = parse_expression(SourceText(text), QUERY_KEYWORDS)
    found = list(conditions(guard))
    names = [str(one.name) for _, one in found if isinstance(one, Name)]
    assert names == sorted(set(names))
    for letters in product((False, True), repeat=len(names)):
        values = dict(zip(names, letters, strict=True))
        for path, condition in found:
            assert isinstance(condition, Name)
            other = {**values, condition.name: not values[condition.name]}
            decides = truth(guard, values) != truth(guard, other)
            for side in (True, False):
                expected = decides and values[condition.name] == side
                assert truth(decisive(guard, path, condition, side), values) == expected
