"""Random small charts: hierarchy, choices, queues, priorities, all of it in few states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from hypothesis import strategies as st

from whence.model.chart import (
    Assign,
    Chart,
    ChartState,
    ChartTransition,
    ChartVariable,
    Effect,
    Machine,
    Send,
    Signal,
    VariableType,
)
from whence.source import SourceText

SIGNALS = ("p", "q")
BOOL = VariableType(kind="bool")
SMALL = VariableType(kind="int", lo=0, hi=2)
WRAPPING = VariableType(kind="int", lo=-1, hi=1, wrap=True)


def text(written: str) -> SourceText:
    return SourceText(written, "random.yaml")


@dataclass
class Names:
    """What texts can speak of: variables as they are called there, and states."""

    bools: list[str] = field(default_factory=list)
    numbers: list[str] = field(default_factory=list)
    states: list[str] = field(default_factory=list)


@dataclass
class Plan:
    """The states of a machine while it is made."""

    name: str
    states: list[ChartState] = field(default_factory=list)
    variables: list[ChartVariable] = field(default_factory=list)

    def inside(self, ident: str | None) -> list[ChartState]:
        """The states that stand in a state, at any depth."""
        found: list[ChartState] = []
        for state in self.states:
            if state.parent == ident:
                found.append(state)
                found.extend(self.inside(state.ident))
        return found

    def real(self, states: Sequence[ChartState]) -> list[str]:
        kinds = ("simple", "composite", "final", "terminate")
        return [state.ident for state in states if state.kind in kinds]


@st.composite
def conditions(draw: st.DrawFn, names: Names, depth: int = 2) -> str:
    kinds = ["bool"] * bool(names.bools) + ["number"] * bool(names.numbers)
    kinds += ["state"] * bool(names.states)
    if not kinds:
        return draw(st.sampled_from(["true", "false"]))
    if depth and draw(st.integers(0, 2)) == 2:
        kind = draw(st.sampled_from(["&&", "||", "!"]))
        left = draw(conditions(names, depth - 1))
        if kind == "!":
            return f"!({left})"
        return f"({left}) {kind} ({draw(conditions(names, depth - 1))})"
    kind = draw(st.sampled_from(kinds))
    if kind == "bool":
        # A truth value is 0 or 1, whatever was assigned.
        return draw(st.sampled_from(names.bools)) + draw(st.sampled_from(["", "", " == 1"]))
    if kind == "state":
        return draw(st.sampled_from(names.states))
    op = draw(st.sampled_from(["==", "!=", "<", ">="]))
    return f"{draw(st.sampled_from(names.numbers))} {op} {draw(st.integers(0, 2))}"


@st.composite
def assignments(draw: st.DrawFn, names: Names) -> Assign:
    parts = []
    for _ in range(draw(st.sampled_from([1, 1, 2]))):
        target = draw(st.sampled_from(names.bools + names.numbers))
        if target in names.bools:
            source = draw(conditions(names, 1))
            if names.numbers and draw(st.integers(0, 3)) == 3:
                source = f"{draw(st.sampled_from(names.numbers))} + 1"
            parts.append(f"{target} = {source}")
        elif draw(st.sampled_from([False, False, True])):
            # This often leaves the range, and so ends the example.
            op = draw(st.sampled_from(["+", "-"]))
            parts.append(f"{target} {op}= {draw(st.sampled_from(['1', '1', target]))}")
        else:
            source = draw(st.sampled_from(["0", "1", *names.numbers]))
            parts.append(f"{target} = {source}")
    return Assign(text(", ".join(parts)))


@st.composite
def effects(draw: st.DrawFn, names: Names, machines: Sequence[str]) -> tuple[Effect, ...]:
    found: list[Effect] = []
    for _ in range(draw(st.sampled_from([0, 0, 1, 1, 1, 2]))):
        if draw(st.integers(0, 2)) and (names.bools or names.numbers):
            # What an effect assigns must not depend on where machines are while they start.
            found.append(draw(assignments(Names(names.bools, names.numbers))))
        else:
            target = draw(st.sampled_from([*machines, None]))
            found.append(Send(draw(st.sampled_from(SIGNALS)), target))
    return tuple(found)


@st.composite
def plans(draw: st.DrawFn, name: str) -> Plan:
    plan = Plan(name)

    def add(parent: str | None, depth: int) -> None:
        for _ in range(draw(st.integers(1, 3 - depth // 2))):
            ident = f"S{len(plan.states)}"
            kinds = ["simple"] * 4 + ["composite"] * 3 * (depth < 2) + ["final", "terminate"]
            # A machine begins in its first state, which better does not end it.
            last = None if plan.states else -2
            kind = draw(st.sampled_from(kinds[:last]))
            at = len(plan.states)
            plan.states.append(ChartState(ident=ident, name=ident, kind=kind, parent=parent))
            if kind == "composite":
                add(ident, depth + 1)
            assert plan.states[at].ident == ident
        for _ in range(draw(st.sampled_from([0, 1, 1]))):
            ident = f"C{len(plan.states)}"
            kind = draw(st.sampled_from(["choice", "choice", "junction"]))
            plan.states.append(ChartState(ident=ident, name=ident, kind=kind, parent=parent))

    add(None, 0)
    if draw(st.integers(0, 3)):
        plan.variables.append(ChartVariable(name="b", type=BOOL))
    if draw(st.booleans()):
        number = draw(st.sampled_from([SMALL, WRAPPING, WRAPPING]))
        plan.variables.append(ChartVariable(name="x", type=number, initial=text("1")))
    return plan


def known(plan: Plan, plans: Sequence[Plan], shared: Sequence[ChartVariable]) -> Names:
    """What the texts of a machine can speak of."""
    names = Names()
    own = {variable.name for variable in plan.variables}
    for variable in shared:
        if variable.name not in own:
            (names.bools if variable.type.kind == "bool" else names.numbers).append(variable.name)
    for other in plans:
        prefix = "" if other is plan else f"{other.name}."
        for variable in other.variables:
            kind = names.bools if variable.type.kind == "bool" else names.numbers
            kind.append(prefix + variable.name)
        names.states += [f"{other.name}.{ident}" for ident in other.real(other.states)]
    return names


@st.composite
def machines(draw: st.DrawFn, plan: Plan, names: Names, machine_names: Sequence[str]) -> Machine:
    states = list(plan.states)
    transitions: list[ChartTransition] = []
    plain = Names(names.bools, names.numbers)

    def some_effects() -> tuple[Effect, ...]:
        return draw(effects(names, machine_names))

    def add(source: str, target: str, **more: object) -> None:
        transitions.append(
            ChartTransition(
                ident=f"t{len(transitions)}",
                source=source,
                target=target,
                effects=some_effects(),
                **more,  # type: ignore[arg-type]
            )
        )

    for parent in (None, *(s.ident for s in plan.states if s.kind == "composite")):
        ident = f"I{len(states)}"
        inside = plan.inside(parent)
        targets = plan.real([state for state in inside if state.parent == parent])
        if parent is not None:
            targets += 3 * [s.ident for s in inside if s.kind in ("choice", "junction")]
            targets += plan.real(inside)
        states.append(ChartState(ident=ident, name="initial", kind="initial", parent=parent))
        event = draw(st.sampled_from([None, None, "begin"]))
        if parent is None:
            targets = [targets[0], *targets]
        target = draw(st.sampled_from(targets))
        add(ident, target, event=event)
    for number, state in enumerate(plan.states):
        if state.kind not in ("choice", "junction"):
            continue
        inside = plan.inside(state.parent)
        targets = plan.real(inside)
        targets += [
            s.ident for s in plan.states[number + 1 :] if s.kind == "choice" and s in inside
        ]
        branches = draw(st.integers(1, 3))
        for branch in range(branches):
            otherwise = branch == branches - 1 and draw(st.booleans())
            guard = None if otherwise else text(draw(conditions(plain)))
            event = draw(st.sampled_from([None, None, "e"]))
            target = draw(st.sampled_from(targets))
            add(state.ident, target, guard=guard, otherwise=otherwise, event=event)
    sources = [s.ident for s in plan.states if s.kind in ("simple", "composite")]
    targets = [s.ident for s in plan.states]
    # Choices need many things to come together before they show anything.
    targets += 2 * [s.ident for s in plan.states if s.kind in ("choice", "junction")]
    for number in range(draw(st.integers(2, 7)) if sources else 0):
        source = draw(st.sampled_from(sources)) if number else sources[0]
        internal = draw(st.integers(0, 5)) == 5
        guarded = draw(st.integers(0, 2)) == 2 and number > 0
        add(
            source,
            source if internal else draw(st.sampled_from(targets)),
            trigger=draw(st.sampled_from([None, None, *SIGNALS])) if number else None,
            guard=text(draw(conditions(names))) if guarded else None,
            event=draw(st.sampled_from([None, "e", "f"])),
            internal=internal,
            priority=draw(st.sampled_from([None, None, 1, 2])),
        )
    for number, state in enumerate(states):
        if state.kind in ("simple", "composite", "final") and draw(st.booleans()):
            states[number] = ChartState(
                ident=state.ident,
                name=state.name,
                kind=state.kind,
                parent=state.parent,
                entry=some_effects(),
                exit=() if state.kind == "final" else some_effects(),
            )
    return Machine(
        name=plan.name,
        states=tuple(states),
        transitions=tuple(transitions),
        variables=tuple(plan.variables),
        capacity=draw(st.integers(1, 3)),
        when_full=draw(st.sampled_from(["block", "lose"])),
        unexpected=draw(st.sampled_from(["keep", "discard"])),
    )


@st.composite
def charts(draw: st.DrawFn) -> Chart:
    names = [f"M{number}" for number in range(draw(st.sampled_from([1, 2, 2, 3])))]
    made = [draw(plans(name)) for name in names]
    shared = [ChartVariable(name="x", type=SMALL)] if draw(st.booleans()) else []
    return Chart(
        name="random",
        machines=tuple(draw(machines(plan, known(plan, made, shared), names)) for plan in made),
        variables=tuple(shared),
        signals=tuple(Signal(name=signal) for signal in SIGNALS),
    )
