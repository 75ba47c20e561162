"""From what logs tell to one answer: representatives, members, marks."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

from tests.cli.support import EXAMPLES

from whence.api.triage import triage
from whence.triage.findings import LogOptions, Triage
from whence.triage.gather import Gathering
from whence.triage.models import load_prd
from whence.triage.one_log import Judged, triage_log

MODEL, LOGS = EXAMPLES / "prd_paper.yaml", EXAMPLES / "prd_paper"


def answer(folder: Path, *texts: str) -> Triage:
    """Logs `a`, `b` and so on, with these lines; delays are in milliseconds."""
    for name, text in zip("abc", texts, strict=False):
        lines = text.replace(" req ", " req @CTR ").replace(" res ", " res @CTR ").split("|")
        head = "%unit ms\n%dates differences\n"
        (folder / f"{name}.events").write_text(head + "\n".join(map(str.strip, lines)) + "\n")
    return triage(MODEL, [folder])


def test_the_representative_is_seen_soonest(tmp_path: Path) -> None:
    """Both have the same explanation; the second one comes to it in fewer events."""
    found = answer(
        tmp_path,
        " 9 req set value=5| 6 res ack value=5| 12 req log data=7| 11 res done| 1 req get"
        "| 3 res ret value=0",
        " 10 req set value=5| 7 res ack value=5| 15 req get| 8 res ret value=0",
    )
    (one,) = found.classes
    assert (one.members, one.representative) == ((0, 1), 1)
    assert one.case.explanation.fault.trace == "b.events"
    assert (one.first.trace, one.last.trace) == ("a.events", "b.events")


def test_two_marks_for_two_faults(tmp_path: Path) -> None:
    """Marks that stand together are about different faults, if there are as many."""
    wrong = " 1 req set value=5| 1 res ack value=5| 1 req get| 1 res ret value=7| 1 res ret value=7"
    found = answer(tmp_path, f"{wrong}|! fail one|! fail two")
    assert [fault.index for fault in found.faults] == [3, 4]
    assert sorted(mark.fault or 0 for mark in found.marks) == [0, 1]
    found = answer(tmp_path, f"{wrong}|! fail one|! fail two|! fail three|! pass four")
    assert (found.found_by_both, found.only_by_environment) == (2, ())


def test_a_mark_where_nothing_is_wrong(tmp_path: Path) -> None:
    right = " 1 req set value=5| 1 res ack value=5"
    found = answer(tmp_path, f"! fail early|{right}|! fail late| 1 req log data=7| 1 res done")
    assert [mark.why for mark in found.only_by_environment] == [
        "it stands before all events", "the model accepts all of this trace",
    ]  # fmt: skip
    wrong = " 1 req get| 1 res ret value=7"
    found = answer(tmp_path, f"{right}|! fail here|{wrong}| 1 req log data=7| 1 res done")
    (mark,) = found.only_by_environment
    assert mark.why == "the fault is 2 events later, by 2 ms: value, res CTR ret value=7"
    assert found.only_by_model == (0,)


def gathered(order: list[int], logs: list[Path]) -> Triage:
    automaton = load_prd(str(MODEL)).automaton
    gathering = Gathering()
    for number in order:
        gathering.add(number, triage_log(automaton, str(logs[number]), LogOptions()))
    return gathering.triage("m", len(logs))


def test_who_is_first_makes_no_difference() -> None:
    logs = sorted(LOGS.glob("*.events"))
    whole = gathered([0, 1, 2], logs)
    assert len(whole.classes) == 2
    for seed in range(5):
        order = random.Random(seed).sample(range(3), 3)
        assert gathered(order, logs) == whole


def test_a_fault_counts_once() -> None:
    """It has two explanations that are of one class in a coarser grouping."""
    automaton = load_prd(str(MODEL)).automaton
    judged = triage_log(automaton, str(LOGS / "test_1.events"), LogOptions())
    (fault,), (case,) = judged.findings.faults, judged.cases
    (short,) = fault.explanations
    two = replace(fault, explanations=(short, replace(short, similar="other")))
    other = replace(case, explanation=replace(case.explanation, key="other"))
    for grouping, sizes in (("similar", [1, 1]), ("requirements", [1])):
        gathering = Gathering(grouping)  # type: ignore[arg-type]
        findings = replace(judged.findings, faults=(two,))
        gathering.add(0, Judged(findings, (case, other)))
        assert [each.size for each in gathering.triage("m", 1).classes] == sizes
