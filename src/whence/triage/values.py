"""Sets of integers, and sets of memory valuations that are products of such sets.

A set is a tuple of closed intervals, ascending, with a gap between any two: one form for one set.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

__all__ = [
    "EMPTY",
    "Memory",
    "Values",
    "join",
    "meet",
    "memory_meet",
    "memory_within",
    "memory_without",
    "merged",
    "minus",
    "of",
    "shifted",
    "single",
    "size",
    "span",
    "unroll",
    "within",
]

Values: TypeAlias = tuple[tuple[int, int], ...]
EMPTY: Values = ()

#: One set a variable: all valuations that take a value of each.
Memory: TypeAlias = tuple[Values, ...]


def single(value: int) -> Values:
    return ((value, value),)


def span(low: int, high: int) -> Values:
    return ((low, high),) if low <= high else EMPTY


def of(values: Iterable[int]) -> Values:
    """The set of these values."""
    found: list[tuple[int, int]] = []
    for value in sorted(set(values)):
        if found and found[-1][1] + 1 == value:
            found[-1] = (found[-1][0], value)
        else:
            found.append((value, value))
    return tuple(found)


def meet(a: Values, b: Values) -> Values:
    if a == b:
        return a
    found = []
    i = j = 0
    while i < len(a) and j < len(b):
        low, high = max(a[i][0], b[j][0]), min(a[i][1], b[j][1])
        if low <= high:
            found.append((low, high))
        if a[i][1] < b[j][1]:
            i += 1
        else:
            j += 1
    return tuple(found)


def join(a: Values, b: Values) -> Values:
    found: list[tuple[int, int]] = []
    for low, high in sorted((*a, *b)):
        if found and low <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(found[-1][1], high))
        else:
            found.append((low, high))
    return tuple(found)


def minus(a: Values, b: Values) -> Values:
    found = []
    for interval in a:
        low, high = interval
        for left, right in b:
            if right < low:
                continue
            if left > high:
                break
            if left > low:
                found.append((low, left - 1))
            low = right + 1
        if low <= high:
            found.append((low, high))
    return tuple(found)


def within(a: Values, b: Values) -> bool:
    """Whether a is a subset of b."""
    return a == b or meet(a, b) == a


def size(a: Values) -> int:
    return sum(high - low + 1 for low, high in a)


def unroll(a: Values) -> Iterator[int]:
    for low, high in a:
        yield from range(low, high + 1)


def shifted(a: Values, amount: int) -> Values:
    return tuple((low + amount, high + amount) for low, high in a)


def memory_meet(a: Memory, b: Memory) -> Memory | None:
    """What is in both, None if nothing is."""
    if a == b:
        return a
    found = []
    for x, y in zip(a, b, strict=True):
        common = meet(x, y)
        if not common:
            return None
        found.append(common)
    return tuple(found)


def memory_within(a: Memory, b: Memory) -> bool:
    """Whether a is a subset of b. Pre: a is not empty."""
    return a == b or all(within(x, y) for x, y in zip(a, b, strict=True))


def memory_without(a: Memory, b: Memory) -> list[Memory]:
    """Disjoint products whose union is a without b."""
    found = []
    rest = list(a)
    for n, (x, y) in enumerate(zip(a, b, strict=True)):
        outside = minus(x, y)
        if outside:
            found.append((*rest[:n], outside, *rest[n + 1 :]))
        common = meet(x, y)
        if not common:
            return found
        rest[n] = common
    return found


def merged(a: Memory, b: Memory) -> Memory | None:
    """The union, if it is a product because all but one variable agree."""
    different = -1
    for n, (x, y) in enumerate(zip(a, b, strict=True)):
        if x != y:
            if different >= 0:
                return None
            different = n
    if different < 0:
        return a
    return (*a[:different], join(a[different], b[different]), *a[different + 1 :])
