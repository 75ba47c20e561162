"""`whence events`: what it prints and writes, and how it ends."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import jsonschema
import pytest
from tests.cli.support import EXAMPLES, SHARED, Run

from whence.formats.logs import read_trace
from whence.report.events_schema import EVENTS

LOG = EXAMPLES / "ecu.log"


def test_events_are_told(whence: Run) -> None:
    ended = whence("events", LOG)
    assert (ended.status, ended.err) == (0, "")
    lines = ended.out.splitlines()
    assert lines[0] == f"{LOG} (candump)"
    said = next(line for line in lines if " pending " in line)
    assert "RoutineControl code=0x78 (responsePending)  [to 8 after 0.025 s]" in said
    assert "! fail Step 6: FAILED, expected 6E 01 01" in ended.out
    assert "addresses: 7E0:7E8, 7DF:" in lines
    assert "31 frames, 19 events: 9 requests, 6 positive, 1 negative, 2 pending, 1 error" in lines


def test_json(whence: Run) -> None:
    ended = whence("events", LOG, "--format", "json")
    document = json.loads(ended.out)
    jsonschema.validate(document, EVENTS)
    (trace,) = document["traces"]
    assert (trace["format"], trace["frames"], len(trace["events"])) == ("candump", 31, 19)
    assert trace["events"][1]["answers"] == 0
    assert trace["annotations"][-1]["kind"] == "verdict:fail"
    assert (document["failed"], ended.status) == ([], 0)


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_what_is_written_can_be_read_again(whence: Run, tmp_path: Path, form: str) -> None:
    path = tmp_path / "events"
    ended = whence("events", LOG, "--format", form, "-o", path)
    assert (ended.status, ended.out, ended.err) == (0, "", "")
    assert read_trace(str(path)).events == read_trace(str(LOG)).events
    again = whence("events", path, "--format", form)
    strip = (lambda row: row[:-2]) if form == "csv" else (lambda row: row)
    rows = [strip(row) for row in csv.reader(again.out.splitlines())]
    if form == "csv":
        assert rows == [strip(row) for row in csv.reader(path.read_text().splitlines())]
    assert list(tmp_path.iterdir()) == [path]


def test_pairs_are_given(whence: Run) -> None:
    ended = whence("events", LOG, "--pair", "7DF:")
    assert "31 frames, 1 event: 1 request" in ended.out
    ended = whence("events", LOG, "--pair", "7E0")
    assert (ended.status, ended.out) == (2, "")
    assert "`7E0` is not a pair of addresses" in ended.err


def test_raw(whence: Run) -> None:
    ended = whence("events", LOG, "--raw", "--format", "jsonl")
    rows = [json.loads(line) for line in ended.out.splitlines()]
    assert sum(row["kind"] == "other" for row in rows) == 31
    ended = whence("events", LOG, "--raw", "--pair", "7E0:7E8")
    assert (ended.status, ended.out) == (2, "")


def test_a_broken_log_does_not_keep_others_from_being_read(whence: Run, tmp_path: Path) -> None:
    other = tmp_path / "x.log"
    other.write_text("Dear diary,\n")
    empty = tmp_path / "empty.log"
    empty.write_text("\n")
    gone = tmp_path / "gone.log"
    for form in ("text", "csv", "jsonl", "json"):
        ended = whence("events", other, empty, gone, LOG, "--format", form)
        assert ended.status == 2
        assert f"{other}: error: not a log that whence knows" in ended.err
        assert f"{empty}: error: the log is empty" in ended.err
        assert f"{gone}: error: the file cannot be read: " in ended.err
        assert "RoutineControl" in ended.out
    document = json.loads(ended.out)
    jsonschema.validate(document, EVENTS)
    assert [entry["file"] for entry in document["failed"]] == [str(other), str(empty), str(gone)]


def test_broken_records_are_told(whence: Run, tmp_path: Path) -> None:
    log = tmp_path / "cut.log"
    log.write_bytes(LOG.read_bytes()[:-4])
    for form in ("text", "json"):
        ended = whence("events", log, "--format", form)
        assert ended.status == 1
    ended = whence("events", log)
    assert f"{log}:34:1: error: not a line of a candump log" in ended.err
    log.write_text("(2.000000) can0 7E0#013E\n(1.000000) can0 7E8#017E\n")
    ended = whence("events", log)
    assert ended.status == 0
    assert "warning: the clock runs backwards here, by 1 s" in ended.err


def test_commands_to_the_terminal_are_not_passed_on(whence: Run, tmp_path: Path) -> None:
    log = tmp_path / "x"
    log.write_text('1 req "\\u001b[2J" a="\\u001b]0;x"\n# \x1b[31mred\n')
    assert "\x1b" not in whence("events", log).out


def test_what_is_wrong_is_said_before_the_work(whence: Run, tmp_path: Path) -> None:
    for arguments in (("-o", tmp_path / "no" / "x.csv"), ("--pdx", tmp_path / "no.pdx")):
        ended = whence("events", LOG, *arguments)
        assert (ended.status, ended.out) == (2, "")
        assert "error: " in ended.err


def test_a_file_that_cannot_be_written_stays_as_it_was(
    whence: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    path = tmp_path / "events.csv"
    path.write_text("before")
    monkeypatch.setattr("os.replace", refuse)
    ended = whence("events", LOG, "--format", "csv", "-o", path)
    assert ended.status == 2
    assert "cannot be written: permission denied" in ended.err
    assert (path.read_text(), list(tmp_path.iterdir())) == ("before", [path])


def test_names_of_an_odx_database(whence: Run, tmp_path: Path) -> None:
    pytest.importorskip("odxtools")
    pdx = SHARED / "can" / "somersault.pdx"
    if not pdx.exists():
        pytest.skip("the shared data is not there")
    log = tmp_path / "x.log"
    log.write_text("(1.000000) can0 07B#03BA0003\n(1.5) can0 1C8#03FA0003\n")
    ended = whence("events", log, "--pdx", pdx)
    assert "do_forward_flips" in ended.out
    ended = whence("events", LOG, "--pdx", pdx)
    assert "does not name these addresses" in ended.out


def test_help_teaches(whence: Run) -> None:
    ended = whence("events", "--help")
    assert ended.status == 0
    for word in ("--pair 7E0:7E8", "whence[can]", "Exit status", "candump"):
        assert word in ended.out
