"""Federations against unions of polyhedra."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference import rational_zones as ref
from tests.zones.support import Matrix, polyhedron, raw_bounds, zone_lists, zones

from whence.zones import bounds, dbm
from whence.zones.federation import Federation, subtract_into


def polyhedra(matrices: list[Matrix] | Federation) -> list[ref.Polyhedron]:
    return [polyhedron(d) for d in matrices]


def assert_same(actual: Federation, expected: list[ref.Polyhedron]) -> None:
    """Equal sets, and members that are canonical and non-empty."""
    assert ref.same_union(polyhedra(actual), expected)
    for d in actual:
        closed = d.copy()
        assert dbm.close(closed) == bounds.OK
        assert np.array_equal(closed, d)


def assert_disjoint(members: list[Matrix]) -> None:
    for a in range(len(members)):
        for b in range(a):
            assert ref.is_empty(
                ref.conjunction(polyhedron(members[a]), polyhedron(members[b]).rows)
            )


dimensions = st.sampled_from([2, 3, 3, 4])


@given(dimensions.flatmap(lambda n: st.tuples(zones(n), zones(n))))
def test_subtract_into(pair: tuple[Matrix, Matrix]) -> None:
    d, e = pair
    n = len(d)
    mark = -7
    out = np.full((n * (n - 1) + 2, n, n), mark, dtype=np.int32)
    count, status = subtract_into(d, e, out, 1)
    assert (out[0] == mark).all()
    pieces = [piece.copy() for piece in out[1:count]]
    assert status == (bounds.OK if pieces else bounds.EMPTY)
    expected = ref.difference(polyhedra([d]), polyhedra([e]))
    assert bool(expected) == bool(pieces)
    assert_same(Federation(n, pieces), expected)
    assert len(Federation(n, pieces)) == len(pieces)
    assert_disjoint(pieces)
    # With too little room it says so, and promises nothing but what was there before.
    for room in range(1, count + 1):
        small = np.full((room, n, n), mark, dtype=np.int32)
        kept, status = subtract_into(d, e, small, 1)
        assert (small[0] == mark).all()
        if status == bounds.FULL:
            assert kept == 1
        else:
            assert kept == count


def test_subtracting_an_inner_zone_uses_only_its_faces() -> None:
    """A box strictly inside: four pieces, though a canonical matrix has six bounds."""
    d = Federation.universal(3)
    box = d
    for i in (1, 2):
        box = box.constrain(i, 0, bounds.bound(5)).constrain(0, i, bounds.bound(-2))
    assert len(d.subtract(box)) == 4


@st.composite
def two(draw: st.DrawFn) -> tuple[int, list[Matrix], list[Matrix]]:
    n = draw(st.sampled_from([2, 3, 3, 4]))
    most = 2 if n == 4 else 3
    return n, draw(zone_lists(n, most)), draw(zone_lists(n, most))


@settings(max_examples=50)
@given(two())
def test_set_operations(case: tuple[int, list[Matrix], list[Matrix]]) -> None:
    n, left, right = case
    f, g = Federation(n, left), Federation(n, right)
    p, q = polyhedra(left), polyhedra(right)
    assert_same(f | g, p + q)
    assert_same(f & g, [ref.conjunction(a, b.rows) for a in p for b in q])
    assert_same(f - g, ref.difference(p, q))
    assert f.includes(g) == all(ref.covered(b, p) for b in q)
    assert f.equal(g) == ref.same_union(p, q)
    assert (f | g).includes(f)
    assert (f - g).intersection(g).is_empty()
    assert ((f - g) | (f & g)).equal(f)


@settings(max_examples=30)
@given(st.integers(2, 3).flatmap(lambda n: zone_lists(n, 2)))
def test_complement(matrices: list[Matrix]) -> None:
    n = len(matrices[0]) if matrices else 2
    f = Federation(n, matrices)
    everything = ref.polyhedron(n - 1, ref.not_negative(n))
    complement = f.complement()
    assert_same(complement, ref.difference([everything], polyhedra(matrices)))
    assert_disjoint([d.copy() for d in complement])
    assert complement.complement().equal(f)


@given(st.integers(2, 3).flatmap(lambda n: zone_lists(n, 3)))
def test_reduce_and_hull(matrices: list[Matrix]) -> None:
    n = len(matrices[0]) if matrices else 2
    f = Federation(n, matrices)
    reduced = f.reduce()
    assert len(reduced) <= len(f)
    assert_same(reduced, polyhedra(matrices))
    members = polyhedra(reduced)
    for k, member in enumerate(members):
        assert not ref.covered(member, members[:k] + members[k + 1 :])
    hull = f.convex_hull()
    assert len(hull) == min(1, len(f))
    assert hull.includes(f)
    if len(reduced) == 1:
        assert reduced.equal(hull)


def test_reduce_merges_what_was_cut() -> None:
    whole = Federation.universal(3).constrain(1, 0, bounds.bound(9))
    cut = whole
    parts = Federation.empty(3)
    for c in (2, 4, 7):
        parts |= cut.constrain(1, 2, bounds.bound(c))
        cut = cut.constrain(2, 1, bounds.bound(-c, strict=True))
    parts |= cut
    assert len(parts) > 1
    reduced = parts.reduce()
    assert len(reduced) == 1
    assert reduced.equal(whole)


@given(st.data(), st.integers(2, 3).flatmap(lambda n: zone_lists(n, 2)))
def test_operations_member_by_member(data: st.DataObject, matrices: list[Matrix]) -> None:
    n = len(matrices[0]) if matrices else 2
    f = Federation(n, matrices)
    p = polyhedra(matrices)
    i, j = data.draw(st.integers(1, n - 1)), data.draw(st.integers(0, n - 1))
    raw, value = data.draw(raw_bounds()), data.draw(st.integers(0, 4))
    assert_same(f.delay(), [ref.delay(q) for q in p])
    assert_same(f.past(), [ref.past(q) for q in p])
    assert_same(f.reset(i, value), [ref.assign(q, i, 0, value) for q in p])
    assert_same(f.free(i), [ref.free(q, i) for q in p])
    assert_same(f.shift(i, value - 2), [ref.shift(q, i, value - 2) for q in p])
    assert_same(f.copy_clock(i, j), [q if i == j else ref.assign(q, i, j, 0) for q in p])
    row = ref.raw_row(n, i, j, raw)
    assert_same(f.constrain(i, j, raw), [ref.conjunction(q, [row]) for q in p])


@given(zone_lists(3, 3), st.lists(st.fractions(0, 7, max_denominator=3), min_size=2, max_size=2))
def test_contains_point(matrices: list[Matrix], point: list[Fraction]) -> None:
    valuation = [Fraction(0), *point]
    f = Federation(3, matrices)
    inside = any(ref.contains(p, valuation) for p in polyhedra(matrices))
    assert f.contains_point(valuation) == inside
    assert f.complement().contains_point(valuation) != inside


def test_matrices_are_canonical_copies_that_cannot_be_written() -> None:
    given_matrix = np.array([[1, 9], [11, 1]], dtype=np.int32)  # x >= -4, taken as x >= 0
    f = Federation(2, [given_matrix, [[1, -3], [3, 1]]])  # and x > 1 with x <= 1
    assert [d.tolist() for d in f.matrices] == [[[1, 1], [11, 1]]]
    with pytest.raises(ValueError, match="read-only"):
        f.matrices[0][1, 0] = 3
    assert given_matrix.tolist() == [[1, 9], [11, 1]]
    assert "1 zones of dimension 2" in repr(f)


BAD: list[tuple[Callable[[], object], type[Exception]]] = [
    (lambda: Federation(0), ValueError),
    (lambda: Federation.universal(0), ValueError),
    (lambda: Federation(2, [np.ones((3, 3), dtype=np.int32)]), ValueError),
    (lambda: Federation(2, [np.ones((2, 3), dtype=np.int32)]), ValueError),
    (lambda: Federation.universal(2) | Federation.universal(3), ValueError),
    (lambda: Federation.universal(2).contains_point([0]), ValueError),
    (lambda: Federation.universal(2).contains_point([1, 1]), ValueError),
    (lambda: Federation.universal(2).reset(1, -1), ValueError),
    (lambda: Federation.universal(2).reset(0), IndexError),
    (lambda: Federation.universal(2).free(2), IndexError),
    (lambda: Federation.universal(2).constrain(-1, 0, 1), IndexError),
    (lambda: Federation(2, [[[1, 2**30], [1, 1]], [[1, 1], [2**30, 1]]]), bounds.ZoneOverflow),
    (lambda: Federation.universal(2).reset(1, 2**30), bounds.ZoneOverflow),
    (lambda: Federation.universal(2).constrain(1, 0, 2**30), bounds.ZoneOverflow),
    (lambda: Federation.universal(2).constrain(0, 1, -(2**30)), bounds.ZoneOverflow),
]


@pytest.mark.parametrize("number", range(len(BAD)))
def test_broken_contracts_are_reported(number: int) -> None:
    action, error = BAD[number]
    with pytest.raises(error):
        action()


def test_subtraction_and_intersection_report_overflow() -> None:
    loose = bounds.MAX_RAW
    f = Federation.universal(4).constrain(1, 2, loose)
    g = Federation.universal(4).constrain(2, 3, loose)
    with pytest.raises(bounds.ZoneOverflow):
        f.intersection(g)
    with pytest.raises(bounds.ZoneOverflow):
        f.subtract(g)
