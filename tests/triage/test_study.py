"""The study of Becker et al., section 7, on a simulated ECU: what was injected is found, nothing
else is, and the classes are those of the paper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest
from benchmarks.ecu_requirements import paper_sized, requirements
from benchmarks.ecu_simulator import SimulatedTrace
from benchmarks.triage_study import CLASSES, MARKED, TRACES, WRONG, study, workload, write

from whence.api.triage import triage
from whence.formats.logs import read_trace
from whence.model.prd import PrdAutomaton
from whence.triage.checks import check_automaton
from whence.triage.classify import classify
from whence.triage.explain import analyse
from whence.triage.models import PrdModel
from whence.triage.results import Explanation
from whence.triage.traces import marked_events, traces_of
from whence.triage.unfold import unfold

EPOCH = 1_700_000_000


@cache
def model() -> PrdAutomaton:
    return requirements()


def found(
    automaton: PrdAutomaton, traces: Iterable[SimulatedTrace], folder: Path
) -> dict[tuple[str, int], tuple[Explanation, ...]]:
    """The explanations of each fault, by trace and date in microseconds."""
    explained = {}
    for simulated in traces:
        path = folder / f"{simulated.name}.log"
        path.write_text(simulated.text, encoding="ascii")
        (trace,) = traces_of(read_trace(str(path)))
        for fault, explanations in analyse(automaton, trace):
            date = int((fault.date - EPOCH) * 1_000_000)
            explained[simulated.name, date] = explanations
    return explained


def injected(traces: Iterable[SimulatedTrace]) -> dict[tuple[str, int], str]:
    return {(trace.name, each.date): each.fault for trace in traces for each in trace.injected}


def test_the_study_has_the_numbers_of_the_paper() -> None:
    traces = study()
    faults = [each for trace in traces for each in trace.injected]
    assert len(traces) == TRACES == 86
    assert len(faults) == 105
    assert sum(each.marked for each in faults) == MARKED == 95
    assert sum(trace.wrong for trace in traces) == WRONG == 5
    assert Counter(each.fault for each in faults) == CLASSES
    assert sorted(CLASSES.values()) == [1, 1, 2, 2, 8, 91]
    # The faults that are late are not marked, but five times a response is said to be missing.
    assert not any(each.marked for each in faults if each.fault.startswith("late"))


def test_the_same_seed_gives_the_same_logs() -> None:
    assert study(3) == study(3)
    assert study(3) != study(4)


def test_six_classes(tmp_path: Path) -> None:
    traces = study()
    explained = found(model(), traces, tmp_path)
    truth = injected(traces)
    assert explained.keys() == truth.keys()
    members = [(key, one) for key, several in explained.items() for one in several]
    classes = classify([one for _, one in members])
    assert Counter(len(each.members) for each in classes.classes) == Counter(CLASSES.values())
    for each in classes.classes:
        assert len({truth[members[at][0]] for at in each.members}) == 1
    assert all(len(one.events) <= 2 for _, one in members)


def test_marks_stand_at_faults(tmp_path: Path) -> None:
    """The log's comments are read as marks, at the events that they are about."""
    right = wrong = 0
    for simulated in study()[:20]:
        path = tmp_path / "log"
        path.write_text(simulated.text, encoding="ascii")
        log = read_trace(str(path))
        (trace,) = traces_of(log)
        dates = {each.date for each in simulated.injected if each.marked}
        for mark, event in marked_events(log.annotations, trace.events):
            assert mark.verdict == "fail"
            assert event is not None
            at_fault = int((event.date - EPOCH) * 1_000_000) in dates
            assert at_fault == ("no response" not in mark.text)
            right += at_fault
            wrong += not at_fault
    assert (right, wrong) == (sum(each.marked for t in study()[:20] for each in t.injected), 5)


def test_the_campaign_is_six_classes_and_ten_faults_that_nobody_marked(tmp_path: Path) -> None:
    """From the logs to the answer (Becker, section 7): 95 of 100 marks are right, 105 faults."""
    write(study(), tmp_path)
    model_ = PrdModel(automaton=model(), requirements={}, parameters={})
    answer = triage(model_, [tmp_path])
    assert [each.size for each in answer.classes] == [91, 8, 2, 2, 1, 1]
    assert answer.found_by_both == MARKED
    assert len(answer.only_by_model) == 10
    assert len(answer.only_by_environment) == WRONG
    assert all("the fault is 1 event later" in mark.why for mark in answer.only_by_environment)
    assert all(len(short.events) <= 2 for f in answer.faults for short in f.explanations)


@pytest.mark.parametrize("seed", [1, 2])
def test_what_was_injected_is_found_in_the_workload(tmp_path: Path, seed: int) -> None:
    """An independent implementation of the requirements: no conforming message is a fault."""
    traces = [*workload(60, seed)]
    truth = injected(traces)
    assert truth
    assert found(paper_sized(), traces, tmp_path).keys() == truth.keys()


def test_the_workload_has_the_size_of_the_paper() -> None:
    lengths = [trace.messages for trace in workload()]
    assert len(lengths) == 1000
    assert 36 <= sum(lengths) / 1000 <= 44
    assert 2500 <= max(lengths) <= 2510
    size = unfold(paper_sized())
    assert size.complete
    assert abs(size.states - 12_500) < 300
    assert abs(size.transitions - 70_000) < 1_000


def test_the_program_writes_logs(tmp_path: Path) -> None:
    count = write(workload(3), tmp_path)
    assert count["traces"] == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "faults.json", "trace_00000.log", "trace_00001.log", "trace_00002.log",
    ]  # fmt: skip


def test_nothing_odd_but_the_choices_of_time() -> None:
    for diagnostic in check_automaton(paper_sized()):
        assert "nondeterminism" in diagnostic.message
        assert "time can lead to" in diagnostic.message
