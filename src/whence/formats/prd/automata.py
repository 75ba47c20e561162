"""Plain automata in YAML: states, transitions with patterns, guards and updates (docs/prd.md)."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from whence.expr.scope import Problem, Problems, suggestion
from whence.formats.charts.nodes import Mapping, Node, Scalar
from whence.formats.prd.expressions import Scope, Updates, parse_guard, parse_updates
from whence.formats.prd.fields import PrdFields, read_requirements, read_variables
from whence.formats.prd.patterns import captures, parse_pattern
from whence.model.ecu import PrdSystem
from whence.model.prd import (
    TRUE,
    Clock,
    EventPattern,
    Guard,
    Initial,
    PrdAutomaton,
    PrdTransition,
    State,
    Variable,
)

__all__ = ["AUTOMATON_KEYS", "read_system"]

_PART_KEYS = ("initial", "states", "transitions", "time")
AUTOMATON_KEYS = ("automaton", "unit", "variables", "clocks", "parts", "requirements", *_PART_KEYS)
_TRANSITION_KEYS = ("from", "to", "event", "when", "update", "requirements", "name")
_TIME = ("time", "Δ", "delta")


def read_system(root: Mapping, problems: Problems) -> PrdSystem:
    fields = PrdFields(root, AUTOMATON_KEYS, "an automaton", problems)
    requirements = read_requirements(fields)
    variables = tuple(
        Variable(v.name, v.low, v.high, v.names, v.initial, v.origin)
        for v in read_variables(fields, "variables", problems)
    )
    unit = fields.unit("unit")
    clocks = tuple(_clocks(fields, unit))
    for clock in clocks:
        if clock.name in {variable.name for variable in variables}:
            problems.add(Problem(f"`{clock.name}` is a variable and a clock", clock.origin))
    known = {requirement.ident for requirement in requirements}
    shared = _Shared(variables, clocks, unit, known if "requirements" in fields.nodes else None)
    name = fields.text("automaton", "")
    parts = []
    if "parts" in fields.nodes:
        for key in _PART_KEYS:
            if key in fields.nodes:
                problems.add(Problem(f"`{key}` belongs into the parts", fields.nodes[key].origin))
        for part, node in fields.entries("parts"):
            with problems.collecting(f"part {part.value}"):
                if not isinstance(node, Mapping):
                    raise Problem("expected `transitions:`, and what else a part has", node.origin)
                inner = PrdFields(node, _PART_KEYS, f"part {part.value}", problems)
                parts.append(_Part(part.value, inner, shared, problems).read())
    else:
        parts.append(_Part(name, fields, shared, problems).read())
    return PrdSystem(name=name, parts=tuple(parts), requirements=requirements, origin=fields.origin)


class _Shared:
    def __init__(
        self,
        variables: tuple[Variable, ...],
        clocks: tuple[Clock, ...],
        unit: Fraction | None,
        requirements: set[str] | None,
    ) -> None:
        self.variables = variables
        self.clocks = clocks
        self.unit = unit
        self.requirements = requirements

    def scope(self, captured: Iterable[str] = ()) -> Scope:
        return Scope(
            {variable.name: variable for variable in self.variables},
            frozenset(clock.name for clock in self.clocks),
            frozenset(captured),
            unit=self.unit,
        )


def _clocks(fields: PrdFields, unit: Fraction | None) -> Iterable[Clock]:
    """A list of names, or names with their initial values."""
    if not isinstance(fields.nodes.get("clocks"), Mapping):
        for name in fields.names("clocks"):
            if not name.value.isidentifier():
                fields.problems.add(Problem(f"`{name.value[:60]}` is no name", name.origin))
            else:
                yield Clock(name.value, None, name.origin)
        return
    inner = PrdFields(
        fields.nodes["clocks"],  # type: ignore[arg-type]
        tuple(name.value for name, _ in fields.pairs("clocks")),
        "the clocks",
        fields.problems,
    )
    for name, _ in fields.pairs("clocks"):
        yield Clock(name.value, inner.time(name.value, unit), name.origin)


class _Part:
    def __init__(self, name: str, fields: PrdFields, shared: _Shared, problems: Problems) -> None:
        self.name = name
        self.fields = fields
        self.shared = shared
        self.problems = problems
        #: States that transitions mention, also those that are wrong otherwise.
        self.mentioned: set[str] = set()

    def read(self) -> PrdAutomaton:
        fields = self.fields
        declared = {state.name: state for state in self._states()}
        drafts = []
        for node in fields.items("transitions"):
            with self.problems.collecting(fields.what):
                drafts.append(self._transition(node, declared))
        states = dict(declared)
        for sources, target, _ in drafts:
            for state in (*sources, target):
                states.setdefault(state.value, State(state.value, origin=state.origin))
        transitions = [
            PrdTransition(
                source.value, target.value, rest.pattern, rest.guard, rest.assignments,
                rest.resets, rest.requirements, rest.name, rest.origin,
            )
            for sources, target, rest in drafts
            for source in sources
        ]  # fmt: skip
        if fields.choice("time", ("free", "as told"), "as told") == "free":
            told = {each.source for each in transitions if each.pattern is None}
            transitions += [
                PrdTransition(state, state, None, name="time", origin=states[state].origin)
                for state in states
                if state not in told
            ]
        return PrdAutomaton(
            name=self.name,
            states=tuple(states.values()),
            initial=self._initial(states),
            transitions=tuple(transitions),
            variables=self.shared.variables,
            clocks=self.shared.clocks,
            origin=fields.origin,
        )

    def _initial(self, states: dict[str, State]) -> tuple[Initial, ...]:
        fields = self.fields
        node = fields.nodes.get("initial")
        if node is None:
            self.problems.add(
                Problem("which state does it start in?", fields.origin, "say `initial: STATE`"),
                fields.what,
            )
            return ()
        found: list[Initial] = []
        if isinstance(node, Mapping):
            # With a condition on memory and clocks each.
            named = [(name, text) for name, text in fields.entries("initial")]
        else:
            names = (node,) if isinstance(node, Scalar) else fields.names("initial")
            named = [(name, None) for name in names]  # type: ignore[misc]
        for name, text in named:
            with self.problems.collecting(fields.what):
                if name.value not in states and name.value not in self.mentioned:
                    hint = suggestion(name.value, list(states))
                    raise Problem(f"unknown state `{name.value[:60]}`", name.origin, hint)
                guard: Guard = TRUE
                if text is not None:
                    source = fields.source_of(text, f"initial state {name.value}")
                    if source is not None:
                        guard = parse_guard(source, self.shared.scope())
                found.append(Initial(name.value, guard))
        return tuple(found)

    def _states(self) -> Iterable[State]:
        fields = self.fields
        node = fields.nodes.get("states")
        if not isinstance(node, Mapping):
            for name in fields.names("states"):
                yield State(name.value, origin=name.origin)
            return
        for name, value in fields.entries("states"):
            what = f"state {name.value}"
            if isinstance(value, Mapping):
                inner = PrdFields(value, ("awaits", "requirements"), what, self.problems)
                yield State(
                    name.value,
                    inner.text("awaits", ""),
                    self._requirements(inner),
                    name.origin,
                )
            elif isinstance(value, Scalar) and value.empty:
                yield State(name.value, origin=name.origin)
            else:
                self.problems.add(Problem("expected `awaits:`", value.origin), what)

    def _requirements(self, fields: PrdFields) -> tuple[str, ...]:
        found = fields.texts_or_one("requirements")
        known = self.shared.requirements
        for name in found if known is not None else ():
            if name not in known:  # type: ignore[operator]
                hint = suggestion(name, sorted(known or ()))
                origin = fields.nodes["requirements"].origin
                self.problems.add(Problem(f"unknown requirement `{name[:60]}`", origin, hint))
        return found

    # ------------------------------------------------------------------------------- transitions

    def _transition(
        self, node: Node, declared: dict[str, State]
    ) -> tuple[tuple[Scalar, ...], Scalar, PrdTransition]:
        if not isinstance(node, Mapping):
            raise Problem("expected a transition, such as {from: p0, to: p1, event: req get}",
                          node.origin)  # fmt: skip
        fields = PrdFields(node, _TRANSITION_KEYS, "a transition", self.problems)
        sources = self._sources(fields)
        target = fields.nodes.get("to")
        if not isinstance(target, Scalar) or not target.value.strip():
            raise Problem("a transition needs `to:`, the name of a state", node.origin)
        self.mentioned.update(state.value for state in (*sources, target))
        on = fields.source("event")
        if on is None:
            raise Problem("a transition needs `event:`", node.origin,
                          "a pattern of events, or `time`")  # fmt: skip
        for state in (*sources, target):
            if declared and state.value not in declared:
                hint = suggestion(state.value, list(declared))
                raise Problem(f"unknown state `{state.value[:60]}`", state.origin, hint)
        pattern: EventPattern | None = None
        if on.text.strip() not in _TIME:
            pattern = parse_pattern(on)
        captured = captures(pattern) if pattern is not None else ()
        for name in captured:
            self._check_capture(name, fields)
        scope = self.shared.scope(captured)
        when, update = fields.source("when"), fields.source("update")
        guard = TRUE if when is None else parse_guard(when, scope)
        updates = Updates() if update is None else parse_updates(update, scope)
        rest = PrdTransition(
            "", "", pattern, guard, updates.assignments, updates.resets,
            self._requirements(fields), fields.text("name", ""), node.origin,
        )  # fmt: skip
        return sources, target, rest

    def _check_capture(self, name: str, fields: PrdFields) -> None:
        names = {variable.name for variable in self.shared.variables}
        names |= {clock.name for clock in self.shared.clocks}
        if name in names:
            raise Problem(
                f"`{name}` is captured here, and is a variable or clock",
                fields.nodes["event"].origin,
                "give the captured value another name",
            )

    def _sources(self, fields: PrdFields) -> tuple[Scalar, ...]:
        node = fields.nodes.get("from")
        if isinstance(node, Scalar) and node.value.strip():
            return (node,)
        names = fields.names("from")
        if not names:
            raise Problem("a transition needs `from:`, a state or a list of them", fields.origin)
        return names
