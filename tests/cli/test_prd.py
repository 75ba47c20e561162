"""`whence prd show`."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
from tests.cli.support import EXAMPLES, Run

from whence.report.prd_schema import PRD

ECU = EXAMPLES / "ecu_requirements.yaml"


def test_an_ecu_is_told_in_words(whence: Run) -> None:
    ended = whence("prd", "show", ECU, "--set", "variant=sport", "--set", "version=2")
    assert ended.status == 0
    assert "variant: variant = sport, version = 2" in ended.out
    for line in (
        "    needs session == extended, else refused with 0x7F",
        "    response 62 01 01 <value> if value == position",
        "  session timeout: if session != default: 5 s to 5.5 s after s3, "
        "then session = default; security = locked [SES-2]",
        "  DAT-2: Only an unlocked ECU in its extended session takes a position.",
    ):
        assert line in ended.out.splitlines()
    assert "nondeterminism: in `restarting`" in ended.out


def test_what_no_service_of_a_variant_cites(whence: Run) -> None:
    line = "DAT-3: The sport variant knows the speed of the window."
    unused = "(nothing of this variant cites it)"
    assert f"{line} {unused}" in whence("prd", "show", ECU).out
    assert f"{line}\n" in whence("prd", "show", ECU, "--set", "variant=sport").out


def test_the_automaton_is_listed(whence: Run) -> None:
    ended = whence("prd", "show", ECU, "--transitions")
    assert "    10 81 -> silent default session, then session = default;" in ended.out
    assert "  await read position, awaits the response to read position [DAT-1]" in ended.out


def test_json(whence: Run) -> None:
    asked = ("prd", "show", ECU, "--set", "variant=sport", "--unfold", "--format", "json")
    found = json.loads(whence(*asked).out)
    jsonschema.validate(found, PRD)
    assert found["parameters"]["variant"] == "sport"
    assert found["unfolded"]["states"] > len(found["states"])
    (initial,) = [state["name"] for state in found["states"] if state["initial"]]
    assert initial == "idle"
    awaiting = {state["name"]: state["awaits"] for state in found["states"] if state["awaits"]}
    assert awaiting["await read position"] == "the response to read position"
    assert any(each["event"] is None and "p2" in each["when"] for each in found["transitions"])
    paper = json.loads(whence("prd", "show", EXAMPLES / "prd_paper.yaml", "--format", "json").out)
    jsonschema.validate(paper, PRD)
    assert paper["parts"] == ["A_E", "A_Delta"]
    assert paper["unfolded"] is None
    assert paper["transitions"][0]["line"] > 0


def test_unfolded(whence: Run) -> None:
    ended = whence("prd", "show", EXAMPLES / "prd_paper.yaml", "--unfold")
    assert ended.status == 0
    assert "unfolded: 2,048 states" in ended.out


def test_wrong_usage(whence: Run, tmp_path: Path) -> None:
    assert whence("prd", "show", tmp_path / "none.yaml").status == 2
    ended = whence("prd", "show", ECU, "--set", "variant")
    assert (ended.status, "is not of the form NAME=VALUE" in ended.err) == (2, True)
    ended = whence("prd", "show", ECU, "--set", "variant=red")
    assert (ended.status, "it can be base, sport" in ended.err) == (2, True)
    ended = whence("prd", "show", EXAMPLES / "prd_paper.yaml", "--set", "a=1")
    assert (ended.status, "a plain automaton has no parameters" in ended.err) == (2, True)


def test_a_model_that_contradicts_itself(whence: Run, tmp_path: Path) -> None:
    path = tmp_path / "m.yaml"
    path.write_text("services:\n  s: {request: 10 01, effects: sesion = 1}\n")
    ended = whence("prd", "show", path)
    assert ended.status == 2
    assert f"{path}:2:32: error: `sesion` is neither a variable nor a clock" in ended.err


def test_names_do_not_command_the_terminal(whence: Run, tmp_path: Path) -> None:
    path = tmp_path / "m.yaml"
    path.write_text('ecu: "\\e[31mred"\nservices:\n  s: {request: 10 01}\n')
    ended = whence("prd", "show", path)
    assert ended.status == 0
    assert "\x1b" not in ended.out
