"""`whence check`: what it prints, writes and returns."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest
from tests.cli.support import DATABASE, EXAMPLES, MODEL, Run

from whence.api import Limits, Model, parse_budget
from whence.model.network import Query
from whence.source import UsageError


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.xta"
    path.write_text(MODEL, encoding="utf-8")
    return path


# ----------------------------------------------------------------------------------- exit status


@pytest.mark.parametrize(
    ("query", "status", "verdict"),
    [
        ("E<> P.B", 0, "satisfied"),
        ("A[] P.A or n == 3", 1, "error"),  # 3 + 1 leaves the range of n
        ("A[] P.A imply x <= 2", 1, "error"),
        ("A[] n == 0", 1, "violated"),
        ("E<> n == 2", 1, "error"),
        ("E<> P.A and x > 2", 1, "error"),
    ],
)
def test_status_tells_the_verdict(
    whence: Run, model: Path, query: str, status: int, verdict: str
) -> None:
    ended = whence("check", model, "-q", query)
    assert (ended.status, ended.err) == (status, "")
    assert verdict in ended.out


def test_an_unsatisfied_possibility_counts_as_violated(whence: Run) -> None:
    ended = whence("check", DATABASE, "-q", "E<> client.serReceiving and x > 6")
    assert ended.status == 1
    assert "violated" in ended.out


def test_a_spent_budget_is_partial(whence: Run) -> None:
    ended = whence("check", DATABASE, "--budget", "1 states")
    assert ended.status == 3
    assert "unknown" in ended.out
    assert "partial: no verdict on 1 of 1 queries" in ended.out
    document = json.loads(whence("check", DATABASE, "--budget", "1 states", "--format=json").out)
    assert document["partial"] is True
    assert document["queries"][0]["reason"]


def test_a_violation_outweighs_what_is_unknown(whence: Run) -> None:
    # The second query needs more than the 4 states that show the first one's violation.
    ended = whence("check", DATABASE, "-q", "A[] not client.reqSent", "-q", "A[] not deadlock",
                   "--budget", "4 states")  # fmt: skip
    assert ended.status == 1
    assert "partial" in ended.out


def test_no_queries(whence: Run, model: Path) -> None:
    ended = whence("check", model)
    assert (ended.status, ended.out) == (2, "")
    assert f"{model}: error: there is nothing to check: no queries" in ended.err
    assert "hint: give one with --query" in ended.err


def test_a_bad_query_does_not_stop_the_others(whence: Run) -> None:
    bad = ("A[] nosuch.place", "Pr[<=10](<> client.timeout)", "A[] not (", "")
    arguments = [part for query in bad for part in ("-q", query)]
    ended = whence("check", DATABASE, *arguments, "-q", "E<> client.timeout", "--format", "json")
    assert ended.status == 2
    document = json.loads(ended.out)
    assert [query["verdict"] for query in document["queries"]] == [*["error"] * 4, "satisfied"]
    assert "not checked: not supported: statistical" in document["queries"][1]["reason"]
    assert [item["file"] for item in document["diagnostics"]] == [
        f"--query (number {number})" for number in range(1, 5)
    ]
    assert "--query (number 1):1:5: error: unknown process `nosuch`" in ended.err
    assert "not supported: statistical queries (`Pr`)" in ended.err


def test_only_bad_queries_leave_no_table(whence: Run) -> None:
    ended = whence("check", DATABASE, "-q", "A[] nosuch.place")
    assert (ended.status, ended.out) == (2, "")
    assert ended.err.startswith("--query:1:5: error:")


def test_ctrl_c_prints_what_there_is(whence: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    check = Model.check

    def impatient(self: Model, query: Query, **settings: Any) -> object:
        if "deadlock" in query.text:
            signal.raise_signal(signal.SIGINT)
        return check(self, query, **settings)

    monkeypatch.setattr(Model, "check", impatient)
    before = signal.getsignal(signal.SIGINT)
    queries = ("E<> client.timeout", "A[] not deadlock", "E<> client.reqSent")
    arguments = [part for query in queries for part in ("-q", query)]
    ended = whence("check", DATABASE, *arguments, "--format", "json")
    document = json.loads(ended.out)
    assert ended.status == 3
    assert document["partial"] is True
    assert [(query["verdict"], query.get("reason", "")) for query in document["queries"]] == [
        ("satisfied", ""),
        ("unknown", "interrupted"),
        ("unknown", "interrupted before this query"),
    ]
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_elsewhere(whence: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("whence.api.read_document", interrupted)
    ended = whence("check", DATABASE)
    assert (ended.status, ended.err) == (130, "interrupted\n")


# ---------------------------------------------------------------------------------------- queries


def test_queries_come_from_the_model_a_file_beside_it_or_the_command(
    whence: Run, model: Path, tmp_path: Path
) -> None:
    model.with_suffix(".q").write_text("E<> P.A\n", encoding="utf-8")
    assert "E<> P.A" in whence("check", model).out
    other = tmp_path / "other.q"
    other.write_text("/* Comment. */\nE<> P.B\nA[] n == 4\n", encoding="utf-8")
    ended = whence("check", model, "--queries", other, "-q", "E<> n == 3")
    assert ended.status == 1
    assert [line.split("  ")[0] for line in ended.out.splitlines()[2:5]] == [
        "E<> n == 3",
        "E<> P.B",
        "A[] n == 4",
    ]


def test_a_model_with_queries_does_not_look_beside_it(whence: Run, tmp_path: Path) -> None:
    copy = tmp_path / "database.xml"
    copy.write_text(Path(DATABASE).read_text(encoding="utf-8"), encoding="utf-8")
    copy.with_suffix(".q").write_text("E<> client.nowhere\n", encoding="utf-8")
    assert whence("check", copy, "--quiet").status == 1


def test_standard_input(whence: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with open(DATABASE, encoding="utf-8") as stream:
        monkeypatch.setattr("sys.stdin", stream)
        assert whence("check", "-", "--quiet").status == 1
    empty = tmp_path / "empty"
    empty.touch()
    with open(empty, encoding="utf-8") as stream:
        monkeypatch.setattr("sys.stdin", stream)
        ended = whence("check", "-")
    assert ended.status == 2
    assert ended.err.startswith("<stdin>:1:1: error:")


# ----------------------------------------------------------------------------------------- output


def test_the_database_as_in_the_thesis(whence: Run) -> None:
    """Example 3 (Koelbl): four transitions, δ1 = 0, δ3 = 1, and more than 4 time units in all."""
    ended = whence("check", DATABASE, "--format", "json", "--trace", "shortest", "--verify")
    assert (ended.status, ended.err) == (1, "")
    document = json.loads(ended.out)
    assert (document["schema"], document["partial"], document["diagnostics"]) == (
        "check/1",
        False,
        [],
    )
    (query,) = document["queries"]
    assert (query["verdict"], query["verified"]) == ("violated", True)
    trace = query["trace"]
    assert [step["locations"] for step in trace["steps"]] == [
        {"client": "initial", "db": "reqAwaiting"},
        {"client": "reqCreate", "db": "reqAwaiting"},
        {"client": "reqSent", "db": "reqReceived"},
        {"client": "reqSent", "db": "reqProcessing"},
        {"client": "serReceiving", "db": "reqAwaiting"},
    ]
    assert [step["action"] for step in trace["steps"]] == [None, "tau", "req", "tau", "ser"]
    assert len(trace["delays"]) == 5
    assert (trace["delays"][1], trace["delays"][3]) == (0, 1)


def test_the_bound_of_the_modified_database(whence: Run) -> None:
    """UPPAAL's trace of the thesis' tool says x <= 5 in serReceiving, delay included."""
    path = EXAMPLES / "database_z2.xml"
    document = json.loads(whence("check", path, "--format", "json").out)
    violated, supremum = document["queries"]
    assert violated["verdict"] == "violated"
    assert [item["value"] for item in supremum["suprema"]] == [5]


def test_quiet_and_verify(whence: Run) -> None:
    loud = whence("check", DATABASE, "--verify").out
    assert "reqAwaiting" in loud
    assert "verified: the trace replays on the model" in loud
    quiet = whence("check", DATABASE, "--quiet").out
    assert "violated" in quiet
    assert "reqAwaiting" not in quiet


def test_verify_does_not_swallow_disagreement(monkeypatch: pytest.MonkeyPatch) -> None:
    from whence.api import load
    from whence.explore.replay import Replay

    monkeypatch.setattr(Model, "confirm", lambda *_: Replay(False, (), 1, "because"))
    with pytest.raises(AssertionError, match="does not replay: step 1: because"):
        load(DATABASE).check(verify=True)


def test_no_progress_without_a_terminal(whence: Run) -> None:
    assert whence("check", DATABASE).err == ""


# ------------------------------------------------------------------------------------------ files


def test_reports_and_traces_are_written(whence: Run, tmp_path: Path) -> None:
    report, trace = tmp_path / "report.html", tmp_path / "trace.json"
    ended = whence("check", DATABASE, "-o", report, "--save-trace", trace)
    assert ended.status == 1
    assert ended.err == f"wrote {trace}\n"
    assert report.read_text(encoding="utf-8").lstrip().lower().startswith("<!doctype html")
    saved = json.loads(trace.read_text(encoding="utf-8"))
    assert (saved["schema"], saved["query"]) == ("trace/1", "A[] not client.serReceiving or x <= 4")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.html", "trace.json"]


def test_several_traces_get_numbers(whence: Run, tmp_path: Path) -> None:
    path = EXAMPLES / "fischer.xml"
    ended = whence("check", path, "--quiet", "--save-trace", tmp_path / "t.xml")
    assert ended.status == 0
    assert [path.name for path in tmp_path.iterdir()] == ["t-2.xml"]
    ended = whence("check", path, "-q", "A[] true", "--save-trace", tmp_path / "u.xml")
    assert ended.err == "no trace to save\n"


@pytest.mark.parametrize("option", ["-o", "--save-trace"])
def test_bad_places_are_told_before_the_work(
    whence: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, option: str
) -> None:
    monkeypatch.setattr(Model, "check", lambda *_, **__: pytest.fail("too late"))
    ended = whence("check", DATABASE, option, tmp_path / "nowhere" / "x.html")
    assert (ended.status, ended.out) == (2, "")
    assert "there is no folder" in ended.err
    ended = whence("check", DATABASE, option, tmp_path)
    assert (ended.status, ended.out) == (2, "")
    assert "this is a directory" in ended.err


def test_a_file_that_cannot_be_written_stays_as_it_was(
    whence: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    report = tmp_path / "report.html"
    report.write_text("before", encoding="utf-8")

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("os.replace", refuse)
    ended = whence("check", DATABASE, "-o", report, "--quiet")
    assert ended.status == 2
    assert "violated" in ended.out  # nothing of the answer is lost
    assert f"{report}: error: the file cannot be written: permission denied" in ended.err
    assert report.read_text(encoding="utf-8") == "before"
    assert list(tmp_path.iterdir()) == [report]


# ---------------------------------------------------------------------------------------- budgets


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        ("60s", Limits(seconds=60)),
        ("1.5 min", Limits(seconds=90)),
        ("2GB", Limits(megabytes=2048)),
        ("512 MB", Limits(megabytes=512)),
        ("1_000_000 states", Limits(states=1_000_000)),
        ("250ms, 1 GiB ,1 state", Limits(states=1, seconds=0.25, megabytes=1024)),
    ],
)
def test_budgets(text: str, limits: Limits) -> None:
    assert parse_budget(text) == limits


@pytest.mark.parametrize(
    "text",
    ["", "60", "s", "60 parsecs", "-1s", "0s", "1.5 states", "60s,", "60s 2GB", "1s,2s", "1e9s",
     "inf s", "9" * 100 + "s"],
)  # fmt: skip
def test_bad_budgets(whence: Run, text: str) -> None:
    with pytest.raises(UsageError):
        parse_budget(text)
    ended = whence("check", "nosuch.xml", "--budget", text)
    assert ended.status == 2
    assert "the budget" in ended.err
