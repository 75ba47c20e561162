"""A test without a judge: what is given and seen, from its start to its end."""

from __future__ import annotations

from collections.abc import Mapping
from time import monotonic

from whence.model.suite import TestCase
from whence.model.test_run import Seen
from whence.testing.model import TimedModel
from whence.testing.systems.base import Simulated, SystemFault
from whence.testing.values import Unreadable, as_native, as_text, number_of, observed

__all__ = ["record"]


def record(
    part: TimedModel, system: Simulated, test: TestCase, seconds: float
) -> tuple[tuple[Seen, ...], str]:
    """All changes of inputs and outputs, in the order of time, inputs first; and why the system
    went on no more, "" if it did."""
    inputs = {v.name: v for v in part.having("input")}
    outputs = {v.name: v for v in part.having("output")}
    given: dict[str, int] = {}
    shown: dict[str, str] = {}
    found: list[Seen] = []

    def change(time: int, changed: Mapping[str, str]) -> None:
        for name, text in changed.items():
            given[name] = number_of(inputs[name], text)
            found.append(Seen(time, name, inputs[name].shown(given[name]), given=True))

    def note(time: int, told: Mapping[str, object]) -> None:
        for name, variable in outputs.items():
            if name not in told:
                raise SystemFault(f"the system does not tell its output `{name}`")
            text = as_text(variable, observed(variable, told[name]))
            if shown.get(name) != text:
                shown[name] = text
                found.append(Seen(time, name, text, given=False))

    dates: dict[int, dict[str, str]] = {}
    for one in test.inputs:
        dates.setdefault(one.time, {})[one.name] = one.value
    system.deadline = monotonic() + seconds
    now = 0
    try:
        change(0, dates.pop(0, {}))
        native = {name: as_native(inputs[name], number) for name, number in given.items()}
        note(0, system.reset(native))
        for time in (*sorted(dates), max(test.end, max(dates, default=0) + 1)):
            change(time, dates.get(time, {}))
            native = {name: as_native(inputs[name], number) for name, number in given.items()}
            for passed, told in system.run(time - now, native) if time > now else ():
                note(now + passed, told)
            now = time
    except SystemFault as fault:
        return _ordered(found), str(fault)
    except Unreadable as value:
        return _ordered(found), f"the system answered what is no output: {value}"
    return _ordered(found), ""


def _ordered(found: list[Seen]) -> tuple[Seen, ...]:
    return tuple(sorted(found, key=lambda one: (one.time, not one.given)))
