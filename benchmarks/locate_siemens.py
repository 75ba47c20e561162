"""`whence locate` on the larger programs of the Siemens suite (Hutchins et al., 1994).

    python -m benchmarks.locate_siemens DIR PROGRAM [VERSION...] [--tests N]

DIR has a folder for each program as the repository Software-Fault-Location-By-SiemensSuite has
them; PROGRAM is one of schedule, schedule2, printtokens, printtokens2, replace, totinfo (or tcas).
Nothing of it is part of this project.  Of the universe, N tests are run (300 by default), evenly
spread; where none of them fails, all are.  What is right is what the original program does.
"""

from __future__ import annotations

import re
import shlex
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.locate_tcas import changed

from whence.formats.c.read import read_c
from whence.locate.fault_model import FaultModel
from whence.locate.interpreter import Interpreter
from whence.locate.localize import Settings, localize, options_for
from whence.locate.observations import expect, run_tests
from whence.locate.results import Stop
from whence.model.program_test import Test
from whence.source import WhenceError

__all__ = ["Row", "files_of", "measure", "universe"]

_STEPS = 100_000
_SECONDS = 240.0


@dataclass(frozen=True)
class Row:
    """`certain` and `open` are the diagnoses that explain the tests that were considered, and those
    that could not be excluded. `rank` is the place of the first line that was changed among the
    places in the order of diagnoses (None: not there). Seconds of processor time, without running
    the tests."""

    version: str
    tests: int
    failing: int
    engine: str
    components: int
    certain: int
    open: int
    rank: int | None
    sure: bool
    seconds: float
    reason: str


def files_of(folder: Path) -> dict[str, bytes]:
    """The inputs, by the names that the universe has for them."""
    inputs = folder / "inputs"
    if not inputs.is_dir():
        return {}
    found = {
        str(path.relative_to(inputs)): path.read_bytes()
        for path in sorted(inputs.rglob("*"))
        if path.is_file()
    }
    return {**found, **{f"../inputs/{name}": data for name, data in found.items()}}


def universe(folder: Path, files: Mapping[str, bytes]) -> list[Test]:
    tests = []
    text = (folder / "testplans.alt" / "universe").read_text(errors="surrogateescape")
    for number, line in enumerate(text.splitlines(), 1):
        try:
            words = shlex.split(line)
        except ValueError:
            continue
        stdin = b""
        if "<" in words:
            at = words.index("<")
            if words[at + 1] not in files:
                continue
            stdin = files[words[at + 1]]
            words = words[:at]
        argv = tuple(word.encode("utf-8", "surrogateescape") for word in words)
        tests.append(Test(str(number), argv=argv, stdin=stdin))
    return tests


def _source(folder: Path) -> Path:
    (found,) = folder.glob("*.c")
    return found


def at_fault(original: str, text: str) -> set[int]:
    """The lines that were changed; where code became a comment, the lines of code around."""
    bare = re.sub(
        r"/\*.*?\*/", lambda match: "\n" * match[0].count("\n"), text, flags=re.DOTALL
    ).split("\n")
    found: set[int] = set()
    for line in changed(original, text):
        if 0 < line <= len(bare) and bare[line - 1].strip():
            found.add(line)
            continue
        for step in (-1, 1):
            at = line + step
            while 0 < at <= len(bare) and bare[at - 1].strip() in ("", "{", "}"):
                at += step
            found.add(at)
    return found


def measure(folder: Path, version: str, tests: Sequence[Test], count: int) -> Row | None:
    """None: no test fails."""
    files = files_of(folder)
    model = FaultModel()
    options = options_for(model, _STEPS, files)
    original = _source(folder / "source.alt" / "source.orig")
    golden = Interpreter(read_c([original]), options)
    source = _source(folder / "versions.alt" / "versions.orig" / version)
    program = read_c([source])
    some = list(tests[:: max(1, len(tests) // count)])
    for chosen in (some, list(tests)):
        asked, _ = expect(golden, "main", chosen)
        ran = run_tests(Interpreter(program, options), "main", asked)
        failing = [each for each in ran if each.failure]
        if failing:
            break
    else:
        return None
    passing = [each.test for each in ran if not each.failure][:count]
    kept = [each.test for each in failing] + passing
    settings = Settings(model, witnesses=0, steps=_STEPS, files=files, stop=Stop(seconds=_SECONDS))
    began = time.process_time()
    run_tests(Interpreter(program, options), "main", kept)
    running = time.process_time() - began
    began = time.process_time()
    found = localize(program, "main", kept, settings)
    seconds = time.process_time() - began - running
    lines = at_fault(original.read_text(encoding="latin-1"), source.read_text(encoding="latin-1"))
    seen: list[int] = []
    sure = False
    for diagnosis in found.diagnoses:
        for place in diagnosis.places:
            if place.origin.line not in seen:
                seen.append(place.origin.line)
            sure = sure or (place.origin.line in lines and not diagnosis.open)
    reason = found.found.reason if found.found is not None else ""
    return Row(
        version,
        len(kept),
        len(failing),
        found.engine,
        found.components,
        sum(not each.open for each in found.diagnoses),
        sum(each.open for each in found.diagnoses),
        next((at for at, line in enumerate(seen, 1) if line in lines), None),
        sure,
        seconds,
        reason,
    )


def main() -> None:
    words = sys.argv[1:]
    count = 300
    if "--tests" in words:
        at = words.index("--tests")
        count = int(words[at + 1])
        del words[at : at + 2]
    if len(words) < 2:
        raise SystemExit(__doc__)
    folder = Path(words[0]) / words[1]
    tests = universe(folder, files_of(folder))
    versions = words[2:] or [
        f"v{number}"
        for number in range(1, 50)
        if list((folder / "versions.alt" / "versions.orig" / f"v{number}").glob("*.c"))
    ]
    print(
        "| version | tests | failing | engine | places | certain | open | rank of the fault | s |"
    )
    print("| --- | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: |")
    for version in versions:
        try:
            row = measure(folder, version, tests, count)
        except WhenceError as error:
            print(f"| {version} | {error.diagnostics[0].render()} |", flush=True)
            continue
        if row is None:
            print(f"| {version} | {len(tests)} | 0 | | | | | | |", flush=True)
            continue
        rank = f"{row.rank or '-'}{'' if row.sure or row.rank is None else ' (open)'}"
        print(
            f"| {version} | {row.tests} | {row.failing} | {row.engine} | {row.components} | "
            f"{row.certain} | {row.open} | {rank} | {row.seconds:.0f}"
            f"{', partial' if row.reason else ''} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
