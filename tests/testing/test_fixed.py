"""Fixed-point numbers, against fractions."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.testing.support import model, values

from whence.expr.scope import Problem
from whence.formats.charts.write import write_chart as write_chart
from whence.formats.charts.yaml import read_chart
from whence.source import InputError
from whence.testing.execute import ExecuteSettings, Executor
from whence.testing.generate import GenerateSettings, generate
from whence.testing.semantics.simulator import Illegal, Simulator
from whence.testing.systems.spec import parse_system
from whence.testing.values import as_native, number_of, observed

HEATER = """\
variables:
  t: "input fixed[-40,60,0.5]"
  target: "fixed[0,40,0.1] = 21.5"
  power: "output fixed[0,5,1/8]"
machines:
  M:
    initial: Off
    states: {Off: {do: power = 0}, On: {do: power = 0.25 * (target - t)}}
    transitions:
      - {from: Off, to: On, when: t < target - 1.5}
      - {from: On, to: Off, when: "t >= target || t < target - 20"}
"""


def test_a_heater() -> None:
    """0.25 * (21.5 - 19) is 0.625, which is five eighths; 21.5 - 1.5 is 20."""
    found = model(HEATER)
    simulator = Simulator(found)
    t = found.having("input")[0]
    for text, place, power in (("20", 1, 0), ("19.5", 2, 4), ("19", 2, 5), ("-40", 1, 0)):
        state = simulator.initial([number_of(t, text)])
        for _ in range(10):
            state = simulator.step(state) or state
            if text == "-40" and values(found, state)["state of M"] == 1:
                break
        assert (state[0], values(found, state)["power"]) == (place, power)


def test_suites_with_fixed_point_numbers_run() -> None:
    chart = read_chart(HEATER, "heater.yaml")
    suite = generate(model(HEATER), GenerateSettings(kinds=("state", "transition", "boundary")))
    assert suite.count("open") == 0
    executor = Executor(chart, parse_system("model"), ExecuteSettings())
    assert {executor.run(test).verdict for test in suite.tests} <= {"pass", "error"}
    inputs = {one.value for test in suite.tests for one in test.inputs}
    assert {"-40", "60"} <= inputs
    labels = [goal.ident for goal in suite.goals if goal.kind == "boundary"]
    assert labels[0] == "boundary t == -40"


def test_what_systems_say() -> None:
    power = model(HEATER).having("output")[0]
    assert observed(power, 0.625) == 5
    assert observed(power, 2) == 16
    assert observed(power, 0.6) == Fraction(0.6) * 8
    target = next(v for v in model(HEATER).variables if v.name == "target")
    assert (target.initial, target.scale, target.shown(215)) == (215, 10, "43/2")
    # Tenths are no binary fractions.
    assert observed(target, 0.1 + 0.2) == 3
    assert as_native(power, 5) == 0.625


def test_the_type_is_written_as_it_is_read() -> None:
    chart = read_chart(HEATER, "heater.yaml")
    assert read_chart(write_chart(chart), "again.yaml").variables[2].type == chart.variables[2].type


@pytest.mark.parametrize(
    ("type_", "said"),
    [
        ("fixed[0,1,0.3]", "expected 1/k"),
        ("fixed[0,0.25,0.5]", "no multiples of the step"),
        ("fixed[3,1,1]", "is empty"),
        ("fixed[0,1,1/0]", "a step of 1/0"),
        ("fixed[0,900000000,1/8]", "does not fit into 32 bits"),
        ("fixed[0,1,0.5] = 0.3", "is no multiple of 1/2"),
        ("fixed[0,1,0.5] = x", "expected a number"),
        ("constant fixed[0,1,0.5]", "constant"),
        ("fixed[0,1]", "unknown type"),
    ],
)
def test_bad_types(type_: str, said: str) -> None:
    text = f"variables: {{x: '{type_}'}}\nmachines: {{M: {{initial: P, states: {{P: {{}}}}}}}}\n"
    with pytest.raises((InputError, Problem)) as caught:
        model(text)
    assert said in str(caught.value)


@pytest.mark.parametrize("expression", ["x % 2", "x / y", "x << 1", "x & 1"])
def test_what_has_no_meaning_is_refused(expression: str) -> None:
    with pytest.raises(InputError, match="of fixed-point numbers"):
        model(CHART.replace("VALUE", expression))


CHART = """\
variables:
  x: "input fixed[-8,8,0.5]"
  y: "input fixed[-3,3,0.1]"
  n: "input int[-4,4]"
  z: "output fixed[-1000,1000,1/4]"
  b: output bool
machines: {M: {initial: P, states: {P: {entry: "z = VALUE; b = CONDITION"}}}}
"""
atoms = st.sampled_from(["x", "y", "n", "0.5", "2.25", "3", "1.10"])


@st.composite
def expressions(draw: st.DrawFn, depth: int = 3) -> str:
    if not depth or draw(st.integers(0, 3)) == 0:
        return draw(atoms)
    left, right = draw(expressions(depth - 1)), draw(expressions(depth - 1))
    if draw(st.integers(0, 5)) == 0:
        return f"(-{left})"
    return f"({left} {draw(st.sampled_from(['+', '-', '*']))} {right})"


@given(
    expressions(), expressions(2), expressions(2), st.sampled_from(["<", "<=", "==", "!=", ">"]),
    st.integers(-16, 16), st.integers(-30, 30), st.integers(-4, 4),
)  # fmt: skip
def test_against_fractions(
    value: str, left: str, right: str, op: str, x: int, y: int, n: int
) -> None:
    """Exact, but for what is assigned: that is rounded towards 0."""
    text = CHART.replace("VALUE", value).replace("CONDITION", f"{left} {op} {right}")
    try:
        found = model(text)
    except InputError as error:
        # Products of many tenths.
        assume("step of 1/" not in str(error))
        raise
    simulator = Simulator(found)
    try:
        state = simulator.step(simulator.initial([x, y, n]))
    except Illegal as illegal:
        assume(illegal.kind not in ("range", "fault"))
        raise
    assert state is not None
    names = {"x": Fraction(x, 2), "y": Fraction(y, 10), "n": Fraction(n)}

    def of(expression: str) -> Fraction:
        parts = []
        for word in expression.replace("(", " ( ").replace(")", " ) ").replace("-", " - ").split():
            parts.append(f"Fraction('{word}')" if word[0].isdigit() else word)
        return Fraction(eval(" ".join(parts), {"Fraction": Fraction, **names}))

    exact = of(value) * 4
    rounded = abs(exact.numerator) // exact.denominator * (1 if exact >= 0 else -1)
    assert values(found, state)["z"] == rounded
    assert values(found, state)["b"] == eval(f"a {op} b", {"a": of(left), "b": of(right)})
