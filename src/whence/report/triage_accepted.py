"""What the model would have accepted at a fault, beside what was observed: a table."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from whence.report.page import code, tag
from whence.report.svg import Box, Canvas, escaped
from whence.report.triage_words import clean, count
from whence.triage.results import Expected, Window
from whence.triage.telling import NO_RESPONSE, window_words
from whence.triage.words import time_text

__all__ = ["accepted_table"]

#: So many kinds of alternatives, events of one kind, and requirements are listed.
_MOST_ROWS: Final = 8
_MOST_EVENTS: Final = 6
_WIDTH: Final = 150.0


def accepted_table(expected: Sequence[Expected], words: str, event: str, after: Fraction) -> str:
    """`event` was observed, so long after the event before; "": the end of the trace. `words`: what
    was expected, as people say it."""
    if words == NO_RESPONSE:
        # Which requests were possible is beside the point.
        nothing = [_row("accepted", escaped(words), "", "", "", "")]
        summary = tag("summary", count(len(expected), "way"), " to go on with a request")
        rest = tag("details", summary, _table(_groups(expected, after)))
        return _table([_observed(event, after, Fraction(0)), *nothing]) + rest
    rows = _groups(expected, after)
    scale = _scale(expected, after)
    if not expected:
        rows.append(_row("accepted", "no event", "", "", "", ""))
    return _table([_observed(event, after, scale), *rows])


def _scale(expected: Sequence[Expected], after: Fraction) -> Fraction:
    """The longest time that is drawn."""
    ends = [
        end for each in expected for end in (each.window.earliest, each.window.latest) if end
    ]  # fmt: skip
    return max([*ends, after]) * Fraction(5, 4)


def _observed(event: str, after: Fraction, scale: Fraction) -> str:
    return _row(
        "observed",
        code(clean(event) or "the end of the trace"),
        "",
        escaped(f"after {time_text(after)}"),
        _bar(None, after, scale),
        "",
        class_="observed",
    )


def _groups(expected: Sequence[Expected], after: Fraction) -> list[str]:
    """What was possible at the same times, in a row."""
    groups: dict[tuple[Window, tuple[str, ...]], list[Expected]] = {}
    for each in expected:
        groups.setdefault((each.window, each.values), []).append(each)
    shown = list(groups.items())[:_MOST_ROWS]
    scale = _scale(expected, after)
    rows = []
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
    more = len(groups) - len(shown)
    if more:
        words = f"and {count(more, 'kind')} more of them"
        rows.append(tag("tr", tag("td", words, colspan=6, class_="quiet")))
    return rows


def _table(rows: Sequence[str]) -> str:
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
