"""The timed diagnostic trace as a constraint system (Koelbl, Definition 37), each constraint with
the element of the model that demands it.

With T_j the moment at which state j is entered and T_{n+1} the end, a clock is the difference of
two of them, and every constraint of the trace one on such a difference.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from whence.explore.check import Checker
from whence.explore.goals import Alternative, alternatives, negation
from whence.explore.realize import Realization, realize
from whence.explore.symbolic import Comparison, Constraint, SymbolicInterpreter
from whence.explore.traces import Path, goal_constraints, walk
from whence.expr.tree import Deadlock, Expr, InLocation
from whence.expr.types import ConstraintType
from whence.expr.walk import subexpressions
from whence.model.network import Query
from whence.model.trace import TimedTrace, Transition
from whence.source import NOWHERE, Diagnostic, InputError, Origin, UnsupportedError

__all__ = [
    "DiagnosticTrace",
    "Fixed",
    "Occurrence",
    "SetClock",
    "Visit",
    "diagnose",
    "require_safety",
]


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A comparison that must hold at moment `moment` (the state index, or one more for after its
    delay); clocks are as they were set on the way to state `state`. Invariants hold at both
    ends of their state, guards at the end of the one they lead out of."""

    process: int
    comparison: Comparison
    state: int
    moment: int
    guard: bool


@dataclass(frozen=True, slots=True)
class Fixed:
    """A constraint that no element stands for: that a receiver of a broadcast is kept out, or
    that nothing of higher priority can happen."""

    constraint: Constraint
    state: int
    moment: int


@dataclass(frozen=True, slots=True)
class SetClock:
    """On the way to state `state`, update number `update` of an edge sets a clock; -1: something
    else there does, such as a function."""

    process: int
    edge: int
    update: int
    clock: int
    value: int
    state: int


@dataclass(frozen=True, slots=True)
class Visit:
    """A state on the trace: who is where, and why no time can pass, if so: `urgent` are the
    processes in urgent locations, `hurry` says that there is another reason."""

    locations: tuple[int, ...]
    urgent: tuple[int, ...]
    hurry: bool


@dataclass(frozen=True, slots=True)
class DiagnosticTrace:
    """T and not-Phi of a trace: `bad` are the alternatives of the negated property, each a
    conjunction of clock constraints at the end of the trace."""

    path: Path
    clocks: tuple[str, ...]
    visits: tuple[Visit, ...]
    occurrences: tuple[Occurrence, ...]
    fixed: tuple[Fixed, ...]
    sets: tuple[SetClock, ...]
    bad: tuple[tuple[Constraint, ...], ...]
    realization: TimedTrace

    @property
    def length(self) -> int:
        """n: the number of transitions; there are n + 1 delays and n + 2 moments."""
        return len(self.path.transitions)

    @property
    def transitions(self) -> tuple[Transition, ...]:
        return self.path.transitions


def require_safety(query: Query) -> Expr:
    """The state formula of a timed safety property; an error for any other query."""
    if query.kind != "A[]" or query.predicate is None:
        hint = ""
        if query.kind == "E<>":
            hint = "to ask why something is reachable that should not be, ask `A[] not (...)`"
        raise UnsupportedError(
            Diagnostic(
                f"`{query.kind}` is no timed safety property: only `A[]` queries are explained "
                "and repaired",
                query.origin,
                hint,
            )
        )
    if any(isinstance(part, Deadlock) for part in subexpressions(query.predicate)):
        raise UnsupportedError(
            Diagnostic(
                "`deadlock` is outside timed safety: a property of locations, data and clocks "
                "is needed",
                query.origin,
            )
        )
    return query.predicate


def speaks_of_clocks(formula: Expr) -> bool:
    return any(
        isinstance(part.type, ConstraintType) and not isinstance(part, InLocation)
        for part in subexpressions(formula)
    )


def diagnose(
    checker: Checker,
    query: Query,
    transitions: Sequence[Transition],
    realization: Realization = "earliest",
    origin: Origin = NOWHERE,
) -> DiagnosticTrace:
    """The trace along these transitions. Raises InputError if it is none of this model, saying
    at which step, or if none of its runs violates the property."""
    predicate = require_safety(query)
    interpreter = checker.interpreter
    goals = alternatives(negation(predicate))
    found = False
    best: tuple[TimedTrace, Path] | None = None
    for path in walk(interpreter, transitions):
        found = True
        for bad in _bad(interpreter, goals, path):
            if realize(path.moments, bad, "earliest") is None:
                continue
            trace = path.trace(interpreter, bad, realization)
            assert trace is not None
            if best is None or trace.duration < best[0].duration:
                best = trace, path
    if not found:
        raise _foreign(interpreter, transitions, origin)
    if best is None:
        raise InputError(
            Diagnostic(
                f"no run along this trace violates `{query.text}`",
                origin,
                "was it made for another property, or with another version of the model?",
            )
        )
    return _build(checker, best[1], tuple(_bad(interpreter, goals, best[1])), best[0])


def _bad(
    interpreter: SymbolicInterpreter, goals: Sequence[Alternative], path: Path
) -> Iterator[tuple[Constraint, ...]]:
    yield from goal_constraints(interpreter, goals, path.moments[-1])


def _foreign(
    interpreter: SymbolicInterpreter, transitions: Sequence[Transition], origin: Origin
) -> InputError:
    """The error that names the first step that the model cannot take."""
    for step in range(1, len(transitions) + 1):
        if not any(True for _ in walk(interpreter, transitions[:step])):
            action = transitions[step - 1].action
            return InputError(
                Diagnostic(
                    f"step {step} (`{action}`) of the trace is not possible in this model",
                    origin,
                    "was it made with this version of the model?",
                )
            )
    return InputError(Diagnostic("the initial state violates an invariant", origin))


def _build(
    checker: Checker,
    path: Path,
    bad: tuple[tuple[Constraint, ...], ...],
    realization: TimedTrace,
) -> DiagnosticTrace:
    interpreter = checker.interpreter
    network = checker.network
    visits: list[Visit] = []
    occurrences: list[Occurrence] = []
    fixed: list[Fixed] = []
    sets: list[SetClock] = []
    for state, moment in enumerate(path.moments):
        if state:
            transition = path.transitions[state - 1]
            before = path.moments[state - 1]
            guards = list(_guards(interpreter, before.locations, before.values, transition, state))
            occurrences += guards
            known = [c for guard in guards for c in guard.comparison.constraints]
            for constraint in moment.guard:
                if constraint in known:
                    known.remove(constraint)
                else:
                    fixed.append(Fixed(constraint, state - 1, state))
            sets += _sets(interpreter, before.locations, before.values, transition, state)
        store = interpreter.store(moment.locations, moment.values)
        urgent = []
        hurry = False
        for number, (process, at) in enumerate(
            zip(network.processes, moment.locations, strict=True)
        ):
            location = process.locations[at]
            if location.kind == "urgent":
                urgent.append(number)
            hurry = hurry or location.kind == "committed"
            if location.invariant is not None:
                for comparison in interpreter.comparisons(location.invariant, store) or ():
                    for when in (state, state + 1):
                        occurrences.append(Occurrence(number, comparison, state, when, False))
        # What is left is a synchronisation that may not wait.
        hurry = (
            hurry
            or (moment.still and not urgent)
            or _hurried(interpreter, moment.locations, moment.values, urgent)
        )
        visits.append(Visit(moment.locations, tuple(urgent), hurry))
    return DiagnosticTrace(
        path,
        tuple(checker.compiled.layout.clocks),
        tuple(visits),
        tuple(occurrences),
        tuple(fixed),
        tuple(sets),
        bad,
        realization,
    )


def _hurried(
    interpreter: SymbolicInterpreter,
    locations: Sequence[int],
    values: Sequence[int],
    urgent: Sequence[int],
) -> bool:
    """Whether a state would let no time pass even if its urgent locations were not urgent."""
    if not urgent:
        return False
    return any(candidate.urgent for candidate in interpreter.candidates(locations, values))


def _guards(
    interpreter: SymbolicInterpreter,
    locations: Sequence[int],
    values: Sequence[int],
    transition: Transition,
    state: int,
) -> Iterator[Occurrence]:
    for use in transition.uses:
        edge = interpreter.compiled.network.processes[use.process].edges[use.edge]
        if edge.guard is None:
            continue
        store = interpreter.store(locations, values)
        for select, value in zip(edge.selects, use.selects, strict=True):
            store.bind(select.symbol, value)
        for comparison in interpreter.comparisons(edge.guard, store) or ():
            yield Occurrence(use.process, comparison, state - 1, state, True)


def _sets(
    interpreter: SymbolicInterpreter,
    locations: Sequence[int],
    values: Sequence[int],
    transition: Transition,
    state: int,
) -> Iterator[SetClock]:
    """The clocks that each update sets, in the order in which that happens."""
    network = interpreter.compiled.network
    current = tuple(values)
    for use in transition.uses:
        edge = network.processes[use.process].edges[use.edge]
        store = interpreter.store(locations, current)
        for select, value in zip(edge.selects, use.selects, strict=True):
            store.bind(select.symbol, value)
        for number, update in enumerate(edge.updates):
            for clock, value in interpreter.clocks_set(update, store):
                yield SetClock(use.process, use.edge, number, clock, value, state)
        current = tuple(store.data)


def with_realization(trace: DiagnosticTrace, delays: Sequence[Fraction]) -> TimedTrace:
    """The trace with these delays, to be shown."""
    return replace(trace.realization, delays=tuple(delays))
