"""Arithmetic has one meaning: in terms that are folded beforehand, and in those that are not."""

from __future__ import annotations

from typing import get_args

import pytest

from whence.model.prd import Arithmetic, ArithmeticOperator, Constant
from whence.triage.calculate import calculated
from whence.triage.folding import folded_term

OPERATORS: tuple[ArithmeticOperator, ...] = get_args(ArithmeticOperator)


@pytest.mark.parametrize(
    ("operator", "left", "right", "value"),
    [
        ("//", -7, 2, -4),
        ("%", -7, 2, 1),
        ("//", 7, 0, None),
        ("%", 7, 0, None),
        ("<<", 1, 100, 1 << 100),
        ("<<", 1, -1, None),
        ("<<", 3, 256, None),  # longer than any number that we go on with
        ("<<", 0, 257, None),
        (">>", 1 << 100, 90, 1 << 10),
        (">>", -1, 1 << 30, -1),
        (">>", 1, -1, None),
        ("*", 1 << 200, 1 << 100, None),
        ("&", 6, 3, 2),
        ("|", 6, 3, 7),
        ("^", 6, 3, 5),
        ("-", 3, 5, -2),
        ("+", 3, 5, 8),
    ],
)
def test_values(operator: ArithmeticOperator, left: int, right: int, value: int | None) -> None:
    assert calculated(operator, left, right) == value
    folded = folded_term(Arithmetic(operator, Constant(left), Constant(right)), {})
    assert folded == (None if value is None else Constant(value))


def test_all_operators_are_there() -> None:
    assert {calculated(operator, 6, 3) is not None for operator in OPERATORS} == {True}


def test_long_shifts_that_come_back() -> None:
    there_and_back = Arithmetic(">>", Arithmetic("<<", Constant(1), Constant(100)), Constant(90))
    assert folded_term(there_and_back, {}) == Constant(1 << 10)
