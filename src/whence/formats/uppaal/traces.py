"""UPPAAL's symbolic traces in XML: what verifyta's traces look like once they are converted.

Such a file first names the clocks, variables, locations and edges that occur, then lists vectors
of locations and of values, zones, nodes made of these, and transitions between nodes.  Nothing in
it stands in order but by the names that refer to each other; :func:`read_trace` follows these.

The file tells of an edge only where it starts and ends and how UPPAAL prints its labels, and of a
select variable nothing at all.  :func:`match` therefore executes the data part of the model along
the trace and takes those edges and values that give the states of the trace.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from pathlib import Path
from typing import Literal, NamedTuple, NoReturn
from xml.sax.saxutils import escape, quoteattr

from whence.expr.evaluate import Store, apply_updates, holds, place_of
from whence.expr.faults import EvaluationError
from whence.expr.printer import print_expression, print_updates
from whence.expr.tree import Binary, Expr, Field, Index, Name, Symbol
from whence.expr.types import ChannelType, cells
from whence.formats.uppaal.xml import XmlFile, XmlNode, decode, parse, read_bytes
from whence.model.layout import Layout
from whence.model.network import Edge, Location, Network, Process
from whence.model.trace import EdgeUse, SymbolicState, TimedTrace, Transition
from whence.source import NOWHERE, Diagnostic, InputError, Origin, UnsupportedError

__all__ = [
    "ClockBound",
    "TraceEdge",
    "TraceLocation",
    "TraceNode",
    "TraceProcess",
    "TraceStep",
    "TraceSymbol",
    "UppaalTrace",
    "match",
    "read_trace",
    "read_trace_file",
    "write_trace",
]

#: The encoded bound that is none (see :class:`whence.model.trace.SymbolicState`).
_NO_BOUND = 2**31 - 1
#: How UPPAAL calls the clock that is always zero, in the order of its versions.
_ZERO_CLOCKS = ("t(0)", "#t(0)")
#: So many ways to read one step are tried, with all values of its select variables.
_MAX_READINGS = 200_000


# ------------------------------------------------------------------------------ what a file says


@dataclass(frozen=True, slots=True)
class TraceSymbol:
    """A clock or a variable. `name` is our name of it: `P.x`, or `x` for a global one."""

    ident: str
    name: str


@dataclass(frozen=True, slots=True)
class TraceLocation:
    ident: str
    name: str
    invariant: str = ""


@dataclass(frozen=True, slots=True)
class TraceEdge:
    """`source` and `target` identify locations; the texts are as UPPAAL prints them (`1` is an
    empty guard or update, `tau` no synchronisation).

    `number` and `selects` are in files that we wrote: which of the process's edges it is, and the
    values of its select variables.
    """

    ident: str
    source: str
    target: str
    guard: str = "1"
    sync: str = "tau"
    update: str = "1"
    number: int | None = None
    selects: tuple[int, ...] | None = None
    origin: Origin = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class TraceProcess:
    ident: str
    name: str
    clocks: tuple[TraceSymbol, ...] = ()
    variables: tuple[TraceSymbol, ...] = ()
    locations: tuple[TraceLocation, ...] = ()
    edges: tuple[TraceEdge, ...] = ()


class ClockBound(NamedTuple):
    """`left - right < bound` (`<=` unless `strict`); `bound` None is infinity."""

    left: str
    right: str
    bound: int | None
    strict: bool


@dataclass(frozen=True, slots=True)
class TraceNode:
    """`locations` has a location's identifier a process, `values` the variables by identifier;
    `bounds` is None where the file gives no zone."""

    ident: str
    locations: tuple[str, ...]
    values: tuple[tuple[str, int], ...]
    bounds: tuple[ClockBound, ...] | None
    origin: Origin = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class TraceStep:
    """`edges` are identifiers of edges, as the file orders them."""

    source: str
    target: str
    edges: tuple[str, ...]
    origin: Origin = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class UppaalTrace:
    """`nodes` are in the order in which the trace visits them, one more than `steps`. If the
    last one has been visited before, `loop_to` says as which."""

    file: str
    clocks: tuple[TraceSymbol, ...]
    variables: tuple[TraceSymbol, ...]
    processes: tuple[TraceProcess, ...]
    nodes: tuple[TraceNode, ...]
    steps: tuple[TraceStep, ...]
    loop_to: int | None = None


# ------------------------------------------------------------------------------ reading

_TEXTS = frozenset(("location", "guard", "sync", "update", "select"))
_ROOT_HINT = "a symbolic trace of UPPAAL in XML is a <trace> element"


class _Reader:
    """Collects the parts of a trace file as they end."""

    def __init__(self, xml: XmlFile) -> None:
        self.xml = xml
        self.clocks: tuple[TraceSymbol, ...] = ()
        self.variables: tuple[TraceSymbol, ...] = ()
        self.processes: tuple[TraceProcess, ...] = ()
        self.location_vectors: dict[str, tuple[str, ...]] = {}
        self.variable_vectors: dict[str, tuple[tuple[str, int], ...]] = {}
        self.zones: dict[str, tuple[ClockBound, ...]] = {}
        self.nodes: dict[str, XmlNode] = {}
        self.transitions: list[TraceStep] = []
        #: The same few names stand in each of thousands of bounds.
        self.names: dict[str, str] = {}

    def on_end(self, node: XmlNode, around: list[XmlNode]) -> bool:
        if len(around) != 1:
            return True
        match node.tag:
            case "system":
                self.clocks = self.symbols(node, "clock", "")
                self.variables = self.symbols(node, "variable", "")
                self.processes = tuple(
                    self.process(child) for child in node.children if child.tag == "process"
                )
            case "location_vector":
                tokens = self.need(node, "locations").split()
                self.location_vectors[self.ident(node, self.location_vectors)] = tuple(tokens)
            case "variable_vector":
                self.variable_vectors[self.ident(node, self.variable_vectors)] = tuple(
                    (self.need(child, "variable"), self.integer(child, "value"))
                    for child in node.children
                    if child.tag == "variable_state"
                )
            case "dbm_instance":
                self.zones[self.ident(node, self.zones)] = tuple(
                    self.bound(child) for child in node.children if child.tag == "clockbound"
                )
            case "node":
                self.nodes[self.ident(node, self.nodes)] = node
            case "transition":
                self.transitions.append(
                    TraceStep(
                        self.need(node, "from").strip(),
                        self.need(node, "to").strip(),
                        tuple(self.need(node, "edges").split()),
                        self.xml.origin(node.start, node.end),
                    )
                )
        return False

    def need(self, node: XmlNode, name: str) -> str:
        value = node.attributes.get(name)
        if value is None:
            raise self.xml.error(f"<{node.tag}> without `{name}`", node.start, node.open_end)
        return value

    def ident(self, node: XmlNode, others: Mapping[str, object]) -> str:
        ident = self.need(node, "id").strip()
        if ident in others:
            raise self.xml.error(f"a second <{node.tag}> {ident}", node.start, node.open_end)
        return ident

    def integer(self, node: XmlNode, name: str) -> int:
        text = self.need(node, name)
        if not re.fullmatch(r"\s*[+-]?[0-9]{1,20}\s*", text):
            raise self.xml.error(
                f"`{name}` of <{node.tag}> is {text!r}, which is no integer",
                node.start,
                node.open_end,
            )
        return int(text)

    def symbols(self, node: XmlNode, tag: str, process: str) -> tuple[TraceSymbol, ...]:
        before = f"{process}." if process else ""
        return tuple(
            TraceSymbol(self.need(child, "id"), before + self.need(child, "name"))
            for child in node.children
            if child.tag == tag
        )

    def process(self, node: XmlNode) -> TraceProcess:
        name = self.need(node, "name")
        return TraceProcess(
            ident=self.need(node, "id"),
            name=name,
            clocks=self.symbols(node, "clock", name),
            variables=self.symbols(node, "variable", name),
            locations=tuple(
                TraceLocation(self.need(child, "id"), self.need(child, "name"), child.text)
                for child in node.children
                if child.tag == "location"
            ),
            edges=tuple(self.edge(child) for child in node.children if child.tag == "edge"),
        )

    def edge(self, node: XmlNode) -> TraceEdge:
        texts = {child.tag: child.text.strip() for child in node.children}
        selects = None
        if "select" in texts:
            try:
                selects = tuple(int(value) for value in texts["select"].split())
            except ValueError:
                raise self.xml.error(
                    "the values of select variables are integers", node.start, node.end
                ) from None
        return TraceEdge(
            ident=self.need(node, "id"),
            source=self.need(node, "from"),
            target=self.need(node, "to"),
            guard=texts.get("guard", "1"),
            sync=texts.get("sync", "tau"),
            update=texts.get("update", "1"),
            number=self.integer(node, "number") if "number" in node.attributes else None,
            selects=selects,
            origin=self.xml.origin(node.start, node.end),
        )

    def bound(self, node: XmlNode) -> ClockBound:
        text, comparison = self.need(node, "bound").strip(), self.need(node, "comp").strip()
        if comparison not in ("<", "<="):
            raise self.xml.error(
                f"a bound compares with < or <=, not with {comparison!r}", node.start, node.open_end
            )
        bound = None if text == "inf" else self.integer(node, "bound")
        if bound is not None and abs(bound) >= 2**30 - 1:
            raise self.xml.error(f"the bound {bound} is too large", node.start, node.open_end)
        left, right = (self.need(node, name) for name in ("clock1", "clock2"))
        names = self.names
        left, right = names.setdefault(left, left), names.setdefault(right, right)
        return ClockBound(left, right, bound, comparison == "<")

    # Putting it together:

    def node(self, ident: str, origin: Origin) -> TraceNode:
        node = self.nodes.get(ident)
        if node is None:
            raise InputError(Diagnostic(f"there is no node {ident}", origin))
        origin = self.xml.origin(node.start, node.end)
        locations = self.location_vectors.get(self.need(node, "location_vector").strip())
        if locations is None:
            raise InputError(Diagnostic(f"node {ident} has no location vector", origin))
        name = node.attribute("variable_vector").strip()
        values = self.variable_vectors.get(name)
        if values is None:
            if name:
                raise InputError(Diagnostic(f"there is no variable vector {name}", origin))
            values = ()
        zones = node.attribute("dbm_instance").split()
        if len(zones) > 1:
            raise UnsupportedError(Diagnostic(f"node {ident} has more than one zone", origin))
        if zones and zones[0] not in self.zones:
            raise InputError(Diagnostic(f"there is no zone {zones[0]}", origin))
        bounds = self.zones[zones[0]] if zones else None
        return TraceNode(ident, locations, values, bounds, origin)

    def trace(self, root: XmlNode) -> UppaalTrace:
        here = self.xml.origin(root.start, root.open_end)
        options = root.attributes.get("trace_options", "symbolic")
        if "symbolic" not in options.split():
            raise UnsupportedError(
                Diagnostic(f"this is not a symbolic trace, but of the kind {options!r}", here)
            )
        # Transitions stand in any order, but those that leave the same node stand in theirs.
        leaving: dict[str, list[TraceStep]] = {}
        for step in reversed(self.transitions):
            leaving.setdefault(step.source, []).append(step)
        at = self.need(root, "initial_node").strip()
        known: dict[str, TraceNode] = {at: self.node(at, here)}
        nodes = [known[at]]
        steps: list[TraceStep] = []
        loop_to = None
        while leaving.get(at):
            step = leaving[at].pop()
            at = step.target
            loop_to = None
            if at in known:
                loop_to = next(i for i, node in enumerate(nodes) if node.ident == at)
            else:
                known[at] = self.node(at, step.origin)
            steps.append(step)
            nodes.append(known[at])
        left = [step for rest in leaving.values() for step in rest]
        if left:
            raise InputError(
                Diagnostic(
                    f"the trace does not get to this transition: it ends in {at}",
                    min(left, key=lambda step: (step.origin.line, step.origin.column)).origin,
                )
            )
        return UppaalTrace(
            self.xml.file,
            self.clocks,
            self.variables,
            self.processes,
            tuple(nodes),
            tuple(steps),
            loop_to,
        )


def read_trace(text: bytes | str, file: str) -> UppaalTrace:
    """What the text of a trace file says; `file` is its name in messages."""
    raw = decode(text, file)[0] if isinstance(text, bytes) else text
    xml = XmlFile(raw, file)
    reader = _Reader(xml)
    root = parse(xml, "trace", _TEXTS, reader.on_end, _ROOT_HINT)
    return reader.trace(root)


def read_trace_file(path: Path | str) -> UppaalTrace:
    return read_trace(read_bytes(path), str(path))


# ------------------------------------------------------------------------------ texts compared

_TOKEN = re.compile(r"//[^\n]*|/\*.*?\*/|\w+|:=|[^\s\w]", re.DOTALL)
_SAME = {":=": "=", "and": "&&", "or": "||", "not": "!", "true": "1", "false": "0"}


def _normal(text: str) -> str:
    """A guard or update so that its author's and UPPAAL's spelling become one. Two different
    texts may become one as well, so this only decides between what is possible otherwise."""
    tokens = [
        _SAME.get(token, token)
        for token in _TOKEN.findall(text)
        if token not in "()" and not token.startswith(("//", "/*"))
    ]
    return " ".join(tokens) or "1"


def _written(edge: Edge, kind: str) -> str:
    return edge.drawing.labels.get(kind, ("", None))[0]


def _guard_texts(edge: Edge) -> set[str]:
    printed = "" if edge.guard is None else print_expression(edge.guard)
    return {_normal(printed), _normal(_written(edge, "guard"))}


def _update_texts(edge: Edge) -> set[str]:
    return {_normal(print_updates(edge.updates)), _normal(_written(edge, "assignment"))}


def _squeezed(name: str) -> str:
    """UPPAAL separates names by blanks, so a process `P(1, 2)` is `P(1,2)` there."""
    return "".join(name.split())


def _channel_root(expr: Expr) -> Symbol | None:
    while isinstance(expr, Index | Field):
        expr = expr.array if isinstance(expr, Index) else expr.record
    return expr.symbol if isinstance(expr, Name) else None


def _channel_names(edge: Edge) -> set[str]:
    """By which names a trace may call the channel of an edge: that of the channel itself, or
    that of the parameter which stands for it."""
    assert edge.synchronisation is not None
    names = set()
    root = _channel_root(edge.synchronisation.channel)
    if root is not None:
        names.add(root.name)
    written = _written(edge, "synchronisation")
    found = re.match(r"\s*(?:\w+\s*\.\s*)?(\w+)", written)
    if found:
        names.add(found[1])
    return names


def _direction(sync: str) -> Literal["", "!", "?"]:
    sync = sync.strip()
    return "!" if sync.endswith("!") else "?" if sync.endswith("?") else ""


# ------------------------------------------------------------------------------ matching


class _Reading(NamedTuple):
    """One of the edges of the model that an edge of the trace can be. `channel` is a number of
    the layout, -1 for none."""

    use: EdgeUse
    edge: Edge
    channel: int


class _Matcher:
    def __init__(self, trace: UppaalTrace, network: Network, layout: Layout) -> None:
        self.trace = trace
        self.network = network
        self.layout = layout
        self.origin = Origin(trace.file)
        self.step = ""
        self.constants = {variable.symbol: variable.initial for variable in network.constants}
        #: Of each process of the trace, by its identifier: which one it is in the network.
        self.processes: dict[str, int] = {}
        #: Of each location of the trace: (process, location) in the network.
        self.locations: dict[str, tuple[int, int]] = {}
        self.edges: dict[str, tuple[int, TraceEdge]] = {}
        self.name_processes()
        self.cells = self.name_variables()
        self.clocks = self.name_clocks()

    def refuse(self, reason: str, origin: Origin | None = None, hint: str = "") -> NoReturn:
        where = f"{self.step}: " if self.step else ""
        raise InputError(
            Diagnostic(
                f"the trace does not belong to the model: {where}{reason}",
                origin or self.origin,
                hint,
            )
        )

    # Names:

    def name_processes(self) -> None:
        by_name = {_squeezed(process.name): i for i, process in enumerate(self.network.processes)}
        for process in self.trace.processes:
            number = by_name.get(_squeezed(process.name))
            if number is None:
                known = ", ".join(process.name for process in self.network.processes[:10])
                self.refuse(f"there is no process {process.name} in it", hint=f"it has {known}")
            self.processes[process.ident] = number
            ours = self.network.processes[number]
            for location in process.locations:
                at = _location_number(ours, location.name)
                if at is None:
                    self.refuse(f"process {ours.name} has no location {location.name}")
                self.locations[location.ident] = number, at
            for edge in process.edges:
                self.edges[edge.ident] = number, edge
        for number, ours in enumerate(self.network.processes):
            if number not in self.processes.values():
                self.refuse(f"it has a process {ours.name}, the trace has none")

    def name_variables(self) -> dict[str, int]:
        """Our cell of each variable of the trace, -1 for one that is constant in the model."""
        ours = {_squeezed(cell.name): i for i, cell in enumerate(self.layout.cells)}
        constant = {_squeezed(str(variable.symbol)) for variable in self.network.constants}
        for process in self.network.processes:
            constant |= {_squeezed(f"{process.name}.{name}") for name, _ in process.arguments}
        found = {}
        variables = [*self.trace.variables, *(v for p in self.trace.processes for v in p.variables)]
        for variable in variables:
            name = _squeezed(variable.name)
            cell = ours.get(name, -1)
            if cell >= self.layout.data or (cell < 0 and name.split("[")[0] not in constant):
                self.refuse(f"there is no variable {variable.name} in it")
            found[variable.ident] = cell
        return found

    def name_clocks(self) -> dict[str, int]:
        """Our number of each clock of the trace, -1 for those that only UPPAAL has."""
        ours = {_squeezed(name): i for i, name in enumerate(self.layout.clocks) if i}
        found = {}
        clocks = [*self.trace.clocks, *(c for p in self.trace.processes for c in p.clocks)]
        for clock in clocks:
            number = ours.get(_squeezed(clock.name))
            if number is None and clock.name in _ZERO_CLOCKS:
                number = 0
            elif number is None and clock.name.startswith("#"):
                number = -1
            if number is None:
                self.refuse(f"there is no clock {clock.name} in it")
            found[clock.ident] = number
        return found

    # States:

    def vector(self, node: TraceNode) -> tuple[int, ...]:
        found: dict[int, int] = {}
        for ident in node.locations:
            if ident not in self.locations:
                self.refuse(f"unknown location {ident}", node.origin)
            process, location = self.locations[ident]
            found[process] = location
        missing = [p.name for i, p in enumerate(self.network.processes) if i not in found]
        if missing:
            self.refuse(f"nothing tells where {missing[0]} is", node.origin)
        return tuple(found[process] for process in range(len(self.network.processes)))

    def told(self, node: TraceNode) -> dict[int, int]:
        """The values that the trace tells, by cell."""
        values = {}
        for ident, value in node.values:
            if ident not in self.cells:
                self.refuse(f"unknown variable {ident}", node.origin)
            values[self.cells[ident]] = value
        values.pop(-1, None)
        return values

    def zone(self, node: TraceNode) -> tuple[tuple[int, ...], ...]:
        if node.bounds is None:
            return ()
        size = len(self.layout.clocks)
        zone = [[_NO_BOUND] * size for _ in range(size)]
        missing = size * size
        for left, right, bound, strict in node.bounds:
            for clock in (left, right):
                if clock not in self.clocks:
                    self.refuse(f"unknown clock {clock}", node.origin)
            i, j = self.clocks[left], self.clocks[right]
            if i >= 0 and j >= 0:
                zone[i][j] = _NO_BOUND if bound is None else 2 * bound + (not strict)
                missing -= 1
        if missing:
            # A clock that UPPAAL knew to be irrelevant can have any value that is not negative.
            _close(zone)
        if any(zone[i][i] < 1 for i in range(size)):
            self.refuse(f"the zone of {node.ident} is empty", node.origin)
        return tuple(tuple(row) for row in zone)

    def state(self, node: TraceNode, values: Sequence[int]) -> SymbolicState:
        return SymbolicState(self.vector(node), tuple(values), self.zone(node))

    def difference(self, node: TraceNode, values: Sequence[int]) -> str:
        """Where the values differ from those that the trace tells; "" if nowhere."""
        for cell, value in self.told(node).items():
            if values[cell] != value:
                name = self.layout.cells[cell].name
                return f"{name} is {values[cell]} in the model and {value} in the trace"
        return ""

    def run(self) -> TimedTrace:
        nodes = self.trace.nodes
        self.step = "in the initial state"
        first = nodes[0]
        for process, at in zip(self.network.processes, self.vector(first), strict=True):
            if at != process.initial:
                ours, theirs = process.locations[process.initial], process.locations[at]
                self.refuse(
                    f"{process.name} starts in {_shown(ours)}, not in {_shown(theirs)}",
                    first.origin,
                )
        values: tuple[int, ...] = self.layout.initial
        difference = self.difference(first, values)
        if difference:
            self.refuse(difference, first.origin)
        states = [self.state(first, values)]
        transitions = []
        for number, (step, after) in enumerate(zip(self.trace.steps, nodes[1:], strict=True), 1):
            self.step = f"in step {number}"
            self.origin = step.origin
            transition, values = self.match_step(step, states[-1], after)
            transitions.append(transition)
            states.append(self.state(after, values))
        lasso = self.trace.loop_to
        if lasso is not None and states[lasso].values != states[-1].values:
            lasso = None  # the trace does not tell all variables, and these differ
        return TimedTrace(
            tuple(states), tuple(transitions), (), "goal" if lasso is None else "lasso", lasso
        )

    # Steps:

    def match_step(
        self, step: TraceStep, before: SymbolicState, after: TraceNode
    ) -> tuple[Transition, tuple[int, ...]]:
        edges = []
        for ident in step.edges:
            if ident not in self.edges:
                self.refuse(f"unknown edge {ident}")
            edges.append(self.edges[ident])
        self.check_shape(edges)
        self.check_locations(edges, before.locations, self.vector(after))
        # Sender first, then the receivers in order of their processes.
        edges.sort(key=lambda item: (_direction(item[1].sync) == "?", item[0]))
        readings = [self.readings(process, edge, before) for process, edge in edges]
        if prod(len(some) for some in readings) > _MAX_READINGS:
            self.refuse(
                "the values of the select variables can be chosen in too many ways",
                hint=f"we try at most {_MAX_READINGS}",
            )
        fitting: list[tuple[tuple[_Reading, ...], tuple[int, ...]]] = []
        reason = "its edges do not synchronise on one channel"
        for chosen in product(*readings):
            if len({reading.channel for reading in chosen}) > 1:
                continue
            try:
                values = self.execute(chosen, before)
            except EvaluationError as error:
                reason = f"the updates go wrong: {error}"
                continue
            difference = self.difference(after, values)
            if difference:
                reason = difference
            else:
                fitting.append((chosen, values))
        if not fitting:
            self.refuse(reason)
        chosen, values = self.choose(fitting, [edge for _, edge in edges])
        channel = chosen[0].channel
        if channel >= 0:
            broadcast = self.layout.channels[channel].type
            assert isinstance(broadcast, ChannelType)
            if not broadcast.broadcast and len(chosen) != 2:
                self.refuse(
                    f"{self.layout.channels[channel].name} is no broadcast channel, so it takes "
                    f"one sender and one receiver, not {len(chosen)} edges"
                )
        action = self.layout.channels[channel].name if channel >= 0 else "tau"
        return Transition(action, tuple(reading.use for reading in chosen)), values

    def check_shape(self, edges: Sequence[tuple[int, TraceEdge]]) -> None:
        names = [self.network.processes[process].name for process, _ in edges]
        if not edges:
            self.refuse("no edge takes part")
        if len(set(names)) < len(names):
            self.refuse("a process takes part twice")
        directions = [_direction(edge.sync) for _, edge in edges]
        if directions == [""]:
            return
        if directions.count("!") != 1 or "" in directions:
            shown = ", ".join(edge.sync for _, edge in edges)
            self.refuse(f"its edges do not make one action: {shown}")

    def check_locations(
        self,
        edges: Sequence[tuple[int, TraceEdge]],
        before: tuple[int, ...],
        after: tuple[int, ...],
    ) -> None:
        expected = list(before)
        for process, edge in edges:
            ours = self.network.processes[process]
            for ident in (edge.source, edge.target):
                if ident not in self.locations or self.locations[ident][0] != process:
                    self.refuse(f"edge {edge.ident} has an unknown location {ident}", edge.origin)
            source = self.locations[edge.source][1]
            if before[process] != source:
                here, there = ours.locations[before[process]], ours.locations[source]
                self.refuse(
                    f"{ours.name} is in {_shown(here)}, but its edge starts in {_shown(there)}"
                )
            expected[process] = self.locations[edge.target][1]
        for process, ours in enumerate(self.network.processes):
            if after[process] != expected[process]:
                here, there = (ours.locations[at[process]] for at in (after, expected))
                self.refuse(
                    f"{ours.name} gets to {_shown(there)}, but the trace has it in {_shown(here)}"
                )

    def readings(self, process: int, edge: TraceEdge, before: SymbolicState) -> list[_Reading]:
        """The edges of the model, with values of their select variables, that this one of the
        trace can be in a state: between its locations, on its channel, enabled as to data."""
        ours = self.network.processes[process]
        source, target = (self.locations[ident][1] for ident in (edge.source, edge.target))
        between = f"from {_shown(ours.locations[source])} to {_shown(ours.locations[target])}"
        found = [
            (number, candidate)
            for number, candidate in enumerate(ours.edges)
            if (candidate.source, candidate.target) == (source, target)
        ]
        if not found:
            self.refuse(f"{ours.name} has no edge {between}")
        direction = _direction(edge.sync)
        name, index = _channel_text(edge.sync)
        found = [
            (number, candidate)
            for number, candidate in found
            if (
                candidate.synchronisation is not None
                and candidate.synchronisation.direction == direction
                and name in _channel_names(candidate)
                if direction
                else candidate.synchronisation is None
            )
        ]
        if not found:
            what = f"with {edge.sync}" if direction else "without synchronisation"
            self.refuse(f"{ours.name} has no edge {between} {what}")
        if edge.number in [number for number, _ in found]:
            found = [(number, candidate) for number, candidate in found if number == edge.number]
        if sum(_choices(candidate) for _, candidate in found) > _MAX_READINGS:
            self.refuse("the values of the select variables can be chosen in too many ways")
        readings = []
        reason = "is not enabled there"
        for number, candidate in found:
            for selects in _selects(candidate, edge.selects):
                use = EdgeUse(process, number, selects)
                try:
                    store = self.store(before, candidate, selects)
                    if not _may_hold(candidate.guard, store):
                        continue
                    channel = self.channel(candidate, store)
                except EvaluationError as error:
                    reason = f"goes wrong: {error}"
                    continue
                if channel >= 0 and not self.on_cell(channel, index):
                    reason = f"is not on {edge.sync}"
                    continue
                readings.append(_Reading(use, candidate, channel))
        if not readings:
            self.refuse(f"the edge of {ours.name} {between} {reason}")
        return readings

    def on_cell(self, channel: int, index: str) -> bool:
        """Whether the index that the trace shows, if it is a number, is that of the channel."""
        if not re.fullmatch(r"(\[[0-9]+\])+", index):
            return True
        return _squeezed(self.layout.channels[channel].name).endswith(index)

    def store(self, state: SymbolicState, edge: Edge, selects: Sequence[int]) -> Store:
        store = Store(
            data=list(state.values),
            address=self.layout.address,
            clock_of=self.layout.clock_of,
            locations=state.locations,
            constants=self.constants,
            functions=self.network.functions,
        )
        for select, value in zip(edge.selects, selects, strict=True):
            store.bind(select.symbol, value)
        return store

    def channel(self, edge: Edge, store: Store) -> int:
        if edge.synchronisation is None:
            return -1
        return self.layout.channel_of[place_of(edge.synchronisation.channel, store).address]

    def execute(self, chosen: Sequence[_Reading], before: SymbolicState) -> tuple[int, ...]:
        values = before.values
        for reading in chosen:
            state = SymbolicState(before.locations, values)
            store = self.store(state, reading.edge, reading.use.selects)
            apply_updates(reading.edge.updates, store)
            values = tuple(store.data)
        return values

    def choose(
        self,
        fitting: Sequence[tuple[tuple[_Reading, ...], tuple[int, ...]]],
        edges: Sequence[TraceEdge],
    ) -> tuple[tuple[_Reading, ...], tuple[int, ...]]:
        """The reading whose labels look most like those of the trace."""
        if len(fitting) == 1:
            return fitting[0]
        scores: dict[tuple[int, int], int] = {}

        def score(chosen: Sequence[_Reading]) -> int:
            total = 0
            for reading, edge in zip(chosen, edges, strict=True):
                key = reading.use.process, reading.use.edge
                if key not in scores:
                    scores[key] = (_normal(edge.guard) in _guard_texts(reading.edge)) + (
                        _normal(edge.update) in _update_texts(reading.edge)
                    )
                total += scores[key]
            return total

        best = max(score(chosen) for chosen, _ in fitting)
        likely = [item for item in fitting if score(item[0]) == best]
        first = likely[0]
        for chosen, values in likely[1:]:
            for one, other in zip(first[0], chosen, strict=True):
                same = one.edge.guard == other.edge.guard and one.edge.updates == other.edge.updates
                if not same or values != first[1]:
                    ours = self.network.processes[one.use.process]
                    self.refuse(
                        f"it can be edge {one.use.edge + 1} or edge {other.use.edge + 1} of "
                        f"{ours.name}, and nothing tells which",
                        hint="give the edges guards or updates that tell them apart",
                    )
        return first


def _close(zone: list[list[int]]) -> None:
    """Make a zone canonical some of whose bounds are not known."""
    size = len(zone)
    for i in range(size):
        zone[i][i] = min(zone[i][i], 1)
        zone[0][i] = min(zone[0][i], 1)
    for k in range(size):
        for i in range(size):
            if zone[i][k] == _NO_BOUND:
                continue
            for j in range(size):
                if zone[k][j] != _NO_BOUND:
                    one, other = zone[i][k], zone[k][j]
                    through = 2 * ((one >> 1) + (other >> 1)) + (one & other & 1)
                    zone[i][j] = min(zone[i][j], through)


def _shown(location: Location) -> str:
    return location.name or location.ident


def _location_number(process: Process, name: str) -> int | None:
    """UPPAAL calls a location without a name by its identifier, with `_` before it."""
    for number, location in enumerate(process.locations):
        if location.name == name:
            return number
    for number, location in enumerate(process.locations):
        if location.ident and name in (location.ident, f"_{location.ident}"):
            return number
    return None


def _channel_text(sync: str) -> tuple[str, str]:
    """The name of the channel in `P.go[2]!`, and its indices: (`go`, `[2]`)."""
    found = re.match(r"(?:.*\.)?(\w+)((?:\[.*\])?)[!?]$", _squeezed(sync))
    return (found[1], found[2]) if found else ("", "")


def _choices(edge: Edge) -> int:
    return prod(select.hi - select.lo + 1 for select in edge.selects)


def _selects(edge: Edge, told: tuple[int, ...] | None) -> Iterator[tuple[int, ...]]:
    """All values of an edge's select variables, or the one that the trace tells."""
    domains = [range(select.lo, select.hi + 1) for select in edge.selects]
    if told is not None and len(told) == len(domains):
        if all(value in domain for value, domain in zip(told, domains, strict=True)):
            yield told
        return
    yield from product(*domains)


def _may_hold(guard: Expr | None, store: Store) -> bool:
    """Whether a guard is true as far as it is about data; clocks have no values here."""
    if guard is None:
        return True
    if isinstance(guard, Binary) and guard.op == "&&":
        return _may_hold(guard.left, store) and _may_hold(guard.right, store)
    try:
        return holds(guard, store)
    except ValueError:  # a clock
        return True


def match(trace: UppaalTrace, network: Network, layout: Layout) -> TimedTrace:
    """`trace` as a run of `network`; refuses what is none and says at which step, and why.

    Locations, values and synchronisations are checked, zones are taken over. `delays` is left
    empty: whoever needs a concrete run finds one in the zones.
    """
    return _Matcher(trace, network, layout).run()


# ------------------------------------------------------------------------------ writing


class _Writer:
    def __init__(self, network: Network, layout: Layout) -> None:
        self.network = network
        self.layout = layout
        self.idents = [_squeezed(process.name) for process in network.processes]
        self.clock_idents = ["sys.t(0)"] + [""] * (len(layout.clocks) - 1)
        self.cell_idents = [""] * layout.data
        #: (tag, identifier, name) of the clocks and variables of each scope.
        self.symbols: dict[str, list[tuple[str, str, str]]] = {"": [("clock", "sys.t(0)", "t(0)")]}
        for symbol, start in layout.address.items():
            for address in range(start, start + cells(symbol.type)):
                self.name_cell(symbol, address)

    def name_cell(self, symbol: Symbol, address: int) -> None:
        clock = self.layout.clock_of[address]
        if not clock and address >= self.layout.data:
            return
        name = self.layout.cells[address].name
        if symbol.scope:
            name = name.removeprefix(f"{symbol.scope}.")
        ident = f"{_squeezed(symbol.scope) or 'sys'}.{name}"
        if clock:
            self.clock_idents[clock] = ident
        else:
            self.cell_idents[address] = ident
        tag = "clock" if clock else "variable"
        self.symbols.setdefault(symbol.scope, []).append((tag, ident, name))

    def location(self, process: int, location: int) -> str:
        return f"{self.idents[process]}.{self.location_name(process, location)}"

    def location_name(self, process: int, location: int) -> str:
        ours = self.network.processes[process].locations[location]
        return ours.name or f"_{ours.ident}"

    def write(self, trace: TimedTrace) -> str:
        uses = self.edge_idents(trace)
        lines = ['<?xml version="1.0" encoding="UTF-8"?>']
        lines.append('<trace initial_node="State1" trace_options="symbolic">')
        lines += self.system_lines(uses)
        location_vectors: dict[str, str] = {}
        variable_vectors: dict[str, str] = {}
        zones: dict[str, str] = {}
        nodes = []
        # A lasso goes back to a node that is there already.
        states = list(trace.states)
        last = len(states)
        if trace.loop_to is not None and states[trace.loop_to] == states[-1]:
            last = trace.loop_to + 1
            states.pop()
        for number, state in enumerate(states, 1):
            at = _shared(location_vectors, "LocVec", self.location_vector(state))
            values = _shared(variable_vectors, "varvec.", self.variable_vector(state))
            zone = _shared(zones, "DBM", self.bounds(state)) + " " if state.zone else ""
            nodes.append(
                f'<node id="State{number}" location_vector="{at}" dbm_instance="{zone}" '
                f'variable_vector="{values}"/>'
            )
        lines += (
            f'<location_vector id="{ident}" locations={quoteattr(content)}/>'
            for content, ident in location_vectors.items()
        )
        lines += (
            f'<variable_vector id="{ident}">{content}</variable_vector>'
            for content, ident in variable_vectors.items()
        )
        lines += nodes
        lines += (
            f'<dbm_instance id="{ident}">{content}</dbm_instance>'
            for content, ident in zones.items()
        )
        for number, transition in enumerate(trace.transitions, 1):
            edges = "".join(f"{uses[use, transition.action]} " for use in transition.uses)
            if number == len(trace.states):
                # This step fails, so the format, which knows no errors, has no place for it.
                shown = trace.message.replace("--", "- -")
                lines.append(f"<!-- then {escape(edges)}fails: {escape(shown)} -->")
                break
            target = last if number == len(trace.transitions) else number + 1
            lines.append(
                f'<transition from="State{number}" to="State{target}" edges={quoteattr(edges)}/>'
            )
        lines += ("</trace>", "")
        return "\n".join(lines)

    def edge_idents(self, trace: TimedTrace) -> dict[tuple[EdgeUse, str], str]:
        """An identifier of each use of an edge, counted as UPPAAL does: as they occur."""
        idents: dict[tuple[EdgeUse, str], str] = {}
        counts = [0] * len(self.idents)
        for transition in trace.transitions:
            for use in transition.uses:
                if (use, transition.action) not in idents:
                    counts[use.process] += 1
                    ident = f"{self.idents[use.process]}.Edge{counts[use.process]}"
                    idents[use, transition.action] = ident
        return idents

    def system_lines(self, uses: dict[tuple[EdgeUse, str], str]) -> Iterator[str]:
        yield "<system>"
        yield from self.symbol_lines("")
        for number, process in enumerate(self.network.processes):
            ident = quoteattr(self.idents[number])
            yield f"<process id={ident} name={quoteattr(process.name)}>"
            yield from self.symbol_lines(process.name)
            for at, location in enumerate(process.locations):
                text = "" if location.invariant is None else print_expression(location.invariant)
                yield (
                    f"<location id={quoteattr(self.location(number, at))} "
                    f"name={quoteattr(self.location_name(number, at))}>{escape(text)}</location>"
                )
            for (use, action), edge_ident in uses.items():
                if use.process == number:
                    yield self.edge_line(use, action, edge_ident)
            yield "</process>"
        yield "</system>"

    def symbol_lines(self, scope: str) -> Iterator[str]:
        for tag, ident, name in self.symbols.get(scope, ()):
            yield f"<{tag} id={quoteattr(ident)} name={quoteattr(name)}/>"

    def edge_line(self, use: EdgeUse, action: str, ident: str) -> str:
        edge = self.network.processes[use.process].edges[use.edge]
        source, target = (self.location(use.process, at) for at in (edge.source, edge.target))
        guard = "1" if edge.guard is None else print_expression(edge.guard)
        update = print_updates(edge.updates) or "1"
        sync = "tau"
        if edge.synchronisation is not None:
            sync = action + edge.synchronisation.direction
        selects = " ".join(map(str, use.selects))
        return (
            f"<edge id={quoteattr(ident)} from={quoteattr(source)} to={quoteattr(target)} "
            f'number="{use.edge}"><guard>{escape(guard)}</guard><sync>{escape(sync)}</sync>'
            f"<update>{escape(update)}</update>"
            + (f"<select>{selects}</select>" if use.selects else "")
            + "</edge>"
        )

    def location_vector(self, state: SymbolicState) -> str:
        return "".join(
            f"{self.location(process, at)} " for process, at in enumerate(state.locations)
        )

    def variable_vector(self, state: SymbolicState) -> str:
        return "".join(
            f'<variable_state variable={quoteattr(ident)} value="{value}"/>'
            for ident, value in zip(self.cell_idents, state.values, strict=True)
        )

    def bounds(self, state: SymbolicState) -> str:
        parts = []
        for left, row in zip(self.clock_idents, state.zone, strict=True):
            for right, bound in zip(self.clock_idents, row, strict=True):
                value = "inf" if bound == _NO_BOUND else str(bound >> 1)
                weak = bound != _NO_BOUND and bound & 1
                parts.append(
                    f"<clockbound clock1={quoteattr(left)} clock2={quoteattr(right)} "
                    f'bound="{value}" comp="{"&lt;=" if weak else "&lt;"}"/>'
                )
        return "".join(parts)


def _shared(known: dict[str, str], prefix: str, content: str) -> str:
    """The identifier of a part of the file that several nodes may have in common."""
    return known.setdefault(content, f"{prefix}{len(known) + 1}")


def write_trace(trace: TimedTrace, network: Network, layout: Layout) -> str:
    """`trace` as UPPAAL would write it, for :func:`read_trace` and for tools made for UPPAAL.

    Beyond what UPPAAL writes, each edge tells its number in the process and the values of its
    select variables, so that nothing has to be guessed when we read it.
    """
    return _Writer(network, layout).write(trace)
