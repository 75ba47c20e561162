"""The part of a model that satisfies a property, and repairs that take away violations only."""

from __future__ import annotations

from itertools import islice

import pytest
from benchmarks.mutants import modifications
from hypothesis import currently_in_test_context, event, given, settings
from hypothesis import strategies as st
from tests.reference.languages import TooLarge, first_word
from tests.reference.networks import PRESETS, models, to_uppaal_xml
from tests.reference.regions import ModelError
from tests.reference.regions import TooLarge as TooManyRegions
from tests.timing.test_admissible import assert_same_words, numbered, region_automaton

import whence
from whence.explore.search import Budget
from whence.model.network import Query
from whence.source import UnsupportedError, WhenceError
from whence.timing.admissible import Labels, LabelTable, untimed
from whence.timing.changes import apply_changes
from whence.timing.model import TimedModel
from whence.timing.repair import Judge, RepairOptions, iterate, repair
from whence.timing.results import Admissibility
from whence.timing.satisfying import satisfying_part

LABELS: tuple[Labels, ...] = ("transitions", "actions")


def model_of(text: str) -> TimedModel:
    return TimedModel(whence.load_text(text).document)


def predicate_of(model: TimedModel) -> Query:
    (query,) = model.queries
    assert isinstance(query, Query)
    return query


# -------------------------------------------------------------------------------- the part itself


@pytest.mark.parametrize("preset", ["everything", "clocks", "synchronisation"])
@settings(max_examples=max(25, settings().max_examples // 4))
@given(data=st.data())
def test_against_regions(preset: str, data: st.DataObject) -> None:
    """Its language is that of the regions in which the property holds."""
    drawn = data.draw(models(PRESETS[preset], kinds=("A[]",), most_queries=1))
    labels = data.draw(st.sampled_from(LABELS))
    (asked,) = drawn.queries
    try:
        model = model_of(to_uppaal_xml(drawn.network, drawn.queries))
        part = satisfying_part(model, predicate_of(model))
        if part is None:
            event("not a conjunction")
            return
        regions = region_automaton(drawn.network, labels, 2_000, asked)
        graph = untimed(part.checker, labels, LabelTable())
    except (TooManyRegions, UnsupportedError):
        return
    if currently_in_test_context():
        event("cut" if not all_hold(model) else "whole")
    assert_same_words(graph, regions)


def all_hold(model: TimedModel) -> bool:
    return model.checker.check(predicate_of(model)).verdict == "satisfied"


# ------------------------------------------------------------------------------------ the verdict


@pytest.mark.parametrize("preset", ["clocks", "synchronisation"])
@settings(max_examples=max(25, settings().max_examples // 4))
@given(data=st.data())
def test_violations_only(preset: str, data: st.DataObject) -> None:
    """The verdict on a change is the one that the languages of the regions give."""
    drawn = data.draw(models(PRESETS[preset], kinds=("A[]",), most_queries=1))
    (asked,) = drawn.queries
    try:
        model = model_of(to_uppaal_xml(drawn.network, drawn.queries))
        changes = list(islice(modifications(model), 200))
        if not changes:
            return
        change = data.draw(st.sampled_from(changes))
        changed = TimedModel(apply_changes(model.document, (change,)))
        found = judged(model, changed)
    except WhenceError:
        return  # not supported, or the modification makes a constant expression wrong
    if found is None or found.admissible is not False or found.violations_only is None:
        return
    try:
        whole, part, other = numbered(
            region_automaton(model.network, "transitions", 2_000),
            region_automaton(drawn.network, "transitions", 2_000, asked),
            region_automaton(changed.network, "transitions", 2_000),
        )
        expected = (
            first_word(other, whole, only_left=True, limit=2_000) is None
            and first_word(part, other, only_left=True, limit=2_000) is None
        )
    except (TooManyRegions, TooLarge, ModelError):
        return  # too large, or changed to have no initial state
    if currently_in_test_context():
        event(f"violations only: {expected}")
    assert found.violations_only is expected


def judged(model: TimedModel, changed: TimedModel) -> Admissibility | None:
    budget = Budget(states=2_000)
    judge = Judge(model, predicate_of(model), RepairOptions(budget=budget))
    return judge.admissibility(changed)


LATE = """<nta><declaration>clock x, y; chan tick;</declaration>
<template><name>P</name>
<location id="a"><name>a</name><label kind="invariant">x &lt;= {wait}</label></location>
<location id="b"><name>b</name></location><location id="c"><name>c</name></location>
<init ref="a"/>
<transition><source ref="a"/><target ref="b"/><label kind="guard">x &gt;= 1</label></transition>
<transition><source ref="a"/><target ref="c"/><label kind="guard">x &gt;= {late}</label>
</transition>
</template><system>system P;</system>
<queries><query><formula>A[] not P.c or x &lt;= 4</formula></query></queries></nta>"""


def late(wait: int, late: int = 6) -> TimedModel:
    return model_of(LATE.format(wait=wait, late=late))


def test_a_step_that_always_comes_too_late() -> None:
    """No run to c satisfies the property: to take c away is all that a repair can do."""
    found = judged(late(9), late(5))
    assert found is not None
    assert found.admissible is False
    assert found.only_in == "original"
    assert found.violations_only is True


def test_the_first_step_is_too_late() -> None:
    """Nothing of the trace can stay but its start; the repair takes nothing else away."""
    model = late(9)
    found = repair(model, predicate_of(model), options=RepairOptions(max_changes=1))
    assert found.always
    assert found.trace is not None
    assert len(found.trace.transitions) == 1
    first = found.repairs[0]
    assert (first.changes[0].before, first.changes[0].after) == ("x <= 9", "x <= 5")
    assert first.verdict == "satisfied"
    assert first.violations_only


def test_a_step_that_is_in_time_is_kept() -> None:
    """Here a run to c satisfies the property, and b is lost with x <= 0."""
    found = judged(late(9, 3), late(2, 3))
    assert found is not None
    assert found.admissible is False
    assert found.violations_only is False
    kept = judged(late(9, 3), late(4, 3))
    assert kept is not None
    assert kept.admissible is True
    assert kept.violations_only is None


def test_nothing_new() -> None:
    """What adds a step is no matter of violations."""
    found = judged(late(5), late(9))
    assert found is not None
    assert found.only_in == "repaired"
    assert found.violations_only is False


def test_iterating_takes_what_takes_violations_only() -> None:
    model = late(9)
    rounds = iterate(model, predicate_of(model))
    assert rounds[-1].result.verdict == "satisfied"
    chosen = [round.chosen for round in rounds if round.chosen is not None]
    assert chosen
    assert all(each.fit for each in chosen)


@pytest.mark.parametrize(
    ("formula", "known"),
    [
        ("A[] x <= 4 && y <= 3", True),
        ("A[] P.a imply (x <= 4 && y <= 3)", True),
        ("A[] x <= 4 or y <= 3", False),
        ("A[] x == 4", True),
        ("A[] !(x == 4)", False),
        ("A[] x <= 4 && not deadlock", False),
        ("E<> P.a && x > 4", True),
        ("E<> P.a && x > 4 && y > 3", False),
    ],
)
def test_conjunctions(formula: str, known: bool) -> None:
    model = late(9)
    assert (satisfying_part(model, model.query(formula)) is not None) is known


def test_priorities() -> None:
    """An invariant that forbids a step makes way for those that it has priority over, which a
    violation does not: the property cannot be an invariant then."""
    priority = "chan priority tick &lt; default;"
    text = LATE.format(wait=9, late=6).replace("chan tick;", f"chan tick; {priority}")
    model = model_of(text)
    assert model.network.has_priorities
    assert satisfying_part(model, predicate_of(model)) is None
