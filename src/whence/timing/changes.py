"""Repairs as changes of the model's text: how they read, and how they are made."""

from __future__ import annotations

from collections.abc import Sequence

from whence.expr.printer import print_expression, print_updates
from whence.formats.uppaal.document import Document
from whence.formats.uppaal.write import replace_label, replace_texts, set_urgent
from whence.source import Origin
from whence.timing.elements import Elements, Reset, Urgency, WrittenComparison
from whence.timing.results import Change, Kind
from whence.timing.system import NewOperator, Reference, Shift, System, TraceElement, Variation

__all__ = ["apply_changes", "changes_of"]

#: What an edge without updates says.
_NO_UPDATE = "no update"
_URGENCY = ("not urgent", "urgent")


def changes_of(system: System, variations: Sequence[Variation]) -> tuple[Change, ...]:
    """A set of variations in the words of the model's author. Of several resets that change on
    one edge, each goes on from what the one before has left."""
    elements = system.source
    changes: list[Change] = []
    inverted: dict[tuple[int, int], list[Reset]] = {}
    for variation in variations:
        element = system.elements[variation.element]
        kind, before, after = _comparison_or_urgency(element, variation)
        if isinstance(element, Reset):
            resets = inverted.setdefault((element.template, element.index), [])
            kind, before = "reset", _updates(elements, element, resets)
            resets.append(element)
            after = _updates(elements, element, resets)
        amount = variation.amount if isinstance(variation, Shift) else 0
        changes.append(_change(elements, element, kind, before, after, amount))
    return tuple(changes)


def _comparison_or_urgency(element: TraceElement, variation: Variation) -> tuple[Kind, str, str]:
    if isinstance(element, Urgency):
        return "urgency", _URGENCY[element.urgent], _URGENCY[not element.urgent]
    if isinstance(element, WrittenComparison):
        before = element.text()
        match variation:
            case Shift(_, amount):
                return "bound", before, element.text(amount=amount)
            case NewOperator(_, op):
                return "operator", before, element.text(op=op)
            case Reference(_, name, side):
                return "clock", before, element.text(subject=_subject(element, name.text, side))
    return "reset", "", ""


def _subject(element: WrittenComparison, clock: str, side: str) -> str:
    if not element.difference:
        return clock
    left, _, right = print_expression(element.subject).partition(" - ")
    return f"{clock} - {right}" if side == "left" else f"{left} - {clock}"


def _updates(elements: Elements, edge: Reset, inverted: Sequence[Reset]) -> str:
    """The updates of an edge after some of its resets are inverted."""
    updates = elements.updates(edge.template, edge.index)
    if not inverted:
        return print_updates(updates) or _NO_UPDATE
    removed = {reset.update for reset in inverted if reset.update >= 0}
    added = [f"{reset.clock} = 0" for reset in inverted if reset.update < 0]
    kept = [print_expression(u) for number, u in enumerate(updates) if number not in removed]
    return ", ".join((*kept, *added)) or _NO_UPDATE


def _change(
    elements: Elements, element: TraceElement, kind: Kind, before: str, after: str, amount: int
) -> Change:
    at_location = isinstance(element, Urgency) or (
        isinstance(element, WrittenComparison) and element.owner == "location"
    )
    return Change(
        kind=kind,
        template=element.template,
        location=element.index if at_location else None,
        edge=None if at_location else element.index,
        element=_words(elements, element, at_location),
        before=before,
        after=after,
        origin=_origin(elements, element),
        amount=amount,
    )


def _words(elements: Elements, element: TraceElement, at_location: bool) -> str:
    template = elements.document.templates[element.template]
    names = {
        location.ident: location.name.text.strip() if location.name is not None else location.ident
        for location in template.locations
    }
    owner = template.name.text.strip()
    if at_location:
        ident = template.locations[element.index].ident
        what = "location" if isinstance(element, Urgency) else "invariant of"
        return f"{what} {owner}.{names[ident]}"
    edge = template.edges[element.index]
    what = "update" if isinstance(element, Reset) else "guard"
    return f"{what} of {owner}: {names[edge.source]} -> {names[edge.target]}"


def _origin(elements: Elements, element: TraceElement) -> Origin:
    if isinstance(element, WrittenComparison) or element.origin.line:
        return element.origin
    return elements.document.templates[element.template].edges[element.index].origin


def apply_changes(document: Document, changes: Sequence[Change]) -> Document:
    """The document with all changes made, its layout kept."""
    texts = [
        (change.origin, change.after)
        for change in changes
        if change.kind in ("bound", "operator", "clock")
    ]
    if texts:
        document = replace_texts(document, texts)
    # The last of several changes of an edge's updates says what all of them leave.
    updates = {
        (change.template, change.edge): change.after
        for change in changes
        if change.kind == "reset" and change.edge is not None
    }
    for (template, edge), text in updates.items():
        assert edge is not None
        label = None if text == _NO_UPDATE else text
        document = replace_label(document, template, "edge", edge, "assignment", label)
    for change in changes:
        if change.kind == "urgency":
            assert change.location is not None
            document = set_urgent(
                document, change.template, change.location, change.after == _URGENCY[True]
            )
    return document
