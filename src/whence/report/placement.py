"""Where the parts of an automaton are drawn: as in its file, or by a layout of our own.

Files written by programs often have no coordinates, or the same for all locations.  Then the
locations stand in layers by their distance from the initial one (Sugiyama's layout without dummy
nodes): enough to read the automaton, and the same drawing every time.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from whence.model.network import Drawing, Edge, Location, Process
from whence.report.geometry import (
    Place,
    bulge,
    crosses,
    distance_to_line,
    point_along,
)
from whence.report.labels import LABEL_SIZE, edge_texts, location_texts
from whence.report.measure import LINE, text_width
from whence.report.svg import Box

__all__ = ["RADIUS", "Placement", "Written", "place"]

RADIUS = 11.0
#: Locations and nails are drawn a little further apart than in the file, where UPPAAL's letters
#: are narrower than the widest font that a browser may choose.
_SCALE = 1.12
_LAYER = 104.0
_SPREAD = 26.0


@dataclass(frozen=True, slots=True)
class Written:
    """A label and where its top left corner is."""

    kind: str
    lines: tuple[str, ...]
    at: Place

    @property
    def box(self) -> Box:
        width, height = _size(self.lines)
        return Box(self.at[0], self.at[1], self.at[0] + width, self.at[1] + height)


@dataclass(frozen=True, slots=True)
class Placement:
    """By number of location or edge: centres, routes from centre to centre, and labels."""

    centres: tuple[Place, ...]
    routes: tuple[tuple[Place, ...], ...]
    location_labels: tuple[tuple[Written, ...], ...]
    edge_labels: tuple[tuple[Written, ...], ...]


def _size(lines: tuple[str, ...]) -> tuple[float, float]:
    width = max((text_width(line, LABEL_SIZE) for line in lines), default=0.0)
    return width, len(lines) * LABEL_SIZE * LINE


def place(process: Process) -> Placement:
    return _Placer(process).run()


class _Placer:
    def __init__(self, process: Process) -> None:
        self.process = process
        positions = [location.drawing.position for location in process.locations]
        #: Whether the file says where everything is.
        self.drawn = None not in positions and len(set(positions)) == len(positions)
        #: What labels must not cover.
        self.taken: list[Box] = []

    def run(self) -> Placement:
        process = self.process
        if self.drawn:
            centres = tuple(_scaled(location.drawing.position) for location in process.locations)
        else:
            centres = _layered(process)
        self.taken = [Box.around(x, y, 2 * RADIUS + 4, 2 * RADIUS + 4) for x, y in centres]
        routes = self._routes(centres)
        # What has its place in the file comes first; the rest goes where there is room.
        located = [self._given(location_texts(at), at.drawing) for at in process.locations]
        written = [self._given(edge_texts(edge), edge.drawing) for edge in process.edges]
        for labels in (*located, *written):
            self.taken += [label.box for label in labels.values()]
        for number, location in enumerate(process.locations):
            self._place_beside(location, centres[number], routes, located[number])
        for number, edge in enumerate(process.edges):
            self._place_along(edge, routes[number], routes, written[number])
        return Placement(
            centres,
            routes,
            tuple(tuple(labels.values()) for labels in located),
            tuple(tuple(labels.values()) for labels in written),
        )

    def _given(self, texts: Mapping[str, tuple[str, ...]], drawing: Drawing) -> dict[str, Written]:
        """The labels that have a place in the file."""
        given: dict[str, Written] = {}
        if self.drawn:
            for kind, lines in texts.items():
                position = drawing.labels.get(kind, ("", None))[1]
                if position is not None:
                    given[kind] = Written(kind, lines, _scaled(position))
        return given

    # ----------------------------------------------------------------------------------- lines

    def _routes(self, centres: tuple[Place, ...]) -> tuple[tuple[Place, ...], ...]:
        routes: list[tuple[Place, ...]] = []
        straight: dict[frozenset[int], int] = defaultdict(int)
        for edge in self.process.edges:
            start, end = centres[edge.source], centres[edge.target]
            if self.drawn and edge.drawing.nails:
                nails = tuple(_scaled(nail) for nail in edge.drawing.nails)
                if edge.source == edge.target and len(nails) == 1:
                    nails = _widened(start, nails[0])
                routes.append((start, *nails, end))
                continue
            # Several edges between the same locations would cover each other.
            pair = frozenset((edge.source, edge.target))
            earlier = straight[pair]
            straight[pair] += 1
            if edge.source == edge.target:
                routes.append((start, *_loop(start, earlier), end))
                continue
            others = [at for number, at in enumerate(centres) if number not in pair]
            low = edge.source < edge.target
            routes.append(_avoiding(start, end, others if not self.drawn else [], earlier, low))
        return tuple(routes)

    # ---------------------------------------------------------------------------------- labels

    def _place_beside(
        self,
        location: Location,
        centre: Place,
        routes: tuple[tuple[Place, ...], ...],
        labels: dict[str, Written],
    ) -> None:
        x, y = centre
        for kind, lines in location_texts(location).items():
            if kind in labels:
                continue
            width, height = _size(lines)
            below = y + 2 if kind == "invariant" else y - height - 1
            candidates = [
                (x + RADIUS + 9, below),
                (x - width / 2, y + RADIUS + 4),
                (x - width / 2, y - RADIUS - 4 - height),
                (x - RADIUS - 9 - width, below),
            ]
            labels[kind] = self._best(kind, lines, candidates, routes)

    def _place_along(
        self,
        edge: Edge,
        route: tuple[Place, ...],
        routes: tuple[tuple[Place, ...], ...],
        labels: dict[str, Written],
    ) -> None:
        """Labels without a place are stacked beside the edge, where they cover the least."""
        missing = {kind: at for kind, at in edge_texts(edge).items() if kind not in labels}
        if not missing:
            return
        sizes = [_size(lines) for lines in missing.values()]
        width = max(size[0] for size in sizes)
        height = sum(size[1] for size in sizes)
        candidates: list[Place] = []
        for share in (0.5, 0.38, 0.62, 0.26, 0.74):
            (x, y), (dx, dy) = point_along(route, share)
            # Just so far from a slanting line that it passes the corner of the text.
            aside = abs(dy) * (width / 2 + 6) + abs(dx) * (height / 2 + 4)
            for side in (1, -1):
                middle = (x - dy * side * aside, y + dx * side * aside)
                candidates.append((middle[0] - width / 2, middle[1] - height / 2))
        lines = tuple(line for of_kind in missing.values() for line in of_kind)
        best = self._best("", lines, candidates, routes)
        x, y = best.at
        for (kind, of_kind), size in zip(missing.items(), sizes, strict=True):
            labels[kind] = Written(kind, of_kind, (x, y))
            y += size[1]

    def _best(
        self,
        kind: str,
        lines: tuple[str, ...],
        candidates: list[Place],
        routes: tuple[tuple[Place, ...], ...],
    ) -> Written:
        best = Written(kind, lines, candidates[0])
        least: int | None = None
        for candidate in candidates:
            label = Written(kind, lines, candidate)
            cost = 10 * sum(label.box.overlaps(box) for box in self.taken)
            cost += sum(crosses(label.box, route) for route in routes)
            if least is None or cost < least:
                best, least = label, cost
            if cost == 0:
                break
        self.taken.append(best.box)
        return best


def _scaled(position: tuple[int, int] | None) -> Place:
    x, y = position or (0, 0)
    return x * _SCALE, y * _SCALE


def _widened(centre: Place, nail: Place) -> tuple[Place, ...]:
    """A loop through one nail would go back on the line that it came on."""
    by = max(10.0, 0.3 * (abs(nail[0] - centre[0]) + abs(nail[1] - centre[1])))
    double = (2 * nail[0] - centre[0], 2 * nail[1] - centre[1])
    left, right = bulge(centre, double, by), bulge(centre, double, -by)
    return left, right


def _loop(centre: Place, earlier: int) -> tuple[Place, Place]:
    """The corners of an edge that comes back, on another side for each; wider when all are used."""
    x, y = centre
    far = 34.0 + 16.0 * (earlier // 4)
    near = 13.0 + 5.0 * (earlier // 4)
    match earlier % 4:
        case 0:
            return (x - far, y - near), (x - far, y + near)
        case 1:
            return (x - near, y + far), (x + near, y + far)
        case 2:
            return (x + near, y - far), (x - near, y - far)
        case _:
            return (x + far, y + near), (x + far, y - near)


def _avoiding(
    start: Place, end: Place, others: list[Place], earlier: int, low: bool
) -> tuple[Place, ...]:
    """A line with at most one bend that passes the other locations and its earlier parallels."""
    sign = 1.0 if low else -1.0  # an edge and the one back bend to the same side, seen from above
    offsets = [0.0] if earlier == 0 else []
    for step in range(1, 9):
        reach = _SPREAD * (step + (earlier - 1) // 2 if earlier else step)
        turn = sign if earlier % 2 else -sign
        offsets += [reach * turn, -reach * turn] if earlier == 0 else [reach * turn]
    for offset in offsets:
        corner = bulge(start, end, offset)
        route = (start, end) if offset == 0 else (start, corner, end)
        if all(
            distance_to_line(other, a, b) > RADIUS + 6
            for other in others
            for a, b in pairwise(route)
        ):
            return route
    return (start, end) if offsets[0] == 0 else (start, bulge(start, end, offsets[0]), end)


# ----------------------------------------------------------------------------- a layout of our own


def _layered(process: Process) -> tuple[Place, ...]:
    """Layers from top to bottom, each ordered by where its neighbours above stand."""
    layers = _layers(process)
    neighbours: dict[int, list[int]] = defaultdict(list)
    for edge in process.edges:
        neighbours[edge.source].append(edge.target)
        neighbours[edge.target].append(edge.source)
    widest = max(
        (
            _size(lines)[0]
            for part in (*map(location_texts, process.locations), *map(edge_texts, process.edges))
            for lines in part.values()
        ),
        default=0.0,
    )
    cell = min(max(widest + 4 * RADIUS, 110.0), 320.0)
    tallest = max(
        (sum(_size(lines)[1] for lines in edge_texts(edge).values()) for edge in process.edges),
        default=0.0,
    )
    pitch = max(_LAYER, tallest + 4 * RADIUS + 16)
    x_of: dict[int, float] = {}
    for layer in layers:
        layer.sort(key=lambda at: (_middle([x_of[n] for n in neighbours[at] if n in x_of]), at))
        for position, location in enumerate(layer):
            x_of[location] = (position - (len(layer) - 1) / 2) * cell
    y_of = {at: number * pitch for number, layer in enumerate(layers) for at in layer}
    # A chain of single locations would hide the edges that skip one of them.
    return tuple((x_of[at], y_of[at]) for at in range(len(process.locations)))


def _middle(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _layers(process: Process) -> list[list[int]]:
    targets: dict[int, list[int]] = defaultdict(list)
    for edge in process.edges:
        targets[edge.source].append(edge.target)
    depth = {process.initial: 0}
    waiting = deque([process.initial])
    unreached = deque(at for at in range(len(process.locations)) if at != process.initial)
    while waiting or unreached:
        if not waiting:
            lonely = unreached.popleft()
            if lonely in depth:
                continue
            depth[lonely] = max(depth.values()) + 1
            waiting.append(lonely)
        here = waiting.popleft()
        for there in targets[here]:
            if there not in depth:
                depth[there] = depth[here] + 1
                waiting.append(there)
    layers: list[list[int]] = [[] for _ in range(max(depth.values(), default=0) + 1)]
    for location, layer in sorted(depth.items()):
        layers[layer].append(location)
    return [layer for layer in layers if layer]
