"""A run of a network along given events: what a causal trace looks like in the model."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from whence.explore.goals import Alternative
from whence.explore.symbolic import SymbolicInterpreter
from whence.explore.traces import Path, goal_constraints
from whence.expr.faults import EvaluationError
from whence.model.trace import TimedTrace, Transition

__all__ = ["NameOf", "run_of_events"]

#: What a transition is called; None: it is silent.
NameOf = Callable[[Transition], str | None]

#: So many states are looked at in search of a run.
_MOST_STATES = 100_000


def run_of_events(
    interpreter: SymbolicInterpreter,
    events: Sequence[str],
    name_of: NameOf,
    goals: Sequence[Alternative] = (),
) -> TimedTrace | None:
    """A run in which these events happen, and no others but silent ones, to where one of the
    goals holds (without any: wherever); None if none was found.

    Silent transitions are taken where nothing else leads on.
    """
    initial = interpreter.initial()
    if initial is None:
        return None
    stack = [(0, Path((initial,), ()))]
    seen: set[object] = set()
    while stack and len(seen) < _MOST_STATES:
        done, path = stack.pop()
        moment = path.moments[-1]
        key = (done, moment.locations, moment.values, moment.zone.matrix.tobytes())
        if key in seen:
            continue
        seen.add(key)
        if done == len(events):
            found = _ended(interpreter, path, goals)
            if found is not None:
                return found
        try:
            stack += _onward(interpreter, path, done, events, name_of)
        except EvaluationError:
            continue
    return None


def _ended(
    interpreter: SymbolicInterpreter, path: Path, goals: Sequence[Alternative]
) -> TimedTrace | None:
    if not goals:
        return path.trace(interpreter, (), "earliest")
    for constraints in goal_constraints(interpreter, goals, path.moments[-1]):
        found = path.trace(interpreter, constraints, "earliest")
        if found is not None:
            return found
    return None


def _onward(
    interpreter: SymbolicInterpreter,
    path: Path,
    done: int,
    events: Sequence[str],
    name_of: NameOf,
) -> list[tuple[int, Path]]:
    """The longer paths, the one to look at first in the end."""
    moment = path.moments[-1]
    silent: list[tuple[int, Path]] = []
    named: list[tuple[int, Path]] = []
    for candidate in interpreter.candidates(moment.locations, moment.values):
        name = name_of(candidate.transition)
        if name is not None and (done == len(events) or name != events[done]):
            continue
        shown = Transition(name or candidate.transition.action, candidate.transition.uses)
        for successor in interpreter.step(moment, candidate):
            longer = Path((*path.moments, successor), (*path.transitions, shown))
            if name is None:
                silent.append((done, longer))
            else:
                named.append((done + 1, longer))
    return [*silent, *named[::-1]]
