"""The definitions of section 2 that do not depend on the values of variables.

Where the report's formula and its words differ, or leave something open:

* lca: the formula counts a location among those around it, the words ("containing both as
  descendants") do not.  We follow the words, as UML does: a transition from a state to itself, or
  to a state inside, leaves and enters it.  `internal` transitions leave and enter nothing.
* Phi_T's formula lets time stop at every timer that stands in some guard of the model; Figure 4
  looks at the active locations only.  We follow the figure: a timer that no active location asks
  for enables nothing, and to stop there would run do actions that reset timers.
* A do action counts as written only where it is executed.
* All assignments of a step read the values before it.  What is assigned twice must be equal.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from whence.expr.tree import Binary, IntLiteral, Name, Symbol
from whence.expr.walk import subexpressions
from whence.testing.model import Elapsed, TimedMachine, Transition, Write

__all__ = ["Effect", "competitors", "do_actions", "effect", "lca", "levels", "timers"]


@dataclass(frozen=True, slots=True)
class Effect:
    """What a transition does, in the order exit, do, action, entry, and the number of the basic
    control state that it reaches."""

    writes: tuple[Write, ...]
    target: int


def lca(machine: TimedMachine, first: int, second: int) -> int:
    """The closest location that has both inside it (or the machine itself, for which there is
    none around)."""
    around = machine.upward(second)[1:] or (0,)
    return next(one for one in machine.upward(first)[1:] or (0,) if one in around)


def do_actions(machine: TimedMachine, location: int) -> tuple[Write, ...]:
    """do_s(l) for all l of location..s."""
    found: list[Write] = []
    for one in machine.upward(location):
        found += machine.locations[one].do
    return tuple(found)


def _initial(machine: TimedMachine, location: int) -> tuple[list[Write], int]:
    """iota_s(location): the actions on the way to its initial locations, and where that ends."""
    here = machine.locations[location]
    if here.basic:
        return [], here.first
    assert here.start is not None
    writes = list(here.start_action)
    path = machine.upward(here.start)
    for one in reversed(path[: path.index(location)]):
        writes += machine.locations[one].entry
    further, target = _initial(machine, here.start)
    return writes + further, target


def effect(machine: TimedMachine, transition: Transition, active: int) -> Effect:
    """epsilon(transition), where `active` is the active basic control state (a location)."""
    locations = machine.locations
    if transition.internal:
        writes = [*do_actions(machine, transition.source), *transition.action]
        return Effect(tuple(writes), locations[active].first)
    common = lca(machine, transition.source, transition.target)
    leaving = machine.upward(active)
    entering = machine.upward(transition.target)
    found: list[Write] = []
    for one in leaving[: leaving.index(common)]:
        found += locations[one].exit
    found += do_actions(machine, common)
    found += transition.action
    for one in reversed(entering[: entering.index(common)]):
        found += locations[one].entry
    inner, target = _initial(machine, transition.target)
    return Effect((*found, *inner), target)


def levels(machine: TimedMachine, active: int) -> Iterator[tuple[Transition, ...]]:
    """The transitions that leave a location or those around it, in groups: an enabled one of a
    group keeps all those of later groups from firing. Higher locations come first, then better
    priorities."""
    for one in reversed(machine.upward(active)):
        leaving = machine.outgoing[one]
        for priority in sorted({transition.priority for transition in leaving}):
            yield tuple(t for t in leaving if t.priority == priority)


def timers(machine: TimedMachine, active: int) -> tuple[Elapsed, ...]:
    """The conditions elapsed(t, c) in guards that a basic control state or those around it have."""
    found: dict[Elapsed, None] = {}
    for one in machine.upward(active):
        for transition in machine.outgoing[one]:
            for part in () if transition.guard is None else subexpressions(transition.guard):
                match part:
                    case Binary(
                        op=">=", left=Name(symbol=Symbol() as age), right=IntLiteral(value=time)
                    ) if age.name.startswith("age of "):
                        found[Elapsed(age, time)] = None
    return tuple(found)


def competitors(machine: TimedMachine, transition: Transition) -> tuple[Transition, ...]:
    """The others that leave the same location with the same priority."""
    return tuple(
        other
        for other in machine.outgoing[transition.source]
        if other.priority == transition.priority and other is not transition
    )
