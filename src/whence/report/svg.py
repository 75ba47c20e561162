"""Drawing: elements as text, and a canvas that remembers how far its content reaches."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib import resources
from typing import Literal

from whence.report.measure import LINE, text_width

__all__ = [
    "Anchor",
    "Attribute",
    "Box",
    "Canvas",
    "asset",
    "attributes",
    "clean",
    "element",
    "escaped",
    "number",
]

Attribute = str | int | float | None
#: Which end of a text is at the place that is given for it.
Anchor = Literal["start", "middle", "end"]

#: What XML cannot contain, and characters that turn the direction of the text around them: a name
#: must not be able to reorder what stands next to it.
_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)


def clean(text: str) -> str:
    """A text from a model, without characters that no document may contain."""
    return _UNPRINTABLE.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))


def escaped(text: str) -> str:
    """A text from a model as it may stand in HTML and SVG, also within an attribute."""
    return escape(clean(text), quote=True)


def number(value: float) -> str:
    """A coordinate: as short as possible, and the same on every machine."""
    rounded = round(value, 1)
    return str(int(rounded)) if rounded == int(rounded) else str(rounded)


def attributes(values: dict[str, Attribute]) -> str:
    """` name="value"` of each that is not None; `_` in a name stands for `-`."""
    return "".join(
        f' {name.rstrip("_").replace("_", "-")}="'
        f'{escaped(value) if isinstance(value, str) else number(value)}"'
        for name, value in values.items()
        if value is not None
    )


def element(tag: str, *content: str, **values: Attribute) -> str:
    """An element; `content` is markup already. `class_` is the attribute `class`."""
    inside = "".join(content)
    if not inside:
        return f"<{tag}{attributes(values)}/>"
    return f"<{tag}{attributes(values)}>{inside}</{tag}>"


def asset(name: str) -> str:
    """The text of a file that belongs to this package."""
    return (resources.files("whence.report") / "assets" / name).read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Box:
    left: float
    top: float
    right: float
    bottom: float

    @classmethod
    def around(cls, x: float, y: float, width: float, height: float) -> Box:
        """The box with its centre at (x, y)."""
        return cls(x - width / 2, y - height / 2, x + width / 2, y + height / 2)

    @property
    def width(self) -> float:
        return self.right - self.left

    @property
    def height(self) -> float:
        return self.bottom - self.top

    def overlaps(self, other: Box) -> bool:
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )

    def contains(self, other: Box) -> bool:
        return (
            self.left <= other.left
            and self.top <= other.top
            and other.right <= self.right
            and other.bottom <= self.bottom
        )

    def union(self, other: Box) -> Box:
        return Box(
            min(self.left, other.left),
            min(self.top, other.top),
            max(self.right, other.right),
            max(self.bottom, other.bottom),
        )

    def grown(self, by: float) -> Box:
        return Box(self.left - by, self.top - by, self.right + by, self.bottom + by)


@dataclass(slots=True)
class Canvas:
    """Markup drawn so far, and the boxes of all of it: the view is what contains them."""

    parts: list[str] = field(default_factory=list)
    extent: Box | None = None

    def reach(self, box: Box) -> None:
        self.extent = box if self.extent is None else self.extent.union(box)

    def open(self, tag: str, **values: Attribute) -> None:
        self.parts.append(f"<{tag}{attributes(values)}>")

    def close(self, tag: str) -> None:
        self.parts.append(f"</{tag}>")

    def title(self, text: str) -> None:
        """What a browser shows when the mouse rests on the group that was opened last."""
        self.parts.append(element("title", escaped(text)))

    def rect(self, box: Box, **values: Attribute) -> None:
        self.reach(box)
        self.parts.append(
            element("rect", x=box.left, y=box.top, width=box.width, height=box.height, **values)
        )

    def circle(self, x: float, y: float, r: float, **values: Attribute) -> None:
        self.reach(Box.around(x, y, 2 * r, 2 * r))
        self.parts.append(element("circle", cx=x, cy=y, r=r, **values))

    def line(self, points: Sequence[tuple[float, float]], **values: Attribute) -> None:
        self._points("polyline", points, values)

    def polygon(self, points: Sequence[tuple[float, float]], **values: Attribute) -> None:
        self._points("polygon", points, values)

    def _points(
        self, tag: str, points: Sequence[tuple[float, float]], values: dict[str, Attribute]
    ) -> None:
        for x, y in points:
            self.reach(Box(x, y, x, y))
        drawn = " ".join(f"{number(x)},{number(y)}" for x, y in points)
        self.parts.append(element(tag, points=drawn, **values))

    def text(
        self,
        lines: Iterable[str],
        x: float,
        top: float,
        size: float,
        anchor: Anchor = "start",
        bold: bool = False,
        **values: Attribute,
    ) -> Box:
        """Lines of text below each other; `x` is where they start, end or have their middle."""
        rows = [clean(line).expandtabs(4) for line in lines]
        width = max((text_width(row, size, bold) for row in rows), default=0.0)
        left = x - {"start": 0.0, "middle": width / 2, "end": width}[anchor]
        box = Box(left, top, left + width, top + len(rows) * size * LINE)
        self.reach(box)
        # The baseline is where a line ends that has no descenders.
        baselines = [top + size * (LINE * row + 1.0) for row in range(len(rows))]
        shared: dict[str, Attribute] = {
            "font_size": size,
            "text_anchor": None if anchor == "start" else anchor,
            "font_weight": "bold" if bold else None,
        }
        if len(rows) == 1:
            self.parts.append(
                element("text", escaped(rows[0]), x=x, y=baselines[0], **shared, **values)
            )
        elif rows:
            spans = "".join(
                element("tspan", escaped(row), x=x, y=y)
                for row, y in zip(rows, baselines, strict=True)
                if row
            )
            self.parts.append(element("text", spans, **shared, **values))
        return box

    def view(self, margin: float) -> Box:
        """All that was drawn, with a margin around it, on whole coordinates."""
        extent = (self.extent or Box(0, 0, 0, 0)).grown(margin)
        return Box(
            float(int(extent.left // 1)),
            float(int(extent.top // 1)),
            float(-int(-extent.right // 1)),
            float(-int(-extent.bottom // 1)),
        )

    def document(
        self,
        view: Box,
        label: str,
        standalone: bool = False,
        styles: Sequence[str] = ("diagram.css",),
        **values: Attribute,
    ) -> str:
        """The drawing as an `<svg>` element; `label` tells what it is to who cannot see it.
        `styles` are the assets that it needs where it stands alone."""
        style = element("style", *map(asset, styles)) if standalone else ""
        return element(
            "svg",
            style,
            *self.parts,
            xmlns="http://www.w3.org/2000/svg" if standalone else None,
            viewBox=f"{number(view.left)} {number(view.top)} "
            f"{number(view.width)} {number(view.height)}",
            width=view.width,
            height=view.height,
            role="img",
            aria_label=label,
            **values,
        )
