"""Writes charts in our YAML format: what is written reads back equal."""

from __future__ import annotations

import json
import re
from fractions import Fraction

from whence.expr.scope import Problem, Problems
from whence.formats.charts.machines import INITIAL
from whence.formats.charts.texts import NAME, write_effects, write_type
from whence.model.chart import (
    Chart,
    ChartState,
    ChartTransition,
    ChartVariable,
    Hazard,
    Machine,
    UserGoal,
)

__all__ = ["write_chart"]

Value = str | int | bool | list["Value"] | dict[str, "Value"]

_WIDTH = 100
#: Texts that are safe without quotes, inside braces too.
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./()+*=<> &|;-]*[A-Za-z0-9_)]|[A-Za-z_]", re.ASCII)
#: What YAML does not let stand for itself, or takes for the end of a line.
_UNPRINTABLE = re.compile(
    "[^\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
_SPECIAL = frozenset(("true", "false", "null", "yes", "no", "on", "off", "y", "n"))


def write_chart(chart: Chart) -> str:
    """The chart as a text. Raises InputError where it has something that the format has not."""
    problems = Problems()
    whole: dict[str, Value] = {}
    if chart.name:
        whole["chart"] = chart.name
    if chart.time_unit != "hour":
        whole["time-unit"] = chart.time_unit
    if chart.signals:
        whole["signals"] = [signal.name for signal in chart.signals]
    _put(whole, "variables", _variables(chart.variables, problems))
    whole["machines"] = {m.name: _MachineWriter(m, problems).write() for m in chart.machines}
    _put(whole, "hazards", {hazard.name: _hazard(hazard) for hazard in chart.hazards})
    _put(whole, "requirements", {r.ident: r.text for r in chart.requirements})
    _put(whole, "goals", {goal.name: _goal(goal) for goal in chart.goals})
    problems.raise_any()
    return "".join(f"{line}\n" for line in _block(whole, 0))


def _put(into: dict[str, Value], key: str, value: Value) -> None:
    if value not in ({}, [], "", False):
        into[key] = value


def _hazard(hazard: Hazard) -> Value:
    return {"ltl": hazard.text.text} if hazard.temporal else hazard.text.text


def _goal(goal: UserGoal) -> Value:
    if not goal.requirements:
        return goal.text.text
    return {"ltl": goal.text.text, "satisfies": list(goal.requirements)}


def _variables(variables: tuple[ChartVariable, ...], problems: Problems) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for variable in variables:
        with problems.collecting(f"variable {variable.name}"):
            _check_name(variable.name, variable)
            type_ = write_type(variable.type)
            initial = None if variable.initial is None else variable.initial.text
            if variable.role != "internal":
                described: dict[str, Value] = {"type": type_, "role": variable.role}
                if initial is not None:
                    described["initial"] = initial
                found[variable.name] = described
            else:
                found[variable.name] = type_ if initial is None else f"{type_} = {initial}"
    return found


def _check_name(name: str, item: ChartVariable | ChartState | Machine) -> None:
    if not NAME.fullmatch(name):
        raise Problem(
            f"`{name}` is no name of the YAML format",
            item.origin,
            "names are letters, digits and _, and begin with no digit",
        )


class _MachineWriter:
    def __init__(self, machine: Machine, problems: Problems) -> None:
        self.machine = machine
        self.problems = problems
        self.paths: dict[str, str] = {}
        with problems.collecting(f"machine {machine.name}"):
            _check_name(machine.name, machine)
        for state in machine.states:
            parent = None if state.parent is None else self.paths.get(state.parent)
            name = INITIAL if state.kind == "initial" else state.name
            self.paths[state.ident] = name if parent is None else f"{parent}.{name}"

    def write(self) -> Value:
        machine = self.machine
        found: dict[str, Value] = {}
        queue: dict[str, Value] = {}
        if machine.capacity != 2:
            queue["capacity"] = machine.capacity
        if machine.when_full != "block":
            queue["when-full"] = machine.when_full
        if machine.unexpected != "keep":
            queue["unexpected"] = machine.unexpected
        _put(found, "queue", queue)
        _put(found, "environment", machine.environment)
        _put(found, "variables", _variables(machine.variables, self.problems))
        self._inside(found, None)
        transitions: list[Value] = []
        kinds = {state.ident: state.kind for state in machine.states}
        for transition in machine.transitions:
            if kinds.get(transition.source) != "initial":
                with self.problems.collecting(f"machine {machine.name}"):
                    transitions.append(self._transition(transition))
        _put(found, "transitions", transitions)
        return found

    def _inside(self, found: dict[str, Value], parent: str | None) -> None:
        """What stands in a composite state, or in the machine."""
        states: dict[str, Value] = {}
        for state in self.machine.states:
            if state.parent != parent:
                continue
            with self.problems.collecting(f"machine {self.machine.name}"):
                if state.kind == "initial":
                    found["initial"] = self._initial(state)
                else:
                    _check_name(state.name, state)
                    states[state.name] = self._state(state)
        _put(found, "states", states)

    def _initial(self, state: ChartState) -> Value:
        leaving = [t for t in self.machine.transitions if t.source == state.ident]
        if len(leaving) != 1:
            raise Problem(f"an initial pseudostate with {len(leaving)} transitions", state.origin)
        (transition,) = leaving
        found: dict[str, Value] = {"to": self._path(transition.target)}
        if transition.trigger is not None or transition.priority is not None:
            raise Problem("a trigger or priority of an initial transition", transition.origin)
        self._label(found, transition)
        return found["to"] if len(found) == 1 else found

    def _state(self, state: ChartState) -> Value:
        found: dict[str, Value] = {}
        if state.kind not in ("simple", "composite"):
            found["kind"] = state.kind
        _put(found, "entry", write_effects(state.entry))
        _put(found, "exit", write_effects(state.exit))
        _put(found, "do", write_effects(state.do))
        _put(found, "failure", state.failure)
        _put(found, "tags", list(state.tags))
        _put(found, "satisfies", list(state.requirements))
        if state.position is not None:
            found["position"] = list(state.position)
        self._inside(found, state.ident)
        return found

    def _path(self, ident: str) -> Value:
        return self.paths.get(ident, ident)

    def _transition(self, transition: ChartTransition) -> Value:
        source, target = self._path(transition.source), self._path(transition.target)
        found: dict[str, Value] = {"from": source}
        if not transition.internal:
            found["to"] = target
        if transition.trigger is not None:
            found["on"] = transition.trigger
        self._label(found, transition)
        if transition.priority is not None:
            found["priority"] = transition.priority
        _put(found, "internal", transition.internal)
        return f"{source} -> {target}" if found.keys() == {"from", "to"} else found

    def _label(self, found: dict[str, Value], transition: ChartTransition) -> None:
        if transition.otherwise:
            found["when"] = "else"
        elif transition.guard is not None:
            found["when"] = transition.guard.text
        _put(found, "do", write_effects(transition.effects))
        if transition.event is not None:
            found["event"] = transition.event
        if transition.rate is not None:
            found["rate"] = _rate(transition.rate)
        _put(found, "failure", transition.failure)
        if transition.detected is not None:
            found["detected"] = transition.detected
        _put(found, "satisfies", list(transition.requirements))


def _rate(rate: Fraction) -> str:
    """Exactly: as a decimal number where it is one, else as a fraction."""
    rest = rate.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    digits = f"{float(rate):.12g}"
    if rest == 1 and Fraction(digits) == rate:
        return digits
    return f"{rate.numerator}/{rate.denominator}"


# ----------------------------------------------------------------------------------------- layout


def _scalar(value: str | int | bool) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if _PLAIN.fullmatch(value) and value.lower() not in _SPECIAL and "  " not in value:
        return value
    if re.fullmatch(r"[0-9][0-9.eE/+-]*", value):
        return value
    return _UNPRINTABLE.sub(_escape, json.dumps(value, ensure_ascii=False))


def _escape(match: re.Match[str]) -> str:
    return f"\\U{ord(match[0]):08x}"


def _flow(value: Value) -> str:
    match value:
        case dict():
            inside = ", ".join(f"{_scalar(key)}: {_flow(part)}" for key, part in value.items())
            return f"{{{inside}}}"
        case list():
            return f"[{', '.join(map(_flow, value))}]"
    return _scalar(value)


def _block(value: dict[str, Value], indent: int) -> list[str]:
    lines = []
    for key, part in value.items():
        start = f"{' ' * indent}{_scalar(key)}:"
        short = f"{start} {_flow(part)}"
        if not isinstance(part, dict | list) or (len(short) <= _WIDTH and _height(part) < 2):
            lines.append(short)
        elif isinstance(part, dict):
            lines.append(start)
            lines.extend(_block(part, indent + 2))
        else:
            lines.append(start)
            lines.extend(f"{' ' * (indent + 2)}- {_flow(item)}" for item in part)
    return lines


def _height(value: Value) -> int:
    """How deeply it is nested."""
    match value:
        case dict():
            return 1 + max(map(_height, value.values()), default=0)
        case list():
            return 1 + max(map(_height, value), default=0)
    return 0
