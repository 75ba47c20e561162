"""What is encoded agrees with the interpreter."""

from __future__ import annotations

import random

import pytest
from tests.locate.encodable import encodable

from whence.formats.c.read import read_c
from whence.locate.diagnosis import Diagnoser
from whence.locate.encode import encode_program
from whence.locate.fault_model import FaultModel
from whence.locate.interpreter import Interpreter
from whence.locate.observations import Expected, Ran, Test
from whence.locate.outcome import Options
from whence.locate.unrolling import unrolling

OPTIONS = Options(signed_overflow="wrap")


def agrees(seed: int) -> None:
    """A program in which nothing is suspected can do what it does for inputs that it does not know
    beforehand, and nothing else."""
    text, names = encodable(seed)
    program = read_c(["test.c"], text=text)
    interpreter = Interpreter(program, OPTIONS)
    chance = random.Random(seed)
    right, wrong = [], []
    for number in range(3):
        given = {name: chance.choice([0, 1]) for name in names}
        outcome = interpreter.run("main", globals=given)
        assert outcome.end == "exit"
        out, code = outcome.stdout, outcome.exit_code
        assert code is not None
        # The last digit that is printed, and the exit status.
        changed = out[:-2] + bytes([(out[-2] - 47) % 10 + 48]) + out[-1:]
        right.append((given, Expected(stdout=out, exit_code=code)))
        wrong.append((given, Expected(stdout=out, exit_code=code ^ 1)))
        wrong.append((given, Expected(stdout=changed, exit_code=code)))
        if number == 0:
            wrong.append((given, Expected(stdout=out + b"x", exit_code=code)))
    tests = [
        Test(str(at), globals=one, expected=two) for at, (one, two) in enumerate(right + wrong)
    ]
    ran = [Ran(test, interpreter.run("main", globals=test.globals), "") for test in tests[:3]]
    bounds = unrolling(program, "main", ran, OPTIONS, slack=0)
    model = FaultModel(trusted=frozenset(program.functions), definitions=False)
    encoded = encode_program(
        program, "main", tests, model, rounds=bounds.rounds, depth=bounds.depth
    )
    assert not encoded.places
    with Diagnoser(encoded.system, encoded.observations) as diagnoser:
        assert diagnoser.failing() == tuple(range(3, len(tests))), seed


@pytest.mark.parametrize("seed", [0, 3, 5, 6, 7, 9])
def test_random_programs(seed: int) -> None:
    agrees(seed)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(10, 60))
def test_many_random_programs(seed: int) -> None:
    agrees(seed)
