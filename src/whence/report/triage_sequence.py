"""A fault and what explains it as a sequence diagram: tester, ECU and the tests' environment.

Time flows down. Events of the explanation are drawn in full, others dimmed or folded. At the left
stand the times u0, u1, … between the events that matter, at the right the time constraints, each a
bracket over the times that it adds up.
"""

from __future__ import annotations

import re
from typing import Final

from whence.report.measure import LINE, elide, fit, text_width
from whence.report.svg import Box, Canvas
from whence.report.triage_story import CaseStory, Line, Measure, Row

__all__ = ["draw_case"]

_SIZE: Final = 11.5
_SMALL: Final = 10.5
_EDGE: Final = 10.0
_PAD: Final = 8.0
#: The longest lines of text.
_MESSAGE_ROOM: Final = 330.0
_MARK_ROOM: Final = 190.0
_MEASURE_ROOM: Final = 150.0
_MOST_ACCEPTED: Final = 6
#: The distance of two brackets, and how many are drawn; all of them are listed beside.
_BRACKET: Final = 22.0
_MOST_BRACKETS: Final = 10
_HEAD: Final = _SIZE * LINE + 12
#: Before the times in what was expected.
_TIMES: Final = re.compile(r" (?=(?:from|after|before|within) [\d./]+ m?s\b)")


def draw_case(story: CaseStory, label: str, standalone: bool = False) -> str:
    """The drawing, `standalone` as a whole SVG file; `label` says what it shows to who cannot see
    it."""
    return _Drawer(story).draw(label, standalone)


class _Drawer:
    def __init__(self, story: CaseStory) -> None:
        self.story = story
        self.canvas = Canvas()
        self.texts = [_lines(row) for row in story.rows]
        widths = [
            max(text_width(line, _SIZE, row.role == "fault") for line in lines)
            for row, lines in zip(story.rows, self.texts, strict=True)
        ]
        lines = [text_width(str(row.line), _SMALL) for row in story.rows]
        self.line_x = _EDGE + max(text_width("line", _SMALL), *lines)
        self.bar_x = self.line_x + 18
        measures = [text_width(each.text, _SIZE) for each in story.measures]
        room = min(_MEASURE_ROOM, max(measures, default=0.0))
        half = max(text_width("tester", _SIZE, bold=True) / 2 + 10, 30.0)
        self.tester = self.bar_x + 12 + room + 18 + half
        between = [
            width + 34 for row, width in zip(story.rows, widths, strict=True)
            if row.at != "environment" or row.kind == "fold"
        ]  # fmt: skip
        self.ecu = self.tester + max(220.0, *between)
        self.life = [("tester", self.tester), ("ECU", self.ecu)]
        self.right = self.ecu + half
        beside = [
            width + 20 for row, width in zip(story.rows, widths, strict=True)
            if row.kind == "event" and row.at == "ecu"
        ]  # fmt: skip
        self.right = max(self.right, self.ecu + max(beside, default=0.0))
        if story.has_environment:
            half = text_width("environment", _SIZE, bold=True) / 2 + 10
            x = self.right + 14 + half
            self.life.append(("environment", x))
            beside = [
                width + 20 for row, width in zip(story.rows, widths, strict=True)
                if row.at == "environment" and row.kind in ("event", "mark")
            ]  # fmt: skip
            self.right = x + max(half, max(beside, default=0.0))
        self.of = dict(self.life)
        self.brackets = story.brackets[:_MOST_BRACKETS]
        self.bracket_x = self.right + 22
        self.width = self.bracket_x + _BRACKET * len(self.brackets) + _EDGE
        #: Where each row happens.
        self.moments: list[float] = []

    def draw(self, label: str, standalone: bool) -> str:
        bottom = self._place()
        self.canvas.rect(Box(0, 0, self.width, bottom), class_="ground")
        self._head()
        for _, x in self.life:
            self.canvas.line([(x, _EDGE + _HEAD), (x, bottom - _EDGE)], class_="life")
        for at, measure in enumerate(self.story.measures):
            self._measure(measure, at)
        for at in range(len(self.story.rows)):
            self._row(at)
        self._brackets()
        if standalone:
            # A page has them in a table beside the drawing.
            bottom = self._legend(bottom)
        view = Box(0, 0, float(int(self.width) + 1), bottom)
        styles = ("diagram.css", "triage_case.css")
        return self.canvas.document(view, label, standalone, styles, class_="whence sequence case")

    def _place(self) -> float:
        y = _EDGE + _HEAD + _PAD
        for row, lines in zip(self.story.rows, self.texts, strict=True):
            text = len(lines) * _SIZE * LINE
            if row.kind == "event" and row.at in ("request", "response"):
                moment, height = y + text + 4, text + 4 + _PAD
            elif row.kind in ("fold", "end", "accepted"):
                moment, height = y + text / 2 + 5, text + 10 + _PAD
            else:
                moment, height = y + text / 2 + 2, text + 4 + _PAD
            self.moments.append(moment)
            y += height
        return float(int(y + _EDGE) + 1)

    def _head(self) -> None:
        canvas = self.canvas
        canvas.text(["line"], self.line_x, _EDGE + 6, _SMALL, "end", class_="faint")
        canvas.text(["time"], self.bar_x - 4, _EDGE + 6, _SMALL, class_="faint")
        for name, x in self.life:
            width = text_width(name, _SIZE, bold=True) + 20
            box = Box(x - width / 2, _EDGE, x + width / 2, _EDGE + _HEAD)
            canvas.rect(box, rx=3, class_="head")
            canvas.text([name], x, _EDGE + 6, _SIZE, "middle", bold=True)

    def _measure(self, measure: Measure, number: int) -> None:
        """A time as a measure between two moments."""
        canvas, x = self.canvas, self.bar_x
        top, bottom = self.moments[measure.first] + 2, self.moments[measure.last] - 2
        canvas.open("g", class_="delay" if measure.matters else "delay none")
        matters = "matters" if measure.matters else "makes no difference by itself"
        canvas.title(f"u{number}: {measure.text}; this time {matters}")
        canvas.line([(x - 4, top), (x + 4, top)])
        canvas.line([(x, top), (x, bottom)])
        canvas.line([(x - 4, bottom), (x + 4, bottom)])
        middle = (top + bottom) / 2 - _SIZE * LINE / 2
        lines = fit(measure.text, _MEASURE_ROOM, _SIZE, 1)
        canvas.text(lines, x + 10, middle, _SIZE)
        canvas.close("g")

    # ------------------------------------------------------------------------------------ rows

    def _row(self, at: int) -> None:
        row, lines, y = self.story.rows[at], self.texts[at], self.moments[at]
        canvas = self.canvas
        canvas.open("g", class_=f"{row.kind} {row.role}")
        if "".join(lines).replace(" ", "") != row.text.replace(" ", ""):
            canvas.title(row.text)
        if row.line and row.kind != "start":
            canvas.text([str(row.line)], self.line_x, y - _SMALL * 0.65, _SMALL, "end",
                        class_="number")  # fmt: skip
        match row.kind:
            case "start":
                self._across(lines, y, None)
            case "fold" | "accepted" | "end":
                self._across(lines, y, row.kind)
            case "mark":
                self._beside(row, lines, y)
            case "event":
                if row.at in ("request", "response"):
                    self._message(row, lines, y)
                else:
                    self._beside(row, lines, y)
        canvas.close("g")

    def _across(self, lines: tuple[str, ...], y: float, box: str | None) -> None:
        """Words over both lifelines, in a box or between two lines."""
        middle, height = (self.tester + self.ecu) / 2, len(lines) * _SIZE * LINE
        width = max(text_width(line, _SIZE, box == "end") for line in lines)
        if box is None:
            for start, end in (
                (self.bar_x - 8, middle - width / 2 - 8), (middle + width / 2 + 8, self.right)
            ):  # fmt: skip
                self.canvas.line([(start, y), (max(start, end), y)], class_="rule")
        else:
            left = min(self.tester - 14, middle - width / 2 - 10)
            right = max(self.ecu + 14, middle + width / 2 + 10)
            area = Box(left, y - height / 2 - 4, right, y + height / 2 + 4)
            self.canvas.rect(area, rx=4)
        self.canvas.text(lines, middle, y - height / 2, _SIZE, "middle", bold=box == "end")

    def _beside(self, row: Row, lines: tuple[str, ...], y: float) -> None:
        """Something that happens at one lifeline."""
        x = self.of["environment" if row.at == "environment" else "ECU"]
        self.canvas.circle(x, y, 4.5, class_="dot")
        top = y - len(lines) * _SIZE * LINE / 2
        self.canvas.text(lines, x + 11, top, _SIZE, bold=row.role == "fault")

    def _message(self, row: Row, lines: tuple[str, ...], y: float) -> None:
        canvas = self.canvas
        here, there = self.tester, self.ecu
        if row.at == "response":
            here, there = there, here
        above = y - len(lines) * _SIZE * LINE - 2
        middle = (here + there) / 2
        canvas.text(lines, middle, above, _SIZE, "middle", bold=row.role == "fault")
        canvas.line([(here, y), (there, y)])
        back = 9 if there < here else -9
        canvas.polygon([(there, y), (there + back, y - 4), (there + back, y + 4)], class_="tip")
        canvas.circle(here, y, 2.5, class_="start")
        if row.role == "fault":
            for slope in (-1, 1):
                canvas.line([(there - 5, y - slope * 5), (there + 5, y + slope * 5)],
                            class_="cross")  # fmt: skip

    def _brackets(self) -> None:
        canvas = self.canvas
        for number, bracket in enumerate(self.brackets):
            x = self.bracket_x + _BRACKET * number
            top, bottom = self.moments[bracket.first], self.moments[bracket.last]
            canvas.open("g", class_="bracket" if bracket.holds else "bracket not")
            canvas.title(f"{bracket.letter}: {bracket.text}{'' if bracket.holds else ', not so'}")
            if bracket.first != bracket.last:
                canvas.line([(x - 6, top), (x, top), (x, bottom), (x - 6, bottom)])
            else:
                canvas.circle(x, top, 3.5)
            middle = (top + bottom) / 2 - _SIZE * LINE / 2
            canvas.text([bracket.letter], x + 5, middle, _SIZE, bold=True)
            canvas.close("g")

    def _legend(self, top: float) -> float:
        """The constraints in words, below; returns where they end."""
        for bracket in self.brackets:
            words = bracket.text if bracket.holds else f"not {bracket.text}"
            self.canvas.text([bracket.letter], self.tester, top, _SIZE, bold=True, class_="letter")
            (line,) = fit(words, self.right - self.tester, _SIZE, 1)
            top = self.canvas.text([line], self.tester + 16, top, _SIZE).bottom + 3
        return float(int(top + _EDGE) + 1) if self.brackets else top


def _lines(row: Row) -> tuple[str, ...]:
    if row.kind == "accepted":
        # An alternative a line.
        first, *others = row.text.split(", or ")
        texts = [first, *(f"or {other}" for other in others)]
        return tuple(line for text in texts[:_MOST_ACCEPTED] for line in _by_words(text))
    beside: tuple[Line, ...] = ("environment", "ecu")
    narrow = row.kind in ("event", "mark") and row.at in beside
    room = _MARK_ROOM if narrow else _MESSAGE_ROOM
    return fit(row.text, room, _SIZE, 3 if row.role == "fault" or narrow else 2,
               row.role == "fault")  # fmt: skip


def _by_words(text: str) -> list[str]:
    """One line, or two: the times on the second one if that will do."""
    lines = [text]
    if text_width(text, _SIZE) > _MESSAGE_ROOM:
        times = _TIMES.search(text)
        at = times.start() if times is not None else text.rfind(" ", 0, len(text) // 2)
        lines = [text[:at], text[at + 1 :]] if at > 0 else [text]
    return [elide(line, _MESSAGE_ROOM, _SIZE) for line in lines]
