"""Timed charts as section 2 has them: all names resolved, every expression checked.

The state of a model is one integer for each symbol: the basic control state of each machine, the
variables, and for each timer its *age*, which is the time since its last reset, up to the largest
constant that it is compared with.  Beyond that constant all ages mean the same, so that a state
needs no clock time, and equal states have equal futures.

Floating-point inputs that are only compared with whole numbers are kept in halves: 2·v where v is
whole, and the odd number between for what lies between two whole numbers.  That is exact.  Other
floating-point numbers are kept as their ordinals (:mod:`whence.expr.ieee`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Literal

from whence.expr.ieee import Format, written
from whence.expr.tree import Expr, Symbol
from whence.model.chart import Requirement, UserGoal
from whence.source import NOWHERE, Diagnostic, Origin, SourceText

__all__ = [
    "Elapsed",
    "Location",
    "Role",
    "TimedMachine",
    "TimedModel",
    "Transition",
    "Variable",
    "Write",
]

Role = Literal["internal", "input", "output", "timer", "choice"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """`initial`: its default value. `scale`: it holds that many times its value (2: halves).
    `wrap`: arithmetic is modulo this range. A `choice` is what the environment decides by itself
    (which of several transitions, whether a timer between two bounds has elapsed): it is not
    controlled by a test. `driven`: an input that a machine of the environment sets. `real`: the
    bounds of a floating-point number in halves, or (`fixed`) of a multiple of 1/`scale`. `ieee`: it
    is the ordinal of a floating-point number of this format."""

    symbol: Symbol
    role: Role
    initial: int
    limits: tuple[int, int]
    wrap: bool = False
    driven: bool = False
    real: tuple[Fraction, Fraction] | None = None
    scale: int = 1
    fixed: bool = False
    ieee: Format | None = None
    boolean: bool = False
    members: tuple[str, ...] = ()
    origin: Origin = field(default=NOWHERE, compare=False)

    @property
    def name(self) -> str:
        return str(self.symbol)

    @property
    def free(self) -> bool:
        """Whether it can have any value after a wait: an input that tests control, or a choice."""
        return self.role == "choice" or (self.role == "input" and not self.driven)

    def shown(self, value: int) -> str:
        """A value of it, as results have it."""
        if self.members:
            return self.members[value]
        if self.boolean:
            return "true" if value else "false"
        if self.ieee is not None:
            return written(value, self.ieee)
        if self.real is not None:
            return str(min(max(Fraction(value, self.scale), self.real[0]), self.real[1]))
        return str(value)


@dataclass(frozen=True, slots=True)
class Write:
    """(v, e) of a value assignment; a reset of a timer sets its age to 0."""

    variable: Symbol
    value: Expr
    origin: Origin = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """A location l of L(s). `number` counts them in depth-first order; number 0 is the machine s
    itself. The basic control states below it are `first .. last`, in the order of these numbers.
    `start` is the initial location in it, and `start_action` what is assigned on the way there:
    the start locations in composite states are never active. That of the machine is: it is a
    basic control state like others (`pseudo`)."""

    number: int
    ident: str
    name: str
    parent: int | None
    children: tuple[int, ...] = ()
    first: int = 0
    last: int = 0
    start: int | None = None
    start_action: tuple[Write, ...] = ()
    pseudo: bool = False
    do: tuple[Write, ...] = ()
    entry: tuple[Write, ...] = ()
    exit: tuple[Write, ...] = ()
    requirements: tuple[str, ...] = ()
    origin: Origin = field(default=NOWHERE, compare=False)

    @property
    def basic(self) -> bool:
        return not self.children


@dataclass(frozen=True, slots=True, kw_only=True)
class Transition:
    """(source, priority, guard, action, target); `guard` None is true. `number` counts those of
    its machine. An `internal` one neither leaves nor enters."""

    number: int
    source: int
    target: int
    priority: int
    guard: Expr | None
    action: tuple[Write, ...] = ()
    internal: bool = False
    text: str = ""
    requirements: tuple[str, ...] = ()
    origin: Origin = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Elapsed:
    """A condition elapsed(t, c) that stands in a guard."""

    age: Symbol
    constant: int


@dataclass(frozen=True, eq=False, kw_only=True)
class TimedMachine:
    """`control` is the symbol that holds the number of the active basic control state."""

    name: str
    number: int
    control: Symbol
    locations: tuple[Location, ...]
    transitions: tuple[Transition, ...]
    environment: bool = False
    #: Its environment's choice among transitions that are enabled alike, if there are such.
    choice: Symbol | None = None
    origin: Origin = NOWHERE

    @cached_property
    def basics(self) -> tuple[Location, ...]:
        """BCS(s), in order."""
        return tuple(location for location in self.locations if location.basic)

    @cached_property
    def outgoing(self) -> tuple[tuple[Transition, ...], ...]:
        """w_s: the transitions that leave each location, those of start locations included."""
        found: list[list[Transition]] = [[] for _ in self.locations]
        for transition in self.transitions:
            found[transition.source].append(transition)
        return tuple(tuple(leaving) for leaving in found)

    def upward(self, location: int) -> tuple[int, ...]:
        """l..s: a location and all those around it, outwards, the machine itself last."""
        path = [location]
        while (parent := self.locations[path[-1]].parent) is not None:
            path.append(parent)
        return tuple(path)

    def path(self, location: int) -> str:
        """What it is called in results."""
        ident = self.locations[location].ident
        return f"{self.name}.{ident}" if ident else self.name


@dataclass(frozen=True, eq=False, kw_only=True)
class TimedModel:
    name: str
    file: str
    machines: tuple[TimedMachine, ...]
    variables: tuple[Variable, ...]
    elapsed: tuple[Elapsed, ...] = ()
    requirements: tuple[Requirement, ...] = ()
    goals: tuple[UserGoal, ...] = ()
    #: Reads a condition on states as users write it.
    formulas: Callable[[SourceText], Expr]
    #: What is wrong with the model, though it has a meaning.
    findings: tuple[Diagnostic, ...] = ()

    @cached_property
    def symbols(self) -> tuple[Symbol, ...]:
        """What a state has, in its order."""
        return (*(m.control for m in self.machines), *(v.symbol for v in self.variables))

    @cached_property
    def place(self) -> dict[Symbol, int]:
        return {symbol: number for number, symbol in enumerate(self.symbols)}

    @cached_property
    def variable_of(self) -> dict[Symbol, Variable]:
        return {variable.symbol: variable for variable in self.variables}

    def having(self, *roles: Role) -> tuple[Variable, ...]:
        return tuple(variable for variable in self.variables if variable.role in roles)

    @cached_property
    def longest(self) -> int:
        """No wait needs to be longer: all timers have elapsed then. (At least a second, so that
        inputs of models without timers do not change every millisecond.)"""
        return max((elapsed.constant for elapsed in self.elapsed), default=0) or 1000
