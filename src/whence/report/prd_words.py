"""Guards and updates of PRD automata as people write them (docs/prd.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from whence.model.prd import (
    AllOf,
    AnyOf,
    Arithmetic,
    Captured,
    ClockBound,
    Comparison,
    Constant,
    Guard,
    Not,
    PrdTransition,
    Read,
    Term,
    Variable,
)
from whence.triage.words import time_text

__all__ = ["guard_text", "updates_text"]

Variables = Mapping[str, Variable]


def guard_text(guard: Guard, variables: Variables) -> str:
    """ "" if it is true."""
    return "" if guard == AllOf() else _guard(guard, variables, 0)


def _guard(guard: Guard, variables: Variables, level: int) -> str:
    """`level` 1 stands inside `and`, 2 behind `not`."""
    match guard:
        case AllOf():
            text = " and ".join(_guard(part, variables, 1) for part in guard.parts) or "true"
            return f"({text})" if level > 1 and len(guard.parts) > 1 else text
        case AnyOf():
            text = " or ".join(_guard(part, variables, 1) for part in guard.parts) or "false"
            return f"({text})" if level and len(guard.parts) > 1 else text
        case Not():
            return f"not ({_guard(guard.part, variables, 0)})"
        case ClockBound():
            clock = f"{guard.clock} - {guard.minus}" if guard.minus else guard.clock
            return f"{clock} {guard.operator} {time_text(guard.bound)}"
        case Comparison():
            names = _names(guard.left, variables) or _names(guard.right, variables)
            left, right = _term(guard.left, names), _term(guard.right, names)
            return f"{left} {guard.operator} {right}"
        case _:
            assert_never(guard)


def updates_text(transition: PrdTransition, variables: Variables) -> str:
    parts = [
        f"{each.variable} = {_term(each.value, variables[each.variable].names)}"
        for each in transition.assignments
    ]
    return "; ".join((*parts, *(f"restart {clock}" for clock in transition.resets)))


def _names(term: Term, variables: Variables) -> tuple[str, ...]:
    return variables[term.variable].names if isinstance(term, Read) else ()


def _term(term: Term, names: tuple[str, ...] = ()) -> str:
    match term:
        case Constant():
            return names[term.value] if 0 <= term.value < len(names) else str(term.value)
        case Read():
            return term.variable
        case Captured():
            return f"<{term.name}>"
        case Arithmetic():
            return f"({_term(term.left)} {term.operator} {_term(term.right)})"
        case _:
            assert_never(term)
