"""Events as lines of text::

    %unit ms
    0     req @CTR set value=5
    10.5  res @CTR set value=5
    ! fail the answer comes too late
    # a comment

A line is a date, a kind, perhaps `@` and the ECU, a name, and parameters. Behind them can stand
what an event has besides: `:last=` (the date of its end), `:payload=`, `:answers=`, `:service=`,
`:message=` and `:channel=`. `-` stands for a date that is not known, `""` for no name. Directives:
`%unit` (`s`, `ms` or `us`) and `%dates differences`, for dates that count from the line before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import BinaryIO, Final

from whence.formats.can.lines import Item, Note, broken, stretches
from whence.formats.events.values import (
    date_text,
    field_texts,
    pair_of,
    parse_date,
    parse_fields,
    parse_word,
    word,
)
from whence.model.events import VERDICTS, Annotation, BusEvent, EventKind
from whence.source import Origin

__all__ = [
    "BESIDES",
    "EVENT_LINE",
    "KINDS_BY_NAME",
    "LONGEST",
    "besides",
    "number_of",
    "payload_of",
    "read_text",
    "text_line",
]

#: The longest line of an event: a message of some megabytes.
LONGEST: Final = 1 << 25

KINDS_BY_NAME: Final[dict[str, EventKind]] = {
    "req": "request", "request": "request",
    "res": "positive", "pos": "positive", "positive": "positive",
    "neg": "negative", "negative": "negative",
    "pend": "pending", "pending": "pending",
    "other": "other",
    "err": "error", "error": "error",
}  # fmt: skip
_SHORT: Final[dict[EventKind, str]] = {
    "request": "req", "positive": "res", "negative": "neg",
    "pending": "pend", "other": "other", "error": "err",
}  # fmt: skip
EVENT_LINE: Final = re.compile(
    r"\s*(?P<date>-|[-\d][\d./]*)\s+(?P<kind>" + "|".join(KINDS_BY_NAME) + r")(?=\s|\Z)"
    r"(?:\s+@(?P<ecu>\"(?:[^\"\\]|\\.)*\"|\S+))?"
    r"(?:\s+(?P<name>\"(?:[^\"\\]|\\.)*\"|[^\s=:\"][^\s=\"]*)(?=\s|\Z))?(?P<rest>(?:\s.*)?)\Z",
    re.DOTALL,
)
_MARK: Final = re.compile(r"\s*(?:(?P<date>-|[-\d][\d./]*)\s+)?(?P<sign>[#!])\s?(?P<text>.*)\Z")
_UNITS: Final = {"s": Fraction(1), "ms": Fraction(1, 1000), "us": Fraction(1, 1_000_000)}
_NUMBER: Final = re.compile(r"0x[0-9A-Fa-f]{1,16}|0|[1-9][0-9]{0,18}", re.ASCII)
BESIDES: Final = ("last", "payload", "answers", "service", "message", "channel")


# ---------------------------------------------------------------------------------------- writing


def text_line(told: BusEvent | Annotation) -> str:
    """One line, without its end."""
    if isinstance(told, Annotation):
        date = f"{date_text(told.time)} " if told.time is not None else ""
        text = " ".join(told.text.split())
        if told.kind == "verdict":
            return f"{date}! {told.verdict or 'none'} {text}".rstrip()
        return f"{date}# {text}".rstrip()
    parts = [date_text(told.first) or "-", _SHORT[told.kind]]
    if told.ecu:
        parts.append(f"@{word(told.ecu)}")
    parts += [word(told.name), *field_texts(told.fields)]
    for name, text in besides(told).items():
        parts.append(f":{name}={word(text)}")
    return " ".join(parts)


def besides(event: BusEvent) -> dict[str, str]:
    """What an event has besides a date, a kind, an ECU, a name and fields: as texts."""
    texts = {
        # An end that is not known is told, too, where the start is known.
        "last": (date_text(event.last) or "-") if event.last != event.first else "",
        "payload": event.payload.hex().upper(),
        "answers": "" if event.answers is None else str(event.answers),
        "service": "" if event.service is None else f"0x{event.service:02X}",
        "message": event.message,
        "channel": event.channel,
    }
    return {name: text for name, text in texts.items() if text}


# ---------------------------------------------------------------------------------------- reading


def read_text(stream: BinaryIO, file: str) -> Iterator[BusEvent | Item]:
    reader = _Reader(file)
    for first, lines in stretches(stream, LONGEST):
        for number, line in enumerate(lines, first):
            item = reader.line(number, line)
            if item is not None:
                yield item


class _Reader:
    def __init__(self, file: str) -> None:
        self.file = file
        self.unit = Fraction(1)
        self.differences = False
        self.clock = Fraction(0)

    def line(self, number: int, line: str) -> BusEvent | Item | None:
        try:
            text = line.encode("latin-1").decode("utf-8").strip().removeprefix("\ufeff")
        except UnicodeDecodeError:
            text = line.strip()
        if not text:
            return None
        try:
            if text.startswith("%"):
                return self._directive(text)
            mark = _MARK.match(text)
            if mark is not None:
                return self._annotation(mark, number)
            return self._event(text, number)
        except (ValueError, RecursionError) as error:
            return broken(self.file, number, line, str(error) or "not an event")

    def _directive(self, text: str) -> Note | None:
        name, *words = text[1:].split()
        if name == "unit" and len(words) == 1 and words[0] in _UNITS:
            self.unit = _UNITS[words[0]]
            return None
        if name == "dates" and words in (["differences"], ["absolute"]):
            self.differences = words == ["differences"]
            if self.differences:
                return Note("dates are relative: differences to the event before, summed up")
            return None
        raise ValueError("not a directive: `%unit s|ms|us`, `%dates absolute|differences`")

    def _date(self, text: str) -> Fraction | None:
        if text == "-":
            return None
        date = parse_date(text)
        if date is None:
            raise ValueError(f"`{text}` is no date")
        return date * self.unit

    def _annotation(self, mark: re.Match[str], number: int) -> Annotation:
        date = self._date(mark["date"]) if mark["date"] else None
        text, origin = mark["text"].strip(), Origin(self.file, number, 1)
        if mark["sign"] == "#":
            return Annotation("comment", text, "", date, origin=origin)
        name, _, text = text.partition(" ")
        for verdict in VERDICTS:
            if name == (verdict or "none"):
                return Annotation("verdict", text, verdict, date, origin=origin)
        known = ", ".join(verdict or "none" for verdict in VERDICTS)
        raise ValueError(f"`{name}` is no verdict ({known})")

    def _event(self, text: str, number: int) -> BusEvent:
        found = EVENT_LINE.match(text)
        if found is None:
            raise ValueError("not an event: a date, a kind, perhaps @ECU, a name, parameters")
        fields, others = parse_fields(found["rest"])
        unknown = [name for name in others if name not in BESIDES]
        if unknown:
            raise ValueError(f"`:{unknown[0]}` is unknown; there are :" + ", :".join(BESIDES))
        first = self._date(found["date"])
        last = self._date(others["last"]) if "last" in others else first
        if self.differences and first is not None:
            self.clock += first
            first = self.clock
            last = first if "last" not in others or last is None else first + last
        ecu = parse_word(found["ecu"] or "")
        return BusEvent(
            KINDS_BY_NAME[found["kind"]],
            first,
            last,
            parse_word(found["name"] or ""),
            ecu,
            number_of("service", others.get("service", "")),
            fields,
            payload_of(others.get("payload", "")),
            number_of("answers", others.get("answers", "")),
            others.get("message", ""),
            pair_of(ecu),
            others.get("channel", ""),
            Origin(self.file, number, 1),
        )


def number_of(name: str, text: str) -> int | None:
    """A number that is not negative, decimal or with 0x; None if the text is empty."""
    if not text:
        return None
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"`{text[:40]}` is no number; {name} is one")
    return int(text, 0)


def payload_of(text: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError:
        raise ValueError("the payload is not made of hexadecimal digits, two a byte") from None
