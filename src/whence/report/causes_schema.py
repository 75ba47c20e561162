"""JSON Schema (draft 2020-12) of what `whence causes` prints."""

from __future__ import annotations

from typing import Final

from whence.report.schema import Schema, a_count, a_list, a_text, an_object, one_of

__all__ = ["CAUSES", "COMPARISON"]


def _flag(description: str) -> Schema:
    return {"description": description, "type": "boolean"}


def _maybe(description: str, kind: str) -> Schema:
    return {"description": description, "type": [kind, "null"]}


_EVENT: Final = an_object(
    "An event: so many times an action has then happened.",
    {"action": a_text("The action."), "occurrence": a_count("From 1.")},
)
_NUMBER: Final = a_count("The number of an event in `events`, from 0.")
_ABSENT: Final = an_object(
    "An action that must not happen between two events of the cause.",
    {
        "action": a_text("The action."),
        "after": _maybe("The number of the event that it must not follow; null: the start.",
                        "integer"),
        "before": _maybe("The number of the event before which; null: the hazard.", "integer"),
    },
)  # fmt: skip
_CAUSE: Final = an_object(
    "A set of events in an order that leads to the hazard.",
    {
        "id": a_count("Its number, from 1."),
        "actions": a_list("The actions of its events, sorted.", a_text("")),
        "events": a_list("Its events, sorted by action and occurrence.", _EVENT),
        "order": a_list(
            "Pairs [earlier, later] of numbers of events; what follows from others is left out.",
            a_list("", _NUMBER),
        ),
        "exact": _flag("Whether every sequence of its events in this order is a causal trace."),
        "traces": a_count("How many causal traces it stands for."),
        "example": a_list("The actions of one of them.", a_text("")),
        "absent": a_list("What must not happen in between.", _ABSENT),
        "formula": a_text("The cause in event order logic."),
        "probability": _maybe("Of the hazard by a run with this cause.", "number"),
        "class": one_of(
            "By its failure events (ISO 26262).", "single-point", "multiple-point", "none"
        ),
        "detection": {
            "description": "Whether its failures are noticed.",
            "enum": ["detected", "undetected", "unknown", None],
        },
    },
)
_RESULT: Final[Schema] = {
    "file": a_text("The model's file."),
    "hazard": a_text("The hazard, by its name or as it was written."),
    "verdict": one_of("Whether it cannot come about.", "satisfied", "violated", "unknown"),
    "initially": _flag("Whether it is there from the start, and so has no cause."),
    "states": a_count("States that were explored."),
    "transitions": a_count("Transitions between them."),
    "complete": _flag("Whether all causes were found."),
    "depth": _maybe("All causes of up to so many events are there, if not all.", "integer"),
    "reason": a_text("Why the answer is not complete, if so."),
    "causal_traces": a_count("How many minimal traces lead to the hazard."),
    "deterministic": _maybe("Whether events alone decide; null: not asked.", "boolean"),
    "causes": a_list("All causes, those with few events first.", _CAUSE),
    "cut_sets": a_list(
        "Minimal sets of failure events; of all events, in a model without failures.",
        an_object(
            "A set, and the causes with just these failures.",
            {
                "events": a_list("Its events.", _EVENT),
                "causes": a_list("Their `id`s.", a_count("")),
            },
        ),
    ),
    "probability": _maybe("Of the hazard within `time`.", "number"),
    "time": a_text("The time asked for; empty: none."),
    "actions": a_list(
        "The actions of the model.",
        an_object(
            "An action.",
            {
                "name": a_text("Its name."),
                "failure": _flag("Whether it is a fault."),
                "detected": _maybe("Whether somebody notices; null: not known.", "boolean"),
            },
        ),
    ),
    "notes": a_list("What else there is to know.", a_text("")),
    "seconds": {"description": "How long it took.", "type": "number", "minimum": 0},
}


def _document(name: str, command: str, fields: Schema) -> Schema:
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"whence {name}",
        **an_object(
            f"The result of `whence {command} --format json`.",
            {
                "whence": a_text("The version that wrote this."),
                "schema": {"description": "The form of this document.", "const": name},
                **fields,
            },
        ),
    }


CAUSES: Final = _document("causes/1", "causes", _RESULT)
COMPARISON: Final = _document(
    "causes-compare/1",
    "causes compare",
    {"models": a_list("The two models.", an_object("One of them.", _RESULT))},
)
