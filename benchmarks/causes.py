"""How long causality checking takes: our search, beside the algorithms of the thesis.

Use as a program, from the project's folder::

    python benchmarks/causes.py                      # all models, each in a process of its own
    python benchmarks/causes.py railroad airbag      # some of them
    python benchmarks/causes.py --baselines 60       # CTBS, DSPM and the rest get 60 s each
    python benchmarks/causes.py --markdown           # and rewrite the tables in README.md

The models of the thesis' evaluation (Koelbl, Tables 5.1 and 5.2) are not public; ours are of the
same kinds and sizes.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from benchmarks import charts
from benchmarks.measure import peak_bytes

from whence.api import System
from whence.causes.causality import CausesOptions, causes_of
from whence.causes.ctbs import CausalTraces, causal_trace_backward_search
from whence.causes.dspm import duplicate_state_prefix_matching, ignore_duplicates
from whence.causes.prepared import prepare
from whence.causes.traces import Stop
from whence.formats.charts.yaml import read_chart_file
from whence.model.chart import Chart
from whence.model.transitions import TransitionSystem

_BEGIN: Final = "<!-- causes -->"
_END: Final = "<!-- /causes -->"


@dataclass(frozen=True)
class Case:
    """`hazard` None: the only one. `depth`: how far the thesis' tool was asked to look.
    `baselines`: whether the algorithms of the thesis are tried as well."""

    make: Callable[[], Chart]
    hazard: str | None = None
    depth: int | None = None
    baselines: bool = True


def _example(name: str) -> Callable[[], Chart]:
    return lambda: read_chart_file(ROOT / "examples" / name)


CASES: Final[dict[str, Case]] = {
    "railroad": Case(_example("railroad.yaml")),
    "airbag": Case(charts.airbag),
    "channels-3": Case(lambda: charts.channels(3)),
    "channels-4": Case(lambda: charts.channels(4)),
    "radar-3": Case(lambda: charts.radar(3)),
    "ads-1": Case(_example("ads_variant1.yaml"), "SG1"),
    "ads-2": Case(_example("ads_variant2.yaml"), "SG1"),
    "radar-4": Case(lambda: charts.radar(4), depth=60, baselines=False),
}
BASELINES: Final = ("CTBS, BFS", "CTBS, DFS", "DSPM, modified", "ignore duplicates")


@dataclass(frozen=True)
class Row:
    """What one model took; `baselines` are (name, seconds, traces, whether these are all)."""

    name: str
    states: int
    transitions: int
    blocks: int
    traces: int
    causes: int
    complete: bool
    exploring: float
    seconds: float
    absences: float | None
    bytes: int
    baselines: tuple[tuple[str, float, int, bool], ...] = ()


def measure(name: str, limit: float) -> Row:
    case = CASES[name]
    # Loads all compiled code.
    warm = System(read_chart_file(ROOT / "examples" / "railroad.yaml"))
    warm.causes(non_occurrence=1)
    began = time.perf_counter()
    system, hazard = System(case.make()).explored(case.hazard)
    exploring = time.perf_counter() - began
    bad = system.propositions["bad"]
    began = time.perf_counter()
    stop = Stop(depth=case.depth)
    result = causes_of(system, bad, CausesOptions(stop=stop), hazard=hazard)
    seconds = time.perf_counter() - began
    peak = peak_bytes()
    absences = None
    if system.states < 100_000:
        began = time.perf_counter()
        causes_of(system, bad, CausesOptions(non_occurrence=1, stop=stop), hazard=hazard)
        absences = time.perf_counter() - began
    return Row(
        name=name,
        states=system.states,
        transitions=system.transitions,
        blocks=prepare(system, bad).graph.states if system.states < 2_000_000 else 0,
        traces=result.causal_traces,
        causes=len(result.causes),
        complete=result.complete,
        exploring=exploring,
        seconds=seconds,
        absences=absences,
        bytes=peak,
        baselines=_baselines(system, limit) if case.baselines and limit else (),
    )


def _baselines(system: TransitionSystem, limit: float) -> tuple[tuple[str, float, int, bool], ...]:
    tried: dict[str, Callable[[], CausalTraces]] = {
        "CTBS, BFS": lambda: causal_trace_backward_search(system, order="bfs", seconds=limit),
        "CTBS, DFS": lambda: causal_trace_backward_search(system, order="dfs", seconds=limit),
        "DSPM, modified": lambda: duplicate_state_prefix_matching(
            system, modified=True, seconds=limit
        ),
        "ignore duplicates": lambda: ignore_duplicates(system),
    }
    found = []
    for name, run in tried.items():
        if system.states > 100_000:
            continue
        began = time.perf_counter()
        traces = run()
        seconds = time.perf_counter() - began
        found.append((name, seconds, len(traces.traces), traces.complete))
    return tuple(found)


# ------------------------------------------------------------------------------------ the tables


def tables(rows: Sequence[Row], limit: float) -> str:
    lines = [
        "| model | states | transitions | states that count | causal traces | causes | explored, s "
        "| causes, s | with what must not happen, s | peak MiB |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in rows:
        traces = f"{row.traces:,}" if row.traces < 10**9 else f"{row.traces:.2e}"
        blocks = f"{row.blocks:,}" if row.blocks else "–"
        absences = "–" if row.absences is None else f"{row.absences:.2f}"
        lines.append(
            f"| {row.name} | {row.states:,} | {row.transitions:,} | {blocks} | {traces} "
            f"| {row.causes} | {row.exploring:.2f} | {row.seconds:.2f} | {absences} "
            f"| {row.bytes / 2**20:,.0f} |"
        )
    lines += [
        "",
        "All searches ended by themselves, with all causes. Seconds are wall time on one core.",
        "",
        "The algorithms of the thesis on the same systems, ours in the first column"
        + (f"; each had {limit:.0f} s:" if limit else ":"),
        "",
        "| model | ours | " + " | ".join(BASELINES) + " |",
        "| --- | ---: |" + " ---: |" * len(BASELINES),
    ]
    for row in rows:
        if not row.baselines:
            continue
        cells = []
        for name in BASELINES:
            known = {found[0]: found for found in row.baselines}
            _, seconds, count, complete = known[name]
            late = "" if complete or name == "ignore duplicates" else "> "
            ratio = seconds / row.seconds if row.seconds else 0
            cells.append(f"{late}{seconds:.2f} s ({ratio:,.0f}×), {count:,} traces")
        lines.append(
            f"| {row.name} | {row.seconds:.2f} s, {row.traces:,} traces | {' | '.join(cells)} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", choices=[*CASES, []], help="all by default")
    parser.add_argument("--baselines", type=float, default=60.0, metavar="SECONDS")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        row = measure(given.models[0], given.baselines)
        print(json.dumps(dataclasses.asdict(row)))
        return
    rows = []
    for name in given.models or CASES:
        command = [sys.executable, __file__, name, "--one", "--baselines", str(given.baselines)]
        ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        row = Row(**json.loads(ended.stdout))
        rows.append(row)
        print(f"{name}: {row.states:,} states, {row.causes} causes in {row.seconds:.2f} s")
    text = tables(rows, given.baselines)
    print(text)
    if given.markdown:
        file = ROOT / "benchmarks" / "README.md"
        before, _, rest = file.read_text(encoding="utf-8").partition(_BEGIN)
        _, _, after = rest.partition(_END)
        file.write_text(f"{before}{_BEGIN}\n{text}\n{_END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
