"""Events of logs as JSON, schema `events/1`: see docs/json.md."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from whence.formats.events.tables import json_object
from whence.model.events import Trace
from whence.source import Diagnostic

__all__ = ["events_document"]

Json = dict[str, Any]


def events_document(traces: Sequence[Trace], failed: Sequence[Diagnostic], version: str) -> Json:
    """What `whence events --format json` prints, for `json.dumps`."""
    return {
        "whence": version,
        "schema": "events/1",
        "traces": [_trace(trace) for trace in traces],
        "failed": [_problem(diagnostic) for diagnostic in failed],
    }


def _trace(trace: Trace) -> Json:
    return {
        "name": trace.name,
        "file": trace.file,
        "format": trace.format,
        "frames": trace.frames,
        "pairs": [str(pair) for pair in trace.pairs],
        "notes": list(trace.notes),
        "events": [
            {"index": index, **json_object(event)} for index, event in enumerate(trace.events)
        ],
        "annotations": [
            {"position": annotation.position, **json_object(annotation)}
            for annotation in trace.annotations
        ],
        "problems": [_problem(problem) for problem in trace.problems],
        "omitted": trace.omitted,
    }


def _problem(problem: Diagnostic) -> Json:
    return {
        "severity": problem.severity,
        "message": problem.message,
        "file": problem.origin.file,
        "line": problem.origin.line,
        "hint": problem.hint,
    }
