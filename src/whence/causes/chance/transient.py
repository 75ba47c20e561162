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

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from whence.causes.chance.chain import Floats, Marks
from whence.causes.chance.poisson import Tails, tails
from whence.source import UnsupportedError

__all__ = ["Values", "within"]

#: The part of a result that may be left out.
PRECISION = 1e-11
#: How many multiplications may be spent.
EFFORT = 6e10
#: So many multiplications are cheaper than a full matrix, or are tried first.
_MODEST = 5e9
_FULL = 1500
_EPS = float(np.finfo(float).eps)


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """For each state, bounds of its value; besides, each may be wrong by the relative error
    `rounding`, of arithmetic. So many `jumps` of the chain matter for that."""

    low: Floats
    high: Floats
    rounding: float
    jumps: float


def within(
    rates: sparse.csr_array,
    worth: Floats,
    time: float,
    wanted: Marks,
    effort: float = EFFORT,
) -> Values:
    """The expected worth of the state the chain is in after `time`.

    Pre: `worth` is not negative, and positive only in states that are not left. Post: the bounds of
    wanted states are as close as PRECISION demands.
    """
    exits = np.asarray(rates.sum(axis=1)).reshape(-1)
    fastest = 1.02 * float(exits.max(initial=0.0))
    if fastest == 0 or time == 0 or not worth.any():
        return Values(worth, worth, 0.0, 0.0)
    runs = exits > 0
    # Rounding: of a row's sum in each step, and of the rates themselves.
    row = int(np.diff(rates.indptr).max()) + 8
    if fastest * time > 1e9:
        _refuse(fastest * time, len(worth))
    expected = tails(fastest * time)
    inner = rates[runs][:, runs]
    gain = (rates @ worth)[runs] / fastest
    step = sparse.csr_array(inner / fastest + sparse.diags_array(1 - exits[runs] / fastest))
    full_is_cheaper = inner.shape[0] <= _FULL and expected.end * step.nnz > _MODEST
    modest = _MODEST / 10 if full_is_cheaper else effort
    low, high, steps = _summed(step, gain, expected, worth[~runs].max(), wanted[runs], modest)
    if low is None or high is None:
        if not full_is_cheaper:
            _refuse(fastest * time, len(worth))
        low = high = _doubled(inner, gain * fastest, exits[runs], time)
        row = inner.shape[0] + 8
    jumps = max(fastest * time, steps)
    values = []
    for part in (low, high):
        value = worth.astype(np.float64)
        value[runs] = part
        values.append(value)
    return Values(values[0], values[1], jumps * row * _EPS, jumps)


def _refuse(jumps: float, states: int) -> None:
    raise UnsupportedError(
        f"the chain of {states} states makes up to {jumps:.1g} jumps in this time: its fastest"
        " rates are too much faster than what fails; make those transitions immediate (without a"
        " rate) or ask for a shorter time"
    )


def _summed(
    step: sparse.csr_array,
    gain: Floats,
    expected: Tails,
    most: float,
    wanted: Marks,
    effort: float,
) -> tuple[Floats | None, Floats | None, int]:
    """Bounds of Σ_k P(N > k)·step^k·gain, or None if that took more than the effort allows."""
    low = np.zeros(len(gain))
    check = 8
    cost = step.nnz + 4 * len(gain)
    slack = (int(np.diff(step.indptr).max(initial=0)) + 4) * _EPS
    for k in range(expected.end):
        low += expected[k + 1] * gain
        after = step @ gain
        if k + 1 == check or k + 1 >= expected.end:
            check = max(check + 8, check * 5 // 4)
            rest, spread = _rest(k, gain, after, expected, most, slack)
            bottom = low + rest
            if np.all(spread[wanted] <= PRECISION * bottom[wanted]) or k + 1 >= expected.end:
                return bottom, bottom + spread, k + 1
        if (k + 1) * cost > effort:
            return None, None, k + 1
        gain = after
    return low, low, expected.end


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
