"""The same model with other symbols."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from whence.expr.tree import Binary, Call, Conditional, Expr, Name, Symbol, Unary
from whence.testing.model import TimedMachine, TimedModel, Write

__all__ = ["renamed", "with_symbols"]


def with_symbols(expr: Expr, symbols: Mapping[Symbol, Symbol]) -> Expr:
    """An expression of a timed model with other symbols in it."""
    match expr:
        case Name(symbol=Symbol() as symbol) if symbol in symbols:
            new = symbols[symbol]
            return replace(expr, name=new.name, symbol=new, type=new.type)
        case Unary(operand=operand):
            return replace(expr, operand=with_symbols(operand, symbols))
        case Binary(left=left, right=right):
            return replace(
                expr, left=with_symbols(left, symbols), right=with_symbols(right, symbols)
            )
        case Call(arguments=arguments):
            return replace(expr, arguments=tuple(with_symbols(one, symbols) for one in arguments))
        case Conditional(condition, then, otherwise):
            return replace(
                expr,
                condition=with_symbols(condition, symbols),
                then=with_symbols(then, symbols),
                otherwise=with_symbols(otherwise, symbols),
            )
    return expr


def renamed(
    model: TimedModel,
    symbols: Mapping[Symbol, Symbol],
    machine_name: Callable[[str], str] = lambda name: name,
) -> TimedModel:
    """The whole model."""

    def new(symbol: Symbol) -> Symbol:
        return symbols.get(symbol, symbol)

    def writes(those: tuple[Write, ...]) -> tuple[Write, ...]:
        return tuple(
            Write(new(one.variable), with_symbols(one.value, symbols), one.origin) for one in those
        )

    def machine(one: TimedMachine) -> TimedMachine:
        return replace(
            one,
            name=machine_name(one.name),
            control=new(one.control),
            choice=None if one.choice is None else new(one.choice),
            locations=tuple(
                replace(
                    location,
                    do=writes(location.do),
                    entry=writes(location.entry),
                    exit=writes(location.exit),
                    start_action=writes(location.start_action),
                )
                for location in one.locations
            ),
            transitions=tuple(
                replace(
                    transition,
                    guard=None
                    if transition.guard is None
                    else with_symbols(transition.guard, symbols),
                    action=writes(transition.action),
                )
                for transition in one.transitions
            ),
        )

    return replace(
        model,
        machines=tuple(machine(one) for one in model.machines),
        variables=tuple(replace(v, symbol=new(v.symbol)) for v in model.variables),
        elapsed=tuple(replace(one, age=new(one.age)) for one in model.elapsed),
    )
