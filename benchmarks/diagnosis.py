"""How long diagnosis takes: ours, and the methods that others combine observations with.

Use as a program, from the project's folder::

    python benchmarks/diagnosis.py                       # made circuits
    python benchmarks/diagnosis.py --markdown            # and rewrite the tables in README.md
    python benchmarks/diagnosis.py --engines             # the SAT solvers compared
    python benchmarks/diagnosis.py --instances DIR --hsd PROGRAM
                                                         # files of others, and their tool

A file's folder has `.wcnf` or `.wcnf.gz` files in the format of `whence.formats.mbd`.
"""

from __future__ import annotations

import argparse
import gzip
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from benchmarks.gates import Faulty, faulty
from benchmarks.statements import Program, program

from whence.formats.mbd import read_mbd_file
from whence.locate import baselines
from whence.locate.diagnosis import Diagnoser
from whence.locate.results import Diagnoses, Stop
from whence.model.mbd import Observation, System
from whence.solve.sat import ENGINES

_BEGIN: Final = "<!-- diagnosis -->"
_END: Final = "<!-- /diagnosis -->"
SECONDS: Final = 20.0

#: (gates, observations, faults)
BY_OBSERVATIONS: Final = [(300, count, 2) for count in (1, 10, 100, 1_000)]
BY_COMPONENTS: Final = [(count, 20, 2) for count in (100, 300, 1_000, 3_000, 10_000)]


#: (statements, observations)
PROGRAMS: Final = [(30, 1), (30, 10), (30, 100), (30, 1_000), (100, 20), (300, 20), (1_000, 20)]


def instance(gates: int, observations: int, faults: int) -> Faulty:
    for seed in range(1, 100):
        try:
            return faulty(gates, observations, faults, seed)
        except ValueError:
            continue
    raise AssertionError("no seed will do")


def wrong_program(statements: int, observations: int) -> Program:
    for seed in range(1, 100):
        try:
            return program(statements, observations, seed)
        except ValueError:
            continue
    raise AssertionError("no seed will do")


def ours(
    system: System,
    observations: Sequence[Observation],
    *,
    minimum: bool = True,
    engine: str = ENGINES[0],
    seconds: float = SECONDS,
) -> tuple[float, Diagnoses]:
    began = time.perf_counter()
    with Diagnoser(system, observations, engine=engine) as diagnoser:
        found = diagnoser.diagnose(minimum=minimum, stop=Stop(seconds=seconds))
    return time.perf_counter() - began, found


def _timed(run: Callable[[], str | None], mine: float) -> str:
    """Seconds, how many times ours that is, and what is told of it; `>`: it was stopped."""
    began = time.perf_counter()
    told = run()
    seconds = time.perf_counter() - began
    more = "> " if told is None else ""
    ratio = f"{more}{seconds / mine:,.1f}×"
    return f"{more}{seconds:,.2f} | {ratio} | {told or '–'}"


def row(system: System, observations: Sequence[Observation]) -> str:
    seconds, found = ours(system, observations, seconds=3 * SECONDS)
    count = f"| {len(system.components):,} | {len(system.clauses):,} | {len(observations):,} "
    if not found.complete:
        return f"{count}| > {seconds:.2f} |" + " – |" * 13
    size = len(found.diagnoses[0])
    stop = Stop(seconds=SECONDS)

    def by_union() -> str | None:
        singles, complete = baselines.single_diagnoses(system, observations, stop=stop)
        return f"{len(baselines.union(singles)):,}" if complete else None

    def by_diagcombine() -> str | None:
        began = time.perf_counter()
        # What it needs to find all that we found, and no more.
        singles, complete = baselines.single_diagnoses(
            system, observations, minimum=False, max_size=size, stop=stop
        )
        left = SECONDS - (time.perf_counter() - began)
        if not complete or left <= 0:
            return None
        combined = baselines.diagcombine(singles, stop=Stop(seconds=left))
        return f"{len(combined.diagnoses):,} of {combined.built:,}" if combined.complete else None

    def by_copies() -> str | None:
        combined = baselines.replicated(system, observations, stop=stop)
        if combined.complete:
            same = {tuple(sorted(each)) for each in combined.diagnoses} == set(found.diagnoses)
            assert same, "not the same diagnoses"
        return f"{len(combined.diagnoses):,}" if combined.complete else None

    one = "– | – | –"
    if system.variables * len(observations) <= 500_000:
        one = _timed(by_copies, seconds)
    return (
        f"{count}| {seconds:.3f} | {found.checks:,} | {size} | {len(found.diagnoses):,} "
        f"| {len(found.components):,} | {_timed(by_union, seconds)} "
        f"| {_timed(by_diagcombine, seconds)} | {one} |"
    )


def tables() -> Iterator[str]:
    yield (
        "| components | clauses | observations | ours, s | checks | size | diagnoses "
        "| their components | union, s | ratio | components | DiagCombine, s | ratio "
        "| diagnoses of unions | one formula, s | ratio | diagnoses |"
    )
    yield "|" + " ---: |" * 17
    for case in (*BY_OBSERVATIONS, *BY_COMPONENTS):
        made = instance(*case)
        yield row(made.description.system, made.observations)
    for statements, observations in PROGRAMS:
        written = wrong_program(statements, observations)
        yield row(written.description.system, written.observations)
    yield ""
    yield (
        f"> : stopped after {SECONDS:g} s; one formula was not tried with more than 500,000 "
        "variables. All smallest diagnoses; first of circuits with two gates stuck, then of "
        "programs of 32-bit arithmetic with one wrong statement. Union: of each "
        "observation's smallest diagnoses, by MaxSAT (BugAssist); it has no diagnoses, but their "
        "components. DiagCombine: all unions of diagnoses of single observations, up to the size "
        "of ours (SNIPER). One formula: MaxSAT of all copies (CFaults)."
    )


def engines() -> Iterator[str]:
    yield "| gates | observations | " + " | ".join(f"{engine}, s" for engine in ENGINES) + " |"
    yield "| ---: | ---: |" + " ---: |" * len(ENGINES)
    for gates, observations, faults in ((300, 100, 2), (1_000, 20, 2), (3_000, 20, 2)):
        made = instance(gates, observations, faults)
        cells = []
        for engine in ENGINES:
            seconds, found = ours(made.description.system, made.observations, engine=engine)
            cells.append(f"{'' if found.complete else '> '}{seconds:.2f}")
        yield f"| {gates:,} | {observations:,} | {' | '.join(cells)} |"


def instances(folder: Path, program: Path | None, limit: float) -> Iterator[str]:
    """All minimal diagnoses of files, ours and those of the HSD tool, which must be the same."""
    yield "| instance | components | observations | diagnoses | ours, s | HSD, s | ratio |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    total = [0.0, 0.0]
    for path in sorted([*folder.rglob("*.wcnf"), *folder.rglob("*.wcnf.gz")]):
        began = time.perf_counter()
        problem = read_mbd_file(path)
        reading = time.perf_counter() - began
        seconds, found = ours(problem.system, problem.observations, minimum=False, seconds=limit)
        seconds += reading
        total[0] += seconds
        theirs = "–"
        ratio = "–"
        if program is not None:
            other, diagnoses = _hsd(path, program, limit)
            total[1] += other
            theirs = f"{other:.3f}" if diagnoses is not None else f"> {other:.3f}"
            ratio = f"{seconds / other:.2f}"
            if diagnoses is not None and found.complete:
                assert diagnoses == set(found.diagnoses), f"{path}: not the same diagnoses"
        more = "" if found.complete else "> "
        yield (
            f"| {path.name.partition('.')[0]} | {len(problem.system.components):,} "
            f"| {len(problem.observations):,} | {len(found.diagnoses):,} | {more}{seconds:.3f} "
            f"| {theirs} | {ratio} |"
        )
    together = f"{total[0] / total[1]:.2f}" if total[1] else "–"
    yield f"| all | | | | {total[0]:.1f} | {total[1]:.1f} | {together} |"


def _hsd(path: Path, program: Path, limit: float) -> tuple[float, set[tuple[int, ...]] | None]:
    data = path.read_bytes()
    with tempfile.NamedTemporaryFile(suffix=".wcnf") as plain:
        plain.write(gzip.decompress(data) if path.suffix == ".gz" else data)
        plain.flush()
        began = time.perf_counter()
        try:
            done = subprocess.run(
                [str(program), "-e", "all", "-c", "-s", "-v", plain.name],
                capture_output=True,
                text=True,
                timeout=limit,
            )
        except subprocess.TimeoutExpired:
            return time.perf_counter() - began, None
        seconds = time.perf_counter() - began
    found = {
        tuple(sorted(int(word) - 1 for word in line.split()[2:-1]))
        for line in done.stdout.splitlines()
        if line.startswith("c D:")
    }
    return seconds, found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--engines", action="store_true")
    parser.add_argument("--instances", type=Path)
    parser.add_argument("--hsd", type=Path)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds a file")
    arguments = parser.parse_args()
    if arguments.instances:
        lines = instances(arguments.instances, arguments.hsd, arguments.limit)
    else:
        lines = engines() if arguments.engines else tables()
    said = []
    for line in lines:
        print(line, flush=True)
        said.append(line)
    if arguments.markdown:
        readme = ROOT / "benchmarks" / "README.md"
        before, _, rest = readme.read_text().partition(_BEGIN)
        _, _, after = rest.partition(_END)
        readme.write_text("\n".join([f"{before}{_BEGIN}", *said, f"{_END}{after}"]))


if __name__ == "__main__":
    main()
