"""What earlier runs have found in logs, and what this one finds: asked before any work, told after.

A journal (:mod:`whence.campaign.journal`) is one such memory; a store of results is another.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from whence.campaign.journal import Journal
from whence.campaign.records import from_record, to_record
from whence.triage.findings import LogFindings, Triage
from whence.triage.one_log import Judged

__all__ = ["JournalMemory", "Memory", "Piece", "at_path", "fits"]


@dataclass(frozen=True, slots=True)
class Piece:
    """A log: its number among all logs, the hash of what is in it ("" if it cannot be read), and a
    key that has everything in it that decides what is found ("": it may not be remembered)."""

    number: int
    path: str
    content: str = ""
    key: str = ""


class Memory(Protocol):
    def recall(self, pieces: Sequence[Piece]) -> Iterable[tuple[Piece, Judged]]:
        """Those of the logs of this run about which something is known, with what it is."""

    def keep(self, piece: Piece, judged: Judged) -> None:
        """What was found in a log. It is kept when this returns."""

    def explained(self, piece: Piece, judged: Judged) -> None:
        """A log that was recalled was looked at again, for more of its cases."""

    def answered(self, found: Triage) -> None:
        """This is the answer of this run."""


class JournalMemory:
    """What a journal remembers: logs that are done, without their cases."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    def recall(self, pieces: Sequence[Piece]) -> Iterator[tuple[Piece, Judged]]:
        for piece in pieces:
            record = self._journal.get(piece.key) if piece.key else None
            if record is None:
                continue
            try:
                found = from_record(LogFindings, record)
            except (ValueError, TypeError):
                continue
            if fits(found):
                yield piece, Judged(at_path(found, piece.path))

    def keep(self, piece: Piece, judged: Judged) -> None:
        if piece.key and not judged.findings.defect:
            self._journal.add(piece.key, to_record(judged.findings))

    def explained(self, piece: Piece, judged: Judged) -> None:
        """Cases are not remembered."""

    def answered(self, found: Triage) -> None:
        """Answers are not remembered."""


def fits(found: LogFindings) -> bool:
    """Whether what is told about traces is about traces that there are."""
    traces = range(len(found.traces))
    told = [*(each.trace for each in found.faults), *(each.trace for each in found.marks)]
    return bool(traces) and all(number is None or number in traces for number in told)


def at_path(found: LogFindings, path: str) -> LogFindings:
    """The log may have moved."""
    return replace(found, traces=tuple(replace(trace, file=path) for trace in found.traces))
