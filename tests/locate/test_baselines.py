"""The methods that the thesis compares with, and what it says of them."""

from __future__ import annotations

from hypothesis import given
from tests.locate.max_plus_one import max_plus_one
from tests.locate.test_diagnosis import chain, greater, less, systems

from whence.locate.baselines import (
    Single,
    diagcombine,
    intersection,
    replicated,
    single_diagnoses,
    union,
)
from whence.locate.diagnosis import diagnose
from whence.locate.results import Stop
from whence.model.mbd import Observation, System


def test_the_union_of_example_5_1_2_has_all_lines() -> None:
    program = max_plus_one(greater, 1)
    singles, complete = single_diagnoses(
        program.description.system, [program.observation(1, 2), program.observation(2, 1)]
    )
    assert complete
    assert program.lines([[c] for c, _ in union(singles)]) == {
        frozenset({3}),
        frozenset({4}),
        frozenset({6}),
    }
    assert union(singles)[0] == (0, 2)
    assert program.lines([sorted(each) for each in intersection(singles)]) == {frozenset({3})}


def test_the_intersection_of_example_5_1_1_is_empty() -> None:
    program = max_plus_one(less, 0)
    singles, _ = single_diagnoses(
        program.description.system, [program.observation(1, 2), program.observation(2, 1)]
    )
    assert intersection(singles) == ()
    assert program.lines([sorted(each) for each in diagcombine(singles).diagnoses]) == {
        frozenset({4, 6})
    }


@given(systems)
def test_unions_of_all_minimal_diagnoses_are_all_minimal_diagnoses(
    problem: tuple[System, list[Observation]],
) -> None:
    system, observations = problem
    singles, _ = single_diagnoses(system, observations, minimum=False)
    found = diagnose(system, observations, minimum=False)
    assert [single.observation for single in singles] == list(found.failing)
    if singles:
        copies = replicated(system, observations)
        least = min(map(len, found.diagnoses), default=0)
        smallest = {members for members in found.diagnoses if len(members) == least}
        assert {tuple(sorted(each)) for each in copies.diagnoses} == smallest
        combined = diagcombine(singles)
        assert {tuple(sorted(each)) for each in combined.diagnoses} == set(found.diagnoses)


def test_too_many_unions_are_given_up() -> None:
    system, observations = chain(4, 1)
    singles, _ = single_diagnoses(system, observations)
    assert [len(single.diagnoses) for single in singles] == [4]
    many = [
        Single(number, tuple(frozenset({4 * number + place}) for place in range(4)))
        for number in range(40)
    ]
    stopped = diagcombine(many, stop=Stop(checks=1000))
    assert (stopped.built, stopped.complete) == (1000, False)
    assert not diagcombine(many, stop=Stop(seconds=0.05)).complete
