"""Matching step by step, against whole languages."""

from __future__ import annotations

from itertools import islice

import pytest
from benchmarks.mutants import modifications
from hypothesis import currently_in_test_context, event, given, settings
from hypothesis import strategies as st
from tests.reference.networks import PRESETS, models, to_uppaal_xml
from tests.reference.timing import Trace, changed, choices_of, elements_of
from tests.timing.strategies import to_xml, traces

import whence
from whence.explore.replay import replay
from whence.source import WhenceError
from whence.timing.admissible import LabelTable, compare, untimed, witness_trace
from whence.timing.changes import apply_changes
from whence.timing.matching import can_do_all, reachable, unreachable_path
from whence.timing.model import TimedModel


def model_of(text: str) -> TimedModel:
    return TimedModel(whence.load_text(text).document)


def agrees(original: TimedModel, repaired: TimedModel) -> bool:
    """Whether nothing is lost, as far as matching can tell; it must not say so wrongly."""
    ours, theirs = reachable(original), reachable(repaired)
    assert ours.complete
    assert theirs.complete
    table = LabelTable()
    exact = compare(
        untimed(original.checker, "transitions", table),
        untimed(repaired.checker, "transitions", table),
        "nothing lost",
    )
    matched = can_do_all(ours, repaired)
    if matched:
        assert exact.admissible, exact.word
    path = unreachable_path(ours, theirs)
    if path is not None:
        assert exact.admissible is False
        assert exact.word is not None
        assert len(path) >= len(exact.word)
        trace = witness_trace(original.checker, path)
        assert trace is not None
        assert trace.transitions == path
        assert replay(original.network, trace).ok
        assert witness_trace(repaired.checker, path) is None
    if exact.admissible and currently_in_test_context():
        event("matched" if matched else "not matched")
    return matched


@settings(max_examples=max(150, settings().max_examples))
@given(trace=traces(), data=st.data())
def test_automata(trace: Trace, data: st.DataObject) -> None:
    """One process, with one change of any kind."""
    changes = [
        (kind, key, value)
        for kind in ("bound", "operator", "clock", "reset", "urgency")
        for key in sorted(elements_of(trace, kind), key=repr)
        for value in choices_of(trace, key, kind, trace.automaton.clocks, 2)
    ]
    if not changes:
        return
    kind, key, value = data.draw(st.sampled_from(changes))
    other = changed(trace, key, kind, value)
    first, second = model_of(to_xml(trace)), model_of(to_xml(other))
    for model in (first, second):
        if model.checker.interpreter.initial() is None:
            return
    agrees(first, second)
    agrees(second, first)


@pytest.mark.parametrize("preset", ["everything", "clocks", "synchronisation"])
@settings(max_examples=max(40, settings().max_examples // 2))
@given(data=st.data())
def test_networks(preset: str, data: st.DataObject) -> None:
    """Several processes that synchronise, with one or two modifications, one after the other."""
    drawn = data.draw(models(PRESETS[preset], most_queries=1))
    original = model_of(to_uppaal_xml(drawn.network, ()))
    repaired = original
    try:
        for _ in range(data.draw(st.integers(1, 2))):
            changes = list(islice(modifications(repaired), 200))
            if not changes:
                return
            change = data.draw(st.sampled_from(changes))
            repaired = TimedModel(apply_changes(repaired.document, (change,)))
        for model in (original, repaired):
            if not reachable(model).complete:
                return
        agrees(original, repaired)
        agrees(repaired, original)
    except WhenceError:
        return  # not supported, or the modification makes a constant expression wrong


def one(places: str, edges: str) -> TimedModel:
    return model_of(
        f"<nta><declaration>clock x, y;</declaration><template><name>P</name>{places}"
        f'<init ref="a"/>{edges}</template><system>system P;</system></nta>'
    )


def location(name: str, invariant: str = "") -> str:
    label = f'<label kind="invariant">{invariant.replace("<", "&lt;")}</label>'
    return f'<location id="{name}"><name>{name}</name>{label if invariant else ""}</location>'


def edge(source: str, target: str, guard: str = "", update: str = "") -> str:
    labels = f'<label kind="guard">{guard.replace("<", "&lt;")}</label>' if guard else ""
    labels += f'<label kind="assignment">{update}</label>' if update else ""
    return f'<transition><source ref="{source}"/><target ref="{target}"/>{labels}</transition>'


def test_leaving_earlier_is_matched_where_no_clock_remembers() -> None:
    """What x reads when b is entered is forgotten, and nothing asks for y."""

    def model(bound: int) -> TimedModel:
        return one(
            location("a", f"x <= {bound}") + location("b", "x <= 3"),
            edge("a", "b", "x >= 1", "x = 0") + edge("b", "a", "x >= 2", "x = 0"),
        )

    assert agrees(model(5), model(2))
    assert agrees(model(2), model(5))
    # It could not leave a at all.
    assert not agrees(model(2), model(0))


def test_leaving_earlier_is_not_matched_where_a_clock_remembers() -> None:
    """The step to c needs y >= 4, which only a long stay in a brings about."""

    def model(bound: int) -> TimedModel:
        return one(
            location("a", f"x <= {bound}") + location("b", "x <= 1") + location("c"),
            edge("a", "b", update="x = 0") + edge("b", "c", "y >= 4"),
        )

    assert not agrees(model(5), model(2))
    assert agrees(model(2), model(5))


def test_leaving_later() -> None:
    """The step to c needs y <= 2, or asks nothing of y."""

    def model(bound: int, guard: str) -> TimedModel:
        return one(
            location("a", "x <= 5") + location("b", "x <= 1") + location("c"),
            edge("a", "b", f"x >= {bound}", "x = 0") + edge("b", "c", guard),
        )

    assert not agrees(model(1, "y <= 2"), model(4, "y <= 2"))
    assert agrees(model(4, "y <= 2"), model(1, "y <= 2"))
    assert agrees(model(1, "x >= 1"), model(4, "x >= 1"))


def test_invariants_from_below_hold_on_entering() -> None:
    """In the changed model b may be entered only when y has run for long enough."""

    def model(invariant: str) -> TimedModel:
        return one(
            location("a", "x <= 2") + location("b", invariant) + location("c"),
            edge("a", "b") + edge("b", "c", "x >= 5"),
        )

    assert not agrees(model("y <= 9"), model("y >= 3"))
    assert agrees(model("y <= 9"), model("y >= 1"))


def test_a_model_without_initial_state_does_nothing() -> None:
    good = one(location("a", "x <= 0"), edge("a", "a", update="x = 0"))
    bad = one(location("a", "x < 0"), edge("a", "a", update="x = 0"))
    assert not can_do_all(reachable(good), bad)
    assert can_do_all(reachable(bad), good)
