"""Random small timed charts: hierarchy, priorities, timers, all kinds of actions."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from whence.model.chart import (
    Assign,
    Chart,
    ChartState,
    ChartTransition,
    ChartVariable,
    Effect,
    Machine,
    VariableType,
)
from whence.source import SourceText

BOOL = VariableType(kind="bool")
SMALL = VariableType(kind="int", lo=0, hi=2)
SIGNED = VariableType(kind="int", lo=-2, hi=3)
WRAPPING = VariableType(kind="int", lo=-1, hi=2, wrap=True)
TIMER = VariableType(kind="timer")
VARIABLES = (
    ChartVariable(name="i", type=SMALL, role="input"),
    ChartVariable(name="b", type=BOOL, role="input"),
    ChartVariable(name="x", type=SIGNED, role="output"),
    ChartVariable(name="y", type=WRAPPING),
    ChartVariable(name="f", type=BOOL, role="output"),
)
NUMBERS, BOOLS, WRITABLE = ("i", "x", "y", "z"), ("b", "f"), ("x", "y", "f", "z")


def text(written: str) -> SourceText:
    return SourceText(written, "random.yaml")


@st.composite
def conditions(draw: st.DrawFn, states: Sequence[str], depth: int = 2) -> str:
    if depth and draw(st.booleans()):
        op = draw(st.sampled_from(["&&", "||", "!"]))
        left = draw(conditions(states, depth - 1))
        if op == "!":
            return f"(!({left}))"
        return f"(({left}) {op} ({draw(conditions(states, depth - 1))}))"
    match draw(st.integers(0, 5)):
        case 0:
            return draw(st.sampled_from(BOOLS))
        case 1 if states:
            return draw(st.sampled_from(list(states)))
        case 2 | 3:
            return f"elapsed(t, {draw(st.sampled_from([2, 3, 5]))})"
    op = draw(st.sampled_from(["==", "!=", "<", ">="]))
    return f"({draw(st.sampled_from(NUMBERS))} {op} {draw(st.integers(0, 2))})"


@st.composite
def effects(draw: st.DrawFn, timers: bool = True) -> tuple[Effect, ...]:
    parts = []
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 1, 2]))):
        if timers and draw(st.integers(0, 2)) == 0:
            parts.append("reset(t)")
            continue
        target = draw(st.sampled_from(WRITABLE))
        value = draw(st.sampled_from(["0", "1", "i", "b", "x", "y + 1", "x - 1", "(i == 1)"]))
        parts.append(f"{target} = {value}")
    return (Assign(text(", ".join(parts))),) if parts else ()


@st.composite
def machines(draw: st.DrawFn, name: str, others: Sequence[str]) -> Machine:
    states = [ChartState(ident="start", name="start", kind="initial")]
    transitions = []
    tops = []
    for number in range(draw(st.integers(1, 3))):
        ident = f"S{number}"
        tops.append(ident)
        inner = draw(st.sampled_from([0, 0, 2]))
        states.append(_state(draw, ident, None, "composite" if inner else "simple"))
        if inner:
            states.append(
                ChartState(ident=f"{ident}.start", name="start", kind="initial", parent=ident)
            )
            for k in range(inner):
                states.append(_state(draw, f"{ident}.I{k}", ident, "simple"))
            transitions.append(
                ChartTransition(
                    ident=f"to {ident}.I0",
                    source=f"{ident}.start",
                    target=f"{ident}.I0",
                    effects=draw(effects()),
                )
            )
    transitions.append(ChartTransition(ident="to S0", source="start", target=tops[0]))
    real = [state.ident for state in states if state.kind != "initial"]
    for number in range(draw(st.integers(1, 5))):
        source = draw(st.sampled_from(real))
        internal = draw(st.integers(0, 5)) == 0
        transitions.append(
            ChartTransition(
                ident=f"t{number}",
                source=source,
                target=source if internal else draw(st.sampled_from(real)),
                guard=text(draw(conditions(others))),
                effects=draw(effects()),
                priority=draw(st.sampled_from([0, 1, 2])),
                internal=internal,
            )
        )
    return Machine(
        name=name,
        states=tuple(states),
        transitions=tuple(transitions),
        variables=(
            ChartVariable(name="t", type=TIMER),
            ChartVariable(name="z", type=SMALL),
        ),
        environment=draw(st.integers(0, 3)) == 0,
    )


def _state(draw: st.DrawFn, ident: str, parent: str | None, kind: str) -> ChartState:
    return ChartState(
        ident=ident,
        name=ident.rpartition(".")[2] if parent is None else ident.replace(".", ""),
        kind=kind,  # type: ignore[arg-type]
        parent=parent,
        entry=draw(effects()),
        exit=draw(effects()),
        do=draw(effects(timers=False)) if draw(st.integers(0, 2)) == 0 else (),
    )


@st.composite
def charts(draw: st.DrawFn) -> Chart:
    count = draw(st.integers(1, 2))
    made = [draw(machines(f"M{n}", ["M0.S0"] if n else [])) for n in range(count)]
    return Chart(name="random", machines=tuple(made), variables=VARIABLES)
