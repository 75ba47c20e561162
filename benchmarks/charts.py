"""Charts to measure on, from small to as large as they come.

Use as a program, from the project's folder::

    python -m benchmarks.charts radar 4 17

Each function returns a :class:`whence.model.chart.Chart`.  The numbers of states and transitions in
their texts were measured with this program.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).resolve().parents[1] / part) for part in ("", "src")]

from benchmarks.measure import peak_bytes

from whence.explore.search import Budget
from whence.explore.systems import transition_system
from whence.formats.charts.yaml import read_chart
from whence.model.chart import Chart

__all__ = ["airbag", "channels", "driving", "radar"]


def airbag() -> Chart:
    """An airbag control unit as a supplier of cars models it: two sensors, a microcontroller that
    compares them, and two stages that both have to fire; hazard: it fires without a crash.

    3,660 states, 16,594 transitions.
    """
    return read_chart(
        """
chart: airbag
machines:
  Crash:
    environment: true
    initial: none
    states: {none: {}, crash: {}}
    transitions: [{from: none, to: crash, event: crash}]
  MainSensor:
    variables: {high: bool = false}
    initial: ok
    states: {ok: {}, stuck: {failure: true}, dead: {failure: true}}
    transitions:
      - {from: ok, internal: true, when: "Crash.crash && !high", do: high = true,
         event: main_high}
      - {from: ok, to: stuck, do: high = true, event: main_stuck, rate: 1e-6}
      - {from: ok, to: dead, do: high = false, event: main_dead, rate: 1e-6}
  SafingSensor:
    variables: {high: bool = false}
    initial: ok
    states: {ok: {}, stuck: {failure: true}, dead: {failure: true}}
    transitions:
      - {from: ok, internal: true, when: "Crash.crash && !high", do: high = true,
         event: safing_high}
      - {from: ok, to: stuck, do: high = true, event: safing_stuck, rate: 1e-6}
      - {from: ok, to: dead, do: high = false, event: safing_dead, rate: 1e-6}
  Controller:
    initial: idle
    states:
      idle: {}
      evaluating: {}
      decided: {}
      enabled: {}
      fired: {}
      broken: {failure: true}
    transitions:
      - {from: idle, to: evaluating, when: MainSensor.high}
      - {from: evaluating, to: decided, when: SafingSensor.high}
      - {from: evaluating, to: idle, when: "!SafingSensor.high", event: no_crash}
      - {from: decided, to: enabled, do: send enable to Fet}
      - {from: enabled, to: fired, do: send arm to Fasic; send fire to Fasic}
      - {from: idle, to: broken, rate: 1e-7,
         do: send enable to Fet; send arm to Fasic; send fire to Fasic}
  Fet:
    queue: {when-full: lose}
    initial: off_
    states: {off_: {}, on_: {}, shorted: {failure: true}, open_: {failure: true}}
    transitions:
      - {from: off_, to: on_, on: enable, event: fet_on}
      - {from: off_, to: shorted, event: fet_shorted, rate: 1e-7}
      - {from: off_, to: open_, event: fet_open, rate: 1e-7}
  Fasic:
    queue: {when-full: lose}
    initial: Normal
    states:
      Normal: {initial: safe, states: {safe: {}, armed: {}, firing: {}}}
      broken: {failure: true}
    transitions:
      - {from: safe, to: armed, on: arm}
      - {from: armed, to: firing, on: fire}
      - {from: Normal, to: broken, event: fasic_broken, rate: 1e-7}
  Supply:
    initial: good
    states: {good: {}, low: {}, dead: {failure: true}}
    transitions:
      - {from: good, to: low, event: supply_low, rate: 1e-5}
      - {from: low, to: dead, event: supply_dead, rate: 1e-5}
hazards:
  inadvertent: "!Crash.crash && (Fet.on_ || Fet.shorted) && (Fasic.firing || Fasic.broken)"
""",
        "airbag.yaml",
    )


def channels(count: int) -> Chart:
    """`count` redundant channels, each a hardware unit and a function that runs on it: faults are
    detected, which tells the function, or not; functions get repaired.  Hazard: no channel works.

    16 ** `count` states: 65,536 and 688,128 transitions for 4 channels, 1,048,576 and 13,762,560
    for 5.
    """
    machines = []
    for n in range(1, count + 1):
        machines.append(
            f"""
  Hardware{n}:
    initial: run
    states: {{run: {{}}, undetected: {{failure: true}}}}
    transitions:
      - {{from: run, internal: true, do: send error to Function{n}, event: hw{n}_detected,
         rate: 0.99e-4, failure: true, detected: true}}
      - {{from: run, to: undetected, event: hw{n}_undetected, rate: 1e-6, detected: false}}
  Function{n}:
    queue: {{capacity: 1}}
    variables: {{bad: bool = false}}
    initial: Normal
    states:
      Normal:
        initial: idle
        states: {{idle: {{}}, calculate: {{}}}}
      ErrorData: {{entry: bad = true, exit: bad = false, failure: true}}
      Wrong: {{entry: bad = true, exit: bad = false, failure: true}}
    transitions:
      - {{from: idle, to: calculate, when: Hardware{n}.run, event: f{n}_begin}}
      - {{from: calculate, to: idle, when: Hardware{n}.run, event: f{n}_end}}
      - {{from: Normal, internal: true, on: error, event: f{n}_handled}}
      - {{from: Normal, to: ErrorData, on: error, event: f{n}_error}}
      - {{from: Normal, to: Wrong, event: f{n}_wrong, rate: 1e-4}}
      - {{from: ErrorData, to: idle, event: f{n}_repaired, rate: 4e-2}}
      - {{from: Wrong, to: idle, event: f{n}_corrected, rate: 4e-2}}
      - {{from: Wrong, internal: true, on: error, event: f{n}_ignored}}
"""
        )
    failed = " && ".join(
        f"(Hardware{n}.undetected || Function{n}.bad)" for n in range(1, count + 1)
    )
    text = f"chart: {count} channels\nmachines:{''.join(machines)}hazards: {{none: '{failed}'}}\n"
    return read_chart(text, "channels.yaml")


def driving(variant: int = 1) -> Chart:
    """An automated driving system of two channels with two functions each, a selection of
    trajectories and motion control; in `variant` 2 the selection runs on the second channel.

    839,808 states, 11,150,784 transitions in both.
    """
    hosts = {
        "Primary": ["Perception", "Trajectory"],
        "Backup": ["SafePerception", "SafeTrajectory"],
        "Ecu": ["Motion"],
    }
    hosts["Backup" if variant == 2 else "Ecu"].append("Selection")
    inputs = {"Perception": "Trajectory", "SafePerception": "SafeTrajectory"}
    lines = ["chart: driving", "machines:"]
    for host, functions in hosts.items():
        lines += [
            f"  {host}:",
            "    variables: {bad: bool = false}",
            "    initial: run",
            "    states: {run: {}, undetected: {entry: bad = true, failure: true}}",
            "    transitions:",
            f"      - {{from: run, to: undetected, event: {host}_undetected, rate: 1e-6}}",
        ]
        lines += [
            f"      - {{from: run, internal: true, do: send error to {function}, rate: 0.495e-4,"
            f" event: {function}_told}}"
            for function in functions
        ]
    for host, functions in hosts.items():
        for function in functions:
            after = f", do: send input to {inputs[function]}" if function in inputs else ""
            fed = function in inputs.values()
            lines += [
                f"  {function}:",
                "    queue: {capacity: 1, when-full: lose, unexpected: discard}",
                "    variables: {bad: bool = false}",
                "    initial: Normal",
                "    states:",
                "      Normal: {initial: idle, states: {idle: {}, calculate: {}}}",
                "      Failed: {entry: bad = true, exit: bad = false, failure: true}",
                "    transitions:",
                f"      - {{from: idle, to: calculate, {'on: input, ' * fed}"
                f"when: '!{host}.bad', event: {function}_begin}}",
                f"      - {{from: calculate, to: idle, when: '!{host}.bad'{after},"
                f" event: {function}_end}}",
                f"      - {{from: Normal, to: Failed, on: error, event: {function}_error}}",
                f"      - {{from: Normal, internal: true, on: error, event: {function}_handled}}",
                f"      - {{from: Failed, to: idle, event: {function}_repaired, rate: 4e-2}}",
            ]
    one = " || ".join(f"{name}.bad" for name in ("Primary", *hosts["Primary"]))
    two = " || ".join(f"{n}.bad" for n in ("Backup", "SafePerception", "SafeTrajectory"))
    single = " || ".join(f"{name}.bad" for name in ("Selection", "Motion", "Ecu"))
    lines.append(f"hazards: {{SG1: '(({one}) && ({two})) || {single}'}}")
    return read_chart("\n".join(lines), "driving.yaml")


def radar(count: int = 4, sectors: int = 17) -> Chart:
    """A radar for air traffic with `count` redundant channels that scan `sectors` each, with faults
    that are detected and repaired or not, and an operator's display that is on or off.

    2 * (3 * `sectors`) ** `count` states: 265,302 and 1,326,510 transitions for 3 channels,
    13,530,402 and 85,692,546 for 4, which take 50 s and 3.6 GB.
    """
    machines = []
    for n in range(1, count + 1):
        machines.append(
            f"""
  Channel{n}:
    variables: {{sector: "int[0,{sectors - 1}] = 0", bad: bool = false}}
    initial: scan
    states:
      scan: {{}}
      repair: {{entry: bad = true, exit: bad = false}}
      undetected: {{entry: bad = true, failure: true}}
    transitions:
      - {{from: scan, internal: true, event: scan{n},
         do: "sector = sector < {sectors - 1} ? sector + 1 : 0"}}
      - {{from: scan, to: repair, event: fault{n}, rate: 0.99e-4, failure: true, detected: true}}
      - {{from: repair, to: scan, event: repaired{n}, rate: 4e-2}}
      - {{from: scan, to: undetected, event: undetected{n}, rate: 1e-6, detected: false}}
"""
        )
    failed = " && ".join(f"Channel{n}.bad" for n in range(1, count + 1))
    display = """
  Display:
    initial: lit
    states: {lit: {}, dark: {}}
    transitions: [lit -> dark, dark -> lit]
"""
    text = f"chart: radar\nmachines:{''.join(machines)}{display}hazards: {{blind: '{failed}'}}\n"
    return read_chart(text, "radar.yaml")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("family", choices=__all__)
    parser.add_argument("arguments", nargs="*", type=int)
    parser.add_argument("--states", type=int)
    options = parser.parse_args()
    chart = globals()[options.family](*options.arguments)
    before, began = peak_bytes(), time.perf_counter()
    system = transition_system(chart, budget=Budget(states=options.states))
    seconds = time.perf_counter() - began
    hazards = {name: int(marks.sum()) for name, marks in system.propositions.items()}
    print(
        f"{chart.name}: {system.states:,} states, {system.transitions:,} transitions, "
        f"{seconds:.1f} s, {(peak_bytes() - before) / 2**20:,.0f} MiB more, {hazards}"
    )


if __name__ == "__main__":
    main()
