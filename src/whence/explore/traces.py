"""From a node of a search to a timed diagnostic trace (Koelbl, section 8.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from whence.explore.goals import Alternative
from whence.explore.realize import Realization, delay_ranges, realize, system_of
from whence.explore.search import Outcome, Search
from whence.explore.symbolic import (
    Constraint,
    Moment,
    SymbolicInterpreter,
    all_constraints,
    constrained,
)
from whence.expr.faults import EvaluationError
from whence.model.trace import TimedTrace, TraceEnd, Transition
from whence.zones.federation import Federation
from whence.zones.zone import Zone

__all__ = [
    "FaultInState",
    "Path",
    "best_trace",
    "goal_constraints",
    "ordinals_of",
    "trace_of_fault",
    "trace_of_goal",
    "walk",
    "with_delays",
]


class FaultInState(Exception):
    """A query has no value in the state of a node."""

    def __init__(self, node: int, error: EvaluationError) -> None:
        self.node = node
        self.error = error
        super().__init__(str(error))


@dataclass(frozen=True, slots=True)
class Path:
    """States and the transitions between them; `ordinals` are as in the search."""

    moments: tuple[Moment, ...]
    transitions: tuple[Transition, ...]

    def trace(
        self,
        interpreter: SymbolicInterpreter,
        goal: Sequence[Constraint],
        realization: Realization,
        end: TraceEnd = "goal",
        loop_to: int | None = None,
    ) -> TimedTrace | None:
        """The trace along this path that ends where `goal` holds; None if no run does."""
        delays = realize(self.moments, goal, realization)
        if delays is None:
            return None
        names = interpreter.compiled.layout.clocks
        return TimedTrace(
            states=tuple(moment.state(names) for moment in self.moments if not moment.pause),
            transitions=self.transitions,
            delays=delays,
            end=end,
            loop_to=loop_to,
            delay_ranges=delay_ranges(self.moments),
        )


def walk(interpreter: SymbolicInterpreter, steps: Sequence[int | Transition]) -> Iterator[Path]:
    """The paths that take these transitions, given by their ordinals in a search or themselves:
    one, but for priorities, which may leave several pieces of a zone to go on from."""
    initial = interpreter.initial()
    if initial is None:
        return
    waiting: list[Path] = [Path((initial,), ())]
    while waiting:
        path = waiting.pop()
        taken = len(path.transitions)
        if taken == len(steps):
            yield path
            continue
        moment = path.moments[-1]
        candidates = interpreter.candidates(moment.locations, moment.values)
        step = steps[taken]
        chosen = (
            [candidates[step]]
            if isinstance(step, int)
            else [candidate for candidate in candidates if candidate.transition == step]
        )
        for candidate in reversed(chosen):
            for successor in reversed(interpreter.step(moment, candidate)):
                waiting.append(
                    Path((*path.moments, successor), (*path.transitions, candidate.transition))
                )


def with_delays(
    interpreter: SymbolicInterpreter, trace: TimedTrace, realization: Realization = "earliest"
) -> TimedTrace | None:
    """A symbolic trace (UPPAAL's, say) with delays that lead along it into its last zone, and
    our zones; None if it has no run in this network."""
    last = trace.states[-1].zone
    goal = all_constraints(Zone(np.array(last, np.int32))) if last else ()
    for path in walk(interpreter, trace.transitions):
        found = path.trace(interpreter, goal, realization, trace.end, trace.loop_to)
        if found is not None:
            return found
    return None


def goal_constraints(
    interpreter: SymbolicInterpreter, goals: Sequence[Alternative], moment: Moment
) -> Iterator[tuple[Constraint, ...]]:
    """What clocks must satisfy at the end, for each alternative that the data allows."""
    store = interpreter.store(moment.locations, moment.values)
    for goal in goals:
        constraints: tuple[Constraint, ...] | None = ()
        if goal.condition is not None:
            constraints = interpreter.constraints(goal.condition, store)
        if constraints is None:
            continue
        if not goal.deadlock:
            yield constraints
            continue
        stuck = interpreter.deadlocked(moment)
        if goal.deadlock == 2:
            stuck = Federation(interpreter.clocks, [moment.zone.matrix]) - stuck
        for matrix in stuck.matrices:
            yield constraints + all_constraints(Zone(matrix))


def trace_of_goal(
    interpreter: SymbolicInterpreter,
    search: Search,
    node: int,
    goals: Sequence[Alternative],
    realization: Realization,
) -> TimedTrace:
    """The trace to a node in which one of the goals holds; the shortest in time of those that
    end in different alternatives."""

    def goals_at(moment: Moment) -> Iterator[tuple[Constraint, ...]]:
        return goal_constraints(interpreter, goals, moment)

    trace = best_trace(interpreter, ordinals_of(search, node), goals_at, realization)
    assert trace is not None, "the search found a goal that its path does not reach"
    return trace


def ordinals_of(search: Search, node: int) -> list[int]:
    return [ordinal for _, ordinal in search.path_to(node)][1:]


def best_trace(
    interpreter: SymbolicInterpreter,
    ordinals: Sequence[int],
    goals_at: Callable[[Moment], Iterator[tuple[Constraint, ...]]],
    realization: Realization,
    end: TraceEnd = "goal",
    loop_to: int | None = None,
) -> TimedTrace | None:
    """Of all ways along the transitions to an end, the one that is there first."""
    best: tuple[Path, tuple[Constraint, ...]] | None = None
    least = None
    for path in walk(interpreter, ordinals):
        for goal in goals_at(path.moments[-1]):
            times = system_of(path.moments, goal).solve("earliest")
            if times is not None and (least is None or times[-1] < least):
                best, least = (path, goal), times[-1]
    if best is None:
        return None
    path, goal = best
    return path.trace(interpreter, goal, realization, end, loop_to)


def trace_of_fault(
    interpreter: SymbolicInterpreter, search: Search, outcome: Outcome, realization: Realization
) -> TimedTrace | None:
    """The trace to where the model goes wrong: its last transition is the one that fails, or, if
    evaluating the last state does, all of them succeed."""
    message = outcome.fault.text
    node, ordinal = outcome.fault_node, outcome.fault_ordinal
    ordinals = ordinals_of(search, node) if node >= 0 else []
    if ordinal >= 0 and not _goes_wrong(interpreter, search, node, ordinal):
        # The transition is fine: what fails is asking the query in the state behind it.
        ordinals.append(ordinal)
        ordinal = -1
    failing: Transition | None = None

    def enabled(moment: Moment) -> Iterator[tuple[Constraint, ...]]:
        if ordinal < 0:
            yield ()
            return
        candidate = interpreter.candidates(moment.locations, moment.values)[ordinal]
        zone = constrained(moment.zone, candidate.constraints)
        if zone.is_empty:
            return
        for piece in interpreter.not_claimed(moment, candidate, zone):
            yield candidate.constraints if piece == zone else all_constraints(piece)

    try:
        trace = best_trace(interpreter, ordinals, enabled, realization, "error")
    except EvaluationError:
        return None  # the initial state itself has no value for an invariant
    if trace is None:
        return None
    if ordinal >= 0:
        last = trace.states[-1]
        failing = interpreter.candidates(last.locations, last.values)[ordinal].transition
    transitions = trace.transitions + ((failing,) if failing is not None else ())
    place = str(outcome.fault_origin)
    return replace(
        trace,
        transitions=transitions,
        message=f"{place}: {message}" if place else message,
    )


def _goes_wrong(interpreter: SymbolicInterpreter, search: Search, node: int, ordinal: int) -> bool:
    """Whether taking a transition, or entering its target, is what fails."""
    row = search.row_of(node).tolist()
    processes = len(interpreter.compiled.network.processes)
    locations, values = row[:processes], row[processes:]
    transition = interpreter.candidates(locations, values)[ordinal].transition
    try:
        locations, values, _ = interpreter.fire(locations, values, transition)
        interpreter.invariant(locations, values)
        interpreter.may_delay(locations, values)
    except EvaluationError:
        return True
    return False
