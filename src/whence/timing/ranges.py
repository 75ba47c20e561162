"""Causal ranges: which delays make a trace violate its property (Koelbl, chapter 9).

Everything is said in moments T_0 .. T_{n+1}, delay j being T_{j+1} - T_j.  What only compares two
moments (the trace, its prefixes, what can be completed) is zones, and exact; the sum of delays
that are not neighbours is bounded over a zone by matching the moments that are added with those
that are subtracted.  Where one delay changes and all others stay (Definition 38), linear
arithmetic decides.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from whence.explore.realize import Realization
from whence.explore.search import Budget
from whence.model.network import Query
from whence.model.trace import Transition
from whence.solve.linear import All, Any_, AtMost, Formula, Linear
from whence.timing.model import TimedModel
from whence.timing.repair import violation
from whence.timing.results import CausalRange, Limit, RangesResult
from whence.timing.system import System, Varied
from whence.timing.trace import DiagnosticTrace
from whence.zones.bounds import INFINITY, add
from whence.zones.dbm import Matrix
from whence.zones.differences import FAR
from whence.zones.federation import Federation

__all__ = ["TraceRanges", "causal_ranges", "ranges"]

Say = Callable[[str], None] | None

#: No end.
_FOREVER = 2**62


@dataclass(frozen=True, slots=True)
class TraceRanges:
    """`complete`: all delay sets were looked at; otherwise `reason` says why not."""

    causal_delays: tuple[int, ...]
    ranges: tuple[CausalRange, ...]
    complete: bool = True
    reason: str = ""


def ranges(
    model: TimedModel,
    query: Query,
    transitions: Sequence[Transition] | None = None,
    realization: Realization = "earliest",
    budget: Budget | None = None,
    max_size: int | None = None,
    say: Say = None,
) -> RangesResult:
    """The causal delays and ranges of a trace that violates the query; without one given, of a
    shortest one."""
    budget = budget or Budget()
    began = time.perf_counter()
    result, trace = violation(model, query, transitions, realization, budget)
    if trace is None:
        assert result is not None
        return RangesResult(
            query.text,
            result.verdict,
            None,
            complete=result.verdict == "satisfied",
            reason=result.reason,
            seconds=time.perf_counter() - began,
        )
    system = System(trace, model.elements)
    found = causal_ranges(system, budget.seconds, max_size, say)
    return RangesResult(
        query.text,
        "violated",
        trace.realization,
        found.causal_delays,
        found.ranges,
        always=not system.varied().can_satisfy(),
        timed=bool(found.causal_delays) or not found.complete,
        complete=found.complete,
        reason=found.reason,
        seconds=time.perf_counter() - began,
    )


def causal_ranges(
    system: System,
    seconds: float | None = None,
    max_size: int | None = None,
    say: Say = None,
) -> TraceRanges:
    """The causal ranges of one trace; problems P1 to P3 of section 9.4."""
    analysis = _Analysis(system)
    began = time.perf_counter()
    causal: list[int] = []
    found: list[CausalRange] = []
    reason = ""
    try:
        # P1: causal delays.
        for delay in range(system.states):
            if say is not None:
                say(f"delay {delay} of {system.states - 1}")
            if analysis.witness((delay,)) is not None:
                causal.append(delay)
            _watch(began, seconds)
        # P2 and P3, the smaller delay sets first: a set is looked at if all sets with one delay
        # less have a causal value.
        level: list[tuple[int, ...]] = [(delay,) for delay in causal]
        while level:
            for delays in level:
                if say is not None:
                    say(f"delays {', '.join(map(str, delays))}: {len(found)} ranges so far")
                found += analysis.ranges_of(delays, found)
                _watch(began, seconds)
            if max_size is not None and len(level[0]) >= max_size:
                if len(causal) > max_size:
                    reason = f"only sums of up to {max_size} delays were looked at"
                break
            known = set(level)
            level = [
                larger
                for larger in _larger(level, causal)
                if all(larger[:n] + larger[n + 1 :] in known for n in range(len(larger)))
                and analysis.witness(larger) is not None
            ]
            _watch(began, seconds)
    except TimeoutError:
        reason = "the time budget ran out"
    except KeyboardInterrupt:
        reason = "interrupted"
    return TraceRanges(tuple(causal), tuple(found), not reason, reason)


def _watch(began: float, seconds: float | None) -> None:
    if seconds is not None and time.perf_counter() - began > seconds:
        raise TimeoutError


def _larger(level: list[tuple[int, ...]], causal: list[int]) -> Iterator[tuple[int, ...]]:
    for delays in level:
        for delay in causal:
            if delay > delays[-1]:
                yield (*delays, delay)


# ---------------------------------------------------------------------------- sets of integers


#: A stretch of the line: 2v stands for the integer v, 2v + 1 for all between v and v + 1.
_Segment = tuple[int, int]


def _without(segments: list[_Segment], gap: _Segment) -> list[_Segment]:
    rest = []
    for start, end in segments:
        if gap[1] < start or end < gap[0]:
            rest.append((start, end))
            continue
        if start < gap[0]:
            rest.append((start, gap[0] - 1))
        if gap[1] < end:
            rest.append((gap[1] + 1, end))
    return rest


def _lower_limit(start: int) -> Limit:
    return Limit(Fraction(start // 2), bool(start % 2))


def _upper_limit(end: int) -> Limit | None:
    return None if end >= _FOREVER else Limit(Fraction((end + 1) // 2), bool(end % 2))


# ------------------------------------------------------------------------------------- analysis


@dataclass(frozen=True, slots=True)
class _Witness:
    """Moments of a violating run, and for each delay of a set by how much to change it."""

    moments: tuple[Fraction, ...]
    changes: tuple[Fraction, ...]


class _Analysis:
    def __init__(self, system: System) -> None:
        self.system = system
        self.trace: DiagnosticTrace = system.trace
        self.varied: Varied = system.varied()
        self.size = system.size
        whole = self.varied.zone()
        assert whole is not None
        self.whole: Matrix = whole
        self.bad = [
            zone
            for zone in (self.varied.zone(bad) for bad in range(len(self.trace.bad)))
            if zone is not None
        ]
        self._harmless: dict[int, Federation] = {}

    # ------------------------------------------------------------- Definition 38: causal values

    def witness(self, delays: Sequence[int], also: Sequence[Formula] = ()) -> _Witness | None:
        """A run that violates the property, and that another value for each one of the delays
        alone turns into one that does not, or into one that cannot be completed."""
        problem = Linear()
        moments = problem.variables(self.size)
        changes = problem.variables(len(delays))
        problem.require(AtMost(((moments[0], 1),), 0))
        problem.require(AtMost(((moments[0], -1),), 0))
        problem.require(Any_(tuple(self._inside(bad) for bad in self._raw_bad())))
        for delay, change in zip(delays, changes, strict=True):
            problem.require(
                Any_((AtMost(((change, 1),), 0, True), AtMost(((change, -1),), 0, True)))
            )
            problem.require(self._avoids(delay, change))
        values = problem.solution(also)
        if values is None:
            return None
        return _Witness(values[: self.size], values[self.size :])

    def _raw_bad(self) -> list[list[AtMost]]:
        return [self._atoms(bad) for bad in range(len(self.trace.bad))]

    def _atoms(self, bad: int | None = None, upto: int | None = None) -> list[AtMost]:
        """The constraints T[a] - T[b] <= c of the trace, each pair once."""
        found = self.varied.constraints(bad, upto)
        least: dict[tuple[int, int], int] = {}
        for x, y, w in zip(found.a.tolist(), found.b.tolist(), found.weight.tolist(), strict=True):
            if w != FAR and ((x, y) not in least or w < least[x, y]):
                least[x, y] = w
        return [self._atom(x, y, w) for (x, y), w in sorted(least.items())]

    def _atom(self, a: int, b: int, weight: int) -> AtMost:
        grid = self.system.grid
        constant = -((-weight) // grid)
        terms = ((a, 1), (b, -1)) if a != b else ()
        return AtMost(terms, constant, constant * grid != weight)

    @staticmethod
    def _inside(atoms: Sequence[AtMost]) -> All:
        return All(tuple(atoms))

    @staticmethod
    def _moved(atom: AtMost, delay: int, change: int) -> AtMost:
        """The constraint after all moments behind a delay have moved by `change`."""
        shift = sum(k for moment, k in atom.terms if moment > delay)
        return AtMost((*atom.terms, (change, shift)), atom.bound, atom.strict) if shift else atom

    def _avoids(self, delay: int, change: int) -> Formula:
        """With the changed delay, one can still depart from its state, but the run is no longer
        one that violates the property: it satisfies it, or cannot go on as it did."""
        parts: list[Formula] = []
        for atom in self._atoms(upto=delay):
            moved = self._moved(atom, delay, change)
            if moved is not atom:
                parts.append(moved)
        blocked = [
            moved.negated
            for atom in self._atoms()
            if (moved := self._moved(atom, delay, change)) is not atom
        ]
        satisfied = All(
            tuple(
                Any_(tuple(self._moved(a, delay, change).negated for a in bad))
                for bad in self._property()
            )
        )
        return All((*parts, Any_((*blocked, satisfied))))

    def _property(self) -> list[list[AtMost]]:
        """The conjuncts of each alternative of the negated property."""
        end = self.system.states - 1
        found = []
        for conjunction in self.trace.bad:
            atoms = []
            for constraint in conjunction:
                a, b, weight, _ = self.varied._constraint(constraint, end, end + 1)
                atoms.append(self._atom(a, b, weight))
            found.append(atoms)
        return found

    # ------------------------------------------------------------- Definition 39: causal ranges

    def ranges_of(self, delays: tuple[int, ...], known: Sequence[CausalRange]) -> list[CausalRange]:
        """The causal ranges of one delay set; `known` are those of smaller sets."""
        start, end = self._sums(self.whole, delays)
        segments = [(start, end)]
        # CR2: no value with which something harmless can still happen.
        for last in range(delays[-1], self.system.states):
            for piece in self._harmless_prefixes(last):
                segments = _without(segments, self._sums(piece, delays))
                if not segments:
                    return []
        smaller = [r for r in known if set(r.delays) < set(delays)]
        outside = [self._outside(r) for r in smaller]
        found = []
        for start, end in segments:
            inside = self._within(delays, start, end)
            witness = self.witness(delays, (*inside, *outside))
            if witness is not None:
                found.append(self._range(delays, start, end, witness))
        return found

    def _harmless_prefixes(self, last: int) -> list[Matrix]:
        """The moments up to the end of delay `last` from which no violation follows: the trace
        can not be completed any more, or only so that the property holds."""
        if last not in self._harmless:
            prefix = self.varied.zone(upto=last)
            size = last + 2
            found = Federation(size, [prefix] if prefix is not None else [])
            for bad in self.bad:
                found = found - Federation(size, [bad[:size, :size].copy()])
            self._harmless[last] = found
        return list(self._harmless[last].matrices)

    def _sums(self, zone: Matrix, delays: Sequence[int]) -> _Segment:
        """The values of a sum of delays in a zone of moments."""
        starts = [d for d in delays if d - 1 not in delays]
        ends = [d + 1 for d in delays if d + 1 not in delays]
        upper = _matching(zone, ends, starts)
        lower = _matching(zone, starts, ends)
        return 1 - lower, (_FOREVER if upper == INFINITY else upper - 1)

    def _within(self, delays: Sequence[int], start: int, end: int) -> list[Formula]:
        lower, upper = _lower_limit(start), _upper_limit(end)
        terms = self._terms(delays)
        formulas: list[Formula] = [
            AtMost(tuple((v, -k) for v, k in terms), -int(lower.value), lower.strict)
        ]
        if upper is not None:
            formulas.append(AtMost(terms, int(upper.value), upper.strict))
        return formulas

    @staticmethod
    def _terms(delays: Sequence[int]) -> tuple[tuple[int, int], ...]:
        starts = [(d, -1) for d in delays if d - 1 not in delays]
        ends = [(d + 1, 1) for d in delays if d + 1 not in delays]
        return tuple(sorted(starts + ends))

    def _outside(self, found: CausalRange) -> Formula:
        terms = self._terms(found.delays)
        below = AtMost(terms, int(found.lower.value), not found.lower.strict)
        if found.upper is None:
            return below
        above = AtMost(
            tuple((v, -k) for v, k in terms), -int(found.upper.value), not found.upper.strict
        )
        return Any_((below, above))

    def _range(
        self, delays: tuple[int, ...], start: int, end: int, witness: _Witness
    ) -> CausalRange:
        violating = tuple(y - x for x, y in pairwise(witness.moments))
        satisfying = []
        for delay, change in zip(delays, witness.changes, strict=True):
            other = list(violating)
            other[delay] += change
            moments = [Fraction(0)]
            for d in other:
                moments.append(moments[-1] + d)
            satisfying.append(tuple(other if self._completes(moments) else other[: delay + 1]))
        return CausalRange(
            delays, _lower_limit(start), _upper_limit(end), violating, tuple(satisfying)
        )

    def _completes(self, moments: Sequence[Fraction]) -> bool:
        """Whether these are the moments of a run along the whole trace."""
        return all(_holds(atom, moments) for atom in self._atoms())


def _holds(atom: AtMost, moments: Sequence[Fraction]) -> bool:
    total = sum((k * moments[v] for v, k in atom.terms), Fraction(0))
    return total < atom.bound if atom.strict else total <= atom.bound


def _matching(zone: Matrix, added: Sequence[int], subtracted: Sequence[int]) -> int:
    """The least raw bound on the sum of T[added] less that of T[subtracted] in a canonical zone.

    By duality it is that of a cheapest perfect matching: matrices are closed under triangles, so
    that flows are matchings, and extreme ones are integral.
    """
    count = len(added)
    best = {0: 1}
    for first in added:
        after: dict[int, int] = {}
        for used, cost in best.items():
            for number in range(count):
                if used >> number & 1:
                    continue
                total = add(cost, int(zone[first, subtracted[number]]))
                key = used | 1 << number
                if key not in after or total < after[key]:
                    after[key] = total
        best = after
    return best[(1 << count) - 1]
