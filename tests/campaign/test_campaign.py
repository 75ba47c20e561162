"""Many inputs: processes, what is remembered, which files are meant."""

from __future__ import annotations

import gzip
import json
import os
import signal
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.campaign.inputs import find_logs
from whence.campaign.journal import Journal
from whence.campaign.processes import DeadWorker, in_processes
from whence.campaign.records import from_record, to_record
from whence.source import InputError
from whence.triage.findings import FoundFault, FoundMark, FoundTrace, InShort, LogFindings, Problem

# ------------------------------------------------------------------------------------ processes


def doubling(shared: object) -> Callable[[object], object]:
    def work(task: object) -> object:
        match task:
            case "die":
                os.kill(os.getpid(), signal.SIGKILL)
            case "print":
                print("this is no answer")
                os.write(1, b"nor is this")
            case "fail":
                raise ValueError("too odd")
            case "view":
                return MappingProxyType({"a": shared})
        return task, shared

    return work


def failing(shared: object) -> Callable[[object], object]:
    raise RuntimeError(shared)


HERE = "tests.campaign.test_campaign"


def test_all_tasks_are_done_whatever_happens() -> None:
    """A worker that dies takes one task with it, and what a task prints spoils nothing."""
    tasks = [1, "die", 2, "fail", "print", 3, "die", "view", 4]
    answers = sorted(in_processes(f"{HERE}:doubling", "s", tasks, 2), key=lambda one: one.number)
    assert [one.number for one in answers] == [*range(9)]
    for task, one in zip(tasks, answers, strict=True):
        if task == "die":
            assert "signal 9" in one.failure
        elif task == "fail":
            assert one.failure == "internal error: ValueError: too odd"
        else:
            assert not one.failure
            assert one.value == (MappingProxyType({"a": "s"}) if task == "view" else (task, "s"))


def test_workers_that_cannot_begin() -> None:
    with pytest.raises(DeadWorker, match="before it began"):
        list(in_processes(f"{HERE}:failing", "s", [1, 2], 2))


def test_who_stops_listening_stops_the_work() -> None:
    answers = in_processes(f"{HERE}:doubling", "s", range(1_000_000), 2)
    next(iter(answers))
    start = time.monotonic()
    answers.close()  # type: ignore[attr-defined]
    assert time.monotonic() - start < 10


# ------------------------------------------------------------------------- what is remembered

texts = st.text(max_size=5)
indices = st.none() | st.integers(0, 9)
traces = st.builds(FoundTrace, texts, texts, st.sampled_from(["conforming", "faulty", "broken"]))
shorts = st.builds(
    InShort,
    st.lists(st.integers(0, 9), max_size=3).map(tuple),
    texts,
    texts,
    texts,
    st.booleans(),
    st.none() | st.lists(texts, max_size=2).map(tuple),
)
faults = st.builds(
    FoundFault,
    st.integers(0, 3), st.integers(0, 3), indices, indices, st.integers(0, 9), st.integers(0, 9),
    st.fractions(), st.sampled_from(["value", "late"]), texts, st.fractions(), st.integers(0, 9),
    st.lists(texts, max_size=2).map(tuple), st.integers(0, 3),
    st.lists(texts, max_size=2).map(tuple), st.lists(shorts, max_size=2).map(tuple),
)  # fmt: skip
marks = st.builds(
    FoundMark, texts, st.just("fail"), st.integers(0, 9), st.none() | st.fractions(), indices,
    indices, indices, texts,
)  # fmt: skip
findings = st.builds(
    LogFindings,
    st.lists(traces, max_size=2).map(tuple),
    st.lists(faults, max_size=2).map(tuple),
    st.lists(marks, max_size=2).map(tuple),
    st.lists(st.builds(Problem, texts, texts), max_size=2).map(tuple),
    st.integers(0, 9),
    st.booleans(),
)


@given(findings)
def test_findings_are_remembered(found: LogFindings) -> None:
    text = json.dumps(to_record(found))
    assert from_record(LogFindings, json.loads(text)) == found


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["", "1/0", "x", "late"]),
        lambda inner: st.lists(inner, max_size=15),
        max_leaves=30,
    )
)
def test_what_somebody_else_wrote_does_no_harm(record: object) -> None:
    for kind in (LogFindings, FoundFault, InShort):
        try:
            found = from_record(kind, record)
        except ValueError:
            continue
        assert to_record(found) == record


def test_fractions_of_zero_are_none() -> None:
    mark = FoundMark("", "fail", 0, Fraction(1), None, None, None)
    record = to_record(mark)
    assert isinstance(record, list)
    record[3] = "1/0"
    with pytest.raises(ValueError, match="no fraction"):
        from_record(FoundMark, record)


def test_a_journal_is_added_to(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    key = "0" * 64
    for number in range(3):
        journal = Journal(path)
        assert [journal.get(f"{n:064}") for n in range(3)] == [
            [n] if n < number else None for n in range(3)
        ]
        journal.add(f"{number:064}", [number])
        journal.close()
    # Half an entry is none, and what is added afterwards is whole.
    with path.open("ab") as stream:
        stream.write(b'["' + b"9" * 64 + b'",[1')
    journal = Journal(path)
    assert journal.get("9" * 64) is None
    assert journal.get(key) == [0]
    journal.add("8" * 64, [8])
    journal.close()
    journal = Journal(path)
    assert (journal.get("8" * 64), journal.get("9" * 64)) == ([8], None)
    journal.close()


# -------------------------------------------------------------------------- which files are meant


def test_logs_of_folders_and_patterns(tmp_path: Path) -> None:
    for name in ("b/x.log", "a/y.asc", "a/z.log.gz", "a/notes.md", ".hidden/x.log", "a/.x.log"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(gzip.compress(b"") if name.endswith("gz") else b"")
    (tmp_path / "a" / "plain").write_text("%unit ms\n0 req x\n")
    (tmp_path / "b" / "loop").symlink_to(tmp_path)
    found = find_logs([str(tmp_path)])
    names = [os.path.relpath(path, tmp_path) for path in found.logs]
    assert names == ["a/plain", "a/y.asc", "a/z.log.gz", "b/x.log"]
    assert [os.path.relpath(path, tmp_path) for path in found.passed_over] == ["a/notes.md"]
    pattern = find_logs([str(tmp_path / "*" / "*.log"), str(tmp_path / "b" / "x.log")])
    assert [os.path.relpath(path, tmp_path) for path in pattern.logs] == ["b/x.log"]
    odd = tmp_path / "[1].log"
    odd.write_text("")
    assert find_logs([str(odd)]).logs == (str(odd),)
    with pytest.raises(InputError):
        find_logs([str(tmp_path / "*.nothing")])
