"""Where each variable of a network lives.

All cells of all variables have one address space.  Data comes first, so that the addresses
`0 .. data - 1` are exactly the data part of a state; variables made of clocks or channels alone
follow, and their addresses only identify the clock or channel.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from whence.expr.tree import Symbol
from whence.expr.types import (
    BoolType,
    Cell,
    ChannelType,
    ClockType,
    IntType,
    ScalarType,
    named_cells,
)
from whence.model.network import Network

__all__ = ["Layout", "layout_of"]


@dataclass(frozen=True, slots=True)
class Layout:
    """`clock_of[address]` is a clock's number, counted from 1 (0: no clock); `channel_of` a
    channel's, counted from 0 (-1: no channel). `clocks[0]` is the constant zero."""

    address: Mapping[Symbol, int]
    cells: tuple[Cell, ...]
    data: int
    initial: tuple[int, ...]
    clock_of: tuple[int, ...]
    clocks: tuple[str, ...]
    channel_of: tuple[int, ...]
    channels: tuple[Cell, ...]


def _is_data(cells: list[Cell]) -> bool:
    return any(isinstance(cell.type, IntType | BoolType | ScalarType) for cell in cells)


def layout_of(network: Network) -> Layout:
    """The one layout of `network`; a pure function of it."""
    of_variable = [
        list(named_cells(str(variable.symbol), variable.symbol.type))
        for variable in network.variables
    ]
    clock_number: dict[str, int] = {}
    channels: list[Cell] = []
    channel_number: dict[str, int] = {}
    for variable_cells in of_variable:
        for cell in variable_cells:
            if isinstance(cell.type, ClockType):
                clock_number[cell.name] = len(clock_number) + 1
            elif isinstance(cell.type, ChannelType):
                channel_number[cell.name] = len(channels)
                channels.append(cell)

    address: dict[Symbol, int] = {}
    cells: list[Cell] = []
    initial: list[int] = []
    data = 0
    for data_pass in (True, False):
        for variable, variable_cells in zip(network.variables, of_variable, strict=True):
            if _is_data(variable_cells) is data_pass:
                address[variable.symbol] = len(cells)
                cells.extend(variable_cells)
                if data_pass:
                    initial.extend(variable.initial)
        if data_pass:
            data = len(cells)
    return Layout(
        address=address,
        cells=tuple(cells),
        data=data,
        initial=tuple(initial),
        clock_of=tuple(clock_number.get(cell.name, 0) for cell in cells),
        clocks=("0", *clock_number),
        channel_of=tuple(channel_number.get(cell.name, -1) for cell in cells),
        channels=tuple(channels),
    )
