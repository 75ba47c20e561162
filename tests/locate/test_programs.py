"""Hand-written programs, feature by feature. What they should print stands in `.out` files, and a
compiler that is there must agree."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.locate.support import PROGRAMS, compiled

from whence.formats.c.read import COptions, read_c
from whence.locate.interpreter import Interpreter
from whence.locate.outcome import Options

#: Exit statuses, as C says.
STATUS = {"expressions": 254, "knr": 3, "library": 7, "switches": 8}
NAMES = sorted(path.stem for path in PROGRAMS.glob("*.c"))


def stdin(name: str) -> bytes:
    path = PROGRAMS / f"{name}.in"
    return path.read_bytes() if path.exists() else b""


@pytest.mark.parametrize("name", NAMES)
def test_prints_what_it_should(name: str) -> None:
    program = read_c([PROGRAMS / f"{name}.c"])
    outcome = Interpreter(program, Options(signed_overflow="wrap")).run(stdin=stdin(name))
    assert (outcome.end, outcome.message) == ("exit", "")
    assert outcome.stdout.decode() == (PROGRAMS / f"{name}.out").read_text()
    assert outcome.exit_code == STATUS.get(name, 0)


@pytest.mark.parametrize("name", NAMES)
def test_a_compiler_agrees(name: str, tmp_path: Path) -> None:
    program = compiled(PROGRAMS / f"{name}.c", tmp_path / name)
    result = subprocess.run([program], input=stdin(name), capture_output=True)
    assert result.stdout.decode() == (PROGRAMS / f"{name}.out").read_text()
    assert result.returncode == STATUS.get(name, 0)


@pytest.mark.parametrize("name", ["jumps", "switches", "data", "recursion"])
def test_noting_dependences_changes_nothing(name: str) -> None:
    program = read_c([PROGRAMS / f"{name}.c"])
    options = Options(signed_overflow="wrap", dependences=True)
    outcome = Interpreter(program, options).run(stdin=stdin(name))
    assert outcome.stdout.decode() == (PROGRAMS / f"{name}.out").read_text()
    assert outcome.events


@pytest.mark.parametrize(
    ("name", "model"),
    [("jumps", "ilp32"), ("jumps", "int16"), ("macros", "int16"), ("switches", "ilp32")],
)
def test_other_data_models(name: str, model: str) -> None:
    """These programs do not depend on the widths of types."""
    program = read_c([PROGRAMS / f"{name}.c"], COptions(data_model=model))
    outcome = Interpreter(program).run()
    assert outcome.stdout.decode() == (PROGRAMS / f"{name}.out").read_text()
