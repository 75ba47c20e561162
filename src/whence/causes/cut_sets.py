"""What fails in the causes of a hazard, in the words of ISO 26262 (Koelbl, section 7.4).

A cause with one failure event is a single-point failure, one with several a multiple-point
failure; with a failure event that nobody notices it is an undetected failure, and a multiple-point
failure that is undetected is latent. Cut sets say the same about sets of events, whatever their
order: a set is minimal if no other cause needs only a part of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import fsum
from typing import Literal

from whence.causes.fault_tree import basic_events
from whence.causes.results import Cause, CausesResult, Event
from whence.model.fault_tree import BasicEvent, Detection, FailureClass, detection, failure_class

__all__ = ["CauseClass", "CutSet", "SafetySummary", "classify", "cut_sets", "safety_summary"]


@dataclass(frozen=True, slots=True)
class CauseClass:
    """What ISO 26262 calls the cause with this number. `detection` is None without failures."""

    cause: int
    failures: tuple[Event, ...]
    points: FailureClass
    detection: Detection | None

    @property
    def latent(self) -> bool:
        return self.points == "multiple-point" and self.detection == "undetected"


@dataclass(frozen=True, slots=True)
class CutSet:
    """Events that are enough for the hazard, in the right order and with whatever else happens;
    and the numbers of the causes with just these."""

    events: tuple[Event, ...]
    causes: tuple[int, ...]
    detection: Detection | None

    @property
    def order(self) -> int:
        """The number of its events, as one speaks of a cut set of order 2."""
        return len(self.events)


@dataclass(frozen=True, slots=True, kw_only=True)
class SafetySummary:
    """The causes of a hazard by their classes. Causes without a failure event, in a system that
    has others, are faults of its design; `cut_sets` leaves them out.

    `over`: whether cut sets are of failure events, or, in a system that tells of none, of all
    events. The probabilities are sums over causes, and so bounds from above: a run may have
    several causes. They are None where that of some cause is not known."""

    over: Literal["failures", "all events"]
    classes: tuple[CauseClass, ...]
    cut_sets: tuple[CutSet, ...]
    probability_single_point: float | None
    probability_multiple_point: float | None
    probability_undetected: float | None

    def of(self, points: FailureClass) -> tuple[CauseClass, ...]:
        return tuple(found for found in self.classes if found.points == points)

    @property
    def undetected(self) -> tuple[CauseClass, ...]:
        return tuple(found for found in self.classes if found.detection == "undetected")

    @property
    def latent(self) -> tuple[CauseClass, ...]:
        return tuple(found for found in self.classes if found.latent)


def classify(cause: Cause, events: Mapping[Event, BasicEvent]) -> CauseClass:
    known = [events[event] for event in cause.events]
    failures = tuple(event for event in cause.events if events[event].failure)
    return CauseClass(cause.ident, failures, failure_class(known), detection(known))


def cut_sets(result: CausesResult) -> tuple[CutSet, ...]:
    """The minimal cut sets over failure events, the smallest first: of those causes that have any.
    In a system that tells of no failures they are over all events."""
    return _cut_sets(result, basic_events(result))


def _over_failures(result: CausesResult) -> bool:
    """A failure that is in no cause counts too: then the causes are known to have none."""
    return any(action.failure for action in result.actions)


def _cut_sets(result: CausesResult, events: Mapping[Event, BasicEvent]) -> tuple[CutSet, ...]:
    failures_only = _over_failures(result)
    rank = {event: number for number, event in enumerate(events)}
    found: dict[frozenset[Event], list[int]] = {}
    for cause in result.causes:
        chosen = frozenset(e for e in cause.events if events[e].failure or not failures_only)
        if chosen:
            found.setdefault(chosen, []).append(cause.ident)
    minimal = [one for one in found if not any(other < one for other in found)]
    sets = [
        CutSet(
            tuple(sorted(one, key=rank.__getitem__)),
            tuple(found[one]),
            detection(events[event] for event in one),
        )
        for one in minimal
    ]
    return tuple(sorted(sets, key=lambda one: (one.order, [rank[e] for e in one.events])))


def safety_summary(result: CausesResult) -> SafetySummary:
    events = basic_events(result)
    classes = tuple(classify(cause, events) for cause in result.causes)
    known = {cause.ident: cause.probability for cause in result.causes}

    def sum_of(chosen: list[CauseClass]) -> float | None:
        summed = []
        for one in chosen:
            probability = known[one.cause]
            if probability is None:
                return None
            summed.append(probability)
        return min(1.0, fsum(summed))

    return SafetySummary(
        over="failures" if _over_failures(result) else "all events",
        classes=classes,
        cut_sets=_cut_sets(result, events),
        probability_single_point=sum_of([c for c in classes if c.points == "single-point"]),
        probability_multiple_point=sum_of([c for c in classes if c.points == "multiple-point"]),
        probability_undetected=sum_of([c for c in classes if c.detection == "undetected"]),
    )
