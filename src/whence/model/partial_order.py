"""Strict partial orders, given by some of their pairs (earlier, later)."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from typing import TypeVar

from whence.source import InputError

__all__ = ["direct", "predecessors"]

T = TypeVar("T", bound=Hashable)


def predecessors(elements: Collection[T], pairs: Iterable[tuple[T, T]]) -> dict[T, frozenset[T]]:
    """For each element all those before it: the transitive closure of the pairs.

    Raises InputError where this is no strict partial order of these elements."""
    before: dict[T, set[T]] = {element: set() for element in elements}
    for earlier, later in pairs:
        for element in (earlier, later):
            if element not in before:
                raise InputError(f"the order speaks of {element}, which is none of its events")
        before[later].add(earlier)
    after: dict[T, list[T]] = {element: [] for element in before}
    for later, earliers in before.items():
        for earlier in earliers:
            after[earlier].append(later)
    missing = {element: len(earliers) for element, earliers in before.items()}
    ready = [element for element, count in missing.items() if count == 0]
    closed: dict[T, frozenset[T]] = {}
    while ready:
        element = ready.pop()
        earliers = before[element]
        closed[element] = frozenset(earliers).union(*(closed[other] for other in earliers))
        for later in after[element]:
            missing[later] -= 1
            if missing[later] == 0:
                ready.append(later)
    if len(closed) < len(before):
        circle = _on_circles({e: before[e] for e in before if e not in closed})
        names = ", ".join(sorted(map(str, circle)))
        raise InputError(f"this is no order, it goes round in a circle: {names}")
    return closed


def _on_circles(waiting: Mapping[T, set[T]]) -> set[T]:
    """Without those that nothing waits for, which are only behind a circle."""
    left = set(waiting)
    while True:
        needed = {other for element in left for other in waiting[element]} & left
        if needed == left:
            return left
        left = needed


def direct(before: Mapping[T, frozenset[T]]) -> frozenset[tuple[T, T]]:
    """What is left of a closed order without the pairs that follow from others: its transitive
    reduction."""
    return frozenset(
        (earlier, later)
        for later, earliers in before.items()
        for earlier in earliers.difference(*(before[between] for between in earliers))
    )
