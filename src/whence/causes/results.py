"""What the analysis of causes answers: values only.

An event is an occurrence of an action: in a trace in which `a` happens twice, the events are
`a#1` and `a#2` (Koelbl, section 3.2); where every action of a cause happens once, the event of `a`
is written `a`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from whence.model.transitions import Action

__all__ = ["Absent", "Cause", "CausesResult", "Event", "Order"]


@dataclass(frozen=True, slots=True, order=True)
class Event:
    """The `occurrence`th time (from 1) that an action happens."""

    action: str
    occurrence: int = 1

    def __str__(self) -> str:
        return self.action if self.occurrence == 1 else f"{self.action}#{self.occurrence}"


#: A strict partial order as the pairs (earlier, later) of its transitive reduction (the direct
#: dependencies of Definition 31).
Order = frozenset[tuple[Event, Event]]


@dataclass(frozen=True, slots=True)
class Absent:
    """A non-occurrence event (Definition 29): `action` must not happen after `after` (None: from
    the start) and before `before` (None: up to the hazard)."""

    action: str
    after: Event | None
    before: Event | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """A set of events in an order that leads to the hazard: of Definition 22 (a weak cause), or,
    where the system decides by the order of events alone, of Definition 28, with what must not
    happen in between.

    `traces` is how many causal traces it stands for. `exact`: each sequence of its events that
    keeps to the order is one of them; otherwise the order admits more (Definition 35 allows it).
    `example` is one causal trace. `probability`: that the hazard comes about in the time asked
    for, by a run that has this cause; a run may have several causes.
    """

    ident: int
    events: tuple[Event, ...]
    order: Order
    traces: int
    exact: bool
    absent: tuple[Absent, ...] = ()
    example: tuple[str, ...] = ()
    probability: float | None = None
    #: The number of failure events; ISO 26262 calls a cause with one a single-point failure.
    failures: int = 0
    #: Whether some failure event in it is noticed by nobody.
    undetected: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CausesResult:
    """All causes of a hazard, the smallest first.

    `verdict`: `violated` where the hazard can come about. `initially`: it holds from the start,
    and so has no cause (there is no counterfactual). `complete`: all causes were found; otherwise
    all whose traces are no longer than `depth`, for `reason`. `deterministic`: whether the events
    alone decide if the hazard comes about (only then are there causes by Definition 28).
    """

    model: str
    hazard: str
    verdict: Literal["satisfied", "violated", "unknown"]
    states: int
    transitions: int
    causes: tuple[Cause, ...] = ()
    causal_traces: int = 0
    initially: bool = False
    complete: bool = True
    depth: int | None = None
    reason: str = ""
    deterministic: bool | None = None
    probability: float | None = None
    #: The time within which probabilities say that the hazard comes about, as it was asked for.
    time: str = ""
    actions: tuple[Action, ...] = ()
    seconds: float = 0.0
    notes: tuple[str, ...] = field(default=())
