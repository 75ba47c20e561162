"""`whence causes`: what it prints, writes and returns. The analysis itself is tested elsewhere."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from tests.cli.support import DATABASE, EXAMPLES, Run

RAILROAD = EXAMPLES / "railroad.yaml"


def test_causes_are_listed(whence: Run) -> None:
    ended = whence("causes", RAILROAD)
    assert (ended.status, ended.err) == (1, "")
    assert "62 causal traces" in ended.out
    assert "1. 5 events in 20 orders" in ended.out
    assert "Gf (undetected failure)" in ended.out


def test_json(whence: Run) -> None:
    ended = whence("causes", RAILROAD, "--non-occurrence", 1, "--format", "json")
    document = json.loads(ended.out)
    assert document["schema"] == "causes/1"
    assert document["deterministic"] is True
    assert [cause["traces"] for cause in document["causes"]] == [8, 12, 12, 12, 18]
    first = document["causes"][0]
    assert first["actions"] == ["Ca", "Cc", "Gf", "Ta", "Tc"]
    assert first["absent"] == [{"action": "Tl", "after": 4, "before": 1}]
    assert [0, 1] in first["order"]
    assert first["class"] == "single-point"
    assert document["cut_sets"][0]["events"] == [{"action": "Gf", "occurrence": 1}]


@pytest.mark.parametrize(
    ("hazard", "status", "said"),
    [
        ("Train.Tc && Car.Cc", 1, "4 causes"),
        ("Train.Tc && Gate.open && false", 0, "cannot come about"),
        ("Train.Tc || true", 1, "there from the start"),
    ],
)
def test_hazards(whence: Run, hazard: str, status: int, said: str) -> None:
    ended = whence("causes", RAILROAD, "--hazard", hazard)
    assert ended.status == status
    assert said in ended.out


def test_temporal_hazards(whence: Run) -> None:
    ended = whence("causes", RAILROAD, "--ltl", "G !(Train.Tc && Car.Cc)")
    assert ended.status == 1
    assert "62 causal traces" in ended.out


def test_liveness_is_refused(whence: Run) -> None:
    ended = whence("causes", RAILROAD, "--ltl", "F (Train.Tc)")
    assert ended.status == 2
    assert "safety" in ended.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--hazard", "Train.Nowhere"), "Nowhere"),
        (("--hazard", "accident", "--ltl", "G (Train.Tc)"), "not both"),
        (("--time", "1h"), "no rates"),
        (("--time", "soon"), "is no time"),
        (("-o", "tree.pdf"), ".dft"),
        (("--budget", "never"), "no number"),
    ],
)
def test_what_is_wrong_is_said(whence: Run, arguments: tuple[str, ...], said: str) -> None:
    ended = whence("causes", RAILROAD, *arguments)
    assert ended.status == 2
    assert said in ended.err


def test_a_limit_on_the_depth_is_told(whence: Run) -> None:
    ended = whence("causes", RAILROAD, "--depth", 5)
    assert ended.status == 3
    assert "1. 5 events in 20 orders" in ended.out
    assert "All causes of up to 5 events are here" in ended.out


def test_fault_trees_are_written(whence: Run, tmp_path: Path) -> None:
    names = ["tree.dft", "tree.xml", "tree.dot", "causes.csv", "causes.json", "report.html"]
    options = [word for name in names for word in ("-o", str(tmp_path / name))]
    ended = whence("causes", RAILROAD, *options)
    assert ended.status == 1
    texts = {name: (tmp_path / name).read_text() for name in names}
    assert "pand" in texts["tree.dft"]
    assert "<opsa-mef" in texts["tree.xml"]
    assert "digraph" in texts["tree.dot"]
    assert "<svg" in texts["report.html"]
    assert "One of its runs" in texts["report.html"]
    assert json.loads(texts["causes.json"])["causal_traces"] == 62


def test_no_fault_tree_without_a_cause(whence: Run, tmp_path: Path) -> None:
    path = tmp_path / "tree.dft"
    ended = whence("causes", RAILROAD, "--hazard", "false", "-o", path)
    assert ended.status == 2
    assert not path.exists()


def test_timed_automata(whence: Run) -> None:
    """The hazard is what the model's query forbids; the timeout cannot come before the answer."""
    ended = whence("causes", DATABASE, "--hazard", "client.timeout")
    assert ended.status == 1
    assert "client.serReceiving->timeout" in ended.out


def test_a_plain_transition_system(whence: Run, tmp_path: Path) -> None:
    path = tmp_path / "system.aut"
    path.write_text('des (0, 3, 4)\n(0, "a", 1)\n(1, "b", 2)\n(0, "b", 3)\n')
    assert whence("causes", path, "--bad", 2).status == 1
    assert "2. 1 event" not in whence("causes", path, "--bad", "b").out


def test_two_models_side_by_side(whence: Run) -> None:
    unguarded = EXAMPLES / "railroad_unguarded.yaml"
    ended = whence("causes", "compare", RAILROAD, unguarded)
    assert ended.status == 1
    assert "Ca, Cc, Ta, Tc" in ended.out
    both = json.loads(whence("causes", "compare", RAILROAD, unguarded, "--format", "json").out)
    assert [model["causal_traces"] for model in both["models"]] == [62, 3]
    assert whence("causes", RAILROAD, unguarded).status == 2


CHART = """\
chart: lamp
machines:
  Lamp:
    initial: off
    states: {off: {}, lit: {entry: "Led_on()"}}
    transitions: [{from: off, to: lit, on: press}]
hazards: {light: Lamp.lit}
"""


def test_what_a_chart_does_not_say_is_told(whence: Run, tmp_path: Path) -> None:
    """A signal that nobody sends comes from outside; code that it calls is not known."""
    path = tmp_path / "lamp.yaml"
    path.write_text(CHART)
    refused = whence("causes", path)
    assert refused.status == 2
    assert "Led_on" in refused.err
    ended = whence("causes", path, "--ignore-calls")
    assert ended.status == 1
    assert "left out a call: Led_on()" in ended.err
    assert "no machine sends `press`" in ended.err
    assert "1. 1 event in 1 order" in ended.out


RATES = """\
chart: pair
machines:
  A:
    initial: ok
    states: {ok: {}, broken: {failure: true}}
    transitions: [{from: ok, to: broken, rate: 1e-3, failure: true, event: a_breaks}]
  B:
    initial: ok
    states: {ok: {}, broken: {tags: [error]}}
    transitions: [{from: ok, to: broken, rate: 2e-3, failure: true, event: b_breaks}]
"""


def test_marked_states_probabilities_and_prism(whence: Run, tmp_path: Path) -> None:
    """Two units that fail on their own: (1 - exp(-t/1000)) (1 - exp(-t/500))."""
    path = tmp_path / "pair.yaml"
    path.write_text(RATES)
    both = whence("causes", path, "--errors", "all", "--time", "1h", "--format", "json")
    document = json.loads(both.out)
    expected = math.expm1(-1e-3) * math.expm1(-2e-3)
    assert document["probability"] == pytest.approx(expected, rel=1e-12)
    (cause,) = document["causes"]
    assert cause["actions"] == ["a_breaks", "b_breaks"]
    assert cause["class"] == "multiple-point"
    either = json.loads(whence("causes", path, "--errors", "any", "--format", "json").out)
    assert [one["class"] for one in either["causes"]] == ["single-point"] * 2
    program = tmp_path / "pair.prism"
    whence("causes", path, "--errors", "all", "-o", program)
    assert program.read_text().startswith("ctmc")
    assert 'label "bad"' in program.read_text()
    assert whence("causes", RAILROAD, "--errors", "any", "--ltl", "G (Car.Cc)").status == 2
