"""The logs of the study in Becker et al., section 7, rebuilt, and those of its speed measurement.

:func:`study` has the numbers of the paper: 86 traces with 105 faults in six classes of the sizes 1,
8, 2, 2, 1 and 91; the tests are about one service and use a multitude of others. The environment
of the tests marks 95 of the faults, and 5 responses as missing that come too late; of the late ones
it marks none. :func:`workload` has traces of 40 messages on average and up to 2,500.

Use as a program::

    python benchmarks/triage_study.py study FOLDER
    python benchmarks/triage_study.py workload FOLDER --traces 1000
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # for a start as a program, which knows its own folder only

from benchmarks.ecu_requirements import BLOCKS, LIMITS
from benchmarks.ecu_simulator import BOOT, MS, S3, Ecu, Fault, SimulatedTrace, Tester

__all__ = ["CLASSES", "MARKED", "TRACES", "WRONG", "main", "study", "workload", "write"]

#: How many faults of each class there are, how many of all are marked, and how many marks are
#: wrong.
CLASSES: Final[dict[Fault, int]] = {
    "late routine": 1, "late data": 8, "kept limit": 2, "answered identifier": 2,
    "answered session": 1, "answered control": 91,
}  # fmt: skip
TRACES: Final = 86
MARKED: Final = 95
WRONG: Final = 5

Step = Callable[[Tester], None]


# ------------------------------------------------------------------------------- what tests do


def _asking(text: str) -> Step:
    return lambda tester: _ignore(tester.ask(text))


def _ignore(_: object) -> None: ...


def _extended(tester: Tester) -> None:
    tester.ask("1003")


def _unlocked(tester: Tester) -> None:
    _extended(tester)
    tester.ask("2701")
    tester.ask("2702CAFEBABE")


def _limit(tester: Tester) -> None:
    _unlocked(tester)
    tester.ask(f"2E0101{tester.ecu.numbers.randrange(1, tester.ecu.limits):02X}")
    tester.ask("220101")


def _wrong_key(tester: Tester) -> None:
    _extended(tester)
    tester.ask("2701")
    tester.ask("270200000000")


def _restart(tester: Tester) -> None:
    tester.ask("1101")
    tester.wait(BOOT + tester.ecu.numbers.randrange(20 * MS, 200 * MS))
    tester.ask("220101")


def _erase(tester: Tester) -> None:
    _unlocked(tester)
    tester.ask("3101FF00")


def _flash(tester: Tester) -> None:
    _extended(tester)
    tester.ask("1002")
    tester.ask("2701")
    tester.ask("2702CAFEBABE")
    tester.ask("34004400001000000000FF")
    for block in range(1, tester.ecu.numbers.randrange(3, 6)):
        tester.ask(f"36{block:02X}{tester.ecu.numbers.randbytes(16).hex()}")
    tester.ask("3600")
    tester.ask("37")


def _forgotten(tester: Tester) -> None:
    """The session ends by itself, without a request in S3."""
    _extended(tester)
    tester.wait(S3 + tester.ecu.numbers.randrange(600 * MS, 2000 * MS))
    tester.ask("22F186")


def _kept_alive(tester: Tester) -> None:
    _extended(tester)
    for _ in range(3):
        tester.wait(tester.ecu.numbers.randrange(1000 * MS, 4000 * MS))
        tester.ask("3E80")
    tester.ask("22F186")


_STEPS: Final[tuple[Step, ...]] = (
    _extended, _limit, _wrong_key, _restart, _erase, _flash, _forgotten, _kept_alive,
    *(
        _asking(text)
        for text in (
            "1001", "1005", "14FFFFFF", "1902FF", "22F190", "22F18C", "22F186", "220102", "22ABCD",
            "23110010", "24F190", "2803", "2801", "2908", "2A0101", "2C01F200", "2F010203",
            "31010203", "31030203", "3601", "37", "35004400001000000000FF", "3D11001055", "3E00",
            "3E80", "8502", "8703", "83", "2803",
        )
    ),
    lambda tester: _ignore(tester.ask("3E80", to_all=True)),
    lambda tester: _ignore(tester.ask("22ABCD", to_all=True)),
)  # fmt: skip


def _setting_up(tester: Tester, least: int, most: int) -> None:
    numbers = tester.ecu.numbers
    for _ in range(numbers.randrange(least, most)):
        numbers.choice(_STEPS)(tester)


# ------------------------------------------------------------------------------------- faults


def _answered_control(tester: Tester, marked: bool) -> None:
    for _ in range(tester.ecu.numbers.randrange(3)):
        tester.ask(tester.ecu.numbers.choice(("2801", "2803", "2881", "3E80")))
    tester.fault("answered control", "2883", marked)


def _kept_limit(tester: Tester, marked: bool) -> None:
    _unlocked(tester)
    tester.ask(f"2E0101{tester.ecu.limits - 1:02X}")
    tester.ecu.faults.add("kept limit")
    tester.ask("1101")
    tester.ecu.faults.discard("kept limit")
    tester.wait(BOOT + 50 * MS)
    tester.ask("3E00")
    tester.shown("kept limit", tester.ask("220101"), marked)


def _fault(tester: Tester, fault: Fault, marked: bool, missed: bool = False) -> None:
    match fault:
        case "late routine":
            tester.late(fault, "31010203", missed)
        case "late data":
            tester.late(fault, "22F190", missed)
        case "kept limit":
            _kept_limit(tester, marked)
        case "answered identifier":
            tester.fault(fault, "22ABCD", marked, to_all=True)
        case "answered session":
            tester.fault(fault, "1005", marked, to_all=True)
        case "answered control":
            _answered_control(tester, marked)


def study(seed: int = 1) -> tuple[SimulatedTrace, ...]:
    """The 86 traces."""
    others: list[Fault] = [
        fault for fault, size in CLASSES.items() if fault != "answered control"
        for _ in range(size)
    ]  # fmt: skip
    missed = 0
    traces = []
    for number in range(TRACES):
        tester = Tester(f"test_{number:03d}", Ecu(random.Random(f"{seed}/{number}")))
        faults: list[Fault] = ["answered control"]
        if number < len(others):
            faults.append(others[number])
        elif number < len(others) + CLASSES["answered control"] - TRACES:
            faults.append("answered control")
        # After a fault nobody knows the state: what a restart must reset is tried before.
        if "kept limit" in faults:
            faults.reverse()
        else:
            tester.ecu.numbers.shuffle(faults)
            _setting_up(tester, 1, 8)
        for fault in faults:
            late = fault in ("late routine", "late data")
            gone = fault == "late data" and missed < WRONG
            missed += gone
            # Ten faults are not marked: the late ones, and the one that asks for a session.
            _fault(tester, fault, not late and fault != "answered session", gone)
            _setting_up(tester, 0, 4)
        traces.append(tester.trace())
    return tuple(traces)


# -------------------------------------------------------------------------------------- workload

#: The longest trace, in messages, and how many of a thousand are that long.
LONGEST: Final = 2500
_LONG: Final = 3
_FAULTS: Final = tuple(CLASSES)


def workload(count: int = 1000, seed: int = 1) -> Iterator[SimulatedTrace]:
    """So many traces: half of them conforming, half with one or two faults; three of a thousand are
    as long as the longest of the paper. The model is `benchmarks.ecu_requirements.paper_sized`."""
    for number in range(count):
        numbers = random.Random(f"{seed}/load/{number}")
        tester = Tester(f"trace_{number:05d}", Ecu(numbers, limits=LIMITS, blocks=BLOCKS))
        long = number % 1000 in range(499, 499 + _LONG)
        length = LONGEST if long else round(min(400.0, 12 + numbers.expovariate(1 / 17)))
        faults = [] if number % 2 else numbers.choices(_FAULTS, k=numbers.randrange(1, 3))
        at = sorted(numbers.randrange(max(1, length - 12)) for _ in faults)
        while tester.messages < length - 12:
            if at and tester.messages >= at[0]:
                at.pop(0)
                _fault(tester, faults.pop(), True)
            else:
                numbers.choice(_STEPS)(tester)
        for fault in faults:
            _fault(tester, fault, True)
        while tester.messages < length:
            tester.ask("3E00")
        yield tester.trace()


# --------------------------------------------------------------------------------------- program


def write(traces: Iterable[SimulatedTrace], folder: Path) -> Counter[str]:
    """A log for each trace, and `faults.json` with what was injected. Returns what there is."""
    folder.mkdir(parents=True, exist_ok=True)
    told: list[dict[str, object]] = []
    count: Counter[str] = Counter()
    for trace in traces:
        (folder / f"{trace.name}.log").write_text(trace.text, encoding="ascii")
        count.update(traces=1, messages=trace.messages, wrong=trace.wrong)
        count["longest"] = max(count["longest"], trace.messages)
        for injected in trace.injected:
            count.update({"faults": 1, "marked": injected.marked, injected.fault: 1})
            told.append(
                {
                    "trace": trace.name, "date": injected.date, "fault": injected.fault,
                    "marked": injected.marked,
                }
            )  # fmt: skip
    (folder / "faults.json").write_text(json.dumps(told, indent=1) + "\n", encoding="ascii")
    return count


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0] if __doc__ else "")
    parser.add_argument("what", choices=("study", "workload"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--traces", type=int, default=1000, help="of the workload")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    traces = (
        study(options.seed) if options.what == "study" else workload(options.traces, options.seed)
    )
    for name, number in write(traces, options.folder).items():
        print(f"{name:<20} {number:>9,}")


if __name__ == "__main__":
    main()
