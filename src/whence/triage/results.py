"""What triage answers: faults, their explanations, and classes of explanations.

Values only: they can be shown, written down and checked without the code that found them. Dates
and delays are in seconds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, TypeAlias

from whence.model.prd import TimedEvent
from whence.source import NOWHERE, Origin

__all__ = [
    "FAULT_KINDS",
    "GROUPINGS",
    "Atom",
    "Class",
    "Classes",
    "Expected",
    "Explanation",
    "Fault",
    "FaultKind",
    "Gap",
    "Grouping",
    "Literal_",
    "Localization",
    "Resynchronised",
    "StateAssertion",
    "Template",
    "Window",
]

#: `value`: the event was possible there, but not with these values. `early`, `late`: not at this
#: time. `missing`: what had to come first has not come. `unexpected`: not possible there at all.
FaultKind: TypeAlias = Literal["value", "early", "late", "missing", "unexpected"]
FAULT_KINDS: tuple[FaultKind, ...] = ("value", "early", "late", "missing", "unexpected")

#: How the replay went on after a fault, see :mod:`whence.triage.localize`.
Resynchronised: TypeAlias = Literal[
    "believed", "late", "alike", "skipped", "anywhere", "ignored", "end"
]


@dataclass(frozen=True, slots=True)
class Window:
    """A time span since the event before. `latest` None: there is no end."""

    earliest: Fraction
    latest: Fraction | None
    earliest_strict: bool = False
    latest_strict: bool = False

    def __str__(self) -> str:
        left = "(" if self.earliest_strict else "["
        right = ")" if self.latest_strict or self.latest is None else "]"
        return f"{left}{self.earliest}, {'∞' if self.latest is None else self.latest}{right}"


@dataclass(frozen=True, slots=True)
class Expected:
    """Events that the model would have accepted: on the transition with this number, at these
    times, with these values of what it captures (`val == 5`)."""

    transition: int
    text: str
    window: Window
    values: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()
    origin: Origin = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Fault:
    """Where a trace and the model diverge.

    `index` is that of the event among the events of the trace, None at its end. `number` counts
    the faults of the trace. `since` is the number of events before the segment that the fault ends:
    0, or one more than the index of the fault before. `violated` are the transitions that the event
    would have taken, were it not for their guards, or the Δ transitions that time ran out of.
    """

    trace: str
    number: int
    index: int | None
    event: TimedEvent | None
    date: Fraction
    kind: FaultKind
    since: int
    states: tuple[str, ...]
    expected: tuple[Expected, ...]
    violated: tuple[int, ...]
    requirements: tuple[str, ...]
    resynchronised: Resynchronised
    origin: Origin = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Localization:
    """All faults of a trace, in order."""

    trace: str
    events: int
    faults: tuple[Fault, ...]


@dataclass(frozen=True, slots=True)
class Literal_:
    """A constraint on memory (`variable` has one of `values`, which are intervals) or on clocks
    (`clock`, less `minus` if that is given, is related to the bound, in seconds)."""

    text: str
    variable: str = ""
    values: tuple[tuple[int, int], ...] = ()
    clock: str = ""
    minus: str = ""
    operator: Literal["<", "<=", ">", ">="] = "<="
    bound: Fraction = Fraction(0)

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class StateAssertion:
    """What an intermediary assertion says of a state: all clauses hold, each of which says that
    one of its constraints does. Without clauses it is true. `always` holds in this state in all
    runs of the model, and goes without saying."""

    state: str
    clauses: tuple[tuple[Literal_, ...], ...]
    always: tuple[Literal_, ...] = ()

    def __str__(self) -> str:
        several = len(self.clauses) > 1
        texts = []
        for clause in self.clauses:
            text = " || ".join(literal.text for literal in clause) or "false"
            texts.append(f"({text})" if several and len(clause) > 1 else text)
        return f"{self.state}: {' && '.join(texts) or 'true'}"


Assertion: TypeAlias = tuple[StateAssertion, ...]


@dataclass(frozen=True, slots=True)
class Gap:
    """The time between two events of an explanation. `dropped` are the indices of the irrelevant
    events there; `kept`: their time still counts (the second rule of Becker, section 4). `matters`:
    without this time there would be no such fault, as far as the proof tells."""

    time: Fraction
    dropped: tuple[int, ...] = ()
    kept: bool = True
    matters: bool = True


@dataclass(frozen=True, slots=True)
class Atom:
    """An atomic clock constraint of a template: of the assertion number `position` (2i: before
    event i's time has passed, 2i + 1: after it). `clock` plus the times u_first .. u_last is
    related to the bound; `minus`: the difference of two clocks. With `clock` "" only times count.
    """

    position: int
    text: str
    operator: Literal["<", "<=", ">", ">="]
    bound: Fraction
    first: int
    last: int
    clock: str = ""
    minus: str = ""


@dataclass(frozen=True, slots=True)
class Template:
    """The proof template (Becker, section 5) of a sequence of events: what they are, as far as the
    model can tell them apart, and the atomic clock constraints of its assertions."""

    key: str
    events: tuple[str, ...]
    atoms: tuple[Atom, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """The events that are sufficient for a fault, and a Hoare proof that they are.

    `events` are indices into the trace; `gaps[i]` is the time before event i. The last event is
    that of the fault, if there is one. At the end of a trace there is one gap more than events. If
    time itself is the fault (`of_time`), the proof ends with the last gap, and an event that came
    too late stands after it, as what was seen.
    `after[i]`, `before[i]`: the assertions at the beginning and the end of gap i. `rebased`: the
    proof begins with any initial configuration, and not only with those after the fault before.
    `signature` and `satisfied` (which atoms of the template can be satisfied with these times) make
    the class; `complete` is false where there may be more explanations than were looked for.
    """

    fault: Fault
    events: tuple[int, ...]
    gaps: tuple[Gap, ...]
    after: tuple[Assertion, ...]
    before: tuple[Assertion, ...]
    rebased: bool
    signature: tuple[str, ...]
    template: Template
    satisfied: tuple[bool, ...]
    key: str
    of_time: bool
    complete: bool = True


#: Which explanations make a class: those that are similar (Becker, section 5); those with the same
#: events and violated transitions, whatever the times and values; those of the same requirements.
Grouping: TypeAlias = Literal["similar", "events", "requirements"]
GROUPINGS: tuple[Grouping, ...] = ("similar", "events", "requirements")


@dataclass(frozen=True, slots=True)
class Class:
    """Explanations of one kind. `key` is the same in all runs; `representative` and `members` are
    numbers in the sequence that was classified."""

    key: str
    representative: int
    members: tuple[int, ...]
    events: tuple[str, ...]
    constraints: tuple[str, ...]
    requirements: tuple[str, ...]

    @property
    def size(self) -> int:
        return len(self.members)


@dataclass(frozen=True, slots=True)
class Classes:
    """A partition of explanations; the largest class first."""

    grouping: Grouping
    classes: tuple[Class, ...]
    of: tuple[int, ...]
