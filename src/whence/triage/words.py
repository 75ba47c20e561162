"""Patterns, events, values and times as people write them."""

from __future__ import annotations

from fractions import Fraction

from whence.model.prd import EventPattern, FieldPattern, TimedEvent
from whence.triage import values as v

__all__ = ["event_text", "pattern_text", "time_text", "values_text"]

_MOST_LISTED = 8


def time_text(seconds: Fraction) -> str:
    """Exact: `50 ms`, `2.5 s`, or a fraction of a second."""
    unit, value = ("s", seconds) if abs(seconds) >= 1 or not seconds else ("ms", seconds * 1000)
    scaled = value * 10**9
    if scaled.denominator != 1:
        return f"{seconds} s"
    whole, rest = divmod(abs(scaled.numerator), 10**9)
    digits = f"{rest:09d}".rstrip("0")
    sign = "-" if value < 0 else ""
    return f"{sign}{whole}{'.' if digits else ''}{digits} {unit}"


def event_text(event: TimedEvent) -> str:
    """The event as people write it."""
    if event.text:
        return event.text
    fields = " ".join(f"{name}={_shown(value)}" for name, value in event.fields.items())
    return f"{event.label} {fields}".rstrip()


def values_text(values: v.Values, names: tuple[str, ...] = ()) -> str:
    """`0, 5..9`, or names."""
    if names and v.size(values) <= _MOST_LISTED:
        return ", ".join(names[x] for x in v.unroll(values))
    return ", ".join(
        str(low) if low == high else f"{low}..{high}" for low, high in values[:_MOST_LISTED]
    ) + (", …" if len(values) > _MOST_LISTED else "")


def pattern_text(pattern: EventPattern) -> str:
    """The pattern in words."""
    if pattern.text:
        return pattern.text
    parts = []
    if pattern.labels:
        parts.append("|".join(sorted(pattern.labels)))
    parts += [_field_text(part) for part in pattern.fields]
    parts += [text for each in pattern.also if (text := pattern_text(each)) != "any event"]
    if pattern.unless:
        excluded = " or ".join(pattern_text(each) for each in pattern.unless)
        parts.append(f"(not {excluded})")
    return " ".join(dict.fromkeys(parts)) or "any event"


def _field_text(part: FieldPattern) -> str:
    options = sorted(_shown(value) for value in part.values)
    options += [f"{low}..{high}" for low, high in part.ranges]
    if part.regex:
        options.append(f"/{part.regex}/")
    text = "|".join(options) or "*"
    return (
        f"{part.name}=<{part.capture}>{'' if text == '*' else text}"
        if part.capture
        else (f"{part.name}={text}")
    )


def _shown(value: object) -> str:
    return value.hex().upper() if isinstance(value, bytes) else str(value)
