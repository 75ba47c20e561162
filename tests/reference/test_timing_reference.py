"""The reference for timed traces: published examples, and its shortcuts against plainer ways."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import get_args

import pytest
import z3
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference.timing import (
    EVALUATED,
    LITERAL,
    WAITED,
    Automaton,
    Constraint,
    Edge,
    Key,
    Kind,
    Location,
    Range,
    Reading,
    Repair,
    Trace,
    _Analysis,
    _cap,
    causal_delay_sets,
    causal_delays,
    causal_ranges,
    changed,
    choices_of,
    elements_of,
    feasible,
    repairs,
    satisfiable,
    states,
    system,
    violable,
    violations,
)
from tests.timing.strategies import bad_text, to_xml, traces

from whence.api import load_text

READINGS = [LITERAL, EVALUATED, WAITED, Reading(departure="enabled"), Reading(same_suffix=True)]
KINDS: tuple[Kind, ...] = get_args(Kind)


# ------------------------------------------------------------------------------ making traces


def constraint(text: str, key: Key = ()) -> Constraint:
    clock, op, bound = text.split()
    return Constraint(clock, op, int(bound), key)


def label(kind: str, element: int, text: str) -> tuple[Constraint, ...]:
    """Conjuncts joined by "and"; an empty text is true."""
    parts = text.split(" and ") if text else []
    return tuple(constraint(part, (kind, element, i)) for i, part in enumerate(parts))


def line(clocks: str, *steps: str, bad: Sequence[str], urgent: Sequence[int] = ()) -> Trace:
    """A trace through locations one after the other: `steps` are invariants, and between them
    edges "guard; clocks that are reset"."""
    invariants, labels = steps[::2], [text.split(";") for text in steps[1::2]]
    locations = [
        Location(label("invariant", number, text), number in urgent)
        for number, text in enumerate(invariants)
    ]
    edges = [
        Edge(number, number + 1, label("guard", number, guard.strip()), tuple(resets.split()))
        for number, (guard, resets) in enumerate(labels)
    ]
    automaton = Automaton(tuple(clocks.split()), tuple(locations), tuple(edges))
    return Trace(
        automaton, tuple(range(len(edges))), tuple(label("bad", i, b) for i, b in enumerate(bad))
    )


def database(bad: str, answer: int = 3) -> Trace:
    """examples/database.xml, or database_z2.xml with an answer within 2, as one automaton."""
    steps = ("", "; w", "", "; x", "w <= 2", "w >= 1; y", "y <= 1", "y >= 1; z", f"z <= {answer}")
    return line("x y z w", *steps, bad=[bad], urgent=[1])


CAMEL = line(
    "c t", "c <= 4", "; c", "c <= 4", "; c", "c <= 4", "t <= 7; c", "c <= 4", bad=["t > 7"]
)


def fischer(first: str) -> Trace:
    """Two processes of Fischer's protocol, with clocks a and b, that may write their numbers up to
    3 after they saw the lock free.  The one that looks `first` has this clock.  Process a writes
    first and goes ahead (a > 2), and then b does the same.  The figure with the trace is not in the
    text of the thesis that we have; these are the two orders that six steps can have."""
    second = "b" if first == "a" else "a"
    return line(
        *("a b", "", f"; {first}", f"{first} <= 3", f"; {second}", "a <= 3 and b <= 3", "; a"),
        *("b <= 3", "a > 2;", "b <= 3", "; b", "", "b > 2;", ""),
        bad=[""],
    )


def shown(found: Sequence[Range]) -> list[str]:
    return [
        f"{r.lower} {'<' if r.lower_strict else '<='} {' + '.join(f'd{d}' for d in r.delays)}"
        + ("" if r.upper is None else f" {'<' if r.upper_strict else '<='} {r.upper}")
        for r in found
    ]


# ------------------------------------------------------------------------------ golden numbers


@pytest.mark.parametrize("reading", READINGS, ids=str)
def test_ranges_of_the_database(reading: Reading) -> None:
    """Kölbl, section 9.3; with x <= 4 the lower bounds are strict."""
    found = causal_ranges(database("x >= 4"), reading)
    assert shown(found) == ["2 <= d4 <= 3", "3 <= d2 + d4 <= 5"]
    found = causal_ranges(database("x > 4"), reading)
    assert shown(found) == ["2 < d4 <= 3", "3 < d2 + d4 <= 5"]


def test_causal_delays_of_the_database() -> None:
    """Section 9.5 says {2, 4}.  By formula 9.2, a d3 of 1/2 is a partial realization as well, for
    y <= 1 holds; as y >= 1 does not, nothing completes it, and d3 is causal."""
    for bad in ("x >= 4", "x > 4"):
        assert causal_delays(database(bad), EVALUATED) == (2, 4)
        assert causal_delays(database(bad), Reading(departure="enabled")) == (2, 4)
        assert causal_delays(database(bad), LITERAL) == (2, 3, 4)


@pytest.mark.parametrize("reading", READINGS, ids=str)
def test_camel_transporter(reading: Reading) -> None:
    """Section 9.5."""
    assert causal_delays(CAMEL, reading) == (0, 1, 2, 3)
    assert shown(causal_ranges(CAMEL, reading)) == [
        "7 < d0 + d3 <= 8",
        "7 < d1 + d3 <= 8",
        "7 < d2 + d3 <= 8",
        "7 < d0 + d1 + d3 <= 11",
        "7 < d0 + d2 + d3 <= 11",
        "7 < d1 + d2 + d3 <= 11",
        "7 < d0 + d1 + d2 + d3 <= 11",
    ]


def test_fischer() -> None:
    """Section 9.5 reports the causal delays 1, 2 and 3.  Its four ranges are those of both orders
    together.  To the letter, d5 = 0 is a partial realization that cannot be completed, which makes
    d5 causal and leaves only ranges that speak about d5."""
    assert causal_delays(fischer("a"), EVALUATED) == causal_delays(fischer("b"), EVALUATED)
    assert causal_delays(fischer("a"), WAITED) == causal_delays(fischer("b"), WAITED) == (1, 2, 3)
    assert causal_delays(fischer("a"), EVALUATED) == (1, 2, 3)
    found = causal_ranges(fischer("a"), EVALUATED)
    assert shown(found) == ["2 < d1 <= 3", "0 <= d2 < 1", "2 < d3 <= 3"]
    found = causal_ranges(fischer("b"), EVALUATED)
    assert shown(found) == ["2 < d3 <= 3", "0 <= d1 + d2 < 1"]
    assert causal_delays(fischer("a"), LITERAL) == (2, 3, 5)
    assert causal_delays(fischer("b"), LITERAL) == (1, 2, 3, 5)
    for first in "ab":
        assert shown(causal_ranges(fischer(first), LITERAL)) == ["2 < d5"]


def test_several_ranges_of_one_delay_set() -> None:
    """By thinking."""
    trace = line("x", "x <= 5", ";", "x <= 5", bad=["x < 1", "x >= 4 and x >= 3"])
    assert shown(causal_ranges(trace)) == [
        "4 <= d0 <= 5",
        "4 <= d1 <= 5",
        "0 <= d0 + d1 < 1",
        "4 <= d0 + d1 <= 5",
    ]


def test_blocked_suffixes() -> None:
    """By thinking: what always violates can only be blocked."""
    trace = line("x y", "", "x < 2; x", "", "; x", "", bad=[""])
    assert causal_delays(trace) == (0,)
    # CR2 has nothing against it: d0 >= 2 is a partial realization, but outside of the range.
    assert shown(causal_ranges(trace)) == ["0 <= d0 < 2"]
    assert causal_delays(trace, EVALUATED) == ()
    assert causal_delays(trace, WAITED) == (0,)
    assert causal_delays(line("x", "x <= 2", "; x", "", bad=[])) == ()
    assert causal_delays(line("x", "x <= 2", "x > 2;", "", bad=[""])) == ()


def test_bound_repairs_of_the_database() -> None:
    """Example 4: z <= 1, w <= 1, or y <= 0 and y >= 0; "no further minimal repair exists"."""
    assert repairs(database("x > 4", answer=2), "bound", 2) == {
        Repair(frozenset({("invariant", 4, 0)}), amount=1),
        Repair(frozenset({("invariant", 2, 0)}), amount=1),
        Repair(frozenset({("invariant", 3, 0), ("guard", 3, 0)}), amount=2),
    }


@pytest.mark.parametrize(
    ("kind", "key", "value"),
    [
        ("operator", ("guard", 2, 0), "<"),
        ("clock", ("invariant", 4, 0), "y"),
        ("reset", ("reset", 2, "x"), True),
        ("urgency", ("urgency", 4), True),
    ],
)
def test_other_repairs_of_the_database(kind: Kind, key: Key, value: str | bool) -> None:
    """Section 10.2, after example 4."""
    repair = Repair(frozenset({key}), ((key, value),))
    assert repair in repairs(database("x > 4", answer=2), kind, 2)


def test_elements_that_occur_twice() -> None:
    """By thinking: around a loop twice, each time between 1 and 2, and the end is after 3 or less.
    One change concerns both times; operators that forbid the first round are no repairs."""
    loop = Edge(0, 0, label("guard", 0, "c >= 1"), ("c",))
    location = Location(label("invariant", 0, "c <= 2"))
    trace = Trace(
        Automaton(("c", "t"), (location,), (loop, Edge(0, 0))), (0, 0), (label("bad", 0, "t <= 3"),)
    )
    assert repairs(trace, "bound", 2) == {
        Repair(frozenset({("guard", 0, 0)}), amount=1),
    }
    key: Key = ("guard", 0, 0)
    assert repairs(trace, "operator", 1) == set()
    assert repairs(trace, "reset", 1) == set()
    assert repairs(trace, "urgency", 1) == set()
    assert repairs(replace_bad(trace, "t == 2"), "operator", 1) == {
        Repair(frozenset({key}), ((key, ">"),))
    }


def replace_bad(trace: Trace, bad: str) -> Trace:
    return Trace(trace.automaton, trace.edges, (label("bad", 0, bad),))


# ------------------------------------------------------------------------------ plainer ways


def holds(c: Constraint, value: Fraction) -> bool:
    return {
        "<": value < c.bound,
        "<=": value <= c.bound,
        "==": value == c.bound,
        ">=": value >= c.bound,
        ">": value > c.bound,
    }[c.op]


def run(trace: Trace, delays: Sequence[Fraction]) -> dict[str, Fraction] | None:
    """The clocks at the end of a run with these delays; None if there is no such run."""
    automaton = trace.automaton
    clocks = dict.fromkeys(automaton.clocks, Fraction(0))
    number = 0
    for edge, delay in zip((*trace.edges, None), delays, strict=True):
        location = automaton.locations[number]
        if not all(holds(c, clocks[c.clock]) for c in location.invariant):
            return None
        if location.urgent and delay > 0:
            return None
        clocks = {clock: value + delay for clock, value in clocks.items()}
        if not all(holds(c, clocks[c.clock]) for c in location.invariant):
            return None
        if edge is not None:
            taken = automaton.edges[edge]
            if taken.source != number or not all(holds(c, clocks[c.clock]) for c in taken.guard):
                return None
            clocks.update(dict.fromkeys(taken.resets, Fraction(0)))
            number = taken.target
    return clocks


@given(traces(), st.data())
def test_systems_against_runs(trace: Trace, data: st.DataObject) -> None:
    """The constraint system holds for just those delays with which the trace can be run."""
    halves = st.lists(
        st.integers(0, 6), min_size=len(trace.edges) + 1, max_size=len(trace.edges) + 1
    )
    for _ in range(10):
        delays = [Fraction(half, 2) for half in data.draw(halves)]
        times = [sum(delays[:i], Fraction(0)) for i in range(len(delays) + 1)]
        end = run(trace, delays)

        def true(atoms: Sequence[tuple[int, int, int, bool]], times: list[Fraction]) -> bool:
            return all(
                times[a] - times[b] < c if strict else times[a] - times[b] <= c
                for a, b, c, strict in atoms
            )

        assert true([atom for _, atom in system(trace)], times) == (end is not None)
        if end is not None:
            violated = any(all(holds(c, end[c.clock]) for c in bad) for bad in trace.bad)
            assert any(true(bad, times) for bad in violations(trace)) == violated
            assert feasible(trace)
            assert violable(trace) or not violated


@given(traces())
def test_satisfiable_against_z3(trace: Trace) -> None:
    analysis = _Analysis(trace, LITERAL)
    solver = z3.Solver()
    solver.add(analysis._holds(analysis.whole, analysis.delays))
    assert feasible(trace) == (solver.check() == z3.sat)
    solver.add(analysis._violated(analysis.delays))
    assert violable(trace) == (solver.check() == z3.sat)


@settings(max_examples=15)
@given(traces(), st.sampled_from(READINGS))
def test_elimination_against_quantifiers(trace: Trace, reading: Reading) -> None:
    assert causal_ranges(trace, reading) == causal_ranges(trace, reading, quantifiers=True)


@settings(max_examples=30)
@given(traces(), st.sampled_from(READINGS), st.integers(1, 11))
def test_values_between_halves(trace: Trace, reading: Reading, twelfths: int) -> None:
    """CR1 and CR2 agree within each open unit interval, and from the cap on."""
    analysis = _Analysis(trace, reading)
    for delays in causal_delay_sets(trace, reading):
        total = analysis._total(delays)
        cap = _cap(trace, delays)
        for solver in (analysis.possible, analysis.escaping[max(delays)]):
            for floor in range(8):
                values = [Fraction(2 * floor + 1, 2), floor + Fraction(twelfths, 12)]
                first, second = (solver.check(total == z3.Q(*v.as_integer_ratio())) for v in values)
                assert first == second
            assert len({str(solver.check(total == cap * factor)) for factor in (1, 2, 7)}) == 1


@settings(max_examples=30)
@given(traces(), st.sampled_from(KINDS))
def test_repairs_against_making_each_change(trace: Trace, kind: Kind) -> None:
    """Pairs as well, by changing the automaton and asking it."""
    choices = {
        key: choices_of(trace, key, kind, trace.automaton.clocks, 3)
        for key in elements_of(trace, kind)
    }
    keys = sorted(choices, key=repr)
    single = {
        (key, value) for key in keys for value in choices[key] if works(trace, kind, (key, value))
    }
    repaired = {key for key, _ in single}
    others = [key for key in keys if key not in repaired]
    pairs = {
        ((one, a), (two, b))
        for i, one in enumerate(others)
        for two in others[i + 1 :]
        for a, b in product(choices[one], choices[two])
        if works(trace, kind, (one, a), (two, b))
    }
    found = repairs(trace, kind, 2, largest_delta=3)
    if kind == "bound":
        amounts: dict[frozenset[Key], int] = {}
        for changes in [*((change,) for change in single), *pairs]:
            elements = frozenset(key for key, _ in changes)
            amount = sum(abs(int(value)) for _, value in changes)
            amounts[elements] = min(amount, amounts.get(elements, amount))
        assert found == {Repair(elements, amount=amount) for elements, amount in amounts.items()}
    else:
        expected = [*((change,) for change in single), *pairs]
        assert found == {Repair(frozenset(k for k, _ in changes), changes) for changes in expected}


def works(trace: Trace, kind: Kind, *changes: tuple[Key, int | str | bool]) -> bool:
    for key, value in changes:
        trace = changed(trace, key, kind, value)
    atoms = [atom for _, atom in system(trace)]
    return satisfiable(atoms) and not any(satisfiable([*atoms, *b]) for b in violations(trace))


# ------------------------------------------------------------------------------ random traces


@settings(max_examples=25)
@given(traces())
def test_files(trace: Trace) -> None:
    """The XML is a model whose checker finds what the reference knows to be there."""
    model = load_text(to_xml(trace))
    assert model.refused == ()
    (query,) = model.queries
    last = states(trace)[-1]
    assert query.text == f"A[] not P.L{last} or not ({bad_text(trace)})"
    if violable(trace):
        assert model.check(query, trace="none").verdict == "violated"
