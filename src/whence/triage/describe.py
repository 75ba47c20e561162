"""What a condition says, in as few constraints as its surroundings need.

A union of cells is told relative to the configurations that come into question: a constraint goes
without saying if, without it, nothing more of them is in the union. What comes out is one order of
leaving constraints out, always the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from whence.triage import values as v
from whence.triage.conditions import Cell, covers, meet_cells, without
from whence.triage.images import everything
from whence.triage.machine import Machine
from whence.triage.proofs import Assertion
from whence.triage.results import Assertion as AssertionText
from whence.triage.results import Literal_, StateAssertion
from whence.triage.values import Memory, Values
from whence.triage.words import time_text, values_text
from whence.zones.dates import FAR, Dates, anything, tighten

__all__ = ["Described", "as_cell", "assertion_text", "described", "memory_literal"]


@dataclass(frozen=True, slots=True)
class Described:
    """A cell by what restricts it: sets of values, and rows (i, j, raw)."""

    sets: tuple[tuple[int, Values], ...]
    bounds: tuple[tuple[int, int, int], ...]


def described(
    cells: Sequence[Cell], care: Sequence[Cell], ranges: Memory, universe: Dates
) -> list[Described]:
    """The cells, as far as they are among those in question, `care`.

    With :func:`as_cell` these are cells that say the same of those in question.

    Pre: the care cells are within `ranges` and `universe`."""
    relevant = [cell for cell in cells if meet_cells([cell], care)]
    rest = list(care)
    found: list[Described] = []
    for cell in relevant:
        # What earlier ones told need not be told again.
        if not meet_cells([cell], rest):
            continue
        one, wide = _loosest(cell, relevant, care, ranges, universe)
        found.append(one)
        rest = without(rest, [wide])
    return _needed(found, care, ranges, universe)


def _loosest(
    cell: Cell, cells: Sequence[Cell], care: Sequence[Cell], ranges: Memory, universe: Dates
) -> tuple[Described, Cell]:
    memory, zone = cell

    def fits(trial: Cell) -> bool:
        return all(covers(cells, part) for part in meet_cells([trial], care))

    for n, values in enumerate(memory):
        if values != ranges[n]:
            wider = (*memory[:n], ranges[n], *memory[n + 1 :])
            if fits((wider, zone)):
                memory = wider
    bounds = _bounds(zone, universe)
    # Often nothing on clocks is needed, or next to nothing.
    if bounds and fits((memory, universe)):
        bounds = []
    kept = list(bounds)
    for bound in bounds:
        trial = [other for other in kept if other != bound]
        if fits((memory, _zone(trial, universe))):
            kept = trial
    sets = tuple((n, x) for n, x in enumerate(memory) if x != ranges[n])
    return Described(sets, tuple(kept)), (memory, _zone(kept, universe))


def _needed(
    found: list[Described], care: Sequence[Cell], ranges: Memory, universe: Dates
) -> list[Described]:
    """Without those that the others make superfluous."""
    kept = list(found)
    for one in found:
        if len(kept) == 1:
            break
        others = [as_cell(other, ranges, universe) for other in kept if other is not one]
        mine = meet_cells([as_cell(one, ranges, universe)], care)
        if all(covers(others, part) for part in mine):
            kept = [other for other in kept if other is not one]
    return kept


def as_cell(one: Described, ranges: Memory, universe: Dates) -> Cell:
    sets = dict(one.sets)
    memory = tuple(sets.get(n, values) for n, values in enumerate(ranges))
    return memory, _zone(one.bounds, universe)


def _zone(bounds: Sequence[tuple[int, int, int]], universe: Dates) -> Dates:
    zone = universe.copy()
    for i, j, raw in bounds:
        tighten(zone, i, j, raw)
    return zone


def _bounds(zone: Dates, universe: Dates) -> list[tuple[int, int, int]]:
    """The bounds that are not in the universe, those between two clocks or two dates first: they
    are the first to be left out."""
    rows = [
        (i, j, int(zone[i, j]))
        for i, j in np.argwhere(zone < universe).tolist()
        if zone[i, j] != FAR
    ]
    return sorted(rows, key=lambda row: (not (row[0] and row[1]), row))


# ------------------------------------------------------------------------------------------ words


def assertion_text(machine: Machine, assertion: Assertion) -> AssertionText:
    """An interpolant, state by state: it denies every way to escape."""
    universe = anything(machine.clocks + 1, machine.clocks)
    found = []
    for state in sorted(assertion.states):
        always = machine.within[state].tolist()
        found.append(
            StateAssertion(
                machine.automaton.states[state].name,
                tuple(_clauses(machine, state, assertion.escapes.get(state, []), universe)),
                tuple(_bound(machine, i, j, raw) for i, j, raw in always),
            )
        )
    return tuple(found)


def _clauses(
    machine: Machine, state: int, escapes: list[Cell], universe: Dates
) -> Iterator[tuple[Literal_, ...]]:
    if not escapes:
        return
    care = everything(machine, state, universe)
    for one in described(escapes, care, machine.ranges, universe):
        literals = [
            memory_literal(machine, n, v.minus(machine.ranges[n], values)) for n, values in one.sets
        ]
        literals += [_bound(machine, j, i, 1 - raw) for i, j, raw in one.bounds]
        yield tuple(literals)


def memory_literal(machine: Machine, number: int, values: Values) -> Literal_:
    """That a variable has one of the values, told in the shortest way."""
    variable = machine.automaton.variables[number]
    outside = v.minus(machine.ranges[number], values)
    text = f"{variable.name} in {values_text(values, variable.names)}"
    if not values:
        text = "false"
    elif v.size(values) == 1:
        text = f"{variable.name} == {values_text(values, variable.names)}"
    elif v.size(outside) == 1:
        text = f"{variable.name} != {values_text(outside, variable.names)}"
    elif len(values) == 1 and not variable.names:
        low, high = values[0]
        if low == variable.low:
            text = f"{variable.name} <= {high}"
        elif high == variable.high:
            text = f"{variable.name} >= {low}"
    return Literal_(text, variable.name, values)


def _bound(machine: Machine, i: int, j: int, raw: int) -> Literal_:
    """x_i - x_j ~ c."""
    clocks = machine.automaton.clocks
    c = Fraction(raw >> 1, machine.scale)
    operator: Literal["<", "<=", ">", ">="] = "<=" if raw & 1 else "<"
    minus = ""
    if i == 0:
        # What bounds the negative of a clock from above bounds the clock from below.
        i, j, c, operator = j, 0, -c, ">=" if raw & 1 else ">"
    name = clocks[i - 1].name
    if j:
        minus = clocks[j - 1].name
    text = f"{name} - {minus}" if minus else name
    return Literal_(
        f"{text} {operator} {time_text(c)}",
        clock=name,
        minus=minus,
        operator=operator,
        bound=c,
    )
