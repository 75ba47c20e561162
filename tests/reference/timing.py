"""Causal ranges and repairs of timed diagnostic traces, written down from their definitions.

The definitions are those of M. Kölbl, Causal Analysis and Repair of Systems, Konstanz 2022:
Definition 37 (the constraint system 𝒯 of a trace), Definitions 38 and 39 (causal values and causal
ranges), and section 10.2 (repairs).  Nothing here is shared with the package.

**Time points.**  A trace with n transitions has the states 0..n and delays d_0..d_n.  State j is
entered at time s_j, with s_0 = 0, and s_(n+1) is the time after the last delay; so
d_j = s_(j+1) - s_j.  A clock that was last reset when state i was entered has the value s_j - s_i
on entering state j and s_(j+1) - s_i after its delay.  Hence everything that Definition 37 demands
is a conjunction of *atoms* s_a - s_b < c or s_a - s_b <= c with integers c.

**Elimination.**  "Can be completed" is an existential quantifier over the later time points.
Fourier and Motzkin's method eliminates them one by one: a point p disappears if each a - p <= c is
added to each p - b <= d, giving a - b <= c + d.  What comes out are again atoms with integers.

**Values.**  For CR1 and CR2 it suffices to look at the values 0, 1/2, 1, 3/2, …, each half standing
for the open interval around it:

* CR1 holds for the values that the sum of the delays in D takes over the solutions of 𝒯.
* CR2 fails for the values that the sum takes over partial realizations in 𝒯_m without a completion
  that violates the property.  Being completable is a disjunction of conjunctions of atoms, by
  elimination; its negation is another one, with integers as well.  So here are finitely many
  conjunctions of atoms.
* The sum is linear in the time points with integer coefficients.  The matrix of a system of
  differences is totally unimodular, so where the sum has a least or largest value on the closure
  of such a system, it has it at an integer point.  A conjunction is convex, so its values are an
  interval, whose ends are integers, included or not, or infinite.

Finitely many intervals with integer ends cannot tell two values between neighbouring integers
apart.  Nor can they tell two values apart beyond their largest finite end, and :func:`_cap` bounds
that.  The last value looked at stands for everything beyond.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, product, takewhile
from typing import Any, Literal, NamedTuple

import z3

#: ("invariant", location, number), ("guard", edge, number), ("reset", edge, clock) or
#: ("urgency", location): an element of the text of the model.
Key = tuple[str | int, ...]
Kind = Literal["bound", "operator", "clock", "reset", "urgency"]

OPERATORS = ("<", "<=", "==", ">=", ">")


@dataclass(frozen=True)
class Constraint:
    clock: str
    op: str
    bound: int
    #: Which element of the text this is.  In the property it means nothing.
    key: Key = ()


@dataclass(frozen=True)
class Location:
    invariant: tuple[Constraint, ...] = ()
    urgent: bool = False


@dataclass(frozen=True)
class Edge:
    source: int
    target: int
    guard: tuple[Constraint, ...] = ()
    resets: tuple[str, ...] = ()


@dataclass(frozen=True)
class Automaton:
    clocks: tuple[str, ...]
    locations: tuple[Location, ...]
    edges: tuple[Edge, ...]


@dataclass(frozen=True)
class Trace:
    automaton: Automaton
    #: The numbers of the edges taken, from location 0.
    edges: tuple[int, ...]
    #: The negated property, which speaks about the time after the last delay, as a disjunction of
    #: conjunctions.  An empty conjunction is true.
    bad: tuple[tuple[Constraint, ...], ...]


# ----------------------------------------------------------------------------- systems of atoms


class Atom(NamedTuple):
    """s_left - s_right < bound, or <= bound."""

    left: int
    right: int
    bound: int
    strict: bool


def _compared(left: int, right: int, op: str, bound: int) -> list[Atom]:
    """s_left - s_right, compared with the bound."""
    below = Atom(left, right, bound, op == "<")
    above = Atom(right, left, -bound, op == ">")
    return {"<": [below], "<=": [below], "==": [below, above], ">=": [above], ">": [above]}[op]


def project(atoms: Iterable[Atom], keep: Iterable[int]) -> list[Atom] | None:
    """What the atoms say about the points that are kept; None if they contradict each other.

    "None" is complete only if no point is kept."""
    # The tightest atom for each pair; (bound, 0) is strict and so less than (bound, 1).
    tightest: dict[tuple[int, int], tuple[int, int]] = {}

    def add(left: int, right: int, bound: int, closed: int) -> bool:
        limit = bound, closed
        if left == right:
            return limit >= (0, 1)
        if limit < tightest.get((left, right), (bound + 1, 0)):
            tightest[left, right] = limit
        return True

    for left, right, bound, strict in atoms:
        if not add(left, right, bound, not strict):
            return None
    for point in {p for pair in tightest for p in pair}.difference(keep):
        above = [(a, limit) for (a, p), limit in tightest.items() if p == point]
        below = [(b, limit) for (p, b), limit in tightest.items() if p == point]
        tightest = {pair: limit for pair, limit in tightest.items() if point not in pair}
        for a, (c, c_closed) in above:
            for b, (d, d_closed) in below:
                if not add(a, b, c + d, min(c_closed, d_closed)):
                    return None
    return [Atom(a, b, bound, not closed) for (a, b), (bound, closed) in tightest.items()]


def satisfiable(atoms: Iterable[Atom]) -> bool:
    return project(atoms, ()) is not None


def states(trace: Trace) -> list[int]:
    """The locations that the trace visits, with repetitions."""
    return [0, *(trace.automaton.edges[edge].target for edge in trace.edges)]


def _last_resets(trace: Trace) -> list[dict[str, int]]:
    """For each state and clock: on entering which state the clock became 0 for the last time."""
    result = [dict.fromkeys(trace.automaton.clocks, 0)]
    for state, number in enumerate(trace.edges, start=1):
        resets = trace.automaton.edges[number].resets
        result.append({c: state if c in resets else since for c, since in result[-1].items()})
    return result


def system(
    trace: Trace, last: int | None = None, *, departure: Departure = "any time"
) -> list[tuple[Key, Atom]]:
    """Definition 37, up to the delay of the state `last`: 𝒯_last; without it, 𝒯.

    Each atom comes with the element of the text that demands it; () for the passing of time.
    `departure` may add the guard of the transition that leaves the last state, if there is one:
    all of it (`enabled`), or what waiting longer can bring about (`waited`)."""
    n = len(trace.edges)
    last = n if last is None else last
    since = _last_resets(trace)
    result: list[tuple[Key, Atom]] = []

    def demand(constraint: Constraint, state: int, point: int) -> None:
        atoms = _compared(point, since[state][constraint.clock], constraint.op, constraint.bound)
        result.extend((constraint.key, atom) for atom in atoms)

    for state, number in enumerate(states(trace)[: last + 1]):
        location = trace.automaton.locations[number]
        result.append(((), Atom(state, state + 1, 0, False)))
        for constraint in location.invariant:
            demand(constraint, state, state)
            demand(constraint, state, state + 1)
        if location.urgent:
            result.append((("urgency", number), Atom(state + 1, state, 0, False)))
        if state < last or (departure != "any time" and state < n):
            for constraint in trace.automaton.edges[trace.edges[state]].guard:
                if state == last and departure == "waited":
                    if constraint.op in ("<", "<="):
                        continue
                    if constraint.op == "==":
                        constraint = replace(constraint, op=">=")
                demand(constraint, state, state + 1)
    return result


def _atoms(
    trace: Trace, last: int | None = None, *, departure: Departure = "any time"
) -> list[Atom]:
    return [atom for _, atom in system(trace, last, departure=departure)]


def violations(trace: Trace) -> list[list[Atom]]:
    """¬Φ: the disjuncts of the negated property, after the last delay."""
    end = len(trace.edges)
    since = _last_resets(trace)[end]
    return [
        [atom for c in conjuncts for atom in _compared(end + 1, since[c.clock], c.op, c.bound)]
        for conjuncts in trace.bad
    ]


def feasible(trace: Trace) -> bool:
    """Whether the trace has a realization."""
    return satisfiable(_atoms(trace))


def violable(trace: Trace) -> bool:
    """Whether the trace has a realization that violates the property."""
    atoms = _atoms(trace)
    return any(satisfiable([*atoms, *bad]) for bad in violations(trace))


# --------------------------------------------------------------------------------------- ranges


Departure = Literal["any time", "enabled", "waited"]


@dataclass(frozen=True)
class Reading:
    """How to read what the thesis leaves open, or says in one way and evaluates in another."""

    #: Whether a partial realization d_0 … d_m must also satisfy the guard of the transition that
    #: leaves state m.  "𝒯_j encodes only the first j transitions", and so it need not; but who
    #: has not waited long enough for it can wait on, and is not blocked.
    departure: Departure = "any time"
    #: Whether a suffix is blocked already if the later delays *of this realization* are impossible
    #: after the changed one.  Formula 9.2 says: if all later delays are.
    same_suffix: bool = False


#: Definitions 38 and 39 to the letter.
LITERAL = Reading()
#: What yields the causal delays that section 9.5 reports: {2, 4} for the database and {1, 2, 3} for
#: Fischer's protocol, where the letter yields {2, 3, 4} and one with 5.
EVALUATED = Reading(departure="enabled", same_suffix=True)
#: The same, but for the example of section 9.3 that a guard is missed by waiting for too long.
WAITED = Reading(departure="waited", same_suffix=True)


@dataclass(frozen=True)
class Range:
    """lower <= (or <) the sum of these delays <= (or <) upper; an upper of None is infinite."""

    delays: tuple[int, ...]
    lower: Fraction
    lower_strict: bool
    upper: Fraction | None
    upper_strict: bool


def causal_delays(trace: Trace, reading: Reading = LITERAL) -> tuple[int, ...]:
    """The delays that have a causal value on their own."""
    singles = takewhile(lambda delays: len(delays) == 1, _Analysis(trace, reading).delay_sets())
    return tuple(j for delays in singles for j in delays)


def causal_delay_sets(trace: Trace, reading: Reading = LITERAL) -> tuple[tuple[int, ...], ...]:
    """The delay sets that have a causal value (Definition 38), small ones first."""
    return tuple(_Analysis(trace, reading).delay_sets())


def causal_ranges(
    trace: Trace, reading: Reading = LITERAL, *, quantifiers: bool = False
) -> tuple[Range, ...]:
    """The causal ranges (Definition 39), ordered by the size of the delay set, its members and the
    lower bound.  With `quantifiers`, z3 decides formulas 9.2 and 9.4 as they stand, slowly."""
    return tuple(_Analysis(trace, reading, quantifiers=quantifiers).ranges())


def _cap(trace: Trace, delays: Sequence[int]) -> int:
    """No interval of values that CR1 or CR2 speak about has a finite end as large as this.

    The dual of "the largest value of the sum" is a flow: for each run of neighbouring delays, one
    path through the atoms from one end of the run to the other.  A path need not repeat a point, so
    it has at most n + 1 atoms.  Some may be negated results of an elimination, which themselves
    are paths through atoms of the trace: at most one for each disjunct of the property.  For the
    least value the paths lead the other way."""
    runs = sum(j - 1 not in delays for j in delays)
    atoms = [*_atoms(trace), *(atom for disjunct in violations(trace) for atom in disjunct)]
    largest: dict[tuple[int, int], int] = {}
    for atom in atoms:
        pair = atom.left, atom.right
        largest[pair] = max(largest.get(pair, 0), abs(atom.bound))
    path = sum(sorted(largest.values(), reverse=True)[: len(trace.edges) + 1])
    return runs * path * (1 + len(trace.bad)) + 1


class _Analysis:
    """The formulas of one trace, over the delays as variables of z3."""

    def __init__(self, trace: Trace, reading: Reading, *, quantifiers: bool = False) -> None:
        self.n = len(trace.edges)
        self.reading = reading
        self.quantifiers = quantifiers
        self.trace = trace
        self.whole = _atoms(trace)
        self.bad = violations(trace)
        self.partial = [_atoms(trace, m, departure=reading.departure) for m in range(self.n + 1)]
        self.delays: list[Any] = [z3.Real(f"d{j}") for j in range(self.n + 1)]
        self.others: list[Any] = [z3.Real(f"other{j}") for j in range(self.n + 1)]
        self.causal = [self._causal(j) for j in range(self.n + 1)]
        self.possible = z3.Solver()
        self.possible.add(self._holds(self.whole, self.delays))
        self.escaping = [self._escaping(m) for m in range(self.n + 1)]

    # The formulas. `delays` are variables to speak about.

    def _holds(self, atoms: Sequence[Atom], delays: Sequence[Any]) -> Any:
        """The conjunction of the atoms."""

        def formula(left: int, right: int, bound: int, strict: bool) -> Any:
            if left == right:
                return z3.BoolVal(bound > 0 or (bound == 0 and not strict))
            if left > right:
                total = z3.Sum(delays[right:left])
                return total < bound if strict else total <= bound
            total = z3.Sum(delays[left:right])
            return total > -bound if strict else total >= -bound

        return z3.And([formula(*atom) for atom in atoms])

    def _violated(self, delays: Sequence[Any]) -> Any:
        """¬Φ."""
        return z3.Or([self._holds(atoms, delays) for atoms in self.bad])

    def _completable(self, m: int, bad: Sequence[Sequence[Atom]], delays: Sequence[Any]) -> Any:
        """Some delays after d_m make this a realization of 𝒯 that satisfies one of `bad`."""
        if self.quantifiers:
            later = [z3.Real(f"later{j}") for j in range(m + 1, self.n + 1)]
            all_delays = [*delays[: m + 1], *later]
            some = z3.Or([self._holds(atoms, all_delays) for atoms in bad])
            formula = z3.And(self._holds(self.whole, all_delays), some)
            return z3.Exists(later, formula) if later else formula
        results = (project([*self.whole, *atoms], range(m + 2)) for atoms in bad)
        return z3.Or([self._holds(atoms, delays) for atoms in results if atoms is not None])

    def _causal(self, j: int) -> Any:
        """CV2 for the delay j: another value for it makes a difference.

        It differs from d_j by itself, for the realization itself is neither blocked nor satisfies
        the property."""
        changed = [*self.delays[:j], self.others[j], *self.delays[j + 1 :]]
        if self.reading.same_suffix:
            goes_on = self._holds(self.whole, changed)
        else:
            goes_on = self._completable(j, [[]], changed)
        blocked = z3.And(self._holds(self.partial[j], changed), z3.Not(goes_on))
        satisfied = z3.And(self._holds(self.whole, changed), z3.Not(self._violated(changed)))
        return z3.Or(blocked, satisfied)

    def _witness(self, delays: Sequence[int]) -> z3.Solver:
        """CV1 and CV2."""
        solver = z3.Solver()
        solver.add(self._holds(self.whole, self.delays), self._violated(self.delays))
        solver.add([self.causal[j] for j in delays])
        return solver

    def _escaping(self, first: int) -> z3.Solver:
        """The negation of CR2, where `first` is the largest delay: of m = first, …, n, one has a
        partial realization that nothing makes a realization that violates the property."""
        solver = z3.Solver()
        solver.add(
            z3.Or(
                [
                    z3.And(
                        self._holds(self.partial[m], self.delays),
                        z3.Not(self._completable(m, self.bad, self.delays)),
                    )
                    for m in range(first, self.n + 1)
                ]
            )
        )
        return solver

    def _total(self, delays: Sequence[int]) -> Any:
        return z3.Sum([self.delays[j] for j in delays])

    # The answers.

    def delay_sets(self) -> Iterator[tuple[int, ...]]:
        """Level by level: what witnesses a set witnesses each of its subsets."""
        level: set[tuple[int, ...]] = {()}
        while level:
            level = {
                tuple(sorted({*delays, j}))
                for delays in level
                for j in range(self.n + 1)
                if j not in delays
            }
            level = {delays for delays in level if self._witness(delays).check() == z3.sat}
            yield from sorted(level)

    def ranges(self) -> list[Range]:
        found: list[Range] = []
        for delays in self.delay_sets():
            smaller = [r for r in found if set(r.delays) < set(delays)]
            found += [r for r in self._candidates(delays) if self._adds(r, smaller)]
        return found

    def _candidates(self, delays: tuple[int, ...]) -> Iterator[Range]:
        """The maximal intervals that satisfy CR1 and CR2."""
        last = 2 * _cap(self.trace, delays)
        possible = self._values(self.possible, delays, range(last + 1))
        good = possible - self._values(self.escaping[max(delays)], delays, sorted(possible))
        for half in sorted(good):
            if half - 1 in good:
                continue
            end = half
            while end + 1 in good:
                end += 1
            # An odd number of halves stands for the open interval around it.
            upper = None if end == last else Fraction((end + 1) // 2)
            yield Range(
                delays,
                Fraction(half // 2),
                half % 2 == 1,
                upper,
                upper is not None and end % 2 == 1,
            )

    def _values(self, solver: z3.Solver, delays: Sequence[int], halves: Iterable[int]) -> set[int]:
        """Those numbers of halves that the sum of the delays can be."""
        total = z3.Real("total")

        def check(condition: Any) -> bool:
            result = solver.check(condition)
            if result == z3.unknown:
                # Instantiating quantifiers may not end; eliminating them does.
                eliminating = z3.Then("simplify", "qe", "smt").solver()
                eliminating.add(solver.assertions(), condition)
                result = eliminating.check()
            assert result != z3.unknown
            return bool(result == z3.sat)

        result = set()
        solver.push()
        solver.add(total == 2 * self._total(delays))
        for half in halves:
            if check(total == half):
                result.add(half)
            elif not check(total > half):
                break
        solver.pop()
        return result

    def _contains(self, r: Range) -> Any:
        """The realization has its total in the range."""
        total = self._total(r.delays)
        result = total > r.lower if r.lower_strict else total >= r.lower
        if r.upper is not None:
            result = z3.And(result, total < r.upper if r.upper_strict else total <= r.upper)
        return result

    def _adds(self, r: Range, smaller: Iterable[Range]) -> bool:
        """CR3: a realization witnesses CV1 and CV2, and no range of a proper subset contains it."""
        solver = self._witness(r.delays)
        solver.add(self._contains(r))
        solver.add([z3.Not(self._contains(other)) for other in smaller])
        return bool(solver.check() == z3.sat)


# -------------------------------------------------------------------------------------- repairs


#: A change of a bound, or a new operator, clock, reset or urgency.
Value = int | str | bool
#: Whether an assignment of values to some elements is a repair.
_Decide = Callable[[Sequence[Value]], bool]


@dataclass(frozen=True)
class Repair:
    elements: frozenset[Key]
    #: The new operator or clock of each element; whether the edge now resets the clock; whether the
    #: location now is urgent.  Ordered by element.  Empty for bounds, which need not be unique.
    values: tuple[tuple[Key, Value], ...] = ()
    #: For bounds, the least sum of |Δ|.
    amount: int = 0


def repairs(
    trace: Trace,
    kind: Kind,
    max_size: int,
    clocks: Iterable[str] | None = None,
    largest_delta: int | None = None,
) -> set[Repair]:
    """All repairs of minimal sets of at most `max_size` elements.

    `clocks` are those that constraints may be changed to, and whose resets may be changed; all of
    the automaton without it.  Bounds change by at most `largest_delta` upwards, by default one more
    than the largest constant of the trace and its property."""
    reach = largest_delta if largest_delta is not None else 1 + _largest_constant(trace)
    allowed = tuple(trace.automaton.clocks if clocks is None else clocks)
    choices = {
        key: choices_of(trace, key, kind, allowed, reach) for key in elements_of(trace, kind)
    }
    choices = {key: values for key, values in choices.items() if values}
    decide = _decider_of_resets(trace) if kind == "reset" else _decider(trace, kind, choices)
    result: set[Repair] = set()
    for size in range(1, max_size + 1):
        for elements in combinations(sorted(choices, key=repr), size):
            if not any(repair.elements < set(elements) for repair in result):
                result |= _repairs_of(elements, kind, choices, decide(elements))
    return result


def _repairs_of(
    elements: tuple[Key, ...],
    kind: Kind,
    choices: Mapping[Key, Sequence[Value]],
    works: _Decide,
) -> set[Repair]:
    assignments: Iterable[tuple[Value, ...]] = product(*(choices[key] for key in elements))
    if kind == "bound":
        for assignment in sorted(assignments, key=_amount):
            if works(assignment):
                return {Repair(frozenset(elements), amount=_amount(assignment))}
        return set()
    return {
        Repair(
            frozenset(elements),
            tuple((key, value) for key, value in zip(elements, assignment, strict=True)),
        )
        for assignment in assignments
        if works(assignment)
    }


def _amount(assignment: Iterable[Value]) -> int:
    return sum(abs(int(value)) for value in assignment)


def _largest_constant(trace: Trace) -> int:
    automaton = trace.automaton
    labels = [automaton.locations[number].invariant for number in states(trace)]
    labels += [automaton.edges[number].guard for number in trace.edges]
    return max((c.bound for label in (*labels, *trace.bad) for c in label), default=0)


def elements_of(trace: Trace, kind: Kind) -> set[Key]:
    """The elements on the trace that a repair of this kind may change."""
    automaton = trace.automaton
    if kind == "urgency":
        return {("urgency", number) for number in states(trace)}
    if kind == "reset":
        return {("reset", number, clock) for number in trace.edges for clock in automaton.clocks}
    labels = [automaton.locations[number].invariant for number in states(trace)]
    labels += [automaton.edges[number].guard for number in trace.edges]
    return {constraint.key for label in labels for constraint in label}


def choices_of(
    trace: Trace, key: Key, kind: Kind, clocks: Sequence[str], reach: int
) -> Sequence[Value]:
    """What the element may be changed to; of bounds, by how much."""
    automaton = trace.automaton
    if kind == "urgency":
        return [not automaton.locations[_number(key)].urgent]
    if kind == "reset":
        clock = str(key[2])
        return [clock not in automaton.edges[_number(key)].resets] if clock in clocks else []
    old = next(c for c in _label(automaton, key) if c.key == key)
    if kind == "operator":
        return [op for op in OPERATORS if op != old.op]
    if kind == "clock":
        return [clock for clock in clocks if clock != old.clock]
    return [delta for delta in range(-old.bound, reach + 1) if delta != 0]


def _number(key: Key) -> int:
    number = key[1]
    assert isinstance(number, int)
    return number


def _label(automaton: Automaton, key: Key) -> tuple[Constraint, ...]:
    if key[0] == "invariant":
        return automaton.locations[_number(key)].invariant
    return automaton.edges[_number(key)].guard


def changed(trace: Trace, key: Key, kind: Kind, value: Value) -> Trace:
    """The trace of the automaton in which one element is different."""
    automaton = trace.automaton
    locations, edges = list(automaton.locations), list(automaton.edges)
    number = _number(key)
    if kind == "urgency":
        locations[number] = replace(locations[number], urgent=bool(value))
    elif kind == "reset":
        resets = {*edges[number].resets, key[2]} if value else {*edges[number].resets} - {key[2]}
        edges[number] = replace(edges[number], resets=tuple(sorted(str(c) for c in resets)))
    else:
        label = tuple(
            _changed(constraint, kind, value) if constraint.key == key else constraint
            for constraint in _label(automaton, key)
        )
        if key[0] == "invariant":
            locations[number] = replace(locations[number], invariant=label)
        else:
            edges[number] = replace(edges[number], guard=label)
    return replace(
        trace, automaton=replace(automaton, locations=tuple(locations), edges=tuple(edges))
    )


def _changed(constraint: Constraint, kind: Kind, value: Value) -> Constraint:
    if kind == "operator":
        return replace(constraint, op=str(value))
    if kind == "clock":
        return replace(constraint, clock=str(value))
    return replace(constraint, bound=constraint.bound + int(value))


def _decider_of_resets(trace: Trace) -> Callable[[Sequence[Key]], _Decide]:
    """A reset changes what all later labels and the property mean, so everything is made anew."""

    def decide(elements: Sequence[Key]) -> _Decide:
        def works(assignment: Sequence[Value]) -> bool:
            other = trace
            for key, value in zip(elements, assignment, strict=True):
                other = changed(other, key, "reset", value)
            return feasible(other) and not violable(other)

        return works

    return decide


def _decider(
    trace: Trace, kind: Kind, choices: Mapping[Key, Sequence[Value]]
) -> Callable[[Sequence[Key]], _Decide]:
    """The other changes concern only the atoms of the changed elements."""
    whole, bad = system(trace), violations(trace)
    changes = {
        (key, value): [atom for k, atom in system(changed(trace, key, kind, value)) if k == key]
        for key, values in choices.items()
        for value in values
    }

    def decide(elements: Sequence[Key]) -> _Decide:
        rest = [atom for key, atom in whole if key not in elements]
        # Of the rest, only what it says about the points that the changes speak about matters.
        new = [atom for key in elements for v in choices[key] for atom in changes[key, v]]
        points = {point for atom in new for point in (atom.left, atom.right)}
        runs = project(rest, points)
        bad_runs = [project([*rest, *atoms], points) for atoms in bad]

        def works(assignment: Sequence[Value]) -> bool:
            demanded = [
                atom
                for key, value in zip(elements, assignment, strict=True)
                for atom in changes[key, value]
            ]
            if any(atoms is not None and satisfiable([*atoms, *demanded]) for atoms in bad_runs):
                return False
            return runs is not None and satisfiable([*runs, *demanded])

        return works

    return decide
