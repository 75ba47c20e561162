"""PRD automata, their runs, and Hoare proofs, written down from the definitions of Becker et al.,
"Model-based Fault Classification for Automotive Software" (2022). Nothing here is shared with the
package.

**Runs on a grid.**  All constants and all dates of events are integers.  Δ transitions may be taken
at any real time, but whether a run with given transitions exists is a question of difference
constraints with integer bounds over the moments of its Δ transitions (and of the last resets before
the start).  If these are fewer than G, and there is a solution, then there is one in multiples of
1/G.  So :func:`post_time` goes through all configurations whose clocks are multiples of 1/G, tick
by tick.  With a tick, configurations *wait*; a Δ transition is taken from a waiting configuration
at any tick (decomposition (TEQ) in all ways); at the end a Δ transition must just have been taken,
unless no time has passed at all (stuttering).

**Proofs.**  :func:`triple_is_valid` is the definition of section 3 put to z3: there is no
configuration of the precondition, no decomposition and no run from one to the other that ends
outside of the postcondition.  Memory is enumerated, clocks and moments are reals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any, Literal, TypeAlias

import z3

__all__ = [
    "Automaton",
    "Config",
    "Step",
    "can_continue",
    "first_fault",
    "implies",
    "initial",
    "post_event",
    "post_time",
    "similar",
    "triple_is_valid",
]

#: (state, values of variables, values of clocks in ticks)
Config: TypeAlias = tuple[int, tuple[int, ...], tuple[int, ...]]

Op = Literal["<", "<=", "==", ">=", ">", "!="]


@dataclass(frozen=True)
class Step:
    """A transition: on the event `label`, or (None) on time. `value` of the event may have to be
    that of a variable (`same`), and may be stored (`store`). `increments` add 1."""

    source: int
    target: int
    label: str | None
    clocks: tuple[tuple[int, Op, int], ...] = ()
    memory: tuple[tuple[int, Op, int], ...] = ()
    same: int | None = None
    resets: tuple[int, ...] = ()
    sets: tuple[tuple[int, int], ...] = ()
    store: int | None = None
    increments: int | None = None


@dataclass(frozen=True)
class Automaton:
    states: int
    variables: int
    highest: int
    clocks: int
    steps: tuple[Step, ...]
    awaiting: frozenset[int] = frozenset()
    #: None: any value at first.
    memory_at_first: tuple[int | None, ...] = ()
    clocks_at_first: tuple[int | None, ...] = ()

    @property
    def largest(self) -> int:
        return max((abs(b) for step in self.steps for _, _, b in step.clocks), default=0)


Event: TypeAlias = tuple[str, int]


def holds(left: Any, op: Op, right: Any) -> Any:
    match op:
        case "<":
            return left < right
        case "<=":
            return left <= right
        case "==":
            return left == right
        case ">=":
            return left >= right
        case ">":
            return left > right
        case "!=":
            return left != right


def memory_after(
    automaton: Automaton, step: Step, memory: tuple[int, ...], value: int
) -> tuple[int, ...] | None:
    """The memory after a step, None if its guard forbids it."""
    if not all(holds(memory[n], op, bound) for n, op, bound in step.memory):
        return None
    if step.same is not None and memory[step.same] != value:
        return None
    after = list(memory)
    for n, constant in step.sets:
        after[n] = constant
    if step.store is not None:
        after[step.store] = value
    if step.increments is not None:
        after[step.increments] = memory[step.increments] + 1
    if any(not 0 <= x <= automaton.highest for x in after):
        return None
    return tuple(after)


# ------------------------------------------------------------------------------ runs on a grid


def _taken(
    automaton: Automaton, configs: Iterable[Config], event: Event | None, grid: int
) -> set[Config]:
    label, value = event if event is not None else (None, 0)
    found = set()
    for state, memory, clocks in configs:
        for step in automaton.steps:
            if step.source != state or step.label != label:
                continue
            if not all(holds(clocks[c], op, bound * grid) for c, op, bound in step.clocks):
                continue
            after = memory_after(automaton, step, memory, value)
            if after is not None:
                reset = tuple(0 if c in step.resets else x for c, x in enumerate(clocks))
                found.add((step.target, after, reset))
    return found


def initial(automaton: Automaton, grid: int) -> set[Config]:
    """All initial configurations; clocks up to where more makes no difference."""
    memories = [
        range(automaton.highest + 1) if first is None else [first]
        for first in automaton.memory_at_first
    ]
    clocks = [
        range((automaton.largest + 1) * grid + 1) if first is None else [first * grid]
        for first in automaton.clocks_at_first
    ]
    return {(0, m, c) for m in product(*memories) for c in product(*clocks)}


def post_event(automaton: Automaton, configs: set[Config], event: Event, grid: int) -> set[Config]:
    return _taken(automaton, configs, event, grid)


def post_time(automaton: Automaton, configs: set[Config], time: int, grid: int) -> set[Config]:
    waiting = set(configs)
    for tick in range(time * grid + 1):
        if tick:
            waiting = {(s, m, tuple(x + 1 for x in c)) for s, m, c in waiting}
        arrived = _closure(automaton, waiting, grid)
        if tick == time * grid:
            return arrived | configs if time == 0 else arrived
        waiting |= arrived
    raise AssertionError


def _closure(automaton: Automaton, waiting: set[Config], grid: int) -> set[Config]:
    """What one Δ transition or more lead to in no time."""
    arrived: set[Config] = set()
    fresh = waiting
    while fresh:
        fresh = _taken(automaton, fresh, None, grid) - arrived
        arrived |= fresh
    return arrived


#: A trace: times and events in turn, a time last.
Trace: TypeAlias = tuple[tuple[int, ...], tuple[Event, ...]]


def first_fault(automaton: Automaton, trace: Trace, grid: int) -> tuple[str, int] | None:
    """("time", n): time n cannot pass; ("event", n): event n is not possible; ("end", n): the
    trace is over too early."""
    times, events = trace
    configs = initial(automaton, grid)
    for n, time in enumerate(times):
        configs = post_time(automaton, configs, time, grid)
        if not configs:
            return "time", n
        if n < len(events):
            configs = post_event(automaton, configs, events[n], grid)
            if not configs:
                return "event", n
    if all(state in automaton.awaiting for state, _, _ in configs):
        return "end", len(events)
    return None


def can_continue(
    automaton: Automaton,
    config: Config,
    rest: Sequence[int | Event | None],
    inside: Sequence[frozenset[int]],
    grid: int,
) -> bool:
    """Whether a run from here along the rest of a trace (times, events, None for its end) comes to
    its end, or on the way to a state that is not inside."""
    configs = {config}
    for step, states in zip(rest, inside, strict=True):
        if step is None:
            configs = {c for c in configs if c[0] not in automaton.awaiting}
        elif isinstance(step, int):
            configs = post_time(automaton, configs, step, grid)
        else:
            configs = post_event(automaton, configs, step, grid)
        if any(c[0] not in states for c in configs):
            return True
    return bool(configs)


# -------------------------------------------------------------------------------- Hoare triples

#: What a condition says of a state, given the memory and terms for the clocks: a z3 formula. States
#: that it does not have are false.
Condition: TypeAlias = Mapping[int, Callable[[tuple[int, ...], Sequence[Any]], Any]]


def triple_is_valid(
    automaton: Automaton,
    before: Condition,
    step: Fraction | Event | None,
    after: Condition,
    longest: int,
) -> bool:
    """Whether {before} step {after} is valid, with at most `longest` Δ transitions in a row. The
    step None is the end of the trace, which states that await something do not take."""
    memories = list(product(range(automaton.highest + 1), repeat=automaton.variables))
    for state, condition in before.items():
        for memory in memories:
            clocks = [z3.Real(f"c{n}") for n in range(automaton.clocks)]
            given = [condition(memory, clocks), *(c >= 0 for c in clocks)]
            for path, moments in _paths(automaton, state, memory, clocks, step, longest):
                target, values, terms = path
                solver = z3.Solver()
                solver.add(*given, *moments)
                if target in after:
                    solver.add(z3.Not(after[target](values, terms)))
                if solver.check() != z3.unsat:
                    return False
    return True


def implies(automaton: Automaton, one: Condition, other: Condition) -> bool:
    """Whether one ⊑ other."""
    for state, condition in one.items():
        for memory in product(range(automaton.highest + 1), repeat=automaton.variables):
            clocks = [z3.Real(f"c{n}") for n in range(automaton.clocks)]
            solver = z3.Solver()
            solver.add(condition(memory, clocks), *(c >= 0 for c in clocks))
            if state in other:
                solver.add(z3.Not(other[state](memory, clocks)))
            if solver.check() != z3.unsat:
                return False
    return True


_Path = tuple[int, tuple[int, ...], list[Any]]


def _paths(
    automaton: Automaton,
    state: int,
    memory: tuple[int, ...],
    clocks: list[Any],
    step: Fraction | Event | None,
    longest: int,
) -> Iterator[tuple[_Path, list[Any]]]:
    if step is None:
        if state not in automaton.awaiting:
            yield (state, memory, clocks), []
    elif isinstance(step, Fraction):
        if step == 0:
            yield (state, memory, clocks), []
        elapsed = z3.RealVal(0)
        yield from _waits(automaton, (state, memory, clocks), [], elapsed, step, longest)
    else:
        for each in automaton.steps:
            if each.source != state or each.label != step[0]:
                continue
            after = memory_after(automaton, each, memory, step[1])
            if after is not None:
                guard = [holds(clocks[c], op, bound) for c, op, bound in each.clocks]
                yield (each.target, after, _reset(each, clocks)), guard


def _waits(
    automaton: Automaton,
    path: _Path,
    constraints: list[Any],
    elapsed: Any,
    time: Fraction,
    longest: int,
) -> Iterator[tuple[_Path, list[Any]]]:
    if not longest:
        return
    state, memory, clocks = path
    total = z3.RealVal(str(time))
    for step in automaton.steps:
        if step.source != state or step.label is not None:
            continue
        after = memory_after(automaton, step, memory, 0)
        if after is None:
            continue
        part = z3.Real(f"t{longest}")
        later = [c + part for c in clocks]
        now = elapsed + part
        guard = [part >= 0, now <= total]
        guard += [holds(later[c], op, bound) for c, op, bound in step.clocks]
        there = step.target, after, _reset(step, later)
        yield there, [*constraints, *guard, now == total]
        yield from _waits(automaton, there, constraints + guard, now, time, longest - 1)


def _reset(step: Step, clocks: Sequence[Any]) -> list[Any]:
    return [z3.RealVal(0) if c in step.resets else x for c, x in enumerate(clocks)]


# --------------------------------------------------------------------------------- similarity


def similar(
    atoms: Sequence[tuple[bool, int, int, str, Fraction]],
    times: Sequence[Fraction],
    others: Sequence[Fraction],
) -> bool:
    """The relation ~ of section 5. An atom: whether a clock occurs in it, the first and the last of
    the times that are added up, the operator and the bound."""
    return all(_satisfiable(atom, times) == _satisfiable(atom, others) for atom in atoms)


def _satisfiable(atom: tuple[bool, int, int, str, Fraction], times: Sequence[Fraction]) -> bool:
    with_clock, first, last, op, bound = atom
    clock = z3.Real("clk")
    total = z3.Sum([z3.RealVal(str(t)) for t in times[first : last + 1]] + [z3.RealVal(0)])
    left = clock + total if with_clock else total
    solver = z3.Solver()
    solver.add(clock >= 0, holds(left, op, z3.RealVal(str(bound))))  # type: ignore[arg-type]
    return bool(solver.check() == z3.sat)
