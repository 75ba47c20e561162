"""The Python API, as docs/api.md tells it."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

import whence
from whence.explore.realize import Realization
from whence.explore.search import Progress

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
DATABASE = EXAMPLES / "database.xml"


@pytest.fixture(scope="module")
def database() -> whence.Model:
    return whence.load(DATABASE)


def test_names() -> None:
    assert {"Model", "WhenceError", "load", "load_text"} <= set(dir(whence))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = whence.nonsense


def test_models(database: whence.Model) -> None:
    assert database.file == str(DATABASE)
    assert database.network.name == "database"
    assert [query.text for query in database.queries] == ["A[] not client.serReceiving or x <= 4"]
    assert database.refused == ()
    assert database.layout.clocks == ("0", "x", "y", "z", "w")


def test_one_query_or_all(database: whence.Model) -> None:
    result = database.check("E<> client.timeout", trace="shortest", realization="latest")
    assert result.verdict == "satisfied"
    assert result.trace is not None
    assert len(result.trace.transitions) == 5
    (violated,) = database.check()
    assert violated.verdict == "violated"
    assert database.check(database.queries[0], trace="none").trace is None
    assert [item.verdict for item in database.check_all(budget="1 states")] == ["unknown"]


def test_realizations(database: whence.Model) -> None:
    """x must exceed 4, so that there is no earliest end; nor is there a latest, as nothing hurries
    in `initial`."""
    ends: list[Fraction] = []
    kinds: tuple[Realization, ...] = ("earliest", "middle", "latest")
    for realization in kinds:
        result = database.check(database.queries[0], realization=realization, verify=True)
        assert result.trace is not None
        ends.append(result.trace.duration)
    assert ends[0] == Fraction(9, 2)
    assert ends[1] == (ends[0] + ends[2]) / 2
    assert ends[2] > ends[0]


def test_progress() -> None:
    seen: list[Progress] = []
    result = whence.load(EXAMPLES / "train_gate.xml").check("A[] true", progress=seen.append)
    assert 0 < seen[0].states <= result.states


def test_settings_that_do_not_exist(database: whence.Model) -> None:
    with pytest.raises(whence.WhenceError, match="there is no setting `colour`"):
        database.check(colour="red")  # type: ignore[call-overload]


def test_texts_and_refused_queries() -> None:
    text = DATABASE.read_text(encoding="utf-8")
    model = whence.load_text(text.replace("A[] not client", "Pr[&lt;=9] &lt;&gt; client"))
    assert model.file == "model.xml"
    assert model.queries == ()
    ((source, error),) = model.refused
    assert source.formula.text.startswith("Pr")
    assert "statistical" in error.render()
    with pytest.raises(whence.WhenceError, match="statistical"):
        model.check_all()
    with pytest.raises(whence.WhenceError, match=r"m\.xta:1:"):
        whence.load_text("nonsense", "m.xta")


def test_textual_models_and_their_queries() -> None:
    model = whence.load(EXAMPLES / "traffic_light.xta")
    assert [query.kind for query in model.queries] == ["A[]", "E<>", "sup"]
    other = whence.load(DATABASE, queries=EXAMPLES / "traffic_light.q")
    assert len(other.refused) == 3


def test_traces_go_to_files_and_come_back(database: whence.Model, tmp_path: Path) -> None:
    (result,) = database.check()
    assert result.trace is not None
    replayed = database.replay(result.trace)
    assert replayed.ok
    assert replayed.states[-1].clocks[1] > 4
    for name in ("trace.json", "trace.xml"):
        database.save_trace(result.trace, tmp_path / name, result.query)
        (recorded,) = database.traces(tmp_path / name)
        assert recorded.trace.transitions == result.trace.transitions
        assert database.replay(recorded.trace).ok
    # UPPAAL's format holds neither delays nor what was asked.
    (plain,) = database.traces(tmp_path / "trace.json")
    assert plain.trace.delays == result.trace.delays
    assert plain.query == result.query


def test_confirm_looks_at_the_end(database: whence.Model) -> None:
    (result,) = database.check()
    assert result.trace is not None
    assert database.confirm(database.queries[0], result.trace).ok
    for text, reason in (
        ("A[] true", "holds, which is no violation,"),
        ("E<> client.timeout", "does not hold"),
    ):
        replayed = database.confirm(database.query(text), result.trace)
        assert not replayed.ok
        assert reason in replayed.reason


def test_reports(database: whence.Model, tmp_path: Path) -> None:
    results = database.check()
    page = database.report(results)
    assert "client" in page
    database.save_report(results, tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == page
    document = database.to_json(results)
    assert document["schema"] == "check/1"
    assert document["queries"][0]["verdict"] == "violated"
