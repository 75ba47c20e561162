"""`whence repair`: what it prints, writes and returns. The search itself is tested elsewhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.support import DATABASE, EXAMPLES, MODEL, Run
from tests.report.timing_support import BOUND, QUERY, repairs

from whence.api import Limits, Model, load
from whence.formats.uppaal.write import replace_label
from whence.timing.results import Repair, RepairResult

DONE = repairs(verdict="satisfied", trace=None, repairs=())


class Asked:
    """Answers in place of the search, and remembers what it was asked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.result = repairs()
        self.rounds: list[tuple[RepairResult, Repair | None]] = []
        self.query: Any = None
        self.settings: dict[str, Any] = {}
        self.made: list[Repair] = []
        monkeypatch.setattr(Model, "repair", self._repair, raising=False)
        monkeypatch.setattr(Model, "iterate", self._iterate, raising=False)
        monkeypatch.setattr(
            Model, "repaired", lambda model, repair: self._repaired(model, repair), raising=False
        )

    def _repair(self, query: Any = None, **settings: Any) -> RepairResult:
        self.query, self.settings = query, settings
        return self.result

    def _iterate(self, query: Any = None, **settings: Any) -> Any:
        self._repair(query, **settings)
        return self.rounds

    def _repaired(self, model: Model, repair: Repair) -> Model:
        """The bound of `serReceiving` is 1 whatever the repair is."""
        self.made.append(repair)
        return Model(replace_label(model.document, 0, "location", 3, "invariant", BOUND.after))


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    return Asked(monkeypatch)


def test_repairs_are_listed(whence: Run, asked: Asked) -> None:
    ended = whence("repair", DATABASE)
    assert (ended.status, ended.err) == (1, "")
    assert "z <= 3 -> z <= 1" in ended.out
    assert "examples/database.xml:27" in ended.out
    assert asked.query is None
    assert asked.settings == {
        "trace": None,
        "kinds": None,
        "limit": 20,
        "max_changes": 3,
        "labels": "transitions",
        "test": "equal",
        "budget": None,
        "progress": None,
    }


def test_what_is_asked_for_is_passed_on(whence: Run, asked: Asked) -> None:
    whence("repair", DATABASE, "-q", "A[] x <= 4", "--kind", "bound", "--kind", "reset",
           "--limit", 5, "--max-changes", 1, "--labels", "actions",
           "--admissibility", "nothing-lost", "--budget", "5s")  # fmt: skip
    assert asked.query.text == "A[] x <= 4"
    assert asked.settings == {
        "trace": None,
        "kinds": ["bound", "reset"],
        "limit": 5,
        "max_changes": 1,
        "labels": "actions",
        "test": "nothing lost",
        "budget": Limits(seconds=5),
        "progress": None,
    }
    assert {type(kind) for kind in asked.settings["kinds"]} == {str}


@pytest.mark.parametrize(
    ("result", "status", "said"),
    [
        (DONE, 0, "The property holds: nothing to repair."),
        (repairs(repairs=()), 1, "There is no repair of up to 2 changes"),
        (repairs(complete=False, reason="out of time"), 3, "partial: out of time"),
        (
            repairs(verdict="unknown", trace=None, repairs=(), complete=False, reason="no time"),
            3,
            "partial: no time",
        ),
        (repairs(verdict="error", trace=None, repairs=(), reason="x / 0"), 1, "x / 0"),
    ],
)
def test_status(whence: Run, asked: Asked, result: RepairResult, status: int, said: str) -> None:
    asked.result = result
    ended = whence("repair", DATABASE, "--quiet")
    assert (ended.status, ended.err) == (status, "")
    assert said in ended.out
    assert whence("repair", DATABASE, "--format", "json").status == status


def test_a_trace_from_a_file(whence: Run, asked: Asked, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    model = load(DATABASE)
    found = repairs().trace
    assert found is not None
    model.save_trace(found, path, QUERY)
    assert whence("repair", DATABASE, "--trace", path).status == 1
    assert asked.settings["trace"].delays == found.delays
    assert asked.query.text == QUERY


# ---------------------------------------------------------------------------- applying a repair


def test_a_repair_is_applied_and_nothing_else_changes(
    whence: Run, asked: Asked, tmp_path: Path
) -> None:
    path, report = tmp_path / "repaired.xml", tmp_path / "report.html"
    ended = whence("repair", DATABASE, "--apply", 1, "-o", path, "-o", report)
    assert (ended.status, ended.err) == (1, f"wrote {path}\n")
    assert [repair.number for repair in asked.made] == [1]
    before = Path(DATABASE).read_text(encoding="utf-8")
    assert path.read_text(encoding="utf-8") == before.replace("z &lt;= 3", "z &lt;= 1")
    assert "badge satisfied" in report.read_text(encoding="utf-8")
    assert sorted(tmp_path.iterdir()) == [path, report]


def test_a_model_keeps_its_encoding(whence: Run, asked: Asked, tmp_path: Path) -> None:
    text = Path(DATABASE).read_text(encoding="utf-8").replace("utf-8", "iso-8859-1", 1)
    path = tmp_path / "latin.xml"
    path.write_bytes(text.encode("iso-8859-1"))
    repaired = tmp_path / "repaired.xml"
    assert whence("repair", path, "--apply", 1, "-o", repaired).status == 1
    assert "Kölbl".encode("iso-8859-1") in repaired.read_bytes()


@pytest.mark.parametrize(
    ("count", "said"),
    [(5, "there are 5 repairs"), (1, "there is 1 repair"), (0, "there are no repairs")],
)
def test_a_repair_that_is_not_there(
    whence: Run, asked: Asked, tmp_path: Path, count: int, said: str
) -> None:
    asked.result = repairs(repairs=repairs().repairs[:count])
    ended = whence("repair", DATABASE, "--apply", 7, "-o", tmp_path / "repaired.xml")
    assert ended.status == 2
    assert f"--apply 7: {said}" in ended.err
    assert "What to change" in ended.out  # nothing of the answer is lost
    assert list(tmp_path.iterdir()) == []


def test_nothing_to_apply(whence: Run, asked: Asked, tmp_path: Path) -> None:
    asked.result = DONE
    path = tmp_path / "repaired.xml"
    ended = whence("repair", DATABASE, "--apply", 1, "-o", path)
    assert (ended.status, ended.err) == (0, f"no repair was made: {path} is not written\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("-o", "{}/repaired.xml"), "which repair is this model to have?"),
        (("--apply", "1"), "--apply needs a file for the repaired model"),
        (("--apply", "1", "--iterate", "-o", "{}/r.xml"), "give only one of them"),
        (("--iterate", "--trace", "trace.json"), "--iterate searches for the traces itself"),
        (("--apply", "1", "-o", "{}/r.xta"), "repaired models are written as XML"),
        (("--apply", "1", "-o", "{}/nowhere/r.xml"), "there is no folder"),
        (("--kind", "colour"), "colour"),
        (("--limit", "0"), "--limit"),
    ],
)
def test_what_is_wrong_is_said_before_the_work(
    whence: Run, asked: Asked, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    ended = whence("repair", DATABASE, *(part.format(tmp_path) for part in arguments))
    assert (ended.status, ended.out) == (2, "")
    assert said in ended.err
    assert asked.settings == {}


# -------------------------------------------------------------------------------------- iterating


def test_iterating(whence: Run, asked: Asked, tmp_path: Path) -> None:
    result = repairs()
    asked.rounds = [(result, result.repairs[2]), (result, result.repairs[0]), (DONE, None)]
    path, report = tmp_path / "repaired.xml", tmp_path / "report.html"
    ended = whence("repair", DATABASE, "--iterate", "-o", path, "-o", report)
    assert (ended.status, ended.err) == (1, f"wrote {path}\n")
    assert "The property holds after 2 repairs." in ended.out
    assert [repair.number for repair in asked.made] == [3, 1]
    assert path.exists()
    assert "Round 2" in report.read_text(encoding="utf-8")
    document = json.loads(whence("repair", DATABASE, "--iterate", "--format", "json").out)
    assert document["schema"] == "repair/1"
    assert [document["applied"], *(at["applied"] for at in document["rounds"])] == [3, 1, None]


def test_iterating_in_vain(whence: Run, asked: Asked, tmp_path: Path) -> None:
    asked.rounds = [(repairs(repairs=()), None)]
    path = tmp_path / "repaired.xml"
    ended = whence("repair", DATABASE, "--iterate", "-o", path)
    assert (ended.status, ended.err) == (1, f"no repair was made: {path} is not written\n")
    assert "still violated" in ended.out
    asked.rounds = [(DONE, None)]
    assert whence("repair", DATABASE, "--iterate").status == 0
    asked.rounds = [(repairs(complete=False, repairs=()), None)]
    assert whence("repair", DATABASE, "--iterate").status == 3


# ------------------------------------------------------------------------------ on the whole way


def test_a_repaired_model_has_the_property(whence: Run, tmp_path: Path) -> None:
    path = tmp_path / "repaired.xml"
    ended = whence("repair", EXAMPLES / "database_z2.xml", "-q", QUERY, "--iterate", "-o", path)
    assert (ended.status, ended.err) == (1, f"wrote {path}\n")
    assert whence("check", path, "-q", QUERY, "--quiet").status == 0
    assert whence("repair", path, "-q", QUERY, "--quiet").status == 0


def test_models_of_other_formats_can_be_read(whence: Run, asked: Asked, tmp_path: Path) -> None:
    path = tmp_path / "model.xta"
    path.write_text(MODEL, encoding="utf-8")
    asked.result = DONE
    assert whence("repair", path, "-q", "A[] P.A").status == 0
