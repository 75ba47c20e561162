"""Reaching states within a time: uniformisation (Jensen), with bounds on both sides.

Let P = I + Q/q, and let d_0 be what the first step gains: with P restricted to the states in
which the chain still runs, d_k = P^k d_0 is what is gained in step k + 1, and after time t, with N
jumps of a Poisson process of rate q,

    value(t) = worth + Σ_k P(N > k) d_k.

All terms are positive, so that the result is right to a relative error however small it is. One
pass gives the values of all initial states.

What is left out after step K lies between two bounds: wherever a·d_K ≤ d_{K+1} ≤ b·d_K for each
state, then a^j·d_K ≤ d_{K+j} ≤ b^j·d_K for all j, as P has no negative entry. Once a chain has
settled into the manner in which it fails, a and b meet, and the rest of even millions of steps is
known; where little is to come anyway, the bound is that of the tail.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn, Protocol

import numpy as np
from scipy import sparse

from whence.causes.chance.chain import Floats, Marks
from whence.causes.chance.poisson import Tails, tails
from whence.source import UnsupportedError

__all__ = ["Moves", "Rates", "Values", "within"]

#: The part of a result that may be left out.
PRECISION = 1e-11
#: How many multiplications may be spent.
EFFORT = 6e10
#: So many multiplications are cheaper than a full matrix, or are tried first.
_MODEST = 5e9
_FULL = 1500
_EPS = float(np.finfo(float).eps)


class Moves(Protocol):
    """The rates between the states of a chain, however they are kept. `effort` is the number of
    multiplications for one `into`, `row` the most for one of its results."""

    @property
    def exits(self) -> Floats:
        """At what rate each state is left."""

    @property
    def effort(self) -> int: ...
    @property
    def row(self) -> int: ...

    def into(self, values: Floats) -> Floats:
        """For each state the sum of rate times value over the states it leads to."""


@dataclass(frozen=True, slots=True, eq=False)
class Rates:
    """Moves as a matrix."""

    matrix: sparse.csr_array

    @property
    def exits(self) -> Floats:
        return np.asarray(self.matrix.sum(axis=1), np.float64).reshape(-1)

    @property
    def effort(self) -> int:
        return int(self.matrix.nnz)

    @property
    def row(self) -> int:
        return int(np.diff(self.matrix.indptr).max(initial=0))

    def into(self, values: Floats) -> Floats:
        found: Floats = self.matrix @ values
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """For each state, bounds of its value; besides, each may be wrong by the relative error
    `rounding`, of arithmetic. So many `jumps` of the chain matter for that."""

    low: Floats
    high: Floats
    rounding: float
    jumps: float


def within(
    moves: Moves,
    worth: Floats,
    time: float,
    wanted: Marks,
    effort: float = EFFORT,
) -> Values:
    """The expected worth of the state the chain is in after `time`.

    Pre: `worth` is not negative, and positive only in states that are not left. Post: the bounds of
    wanted states are as close as PRECISION demands, or as rounding allows.
    """
    exits = moves.exits
    fastest = 1.02 * float(exits.max(initial=0.0))
    if fastest == 0 or time == 0 or not worth.any():
        return Values(worth, worth, 0.0, 0.0)
    if fastest * time > 1e9:
        _refuse(fastest * time, len(worth))
    runs = exits > 0
    gain = moves.into(worth)[runs] / fastest
    step = _stepper(moves, runs, fastest)
    expected = tails(fastest * time)
    # Rounding: of a row's sum in each step, and of the rates themselves.
    row = moves.row + 8
    small = isinstance(moves, Rates) and len(gain) <= _FULL
    if small and expected.end * moves.effort > _MODEST:
        effort = min(effort, _MODEST / 10)
    cost = moves.effort + 4 * len(gain)
    most, slack = float(worth.max()), row * _EPS
    summed = _summed(step, gain, expected, most, slack, wanted[runs], int(effort / cost) + 1)
    if summed is not None:
        low, high, steps = summed
    elif isinstance(moves, Rates) and small:
        inner = moves.matrix[runs][:, runs]
        low = high = _doubled(inner, gain * fastest, exits[runs], time)
        row, steps = len(gain) + 8, 0
    else:
        _refuse(fastest * time, len(worth))
    jumps = max(fastest * time, steps)
    values = []
    for part in (low, high):
        value = worth.astype(np.float64)
        value[runs] = part
        values.append(value)
    return Values(values[0], values[1], jumps * row * _EPS, jumps)


def _stepper(moves: Moves, runs: Marks, fastest: float) -> Callable[[Floats], Floats]:
    """P, for values of the states in which the chain still runs."""
    stays = 1 - moves.exits[runs] / fastest
    if isinstance(moves, Rates):
        matrix = moves.matrix[runs][:, runs] / fastest + sparse.diags_array(stays)
        return Rates(sparse.csr_array(matrix)).into

    def apply(values: Floats) -> Floats:
        everywhere = np.zeros(len(runs))
        everywhere[runs] = values
        found: Floats = moves.into(everywhere)[runs] / fastest + stays * values
        return found

    return apply


def _refuse(jumps: float, states: int) -> NoReturn:
    raise UnsupportedError(
        f"the chain of {states} states makes up to {jumps:.1g} jumps in this time: its fastest"
        " rates are too much faster than what fails; make those transitions immediate (without a"
        " rate) or ask for a shorter time"
    )


def _summed(
    step: Callable[[Floats], Floats],
    gain: Floats,
    expected: Tails,
    most: float,
    slack: float,
    wanted: Marks,
    steps: int,
) -> tuple[Floats, Floats, int] | None:
    """Bounds of Σ_k P(N > k)·step^k·gain, and how many terms that took; None if more than `steps`.
    `slack` is the relative rounding of a step, and `most` the most that the sum can be."""
    low = np.zeros(len(gain))
    check = 8
    # Many steps are not known better than the ratios, which are rounded.
    precision = max(PRECISION, 4 * slack * expected.end)
    for k in range(min(steps, expected.end)):
        low += expected[k + 1] * gain
        after = step(gain)
        if k + 1 == check or k + 1 == expected.end:
            check = max(check + 8, check * 5 // 4)
            rest, spread = _rest(k, gain, after, expected, most, slack)
            bottom = low + rest
            if np.all(spread[wanted] <= precision * bottom[wanted]) or k + 1 == expected.end:
                return bottom, bottom + spread, k + 1
        gain = after
    return None


def _rest(
    k: int, gain: Floats, after: Floats, expected: Tails, most: float, slack: float
) -> tuple[Floats, Floats]:
    """What the steps after step k add: at least the first, and at most the second more."""
    largest = float(gain.max(initial=0.0))
    tail = expected.geometric(k + 1, 1.0)
    upper = np.full(len(gain), min(expected[k + 2] * most, largest * tail))
    lower = np.zeros(len(gain))
    positive = gain > 0
    if positive.all():
        with np.errstate(under="ignore", over="ignore"):
            ratio = after / gain
            slowest = max(float(ratio.min()) * (1 - slack), 1e-300)
            lower = gain * expected.geometric(k + 1, slowest)
            quickest = float(ratio.max()) * (1 + slack)
            upper = np.minimum(upper, gain * expected.geometric(k + 1, quickest))
    return lower, np.maximum(upper - lower, 0)


def _doubled(inner: sparse.csr_array, gain: Floats, exits: Floats, time: float) -> Floats:
    """The same by a full matrix that is squared, of non-negative numbers only: M(t) is where the
    chain is after t if it still runs, v(t) the value; v(2t) = v(t) + M(t)·v(t), M(2t) = M(t)²."""
    size = inner.shape[0]
    fastest = 1.02 * float(exits.max())
    doublings = max(0, int(np.ceil(np.log2(fastest * time))))
    short = time / 2**doublings
    stays = np.diag((fastest - exits) / fastest)
    step = inner.toarray() / fastest + stays
    expected = tails(fastest * short)
    weight = float(np.exp(-fastest * short))
    power, reward = np.eye(size), gain / fastest
    matrix, value = np.zeros((size, size)), np.zeros(size)
    for k in range(min(expected.end, 40)):
        matrix += weight * power
        value += expected[k + 1] * reward
        power, reward = step @ power, step @ reward
        weight *= fastest * short / (k + 1)
    for _ in range(doublings):
        value = value + matrix @ value
        matrix = matrix @ matrix
    return value
