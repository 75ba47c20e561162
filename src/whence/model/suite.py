"""Suites of tests: inputs with their dates, what is expected when, and which goals each covers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from whence.model.chart import Requirement
from whence.source import NOWHERE, Diagnostic, Origin

if TYPE_CHECKING:
    from whence.model.mutation import Mutation

__all__ = ["Expected", "GoalResult", "GoalStatus", "Input", "Suite", "TestCase"]

GoalStatus = Literal["covered", "unreachable", "open"]


@dataclass(frozen=True, slots=True)
class Input:
    """`name` is set to `value` at `time`, in milliseconds from the start. Values are texts as the
    model writes them: `3`, `true`, `21/2`, or the name of an enumeration's member."""

    time: int
    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Expected:
    """From `time` on, and by `latency` milliseconds later, `name` has `value`, with an error of
    at most `tolerance`."""

    time: int
    name: str
    value: str
    latency: int = 0
    tolerance: str = "0"


@dataclass(frozen=True, slots=True, kw_only=True)
class TestCase:
    """`end`: how long the test takes, in milliseconds. `goals` are those that it covers."""

    __test__ = False

    ident: str
    inputs: tuple[Input, ...]
    expected: tuple[Expected, ...]
    end: int
    goals: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalResult:
    """`test` covers it, by its step number `step` (from 0). `reason`: why it is unreachable, or up
    to where it is open. `bound`: no run of so many steps from the start reaches it."""

    ident: str
    kind: str
    status: GoalStatus
    test: str | None = None
    step: int | None = None
    time: int | None = None
    reason: str = ""
    bound: int | None = None
    requirements: tuple[str, ...] = ()
    origin: Origin = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """`hash` is that of the model's file."""

    model: str
    file: str
    hash: str
    seed: int
    goals: tuple[GoalResult, ...]
    tests: tuple[TestCase, ...]
    requirements: tuple[Requirement, ...] = ()
    findings: tuple[Diagnostic, ...] = ()
    #: Whether the search ended by itself, and not by its budget.
    complete: bool = True
    #: Whether ranges of the model were widened first (`--widen-ranges`).
    widened: bool = False
    #: What became of mutants of the model, if that was asked.
    mutation: Mutation | None = None
    seconds: float = 0.0
    steps: int = 0

    def count(self, status: GoalStatus) -> int:
        return sum(goal.status == status for goal in self.goals)
