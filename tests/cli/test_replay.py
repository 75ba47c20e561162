"""`whence replay`: traces of whence and of UPPAAL, right and wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.support import DATABASE, EXAMPLES, SHARED, Json, Run

TRACES = SHARED / "uppaal-traces"


@pytest.fixture
def trace(whence: Run, tmp_path: Path) -> Path:
    path = tmp_path / "trace.json"
    assert whence("check", DATABASE, "--quiet", "--save-trace", path).status == 1
    return path


def change(path: Path, **delays: int | str) -> Path:
    """A copy of a trace with other delays: `d4="5/2"`."""
    document = json.loads(path.read_text(encoding="utf-8"))
    for name, delay in delays.items():
        document["delays"][int(name[1:])] = delay
    copy = path.with_name("changed.json")
    copy.write_text(json.dumps(document), encoding="utf-8")
    return copy


def test_a_saved_trace(whence: Run, trace: Path) -> None:
    ended = whence("replay", DATABASE, trace)
    assert (ended.status, ended.err) == (0, "")
    assert ended.out.endswith("the trace is a run of the model\n")


def test_whole_results(whence: Run, tmp_path: Path) -> None:
    model = EXAMPLES / "fischer_bad.xml"
    result = tmp_path / "result.json"
    result.write_text(whence("check", model, "--format", "json").out, encoding="utf-8")
    ended = whence("replay", model, result, "--format", "json")
    assert ended.status == 0
    document = json.loads(ended.out)
    assert document["schema"] == "replay/1"
    assert [item["ok"] for item in document["traces"]] == [True, True]
    assert document["traces"][1]["query"] == "E<> P(1).critical"
    # In the repaired model, one of them is no run any more, and of the other only the guard fails.
    ended = whence("replay", EXAMPLES / "fischer.xml", result)
    assert ended.status == 1
    assert "the guard of edge 3 of P(1) (waiting -> critical) does not hold" in ended.out


def test_results_without_traces(whence: Run, tmp_path: Path) -> None:
    result = tmp_path / "result.json"
    ended = whence("check", DATABASE, "--trace", "none", "--format", "json")
    result.write_text(ended.out, encoding="utf-8")
    ended = whence("replay", DATABASE, result)
    assert ended.status == 2
    assert "no query in this result has a trace" in ended.err


def test_uppaal_traces_of_our_own(whence: Run, tmp_path: Path) -> None:
    path = tmp_path / "trace.xml"
    whence("check", DATABASE, "--quiet", "--save-trace", path)
    ended = whence("replay", DATABASE, path)
    assert ended.status == 0
    assert "the trace is a run of the model" in ended.out


@pytest.mark.skipif(not TRACES.is_dir(), reason="../shared/data/uppaal-traces is not there")
def test_a_trace_that_uppaal_wrote(whence: Run) -> None:
    model = TRACES / "tartar_0db_model.xml"
    ended = whence("replay", model, TRACES / "tartar_0db_symbolic_trace.xml", "--format", "json")
    assert ended.status == 0
    (item,) = json.loads(ended.out)["traces"]
    assert [step["time"] for step in item["steps"]] == [0, 0, 0, 1, 2]


def test_too_long_a_wait_fails(whence: Run, trace: Path) -> None:
    ended = whence("replay", DATABASE, change(trace, d4=4))
    assert ended.status == 1
    assert "fails after step 4: " in ended.out
    assert "the invariant of location client.serReceiving" in ended.out


def test_a_run_that_does_not_show_what_its_query_asks_fails(whence: Run, trace: Path) -> None:
    """A run, but x is only 2 at its end, which violates nothing."""
    ended = whence("replay", DATABASE, change(trace, d4=0))
    assert ended.status == 1
    assert "holds, which is no violation, at the end" in ended.out


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "this is not JSON"),
        ("[1,", "this is not JSON"),
        ("[" * 100_000, "this is not JSON"),
        ("1" * 10_000, "this is not JSON"),
        ('"text"', "expected an object, found a string"),
        ("{}", "`steps` is missing"),
        ('{"queries": 3}', "`queries` is no list"),
        ('{"queries": [3]}', "`queries` is no list"),
        ('{"queries": [{"trace": 3}]}', "expected an object, found a number"),
        ('{"queries": [{"trace": {"steps": []}}]}', "at least its initial state"),
        ('{"schema": "check/2", "queries": []}', "the schema 'check/2' cannot be replayed"),
        ('{"steps": [{}], "delays": [1e-3]}', "expected a number of time units"),
        ("<trace", "the file ends"),
        ("<nta/>", "<trace>"),
        ("\0\1\2", "this is not JSON"),
    ],
)
def test_what_is_no_trace(whence: Run, tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "trace"
    path.write_text(content, encoding="utf-8")
    ended = whence("replay", DATABASE, path)
    assert (ended.status, ended.out) == (2, "")
    assert message in ended.err
    assert str(path) in ended.err


def test_a_trace_of_another_model(whence: Run, trace: Path) -> None:
    ended = whence("replay", EXAMPLES / "fischer.xml", trace)
    assert ended.status == 2
    assert "unknown process 'client'" in ended.err


def test_bytes_that_are_no_text(whence: Run, tmp_path: Path) -> None:
    path = tmp_path / "trace"
    path.write_bytes(b"{\xff")
    ended = whence("replay", DATABASE, path)
    assert ended.status == 2
    assert f"{path}:1:2: error: byte 0xff is not UTF-8 text" in ended.err


def test_results_keep_their_seconds(whence: Run, tmp_path: Path) -> None:
    """Measured seconds may be written with an exponent."""
    document: Json = json.loads(whence("check", DATABASE, "--format", "json").out)
    document["queries"][0]["seconds"] = 1e-07
    path = tmp_path / "result.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    assert "e-07" in path.read_text(encoding="utf-8")
    assert whence("replay", DATABASE, path).status == 0
