"""Static guard analysis: the constants that each clock is compared with, by location.

Behrmann, Bouyer, Fleury, Larsen: "Static guard analysis in timed automata verification" (2003),
for lower and upper bounds apart (Behrmann, Bouyer, Larsen, Pelánek 2006).  L is the largest
constant in `x > c`, `x >= c` that matters from a location on, U that in `x < c`, `x <= c`: a
constraint matters in the locations from which its edge can be reached without resetting x.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from whence.explore.ranges import RangeMap
from whence.expr.intervals import Interval
from whence.expr.tree import (
    Assignment,
    Binary,
    Expr,
    Field,
    Index,
    IntLiteral,
    Name,
    Symbol,
)
from whence.expr.types import ArrayType, ChannelType, ClockType, ConstraintType, StructType, cells
from whence.expr.walk import expressions_of, subexpressions
from whence.model.layout import Layout
from whence.model.network import Network
from whence.source import Diagnostic, UnsupportedError
from whence.zones.bounds import MAX_CONSTANT, NO_BOUND

__all__ = [
    "Atom",
    "ClockBounds",
    "atoms_of",
    "clocks_named",
    "diagonals_of",
    "largest_reset",
    "static_bounds",
]

#: How many values the bound of a constraint on a clock difference may take.
_DIAGONAL_VALUES = 64

Vector = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Atom:
    """A clock constraint: any of `first` minus any of `second` (0: the constant zero), compared
    with an integer in `bound`."""

    first: tuple[int, ...]
    second: tuple[int, ...]
    relation: str
    bound: Interval
    expr: Binary


def clocks_named(expr: Expr, layout: Layout) -> tuple[int, ...]:
    """The clocks that an lvalue of clock type can be."""
    addresses = _addresses(expr, layout)
    return tuple(sorted({layout.clock_of[address] for address in addresses}))


def _addresses(expr: Expr, layout: Layout) -> list[int]:
    match expr:
        case Name(symbol=Symbol() as symbol):
            return [layout.address[symbol]]
        case Field(record, name):
            assert isinstance(record.type, StructType)
            found = record.type.field(name)
            assert found is not None
            return [address + found[0] for address in _addresses(record, layout)]
        case Index(array, index):
            type_ = array.type
            assert isinstance(type_, ArrayType)
            positions: Iterable[int] = range(type_.length)
            if isinstance(index, IntLiteral):
                positions = [index.value - type_.lo]
            step = cells(type_.element)
            return [
                address + position * step
                for address in _addresses(array, layout)
                for position in positions
            ]
    raise AssertionError(f"not a clock: {expr}")


def atoms_of(expr: Expr | None, layout: Layout, ranges: RangeMap) -> list[Atom]:
    """All clock constraints in a guard, invariant or state formula."""
    found: list[Atom] = []
    if expr is None:
        return found
    for part in subexpressions(expr):
        if not isinstance(part, Binary) or not isinstance(part.type, ConstraintType):
            continue
        if part.op in ("&&", "||", "imply"):
            continue
        left = part.left
        second: tuple[int, ...] = (0,)
        if isinstance(left, Binary):
            second = clocks_named(left.right, layout)
            left = left.left
        found.append(
            Atom(
                clocks_named(left, layout),
                second,
                part.op,
                ranges.interval(part.right),
                part,
            )
        )
    return found


class ClockBounds:
    """L and U vectors under construction; `diagonals` collects (i, j, raw) to split by."""

    def __init__(self, clocks: int, largest_reset: int = 0) -> None:
        self._largest_reset = largest_reset
        self.lower: Vector = np.full(clocks, NO_BOUND, np.int32)
        self.upper: Vector = np.full(clocks, NO_BOUND, np.int32)
        self.lower[0] = self.upper[0] = 0

    def add(self, atom: Atom, both: bool) -> None:
        """Takes an atom in; `both` where it may also occur negated."""
        largest = max(0, atom.bound.hi)
        if largest > MAX_CONSTANT or -atom.bound.lo > MAX_CONSTANT:
            if atom.bound.lo == atom.bound.hi:
                raise UnsupportedError(
                    Diagnostic(
                        f"not supported: a clock bound beyond {MAX_CONSTANT}",
                        atom.expr.origin,
                        hint="choose a coarser unit of time",
                    )
                )
            largest = MAX_CONSTANT
        diagonal = atom.second != (0,)
        if diagonal:
            # After `y := v`, x - y <= c says x <= c + v: that must stay decided too.
            largest = max(largest, -atom.bound.lo) + self._largest_reset
            largest = min(MAX_CONSTANT, largest)
        for clock in (*atom.first, *atom.second):
            if clock == 0:
                continue
            if both or diagonal or atom.relation in (">", ">=", "=="):
                self.lower[clock] = max(self.lower[clock], largest)
            if both or diagonal or atom.relation in ("<", "<=", "=="):
                self.upper[clock] = max(self.upper[clock], largest)


def diagonals_of(atoms: Iterable[Atom]) -> list[tuple[int, int, int]]:
    """The constraints i - j <= c or < c (raw) along which zones must be split."""
    found: set[tuple[int, int, int]] = set()
    for atom in atoms:
        if atom.second == (0,):
            continue
        if atom.bound.hi - atom.bound.lo >= _DIAGONAL_VALUES:
            raise UnsupportedError(
                Diagnostic(
                    f"not supported: a clock difference compared with a variable of more than "
                    f"{_DIAGONAL_VALUES} values",
                    atom.expr.origin,
                    hint="declare the variable with a range",
                )
            )
        for value in range(atom.bound.lo, atom.bound.hi + 1):
            weak, strict = 2 * value + 1, 2 * value
            # x - y <= c and x - y > c are the same cut, as are x - y < c and x - y >= c.
            cuts = {"<=": [weak], ">": [weak], "<": [strict], ">=": [strict]}
            for first in atom.first:
                for second in atom.second:
                    if first == second:
                        continue
                    for raw in cuts.get(atom.relation, [weak, strict]):
                        found.add((first, second, raw))
    return sorted(found)


def static_bounds(
    network: Network,
    layout: Layout,
    ranges: RangeMap,
    clocks: int,
    at_locations: dict[tuple[int, int], list[Atom]],
    merge: bool,
    largest_reset: int,
) -> tuple[Vector, Vector, list[Atom]]:
    """(L, U, all atoms): one row a location, processes one after the other.

    `at_locations` has atoms of the property that matter in one location of one process only.
    `merge`: constraints may occur negated, so that L = U (priorities, deadlock, differences).
    """
    every: list[Atom] = []
    lower_rows: list[Vector] = []
    upper_rows: list[Vector] = []
    broadcast = any(
        isinstance(channel.type, ChannelType) and channel.type.broadcast
        for channel in layout.channels
    )
    for process_number, process in enumerate(network.processes):
        bounds = [ClockBounds(clocks, largest_reset) for _ in process.locations]
        for number, location in enumerate(process.locations):
            for atom in atoms_of(location.invariant, layout, ranges):
                bounds[number].add(atom, merge)
                every.append(atom)
            for atom in at_locations.get((process_number, number), []):
                bounds[number].add(atom, merge)
                every.append(atom)
        kept: list[tuple[int, int, list[int]]] = []
        for edge in process.edges:
            # A receiver that could take part forbids staying out: its guard occurs negated.
            negated = broadcast and (
                edge.synchronisation is not None and edge.synchronisation.direction == "?"
            )
            for atom in atoms_of(edge.guard, layout, ranges):
                bounds[edge.source].add(atom, merge or negated)
                every.append(atom)
            reset: set[int] = set()
            for update in edge.updates:
                if isinstance(update, Assignment) and update.op == "=":
                    target = update.target
                    if _is_clock(target) and len(named := clocks_named(target, layout)) == 1:
                        reset.update(named)
            flow = [clock for clock in range(1, clocks) if clock not in reset]
            kept.append((edge.source, edge.target, flow))
        _propagate(bounds, kept)
        lower_rows.extend(b.lower for b in bounds)
        upper_rows.extend(b.upper for b in bounds)
    lower = np.array(lower_rows, np.int32).reshape(len(lower_rows), clocks)
    upper = np.array(upper_rows, np.int32).reshape(len(upper_rows), clocks)
    return lower, upper, every


def largest_reset(network: Network, ranges: RangeMap) -> int:
    """The largest value that any clock is ever set to."""
    effects = [update for p in network.processes for edge in p.edges for update in edge.updates]
    for function in network.functions.values():
        effects.extend(expressions_of(function.body))
    values = [
        ranges.interval(part.value).hi
        for effect in effects
        for part in subexpressions(effect)
        if isinstance(part, Assignment) and _is_clock(part.target)
    ]
    return min(MAX_CONSTANT, max(values, default=0))


def _is_clock(expr: Expr) -> bool:
    return isinstance(expr.type, ClockType)


def _propagate(bounds: list[ClockBounds], edges: list[tuple[int, int, list[int]]]) -> None:
    """Carries bounds backwards along edges that do not reset the clock, to the fixpoint."""
    incoming: dict[int, list[tuple[int, list[int]]]] = {}
    for source, target, flow in edges:
        incoming.setdefault(target, []).append((source, flow))
    waiting = list(range(len(bounds)))
    while waiting:
        target = waiting.pop()
        for source, flow in incoming.get(target, []):
            mine, theirs = bounds[source], bounds[target]
            low = np.maximum(mine.lower[flow], theirs.lower[flow])
            high = np.maximum(mine.upper[flow], theirs.upper[flow])
            if (low != mine.lower[flow]).any() or (high != mine.upper[flow]).any():
                mine.lower[flow] = low
                mine.upper[flow] = high
                waiting.append(source)
