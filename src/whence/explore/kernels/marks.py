"""In which of the states that a search has found does a condition hold?"""

from __future__ import annotations

from typing import Any

from whence.explore.kernels import vm
from whence.explore.kernels.expand import NO_ROOM, constrain_all, load_row
from whence.explore.kernels.tables import GOAL_PROGRAM, NODE_ROW, SET_CLOCKS
from whence.zones import dbm
from whence.zones.bounds import OK, OVERFLOW
from whence.zones.jit import kernel

__all__ = ["mark"]


@kernel
def mark(tables: Any, store: Any, work: Any, marks: Any, first: int, end: int) -> int:
    """Sets `marks` of the nodes `first .. end - 1` in which one of the goals of `tables` holds,
    somewhere in their zone. -1, or the node where that went wrong: then `work.out` has the place
    and, as RESULT, the fault.

    Pre: no goal speaks of deadlock.
    """
    zone = work.scratch[3]
    for node in range(first, end):
        load_row(tables, work, store.rows[store.nodes[node, NODE_ROW]])
        for goal in range(tables.goals.shape[0]):
            if marks[node]:
                break
            program = tables.goals[goal, GOAL_PROGRAM]
            if program < 0:
                marks[node] = True
                break
            work.out[vm.CONSTRAINTS] = 0
            status = vm.run(tables, work, program)
            if status < 0:
                work.out[vm.RESULT] = -status
                return node
            if status == 0:
                continue
            if work.out[vm.CONSTRAINTS] > 0:
                if tables.settings[SET_CLOCKS] == 1:
                    continue
                dbm.copy_into(store.zones[node], zone)
                status = constrain_all(work, 0, work.out[vm.CONSTRAINTS], zone)
                if status == OVERFLOW:
                    work.out[vm.RESULT] = NO_ROOM + 1
                    return node
                if status != OK:
                    continue
            marks[node] = True
    return -1
