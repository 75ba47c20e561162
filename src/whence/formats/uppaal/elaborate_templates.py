"""Templates: their texts are parsed once, and checked for each instance."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from whence.expr.check import Checker, Declarations
from whence.expr.constants import bounds
from whence.expr.parser import (
    parse_declarations,
    parse_expression,
    parse_parameters,
    parse_selects,
    parse_synchronisation,
    parse_updates,
)
from whence.expr.scope import Problem, Problems, Scope
from whence.expr.tree import DeclarationSyntax, Expr, ParameterSyntax, SelectSyntax
from whence.expr.types import CONSTRAINT, ChannelType
from whence.formats.uppaal.document import Label, Template, TemplateEdge, TemplateLocation
from whence.model.network import (
    Drawing,
    Edge,
    Location,
    Point,
    Process,
    Select,
    Synchronisation,
)
from whence.source import NOWHERE, InputError, Origin, SourceText

__all__ = ["ParsedTemplate", "check_process", "is_blank", "parse_template"]

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


def is_blank(source: SourceText | None) -> bool:
    """Whether a text says nothing: many files carry empty labels."""
    return source is None or not _COMMENT.sub(" ", source.text).strip()


@dataclass(slots=True)
class _ParsedLocation:
    name: str
    kind: Literal["normal", "urgent", "committed"]
    ident: str
    invariant: Expr | None
    element: str
    drawing: Drawing
    origin: Origin
    #: The checked location, if it is the same in all instances.
    shared: Location | None = None


@dataclass(slots=True)
class _ParsedEdge:
    source: int
    target: int
    selects: tuple[SelectSyntax, ...]
    guard: Expr | None
    synchronisation: tuple[Expr, Literal["!", "?"]] | None
    updates: tuple[Expr, ...]
    elements: Mapping[str, str]
    sync_origin: Origin
    ident: str
    drawing: Drawing
    origin: Origin
    shared: Edge | None = None


@dataclass(slots=True)
class ParsedTemplate:
    """`sound` is false where the template itself is so wrong that checking it makes no sense."""

    name: str
    parameters: tuple[ParameterSyntax, ...] = ()
    declarations: tuple[DeclarationSyntax, ...] = ()
    locations: list[_ParsedLocation] = field(default_factory=list)
    edges: list[_ParsedEdge] = field(default_factory=list)
    initial: int = 0
    location_numbers: dict[str, int] = field(default_factory=dict)
    parameters_element: str = ""
    declarations_element: str = ""
    origin: Origin = NOWHERE
    sound: bool = True
    used: bool = False
    #: What was wrong in the texts; told by whoever knows whether the template is used.
    found: list[Problem | InputError] = field(default_factory=list)


class _Noting:
    """Runs one piece of parsing and keeps what goes wrong for later."""

    def __init__(self, parsed: ParsedTemplate) -> None:
        self.parsed = parsed

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if isinstance(error, Problem | InputError):
            self.parsed.found.append(error)
            return True
        return False


def parse_template(template: Template) -> ParsedTemplate:
    """All texts of a template, parsed. Problems are in the result's `found`."""
    parsed = ParsedTemplate(template.name.text.strip(), origin=template.origin)
    noting = _Noting(parsed)
    if template.unsupported:
        parsed.sound = False
        what = {"lsc": "live sequence charts", "dynamic": "dynamic templates"}
        parsed.found.append(
            Problem(
                what.get(template.unsupported, template.unsupported),
                template.origin,
                unsupported=True,
            )
        )
        return parsed
    if template.parameters is not None and not is_blank(template.parameters):
        parsed.parameters_element = template.parameters.element
        with noting:
            parsed.sound = False
            parsed.parameters = parse_parameters(template.parameters)
            parsed.sound = True
    if template.declaration is not None and not is_blank(template.declaration):
        parsed.declarations_element = template.declaration.element
        with noting:
            parsed.sound, sound = False, parsed.sound
            parsed.declarations = parse_declarations(template.declaration)
            parsed.sound = sound
    numbers = _parse_locations(template, parsed, noting)
    for edge in template.edges:
        with noting:
            parsed.edges.append(_parse_edge(edge, numbers))
    return parsed


def _parse_locations(template: Template, parsed: ParsedTemplate, noting: _Noting) -> dict[str, int]:
    """Number of each location by its identifier in the file."""
    numbers: dict[str, int] = {}
    for location in template.locations:
        with noting:
            if location.branchpoint:
                # Its edges lead to nowhere without it: no use in complaining about these too.
                parsed.sound = False
                numbers[location.ident] = -1
                raise Problem(
                    "branchpoints (probabilistic choice)", location.origin, unsupported=True
                )
            name = location.name.text.strip() if location.name is not None else ""
            place = location.name.origin(0, len(name)) if location.name else location.origin
            name = name or location.ident
            number = len(parsed.locations)
            if location.ident in numbers:
                raise Problem(f"two locations with id `{location.ident}`", location.origin)
            numbers[location.ident] = number
            invariant, element = None, ""
            label = _label(location.labels, "invariant")
            duplicate = name in parsed.location_numbers
            parsed.location_numbers.setdefault(name, number)
            parsed.locations.append(
                _ParsedLocation(
                    name,
                    "committed"
                    if location.committed
                    else "urgent"
                    if location.urgent
                    else "normal",
                    location.ident,
                    None,
                    "",
                    _location_drawing(location),
                    location.origin,
                )
            )
            if duplicate:
                raise Problem(f"two locations are called `{name}`", place)
            if label is not None:
                element = label.source.element
                invariant = parse_expression(label.source)
                parsed.locations[-1].invariant = invariant
                parsed.locations[-1].element = element
    with noting:
        if template.initial is None:
            parsed.sound = False
            if template.locations:
                raise Problem(
                    f"template `{parsed.name}` has no initial location",
                    template.initial_origin if template.initial_origin.line else template.origin,
                    'expected <init ref="…"/>',
                )
            raise Problem(f"template `{parsed.name}` has no locations", template.origin)
        initial = numbers.get(template.initial)
        if initial is None:
            parsed.sound = False
            raise Problem(
                f"the initial location `{template.initial}` does not exist",
                template.initial_origin,
            )
        parsed.initial = initial
    return numbers


def _parse_edge(edge: TemplateEdge, numbers: dict[str, int]) -> _ParsedEdge:
    for ident in (edge.source, edge.target):
        if ident not in numbers:
            raise Problem(
                f"an edge from or to `{ident}`, which is no location of its template",
                edge.origin,
            )
    probability = _label(edge.labels, "probability")
    if probability is not None:
        raise Problem(
            "probabilistic weights of edges",
            probability.source.origin(0, len(probability.source.text)),
            unsupported=True,
        )
    labels = {
        kind: label
        for kind in ("select", "guard", "synchronisation", "assignment")
        if (label := _label(edge.labels, kind)) is not None
    }
    sync = labels.get("synchronisation")
    sync_origin = edge.origin
    if sync is not None:
        text = sync.source.text
        start = len(text) - len(text.lstrip())
        sync_origin = sync.source.origin(start, len(text.rstrip()))
    return _ParsedEdge(
        numbers[edge.source],
        numbers[edge.target],
        parse_selects(labels["select"].source) if "select" in labels else (),
        parse_expression(labels["guard"].source) if "guard" in labels else None,
        parse_synchronisation(sync.source) if sync is not None else None,
        parse_updates(labels["assignment"].source) if "assignment" in labels else (),
        {kind: label.source.element for kind, label in labels.items()},
        sync_origin,
        edge.ident,
        _edge_drawing(edge),
        edge.origin,
    )


def _label(labels: tuple[Label, ...], kind: str) -> Label | None:
    for label in labels:
        if label.kind == kind and not is_blank(label.source):
            return label
    return None


def _drawn_labels(labels: tuple[Label, ...]) -> dict[str, tuple[str, Point | None]]:
    return {label.kind: (label.source.text, label.position) for label in labels}


def _location_drawing(location: TemplateLocation) -> Drawing:
    labels = _drawn_labels(location.labels)
    if location.name is not None:
        labels = {"name": (location.name.text, location.name_position), **labels}
    return Drawing(
        position=location.position, labels=MappingProxyType(labels), colour=location.colour
    )


def _edge_drawing(edge: TemplateEdge) -> Drawing:
    return Drawing(
        nails=edge.nails,
        labels=MappingProxyType(_drawn_labels(edge.labels)),
        colour=edge.colour,
    )


# --------------------------------------------------------------------------------- instances


def check_process(
    parsed: ParsedTemplate,
    name: str,
    scope: Scope,
    checker: Checker,
    declarations: Declarations,
) -> Process:
    """The process that a template becomes whose parameters are declared in `scope`."""
    problems = checker.context.problems
    checker.declare(parsed.declarations, scope, declarations, parsed.declarations_element)
    locations = tuple(
        location.shared or _check_location(location, number, name, scope, checker, problems)
        for number, location in enumerate(parsed.locations)
    )
    edges = tuple(
        edge.shared or _check_edge(edge, number, name, scope, checker, problems)
        for number, edge in enumerate(parsed.edges)
    )
    return Process(name, parsed.name, locations, edges, parsed.initial, origin=parsed.origin)


def _check_location(
    location: _ParsedLocation,
    number: int,
    process: str,
    scope: Scope,
    checker: Checker,
    problems: Problems,
) -> Location:
    invariant: Expr | None = None
    shared = True
    if location.invariant is not None:
        shared = False
        with problems.collecting(location.element):
            invariant = checker.invariant(location.invariant, scope.child(f"{process}@{number}"))
            shared = checker.shared
    result = Location(
        location.name, location.kind, invariant, location.ident, location.drawing, location.origin
    )
    if shared:
        location.shared = result
    return result


def _check_edge(
    edge: _ParsedEdge,
    number: int,
    process: str,
    scope: Scope,
    checker: Checker,
    problems: Problems,
) -> Edge:
    inner = scope.child(f"{process}#{number}")
    shared = not edge.selects
    found = len(problems)
    selects = []
    with problems.collecting(edge.elements.get("select", "")):
        for syntax in edge.selects:
            symbol, domain = checker.select(syntax, scope, inner)
            selects.append(Select(symbol, *bounds(domain)))
    guard: Expr | None = None
    dead = False
    if edge.guard is not None:
        with problems.collecting(edge.elements["guard"]):
            guard = checker.guard(edge.guard, inner)
            shared &= checker.shared
            # What stands on an edge that constants rule out is never evaluated.
            dead = guard.type != CONSTRAINT and checker.constant(guard) == 0
    synchronisation: Synchronisation | None = None
    if edge.synchronisation is not None:
        with problems.collecting(edge.elements["synchronisation"]):
            channel = checker.channel(edge.synchronisation[0], inner, dead)
            shared &= checker.shared
            synchronisation = Synchronisation(channel, edge.synchronisation[1], edge.sync_origin)
            assert isinstance(channel.type, ChannelType)
            if channel.type.urgent and guard is not None and guard.type == CONSTRAINT:
                raise Problem(
                    "clock guard on an urgent channel",
                    guard.origin,
                    "take the clock out of the guard, or `urgent` off the channel",
                    unsupported=True,
                )
    updates = []
    if edge.updates:
        element = edge.elements["assignment"]
        for update in edge.updates:
            with problems.collecting(element):
                updates.append(checker.update(update, inner, dead))
            shared &= checker.shared
    result = Edge(
        edge.source,
        edge.target,
        tuple(selects),
        guard,
        synchronisation,
        tuple(updates),
        edge.ident,
        edge.drawing,
        edge.origin,
    )
    if shared and len(problems) == found:
        edge.shared = result
    return result
