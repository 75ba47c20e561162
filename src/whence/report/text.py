"""Results on the terminal.

Nothing here is markup: names and queries are hostile (`[red]`), so that all cells are
:class:`rich.text.Text`.  Without a terminal rich leaves the styles out, and what remains is plain
text that depends on the width alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from whence.model.layout import Layout
from whence.model.network import Network
from whence.model.trace import QueryResult, TimedTrace
from whence.report.story import Step, Story, answer, one_line, seconds, tell

__all__ = ["trace_table", "verdict_table"]

STYLES = {
    "satisfied": "bold green",
    "violated": "bold red",
    "unknown": "bold yellow",
    "error": "bold magenta",
}

#: From this width on, what changes and what holds have columns of their own.
_WIDE = 120
#: A state with more constraints shows only those that the state before it does not have.
_MANY = 8


def verdict_table(results: Sequence[QueryResult], network: Network) -> RenderableType:
    """One row a query: what was asked, what is the answer, what did it take."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("query", ratio=1, overflow="fold", min_width=12)
    table.add_column("verdict", overflow="fold", min_width=9)
    for heading in ("states", "transitions", "seconds"):
        table.add_column(heading, justify="right", no_wrap=True)
    for result in results:
        query = Text(one_line(result.query))
        if result.reason:
            query.append(f"\n{one_line(result.reason)}", style="dim")
        table.add_row(
            query,
            Text("\n".join(answer(result)), style=STYLES[result.verdict]),
            Text(str(result.states)),
            Text(str(result.transitions)),
            Text(seconds(result.seconds)),
        )
    return table


def trace_table(trace: TimedTrace, network: Network, layout: Layout) -> RenderableType:
    """One row a step, the initial state first."""
    return _TraceTable(tell(trace, network, layout))


class _TraceTable:
    """Chooses its columns when it is known how wide the terminal is."""

    def __init__(self, story: Story) -> None:
        self.story = story

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        wide = options.max_width >= _WIDE
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
        # Rich would take the room from numbers and clip them; exact fractions can be long.
        table.add_column("#", justify="right", no_wrap=True)
        table.add_column("delay", justify="right", overflow="fold", max_width=12)
        table.add_column("time", justify="right", overflow="fold", max_width=12)
        table.add_column("action", overflow="fold", max_width=24 if wide else 14)
        table.add_column("processes" if wide else "what happens", ratio=3, overflow="fold")
        if wide:
            table.add_column("changes", ratio=2, overflow="fold")
            table.add_column("clocks, delay included", ratio=2, overflow="fold")
        steps = self.story.steps
        for before, step in pairwise((None, *steps)):
            assert step is not None
            moves = self._moves(step)
            changes = _lines(self._changes(step), "cyan")
            zone = _Filled(_constraints(before, step))
            told = [text for text in (moves, changes) if text.plain]
            cells: list[RenderableType] = [moves, changes, zone] if wide else [Group(*told, zone)]
            table.add_row(
                Text(str(step.number)),
                Text("" if step.delay is None else str(step.delay)),
                Text(str(step.time)),
                _action(step),
                *cells,
            )
        yield table
        yield Text("")
        yield self._end()

    def _moves(self, step: Step) -> Text:
        story = self.story
        if step.number > 0:
            return _lines(map(str, step.moves), "")
        names = [
            f"{story.process_names[at]}: {story.location_names[at][step.locations[at]]}"
            for at in story.takes_part or story.silent[:_MANY]
        ]
        others = len(story.process_names) - len(names)
        if others:
            names.append(f"({others} more {'process does' if others == 1 else 'processes do'} not")
            names[-1] += " take part)"
        return _lines(names, "")

    def _changes(self, step: Step) -> list[str]:
        if step.number > 0:
            return [str(change) for change in step.changes]
        return [f"{name} = {value}" for name, value in self.story.initial_values]

    def _end(self) -> Text:
        story = self.story
        after = f" (after another {story.rest})" if story.rest else ""
        text = Text(f"time {story.duration}{after}: ", overflow="fold")
        text.append(story.end, style="bold")
        return text


def _action(step: Step) -> Text:
    if step.number == 0:
        return Text("(start)", style="dim")
    if step.failed:
        return Text(one_line(step.action), style="bold red")
    return Text(one_line(step.action), style="dim" if step.internal else "bold")


def _constraints(before: Step | None, step: Step) -> list[str]:
    constraints = [one_line(constraint) for constraint in step.constraints]
    if before is None or len(constraints) <= _MANY:
        return constraints
    known = {one_line(constraint) for constraint in before.constraints}
    new = [constraint for constraint in constraints if constraint not in known]
    if len(new) < len(constraints):
        new.append(f"({len(constraints) - len(new)} as before)")
    return new


def _lines(lines: Iterable[str], style: str) -> Text:
    return Text("\n".join(one_line(line) for line in lines), style=style)


class _Filled:
    """Constraints, as many in a line as fit: none is broken unless it is longer than a line."""

    def __init__(self, items: Sequence[str]) -> None:
        self.items = [f"{item}," for item in items[:-1]] + list(items[-1:])

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        line = ""
        for item in self.items:
            if line and cell_len(line) + 1 + cell_len(item) > options.max_width:
                yield Text(line, style="dim", overflow="fold")
                line = ""
            line = f"{line} {item}" if line else item
        if line:
            yield Text(line, style="dim", overflow="fold")

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        longest = max(map(cell_len, self.items), default=0)
        return Measurement(longest, cell_len(" ".join(self.items))).with_maximum(options.max_width)
