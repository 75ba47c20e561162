"""The checker against the region graph: every verdict on random networks, and every trace on the
concrete interpreter."""

from __future__ import annotations

from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference.networks import PRESETS, Model, models, networks, to_uppaal_xml
from tests.reference.regions import Answer, Reference, TooLarge, reachable_discrete

from whence.explore.check import Checker, Options, explore_all
from whence.explore.goals import negation
from whence.explore.replay import holds_at_end, replay
from whence.expr.faults import EvaluationError
from whence.formats.uppaal.elaborate import elaborate
from whence.formats.uppaal.elaborate_queries import queries
from whence.formats.uppaal.xml import read_xml
from whence.model.network import Network, Query
from whence.model.trace import QueryResult
from whence.source import UnsupportedError

LIMIT = 4000


def compare(model: Model, options: Options) -> None:
    """The model goes through its XML text, so that reading and checking it are tested as well;
    the reference sees the network as it was made."""
    text = to_uppaal_xml(model.network, model.queries)
    elaborated = elaborate(read_xml(text, "random.xml"))
    checker = Checker(elaborated.network)
    reference = Reference(model.network, LIMIT)
    for original, (_, query) in zip(model.queries, queries(elaborated), strict=True):
        assert isinstance(query, Query), query
        try:
            allowed = reference.allowed(original)
        except TooLarge:
            continue
        try:
            result = checker.check(query, options)
        except UnsupportedError:
            continue
        if query.kind in ("sup", "inf"):
            check_bound(result, allowed)
            continue
        assert result.verdict in allowed, (query.text, result.verdict, allowed)
        check_trace(elaborated.network, query, result)


def check_bound(result: QueryResult, allowed: frozenset[Answer]) -> None:
    if result.verdict == "satisfied":
        bounds = tuple((s.value, s.value is None or s.strict) for s in result.suprema)
        right = {
            tuple((b.value, b.strict) for b in answer[1])
            for answer in allowed
            if not isinstance(answer, str)
        }
        assert bounds in right, (result, allowed)
    elif result.verdict == "error":
        assert "error" in allowed, (result, allowed)
    else:
        # No state satisfies the condition, or a clock that grows from loop to loop.
        assert result.verdict == "unknown", result


def check_trace(network: Network, query: Query, result: QueryResult) -> None:
    """A trace is there where it should be, runs, and ends in what it promises."""
    shows = {
        "E<>": "satisfied",
        "E[]": "satisfied",
        "A[]": "violated",
        "A<>": "violated",
        "-->": "violated",
    }
    if result.verdict != shows[query.kind]:
        return
    trace = result.trace
    assert trace is not None, query.text
    replayed = replay(network, trace)
    assert replayed.ok, (query.text, replayed.step, replayed.reason, trace)
    if query.kind in ("E<>", "A[]"):
        assert query.predicate is not None
        goal = query.predicate if query.kind == "E<>" else negation(query.predicate)
        try:
            assert holds_at_end(network, trace, goal), (query.text, trace)
        except EvaluationError:
            # To decide `deadlock`, it looks at transitions that the model gets wrong.
            assert "deadlock" in query.text


@pytest.mark.parametrize("preset", sorted(PRESETS))
@given(data=st.data())
def test_verdicts_and_traces(preset: str, data: st.DataObject) -> None:
    compare(data.draw(models(PRESETS[preset])), Options())


@pytest.mark.parametrize("trace", ["shortest", "fastest"])
@given(model=models(kinds=("E<>", "A[]")))
@settings(max_examples=max(30, settings().max_examples // 10))
def test_other_searches(model: Model, trace: Literal["shortest", "fastest"]) -> None:
    compare(model, Options(trace=trace, realization="latest"))
    compare(model, Options(order="depth", realization="middle"))


@given(network=networks())
def test_reachable_discrete_states(network: Network) -> None:
    """Verdicts alone would not notice a state that is missing, or one too many."""
    try:
        right = reachable_discrete(network, LIMIT)
    except TooLarge:
        return
    read = elaborate(read_xml(to_uppaal_xml(network, ()), "random.xml"))
    search, outcome = explore_all(read.network)
    assert outcome.reason == "complete"
    processes = len(network.processes)
    rows = [search.row_of(node).tolist() for node in range(search.node_count)]
    found = {(tuple(row[:processes]), tuple(row[processes:])) for row in rows}
    assert found == right
