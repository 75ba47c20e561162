"""What is said of a run of a suite, wherever it is shown."""

from __future__ import annotations

from dataclasses import dataclass

from whence.model.test_run import VERDICTS, SuiteRun, TestVerdict

__all__ = ["KINDS", "TONES", "CoverageRow", "coverage_rows", "headline"]

#: What kinds of goals are called.
KINDS = {
    "state": "control states",
    "transition": "transitions",
    "hierarchic": "hierarchic transitions",
    "mcdc": "MC/DC of guards",
    "state-pair": "pairs of control states",
    "transition-pair": "pairs of transitions",
    "boundary": "boundary values",
    "class": "classes of inputs",
    "requirement": "requirements",
    "user": "goals of the model",
}
#: The classes of pages that say how good something is.
TONES = {
    "pass": "satisfied",
    "fail": "violated",
    "error": "error",
    "inconclusive": "unknown",
    "untested": "unknown",
}
_SAID: dict[TestVerdict, tuple[str, str]] = {
    "fail": ("fails", "fail"),
    "error": ("ends in an error", "end in an error"),
    "inconclusive": ("is inconclusive", "are inconclusive"),
    "pass": ("passes", "pass"),
}


@dataclass(frozen=True, slots=True)
class CoverageRow:
    """Of a kind: how many goals the suite has, how many of them tests that ran cover, and how many
    of these tests that passed."""

    kind: str
    goals: int
    run: int
    passed: int


def coverage_rows(run: SuiteRun) -> tuple[CoverageRow, ...]:
    ran = {goal for one in run.runs for goal in one.goals}
    passed = {goal for one in run.runs if one.verdict == "pass" for goal in one.goals}
    met_by = {one.test: one.verdict for one in run.runs}
    found = []
    for kind in dict.fromkeys(goal.kind for goal in run.suite.goals):
        goals = [goal for goal in run.suite.goals if goal.kind == kind]
        # A requirement stands in no test's list of goals; its test is known all the same.
        count = sum(goal.ident in ran or goal.test in met_by for goal in goals)
        good = sum(goal.ident in passed or met_by.get(goal.test or "") == "pass" for goal in goals)
        found.append(CoverageRow(kind, len(goals), count, good))
    return tuple(found)


def headline(run: SuiteRun) -> str:
    """In one sentence."""
    total = len(run.runs)
    if not total:
        return "No test has run"
    for verdict in VERDICTS:
        if run.count(verdict) == total:
            those = "The test" if total == 1 else f"All {total} tests"
            return f"{those} {_SAID[verdict][total > 1]}"
    parts: list[str] = []
    for verdict in VERDICTS:
        count = run.count(verdict)
        if count:
            of = "" if parts else f" of {total} tests"
            parts.append(f"{count}{of} {_SAID[verdict][count > 1]}")
    return ", ".join(parts)
