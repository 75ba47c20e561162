"""JSON Schema (draft 2020-12) of what `whence locate` prints."""

from __future__ import annotations

from typing import Final

from whence.report.schema import Schema, a_count, a_list, a_text, an_object, one_of

__all__ = ["LOCATE"]

_PLACE: Final[Schema] = {
    "file": a_text("The file; empty if there is no place."),
    "line": a_count("From 1; 0: not known."),
    "column": a_count("From 1; 0: not known."),
    "end_line": a_count("Where it ends."),
    "end_column": a_count("The column behind its last character."),
}
_LINE: Final = an_object("A line.", {"file": a_text("The file."), "line": a_count("From 1.")})
_SHARE: Final = {"type": "number", "minimum": 0, "maximum": 1}
_CAME: Final = {
    "description": "A number, or how a decision came out.",
    "type": ["integer", "boolean"],
}
_SUSPECT: Final = an_object(
    "A place that can be faulty.",
    {
        **_PLACE,
        "kind": one_of(
            "What it is.",
            "line",
            "statement",
            "macro",
            "constant",
            "array size",
            "initialiser",
        ),
        "name": a_text("Of a definition."),
        "failing": a_count("How many failing tests execute it."),
        "passing": a_count("How many passing tests execute it."),
        "ochiai": _SHARE,
        "dstar": {
            "description": "With exponent 2; null: infinite.",
            "type": ["number", "null"],
        },
    },
)
_CHANGE: Final = an_object(
    "What a place does otherwise in a run in which the test passes.",
    {
        **_PLACE,
        "what": a_text("The variable that is assigned, or what else has the value."),
        "gave": _CAME,
        "wanted": _CAME,
    },
)
_WITNESS: Final = an_object(
    "How a failing test could pass.",
    {"test": a_text("Its name."), "changes": a_list("In the order of the run.", _CHANGE)},
)
_FIX: Final = an_object(
    "Edits with which all tests pass.",
    {
        "cost": a_count("How involved they are."),
        "diff": a_text("Unified."),
        "edits": a_list(
            "What is replaced.",
            an_object(
                "One.", {**_PLACE, "old": a_text("What stands there."), "new": a_text("Instead.")}
            ),
        ),
    },
)
_DIAGNOSIS: Final = an_object(
    "Places that, changed together, could make all failing tests pass.",
    {
        "places": a_list("The places.", _SUSPECT),
        "score": {"description": "The mean of their `ochiai`.", **_SHARE},
        "witnesses": a_list("For some of the failing tests.", _WITNESS),
        "fix": {
            "description": "A candidate change, as a unified diff; null: none.",
            "type": ["string", "null"],
        },
        "fixes": a_list("Candidates, the simplest first.", _FIX),
    },
)

LOCATE: Final[Schema] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "whence locate/1",
    **an_object(
        "The result of `whence locate --format json`.",
        {
            "whence": a_text("The version that wrote this."),
            "schema": {"description": "The form of this document.", "const": "locate/1"},
            "entry": a_text("The function that was tested."),
            "tests": a_count("How many were run."),
            "failing": a_count("How many failed."),
            "passing": a_count("How many passed."),
            "failures": a_list(
                "The tests that failed.",
                an_object(
                    "One.", {"test": a_text("Its name."), "reason": a_text("Why."), **_PLACE}
                ),
            ),
            "components": a_count("How many places could be faulty."),
            "cardinality": {
                "description": "How many places the smallest sets have; null: there are none.",
                "type": ["integer", "null"],
            },
            "diagnoses": a_list("By rank.", _DIAGNOSIS),
            "lines": a_list("Those of all smallest sets.", _LINE),
            "csr": {"description": "These lines by all lines of the code.", **_SHARE},
            "complete": {"description": "Whether all was found.", "type": "boolean"},
            "reason": a_text("Why not, or why there is nothing."),
            "unexplained": a_list("Tests that no change makes pass.", a_text("A name.")),
            "unseen": a_list("Tests whose failure the encoding does not show.", a_text("A name.")),
            "assumptions": a_list("What the answer rests on.", a_text("In words.")),
            "unwound": a_list(
                "Loops assumed to end.",
                an_object("One.", {**_PLACE, "rounds": a_count("After so many rounds at most.")}),
            ),
            "tried": {
                "description": "How many edits were tried; null: none were asked for.",
                "type": ["integer", "null"],
            },
            "seconds": {"description": "How long the search took.", "type": "number"},
        },
    ),
}
