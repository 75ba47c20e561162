"""Static checks: what is wrong with a chart whatever tests are wanted."""

from __future__ import annotations

import pytest
from tests.testing.support import TURN_INDICATOR, model, shared

from whence.api.tests import load_timed_chart
from whence.formats.charts.xmi import read_xmi_file
from whence.formats.charts.yaml import read_chart, read_chart_file
from whence.source import Diagnostic, InputError, UnsupportedError
from whence.testing.checks import check_model, widened
from whence.testing.elaborate import elaborate
from whence.testing.generate import generate


def told(findings: tuple[Diagnostic, ...]) -> list[tuple[int, str]]:
    return [(one.origin.line, one.message) for one in findings]


def test_the_defects_of_the_example_made_for_rt_tester_are_found() -> None:
    """Known from its authors' profile: `ctr` is restricted to [1,1] with default 0, `tilOld` to
    0..1 and assigned from 0..2, and FLASHING's two transitions overlap without a priority."""
    chart = read_xmi_file(shared("charts/rttesterexample.xmi"))
    found = told(check_model(elaborate(chart)))
    lines = dict(found)
    assert "the default 0 of `ctr` is outside its range 1 to 1" in lines[215]
    assert "two transitions of `OUTPUT_CTRL.FLASHING` can be enabled together" in lines[265]
    assert "`FLASH_CTRL.tilOld` can be assigned a value outside its range 0 to 1" in lines[176]
    # Its assignments are outside of that range, too: 0 twice, and one more than before.
    assert [line for line, text in found if "OUTPUT_CTRL.ctr` can be assigned" in text] == [
        256,
        270,
        289,
    ]
    assert len(found) == 6


def test_widened_ranges_are_told() -> None:
    chart, notes = widened(read_xmi_file(shared("charts/rttesterexample.xmi")))
    assert [one.message for one in notes] == [
        "the range 0 to 1 of `FLASH_CTRL.tilOld` is taken for 0 to 2",
        "the range 1 to 1 of `OUTPUT_CTRL.ctr` is taken for 0 to 2147483647",
    ]
    found = told(check_model(elaborate(chart)))
    assert [line for line, _ in found] == [265]


def test_the_shipped_example_has_no_finding() -> None:
    assert check_model(elaborate(read_chart_file(TURN_INDICATOR))) == ()


RACE = """\
variables: {i: "input int[0,2]", x: "int[0,5]"}
machines:
  M: {initial: P, states: {P: {do: x = i}}}
  N:
    initial: P
    states: {P: {}, Q: {}}
    transitions: [{from: P, to: Q, when: i == 2, do: x = VALUE}]
"""


@pytest.mark.parametrize(("value", "races"), [("i", False), ("2", False), ("1", True)])
def test_racing_writes(value: str, races: bool) -> None:
    found = told(check_model(model(RACE.replace("VALUE", value))))
    expected = [(7, "`x` can be assigned two different values in one step")]
    assert found == (expected if races else [])


@pytest.mark.parametrize(
    ("first", "second", "overlap"),
    [
        ("i < 1", "i > 1", False),
        ("i <= 1", "i >= 1", True),
        ("i <= 1", "x > 0", False),  # the bounds of x are looked at
    ],
)
def test_overlapping_guards(first: str, second: str, overlap: bool) -> None:
    found = check_model(
        model(
            f"""\
variables: {{i: "input int[0,2]", x: "int[0,5]"}}
machines:
  M:
    initial: P
    states: {{P: {{}}, Q: {{}}, R: {{entry: x = 0}}}}
    transitions:
      - {{from: P, to: Q, when: {first}}}
      - {{from: P, to: R, when: {second}}}
"""
        )
    )
    assert [one.origin.line for one in found] == ([8] if overlap else [])


def test_zeno_loops_are_found_with_their_place() -> None:
    found = generate(
        model(
            """\
variables: {i: input bool}
machines:
  M:
    initial: P
    states: {P: {}, Q: {}}
    transitions: [{from: P, to: Q, when: i}, {from: Q, to: P, when: i}]
"""
        )
    )
    messages = [one.message for one in found.findings]
    assert any("a Zeno loop" in text and "M." in text for text in messages)


def test_requirements_that_nothing_satisfies() -> None:
    text = "machines: {M: {initial: P, states: {P: {}}}}\nrequirements: {R: text}\n"
    (found,) = check_model(model(text))
    assert (found.severity, found.message) == ("warning", "nothing satisfies the requirement `R`")


@pytest.mark.parametrize(
    ("change", "kind", "said"),
    [
        (("when: i == 2", "on: tick"), UnsupportedError, "the trigger `tick`"),
        (("do: x = VALUE", "do: send tick to M"), UnsupportedError, "sending the message `tick`"),
        (("do: x = VALUE", "do: i = 1"), InputError, "assigns to the input `i`"),
        (("i == 2", "k == 2"), InputError, "unknown name `k`"),
        (("i == 2", '"elapsed(x, 3)"'), InputError, "`elapsed` of what is no timer"),
        (("i == 2", "i / 0 == 1"), InputError, "division by zero"),
        (("Q: {}", "Q: {kind: choice}"), UnsupportedError, "the choice `Q`"),
        (("Q: {}", "Q: {kind: history}"), UnsupportedError, "the history `Q`"),
        (("do: x = VALUE", "rate: 3"), UnsupportedError, "a rate"),
        (('x: "int[0,5]"', "x: timer"), UnsupportedError, "an assignment to the timer `x`"),
    ],
)
def test_what_is_refused_names_the_construct(
    change: tuple[str, str], kind: type[InputError], said: str
) -> None:
    text = RACE.replace(*change).replace("VALUE", "1")
    with pytest.raises(kind) as caught:
        elaborate(read_chart(text, "bad.yaml"))
    assert said in caught.value.render()
    assert "bad.yaml:" in caught.value.render()


def test_floating_point_inputs_are_compared_exactly() -> None:
    """All values between two whole numbers are alike where only whole numbers are compared with."""
    found = model(
        """\
variables: {u: {type: "float[0.5,3]", role: input}}
machines:
  M:
    initial: P
    states: {P: {}, Q: {}}
    transitions: [{from: P, to: Q, when: u > 1 && u < 2}]
"""
    )
    (u,) = found.variables
    assert u.limits == (1, 6)
    assert [u.shown(value) for value in range(1, 7)] == ["1/2", "1", "3/2", "2", "5/2", "3"]
    suite = generate(found)
    assert suite.count("covered") == len(suite.goals)


def test_files_of_other_kinds_are_refused(tmp_path: object) -> None:
    with pytest.raises(InputError, match="no chart"):
        load_timed_chart(TURN_INDICATOR.parent / "fischer.xml")
