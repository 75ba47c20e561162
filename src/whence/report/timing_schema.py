"""JSON Schema (draft 2020-12) of what `whence ranges` and `whence repair` print."""

from __future__ import annotations

from typing import Final, get_args

from whence.model.trace import Verdict
from whence.report.schema import CHECK, Schema, a_count, a_list, a_text, an_object, one_of
from whence.timing.results import KINDS, SINGLE_KINDS, Test

__all__ = ["RANGES", "REPAIR"]

_DEFINED: Final[Schema] = CHECK["$defs"]
#: What a trace consists of.
_SHARED: Final[Schema] = {name: _DEFINED[name] for name in ("trace", "step", "edge", "time")}


def _flag(description: str) -> Schema:
    return {"description": description, "type": "boolean"}


def _verdict(description: str) -> Schema:
    return one_of(description, *get_args(Verdict))


def _time(description: str) -> Schema:
    return {"description": description, "type": "number", "minimum": 0}


def _or_null(schema: Schema, description: str) -> Schema:
    return {"description": description, "oneOf": [schema, {"type": "null"}]}


def _number(description: str) -> Schema:
    return {"description": description, "type": ["integer", "null"], "minimum": 1}


_TRACE: Final = {"$ref": "#/$defs/trace"}
_DELAYS: Final = a_list("All delays of a run, or only its first ones.", {"$ref": "#/$defs/time"})
_HEAD: Final[Schema] = {
    "whence": a_text("The version that wrote this."),
    "file": a_text("The model's file."),
    "network": a_text("The model's name."),
    "query": a_text("The query as written."),
    "verdict": _verdict("Whether the model has the property."),
    "complete": _flag("Whether nothing was left out because of a budget."),
    "reason": a_text("Why the answer is not complete, if so."),
    "seconds": _time("How long it took."),
    "trace": _or_null(_TRACE, "The run that violates the property, if there is one."),
}


def _document(name: str, fields: Schema, definitions: Schema) -> Schema:
    schema = {"description": "The form of this document.", "const": name}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"whence {name}",
        **an_object(
            f"The result of `whence {name.split('/')[0]} --format json`.",
            {"schema": schema, **_HEAD, **fields},
        ),
        "$defs": {**_SHARED, **definitions},
    }


# ---------------------------------------------------------------------------------------- ranges


_BOUND: Final[Schema] = {
    "description": "A bound of a range, excluded if `strict`; null: there is none.",
    "type": ["object", "null"],
    "required": ["value", "strict"],
    "properties": {
        "value": {
            "description": "An integer or a fraction in quotes.",
            "type": "string",
            "pattern": "^[0-9]+(/[0-9]+)?$",
        },
        "strict": _flag("Whether the value is excluded."),
    },
}

_RANGE: Final = an_object(
    "A range: every run along the trace in which the sum of its delays is in it violates the "
    "property.",
    {
        "delays": a_list("The numbers of the delays that are added.", a_count("A delay.")),
        "lower": {"$ref": "#/$defs/bound"},
        "upper": {"$ref": "#/$defs/bound"},
        "text": a_text("The range as a constraint, such as `2 <= δ4 <= 3`."),
        "explanation": a_text("What it means, in words, with an example."),
        "violating": _DELAYS,
        "satisfying": _DELAYS,
        "alternatives": a_list(
            "For each delay of the range, the same run with another value for that one, which "
            "avoids the violation; shorter than `violating` where the trace cannot go on.",
            _DELAYS,
        ),
    },
)

RANGES: Final[Schema] = _document(
    "ranges/1",
    {
        "causal_delays": a_list(
            "The delays on which it can depend whether a run violates the property.",
            an_object(
                "A delay.",
                {
                    "delay": a_count("Its number: that of the state in which it passes."),
                    "state": a_text("Which processes are where while it passes."),
                },
            ),
        ),
        "ranges": a_list("The causal ranges.", {"$ref": "#/$defs/range"}),
        "always": _flag("Whether every run along the trace violates the property."),
        "timed": _flag("Whether some choice of delays avoids the violation."),
    },
    {"range": _RANGE, "bound": _BOUND},
)


# --------------------------------------------------------------------------------------- repairs


_CHANGE: Final = an_object(
    "A changed element of the model.",
    {
        "kind": one_of("What is changed.", *SINGLE_KINDS),
        "element": a_text("Which element it is, in words."),
        "before": a_text("The element as it is; empty if it is added."),
        "after": a_text("The element as it will be; empty if it is removed."),
        "amount": {"description": "By how much a bound changes.", "type": "integer"},
        "file": a_text("The file that the element is in."),
        "line": a_count("The line where it starts; 0 if not known."),
        "column": a_count("The column where it starts; 0 if not known."),
    },
)

_REPAIR: Final = an_object(
    "Changes after which the trace does not violate the property any more.",
    {
        "number": a_count("The number that `--apply` takes."),
        "kind": one_of("What kind of elements is changed.", *KINDS),
        "changes": a_list("All changes.", {"$ref": "#/$defs/change"}),
        "amount": a_count("By how much bounds change, all together."),
        "blocks": _flag("Whether the repaired model does not have the trace at all."),
        "property": _verdict("Whether the whole repaired model has the property."),
        "property_trace": _or_null(_TRACE, "The repaired model's counterexample."),
        "admissible": {
            "description": "Whether the repair is admissible; null: not tested, or not known.",
            "type": ["boolean", "null"],
        },
        "violations_only": {
            "description": "Of a repair that is not admissible, whether nothing is new after it, "
            "and nothing lost but what violates the property in every run; null: not asked, or "
            "not known.",
            "type": ["boolean", "null"],
        },
        "test": _or_null(one_of("A test.", *get_args(Test)), "The test of admissibility."),
        "labels": {
            "description": "What the words are made of that the test compares.",
            "type": ["string", "null"],
        },
        "witness": _or_null(
            a_list("A word.", a_text("A label.")),
            "A word that only one of the models has: a shortest one, unless the models are large.",
        ),
        "witness_in": _or_null(
            one_of("A model.", "original", "repaired"), "The model that has it."
        ),
        "witness_trace": _or_null(_TRACE, "A run of that model along the word."),
        "admissible_reason": a_text("Why it is not known whether the repair is admissible."),
        "other_queries": a_list(
            "The other queries of the model.",
            an_object(
                "One query.",
                {
                    "query": a_text("The query."),
                    "before": _verdict("The verdict on the model as it is."),
                    "after": _verdict("The verdict on the repaired model."),
                },
            ),
        ),
        "deadlock": an_object(
            "The verdicts on `A[] not deadlock`.",
            {
                "before": _verdict("On the model as it is."),
                "after": _verdict("On the repaired model."),
            },
        ),
    },
)

_ROUND: Final[Schema] = {
    "repairs": a_list("The repairs, those with the fewest changes first.",
                      {"$ref": "#/$defs/repair"}),
    "applied": _number("The number of the repair that was made, if one was."),
    "always": _flag("Whether every run along the trace violates the property."),
    "complete_to": a_count("All repairs with so many changes or fewer are there."),
    "search_seconds": _time("How long the search for repairs took, without their tests."),
}  # fmt: skip

_SAME: Final = ("query", "verdict", "complete", "reason", "seconds", "trace")

REPAIR: Final[Schema] = _document(
    "repair/1",
    {
        **_ROUND,
        "rounds": a_list(
            "With `--iterate`: the rounds after the first one.", {"$ref": "#/$defs/round"}
        ),
    },
    {
        "repair": _REPAIR,
        "change": _CHANGE,
        "round": an_object(
            "What was found for the model after the repairs of the rounds before.",
            {**{name: _HEAD[name] for name in _SAME}, **_ROUND},
        ),
        "bound": _DEFINED["bound"],
    },
)
