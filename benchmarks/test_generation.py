"""How fast suites are generated, and what each acceleration is good for.

`python -m benchmarks.test_generation` prints the tables of benchmarks/README.md: parallel machines
with timers and 16-bit data, two of which depend on each other; all coverage goals; each variant in
a process of its own, with a limit of time.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Any

from whence.formats.charts.yaml import read_chart, read_chart_file
from whence.testing.elaborate import elaborate
from whence.testing.generate import GenerateSettings, generate
from whence.testing.model import TimedModel
from whence.testing.reach import Settings
from whence.testing.runs import Runs
from whence.testing.semantics.simulator import Simulator
from whence.testing.walks import Walker

SIZES = (2, 4, 8, 12)
BOUND = 20
TURN_INDICATOR = Path(__file__).resolve().parents[1] / "examples" / "turn_indicator.yaml"


def chart(machines: int) -> str:
    """So many machines; each second one needs the one before."""
    lines = ["variables:"]
    for k in range(1, machines + 1):
        lines += [f"  go{k}: input bool", f"  level{k}: 'input int[0,65535]'"]
    lines.append("machines:")
    for k in range(1, machines + 1):
        needs = f" && M{k - 1}.Busy" if k % 2 == 0 else ""
        lines += [
            f"  M{k}:",
            "    variables: {t: timer, n: uint16}",
            "    initial: Idle",
            "    states:",
            "      Idle: {entry: n = 0}",
            "      Armed: {entry: reset(t)}",
            "      Busy: {entry: reset(t)}",
            "      Done: {entry: reset(t)}",
            "    transitions:",
            f"      - {{from: Idle, to: Armed, when: 'go{k} && level{k} > {1000 * k}{needs}'}}",
            f"      - {{from: Armed, to: Idle, when: '!go{k}', priority: 0}}",
            "      - from: Armed",
            "        to: Busy",
            f"        when: elapsed(t, {50 + k})",
            f"        do: n = n + level{k}",
            "        priority: 1",
            f"      - {{from: Busy, to: Done, when: 'n > 50000 && level{k} == {k}', priority: 0}}",
            f"      - {{from: Busy, to: Armed, when: 'level{k} == 40000 && elapsed(t, 30)', "
            "priority: 1}",
            "      - {from: Busy, to: Idle, when: 'n == 12345', priority: 2}",
            "      - {from: Done, to: Idle, when: 'elapsed(t, 100)'}",
        ]
    return "\n".join((*lines, ""))


REACH = Settings(bound=BOUND, cases=200)
ALL = GenerateSettings(reach=REACH)
VARIANTS = {
    "all": ALL,
    "no simulation": replace(ALL, walks=0, patience=0, starts=0),
    "no abstract interpretation": replace(ALL, reach=replace(REACH, abstract=False)),
    "no cone of influence": replace(ALL, reach=replace(REACH, cone=False)),
    "no kept solver": replace(ALL, reach=replace(REACH, incremental=False)),
    "plain bounded model checking": replace(
        ALL,
        walks=0,
        patience=0,
        starts=0,
        reach=replace(REACH, abstract=False, cone=False),
    ),
}


def one(machines: int, variant: str, limit: float) -> dict[str, Any]:
    model = elaborate(read_chart(chart(machines), f"{machines} machines"))
    settings = replace(VARIANTS[variant], seconds=limit)
    suite = generate(model, settings)
    return {
        "goals": len(suite.goals),
        "covered": suite.count("covered"),
        "unreachable": suite.count("unreachable"),
        "seconds": suite.seconds,
        "depth": max((goal.step or 0 for goal in suite.goals), default=0),
    }


def simulation(model: TimedModel, steps: int = 400_000) -> tuple[float, float]:
    """Steps of the simulator alone, and of random walks with their book-keeping, a second."""
    simulator = Simulator(model)
    state = simulator.initial([v.initial for v in model.variables if v.free])
    values = [[v.limits[k % 2] for v in model.variables if v.free] for k in range(2)]
    step, limit, wait = simulator.step, simulator.limit, simulator.wait
    began = perf_counter()
    for k in range(steps):
        after = step(state)
        state = wait(state, limit(state), values[k >> 3 & 1]) if after is None else after
    alone = steps / (perf_counter() - began)
    walker = Walker(Runs(model, simulator, ()), Random(0))
    walker.begin()
    began = perf_counter()
    while walker.steps < steps:
        walker._one(walker._start())
    return alone, walker.steps / (perf_counter() - began)


def measured(machines: int, variant: str, limit: float) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.test_generation", "--one", str(machines), variant]
    command += ["--limit", str(limit)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=3 * limit + 30)
        found: dict[str, Any] = json.loads(done.stdout)
        return found
    except (subprocess.TimeoutExpired, ValueError):
        return {"goals": 0, "covered": 0, "unreachable": 0, "seconds": 3 * limit + 30, "depth": 0}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--one", nargs=2)
    parser.add_argument("--limit", type=float, default=60.0)
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    chosen = parser.parse_args()
    if chosen.one:
        print(json.dumps(one(int(chosen.one[0]), chosen.one[1], chosen.limit)))
        return
    print(
        "| machines | variant | goals | covered | unreachable | seconds | goals/s | depth | ratio |"
    )
    print("| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for machines in chosen.sizes:
        base = None
        for variant in VARIANTS:
            row = measured(machines, variant, chosen.limit)
            base = base or row
            settled = row["covered"] + row["unreachable"]
            missing = settled < base["covered"] + base["unreachable"]
            ratio = row["seconds"] / base["seconds"]
            print(
                f"| {machines} | {variant} | {base['goals']} | {row['covered']} | "
                f"{row['unreachable']} | {row['seconds']:.2f} | {settled / row['seconds']:.1f} | "
                f"{row['depth']} | {'> ' if missing else ''}{ratio:.1f}× |",
                flush=True,
            )
    alone, walks = simulation(elaborate(read_chart_file(TURN_INDICATOR)))
    print(f"\nturn indicator: {alone:,.0f} steps/s of the simulator, {walks:,.0f} in random walks")


if __name__ == "__main__":
    main()
