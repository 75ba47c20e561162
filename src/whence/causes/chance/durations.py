"""Times as people write them: `1h`, `90min`, `10s`."""

from __future__ import annotations

import re
from fractions import Fraction

from whence.source import UsageError

__all__ = ["parse_hours"]

_UNITS = {
    "ms": Fraction(1, 3_600_000),
    "s": Fraction(1, 3600),
    "min": Fraction(1, 60),
    "h": Fraction(1),
    "d": Fraction(24),
}
_PART = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,18})?(?:e[+-]?[0-9]{1,2})?)\s*([a-z]+)\s*", re.ASCII)


def parse_hours(text: str) -> Fraction:
    """The time in hours, exactly: a number with a unit, or several (`1h 30min`)."""
    at, hours = 0, Fraction(0)
    stripped = text.strip()
    while at < len(stripped) or not stripped:
        part = _PART.match(stripped, at)
        if part is None or part[2] not in _UNITS:
            raise UsageError(
                f"`{text}` is no time; write a number and one of the units {', '.join(_UNITS)}:"
                " `1h`, `90min`, `10s`"
            )
        hours += Fraction(part[1]) * _UNITS[part[2]]
        at = part.end()
    return hours
