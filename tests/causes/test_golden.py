"""Causes that the thesis publishes (M. Kölbl, Konstanz 2022, chapters 4 to 6)."""

from __future__ import annotations

from pathlib import Path

from whence.causes.causality import CausesOptions, causes_of
from whence.causes.results import Cause, CausesResult
from whence.explore.systems import transition_system
from whence.formats.charts.yaml import read_chart_file
from whence.model.transitions import TransitionSystem

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def of_example(name: str, options: CausesOptions | None = None) -> CausesResult:
    system = transition_system(read_chart_file(EXAMPLES / name))
    return causes_of(system, system.propositions["accident"], options, hazard="accident")


def order(cause: Cause) -> set[str]:
    return {f"{first}<{second}" for first, second in cause.order}


def events(cause: Cause) -> set[str]:
    return {str(event) for event in cause.events}


def absences(cause: Cause) -> set[str]:
    return {f"not {a.action} after {a.after} before {a.before}" for a in cause.absent}


def test_motivating_system() -> None:
    """Figure 5.2 and its text."""
    system = TransitionSystem.from_edges(
        [
            ("s0", "a", "s1"),
            ("s1", "b", "s2"),
            ("s2", "c", "f1"),
            ("s0", "b", "s3"),
            ("s3", "a", "s2"),
            ("s0", "d", "s4"),
            ("s4", "e", "s3"),
            ("s2", "a", "s5"),
            ("s5", "c", "f2"),
        ],
        "s0",
        ["f1", "f2"],
    )
    result = causes_of(system, system.propositions["bad"])
    assert result.causal_traces == 3
    assert [(events(c), order(c), c.traces) for c in result.causes] == [
        ({"a", "b", "c"}, {"a<c", "b<c"}, 2),
        ({"a", "c", "d", "e"}, {"d<e", "e<a", "a<c"}, 1),
    ]


def test_unguarded_railroad() -> None:
    """Figure 6.1."""
    (cause,) = of_example("railroad_unguarded.yaml").causes
    assert events(cause) == {"Ca", "Cc", "Ta", "Tc"}
    assert order(cause) == {"Ca<Cc", "Cc<Tc", "Ta<Tc"}
    assert cause.traces == 3
    assert cause.exact


def test_railroad_crossing() -> None:
    """Example 1, Tables 5.1 and 6.1, Figure 6.2."""
    result = of_example("railroad.yaml")
    assert result.verdict == "violated"
    assert result.complete
    assert result.causal_traces == 62
    assert [(events(cause), cause.traces) for cause in result.causes] == [
        ({"Ca", "Cc", "Gf", "Ta", "Tc"}, 20),
        ({"Ca", "Cc", "Gc", "Go", "Ta", "Tc"}, 12),
        ({"Ca", "Cc", "Gc", "Gf", "Go", "Ta", "Tc"}, 12),
        ({"Ca", "Cc", "Gc", "Go", "Go#2", "Ta", "Ta#2", "Tc", "Tc#2", "Tl"}, 18),
    ]
    first, second, third, _ = result.causes
    assert order(first) == {"Ca<Cc", "Ta<Tc", "Gf<Tc"}  # Example 2
    assert "Cc<Gc" in order(second)  # the car is in when the gate closes
    assert "Tc<Gf" in order(third)  # the gate opens when the train is in
    assert all(cause.exact for cause in result.causes)


def test_the_traces_of_example_2() -> None:
    told = """
        Ca Cc Ta Gf Tc, Ta Ca Gf Cc Tc, Ca Gf Cc Ta Tc, Ta Ca Gf Tc Cc, Ca Ta Cc Gf Tc,
        Gf Ca Ta Cc Tc, Gf Ca Cc Ta Tc, Ta Gf Ca Tc Cc, Ta Ca Cc Gf Tc, Ta Gf Ca Cc Tc,
        Gf Ca Ta Tc Cc, Gf Ta Ca Tc Cc, Ca Ta Gf Cc Tc, Gf Ta Ca Cc Tc, Ca Gf Ta Tc Cc,
        Ta Gf Tc Ca Cc, Ca Gf Ta Cc Tc, Ca Cc Gf Ta Tc, Ca Ta Gf Tc Cc, Gf Ta Tc Ca Cc"""
    published = {tuple(trace.split()) for trace in told.split(",")}
    from whence.causes.prepared import prepare
    from whence.causes.traces import causal_traces

    system = transition_system(read_chart_file(EXAMPLES / "railroad.yaml"))
    traces = causal_traces(prepare(system, system.propositions["accident"]))
    assert {word for word in traces.words() if len(word) == 5} == published


def test_railroad_crossing_with_non_occurrence() -> None:
    """Table 5.3, Figure 6.3, and formulas 4.2 and 4.3 for the first two."""
    result = of_example("railroad.yaml", CausesOptions(non_occurrence=1))
    assert result.deterministic
    assert len(result.causes) == 5
    parts = {frozenset(absences(cause)): cause for cause in result.causes[:2]}
    psi_1 = parts[frozenset({"not Cl after Cc before Tc"})]
    assert order(psi_1) == {"Ca<Cc", "Ta<Tc", "Gf<Tc", "Cc<Tc"}
    assert psi_1.traces == 12
    psi_2 = parts[frozenset({"not Tl after Tc before Cc"})]
    assert order(psi_2) == {"Ca<Cc", "Ta<Tc", "Gf<Tc", "Tc<Cc"}
    assert psi_2.traces == 8


def test_an_order_that_admits_too_much() -> None:
    """Section 6.2: <a,b,c> and <c,a,b> also admit <a,c,b>."""
    edges = [(0, "a", 1), (1, "b", 2), (2, "c", 9), (0, "c", 3), (3, "a", 4), (4, "b", 9)]
    system = TransitionSystem.from_edges(edges, 0, [9])
    bad = system.propositions["bad"]
    (cause,) = causes_of(system, bad).causes
    assert order(cause) == {"a<b"}
    assert not cause.exact
    parts = causes_of(system, bad, CausesOptions(exact=True)).causes
    assert [order(part) for part in parts] == [{"a<b", "c<a"}, {"a<b", "b<c"}]
    assert all(part.exact for part in parts)


def test_events_that_do_not_decide() -> None:
    """Observation O5: <a,b> leads to the hazard and also does not."""
    edges = [(0, "a", 1), (1, "b", 2), (1, "b", 3)]
    system = TransitionSystem.from_edges(edges, 0, [2])
    bad = system.propositions["bad"]
    result = causes_of(system, bad, CausesOptions(non_occurrence=1))
    assert result.deterministic is False
    assert result.notes
    assert [events(cause) for cause in result.causes] == [{"a", "b"}]


def test_a_hazard_from_the_start_has_no_cause() -> None:
    system = TransitionSystem.from_edges([(0, "a", 1)], 0, [0])
    result = causes_of(system, system.propositions["bad"])
    assert result.initially
    assert result.verdict == "violated"
    assert not result.causes


def test_a_hazard_that_cannot_come_about() -> None:
    system = TransitionSystem.from_edges([(0, "a", 1), (2, "b", 3)], 0, [3])
    result = causes_of(system, system.propositions["bad"])
    assert result.verdict == "satisfied"
    assert not result.causes


def test_several_events_that_avert_only_together() -> None:
    """`x` and then `y` in between avert the hazard, one of them alone does not."""
    edges = [(0, "a", 1), (1, "b", 9), (1, "x", 2), (2, "b", 9), (2, "y", 3), (3, "b", 4)]
    system = TransitionSystem.from_edges([*edges, (1, "y", 5), (5, "b", 9)], 0, [9])
    bad = system.propositions["bad"]
    (one,) = causes_of(system, bad, CausesOptions(non_occurrence=1)).causes
    assert not one.absent
    two = causes_of(system, bad, CausesOptions(non_occurrence=2)).causes
    assert [absences(cause) for cause in two] == [
        {"not x after a before b"},
        {"not y after a before b"},
    ]
