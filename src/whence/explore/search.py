"""Running a search: room for its states, budgets, progress, and what became of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from whence.explore.compile import Compiled, SearchTables
from whence.explore.kernels import tables as t
from whence.explore.kernels.known import rehash, rehash_nodes
from whence.explore.kernels.search import NO_BEST, advance, advance_splitting
from whence.explore.kernels.vm import OUT_SIZE
from whence.expr.faults import CALL_DEPTH, Fault
from whence.source import NOWHERE, Origin

__all__ = ["Budget", "Outcome", "Progress", "Search", "StopReason"]

_MEGABYTE = 1 << 20


@dataclass(frozen=True, slots=True)
class Budget:
    """When to give up; None is "never"."""

    states: int | None = None
    seconds: float | None = None
    megabytes: int | None = None


StopReason = Literal[
    "complete", "found", "states", "time", "memory", "fault", "overflow", "interrupted"
]

REASONS: dict[StopReason, str] = {
    "states": "the budget of states is used up",
    "time": "the budget of time is used up",
    "memory": "the budget of memory is used up",
    "overflow": "a clock bound left the range that zones can hold",
    "interrupted": "interrupted",
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a search ended. `fault_ordinal` is the transition of `fault_node` that went wrong, or
    -1: evaluating the state itself did (`fault_node` -1: the initial one)."""

    reason: StopReason
    states: int
    stored: int
    transitions: int
    seconds: float
    bytes: int
    found: int = -1
    fault: Fault = Fault.NONE
    fault_origin: Origin = NOWHERE
    fault_node: int = -1
    fault_ordinal: int = -1


@dataclass(frozen=True, slots=True)
class Progress:
    states: int
    waiting: int
    seconds: float


class Search:
    """One search over the states of a network, in slices, so that it can be watched and ended.

    Arrays of states are enlarged with `realloc`, which on common systems moves pages instead of
    copying them: the peak is what is used, not twice that.
    """

    def __init__(self, compiled: Compiled, tables: SearchTables) -> None:
        self.compiled = compiled
        self.search_tables = tables
        n = tables.clocks
        channels = max(1, len(tables.tables.channels))
        edges = len(tables.tables.edges) + 1
        assembler = compiled.assembler
        width = compiled.width
        self._timed = n > 1
        self._equals = self._timed and tables.tables.settings[t.SET_COVER] == t.COVER_EQUAL
        memory = np.zeros(
            compiled.frames_at + 64 + assembler.largest_frame * (CALL_DEPTH + 2), np.int64
        )
        memory[width : width + len(compiled.constants)] = compiled.constants
        receivers = np.full((channels, 2), -1, np.int32)
        self.store = t.Store(
            rows=np.empty((1024, width), np.int32),
            slots=np.zeros(2048, np.int64),
            head=np.empty(1024, np.int32),
            twins=np.zeros(2048 if self._equals else 1, np.int64),
            nodes=np.empty((1024, t.NODE_COLUMNS), np.int32),
            zones=np.empty((1024 if self._timed else 1, n, n), np.int32),
            pending=np.empty(1024, np.int32),
            keys=np.empty(1024, np.int64),
            edges=np.empty((1024, t.KEPT_COLUMNS), np.int32),
            counts=np.zeros(t.COUNT_SIZE, np.int64),
        )
        self.work = t.Work(
            memory=memory,
            stack=np.zeros(4096 + 4 * assembler.largest_program * 64, np.int64),
            calls=np.zeros((CALL_DEPTH, 2), np.int64),
            constraints=np.zeros((1 << 14, 3), np.int64),
            resets=np.zeros((1 << 12, 2), np.int64),
            out=np.zeros(OUT_SIZE, np.int64),
            active=np.zeros((edges, t.ACTIVE_COLUMNS), np.int64),
            receivers=receivers,
            touched=np.zeros(channels, np.int64),
            options=np.zeros((1024, t.PART_COLUMNS), np.int64),
            odometer=np.zeros((1024, 3), np.int64),
            candidates=np.zeros((1024, t.CANDIDATE_COLUMNS), np.int64),
            parts=np.zeros((4096, t.PART_COLUMNS), np.int64),
            pieces=np.ones((4, n, n), np.int32),
            spare=np.ones((4, n, n), np.int32),
            scratch=np.ones((8, n, n), np.int32),
            lower=np.zeros(n, np.int32),
            upper=np.zeros(n, np.int32),
        )
        settings = tables.tables.settings
        splitting = settings[t.SET_PRIORITIES] or settings[t.SET_GOAL_DEADLOCK]
        self._advance = advance_splitting if splitting else advance
        self._seconds = 0.0
        counts = self.store.counts
        counts[t.COUNT_FOUND] = -1
        counts[t.COUNT_BEST] = NO_BEST
        # The first expansion is that of the state before the first, into the initial one.
        counts[t.COUNT_CURRENT] = -1
        memory[:width] = compiled.initial_row

    # ------------------------------------------------------------------------------- the run

    def run(
        self,
        budget: Budget | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> Outcome:
        """Searches until something is found, nothing is left, or the budget is used up.

        Ctrl-C ends it with the reason `interrupted`; calling `run` again goes on.
        """
        budget = budget or Budget()
        began = time.perf_counter()
        counts = self.store.counts
        try:
            slice_size = 64
            while True:
                before = time.perf_counter()
                room = slice_size
                if budget.states is not None:
                    expanded = int(counts[t.COUNT_EXPANDED])
                    # The initial states come from the state before them, which does not count.
                    first = int(counts[t.COUNT_CURRENT] == -1)
                    room = min(room, max(first, budget.states - expanded))
                    if room <= 0:
                        return self._outcome("states", began)
                status = self._advance(self.search_tables.tables, self.store, self.work, room)
                now = time.perf_counter()
                if status not in (t.PAUSED,) and not self.make_room(status):
                    return self._outcome(self._reason(status), began)
                # Slices of about a twentieth of a second: smooth to watch, cheap to make.
                if status == t.PAUSED and now - before < 0.05:
                    slice_size = min(2 * slice_size, 1 << 22)
                if progress is not None:
                    progress(self._progress(now - began))
                if budget.seconds is not None and now - began > budget.seconds:
                    return self._outcome("time", began)
                if budget.megabytes is not None and (
                    self._bytes_used() > budget.megabytes * _MEGABYTE
                ):
                    return self._outcome("memory", began)
        except KeyboardInterrupt:
            return self._outcome("interrupted", began)
        except MemoryError:
            return self._outcome("memory", began)

    @staticmethod
    def _reason(status: int) -> StopReason:
        if status == t.FAULTED:
            return "fault"
        if status == t.OVERFLOWED:
            return "overflow"
        return "found" if status == t.FOUND else "complete"

    def _progress(self, seconds: float) -> Progress:
        counts = self.store.counts
        expanded = int(counts[t.COUNT_EXPANDED])
        return Progress(
            states=expanded,
            waiting=max(0, int(counts[t.COUNT_NODES]) - expanded),
            seconds=self._seconds + seconds,
        )

    def _outcome(self, reason: StopReason, began: float) -> Outcome:
        self._seconds += time.perf_counter() - began
        counts = self.store.counts
        nodes = self.store.nodes[: counts[t.COUNT_NODES], t.NODE_STATUS]
        return Outcome(
            reason=reason,
            states=int(counts[t.COUNT_EXPANDED]),
            stored=int(np.count_nonzero(nodes != t.COVERED)),
            transitions=int(counts[t.COUNT_TRANSITIONS]),
            seconds=self._seconds,
            bytes=self._bytes_used(),
            found=int(counts[t.COUNT_FOUND]) if reason == "found" else -1,
            fault=Fault(int(counts[t.COUNT_FAULT])),
            fault_origin=self.compiled.place_of(int(counts[t.COUNT_FAULT_PC])),
            fault_node=int(counts[t.COUNT_FAULT_NODE]),
            fault_ordinal=int(counts[t.COUNT_FAULT_ORDINAL]),
        )

    # ---------------------------------------------------------------------------------- room

    def _bytes_used(self) -> int:
        counts = self.store.counts
        nodes, rows = int(counts[t.COUNT_NODES]), int(counts[t.COUNT_ROWS])
        n = self.search_tables.clocks
        per_node = 4 * t.NODE_COLUMNS + (4 * n * n if self._timed else 0)
        return int(
            nodes * per_node
            + rows * (4 * self.compiled.width + 4)
            + self.store.slots.nbytes
            + self.store.twins.nbytes
            + int(counts[t.COUNT_PENDING]) * 12
            + int(counts[t.COUNT_EDGES]) * 4 * t.KEPT_COLUMNS
        )

    def make_room(self, status: int) -> bool:
        """Makes the room that `status` asks for; False if it asks for none."""
        store, work = self.store, self.work
        match status:
            case t.PAUSED:
                return False
            case t.GROW_NODES:
                _enlarge(store.nodes)
                if self.search_tables.tables.settings[t.SET_ORDER] != t.ORDER_BREADTH:
                    _enlarge(store.pending)
                    _enlarge(store.keys)
                if self._timed:
                    _enlarge(store.zones)
                if self._equals and 2 * len(store.nodes) > len(store.twins):
                    twins = np.zeros(1 << (4 * len(store.nodes) - 1).bit_length(), np.int64)
                    store.twins = twins
                    count = int(store.counts[t.COUNT_NODES])
                    rehash_nodes(store.nodes, store.zones, twins, count)
            case t.GROW_ROWS:
                _enlarge(store.rows)
                _enlarge(store.head)
                if 2 * len(store.rows) > len(store.slots):
                    # The mask of the table wants a power of two.
                    slots = np.zeros(2 * len(store.slots), np.int64)
                    store.slots = slots
                    rehash(store.rows, slots, int(store.counts[t.COUNT_ROWS]))
            case t.GROW_EDGES:
                _enlarge(store.edges)
            case t.GROW_CONSTRAINTS:
                _enlarge(work.constraints)
            case t.GROW_CANDIDATES:
                for array in (work.options, work.odometer, work.candidates, work.parts):
                    _enlarge(array)
            case t.GROW_PIECES:
                for array in (work.pieces, work.spare):
                    _enlarge(array)
            case _:
                return False
        return True

    # ------------------------------------------------------------------------- what was found

    def path_to(self, node: int) -> list[tuple[int, int]]:
        """(node, ordinal) from the initial node: the ordinal of the transition that led there."""
        path: list[tuple[int, int]] = []
        while node >= 0:
            row = self.store.nodes[node]
            path.append((node, int(row[t.NODE_ORDINAL])))
            node = int(row[t.NODE_PARENT])
        return path[::-1]

    def row_of(self, node: int) -> npt.NDArray[np.int32]:
        """The discrete state of a node: locations, then data."""
        row: npt.NDArray[np.int32] = self.store.rows[self.store.nodes[node, t.NODE_ROW]]
        return row

    def zone_of(self, node: int) -> npt.NDArray[np.int32]:
        """The (extrapolated) zone of a node."""
        zone: npt.NDArray[np.int32] = self.store.zones[node]
        return zone

    @property
    def node_count(self) -> int:
        return int(self.store.counts[t.COUNT_NODES])


def _enlarge(array: npt.NDArray[Any]) -> None:
    """More rows, in place: nobody else may hold a view of the array now.

    Small arrays double; large ones grow by a quarter, as the new part is touched at once.
    """
    factor = 2.0 if array.nbytes < 64 * _MEGABYTE else 1.25
    rows = int(array.shape[0] * factor) + 1
    array.resize((rows, *array.shape[1:]), refcheck=False)
