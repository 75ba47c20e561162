"""Reaching states within a time, in chains with immediate edges: what is irrelevant is left out,
what behaves alike is lumped, immediate edges are removed, and the rest is computed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from whence.causes.chance.chain import Chain, Floats, Ints, Marks, backward, forward
from whence.causes.chance.lumping import lump, quotient
from whence.causes.chance.transient import Rates, Values, within
from whence.causes.chance.vanishing import eliminate, only_tangible

__all__ = ["Reached", "reach", "stop"]

_TINY = 1e-290


@dataclass(frozen=True, slots=True, eq=False)
class Reached:
    """For each state the expected worth; `error` bounds how far it is off, where it was wanted.
    `lumped` is the number of states that were left to compute with."""

    value: Floats
    error: Floats
    lumped: int


def stop(chain: Chain, stopped: Marks) -> Chain:
    """The chain that ends in the stopped states."""
    return chain.only(~stopped[chain.source])


def _relevant(chain: Chain, worth: Floats, wanted: Marks) -> tuple[Chain, Floats, Ints]:
    """What lies on ways from wanted states to worth, renumbered; state 0 is all the rest, which
    is not left. Also which of the new states each old one is."""
    kept = forward(chain, wanted) & backward(chain, worth > 0)
    number = np.where(kept, np.cumsum(kept), 0)
    inner = chain.only(kept[chain.source])
    smaller = Chain(
        states=int(kept.sum()) + 1,
        source=number[inner.source],
        target=number[inner.target],
        letter=inner.letter,
        weight=inner.weight,
        instant=inner.instant,
    )
    return smaller, np.concatenate([[0.0], worth[kept]]), number


def reach(chain: Chain, worth: Floats, time: float, wanted: Marks) -> Reached:
    """The expected worth of the state in which the chain is after `time`, from each wanted state.

    Pre: `worth` is not negative, and states with a positive one are not left (see `stop`). Nobody
    listens to letters.
    """
    small, small_worth, number = _relevant(only_tangible(chain), worth, wanted)
    partition = lump(small, small_worth)
    lumped = quotient(small, partition)
    lumped_worth = small_worth[partition.example]
    wanted_blocks = np.zeros(partition.blocks, bool)
    wanted_blocks[partition.block[number[wanted]]] = True
    values, error, size = _solve(lumped, lumped_worth, time, wanted_blocks)
    which = partition.block[number]
    value = (values.low + values.high) / 2
    # What is smaller than the smallest normal numbers has lost its digits.
    off = (values.high - values.low) / 2 + value * (values.rounding + error) + _TINY
    return Reached(np.where(number > 0, value[which], 0), np.where(number > 0, off[which], 0), size)


@dataclass(frozen=True, slots=True, eq=False)
class _Through:
    """Moves between recurrent classes: out of them into states, and from there on at once."""

    leaving: sparse.csr_array
    ends: Callable[[Floats], Floats]
    effort: int

    @property
    def exits(self) -> Floats:
        return np.asarray(self.leaving.sum(axis=1), np.float64).reshape(-1)

    @property
    def row(self) -> int:
        # Each value is a sum of sums of sums, along the longest way.
        return int(np.diff(self.leaving.indptr).max(initial=0)) + 64

    def into(self, values: Floats) -> Floats:
        found: Floats = self.leaving @ self.ends(values)
        return found


def _solve(chain: Chain, worth: Floats, time: float, wanted: Marks) -> tuple[Values, float, int]:
    """Of a lumped chain; also the relative error of removing immediate edges."""
    if not chain.instant.any():
        moves = Rates(chain.matrix(instant=False))
        return within(moves, worth, time, wanted), 0.0, chain.states
    macro = eliminate(chain)
    rates = macro.rates()
    own = np.flatnonzero(worth > 0)
    # A state with a worth is not left, and so is a class of its own.
    ends = np.zeros(macro.leaving.shape[0])
    ends[macro.class_of[own].indices] = worth[own]
    if rates is None or macro.share is None:
        after = macro.ends()
        through = _Through(macro.leaving, after, macro.leaving.nnz + 2 * macro.step.nnz)
        # The wanted states may end anywhere.
        found = within(through, ends, time, np.ones(len(ends), bool))
        low, high, size = after(found.low), after(found.high), len(ends)
    else:
        edges = rates.tocoo()
        between = Chain(
            states=len(ends),
            source=edges.coords[0].astype(np.int64),
            target=edges.coords[1].astype(np.int64),
            letter=np.zeros(edges.nnz, np.int64),
            weight=edges.data,
            instant=np.zeros(edges.nnz, bool),
        )
        partition = lump(between, ends)
        size = partition.blocks
        wanted_blocks = np.zeros(size, bool)
        wanted_blocks[partition.block[macro.share[np.flatnonzero(wanted)].indices]] = True
        smaller = Rates(quotient(between, partition).matrix(instant=False))
        found = within(smaller, ends[partition.example], time, wanted_blocks)
        low = macro.share @ found.low[partition.block]
        high = macro.share @ found.high[partition.block]
    # An error of the rates counts once for every jump, that of the shares once.
    values = Values(low, high, found.rounding, found.jumps)
    return values, macro.error * (found.jumps + 1), size
