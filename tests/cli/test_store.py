"""`--store`, `whence history` and `whence compare`: what they print, and how they end."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import jsonschema
import pytest
from tests.cli.support import DATABASE, EXAMPLES, Json, Run

from whence.report.store_schema import COMPARE, HISTORY

MODEL, LOGS = EXAMPLES / "prd_paper.yaml", EXAMPLES / "prd_paper"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "results.db"


def document(whence: Run, schema: Json, *arguments: object) -> Json:
    text = whence(*arguments, "--format", "json").out
    found: Json = json.loads(text)
    assert text == json.dumps(found, indent=2) + "\n"
    jsonschema.validate(found, schema)
    return found


def test_three_nights(whence: Run, store: Path) -> None:
    night = ("triage", MODEL, LOGS, "--store", store)
    plain = whence("triage", MODEL, LOGS)
    assert whence(*night, "--code", "v1") == plain
    assert whence(*night, "--code", "v2") == plain
    last = whence("triage", MODEL, LOGS / "test_3.events", "--store", store, "--code", "v3")
    assert last.status == 1
    told = whence("history", store)
    assert (told.status, told.err) == (0, "")
    assert told.out.startswith(f"{store}: 3 runs, 2 classes of faults.\n")
    assert "1 (1 gone)" in told.out
    assert "v1, v2" in told.out
    found = document(whence, HISTORY, "history", store)
    assert [run["code"] for run in found["runs"]] == ["v1", "v2", "v3"]
    assert [run["verdicts"] for run in found["runs"]] == [
        {"faulty": 3}, {"faulty": 3}, {"faulty": 1},
    ]  # fmt: skip
    known, gone = found["classes"]
    assert (known["state"], gone["state"]) == ("known", "gone")
    assert (gone["first_seen"], gone["last_seen"], gone["codes"]) == (1, 2, ["v1", "v2"])
    one = whence("history", store, "--class", gone["id"][:5])
    assert "run 3" in one.out
    assert known["id"] not in one.out
    # What a run answered is printed again, byte for byte.
    assert whence("history", store, "--run", 2).out == plain.out
    again = whence("history", store, "--run", 2, "--format", "json")
    assert again.out == whence("triage", MODEL, LOGS, "--format", "json").out
    assert whence("history", store, "--model", "CTR").out == told.out
    assert whence("history", store, "--top", 1).out.count("(--top)") == 2


def test_comparing(whence: Run, store: Path) -> None:
    whence("triage", MODEL, LOGS / "test_1.events", "--store", store)
    whence("triage", MODEL, LOGS, "--store", store)
    found = document(whence, COMPARE, "compare", store, 1, 2)
    assert [len(found[name]) for name in ("new", "gone", "still", "changes")] == [1, 0, 1, 2]
    assert found["still"][0]["before"] == 1
    assert found["still"][0]["after"] == 2
    ended = whence("compare", store, 1, 2)
    assert ended.status == 1
    assert ended.out.startswith(
        "Run 1 and run 2: 1 new class, 0 gone, 1 still there; 2 other verdicts.\n"
    )
    assert "not there → faulty" in ended.out
    same = whence("compare", store, 2, 2)
    assert (same.status, same.out.splitlines()[0]) == (0, "Run 2 and run 2: nothing is different.")


def test_a_run_that_was_killed(whence: Run, store: Path) -> None:
    whence("triage", MODEL, LOGS, "--store", store)
    whence("triage", MODEL, LOGS, "--store", store)
    connection = sqlite3.connect(store)
    connection.execute("UPDATE runs SET ended = NULL, complete = 0, verdict = '' WHERE id = 2")
    connection.execute("DELETE FROM inputs WHERE run = 2 AND number = 2")
    connection.commit()
    connection.close()
    assert "not ended: 2" in whence("history", store).out
    assert document(whence, HISTORY, "history", store)["runs"][1]["verdict"] is None
    ended = whence("compare", store, 1, 2)
    assert ended.status == 3
    assert "Partial: run 2 is not ended; what it has is compared." in ended.out
    assert "Partial" in whence("history", store, "--run", 2).out


def test_queries_and_diagnoses(whence: Run, store: Path) -> None:
    """What `check` and `locate` answer is stored as they print it."""
    query = ("--query", "A[] not client.serReceiving or x <= 4")
    asked = ("check", DATABASE, *query)
    printed = json.loads(whence(*asked, "--format", "json", "--store", store).out)
    assert json.loads(whence("history", store, "--run", 1).out) == printed
    fixed = ("check", EXAMPLES / "database_z2.xml", *query, "--store", store)
    assert whence(*fixed).status == whence(*fixed[:-2]).status
    locate = ("locate", EXAMPLES / "locate" / "heater.c", "--entry", "heater", "--tests",
              EXAMPLES / "locate" / "heater.csv")  # fmt: skip
    printed = json.loads(whence(*locate, "--format", "json", "--store", store).out)
    assert json.loads(whence("history", store, "--run", 3).out) == printed
    runs = document(whence, HISTORY, "history", store)["runs"]
    assert [run["command"] for run in runs] == ["check", "check", "locate"]
    assert runs[0]["verdicts"] == {"violated": 1}
    assert runs[0]["verdict"] == "found"
    assert all(run["complete"] and len(run["model_hash"]) == 64 for run in runs)
    ended = whence("compare", store, 1, 3)
    assert ended.status == 2
    assert "nothing to be compared by" in ended.err


def test_tests_that_ran(whence: Run, store: Path, tmp_path: Path) -> None:
    suite = tmp_path / "suite"
    assert whence("tests", EXAMPLES / "turn_indicator.yaml", "--kind", "state", "-o", suite)
    ran = ("run", suite, "--sut", "model", "--store", store, "--code", "v1")
    printed = json.loads(whence(*ran, "--format", "json").out)
    assert json.loads(whence("history", store, "--run", 1).out) == printed
    (run,) = document(whence, HISTORY, "history", store)["runs"]
    assert run["verdicts"] == {"pass": len(printed["verdicts"])}
    assert (run["verdict"], run["complete"]) == ("nothing", True)
    assert run["model_hash"] == printed["hash"]


def test_bad_stores(whence: Run, tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("notes " * 1000)
    for arguments in (
        ("history", notes),
        ("compare", notes, 1, 2),
        ("triage", MODEL, LOGS, "--store", notes),
        ("check", DATABASE, "--store", notes),
        ("history", tmp_path / "missing.db"),
        ("history", "mysql://host/x"),
        ("locate", EXAMPLES / "locate" / "heater.c", "--store", notes),
    ):
        ended = whence(*arguments)
        assert (ended.status, ended.out) == (2, ""), arguments
        assert ": error: " in ended.err or ended.err.startswith("error: ")
    assert notes.read_text() == "notes " * 1000
    store = tmp_path / "results.db"
    whence("triage", MODEL, LOGS, "--store", store)
    for arguments in (
        ("compare", store, 1, 2),
        ("compare", store, 0, 1),
        ("compare", store, "x", 1),
        ("history", store, "--run", 2),
        ("history", store, "--class", "nothing"),
        ("history", store, "--model", "nothing"),
        ("triage", MODEL, LOGS, "--store", store, "--resume", tmp_path / "journal"),
    ):
        ended = whence(*arguments)
        assert (ended.status, ended.out) == (2, ""), arguments


def test_names_do_not_command_the_terminal(whence: Run, tmp_path: Path, store: Path) -> None:
    log = tmp_path / "a\x1b[31m.events"
    log.write_text((LOGS / "test_1.events").read_text())
    whence("triage", MODEL, log, "--store", store, "--code", "\x1b[2Jv1")
    for arguments in (("history", store), ("history", store, "--class", "0"),
                      ("history", store, "--run", 1)):  # fmt: skip
        assert "\x1b" not in whence(*arguments).out
