"""Searching the symbolic states of a network: one loop for discrete models and zone graphs.

A node is a discrete state with a zone that includes delay (zones of Bengtsson & Yi 2004 in their
"elapsed" form), extrapolated with the L and U bounds of its location vector (Behrmann et al.
2006).  A node that an earlier one covers is dropped.
"""

from __future__ import annotations

from typing import Any

from whence.explore.kernels import vm
from whence.explore.kernels.expand import (
    NO_ROOM,
    apply_parts,
    bounds_of_state,
    constrain_all,
    enabling_zone,
    enumerate_candidates,
    guard_zone,
    load_row,
    may_delay,
    state_invariants,
)
from whence.explore.kernels.known import intern_row, remember, twin_of
from whence.explore.kernels.tables import (
    CANDIDATE_CHANNEL,
    CANDIDATE_COUNT,
    CANDIDATE_PARTS,
    CANDIDATE_PRIORITY,
    CHANNEL_BROADCAST,
    COUNT_BEST,
    COUNT_COVERED,
    COUNT_CURRENT,
    COUNT_EDGES,
    COUNT_EXPANDED,
    COUNT_FAULT,
    COUNT_FAULT_NODE,
    COUNT_FAULT_ORDINAL,
    COUNT_FAULT_PC,
    COUNT_FOUND,
    COUNT_NEXT,
    COUNT_NODES,
    COUNT_PENDING,
    COUNT_TRANSITIONS,
    COVER_EQUAL,
    COVER_INCLUSION,
    COVER_MUTUAL,
    COVERED,
    DONE,
    EXPANDED,
    FAULTED,
    FOUND,
    GOAL_DEADLOCK,
    GOAL_PROGRAM,
    GROW_CONSTRAINTS,
    GROW_EDGES,
    GROW_NODES,
    GROW_PIECES,
    GROW_ROWS,
    KEPT_EDGE,
    KEPT_ORDINAL,
    KEPT_PARTNER,
    KEPT_SOURCE,
    KEPT_TARGET,
    NO_NODE,
    NODE_MARK,
    NODE_NEXT,
    NODE_ORDINAL,
    NODE_PARENT,
    NODE_ROW,
    NODE_STATUS,
    ORDER_BREADTH,
    ORDER_DEPTH,
    ORDER_TIME,
    OVERFLOWED,
    PART_EDGE,
    PAUSED,
    SET_CLOCKS,
    SET_COVER,
    SET_DIAGONALS,
    SET_DROP_COVERED,
    SET_FILTER,
    SET_GOAL_DEADLOCK,
    SET_KEEP_EDGES,
    SET_ORDER,
    SET_STOP,
    SET_TIME_CLOCK,
    SET_WIDTH,
    WAITING,
)
from whence.zones import dbm, extrapolation
from whence.zones.bounds import EMPTY, OK, OVERFLOW
from whence.zones.federation import subtract_into
from whence.zones.jit import internal, kernel

__all__ = ["NO_BEST", "advance", "advance_splitting"]

#: COUNT_BEST before any goal was found.
NO_BEST = 2**62


# ------------------------------------------------------------------------------- waiting states


@internal
def _heap_push(pending: Any, keys: Any, size: int, node: int, key: int) -> None:
    at = size
    while at > 0:
        up = (at - 1) >> 1
        if keys[up] < key or (keys[up] == key and pending[up] < node):
            break
        keys[at] = keys[up]
        pending[at] = pending[up]
        at = up
    keys[at] = key
    pending[at] = node


@internal
def _heap_pop(pending: Any, keys: Any, size: int) -> int:
    node = pending[0]
    last = size - 1
    moved, key = pending[last], keys[last]
    at = 0
    while True:
        down = 2 * at + 1
        if down >= last:
            break
        if down + 1 < last and (
            keys[down + 1] < keys[down]
            or (keys[down + 1] == keys[down] and pending[down + 1] < pending[down])
        ):
            down += 1
        if key < keys[down] or (key == keys[down] and moved < pending[down]):
            break
        keys[at] = keys[down]
        pending[at] = pending[down]
        at = down
    keys[at] = key
    pending[at] = moved
    return int(node)


@internal
def _push(tables: Any, store: Any, node: int, zone: Any) -> None:
    """Puts a new node among those to expand (breadth-first, its number is its place)."""
    order = tables.settings[SET_ORDER]
    if order == ORDER_BREADTH:
        return
    size = store.counts[COUNT_PENDING]
    if order == ORDER_DEPTH:
        store.pending[size] = node
    else:
        # The earliest time at which the state can be there: 0 - time <= -earliest.
        key = -int(zone[0, tables.settings[SET_TIME_CLOCK]])
        _heap_push(store.pending, store.keys, size, node, key)
    store.counts[COUNT_PENDING] = size + 1


@internal
def _pop(tables: Any, store: Any) -> int:
    """The next node to expand, or -1."""
    counts, nodes = store.counts, store.nodes
    order = tables.settings[SET_ORDER]
    while True:
        if order == ORDER_BREADTH:
            node = counts[COUNT_NEXT]
            if node >= counts[COUNT_NODES]:
                return -1
            counts[COUNT_NEXT] = node + 1
        else:
            size = counts[COUNT_PENDING]
            if size == 0:
                return -1
            if order == ORDER_DEPTH:
                node = store.pending[size - 1]
            else:
                if counts[COUNT_BEST] <= store.keys[0]:
                    return -1
                node = _heap_pop(store.pending, store.keys, size)
            counts[COUNT_PENDING] = size - 1
        if nodes[node, NODE_STATUS] == WAITING:
            return int(node)


# ----------------------------------------------------------------------------------- new states


@internal
def _covers(tables: Any, work: Any, big: Any, small: Any) -> bool:
    """Pre: not COVER_EQUAL, for which there is a table."""
    cover = tables.settings[SET_COVER]
    if cover == COVER_MUTUAL and not extrapolation.included_in_alu(
        big, small, work.lower, work.upper
    ):
        return False
    if cover == COVER_INCLUSION:
        return dbm.includes(big, small)
    return extrapolation.included_in_alu(small, big, work.lower, work.upper)


@internal
def _goal_here(tables: Any, work: Any, zone: Any, scratch: Any) -> int:
    """1 if a goal that does not speak of deadlock holds somewhere in the node; 0; or a fault.
    Post, on 1: scratch is that part of the zone."""
    kept = work.out[vm.CONSTRAINTS]
    for goal in range(tables.goals.shape[0]):
        if tables.goals[goal, GOAL_DEADLOCK] == 0:
            status = _goal_zone(tables, work, goal, zone, scratch)
            work.out[vm.CONSTRAINTS] = kept
            if status != EMPTY:
                return status
    return 0


@internal
def _goal_zone(tables: Any, work: Any, goal: int, zone: Any, result: Any) -> int:
    """The part of `zone` where the constraints of a goal hold: EMPTY, OK, or a fault."""
    dbm.copy_into(zone, result)
    if tables.goals[goal, GOAL_PROGRAM] < 0:
        return OK
    begin = work.out[vm.CONSTRAINTS]
    if 2 * begin >= work.constraints.shape[0]:
        return -NO_ROOM
    status = vm.run(tables, work, tables.goals[goal, GOAL_PROGRAM])
    if status <= 0:
        return status
    status = constrain_all(work, begin, work.out[vm.CONSTRAINTS], result)
    return -NO_ROOM - 1 if status == OVERFLOW else status


@internal
def _add_edge(tables: Any, store: Any, work: Any, source: int, target: int, ordinal: int) -> bool:
    if not tables.settings[SET_KEEP_EDGES] or source < 0:
        return True
    at = store.counts[COUNT_EDGES]
    if at >= store.edges.shape[0]:
        return False
    begin = work.candidates[ordinal, CANDIDATE_PARTS]
    count = work.candidates[ordinal, CANDIDATE_COUNT]
    partner = -1
    if (
        count == 2
        and not tables.channels[work.candidates[ordinal, CANDIDATE_CHANNEL], CHANNEL_BROADCAST]
    ):
        partner = work.parts[begin + 1, PART_EDGE]
    elif count > 1:
        partner = -2
    store.edges[at, KEPT_SOURCE] = source
    store.edges[at, KEPT_TARGET] = target
    store.edges[at, KEPT_ORDINAL] = ordinal
    store.edges[at, KEPT_EDGE] = work.parts[begin, PART_EDGE]
    store.edges[at, KEPT_PARTNER] = partner
    store.counts[COUNT_EDGES] = at + 1
    return True


@internal
def _note_found(store: Any, tables: Any, work: Any, node: int) -> bool:
    """Records that a goal holds in a node, in the part of it in scratch[3]; whether to stop."""
    counts = store.counts
    if tables.settings[SET_ORDER] == ORDER_TIME:
        key = -int(work.scratch[3][0, tables.settings[SET_TIME_CLOCK]])
        if key < counts[COUNT_BEST]:
            counts[COUNT_BEST] = key
            counts[COUNT_FOUND] = node
        return False
    store.nodes[node, NODE_MARK] = 1
    if tables.settings[SET_STOP] or counts[COUNT_FOUND] < 0:
        counts[COUNT_FOUND] = node
    return bool(tables.settings[SET_STOP])


@internal
def _insert(tables: Any, store: Any, work: Any, parent: int, ordinal: int, zone: Any) -> int:
    """Adds the state in memory with `zone`, unless a known node covers it.

    OK, FOUND (a goal holds there and the search shall stop), a reason to grow, or a fault.
    """
    counts, nodes, zones = store.counts, store.nodes, store.zones
    n = tables.settings[SET_CLOCKS]
    row = intern_row(store, work.memory, tables.settings[SET_WIDTH])
    if row < 0:
        return GROW_ROWS
    place = -1
    if n > 1 and tables.settings[SET_COVER] == COVER_EQUAL:
        twin = twin_of(store, row, zone)
        if twin >= 0:
            counts[COUNT_COVERED] += 1
            return OK if _add_edge(tables, store, work, parent, twin, ordinal) else GROW_EDGES
        place = -1 - twin
    elif n == 1:
        # Every row has one node, of the same number.
        if row < counts[COUNT_NODES]:
            counts[COUNT_COVERED] += 1
            return OK if _add_edge(tables, store, work, parent, row, ordinal) else GROW_EDGES
    else:
        drop = tables.settings[SET_DROP_COVERED]
        before = -1
        node = store.head[row]
        while node >= 0:
            if _covers(tables, work, zones[node], zone):
                counts[COUNT_COVERED] += 1
                if not _add_edge(tables, store, work, parent, node, ordinal):
                    return GROW_EDGES
                return OK
            onward = nodes[node, NODE_NEXT]
            if drop and _covers(tables, work, zone, zones[node]):
                # Covered by the newcomer: unlink it; what it led to stays.
                if before < 0:
                    store.head[row] = onward
                else:
                    nodes[before, NODE_NEXT] = onward
                if nodes[node, NODE_STATUS] == WAITING:
                    nodes[node, NODE_STATUS] = COVERED
                counts[COUNT_COVERED] += 1
            else:
                before = node
            node = onward
    node = counts[COUNT_NODES]
    if node >= nodes.shape[0] or (n > 1 and node >= zones.shape[0]):
        return GROW_NODES
    if tables.settings[SET_ORDER] != ORDER_BREADTH and (
        counts[COUNT_PENDING] >= store.pending.shape[0]
    ):
        return GROW_NODES
    if not _add_edge(tables, store, work, parent, node, ordinal):
        return GROW_EDGES
    nodes[node, NODE_ROW] = row
    nodes[node, NODE_PARENT] = parent
    nodes[node, NODE_ORDINAL] = ordinal
    nodes[node, NODE_NEXT] = store.head[row]
    nodes[node, NODE_STATUS] = WAITING
    nodes[node, NODE_MARK] = 0
    if n > 1:
        dbm.copy_into(zone, zones[node])
    store.head[row] = node
    if place >= 0:
        remember(store, row, zone, node, place)
    counts[COUNT_NODES] = node + 1
    _push(tables, store, node, zone)
    if tables.goals.shape[0] > 0:
        status = _goal_here(tables, work, zone, work.scratch[3])
        if status < 0:
            return status
        if status > 0 and _note_found(store, tables, work, node):
            return FOUND
    return OK


@internal
def _extrapolate_and_insert(
    tables: Any, store: Any, work: Any, parent: int, ordinal: int, zone: Any
) -> int:
    """Extrapolates the zone, which `zone` no longer is afterwards, and inserts the result."""
    if tables.settings[SET_CLOCKS] == 1:
        return _insert(tables, store, work, parent, ordinal, zone)
    bounds_of_state(tables, work)
    if not tables.settings[SET_DIAGONALS]:
        if extrapolation.extra_lu_plus(zone, work.lower, work.upper) == OVERFLOW:
            return OVERFLOWED
        return _insert(tables, store, work, parent, ordinal, zone)
    # With constraints on differences of clocks, extrapolation alone is not sound: split along
    # them, extrapolate each piece, and put the constraints it satisfied back (Bengtsson & Yi
    # 2004, section 4.2.2).  spare[0 .. size-1] are the pieces.
    spare = work.spare
    size = 1
    dbm.copy_into(zone, spare[0])
    for d in range(tables.diagonals.shape[0]):
        i = tables.diagonals[d, 0]
        j = tables.diagonals[d, 1]
        raw = tables.diagonals[d, 2]
        for piece in range(size):
            if not dbm.satisfies(spare[piece], j, i, 1 - raw):
                continue
            if not dbm.satisfies(spare[piece], i, j, raw):
                continue
            if size >= spare.shape[0]:
                return GROW_PIECES
            if dbm.split_by(spare[piece], i, j, raw, spare[size]) == OVERFLOW:
                return OVERFLOWED
            size += 1
    for piece in range(size):
        current = spare[piece]
        exact = work.scratch[4]
        dbm.copy_into(current, exact)
        if extrapolation.extra_lu_plus(current, work.lower, work.upper) == OVERFLOW:
            return OVERFLOWED
        for d in range(tables.diagonals.shape[0]):
            i = tables.diagonals[d, 0]
            j = tables.diagonals[d, 1]
            raw = tables.diagonals[d, 2]
            if dbm.satisfies(exact, i, j, raw):
                status = dbm.constrain(current, i, j, raw)
            else:
                status = dbm.constrain(current, j, i, 1 - raw)
            if status == OVERFLOW:
                return OVERFLOWED
        status = _insert(tables, store, work, parent, ordinal, current)
        if status != OK:
            return status
    return OK


@internal
def _enter(tables: Any, store: Any, work: Any, parent: int, ordinal: int, zone: Any) -> int:
    """Inserts the state in memory, which is entered with the clock values of `zone`: checks its
    invariants and lets time pass. The constraint buffer is as before, after it."""
    kept = work.out[vm.CONSTRAINTS]
    if 2 * kept >= work.constraints.shape[0]:
        return GROW_CONSTRAINTS
    status = state_invariants(tables, work)
    end = work.out[vm.CONSTRAINTS]
    if status > 0 and tables.settings[SET_FILTER] >= 0:
        status = vm.run(tables, work, tables.settings[SET_FILTER])
    if status > 0:
        status = constrain_all(work, kept, end, zone)
        if status == OK and tables.settings[SET_CLOCKS] > 1:
            status = may_delay(tables, work)
            if status == 1:
                dbm.delay(zone)
                status = constrain_all(work, kept, end, zone)
            elif status == 0:
                status = OK
        if status == OVERFLOW:
            status = OVERFLOWED
    work.out[vm.CONSTRAINTS] = kept
    if status != OK:
        return OK if status == EMPTY else status
    store.counts[COUNT_TRANSITIONS] += 1
    return _extrapolate_and_insert(tables, store, work, parent, ordinal, zone)


@internal
def _fault(store: Any, work: Any, node: int, ordinal: int, fault: int) -> int:
    """Says in the counters what went wrong where, or which room was missing."""
    if fault == NO_ROOM:
        return GROW_CONSTRAINTS
    if fault == NO_ROOM + 1:
        return OVERFLOWED
    store.counts[COUNT_FAULT] = fault
    store.counts[COUNT_FAULT_PC] = work.out[vm.FAULT_PC]
    store.counts[COUNT_FAULT_NODE] = node
    store.counts[COUNT_FAULT_ORDINAL] = ordinal
    return FAULTED


# -------------------------------------------------------------------------------- one expansion


@internal
def _remainder(
    tables: Any, work: Any, candidates: int, candidate: int, row: Any, zone: Any
) -> tuple[int, int]:
    """Cuts from `zone` what transitions of higher priority than `candidate` claim.

    (how many pieces, status); the pieces are work.pieces[.. count - 1].
    """
    pieces = work.pieces
    dbm.copy_into(zone, pieces[0])
    size = 1
    priority = work.candidates[candidate, CANDIDATE_PRIORITY]
    for other in range(candidates):
        if work.candidates[other, CANDIDATE_PRIORITY] <= priority:
            continue
        status = enabling_zone(tables, work, other, row, zone, work.scratch[0], work.scratch[1])
        if status == OVERFLOW:
            return size, OVERFLOWED
        if status < 0:
            return size, status
        if status == OK:
            size, status = _cut(pieces, size, work.scratch[0])
            if status != OK:
                return size, status
            if size == 0:
                break
    return size, OK


@internal
def _cut(pieces: Any, size: int, zone: Any) -> tuple[int, int]:
    """Subtracts `zone` from the federation pieces[.. size - 1], in place: (new size, status)."""
    end = size
    for piece in range(size):
        end, status = subtract_into(pieces[piece], zone, pieces, end)
        if status == OVERFLOW:
            return size, OVERFLOWED
        if status != OK and status != EMPTY:
            return size, GROW_PIECES
    for piece in range(size, end):
        dbm.copy_into(pieces[piece], pieces[piece - size])
    return end - size, OK


@internal
def _deadlock_goal(
    tables: Any, store: Any, work: Any, node: int, candidates: int, row: Any, zone: Any
) -> int:
    """Whether a goal about deadlock holds in the node: 1, 0, a reason to grow, or a fault.

    A valuation is deadlocked if no candidate is enabled there, nor after any delay: the zone
    minus the past of every enabling zone.  A node's zone is convex and holds all delays, so its
    intersection with the past is the past within it.
    """
    pieces = work.pieces
    kept = work.out[vm.CONSTRAINTS]
    delayed = may_delay(tables, work)
    if delayed < 0:
        return delayed
    for goal in range(tables.goals.shape[0]):
        wanted = tables.goals[goal, GOAL_DEADLOCK]
        if wanted == 0:
            continue
        status = _goal_zone(tables, work, goal, zone, work.scratch[2])
        work.out[vm.CONSTRAINTS] = kept
        if status < 0:
            return status
        if status == EMPTY:
            continue
        dbm.copy_into(work.scratch[2], pieces[0])
        size = 1
        for candidate in range(candidates):
            status = enabling_zone(
                tables, work, candidate, row, zone, work.scratch[0], work.scratch[1]
            )
            if status == OVERFLOW:
                return OVERFLOWED
            if status < 0:
                return status
            if status == EMPTY:
                continue
            if delayed:
                dbm.past(work.scratch[0])
            if wanted == 2:
                if not dbm.disjoint(work.scratch[0], work.scratch[2]):
                    dbm.copy_into(work.scratch[2], work.scratch[3])
                    if dbm.intersect(work.scratch[3], work.scratch[0]) != EMPTY:
                        return 1
            else:
                size, status = _cut(pieces, size, work.scratch[0])
                if status != OK:
                    return status
                if size == 0:
                    break
        if wanted == 1 and size > 0:
            dbm.copy_into(pieces[0], work.scratch[3])
            return 1
    return 0


@internal
def _first_successor_first(store: Any, low: int) -> None:
    """Reverses the stack above `low`."""
    high = store.counts[COUNT_PENDING] - 1
    while low < high:
        swapped = store.pending[low]
        store.pending[low] = store.pending[high]
        store.pending[high] = swapped
        low += 1
        high -= 1


@internal
def _candidates_of(tables: Any, store: Any, work: Any, node: int) -> tuple[int, int]:
    """Loads a node, its state into memory and its zone into scratch[5], and enumerates what its
    data enables: (how many, status)."""
    if tables.settings[SET_CLOCKS] > 1:
        # A copy, as the pool of zones grows while we work.
        dbm.copy_into(store.zones[node], work.scratch[5])
    load_row(tables, work, store.rows[store.nodes[node, NODE_ROW]])
    return enumerate_candidates(tables, work)


@internal
def _take(tables: Any, store: Any, work: Any, node: int, candidate: int, zone: Any) -> int:
    """Adds what a candidate leads to from the part `zone` of a node, which is lost."""
    status = guard_zone(work, candidate, zone)
    if status != OK:
        return OK if status == EMPTY else status
    status = apply_parts(tables, work, candidate)
    if status > 0:
        status = OK
        for reset in range(work.out[vm.RESETS]):
            status = dbm.reset(zone, work.resets[reset, 0], work.resets[reset, 1])
            if status != OK:
                return status
        status = _enter(tables, store, work, node, candidate, zone)
    load_row(tables, work, store.rows[store.nodes[node, NODE_ROW]])
    return status


@internal
def _start(tables: Any, store: Any, work: Any) -> int:
    """Adds the initial state, which is in memory; statuses as those of `_expand`."""
    work.out[vm.CONSTRAINTS] = 0
    dbm.zero(work.scratch[6])
    status = _enter(tables, store, work, -1, -1, work.scratch[6])
    return _fault(store, work, -1, -1, -status) if status < 0 else status


@internal
def _conclude(
    tables: Any, store: Any, work: Any, node: int, candidate: int, status: int, pending: int
) -> int:
    """The status of an expansion that ended with `status` at a candidate; with an order of
    depth, the successors above `pending` are put in order."""
    if status < 0:
        return _fault(store, work, node, candidate, -status)
    if status == OVERFLOW:
        return OVERFLOWED
    if status == OK and tables.settings[SET_ORDER] == ORDER_DEPTH:
        _first_successor_first(store, pending)
    return status


@internal
def _expand(tables: Any, store: Any, work: Any, node: int) -> int:
    """Adds all successors of a node. OK, FOUND, a reason to grow, FAULTED or OVERFLOWED."""
    candidates, status = _candidates_of(tables, store, work, node)
    pending = store.counts[COUNT_PENDING]
    candidate = -1
    while status == OK and candidate + 1 < candidates:
        candidate += 1
        if tables.settings[SET_CLOCKS] > 1:
            dbm.copy_into(work.scratch[5], work.scratch[6])
        status = _take(tables, store, work, node, candidate, work.scratch[6])
    return _conclude(tables, store, work, node, candidate, status, pending)


@internal
def _expand_splitting(tables: Any, store: Any, work: Any, node: int) -> int:
    """As `_expand`, where a candidate may be taken, or deadlock be, in a part of the zone that
    is not convex."""
    candidates, status = _candidates_of(tables, store, work, node)
    row = store.rows[store.nodes[node, NODE_ROW]]
    zone = work.scratch[5]
    if status == OK and tables.settings[SET_GOAL_DEADLOCK]:
        found = _deadlock_goal(tables, store, work, node, candidates, row, zone)
        if found > 1 or found < 0:
            status = found
        elif found == 1 and _note_found(store, tables, work, node):
            return FOUND
    pending = store.counts[COUNT_PENDING]
    candidate = -1
    while status == OK and candidate + 1 < candidates:
        candidate += 1
        pieces, status = _remainder(tables, work, candidates, candidate, row, zone)
        for piece in range(pieces):
            if status == OK:
                dbm.copy_into(work.pieces[piece], work.scratch[6])
                status = _take(tables, store, work, node, candidate, work.scratch[6])
    return _conclude(tables, store, work, node, candidate, status, pending)


@internal
def _next(tables: Any, store: Any) -> int:
    """The node to expand now: one whose expansion was undone, or a waiting one; -1 is the state
    before the first, NO_NODE says that there is none."""
    node = store.counts[COUNT_CURRENT]
    if node == NO_NODE:
        node = _pop(tables, store)
        return node if node >= 0 else NO_NODE
    store.counts[COUNT_CURRENT] = NO_NODE
    return int(node)


@internal
def _settle(store: Any, node: int, status: int, before: tuple[int, int, int]) -> int:
    """Notes that a node was expanded, or that it was not for lack of room."""
    counts = store.counts
    if GROW_NODES <= status <= GROW_PIECES:
        # Undo the counts; the states already added will be found to be covered.
        counts[COUNT_TRANSITIONS], counts[COUNT_COVERED], counts[COUNT_EDGES] = before
        counts[COUNT_CURRENT] = node
    elif status == OK and node >= 0:
        store.nodes[node, NODE_STATUS] = EXPANDED
        counts[COUNT_EXPANDED] += 1
    elif status == OK:
        counts[COUNT_TRANSITIONS] = 0
    return status


@kernel
def advance(tables: Any, store: Any, work: Any, budget: int) -> int:
    """Expands up to `budget` nodes. DONE, FOUND, PAUSED (budget used), GROW_*: call again with
    more room (nothing is lost), FAULTED or OVERFLOWED.

    Pre: there are no priorities, and no goal speaks of deadlock (see `advance_splitting`).
    """
    counts = store.counts
    for _ in range(budget):
        node = _next(tables, store)
        if node == NO_NODE:
            return FOUND if counts[COUNT_FOUND] >= 0 else DONE
        before = (counts[COUNT_TRANSITIONS], counts[COUNT_COVERED], counts[COUNT_EDGES])
        if node >= 0:
            status = _expand(tables, store, work, node)
        else:
            status = _start(tables, store, work)
        status = _settle(store, node, status, before)
        if status != OK:
            return status
    return PAUSED


@kernel
def advance_splitting(tables: Any, store: Any, work: Any, budget: int) -> int:
    """As `advance`, for all searches. It is a kernel of its own as it takes half as long again
    to compile, and few searches need it."""
    counts = store.counts
    for _ in range(budget):
        node = _next(tables, store)
        if node == NO_NODE:
            return FOUND if counts[COUNT_FOUND] >= 0 else DONE
        before = (counts[COUNT_TRANSITIONS], counts[COUNT_COVERED], counts[COUNT_EDGES])
        if node >= 0:
            status = _expand_splitting(tables, store, work, node)
        else:
            status = _start(tables, store, work)
        status = _settle(store, node, status, before)
        if status != OK:
            return status
    return PAUSED
