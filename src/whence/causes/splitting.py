"""Causes whose order says exactly which sequences lead to the hazard.

The order of a cause may admit sequences that are no causal traces (Koelbl, section 6.2: <a,b,c> and
<c,a,b> also admit <a,c,b>).  Here such a set of traces is split into the fewest orders that admit
these traces and no others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from whence.causes.orders import TraceClass
from whence.solve.covers import Budget, smallest_cover

__all__ = ["Split", "split"]

_Order = tuple[int, ...]

#: How many orders are looked at, and how many traces are listed, before giving up.
_MOST_ORDERS = 20_000
_MOST_TRACES = 50_000


@dataclass(frozen=True, slots=True)
class Split:
    """Orders, each exact, that together admit just the traces of a class. `fewest`: there is no
    smaller set of such orders."""

    orders: tuple[_Order, ...]
    fewest: bool


def split(traces: TraceClass) -> Split | None:
    """The fewest exact orders; None where there are too many traces or orders to look at.

    An order that admits a sequence which is no trace has to be made stronger: in it, some two
    events of that sequence must be the other way round.
    """
    if traces.count() > _MOST_TRACES:
        return None
    exact = _exact_orders(traces)
    if exact is None:
        return None
    orders = _weakest(exact)
    members = list(traces.traces())
    covers = [
        frozenset(n for n, trace in enumerate(members) if keeps_to(trace, order))
        for order in orders
    ]
    chosen, fewest = smallest_cover(len(members), covers, Budget(steps=200_000))
    return Split(tuple(orders[n] for n in sorted(chosen)), fewest)


def keeps_to(trace: Sequence[int], order: _Order) -> bool:
    """Whether a sequence of all events keeps to an order."""
    rest = (1 << len(order)) - 1
    seen = 0
    for event in trace:
        if order[event] & seen:
            return False
        seen |= 1 << event
        rest &= ~(1 << event)
    return not rest


def _exact_orders(traces: TraceClass) -> list[_Order] | None:
    todo = [traces.order()]
    known = set(todo)
    exact: list[_Order] = []
    while todo:
        order = todo.pop()
        inside = traces.within(order)
        if inside is None:
            continue
        # What holds in all traces that are left belongs to the order.
        tight = inside.order()
        if tight != order:
            if tight not in known:
                known.add(tight)
                todo.append(tight)
            continue
        other = inside.admits_others(order)
        if other is None:
            exact.append(order)
            continue
        for earlier, later in _inversions(order, other):
            stronger = with_pair(order, earlier, later)
            if stronger not in known:
                known.add(stronger)
                todo.append(stronger)
        if len(known) > _MOST_ORDERS:
            return None
    return exact


def _inversions(order: _Order, sequence: Sequence[int]) -> list[tuple[int, int]]:
    """Pairs that could be ordered so that the sequence is not admitted: (earlier, later), `later`
    being first in it."""
    return [
        (second, first)
        for place, first in enumerate(sequence)
        for second in sequence[place + 1 :]
        if not order[first] >> second & 1
    ]


def with_pair(order: _Order, earlier: int, later: int) -> _Order:
    """The order in which one event comes before another as well, and what follows from that."""
    before = [n for n in range(len(order)) if n == earlier or order[n] >> earlier & 1]
    after = order[later] | 1 << later
    stronger = list(order)
    for event in before:
        stronger[event] |= after
    return tuple(stronger)


def _weakest(orders: Sequence[_Order]) -> list[_Order]:
    """Those that no other contains less than."""
    found: list[_Order] = []
    for order in sorted(set(orders), key=lambda o: (sum(later.bit_count() for later in o), o)):
        if not any(all(a & ~b == 0 for a, b in zip(weak, order, strict=True)) for weak in found):
            found.append(order)
    return found
