"""Kernels that abstract zones, so that an exploration sees finitely many of them.

The operators are those of Behrmann, Bouyer, Larsen & Pelanek, "Lower and upper bounds in
zone based abstractions of timed automata" (2004; 2006): *Extra_M*, *Extra+_M*,
*Extra_LU* and *Extra+_LU*.  The inclusion test is that of Herbreteau, Srivathsan & Walukiewicz,
"Better abstractions for timed automata" (LICS 2012), for the coarsest of them, *a_LU*, which
need not map zones to zones and is therefore never computed, only tested.

``lower[i]`` (L) and ``upper[i]`` (U) are int32 constants: the largest c of a lower-bound guard
``x_i > c`` or ``x_i >= c``, and of an upper-bound guard ``x_i < c`` or ``x_i <= c``.
``NO_BOUND`` means that there is no such guard (minus infinity); ``UNBOUNDED`` that the clock must
not be abstracted on that side (plus infinity).  Other constants are in 0 .. MAX_CONSTANT.
``lower[0]`` and ``upper[0]`` are 0.
"""

import numpy as np
import numpy.typing as npt

from whence.zones.bounds import (
    INFINITY,
    LE_ZERO,
    MAX_RAW,
    MIN_RAW,
    NO_BOUND,
    OK,
    OVERFLOW,
    UNBOUNDED,
)
from whence.zones.dbm import Matrix, close
from whence.zones.jit import kernel

__all__ = [
    "Constants",
    "extra_lu",
    "extra_lu_plus",
    "extra_m",
    "extra_m_plus",
    "included_in_alu",
]

Constants = npt.NDArray[np.int32]


@kernel
def extra_lu(d: Matrix, lower: Constants, upper: Constants) -> int:
    """*Extra_LU* (Behrmann et al. 2006), then the canonical form.

    Pre: ``d`` canonical; constants as in the module's text.  Post: ``OK``: canonical, includes
    the old d, is included in a_LU of it; ``OVERFLOW``.
    """
    n = d.shape[0]
    changed = False
    for i in range(n):
        # d[0, j] <= 0 = lower[0], so the first case of the definition never applies to row 0.
        above = INFINITY if i == 0 else 2 * int(lower[i]) + 1
        for j in range(n):
            if i == j:
                continue
            raw = int(d[i, j])
            if raw == INFINITY:
                continue
            if raw > above:
                d[i, j] = INFINITY
                changed = True
                continue
            below = -2 * int(upper[j])
            if raw < below:
                if upper[j] >= 0:
                    d[i, j] = below
                    changed = True
                elif i != 0:
                    d[i, j] = INFINITY
                    changed = True
                elif raw != LE_ZERO:
                    # Never compared from below: all that remains is that clocks are >= 0.
                    d[i, j] = LE_ZERO
                    changed = True
    if not changed:
        return OK
    return close(d)


@kernel
def extra_m(d: Matrix, maximum: Constants) -> int:
    """*Extra_M* (Behrmann et al. 2006): :func:`extra_lu` with L = U = M."""
    return extra_lu(d, maximum, maximum)


@kernel
def extra_lu_plus(d: Matrix, lower: Constants, upper: Constants) -> int:
    """*Extra+_LU* (Behrmann et al. 2006), then the canonical form.

    Pre: ``d`` canonical; constants as in the module's text.  Post: ``OK``: canonical, includes
    Extra_LU of the old d, is included in a_LU of it; ``OVERFLOW``.

    The closure does only the work that can matter.  Call a clock x *left* if its lower bound
    exceeds L(x): the definition drops all bounds on x - y, so no path leaves x.  Call y
    *unreached* if its lower bound exceeds U(y): all bounds on x - y but that of row 0 are
    dropped, so every path into y ends with the edge from 0.  Relaxing entries of a canonical
    matrix leaves the others tightest, hence:

    * row 0 is final at once: its changed entries are the only edges into their columns;
    * a row of a *left* clock is final at once;
    * any other row needs Floyd-Warshall only if one of its bounds to a clock that is not
      unreached was dropped (because it exceeded L), with the clocks that are neither left nor
      unreached as intermediate points, and only on that row;
    * at last, unreached columns are filled through 0.
    """
    n = d.shape[0]
    if n > 62:
        return _extra_lu_plus_large(d, lower, upper)
    # Bit sets of clocks.  The old lower bounds decide, so they are read before they change.
    left_set = 0
    unreached_set = 0
    for i in range(1, n):
        least = int(d[0, i])
        if least < -2 * int(lower[i]):
            left_set |= 1 << i
        if least < -2 * int(upper[i]):
            unreached_set |= 1 << i
            # A clock whose lower bound is dropped altogether is still not negative.
            d[0, i] = -2 * int(upper[i]) if upper[i] >= 0 else LE_ZERO
    rows = 0
    for i in range(1, n):
        if (left_set >> i) & 1:
            for j in range(n):
                d[i, j] = INFINITY
            d[i, i] = LE_ZERO
            continue
        above = 2 * int(lower[i]) + 1
        for j in range(n):
            raw = d[i, j]
            if i != j and raw != INFINITY:
                if (unreached_set >> j) & 1:
                    d[i, j] = INFINITY
                elif raw > above:
                    d[i, j] = INFINITY
                    rows |= 1 << i
    if rows != 0:
        # Point 0 is no use in between: c_ij > L(x_i) implies c_i0 > L(x_i), as c_ij <= c_i0, so
        # the way to 0 is dropped too and leads through some k, from where j is no farther.
        for k in range(1, n):
            if ((left_set | unreached_set) >> k) & 1:
                continue
            for i in range(1, n):
                if not (rows >> i) & 1 or i == k:
                    continue
                first = int(d[i, k])
                if first == INFINITY:
                    continue
                for j in range(n):
                    second = int(d[k, j])
                    # Bounds into unreached columns are dropped by now, except those of row 0,
                    # which must wait until d[i, 0] is final.
                    if second == INFINITY or (unreached_set >> j) & 1:
                        continue
                    total = first + second - ((first | second) & 1)
                    if total < d[i, j]:
                        if total < MIN_RAW or total > MAX_RAW:
                            return OVERFLOW
                        d[i, j] = total
    if unreached_set != 0:
        for i in range(1, n):
            first = int(d[i, 0])
            if first == INFINITY:
                continue
            for j in range(1, n):
                if i != j and (unreached_set >> j) & 1:
                    second = int(d[0, j])
                    total = first + second - ((first | second) & 1)
                    if total < MIN_RAW or total > MAX_RAW:
                        return OVERFLOW
                    d[i, j] = total
    return OK


@kernel
def _extra_lu_plus_large(d: Matrix, lower: Constants, upper: Constants) -> int:
    """:func:`extra_lu_plus` by the letter, for matrices too large for its bit sets."""
    n = d.shape[0]
    changed = False
    for i in range(1, n):
        left = d[0, i] < -2 * int(lower[i])
        above = 2 * int(lower[i]) + 1
        for j in range(n):
            if i == j or d[i, j] == INFINITY:
                continue
            if d[i, j] > above or left or d[0, j] < -2 * int(upper[j]):
                d[i, j] = INFINITY
                changed = True
    # Row 0 last: the old lower bounds decide about every other row.
    for j in range(1, n):
        below = -2 * int(upper[j])
        if d[0, j] < below:
            relaxed = below if upper[j] >= 0 else LE_ZERO
            if d[0, j] != relaxed:
                d[0, j] = relaxed
                changed = True
    if not changed:
        return OK
    return close(d)


@kernel
def extra_m_plus(d: Matrix, maximum: Constants) -> int:
    """*Extra+_M* (Behrmann et al. 2006): :func:`extra_lu_plus` with L = U = M."""
    return extra_lu_plus(d, maximum, maximum)


@kernel
def included_in_alu(d: Matrix, e: Matrix, lower: Constants, upper: Constants) -> bool:
    """Whether Z(d) is a subset of a_LU(Z(e)) (Herbreteau et al. 2012), in O(n^2).

    a_LU(W) holds the valuations v for which some v' in W has, for every clock x, v'(x) = v(x)
    or L(x) < v'(x) < v(x) or U(x) < v(x) < v'(x).  The test: Z is *not* included iff there are
    x, y (either may be 0) with ::

        Z_x0 >= (<=, -U(x))  and  Z'_xy < Z_xy  and  Z'_xy + (<, -L(y)) < Z_x0

    where the paper's Z_xy bounds y - x, that is, Z_x0 = d[0, x] and Z_xy = d[y, x].

    Pre: equal shapes; both canonical; constants as in the module's text.  Post: both unchanged.
    """
    n = d.shape[0]
    for y in range(n):
        subtract = 2 * int(lower[y])
        if lower[y] == NO_BOUND:
            continue  # (<, +oo) is below nothing
        if lower[y] >= UNBOUNDED:
            subtract = 8 * UNBOUNDED  # below every lower bound, whatever e[y, x] is
        for x in range(n):
            bound = int(e[y, x])
            if bound < d[y, x]:
                least = int(d[0, x])
                # bound + (<, -L): strict, so the parity bit of the sum is always cleared.
                if bound - (bound & 1) - subtract < least and least > -2 * int(upper[x]):
                    return False
    return True
