"""Checking an explanation by another road: is it a valid Hoare proof?

Each triple {P} s {R} of the proof is checked by its definition (Becker, section 3): is there a
configuration of P, a decomposition of s and a run along it that ends outside of R? Clocks and the
moments of Δ transitions are unknowns of linear constraints, which an SMT solver decides; neither
zones nor anything else of how the proof was found is used. Memory is taken as the images take it.

Decompositions into more parts than twice the number of states that time can reach are not looked
at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from whence.model.prd import EventTrace, PrdAutomaton
from whence.solve.linear import All, Any_, AtMost, Formula, Linear
from whence.source import UnsupportedError
from whence.triage import values as v
from whence.triage.conditions import Condition
from whence.triage.machine import Machine, Way, prepared
from whence.triage.replay import END, replay
from whence.triage.results import Assertion, Explanation, Literal_, StateAssertion
from whence.triage.values import Memory
from whence.zones.dates import FAR

__all__ = ["verify"]

_MOST_LITERALS = 10
_FALSE: Formula = Any_(())


def verify(automaton: PrdAutomaton, trace: EventTrace, explanation: Explanation) -> tuple[str, ...]:
    """What is wrong with the proof: nothing, if it is valid."""
    machine = prepared(automaton).machine(trace)
    shapes = _shapes(machine, trace, explanation)
    problems: list[str] = []
    start = machine.initial()
    if not explanation.rebased:
        failed = [segment for segment in replay(machine, trace) if segment.failed]
        start = failed[explanation.fault.number].initial
    if not _starts(machine, start, explanation.after[0]):
        problems.append("a configuration to begin with is not in the first assertion")
    for n, gap in enumerate(explanation.gaps):
        amount = int(gap.time * machine.scale)
        if not _valid(machine, explanation.after[n], amount, None, explanation.before[n]):
            problems.append(f"time {n} leads out of the assertion after it")
        if n < len(shapes):
            last = n + 1 == len(explanation.gaps)
            then = () if last else explanation.after[n + 1]
            if not _valid(machine, explanation.before[n], 0, shapes[n], then):
                problems.append(f"event {n} leads out of the assertion after it")
        elif explanation.before[n]:
            problems.append("the proof does not end with false")
    return tuple(problems)


def _shapes(machine: Machine, trace: EventTrace, explanation: Explanation) -> list[int]:
    gaps = len(explanation.gaps)
    kept = explanation.events[: gaps - explanation.of_time]
    shapes = [machine.common.patterns.shape(trace.events[n]) for n in kept]
    if not explanation.of_time and len(shapes) < gaps:
        shapes.append(END)
    return shapes


# -------------------------------------------------------------------------------------- unknowns


@dataclass(frozen=True, slots=True)
class _Run:
    """A run with unknown moments: it is in a state now, with the moments of the last resets."""

    state: int
    memory: Memory
    now: int
    resets: tuple[int, ...]
    constraints: tuple[Formula, ...]


def _difference(a: int, b: int, bound: int, strict: bool = False) -> Formula:
    """a - b <= bound."""
    if a == b:
        return All(()) if bound > 0 or (bound == 0 and not strict) else _FALSE
    return AtMost(((a, 1), (b, -1)), bound, strict)


def _bounds(run: _Run, rows: Sequence[Sequence[int]]) -> list[Formula]:
    """Rows (i, j, raw) on clocks: the value of a clock is now less its last reset."""
    moments = (run.now, *run.resets)
    # x_i - x_j = moment_j - moment_i, with x_0 = 0.
    return [
        _difference(moments[j], moments[i], raw >> 1, not raw & 1)
        for i, j, raw in rows
        if raw != FAR
    ]


def _clock_literal(machine: Machine, run: _Run, literal: Literal_) -> Formula:
    clocks = machine.common.clocks
    value = run.resets[clocks[literal.clock] - 1]
    other = run.resets[clocks[literal.minus] - 1] if literal.minus else run.now
    # The clock is now - value; less another clock it is other - value.
    c = int(literal.bound * machine.scale)
    if literal.operator in ("<", "<="):
        return _difference(other, value, c, literal.operator == "<")
    return _difference(value, other, -c, literal.operator == ">")


def _negated(formula: Formula) -> Formula:
    match formula:
        case AtMost():
            return formula.negated
        case All(parts):
            return Any_(tuple(_negated(part) for part in parts))
        case Any_(parts):
            return All(tuple(_negated(part) for part in parts))


def _cases(
    machine: Machine, assertion: StateAssertion, memory: Memory
) -> Iterator[tuple[Memory, list[list[Literal_]] | None]]:
    """The memory, cut along what the assertion says of it; for each part the clauses on clocks
    that are left, None if the assertion is false there."""
    literals = {literal for clause in assertion.clauses for literal in clause if literal.variable}
    if len(literals) > _MOST_LITERALS:
        raise UnsupportedError(
            f"the assertion of {assertion.state} says too much of memory to be checked"
        )
    ordered = sorted(literals, key=lambda literal: literal.text)
    for truths in product((True, False), repeat=len(ordered)):
        part: Memory | None = memory
        for literal, truth in zip(ordered, truths, strict=True):
            if part is None:
                break
            n = machine.common.variables[literal.variable]
            allowed = literal.values if truth else v.minus(machine.ranges[n], literal.values)
            common = v.meet(part[n], allowed)
            part = (*part[:n], common, *part[n + 1 :]) if common else None
        if part is None:
            continue
        known: Mapping[Literal_, bool] = dict(zip(ordered, truths, strict=True))
        left: list[list[Literal_]] | None = []
        for clause in assertion.clauses:
            if any(known.get(literal, False) for literal in clause):
                continue
            clocks = [literal for literal in clause if not literal.variable]
            if not clocks:
                left = None
                break
            assert left is not None
            left.append(clocks)
        yield part, left


def _formula(machine: Machine, run: _Run, clauses: Sequence[Sequence[Literal_]]) -> Formula:
    return All(
        tuple(
            Any_(tuple(_clock_literal(machine, run, literal) for literal in clause))
            for clause in clauses
        )
    )


def _always(machine: Machine, run: _Run, assertion: StateAssertion) -> Formula:
    return All(tuple(_clock_literal(machine, run, literal) for literal in assertion.always))


# ----------------------------------------------------------------------------------------- checks


def _outside(machine: Machine, linear: Linear, run: _Run, assertion: Assertion) -> bool:
    """Whether the run can end outside of the assertion."""
    name = machine.automaton.states[run.state].name
    here = next((each for each in assertion if each.state == name), None)
    if here is None:
        return _possible(linear, run)
    always = _always(machine, run, here)
    for _, left in _cases(machine, here, run.memory):
        if left is None:
            wrong: Formula = All(())
        elif left or here.always:
            wrong = Any_((_negated(always), _negated(_formula(machine, run, left))))
        else:
            continue
        if linear.solution([*run.constraints, wrong]) is not None:
            return True
    return False


def _possible(linear: Linear, run: _Run) -> bool:
    return linear.solution(run.constraints) is not None


def _start(machine: Machine, linear: Linear, state: int, memory: Memory) -> _Run:
    now, *resets = linear.variables(machine.clocks + 1)
    constraints = [_difference(now, now, 0), *(_difference(r, now, 0) for r in resets)]
    return _Run(state, memory, now, tuple(resets), tuple(constraints))


def _starts(machine: Machine, start: Condition, assertion: Assertion) -> bool:
    for state, cells in start.items():
        for memory, zone in cells:
            linear = Linear()
            run = _start(machine, linear, state, memory)
            rows = [
                (i, j, raw)
                for i, row in enumerate(zone.tolist())
                for j, raw in enumerate(row)
                if i != j
            ]
            run = _Run(state, memory, run.now, run.resets, (*run.constraints, *_bounds(run, rows)))
            if _outside(machine, linear, run, assertion):
                return False
    return True


def _valid(
    machine: Machine, before: Assertion, amount: int, shape: int | None, after: Assertion
) -> bool:
    """Whether {before} s {after} is valid, for time (`shape` None) or an event."""
    for assertion in before:
        state = machine.common.numbers[assertion.state]
        for memory, clauses in _cases(machine, assertion, machine.ranges):
            if clauses is None:
                continue
            linear = Linear()
            run = _start(machine, linear, state, memory)
            given = (_formula(machine, run, clauses), _always(machine, run, assertion))
            run = _Run(state, memory, run.now, run.resets, (*run.constraints, *given))
            if shape is None:
                longest = 2 * len(machine.reach(state))
                ends = _waits(machine, linear, run, run.now, amount, longest)
            else:
                ends = _events(machine, run, shape)
            if any(_outside(machine, linear, end, after) for end in ends):
                return False
    return True


def _events(machine: Machine, run: _Run, shape: int) -> Iterator[_Run]:
    if shape == END:
        if not machine.automaton.states[run.state].awaits:
            yield run
        return
    for way in machine.moves(run.state, shape):
        yield from _taken(way, run)


def _taken(way: Way, run: _Run) -> Iterator[_Run]:
    guard = _bounds(run, way.constraints.tolist())
    resets = list(run.resets)
    for clock in way.resets.tolist():
        resets[clock - 1] = run.now
    for memory in way.after(run.memory):
        yield _Run(way.target, memory, run.now, tuple(resets), (*run.constraints, *guard))


def _waits(
    machine: Machine, linear: Linear, run: _Run, start: int, amount: int, longest: int
) -> Iterator[_Run]:
    if not amount:
        yield run
    pending = [(run, 0)]
    while pending:
        here, length = pending.pop()
        (moment,) = linear.variables(1)
        ordered = (_difference(here.now, moment, 0), _difference(moment, start, amount))
        later = _Run(here.state, here.memory, moment, here.resets, (*here.constraints, *ordered))
        steps = [end for way in machine.waits(here.state) for end in _taken(way, later)]
        if machine.idle[here.state]:
            # Waiting idly matters last only: it can be put together with the step after it.
            yield _at(later, start, amount)
        for end in steps:
            if _possible(linear, end):
                yield _at(end, start, amount)
                if length + 1 < longest:
                    pending.append((end, length + 1))


def _at(run: _Run, start: int, amount: int) -> _Run:
    last = _difference(start, run.now, -amount)
    return _Run(run.state, run.memory, run.now, run.resets, (*run.constraints, last))
