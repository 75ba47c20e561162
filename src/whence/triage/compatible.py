"""Whether the guards of two transitions can be true at once: exact where they compare single
variables and clocks with constants; otherwise the answer is "perhaps", which counts as yes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import product
from typing import TypeAlias, assert_never

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
    Operator,
    PrdTransition,
    Term,
)
from whence.triage.folding import negated

__all__ = ["can_both_hold"]

#: Guards with more alternatives than this count as "perhaps".
_MOST = 256

_Atom: TypeAlias = Comparison | ClockBound | Not
_MIRRORED: dict[Operator, Operator] = {
    "==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<=",
}  # fmt: skip


def can_both_hold(one: PrdTransition, other: PrdTransition) -> bool:
    first = _alternatives(_renamed(one.guard, one.pattern))
    second = _alternatives(_renamed(other.guard, other.pattern))
    if first is None or second is None:
        return True
    return any(_consistent((*a, *b)) for a, b in product(first, second))


# ----------------------------------------------------------------------------------- alternatives


def _alternatives(guard: Guard) -> list[tuple[_Atom, ...]] | None:
    """The guard as alternatives of conjunctions; None: there are too many."""
    match guard:
        case AllOf():
            whole: list[tuple[_Atom, ...]] = [()]
            for part in guard.parts:
                more = _alternatives(part)
                if more is None or len(whole) * len(more) > _MOST:
                    return None
                whole = [(*a, *b) for a in whole for b in more]
            return whole
        case AnyOf():
            found: list[tuple[_Atom, ...]] = []
            for part in guard.parts:
                more = _alternatives(part)
                if more is None or len(found) + len(more) > _MOST:
                    return None
                found += more
            return found
        case Not():
            inner = negated(guard.part)
            return [(guard,)] if isinstance(inner, Not) else _alternatives(inner)
        case Comparison() | ClockBound():
            return [(guard,)]
        case _:
            assert_never(guard)


def _renamed(guard: Guard, pattern: EventPattern | None) -> Guard:
    """Captured values called by the fields that they come from, so that those of two patterns can
    be compared."""
    if pattern is None:
        return guard
    names = dict(_fields_of(pattern))

    def term(old: Term) -> Term:
        if isinstance(old, Captured):
            return Captured(names.get(old.name, old.name))
        if isinstance(old, Arithmetic):
            return Arithmetic(old.operator, term(old.left), term(old.right))
        return old

    def renamed(old: Guard) -> Guard:
        match old:
            case AllOf():
                return AllOf(tuple(map(renamed, old.parts)))
            case AnyOf():
                return AnyOf(tuple(map(renamed, old.parts)))
            case Not():
                return Not(renamed(old.part))
            case Comparison():
                return Comparison(term(old.left), old.operator, term(old.right))
            case ClockBound():
                return old
            case _:
                assert_never(old)

    return renamed(guard)


def _fields_of(pattern: EventPattern) -> Iterator[tuple[str, str]]:
    for field in pattern.fields:
        if field.capture:
            yield field.capture, f"={field.name}"
    for part in pattern.also:
        yield from _fields_of(part)


# ------------------------------------------------------------------------------------ consistency


def _consistent(atoms: Iterable[_Atom]) -> bool:
    """Whether no two sides are compared in a way that contradicts itself."""
    atoms = tuple(atoms)
    compared = {atom for atom in atoms if isinstance(atom, Comparison)}
    ranges: dict[object, _Range] = {}
    relations: dict[tuple[Term, Term], set[Operator]] = {}
    for atom in atoms:
        match atom:
            case ClockBound():
                key: object = (atom.clock, atom.minus)
                found = ranges.setdefault(key, _Range(dense=True))
                if not found.add(atom.operator, atom.bound):
                    return False
            case Comparison():
                left, operator, right = atom.left, atom.operator, atom.right
                if isinstance(left, Constant):
                    left, operator, right = right, _MIRRORED[operator], left
                if isinstance(right, Constant):
                    found = ranges.setdefault(left, _Range(dense=False))
                    if not found.add(operator, Fraction(right.value)):
                        return False
                    continue
                if repr(left) > repr(right):
                    left, operator, right = right, _MIRRORED[operator], left
                known = relations.setdefault((left, right), set())
                known.add(operator)
                if not _can_relate(known):
                    return False
            case Not():
                # A comparison with a value that may be missing: perhaps.
                if atom.part in compared:
                    return False
    return True


def _can_relate(operators: set[Operator]) -> bool:
    kinds: dict[Operator, set[str]] = {
        "==": {"="}, "!=": {"<", ">"}, "<": {"<"}, "<=": {"<", "="}, ">": {">"}, ">=": {">", "="},
    }  # fmt: skip
    left = {"<", "=", ">"}
    for operator in operators:
        left &= kinds[operator]
    return bool(left)


class _Range:
    """What a value compared with constants can be."""

    def __init__(self, dense: bool) -> None:
        self.dense = dense
        self.low: tuple[Fraction, bool] | None = None
        self.high: tuple[Fraction, bool] | None = None
        self.gaps: set[Fraction] = set()

    def add(self, operator: Operator, bound: Fraction) -> bool:
        """Restricts it; whether something is left."""
        if not self.dense and operator in ("<", ">"):
            operator, bound = ("<=", bound - 1) if operator == "<" else (">=", bound + 1)
        if operator in (">", ">=", "=="):
            edge = (bound, operator == ">")
            self.low = edge if self.low is None else max(self.low, edge)
        if operator in ("<", "<=", "=="):
            # A strict upper bound is the smaller one.
            edge = (bound, operator != "<")
            self.high = edge if self.high is None else min(self.high, edge)
        if operator == "!=":
            self.gaps.add(bound)
        if self.low is None or self.high is None:
            return True
        (low, above), (high, closed) = self.low, self.high
        if low > high or (low == high and (above or not closed)):
            return False
        if low == high:
            return low not in self.gaps
        if self.dense or high - low >= len(self.gaps):
            return True
        return any(low + step not in self.gaps for step in range(int(high - low) + 1))
