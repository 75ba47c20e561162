"""Diagnoses of small C programs are those that trying all sets of lines finds."""

from __future__ import annotations

from random import Random

import pytest
from tests.reference.faulty_programs import Program, diagnoses, random_program

from whence.formats.c.read import read_c
from whence.locate.fault_model import FaultModel
from whence.locate.localize import Settings, localize
from whence.model.program_test import Expected, Test

MODEL = FaultModel("line", definitions=False)
#: Loops are unrolled twice, whatever the tests do.
SETTINGS = Settings(MODEL, minimum=False, most=3, slack=2, rounds=2, steps=100)


def found(
    program: Program, cases: list[tuple[bool, bool, bool]]
) -> tuple[set[frozenset[int]], list[int]]:
    """The diagnoses, and which tests fail."""
    tests = [
        Test(str(number), (int(a), int(b)), expected=Expected((int(wanted),)))
        for number, (a, b, wanted) in enumerate(cases)
    ]
    result = localize(read_c(["test.c"], text=program.text), "f", tests, SETTINGS)
    sets = {frozenset(place.origin.line for place in each.places) for each in result.diagnoses}
    for each in result.diagnoses:
        assert len(each.witnesses) == min(3, len(result.failing))
    return sets, [int(ran.test.name) for ran in result.failing]


def agrees(seed: int) -> bool:
    program = random_program(seed)
    chance = Random(seed)
    cases = [(a, b, chance.random() < 0.5) for a in (False, True) for b in (False, True)]
    sets, failing = found(program, cases)
    if not failing:
        return False
    expected = diagnoses(program, [cases[number] for number in failing], 3)
    assert sets == expected, f"{seed}\n{program.text}\n{cases}"
    return True


def test_random_programs() -> None:
    assert sum(agrees(seed) for seed in range(40)) > 20


@pytest.mark.nightly
@pytest.mark.parametrize("start", range(1000, 3000, 100))
def test_many_random_programs(start: int) -> None:
    for seed in range(start, start + 100):
        agrees(seed)
