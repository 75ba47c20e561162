"""Replaying a trace: strongest postconditions from event to event, until nothing is left.

After a fault the replay has to go on somewhere. It believes what was observed, and as much of what
it knew as fits (:func:`resynchronised`), so that one fault does not draw others after it:

``believed``
    The event was possible there but for the guard: the variables and clocks that the guard speaks
    of are set to what it demands, the others keep what is known of them.
``late``
    Nothing lets so much time pass, but then the event is possible: it is taken.
``alike``
    The event is none that can come here, but one can that has the same label, or refuses where this
    one does not, or the other way round: it is taken for that, with any values. What is left of a
    message that is not whole (`err`) is taken for anything. It may also be that it changed nothing:
    both are gone on with.
``skipped``
    One event that was not seen (a missing response, for one) comes before: after any transition
    from where the replay is, with the values that it may leave behind, the event is possible. It
    may also be that the event was out of place and changed nothing: both are gone on with.
``ignored``
    The event is not possible anywhere near, and the one after it (if any) is possible without it:
    it changed nothing. So it is, too, if it is not possible in any state.
``anywhere``
    Without it the next event would be the next fault: it is possible in other states, any of which
    the replay goes on with; or, again, it changed nothing.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from whence.model.prd import EventTrace
from whence.source import Diagnostic, InputError
from whence.triage import values as v
from whence.triage.conditions import Condition, put
from whence.triage.images import everything, forced, post_event, post_time
from whence.triage.machine import Machine, Way
from whence.triage.results import Resynchronised
from whence.triage.values import Memory
from whence.zones.dates import FAR, Dates, anything, over_step

__all__ = ["END", "Segment", "alike", "replay", "silent"]

#: The shape of the end of a complete trace, which no state accepts that awaits something.
END = -1


@dataclass(slots=True)
class Segment:
    """A stretch of a trace without a fault but at its end, if `failed`.

    The events with these `numbers` in the trace have the given shapes; `since` is the number of
    events up to the fault before. `after[g]` is
    what holds after g of them, `before[g]` what holds when the time until the next has passed;
    `amounts[g]` is that time. With a fault there is one event more than the model takes, or (after
    a complete trace) its end; or the last of `before` is empty: time itself is the fault.
    """

    since: int
    start: Fraction
    numbers: list[int]
    after: list[Condition]
    before: list[Condition]
    amounts: list[int]
    shapes: list[int]
    failed: bool = False
    #: How the next segment was found.
    how: Resynchronised = "end"

    @property
    def initial(self) -> Condition:
        return self.after[0]

    @property
    def of_time(self) -> bool:
        """Whether time itself is the fault."""
        return self.failed and not self.before[-1]


def silent(machine: Machine, condition: Condition) -> Condition:
    """What of a condition a trace may end in."""
    states = machine.automaton.states
    return {state: cells for state, cells in condition.items() if not states[state].awaits}


def replay(machine: Machine, trace: EventTrace) -> Iterator[Segment]:
    """The segments of a trace. Raises InputError where dates run backwards."""
    patterns = machine.common.patterns
    scale = machine.scale
    now = _start(trace)
    segment = _begin(0, now, machine.initial())
    for number, event in enumerate(trace.events):
        if event.date < now:
            raise InputError(
                Diagnostic(
                    f"the date {event.date} is before that of the event before, {now}",
                    event.origin,
                    "sort the events, or split the log where the clock was set back",
                )
            )
        amount = int((event.date - now) * scale)
        now = event.date
        shape = patterns.shape(event)
        segment.numbers.append(number)
        segment.amounts.append(amount)
        segment.shapes.append(shape)
        waited = post_time(machine, segment.after[-1], amount)
        segment.before.append(waited)
        reached = post_event(machine, waited, shape) if waited else {}
        if not reached:
            segment.failed = True
            if not waited:
                waited = forced(machine, segment.after[-1], amount)
                reached = post_event(machine, waited, shape)
                segment.how = "late"
            if not reached:
                coming = _coming(machine, trace, number, now)
                label = event.label
                reached, segment.how = resynchronised(machine, waited, shape, label, *coming)
            yield segment
            segment = _begin(number + 1, now, reached)
        else:
            segment.after.append(reached)
    end = trace.end if trace.end is not None else now
    if end < now:
        raise InputError(
            Diagnostic(f"the trace ends ({end}) before its last event ({now})", trace.origin)
        )
    segment.amounts.append(int((end - now) * scale))
    waited = post_time(machine, segment.after[-1], segment.amounts[-1])
    segment.before.append(waited)
    if trace.complete:
        segment.shapes.append(END)
    segment.failed = not waited or (trace.complete and not silent(machine, waited))
    yield segment


def _coming(
    machine: Machine, trace: EventTrace, number: int, now: Fraction
) -> tuple[int, int | None]:
    """The time until what comes after an event, and its shape."""
    if number + 1 < len(trace.events):
        event = trace.events[number + 1]
        # Dates that run backwards are complained about when it is their turn.
        amount = max(0, int((event.date - now) * machine.scale))
        return amount, machine.common.patterns.shape(event)
    end = now if trace.end is None else max(now, trace.end)
    return int((end - now) * machine.scale), END if trace.complete else None


def _start(trace: EventTrace) -> Fraction:
    if trace.start is not None:
        return trace.start
    return trace.events[0].date if trace.events else Fraction(0)


def _begin(since: int, start: Fraction, condition: Condition) -> Segment:
    return Segment(since, start, [], [condition], [], [], [])


# --------------------------------------------------------------------------- resynchronisation


def resynchronised(
    machine: Machine,
    condition: Condition,
    shape: int,
    label: str,
    amount: int,
    then: int | None,
) -> tuple[Condition, Resynchronised]:
    """Where the replay goes on after an event that cannot come in `condition`; `then` is what comes
    after it, an amount of time later."""
    found = _believed(machine, condition, shape)
    if found:
        return found, "believed"
    broken = label.split(" ", 1)[0] == "err"
    for similar in alike(label):
        patterns = None if broken else machine.common.patterns.labelled(similar)
        found = _after_anything(machine, condition, patterns)
        if found:
            return _or_unchanged(found, condition), "alike"
    how: Resynchronised = "skipped"
    found = post_event(machine, _after_anything(machine, condition), shape)
    if not found:
        later = post_time(machine, condition, amount)
        if then == END:
            later = silent(machine, later)
        elif then is not None:
            later = post_event(machine, later, then)
        if later:
            return condition, "ignored"
        how, found = "anywhere", post_event(machine, _anywhere(machine, shape), shape)
    if not found:
        return condition, "ignored"
    return _or_unchanged(found, condition), how


def alike(label: str) -> tuple[str, ...]:
    """The labels of events that this one may stand for: its own, and that of a positive response
    for that of a refusal, and the other way round."""
    kind, blank, name = label.partition(" ")
    other = {"res": "neg", "neg": "res"}.get(kind)
    return (label,) if other is None else (label, f"{other}{blank}{name}")


def _or_unchanged(found: Condition, condition: Condition) -> Condition:
    for state, cells in condition.items():
        for cell in cells:
            put(found.setdefault(state, []), cell)
    return found


def _believed(machine: Machine, condition: Condition, shape: int) -> Condition:
    found: Condition = {}
    for state, cells in condition.items():
        for way in machine.moves(state, shape):
            for memory, zone in cells:
                freed = _free_memory(machine, way, memory)
                loose = _free_clocks(machine, way, zone)
                after = np.empty_like(zone)
                if not over_step(loose, way.constraints, way.resets, after):
                    continue
                for one in way.after(freed):
                    put(found.setdefault(way.target, []), (one, after))
    return found


def _free_memory(machine: Machine, way: Way, memory: Memory) -> Memory:
    found = list(memory)
    for variable, allowed in way.sets.items():
        if not v.meet(found[variable], allowed):
            found[variable] = machine.ranges[variable]
    for relation in way.relations:
        for variable in relation.variables:
            found[variable] = machine.ranges[variable]
    return tuple(found)


def _free_clocks(machine: Machine, way: Way, zone: Dates) -> Dates:
    """Without what is known of the clocks that the guard speaks of, if they do not satisfy it."""
    if not len(way.constraints):
        return zone
    trial = np.empty_like(zone)
    if over_step(zone, way.constraints, way.resets, trial):
        return zone
    loose = zone.copy()
    for clock in {int(n) for n in way.constraints[:, :2].ravel()} - {0}:
        loose[clock, :] = FAR
        loose[:, clock] = loose[:, 0]
        loose[0, clock] = loose[clock, clock] = 1
    return loose


def _after_anything(
    machine: Machine, condition: Condition, patterns: Container[int] | None = None
) -> Condition:
    """After any one event, whatever its guard and the values that it carries; `patterns`: after one
    that is meant by these."""
    found: Condition = {}
    numbers = machine.common
    for state, cells in condition.items():
        for pattern, transitions in numbers.on_event[state].items():
            if patterns is not None and pattern not in patterns:
                continue
            for n in transitions:
                declared = machine.automaton.transitions[n]
                resets = np.array(sorted(numbers.clocks[c] for c in declared.resets), np.int64)
                assigned = [numbers.variables[a.variable] for a in declared.assignments]
                for memory, zone in cells:
                    free = list(memory)
                    for variable in assigned:
                        free[variable] = machine.ranges[variable]
                    after = zone
                    if len(resets):
                        after = np.empty_like(zone)
                        over_step(zone, np.empty((0, 3), np.int64), resets, after)
                    put(found.setdefault(numbers.target[n], []), (tuple(free), after))
    return found


def _anywhere(machine: Machine, shape: int) -> Condition:
    universe = anything(machine.clocks + 1, machine.clocks)
    matched = {pattern for pattern, _ in machine.common.patterns.shapes[shape]}
    found: Condition = {}
    for state, by_pattern in enumerate(machine.common.on_event):
        if not matched.isdisjoint(by_pattern):
            found[state] = everything(machine, state, universe)
    return found
