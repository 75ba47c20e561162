"""The constraint system of a trace under variations of the model (Koelbl, section 10.2.1).

A system is rows of numpy arrays, one row an occurrence of a comparison; a variation changes some
rows, or what a clock counts from.  Solving it is a search for shortest paths, in integers: a strict
bound is one step of a grid tighter that is finer than any cycle is long.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from math import gcd
from typing import Literal

import numpy as np
import numpy.typing as npt

from whence.explore.symbolic import Constraint
from whence.timing.elements import ClockName, Elements, Reset, Urgency, WrittenComparison
from whence.timing.trace import DiagnosticTrace, SetClock
from whence.zones.bounds import INFINITY, LE_ZERO, MAX_RAW, OK, OVERFLOW, ZoneOverflow
from whence.zones.dbm import Matrix, close
from whence.zones.differences import Ints, contradiction, least_solution
from whence.zones.federation import Federation

__all__ = [
    "Barrier",
    "Cause",
    "Flip",
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
        self._sets_by_clock: dict[int, list[SetClock]] = {}
        for done in trace.sets:
            self._sets_by_clock.setdefault(done.clock, []).append(done)
        clocks = len(trace.clocks)
        self._since = np.zeros((clocks, self.states), np.int64)
        self._start = np.zeros((clocks, self.states), np.int64)
        for clock in range(1, clocks):
            self._since[clock], self._start[clock] = self.history(clock, {})

    def _add(self, element: TraceElement) -> int:
        if element not in self._number:
            self._number[element] = len(self.elements)
            self.elements.append(element)
        return self._number[element]

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

    def history(self, clock: int, flipped: dict[int, bool]) -> tuple[Ints, Ints]:
        """For each state: at which moment a clock was last set, and to what. `flipped` are the
        elements of resets that are changed."""
        since = np.zeros(self.states, np.int64)
        start = np.zeros(self.states, np.int64)
        events: list[tuple[int, int]] = []
        for done in self._sets_by_clock.get(clock, ()):
            element = self.removed_by.get((done.process, done.edge, done.update))
            if element is None or element not in flipped:
                events.append((done.state, done.value))
        for element in flipped:
            reset = self.elements[element]
            if isinstance(reset, Reset) and reset.update < 0:
                # Added behind all other updates of its edge.
                events += [(s, 0) for s, _, c in self.reset_at[element] if c == clock]
        for state, value in sorted(events, key=lambda event: event[0]):
            since[state:] = state
            start[state:] = value
        return since, start

    def varied(self, variations: Iterable[Variation] = (), scale: int = 1) -> Varied:
        return Varied(self, tuple(variations), scale)


@dataclass(frozen=True, slots=True)
class Cause:
    """One of several constraints that contradict each other: its origin (see
    :meth:`Varied.constraints`), its weight on the grid, and whether it bounds from above."""

    origin: int
    weight: int
    upper: bool


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
        flipped: dict[int, bool] = {}
        urgent: dict[int, bool] = {}
        for variation in variations:
            match variation:
                case Shift(element, amount):
                    if self.value is system.value:
                        self.value = self.value.copy()
                    self.value[system.rows_of[element]] += amount
                case NewOperator(element, op):
                    if self.op is system.op:
                        self.op = system.op.copy()
                    self.op[system.rows_of[element]] = OPS.index(op)
                case Reference(element, name, side):
                    self._refer(element, name, side)
                case Flip(element) if isinstance(system.elements[element], Reset):
                    flipped[element] = True
                case Flip(element):
                    urgent[element] = True
        if flipped:
            self.since, self.start = self.since.copy(), self.start.copy()
            clocks = {clock for e in flipped for _, _, clock in system.reset_at[e]}
            for clock in clocks:
                self.since[clock], self.start[clock] = system.history(clock, flipped)
        if scale != 1:
            self.start = self.start * scale
        self.still = self._still(urgent)

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
        if not urgent:
            return [visit.hurry or bool(visit.urgent) for visit in visits]
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

    #: The origin of what nobody can change: that time passes, and the property.
    NOBODY = -(10**9)

    def constraints(
        self,
        bad: int | None = None,
        upto: int | None = None,
        also: Sequence[Constraint] = (),
    ) -> tuple[Ints, Ints, Ints, list[int], tuple[int, int]]:
        """(a, b, weight, origin, upper): T[a] - T[b] <= weight on the grid. The origin of a
        constraint is the number of its occurrence, or -1 - state where no time may pass, or
        NOBODY; `upper` is where those are that bound an occurrence's clock from above.

        `bad`: with this alternative of the negated property, `also`: with these constraints at
        the end; `upto`: only the constraints of T_j, of the first j transitions."""
        system = self.system
        grid = system.grid
        keep = np.ones(len(system.op), bool) if upto is None else system.stage <= upto
        which = np.flatnonzero(keep)
        state, moment = system.state[which], system.moment[which]
        ci, cj = self.ci[which], self.cj[which]
        op, value = self.op[which], self.value[which]
        at_i = np.where(ci > 0, self.since[ci, state], moment)
        at_j = np.where(cj > 0, self.since[cj, state], moment)
        from_i = np.where(ci > 0, self.start[ci, state], 0)
        from_j = np.where(cj > 0, self.start[cj, state], 0)
        limit = (value - from_i + from_j) * grid
        upper = np.flatnonzero(op <= _EQ)
        lower = np.flatnonzero(op >= _EQ)
        last = system.size - 1 if upto is None else upto + 1
        chain = system._chain_a[:last]
        parts_a = [chain, at_j[upper], at_i[lower]]
        parts_b = [chain + 1, at_i[upper], at_j[lower]]
        parts_w = [
            np.zeros(last, np.int64),
            limit[upper] - (op[upper] == _LT),
            -limit[lower] - (op[lower] == _GT),
        ]
        origin = [self.NOBODY] * last + which[upper].tolist() + which[lower].tolist()
        more: list[tuple[int, int, int, int]] = []
        for number, still in enumerate(self.still[:last]):
            if still:
                more.append((number + 1, number, 0, -1 - number))
        for fixed in system.trace.fixed:
            if upto is None or fixed.moment <= upto:
                more.append(self._constraint(fixed.constraint, fixed.state, fixed.moment))
        if upto is not None:
            more += self._departure(upto)
        end = system.states - 1
        if bad is not None:
            also = (*also, *system.trace.bad[bad])
        for constraint in also:
            more.append(self._constraint(constraint, end, end + 1))
        if more:
            extra = np.array(more, np.int64)
            parts_a.append(extra[:, 0])
            parts_b.append(extra[:, 1])
            parts_w.append(extra[:, 2])
            origin += extra[:, 3].tolist()
        return (
            np.concatenate(parts_a),
            np.concatenate(parts_b),
            np.concatenate(parts_w),
            origin,
            (last, last + len(upper)),
        )

    def _departure(self, state: int) -> list[tuple[int, int, int, int]]:
        """How long one must wait in a state before its transition can be taken.

        A partial realization ends with the departure from its last state, as the thesis counts
        them: who has not waited long enough yet can wait on, which blocks nothing.  Who has
        waited for too long cannot.
        """
        system = self.system
        found: list[tuple[int, int, int, int]] = []
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
        return int(at_j), int(at_i), int(weight), self.NOBODY

    # --------------------------------------------------------------------------------- solving

    def solution(
        self,
        bad: int | None = None,
        upto: int | None = None,
        also: Sequence[Constraint] = (),
    ) -> tuple[Ints | None, list[Cause]]:
        """The earliest moments, on the grid; or None and constraints that contradict each
        other."""
        a, b, weight, origin, upper = self.constraints(bad, upto, also)
        size = self.system.size if upto is None else upto + 2
        times, parent = least_solution(size, a, b, weight)
        if times is not None:
            return times, []
        return None, [
            Cause(origin[edge], int(weight[edge]), upper[0] <= edge < upper[1])
            for edge in contradiction(a, b, parent)
        ]

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
        a, b, weight, _, _ = self.constraints(bad, upto)
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
        a, b, weight, _, _ = self.constraints()
        return bool((times[a] - times[b] <= weight).all())

    def delays(self, times: Ints) -> tuple[Fraction, ...]:
        grid = self.system.grid
        return tuple(Fraction(int(y) - int(x), grid) for x, y in pairwise(times.tolist()))


class Open:
    """The constraints of a varied system in which the bounds of some elements are open: amounts
    that are added to them decide whether there is a solution."""

    def __init__(
        self,
        varied: Varied,
        elements: Sequence[int],
        bad: int | None = None,
        upto: int | None = None,
    ) -> None:
        """With this alternative of the negated property, or only up to this state.
        Pre: the scale is 1."""
        system = varied.system
        self._a, self._b, weight, self._origin, (begin, end) = varied.constraints(bad, upto)
        self._grid = system.grid
        self._size = system.size if upto is None else upto + 2
        # The weight is a constant on the grid, or a step less where the constraint is strict.
        self._constant = -((-weight) // self._grid)
        self._strict = self._constant * self._grid - weight
        origin = np.array(self._origin, np.int64)
        # A larger bound loosens what bounds from above, and tightens the rest.
        self._upper = np.zeros(len(origin), bool)
        self._upper[begin:end] = True
        self._open: list[tuple[int, Ints, Ints]] = []
        self._number_of: dict[int, tuple[int, int]] = {}
        of_element = np.where(origin >= 0, system.element_of[np.maximum(origin, 0)], -1)
        for number, element in enumerate(elements):
            rows = np.flatnonzero(of_element == element)
            signs = np.where(self._upper[rows], 1, -1)
            self._open.append((number, rows, signs))
            for row, sign in zip(rows.tolist(), signs.tolist(), strict=True):
                self._number_of[row] = number, sign

    def at(self, amounts: Sequence[int], scale: int = 1) -> Ints | Barrier:
        """The earliest moments if the amounts are these (in parts of a unit, see `Varied`); or why
        there are none."""
        constant = self._constant * scale
        for number, rows, signs in self._open:
            constant[rows] += signs * amounts[number]
        weight = constant * self._grid - self._strict
        times, parent = least_solution(self._size, self._a, self._b, weight)
        if times is not None:
            return times
        coefficients: dict[int, int] = {}
        causes = []
        least = 0
        strict = False
        for edge in contradiction(self._a, self._b, parent):
            causes.append(Cause(self._origin[edge], int(weight[edge]), bool(self._upper[edge])))
            least -= int(self._constant[edge])
            strict = strict or bool(self._strict[edge])
            if edge in self._number_of:
                number, sign = self._number_of[edge]
                coefficients[number] = coefficients.get(number, 0) + sign
        coefficients = {number: k for number, k in sorted(coefficients.items()) if k}
        common = gcd(*coefficients.values()) or 1
        least = -((-least - strict) // common)
        return Barrier({number: k // common for number, k in coefficients.items()}, least, causes)


@dataclass(frozen=True, slots=True)
class Barrier:
    """Constraints that contradict each other unless the amounts of bounds are such that a weighted
    sum of them is at least so large (whole amounts; without coefficients: whatever they are)."""

    coefficients: dict[int, int]
    least: int
    causes: list[Cause]
