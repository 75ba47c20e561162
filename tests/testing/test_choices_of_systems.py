"""Systems that choose when a timer elapses: `elapsed(t, lo, hi)` in machines of the system."""

from __future__ import annotations

from random import Random

import pytest
from tests.testing.support import model

from whence.formats.charts.yaml import read_chart
from whence.report.suite_forms import rendered
from whence.solve.frames import Answer, Frames, Holds
from whence.source import UnsupportedError
from whence.testing.execute import ExecuteSettings, Executor
from whence.testing.generate import GenerateSettings, generate
from whence.testing.interface import interface_of
from whence.testing.logic import both, compare, number, read
from whence.testing.mutation import mutate
from whence.testing.oracle import NoJudgement, Oracle, Tolerance
from whence.testing.part import system_part
from whence.testing.semantics.abstract import AbstractInterpreter
from whence.testing.semantics.relation import Relation
from whence.testing.semantics.simulator import Simulator
from whence.testing.systems.spec import parse_system

LAMP = """\
chart: lamp
variables: {go: input bool, lamp: output bool, echo: output bool}
machines:
  M:
    variables: {t: timer}
    initial: Off
    states: {Off: {entry: lamp = false}, Wait: {entry: reset(t)}, On: {entry: lamp = true}}
    transitions:
      - {from: Off, to: Wait, when: go}
      - {from: Wait, to: On, when: "elapsed(t, 100, 200)", priority: 1}
      - {from: Wait, to: Off, when: "!go"}
      - {from: On, to: Off, when: "!go"}
  Echo:
    variables: {u: timer}
    initial: Quiet
    states: {Quiet: {entry: echo = false}, Soon: {entry: reset(u)}, Loud: {entry: echo = true}}
    transitions:
      - {from: Quiet, to: Soon, when: lamp}
      - {from: Soon, to: Loud, when: "elapsed(u, 10)"}
      - {from: Loud, to: Quiet, when: "!lamp"}
"""


def admitted(lamp: int, echo: int, *, every: int = 1, latency: int = 0) -> bool:
    """Whether the oracle admits a lamp and an echo at these dates, after `go` at 50 ms."""
    tolerances = {name: Tolerance(latency) for name in ("lamp", "echo")}
    oracle = Oracle(system_part(model(LAMP)), tolerances)
    oracle.begin({"go": 0})
    for date in range(0, 401, every):
        if date == 50:
            oracle.set_inputs(date, {"go": 1})
        seen = {"lamp": int(date >= lamp), "echo": int(date >= echo)}
        if not oracle.observe(date, seen):
            return False
    return True


@pytest.mark.parametrize("delay", [99, 100, 101, 150, 199, 200, 201])
def test_any_moment_between_both_times(delay: int) -> None:
    lamp = 50 + delay
    assert admitted(lamp, lamp + 10) is (100 <= delay <= 200)


@pytest.mark.parametrize("late", [8, 9, 10, 11, 12])
def test_what_follows_is_determined_by_what_was_seen(late: int) -> None:
    assert admitted(180, 180 + late) is (late == 10)


def test_latencies_and_rare_observations() -> None:
    assert admitted(50 + 205, 50 + 215, latency=5)
    assert not admitted(50 + 206, 50 + 216, latency=5)
    # With latencies, up to 5 ms earlier or later than 10 ms behind each other.
    assert admitted(200, 205, latency=5)
    assert not admitted(200, 204, latency=5)
    assert admitted(170, 180, every=10)


def test_tests_stay_valid_whatever_the_system_chooses() -> None:
    chart, found = read_chart(LAMP, "lamp.yaml"), model(LAMP)
    suite = generate(found, GenerateSettings(latency=0))
    assert {goal.status for goal in suite.goals} <= {"covered", "unreachable"}
    executor = Executor(chart, parse_system("model"), ExecuteSettings())
    for test in suite.tests:
        run = executor.run(test)
        assert run.verdict == "pass", run.reason
    # Another choice than that of the run that the tests were made of.
    early = read_chart(LAMP.replace("100, 200", "100"), "early.yaml")
    executor = Executor(chart, parse_system("model:early.yaml"), ExecuteSettings(), early)
    assert {executor.run(test).verdict for test in suite.tests} == {"pass"}


@pytest.mark.parametrize("delay", ["60", "260"])
def test_a_system_outside_of_its_times_fails(delay: str) -> None:
    other = read_chart(LAMP.replace("100, 200", delay), "wrong.yaml")
    suite = generate(model(LAMP), GenerateSettings(latency=0))
    chart = read_chart(LAMP, "lamp.yaml")
    executor = Executor(chart, parse_system("model:wrong.yaml"), ExecuteSettings(), other)
    assert "fail" in {executor.run(test).verdict for test in suite.tests}


def test_too_many_possibilities_are_no_verdict() -> None:
    oracle = Oracle(system_part(model(LAMP.replace("100, 200", "100, 20000"))), {})
    oracle.begin({"go": 1})
    with pytest.raises(NoJudgement, match="are possible"):
        oracle.observe(19_000, {}, held=False)


def test_what_has_only_one_reaction_is_refused() -> None:
    found = model(LAMP)
    suite = generate(found, GenerateSettings(kinds=("state",)))
    interface = interface_of(system_part(found))
    for form in ("c", "csv"):
        with pytest.raises(UnsupportedError, match="chooses when a timer elapses"):
            rendered(suite, form, interface)
    with pytest.raises(UnsupportedError, match="chooses when a timer elapses"):
        mutate(found, suite.tests)


def test_all_semantics_have_the_same_steps() -> None:
    """Steps of the simulator satisfy Phi, and their states are inside the abstract ones."""
    found, random = model(LAMP), Random(7)
    simulator, relation = Simulator(found), Relation(found)
    interpreter = AbstractInterpreter(found)
    invariant = interpreter.invariant()
    frames = Frames(
        relation.state, relation.primed, relation.auxiliary, relation.definitions, relation.step
    )
    frames.extend()
    state = simulator.initial([random.randint(0, v.limits[1]) for v in found.variables if v.free])
    fired = 0
    for _ in range(120):
        after = simulator.step(state)
        if after is None:
            delay = random.randint(1, min(60, simulator.limit(state)))
            free = [int(random.random() < 0.9) if v.role == "input" else random.randint(0, 1)
                    for v in found.variables if v.free]  # fmt: skip
            after = simulator.wait(state, delay, free)
        else:
            ages = dict(zip(map(str, found.symbols), state, strict=True))
            fired += ages["state of M"] == 2 and 100 <= ages["M.age of t"] < 200
        begin, end = frames.selector(), frames.selector()
        frames.start_from(dict(zip(relation.state, state, strict=True)), begin)
        there = both(
            compare("==", read(symbol), number(value))
            for symbol, value in zip(relation.state, after, strict=True)
        )
        frames.require(Holds(there, 1), end)
        assert frames.ask((begin, end), 1, 10**8) is Answer.POSSIBLE
        assert after in invariant
        assert after in interpreter.step(interpreter.of(state))
        state = after
    assert fired
