"""Systems without silent actions: what is left are the actions that count in traces.

Let `s => t` say that some silent transitions lead from s to t.  The visible traces of a system
stay what they are if each `s => x` with a transition from x with `a` to t becomes one transition
from s with `a` to t, and if each transition to a state t from which a bad state b can be reached
silently gets a second one, with the same action, from s to b: then a trace is bad if some
execution that shows it is bad, and good if some other one is good.
"""

from __future__ import annotations

from array import array
from collections import deque
from dataclasses import replace
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from whence.causes.exploration import bad_states
from whence.model.transitions import TransitionSystem
from whence.source import UnsupportedError

__all__ = ["has_silent", "without_silent"]

Numbers = npt.NDArray[np.int64]

#: So many pairs `s => t`, or transitions, are made at most.
MAX_PAIRS = 50_000_000


def has_silent(system: TransitionSystem) -> bool:
    """Whether some transition is silent, or can be where the system was not explored."""
    silent = np.array([action.silent for action in system.actions], bool)
    return bool(silent.any() and (not system.complete or silent[system.action].any()))


def without_silent(system: TransitionSystem, bad: str = "bad") -> TransitionSystem:
    """The system with its silent transitions eliminated; itself, if it has none.

    States keep their numbers, and there may be more initial ones: a bad state that an initial
    one reaches silently becomes initial.  States that no visible transition leads to keep none.
    Rates say nothing about such a system, so that it has none.  An incomplete system stays so,
    with `explored_depth` counting visible transitions; None if what an initial state reaches
    silently was not all explored.
    """
    if not has_silent(system):
        return system
    marks = bad_states(system, bad)
    silent = np.array([action.silent for action in system.actions], bool)[system.action]
    visible_source, visible_action, visible_target = (
        values[~silent].astype(np.int64) for values in (system.source, system.action, system.target)
    )
    initial = np.unique(np.array(system.initial, np.int64))
    needed = np.unique(np.concatenate((initial, visible_target[~marks[visible_source]])))
    steps = silent & ~marks[system.source]
    first, reached = _silently_reached(
        system.states,
        system.source[steps].astype(np.int64),
        system.target[steps].astype(np.int64),
        needed,
    )

    # Visible transitions, moved back along `=>`. Nothing is explored beyond a bad state.
    going_on = ~marks[reached]
    pair, transition = _join(reached[going_on], visible_source, system.states)
    source = first[going_on][pair]
    action, target = visible_action[transition], visible_target[transition]

    # A bad state that can be reached silently: the first, if there are several.
    reached_bad = np.full(system.states, -1, np.int64)
    hits = np.flatnonzero(marks[reached])[::-1]
    reached_bad[first[hits]] = reached[hits]
    reached_bad[marks] = -1
    also = reached_bad[target] >= 0
    source = np.concatenate((source, source[also]))
    target = np.concatenate((target, reached_bad[target[also]]))
    action = np.concatenate((action, action[also]))
    rows = np.unique(np.stack((source, action, target), axis=1), axis=0)
    initially_bad = reached_bad[initial]

    kept = [number for number, info in enumerate(system.actions) if not info.silent]
    renumbered = np.zeros(len(system.actions), np.int64)
    renumbered[kept] = range(len(kept))
    result = replace(
        system,
        actions=tuple(system.actions[number] for number in kept),
        source=rows[:, 0].astype(np.int32),
        action=renumbered[rows[:, 1]].astype(np.int32),
        target=rows[:, 2].astype(np.int32),
        initial=(
            *system.initial,
            *np.setdiff1d(initially_bad[initially_bad >= 0], initial).tolist(),
        ),
        propositions=MappingProxyType({**system.propositions, bad: marks}),
        rate=None,
    )
    if system.complete or system.explored_depth is None:
        return result
    return replace(result, explored_depth=_explored(system, result, first, reached))


def _silently_reached(
    states: int, source: Numbers, target: Numbers, needed: Numbers
) -> tuple[Numbers, Numbers]:
    """All pairs s => t with s in `needed`; s => s is one of them."""
    following: dict[int, list[int]] = {}
    for before, after in zip(source.tolist(), target.tolist(), strict=True):
        following.setdefault(before, []).append(after)
    seen = array("q", [-1]) * states
    firsts, reached = array("q"), array("q")
    for start in needed.tolist():
        seen[start] = start
        pending = [start]
        while pending:
            state = pending.pop()
            firsts.append(start)
            reached.append(state)
            for after in following.get(state, ()):
                if seen[after] != start:
                    seen[after] = start
                    pending.append(after)
        _check_size(len(firsts))
    return np.array(firsts, np.int64), np.array(reached, np.int64)


def _join(states_of_pairs: Numbers, source: Numbers, states: int) -> tuple[Numbers, Numbers]:
    """All (number of a pair, number of a transition) such that the transition leaves the state of
    the pair."""
    order = np.argsort(source, kind="stable")
    counts = np.bincount(source, minlength=states)
    starts = np.cumsum(counts) - counts
    lengths = counts[states_of_pairs]
    total = int(lengths.sum())
    _check_size(total)
    pair = np.repeat(np.arange(len(states_of_pairs)), lengths)
    within = np.arange(total) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return pair, order[starts[states_of_pairs[pair]] + within]


def _check_size(size: int) -> None:
    if size > MAX_PAIRS:
        raise UnsupportedError(
            f"the silent actions connect too many states: without them, the system would have "
            f"more than {MAX_PAIRS} transitions"
        )


def _explored(
    system: TransitionSystem, result: TransitionSystem, first: Numbers, reached: Numbers
) -> int | None:
    """Up to which depth all transitions of the result are known."""
    assert system.explored_depth is not None
    unexplored = _depths(system) >= system.explored_depth
    unsure = np.zeros(system.states, bool)
    unsure[first[unexplored[reached]]] = True
    if unsure[list(system.initial)].any():
        return None  # not even whether a bad state is initial
    # What a transition's target reaches silently may make a second transition.
    unsure[result.source[unsure[result.target]]] = True
    depths = _depths(result)[unsure]
    return int(depths.min(initial=system.explored_depth))


def _depths(system: TransitionSystem) -> Numbers:
    """The fewest transitions from an initial state; more than any number where none lead there."""
    following: dict[int, list[int]] = {}
    for source, target in zip(system.source.tolist(), system.target.tolist(), strict=True):
        following.setdefault(source, []).append(target)
    depths = dict.fromkeys(system.initial, 0)
    queue = deque(depths)
    while queue:
        state = queue.popleft()
        for target in following.get(state, ()):
            if target not in depths:
                depths[target] = depths[state] + 1
                queue.append(target)
    result = np.full(system.states, np.iinfo(np.int64).max)
    result[list(depths)] = list(depths.values())
    return result
