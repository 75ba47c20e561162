"""Floating-point numbers by their ordinals, against numpy and against each other."""

from __future__ import annotations

import math
import struct
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whence.expr.ieee import (
    COMPARISONS,
    Format,
    call,
    from_ordinal,
    infinity,
    literal,
    nan,
    nearest,
    numbers,
    ordinal,
    ordinal_of_text,
    written,
)
from whence.expr.ieee_intervals import bounds_of, compared, narrowed
from whence.expr.intervals import Access, Interval, interval
from whence.expr.tree import Expr, Name, Symbol, SymbolKind
from whence.expr.types import INT32, IntType
from whence.solve.frames import Answer, Frames, Holds
from whence.testing.logic import compare, number, read
from whence.testing.semantics.python import NAMESPACE, Fault, number_source

BINARY = ("+", "-", "*", "/", "<?", ">?", *COMPARISONS)
DTYPES = {32: np.float32, 64: np.float64}
SPECIAL = ("0", "-0", "1", "-1", "inf", "-inf", "nan", "0.1", "1e-45", "3.4028235e38", "16777217")


def variable(name: str, type_: IntType) -> Symbol:
    return Symbol("", name, SymbolKind.VARIABLE, type_)


@st.composite
def ordinals(draw: st.DrawFn, format_: Format) -> int:
    if draw(st.booleans()):
        return ordinal_of_text(draw(st.sampled_from(SPECIAL)), format_)
    if draw(st.booleans()):
        return nearest(Fraction(draw(st.integers(-40, 40)), 8), format_)
    return draw(st.integers(numbers(format_).lo, numbers(format_).hi))


def computed(expr: Expr, values: dict[Symbol, int]) -> int | None:
    names = {symbol: str(value) if value >= 0 else f"({value})" for symbol, value in values.items()}
    try:
        return int(eval(number_source(expr, names), dict(NAMESPACE)))
    except Fault:
        return None


def by_numpy(format_: Format, op: str, left: int, right: int) -> int:
    """With the bits of the numbers, as numpy has them."""
    one, other = (np.array(from_numpy(n, format_), DTYPES[format_]) for n in (left, right))
    with np.errstate(all="ignore"):
        match op:
            case "+" | "-" | "*" | "/":
                functions = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}
                result = functions[op](one, other)
            case "<?" | ">?":
                result = np.fmin(one, other) if op == "<?" else np.fmax(one, other)
            case _:
                return int(eval(f"one {op} other", {"one": one, "other": other}))
    code, size = ("<i", "<f") if format_ == 32 else ("<q", "<d")
    bits = struct.unpack(code, struct.pack(size, result))[0]
    if math.isnan(result):
        return nan(format_)
    return bits if bits >= 0 else -1 - (bits + (1 << (format_ - 1)))


def from_numpy(number_: int, format_: Format) -> float:
    """From the definition: the number-th number above +0, by numpy's idea of its bits."""
    kind = {32: np.uint32, 64: np.uint64}[format_]
    if number_ == nan(format_):
        return math.nan
    bits = number_ if number_ >= 0 else (-1 - number_) + (1 << (format_ - 1))
    return float(np.array(bits, kind).view(DTYPES[format_]))


def both_zero(format_: Format, op: str, left: int, right: int) -> bool:
    """Which of two zeros is the least, C leaves open."""
    return op in ("<?", ">?") and {left, right} == {0, -1}


@pytest.mark.parametrize("format_", [32, 64])
def test_order_and_neighbours(format_: Format) -> None:
    for low, high in ((-2, -1), (-1, 0), (0, 1), (infinity(format_) - 1, infinity(format_))):
        assert from_ordinal(low, format_) <= from_ordinal(high, format_)
    assert str(from_ordinal(-1, format_)) == "-0.0"
    assert from_ordinal(numbers(format_).lo, format_) == -math.inf
    one = ordinal(1.0, format_)
    step = np.spacing(DTYPES[format_](1))
    assert from_ordinal(one + 1, format_) == 1 + float(step)
    for text in SPECIAL:
        number_ = ordinal_of_text(text, format_)
        assert ordinal_of_text(written(number_, format_), format_) == number_
        assert repr(from_numpy(number_, format_)) == repr(from_ordinal(number_, format_))


def test_known_numbers() -> None:
    assert written(ordinal_of_text("0.1", 32), 32) == "0.1"
    assert from_ordinal(ordinal_of_text("0.1", 32), 32) == 0.10000000149011612
    # The double that is nearest to this is a tie between two floats, and not what decides.
    tricky = Fraction(1) + Fraction(1, 2**24) + Fraction(1, 2**80)
    assert from_ordinal(nearest(tricky, 32), 32) == 1 + 2**-23
    assert from_ordinal(nearest(Fraction(1) + Fraction(1, 2**24), 32), 32) == 1
    assert nearest(Fraction(2**128 - 2**103), 32) == infinity(32)
    assert nearest(Fraction(2**128 - 2**103 - 1), 32) == infinity(32) - 1
    assert nearest(Fraction(10) ** 400, 64) == infinity(64)
    assert [ordinal_of_text(t, 32) for t in ("-0.0", "1e-60", "-1e-60")] == [-1, 0, -1]


@settings(max_examples=400)
@given(st.data(), st.sampled_from([32, 64]), st.sampled_from(BINARY))
def test_the_simulator_computes_as_numpy(data: st.DataObject, format_: Format, op: str) -> None:
    left, right = data.draw(ordinals(format_)), data.draw(ordinals(format_))
    x, y = variable("x", numbers(format_)), variable("y", numbers(format_))
    found = computed(call(format_, op, read(x), read(y)), {x: left, y: right})
    if not both_zero(format_, op, left, right):
        assert found == by_numpy(format_, op, left, right)


@settings(max_examples=100)
@given(st.data())
def test_conversions_are_those_of_numpy(data: st.DataObject) -> None:
    wide, narrow = data.draw(ordinals(64)), data.draw(ordinals(32))
    whole = data.draw(st.integers(INT32.lo, INT32.hi))
    x, y, n = variable("x", numbers(64)), variable("y", numbers(32)), variable("n", INT32)
    with np.errstate(all="ignore"):
        rounded_ = float(np.float32(from_numpy(wide, 64)))
    assert computed(call(32, "from f64", read(x)), {x: wide}) == ordinal(rounded_, 32)
    assert computed(call(64, "from f32", read(y)), {y: narrow}) == ordinal(
        from_numpy(narrow, 32), 64
    )
    assert computed(call(32, "from int", read(n)), {n: whole}) == ordinal(
        float(np.float32(whole)), 32
    )
    value = from_numpy(wide, 64)
    fits = math.isfinite(value) and INT32.lo <= math.trunc(value) <= INT32.hi
    assert computed(call(64, "to int", read(x)), {x: wide}) == (math.trunc(value) if fits else None)


@st.composite
def expressions(draw: st.DrawFn, format_: Format, depth: int, names: dict[Format, Symbol]) -> Expr:
    kind = draw(st.integers(0, 7))
    if depth == 0 or kind == 0:
        if draw(st.booleans()):
            return read(names[format_])
        return literal(draw(ordinals(format_)))
    if kind == 1:
        return call(format_, "neg", draw(expressions(format_, depth - 1, names)))
    if kind == 2:
        other: Format = 64 if format_ == 32 else 32
        return call(format_, f"from f{other}", draw(expressions(other, depth - 1, names)))
    # Products and quotients of many bits take the solver too long for so many examples.
    op = draw(st.sampled_from(["+", "-", "<?", ">?", *(["*", "/"] if format_ == 32 else [])]))
    parts = [draw(expressions(format_, depth - 1, names)) for _ in range(2)]
    return call(format_, op, *parts)


@settings(max_examples=60, deadline=None)
@given(st.data(), st.sampled_from([32, 64]))
def test_the_solver_computes_as_the_simulator(data: st.DataObject, format_: Format) -> None:
    names: dict[Format, Symbol] = {
        32: variable("x", numbers(32)),
        64: variable("y", numbers(64)),
    }
    expr = data.draw(expressions(format_, 2, names))
    if data.draw(st.booleans()):
        op = data.draw(st.sampled_from(COMPARISONS))
        expr = call(format_, op, expr, data.draw(expressions(format_, 1, names)))
    elif data.draw(st.booleans()):
        expr = call(format_, "to int", expr)
    values = {symbol: data.draw(ordinals(width)) for width, symbol in names.items()}
    expected = computed(expr, values)
    frames = Frames(tuple(names.values()), (), (), (), ())
    begin = frames.selector()
    frames.start_from(values, begin)
    for wanted in (expected, None if expected is None else expected + 1):
        chosen = frames.selector()
        shown = compare("==", expr, number(0 if wanted is None else wanted))
        frames.require(Holds(shown, 0), chosen)
        answer = frames.ask((begin, chosen), 0, 10**8)
        possible = wanted is not None and wanted == expected
        assert answer is (Answer.POSSIBLE if possible else Answer.IMPOSSIBLE)


@settings(max_examples=400)
@given(st.data(), st.sampled_from([32, 64]))
def test_bounds_have_all_values(data: st.DataObject, format_: Format) -> None:
    names: dict[Format, Symbol] = {
        32: variable("x", numbers(32)),
        64: variable("y", numbers(64)),
    }
    expr = data.draw(expressions(format_, 2, names))
    if data.draw(st.booleans()):
        op = data.draw(st.sampled_from([*COMPARISONS, "to int"]))
        more = [] if op == "to int" else [data.draw(expressions(format_, 1, names))]
        expr = call(format_, op, expr, *more)
    known: dict[Symbol, Interval] = {}
    values: dict[Symbol, int] = {}
    for width, symbol in names.items():
        ends = sorted(data.draw(ordinals(width)) for _ in range(3))
        known[symbol], values[symbol] = Interval(ends[0], ends[2]), ends[1]

    def ranges(access: Access) -> Interval:
        assert isinstance(access, Name)
        assert access.symbol is not None
        return known[access.symbol]

    found = computed(expr, values)
    if found is not None:
        assert found in interval(expr, ranges)


@pytest.mark.parametrize("op", ["+", "-", "*", "/", "<?", ">?"])
def test_bounds_of_special_numbers(op: str) -> None:
    """All intervals that end at special numbers, and all such numbers in them."""
    ends = sorted(
        ordinal_of_text(text, 32) for text in ("-inf", "-2", "-0", "0", "1", "inf", "nan")
    )
    pairs = [(low, high) for low in ends for high in ends if low <= high]
    x, y = variable("x", numbers(32)), variable("y", numbers(32))
    results = {
        (a, b): computed(call(32, op, read(x), read(y)), {x: a, y: b}) for a in ends for b in ends
    }
    for one in pairs:
        for other in pairs:
            low, high = bounds_of(32, op, (one, other))
            for a in ends:
                for b in ends:
                    if one[0] <= a <= one[1] and other[0] <= b <= other[1]:
                        result = results[a, b]
                        assert result is not None
                        assert low <= result <= high, (one, other, a, b)


@pytest.mark.parametrize("op", COMPARISONS)
def test_what_a_comparison_leaves(op: str) -> None:
    """Of numbers around both zeros, one, infinity and NaN; what is left out does not compare so."""
    ends = [-3, -2, -1, 0, 1, infinity(32), nan(32)]
    pairs = [(low, high) for low in ends for high in ends if low <= high]
    truths = {(a, b): by_numpy(32, op, a, b) for a in ends for b in ends}
    for known in pairs:
        for other in pairs:
            left = narrowed(op, known, other, 32)
            truth = compared(op, known, other, 32)
            for a in ends:
                for b in ends:
                    if known[0] <= a <= known[1] and other[0] <= b <= other[1]:
                        assert truth is None or truth == truths[a, b]
                        if truths[a, b]:
                            assert left is not None
                            assert left[0] <= a <= left[1], (known, other, a, b)
    # As narrow as can be.
    if op == "<":
        assert narrowed(op, (-9, 9), (-9, 0), 32) == (-9, -2)
    if op == ">=":
        assert narrowed(op, (-9, nan(32)), (0, 5), 32) == (-1, infinity(32))
