"""How fast `whence triage` is, from the files of logs to the report.

Makes the workload of `benchmarks.triage_study` (half of the traces conform, half have one or two
faults; 40 messages on average, up to 2,500) with three broken logs among them, and measures each
number of processes in a process of its own: reading, replaying, explaining, classifying, and
writing the answer as a page, JSON, SARIF and JUnit.

Use as a program, from the project's folder::

    python -m benchmarks.triage_logs --traces 1000 10000 --workers 1 2
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.ecu_requirements import paper_sized
from benchmarks.measure import peak_bytes
from benchmarks.triage_study import workload, write

from whence.api.triage import OUTPUTS, save, triage
from whence.triage.models import PrdModel

__all__ = ["main", "measure"]

_BROKEN = {"broken_empty.log": "", "broken_text.log": "Dear diary,\n",
           "broken_quiet.log": "(1.0) can0 123#00\n"}  # fmt: skip


def measure(logs: Path, output: Path, workers: int) -> dict[str, Any]:
    """One run over a folder."""
    model = PrdModel(automaton=paper_sized(), requirements={}, parameters={})
    began = time.perf_counter()
    found = triage(model, [logs], workers=workers)
    searched = time.perf_counter()
    for ending in OUTPUTS:
        save(found, output / f"answer{ending}")
    written = time.perf_counter()
    return {
        "traces": len(found.traces),
        "messages": sum(trace.events for trace in found.traces),
        "faults": len(found.faults),
        "classes": len(found.classes),
        "broken": len(found.of_verdict("broken")),
        "workers": workers,
        "seconds": written - began,
        "writing": written - searched,
        "cpu": sum(os.times()[:4]),
        "peak": peak_bytes(),
        "peak_of_workers": _peak_of_children(),
    }


def _peak_of_children() -> int:
    if sys.platform == "win32":
        return 0
    import resource

    return int(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss) * 1024


def _row(found: dict[str, Any]) -> str:
    several = f" + {found['peak_of_workers'] >> 20} each" if found["workers"] > 1 else ""
    each = 1e6 * found["cpu"] / found["messages"]
    return (
        f"| {found['traces']:,} | {found['messages']:,} | {found['broken']} | {found['workers']} | "
        f"{found['faults']:,} | {found['classes']} | {found['seconds']:.1f} | "
        f"{found['writing']:.1f} | {found['cpu']:.1f} | {each:.0f} | "
        f"{found['peak'] >> 20}{several} |"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--traces", type=int, nargs="+", default=[1000])
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.measure:
        logs, output, workers = options.measure
        print(json.dumps(measure(Path(logs), Path(output), int(workers))))
        return
    print(
        "| traces | messages | broken | processes | faults | classes | seconds | of them writing "
        "| seconds of processors | µs a message | peak MiB |\n"
        "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    )
    for count in options.traces:
        with tempfile.TemporaryDirectory() as place:
            logs, output = Path(place) / "logs", Path(place) / "output"
            output.mkdir()
            write(workload(count), logs)
            for name, text in _BROKEN.items():
                (logs / name).write_text(text, encoding="ascii")
            for workers in options.workers:
                command = [sys.executable, "-m", "benchmarks.triage_logs", "--measure"]
                ended = subprocess.run(
                    [*command, str(logs), str(output), str(workers)],
                    stdout=subprocess.PIPE,
                    check=True,
                )
                print(_row(json.loads(ended.stdout)), flush=True)


if __name__ == "__main__":
    main()
