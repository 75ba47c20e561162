"""What was seen on a bus while a test ran: frames, and the requests and responses that they carry
(Becker et al., section 7: a trace is "a recording of all messages seen on the bus", and tests
insert annotations into it).

A trace is a sequence of events, each with the dates of its first and of its last frame.  Dates of
events are exact seconds; dates of frames, of which there are many more, are whole nanoseconds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, NamedTuple, TypeAlias

from whence.source import NOWHERE, Diagnostic, Origin

__all__ = [
    "KINDS",
    "NANO",
    "VERDICTS",
    "Address",
    "AddressPair",
    "Annotation",
    "AnnotationKind",
    "BusEvent",
    "CanFrame",
    "Direction",
    "EventKind",
    "Field",
    "FrameKind",
    "Trace",
    "Verdict",
]

#: Nanoseconds in a second.
NANO = 1_000_000_000

Direction: TypeAlias = Literal["rx", "tx", ""]
FrameKind: TypeAlias = Literal["data", "remote", "error"]


class CanFrame(NamedTuple):
    """One record of a log. A named tuple and no dataclass: a log has tens of millions of them, and
    this is made in a quarter of the time.

    `time` is in nanoseconds; None: the log has no dates. Whether it counts from a day in history or
    from the start of the log is told in a note of the trace. `record` is the number of the line
    (or, in a binary log, of the record) that it stands in, from 1.
    """

    time: int | None
    channel: str
    ident: int
    extended: bool
    data: bytes
    fd: bool = False
    direction: Direction = ""
    kind: FrameKind = "data"
    record: int = 0


@dataclass(frozen=True, slots=True)
class Address:
    """Where messages of a conversation are sent: an identifier and, with extended or mixed
    addressing (ISO 15765-2), the address byte that its frames start with."""

    ident: int
    extended: bool = False
    extension: int | None = None

    def __str__(self) -> str:
        text = f"{self.ident:08X}" if self.extended else f"{self.ident:03X}"
        return text if self.extension is None else f"{text}/{self.extension:02X}"


@dataclass(frozen=True, slots=True)
class AddressPair:
    """Who asks whom. `response` None: requests to all (functional addressing), which are answered
    at the addresses of other pairs."""

    request: Address
    response: Address | None

    def __str__(self) -> str:
        return f"{self.request}:{'' if self.response is None else self.response}"


EventKind: TypeAlias = Literal["request", "positive", "negative", "pending", "other", "error"]
KINDS: tuple[EventKind, ...] = ("request", "positive", "negative", "pending", "other", "error")


@dataclass(frozen=True, slots=True)
class Field:
    """A part of a message: an integer, or a text (bytes as hexadecimal digits, for one). `text` is
    what the value means, if that is known."""

    name: str
    value: int | str
    text: str = ""


@dataclass(frozen=True, slots=True)
class BusEvent:
    """A message, whole, or (kind `error`) what is left of one that is not.

    `first` and `last` are the dates of its first and last frame in seconds, None where the log has
    none. `ecu` names the partner of the tester: in a bus log the address pair. `service` is the
    number of the service also in responses; `name` is its name. `answers` is the index in the trace
    of the request that this responds to. `message` says what is wrong with an `error`.
    """

    kind: EventKind
    first: Fraction | None
    last: Fraction | None
    name: str = ""
    ecu: str = ""
    service: int | None = None
    fields: tuple[Field, ...] = ()
    payload: bytes = b""
    answers: int | None = None
    message: str = ""
    pair: AddressPair | None = None
    channel: str = ""
    origin: Origin = field(default=NOWHERE, compare=False)


AnnotationKind: TypeAlias = Literal["verdict", "comment"]
Verdict: TypeAlias = Literal["pass", "fail", "inconclusive", "error", ""]
VERDICTS: tuple[Verdict, ...] = ("pass", "fail", "inconclusive", "error", "")


@dataclass(frozen=True, slots=True)
class Annotation:
    """What a test environment or a person wrote into the log. It stands before the event with the
    index `position`."""

    kind: AnnotationKind
    text: str
    verdict: Verdict = ""
    time: Fraction | None = None
    position: int = 0
    origin: Origin = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """What a log tells. `notes` say how it is to be understood ("dates count from the start of the
    log"), `problems` what could not be read; `omitted` counts further problems."""

    name: str
    events: tuple[BusEvent, ...]
    annotations: tuple[Annotation, ...] = ()
    file: str = ""
    format: str = ""
    frames: int = 0
    pairs: tuple[AddressPair, ...] = ()
    notes: tuple[str, ...] = ()
    problems: tuple[Diagnostic, ...] = ()
    omitted: int = 0
