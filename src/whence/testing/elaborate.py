"""Makes timed models of charts: section 2's abstract syntax, everything resolved and checked.

What has no meaning in synchronous machines is refused by name: messages, choices, junctions,
history, rates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from whence.expr.scope import Problem, suggestion
from whence.expr.tree import Expr
from whence.model.chart import (
    Assign,
    Chart,
    ChartState,
    ChartTransition,
    Effect,
    Machine,
    Send,
)
from whence.source import Diagnostic, InputError, Origin
from whence.testing.model import Location, TimedMachine, TimedModel, Transition, Write
from whence.testing.names import Names

__all__ = ["elaborate"]

_DEEPEST = 60


def elaborate(chart: Chart) -> TimedModel:
    """The model that a chart is. Raises one InputError with all that is wrong with it."""
    if not chart.machines:
        raise InputError(Diagnostic("there is no machine in it", chart.origin))
    names = Names(chart)
    problems = names.context.problems
    readers = []
    for number, machine in enumerate(chart.machines):
        with problems.collecting(f"machine {machine.name}"):
            readers.append(_MachineReader(names, machine, number))
    problems.raise_any()
    for reader in readers:
        reader.read_guards()
    problems.raise_any()
    names.finish_timers()
    machines = [reader.read() for reader in readers]
    problems.raise_any()
    _mark_driven(names, machines)
    problems.raise_any()
    return TimedModel(
        name=chart.name,
        file=chart.origin.file,
        machines=tuple(machines),
        variables=tuple(names.variables.values()),
        elapsed=tuple(dict.fromkeys(names.elapsed)),
        requirements=chart.requirements,
        goals=chart.goals,
        formulas=names.formula,
        findings=(*names.findings, *chart.notes),
    )


def _mark_driven(names: Names, machines: Sequence[TimedMachine]) -> None:
    """Inputs that the environment's machines set are not free; the system itself sets none."""
    for machine in machines:
        for write in _writes(machine):
            variable = names.variables[write.variable]
            if variable.role != "input":
                continue
            if not machine.environment:
                names.context.problems.add(
                    Problem(
                        f"machine `{machine.name}` assigns to the input `{variable.name}`",
                        write.origin,
                        "mark the machine with `environment: true` if it stands for the outside",
                    )
                )
            names.variables[write.variable] = replace(variable, driven=True)


def _writes(machine: TimedMachine) -> list[Write]:
    found: list[Write] = []
    for location in machine.locations:
        found += (*location.entry, *location.do, *location.exit, *location.start_action)
    for transition in machine.transitions:
        found += transition.action
    return found


class _MachineReader:
    def __init__(self, names: Names, machine: Machine, number: int) -> None:
        self.names = names
        self.machine = machine
        self.number = number
        self.problems = names.context.problems
        self.states = {state.ident: state for state in machine.states}
        if len(self.states) < len(machine.states):
            raise Problem("two states have the same identifier", machine.origin)
        self.initial: dict[str | None, ChartState] = {}
        for state in machine.states:
            with self.problems.collecting():
                self._check_state(state)
        if None not in self.initial:
            raise Problem(f"machine `{machine.name}` has no initial state", machine.origin)
        self.numbers: dict[str, int] = {}
        self.locations: list[Location] = [
            Location(number=0, ident="", name=machine.name, parent=None, origin=machine.origin)
        ]
        self._basic = 0
        self._add(None, 0, 0)
        for state in machine.states:
            if state.ident not in self.numbers and state.kind != "initial":
                raise Problem(
                    f"state `{state.name}` stands in no state of the machine", state.origin
                )
        self.control = names.place_machine(machine.name, self.locations)
        self.guards: list[Expr | None] = []

    # ------------------------------------------------------------------------------------ states

    def _check_state(self, state: ChartState) -> None:
        if state.kind in ("choice", "junction", "terminate", "history"):
            raise Problem(
                f"the {state.kind} `{state.name}`",
                state.origin,
                "write a transition for each way through it"
                if state.kind in ("choice", "junction")
                else "tests are made of basic control states",
                unsupported=True,
            )
        if state.kind == "initial":
            if state.parent in self.initial:
                raise Problem(
                    "a second initial state, as orthogonal regions have it",
                    state.origin,
                    "make each region a machine",
                    unsupported=True,
                )
            self.initial[state.parent] = state

    def _add(self, parent: str | None, around: int, depth: int) -> None:
        """The locations in a composite one, depth first."""
        if depth > _DEEPEST:
            raise Problem(f"states nested more than {_DEEPEST} levels deep", self.machine.origin)
        first = self._basic
        children = []
        for state in self.machine.states:
            if state.parent != parent or (state.kind == "initial" and parent is not None):
                continue
            number = len(self.locations)
            children.append(number)
            self.numbers[state.ident] = number
            self.locations.append(
                Location(
                    number=number,
                    ident=state.ident,
                    name=state.name,
                    parent=around,
                    pseudo=state.kind == "initial",
                    requirements=state.requirements,
                    origin=state.origin,
                )
            )
            if any(other.parent == state.ident for other in self.machine.states):
                self._add(state.ident, number, depth + 1)
            else:
                self.locations[number] = replace(
                    self.locations[number], first=self._basic, last=self._basic
                )
                self._basic += 1
        self.locations[around] = replace(
            self.locations[around], children=tuple(children), first=first, last=self._basic - 1
        )

    # --------------------------------------------------------------------------------- transitions

    def read_guards(self) -> None:
        for transition in self.machine.transitions:
            written = None
            with self.problems.collecting(f"machine {self.machine.name}"):
                if transition.guard is not None:
                    written = self.names.read_guard(transition.guard, self.machine.name)
            self.guards.append(written)

    def read(self) -> TimedMachine:
        transitions: list[Transition] = []
        for transition, written in zip(self.machine.transitions, self.guards, strict=True):
            with self.problems.collecting(f"machine {self.machine.name}"):
                made = self._transition(transition, written, len(transitions))
                if made is not None:
                    transitions.append(made)
        for state in self.machine.states:
            with self.problems.collecting(f"state {state.ident} of machine {self.machine.name}"):
                self._actions(state)
        for parent, state in self.initial.items():
            leaving = [t for t in self.machine.transitions if t.source == state.ident]
            if len(leaving) != 1:
                self.problems.add(
                    Problem(
                        f"an initial state has {len(leaving)} transitions; expected one",
                        state.origin,
                    )
                )
            elif parent is not None:
                self._check_inside(parent, leaving[0])
        for location in self.locations[1:]:
            if not location.basic and location.start is None:
                self.problems.add(
                    Problem(f"state `{location.name}` has no initial state", location.origin)
                )
        alike = self._alike(transitions)
        choice = None
        if self.machine.environment and alike > 1:
            choice = self.names.choice(self.machine.name, alike)
        return TimedMachine(
            name=self.machine.name,
            number=self.number,
            control=self.control,
            locations=tuple(self.locations),
            transitions=tuple(transitions),
            environment=self.machine.environment,
            choice=choice,
            origin=self.machine.origin,
        )

    def _check_inside(self, parent: str, transition: ChartTransition) -> None:
        state: str | None = transition.target
        while state is not None and state in self.states:
            state = self.states[state].parent
            if state == parent:
                return
        self.problems.add(
            Problem(f"the initial transition of `{parent}` leads out of it", transition.origin)
        )

    @staticmethod
    def _alike(transitions: Sequence[Transition]) -> int:
        """How many transitions at most leave one location with one priority."""
        count: dict[tuple[int, int], int] = {}
        for one in transitions:
            count[one.source, one.priority] = count.get((one.source, one.priority), 0) + 1
        return max(count.values(), default=0)

    def _transition(
        self, transition: ChartTransition, written: Expr | None, number: int
    ) -> Transition | None:
        for ident in (transition.source, transition.target):
            if ident not in self.states:
                known = list(self.states)
                raise Problem(
                    f"there is no state `{ident}`", transition.origin, suggestion(ident, known)
                )
        self._refuse(transition)
        source, target = self.states[transition.source], self.states[transition.target]
        if target.kind == "initial":
            raise Problem("a transition leads to an initial state", transition.origin)
        action = self._effects(transition.effects)
        if source.kind == "initial":
            if transition.guard is not None:
                raise Problem(
                    "a guard on an initial transition", transition.origin, unsupported=True
                )
            if source.parent is not None:
                around = self.numbers[source.parent]
                self.locations[around] = replace(
                    self.locations[around],
                    start=self.numbers[transition.target],
                    start_action=action,
                )
                return None
        guard = None if written is None else self.names.guard(written, self.machine.name)
        text = "" if transition.guard is None else " ".join(transition.guard.text.split())
        return Transition(
            number=number,
            source=self.numbers[transition.source],
            target=self.numbers[transition.target],
            priority=transition.priority or 0,
            guard=guard,
            action=action,
            internal=transition.internal,
            text=text,
            requirements=transition.requirements,
            origin=transition.origin,
        )

    def _refuse(self, transition: ChartTransition) -> None:
        origin: Origin = transition.origin
        if transition.trigger is not None:
            raise Problem(
                f"the trigger `{transition.trigger}`",
                origin,
                "machines that step together share variables and send no messages: use a guard",
                unsupported=True,
            )
        if transition.rate is not None:
            raise Problem("a rate in a model to generate tests from", origin, unsupported=True)
        if transition.otherwise:
            raise Problem("`else` on a transition that leaves no choice", origin)

    def _actions(self, state: ChartState) -> None:
        if state.kind == "initial":
            if state.entry or state.do or state.exit:
                raise Problem("actions of an initial state", state.origin, unsupported=True)
            return
        number = self.numbers[state.ident]
        self.locations[number] = replace(
            self.locations[number],
            entry=self._effects(state.entry),
            do=self._effects(state.do),
            exit=self._effects(state.exit),
        )

    def _effects(self, effects: Sequence[Effect]) -> tuple[Write, ...]:
        found: list[Write] = []
        for effect in effects:
            if isinstance(effect, Send):
                raise Problem(
                    f"sending the message `{effect.signal}`",
                    effect.origin,
                    "machines that step together share variables and send no messages",
                    unsupported=True,
                )
            assert isinstance(effect, Assign)
            found += self.names.writes(effect.text, self.machine.name)
        return tuple(found)
