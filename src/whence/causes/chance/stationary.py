"""Irreducible pieces of a chain: where it spends its time, and by which state it is left.

Small pieces are treated many at once, by eliminations without a subtraction (Grassmann, Taksar and
Heyman, 1985): every entry of the result is right to a few units in its last place, however small
it is. Large ones are iterated on.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse import linalg

from whence.causes.chance.chain import Floats
from whence.source import UnsupportedError

__all__ = ["DENSE", "iterated", "stationary", "visits", "visits_times"]

#: Pieces with up to so many states are full matrices.
DENSE = 300

_ITERATIONS = 50_000
_COLUMNS = 20_000_000


def stationary(speeds: Floats) -> Floats:
    """The stationary distributions of irreducible chains; `speeds[k]` is the matrix of chain k,
    whose diagonal does not matter."""
    left = speeds.copy()
    chains, size, _ = left.shape
    for last in range(size - 1, 0, -1):
        left[:, :last, last] /= left[:, last, :last].sum(axis=1)[:, None]
        left[:, :last, :last] += left[:, :last, last, None] * left[:, last, None, :last]
    shares = np.zeros((chains, size))
    shares[:, 0] = 1
    for state in range(1, size):
        shares[:, state] = (shares[:, :state] * left[:, :state, state]).sum(axis=1)
    shares /= shares.sum(axis=1)[:, None]
    return shares


def visits(speeds: Floats, leaving: Floats) -> Floats:
    """For pieces that are left at the speeds `leaving[k]` (some of them positive): the time spent
    in each state, by the state in which it begins."""
    inner, out = speeds.copy(), leaving.copy()
    chains, size, _ = inner.shape
    found = np.broadcast_to(np.eye(size), (chains, size, size)).copy()
    rate = np.zeros((chains, size))
    for last in range(size - 1, -1, -1):
        rate[:, last] = out[:, last] + inner[:, last, :last].sum(axis=1)
        part = inner[:, :last, last] / rate[:, last, None]
        inner[:, :last, :last] += part[:, :, None] * inner[:, last, None, :last]
        out[:, :last] += part * out[:, last, None]
        found[:, :last] += part[:, :, None] * found[:, last, None]
    for state in range(size):
        through = np.einsum("ki,kij->kj", inner[:, state, :state], found[:, :state])
        found[:, state] = (found[:, state] + through) / rate[:, state, None]
    return found


def iterated(speeds: sparse.csr_array) -> tuple[Floats, float]:
    """The stationary distribution of one large irreducible chain, and an estimate of the relative
    error of its entries: powers of the uniformised matrix, until they stand still."""
    size = speeds.shape[0]
    exits = np.asarray(speeds.sum(axis=1)).reshape(-1)
    fastest = 1.1 * exits.max()
    step = sparse.csr_array(speeds.T / fastest + sparse.diags_array(1 - exits / fastest))
    share = np.full(size, 1 / size)
    before = np.inf
    for number in range(1, _ITERATIONS + 1):
        after = step @ share
        if number % 64 == 0:
            after /= after.sum()
            change = float(np.max(abs(after - share) / after))
            # What is still to come is a geometric series, by the shrinking since last time.
            shrinking = (change / before) ** (1 / 64) if before < np.inf else 1.0
            error = change * shrinking / (1 - shrinking) if shrinking < 1 else np.inf
            if change < 4e-16 or error < 1e-13:
                return after, max(error if error < np.inf else 0.0, 1e-14)
            before = change
        share = after
    raise UnsupportedError(
        f"{size} states lead to each other by transitions without a rate, and where the system"
        " stays among them could not be computed; give some of these transitions rates"
    )


def visits_times(
    speeds: sparse.csr_array, leaving: Floats, out: sparse.csr_array
) -> sparse.csr_array:
    """`visits` of one large piece, times the matrix `out`."""
    size, columns = out.shape
    used = np.unique(out.indices)
    if size * len(used) > _COLUMNS:
        raise UnsupportedError(
            f"{size} states lead to each other, and to {len(used)} more, by transitions without a"
            " rate, which is too many to solve for; give some of these transitions rates"
        )
    exits = np.asarray(speeds.sum(axis=1)).reshape(-1) + leaving
    solver = linalg.splu(
        sparse.csc_array(sparse.diags_array(exits) - speeds),
        diag_pivot_thresh=0,
        options={"SymmetricMode": True},
    )
    solved = np.maximum(solver.solve(out[:, used].toarray()), 0)
    wide = sparse.coo_array(solved)
    entries = (wide.data, (wide.coords[0], used[wide.coords[1]]))
    return sparse.csr_array(sparse.coo_array(entries, shape=(size, columns)))
