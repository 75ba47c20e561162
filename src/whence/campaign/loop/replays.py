"""Tests of a system as calls of a C function (`formats.c_replay`): a step a date that matters.

What was seen was seen every millisecond.  That the code does the same in few long steps is not
taken for granted: a replay has to come to the same outputs, or it gets more steps.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from whence.formats.c_replay import REPLAY
from whence.locate.interpreter import Interpreter
from whence.model.program_test import Expected, Test, Value
from whence.model.signals import Interface, InterfaceSignal
from whence.model.test_run import Seen

__all__ = ["Replay", "merged", "replay_test"]

#: A replay with more steps is given up.
_MOST_STEPS = 400


@dataclass(frozen=True, slots=True)
class Replay:
    """A test as it was seen. `wanted`: what outputs have to be at its end, None: as seen."""

    name: str
    seen: tuple[Seen, ...]
    end: int
    wanted: Mapping[str, str] | None = None


def merged(interface: Interface, interpreter: Interpreter, replay: Replay) -> Test | None:
    """A test of the replay function in as few steps as do the same; None: no merging does.
    If `wanted` is given, the test has to fail, at its last step."""
    own = sorted({one.time for one in replay.seen if one.time <= replay.end} | {replay.end, 0})
    given = [one.time for one in replay.seen if one.given]
    # What is due before inputs change has to happen under the old ones.
    before = sorted({*own, *(date - 1 for date in given if date > 0)})

    def does(dates: Sequence[int]) -> Test | None:
        if len(dates) > _MOST_STEPS:
            return None
        test = replay_test(interface, replay, dates)
        outcome = interpreter.run(REPLAY, test.args)
        wanted = 0 if replay.wanted is None else len(dates)
        return test if outcome.end == "exit" and outcome.value == wanted else None

    found = does(own)
    if found is not None:
        return found
    for dates in (before, _finer(before, 8), _finer(before, 1)):
        found = does(dates)
        if found is not None:
            return _fewer(dates, set(own), does) or found
    return None


def _fewer(
    dates: Sequence[int], needed: set[int], does: Callable[[Sequence[int]], Test | None]
) -> Test | None:
    """Without any one date that need not be there."""
    kept, best = list(dates), None
    for date in dates:
        if date in needed:
            continue
        less = [one for one in kept if one != date]
        found = does(less)
        if found is not None:
            kept, best = less, found
    return best


def _finer(dates: Sequence[int], most: int) -> list[int]:
    """With no step longer than `most`."""
    found = list(dates[:1])
    for date in dates[1:]:
        while date - found[-1] > most:
            found.append(found[-1] + most)
        found.append(date)
    return found


def replay_test(interface: Interface, replay: Replay, dates: Sequence[int]) -> Test:
    inputs = {one.name: _values(one, replay.seen, dates) for one in interface.inputs}
    outputs = {one.name: _values(one, replay.seen, dates) for one in interface.outputs}
    if replay.wanted is not None:
        for one in interface.outputs:
            if one.name in replay.wanted:
                outputs[one.name][-1] = number_of(one, replay.wanted[one.name])
    delays: list[Value] = [0, *(b - a for a, b in itertools.pairwise(dates))]
    asked: list[Value] = [1] * len(dates)
    arguments: list[Value] = [len(dates), delays]
    arguments += [list(inputs[one.name]) for one in interface.inputs]
    arguments += [list(asked) for _ in interface.outputs]
    arguments += [list(outputs[one.name]) for one in interface.outputs]
    return Test(replay.name, tuple(arguments), expected=Expected(returned=(0,)))


def _values(signal: InterfaceSignal, seen: Iterable[Seen], dates: Sequence[int]) -> list[Value]:
    """The value at each date: the last one that was seen by then."""
    changes = [(one.time, number_of(signal, one.value)) for one in seen if one.name == signal.name]
    found: list[Value] = []
    at, value = 0, 0
    for date in dates:
        while at < len(changes) and changes[at][0] <= date:
            value = changes[at][1]
            at += 1
        found.append(value)
    return found


def number_of(signal: InterfaceSignal, text: str) -> int:
    if signal.members:
        return signal.members.index(text)
    return int(text == "true") if text in ("true", "false") else int(text)
