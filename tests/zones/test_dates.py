"""Zones over dates against zones with 32-bit bounds, which have tests of their own.

Those know no negative values: the age of the date to come, `END`, is moved up by `LATER`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from hypothesis import given
from hypothesis import strategies as st

from whence.zones import dates, dbm
from whence.zones.bounds import INFINITY, LE_ZERO, OK
from whence.zones.federation import canonical, subtract_into

CLOCKS, END, LATER = 2, 3, 8
SIZE = END + 1
Constraint = tuple[int, int, int]

bounds = st.tuples(st.integers(0, SIZE - 1), st.integers(0, SIZE - 1), st.integers(-8, 9)).filter(
    lambda row: row[0] != row[1]
)
rows = st.lists(bounds, max_size=3)
resets = st.lists(st.integers(1, CLOCKS), unique=True, max_size=2)


def moved(i: int, j: int, raw: int) -> int:
    """A bound for the zone in which the end has moved."""
    return raw + 2 * LATER * ((i == END) - (j == END))


def narrow(d: dates.Dates) -> npt.NDArray[np.int32]:
    out = np.full((SIZE, SIZE), INFINITY, np.int32)
    for i in range(SIZE):
        for j in range(SIZE):
            if d[i, j] != dates.FAR:
                out[i, j] = moved(i, j, int(d[i, j]))
    return out


@st.composite
def zones(draw: st.DrawFn) -> dates.Dates:
    """The end is between now and LATER from now."""
    d = dates.anything(SIZE, CLOCKS)
    d[END, 0], d[0, END] = dates.at_most(0), dates.at_most(LATER)
    assert dates.close_dates(d)
    for i, j, raw in draw(st.lists(bounds, max_size=4)):
        trial = d.copy()
        if dates.tighten(trial, i, j, raw):
            d = trial
    return d


def table(constraints: list[Constraint]) -> npt.NDArray[np.int64]:
    return np.array(constraints, np.int64).reshape(-1, 3)


def constrained(d: npt.NDArray[np.int32], constraints: list[Constraint]) -> bool:
    return all(dbm.constrain(d, i, j, moved(i, j, raw)) == OK for i, j, raw in constraints)


def same(d: dates.Dates, e: npt.NDArray[np.int32]) -> bool:
    return bool(np.array_equal(narrow(d), e))


@given(zones(), rows, resets)
def test_over_a_step(d: dates.Dates, constraints: list[Constraint], reset: list[int]) -> None:
    out, e = np.empty_like(d), narrow(d)
    possible = dates.over_step(d, table(constraints), np.array(reset, np.int64), out)
    assert possible == constrained(e, constraints)
    if possible:
        for clock in reset:
            dbm.reset(e, clock, 0)
        assert same(out, e)


@given(zones(), rows, resets)
def test_over_a_delay(d: dates.Dates, constraints: list[Constraint], reset: list[int]) -> None:
    out, e = np.empty_like(d), narrow(d)
    possible = dates.over_delay(d, table(constraints), np.array(reset, np.int64), END, out)
    dbm.delay(e)
    assert dbm.constrain(e, END, 0, dates.at_most(LATER)) == OK
    assert possible == constrained(e, constraints)
    if possible:
        for clock in reset:
            dbm.reset(e, clock, 0)
        assert same(out, e)


@given(zones(), rows, resets)
def test_back_over_a_step(d: dates.Dates, constraints: list[Constraint], reset: list[int]) -> None:
    out, e = np.empty_like(d), narrow(d)
    possible = dates.back_over_step(d, table(constraints), np.array(reset, np.int64), CLOCKS, out)
    there = all(dbm.constrain(e, clock, 0, LE_ZERO) == OK for clock in reset)
    if there:
        for clock in reset:
            dbm.free(e, clock)
        there = constrained(e, constraints)
    assert possible == there
    if possible:
        assert same(out, e)


@given(zones(), rows, resets, rows)
def test_back_over_a_delay(
    d: dates.Dates, constraints: list[Constraint], reset: list[int], within: list[Constraint]
) -> None:
    out, e = np.empty_like(d), np.empty_like(d)
    there = dates.back_over_step(d, table(constraints), np.array(reset, np.int64), CLOCKS, e)
    possible = dates.back_over_delay(
        d, table(constraints), np.array(reset, np.int64), CLOCKS, table(within), out
    )
    if not there:
        assert not possible
        return
    f = narrow(e)
    dbm.past(f)  # which keeps the age of the end above -LATER; what is before, is cut off
    there = constrained(f, within)
    low = dates.at_most(LATER)
    if possible and dates.tighten(out, 0, END, low):
        assert there
        assert same(out, f)
    else:
        assert not there


@given(zones(), st.integers(-6, 6))
def test_ageing(d: dates.Dates, amount: int) -> None:
    out = np.empty_like(d)
    wide = np.array(d, object)
    for i in range(1, SIZE):
        wide[i, 0] = d[i, 0] if d[i, 0] == dates.FAR else d[i, 0] + 2 * amount
        wide[0, i] = d[0, i] if d[0, i] == dates.FAR else d[0, i] - 2 * amount
    for clock in range(1, CLOCKS + 1):
        wide[0, clock] = min(wide[0, clock], dates.NON_NEGATIVE)
    expected = np.array(wide, np.int64)
    possible = dates.age(d, amount, CLOCKS, out)
    assert possible == dates.close_dates(expected)
    if possible:
        assert np.array_equal(out, expected)


@given(zones(), st.integers(-6, 6), st.integers(-6, 6))
def test_one_date_more_and_less(d: dates.Dates, past: int, other: int) -> None:
    more, less = np.empty((SIZE + 1, SIZE + 1), np.int64), np.empty_like(d)
    dates.add_date(d, past, more)
    closed = more.copy()
    assert dates.close_dates(closed)
    assert np.array_equal(closed, more)
    assert dates.drop_date(more, other, less) == (past == other)
    if past == other:
        assert np.array_equal(less, d)


@given(zones(), zones())
def test_meeting_and_cutting(d: dates.Dates, e: dates.Dates) -> None:
    a, b = narrow(d), narrow(e)
    out = np.empty_like(d)
    common = canonical(np.minimum(a, b))
    assert dates.meet_into(d, e, out) == (common is not None)
    if common is not None:
        assert same(out, common)
    assert dates.included(d, e) == dbm.includes(a, b)
    assert not dates.separate(d, e) or common is None
    pieces = dates.difference(d, e)
    room = np.empty((SIZE * SIZE, SIZE, SIZE), np.int32)
    count, _ = subtract_into(a, b, room, 0)
    assert len(pieces) == count
    assert all(same(piece, other) for piece, other in zip(pieces, room, strict=False))


@given(zones(), st.integers(0, 4))
def test_coarsening_loses_only_what_is_far(d: dates.Dates, largest: int) -> None:
    wide = d.copy()
    dates.coarsen(wide, largest)
    assert dates.included(wide, d)
    assert not ((wide != dates.FAR) & (wide > 2 * largest + 1 + 2 * LATER)).any()
    if abs(d[d != dates.FAR]).max() <= 2 * largest:
        assert np.array_equal(wide, d)


def test_dates_of_a_long_day() -> None:
    """Far beyond 32 bits: a day in nanoseconds."""
    day = 86_400 * 10**9
    d = dates.anything(2, 1)
    out, later = np.empty_like(d), np.empty_like(d)
    d[1, 0] = dates.at_most(0)
    assert dates.close_dates(d)
    assert dates.age(d, day, 1, out)
    assert out[1, 0] == dates.at_most(day)
    assert dates.over_step(out, table([(0, 1, dates.at_most(-day))]), np.array([], np.int64), later)
    assert not dates.over_step(
        out, table([(0, 1, dates.at_most(-day, True))]), np.array([], np.int64), later
    )
