"""Which patterns can match the same event.

Exact for constants, sets, ranges and patterns of bytes; where regular expressions of other forms
meet, the answer is "perhaps", which counts as yes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final, NamedTuple

from whence.model.prd import EventPattern, FieldPattern, FieldValue

__all__ = ["covers", "joined", "overlap"]


def overlap(one: EventPattern, other: EventPattern) -> bool:
    """Whether an event can match both; True if that is not known."""
    return not _is_empty(_conjunction((one, other)))


def joined(one: EventPattern, other: EventPattern) -> EventPattern | None:
    """The pattern of what both match, as small as it is easy to make; None: there is nothing."""
    whole = _conjunction((one, other))
    if _is_empty(whole):
        return None
    if covers(other, one) and not _captures(other):
        return one
    if covers(one, other) and not _captures(one):
        return other
    return EventPattern(also=(one, other))


def covers(large: EventPattern, small: EventPattern) -> bool:
    """Whether all that matches `small` surely matches `large`; False if that is not known."""
    inside = _conjunction((small,))
    return _implied(large, inside) and not any(
        not _is_empty(inside.plus(_conjunction((unless,)))) for unless in large.unless
    )


# ------------------------------------------------------------------------------------ conjunction


class _Conjunction(NamedTuple):
    """`labels` None: any. Fields by name; each event that matches has the `required` ones."""

    labels: frozenset[str] | None
    fields: dict[str, list[FieldPattern]]
    unless: tuple[EventPattern, ...]

    def plus(self, other: _Conjunction) -> _Conjunction:
        if self.labels is None or other.labels is None:
            labels = other.labels if self.labels is None else self.labels
        else:
            labels = self.labels & other.labels
        names = {**self.fields, **other.fields}
        fields = {name: [*self.fields.get(name, ()), *other.fields.get(name, ())] for name in names}
        return _Conjunction(labels, fields, self.unless + other.unless)


def _conjunction(patterns: Iterable[EventPattern]) -> _Conjunction:
    whole = _Conjunction(None, {}, ())
    for pattern in patterns:
        fields: dict[str, list[FieldPattern]] = {}
        for field in pattern.fields:
            fields.setdefault(field.name, []).append(field)
        whole = whole.plus(_Conjunction(pattern.labels or None, fields, pattern.unless))
        if pattern.also:
            whole = whole.plus(_conjunction(pattern.also))
    return whole


def _is_empty(whole: _Conjunction) -> bool:
    if whole.labels is not None and not whole.labels:
        return True
    for fields in whole.fields.values():
        if not any(field.required for field in fields):
            continue
        for at, one in enumerate(fields):
            if any(not _meet(one, other) for other in fields[:at]):
                return True
    return any(_implied(unless, whole) and not unless.unless for unless in whole.unless)


def _implied(pattern: EventPattern, whole: _Conjunction) -> bool:
    """Whether all that `whole` matches fits labels and fields of the pattern."""
    if pattern.labels and (whole.labels is None or not whole.labels <= pattern.labels):
        return False
    for wanted in pattern.fields:
        given = whole.fields.get(wanted.name, [])
        if wanted.required and not any(field.required for field in given):
            return False
        if _is_anything(wanted):
            continue
        if not any(_within(field, wanted) for field in given):
            return False
    return all(_implied(part, whole) and not part.unless for part in pattern.also)


def _captures(pattern: EventPattern) -> bool:
    return any(
        field.capture or (field.regex and re.compile(field.regex).groupindex)
        for field in pattern.fields
    ) or any(map(_captures, pattern.also))


# ----------------------------------------------------------------------------------------- fields


def _is_anything(field: FieldPattern) -> bool:
    return not (field.values or field.ranges or field.regex)


def _meet(one: FieldPattern, other: FieldPattern) -> bool:
    """Whether a value can be both."""
    if _is_anything(one) or _is_anything(other):
        return True
    if one.regex and other.regex and not (one.values or one.ranges or other.values or other.ranges):
        return _shapes_meet(one.regex, other.regex)
    for low, high in one.ranges:
        if other.regex or any(low <= top and bottom <= high for bottom, top in other.ranges):
            return True
    if one.regex and other.ranges:
        return True
    return any(_accepts(other, value) for value in one.values) or any(
        _accepts(one, value) for value in other.values
    )


def _accepts(field: FieldPattern, value: FieldValue) -> bool:
    if value in field.values:
        return True
    if isinstance(value, int):
        return any(low <= value <= high for low, high in field.ranges) or bool(field.regex)
    text = value.decode("latin-1") if isinstance(value, bytes) else value
    return bool(field.regex) and re.compile(field.regex, re.DOTALL).fullmatch(text) is not None


def _within(small: FieldPattern, large: FieldPattern) -> bool:
    """Whether each value of `small` is one of `large`."""
    if _is_anything(small):
        return False
    if small.regex:
        if small.values or small.ranges or not large.regex:
            return False
        return small.regex == large.regex or _shape_within(small.regex, large.regex)
    for low, high in small.ranges:
        if not any(bottom <= low and high <= top for bottom, top in large.ranges):
            return False
    return all(
        value in large.values
        or (isinstance(value, int) and any(low <= value <= high for low, high in large.ranges))
        for value in small.values
    )


# ----------------------------------------------------------------------------------------- shapes


class _Shape(NamedTuple):
    """What each character may be, and whether more may follow."""

    parts: tuple[frozenset[int], ...]
    rest: bool


_ALL: Final = frozenset(range(256))
_ATOM: Final = re.compile(
    r"\(\?P<\w+>(?=.[^)]*\))|\)"
    r"|\\x(?P<byte>[0-9a-f]{2})"
    r"|\[(?P<set>(?:\\x[0-9a-f]{2}(?:-\\x[0-9a-f]{2})?)+)\]"
    r"|(?P<rest>\.\*\Z)|(?P<any>\.)(?:\{(?P<size>\d{1,2})\})?"
)
_SET: Final = re.compile(r"\\x([0-9a-f]{2})(?:-\\x([0-9a-f]{2}))?")


@lru_cache(4096)
def _shape(regex: str) -> _Shape | None:
    """That of a pattern of bytes, as `whence.formats.prd.payloads` writes it; None for others."""
    parts: list[frozenset[int]] = []
    at = 0
    while at < len(regex):
        found = _ATOM.match(regex, at)
        if found is None:
            return None
        if found["rest"]:
            return _Shape(tuple(parts), True)
        if found["byte"]:
            parts.append(frozenset((int(found["byte"], 16),)))
        elif found["set"]:
            values: set[int] = set()
            for low, high in _SET.findall(found["set"]):
                values.update(range(int(low, 16), int(high or low, 16) + 1))
            parts.append(frozenset(values))
        elif found["any"]:
            parts += [_ALL] * int(found["size"] or 1)
        at = found.end()
    return _Shape(tuple(parts), False)


def _shapes_meet(one: str, other: str) -> bool:
    first, second = _shape(one), _shape(other)
    if first is None or second is None:
        return True
    if len(first.parts) < len(second.parts):
        first, second = second, first
    if len(first.parts) > len(second.parts) and not second.rest:
        return False
    return all(a & b for a, b in zip(first.parts, second.parts, strict=False))


def _shape_within(small: str, large: str) -> bool:
    first, second = _shape(small), _shape(large)
    if first is None or second is None:
        return False
    if len(first.parts) < len(second.parts) or (first.rest and not second.rest):
        return False
    if len(first.parts) > len(second.parts) and not second.rest:
        return False
    return all(a <= b for a, b in zip(first.parts, second.parts, strict=False))
