"""One search in this process, and what it took; `benchmarks/run.py` starts one for each.

Use as a program, from the project's folder::

    python -m benchmarks.measure fischer-8
    python -m benchmarks.measure csma_cd-7 --method global --seconds 60
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from benchmarks import models
from benchmarks.instances import METHODS, Instance, Method, Run, instance_named

from whence.explore.compile import Compiled, SearchTables, compile_network
from whence.explore.kernels import tables as t
from whence.explore.search import Budget, Search
from whence.formats.uppaal.elaborate import elaborate
from whence.formats.uppaal.xml import read_xml

__all__ = ["main", "measure"]

#: Large enough to make every array of a search grow, so that all compiled code gets loaded.
_WARM_UP: Final = Instance("fischer", (6,))


def peak_bytes() -> int:
    """The most memory that this process has had, 0 where the system does not tell.

    On Linux not `ru_maxrss`: that starts with what the process that started this one had.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    if sys.platform == "win32":
        return 0
    import resource

    peak = int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    return peak if sys.platform == "darwin" else peak * 1024


def _compiled(instance: Instance) -> Compiled:
    build = getattr(models, instance.family)
    text: str = build(*instance.arguments)
    return compile_network(elaborate(read_xml(text, f"{instance.name}.xml")).network)


def _search_tables(compiled: Compiled, method: Method) -> SearchTables:
    """The tables of a search for nothing, that goes through all states."""
    if method == "alu":
        return compiled.search_tables()
    if method == "lu":
        return compiled.search_tables(cover=t.COVER_INCLUSION)
    merged = compiled.search_tables(cover=t.COVER_INCLUSION, merge_bounds=True)
    lower = merged.tables.lower
    if lower.size == 0:
        return merged
    # The same constants everywhere: the largest of all locations.
    everywhere = np.empty_like(lower)
    everywhere[:] = np.maximum(lower, merged.tables.upper).max(axis=0)
    merged.tables.lower = merged.tables.upper = everywhere
    return merged


def _uncovered(search: Search) -> int:
    """How many states no other covers: those in the lists of their discrete states."""
    nodes = search.store.nodes
    heads = search.store.head[: int(search.store.counts[t.COUNT_ROWS])]
    count = 0
    while len(heads := heads[heads >= 0]):
        count += len(heads)
        heads = nodes[heads, t.NODE_NEXT]
    return count


def measure(
    instance: Instance,
    method: Method = "alu",
    seconds: float | None = None,
    *,
    warm_up: bool = True,
) -> Run:
    """Explores all states of an instance, for at most so many seconds.

    With `warm_up` a small search comes first, so that loading compiled code is not measured.
    """
    if warm_up:
        small = _compiled(_WARM_UP)
        Search(small, _search_tables(small, method)).run()
    compiled = _compiled(instance)
    search = Search(compiled, _search_tables(compiled, method))
    base = peak_bytes()
    began = time.process_time()
    outcome = search.run(Budget(seconds=seconds))
    cpu = time.process_time() - began
    peak = peak_bytes()
    return Run(
        instance=instance.name,
        method=method,
        reason=outcome.reason,
        visited=outcome.states,
        stored=_uncovered(search),
        control_states=int(search.store.counts[t.COUNT_ROWS]),
        transitions=outcome.transitions,
        seconds=outcome.seconds,
        cpu_seconds=cpu,
        peak_bytes=peak,
        base_bytes=base,
        search_bytes=outcome.bytes,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures what the command line asks for, prints a JSON object, returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.measure",
        description="Explore all states of a model in this process; print what it took as JSON.",
    )
    parser.add_argument("instance", help="for example fischer-8 or discrete-4/17")
    parser.add_argument("--method", choices=METHODS, default="alu")
    parser.add_argument("--seconds", type=float, metavar="NUMBER", help="give up after so many")
    given = parser.parse_args(arguments)
    try:
        instance = instance_named(given.instance)
    except ValueError as problem:
        parser.error(str(problem))
    compiled = not os.environ.get("NUMBA_DISABLE_JIT")
    run = measure(instance, given.method, given.seconds, warm_up=compiled)
    print(json.dumps(dataclasses.asdict(run)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
