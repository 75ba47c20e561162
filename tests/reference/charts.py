"""What charts mean when their machines are interleaved, step by step, in plain Python.

Written from docs/charts.md.  A run of a transition is executed as it is described: leave the
states, do what stands on the segments, ask a choice when one stands before it, enter the states.
Expressions are a small part of the language (`&& || ! == != < <= > >= + - *`, `name` and
`Machine.name`), which is read as Python once `&&`, `||` and `!` are replaced.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from whence.model.chart import (
    Assign,
    Chart,
    ChartState,
    ChartTransition,
    ChartVariable,
    Effect,
    Machine,
    Send,
)

__all__ = ["Ambiguous", "Broken", "Label", "Reference", "State", "TooLarge"]

#: (machine, what the step is called); (machine, None) is a message that is discarded.
Label = tuple[str, str | None]


@dataclass(frozen=True)
class State:
    """`at`: where each machine is. `values`: by (owner or "", name). `queues`: by machine."""

    at: tuple[tuple[str, str], ...]
    values: tuple[tuple[tuple[str, str], int], ...]
    queues: tuple[tuple[str, tuple[str, ...]], ...]


class Broken(Exception):
    """A value leaves the range of its variable."""


class Ambiguous(Exception):
    """A machine starts in no state, or in several; or a message at the start does not fit."""


class TooLarge(Exception):
    """More states than were asked for."""


@dataclass
class Run:
    """A step that is being made."""

    at: dict[str, str]
    values: dict[tuple[str, str], int]
    queues: dict[str, list[str]]
    broken: bool = False
    blocked: bool = False
    #: The values when the last decision was made: guards behind junctions are asked of these.
    decided: dict[tuple[str, str], int] = field(default_factory=dict)
    event: str | None = None

    def copy(self) -> Run:
        queues = {name: list(queue) for name, queue in self.queues.items()}
        return replace(
            self,
            at=dict(self.at),
            values=dict(self.values),
            queues=queues,
            decided=dict(self.decided),
        )


_BINARY: dict[type, Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def python_of(text: str) -> ast.expr:
    text = text.replace("&&", " and ").replace("||", " or ")
    text = re.sub(r"!(?!=)", " not ", text)
    text = re.sub(r"\btrue\b", "1", re.sub(r"\bfalse\b", "0", text))
    return ast.parse(text.strip(), mode="eval").body


class Reference:
    def __init__(self, chart: Chart) -> None:
        self.chart = chart
        self.machines = {machine.name: machine for machine in chart.machines}
        self.variables: dict[tuple[str, str], ChartVariable] = {
            ("", variable.name): variable for variable in chart.variables
        }
        for machine in chart.machines:
            for variable in machine.variables:
                self.variables[machine.name, variable.name] = variable

    # ------------------------------------------------------------------------------- the states

    def state(self, machine: Machine, ident: str) -> ChartState:
        return next(state for state in machine.states if state.ident == ident)

    def around(self, machine: Machine, ident: str) -> list[str]:
        """The composite states around a state, innermost first."""
        found = []
        parent = self.state(machine, ident).parent
        while parent is not None:
            found.append(parent)
            parent = self.state(machine, parent).parent
        return found

    def active(self, machine: Machine, ident: str) -> list[str]:
        if self.state(machine, ident).kind == "terminate":
            return [ident]
        return [ident, *self.around(machine, ident)]

    def initial_of(self, machine: Machine, parent: str | None) -> ChartTransition:
        (initial,) = [s for s in machine.states if s.kind == "initial" and s.parent == parent]
        (transition,) = self.leaving(machine, initial.ident)
        return transition

    def leaving(self, machine: Machine, ident: str) -> list[ChartTransition]:
        return [t for t in machine.transitions if t.source == ident]

    # ---------------------------------------------------------------------------------- the texts

    def value(
        self, node: ast.expr, machine: Machine, run: Run, values: dict[tuple[str, str], int]
    ) -> int:
        def of(part: ast.expr) -> int:
            return self.value(part, machine, run, values)

        match node:
            case ast.Constant(value=int() as number):
                return int(number)
            case ast.Name(id=name):
                own = (machine.name, name)
                return values[own] if own in values else values["", name]
            case ast.Attribute(value=ast.Name(id=other), attr=name):
                if (other, name) in values:
                    return values[other, name]
                owner = self.machines[other]
                (ident,) = [s.ident for s in owner.states if s.name == name]
                return int(ident in self.active(owner, run.at[other]))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return int(of(operand) == 0)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -of(operand)
            case ast.BoolOp(op=ast.And(), values=parts):
                return int(all(of(part) for part in parts))
            case ast.BoolOp(op=ast.Or(), values=parts):
                return int(any(of(part) for part in parts))
            case ast.BinOp(left=left, op=op, right=right):
                return _BINARY[type(op)](of(left), of(right))
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return int(_BINARY[type(op)](of(left), of(right)))
        raise AssertionError(ast.dump(node))

    def holds(self, machine: Machine, transition: ChartTransition, run: Run) -> bool:
        """Whether the guard of a transition holds for the values of the last decision."""
        if transition.otherwise:
            return not any(
                self.holds(machine, other, run)
                for other in self.leaving(machine, transition.source)
                if not other.otherwise
            )
        if transition.guard is None:
            return True
        return self.value(python_of(transition.guard.text), machine, run, run.decided) != 0

    def perform(self, machine: Machine, effects: Sequence[Effect], run: Run) -> None:
        for effect in effects:
            if isinstance(effect, Assign):
                for text in effect.text.text.split(","):
                    self.assign(machine, text, run)
            else:
                self.send(effect, run)

    def assign(self, machine: Machine, text: str, run: Run) -> None:
        found = re.fullmatch(r"\s*([\w.]+)\s*([-+*]?)=(.*)", text)
        assert found is not None, text
        target, op, right = found.groups()
        owner, _, name = target.rpartition(".")
        if not owner:
            owner = machine.name if (machine.name, target) in self.variables else ""
        source = right if not op else f"{target} {op} ({right})"
        new = self.value(python_of(source), machine, run, run.values)
        type_ = self.variables[owner, name].type
        if type_.kind == "bool":
            new = int(new != 0)
        elif type_.wrap:
            new = (new - type_.lo) % (type_.hi - type_.lo + 1) + type_.lo
        elif type_.kind == "int" and not type_.lo <= new <= type_.hi:
            run.broken = True
        run.values[owner, name] = new

    @property
    def sent(self) -> set[str]:
        """The signals that some machine sends; all others come from outside."""
        return {
            effect.signal
            for machine in self.chart.machines
            for effects in (
                *(state.entry + state.exit for state in machine.states),
                *(transition.effects for transition in machine.transitions),
            )
            for effect in effects
            if isinstance(effect, Send)
        }

    def receivers(self, send: Send) -> list[str]:
        if send.target is not None:
            return [send.target]
        return [
            machine.name
            for machine in self.chart.machines
            if any(t.trigger == send.signal for t in machine.transitions)
        ]

    def send(self, send: Send, run: Run) -> None:
        for name in self.receivers(send):
            if len(run.queues[name]) < self.machines[name].capacity:
                run.queues[name].append(send.signal)
            elif self.machines[name].when_full == "block":
                run.blocked = True

    # --------------------------------------------------------------------------------- one step

    def routes(
        self, machine: Machine, transition: ChartTransition
    ) -> Iterator[list[ChartTransition]]:
        """The segments of the ways to the first state."""
        if self.state(machine, transition.target).kind not in ("choice", "junction"):
            yield [transition]
            return
        for following in self.leaving(machine, transition.target):
            for rest in self.routes(machine, following):
                yield [transition, *rest]

    def decide(self, machine: Machine, transition: ChartTransition, run: Run) -> bool:
        if self.state(machine, transition.source).kind == "choice":
            run.decided = dict(run.values)
        return self.holds(machine, transition, run)

    def runs(self, machine: Machine, transition: ChartTransition, before: Run) -> Iterator[Run]:
        """What a transition does, on each of its ways whose guards hold."""
        start = before.copy()
        start.decided = dict(start.values)
        if transition.trigger in self.sent:
            start.queues[machine.name].pop(0)
        if transition.internal:
            if self.holds(machine, transition, start):
                start.event = transition.event or self.state(machine, transition.source).name
                self.perform(machine, transition.effects, start)
                yield start
            return
        for route in self.routes(machine, transition):
            run = start.copy()
            target = route[-1].target
            scope = self.scope(machine, [route[0].source, *(segment.target for segment in route)])
            guarded = True
            for number, segment in enumerate(route):
                guarded = guarded and self.decide(machine, segment, run)
                if number == 0 and self.state(machine, target).kind != "terminate":
                    for ident in self.active(machine, run.at[machine.name]):
                        if ident == scope:
                            break
                        self.perform(machine, self.state(machine, ident).exit, run)
                self.perform(machine, segment.effects, run)
                run.event = segment.event or run.event
            if guarded:
                run.event = run.event or self.state(machine, target).name
                yield from self.enter(machine, target, scope, run)

    def scope(self, machine: Machine, touched: Sequence[str]) -> str | None:
        around = [self.around(machine, ident) for ident in touched]
        for composite in around[0]:
            if all(composite in others for others in around):
                return composite
        return None

    def enter(self, machine: Machine, ident: str, scope: str | None, run: Run) -> Iterator[Run]:
        state = self.state(machine, ident)
        way = [ident]
        for composite in self.around(machine, ident):
            if composite == scope:
                break
            way.insert(0, composite)
        if state.kind == "terminate":
            way = [ident]
        for entered in way:
            self.perform(machine, self.state(machine, entered).entry, run)
        if any(other.parent == ident for other in machine.states):
            yield from self.begin(machine, ident, run)
        else:
            run.at[machine.name] = ident
            yield run

    def begin(self, machine: Machine, composite: str | None, run: Run) -> Iterator[Run]:
        """Goes from the initial pseudostate of a composite state, or waits in it."""
        initial = self.initial_of(machine, composite)
        if initial.event is not None:
            run.at[machine.name] = initial.source
            yield run
            return
        for route in self.routes(machine, initial):
            branch = run.copy()
            guarded = True
            for segment in route:
                if segment is not initial:
                    guarded = guarded and self.decide(machine, segment, branch)
                self.perform(machine, segment.effects, branch)
                if segment.event is not None:
                    branch.event = segment.event
            if guarded:
                yield from self.enter(machine, route[-1].target, composite, branch)

    def steps(self, state: State) -> Iterator[tuple[Label, State]]:
        before = Run(dict(state.at), dict(state.values), {n: list(q) for n, q in state.queues})
        for machine in self.chart.machines:
            yield from self.steps_of(machine, before)

    def steps_of(self, machine: Machine, before: Run) -> Iterator[tuple[Label, State]]:
        queue = before.queues[machine.name]
        head = queue[0] if queue else None
        possible: list[tuple[ChartTransition, list[Run]]] = []
        for ident in self.active(machine, before.at[machine.name]):
            for transition in self.leaving(machine, ident):
                outside = transition.trigger is not None and transition.trigger not in self.sent
                if transition.trigger is None or outside or transition.trigger == head:
                    runs = list(self.runs(machine, transition, before))
                    if runs:
                        possible.append((transition, runs))
        for transition, runs in possible:
            if any(self.precedes(machine, other, transition) for other, _ in possible):
                continue
            for run in runs:
                if run.blocked:
                    continue
                if run.broken:
                    raise Broken
                yield (machine.name, run.event), self.frozen(run)
        taken = any(transition.trigger == head for transition, _ in possible)
        if head is not None and machine.unexpected == "discard" and not taken:
            run = before.copy()
            run.queues[machine.name].pop(0)
            yield (machine.name, None), self.frozen(run)

    def precedes(self, machine: Machine, first: ChartTransition, second: ChartTransition) -> bool:
        if first is second or first.trigger != second.trigger:
            return False
        if first.source == second.source:
            ranked = first.priority is not None and second.priority is not None
            return ranked and first.priority < second.priority  # type: ignore[operator]
        inner = second.source in self.around(machine, first.source)
        return inner and first.trigger is not None

    # -------------------------------------------------------------------------------- all states

    def frozen(self, run: Run) -> State:
        return State(
            tuple(run.at.items()),
            tuple(run.values.items()),
            tuple((name, tuple(queue)) for name, queue in run.queues.items()),
        )

    def start(self) -> State:
        values = {}
        for key, variable in self.variables.items():
            text = variable.initial.text if variable.initial is not None else None
            value: Any = 0 if text is None else ast.literal_eval(text.capitalize())
            values[key] = int(value)
        run = Run({}, values, {name: [] for name in self.machines})
        for machine in self.chart.machines:
            run.decided = dict(run.values)
            found = list(self.begin(machine, None, run.copy()))
            if len(found) != 1 or found[0].blocked or found[0].broken:
                raise Ambiguous
            (run,) = found
        return self.frozen(run)

    def explore(self, limit: int) -> tuple[State, set[tuple[State, Label, State]], set[State]]:
        """(the first state, all steps between reachable states, all reachable states)."""
        first = self.start()
        known = {first}
        waiting = [first]
        steps = set()
        while waiting:
            state = waiting.pop()
            for label, target in self.steps(state):
                steps.add((state, label, target))
                if target not in known:
                    known.add(target)
                    waiting.append(target)
                    if len(known) > limit:
                        raise TooLarge
        return first, steps, known
