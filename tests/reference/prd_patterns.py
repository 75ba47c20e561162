"""What a pattern of events means, from the definition: for one event, by trying.

Written from the docstrings of `whence.model.prd` alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from whence.model.prd import (
    AllOf,
    AnyOf,
    Arithmetic,
    Captured,
    ClockBound,
    Comparison,
    Constant,
    EventPattern,
    FieldPattern,
    Guard,
    Not,
    Read,
    Term,
)

__all__ = ["captured", "guard_holds", "matches", "term_value"]


def matches(pattern: EventPattern, label: str, fields: Mapping[str, int | str | bytes]) -> bool:
    if pattern.labels and label not in pattern.labels:
        return False
    for field in pattern.fields:
        if field.name not in fields:
            if field.required:
                return False
        elif not _accepts(field, fields[field.name]):
            return False
    wanted = all(matches(part, label, fields) for part in pattern.also)
    return wanted and not any(matches(part, label, fields) for part in pattern.unless)


def _accepts(field: FieldPattern, value: int | str | bytes) -> bool:
    ways = []
    if field.values:
        ways.append(value in field.values)
    for low, high in field.ranges:
        ways.append(isinstance(value, int) and low <= value <= high)
    if field.regex:
        if isinstance(value, int):
            ways.append(False)
        else:
            text = value if isinstance(value, str) else value.decode("latin-1")
            ways.append(re.fullmatch(field.regex, text, re.DOTALL) is not None)
    return not ways or any(ways)


def captured(
    pattern: EventPattern, fields: Mapping[str, int | str | bytes]
) -> dict[str, int | str | bytes]:
    found: dict[str, int | str | bytes] = {}
    for field in pattern.fields:
        if field.capture and field.name in fields:
            found[field.capture] = fields[field.name]
    for part in pattern.also:
        found.update(captured(part, fields))
    return found


def term_value(term: Term, memory: Mapping[str, int], values: Mapping[str, int]) -> int | None:
    if isinstance(term, Constant):
        return term.value
    if isinstance(term, Read):
        return memory[term.variable]
    if isinstance(term, Captured):
        return values.get(term.name)
    assert isinstance(term, Arithmetic)
    left = term_value(term.left, memory, values)
    right = term_value(term.right, memory, values)
    if left is None or right is None:
        return None
    if term.operator in ("//", "%") and right == 0:
        return None
    if term.operator in ("<<", ">>") and right < 0:
        return None
    number: int = eval(f"({left}) {term.operator} ({right})")
    return number


def guard_holds(
    guard: Guard,
    memory: Mapping[str, int],
    values: Mapping[str, int],
    clocks: Mapping[str, float],
) -> bool:
    if isinstance(guard, AllOf):
        return all(guard_holds(part, memory, values, clocks) for part in guard.parts)
    if isinstance(guard, AnyOf):
        return any(guard_holds(part, memory, values, clocks) for part in guard.parts)
    if isinstance(guard, Not):
        return not guard_holds(guard.part, memory, values, clocks)
    if isinstance(guard, ClockBound):
        age = clocks[guard.clock] - (clocks[guard.minus] if guard.minus else 0)
        return bool(eval(f"({age}) {guard.operator} ({float(guard.bound)})"))
    assert isinstance(guard, Comparison)
    left = term_value(guard.left, memory, values)
    right = term_value(guard.right, memory, values)
    if left is None or right is None:
        return False
    return bool(eval(f"({left}) {guard.operator} ({right})"))
