"""Measure how many states whence visits on known models, how fast, and in how much memory.

Every search runs in a process of its own, so that its peak memory is its own. Use as a program::

    python benchmarks/run.py                     # everything, as tables on the terminal
    python benchmarks/run.py fischer fddi-10     # some of it
    python benchmarks/run.py --cold --markdown   # and rewrite the tables in benchmarks/README.md
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from rich.console import Console

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # for a start as a program, which knows its own folder only

from benchmarks import models
from benchmarks.instances import (
    INSTANCES,
    METHODS,
    TCHECKER,
    TCHECKER_SOURCE,
    Instance,
    Method,
    Run,
)
from benchmarks.readme import README, MissingMarkers, facts, machine, split
from benchmarks.tables import Measured, Report, tables_of, to_markdown, to_rich

__all__ = ["main"]

#: What the marker comments in benchmarks/README.md call these tables.
_MARK: Final = "tables"


class MeasuringError(Exception):
    """A run failed, or its counts cannot be right."""


# ------------------------------------------------------------------------------------ measuring


def _process(arguments: Sequence[str], **environment: str) -> tuple[float, str]:
    """Runs Python with these arguments: its seconds and what it printed."""
    began = time.perf_counter()
    ended = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    seconds = time.perf_counter() - began
    if ended.returncode != 0:
        message = (ended.stderr or ended.stdout).strip()
        raise MeasuringError(f"{' '.join(arguments)}: exit status {ended.returncode}\n{message}")
    return seconds, ended.stdout


def _measure(instance: Instance, method: Method, seconds: float | None) -> Run:
    """One search in a process of its own."""
    arguments = ["-m", "benchmarks.measure", instance.name, "--method", method]
    if seconds is not None:
        arguments += ["--seconds", str(seconds)]
    return Run(**json.loads(_process(arguments)[1]))


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _starts(cold: bool, repeat: int) -> dict[str, float]:
    """How long `whence` takes on a model of two processes, in seconds.

    The first start fills the cache of compiled code, if it must.
    """
    starts: dict[str, float] = {}
    with tempfile.TemporaryDirectory(prefix="whence-bench-") as folder:
        model = Path(folder) / "fischer-2.xml"
        model.write_text(models.fischer(2))
        check = ["-m", "whence", "check", str(model)]
        if cold:
            _say("compiling everything anew")
            cache = str(Path(folder) / "cache")
            starts["`whence check`, nothing compiled yet"] = _process(
                check, WHENCE_CACHE_DIR=cache
            )[0]
        _say("first start")
        starts["`whence check`, first start here"] = _process(check)[0]
        for name in ("check", "info"):
            seconds = [_process(["-m", "whence", name, str(model)])[0] for _ in range(repeat)]
            starts[f"`whence {name}`, warm start"] = statistics.median(seconds)
    return starts


def _results(
    instances: Sequence[Instance], repeat: int, time_limit: float, compare: bool
) -> tuple[Measured, ...]:
    """All runs. Repetitions go around, so that a busy minute does not hit one instance only."""
    _measure(Instance("fischer", (4,)), "alu", None)  # compiles what the command does not use
    runs: dict[tuple[Instance, Method], list[Run]] = {}
    for round_number in range(repeat):
        for instance in instances:
            run = _measure(instance, "alu", None)
            runs.setdefault((instance, "alu"), []).append(run)
            _say(f"{instance.name}, {round_number + 1} of {repeat}: {run.seconds:.3f} s")
    for instance in instances:
        # Without clocks there is nothing to abstract from.
        if compare and not instance.large and instance.family != "discrete":
            for method in METHODS[1:]:
                run = _measure(instance, method, time_limit)
                runs[instance, method] = [run]
                _say(f"{instance.name}, {method}: {run.seconds:.3f} s, {run.reason}")
    results = tuple(Measured(*key, tuple(found)) for key, found in runs.items())
    for result in results:
        _verify(result, runs[result.instance, "alu"][0])
    return results


def _verify(result: Measured, ours: Run) -> None:
    """The counts are the same each time; so are the discrete states, whatever the method."""
    counts = {(run.reason, run.visited, run.stored, run.transitions) for run in result.runs}
    if result.complete and (
        len(counts) > 1 or result.runs[0].control_states != ours.control_states
    ):
        raise MeasuringError(f"{result.instance.name}, {result.method}: counts differ")
    if result.method == "alu":
        if not result.complete:
            raise MeasuringError(f"{result.instance.name}: ended early: {ours.reason}")
        if result.instance.family == "discrete" and (
            models.discrete_size(*result.instance.arguments) != (ours.visited, ours.transitions)
        ):
            raise MeasuringError(f"{result.instance.name}: not the exact number of states")


# ------------------------------------------------------------------------------------ reporting


def _to_json(report: Report) -> str:
    results = [
        {
            "instance": result.instance.name,
            "method": result.method,
            "seconds": result.seconds,
            "peak_bytes": result.peak_bytes,
            "runs": [dataclasses.asdict(run) for run in result.runs],
        }
        for result in report.results
    ]
    numbers = {name: dataclasses.asdict(reference) for name, reference in TCHECKER.items()}
    return json.dumps(
        {
            "machine": report.machine,
            "starts": report.starts,
            "time_limit": report.time_limit,
            "results": results,
            "tchecker": {"source": TCHECKER_SOURCE, "numbers": numbers},
        },
        indent=2,
    )


def _markdown(report: Report) -> str:
    sections = [f"Measured on: {facts(report.machine)}.\n", *map(to_markdown, tables_of(report))]
    return "\n".join(sections)


def _show(report: Report) -> None:
    console = Console()
    if not console.is_terminal:
        console = Console(width=120)
    console.print(f"Measured on: {facts(report.machine)}", highlight=False, style="dim")
    for table in tables_of(report):
        console.print(to_rich(table))
        for note in table.notes:
            console.print(note, highlight=False, style="dim")
        console.print()


# --------------------------------------------------------------------------------- command line


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Measure whence on known models, each run in a process of its own.",
        epilog="Without names, all instances are measured.",
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="a model, or an instance of it: fddi, fischer-8"
    )
    parser.add_argument(
        "--repeat", type=int, default=3, metavar="N", help="runs of each instance (default: 3)"
    )
    parser.add_argument(
        "--large",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="include discrete-4/17, with 10,077,696 states (default: yes)",
    )
    parser.add_argument(
        "--compare",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="explore with coarser methods, too (default: yes)",
    )
    parser.add_argument(
        "--time-limit",
        type=float,
        default=30.0,
        metavar="SECONDS",
        help="when the methods for comparison give up (default: 30)",
    )
    parser.add_argument(
        "--cold",
        action="store_true",
        help="measure a start with an empty cache, too, in which everything is compiled",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all numbers into a file")
    parser.add_argument(
        "--markdown",
        nargs="?",
        const=str(README),
        metavar="FILE",
        help="rewrite the tables between the marker comments in FILE (default: "
        "benchmarks/README.md); with - print them instead",
    )
    return parser


def _chosen(names: Sequence[str], large: bool) -> list[Instance]:
    """The instances that are meant; `ValueError` on a name that means none."""
    for name in names:
        if not any(name in (instance.family, instance.name) for instance in INSTANCES):
            raise ValueError(f"no such model or instance: {name}")
    return [
        instance
        for instance in INSTANCES
        if (not names and (large or not instance.large))
        or instance.name in names
        or (instance.family in names and (large or not instance.large))
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures what the command line asks for and returns the exit status."""
    parser = _parser()
    given = parser.parse_args(arguments)
    try:
        instances = _chosen(given.names, given.large)
    except ValueError as problem:
        parser.error(str(problem))
    if given.repeat < 1:
        parser.error("--repeat must be at least 1")
    file = Path(given.markdown) if given.markdown not in (None, "-") else None
    if file == README and len(instances) < len(INSTANCES):
        parser.error("the tables in benchmarks/README.md are for all instances; name another FILE")
    try:
        if file is not None:
            split(file, _MARK)  # better to miss the markers now than after minutes
        starts = _starts(given.cold, given.repeat)
        results = _results(instances, given.repeat, given.time_limit, given.compare)
        report = Report(machine(), starts, results, given.time_limit)
        if given.json is not None:
            given.json.write_text(_to_json(report) + "\n", encoding="utf-8")
        if given.markdown == "-":
            sys.stdout.write(_markdown(report))
        else:
            _show(report)
        if file is not None:
            before, after = split(file, _MARK)
            file.write_text(f"{before}\n{_markdown(report)}{after}", encoding="utf-8")
    except (MeasuringError, MissingMarkers, OSError) as problem:
        print(f"benchmark failed: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
