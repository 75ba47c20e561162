"""What is known of the machines and timers of a chart while its texts are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from whence.expr.scope import Scope
from whence.expr.tree import Binary, Expr, IntLiteral, Name, Symbol
from whence.model.chart import ChartVariable
from whence.testing.logic import both
from whence.testing.model import Location

__all__ = ["MachineNames", "TimerNames"]


@dataclass(slots=True)
class MachineNames:
    """What is known of a machine while names are looked up."""

    name: str
    environment: bool
    control: Symbol
    scope: Scope
    locations: Sequence[Location] = ()

    def states(self, path: str) -> list[Location]:
        real = [one for one in self.locations if one.parent is not None and not one.pseudo]
        exact = [one for one in real if one.ident == path]
        return exact or [one for one in real if one.name == path]

    def inside(self, location: Location) -> Expr:
        control = Name(self.control.name)
        tests = [
            Binary(">=", control, IntLiteral(location.first)),
            Binary("<=", control, IntLiteral(location.last)),
        ]
        if location.first == location.last:
            tests = [Binary("==", control, IntLiteral(location.first))]
        return both(tests)


@dataclass(slots=True)
class TimerNames:
    symbol: Symbol
    variable: ChartVariable
    longest: int = 0
