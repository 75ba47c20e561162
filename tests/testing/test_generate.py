"""The generator: what is covered, what is proved, and that tests replay."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import settings as settings_of_hypothesis
from tests.testing.strategies import charts
from tests.testing.support import TURN_INDICATOR, model, shared

from whence.formats.charts.xmi import read_xmi_file
from whence.formats.charts.yaml import read_chart_file
from whence.model.chart import Chart, UserGoal
from whence.model.suite import Suite, TestCase
from whence.source import InputError, SourceText, UnsupportedError
from whence.testing.bounded_ltl import holds, read_goal
from whence.testing.by_cone import groups
from whence.testing.checks import widened
from whence.testing.elaborate import elaborate
from whence.testing.generate import GenerateSettings, generate
from whence.testing.goals import goals_of
from whence.testing.model import TimedModel
from whence.testing.reach import Settings
from whence.testing.runs import Runs
from whence.testing.semantics.simulator import Simulator, State

#: No simulation: the solver has to do all of it.
SOLVER_ONLY = GenerateSettings(walks=0, patience=0, reach=Settings(bound=12))


def replayed(found: TimedModel, test: TestCase) -> list[tuple[int, str, str]]:
    """The outputs of the model, driven by the inputs of a test alone. Pre: no environment."""
    simulator = Simulator(found)
    free = [v for v in found.variables if v.free]
    inputs = {v.name: v.initial for v in free}
    outputs: dict[str, str] = {}
    seen = []
    dates = sorted({one.time for one in test.inputs} | {test.end})
    state: State | None = None
    now = 0

    def settle(state: State) -> State:
        while (after := simulator.step(state)) is not None:
            state = after
        for v in found.having("output"):
            value = v.shown(state[found.place[v.symbol]])
            if outputs.get(v.name) != value:
                outputs[v.name] = value
                seen.append((now, v.name, value))
        return state

    for date in dates:
        while state is not None and now < date:
            delay = min(simulator.limit(state), date - now)
            if now + delay < date:
                state = simulator.wait(state, delay, list(inputs.values()))
                now += delay
                state = settle(state)
                continue
            break
        for one in test.inputs:
            if one.time == date:
                v = next(v for v in free if v.name == one.name)
                inputs[v.name] = next(
                    value for value in range(v.limits[0], v.limits[1] + 1)
                    if v.shown(value) == one.value
                )  # fmt: skip
        if state is None:
            state = simulator.initial(list(inputs.values()))
        elif date > now:
            state = simulator.wait(state, date - now, list(inputs.values()))
        now = date
        state = settle(state)
    return seen


class TestTurnIndicator:
    found = elaborate(read_chart_file(TURN_INDICATOR))
    suite = generate(found)

    def test_all_goals_are_covered(self) -> None:
        assert self.suite.findings == ()
        assert {goal.status for goal in self.suite.goals} == {"covered"}
        kinds = {goal.kind for goal in self.suite.goals}
        assert len(kinds) == 8
        # Counted by hand in the file: its simple states, and its transitions.
        assert sum(goal.kind == "state" for goal in self.suite.goals) == 11
        assert sum(goal.kind == "transition" for goal in self.suite.goals) == 19

    def test_tests_replay_with_their_inputs_alone(self) -> None:
        for test in self.suite.tests:
            expected = [(one.time, one.name, one.value) for one in test.expected]
            seen = [one for one in replayed(self.found, test) if one[0] <= expected[-1][0]]
            assert seen == expected

    def test_lamps_flash_340_and_320_milliseconds(self) -> None:
        dates = [
            (one.time, one.value)
            for test in self.suite.tests
            for one in test.expected
            if one.name == "out_LampsLeft"
        ]
        gaps = {(value, later - earlier) for (earlier, value), (later, _) in pairwise(dates)}
        assert {("true", 340), ("false", 320)} <= gaps

    def test_the_same_seed_gives_the_same_suite(self) -> None:
        again = generate(elaborate(read_chart_file(TURN_INDICATOR)))
        assert replace(again, seconds=0.0) == replace(self.suite, seconds=0.0)

    def test_short_tests(self) -> None:
        short = generate(self.found, GenerateSettings(tests="short"))
        assert short.count("covered") == len(short.goals)
        assert len(short.tests) > len(self.suite.tests)
        longest = max(test.end for test in self.suite.tests)
        assert max(test.end for test in short.tests) <= longest

    def test_each_goal_is_where_the_result_says(self) -> None:
        tests = {test.ident: test for test in self.suite.tests}
        for goal in self.suite.goals:
            assert goal.test is not None
            assert goal.kind == "requirement" or goal.ident in tests[goal.test].goals


COUNTER = """\
variables: {go: input bool, n: "int[0,3]", done: output bool}
machines:
  M:
    initial: Wait
    states: {Wait: {}, Count: {entry: "n = n < 3 ? n + 1 : 3"}, Done: {entry: done = true}}
    transitions:
      - {from: Wait, to: Count, when: go, priority: 1}
      - {from: Count, to: Wait, when: "!go"}
      - {from: Wait, to: Done, when: n == 2 && !go}
      - {from: Done, to: Count, when: n == 3}
      - {from: Wait, to: Done, when: n > 3, priority: 2}
goals:
  both: F (n == 1 && F (n == 2 && M.Count))
  never: F (n == 3 && done)
"""


def by_ident(suite: Suite) -> dict[str, str]:
    return {goal.ident: goal.status for goal in suite.goals}


@pytest.mark.parametrize("settings", [GenerateSettings(), SOLVER_ONLY])
def test_every_goal_ends_as_covered_or_proved(settings: GenerateSettings) -> None:
    """Done is left alone with n == 2, and n never exceeds 3."""
    suite = generate(model(COUNTER), settings)
    status = by_ident(suite)
    assert status["transition M.Done -> Count"] == "unreachable"
    assert status["transition M.Wait -> Done #2"] == "unreachable"
    assert status["user never"] == "unreachable"
    assert status["state M.Done"] == status["user both"] == "covered"
    assert "open" not in status.values()
    reasons = {goal.reason.split(",")[0].split(":")[0] for goal in suite.goals if goal.reason}
    assert any("induction" in reason for reason in reasons)


def test_the_accelerations_change_no_answer() -> None:
    plain = replace(SOLVER_ONLY, reach=Settings(bound=12, abstract=False))
    status = by_ident(generate(model(COUNTER), plain))
    assert status == by_ident(generate(model(COUNTER), SOLVER_ONLY))


TWO_PLANTS = """\
variables: {a: input bool, b: "input int[0,65535]", x: output bool, y: output bool}
machines:
  M:
    variables: {t: timer}
    initial: P
    states: {P: {}, Q: {entry: "reset(t); x = true"}, R: {}}
    transitions: [{from: P, to: Q, when: a}, {from: Q, to: R, when: "elapsed(t, 70) && !a"}]
  N:
    variables: {n: uint16, u: timer}
    initial: P
    states: {P: {entry: reset(u)}, Q: {entry: y = true}, R: {}}
    transitions:
      - {from: P, to: P, when: "b > 300 && elapsed(u, 20)", do: n = n + b, priority: 1}
      - {from: P, to: Q, when: n == 12345}
      - {from: Q, to: R, when: n == 12346}
"""


def test_goals_are_looked_for_in_their_cones() -> None:
    """What is found there is played on the whole model; what is not there is not in it."""
    found = model(TWO_PLANTS)
    parts = list(groups(found, goals_of(found, kinds=("state",)), Settings(bound=12)))
    machines = [[m.name for m in part.reacher.model.machines] for part in parts]
    assert sorted(machines) == [["M"], ["N"]]
    assert [v.name for v in parts[0].reacher.model.having("input")] == ["a"]
    settings = replace(SOLVER_ONLY, kinds=("state", "transition"), starts=0)
    suite = generate(found, settings)
    status = by_ident(suite)
    assert status["state M.R"] == status["state N.Q"] == "covered"
    assert status["state N.R"] == status["transition N.Q -> R"] == "unreachable"
    plain = replace(settings, reach=replace(settings.reach, cone=False))
    assert by_ident(generate(found, plain)) == status
    for test in suite.tests:
        expected = [(one.time, one.name, one.value) for one in test.expected]
        seen = [one for one in replayed(found, test) if one[0] <= expected[-1][0]]
        assert seen == expected


@pytest.mark.nightly
@settings_of_hypothesis(max_examples=25, deadline=None)
@given(charts())
def test_the_accelerations_never_contradict_each_other(chart: Chart) -> None:
    try:
        found = elaborate(chart)
    except InputError:
        return
    reach = Settings(bound=4, cases=50, budget=500_000)
    options = (reach, replace(reach, cone=False), replace(reach, abstract=False, incremental=False))
    results = []
    for option in options:
        settings = GenerateSettings(walks=0, patience=0, reach=option, kinds=("state", "mcdc"))
        results.append(by_ident(generate(found, settings)))
    walked = by_ident(generate(found, GenerateSettings(kinds=("state", "mcdc"), reach=reach)))
    for ident in walked:
        those = {result[ident] for result in (*results, walked)}
        assert those != {"covered", "unreachable"}, ident
        assert not {"covered", "unreachable"} <= those, ident


def test_a_formula_is_not_unreachable_because_what_it_needs_is_only_there_at_the_start() -> None:
    """`M.P` holds once, early; the counter has to go on for long behind it."""
    text = """\
variables: {go: input bool, n: "int[0,30]"}
machines:
  M:
    initial: P
    states: {P: {}, Q: {do: "n = n < 30 ? n + 1 : 30"}}
    transitions: [{from: P, to: Q, when: go}]
goals:
  late: F (M.P && F (n == 30))
"""
    settings = replace(SOLVER_ONLY, reach=Settings(bound=6), kinds=("user",))
    assert by_ident(generate(model(text), settings)) == {"user late": "open"}
    assert by_ident(generate(model(text)))["user late"] == "covered"


def test_open_goals_say_how_far_was_looked() -> None:
    suite = generate(
        model(COUNTER),
        replace(SOLVER_ONLY, reach=Settings(bound=2, induction=0), starts=0),
    )
    goal = next(goal for goal in suite.goals if goal.ident == "state M.Done")
    assert (goal.status, goal.bound) == ("open", 2)
    assert goal.reason == "no run of up to 2 steps from the start meets it"


def test_the_example_made_for_rt_tester() -> None:
    """Its six goals, with the ranges widened that it leaves at once. Its lever never comes back to
    neutral, as its environment leaves Left and Right by the timers that run out first."""
    chart, _ = widened(read_xmi_file(shared("charts/rttesterexample.xmi")))
    settings = GenerateSettings(
        reach=Settings(bound=8, cases=0), kinds=("state", "transition", "user")
    )
    suite = generate(elaborate(chart), settings)
    status = by_ident(suite)
    assert [status[f"user goal {n}"] for n in range(1, 6)] == ["covered"] * 5
    assert status["user goal 6"] == "open"
    states = [goal for goal in suite.goals if goal.kind == "state"]
    assert {goal.status for goal in states} == {"covered"}
    voltages = {one.value for test in suite.tests for one in test.inputs if one.name == "voltage"}
    assert voltages
    assert all(0 <= Fraction(value) <= 20 for value in voltages)


@pytest.mark.nightly
def test_what_the_example_made_for_rt_tester_cannot_do_is_proved() -> None:
    """Case by case, intervals show that the sixth goal and some conditions are out of reach, as
    the lever never comes back."""
    chart, _ = widened(read_xmi_file(shared("charts/rttesterexample.xmi")))
    suite = generate(elaborate(chart))
    assert (suite.count("covered"), suite.count("unreachable"), suite.count("open")) == (78, 11, 0)


# ------------------------------------------------------------------------------- temporal formulas

WORD = [(1, 0), (1, 0), (0, 1), (1, 1)]


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("F (b)", [2, 2, 2, 3]),
        ("a", [0, 1, None, 3]),
        ("a U b", [2, 2, 2, 3]),
        ("a && F (a && b)", [3, 3, None, 3]),
        ("F (!a && F a)", [3, 3, 3, None]),
        ("!(a -> b)", [0, 1, None, None]),
        ("F ((a U (b && !a)) && a)", [2, 2, None, None]),
    ],
)
def test_bounded_semantics(text: str, ends: list[int | None]) -> None:
    found = model(
        "variables: {a: input bool, b: input bool}\nmachines: {M: {initial: P, states: {P: {}}}}\n"
    )
    goal = read_goal(SourceText(text, "g"), found.formulas)
    simulator = Simulator(found)
    runs = Runs(found, simulator, ())
    states = [simulator.initial(letter) for letter in WORD]
    result = holds(goal, len(WORD), lambda expr, at: runs.test(expr)(states[at]))
    assert result == ends


@pytest.mark.parametrize("text", ["G (go)", "X (go)", "go W (n == 1)", "!(F (go))"])
def test_what_no_finite_test_can_show_is_refused(text: str) -> None:
    goal = UserGoal(name="g", text=SourceText(text, "<goal>"))
    with pytest.raises(UnsupportedError):
        goals_of(model(COUNTER), (goal,))
