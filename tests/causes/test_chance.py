"""Probabilities of hazards: against matrix exponentials, exact fractions and closed forms."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from tests.causes.chance_support import chains, system_of
from tests.reference import chance as reference
from tests.reference.chance import Edge

from whence.causes.chance import stationary, transient, vanishing
from whence.causes.chance.durations import parse_hours
from whence.causes.chance.poisson import tails
from whence.causes.chance.questions import emergency, hazard_probability
from whence.source import InputError, UnsupportedError, UsageError

EXAMPLES = max(150, settings().max_examples * 2)


@given(chains(immediate=True), st.sampled_from([0.1, 1.0, 20.0]))
@settings(max_examples=EXAMPLES)
def test_with_a_default_rate(chain: tuple[int, list[Edge], frozenset[int]], time: float) -> None:
    states, edges, bad = chain
    found = hazard_probability(
        system_of(states, edges, bad), "bad", time, like_thesis=True, default_rate=2.0
    )
    expected = reference.reach_within(states, edges, bad, time, 2.0)[0]
    assert found.value == pytest.approx(expected, rel=1e-9, abs=1e-13)


@given(chains(immediate=True), st.sampled_from([0.1, 1.0, 20.0]))
@settings(max_examples=EXAMPLES)
def test_immediate_is_the_limit(chain: tuple[int, list[Edge], frozenset[int]], time: float) -> None:
    states, edges, bad = chain
    found = hazard_probability(system_of(states, edges, bad), "bad", time)
    expected = reference.limit_within(states, edges, bad, time)[0]
    assert found.value == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("growth", [20, 0])
def test_large_systems_come_to_the_same(monkeypatch: pytest.MonkeyPatch, growth: int) -> None:
    """The ways that are for large components, and for too many shares, on small random ones."""
    random = np.random.default_rng(7)
    for _ in range(25):
        edges: list[Edge] = []
        for _ in range(60):
            source, target = random.integers(0, 20, 2).tolist()
            rate = None if random.random() < 0.6 else float(random.choice([0.5, 0.01, 3]))
            edges.append((source, "a", target, rate))
        system = system_of(20, edges, {18, 19})
        monkeypatch.undo()
        expected = hazard_probability(system, "bad", 0.5)
        monkeypatch.setattr(stationary, "DENSE", 1)
        monkeypatch.setattr(vanishing, "_ENTRIES", 50 * growth)
        monkeypatch.setattr(vanishing, "_GROWTH", growth)
        found = hazard_probability(system, "bad", 0.5)
        assert found.value == pytest.approx(expected.value, rel=1e-9)
        assert abs(found.value - expected.value) <= found.error + expected.error


@given(chains(immediate=False), st.sampled_from([1, 10**3, 10**7, 10**12]))
@settings(max_examples=EXAMPLES)
def test_small_probabilities_keep_their_digits(
    chain: tuple[int, list[Edge], frozenset[int]], slower: int
) -> None:
    """The reference computes in fractions, so that nothing is rounded however small it is."""
    states, edges, bad = chain
    time = Fraction(1, slower)
    exact = [(s, t, Fraction(rate).limit_denominator(10)) for s, _, t, rate in edges if rate]
    expected = reference.exact_within(states, exact, bad, time)[0]
    found = hazard_probability(system_of(states, edges, bad), "bad", time)
    assert abs(Fraction(found.value) - expected) <= Fraction(found.error) + expected / 10**13
    assert found.error <= 2e-11 * found.value


def test_a_fault_on_a_cycle() -> None:
    """By hand: state 0 is left twice as fast, half of that leads to 1, so that π1 = π0, and
    π2 = π0 + π1. The fault happens at a quarter of its rate."""
    edges: list[Edge] = [
        (0, "a", 1, None),
        (0, "b", 2, None),
        (1, "c", 2, None),
        (2, "d", 0, None),
        (1, "fault", 3, 1e-9),
    ]
    found = hazard_probability(system_of(4, edges, {3}), "bad", 1)
    assert found.value == pytest.approx(-math.expm1(-1e-9 / 4), rel=1e-12)


def test_bad_states_on_an_immediate_way() -> None:
    """Of two immediate ways one passes a bad state, though it also leads out of it again."""
    edges: list[Edge] = [(0, "a", 1, None), (0, "b", 2, None), (1, "c", 2, None)]
    found = hazard_probability(system_of(3, edges, {1}), "bad", 0)
    assert found.value == 0.5


def test_erlang() -> None:
    """n stages with the rate r: P = 1 - Σ_{k<n} e^{-rt} (rt)^k / k!, the tail of a Poisson
    distribution; with r·t = 1/100 and n = 9 it is 2.7e-24."""
    stages, mean = 9, Fraction(1, 100)
    edges: list[Edge] = [(k, "a", k + 1, 2.0) for k in range(stages)]
    found = hazard_probability(system_of(stages + 1, edges, {stages}), "bad", mean / 2)
    expected = float(reference.poisson_tail(mean, stages))
    assert expected == pytest.approx(2.7e-24, rel=0.02)
    assert found.value == pytest.approx(expected, rel=1e-12)
    assert 0 < found.error < 1e-11 * expected


def test_two_components_in_parallel() -> None:
    """P = (1 - e^{-at})(1 - e^{-bt}), and one in 10^12 is not lost in rounding."""
    a, b = 1e-6, 3e-6
    edges: list[Edge] = [(0, "a", 1, a), (0, "b", 2, b), (1, "b", 3, b), (2, "a", 3, a)]
    found = hazard_probability(system_of(4, edges, {3}), "bad", 1)
    assert found.value == pytest.approx(math.expm1(-a) * math.expm1(-b), rel=1e-13)


def test_alike_components_become_one_count() -> None:
    """20 of them, any three of which are too many: 1,048,576 sets of failed ones would be 4."""
    count, rate = 12, 1e-5
    edges: list[Edge] = [
        (failed, f"fail{k}", failed | 1 << k, rate)
        for failed in range(1 << count)
        for k in range(count)
        if not failed >> k & 1
    ]
    bad = {failed for failed in range(1 << count) if failed.bit_count() >= 3}
    found = hazard_probability(system_of(1 << count, edges, bad), "bad", 1)
    p = -math.expm1(-rate)
    expected = math.fsum(
        math.comb(count, k) * p**k * (1 - p) ** (count - k) for k in range(3, count + 1)
    )
    assert found.value == pytest.approx(expected, rel=1e-12)
    assert found.lumped_states == 5  # none, one and two failed; bad; where no bad state is ahead


def test_stiff_chain() -> None:
    """A fast repair (10^7 jumps in the time) and slow faults: the known probability of a renewal
    process. With a = b = 1e-3 and repairs at r: bad after 0 -a-> 1 -b-> 2, 1 -r-> 0, which has the
    two exponents x of x² - (a + b + r)·x + a·b = 0."""
    a = b = 1e-3
    repair, time = 1e5, 100.0
    edges: list[Edge] = [(0, "a", 1, a), (1, "r", 0, repair), (1, "b", 2, b)]
    found = hazard_probability(system_of(3, edges, {2}), "bad", time)
    total = a + b + repair
    fast = (total + math.sqrt(total * total - 4 * a * b)) / 2
    slow = a * b / fast
    expected = -(fast * math.expm1(-slow * time) - slow * math.expm1(-fast * time)) / (fast - slow)
    assert found.value == pytest.approx(expected, rel=1e-9)
    assert abs(found.value - expected) <= found.error < 1e-6 * expected


def test_squaring_agrees_with_summing() -> None:
    """What is left to a full matrix when there are too many jumps."""
    edges: list[Edge] = [(k, "a", k + 1, 50.0) for k in range(30)]
    edges += [(k + 1, "r", k, 80.0) for k in range(29)]
    system = system_of(31, edges, {30})
    expected = hazard_probability(system, "bad", 3).value
    rates = np.zeros((31, 31))
    for source, _, target, rate in edges:
        rates[source, target] = rate
    inner = sparse.csr_array(rates[:30, :30])
    doubled = transient._doubled(inner, rates[:30, 30], rates[:30].sum(axis=1), 3.0)
    assert doubled[0] == pytest.approx(expected, rel=1e-10)


def test_too_many_jumps() -> None:
    system = system_of(2, [(0, "a", 1, 1e-9), (0, "b", 0, 1e9)], {1})
    assert hazard_probability(system, "bad", 1e3).value == pytest.approx(1e-6, rel=1e-6)
    system = system_of(3, [(0, "a", 1, 1e9), (1, "b", 0, 1e9), (1, "c", 2, 1e-9)], {2})
    with pytest.raises(UnsupportedError, match=r"makes up to 1e\+10 jumps.*make those transitions"):
        hazard_probability(system, "bad", 10)


@pytest.mark.parametrize("mean", [0.003, 0.7, 12.0, 350.0, 9_000.0])
def test_tails(mean: float) -> None:
    from scipy.stats import poisson

    found = tails(mean)
    for k in range(0, found.end, max(1, found.end // 50)):
        assert found[k] == pytest.approx(poisson.sf(k - 1, mean), rel=1e-9, abs=1e-280)
    for ratio in (1.0, 0.999, 1e-3):
        terms = [found[4 + j] * ratio**j for j in range(1, found.end)]
        assert found.geometric(4, ratio) == pytest.approx(math.fsum(terms), rel=1e-10)


@given(chains(immediate=True), st.data())
def test_emergency(chain: tuple[int, list[Edge], frozenset[int]], data: st.DataObject) -> None:
    """By the definition: where the first state of activation is, times the failures from there."""
    states, edges, bad = chain
    active = data.draw(st.frozensets(st.integers(0, states - 1), min_size=1))
    system = system_of(states, edges, bad)
    marks = np.array([state in active for state in range(states)])
    fails = reference.reach_within(states, edges, bad, 0.2, 2.0)
    fails_in_limit = reference.limit_within(states, edges, bad, 0.2)
    expected_rate = expected_limit = 0.0
    for state in active:
        ends = {*active, *bad} - {state}
        first = reference.reach_within(states, edges, {state}, 1.5, 2.0, ends)[0]
        expected_rate += first * fails[state]
        first = reference.limit_within(states, edges, {state}, 1.5, ends)[0]
        expected_limit += first * fails_in_limit[state]
    found = emergency(system, "bad", marks, 1.5, 0.2, like_thesis=True, default_rate=2.0)
    assert found.value == pytest.approx(expected_rate, rel=1e-9, abs=1e-13)
    found = emergency(system, "bad", marks, 1.5, 0.2)
    assert found.value == pytest.approx(expected_limit, abs=1e-7)


def test_the_worst_of_several_initial_states() -> None:
    edges: list[Edge] = [(0, "a", 2, 0.1), (1, "a", 2, 0.3)]
    found = hazard_probability(system_of(3, edges, {2}, initial=(0, 1)), "bad", 1)
    assert found.value == pytest.approx(-math.expm1(-0.3), rel=1e-12)


def test_where_there_is_nothing_to_compute() -> None:
    edges: list[Edge] = [(0, "a", 1, 0.5)]
    assert hazard_probability(system_of(3, edges, {2}), "bad", 1).value == 0
    assert hazard_probability(system_of(3, edges, {0}), "bad", 0).value == 1
    assert hazard_probability(system_of(3, [], {2}), "bad", 1).value == 0


@pytest.mark.parametrize("rate", [-1.0, math.inf])
def test_no_rates(rate: float) -> None:
    with pytest.raises(InputError, match=r"`a` has the rate .*, which is no rate"):
        hazard_probability(system_of(2, [(0, "a", 1, rate)], {1}), "bad", 1)


def test_questions_that_make_no_sense() -> None:
    system = system_of(2, [(0, "a", 1, 1.0)], {1})
    with pytest.raises(UsageError, match="no proposition `worse`; there are: `bad`"):
        hazard_probability(system, "worse", 1)
    with pytest.raises(UsageError, match="a time of -1 hours"):
        hazard_probability(system, "bad", -1)
    with pytest.raises(UsageError, match="has to be positive"):
        hazard_probability(system, "bad", 1, like_thesis=True, default_rate=0)


@pytest.mark.parametrize(
    ("text", "hours"),
    [
        ("1h", Fraction(1)),
        ("10s", Fraction(1, 360)),
        ("90min", Fraction(3, 2)),
        (" 1h 30min ", Fraction(3, 2)),
        ("0.5 d", Fraction(12)),
        ("1e3ms", Fraction(1, 3600)),
    ],
)
def test_times(text: str, hours: Fraction) -> None:
    assert parse_hours(text) == hours


@pytest.mark.parametrize("text", ["", "1", "h", "1 hour", "-1h", "1h2", "nan s", "1e999h", "٣h"])
def test_no_times(text: str) -> None:
    with pytest.raises(UsageError, match="is no time"):
        parse_hours(text)
