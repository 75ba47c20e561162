"""What the analyses of timed diagnostic traces answer.

Values only: they can be shown, written down and checked without the code that found them.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from whence.model.trace import TimedTrace, Verdict
from whence.source import Origin

__all__ = [
    "KINDS",
    "SINGLE_KINDS",
    "Admissibility",
    "CausalRange",
    "Change",
    "Kind",
    "Limit",
    "OtherQuery",
    "RangesResult",
    "Repair",
    "RepairResult",
    "Test",
]


# -------------------------------------------------------------------------------- causal ranges


@dataclass(frozen=True, slots=True)
class Limit:
    """One end of a range; `strict`: the value itself is outside."""

    value: Fraction
    strict: bool


@dataclass(frozen=True, slots=True)
class CausalRange:
    """Definition 39: every run along the trace in which the sum of these delays is in the range
    violates the property. `upper` None: the sum may be as large as one likes.

    The evidence: `violating` are all delays of a run with its sum in the range. For each delay
    of the range, `satisfying` tells how the same run avoids the violation by another value for
    that delay alone: all delays of a run that satisfies the property, or only the first ones,
    up to that delay, where the trace can then not be completed any more.
    """

    delays: tuple[int, ...]
    lower: Limit
    upper: Limit | None
    violating: tuple[Fraction, ...]
    satisfying: tuple[tuple[Fraction, ...], ...]

    @property
    def sum_text(self) -> str:
        return " + ".join(f"δ{delay}" for delay in self.delays)

    def __str__(self) -> str:
        left = f"{self.lower.value} {'<' if self.lower.strict else '<='} {self.sum_text}"
        if self.upper is None:
            return left
        return f"{left} {'<' if self.upper.strict else '<='} {self.upper.value}"


@dataclass(frozen=True, slots=True)
class RangesResult:
    """The causal delays and ranges of one trace that violates `query`.

    `trace` is None where the property holds (`verdict` satisfied) or is not known to be
    violated. `always` says that every run along the trace violates the property, `timed` that
    some choice of delays avoids the violation: without it there is no timed cause. `complete` is
    false where the budget ran out, as `reason` tells.
    """

    query: str
    verdict: Verdict
    trace: TimedTrace | None
    causal_delays: tuple[int, ...] = ()
    ranges: tuple[CausalRange, ...] = ()
    always: bool = False
    timed: bool = False
    complete: bool = True
    reason: str = ""
    seconds: float = 0.0


# -------------------------------------------------------------------------------------- repairs


#: The variations of section 10.2.1; `mixed` combines several of them.
Kind = Literal["bound", "operator", "clock", "reset", "urgency", "mixed"]
SINGLE_KINDS: tuple[Kind, ...] = ("bound", "operator", "clock", "reset", "urgency")
KINDS: tuple[Kind, ...] = (*SINGLE_KINDS, "mixed")


@dataclass(frozen=True, slots=True)
class Change:
    """One changed element of the model, as its author reads it.

    `template` and (`location` or `edge`) are numbers in the model's file: an element that occurs
    in several instances of a template is changed once. `element` says in words which it is.
    """

    kind: Kind
    template: int
    location: int | None
    edge: int | None
    element: str
    before: str
    after: str
    origin: Origin
    #: For bounds: by how much.
    amount: int = 0


#: `equal`: the repaired model has the same untimed language (section 10.3); `nothing lost`: it
#: includes that of the original.
Test = Literal["equal", "nothing lost"]


@dataclass(frozen=True, slots=True)
class Admissibility:
    """What became of a test of admissibility; `admissible` None: the budget ran out.

    `word` is a word that only one of the two models has, `trace` a run of that model along it. It
    is a shortest one where the models were compared as a whole, which those with few states are.

    `violations_only`, asked of repairs that are not admissible: the repaired model can do nothing
    new, and has lost nothing but what violates the property in every run of the original.
    """

    test: Test
    labels: str
    admissible: bool | None
    word: tuple[str, ...] | None = None
    only_in: Literal["original", "repaired"] | None = None
    trace: TimedTrace | None = None
    reason: str = ""
    violations_only: bool | None = None


@dataclass(frozen=True, slots=True)
class OtherQuery:
    """A query of the model before and after a repair."""

    query: str
    before: Verdict
    after: Verdict


@dataclass(frozen=True, slots=True)
class Repair:
    """A set of changes after which the trace does not violate the property any more.

    `blocks` says that the repaired model does not have the trace at all: such repairs are made
    only where every run along the trace violates the property. `verdict` is that of the property
    on the whole repaired model (another trace may still violate it), `deadlock_before` and
    `deadlock_after` those of `A[] not deadlock`.
    """

    number: int
    kind: Kind
    changes: tuple[Change, ...]
    blocks: bool
    verdict: Verdict
    admissibility: Admissibility | None = None
    other_queries: tuple[OtherQuery, ...] = ()
    deadlock_before: Verdict = "unknown"
    deadlock_after: Verdict = "unknown"
    #: The repaired model's counterexample, if it still has one.
    trace: TimedTrace | None = None

    @property
    def admissible(self) -> bool | None:
        return None if self.admissibility is None else self.admissibility.admissible

    @property
    def violations_only(self) -> bool:
        """Not admissible, but what it takes away violates the property."""
        return self.admissibility is not None and self.admissibility.violations_only is True

    @property
    def fit(self) -> bool:
        """Known to leave all that satisfies the property as it is."""
        return self.admissible is True or self.violations_only

    @property
    def amount(self) -> int:
        """By how much bounds change, all together."""
        return sum(abs(change.amount) for change in self.changes)


@dataclass(frozen=True, slots=True)
class RepairResult:
    """The repairs for one trace that violates `query`, smallest first.

    `complete_to`: all repairs with so many changes or fewer are there (of the kinds asked for).
    `always`: no run along the trace satisfies the property, so that repairs block the trace.
    `complete` is false where a budget ran out, as `reason` tells.
    """

    query: str
    verdict: Verdict
    trace: TimedTrace | None
    repairs: tuple[Repair, ...] = ()
    always: bool = False
    complete_to: int = 0
    complete: bool = True
    reason: str = ""
    seconds: float = 0.0
    search_seconds: float = 0.0
