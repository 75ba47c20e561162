"""PRD automata: what the requirements allow (Becker et al., section 2), and the traces that are
replayed on them.

An automaton (Q, →, S, E, V, C) has states, memory variables, clocks, transitions on events and
transitions on time (Δ). Time passes in Δ transitions only: a state without one does not let time
pass. The guard of a Δ transition is read at the end of the time that it takes, and any time may be
cut into parts, each taken by a transition of its own.

A transition is labelled by a *pattern*, which stands for the many events that it matches, and may
capture values of their fields for its guard and its updates. Events that are not in the alphabet
are no matter of the automaton's: what it does not match anywhere is a fault.

Values only: what patterns match and what guards mean is told here and carried out elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import Literal, TypeAlias

from whence.source import NOWHERE, Origin

__all__ = [
    "ANY_EVENT",
    "TRUE",
    "AllOf",
    "AnyOf",
    "Arithmetic",
    "ArithmeticOperator",
    "Assignment",
    "Captured",
    "Clock",
    "ClockBound",
    "Comparison",
    "Constant",
    "EventPattern",
    "EventTrace",
    "FieldPattern",
    "FieldValue",
    "Guard",
    "Initial",
    "Not",
    "Operator",
    "PrdAutomaton",
    "PrdTransition",
    "Read",
    "State",
    "Term",
    "TimedEvent",
    "Variable",
]


# --------------------------------------------------------------------------------------- traces

FieldValue: TypeAlias = int | str | bytes


@dataclass(frozen=True, slots=True)
class TimedEvent:
    """An event of a trace. `label` is what kind of event it is (`req CTR get`), `fields` its
    parameters; `text` how people write it, if not as label and fields. `index` is its place in the
    log that it comes from."""

    date: Fraction
    label: str
    fields: Mapping[str, FieldValue] = field(default_factory=lambda: MappingProxyType({}))
    index: int = 0
    text: str = ""
    origin: Origin = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class EventTrace:
    """Events in the order of their dates, between `start` and `end`.

    `start` None: the first event is the beginning. `end` None: the last event is the end.
    `complete`: nothing more was to come: a response that is still awaited at the end is missing.
    Otherwise the recording stopped, and only the time up to `end` counts.
    """

    name: str
    events: tuple[TimedEvent, ...]
    start: Fraction | None = None
    end: Fraction | None = None
    complete: bool = True
    origin: Origin = field(default=NOWHERE, compare=False)


# ------------------------------------------------------------------------------ memory and clocks


@dataclass(frozen=True, slots=True)
class Variable:
    """A memory variable with the integers `low .. high`, or with the names of an enumeration,
    whose values count from 0 (then `low` is 0 and `high` the last). `initial` None: any value."""

    name: str
    low: int = 0
    high: int = 255
    names: tuple[str, ...] = ()
    initial: int | None = None
    origin: Origin = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Clock:
    """`initial` None: any value that is not negative (as in the paper)."""

    name: str
    initial: Fraction | None = None
    origin: Origin = field(default=NOWHERE, compare=False)


# --------------------------------------------------------------------------------- terms, guards

Operator: TypeAlias = Literal["==", "!=", "<", "<=", ">", ">="]
ArithmeticOperator: TypeAlias = Literal["+", "-", "*", "//", "%", "&", "|", "^", "<<", ">>"]


@dataclass(frozen=True, slots=True)
class Constant:
    value: int


@dataclass(frozen=True, slots=True)
class Read:
    """The value of a memory variable before the transition."""

    variable: str


@dataclass(frozen=True, slots=True)
class Captured:
    """A value that the pattern of the transition captures: an integer; a text is the value of that
    name in the enumeration that it is compared with or assigned to; bytes are a number, the most
    significant first."""

    name: str


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """Integers; `//` and `%` round down, and what is divided by zero has no value: a comparison
    with it is false, an assignment of it is not possible."""

    operator: ArithmeticOperator
    left: Term
    right: Term


Term: TypeAlias = Constant | Read | Captured | Arithmetic


@dataclass(frozen=True, slots=True)
class Comparison:
    """Of memory, captured values and constants. Never of clocks."""

    left: Term
    operator: Operator
    right: Term


@dataclass(frozen=True, slots=True)
class ClockBound:
    """`clock ~ bound`, or `clock - minus ~ bound`, in seconds."""

    clock: str
    operator: Operator
    bound: Fraction
    minus: str = ""


@dataclass(frozen=True, slots=True)
class AllOf:
    """True without parts."""

    parts: tuple[Guard, ...] = ()


@dataclass(frozen=True, slots=True)
class AnyOf:
    """False without parts."""

    parts: tuple[Guard, ...] = ()


@dataclass(frozen=True, slots=True)
class Not:
    part: Guard


Guard: TypeAlias = Comparison | ClockBound | AllOf | AnyOf | Not
TRUE = AllOf()


# --------------------------------------------------------------------------------------- patterns


@dataclass(frozen=True, slots=True)
class FieldPattern:
    """What a field may be: one of `values`, or in one of `ranges` (both ends included), or fully
    matched by `regex`; with none of the three, anything. `capture` names its value.

    The regular expression is one of Python, over text, or over bytes as Latin-1 characters
    (`\\x22\\xf1[\\x80-\\x9f].*`, where `.` is any byte); its named groups are captured too.
    `required` false: an event without the field matches as well (and captures nothing: guards that
    compare the captured value are false then).
    """

    name: str
    values: frozenset[FieldValue] = frozenset()
    ranges: tuple[tuple[int, int], ...] = ()
    regex: str = ""
    capture: str = ""
    required: bool = True


@dataclass(frozen=True, slots=True)
class EventPattern:
    """Matches events that have one of `labels` (none given: any label), whose fields are as
    `fields` say (other fields do not matter), that match all of `also` and none of `unless`.

    What `also` captures is captured; the product of automata joins patterns by it."""

    labels: frozenset[str] = frozenset()
    fields: tuple[FieldPattern, ...] = ()
    also: tuple[EventPattern, ...] = ()
    unless: tuple[EventPattern, ...] = ()
    text: str = field(default="", compare=False)


ANY_EVENT = EventPattern()


# -------------------------------------------------------------------------------------- automata


@dataclass(frozen=True, slots=True)
class State:
    """`awaits` tells what has to come in this state, if anything ("the response to get"): a trace
    that is complete and ends here is incomplete by a response that is missing."""

    name: str
    awaits: str = ""
    requirements: tuple[str, ...] = ()
    origin: Origin = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Assignment:
    """All assignments of a transition happen at once. A value outside the variable's range is not
    possible: the range is part of the guard."""

    variable: str
    value: Term


@dataclass(frozen=True, slots=True)
class PrdTransition:
    """From state to state (by name), on the events of a pattern, or (`pattern` None) on time.
    `resets` are clocks set to 0."""

    source: str
    target: str
    pattern: EventPattern | None
    guard: Guard = TRUE
    assignments: tuple[Assignment, ...] = ()
    resets: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()
    name: str = ""
    origin: Origin = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Initial:
    """A state to start in, where the guard (without captures) holds."""

    state: str
    guard: Guard = TRUE


@dataclass(frozen=True, slots=True, kw_only=True)
class PrdAutomaton:
    """Names are unique within `states`, `variables` and `clocks`, and these are disjoint."""

    name: str = ""
    states: tuple[State, ...]
    initial: tuple[Initial, ...]
    transitions: tuple[PrdTransition, ...]
    variables: tuple[Variable, ...] = ()
    clocks: tuple[Clock, ...] = ()
    origin: Origin = field(default=NOWHERE, compare=False)
