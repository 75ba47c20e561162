"""Reads one machine of a chart: its states, however deeply nested, and its transitions."""

from __future__ import annotations

import re
from dataclasses import replace

from whence.expr.scope import Problem, Problems, suggestion
from whence.formats.charts.nodes import Mapping, Node, Scalar
from whence.formats.charts.structure import Fields
from whence.formats.charts.texts import cut, read_rate
from whence.model.chart import ChartState, ChartTransition, Machine
from whence.source import Origin

__all__ = ["INITIAL", "MachineReader"]

#: What the identifier of an initial pseudostate ends in; no state can be called that.
INITIAL = "(initial)"

_MACHINE_KEYS = ("queue", "environment", "variables", "initial", "states", "transitions")
_QUEUE_KEYS = ("capacity", "when-full", "unexpected")
_STATE_KEYS = (
    *("kind", "entry", "exit", "do", "failure", "tags", "satisfies", "initial", "states"),
    *("position", "regions"),
)
_INITIAL_KEYS = (*("to", "when", "do", "event", "rate", "failure", "detected", "satisfies"),)
_TRANSITION_KEYS = (
    *("from", "to", "on", "when", "do", "event", "rate", "failure", "detected"),
    *("priority", "internal", "satisfies"),
)
_KINDS = ("choice", "junction", "final", "terminate", "history")
_LARGEST_QUEUE = 64
#: To look for similar names takes long; after so many mistakes nobody reads the hints.
_HINTS = 50
_ARROW = re.compile(r"\s*(\S.*?)\s*->\s*(\S.*?)\s*", re.DOTALL)


class MachineReader:
    def __init__(self, name: Scalar, node: Node, problems: Problems) -> None:
        self.name = name
        self.problems = problems
        self.what = f"machine {name.value}"
        if not isinstance(node, Mapping):
            raise Problem(f"machine `{name.value}` needs `initial:` and `states:`", node.origin)
        self.fields = Fields(node, _MACHINE_KEYS, self.what, problems)
        self.states: list[ChartState] = []
        #: What the initial pseudostates lead to, with the composite state around each.
        self.initials: list[tuple[Node, str | None]] = []
        self.known: set[str] = set()
        self.called: dict[str, list[str]] = {}

    def read(self) -> Machine:
        fields = self.fields
        self._states(fields, None)
        if not self.states:
            raise Problem(f"machine `{self.name.value}` has no states", self.name.origin)
        if "initial" not in fields.nodes:
            raise Problem(
                f"machine `{self.name.value}` needs `initial:`, the state it starts in",
                self.name.origin,
            )
        self._index()
        transitions = [self._initial(node, around) for node, around in self.initials]
        for number, node in enumerate(fields.items("transitions"), 1):
            with self.problems.collecting(self.what):
                transitions.append(self._transition(node, f"t{number}"))
        queue = self._queue()
        capacity = queue.integer("capacity", 1, _LARGEST_QUEUE, 2)
        assert capacity is not None
        return Machine(
            name=self.name.value,
            states=tuple(self.states),
            transitions=tuple(t for t in transitions if t is not None),
            variables=fields.variables("variables"),
            capacity=capacity,
            when_full=queue.choice("when-full", ("block", "lose"), "block"),  # type: ignore[arg-type]
            unexpected=queue.choice("unexpected", ("keep", "discard"), "keep"),  # type: ignore[arg-type]
            environment=bool(fields.flag("environment")),
            origin=self.name.origin,
        )

    def _queue(self) -> Fields:
        node = self.fields.mapping("queue") or Mapping((), self.fields.origin)
        return Fields(node, _QUEUE_KEYS, f"queue of {self.what}", self.problems)

    # ------------------------------------------------------------------------------------ states

    def _states(self, fields: Fields, around: str | None) -> None:
        if "initial" in fields.nodes:
            node = fields.nodes["initial"]
            ident = INITIAL if around is None else f"{around}.{INITIAL}"
            self.states.append(
                ChartState(
                    ident=ident,
                    name="initial",
                    kind="initial",
                    parent=around,
                    origin=node.origin,
                )
            )
            self.initials.append((node, around))
        for name, node in fields.pairs("states"):
            with self.problems.collecting(self.what):
                self._state(name, node, around)

    def _state(self, name: Scalar, node: Node, around: str | None) -> None:
        ident = name.value if around is None else f"{around}.{name.value}"
        what = f"state {ident} of {self.what}"
        if isinstance(node, Scalar) and node.empty:
            node = Mapping((), node.origin)
        if not isinstance(node, Mapping):
            raise Problem("expected what is said of the state in braces, or nothing", node.origin)
        fields = Fields(node, _STATE_KEYS, what, self.problems)
        if "regions" in fields.nodes:
            self.problems.add(
                Problem(
                    "orthogonal regions in one state",
                    fields.nodes["regions"].origin,
                    "make each of them a machine",
                    unsupported=True,
                ),
                what,
            )
        kind = fields.choice("kind", _KINDS, "simple") if "kind" in fields.nodes else "simple"
        inside = fields.mapping("states")
        if inside is not None and inside.pairs:
            if kind != "simple":
                raise Problem(f"a {kind} has no states inside", inside.origin)
            kind = "composite"
        elif "initial" in fields.nodes:
            raise Problem("`initial` without `states`", fields.nodes["initial"].origin)
        if kind not in ("simple", "composite"):
            for key in ("entry", "exit", "do"):
                if key in fields.nodes and kind != "final":
                    raise Problem(f"a {kind} has no `{key}`", fields.nodes[key].origin)
        self.states.append(
            ChartState(
                ident=ident,
                name=name.value,
                kind=kind,  # type: ignore[arg-type]
                parent=around,
                entry=fields.effects("entry"),
                exit=fields.effects("exit"),
                do=fields.effects("do"),
                failure=bool(fields.flag("failure")),
                tags=fields.texts("tags"),
                requirements=fields.texts("satisfies"),
                position=fields.place("position"),
                origin=name.origin,
            )
        )
        self._states(fields, ident)

    def _index(self) -> None:
        """What names and paths stand for, once all states are there."""
        for state in self.states:
            if state.kind != "initial":
                self.known.add(state.ident)
                self.called.setdefault(state.name, []).append(state.ident)

    def _find(self, name: str, origin: Origin, around: str | None = None) -> str:
        """The identifier of the state that is called `name`, or by its path."""
        nearby = name if around is None else f"{around}.{name}"
        for ident in (nearby, name):
            if ident in self.known:
                return ident
        called = self.called.get(name, [])
        if len(called) == 1:
            return called[0]
        if called:
            raise Problem(
                f"several states are called `{name}`", origin, f"write {' or '.join(called[:9])}"
            )
        hint = ""
        if len(self.problems) < _HINTS:
            hint = suggestion(name, [*self.called, *sorted(self.known)])
        raise Problem(f"machine `{self.name.value}` has no state `{name[:60]}`", origin, hint)

    # ------------------------------------------------------------------------------- transitions

    def _initial(self, node: Node, around: str | None) -> ChartTransition | None:
        source = INITIAL if around is None else f"{around}.{INITIAL}"
        what = f"initial transition of {self.what if around is None else f'state {around}'}"
        with self.problems.collecting(what):
            if isinstance(node, Scalar):
                target = self._find(node.value.strip(), node.origin, around)
                return ChartTransition(
                    ident=f"to {target}", source=source, target=target, origin=node.origin
                )
            if not isinstance(node, Mapping):
                raise Problem("expected the name of a state, or {to: …, do: …}", node.origin)
            fields = Fields(node, _INITIAL_KEYS, what, self.problems)
            name = fields.source("to")
            if name is None:
                raise Problem("where does it lead to? expected `to:`", node.origin)
            target = self._find(name.text.strip(), fields.nodes["to"].origin, around)
            return self._labelled(
                fields,
                ChartTransition(
                    ident=f"to {target}", source=source, target=target, origin=node.origin
                ),
            )
        return None

    def _transition(self, node: Node, ident: str) -> ChartTransition:
        if isinstance(node, Scalar):
            arrow = _ARROW.fullmatch(node.value)
            if arrow is None:
                raise Problem("expected `state -> state`, or {from: …, to: …}", node.origin)
            ends = []
            for part in (1, 2):
                text = cut(node.text, *arrow.span(part))
                ends.append(self._find(text.text, text.origin(0, len(text.text))))
            return ChartTransition(ident=ident, source=ends[0], target=ends[1], origin=node.origin)
        if not isinstance(node, Mapping):
            raise Problem("expected `state -> state`, or {from: …, to: …}", node.origin)
        what = f"transition {ident[1:]} of {self.what}"
        fields = Fields(node, _TRANSITION_KEYS, what, self.problems)
        internal = bool(fields.flag("internal"))
        source = self._end(fields, "from", node.origin)
        target = source if internal and "to" not in fields.nodes else None
        if target is None:
            target = self._end(fields, "to", node.origin)
        if internal and target != source:
            raise Problem(
                "an internal transition leaves no state: `to` cannot be another one",
                fields.nodes["to"].origin,
            )
        made = self._labelled(
            fields,
            ChartTransition(ident=ident, source=source, target=target, origin=node.origin),
        )
        return replace(
            made,
            trigger=fields.optional_text("on"),
            internal=internal,
            priority=fields.integer("priority", 0, 10**9, None),
        )

    def _end(self, fields: Fields, key: str, origin: Origin) -> str:
        name = fields.source(key)
        if name is None:
            raise Problem(f"a transition needs `{key}:`", origin)
        return self._find(name.text.strip(), fields.nodes[key].origin)

    def _labelled(self, fields: Fields, bare: ChartTransition) -> ChartTransition:
        guard = fields.source("when")
        otherwise = guard is not None and guard.text.strip() == "else"
        rate = None
        written = fields.source("rate")
        if written is not None:
            with self.problems.collecting(written.element):
                rate = read_rate(written)
        return replace(
            bare,
            guard=None if otherwise else guard,
            otherwise=otherwise,
            effects=fields.effects("do"),
            event=fields.optional_text("event"),
            rate=rate,
            failure=bool(fields.flag("failure")),
            detected=fields.flag("detected"),
            requirements=fields.texts("satisfies"),
        )
