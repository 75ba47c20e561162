"""The states of a machine as a tree, and where a machine can rest in it.

A *location* is what a machine can rest in: a state without states inside, a final state, a
terminated machine, and an initial pseudostate whose transition has an event, as that step has yet
to be taken.  Choices, junctions and other initial pseudostates are passed through.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from whence.expr.scope import Problem, Problems, suggestion
from whence.model.chart import ChartState, ChartTransition, Machine

__all__ = ["MachineStructure", "structure_of"]

#: Of states in each other; whoever walks into them may recurse.
_DEEPEST = 100
_PSEUDOSTATES = frozenset(("initial", "choice", "junction"))


@dataclass(slots=True, eq=False)
class MachineStructure:
    """`around[ident]` are the composite states that a state stands in, innermost first.
    `leaving` has the transitions of each state, in order, `initial` the initial pseudostate in
    each composite state (None: in the machine itself)."""

    machine: Machine
    number: int
    states: dict[str, ChartState] = field(default_factory=dict)
    around: dict[str, tuple[str, ...]] = field(default_factory=dict)
    leaving: dict[str, list[ChartTransition]] = field(default_factory=dict)
    initial: dict[str | None, str] = field(default_factory=dict)
    locations: dict[str, int] = field(default_factory=dict)

    def is_location(self, ident: str) -> bool:
        return ident in self.locations

    def active(self, ident: str) -> tuple[str, ...]:
        """The states that the machine is in at a location, innermost first."""
        if self.states[ident].kind == "terminate":
            return (ident,)
        return (ident, *self.around[ident])

    def inside(self, ident: str) -> list[int]:
        """The locations in which the machine is in a state."""
        return [number for at, number in self.locations.items() if ident in self.active(at)]

    def named(self, path: str) -> list[str]:
        """The states that a name or a path of names stands for."""
        known = [ident for ident, state in self.states.items() if state.kind not in _PSEUDOSTATES]
        if path in known:
            return [path]
        return [ident for ident in known if self.states[ident].name == path]


def structure_of(machine: Machine, number: int, problems: Problems) -> MachineStructure:
    """The structure of machine number `number`; what is wrong with it is noted."""
    result = MachineStructure(machine, number)
    for state in machine.states:
        with problems.collecting():
            _add_state(result, state)
    for ident, state in result.states.items():
        with problems.collecting():
            result.around[ident] = tuple(_around(result, state))
    for transition in machine.transitions:
        with problems.collecting():
            _add_transition(result, transition)
    for ident in result.initial.values():
        with problems.collecting():
            _check_initial(result, result.states[ident])
    if None not in result.initial:
        problems.add(Problem(f"machine `{machine.name}` has no initial state", machine.origin))
    parents = {state.parent for state in result.states.values() if state.kind != "initial"}
    for ident, state in result.states.items():
        rests = state.kind in ("final", "terminate")
        rests |= state.kind in ("simple", "composite") and ident not in parents
        rests |= state.kind == "initial" and any(
            t.event is not None for t in result.leaving.get(ident, ())
        )
        if rests:
            result.locations[ident] = len(result.locations)
    return result


def _add_state(result: MachineStructure, state: ChartState) -> None:
    if state.ident in result.states:
        raise Problem(f"two states are called `{state.ident}`", state.origin)
    result.states[state.ident] = state
    result.around[state.ident] = ()
    result.leaving[state.ident] = []
    if state.kind == "history":
        raise Problem(
            f"the history state `{state.name}`",
            state.origin,
            "keep what has to be remembered in a variable, and choose by it",
            unsupported=True,
        )
    if state.do:
        raise Problem(
            f"the activity (`do`) of state `{state.name}`",
            state.origin,
            "an internal transition can do it",
            unsupported=True,
        )
    if state.kind == "initial":
        if state.parent in result.initial:
            raise Problem(
                "a second initial state, as orthogonal regions have it",
                state.origin,
                "make each region a machine",
                unsupported=True,
            )
        result.initial[state.parent] = state.ident


def _around(result: MachineStructure, state: ChartState) -> Iterator[str]:
    seen = {state.ident}
    parent = state.parent
    while parent is not None:
        if parent in seen:
            raise Problem(f"state `{state.name}` stands inside itself", state.origin)
        if parent not in result.states:
            raise Problem(f"the state around `{state.name}` is missing", state.origin)
        seen.add(parent)
        if len(seen) > _DEEPEST:
            raise Problem(f"states nested more than {_DEEPEST} levels deep", state.origin)
        yield parent
        parent = result.states[parent].parent


def _add_transition(result: MachineStructure, transition: ChartTransition) -> None:
    for ident in (transition.source, transition.target):
        if ident not in result.states:
            raise Problem(
                f"machine `{result.machine.name}` has no state `{ident}`",
                transition.origin,
                suggestion(ident, list(result.states)),
            )
    source, target = result.states[transition.source], result.states[transition.target]
    if source.kind in ("final", "terminate"):
        raise Problem(f"a transition leaves the {source.kind} state", transition.origin)
    if target.kind == "initial":
        raise Problem("a transition leads to an initial pseudostate", transition.origin)
    if source.kind in _PSEUDOSTATES:
        if transition.trigger is not None and not (source.kind == "initial" and transition.event):
            raise Problem(
                f"a trigger on a transition that leaves a {source.kind}",
                transition.origin,
                "the transition that leads there can have it",
            )
        if transition.priority is not None:
            raise Problem(
                f"a priority on a transition that leaves a {source.kind}",
                transition.origin,
                unsupported=True,
            )
    if transition.otherwise and source.kind not in ("choice", "junction"):
        raise Problem(
            "`else` on a transition that leaves no choice",
            transition.origin,
            "write the condition out, or lead both transitions through a choice",
        )
    if transition.internal and (
        transition.source != transition.target or source.kind not in ("simple", "composite")
    ):
        raise Problem("an internal transition that leaves its state", transition.origin)
    if transition.rate is not None and transition.rate <= 0:
        raise Problem("a rate that is not positive", transition.origin)
    result.leaving[transition.source].append(transition)


def _check_initial(result: MachineStructure, state: ChartState) -> None:
    leaving = result.leaving[state.ident]
    where = "" if state.parent is None else f" in `{state.parent}`"
    if len(leaving) != 1:
        raise Problem(
            f"the initial pseudostate{where} has {len(leaving)} transitions; expected one",
            state.origin,
        )
    transition = leaving[0]
    if transition.event is None and transition.guard is not None:
        raise Problem(
            "a guard on an initial transition without an event",
            transition.origin,
            "lead it to a choice, or give it an `event`",
        )
    marked = transition.rate is not None or transition.failure or transition.detected is not None
    if transition.event is None and marked:
        raise Problem(
            "a rate or a failure on an initial transition without an event",
            transition.origin,
            "give it an `event`, then it is a step of its own",
        )
    if state.parent is not None and state.parent not in (
        transition.target,
        *result.around[transition.target],
    ):
        raise Problem(f"the initial transition{where} leads out of that state", transition.origin)
    if transition.target == state.parent:
        raise Problem(f"the initial transition{where} leads back to it", transition.origin)
