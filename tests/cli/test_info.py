"""`whence info`: what it says of good models and of bad ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.support import DATABASE, EXAMPLES, MODEL, SHARED, Run

MODELS = SHARED / "uppaal"
FILES = sorted(MODELS.rglob("*.xml"))


def test_the_database(whence: Run) -> None:
    ended = whence("info", DATABASE)
    assert (ended.status, ended.err) == (0, "")
    assert "client: 5 locations, 6 edges; one process" in ended.out
    assert "4: x, y, z, w" in ended.out
    assert "A[] not client.serReceiving or x <= 4" in ended.out


def test_json(whence: Run) -> None:
    ended = whence("info", EXAMPLES / "train_gate.xml", "--format", "json")
    document = json.loads(ended.out)
    assert (ended.status, document["schema"], document["supported"]) == (0, "info/1", True)
    train, gate = document["templates"]
    assert (train["name"], train["locations"], train["edges"]) == ("Train", 5, 6)
    assert train["processes"] == [f"Train({number})" for number in range(4)]
    assert gate["processes"] == ["Gate"]
    assert [item["name"] for item in document["clocks"]] == [
        f"Train({number}).x" for number in range(4)
    ]
    assert {"name": "go", "type": "urgent chan[4]"} in document["channels"]
    assert {"name": "Gate.length", "type": "int[0,4]"} in document["variables"]
    features = {item["name"]: item["count"] for item in document["features"]}
    assert features == {
        "arrays": 5,
        "committed locations": 1,
        "deadlock in queries": 1,
        "functions": 4,
        "selects": 3,
        "urgent channels": 1,
    }
    assert [query["kind"] for query in document["queries"]] == ["A[]", "E<>", "-->", "A[]"]


def test_features(whence: Run, tmp_path: Path) -> None:
    path = tmp_path / "model.xta"
    path.write_text(
        """\
        clock x, y; int[0,9] n; const int K = 3; meta int m; broadcast chan b; chan a;
        typedef scalar[2] s_t; s_t s; struct { int k; } r;
        chan priority a < b;
        process P() {
            state A { x <= n }, B { forall (i : int[0,1]) x <= K + 1 }, C;
            urgent B; commit C; init A;
            trans A -> B { guard x - y < 2; sync b!; };
        }
        process Q() { state A; init A; }
        system P < Q;
        """,
        encoding="utf-8",
    )
    document = json.loads(whence("info", path, "--format", "json").out)
    assert [item["name"] for item in document["features"]] == [
        "broadcast channels",
        "channel priorities",
        "clock differences",
        "committed locations",
        "meta variables",
        "process priorities",
        "quantifiers",
        "scalar sets",
        "structs",
        "symbolic clock bounds",
        "urgent locations",
    ]
    symbolic = next(item for item in document["features"] if item["name"].startswith("symbolic"))
    assert (symbolic["count"], symbolic["line"]) == (1, 5)


def test_unsupported_queries_are_named_and_harm_nobody(whence: Run, tmp_path: Path) -> None:
    path = tmp_path / "model.xta"
    path.write_text(MODEL, encoding="utf-8")
    path.with_suffix(".q").write_text("Pr[<=10](<> P.B)\nE<> P.B\n", encoding="utf-8")
    ended = whence("info", path)
    assert ended.status == 0
    assert "model.q:1:1: error: not supported: statistical queries (`Pr`)" in ended.out
    document = json.loads(whence("info", path, "--format", "json").out)
    assert [query["supported"] for query in document["queries"]] == [False, True]


def test_unsupported_models_are_outlined(whence: Run, tmp_path: Path) -> None:
    path = tmp_path / "model.xta"
    path.write_text(MODEL.replace("clock x;", "hybrid clock x;"), encoding="utf-8")
    ended = whence("info", path, "--format", "json")
    assert ended.status == 2
    document = json.loads(ended.out)
    assert document["supported"] is False
    assert document["templates"][0]["locations"] == 2
    (diagnostic,) = document["diagnostics"]
    assert diagnostic["message"] == "not supported: hybrid clocks"
    assert (diagnostic["line"], diagnostic["column"]) == (1, 1)
    ended = whence("info", path)
    assert ended.status == 2
    assert "cannot be checked: one thing is not supported" in ended.out
    assert f"{path}:1:1: error: not supported: hybrid clocks" in ended.err


@pytest.mark.skipif(not FILES, reason="../shared/data/uppaal is not there")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name[-40:])
def test_models_of_others(whence: Run, path: Path) -> None:
    ended = whence("info", path, "--format", "json")
    assert ended.status in (0, 2)
    document = json.loads(ended.out)
    assert document["supported"] is (ended.status == 0)
    for diagnostic in document["diagnostics"]:
        assert diagnostic["message"]
        assert diagnostic["line"]
