"""The constraint system of a trace under variations of the model (Koelbl, section 10.2.1).

A system is rows of numpy arrays, one row an occurrence of a comparison; a variation changes some
rows, or what a clock counts from.  Solving it is a search for shortest paths, in integers: a strict
bound is one step of a grid tighter that is finer than any cycle is long.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise, product
from math import gcd
from typing import Literal

import numpy as np
import numpy.typing as npt

from whence.explore.symbolic import Constraint
from whence.timing.elements import ClockName, Elements, Reset, Urgency, WrittenComparison
from whence.timing.trace import DiagnosticTrace
from whence.zones.bounds import INFINITY, LE_ZERO, MAX_RAW, OK, OVERFLOW, ZoneOverflow
from whence.zones.dbm import Matrix, close
from whence.zones.differences import FAR, Ints, contradiction, least_solution
from whence.zones.federation import Federation

__all__ = [
    "NOBODY",
    "Barrier",
    "Conflict",
    "Flip",
    "KnownBarriers",
    "NewOperator",
    "Open",
    "Reference",
    "Shift",
    "System",
    "TraceElement",
    "Variation",
    "Varied",
]

TraceElement = WrittenComparison | Reset | Urgency

OPS = ("<", "<=", "==", ">=", ">")
_LT, _LE, _EQ, _GE, _GT = range(5)

_NO_ROWS = np.empty(0, np.int64)

#: So many contradictions are remembered for other sets of elements.
_LEARNED = 1 << 13


# ----------------------------------------------------------------------------------- variations


@dataclass(frozen=True, slots=True)
class Shift:
    """Clock bound variation: the bound of a comparison plus `amount`."""

    element: int
    amount: int


@dataclass(frozen=True, slots=True)
class NewOperator:
    """Operator variation; `op` is that of the checked form."""

    element: int
    op: str


@dataclass(frozen=True, slots=True)
class Reference:
    """Clock reference variation; where two clocks are compared, of the left or the right one."""

    element: int
    name: ClockName
    side: Literal["left", "right"] = "left"


@dataclass(frozen=True, slots=True)
class Flip:
    """Reset variation or urgency variation: what was is no more, and the other way round."""

    element: int


Variation = Shift | NewOperator | Reference | Flip


class System:
    """T of Definition 37 for one trace, and the elements that can be varied in it."""

    def __init__(self, trace: DiagnosticTrace, elements: Elements) -> None:
        self.trace = trace
        self.source = elements
        self.states = trace.length + 1
        self.size = trace.length + 2
        self.grid = self.size + 2
        self.elements: list[TraceElement] = []
        self._number: dict[TraceElement, int] = {}
        rows = trace.occurrences
        self.op = np.array([OPS.index(row.comparison.op) for row in rows], np.int64)
        self.value = np.array([row.comparison.value for row in rows], np.int64)
        self.ci = np.array([row.comparison.i for row in rows], np.int64)
        self.cj = np.array([row.comparison.j for row in rows], np.int64)
        self.state = np.array([row.state for row in rows], np.int64)
        self.moment = np.array([row.moment for row in rows], np.int64)
        self.element_of = np.full(len(rows), -1, np.int64)
        self.process_of = [row.process for row in rows]
        for number, row in enumerate(rows):
            written = elements.comparison(row.comparison.expr)
            if written is not None:
                self.element_of[number] = self._add(written)
        self.rows_of: dict[int, npt.NDArray[np.int64]] = {
            number: np.flatnonzero(self.element_of == number)
            for number in range(len(self.elements))
        }
        #: The stage from which on a row counts: guards belong to the state that they lead to.
        self.stage = np.array([row.state + row.guard for row in rows], np.int64)
        self._collect_resets()
        self._collect_urgency()
        # Time, and what nobody varies.
        self._chain_a = np.arange(self.size - 1, dtype=np.int64)
        self._sets_by_clock: dict[int, tuple[Ints, Ints, Ints]] = {}
        self._histories: dict[tuple[int, frozenset[int]], tuple[Ints, Ints]] = {}
        clocks = len(trace.clocks)
        self._since = np.zeros((clocks, self.states), np.int64)
        self._start = np.zeros((clocks, self.states), np.int64)
        for clock in range(1, clocks):
            self._since[clock], self._start[clock] = self.history(clock)
        self.still = [visit.hurry or bool(visit.urgent) for visit in trace.visits]
        self.place: Ints = _NO_ROWS
        self._kept: dict[int, npt.NDArray[np.int64]] = {}
        #: The constraints without variations.
        self.plain: Constraints | None = None
        self.plain = self.varied()._own

    def _add(self, element: TraceElement) -> int:
        if element not in self._number:
            self._number[element] = len(self.elements)
            self.elements.append(element)
        return self._number[element]

    # ---------------------------------------------------------------- places of constraints

    def places(self) -> tuple[Ints, Ints, Ints, Ints, npt.NDArray[np.bool_]]:
        """Room for all constraints: that time passes; those that bound occurrences from above, and
        from below; that no time passes in a state; and what is fixed."""
        rows = len(self.op)
        states = np.arange(self.states)
        parts = [
            np.full(self.size - 1, NOBODY),
            np.arange(rows),
            np.arange(rows),
            -1 - states,
            np.full(len(self.trace.fixed), NOBODY),
        ]
        origin = np.concatenate(parts)
        a, b, weight = (np.zeros(len(origin), np.int64) for _ in range(3))
        upper = np.zeros(len(origin), np.bool_)
        time = self.size - 1
        a[:time], b[:time] = self._chain_a, self._chain_a + 1
        upper[time : time + rows] = True
        begin = time + 2 * rows
        a[begin : begin + self.states], b[begin : begin + self.states] = states + 1, states
        # In the order of time, so that few passes solve the system.
        moments = [
            np.arange(1, self.size),
            self.moment,
            self.moment,
            states + 1,
            np.array([fixed.moment for fixed in self.trace.fixed], np.int64),
        ]
        order = np.argsort(np.concatenate(moments), kind="stable")
        self.place = np.argsort(order)
        return a[order], b[order], weight, origin[order], upper[order]

    def kept(self, upto: int) -> npt.NDArray[np.int64]:
        """The places of what is about the first transitions, up to this state."""
        if upto not in self._kept:
            time = np.arange(self.size - 1) < upto + 1
            rows = self.stage <= upto
            fixed = np.array([fixed.moment <= upto for fixed in self.trace.fixed], np.bool_)
            still = np.arange(self.states) < upto + 1
            parts = [time, rows, rows, still, fixed]
            self._kept[upto] = np.sort(self.place[np.concatenate(parts)])
        return self._kept[upto]

    # ------------------------------------------------------------------------ resets, urgency

    def _collect_resets(self) -> None:
        """Every clock on every edge of the trace; `reset_at` tells where an edge is taken."""
        self.reset_elements: list[int] = []
        self.reset_at: dict[int, list[tuple[int, int, int]]] = {}  # (state, process, clock)
        self.removed_by: dict[tuple[int, int, int], int] = {}  # (process, edge, update) -> element
        seen: set[tuple[int, int]] = set()
        network = self.source.network
        for state, transition in enumerate(self.trace.transitions, 1):
            for use in transition.uses:
                template = self.source.template_of(network.processes[use.process])
                existing = self.source.resets(template, use.edge)
                if (template, use.edge) not in seen:
                    seen.add((template, use.edge))
                    written = {reset.clock for reset in existing}
                    added = [
                        Reset(template, use.edge, name.text)
                        for name in self.source.clocks(template)
                        if name.text not in written
                    ]
                    for reset in (*existing, *added):
                        self.reset_elements.append(self._add(reset))
                names = {name.text: name for name in self.source.clocks(template)}
                for reset in existing:
                    element = self._number[reset]
                    self.removed_by[use.process, use.edge, reset.update] = element
                    self.reset_at.setdefault(element, [])
                done = {
                    done.clock
                    for done in self.trace.sets
                    if done.state == state and done.process == use.process
                }
                for text, name in names.items():
                    missing = self._number.get(Reset(template, use.edge, text))
                    if missing is None:
                        continue
                    element_value = self.elements[missing]
                    assert isinstance(element_value, Reset)
                    clock = name.clocks[use.process]
                    # What the edge sets already, by another name or a function, is not added.
                    if element_value.update < 0 and clock not in done:
                        self.reset_at.setdefault(missing, []).append((state, use.process, clock))
        for done_set in self.trace.sets:
            found = self.removed_by.get((done_set.process, done_set.edge, done_set.update))
            if found is not None:
                self.reset_at[found].append((done_set.state, done_set.process, done_set.clock))
        self.reset_elements = [e for e in self.reset_elements if self.reset_at.get(e)]

    def _collect_urgency(self) -> None:
        self.urgency_elements: list[int] = []
        self.visited_at: dict[int, list[int]] = {}
        network = self.source.network
        for state, visit in enumerate(self.trace.visits):
            for process, at in zip(network.processes, visit.locations, strict=True):
                location = process.locations[at]
                if location.kind == "committed":
                    continue
                urgency = Urgency(
                    self.source.template_of(process),
                    at,
                    location.kind == "urgent",
                    location.origin,
                )
                number = self._add(urgency)
                self.visited_at.setdefault(number, [])
                if state not in self.visited_at[number]:
                    self.visited_at[number].append(state)
        self.urgency_elements = sorted(self.visited_at)

    def history(self, clock: int, flipped: frozenset[int] = frozenset()) -> tuple[Ints, Ints]:
        """For each state: at which moment a clock was last set, and to what. `flipped` are the
        elements of resets of it that are changed."""
        found = self._histories.get((clock, flipped))
        if found is None:
            found = self._history(clock, flipped)
            if len(flipped) <= 2:  # sets of more are many, and seldom asked for twice
                self._histories[clock, flipped] = found
        return found

    def _history(self, clock: int, flipped: frozenset[int]) -> tuple[Ints, Ints]:
        since = np.zeros(self.states, np.int64)
        start = np.zeros(self.states, np.int64)
        states, values, by = self._sets_of(clock)
        if flipped:
            kept = np.ones(len(by), np.bool_)
            for element in flipped:
                kept &= by != element
            states, values = states[kept], values[kept]
        # Of several sets in one step the last counts.
        since[states] = states
        start[states] = values
        for element in flipped:
            reset = self.elements[element]
            if isinstance(reset, Reset) and reset.update < 0:
                # Added behind all other updates of its edge.
                for state, _, set_clock in self.reset_at[element]:
                    if set_clock == clock:
                        since[state], start[state] = state, 0
        since = np.maximum.accumulate(since)
        return since, start[since]

    def _sets_of(self, clock: int) -> tuple[Ints, Ints, Ints]:
        """(states, values, elements, or -1) of what sets a clock on the trace."""
        if clock not in self._sets_by_clock:
            sets = sorted(
                (
                    done.state,
                    number,
                    done.value,
                    self.removed_by.get((done.process, done.edge, done.update), -1),
                )
                for number, done in enumerate(self.trace.sets)
                if done.clock == clock
            )
            table = np.array(sets, np.int64).reshape(-1, 4)
            self._sets_by_clock[clock] = table[:, 0], table[:, 2], table[:, 3]
        return self._sets_by_clock[clock]

    @cached_property
    def resets_of(self) -> dict[int, list[tuple[int, bool, list[int]]]]:
        """By clock: the elements that are resets of it, whether they are there (and can be
        removed), and where on the trace that happens."""
        found: dict[int, dict[int, list[int]]] = {}
        for element in self.reset_elements:
            for state, _, clock in self.reset_at[element]:
                found.setdefault(clock, {}).setdefault(element, []).append(state)
        return {
            clock: [(element, self._is_there(element), states) for element, states in of.items()]
            for clock, of in found.items()
        }

    def _is_there(self, element: int) -> bool:
        reset = self.elements[element]
        assert isinstance(reset, Reset)
        return reset.update >= 0

    def varied(self, variations: Iterable[Variation] = (), scale: int = 1) -> Varied:
        return Varied(self, tuple(variations), scale)


#: The origin of what nobody can change: that time passes, and the property.
NOBODY = -(10**9)
#: Constraints that contradict each other: (origin, whether it bounds from above).
Conflict = list[tuple[int, bool]]


def _conflict(origin: Ints, upper: npt.NDArray[np.bool_]) -> Conflict:
    return list(zip(origin.tolist(), upper.tolist(), strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class Constraints:
    """T[a] - T[b] <= weight on the grid, where the weight is not FAR. The origin of a constraint is
    the number of its occurrence, or -1 - state where no time may pass, or NOBODY; those that are
    `upper` bound an occurrence's clock from above."""

    a: Ints
    b: Ints
    weight: Ints
    origin: Ints
    upper: npt.NDArray[np.bool_]

    def those(self, which: Ints) -> Constraints:
        return Constraints(
            self.a[which],
            self.b[which],
            self.weight[which],
            self.origin[which],
            self.upper[which],
        )

    def and_(self, more: Sequence[tuple[int, int, int, int]]) -> Constraints:
        """With these, (a, b, weight, origin), none of which is an upper one."""
        if not more:
            return self
        a, b, weight, origin = np.array(more, np.int64).T
        return Constraints(
            np.concatenate([self.a, a]),
            np.concatenate([self.b, b]),
            np.concatenate([self.weight, weight]),
            np.concatenate([self.origin, origin]),
            np.concatenate([self.upper, np.zeros(len(more), np.bool_)]),
        )


class Varied:
    """A system with some variations applied.

    `scale`: time is counted in such parts of a unit. The constants of the system are multiplied;
    the amounts of shifts are in these parts already, and need not be whole units.
    """

    def __init__(self, system: System, variations: Sequence[Variation], scale: int = 1) -> None:
        self.system = system
        self.variations = variations
        self.scale = scale
        self.op, self.value = system.op, system.value
        self.ci, self.cj = system.ci, system.cj
        self.since, self.start = system._since, system._start
        if scale != 1:
            self.value = self.value * scale
        touched: list[npt.NDArray[np.int64]] = []
        flipped: list[int] = []
        urgent: dict[int, bool] = {}
        for variation in variations:
            match variation:
                case Shift(element, amount):
                    if self.value is system.value:
                        self.value = self.value.copy()
                    self.value[system.rows_of[element]] += amount
                    touched.append(system.rows_of[element])
                case NewOperator(element, op):
                    if self.op is system.op:
                        self.op = system.op.copy()
                    self.op[system.rows_of[element]] = OPS.index(op)
                    touched.append(system.rows_of[element])
                case Reference(element, name, side):
                    self._refer(element, name, side)
                    touched.append(system.rows_of[element])
                case Flip(element) if isinstance(system.elements[element], Reset):
                    flipped.append(element)
                case Flip(element):
                    urgent[element] = True
        if flipped:
            self.since, self.start = self.since.copy(), self.start.copy()
            of_clock: dict[int, set[int]] = {}
            for element in flipped:
                for _, _, clock in system.reset_at[element]:
                    of_clock.setdefault(clock, set()).add(element)
            for clock, elements in of_clock.items():
                since, start = system.history(clock, frozenset(elements))
                moved = (since != self.since[clock]) | (start != self.start[clock])
                self.since[clock], self.start[clock] = since, start
                rows = np.flatnonzero((self.ci == clock) | (self.cj == clock))
                touched.append(rows[moved[system.state[rows]]])
        if scale != 1:
            self.start = self.start * scale
            touched = [np.arange(len(self.op))]
        self._still_changed = bool(urgent)
        self.still = self._still(urgent) if urgent else system.still
        self._touched = touched
        self._fixed_changed = bool(flipped) or scale != 1

    def _refer(self, element: int, name: ClockName, side: str) -> None:
        system = self.system
        if side == "left":
            if self.ci is system.ci:
                self.ci = system.ci.copy()
            changed = self.ci
        else:
            if self.cj is system.cj:
                self.cj = system.cj.copy()
            changed = self.cj
        for row in system.rows_of[element].tolist():
            changed[row] = name.clocks[system.process_of[row]]

    def _still(self, urgent: dict[int, bool]) -> list[bool]:
        system = self.system
        visits = system.trace.visits
        network = system.source.network
        by_place = {}
        for element in urgent:
            value = system.elements[element]
            assert isinstance(value, Urgency)
            by_place[value.template, value.index] = value
        found = []
        for visit in visits:
            here = visit.hurry
            for process, at in zip(network.processes, visit.locations, strict=True):
                was = process.locations[at].kind == "urgent"
                flips = (system.source.template_of(process), at) in by_place
                here = here or was != flips
            found.append(here)
        return found

    # ----------------------------------------------------------------------------------- rows

    def readings(self, times: Ints) -> Ints:
        """What clock i - clock j reads in each occurrence, on the grid, in the run with these
        moments."""
        system = self.system
        now = times[system.moment]
        state = system.state
        grid = system.grid
        i = now - times[self.since[self.ci, state]] + grid * self.start[self.ci, state]
        j = now - times[self.since[self.cj, state]] + grid * self.start[self.cj, state]
        return np.where(self.ci > 0, i, 0) - np.where(self.cj > 0, j, 0)

    def most_readings(self, times: Ints, clock: int, since: int) -> Iterator[tuple[int, int]]:
        """(reading, limit), on the grid, of what bounds a clock from above in this run, where it
        was last set at a moment: the most that it can read if it was set before that."""
        system = self.system
        here = (self.since[self.ci, system.state] == since) & (self.ci == clock) & (self.cj == 0)
        before = int(times[0]) - int(self.start[clock].max()) * system.grid
        for row in np.flatnonzero(here & (self.op <= _EQ)).tolist():
            limit = int(self.value[row]) * system.grid - int(self.op[row] == _LT)
            yield int(times[system.moment[row]]) - before, limit
        end = system.states - 1
        known = [(fixed.constraint, fixed.state, fixed.moment) for fixed in system.trace.fixed]
        known += [(constraint, end, end + 1) for bad in system.trace.bad for constraint in bad]
        for (i, j, raw), state, moment in known:
            if i == clock and not j and self.since[i, state] == since:
                limit = (raw >> 1) * self.scale * system.grid - (not raw & 1)
                yield int(times[moment]) - before, limit
        # Of two clocks that are compared, either may count.
        mine = (self.ci == clock) & (self.cj > 0) | (self.cj == clock)
        if mine.any() or any(clock in (i, j) and i and j for (i, j, _), _, _ in known):
            yield 1, 0

    def constraints(
        self,
        bad: int | None = None,
        upto: int | None = None,
        also: Sequence[Constraint] = (),
    ) -> Constraints:
        """`bad`: with this alternative of the negated property, `also`: with these constraints at
        the end; `upto`: only the constraints of T_j, of the first j transitions."""
        found = self._own
        more: list[tuple[int, int, int, int]] = []
        if upto is not None:
            found = found.those(self.system.kept(upto))
            more += self._departure(upto)
        end = self.system.states - 1
        if bad is not None:
            also = (*also, *self.system.trace.bad[bad])
        more += [self._constraint(constraint, end, end + 1) for constraint in also]
        return found.and_(more)

    @cached_property
    def _own(self) -> Constraints:
        """All constraints of the trace, in places that do not depend on the variations."""
        system = self.system
        base = system.plain
        if base is None:
            rows = np.arange(len(self.op))
        elif not self._touched and not self._still_changed and not self._fixed_changed:
            return base
        else:
            rows = np.concatenate([_NO_ROWS, *self._touched])
        if base is None:
            a, b, weight, origin, upper = system.places()
        else:
            a, b, weight = base.a.copy(), base.b.copy(), base.weight.copy()
            origin, upper = base.origin, base.upper
        self._place_rows(rows, a, b, weight)
        if base is None or self._still_changed:
            at = system.size - 1 + 2 * len(self.op)
            weight[system.place[at : at + system.states]] = np.where(self.still, 0, FAR)
        if base is None or self._fixed_changed:
            at = len(weight) - len(system.trace.fixed)
            places = system.place[at:].tolist()
            for number, fixed in zip(places, system.trace.fixed, strict=True):
                a[number], b[number], weight[number], _ = self._constraint(
                    fixed.constraint, fixed.state, fixed.moment
                )
        return Constraints(a, b, weight, origin, upper)

    def _place_rows(self, rows: Ints, a: Ints, b: Ints, weight: Ints) -> None:
        system = self.system
        state, moment = system.state[rows], system.moment[rows]
        ci, cj = self.ci[rows], self.cj[rows]
        op, value = self.op[rows], self.value[rows]
        at_i = np.where(ci > 0, self.since[ci, state], moment)
        at_j = np.where(cj > 0, self.since[cj, state], moment)
        from_i = np.where(ci > 0, self.start[ci, state], 0)
        from_j = np.where(cj > 0, self.start[cj, state], 0)
        limit = (value - from_i + from_j) * system.grid
        upper = rows + (system.size - 1)
        lower = upper + len(self.op)
        upper, lower = system.place[upper], system.place[lower]
        a[upper], b[upper] = at_j, at_i
        a[lower], b[lower] = at_i, at_j
        weight[upper] = np.where(op <= _EQ, limit - (op == _LT), FAR)
        weight[lower] = np.where(op >= _EQ, -limit - (op == _GT), FAR)

    def _departure(self, state: int) -> list[tuple[int, int, int, int]]:
        """How long one must wait in a state before its transition can be taken.

        A partial realization ends with the departure from its last state, as the thesis counts
        them: who has not waited long enough yet can wait on, which blocks nothing.  Who has
        waited for too long cannot.
        """
        system = self.system
        found: list[tuple[int, int, int, int]] = []
        if state < 0:
            return found
        rows = np.flatnonzero((system.stage == state + 1) & (system.moment == state + 1))
        for row in rows.tolist():
            # Only what waiting can bring about.
            if self.op[row] >= _EQ and self.ci[row] > 0 and self.cj[row] == 0:
                clock = int(self.ci[row])
                limit = int(self.start[clock, state]) - int(self.value[row])
                weight = limit * system.grid - (self.op[row] == _GT)
                found.append((int(self.since[clock, state]), state + 1, int(weight), row))
        for fixed in system.trace.fixed:
            if fixed.moment == state + 1 and fixed.constraint[0] == 0:
                found.append(self._constraint(fixed.constraint, state, state + 1))
        return found

    def _constraint(
        self, constraint: tuple[int, int, int], state: int, moment: int
    ) -> tuple[int, int, int, int]:
        i, j, raw = constraint
        at_i, from_i = (self.since[i, state], self.start[i, state]) if i else (moment, 0)
        at_j, from_j = (self.since[j, state], self.start[j, state]) if j else (moment, 0)
        limit = (raw >> 1) * self.scale - from_i + from_j
        weight = limit * self.system.grid - (not raw & 1)
        return int(at_j), int(at_i), int(weight), NOBODY

    # --------------------------------------------------------------------------------- solving

    def solution(
        self,
        bad: int | None = None,
        upto: int | None = None,
        also: Sequence[Constraint] = (),
    ) -> tuple[Ints | None, Conflict]:
        """The earliest moments, on the grid; or None and constraints that contradict each
        other."""
        found = self.constraints(bad, upto, also)
        size = self.system.size if upto is None else upto + 2
        times, parent, last = least_solution(size, found.a, found.b, found.weight)
        if times is not None:
            return times, []
        cycle = contradiction(found.a, found.b, parent, last)
        return None, _conflict(found.origin[cycle], found.upper[cycle])

    def violation(self) -> Ints | None:
        """The moments of a run that violates the property, if there is one."""
        for bad in range(len(self.system.trace.bad)):
            times, _ = self.solution(bad)
            if times is not None:
                return times
        return None

    def can_satisfy(self) -> bool:
        """Whether some run along the trace satisfies the property: it then violates one conjunct
        of each alternative of the negated property."""
        negated = [
            [(j, i, 1 - raw) for i, j, raw in conjunction] for conjunction in self.system.trace.bad
        ]
        return any(
            self.solution(also=combination)[0] is not None for combination in product(*negated)
        )

    def can_block(self, state: int) -> bool:
        """Whether delays up to that in `state` are possible with which the trace cannot be
        completed: a suffix-blocking partial realization."""
        return not self.blocking(state).is_empty()

    def blocking(self, state: int) -> Federation:
        """The moments T_0 .. T_{state+1} of the suffix-blocking partial realizations."""
        start = self.zone(upto=state)
        size = state + 2
        prefix = Federation(size, [start] if start is not None else [])
        whole = self.zone()
        if whole is None:
            return prefix
        return prefix - Federation(size, [whole[:size, :size].copy()])

    def zone(self, bad: int | None = None, upto: int | None = None) -> Matrix | None:
        """All solutions as a canonical matrix; None if there are none. Pre: `scale` is 1."""
        found = self.constraints(bad, upto)
        there = found.weight != FAR
        a, b, weight = found.a[there], found.b[there], found.weight[there]
        size = self.system.size if upto is None else upto + 2
        grid = self.system.grid
        constant = -((-weight) // grid)
        raw = 2 * constant + (constant * grid == weight)
        if raw.size and int(np.abs(raw).max()) > MAX_RAW:
            raise ZoneOverflow("a bound of the trace is too large")
        matrix = np.full((size, size), INFINITY, np.int32)
        np.fill_diagonal(matrix, LE_ZERO)
        np.minimum.at(matrix, (a, b), raw.astype(np.int32))
        status = close(matrix)
        if status == OVERFLOW:
            raise ZoneOverflow("a bound of the trace is too large")
        return matrix if status == OK else None

    def violates(self, times: Ints) -> bool:
        """Whether a run with these moments is one of the varied system, and violates the
        property."""
        return self.admits(times) and any(
            self._holds(times, constraint) for bad in self.system.trace.bad for constraint in [bad]
        )

    def _holds(self, times: Ints, conjunction: tuple[tuple[int, int, int], ...]) -> bool:
        end = self.system.states - 1
        for constraint in conjunction:
            a, b, weight, _ = self._constraint(constraint, end, end + 1)
            if times[a] - times[b] > weight:
                return False
        return True

    def admits(self, times: Ints) -> bool:
        own = self._own
        return bool((times[own.a] - times[own.b] <= own.weight).all())

    def delays(self, times: Ints) -> tuple[Fraction, ...]:
        grid = self.system.grid
        return tuple(Fraction(int(y) - int(x), grid) for x, y in pairwise(times.tolist()))


class Open:
    """The constraints of a varied system in which bounds are open: amounts that are added to those
    of some elements decide whether there is a solution."""

    def __init__(
        self,
        varied: Varied,
        bad: int | None = None,
        upto: int | None = None,
    ) -> None:
        """With this alternative of the negated property, or only up to this state.
        Pre: the scale is 1."""
        system = varied.system
        found = varied.constraints(bad, upto)
        there = np.flatnonzero(found.weight != FAR)
        self._a, self._b = found.a[there], found.b[there]
        self._origin, self._upper = found.origin[there], found.upper[there]
        weight = found.weight[there]
        self._grid = system.grid
        self._size = system.size if upto is None else upto + 2
        # The weight is a constant on the grid, or a step less where the constraint is strict.
        self._constant = -((-weight) // self._grid)
        self._strict = self._constant * self._grid - weight
        # A larger bound loosens what bounds from above, and tightens the rest.
        self._sign = np.where(self._upper, 1, -1)
        self._element = np.where(
            self._origin >= 0, system.element_of[np.maximum(self._origin, 0)], -1
        )

        self._rows: dict[int, Ints] = {}
        # The contradictions met so far, as sums of the amounts of all elements.
        self._count = 0
        self._coefficients = np.zeros((16, len(system.rows_of)), np.int64)
        self._least = np.zeros(16, np.int64)
        self._conflicts: list[Conflict] = []

    def _rows_of(self, element: int) -> Ints:
        if element not in self._rows:
            self._rows[element] = np.flatnonzero(self._element == element)
        return self._rows[element]

    def at(self, elements: Sequence[int], amounts: Sequence[int], scale: int = 1) -> Ints | Barrier:
        """The earliest moments if these amounts are added to the bounds of these elements (in parts
        of a unit, see `Varied`); or why there are none."""
        constant = self._constant * scale
        for element, amount in zip(elements, amounts, strict=True):
            rows = self._rows_of(element)
            constant[rows] += self._sign[rows] * amount
        weight = constant * self._grid - self._strict
        times, parent, last = least_solution(self._size, self._a, self._b, weight)
        if times is not None:
            return times
        return self._learn(np.array(contradiction(self._a, self._b, parent, last)), elements)

    def _learn(self, cycle: Ints, elements: Sequence[int]) -> Barrier:
        conflict = _conflict(self._origin[cycle], self._upper[cycle])
        least = -int(self._constant[cycle].sum()) + bool(self._strict[cycle].any())
        row = np.zeros(self._coefficients.shape[1], np.int64)
        involved = self._element[cycle]
        np.add.at(row, involved[involved >= 0], self._sign[cycle][involved >= 0])
        if self._count < _LEARNED:
            if self._count == len(self._least):
                self._coefficients = np.concatenate([self._coefficients] * 2)
                self._least = np.concatenate([self._least] * 2)
            self._coefficients[self._count] = row
            self._least[self._count] = least
            self._conflicts.append(conflict)
            self._count += 1
        return _barrier(row[list(elements)].tolist(), least, conflict)

    def known(self, elements: Sequence[int]) -> KnownBarriers:
        """The barriers met so far, whatever the elements were then."""
        sums = self._coefficients[: self._count, list(elements)]
        return KnownBarriers(sums, self._least[: self._count], self._conflicts)


@dataclass(frozen=True, slots=True, eq=False)
class KnownBarriers:
    """Barriers as far as some elements matter."""

    sums: Ints
    least: Ints
    conflicts: list[Conflict]

    def at(self, amounts: Sequence[int], scale: int = 1) -> Barrier | None:
        """One that these amounts do not overcome, if there is one."""
        if not len(self.least):
            return None
        slack = self.sums @ np.array(amounts, np.int64) - self.least * scale
        worst = int(slack.argmin())
        if slack[worst] >= 0:
            return None
        return _barrier(self.sums[worst].tolist(), int(self.least[worst]), self.conflicts[worst])


def _barrier(sums: Sequence[int], least: int, conflict: Conflict) -> Barrier:
    common = gcd(*sums) or 1
    coefficients = {number: k // common for number, k in enumerate(sums) if k}
    return Barrier(coefficients, -(-least // common), conflict)


@dataclass(frozen=True, slots=True)
class Barrier:
    """Constraints that contradict each other unless the amounts of bounds are such that a weighted
    sum of them is at least so large (whole amounts; without coefficients: whatever they are)."""

    coefficients: dict[int, int]
    least: int
    conflict: Conflict
