"""`whence tests`: what it prints, writes and returns. The generator itself is tested elsewhere."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import jsonschema
import pytest
from tests.cli.support import EXAMPLES, SHARED, Run

from whence.report.tests_schema import TEST_CASE, TESTS

TURN_INDICATOR = EXAMPLES / "turn_indicator.yaml"
DEAD = """\
variables: {go: input bool}
machines:
  M:
    initial: P
    states: {P: {}, Q: {}, R: {}}
    transitions: [{from: P, to: Q, when: go}, {from: P, to: R, when: go && !go, priority: 1}]
"""


def test_text(whence: Run) -> None:
    ended = whence("tests", TURN_INDICATOR)
    assert (ended.status, ended.err) == (0, "")
    assert "134 of 134 goals are covered" in ended.out


def test_json(whence: Run) -> None:
    ended = whence("tests", TURN_INDICATOR, "--format", "json")
    document = json.loads(ended.out)
    jsonschema.validate(document, TESTS)
    assert document["schema"] == "tests/1"
    assert document["summary"] == {"covered": 134, "unreachable": 0, "open": 0}
    assert document["hash"] == hashlib.sha256(TURN_INDICATOR.read_bytes()).hexdigest()
    tests = {test["id"]: test for test in document["tests"]}
    for goal in document["goals"]:
        assert goal["time"] <= tests[goal["test"]]["end"]
    for test in tests.values():
        assert {one["time"] for one in test["inputs"][:5]} == {0}
        assert [one["time"] for one in test["inputs"]] == sorted(
            one["time"] for one in test["inputs"]
        )


def test_a_suite_is_the_same_each_time_and_replaces_itself(whence: Run, tmp_path: Path) -> None:
    folder = tmp_path / "suite"
    assert whence("tests", TURN_INDICATOR, "--tests", "short", "-o", folder).status == 0
    many = len(list(folder.iterdir()))
    contents = []
    for _ in range(2):
        assert whence("tests", TURN_INDICATOR, "-o", folder).status == 0
        contents.append({path.name: path.read_bytes() for path in sorted(folder.iterdir())})
    assert contents[0] == contents[1]
    assert len(contents[0]) < many
    manifest = json.loads(contents[0]["manifest.json"])
    assert {one["file"] for one in manifest["tests"]} == set(contents[0]) - {
        "index.html",
        "manifest.json",
    }
    for one in manifest["tests"]:
        jsonschema.validate(json.loads(contents[0][one["file"]]), TEST_CASE)


def test_other_folders_are_left_alone(whence: Run, tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    ended = whence("tests", TURN_INDICATOR, "-o", tmp_path)
    assert ended.status == 2
    assert "not empty" in ended.err
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]
    assert whence("tests", TURN_INDICATOR, "-o", tmp_path / "thesis.txt").status == 2
    (tmp_path / "manifest.json").write_text('{"schema": "tests/1", "tests": [{"id": "../x"}]}')
    assert whence("tests", TURN_INDICATOR, "-o", tmp_path).status == 0
    assert (tmp_path / "thesis.txt").exists()


def test_what_is_unreachable_is_something(whence: Run, tmp_path: Path) -> None:
    path = tmp_path / "dead.yaml"
    path.write_text(DEAD)
    ended = whence("tests", path)
    assert ended.status == 1
    assert "unreachable: state M.R" in ended.out
    assert "induction" in ended.out


@pytest.mark.parametrize(
    ("goal", "status", "said"),
    [
        ("F (M.Q && go)", 0, "1 proved unreachable"),
        ("G (go)", 2, "`G` in a goal"),
        ("F (M.Z)", 2, "no state or variable `Z`"),
        ("F (", 2, "never closed"),
    ],
)
def test_goals(whence: Run, tmp_path: Path, goal: str, status: int, said: str) -> None:
    path = tmp_path / "dead.yaml"
    path.write_text(DEAD.replace(", R: {}", "").replace("to: R", "to: Q"))
    ended = whence("tests", path, "--goal", goal, "--kind", "user", "--kind", "mcdc")
    assert ended.status == status
    assert said.replace("1 proved unreachable", "goals are covered") in ended.out + ended.err


@pytest.mark.parametrize(
    "text",
    [
        "",
        "machines: {}",
        "machines: {M: 3}",
        "\x00",
        "machines: {M: {initial: a, states: {b: {}}}}",
    ],
)
def test_bad_models_are_told(whence: Run, tmp_path: Path, text: str) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(text)
    ended = whence("tests", path)
    assert ended.status == 2
    assert "bad.yaml" in ended.err


def test_bad_usage(whence: Run, tmp_path: Path) -> None:
    assert whence("tests", tmp_path / "none.yaml").status == 2
    assert whence("tests", TURN_INDICATOR, "--kind", "statement").status == 2
    assert whence("tests", EXAMPLES / "fischer.xml").status == 2
    assert whence("tests", EXAMPLES / "railroad.yaml").status == 2


def test_a_model_that_cannot_start_says_so(whence: Run) -> None:
    path = SHARED / "charts" / "rttesterexample.xmi"
    if not path.exists():
        pytest.skip("the shared data is not there")
    ended = whence("tests", path)
    assert ended.status == 3
    text = " ".join(ended.out.split())
    assert "the default 0 of `ctr` is outside its range 1 to 1" in text
    assert "no run can start" in ended.out
    assert "no test; 0 of 89 goals are covered" in ended.out


LATCH = """\
variables: {i: "input int[0,3]", o: "output int[0,3]", seen: bool}
machines:
  M:
    initial: P
    states: {P: {entry: o = 0}, Q: {entry: "o = 3; seen = true"}}
    transitions: [{from: P, to: Q, when: i > 1}, {from: Q, to: P, when: i == 0}]
"""


def test_mutants(whence: Run, tmp_path: Path) -> None:
    path = tmp_path / "latch.yaml"
    path.write_text(LATCH)
    ended = whence("tests", path, "--kind", "state", "--mutate", "--format", "json")
    document = json.loads(ended.out)
    jsonschema.validate(document, TESTS)
    mutation = document["mutation"]
    assert mutation["survived"] > 0
    assert mutation["equivalent"] > 0
    assert len(mutation["mutants"]) == sum(
        mutation[status] for status in ("killed", "survived", "equivalent")
    )
    ended = whence("tests", path, "--kind", "state", "--mutate")
    assert "survived: m" in ended.out
    assert "--kill puts them into the suite" in " ".join(ended.out.split())
    folder = tmp_path / "suite"
    ended = whence("tests", path, "--kind", "state", "--mutate", "--kill", "-o", folder)
    assert "0 survived" in ended.out
    assert "score 100.0 %" in ended.out
    manifest = json.loads((folder / "manifest.json").read_text())
    assert len(manifest["tests"]) == len(document["tests"]) + len(mutation["tests"])
    assert "proved equivalent" in (folder / "index.html").read_text()
    assert whence("run", folder).status == 0
