"""Probabilities of causes: matchings by brute force, and products with a naive automaton."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.causes.chance_support import LETTERS, chains, system_of
from tests.reference import chance as reference
from tests.reference.chance import Edge

from whence.causes.chance.monitor import Monitor
from whence.causes.chance.questions import (
    cause_probabilities,
    cause_probability,
    hazard_probability,
)
from whence.causes.results import Absent, Cause, Event
from whence.source import UsageError

EXAMPLES = max(200, settings().max_examples * 3)

Pattern = tuple[
    list[reference.Event], list[tuple[reference.Event, reference.Event]], list[reference.Absent]
]


@st.composite
def patterns(draw: st.DrawFn, absent: bool, letters: str = LETTERS) -> Pattern:
    """Events in an order that has no cycle, and what must not happen."""
    word = draw(st.lists(st.sampled_from(letters), max_size=4))
    events = [(letter, word[: at + 1].count(letter)) for at, letter in enumerate(word)]
    pairs = [(events[i], events[j]) for j in range(len(events)) for i in range(j)]
    order = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    watches: list[reference.Absent] = []
    for _ in range(draw(st.integers(1, 2)) if absent else 0):
        start = draw(st.integers(-1, len(events) - 1))
        end = draw(st.integers(start + 1, len(events)))
        watches.append(
            (
                draw(st.sampled_from(letters)),
                None if start < 0 else events[start],
                None if end == len(events) else events[end],
            )
        )
    return events, order, watches


def monitor_of(pattern: Pattern) -> Monitor:
    events, order, watches = pattern
    return Monitor(*parts_of(events, order, watches))


def parts_of(
    events: list[reference.Event],
    order: list[tuple[reference.Event, reference.Event]],
    watches: list[reference.Absent],
) -> tuple[list[Event], frozenset[tuple[Event, Event]], list[Absent]]:
    def event(one: reference.Event | None) -> Event | None:
        return None if one is None else Event(*one)

    return (
        [Event(*one) for one in events],
        frozenset((Event(*one), Event(*other)) for one, other in order),
        [Absent(action, event(after), event(before)) for action, after, before in watches],
    )


WORDS = st.lists(st.sampled_from(LETTERS + "d"), max_size=8)


@given(st.one_of(patterns(absent=False), patterns(absent=True)), st.lists(WORDS, min_size=5))
@settings(max_examples=3 * EXAMPLES)
def test_a_monitor_finds_a_matching_if_there_is_one(
    pattern: Pattern, words: list[list[str]]
) -> None:
    monitor = monitor_of(pattern)
    for word in words:
        state = 0
        for letter in word:
            state = monitor.step(state, letter)
            assert not (monitor.is_dead(state) and monitor.accepts(state))
        assert monitor.accepts(state) == reference.has_cause(word, *pattern)


@given(patterns(absent=True, letters="ab"), WORDS)
@settings(max_examples=EXAMPLES)
def test_a_watch_for_an_action_that_is_no_event(pattern: Pattern, word: list[str]) -> None:
    """So that dominated matchings are forgotten."""
    events, order, watches = pattern
    seen = events, order, [("c", after, before) for _, after, before in watches]
    monitor = monitor_of(seen)
    state = 0
    for letter in word:
        state = monitor.step(state, letter)
    assert monitor.accepts(state) == reference.has_cause(word, *seen)


def test_one_matching_is_followed_where_nothing_is_watched() -> None:
    """20 events in any order have 2^20 ideals; of one run, the monitor sees 21."""
    monitor = Monitor([Event(f"e{k}") for k in range(20)], frozenset())
    state = 0
    for k in range(20):
        state = monitor.step(state, f"e{k}")
        state = monitor.step(state, "e0")
    assert monitor.accepts(state)
    assert monitor.states == 21


@given(
    chains(immediate=True, largest=4),
    st.one_of(patterns(absent=False), patterns(absent=True)),
    st.booleans(),
)
@settings(max_examples=EXAMPLES)
def test_against_the_naive_product(
    chain: tuple[int, list[Edge], frozenset[int]], pattern: Pattern, limit: bool
) -> None:
    states, edges, bad = chain
    system = system_of(states, edges, bad)
    events, order, absent = parts_of(*pattern)
    found = cause_probability(
        system,
        "bad",
        events,
        order,
        1.5,
        absent=absent,
        like_thesis=not limit,
        default_rate=2.0,
    )
    speed = None if limit else 2.0
    expected = reference.cause_within(states, edges, bad, *pattern, 1.5, speed)
    tolerance = 1e-7 if limit else 1e-12
    assert found.value == pytest.approx(expected, rel=1e-9, abs=tolerance)


def test_many_events_in_any_order() -> None:
    """Of the 2^24 sets of events, those that are passed by runs in this order are 25."""
    count = 24
    edges: list[Edge] = [(k, f"e{k}", k + 1, 1000.0) for k in range(count)]
    system = system_of(count + 1, edges, {count})
    events = [Event(f"e{k}") for k in range(count)]
    found = cause_probability(system, "bad", events, frozenset(), 1)
    assert found.value == pytest.approx(1, rel=1e-9)


def test_two_causes_share_a_run() -> None:
    """Each of two faults suffices, and the system runs on for a while: the probability of `a` is
    not that of `a` alone."""
    edges: list[Edge] = [
        (0, "a", 1, 1e-3),
        (0, "b", 2, 1e-3),
        (1, "b", 3, 1e-3),
        (2, "a", 3, 1e-3),
        (1, "crash", 4, 1.0),
        (2, "crash", 4, 1.0),
        (3, "crash", 4, 1.0),
    ]
    system = system_of(5, edges, {4})
    hazard = hazard_probability(system, "bad", 1)
    a, b, both = cause_probabilities(
        system,
        "bad",
        [
            Cause(ident=1, events=(Event("a"),), order=frozenset(), traces=1, exact=True),
            Cause(ident=2, events=(Event("b"),), order=frozenset(), traces=1, exact=True),
            Cause(
                ident=3, events=(Event("a"), Event("b")), order=frozenset(), traces=2, exact=True
            ),
        ],
        1,
    )
    assert a.value == pytest.approx(b.value, rel=1e-12)
    # A run has a, or b, or both.
    assert a.value + b.value - both.value == pytest.approx(hazard.value, rel=1e-12)
    assert 0 < both.value < 1e-3 * a.value


def test_where_the_hazard_is_out_of_reach() -> None:
    edges: list[Edge] = [(0, "a", 1, 0.5), (0, "a", 2, 0.5), (0, "b", 3, 0.5), (3, "a", 1, 0.5)]
    system = system_of(4, edges, {1})
    found = cause_probability(system, "bad", [Event("a")], frozenset(), 1)
    assert found.value == pytest.approx(hazard_probability(system, "bad", 1).value, rel=1e-12)
    found = cause_probability(system_of(4, edges[:2], {1}), "bad", [Event("a")], frozenset(), 100)
    assert found.value == pytest.approx(0.5, rel=1e-12)


def test_nothing_need_have_happened() -> None:
    edges: list[Edge] = [(0, "a", 1, 0.5)]
    found = cause_probability(system_of(2, edges, {0}), "bad", [], frozenset(), 1)
    assert found.value == 1
    found = cause_probability(system_of(2, edges, {0}), "bad", [Event("a")], frozenset(), 1)
    assert found.value == 0
    found = cause_probability(system_of(2, edges, {1}), "bad", [Event("other")], frozenset(), 1)
    assert found.value == 0


def test_no_causes() -> None:
    a, b, c = Event("a"), Event("b"), Event("c")
    with pytest.raises(UsageError, match="has a cycle, among a, b"):
        Monitor([a, b, c], frozenset({(a, b), (b, a)}))
    with pytest.raises(UsageError, match="has a cycle"):
        Monitor([a, b], frozenset({(a, b)}), [Absent("x", b, a)])
    with pytest.raises(UsageError, match="speaks of `c`, which is not in the cause"):
        Monitor([a, b], frozenset({(a, c)}))
    with pytest.raises(UsageError, match="twice"):
        Monitor([a, a], frozenset())
