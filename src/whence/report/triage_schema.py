"""JSON Schema (draft 2020-12) of what `whence triage` prints and writes."""

from __future__ import annotations

from typing import Final

from whence.report.schema import Schema, a_count, a_list, a_text, an_object, one_of

__all__ = ["CLASSES", "TRIAGE"]

_DATE: Final[Schema] = {
    "description": "An exact number of seconds: a decimal number, or a fraction.",
    "type": "string",
    "pattern": "^-?[0-9]+([.][0-9]+|/[0-9]+)?$",
}
_INDEX: Final[Schema] = {
    "description": "The number of an event in its trace, from 0; null: at its end.",
    "type": ["integer", "null"],
    "minimum": 0,
}
_TRUTH: Final[Schema] = {"type": "boolean"}
_NAME_OR_NOTHING: Final[Schema] = {"type": ["string", "null"]}
_KIND: Final = one_of("How it fails.", "value", "early", "late", "missing", "unexpected")
_GROUPING: Final = one_of("What makes a class.", "similar", "events", "requirements")

_SEEN: Final = an_object(
    "Where and when.",
    {
        "file": a_text("The log."),
        "trace": a_text("The trace."),
        "line": a_count("The line of the log; 0: not known."),
        "date": _DATE,
        "absolute": {"description": "Whether the date counts from 1970.", **_TRUTH},
    },
)
_CLASS_FIELDS: Final[Schema] = {
    "id": a_text("The same in all runs."),
    "size": a_count("How many faults it has."),
    "kind": _KIND,
    "events": a_list(
        "The events of the explanation, as far as the model can tell them from others.",
        a_text("An event."),
    ),
    "constraints": a_list("What the times between them satisfy.", a_text("A constraint.")),
    "requirements": a_list("What is violated.", a_text("The number of a requirement.")),
    "expected": a_text("What the model would have accepted, in words."),
    "observed": a_text("What came instead."),
    "first_seen": _SEEN,
    "last_seen": _SEEN,
}
_STATUS: Final[Schema] = {
    "description": "Compared with an earlier run; null: there is none.",
    "enum": ["new", "known", "gone", None],
}
_ASSERTIONS: Final = a_list(
    "What holds: one text for each state.", a_list("An assertion.", a_text("`state: clauses`"))
)
_CASE: Final = an_object(
    "The representative, with its explanation.",
    {
        "events": a_list(
            "The events of the explanation and those around it.",
            an_object(
                "An event.",
                {
                    "index": a_count("Its number in the trace."),
                    "date": _DATE,
                    "label": a_text("Its kind and name."),
                    "text": a_text("In words."),
                    "line": a_count("The line of the log."),
                    "role": one_of(
                        "What it has to do with it.", "fault", "relevant", "irrelevant", "context"
                    ),
                },
            ),
        ),
        "omitted": a_count("How many events before the fault are not told."),
        "gaps": a_list(
            "The times between the events of the explanation.",
            an_object(
                "A time.",
                {
                    "time": _DATE,
                    "dropped": a_list("The irrelevant events there.", a_count("A number.")),
                    "kept": {"description": "Whether their time counts.", **_TRUTH},
                    "matters": {"description": "Whether it is a part of the reason.", **_TRUTH},
                },
            ),
        ),
        "after": _ASSERTIONS,
        "before": _ASSERTIONS,
        "rebased": {
            "description": "Whether it is explained from any initial configuration.",
            **_TRUTH,
        },
        "resynchronised": a_text("How the replay went on after the fault."),
        "states": a_list("Where the automaton was.", a_text("A state.")),
    },
)
_CLASS: Final = an_object(
    "Faults of one kind.",
    {
        **_CLASS_FIELDS,
        "status": _STATUS,
        "representative": a_count("A number in `faults`."),
        "members": a_list("Numbers in `faults`.", a_count("A number.")),
        "case": _CASE,
    },
)
_IN_SHORT: Final = an_object(
    "An explanation.",
    {
        "events": a_list("The events that matter.", a_count("A number in the trace.")),
        "class": a_text("The class that it belongs to."),
        "complete": {"description": "Whether there are no more.", **_TRUTH},
    },
    {"problems": a_list("With --verify: what is wrong with the proof.", a_text("In words."))},
)
_FAULT: Final = an_object(
    "Where a trace and the model diverge.",
    {
        "trace": a_text("The name of the trace."),
        "file": a_text("The log."),
        "line": a_count("Its line; 0: not known."),
        "number": a_count("Counts the faults of the trace."),
        "index": _INDEX,
        "position": {**_INDEX, "description": "As `index`, in the log as `whence events` tells."},
        "date": _DATE,
        "kind": _KIND,
        "event": a_text("What was seen; empty: the end."),
        "after": {**_DATE, "description": "The time since the event before, in seconds."},
        "expected": a_list("What was possible there.", a_text("An event, with its times.")),
        "others": a_count("How many more events were possible."),
        "requirements": a_list("What is violated.", a_text("The number of a requirement.")),
        "explanation": a_list("The events of the first explanation.", a_count("A number.")),
        "class": {"description": "The class of the first explanation.", **_NAME_OR_NOTHING},
        "explanations": a_list("All explanations.", _IN_SHORT),
        "mark": {
            "description": "A number in `marks` that says the same; null: there is none.",
            "type": ["integer", "null"],
        },
    },
)
_VERDICT: Final = an_object(
    "A trace.",
    {
        "trace": a_text("Its name."),
        "file": a_text("The log."),
        "line": a_count("Where it begins, or what is wrong; 0: not known."),
        "verdict": one_of("How it ended.", "conforming", "faulty", "broken"),
        "events": a_count("How many it has."),
        "faults": a_count("How many it has."),
        "reason": a_text("Why it is broken."),
        "hint": a_text("What can be done."),
    },
)
_MARK: Final = an_object(
    "Something that the environment of the tests says has failed.",
    {
        "trace": {"description": "The trace it is about.", **_NAME_OR_NOTHING},
        "file": {"description": "The log.", **_NAME_OR_NOTHING},
        "line": a_count("Its line."),
        "index": {**_INDEX, "description": "The event it stands behind; null: there is none."},
        "verdict": one_of("What it says.", "fail", "error"),
        "text": a_text("In its words."),
        "found_by": one_of("Who else finds it.", "both", "environment"),
        "fault": {
            "description": "The `number` of the fault in the trace; null: there is none.",
            "type": ["integer", "null"],
        },
        "why": a_text("Why the model finds nothing there."),
    },
)
_PROBLEM: Final = an_object(
    "What is to be known of a log that was read.",
    {
        "severity": one_of("How bad it is.", "error", "warning"),
        "message": a_text("What it is."),
        "file": a_text("The log."),
        "line": a_count("Its line; 0: not known."),
        "hint": a_text("What can be done."),
    },
)

TRIAGE: Final[Schema] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "whence triage/1",
    **an_object(
        "The result of `whence triage --format json`.",
        {
            "whence": a_text("The version that wrote this."),
            "schema": {"description": "The form of this document.", "const": "triage/1"},
            "model": a_text("The model of the requirements."),
            "grouping": _GROUPING,
            "logs": a_count("How many logs there are."),
            "traces": a_count("How many traces they have."),
            "faulty": a_count("How many have faults."),
            "conforming": a_count("How many have none."),
            "broken": a_count("How many cannot be replayed."),
            "partial": {"description": "Whether it was interrupted.", **_TRUTH},
            "compared": {"description": "Whether there is an earlier run.", **_TRUTH},
            "verified": {"description": "Whether the proofs were checked.", **_TRUTH},
            "classes": a_list("The largest first.", _CLASS),
            "gone": a_list("Of the earlier run.", an_object("A class.", _CLASS_FIELDS)),
            "faults": a_list("In the order of the traces.", _FAULT),
            "verdicts": a_list("In the order of the logs.", _VERDICT),
            "environment": an_object(
                "How many faults were found by whom.",
                {
                    "both": a_count("By the environment of the tests and the model."),
                    "model": a_count("By the model only."),
                    "environment": a_count("By the environment only."),
                },
            ),
            "marks": a_list("Of the environment.", _MARK),
            "passed_over": a_list("Files in folders that are no logs.", a_text("A file.")),
            "diagnostics": a_list("About logs that were read.", _PROBLEM),
        },
    ),
}

CLASSES: Final[Schema] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "whence classes/1",
    **an_object(
        "The classes of faults, as `whence triage --classes` writes them.",
        {
            "whence": a_text("The version that wrote this."),
            "schema": {"description": "The form of this document.", "const": "classes/1"},
            "model": a_text("The model of the requirements."),
            "grouping": _GROUPING,
            "classes": a_list(
                "Those that are here, the largest first, then those that are gone.",
                an_object("A class.", {**_CLASS_FIELDS, "status": _STATUS}),
            ),
        },
    ),
}
