"""Whether a changed model can do all that the original does, without looking at whole words.

Let ≼ be the LU simulation of the changed model (Behrmann, Bouyer, Larsen & Pelánek 2006; as a
set of valuations, the abstraction a_LU): with u ≼ u' in one place, whatever happens from u can
happen from u', with the same transitions.  Suppose that for every valuation u with which the
*original* can enter a state, and for every step of it, wait and then take an edge to enter the
next state with w, the *changed* model can also wait from u, perhaps for another time, and take the
same edge to enter with some w' such that w ≼ w'.  Then by induction every sequence of transitions
of the original is one of the changed model: after each step it is in a state that simulates the
original's.

That the changed model may not be allowed to be in u itself, by its invariants, does no harm: it is
in some u' that simulates u, and whatever it could do from u it can do from there.

The condition is local.  It is trivial where nothing has changed, and so is checked only where it
has: all of it is difference constraints over the moments t0 (entering), t1 (the original's step)
and t2 (the changed model's), so that zones and their federations decide it exactly.  The condition
is sufficient, not necessary: where it fails, nothing follows.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt

from whence.explore.kernels import tables as t
from whence.explore.search import Budget, Search
from whence.explore.symbolic import Candidate, Constraint, SymbolicInterpreter, constrained
from whence.expr.faults import EvaluationError
from whence.model.trace import Transition
from whence.timing.admissible import alike
from whence.timing.model import TimedModel
from whence.zones.bounds import INFINITY, LE_ZERO, NO_BOUND, OK, OVERFLOW, UNBOUNDED, ZoneOverflow
from whence.zones.dbm import Matrix, close
from whence.zones.federation import Federation
from whence.zones.zone import Zone

__all__ = ["Reachable", "can_do_all", "reachable", "unreachable_path"]

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Reachable:
    """The states of a model up to inclusion of zones, with the transitions between them."""

    model: TimedModel
    search: Search
    complete: bool

    @property
    def interpreter(self) -> SymbolicInterpreter:
        return self.model.checker.interpreter

    def discrete(self, node: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        row = self.search.row_of(node).tolist()
        processes = len(self.model.network.processes)
        return tuple(row[:processes]), tuple(row[processes:])

    @property
    def kept(self) -> Ints:
        """The transitions between the states, as the search keeps them."""
        store = self.search.store
        kept: Ints = store.edges[: int(store.counts[t.COUNT_EDGES])].astype(np.int64)
        return kept


def reachable(model: TimedModel, budget: Budget | None = None) -> Reachable:
    compiled = model.checker.compiled
    tables = compiled.search_tables(cover=t.COVER_INCLUSION, keep_edges=True, drop_covered=False)
    search = Search(compiled, tables)
    outcome = search.run(budget)
    return Reachable(model, search, outcome.reason == "complete")


def unreachable_path(here: Reachable, there: Reachable) -> tuple[Transition, ...] | None:
    """A run of the one model that ends in a transition which the other never takes; None if there
    is none. Pre: `there` is complete."""
    taken = {transition for transition, _ in _transitions(there)}
    missing = [(node, last) for last, node in _transitions(here) if last not in taken]
    if not missing:
        return None
    # Nodes are numbered breadth-first.
    node, last = min(missing, key=lambda pair: pair[0])
    path = [ordinal for _, ordinal in here.search.path_to(node)][1:]
    return (*_named(here, path), last)


def _transitions(states: Reachable) -> list[tuple[Transition, int]]:
    """Every transition that is taken, with the first node from which it is (some are listed more
    than once)."""
    kept = states.kept
    first, places = alike(states.search, kept)
    nodes = np.full(len(first), states.search.node_count, np.int64)
    np.minimum.at(nodes, places, kept[:, t.KEPT_SOURCE])
    found = []
    for edge, node in zip(first.tolist(), nodes.tolist(), strict=True):
        locations, values = states.discrete(int(kept[edge, t.KEPT_SOURCE]))
        candidates = states.interpreter.candidates(locations, values)
        found.append((candidates[kept[edge, t.KEPT_ORDINAL]].transition, node))
    return found


def _named(states: Reachable, ordinals: Sequence[int]) -> Iterator[Transition]:
    moment = states.interpreter.initial()
    assert moment is not None
    locations, values = moment.locations, moment.values
    for ordinal in ordinals:
        transition = states.interpreter.candidates(locations, values)[ordinal].transition
        locations, values, _ = states.interpreter.fire(locations, values, transition)
        yield transition


# ----------------------------------------------------------------------------------- simulation


def can_do_all(states: Reachable, changed: TimedModel, seconds: float | None = None) -> bool:
    """Whether the changed model is known to have every sequence of transitions that the one
    whose states are given has. False: nothing is known (after so many seconds, if it takes long).

    Pre: the models differ in clock constraints, resets and urgency only.
    """
    model = states.model
    if not states.complete or model.network.has_priorities or changed.network.has_priorities:
        return False
    for side in (model, changed):
        # With differences of clocks a_LU is no simulation.
        if side.checker.compiled.search_tables().tables.settings[t.SET_DIAGONALS]:
            return False
    try:
        if model.checker.interpreter.initial() is None:
            return True  # it has not even the empty word
        if changed.checker.interpreter.initial() is None:
            return False
        deadline = None if seconds is None else time.perf_counter() + seconds
        return _Matching(states, changed, deadline).holds()
    except (EvaluationError, ZoneOverflow, _TooLate):
        return False


class _TooLate(Exception):
    pass


@dataclass(frozen=True, slots=True)
class _Here:
    """What time may do in a discrete state of one model."""

    invariant: tuple[Constraint, ...] | None
    still: bool


class _Matching:
    def __init__(self, states: Reachable, changed: TimedModel, deadline: float | None) -> None:
        self.states = states
        self.deadline = deadline
        self.ours = states.interpreter
        self.theirs = changed.checker.interpreter
        self.changed = changed
        self.clocks = self.ours.clocks
        tables = changed.checker.compiled.search_tables().tables
        self.tables = tables
        # The moments at which the clocks were last set, and the three of a step. Moment 0 is
        # before all others, so that no moment is negative.
        self.t0, self.t1, self.t2 = self.clocks, self.clocks + 1, self.clocks + 2

    def holds(self) -> bool:
        entries = self._entries(self._touched_rows())
        for row in sorted(entries):
            state = self.states.search.store.rows[row].tolist()
            processes = len(self.states.model.network.processes)
            locations, values = state[:processes], state[processes:]
            steps = list(self._changed_steps(locations, values))
            for zone in _maximal(entries[row]):
                self._hurry()
                if not all(step.matched(zone) for step in steps):
                    return False
        return True

    def _hurry(self) -> None:
        if self.deadline is not None and time.perf_counter() > self.deadline:
            raise _TooLate

    # ------------------------------------------------------------------------ where it matters

    def _touched_rows(self) -> npt.NDArray[np.bool_]:
        """The discrete states in which, or on whose steps, the two models differ."""
        places = self._touched_places()
        store = self.states.search.store
        rows = store.rows[: int(store.counts[t.COUNT_ROWS])]
        found = np.zeros(len(rows), bool)
        for process, location in places:
            found |= rows[:, process] == location
        return found

    def _touched_places(self) -> set[tuple[int, int]]:
        """(process, location): who is there may behave differently."""
        found: set[tuple[int, int]] = set()
        ours, theirs = self.states.model.network, self.changed.network
        for number, (mine, other) in enumerate(zip(ours.processes, theirs.processes, strict=True)):
            for index, (a, b) in enumerate(zip(mine.locations, other.locations, strict=True)):
                if a.kind != b.kind or a.invariant != b.invariant:
                    found.add((number, index))
                    found |= {(number, e.source) for e in mine.edges if e.target == index}
            for edge, twin in zip(mine.edges, other.edges, strict=True):
                if edge.guard != twin.guard or edge.updates != twin.updates:
                    found.add((number, edge.source))
        return found

    def _entries(self, touched: npt.NDArray[np.bool_]) -> dict[int, list[Zone]]:
        """For each touched discrete state: the zones with which it is entered."""
        search = self.states.search
        nodes = search.store.nodes
        found: dict[int, list[Zone]] = {}
        seen: set[tuple[int, Zone]] = set()
        initial = self.ours.initial()
        assert initial is not None
        first = int(nodes[0, t.NODE_ROW])
        if touched[first]:
            found[first] = [Zone.zero(self.clocks)]
        kept = self.states.kept
        edges = kept[:, [t.KEPT_SOURCE, t.KEPT_TARGET, t.KEPT_ORDINAL]]
        into = touched[nodes[edges[:, 1], t.NODE_ROW]]
        steps: dict[tuple[int, int], tuple[Candidate, tuple[tuple[int, int], ...], _Here]] = {}
        latest, candidates = -1, list[Candidate]()
        chosen = edges[into]
        for source, target, ordinal in chosen[np.lexsort(chosen.T[::-1])].tolist():
            self._hurry()
            row = int(nodes[source, t.NODE_ROW])
            if (row, ordinal) not in steps:
                locations, values = self.states.discrete(source)
                if row != latest:
                    candidates, latest = self.ours.candidates(locations, values), row
                candidate = candidates[ordinal]
                after = self.ours.fire(locations, values, candidate.transition)
                here = _Here(self.ours.invariant(after[0], after[1]), False)
                steps[row, ordinal] = candidate, after[2], here
            candidate, resets, here = steps[row, ordinal]
            # Where there are no clocks, no zones are kept.
            zone = Zone(search.zone_of(source)) if self.clocks > 1 else Zone.universal(1)
            zone = constrained(zone, candidate.constraints)
            for clock, value in resets:
                zone = zone.reset(clock, value)
            zone = constrained(zone, here.invariant or ())
            into_row = int(nodes[target, t.NODE_ROW])
            if not zone.is_empty and (into_row, zone) not in seen:
                seen.add((into_row, zone))
                found.setdefault(into_row, []).append(zone)
        return found

    # ------------------------------------------------------------------------------- the steps

    def _changed_steps(self, locations: list[int], values: list[int]) -> Iterator[_Step]:
        mine, other = (
            self._here(self.ours, locations, values),
            self._here(self.theirs, locations, values),
        )
        # One transition may be several candidates, with different constraints: a receiver of a
        # broadcast can be kept out in several ways.
        twins: dict[Transition, list[Candidate]] = {}
        for candidate in self.theirs.candidates(locations, values):
            twins.setdefault(candidate.transition, []).append(candidate)
        for candidate in self.ours.candidates(locations, values):
            after = self.ours.fire(locations, values, candidate.transition)
            entered = self.ours.invariant(after[0], after[1])
            if entered is None or mine.invariant is None:
                continue  # the data forbids it
            their_after = self.theirs.fire(locations, values, candidate.transition)
            their_entered = self.theirs.invariant(their_after[0], their_after[1])
            step = _Step(
                self,
                mine,
                other,
                candidate,
                twins.get(candidate.transition, []),
                after[2],
                their_after[2],
                entered,
                their_entered,
                self._bounds(their_after[0]),
            )
            if not step.unchanged:
                yield step

    @staticmethod
    def _here(interpreter: SymbolicInterpreter, locations: list[int], values: list[int]) -> _Here:
        return _Here(
            interpreter.invariant(locations, values),
            not interpreter.may_delay(locations, values),
        )

    def _bounds(self, locations: Sequence[int]) -> tuple[list[int], list[int]]:
        """The L and U bounds of the changed model in a location vector."""
        places = [
            int(self.tables.location_base[process]) + at for process, at in enumerate(locations)
        ]
        lower = self.tables.lower[places].max(axis=0)
        upper = self.tables.upper[places].max(axis=0)
        return lower.tolist(), upper.tolist()


@dataclass(frozen=True, slots=True)
class _Step:
    """One transition in one discrete state, in both models."""

    matching: _Matching
    mine: _Here
    other: _Here
    candidate: Candidate
    twins: Sequence[Candidate]
    resets: tuple[tuple[int, int], ...]
    their_resets: tuple[tuple[int, int], ...]
    entered: tuple[Constraint, ...]
    their_entered: tuple[Constraint, ...] | None
    bounds: tuple[list[int], list[int]]

    @property
    def unchanged(self) -> bool:
        return (
            self.mine == self.other
            and self.candidate in self.twins
            and self.resets == self.their_resets
            and self.entered == self.their_entered
        )

    def matched(self, zone: Zone) -> bool:
        """Whether the changed model matches this step from every valuation of `zone`."""
        m = self.matching
        size = m.clocks + 3
        base = _blank(size)
        for i, j, raw in _finite(zone.matrix):
            # Clock i, read at t0, is t0 less the moment at which it was set.
            _bound(base, j if j else m.t0, i if i else m.t0, raw)
        _bound(base, m.t0, m.t1, LE_ZERO)
        _bound(base, m.t0, m.t2, LE_ZERO)
        if self.mine.still:
            _bound(base, m.t1, m.t0, LE_ZERO)
        self._demand(base, self.mine.invariant or (), m.t1, ())
        self._demand(base, self.candidate.constraints, m.t1, ())
        if not self._demand(base, self.entered, m.t1, self.resets):
            return True
        moves = base[: m.t2, : m.t2].copy()
        if not _possible(moves):
            return True  # the original cannot do it from here
        if self.their_entered is None or self.other.invariant is None:
            return False
        answers = [
            way[: m.t2, : m.t2].copy()
            for twin in self.twins
            for way in self._ways(base, twin)
            if _possible(way)
        ]
        rest = Federation(m.t2, [moves]) - Federation(m.t2, answers)
        return rest.is_empty()

    def _ways(self, base: Matrix, twin: Candidate) -> Iterator[Matrix]:
        """The ways in which the changed model can match: the original's step and its own."""
        m = self.matching
        assert self.their_entered is not None
        theirs = base.copy()
        if self.other.still:
            _bound(theirs, m.t2, m.t0, LE_ZERO)
        self._demand(theirs, self.other.invariant or (), m.t2, ())
        self._demand(theirs, twin.constraints, m.t2, ())
        if not self._demand(theirs, self.their_entered, m.t2, self.their_resets):
            return
        for order in ("same", "before", "after"):
            ordered = theirs.copy()
            _bound(ordered, m.t2, m.t1, {"same": LE_ZERO, "before": 0, "after": INFINITY}[order])
            _bound(ordered, m.t1, m.t2, {"same": LE_ZERO, "before": INFINITY, "after": 0}[order])
            options = [self._simulating(clock, order) for clock in range(1, m.clocks)]
            for combination in product(*options):
                way = ordered.copy()
                for constraints in combination:
                    for a, b, raw in constraints:
                        _bound(way, a, b, raw)
                yield way

    def _simulating(self, clock: int, order: str) -> list[list[tuple[int, int, int]]]:
        """How a clock of the changed model, after the step, can simulate the original's: each way
        is constraints (a, b, raw) on moments."""
        m = self.matching
        low, high = self.bounds[0][clock], self.bounds[1][clock]
        mine, theirs = dict(self.resets).get(clock), dict(self.their_resets).get(clock)
        if mine is None and theirs is None:
            match order:
                case "same":
                    return [[]]
                case "before":  # L < w' suffices, as w' < w
                    return _above(m.t2, clock, low)
                case _:  # U < w, as w < w'
                    return _above(m.t1, clock, high)
        if mine is not None and theirs is not None:
            fine = mine == theirs or (_less(low, theirs) and theirs < mine)
            return [[]] if fine or (_less(high, mine) and mine < theirs) else []
        ways: list[list[tuple[int, int, int]]] = []
        if theirs is None:
            assert mine is not None
            # w = mine, w' is read at t2.
            at = m.t2
            ways.append([(at, clock, 2 * mine + 1), (clock, at, 1 - 2 * mine)])
            ways += [[*way, (at, clock, 2 * mine)] for way in _above(at, clock, low)]
            if _less(high, mine):
                ways.append([(clock, at, -2 * mine)])
            return ways
        at = m.t1
        ways.append([(at, clock, 2 * theirs + 1), (clock, at, 1 - 2 * theirs)])
        if _less(low, theirs):
            ways.append([(clock, at, -2 * theirs)])
        ways += [[*way, (at, clock, 2 * theirs)] for way in _above(at, clock, high)]
        return ways

    def _demand(
        self,
        matrix: Matrix,
        constraints: Sequence[Constraint],
        now: int,
        resets: Sequence[tuple[int, int]],
    ) -> bool:
        """Adds clock constraints that hold at a moment, after some clocks were set; False if
        they cannot."""
        values = dict(resets)
        for i, j, raw in constraints:
            at_i, from_i = (now, values[i]) if i in values else (i or now, 0)
            at_j, from_j = (now, values[j]) if j in values else (j or now, 0)
            # (now - at_i + from_i) - (now - at_j + from_j)
            bound = raw - 2 * (from_i - from_j)
            if at_i == at_j:
                if bound < LE_ZERO:
                    return False
            else:
                _bound(matrix, at_j, at_i, bound)
        return True


def _above(at: int, clock: int, constant: int) -> list[list[tuple[int, int, int]]]:
    """That a clock, read at a moment, is above a constant of a_LU."""
    if constant <= NO_BOUND:
        return [[]]
    if constant >= UNBOUNDED:
        return []
    return [[(clock, at, -2 * constant)]]


def _less(constant: int, value: int) -> bool:
    return constant < value


def _possible(matrix: Matrix) -> bool:
    """Makes a matrix canonical; False if it has no solution."""
    status = close(matrix)
    if status == OVERFLOW:
        raise ZoneOverflow("a clock bound left the range of constants that a zone can hold")
    return status == OK


def _blank(size: int) -> Matrix:
    """No constraints, but that moment 0 is before all others."""
    matrix = np.full((size, size), INFINITY, np.int32)
    np.fill_diagonal(matrix, LE_ZERO)
    matrix[0, :] = LE_ZERO
    return matrix


def _bound(matrix: Matrix, a: int, b: int, raw: int) -> None:
    if raw < matrix[a, b]:
        matrix[a, b] = raw


def _finite(matrix: Matrix) -> Iterator[Constraint]:
    for i, row in enumerate(matrix.tolist()):
        for j, raw in enumerate(row):
            if i != j and raw != INFINITY:
                yield i, j, raw


def _maximal(zones: list[Zone]) -> list[Zone]:
    kept: list[Zone] = []
    for zone in zones:
        if any(other.includes(zone) for other in kept):
            continue
        kept = [other for other in kept if not zone.includes(other)]
        kept.append(zone)
    return kept
