"""Conditions of a guard, and when each of them decides it (masking MC/DC)."""

from __future__ import annotations

from collections.abc import Iterator

from whence.expr.tree import Binary, Expr, Unary
from whence.testing.logic import both, negation

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


def _open(guard: Expr, path: Path) -> Iterator[Expr]:
    """That the operands beside the path do not mask it."""
    if not path:
        return
    if isinstance(guard, Unary):
        yield from _open(guard.operand, path[1:])
        return
    assert isinstance(guard, Binary)
    if path[0] == 0:
        # The right side lets the left one through: if true for `&&`, if false for the others.
        beside = guard.right if guard.op == "&&" else negation(guard.right)
        yield from _open(guard.left, path[1:])
    else:
        beside = negation(guard.left) if guard.op == "||" else guard.left
        yield from _open(guard.right, path[1:])
    yield beside


def decisive(guard: Expr, path: Path, condition: Expr, truth: bool) -> Expr:
    """The condition has that truth value, and with the other one the guard would have another:
    no operand beside its path masks it."""
    here = condition if truth else negation(condition)
    return both((here, *_open(guard, path)))
