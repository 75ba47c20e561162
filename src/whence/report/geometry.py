"""Points, lines and what can be asked of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import hypot

from whence.report.svg import Box

__all__ = [
    "Place",
    "arrow_head",
    "bulge",
    "crosses",
    "distance",
    "distance_to_line",
    "point_along",
    "shortened",
]

Place = tuple[float, float]


def distance(a: Place, b: Place) -> float:
    return hypot(b[0] - a[0], b[1] - a[1])


def _towards(a: Place, b: Place, length: float) -> Place:
    """The point that is `length` away from `a` on the way to `b`."""
    whole = distance(a, b)
    if whole == 0:
        return a
    return (a[0] + (b[0] - a[0]) * length / whole, a[1] + (b[1] - a[1]) * length / whole)


def shortened(route: Sequence[Place], start: float, end: float) -> list[Place]:
    """A polyline without its first `start` and last `end`, so that it ends where circles begin."""
    points = _without_start(list(route), start)
    return _without_start(points[::-1], end)[::-1]


def _without_start(points: list[Place], length: float) -> list[Place]:
    while len(points) > 2 and distance(points[0], points[1]) <= length:
        length -= distance(points[0], points[1])
        points = points[1:]
    reach = min(length, distance(points[0], points[1]) * 0.9)
    return [_towards(points[0], points[1], reach), *points[1:]]


def arrow_head(route: Sequence[Place], length: float, width: float) -> list[Place]:
    """A triangle whose tip is the end of a polyline."""
    tip = route[-1]
    # A last piece that is shorter than the head says little about the direction.
    origin = next((at for at in reversed(route[:-1]) if distance(at, tip) > 1), route[0])
    base = _towards(tip, origin, length)
    whole = distance(tip, base) or 1.0
    across = (
        (tip[1] - base[1]) / whole * width / 2,
        (base[0] - tip[0]) / whole * width / 2,
    )
    return [
        tip,
        (base[0] + across[0], base[1] + across[1]),
        (base[0] - across[0], base[1] - across[1]),
    ]


def point_along(route: Sequence[Place], share: float) -> tuple[Place, Place]:
    """The point after this share of a polyline, and the direction of the line there."""
    left = share * sum(distance(a, b) for a, b in pairwise(route))
    for a, b in pairwise(route):
        piece = distance(a, b)
        if piece and left <= piece:
            return _towards(a, b, left), ((b[0] - a[0]) / piece, (b[1] - a[1]) / piece)
        left -= piece
    return route[-1], (1.0, 0.0)


def bulge(a: Place, b: Place, by: float) -> Place:
    """A point beside the middle of a line, to the left of its direction for `by` > 0."""
    whole = distance(a, b) or 1.0
    return (
        (a[0] + b[0]) / 2 + (b[1] - a[1]) / whole * by,
        (a[1] + b[1]) / 2 - (b[0] - a[0]) / whole * by,
    )


def distance_to_line(point: Place, a: Place, b: Place) -> float:
    """From a point to the nearest point between `a` and `b`."""
    whole = distance(a, b)
    if whole == 0:
        return distance(point, a)
    along = ((point[0] - a[0]) * (b[0] - a[0]) + (point[1] - a[1]) * (b[1] - a[1])) / whole
    return distance(point, _towards(a, b, min(max(along, 0.0), whole)))


def crosses(box: Box, route: Sequence[Place]) -> bool:
    """Whether a polyline touches a box (Liang & Barsky: clip each piece against the four sides)."""
    return any(_piece_crosses(box, a, b) for a, b in pairwise(route))


def _piece_crosses(box: Box, a: Place, b: Place) -> bool:
    enter, leave = 0.0, 1.0
    for change, room in (
        (a[0] - b[0], a[0] - box.left),
        (b[0] - a[0], box.right - a[0]),
        (a[1] - b[1], a[1] - box.top),
        (b[1] - a[1], box.bottom - a[1]),
    ):
        if change == 0:
            if room < 0:
                return False
        elif change < 0:
            enter = max(enter, room / change)
        else:
            leave = min(leave, room / change)
    return enter <= leave
