"""Which patterns of an automaton an event matches, and what they capture.

An automaton has many patterns, a trace many events, but of few kinds: patterns are found by label,
and by the values of one field that they fix, and what was found for an event is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from whence.model.prd import EventPattern, FieldPattern, FieldValue, TimedEvent
from whence.source import InputError

__all__ = ["Captures", "Patterns", "check_pattern", "labels_of", "match"]

#: Captured values, by name, in the order of the names.
Captures: TypeAlias = tuple[tuple[str, FieldValue], ...]

_compiled: dict[str, re.Pattern[str]] = {}


def _regex(text: str) -> re.Pattern[str]:
    found = _compiled.get(text)
    if found is None:
        try:
            found = _compiled[text] = re.compile(text, re.DOTALL)
        except (re.error, RecursionError, OverflowError) as error:
            raise InputError(f"the regular expression {text!r} of a pattern: {error}") from error
    return found


def check_pattern(pattern: EventPattern) -> None:
    """Raises InputError for a regular expression that is none."""
    for part in pattern.fields:
        if part.regex:
            _regex(part.regex)
    for other in (*pattern.also, *pattern.unless):
        check_pattern(other)


def match(pattern: EventPattern, event: TimedEvent) -> dict[str, FieldValue] | None:
    """What the pattern captures of the event, None if it does not match."""
    if pattern.labels and event.label not in pattern.labels:
        return None
    captured: dict[str, FieldValue] = {}
    for part in pattern.fields:
        if not _field(part, event.fields, captured):
            return None
    for other in pattern.also:
        more = match(other, event)
        if more is None:
            return None
        captured.update(more)
    if any(match(other, event) is not None for other in pattern.unless):
        return None
    return captured


def _field(
    part: FieldPattern, fields: Mapping[str, FieldValue], captured: dict[str, FieldValue]
) -> bool:
    value = fields.get(part.name)
    if value is None:
        return not part.required
    free = not (part.values or part.ranges or part.regex)
    fits = free or value in part.values
    if not fits and isinstance(value, int):
        fits = any(low <= value <= high for low, high in part.ranges)
    if part.regex and not isinstance(value, int):
        text = value.decode("latin-1") if isinstance(value, bytes) else value
        found = _regex(part.regex).fullmatch(text)
        if found is not None:
            fits = True
            for name, group in found.groupdict().items():
                if group is not None:
                    captured[name] = group.encode("latin-1") if isinstance(value, bytes) else group
    if fits and part.capture:
        captured[part.capture] = value
    return fits


class Patterns:
    """The patterns of an automaton, each with a number."""

    def __init__(self, patterns: Iterable[tuple[EventPattern, frozenset[str]]]) -> None:
        """Patterns, in any number of times, with captured values that guards and updates use."""
        self.numbers: dict[EventPattern, int] = {}
        used: list[frozenset[str]] = []
        # Equal patterns are mostly one object, and hashing them again costs time.
        known: dict[int, tuple[EventPattern, int]] = {}
        for pattern, names in patterns:
            if id(pattern) not in known:
                number = self.numbers.setdefault(pattern, len(self.numbers))
                known[id(pattern)] = pattern, number
                if number == len(used):
                    used.append(frozenset())
            number = known[id(pattern)][1]
            if names:
                used[number] |= names
        self.patterns = tuple(self.numbers)
        #: For each pattern, what is used of what it captures.
        self.used = used
        self._by_label: dict[str, _Group] = {}
        self._anywhere = _Group()
        for number, pattern in enumerate(self.patterns):
            labels = labels_of(pattern)
            if labels is None:
                self._anywhere.add(number, pattern)
            else:
                for label in labels:
                    self._by_label.setdefault(label, _Group()).add(number, pattern)
        self._known: dict[object, int] = {}
        #: What events of each shape match: numbers of patterns with captures.
        self.shapes: list[tuple[tuple[int, Captures], ...]] = []
        self._shape_numbers: dict[tuple[tuple[int, Captures], ...], int] = {}

    def shape(self, event: TimedEvent) -> int:
        """The number of the event's shape: events of one shape are the same to the automaton."""
        key = (event.label, tuple(sorted(event.fields.items())))
        found = self._known.get(key)
        if found is None:
            if len(self._known) > 100_000:
                self._known.clear()
            found = self._known[key] = self._shape(event)
        return found

    def _shape(self, event: TimedEvent) -> int:
        matched = []
        group = self._by_label.get(event.label)
        for number in sorted(
            {*self._anywhere.candidates(event), *(group.candidates(event) if group else ())}
        ):
            captured = match(self.patterns[number], event)
            if captured is not None:
                used = self.used[number]
                matched.append((number, tuple(sorted(c for c in captured.items() if c[0] in used))))
        shape = tuple(matched)
        number = self._shape_numbers.setdefault(shape, len(self.shapes))
        if number == len(self.shapes):
            self.shapes.append(shape)
        return number

    def labelled(self, label: str) -> frozenset[int]:
        """The patterns for events with this label, whatever their fields."""
        group = self._by_label.get(label)
        return frozenset(group.all if group is not None else ())

    def forget(self) -> None:
        """Drop what was kept of events; numbers of shapes start anew."""
        self._known.clear()
        self._shape_numbers.clear()
        self.shapes.clear()

    def look(self, event: TimedEvent) -> str:
        """The event as far as patterns can tell it from others: its label, the fields whose values
        are captured and used, and those whose values are among the
        single values that a pattern asks for. Of an event that matches nothing, all fields that
        patterns for this label speak of."""
        group = self._by_label.get(event.label)
        numbers = [*self._anywhere.all, *(group.all if group else ())]
        matched = bool(self.shapes[self.shape(event)])
        shown = []
        for name in sorted(event.fields):
            value = event.fields[name]
            for number in numbers:
                pattern = self.patterns[number]
                parts = [part for part in _mentioned(pattern) if part.name == name]
                if not parts:
                    continue
                captured = {c for part in parts for c in _captures(part)} & self.used[number]
                asked = any(value in part.values for part in parts) or not matched
                if (captured or asked) and match(_without(pattern, name), event) is not None:
                    shown.append(f"{name}={_shown(value)}")
                    break
        return " ".join([event.label, *shown])


class _Group:
    """Patterns for one label, found by the values of a field that most of them fix."""

    def __init__(self) -> None:
        self.all: list[int] = []
        self.rest: list[int] = []
        self.fixed: dict[str, dict[FieldValue, list[int]]] = {}

    def add(self, number: int, pattern: EventPattern) -> None:
        self.all.append(number)
        for part in _fields(pattern):
            if part.values and not part.ranges and not part.regex and part.required:
                places = self.fixed.setdefault(part.name, {})
                for value in part.values:
                    places.setdefault(value, []).append(number)
                return
        self.rest.append(number)

    def candidates(self, event: TimedEvent) -> Sequence[int]:
        found = list(self.rest)
        for name, places in self.fixed.items():
            value = event.fields.get(name)
            if value is not None:
                found += places.get(value, ())
        return found


def labels_of(pattern: EventPattern) -> frozenset[str] | None:
    """The labels that the pattern can match; None: all."""
    found = pattern.labels or None
    for other in pattern.also:
        more = labels_of(other)
        if more is not None:
            found = more if found is None else found & more
    return found


def _fields(pattern: EventPattern) -> Iterator[FieldPattern]:
    """What the fields of an event have to be, all of it."""
    yield from pattern.fields
    for other in pattern.also:
        yield from _fields(other)


def _mentioned(pattern: EventPattern) -> Iterator[FieldPattern]:
    """All parts that say something of fields, also of what is excluded."""
    yield from pattern.fields
    for other in (*pattern.also, *pattern.unless):
        yield from _mentioned(other)


def _without(pattern: EventPattern, name: str) -> EventPattern:
    """The pattern for events whose field of this name may be anything."""
    return replace(
        pattern,
        fields=tuple(part for part in pattern.fields if part.name != name),
        also=tuple(_without(other, name) for other in pattern.also),
        unless=tuple(
            other
            for other in pattern.unless
            if all(part.name != name for part in _mentioned(other))
        ),
    )


def _captures(part: FieldPattern) -> Iterator[str]:
    if part.capture:
        yield part.capture
    if part.regex:
        yield from _regex(part.regex).groupindex


def _shown(value: FieldValue) -> str:
    return value.hex().upper() if isinstance(value, bytes) else str(value)
