"""JSON Schema (draft 2020-12) of what `whence events --format json` prints."""

from __future__ import annotations

from typing import Final

from whence.model.events import KINDS, VERDICTS
from whence.report.schema import Schema, a_count, a_list, a_text, an_object, one_of

__all__ = ["EVENTS"]

_DATE: Final[Schema] = {
    "description": "Seconds: an exact decimal number, or a fraction where none is exact.",
    "type": "string",
    "pattern": r"^-?[0-9]+(\.[0-9]+|/[0-9]+)?$",
}
_PLACE: Final[Schema] = {
    "file": a_text("The log."),
    "line": a_count("The line, or in a binary log the record, that it starts in."),
}

_FIELD: Final = an_object(
    "A parameter.",
    {
        "name": a_text("Its name."),
        "value": {
            "description": "A number, or a text (bytes as hexadecimal digits).",
            "type": ["integer", "string"],
        },
    },
    {"text": a_text("What the value means.")},
)

_EVENT: Final = an_object(
    "A message; what is not known or empty is missing.",
    {
        "index": a_count("Its number in the trace, from 0."),
        "kind": one_of("What it is.", *KINDS),
    },
    {
        "first": _DATE,
        "last": _DATE,
        "ecu": a_text("The partner of the tester: in the log of a bus, the pair of addresses."),
        "channel": a_text("The channel of the bus."),
        "name": a_text("The name of the service."),
        "service": a_count("The number of the service, also in responses."),
        "fields": a_list("The parameters.", _FIELD),
        "payload": a_text("All bytes of the message as hexadecimal digits."),
        "answers": a_count("The index of the request that this responds to."),
        "message": a_text("What is wrong with an error."),
        **_PLACE,
    },
)

_ANNOTATION: Final = an_object(
    "What somebody wrote into the log.",
    {
        "position": a_count("The index of the event that it stands before."),
        "kind": one_of("What it is.", "comment", *(f"verdict:{verdict}" for verdict in VERDICTS)),
    },
    {"first": _DATE, "message": a_text("The text."), **_PLACE},
)

_PROBLEM: Final = an_object(
    "Something that could not be read.",
    {
        "severity": one_of("How bad it is.", "error", "warning"),
        "message": a_text("What is wrong."),
        "hint": a_text("What to do about it."),
        **_PLACE,
    },
)

EVENTS: Final[Schema] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "whence events/1",
    **an_object(
        "The result of `whence events --format json`.",
        {
            "whence": a_text("The version that wrote this."),
            "schema": {"description": "The form of this document.", "const": "events/1"},
            "traces": a_list(
                "One for each log that was read.",
                an_object(
                    "What a log tells.",
                    {
                        "name": a_text("The name of its file."),
                        "file": a_text("The path as it was given."),
                        "format": a_text("The format that was recognized."),
                        "frames": a_count("How many frames it has; 0 for plain events."),
                        "pairs": a_list("Who talks to whom.", {"type": "string"}),
                        "notes": a_list("How it is to be understood.", {"type": "string"}),
                        "events": a_list("The events.", _EVENT),
                        "annotations": a_list("The annotations.", _ANNOTATION),
                        "problems": a_list("What could not be read.", _PROBLEM),
                        "omitted": a_count("How many problems more there are."),
                    },
                ),
            ),
            "failed": a_list("Why logs could not be read at all.", _PROBLEM),
        },
    ),
}
