"""From a bus log to its events.

Without given pairs the log is read twice: first to see who talks to whom.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, TypeAlias

from whence.formats.can.addresses import Survey
from whence.formats.can.isotp import N_CR, Reassembly
from whence.formats.can.lines import Note
from whence.formats.can.read import items
from whence.formats.can.uds import Matcher, seconds
from whence.model.events import AddressPair, Annotation, BusEvent, CanFrame, Field, Trace
from whence.source import Diagnostic, Origin

if TYPE_CHECKING:
    from whence.formats.can.odx import Database

__all__ = ["BusLog", "Log", "Told", "whole"]

#: So many problems are told; more are counted.
_MANY = 100

Told: TypeAlias = BusEvent | Annotation


@dataclass
class Log:
    """A log that is read from front to back; when it is through, the rest is known, too."""

    path: str
    format: str
    pairs: tuple[AddressPair, ...] = ()
    frames: int = 0
    notes: list[str] = field(default_factory=list)
    problems: list[Diagnostic] = field(default_factory=list)
    omitted: int = 0

    def told(self) -> Iterator[Told]:
        """The events, and between them the annotations."""
        raise NotImplementedError

    def _other(self, item: object, position: int) -> Iterator[Annotation]:
        if isinstance(item, Annotation):
            yield replace(item, position=position)
        elif isinstance(item, Note):
            self.notes.append(item.text)
        elif isinstance(item, Diagnostic):
            if len(self.problems) < _MANY:
                self.problems.append(item)
            else:
                self.omitted += 1


@dataclass
class BusLog(Log):
    """The log of a bus."""

    database: Database | None = None
    n_cr: int = N_CR
    #: Each frame is an event of its own.
    raw: bool = False

    def told(self) -> Iterator[Told]:
        if self.raw:
            return self._raw()
        if not self.pairs:
            self.pairs = self._surveyed()
        return self._events()

    def _surveyed(self) -> tuple[AddressPair, ...]:
        survey = Survey()
        see = survey.see
        for item in items(self.path, self.format):
            if type(item) is CanFrame:
                see(item)
        pairs = survey.pairs()
        if self.database is not None:
            seen = {speaker.address for speaker in survey.speakers.values()}
            named = [pair for pair in self.database.pairs if {pair.request, pair.response} & seen]
            pairs = (*named, *(pair for pair in pairs if pair not in named))
        return pairs

    def _events(self) -> Iterator[Told]:
        names = None
        if self.database is not None:
            names = self.database.names(self.pairs)
            if self.pairs and not self.database.describes(self.pairs):
                self.notes.append(f"{self.database.file} does not name these addresses; its names "
                                  "are used for all")  # fmt: skip
        matcher = Matcher(self.pairs, self.path, names)
        reassembly = Reassembly(self.pairs, self.n_cr)
        feed, event = reassembly.feed, matcher.event
        frames = 0
        for item in items(self.path, self.format):
            if type(item) is CanFrame:
                frames += 1
                for message in feed(item):
                    yield event(message)
            else:
                self.frames = frames
                yield from self._other(item, matcher.count)
        self.frames = frames
        for message in reassembly.end():
            yield event(message)

    def _raw(self) -> Iterator[Told]:
        for item in items(self.path, self.format):
            if type(item) is CanFrame:
                self.frames += 1
                yield _frame_event(item, self.path)
            else:
                yield from self._other(item, self.frames)


def _frame_event(frame: CanFrame, file: str) -> BusEvent:
    time = seconds(frame.time)
    ident = f"{frame.ident:08X}" if frame.extended else f"{frame.ident:03X}"
    fields = [Field("id", ident)]
    if frame.fd:
        fields.append(Field("fd", 1, "yes"))
    if frame.direction:
        fields.append(Field("direction", frame.direction))
    if frame.kind == "remote":
        fields.append(Field("remote", 1, "yes"))
    error = frame.kind == "error"
    return BusEvent(
        "error" if error else "other",
        time,
        time,
        name="error frame" if error else "frame",
        ecu=ident,
        fields=tuple(fields),
        payload=frame.data,
        message="the controller reported an error on the bus" if error else "",
        channel=frame.channel,
        origin=Origin(file, frame.record, 1),
    )


def whole(log: Log) -> Trace:
    """The whole log at once."""
    events: list[BusEvent] = []
    annotations: list[Annotation] = []
    for told in log.told():
        if isinstance(told, BusEvent):
            events.append(told)
        else:
            annotations.append(told)
    return Trace(
        name=PurePath(log.path).name,
        events=tuple(events),
        annotations=tuple(annotations),
        file=log.path,
        format=log.format,
        frames=log.frames,
        pairs=log.pairs,
        notes=tuple(log.notes),
        problems=tuple(log.problems),
        omitted=log.omitted,
    )
