"""The smallest set cover, by branch and bound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Budget", "smallest_cover"]


@dataclass(slots=True)
class Budget:
    """How many more partial covers may be looked at."""

    steps: int


def smallest_cover(
    size: int, sets: Sequence[frozenset[int]], budget: Budget
) -> tuple[tuple[int, ...], bool]:
    """(numbers of sets that together contain 0 .. size - 1, whether there are no fewer such).

    Pre: all sets together do. The first of several smallest covers, sets taken in their order.
    """
    masks = [sum(1 << element for element in members) for members in sets]
    best = _greedy(size, masks)
    largest = max((mask.bit_count() for mask in masks), default=1) or 1
    containing = [[n for n, mask in enumerate(masks) if mask >> e & 1] for e in range(size)]
    fewest = True

    def search(covered: int, chosen: tuple[int, ...]) -> None:
        nonlocal best, fewest
        if covered.bit_count() == size:
            if len(chosen) < len(best):
                best = tuple(sorted(chosen))
            return
        missing = size - covered.bit_count()
        if len(chosen) + -(-missing // largest) >= len(best):
            return
        if budget.steps <= 0:
            fewest = False
            return
        budget.steps -= 1
        # The element that the fewest sets contain.
        element = min(
            (e for e in range(size) if not covered >> e & 1), key=lambda e: len(containing[e])
        )
        for number in sorted(containing[element], key=lambda n: -(masks[n] & ~covered).bit_count()):
            search(covered | masks[number], (*chosen, number))

    search(0, ())
    return best, fewest


def _greedy(size: int, masks: Sequence[int]) -> tuple[int, ...]:
    covered = 0
    chosen: list[int] = []
    while covered.bit_count() < size:
        number = max(range(len(masks)), key=lambda n: ((masks[n] & ~covered).bit_count(), -n))
        if not masks[number] & ~covered:
            raise ValueError("the sets do not cover everything")
        covered |= masks[number]
        chosen.append(number)
    return tuple(sorted(chosen))
