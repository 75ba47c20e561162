"""Walks over the core language: statements in statements, expressions in both."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import assert_never

from whence.model.program import (
    AddressOf,
    Assert,
    Assign,
    Binary,
    Block,
    Call,
    Cast,
    Clear,
    Conditional,
    Declare,
    Dereference,
    Element,
    Evaluate,
    Expression,
    If,
    Leave,
    Load,
    Logical,
    Loop,
    Member,
    Next,
    Place,
    PointerAdd,
    PointerDifference,
    Return,
    Statement,
    Switch,
    Unary,
    Variable,
    VariablePlace,
)

__all__ = ["bodies", "expressions", "places", "root", "statements", "subexpressions"]


def bodies(statement: Statement) -> tuple[tuple[Statement, ...], ...]:
    """The lists of statements inside one."""
    match statement:
        case If():
            return (statement.then, statement.otherwise)
        case Loop():
            return (statement.before, statement.body, statement.step)
        case Switch():
            return tuple(section.body for section in statement.sections)
        case Block():
            return (statement.body,)
    return ()


def statements(body: Iterable[Statement]) -> Iterator[Statement]:
    """All statements, those inside others too, outer ones first."""
    stack = list(body)[::-1]
    while stack:
        statement = stack.pop()
        yield statement
        for inner in reversed(bodies(statement)):
            stack += reversed(inner)


def expressions(statement: Statement) -> Iterator[Expression]:
    """The expressions of a statement itself, without those of statements in it; of places that
    it writes to, what decides where they are."""
    match statement:
        case Declare() | Leave() | Next() | Block():
            return
        case Clear():
            yield from within(statement.place)
        case Assign():
            yield statement.value
            yield from within(statement.target)
        case Call():
            if not isinstance(statement.callee, str):
                yield statement.callee
            yield from statement.arguments
            if statement.result is not None:
                yield from within(statement.result)
        case Evaluate():
            yield statement.value
        case Assert() | If():
            yield statement.condition
        case Loop():
            if statement.condition is not None:
                yield statement.condition
        case Switch():
            yield statement.value
        case Return():
            if statement.value is not None:
                yield statement.value
        case _:
            assert_never(statement)


def within(place: Place) -> Iterator[Expression]:
    """The expressions that decide where a place is."""
    while True:
        match place:
            case VariablePlace():
                return
            case Element():
                yield place.index
                place = place.array
            case Member():
                place = place.record
            case Dereference():
                yield place.pointer
                return


def root(place: Place) -> Variable | None:
    """The variable that a place is or is part of; None behind a pointer."""
    while True:
        match place:
            case VariablePlace():
                return place.variable
            case Element():
                place = place.array
            case Member():
                place = place.record
            case Dereference():
                return None


def subexpressions(expression: Expression) -> Iterator[Expression]:
    """The expression and all in it, also in what decides where places are."""
    stack = [expression]
    while stack:
        part = stack.pop()
        yield part
        match part:
            case Load() | AddressOf():
                stack.extend(within(part.place))
            case Unary() | Cast():
                stack.append(part.operand)
            case Binary() | Logical() | PointerDifference():
                stack += (part.right, part.left)
            case PointerAdd():
                stack += (part.index, part.pointer)
            case Conditional():
                stack += (part.otherwise, part.then, part.condition)


def places(statement: Statement) -> Iterator[Place]:
    """The places that a statement itself writes to."""
    match statement:
        case Clear():
            yield statement.place
        case Assign():
            yield statement.target
        case Call() if statement.result is not None:
            yield statement.result
