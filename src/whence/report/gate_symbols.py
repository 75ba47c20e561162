"""The symbols of fault trees (IEC 61025), turned so that the output is at the left.

Each is drawn around (0, 0); inputs come from the right.
"""

from __future__ import annotations

from typing import assert_never

from whence.model.fault_tree import GateKind
from whence.report.svg import Attribute, element

__all__ = ["GATE_HEIGHT", "GATE_WIDTH", "RADIUS", "circle", "condition", "gate", "transfer"]

GATE_WIDTH = 28.0
GATE_HEIGHT = 22.0
#: Of a basic event.
RADIUS = 8.0

#: Flat towards its inputs, round towards its output.
_AND = "M 14 -11 H -3 A 11 11 0 0 0 -3 11 H 14 Z"
#: Hollow towards its inputs, pointed towards its output.
_OR = "M 14 -11 C 2 -11 -8 -7 -14 0 C -8 7 2 11 14 11 C 9 5 9 -5 14 -11 Z"
#: Its tip is at the output, as that of the symbol which stands upright.
_TRIANGLE = "M -10 0 L 10 -7.5 V 7.5 Z"
_HEXAGON = "M -14 0 L -8 -11 H 8 L 14 0 L 8 11 H -8 Z"


def gate(kind: GateKind) -> str:
    match kind:
        case "or":
            return _path(_OR)
        case "and":
            return _path(_AND)
        case "pand":
            return _path(_AND) + _path(_TRIANGLE, "inner")
        case "inhibit":
            return _path(_HEXAGON)
        case _:
            assert_never(kind)


def _path(shape: str, class_: str = "symbol") -> str:
    return element("path", d=shape, class_=class_)


def circle(failure: bool, again: bool) -> str:
    """A basic event; a failure has an F in it, so that one need not see its colour."""
    dashes: Attribute = "3 2" if again else None
    drawn = element("circle", cx=0, cy=0, r=RADIUS, class_="symbol", stroke_dasharray=dashes)
    if not failure:
        return drawn
    return drawn + element(
        "text", "F", x=0, y=3.8, font_size=10.5, font_weight="bold", text_anchor="middle"
    )


def condition() -> str:
    """The oval of a conditioning event, struck through: it is that something does not happen."""
    return element("ellipse", cx=0, cy=0, rx=RADIUS + 1, ry=RADIUS - 2, class_="symbol") + element(
        "line", x1=-5, y1=4, x2=5, y2=-4, class_="stroke"
    )


def transfer() -> str:
    return _path("M -8 0 L 8 -8 V 8 Z")
