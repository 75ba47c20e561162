"""Proof templates (Becker, section 5): the proof of a sequence of events, whatever the times.

The times of a template are dates to come, so that its assertions are difference constraints, too.
As everywhere in this package their complements are kept, the escapes. A template is unique for a
sequence of events (C1): its control states are those that the sequence can lead to at any times.

Its atomic clock constraints are what the assertions still say when everything is left out that no
run along these events can make false (see :mod:`whence.triage.describe`), and what only repeats
that dates are in order. What is satisfied of them by the times of an explanation, makes its class.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from fractions import Fraction
from typing import Literal

import numpy as np

from whence.model.prd import EventTrace
from whence.triage.conditions import Cell, Condition, put
from whence.triage.describe import as_cell, described
from whence.triage.images import before_event, before_time, everything, post_event
from whence.triage.machine import Machine
from whence.triage.proofs import at_the_end
from whence.triage.replay import END
from whence.triage.results import Atom, Fault, Template
from whence.triage.words import time_text
from whence.zones.dates import (
    FAR,
    Dates,
    add_date,
    anything,
    back_over_delay,
    included,
    meet_into,
    over_step,
)

__all__ = ["instance_key", "satisfied", "signature", "template_of"]

#: Where time alone leads to a state with more cells than that, it may lead there with any clocks.
_MOST_CELLS = 64

#: So many dates are kept in the zones of a template.
_MOST_DATES = 48

_NONE = np.empty((0, 3), np.int64)
_NO_RESETS = np.empty(0, np.int64)


# -------------------------------------------------------------------------------------- signature


def signature(
    machine: Machine, trace: EventTrace, fault: Fault, events: Sequence[int], rebased: bool
) -> tuple[str, ...]:
    """The events of an explanation, as far as the model can tell them from others."""
    looks = [] if rebased else ["after another fault"]
    looks += [machine.common.patterns.look(trace.events[index]) for index in events]
    if fault.index is None or fault.index not in events:
        looks.append("missing")
    return tuple(looks)


# --------------------------------------------------------------------------------------- template


def template_of(
    machine: Machine,
    start: Condition | None,
    shapes: Sequence[int],
    of_time: bool,
    looks: tuple[str, ...],
) -> Template:
    """The template of a sequence of events; `start` None: from any initial configuration.
    `of_time`: the last symbolic time is the fault, after all events."""
    kept = machine.templates
    # Without shared starts there is little to be had from keeping templates.
    key = (tuple(shapes), of_time, looks)
    if start is None:
        found = kept.get(key)
        if isinstance(found, Template):
            return found
    template = _template(machine, start or machine.initial(), shapes, of_time, looks)
    if start is None:
        kept[key] = template
    return template


def _template(
    machine: Machine,
    start: Condition,
    shapes: Sequence[int],
    of_time: bool,
    looks: tuple[str, ...],
) -> Template:
    gaps = len(shapes) + of_time
    after, before = _possible(machine, start, shapes, gaps)
    atoms: dict[tuple[object, ...], Atom] = {}
    universe = anything(machine.clocks + 1, machine.clocks)
    #: The numbers of the gaps that end at the dates in the zones, the first ones last.
    ends: list[int] = []
    inside: frozenset[int] = frozenset()
    escapes: Condition = {}
    for gap in range(gaps - 1, -1, -1):
        if gap < len(shapes):
            states = frozenset(before[gap])
            if shapes[gap] == END:
                escapes = at_the_end(machine, states, universe)
            else:
                escapes = before_event(
                    machine, escapes, inside, sorted(states), shapes[gap], universe
                )
            inside = states
            escapes = _collect(
                machine, atoms, 2 * gap + 1, gap + 1, escapes, before[gap], universe, ends
            )
        states = frozenset(after[gap])
        escapes = before_time(machine, escapes, inside, sorted(states), None, universe)
        inside = states
        universe = _one_date_more(machine, universe)
        ends.append(gap)
        universe, escapes = _without_idle_dates(universe, escapes, ends, machine.clocks)
        escapes = _collect(machine, atoms, 2 * gap, gap, escapes, after[gap], universe, ends)
    ordered = tuple(sorted(atoms.values(), key=lambda atom: (atom.position, atom.text)))
    return Template(_digest([list(looks), [atom.text for atom in ordered]]), looks, ordered)


def _possible(
    machine: Machine, start: Condition, shapes: Sequence[int], gaps: int
) -> tuple[list[Condition], list[Condition]]:
    """What the events can lead to, at any times."""
    after, before = [start], list[Condition]()
    for gap in range(gaps):
        before.append(_any_time(machine, after[-1]))
        if gap + 1 < gaps:
            after.append(post_event(machine, before[-1], shapes[gap]))
    return after, before


def _any_time(machine: Machine, condition: Condition) -> Condition:
    """Everything that time can lead to, or more."""
    found: Condition = {}
    pending: list[tuple[int, Cell]] = []
    universe = anything(machine.clocks + 1, machine.clocks)

    added: dict[int, int] = {}

    def add(state: int, cell: Cell) -> None:
        if added.get(state, 0) > _MOST_CELLS:
            (cell,) = everything(machine, state, universe)
        if put(found.setdefault(state, []), cell):
            pending.append((state, cell))
            added[state] = added.get(state, 0) + 1

    for state, cells in condition.items():
        for cell in cells:
            add(state, cell)
    while pending:
        state, (memory, zone) = pending.pop()
        later = zone.copy()
        later[1:, 0] = FAR
        if machine.idle[state]:
            add(state, (memory, later))
        for way in machine.waits(state):
            after = np.empty_like(zone)
            if over_step(later, way.constraints, way.resets, after):
                for one in way.after(memory):
                    add(way.target, (one, after))
    return found


def _one_date_more(machine: Machine, universe: Dates) -> Dates:
    """A date to come before all the others."""
    size = universe.shape[0]
    last = np.empty((size + 1, size + 1), np.int64)
    add_date(universe, 0, last)
    found = np.empty_like(last)
    back_over_delay(last, _NONE, _NO_RESETS, machine.clocks, _NONE, found)
    return found


def _without_idle_dates(
    universe: Dates, escapes: Condition, ends: list[int], clocks: int
) -> tuple[Dates, Condition]:
    """Without the dates of which the escapes say nothing but their order, and, of very many, those
    farthest away."""
    while True:
        far = len(ends) > _MOST_DATES
        for n in range(len(ends)):
            place = clocks + 1 + n
            keep = [i for i in range(universe.shape[0]) if i != place]
            if far or all(
                _says_nothing(zone, universe, place, keep)
                for cells in escapes.values()
                for _, zone in cells
            ):
                break
        else:
            return universe, escapes
        del ends[n]
        grid = np.ix_(keep, keep)
        universe = np.ascontiguousarray(universe[grid])
        escapes = {
            state: [(memory, np.ascontiguousarray(zone[grid])) for memory, zone in cells]
            for state, cells in escapes.items()
        }


def _says_nothing(zone: Dates, universe: Dates, place: int, keep: list[int]) -> bool:
    loose = universe.copy()
    grid = np.ix_(keep, keep)
    rest = np.full_like(zone, FAR)
    rest[grid] = zone[grid]
    rest[place, place] = 1
    both = np.empty_like(zone)
    return meet_into(loose, rest, both) and bool(included(zone, both))


# ------------------------------------------------------------------------------------------ atoms


def _collect(
    machine: Machine,
    atoms: dict[tuple[object, ...], Atom],
    position: int,
    gap: int,
    escapes: Condition,
    possible: Condition,
    universe: Dates,
    ends: Sequence[int],
) -> Condition:
    """The atoms of an assertion: time has passed up to the beginning of `gap`.

    Returns the escapes in fewer and simpler cells. They may differ where these events do not lead;
    from there none leads back, so that it makes no difference to what comes before."""
    size = universe.shape[0]
    simpler: Condition = {}
    for state in sorted(escapes):
        care: list[Cell] = []
        for memory, zone in possible.get(state, ()):
            wide = universe.copy()
            places = machine.clocks + 1
            wide[:places, :places] = np.minimum(wide[:places, :places], zone)
            both = np.empty((size, size), np.int64)
            if meet_into(universe, wide, both):
                care.append((memory, both))
        for one in described(escapes[state], care, machine.ranges, universe):
            put(simpler.setdefault(state, []), as_cell(one, machine.ranges, universe))
            for i, j, raw in one.bounds:
                # The assertion denies the bound of the escape.
                atom = _atom(machine, position, gap, j, i, 1 - raw, ends)
                key = atom.clock, atom.minus, atom.operator, atom.bound, atom.first, atom.last
                known = atoms.get(key)
                if known is None or known.position > position:
                    atoms[key] = atom
    return simpler


def _atom(
    machine: Machine, position: int, gap: int, i: int, j: int, raw: int, ends: Sequence[int]
) -> Atom:
    """x_i - x_j ~ c, where ages of dates to come are minus the time until then."""
    clocks = machine.automaton.clocks
    c = Fraction(raw >> 1, machine.scale)
    strict = not raw & 1

    def is_date(n: int) -> bool:
        return n > machine.clocks

    def end(n: int) -> int:
        return ends[n - machine.clocks - 1]

    if is_date(i) and is_date(j):
        if end(i) < end(j):
            return _made(position, "<" if strict else "<=", c, end(i) + 1, end(j))
        return _made(position, ">" if strict else ">=", -c, end(j) + 1, end(i))
    if is_date(i):
        clock = clocks[j - 1].name if j else ""
        return _made(position, ">" if strict else ">=", -c, gap, end(i), clock)
    if is_date(j):
        clock = clocks[i - 1].name if i else ""
        return _made(position, "<" if strict else "<=", c, gap, end(j), clock)
    if not i:
        return _made(position, ">" if strict else ">=", -c, gap, gap - 1, clocks[j - 1].name)
    minus = clocks[j - 1].name if j else ""
    sign: Literal["<", "<="] = "<" if strict else "<="
    return _made(position, sign, c, gap, gap - 1, clocks[i - 1].name, minus)


def _made(
    position: int,
    operator: Literal["<", "<=", ">", ">="],
    bound: Fraction,
    first: int,
    last: int,
    clock: str = "",
    minus: str = "",
) -> Atom:
    left = " + ".join([*([clock] if clock else []), *(f"u{n}" for n in range(first, last + 1))])
    if minus:
        left = f"{left} - {minus}"
    text = f"{left} {operator} {time_text(bound)}"
    return Atom(position, text, operator, bound, first, last, clock, minus)


def satisfied(template: Template, times: Sequence[Fraction]) -> tuple[bool, ...]:
    """Which atoms have solutions with these times: clocks may have any values."""
    return tuple(_satisfiable(atom, times) for atom in template.atoms)


def _satisfiable(atom: Atom, times: Sequence[Fraction]) -> bool:
    if atom.minus or (atom.clock and atom.operator in (">", ">=")):
        return True
    total = sum(times[atom.first : atom.last + 1], Fraction(0))
    match atom.operator:
        case "<":
            return total < atom.bound
        case "<=":
            return total <= atom.bound
        case ">":
            return total > atom.bound
        case ">=":
            return total >= atom.bound


def instance_key(template: Template, truth: Sequence[bool]) -> str:
    """The key of the class: the same for α and β exactly if α ~ β."""
    texts = sorted((atom.text, holds) for atom, holds in zip(template.atoms, truth, strict=True))
    return _digest([list(template.events), texts])


def _digest(content: object) -> str:
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:16]
