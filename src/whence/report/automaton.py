"""The picture of one automaton, as UPPAAL draws it, with the way of a trace through it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from whence.model.network import Process
from whence.report.geometry import arrow_head, shortened
from whence.report.labels import EDGE_LABELS, LABEL_SIZE
from whence.report.marked import Diff, Marked, Piece, marked
from whence.report.measure import LINE
from whence.report.placement import RADIUS, Written, place
from whence.report.story import Story
from whence.report.svg import Box, Canvas, element, escaped

__all__ = ["Diff", "Highlight", "automaton_diagram", "highlights"]

_MARGIN = 10.0
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")
_MARKS = {"urgent": "U", "committed": "C"}


@dataclass(frozen=True, slots=True)
class Highlight:
    """The way of a trace: which locations it visits, and which edges it takes in which steps.

    `last` is the location where the trace ends."""

    locations: frozenset[int] = frozenset()
    edges: Mapping[int, tuple[int, ...]] = field(default_factory=lambda: MappingProxyType({}))
    last: int | None = None


def highlights(story: Story) -> dict[int, Highlight]:
    """For each process that takes part in a trace: its way."""
    visited: dict[int, set[int]] = {at: set() for at in story.takes_part}
    taken: dict[int, dict[int, list[int]]] = {at: {} for at in story.takes_part}
    for step in story.steps:
        for at in story.takes_part:
            visited[at].add(step.locations[at])
        for move in step.moves:
            taken[move.process].setdefault(move.edge, []).append(step.number)
    last = story.steps[-1].locations
    return {
        at: Highlight(
            frozenset(visited[at]),
            {edge: tuple(steps) for edge, steps in sorted(taken[at].items())},
            last[at],
        )
        for at in story.takes_part
    }


def automaton_diagram(
    process: Process,
    highlight: Highlight | None = None,
    number: int | None = None,
    standalone: bool = False,
    diffs: Sequence[Diff] = (),
) -> str:
    """An SVG of one process. `number` tells apart the processes of one page: locations and edges
    are marked as `data-location="number:index"` and `data-edge="number:index"`. `diffs` are
    changes to be shown in it."""
    changes = marked(process, diffs) if diffs else Marked(place(process), {})
    drawer = _Drawer(process, changes, highlight or Highlight(), number)
    canvas = drawer.draw()
    return canvas.document(
        canvas.view(_MARGIN),
        f"Automaton {process.name}",
        standalone=standalone,
        class_="whence automaton",
    )


class _Drawer:
    def __init__(
        self,
        process: Process,
        changes: Marked,
        highlight: Highlight,
        number: int | None,
    ) -> None:
        self.process = process
        self.placement = changes.placement
        self.changes = changes.labels
        self.changed = {(owner, index) for owner, index, _ in changes.labels}
        self.highlight = highlight
        self.prefix = "" if number is None else f"{number}:"
        self.canvas = Canvas()

    def draw(self) -> Canvas:
        # Lines first and words last, so that no line crosses out a word.
        for number in range(len(self.process.edges)):
            self._draw_edge(number)
        for number in range(len(self.process.locations)):
            self._draw_location(number)
        for number in range(len(self.process.edges)):
            labels = self.placement.edge_labels[number]
            if labels:
                self.canvas.open("g", class_=self._edge_class("labels", number))
                ordered = sorted(labels, key=lambda label: EDGE_LABELS.index(label.kind))
                self._draw_labels("edge", number, ordered)
                self.canvas.close("g")
        return self.canvas

    def _edge_class(self, base: str, number: int) -> str:
        visited = f"{base} visited" if number in self.highlight.edges else base
        return f"{visited} changed" if ("edge", number) in self.changed else visited

    def _draw_edge(self, number: int) -> None:
        canvas = self.canvas
        edge = self.process.edges[number]
        locations = self.process.locations
        route = shortened(self.placement.routes[number], RADIUS, RADIUS + 1)
        canvas.open(
            "g",
            class_=self._edge_class("edge", number),
            data_edge=f"{self.prefix}{number}",
        )
        words = [f"{locations[edge.source].name} → {locations[edge.target].name}"]
        words += [
            "\n".join(label.lines)
            for label in sorted(
                self.placement.edge_labels[number],
                key=lambda label: EDGE_LABELS.index(label.kind),
            )
        ]
        steps = self.highlight.edges.get(number, ())
        if steps:
            words.append(f"taken in step {', '.join(map(str, steps))}")
        canvas.title("\n".join(words))
        colour = edge.drawing.colour if _COLOUR.fullmatch(edge.drawing.colour) else None
        # The arrow head has the tip, so the line stops within the head.
        body = shortened(route, 0, 5)
        canvas.line(route, class_="hit")
        canvas.line(body, class_="route", stroke=colour)
        canvas.polygon(arrow_head(route, 10, 8), class_="tip", fill=colour)
        canvas.close("g")

    def _draw_location(self, number: int) -> None:
        canvas = self.canvas
        location = self.process.locations[number]
        x, y = self.placement.centres[number]
        classes = ["location"]
        if number in self.highlight.locations:
            classes.append("visited")
        if number == self.highlight.last:
            classes.append("last")
        if ("location", number) in self.changed:
            classes.append("changed")
        canvas.open("g", class_=" ".join(classes), data_location=f"{self.prefix}{number}")
        canvas.circle(x, y, RADIUS + 5, class_="halo")
        colour = location.drawing.colour
        canvas.circle(
            x, y, RADIUS, class_="disc", fill=colour if _COLOUR.fullmatch(colour) else None
        )
        if number == self.process.initial:
            canvas.circle(x, y, RADIUS - 3.5, class_="ring")
        mark = _MARKS.get(location.kind)
        if mark:
            canvas.text([mark], x, y - LABEL_SIZE * 0.64, LABEL_SIZE, "middle", class_="mark")
        self._draw_labels("location", number, self.placement.location_labels[number])
        canvas.close("g")

    def _draw_labels(
        self, owner: Literal["location", "edge"], number: int, labels: Sequence[Written]
    ) -> None:
        for label in labels:
            x, y = label.at
            pieces = self.changes.get((owner, number, label.kind))
            if pieces is None:
                self.canvas.text(label.lines, x, y, LABEL_SIZE, class_=f"label {label.kind}")
            else:
                self._draw_change(label, pieces)
            # The halo of the letters.
            self.canvas.reach(Box(x, y, x, y).union(label.box).grown(2))

    def _draw_change(self, label: Written, lines: Sequence[Sequence[Piece]]) -> None:
        """Old text is struck out and new text underlined, also where there is no style sheet."""
        x, y = label.at
        drawn = [
            element(
                "tspan",
                "".join(map(_drawn, line)),
                x=x,
                # The baseline is where a line ends that has no descenders.
                y=y + LABEL_SIZE * (LINE * row + 1.0),
            )
            for row, line in enumerate(lines)
        ]
        self.canvas.parts.append(
            element("text", *drawn, font_size=LABEL_SIZE, class_=f"label {label.kind}")
        )


_DECORATIONS = {"old": "line-through", "new": "underline"}


def _drawn(piece: Piece) -> str:
    if not piece.kind:
        return escaped(piece.text)
    decoration = _DECORATIONS[piece.kind]
    return element("tspan", escaped(piece.text), class_=piece.kind, text_decoration=decoration)
