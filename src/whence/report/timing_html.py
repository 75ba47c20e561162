"""Causal ranges and repairs as pages of HTML; see :mod:`whence.report.page`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from whence.model.layout import Layout
from whence.model.network import Network
from whence.model.trace import TimedTrace, Verdict
from whence.report.automaton import automaton_diagram, highlights
from whence.report.html import trace_diagram, trace_view
from whence.report.page import code, figure, page, tag
from whence.report.sequence import Band
from whence.report.story import Story, counted, one_line, tell
from whence.report.svg import escaped
from whence.report.timing_diff import bands_of, diffs_of, in_template
from whence.report.timing_words import (
    admissible_words,
    before_after,
    change_place,
    conclusion,
    deadlock_words,
    how_complete,
    is_partial,
    other_queries_words,
    property_words,
    range_words,
    ranges_headline,
    repairs_headline,
    state_words,
    what_admissible_means,
    witness_words,
)
from whence.timing.results import (
    Admissibility,
    CausalRange,
    Change,
    RangesResult,
    Repair,
    RepairResult,
)

__all__ = ["Round", "ranges_report", "repair_report"]

_STYLES = ("timing.css",)
#: Delays that are in a range, and those that are causal at all. Seen on light and on dark.
_IN_RANGE, _CAUSAL = "#d64545", "#e8912d"


def _headline(text: str, file: str, query: str, verdict: Verdict) -> str:
    return tag(
        "header",
        tag("h1", escaped(text)),
        tag("p", code(one_line(query))),
        tag("p", code(file), class_="quiet"),
        class_=f"top {verdict}",
    )


def _paragraphs(sentences: Iterable[str], partial: str) -> str:
    said = [tag("p", escaped(sentence)) for sentence in sentences]
    if partial:
        said.append(tag("p", escaped(partial), class_="partial"))
    return tag("div", "\n".join(said), class_="words") if said else ""


def _table(heads: Sequence[str], rows: Iterable[str], numbers: int = 1) -> str:
    """A table; its first columns hold numbers."""
    cells = [
        tag("th", escaped(head), class_="n" if at < numbers else None)
        for at, head in enumerate(heads)
    ]
    table = tag(
        "table",
        tag("thead", tag("tr", *cells)),
        tag("tbody", "\n", "\n".join(rows), "\n"),
    )
    return tag("div", table, class_="wide")


def _badge(text: str, tone: str) -> str:
    """`tone` is a verdict with the colour that the text is to have."""
    return tag("span", escaped(text), class_=f"badge {tone}")


# ---------------------------------------------------------------------------------------- ranges


def ranges_report(
    network: Network, layout: Layout, result: RangesResult, file: str, version: str
) -> str:
    """The page of `whence ranges`: the trace, the causal delays, and each range on its own."""
    headline = ranges_headline(result)
    body = [
        _headline(headline, file, result.query, result.verdict),
        _paragraphs(conclusion(result), is_partial(result)),
    ]
    if result.trace is not None:
        story = tell(result.trace, network, layout)
        body += _causal_delays(result, result.trace, story)
        body += [
            _range_section(number, found, result.trace, network, layout)
            for number, found in enumerate(result.ranges, 1)
        ]
        body += _trace_section(
            result.trace, story, network, _delay_bands(story, result.causal_delays, _CAUSAL,
                                                       "causal delays")
        )  # fmt: skip
    return page(f"{headline} · {file}", body, version, _STYLES)


def _causal_delays(result: RangesResult, trace: TimedTrace, story: Story) -> list[str]:
    if not result.causal_delays:
        return []
    rows = []
    for delay in result.causal_delays:
        possible = str(trace.delay_ranges[delay]) if trace.delay_ranges else ""
        links = [
            tag("div", tag("a", code(str(found)), href=f"#range-{number}"))
            for number, found in enumerate(result.ranges, 1)
            if delay in found.delays
        ]
        cells = (
            tag("td", f"δ{delay}", class_="n"),
            tag("td", str(trace.delays[delay]), class_="n"),
            tag("td", escaped(possible), class_="nowrap"),
            tag("td", escaped(state_words(story, delay))),
            tag("td", *links),
        )
        rows.append(tag("tr", *cells))
    heads = ("Delay", "In the trace", "Possible", "Passes while", "Violated if")
    return [tag("h2", "Causal delays"), _table(heads, rows, 2)]


def _delay_bands(story: Story, delays: Iterable[int], colour: str, label: str) -> list[Band]:
    """These delays on all lifelines and in the column of delays."""
    return [
        Band(process, delay, delay + 1, colour, label)
        for delay in delays
        for process in (None, *story.takes_part)
    ]


def _range_section(
    number: int, found: CausalRange, trace: TimedTrace, network: Network, layout: Layout
) -> str:
    """The range with the run that shows it; other delays make another run of the same trace."""
    run = replace(trace, delays=found.violating)
    story = tell(run, network, layout)
    label = f"violated if {found}"
    words = [tag("p", escaped(sentence)) for sentence in range_words(found, story)]
    return "\n".join(
        (
            f'<section class="range" id="range-{number}">',
            tag("h3", f"{number}. ", code(str(found))),
            tag("div", *words, class_="words"),
            _runs(found),
            trace_diagram(story, run, _delay_bands(story, found.delays, _IN_RANGE, label)),
            "</section>",
        )
    )


def _runs(found: CausalRange) -> str:
    """The delays of the run that violates the property, and of those that do not."""
    heads = [tag("th", ""), *_delay_heads(found)]
    rows = [
        tag(
            "tr",
            tag("td", "violates the property"),
            *(
                tag("td", str(delay), class_="n in" if at in found.delays else "n")
                for at, delay in enumerate(found.violating)
            ),
        )
    ]
    rows += [
        _other_run(found, changed, delays)
        for changed, delays in zip(found.delays, found.satisfying, strict=False)
    ]
    table = tag("table", tag("thead", tag("tr", *heads)), tag("tbody", *rows), class_="delays")
    return tag("div", table, class_="wide")


def _delay_heads(found: CausalRange) -> list[str]:
    return [
        tag("th", f"δ{at}", class_="n of" if at in found.delays else "n")
        for at in range(len(found.violating))
    ]


def _other_run(found: CausalRange, changed: int, delays: Sequence[Fraction]) -> str:
    whole = len(delays) == len(found.violating)
    cells = [
        tag("td", str(delay), class_="n out" if at == changed else "n")
        for at, delay in enumerate(delays)
    ]
    if not whole:
        left = len(found.violating) - len(delays)
        cells.append(tag("td", "cannot go on", class_="quiet", colspan=left))
    return tag("tr", tag("td", "does not" if whole else "is not completed"), *cells)


def _trace_section(
    trace: TimedTrace, story: Story, network: Network, bands: Sequence[Band], name: str = "trace"
) -> list[str]:
    return [
        f'<section class="trace" id="{name}">',
        tag("h2", "The counterexample"),
        *trace_view(story, trace, network, bands),
        "</section>",
    ]


# --------------------------------------------------------------------------------------- repairs


@dataclass(frozen=True, slots=True)
class Round:
    """The repairs of a model, and the model: `templates` are the names of its templates in the
    order of its file, and `applied` is the number of the repair that was made, if one was."""

    result: RepairResult
    network: Network
    layout: Layout
    templates: Sequence[str]
    applied: int | None = None


def repair_report(rounds: Sequence[Round], file: str, version: str) -> str:
    """The page of `whence repair`. With several rounds, each is about the model that the one
    before it has repaired, and only the repairs that were made are shown on their own."""
    first = rounds[0].result
    if len(rounds) == 1:
        headline, verdict = repairs_headline(first), first.verdict
    else:
        made = counted(sum(at.applied is not None for at in rounds), "repair")
        verdict = _final_verdict(rounds[-1])
        holds = "holds" if verdict == "satisfied" else "does not hold yet"
        headline = f"The property {holds} after {made}"
    body = [_headline(headline, file, first.query, verdict)]
    for number, at in enumerate(rounds, 1):
        body += _round(at, number if len(rounds) > 1 else 0)
    return page(f"{headline} · {file}", body, version, _STYLES)


def _final_verdict(at: Round) -> Verdict:
    applied = next((one for one in at.result.repairs if one.number == at.applied), None)
    return at.result.verdict if applied is None else applied.verdict


def _round(at: Round, number: int) -> list[str]:
    result = at.result
    prefix = f"round-{number}-" if number else ""
    parts = [tag("h2", f"Round {number}")] if number else []
    if result.repairs:
        parts.append(_repair_table(at, prefix))
    said = [what_admissible_means(result)] if result.repairs else []
    parts.append(_paragraphs([*said, *how_complete(result)], is_partial(result)))
    if result.trace is None:
        return parts
    story = tell(result.trace, at.network, at.layout)
    parts += [
        _repair_section(repair, at, result.trace, story, prefix)
        for repair in result.repairs
        if not number or repair.number == at.applied
    ]
    return parts + _trace_section(result.trace, story, at.network, (), f"{prefix}trace")


def _repair_table(at: Round, prefix: str) -> str:
    repairs = at.result.repairs
    # What is the same for all repairs, because nothing changes, has no column.
    others = any(other_queries_words(repair) for repair in repairs)
    deadlocks = any(deadlock_words(repair) for repair in repairs)
    linked = {repair.number for repair in repairs if not prefix or repair.number == at.applied}
    rows = [
        tag(
            "tr",
            tag("td", _number(repair.number, prefix if repair.number in linked else None),
                class_="n"),
            tag("td", repair.kind, *([" ", _badge("made", "satisfied")]
                                     if repair.number == at.applied else [])),
            tag("td", *map(_change, repair.changes)),
            tag("td", _property_badge(repair)),
            tag("td", _admissible_badge(repair)),
            *([_others_cell(repair)] if others else []),
            *([tag("td", _deadlock_badge(repair))] if deadlocks else []),
        )
        for repair in repairs
    ]  # fmt: skip
    heads = ["", "Kind", "Change", "Property", "Admissible"]
    heads += [*(["Other queries"] if others else []), *(["Deadlock"] if deadlocks else [])]
    return _table(heads, rows)


def _others_cell(repair: Repair) -> str:
    return tag("td", *(tag("div", escaped(words)) for words in other_queries_words(repair)))


def _number(number: int, prefix: str | None) -> str:
    return (
        str(number) if prefix is None else tag("a", str(number), href=f"#{prefix}repair-{number}")
    )


def _change(change: Change) -> str:
    place = change_place(change)
    return tag(
        "div",
        _edit(change),
        tag("div", escaped(one_line(change.element))),
        tag("div", code(place), class_="quiet") if place else "",
        class_="change",
    )


def _edit(change: Change) -> str:
    before, after = before_after(change)
    return tag("code", tag("del", escaped(before)), " → ", tag("ins", escaped(after)))


def _property_badge(repair: Repair) -> str:
    return _badge(property_words(repair), repair.verdict)


def _admissible_badge(repair: Repair) -> str:
    words = admissible_words(repair.admissibility)
    tones = {
        "yes": "satisfied",
        "violations only": "satisfied",
        "no": "violated",
        "unknown": "unknown",
    }
    return _badge(words, tones.get(words, "none"))


def _deadlock_badge(repair: Repair) -> str:
    words = deadlock_words(repair)
    return _badge(words, "violated" if words == "new" else "unknown") if words else ""


def _repair_section(repair: Repair, at: Round, trace: TimedTrace, story: Story, prefix: str) -> str:
    bands = bands_of(repair.changes, at.network, at.templates, story)
    facts = [tag("span", "property: ", _property_badge(repair))]
    facts.append(tag("span", "admissible: ", _admissible_badge(repair)))
    if deadlock_words(repair):
        facts.append(tag("span", "deadlock: ", _deadlock_badge(repair)))
    panes = tag(
        "div",
        trace_diagram(story, trace, bands),
        "\n",
        tag("div", "\n".join(_changed_automata(repair, at, story)), class_="automata"),
        class_="panes",
    )
    return "\n".join(
        (
            f'<section class="repair" id="{prefix}repair-{repair.number}">',
            tag("h3", f"Repair {repair.number}: ", ", ".join(map(_edit, repair.changes))),
            tag("div", *facts, class_="facts"),
            _places(repair.changes),
            *_remarks(repair, at),
            panes,
            *_other_traces(repair, at),
            "</section>",
        )
    )


def _places(changes: Sequence[Change]) -> str:
    """Which elements change, and where they stand in the file."""
    texts = []
    for change in changes:
        place = change_place(change)
        where = tag("span", " · ", code(place), class_="quiet") if place else ""
        texts.append(tag("li", escaped(one_line(change.element)), where))
    return tag("ul", *texts, class_="places")


def _changed_automata(repair: Repair, at: Round, story: Story) -> list[str]:
    """The automaton of each changed template once, in a process that is on the trace."""
    # Where the trace ends says nothing here, and its mark would hide that of a change.
    ways = {number: replace(way, last=None) for number, way in highlights(story).items()}
    figures = []
    for template in dict.fromkeys(change.template for change in repair.changes):
        processes = in_template(template, at.network, at.templates)
        shown = next((number for number in processes if number in ways), None)
        number = shown if shown is not None else next(iter(processes), None)
        if number is None:
            continue
        process = at.network.processes[number]
        changes = [change for change in repair.changes if change.template == template]
        drawing = automaton_diagram(process, ways.get(number), diffs=diffs_of(changes))
        caption = tag("h4", escaped(one_line(at.templates[template])))
        figures.append(figure(caption, drawing))
    return figures


def _remarks(repair: Repair, at: Round) -> list[str]:
    remarks: list[str] = []
    if repair.blocks:
        remarks.append(tag("p", "The repaired model does not have this trace at all."))
    found = repair.admissibility
    if found is not None and found.admissible is not True:
        remarks += _admissibility(found)
    changed = [query for query in repair.other_queries if query.before != query.after]
    rows = [
        tag(
            "tr",
            tag("td", code(one_line(query.query))),
            tag("td", _badge(query.before, query.before)),
            tag("td", _badge(query.after, query.after)),
        )
        for query in changed
    ]
    if rows:
        remarks.append(_table(("Other query", "Before", "After"), rows, 0))
    return remarks


def _admissibility(found: Admissibility) -> list[str]:
    if found.admissible is None:
        reason = one_line(found.reason) or "the test was not finished"
        text = f"It is not known whether the repair is admissible: {reason}."
        return [tag("p", escaped(text), class_="partial")]
    parts = [tag("p", f"Not admissible: {escaped(witness_words(found))}.")]
    if found.word:
        labels = [tag("li", code(one_line(label))) for label in found.word]
        parts.append(tag("ol", *labels, class_="word"))
    return parts


def _other_traces(repair: Repair, at: Round) -> list[str]:
    """Runs of the other model, folded away."""
    found = repair.admissibility
    runs: list[tuple[str, TimedTrace]] = []
    if found is not None and found.trace is not None:
        runs.append((f"A run that only the {found.only_in or 'one'} model has", found.trace))
    if repair.trace is not None:
        runs.append(("The trace that violates the property after the repair", repair.trace))
    return [
        tag(
            "details",
            tag("summary", summary),
            trace_diagram(tell(run, at.network, at.layout), run),
        )
        for summary, run in runs
    ]
