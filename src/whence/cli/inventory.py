"""What is in a model: counted and named for `whence info`, without searching anything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from whence.api import Model
from whence.expr.tree import (
    Binary,
    Deadlock,
    Expr,
    IntLiteral,
    Name,
    Quantifier,
    SymbolKind,
)
from whence.expr.types import (
    ArrayType,
    ChannelType,
    ClockType,
    ConstraintType,
    DifferenceType,
    ScalarType,
    StructType,
    Type,
)
from whence.expr.walk import expressions_of, subexpressions
from whence.formats.uppaal.document import Document
from whence.model.network import Network, Variable
from whence.source import Origin

__all__ = ["Feature", "Inventory", "TemplateFacts", "inventory_of", "outline_of"]


@dataclass(frozen=True, slots=True)
class TemplateFacts:
    """`processes` are its instances in the system, by name."""

    name: str
    locations: int
    edges: int
    processes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Feature:
    """Something of the language that the model uses, how often, and where first."""

    name: str
    count: int
    first: Origin


@dataclass(slots=True)
class Inventory:
    """`clocks`, `variables` and `channels` are (name, type), arrays whole."""

    templates: tuple[TemplateFacts, ...]
    clocks: tuple[tuple[str, str], ...] = ()
    variables: tuple[tuple[str, str], ...] = ()
    channels: tuple[tuple[str, str], ...] = ()
    features: tuple[Feature, ...] = ()
    #: Clocks and integers, counted one by one.
    clock_count: int = 0
    cell_count: int = 0
    channel_count: int = 0


def outline_of(document: Document) -> Inventory:
    """What can be said of a file that is no model (yet)."""
    return Inventory(
        tuple(
            TemplateFacts(template.name.text.strip(), len(template.locations), len(template.edges))
            for template in document.templates
        )
    )


def inventory_of(model: Model) -> Inventory:
    network = model.network
    processes: dict[str, list[str]] = {}
    for process in network.processes:
        processes.setdefault(process.template, []).append(process.name)
    groups: dict[str, list[tuple[str, str]]] = {"clock": [], "channel": [], "data": []}
    for variable in network.variables:
        groups[_group(variable.symbol.type)].append(
            (str(variable.symbol), str(variable.symbol.type))
        )
    return Inventory(
        templates=tuple(
            TemplateFacts(facts.name, facts.locations, facts.edges, tuple(processes[facts.name]))
            if facts.name in processes
            else facts
            for facts in outline_of(model.document).templates
        ),
        clocks=tuple(groups["clock"]),
        variables=tuple(groups["data"]),
        channels=tuple(groups["channel"]),
        features=_Features(model).found(),
        clock_count=len(model.layout.clocks) - 1,
        cell_count=model.layout.data,
        channel_count=len(model.layout.channels),
    )


def _group(type_: Type) -> str:
    match type_:
        case ClockType():
            return "clock"
        case ChannelType():
            return "channel"
        case ArrayType():
            return _group(type_.element)
        case StructType():
            inner = {_group(field_type) for _, field_type in type_.fields}
            return inner.pop() if len(inner) == 1 else "data"
    return "data"


@dataclass(slots=True)
class _Features:
    """Looks through a network for what not every model has."""

    model: Model
    counts: Counter[str] = field(default_factory=Counter)
    first: dict[str, Origin] = field(default_factory=dict)
    seen: set[tuple[str, Origin]] = field(default_factory=set)

    def found(self) -> tuple[Feature, ...]:
        network = self.model.network
        for variable in network.variables:
            self._declaration(variable)
        self._places(network)
        for function in network.functions.values():
            # A template's function is there once for each process.
            self._note("functions", function.origin)
            for expr in expressions_of(function.body):
                self._expression(expr)
        for expr in _expressions(network):
            self._expression(expr)
        if network.channel_priorities:
            self._note("channel priorities", network.origin)
        if len({process.priority for process in network.processes}) > 1:
            self._note("process priorities", network.origin)
        for query in self.model.queries:
            for formula in (query.predicate, query.second, *query.expressions):
                if formula is not None and any(
                    isinstance(part, Deadlock) for part in subexpressions(formula)
                ):
                    self._note("deadlock in queries", query.origin)
        return tuple(
            Feature(name, count, self.first[name]) for name, count in sorted(self.counts.items())
        )

    def _note(self, name: str, origin: Origin) -> None:
        """Each place in the file counts once, however many processes have it."""
        if origin.line and (name, origin) in self.seen:
            return
        self.seen.add((name, origin))
        self.counts[name] += 1
        self.first.setdefault(name, origin)

    def _declaration(self, variable: Variable) -> None:
        type_ = variable.symbol.type
        if isinstance(type_, ArrayType):
            self._note("arrays", variable.origin)
        while isinstance(type_, ArrayType):
            if isinstance(type_.index, ScalarType):
                self._note("scalar sets", variable.origin)
            type_ = type_.element
        match type_:
            case ChannelType(broadcast=broadcast, urgent=urgent):
                if broadcast:
                    self._note("broadcast channels", variable.origin)
                if urgent:
                    self._note("urgent channels", variable.origin)
            case StructType():
                self._note("structs", variable.origin)
            case ScalarType():
                self._note("scalar sets", variable.origin)
        if variable.meta:
            self._note("meta variables", variable.origin)

    def _places(self, network: Network) -> None:
        for process in network.processes:
            for location in process.locations:
                if location.kind != "normal":
                    self._note(f"{location.kind} locations", location.origin)
            for edge in process.edges:
                if edge.selects:
                    self._note("selects", edge.origin)

    def _expression(self, expr: Expr) -> None:
        for part in subexpressions(expr):
            if isinstance(part, Quantifier):
                self._note("quantifiers", part.origin)
            if not isinstance(part, Binary) or not isinstance(part.type, ConstraintType):
                continue
            if part.left.type is None or isinstance(part.left.type, ConstraintType):
                continue
            if isinstance(part.left.type, DifferenceType):
                self._note("clock differences", part.origin)
            if isinstance(part.left.type, DifferenceType | ClockType) and _varies(part.right):
                self._note("symbolic clock bounds", part.origin)


def _varies(bound: Expr) -> bool:
    """Whether what a clock is compared with can change while the system runs."""
    return any(
        not (isinstance(part, Name) and _is_constant(part))
        for part in subexpressions(bound)
        if not isinstance(part, IntLiteral | Binary)
    )


def _is_constant(name: Name) -> bool:
    return name.symbol is not None and name.symbol.kind is SymbolKind.CONSTANT


def _expressions(network: Network) -> Iterator[Expr]:
    for process in network.processes:
        for location in process.locations:
            if location.invariant is not None:
                yield location.invariant
        for edge in process.edges:
            if edge.guard is not None:
                yield edge.guard
            yield from edge.updates
