"""Causes against the definitions, on random small systems."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.causes.strategies import systems, transition_system
from tests.reference import causes as reference
from tests.reference.causes import System, Trace

from whence.causes.causality import CausesOptions, causes_of
from whence.causes.prepared import prepare
from whence.causes.results import Cause
from whence.causes.silent import without_silent
from whence.causes.traces import Stop, causal_traces

Order = frozenset[tuple[reference.Event, reference.Event]]


def words(system: System, stop: Stop | None = None) -> list[Trace]:
    made = without_silent(transition_system(system))
    return list(causal_traces(prepare(made, made.propositions["bad"]), stop).words())


def closure(cause: Cause) -> Order:
    """The order of a cause, with all that follows from it."""
    pairs = {((a.action, a.occurrence), (b.action, b.occurrence)) for a, b in cause.order}
    while True:
        more = {(a, d) for a, b in pairs for c, d in pairs if b == c} - pairs
        if not more:
            return frozenset(pairs)
        pairs |= more


def members(cause: Cause) -> frozenset[reference.Event]:
    return frozenset((event.action, event.occurrence) for event in cause.events)


def sound(system: System) -> None:
    """The hazard is not there from the start."""
    assume(() not in reference.simple_bad_traces(system))


@given(systems(silent=True, several_initial=True))
def test_causal_traces(system: System) -> None:
    sound(system)
    found = words(system)
    assert len(found) == len(set(found))
    assert set(found) == reference.causal_trace_set(system)


@given(systems(several_initial=True), st.integers(0, 5))
def test_causal_traces_up_to_a_length(system: System, depth: int) -> None:
    sound(system)
    expected = {trace for trace in reference.causal_trace_set(system) if len(trace) <= depth}
    assert set(words(system, Stop(depth=depth))) == expected


@given(systems())
def test_orders(system: System) -> None:
    """Algorithm 6.1: what holds in all traces of a class, and whether that says it all."""
    sound(system)
    made = transition_system(system)
    classes = reference.classes(reference.causal_trace_set(system))
    result = causes_of(made, made.propositions["bad"])
    assert len(result.causes) == len(classes)
    for cause in result.causes:
        traces = next(
            found
            for found in classes.values()
            if set(reference.events_of(min(found))) == members(cause)
        )
        assert cause.traces == len(traces)
        assert cause.example in traces
        indexed = [reference.events_of(trace) for trace in traces]
        always = {
            (a, b)
            for a in members(cause)
            for b in members(cause)
            if a != b and all(trace.index(a) < trace.index(b) for trace in indexed)
        }
        assert closure(cause) == always
        admitted = set(reference.linear_extensions(members(cause), frozenset(always)))
        assert cause.exact == (admitted == set(indexed))


@given(systems(largest=7))
def test_exact_orders(system: System) -> None:
    """Together they admit just the causal traces; there are no fewer; each is a weak cause by
    Definition 22."""
    sound(system)
    classes = reference.classes(reference.causal_trace_set(system))
    assume(all(len(min(traces)) <= 4 for traces in classes.values()))
    made = transition_system(system)
    result = causes_of(made, made.propositions["bad"], CausesOptions(exact=True))
    weak = reference.weak_causes(system)
    for traces in classes.values():
        indexed = {reference.events_of(trace) for trace in traces}
        events = frozenset(next(iter(indexed)))
        parts = [cause for cause in result.causes if members(cause) == events]
        assert all(cause.exact for cause in parts)
        admitted = [set(reference.linear_extensions(events, closure(cause))) for cause in parts]
        assert set().union(*admitted) == indexed
        assert all((events, closure(cause)) in weak for cause in parts)
        exact = [
            frozenset(extensions)
            for order in reference.strict_partial_orders(events)
            if (extensions := reference.linear_extensions(events, order))
            and set(extensions) <= indexed
        ]
        assert not any(
            set().union(*chosen) == indexed for chosen in combinations(exact, len(parts) - 1)
        )


# ----------------------------------------------------------------------------- non-occurrence


def embeddings(cause: Cause, trace: Trace) -> Iterator[dict[Any, int]]:
    """Places of a cause's events in a trace that keep to its order."""
    events = cause.events
    choices = [
        [at for at, action in enumerate(trace) if action == event.action] for event in events
    ]
    for places in product(*choices):
        if len(set(places)) < len(places):
            continue
        found = dict(zip(events, places, strict=True))
        chained = all(
            found[a] < found[b]
            for a in events
            for b in events
            if a.action == b.action and a.occurrence < b.occurrence
        )
        if chained and all(found[a] < found[b] for a, b in cause.order):
            yield found


def allowed(cause: Cause, trace: Trace, found: dict[Any, int]) -> bool:
    """Whether nothing happens that must not."""
    extra = [at for at in range(len(trace)) if at not in found.values()]
    return not any(
        trace[at] == absent.action
        and (absent.after is None or found[absent.after] < at)
        and (absent.before is None or at < found[absent.before])
        for absent in cause.absent
        for at in extra
    )


@pytest.mark.parametrize("extras", [1, 2])
@given(system=systems(largest=6))
def test_what_must_not_happen(extras: int, system: System) -> None:
    """CC2(2) for good traces with so many more events, and no causal trace is lost."""
    sound(system)
    causal = reference.causal_trace_set(system)
    assume(causal and max(map(len, causal)) + extras <= 6)
    made = transition_system(system)
    options = CausesOptions(non_occurrence=extras)
    result = causes_of(made, made.propositions["bad"], options)
    decided = not any(reference.is_good_trace(system, trace) for trace in causal)
    assert result.deterministic == decided
    if not decided:
        return
    names = sorted({action for _, action, _ in system.edges if action is not None})
    for cause in result.causes:
        for length in range(len(cause.events), len(cause.events) + extras + 1):
            for trace in product(names, repeat=length):
                if reference.is_good_trace(system, trace):
                    assert not any(
                        allowed(cause, trace, found) for found in embeddings(cause, trace)
                    )
    for trace in causal:
        assert any(
            len(cause.events) == len(trace)
            and any(allowed(cause, trace, found) for found in embeddings(cause, trace))
            for cause in result.causes
        )
