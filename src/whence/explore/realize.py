"""Delays for a path: exact solutions of its timing constraints.

Koelbl's TDTCS (Definition 37) in absolute times: with T_k the moment at which state k is entered
and T_{n+1} the end, each clock is a time difference, so that every guard, invariant and reset is
a constraint T_a - T_b <= c or < c.  Such systems are solved by shortest paths, in integers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Literal

import numpy as np

from whence.explore.symbolic import Constraint, Moment
from whence.model.trace import DelayRange
from whence.zones.bounds import INFINITY, LE_ZERO, OK
from whence.zones.dbm import close

__all__ = ["Realization", "TimeSystem", "delay_ranges", "realize", "system_of"]

Realization = Literal["earliest", "latest", "middle"]

#: With `latest`, an end that may be as late as one likes is this long after the earliest.
_OPEN_END = 1


@dataclass(frozen=True, slots=True)
class TimeSystem:
    """Constraints (a, b, c, strict): T_a - T_b < c or <= c, over T_0 = 0 .. T_{size - 1}."""

    size: int
    constraints: tuple[tuple[int, int, int, bool], ...]

    def _distances(self, grid: int, extra: Sequence[tuple[int, int, int]] = ()) -> _Solver:
        return _Solver(self, grid, extra)

    def solve(self, realization: Realization) -> tuple[Fraction, ...] | None:
        """T_0 .. T_{size-1}, or None if there is no solution.

        `earliest` ends as early as possible (where the earliest moment itself is excluded: less
        than half a unit after it) with every step as early as that allows; `latest` is the
        opposite; `middle` is half way between the two.
        """
        fine = self._distances(self.size + 2)
        if not fine.feasible:
            return None
        if realization == "middle":
            early, late = self.solve("earliest"), self.solve("latest")
            assert early is not None
            assert late is not None
            return tuple((a + b) / 2 for a, b in zip(early, late, strict=True))
        end = self.size - 1
        if realization == "earliest":
            least = Fraction(fine.earliest(end), fine.grid)
            floor = math.floor(least)
            # Bounds are integers: the infimum is one, and is excluded if it is not attained.
            limit = Fraction(floor) if least == floor else floor + Fraction(1, 2)
            return self._coarsest(limit, True)
        greatest = fine.latest(end)
        if greatest is None:
            soonest = math.ceil(Fraction(fine.earliest(end), fine.grid))
            return self._coarsest(Fraction(soonest + _OPEN_END), False)
        return self._coarsest(None, False)

    def _coarsest(self, end_limit: Fraction | None, early: bool) -> tuple[Fraction, ...]:
        """The solution with the smallest denominators: a grid that is no finer than needed."""
        end = self.size - 1
        finest = self.size + 2
        grid = 1
        while True:
            extra = []
            if end_limit is not None:
                extra.append((end, 0, math.floor(end_limit * grid)))
            solver = self._distances(grid, extra)
            if solver.feasible:
                break
            if grid >= finest:
                # Half a unit was too narrow for so many strict bounds: any solution will do.
                solver = self._distances(finest)
                break
            grid = min(2 * grid, finest)
        times = []
        for index in range(self.size):
            value = solver.earliest(index) if early else solver.latest(index)
            assert value is not None
            times.append(Fraction(value, solver.grid))
        return tuple(times)


class _Solver:
    """Shortest paths over times in steps of 1/grid; a strict bound is one step tighter."""

    def __init__(
        self, system: TimeSystem, grid: int, extra: Sequence[tuple[int, int, int]]
    ) -> None:
        self.grid = grid
        edges: dict[tuple[int, int], int] = {}
        for a, b, c, strict in system.constraints:
            weight = c * grid - int(strict)
            edges[b, a] = min(weight, edges.get((b, a), weight))
        for a, b, weight in extra:
            edges[b, a] = min(weight, edges.get((b, a), weight))
        self._edges = [(b, a, w) for (b, a), w in sorted(edges.items())]
        self._size = system.size
        # From T_0: upper bounds on T_a; into T_0: -lower bounds.
        self._upper, consistent = self._shortest(self._edges)
        self._minus_lower, self.feasible = self._shortest([(a, b, w) for b, a, w in self._edges])
        self.feasible = self.feasible and consistent

    def _shortest(self, edges: list[tuple[int, int, int]]) -> tuple[list[int | None], bool]:
        """Bellman and Ford from node 0: distances, and whether there is no negative cycle.

        Every node reaches node 0 (no time is before the start), so that a negative cycle
        anywhere shows in one of the two directions.
        """
        distance: list[int | None] = [None] * self._size
        distance[0] = 0
        for _ in range(self._size + 1):
            changed = False
            for source, target, weight in edges:
                at = distance[source]
                if at is None:
                    continue
                known = distance[target]
                if known is None or at + weight < known:
                    distance[target] = at + weight
                    changed = True
            if not changed:
                return distance, True
        return distance, False

    def earliest(self, index: int) -> int:
        lower = self._minus_lower[index]
        assert lower is not None
        return -lower

    def latest(self, index: int) -> int | None:
        return self._upper[index]


def system_of(path: Sequence[Moment], goal: Sequence[Constraint] = ()) -> TimeSystem:
    """The timing of a path: one time a state entered, and one for the end, where `goal` holds."""
    size = len(path) + 1
    found: list[tuple[int, int, int, bool]] = []
    clocks = path[0].zone.dimension
    # When each clock was last set, and to what.
    since = [(0, 0)] * clocks

    def add(constraints: Sequence[Constraint], now: int) -> None:
        for i, j, raw in constraints:
            set_i, value_i = since[i] if i else (now, 0)
            set_j, value_j = since[j] if j else (now, 0)
            # (now - set_i + value_i) - (now - set_j + value_j) is bounded by raw.
            bound = (raw >> 1) - value_i + value_j
            found.append((set_j, set_i, bound, not raw & 1))

    for number, moment in enumerate(path):
        if number:
            add(moment.guard, number)
            for clock, value in moment.resets:
                since[clock] = (number, value)
        add(moment.entry, number)
        add(moment.invariant, number)
        add(moment.invariant, number + 1)
        found.append((number, number + 1, 0, False))
        if moment.still:
            found.append((number + 1, number, 0, False))
    add(goal, size - 1)
    return TimeSystem(size, tuple(found))


def delay_ranges(path: Sequence[Moment]) -> tuple[DelayRange, ...]:
    """The values that each delay can have in the runs along a path: a zone over the times."""
    system = system_of(path)
    times = np.full((system.size, system.size), INFINITY, np.int32)
    np.fill_diagonal(times, LE_ZERO)
    for a, b, c, strict in system.constraints:
        times[a, b] = min(int(times[a, b]), 2 * c + (not strict))
    if close(times) != OK:
        return ()
    entered = [number for number, moment in enumerate(path) if not moment.pause]
    found = []
    for start, end in pairwise([*entered, system.size - 1]):
        longest, shortest = int(times[end, start]), int(times[start, end])
        endless = longest == INFINITY
        found.append(
            DelayRange(
                lower=-(shortest >> 1),
                lower_strict=not shortest & 1,
                upper=None if endless else longest >> 1,
                upper_strict=endless or not longest & 1,
            )
        )
    return tuple(found)


def realize(
    path: Sequence[Moment], goal: Sequence[Constraint], realization: Realization
) -> tuple[Fraction, ...] | None:
    """The delays in each state of a path; None if no run along it ends in `goal`."""
    times = system_of(path, goal).solve(realization)
    if times is None:
        return None
    entered = [time for time, moment in zip(times, path, strict=False) if not moment.pause]
    return tuple(later - earlier for earlier, later in pairwise([*entered, times[-1]]))
