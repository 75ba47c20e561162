"""The triage of many logs: read, replayed, explained and classified, by several processes if that
is worth it, going on from what an earlier run has done."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias

from whence.campaign.journal import content_hash, key_of
from whence.campaign.memory import Memory, Piece
from whence.campaign.processes import in_processes
from whence.model.prd import PrdAutomaton
from whence.triage.findings import (
    FoundTrace,
    KnownClass,
    LogFindings,
    LogOptions,
    Rank,
    Triage,
)
from whence.triage.gather import Gathering
from whence.triage.models import PrdModel
from whence.triage.one_log import Judged, triage_log
from whence.triage.results import Grouping

if TYPE_CHECKING:
    from whence.formats.can.odx import Database

__all__ = ["FEW_LOGS", "Progress", "Settings", "Work", "triage_logs"]

#: With fewer logs than that, processes take longer to start than the work does.
FEW_LOGS: Final = 40
#: Told how many logs are done, of how many, and how many faults were found.
Progress: TypeAlias = Callable[[int, int, int], None]


@dataclass(frozen=True, slots=True)
class Settings:
    """`workers`: so many processes, 1: this one. `fingerprint` has in it whatever decides what is
    found in a log, besides `options` and the log; "" if that cannot be said."""

    options: LogOptions = field(default_factory=LogOptions)
    pdx: str = ""
    grouping: Grouping = "similar"
    workers: int = 1
    fingerprint: str = ""
    earlier: tuple[KnownClass, ...] | None = None


@dataclass(frozen=True, slots=True)
class Work:
    """What all workers have to know."""

    automaton: PrdAutomaton
    options: LogOptions
    pdx: str = ""


Task: TypeAlias = tuple[str, dict[str, Rank]]
Done: TypeAlias = Generator[tuple[int, Judged], None, None]


def worker(work: Work) -> Callable[[Task], Judged]:
    """What a worker does with each log (see :mod:`whence.campaign.processes`). Each remembers which
    cases it told already, so that there are few to be told."""
    database: Database | None = None
    if work.pdx:
        from whence.formats.can.odx import read_pdx

        database = read_pdx(work.pdx)
    best: dict[str, Rank] = {}

    def one(task: Task) -> Judged:
        path, wanted = task
        found = triage_log(work.automaton, path, work.options, database, wanted or best)
        for case in found.cases:
            best[case.explanation.key] = case.rank
        return found

    return one


def triage_logs(
    model: PrdModel,
    logs: Sequence[str],
    settings: Settings,
    *,
    memory: Memory | None = None,
    passed_over: Sequence[str] = (),
    progress: Progress | None = None,
) -> Triage:
    """All traces of all logs, but for those that `memory` knows. When it is interrupted
    (KeyboardInterrupt), it tells what was found until then, marked as not complete."""
    gathering = Gathering(settings.grouping)
    work = Work(model.automaton, settings.options, settings.pdx)
    complete = True
    pieces: dict[int, Piece] = {}
    try:
        _all(work, logs, settings, gathering, memory, pieces, progress)
    except KeyboardInterrupt:
        complete = False
    if memory is not None:
        _explain_again(work, logs, gathering, memory, pieces)
    answer = gathering.triage(
        model.file or model.automaton.name,
        len(logs),
        requirements=model.requirements,
        earlier=settings.earlier,
        verified=settings.options.verify,
        complete=complete,
        passed_over=passed_over,
    )
    if memory is not None:
        memory.answered(answer)
    return answer


def _all(
    work: Work,
    logs: Sequence[str],
    settings: Settings,
    gathering: Gathering,
    memory: Memory | None,
    pieces: dict[int, Piece],
    progress: Progress | None,
) -> None:
    if memory is not None:
        pieces.update((number, _piece(settings, number, path)) for number, path in enumerate(logs))
        for piece, judged in memory.recall([*pieces.values()]):
            gathering.add(piece.number, judged)
    left = [number for number in range(len(logs)) if number not in gathering.found]
    done = len(logs) - len(left)
    if progress is not None:
        progress(done, len(logs), gathering.faults)
    workers = min(settings.workers, len(left))
    answers = _here(work, logs, left) if workers <= 1 else _elsewhere(work, logs, left, workers)
    with closing(answers):
        for number, judged in answers:
            # First it is remembered, then told: what is told is never lost.
            if memory is not None:
                memory.keep(pieces[number], judged)
            gathering.add(number, judged)
            done += 1
            if progress is not None:
                progress(done, len(logs), gathering.faults)


def _explain_again(
    work: Work,
    logs: Sequence[str],
    gathering: Gathering,
    memory: Memory,
    pieces: Mapping[int, Piece],
) -> None:
    """Of what was remembered, the representatives are looked at once more: it is told in short."""
    one = worker(work)
    seen: set[int] = set()
    while missing := gathering.missing() - seen:
        seen |= missing
        for number in sorted(missing):
            judged = one((logs[number], {}))
            gathering.add(number, judged)
            memory.explained(pieces[number], judged)


def _here(work: Work, logs: Sequence[str], left: Iterable[int]) -> Done:
    one = worker(work)
    for number in left:
        try:
            yield number, one((logs[number], {}))
        except Exception as error:
            if os.environ.get("WHENCE_DEBUG") == "1":
                traceback.print_exc()
            why = f"internal error: {type(error).__name__}: {error}"
            yield number, _failed(logs[number], why)


def _elsewhere(work: Work, logs: Sequence[str], left: Sequence[int], workers: int) -> Done:
    tasks: Iterator[Task] = ((logs[number], {}) for number in left)
    answers = in_processes("whence.campaign.triage:worker", work, tasks, workers)
    for answer in answers:
        number = left[answer.number]
        if answer.failure:
            yield number, _failed(logs[number], answer.failure)
        else:
            yield number, answer.value


def _failed(path: str, why: str) -> Judged:
    """The log could not be looked at, for which it may not be to blame."""
    name = os.path.basename(path)
    return Judged(LogFindings((FoundTrace(name, path, "broken", reason=why),), defect=True))


def _piece(settings: Settings, number: int, path: str) -> Piece:
    """The key is made of everything that decides what is found in the log."""
    try:
        content = content_hash(path)
    except OSError:
        return Piece(number, path)
    if not settings.fingerprint:
        return Piece(number, path, content)
    parts = (settings.fingerprint, repr(settings.options), os.path.basename(path), content)
    return Piece(number, path, content, key_of(parts))
