"""The cone of influence: what of a model matters for some of its symbols (section 4).

A symbol depends on what is read where it is assigned, and on whatever decides whether that happens:
the control state of the machine, and all that its guards read.  Dates depend on all machines, as
time stops where a timer elapses; but a wait that stops early goes on in the next step, so that what
is left out of a model only makes it wait longer at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from whence.expr.tree import Expr, Name, Symbol
from whence.expr.walk import subexpressions
from whence.testing.model import TimedMachine, TimedModel, Write
from whence.testing.part import writes_of

__all__ = ["cone", "reduced", "same_within", "symbols_of"]


def symbols_of(expr: Expr) -> Iterator[Symbol]:
    """What an expression reads."""
    for part in subexpressions(expr):
        if isinstance(part, Name) and isinstance(part.symbol, Symbol):
            yield part.symbol


def cone(model: TimedModel, wanted: Iterable[Symbol]) -> frozenset[Symbol]:
    """All symbols that the wanted ones depend on, and these."""
    guards = {
        machine.name: frozenset(
            symbol
            for one in machine.transitions
            if one.guard is not None
            for symbol in symbols_of(one.guard)
        )
        for machine in model.machines
    }
    found: set[Symbol] = set()
    waiting = set(wanted)
    while waiting:
        found |= waiting
        new: set[Symbol] = set()
        for machine in model.machines:
            writes = [write for write in writes_of(machine) if write.variable in found]
            if not writes and machine.control not in found:
                continue
            new.add(machine.control)
            new |= guards[machine.name]
            if machine.choice is not None:
                new.add(machine.choice)
            for write in writes:
                new.update(symbols_of(write.value))
        waiting = new - found
    return frozenset(found)


def reduced(model: TimedModel, matters: frozenset[Symbol]) -> TimedModel:
    """What is left of a model where only these symbols are wanted, a cone: machines and variables
    that matter.  Each run of the model is one of this without some of its steps, which change
    nothing here; so what this cannot reach, the model cannot."""

    def kept(writes: tuple[Write, ...]) -> tuple[Write, ...]:
        return tuple(write for write in writes if write.variable in matters)

    machines: list[TimedMachine] = []
    for machine in model.machines:
        if machine.control not in matters:
            continue
        locations = tuple(
            replace(
                one,
                do=kept(one.do),
                entry=kept(one.entry),
                exit=kept(one.exit),
                start_action=kept(one.start_action),
            )
            for one in machine.locations
        )
        machines.append(
            replace(
                machine,
                number=len(machines),
                locations=locations,
                transitions=tuple(
                    replace(one, action=kept(one.action)) for one in machine.transitions
                ),
            )
        )
    return replace(
        model,
        machines=tuple(machines),
        variables=tuple(v for v in model.variables if v.symbol in matters),
        elapsed=tuple(one for one in model.elapsed if one.age in matters),
    )


def same_within(model: TimedModel, other: TimedModel, wanted: Iterable[Symbol]) -> bool:
    """Whether two models differ in assignments only that the wanted symbols do not depend on, and
    that cannot keep a step from ending: they read nothing that does not matter either."""
    matters = cone(model, wanted)
    if cone(other, wanted) != matters or len(model.machines) != len(other.machines):
        return False
    for one, two in zip(model.machines, other.machines, strict=True):
        if _within(one, matters) != _within(two, matters):
            return False
        for machine in (one, two):
            for write in writes_of(machine):
                if write.variable not in matters and not matters.issuperset(
                    symbols_of(write.value)
                ):
                    return False
    return True


def _within(machine: TimedMachine, matters: frozenset[Symbol]) -> object:
    def kept(writes: tuple[Write, ...]) -> tuple[Write, ...]:
        return tuple(write for write in writes if write.variable in matters)

    locations = tuple(
        replace(
            one,
            do=kept(one.do),
            entry=kept(one.entry),
            exit=kept(one.exit),
            start_action=kept(one.start_action),
        )
        for one in machine.locations
    )
    transitions = tuple(replace(one, action=kept(one.action)) for one in machine.transitions)
    return locations, transitions, machine.choice
