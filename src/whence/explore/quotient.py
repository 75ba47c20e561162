"""Transition systems with fewer states that do the same.

Partition refinement by signatures (Blom & Orzan 2002), from a partition that is given.  What is
computed is the coarsest bisimulation; or, where transitions within a block do not count (`loops`),
the coarsest bisimulation of the system with a loop of every action at every state.  The latter
keeps, for each state, which words *contain* the word of a path to a given block.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from whence.explore.kernels import words

__all__ = ["Graph", "Quotient", "quotient"]

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Graph:
    """Transitions sorted by (source, action, target): those of state s are `start[s]` up to
    `start[s + 1] - 1`."""

    start: Longs
    action: Ints
    target: Ints

    @staticmethod
    def of(states: int, source: Ints, action: Ints, target: Ints) -> Graph:
        order = np.lexsort((target, action, source))
        start = np.zeros(states + 1, np.int64)
        np.cumsum(np.bincount(source, minlength=states), out=start[1:])
        return Graph(start, action[order], target[order])

    @property
    def states(self) -> int:
        return len(self.start) - 1

    @property
    def source(self) -> Ints:
        return np.repeat(np.arange(self.states, dtype=np.int32), np.diff(self.start))


@dataclass(frozen=True, slots=True, eq=False)
class Quotient:
    """`block` says for each state in which it is; blocks are numbered by their first states. In
    `graph`, transitions within a block are left out where these do not count."""

    block: Ints
    graph: Graph

    @property
    def blocks(self) -> int:
        return self.graph.states


def quotient(graph: Graph, coarse: Ints, *, loops: bool) -> Quotient:
    """The quotient by the coarsest bisimulation that refines the partition `coarse` (which gives
    each state a number). `loops`: as if every state had a loop of every action."""
    states = graph.states
    block = np.unique(coarse, return_inverse=True)[1].reshape(-1).astype(np.int32)
    blocks = int(block.max(initial=-1)) + 1
    degree = int(np.diff(graph.start).max(initial=0))
    keys, others = np.empty(degree, np.int64), np.empty(degree, np.int64)
    first, second = np.empty(states, np.int64), np.empty(states, np.int64)
    slots = np.empty(1 << max(4, (2 * states).bit_length()), np.int32)
    example = np.empty(states, np.int32)
    arrays = (graph.start, graph.action, graph.target)
    while True:
        words.signatures(*arrays, block, blocks, not loops, keys, first, second)
        slots.fill(-1)
        count = int(words.number_signatures(first, second, slots, block, example))
        if count == blocks:
            break
        blocks = count
    # Two signatures with the same hashes would have been taken for one.
    wrong = words.differing(
        *arrays, block, blocks, not loops, example[:blocks], coarse, keys, others
    )
    if wrong >= 0:
        raise ArithmeticError(f"two states have the same hashes, but differ: state {wrong}")
    source = block[graph.source]
    target = block[graph.target]
    if loops:
        kept = source != target
        source, action, target = source[kept], graph.action[kept], target[kept]
    else:
        action = graph.action
    table = np.unique(np.stack([source, action, target], axis=1), axis=0)
    return Quotient(
        block,
        Graph.of(blocks, *(np.ascontiguousarray(table[:, column]) for column in range(3))),
    )
