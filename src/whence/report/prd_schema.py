"""JSON Schema (draft 2020-12) of what `whence prd show` prints."""

from __future__ import annotations

from typing import Final

from whence.report.schema import Schema, a_count, a_list, a_mapping, a_text, an_object

__all__ = ["PRD"]

_CITED: Final = a_list("What asks for it.", a_text("The number of a requirement."))
_LINE: Final[Schema] = {"file": a_text("The file."), "line": a_count("Its line; 0: not known.")}

PRD: Final[Schema] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "whence prd/1",
    **an_object(
        "The result of `whence prd show --format json`.",
        {
            "whence": a_text("The version that wrote this."),
            "schema": {"description": "The form of this document.", "const": "prd/1"},
            "file": a_text("The model's file."),
            "name": a_text("The model's name."),
            "parameters": a_mapping("Which variant it is.", {"type": ["string", "integer"]}),
            "requirements": a_list(
                "Their texts.",
                an_object("One.", {"id": a_text("Its number."), "text": a_text("What it says.")}),
            ),
            "parts": a_list("What it is the product of.", a_text("An automaton.")),
            "states": a_list(
                "The control states.",
                an_object(
                    "One.",
                    {
                        "name": a_text("Its name."),
                        "initial": {"description": "Whether runs begin there.", "type": "boolean"},
                        "initially": a_text("The condition under which they do."),
                        "awaits": a_text("What has to come there; empty: nothing."),
                        "requirements": _CITED,
                    },
                ),
            ),
            "variables": a_list(
                "The memory.",
                an_object(
                    "A variable.",
                    {
                        "name": a_text("Its name."),
                        "low": {"description": "The smallest value.", "type": "integer"},
                        "high": {"description": "The largest value.", "type": "integer"},
                        "names": a_list("Of the values, if they have some.", a_text("A name.")),
                        "initial": {
                            "description": "At first; null: any value.",
                            "type": ["integer", "null"],
                        },
                    },
                ),
            ),
            "clocks": a_list(
                "The clocks.",
                an_object(
                    "One.",
                    {
                        "name": a_text("Its name."),
                        "initial": {
                            "description": "In seconds, exactly; null: any value.",
                            "type": ["string", "null"],
                        },
                    },
                ),
            ),
            "transitions": a_list(
                "What may happen.",
                an_object(
                    "One.",
                    {
                        "source": a_text("From there."),
                        "target": a_text("To there."),
                        "event": {
                            "description": "The pattern of its events; null: time passes.",
                            "type": ["string", "null"],
                        },
                        "when": a_text("Its condition; empty: always."),
                        "update": a_text("What it changes."),
                        "requirements": _CITED,
                        "name": a_text("Its name."),
                        **_LINE,
                    },
                ),
            ),
            "unfolded": {
                "description": "With --unfold: sizes with each value of memory; null without.",
                "oneOf": [
                    {"type": "null"},
                    an_object(
                        "How many there are.",
                        {
                            "states": a_count("States."),
                            "transitions": a_count("Transitions."),
                            "complete": {
                                "description": "Whether these are all.",
                                "type": "boolean",
                            },
                        },
                    ),
                ],
            },
            "diagnostics": a_list(
                "What is odd, or not used.",
                an_object(
                    "One.",
                    {
                        "severity": a_text("`error`, `warning` or `note`."),
                        "message": a_text("What it is."),
                        **_LINE,
                        "element": a_text("What it is about."),
                        "hint": a_text("What can be done."),
                    },
                ),
            ),
        },
    ),
}
