"""Fault trees, as values: a DAG of gates over basic events.

An event or a gate that is input of several gates is one node, known by its `ident`. Idents are
made of ASCII letters, digits and `_`, and start with a letter; names of the user's stand beside
them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from whence.model.partial_order import predecessors
from whence.source import NOWHERE, Diagnostic, InputError, Origin

__all__ = [
    "BasicEvent",
    "Detection",
    "FailureClass",
    "FaultTree",
    "Gate",
    "GateKind",
    "NonOccurrence",
    "absence_text",
    "check",
    "conditions_below",
    "detection",
    "events_below",
    "failure_class",
    "nodes",
    "order_below",
]

#: `pand`: all inputs come about, from left to right. `inhibit`: all inputs do, and what the
#: conditions exclude does not.
GateKind = Literal["or", "and", "pand", "inhibit"]
#: How many failure events there are: a single-point failure is one, a multiple-point failure
#: several (ISO 26262; Koelbl, section 7.4).
FailureClass = Literal["none", "single-point", "multiple-point"]
#: Of failure events together: one that nobody notices makes them undetected.
Detection = Literal["detected", "undetected", "unknown"]

_IDENT = re.compile(r"[A-Za-z]\w*", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class BasicEvent:
    """The `occurrence`th time (from 1) that an action happens. `failure`: it is a fault, which
    somebody notices (`detected`), or nobody, or (None) that is not known. `rate` is that of an
    exponential distribution."""

    ident: str
    action: str
    occurrence: int = 1
    failure: bool = False
    detected: bool | None = None
    probability: float | None = None
    rate: float | None = None
    component: str = ""
    origin: Origin = field(default=NOWHERE, compare=False)

    @property
    def name(self) -> str:
        return self.action if self.occurrence == 1 else f"{self.action}#{self.occurrence}"


@dataclass(frozen=True, slots=True, kw_only=True)
class NonOccurrence:
    """A condition: `action` does not happen after the basic event `after` (None: from the start)
    and before the basic event `before` (None: up to the top event)."""

    ident: str
    action: str
    after: str | None
    before: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """`inputs` are gates and basic events, from left to right; `conditions`, of an inhibit gate,
    are non-occurrences. `probability` is that of the gate's own event, where it is known."""

    ident: str
    kind: GateKind
    inputs: tuple[str, ...]
    conditions: tuple[str, ...] = ()
    label: str = ""
    probability: float | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultTree:
    """`top` is a gate: an or over the causes, each of which is one of its inputs."""

    name: str
    top: str
    gates: tuple[Gate, ...]
    events: tuple[BasicEvent, ...]
    conditions: tuple[NonOccurrence, ...] = ()
    notes: tuple[str, ...] = ()


Node = Gate | BasicEvent | NonOccurrence


def nodes(tree: FaultTree) -> dict[str, Node]:
    """Everything in a tree by its ident."""
    everything: tuple[Node, ...] = (*tree.gates, *tree.events, *tree.conditions)
    return {node.ident: node for node in everything}


def check(tree: FaultTree) -> None:
    """Raises InputError, with all that is wrong, where the values make no fault tree."""
    known = nodes(tree)
    wrong = [
        f"the ident {ident!r} is not made of ASCII letters, digits and _"
        for ident in known
        if not _IDENT.fullmatch(ident)
    ]
    if len(known) < len(tree.gates) + len(tree.events) + len(tree.conditions):
        wrong.append("two nodes have the same ident")
    if not isinstance(known.get(tree.top), Gate):
        wrong.append(f"the top {tree.top!r} is no gate of the tree")
    edges = []
    for gate in tree.gates:
        if not gate.inputs:
            wrong.append(f"the gate {gate.ident!r} has no inputs")
        if len(set(gate.inputs)) < len(gate.inputs):
            wrong.append(f"the gate {gate.ident!r} has the same input twice")
        for ident in gate.inputs:
            if isinstance(known.get(ident), Gate | BasicEvent):
                edges.append((ident, gate.ident))
            else:
                wrong.append(f"{ident!r}, an input of {gate.ident!r}, is no gate and no event")
        for ident in gate.conditions:
            if gate.kind != "inhibit":
                wrong.append(f"only inhibit gates have conditions, and {gate.ident!r} is none")
            if not isinstance(known.get(ident), NonOccurrence):
                wrong.append(f"{ident!r}, a condition of {gate.ident!r}, is no non-occurrence")
    for condition in tree.conditions:
        for end in (condition.after, condition.before):
            if end is not None and not isinstance(known.get(end), BasicEvent):
                wrong.append(f"{end!r}, an end of {condition.ident!r}, is no event")
    if wrong:
        raise InputError(Diagnostic(f"no fault tree: {what}") for what in wrong)
    predecessors(known, edges)


def events_below(tree: FaultTree, ident: str) -> tuple[BasicEvent, ...]:
    """The basic events of a node, as one meets them from left to right, each once."""
    return tuple(node for node in _below(tree, ident) if isinstance(node, BasicEvent))


def conditions_below(tree: FaultTree, ident: str) -> tuple[NonOccurrence, ...]:
    return tuple(node for node in _below(tree, ident) if isinstance(node, NonOccurrence))


def _below(tree: FaultTree, ident: str) -> Iterable[Node]:
    known = nodes(tree)
    seen: set[str] = set()
    waiting = [ident]
    while waiting:
        ident = waiting.pop()
        if ident in seen:
            continue
        seen.add(ident)
        node = known[ident]
        yield node
        if isinstance(node, Gate):
            waiting.extend(reversed((*node.inputs, *node.conditions)))


def order_below(tree: FaultTree, ident: str) -> dict[str, frozenset[str]]:
    """For each basic event of a node those that the ordered gates put before it (Koelbl,
    Definition 33): whatever is below an input comes before what is below the inputs to its right.

    Raises InputError where the gates describe no order: an or gate leaves open which events there
    are, and two ordered gates may contradict each other.
    """
    known = nodes(tree)
    below: dict[str, frozenset[str]] = {}
    pairs: set[tuple[str, str]] = set()
    for gate in _inputs_first(known, ident):
        if not isinstance(gate, Gate):
            below[gate.ident] = frozenset((gate.ident,))
            continue
        if gate.kind == "or":
            raise InputError(f"the events below the or gate {gate.ident!r} have no order")
        earlier: frozenset[str] = frozenset()
        for one in gate.inputs:
            if gate.kind == "pand":
                pairs.update((first, then) for first in earlier for then in below[one])
            earlier |= below[one]
        below[gate.ident] = earlier
    return predecessors(below[ident], pairs)


def _inputs_first(known: Mapping[str, Node], ident: str) -> Iterable[Gate | BasicEvent]:
    done: set[str] = set()
    waiting = [ident]
    while waiting:
        node = known[waiting[-1]]
        assert not isinstance(node, NonOccurrence)
        missing = [one for one in node.inputs if one not in done] if isinstance(node, Gate) else []
        if missing:
            waiting.extend(missing)
            continue
        waiting.pop()
        if node.ident not in done:
            done.add(node.ident)
            yield node


def failure_class(events: Iterable[BasicEvent]) -> FailureClass:
    count = sum(event.failure for event in events)
    return "none" if count == 0 else "single-point" if count == 1 else "multiple-point"


def detection(events: Iterable[BasicEvent]) -> Detection | None:
    """None where no event is a failure."""
    known = [event.detected for event in events if event.failure]
    if not known:
        return None
    return "undetected" if False in known else "unknown" if None in known else "detected"


def absence_text(tree: FaultTree, condition: NonOccurrence) -> str:
    """`no Cl between Cc and Tc`."""
    names = {event.ident: event.name for event in tree.events}
    text = f"no {condition.action}"
    if condition.after is not None and condition.before is not None:
        return f"{text} between {names[condition.after]} and {names[condition.before]}"
    if condition.after is not None:
        return f"{text} after {names[condition.after]}"
    return text if condition.before is None else f"{text} before {names[condition.before]}"
