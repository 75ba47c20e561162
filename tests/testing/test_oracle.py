"""What the oracle admits, against the definition, and what it says of the rest."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reference.oracles import admitted
from tests.testing.support import model

from whence.source import UnsupportedError
from whence.testing.oracle import NoJudgement, Oracle, Tolerance
from whence.testing.part import system_part

FOLLOWS = """\
variables: {i: "input int[0,3]", o: "output int[0,3]"}
machines:
  M: {initial: P, states: {P: {do: o = i}}}
"""
FLASHES = """\
variables: {on: input bool, lamp: output bool}
machines:
  M:
    variables: {t: timer}
    initial: Dark
    states: {Dark: {entry: reset(t)}, Lit: {entry: reset(t)}}
    transitions:
      - {from: Dark, to: Lit, when: "on && elapsed(t, 20)", do: lamp = true}
      - {from: Lit, to: Dark, when: "elapsed(t, 10)", do: lamp = false}
"""

small = st.lists(st.integers(0, 2), min_size=1, max_size=14)


def judged(
    inputs: list[int], seen: list[int], latency: int, *, events: bool, error: int = 0
) -> bool:
    """`events`: only changes of the output are told."""
    oracle = Oracle(system_part(model(FOLLOWS)), {"o": Tolerance(latency, Fraction(error))})
    oracle.begin({"i": inputs[0]})
    told: int | None = None
    for time, value in enumerate(seen):
        if time and inputs[time] != inputs[time - 1]:
            oracle.set_inputs(time, {"i": inputs[time]})
        last = time == len(seen) - 1
        if (not events or value != told or last) and not oracle.observe(time, {"o": value}):
            return False
        told = value
    return True


@given(st.data(), small, st.integers(0, 4), st.integers(0, 1), st.booleans())
def test_against_the_definition(
    data: st.DataObject, inputs: list[int], latency: int, error: int, events: bool
) -> None:
    """The output of the model is its input."""
    # Mostly what was there a little earlier, so that much is admitted.
    seen = []
    for t in range(len(inputs)):
        delay = data.draw(st.integers(0, min(t, latency + 1)))
        seen.append(inputs[t - delay] if data.draw(st.integers(0, 7)) else 1)
    expected = admitted(inputs, seen, latency, error)
    assert judged(inputs, seen, latency, events=events, error=error) == expected


def test_a_pulse_longer_than_the_latency_cannot_be_lost() -> None:
    inputs = [0, 1, 1, 1, 0, 0, 0, 0, 0]
    assert judged(inputs, [0] * 9, 3, events=True)
    assert not judged(inputs, [0] * 9, 2, events=True)


def test_samples_say_nothing_of_what_is_between_them() -> None:
    oracle = Oracle(system_part(model(FOLLOWS)), {"o": Tolerance(1)})
    oracle.begin({"i": 0})
    assert oracle.observe(0, {"o": 0})
    oracle.set_inputs(3, {"i": 1})
    # Changed at some date from 1 to 10: 3 is one of them.
    assert oracle.observe(10, {"o": 1}, held=False)


def flashing(dates: list[int], jitter: int, latency: int = 0) -> tuple[bool, str]:
    """The lamp changes at these dates."""
    tolerances = {"lamp": Tolerance(latency)}
    oracle = Oracle(system_part(model(FLASHES)), tolerances, jitter)
    oracle.begin({"on": 1})
    lamp = 0
    if not oracle.observe(0, {"lamp": 0}):
        return False, oracle.reason
    for date in dates:
        lamp = 1 - lamp
        if not oracle.observe(date, {"lamp": lamp}):
            return False, oracle.reason
    return oracle.observe(dates[-1] + 1, {}), oracle.reason


def test_jitter_adds_up_and_latency_does_not() -> None:
    exact, drifting = [20, 30, 50, 60, 80], [21, 32, 53, 64, 85]
    assert flashing(exact, 0)[0]
    assert not flashing(drifting, 0)[0]
    assert flashing(drifting, 1)[0]
    assert flashing(drifting, 0, latency=5)[0]
    assert not flashing(drifting, 0, latency=4)[0]
    # Never early.
    assert not flashing([20, 29], 3, latency=3)[0]


def test_what_is_expected_is_said() -> None:
    ok, reason = flashing([20, 31], 0)
    assert not ok
    assert reason == "`lamp` is true until 31 ms; expected false since 30 ms"
    ok, reason = flashing([20, 36], 0, latency=5)
    assert not ok
    assert reason == "`lamp` is true until 36 ms; expected false since 30 ms (by 35 ms)"


def test_an_input_and_a_timer_at_one_date_may_come_in_either_order() -> None:
    """At 20 the timer elapses and the switch goes off."""
    for lamp in (0, 1):
        oracle = Oracle(system_part(model(FLASHES)))
        oracle.begin({"on": 1})
        assert oracle.observe(0, {"lamp": 0})
        oracle.set_inputs(20, {"on": 0})
        assert oracle.observe(20, {"lamp": lamp})
        assert oracle.observe(29, {"lamp": lamp})
        assert oracle.most == 2


def test_the_environment_is_left_out() -> None:
    text = (
        FOLLOWS
        + """\
  Outside:
    environment: true
    initial: A
    states: {A: {}}
    transitions: [{from: A, to: A, when: i == 0, do: i = 1}]
"""
    )
    part = system_part(model(text))
    assert [machine.name for machine in part.machines] == ["M"]
    assert [v.name for v in part.variables if v.free] == ["i"]
    with pytest.raises(UnsupportedError, match="reads `state of Outside`"):
        system_part(model(text.replace("do: o = i", 'do: "o = Outside.A ? 1 : 0"')))
    with pytest.raises(UnsupportedError, match="no system to be judged"):
        system_part(model(FOLLOWS.replace("{initial: P", "{environment: true, initial: P")))


def test_a_model_without_a_step_judges_nothing() -> None:
    race = (
        FOLLOWS
        + """\
  N: {initial: P, states: {P: {do: "o = i == 2 ? 1 : i"}}}
"""
    )
    oracle = Oracle(system_part(model(race)))
    oracle.begin({"i": 1})
    assert oracle.observe(0, {"o": 1})
    oracle.set_inputs(5, {"i": 2})
    with pytest.raises(NoJudgement, match=r"`o` is assigned 2 and 1 in one step \(model.yaml:4"):
        oracle.observe(5, {"o": 2})


def test_endless_steps_judge_nothing() -> None:
    zeno = """\
variables: {i: input bool, o: output bool}
machines:
  M: {initial: P, states: {P: {do: "o = i ? !o : o"}}}
"""
    oracle = Oracle(system_part(model(zeno)))
    oracle.begin({"i": 1})
    with pytest.raises(NoJudgement, match="do not end"):
        oracle.observe(0, {"o": 1})


def test_too_much_that_is_possible_is_not_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("whence.testing.oracle._MOST", 40)
    with pytest.raises(NoJudgement, match="admit less jitter"):
        flashing([20, 400], 60, latency=600)
