"""Causes of bad traces of small transition systems, written down from their definitions.

The definitions are those of M. Kölbl, Causal Analysis and Repair of Systems, Konstanz 2022:
section 3.2 (traces and subtraces), Definition 22 (weak causes), Definition 29 (non-occurrence) and
Definition 30 (the causal trace set).  Nothing here is shared with the package.

An execution that has reached a bad state has violated the property, whatever comes after: it ends
there.  An action `None` is silent, and no part of traces.  Minimal bad traces belong to simple
executions (section 5.3.4), so that finitely many executions have to be looked at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, combinations, permutations

Trace = tuple[str, ...]
#: An occurrence of an action: (name, which one, from 1).
Event = tuple[str, int]
Order = frozenset[tuple[Event, Event]]


@dataclass(frozen=True)
class System:
    states: int
    edges: tuple[tuple[int, str | None, int], ...]
    initial: frozenset[int]
    bad: frozenset[int]


# ------------------------------------------------------------------------------------------ traces


def simple_executions(system: System) -> Iterator[tuple[Trace, int]]:
    """The trace of each simple execution, and where it ends."""

    def extend(visited: tuple[int, ...], trace: Trace) -> Iterator[tuple[Trace, int]]:
        state = visited[-1]
        yield trace, state
        if state in system.bad:
            return
        for source, action, target in system.edges:
            if source == state and target not in visited:
                seen = trace if action is None else (*trace, action)
                yield from extend((*visited, target), seen)

    for state in system.initial:
        yield from extend((state,), ())


def simple_bad_traces(system: System) -> set[Trace]:
    return {trace for trace, state in simple_executions(system) if state in system.bad}


def simple_good_traces(system: System) -> set[Trace]:
    return {trace for trace, state in simple_executions(system) if state not in system.bad}


def _after(system: System, trace: Trace) -> set[int]:
    """The states that executions with this trace end in, nothing being beyond bad states."""

    def silently(states: set[int]) -> set[int]:
        while True:
            more = {t for s, a, t in system.edges if a is None and s in states - system.bad}
            if more <= states:
                return states
            states = states | more

    states = silently(set(system.initial))
    for action in trace:
        states = silently(
            {t for s, a, t in system.edges if a == action and s in states - system.bad}
        )
    return states


def is_bad_trace(system: System, trace: Trace) -> bool:
    return bool(_after(system, trace) & system.bad)


def is_good_trace(system: System, trace: Trace) -> bool:
    return bool(_after(system, trace) - system.bad)


def good_traces(system: System, longest: int) -> set[Trace]:
    """All with at most so many actions, of executions with loops, too."""
    actions = {action for _, action, _ in system.edges if action is not None}
    result: set[Trace] = set()
    traces: list[Trace] = [()]
    while traces:
        traces = [trace for trace in traces if is_good_trace(system, trace)]
        result.update(traces)
        traces = [(*trace, a) for trace in traces if len(trace) < longest for a in actions]
    return result


def subtraces(trace: Trace) -> set[Trace]:
    """All of them, the trace itself included."""
    return {tuple(picked) for n in range(len(trace) + 1) for picked in combinations(trace, n)}


def causal_trace_set(system: System) -> set[Trace]:
    """Definition 30: TC1 and TC2 make it the set of minimal bad traces."""
    bad = simple_bad_traces(system)
    return {trace for trace in bad if not (subtraces(trace) - {trace}) & bad}


def classes(traces: Iterable[Trace]) -> dict[tuple[tuple[str, int], ...], set[Trace]]:
    """The traces by the multiset of their actions (the action trace classes of section 3.2)."""
    result: dict[tuple[tuple[str, int], ...], set[Trace]] = {}
    for trace in traces:
        result.setdefault(tuple(sorted(Counter(trace).items())), set()).add(trace)
    return result


# ------------------------------------------------------------------------------------------ orders


def events_of(trace: Trace) -> tuple[Event, ...]:
    """The actions of a trace with the numbers of their occurrences, as section 3.2 has it."""
    return tuple((action, trace[: at + 1].count(action)) for at, action in enumerate(trace))


def strict_partial_orders(events: Iterable[Event]) -> Iterator[Order]:
    """All of them (transitive relations); there are 219 over four events."""
    members = tuple(events)
    pairs = list(permutations(members, 2))
    for picked in chain.from_iterable(combinations(pairs, n) for n in range(len(pairs) + 1)):
        order = frozenset(picked)
        asymmetric = all((b, a) not in order for a, b in order)
        if asymmetric and all((a, d) in order for a, b in order for c, d in order if b == c):
            yield order


def consistent(sequence: tuple[Event, ...], order: Order) -> bool:
    """σ ⊨ <: what < demands happens, in this order."""
    return all(
        a in sequence and b in sequence and sequence.index(a) < sequence.index(b) for a, b in order
    )


def linear_extensions(events: Iterable[Event], order: Order) -> list[tuple[Event, ...]]:
    return [sequence for sequence in permutations(tuple(events)) if consistent(sequence, order)]


# ------------------------------------------------------------------------------------------ causes


def _satisfies_cc1(system: System, events: frozenset[Event], order: Order) -> bool:
    for sequence in linear_extensions(events, order):
        trace = tuple(action for action, _ in sequence)
        if events_of(trace) != sequence:
            return False  # no trace of any system: occurrences are counted in their order
        if not is_bad_trace(system, trace):
            return False
        if any(is_bad_trace(system, short) for short in subtraces(trace) - {trace}):
            return False
    return True


def _satisfies_cc2(system: System, events: frozenset[Event], order: Order) -> bool:
    """Some good trace does not satisfy the cause: "some events do not occur or their order
    differs"."""
    return any(
        not (events <= set(events_of(trace)) and consistent(events_of(trace), order))
        for trace in simple_good_traces(system)
    )


def _smaller(events: frozenset[Event], order: Order) -> Iterator[tuple[frozenset[Event], Order]]:
    """All true subsets of an order, over its events or fewer of them."""
    for n in range(len(events) + 1):
        for fewer in combinations(sorted(events), n):
            within = frozenset(fewer)
            for found in strict_partial_orders(within):
                if found <= order and (within, found) != (events, order):
                    yield within, found


def is_weak_cause(system: System, events: frozenset[Event], order: Order) -> bool:
    """Definition 22, condition by condition; feasible for up to four events."""
    if not (_satisfies_cc1(system, events, order) and _satisfies_cc2(system, events, order)):
        return False
    return not any(
        _satisfies_cc1(system, fewer, found) and _satisfies_cc2(system, fewer, found)
        for fewer, found in _smaller(events, order)
    )


def weak_causes(system: System, most_events: int = 4) -> set[tuple[frozenset[Event], Order]]:
    """All weak causes with at most so many events."""
    result = set()
    for trace in causal_trace_set(system):
        events = frozenset(events_of(trace))
        if len(events) <= most_events:
            result |= {
                (events, order)
                for order in strict_partial_orders(events)
                if is_weak_cause(system, events, order)
            }
    return result


def non_occurrences(
    system: System, events: frozenset[Event], order: Order, longest: int | None = None
) -> dict[Trace, tuple[int, ...]]:
    """Definition 29 for a weak cause: the minimal good traces that satisfy it, each with the places
    in it of the events that are not in the cause.

    Traces of simple executions are looked at, as the thesis' algorithm does (Theorem 8); with
    `longest`, all with at most so many actions.  A good trace satisfies the cause if its events can
    be picked from it so that they follow the order; the places are those that are left by the first
    way of picking.
    """
    found = {}
    traces = simple_good_traces(system) if longest is None else good_traces(system, longest)
    for trace in traces:
        picked = _picked(trace, events, order)
        if picked is not None:
            found[trace] = tuple(at for at in range(len(trace)) if at not in picked)
    return {
        trace: places
        for trace, places in found.items()
        if not (subtraces(trace) - {trace}) & found.keys()
    }


def _picked(trace: Trace, events: frozenset[Event], order: Order) -> tuple[int, ...] | None:
    for places in combinations(range(len(trace)), len(events)):
        sequence = events_of(tuple(trace[place] for place in places))
        if set(sequence) == events and consistent(sequence, order):
            return places
    return None
