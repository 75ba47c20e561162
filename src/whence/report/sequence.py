"""Time-annotated sequence diagrams (Koelbl, figure 8.1 (c)).

Processes are lifelines, synchronisations are messages between them, and time flows down.  Boxes
along a lifeline name the locations that its process enters.  At the left stand the moments of
the steps and between them the delays δ0, δ1, …: how long the run waits in each state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from whence.model.layout import Layout
from whence.model.network import Network
from whence.model.trace import TimedTrace
from whence.report.lanes import EDGE, SIZE, Lanes, plan_lanes
from whence.report.measure import LINE, elide, fit, text_width
from whence.report.story import Step, Story, one_line, tell
from whence.report.svg import Anchor, Box, Canvas

__all__ = ["Band", "Diagram", "draw_sequence", "sequence_diagram"]

_SMALL = 10.5
#: From the top of a step to its arrow, and from there to what follows.
_ABOVE = 21.0
_BELOW = 8.0
#: The least height of a stretch of time, with its label.
_NO_TIME = 14.0
_SOME_TIME = 26.0
_PAD = 10.0


@dataclass(frozen=True, slots=True)
class Band:
    """A stretch of a lifeline to be coloured: from the moment of step `from_step` (0: the start)
    to that of `to_step`; one more than the last step is the end of the trace.

    `process` is a process's number, or None for the delays at the left. `colour` is any that SVG
    knows; bands with the same colour and label share an entry in the legend.
    """

    process: int | None
    from_step: int
    to_step: int
    colour: str
    label: str


@dataclass(frozen=True, slots=True)
class Diagram:
    """The names over the lifelines and what is below them: two drawings of the same width, so
    that the names can stay in view."""

    head: str
    body: str


def sequence_diagram(
    trace: TimedTrace,
    network: Network,
    layout: Layout,
    delay_ranges: Sequence[str] | None = None,
    bands: Sequence[Band] = (),
) -> str:
    """A whole SVG file. `delay_ranges` tells for each delay which ones are possible: `[1, 2]`."""
    drawer = _Drawer(tell(trace, network, layout), trace, delay_ranges, bands)
    canvas = Canvas()
    top = drawer.head(canvas)
    bottom = drawer.body(canvas, top)
    return canvas.document(
        Box(0, 0, drawer.width, bottom), drawer.label, standalone=True, class_="whence sequence"
    )


def draw_sequence(
    story: Story,
    trace: TimedTrace,
    delay_ranges: Sequence[str] | None = None,
    bands: Sequence[Band] = (),
) -> Diagram:
    """The same for a page that has the style sheet already."""
    drawer = _Drawer(story, trace, delay_ranges, bands)
    head, body = Canvas(), Canvas()
    head_height = drawer.head(head)
    body_height = drawer.body(body, 0)
    return Diagram(
        head.document(
            Box(0, 0, drawer.width, head_height), "The processes", class_="whence sequence"
        ),
        body.document(Box(0, 0, drawer.width, body_height), drawer.label, class_="whence sequence"),
    )


class _Drawer:
    def __init__(
        self,
        story: Story,
        trace: TimedTrace,
        delay_ranges: Sequence[str] | None,
        bands: Sequence[Band],
    ) -> None:
        self.story = story
        self.trace = trace
        self.ranges = tuple(map(one_line, delay_ranges or ()))
        self.bands = bands
        self.lanes: Lanes = plan_lanes(story, self.ranges)
        lanes = self.lanes
        self.end_lines = fit(story.end, max(lanes.right - lanes.left, 260) - 2 * _PAD, SIZE, 3)
        end_width = max(text_width(line, SIZE, bold=True) for line in self.end_lines) + 2 * _PAD
        self.right = max(lanes.right, lanes.left + end_width)
        self.legend = _legend(bands, self.right - EDGE)
        loop_room = 26.0 if trace.loop_to is not None else 0.0
        self.width = float(int(self.right + loop_room + EDGE) + 1)
        self.label = f"Sequence diagram of {len(story.steps) - 1} steps; {story.end}"
        #: Where each step happens, then where the trace ends.
        self.moments: list[float] = []

    # ---------------------------------------------------------------------------------- head

    def head(self, canvas: Canvas) -> float:
        """The names over the lifelines; returns where they end."""
        lanes = self.lanes
        height = max((len(lane.header) for lane in lanes.lanes), default=1) * SIZE * LINE + 12
        bottom = EDGE + height
        canvas.rect(Box(0, 0, self.width, bottom), class_="ground")
        columns: tuple[tuple[str, float, Anchor], ...] = (
            ("step", lanes.number_x, "middle"),
            ("time", lanes.time_x, "end"),
            ("delay", lanes.delay_x, "start"),
        )
        for text, x, anchor in columns if self.story.timed else columns[:1]:
            top = EDGE + height - _SMALL * LINE - 5
            canvas.text([text], x, top, _SMALL, anchor, class_="faint")
        for lane in lanes.lanes:
            canvas.open("g")
            if lane.is_short:
                canvas.title(lane.name)
            width = max(text_width(line, SIZE, bold=True) for line in lane.header) + 2 * _PAD
            canvas.rect(Box.around(lane.x, EDGE + height / 2, width, height), rx=3, class_="head")
            top = EDGE + (height - len(lane.header) * SIZE * LINE) / 2
            canvas.text(lane.header, lane.x, top, SIZE, "middle", bold=True)
            canvas.close("g")
        return bottom

    # ---------------------------------------------------------------------------------- body

    def body(self, canvas: Canvas, top: float) -> float:
        """All below the names; returns the height of it."""
        y = self._draw_legend(canvas, top)
        begin = y if self.legend else top
        row_tops: list[float] = []
        for step in self.story.steps:
            row_tops.append(y)
            moment = y + (_PAD if step.number == 0 else _ABOVE)
            self.moments.append(moment)
            y = self._boxes_bottom(step, moment)
            y += self._stretch(step.number)
        end = y + _PAD
        self.moments.append(end)

        # Below everything else, so that marking a step hides nothing of it.
        for step, row_top in zip(self.story.steps, row_tops, strict=True):
            # The last one reaches below the time that is written at the end.
            rest = row_tops[step.number + 1 :]
            following = rest[0] if rest else end + SIZE
            area = Box(0, row_top, self.width, following)
            canvas.rect(area, class_="hit", data_step=step.number)
        for lane in self.lanes.lanes:
            # They begin below the legend: its words are not to be crossed out.
            canvas.line([(lane.x, begin), (lane.x, end)], class_="life")
        self._draw_bands(canvas)
        for step in self.story.steps:
            self._draw_row(canvas, step)
        return self._draw_end(canvas, end)

    def _boxes_bottom(self, step: Step, moment: float) -> float:
        lines = max((len(box.lines) for box in self.lanes.boxes[step.number]), default=0)
        if not lines:
            return moment + _BELOW
        above = 0.0 if step.number == 0 else _BELOW
        return moment + above + lines * SIZE * LINE + 8

    def _has_delay(self, number: int) -> bool:
        return self.story.timed and number < len(self.trace.delays)

    def _stretch(self, number: int) -> float:
        if not self._has_delay(number):
            return 0.0
        height = _SOME_TIME if self.trace.delays[number] else _NO_TIME
        if number < len(self.ranges) or self.story.steps[number].hurry:
            height += _SMALL * LINE
        return height

    def _draw_row(self, canvas: Canvas, step: Step) -> None:
        moment = self.moments[step.number]
        canvas.open("g", class_="row failed" if step.failed else "row", data_step=step.number)
        self._draw_gutter(canvas, step, moment)
        if step.number > 0:
            self._draw_action(canvas, step, moment)
        top = moment + (0 if step.number == 0 else _BELOW)
        for box in self.lanes.boxes[step.number]:
            x = self.lanes.of_process[box.process].x
            width = max(text_width(line, SIZE) for line in box.lines) + 2 * 8
            height = len(box.lines) * SIZE * LINE + 6
            canvas.open("g", class_="state")
            if box.is_short:
                canvas.title(box.name)
            canvas.rect(Box(x - width / 2, top, x + width / 2, top + height), rx=8)
            canvas.text(box.lines, x, top + 2, SIZE, "middle")
            canvas.close("g")
        canvas.close("g")

    def _draw_gutter(self, canvas: Canvas, step: Step, moment: float) -> None:
        lanes = self.lanes
        middle = moment + (8 if step.number == 0 else 0)
        canvas.text(
            [str(step.number)],
            lanes.number_x,
            middle - SIZE * 0.65,
            SIZE,
            "middle",
            bold=True,
            class_="number",
        )
        if self.story.timed:
            time = str(step.time)
            self._short(canvas, [time], lanes.time_x, middle - SIZE * 0.65, "end", "time")
        if self._has_delay(step.number):
            self._draw_delay(canvas, step)

    def _draw_delay(self, canvas: Canvas, step: Step) -> None:
        """The time that passes after a step, as a measure between two moments."""
        lanes = self.lanes
        number = step.number
        top, bottom = self.moments[number] + 3, self.moments[number + 1] - 3
        x = lanes.delay_x
        delay = self.trace.delays[number]
        kind = "delay" if delay else "delay none"
        canvas.open("g", class_=kind)
        canvas.line([(x - 4, top), (x + 4, top)])
        canvas.line([(x, top), (x, bottom)])
        canvas.line([(x - 4, bottom), (x + 4, bottom)])
        lines = [f"δ{number} = {delay}"]
        if number < len(self.ranges):
            lines.append(f"∈ {self.ranges[number]}")
        elif step.hurry:
            lines.append(step.hurry)
        middle = (top + bottom) / 2
        self._short(canvas, lines, x + 9, middle - len(lines) * SIZE * LINE / 2, "start", "")
        canvas.close("g")

    def _short(
        self,
        canvas: Canvas,
        lines: Sequence[str],
        x: float,
        top: float,
        anchor: Anchor,
        class_: str,
    ) -> None:
        """Lines of the gutter, elided to its room, with the whole text to be had."""
        room = self.lanes.label_room if anchor == "start" else self.lanes.time_room
        shown = [elide(line, room, SIZE) for line in lines]
        canvas.open("g", class_=class_ or None)
        if shown != list(lines):
            canvas.title("\n".join(lines))
        canvas.text(shown, x, top, SIZE, anchor)
        canvas.close("g")

    # ------------------------------------------------------------------------------- actions

    def _draw_action(self, canvas: Canvas, step: Step, y: float) -> None:
        lanes = self.lanes
        label = lanes.labels[step.number]
        class_ = "internal" if step.internal else "message"
        canvas.open("g", class_=class_)
        canvas.title(
            "\n".join((f"step {step.number}: {one_line(step.action)}", *map(str, step.moves)))
        )
        if step.moves:
            x = lanes.of_process[step.moves[0].process].x
            if step.internal:
                canvas.circle(x, y, 4.5, class_="dot")
                canvas.text([label.text], x + 10, y - SIZE * 0.72, SIZE)
            else:
                self._draw_message(canvas, step, x, y)
        canvas.close("g")

    def _draw_message(self, canvas: Canvas, step: Step, x: float, y: float) -> None:
        lanes = self.lanes
        label = lanes.labels[step.number]
        ends = sorted({lanes.of_process[move.process].x for move in step.moves[1:]} - {x})
        # The text first: its halo hides the lifelines that it crosses, but not the arrow.
        above = y - SIZE * LINE - 1
        if not ends:
            # Nobody listens to this broadcast.
            canvas.text([label.text], x + 9, above, SIZE)
            stub = x + 14 + label.width
            canvas.line([(x, y), (stub, y)])
            canvas.circle(stub + 4, y, 3.5, class_="lost")
        else:
            nearest = lanes.of_process[label.towards].x
            canvas.text([label.text], (x + nearest) / 2, above, SIZE, "middle")
            canvas.line([(min(x, ends[0]), y), (max(x, ends[-1]), y)])
            for end in ends:
                back = -9 if end > x else 9
                canvas.polygon([(end, y), (end + back, y - 4), (end + back, y + 4)], class_="tip")
        canvas.circle(x, y, 2.5, class_="dot")
        if step.failed:
            cross = 5
            for slope in (-1, 1):
                canvas.line(
                    [(x - cross, y - slope * cross), (x + cross, y + slope * cross)],
                    class_="cross",
                )

    # --------------------------------------------------------------------------- bands, the end

    def _draw_bands(self, canvas: Canvas) -> None:
        last = len(self.moments) - 1
        for band in self.bands:
            lane = None if band.process is None else self.lanes.of_process.get(band.process)
            if band.process is not None and lane is None:
                continue
            x = self.lanes.delay_x if lane is None else lane.x
            top = self.moments[min(max(band.from_step, 0), last)]
            bottom = self.moments[min(max(band.to_step, 0), last)]
            canvas.open("g", class_="band")
            canvas.title(band.label)
            canvas.rect(Box(x - 6, top, x + 6, max(top, bottom)), rx=3, fill=band.colour)
            canvas.close("g")

    def _draw_legend(self, canvas: Canvas, top: float) -> float:
        if not self.legend:
            return top + _PAD
        y = top + _PAD
        for colour, lines in self.legend:
            canvas.rect(Box(EDGE, y, EDGE + 12, y + 12), rx=3, fill=colour, class_="swatch")
            y = canvas.text(lines, EDGE + 20, y - 1, SIZE).bottom + 4
        return y + _PAD

    def _draw_end(self, canvas: Canvas, y: float) -> float:
        lanes = self.lanes
        height = len(self.end_lines) * SIZE * LINE + 10
        error = " error" if self.trace.end == "error" else ""
        canvas.open("g", class_=f"end{error}", data_step=len(self.story.steps) - 1)
        if " ".join(self.end_lines) != self.story.end:
            canvas.title(self.story.end)
        canvas.rect(Box(lanes.left, y, self.right, y + height), rx=4)
        middle = (lanes.left + self.right) / 2
        canvas.text(self.end_lines, middle, y + 4, SIZE, "middle", bold=True)
        if self._has_delay(len(self.story.steps) - 1):
            time = [str(self.story.duration)]
            self._short(canvas, time, lanes.time_x, y - SIZE * 0.65, "end", "time")
        canvas.close("g")
        loop = self.trace.loop_to
        if loop is not None and 0 <= loop < len(self.story.steps):
            side, back_to = self.right + 18, self.moments[loop] + 10
            turn = y + height / 2
            canvas.open("g", class_="loop")
            canvas.line(
                [(self.right, turn), (side, turn), (side, back_to), (self.right + 2, back_to)]
            )
            tip = self.right + 1
            canvas.polygon([(tip, back_to), (tip + 9, back_to - 4), (tip + 9, back_to + 4)])
            canvas.close("g")
        return float(int(y + height + EDGE) + 1)


def _legend(bands: Sequence[Band], room: float) -> list[tuple[str, tuple[str, ...]]]:
    entries = dict.fromkeys((band.colour, one_line(band.label)) for band in bands)
    return [(colour, fit(label, room - 24, SIZE, 3)) for colour, label in entries]
