"""Histories and comparisons of runs on the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rich import box
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from whence.report.store_words import (
    change_words,
    class_title,
    comparison_headline,
    found_words,
    history_headline,
    moment,
    run_state,
)
from whence.report.triage_words import clean, count
from whence.store.compare import Comparison, InBoth
from whence.store.history import ClassHistory, History, RunSummary, Sighting

__all__ = ["comparison_text", "history_text"]

_STATES: Final = {"new": "bold yellow", "known": "", "gone": "dim"}


def history_text(told: History, top: int = 20) -> Iterator[RenderableType]:
    """`top`: so many runs and classes are shown, the last ones."""
    yield Text(history_headline(told), style="bold", overflow="fold")
    runs = told.runs[-top:]
    if runs and not told.ident:
        yield Text("")
        yield _runs(runs)
        if len(runs) < len(told.runs):
            yield Text(f"and {count(len(told.runs) - len(runs), 'run')} before (--top)", "dim")
    if not told.classes:
        return
    if told.ident:
        for each in told.classes:
            yield Text("")
            yield from _one_class(each, told)
        return
    yield Text("")
    yield _classes(told.classes[:top])
    more = len(told.classes) - top
    if more > 0:
        yield Text(f"and {count(more, 'class')} more (--top)", style="dim")


def _table() -> Table:
    return Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)


def _runs(runs: Sequence[RunSummary]) -> Table:
    table = _table()
    table.add_column("run", justify="right")
    table.add_column("began (UTC)", no_wrap=True)
    table.add_column("command")
    table.add_column("model", overflow="fold")
    table.add_column("code", overflow="fold")
    table.add_column("found", overflow="fold")
    table.add_column("classes", overflow="fold")
    for each in runs:
        run = each.run
        found = Text(found_words(each))
        state = run_state(run)
        if state:
            found.append(f"; {state}: {each.done:,} of {run.planned:,} done", "yellow")
        table.add_row(
            str(run.ident),
            moment(run.started),
            Text(clean(run.command)),
            Text(clean(run.model_name)),
            Text(clean(run.code) or "–"),
            found,
            Text(_came_and_went(each) if run.grouping else ""),
        )
    return table


def _came_and_went(each: RunSummary) -> str:
    parts = [f"{len(each.new):,} new"] if each.new else []
    if each.gone:
        parts.append(f"{len(each.gone):,} gone")
    return f"{len(each.classes):,}" + (f" ({', '.join(parts)})" if parts else "")


def _classes(classes: Sequence[ClassHistory]) -> Table:
    table = _table()
    table.add_column("class", no_wrap=True)
    table.add_column("")
    table.add_column("first", justify="right")
    table.add_column("last", justify="right")
    table.add_column("runs", justify="right")
    table.add_column("code", overflow="fold")
    table.add_column("observed", overflow="fold")
    for each in classes:
        table.add_row(
            Text(clean(each.words.ident)),
            Text(each.state, _STATES[each.state]),
            str(each.first),
            str(each.last),
            f"{each.runs:,}",
            Text(_span(each.codes)),
            Text(class_title(each.words)),
        )
    return table


def _span(codes: Sequence[str]) -> str:
    if len(codes) > 2:
        return clean(f"{codes[0]} … {codes[-1]}")
    return clean(", ".join(codes)) or "–"


def _one_class(each: ClassHistory, told: History) -> Iterator[RenderableType]:
    head = Text(f"{clean(each.words.ident)}  ", style="bold")
    head.append(class_title(each.words))
    head.append(f"  {each.state}", style=_STATES[each.state])
    yield head
    yield _inside(f"model {each.model}, classes by `{each.words.grouping}`", "dim")
    for text in each.words.events:
        yield _inside(text)
    if each.words.constraints:
        yield _inside(f"where {' and '.join(each.words.constraints)}")
    yield _inside(f"expected {each.words.expected}", "green")
    began = {one.run.ident: one.run for one in told.runs}
    table = Table.grid(padding=(0, 2, 0, 0))
    for one in each.sightings:
        run = began[one.run]
        table.add_row(
            f"run {one.run}",
            moment(run.started),
            Text(clean(run.code) or "–"),
            Text(one.state, _STATES[one.state]),
            Text(_size(one), overflow="fold"),
        )
    yield Padding(table, (0, 0, 0, 3))


def _size(one: Sighting) -> str:
    if one.state == "gone":
        return ""
    line = f":{one.line}" if one.line else ""
    return f"{count(one.size, 'fault')}, {clean(one.file)}{line}"


def _inside(text: str, style: str = "") -> Padding:
    return Padding(Text(clean(text), style=style, overflow="fold"), (0, 0, 0, 3))


# ---------------------------------------------------------------------------------- comparisons


def comparison_text(found: Comparison, top: int = 20) -> Iterator[RenderableType]:
    style = "bold red" if found.new else "bold"
    yield Text(comparison_headline(found), style=style, overflow="fold")
    for title, classes, of in (
        ("New", found.new, "bold yellow"),
        ("Gone", found.gone, "dim"),
        ("Still there", found.still, ""),
    ):
        yield from _several(title, classes, of, top)
    if found.changes:
        yield Text("")
        yield Text("Other verdicts", style="bold")
        table = Table.grid(padding=(0, 2, 0, 0))
        for change in found.changes[:top]:
            where = change.file or change.name
            table.add_row(
                Text(change_words(change), no_wrap=True), Text(clean(where), overflow="fold")
            )
        yield Padding(table, (0, 0, 0, 3))
        if len(found.changes) > top:
            yield _inside(f"and {len(found.changes) - top:,} more (--top)", "dim")
    for run in (found.before, found.after):
        state = run_state(run)
        if state:
            yield Text("")
            yield Text(
                f"Partial: run {run.ident} is {state}; what it has is compared.",
                style="bold yellow",
            )


def _several(
    title: str, classes: Sequence[InBoth], style: str, top: int
) -> Iterator[RenderableType]:
    if not classes:
        return
    yield Text("")
    yield Text(title, style="bold")
    table = Table.grid(padding=(0, 2, 0, 0))
    for each in classes[:top]:
        table.add_row(
            Text(clean(each.words.ident), style),
            Text(_sizes(each), no_wrap=True),
            Text(class_title(each.words), overflow="fold"),
        )
    yield Padding(table, (0, 0, 0, 3))
    if len(classes) > top:
        yield _inside(f"and {len(classes) - top:,} more (--top)", "dim")


def _sizes(each: InBoth) -> str:
    if not each.before or not each.after or each.before == each.after:
        return count(each.after or each.before, "fault")
    return f"{each.before:,} → {count(each.after, 'fault')}"
