"""What became of a suite's tests: verdicts, what was seen while they ran, and when."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from whence.model.suite import Suite

__all__ = [
    "VERDICTS",
    "Drift",
    "RequirementVerdict",
    "Seen",
    "SuiteRun",
    "TestRun",
    "TestVerdict",
    "requirement_verdicts",
]

#: `error`: the system died, hung or answered what cannot be understood. `inconclusive`: nothing
#: was wrong, but the test did not say what it was made for.
TestVerdict = Literal["fail", "error", "inconclusive", "pass"]
#: From the worst to the best.
VERDICTS: tuple[TestVerdict, ...] = ("fail", "error", "inconclusive", "pass")


@dataclass(frozen=True, slots=True)
class Seen:
    """At `time` (milliseconds from the start) `name` got `value`; `given`: by the test."""

    time: int
    name: str
    value: str
    given: bool


@dataclass(frozen=True, slots=True)
class Drift:
    """In real time: how late inputs were at most, and how late the last one was, in seconds."""

    most: float
    last: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TestRun:
    """`time`: when the verdict was clear, in milliseconds from the start of the test. `seen` is in
    the order of time. `admitted`: how many states of the model were possible at most."""

    __test__ = False

    test: str
    verdict: TestVerdict
    time: int
    reason: str = ""
    seen: tuple[Seen, ...] = ()
    requirements: tuple[str, ...] = ()
    goals: tuple[str, ...] = ()
    admitted: int = 1
    drift: Drift | None = None
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class RequirementVerdict:
    """`tests` are those that cover it. `untested`: none of those that ran does."""

    ident: str
    text: str
    verdict: TestVerdict | Literal["untested"]
    tests: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteRun:
    """`system` is what was tested, in the user's words. `complete`: all chosen tests have run.
    `hash` is that of the model that judged; a suite of another model has another one."""

    suite: Suite
    system: str
    runs: tuple[TestRun, ...]
    hash: str
    complete: bool = True
    notes: tuple[str, ...] = ()
    seconds: float = 0.0

    def count(self, verdict: TestVerdict) -> int:
        return sum(run.verdict == verdict for run in self.runs)

    @property
    def verdict(self) -> TestVerdict:
        """The worst one."""
        found = {run.verdict for run in self.runs}
        return next((one for one in VERDICTS if one in found), "inconclusive")


def requirement_verdicts(suite: Suite, runs: Iterable[TestRun]) -> tuple[RequirementVerdict, ...]:
    """A requirement passes if all tests that cover it have run and pass; otherwise it has the
    worst of their verdicts."""
    by_test = {run.test: run for run in runs}
    found = []
    for requirement in suite.requirements:
        tests = tuple(test.ident for test in suite.tests if requirement.ident in test.requirements)
        verdicts = {by_test[name].verdict for name in tests if name in by_test}
        verdict: TestVerdict | Literal["untested"]
        verdict = next((one for one in VERDICTS if one in verdicts), "untested")
        if verdict == "pass" and any(name not in by_test for name in tests):
            verdict = "inconclusive"
        found.append(RequirementVerdict(requirement.ident, requirement.text, verdict, tests))
    return tuple(found)
