"""Two runs beside each other: which classes came and went, which verdicts are others now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, select

from whence.source import Diagnostic, Origin, UsageError
from whence.store.columns import Damaged
from whence.store.history import ClassWords, class_words
from whence.store.results import results_of
from whence.store.runs import TRIAGE, Run, the_run
from whence.store.store import Store
from whence.store.tables import inputs, sightings, traces

__all__ = ["Change", "Comparison", "InBoth", "compare"]


@dataclass(frozen=True, slots=True)
class Change:
    """A trace, or a result of another command, whose verdict is another now; None: it is not there.
    `file` is where the trace is in the later run, or was in the earlier; "" of other results."""

    name: str
    file: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class InBoth:
    """A class, and how many faults it has in the one run and the other; 0: it is not there."""

    words: ClassWords
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """`same`: so many traces or results have the verdict that they had. `partial`: one of the runs
    has not looked at all that it should."""

    store: str
    before: Run
    after: Run
    new: tuple[InBoth, ...]
    gone: tuple[InBoth, ...]
    still: tuple[InBoth, ...]
    changes: tuple[Change, ...]
    same: int

    @property
    def partial(self) -> bool:
        return not (self.before.complete and self.after.complete)

    @property
    def differ(self) -> bool:
        return bool(self.new or self.gone or self.changes)


def compare(store: Store, before: int, after: int) -> Comparison:
    """Raises UsageError if there are no such runs, or if they cannot be compared: runs of different
    commands, or with classes made in different ways."""
    with store.reading() as connection:
        one = the_run(connection, before, store.name)
        two = the_run(connection, after, store.name)
        _comparable(one, two, store.name)
        if one.command == TRIAGE:
            old, now = _traces(connection, before), _traces(connection, after)
        else:
            old, now = _results(connection, before), _results(connection, after)
        both = _classes(connection, before, after)
    changes, same = _changes(old, now)
    return Comparison(
        store=store.name,
        before=one,
        after=two,
        new=tuple(each for each in both if not each.before),
        gone=tuple(each for each in both if not each.after),
        still=tuple(each for each in both if each.before and each.after),
        changes=changes,
        same=same,
    )


def _comparable(one: Run, two: Run, name: str) -> None:
    if one.command != two.command:
        what = f"`whence {one.command}` and `whence {two.command}`"
        raise UsageError(Diagnostic(f"runs of {what} have nothing to be compared by", Origin(name)))
    if one.grouping != two.grouping:
        raise UsageError(
            Diagnostic(
                f"the classes of run {one.ident} are grouped by `{one.grouping}`, those of run "
                f"{two.ident} by `{two.grouping}`",
                Origin(name),
                "repeat one of them with the --group of the other; what was found is in the store",
            )
        )


def _classes(connection: Connection, before: int, after: int) -> list[InBoth]:
    """The largest first, as they are now, or were."""
    sizes: dict[int, dict[int, int]] = {before: {}, after: {}}
    rows = connection.execute(
        select(sightings.c.run, sightings.c["class"], sightings.c.size).where(
            sightings.c.run.in_([before, after])
        )
    )
    for run, number, size in rows:
        sizes[run][number] = size
    words = class_words(connection)
    numbers = sizes[before].keys() | sizes[after].keys()
    if not numbers <= words.keys():
        raise Damaged("a class is missing")
    both = [
        InBoth(words[number], sizes[before].get(number, 0), sizes[after].get(number, 0))
        for number in numbers
    ]
    return sorted(both, key=lambda each: (-each.after, -each.before, each.words.ident))


# ------------------------------------------------------------------------------------- verdicts


@dataclass(frozen=True, slots=True)
class _Judged:
    """`again` counts those of the same name and file: a query may be asked twice."""

    name: str
    file: str
    verdict: str
    again: int


def _traces(connection: Connection, run: int) -> list[_Judged]:
    rows = connection.execute(
        select(traces.c.name, inputs.c.path, traces.c.verdict)
        .join(traces, traces.c.findings == inputs.c.findings)
        .where(inputs.c.run == run)
        .order_by(inputs.c.number, traces.c.number)
    )
    return _counted((name, path, verdict) for name, path, verdict in rows)


def _results(connection: Connection, run: int) -> list[_Judged]:
    return _counted((each.name, "", each.verdict) for each in results_of(connection, run))


def _counted(judged: Iterable[tuple[str, str, str]]) -> list[_Judged]:
    seen: Counter[tuple[str, str]] = Counter()
    counted = []
    for name, file, verdict in judged:
        counted.append(_Judged(name, file, verdict, seen[name, file]))
        seen[name, file] += 1
    return counted


def _changes(old: Sequence[_Judged], now: Sequence[_Judged]) -> tuple[tuple[Change, ...], int]:
    """The same is what has the same name in the same file; of what is left, what alone has its name
    in both runs: logs of another night are in another folder."""
    pairs, rest_old, rest_now = _matched(old, now, lambda each: (each.file, each.name, each.again))
    more, rest_old, rest_now = _matched(rest_old, rest_now, lambda each: each.name)
    pairs += more
    changes = [
        (two, Change(two.name, two.file, one.verdict, two.verdict))
        for one, two in pairs
        if one.verdict != two.verdict
    ]
    changes += [(two, Change(two.name, two.file, None, two.verdict)) for two in rest_now]
    places = {id(each): n for n, each in enumerate(now)}
    changes.sort(key=lambda item: places[id(item[0])])
    gone = [Change(one.name, one.file, one.verdict, None) for one in rest_old]
    same = sum(one.verdict == two.verdict for one, two in pairs)
    return (*(change for _, change in changes), *gone), same


def _matched(
    old: Sequence[_Judged], now: Sequence[_Judged], name: Callable[[_Judged], Hashable]
) -> tuple[list[tuple[_Judged, _Judged]], list[_Judged], list[_Judged]]:
    """Pairs of those that alone have their name in each run, and what is left of both."""
    counts = Counter(map(name, old)), Counter(map(name, now))
    alone = {each for each in counts[0] if counts[0][each] == counts[1][each] == 1}
    of_now = {name(each): each for each in now if name(each) in alone}
    pairs = [(each, of_now[name(each)]) for each in old if name(each) in alone]
    return (
        pairs,
        [each for each in old if name(each) not in alone],
        [each for each in now if name(each) not in alone],
    )
