"""The abstractions against their definitions, and the inclusion test against a_LU itself."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reference import rational_zones as ref
from tests.zones.support import Matrix, assert_is, polyhedron, raw_bounds, zones

from whence.zones import dbm
from whence.zones import extrapolation as ex
from whence.zones.bounds import INFINITY, MAX_RAW, MIN_RAW, NO_BOUND, OK, OVERFLOW, UNBOUNDED, bound

Constants = npt.NDArray[np.int32]


def constants(n: int, largest: int = 6) -> st.SearchStrategy[Constants]:
    one = st.integers(0, largest) | st.sampled_from([NO_BOUND, UNBOUNDED])
    return st.lists(one, min_size=n - 1, max_size=n - 1).map(
        lambda rest: np.array([0, *rest], dtype=np.int32)
    )


def exact(values: Constants) -> list[Fraction]:
    special = {NO_BOUND: ref.MINUS_INFINITY, UNBOUNDED: ref.PLUS_INFINITY}
    return [special.get(int(c), Fraction(int(c))) for c in values]


@st.composite
def abstracted(draw: st.DrawFn) -> tuple[Matrix, Constants, Constants]:
    d = draw(zones(largest=9))
    return d, draw(constants(len(d))), draw(constants(len(d)))


@given(abstracted())
def test_extra_lu(case: tuple[Matrix, Constants, Constants]) -> None:
    d, low, up = case
    expected = ref.extra_lu(polyhedron(d), exact(low), exact(up))
    assert_is(ex.extra_lu(d, low, up), d, expected)


@given(abstracted())
def test_extra_lu_plus(case: tuple[Matrix, Constants, Constants]) -> None:
    d, low, up = case
    expected = ref.extra_lu_plus(polyhedron(d), exact(low), exact(up))
    letter = d.copy()
    assert_is(ex.extra_lu_plus(d, low, up), d, expected)
    assert ex._extra_lu_plus_large(letter, low, up) == OK
    assert np.array_equal(letter, d)


@given(abstracted())
def test_extra_m(case: tuple[Matrix, Constants, Constants]) -> None:
    d, maximum, _ = case
    bound = exact(maximum)
    plain, plus = d.copy(), d.copy()
    assert_is(ex.extra_m(plain, maximum), plain, ref.extra_lu(polyhedron(d), bound, bound))
    assert_is(ex.extra_m_plus(plus, maximum), plus, ref.extra_lu_plus(polyhedron(d), bound, bound))


@given(abstracted())
def test_order_of_the_abstractions(case: tuple[Matrix, Constants, Constants]) -> None:
    """Z <= Extra_LU(Z) <= Extra+_LU(Z) <= a_LU(Z) (Behrmann et al. 2006)."""
    d, low, up = case
    plain, plus = d.copy(), d.copy()
    assert ex.extra_lu(plain, low, up) == OK
    assert ex.extra_lu_plus(plus, low, up) == OK
    assert dbm.includes(plain, d)
    assert dbm.includes(plus, plain)
    for e in (d, plain, plus):
        assert ex.included_in_alu(e, d, low, up)


def test_large_matrices_use_the_same_definition() -> None:
    """A chain of 70 clocks, more than fit a bit set, agrees with a part of it that does."""
    n = 70
    d = np.empty((n, n), dtype=np.int32)
    dbm.zero(d)
    dbm.delay(d)
    for i in range(1, n):
        assert dbm.constrain(d, i, 0, 2 * 9 + 1) == OK
        if i % 3 == 0:
            assert dbm.reset(d, i, 0) == OK
        if i % 5 == 0:
            dbm.delay(d)
    low = np.array([0] + [NO_BOUND if i % 4 == 0 else i % 7 for i in range(1, n)], dtype=np.int32)
    up = np.array([0] + [NO_BOUND if i % 6 == 0 else i % 5 for i in range(1, n)], dtype=np.int32)
    keep = list(range(20))
    part = dbm.project(d, keep)
    assert ex.extra_lu_plus(d, low, up) == OK
    assert ex.extra_lu_plus(part, low[:20].copy(), up[:20].copy()) == OK
    again = d.copy()
    assert dbm.close(again) == OK
    assert np.array_equal(again, d)
    assert dbm.includes(part, dbm.project(d, keep))


@st.composite
def pairs(
    draw: st.DrawFn, dimensions: st.SearchStrategy[int]
) -> tuple[Matrix, Matrix, Constants, Constants]:
    """Pairs of zones, often one a part or an abstraction of the other, so that both answers
    are frequent."""
    n = draw(dimensions)
    # Small zones put the constants exactly on bounds, where strictness decides.
    largest = draw(st.sampled_from([2, 6]))
    low, up = draw(constants(n, largest)), draw(constants(n, largest))
    d = draw(zones(n, largest))
    kind = draw(st.sampled_from(["other", "part", "abstraction", "delay"]))
    e = draw(zones(n, largest)) if kind == "other" else d.copy()
    if kind == "abstraction":
        assert ex.extra_lu_plus(d, low, up) == OK
    elif kind == "delay":
        dbm.delay(d)
    if kind != "other":
        i, j = draw(st.integers(0, n - 1)), draw(st.integers(0, n - 1))
        part = e.copy()
        if dbm.constrain(part, i, j, draw(raw_bounds(-largest, largest))) == OK:
            e = part
    return d, e, low, up


def check_inclusion(case: tuple[Matrix, Matrix, Constants, Constants]) -> None:
    d, e, low, up = case
    before = d.copy(), e.copy()
    expected = ref.covered(polyhedron(d), ref.alu(polyhedron(e), exact(low), exact(up)))
    assert ex.included_in_alu(d, e, low, up) == expected
    assert np.array_equal(d, before[0])
    assert np.array_equal(e, before[1])


@given(pairs(st.integers(2, 3)))
def test_inclusion_in_alu(case: tuple[Matrix, Matrix, Constants, Constants]) -> None:
    check_inclusion(case)


@given(pairs(st.just(4)))
def test_inclusion_in_alu_with_three_clocks(
    case: tuple[Matrix, Matrix, Constants, Constants],
) -> None:
    check_inclusion(case)


@pytest.mark.parametrize("strict", [False, True])
def test_inclusion_in_alu_turns_on_one_strict_bound(strict: bool) -> None:
    """d: x > 1 (or >= 1) with x <= U(x); e: the part with y - x <= 1; L(y) = 2.

    A point of d with y beyond x + 1 is simulated by one with y in (2, x + 1], which is there
    for every x > 1, but not for x = 1.
    """
    d = np.empty((3, 3), dtype=np.int32)
    dbm.universal(d)
    assert dbm.constrain(d, 0, 1, bound(-1, strict)) == OK
    e = d.copy()
    assert dbm.constrain(e, 2, 1, bound(1)) == OK
    low, up = np.array([0, 0, 2], dtype=np.int32), np.array([0, 9, 0], dtype=np.int32)
    check_inclusion((d, e, low, up))
    assert ex.included_in_alu(d, e, low, up) == strict


def test_inclusion_without_abstraction_is_plain_inclusion() -> None:
    """With constants at infinity, bounds at the very limits must not overflow the test."""
    d = np.empty((3, 3), dtype=np.int32)
    dbm.universal(d)
    unlimited = np.array([0, UNBOUNDED, UNBOUNDED], dtype=np.int32)
    assert dbm.constrain(d, 0, 1, MIN_RAW) == OK
    e = d.copy()
    assert dbm.constrain(e, 2, 1, MAX_RAW) == OK
    assert ex.included_in_alu(e, d, unlimited, unlimited)
    assert not ex.included_in_alu(d, e, unlimited, unlimited)


@pytest.mark.parametrize("operator", [ex.extra_lu, ex.extra_lu_plus])
def test_no_bounds_leave_everything(
    operator: Callable[[Matrix, Constants, Constants], int],
) -> None:
    d = np.empty((3, 3), dtype=np.int32)
    dbm.zero(d)
    nothing = np.array([0, NO_BOUND, NO_BOUND], dtype=np.int32)
    assert operator(d, nothing, nothing) == OK
    expected = np.empty((3, 3), dtype=np.int32)
    dbm.universal(expected)
    assert np.array_equal(d, expected)


def test_overflow_is_reported() -> None:
    """x1 <= x2 + M and x2 <= x3 + M; dropping the bound on x1 - x3 derives it anew, as 2 M."""
    d = np.empty((4, 4), dtype=np.int32)
    dbm.universal(d)
    for i, j in ((1, 2), (2, 3)):
        d[i, j] = MAX_RAW - 200
    d[1, 3] = MAX_RAW
    unlimited = np.array([0, UNBOUNDED, UNBOUNDED, UNBOUNDED], dtype=np.int32)
    limit = (MAX_RAW - 200) // 2
    low = np.array([0, limit, limit, limit], dtype=np.int32)
    assert ex.extra_lu(d.copy(), low, unlimited) == OVERFLOW
    assert ex.extra_lu_plus(d.copy(), low, unlimited) == OVERFLOW
    assert d[1, 0] == INFINITY
