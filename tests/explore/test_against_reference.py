"""The checker against the region graph: every verdict on random networks, and every trace on the
concrete interpreter."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from tests.reference.networks import Features, Model, models
from tests.reference.regions import TooLarge, allowed_answers

from whence.explore.check import Checker, Options
from whence.explore.replay import holds_at_end, replay
from whence.explore.search import Budget
from whence.model.network import Query
from whence.model.trace import QueryResult
from whence.source import InputError, UnsupportedError
from whence.explore.goals import negation

LIMIT = 4000


def answer_of(result: QueryResult) -> object:
    """A verdict as the reference says it; of `sup` and `inf`, the one value."""
    if result.suprema:
        (found,) = result.suprema
        return found
    return result.verdict


def compare(model: Model, options: Options) -> None:
    checker = Checker(model.network)
    for query in model.queries:
        try:
            allowed = allowed_answers(model.network, query, LIMIT)
        except TooLarge:
            continue
        try:
            result = checker.check(query, options)
        except UnsupportedError:
            continue
        except InputError as error:
            assert "initial state" in str(error)
            continue
        if query.kind in ("sup", "inf"):
            check_bound(result, allowed)
            continue
        assert result.verdict in allowed, (query.text, result.verdict, allowed)
        check_trace(model, query, result)


def check_bound(result: QueryResult, allowed: frozenset[object]) -> None:
    if result.suprema:
        (found,) = result.suprema
        values = [(a.value, a.strict) for a in allowed if not isinstance(a, str)]  # type: ignore[attr-defined]
        assert (found.value, found.strict) in values, (result.query, found, allowed)
    else:
        assert result.verdict in ("unknown", "error"), (result, allowed)


def check_trace(model: Model, query: Query, result: QueryResult) -> None:
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
    replayed = replay(model.network, trace)
    assert replayed.ok, (query.text, replayed.step, replayed.reason, trace)
    if query.kind in ("E<>", "A[]"):
        assert query.predicate is not None
        goal = query.predicate if query.kind == "E<>" else negation(query.predicate)
        assert holds_at_end(model.network, trace, goal), (query.text, trace)


@given(model=models())
def test_verdicts_agree_with_the_region_graph(model: Model) -> None:
    compare(model, Options())


@given(model=models(kinds=("E<>", "A[]")))
@pytest.mark.parametrize("trace", ["shortest", "fastest"])
@settings(max_examples=30)
def test_other_searches_agree_too(model: Model, trace: str) -> None:
    options = Options(trace=trace, order="depth", realization="latest")  # type: ignore[arg-type]
    compare(model, options)


@given(model=models(Features(faults=True)))
def test_networks_that_fail(model: Model) -> None:
    compare(model, Options(budget=Budget(states=100_000)))
