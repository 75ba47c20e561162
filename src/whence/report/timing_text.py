"""Causal ranges and repairs on the terminal; see :mod:`whence.report.text`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from whence.model.layout import Layout
from whence.model.network import Network
from whence.model.trace import TimedTrace
from whence.report.story import Story, counted, one_line, seconds, tell
from whence.report.text import trace_table
from whence.report.timing_words import (
    admissible_words,
    before_after,
    change_place,
    conclusion,
    deadlock_words,
    delays_text,
    how_complete,
    is_partial,
    joined,
    other_queries_words,
    property_words,
    range_words,
    ranges_headline,
    repairs_headline,
    state_words,
    what_admissible_means,
    witness_words,
)
from whence.timing.results import Change, RangesResult, Repair, RepairResult

__all__ = ["iteration_text", "ranges_text", "repairs_text"]

#: Colours of what is good, bad and not known.
_GOOD, _BAD, _DOUBT = "green", "red", "yellow"
_STYLES = {
    "yes": _GOOD,
    "holds": _GOOD,
    "violations only": _GOOD,
    "no": _BAD,
    "new": _BAD,
    "unknown": _DOUBT,
    "not tested": "dim",
}


def _table() -> Table:
    return Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)


def _spaced(parts: Sequence[RenderableType]) -> RenderableType:
    """The parts below each other, with an empty line between them."""
    lines: list[RenderableType] = []
    for part in parts:
        lines += [Text(""), part] if lines else [part]
    return Group(*lines)


def _question(question: str, query: str) -> Text:
    return Text(f"{question}: {one_line(query)}", style="bold", overflow="fold")


def _said(sentences: Sequence[str], style: str = "") -> Text:
    return Text(" ".join(sentences), style=style, overflow="fold")


def _counterexample(trace: TimedTrace, network: Network, layout: Layout) -> list[RenderableType]:
    units = "time unit" if trace.duration == 1 else "time units"
    steps = counted(len(trace.transitions), "step")
    head = Text(f"Counterexample: {steps} in {trace.duration} {units}", style="bold")
    delays = ", ".join(f"δ{number} = {delay}" for number, delay in enumerate(trace.delays))
    return [
        head,
        trace_table(trace, network, layout),
        Text(f"delays: {delays}", style="dim", overflow="fold"),
    ]


# ---------------------------------------------------------------------------------------- ranges


def ranges_text(
    result: RangesResult, network: Network, layout: Layout, quiet: bool = False
) -> RenderableType:
    """What is asked, the trace, the delays to blame, and in which ranges; `quiet`: no trace."""
    parts: list[RenderableType] = [_question("Which delays cause the violation", result.query)]
    if result.trace is not None:
        if not quiet:
            parts += _counterexample(result.trace, network, layout)
        story = tell(result.trace, network, layout)
        if result.causal_delays:
            parts.append(_causal_delays(result, result.trace, story))
        if result.ranges:
            parts.append(Text(ranges_headline(result), style="bold"))
            parts += [_range(number, result, story) for number in range(len(result.ranges))]
    said = conclusion(result)
    if said:
        parts.append(_said(said, "bold green" if result.verdict == "satisfied" else "bold"))
    return _spaced(parts + _partial(result))


def _partial(result: RangesResult | RepairResult) -> list[RenderableType]:
    partial = is_partial(result)
    return [Text(partial, style=f"bold {_DOUBT}", overflow="fold")] if partial else []


def _causal_delays(result: RangesResult, trace: TimedTrace, story: Story) -> RenderableType:
    table = _table()
    table.add_column("causal delay", no_wrap=True)
    table.add_column("here", justify="right", overflow="fold", max_width=12)
    if trace.delay_ranges:
        table.add_column("possible", overflow="fold", max_width=16)
    table.add_column("passes while", ratio=1, overflow="fold")
    for delay in result.causal_delays:
        possible = [Text(str(trace.delay_ranges[delay]))] if trace.delay_ranges else []
        table.add_row(
            Text(f"δ{delay}", style="bold"),
            Text(str(trace.delays[delay])),
            *possible,
            Text(state_words(story, delay)),
        )
    return table


def _range(number: int, result: RangesResult, story: Story) -> RenderableType:
    found = result.ranges[number]
    rule, evidence = range_words(found, story)
    return Group(
        Text(f"{number + 1}. {found}", style=f"bold {_BAD}", overflow="fold"),
        Padding(Text(f"{rule} {evidence}", overflow="fold"), (0, 0, 0, 3)),
    )


# --------------------------------------------------------------------------------------- repairs


def repairs_text(
    result: RepairResult, network: Network, layout: Layout, quiet: bool = False
) -> RenderableType:
    """What is asked, the trace, the repairs, and what they cost; `quiet`: only the repairs."""
    parts: list[RenderableType] = [_question("What to change so that it holds", result.query)]
    if result.trace is not None and not quiet:
        parts += _counterexample(result.trace, network, layout)
    if result.repairs:
        parts.append(Text(repairs_headline(result), style="bold"))
        parts.append(_repairs(result.repairs))
        if not quiet:
            parts += _remarks(result.repairs)
        parts.append(_said([what_admissible_means(result)]))
    parts += _end_of_repairs(result)
    if result.repairs:
        search, whole = seconds(result.search_seconds), seconds(result.seconds)
        parts.append(Text(f"{search} s to find them, {whole} s in all", style="dim"))
    return _spaced(parts)


def _end_of_repairs(result: RepairResult) -> list[RenderableType]:
    said = list(how_complete(result))
    style = "bold green" if result.verdict == "satisfied" else "bold"
    return [*([_said(said, style)] if said else []), *_partial(result)]


def _repairs(repairs: Sequence[Repair]) -> RenderableType:
    """A row a repair; what is the same for all, because nothing changes, has no column."""
    others = any(other_queries_words(repair) for repair in repairs)
    deadlocks = any(deadlock_words(repair) for repair in repairs)
    table = _table()
    table.collapse_padding = True
    table.add_column("#", justify="right", no_wrap=True)
    # Rich takes columns away where there is too little room, unless they have a least width.
    table.add_column("kind", overflow="fold", min_width=8)
    table.add_column("change", ratio=1, overflow="fold", min_width=16)
    table.add_column("property", overflow="fold", min_width=8, max_width=16)
    table.add_column("admissible", overflow="fold", min_width=10)
    if others:
        table.add_column("other queries", overflow="fold", min_width=8, max_width=16)
    if deadlocks:
        table.add_column("deadlock", overflow="fold", min_width=8)
    for repair in repairs:
        row = [
            Text(str(repair.number), style="bold"),
            Text(repair.kind),
            Text("\n").join(_changes(repair.changes)),
            _styled(property_words(repair)),
            _styled(admissible_words(repair.admissibility)),
        ]
        if others:
            row.append(Text("\n".join(other_queries_words(repair))))
        if deadlocks:
            row.append(_styled(deadlock_words(repair)))
        table.add_row(*row)
    return table


def _styled(text: str) -> Text:
    return Text(text, style=_STYLES.get(text, _BAD if text.startswith(("still", "error")) else ""))


def _changes(changes: Sequence[Change]) -> Iterator[Text]:
    for change in changes:
        before, after = before_after(change)
        text = Text(f"{before} -> {after}", style="bold")
        text.append(f"\n{one_line(change.element)}", style="not bold")
        place = change_place(change)
        if place:
            text.append(f"\n{place}", style="not bold dim")
        yield text


def _remarks(repairs: Sequence[Repair]) -> list[RenderableType]:
    """Below the table: what of a repair does not fit into a row."""
    remarks: list[RenderableType] = [
        Text(f"Repair {repair.number}: {remark}", overflow="fold")
        for repair in repairs
        for remark in _remarks_on(repair)
    ]
    return remarks + _witnesses(repairs)


def _remarks_on(repair: Repair) -> Iterator[str]:
    for query in repair.other_queries:
        if query.before != query.after:
            yield f"{one_line(query.query)}: {query.before} -> {query.after}"
    if repair.trace is not None:
        steps = counted(len(repair.trace.transitions), "step")
        yield (
            f"another trace still violates the property: {steps} in {repair.trace.duration} "
            f"time units, delays {delays_text(repair.trace.delays)}."
        )
    found = repair.admissibility
    if found is not None and found.admissible is None:
        reason = one_line(found.reason) or "the test was not finished"
        yield f"it is not known whether it is admissible: {reason}."


def _witnesses(repairs: Sequence[Repair]) -> list[RenderableType]:
    """The words that only one of the models has: each once, for all repairs that it speaks of."""
    groups: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for repair in repairs:
        found = repair.admissibility
        if found is not None and found.admissible is False:
            key = (witness_words(found), found.word or ())
            groups.setdefault(key, []).append(str(repair.number))
    parts: list[RenderableType] = []
    for (words, word), numbers in groups.items():
        those = f"Repair {numbers[0]} is" if len(numbers) == 1 else f"Repairs {joined(numbers)} are"
        lines: list[RenderableType] = [Text(f"{those} not admissible: {words}.", overflow="fold")]
        if word:
            labels = Text(_numbered(word), style="cyan", overflow="fold")
            lines.append(Padding(labels, (0, 0, 0, 3)))
        parts.append(Group(*lines))
    return parts


def _numbered(word: Sequence[str]) -> str:
    width = len(str(len(word)))
    return "\n".join(
        f"{number:>{width}}  {one_line(label)}" for number, label in enumerate(word, 1)
    )


def iteration_text(
    rounds: Sequence[tuple[RepairResult, Repair | None]], network: Network, layout: Layout
) -> RenderableType:
    """One repair after the other: which one each round chose, and how it ends."""
    first, last = rounds[0][0], rounds[-1][0]
    parts: list[RenderableType] = [_question("What to change so that it holds", first.query)]
    chosen = [(result, repair) for result, repair in rounds if repair is not None]
    if chosen:
        table = _table()
        table.add_column("round", justify="right", no_wrap=True)
        table.add_column("steps", justify="right", no_wrap=True)
        table.add_column("repair", justify="right", no_wrap=True)
        table.add_column("change", ratio=1, overflow="fold", min_width=20)
        table.add_column("admissible", no_wrap=True)
        for number, (result, repair) in enumerate(chosen, 1):
            steps = len(result.trace.transitions) if result.trace is not None else 0
            table.add_row(
                Text(str(number)),
                Text(str(steps)),
                Text(f"{repair.number} of {len(result.repairs)}"),
                Text("\n").join(_changes(repair.changes)),
                _styled(admissible_words(repair.admissibility)),
            )
        parts.append(table)
        parts.append(_said([what_admissible_means(first)]))
    parts += _end_of_iteration(last, rounds[-1][1], len(chosen))
    return _spaced(parts)


def _end_of_iteration(
    last: RepairResult, applied: Repair | None, count: int
) -> list[RenderableType]:
    """`applied` is a repair of the last round: there was no round more after it."""
    made = counted(count, "repair")
    verdict = last.verdict if applied is None else applied.verdict
    if verdict == "satisfied" and count:
        return [Text(f"The property holds after {made}.", style="bold green")]
    parts: list[RenderableType] = []
    if verdict == "violated":
        after = f" after {made}" if count else ""
        parts.append(Text(f"The property is still violated{after}.", style=f"bold {_BAD}"))
    return parts + _end_of_repairs(last)
