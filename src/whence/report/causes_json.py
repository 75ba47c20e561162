"""Causes as JSON, schemas `causes/1` and `causes-compare/1`: see docs/json.md and
:mod:`whence.report.causes_schema`."""

from __future__ import annotations

from typing import Any

from whence.causes.cut_sets import safety_summary
from whence.causes.eol import print_formula
from whence.causes.results import Absent, Cause, CausesResult, Event
from whence.causes.seol import formula_of

__all__ = ["causes_document", "comparison_document"]

Json = dict[str, Any]


def causes_document(result: CausesResult, version: str) -> Json:
    """What `whence causes --format json` prints, for `json.dumps`."""
    return {"whence": version, "schema": "causes/1", **_result(result)}


def comparison_document(first: CausesResult, second: CausesResult, version: str) -> Json:
    """What `whence causes compare --format json` prints."""
    return {
        "whence": version,
        "schema": "causes-compare/1",
        "models": [_result(first), _result(second)],
    }


def _result(result: CausesResult) -> Json:
    summary = safety_summary(result)
    classes = {one.cause: one for one in summary.classes}
    return {
        "file": result.model,
        "hazard": result.hazard,
        "verdict": result.verdict,
        "initially": result.initially,
        "states": result.states,
        "transitions": result.transitions,
        "complete": result.complete,
        "depth": result.depth,
        "reason": result.reason,
        "causal_traces": result.causal_traces,
        "deterministic": result.deterministic,
        "causes": [
            {
                **_cause(cause),
                "class": classes[cause.ident].points,
                "detection": classes[cause.ident].detection,
            }
            for cause in result.causes
        ],
        "cut_sets": [
            {"events": [_event(event) for event in one.events], "causes": list(one.causes)}
            for one in summary.cut_sets
        ],
        "probability": result.probability,
        "time": result.time,
        "actions": [
            {"name": action.name, "failure": action.failure, "detected": action.detected}
            for action in result.actions
            if not action.silent
        ],
        "notes": list(result.notes),
        "seconds": result.seconds,
    }


def _event(event: Event) -> Json:
    return {"action": event.action, "occurrence": event.occurrence}


def _cause(cause: Cause) -> Json:
    number = {event: n for n, event in enumerate(cause.events)}
    return {
        "id": cause.ident,
        "actions": [event.action for event in cause.events],
        "events": [_event(event) for event in cause.events],
        "order": sorted([number[first], number[second]] for first, second in cause.order),
        "exact": cause.exact,
        "traces": cause.traces,
        "example": list(cause.example),
        "absent": [_absent(absent, number) for absent in cause.absent],
        "formula": print_formula(formula_of(cause)),
        "probability": cause.probability,
    }


def _absent(absent: Absent, number: dict[Event, int]) -> Json:
    return {
        "action": absent.action,
        "after": None if absent.after is None else number[absent.after],
        "before": None if absent.before is None else number[absent.before],
    }
