"""Zones over dates: difference-bound matrices with 64-bit bounds, read along a recorded trace.

The dates of a trace are large numbers (microseconds of a day, say), which the 32-bit bounds of
:mod:`whence.zones.dbm` do not hold.  A matrix here is canonical as there, and a *raw* bound is
``2*c + 1`` (weak) or ``2*c`` (strict) as there, but in int64, and :data:`FAR` is no bound.

Index 0 is *now*.  The value of every other index is the age of a date: how long ago it was.  Ages
of dates to come are negative, so nothing is bounded below of itself; the ages ``1 .. clocks`` are
those of the last resets of clocks, the values of the clocks, and these are not negative, which
matrices say themselves.  As time passes all ages grow alike.

Overflow is excluded beforehand: whoever scales dates to integers keeps them, and all constants,
below :data:`LARGEST`, so that no sum over a matrix of :data:`WIDEST` dates leaves 64 bits.

No kernel allocates.  Those that return a bool return whether the result is non-empty; after False
the result is undefined.
"""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from whence.zones.jit import kernel

__all__ = [
    "FAR",
    "LARGEST",
    "NON_NEGATIVE",
    "WIDEST",
    "Dates",
    "add_date",
    "age",
    "anything",
    "at_most",
    "back_over_delay",
    "back_over_step",
    "close_dates",
    "coarsen",
    "cut_into",
    "difference",
    "drop_date",
    "included",
    "meet_into",
    "negation",
    "over_delay",
    "over_step",
    "separate",
    "tighten",
    "tighten_all",
]

Dates: TypeAlias = npt.NDArray[np.int64]

FAR = 2**62
"""No bound."""

NON_NEGATIVE = 1
"""The raw bound ``<= 0``."""

LARGEST = 2**52
"""The largest magnitude of a date or a constant."""

WIDEST = 128
"""The largest number of dates in a matrix."""


def at_most(c: int, strict: bool = False) -> int:
    """The raw bound ``<= c`` or ``< c``."""
    return 2 * c + (0 if strict else 1)


def negation(raw: int) -> int:
    """The bound on b - a that holds where a - b violates `raw`.  Pre: not FAR."""
    return 1 - raw


def anything(size: int, clocks: int) -> Dates:
    """All ages; those of clocks are not negative."""
    d = np.full((size, size), FAR, np.int64)
    np.fill_diagonal(d, NON_NEGATIVE)
    d[0, 1 : clocks + 1] = NON_NEGATIVE
    return d


@kernel
def close_dates(d: Dates) -> bool:
    """Bring any matrix into canonical form (Floyd-Warshall)."""
    n = d.shape[0]
    for i in range(n):
        if d[i, i] < 1:
            return False
        d[i, i] = 1
    for k in range(n):
        for i in range(n):
            left = d[i, k]
            if i == k or left == FAR:
                continue
            for j in range(n):
                right = d[k, j]
                if right != FAR:
                    total = left + right - ((left | right) & 1)
                    if total < d[i, j]:
                        d[i, j] = total
            if d[i, i] < 1:
                return False
    return True


@kernel
def tighten(d: Dates, i: int, j: int, raw: int) -> bool:
    """Intersect with ``x_i - x_j ~ c``.  Pre: canonical, i != j.  Post: canonical."""
    if raw >= d[i, j]:
        return True
    back = d[j, i]
    if back != FAR and back + raw - ((back | raw) & 1) < 1:
        return False
    n = d.shape[0]
    for a in range(n):
        left = d[a, i]
        if left == FAR:
            continue
        left = left + raw - ((left | raw) & 1)
        # See `constrain` in `whence.zones.dbm`: if the way to j is no better, nothing in row a is.
        if left >= d[a, j]:
            continue
        for b in range(n):
            right = d[j, b]
            if right != FAR:
                total = left + right - ((left | right) & 1)
                if total < d[a, b]:
                    d[a, b] = total
    return True


@kernel
def _copy(d: Dates, out: Dates) -> None:
    n = d.shape[0]
    for i in range(n):
        for j in range(n):
            out[i, j] = d[i, j]


@kernel
def tighten_all(d: Dates, constraints: Dates) -> bool:
    """Intersect with all constraints, rows (i, j, raw).  Pre, post: as :func:`tighten`."""
    for k in range(constraints.shape[0]):
        if not tighten(d, constraints[k, 0], constraints[k, 1], constraints[k, 2]):
            return False
    return True


@kernel
def age(d: Dates, amount: int, clocks: int, out: Dates) -> bool:
    """All ages `amount` later; or earlier, if it is negative, where clocks were not negative.

    Pre: canonical.  Post: canonical."""
    n = d.shape[0]
    _copy(d, out)
    for i in range(1, n):
        if out[i, 0] != FAR:
            out[i, 0] += 2 * amount
        if out[0, i] != FAR:
            out[0, i] -= 2 * amount
    if amount < 0:
        for i in range(1, clocks + 1):
            if not tighten(out, 0, i, 1):
                return False
    return True


@kernel
def over_step(d: Dates, constraints: Dates, resets: Dates, out: Dates) -> bool:
    """What a transition makes of `d`: {v[resets := 0] | v in d, constraints}.

    Constraints are rows (i, j, raw).  Pre: canonical.  Post: canonical."""
    n = d.shape[0]
    _copy(d, out)
    if not tighten_all(out, constraints):
        return False
    for k in range(resets.shape[0]):
        c = resets[k]
        for i in range(n):
            out[c, i] = out[0, i]
            out[i, c] = out[i, 0]
        out[c, c] = 1
    return True


@kernel
def over_delay(d: Dates, constraints: Dates, resets: Dates, end: int, out: Dates) -> bool:
    """As :func:`over_step`, after any time in which the date `end` is not passed.

    Pre: canonical, and the age of `end` is at most 0.  Post: canonical."""
    n = d.shape[0]
    _copy(d, out)
    for i in range(1, n):
        out[i, 0] = FAR
    # The bounds of ages from above follow from that of `end` alone: they grow alike.
    for i in range(n):
        if i != 0:
            out[i, 0] = out[i, end]
    if not tighten_all(out, constraints):
        return False
    for k in range(resets.shape[0]):
        c = resets[k]
        for i in range(n):
            out[c, i] = out[0, i]
            out[i, c] = out[i, 0]
        out[c, c] = 1
    return True


@kernel
def back_over_step(d: Dates, constraints: Dates, resets: Dates, clocks: int, out: Dates) -> bool:
    """From where a transition leads into `d`: {v | constraints, v[resets := 0] in d}.

    Pre: canonical, constraints say nothing of clocks below 0.  Post: canonical."""
    n = d.shape[0]
    _copy(d, out)
    for k in range(resets.shape[0]):
        if not tighten(out, resets[k], 0, 1) or not tighten(out, 0, resets[k], 1):
            return False
    for k in range(resets.shape[0]):
        c = resets[k]
        for i in range(n):
            # Any value that is not negative.
            out[c, i] = FAR
            out[i, c] = out[i, 0]
        out[c, c] = 1
    return tighten_all(out, constraints)


@kernel
def back_over_delay(
    d: Dates, constraints: Dates, resets: Dates, clocks: int, within: Dates, out: Dates
) -> bool:
    """From where some time and then a transition lead into `d`, as far as that is `within`.

    Pre: canonical.  Post: canonical."""
    if not back_over_step(d, constraints, resets, clocks, out):
        return False
    n = d.shape[0]
    for i in range(1, n):
        out[0, i] = FAR
    for i in range(1, clocks + 1):
        out[0, i] = 1
    # Lower bounds are now those of the clocks only, and what follows from them.
    for i in range(1, n):
        for j in range(1, clocks + 1):
            if out[j, i] < out[0, i]:
                out[0, i] = out[j, i]
    return tighten_all(out, within)


@kernel
def add_date(d: Dates, past: int, out: Dates) -> None:
    """One date more, the last index, with the age `past` (negative: it is to come).

    Pre: canonical; `out` is larger by one.  Post: canonical."""
    n = d.shape[0]
    for i in range(n):
        for j in range(n):
            out[i, j] = d[i, j]
        out[i, n] = FAR if d[i, 0] == FAR else d[i, 0] - 2 * past
        out[n, i] = FAR if d[0, i] == FAR else d[0, i] + 2 * past
    out[n, n] = 1


@kernel
def drop_date(d: Dates, past: int, out: Dates) -> bool:
    """Where the last date has the age `past`, without it.  `d` is undefined afterwards.

    Pre: canonical; `out` is smaller by one.  Post: canonical."""
    n = d.shape[0] - 1
    if not tighten(d, n, 0, 2 * past + 1) or not tighten(d, 0, n, 1 - 2 * past):
        return False
    for i in range(n):
        for j in range(n):
            out[i, j] = d[i, j]
    return True


@kernel
def coarsen(d: Dates, largest: int) -> None:
    """Without what bounds say beyond a constant: a larger zone, of which there are finitely many.

    Pre: canonical.  Post: canonical, includes what it was."""
    n = d.shape[0]
    for i in range(n):
        for j in range(n):
            if i != j and d[i, j] != FAR:
                if d[i, j] > 2 * largest + 1:
                    d[i, j] = FAR
                elif d[i, j] < -2 * largest:
                    d[i, j] = -2 * largest
    close_dates(d)


@kernel
def included(d: Dates, e: Dates) -> bool:
    """Whether `e` is a subset of `d`.  Pre: `e` canonical and non-empty."""
    n = d.shape[0]
    for i in range(n):
        for j in range(n):
            if e[i, j] > d[i, j]:
                return False
    return True


@kernel
def separate(d: Dates, e: Dates) -> bool:
    """A quick sufficient test that two zones have no common point."""
    n = d.shape[0]
    for i in range(n):
        for j in range(n):
            left = d[i, j]
            right = e[j, i]
            if left != FAR and right != FAR and left + right - ((left | right) & 1) < 1:
                return True
    return False


@kernel
def meet_into(d: Dates, e: Dates, out: Dates) -> bool:
    """The intersection.  Pre: canonical.  Post: canonical."""
    n = d.shape[0]
    _copy(d, out)
    for i in range(n):
        for j in range(n):
            if e[i, j] < out[i, j] and not tighten(out, i, j, e[i, j]):
                return False
    return True


@kernel
def cut_into(d: Dates, e: Dates, out: Dates) -> int:
    """Disjoint zones whose union is `d` without `e`, in ``out[:result]``.

    As :func:`whence.zones.federation.subtract_into`.  Pre: both canonical; `out` has
    ``n * (n - 1) + 1`` places; the zones have common points."""
    n = d.shape[0]
    position = 0
    _copy(d, out[0])
    for round_ in range(2):
        for i in range(n):
            for j in range(n):
                raw = e[i, j]
                if raw >= out[position, i, j]:
                    continue
                if round_ == 0:
                    implied = False
                    for k in range(n):
                        if k != i and k != j:
                            left = e[i, k]
                            right = e[k, j]
                            if (
                                left != FAR
                                and right != FAR
                                and left + right - ((left | right) & 1) <= raw
                            ):
                                implied = True
                                break
                    if implied:
                        continue
                _copy(out[position], out[position + 1])
                tighten(out[position], j, i, 1 - raw)
                position += 1
                tighten(out[position], i, j, raw)
    return position


def difference(d: Dates, e: Dates) -> list[Dates]:
    """Disjoint zones whose union is `d` without `e`.  Pre: both canonical and non-empty."""
    if included(e, d):
        return []
    n = d.shape[0]
    common = np.empty_like(d)
    if separate(d, e) or not meet_into(d, e, common):
        return [d]
    out = np.empty((n * (n - 1) + 1, n, n), np.int64)
    count = cut_into(d, e, out)
    return [piece.copy() for piece in out[:count]]
