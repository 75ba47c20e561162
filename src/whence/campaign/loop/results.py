"""What the chain from a model to the faulty lines finds: values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from whence.model.suite import Suite, TestCase
from whence.model.test_run import Seen, SuiteRun
from whence.source import Diagnostic

if TYPE_CHECKING:
    from whence.locate.localize import Localization
    from whence.timing.results import RangesResult, RepairResult
    from whence.triage.findings import FaultClass, Triage

__all__ = ["BugClass", "CodeFound", "Loop", "ShortTest", "TimingFound"]


@dataclass(frozen=True, slots=True)
class ShortTest:
    """A test that fails for one reason. `origin` is the test of the suite that it was made of;
    `seen` ends with the failure, at `time`."""

    test: TestCase
    origin: str
    time: int
    reason: str
    seen: tuple[Seen, ...]
    #: In which way requirements are violated: a key of `triage --group requirements`.
    signature: str


@dataclass(frozen=True, slots=True)
class CodeFound:
    """What the code says of a class. `failing` and `passing` count the tests that were given."""

    found: Localization
    failing: int
    passing: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BugClass:
    """Faults that are one bug, as far as requirements and short tests tell. `what` explains one of
    the `tests`; `faults` are numbers of faults of the whole campaign, in `runs` of these tests.
    `code` is None where no code was given, or for the reason in `why`."""

    what: FaultClass
    tests: tuple[ShortTest, ...]
    faults: tuple[int, ...]
    runs: tuple[str, ...]
    code: CodeFound | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class TimingFound:
    """A property of a timed model that does not hold: which delays are to blame, and which bounds
    would do."""

    file: str
    query: str
    ranges: RangesResult
    repairs: RepairResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """`triage` is that of the logs of the whole suite, `run` has its verdicts. `loose` are numbers
    of faults that no short test was found for, `silent` failing tests in whose logs the
    requirements find nothing wrong. `sources` are the lines of the code."""

    title: str
    suite: Suite
    run: SuiteRun
    triage: Triage | None
    classes: tuple[BugClass, ...]
    loose: tuple[int, ...]
    silent: tuple[str, ...]
    sources: Mapping[str, tuple[str, ...]]
    timing: tuple[TimingFound, ...] = ()
    logs: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[Diagnostic, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)

    @property
    def wrong(self) -> bool:
        return self.run.verdict != "pass" or bool(self.timing)
