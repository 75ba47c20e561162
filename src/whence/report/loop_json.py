"""The chain from a model to the faulty lines as JSON, `loop/1` (docs/json.md)."""

from __future__ import annotations

from whence.campaign.loop.results import BugClass, Loop, ShortTest, TimingFound
from whence.report.json import Json
from whence.report.locate_json import locate_document
from whence.report.run_json import run_document
from whence.report.tests_json import case_document, suite_document
from whence.report.triage_json import triage_document

__all__ = ["loop_document"]


def loop_document(found: Loop, version: str) -> Json:
    return {
        "whence": version,
        "schema": "loop/1",
        "title": found.title,
        "system": found.run.system,
        "tests": suite_document(found.suite, version),
        "run": run_document(found.run, version),
        "triage": None if found.triage is None else triage_document(found.triage, version),
        "bugs": [_bug(one, found, version) for one in found.classes],
        "loose_faults": list(found.loose),
        "silent_tests": list(found.silent),
        "timing": [_timing(one) for one in found.timing],
        "notes": [str(note) for note in found.notes],
        "seconds": {name: round(value, 3) for name, value in found.seconds.items()},
    }


def _bug(one: BugClass, found: Loop, version: str) -> Json:
    total = sum(len(lines) for lines in found.sources.values())
    located = None
    if one.code is not None:
        csr = len(one.code.found.lines) / total if total else 0.0
        located = locate_document(one.code.found, csr, version)
    return {
        "class": one.what.ident,
        "kind": one.what.kind,
        "requirements": list(one.what.requirements),
        "events": list(one.what.events),
        "constraints": list(one.what.constraints),
        "observed": one.what.observed,
        "expected": one.what.expected,
        "faults": list(one.faults),
        "tests": list(one.runs),
        "short_tests": [_short(test) for test in one.tests],
        "locate": located,
        "why": one.why,
    }


def _short(test: ShortTest) -> Json:
    return {
        "of": test.origin,
        "fails_at": test.time,
        "reason": test.reason,
        **case_document(test.test),
    }


def _timing(one: TimingFound) -> Json:
    return {
        "file": one.file,
        "query": one.query,
        "ranges": [str(each) for each in one.ranges.ranges],
        "causal_delays": list(one.ranges.causal_delays),
        "repairs": [
            {
                "kind": repair.kind,
                "admissible": repair.admissible,
                "changes": [
                    {"element": change.element, "before": change.before, "after": change.after}
                    for change in repair.changes
                ],
            }
            for repair in one.repairs.repairs
        ],
    }
