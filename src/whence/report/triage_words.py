"""A triage in words, for all the ways to show one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import PurePath
from typing import Final

from whence.formats.events.values import date_text
from whence.triage.findings import FaultClass, FoundFault, KnownClass, Seen, Triage
from whence.triage.results import FaultKind, Grouping

__all__ = [
    "GROUPING_WORDS",
    "KIND_WORDS",
    "clean",
    "comparison_words",
    "count",
    "date_words",
    "fault_words",
    "headline",
    "holding",
    "seen_words",
    "title",
]

KIND_WORDS: Final[dict[FaultKind, str]] = {
    "value": "wrong value",
    "early": "too early",
    "late": "too late",
    "missing": "missing",
    "unexpected": "not allowed",
}
GROUPING_WORDS: Final[dict[Grouping, str]] = {
    "similar": "explanations are similar",
    "events": "the same events, and the same transition is violated",
    "requirements": "the same requirements are violated in the same way",
}
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LAST: Final = 253402300799


def clean(text: str) -> str:
    """One line, and nothing in it that would command a terminal: logs are hostile."""
    return _CONTROL.sub("\ufffd", " ".join(text.split()))


def count(number: int, noun: str, plural: str = "") -> str:
    if number == 1:
        return f"1 {noun}"
    return f"{number:,} {plural or noun + ('es' if noun.endswith('s') else 's')}"


def headline(found: Triage) -> str:
    """What was found, in a sentence."""
    faulty = len(found.of_verdict("faulty"))
    broken = len(found.of_verdict("broken"))
    traces = count(len(found.traces), "trace")
    if not found.traces:
        said = "No trace was looked at."
    elif not found.faults:
        whole = len(found.traces) - broken
        said = f"{traces}, no fault." if whole else f"{traces}, none of which can be replayed."
    else:
        said = (
            f"{traces}, {faulty:,} faulty: {count(len(found.faults), 'fault')} in "
            f"{count(len(found.classes), 'class')}."
        )
    if broken and len(found.traces) > broken:
        said += f" {count(broken, 'trace')} cannot be replayed."
    return said


def title(each: FaultClass | KnownClass) -> str:
    """What a class is about."""
    about = ", ".join(each.requirements)
    kind = KIND_WORDS[each.kind] if isinstance(each, FaultClass) else each.kind
    return f"{kind} ({about})" if about else kind


def holding(each: FaultClass) -> str:
    """The constraints on the times, u0 being the time before the first event."""
    return ", ".join(each.constraints)


def date_words(date: Fraction, absolute: bool) -> str:
    """A day and a time in UTC, to the millisecond; or seconds."""
    if absolute and 0 <= date <= _LAST:
        milliseconds = int(date * 1000)
        moment = _EPOCH + timedelta(milliseconds=milliseconds)
        return f"{moment:%Y-%m-%d %H:%M:%S}.{milliseconds % 1000:03d}"
    return f"{date_text(date)} s"


def fault_words(found: Triage, fault: FoundFault) -> str:
    """A fault in one line: how it fails, its classes, what was seen and what was expected."""
    about = f" ({', '.join(fault.requirements)})" if fault.requirements else ""
    idents = ", ".join(dict.fromkeys(each.key(found.grouping) for each in fault.explanations))
    expected = ", or ".join(fault.expected) or "no event"
    more = f", or one of {fault.others} other events" if fault.others else ""
    return clean(
        f"{KIND_WORDS[fault.kind]}{about}: {fault.event or 'the trace ends'}; "
        f"expected {expected}{more}; class {idents}"
    )


def seen_words(seen: Seen) -> str:
    where = PurePath(seen.file).name
    line = f":{seen.line}" if seen.line else ""
    return f"{date_words(seen.date, seen.absolute)} {where}{line}"


def comparison_words(found: Triage) -> Iterator[str]:
    """What the environment of the tests said, compared with what was found."""
    if not found.marks:
        return
    yield f"{found.found_by_both:,} marked by the environment and found by the model"
    yield f"{len(found.only_by_model):,} found by the model only"
    yield f"{len(found.only_by_environment):,} marked by the environment only"
