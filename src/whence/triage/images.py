"""Images of conditions under events and time (Becker, section 6).

Forwards these are strongest postconditions. Time progressions are taken apart in all ways at once:
a date to come, the end of the progression, is kept in the zones, and Δ transitions are taken while
it is not passed, until that gives nothing new. As all is exact, no widening is needed where updates
are constants; with arithmetic it may go on and on, and is then given up with a message.

Backwards these are existential: the configurations from which a run *can* continue. Weakest
preconditions are their complements, which nothing here has to compute: an inclusion of two
weakest preconditions is one of the complements, the other way round.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

import numpy as np

from whence.source import Diagnostic, UnsupportedError
from whence.triage.conditions import Cell, Condition, put
from whence.triage.machine import Machine, Way
from whence.zones.dates import (
    FAR,
    NON_NEGATIVE,
    Dates,
    add_date,
    age,
    back_over_delay,
    back_over_step,
    close_dates,
    coarsen,
    drop_date,
    over_delay,
    over_step,
    tighten,
    tighten_all,
)

__all__ = ["before_event", "before_time", "everything", "forced", "post_event", "post_time"]

#: So many cells may come up in one progression of time.
MOST_CELLS = 1_500
#: In a progression of any time, so many until bounds far beyond the constants of the model are
#: given up, and so many until all are.
_EXACT_CELLS = 64
_COARSE_CELLS = 512

_NONE = np.empty((0, 3), np.int64)
_NO_RESETS = np.empty(0, np.int64)


def post_event(machine: Machine, condition: Condition, shape: int) -> Condition:
    """sp for an event (Lemma 4)."""
    found: Condition = {}
    for state, cells in condition.items():
        for way in machine.moves(state, shape):
            for cell in _over(way, cells):
                put(found.setdefault(way.target, []), cell)
    return found


def _over(way: Way, cells: Iterable[Cell]) -> Iterable[Cell]:
    for memory, zone in cells:
        if way.timeless:
            after = zone
        elif not way.memoryless and not way.after(memory):
            continue
        else:
            after = np.empty_like(zone)
            if not over_step(zone, way.constraints, way.resets, after):
                continue
        for one in way.after(memory):
            yield one, after


def post_time(machine: Machine, condition: Condition, amount: int) -> Condition:
    """sp for a progression of time, over all its decompositions.

    Only the result is exact, not what is passed on the way: clocks may have any value there."""
    found: Condition = {}
    others: Condition = {}
    for state, cells in condition.items():
        if not machine.only_idle[state]:
            others[state] = cells
        elif not amount or not machine.clocks:
            found[state] = list(cells)
        else:
            found[state] = aged = []
            for memory, zone in cells:
                after = np.empty_like(zone)
                age(zone, amount, machine.clocks, after)
                aged.append((memory, after))
    if others:
        for state, cells in during(machine, others, amount).items():
            for cell in _at_end(machine, state, cells):
                put(found.setdefault(state, []), cell)
    return found


def during(machine: Machine, condition: Condition, amount: int) -> Condition:
    """What Δ transitions lead to within a progression of time. The zones have one date more, its
    end; waiting idly is left out."""
    end = machine.clocks + 1
    reached: Condition = {}
    pending: list[tuple[int, Cell]] = []
    for state, cells in condition.items():
        for memory, zone in cells:
            start = np.empty((end + 1, end + 1), np.int64)
            add_date(zone, -amount, start)
            put(reached.setdefault(state, []), (memory, start))
            pending.append((state, (memory, start)))
    count = 0
    while pending:
        state, (memory, zone) = pending.pop()
        for way in machine.waits(state):
            memories = way.after(memory)
            if not memories:
                continue
            after = np.empty_like(zone)
            if not over_delay(zone, way.constraints, way.resets, end, after):
                continue
            for one in memories:
                cell = one, after
                if put(reached.setdefault(way.target, []), cell):
                    pending.append((way.target, cell))
                    count += 1
        if count > MOST_CELLS:
            raise _endless(machine, state)
    return reached


def _endless(machine: Machine, state: int) -> UnsupportedError:
    declared = machine.automaton.states[state]
    return UnsupportedError(
        Diagnostic(
            "time progressions do not come to an end: Δ transitions go round through the state"
            f" {declared.name} and reach new configurations each time (the cycle is not"
            " idempotent)",
            declared.origin,
            "bound what its updates compute, or let it not be repeated",
        )
    )


def _at_end(machine: Machine, state: int, cells: Iterable[Cell]) -> Iterable[Cell]:
    size = machine.clocks + 1
    for memory, zone in cells:
        last = np.empty_like(zone)
        if machine.idle[state]:
            over_delay(zone, _NONE, _NO_RESETS, size, last)
        else:
            last[:] = zone
        after = np.empty((size, size), np.int64)
        if drop_date(last, 0, after):
            yield memory, after


def forced(machine: Machine, condition: Condition, amount: int) -> Condition:
    """As :func:`post_time`, but time passes although nothing lets it: after what Δ transitions do
    on the way, states just stay."""
    size = machine.clocks + 1
    found: Condition = {}
    for state, cells in during(machine, condition, amount).items():
        for memory, zone in cells:
            last = np.empty_like(zone)
            over_delay(zone, _NONE, _NO_RESETS, size, last)
            after = np.empty((size, size), np.int64)
            if drop_date(last, 0, after):
                put(found.setdefault(state, []), (memory, after))
    return found


# ------------------------------------------------------------------------------------- backwards


def everything(machine: Machine, state: int, universe: Dates) -> list[Cell]:
    """All configurations in a state, as far as the bounds hold that always hold there.

    `universe` bounds the dates that there are besides the clocks."""
    zone = universe.copy()
    return [(machine.ranges, zone)] if tighten_all(zone, machine.within[state]) else []


def before_event(
    machine: Machine,
    target: Condition,
    inside: Collection[int],
    sources: Iterable[int],
    shape: int,
    universe: Dates,
) -> Condition:
    """For each source the configurations from which an event can lead into `target`, or into a
    state that is not `inside`."""
    found: Condition = {}
    for state in sources:
        cells: list[Cell] = []
        for way in machine.moves(state, shape):
            if way.target in inside:
                goal = target.get(way.target, [])
            else:
                goal = everything(machine, way.target, universe)
            for memory, zone in goal:
                memories = way.before(memory)
                if not memories:
                    continue
                earlier = np.empty_like(zone)
                if not back_over_step(
                    zone, way.constraints, way.resets, machine.clocks, earlier
                ) or not tighten_all(earlier, machine.within[state]):
                    continue
                for one in memories:
                    put(cells, (one, earlier))
        if cells:
            found[state] = cells
    return found


def before_time(
    machine: Machine,
    target: Condition,
    inside: Collection[int],
    sources: Iterable[int],
    amount: int | None,
    universe: Dates,
) -> Condition:
    """As :func:`before_event`, for a progression of time: of `amount`, or, if that is None, up to
    a date that the zones of the result have in addition.

    Then Δ transitions that go round in circles may make infinitely many cells. In this case, and
    only then, the result is larger than it should be, at last everything."""
    found: Condition = {}
    others: list[int] = []
    for state in sources:
        if amount is None or not machine.only_idle[state]:
            others.append(state)
            continue
        if state not in inside:
            found[state] = everything(machine, state, universe)
            continue
        cells: list[Cell] = []
        for memory, zone in target.get(state, ()):
            earlier = zone
            if amount and machine.clocks:
                earlier = np.empty_like(zone)
                if not age(zone, -amount, machine.clocks, earlier) or not tighten_all(
                    earlier, machine.within[state]
                ):
                    continue
            put(cells, (memory, earlier))
        if cells:
            found[state] = cells
    if others:
        _before_waiting(machine, target, inside, others, amount, universe, found)
    return found


def _before_waiting(
    machine: Machine,
    target: Condition,
    inside: Collection[int],
    sources: list[int],
    amount: int | None,
    universe: Dates,
    found: Condition,
) -> None:
    size = universe.shape[0]
    involved = {state for source in sources for state in machine.reach(source)}
    reached: Condition = {}
    pending: list[tuple[int, Cell]] = []
    count = 0

    constant = 4 * int(machine.common.largest * machine.scale) + 1

    def add(state: int, cell: Cell) -> None:
        nonlocal count
        if amount is None and count > _EXACT_CELLS:
            wide = cell[1].copy()
            coarsen(wide, constant)
            cell = cell[0], wide
            if count > _COARSE_CELLS:
                (cell,) = everything(machine, state, _any_end(universe))
        if put(reached.setdefault(state, []), cell):
            pending.append((state, cell))
            count += 1
            if amount is not None and count > MOST_CELLS:
                raise _endless(machine, state)

    for state in sorted(involved):
        goal = target.get(state, []) if state in inside else everything(machine, state, universe)
        for memory, zone in goal:
            last = np.empty((size + 1, size + 1), np.int64)
            add_date(zone, 0, last)
            add(state, (memory, last))
            if machine.idle[state]:
                _idly(machine, state, (memory, last), add)
    while pending:
        state, (memory, zone) = pending.pop()
        for way in machine.waits_into(state):
            if way.source not in involved:
                continue
            memories = way.before(memory)
            if not memories:
                continue
            earlier = np.empty_like(zone)
            if not back_over_delay(
                zone,
                way.constraints,
                way.resets,
                machine.clocks,
                machine.within[way.source],
                earlier,
            ) or (amount is not None and not tighten(earlier, 0, size, 2 * amount + 1)):
                continue
            for one in memories:
                add(way.source, (one, earlier))
    for state in sources:
        cells: list[Cell] = []
        for memory, zone in reached.get(state, ()):
            if amount is None:
                put(cells, (memory, zone))
                continue
            earlier = np.empty((size, size), np.int64)
            if drop_date(zone.copy(), -amount, earlier):
                put(cells, (memory, earlier))
        if cells:
            found[state] = cells


def _any_end(universe: Dates) -> Dates:
    """With a date to come that may be anywhere: not even before the others."""
    size = universe.shape[0]
    wide = np.full((size + 1, size + 1), FAR, np.int64)
    wide[:size, :size] = universe
    wide[size, size] = wide[size, 0] = NON_NEGATIVE
    close_dates(wide)
    return wide


def _idly(machine: Machine, state: int, cell: Cell, add: Callable[[int, Cell], None]) -> None:
    memory, zone = cell
    earlier = np.empty_like(zone)
    if back_over_delay(zone, _NONE, _NO_RESETS, machine.clocks, machine.within[state], earlier):
        add(state, (memory, earlier))
