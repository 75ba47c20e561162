"""The transitions of one symbolic state (UPPAAL's semantics of networks of timed automata).

`enumerate_candidates` finds every combination of edges that the discrete part of a state
enables: internal edges, pairs on binary channels, a sender with all willing receivers on
broadcast channels, subject to committed locations.  `enabling_zone` and `successor` then do
what depends on clocks.
"""

from __future__ import annotations

from typing import Any

from whence.explore.kernels import vm
from whence.explore.kernels.tables import (
    ACTIVE_CHANNEL,
    ACTIVE_EDGE,
    ACTIVE_FROM,
    ACTIVE_NEXT,
    ACTIVE_TO,
    CANDIDATE_CHANNEL,
    CANDIDATE_COUNT,
    CANDIDATE_PARTS,
    CANDIDATE_PRIORITY,
    CHANNEL_BROADCAST,
    CHANNEL_PRIORITY,
    CHANNEL_URGENT,
    EDGE_CHANNEL,
    EDGE_CHANNEL_PC,
    EDGE_COMMITTED,
    EDGE_DIRECTION,
    EDGE_GUARD,
    EDGE_PROCESS,
    EDGE_SELECTS,
    EDGE_SELECTS_AT,
    EDGE_TARGET,
    EDGE_UPDATE,
    GROW_CANDIDATES,
    GROW_CONSTRAINTS,
    LOCATION_INVARIANT,
    LOCATION_KIND,
    LOCATION_URGENT_EDGES,
    PART_EDGE,
    PART_FROM,
    PART_TO,
    SET_CLOCKS,
    SET_DEFAULT_PRIORITY,
    SET_PROCESSES,
    SET_SELECTS,
    SET_URGENT_CHANNELS,
)
from whence.zones import dbm
from whence.zones.bounds import EMPTY, OK
from whence.zones.jit import internal, kernel

__all__ = [
    "apply_parts",
    "bounds_of_state",
    "enabling_zone",
    "enumerate_candidates",
    "may_delay",
    "state_invariants",
]

# Kernels return OK, or one of the reasons below (negative: a fault of the model, see vm.run).
_NO_ROOM_CONSTRAINTS = GROW_CONSTRAINTS
_NO_ROOM_CANDIDATES = GROW_CANDIDATES
#: Returned negated, as faults are, when a program had no room to emit (no Fault has this number).
NO_ROOM = 99


@internal
def _select(tables: Any, work: Any, edge: int) -> None:
    """Puts the edge's select values where its programs look for them."""
    count = tables.edges[edge, EDGE_SELECTS]
    if count:
        at = tables.edges[edge, EDGE_SELECTS_AT]
        base = tables.settings[SET_SELECTS]
        for n in range(count):
            work.memory[base + n] = tables.select_values[at + n]


@internal
def _channel_of(tables: Any, work: Any, edge: int) -> int:
    """The channel an edge synchronises on in the state in memory, or a fault."""
    channel = tables.edges[edge, EDGE_CHANNEL]
    if channel >= 0:
        return int(channel)
    status = vm.run(tables, work, tables.edges[edge, EDGE_CHANNEL_PC])
    return int(work.out[vm.RESULT]) if status > 0 else status


@internal
def _room_for_constraints(work: Any) -> bool:
    # What one program can emit is limited by the slack that the driver allocates.
    return bool(2 * work.out[vm.CONSTRAINTS] < work.constraints.shape[0])


@internal
def _active_edges(tables: Any, work: Any, committed: bool) -> tuple[int, int, int]:
    """Collects the edges whose data guard holds: (how many, channels touched, status)."""
    edges, active = tables.edges, work.active
    count = 0
    touched = 0
    work.out[vm.CONSTRAINTS] = 0
    for process in range(tables.settings[SET_PROCESSES]):
        location = tables.location_base[process] + work.memory[process]
        for edge in range(tables.edge_start[location], tables.edge_start[location + 1]):
            direction = edges[edge, EDGE_DIRECTION]
            if committed and direction == 0 and not edges[edge, EDGE_COMMITTED]:
                continue
            if not _room_for_constraints(work):
                return 0, touched, _NO_ROOM_CONSTRAINTS
            start = work.out[vm.CONSTRAINTS]
            _select(tables, work, edge)
            if edges[edge, EDGE_GUARD] >= 0:
                status = vm.run(tables, work, edges[edge, EDGE_GUARD])
                if status < 0:
                    return 0, touched, status
                if status == 0:
                    work.out[vm.CONSTRAINTS] = start
                    continue
            channel = -1
            if direction:
                channel = _channel_of(tables, work, edge)
                if channel < 0:
                    return 0, touched, channel
            active[count, ACTIVE_EDGE] = edge
            active[count, ACTIVE_FROM] = start
            active[count, ACTIVE_TO] = work.out[vm.CONSTRAINTS]
            active[count, ACTIVE_CHANNEL] = channel
            active[count, ACTIVE_NEXT] = -1
            if direction == 2:
                if work.receivers[channel, 0] < 0:
                    work.receivers[channel, 0] = count
                    work.touched[touched] = channel
                    touched += 1
                else:
                    active[work.receivers[channel, 1], ACTIVE_NEXT] = count
                work.receivers[channel, 1] = count
            count += 1
    return count, touched, OK


@internal
def _priority(tables: Any, channel: int, process: int) -> int:
    """Channels compare first, then the highest process; one number orders both."""
    of_channel = tables.settings[SET_DEFAULT_PRIORITY]
    if channel >= 0:
        of_channel = tables.channels[channel, CHANNEL_PRIORITY]
    return int(of_channel) * 65536 + int(tables.process_priority[process])


@internal
def _add_part(work: Any, parts: int, edge: int, start: int, end: int) -> int:
    work.parts[parts, PART_EDGE] = edge
    work.parts[parts, PART_FROM] = start
    work.parts[parts, PART_TO] = end
    return parts + 1


@internal
def _broadcast(
    tables: Any, work: Any, sender: int, committed: bool, counts: tuple[int, int]
) -> tuple[int, int, int]:
    """Adds the candidates of one sender on a broadcast channel; counts are (candidates, parts).

    Every other process with an enabled receiving edge takes part, with one of them.  Where all
    enabled edges of a process have clock guards, it also may stay out: for valuations that
    violate one constraint of each; such an option is a part without edge.
    """
    edges, active, options, odometer = tables.edges, work.active, work.options, work.odometer
    candidates, parts = counts
    edge = active[sender, ACTIVE_EDGE]
    own = edges[edge, EDGE_PROCESS]
    channel = active[sender, ACTIVE_CHANNEL]
    # Options, grouped by receiving process: odometer rows are (first option, end, chosen).
    groups = 0
    count = 0
    receiver = work.receivers[channel, 0]
    while receiver >= 0:
        process = edges[active[receiver, ACTIVE_EDGE], EDGE_PROCESS]
        first = receiver
        if groups + 1 >= odometer.shape[0]:
            return candidates, parts, _NO_ROOM_CANDIDATES
        odometer[groups, 0] = count
        unguarded = False
        while receiver >= 0 and edges[active[receiver, ACTIVE_EDGE], EDGE_PROCESS] == process:
            if count + 2 >= options.shape[0]:
                return candidates, parts, _NO_ROOM_CANDIDATES
            options[count, PART_EDGE] = active[receiver, ACTIVE_EDGE]
            options[count, PART_FROM] = active[receiver, ACTIVE_FROM]
            options[count, PART_TO] = active[receiver, ACTIVE_TO]
            unguarded |= active[receiver, ACTIVE_FROM] == active[receiver, ACTIVE_TO]
            count += 1
            receiver = active[receiver, ACTIVE_NEXT]
        if process == own:
            count = odometer[groups, 0]
            continue
        if not unguarded:
            # One violated constraint of each edge, in all combinations.
            total = 1
            walk = first
            while walk != receiver:
                total *= active[walk, ACTIVE_TO] - active[walk, ACTIVE_FROM]
                walk = active[walk, ACTIVE_NEXT]
            for combination in range(total):
                start = work.out[vm.CONSTRAINTS]
                rest = combination
                walk = first
                while walk != receiver:
                    if not _room_for_constraints(work):
                        return candidates, parts, _NO_ROOM_CONSTRAINTS
                    size = active[walk, ACTIVE_TO] - active[walk, ACTIVE_FROM]
                    chosen = active[walk, ACTIVE_FROM] + rest % size
                    rest //= size
                    at = work.out[vm.CONSTRAINTS]
                    work.constraints[at, 0] = work.constraints[chosen, 1]
                    work.constraints[at, 1] = work.constraints[chosen, 0]
                    work.constraints[at, 2] = 1 - work.constraints[chosen, 2]
                    work.out[vm.CONSTRAINTS] = at + 1
                    walk = active[walk, ACTIVE_NEXT]
                if count + 2 >= options.shape[0]:
                    return candidates, parts, _NO_ROOM_CANDIDATES
                options[count, PART_EDGE] = -1
                options[count, PART_FROM] = start
                options[count, PART_TO] = work.out[vm.CONSTRAINTS]
                count += 1
        odometer[groups, 1] = count
        groups += 1
    for group in range(groups):
        odometer[group, 2] = odometer[group, 0]
    while True:
        if candidates + 1 >= work.candidates.shape[0] or (
            parts + groups + 2 >= work.parts.shape[0]
        ):
            return candidates, parts, _NO_ROOM_CANDIDATES
        begin = parts
        allowed = not committed or edges[edge, EDGE_COMMITTED] != 0
        priority = _priority(tables, channel, own)
        parts = _add_part(work, parts, edge, active[sender, ACTIVE_FROM], active[sender, ACTIVE_TO])
        for group in range(groups):
            option = odometer[group, 2]
            other = options[option, PART_EDGE]
            parts = _add_part(
                work, parts, other, options[option, PART_FROM], options[option, PART_TO]
            )
            if other >= 0:
                allowed |= edges[other, EDGE_COMMITTED] != 0
                priority = max(priority, _priority(tables, channel, edges[other, EDGE_PROCESS]))
        if allowed:
            work.candidates[candidates, CANDIDATE_PARTS] = begin
            work.candidates[candidates, CANDIDATE_COUNT] = parts - begin
            work.candidates[candidates, CANDIDATE_PRIORITY] = priority
            work.candidates[candidates, CANDIDATE_CHANNEL] = channel
            candidates += 1
        else:
            parts = begin
        # The next combination: the last group turns fastest.
        group = groups - 1
        while group >= 0:
            odometer[group, 2] += 1
            if odometer[group, 2] < odometer[group, 1]:
                break
            odometer[group, 2] = odometer[group, 0]
            group -= 1
        if group < 0:
            return candidates, parts, OK


@kernel
def enumerate_candidates(tables: Any, work: Any) -> tuple[int, int]:
    """Fills `work.candidates` for the state in memory: (how many, status).

    The order is fixed: by sending (or acting) process and edge, then by receiver.
    """
    edges, active = tables.edges, work.active
    committed = False
    for process in range(tables.settings[SET_PROCESSES]):
        location = tables.location_base[process] + work.memory[process]
        if tables.locations[location, LOCATION_KIND] == 2:
            committed = True
            break
    count, touched, status = _active_edges(tables, work, committed)
    candidates = 0
    parts = 0
    if status == OK:
        for first in range(count):
            edge = active[first, ACTIVE_EDGE]
            direction = edges[edge, EDGE_DIRECTION]
            if direction == 2:
                continue
            channel = active[first, ACTIVE_CHANNEL]
            if direction == 1 and tables.channels[channel, CHANNEL_BROADCAST]:
                candidates, parts, status = _broadcast(
                    tables, work, first, committed, (candidates, parts)
                )
                if status != OK:
                    break
                continue
            process = edges[edge, EDGE_PROCESS]
            second = work.receivers[channel, 0] if direction == 1 else 0
            while second >= 0:
                if candidates + 1 >= work.candidates.shape[0] or (parts + 3 >= work.parts.shape[0]):
                    status = _NO_ROOM_CANDIDATES
                    break
                priority = _priority(tables, channel, process)
                allowed = not committed or edges[edge, EDGE_COMMITTED] != 0
                begin = parts
                parts = _add_part(
                    work, parts, edge, active[first, ACTIVE_FROM], active[first, ACTIVE_TO]
                )
                if direction == 1:
                    other = active[second, ACTIVE_EDGE]
                    partner = edges[other, EDGE_PROCESS]
                    parts = _add_part(
                        work, parts, other, active[second, ACTIVE_FROM], active[second, ACTIVE_TO]
                    )
                    allowed |= edges[other, EDGE_COMMITTED] != 0
                    allowed &= partner != process
                    priority = max(priority, _priority(tables, channel, partner))
                    second = active[second, ACTIVE_NEXT]
                else:
                    second = -1
                if allowed:
                    work.candidates[candidates, CANDIDATE_PARTS] = begin
                    work.candidates[candidates, CANDIDATE_COUNT] = parts - begin
                    work.candidates[candidates, CANDIDATE_PRIORITY] = priority
                    work.candidates[candidates, CANDIDATE_CHANNEL] = channel
                    candidates += 1
                else:
                    parts = begin
            if status != OK:
                break
    for n in range(touched):
        work.receivers[work.touched[n], 0] = -1
    return candidates, status


@internal
def constrain_all(work: Any, start: int, end: int, zone: Any) -> int:
    """Intersects `zone` with the emitted constraints `start .. end - 1`."""
    for n in range(start, end):
        i = work.constraints[n, 0]
        j = work.constraints[n, 1]
        raw = work.constraints[n, 2]
        if raw < zone[i, j]:
            status = dbm.constrain(zone, i, j, raw)
            if status != OK:
                return status
    return OK


@internal
def guard_zone(work: Any, candidate: int, zone: Any) -> int:
    """Intersects `zone` with the clock guards of a candidate."""
    begin = work.candidates[candidate, CANDIDATE_PARTS]
    for part in range(begin, begin + work.candidates[candidate, CANDIDATE_COUNT]):
        status = constrain_all(work, work.parts[part, PART_FROM], work.parts[part, PART_TO], zone)
        if status != OK:
            return status
    return OK


@internal
def apply_parts(tables: Any, work: Any, candidate: int) -> int:
    """Moves the state in memory along a candidate: updates in order, then locations. The clock
    resets are in `work.resets`. 1, or a fault."""
    edges = tables.edges
    begin = work.candidates[candidate, CANDIDATE_PARTS]
    end = begin + work.candidates[candidate, CANDIDATE_COUNT]
    work.out[vm.RESETS] = 0
    for part in range(begin, end):
        edge = work.parts[part, PART_EDGE]
        if edge >= 0 and edges[edge, EDGE_UPDATE] >= 0:
            _select(tables, work, edge)
            status = vm.run(tables, work, edges[edge, EDGE_UPDATE])
            if status < 0:
                return status
    for part in range(begin, end):
        edge = work.parts[part, PART_EDGE]
        if edge >= 0:
            work.memory[edges[edge, EDGE_PROCESS]] = edges[edge, EDGE_TARGET]
    return 1


@internal
def state_invariants(tables: Any, work: Any) -> int:
    """Runs the invariants of the state in memory; their clock constraints are appended to
    `work.constraints`. 1 holds as far as data goes, 0 violated, negative: a fault."""
    for n in range(tables.watched.shape[0]):
        process = tables.watched[n]
        location = tables.location_base[process] + work.memory[process]
        program = tables.locations[location, LOCATION_INVARIANT]
        if program >= 0:
            status = vm.run(tables, work, program)
            if status <= 0:
                return status
    return 1


@internal
def may_delay(tables: Any, work: Any) -> int:
    """Whether time may pass in the state in memory: 1 or 0; negative: a fault.

    It may not in an urgent or committed location, nor while a synchronisation on an urgent
    channel is enabled (edges of those have no clock guards).
    """
    watch = False
    for process in range(tables.settings[SET_PROCESSES]):
        location = tables.location_base[process] + work.memory[process]
        if tables.locations[location, LOCATION_KIND] != 0:
            return 0
        if tables.locations[location, LOCATION_URGENT_EDGES]:
            watch = True
    if not watch or not tables.settings[SET_URGENT_CHANNELS]:
        return 1
    return _no_urgent_pair(tables, work)


@internal
def _no_urgent_pair(tables: Any, work: Any) -> int:
    edges, active = tables.edges, work.active
    kept = work.out[vm.CONSTRAINTS]
    resets = work.out[vm.RESETS]
    count = 0
    result = 1
    for process in range(tables.settings[SET_PROCESSES]):
        location = tables.location_base[process] + work.memory[process]
        if not tables.locations[location, LOCATION_URGENT_EDGES]:
            continue
        for edge in range(tables.edge_start[location], tables.edge_start[location + 1]):
            if edges[edge, EDGE_DIRECTION] == 0:
                continue
            _select(tables, work, edge)
            if edges[edge, EDGE_GUARD] >= 0:
                status = vm.run(tables, work, edges[edge, EDGE_GUARD])
                work.out[vm.CONSTRAINTS] = kept
                if status < 0:
                    return status
                if status == 0:
                    continue
            channel = _channel_of(tables, work, edge)
            work.out[vm.RESETS] = resets
            if channel < 0:
                return channel
            if not tables.channels[channel, CHANNEL_URGENT]:
                continue
            if edges[edge, EDGE_DIRECTION] == 1 and tables.channels[channel, CHANNEL_BROADCAST]:
                return 0
            for other in range(count):
                partner = active[other, ACTIVE_EDGE]
                if (
                    active[other, ACTIVE_CHANNEL] == channel
                    and edges[partner, EDGE_DIRECTION] != edges[edge, EDGE_DIRECTION]
                    and edges[partner, EDGE_PROCESS] != process
                ):
                    return 0
            active[count, ACTIVE_EDGE] = edge
            active[count, ACTIVE_CHANNEL] = channel
            count += 1
    return result


@internal
def load_row(tables: Any, work: Any, row: Any) -> None:
    """Puts a discrete state into memory."""
    for n in range(row.shape[0]):
        work.memory[n] = row[n]


@internal
def bounds_of_state(tables: Any, work: Any) -> None:
    """The L and U bounds of the state in memory: the largest of its locations and the goal's."""
    n = tables.settings[SET_CLOCKS]
    for clock in range(n):
        work.lower[clock] = tables.goal_lower[clock]
        work.upper[clock] = tables.goal_upper[clock]
    for process in range(tables.settings[SET_PROCESSES]):
        location = tables.location_base[process] + work.memory[process]
        for clock in range(1, n):
            work.lower[clock] = max(work.lower[clock], tables.lower[location, clock])
            work.upper[clock] = max(work.upper[clock], tables.upper[location, clock])


@internal
def enabling_zone(
    tables: Any, work: Any, candidate: int, row: Any, source: Any, zone: Any, target: Any
) -> int:
    """The part of `source` where a candidate can be taken: guards now, invariants after it.

    The weakest precondition of the invariants: constrain, set what was reset, forget it.
    Pre: memory holds `row`. Post: memory holds `row` again; `zone` is the result, `target` was
    scratch. EMPTY, OK, OVERFLOW, or a fault.
    """
    dbm.copy_into(source, zone)
    status = guard_zone(work, candidate, zone)
    if status != OK:
        return status
    kept = work.out[vm.CONSTRAINTS]
    status = apply_parts(tables, work, candidate)
    if status > 0:
        if not _room_for_constraints(work):
            load_row(tables, work, row)
            return -NO_ROOM
        status = state_invariants(tables, work)
    load_row(tables, work, row)
    end = work.out[vm.CONSTRAINTS]
    work.out[vm.CONSTRAINTS] = kept
    if status <= 0:
        return status if status < 0 else EMPTY
    dbm.universal(target)
    status = constrain_all(work, kept, end, target)
    if status != OK:
        return status
    # Only the last reset of a clock counts: after it is forgotten, earlier ones change nothing.
    for n in range(work.out[vm.RESETS] - 1, -1, -1):
        clock = work.resets[n, 0]
        value = work.resets[n, 1]
        status = dbm.constrain(target, clock, 0, 2 * value + 1)
        if status == OK:
            status = dbm.constrain(target, 0, clock, -2 * value + 1)
        if status != OK:
            return status
        dbm.free(target, clock)
    return dbm.intersect(zone, target)
