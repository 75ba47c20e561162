"""A triage on the terminal: the classes in a table, then what explains each of them."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from rich import box
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from whence.report.triage_words import (
    KIND_WORDS,
    clean,
    comparison_words,
    count,
    headline,
    seen_words,
    title,
)
from whence.triage.findings import FaultClass, FoundTrace, SeenEvent, Triage
from whence.triage.words import time_text

__all__ = ["triage_text"]

_BAD, _DOUBT, _GOOD = "red", "yellow", "green"
_STATUS = {"new": "bold yellow", "known": "dim", "": ""}
#: So many broken traces, and marks of the environment, are listed.
_MOST = 10


def triage_text(found: Triage, top: int = 20, quiet: bool = False) -> Iterator[RenderableType]:
    """Line by line, and tables between them. `top`: so many classes are explained."""
    style = f"bold {_BAD}" if found.faults else f"bold {_GOOD}"
    yield Text(headline(found), style=style, overflow="fold")
    if found.classes:
        yield Text("")
        yield _table(found, top)
        more = len(found.classes) - top
        if more > 0:
            yield Text(f"and {count(more, 'smaller class')} (--top)", style="dim")
    if not quiet:
        for number, each in enumerate(found.classes[:top], 1):
            yield Text("")
            yield from _class(found, number, each)
    if found.gone:
        yield Text("")
        yield Text("Not seen any more", style="bold")
        for gone in found.gone:
            yield _inside(f"{gone.ident}  {title(gone)}: {gone.observed}", depth=2)
    yield from _environment(found, quiet)
    yield from _broken(found)
    if found.passed_over:
        files = count(len(found.passed_over), "file")
        yield Text(f"{files} passed over: neither logs, nor called so", style="dim")
    if found.verified:
        yield Text("")
        yield from _verified(found)
    if not found.complete:
        yield Text("")
        yield Text("Partial: interrupted before all logs were done.", style=f"bold {_DOUBT}")


def _table(found: Triage, top: int) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("", justify="right")
    table.add_column("faults", justify="right")
    if found.compared:
        table.add_column("")
    table.add_column("violated", overflow="fold", max_width=16)
    table.add_column("", no_wrap=True)
    table.add_column("observed", overflow="fold")
    for number, each in enumerate(found.classes[:top], 1):
        cells: list[str | Text] = [f"{number}.", f"{each.size:,}"]
        if found.compared:
            cells.append(Text(each.status, style=_STATUS[each.status]))
        violated = clean(", ".join(each.requirements)) or "–"
        cells += [Text(violated), KIND_WORDS[each.kind], Text(clean(each.observed))]
        table.add_row(*cells)
    return table


def _class(found: Triage, number: int, each: FaultClass) -> Iterator[RenderableType]:
    head = Text(f"{number}. {count(each.size, 'fault')}, ", style="bold")
    head.append(clean(title(each)))
    head.append(f"  {each.ident}", style="dim")
    if each.status:
        head.append(f"  {each.status}", style=_STATUS[each.status])
    yield head
    for requirement in each.requirements:
        text = found.requirements.get(requirement)
        if text:
            yield _inside(f"{requirement}: {text}", "dim")
    yield _events(each)
    if each.constraints:
        yield _inside(f"where {' and '.join(each.constraints)}")
    yield _inside(f"expected {each.expected}", _GOOD)
    seen = f"seen {seen_words(each.first)}"
    if each.size > 1 or each.first != each.last:
        seen += f" to {seen_words(each.last)}"
    yield _inside(seen, "dim")


def _inside(text: str, style: str = "", depth: int = 3) -> Padding:
    """One line, also where it is wrapped."""
    return Padding(Text(clean(text), style=style, overflow="fold"), (0, 0, 0, depth))


def _events(each: FaultClass) -> Table:
    """The events of the explanation, with the time before each."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(justify="right", min_width=14, no_wrap=True)
    table.add_column(overflow="fold")
    case = each.case
    places = {event.index: n for n, event in enumerate(case.events)}
    before: SeenEvent | None = None
    for event in case.events:
        if event.role not in ("relevant", "fault"):
            continue
        if before is not None:
            left_out = places[event.index] - places[before.index] - 1
            if left_out:
                table.add_row("", Text(f"… {count(left_out, 'event')} left out", "dim"))
        text = Text(clean(event.text), f"bold {_BAD}" if event.role == "fault" else "")
        text.append(f"  line {event.line}" if event.line else "", "dim")
        table.add_row(_wait(before, event.date), text)
        before = event
    fault = case.explanation.fault
    if fault.event is None:
        table.add_row(_wait(before, fault.date), Text("the end", f"bold {_BAD}"))
    return table


def _wait(before: SeenEvent | None, date: Fraction) -> str:
    return "" if before is None else f"+{time_text(date - before.date)}"


def _environment(found: Triage, quiet: bool) -> Iterator[RenderableType]:
    lines = list(comparison_words(found))
    if not lines:
        return
    yield Text("")
    yield Text("Marks of the environment", style="bold")
    for line in lines:
        yield Text(f"  {line}")
    if quiet:
        return
    only = found.only_by_environment
    for mark in only[:_MOST]:
        trace = None if mark.trace is None else found.traces[mark.trace]
        where = "" if trace is None else f"{trace.file}:{mark.line}: "
        yield _inside(f"{where}{mark.text}", "dim", 2)
        yield _inside(mark.why, depth=4)
    if len(only) > _MOST:
        yield Text(f"  and {len(only) - _MOST:,} more", style="dim")


def _broken(found: Triage) -> Iterator[RenderableType]:
    broken = found.of_verdict("broken")
    if not broken:
        return
    yield Text("")
    yield Text("Not replayed", style=f"bold {_DOUBT}")
    for trace in broken[:_MOST]:
        yield _inside(f"{_where(trace)}: {trace.reason}", depth=2)
        if trace.hint:
            yield _inside(f"hint: {trace.hint}", "dim", 4)
    if len(broken) > _MOST:
        yield Text(f"  and {len(broken) - _MOST:,} more (--format json lists all)", style="dim")


def _where(trace: FoundTrace) -> str:
    return f"{trace.file}:{trace.line}" if trace.line else trace.file


def _verified(found: Triage) -> Iterator[RenderableType]:
    explanations = [each for fault in found.faults for each in fault.explanations]
    wrong = [
        (fault, each.problems) for fault in found.faults
        for each in fault.explanations if each.problems
    ]  # fmt: skip
    right = len(explanations) - len(wrong)
    yield Text(f"verified: {right:,} of {count(len(explanations), 'proof')} are valid")
    for fault, problems in wrong[:_MOST]:
        trace = found.traces[fault.trace]
        yield _inside(f"{trace.file}:{fault.line}: {'; '.join(problems or ())}", _BAD, 2)
