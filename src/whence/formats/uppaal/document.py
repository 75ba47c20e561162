"""A UPPAAL file as it was written: texts with their places, and how it was drawn.

Nothing here is resolved or checked; :mod:`whence.formats.uppaal.elaborate` turns a document into
a :class:`whence.model.network.Network`, and the writer turns a changed one into a file again.
"""

from __future__ import annotations

from dataclasses import dataclass

from whence.model.network import Point
from whence.source import NOWHERE, Origin, SourceText

__all__ = ["Document", "Label", "QueryText", "Template", "TemplateEdge", "TemplateLocation"]


@dataclass(frozen=True, slots=True)
class Label:
    """`kind` is `invariant`, `select`, `guard`, `synchronisation`, `assignment`, `comments` or
    another that UPPAAL knows."""

    kind: str
    source: SourceText
    position: Point | None = None


@dataclass(frozen=True, slots=True)
class TemplateLocation:
    ident: str
    name: SourceText | None = None
    position: Point | None = None
    name_position: Point | None = None
    labels: tuple[Label, ...] = ()
    urgent: bool = False
    committed: bool = False
    branchpoint: bool = False
    colour: str = ""
    origin: Origin = NOWHERE


@dataclass(frozen=True, slots=True)
class TemplateEdge:
    """`source` and `target` are identifiers of locations."""

    source: str
    target: str
    ident: str = ""
    labels: tuple[Label, ...] = ()
    nails: tuple[Point, ...] = ()
    controllable: bool = True
    colour: str = ""
    origin: Origin = NOWHERE


@dataclass(frozen=True, slots=True)
class Template:
    name: SourceText
    parameters: SourceText | None
    declaration: SourceText | None
    locations: tuple[TemplateLocation, ...]
    edges: tuple[TemplateEdge, ...]
    initial: str | None
    initial_origin: Origin = NOWHERE
    #: "" or the name of a construct that only other tools know: `lsc`, `dynamic`.
    unsupported: str = ""
    origin: Origin = NOWHERE


@dataclass(frozen=True, slots=True)
class QueryText:
    formula: SourceText
    comment: str = ""
    #: What the file says of it: "success", "failure" or "" (UPPAAL stores past results).
    expected: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """`raw` is the file's text (XML, decoded) so that a writer can leave alone what did not
    change; None for a document that was not read from XML. `encoding` is the codec that makes
    the file's bytes of it, byte order mark included."""

    file: str
    declaration: SourceText | None
    templates: tuple[Template, ...]
    instantiation: SourceText | None
    system: SourceText
    queries: tuple[QueryText, ...] = ()
    raw: str | None = None
    encoding: str = "utf-8"
