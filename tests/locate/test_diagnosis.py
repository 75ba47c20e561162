"""Diagnosis with several observations: the thesis' examples, and all subsets of small systems."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.locate.max_plus_one import max_plus_one
from tests.reference import diagnoses as reference

from whence.locate.diagnosis import Diagnoser, diagnose
from whence.locate.results import Progress, Stop
from whence.model.mbd import Component, Observation, System
from whence.solve import words
from whence.solve.circuits import Circuit, Literal
from whence.solve.words import Word


def less(circuit: Circuit, a: Word, b: Word) -> Literal:
    return words.less(circuit, a, b, signed=True)


def greater(circuit: Circuit, a: Word, b: Word) -> Literal:
    return words.less(circuit, b, a, signed=True)


# --------------------------------------------------------------------------------- golden numbers


def by_hand(
    condition: Callable[[int, int], bool], added: int, observations: Sequence[tuple[int, int]]
) -> set[frozenset[int]]:
    """The smallest diagnoses of equation 5.4, from its text: a line that is not healthy may have
    any value, another one in each observation."""

    def explains(lines: Sequence[int], a: int, b: int) -> bool:
        guards = [True, False] if 3 in lines else [condition(a, b)]
        firsts = range(-5, 6) if 4 in lines else [b + added]
        seconds = range(-5, 6) if 6 in lines else [a + added]
        return any(
            max(a, b) < (first if guard else second)
            for guard in guards
            for first in firsts
            for second in seconds
        )

    for size in range(4):
        found = {
            frozenset(lines)
            for lines in combinations((3, 4, 6), size)
            if all(explains(lines, a, b) for a, b in observations)
        }
        if found:
            return found
    return set()


def test_example_5_1_1_two_faults_on_different_paths() -> None:
    """The thesis names {4, 6}, the faults. By its own equations there are two more of that size:
    where line 3 can go either way, one of the assignments can serve both observations."""
    program = max_plus_one(less, 0)
    first, second = program.observation(1, 2), program.observation(2, 1)
    system = program.description.system
    assert program.lines(diagnose(system, [first]).diagnoses) == {frozenset({4})}
    assert program.lines(diagnose(system, [second]).diagnoses) == {frozenset({6})}
    both = program.lines(diagnose(system, [first, second]).diagnoses)
    assert frozenset({4, 6}) in both
    assert both == by_hand(lambda a, b: a < b, 0, [(1, 2), (2, 1)])
    assert both == {frozenset({4, 6}), frozenset({3, 4}), frozenset({3, 6})}
    # If the condition is beyond doubt, the thesis' diagnosis is the only one.
    sure = replace(system, clauses=(*system.clauses, (system.components[0].healthy,)))
    assert program.lines(diagnose(sure, [first, second]).diagnoses) == {frozenset({4, 6})}


def test_example_5_1_2_more_observations_are_more_precise() -> None:
    program = max_plus_one(greater, 1)
    first, second = program.observation(1, 2), program.observation(2, 1)
    system = program.description.system
    assert program.lines(diagnose(system, [first]).diagnoses) == {frozenset({3}), frozenset({6})}
    assert program.lines(diagnose(system, [second]).diagnoses) == {frozenset({3}), frozenset({4})}
    both = diagnose(system, [first, second])
    assert program.lines(both.diagnoses) == {frozenset({3})}
    assert {frozenset({3})} == by_hand(lambda a, b: a > b, 1, [(1, 2), (2, 1)])
    assert both.complete
    assert both.components == (0,)


def test_the_witness_says_what_would_have_been_right() -> None:
    program = max_plus_one(less, 0)
    observations = [program.observation(1, 2), program.observation(2, 1)]
    with Diagnoser(program.description.system, observations) as diagnoser:
        assert diagnoser.witness([1], 1) is None
        witness = diagnoser.witness([1, 2], 0)
        assert witness is not None
        (g,) = program.description.values(witness, [program.doubted[0]], signed=False)
        (result1,) = program.description.values(witness, [program.doubted[1]], signed=True)
        assert g == 1
        assert result1 > 2
        a, b = program.description.values(witness, program.inputs, signed=True)
        assert (a, b) == (1, 2)


def test_passing_observations_change_nothing() -> None:
    """Section 7.5."""
    program = max_plus_one(greater, 1)
    failing = [program.observation(1, 2), program.observation(2, 1)]
    passing = [program.observation(value, value) for value in range(5)]
    system = program.description.system
    mixed = diagnose(system, [passing[0], *failing, *passing[1:]])
    assert mixed.failing == (1, 2)
    assert mixed.diagnoses == diagnose(system, failing).diagnoses
    nothing = diagnose(system, passing)
    assert (nothing.diagnoses, nothing.failing) == (((),), ())


# ------------------------------------------------------------------------------- against all sets


def system_from(seed: int) -> tuple[System, list[Observation]]:
    """Gates in a row, each a component; or, now and then, clauses without a plan."""
    rng = Random(seed)
    count, inputs = rng.choice([1, 3, 4, 4, 5]), rng.randint(1, 2)
    healthy = [rng.choice([1, -1]) * number for number in range(1, count + 1)]
    variables = 2 * count + inputs

    def literal(first: int, last: int) -> int:
        return rng.choice([1, -1]) * rng.randint(first, last)

    clauses: list[tuple[int, ...]] = []
    if rng.random() < 0.8:
        for number, h in enumerate(healthy):
            y = count + inputs + number + 1
            p, q = (literal(count + 1, y - 1) for _ in range(2))
            if rng.random() < 0.5:
                clauses += [(-h, -y, p), (-h, -y, q), (-h, y, -p, -q)]
            else:
                clauses += [(-h, -y, p, q), (-h, -y, -p, -q), (-h, y, -p, q), (-h, y, p, -q)]
    else:
        for _ in range(rng.randint(1, 12)):
            clause = [literal(count + 1, variables) for _ in range(rng.randint(1, 3))]
            if rng.random() < 0.9:
                clause.append(-rng.choice(healthy))
            clauses.append(tuple(clause))
    outputs = rng.randint(1, min(2, count))
    seen = [*range(count + 1, count + inputs + 1), *range(variables - outputs + 1, variables + 1)]
    observations = [
        Observation(tuple(rng.choice([1, -1]) * v for v in seen)) for _ in range(rng.randint(1, 3))
    ]
    return System(variables, tuple(clauses), tuple(map(Component, healthy))), observations


# Numbers that hypothesis draws itself are mostly small, and such systems have one diagnosis.
systems = st.integers(0, 2**32).map(system_from)


@given(systems, st.none() | st.integers(0, 3))
def test_all_minimal_diagnoses_of_small_systems(
    problem: tuple[System, list[Observation]], max_size: int | None
) -> None:
    system, observations = problem
    expected = reference.all_minimal(
        system.variables,
        system.clauses,
        [component.healthy for component in system.components],
        [observation.literals for observation in observations],
    )
    with Diagnoser(system, observations) as diagnoser:
        every = diagnoser.diagnose(minimum=False, max_size=max_size)
        fewest = diagnoser.diagnose(max_size=max_size)
        for members in every.diagnoses[:2]:
            for number in range(len(observations)):
                assert diagnoser.witness(members, number) is not None
    within = {each for each in expected if max_size is None or len(each) <= max_size}
    assert set(map(frozenset, every.diagnoses)) == within
    assert len(every.diagnoses) == len(within)
    least = min(map(len, within), default=0)
    assert set(map(frozenset, fewest.diagnoses)) == {each for each in within if len(each) == least}
    assert every.complete
    assert fewest.complete
    assert (fewest.below is None) == (bool(within) or not expected or every.below is None)
    assert bool(every.unexplained) == (not expected)
    if every.below is None:
        assert within == expected
    else:
        assert max_size is not None
        assert every.below == max_size + 1
    # A conflict is one, and no larger than it must be.
    numbers = frozenset(range(len(system.components)))
    for conflict in every.conflicts:
        possible = reference.unhealthy_sets(
            system.variables,
            system.clauses,
            observations[conflict.observation].literals,
            [component.healthy for component in system.components],
        )
        assert not reference.consistent(possible, numbers - conflict.components)
        assert all(conflict.components & set(members) for members in every.diagnoses)
        for number in conflict.components:
            assert reference.consistent(possible, numbers - conflict.components | {number})


# ------------------------------------------------------------------------------------- the manners


def test_an_observation_that_nothing_explains() -> None:
    system = System(3, ((-1, 3), (2,)), (Component(1),))
    observations = [Observation((-3,)), Observation((-2, 3)), Observation((-2,))]
    found = diagnose(system, observations)
    assert (found.diagnoses, found.unexplained, found.complete) == ((), (1, 2), True)
    with Diagnoser(system, observations) as diagnoser:
        assert diagnoser.contradiction(1) == (-2,)
        assert diagnoser.contradiction(0) is None


def chain(count: int, faults: int) -> tuple[System, list[Observation]]:
    """So many rows of `count` inverters that should not change a value, and do."""
    clauses, healthy, literals = [], [], []
    last = faults * count
    for row in range(faults):
        first = last + 1
        for number in range(count):
            h, x, y = row * count + number + 1, first + number, first + number + 1
            clauses += [(-h, -x, y), (-h, x, -y)]
            healthy.append(Component(h))
        last = first + count
        literals += [first, -last]
    return System(last, tuple(clauses), tuple(healthy)), [Observation(tuple(literals))]


def test_it_can_be_stopped_and_says_what_it_has() -> None:
    system, observations = chain(6, 4)
    everything = diagnose(system, observations)
    assert len(everything.diagnoses) == 6**4
    assert everything.below is None
    stopped = diagnose(system, observations, stop=Stop(checks=60))
    assert stopped.reason.startswith("stopped after ")
    assert not stopped.complete
    assert 0 < len(stopped.diagnoses) < 6**4
    assert stopped.below == 4
    assert set(stopped.diagnoses) < set(everything.diagnoses)
    began = time.perf_counter()
    late = diagnose(*chain(30, 5), stop=Stop(seconds=0.2))
    assert late.reason == "stopped after 0.2 s"
    assert time.perf_counter() - began < 2


def test_it_tells_how_far_it_has_come() -> None:
    told: list[Progress] = []
    system, observations = chain(3, 2)
    found = diagnose(system, observations, progress=told.append)
    assert len(told) == len(found.conflicts) + len(found.diagnoses)
    assert (told[-1].size, told[-1].diagnoses, told[-1].conflicts) == (2, 9, 2)
    assert [each.checks for each in told] == sorted(each.checks for each in told)


def test_ctrl_c_ends_it_with_what_is_known() -> None:
    def interrupt(progress: Progress) -> None:
        if progress.diagnoses == 5:
            raise KeyboardInterrupt

    found = diagnose(*chain(6, 2), progress=interrupt)
    assert found.reason == "interrupted"
    assert len(found.diagnoses) == 5


def test_the_same_question_has_the_same_answer() -> None:
    program = max_plus_one(less, 0)
    observations = [program.observation(1, 2), program.observation(2, 1)]
    answers = [diagnose(program.description.system, observations, minimum=False) for _ in range(2)]
    assert answers[0].conflicts == answers[1].conflicts
    assert answers[0].checks == answers[1].checks


@pytest.mark.parametrize(
    ("components", "observation"),
    [((1, -1), ()), ((0,), ()), ((5,), ()), ((1,), (0,)), ((1,), (7,))],
)
def test_systems_that_make_no_sense(
    components: tuple[int, ...], observation: tuple[int, ...]
) -> None:
    system = System(2, (), tuple(map(Component, components)))
    with pytest.raises(ValueError, match="variable"):
        diagnose(system, [Observation(observation)])
