"""A network of timed automata: processes that run side by side over shared data, clocks and
channels (Bengtsson & Yi 2004; UPPAAL's dialect of it).

These are values without behaviour.  All names are resolved and all templates instantiated: a
process is one instance, and its expressions speak of its own variables.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from whence.expr.tree import Expr, Function, Symbol
from whence.source import NOWHERE, Origin

__all__ = [
    "Drawing",
    "Edge",
    "Location",
    "Network",
    "Point",
    "Process",
    "Query",
    "QueryKind",
    "Select",
    "Synchronisation",
    "Variable",
]

Point = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Drawing:
    """How a location or an edge was drawn and labelled in its file, to draw it again.

    `labels` maps a label's kind (`name`, `invariant`, `select`, `guard`, `synchronisation`,
    `assignment`, `comments`) to (text as written, position or None).
    """

    position: Point | None = None
    nails: tuple[Point, ...] = ()
    labels: Mapping[str, tuple[str, Point | None]] = field(
        default_factory=lambda: MappingProxyType({})
    )
    colour: str = ""


@dataclass(frozen=True, slots=True)
class Location:
    name: str
    kind: Literal["normal", "urgent", "committed"] = "normal"
    invariant: Expr | None = None
    #: The identifier in the file ("id3"), for writers and traces.
    ident: str = ""
    drawing: Drawing = Drawing()
    origin: Origin = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Select:
    """`symbol` takes each value `lo..hi`: the edge stands for one edge a value."""

    symbol: Symbol
    lo: int
    hi: int


@dataclass(frozen=True, slots=True)
class Synchronisation:
    """`channel` is an lvalue of channel type, `direction` `!` (send) or `?` (receive)."""

    channel: Expr
    direction: Literal["!", "?"]
    origin: Origin = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Edge:
    source: int
    target: int
    selects: tuple[Select, ...] = ()
    guard: Expr | None = None
    synchronisation: Synchronisation | None = None
    updates: tuple[Expr, ...] = ()
    ident: str = ""
    drawing: Drawing = Drawing()
    origin: Origin = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Process:
    """An instance of a template. `arguments` are its parameters as text, for display."""

    name: str
    template: str
    locations: tuple[Location, ...]
    edges: tuple[Edge, ...]
    initial: int
    arguments: tuple[tuple[str, str], ...] = ()
    priority: int = 0
    origin: Origin = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Variable:
    """A declared constant or variable with its initial value, one integer a cell.

    Cells of clocks and channels hold 0.  `meta` is what UPPAAL calls a variable that does not
    distinguish states; we let it distinguish them, which is sound.
    """

    symbol: Symbol
    initial: tuple[int, ...]
    meta: bool = False
    origin: Origin = field(default=NOWHERE, compare=False)


QueryKind = Literal["E<>", "A[]", "E[]", "A<>", "-->", "sup", "inf"]


@dataclass(frozen=True, slots=True)
class Query:
    """A checked property.

    `predicate` is the state formula (for `sup`/`inf`: the condition in braces, or None);
    `second` is the right side of `-->`; `expressions` are what `sup`/`inf` ask for.
    """

    kind: QueryKind
    predicate: Expr | None
    second: Expr | None = None
    expressions: tuple[Expr, ...] = ()
    text: str = ""
    comment: str = ""
    origin: Origin = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Network:
    """`variables` are all data, clock and channel variables in order of declaration: global
    ones first, then each process's.  `constants` likewise.  `channel_priorities` maps the cells
    of channels, counted through `variables` in order, to a priority (larger goes first);
    `default_priority` is that of internal edges and of channels not in the mapping."""

    name: str
    variables: tuple[Variable, ...]
    processes: tuple[Process, ...]
    constants: tuple[Variable, ...] = ()
    functions: Mapping[Symbol, Function] = field(default_factory=lambda: MappingProxyType({}))
    channel_priorities: Mapping[int, int] = field(default_factory=lambda: MappingProxyType({}))
    default_priority: int = 0
    origin: Origin = field(default=NOWHERE, compare=False)

    @property
    def has_priorities(self) -> bool:
        return bool(self.channel_priorities) or len({p.priority for p in self.processes}) > 1
