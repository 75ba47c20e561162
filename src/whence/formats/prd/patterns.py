"""Patterns of events as texts::

    req @CTR set value=<val>
    res Session sub_function={1, 3} p2?=0..50 !suppress_response
    req payload=[2E 01 01 <limit>]
    any except res @CTR ack

Kinds of events are those of plain event lines (docs/events.md); an event of a trace has the label
`kind name` or `kind ECU name`. Fields that are not mentioned do not matter; `!name` says that there
is no such field, `name?=` that it may be missing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from whence.expr.scope import Problem
from whence.formats.can.services import PENDING, service_name
from whence.formats.prd.lexing import Token, Tokens, stretch
from whence.formats.prd.payloads import Payload, is_payload, parse_payload
from whence.model.prd import EventPattern, FieldPattern, FieldValue
from whence.source import SourceText

__all__ = [
    "KINDS",
    "NEGATIVE",
    "PAYLOAD",
    "captures",
    "label",
    "parse_message",
    "parse_pattern",
    "payload_pattern",
    "without",
]

#: The kinds of events, as labels begin.
KINDS: Final = ("req", "res", "neg", "pend", "other", "err")
#: The field that has all bytes of a message.
PAYLOAD: Final = "payload"
NEGATIVE: Final = 0x7F


def label(kind: str, name: str, ecu: str = "") -> str:
    return " ".join(word for word in (kind, ecu, name) if word)


def captures(pattern: EventPattern) -> tuple[str, ...]:
    """The names of what a pattern captures, in order."""
    found: list[str] = []
    for field in pattern.fields:
        found += [field.capture] if field.capture else []
        found += re.compile(field.regex).groupindex if field.regex else ()
    for part in pattern.also:
        found += captures(part)
    return tuple(dict.fromkeys(found))


def without(pattern: EventPattern, *others: EventPattern) -> EventPattern:
    """What matches this pattern and none of the others."""
    if not others:
        return pattern
    return EventPattern(
        pattern.labels, pattern.fields, pattern.also, (*pattern.unless, *others), pattern.text
    )


# ---------------------------------------------------------------------------------------- payloads


def payload_pattern(payload: Payload, kind: str, text: str = "") -> EventPattern:
    """The pattern of the messages with these bytes. `kind` is `req`, or `res` for responses of any
    kind: which one, and of which service, is told by their first bytes."""
    values = payload.bytes()
    labels: list[str] = []
    if kind == "req":
        labels = [label("req", service_name(value)) for value in sorted(values[0])]
    else:
        for value in sorted(values[0]):
            if value != NEGATIVE:
                labels.append(label("res", service_name(value - 0x40)))
                continue
            services = sorted(values[1]) if len(values) > 1 else range(256)
            codes = values[2] if len(values) > 2 else frozenset(range(256))
            for service in services:
                labels += [label("neg", service_name(service))] if codes - {PENDING} else []
                labels += [label("pend", service_name(service))] if PENDING in codes else []
    return EventPattern(
        frozenset(labels), (FieldPattern(PAYLOAD, regex=payload.regex()),), text=text
    )


# -------------------------------------------------------------------------------------------- text


def parse_pattern(source: SourceText) -> EventPattern:
    """A pattern that says of which kind its events are. Raises Problem."""
    reader = _Reader(Tokens(source, regexes=True))
    pattern = reader.pattern()
    reader.tokens.done()
    return pattern


@dataclass(frozen=True, slots=True)
class Message:
    """A request or response as the description of an ECU has it. `payload` None: it was described
    by its fields; then `name` is what its label ends with."""

    pattern: EventPattern
    payload: Payload | None
    name: str


def parse_message(source: SourceText, kind: str, ecu: str = "") -> Message:
    """A message of this kind: its bytes, or its name and its fields. Raises Problem."""
    text = source.text.strip()
    if is_payload(source.text):
        payload = parse_payload(source)
        first = payload.first()
        if first is None or (kind == "req" and first & 0x40):
            raise Problem(
                "the first byte of a request is its service", source.origin(0),
                "services are 00 to 3F and 80 to BF",
            )  # fmt: skip
        name = service_name(first if kind == "req" else first - 0x40)
        return Message(payload_pattern(payload, kind, text), payload, name)
    reader = _Reader(Tokens(source, regexes=True))
    name = reader.name()
    fields, unless = reader.fields()
    reader.tokens.done()
    pattern = EventPattern(frozenset((label(kind, name, ecu),)), fields, (), unless, text)
    return Message(pattern, None, name)


class _Reader:
    def __init__(self, tokens: Tokens) -> None:
        self.tokens = tokens
        self.captured: set[str] = set()

    def pattern(self) -> EventPattern:
        first = self._single()
        if not self.tokens.accept("except"):
            return first
        unless = [self._single()]
        while self.tokens.accept(","):
            unless.append(self._single())
        whole = without(first, *unless)
        return EventPattern(
            whole.labels, whole.fields, whole.also, whole.unless, self.tokens.source.text.strip()
        )

    def _single(self) -> EventPattern:
        tokens = self.tokens
        start = tokens.next
        if tokens.accept("any"):
            labels: frozenset[str] = frozenset()
        else:
            kind = tokens.take()
            if kind.text not in KINDS:
                raise Problem(
                    f"`{kind.text[:40]}` is no kind of event", tokens.origin(kind),
                    f"expected any, {', '.join(KINDS)}",
                )  # fmt: skip
            ecu = self._ecu()
            labels = frozenset(label(kind.text, name, ecu) for name in self._names())
        fields, unless = self.fields()
        end = tokens.tokens[tokens.at - 1]
        text = tokens.source.text[start.start : end.end]
        return EventPattern(labels, fields, (), unless, text)

    def _ecu(self) -> str:
        return self.name() if self.tokens.accept("@") else ""

    def _names(self) -> list[str]:
        if not self.tokens.accept("{"):
            return [self.name()]
        names = [self.name()]
        while self.tokens.accept(","):
            names.append(self.name())
        self.tokens.expect("}")
        return names

    def name(self) -> str:
        token = self.tokens.next
        if token.kind not in ("name", "string"):
            self.tokens.fail("expected a name", "put names with other characters into quotes")
        self.tokens.take()
        return _unquoted(token)

    # ------------------------------------------------------------------------------------ fields

    def fields(self) -> tuple[tuple[FieldPattern, ...], tuple[EventPattern, ...]]:
        """The fields, and patterns that must not match."""
        found: list[FieldPattern] = []
        absent: list[EventPattern] = []
        while True:
            tokens = self.tokens
            if tokens.accept("!"):
                name = self.name()
                absent.append(EventPattern(fields=(FieldPattern(name),), text=name))
            elif tokens.next.kind in ("name", "string") and tokens.peek().text in ("=", "?="):
                token = tokens.next
                name = self.name()
                required = tokens.take().text == "="
                if any(field.name == name for field in found):
                    raise Problem(f"`{name}` stands here twice", tokens.origin(token))
                found.append(self._field(name, required))
            else:
                return tuple(found), tuple(absent)

    def _field(self, name: str, required: bool) -> FieldPattern:
        tokens = self.tokens
        if tokens.accept("<"):
            token = tokens.next
            captured = self.name()
            if captured in self.captured:
                raise Problem(f"`{captured}` is captured twice", tokens.origin(token))
            self.captured.add(captured)
            inner = FieldPattern(name)
            if tokens.accept(":"):
                inner = self._value(name)
            tokens.expect(">")
        else:
            captured, inner = "", self._value(name)
        return FieldPattern(name, inner.values, inner.ranges, inner.regex, captured, required)

    def _value(self, name: str) -> FieldPattern:
        tokens = self.tokens
        token = tokens.next
        if tokens.accept("*"):
            return FieldPattern(name)
        if token.kind == "regex":
            tokens.take()
            return FieldPattern(name, regex=self._regex(token))
        if token.kind == "bytes":
            tokens.take()
            inside = stretch(tokens.source, token.start + 1, token.end - 1)
            payload = parse_payload(inside)
            return FieldPattern(name, regex=self._checked(payload.regex(), token))
        if not tokens.accept("{"):
            value, top = self._one()
            return _alternatives(name, [(value, top)])
        found = [self._one()]
        while tokens.accept(","):
            found.append(self._one())
        tokens.expect("}")
        return _alternatives(name, found)

    def _one(self) -> tuple[FieldValue, int | None]:
        """A value; or the ends of a range."""
        tokens = self.tokens
        token = tokens.next
        if token.kind in ("name", "string"):
            return self.name(), None
        low = self._integer()
        if not tokens.accept(".."):
            return low, None
        high = self._integer()
        if high < low:
            raise Problem("this range is empty", tokens.origin(token))
        return low, high

    def _integer(self) -> int:
        negative = self.tokens.accept("-") is not None
        token = self.tokens.next
        if token.kind != "number" or "." in token.text:
            self.tokens.fail("expected a value")
        self.tokens.take()
        value = int(token.text, 16 if token.text[:2] in ("0x", "0X") else 10)
        return -value if negative else value

    def _regex(self, token: Token) -> str:
        return self._checked(token.text[1:-1].replace("\\/", "/"), token)

    def _checked(self, text: str, token: Token) -> str:
        try:
            names = re.compile(text).groupindex
        except (re.error, RecursionError, OverflowError) as error:
            raise Problem(
                f"this is no regular expression: {error}", self.tokens.origin(token)
            ) from None
        for name in names:
            if name in self.captured:
                raise Problem(f"`{name}` is captured twice", self.tokens.origin(token))
            self.captured.add(name)
        return text


def _unquoted(token: Token) -> str:
    if token.kind != "string":
        return token.text
    return token.text[1:-1].replace('\\"', '"').replace("\\\\", "\\")


def _alternatives(name: str, found: list[tuple[FieldValue, int | None]]) -> FieldPattern:
    values = frozenset(value for value, top in found if top is None)
    ranges = tuple(
        (value, top) for value, top in found if top is not None and isinstance(value, int)
    )
    return FieldPattern(name, values, ranges)
