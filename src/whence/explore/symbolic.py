"""Symbolic steps one at a time, exactly: what traces are made of.

The search extrapolates zones and forgets how it got anywhere but for the number of a transition.
Here a path is walked again without extrapolation, and with every clock constraint on record, so
that the zones shown are those of the path alone and its delays can be solved for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from whence.explore.compile import Compiled
from whence.explore.kernels import tables as t
from whence.explore.kernels import vm
from whence.explore.kernels.expand import enumerate_candidates
from whence.explore.search import Search
from whence.expr.evaluate import Store, apply_updates, domain_of, evaluate, holds, place_of
from whence.expr.faults import EvaluationError, Fault
from whence.expr.tree import Binary, Conditional, Expr, IntLiteral, Quantifier
from whence.expr.types import ChannelType, ConstraintType
from whence.expr.walk import substitute
from whence.model.trace import EdgeUse, SymbolicState, Transition
from whence.zones.bounds import INFINITY
from whence.zones.federation import Federation
from whence.zones.zone import Zone

__all__ = [
    "Candidate",
    "Comparison",
    "Constraint",
    "Moment",
    "SymbolicInterpreter",
    "all_constraints",
    "constrained",
]

#: (i, j, raw): clock i - clock j is bounded by raw.
Constraint = tuple[int, int, int]

_UNTOUCHED = Fraction(-1)


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a comparison in the model says in one state: clock i - clock j `op` value."""

    expr: Binary
    i: int
    j: int
    op: str
    value: int

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        found: list[Constraint] = []
        if self.op in ("<", "<=", "=="):
            found.append((self.i, self.j, 2 * self.value + (self.op != "<")))
        if self.op in (">", ">=", "=="):
            found.append((self.j, self.i, -2 * self.value + (self.op != ">")))
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A transition that the data of a state allows, with the clock constraints it needs."""

    transition: Transition
    priority: int
    urgent: bool
    constraints: tuple[Constraint, ...]


@dataclass(frozen=True, slots=True)
class Moment:
    """A state on a path, entered with `resets` after what `guard` demanded in the one before.

    `invariant` holds throughout; `zone` has the clock values that some run along the path can
    have here, delay included (`still`: there is none).
    """

    locations: tuple[int, ...]
    values: tuple[int, ...]
    zone: Zone
    invariant: tuple[Constraint, ...]
    still: bool
    guard: tuple[Constraint, ...] = ()
    resets: tuple[tuple[int, int], ...] = ()
    #: What must hold at the very moment of entering.
    entry: tuple[Constraint, ...] = ()
    #: No transition leads here: the state before simply goes on, from a moment of interest.
    pause: bool = False

    def state(self, names: Sequence[str]) -> SymbolicState:
        matrix = tuple(map(tuple, self.zone.matrix.tolist()))
        return SymbolicState(
            self.locations, self.values, matrix, tuple(self.zone.constraints(names, direct=True))
        )


@dataclass
class SymbolicInterpreter:
    """Steps of one network. Holds scratch memory of the kernel: not for several threads."""

    compiled: Compiled
    _search: Search = field(init=False)

    def __post_init__(self) -> None:
        # A search that never runs: its tables and scratch space are what we need.
        self._search = Search(self.compiled, self.compiled.search_tables())

    @property
    def clocks(self) -> int:
        return len(self.compiled.layout.clocks)

    # ------------------------------------------------------------------------------ candidates

    def candidates(self, locations: Sequence[int], values: Sequence[int]) -> list[Candidate]:
        """All transitions that the data allows, in the order of their ordinals in the search."""
        work = self._search.work
        row = [*locations, *values]
        while True:
            work.memory[: len(row)] = row
            count, status = enumerate_candidates(self._search.search_tables.tables, work)
            if not self._search.make_room(status):
                break
        if status < 0:
            origin = self.compiled.place_of(int(work.out[vm.FAULT_PC]))
            raise EvaluationError(Fault(-status), origin)
        return [self._candidate(work.candidates[n]) for n in range(count)]

    def _candidate(self, row: Sequence[int]) -> Candidate:
        work = self._search.work
        uses: list[EdgeUse] = []
        constraints: list[Constraint] = []
        begin = int(row[t.CANDIDATE_PARTS])
        for part in work.parts[begin : begin + int(row[t.CANDIDATE_COUNT])]:
            if part[t.PART_EDGE] >= 0:
                instance = self.compiled.instances[int(part[t.PART_EDGE])]
                uses.append(EdgeUse(instance.process, instance.edge, instance.selects))
            for i, j, raw in work.constraints[part[t.PART_FROM] : part[t.PART_TO]]:
                constraints.append((int(i), int(j), int(raw)))
        channel = int(row[t.CANDIDATE_CHANNEL])
        action, urgent = "tau", False
        if channel >= 0:
            cell = self.compiled.layout.channels[channel]
            action = cell.name
            urgent = isinstance(cell.type, ChannelType) and cell.type.urgent
        return Candidate(
            Transition(action, tuple(uses)),
            int(row[t.CANDIDATE_PRIORITY]),
            urgent,
            tuple(constraints),
        )

    # ---------------------------------------------------------------------------------- states

    def initial(self) -> Moment | None:
        """The initial state; None if it violates an invariant."""
        row = self.compiled.initial_row.tolist()
        processes = len(self.compiled.network.processes)
        locations, values = tuple(row[:processes]), tuple(row[processes:])
        invariant = self.invariant(locations, values)
        if invariant is None:
            return None
        zone = constrained(Zone.zero(self.clocks), invariant)
        if zone.is_empty:
            return None
        still = not self.may_delay(locations, values)
        if not still:
            zone = constrained(zone.delay(), invariant)
        return Moment(locations, values, zone, invariant, still)

    def store(self, locations: Sequence[int], values: Sequence[int]) -> Store:
        network, layout = self.compiled.network, self.compiled.layout
        return Store(
            data=list(values),
            address=layout.address,
            clock_of=layout.clock_of,
            locations=tuple(locations),
            constants=self.compiled.ranges.constants,
            functions=network.functions,
        )

    def invariant(
        self, locations: Sequence[int], values: Sequence[int]
    ) -> tuple[Constraint, ...] | None:
        """The clock constraints of all invariants in a state; None if the data violates one."""
        store = self.store(locations, values)
        found: list[Constraint] = []
        for process, location in zip(self.compiled.network.processes, locations, strict=True):
            formula = process.locations[location].invariant
            if formula is not None:
                constraints = self.constraints(formula, store)
                if constraints is None:
                    return None
                found.extend(constraints)
        return tuple(found)

    def may_delay(self, locations: Sequence[int], values: Sequence[int]) -> bool:
        for process, location in zip(self.compiled.network.processes, locations, strict=True):
            if process.locations[location].kind != "normal":
                return False
        channels = self.compiled.layout.channels
        if not any(isinstance(c.type, ChannelType) and c.type.urgent for c in channels):
            return True
        try:
            return not any(candidate.urgent for candidate in self.candidates(locations, values))
        except EvaluationError:
            # A guard goes wrong, but maybe one that has nothing to do with urgency.
            return not self._urgent_pair(locations, values)

    def _urgent_pair(self, locations: Sequence[int], values: Sequence[int]) -> bool:
        """Whether a synchronisation on an urgent channel is enabled. As in the kernel, guards
        are evaluated in order until that is known: one behind that may go wrong."""
        tables = self._search.search_tables.tables
        processes = self.compiled.network.processes
        store = self.store(locations, values)
        channels = self.compiled.layout.channels
        seen: set[tuple[int, str, int]] = set()
        for number, (process, location) in enumerate(zip(processes, locations, strict=True)):
            at = int(tables.location_base[number]) + location
            if not tables.locations[at, t.LOCATION_URGENT_EDGES]:
                continue
            for row in range(int(tables.edge_start[at]), int(tables.edge_start[at + 1])):
                instance = self.compiled.instances[row]
                edge = process.edges[instance.edge]
                synchronisation = edge.synchronisation
                if synchronisation is None:
                    continue
                for select, value in zip(edge.selects, instance.selects, strict=True):
                    store.bind(select.symbol, value)
                if edge.guard is not None and self.constraints(edge.guard, store) is None:
                    continue
                address = place_of(synchronisation.channel, store).address
                channel = self.compiled.layout.channel_of[address]
                kind = channels[channel].type
                assert isinstance(kind, ChannelType)
                if not kind.urgent:
                    continue
                direction = synchronisation.direction
                if kind.broadcast and direction == "!":
                    return True
                if any(
                    other_channel == channel and other != direction and partner != number
                    for other_channel, other, partner in seen
                ):
                    return True
                seen.add((channel, direction, number))
        return False

    # ----------------------------------------------------------------------------- constraints

    def constraints(self, formula: Expr, store: Store) -> tuple[Constraint, ...] | None:
        """What a conjunction of conditional clock constraints demands of clocks in a state;
        None if its data part is false."""
        found = self.comparisons(formula, store)
        if found is None:
            return None
        return tuple(constraint for comparison in found for constraint in comparison.constraints)

    def comparisons(self, formula: Expr, store: Store) -> tuple[Comparison, ...] | None:
        """The same, each with the comparison in the model that demands it."""
        found: list[Comparison] = []
        return tuple(found) if self._collect(formula, store, found) else None

    def _collect(self, expr: Expr, store: Store, found: list[Comparison]) -> bool:
        if not isinstance(expr.type, ConstraintType):
            return holds(expr, store)
        match expr:
            case Binary("&&", left, right):
                return self._collect(left, store, found) and self._collect(right, store, found)
            case Binary("||", left, right):
                if isinstance(left.type, ConstraintType):
                    left, right = right, left
                return holds(left, store) or self._collect(right, store, found)
            case Binary("imply", left, right):
                return not holds(left, store) or self._collect(right, store, found)
            case Conditional(condition, then, otherwise):
                chosen = then if holds(condition, store) else otherwise
                return self._collect(chosen, store, found)
            case Quantifier(kind="forall", symbol=symbol, body=body) if symbol is not None:
                return all(
                    self._collect(
                        substitute(body, symbol, IntLiteral(value, type=symbol.type)),
                        store,
                        found,
                    )
                    for value in domain_of(symbol)
                )
            case Binary():
                found.append(self._comparison(expr, store))
                return True
        raise AssertionError(f"not a conjunction of constraints: {expr}")

    def _comparison(self, expr: Binary, store: Store) -> Comparison:
        left = expr.left
        if isinstance(left, Binary):
            i, j = self._clock(left.left, store), self._clock(left.right, store)
        else:
            i, j = self._clock(left, store), 0
        value = evaluate(expr.right, store)
        assert isinstance(value, int)
        return Comparison(expr, i, j, expr.op, value)

    def _clock(self, expr: Expr, store: Store) -> int:
        return self.compiled.layout.clock_of[place_of(expr, store).address]

    # ----------------------------------------------------------------------------------- steps

    def fire(
        self, locations: Sequence[int], values: Sequence[int], transition: Transition
    ) -> tuple[tuple[int, ...], tuple[int, ...], tuple[tuple[int, int], ...]]:
        """(locations, values, clock resets) after a transition. Raises EvaluationError."""
        store = self.store(locations, values)
        store.clocks = [_UNTOUCHED] * self.clocks
        after = list(locations)
        for use in transition.uses:
            edge = self.compiled.network.processes[use.process].edges[use.edge]
            for select, value in zip(edge.selects, use.selects, strict=True):
                store.bind(select.symbol, value)
            apply_updates(edge.updates, store)
            after[use.process] = edge.target
        resets = _set_clocks(store)
        return tuple(after), tuple(store.data), resets

    def clocks_set(self, update: Expr, store: Store) -> tuple[tuple[int, int], ...]:
        """Executes one update in `store`: the clocks that it sets, and to what."""
        store.clocks = [_UNTOUCHED] * self.clocks
        apply_updates((update,), store)
        return _set_clocks(store)

    def step(self, moment: Moment, candidate: Candidate) -> list[Moment]:
        """The states after a transition, time to pass there included: one, or several where
        higher priorities claim a part of the zone, or none."""
        found = []
        for entered in self.enter(moment, candidate):
            zone = entered.zone
            if not entered.still:
                zone = constrained(zone.delay(), entered.invariant)
            found.append(replace(entered, zone=zone))
        return found

    def enter(self, moment: Moment, candidate: Candidate) -> list[Moment]:
        """The same at the moment of entering."""
        zone = constrained(moment.zone, candidate.constraints)
        if zone.is_empty:
            return []
        # First of all, for what is never taken does not go wrong either.
        pieces = self.not_claimed(moment, candidate, zone)
        if not pieces:
            return []
        locations, values, resets = self.fire(moment.locations, moment.values, candidate.transition)
        invariant = self.invariant(locations, values)
        if invariant is None:
            return []
        still = not self.may_delay(locations, values)
        found: list[Moment] = []
        for piece in pieces:
            guard = candidate.constraints
            if piece != zone:
                guard = guard + all_constraints(piece)
            after = piece
            for clock, value in resets:
                after = after.reset(clock, value)
            after = constrained(after, invariant)
            if not after.is_empty:
                found.append(Moment(locations, values, after, invariant, still, guard, resets))
        return found

    def not_claimed(self, moment: Moment, candidate: Candidate, zone: Zone) -> list[Zone]:
        """The parts of `zone` in which no transition of higher priority is enabled."""
        if not self.compiled.network.has_priorities:
            return [zone]
        rest = Federation(self.clocks, [zone.matrix])
        for other in self.candidates(moment.locations, moment.values):
            if other.priority > candidate.priority:
                enabled = self.enabling_zone(moment, other)
                if not enabled.is_empty:
                    rest = rest - Federation(self.clocks, [enabled.matrix])
        return [Zone(matrix) for matrix in rest.matrices]

    def enabling_zone(self, moment: Moment, candidate: Candidate) -> Zone:
        """The clock values of a moment for which a candidate can be taken, or goes wrong when it
        is: a step into an error of the model is a step."""
        zone = constrained(moment.zone, candidate.constraints)
        if zone.is_empty:
            return zone
        try:
            locations, values, resets = self.fire(
                moment.locations, moment.values, candidate.transition
            )
            invariant = self.invariant(locations, values)
        except EvaluationError:
            return zone
        if invariant is None:
            return Zone.empty(self.clocks)
        target = constrained(Zone.universal(self.clocks), invariant)
        for clock, value in resets:
            target = target.constrain(clock, 0, 2 * value + 1)
            target = target.constrain(0, clock, -2 * value + 1).free(clock)
        return zone.intersect(target)

    def deadlocked(self, moment: Moment) -> Federation:
        """The clock values of a moment from which no action is possible any more."""
        rest = Federation(self.clocks, [moment.zone.matrix])
        for candidate in self.candidates(moment.locations, moment.values):
            enabled = self.enabling_zone(moment, candidate)
            if enabled.is_empty:
                continue
            if not moment.still:
                enabled = enabled.past()
            rest = rest - Federation(self.clocks, [enabled.matrix])
        return rest


def _set_clocks(store: Store) -> tuple[tuple[int, int], ...]:
    assert store.clocks is not None
    return tuple(
        (clock, int(value)) for clock, value in enumerate(store.clocks) if value != _UNTOUCHED
    )


def constrained(zone: Zone, constraints: Iterable[Constraint]) -> Zone:
    for i, j, raw in constraints:
        if zone.is_empty:
            return zone
        zone = zone.constrain(i, j, raw)
    return zone


def all_constraints(zone: Zone) -> tuple[Constraint, ...]:
    """Every finite entry of the matrix of a zone."""
    matrix = np.asarray(zone.matrix)
    n = zone.dimension
    return tuple(
        (i, j, int(matrix[i, j]))
        for i in range(n)
        for j in range(n)
        if i != j and matrix[i, j] != INFINITY
    )
