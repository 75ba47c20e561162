"""The history of classes: in which runs each was seen, and what was new and gone in each run.

Runs are compared with those before of the same line: triages of the same model (by its name) with
the same grouping. A class is *new* in the first run of its line that has it, and *known* in others;
*gone* are those of the last complete run before that a complete run does not have. What a run that
has not ended does not have may still have come.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from sqlalchemy import Connection, Integer, and_, func, select

from whence.source import Diagnostic, Origin, UsageError
from whence.store.columns import Damaged
from whence.store.runs import TRIAGE, Run, all_runs
from whence.store.store import Store
from whence.store.tables import classes, faults, inputs, results, sightings, traces

__all__ = [
    "ClassHistory",
    "ClassState",
    "ClassWords",
    "History",
    "RunSummary",
    "Sighting",
    "class_words",
    "history",
]

#: In a run: `new`, `known`, and `gone` if it was in the complete run before.
#: Of a class as it is now: what it is in the last complete run of its line, or in a later one.
ClassState: TypeAlias = Literal["new", "known", "gone"]


@dataclass(frozen=True, slots=True)
class ClassWords:
    """A class, as the one that was seen first tells it."""

    ident: str
    grouping: str
    kind: str
    events: tuple[str, ...]
    constraints: tuple[str, ...]
    requirements: tuple[str, ...]
    expected: str
    observed: str


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A run with what it found. `done`: so many inputs were looked at (or there are so many
    results); `verdicts`: how many traces, or results, have each verdict. The classes are
    identifiers; all of them, those that are `new`, and those that are `gone`."""

    run: Run
    done: int
    faults: int
    verdicts: Mapping[str, int]
    classes: tuple[str, ...]
    new: tuple[str, ...]
    gone: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sighting:
    """A class in a run: what it is there, with how many faults; the log and the line of one."""

    run: int
    state: ClassState
    size: int
    file: str
    trace: str
    line: int


@dataclass(frozen=True, slots=True)
class ClassHistory:
    """A class in the runs of one line (`model`). `sightings`: the oldest first, those in which it
    is gone too. `codes`: the versions of the code in which it was seen."""

    words: ClassWords
    model: str
    state: ClassState
    first: int
    last: int
    runs: int
    faults: int
    codes: tuple[str, ...]
    sightings: tuple[Sighting, ...]


@dataclass(frozen=True, slots=True)
class History:
    """Of a store. `model`, `ident`: what was asked for; "" if all was."""

    store: str
    model: str
    ident: str
    runs: tuple[RunSummary, ...]
    classes: tuple[ClassHistory, ...]


def history(store: Store, *, model: str = "", ident: str = "") -> History:
    """All runs and classes: of the models that are called so (by name, or file), and of the class
    whose identifier begins so. Raises UsageError if there is none."""
    with store.reading() as connection:
        chosen = [run for run in all_runs(connection) if not model or _is_of(run, model)]
        if model and not chosen:
            raise UsageError(
                Diagnostic(f"there is no run of a model `{model}`", Origin(store.name))
            )
        words = class_words(connection)
        seen = _seen(connection, {run.ident for run in chosen})
        lines: defaultdict[tuple[str, str], list[Run]] = defaultdict(list)
        for run in chosen:
            if run.command == TRIAGE:
                lines[run.model_name, run.grouping].append(run)
        states: dict[int, dict[int, ClassState]] = {}
        told: list[ClassHistory] = []
        if not all(of_run.keys() <= words.keys() for of_run in seen.values()):
            raise Damaged("a class is missing")
        for (name, _), line in sorted(lines.items()):
            of_line = _states(line, seen)
            states |= of_line
            told += _histories(name, line, of_line, seen, words)
        if ident:
            told = [each for each in told if each.words.ident.startswith(ident)]
            if not told:
                raise UsageError(Diagnostic(f"there is no class `{ident}`", Origin(store.name)))
            kept = {one.run for each in told for one in each.sightings}
            chosen = [run for run in chosen if run.ident in kept]
        counts = _Counts(connection)
        summaries = tuple(_summary(run, counts, states.get(run.ident, {}), words) for run in chosen)
    return History(store.name, model, ident, summaries, tuple(told))


def _is_of(run: Run, model: str) -> bool:
    return model in (run.model_name, run.model) or (
        len(model) >= 8 and run.model_hash.startswith(model)
    )


def class_words(connection: Connection) -> dict[int, ClassWords]:
    """All classes, by their numbers in the store."""
    found: dict[int, ClassWords] = {}
    for row in connection.execute(select(classes)):
        values = row._mapping
        found[row.id] = ClassWords(
            values["key"],
            values["grouping"],
            values["kind"],
            _texts(values["events"]),
            _texts(values["constraints"]),
            _texts(values["requirements"]),
            values["expected"],
            values["observed"],
        )
    return found


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise Damaged("a class is not as it was written")
    return tuple(value)


@dataclass(frozen=True, slots=True)
class _Seen:
    size: int
    file: str
    trace: str
    line: int


def _seen(connection: Connection, wanted: set[int]) -> dict[int, dict[int, _Seen]]:
    """By run and class, with the log and line of one fault."""
    of_class = sightings.c["class"]
    rows = connection.execute(
        select(
            sightings.c.run, of_class, sightings.c.size, inputs.c.path, traces.c.name, faults.c.line
        )
        .join(inputs, and_(inputs.c.run == sightings.c.run, inputs.c.number == sightings.c.input))
        .join(
            faults,
            and_(faults.c.findings == inputs.c.findings, faults.c.ordinal == sightings.c.fault),
        )
        .join(
            traces,
            and_(traces.c.findings == faults.c.findings, traces.c.number == faults.c.trace),
        )
        .order_by(sightings.c.run, of_class)
    )
    found: dict[int, dict[int, _Seen]] = defaultdict(dict)
    for run, number, size, path, name, line in rows:
        if run in wanted:
            found[run][number] = _Seen(size, path, name, line)
    return found


def _states(
    line: Sequence[Run], seen: Mapping[int, Mapping[int, _Seen]]
) -> dict[int, dict[int, ClassState]]:
    """By run, what each class is there; the runs are in the order of their beginning."""
    ever: set[int] = set()
    last: set[int] = set()
    states: dict[int, dict[int, ClassState]] = {}
    for run in line:
        here = set(seen.get(run.ident, {}))
        of_run: dict[int, ClassState] = {}
        for number in sorted(here):
            of_run[number] = "known" if number in ever else "new"
        if run.complete:
            of_run |= dict.fromkeys(sorted(last - here), "gone")
            last = here
        ever |= here
        states[run.ident] = of_run
    return states


def _histories(
    name: str,
    line: Sequence[Run],
    states: Mapping[int, Mapping[int, ClassState]],
    seen: Mapping[int, Mapping[int, _Seen]],
    words: Mapping[int, ClassWords],
) -> list[ClassHistory]:
    """The classes of a line: those that were seen last come first, the new before the known."""
    of_class: defaultdict[int, list[Sighting]] = defaultdict(list)
    for run in line:
        for number, state in states[run.ident].items():
            one = seen[run.ident].get(number) if state != "gone" else None
            of_class[number].append(
                Sighting(run.ident, state, 0, "", "", 0)
                if one is None
                else Sighting(run.ident, state, one.size, one.file, one.trace, one.line)
            )
    codes = {run.ident: run.code for run in line}
    told = []
    for number, of_this in of_class.items():
        really = [each for each in of_this if each.state != "gone"]
        told.append(
            ClassHistory(
                words=words[number],
                model=name,
                state=of_this[-1].state,
                first=really[0].run,
                last=really[-1].run,
                runs=len(really),
                faults=really[-1].size,
                codes=tuple(dict.fromkeys(codes[each.run] for each in really if codes[each.run])),
                sightings=tuple(of_this),
            )
        )
    return sorted(told, key=lambda each: (-each.last, -each.first, -each.faults, each.words.ident))


class _Counts:
    """How much there is of each run."""

    def __init__(self, connection: Connection) -> None:
        self.verdicts: defaultdict[int, Counter[str]] = defaultdict(Counter)
        self.done: Counter[int] = Counter()
        self.faults: Counter[int] = Counter()
        of_traces = (
            select(
                inputs.c.run,
                traces.c.verdict,
                func.count(),
                func.sum(traces.c.faults, type_=Integer),
            )
            .join(traces, traces.c.findings == inputs.c.findings)
            .group_by(inputs.c.run, traces.c.verdict)
        )
        for run, verdict, number, several in connection.execute(of_traces):
            self.verdicts[run][verdict] += number
            self.faults[run] += int(several)
        of_results = select(results.c.run, results.c.verdict, func.count()).group_by(
            results.c.run, results.c.verdict
        )
        for run, verdict, number in connection.execute(of_results):
            self.verdicts[run][verdict] += number
            self.done[run] += number
        of_inputs = select(inputs.c.run, func.count()).group_by(inputs.c.run)
        for run, number in connection.execute(of_inputs):
            self.done[run] += number


def _summary(
    run: Run,
    counts: _Counts,
    states: Mapping[int, ClassState],
    words: Mapping[int, ClassWords],
) -> RunSummary:
    def those(*wanted: Any) -> tuple[str, ...]:
        return tuple(
            sorted(words[number].ident for number, state in states.items() if state in wanted)
        )

    return RunSummary(
        run=run,
        done=counts.done[run.ident],
        faults=counts.faults[run.ident],
        verdicts=dict(sorted(counts.verdicts[run.ident].items())),
        classes=those("new", "known"),
        new=those("new"),
        gone=those("gone"),
    )
