"""Events of logs on the terminal: a line each, so that a log of any length can be told."""

from __future__ import annotations

import re
from collections import OrderedDict
from fractions import Fraction

from rich.text import Text

from whence.formats.can.trace import Log, Told
from whence.formats.events.values import date_text
from whence.model.events import KINDS, Annotation, BusEvent, Field

__all__ = ["EventLines", "heading"]

_STYLES = {
    "request": "bold",
    "positive": "green",
    "negative": "red",
    "pending": "yellow",
    "other": "",
    "error": "bold red",
}
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
#: A longer text of hexadecimal digits is cut.
_LONGEST = 32
#: So many requests are remembered, to tell how long the answer took.
_REMEMBERED = 1000
#: Numbers that people know as hexadecimal ones, by the digits that they have.
_HEXADECIMAL = {
    "did": 4, "routine": 4, "dtc": 6, "group": 6, "status": 2, "status_mask": 2, "code": 2,
    "service": 2, "pid": 2, "mid": 2, "sub_function": 2, "memory_address": 8, "memory_size": 8,
    "status_availability_mask": 2, "communication_type": 2, "data_format": 2, "control": 2,
    "address_and_length_format": 2, "length_format": 2,
}  # fmt: skip


class EventLines:
    """The lines about one log, in the order of its events."""

    def __init__(self) -> None:
        self.count = 0
        self.kinds = dict.fromkeys(KINDS, 0)
        self.marks = 0
        self.asked: OrderedDict[int, Fraction] = OrderedDict()

    def line(self, told: Told) -> Text:
        if isinstance(told, Annotation):
            return self._annotation(told)
        number = self.count
        self.count += 1
        self.kinds[told.kind] += 1
        if told.kind == "request" and told.last is not None:
            self.asked[number] = told.last
            if len(self.asked) > _REMEMBERED:
                self.asked.popitem(last=False)
        text = Text(f"{number:>5}  {date_text(told.first) or '-':>12}  ")
        text.append(f"{told.kind:<8}", style=_STYLES[told.kind])
        text.append(f"  {_clean(told.ecu)}" if told.ecu else "")
        said = [told.name] if told.name else []
        said += [_field(field) for field in told.fields]
        if told.payload and (told.service is None or not told.name):
            said.append(_cut(told.payload.hex().upper()))
        if told.message:
            said.append(f"({told.message})" if said else told.message)
        text.append("  " + _clean(" ".join(said)))
        answer = self._answer(told)
        if answer:
            text.append(f"  [{answer}]", style="dim")
        return text

    def _annotation(self, told: Annotation) -> Text:
        date = date_text(told.time)
        mark = f"! {told.verdict or 'verdict'}" if told.kind == "verdict" else "#"
        self.marks += told.kind == "verdict"
        style = "bold magenta" if told.kind == "verdict" else "dim"
        return Text(f"{'':>5}  {date:>12}  {mark} {_clean(told.text)}", style=style)

    def _answer(self, event: BusEvent) -> str:
        if event.answers is None:
            return "no request" if event.kind in ("positive", "negative", "pending") else ""
        asked = self.asked.get(event.answers)
        if asked is None or event.first is None:
            return f"to {event.answers}"
        return f"to {event.answers} after {date_text(event.first - asked)} s"

    def summary(self, log: Log) -> list[Text]:
        """What there was, how it is to be understood, and what was left out."""
        counted = ", ".join(
            f"{count} {_plural(kind, count)}" for kind, count in self.kinds.items() if count
        )
        frames = f"{log.frames} frame{'' if log.frames == 1 else 's'}, " if log.frames else ""
        events = f"{self.count} event{'' if self.count == 1 else 's'}"
        lines = [Text(f"{frames}{events}{': ' if counted else ''}{counted}", style="bold")]
        if log.frames:
            pairs = ", ".join(map(str, log.pairs))
            lines.append(Text(f"addresses: {pairs or 'no conversation was found'}"))
        lines += [Text(f"note: {_clean(note)}", style="dim") for note in log.notes]
        return lines


def _clean(text: str) -> str:
    """One line, and nothing in it that would command a terminal: logs are hostile."""
    return _CONTROL.sub("\ufffd", " ".join(text.split()))


def heading(log: Log) -> Text:
    return Text(_clean(f"{log.path} ({log.format})"), style="bold")


def _plural(kind: str, count: int) -> str:
    nouns = {"request": "request", "error": "error"}
    if kind in nouns:
        return nouns[kind] + ("" if count == 1 else "s")
    return kind


def _field(field: Field) -> str:
    value = field.value
    if isinstance(value, int):
        digits = _HEXADECIMAL.get(field.name)
        text = str(value) if digits is None or value < 0 else f"0x{value:0{digits}X}"
    else:
        text = _cut(value)
    return f"{field.name}={text} ({field.text})" if field.text else f"{field.name}={text}"


def _cut(text: str) -> str:
    if len(text) <= _LONGEST:
        return text
    return f"{text[:_LONGEST]}…"
