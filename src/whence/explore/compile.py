"""From a network to the tables that the kernels read. No compiler runs: it is all data."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from whence.explore.bounds import (
    Atom,
    ClockBounds,
    atoms_of,
    diagonals_of,
    largest_reset,
    static_bounds,
)
from whence.explore.goals import Alternative
from whence.explore.kernels import tables as t
from whence.explore.ranges import RangeMap, variable_ranges
from whence.expr.bytecode import Assembler, Memory
from whence.expr.tree import Expr, Symbol
from whence.expr.types import ChannelType
from whence.model.layout import Layout, layout_of
from whence.model.network import Edge, Network
from whence.source import Diagnostic, InputError, Origin, UnsupportedError
from whence.zones.bounds import NO_BOUND, UNBOUNDED

__all__ = ["Compiled", "EdgeInstance", "SearchTables", "compile_network"]

_SELECT_LIMIT = 2_000_000
_KINDS = {"normal": 0, "urgent": 1, "committed": 2}

Ints = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class EdgeInstance:
    """A row of the edge table: an edge of a process with values for its select variables."""

    process: int
    edge: int
    selects: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SearchTables:
    """The tables for one search, and what is needed to set up its memory."""

    tables: t.Tables
    clocks: int
    time_clock: int


class Compiled:
    """A network's code and tables; goals of queries are added to it one after the other."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.layout: Layout = layout_of(network)
        self.ranges: RangeMap = variable_ranges(network)
        self.largest_reset = largest_reset(network, self.ranges)
        processes = len(network.processes)
        self.width = processes + self.layout.data
        constants: dict[Symbol, int] = {}
        self.constants: list[int] = []
        for constant in network.constants:
            constants[constant.symbol] = self.width + len(self.constants)
            self.constants.extend(constant.initial)
        selects = max((len(e.selects) for p in network.processes for e in p.edges), default=0)
        self.selects_at = self.width + len(self.constants)
        self.frames_at = self.selects_at + selects
        self.assembler = Assembler(
            Memory(
                processes=processes,
                variables={s: processes + a for s, a in self.layout.address.items()},
                constants=constants,
                clock_of=[0] * processes + list(self.layout.clock_of),
                channel_of=[-1] * processes + list(self.layout.channel_of),
                selects=self.selects_at,
                frames=self.frames_at,
            ),
            network.functions,
        )
        self.instances: list[EdgeInstance] = []
        self._compile_locations()
        self._compile_edges()
        self._compile_channels()

    # ------------------------------------------------------------------------------- the model

    def _compile_locations(self) -> None:
        rows: list[list[int]] = []
        base: list[int] = []
        watched: list[int] = []
        for number, process in enumerate(self.network.processes):
            base.append(len(rows))
            for location in process.locations:
                program = self.assembler.guard(location.invariant)
                rows.append([_KINDS[location.kind], program, 0])
                if program >= 0 and number not in watched[-1:]:
                    watched.append(number)
        self._locations = np.array(rows, np.int32).reshape(-1, t.LOCATION_COLUMNS)
        self._location_base = np.array(base, np.int32)
        self._watched = np.array(watched, np.int32)

    def _compile_edges(self) -> None:
        rows: list[list[int]] = []
        start: list[int] = []
        select_values: list[int] = []
        for number, process in enumerate(self.network.processes):
            leaving: list[list[int]] = [[] for _ in process.locations]
            for edge_number, edge in enumerate(process.edges):
                leaving[edge.source].append(edge_number)
            programs = [self._programs(edge) for edge in process.edges]
            for location, edges in enumerate(leaving):
                start.append(len(rows))
                kind = process.locations[location].kind
                for edge_number in edges:
                    edge = process.edges[edge_number]
                    guard, direction, channel, channel_program, update = programs[edge_number]
                    if direction and self._may_be_urgent(channel):
                        at = self._location_base[number] + location
                        self._locations[at, t.LOCATION_URGENT_EDGES] = 1
                    domains = [range(s.lo, s.hi + 1) for s in edge.selects]
                    for values in itertools.product(*domains):
                        if len(rows) >= _SELECT_LIMIT:
                            raise UnsupportedError(
                                Diagnostic(
                                    f"not supported: more than {_SELECT_LIMIT} values of selects",
                                    edge.origin,
                                )
                            )
                        rows.append(
                            [
                                number,
                                edge.target,
                                guard,
                                direction,
                                channel,
                                channel_program,
                                update,
                                len(select_values),
                                len(values),
                                int(kind == "committed"),
                                edge_number,
                            ]
                        )
                        select_values.extend(values)
                        self.instances.append(EdgeInstance(number, edge_number, values))
        start.append(len(rows))
        self._edges = np.array(rows, np.int32).reshape(-1, t.EDGE_COLUMNS)
        self._edge_start = np.array(start, np.int32)
        self._select_values = np.array(select_values or [0], np.int32)

    def _programs(self, edge: Edge) -> tuple[int, int, int, int, int]:
        """(guard, direction, channel, channel program, update) of an edge."""
        symbols = [select.symbol for select in edge.selects]
        guard = self.assembler.guard(edge.guard, symbols)
        update = self.assembler.update(edge.updates, symbols)
        if edge.synchronisation is None:
            return guard, 0, -1, -1, update
        direction = 1 if edge.synchronisation.direction == "!" else 2
        channel = edge.synchronisation.channel
        known = self.assembler.static_channel(channel)
        if known is not None:
            return guard, direction, known, -1, update
        return guard, direction, -1, self.assembler.channel(channel, symbols), update

    def _may_be_urgent(self, channel: int) -> bool:
        of = self.layout.channels
        kinds = [of[channel].type] if channel >= 0 else [cell.type for cell in of]
        return any(isinstance(kind, ChannelType) and kind.urgent for kind in kinds)

    def _compile_channels(self) -> None:
        rows = []
        for number, cell in enumerate(self.layout.channels):
            assert isinstance(cell.type, ChannelType)
            priority = self.network.channel_priorities.get(number, self.network.default_priority)
            rows.append([int(cell.type.broadcast), int(cell.type.urgent), priority])
        self._channels = np.array(rows, np.int32).reshape(-1, t.CHANNEL_COLUMNS)

    @property
    def initial_row(self) -> Ints:
        locations = [process.initial for process in self.network.processes]
        return np.array([*locations, *self.layout.initial], np.int32)

    def place_of(self, pc: int) -> Origin:
        return self.assembler.places.get(pc, self.network.origin)

    # ------------------------------------------------------------------------------- a search

    def search_tables(
        self,
        goals: Sequence[Alternative] = (),
        *,
        order: int = t.ORDER_BREADTH,
        cover: int | None = None,
        keep_edges: bool = False,
        drop_covered: bool = True,
        stop: bool = True,
        time_clock: bool = False,
        merge_bounds: bool = False,
        extra_bounds: Sequence[tuple[int, int]] = (),
        watch: Sequence[Atom] = (),
        within: Expr | None = None,
    ) -> SearchTables:
        """The tables for one search for `goals`.

        `cover` None chooses the coarsest sound comparison; `merge_bounds` makes the abstraction
        preserve everything that bisimilar states agree on (L = U), `extra_bounds` are (clock,
        constant) that must stay exact, `watch` more constraints that the caller will decide.
        States that violate `within`, a formula without clocks, are left out.
        """
        clocks = len(self.layout.clocks) + int(time_clock)
        deadlock = any(goal.deadlock for goal in goals)
        merge = merge_bounds or deadlock or self.network.has_priorities
        of_goals = ClockBounds(clocks, self.largest_reset)
        at_locations: dict[tuple[int, int], list[Atom]] = {}
        goal_atoms: list[Atom] = []
        programs: list[list[int]] = []
        for goal in goals:
            atoms = atoms_of(goal.condition, self.layout, self.ranges)
            goal_atoms.extend(atoms)
            place = goal.location
            if place is None:
                for atom in atoms:
                    of_goals.add(atom, merge)
            else:
                at_locations.setdefault(place, []).extend(atoms)
            programs.append([self.assembler.guard(goal.condition), goal.deadlock])
        for atom in watch:
            of_goals.add(atom, True)
            goal_atoms.append(atom)
        lower, upper, model_atoms = static_bounds(
            self.network,
            self.layout,
            self.ranges,
            clocks,
            at_locations,
            merge,
            self.largest_reset,
        )
        diagonals = diagonals_of([*model_atoms, *goal_atoms])
        if diagonals or merge:
            lower = upper = np.maximum(lower, upper)
            of_goals.lower = of_goals.upper = np.maximum(of_goals.lower, of_goals.upper)
        for clock, constant in extra_bounds:
            of_goals.lower[clock] = max(of_goals.lower[clock], constant)
            of_goals.upper[clock] = max(of_goals.upper[clock], constant)
        if cover is None:
            cover = t.COVER_INCLUSION if diagonals else t.COVER_ALU
        time_number = clocks - 1 if time_clock else 0
        if time_clock:
            # Being earlier is as good: only upper bounds on the time could ever matter.
            of_goals.lower[time_number] = NO_BOUND
            of_goals.upper[time_number] = UNBOUNDED
        settings = np.zeros(t.SET_SIZE, np.int64)
        settings[t.SET_PROCESSES] = len(self.network.processes)
        settings[t.SET_WIDTH] = self.width
        settings[t.SET_CLOCKS] = clocks
        settings[t.SET_SELECTS] = self.selects_at
        settings[t.SET_FRAMES] = self.frames_at
        settings[t.SET_DEFAULT_PRIORITY] = self.network.default_priority
        settings[t.SET_PRIORITIES] = self.network.has_priorities
        settings[t.SET_URGENT_CHANNELS] = bool(self._channels[:, t.CHANNEL_URGENT].any())
        settings[t.SET_DIAGONALS] = bool(diagonals)
        settings[t.SET_COVER] = cover
        settings[t.SET_ORDER] = order
        settings[t.SET_KEEP_EDGES] = keep_edges
        settings[t.SET_GOAL_DEADLOCK] = deadlock
        settings[t.SET_TIME_CLOCK] = time_number
        settings[t.SET_DROP_COVERED] = drop_covered
        settings[t.SET_STOP] = stop
        settings[t.SET_FILTER] = self.assembler.guard(within)
        return SearchTables(
            t.Tables(
                code=np.array(self.assembler.code, np.int32),
                edges=self._edges,
                edge_start=self._edge_start,
                locations=self._locations,
                location_base=self._location_base,
                process_priority=np.array(
                    [process.priority for process in self.network.processes], np.int32
                ),
                select_values=self._select_values,
                channels=self._channels,
                lower=lower,
                upper=upper,
                goal_lower=of_goals.lower,
                goal_upper=of_goals.upper,
                diagonals=np.array(diagonals, np.int32).reshape(-1, 3),
                watched=self._watched,
                goals=np.array(programs, np.int32).reshape(-1, t.GOAL_COLUMNS),
                settings=settings,
            ),
            clocks,
            time_number,
        )


def compile_network(network: Network) -> Compiled:
    if not network.processes:
        raise InputError(Diagnostic("the system has no process", network.origin))
    return Compiled(network)
