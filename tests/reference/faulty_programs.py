"""Small programs of truth values, and which sets of their statements can be faulty: by trying all.

From the definitions (Graussam, sections 4.1 and 4.2), without circuits: a statement that is not
healthy assigns anything, decides anything or returns anything, each time that it is executed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from random import Random
from typing import TypeAlias

__all__ = ["Program", "diagnoses", "random_program"]

NAMES = ("a", "b", "c", "d")

#: A name, a truth value, ("!", e), or (operator, e, e).
Expr: TypeAlias = "str | bool | tuple[Expr, ...]"


@dataclass(frozen=True)
class Assign:
    line: int
    name: str
    value: Expr


@dataclass(frozen=True)
class If:
    line: int
    condition: Expr
    then: tuple[Step, ...]
    otherwise: tuple[Step, ...]


@dataclass(frozen=True)
class While:
    """Runs that go through it more than twice do not count: the unwinding assumption."""

    line: int
    condition: Expr
    body: tuple[Step, ...]


Step: TypeAlias = "Assign | If | While"


@dataclass(frozen=True)
class Program:
    """f(a, b), with c and d from outside, which are false. Its last line returns a truth value."""

    text: str
    steps: tuple[Step, ...]
    last: int
    result: Expr

    def lines(self) -> list[int]:
        found: list[int] = []

        def walk(steps: tuple[Step, ...]) -> None:
            for step in steps:
                found.append(step.line)
                if isinstance(step, If):
                    walk(step.then)
                    walk(step.otherwise)
                elif isinstance(step, While):
                    walk(step.body)

        walk(self.steps)
        return [*found, self.last]


State = dict[str, bool]


def _value(expr: Expr, state: State) -> bool:
    if isinstance(expr, bool):
        return expr
    if isinstance(expr, str):
        return state[expr]
    if expr[0] == "!":
        return not _value(expr[1], state)
    one, two = _value(expr[1], state), _value(expr[2], state)
    if expr[0] == "&&":
        return one and two
    if expr[0] == "||":
        return one or two
    return one != two


def _choices(line: int, value: bool, faulty: frozenset[int]) -> tuple[bool, ...]:
    return (False, True) if line in faulty else (value,)


def _run(steps: tuple[Step, ...], state: State, faulty: frozenset[int]) -> Iterator[State]:
    """All states in which they can end."""
    if not steps:
        yield state
        return
    step, rest = steps[0], steps[1:]
    if isinstance(step, Assign):
        for value in _choices(step.line, _value(step.value, state), faulty):
            yield from _run(rest, {**state, step.name: value}, faulty)
    elif isinstance(step, If):
        for value in _choices(step.line, _value(step.condition, state), faulty):
            for after in _run(step.then if value else step.otherwise, state, faulty):
                yield from _run(rest, after, faulty)
    else:
        for after in _rounds(step, state, faulty, 2):
            yield from _run(rest, after, faulty)


def _rounds(step: While, state: State, faulty: frozenset[int], left: int) -> Iterator[State]:
    for value in _choices(step.line, _value(step.condition, state), faulty):
        if not value:
            yield state
        elif left:
            yield from _again(step, state, faulty, left)


def _again(step: While, state: State, faulty: frozenset[int], left: int) -> Iterator[State]:
    if left:
        for after in _run(step.body, state, faulty):
            yield from _rounds(step, after, faulty, left - 1)


def returns(program: Program, a: bool, b: bool, faulty: frozenset[int]) -> set[bool]:
    """What it can return."""
    found: set[bool] = set()
    start = {"a": a, "b": b, "c": False, "d": False}
    for state in _run(program.steps, start, faulty):
        found.update(_choices(program.last, _value(program.result, state), faulty))
        if len(found) == 2:
            break
    return found


def diagnoses(
    program: Program, tests: list[tuple[bool, bool, bool]], most: int
) -> set[frozenset[int]]:
    """All minimal sets of up to `most` lines that explain all tests: inputs and what should be
    returned."""
    found: set[frozenset[int]] = set()
    for size in range(most + 1):
        for lines in combinations(program.lines(), size):
            faulty = frozenset(lines)
            if any(smaller <= faulty for smaller in found):
                continue
            if all(wanted in returns(program, a, b, faulty) for a, b, wanted in tests):
                found.add(faulty)
    return found


class _Writer:
    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.lines = ["_Bool c, d;", "int f(_Bool a, _Bool b) {"]

    def line(self, text: str) -> int:
        self.lines.append(text)
        return len(self.lines)

    def expr(self, depth: int) -> Expr:
        kind = self.random.randrange(7 if depth else 3)
        if kind == 0:
            return self.random.choice((False, True))
        if kind < 3:
            return self.random.choice(NAMES)
        if kind == 3:
            return ("!", self.expr(depth - 1))
        operator = ("&&", "||", "^")[kind - 4]
        return (operator, self.expr(depth - 1), self.expr(depth - 1))

    def steps(self, count: int, depth: int) -> tuple[Step, ...]:
        return tuple(self.step(depth) for _ in range(count))

    def step(self, depth: int) -> Step:
        kind = self.random.randrange(6 if depth else 3)
        if kind < 3:
            name, value = self.random.choice(NAMES), self.expr(2)
            return Assign(self.line(f"{name} = {_shown(value)};"), name, value)
        condition = self.expr(1)
        if kind < 5:
            line = self.line(f"if ({_shown(condition)}) {{")
            then = self.steps(self.random.randrange(1, 3), depth - 1)
            self.lines[-1] += " } else {"
            otherwise = self.steps(self.random.randrange(2), depth - 1)
            self.lines[-1] += " }"
            return If(line, condition, then, otherwise)
        line = self.line(f"while ({_shown(condition)}) {{")
        body = self.steps(self.random.randrange(1, 3), depth - 1)
        self.lines[-1] += " }"
        return While(line, condition, body)


def _shown(expr: Expr) -> str:
    if isinstance(expr, bool):
        return str(int(expr))
    if isinstance(expr, str):
        return expr
    if expr[0] == "!":
        return f"!({_shown(expr[1])})"
    return f"({_shown(expr[1])} {expr[0]} {_shown(expr[2])})"


def random_program(seed: int) -> Program:
    writer = _Writer(seed)
    steps = writer.steps(writer.random.randrange(2, 5), 2)
    result = writer.expr(1)
    last = writer.line(f"return {_shown(result)}; }}")
    return Program("\n".join(writer.lines) + "\n", steps, last, result)
