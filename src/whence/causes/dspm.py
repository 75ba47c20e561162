"""Duplicate State Prefix Matching, and ignoring duplicates (Koelbl, section 5.3.1, Listing 5.1).

These are what CTBS is compared with (section 5.4).  DSPM replaces the beginning of the
counterexamples that it knows by that of executions that end in one of their states.  It does so
once for each duplicate execution, in the order in which they were found, and so misses causal
traces that run through several of them; what it returns then may also contain too much.

The modified algorithm goes through all duplicate executions until nothing new comes of it, and
is complete.  So that it ends, it drops a counterexample whose part after the duplicate state
visits a state twice: what it could be used for can be had without the loop.

An execution into a bad state is a counterexample, whether that state was visited before or not.
"""

from __future__ import annotations

import time

from whence.causes.ctbs import CausalTraces
from whence.causes.exploration import (
    Exploration,
    ExplorationOrder,
    Trace,
    bad_states,
    is_subtrace,
)
from whence.causes.silent import without_silent
from whence.model.transitions import TransitionSystem

__all__ = ["duplicate_state_prefix_matching", "ignore_duplicates"]


def ignore_duplicates(
    system: TransitionSystem, *, order: ExplorationOrder = "bfs", bad: str = "bad"
) -> CausalTraces:
    """The minimal ones among the counterexamples that a search finds which visits each state once
    (variant 4 of section 5.4)."""
    matching = _Matching(without_silent(system, bad), order, bad, None)
    for execution in matching.exploration.executions():
        if execution.end == "bad":
            matching.add_trace(matching.exploration.path(execution))
    return matching.result(complete=False)


def duplicate_state_prefix_matching(
    system: TransitionSystem,
    *,
    order: ExplorationOrder = "bfs",
    modified: bool = False,
    seconds: float | None = None,
    bad: str = "bad",
) -> CausalTraces:
    """Some bad traces of the system, none of which contains another one of them; with `modified`,
    and if it is not stopped after `seconds`, the causal trace set."""
    matching = _Matching(without_silent(system, bad), order, bad, seconds)
    exploration = matching.exploration
    duplicates: list[list[int]] = []
    for execution in exploration.executions():
        path = exploration.path(execution)
        if execution.end == "bad":
            matching.add_trace(path)
        elif execution.end == "duplicate":
            duplicates.append(path)
            # A breadth-first search keeps them until it has ended.
            if order == "dfs" and not modified:
                matching.match_duplicate_state(path)
        if matching.late():
            return matching.result(complete=False)
    again = modified or order == "bfs"
    while again:
        again = False
        for path in duplicates:
            new = matching.match_duplicate_state(path)
            again = again or (new and modified)
            if matching.late():
                return matching.result(complete=False)
    return matching.result(complete=modified and system.complete)


class _Matching:
    """`red_traces` are the counterexamples that contain no other ones (`redTraces`), and
    `match_list` those that visit a state (`matchList`)."""

    def __init__(
        self, system: TransitionSystem, order: ExplorationOrder, bad: str, seconds: float | None
    ) -> None:
        self.exploration = Exploration(system, order, bad=bad)
        self.names = tuple(action.name for action in system.actions)
        self.known: set[tuple[int, ...]] = set()
        self.match_list: dict[int, list[list[int]]] = {}
        self.red_traces: set[Trace] = set()
        if bad_states(system, bad)[list(system.initial)].any():
            self.red_traces.add(())
        self.stop_at = None if seconds is None else time.monotonic() + seconds

    def late(self) -> bool:
        return self.stop_at is not None and time.monotonic() > self.stop_at

    def result(self, complete: bool) -> CausalTraces:
        return CausalTraces(frozenset(self.red_traces), complete)

    def add_trace(self, path: list[int]) -> bool:
        """`addTrace`, for a counterexample; whether it is new."""
        if tuple(path) in self.known:
            return False
        self.known.add(tuple(path))
        for state in dict.fromkeys(self.exploration.states(path)):
            self.match_list.setdefault(state, []).append(path)
        trace = tuple(self.names[self.exploration.action[transition]] for transition in path)
        if not any(is_subtrace(other, trace) for other in self.red_traces):
            self.red_traces -= {other for other in self.red_traces if is_subtrace(trace, other)}
            self.red_traces.add(trace)
        return True

    def match_duplicate_state(self, duplicate: list[int]) -> bool:
        """`matchDuplicateState`, for an execution into a state visited before; whether something
        new came of it."""
        exploration = self.exploration
        state = exploration.target[duplicate[-1]]
        new = False
        for path in list(self.match_list.get(state, ())):
            states = exploration.states(path)
            # After its last visit to the state, so as not to go in circles.
            at = len(states) - 1 - states[::-1].index(state)
            rest = states[at:]
            if len(set(rest)) == len(rest) and exploration.source[duplicate[-1]] not in rest:
                new = self.add_trace([*duplicate, *path[at:]]) or new
            if self.late():
                break
        return new
