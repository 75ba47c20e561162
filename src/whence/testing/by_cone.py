"""Goals looked for in what of the model matters for them: their cone of influence (section 4).

A run that is found there is one of inputs with dates; played on the whole model, with defaults for
all other inputs, it meets the goal, unless the rest of the model has no step on the way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from whence.expr.tree import Symbol
from whence.testing.bounded_ltl import And, Atom, Or, Temporal
from whence.testing.cone import cone, reduced, symbols_of
from whence.testing.goals import Goal
from whence.testing.model import TimedModel
from whence.testing.reach import Found, Reacher, Settings
from whence.testing.runs import Step
from whence.testing.semantics.simulator import Illegal, Simulator, State

__all__ = ["Group", "groups", "lifted"]

_ZENO = 1000


@dataclass(frozen=True, eq=False)
class Group:
    """Goals with the same cone, and what looks for them in it."""

    goals: tuple[Goal, ...]
    reacher: Reacher


def groups(model: TimedModel, goals: Iterable[Goal], settings: Settings) -> Iterator[Group]:
    """Of goals whose cone leaves machines out; the smallest cones first."""
    by_cone: dict[frozenset[Symbol], list[Goal]] = {}
    for goal in goals:
        if goal.formula is not None:
            matters = cone(model, _symbols(goal.formula))
            by_cone.setdefault(matters, []).append(goal)
    for matters in sorted(by_cone, key=len):
        part = reduced(model, matters)
        # What the environment chooses in each step has no date.
        if part.machines and len(part.machines) < len(model.machines) and not part.having("choice"):
            yield Group(tuple(by_cone[matters]), Reacher(part, settings))


def _symbols(formula: Temporal) -> Iterator[Symbol]:
    match formula:
        case Atom(expr):
            yield from symbols_of(expr)
        case And(parts) | Or(parts):
            for part in parts:
                yield from _symbols(part)
        case _:
            yield from _symbols(formula.left)
            yield from _symbols(formula.right)


def lifted(
    simulator: Simulator, part: TimedModel, found: Found
) -> tuple[State, tuple[Step, ...]] | None:
    """A run of the whole model for one of a part of it: its initial state and steps; None if the
    model has no step on the way."""
    model = simulator.model
    free = [v for v in model.variables if v.free]
    places = [part.place.get(v.symbol) for v in free]

    def values(state: State | None) -> list[int]:
        return [
            v.initial if place is None or state is None else state[place]
            for v, place in zip(free, places, strict=True)
        ]

    now = values(found.start)
    state = simulator.initial(now)
    steps: list[Step] = []
    try:
        for step in found.steps:
            if not step.delay:
                continue
            left = step.delay
            while left:
                state = _settled(simulator, state, steps)
                delay = min(simulator.limit(state), left)
                left -= delay
                if not left:
                    now = values(step.state)
                state = simulator.wait(state, delay, now)
                steps.append(Step(delay, state))
        state = _settled(simulator, state, steps)
    except Illegal:
        return None
    # The last state has to have a step, too.
    steps.append(Step(1, simulator.wait(state, 1, now)))
    return simulator.initial(values(found.start)), tuple(steps)


def _settled(simulator: Simulator, state: State, steps: list[Step]) -> State:
    for _ in range(_ZENO):
        after = simulator.step(state)
        if after is None:
            return state
        state = after
        steps.append(Step(0, state))
    raise Illegal("zeno", "steps without end", simulator.model.machines[0].origin)
