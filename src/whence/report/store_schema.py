"""JSON Schema (draft 2020-12) of what `whence history` and `whence compare` print."""

from __future__ import annotations

from typing import Final

from whence.report.schema import (
    Schema,
    a_count,
    a_list,
    a_mapping,
    a_text,
    an_object,
    one_of,
)

__all__ = ["COMPARE", "HISTORY"]

_TRUTH: Final[Schema] = {"type": "boolean"}
_OR_NOTHING: Final[Schema] = {"type": ["string", "null"]}
_DATE: Final[Schema] = {"description": "A date of ISO 8601.", "type": "string"}
_IDENT: Final = a_text("The identifier of a class.")
_RUN_FIELDS: Final[Schema] = {
    "run": a_count("Its number in the store."),
    "command": a_text("Which command it was: `triage`, `check`, …"),
    "started": _DATE,
    "ended": {**_DATE, "description": "null: it goes on, or was killed.", **_OR_NOTHING},
    "complete": {"description": "Whether it has done all it should.", **_TRUTH},
    "verdict": {
        "description": "How it ended, as its exit status says; null: it has not ended.",
        "enum": ["nothing", "found", "bad", "gave up", "defect", None],
    },
    "model": a_text("The model."),
    "model_name": a_text("Its name."),
    "model_hash": a_text("The SHA-256 of its file; empty: not known."),
    "version": a_text("The version of whence."),
    "code": a_text("Which version of the code was tested, as --code said."),
    "grouping": {"description": "What makes a class; null: it has none.", **_OR_NOTHING},
    "options": {"description": "What else was asked for.", "type": "object"},
    "planned": a_count("How many inputs, or results, it should have."),
}
_RUN: Final = an_object("A run.", _RUN_FIELDS)
_SUMMARY: Final = an_object(
    "A run, and what it found.",
    {
        **_RUN_FIELDS,
        "done": a_count("How many inputs, or results, it has."),
        "faults": a_count("How many it found."),
        "verdicts": a_mapping("How many traces, or results, have each.", {"type": "integer"}),
        "classes": a_list("Those that it has.", _IDENT),
        "new": a_list("Those that no run before had.", _IDENT),
        "gone": a_list("Those of the complete run before that it does not have.", _IDENT),
    },
)
_CLASS_FIELDS: Final[Schema] = {
    "id": a_text("The same in all runs."),
    "grouping": one_of("What makes it a class.", "similar", "events", "requirements"),
    "kind": a_text("How it fails."),
    "events": a_list("The events of the explanation.", a_text("An event.")),
    "constraints": a_list("What the times between them satisfy.", a_text("A constraint.")),
    "requirements": a_list("What is violated.", a_text("The number of a requirement.")),
    "expected": a_text("What the model would have accepted."),
    "observed": a_text("What came instead."),
}
_STATE: Final = one_of("In a run, or now.", "new", "known", "gone")
_CLASS: Final = an_object(
    "A class in the runs of one model.",
    {
        **_CLASS_FIELDS,
        "model": a_text("The name of the model."),
        "state": _STATE,
        "first_seen": a_count("The number of a run."),
        "last_seen": a_count("The number of a run."),
        "runs": a_count("How many runs have it."),
        "faults": a_count("How many faults it has in the last of them."),
        "codes": a_list("In which versions of the code it was seen.", a_text("A version.")),
        "sightings": a_list(
            "The runs that have it, or from which it is gone.",
            an_object(
                "A run.",
                {
                    "run": a_count("Its number."),
                    "state": _STATE,
                    "size": a_count("How many faults of the class it has."),
                    "file": a_text("The log of one of them."),
                    "trace": a_text("Its trace."),
                    "line": a_count("Its line; 0: not known."),
                },
            ),
        ),
    },
)
_IN_BOTH: Final = an_object(
    "A class in two runs.",
    {
        **_CLASS_FIELDS,
        "before": a_count("How many faults it has in the one."),
        "after": a_count("How many in the other."),
    },
)


def _document(name: str, description: str, fields: Schema) -> Schema:
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"whence {name}",
        **an_object(
            description,
            {
                "whence": a_text("The version that wrote this."),
                "schema": {"description": "The form of this document.", "const": name},
                "store": a_text("The store, without a password."),
                **fields,
            },
        ),
    }


HISTORY: Final = _document(
    "history/1",
    "What `whence history --format json` prints.",
    {
        "model": {"description": "What was asked for; null: all.", **_OR_NOTHING},
        "class": {"description": "What was asked for; null: all.", **_OR_NOTHING},
        "runs": a_list("The oldest first.", _SUMMARY),
        "classes": a_list("Those that were seen last come first.", _CLASS),
    },
)
COMPARE: Final = _document(
    "compare/1",
    "What `whence compare --format json` prints.",
    {
        "before": _RUN,
        "after": _RUN,
        "partial": {"description": "Whether one of the runs is not complete.", **_TRUTH},
        "new": a_list("Classes that only the later run has.", _IN_BOTH),
        "gone": a_list("Classes that only the earlier run has.", _IN_BOTH),
        "still": a_list("Classes of both.", _IN_BOTH),
        "changes": a_list(
            "Traces, or results, with another verdict.",
            an_object(
                "One of them.",
                {
                    "name": a_text("Its name."),
                    "file": a_text("The log of a trace, else empty."),
                    "before": {"description": "null: it was not there.", **_OR_NOTHING},
                    "after": {"description": "null: it is not there.", **_OR_NOTHING},
                },
            ),
        ),
        "same": a_count("How many have the same verdict."),
    },
)
