"""Makes failing tests short, and varies them.

A generated test goes through much that has nothing to do with a failure, and through other
failures.  What is left when episodes (a request with all until the next one) are taken away as long
as the system still fails alike is a test of one thing: delta debugging (Zeller and Hildebrandt,
*Simplifying and Isolating Failure-Inducing Input*, 2002, algorithm ddmin).  Its neighbours, with
other values and other times, fail too or pass, and tell where the border is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from whence.model.bus_map import BusMap, Field
from whence.model.suite import Input, TestCase

__all__ = ["Sheet", "neighbours", "sheet_of", "shortened"]


@dataclass(frozen=True, slots=True)
class _Change:
    """So long after the change before, these inputs get these values."""

    gap: int
    values: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Sheet:
    """A test as what happens after what: inputs at its start, changes, and how long it goes on."""

    start: tuple[tuple[str, str], ...]
    changes: tuple[_Change, ...]
    rest: int

    def test(self, like: TestCase, ident: str) -> TestCase:
        inputs = [Input(0, name, value) for name, value in self.start]
        now = 0
        for change in self.changes:
            now += change.gap
            inputs += (Input(now, name, value) for name, value in change.values)
        return replace(
            like, ident=ident, inputs=tuple(inputs), expected=(), end=now + self.rest, goals=()
        )

    @property
    def length(self) -> int:
        return sum(change.gap for change in self.changes) + self.rest


def sheet_of(test: TestCase, until: int | None = None) -> Sheet:
    """What the test gives up to a date, and so long."""
    dates: dict[int, list[tuple[str, str]]] = {}
    for one in test.inputs:
        if until is None or one.time <= until:
            dates.setdefault(one.time, []).append((one.name, one.value))
    start = tuple(dates.pop(0, ()))
    changes, now = [], 0
    for date in sorted(dates):
        changes.append(_Change(date - now, tuple(dates[date])))
        now = date
    end = test.end if until is None else until
    return Sheet(start, tuple(changes), max(end - now, 1))


Fails = Callable[[Sheet], bool]


def shortened(
    sheet: Sheet,
    map_: BusMap,
    ranges: Mapping[str, tuple[int, int]],
    fails: Fails,
    trials: int = 200,
) -> Sheet:
    """A shorter sheet for which `fails` holds, if there is one. `ranges` are those of inputs."""
    return _Shrinker(map_, ranges, fails, trials).run(sheet)


class _Shrinker:
    def __init__(
        self, map_: BusMap, ranges: Mapping[str, tuple[int, int]], fails: Fails, trials: int
    ) -> None:
        self.map = map_
        self.ranges = ranges
        self._fails = fails
        self.left = trials
        self._known: dict[Sheet, bool] = {}

    def fails(self, sheet: Sheet) -> bool:
        found = self._known.get(sheet)
        if found is None:
            if self.left <= 0:
                return False
            self.left -= 1
            found = self._known[sheet] = self._fails(sheet)
        return found

    def run(self, sheet: Sheet) -> Sheet:
        lead, episodes = _episodes(sheet, self.map)
        kept = self._ddmin(
            episodes, lambda chosen: replace(sheet, changes=_joined((lead, *chosen)))
        )
        sheet = replace(sheet, changes=_joined((lead, *kept)))
        sheet = self._quiet(sheet)
        return self._plain(sheet)

    def _ddmin(
        self,
        parts: Sequence[tuple[_Change, ...]],
        made: Callable[[Sequence[tuple[_Change, ...]]], Sheet],
    ) -> Sequence[tuple[_Change, ...]]:
        """1-minimal: without any one part it does not fail (if the trials suffice)."""
        count = 2
        while len(parts) >= 1:
            size = max(len(parts) // count, 1)
            for at in range(0, len(parts), size):
                rest = [*parts[:at], *parts[at + size :]]
                if self.fails(made(rest)):
                    parts, count = rest, max(count - 1, 2)
                    break
            else:
                if size == 1:
                    break
                count = min(2 * count, len(parts))
        return parts

    def _quiet(self, sheet: Sheet) -> Sheet:
        """Without changes of inputs that nobody looks at."""
        told = {self.map.requests.signal, *self.map.comments}
        at = 0
        while at < len(sheet.changes):
            change = sheet.changes[at]
            wanted = tuple(pair for pair in change.values if pair[0] in told)
            if wanted != change.values:
                less = _with_change(sheet, at, wanted)
                if self.fails(less):
                    sheet = less
                    continue
            at += 1
        return sheet

    def _plain(self, sheet: Sheet) -> Sheet:
        """With small values, the same ones where they will do."""
        for name in sorted(_numbers(self.map)):
            for value in ("1", "2", str(self.ranges.get(name, (0, 3))[1])):
                plain = _with_values(sheet, name, value)
                if plain == sheet or self.fails(plain):
                    sheet = plain
                    break
        return sheet


def _numbers(map_: BusMap) -> set[str]:
    """The inputs whose values messages carry."""
    return {
        part.name
        for payload in map_.requests.messages.values()
        for part in payload
        if isinstance(part, Field)
    }


def _episodes(sheet: Sheet, map_: BusMap) -> tuple[tuple[_Change, ...], list[tuple[_Change, ...]]]:
    """The changes before the first episode, and the episodes: each begins where a request is made,
    or where an input that the log comments on leaves the value that it has at the start."""
    start = dict(sheet.start)
    lead: list[_Change] = []
    found: list[list[_Change]] = []
    for change in sheet.changes:
        begins = any(
            (name == map_.requests.signal and value != map_.requests.idle)
            or (name in map_.comments and value != start.get(name))
            for name, value in change.values
        )
        if begins:
            found.append([])
        (found[-1] if found else lead).append(change)
    return tuple(lead), [tuple(one) for one in found]


def _joined(parts: Iterable[tuple[_Change, ...]]) -> tuple[_Change, ...]:
    return tuple(change for part in parts for change in part)


def _with_change(sheet: Sheet, at: int, values: tuple[tuple[str, str], ...]) -> Sheet:
    """With other values at a change; without it, if there are none: its time counts on."""
    changes = list(sheet.changes)
    if values:
        changes[at] = replace(changes[at], values=values)
        return replace(sheet, changes=tuple(changes))
    gap = changes.pop(at).gap
    if at < len(changes):
        changes[at] = replace(changes[at], gap=changes[at].gap + gap)
        return replace(sheet, changes=tuple(changes))
    return replace(sheet, changes=tuple(changes), rest=sheet.rest + gap)


def _with_values(sheet: Sheet, name: str, value: str) -> Sheet:
    """With this value of an input, from the start to the end."""
    return Sheet(
        tuple((key, value if key == name else old) for key, old in sheet.start),
        tuple(
            replace(
                change,
                values=tuple((key, value if key == name else old) for key, old in change.values),
            )
            for change in sheet.changes
        ),
        sheet.rest,
    )


#: By how much waits are varied, in milliseconds.
_SHIFTS = (1, -1, 5, -5, 20, -20, 100)
_VALUES = ("3", "0", "5", "77", "100")


def neighbours(
    sheet: Sheet, map_: BusMap, ranges: Mapping[str, tuple[int, int]]
) -> Iterator[Sheet]:
    """Sheets that differ in one wait, in the values that messages carry, or lack one episode."""
    for name in sorted(_numbers(map_)):
        low, high = ranges.get(name, (0, 0))
        for value in _VALUES:
            if low <= int(value) <= high:
                yield _with_values(sheet, name, value)
    lead, episodes = _episodes(sheet, map_)
    for at in range(len(episodes)):
        yield replace(sheet, changes=_joined((lead, *episodes[:at], *episodes[at + 1 :])))
    for shift in _SHIFTS:
        for at in range(len(sheet.changes) - 1, 0, -1):
            gap = sheet.changes[at].gap + shift
            if gap >= 1 and _asks(sheet.changes[at], map_):
                changes = list(sheet.changes)
                changes[at] = replace(changes[at], gap=gap)
                yield replace(sheet, changes=tuple(changes))


def _asks(change: _Change, map_: BusMap) -> bool:
    """Only waits before requests are varied: how long one is held is up to its protocol."""
    return any(
        name == map_.requests.signal and value != map_.requests.idle
        for name, value in change.values
    )
