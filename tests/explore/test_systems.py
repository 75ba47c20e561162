"""Transition systems of networks, against the untimed automata of another room and the checker."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from benchmarks.charts import channels, radar
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference.networks import PRESETS, Model, models, to_uppaal_xml

import whence
from whence.explore.check import Checker, Options
from whence.explore.search import Budget
from whence.explore.systems import transition_system, untimed_system
from whence.expr.tree import Deadlock
from whence.expr.walk import subexpressions
from whence.formats.charts.yaml import read_chart, read_chart_file
from whence.model.transitions import TransitionSystem
from whence.source import InputError, UnsupportedError
from whence.timing.admissible import LabelTable, untimed

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def edges_of(system: TransitionSystem) -> set[tuple[int, str, int]]:
    return {
        (source, system.actions[action].name, target)
        for source, action, target in zip(
            system.source.tolist(), system.action.tolist(), system.target.tolist(), strict=True
        )
    }


def depths_of(system: TransitionSystem) -> list[int]:
    depth = dict.fromkeys(system.initial, 0)
    for source, target in zip(system.source.tolist(), system.target.tolist(), strict=True):
        depth.setdefault(target, depth[source] + 1)
    return [depth[state] for state in range(system.states)]


@pytest.mark.parametrize("preset", sorted(PRESETS))
@given(data=st.data())
@settings(max_examples=max(8, settings().max_examples // 10))
def test_random_networks(preset: str, data: st.DataObject) -> None:
    """Without formulas, the graph is that of the comparison of languages; with one, it is as far
    to a node where it is true as the checker says."""
    model: Model = data.draw(models(PRESETS[preset], kinds=("E<>",)))
    read = whence.load_text(to_uppaal_xml(model.network, model.queries))
    checker = Checker(read.network)
    for labels in ("transitions", "actions"):
        table = LabelTable()
        try:
            graph = untimed(checker, labels, table)  # type: ignore[arg-type]
            if graph.outcome.reason == "fault":
                with pytest.raises(InputError):
                    untimed_system(checker, {}, labels=labels)  # type: ignore[arg-type]
                continue
            system = untimed_system(checker, {}, labels=labels)  # type: ignore[arg-type]
        except UnsupportedError:
            continue
        assert system.complete
        assert system.initial == graph.automaton.initial
        assert edges_of(system) == {(s, table.text(a), e) for s, a, e, _ in graph.edges.tolist()}
        silent = {action.name for action in system.actions if action.silent}
        assert silent <= ({"tau"} if labels == "actions" else set())
    for query in read.queries:
        assert query.predicate is not None
        if any(isinstance(part, Deadlock) for part in subexpressions(query.predicate)):
            continue
        result = checker.check(query, Options(trace="shortest"))
        if result.verdict not in ("satisfied", "violated"):
            continue
        try:
            system = untimed_system(checker, {"p": query.predicate})
        except InputError:
            continue  # wrong somewhere behind the state that the checker found
        marks = system.propositions["p"]
        assert marks.any() == (result.verdict == "satisfied"), query.text
        if result.trace is not None:
            nearest = min(depths_of(system)[node] for node in np.flatnonzero(marks))
            assert nearest == len(result.trace.transitions)


def test_train_gate() -> None:
    """Broadcast-free channels: the labels are those of the model, and so is its unsafe state."""
    model = whence.load(EXAMPLES / "train_gate.xml")
    query = next(q for q in model.queries if q.kind == "A[]" and q.predicate is not None)
    assert query.predicate is not None
    system = untimed_system(Checker(model.network), {"safe": query.predicate}, labels="actions")
    names = {action.name for action in system.actions}
    assert {name.partition("[")[0] for name in names - {"tau"}} == {"appr", "stop", "go", "leave"}


@pytest.mark.parametrize("states", [1, 2, 10, 40, 87])
def test_a_part(states: int) -> None:
    """What a budget leaves is complete up to the depth that it says."""
    chart = read_chart_file(EXAMPLES / "railroad.yaml")
    whole, part = transition_system(chart), transition_system(chart, budget=Budget(states=states))
    assert not part.complete
    assert part.reason == "the budget of states is used up"
    depths = depths_of(whole)
    assert part.explored_depth == depths[states]
    assert len(set(part.source.tolist())) <= states
    inside = {edge for edge in edges_of(whole) if depths[edge[0]] < depths[states]}
    assert inside <= edges_of(part) <= edges_of(whole)
    for name, marks in part.propositions.items():
        assert np.array_equal(marks, whole.propositions[name][: part.states])


@pytest.mark.parametrize("count", [1, 2, 3])
def test_sizes_that_can_be_calculated(count: int) -> None:
    """Independent parts: the product of their states."""
    # A channel: hardware in 2 states, a function in 4, a message or none.
    system = transition_system(channels(count))
    assert system.states == (2 * 4 * 2) ** count
    # A radar channel: 3 states for each sector, of which one has 3 ways on and one has 1.
    system = transition_system(radar(count, 5))
    each = 3 * 5
    assert system.states == 2 * each**count
    assert system.transitions == 2 * (count * (3 + 1) * 5 * each ** (count - 1)) + system.states


def test_rates() -> None:
    chart = read_chart(
        """
machines:
  M:
    initial: a
    states: {a: {}, b: {}}
    transitions:
      - {from: a, to: b, rate: 1/4, event: by chance}
      - {from: a, to: b, event: on purpose}
      - {from: b, to: a, rate: 1e-4}
"""
    )
    system = transition_system(chart)
    assert system.rate is not None
    rates = {
        system.actions[a].name: rate
        for a, rate in zip(system.action.tolist(), system.rate.tolist(), strict=True)
    }
    assert (rates["by chance"], rates["a"]) == (0.25, 1e-4)
    assert np.isnan(rates["on purpose"])
    assert transition_system(read_chart_file(EXAMPLES / "railroad.yaml")).rate is None


def test_faults_have_places() -> None:
    text = """
machines:
  M:
    variables: {x: "int[0,3] = 0"}
    initial: a
    states: {a: {}}
    transitions: [{from: a, to: a, do: x += 1}]
hazards: {h: 1 / (2 - M.x) == 1}
"""
    with pytest.raises(InputError, match=r"f.yaml:7:40: error: the model goes wrong after 3 steps"):
        transition_system(read_chart(text, "f.yaml"), {})
    with pytest.raises(InputError, match=r"f.yaml:8:14: error: .*division by zero"):
        transition_system(read_chart(text.replace("x += 1", "x = 2"), "f.yaml"))
