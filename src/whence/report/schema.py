"""JSON Schema (draft 2020-12) of what the commands print with `--format json`."""

from __future__ import annotations

from typing import Any, Final

__all__ = [
    "CHECK",
    "Schema",
    "a_count",
    "a_list",
    "a_mapping",
    "a_text",
    "an_object",
    "one_of",
]

Schema = dict[str, Any]


def an_object(description: str, required: Schema, optional: Schema | None = None) -> Schema:
    """An object; fields that are not named may be there: readers ignore what they do not know."""
    return {
        "description": description,
        "type": "object",
        "required": list(required),
        "properties": {**required, **(optional or {})},
    }


def a_list(description: str, items: Schema) -> Schema:
    return {"description": description, "type": "array", "items": items}


def a_text(description: str) -> Schema:
    return {"description": description, "type": "string"}


def a_count(description: str) -> Schema:
    return {"description": description, "type": "integer", "minimum": 0}


def one_of(description: str, *values: str) -> Schema:
    return {"description": description, "enum": list(values)}


def a_mapping(description: str, values: Schema) -> Schema:
    return {"description": description, "type": "object", "additionalProperties": values}


_TIME: Final[Schema] = {
    "description": "An exact number of time units: an integer, or a fraction as text.",
    "oneOf": [
        {"type": "integer", "minimum": 0},
        {"type": "string", "pattern": "^[0-9]+/[0-9]+$"},
    ],
}

_EDGE: Final = an_object(
    "An edge that takes part in an action.",
    {
        "process": a_text("The process that moves."),
        "edge": a_count("The number of the edge in its process, from 0."),
        "source": a_text("The location it leaves."),
        "target": a_text("The location it enters."),
        "guard": a_text("The guard as written; empty if there is none."),
        "sync": a_text("The synchronisation as written, such as `req!`; empty if internal."),
        "update": a_text("The update as written; empty if there is none."),
        "selects": a_mapping("The value of each select variable.", {"type": "integer"}),
        "file": a_text("The file that the edge is in; empty if not known."),
        "line": a_count("The line where the edge starts; 0 if not known."),
    },
)

_STEP: Final = an_object(
    "An action and the state that it leads to; the first step is the initial state.",
    {
        "action": {
            "description": "The channel, or `tau` for an internal step; null for the first step.",
            "type": ["string", "null"],
        },
        "edges": a_list("The edges taken, the sender's first.", {"$ref": "#/$defs/edge"}),
    },
    # An action that is an error of the model leads to no state.
    {
        "locations": a_mapping("The location of each process.", {"type": "string"}),
        "variables": a_mapping("The value of each variable's cells.", {"type": "integer"}),
        "zone": a_list(
            "What holds for the clocks in the state, while time passes.", {"type": "string"}
        ),
    },
)

_TRACE: Final = an_object(
    "The run that decides the verdict.",
    {
        "network": a_text("The name of the model."),
        "steps": a_list("The states of the run and what leads to them.", {"$ref": "#/$defs/step"}),
        "delays": a_list("How long the run waits in each state.", {"$ref": "#/$defs/time"}),
        "delay_ranges": a_list(
            "Which values each delay can have in the runs along these transitions.",
            an_object(
                "A range; an upper bound of null means any time from the lower one.",
                {"lower": {"$ref": "#/$defs/bound"}, "upper": {"$ref": "#/$defs/bound"}},
            ),
        ),
        "end": one_of("Why the trace ends.", "goal", "lasso", "deadlock", "divergence", "error"),
        "loop_to": {
            "description": "The step that the last state repeats, if `end` is `lasso`.",
            "type": ["integer", "null"],
        },
        "message": a_text("What is wrong with the model, if `end` is `error`."),
        "duration": {"$ref": "#/$defs/time"},
    },
)

_SUPREMUM: Final = an_object(
    "The answer of `sup` or `inf` for one expression.",
    {
        "expression": a_text("The expression."),
        "value": {
            "description": "The bound; null where there is none.",
            "type": ["integer", "null"],
        },
        "strict": {
            "description": "Whether the bound is approached but never reached.",
            "type": "boolean",
        },
    },
)

_QUERY: Final = an_object(
    "What became of one query.",
    {
        "query": a_text("The query as written."),
        "verdict": one_of("The answer.", "satisfied", "violated", "unknown", "error"),
        "states": a_count("Symbolic states explored."),
        "transitions": a_count("Transitions taken between them."),
        "seconds": {"description": "How long it took.", "type": "number", "minimum": 0},
        "trace": {
            "description": "The run that decides the verdict, if one run does.",
            "oneOf": [{"$ref": "#/$defs/trace"}, {"type": "null"}],
        },
    },
    {
        "reason": a_text("Why the verdict is `unknown` or `error`."),
        "suprema": a_list("The answers to `sup` and `inf`.", {"$ref": "#/$defs/supremum"}),
    },
)

CHECK: Final[Schema] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "whence check/1",
    **an_object(
        "The result of `whence check --format json`.",
        {
            "whence": a_text("The version that wrote this."),
            "schema": {"description": "The form of this document.", "const": "check/1"},
            "file": a_text("The model's file."),
            "network": a_text("The model's name."),
            "summary": a_mapping("How many queries have each verdict.", {"type": "integer"}),
            "queries": a_list("One for each query.", {"$ref": "#/$defs/query"}),
        },
    ),
    "$defs": {
        "query": _QUERY,
        "supremum": _SUPREMUM,
        "trace": _TRACE,
        "step": _STEP,
        "edge": _EDGE,
        "time": _TIME,
        "bound": {
            "description": "A bound of a range, excluded if `strict`; null: there is none.",
            "type": ["object", "null"],
            "required": ["value", "strict"],
            "properties": {
                "value": {"description": "An integer in quotes.", "type": "string"},
                "strict": {"description": "Whether the value is excluded.", "type": "boolean"},
            },
        },
    },
}
