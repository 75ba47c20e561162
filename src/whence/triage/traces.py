"""Traces for the replay: the events of a log, of one conversation at a time.

A conversation is that of an ECU with its testers. The label of an event is its kind and the name of
its service (`req TesterPresent`), or for events of other systems the kind, the ECU and the name
(`req CTR get`); what else is known are fields:

- the parameters of the message, as the log's reader or a database tells them;
- `payload`: its bytes; `code` of a refusal;
- `suppress_response` 1: the tester wants no positive response; `to_all` 1: it asked all ECUs.

A message takes time. A request counts when its last frame is there, a response when its first one
is: P2 of ISO 14229-2 runs from the one to the other.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from whence.formats.can.fields import negative_fields
from whence.formats.can.services import SUB_FUNCTIONS, service_name
from whence.formats.prd.patterns import PAYLOAD, label
from whence.model.events import Annotation, BusEvent, EventKind, Trace
from whence.model.prd import EventTrace, FieldValue, TimedEvent
from whence.source import Diagnostic, InputError, Origin

__all__ = [
    "Conversation",
    "SplitAt",
    "conversations",
    "event_label",
    "marked_events",
    "power_cycle",
    "timed_event",
    "traces_of",
]

_KINDS: Final[dict[EventKind, str]] = {
    "request": "req", "positive": "res", "negative": "neg",
    "pending": "pend", "other": "other", "error": "err",
}  # fmt: skip
#: What a person writes who switches an ECU on or off.
_POWER: Final = ("power on", "power-on", "power cycle", "power-cycle", "power off", "power-off",
                 "ignition on", "kl15 on", "kl30 on", "reset of the bench")  # fmt: skip

#: Where a log is cut into several traces: nowhere, where the power was switched (as an event or
#: comment says), where an annotation has this text, or where nothing happens for so many seconds.
SplitAt: TypeAlias = Literal["power-cycle"] | str | Fraction | None


@dataclass(frozen=True, slots=True)
class Conversation:
    """The events of one ECU in a log, with their indices there, and the marks among them."""

    ecu: str
    channel: str
    events: tuple[tuple[int, BusEvent], ...]

    @property
    def name(self) -> str:
        return f"{self.channel} {self.ecu}".strip()


def conversations(trace: Trace) -> tuple[Conversation, ...]:
    """The conversations of a log, in the order in which they begin. A request to all ECUs belongs
    to each of its channel; if nobody else talks there, it is one of its own."""
    found: dict[tuple[str, str], list[tuple[int, BusEvent]]] = {}
    to_all: list[tuple[int, BusEvent]] = []
    for index, event in enumerate(trace.events):
        if event.kind == "error" and event.pair is None and not event.ecu:
            continue
        if _is_to_all(event):
            to_all.append((index, event))
        else:
            found.setdefault((event.channel, _ecu_key(event)), []).append((index, event))
    for index, event in to_all:
        partners = [key for key in found if key[0] == event.channel]
        for key in partners or [(event.channel, event.ecu)]:
            found.setdefault(key, []).append((index, event))
    return tuple(
        Conversation(
            _shown(trace, ecu, events), channel, tuple(sorted(events, key=lambda one: one[0]))
        )
        for (channel, ecu), events in sorted(found.items(), key=lambda item: item[1][0][0])
    )


def _is_to_all(event: BusEvent) -> bool:
    return event.pair is not None and event.pair.response is None


def _ecu_key(event: BusEvent) -> str:
    """One ECU has one address for its responses, whoever asks."""
    if event.pair is not None and event.pair.response is not None:
        return f":{event.pair.response}"
    return event.ecu


def _shown(trace: Trace, ecu: str, events: Sequence[tuple[int, BusEvent]]) -> str:
    """The pair of addresses of the ECU, also where all its events answer requests to all."""
    for pair in trace.pairs:
        if pair.response is not None and f":{pair.response}" == ecu:
            return str(pair)
    named = [event.ecu for _, event in events if not _is_to_all(event)]
    return named[0] if named else ecu


# ----------------------------------------------------------------------------------------- events


def timed_event(event: BusEvent, index: int) -> TimedEvent | None:
    """The event as the replay sees it; None: its date is not known."""
    # An error stands where it was noticed.
    first = event.kind in ("positive", "negative", "pending")
    date = event.first if first else event.last
    if date is None:
        return None
    return TimedEvent(
        date,
        event_label(event),
        MappingProxyType(dict(_fields(event))),
        index,
        _text(event),
        event.origin,
    )


def event_label(event: BusEvent) -> str:
    kind = _KINDS[event.kind]
    if event.service is not None:
        # By number: what a database calls the service does not matter.
        return label(kind, service_name(event.service))
    ecu = event.ecu if event.pair is None else ""
    return label(kind, event.name, ecu)


def _fields(event: BusEvent) -> Iterator[tuple[str, FieldValue]]:
    for field in event.fields:
        yield field.name, field.value
    payload = event.payload
    if payload:
        yield PAYLOAD, payload
    if payload and event.kind in ("negative", "pending"):
        for field in negative_fields(payload):
            if field.name == "code":
                yield "code", field.value
    if event.kind == "request":
        suppresses = len(payload) > 1 and payload[0] in SUB_FUNCTIONS and payload[1] & 0x80
        if suppresses:
            yield "suppress_response", 1
        if _is_to_all(event):
            yield "to_all", 1
    if event.message:
        yield "message", event.message


def _text(event: BusEvent) -> str:
    """How people write it: what it is, and what of its bytes is known to matter."""
    words = [_KINDS[event.kind]]
    if event.pair is None and event.ecu:
        words.append(event.ecu)
    words.append(event.name or (service_name(event.service) if event.service is not None else ""))
    for field in event.fields:
        value = field.value
        shown = f"0x{value:02X}" if isinstance(value, int) and event.payload else str(value)
        if len(shown) > 24:
            shown = f"{shown[:24]}…"
        words.append(f"{field.name}={shown}" + (f" ({field.text})" if field.text else ""))
    if _is_to_all(event):
        words.append("(to all)")
    if event.message:
        words.append(f"({event.message})")
    return " ".join(word for word in words if word)


# ----------------------------------------------------------------------------------------- traces


def traces_of(
    trace: Trace,
    ecu: str = "",
    *,
    split: SplitAt = None,
    errors: bool = True,
) -> tuple[EventTrace, ...]:
    """The traces in a log: one for each conversation, or for each stretch of it between two places
    where it is split.

    `ecu` names the conversations that are wanted, by pair of addresses or name; none named: all.
    `errors`: messages that are not whole are kept, as events with the label `err`. Raises
    InputError where dates are missing or run backwards, or the ECU does not talk.
    """
    found = conversations(trace)
    wanted = [one for one in found if not ecu or ecu in (one.ecu, one.name)]
    if not wanted:
        talking = ", ".join(one.name for one in found) or "nobody"
        asked = f"`{ecu}` does not talk here" if ecu else "there is no conversation in this log"
        raise InputError(
            Diagnostic(asked, Origin(trace.file), f"there is {talking}" if ecu else "")
        )
    several = len(wanted) > 1
    return tuple(
        part
        for one in wanted
        for part in _traces(trace, one, f"{trace.name} {one.name}" if several else trace.name,
                            split, errors)
    )  # fmt: skip


def _traces(
    trace: Trace, conversation: Conversation, name: str, split: SplitAt, errors: bool
) -> Iterator[EventTrace]:
    events = []
    for index, event in conversation.events:
        if errors or event.kind != "error":
            timed = timed_event(event, index)
            if timed is None:
                raise InputError(
                    Diagnostic(
                        "this event has no date: the times of responses cannot be judged",
                        event.origin,
                        "keep dates in the log (`candump -l` does)",
                    )
                )
            events.append(timed)
    ordered = _in_order(trace, events)
    cuts = _cuts(trace, ordered, split)
    for number, (start, end) in enumerate(pairwise(cuts), 1):
        part = tuple(ordered[start:end])
        if not part and len(cuts) > 2:
            continue
        last = _end(trace, part, start == cuts[-2])
        yield EventTrace(
            name if len(cuts) == 2 else f"{name}#{number}",
            part,
            None,
            last,
            True,
            part[0].origin if part else Origin(trace.file),
        )


def _in_order(trace: Trace, events: list[TimedEvent]) -> list[TimedEvent]:
    """By date: a long request may end after something else began. A clock that runs backwards by
    more is no clock."""
    longest = max(
        (event.last - event.first for event in trace.events
         if event.first is not None and event.last is not None),
        default=Fraction(0),
    )  # fmt: skip
    latest: TimedEvent | None = None
    for event in events:
        if event.label.startswith("err"):
            # These stand where they were noticed.
            continue
        if latest is not None and event.date + longest < latest.date:
            raise InputError(
                Diagnostic(
                    "the clock of the log runs backwards here: these dates cannot be replayed",
                    event.origin,
                    "split the log there, or read the parts one by one",
                )
            )
        if latest is None or event.date > latest.date:
            latest = event
    return sorted(events, key=lambda event: (event.date, event.index))


def _end(trace: Trace, events: Sequence[TimedEvent], is_last: bool) -> Fraction | None:
    """When the recording stopped: with the last that was told of in the log, or the next part."""
    if not is_last or not events:
        return None
    dates = [event.last for event in trace.events if event.last is not None]
    dates += [mark.time for mark in trace.annotations if mark.time is not None]
    return max([events[-1].date, *dates])


def _cuts(trace: Trace, events: Sequence[TimedEvent], split: SplitAt) -> list[int]:
    """Where parts begin, and the end of the last."""
    inner: Iterable[int]
    if split is None:
        inner = ()
    elif isinstance(split, Fraction):
        inner = (
            at for at, (one, other) in enumerate(pairwise(events), 1)
            if other.date - one.date >= split
        )  # fmt: skip
    else:
        positions = [
            mark.position
            for mark in trace.annotations
            if (power_cycle(mark.text) if split == "power-cycle" else split in mark.text)
        ]
        if split == "power-cycle":
            positions += [
                index for index, event in enumerate(trace.events)
                if event.kind == "other" and power_cycle(event.name)
            ]  # fmt: skip
        inner = (_first_from(events, position) for position in positions)
    return sorted({0, *(at for at in inner if 0 < at < len(events)), len(events)})


def _first_from(events: Sequence[TimedEvent], position: int) -> int:
    return next((at for at, event in enumerate(events) if event.index >= position), len(events))


def power_cycle(text: str) -> bool:
    """Whether a comment or the name of an event says that the ECU was switched on or off."""
    said = " ".join(text.replace("_", " ").lower().split())
    return any(words in said for words in _POWER)


def marked_events(
    annotations: Iterable[Annotation], events: Sequence[TimedEvent]
) -> Iterator[tuple[Annotation, TimedEvent | None]]:
    """Each verdict mark of the environment with the event that it stands behind; None: it stands
    before all of them."""
    by_index = sorted(events, key=lambda event: event.index)
    indices = [event.index for event in by_index]
    for mark in annotations:
        if mark.kind == "verdict":
            at = bisect_left(indices, mark.position)
            yield mark, by_index[at - 1] if at else None
