"""Immediate transitions, removed: the limit K → ∞ of a chain with the rates K·A + B.

By the theory of singular perturbation, the chain at time t > 0 behaves as one whose states are the
recurrent classes of A. It leaves a class at the rates of B, averaged by the stationary distribution
of A within the class; a state that is transient under A is left at once, for each class with the
probability that A gets there. What B does in such a state does not matter: no time is spent in it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph, linalg

from whence.causes.chance import stationary
from whence.causes.chance.chain import Chain, Floats, Ints, Marks

__all__ = ["Classes", "Macro", "classes", "eliminate", "only_tangible"]

#: Shares are written down as long as they are not more than so many, or so many times the edges.
_ENTRIES = 5_000_000
_GROWTH = 20
_EPS = float(np.finfo(float).eps)


@dataclass(frozen=True, slots=True, eq=False)
class Classes:
    """Strongly connected components of the immediate edges: `of[s]` is that of state s, with
    `size[of[s]]` states; in the recurrent ones time passes."""

    of: Ints
    size: Ints
    recurrent: Marks


@dataclass(frozen=True, slots=True, eq=False)
class Macro:
    """The chain of recurrent classes. `leaving`: from classes into states, at which rates.
    `class_of`: of recurrent states. `step`: where a transient state leads to, without cycles.
    `share`: into which class each state gets in the end, with which probability; None where that
    would be too much to write down, but `ends` can be asked. `error` estimates the relative
    error."""

    leaving: sparse.csr_array
    class_of: sparse.csr_array
    step: sparse.csr_array
    transient: Marks
    share: sparse.csr_array | None
    error: float

    def rates(self) -> sparse.csr_array | None:
        """Between different classes."""
        if self.share is None:
            return None
        rates = sparse.coo_array(self.leaving @ self.share)
        rows, columns = rates.coords
        moves = (rows != columns) & (rates.data > 0)
        entries = (rates.data[moves], (rows[moves], columns[moves]))
        return sparse.csr_array(sparse.coo_array(entries, shape=rates.shape))

    def ends(self) -> Callable[[Floats], Floats]:
        """The function from values of classes to values of states."""
        states, solver = _solver(self.step, self.transient)
        outer = self.step[states] @ self.class_of

        def of(values: Floats) -> Floats:
            found: Floats = self.class_of @ values
            found[states] = solver.solve(outer @ values)
            return found

        return of


def classes(chain: Chain) -> Classes:
    instant = chain.matrix(instant=True)
    count, of = csgraph.connected_components(instant, directed=True, connection="strong")
    edges = instant.tocoo()
    rows, columns = edges.coords
    recurrent = np.ones(count, bool)
    recurrent[of[rows[of[rows] != of[columns]]]] = False
    return Classes(of.astype(np.int64), np.bincount(of, minlength=count), recurrent)


def only_tangible(chain: Chain) -> Chain:
    """The same behaviour in the limit, but with more states alike: timed edges only where time
    passes, and the speeds of a transient state as probabilities, as only their ratios matter."""
    if not chain.instant.any():
        return chain
    found = classes(chain)
    passes = found.recurrent[found.of[chain.source]]
    counted = chain.only(chain.instant | passes)
    hurried = ~passes[chain.instant | passes]
    total = np.bincount(counted.source[hurried], counted.weight[hurried], minlength=counted.states)
    weight = counted.weight.copy()
    weight[hurried] /= total[counted.source[hurried]]
    return Chain(
        states=chain.states,
        source=counted.source,
        target=counted.target,
        letter=counted.letter,
        weight=weight,
        instant=counted.instant,
    )


def _members(found: Classes, wanted: Marks) -> dict[int, Ints]:
    """The states of the wanted classes: for each size a table with a class in each row."""
    order = np.argsort(found.of, kind="stable")
    start = np.concatenate([[0], np.cumsum(found.size)[:-1]])
    tables = {}
    for size in np.unique(found.size[wanted]).tolist():
        which = np.flatnonzero(wanted & (found.size == size))
        tables[size] = order[start[which][:, None] + np.arange(size)]
    return tables


def _batches(tables: dict[int, Ints]) -> list[Ints]:
    """The tables in pieces, so that their full matrices fit into memory."""
    pieces = []
    for size, table in tables.items():
        step = max(1, 4_000_000 // (size * size)) if size <= stationary.DENSE else 1
        pieces += [table[at : at + step] for at in range(0, len(table), step)]
    return pieces


def _blocks(matrix: sparse.csr_array, table: Ints) -> Floats:
    """The parts of the matrix within each row of the table, as full matrices."""
    pieces, size = table.shape
    piece, position = (np.full(matrix.shape[0], -1), np.zeros(matrix.shape[0], np.int64))
    piece[table] = np.arange(pieces)[:, None]
    position[table] = np.arange(size)
    part = matrix[table.reshape(-1)].tocoo()
    rows, columns = part.coords
    inside = piece[columns] == rows // size
    found = np.zeros((pieces, size, size))
    rows, columns = rows[inside], columns[inside]
    found[rows // size, rows % size, position[columns]] = part.data[inside]
    return found


def _shares_in_time(instant: sparse.csr_array, found: Classes) -> tuple[Floats, float]:
    """The stationary distributions of the recurrent classes, side by side."""
    share = np.zeros(len(found.of))
    error = 0.0
    share[found.recurrent[found.of] & (found.size[found.of] == 1)] = 1
    tables = _members(found, found.recurrent & (found.size > 1))
    for table in _batches(tables):
        size = table.shape[1]
        if size <= stationary.DENSE:
            share[table] = stationary.stationary(_blocks(instant, table))
            error = max(error, 8 * size * _EPS)
        else:
            states = table[0]
            share[states], estimate = stationary.iterated(instant[states][:, states].tocsr())
            error = max(error, estimate)
    return share, error


def _without_cycles(instant: sparse.csr_array, found: Classes) -> tuple[sparse.csr_array, float]:
    """Where transient states lead to when they leave their component, as probabilities; a row of
    a recurrent state has 1 on the diagonal."""
    of = found.of
    edges = instant.tocoo()
    rows, columns = edges.coords
    crossing = of[rows] != of[columns]
    shape = instant.shape
    entries = (edges.data[crossing], (rows[crossing], columns[crossing]))
    out = sparse.csr_array(sparse.coo_array(entries, shape=shape))
    leaving = np.asarray(out.sum(axis=1), np.float64).reshape(-1)
    single = ~found.recurrent[of] & (found.size[of] == 1)
    inverse = np.zeros(shape[0])
    inverse[single] = 1 / leaving[single]
    inverse[found.recurrent[of]] = 1
    parts: list[tuple[Ints, Ints, Floats]] = [(np.arange(shape[0]), np.arange(shape[0]), inverse)]
    large: list[sparse.coo_array] = []
    error = 0.0
    tables = _members(found, ~found.recurrent & (found.size > 1))
    for table in _batches(tables):
        size = table.shape[1]
        if size <= stationary.DENSE:
            times = stationary.visits(_blocks(instant, table), leaving[table])
            at = np.broadcast_to(table[:, :, None], times.shape).reshape(-1)
            to = np.broadcast_to(table[:, None, :], times.shape).reshape(-1)
            parts.append((at, to, times.reshape(-1)))
            error = max(error, 8 * size * _EPS)
        else:
            states = table[0]
            inner = instant[states][:, states].tocsr()
            solved = stationary.visits_times(inner, leaving[states], out[states].tocsr()).tocoo()
            coords = states[solved.coords[0]], solved.coords[1]
            large.append(sparse.coo_array((solved.data, coords), shape=shape))
            error = max(error, 1e-10)
    at, to, times = (np.concatenate(column) for column in zip(*parts, strict=True))
    weights = sparse.csr_array(sparse.coo_array((times, (at, to)), shape=shape))
    stay = sparse.diags_array(found.recurrent[of].astype(float))
    step = sparse.csr_array(weights @ (out + stay))
    for piece in large:
        step = sparse.csr_array(step + piece)
    step.eliminate_zeros()
    return step, error


def _absorbed(step: sparse.csr_array, transient: Marks) -> tuple[sparse.csr_array | None, float]:
    """The recurrent states in which each state ends, with probabilities; None if they are too many
    to be written down.

    As no transient state is met twice any more, 2^k steps at once, for k = 0, 1, …, come to an end
    when k reaches the logarithm of the longest path.
    """
    most = max(_ENTRIES, _GROWTH * step.nnz)
    rounds = 0
    while transient[step.indices].any():
        # The product has at most as many entries as terms are summed.
        if int(np.diff(step.indptr)[step.indices].sum()) > 10 * most:
            return None, 0.0
        rounds += 1
        step = sparse.csr_array(step @ step)
        if step.nnz > most:
            return None, 0.0
    return step, (2.0**rounds) * _EPS


def _solver(step: sparse.csr_array, transient: Marks) -> tuple[Ints, linalg.SuperLU]:
    """The transient states, in an order in which edges lead one way only, and the factors of the
    equations between them; factors of a matrix in that order are no larger than it is, and
    solving is nothing but adding up."""
    states = np.flatnonzero(transient)
    inner = step[states][:, states]
    # The search numbers the components (all single here) in such an order, one way or the other.
    _, place = csgraph.connected_components(inner, directed=True, connection="strong")
    order = np.argsort(place, kind="stable")
    ordered = inner[order][:, order]
    equations = sparse.csc_array(sparse.eye_array(len(states), format="csr") - ordered)
    solver = linalg.splu(
        equations, permc_spec="NATURAL", diag_pivot_thresh=0, options={"SymmetricMode": True}
    )
    return states[order], solver


def eliminate(chain: Chain) -> Macro:
    instant, timed = chain.matrix(instant=True), chain.matrix(instant=False)
    found = classes(chain)
    weight, error = _shares_in_time(instant, found)
    step, more = _without_cycles(instant, found)
    transient = ~found.recurrent[found.of]
    number = np.cumsum(found.recurrent) - 1
    states = np.flatnonzero(~transient)
    shape = (chain.states, int(found.recurrent.sum()))
    entries = (np.ones(len(states)), (states, number[found.of[states]]))
    class_of = sparse.csr_array(sparse.coo_array(entries, shape=shape))
    entries = (weight[states], (number[found.of[states]], states))
    average = sparse.csr_array(sparse.coo_array(entries, shape=shape[::-1]))
    leaving = sparse.csr_array(average @ timed)
    ends, rounded = _absorbed(step, transient)
    share = None if ends is None else sparse.csr_array(ends @ class_of)
    return Macro(leaving, class_of, step, transient, share, error + more + rounded)
