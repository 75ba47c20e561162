"""Labels of an automaton with what a change takes out and puts in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from whence.expr.tree import BoolLiteral
from whence.model.network import Drawing, Edge, Location, Process
from whence.report.labels import edge_texts, location_texts
from whence.report.placement import RADIUS, Placement, Written, place
from whence.report.svg import Box, clean

__all__ = ["Diff", "Marked", "Piece", "marked"]

Owner = Literal["location", "edge"]
Label = Literal["name", "invariant", "guard", "assignment"]

_TOKEN = re.compile(r"\w+|[^\w\s]")
#: What stands between an update and one that is added.
_BETWEEN: dict[Label, str] = {"name": " ", "assignment": ", "}


@dataclass(frozen=True, slots=True)
class Diff:
    """`before` in a label of a location or an edge becomes `after`; one of the two may be empty.
    What is said of a location itself stands behind its name."""

    owner: Owner
    index: int
    label: Label
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a line: `old` text goes, `new` text comes, the other stays."""

    text: str
    kind: Literal["", "old", "new"] = ""


Lines = tuple[tuple[Piece, ...], ...]


@dataclass(frozen=True, slots=True)
class Marked:
    """Where the parts of an automaton are when its labels hold old and new, and these labels."""

    placement: Placement
    labels: Mapping[tuple[Owner, int, str], Lines]


def marked(process: Process, diffs: Iterable[Diff]) -> Marked:
    """The automaton with room for the changes. Diffs of what it does not have are left out."""
    by_label: dict[tuple[Owner, int, Label], list[Diff]] = {}
    for diff in diffs:
        parts: Sequence[object] = process.locations if diff.owner == "location" else process.edges
        if 0 <= diff.index < len(parts):
            by_label.setdefault((diff.owner, diff.index, diff.label), []).append(diff)
    labels: dict[tuple[Owner, int, Label], Lines] = {
        key: _lines(_texts(process, key[0], key[1]).get(key[2], ()), of_label)
        for key, of_label in by_label.items()
    }
    changed = process
    for (owner, index, label), lines in labels.items():
        changed = _with_label(changed, owner, index, label, lines)
    placement = place(changed)
    for owner, index, label in labels:
        if _is_in_the_way(placement, owner, index, label):
            # What is longer now than in the file goes where there is room.
            changed = _without_place(changed, owner, index, label)
            placement = place(changed)
    return Marked(placement, {(*key[:2], str(key[2])): at for key, at in labels.items()})


# ---------------------------------------------------------------------------------------- texts


def _texts(process: Process, owner: Owner, index: int) -> dict[str, tuple[str, ...]]:
    if owner == "location":
        return location_texts(process.locations[index])
    return edge_texts(process.edges[index])


def _lines(written: tuple[str, ...], diffs: Sequence[Diff]) -> Lines:
    """The lines of a label with all changes in it."""
    pieces = [Piece("\n".join(written))] if written else []
    for diff in diffs:
        pieces = _with_change(pieces, diff)
    lines: list[tuple[Piece, ...]] = []
    current: list[Piece] = []
    for piece in pieces:
        first, *rest = piece.text.split("\n")
        current.append(Piece(first, piece.kind))
        for text in rest:
            lines.append(tuple(current))
            current = [Piece(text, piece.kind)]
    lines.append(tuple(current))
    return tuple(tuple(piece for piece in line if piece.text) for line in lines)


def _with_change(pieces: list[Piece], diff: Diff) -> list[Piece]:
    before, after = (" ".join(clean(text).split()) for text in (diff.before, diff.after))
    pattern = _pattern(before, diff.label) if before and diff.label != "name" else None
    for number, piece in enumerate(pieces):
        found = pattern.search(piece.text) if pattern and not piece.kind else None
        if found is not None:
            start, end = found.span()
            middle = _both(found.group(), after)
            around = (Piece(piece.text[:start]), *middle, Piece(piece.text[end:]))
            return [*pieces[:number], *around, *pieces[number + 1 :]]
    between = [Piece(_BETWEEN.get(diff.label, "\n"))] if pieces else []
    return [*pieces, *between, *_both(before, after)]


def _both(before: str, after: str) -> list[Piece]:
    old = [Piece(before, "old")] if before else []
    new = [Piece(after, "new")] if after else []
    return [*old, Piece(" "), *new] if old and new else [*old, *new]


def _pattern(text: str, label: Label) -> re.Pattern[str]:
    """Finds the text however it is spaced, but not as a part of longer names and numbers."""
    tokens = [re.escape(token) for token in _TOKEN.findall(text)]
    if label == "assignment":
        tokens = [":?=" if token == "=" else token for token in tokens]
    return re.compile(r"(?<![\w.])" + r"\s*".join(tokens) + r"(?![\w.])" if tokens else "(?!)")


# --------------------------------------------------------------------------------------- places


def _with_label(process: Process, owner: Owner, index: int, label: Label, lines: Lines) -> Process:
    text = "\n".join("".join(piece.text for piece in line) for line in lines)
    if owner == "location":
        at = process.locations[index]
        if label == "name":
            return _with_location(process, index, replace(at, name=text))
        # Labels are only drawn where there is something that they say.
        invariant = at.invariant or BoolLiteral(True)
        at = replace(at, invariant=invariant, drawing=_labelled(at.drawing, label, text))
        return _with_location(process, index, at)
    edge = process.edges[index]
    edge = replace(edge, drawing=_labelled(edge.drawing, label, text))
    if label == "guard":
        edge = replace(edge, guard=edge.guard or BoolLiteral(True))
    else:
        edge = replace(edge, updates=edge.updates or (BoolLiteral(True),))
    return _with_edge(process, index, edge)


def _labelled(drawing: Drawing, label: Label, text: str) -> Drawing:
    position = drawing.labels.get(label, ("", None))[1]
    return replace(drawing, labels={**drawing.labels, label: (text, position)})


def _without_place(process: Process, owner: Owner, index: int, label: Label) -> Process:
    parts: Sequence[Location | Edge] = process.locations if owner == "location" else process.edges
    part = parts[index]
    text = part.drawing.labels.get(label, ("", None))[0]
    drawing = replace(part.drawing, labels={**part.drawing.labels, label: (text, None)})
    if isinstance(part, Location):
        return _with_location(process, index, replace(part, drawing=drawing))
    return _with_edge(process, index, replace(part, drawing=drawing))


def _with_location(process: Process, index: int, location: Location) -> Process:
    at = process.locations
    return replace(process, locations=(*at[:index], location, *at[index + 1 :]))


def _with_edge(process: Process, index: int, edge: Edge) -> Process:
    at = process.edges
    return replace(process, edges=(*at[:index], edge, *at[index + 1 :]))


def _is_in_the_way(placement: Placement, owner: Owner, index: int, label: Label) -> bool:
    of_owner = placement.location_labels if owner == "location" else placement.edge_labels
    written = next((at for at in of_owner[index] if at.kind == label), None)
    if written is None:
        return False
    others: list[Written] = [
        at for of_one in (*placement.location_labels, *placement.edge_labels) for at in of_one
    ]
    discs = (Box.around(x, y, 2 * RADIUS, 2 * RADIUS) for x, y in placement.centres)
    return any(written.box.overlaps(disc) for disc in discs) or any(
        written.box.overlaps(other.box) for other in others if other is not written
    )
