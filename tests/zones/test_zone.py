"""The class for readers of zones: texts, samples, bounds."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reference import rational_zones as ref
from tests.zones.support import Matrix, polyhedron, raw_bounds, zones

from whence.zones import bounds
from whence.zones.bounds import bound
from whence.zones.zone import Zone

NAMES = ["0", "x", "y", "z"]


def parse(n: int, text: str) -> list[ref.Row]:
    """The rows of one constraint text, read back independently of how it was written."""
    left, relation, right = next(
        (text.split(f" {r} ")[0], r, text.split(f" {r} ")[1])
        for r in ("==", "<=", "<")
        if f" {r} " in text
    )

    def side(part: str) -> tuple[list[int], int]:
        coefficients, c, sign = [0] * n, 0, 1
        for word in part.split():
            if word == "-":
                sign = -1
            elif word in NAMES[1:]:
                coefficients[NAMES.index(word)] += sign
            else:
                c += sign * int(word)
        return coefficients, c

    (a, c), (b, e) = side(left), side(right)
    coefficients = tuple(p - q for p, q in zip(a, b, strict=True))[1:]
    forth = ref.Row(coefficients, Fraction(e - c), relation == "<")
    if relation != "==":
        return [forth]
    return [forth, ref.Row(tuple(-v for v in coefficients), Fraction(c - e), False)]


@given(zones())
def test_constraints_are_exact_and_minimal(d: Matrix) -> None:
    n = len(d)
    texts = Zone(d).constraints(NAMES[:n])
    rows = [parse(n, text) for text in texts]

    def system(chosen: list[list[ref.Row]]) -> ref.Polyhedron:
        flat = [row for group in chosen for row in group]
        return ref.polyhedron(n - 1, flat + ref.not_negative(n))

    p = polyhedron(d)
    assert ref.same_union([system(rows)], [p])
    for k in range(len(rows)):
        assert not ref.includes(p, system(rows[:k] + rows[k + 1 :])), texts


def test_constraints_read_well() -> None:
    zone = Zone.universal(4)
    assert zone.constraints(NAMES) == []
    zone = zone.constrain(1, 0, bound(5)).constrain(0, 2, bound(-1, strict=True))
    zone = zone.constrain(1, 2, bound(2))
    assert zone.constraints(NAMES) == ["1 < y", "x <= 5", "x - y <= 2"]
    assert zone.reset(1, 3).constraints(NAMES) == ["x == 3", "1 < y"]
    assert Zone.zero(4).delay().constraints(NAMES) == ["y == x", "z == x"]
    assert Zone.zero(3).reset(2, 4).delay().constraints(NAMES[:3]) == ["y - x == 4"]
    assert Zone.empty(4).constraints(NAMES) == ["false"]
    less = Zone.universal(3).constrain(1, 2, bound(0, strict=True))
    assert less.constraints(NAMES[:3]) == ["x < y"]
    assert repr(Zone.universal(2)) == "<Zone true>"
    assert repr(Zone.zero(2)) == "<Zone x1 == 0>"


@given(zones())
def test_sample_is_in_the_zone(d: Matrix) -> None:
    zone = Zone(d)
    point = zone.sample()
    assert point[0] == 0
    assert ref.contains(polyhedron(d), point)
    assert zone.contains_point(point)


def test_sample_between_strict_bounds() -> None:
    zone = Zone.universal(3).constrain(1, 0, bound(1, strict=True))
    zone = zone.constrain(0, 2, bound(0, strict=True)).constrain(2, 1, bound(0, strict=True))
    point = zone.sample()
    assert 0 < point[2] < point[1] < 1


@given(zones(), st.data())
def test_bounds_of_a_clock(d: Matrix, data: st.DataObject) -> None:
    n = len(d)
    zone, p = Zone(d), polyhedron(d)
    i, j = data.draw(st.integers(1, n - 1)), data.draw(st.integers(1, n - 1))

    def supremum(a: int, b: int) -> tuple[int, bool] | None:
        found = (Fraction(0), False) if a == b else ref.supremum(p, a, b)
        return None if found is None else (int(found[0]), found[1])

    lowest = supremum(0, i)
    assert lowest is not None
    assert zone.lower(i) == (-lowest[0], lowest[1])
    assert zone.upper(i) == supremum(i, 0)
    assert zone.difference(i, j) == supremum(i, j)


@given(st.integers(2, 3).flatmap(lambda n: st.tuples(zones(n), zones(n))), st.data())
def test_operations(pair: tuple[Matrix, Matrix], data: st.DataObject) -> None:
    d, e = pair
    n = len(d)
    p, q = polyhedron(d), polyhedron(e)
    zone, other = Zone(d), Zone(e)

    def assert_zone(actual: Zone, expected: ref.Polyhedron) -> None:
        tightest = ref.tightest(expected)
        assert actual.is_empty == (tightest is None)
        if tightest is not None:
            assert actual.matrix.tolist() == tightest
            assert actual == Zone(tightest)
            assert hash(actual) == hash(Zone(tightest))

    i, j = data.draw(st.integers(1, n - 1)), data.draw(st.integers(0, n - 1))
    raw, value = data.draw(raw_bounds()), data.draw(st.integers(0, 4))
    assert_zone(zone.constrain(i, j, raw), ref.conjunction(p, [ref.raw_row(n, i, j, raw)]))
    assert_zone(zone.delay(), ref.delay(p))
    assert_zone(zone.past(), ref.past(p))
    assert_zone(zone.reset(i, value), ref.assign(p, i, 0, value))
    assert_zone(zone.free(i), ref.free(p, i))
    assert_zone(zone.shift(i, value - 2), ref.shift(p, i, value - 2))
    assert_zone(zone.copy_clock(i, j), p if i == j else ref.assign(p, i, j, 0))
    assert_zone(zone.project([0, i]), ref.project(p, [0, i]))
    assert_zone(zone.intersect(other), ref.conjunction(p, q.rows))
    assert zone.includes(other) == ref.includes(p, q)
    assert (zone == other) == (ref.includes(p, q) and ref.includes(q, p))
    assert np.array_equal(zone.matrix, d)


def test_the_empty_zone() -> None:
    empty, full = Zone.empty(2), Zone.universal(2)
    assert empty.is_empty
    assert empty == full.constrain(1, 0, bound(-1))
    assert hash(empty) == hash(full.constrain(1, 0, bound(-1)))
    assert empty != full
    assert full != Zone.universal(3)
    assert empty != Zone.empty(3)
    assert full != "a zone"
    for same in (
        empty.delay(),
        empty.past(),
        empty.reset(1),
        empty.free(1),
        empty.shift(1, 1),
        empty.copy_clock(1, 0),
        empty.constrain(1, 0, 5),
        empty.intersect(full),
        full.intersect(empty),
        empty.project([0, 1]),
    ):
        assert same == empty
    assert full.includes(empty)
    assert empty.includes(empty)
    assert not empty.includes(full)
    assert not empty.contains_point([0, 1])
    for action in (empty.sample, lambda: empty.lower(1), lambda: empty.matrix):
        with pytest.raises(ValueError, match="empty"):
            action()


BAD: list[tuple[Callable[[], object], type[Exception]]] = [
    (lambda: Zone.universal(0), ValueError),
    (lambda: Zone.zero(0), ValueError),
    (lambda: Zone.empty(0), ValueError),
    (lambda: Zone([[1, 1]]), ValueError),
    (lambda: Zone.universal(2).intersect(Zone.universal(3)), ValueError),
    (lambda: Zone.universal(2).constraints(["x"]), ValueError),
    (lambda: Zone.universal(2).project([1]), ValueError),
    (lambda: Zone.universal(2).reset(1, -1), ValueError),
    (lambda: Zone.universal(2).reset(0), IndexError),
    (lambda: Zone.universal(2).upper(2), IndexError),
    (lambda: Zone.universal(2).reset(1, 2**30), bounds.ZoneOverflow),
    (lambda: Zone.universal(2).constrain(1, 0, 2**30), bounds.ZoneOverflow),
]


@pytest.mark.parametrize("number", range(len(BAD)))
def test_broken_contracts_are_reported(number: int) -> None:
    action, error = BAD[number]
    with pytest.raises(error):
        action()
