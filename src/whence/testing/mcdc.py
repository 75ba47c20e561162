"""Conditions of a guard, and when each of them decides it (masking MC/DC)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from whence.expr.tree import Binary, Expr, Unary
from whence.testing.logic import FALSE, TRUE, both, compare, negation

__all__ = ["conditions", "decisive"]

_CONNECTIVES = ("&&", "||", "imply")
#: A path to a condition: 0 and 1 for left and right, 0 for what is negated.
Path = tuple[int, ...]


def conditions(guard: Expr, path: Path = ()) -> Iterator[tuple[Path, Expr]]:
    """The conditions of a decision with their places, from left to right."""
    match guard:
        case Binary(op=op, left=left, right=right) if op in _CONNECTIVES:
            yield from conditions(left, (*path, 0))
            yield from conditions(right, (*path, 1))
        case Unary(op="!", operand=operand):
            yield from conditions(operand, (*path, 0))
        case _:
            yield path, guard


def _with(guard: Expr, path: Path, value: Expr) -> Expr:
    if not path:
        return value
    if isinstance(guard, Unary):
        return replace(guard, operand=_with(guard.operand, path[1:], value))
    assert isinstance(guard, Binary)
    if path[0] == 0:
        return replace(guard, left=_with(guard.left, path[1:], value))
    return replace(guard, right=_with(guard.right, path[1:], value))


def decisive(guard: Expr, path: Path, condition: Expr, truth: bool) -> Expr:
    """The condition has that truth value, and with the other one the guard would have another."""
    here = condition if truth else negation(condition)
    differs = compare("!=", _with(guard, path, TRUE), _with(guard, path, FALSE))
    return both((here, differs))
