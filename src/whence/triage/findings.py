"""What a triage of many logs answers: a verdict on each trace, the faults, their classes.

Values only. There may be a hundred thousand faults, so that each is told in the small; what there
is to know of an explanation (its proof, the events around it) is kept for one member of each class,
its :class:`Case`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import Literal, TypeAlias

from whence.model.events import AddressPair, Verdict
from whence.source import Diagnostic
from whence.triage.results import Explanation, FaultKind, Grouping
from whence.triage.traces import SplitAt

__all__ = [
    "Case",
    "ClassStatus",
    "FaultClass",
    "FoundFault",
    "FoundMark",
    "FoundTrace",
    "InShort",
    "KnownClass",
    "LogFindings",
    "LogOptions",
    "Outcome",
    "Problem",
    "Rank",
    "Role",
    "Seen",
    "SeenEvent",
    "TraceVerdict",
    "Triage",
]

#: `broken`: the trace cannot be replayed, which has a reason.
TraceVerdict: TypeAlias = Literal["conforming", "faulty", "broken"]
#: `bad`: a log cannot be replayed. `gave up`: interrupted. `defect`: of whence itself.
Outcome: TypeAlias = Literal["nothing", "found", "bad", "gave up", "defect"]
#: Compared with the classes of an earlier run; "" if there was none.
ClassStatus: TypeAlias = Literal["new", "known", ""]
#: What an event has to do with a fault. `context`: it comes before what was looked at.
Role: TypeAlias = Literal["fault", "relevant", "irrelevant", "context"]
#: Smaller is the better representative: few events, soon after the start, by name.
Rank: TypeAlias = tuple[int, int, str, str, int, int]


@dataclass(frozen=True, slots=True)
class LogOptions:
    """How logs are read and judged. `complete`: nothing more was to come at the end of a log.
    `hide`: variables and clocks that explanations ignore. `verify`: proofs are checked."""

    pairs: tuple[AddressPair, ...] = ()
    ecu: str = ""
    split: SplitAt = None
    errors: bool = True
    complete: bool = True
    hide: tuple[str, ...] = ()
    verify: bool = False


# ------------------------------------------------------------------------------- what was found


@dataclass(frozen=True, slots=True)
class InShort:
    """An explanation: the indices of its events in the trace, and the keys of its class in each
    grouping. `complete` is false where there may be more explanations. `problems`: what
    is wrong with the proof, None if it was not checked."""

    events: tuple[int, ...]
    similar: str
    by_events: str
    by_requirements: str
    complete: bool = True
    problems: tuple[str, ...] | None = None

    def key(self, grouping: Grouping) -> str:
        match grouping:
            case "similar":
                return self.similar
            case "events":
                return self.by_events
            case "requirements":
                return self.by_requirements


@dataclass(frozen=True, slots=True)
class FoundFault:
    """Where a trace and the model diverge, in the small.

    `trace` is the number of the trace (in its log; in a :class:`Triage`, of all), `number` counts
    the faults of the trace. `index` is that of the event in the trace, `position` in the log
    (counted as `whence events` does), None at the end; `line` is where it stands in the file, and
    `next_line` where the next event of the trace does, 0 if there is none.
    `since` counts the events up to the fault before. `event` is the event in words, `after` the
    time since the one before it. `expected`: what the model would have accepted, of which `others`
    more are not told.
    """

    trace: int
    number: int
    index: int | None
    position: int | None
    line: int
    next_line: int
    date: Fraction
    kind: FaultKind
    event: str
    after: Fraction
    since: int
    expected: tuple[str, ...]
    others: int
    requirements: tuple[str, ...]
    explanations: tuple[InShort, ...]


@dataclass(frozen=True, slots=True)
class FoundMark:
    """A mark with which the environment of the tests says that something failed.

    `trace` is the number of the trace that it is about, None if there is none; `index` that of the
    event there that it stands behind. `fault` is the number, among the faults of the trace, of the
    one that the model finds there too; if there is none, `why` says so and why."""

    text: str
    verdict: Verdict
    line: int
    time: Fraction | None
    trace: int | None
    index: int | None
    fault: int | None
    why: str = ""


@dataclass(frozen=True, slots=True)
class FoundTrace:
    """A trace. `name` is that of the log, and what of it this is. `events` counts them."""

    name: str
    file: str
    verdict: TraceVerdict
    line: int = 0
    events: int = 0
    faults: int = 0
    reason: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that could not be read in a log, or is to be known about it."""

    severity: str
    message: str
    line: int = 0
    hint: str = ""


@dataclass(frozen=True, slots=True)
class LogFindings:
    """All that one log tells. `absolute`: its dates count from 1970. `defect`: the log is broken
    for us only."""

    traces: tuple[FoundTrace, ...]
    faults: tuple[FoundFault, ...] = ()
    marks: tuple[FoundMark, ...] = ()
    problems: tuple[Problem, ...] = ()
    omitted: int = 0
    absolute: bool = False
    defect: bool = False


# ------------------------------------------------------------------------------- one of a class


@dataclass(frozen=True, slots=True)
class SeenEvent:
    """An event of a trace near a fault. `label` starts with its kind, as in `req ECUReset`."""

    index: int
    date: Fraction
    label: str
    text: str
    line: int
    role: Role


@dataclass(frozen=True, slots=True)
class Case:
    """A member of a class with all there is to know. `events`: those of the explanation, and those
    around them (as many as are needed to see what was left out); `omitted` counts those that are
    not told. `expected` and `observed` are in words, of which `others` says how many more there
    are in the explanation's fault."""

    rank: Rank
    explanation: Explanation
    events: tuple[SeenEvent, ...]
    omitted: int
    expected: str
    observed: str


# ----------------------------------------------------------------------------------- all of it


@dataclass(frozen=True, slots=True)
class Seen:
    """Where and when a class was seen. `date` is in seconds, since 1970 if it is `absolute`."""

    file: str
    trace: str
    line: int
    date: Fraction
    absolute: bool


@dataclass(frozen=True, slots=True)
class FaultClass:
    """Faults of one kind. `ident` is the same in all runs. `representative` and `members` are
    numbers of faults; `case` is the representative, its explanation the one that made the class.
    `events`: those of the explanation, as far as the model tells them apart; `constraints`: the
    atomic clock constraints, with `not` in front of those that do not hold."""

    ident: str
    kind: FaultKind
    representative: int
    members: tuple[int, ...]
    events: tuple[str, ...]
    constraints: tuple[str, ...]
    requirements: tuple[str, ...]
    expected: str
    observed: str
    first: Seen
    last: Seen
    case: Case
    status: ClassStatus = ""

    @property
    def size(self) -> int:
        return len(self.members)


@dataclass(frozen=True, slots=True)
class KnownClass:
    """A class of an earlier run."""

    ident: str
    size: int
    kind: str
    events: tuple[str, ...]
    constraints: tuple[str, ...]
    requirements: tuple[str, ...]
    expected: str
    observed: str
    first: Seen
    last: Seen


@dataclass(frozen=True, slots=True, kw_only=True)
class Triage:
    """The answer. `problems` has, by file, what is to be known of logs that were read. `marked[n]`
    is the number of a mark that says the same as fault n; None: only the model finds it. `gone`:
    classes of the earlier run that are not here any more. `complete`: all logs were looked at.
    `absolute` says of each trace whether its dates count from 1970."""

    model: str
    grouping: Grouping
    logs: int
    traces: tuple[FoundTrace, ...]
    faults: tuple[FoundFault, ...]
    marks: tuple[FoundMark, ...]
    marked: tuple[int | None, ...]
    classes: tuple[FaultClass, ...]
    gone: tuple[KnownClass, ...] = ()
    compared: bool = False
    verified: bool = False
    complete: bool = True
    defects: int = 0
    passed_over: tuple[str, ...] = ()
    absolute: tuple[bool, ...] = ()
    problems: Mapping[str, tuple[Diagnostic, ...]] = field(
        default_factory=lambda: MappingProxyType({})
    )
    #: The texts of requirements, by number.
    requirements: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def outcome(self) -> Outcome:
        """How it ended, in a word."""
        if self.defects:
            return "defect"
        if not self.complete:
            return "gave up"
        if self.of_verdict("broken"):
            return "bad"
        problems = (each for several in self.problems.values() for each in several)
        wrong = bool(self.faults) or any(each.severity == "error" for each in problems)
        return "found" if wrong else "nothing"

    def of_verdict(self, verdict: TraceVerdict) -> tuple[FoundTrace, ...]:
        return tuple(trace for trace in self.traces if trace.verdict == verdict)

    @property
    def found_by_both(self) -> int:
        return sum(mark is not None for mark in self.marked)

    @property
    def only_by_model(self) -> tuple[int, ...]:
        """The numbers of faults that nobody marked."""
        return tuple(n for n, mark in enumerate(self.marked) if mark is None)

    @property
    def only_by_environment(self) -> tuple[FoundMark, ...]:
        return tuple(mark for mark in self.marks if mark.fault is None)
