"""Kernels on one difference-bound matrix.

A matrix ``d`` is a writable C-contiguous ``n x n`` array of int32.  Entry ``d[i, j]`` is a raw
bound (see :mod:`whence.zones.bounds`) on ``x_i - x_j``; ``x_0`` is the constant zero.  It is
*canonical* if no bound can be tightened without losing a point: ``d[i, i] == LE_ZERO`` and
``d[i, j] <= d[i, k] + d[k, j]`` for all i, j, k (Bengtsson & Yi 2004, section 4.1), and, since
clocks are not negative, ``d[0, i] <= LE_ZERO``.  Every kernel here but ``close`` expects
canonical, non-empty matrices and leaves canonical, non-empty matrices behind, in place, unless
its status says otherwise.  After the status ``EMPTY`` only the mark ``d[0, 0] == LT_ZERO`` is
defined; after ``OVERFLOW`` nothing is.  Statuses are ``EMPTY``, ``OK`` and ``OVERFLOW``.

No kernel allocates.  Every operation that can make a finite bound larger in magnitude returns a
status.  Kernels are plain scalar loops: at the dimensions that occur (up to a dozen or two)
these beat anything that goes through temporary arrays.

The names follow Bengtsson & Yi (2004), section 4.2: ``delay`` is their *up*, ``past`` is *down*,
``constrain`` is *and*, ``shift``, ``reset``, ``free`` and ``copy_clock`` are theirs.
"""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from whence.zones.bounds import (
    EMPTY,
    INFINITY,
    LE_ZERO,
    LT_ZERO,
    MAX_RAW,
    MIN_RAW,
    OK,
    OVERFLOW,
)
from whence.zones.jit import kernel

__all__ = [
    "DIFFERENT",
    "EQUAL",
    "SPLIT_BOTH",
    "SPLIT_IN",
    "SPLIT_OUT",
    "SPLIT_OVERFLOW",
    "SUBSET",
    "SUPERSET",
    "Matrix",
    "add_bounds",
    "close",
    "constrain",
    "copy_clock",
    "copy_into",
    "delay",
    "disjoint",
    "embed",
    "embed_into",
    "equal",
    "free",
    "hash_matrix",
    "hull_into",
    "includes",
    "intersect",
    "is_empty",
    "past",
    "project",
    "project_into",
    "relation",
    "reset",
    "satisfies",
    "shift",
    "split_by",
    "universal",
    "zero",
]

Matrix: TypeAlias = npt.NDArray[np.int32]

DIFFERENT = 0
"""Result of :func:`relation`: neither matrix includes the other."""
SUBSET = 1
"""Result of :func:`relation`: the first zone is a proper subset of the second."""
SUPERSET = 2
"""Result of :func:`relation`: the first zone is a proper superset of the second."""
EQUAL = 3
"""Result of :func:`relation`: the zones are equal."""

SPLIT_IN = 1
"""Result of :func:`split_by`: the constraint holds everywhere; the second part is empty."""
SPLIT_OUT = 2
"""Result of :func:`split_by`: the constraint holds nowhere; the first part is empty."""
SPLIT_BOTH = 3
"""Result of :func:`split_by`: both parts are non-empty."""
SPLIT_OVERFLOW = 4
"""Result of :func:`split_by`: a bound left its range; both matrices are undefined."""

_HASH_MULTIPLIER = 0x5851F42D4C957F2D
_HASH_MASK = 0x7FFFFFFFFFFFFFFF


@kernel
def add_bounds(a: int, b: int) -> int:
    """The sum of two raw bounds, see :func:`whence.zones.bounds.add`.

    Pre: raw bounds.  Post: not checked for overflow, but exact in 64 bits.
    """
    if a == INFINITY or b == INFINITY:
        return INFINITY
    return a + b - ((a | b) & 1)


@kernel
def copy_into(source: Matrix, target: Matrix) -> None:
    """Copy a matrix.  Pre: the shapes are equal.  Post: ``target`` equals ``source``."""
    n = source.shape[0]
    for i in range(n):
        for j in range(n):
            target[i, j] = source[i, j]


@kernel
def universal(d: Matrix) -> None:
    """Set ``d`` to all valuations with non-negative clocks.  Pre: none.  Post: canonical."""
    n = d.shape[0]
    for i in range(n):
        for j in range(n):
            d[i, j] = INFINITY
        d[i, i] = LE_ZERO
    for j in range(n):
        d[0, j] = LE_ZERO


@kernel
def zero(d: Matrix) -> None:
    """Set ``d`` to the valuation in which every clock is zero.  Pre: none.  Post: canonical."""
    n = d.shape[0]
    for i in range(n):
        for j in range(n):
            d[i, j] = LE_ZERO


@kernel
def is_empty(d: Matrix) -> bool:
    """Whether a matrix is marked empty.

    Pre: ``d`` is canonical, or was left behind by a kernel that returned ``EMPTY``.
    """
    return bool(d[0, 0] < LE_ZERO)


@kernel
def _close_checked(d: Matrix) -> int:
    """Floyd-Warshall with a check of every stored bound; for matrices with large constants.

    Contract as :func:`close`, but the diagonal must already be ``LE_ZERO``.
    """
    n = d.shape[0]
    for k in range(n):
        for i in range(n):
            left = int(d[i, k])
            if i == k or left == INFINITY:
                continue
            for j in range(n):
                right = int(d[k, j])
                if right == INFINITY:
                    continue
                total = left + right - ((left | right) & 1)
                if total < d[i, j]:
                    if i == j:
                        d[0, 0] = LT_ZERO
                        return EMPTY
                    if total < MIN_RAW or total > MAX_RAW:
                        return OVERFLOW
                    d[i, j] = total
    return OK


@kernel
def close(d: Matrix) -> int:
    """Bring any matrix into canonical form (Floyd-Warshall; Bengtsson & Yi 2004, *close*).

    Pre: every finite entry is in range; ``d[0, i] <= LE_ZERO`` for every clock.  Post: ``OK``:
    canonical with the same solutions; ``EMPTY``: there are none; ``OVERFLOW``: a tightest bound
    is out of range (an empty matrix with large constants may also be reported so).
    """
    n = d.shape[0]
    largest = 0
    for i in range(n):
        for j in range(n):
            value = int(d[i, j])
            if value != INFINITY:
                if value < 0:
                    value = -value
                if value > largest:
                    largest = value
        if d[i, i] < LE_ZERO:
            d[0, 0] = LT_ZERO
            return EMPTY
        d[i, i] = LE_ZERO
    # Until a negative cycle is found every entry is the length of a walk of fewer than 2n
    # edges; if even such a walk cannot leave the range, the check of each sum can be left out.
    if largest * (2 * n) > MAX_RAW - 2 * n:
        return _close_checked(d)
    for k in range(n):
        for i in range(n):
            left = d[i, k]
            if i == k or left == INFINITY:
                continue
            for j in range(n):
                right = d[k, j]
                if right != INFINITY:
                    total = left + right - ((left | right) & 1)
                    if total < d[i, j]:
                        d[i, j] = total
            if d[i, i] < LE_ZERO:
                d[0, 0] = LT_ZERO
                return EMPTY
    return OK


@kernel
def constrain(d: Matrix, i: int, j: int, raw: int) -> int:
    """Intersect with ``x_i - x_j ~ c`` (Bengtsson & Yi 2004, *and*), in O(n^2).

    Pre: ``d`` canonical; ``raw`` any integer, ``INFINITY`` meaning no constraint.
    Post: ``OK``: canonical; ``EMPTY``; ``OVERFLOW``.
    """
    if raw >= d[i, j]:
        return OK
    back = int(d[j, i])
    if back != INFINITY and back + raw - ((back | raw) & 1) < LE_ZERO:
        d[0, 0] = LT_ZERO
        return EMPTY
    if raw < MIN_RAW or raw > MAX_RAW:
        return OVERFLOW
    n = d.shape[0]
    status = OK
    for a in range(n):
        left = int(d[a, i])
        if left == INFINITY:
            continue
        left = left + raw - ((left | raw) & 1)
        # A shortest path a -> b that uses the new edge uses it to reach j, so unless the way to
        # j itself is better now, no entry of row a changes.  This also skips row j, which is
        # read below, and so makes the update in place correct.
        if left >= d[a, j]:
            continue
        for b in range(n):
            right = int(d[j, b])
            if right != INFINITY:
                total = left + right - ((left | right) & 1)
                if total < d[a, b]:
                    if total < MIN_RAW or total > MAX_RAW:
                        status = OVERFLOW
                    d[a, b] = total
    return status


@kernel
def satisfies(d: Matrix, i: int, j: int, raw: int) -> bool:
    """Whether some valuation of ``d`` has ``x_i - x_j ~ c`` (Bengtsson & Yi 2004, *satisfied*).

    Pre: ``d`` canonical; ``raw`` any integer or ``INFINITY``.  Post: ``d`` is unchanged; the
    result is whether ``constrain(d, i, j, raw)`` would not be ``EMPTY``.
    """
    back = int(d[j, i])
    if back == INFINITY or raw >= d[i, j]:
        return True
    return bool(back + raw - ((back | raw) & 1) >= LE_ZERO)


@kernel
def delay(d: Matrix) -> None:
    """Let any time pass (Bengtsson & Yi 2004, *up*): {v + t | v in d, t >= 0}.

    Pre: canonical.  Post: canonical.  Invariants are for the caller to apply with ``constrain``.
    """
    for i in range(1, d.shape[0]):
        d[i, 0] = INFINITY


@kernel
def past(d: Matrix) -> None:
    """Go back in time (Bengtsson & Yi 2004, *down*): {v | v + t in d, t >= 0, v >= 0}.

    Pre: canonical.  Post: canonical.
    """
    n = d.shape[0]
    for i in range(1, n):
        lowest = LE_ZERO
        # Going back keeps differences: x_i can fall until the first clock reaches zero.
        for j in range(1, n):
            if d[j, i] < lowest:
                lowest = int(d[j, i])
        d[0, i] = lowest


@kernel
def reset(d: Matrix, i: int, value: int) -> int:
    """Assign ``x_i := value`` (Bengtsson & Yi 2004, *reset*).

    Pre: canonical; ``1 <= i < n``; ``value >= 0``.  Post: ``OK``: canonical; ``OVERFLOW``.
    """
    n = d.shape[0]
    twice = 2 * value
    status = OK
    if value == 0:
        # By far the most frequent case; it cannot overflow.
        for j in range(n):
            d[i, j] = d[0, j]
            d[j, i] = d[j, 0]
        d[i, i] = LE_ZERO
        return OK
    if twice + 1 > MAX_RAW:
        return OVERFLOW
    for j in range(n):
        if j == i:
            continue
        forth = int(d[0, j]) + twice
        d[i, j] = forth
        if forth > MAX_RAW:
            status = OVERFLOW
        back = int(d[j, 0])
        if back != INFINITY:
            back -= twice
            if back < MIN_RAW:
                status = OVERFLOW
        d[j, i] = back
    return status


@kernel
def free(d: Matrix, i: int) -> None:
    """Forget ``x_i``: it takes any non-negative value (Bengtsson & Yi 2004, *free*).

    Pre: canonical; ``1 <= i < n``.  Post: canonical.
    """
    for j in range(d.shape[0]):
        d[i, j] = INFINITY
        d[j, i] = d[j, 0]
    d[i, i] = LE_ZERO


@kernel
def shift(d: Matrix, i: int, amount: int) -> int:
    """Assign ``x_i := x_i + amount`` (Bengtsson & Yi 2004, *shift*).

    Valuations in which the clock would become negative are left out.
    Pre: canonical; ``1 <= i < n``.  Post: ``OK``: canonical; ``EMPTY``; ``OVERFLOW``.
    """
    n = d.shape[0]
    twice = 2 * amount
    if amount < 0:
        # Cut off first what would become negative: the bounds that remain then cannot fall
        # below zero, and only differences can overflow.
        status = constrain(d, 0, i, twice + 1)
        if status != OK:
            return status
    elif twice + 1 > MAX_RAW:
        return OVERFLOW
    status = OK
    for j in range(n):
        if j == i:
            continue
        forth = int(d[i, j])
        if forth != INFINITY:
            forth += twice
            if forth < MIN_RAW or forth > MAX_RAW:
                status = OVERFLOW
            d[i, j] = forth
        back = int(d[j, i])
        if back != INFINITY:
            back -= twice
            if back < MIN_RAW or back > MAX_RAW:
                status = OVERFLOW
            d[j, i] = back
    return status


@kernel
def copy_clock(d: Matrix, i: int, j: int) -> None:
    """Assign ``x_i := x_j`` (Bengtsson & Yi 2004, *copy*).

    Pre: canonical; ``1 <= i < n`` and ``0 <= j < n``.  Post: canonical.
    """
    if i == j:
        return
    for k in range(d.shape[0]):
        d[i, k] = d[j, k]
        d[k, i] = d[k, j]
    # The loop has copied d[j, j] or an older d[i, i] to these, whichever was written last.
    d[i, i] = LE_ZERO
    d[i, j] = LE_ZERO
    d[j, i] = LE_ZERO


@kernel
def includes(d: Matrix, e: Matrix) -> bool:
    """Whether ``e`` is a subset of ``d`` (Bengtsson & Yi 2004, *relation*).

    Pre: equal shapes; both canonical (``d`` need only be a correct system of bounds).
    """
    n = d.shape[0]
    for i in range(n):
        for j in range(n):
            if e[i, j] > d[i, j]:
                return False
    return True


@kernel
def equal(d: Matrix, e: Matrix) -> bool:
    """Whether two zones are equal.  Pre: equal shapes; both canonical."""
    n = d.shape[0]
    for i in range(n):
        for j in range(n):
            if e[i, j] != d[i, j]:
                return False
    return True


@kernel
def relation(d: Matrix, e: Matrix) -> int:
    """``EQUAL``, ``SUBSET`` (d in e), ``SUPERSET`` or ``DIFFERENT`` (*relation* of B. & Y.).

    Pre: equal shapes; both canonical.
    """
    n = d.shape[0]
    result = EQUAL
    for i in range(n):
        for j in range(n):
            if d[i, j] > e[i, j]:
                result &= SUPERSET
                if result == DIFFERENT:
                    return DIFFERENT
            elif d[i, j] < e[i, j]:
                result &= SUBSET
                if result == DIFFERENT:
                    return DIFFERENT
    return result


@kernel
def disjoint(d: Matrix, e: Matrix) -> bool:
    """A quick sufficient test that two zones have no common point, in O(n^2).

    Pre: equal shapes; both canonical.  Post: True only if the intersection is empty; False says
    nothing, since a negative cycle may alternate between the two matrices more than once.
    """
    n = d.shape[0]
    for i in range(n):
        for j in range(n):
            left = int(d[i, j])
            right = int(e[j, i])
            if (
                left != INFINITY
                and right != INFINITY
                and left + right - ((left | right) & 1) < LE_ZERO
            ):
                return True
    return False


@kernel
def intersect(d: Matrix, e: Matrix) -> int:
    """Intersect ``d`` with ``e`` in place.

    Pre: equal shapes; both canonical.  Post: ``OK``: ``d`` canonical; ``EMPTY``; ``OVERFLOW``.
    """
    n = d.shape[0]
    tighter = 0
    for i in range(n):
        for j in range(n):
            if e[i, j] < d[i, j]:
                tighter += 1
    if tighter == 0:
        return OK
    if tighter <= n:
        # A few constraints are cheaper one at a time than a cubic closure, the more so since
        # each makes some of the others superfluous.
        for i in range(n):
            for j in range(n):
                if e[i, j] < d[i, j]:
                    status = constrain(d, i, j, int(e[i, j]))
                    if status != OK:
                        return status
        return OK
    for i in range(n):
        for j in range(n):
            if e[i, j] < d[i, j]:
                d[i, j] = e[i, j]
    return close(d)


@kernel
def hull_into(d: Matrix, e: Matrix) -> None:
    """Set ``d`` to the smallest zone that includes both: the entrywise loosest bounds.

    Pre: equal shapes; both canonical.  Post: canonical (the maximum of two canonical matrices
    satisfies every triangle inequality, since either matrix does).
    """
    n = d.shape[0]
    for i in range(n):
        for j in range(n):
            if e[i, j] > d[i, j]:
                d[i, j] = e[i, j]


@kernel
def split_by(d: Matrix, i: int, j: int, raw: int, other: Matrix) -> int:
    """Cut ``d`` in two along the constraint g: ``x_i - x_j ~ c``.

    Pre: ``d`` canonical; ``other`` a different array of the same shape; ``i != j``.
    Post: ``SPLIT_IN``: g holds on all of d; d is unchanged.  ``SPLIT_OUT``: g holds nowhere; d
    is unchanged.  ``SPLIT_BOTH``: d is the part with g, ``other`` the part without; both
    canonical.  ``other`` is defined only after ``SPLIT_BOTH``.  ``SPLIT_OVERFLOW``: both are
    undefined.
    """
    if raw >= d[i, j]:
        return SPLIT_IN
    if not satisfies(d, i, j, raw):
        return SPLIT_OUT
    copy_into(d, other)
    if constrain(d, i, j, raw) == OVERFLOW:
        return SPLIT_OVERFLOW
    if constrain(other, j, i, 1 - raw) == OVERFLOW:
        return SPLIT_OVERFLOW
    return SPLIT_BOTH


@kernel
def project_into(d: Matrix, keep: npt.NDArray[np.int32], out: Matrix) -> None:
    """Remove clocks: clock k of ``out`` is clock ``keep[k]`` of ``d``.

    Existential quantification of the others, which on a canonical matrix is deletion of rows and
    columns.  Pre: ``d`` canonical; ``keep[0] == 0``; the rest distinct clocks of ``d``; ``out``
    is ``len(keep)`` square.  Post: ``out`` canonical.
    """
    m = keep.shape[0]
    for a in range(m):
        for b in range(m):
            out[a, b] = d[keep[a], keep[b]]


@kernel
def embed_into(d: Matrix, places: npt.NDArray[np.int32], out: Matrix) -> None:
    """Add clocks: clock k of ``d`` becomes clock ``places[k]`` of ``out``; others are free.

    The inverse image under :func:`project_into`.  Pre: ``d`` canonical; ``places[0] == 0``; the
    rest distinct clocks of ``out``.  Post: ``out`` canonical.
    """
    n = out.shape[0]
    m = places.shape[0]
    universal(out)
    # A free clock y is bounded only by y >= 0, so x - y has the upper bound of x.
    for a in range(m):
        for j in range(n):
            out[places[a], j] = d[a, 0]
    for a in range(m):
        for b in range(m):
            out[places[a], places[b]] = d[a, b]


def project(d: Matrix, keep: npt.ArrayLike) -> Matrix:
    """A new matrix with the clocks ``keep`` only, see :func:`project_into`.  Not a kernel."""
    places = np.asarray(keep, dtype=np.int32)
    out = np.empty((len(places), len(places)), dtype=np.int32)
    project_into(d, places, out)
    return out


def embed(d: Matrix, places: npt.ArrayLike, n: int) -> Matrix:
    """A new ``n x n`` matrix with more clocks, see :func:`embed_into`.  Not a kernel."""
    out = np.empty((n, n), dtype=np.int32)
    embed_into(d, np.asarray(places, dtype=np.int32), out)
    return out


@kernel
def hash_matrix(d: Matrix) -> int:
    """A hash of the entries in 0 .. 2**63 - 1.

    Pre: canonical (otherwise equal zones may hash differently).  Post: the same in compiled and
    in plain Python code, on every platform.
    """
    n = d.shape[0]
    result = int(n)
    for i in range(n):
        # Rows are hashed independently, so that the multiplications of several rows overlap in
        # the processor; only the low 63 bits are kept, which 64-bit and unbounded integers
        # compute alike.
        row = i + 1
        for j in range(n):
            row = ((row ^ int(d[i, j])) * _HASH_MULTIPLIER) & _HASH_MASK
        row ^= row >> 31
        result = ((result ^ row) * _HASH_MULTIPLIER) & _HASH_MASK
        result ^= result >> 29
    return result
