"""How likely is the hazard, how likely is it by each cause, and how likely is it that the emergency
mode fails? (Koelbl, section 3.5, last part, and section 7.3.)

Times are in hours, rates are so many times an hour. A system with several initial states has the
probability of the worst of them. `like_thesis` gives each transition without a rate the
`default_rate`, where otherwise it is immediate: see :mod:`whence.causes.chance.chain`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from whence.causes.chance.chain import Chain, Floats, Ints, Marks, backward, marks_of
from whence.causes.chance.lumping import lump, quotient
from whence.causes.chance.monitor import Monitor
from whence.causes.chance.product import product
from whence.causes.chance.reach import Reached, reach, stop
from whence.causes.chance.vanishing import only_tangible
from whence.causes.results import Absent, Cause, Event, Order
from whence.model.transitions import TransitionSystem
from whence.source import UsageError

__all__ = [
    "Probability",
    "cause_probabilities",
    "cause_probability",
    "emergency",
    "hazard_probability",
]


@dataclass(frozen=True, slots=True)
class Probability:
    """`value` is at most `error` away from the truth. It was computed from `states`, of which
    `lumped_states` were left after those that behave alike became one."""

    value: float
    error: float
    states: int
    lumped_states: int


def _time(hours: Fraction | float) -> float:
    time = float(hours)
    if not (0 <= time < np.inf):
        raise UsageError(f"a time of {hours} hours makes no sense")
    return time


def _rate(like_thesis: bool, default_rate: float) -> float | None:
    return default_rate if like_thesis else None


def _quiet(system: TransitionSystem) -> Ints:
    return np.zeros(len(system.actions), np.int64)


def _initial(system: TransitionSystem) -> tuple[Ints, Marks]:
    initial = np.array(system.initial, np.int64)
    marks = np.zeros(system.states, bool)
    marks[initial] = True
    return initial, marks


def _worst(found: Reached, initial: Ints, states: int) -> Probability:
    if not len(initial):
        return Probability(0.0, 0.0, states, found.lumped)
    state = initial[int(np.argmax(found.value[initial]))]
    value = min(float(found.value[state]), 1.0)
    return Probability(value, float(found.error[state]), states, found.lumped)


def hazard_probability(
    system: TransitionSystem,
    bad: str | Marks,
    hours: Fraction | float,
    *,
    like_thesis: bool = False,
    default_rate: float = 1.0,
) -> Probability:
    """That the system gets into a bad state within the time."""
    time, marks = _time(hours), marks_of(system, bad)
    chain = stop(Chain.of(system, _quiet(system), _rate(like_thesis, default_rate)), marks)
    initial, wanted = _initial(system)
    return _worst(reach(chain, marks.astype(float), time, wanted), initial, system.states)


def cause_probability(
    system: TransitionSystem,
    bad: str | Marks,
    events: Sequence[Event],
    order: Order,
    hours: Fraction | float,
    *,
    absent: Sequence[Absent] = (),
    like_thesis: bool = False,
    default_rate: float = 1.0,
) -> Probability:
    """That the system gets into a bad state within the time, by a run that has the cause: see
    :mod:`whence.causes.chance.monitor`."""
    return _by_causes(
        system, bad, [Monitor(events, order, absent)], hours, _rate(like_thesis, default_rate)
    )[0]


def cause_probabilities(
    system: TransitionSystem,
    bad: str | Marks,
    causes: Sequence[Cause],
    hours: Fraction | float,
    *,
    like_thesis: bool = False,
    default_rate: float = 1.0,
) -> tuple[Probability, ...]:
    """The same for several causes, which is quicker than one by one."""
    monitors = [Monitor(cause.events, cause.order, cause.absent) for cause in causes]
    return _by_causes(system, bad, monitors, hours, _rate(like_thesis, default_rate))


def _by_causes(
    system: TransitionSystem,
    bad: str | Marks,
    monitors: Sequence[Monitor],
    hours: Fraction | float,
    default_rate: float | None,
) -> tuple[Probability, ...]:
    time, marks = _time(hours), marks_of(system, bad)
    watched = frozenset[str]().union(*(monitor.actions for monitor in monitors))
    names = [action.name for action in system.actions if action.name in watched]
    number = {name: index for index, name in enumerate(names, 1)}
    letters = np.array([number.get(action.name, 0) for action in system.actions], np.int64)
    chain = only_tangible(stop(Chain.of(system, letters, default_rate), marks))
    # States that cannot get to a bad one, or are bad, are alike whatever happens in them.
    helpless = ~backward(chain, marks)
    chain = stop(chain, helpless)
    partition = lump(chain, np.where(helpless, 2, marks.astype(np.int64)))
    smaller = quotient(chain, partition)
    small_bad = marks[partition.example]
    initial, _ = _initial(system)
    results = []
    for monitor in monitors:
        pairs, worth, starts = product(smaller, small_bad, partition.block[initial], monitor, names)
        wanted = np.zeros(pairs.states, bool)
        wanted[starts] = True
        results.append(_worst(reach(pairs, worth, time, wanted), starts, pairs.states))
    return tuple(results)


def emergency(
    system: TransitionSystem,
    bad: str | Marks,
    activation: str | Marks,
    t_dc: Fraction | float,
    t1: Fraction | float,
    *,
    like_thesis: bool = False,
    default_rate: float = 1.0,
) -> Probability:
    """That the emergency mode is activated within the driving cycle `t_dc`, and the system then
    fails within `t1`, or has failed already (safety goal SG3; section 7.3, step 3).

    With S the states in which the activation holds, it is the sum, over all s in S, of

        P(s is the first state of S that is reached, within t_dc) · P(bad within t1, from s).

    A state of S that is bad contributes its first factor: the emergency mode is "not available on
    demand". A run that fails before any activation ends there and does not count, which is the
    reason that the thesis gives for its result ("variant 2 fails with higher probability without
    entering the emergency mode"), and is needed to get it.
    """
    cycle, operation = _time(t_dc), _time(t1)
    marks, active = marks_of(system, bad), marks_of(system, activation)
    chain = Chain.of(system, _quiet(system), _rate(like_thesis, default_rate))
    failing = reach(stop(chain, marks), marks.astype(float), operation, active)
    worth: Floats = np.where(active, failing.value, 0.0)
    initial, wanted = _initial(system)
    activated = reach(stop(chain, active | marks), worth, cycle, wanted)
    found = _worst(activated, initial, system.states)
    # The error of the worth of each state counts as often as that is reached.
    doubtful = reach(stop(chain, active | marks), np.where(active, failing.error, 0), cycle, wanted)
    more = _worst(doubtful, initial, system.states)
    return Probability(
        found.value,
        found.error + more.value + more.error,
        found.states,
        max(found.lumped_states, failing.lumped),
    )
