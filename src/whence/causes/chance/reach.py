"""Reaching states within a time, in chains with immediate edges: what is irrelevant is left out,
what behaves alike is lumped, immediate edges are removed, and the rest is computed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whence.causes.chance.chain import Chain, Floats, Ints, Marks, backward, forward
from whence.causes.chance.lumping import lump, quotient
from whence.causes.chance.transient import Values, within
from whence.causes.chance.vanishing import eliminate, only_tangible

__all__ = ["Reached", "reach", "stop"]


@dataclass(frozen=True, slots=True, eq=False)
class Reached:
    """For each state the expected worth; `error` bounds its relative error where it was wanted.
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
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = np.where(value > 0, (values.high - values.low) / 2 / value, 0.0)
    found = value[which]
    found[number == 0] = 0.0
    return Reached(found, (spread + values.rounding + error)[which], size)


def _solve(chain: Chain, worth: Floats, time: float, wanted: Marks) -> tuple[Values, float, int]:
    """Of a lumped chain; also the relative error of removing immediate edges."""
    if not chain.instant.any():
        return within(chain.matrix(instant=False), worth, time, wanted), 0.0, chain.states
    macro = eliminate(chain)
    # A state with a worth is not left, and so is a class of its own.
    ends = np.zeros(macro.rates.shape[0])
    own = np.flatnonzero(worth > 0)
    ends[macro.share[own].indices] = worth[own]
    edges = macro.rates.tocoo()
    rows, columns = edges.coords
    size = macro.rates.shape[0]
    between = Chain(
        states=size,
        source=rows.astype(np.int64),
        target=columns.astype(np.int64),
        letter=np.zeros(len(rows), np.int64),
        weight=edges.data,
        instant=np.zeros(len(rows), bool),
    )
    partition = lump(between, ends)
    smaller = quotient(between, partition)
    wanted_blocks = np.zeros(partition.blocks, bool)
    wanted_blocks[partition.block[macro.share[np.flatnonzero(wanted)].indices]] = True
    found = within(smaller.matrix(instant=False), ends[partition.example], time, wanted_blocks)
    values = Values(
        low=macro.share @ found.low[partition.block],
        high=macro.share @ found.high[partition.block],
        rounding=found.rounding,
        jumps=found.jumps,
    )
    # An error of the rates counts once for every jump, that of the shares once.
    return values, macro.error * (found.jumps + 1), partition.blocks
