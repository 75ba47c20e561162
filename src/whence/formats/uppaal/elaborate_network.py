"""Puts the checked parts of a model together to a network."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePath
from types import MappingProxyType

from whence.expr.check import Declaration, Declarations
from whence.expr.constants import fold
from whence.expr.printer import print_expression
from whence.expr.scope import Context, Problem
from whence.expr.tree import Expr, Field, Index, Name
from whence.expr.types import ArrayType, StructType, cells
from whence.model.layout import Layout, layout_of
from whence.model.network import Network, Process, Variable
from whence.source import Origin

__all__ = ["network_of"]


def network_of(
    file: str,
    shared: Declarations,
    local: Declarations,
    processes: list[Process],
    context: Context,
) -> Network:
    """The network of these processes over the `shared` and their `local` declarations."""
    names = {"", *(process.name for process in processes)}
    network = Network(
        name=PurePath(file).stem,
        variables=_variables(shared.variables, local.variables),
        processes=tuple(processes),
        constants=_variables(shared.constants, local.constants),
        # Templates without a process have been checked as well, but are not part of it.
        functions=MappingProxyType(
            {
                symbol: function
                for symbol, function in context.functions.items()
                if symbol.scope in names
            }
        ),
        origin=Origin(file),
    )
    for declaration, groups in shared.priorities:
        context.problems.instance = ""
        with context.problems.collecting("the channel priorities"):
            network = _with_priorities(network, groups, context, declaration.origin)
    return network


def _variables(*parts: list[Declaration]) -> tuple[Variable, ...]:
    return tuple(
        Variable(item.symbol, item.initial, item.meta, item.origin)
        for part in parts
        for item in part
    )


def _with_priorities(
    network: Network,
    groups: tuple[tuple[Expr | None, ...], ...],
    context: Context,
    origin: Origin,
) -> Network:
    layout = layout_of(network)
    priorities: dict[int, int] = {}
    # A declaration without `default` puts everything that it does not list below.
    default = -1
    for priority, group in enumerate(groups):
        for channel in group:
            if channel is None:
                default = priority
                continue
            start, count = _place(channel, layout, context)
            for number in layout.channel_of[start : start + count]:
                if priorities.setdefault(number, priority) != priority:
                    raise Problem(
                        f"`{print_expression(channel)}` has two priorities", channel.origin
                    )
    return replace(
        network, channel_priorities=MappingProxyType(priorities), default_priority=default
    )


def _place(place: Expr, layout: Layout, context: Context) -> tuple[int, int]:
    """The first address of an lvalue with constant indices, and how many cells it has."""
    assert place.type is not None
    width = cells(place.type)
    match place:
        case Name(symbol=symbol) if symbol is not None:
            return layout.address[symbol], width
        case Index(array=array, index=index):
            assert isinstance(array.type, ArrayType)
            value = fold(index, context.values)
            if value is None:
                raise Problem("the index of a channel must be a constant here", index.origin)
            return _place(array, layout, context)[0] + (value - array.type.lo) * width, width
        case Field(record=record, name=name):
            assert isinstance(record.type, StructType)
            found = record.type.field(name)
            assert found is not None
            return _place(record, layout, context)[0] + found[0], width
    raise Problem("expected a channel", place.origin)
