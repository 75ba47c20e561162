"""JSON Schema (draft 2020-12) of what `whence tests` prints and writes."""

from __future__ import annotations

from typing import Final

from whence.report.schema import Schema, a_count, a_list, a_text, an_object, one_of

__all__ = ["TESTS", "TEST_CASE"]


def _maybe(description: str, kind: str) -> Schema:
    return {"description": description, "type": [kind, "null"]}


_INPUT: Final = an_object(
    "An input that is set.",
    {
        "time": a_count("When, in milliseconds from the start."),
        "name": a_text("The input."),
        "value": a_text("Its value, as the model writes it."),
    },
)
_EXPECTED: Final = an_object(
    "An output that is expected from a time on.",
    {
        "time": a_count("From when on, in milliseconds from the start."),
        "name": a_text("The output."),
        "value": a_text("Its value, as the model writes it."),
        "latency": a_count("How many milliseconds later it may come."),
        "tolerance": a_text("How far from the value it may be."),
    },
)
_FINDING: Final = an_object(
    "Something that is wrong with the model.",
    {
        "severity": one_of("", "error", "warning", "note"),
        "message": a_text("What is wrong."),
        "hint": a_text("What to do; may be empty."),
        "file": a_text("Where."),
        "line": a_count("0: not known."),
        "column": a_count("0: not known."),
    },
)
_GOAL: Final = an_object(
    "Something that tests have to reach.",
    {
        "id": a_text("Unique in the suite."),
        "kind": one_of(
            "",
            *("state", "transition", "hierarchic", "mcdc", "state-pair", "transition-pair"),
            *("boundary", "class", "requirement", "user"),
        ),
        "status": one_of("", "covered", "unreachable", "open"),
        "test": _maybe("The test that covers it.", "string"),
        "step": _maybe("By its step of this number, from 0.", "integer"),
        "time": _maybe("When that is, in milliseconds from the start of the test.", "integer"),
        "reason": a_text("Why it is unreachable, or how far it was looked for."),
        "bound": _maybe("If it is open: no run of so many steps meets it.", "integer"),
        "requirements": a_list("What it satisfies.", a_text("")),
        "line": a_count("Its line in the model's file; 0: not known."),
    },
)
_CASE: Final[Schema] = {
    "id": a_text("The name of the test."),
    "end": a_count("How long it takes, in milliseconds."),
    "inputs": a_list("In the order of their times; those of time 0 are all there.", _INPUT),
    "expected": a_list("Changes of outputs, in the order of their times.", _EXPECTED),
    "goals": a_list("The goals that it covers.", a_text("")),
    "requirements": a_list("What these satisfy.", a_text("")),
}

#: One test, as a suite's folder has it.
TEST_CASE: Final = an_object("A test.", _CASE)
_MUTANT: Final = an_object(
    "A model with one change.",
    {
        "id": a_text("Its name."),
        "operator": a_text("What kind of change it is."),
        "change": a_text("What was changed."),
        "line": a_count("Where, in the model's file; 0: not known."),
        "status": one_of("", "killed", "survived", "equivalent"),
        "test": _maybe("The test that kills it, or would.", "string"),
        "reason": a_text("How that is seen, or why it is equivalent or not known to be."),
    },
)
_MUTATION: Final = an_object(
    "How good the suite is.",
    {
        **{name: a_count("So many.") for name in ("killed", "survived", "equivalent")},
        "score": _maybe("Killed ones of those that are not equivalent, as a fraction.", "string"),
        "complete": {"description": "Whether no budget ended it.", "type": "boolean"},
        "mutants": a_list("All of them.", _MUTANT),
        "tests": a_list("Tests that would kill survivors.", TEST_CASE),
    },
)
#: `whence tests --format json`.
TESTS: Final = an_object(
    "A suite of tests.",
    {
        "whence": a_text("The version of whence."),
        "schema": {"const": "tests/1"},
        "model": a_text("The name of the model."),
        "file": a_text("Its file."),
        "hash": a_text("The SHA-256 of that file."),
        "seed": {"description": "What random choices began with.", "type": "integer"},
        "complete": {"description": "Whether no budget ended the search.", "type": "boolean"},
        "summary": an_object(
            "How many goals are so.",
            {name: a_count("") for name in ("covered", "unreachable", "open")},
        ),
        "findings": a_list("What is wrong with the model.", _FINDING),
        "requirements": a_list(
            "The model's requirements.", an_object("", {"id": a_text(""), "text": a_text("")})
        ),
        "goals": a_list("All goals, by kind.", _GOAL),
        "tests": a_list("All tests.", an_object("A test.", {"id": a_text("")}, _CASE)),
        "mutation": {
            "description": "What became of mutants of the model; null: nobody asked.",
            "oneOf": [{"type": "null"}, _MUTATION],
        },
    },
    {
        "widened": {"description": "Whether ranges were widened first.", "type": "boolean"},
        "simulated": a_count("How many steps were simulated."),
        "seconds": {"description": "How long it took.", "type": "number", "minimum": 0},
    },
)
