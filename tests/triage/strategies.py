"""Random small PRD automata and traces, for the package and for the reference."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st
from tests.reference import triage as reference

from whence.model.prd import (
    TRUE,
    AllOf,
    Arithmetic,
    Assignment,
    Captured,
    Clock,
    ClockBound,
    Comparison,
    Constant,
    EventPattern,
    EventTrace,
    FieldPattern,
    Guard,
    Initial,
    PrdAutomaton,
    PrdTransition,
    Read,
    State,
    TimedEvent,
    Variable,
)

HIGHEST = 2
LABELS = ("a", "b", "c")
_OPS = st.sampled_from(("<", "<=", ">=", ">"))


@st.composite
def steps(draw: st.DrawFn, states: int, variables: int, clocks: int) -> reference.Step:
    on_time = draw(st.booleans())
    source = draw(st.integers(0, states - 1))
    target = draw(st.integers(0, states - 1))
    clock = st.integers(0, clocks - 1)
    guard = draw(st.lists(st.tuples(clock, _OPS, st.integers(0, 3)), max_size=2))
    memory = []
    if variables and draw(st.integers(0, 3)) == 0:
        memory = [(0, draw(st.sampled_from(("==", "!=", "<=", ">"))), draw(st.integers(0, 2)))]
    resets = draw(st.sets(clock, max_size=1))
    kind = draw(st.integers(0, 6))
    sets: tuple[tuple[int, int], ...] = ()
    store = same = increments = None
    if variables:
        if kind == 0:
            sets = ((0, draw(st.integers(0, HIGHEST))),)
        elif kind == 1 and not on_time:
            store = 0
        elif kind == 2 and not on_time:
            same = 0
        elif kind == 3:
            increments = 0
    return reference.Step(
        source,
        target,
        None if on_time else draw(st.sampled_from(LABELS)),
        tuple(guard),
        tuple(memory),
        same,
        tuple(resets),
        sets,
        store,
        increments,
    )


@st.composite
def automata(draw: st.DrawFn) -> reference.Automaton:
    states = draw(st.integers(1, 3))
    clocks = draw(st.integers(1, 2))
    variables = draw(st.integers(0, 1))
    idle = [reference.Step(s, s, None) for s in range(states) if draw(st.integers(0, 2))]
    others = draw(st.lists(steps(states, variables, clocks), min_size=2, max_size=7))
    return reference.Automaton(
        states,
        variables,
        HIGHEST,
        clocks,
        (*idle, *others),
        frozenset(draw(st.sets(st.integers(0, states - 1), max_size=1))),
        tuple(draw(st.sampled_from((None, 0, 1))) for _ in range(variables)),
        tuple(draw(st.sampled_from((None, 0))) for _ in range(clocks)),
    )


@st.composite
def traces(draw: st.DrawFn, most: int = 4) -> reference.Trace:
    events = draw(
        st.lists(st.tuples(st.sampled_from(LABELS), st.integers(0, HIGHEST)), max_size=most)
    )
    times = [draw(st.integers(0, 3)) for _ in range(len(events) + 1)]
    return tuple(times), tuple(events)


# --------------------------------------------------------------------------------- translation


def to_automaton(automaton: reference.Automaton) -> PrdAutomaton:
    patterns = {
        label: EventPattern(frozenset([label]), (FieldPattern("v", capture="v"),))
        for label in LABELS
    }
    transitions = []
    for step in automaton.steps:
        guards: list[Guard] = [
            ClockBound(f"x{clock}", op, Fraction(bound)) for clock, op, bound in step.clocks
        ]
        guards += [Comparison(Read(f"m{n}"), op, Constant(bound)) for n, op, bound in step.memory]
        if step.same is not None:
            guards.append(Comparison(Captured("v"), "==", Read(f"m{step.same}")))
        assigned = [Assignment(f"m{n}", Constant(value)) for n, value in step.sets]
        if step.store is not None:
            assigned.append(Assignment(f"m{step.store}", Captured("v")))
        if step.increments is not None:
            name = f"m{step.increments}"
            assigned.append(Assignment(name, Arithmetic("+", Read(name), Constant(1))))
        transitions.append(
            PrdTransition(
                f"s{step.source}",
                f"s{step.target}",
                None if step.label is None else patterns[step.label],
                AllOf(tuple(guards)) if guards else TRUE,
                tuple(assigned),
                tuple(f"x{clock}" for clock in step.resets),
            )
        )
    return PrdAutomaton(
        states=tuple(
            State(f"s{n}", "more" if n in automaton.awaiting else "")
            for n in range(automaton.states)
        ),
        initial=(Initial("s0"),),
        transitions=tuple(transitions),
        variables=tuple(
            Variable(f"m{n}", 0, automaton.highest, initial=first)
            for n, first in enumerate(automaton.memory_at_first)
        ),
        clocks=tuple(
            Clock(f"x{n}", None if first is None else Fraction(first))
            for n, first in enumerate(automaton.clocks_at_first)
        ),
    )


def to_trace(trace: reference.Trace, name: str = "random") -> EventTrace:
    times, events = trace
    now = Fraction(0)
    found = []
    for index, (time, (label, value)) in enumerate(zip(times[:-1], events, strict=True)):
        now += time
        found.append(TimedEvent(now, label, {"v": value}, index))
    return EventTrace(name, tuple(found), Fraction(0), now + times[-1])
