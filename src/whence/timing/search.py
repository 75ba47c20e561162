"""The minimal sets of elements whose variation repairs a trace (Koelbl, section 10.2.2).

A repair leaves the trace feasible and without a run that violates the property.  Instead of
eliminating quantifiers, the search is guided by what goes wrong with a set of changes:

- a run that still violates the property must be excluded by one more change;
- constraints that contradict each other, so that no run is left, must be loosened by one more
  change of an element among them.

Every repair that includes the set makes such a change, so following them all, smaller sets first,
finds every minimal repair (the hitting set tree of Reiter 1987, with conflicts made on demand).
Amounts of bounds are found for a whole set of bounds at once, the least ones first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from whence.solve.integers import Amounts
from whence.solve.polytopes import Polytope, Vertex
from whence.timing.elements import Reset, Urgency, WrittenComparison
from whence.timing.results import SINGLE_KINDS, Kind
from whence.timing.system import (
    NOBODY,
    OPS,
    Barrier,
    Conflict,
    Flip,
    NewOperator,
    Open,
    Reference,
    Shift,
    System,
    Variation,
    Varied,
)
from whence.zones.differences import Ints

__all__ = ["Found", "RepairSearch", "SearchOutcome"]

#: No bound is changed to more than this.
_LARGEST = 2**24
#: What asking the solver for amounts counts, in solved systems.
_ASKING = 30
#: The effort is divided by this for mixed repairs, on top of that for the others.
_SHARE = 2
#: So many systems with open amounts are kept.
_KEPT = 64


@dataclass(frozen=True, slots=True)
class Found:
    """A minimal repair of the trace."""

    kind: Kind
    variations: tuple[Variation, ...]

    @property
    def elements(self) -> frozenset[int]:
        return frozenset(variation.element for variation in self.variations)


@dataclass(frozen=True, slots=True)
class SearchOutcome:
    """`complete_to`: all minimal repairs of so many changes or fewer are among those found,
    unless there are more of a kind than were asked for."""

    repairs: tuple[Found, ...]
    complete_to: int
    exhausted: bool
    solved: int


@dataclass(frozen=True, slots=True)
class _Node:
    """A set of changes: `chosen` are decided, of `shifted` bounds the amounts are open."""

    chosen: tuple[Variation, ...] = ()
    shifted: tuple[int, ...] = ()

    @property
    def elements(self) -> frozenset[int]:
        return frozenset([*(v.element for v in self.chosen), *self.shifted])

    def with_(self, change: Variation | int) -> _Node:
        if isinstance(change, int):
            return _Node(self.chosen, tuple(sorted((*self.shifted, change))))
        return _Node(tuple(sorted((*self.chosen, change), key=_order)), self.shifted)


def _order(variation: Variation) -> tuple[int, str]:
    match variation:
        case Shift(element, amount):
            return element, f"{amount:012}"
        case NewOperator(element, op):
            return element, f"{OPS.index(op)}"
        case Reference(element, name, side):
            return element, f"{side} {name.text}"
        case Flip(element):
            return element, ""


@dataclass
class _Failure:
    """Why a set of changes is no repair: `runs` still violate the property, or `conflicts` leave
    no run at all."""

    runs: list[tuple[Varied, Ints]] = field(default_factory=list)
    conflicts: list[tuple[Varied, Conflict]] = field(default_factory=list)


@dataclass
class _Region:
    """Amounts that may not exclude a violation, and runs at vertices that are not excluded."""

    polytope: Polytope
    runs: dict[Vertex, Ints] = field(default_factory=dict)


class _Exhausted(Exception):
    pass


class RepairSearch:
    def __init__(
        self,
        system: System,
        kinds: Sequence[Kind],
        limit: int,
        max_changes: int,
        effort: int = 100_000,
        blocks: int | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> None:
        """`blocks`: no run along the trace satisfies the property; then the varied trace need be
        feasible only up to state number `blocks`. `effort`: so many systems are solved, and
        half as many more for mixed repairs."""
        self.system = system
        self.kinds = kinds
        self.limit = limit
        self.max_changes = max_changes
        self.effort = effort
        self.blocks = blocks
        self.progress = progress
        self.solved = 0
        self._left = effort
        #: Whether the set that is extended leaves no run.
        self._blocked = False
        self.found: list[Found] = []
        self._limits_of: dict[int, tuple[int, int]] = {}
        self._open: dict[tuple[Variation, ...], tuple[Varied, Open, list[Open]]] = {}

    # --------------------------------------------------------------------------------- the tree

    def run(self) -> SearchOutcome:
        singles = [kind for kind in SINGLE_KINDS if kind in self.kinds]
        frontiers = {kind: [_Node()] for kind in singles}
        mixed: list[_Node] | None = None
        # There are many more mixed sets than others, and these must not wait for them.
        left, left_for_mixed = self.effort, self.effort // _SHARE
        complete_to = 0
        cut = False
        for size in range(1, self.max_changes + 1):
            self._left = left
            try:
                for kind in singles:
                    if self._wanted(kind):
                        frontiers[kind] = self._level(frontiers[kind], {kind}, kind, size)
            except _Exhausted:
                return self._outcome(complete_to, True)
            left, self._left = self._left, left_for_mixed
            try:
                if (
                    size > 1
                    and "mixed" in self.kinds
                    and not cut
                    and self._wanted("mixed")
                    and not any(len(found.elements) == size for found in self.found)
                ):
                    if mixed is None:
                        mixed = self._first_mixed(singles, size)
                    mixed = self._level(mixed, set(singles), "mixed", size)
                else:
                    mixed = None
            except _Exhausted:
                mixed, cut = None, True
            left_for_mixed = self._left
            if not cut:
                complete_to = size
            open_kinds = [kind for kind in singles if self._wanted(kind) and frontiers[kind]]
            if not open_kinds and not mixed:
                # No set left to extend: whatever is missing is beyond the limit.
                complete_to = complete_to if cut else self.max_changes
                break
        return self._outcome(complete_to, cut)

    def _outcome(self, complete_to: int, exhausted: bool) -> SearchOutcome:
        order = {kind: number for number, kind in enumerate((*SINGLE_KINDS, "mixed"))}
        repairs = sorted(
            self.found,
            key=lambda found: (len(found.elements), order[found.kind]),
        )
        return SearchOutcome(tuple(repairs), complete_to, exhausted, self.solved)

    def _wanted(self, kind: Kind) -> bool:
        return sum(found.kind == kind for found in self.found) < self.limit

    def _first_mixed(self, kinds: Sequence[Kind], size: int) -> list[_Node]:
        """The nodes of all kinds together from which those of `size` grow."""
        frontier = [_Node()]
        for smaller in range(1, size):
            frontier = self._level(frontier, set(kinds), None, smaller)
        return frontier

    def _level(
        self, frontier: list[_Node], kinds: set[Kind], kind: Kind | None, size: int
    ) -> list[_Node]:
        """Tries all sets of `size` changes that `frontier` leads to; returns those that fail."""
        if self.progress is not None:
            self.progress(f"{kind or 'mixed'} repairs of {size}, {len(self.found)} found so far")
        failed: list[_Node] = []
        seen: set[_Node] = set()
        # Of one set of elements there may be several repairs, but of none of its supersets.
        # A set stands for changes of one kind; a mixed one must be better than all of these.
        smaller = [
            found.elements
            for found in self.found
            if len(found.elements) < size and (found.kind == kind or kind in ("mixed", None))
        ]
        for parent in frontier:
            failure = self._failure(parent)
            if failure is None:
                continue
            self._blocked = bool(failure.conflicts)
            for change in self._children(parent, failure, kinds):
                node = parent.with_(change)
                if node in seen or len(node.elements) < size:
                    continue
                seen.add(node)
                if any(elements <= node.elements for elements in smaller):
                    continue
                if kind == "mixed" and not self._is_mixed(node):
                    failed.append(node)
                    continue
                variations = self._repair(node)
                if variations is None:
                    failed.append(node)
                elif kind is not None:
                    self.found.append(Found(kind, variations))
                    if not self._wanted(kind):
                        return failed
        return failed

    def _is_mixed(self, node: _Node) -> bool:
        return (
            len({self._kind(v) for v in node.chosen} | ({"bound"} if node.shifted else set())) > 1
        )

    def _kind(self, variation: Variation) -> Kind:
        match variation:
            case Shift():
                return "bound"
            case NewOperator():
                return "operator"
            case Reference():
                return "clock"
            case Flip(element):
                is_reset = isinstance(self.system.elements[element], Reset)
                return "reset" if is_reset else "urgency"

    # ------------------------------------------------------------------------------ single sets

    def _repair(self, node: _Node) -> tuple[Variation, ...] | None:
        if self._hopeless(node):
            return None
        outcome = self._try(node)
        return outcome if isinstance(outcome, tuple) else None

    def _hopeless(self, node: _Node) -> bool:
        """Whether even the tightest bounds leave a run that violates the property. False: nothing
        is known."""
        tightest = []
        for element in node.shifted:
            least, greatest = self._limits(element)
            op = self._op(element)
            if op == "==":
                return False
            tightest.append(least if op in ("<", "<=") else greatest)
        if not tightest:
            return False
        _, _, violations = self._opened(node.chosen)
        self._count(1)
        return any(
            not isinstance(violation.at(node.shifted, tightest), Barrier)
            for violation in violations
        )

    def _failure(self, node: _Node) -> _Failure | None:
        outcome = self._try(node)
        return outcome if isinstance(outcome, _Failure) else None

    def _try(self, node: _Node) -> tuple[Variation, ...] | _Failure:
        if not node.shifted:
            varied = self.system.varied(node.chosen)
            # It cannot be both; which is more likely was seen one change before.
            for step in ("conflict", "run") if self._blocked else ("run", "conflict"):
                if step == "run":
                    run = self._violation(varied)
                    if run is not None:
                        return _Failure(runs=[(varied, run)])
                else:
                    conflict = self._conflict(varied)
                    if conflict is not None:
                        return _Failure(conflicts=[(varied, conflict)])
            return node.chosen
        return self._try_amounts(node)

    def _violation(self, varied: Varied) -> Ints | None:
        self._count(1)
        return varied.violation()

    def _conflict(self, varied: Varied) -> Conflict | None:
        """None if the trace is feasible, or else constraints that contradict each other."""
        self._count(1)
        times, conflict = varied.solution(upto=self.blocks)
        return None if times is not None else conflict

    def _count(self, amount: int) -> None:
        self.solved += amount
        self._left -= amount
        if self._left < 0:
            raise _Exhausted

    # ---------------------------------------------------------------------------------- amounts

    def _op(self, element: int) -> str:
        comparison = self.system.elements[element]
        assert isinstance(comparison, WrittenComparison)
        return comparison.op

    def _limits(self, element: int) -> tuple[int, int]:
        """How far a bound can be changed: it must not become negative."""
        if element not in self._limits_of:
            self._limits_of[element] = self._find_limits(element)
        return self._limits_of[element]

    def _find_limits(self, element: int) -> tuple[int, int]:
        values = self.system.value[self.system.rows_of[element]]
        least = -int(values.min()) if (values >= 0).all() else -_LARGEST
        total = int(np.abs(self.system.value).sum()) + 1
        return min(least, 0), min(total, _LARGEST)

    def _shifts(self, node: _Node, amounts: Sequence[int], scale: int) -> Varied:
        shifts = [
            Shift(element, amount)
            for element, amount in zip(node.shifted, amounts, strict=True)
            if amount
        ]
        return self.system.varied((*node.chosen, *shifts), scale)

    def _try_amounts(self, node: _Node) -> tuple[Variation, ...] | _Failure:
        """Amounts for several bounds at once, the least sum of magnitudes first.

        All that matters is linear. The trace stays possible for the amounts that satisfy a
        conjunction of weighted sums, one for each way in which constraints can contradict each
        other. An alternative of the negated property is excluded by a disjunction of such sums,
        which contradict it; where it is *not* excluded is therefore a polytope, and the runs at
        the vertices of that show, with all runs between them, that nothing else excludes it. So
        both are found out at vertices.
        """
        varied, trace, violations = self._opened(node.chosen)
        limits = [self._limits(element) for element in node.shifted]
        failure = _Failure()
        possible: list[Barrier] = []
        excluding: list[list[Barrier]] = []
        for violation in violations:
            region = _Region(Polytope(limits))
            for barrier in possible:
                region.polytope.cut(barrier.coefficients, barrier.least)
            found = self._barriers(node.shifted, violation, trace, region, possible)
            if found is None:
                # Whatever the amounts, the trace is not possible.
                failure.conflicts = [(varied, possible[-1].conflict)]
                return failure
            runs = [(self._shifts(node, *vertex), run) for vertex, run in region.runs.items()]
            if not found:
                # Whatever the amounts, this alternative is not excluded.
                failure.runs = runs
                failure.conflicts = [(varied, barrier.conflict) for barrier in possible]
                return failure
            failure.runs += runs
            excluding.append(found)
        problem = Amounts(limits)
        for barrier in possible:
            problem.require_any([(barrier.coefficients, barrier.least)])
        for barriers in excluding:
            if all(barrier.coefficients for barrier in barriers):
                problem.require_any(
                    [({n: -k for n, k in b.coefficients.items()}, 1 - b.least) for b in barriers]
                )
        while True:
            self._count(_ASKING)
            amounts = problem.least()
            if amounts is None:
                failure.conflicts = [(varied, barrier.conflict) for barrier in possible]
                return failure
            self._count(1)
            outcome = trace.at(node.shifted, amounts)
            if not isinstance(outcome, Barrier):
                shifts = (Shift(e, a) for e, a in zip(node.shifted, amounts, strict=True))
                return tuple(sorted((*node.chosen, *shifts), key=_order))
            if not outcome.coefficients:
                failure.conflicts = [(varied, outcome.conflict)]
                return failure
            possible.append(outcome)
            problem.require_any([(outcome.coefficients, outcome.least)])

    def _opened(self, chosen: tuple[Variation, ...]) -> tuple[Varied, Open, list[Open]]:
        """A system with the variations that are decided, as a function of amounts: whether the
        trace is possible, and each alternative of the negated property."""
        if chosen not in self._open:
            if len(self._open) > _KEPT:
                self._open.clear()
            varied = self.system.varied(chosen)
            violations = [Open(varied, bad) for bad in range(len(self.system.trace.bad))]
            self._open[chosen] = varied, Open(varied, upto=self.blocks), violations
        return self._open[chosen]

    def _barriers(
        self,
        shifted: Sequence[int],
        violation: Open,
        trace: Open,
        region: _Region,
        possible: list[Barrier],
    ) -> list[Barrier] | None:
        """What excludes the violation where the trace is possible: all barriers that do. What
        makes the trace impossible is added to `possible`; None if it always is.

        Post: the region is where the violation is possible, with a run for each vertex."""
        found: list[Barrier] = []
        known, known_of_trace = violation.known(shifted), trace.known(shifted)
        while True:
            open_vertices = [v for v in region.polytope.vertices if v not in region.runs]
            if not open_vertices:
                region.runs = {v: region.runs[v] for v in region.polytope.vertices}
                return found
            vertex = open_vertices[0]
            conflict: Barrier | Ints | None = known_of_trace.at(*vertex)
            outcome: Barrier | Ints | None = None
            if conflict is None:
                outcome = known.at(*vertex)
            if conflict is None and outcome is None:
                self._count(1)
                outcome = violation.at(shifted, *vertex)
                if not isinstance(outcome, Barrier):
                    region.runs[vertex] = outcome
                    continue
                self._count(1)
                conflict = trace.at(shifted, *vertex)
            if isinstance(conflict, Barrier):
                possible.append(conflict)
                if not conflict.coefficients:
                    return None
                region.polytope.cut(conflict.coefficients, conflict.least)
                continue
            assert isinstance(outcome, Barrier)
            found.append(outcome)
            if not outcome.coefficients:
                region.runs = {}
                return found
            region.polytope.cut(outcome.coefficients, outcome.least)

    # --------------------------------------------------------------------------------- children

    def _children(
        self, node: _Node, failure: _Failure, kinds: set[Kind]
    ) -> Iterator[Variation | int]:
        """The changes of which every repair that includes the node makes one or another."""
        children: dict[Variation | int, None] = {}
        for varied, run in failure.runs:
            for change in self._excluders(node, varied, run, kinds):
                children[change] = None
        for varied, conflict in failure.conflicts:
            for change in self._looseners(node, varied, conflict, kinds):
                children[change] = None
        taken = node.elements
        yield from sorted(
            (c for c in children if (c if isinstance(c, int) else c.element) not in taken),
            key=lambda c: (c, "") if isinstance(c, int) else _order(c),
        )

    def _excluders(
        self, node: _Node, varied: Varied, run: Ints, kinds: set[Kind]
    ) -> Iterator[Variation | int]:
        system = self.system
        taken = node.elements
        readings = varied.readings(run)
        grid = system.grid
        for element, rows in system.rows_of.items():
            if element in taken:
                continue
            bounds = varied.value[rows] * grid
            reads = readings[rows]
            op = self._op(element)
            if "bound" in kinds and self._can_exclude(element, op, reads - bounds, varied.scale):
                yield element
            if "operator" in kinds:
                for other in OPS:
                    if other != op and not _satisfied(other, reads, bounds):
                        yield NewOperator(element, other)
            if "clock" in kinds:
                for reference in self._references(element):
                    changed = system.varied((*varied.variations, reference), varied.scale)
                    if len(kinds) > 1 or not _satisfied(op, changed.readings(run)[rows], bounds):
                        yield reference
        if "reset" in kinds:
            for element in system.reset_elements:
                if element in taken:
                    continue
                reset = system.elements[element]
                assert isinstance(reset, Reset)
                # Removing the last reset before a comparison may be half of what excludes the
                # run: an earlier one, added or removed as well, is the other half.
                if len(kinds) > 1 or (
                    self._removal_counts(varied, run, element)
                    if reset.update >= 0
                    else not self._flipped(varied, element).violates(run)
                ):
                    yield Flip(element)
        if "urgency" in kinds:
            passing = np.flatnonzero(np.diff(run) > 0).tolist()
            for element in system.urgency_elements:
                urgency = system.elements[element]
                assert isinstance(urgency, Urgency)
                if not urgency.urgent and any(s in passing for s in system.visited_at[element]):
                    yield Flip(element)

    def _removal_counts(self, varied: Varied, run: Ints, element: int) -> bool:
        """Whether this run can break a constraint if a reset is removed, and the clock was last
        set at any earlier moment: it then reads more."""
        return any(
            reading > limit
            for at, _, clock in self.system.reset_at[element]
            for reading, limit in varied.most_readings(run, clock, at)
        )

    def _flipped(self, varied: Varied, element: int) -> Varied:
        return self.system.varied((*varied.variations, Flip(element)), varied.scale)

    def _can_exclude(self, element: int, op: str, excess: Ints, scale: int) -> bool:
        least = self._limits(element)[0] * scale * self.system.grid
        if op == "<=":
            return bool((excess > least).any())
        if op == "<":
            return bool((excess >= least).any()) and least < 0
        return True

    def _references(self, element: int) -> Iterator[Reference]:
        comparison = self.system.elements[element]
        assert isinstance(comparison, WrittenComparison)
        names = self.system.source.clocks(comparison.template)
        rows = self.system.rows_of[element].tolist()
        for name in names:
            if any(
                name.clocks[self.system.process_of[row]] != self.system.ci[row]
                and name.clocks[self.system.process_of[row]] != self.system.cj[row]
                for row in rows
            ):
                yield Reference(element, name)
                if comparison.difference:
                    yield Reference(element, name, "right")

    def _looseners(
        self, node: _Node, varied: Varied, conflict: Conflict, kinds: set[Kind]
    ) -> Iterator[Variation | int]:
        system = self.system
        taken = node.elements
        for origin, upper in conflict:
            if origin == NOBODY:
                continue
            if origin < 0:
                if "urgency" in kinds:
                    yield from self._urgent_at(-1 - origin)
                continue
            element = int(system.element_of[origin])
            if element >= 0 and element not in taken:
                if "bound" in kinds:
                    yield element
                if "operator" in kinds:
                    op = OPS[int(varied.op[origin])]
                    for other in OPS:
                        if other != self._op(element) and _loosens(op, other, upper):
                            yield NewOperator(element, other)
                if "clock" in kinds:
                    yield from self._references(element)
            if "reset" in kinds:
                yield from self._resets_that_loosen(node, varied, origin, upper)

    def _resets_that_loosen(
        self, node: _Node, varied: Varied, row: int, upper: bool
    ) -> Iterator[Flip]:
        """The clock that is compared must have been set later if it is bounded from above, and
        earlier otherwise: either by a reset that is added behind the last one, or because the
        last one is removed."""
        system = self.system
        state = int(system.state[row])
        first, second = int(varied.ci[row]), int(varied.cj[row])
        plain = not second and not varied.start[first].any()
        last = int(varied.since[first, state])
        taken = node.elements
        for clock in {first, second} - {0}:
            for element, removes, places in system.resets_of.get(clock, ()):
                if element in taken:
                    continue
                if not plain:
                    counts = any(at <= state for at in places)
                elif removes:
                    counts = not upper and last in places
                else:
                    counts = upper and any(last < at <= state for at in places)
                if counts:
                    yield Flip(element)

    def _urgent_at(self, state: int) -> Iterator[Flip]:
        for element in self.system.urgency_elements:
            urgency = self.system.elements[element]
            assert isinstance(urgency, Urgency)
            if urgency.urgent and state in self.system.visited_at[element]:
                yield Flip(element)


def _loosens(op: str, other: str, upper: bool) -> bool:
    """Whether a comparison bounds less from above, or from below, with another operator."""
    strict, bounding = ("<", ("<", "<=", "==")) if upper else (">", (">", ">=", "=="))
    return other not in bounding or (op == strict and other != strict)


def _satisfied(op: str, reads: Ints, bounds: Ints) -> bool:
    match op:
        case "<":
            return bool((reads < bounds).all())
        case "<=":
            return bool((reads <= bounds).all())
        case "==":
            return bool((reads == bounds).all())
        case ">=":
            return bool((reads >= bounds).all())
        case _:
            return bool((reads > bounds).all())
