"""Causes as a page of HTML: the fault tree, and of each cause a run on the machines; see
:mod:`whence.report.page`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from whence.causes.cut_sets import CauseClass, SafetySummary, safety_summary
from whence.causes.eol import print_formula
from whence.causes.fault_tree import fault_tree
from whence.causes.results import Cause, CausesResult
from whence.causes.seol import formula_of
from whence.model.layout import Layout
from whence.model.network import Network
from whence.model.trace import TimedTrace
from whence.report.causes_words import (
    absent_words,
    headline,
    how_many,
    is_partial,
    limits_words,
    probability,
    safety_words,
    sentences,
)
from whence.report.fault_tree_html import (
    FAULT_TREE_SCRIPTS,
    FAULT_TREE_STYLES,
    fault_tree_view,
)
from whence.report.html import trace_view
from whence.report.page import code, items, page, tag
from whence.report.story import one_line, tell
from whence.report.svg import escaped

__all__ = ["Drawn", "causes_report"]

#: A run for each cause (by its number) that has one, and the processes that it is a run of.
Drawn = tuple[Network, Layout, Mapping[int, TimedTrace]]

_VERDICTS = {"satisfied": "satisfied", "violated": "violated", "unknown": "unknown"}


def causes_report(
    result: CausesResult, version: str, rates: Mapping[str, float], drawn: Drawn | None = None
) -> str:
    """The page of `whence causes`. `rates` are those of actions, where they are known."""
    said = headline(result)
    body = [
        tag(
            "header",
            tag("h1", escaped(said)),
            tag("p", code(one_line(result.hazard))),
            tag("p", code(result.model), f" · {escaped(how_many(result))}", class_="quiet"),
            class_=f"top {_VERDICTS[result.verdict]}",
        ),
        _words(sentences(result), is_partial(result)),
    ]
    if result.causes:
        summary = safety_summary(result)
        classes = {one.cause: one for one in summary.classes}
        body += [
            _table(result, classes),
            _safety(summary),
            tag("h2", "Fault tree"),
            fault_tree_view(fault_tree(result, rates=rates)),
            *(_section(cause, drawn) for cause in result.causes),
        ]
    return page(f"{said} · {result.model}", body, version, FAULT_TREE_STYLES, FAULT_TREE_SCRIPTS)


def _words(said: Sequence[str], partial: str) -> str:
    paragraphs = [tag("p", escaped(sentence)) for sentence in said]
    if partial:
        paragraphs.append(tag("p", escaped(partial), class_="partial"))
    return tag("div", "\n".join(paragraphs), class_="words") if paragraphs else ""


def _table(result: CausesResult, classes: Mapping[int, CauseClass]) -> str:
    chances = any(cause.probability is not None for cause in result.causes)
    heads = [tag("th", text, class_="n") for text in ("", "Events", "Orders")]
    heads += [tag("th", text) for text in ("What happens", "What must not", "Failures")]
    if chances:
        heads.append(tag("th", f"Probability in {escaped(result.time)}", class_="n"))
    rows = []
    for cause in result.causes:
        found = classes[cause.ident]
        cells = [
            tag("td", tag("a", str(cause.ident), href=f"#cause-{cause.ident}"), class_="n"),
            tag("td", str(len(cause.events)), class_="n"),
            tag("td", f"{cause.traces:,}", class_="n"),
            tag("td", code(", ".join(str(event) for event in cause.events))),
            tag("td", items(absent_words(absent) for absent in cause.absent)),
            tag("td", escaped(_class(found))),
        ]
        if chances:
            chance = "" if cause.probability is None else probability(cause.probability)
            cells.append(tag("td", chance, class_="n"))
        rows.append(tag("tr", *cells))
    table = tag(
        "table",
        tag("thead", tag("tr", *heads)),
        tag("tbody", "\n", "\n".join(rows), "\n"),
    )
    return tag("h2", "Causes") + tag("div", table, class_="wide")


def _class(found: CauseClass) -> str:
    if found.points == "none":
        return "none"
    return found.points + (f", {found.detection}" if found.detection else "")


def _safety(summary: SafetySummary) -> str:
    lines = safety_words(summary)
    if not lines:
        return ""
    listed = tag("ul", *(tag("li", escaped(line)) for line in lines))
    return tag("h2", "Failures, as ISO 26262 asks") + listed


def _section(cause: Cause, drawn: Drawn | None) -> str:
    parts = [
        tag("h2", f"Cause {cause.ident}"),
        tag("p", escaped(f"{limits_words(cause)}.")),
        tag("p", "In event order logic: ", code(print_formula(formula_of(cause)))),
    ]
    trace = None if drawn is None else drawn[2].get(cause.ident)
    if drawn is None or trace is None:
        parts.append(tag("p", "For example: ", code(" → ".join(cause.example))))
        return tag("section", "\n".join(parts), id=f"cause-{cause.ident}")
    network, layout, _ = drawn
    parts.append(tag("p", "One of its runs, step by step on the machines:"))
    story = replace(tell(trace, network, layout), end="the hazard is there")
    parts += trace_view(story, trace, network)
    return tag("section", "\n".join(parts), id=f"cause-{cause.ident}", class_="trace")
