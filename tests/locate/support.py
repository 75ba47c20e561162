"""Programs, runs of them, and a compiler to compare with."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from whence.formats.c.read import COptions, read_c
from whence.locate.interpreter import Interpreter
from whence.locate.outcome import Options, Outcome
from whence.model.program import Program

PROGRAMS = Path(__file__).with_name("programs")


def parsed(text: str, options: COptions | None = None) -> Program:
    return read_c(["test.c"], options, text=text)


def run(text: str, entry: str = "main", *args: object, **keywords: object) -> Outcome:
    """Runs a text; keywords of `Options` and of `Interpreter.run`."""
    of_run = {
        name: keywords.pop(name)
        for name in ("argv", "stdin", "globals", "observe")
        if name in keywords
    }
    interpreter = Interpreter(parsed(text), Options(**keywords))  # type: ignore[arg-type]
    return interpreter.run(entry, list(args) if args else None, **of_run)  # type: ignore[arg-type]


def compiler() -> str:
    found = shutil.which("gcc")
    if found is None:
        pytest.skip("there is no gcc to compare with")
    return found


def compiled(source: Path, to: Path, *options: str) -> Path:
    """The program that gcc makes, with signed arithmetic that wraps."""
    command = [compiler(), "-w", "-O0", "-fwrapv", "-fno-strict-aliasing", "-std=gnu99"]
    subprocess.run([*command, *options, "-o", str(to), str(source), "-lm"], check=True)
    return to
