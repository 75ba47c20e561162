"""Charts: concurrent state machines with variables, guards, effects and messages, as SysML, UML
and statecharts have them (Koelbl, section 3.1; Peleska et al., section 2).

These are values without behaviour, and all texts are as they were written.  What a chart means is
said by who reads it: :mod:`whence.explore.charts` interleaves machines that send each other
messages through queues, :mod:`whence.testing` has all machines step at once, with timers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from whence.source import NOWHERE, Diagnostic, Origin, SourceText

__all__ = [
    "Assign",
    "Chart",
    "ChartState",
    "ChartTransition",
    "ChartVariable",
    "Effect",
    "Hazard",
    "Machine",
    "Requirement",
    "Send",
    "Signal",
    "StateKind",
    "UserGoal",
    "VariableType",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class VariableType:
    """`int`: from `lo` to `hi`, both included; with `wrap`, arithmetic is modulo their distance.
    `enum`: one of `members`, which are numbered from 0. `float`: within `bounds`, if these are
    known; with `step`, a fixed-point number. `bits`: 32 or 64, the size of a floating-point number
    whose arithmetic is that of IEEE 754; 0 where that is not said (it is 32 then). `timer` has no
    parameters."""

    kind: Literal["bool", "int", "enum", "float", "timer"]
    lo: int = 0
    hi: int = 0
    wrap: bool = False
    members: tuple[str, ...] = ()
    name: str = ""
    bounds: tuple[Fraction, Fraction] | None = None
    #: Of a fixed-point number: it is a multiple of that (1/k). None: a floating-point number.
    step: Fraction | None = None
    bits: Literal[0, 32, 64] = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartVariable:
    """A variable of a machine (`Gate.open` for others) or, without an owner, of all."""

    name: str
    type: VariableType
    role: Literal["internal", "input", "output", "constant"] = "internal"
    initial: SourceText | None = None
    origin: Origin = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """A kind of message."""

    name: str
    origin: Origin = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Assign:
    """Assignments, as the expression language has them: `open = true, count += 1`."""

    text: SourceText


@dataclass(frozen=True, slots=True)
class Send:
    """Puts a message into the queue of the machine `target`; None: of each machine that has a
    transition which such a message triggers."""

    signal: str
    target: str | None = None
    origin: Origin = field(default=NOWHERE, compare=False)


Effect = Assign | Send

StateKind = Literal[
    "simple", "composite", "initial", "final", "choice", "junction", "terminate", "history"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartState:
    """A state or pseudostate. `ident` is unique in its machine; `parent` is the `ident` of the
    composite state that it stands in. `failure`: to be in it is a failure (an error state).
    `tags` are what else was written at it (`@error`, stereotypes)."""

    ident: str
    name: str
    kind: StateKind = "simple"
    parent: str | None = None
    entry: tuple[Effect, ...] = ()
    exit: tuple[Effect, ...] = ()
    do: tuple[Effect, ...] = ()
    failure: bool = False
    tags: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()
    position: tuple[int, int] | None = None
    origin: Origin = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartTransition:
    """`source` and `target` are `ident`s. `trigger` is the signal that it takes from the queue;
    `guard` None is true; `otherwise`: taken where no other transition of its choice can be.

    `event` is what it is called in traces; None: after the state that it reaches.
    `rate`: so many times in the chart's unit of time, if it is a matter of chance; `failure`: it
    is a fault, and `detected` whether somebody notices it. `internal`: no state is left or entered.
    A smaller `priority` goes first, where the reader gives priorities a meaning.
    """

    ident: str
    source: str
    target: str
    trigger: str | None = None
    guard: SourceText | None = None
    otherwise: bool = False
    effects: tuple[Effect, ...] = ()
    event: str | None = None
    rate: Fraction | None = None
    failure: bool = False
    detected: bool | None = None
    internal: bool = False
    priority: int | None = None
    requirements: tuple[str, ...] = ()
    origin: Origin = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """One state machine with its variables and its queue of messages.

    `capacity`: how many messages the queue holds. `when_full`: whether a sender has to wait, or
    the message is lost. `unexpected`: what becomes of a message at the head of the queue that no
    transition takes in the present state: it stays (`keep`), or is dropped (`discard`).
    """

    name: str
    states: tuple[ChartState, ...]
    transitions: tuple[ChartTransition, ...]
    variables: tuple[ChartVariable, ...] = ()
    capacity: int = 2
    when_full: Literal["block", "lose"] = "block"
    unexpected: Literal["keep", "discard"] = "keep"
    #: Whether it belongs to the environment, and not to the system itself.
    environment: bool = False
    requirements: tuple[str, ...] = ()
    origin: Origin = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hazard:
    """A named condition on states that must not come true or, if `temporal`, a formula of
    temporal logic that must hold."""

    name: str
    text: SourceText
    temporal: bool = False
    origin: Origin = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    ident: str
    text: str = ""
    origin: Origin = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class UserGoal:
    """A formula of temporal logic that some test has to make true, and what it then satisfies.
    An `optional` one comes with a model made elsewhere: where it cannot be read, it stays open."""

    name: str
    text: SourceText
    requirements: tuple[str, ...] = ()
    optional: bool = False
    origin: Origin = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    name: str
    machines: tuple[Machine, ...]
    variables: tuple[ChartVariable, ...] = ()
    signals: tuple[Signal, ...] = ()
    hazards: tuple[Hazard, ...] = ()
    requirements: tuple[Requirement, ...] = ()
    goals: tuple[UserGoal, ...] = ()
    #: What rates count by: a rate of 2 is twice an hour, a minute or a second.
    time_unit: Literal["hour", "minute", "second"] = "hour"
    #: What its reader left out of the file, or read otherwise than the file's users may expect.
    notes: tuple[Diagnostic, ...] = field(default=(), compare=False)
    origin: Origin = field(default=NOWHERE, compare=False)
