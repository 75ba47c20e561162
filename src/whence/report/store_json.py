"""Histories and comparisons as JSON, schemas `history/1` and `compare/1`: see docs/json.md."""

from __future__ import annotations

from typing import Any

from whence.store.compare import Comparison, InBoth
from whence.store.history import ClassHistory, ClassWords, History, RunSummary, Sighting
from whence.store.runs import Run

__all__ = ["comparison_document", "history_document"]

Json = dict[str, Any]


def history_document(told: History, version: str) -> Json:
    return {
        "whence": version,
        "schema": "history/1",
        "store": told.store,
        "model": told.model or None,
        "class": told.ident or None,
        "runs": [_summary(each) for each in told.runs],
        "classes": [_class(each) for each in told.classes],
    }


def comparison_document(found: Comparison, version: str) -> Json:
    return {
        "whence": version,
        "schema": "compare/1",
        "store": found.store,
        "before": _run(found.before),
        "after": _run(found.after),
        "partial": found.partial,
        "new": [_in_both(each) for each in found.new],
        "gone": [_in_both(each) for each in found.gone],
        "still": [_in_both(each) for each in found.still],
        "changes": [
            {
                "name": each.name,
                "file": each.file,
                "before": each.before,
                "after": each.after,
            }
            for each in found.changes
        ],
        "same": found.same,
    }


def _run(run: Run) -> Json:
    return {
        "run": run.ident,
        "command": run.command,
        "started": run.started,
        "ended": run.ended,
        "complete": run.complete,
        "verdict": run.verdict or None,
        "model": run.model,
        "model_name": run.model_name,
        "model_hash": run.model_hash,
        "version": run.whence,
        "code": run.code,
        "grouping": run.grouping or None,
        "options": dict(run.options),
        "planned": run.planned,
    }


def _summary(told: RunSummary) -> Json:
    return {
        **_run(told.run),
        "done": told.done,
        "faults": told.faults,
        "verdicts": dict(told.verdicts),
        "classes": list(told.classes),
        "new": list(told.new),
        "gone": list(told.gone),
    }


def _words(words: ClassWords) -> Json:
    return {
        "id": words.ident,
        "grouping": words.grouping,
        "kind": words.kind,
        "events": list(words.events),
        "constraints": list(words.constraints),
        "requirements": list(words.requirements),
        "expected": words.expected,
        "observed": words.observed,
    }


def _class(told: ClassHistory) -> Json:
    return {
        **_words(told.words),
        "model": told.model,
        "state": told.state,
        "first_seen": told.first,
        "last_seen": told.last,
        "runs": told.runs,
        "faults": told.faults,
        "codes": list(told.codes),
        "sightings": [_sighting(each) for each in told.sightings],
    }


def _sighting(one: Sighting) -> Json:
    return {
        "run": one.run,
        "state": one.state,
        "size": one.size,
        "file": one.file,
        "trace": one.trace,
        "line": one.line,
    }


def _in_both(each: InBoth) -> Json:
    return {**_words(each.words), "before": each.before, "after": each.after}
