"""Suites are written, read back and run: what the generator expects, the runner admits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from tests.testing.strategies import charts
from tests.testing.support import TURN_INDICATOR

from whence.api import RunOptions, load_timed_chart, open_suite, write_suite
from whence.formats.charts.yaml import read_chart
from whence.formats.suites import read_suite
from whence.model.chart import Chart
from whence.model.suite import Input, TestCase
from whence.source import InputError, UnsupportedError
from whence.testing.elaborate import elaborate
from whence.testing.execute import ExecuteSettings, Executor
from whence.testing.generate import GenerateSettings, generate
from whence.testing.reach import Settings
from whence.testing.systems.spec import parse_system

MODEL = parse_system("model")


@settings(max_examples=15, deadline=None)
@given(charts())
def test_the_model_passes_its_own_tests(chart: Chart) -> None:
    """Whatever inputs come at the dates of timers: the run that the generator made is one of those
    that the oracle follows. Only where a run cannot go on, nothing is judged."""
    try:
        found = elaborate(chart)
    except InputError:
        return
    options = GenerateSettings(
        walks=3000, patience=1000, starts=0, kinds=("state", "transition"), latency=0,
        reach=Settings(bound=2, budget=200_000, cases=0),
    )  # fmt: skip
    suite = generate(found, options)
    try:
        executor = Executor(chart, MODEL, ExecuteSettings())
    except UnsupportedError:
        return
    for test in suite.tests:
        run = executor.run(test)
        if run.verdict == "error":
            assert "no step" in run.reason or "do not end" in run.reason
        else:
            assert run.verdict in ("pass", "inconclusive"), f"{run.reason}\n{test}"


def test_a_run_that_ends_illegally_behind_its_goal_is_a_test() -> None:
    text = """\
variables: {i: input bool, x: "output int[0,3]"}
machines:
  M:
    initial: P
    states: {P: {}, Q: {do: x = x + 1}}
    transitions: [{from: P, to: Q, when: i}]
"""
    chart = read_chart(text, "model.yaml")
    suite = generate(elaborate(chart), GenerateSettings(kinds=("state",)))
    assert [goal.status for goal in suite.goals] == ["covered", "covered"]
    verdicts = {Executor(chart, MODEL, ExecuteSettings()).run(t).verdict for t in suite.tests}
    assert verdicts == {"error"}


def test_suites_are_read_back(tmp_path: Path) -> None:
    chart = load_timed_chart(TURN_INDICATOR)
    suite = chart.tests()
    write_suite(suite, tmp_path / "suite")
    again = read_suite(tmp_path / "suite")
    assert again.tests == suite.tests
    assert again.goals == suite.goals
    assert [one.ident for one in again.requirements] == [one.ident for one in suite.requirements]
    assert again.hash == suite.hash


class Follower:
    """No turn indicator."""

    def reset(self, inputs: dict[str, object]) -> dict[str, object]:
        return self.step(0, inputs)

    def step(self, milliseconds: int, inputs: dict[str, object]) -> dict[str, object]:
        return {"out_LampsLeft": inputs["in_EmSwitch"], "out_LampsRight": False}


def test_objects_of_this_process() -> None:
    with TemporaryDirectory() as folder:
        write_suite(load_timed_chart(TURN_INDICATOR).tests(), Path(folder) / "suite")
        opened = open_suite(Path(folder) / "suite")
    run = opened.run(Follower(), RunOptions(tests=("test_001", "test_002"), workers=4))
    assert [one.verdict for one in run.runs] == ["fail", "fail"]
    assert run.system == "Follower"
    assert run.verdict == "fail"


def test_what_was_given_after_the_verdict_is_not_told() -> None:
    chart = load_timed_chart(TURN_INDICATOR)
    executor = Executor(chart.chart, None, ExecuteSettings(), stepper=Follower())  # type: ignore[arg-type]
    for test in chart.tests().tests:
        run = executor.run(test)
        assert max(one.time for one in run.seen) <= run.time
        assert [one.time for one in run.seen] == sorted(one.time for one in run.seen)


def test_tests_that_are_none() -> None:
    executor = Executor(load_timed_chart(TURN_INDICATOR).chart, MODEL, ExecuteSettings())
    good = load_timed_chart(TURN_INDICATOR).tests().tests[0]
    for inputs, said in (
        ((), "has no value of `in_TurnIndLvr` at its start"),
        ((*good.inputs, Input(20, "nothing", "1")), "sets `nothing`, which is no input"),
        ((*good.inputs, Input(20, "in_Voltage", "9000")), "`9000` is no value of `in_Voltage`"),
        ((*good.inputs, Input(20, "in_EmSwitch", "1")), "`1` is no value of `in_EmSwitch`"),
    ):
        run = executor.run(replace(good, inputs=inputs))
        assert run.verdict == "error"
        assert said in run.reason
    assert executor.run(good).verdict == "pass"
    empty = TestCase(ident="test_x", inputs=good.inputs[:5], expected=(), end=0)
    assert executor.run(empty).verdict == "pass"
