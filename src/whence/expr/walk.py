"""Going through checked trees without caring what each node means."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from whence.expr.tree import (
    Assignment,
    Binary,
    Block,
    Call,
    Conditional,
    DoWhile,
    Evaluate,
    Expr,
    Field,
    For,
    ForEach,
    If,
    Index,
    InLocation,
    Name,
    Quantifier,
    Return,
    Statement,
    Step,
    Symbol,
    Unary,
    While,
)

__all__ = ["children", "expressions_of", "subexpressions", "substitute"]


def children(expr: Expr) -> tuple[Expr, ...]:
    """The direct parts of an expression, from left to right."""
    match expr:
        case Unary(operand=operand):
            return (operand,)
        case Binary(left=left, right=right):
            return (left, right)
        case Conditional(condition, then, otherwise):
            return (condition, then, otherwise)
        case Index(array, index):
            return (array, index)
        case Field(record=record):
            return (record,)
        case Call(arguments=arguments):
            return arguments
        case Assignment(target=target, value=value):
            return (target, value)
        case Step(target=target):
            return (target,)
        case Quantifier(body=body):
            return (body,)
        case InLocation(process=process):
            return (process,)
    return ()


def subexpressions(expr: Expr) -> Iterator[Expr]:
    """The expression and all its parts, outermost first."""
    waiting = [expr]
    while waiting:
        current = waiting.pop()
        yield current
        waiting.extend(reversed(children(current)))


def expressions_of(statement: Statement) -> Iterator[Expr]:
    """The outermost expressions of a statement, those of its parts included."""
    match statement:
        case Block():
            for local in statement.locals:
                yield from local.initial
            for inner in statement.statements:
                yield from expressions_of(inner)
        case Evaluate(expr):
            if expr is not None:
                yield expr
        case If(condition, then, otherwise):
            yield condition
            yield from expressions_of(then)
            if otherwise is not None:
                yield from expressions_of(otherwise)
        case While(condition, body) | DoWhile(body, condition):
            yield condition
            yield from expressions_of(body)
        case For():
            for part in (statement.start, statement.condition, statement.advance):
                if part is not None:
                    yield part
            yield from expressions_of(statement.body)
        case ForEach(body=body):
            yield from expressions_of(body)
        case Return(value):
            if value is not None:
                yield value


def substitute(expr: Expr, symbol: Symbol, value: Expr) -> Expr:
    """`expr` with `value` in place of every use of a bound or select variable."""

    def inside(part: Expr) -> Expr:
        return substitute(part, symbol, value)

    match expr:
        case Name(symbol=Symbol() as named):
            return replace(value, origin=expr.origin) if named == symbol else expr
        case Unary(operand=operand):
            return replace(expr, operand=inside(operand))
        case Binary(left=left, right=right):
            return replace(expr, left=inside(left), right=inside(right))
        case Conditional(condition, then, otherwise):
            return replace(
                expr, condition=inside(condition), then=inside(then), otherwise=inside(otherwise)
            )
        case Index(array, index):
            return replace(expr, array=inside(array), index=inside(index))
        case Field(record=record):
            return replace(expr, record=inside(record))
        case Call(arguments=arguments):
            return replace(expr, arguments=tuple(inside(a) for a in arguments))
        case Assignment(target=target, value=assigned):
            return replace(expr, target=inside(target), value=inside(assigned))
        case Step(target=target):
            return replace(expr, target=inside(target))
        case Quantifier(body=body):
            return replace(expr, body=inside(body))
        case InLocation(process=process):
            return replace(expr, process=inside(process))
    return expr
