"""`whence locate` on TCAS of the Siemens suite (Hutchins et al., 1994), and Graussam's tables.

    python -m benchmarks.locate_tcas DIR [VERSION...]

DIR is the folder `tcas` of the suite, with `source.alt/source.orig/tcas.c`,
`versions.alt/versions.orig/v1` to `v41` and `testplans.alt/universe`; nothing of it is part of this
project.  Tests with all twelve arguments and a valid index (0 to 3) are used: the others are
undefined in the original too.
"""

from __future__ import annotations

import difflib
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from whence.formats.c.read import read_c
from whence.locate.diagnosis import Diagnoser
from whence.locate.encode import encode_program
from whence.locate.fault_model import LIKE_THESIS, FaultModel
from whence.locate.interpreter import Interpreter
from whence.locate.localize import Localization, Settings, localize, options_for
from whence.locate.observations import expect, run_tests
from whence.model.program import Program
from whence.model.program_test import Test

__all__ = ["FAILING", "LOCATIONS", "Row", "measure", "universe", "version"]

#: Failing tests and reported lines by version (Graussam, tables 7.3 and 7.5).
FAILING = (
    131, 67, 23, 23, 10, 12, 36, 1, 7, 14, 14, 70, 4, 50, 10, 70, 35, 29, 19, 18, 16, 11, 42, 7, 4,
    11, 10, 76, 18, 58, 14, 2, 89, 77, 76, 123, 95, 76, 4, 123, 23,
)  # fmt: skip
LOCATIONS = (
    16, 4, 10, 16, 8, 15, 4, 18, 10, 13, 5, 8, 9, 4, 8, 16, 4, 4, 4, 16, 15, 8, 9, 15, 8, 9, 8, 2,
    3, 4, 15, 15, 5, 8, 2, 2, 5, 2, 8, 10, 16,
)  # fmt: skip
#: Some copies of the suite do not have these faults.
_MISSING = {
    13: ("#define OLEV       600\t", "#define OLEV       600+100\t"),
    14: ("#define MAXALTDIFF 600\t", "#define MAXALTDIFF 600+50\t"),
}
#: The thesis gives the inputs to what `main` calls.
_THESIS = replace(LIKE_THESIS, trusted=frozenset({"main"}))
#: Ours; `main` only reads inputs there too.
_OWN = FaultModel(trusted=frozenset({"main"}))


@dataclass(frozen=True)
class Row:
    """`lines` are those of the thesis' model; `size` and `sets` are of ours, `rank` is the place of
    the first line that was changed among all places in the order of diagnoses (None: not there).
    Seconds: of encoding and all smallest diagnoses."""

    number: int
    failing: int
    lines: int
    thesis_seconds: float
    size: int
    sets: int
    rank: int | None
    seconds: float


def _text(path: Path) -> str:
    return path.read_text(encoding="latin-1")


def original(folder: Path) -> str:
    return _text(folder / "source.alt" / "source.orig" / "tcas.c")


def version(folder: Path, number: int) -> str:
    text = _text(folder / "versions.alt" / "versions.orig" / f"v{number}" / "tcas.c")
    if number in _MISSING:
        text = text.replace(*_MISSING[number])
    return text


def universe(folder: Path) -> tuple[Test, ...]:
    """With what the original does."""
    tests = []
    for number, line in enumerate(_text(folder / "testplans.alt" / "universe").splitlines(), 1):
        words = line.split()
        if len(words) == 12 and 0 <= int(words[6]) <= 3:
            argv = tuple(word.encode() for word in words)
            tests.append(Test(str(number), argv=argv))
    golden = Interpreter(_read(original(folder)), options_for(LIKE_THESIS))
    return expect(golden, "main", tests)[0]


def _read(text: str) -> Program:
    return read_c(["tcas.c"], text=text)


def changed(before: str, after: str) -> set[int]:
    """The lines of the second text that differ; of lines that are missing, those around."""
    one, two = ([line.rstrip() for line in text.splitlines()] for text in (before, after))
    found: set[int] = set()
    matcher = difflib.SequenceMatcher(None, one, two, autojunk=False)
    for what, _, _, start, end in matcher.get_opcodes():
        if what in ("replace", "insert"):
            found |= set(range(start + 1, end + 1))
        elif what == "delete":
            found |= {start, start + 1}
    return found


def rank(found: Localization, lines: set[int]) -> int | None:
    """Of the first of these lines among the places in the order of the diagnoses."""
    seen: list[int] = []
    for diagnosis in found.diagnoses:
        for place in diagnosis.places:
            if place.origin.line not in seen:
                seen.append(place.origin.line)
    return next((at for at, line in enumerate(seen, 1) if line in lines), None)


def measure(folder: Path, number: int, tests: Sequence[Test]) -> Row:
    text = version(folder, number)
    program = _read(text)
    ran = run_tests(Interpreter(program, options_for(_THESIS)), "main", tests)
    failing = [each.test for each in ran if each.failure]
    began = time.perf_counter()
    encoded = encode_program(program, "main", failing, _THESIS, rounds={})
    with Diagnoser(encoded.system, encoded.observations) as diagnoser:
        diagnoses = diagnoser.diagnose()
    thesis = time.perf_counter() - began
    lines = {encoded.places[at].origin.line for at in diagnoses.components}
    began = time.perf_counter()
    encode_program(program, "main", failing, _OWN, rounds={})
    encoding = time.perf_counter() - began
    found = localize(program, "main", tests, Settings(_OWN, witnesses=0))
    searching = found.found.seconds if found.found is not None else 0.0
    return Row(
        number,
        len(failing),
        len(lines),
        thesis,
        min((len(each.places) for each in found.diagnoses), default=0),
        len(found.diagnoses),
        rank(found, changed(original(folder), text)),
        encoding + searching,
    )


def _rows(folder: Path, numbers: Sequence[int]) -> Iterator[Row]:
    tests = universe(folder)
    for number in numbers:
        yield measure(folder, number, tests)


def main() -> None:
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    folder = Path(sys.argv[1])
    numbers = [int(word) for word in sys.argv[2:]] or list(range(1, 42))
    print("| version | #ObsF | thesis | #Loc | thesis | s | size | sets | rank of the fault | s |")
    print("| ---: " * 10 + "|")
    rows = []
    for row in _rows(folder, numbers):
        rows.append(row)
        at = row.number - 1
        print(
            f"| v{row.number} | {row.failing} | {FAILING[at]} | {row.lines} | {LOCATIONS[at]} | "
            f"{row.thesis_seconds:.2f} | {row.size} | {row.sets} | {row.rank or '-'} | "
            f"{row.seconds:.2f} |",
            flush=True,
        )
    same = sum(row.lines == LOCATIONS[row.number - 1] for row in rows)
    first = sum(row.rank is not None and row.rank <= 5 for row in rows)
    there = sum(row.rank is not None for row in rows)
    print(f"\n{len(rows)} versions: #Loc as in the thesis in {same}, the fault found in {there}, ")
    print(f"among the first five places in {first}.")
    for name, seconds in (
        ("like the thesis", [row.thesis_seconds for row in rows]),
        ("our own model", [row.seconds for row in rows]),
    ):
        print(
            f"{name}: mean {sum(seconds) / len(seconds):.2f} s, longest {max(seconds):.2f} s, "
            f"all {sum(seconds):.1f} s"
        )


if __name__ == "__main__":
    main()
