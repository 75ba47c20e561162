"""Where the lifelines of a sequence diagram stand, so that nothing between them overlaps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from whence.report.measure import elide, fit, text_width
from whence.report.story import Step, Story, one_line

__all__ = ["EDGE", "SIZE", "Label", "Lane", "Lanes", "StateBox", "plan_lanes"]

#: The size of all text, and the space around the drawing.
SIZE = 11.5
EDGE = 10.0

_NAME_ROOM = 120.0
_LABEL_ROOM = 170.0
_GUTTER_ROOM = 110.0
#: A run in which nothing moves shows so many processes.
_STILL = 8


@dataclass(frozen=True, slots=True)
class Lane:
    """One lifeline: its process's name, as it is and as it is shown."""

    process: int
    x: float
    name: str
    header: tuple[str, ...]

    @property
    def is_short(self) -> bool:
        return "".join(self.header) != self.name


@dataclass(frozen=True, slots=True)
class StateBox:
    """A location that a process enters."""

    process: int
    name: str
    lines: tuple[str, ...]

    @property
    def is_short(self) -> bool:
        return "".join(self.lines) != self.name


@dataclass(frozen=True, slots=True)
class Label:
    """What is written at an action. `towards` is the process next to the first that takes part:
    between the two, or right of the first if it is the same, there is room for the text."""

    text: str
    width: float
    towards: int


@dataclass(frozen=True, slots=True)
class Lanes:
    """Everything that has a horizontal place; `boxes` and `labels` are by step."""

    lanes: tuple[Lane, ...]
    of_process: dict[int, Lane]
    boxes: tuple[tuple[StateBox, ...], ...]
    labels: tuple[Label, ...]
    number_x: float
    time_x: float
    delay_x: float
    time_room: float
    label_room: float
    left: float
    right: float


def plan_lanes(story: Story, ranges: Sequence[str]) -> Lanes:
    shown = story.takes_part or story.silent[:_STILL]
    column = {process: number for number, process in enumerate(shown)}
    boxes = tuple(_boxes(story, step, shown) for step in story.steps)
    labels = tuple(_label(step, column) for step in story.steps)
    headers = {
        process: fit(one_line(story.process_names[process]), _NAME_ROOM, SIZE, 2, bold=True)
        for process in shown
    }
    half = {process: _width(headers[process], True) / 2 + 12 for process in shown}
    for box in (box for of_step in boxes for box in of_step):
        half[box.process] = max(half[box.process], _width(box.lines, False) / 2 + 10)

    gaps = [half[here] + half[there] + 14 for here, there in pairwise(shown)]
    right_of_last = half[shown[-1]] if shown else 0.0
    # The shortest spans first: what they widen, the longer ones need not.
    for start, end, needed in sorted(_spans(story.steps, labels, column), key=_span_length):
        if end >= len(shown):
            right_of_last = max(right_of_last, needed)
            continue
        missing = needed - sum(gaps[start:end])
        if missing > 0:
            for at in range(start, end):
                gaps[at] += missing / (end - start)

    number_x = EDGE + max(text_width(str(len(story.steps)), SIZE, True), 22.0) / 2
    times = [text_width(str(step.time), SIZE) for step in story.steps]
    times.append(text_width(str(story.duration), SIZE))
    time_room = min(max(*times, 26.0), _GUTTER_ROOM)
    time_x = number_x * 2 - EDGE + 14 + time_room
    delay_x = time_x + 18
    label_room = _delay_room(story, ranges)
    left = delay_x + 9 + label_room + 16 if story.timed else 2 * number_x - EDGE + 16

    lanes = []
    x = left + (half[shown[0]] if shown else 0.0)
    for number, process in enumerate(shown):
        lanes.append(Lane(process, x, one_line(story.process_names[process]), headers[process]))
        x += gaps[number] if number < len(gaps) else 0.0
    return Lanes(
        lanes=tuple(lanes),
        of_process={lane.process: lane for lane in lanes},
        boxes=boxes,
        labels=labels,
        number_x=number_x,
        time_x=time_x,
        delay_x=delay_x,
        time_room=time_room,
        label_room=label_room,
        left=left,
        right=x + right_of_last,
    )


def _delay_room(story: Story, ranges: Sequence[str]) -> float:
    delays = [step.delay for step in story.steps[1:]] + [story.rest]
    texts = [f"δ{number} = {delay}" for number, delay in enumerate(delays)]
    texts += [f"∈ {text}" for text in ranges]
    texts += [step.hurry for step in story.steps]
    return min(max(text_width(text, SIZE) for text in texts), _GUTTER_ROOM + 40)


def _width(lines: Sequence[str], bold: bool) -> float:
    return max(text_width(line, SIZE, bold) for line in lines)


def _boxes(story: Story, step: Step, shown: Sequence[int]) -> tuple[StateBox, ...]:
    """At the start all locations, later those of processes that go to another one."""
    if step.failed:
        return ()
    if step.number == 0:
        entering = list(shown)
    else:
        before = story.steps[step.number - 1].locations
        entering = [at for at in shown if step.locations[at] != before[at]]
    boxes = []
    for process in entering:
        name = one_line(story.location_names[process][step.locations[process]])
        boxes.append(StateBox(process, name, fit(name, _NAME_ROOM, SIZE, 2)))
    return tuple(boxes)


def _label(step: Step, column: dict[int, int]) -> Label:
    text = elide(one_line(step.action), _LABEL_ROOM, SIZE)
    first = step.moves[0].process if step.moves else 0
    others = [move.process for move in step.moves[1:] if move.process != first]
    towards = first
    if others and not step.internal:
        towards = min(others, key=lambda at: (abs(column[at] - column[first]), column[at]))
    return Label(text, text_width(text, SIZE), towards)


def _spans(
    steps: Sequence[Step], labels: Sequence[Label], column: dict[int, int]
) -> list[tuple[int, int, float]]:
    """(from column, to column, least distance) of each action's text."""
    spans: set[tuple[int, int, float]] = set()
    for step, label in zip(steps, labels, strict=True):
        if not step.moves:
            continue
        start, end = sorted((column[step.moves[0].process], column[label.towards]))
        if start == end:
            # Beside a lifeline; a broadcast that nobody hears is the longest.
            spans.add((start, start + 1, label.width + (18 if step.internal else 32)))
        else:
            spans.add((start, end, label.width + 30))
    return sorted(spans)


def _span_length(span: tuple[int, int, float]) -> tuple[int, int]:
    return span[1] - span[0], span[0]
