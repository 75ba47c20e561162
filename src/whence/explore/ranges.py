"""What values the variables of a network can hold, whatever its runs: a sound over-approximation.

Clock bounds may be given by variables (`x <= period[i]`).  The constants that matter for
extrapolation are then the values that these variables can take.  Declared ranges are often far
too wide (a plain `int` has 65,536 values), so we look at what is assigned.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from whence.expr.intervals import Interval, declared_range, interval, range_of_type
from whence.expr.tree import (
    Assignment,
    Call,
    Expr,
    Field,
    Function,
    Index,
    Name,
    Step,
    Symbol,
    SymbolKind,
)
from whence.expr.types import BoolType, cells, named_cells
from whence.expr.walk import expressions_of, subexpressions
from whence.model.network import Network

__all__ = ["RangeMap", "variable_ranges"]

#: After this many rounds, ranges that still grow are given their declared bounds.
_ROUNDS = 8


class RangeMap:
    """The interval of each variable, all cells of an array together."""

    def __init__(self, network: Network) -> None:
        self.constants = {v.symbol: v.initial for v in network.constants}
        self.functions = network.functions
        self.of: dict[Symbol, Interval] = {}

    def __call__(self, access: Name | Index | Field) -> Interval:
        declared = declared_range(access)
        symbol = _root(access)
        if symbol is None or symbol not in self.of:
            return declared
        return declared.meet(self.of[symbol]) or declared

    def interval(self, expr: Expr) -> Interval:
        return interval(expr, self, constants=self.constants, functions=self.functions)


def _root(expr: Expr) -> Symbol | None:
    """The variable that an lvalue is, or is a part of."""
    while isinstance(expr, Index | Field):
        expr = expr.array if isinstance(expr, Index) else expr.record
    return expr.symbol if isinstance(expr, Name) else None


def _effects(network: Network) -> Iterator[Expr]:
    """Every expression of the network that may assign something."""
    for process in network.processes:
        for edge in process.edges:
            yield from edge.updates
    for function in network.functions.values():
        yield from expressions_of(function.body)


def _assignments(
    network: Network, functions: Mapping[Symbol, Function]
) -> Iterator[tuple[Symbol | None, Assignment | Step | None]]:
    """(variable, how it is assigned); None for how: in a way that we do not follow."""
    for effect in _effects(network):
        for expr in subexpressions(effect):
            match expr:
                case Assignment(target=target) | Step(target=target):
                    yield _root(target), expr
                case Call(symbol=Symbol() as symbol, arguments=arguments):
                    for parameter, argument in zip(
                        functions[symbol].parameters, arguments, strict=True
                    ):
                        if parameter.reference:
                            yield _root(argument), None


def _assigned(expr: Assignment | Step | None, ranges: RangeMap) -> Interval | None:
    """The values that an assignment can store; None where only the declaration tells."""
    if not isinstance(expr, Assignment) or expr.op != "=":
        return None
    type_ = expr.target.type
    if type_ is None or cells(type_) != 1:
        return None
    value = ranges.interval(expr.value)
    if isinstance(type_, BoolType):
        # Any other number than 0 is stored as 1, so that [-1, 0] becomes [0, 1].
        return Interval(int(value.truth is True), int(value.truth is not False))
    return value.meet(range_of_type(type_))


def variable_ranges(network: Network) -> RangeMap:
    """The least fixpoint of the assignments, widened to the declared ranges where it is slow."""
    ranges = RangeMap(network)
    full: dict[Symbol, Interval] = {}
    for variable in network.variables:
        of_cells = [range_of_type(c.type) for c in named_cells("", variable.symbol.type)]
        if not of_cells or not variable.initial:
            continue
        full[variable.symbol] = Interval(min(r.lo for r in of_cells), max(r.hi for r in of_cells))
        ranges.of[variable.symbol] = Interval(min(variable.initial), max(variable.initial))
    assignments = [
        (symbol, expr)
        for symbol, expr in _assignments(network, network.functions)
        if symbol is not None and symbol in full and symbol.kind is SymbolKind.VARIABLE
    ]
    for round_ in range(_ROUNDS + 1):
        changed = False
        for symbol, expr in assignments:
            assert symbol is not None
            stored = _assigned(expr, ranges)
            if stored is None:
                stored = full[symbol]
            joined = ranges.of[symbol].join(stored)
            if joined != ranges.of[symbol]:
                ranges.of[symbol] = full[symbol] if round_ == _ROUNDS else joined
                changed = True
        if not changed:
            return ranges
    # One more sweep could still grow what depends on the widened ones: widen all that is assigned.
    for symbol, _ in assignments:
        assert symbol is not None
        ranges.of[symbol] = full[symbol]
    return ranges
