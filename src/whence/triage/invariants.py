"""Bounds on single clocks that hold in a state, whichever run leads there.

A forward analysis with one interval a state and clock: its bounds are constants of guards, 0 or
none, so that it ends. "In p4 the clock is below 55" follows if the clock is reset on the way in
and time may pass only below 55. Such bounds go without saying: they belong to no explanation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import assert_never

import numpy as np
import numpy.typing as npt

from whence.model.prd import AllOf, AnyOf, ClockBound, Comparison, Guard, Not, PrdAutomaton
from whence.zones.dates import FAR, NON_NEGATIVE, Dates, at_most

__all__ = ["invariants"]

_UNREACHED = -FAR

#: (clock, side): side 0 bounds the clock from above, side 1 its negative.
_Bounds = dict[tuple[int, int], int]


def invariants(
    automaton: PrdAutomaton, numbers: Mapping[str, int], scale: int
) -> tuple[Dates, ...]:
    """For each state constraints (i, j, raw), see :mod:`whence.zones.dates`."""
    clocks = {clock.name: n for n, clock in enumerate(automaton.clocks)}
    count, width = len(automaton.states), 2 * len(clocks)
    nothing = np.empty((0, 3), np.int64)
    if not clocks:
        return (nothing,) * count
    guards: dict[int, tuple[Guard, _Bounds]] = {}

    def bounds(guard: Guard) -> _Bounds:
        if id(guard) not in guards:
            guards[id(guard)] = guard, _bounds(guard, True, clocks, scale)
        return guards[id(guard)][1]

    bound = np.full((count, width), _UNREACHED, np.int64)
    for start in automaton.initial:
        known = bounds(start.guard)
        for clock in automaton.clocks:
            c = None if clock.initial is None else int(clock.initial * scale)
            at = 2 * clocks[clock.name]
            for side in (0, 1):
                raw = NON_NEGATIVE if side else FAR
                if c is not None:
                    raw = at_most(-c if side else c)
                raw = min(raw, known.get((at // 2, side), FAR))
                row = numbers[start.state]
                bound[row, at + side] = max(bound[row, at + side], raw)
    transitions = automaton.transitions
    if transitions:
        _propagate(automaton, numbers, clocks, bounds_of=bounds, bound=bound)
    found = []
    for bounded in bound.tolist():
        rows = []
        for n in range(len(clocks)):
            above, below = bounded[2 * n], bounded[2 * n + 1]
            if _UNREACHED < above < FAR:
                rows.append((n + 1, 0, above))
            if _UNREACHED < below < NON_NEGATIVE:
                rows.append((0, n + 1, below))
        found.append(np.array(rows, np.int64).reshape(-1, 3) if rows else nothing)
    return tuple(found)


def _propagate(
    automaton: PrdAutomaton,
    numbers: Mapping[str, int],
    clocks: Mapping[str, int],
    bounds_of: Callable[[Guard], _Bounds],
    bound: npt.NDArray[np.int64],
) -> None:
    """Raise bounds until no transition leads out of them."""
    transitions = automaton.transitions
    width = bound.shape[1]
    # After a transition a bound is the lesser of `most` and, where `keeps`, the one before.
    most = np.full((len(transitions), width), FAR, np.int64)
    keeps = np.ones((len(transitions), width), bool)
    for n, transition in enumerate(transitions):
        for (clock, side), raw in bounds_of(transition.guard).items():
            most[n, 2 * clock + side] = raw
        if transition.pattern is None:
            keeps[n, ::2] = False
        for name in transition.resets:
            at = 2 * clocks[name]
            most[n, at : at + 2] = NON_NEGATIVE
            keeps[n, at : at + 2] = False
    source = np.array([numbers[t.source] for t in transitions])
    target = np.array([numbers[t.target] for t in transitions])
    order = np.argsort(target, kind="stable")
    source, target, most, keeps = source[order], target[order], most[order], keeps[order]
    places = np.flatnonzero(np.r_[True, target[1:] != target[:-1]])
    into = target[places]
    while True:
        before = bound[source]
        after = np.where(keeps, np.minimum(before, most), most)
        after[before[:, 0] == _UNREACHED] = _UNREACHED
        raised = np.maximum(bound[into], np.maximum.reduceat(after, places, axis=0))
        if np.array_equal(raised, bound[into]):
            return
        bound[into] = raised


def _bounds(guard: Guard, wanted: bool, clocks: Mapping[str, int], scale: int) -> _Bounds:
    """What the guard (or its negation) implies for single clocks."""
    match guard:
        case Not():
            return _bounds(guard.part, not wanted, clocks, scale)
        case Comparison():
            return {}
        case ClockBound():
            return {} if guard.minus else _of_bound(guard, wanted, clocks, scale)
        case AllOf() | AnyOf():
            parts = [_bounds(part, wanted, clocks, scale) for part in guard.parts]
            if isinstance(guard, AllOf) == wanted:
                keys = {key for part in parts for key in part}
                return {key: min(part.get(key, FAR) for part in parts) for key in keys}
            if not parts:
                return {}
            common = set.intersection(*(set(part) for part in parts))
            return {key: max(part[key] for part in parts) for key in common}
        case _:
            assert_never(guard)


def _of_bound(guard: ClockBound, wanted: bool, clocks: Mapping[str, int], scale: int) -> _Bounds:
    clock, c = clocks[guard.clock], int(guard.bound * scale)
    operator = guard.operator
    above = {"<": "<", "<=": "<=", "==": "<="} if wanted else {">": "<=", ">=": "<", "!=": "<="}
    below = {">": ">", ">=": ">=", "==": ">="} if wanted else {"<": ">=", "<=": ">", "!=": ">="}
    found: _Bounds = {}
    if operator in above:
        found[clock, 0] = at_most(c, above[operator] == "<")
    if operator in below:
        found[clock, 1] = at_most(-c, below[operator] == ">")
    return found
