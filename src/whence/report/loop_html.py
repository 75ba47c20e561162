"""The chain from a model to the faulty lines as one page of HTML; see :mod:`whence.report.page`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from whence.campaign.loop.results import BugClass, Loop, ShortTest, TimingFound
from whence.locate.localize import Diagnosis
from whence.model.test_run import TestRun
from whence.report.loop_words import answer_words, class_title, headline, why_words
from whence.report.page import code, page, tag
from whence.report.run_html import badge_of, waves_of
from whence.report.run_words import KINDS, coverage_rows
from whence.report.story import counted
from whence.report.svg import escaped
from whence.report.waves import draw_waves
from whence.triage.findings import SeenEvent

__all__ = ["loop_page"]

#: So many diagnoses of a class, and so many repairs, are told.
_SHOWN = 8
#: Lines around a suspicious one.
_AROUND = 2


def loop_page(found: Loop, version: str) -> str:
    """The whole page: what was tested, what failed, which bugs that is, and where each can be."""
    said = headline(found)
    body = [
        tag(
            "header",
            tag("h1", escaped(said)),
            tag("p", code(found.title), " · ", code(found.run.system)),
            tag("p", escaped(_times(found)), class_="quiet"),
            *(tag("p", escaped(str(note)), class_="partial") for note in found.notes),
            class_=f"top {'violated' if found.wrong else 'satisfied'}",
        ),
        tag("h2", "What was tested"),
        _coverage(found),
        tag("h2", "Verdicts"),
        *_verdicts(found),
    ]
    if found.classes:
        body += [tag("h2", "Bugs"), _overview(found)]
        body += [_class(number, one, found) for number, one in enumerate(found.classes, 1)]
    body += _rest(found)
    if found.timing:
        body.append(tag("h2", "Times of the model"))
        body += [_timing(one) for one in found.timing]
    body += _sources(found)
    return page(f"{said} · {found.title}", body, version, ("waves.css", "locate.css"))


def _times(found: Loop) -> str:
    return " · ".join(f"{what} {seconds:.1f} s" for what, seconds in found.seconds.items())


def _table(heads: Sequence[str], rows: Iterable[str], numbers: frozenset[int] = frozenset()) -> str:
    cells = [
        tag("th", escaped(head), class_="n" if at in numbers else None)
        for at, head in enumerate(heads)
    ]
    table = tag(
        "table",
        tag("thead", tag("tr", *cells)),
        tag("tbody", "\n", "\n".join(rows), "\n"),
    )
    return tag("div", table, class_="wide", tabindex=0)


def _row(*cells: str, numbers: frozenset[int] = frozenset()) -> str:
    return tag(
        "tr",
        *(tag("td", cell, class_="n" if at in numbers else None) for at, cell in enumerate(cells)),
    )


# ---------------------------------------------------------------------------------------- tests


def _coverage(found: Loop) -> str:
    counts = frozenset((1, 2, 3))
    rows = [
        _row(
            escaped(KINDS.get(row.kind, row.kind)),
            str(row.goals),
            str(row.run),
            str(row.passed),
            numbers=counts,
        )
        for row in coverage_rows(found.run)
    ]
    return _table(("Goals", "All", "Run", "Passed"), rows, counts)


def _verdicts(found: Loop) -> list[str]:
    failing = [run for run in found.run.runs if run.verdict != "pass"]
    passing = len(found.run.runs) - len(failing)
    said = f"{passing} of {counted(len(found.run.runs), 'test')} pass."
    parts = [tag("p", escaped(said))]
    if failing:
        classes = {name: number for number, one in enumerate(found.classes, 1) for name in one.runs}
        rows = [_verdict(run, classes, found) for run in failing]
        parts.append(_table(("Test", "Verdict", "Why", "Bugs in its log"), rows))
    return parts


def _verdict(run: TestRun, classes: dict[str, int], found: Loop) -> str:
    links = [
        tag("a", str(number), href=f"#bug-{number}")
        for number, one in enumerate(found.classes, 1)
        if run.test in one.runs
    ]
    return _row(code(run.test), badge_of(run.verdict), escaped(run.reason), ", ".join(links))


# ----------------------------------------------------------------------------------------- bugs


def _overview(found: Loop) -> str:
    rows = []
    for number, one in enumerate(found.classes, 1):
        best = one.code.found.diagnoses[0] if one.code and one.code.found.diagnoses else None
        rows.append(
            _row(
                tag("a", str(number), href=f"#bug-{number}"),
                escaped(class_title(one)),
                str(len(one.faults)),
                str(len(one.runs)),
                "" if best is None else code(_lines(best)),
                _excerpt(best, found),
            )
        )
    heads = ("", "Requirements are violated by", "Faults", "Tests", "First suspect", "")
    return _table(heads, rows, frozenset((0, 2, 3)))


def _lines(diagnosis: Diagnosis) -> str:
    places = [f"{Path(p.origin.file).name}:{p.origin.line}" for p in diagnosis.places]
    return ", ".join(dict.fromkeys(places))


def _excerpt(diagnosis: Diagnosis | None, found: Loop) -> str:
    if diagnosis is None:
        return ""
    texts = []
    for place in diagnosis.places:
        lines = found.sources.get(place.origin.file, ())
        if 0 < place.origin.line <= len(lines):
            texts.append(code(lines[place.origin.line - 1].strip()))
    return "<br>".join(texts)


def _class(number: int, one: BugClass, found: Loop) -> str:
    what = one.what
    texts = {} if found.triage is None else found.triage.requirements
    parts = [
        tag("h3", f"{number}. ", escaped(class_title(one))),
        tag("p", "class ", code(what.ident), ", seen in ", escaped(", ".join(one.runs))),
    ]
    parts += [
        tag("p", code(name), " ", escaped(texts.get(name, "")), class_="quiet")
        for name in what.requirements
    ]
    parts.append(_story(one))
    parts += [_short(test, first=at == 0) for at, test in enumerate(one.tests)]
    if one.code is not None:
        parts += _suspects(one, found)
    elif one.why:
        parts.append(tag("p", escaped(f"The code was not looked at: {one.why}"), class_="partial"))
    return tag("section", "\n".join(parts), class_="diagnosis", id=f"bug-{number}")


def _story(one: BugClass) -> str:
    case = one.what.case
    rows = [_event(event) for event in case.events]
    told = _table(("At", "On the bus", "Matters"), rows, frozenset((0,)))
    said = [tag("p", escaped(answer_words(one)))]
    if one.what.constraints:
        said.append(tag("p", "where ", *(code(text) + " " for text in one.what.constraints)))
    return told + "".join(said)


def _event(event: SeenEvent) -> str:
    roles = {"fault": "the fault", "relevant": "yes", "irrelevant": "", "context": "before"}
    return _row(
        f"{float(event.date) * 1000:g} ms",
        code(event.text),
        roles[event.role],
        numbers=frozenset((0,)),
    )


def _short(test: ShortTest, first: bool) -> str:
    asked = tag("summary", escaped(f"{test.test.ident}, made of {test.origin}: {test.reason}"))
    run = TestRun(
        test=test.test.ident, verdict="fail", time=test.time, reason=test.reason, seen=test.seen
    )
    drawing = tag("div", draw_waves(waves_of(run), test.time + 1), class_="waves", tabindex=0)
    return tag("details", asked, drawing, open="open" if first else None)


def _suspects(one: BugClass, found: Loop) -> list[str]:
    assert one.code is not None
    located = one.code.found
    said = why_words(one)
    parts = [tag("h4", "Where it can be"), tag("p", escaped(said))]
    rows = []
    for rank, each in enumerate(located.diagnoses[:_SHOWN], 1):
        candidate = ""
        if each.fixes:
            candidate = tag("pre", escaped(each.fixes[0].diff), class_="diff", tabindex=0)
        links = [
            tag("a", code(_lines(each)), href=f"#{_anchor(found, p.origin.file, p.origin.line)}")
            for p in each.places[:1]
        ]
        rows.append(
            _row(
                str(rank),
                ", ".join(links),
                _excerpt(each, found),
                f"{each.score:.2f}",
                candidate,
                numbers=frozenset((0, 3)),
            )
        )
    heads = ("", "Line", "", "Score", "A change with which all its tests pass")
    parts.append(_table(heads, rows, frozenset((0, 3))))
    more = len(located.diagnoses) - _SHOWN
    if more > 0:
        parts.append(tag("p", f"and {counted(more, 'place')} more", class_="quiet"))
    return parts


def _rest(found: Loop) -> list[str]:
    """What the chain did not follow to its end."""
    said = []
    if found.loose:
        said.append(f"{counted(len(found.loose), 'fault')} could not be made a short test of.")
    if found.silent:
        names = ", ".join(found.silent)
        said.append(f"Tests fail in whose logs the requirements find nothing wrong: {names}.")
    return [tag("p", escaped(text), class_="partial") for text in said]


# --------------------------------------------------------------------------------------- timing


def _timing(one: TimingFound) -> str:
    parts = [
        tag("h3", code(one.query)),
        tag("p", "violated in ", code(Path(one.file).name)),
    ]
    trace = one.ranges.trace
    if trace is not None:
        names = ["start", *(step.action for step in trace.transitions)]
        delays = ", ".join(f"δ{n} = {delay}" for n, delay in enumerate(trace.delays))
        parts.append(tag("p", escaped(f"{' → '.join(names)}, with {delays}"), class_="quiet"))
    rows = [_row(code(str(each))) for each in one.ranges.ranges]
    parts.append(_table(("Causal ranges of delays",), rows))
    repairs = []
    for repair in [r for r in one.repairs.repairs if r.admissible][:_SHOWN]:
        changes = [
            f"{change.element}: {change.before or 'nothing'} → {change.after or 'nothing'}"
            for change in repair.changes
        ]
        repairs.append(_row(escaped(repair.kind), "<br>".join(map(code, changes))))
    if repairs:
        parts.append(_table(("Admissible repairs", "Change"), repairs))
    return tag("section", "\n".join(parts), class_="diagnosis")


# -------------------------------------------------------------------------------------- sources


def _anchor(found: Loop, file: str, line: int) -> str:
    names = list(found.sources)
    return f"line-{names.index(file)}-{line}" if file in names else ""


def _sources(found: Loop) -> list[str]:
    """The code, with the bugs for which a line is suspicious."""
    suspects: dict[tuple[str, int], dict[int, int]] = {}
    for number, one in enumerate(found.classes, 1):
        if one.code is None:
            continue
        for rank, each in enumerate(one.code.found.diagnoses[:_SHOWN], 1):
            for place in each.places:
                key = (place.origin.file, place.origin.line)
                suspects.setdefault(key, {}).setdefault(number, rank)
    parts = []
    for at, (file, lines) in enumerate(found.sources.items()):
        rows = []
        for line, text in enumerate(lines, 1):
            here = suspects.get((file, line), {})
            links = ", ".join(
                tag("a", f"bug {bug}, rank {rank}", href=f"#bug-{bug}")
                for bug, rank in sorted(here.items(), key=lambda pair: (pair[1], pair[0]))
            )
            first = any(rank == 1 for rank in here.values())
            shown = escaped(text)
            if here:
                shown = tag("mark", shown, class_="first" if first else None)
            rows.append(
                tag(
                    "tr",
                    tag("td", str(line), class_="n"),
                    tag("td", shown, class_="text"),
                    tag("td", links),
                    id=f"line-{at}-{line}",
                    class_="found" if here else None,
                )
            )
        table = tag("table", tag("tbody", "\n", "\n".join(rows), "\n"))
        parts += [tag("h2", code(file)), tag("div", table, class_="source", tabindex=0)]
    return parts
