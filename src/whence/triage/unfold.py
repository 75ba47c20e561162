"""How large an automaton would be without memory: if a state and a valuation of the variables were
one state (Becker et al., section 7, counts states and transitions so). Clocks do not matter: what
they forbid is counted, too."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Final, TypeAlias, assert_never

from whence.model.prd import (
    AllOf,
    AnyOf,
    Arithmetic,
    Captured,
    ClockBound,
    Comparison,
    Constant,
    EventPattern,
    Guard,
    Not,
    PrdAutomaton,
    PrdTransition,
    Read,
    Term,
)
from whence.triage.calculate import calculated
from whence.triage.folding import holds

__all__ = ["Unfolded", "unfold"]

Memory: TypeAlias = tuple[int, ...]
Captures: TypeAlias = tuple[int, ...]
_Test: TypeAlias = Callable[[Memory, Captures], bool | None]
_Value: TypeAlias = Callable[[Memory, Captures], int | None]

#: So many combinations of captured or initial values of one transition are gone through.
_MOST_VALUES: Final = 1 << 16
#: What `whence.formats.prd.payloads` writes for bytes that are captured, and sets of single ones.
_GROUP: Final = re.compile(r"\(\?P<(\w+)>(\.|\[(?:\\x[0-9a-f]{2}|-)+\])(?:\{(\d+)\})?\)")


@dataclass(frozen=True, slots=True)
class Unfolded:
    """`complete` false: there are more, or values that cannot be listed."""

    states: int
    transitions: int
    complete: bool


def unfold(automaton: PrdAutomaton, limit: int = 100_000) -> Unfolded:
    """Counts what can be reached, up to `limit` states."""
    variables = {variable.name: at for at, variable in enumerate(automaton.variables)}
    ranges = [(variable.low, variable.high) for variable in automaton.variables]
    steps: dict[str, list[_Step]] = defaultdict(list)
    complete = True
    for transition in automaton.transitions:
        step = _Step(transition, variables, ranges)
        complete &= step.complete
        steps[transition.source].append(step)
    starts = [
        (range(v.low, v.high + 1) if v.initial is None else (v.initial,))
        for v in automaton.variables
    ]
    seen: set[tuple[str, Memory]] = set()
    pending: list[tuple[str, Memory]] = []
    for initial in automaton.initial:
        test = _test(initial.guard, variables, {})
        for memory in product(*starts):
            if len(seen) >= limit:
                return Unfolded(len(seen), 0, False)
            if test(memory, ()) is not False and (initial.state, memory) not in seen:
                seen.add((initial.state, memory))
                pending.append((initial.state, memory))
    transitions = 0
    while pending:
        state, memory = pending.pop()
        for step in steps[state]:
            targets = {*step.targets(memory)}
            transitions += len(targets)
            for target in targets:
                place = (step.target, target)
                if place not in seen:
                    if len(seen) >= limit:
                        return Unfolded(len(seen), transitions, False)
                    seen.add(place)
                    pending.append(place)
    return Unfolded(len(seen), transitions, complete)


class _Step:
    """A transition on memory alone."""

    def __init__(
        self, transition: PrdTransition, variables: dict[str, int], ranges: list[tuple[int, int]]
    ) -> None:
        self.target = transition.target
        self.ranges = ranges
        used = {*_captured(transition.guard)}
        for assignment in transition.assignments:
            used.update(_captured(Comparison(assignment.value, "==", Constant(0))))
        domains = dict(_domains(transition.pattern)) if transition.pattern is not None else {}
        for name, at in _tied(transition, variables):
            # Of a value that the pattern leaves open, only those in the variable's range count.
            if domains.get(name) is None:
                domains[name] = range(ranges[at][0], ranges[at][1] + 1)
        names = sorted(used)
        self.complete = all(domains.get(name) is not None for name in names)
        self.domains = [domains.get(name) or range(1) for name in names]
        size = 1
        for domain in self.domains:
            size *= len(domain)
        if size > _MOST_VALUES:
            self.complete = False
            self.domains = [range(1) for _ in names]
        places = {name: at for at, name in enumerate(names)}
        self.test = _test(transition.guard, variables, places)
        self.assignments = [
            (variables[assignment.variable], _value(assignment.value, variables, places))
            for assignment in transition.assignments
        ]

    def targets(self, memory: Memory) -> Iterator[Memory]:
        for captures in product(*self.domains):
            if self.test(memory, captures) is False:
                continue
            values = list(memory)
            for at, value in self.assignments:
                new = value(memory, captures)
                low, high = self.ranges[at]
                if new is None or not low <= new <= high:
                    break
                values[at] = new
            else:
                yield tuple(values)


def _domains(pattern: EventPattern) -> Iterator[tuple[str, range | tuple[int, ...] | None]]:
    """What captured values can be; None: that cannot be listed."""
    for field in pattern.fields:
        if field.capture:
            numbers = {value for value in field.values if isinstance(value, int)}
            size = sum(high - low + 1 for low, high in field.ranges)
            if size > _MOST_VALUES or not (numbers or field.ranges):
                yield field.capture, None
            else:
                for low, high in field.ranges:
                    numbers.update(range(low, high + 1))
                yield field.capture, tuple(sorted(numbers))
        for name, kind, length in _GROUP.findall(field.regex):
            bits = 8 * int(length or 1)
            if bits == 8:
                one = re.compile(kind, re.DOTALL)
                yield name, tuple(value for value in range(256) if one.match(chr(value)))
            else:
                yield name, range(1 << bits) if bits <= 16 and kind == "." else None
    for part in pattern.also:
        yield from _domains(part)


def _tied(transition: PrdTransition, variables: dict[str, int]) -> Iterator[tuple[str, int]]:
    """Captured values that are assigned to a variable, or have to be equal to one."""
    for assignment in transition.assignments:
        if isinstance(assignment.value, Captured):
            yield assignment.value.name, variables[assignment.variable]
    guard = transition.guard
    for part in guard.parts if isinstance(guard, AllOf) else (guard,):
        if isinstance(part, Comparison) and part.operator == "==":
            for one, other in ((part.left, part.right), (part.right, part.left)):
                if isinstance(one, Captured) and isinstance(other, Read):
                    yield one.name, variables[other.variable]


def _captured(guard: Guard) -> Iterator[str]:
    match guard:
        case AllOf() | AnyOf():
            for part in guard.parts:
                yield from _captured(part)
        case Not():
            yield from _captured(guard.part)
        case Comparison():
            yield from _names(guard.left)
            yield from _names(guard.right)
        case ClockBound():
            pass
        case _:
            assert_never(guard)


def _names(term: Term) -> Iterator[str]:
    if isinstance(term, Captured):
        yield term.name
    elif isinstance(term, Arithmetic):
        yield from _names(term.left)
        yield from _names(term.right)


# -------------------------------------------------------------------------------------- evaluation


def _test(guard: Guard, variables: dict[str, int], captures: dict[str, int]) -> _Test:
    """Whether memory makes it true; None: that is up to clocks."""
    match guard:
        case ClockBound():
            return lambda memory, captured: None
        case Comparison():
            left = _value(guard.left, variables, captures)
            right = _value(guard.right, variables, captures)
            operator = guard.operator

            def compared(memory: Memory, captured: Captures) -> bool:
                a, b = left(memory, captured), right(memory, captured)
                return a is not None and b is not None and holds(a, operator, b)

            return compared
        case Not():
            inner = _test(guard.part, variables, captures)

            def denied(memory: Memory, captured: Captures) -> bool | None:
                found = inner(memory, captured)
                return None if found is None else not found

            return denied
        case AllOf() | AnyOf():
            decides = isinstance(guard, AnyOf)
            parts = [_test(part, variables, captures) for part in guard.parts]

            def joined(memory: Memory, captured: Captures) -> bool | None:
                unknown = False
                for part in parts:
                    found = part(memory, captured)
                    if found is decides:
                        return decides
                    unknown |= found is None
                return None if unknown else not decides

            return joined
        case _:
            assert_never(guard)


def _value(term: Term, variables: dict[str, int], captures: dict[str, int]) -> _Value:
    match term:
        case Constant():
            number = term.value
            return lambda memory, captured: number
        case Read():
            at = variables[term.variable]
            return lambda memory, captured: memory[at]
        case Captured():
            place = captures[term.name]
            return lambda memory, captured: captured[place]
        case Arithmetic():
            left = _value(term.left, variables, captures)
            right = _value(term.right, variables, captures)

            def value(memory: Memory, captured: Captures) -> int | None:
                a, b = left(memory, captured), right(memory, captured)
                return None if a is None or b is None else calculated(term.operator, a, b)

            return value
        case _:
            assert_never(term)
