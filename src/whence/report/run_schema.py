"""JSON Schema (draft 2020-12) of what `whence run` prints and writes."""

from __future__ import annotations

from typing import Final

from whence.report.schema import Schema, a_count, a_list, a_text, an_object, one_of

__all__ = ["RUN", "TEST_RUN"]

_SECONDS: Final[Schema] = {"description": "In seconds.", "type": "number", "minimum": 0}
_SEEN: Final = an_object(
    "A value that an input or output got.",
    {
        "time": a_count("When, in milliseconds from the start of the test."),
        "name": a_text("The input or output."),
        "value": a_text("Its value."),
        "given": {"description": "Whether the test gave it.", "type": "boolean"},
    },
)
_DRIFT: Final[Schema] = {
    "description": "In real time: how late inputs were; otherwise null.",
    "oneOf": [
        {"type": "null"},
        an_object("In seconds.", {"most": _SECONDS, "last": _SECONDS}),
    ],
}
#: What became of one test.
TEST_RUN: Final = an_object(
    "What became of a test.",
    {
        "test": a_text("Its name."),
        "verdict": one_of("The verdict.", "pass", "fail", "inconclusive", "error"),
        "time": a_count("When that was clear, in milliseconds from the start of the test."),
        "reason": a_text("Why; empty if it passes."),
        "requirements": a_list("What it is for.", a_text("")),
        "goals": a_list("The goals that it covers.", a_text("")),
        "seen": a_list("What was given and seen, in the order of time.", _SEEN),
        "admitted": a_count("How many states of the model were possible at most."),
        "drift": _DRIFT,
        "seconds": _SECONDS,
    },
)
#: `whence run --format json`.
RUN: Final = an_object(
    "What became of a suite.",
    {
        "whence": a_text("The version of whence."),
        "schema": {"const": "run/1"},
        "model": a_text("The name of the model."),
        "file": a_text("Its file, as the suite has it."),
        "hash": a_text("The SHA-256 of the model that judged."),
        "suite_hash": a_text("The SHA-256 of the model that the suite was made from."),
        "system": a_text("What was tested, as --sut has it."),
        "complete": {"description": "Whether all chosen tests have run.", "type": "boolean"},
        "notes": a_list("What has to be known besides.", a_text("")),
        "summary": an_object(
            "How many tests have each verdict.",
            {name: a_count("") for name in ("pass", "fail", "inconclusive", "error")},
        ),
        "verdicts": a_list("One a test, in the order of the suite.", TEST_RUN),
        "requirements": a_list(
            "One a requirement.",
            an_object(
                "",
                {
                    "id": a_text(""),
                    "text": a_text(""),
                    "verdict": one_of(
                        "The worst of its tests.",
                        *("pass", "fail", "inconclusive", "error", "untested"),
                    ),
                    "tests": a_list("The tests that cover it.", a_text("")),
                },
            ),
        ),
        "coverage": a_list(
            "One a kind of goals.",
            an_object(
                "",
                {
                    "kind": a_text("The kind."),
                    "goals": a_count("How many there are."),
                    "run": a_count("How many of them tests that ran cover."),
                    "passed": a_count("How many of these tests that passed."),
                },
            ),
        ),
        "seconds": _SECONDS,
    },
)
