"""Runs of suites as JSON, schema `run/1`: see docs/json.md and :mod:`whence.report.run_schema`."""

from __future__ import annotations

from typing import Any

from whence.model.test_run import VERDICTS, Drift, Seen, SuiteRun, TestRun, requirement_verdicts
from whence.report.run_words import coverage_rows

__all__ = ["one_run_document", "one_run_of", "run_document"]

Json = dict[str, Any]


def run_document(run: SuiteRun, version: str) -> Json:
    """What `whence run --format json` prints, for `json.dumps`."""
    return {
        "whence": version,
        "schema": "run/1",
        "model": run.suite.model,
        "file": run.suite.file,
        "hash": run.hash,
        "suite_hash": run.suite.hash,
        "system": run.system,
        "complete": run.complete,
        "notes": list(run.notes),
        "summary": {verdict: run.count(verdict) for verdict in VERDICTS},
        "verdicts": [one_run_document(one) for one in run.runs],
        "requirements": [
            {
                "id": one.ident,
                "text": one.text,
                "verdict": one.verdict,
                "tests": list(one.tests),
            }
            for one in requirement_verdicts(run.suite, run.runs)
        ],
        "coverage": [
            {"kind": row.kind, "goals": row.goals, "run": row.run, "passed": row.passed}
            for row in coverage_rows(run)
        ],
        "seconds": run.seconds,
    }


def one_run_document(run: TestRun) -> Json:
    """What became of one test."""
    return {
        "test": run.test,
        "verdict": run.verdict,
        "time": run.time,
        "reason": run.reason,
        "requirements": list(run.requirements),
        "goals": list(run.goals),
        "seen": [
            {"time": one.time, "name": one.name, "value": one.value, "given": one.given}
            for one in run.seen
        ],
        "admitted": run.admitted,
        "drift": None if run.drift is None else {"most": run.drift.most, "last": run.drift.last},
        "seconds": run.seconds,
    }


def one_run_of(document: Json) -> TestRun:
    """The same read back. Raises ValueError, KeyError or TypeError where it is none."""
    verdict = document["verdict"]
    if verdict not in VERDICTS:
        raise ValueError("no verdict")
    drift = document["drift"]
    return TestRun(
        test=str(document["test"]),
        verdict=verdict,
        time=int(document["time"]),
        reason=str(document["reason"]),
        seen=tuple(
            Seen(int(one["time"]), str(one["name"]), str(one["value"]), bool(one["given"]))
            for one in document["seen"]
        ),
        requirements=tuple(map(str, document["requirements"])),
        goals=tuple(map(str, document["goals"])),
        admitted=int(document["admitted"]),
        drift=None if drift is None else Drift(float(drift["most"]), float(drift["last"])),
        seconds=float(document["seconds"]),
    )
