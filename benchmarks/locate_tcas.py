"""`whence locate` on TCAS of the Siemens suite (Hutchins et al., 1994), and Graussam's tables.

    python -m benchmarks.locate_tcas DIR [--fix] [VERSION...]

With `--fix`, simple edits are tried at the places.

DIR is the folder `tcas` of the suite, with `source.alt/source.orig/tcas.c`,
`versions.alt/versions.orig/v1` to `v41` and `testplans.alt/universe`; nothing of it is part of this
project.  Tests with all twelve arguments and a valid index (0 to 3) are used: the others are
undefined in the original too.
"""

from __future__ import annotations

import difflib
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from whence.formats.c.read import read_c
from whence.locate.diagnosis import Diagnoser
from whence.locate.encode import encode_program
from whence.locate.fault_model import LIKE_THESIS, FaultModel
from whence.locate.fixes import with_fixes
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


@dataclass(frozen=True)
class Mended:
    """What simple edits came to. `rank` as in `Row`, with diagnoses that have candidates first;
    `correct` is the first of the candidates that does what the original does, also for arguments
    that no test has (None: no candidate does)."""

    number: int
    rank: int | None
    candidates: int
    correct: int | None
    change: str
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


#: Values near all that the program compares with.
_NEAR = sorted(
    {value + by for value in (0, 100, 300, 400, 500, 550, 600, 640, 700, 740) for by in (-1, 0, 1)}
)


def arguments(count: int) -> list[Test]:
    """Arguments of no test."""
    random = Random(1994)
    tests = []
    for number in range(count):
        numbers = [random.choice(_NEAR) for _ in range(12)]
        for at, values in ((1, (0, 1)), (2, (0, 1)), (6, range(4)), (9, range(3)), (10, (1, 2))):
            numbers[at] = random.choice(values)
        numbers[11] = random.choice((0, 1))
        argv = tuple(str(value).encode() for value in numbers)
        tests.append(Test(str(number), argv=argv))
    return tests


def mend(folder: Path, number: int, tests: Sequence[Test], others: Sequence[Test]) -> Mended:
    """`others` have what the original does."""
    text = version(folder, number)
    program = _read(text)

    def reread(texts: Mapping[str, str]) -> Program:
        return _read(texts.get("tcas.c", text))

    found = localize(program, "main", tests, Settings(_OWN))
    began = time.perf_counter()
    found = with_fixes(found, program, _OWN, {"tcas.c": text.encode()}, reread)
    seconds = time.perf_counter() - began
    fixes = [fix for diagnosis in found.diagnoses for fix in diagnosis.fixes]
    correct = None
    for at, fix in enumerate(fixes, 1):
        ran = run_tests(Interpreter(reread(fix.texts), options_for(_OWN)), "main", others)
        if not any(each.failure for each in ran):
            correct = at
            break
    edits = fixes[(correct or 1) - 1].edits if fixes else ()
    change = "; ".join(f"{edit.origin.line}: {edit.old} → {edit.new}" for edit in edits)
    first = rank(found, changed(original(folder), text))
    return Mended(number, first, len(fixes), correct, change, seconds)


def _rows(folder: Path, numbers: Sequence[int]) -> Iterator[Row]:
    tests = universe(folder)
    for number in numbers:
        yield measure(folder, number, tests)


def _mended(folder: Path, numbers: Sequence[int]) -> None:
    tests = universe(folder)
    golden = Interpreter(_read(original(folder)), options_for(LIKE_THESIS))
    others = expect(golden, "main", arguments(2_000))[0]
    print(
        "| version | rank of the fault | candidates | correct | the correct one, or the first | s |"
    )
    print("| ---: " * 4 + "| --- | ---: |")
    rows = []
    for number in numbers:
        row = mend(folder, number, tests, others)
        rows.append(row)
        change = f"`{row.change}`".replace("|", "\\|") if row.change else ""
        print(
            f"| v{number} | {row.rank or '-'} | {row.candidates} | {row.correct or '-'} | "
            f"{change} | {row.seconds:.1f} |",
            flush=True,
        )
    first = sum(row.rank is not None and row.rank <= 5 for row in rows)
    some = sum(row.candidates > 0 for row in rows)
    correct = sum(row.correct is not None for row in rows)
    print(
        f"\n{len(rows)} versions: among the first five places in {first}, a candidate in {some}, "
    )
    print(f"a correct one in {correct}; {sum(row.seconds for row in rows):.0f} s.")


def main() -> None:
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    folder = Path(sys.argv[1])
    words = [word for word in sys.argv[2:] if word != "--fix"]
    numbers = [int(word) for word in words] or list(range(1, 42))
    if "--fix" in sys.argv:
        _mended(folder, numbers)
        return
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
