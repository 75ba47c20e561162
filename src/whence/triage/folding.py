"""Guards and terms with some of their values filled in, and what is certain then decided."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from whence.model.prd import (
    TRUE,
    AllOf,
    AnyOf,
    Arithmetic,
    Assignment,
    Captured,
    ClockBound,
    Comparison,
    Constant,
    Guard,
    Not,
    Operator,
    Read,
    Term,
)
from whence.triage.calculate import calculated

__all__ = [
    "FALSE",
    "all_of",
    "any_of",
    "assigned",
    "clocks_in",
    "folded",
    "folded_term",
    "holds",
    "negated",
    "reads_of",
]

FALSE = AnyOf()


def holds(left: int, operator: Operator, right: int) -> bool:
    match operator:
        case "==":
            return left == right
        case "!=":
            return left != right
        case "<":
            return left < right
        case "<=":
            return left <= right
        case ">":
            return left > right
        case ">=":
            return left >= right


def all_of(*guards: Guard) -> Guard:
    """Their conjunction, without what is true anyway."""
    parts: list[Guard] = []
    for guard in guards:
        for part in guard.parts if isinstance(guard, AllOf) else (guard,):
            if part == FALSE:
                return FALSE
            if part not in parts:
                parts.append(part)
    return parts[0] if len(parts) == 1 else AllOf(tuple(parts))


def any_of(*guards: Guard) -> Guard:
    parts: list[Guard] = []
    for guard in guards:
        for part in guard.parts if isinstance(guard, AnyOf) else (guard,):
            if part == TRUE:
                return TRUE
            if part not in parts:
                parts.append(part)
    return parts[0] if len(parts) == 1 else AnyOf(tuple(parts))


_OPPOSITE: dict[Operator, Operator] = {
    "==": "!=", "!=": "==", "<": ">=", "<=": ">", ">": "<=", ">=": "<",
}  # fmt: skip


def negated(guard: Guard) -> Guard:
    """Its negation. Comparisons with captured values stay below a `Not`: what is not there makes
    both a comparison and its opposite false."""
    match guard:
        case AllOf():
            return any_of(*map(negated, guard.parts))
        case AnyOf():
            return all_of(*map(negated, guard.parts))
        case Not():
            return guard.part
        case ClockBound():
            return ClockBound(guard.clock, _OPPOSITE[guard.operator], guard.bound, guard.minus)
        case Comparison():
            if _is_total(guard.left) and _is_total(guard.right):
                return Comparison(guard.left, _OPPOSITE[guard.operator], guard.right)
            return Not(guard)


def _is_total(term: Term) -> bool:
    """Whether it always has a value."""
    if isinstance(term, Arithmetic):
        return term.operator in ("+", "-", "*") and _is_total(term.left) and _is_total(term.right)
    return not isinstance(term, Captured)


# ---------------------------------------------------------------------------------------- folding


def folded(guard: Guard, values: Mapping[str, int]) -> Guard:
    """The guard where these variables have these values."""
    match guard:
        case AllOf():
            return all_of(*(folded(part, values) for part in guard.parts))
        case AnyOf():
            return any_of(*(folded(part, values) for part in guard.parts))
        case Not():
            part = folded(guard.part, values)
            return FALSE if part == TRUE else TRUE if part == FALSE else Not(part)
        case ClockBound():
            return guard
        case Comparison():
            left, right = folded_term(guard.left, values), folded_term(guard.right, values)
            if left is None or right is None:
                return FALSE
            if isinstance(left, Constant) and isinstance(right, Constant):
                return TRUE if holds(left.value, guard.operator, right.value) else FALSE
            return Comparison(left, guard.operator, right)
        case _:
            assert_never(guard)


def folded_term(term: Term, values: Mapping[str, int]) -> Term | None:
    """None: it has no value."""
    if isinstance(term, Read):
        value = values.get(term.variable)
        return term if value is None else Constant(value)
    if not isinstance(term, Arithmetic):
        return term
    left, right = folded_term(term.left, values), folded_term(term.right, values)
    if left is None or right is None:
        return None
    if not (isinstance(left, Constant) and isinstance(right, Constant)):
        return Arithmetic(term.operator, left, right)
    value = calculated(term.operator, left.value, right.value)
    return None if value is None else Constant(value)


def assigned(
    assignments: tuple[Assignment, ...], values: Mapping[str, int]
) -> tuple[Assignment, ...]:
    """The assignments where these variables have these values; what has no value stays."""
    found = []
    for assignment in assignments:
        value = folded_term(assignment.value, values)
        found.append(Assignment(assignment.variable, assignment.value if value is None else value))
    return tuple(found)


# ------------------------------------------------------------------------------------------- uses


def reads_of(*items: Guard | Term) -> frozenset[str]:
    """The variables that these read."""
    found: set[str] = set()
    for item in items:
        match item:
            case Read():
                found.add(item.variable)
            case Arithmetic() | Comparison():
                found |= reads_of(item.left, item.right)
            case AllOf() | AnyOf():
                found |= reads_of(*item.parts)
            case Not():
                found |= reads_of(item.part)
            case Constant() | Captured() | ClockBound():
                pass
            case _:
                assert_never(item)
    return frozenset(found)


def clocks_in(guard: Guard) -> frozenset[str]:
    match guard:
        case ClockBound():
            return frozenset((guard.clock, guard.minus)) - {""}
        case AllOf() | AnyOf():
            return frozenset().union(*map(clocks_in, guard.parts))
        case Not():
            return clocks_in(guard.part)
        case Comparison():
            return frozenset()
        case _:
            assert_never(guard)
