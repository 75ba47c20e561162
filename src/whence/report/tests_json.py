"""Suites as JSON, schema `tests/1`: see docs/json.md and :mod:`whence.report.tests_schema`."""

from __future__ import annotations

from typing import Any

from whence.model.mutation import Mutation
from whence.model.suite import GoalResult, Suite, TestCase

__all__ = ["case_document", "suite_document"]

Json = dict[str, Any]


def suite_document(suite: Suite, version: str, *, complete: bool = True) -> Json:
    """What `whence tests --format json` prints, for `json.dumps`. The manifest of a suite's folder
    is the same without the contents of the tests (`complete` is false) and without the time that
    it took: the same model and seed give the same folder."""
    found: Json = {
        "whence": version,
        "schema": "tests/1",
        "model": suite.model,
        "file": suite.file,
        "hash": suite.hash,
        "seed": suite.seed,
        "complete": suite.complete,
        "widened": suite.widened,
        "summary": {
            "covered": suite.count("covered"),
            "unreachable": suite.count("unreachable"),
            "open": suite.count("open"),
        },
        "findings": [
            {
                "severity": one.severity,
                "message": one.message,
                "hint": one.hint,
                "file": one.origin.file,
                "line": one.origin.line,
                "column": one.origin.column,
            }
            for one in suite.findings
        ],
        "requirements": [{"id": one.ident, "text": one.text} for one in suite.requirements],
        "goals": [_goal(goal) for goal in suite.goals],
        "tests": [
            case_document(test) if complete else {"id": test.ident, "file": f"{test.ident}.json"}
            for test in suite.tests
        ],
        "mutation": None if suite.mutation is None else _mutation(suite.mutation),
    }
    if complete:
        found["simulated"] = suite.steps
        found["seconds"] = suite.seconds
    return found


def _mutation(mutation: Mutation) -> Json:
    return {
        "killed": mutation.count("killed"),
        "survived": mutation.count("survived"),
        "equivalent": mutation.count("equivalent"),
        "score": None if mutation.score is None else str(mutation.score),
        "complete": mutation.complete,
        "mutants": [
            {
                "id": one.ident,
                "operator": one.operator,
                "change": one.text,
                "line": one.origin.line,
                "status": one.status,
                "test": one.test,
                "reason": one.reason,
            }
            for one in mutation.mutants
        ],
        "tests": [case_document(test) for test in mutation.tests],
    }


def _goal(goal: GoalResult) -> Json:
    return {
        "id": goal.ident,
        "kind": goal.kind,
        "status": goal.status,
        "test": goal.test,
        "step": goal.step,
        "time": goal.time,
        "reason": goal.reason,
        "bound": goal.bound,
        "requirements": list(goal.requirements),
        "line": goal.origin.line,
    }


def case_document(test: TestCase) -> Json:
    """One test."""
    return {
        "id": test.ident,
        "end": test.end,
        "inputs": [{"time": one.time, "name": one.name, "value": one.value} for one in test.inputs],
        "expected": [
            {
                "time": one.time,
                "name": one.name,
                "value": one.value,
                "latency": one.latency,
                "tolerance": one.tolerance,
            }
            for one in test.expected
        ],
        "goals": list(test.goals),
        "requirements": list(test.requirements),
    }
