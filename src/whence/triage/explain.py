"""Fault explanation (Becker, section 4): which events are sufficient for a fault?

From the interpolated proof of a segment, sequences of events are dropped that are irrelevant, each
as long as can be. Where such sequences overlap there are several explanations; of those that keep
events that look alike, only the one with the latest events is told. What is left is replayed: it
has to fail at its end, and only there.

After a fault, the replay goes on from where it resynchronised. If the events since then, or the
last of them, or all events of the trace but those that were faults, fail at the same place when
they are replayed from the initial condition, the faults before have nothing to do with this one,
and it is explained from there (`rebased`); otherwise, from where the replay resynchronised.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from whence.model.prd import EventTrace, PrdAutomaton
from whence.source import UsageError
from whence.triage.conditions import Condition, covers
from whence.triage.describe import assertion_text
from whence.triage.images import everything
from whence.triage.irrelevance import Irrelevance, Jump
from whence.triage.localize import fault_of
from whence.triage.machine import Machine, prepared
from whence.triage.proofs import Hidden, Proof, Run, entails, forward, interpolate, proof_of
from whence.triage.replay import END, Segment, replay
from whence.triage.results import Explanation, Fault, Gap
from whence.triage.templates import instance_key, satisfied, signature, template_of
from whence.zones.dates import anything

__all__ = ["analyse", "explain"]

#: So many explanations are looked for, and so many ways to try where sequences overlap.
MOST_EXPLANATIONS = 8
_MOST_CONFLICTS = 8
#: So many jumps from one gap are tried that turn out to make another fault.
_MOST_RETRIES = 6


def explain(
    automaton: PrdAutomaton, trace: EventTrace, fault: Fault, hide: Collection[str] = ()
) -> tuple[Explanation, ...]:
    """All explanations of a fault of this trace, ignoring the variables and clocks `hide`."""
    machine = prepared(automaton).machine(trace)
    hidden = _hidden(machine, hide)
    faulty: list[int] = []
    for segment in replay(machine, trace):
        if segment.failed:
            if len(faulty) == fault.number:
                return _explain(machine, trace, segment, fault, hidden, frozenset(faulty))
            faulty += segment.numbers[-1:]
    raise UsageError(f"the trace {trace.name} has no fault number {fault.number}")


def analyse(
    automaton: PrdAutomaton, trace: EventTrace, hide: Collection[str] = ()
) -> tuple[tuple[Fault, tuple[Explanation, ...]], ...]:
    """All faults of a trace, with their explanations; the trace is replayed once."""
    machine = prepared(automaton).machine(trace)
    hidden = _hidden(machine, hide)
    found: list[tuple[Fault, tuple[Explanation, ...]]] = []
    for segment in replay(machine, trace):
        if segment.failed:
            fault = fault_of(machine, trace, segment, len(found))
            faulty = frozenset(other.index for other, _ in found if other.index is not None)
            found.append((fault, _explain(machine, trace, segment, fault, hidden, faulty)))
    return tuple(found)


def _hidden(machine: Machine, names: Collection[str]) -> Hidden:
    common = machine.common
    unknown = [n for n in names if n not in common.variables and n not in common.clocks]
    if unknown:
        raise UsageError(f"the model has no variable or clock {', '.join(unknown)}")
    return Hidden(
        frozenset(common.variables[n] for n in names if n in common.variables),
        frozenset(common.clocks[n] for n in names if n in common.clocks),
    )


def _explain(
    machine: Machine,
    trace: EventTrace,
    segment: Segment,
    fault: Fault,
    hidden: Hidden,
    faulty: Collection[int],
) -> tuple[Explanation, ...]:
    rebased = not segment.since
    if not rebased:
        other = _tail(machine, segment) or _without(machine, trace, segment, faulty)
        if other is not None:
            segment, rebased = other, True
        elif not _as_usual(machine, segment.initial):
            machine = machine.unbounded
    proof = proof_of(machine, segment)
    irrelevance = Irrelevance(machine, proof, hidden)
    paths, complete = _paths(machine, irrelevance, proof)
    found = []
    for path in paths:
        found.append(
            _explanation(machine, trace, segment, fault, proof, path, hidden, complete, rebased)
        )
    return tuple(found)


def _tail(machine: Machine, segment: Segment) -> Segment | None:
    """The longest stretch at the end of a segment that fails there from the initial condition."""
    shapes = segment.shapes[: len(segment.amounts) - segment.of_time]
    first = 0
    while first < len(segment.amounts):
        amounts = segment.amounts[first:]
        run = forward(machine, machine.initial(), amounts, shapes[first:])
        if run.fails:
            return Segment(
                since=segment.since,
                start=segment.start + Fraction(sum(segment.amounts[:first]), machine.scale),
                numbers=segment.numbers[first:],
                after=run.after,
                before=run.before,
                amounts=amounts,
                shapes=segment.shapes[first:],
                failed=True,
            )
        # The event that fails too early, and all before it, are left out.
        first += run.last + 1
    return None


def _without(
    machine: Machine, trace: EventTrace, segment: Segment, faulty: Collection[int]
) -> Segment | None:
    """All events of the trace up to the fault, without those that were faults before, if they fail
    there from the initial condition."""
    at_end = len(segment.numbers) < len(segment.amounts)
    last = len(trace.events) - 1 if at_end else segment.numbers[-1]
    numbers = [n for n in range(last + 1) if n not in faulty]
    start = trace.events[0].date if trace.start is None else trace.start
    dates = [start, *(trace.events[n].date for n in numbers)]
    if at_end:
        dates.append(segment.start + Fraction(sum(segment.amounts), machine.scale))
    amounts = [int((b - a) * machine.scale) for a, b in pairwise(dates)]
    shapes = [machine.common.patterns.shape(trace.events[n]) for n in numbers]
    if at_end and not segment.of_time:
        shapes.append(END)
    # The event after a time that cannot pass has no part in it.
    proved = shapes[: len(amounts) - segment.of_time]
    run = forward(machine, machine.initial(), amounts, proved)
    if not run.fails:
        return None
    return Segment(segment.since, start, numbers, run.after, run.before, amounts, shapes, True)


def _as_usual(machine: Machine, condition: Condition) -> bool:
    """Whether what always holds in states holds in these configurations. After a fault the model
    may be where no run leads."""
    universe = anything(machine.clocks + 1, machine.clocks)
    return all(
        covers(everything(machine, state, universe), cell)
        for state, cells in condition.items()
        for cell in cells
    )


# ------------------------------------------------------------------------------------------ paths


@dataclass(frozen=True, slots=True)
class _Reduced:
    """What is left of a proof: jumps, the events that are kept (by number in the segment), the
    amounts of the gaps between them."""

    jumps: tuple[Jump, ...]
    kept: tuple[int, ...]
    amounts: tuple[int, ...]


def _reduce(proof: Proof, jumps: tuple[Jump, ...]) -> _Reduced:
    kept: list[int] = []
    amounts: list[int] = []
    by_start = {jump.start: jump for jump in jumps}
    gap = 0
    while gap < proof.gaps:
        jump = by_start.get(gap)
        if jump is None:
            amounts.append(proof.amounts[gap])
        else:
            first, last = proof.amounts[gap], proof.amounts[jump.end]
            match jump.rule:
                case "wait":
                    amounts.append(sum(proof.amounts[gap : jump.end + 1]))
                case "ba":
                    amounts.append(first + last)
                case "aa":
                    amounts.append(last)
                case "bb":
                    amounts.append(first)
                case "ab":
                    amounts.append(0)
            gap = jump.end
        if gap < len(proof.shapes):
            kept.append(gap)
        gap += 1
    return _Reduced(jumps, tuple(kept), tuple(amounts))


def _paths(machine: Machine, irrelevance: Irrelevance, proof: Proof) -> tuple[list[_Reduced], bool]:
    """The reduced proofs, each as short as can be, and whether these are all."""
    pending: list[tuple[Jump, ...]] = [()]
    tried: set[tuple[Jump, ...]] = {()}
    found: list[_Reduced] = []
    complete = True
    while pending and len(found) < MOST_EXPLANATIONS:
        forced = pending.pop(0)
        reduced, conflicts = _greedy(machine, irrelevance, proof, forced)
        if reduced is not None:
            found.append(reduced)
        complete &= len(conflicts) <= _MOST_CONFLICTS
        for conflict in conflicts[:_MOST_CONFLICTS]:
            if conflict not in tried and len(tried) < 4 * MOST_EXPLANATIONS:
                tried.add(conflict)
                pending.append(conflict)
    complete &= not pending and not irrelevance.exhausted
    return _distinct(proof, found), complete


def _greedy(
    machine: Machine, irrelevance: Irrelevance, proof: Proof, wanted: tuple[Jump, ...]
) -> tuple[_Reduced | None, list[tuple[Jump, ...]]]:
    """The farthest jumps from left to right that leave room for the wanted ones, and other wanted
    ones that overlap with what was chosen."""
    forbidden: set[Jump] = set()
    closed: set[int] = set()
    failures: dict[int, int] = {}
    while True:
        jumps = tuple(_left_to_right(irrelevance, proof, wanted, forbidden, closed))
        reduced = _reduce(proof, jumps)
        # Where something is hidden, what is left need not fail.
        run = None if not irrelevance.hidden.nothing else _run(machine, proof, reduced)
        if not jumps or run is None or run.fails:
            if not set(wanted) <= set(jumps):
                return None, []
            return reduced, list(_conflicts(irrelevance, proof, jumps, wanted))
        culprit = _culprit(proof, reduced, run.last)
        forbidden.add(culprit)
        failures[culprit.start] = failures.get(culprit.start, 0) + 1
        if failures[culprit.start] >= _MOST_RETRIES:
            closed.add(culprit.start)


def _left_to_right(
    irrelevance: Irrelevance,
    proof: Proof,
    wanted: tuple[Jump, ...],
    forbidden: Collection[Jump],
    closed: Collection[int],
) -> Iterator[Jump]:
    gap = 0
    remaining = [jump for jump in wanted if jump not in forbidden]
    while gap < proof.gaps:
        if remaining and remaining[0].start == gap:
            jump: Jump | None = remaining.pop(0)
        elif gap in closed:
            jump = None
        else:
            limit = remaining[0].start - 1 if remaining else proof.gaps - 1
            jump = irrelevance.farthest(gap, gap, limit, forbidden)
        if jump is not None:
            yield jump
            gap = jump.end
        gap += 1


def _conflicts(
    irrelevance: Irrelevance, proof: Proof, jumps: tuple[Jump, ...], wanted: tuple[Jump, ...]
) -> Iterator[tuple[Jump, ...]]:
    """Jumps that start within a chosen one and lead farther."""
    for jump in jumps:
        if jump in wanted:
            continue
        known = tuple(other for other in wanted if other.end < jump.start)
        found: list[Jump] = []
        for start in range(jump.end, jump.start, -1):
            other = irrelevance.farthest(start, jump.end, proof.gaps - 1)
            if other is not None and all(other.end != known_.end for known_ in found):
                found.append(other)
        for other in found:
            yield (*known, other)


def _run(machine: Machine, proof: Proof, reduced: _Reduced) -> Run:
    shapes = [proof.shapes[n] for n in reduced.kept]
    return forward(machine, proof.sp_after[0], reduced.amounts, shapes)


def _culprit(proof: Proof, reduced: _Reduced, last: int) -> Jump:
    """The last jump before the reduced trace fails too early, in gap `last` or after it."""
    # The event after gap n of the reduced trace has this number in the whole one.
    before = reduced.kept[last] if last < len(reduced.kept) else proof.gaps
    candidates = [jump for jump in reduced.jumps if jump.start <= before]
    return candidates[-1] if candidates else reduced.jumps[0]


def _distinct(proof: Proof, found: list[_Reduced]) -> list[_Reduced]:
    """Without those that keep more than others do, and with the latest of those that look alike."""
    by_look: dict[tuple[int, ...], _Reduced] = {}
    for reduced in found:
        look = tuple(proof.shapes[n] for n in reduced.kept)
        known = by_look.get(look)
        if known is None or reduced.kept > known.kept:
            by_look[look] = reduced
    looks = list(by_look)
    kept = [look for look in looks if not any(o != look and _scattered(o, look) for o in looks)]
    order = sorted((by_look[look] for look in kept), key=lambda r: (len(r.kept), r.kept))
    return order


def _scattered(small: tuple[int, ...], large: tuple[int, ...]) -> bool:
    rest = iter(large)
    return all(shape in rest for shape in small)


# ----------------------------------------------------------------------------------- explanations


def _explanation(
    machine: Machine,
    trace: EventTrace,
    segment: Segment,
    fault: Fault,
    proof: Proof,
    reduced: _Reduced,
    hidden: Hidden,
    complete: bool,
    rebased: bool,
) -> Explanation:
    shapes = [proof.shapes[n] for n in reduced.kept]
    start = segment.initial
    run = _run(machine, proof, reduced)
    if run.fails:
        small = interpolate(machine, run.after, run.before, reduced.amounts, shapes)
    else:  # where something is hidden, what is left need not fail
        small = _selected(proof, reduced)
    observed = [n for n in reduced.kept if proof.shapes[n] != END]
    events = [segment.numbers[n] for n in observed]
    if fault.index is not None and fault.kind == "late" and fault.index not in events:
        events.append(fault.index)
    looks = signature(machine, trace, fault, events, rebased)
    template = template_of(machine, None if rebased else start, shapes, proof.of_time, looks)
    times = [Fraction(amount, machine.scale) for amount in reduced.amounts]
    truth = satisfied(template, times)
    return Explanation(
        fault=fault,
        events=tuple(events),
        gaps=tuple(_gaps(machine, segment, proof, reduced, small, hidden)),
        after=tuple(assertion_text(machine, each) for each in small.after),
        before=tuple(assertion_text(machine, each) for each in small.before),
        rebased=rebased,
        signature=looks,
        template=template,
        satisfied=truth,
        key=instance_key(template, truth),
        of_time=proof.of_time,
        complete=complete,
    )


def _selected(proof: Proof, reduced: _Reduced) -> Proof:
    """The assertions of the whole proof where events are kept."""
    by_start = {jump.start: jump.end for jump in reduced.jumps}
    starts, ends = [], []
    gap = 0
    while gap < proof.gaps:
        starts.append(gap)
        gap = by_start.get(gap, gap)
        ends.append(gap)
        gap += 1
    return Proof(
        reduced.amounts,
        [proof.shapes[n] for n in reduced.kept],
        [proof.sp_after[n] for n in starts],
        [proof.sp_before[n] for n in ends],
        [proof.after[n] for n in starts],
        [proof.before[n] for n in ends],
    )


def _gaps(
    machine: Machine,
    segment: Segment,
    proof: Proof,
    reduced: _Reduced,
    small: Proof,
    hidden: Hidden,
) -> Iterator[Gap]:
    by_start = {jump.start: jump for jump in reduced.jumps}
    gap = 0
    for n, amount in enumerate(reduced.amounts):
        jump = by_start.get(gap)
        end = gap if jump is None else jump.end
        yield Gap(
            time=Fraction(amount, machine.scale),
            dropped=tuple(segment.numbers[gap:end]),
            kept=jump is None or jump.rule == "wait",
            matters=not entails(machine, small.after[n], small.before[n], hidden),
        )
        gap = end + 1
