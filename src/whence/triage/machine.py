"""A PRD automaton prepared for images: states and transitions by number, transitions by the
patterns of their events, guards taken apart when they are first used, dates as integers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np

from whence.model.prd import (
    TRUE,
    AllOf,
    AnyOf,
    Arithmetic,
    Captured,
    Clock,
    ClockBound,
    Comparison,
    EventTrace,
    FieldValue,
    Guard,
    Not,
    PrdAutomaton,
    PrdTransition,
    Read,
    Term,
    Variable,
)
from whence.source import Diagnostic, InputError, Origin
from whence.triage import values as v
from whence.triage.guards import (
    Alternative,
    Effect,
    Relation,
    Scope,
    after_assignments,
    alternatives,
    before_assignments,
    effects,
    restricted,
)
from whence.triage.invariants import invariants
from whence.triage.patterns import Patterns, check_pattern
from whence.triage.values import Memory, Values
from whence.zones.dates import LARGEST, WIDEST, Dates, anything, at_most, close_dates

__all__ = ["Machine", "Prepared", "Way", "prepared"]

_NO_CONSTRAINTS = np.empty((0, 3), np.int64)
_NO_RESETS = np.empty(0, np.int64)
#: So many shapes of events are kept before all are dropped.
_MOST_SHAPES = 100_000


@dataclass(frozen=True, slots=True, eq=False)
class Way:
    """One alternative of a transition, with captured values put in."""

    source: int
    target: int
    transition: int
    sets: Mapping[int, Values]
    relations: tuple[Relation, ...]
    effects: tuple[Effect, ...]
    constraints: Dates
    resets: Dates
    scope: Scope
    timeless: bool
    memoryless: bool

    def after(self, memory: Memory) -> list[Memory]:
        if self.memoryless:
            return [memory]
        found = restricted(memory, self.sets, self.relations, self.scope)
        if not self.effects:
            return found
        return [m for one in found for m in after_assignments(one, self.effects, self.scope)]

    def before(self, memory: Memory) -> list[Memory]:
        if self.memoryless:
            return [memory]
        relations = self.relations
        if self.effects:
            found = before_assignments(memory, self.effects, self.scope)
            if found is None:
                return []
            memory, more = found
            relations += more
        return restricted(memory, self.sets, relations, self.scope)


class Prepared:
    """What does not depend on the scale of dates."""

    def __init__(self, automaton: PrdAutomaton) -> None:
        _check(automaton)
        self.automaton = automaton
        self.numbers = {state.name: number for number, state in enumerate(automaton.states)}
        self.variables = {variable.name: n for n, variable in enumerate(automaton.variables)}
        self.clocks = {clock.name: n + 1 for n, clock in enumerate(automaton.clocks)}
        self.ranges: Memory = tuple(v.span(x.low, x.high) for x in automaton.variables)
        transitions = automaton.transitions
        self.source = [self.numbers[t.source] for t in transitions]
        self.target = [self.numbers[t.target] for t in transitions]
        self.patterns = Patterns(
            (t.pattern, _captured(t)) for t in transitions if t.pattern is not None
        )
        states = len(automaton.states)
        self.on_event: list[dict[int, list[int]]] = [{} for _ in range(states)]
        self.on_time: list[list[int]] = [[] for _ in range(states)]
        self.into_on_time: list[list[int]] = [[] for _ in range(states)]
        #: Whether time may pass as it likes and nothing happens.
        self.idle = [False] * states
        numbers = self.patterns.numbers
        # Equal patterns are mostly one object, and hashing them again costs time.
        known: dict[int, int] = {}
        for n, transition in enumerate(transitions):
            pattern = transition.pattern
            if pattern is not None:
                number = known.get(id(pattern))
                if number is None:
                    number = known[id(pattern)] = numbers[pattern]
                self.on_event[self.source[n]].setdefault(number, []).append(n)
            elif _identity(transition):
                self.idle[self.source[n]] = True
            else:
                self.on_time[self.source[n]].append(n)
                self.into_on_time[self.target[n]].append(n)
        self.denominator = lcm(*(b.denominator for b in _bounds_of(automaton)), 1)
        self.largest = max((abs(b) for b in _bounds_of(automaton)), default=Fraction(0))
        self._machines: dict[int, Machine] = {}

    def machine(self, trace: EventTrace) -> Machine:
        """The automaton with dates scaled so that those of the trace are integers."""
        dates = [event.date for event in trace.events]
        dates += [date for date in (trace.start, trace.end) if date is not None]
        scale = lcm(self.denominator, *{date.denominator for date in dates})
        usual = lcm(self.denominator, 1_000_000)
        if usual % scale == 0:
            scale = usual
        length = max(dates) - min(dates) if dates else Fraction(0)
        if (length + self.largest + 1) * scale > LARGEST:
            raise InputError(
                Diagnostic(
                    f"the dates of the trace {trace.name} and the bounds of the model are too far"
                    f" apart, or too finely divided: multiples of 1/{scale} s",
                    trace.origin,
                    "round the dates, to microseconds for example",
                )
            )
        found = self._machines.get(scale)
        if found is None:
            while len(self._machines) > 3:
                self._machines.pop(next(iter(self._machines)))
            found = self._machines[scale] = Machine(self, scale)
        elif len(self.patterns.shapes) > _MOST_SHAPES:
            self.patterns.forget()
            for machine in self._machines.values():
                machine.forget()
        return found


_recent: list[Prepared] = []


def prepared(automaton: PrdAutomaton) -> Prepared:
    """The automaton, prepared; the last few are kept."""
    for found in _recent:
        if found.automaton is automaton:
            return found
    found = Prepared(automaton)
    _recent.insert(0, found)
    del _recent[4:]
    return found


class Machine:
    """Images need to know of the automaton only what is here."""

    def __init__(self, common: Prepared, scale: int) -> None:
        self.common = common
        self.scale = scale
        self.automaton = common.automaton
        self.clocks = len(common.automaton.clocks)
        if self.clocks + 2 > WIDEST:
            raise InputError(Diagnostic(f"more than {WIDEST - 2} clocks", common.automaton.origin))
        self.idle = common.idle
        self.only_idle = [
            idle and not others for idle, others in zip(common.idle, common.on_time, strict=True)
        ]
        self.ranges = common.ranges
        self._moves: dict[tuple[int, int], tuple[Way, ...]] = {}
        self._waits: dict[int, tuple[Way, ...]] = {}
        self._waits_into: dict[int, tuple[Way, ...]] = {}
        self._ways: dict[tuple[int, tuple[tuple[str, FieldValue], ...]], tuple[Way, ...]] = {}
        self._reach: dict[int, tuple[int, ...]] = {}
        self._within: tuple[Dates, ...] | None = None
        #: Templates that were made, see :mod:`whence.triage.templates`.
        self.templates: dict[object, object] = {}

    @property
    def unbounded(self) -> Machine:
        """The same without bounds that hold in all runs."""
        found = copy(self)
        found._within = (_NO_CONSTRAINTS,) * len(self.automaton.states)
        found.templates = {}
        return found

    def forget(self) -> None:
        """Drop what was kept of events."""
        self._moves.clear()
        self._ways.clear()
        self.templates.clear()

    def moves(self, state: int, shape: int) -> tuple[Way, ...]:
        """The ways from a state on events of a shape."""
        key = (state, shape)
        found = self._moves.get(key)
        if found is None:
            by_pattern = self.common.on_event[state]
            found = self._moves[key] = tuple(
                way
                for pattern, captured in self.common.patterns.shapes[shape]
                for transition in by_pattern.get(pattern, ())
                for way in self.ways(transition, captured)
            )
        return found

    def waits(self, state: int) -> tuple[Way, ...]:
        """The ways from a state on time, but for waiting idly."""
        found = self._waits.get(state)
        if found is None:
            found = self._waits[state] = tuple(
                way for n in self.common.on_time[state] for way in self.ways(n, ())
            )
        return found

    def waits_into(self, state: int) -> tuple[Way, ...]:
        found = self._waits_into.get(state)
        if found is None:
            found = self._waits_into[state] = tuple(
                way for n in self.common.into_on_time[state] for way in self.ways(n, ())
            )
        return found

    def reach(self, state: int) -> tuple[int, ...]:
        """The states that time may lead to, ascending, with the state itself."""
        found = self._reach.get(state)
        if found is None:
            seen = {state}
            pending = [state]
            while pending:
                for n in self.common.on_time[pending.pop()]:
                    if self.common.target[n] not in seen:
                        seen.add(self.common.target[n])
                        pending.append(self.common.target[n])
            found = self._reach[state] = tuple(sorted(seen))
        return found

    def ways(self, number: int, captured: tuple[tuple[str, FieldValue], ...]) -> tuple[Way, ...]:
        key = (number, captured)
        found = self._ways.get(key)
        if found is None:
            found = self._ways[key] = tuple(self._make(number, dict(captured)))
        return found

    def scope(self, captured: Mapping[str, FieldValue], origin: Origin) -> Scope:
        return Scope(self.automaton.variables, self.common.variables, captured, origin)

    def _make(self, number: int, captured: Mapping[str, FieldValue]) -> Iterator[Way]:
        transition = self.automaton.transitions[number]
        scope = self.scope(captured, transition.origin)
        assigned = effects([(a.variable, a.value) for a in transition.assignments], scope)
        if assigned is None:
            return
        resets = np.array(sorted(self.common.clocks[c] for c in transition.resets), np.int64)
        for alternative in alternatives(transition.guard, scope):
            constraints = self.constraints(alternative)
            yield Way(
                source=self.common.source[number],
                target=self.common.target[number],
                transition=number,
                sets=alternative.sets,
                relations=alternative.relations,
                effects=assigned,
                constraints=constraints,
                resets=resets if len(resets) else _NO_RESETS,
                scope=scope,
                timeless=not len(constraints) and not len(resets),
                memoryless=not (alternative.sets or alternative.relations or assigned),
            )

    def constraints(self, alternative: Alternative) -> Dates:
        """The clock bounds of an alternative, as rows (i, j, raw)."""
        rows = []
        for clock, minus, operator, bound in alternative.clocks:
            i, j = self.common.clocks[clock], self.common.clocks[minus] if minus else 0
            c = int(bound * self.scale)
            if operator in ("<", "<=", "=="):
                rows.append((i, j, at_most(c, operator == "<")))
            if operator in (">", ">=", "=="):
                rows.append((j, i, at_most(-c, operator == ">")))
        return np.array(rows, np.int64).reshape(-1, 3) if rows else _NO_CONSTRAINTS

    def initial(self) -> dict[int, list[tuple[Memory, Dates]]]:
        """The initial condition (Becker, section 3)."""
        found: dict[int, list[tuple[Memory, Dates]]] = {}
        memory = tuple(
            values if x.initial is None else v.single(x.initial)
            for values, x in zip(self.ranges, self.automaton.variables, strict=True)
        )
        zone = anything(self.clocks + 1, self.clocks)
        for n, clock in enumerate(self.automaton.clocks):
            if clock.initial is not None:
                c = int(clock.initial * self.scale)
                zone[n + 1, 0], zone[0, n + 1] = at_most(c), at_most(-c)
        close_dates(zone)
        for start in self.automaton.initial:
            scope = self.scope({}, self.automaton.origin)
            for alternative in alternatives(start.guard, scope):
                d = zone.copy()
                for i, j, raw in self.constraints(alternative).tolist():
                    d[i, j] = min(d[i, j], raw)
                if close_dates(d):
                    cells = found.setdefault(self.common.numbers[start.state], [])
                    products = restricted(memory, alternative.sets, alternative.relations, scope)
                    cells += [(one, d) for one in products]
        return {state: cells for state, cells in found.items() if cells}

    @property
    def within(self) -> tuple[Dates, ...]:
        """For each state, bounds on clocks that hold in all configurations of runs."""
        if self._within is None:
            self._within = invariants(self.automaton, self.common.numbers, self.scale)
        return self._within


# ---------------------------------------------------------------------------------------- checks


def _identity(transition: PrdTransition) -> bool:
    return (
        transition.source == transition.target
        and transition.guard == TRUE
        and not transition.assignments
        and not transition.resets
    )


def _bounds_of(automaton: PrdAutomaton) -> set[Fraction]:
    found = {clock.initial for clock in automaton.clocks if clock.initial is not None}
    seen: set[int] = set()
    guards = [t.guard for t in automaton.transitions] + [i.guard for i in automaton.initial]
    for guard in guards:
        if id(guard) not in seen:
            seen.add(id(guard))
            found.update(part.bound for part in _parts(guard) if isinstance(part, ClockBound))
    return found


def _parts(guard: Guard) -> Iterator[Guard]:
    pending = [guard]
    while pending:
        part = pending.pop()
        yield part
        if isinstance(part, AllOf | AnyOf):
            pending += part.parts
        elif isinstance(part, Not):
            pending.append(part.part)


def _reads(term: Term) -> Iterator[Term]:
    pending = [term]
    while pending:
        part = pending.pop()
        yield part
        if isinstance(part, Arithmetic):
            pending += (part.left, part.right)


def _captured(transition: PrdTransition) -> frozenset[str]:
    """The captured values that the guard and the updates read."""
    if transition.guard == TRUE and not transition.assignments:
        return frozenset()
    terms = [assignment.value for assignment in transition.assignments]
    for part in _parts(transition.guard):
        if isinstance(part, Comparison):
            terms += (part.left, part.right)
    return frozenset(t.name for term in terms for t in _reads(term) if isinstance(t, Captured))


def _check(automaton: PrdAutomaton) -> None:
    """Raises InputError where names are unknown or given twice, or values out of range."""
    problems: list[Diagnostic] = []

    def complain(message: str, origin: Origin, hint: str = "") -> None:
        if len(problems) < 20:
            problems.append(Diagnostic(message, origin, hint))

    states: set[str] = set()
    for state in automaton.states:
        if state.name in states:
            complain(f"there are two states {state.name}", state.origin)
        states.add(state.name)
    names: set[str] = set()
    things: list[Variable | Clock] = [*automaton.variables, *automaton.clocks]
    for thing in things:
        if thing.name in names:
            complain(f"there are two variables or clocks {thing.name}", thing.origin)
        names.add(thing.name)
    variables = {variable.name for variable in automaton.variables}
    clocks = {clock.name for clock in automaton.clocks}
    for variable in automaton.variables:
        if variable.low > variable.high:
            complain(f"the variable {variable.name} has no values", variable.origin)
        elif variable.names and (variable.low, variable.high) != (0, len(variable.names) - 1):
            complain(
                f"the values of the enumeration {variable.name} are not 0 to"
                f" {len(variable.names) - 1}",
                variable.origin,
            )
        elif variable.initial is not None and not (
            variable.low <= variable.initial <= variable.high
        ):
            complain(
                f"the initial value {variable.initial} of {variable.name} is out of its range",
                variable.origin,
            )
    for clock in automaton.clocks:
        if clock.initial is not None and clock.initial < 0:
            complain(f"the clock {clock.name} is negative at first", clock.origin)
    if not automaton.initial:
        complain(
            "the model has no initial state",
            automaton.origin,
            "say in which state a trace begins",
        )

    def check_terms(guard: Guard, origin: Origin, captures: bool) -> None:
        for part in _parts(guard):
            if isinstance(part, ClockBound):
                for clock in (part.clock, *((part.minus,) if part.minus else ())):
                    if clock not in clocks:
                        complain(f"there is no clock {clock}", origin)
                if part.clock == part.minus:
                    complain(f"the clock {part.clock} is compared with itself", origin)
            elif isinstance(part, Comparison):
                for term in (*_reads(part.left), *_reads(part.right)):
                    check_term(term, origin, captures)

    def check_term(term: Term, origin: Origin, captures: bool) -> None:
        if isinstance(term, Read) and term.variable not in variables:
            complain(f"there is no variable {term.variable}", origin)
        if isinstance(term, Captured) and not captures:
            complain(f"{term.name}: nothing is captured here", origin)

    for start in automaton.initial:
        if start.state not in states:
            complain(f"there is no state {start.state}", automaton.origin)
        check_terms(start.guard, automaton.origin, False)
    seen: set[int] = set()
    for transition in automaton.transitions:
        for name in (transition.source, transition.target):
            if name not in states:
                complain(f"there is no state {name}", transition.origin)
        if transition.pattern is not None and id(transition.pattern) not in seen:
            seen.add(id(transition.pattern))
            check_pattern(transition.pattern)
        captures = transition.pattern is not None
        check_terms(transition.guard, transition.origin, captures)
        for assignment in transition.assignments:
            if assignment.variable not in variables:
                complain(f"there is no variable {assignment.variable}", transition.origin)
            for term in _reads(assignment.value):
                check_term(term, transition.origin, captures)
        if len({a.variable for a in transition.assignments}) < len(transition.assignments):
            complain("a variable is assigned twice", transition.origin)
        for clock_name in transition.resets:
            if clock_name not in clocks:
                complain(f"there is no clock {clock_name}", transition.origin)
    if problems:
        raise InputError(problems)
