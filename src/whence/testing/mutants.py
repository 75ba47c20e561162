"""Mutants of a model: each differs from it in one place, as a slip in a program would.

Operators: comparisons, connectives and arithmetic replaced; conditions negated; constants off by
one; times of timers halved and doubled; transitions missing, without their guard, with another
target or with priorities exchanged; assignments missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise

from whence.expr.ieee import call, operation_of, readable
from whence.expr.printer import print_expression
from whence.expr.tree import (
    Binary,
    BoolLiteral,
    Call,
    Conditional,
    Expr,
    IntLiteral,
    Name,
    Symbol,
    Unary,
)
from whence.expr.types import BoolType, IntType
from whence.source import NOWHERE, Origin
from whence.testing.logic import FALSE
from whence.testing.model import Elapsed, Location, TimedMachine, TimedModel, Transition, Write
from whence.testing.renaming import renamed

__all__ = ["OPERATORS", "Mutant", "mutants_of"]

OPERATORS = (
    "comparison",
    "connective",
    "negation",
    "arithmetic",
    "constant",
    "timer",
    "guard",
    "transition",
    "target",
    "priority",
    "assignment",
)
_COMPARISONS = {
    "<": ("<=", ">="),
    "<=": ("<", ">"),
    ">": (">=", "<="),
    ">=": (">", "<"),
    "==": ("!=",),
    "!=": ("==",),
}
_CONNECTIVES = {"&&": "||", "||": "&&"}
_ARITHMETIC = {"+": "-", "-": "+", "*": "+", "/": "*", "&": "|", "|": "&", "<<": ">>", ">>": "<<"}
_AGE = re.compile(r"(?:\S+\.)?age of (\S+) >= (\d+)")
_LONGEST = 2**24


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    ident: str
    operator: str
    text: str
    model: TimedModel
    origin: Origin = field(default=NOWHERE, compare=False)


#: A changed expression: by which operator, what was and what is; of a timer, its longer time.
@dataclass(frozen=True, slots=True)
class _Variant:
    expr: Expr
    operator: str
    before: Expr
    after: Expr
    longer: Elapsed | None = None


def mutants_of(part: TimedModel) -> Iterator[Mutant]:
    """All of them, always in the same order. Pre: `part` is the system's part of a model."""
    for count, (operator, text, origin, model) in enumerate(_all(part), 1):
        yield Mutant(
            ident=f"m{count:03d}", operator=operator, text=text, model=model, origin=origin
        )


_Change = tuple[str, str, Origin, TimedModel]


def _all(part: TimedModel) -> Iterator[_Change]:
    for machine in part.machines:
        for one in machine.transitions:
            if machine.locations[one.source].pseudo:
                continue
            yield from _of_transition(part, machine, one)
        yield from _priorities(part, machine)
        yield from _assignments(part, machine)


def _with_machine(part: TimedModel, machine: TimedMachine) -> TimedModel:
    machines = list(part.machines)
    machines[machine.number] = machine
    return replace(part, machines=tuple(machines))


def _with_transition(part: TimedModel, machine: TimedMachine, new: Transition) -> TimedModel:
    transitions = tuple(new if one.number == new.number else one for one in machine.transitions)
    return _with_machine(part, replace(machine, transitions=transitions))


# ------------------------------------------------------------------------------------ transitions


def _of_transition(part: TimedModel, machine: TimedMachine, one: Transition) -> Iterator[_Change]:
    name = f"{machine.path(one.source)} -> {machine.locations[one.target].ident}"
    if one.guard is not None:
        for variant in _variants(one.guard):
            text = f"{name}: `{_shown(variant.after)}` for `{_shown(variant.before)}`"
            model = _with_transition(part, machine, replace(one, guard=variant.expr))
            if variant.longer is not None:
                model = _with_longer(model, variant.longer)
            yield variant.operator, text, one.origin, model
        free = _with_transition(part, machine, replace(one, guard=None))
        yield "guard", f"{name}: no guard", one.origin, free
    missing = _with_transition(part, machine, replace(one, guard=FALSE))
    yield "transition", f"{name} is missing", one.origin, missing
    if one.internal:
        return
    around = machine.locations[one.target].parent
    for other in machine.locations:
        if other.parent == around and other.number != one.target and not other.pseudo:
            model = _with_transition(part, machine, replace(one, target=other.number))
            yield "target", f"{name} goes to {other.ident}", one.origin, model


def _priorities(part: TimedModel, machine: TimedMachine) -> Iterator[_Change]:
    for leaving in machine.outgoing:
        ordered = sorted(leaving, key=lambda one: (one.priority, one.number))
        for one, other in pairwise(ordered):
            if one.priority == other.priority:
                continue
            model = _with_transition(part, machine, replace(one, priority=other.priority))
            model = _with_transition(
                model, model.machines[machine.number], replace(other, priority=one.priority)
            )
            names = [machine.locations[t.target].ident for t in (one, other)]
            text = f"{machine.path(one.source)}: to {names[1]} goes before to {names[0]}"
            yield "priority", text, other.origin, model


def _shown(expr: Expr) -> str:
    return " ".join(_AGE.sub(r"elapsed(\1, \2)", print_expression(readable(expr))).split())


# ------------------------------------------------------------------------------------ assignments


def _assignments(part: TimedModel, machine: TimedMachine) -> Iterator[_Change]:
    """Where they stand: in locations, and in transitions."""
    for location in machine.locations:
        for field_ in ("entry", "do", "exit", "start_action"):
            writes: tuple[Write, ...] = getattr(location, field_)
            for writes_, operator, told, origin in _changed(part, writes):
                place = machine.path(location.number)
                new = _with_location(machine, location, field_, writes_)
                yield operator, f"{place}: {told}", origin, _with_machine(part, new)
    for one in machine.transitions:
        name = f"{machine.path(one.source)} -> {machine.locations[one.target].ident}"
        for writes_, operator, told, origin in _changed(part, one.action):
            model = _with_transition(part, machine, replace(one, action=writes_))
            yield operator, f"{name}: {told}", origin, model


def _with_location(
    machine: TimedMachine, location: Location, field_: str, writes: tuple[Write, ...]
) -> TimedMachine:
    changes: dict[str, tuple[Write, ...]] = {field_: writes}
    new = replace(location, **changes)  # type: ignore[arg-type]
    locations = tuple(new if one.number == location.number else one for one in machine.locations)
    return replace(machine, locations=locations)


def _changed(
    part: TimedModel, writes: tuple[Write, ...]
) -> Iterator[tuple[tuple[Write, ...], str, str, Origin]]:
    for number, write in enumerate(writes):
        variable = part.variable_of[write.variable]
        rest = writes[:number], writes[number + 1 :]
        if variable.role == "timer":
            name = write.variable.name.removeprefix("age of ")
            yield (*rest[0], *rest[1]), "assignment", f"no reset({name})", write.origin
            continue
        told = f"{write.variable.name} = {_shown(write.value)}"
        yield (*rest[0], *rest[1]), "assignment", f"no `{told}`", write.origin
        for variant in _variants(write.value):
            new = variant.expr
            low, high = variable.limits
            if isinstance(new, IntLiteral) and not low <= new.value <= high:
                continue
            changed = (*rest[0], replace(write, value=new), *rest[1])
            after = f"{write.variable.name} = {_shown(new)}"
            yield changed, variant.operator, f"`{after}` for `{told}`", write.origin


# ------------------------------------------------------------------------------------ expressions


def _variants(expr: Expr) -> Iterator[_Variant]:
    """The expression with one change in it."""
    for after, operator, longer in _here(expr):
        yield _Variant(after, operator, expr, after, longer)
    match expr:
        case Binary(op=">=", left=Name(symbol=Symbol() as age)) if _is_age(age):
            return
        case Unary(operand=operand):
            for one in _variants(operand):
                yield replace(one, expr=replace(expr, operand=one.expr))
        case Binary(left=left, right=right):
            for one in _variants(left):
                yield replace(one, expr=replace(expr, left=one.expr))
            for one in _variants(right):
                yield replace(one, expr=replace(expr, right=one.expr))
        case Call(arguments=arguments):
            for place, argument in enumerate(arguments):
                for one in _variants(argument):
                    changed = (*arguments[:place], one.expr, *arguments[place + 1 :])
                    new = replace(expr, arguments=changed)
                    if isinstance(argument, IntLiteral):
                        # An ordinal alone says nothing.
                        yield replace(one, expr=new, before=expr, after=new)
                    else:
                        yield replace(one, expr=new)
        case Conditional(condition, then, otherwise):
            for one in _variants(condition):
                yield replace(one, expr=replace(expr, condition=one.expr))
            for one in _variants(then):
                yield replace(one, expr=replace(expr, then=one.expr))
            for one in _variants(otherwise):
                yield replace(one, expr=replace(expr, otherwise=one.expr))


def _is_age(symbol: Symbol) -> bool:
    return symbol.name.startswith("age of ")


def _here(expr: Expr) -> Iterator[tuple[Expr, str, Elapsed | None]]:
    match expr:
        case Binary(op=">=", left=Name(symbol=Symbol() as age), right=IntLiteral(value=time)) if (
            _is_age(age)
        ):
            for new in (time // 2, 2 * time):
                if new != time and 0 < new <= _LONGEST:
                    right = IntLiteral(new, type=IntType(new, new), origin=expr.right.origin)
                    yield replace(expr, right=right), "timer", Elapsed(age, new)
        case Binary(op=op) if op in _COMPARISONS:
            for other in _COMPARISONS[op]:
                yield replace(expr, op=other), "comparison", None
        case Binary(op=op) if op in _CONNECTIVES:
            yield replace(expr, op=_CONNECTIVES[op]), "connective", None
        case Binary(op=op) if op in _ARITHMETIC:
            yield replace(expr, op=_ARITHMETIC[op]), "arithmetic", None
        case Call() if (found := operation_of(expr)) is not None:
            format_, op = found
            for other in (*_COMPARISONS.get(op, ()), *_ARITHMETIC.get(op, ())):
                kind = "comparison" if op in _COMPARISONS else "arithmetic"
                yield call(format_, other, *expr.arguments, origin=expr.origin), kind, None
        case Unary(op="!", operand=operand):
            yield operand, "negation", None
        case Name() if isinstance(expr.type, BoolType):
            yield Unary("!", expr, type=expr.type, origin=expr.origin), "negation", None
        case BoolLiteral(value=truth):
            yield replace(expr, value=not truth), "constant", None
        case IntLiteral(value=value):
            for new in (value - 1, value + 1):
                yield replace(expr, value=new, type=IntType(new, new)), "constant", None
        case Conditional(then=then, otherwise=otherwise):
            yield replace(expr, then=otherwise, otherwise=then), "connective", None


def _with_longer(model: TimedModel, longer: Elapsed) -> TimedModel:
    """A timer that may grow up to a longer time."""
    variable = model.variable_of[longer.age]
    elapsed = tuple(dict.fromkeys((*model.elapsed, longer)))
    if longer.constant <= variable.limits[1]:
        return replace(model, elapsed=elapsed)
    symbol = replace(longer.age, type=IntType(0, longer.constant))
    grown = renamed(replace(model, elapsed=elapsed), {longer.age: symbol})
    variables = tuple(
        replace(v, limits=(0, longer.constant)) if v.symbol == symbol else v
        for v in grown.variables
    )
    return replace(grown, variables=variables)
