"""Random programs do here what they do when gcc has compiled them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.locate.generate import program
from tests.locate.support import compiled

from whence.formats.c.read import read_c
from whence.locate.interpreter import Interpreter
from whence.locate.outcome import Options


def agrees(seed: int, folder: Path, **options: bool) -> None:
    source = folder / f"{seed}.c"
    source.write_text(program(seed))
    expected = subprocess.run(
        [compiled(source, folder / str(seed))], capture_output=True, timeout=60
    )
    interpreter = Interpreter(
        read_c([source]),
        Options(signed_overflow="wrap", **options),  # type: ignore[arg-type]
    )
    outcome = interpreter.run()
    assert (outcome.end, outcome.message) == ("exit", ""), seed
    assert outcome.stdout == expected.stdout, seed
    assert outcome.exit_code == expected.returncode, seed
    again = interpreter.run()
    assert again == outcome, seed


@pytest.mark.parametrize("seed", range(8))
def test_random_programs(seed: int, tmp_path: Path) -> None:
    agrees(seed, tmp_path)


@pytest.mark.parametrize("seed", range(8, 10))
def test_random_programs_with_dependences(seed: int, tmp_path: Path) -> None:
    agrees(seed, tmp_path, dependences=True)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(1000, 1400))
def test_many_random_programs(seed: int, tmp_path: Path) -> None:
    agrees(seed, tmp_path, coverage=seed % 2 == 0)
