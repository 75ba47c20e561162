"""Random small traces for the analyses of timed traces, and the same traces as files of UPPAAL.

A trace is made around a run: first the path, the resets and the delays, then labels that this run
satisfies and a property that it violates.  So all traces but a few are feasible and violated,
and as bounds are mostly near the values of the run, many are blocked or satisfied by others."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from xml.sax.saxutils import escape

from hypothesis import strategies as st
from tests.reference.timing import (
    Automaton,
    Constraint,
    Edge,
    Key,
    Kind,
    Location,
    Trace,
    changed,
    choices_of,
    elements_of,
    feasible,
    violable,
)

CLOCKS = ("x", "y", "z")
LARGEST = 5
#: Delays of the run, in halves.
LONGEST = 6

_COMPARISONS: Mapping[str, Callable[[int, int], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
    "==": operator.eq,
}

_KINDS: tuple[Kind, ...] = ("bound", "operator", "clock", "clock", "reset", "reset")

#: The values that each clock has where a label is asked, in halves.
_Values = Mapping[str, Sequence[int]]


@dataclass
class _Path:
    """Where a trace goes: `visits` are locations, `taken` edges, and there may be more of both."""

    visits: list[int]
    taken: list[int]
    edges: list[tuple[int, int]]
    locations: int


@st.composite
def _paths(draw: st.DrawFn, largest_size: int) -> _Path:
    path = _Path([0], [], [], 1)
    sizes = range(1, largest_size + 1)
    for _ in range(draw(st.sampled_from([size for size in sizes for _ in range(size)]))):
        source = path.visits[-1]
        # A new location is the simplest.
        again = draw(st.sampled_from([False, False, False, True, True]))
        target = draw(st.integers(0, path.locations - 1)) if again else path.locations
        path.locations = max(path.locations, target + 1)
        path.visits.append(target)
        if (source, target) not in path.edges or draw(st.sampled_from([False, False, True])):
            path.edges.append((source, target))
            path.taken.append(len(path.edges) - 1)
        else:
            path.taken.append(path.edges.index((source, target)))
    # What is not on the trace is there to be left alone.
    if draw(st.integers(0, 3)) == 3:
        path.edges.append((draw(st.integers(0, path.locations - 1)), path.locations))
        path.locations += 1
    order = draw(st.permutations(range(len(path.edges))))
    path.edges = [path.edges[number] for number in order]
    path.taken = [order.index(number) for number in path.taken]
    return path


def _values(
    clocks: Sequence[str], path: _Path, resets: Sequence[Sequence[str]], delays: Sequence[int]
) -> tuple[list[dict[str, int]], list[dict[str, int]]]:
    """The clocks on entering each state of the run, and after its delay."""
    entering = [dict.fromkeys(clocks, 0)]
    leaving = []
    for state, delay in enumerate(delays):
        leaving.append({clock: value + delay for clock, value in entering[-1].items()})
        if state < len(path.taken):
            reset = resets[path.taken[state]]
            entering.append({c: 0 if c in reset else value for c, value in leaving[-1].items()})
    return entering, leaving


@st.composite
def _constraints(
    draw: st.DrawFn, values: _Values, operators: Sequence[str], *, true: bool, old: bool
) -> Constraint | None:
    """A constraint, `true` for all of these values if there is one, and tight more often than not.
    `old` prefers the clock that has run for long: what another says is easily avoided."""
    by_age = sorted(values, key=lambda clock: max(values[clock], default=0), reverse=old)
    clock = draw(st.sampled_from([by_age[0], *by_age]))
    fitting = [
        (op, bound)
        for op in operators
        for bound in range(LARGEST + 1)
        if not true or all(_COMPARISONS[op](value, 2 * bound) for value in values[clock])
    ]
    if not fitting:
        return None
    op = draw(st.sampled_from(sorted({op for op, _ in fitting}, key=operators.index)))
    bounds = [bound for other, bound in fitting if other == op]
    tight = bounds[-2:] if op in (">", ">=") else bounds[:2]
    if draw(st.sampled_from([True, True, False])):
        bounds = tight
    return Constraint(clock, op, draw(st.sampled_from(bounds)))


@st.composite
def _labels(
    draw: st.DrawFn,
    key: Key,
    size: st.SearchStrategy[int],
    values: _Values,
    operators: Sequence[str],
    *,
    true: bool,
    old: bool = False,
) -> tuple[Constraint, ...]:
    drawn = [draw(_constraints(values, operators, true=true, old=old)) for _ in range(draw(size))]
    found = [constraint for constraint in drawn if constraint is not None]
    return tuple(
        Constraint(constraint.clock, constraint.op, constraint.bound, (*key, number))
        for number, constraint in enumerate(found)
    )


def _together(values: Sequence[dict[str, int]], clocks: Sequence[str]) -> _Values:
    return {clock: [valuation[clock] for valuation in values] for clock in clocks}


@st.composite
def traces(draw: st.DrawFn, largest_size: int = 4) -> Trace:
    """Traces of 1 to `largest_size` transitions; nearly all feasible and violated."""
    clocks: tuple[str, ...] = CLOCKS[: draw(st.sampled_from([1, 2, 2, 3, 3]))]
    path = draw(_paths(largest_size))
    # With more resets than these, clocks have too little to remember.
    some = st.sampled_from([(), *((clock,) for clock in clocks)])
    resets: list[tuple[str, ...]] = [draw(some) for _ in path.edges]
    if draw(st.sampled_from([False, False, True])):
        resets[draw(st.sampled_from(path.taken))] = clocks
    urgent = [draw(st.sampled_from([False] * 9 + [True])) for _ in range(path.locations)]
    halves = st.sampled_from(range(LONGEST + 1))
    delays = [0 if urgent[visit] else draw(halves) for visit in path.visits]
    entering, leaving = _values(clocks, path, resets, delays)
    # A few traces are not made to fit the run, and need not be feasible.
    true = draw(st.sampled_from([True] * 15 + [False]))
    size = st.sampled_from([0, 1, 1, 2])
    # Nothing but its invariant bounds how long the last location is visited.
    end_size = st.sampled_from([0, 1, 1, 1, 2, 2])

    locations = []
    for number in range(path.locations):
        operators: tuple[str, ...]
        states = [state for state, visited in enumerate(path.visits) if visited == number]
        here = _together([v[state] for state in states for v in (entering, leaving)], clocks)
        if number == 0:
            # Whatever else: in the initial state the invariant holds, or the model is none.
            operators = ("<=",)
        else:
            operators = draw(st.sampled_from([("<=",), ("<=", "<"), ("<=", "<", ">=", "==")]))
        this_size = end_size if number == path.visits[-1] else size
        invariant = draw(_labels(("invariant", number), this_size, here, operators, true=true))
        locations.append(Location(invariant, urgent[number]))
    edges = []
    for number, (source, target) in enumerate(path.edges):
        states = [state for state, taken in enumerate(path.taken) if taken == number]
        here = _together([leaving[state] for state in states], clocks)
        guard = draw(_labels(("guard", number), size, here, tuple(_COMPARISONS), true=true))
        edges.append(Edge(source, target, guard, resets[number]))

    end = _together([leaving[-1]], clocks)
    bad_size = st.sampled_from([1] * 8 + [2] * 5 + [0])
    bad_operators = draw(st.sampled_from([(">=", ">"), (">=", ">"), ("<=", "<", "==", ">=")]))
    bad = [draw(_labels(("bad", 0), bad_size, end, bad_operators, true=true, old=True))]
    if draw(st.sampled_from([False, False, True])):
        size_of_two = st.integers(1, 2)
        bad.append(draw(_labels(("bad", 1), size_of_two, end, (">", ">=", "<=", "<"), true=False)))
    automaton = Automaton(clocks, tuple(locations), tuple(edges))
    trace = Trace(automaton, tuple(path.taken), tuple(bad))
    kind = draw(st.sampled_from((None, None, *_KINDS)))
    return trace if kind is None else draw(_repairable(trace, kind))


@st.composite
def _repairable(draw: st.DrawFn, trace: Trace, kind: Kind) -> Trace:
    """The trace with a property, if there is one, that it violates, but not after some change of
    one element: most changes of resets and clocks repair nothing."""
    changes = [
        (key, value)
        for key in sorted(elements_of(trace, kind), key=repr)
        for value in choices_of(trace, key, kind, trace.automaton.clocks, 1)
    ]
    for key, value in draw(st.permutations(changes))[:4]:
        other = changed(trace, key, kind, value)
        properties = [
            ((Constraint(clock, op, bound, ("bad", 0, 0)),),)
            for clock in trace.automaton.clocks
            for op in ("<", "<=", ">=", ">")
            for bound in range(LARGEST + 1)
        ]
        broken = [
            bad
            for bad in properties
            if violable(replace(trace, bad=bad)) and not violable(replace(other, bad=bad))
        ]
        if broken and feasible(other):
            return replace(trace, bad=draw(st.sampled_from(broken)))
    return trace


# ------------------------------------------------------------------------------------------ XML


def _text(constraint: Constraint) -> str:
    return f"{constraint.clock} {constraint.op} {constraint.bound}"


def _conjunction(constraints: Sequence[Constraint]) -> str:
    return " && ".join(map(_text, constraints))


def bad_text(trace: Trace) -> str:
    """The negated property, as an expression."""
    return " || ".join(f"({_conjunction(c) or 'true'})" for c in trace.bad) or "false"


def to_xml(trace: Trace) -> str:
    """A file of UPPAAL with one process `P`, its locations `L0`, `L1`, …, the edges in their order,
    and a query that the trace violates where its last state satisfies `bad`."""
    automaton = trace.automaton
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        "<!DOCTYPE nta PUBLIC '-//Uppaal Team//DTD Flat System 1.1//EN'"
        " 'http://www.it.uu.se/research/group/darts/uppaal/flat-1_2.dtd'>",
        "<nta>",
        f"<declaration>clock {', '.join(automaton.clocks)};</declaration>",
        "<template>",
        "<name>P</name>",
    ]
    for number, location in enumerate(automaton.locations):
        lines.append(f'<location id="id{number}">')
        lines.append(f"<name>L{number}</name>")
        if location.invariant:
            text = escape(_conjunction(location.invariant))
            lines.append(f'<label kind="invariant">{text}</label>')
        if location.urgent:
            lines.append("<urgent/>")
        lines.append("</location>")
    lines.append('<init ref="id0"/>')
    for edge in automaton.edges:
        lines.append("<transition>")
        lines.append(f'<source ref="id{edge.source}"/>')
        lines.append(f'<target ref="id{edge.target}"/>')
        if edge.guard:
            lines.append(f'<label kind="guard">{escape(_conjunction(edge.guard))}</label>')
        if edge.resets:
            text = ", ".join(f"{clock} = 0" for clock in edge.resets)
            lines.append(f'<label kind="assignment">{text}</label>')
        lines.append("</transition>")
    last = automaton.edges[trace.edges[-1]].target if trace.edges else 0
    formula = escape(f"A[] not P.L{last} or not ({bad_text(trace)})")
    lines += [
        "</template>",
        "<system>system P;</system>",
        "<queries>",
        f"<query><formula>{formula}</formula><comment></comment></query>",
        "</queries>",
        "</nta>",
        "",
    ]
    return "\n".join(lines)
