"""A class of faults on a page: its representative as a diagram, what was expected, its members."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from whence.report.page import code, tag
from whence.report.svg import escaped
from whence.report.triage_accepted import accepted_table
from whence.report.triage_lists import Lists
from whence.report.triage_sequence import draw_case
from whence.report.triage_story import Bracket, CaseStory, tell_case
from whence.report.triage_words import clean, count, seen_words, title
from whence.triage.findings import ClassStatus, FaultClass, FoundMark, SeenEvent, Triage
from whence.triage.words import time_text

__all__ = ["class_anchor", "class_section", "status_badge"]

#: An explanation with more events is listed, not drawn.
_MOST_EVENTS: Final = 200
_TONES: Final[dict[ClassStatus, str]] = {"new": "violated", "known": "unknown", "": ""}
_ROLES: Final = {
    "fault": "the fault", "relevant": "relevant", "irrelevant": "makes no difference",
    "context": "before",
}  # fmt: skip


def class_anchor(each: FaultClass) -> str:
    """The same in all runs, so that others can link to it."""
    return f"class-{each.ident}"


def status_badge(status: ClassStatus) -> str:
    return tag("span", status, class_=f"badge {_TONES[status]}") if status else ""


def class_section(
    found: Triage,
    number: int,
    each: FaultClass,
    lists: Lists,
    marks: Sequence[FoundMark],
    drawn: bool,
) -> str:
    """`marks`: those of the trace of the representative. Without `drawn` its events are listed."""
    fault = found.faults[each.representative]
    story = tell_case(each.case, marks)
    parts = [
        tag(
            "h3",
            f"{number}. ",
            escaped(clean(title(each))),
            " ",
            tag("span", count(each.size, "fault"), class_="quiet"),
            " ",
            status_badge(each.status),
        ),
        *_facts(found, each),
    ]
    expected = each.case.explanation.fault.expected
    accepted = accepted_table(expected, each.case.expected, fault.event, fault.after)
    if drawn and len(each.case.explanation.events) <= _MOST_EVENTS:
        parts.append(tag("div", _diagram(found, each, story), *_constraints(each, story),
                         class_="panes"))  # fmt: skip
        parts += [tag("h4", "At the fault"), accepted, _events(each)]
    else:
        parts += [tag("h4", "The events that explain it"), _signature(each)]
        parts += _constraints(each, story)
    parts += [tag("h4", "Where it happens"), lists.members(each.ident, each.members)]
    return tag(
        "section",
        "\n",
        "\n".join(part for part in parts if part),
        "\n",
        class_="class",
        id=class_anchor(each),
        data_class=each.ident,
    )


def _facts(found: Triage, each: FaultClass) -> Iterator[str]:
    for name in each.requirements:
        text = found.requirements.get(name)
        if text:
            yield tag("p", tag("b", escaped(clean(name))), ": ", escaped(clean(text)))
    yield tag("p", "Expected ", escaped(clean(each.expected)), ".", class_="expected")
    yield tag("p", "Observed ", code(clean(each.observed)), ".", class_="observed")
    seen = f"Seen {seen_words(each.first)}"
    if each.first != each.last:
        seen += f" to {seen_words(each.last)}"
    ident = tag("a", code(each.ident), href=f"#{class_anchor(each)}")
    yield tag("p", escaped(clean(seen)), " · class ", ident, class_="quiet")


def _diagram(found: Triage, each: FaultClass, story: CaseStory) -> str:
    fault = found.faults[each.representative]
    trace = found.traces[fault.trace]
    label = (
        f"Sequence diagram of the fault in {clean(trace.name)}: {clean(each.observed)}, where "
        f"{clean(each.expected)} was expected; "
        f"{count(len(each.case.explanation.events), 'event')} of the trace explain it"
    )
    where = f"{clean(trace.name)}, line {fault.line}" if fault.line else clean(trace.name)
    return tag(
        "figure",
        tag("figcaption", tag("h4", "The representative"), code(where)),
        tag("div", draw_case(story, label), class_="scroll", tabindex=0, role="group",
            aria_label="Sequence diagram"),
        class_="case",
    )  # fmt: skip


# ------------------------------------------------------------------------------------------- times


def _constraints(each: FaultClass, story: CaseStory) -> Iterator[str]:
    """The time constraints. The classes of coarser groupings have members with others."""
    if not story.brackets:
        return
    rows = [_constraint(bracket) for bracket in story.brackets]
    heads = ("", "Constraint", "Here", "")
    table = tag(
        "table",
        tag("thead", tag("tr", *(tag("th", head, scope="col") for head in heads))),
        tag("tbody", *rows),
        class_="constraints",
    )
    of = "all of the class" if each.constraints else "the representative"
    said = f"Times of {of}. u0 is the time before the first event of the explanation, u1 that "
    said += "before the second; a clock stands for its value when the first of the times begins."
    yield tag(
        "div", tag("h4", "Time constraints"), table, tag("p", said, class_="quiet"), class_="times"
    )


def _constraint(bracket: Bracket) -> str:
    here = "" if bracket.here is None else time_text(bracket.here)
    if here and not bracket.text.startswith("u"):
        here = f"clock + {here}"
    holds = "holds" if bracket.holds else "does not hold"
    return tag(
        "tr",
        tag("th", bracket.letter, scope="row"),
        tag("td", code(clean(bracket.text))),
        tag("td", escaped(here), class_="nowrap"),
        tag("td", holds, class_="good nowrap" if bracket.holds else "bad nowrap"),
    )


# ------------------------------------------------------------------------------------------ events


def _events(each: FaultClass) -> str:
    """All events that are told, also those that are folded in the diagram."""
    case = each.case
    start = case.events[0].date if case.events else None
    rows = []
    for event in case.events:
        assert start is not None
        rows.append(_event(event, time_text(event.date - start)))
    summary = f"{count(len(case.events), 'event')} up to the fault, one by one"
    if case.omitted:
        summary += f" ({case.omitted:,} earlier ones left out)"
    heads = ("Event", "Line", "Time", "What", "Role")
    table = tag(
        "table",
        tag("thead", tag("tr", *(tag("th", head, scope="col") for head in heads))),
        tag("tbody", "\n", "\n".join(rows), "\n"),
    )
    frame = tag("div", table, class_="wide", tabindex=0, role="group", aria_label="Events")
    return tag("details", tag("summary", summary), frame) if rows else ""


def _event(event: SeenEvent, time: str) -> str:
    return tag(
        "tr",
        tag("td", str(event.index), class_="n"),
        tag("td", str(event.line or ""), class_="n"),
        tag("td", time, class_="n"),
        tag("td", code(clean(event.text))),
        tag("td", _ROLES[event.role], class_="nowrap"),
        class_=event.role,
    )


def _signature(each: FaultClass) -> str:
    return tag("ol", *(tag("li", code(clean(text))) for text in each.events))
