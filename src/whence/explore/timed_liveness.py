"""`E[]`, `A<>` and `-->` where the formula speaks of clocks: exact, on federations of zones.

While time passes in a discrete state, p may hold, fail and hold again.  From an entry zone E we
keep what can be reached by delay *within* p: with D all delays from E and bad = D minus p, that
is D minus every delay of bad.  A node is a discrete state with a convex entry zone inside p,
extrapolated with bounds that include the constants of p, so that there are finitely many.

A path may end in a node if it can stay there for ever, or until nothing more can happen, without
leaving p.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from whence.explore.bounds import atoms_of
from whence.explore.goals import Alternative, alternatives
from whence.explore.realize import system_of
from whence.explore.search import REASONS, Outcome, StopReason
from whence.explore.symbolic import (
    Constraint,
    Moment,
    SymbolicInterpreter,
    all_constraints,
    constrained,
)
from whence.explore.traces import Path, walk
from whence.expr.faults import EvaluationError, Fault
from whence.expr.tree import Expr
from whence.model.network import Query
from whence.model.trace import QueryResult, TimedTrace, TraceEnd, Transition, Verdict
from whence.zones.bounds import OVERFLOW, ZoneOverflow
from whence.zones.extrapolation import extra_lu_plus
from whence.zones.federation import Federation
from whence.zones.zone import Zone

if TYPE_CHECKING:
    from whence.explore.check import Checker, Options, Watcher

__all__ = ["check_timed_liveness"]

_Row = tuple[tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class _Stay:
    """What can happen in a node without an action: `all` is everything that delay reaches,
    `kept` what it reaches within p, `end` why a path may end here ("" if it may not) and
    `ending` from which clock values."""

    all: Zone
    kept: Federation
    end: str
    ending: Federation


class _GaveUp(Exception):
    def __init__(self, reason: StopReason) -> None:
        self.reason = reason
        super().__init__(reason)


class _Explorer:
    """The graph of nodes within `along`, made as it is walked."""

    def __init__(self, checker: Checker, start: Expr | None, along: Expr, options: Options) -> None:
        self.interpreter: SymbolicInterpreter = checker.interpreter
        self.compiled = checker.compiled
        self.along = alternatives(along)
        self.start = None if start is None else alternatives(start)
        formulas = [along] if start is None else [along, start]
        watch = [
            atom
            for formula in formulas
            for atom in atoms_of(formula, self.compiled.layout, self.compiled.ranges)
        ]
        self.tables = self.compiled.search_tables(merge_bounds=True, watch=watch).tables
        self.dimension = self.interpreter.clocks
        self.budget = options.budget
        self.began = time.perf_counter()
        self.states = 0
        self.transitions = 0
        self._maximum: dict[tuple[int, ...], npt.NDArray[np.int32]] = {}

    # ------------------------------------------------------------------------------- zones

    def formula(self, goals: Sequence[Alternative], moment: Moment) -> Federation:
        """Where a formula holds among the clock values of a discrete state."""
        store = self.interpreter.store(moment.locations, moment.values)
        zones = []
        for goal in goals:
            constraints: tuple[Constraint, ...] | None = ()
            if goal.condition is not None:
                constraints = self.interpreter.constraints(goal.condition, store)
            if constraints is not None:
                zone = constrained(Zone.universal(self.dimension), constraints)
                if not zone.is_empty:
                    zones.append(zone.matrix)
        return Federation(self.dimension, zones)

    def abstracted(self, moment: Moment) -> Iterator[Zone]:
        """The zone of a moment, split along differences and extrapolated."""
        pieces = [moment.zone]
        for i, j, raw in self.tables.diagonals.tolist():
            halves = [
                half
                for piece in pieces
                for half in (piece.constrain(i, j, raw), piece.constrain(j, i, 1 - raw))
            ]
            pieces = [half for half in halves if not half.is_empty]
        bounds = self._bounds(moment.locations)
        for piece in pieces:
            matrix = np.array(piece.matrix, np.int32)
            if extra_lu_plus(matrix, bounds, bounds) == OVERFLOW:
                raise ZoneOverflow
            wide = Zone(matrix)
            for i, j, raw in self.tables.diagonals.tolist():
                inside = not piece.constrain(i, j, raw).is_empty
                wide = wide.constrain(i, j, raw) if inside else wide.constrain(j, i, 1 - raw)
            yield wide

    def _bounds(self, locations: tuple[int, ...]) -> npt.NDArray[np.int32]:
        if locations not in self._maximum:
            bounds = np.maximum(self.tables.goal_lower, self.tables.goal_upper)
            for process, location in enumerate(locations):
                at = self.tables.location_base[process] + location
                bounds = np.maximum(bounds, self.tables.lower[at])
                bounds = np.maximum(bounds, self.tables.upper[at])
            self._maximum[locations] = np.ascontiguousarray(bounds, np.int32)
        return self._maximum[locations]

    # ------------------------------------------------------------------------------- nodes

    def stay(self, moment: Moment, within: Federation) -> _Stay:
        """Pre: the moment is one of entering, its zone inside `within`."""
        entry = Federation(self.dimension, [moment.zone.matrix])
        if moment.still:
            everything, kept, staying = moment.zone, entry, entry
        else:
            everything = constrained(moment.zone.delay(), moment.invariant)
            whole = Federation(self.dimension, [everything.matrix])
            bad = whole - within
            kept = whole if bad.is_empty() else whole - bad.delay()
            left = whole - kept
            staying = kept if left.is_empty() else kept - left.past()
        bounded = moment.still or any(j == 0 for _, j, _ in moment.invariant)
        if not bounded and not staying.is_empty():
            return _Stay(everything, kept, "divergence", staying)
        if not staying.is_empty():
            ending = staying & self.interpreter.deadlocked(replace(moment, zone=everything))
            if not ending.is_empty():
                return _Stay(everything, kept, "deadlock", ending)
        return _Stay(everything, kept, "", Federation.empty(self.dimension))

    def pieces(self, moment: Moment, where: Federation) -> list[Moment]:
        """The parts of a moment of entering that lie in `where`, each convex."""
        found = []
        for matrix in where.matrices:
            zone = moment.zone.intersect(Zone(matrix))
            if not zone.is_empty:
                found.append(replace(moment, zone=zone, entry=all_constraints(Zone(matrix))))
        return found

    def initial(self) -> Moment:
        moment = self.interpreter.initial()
        assert moment is not None
        return replace(moment, zone=Zone.zero(self.dimension))

    def count(self, search_transitions: int) -> None:
        """Counts a node and sees to the budget."""
        self.states += 1
        self.transitions += search_transitions
        if self.budget.states is not None and self.states > self.budget.states:
            raise _GaveUp("states")
        spent = time.perf_counter() - self.began
        if self.budget.seconds is not None and spent > self.budget.seconds:
            raise _GaveUp("time")


#: How a node is reached: the moments and transitions from the start.
_Key = tuple[_Row, bytes]


def _key(moment: Moment) -> _Key:
    matrix = np.ascontiguousarray(moment.zone.matrix)
    return (moment.locations, moment.values), matrix.tobytes()


@dataclass(frozen=True, slots=True)
class _Lead:
    """How a node was first reached: from which one, by which candidate."""

    before: _Key | None
    ordinal: int


class _Walk:
    """Depth-first through the nodes within p, until a path that may end or a cycle is found."""

    def __init__(self, explorer: _Explorer) -> None:
        self.explorer = explorer
        self.done: set[_Key] = set()

    def successors(self, moment: Moment, stay: _Stay) -> Iterator[tuple[int, Moment]]:
        explorer = self.explorer
        candidates = explorer.interpreter.candidates(moment.locations, moment.values)
        for ordinal, candidate in enumerate(candidates):
            for matrix in stay.kept.matrices:
                part = replace(moment, zone=Zone(matrix))
                for entered in explorer.interpreter.enter(part, candidate):
                    within = explorer.formula(explorer.along, entered)
                    for piece in explorer.pieces(entered, within):
                        for zone in explorer.abstracted(piece):
                            yield ordinal, replace(piece, zone=zone)

    def find(self, root: Moment) -> tuple[list[int], str, int | None] | None:
        """(ordinals from the root, how it ends, which position it loops back to)."""
        path: list[tuple[_Key, Iterator[tuple[int, Moment]]]] = []
        ordinals: list[int] = []
        on_path: dict[_Key, int] = {}

        def open_node(moment: Moment) -> str:
            key = _key(moment)
            within = self.explorer.formula(self.explorer.along, moment)
            stay = self.explorer.stay(moment, within)
            self.explorer.count(1)
            on_path[key] = len(path)
            path.append((key, self.successors(moment, stay)))
            return stay.end

        if _key(root) in self.done:
            return None
        end = open_node(root)
        if end:
            return [], end, None
        while path:
            key, successors = path[-1]
            following = next(successors, None)
            if following is None:
                path.pop()
                del on_path[key]
                self.done.add(key)
                if ordinals:
                    ordinals.pop()
                continue
            ordinal, moment = following
            after = _key(moment)
            if after in on_path:
                return [*ordinals, ordinal], "lasso", on_path[after]
            if after in self.done:
                continue
            ordinals.append(ordinal)
            end = open_node(moment)
            if end:
                return ordinals, end, None
        return None


def check_timed_liveness(
    checker: Checker,
    query: Query,
    start: Expr | None,
    along: Expr,
    verdicts: tuple[Verdict, Verdict],
    options: Options,
    progress: Watcher,
) -> QueryResult:
    """Whether there is a maximal path within `along`, from the initial state or, with `start`,
    from any reachable moment at which it holds: `verdicts` are (there is, there is not)."""
    explorer = _Explorer(checker, start, along, options)
    reason: StopReason = "complete"
    fault: EvaluationError | None = None
    found: tuple[list[int], int, list[int], str, int | None] | None = None
    try:
        found = _search(explorer)
    except _GaveUp as gave_up:
        reason = gave_up.reason
    except EvaluationError as error:
        reason, fault = "fault", error
    except ZoneOverflow:
        reason = "overflow"
    except KeyboardInterrupt:
        reason = "interrupted"
    outcome = Outcome(
        reason=reason,
        states=explorer.states,
        stored=explorer.states,
        transitions=explorer.transitions,
        seconds=time.perf_counter() - explorer.began,
        bytes=0,
        fault=Fault.NONE if fault is None else fault.fault,
    )
    if found is not None:
        trace = None
        if options.trace != "none":
            trace = _exact(explorer, found, options)
        return checker.result(query, verdicts[0], outcome, trace)
    if reason == "complete":
        return checker.result(query, verdicts[1], outcome)
    if fault is not None:
        place = str(fault.origin)
        text = f"{place}: {fault}" if place else str(fault)
        return checker.result(query, "error", outcome, reason=text)
    return checker.result(query, "unknown", outcome, reason=REASONS[reason])


def _search(
    explorer: _Explorer,
) -> tuple[list[int], int, list[int], str, int | None] | None:
    """(ordinals to the start, which of its parts, ordinals from there, end, loop position)."""
    nodes = _Walk(explorer)
    if explorer.start is None:
        initial = explorer.initial()
        within = explorer.formula(explorer.along, initial)
        for part, piece in enumerate(explorer.pieces(initial, within)):
            found = nodes.find(piece)
            if found is not None:
                return [], part, *found
        return None
    # All reachable states, in order; from each, the moments at which `start` holds.
    seen: set[_Key] = set()
    waiting: list[tuple[Moment, tuple[int, ...]]] = []
    for zone in explorer.abstracted(explorer.initial()):
        waiting.append((replace(explorer.initial(), zone=zone), ()))
    for moment, ordinals in waiting:  # grows while we go through it
        key = _key(moment)
        if key in seen:
            continue
        seen.add(key)
        explorer.count(0)
        everything = moment.zone
        if not moment.still:
            everything = constrained(everything.delay(), moment.invariant)
        later = replace(moment, zone=everything)
        for part, root in enumerate(_starts(explorer, later)):
            for zone in explorer.abstracted(root):
                found = nodes.find(replace(root, zone=zone))
                if found is not None:
                    return list(ordinals), part, *found
        candidates = explorer.interpreter.candidates(moment.locations, moment.values)
        for ordinal, candidate in enumerate(candidates):
            for entered in explorer.interpreter.enter(later, candidate):
                for zone in explorer.abstracted(entered):
                    waiting.append((replace(entered, zone=zone), (*ordinals, ordinal)))
    return None


def _starts(explorer: _Explorer, later: Moment) -> list[Moment]:
    """The convex parts of a state, delay included, in which the infinite part may begin."""
    assert explorer.start is not None
    where = explorer.formula(explorer.start, later) & explorer.formula(explorer.along, later)
    return explorer.pieces(later, where)


def _exact(
    explorer: _Explorer,
    found: tuple[list[int], int, list[int], str, int | None],
    options: Options,
) -> TimedTrace | None:
    """The trace along what was found, walked again without extrapolation.

    Where p leaves several convex parts to choose from, all choices are tried until one can be
    realised."""
    before, _, ordinals, end, loop = found
    interpreter = explorer.interpreter
    roots: list[tuple[tuple[Moment, ...], tuple[Transition, ...]]] = []
    if explorer.start is None:
        initial = explorer.initial()
        within = explorer.formula(explorer.along, initial)
        roots = [((piece,), ()) for piece in explorer.pieces(initial, within)]
    else:
        for path in walk(interpreter, before):
            last = path.moments[-1]
            for start in _starts(explorer, last):
                pause = replace(start, pause=True, guard=(), resets=())
                roots.append(((*path.moments, pause), path.transitions))
    for moments, transitions in roots:
        for path, goal in _finishes(explorer, list(moments), list(transitions), ordinals, end):
            if system_of(path.moments, goal).solve("earliest") is None:
                continue
            loop_to = None if loop is None else loop + len(before)
            kind: TraceEnd = end  # type: ignore[assignment]
            return path.trace(interpreter, goal, options.realization, kind, loop_to)
    return None


def _finishes(
    explorer: _Explorer,
    moments: list[Moment],
    transitions: list[Transition],
    ordinals: Sequence[int],
    end: str,
) -> Iterator[tuple[Path, tuple[Constraint, ...]]]:
    """All ways to go on from the last moment (one of entering) along `ordinals` within p."""
    moment = moments[-1]
    stay = explorer.stay(moment, explorer.formula(explorer.along, moment))
    shown = [*moments[:-1], replace(moment, zone=stay.all)]
    if not ordinals:
        ways = stay.kept if end == "lasso" else stay.ending
        for matrix in ways.matrices:
            yield Path(tuple(shown), tuple(transitions)), all_constraints(Zone(matrix))
        return
    candidate = explorer.interpreter.candidates(moment.locations, moment.values)[ordinals[0]]
    for matrix in stay.kept.matrices:
        part = replace(moment, zone=Zone(matrix))
        for entered in explorer.interpreter.enter(part, candidate):
            within = explorer.formula(explorer.along, entered)
            leaving = entered.guard + all_constraints(Zone(matrix))
            for piece in explorer.pieces(entered, within):
                yield from _finishes(
                    explorer,
                    [*shown, replace(piece, guard=leaving)],
                    [*transitions, candidate.transition],
                    ordinals[1:],
                    end,
                )
