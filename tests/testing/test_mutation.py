"""Mutants, what kills them, and proofs that nothing can."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.testing.strategies import charts
from tests.testing.support import TURN_INDICATOR, model

from whence.api import load_timed_chart
from whence.source import InputError
from whence.testing.cone import cone, same_within
from whence.testing.elaborate import elaborate
from whence.testing.equivalence import Equivalence
from whence.testing.generate import GenerateSettings, generate
from whence.testing.mutants import OPERATORS, mutants_of
from whence.testing.mutation import MutationSettings, extended, mutate
from whence.testing.oracle import NoJudgement, Oracle
from whence.testing.part import system_part
from whence.testing.systems.base import SystemFault
from whence.testing.systems.model import ModelSystem

#: The latch has a variable nobody sees, a guard that says too much, and a state that is passed.
LATCH = """\
chart: latch
variables: {i: "input int[0,3]", o: "output int[0,3]", seen: "int[0,3]"}
machines:
  M:
    variables: {t: timer}
    initial: Idle
    states:
      Idle: {entry: "o = 0; seen = 0"}
      Passed: {}
      Busy: {entry: "reset(t)"}
    transitions:
      - {from: Idle, to: Passed, when: i > 1 && i > 0, do: o = i}
      - {from: Passed, to: Busy, do: seen = 1}
      - {from: Busy, to: Idle, when: "elapsed(t, 100)"}
"""


def test_mutants_change_one_thing_each() -> None:
    part = system_part(model(LATCH))
    found = list(mutants_of(part))
    assert {one.operator for one in found} <= set(OPERATORS)
    texts = [one.text for one in found]
    assert len(set(texts)) == len(texts)
    # By hand: of `i > 1 && i > 0` two comparisons, two ways each, and four constants; `||`.
    guard = [text for text in texts if text.startswith("M.Idle -> Passed: `")]
    count = Counter(one.operator for one in found if one.text in guard and "i = " not in one.text)
    assert (count["comparison"], count["constant"], count["connective"]) == (4, 4, 1)
    assert [t for t in texts if "elapsed" in t] == [
        "M.Busy -> Idle: `elapsed(t, 50)` for `elapsed(t, 100)`",
        "M.Busy -> Idle: `elapsed(t, 200)` for `elapsed(t, 100)`",
    ]
    assert "M.Busy: no reset(t)" in texts
    assert "M.Idle -> Passed is missing" in texts
    for one in found:
        assert one.model is not part
        assert len(one.model.symbols) == len(part.symbols)


def test_a_longer_timer_grows_longer() -> None:
    part = system_part(model(LATCH))
    longer = next(one for one in mutants_of(part) if "elapsed(t, 200)" in one.text)
    system = ModelSystem(longer.model)
    assert system.reset({"i": 2}) == {"o": 2}
    assert system.run(150, {"i": 0})[-1] == (150, {"o": 2})
    assert (50, {"o": 0}) in system.run(60, {"i": 0})


def test_what_no_output_depends_on() -> None:
    part = system_part(model(LATCH))
    outputs = [v.symbol for v in part.having("output")]
    names = {str(symbol) for symbol in cone(part, outputs)}
    assert names == {"i", "o", "state of M", "M.age of t"}
    mutants = {one.text: one.model for one in mutants_of(part)}
    assert same_within(part, mutants["M.Idle: no `seen = 0`"], outputs)
    assert not same_within(part, mutants["M.Idle: no `o = 0`"], outputs)


def test_equivalent_mutants_are_proved() -> None:
    part = system_part(model(LATCH))
    proofs = Equivalence(part, 20_000_000)
    by_text = {one.text: proofs.proof(one.model) for one in mutants_of(part)}
    proved = {text for text, proof in by_text.items() if proof}
    # Where the guard says the same twice, and what nobody sees; nothing else.
    for text in (
        "M.Idle -> Passed: `i >= 0` for `i > 0`",
        "M.Idle -> Passed: `-1` for `0`",
        "M.Idle: no `seen = 0`",
        "M.Passed -> Busy: `seen = 2` for `seen = 1`",
    ):
        assert text in proved
    for text in (
        "M.Idle -> Passed: `i >= 1` for `i > 1`",
        "M.Idle -> Passed: no `o = i`",
        "M.Busy: no reset(t)",
        "M.Busy -> Idle: `elapsed(t, 50)` for `elapsed(t, 100)`",
        "M.Busy -> Idle is missing",
        "M.Passed -> Busy is missing",
    ):
        assert by_text[text] == ""


def test_killing_what_survives() -> None:
    found = model(LATCH)
    suite = generate(found, GenerateSettings(kinds=("state",)))
    result = mutate(found, suite.tests, MutationSettings(tries=60))
    would = [one for one in result.mutants if one.would]
    assert would
    assert {one.test for one in would} == {test.ident for test in result.tests}
    assert result.score is not None
    assert result.score < Fraction(95, 100)
    tests, again = extended(suite.tests, result)
    assert [test.ident for test in tests] == [f"test_{n:03d}" for n in range(1, len(tests) + 1)]
    assert again.score is not None
    assert again.score >= Fraction(95, 100)
    assert again.count("equivalent") == result.count("equivalent") > 0
    # The new tests are tests like others: the model passes them, and they measure the same.
    once_more = mutate(found, tests, MutationSettings(tries=0, budget=0))
    assert once_more.count("killed") == again.count("killed")


@pytest.mark.nightly
@settings(deadline=None, max_examples=25, suppress_health_check=list(HealthCheck))
@given(charts(), st.data())
def test_what_is_proved_is_never_told_apart(chart: object, data: st.DataObject) -> None:
    try:
        part = system_part(elaborate(chart))  # type: ignore[arg-type]
    except InputError:
        return
    proofs = Equivalence(part, 2_000_000)
    mutants = list(mutants_of(part))
    for mutant in data.draw(st.lists(st.sampled_from(mutants), max_size=2)) if mutants else ():
        if not proofs.proof(mutant.model):
            continue
        for _ in range(6):
            system, oracle = ModelSystem(mutant.model), Oracle(part)
            inputs = {"i": data.draw(st.integers(0, 2)), "b": data.draw(st.integers(0, 1))}
            now = 0
            try:
                oracle.begin(inputs)
                shown = system.reset({"i": inputs["i"], "b": bool(inputs["b"])})
                assert oracle.observe(0, shown)  # type: ignore[arg-type]
                for _ in range(8):
                    delay = data.draw(st.sampled_from([1, 2, 3, 5, 7]))
                    inputs = {"i": data.draw(st.integers(0, 2)), "b": data.draw(st.integers(0, 1))}
                    for passed, shown in system.run(
                        delay, {"i": inputs["i"], "b": bool(inputs["b"])}
                    ):
                        if passed == delay:
                            oracle.set_inputs(now + delay, inputs)
                        assert oracle.observe(now + passed, shown), mutant.text  # type: ignore[arg-type]
                    now += delay
            except (NoJudgement, SystemFault):
                # The model has no step either: whatever comes now is right.
                break


@pytest.mark.nightly
def test_the_turn_indicators_suite_kills_95_percent() -> None:
    chart = load_timed_chart(TURN_INDICATOR)
    suite = chart.mutate(chart.tests(), kill=True)
    assert suite.mutation is not None
    assert suite.mutation.score is not None
    assert suite.mutation.score >= Fraction(95, 100)
