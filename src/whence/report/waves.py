"""Inputs and outputs over time, as a picture: truth values as levels, others as texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from whence.report.measure import text_width
from whence.report.svg import element, escaped, number

__all__ = ["Wave", "draw_waves"]

_ROW, _LEVEL, _TOP, _GAP = 26, 14, 22, 12
_WIDTH = 1100.0
#: So many changes are drawn of one wave: a picture with more shows nothing.
_MOST = 4000


@dataclass(frozen=True, slots=True)
class Wave:
    """`changes`: from which time (ascending) it has which value. `given`: it is an input."""

    name: str
    changes: tuple[tuple[int, str], ...]
    given: bool


def draw_waves(waves: Sequence[Wave], end: int, mark: int | None = None) -> str:
    """`end`: of the time shown, in milliseconds. `mark`: a date to point at."""
    left = max((text_width(wave.name, 12) for wave in waves), default=0.0) * 1.25 + 2 * _GAP
    scale = (_WIDTH - left - 2 * _GAP) / max(end, 1)
    height = _TOP + _ROW * len(waves) + _GAP
    parts = []
    for time in range(0, end + 1, _distance(end)):
        x = left + time * scale
        if x + text_width(f"{time} ms", 11) * 1.2 > _WIDTH:
            break
        line = element("line", x1=x, x2=x, y1=_TOP - 4, y2=height - _GAP)
        text = element("text", f"{time} ms", x=x + 3, y=_TOP - 8)
        parts.append(element("g", line, text, class_="tick"))
    for row, wave in enumerate(waves):
        base = _TOP + _ROW * (row + 1) - 6
        parts.append(element("text", escaped(wave.name), x=_GAP, y=base - 2))
        parts += _drawn(wave, base, left, scale, end)
    if mark is not None:
        x = left + mark * scale
        parts.append(element("line", x1=x, x2=x, y1=4, y2=height - 4, class_="mark"))
    title = element("title", "inputs and outputs over time")
    return element(
        "svg",
        title,
        *parts,
        viewBox=f"0 0 {number(_WIDTH)} {number(height)}",
        width=_WIDTH,
        height=height,
        role="img",
    )


def _distance(end: int) -> int:
    """Between two ticks: round, and eight of them at most."""
    step = 1
    while end // step > 8:
        step *= 5 if str(step)[0] == "2" else 2
        if str(step)[0] not in "125":
            step = 10 ** len(str(step))
    return step


def _drawn(wave: Wave, base: float, left: float, scale: float, end: int) -> list[str]:
    kind = "given" if wave.given else "told"
    changes = wave.changes[:_MOST]
    ends = [*(time for time, _ in changes[1:]), end]
    pairs = [(t, e, v) for (t, v), e in zip(changes, ends, strict=True) if e >= t]
    if all(value in ("true", "false") for _, value in changes):
        return _levels(pairs, base, left, scale, kind)
    found = []
    steps = []
    for begin, until, value in pairs:
        x, right = left + begin * scale, left + until * scale
        steps.append(
            f"M{number(x)} {number(base - _LEVEL)}V{number(base)}H{number(right)}"
            f"M{number(x)} {number(base - _LEVEL)}H{number(right)}"
        )
        if text_width(value, 11) * 1.2 < right - x - 4:
            found.append(element("text", escaped(value), x=x + 4, y=base - 3, class_="value"))
    return [element("path", d="".join(steps), class_=kind), *found] if steps else []


def _levels(
    pairs: Sequence[tuple[int, int, str]], base: float, left: float, scale: float, kind: str
) -> list[str]:
    path: list[str] = []
    filled: list[str] = []
    for begin, until, value in pairs:
        x, right = number(left + begin * scale), number(left + until * scale)
        y = number(base - _LEVEL if value == "true" else base)
        path.append(f"{'L' if path else 'M'}{x} {y}H{right}")
        if value == "true":
            filled.append(f"M{x} {number(base)}V{y}H{right}V{number(base)}Z")
    found = [element("path", d="".join(filled), class_=f"high {kind}")] if filled else []
    return [*found, element("path", d="".join(path), class_=kind)] if path else []
