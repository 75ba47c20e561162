"""Floating-point numbers in charts: all semantics against each other, and against a C compiler."""

from __future__ import annotations

import math
import shutil
import subprocess
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.testing.support import model, shared, values

from whence.expr.ieee import from_ordinal, ordinal, ordinal_of_text
from whence.expr.scope import Problem
from whence.formats.c_interface import header, header_name
from whence.formats.charts.write import write_chart
from whence.formats.charts.xmi import read_xmi_file
from whence.formats.charts.yaml import read_chart
from whence.report.suite_forms import rendered
from whence.solve.frames import Answer, Frames, Holds
from whence.source import InputError
from whence.testing.checks import check_model, widened
from whence.testing.elaborate import elaborate
from whence.testing.execute import ExecuteSettings, Executor
from whence.testing.generate import GenerateSettings, generate
from whence.testing.goals import goals_of
from whence.testing.interface import interface_of
from whence.testing.logic import both, compare, negation, number, read
from whence.testing.model import TimedModel
from whence.testing.mutants import mutants_of
from whence.testing.part import system_part
from whence.testing.runs import Runs
from whence.testing.semantics.abstract import AbstractInterpreter
from whence.testing.semantics.relation import Relation
from whence.testing.semantics.simulator import Illegal, Simulator
from whence.testing.systems.spec import parse_system
from whence.testing.values import alike, as_native, number_of, observed
from whence.testing.walks import Walker

CC = shutil.which("cc") or shutil.which("gcc")
needs_cc = pytest.mark.skipif(CC is None, reason="there is no C compiler")

MONITOR = """\
chart: monitor
variables:
  speed: "input float32"
  limit: "input float32[0,300]"
  margin: output double
  warn: output bool
  level: "output int[-1000,1000]"
machines:
  M:
    initial: Fine
    states:
      Fine: {do: "warn = false, margin = 0.1 * limit - speed, level = 0"}
      Over: {do: "warn = true, margin = limit / 3 - speed, level = limit / 7"}
    transitions:
      - {from: Fine, to: Over, when: speed > limit * 1.1f && speed < 1.0e6}
      - {from: Over, to: Fine, when: "!(speed > limit)"}
"""
MONITOR_IN_C = """\
#include "monitor.h"
static bool over;
void monitor_step(uint32_t ms, const monitor_inputs *in, monitor_outputs *out)
{
    (void)ms;
    if (!over && in->speed > in->limit * 1.1f && in->speed < 1.0e6) over = true;
    else if (over && !(in->speed > in->limit)) over = false;
    out->warn = over;
    out->margin = over ? (double)(in->limit / 3 - in->speed) : 0.1 * in->limit - in->speed;
    out->level = over ? (int)(in->limit / 7) : 0;
}
void monitor_reset(const monitor_inputs *in, monitor_outputs *out)
{
    over = false;
    monitor_step(0, in, out);
}
"""
SUM = """\
variables: {speed: input float32, limit: "input float32[0,300]"}
machines:
  M:
    initial: Fine
    states: {Fine: {}, Over: {}}
    transitions: [{from: Fine, to: Over, when: WHAT}]
"""
#: All kinds of conversions, and values that do not stay in their ranges.
MIXED = """\
variables:
  x: "input float32[-100,100]"
  w: "input float64"
  n: "input int[-9,9]"
  q: "input fixed[-8,8,0.5]"
  a: "output float32[-1000,1000]"
  b: "output float64 = -0"
  c: "output int[-200,200]"
  d: "output fixed[-90,90,1/4]"
  e: output bool
machines:
  M:
    initial: P
    states:
      P: {do: "a = x + n <? q"}
      Q: {do: "b = w - x, c = x * n", exit: "e = x"}
      R: {entry: "d = x * 0.5, a = w"}
    transitions:
      - {from: P, to: Q, when: x < n || w > 0.1}
      - {from: Q, to: R, when: "x >= q && !(w == b)"}
      - {from: R, to: P, when: "-x != a"}
"""


def free_values(found: TimedModel, random: Random) -> list[int]:
    result = []
    for v in found.variables:
        if not v.free:
            continue
        low, high = v.limits
        value = random.randint(low, high)
        if v.ieee is not None:
            texts = ("0", "-0", "1", "0.1", "-2.5", "nan", "inf", str(random.randint(-99, 99)))
            value = min(max(ordinal_of_text(random.choice(texts), v.ieee), low), high)
        result.append(value)
    return result


@given(st.integers(0, 2**32), st.sampled_from([MONITOR, MIXED]))
@settings(max_examples=4, deadline=None)
def test_steps_are_those_that_phi_admits(seed: int, text: str) -> None:
    found, random = model(text), Random(seed)
    simulator, relation = Simulator(found), Relation(found)
    frames = Frames(
        relation.state, relation.primed, relation.auxiliary, relation.definitions, relation.step
    )
    frames.extend()
    state = simulator.initial(free_values(found, random))
    for _ in range(6):
        begin = frames.selector()
        frames.start_from(dict(zip(relation.state, state, strict=True)), begin)
        try:
            after = simulator.step(state)
        except Illegal:
            assert frames.ask((begin,), 1, 10**8) is Answer.IMPOSSIBLE
            return
        discrete = after is not None
        if after is None:
            after = simulator.wait(state, 1, free_values(found, random))
        there = both(
            compare("==", read(symbol), number(value))
            for symbol, value in zip(relation.state, after, strict=True)
        )
        hit, miss = frames.selector(), frames.selector()
        frames.require(Holds(there, 1), hit)
        frames.require(Holds(negation(there), 1), miss)
        assert frames.ask((begin, hit), 1, 10**8) is Answer.POSSIBLE
        if discrete:
            assert frames.ask((begin, miss), 1, 10**8) is Answer.IMPOSSIBLE
        state = after


@given(st.integers(0, 2**32), st.sampled_from([MONITOR, MIXED]))
@settings(max_examples=40, deadline=None)
def test_concrete_states_are_inside_the_abstract_ones(seed: int, text: str) -> None:
    found, random = model(text), Random(seed)
    simulator, interpreter = Simulator(found), AbstractInterpreter(found)
    invariant = interpreter.invariant()
    state = simulator.initial(free_values(found, random))
    abstract = interpreter.initial()
    for _ in range(20):
        assert state in abstract
        assert state in invariant
        alone = interpreter.step(interpreter.of(state))
        try:
            after = simulator.step(state)
        except Illegal:
            return
        state = after or simulator.wait(state, 1, free_values(found, random))
        assert state in alone
        abstract = interpreter.step(abstract)


# ------------------------------------------------------------------------------ texts, against C


@st.composite
def texts(draw: st.DrawFn, depth: int = 3) -> str:
    """With a floating-point number in each part, so that C computes all of it with such."""
    if not depth or draw(st.integers(0, 4)) == 0:
        return draw(st.sampled_from(["x", "y", "d"]))
    left = draw(texts(depth - 1))
    if draw(st.integers(0, 6)) == 0:
        return f"(-{left})"
    constants = ["0.1", "0.5", "3", "2.7f", "1.5e2", "n", "n / 2", "7.25"]
    right = draw(st.sampled_from(constants)) if draw(st.booleans()) else draw(texts(depth - 1))
    if draw(st.booleans()):
        left, right = right, left
    return f"({left} {draw(st.sampled_from(['+', '-', '*', '/']))} {right})"


NUMBERS = ("0", "-0", "1", "-3.75", "0.1", "inf", "-inf", "nan", "1e-40", "3e38", "123456.789")


@needs_cc
def test_texts_mean_what_they_mean_in_c(tmp_path: Path) -> None:
    cases: list[tuple[str, str, list[str], int]] = []

    @given(texts(), texts(2), st.lists(st.sampled_from(NUMBERS), min_size=3, max_size=3),
           st.integers(-9, 9), st.sampled_from(["<", "<=", "==", "!=", ">", ">="]))  # fmt: skip
    @settings(max_examples=120, deadline=None, database=None)
    def collect(one: str, other: str, inputs: list[str], n: int, op: str) -> None:
        cases.append((one, f"{one} {op} {other}", inputs, n))

    collect()
    lines = ["#include <stdio.h>", "#include <math.h>", "int main(void) {"]
    for one, condition, inputs, n in cases:
        x, y, d = (
            {"nan": "NAN", "inf": "INFINITY", "-inf": "-INFINITY"}.get(text, repr(float(text)))
            for text in inputs
        )
        lines.append(
            f"{{ volatile float x = {x}, y = {y}; volatile double d = {d}; volatile int n = {n};"
            f"(void)x; (void)y; (void)d; (void)n; float r = {one}; double s = {one};"
            f'printf("%a %a %d\\n", r, s, {condition}); }}'
        )
    source, program = tmp_path / "c.c", tmp_path / "c"
    source.write_text("\n".join((*lines, "}", "")))
    assert CC is not None
    flags = ["-std=c11", "-O0", "-ffp-contract=off"]
    subprocess.run([CC, *flags, str(source), "-o", str(program)], check=True)
    printed = subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout
    for (one, condition, inputs, n), line in zip(cases, printed.splitlines(), strict=True):
        chart = (
            "variables: {x: input float32, y: input float, d: input double, "
            "n: 'input int[-9,9]', r: output float, s: output double, c: output bool}\n"
            f"machines: {{M: {{initial: P, states: {{P: {{entry: 'r = {one}, s = {one}, "
            f"c = {condition}'}}}}}}}}\n"
        )
        found = model(chart)
        simulator = Simulator(found)
        free = [number_of(v, t) for v, t in zip(found.having("input"), [*inputs, n], strict=True)]
        after = simulator.step(simulator.initial([*map(int, free)]))
        assert after is not None
        r, s, c = line.split()
        expected = [ordinal(float.fromhex(r), 32), ordinal(float.fromhex(s), 64), int(c)]
        assert [values(found, after)[name] for name in "rsc"] == expected, (one, condition, inputs)


def test_conversions() -> None:
    """To whole and fixed-point numbers towards 0; what does not fit has no value."""
    found = model(
        "variables: {x: input double, n: 'output int[-100,100]', q: 'output fixed[-9,9,1/4]', "
        "b: output bool, u: output uint8}\n"
        "machines: {M: {initial: P, states: {P: {entry: 'n = x, q = x, b = x, u = x'}}}}\n"
    )
    simulator = Simulator(found)
    x = found.having("input")[0]
    for text, n, q, b, u in (("-2.9", -2, -11, 1, 254), ("0.3", 0, 1, 1, 0), ("-0", 0, 0, 0, 0)):
        after = values(found, simulator.step(simulator.initial([number_of(x, text)])) or ())
        assert [after[name] for name in "nqbu"] == [n, q, b, u]
    for text in ("nan", "inf", "1e10"):
        with pytest.raises(Illegal) as caught:
            simulator.step(simulator.initial([number_of(x, text)]))
        assert caught.value.kind == "fault"


# ----------------------------------------------------------------------------- tests, and systems


def test_goals_of_floating_point_guards() -> None:
    """Boundary values are neighbours; the constant with 64 bits lies between two with 32."""
    chart = MONITOR.replace("speed < 1.0e6", "speed < 0.1 && speed >= 0")
    found = model(chart)
    idents = [goal.ident for goal in goals_of(found, kinds=("boundary", "class", "mcdc"))]
    bounds = [one.removeprefix("boundary speed == ") for one in idents if "y speed" in one]
    assert bounds == ["-inf", "-1e-45", "-0.0", "0.0", "1e-45", "0.099999994", "0.1",
                      "0.10000001", "nan"]  # fmt: skip
    # 0.1f is more than 0.1.
    classes = [one.removeprefix("class speed from ") for one in idents if "class speed" in one]
    assert classes == ["-inf to -1e-45", "-0.0 to 0.099999994", "0.1 to inf", "nan to nan"]
    assert "mcdc M.Fine -> Over: speed > limit * 1.1 is true" in idents


@pytest.fixture(scope="module")
def suite() -> object:
    return generate(model(MONITOR), GenerateSettings())


def test_all_goals_are_covered(suite: object) -> None:
    assert {goal.status for goal in suite.goals} == {"covered"}  # type: ignore[attr-defined]


def test_the_solver_finds_what_walks_do_not() -> None:
    """255.9375 and 255.125 have this sum and this difference."""
    text = SUM.replace("WHAT", "speed + limit == 511.0625 && speed - limit == 0.8125")
    few = GenerateSettings(walks=2000, patience=500, kinds=("state",))
    made = generate(model(text), few)
    assert [goal.status for goal in made.goals] == ["covered", "covered"]
    inputs = {(one.name, one.value) for test in made.tests for one in test.inputs}
    assert {("speed", "255.9375"), ("limit", "255.125")} <= inputs


def test_what_no_number_meets_is_proved() -> None:
    for condition in ("limit > 300.5", "speed < speed", "limit != limit"):
        made = generate(
            model(SUM.replace("WHAT", condition)),
            GenerateSettings(walks=500, patience=500, kinds=("state",)),
        )
        assert [goal.status for goal in made.goals] == ["covered", "unreachable"]


def test_walks_find_values_beside_other_variables() -> None:
    """Two numbers that differ by one in the last place."""
    text = MONITOR.replace("speed > limit * 1.1f && speed < 1.0e6", "speed == limit * 1.1f")
    found = model(text)
    runs = Runs(found, Simulator(found), goals_of(found, kinds=("state",)))
    walker = Walker(runs, Random(1))
    walker.begin()
    walker.walk(20_000, 20_000)
    assert len(runs.covered) == 2


@pytest.mark.parametrize("system", ["model", "python", pytest.param("c", marks=needs_cc)])
def test_systems(system: str, suite: object, tmp_path: Path) -> None:
    chart = read_chart(MONITOR, "monitor.yaml")
    (tmp_path / "monitor.c").write_text(MONITOR_IN_C)
    (tmp_path / "monitor.py").write_text(MONITOR_IN_PYTHON)
    spec = {
        "model": "model",
        "python": f"python:{tmp_path / 'monitor.py'}:Monitor",
        "c": f"c:{tmp_path / 'monitor.c'}",
    }[system]
    executor = Executor(chart, parse_system(spec), ExecuteSettings())
    for test in suite.tests:  # type: ignore[attr-defined]
        run = executor.run(test)
        assert run.verdict == "pass", run.reason
    wrong = MONITOR_IN_C.replace("0.1 *", "0.1f *")
    if system == "c":
        (tmp_path / "monitor.c").write_text(wrong)
        executor = Executor(chart, parse_system(spec), ExecuteSettings())
        verdicts = [executor.run(test) for test in suite.tests]  # type: ignore[attr-defined]
        assert "fail" in {run.verdict for run in verdicts}


MONITOR_IN_PYTHON = """\
import struct

def f32(x):
    try:
        return struct.unpack("f", struct.pack("f", x))[0]
    except OverflowError:
        return float("inf") if x > 0 else -float("inf")

class Monitor:
    def reset(self, inputs):
        self.over = False
        return self.step(0, inputs)

    def step(self, milliseconds, inputs):
        speed, limit = inputs["speed"], inputs["limit"]
        if not self.over and speed > f32(limit * f32(1.1)) and speed < 1e6:
            self.over = True
        elif self.over and not speed > limit:
            self.over = False
        margin = f32(f32(limit / 3) - speed) if self.over else 0.1 * limit - speed
        return {"warn": self.over, "margin": margin, "level": int(limit / 7) if self.over else 0}
"""


@needs_cc
def test_the_c_form(suite: object, tmp_path: Path) -> None:
    interface = interface_of(system_part(model(MONITOR)))
    files = rendered(suite, "c", interface)  # type: ignore[arg-type]
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert "float speed;" in header(interface)
    assert "double margin;" in (tmp_path / header_name(interface)).read_text()
    assert CC is not None
    for source, status in ((MONITOR_IN_C, 0), (MONITOR_IN_C.replace("0.1 *", "0.1f *"), 1)):
        (tmp_path / "monitor.c").write_text(source)
        flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off"]
        subprocess.run(
            [CC, *flags, "suite.c", "monitor.c", "-o", "tests"], check=True, cwd=tmp_path
        )
        ended = subprocess.run([str(tmp_path / "tests")], capture_output=True, text=True)
        assert ended.returncode == status, ended.stdout


def test_what_systems_say() -> None:
    found = model(MONITOR)
    speed, margin = found.having("input")[0], found.having("output")[0]
    assert as_native(speed, number_of(speed, "0.1")) == 0.10000000149011612
    assert observed(margin, 0.1) == ordinal(0.1, 64)
    assert observed(margin, 3) == ordinal(3.0, 64)
    for said in (math.nan, "nan", "NaN"):
        assert alike(margin, observed(margin, math.nan), observed(margin, said), 0)  # type: ignore[arg-type]
    assert alike(margin, 0, -1, 0)  # type: ignore[arg-type]
    assert not alike(margin, ordinal(1.0, 64), ordinal(1.0, 64) + 1, 0)  # type: ignore[arg-type]
    assert alike(margin, ordinal(1.0, 64), ordinal(1.0, 64) + 1, ordinal(1.0, 64))  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------- documents


def test_types_are_written_as_they_are_read() -> None:
    for text in ("float32", "float64", "double", "float", "float32[-1,2.5]", "double[0,1]"):
        chart = read_chart(
            f"variables: {{x: '{text}'}}\nmachines: {{M: {{initial: P, states: {{P: {{}}}}}}}}\n",
            "a.yaml",
        )
        again = read_chart(write_chart(chart), "again.yaml").variables[0].type
        assert (again.kind, again.bits, again.bounds) == (
            "float", 64 if text[:2] in ("do",) or "64" in text else 32 if "32" in text else 0,
            chart.variables[0].type.bounds,
        )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x % 2", "`%` of floating-point numbers"),
        ("x & 1", "`&` of floating-point numbers"),
        ("sqrt(x)", "sqrt"),
    ],
)
def test_what_has_no_meaning_is_refused(text: str, said: str) -> None:
    chart = (
        "variables: {x: input float32, y: output float32}\n"
        f"machines: {{M: {{initial: P, states: {{P: {{entry: 'y = {text}'}}}}}}}}\n"
    )
    with pytest.raises((InputError, Problem)) as caught:
        model(chart)
    assert said in str(caught.value)


def test_defaults() -> None:
    found = model(
        "variables: {a: 'float32 = 0.1', b: 'double[1,2]', c: 'constant float32 = 2.5', "
        "d: 'output float32[0,1] = 2'}\n"
        "machines: {M: {initial: P, states: {P: {entry: 'a = a + c'}}}}\n"
    )
    assert [v.shown(v.initial) for v in found.variables] == ["0.1", "1.0", "2.0"]
    assert "the default 2.0 of `d` is outside its range -0.0 to 1.0" in str(found.findings)
    simulator = Simulator(found)
    after = simulator.step(simulator.initial([]))
    assert after is not None
    assert from_ordinal(values(found, after)["a"], 32) == 2.5999999046325684


def test_mutants_change_floating_point_operations() -> None:
    told = [mutant.text for mutant in mutants_of(system_part(model(MONITOR)))]
    assert any("speed >= limit * 1.1" in text for text in told)
    assert any("limit + 1.1" in text for text in told)
    assert any("limit * 1.1000001" in text for text in told)


def test_the_speed_and_distance_monitor_has_tests() -> None:
    """All states and transitions; simulation finds them."""
    found = elaborate(read_xmi_file(shared("charts/SpeedAndDistanceMonitoring.uml")))
    kinds = ("state", "transition", "user")
    made = generate(found, GenerateSettings(kinds=kinds, walks=20_000, seconds=5))
    left = [goal for goal in made.goals if goal.status != "covered"]
    assert {goal.kind for goal in left} == {"user"}
    assert all("cannot be read: unknown name" in goal.reason for goal in left)
    assert made.count("covered") == len([g for g in made.goals if g.kind != "user"]) > 40


def test_values_outside_of_bounds_are_found() -> None:
    chart = read_chart(
        "variables: {x: 'input float32[0,9]', y: 'output float32[0,10]'}\n"
        "machines: {M: {initial: P, states: {P: {do: y = x + 1.5f}}}}\n",
        "model.yaml",
    )
    (finding,) = check_model(elaborate(chart))
    assert "outside its range -0.0 to 10.0, for example with x = " in finding.message
    assert widened(chart) == (chart, ())
