"""The Siemens programs (Hutchins et al., 1994), where they are at hand.

`WHENCE_SIEMENS` names a folder with a folder for each program as the repository
Software-Fault-Location-By-SiemensSuite has them: `tcas/source.alt/source.orig/tcas.c`,
`tcas/testplans.alt/universe`, `schedule/inputs/...`. Nothing of it is part of this project.
"""

from __future__ import annotations

import os
import random
import shlex
import subprocess
from pathlib import Path

import pytest
from tests.locate.support import compiled

from whence.formats.c.read import read_c
from whence.locate.interpreter import Interpreter
from whence.locate.outcome import Options

PROGRAMS = (
    "tcas",
    "schedule",
    "schedule2",
    "printtokens",
    "printtokens2",
    "replace",
    "totinfo",
)
#: These read behind the end of their tables for some inputs, and gcc's program goes on. Of tcas,
#: Graussam reports it too (section 7.3.1).
BEYOND = {"tcas": "index", "printtokens": "index"}


@pytest.mark.parametrize("name", PROGRAMS)
def test_runs_as_compiled(name: str, tmp_path: Path) -> None:
    folder = Path(os.environ.get("WHENCE_SIEMENS", "")) / name
    if "WHENCE_SIEMENS" not in os.environ or not folder.is_dir():
        pytest.skip("WHENCE_SIEMENS does not name a folder with this program")
    (source,) = (folder / "source.alt" / "source.orig").glob("*.c")
    inputs = folder / "inputs"
    program = compiled(source, tmp_path / name)
    files = {}
    if inputs.is_dir():
        files = {
            str(path.relative_to(inputs)): path.read_bytes()
            for path in inputs.rglob("*")
            if path.is_file()
        }
        files.update({f"../inputs/{path}": data for path, data in files.items()})
    interpreter = Interpreter(read_c([source]), Options(signed_overflow="wrap", files=files))
    universe = (folder / "testplans.alt" / "universe").read_text(errors="surrogateescape")
    count = 1000 if os.environ.get("WHENCE_PROFILE") == "nightly" else 25
    lines = universe.splitlines()
    compared = 0
    for line in random.Random(7).sample(lines, min(count, len(lines))):
        try:
            words = shlex.split(line)
        except ValueError:
            continue
        stdin = b""
        if "<" in words:
            position = words.index("<")
            if words[position + 1] not in files:
                continue
            stdin = files[words[position + 1]]
            words = words[:position]
        arguments = [word.encode("utf-8", "surrogateescape") for word in words]
        expected = subprocess.run(
            [program, *arguments],
            input=stdin,
            capture_output=True,
            cwd=inputs if inputs.is_dir() else None,
        )
        outcome = interpreter.run(argv=arguments, stdin=stdin)
        if outcome.end == "undefined" and outcome.message.startswith(BEYOND.get(name, "nothing")):
            assert expected.stdout.startswith(outcome.stdout)
            continue
        assert (outcome.end, outcome.stdout) == ("exit", expected.stdout), line
        # `schedule` returns from `main` without a value: then the status is anything.
        assert outcome.exit_code in (None, expected.returncode), line
        compared += 1
    assert compared > count // 2
