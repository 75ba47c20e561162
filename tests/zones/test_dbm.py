"""Every kernel on one matrix against the reference, and its behaviour at the limits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reference import rational_zones as ref
from tests.zones.support import Matrix, assert_is, polyhedron, raw_bounds, systems, zones

from whence.zones import bounds, dbm
from whence.zones.bounds import EMPTY, INFINITY, MAX_CONSTANT, MAX_RAW, MIN_RAW, OK, OVERFLOW


def clock(n: int, lowest: int = 1) -> st.SearchStrategy[int]:
    return st.integers(lowest, n - 1)


@given(raw_bounds() | st.just(INFINITY), raw_bounds() | st.just(INFINITY))
def test_add_is_the_bound_on_a_sum(a: int, b: int) -> None:
    total = dbm.add_bounds(a, b)
    assert total == bounds.add(a, b)
    if INFINITY in (a, b):
        assert total == INFINITY
    else:
        assert bounds.constant(total) == bounds.constant(a) + bounds.constant(b)
        assert bounds.is_strict(total) == (bounds.is_strict(a) or bounds.is_strict(b))


@given(st.integers(MIN_RAW, MAX_RAW))
def test_negation_of_a_bound_stays_in_range(raw: int) -> None:
    negated = bounds.negated(raw)
    assert MIN_RAW <= negated <= MAX_RAW
    assert bounds.negated(negated) == raw
    assert bounds.constant(negated) == -bounds.constant(raw)
    assert bounds.is_strict(negated) != bounds.is_strict(raw)


def test_bound_rejects_constants_out_of_range() -> None:
    assert bounds.bound(MAX_CONSTANT) == MAX_RAW
    assert bounds.bound(-MAX_CONSTANT, strict=True) == MIN_RAW
    for c in (MAX_CONSTANT + 1, -MAX_CONSTANT - 1):
        with pytest.raises(bounds.ZoneOverflow):
            bounds.bound(c)


@pytest.mark.parametrize("n", [1, 2, 4])
def test_universal_and_zero(n: int) -> None:
    d = np.empty((n, n), dtype=np.int32)
    dbm.universal(d)
    assert_is(OK, d, ref.polyhedron(n - 1, ref.not_negative(n)))
    dbm.zero(d)
    at_most = [ref.difference_row(n, i, 0, 0, False) for i in range(1, n)]
    assert_is(OK, d, ref.polyhedron(n - 1, ref.not_negative(n) + at_most))


@given(systems())
def test_close(d: Matrix) -> None:
    expected = polyhedron(d)
    diagonal_holds = all(d[i, i] >= 1 for i in range(len(d)))
    status = dbm.close(d)
    if not diagonal_holds:
        assert status == EMPTY
        assert dbm.is_empty(d)
    assert_is(status, d, expected)


@given(systems(), st.integers(1, MAX_RAW))
def test_close_of_large_constants_agrees_or_overflows(d: Matrix, factor: int) -> None:
    """Scaled by an even factor a system keeps its shape, which exact integers can check."""
    n = len(d)
    wide = [[int(raw) for raw in row] for row in d]
    for row in wide:
        for j, raw in enumerate(row):
            if raw not in (INFINITY, 1):
                row[j] = max(MIN_RAW, min(MAX_RAW, (raw >> 1) * 2 * factor + (raw & 1)))
    d = np.array(wide, dtype=np.int32)
    overflow = False
    empty = False
    for k in range(n):
        for i in range(n):
            for j in range(n):
                total = bounds.add(wide[i][k], wide[k][j])
                if total < wide[i][j]:
                    wide[i][j] = total
        empty = empty or any(wide[i][i] < 1 for i in range(n))
    overflow = any(r != INFINITY and not MIN_RAW <= r <= MAX_RAW for row in wide for r in row)
    status = dbm.close(d)
    if empty:
        assert status in (EMPTY, OVERFLOW)
    elif overflow:
        assert status == OVERFLOW
    elif status == OVERFLOW:
        # Only a bound that is tightened again later may overflow in between.
        assert max(abs(r) for row in wide for r in row if r != INFINITY) > MAX_RAW // (2 * n)
    else:
        assert status == OK
        assert d.tolist() == wide


@given(st.data(), zones())
def test_constrain_and_satisfies(data: st.DataObject, d: Matrix) -> None:
    n = len(d)
    i, j = data.draw(clock(n, 0)), data.draw(clock(n, 0))
    raw = data.draw(raw_bounds() | st.just(INFINITY))
    before = d.copy()
    rows = [] if raw == INFINITY else [ref.raw_row(n, i, j, raw)]
    expected = ref.conjunction(polyhedron(d), rows)
    possible = dbm.satisfies(d, i, j, raw)
    assert np.array_equal(d, before)
    status = dbm.constrain(d, i, j, raw)
    assert_is(status, d, expected)
    assert possible == (status == OK)


@given(zones())
def test_delay_and_past(d: Matrix) -> None:
    later, earlier = d.copy(), d.copy()
    dbm.delay(later)
    assert_is(OK, later, ref.delay(polyhedron(d)))
    dbm.past(earlier)
    assert_is(OK, earlier, ref.past(polyhedron(d)))


@given(st.data(), zones(), st.integers(0, 5), st.integers(-7, 7))
def test_assignments(data: st.DataObject, d: Matrix, value: int, amount: int) -> None:
    n = len(d)
    i, j = data.draw(clock(n)), data.draw(clock(n, 0))
    p = polyhedron(d)
    out = d.copy()
    assert_is(dbm.reset(out, i, value), out, ref.assign(p, i, 0, value))
    out = d.copy()
    dbm.free(out, i)
    assert_is(OK, out, ref.free(p, i))
    out = d.copy()
    assert_is(dbm.shift(out, i, amount), out, ref.shift(p, i, amount))
    out = d.copy()
    dbm.copy_clock(out, i, j)
    assert_is(OK, out, p if i == j else ref.assign(p, i, j, 0))


@given(st.integers(2, 4).flatmap(lambda n: st.tuples(zones(n), zones(n))))
def test_two_zones(pair: tuple[Matrix, Matrix]) -> None:
    d, e = pair
    p, q = polyhedron(d), polyhedron(e)
    in_d, in_e = ref.includes(p, q), ref.includes(q, p)
    assert dbm.includes(d, e) == in_d
    assert dbm.includes(e, d) == in_e
    assert dbm.equal(d, e) == (in_d and in_e)
    assert dbm.relation(d, e) == dbm.SUBSET * in_e + dbm.SUPERSET * in_d
    common = d.copy()
    status = dbm.intersect(common, e)
    assert_is(status, common, ref.conjunction(p, q.rows))
    if dbm.disjoint(d, e):
        assert status == EMPTY
    hull = d.copy()
    dbm.hull_into(hull, e)
    closed = hull.copy()
    assert dbm.close(closed) == OK
    assert np.array_equal(closed, hull)
    assert dbm.includes(hull, d)
    assert dbm.includes(hull, e)
    for i in range(len(d)):
        for j in range(len(d)):
            # No tighter zone: each bound is a supremum over one of the two.
            assert hull[i, j] in (d[i, j], e[i, j])


@given(zones(3), st.data())
def test_inclusion_of_a_part(d: Matrix, data: st.DataObject) -> None:
    """Random pairs are rarely included; parts always are."""
    e = d.copy()
    i, j = data.draw(clock(3, 0)), data.draw(clock(3, 0))
    if dbm.constrain(e, i, j, data.draw(raw_bounds())) == OK:
        assert dbm.includes(d, e)
        same = np.array_equal(d, e)
        assert dbm.relation(e, d) == (dbm.EQUAL if same else dbm.SUBSET)
        assert same or dbm.hash_matrix(d) != dbm.hash_matrix(e)
    assert dbm.hash_matrix(d) == dbm.hash_matrix(d.copy())
    assert 0 <= dbm.hash_matrix(d) < 2**63


@given(st.data(), zones())
def test_split_by(data: st.DataObject, d: Matrix) -> None:
    n = len(d)
    i = data.draw(clock(n, 0))
    j = data.draw(clock(n, 0).filter(lambda k: k != i))
    raw = data.draw(raw_bounds())
    row = ref.raw_row(n, i, j, raw)
    p = polyhedron(d)
    before, other = d.copy(), np.empty_like(d)
    result = dbm.split_by(d, i, j, raw, other)
    with_it = ref.conjunction(p, [row])
    without_it = ref.conjunction(p, [row.negated()])
    some_in, some_out = not ref.is_empty(with_it), not ref.is_empty(without_it)
    assert result == dbm.SPLIT_IN * some_in + dbm.SPLIT_OUT * some_out
    if result == dbm.SPLIT_BOTH:
        assert_is(OK, d, with_it)
        assert_is(OK, other, without_it)
    else:
        assert np.array_equal(d, before)


@given(st.data(), zones())
def test_projection_and_embedding(data: st.DataObject, d: Matrix) -> None:
    n = len(d)
    keep = [0, *data.draw(st.lists(clock(n), unique=True))]
    assert_is(OK, dbm.project(d, keep), ref.project(polyhedron(d), keep))
    places = [0, *data.draw(st.permutations(range(1, n + 1)))[: n - 1]]
    embedded = dbm.embed(d, places, n + 1)
    assert_is(OK, embedded, ref.embed(polyhedron(d), places, n + 1))
    assert np.array_equal(dbm.project(embedded, places), d)


# --- overflow is reported, never wrapped --------------------------------------------------------


def universal(n: int) -> Matrix:
    d = np.empty((n, n), dtype=np.int32)
    dbm.universal(d)
    return d


@pytest.mark.parametrize("raw", [MAX_RAW + 1, 2 * MAX_RAW, INFINITY - 1])
def test_constrain_rejects_a_bound_that_is_too_loose(raw: int) -> None:
    assert dbm.constrain(universal(3), 1, 2, raw) == OVERFLOW
    assert dbm.constrain(universal(3), 1, 0, MAX_RAW) == OK


@pytest.mark.parametrize("raw", [MIN_RAW - 1, 4 * MIN_RAW, -(2**40)])
def test_constrain_rejects_a_bound_that_is_too_tight(raw: int) -> None:
    assert dbm.constrain(universal(3), 0, 1, raw) == OVERFLOW
    assert dbm.constrain(universal(3), 0, 1, MIN_RAW) == OK
    d = universal(3)
    assert dbm.constrain(d, 1, 0, 5) == OK
    assert dbm.constrain(d, 0, 1, raw) == EMPTY


def test_constrain_reports_a_sum_that_leaves_the_range() -> None:
    d = universal(4)
    assert dbm.constrain(d, 1, 2, MAX_RAW) == OK
    assert dbm.constrain(d, 2, 3, MAX_RAW) == OVERFLOW
    d = universal(3)
    assert dbm.constrain(d, 0, 1, MIN_RAW) == OK
    assert dbm.constrain(d, 1, 2, -1) == OVERFLOW  # x2 >= x1 + 1 > MAX_CONSTANT
    # Two finite bounds either side of the new one, all three as large as can be.
    d = universal(4)
    assert dbm.constrain(d, 2, 1, MAX_RAW) == OK
    assert dbm.constrain(d, 3, 0, MAX_RAW) == OK
    assert dbm.constrain(d, 1, 3, MAX_RAW) == OVERFLOW


def test_close_reports_a_sum_that_leaves_the_range() -> None:
    d = universal(5)
    d[1, 2] = d[2, 3] = MAX_RAW
    assert dbm.close(d) == OVERFLOW
    d = universal(5)
    for i in range(4):
        d[i, i + 1] = MIN_RAW
    assert dbm.close(d) == OVERFLOW


def test_intersect_reports_overflow() -> None:
    d, e = universal(4), universal(4)
    assert dbm.constrain(d, 1, 2, MAX_RAW) == OK
    assert dbm.constrain(e, 2, 3, MAX_RAW) == OK
    assert dbm.intersect(d, e) == OVERFLOW


def test_assignments_report_overflow() -> None:
    assert dbm.reset(universal(3), 1, MAX_CONSTANT) == OK
    assert dbm.reset(universal(3), 1, MAX_CONSTANT + 1) == OVERFLOW
    assert dbm.reset(universal(3), 1, 2**40) == OVERFLOW
    d = universal(3)
    # x2 - x1 >= -MAX_CONSTANT + 1 afterwards is fine; a smaller upper bound of x2 is too.
    assert dbm.constrain(d, 2, 0, 3) == OK
    assert dbm.reset(d, 1, MAX_CONSTANT) == OK
    d = universal(3)
    assert dbm.constrain(d, 1, 0, MAX_RAW) == OK
    e = d.copy()
    assert dbm.shift(e, 1, 1) == OVERFLOW
    e = d.copy()
    assert dbm.shift(e, 1, -MAX_CONSTANT) == OK
    assert e[1, 0] == bounds.LE_ZERO
    e = d.copy()
    assert dbm.shift(e, 1, -MAX_CONSTANT - 1) == EMPTY
    assert dbm.shift(universal(3), 1, 2**40) == OVERFLOW
    assert dbm.shift(universal(3), 1, -(2**40)) == OVERFLOW


def test_split_reports_overflow() -> None:
    d = universal(4)
    assert dbm.constrain(d, 1, 2, MAX_RAW) == OK
    assert dbm.split_by(d, 2, 3, MAX_RAW, np.empty_like(d)) == dbm.SPLIT_OVERFLOW
