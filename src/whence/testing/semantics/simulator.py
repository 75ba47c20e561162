"""Concrete steps, as fast as Python can: a model becomes the source of a few functions.

A state is a tuple of integers in the order of `TimedModel.symbols`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

from whence.expr.intervals import interval
from whence.expr.tree import Symbol
from whence.source import Origin
from whence.testing.model import TimedMachine, TimedModel, Transition, Write
from whence.testing.semantics.definitions import do_actions, effect, levels, timers
from whence.testing.semantics.python import (
    NAMESPACE,
    Fault,
    compiled,
    may_fault,
    number_source,
    truth_source,
)

__all__ = ["Illegal", "Simulator", "State"]

State = tuple[int, ...]


class Illegal(Exception):
    """The model has no step from here, though something is to be done: a racing condition, an
    overlap of transitions, a value outside its range or an expression without value."""

    def __init__(self, kind: str, message: str, origin: Origin) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.origin = origin


class Simulator:
    """`step(state)`: the state after the discrete step from here, None if a delay is due; raises
    Illegal.  `limit(state)`: how much time may pass at most.  `wait(state, delay, free)`: the state
    after that time, with new values of the free variables in their order."""

    step: Callable[[State], State | None]
    limit: Callable[[State], int]
    wait: Callable[[State, int, Sequence[int]], State]

    def __init__(self, model: TimedModel) -> None:
        self.model = model
        self.names = {symbol: f"v{place}" for symbol, place in model.place.items()}
        self.free = tuple(model.place[v.symbol] for v in model.variables if v.free)
        self.choices = tuple((model.place[v.symbol], v.limits[1]) for v in model.having("choice"))
        self._writes: list[Write] = []
        self._overlaps: list[tuple[TimedMachine, tuple[Transition, ...]]] = []
        self._shared = self._variables_of_several()
        source = "\n".join((*self._step(), *self._fired(), *self._limit(), *self._wait(), ""))
        space: dict[str, Any] = {
            **NAMESPACE,
            "_out": self._out_of_range,
            "_race": self._race,
            "_overlap": self._overlap,
            "_pick": _pick,
            "Fault": Fault,
            "_no_value": self._no_value,
        }
        exec(compiled(source, f"the model `{model.name}`"), space)
        self.source = source
        self.step = space["step"]
        self.limit = space["limit"]
        self.wait = space["wait"]
        self._fired_of: Callable[[State], tuple[int, ...]] = space["fired"]

    def initial(self, free: Sequence[int]) -> State:
        """The initial state with these values of the free variables."""
        values = iter(free)
        starts = [next(b.first for b in m.basics if b.pseudo) for m in self.model.machines]
        return (
            *starts,
            *(next(values) if v.free else v.initial for v in self.model.variables),
        )

    def fired(self, state: State) -> tuple[int, ...]:
        """The number of the transition that each machine takes in the next step, or -1."""
        return self._fired_of(state)

    # ------------------------------------------------------------------------------- complaints

    def _out_of_range(self, number: int, value: int) -> NoReturn:
        write = self._writes[number]
        variable = self.model.variable_of[write.variable]
        given, low, high = self._shown(write.variable, value, *variable.limits)
        raise Illegal(
            "range",
            f"`{variable.name}` is assigned {given}, outside its range {low} to {high}",
            write.origin,
        )

    def _shown(self, symbol: Symbol, *values: int) -> list[str]:
        variable = self.model.variable_of[symbol]
        return [str(one) if variable.ieee is None else variable.shown(one) for one in values]

    def _race(self, number: int, before: int, value: int) -> NoReturn:
        write = self._writes[number]
        first, second = self._shown(write.variable, before, value)
        raise Illegal(
            "race",
            f"`{write.variable}` is assigned {first} and {second} in one step",
            write.origin,
        )

    def _overlap(self, number: int) -> NoReturn:
        machine, group = self._overlaps[number]
        raise Illegal(
            "overlap",
            f"several transitions of `{machine.name}` are enabled, with the same priority",
            group[-1].origin,
        )

    def _no_value(self, fault: Fault, number: int) -> NoReturn:
        origin = self.model.machines[number].origin
        raise Illegal("fault", f"{fault} in machine `{self.model.machines[number].name}`", origin)

    # ----------------------------------------------------------------------------------- sources

    def _variables_of_several(self) -> frozenset[Symbol]:
        """Variables that several writes of a step may concern."""
        found: set[Symbol] = set()
        writers: dict[Symbol, set[int]] = {}
        for machine in self.model.machines:
            for active in machine.basics:
                options = [do_actions(machine, active.number)]
                for group in levels(machine, active.number):
                    options += [effect(machine, one, active.number).writes for one in group]
                for writes in options:
                    for symbol, count in Counter(write.variable for write in writes).items():
                        writers.setdefault(symbol, set()).add(machine.number)
                        if count > 1:
                            found.add(symbol)
        found.update(symbol for symbol, machines in writers.items() if len(machines) > 1)
        return frozenset(found)

    def _unpacked(self) -> str:
        return f"    ({', '.join(self.names.values())},) = state"

    def _step(self) -> Iterator[str]:
        yield "def step(state):"
        yield self._unpacked()
        yield "    moved = False"
        names = [self.names[symbol] for symbol in self.model.symbols]
        yield f"    {' = '.join(['_'] + [f'w{n[1:]}' for n in self._nexts(True)])} = None"
        for symbol in self._changing():
            if symbol not in self._shared:
                yield f"    n{self.names[symbol][1:]} = {self.names[symbol]}"
        yield "    at = 0"
        yield "    try:"
        for machine in self.model.machines:
            yield f"        at = {machine.number}"
            yield from ("        " + line for line in self._machine(machine))
        yield "    except Fault as fault:"
        yield "        _no_value(fault, at)"
        yield "    if not moved:"
        yield "        return None"
        changing = set(self._changing())
        parts = []
        for symbol, name in zip(self.model.symbols, names, strict=True):
            n = name[1:]
            if symbol not in changing:
                parts.append(name)
            elif symbol in self._shared:
                parts.append(f"{name} if w{n} is None else w{n}")
            else:
                parts.append(f"n{n}")
        yield f"    return ({', '.join(parts)},)"

    def _nexts(self, shared: bool) -> list[str]:
        return [self.names[s] for s in self.model.symbols if (s in self._shared) == shared]

    def _changing(self) -> list[Symbol]:
        return [
            *(machine.control for machine in self.model.machines),
            *(v.symbol for v in self.model.variables if not v.free),
        ]

    def _machine(self, machine: TimedMachine) -> Iterator[str]:
        control = self.names[machine.control]
        for number, active in enumerate(machine.basics):
            yield f"{'elif' if number else 'if'} {control} == {active.first}:"
            yield from ("    " + line for line in self._location(machine, active.number))

    def _location(self, machine: TimedMachine, active: int) -> Iterator[str]:
        groups = list(levels(machine, active))
        for group in groups:
            for one in group:
                if one.guard is not None and may_fault(one.guard):
                    yield truth_source(one.guard, self.names)
        yield from self._chain(machine, groups, lambda one: self._taken(machine, one, active))
        yield "else:"
        yield from ("    " + line for line in self._done(do_actions(machine, active)))

    def _chain(
        self,
        machine: TimedMachine,
        groups: Sequence[tuple[Transition, ...]],
        body: Callable[[Transition], Iterator[str]],
    ) -> Iterator[str]:
        """`if … elif …` over the groups; an `else` can follow."""
        yield "if False:"
        yield "    pass"
        for group in groups:
            if len(group) == 1:
                yield f"elif {self._guard(group[0])}:"
                yield from ("    " + line for line in body(group[0]))
                continue
            flags = [f"(g{n} := 1 if {self._guard(one)} else 0)" for n, one in enumerate(group)]
            names = [f"g{number}" for number in range(len(group))]
            yield f"elif {' + '.join(flags)}:"
            if machine.choice is not None:
                pick = f"_pick(({', '.join(names)}), {self.names[machine.choice]})"
            else:
                self._overlaps.append((machine, group))
                yield f"    if {' + '.join(names)} > 1: _overlap({len(self._overlaps) - 1})"
                pick = f"({', '.join(names)}).index(1)"
            yield f"    g = {pick}"
            for number, one in enumerate(group):
                yield f"    {'elif' if number else 'if'} g == {number}:"
                yield from ("        " + line for line in body(one))

    def _guard(self, one: Transition) -> str:
        return "True" if one.guard is None else truth_source(one.guard, self.names)

    def _taken(self, machine: TimedMachine, one: Transition, active: int) -> Iterator[str]:
        found = effect(machine, one, active)
        yield "moved = True"
        yield f"n{self.names[machine.control][1:]} = {found.target}"
        for write in found.writes:
            yield from self._assign(write)

    def _done(self, writes: Sequence[Write]) -> Iterator[str]:
        """Do actions: a step is due if one of them changes something."""
        yield "pass"
        for write in writes:
            yield from self._assign(write)
            yield f"if x != {self.names[write.variable]}: moved = True"

    def _assign(self, write: Write) -> Iterator[str]:
        n = self.names[write.variable][1:]
        low, high = self.model.variable_of[write.variable].limits
        bounds = interval(write.value)
        number = len(self._writes)
        self._writes.append(write)
        yield f"x = {number_source(write.value, self.names)}"
        if not (low <= bounds.lo and bounds.hi <= high):
            yield f"if not {low} <= x <= {high}: _out({number}, x)"
        if write.variable in self._shared:
            yield f"if w{n} is None: w{n} = x"
            yield f"elif w{n} != x: _race({number}, w{n}, x)"
        else:
            yield f"n{n} = x"

    def _fired(self) -> Iterator[str]:
        """The same without effects."""
        yield "def fired(state):"
        yield self._unpacked()
        for machine in self.model.machines:
            control = self.names[machine.control]
            yield f"    f{machine.number} = -1"
            for number, active in enumerate(machine.basics):
                yield f"    {'elif' if number else 'if'} {control} == {active.first}:"
                yield from (
                    "        " + line
                    for line in self._chain(
                        machine,
                        list(levels(machine, active.number)),
                        lambda one, m=machine: iter((f"f{m.number} = {one.number}",)),  # type: ignore[misc]
                    )
                )
        yield f"    return ({', '.join(f'f{m.number}' for m in self.model.machines)},)"

    def _limit(self) -> Iterator[str]:
        yield "def limit(state):"
        yield f"    most = {self.model.longest}"
        for machine in self.model.machines:
            for basic in machine.basics:
                found = timers(machine, basic.number)
                if found:
                    yield f"    if state[{machine.number}] == {basic.first}:"
                for elapsed in found:
                    yield f"        x = {elapsed.constant} - state[{self.model.place[elapsed.age]}]"
                    yield "        if 0 < x < most: most = x"
        yield "    return most"

    def _wait(self) -> Iterator[str]:
        yield "def wait(state, delay, free):"
        yield self._unpacked()
        values = [self.names[v.symbol] for v in self.model.variables if v.free]
        if values:
            yield f"    ({', '.join(values)},) = free"
        parts = []
        for symbol, name in self.names.items():
            variable = self.model.variable_of.get(symbol)
            if variable is not None and variable.role == "timer":
                cap = variable.limits[1]
                parts.append(f"{name} + delay if {name} + delay < {cap} else {cap}")
            else:
                parts.append(name)
        yield f"    return ({', '.join(parts)},)"


def _pick(enabled: tuple[int, ...], first: int) -> int:
    """The first enabled one in the round that begins with number `first`."""
    size = len(enabled)
    return next((first + k) % size for k in range(size) if enabled[(first + k) % size])
