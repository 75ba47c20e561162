"""JSON Schema (draft 2020-12) of what the commands print with `--format json`."""

from __future__ import annotations

from typing import Any, Final

__all__ = ["CHECK"]

Schema = dict[str, Any]


def _object(description: str, required: Schema, optional: Schema | None = None) -> Schema:
    """An object; fields that are not named may be there: readers ignore what they do not know."""
    return {
        "description": description,
        "type": "object",
        "required": list(required),
        "properties": {**required, **(optional or {})},
    }


def _list(description: str, items: Schema) -> Schema:
    return {"description": description, "type": "array", "items": items}


def _text(description: str) -> Schema:
    return {"description": description, "type": "string"}


def _count(description: str) -> Schema:
    return {"description": description, "type": "integer", "minimum": 0}


def _one_of(description: str, *values: str) -> Schema:
    return {"description": description, "enum": list(values)}


def _mapping(description: str, values: Schema) -> Schema:
    return {"description": description, "type": "object", "additionalProperties": values}


_TIME: Final[Schema] = {
    "description": "An exact number of time units: an integer, or a fraction as text.",
    "oneOf": [
        {"type": "integer", "minimum": 0},
        {"type": "string", "pattern": "^[0-9]+/[0-9]+$"},
    ],
}

_EDGE: Final = _object(
    "An edge that takes part in an action.",
    {
        "process": _text("The process that moves."),
        "edge": _count("The number of the edge in its process, from 0."),
        "source": _text("The location it leaves."),
        "target": _text("The location it enters."),
        "guard": _text("The guard as written; empty if there is none."),
        "sync": _text("The synchronisation as written, such as `req!`; empty if internal."),
        "update": _text("The update as written; empty if there is none."),
        "selects": _mapping("The value of each select variable.", {"type": "integer"}),
        "file": _text("The file that the edge is in; empty if not known."),
        "line": _count("The line where the edge starts; 0 if not known."),
    },
)

_STEP: Final = _object(
    "An action and the state that it leads to; the first step is the initial state.",
    {
        "action": {
            "description": "The channel, or `tau` for an internal step; null for the first step.",
            "type": ["string", "null"],
        },
        "edges": _list("The edges taken, the sender's first.", {"$ref": "#/$defs/edge"}),
    },
    # An action that is an error of the model leads to no state.
    {
        "locations": _mapping("The location of each process.", {"type": "string"}),
        "variables": _mapping("The value of each variable's cells.", {"type": "integer"}),
        "zone": _list(
            "What holds for the clocks in the state, while time passes.", {"type": "string"}
        ),
    },
)

_TRACE: Final = _object(
    "The run that decides the verdict.",
    {
        "network": _text("The name of the model."),
        "steps": _list("The states of the run and what leads to them.", {"$ref": "#/$defs/step"}),
        "delays": _list("How long the run waits in each state.", {"$ref": "#/$defs/time"}),
        "delay_ranges": _list(
            "Which values each delay can have in the runs along these transitions.",
            _object(
                "A range; an upper bound of null means any time from the lower one.",
                {"lower": {"$ref": "#/$defs/bound"}, "upper": {"$ref": "#/$defs/bound"}},
            ),
        ),
        "end": _one_of("Why the trace ends.", "goal", "lasso", "deadlock", "divergence", "error"),
        "loop_to": {
            "description": "The step that the last state repeats, if `end` is `lasso`.",
            "type": ["integer", "null"],
        },
        "message": _text("What is wrong with the model, if `end` is `error`."),
        "duration": {"$ref": "#/$defs/time"},
    },
)

_SUPREMUM: Final = _object(
    "The answer of `sup` or `inf` for one expression.",
    {
        "expression": _text("The expression."),
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

_QUERY: Final = _object(
    "What became of one query.",
    {
        "query": _text("The query as written."),
        "verdict": _one_of("The answer.", "satisfied", "violated", "unknown", "error"),
        "states": _count("Symbolic states explored."),
        "transitions": _count("Transitions taken between them."),
        "seconds": {"description": "How long it took.", "type": "number", "minimum": 0},
        "trace": {
            "description": "The run that decides the verdict, if one run does.",
            "oneOf": [{"$ref": "#/$defs/trace"}, {"type": "null"}],
        },
    },
    {
        "reason": _text("Why the verdict is `unknown` or `error`."),
        "suprema": _list("The answers to `sup` and `inf`.", {"$ref": "#/$defs/supremum"}),
    },
)

CHECK: Final[Schema] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "whence check/1",
    **_object(
        "The result of `whence check --format json`.",
        {
            "whence": _text("The version that wrote this."),
            "schema": {"description": "The form of this document.", "const": "check/1"},
            "file": _text("The model's file."),
            "network": _text("The model's name."),
            "summary": _mapping("How many queries have each verdict.", {"type": "integer"}),
            "queries": _list("One for each query.", {"$ref": "#/$defs/query"}),
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
