"""What timed charts mean when their machines step together, in plain Python.

Written from section 2 of the report and docs/charts.md: absolute time, timers that hold the time of
their last reset, sets of assignments.  Expressions (`&& || !` with parentheses, comparisons,
`+ - *`, `elapsed(t, c)`, names and `Machine.State`) are read as Python once `&&`, `||` and `!` are
replaced.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from types import SimpleNamespace
from typing import Any

from whence.model.chart import Assign, Chart, ChartState, ChartTransition, Effect, Machine

__all__ = ["Moment", "TimedReference"]

Key = tuple[str, str]


@dataclass(frozen=True)
class Moment:
    """`at`: the active basic state of each machine. `values`: by (owner or "", name); of a timer,
    the time of its last reset."""

    at: tuple[tuple[str, str], ...]
    values: tuple[tuple[Key, int], ...]
    now: int


class TimedReference:
    def __init__(self, chart: Chart) -> None:
        self.chart = chart
        self.variables = {("", v.name): v for v in chart.variables}
        for machine in chart.machines:
            self.variables.update({(machine.name, v.name): v for v in machine.variables})

    # ------------------------------------------------------------------------------- expressions

    def value(self, text: str, machine: str, moment: Moment) -> int:
        python = text.replace("&&", " and ").replace("||", " or ")
        python = re.sub(r"!(?!=)", " not ", python)
        values = dict(moment.values)
        names: dict[str, Any] = {"true": 1, "false": 0}
        for owner in ("", machine):
            names.update({name: value for (o, name), value in values.items() if o == owner})
        names["elapsed"] = lambda timer, constant: moment.now - timer >= constant
        for other in self.chart.machines:
            inside = self.around(other, dict(moment.at)[other.name])
            states = {state.name: int(state.ident in inside) for state in other.states}
            names[other.name] = SimpleNamespace(**states)
        return int(eval(python, {"__builtins__": {}}, names))

    def around(self, machine: Machine, ident: str) -> list[str]:
        """l..s without s, innermost first."""
        found: list[str] = []
        at: str | None = ident
        while at is not None:
            found.append(at)
            at = self.state(machine, at).parent
        return found

    @staticmethod
    def state(machine: Machine, ident: str) -> ChartState:
        return next(state for state in machine.states if state.ident == ident)

    # ----------------------------------------------------------------------------------- a machine

    def enabled(self, machine: Machine, ident: str | None, moment: Moment) -> list[ChartTransition]:
        """The transitions that leave a state and whose guards hold."""
        found = []
        for one in machine.transitions:
            if one.source == ident:
                text = "true" if one.guard is None else one.guard.text
                if self.value(text, machine.name, moment):
                    found.append(one)
        return found

    def triggered(self, machine: Machine, moment: Moment) -> list[ChartTransition]:
        active = dict(moment.at)[machine.name]
        for ident in reversed(self.around(machine, active)):
            enabled = self.enabled(machine, ident, moment)
            if enabled:
                best = min(one.priority or 0 for one in enabled)
                return [one for one in enabled if (one.priority or 0) == best]
        return []

    def assignments(
        self, machine: Machine, effects: tuple[Effect, ...], moment: Moment
    ) -> Iterator[tuple[Key, int]]:
        for effect in effects:
            assert isinstance(effect, Assign)
            for part in effect.text.text.split(","):
                reset = re.fullmatch(r"\s*reset\((\w+)\)\s*", part)
                if reset:
                    yield self.key(machine, reset[1]), moment.now
                else:
                    name, _, text = part.partition("=")
                    key = self.key(machine, name.strip())
                    yield key, self.stored(key, self.value(text.strip(), machine.name, moment))

    def key(self, machine: Machine, name: str) -> Key:
        return (machine.name, name) if (machine.name, name) in self.variables else ("", name)

    def stored(self, key: Key, value: int) -> int:
        type_ = self.variables[key].type
        if type_.kind == "bool":
            return int(value != 0)
        if type_.wrap:
            return (value - type_.lo) % (type_.hi - type_.lo + 1) + type_.lo
        return value

    def do(self, machine: Machine, idents: list[str], moment: Moment) -> list[tuple[Key, int]]:
        return [
            pair
            for ident in idents
            for pair in self.assignments(machine, self.state(machine, ident).do, moment)
        ]

    def taken(
        self, machine: Machine, one: ChartTransition, moment: Moment
    ) -> tuple[str, list[tuple[Key, int]]]:
        """epsilon: where the machine then is, and all assignments."""
        active = self.around(machine, dict(moment.at)[machine.name])
        if one.internal:
            here = self.around(machine, one.source)
            found = self.do(machine, here, moment)
            return active[0], found + list(self.assignments(machine, one.effects, moment))
        source, target = self.around(machine, one.source), self.around(machine, one.target)
        common = [ident for ident in source[1:] if ident in target[1:]]
        found = []
        for ident in active:
            if ident not in common:
                state = self.state(machine, ident)
                found += self.assignments(machine, state.exit, moment)
        found += self.do(machine, common, moment)
        found += self.assignments(machine, one.effects, moment)
        for ident in target:
            if ident not in common:
                found += self.assignments(machine, self.state(machine, ident).entry, moment)
        reached = one.target
        while True:
            inner = [s for s in machine.states if s.parent == reached and s.kind == "initial"]
            if not inner:
                return reached, found
            (first,) = (t for t in machine.transitions if t.source == inner[0].ident)
            found += self.assignments(machine, first.effects, moment)
            outer = reached
            reached = first.target
            for ident in self.around(machine, reached):
                if ident == outer:
                    break
                found += self.assignments(machine, self.state(machine, ident).entry, moment)

    # ------------------------------------------------------------------------------------- steps

    def discrete(self, moment: Moment) -> list[Moment] | None:
        """The moments after the discrete step; None: nothing is to be done, and time may pass."""
        due = False
        options: list[list[tuple[str, list[tuple[Key, int]]]]] = []
        overlap = False
        for machine in self.chart.machines:
            triggered = self.triggered(machine, moment)
            at = dict(moment.at)[machine.name]
            if triggered:
                due = True
                overlap = overlap or (len(triggered) > 1 and not machine.environment)
                options.append([self.taken(machine, one, moment) for one in triggered])
            else:
                done = self.do(machine, self.around(machine, at), moment)
                due = due or any(dict(moment.values)[key] != value for key, value in done)
                options.append([(at, done)])
        if not due:
            return None
        if overlap:
            return []
        found = []
        for choice in product(*options):
            values = self.joined([pair for _, pairs in choice for pair in pairs], moment)
            if values is not None:
                names = [machine.name for machine in self.chart.machines]
                at_all = zip(names, (at for at, _ in choice), strict=True)
                found.append(Moment(tuple(at_all), values, moment.now))
        return found

    def joined(
        self, pairs: list[tuple[Key, int]], moment: Moment
    ) -> tuple[tuple[Key, int], ...] | None:
        """None: a racing condition, or a value outside its range."""
        written: dict[Key, int] = {}
        for key, value in pairs:
            if written.setdefault(key, value) != value:
                return None
            type_ = self.variables[key].type
            if type_.kind == "int" and not type_.lo <= value <= type_.hi:
                return None
        return tuple((key, written.get(key, value)) for key, value in moment.values)

    def limit(self, moment: Moment) -> int | None:
        """How much time may pass: up to the next timer that an active state asks for."""
        found = []
        for machine in self.chart.machines:
            active = self.around(machine, dict(moment.at)[machine.name])
            for one in machine.transitions:
                if one.source in active and one.guard is not None:
                    for timer, time in re.findall(r"elapsed\((\w+), (\d+)\)", one.guard.text):
                        reset = dict(moment.values)[self.key(machine, timer)]
                        if moment.now - reset < int(time):
                            found.append(reset + int(time) - moment.now)
        return min(found, default=None)
