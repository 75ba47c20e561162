"""Seed single modifications into correct timed models, and repair what they break.

This is the evaluation of Kölbl's thesis (section 10.5.2), on its eight models. Use as a program::

    python benchmarks/repair_mutants.py                      # everything, or what is left of it
    python benchmarks/repair_mutants.py --model csma         # one model
    python benchmarks/repair_mutants.py --limit 10           # some modifications of each
    python benchmarks/repair_mutants.py --markdown           # and rewrite the tables in README.md
    python benchmarks/repair_mutants.py --show               # the tables of what is there

Results are kept in build/repair-mutants.jsonl: a run that is started again goes on where it was.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # for a start as a program, which knows its own folder only

from benchmarks.mending import MODELS, Case, Mutant, Settings, evaluate, fingerprint, seeds, warm_up
from benchmarks.readme import README, MissingMarkers, facts, machine, split
from benchmarks.repair_tables import repair_tables
from benchmarks.tables import to_markdown, to_rich

__all__ = ["main"]

_MARK: Final = "repair tables"
_RESULTS: Final = ROOT / "build" / "repair-mutants.jsonl"
#: So many modifications wait for a worker, at most.
_AHEAD: Final = 8

_Key = tuple[str, int]


# -------------------------------------------------------------------------------------- results


def _read(file: Path) -> list[Mutant]:
    """What is there; the end of a file whose writer was killed is cut off."""
    if not file.exists():
        return []
    data = file.read_bytes()
    whole = data[: data.rfind(b"\n") + 1]
    if len(whole) < len(data):
        with file.open("r+b") as stream:
            stream.truncate(len(whole))
    return [Mutant.from_json(line) for line in whole.decode("utf-8").splitlines()]


def _chosen(count: int, limit: int | None) -> list[int]:
    """The numbers of at most `limit` modifications out of `count`, evenly spread."""
    if limit is None or limit >= count:
        return list(range(count))
    return [number * count // limit for number in range(limit)]


def _early(keys: Sequence[_Key]) -> list[_Key]:
    """In an order in which every beginning is spread evenly over the models and over the
    modifications of each: what is there after an interruption is a fair sample."""
    by_model: dict[str, list[_Key]] = {}
    for key in keys:
        by_model.setdefault(key[0], []).append(key)
    placed: list[tuple[float, _Key]] = []
    for of_model in by_model.values():
        width = len(of_model).bit_length()
        # The first half of a binary order comes before what lies between, and so on (van der
        # Corput): numbers by their digits from right to left.
        order = sorted(range(len(of_model)), key=lambda n: int(f"{n:0{width}b}"[::-1], 2))
        placed += [(place / len(order), of_model[n]) for place, n in enumerate(order)]
    return [key for _, key in sorted(placed, key=lambda each: each[0])]


def _fair(todo: Sequence[_Key], known: Mapping[_Key, Mutant]) -> set[_Key]:
    """What is known without a gap in that order: all, if everything is."""
    fair: set[_Key] = set()
    ended: set[str] = set()
    for key in _early(todo):
        if key not in known:
            ended.add(key[0])
        elif key[0] not in ended:
            fair.add(key)
    return fair


def _begin() -> None:
    """What a worker does first. An interrupt is for the process that waits for it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    warm_up()


def _results(
    folder: Path,
    cases: Sequence[Case],
    limit: int | None,
    settings: Settings,
    workers: int,
    file: Path,
) -> list[Mutant]:
    """All results, in the order of models and modifications; what is not there yet is made, unless
    there are no workers."""
    prints = {case.name: fingerprint(folder / case.file, settings) for case in cases}
    todo: list[_Key] = [
        (case.name, number)
        for case in cases
        for number in _chosen(seeds(folder / case.file), limit)
    ]
    known = {
        (mutant.model, mutant.number): mutant
        for mutant in _read(file)
        if prints.get(mutant.model) == mutant.settings
    }
    paths = {case.name: folder / case.file for case in cases}
    left = [key for key in _early(todo) if key not in known]
    if left and workers:
        file.parent.mkdir(parents=True, exist_ok=True)
        # The kernels are compiled once, before there are several who need them.
        first = left.pop(0)
        with file.open("a", encoding="utf-8") as stream, _progress() as progress:
            task = progress.add_task("", total=len(todo), completed=len(todo) - len(left) - 1)

            def keep(mutant: Mutant) -> None:
                stream.write(mutant.to_json() + "\n")
                stream.flush()
                known[mutant.model, mutant.number] = mutant
                traces = sum(m.verdict == "violated" for m in known.values())
                text = f"{mutant.model} {mutant.number}, {traces} traces"
                progress.update(task, advance=1, description=text)

            warm_up()
            keep(evaluate(first[0], paths[first[0]], first[1], settings))
            _evaluate_all(left, paths, settings, workers, keep)
    fair = _fair(todo, known)
    return [known[key] for key in todo if key in fair]


def _evaluate_all(
    left: Sequence[_Key],
    paths: dict[str, Path],
    settings: Settings,
    workers: int,
    keep: Callable[[Mutant], None],
) -> None:
    pool = ProcessPoolExecutor(workers, get_context("spawn"), _begin)
    with pool:
        try:
            waiting = set()
            for name, number in left:
                waiting.add(pool.submit(evaluate, name, paths[name], number, settings))
                if len(waiting) >= workers + _AHEAD:
                    done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                    for future in done:
                        keep(future.result())
            while waiting:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                for future in done:
                    keep(future.result())
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _progress() -> Progress:
    return Progress(
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.description}"),
        console=Console(stderr=True),
    )


# ------------------------------------------------------------------------------------ reporting


def _markdown(mutants: Sequence[Mutant], counts: dict[str, int], settings: Settings) -> str:
    return "\n".join(
        [_measured(), *map(to_markdown, repair_tables(mutants, counts, settings.seconds))]
    )


def _measured() -> str:
    return f"Measured on: {facts(machine())}.\n"


def _show(mutants: Sequence[Mutant], counts: dict[str, int], settings: Settings) -> None:
    console = Console()
    if not console.is_terminal:
        console = Console(width=140)
    console.print(_measured(), highlight=False, style="dim")
    for table in repair_tables(mutants, counts, settings.seconds):
        console.print(to_rich(table))
        for note in table.notes:
            console.print(note, highlight=False, style="dim")
        console.print()


# --------------------------------------------------------------------------------- command line


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Seed modifications into correct models, and repair what they break.",
        epilog="A run goes on where the one before ended, if the settings are the same.",
    )
    parser.add_argument(
        "folder",
        nargs="?",
        type=Path,
        default=ROOT.parent / "shared" / "data" / "uppaal" / "tartar",
        help="where the models are (default: ../shared/data/uppaal/tartar beside the project)",
    )
    parser.add_argument(
        "--model",
        action="append",
        choices=[case.name for case in MODELS],
        metavar="NAME",
        help="only this one; several times for several: " + ", ".join(case.name for case in MODELS),
    )
    parser.add_argument(
        "--limit", type=int, metavar="N", help="only N modifications of each model, evenly spread"
    )
    defaults = Settings()
    parser.add_argument(
        "--seconds",
        type=float,
        default=defaults.seconds,
        help="budget of each search in a test of admissibility (default: %(default)s)",
    )
    parser.add_argument(
        "--repairs",
        type=int,
        default=defaults.repairs,
        metavar="N",
        help="look for so many repairs of each kind (default: %(default)s)",
    )
    parser.add_argument("--workers", type=int, default=2, metavar="N", help="(default: 2)")
    parser.add_argument(
        "--show",
        action="store_const",
        dest="workers",
        const=0,
        help="do nothing more; only show what is there of a run that was interrupted",
    )
    parser.add_argument(
        "--results", type=Path, default=_RESULTS, metavar="FILE", help="where results are kept"
    )
    parser.add_argument(
        "--markdown",
        nargs="?",
        const=str(README),
        metavar="FILE",
        help="rewrite the tables between the marker comments in FILE (default: "
        "benchmarks/README.md); with - print them instead",
    )
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Does what the command line asks for and returns the exit status."""
    parser = _parser()
    given = parser.parse_args(arguments)
    cases = [case for case in MODELS if given.model is None or case.name in given.model]
    missing = [case.file for case in cases if not (given.folder / case.file).exists()]
    if missing:
        print(f"skipped: {given.folder} does not have {', '.join(missing)}", file=sys.stderr)
        return 0
    for name in ("repairs", "limit"):
        value = getattr(given, name)
        if value is not None and value < 1:
            parser.error(f"--{name} must be at least 1")
    file = Path(given.markdown) if given.markdown not in (None, "-") else None
    if file == README and (given.limit or len(cases) < len(MODELS)):
        parser.error("the tables in benchmarks/README.md are for everything; name another FILE")
    settings = replace(Settings(), seconds=given.seconds, repairs=given.repairs)
    try:
        if file is not None:
            split(file, _MARK)  # better to miss the markers now than after an hour
        mutants = _results(given.folder, cases, given.limit, settings, given.workers, given.results)
        counts = {case.name: seeds(given.folder / case.file) for case in cases}
        if given.markdown == "-":
            sys.stdout.write(_markdown(mutants, counts, settings))
        else:
            _show(mutants, counts, settings)
        if file is not None:
            before, after = split(file, _MARK)
            text = _markdown(mutants, counts, settings)
            file.write_text(f"{before}\n{text}{after}", encoding="utf-8")
    except (MissingMarkers, OSError) as problem:
        print(f"benchmark failed: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted; start again to go on", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
