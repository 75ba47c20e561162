"""Static bounds on values: never wrong, and not needlessly wide where it matters."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.expr import test_evaluate_samples as s

from whence.expr.evaluate import evaluate
from whence.expr.faults import EvaluationError
from whence.expr.intervals import Interval, declared_range, interval, range_of_type
from whence.expr.tree import (
    Binary,
    Conditional,
    Expr,
    Field,
    Index,
    Name,
    Quantifier,
    SymbolKind,
    Unary,
)
from whence.expr.types import BOOL, CLOCK, INT32, ArrayType, IntType, ScalarType, StructType


@given(expr=s.expressions(effects=True), sample=s.states)
def test_bounds_contain_the_value(expr: Expr, sample: Any) -> None:
    try:
        value = evaluate(expr, s.store(*sample))
    except EvaluationError:
        return
    assert isinstance(value, int)
    assert value in interval(expr)
    assert value in interval(expr, constants=s.CONSTANTS, functions=s.FUNCTIONS)


@given(expr=s.expressions(effects=False, depth=2), sample=s.states)
def test_exact_ranges_of_variables(expr: Expr, sample: Any) -> None:
    store = s.store(*sample)
    try:
        value = evaluate(expr, store)
    except EvaluationError:
        return

    def ranges(access: Any) -> Interval:
        if isinstance(access, Name) and access.symbol in store.address:
            exact = evaluate(access, store)
            assert isinstance(exact, int)
            return Interval(exact, exact)
        return declared_range(access)

    assert value in interval(expr, ranges, constants=s.CONSTANTS, functions=s.FUNCTIONS)


_bounds = st.one_of(st.integers(-9, 9), st.sampled_from([s.LO, s.HI, 31, -31]))
_intervals = st.tuples(_bounds, _bounds).map(lambda pair: Interval(min(pair), max(pair)))


@given(
    op=st.sampled_from(["+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "<?", ">?"]),
    left=_intervals,
    right=_intervals,
    picks=st.tuples(st.floats(0, 1), st.floats(0, 1)),
)
@example(op="%", left=Interval(-7, 9), right=Interval(-4, 3), picks=(0.0, 0.0))
def test_operators(op: str, left: Interval, right: Interval, picks: tuple[float, float]) -> None:
    a = s.name("a", IntType(left.lo, left.hi))
    b = s.name("b", IntType(right.lo, right.hi))
    bounds = interval(Binary(op, a, b, type=INT32))
    for x, y in _sample_points(left, right, picks):
        try:
            value = evaluate(Binary(op, s.number(x), s.number(y), type=INT32), s.Store())
        except EvaluationError:
            continue
        assert value in bounds


def _sample_points(
    left: Interval, right: Interval, picks: tuple[float, float]
) -> list[tuple[int, int]]:
    def points(of: Interval, pick: float) -> list[int]:
        if of.hi - of.lo <= 20:
            return list(range(of.lo, of.hi + 1))
        some = [of.lo, of.lo + 1, of.hi - 1, of.hi, int(of.lo + pick * (of.hi - of.lo))]
        return some + [value for value in (-1, 0, 1) if value in of]

    return [(x, y) for x in points(left, picks[0]) for y in points(right, picks[1])]


SMALL = s.name("small", IntType(2, 5))
SIGNED = s.name("signed", IntType(-3, 4))
POSITION = s.name("i", IntType(1, 2), SymbolKind.SELECT)
K = s.name("k", IntType(0, 3), SymbolKind.BOUND)


def binary(op: str, left: Expr, right: Expr) -> Binary:
    return Binary(op, left, right, type=INT32)


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        (binary("*", SMALL, Index(s.TABLE, POSITION, type=IntType(0, 99))), (2, 20)),
        (Index(s.TABLE, SIGNED, type=IntType(0, 99)), (1, 15)),
        (binary("/", s.number(100), SIGNED), (-100, 100)),
        (binary("/", SMALL, s.number(0)), (s.LO, s.HI)),
        (binary("%", s.A, SMALL), (-4, 4)),
        (binary("%", SMALL, s.number(9)), (2, 5)),
        (binary("&", s.A, SMALL), (0, 5)),
        (binary("|", SMALL, s.number(8)), (8, 15)),
        (binary("<<", s.number(1), SMALL), (4, 32)),
        (binary("<<", s.number(1), s.number(40)), (s.LO, s.HI)),
        (binary(">>", SIGNED, s.number(1)), (-2, 2)),
        (binary("+", s.A, s.number(1)), (s.LO + 1, s.HI)),
        (Unary("-", SIGNED, type=INT32), (-4, 3)),
        (Unary("!", SMALL, type=BOOL), (0, 0)),
        (Binary("<", SMALL, s.number(6), type=BOOL), (1, 1)),
        (Binary("==", SMALL, SIGNED, type=BOOL), (0, 1)),
        (Binary("imply", SMALL, s.number(0), type=BOOL), (0, 0)),
        (Conditional(SMALL, s.number(3), s.A, type=INT32), (3, 3)),
        (Conditional(SIGNED, s.number(3), s.number(7), type=INT32), (3, 7)),
        (Quantifier("sum", "k", None, Index(s.TABLE, K), K.symbol, type=INT32), (23, 23)),
        (Quantifier("forall", "k", None, Binary("<", K, SMALL), K.symbol, type=BOOL), (0, 1)),
        (Quantifier("exists", "k", None, Binary(">", K, SMALL), K.symbol, type=BOOL), (0, 1)),
        (Quantifier("forall", "k", None, Binary("<", K, s.number(4)), K.symbol), (1, 1)),
        (s.call(s.SQUARE, SIGNED), (0, 16)),
        (s.call(s.FIND, SIGNED), (-1, 2)),
    ],
)
def test_how_tight(expr: Expr, expected: tuple[int, int]) -> None:
    found = interval(expr, constants=s.CONSTANTS, functions=s.FUNCTIONS)
    assert (found.lo, found.hi) == expected


def test_large_domains_stay_cheap() -> None:
    body: Expr = s.number(1)
    for depth in range(6):
        k = s.name(f"k{depth}", IntType(0, 99), SymbolKind.BOUND)
        body = Quantifier("sum", k.name, None, binary("<?", body, k), k.symbol, type=INT32)
    assert 0 in interval(body)
    empty = s.name("e", IntType(0, -1), SymbolKind.BOUND)
    assert interval(Quantifier("sum", "e", None, empty, empty.symbol, type=INT32)) == Interval(0, 0)


def test_constants_inside_structs() -> None:
    pair = StructType((("lo", INT32), ("hi", INT32)), "P")
    table = s.name("R", ArrayType(pair, ScalarType(2, "S")), SymbolKind.CONSTANT)
    member = s.name("m", ScalarType(2, "S"))

    access = Field(Index(table, member, type=pair), "hi", type=INT32)
    assert interval(access, constants={s.symbol(table): (1, 10, 2, 20)}) == Interval(10, 20)


def test_range_of_type() -> None:
    assert range_of_type(BOOL) == Interval(0, 1)
    assert range_of_type(ScalarType(4, "")) == Interval(0, 3)
    assert range_of_type(CLOCK) == Interval(s.LO, s.HI)
    assert str(Interval(1, 2)) == "[1,2]"
    assert Interval(1, 4).meet(Interval(3, 9)) == Interval(3, 4)
    assert Interval(1, 2).meet(Interval(3, 9)) is None
    assert Interval(1, 2).join(Interval(4, 9)) == Interval(1, 9)
