"""Abstract interpretation case by case: one abstract state for each combination of control states
and of the values of small variables.

Intervals alone lose what variables have to do with each other.  Here a step is followed for each
combination of what the machines may do, and its outcome is split again, so that only what is left
to intervals (numbers with large ranges, ages) loses that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod

from whence.expr.intervals import Interval
from whence.expr.tree import Symbol
from whence.testing.model import TimedModel, Write
from whence.testing.semantics.abstract import Abstract, AbstractInterpreter

__all__ = ["partition"]

#: Variables with so many values at most are split by them.
_SMALL = 4
#: After so many changes of a case its bounds jump to those of the type.
_PATIENCE = 12
#: So many steps for each case that there may be.
_STEPS = 10

Case = tuple[int, ...]


def partition(interpreter: AbstractInterpreter, most: int) -> Sequence[Abstract] | None:
    """Abstract states that together have all reachable ones; None: more than `most` cases, or they
    change for too long."""
    small = _small(interpreter.model, interpreter.invariant())
    known: dict[Case, Abstract] = {}
    changes: dict[Case, int] = {}
    # In the order of their changes, each once.
    waiting: dict[Case, None] = {}

    def note(outcome: Abstract) -> bool:
        sizes = [len(at) for at in outcome.controls]
        sizes += [outcome.values[s].hi - outcome.values[s].lo + 1 for s in small]
        if prod(sizes) > most:
            return False
        for case, part in _cases(outcome, small):
            before = known.get(case)
            after = part if before is None else before.join(part)
            if after == before:
                continue
            changes[case] = changes.get(case, 0) + 1
            if before is not None and changes[case] > _PATIENCE:
                after = interpreter.widened(before, after)
            known[case] = after
            waiting[case] = None
        return len(known) <= most

    if not note(interpreter.initial()):
        return None
    budget = _STEPS * most
    while waiting:
        budget -= 1
        if budget < 0:
            return None
        case = next(iter(waiting))
        del waiting[case]
        for outcome in _steps(interpreter, known[case]):
            if not note(outcome):
                return None
    return tuple(known.values())


def _small(model: TimedModel, bounds: Abstract) -> tuple[Symbol, ...]:
    """The variables that have few values in reachable states."""
    return tuple(
        v.symbol
        for v in model.variables
        if v.role not in ("timer", "choice")
        and bounds.values[v.symbol].hi - bounds.values[v.symbol].lo < _SMALL
    )


def _cases(state: Abstract, small: Sequence[Symbol]) -> Iterator[tuple[Case, Abstract]]:
    ranges = [range(state.values[s].lo, state.values[s].hi + 1) for s in small]
    for controls in product(*(sorted(at) for at in state.controls)):
        for values in product(*ranges):
            alone = {s: Interval(v, v) for s, v in zip(small, values, strict=True)}
            part = Abstract(tuple(frozenset((at,)) for at in controls), {**state.values, **alone})
            yield (*controls, *values), part


def _steps(interpreter: AbstractInterpreter, state: Abstract) -> Iterator[Abstract]:
    """The outcomes of a step from a case, one for each combination of what machines may do."""
    for targets, writes, narrowed, fires in _together(interpreter, state, 0):
        changes = [interpreter.changes(write, narrowed) for write in writes]
        if not fires and True not in changes:
            # Nothing may be due.
            yield interpreter.waited(narrowed)
        if fires or any(change is not False for change in changes):
            outcome = interpreter.written(writes, narrowed)
            if outcome is None:
                continue
            values = {**narrowed.values, **outcome}
            for variable in interpreter.model.having("choice"):
                values[variable.symbol] = Interval(*variable.limits)
            yield Abstract(tuple(frozenset((at,)) for at in targets), values)


def _together(
    interpreter: AbstractInterpreter, state: Abstract, number: int
) -> Iterator[tuple[tuple[int, ...], tuple[Write, ...], Abstract, bool]]:
    """What the machines from one number on may do together."""
    machines = interpreter.model.machines
    if number == len(machines):
        yield (), (), state, False
        return
    (at,) = state.controls[number]
    for writes, target, narrowed, fires in interpreter.alternatives(machines[number], at, state):
        for targets, more, left, moved in _together(interpreter, narrowed, number + 1):
            yield (target, *targets), (*writes, *more), left, fires or moved
