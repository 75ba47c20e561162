"""A transition system made ready for the search of causal traces: only what can lead from an
initial state to a bad one, with one bad state, at which everything ends."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import breadth_first_order

from whence.explore.quotient import Graph, quotient
from whence.model.transitions import TransitionSystem

__all__ = ["BAD", "Prepared", "prepare", "relevant"]

Ints = npt.NDArray[np.int32]
Marks = npt.NDArray[np.bool_]

#: The number of the bad state.
BAD = 0


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """`graph` has the one bad state BAD, which nothing leaves; `initial` are states other than
    that. For each action, its states have transitions into others with the same meaning as the
    states of the system that they stand for: see :func:`prepare`."""

    graph: Graph
    initial: tuple[int, ...]
    actions: tuple[str, ...]


def relevant(system: TransitionSystem, bad: Marks) -> Marks:
    """The transitions that lie on a way from an initial state to a bad one, with no bad state
    before its end."""
    kept = ~bad[system.source]
    source, target = system.source[kept], system.target[kept]
    forward = _reached(system.states, source, target, np.asarray(system.initial, np.int64))
    back = _reached(system.states, target, source, np.flatnonzero(bad & forward))
    useful: Marks = kept & forward[system.source] & back[system.target] & forward[system.target]
    return useful


def _reached(states: int, source: Ints, target: Ints, starts: npt.NDArray[np.int64]) -> Marks:
    """The states on paths from `starts`; one more state leads to all of these."""
    rows = np.concatenate([source, np.full(len(starts), states, np.int32)])
    columns = np.concatenate([target, starts.astype(np.int32)])
    matrix = csr_matrix(
        (np.ones(len(rows), np.int8), (rows, columns)), shape=(states + 1, states + 1)
    )
    order = breadth_first_order(matrix, states, return_predecessors=False)
    found = np.zeros(states + 1, bool)
    found[order] = True
    return found[:states]


def prepare(system: TransitionSystem, bad: Marks) -> Prepared:
    """The part of a system that matters, up to states for which the same words contain the action
    trace of a way to a bad state: for minimal bad traces nothing else about a state counts."""
    useful = relevant(system, bad)
    source, action, target = (
        column[useful] for column in (system.source, system.action, system.target)
    )
    initial = np.asarray(system.initial, np.int64)
    seen = np.zeros(system.states, bool)
    seen[source] = True
    seen[target] = True
    seen &= ~bad
    number = np.cumsum(seen, dtype=np.int32)
    number[~seen] = BAD
    graph = Graph.of(int(seen.sum()) + 1, number[source], action, number[target])
    coarse = np.ones(graph.states, np.int32)
    coarse[BAD] = 0
    small = quotient(graph, coarse, loops=True)
    starts = {int(small.block[number[state]]) for state in initial.tolist() if seen[state]}
    return Prepared(
        small.graph, tuple(sorted(starts)), tuple(found.name for found in system.actions)
    )
