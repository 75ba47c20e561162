"""Faults in words: what was to be expected, and what was observed."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Final

from whence.model.prd import EventTrace, PrdAutomaton
from whence.triage.results import Expected, Fault, Window
from whence.triage.words import event_text, time_text

__all__ = [
    "NO_RESPONSE",
    "expected_texts",
    "expected_words",
    "observed_words",
    "since_before",
    "window_words",
]

#: So many of the events that were possible are told.
_MOST = 4
#: What is expected where only requests are, and a response came.
NO_RESPONSE: Final = "no response, before the next request"


def since_before(trace: EventTrace, fault: Fault) -> Fraction:
    """The time since the event before."""
    before = len(trace.events) if fault.index is None else fault.index
    if before:
        return fault.date - trace.events[before - 1].date
    return fault.date - (fault.date if trace.start is None else trace.start)


def expected_texts(automaton: PrdAutomaton, fault: Fault) -> tuple[tuple[str, ...], int]:
    """The events that were possible, responses first, with their times; and how many more."""
    events = _responses(automaton, fault.expected) or list(fault.expected)
    texts = list(dict.fromkeys(_one(each) for each in events))
    return tuple(texts[:_MOST]), len(texts) - len(texts[:_MOST])


def expected_words(automaton: PrdAutomaton, fault: Fault) -> str:
    """What the model would have accepted."""
    if not fault.expected:
        return "no event"
    asked = fault.event is not None and _kind(fault.event.label) == "req"
    if not asked and not _responses(automaton, fault.expected):
        return NO_RESPONSE
    texts, others = expected_texts(automaton, fault)
    told = ", or ".join(texts)
    return f"{told}, or one of {others} other events" if others else told


def observed_words(trace: EventTrace, fault: Fault) -> str:
    """What came instead."""
    after = since_before(trace, fault)
    if fault.event is None:
        return f"nothing in {time_text(after)}, until the end" if after else "nothing, the end"
    text = event_text(fault.event)
    match fault.kind:
        case "missing":
            return f"{text} came first"
        case "early" | "late":
            return f"{text} after {time_text(after)}"
        case "unexpected" | "value":
            return text


def _responses(automaton: PrdAutomaton, expected: Iterable[Expected]) -> list[Expected]:
    """Those that the ECU may send: while one of them is awaited, requests are beside the point, and
    what the environment does (`other voltage`) is so at any time."""
    return [each for each in expected if not _is_from_others(automaton, each)]


def _is_from_others(automaton: PrdAutomaton, expected: Expected) -> bool:
    pattern = automaton.transitions[expected.transition].pattern
    assert pattern is not None
    alternatives = [pattern.labels, *(each.labels for each in pattern.also)]
    return any(
        labels and all(_kind(label) in ("req", "other") for label in labels)
        for labels in alternatives
    )


def _kind(label: str) -> str:
    return label.partition(" ")[0]


def _one(expected: Expected) -> str:
    times = window_words(expected.window)
    values = " and ".join(expected.values)
    told = f"{expected.text} with {values}" if values else expected.text
    return f"{told} {times}" if times else told


def window_words(window: Window) -> str:
    """The times in words; "" if any time will do."""
    if window.latest is None:
        if not window.earliest:
            return ""
        return f"{'after' if window.earliest_strict else 'from'} {time_text(window.earliest)} on"
    before = "before" if window.latest_strict else "within"
    if not window.earliest:
        return f"{before} {time_text(window.latest)}"
    return f"from {time_text(window.earliest)} on and {before} {time_text(window.latest)}"
