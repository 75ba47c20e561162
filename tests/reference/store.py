"""The history of classes, from its definition: runs are what they saw, and nothing is fast."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Run:
    """A triage: of which model, grouped how, whether it came to its end; by name of a trace, the
    classes of each of its faults."""

    model: str
    grouping: str
    complete: bool
    traces: dict[str, tuple[frozenset[str], ...]]

    def size(self, name: str) -> int:
        """How many faults are of the class."""
        return sum(name in fault for faults in self.traces.values() for fault in faults)

    def classes(self) -> set[str]:
        return {name for faults in self.traces.values() for fault in faults for name in fault}


def before(runs: list[Run], number: int) -> list[int]:
    """Earlier runs of the same line."""
    run = runs[number]
    return [
        n for n in range(number) if (runs[n].model, runs[n].grouping) == (run.model, run.grouping)
    ]


def new(runs: list[Run], number: int) -> set[str]:
    """No earlier run had them."""
    return {
        name
        for name in runs[number].classes()
        if all(name not in runs[n].classes() for n in before(runs, number))
    }


def gone(runs: list[Run], number: int) -> set[str]:
    """The last complete run had them, and this one does not, though it is complete."""
    if not runs[number].complete:
        return set()
    complete = [n for n in before(runs, number) if runs[n].complete]
    if not complete:
        return set()
    return runs[complete[-1]].classes() - runs[number].classes()


def verdict(faults: tuple[frozenset[str], ...]) -> str:
    return "faulty" if faults else "conforming"


def changed(one: Run, two: Run) -> set[tuple[str, str | None, str | None]]:
    """Traces by name, with their verdicts, if these are not the same."""
    told = set()
    for name in one.traces.keys() | two.traces.keys():
        old = verdict(one.traces[name]) if name in one.traces else None
        now = verdict(two.traces[name]) if name in two.traces else None
        if old != now:
            told.add((name, old, now))
    return told
