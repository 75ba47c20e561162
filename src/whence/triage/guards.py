"""Guards and updates of transitions, with captured values put in, as alternatives that images can
be computed of: products of value sets, relations between variables, and bounds on clocks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
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
    FieldValue,
    Guard,
    Not,
    Operator,
    Read,
    Term,
    Variable,
)
from whence.source import NOWHERE, Diagnostic, Origin, UnsupportedError
from whence.triage import values as v
from whence.triage.calculate import calculated
from whence.triage.values import Memory, Values

__all__ = [
    "MOST_ALTERNATIVES",
    "MOST_VALUES",
    "Alternative",
    "Effect",
    "Relation",
    "Scope",
    "after_assignments",
    "alternatives",
    "before_assignments",
    "effects",
    "restricted",
]

#: The most valuations that are enumerated for one relation, and the most values for one variable.
MOST_VALUES = 1 << 16
#: The most alternatives that a guard is taken apart into.
MOST_ALTERNATIVES = 256

Value: TypeAlias = int | None
Clauses: TypeAlias = tuple[tuple[str, str, Operator, Fraction], ...]


@dataclass(frozen=True)
class Scope:
    """The variables by number, what the event captured, and where to point in messages."""

    variables: Sequence[Variable]
    numbers: Mapping[str, int]
    captured: Mapping[str, FieldValue]
    origin: Origin = NOWHERE

    @property
    def ranges(self) -> Memory:
        return tuple(v.span(variable.low, variable.high) for variable in self.variables)

    def refuse(self, message: str, hint: str = "") -> UnsupportedError:
        return UnsupportedError(Diagnostic(message, self.origin, hint))


@dataclass(frozen=True)
class Relation:
    """What only some combinations of the values of several variables satisfy."""

    variables: tuple[int, ...]
    holds: Callable[[Mapping[int, int]], bool]


@dataclass(frozen=True)
class Alternative:
    """One way to satisfy a guard: a set for each variable that it restricts, relations, and bounds
    on clocks: (clock, clock or "", operator other than !=, seconds)."""

    sets: Mapping[int, Values]
    relations: tuple[Relation, ...] = ()
    clocks: Clauses = ()


@dataclass(frozen=True)
class Effect:
    """An assignment. `constant`: of that value. Otherwise `compute` makes it of the values of
    `reads` (None: not possible)."""

    variable: int
    constant: int | None
    reads: tuple[int, ...] = ()
    compute: Callable[[Mapping[int, int]], Value] | None = None
    #: variable := variable + shift
    shift: int | None = None


# ----------------------------------------------------------------------------------------- terms


def _reads(term: Term) -> frozenset[str]:
    match term:
        case Constant() | Captured():
            return frozenset()
        case Read():
            return frozenset([term.variable])
        case Arithmetic():
            return _reads(term.left) | _reads(term.right)
        case _:
            assert_never(term)


def _names(scope: Scope, *terms: Term) -> tuple[str, ...]:
    """The enumeration that texts in these terms are names of."""
    for term in terms:
        if isinstance(term, Read) and scope.variables[scope.numbers[term.variable]].names:
            return scope.variables[scope.numbers[term.variable]].names
    return ()


def _number(value: FieldValue | None, names: tuple[str, ...]) -> Value:
    match value:
        case None:
            return None
        case int():
            return int(value)
        case bytes():
            return int.from_bytes(value, "big")
        case str():
            if value in names:
                return names.index(value)
            return int(value) if value.isascii() and value.isdigit() and len(value) < 20 else None
        case _:
            assert_never(value)


def _evaluate(term: Term, scope: Scope, memory: Mapping[int, int], names: tuple[str, ...]) -> Value:
    match term:
        case Constant():
            return term.value
        case Captured():
            return _number(scope.captured.get(term.name), names)
        case Read():
            return memory[scope.numbers[term.variable]]
        case Arithmetic():
            left = _evaluate(term.left, scope, memory, ())
            right = _evaluate(term.right, scope, memory, ())
            if left is None or right is None:
                return None
            return calculated(term.operator, left, right)
        case _:
            assert_never(term)


def _compare(operator: Operator, left: Value, right: Value) -> bool:
    if left is None or right is None:
        return False
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
        case _:
            assert_never(operator)


_MIRRORED: dict[Operator, Operator] = {
    "==": "==",
    "!=": "!=",
    "<": ">",
    "<=": ">=",
    ">": "<",
    ">=": "<=",
}
_OPPOSITE: dict[Operator, Operator] = {
    "==": "!=",
    "!=": "==",
    "<": ">=",
    "<=": ">",
    ">": "<=",
    ">=": "<",
}


# ---------------------------------------------------------------------------------------- guards


def alternatives(guard: Guard, scope: Scope) -> tuple[Alternative, ...]:
    """The guard as a disjunction."""
    return tuple(_alternatives(guard, scope, True))


def _alternatives(guard: Guard, scope: Scope, wanted: bool) -> list[Alternative]:
    match guard:
        case Not():
            return _alternatives(guard.part, scope, not wanted)
        case AllOf() | AnyOf():
            parts = [_alternatives(part, scope, wanted) for part in guard.parts]
            if isinstance(guard, AllOf) != wanted:
                found = [alternative for part in parts for alternative in part]
            else:
                found = [Alternative({})]
                for part in parts:
                    found = [
                        both
                        for one in found
                        for other in part
                        if (both := _both(one, other)) is not None
                    ]
                    if len(found) > MOST_ALTERNATIVES:
                        break
            if len(found) > MOST_ALTERNATIVES:
                raise scope.refuse(
                    f"a guard has more than {MOST_ALTERNATIVES} alternatives",
                    "split the transition",
                )
            return found
        case Comparison():
            return _comparison(guard, scope, wanted)
        case ClockBound():
            operator = guard.operator if wanted else _OPPOSITE[guard.operator]
            operators: tuple[Operator, ...] = ("<", ">") if operator == "!=" else (operator,)
            return [
                Alternative({}, (), ((guard.clock, guard.minus, each, guard.bound),))
                for each in operators
            ]
        case _:
            assert_never(guard)


def _both(one: Alternative, other: Alternative) -> Alternative | None:
    sets = dict(one.sets)
    for variable, allowed in other.sets.items():
        sets[variable] = v.meet(sets[variable], allowed) if variable in sets else allowed
        if not sets[variable]:
            return None
    return Alternative(sets, one.relations + other.relations, one.clocks + other.clocks)


def _comparison(guard: Comparison, scope: Scope, wanted: bool) -> list[Alternative]:
    names = _names(scope, guard.left, guard.right)
    reads = sorted(scope.numbers[name] for name in _reads(guard.left) | _reads(guard.right))

    def holds(memory: Mapping[int, int]) -> bool:
        left = _evaluate(guard.left, scope, memory, names)
        right = _evaluate(guard.right, scope, memory, names)
        return _compare(guard.operator, left, right) == wanted

    if not reads:
        return [Alternative({})] if holds({}) else []
    if len(reads) > 1:
        return [Alternative({}, (Relation(tuple(reads), holds),))]
    variable = scope.variables[reads[0]]
    allowed = _direct(guard, scope, wanted, variable, names)
    if allowed is None:
        allowed = _solved(holds, reads[0], variable, scope)
    return [Alternative({reads[0]: allowed})] if allowed else []


def _direct(
    guard: Comparison, scope: Scope, wanted: bool, variable: Variable, names: tuple[str, ...]
) -> Values | None:
    """The solutions of `variable ~ constant`, None for other comparisons."""
    left, operator, right = guard.left, guard.operator, guard.right
    if isinstance(right, Read):
        left, operator, right = right, _MIRRORED[operator], left
    if not isinstance(left, Read) or _reads(right):
        return None
    everything = v.span(variable.low, variable.high)
    bound = _evaluate(right, scope, {}, names)
    if bound is None:
        return v.EMPTY if wanted else everything
    if not wanted:
        operator = _OPPOSITE[operator]
    match operator:
        case "==":
            return v.meet(everything, v.single(bound))
        case "!=":
            return v.minus(everything, v.single(bound))
        case "<":
            return v.span(variable.low, min(variable.high, bound - 1))
        case "<=":
            return v.span(variable.low, min(variable.high, bound))
        case ">":
            return v.span(max(variable.low, bound + 1), variable.high)
        case ">=":
            return v.span(max(variable.low, bound), variable.high)
        case _:
            assert_never(operator)


def _solved(
    holds: Callable[[Mapping[int, int]], bool], number: int, variable: Variable, scope: Scope
) -> Values:
    if variable.high - variable.low >= MOST_VALUES:
        raise scope.refuse(
            f"arithmetic on {variable.name}, which has more than {MOST_VALUES} values",
            "compare the variable itself with a constant, or give it a smaller range",
        )
    return v.of(x for x in range(variable.low, variable.high + 1) if holds({number: x}))


# --------------------------------------------------------------------------------------- effects


def effects(assignments: Sequence[tuple[str, Term]], scope: Scope) -> tuple[Effect, ...] | None:
    """The assignments; None if a constant is outside the range of its variable, so that the
    transition is not possible."""
    found = []
    for name, term in assignments:
        number = scope.numbers[name]
        variable = scope.variables[number]
        reads = tuple(sorted(scope.numbers[read] for read in _reads(term)))
        names = variable.names

        def compute(
            memory: Mapping[int, int], term: Term = term, names: tuple[str, ...] = names
        ) -> Value:
            return _evaluate(term, scope, memory, names)

        if not reads:
            value = compute({})
            if value is None or not variable.low <= value <= variable.high:
                return None
            found.append(Effect(number, value))
        else:
            found.append(Effect(number, None, reads, compute, _shift(term, name, scope)))
    return tuple(found)


def _shift(term: Term, name: str, scope: Scope) -> int | None:
    if not isinstance(term, Arithmetic) or term.left != Read(name) or _reads(term.right):
        return None
    amount = _evaluate(term.right, scope, {}, ())
    if amount is None or term.operator not in ("+", "-"):
        return None
    return amount if term.operator == "+" else -amount


def restricted(
    memory: Memory, sets: Mapping[int, Values], relations: Sequence[Relation], scope: Scope
) -> list[Memory]:
    """The valuations that are in the sets and satisfy the relations."""
    found = list(memory)
    for variable, allowed in sets.items():
        common = v.meet(found[variable], allowed)
        if not common:
            return []
        found[variable] = common
    products: list[Memory] = [tuple(found)]
    for relation in relations:
        products = [part for one in products for part in _related(one, relation, scope)]
    return products


def _related(memory: Memory, relation: Relation, scope: Scope) -> list[Memory]:
    """All but the last variable of a relation get single values."""
    *others, last = relation.variables
    found: list[Memory] = []
    for fixed in _valuations(memory, relation.variables, others, scope):
        allowed = v.of(x for x in v.unroll(memory[last]) if relation.holds({**fixed, last: x}))
        if allowed:
            _add(
                found, _with(memory, {**{n: v.single(x) for n, x in fixed.items()}, last: allowed})
            )
    return found


def _add(found: list[Memory], memory: Memory) -> None:
    joined = v.merged(found[-1], memory) if found else None
    if joined is None:
        found.append(memory)
    else:
        found[-1] = joined


def _with(memory: Memory, sets: Mapping[int, Values]) -> Memory:
    return tuple(sets.get(n, values) for n, values in enumerate(memory))


def _valuations(
    memory: Memory, counted: Sequence[int], variables: Sequence[int], scope: Scope
) -> list[dict[int, int]]:
    many = 1
    for n in counted:
        many *= v.size(memory[n])
    if many > MOST_VALUES:
        names = ", ".join(scope.variables[n].name for n in counted)
        raise scope.refuse(
            f"more than {MOST_VALUES} combinations of values of {names}",
            "give the variables smaller ranges or initial values",
        )
    choices = product(*(v.unroll(memory[n]) for n in variables))
    return [dict(zip(variables, choice, strict=True)) for choice in choices]


def after_assignments(memory: Memory, assigned: Sequence[Effect], scope: Scope) -> list[Memory]:
    """The image of a product: as many products as there are values that others are computed of."""
    if all(effect.constant is not None for effect in assigned):
        found = list(memory)
        for effect in assigned:
            assert effect.constant is not None
            found[effect.variable] = v.single(effect.constant)
        return [tuple(found)]
    if len(assigned) == 1 and assigned[0].shift is not None:
        number = assigned[0].variable
        allowed = v.meet(v.shifted(memory[number], assigned[0].shift), scope.ranges[number])
        return [_with(memory, {number: allowed})] if allowed else []
    reads = sorted({read for effect in assigned for read in effect.reads})
    images: list[Memory] = []
    for fixed in _valuations(memory, reads, reads, scope):
        sets = {n: v.single(x) for n, x in fixed.items()}
        for effect in assigned:
            value = effect.constant if effect.compute is None else effect.compute(fixed)
            variable = scope.variables[effect.variable]
            if value is None or not variable.low <= value <= variable.high:
                break
            sets[effect.variable] = v.single(value)
        else:
            _add(images, _with(memory, sets))
    return images


def before_assignments(
    memory: Memory, assigned: Sequence[Effect], scope: Scope
) -> tuple[Memory, tuple[Relation, ...]] | None:
    """The preimage of a product: a product, and relations that hold in it besides."""
    ranges = scope.ranges
    found = list(memory)
    for effect in assigned:
        found[effect.variable] = ranges[effect.variable]
    relations: list[Relation] = []
    for effect in assigned:
        target = memory[effect.variable]
        if effect.constant is not None:
            if not v.meet(target, v.single(effect.constant)):
                return None
        elif effect.shift is not None:
            found[effect.variable] = v.meet(
                v.shifted(target, -effect.shift), found[effect.variable]
            )
            if not found[effect.variable]:
                return None
        else:
            compute = effect.compute
            assert compute is not None

            def holds(
                before: Mapping[int, int],
                compute: Callable[[Mapping[int, int]], Value] = compute,
                target: Values = target,
            ) -> bool:
                value = compute(before)
                return value is not None and any(low <= value <= high for low, high in target)

            relations.append(Relation(effect.reads, holds))
    return tuple(found), tuple(relations)
