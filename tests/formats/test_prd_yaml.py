"""Requirements in YAML: what is read, what is refused and where; the schema fits the reader."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import jsonschema
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from whence.formats.prd.yaml import read_prd, read_prd_file, schema
from whence.model.ecu import Ecu, PrdSystem, Refusal, Timing
from whence.model.prd import Clock, Initial, Variable
from whence.source import InputError

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
FILES = [EXAMPLES / "prd_paper.yaml", EXAMPLES / "ecu_requirements.yaml"]

ECU = """\
ecu: door
timing: {p2: 50 ms}
variables:
  session: {values: [default, extended], initial: default}
  position: 0..255 = 7
services:
  write:
    request: 2E 01 01 <v>
    needs: session == extended else 0x7F, 0x22
    refusals: [0x21, {code: 0x22, when: position > 3}]
    responses: [6E 01 01, {message: 6E 01 02, effects: position = v}]
    p2-star: 2 s
"""


def read(text: str) -> Ecu | PrdSystem:
    return read_prd(text, "m.yaml")


def test_an_ecu() -> None:
    ecu = read(ECU)
    assert isinstance(ecu, Ecu)
    session, position = ecu.variables
    assert (session.names, session.initial) == (("default", "extended"), 0)
    assert (position.low, position.high, position.initial) == (0, 255, 7)
    (service,) = ecu.services
    assert service.timing == Timing(p2=Fraction(1, 20), p2_star=Fraction(2))
    (need,) = service.preconditions
    assert (need.condition.text, need.codes) == ("session == extended", (0x7F, 0x22))
    assert str(need.condition.origin(0)) == "m.yaml:9:12"
    busy, when = service.refusals
    assert busy == Refusal(codes=(0x21,), origin=busy.origin)
    assert (when.codes, when.condition and when.condition.text) == ((0x22,), "position > 3")
    assert [each.text and each.text.text for each in service.responses] == ["6E 01 01", "6E 01 02"]


def test_an_automaton_without_parts() -> None:
    system = read(
        "automaton: a\nunit: ms\nvariables: {n: 0..3}\nclocks: {x: 0, y: 2 s}\n"
        "initial: {p: n == 1}\ntransitions:\n- {from: [p, q], to: q, event: req go, when: x < 5}\n"
    )
    assert isinstance(system, PrdSystem)
    (automaton,) = system.parts
    assert automaton.variables == (Variable("n", 0, 3),)
    assert automaton.clocks == (Clock("x", Fraction(0)), Clock("y", Fraction(2)))
    assert [state.name for state in automaton.states] == ["p", "q"]
    assert [(t.source, t.target) for t in automaton.transitions] == [("p", "q"), ("q", "q")]
    (initial,) = automaton.initial
    assert isinstance(initial, Initial)
    assert initial.state == "p"


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("", "m.yaml:1:1", "expected requirements"),
        ("a: 1", "m.yaml:1:1", "expected requirements"),
        ("ecu: e", "m.yaml:1:1", "an ECU needs `services:`"),
        ("services: {s: {}}", "m.yaml:1:15", "a service needs `request:`"),
        ("services: {s: {request: 10 01, reply: x}}", "m.yaml:1:32", "unknown key `reply`"),
        ("timing: {p2: 50}\nservices: {}", "m.yaml:1:14", "this time has no unit"),
        ("variables: {n: [a, a]}\nservices: {}", "m.yaml:1:20", "`a` stands here twice"),
        ("variables: {n: 5..3}\nservices: {}", "m.yaml:1:16", "this range is empty"),
        ("variables: {n: 0..3 = 4}\nservices: {}", "m.yaml:1:16", "the initial value cannot be 4"),
        ("unknown: 256\nservices: {}", "m.yaml:1:10", "a code from 0x00 to 0xFF"),
        ("services: {s: {request: 10 01, needs: a else 31}}", "m.yaml:1:46", "expected a code"),
        ("parameters: {v: 9..1}\nservices: {}", "m.yaml:1:17", "expected values"),
        ("requirements: {A: x}\nservices: {s: {request: 10 01, requirements: B}}",
         "m.yaml:2:46", "unknown requirement `B`"),
        ("reactions: {r: {after: 2 s, within: 1 s, effects: n = 1}}\nservices: {}",
         "m.yaml:1:16", "`within` is before `after`"),
        ("transitions: []", "m.yaml:1:1", "which state does it start in?"),
        ("initial: q\ntransitions: [{from: p, to: p, event: time}]", "m.yaml:1:10",
         "unknown state `q`"),
        ("initial: p\nstates: [p]\ntransitions: [{from: p, to: r, event: time}]", "m.yaml:3:29",
         "unknown state `r`"),
        ("initial: p\nclocks: [x]\ntransitions: [{from: p, to: p, event: time, when: x < 5}]",
         "m.yaml:3:55", "this time has no unit"),
        ("initial: p\nvariables: {n: 0..3}\n"
         "transitions: [{from: p, to: p, event: 'req a b=<n>'}]",
         "m.yaml:3:39", "`n` is captured here, and is a variable or clock"),
        ("initial: p\ntransitions: [{from: p, to: p, event: time, when: m == 1}]", "m.yaml:2:51",
         "unknown name `m`"),
        ("parts: {a: {initial: p, transitions: []}}\ninitial: p", "m.yaml:2:10",
         "`initial` belongs into the parts"),
        ("services: &a {s: *a}", "m.yaml:1:11", "not supported: anchors"),
        ("services: {s: {request: 10 01, request: 10 02}}", "m.yaml:1:32",
         "`request` stands here twice"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_place(text: str, place: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read(text)
    found = [(str(each.origin), each.message) for each in caught.value.diagnostics]
    assert any(where == place and message in what for where, what in found), found


def test_all_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(InputError) as caught:
        read("services: {s: {}, t: {request: 10 01, p2: 5}, u: 3}\nvariables: {n: x}")
    assert len(caught.value.diagnostics) == 4


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_the_examples_fit_the_schema(path: Path) -> None:
    read_prd_file(path)
    jsonschema.validate(yaml.safe_load(path.read_text()), schema())


def test_the_schema_is_one_and_refuses_what_the_reader_refuses() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())
    validator = jsonschema.Draft202012Validator(schema())
    for text in ("services: {s: {}}", "services: {s: {request: 1, reply: 2}}", "transitions: []"):
        assert not validator.is_valid(yaml.safe_load(text))
        with pytest.raises(InputError):
            read(text)


@settings(max_examples=200)
@given(st.data())
def test_a_damaged_file_is_refused_in_words(data: st.DataObject) -> None:
    lines = data.draw(st.sampled_from(FILES)).read_text().splitlines()
    at = data.draw(st.integers(0, len(lines) - 1))
    change = data.draw(st.sampled_from(["drop", "cut", "insert"]))
    if change == "drop":
        del lines[at]
    elif change == "cut":
        lines[at] = lines[at][: data.draw(st.integers(0, len(lines[at])))]
    else:
        lines.insert(at, data.draw(st.sampled_from(["  x: 1", "- y", "}", "a: [1, 2", "\tq", "&"])))
    try:
        read("\n".join(lines))
    except InputError as error:
        text = error.render()
    else:
        text = ""
    assert "None" not in re.sub(r"`[^`]*`", "", text)
