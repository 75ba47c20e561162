"""Conditions: sets of configurations (Becker, section 3), as unions of cells.

A cell is a state, a product of value sets, and a zone. A condition maps states to cells, none of
which is part of another of its state, and no two of which could be one by joining the values of
one variable. States without cells do not occur. Cells are never changed, nor are their zones.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from whence.triage.values import Memory, memory_meet, memory_within, memory_without, merged
from whence.zones.dates import Dates, difference, included, meet_into

__all__ = ["Cell", "Condition", "covers", "meet_cells", "put", "without"]

Cell: TypeAlias = tuple[Memory, Dates]
Condition: TypeAlias = dict[int, list[Cell]]


def put(cells: list[Cell], cell: Cell) -> bool:
    """Add a cell; False if that changes nothing, because one cell includes it."""
    while True:
        memory, zone = cell
        joined = None
        for n, (other, area) in enumerate(cells):
            if area is zone:
                larger = smaller = True
            else:
                larger, smaller = included(area, zone), included(zone, area)
            if larger and memory_within(memory, other):
                return False
            if larger and smaller:
                joined = merged(memory, other)
                if joined is not None:
                    del cells[n]
                    break
        if joined is None:
            break
        cell = joined, zone
    kept = [old for old in cells if not (memory_within(old[0], memory) and included(zone, old[1]))]
    if len(kept) < len(cells):
        cells[:] = kept
    cells.append(cell)
    return True


def without(cells: Iterable[Cell], others: Sequence[Cell]) -> list[Cell]:
    """The cells without the others."""
    rest = list(cells)
    for memory, zone in others:
        left: list[Cell] = []
        for cell in rest:
            common = memory_meet(cell[0], memory)
            if common is None:
                left.append(cell)
                continue
            pieces = difference(cell[1], zone)
            if len(pieces) == 1 and pieces[0] is cell[1]:
                left.append(cell)
                continue
            left += [(part, cell[1]) for part in memory_without(cell[0], memory)]
            left += [(common, piece) for piece in pieces]
        rest = left
        if not rest:
            break
    return rest


def covers(cells: Sequence[Cell], cell: Cell) -> bool:
    """Whether the cells include the cell; exact, also if only several of them together do."""
    memory, zone = cell
    for other, area in cells:
        if (area is zone or included(area, zone)) and memory_within(memory, other):
            return True
    return len(cells) > 1 and not without([cell], cells)


def meet_cells(cells: Sequence[Cell], others: Sequence[Cell]) -> list[Cell]:
    """What is in both."""
    found: list[Cell] = []
    for memory, zone in cells:
        for other, area in others:
            common = memory_meet(memory, other)
            if common is None:
                continue
            if area is zone:
                put(found, (common, zone))
                continue
            both = zone.copy()
            if meet_into(zone, area, both):
                put(found, (common, both))
    return found
