"""Reads charts as we write them by hand: our YAML format (docs/charts.md, schema.json).

What expressions say is looked at later, by those who give charts a meaning; here they are texts
that know where they stand.  All that is wrong with the structure is reported at once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar

from whence.expr.scope import Problem, Problems, suggestion
from whence.formats.charts.machines import MachineReader
from whence.formats.charts.nodes import Mapping, Node, Scalar, decode, read_nodes
from whence.formats.charts.structure import Fields
from whence.formats.uppaal.xml import read_bytes
from whence.model.chart import (
    Chart,
    ChartState,
    ChartTransition,
    Hazard,
    Machine,
    Requirement,
    Send,
    Signal,
    UserGoal,
)
from whence.source import Diagnostic, InputError, Origin, SourceText

__all__ = ["read_chart", "read_chart_file", "schema"]

_KEYS = (
    "chart",
    "time-unit",
    "signals",
    "variables",
    "machines",
    "hazards",
    "requirements",
    "goals",
)
T = TypeVar("T")


def schema() -> dict[str, Any]:
    """The JSON schema of the format."""
    text = resources.files(__package__).joinpath("schema.json").read_text("utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def read_chart_file(path: Path | str) -> Chart:
    return read_chart(read_bytes(path), str(path))


def read_chart(text: str | bytes, file: str = "") -> Chart:
    """The chart in a text. Raises one InputError with all that is wrong with its structure; it
    is an UnsupportedError if all of that are things that we refuse."""
    if isinstance(text, bytes):
        text = decode(text, file)
    problems = Problems()
    root = read_nodes(text.removeprefix("\ufeff"), file, problems)
    if not isinstance(root, Mapping):
        origin = Origin(file, 1, 1, 1, 1) if root is None else root.origin
        raise InputError(Diagnostic("expected a chart", origin, "a chart begins with `machines:`"))
    chart = _ChartReader(root, problems).read()
    problems.raise_any()
    return chart


class _ChartReader:
    def __init__(self, root: Mapping, problems: Problems) -> None:
        self.problems = problems
        self.fields = Fields(root, _KEYS, "a chart", problems)

    def read(self) -> Chart:
        fields = self.fields
        name = fields.text("chart", "")
        machines = tuple(self._entries("machines", self._machine))
        if "machines" not in fields.nodes:
            self.problems.add(Problem("a chart needs `machines:`", fields.origin))
        variables = fields.variables("variables")
        requirements = tuple(self._entries("requirements", self._requirement))
        self._check_names(machines, {variable.name: variable.origin for variable in variables})
        goals = tuple(self._entries("goals", self._goal))
        self._check_requirements(machines, goals, {r.ident for r in requirements})
        return Chart(
            name=name,
            machines=machines,
            variables=variables,
            signals=self._signals(machines),
            hazards=tuple(self._entries("hazards", self._hazard)),
            requirements=requirements,
            goals=goals,
            time_unit=fields.choice("time-unit", ("hour", "minute", "second"), "hour"),  # type: ignore[arg-type]
            origin=fields.origin,
        )

    def _entries(self, key: str, read: Callable[[Scalar, Node], T]) -> Iterable[T]:
        for name, node in self.fields.pairs(key):
            with self.problems.collecting():
                yield read(name, node)

    def _machine(self, name: Scalar, node: Node) -> Machine:
        return MachineReader(name, node, self.problems).read()

    def _hazard(self, name: Scalar, node: Node) -> Hazard:
        if isinstance(node, Mapping):
            fields = Fields(node, ("ltl",), f"hazard {name.value}", self.problems)
            text, temporal = fields.source("ltl"), True
        else:
            text, temporal = self.fields.source_of(node, f"hazard {name.value}"), False
        if text is None or not text.text.strip():
            raise Problem(
                f"the hazard `{name.value}` says nothing",
                node.origin,
                'expected a condition on states, or {ltl: "…"}',
            )
        return Hazard(name=name.value, text=text, temporal=temporal, origin=name.origin)

    def _goal(self, name: Scalar, node: Node) -> UserGoal:
        what = f"goal {name.value}"
        requirements: tuple[str, ...] = ()
        if isinstance(node, Mapping):
            fields = Fields(node, ("ltl", "satisfies"), what, self.problems)
            text, requirements = fields.source("ltl"), fields.texts("satisfies")
        else:
            text = self.fields.source_of(node, what)
        if text is None or not text.text.strip():
            raise Problem(
                f"the goal `{name.value}` says nothing",
                node.origin,
                "expected a formula such as F (Machine.State && x > 0), or {ltl: …, satisfies: …}",
            )
        text = SourceText(text.text, text.file, text.pieces, what)
        return UserGoal(name=name.value, text=text, requirements=requirements, origin=name.origin)

    def _requirement(self, name: Scalar, node: Node) -> Requirement:
        text = self.fields.source_of(node, f"requirement {name.value}")
        return Requirement(
            ident=name.value, text="" if text is None else text.text, origin=name.origin
        )

    # ------------------------------------------------------------------------------ what is meant

    def _signals(self, machines: tuple[Machine, ...]) -> tuple[Signal, ...]:
        """The declared ones; where none are, those that are mentioned."""
        mentioned = list(_mentioned(machines))
        if "signals" not in self.fields.nodes:
            first: dict[str, Signal] = {}
            for name, origin in mentioned:
                first.setdefault(name, Signal(name=name, origin=origin))
            return tuple(first.values())
        declared: dict[str, Signal] = {}
        for node in self.fields.names("signals"):
            if node.value in declared:
                self.problems.add(Problem(f"`{node.value}` stands here twice", node.origin))
            declared.setdefault(node.value, Signal(name=node.value, origin=node.origin))
        for name, origin in mentioned:
            if name not in declared:
                hint = suggestion(name, list(declared)) if len(self.problems) < 50 else ""
                self.problems.add(Problem(f"unknown signal `{name}`", origin, hint))
        return tuple(declared.values())

    def _check_names(self, machines: tuple[Machine, ...], variables: dict[str, Origin]) -> None:
        names = [machine.name for machine in machines]
        for machine in machines:
            if machine.name in variables:
                self.problems.add(
                    Problem(
                        f"`{machine.name}` is a machine and a variable",
                        variables[machine.name],
                        f"the machine is at {machine.origin}",
                    )
                )
            for effect in _sends(machine):
                if effect.target is not None and effect.target not in names:
                    self.problems.add(
                        Problem(
                            f"unknown machine `{effect.target}`",
                            effect.origin,
                            suggestion(effect.target, names),
                        )
                    )

    def _check_requirements(
        self, machines: tuple[Machine, ...], goals: tuple[UserGoal, ...], known: set[str]
    ) -> None:
        if "requirements" not in self.fields.nodes:
            return
        items: list[ChartState | ChartTransition | UserGoal] = list(goals)
        for machine in machines:
            items += [*machine.states, *machine.transitions]
        for item in items:
            for name in item.requirements:
                if name not in known:
                    self.problems.add(
                        Problem(
                            f"unknown requirement `{name}`",
                            item.origin,
                            suggestion(name, sorted(known)),
                        )
                    )


def _sends(machine: Machine) -> Iterable[Send]:
    for state in machine.states:
        yield from (e for e in (*state.entry, *state.do, *state.exit) if isinstance(e, Send))
    for transition in machine.transitions:
        yield from (e for e in transition.effects if isinstance(e, Send))


def _mentioned(machines: tuple[Machine, ...]) -> Iterable[tuple[str, Origin]]:
    for machine in machines:
        for transition in machine.transitions:
            if transition.trigger is not None:
                yield transition.trigger, transition.origin
    for machine in machines:
        yield from ((send.signal, send.origin) for send in _sends(machine))
