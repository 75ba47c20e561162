"""Where the changes of a repair show: in the labels of automata, and along a trace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from whence.model.network import Network
from whence.report.automaton import Diff
from whence.report.sequence import Band
from whence.report.story import Story, one_line
from whence.report.timing_words import before_after
from whence.timing.results import Change

__all__ = ["bands_of", "diffs_of", "in_template"]

#: One for each change, seen on light and on dark.
_COLOURS = ("#d64545", "#3b7ddd", "#e8912d", "#8a5cf0", "#2a9d5c")
#: How a change says that there is nothing before or after it.
_NOTHING = ("no update", "not urgent")


def in_template(template: int, network: Network, templates: Sequence[str]) -> list[int]:
    """The processes of a template."""
    if not 0 <= template < len(templates):
        return []
    name = templates[template]
    return [number for number, at in enumerate(network.processes) if at.template == name]


def diffs_of(changes: Iterable[Change]) -> tuple[Diff, ...]:
    return tuple(diff for change in changes for diff in _diff(change))


def _diff(change: Change) -> Iterator[Diff]:
    before, after = (
        "" if text in _NOTHING else one_line(text) for text in (change.before, change.after)
    )
    if change.location is not None:
        yield Diff(
            "location",
            change.location,
            "name" if change.kind == "urgency" else "invariant",
            before,
            after,
        )
    elif change.edge is not None and change.kind == "reset":
        before, after = _without_common(before.split(", "), after.split(", "))
        yield Diff("edge", change.edge, "assignment", before, after)
    elif change.edge is not None:
        yield Diff("edge", change.edge, "guard", before, after)


def _without_common(before: list[str], after: list[str]) -> tuple[str, str]:
    """What is different in two lists of updates that begin and end alike."""
    while before and after and before[0] == after[0]:
        before, after = before[1:], after[1:]
    while before and after and before[-1] == after[-1]:
        before, after = before[:-1], after[:-1]
    return ", ".join(before), ", ".join(after)


# ----------------------------------------------------------------------------------- on a trace


def bands_of(
    changes: Sequence[Change], network: Network, templates: Sequence[str], story: Story
) -> list[Band]:
    """The stretches of a trace in which changed elements matter, a colour a change."""
    bands = []
    for number, change in enumerate(changes):
        colour = _COLOURS[number % len(_COLOURS)]
        before, after = before_after(change)
        label = f"{before} → {after}: {one_line(change.element)}"
        for process in in_template(change.template, network, templates):
            for start, end in _stretches(change, process, story):
                bands.append(Band(process, start, end, colour, label))
    return bands


def _stretches(change: Change, process: int, story: Story) -> Iterator[tuple[int, int]]:
    if change.location is not None:
        yield from _stays(process, change.location, story)
    elif change.edge is not None:
        taken = [
            step.number
            for step in story.steps
            if any((move.process, move.edge) == (process, change.edge) for move in step.moves)
        ]
        if change.kind == "reset":
            # The clock counts from here on, until it is set again by the same edge.
            yield from pairwise((*taken, len(story.steps)))
        else:
            yield from ((_wait_for(process, number, story), number) for number in taken)


def _stays(process: int, location: int, story: Story) -> Iterator[tuple[int, int]]:
    """From the step in which a process enters a location to that in which it leaves it."""
    entered: int | None = None
    for step in story.steps:
        here = step.locations[process] == location
        if here and entered is None:
            entered = step.number
        if not here and entered is not None:
            yield entered, step.number
            entered = None
    if entered is not None:
        yield entered, len(story.steps)


def _wait_for(process: int, step: int, story: Story) -> int:
    """The step since which a process is in the location that it leaves in `step`."""
    number = step - 1
    here = story.steps[number].locations[process]
    while number and story.steps[number - 1].locations[process] == here:
        number -= 1
    return number
