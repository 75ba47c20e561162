"""What the model would have accepted at a fault, beside what was observed: a table."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from whence.report.page import code, tag
from whence.report.svg import Box, Canvas, escaped
from whence.report.triage_words import clean, count
from whence.triage.results import Expected, Window
from whence.triage.telling import window_words
from whence.triage.words import time_text

__all__ = ["accepted_table"]

#: So many kinds of alternatives, events of one kind, and requirements are listed.
_MOST_ROWS: Final = 8
_MOST_EVENTS: Final = 6
_WIDTH: Final = 150.0


def accepted_table(expected: Sequence[Expected], event: str, after: Fraction) -> str:
    """`event` was observed, so long after the event before; "": the end of the trace."""
    groups: dict[tuple[Window, tuple[str, ...]], list[Expected]] = {}
    for each in expected:
        groups.setdefault((each.window, each.values), []).append(each)
    shown = list(groups.items())[:_MOST_ROWS]
    ends = [end for window, _ in groups for end in (window.earliest, window.latest) if end]
    scale = max([*ends, after]) * Fraction(5, 4)
    rows = [
        _row(
            "observed",
            code(clean(event) or "the end of the trace"),
            "",
            escaped(f"after {time_text(after)}"),
            _bar(None, after, scale),
            "",
            class_="observed",
        )
    ]
    for (window, values), several in shown:
        rows.append(
            _row(
                "accepted",
                _listed(dict.fromkeys(clean(each.text) for each in several)),
                "".join(tag("div", code(clean(value))) for value in values),
                escaped(window_words(window) or "at any time"),
                _bar(window, after, scale),
                _listed(dict.fromkeys(name for each in several for name in each.requirements)),
            )
        )
    if not expected:
        rows.append(_row("accepted", "no event", "", "", "", ""))
    more = len(groups) - len(shown)
    if more:
        words = f"and {count(more, 'kind')} more of these: --format json lists all"
        rows.append(tag("tr", tag("td", words, colspan=6, class_="quiet")))
    heads = ("", "Event", "Values", "Time since the event before", "", "Requirements")
    table = tag(
        "table",
        tag("thead", tag("tr", *(tag("th", head, scope="col") for head in heads))),
        tag("tbody", "\n", "\n".join(rows), "\n"),
        class_="accepted",
    )
    return tag("div", table, class_="wide", tabindex=0, role="group", aria_label="Accepted events")


def _row(kind: str, *cells: str, class_: str | None = None) -> str:
    return tag(
        "tr", tag("th", kind, scope="row"), *(tag("td", cell) for cell in cells), class_=class_
    )


def _listed(texts: dict[str, None]) -> str:
    shown = [code(clean(text)) for text in list(texts)[:_MOST_EVENTS]]
    if len(texts) > len(shown):
        shown.append(tag("span", f"and {len(texts) - len(shown):,} more", class_="quiet"))
    return ", ".join(shown)


def _bar(window: Window | None, after: Fraction, scale: Fraction) -> str:
    """The times that are accepted as a bar, with the one that was observed across it."""
    if not scale:
        return ""
    canvas = Canvas()

    def x(time: Fraction) -> float:
        return float(_WIDTH * min(1, float(time / scale)))

    canvas.line([(0, 8), (_WIDTH, 8)], class_="axis")
    label = f"observed after {time_text(after)}"
    if window is not None:
        left = x(window.earliest)
        right = _WIDTH if window.latest is None else x(window.latest)
        canvas.rect(Box(left, 4, max(right, left + 1.5), 12), rx=1.5, class_="window")
        label = f"accepted {window_words(window) or 'at any time'}, {label}"
    canvas.line([(x(after), 0), (x(after), 16)], class_="at")
    return canvas.document(Box(-2, 0, _WIDTH + 2, 16), label, class_="whence times")
