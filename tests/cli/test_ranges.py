"""`whence ranges`: what it prints, writes and returns. The analysis itself is tested elsewhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.support import DATABASE, EXAMPLES, Run
from tests.report.timing_support import QUERY, ranges

from whence.api import Limits, Model
from whence.timing.results import RangesResult


class Asked:
    """Answers in place of the analysis, and remembers what it was asked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.result = ranges()
        self.query: Any = None
        self.settings: dict[str, Any] = {}
        monkeypatch.setattr(Model, "ranges", self._ranges, raising=False)

    def _ranges(self, query: Any = None, **settings: Any) -> RangesResult:
        self.query, self.settings = query, settings
        return self.result


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    return Asked(monkeypatch)


def nothing(**changes: object) -> RangesResult:
    return ranges(trace=None, causal_delays=(), ranges=(), timed=False, **changes)


def test_ranges_are_explained(whence: Run, asked: Asked) -> None:
    ended = whence("ranges", DATABASE)
    assert (ended.status, ended.err) == (1, "")
    assert "Counterexample" in ended.out
    assert "2 <= δ4 <= 3" in ended.out
    assert asked.query is None
    assert asked.settings == {
        "trace": None,
        "realization": "earliest",
        "budget": None,
        "progress": None,
    }


def test_what_is_asked_for_is_passed_on(whence: Run, asked: Asked) -> None:
    whence("ranges", DATABASE, "-q", "A[] x <= 4", "--budget", "5s", "--realization", "latest")
    assert asked.query.text == "A[] x <= 4"
    assert asked.settings["budget"] == Limits(seconds=5)
    assert asked.settings["realization"] == "latest"


@pytest.mark.parametrize(
    ("result", "status", "said"),
    [
        (nothing(verdict="satisfied"), 0, "The property holds: nothing to explain."),
        (nothing(verdict="unknown", complete=False, reason="out of time"), 3, "partial: out of"),
        (nothing(verdict="error", reason="division by zero"), 1, "division by zero"),
        (ranges(complete=False, reason="out of time"), 3, "partial: out of time"),
        (ranges(ranges=(), causal_delays=(), timed=False), 1, "does not depend on time"),
    ],
)
def test_status(whence: Run, asked: Asked, result: RangesResult, status: int, said: str) -> None:
    asked.result = result
    ended = whence("ranges", DATABASE, "--quiet")
    assert (ended.status, ended.err) == (status, "")
    assert said in ended.out
    assert whence("ranges", DATABASE, "--format", "json").status == status


def test_json_and_a_report(whence: Run, asked: Asked, tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    ended = whence("ranges", DATABASE, "--format", "json", "-o", report)
    document = json.loads(ended.out)
    assert (document["schema"], document["file"]) == ("ranges/1", DATABASE)
    assert ended.out.isascii()
    assert report.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert list(tmp_path.iterdir()) == [report]


def test_what_is_wrong_is_said_before_the_work(whence: Run, asked: Asked, tmp_path: Path) -> None:
    bad = [
        ("--budget", "60 parsecs"),
        ("-o", tmp_path / "nowhere" / "x.html"),
        ("-q", "A[] nosuch.place"),
        ("--trace", tmp_path / "nosuch.json"),
    ]
    for arguments in bad:
        ended = whence("ranges", DATABASE, *arguments)
        assert (ended.status, ended.out) == (2, "")
        assert "error: " in ended.err
    assert asked.settings == {}


def test_a_report_that_cannot_be_written_loses_no_answer(
    whence: Run, asked: Asked, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("os.replace", refuse)
    ended = whence("ranges", DATABASE, "-o", tmp_path / "report.html")
    assert ended.status == 2
    assert "2 <= δ4 <= 3" in ended.out
    assert "cannot be written: permission denied" in ended.err
    assert list(tmp_path.iterdir()) == []


# ----------------------------------------------------------------------------- traces from files


@pytest.fixture(scope="module")
def checked() -> list[Any]:
    from whence.api import load

    return load(DATABASE).check_all()


def trace_file(tmp_path: Path, results: list[Any], *queries: str) -> Path:
    """A `check/1` file: the run of the example for each of these queries."""
    from whence.api import load, to_text

    document = load(DATABASE).to_json(results)
    (entry,) = document["queries"]
    document["queries"] = [{**entry, "query": query} for query in queries]
    path = tmp_path / "result.json"
    path.write_text(to_text(document), encoding="utf-8")
    return path


def test_the_trace_of_the_query_is_taken(
    whence: Run, asked: Asked, tmp_path: Path, checked: list[Any]
) -> None:
    path = trace_file(tmp_path, checked, "A[] x <= 4", QUERY)
    assert whence("ranges", DATABASE, "--trace", path, "-q", f" {QUERY} ").status == 1
    assert asked.query.text.strip() == QUERY
    assert len(asked.settings["trace"].transitions) == 4


def test_one_trace_tells_its_query(
    whence: Run, asked: Asked, tmp_path: Path, checked: list[Any]
) -> None:
    path = trace_file(tmp_path, checked, QUERY)
    assert whence("ranges", DATABASE, "--trace", path).status == 1
    assert asked.query.text == QUERY


def test_a_trace_without_a_query_is_for_the_one_that_is_asked(
    whence: Run, asked: Asked, tmp_path: Path, checked: list[Any]
) -> None:
    from whence.api import load

    path = tmp_path / "trace.xml"
    load(DATABASE).save_trace(checked[0].trace, path)
    assert whence("ranges", DATABASE, "--trace", path).status == 1
    assert asked.query is None
    assert whence("ranges", DATABASE, "--trace", path, "-q", "A[] x <= 4").status == 1
    assert asked.query.text == "A[] x <= 4"
    assert asked.settings["trace"].transitions == checked[0].trace.transitions


def test_traces_that_do_not_fit_are_refused(
    whence: Run, asked: Asked, tmp_path: Path, checked: list[Any]
) -> None:
    path = trace_file(tmp_path, checked, "A[] x <= 4", "A[] x <= 3")
    ended = whence("ranges", DATABASE, "--trace", path)
    assert ended.status == 2
    assert f"{path}: error: there are 2 traces in this file" in ended.err
    assert "choose one with --query: `A[] x <= 4`, `A[] x <= 3`" in ended.err
    ended = whence("ranges", DATABASE, "--trace", path, "-q", QUERY)
    assert ended.status == 2
    assert "no trace in this file answers the query" in ended.err
    none = trace_file(tmp_path, checked)
    ended = whence("ranges", DATABASE, "--trace", none)
    assert ended.status == 2
    assert "there is no trace in it" in ended.err
    other = whence("ranges", EXAMPLES / "fischer_bad.xml", "--trace", path)
    assert (other.status, other.out) == (2, "")
    assert asked.settings == {}
