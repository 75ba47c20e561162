"""Histories and comparisons against their definition, on runs that were made up."""

from __future__ import annotations

import os
import tempfile
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference import store as reference
from tests.store.support import LOGS, MODEL

from whence.api.store import compare, history, keep
from whence.api.triage import triage
from whence.campaign.memory import Piece
from whence.report.store_json import comparison_document, history_document
from whence.report.store_schema import COMPARE, HISTORY
from whence.report.store_text import comparison_text, history_text
from whence.store.runs import About
from whence.store.store import Store, open_store
from whence.store.triage import StoredTriage, triage_head
from whence.triage.findings import Case, FoundFault, FoundTrace, InShort, LogFindings
from whence.triage.gather import Gathering
from whence.triage.one_log import Judged
from whence.triage.results import GROUPINGS

NAMES = ("a", "b", "c")
TRACES = ("t1", "t2", "t3")

faults = st.frozensets(st.sampled_from(NAMES), min_size=1, max_size=2)
traces = st.lists(faults, max_size=2).map(tuple)
made_up_runs = st.builds(
    reference.Run,
    st.sampled_from(("M", "N")),
    st.sampled_from(GROUPINGS[:2]),
    st.sampled_from((True, True, True, False)),
    st.dictionaries(st.sampled_from(TRACES), traces, max_size=3),
)


@pytest.fixture(scope="module")
def case() -> Case:
    return triage(MODEL, [LOGS]).classes[0].case


def put(store: Store, run: reference.Run, folder: str, case: Case) -> None:
    """As a triage does it. Classes are called differently in each grouping."""
    about = About(
        command="triage", model=f"{run.model}.yaml", model_name=run.model, whence="0",
        grouping=run.grouping, planned=len(run.traces), head=triage_head({}, (), None, False),
    )  # fmt: skip
    grouping = next(each for each in GROUPINGS if each == run.grouping)
    stored = StoredTriage(store, about, grouping)
    gathering = Gathering(grouping)
    for number, (name, found) in enumerate(run.traces.items()):
        trace = FoundTrace(name, folder + name, "faulty" if found else "conforming")
        several = tuple(
            FoundFault(
                0, n, 0, 0, n + 1, 0, Fraction(n), "value", "e", Fraction(0), 0, (), 0, ("R",),
                tuple(InShort((0,), f"s{one}", f"e{one}", "r") for one in sorted(names)),
            )
            for n, names in enumerate(found)
        )  # fmt: skip
        told = sorted({one for names in found for one in names})
        cases = tuple(
            replace(case, explanation=replace(case.explanation, key=f"s{one}")) for one in told
        )
        stored.keep(Piece(number, folder + name), Judged(LogFindings((trace,), several), cases))
    if run.complete:
        stored.answered(gathering.triage("", 0))


@settings(max_examples=40)
@given(st.lists(made_up_runs, max_size=6), st.data())
def test_histories_and_comparisons(
    case: Case, runs: list[reference.Run], data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "store.db")
        with open_store(path, to_write=True) as store:
            for n, run in enumerate(runs):
                # Each night has a folder of its own.
                put(store, run, f"/night{n}/", case)
        told = history(path)
        letter = {"similar": "s", "events": "e"}
        assert [each.run.ident for each in told.runs] == [*range(1, len(runs) + 1)]
        for n, (each, run) in enumerate(zip(told.runs, runs, strict=True)):
            prefix = letter[run.grouping]
            assert [*each.classes] == sorted(prefix + name for name in run.classes())
            assert [*each.new] == sorted(prefix + name for name in reference.new(runs, n))
            assert [*each.gone] == sorted(prefix + name for name in reference.gone(runs, n))
            assert each.done == len(run.traces)
            assert each.verdicts.get("faulty", 0) == sum(map(bool, run.traces.values()))
        lines = {(run.model, run.grouping) for run in runs}
        expected = {
            (model, letter[grouping] + name): [
                n + 1
                for n, run in enumerate(runs)
                if (run.model, run.grouping) == (model, grouping) and name in run.classes()
            ]
            for model, grouping in lines
            for name in NAMES
        }
        expected = {key: seen for key, seen in expected.items() if seen}
        assert {(one.model, one.words.ident) for one in told.classes} == expected.keys()
        for one in told.classes:
            seen = expected[one.model, one.words.ident]
            assert (one.first, one.last, one.runs) == (seen[0], seen[-1], len(seen))
            sizes = [runs[n - 1].size(one.words.ident[1:]) for n in seen]
            assert [each.size for each in one.sightings if each.state != "gone"] == sizes
            assert one.faults == sizes[-1]
        jsonschema.validate(history_document(told, "0"), HISTORY)
        assert [*history_text(told)]
        if len(runs) < 2:
            return
        first = data.draw(st.integers(0, len(runs) - 1))
        alike = [n for n, run in enumerate(runs) if run.grouping == runs[first].grouping]
        second = data.draw(st.sampled_from(alike))
        found = compare(path, first + 1, second + 1)
        one_run, two_run = runs[first], runs[second]
        prefix = letter[one_run.grouping]
        sizes_of = {
            each.words.ident: (each.before, each.after)
            for each in (*found.new, *found.gone, *found.still)
        }
        assert sizes_of == {
            prefix + name: (one_run.size(name), two_run.size(name))
            for name in one_run.classes() | two_run.classes()
        }
        assert {each.words.ident for each in found.new} == {
            prefix + name for name in two_run.classes() - one_run.classes()
        }
        changes = {(each.name, each.before, each.after) for each in found.changes}
        assert changes == reference.changed(one_run, two_run)
        assert len(changes) == len(found.changes)
        total = len(one_run.traces.keys() | two_run.traces.keys())
        assert found.same == total - len(changes)
        assert found.partial == (not (one_run.complete and two_run.complete))
        jsonschema.validate(comparison_document(found, "0"), COMPARE)
        assert [*comparison_text(found)]


def test_other_commands_are_compared_too(store: str) -> None:
    """Queries by their text, also if one is asked twice."""

    def kept(*verdicts: tuple[str, str]) -> int:
        queries = [
            {"query": text, "verdict": verdict, "states": 1, "transitions": 1, "seconds": 0.25,
             "trace": None}
            for text, verdict in verdicts
        ]  # fmt: skip
        document = {
            "whence": "0", "schema": "check/1", "file": "m.xml", "network": "m", "summary": {},
            "queries": queries,
        }  # fmt: skip
        return keep(store, document, model="m.xml", name="m", code="v1")

    one = kept(("A[] p", "satisfied"), ("E<> q", "satisfied"), ("E<> q", "satisfied"))
    two = kept(("E<> q", "satisfied"), ("A[] p", "violated"), ("E<> q", "unknown"))
    found = compare(store, one, two)
    assert [(each.name, each.before, each.after) for each in found.changes] == [
        ("A[] p", "satisfied", "violated"), ("E<> q", "satisfied", "unknown"),
    ]  # fmt: skip
    assert (found.same, found.differ, found.new) == (1, True, ())
    assert not compare(store, one, one).differ
    assert [dict(each.verdicts) for each in history(store).runs] == [
        {"satisfied": 3}, {"satisfied": 1, "unknown": 1, "violated": 1},
    ]  # fmt: skip


def test_what_is_asked_for(store: str, tmp_path: Path) -> None:
    other = tmp_path / "other.yaml"
    other.write_text(Path(MODEL).read_text().replace("automaton: CTR", "automaton: OTHER"))
    triage(MODEL, [f"{LOGS}/test_1.events"], store=store, code="v1")
    triage(other, [LOGS], store=store, code="v1")
    triage(MODEL, [LOGS], store=store, code="v2")
    triage(MODEL, [f"{LOGS}/test_3.events"], store=store, code="v3")
    assert [each.run.ident for each in history(store, model="OTHER").runs] == [2]
    assert [each.run.ident for each in history(store, model=str(other)).runs] == [2]
    told = history(store, model="CTR")
    assert [each.run.ident for each in told.runs] == [1, 3, 4]
    assert [(len(each.new), len(each.gone)) for each in told.runs] == [(1, 0), (1, 0), (0, 1)]
    old, young = sorted(told.classes, key=lambda each: each.first)
    assert (old.state, old.codes, old.last) == ("gone", ("v1", "v2"), 3)
    assert (young.state, young.codes, young.first) == ("known", ("v2", "v3"), 3)
    only = history(store, model="CTR", ident=old.words.ident[:6])
    assert only.classes == (old,)
    assert [each.state for each in old.sightings] == ["new", "known", "gone"]
    assert old.sightings[1].size == 2
    assert old.sightings[0].file.endswith("test_1.events")
    assert old.sightings[0].line == 7
    by_hash = told.runs[0].run.model_hash[:8]
    assert [each.run.ident for each in history(store, model=by_hash).runs] == [1, 3, 4]
