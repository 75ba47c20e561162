"""The marks of the tests' environment, compared with the faults that the model finds.

A mark stands somewhere behind the event that it is about: it says the same as a fault if the two
stand at one event, or no request comes between the faulty event and the mark. The environment
judges when a step is over, and the tester sends nothing until then.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from fractions import Fraction

from whence.model.events import Annotation
from whence.model.prd import EventTrace
from whence.triage.findings import FoundFault, FoundMark
from whence.triage.words import time_text

__all__ = ["compared"]

#: A fault that is not more events away is told of.
_NEAR = 4


def compared(
    annotations: Sequence[Annotation],
    traces: Mapping[int, EventTrace],
    faults: Mapping[int, Sequence[FoundFault]],
    broken: str = "",
) -> tuple[FoundMark, ...]:
    """The marks that say that something failed; `traces` by their numbers in the log, and their
    faults. Several marks may be about one fault; if they need not, they are not. `broken`: why
    there are no traces."""
    places = {
        number: sorted((event.index, at) for at, event in enumerate(trace.events))
        for number, trace in traces.items()
    }
    taken: set[tuple[int, int]] = set()
    found = []
    for mark in annotations:
        if mark.kind != "verdict" or mark.verdict not in ("fail", "error"):
            continue
        number, index = _place(mark, places)
        fault, why = None, broken or "it stands before all events"
        if number is not None and index is not None:
            trace, all_ = traces[number], faults.get(number, ())
            same = _same(trace, all_, index, {n for t, n in taken if t == number})
            if same is not None:
                fault, why = same.number, ""
                taken.add((number, same.number))
            else:
                why = _why_not(trace, all_, index)
        found.append(
            FoundMark(
                mark.text, mark.verdict, mark.origin.line, mark.time, number, index, fault, why
            )
        )
    return tuple(found)


def _place(
    mark: Annotation, places: Mapping[int, list[tuple[int, int]]]
) -> tuple[int | None, int | None]:
    """The trace, and the event in it, that stands last before the mark. `places`: for each trace
    the numbers of its events in the log, ascending, and in the trace."""
    best: tuple[int, int, int] | None = None
    for number, known in places.items():
        at = bisect_left(known, (mark.position, 0))
        if at and (best is None or known[at - 1][0] > best[0]):
            best = known[at - 1][0], number, known[at - 1][1]
    if best is not None:
        return best[1], best[2]
    return next(iter(places), None), None


def _same(
    trace: EventTrace, faults: Sequence[FoundFault], index: int, taken: set[int]
) -> FoundFault | None:
    """The fault that the mark is about: the last one, going back to the last request, that no mark
    is about yet; or the last one."""
    last = len(trace.events) - 1
    near = []
    for fault in reversed(faults):
        at = last if fault.index is None else fault.index
        if at > index:
            continue
        if any(_is_request(event.label) for event in trace.events[at + 1 : index + 1]):
            break
        near.append(fault)
    free = [fault for fault in near if fault.number not in taken]
    return next(iter(free or near), None)


def _is_request(label: str) -> bool:
    return label == "req" or label.startswith("req ")


def _why_not(trace: EventTrace, faults: Sequence[FoundFault], index: int) -> str:
    here = trace.events[index].date
    last = len(trace.events) - 1
    places = [(last if f.index is None else f.index, f) for f in faults]
    near = [(abs(at - index), at, f) for at, f in places if abs(at - index) <= _NEAR]
    if near:
        _, at, fault = min(near, key=lambda one: one[:2])
        way = "later" if at >= index else "earlier"
        time = _apart(abs(fault.date - here))
        count = abs(at - index)
        events = f"{count} event{'' if count == 1 else 's'}"
        return f"the fault is {events} {way}, {time}: {fault.kind}, {fault.event or 'the end'}"
    if faults:
        return "the model accepts what is here; the faults of this trace are elsewhere"
    return "the model accepts all of this trace"


def _apart(time: Fraction) -> str:
    return f"by {time_text(time)}" if time else "at the same time"
