"""The fault tree of a hazard: an or over its causes, each with its causal tree (Koelbl, section
6.2).

Basic events are shared: `Cc` in two causes is one node. What must not happen in a cause is a
condition of an inhibit gate above its causal tree.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from whence.causes.causal_tree import causal_tree
from whence.causes.results import Absent, Cause, CausesResult, Event
from whence.model.fault_tree import BasicEvent, FaultTree, Gate, GateKind, NonOccurrence, check
from whence.model.transitions import Action
from whence.source import InputError, UsageError

__all__ = ["basic_events", "fault_tree"]

_TOP = "top"


def fault_tree(
    result: CausesResult,
    rates: Mapping[str, float] | None = None,
    probabilities: Mapping[str, float] | None = None,
) -> FaultTree:
    """`rates` and `probabilities` are those of actions, where they are known.

    Raises UsageError where there is no cause that a tree could show."""
    if not result.causes:
        raise UsageError(f"there is no fault tree of {result.hazard}: {_why_no_causes(result)}")
    events = basic_events(result, rates or {}, probabilities or {})
    builder = _Builder(events)
    causes = [builder.cause(cause) for cause in result.causes]
    top = Gate(
        ident=_TOP,
        kind="or",
        inputs=tuple(causes),
        label=result.hazard,
        probability=result.probability,
    )
    tree = FaultTree(
        name=result.model,
        top=_TOP,
        gates=(top, *builder.gates),
        events=tuple(events.values()),
        conditions=tuple(builder.conditions.values()),
        notes=_notes(result),
    )
    check(tree)
    return tree


def _why_no_causes(result: CausesResult) -> str:
    if result.initially:
        return "it holds from the start, and so nothing causes it"
    if result.verdict == "satisfied":
        return "it cannot come about"
    return result.reason or "no cause of it was found"


def _notes(result: CausesResult) -> tuple[str, ...]:
    notes = list(result.notes)
    if not result.complete:
        depth = "" if result.depth is None else f" of at most {result.depth} events"
        reason = f": {result.reason}" if result.reason else ""
        notes.insert(0, f"Only the causes whose traces are{depth or ' short'} are shown{reason}.")
    if result.time and result.probability is not None:
        notes.append(f"Probabilities are for a time of {result.time}.")
    return tuple(notes)


def basic_events(
    result: CausesResult,
    rates: Mapping[str, float] | None = None,
    probabilities: Mapping[str, float] | None = None,
) -> dict[Event, BasicEvent]:
    """The events of all causes, in the order in which the causes have them."""
    actions = {action.name: action for action in result.actions}
    events = list(dict.fromkeys(event for cause in result.causes for event in cause.events))
    found = {}
    for number, event in enumerate(events, 1):
        # Systems that were made by hand may not tell their actions.
        action = actions.get(event.action, Action(name=event.action))
        found[event] = BasicEvent(
            ident=f"e{number}",
            action=event.action,
            occurrence=event.occurrence,
            failure=action.failure,
            detected=action.detected if action.failure else None,
            probability=(probabilities or {}).get(event.action),
            rate=(rates or {}).get(event.action),
            component=action.component,
            origin=action.origin,
        )
    return found


class _Builder:
    def __init__(self, events: Mapping[Event, BasicEvent]) -> None:
        self.events = events
        self.gates: list[Gate] = []
        self.conditions: dict[Absent, NonOccurrence] = {}

    def cause(self, cause: Cause) -> str:
        """The gates of a cause; the uppermost one, which is returned, stands for it."""
        name = f"cause{cause.ident}"
        nodes = causal_tree(cause.events, cause.order).nodes
        absent = [self._condition(cause, one) for one in cause.absent]
        idents: list[str] = []
        inner: list[Gate] = []
        for node in nodes:
            if node.event is not None:
                idents.append(self.events[node.event].ident)
                continue
            kind: GateKind = "and" if node.kind == "and" else "pand"
            inputs = tuple(idents[one] for one in node.inputs)
            idents.append(f"{name}_{len(inner) + 1}")
            inner.append(Gate(ident=idents[-1], kind=kind, inputs=inputs))
        if absent:
            root = Gate(ident=name, kind="inhibit", inputs=(idents[-1],), conditions=tuple(absent))
        else:
            # The gate of the cause is the root of its causal tree, if that is a gate.
            root = inner.pop() if inner else Gate(ident=name, kind="and", inputs=(idents[-1],))
        self.gates.append(
            replace(
                root,
                ident=name,
                label=f"Cause {cause.ident}",
                probability=cause.probability,
                notes=_cause_notes(cause),
            )
        )
        # From the top down.
        self.gates.extend(reversed(inner))
        return name

    def _condition(self, cause: Cause, absent: Absent) -> str:
        for event in (absent.after, absent.before):
            if event is not None and event not in cause.events:
                raise InputError(f"cause {cause.ident} speaks of {event}, which is no event of it")
        if absent not in self.conditions:
            self.conditions[absent] = NonOccurrence(
                ident=f"n{len(self.conditions) + 1}",
                action=absent.action,
                after=None if absent.after is None else self.events[absent.after].ident,
                before=None if absent.before is None else self.events[absent.before].ident,
            )
        return self.conditions[absent].ident


def _cause_notes(cause: Cause) -> tuple[str, ...]:
    if cause.exact:
        return ()
    return ("The order admits more sequences than lead to the hazard.",)
