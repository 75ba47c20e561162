"""Fault localization (Becker, sections 3 and 6): where do a trace and the model diverge?

A fault is the first event after which the strongest postcondition is empty, be it that time could
not pass until then or that the event is not possible. `replay` says how a trace is gone on with.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from whence.model.prd import (
    TRUE,
    AllOf,
    AnyOf,
    Arithmetic,
    Captured,
    ClockBound,
    Comparison,
    Constant,
    EventTrace,
    Guard,
    Not,
    PrdAutomaton,
    Read,
    Term,
    TimedEvent,
)
from whence.triage import values as v
from whence.triage.conditions import Cell, Condition
from whence.triage.guards import alternatives, restricted
from whence.triage.images import during
from whence.triage.machine import Machine, prepared
from whence.triage.replay import END, Segment, replay
from whence.triage.results import Expected, Fault, FaultKind, Localization, Window
from whence.triage.words import pattern_text, values_text
from whence.zones.dates import FAR, over_delay, over_step

__all__ = ["fault_of", "localize"]

_NO_RESETS = np.empty(0, np.int64)


def localize(automaton: PrdAutomaton, trace: EventTrace) -> Localization:
    """All faults of the trace."""
    machine = prepared(automaton).machine(trace)
    faults: list[Fault] = []
    for segment in replay(machine, trace):
        if segment.failed:
            faults.append(fault_of(machine, trace, segment, len(faults)))
    return Localization(trace.name, len(trace.events), tuple(faults))


def fault_of(machine: Machine, trace: EventTrace, segment: Segment, number: int) -> Fault:
    """The fault at the end of a segment."""
    gaps = len(segment.amounts)
    index = segment.numbers[-1] if len(segment.numbers) == gaps else None
    event = None if index is None else trace.events[index]
    elapsed = sum(segment.amounts)
    date = segment.start + Fraction(elapsed, machine.scale)
    live = segment.after[-1] if segment.of_time else segment.before[-1]
    kind, violated = _kind(machine, segment, event, live)
    expected = _expected(machine, segment.after[-1], segment.amounts[-1])
    transitions, states = machine.automaton.transitions, machine.automaton.states
    required = [r for n in violated for r in transitions[n].requirements]
    if not required:
        required = [r for state in live for r in states[state].requirements]
        if not required or kind != "unexpected":
            required += [r for each in expected for r in each.requirements]
    return Fault(
        trace=trace.name,
        number=number,
        index=index,
        event=event,
        date=date,
        kind=kind,
        since=segment.since,
        states=tuple(states[state].name for state in sorted(live)),
        expected=expected,
        violated=violated,
        requirements=tuple(dict.fromkeys(required)),
        resynchronised=segment.how,
        origin=trace.origin if event is None else event.origin,
    )


# -------------------------------------------------------------------------------- kinds of faults


def _kind(
    machine: Machine, segment: Segment, event: TimedEvent | None, live: Condition
) -> tuple[FaultKind, tuple[int, ...]]:
    if segment.of_time:
        ran_out = {n for state in live for n in machine.common.on_time[state]}
        seen = segment.how in ("late", "believed")
        return ("late" if seen else "missing"), tuple(sorted(ran_out))
    shape = segment.shapes[-1]
    if shape == END:
        return "missing", ()
    near: dict[int, FaultKind] = {}
    matched = machine.common.patterns.shapes[shape]
    for state, cells in live.items():
        for pattern, captured in matched:
            for n in machine.common.on_event[state].get(pattern, ()):
                near[n] = _failure(machine, n, captured, cells)
    if near:
        kinds = set(near.values())
        kind: FaultKind = "value"
        for other in ("late", "early"):
            if kinds == {other}:
                kind = "late" if other == "late" else "early"
        return kind, tuple(sorted(near))
    if event is not None and segment.how == "alike":
        meant = machine.common.patterns.labelled(event.label)
        same = {
            n
            for state in live
            for pattern, transitions in machine.common.on_event[state].items()
            if pattern in meant
            for n in transitions
        }
        if same:
            return "value", tuple(sorted(same))
    awaiting = all(machine.automaton.states[state].awaits for state in live)
    return ("missing" if awaiting and segment.how == "skipped" else "unexpected"), ()


def _failure(
    machine: Machine,
    number: int,
    captured: tuple[tuple[str, int | str | bytes], ...],
    cells: list[Cell],
) -> FaultKind:
    """Why a transition was not possible whose pattern matches."""
    found: FaultKind = "value"
    for way in machine.ways(number, captured):
        for memory, zone in cells:
            if not way.after(memory):
                continue
            found = "late"
            later = np.empty_like(zone)
            aged = zone.copy()
            aged[1:, 0] = FAR
            if over_step(aged, way.constraints, _NO_RESETS, later):
                return "early"
    return found


# ------------------------------------------------------------------------- what was to be expected


def _expected(machine: Machine, after: Condition, amount: int) -> tuple[Expected, ...]:
    """What the model accepts after the last event, as if nothing had happened since."""
    constant = int(machine.common.largest * machine.scale) + 1
    horizon = max(amount, constant) + constant
    end = machine.clocks + 1
    spans: dict[int, tuple[int, int]] = {}
    captures: dict[int, list[Cell]] = {}
    for state, cells in during(machine, after, horizon).items():
        for transitions in machine.common.on_event[state].values():
            for n in transitions:
                for low, high, cell in _spans(machine, n, state, cells, end):
                    known = spans.get(n, (low, high))
                    # Raw lower bounds are those of the negative: the largest is the loosest.
                    spans[n] = max(known[0], low), max(known[1], high)
                    captures.setdefault(n, []).append(cell)
    found = []
    for n in sorted(spans):
        declared = machine.automaton.transitions[n]
        assert declared.pattern is not None
        low, high = spans[n]
        # The age of the end of the horizon is the time since the last event, less the horizon.
        earliest, latest = -(low >> 1) + horizon, (high >> 1) + horizon
        endless = latest >= horizon
        found.append(
            Expected(
                transition=n,
                text=pattern_text(declared.pattern),
                window=Window(
                    Fraction(earliest, machine.scale),
                    None if endless else Fraction(latest, machine.scale),
                    not low & 1,
                    not endless and not high & 1,
                ),
                values=_allowed(machine, declared.guard, captures[n]),
                requirements=declared.requirements,
                origin=declared.origin,
            )
        )
    return tuple(found)


def _spans(
    machine: Machine, number: int, state: int, cells: list[Cell], end: int
) -> Iterator[tuple[int, int, Cell]]:
    declared = machine.automaton.transitions[number]
    scope = machine.scope({}, declared.origin)
    for alternative in alternatives(_without_captures(declared.guard), scope):
        constraints = machine.constraints(alternative)
        for memory, zone in cells:
            memories = restricted(memory, alternative.sets, alternative.relations, scope)
            if not memories:
                continue
            at = np.empty_like(zone)
            if machine.idle[state]:
                possible = over_delay(zone, constraints, _NO_RESETS, end, at)
            else:
                possible = over_step(zone, constraints, _NO_RESETS, at)
            if possible:
                for one in memories:
                    yield int(at[0, end]), int(at[end, 0]), (one, at)


def _speaks_of_captures(term: Term) -> bool:
    if isinstance(term, Arithmetic):
        return _speaks_of_captures(term.left) or _speaks_of_captures(term.right)
    return isinstance(term, Captured)


def _without_captures(guard: Guard, wanted: bool = True) -> Guard:
    """What a guard demands of the automaton, if captured values are such as it wants them."""
    match guard:
        case Not():
            return Not(_without_captures(guard.part, not wanted))
        case AllOf():
            return AllOf(tuple(_without_captures(part, wanted) for part in guard.parts))
        case AnyOf():
            return AnyOf(tuple(_without_captures(part, wanted) for part in guard.parts))
        case Comparison():
            if _speaks_of_captures(guard.left) or _speaks_of_captures(guard.right):
                return TRUE if wanted else Not(TRUE)
            return guard
        case ClockBound():
            return guard


def _allowed(machine: Machine, guard: Guard, cells: list[Cell]) -> tuple[str, ...]:
    """What a guard, as a conjunction, demands of captured values."""
    found = []
    parts = guard.parts if isinstance(guard, AllOf) else (guard,)
    for part in parts:
        if not isinstance(part, Comparison):
            continue
        left, operator, right = part.left, part.operator, part.right
        if isinstance(right, Captured):
            mirrored = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
            left, right = right, left
            found_operator = mirrored.get(operator, operator)
        else:
            found_operator = operator
        if not isinstance(left, Captured):
            continue
        if isinstance(right, Read):
            n = machine.common.variables[right.variable]
            values = v.EMPTY
            for memory, _ in cells:
                values = v.join(values, memory[n])
            text = values_text(values, machine.automaton.variables[n].names)
            found.append(f"{left.name} {found_operator} {right.variable} ({text})")
        elif isinstance(right, Constant):
            found.append(f"{left.name} {found_operator} {right.value}")
    return tuple(found)
