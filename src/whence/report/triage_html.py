"""A triage as one HTML file (see :mod:`whence.report.page`): how many faults, of which classes,
what explains each of them, and where all of them are.

Without scripts it has everything but the tails of long lists; the script sorts and filters classes
and goes through those lists.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from whence.report.page import code, page, tag
from whence.report.svg import clean as printable
from whence.report.svg import escaped
from whence.report.triage_class import class_anchor, class_section, status_badge
from whence.report.triage_lists import Lists, Place
from whence.report.triage_words import (
    GROUPING_WORDS,
    KIND_WORDS,
    clean,
    count,
    headline,
    seen_words,
    title,
)
from whence.triage.findings import FaultClass, FoundMark, Triage

__all__ = ["triage_report"]

_STYLES: Final = ("triage_case.css", "triage.css")
_SCRIPTS: Final = ("triage.js",)
#: The diagrams of so many classes are on the page, the largest classes first.
MOST_DRAWN: Final = 150


def triage_report(found: Triage, version: str, folder: str = ".") -> str:
    """The whole page. `folder` is where it will be: links to logs are relative to it."""
    lists = Lists(found, folder)
    said = headline(found)
    body = [
        _top(found, said),
        _overview(found),
        *_classes(found),
        *_sections(found, lists),
        *_gone(found),
        *_environment(found, lists),
        *_broken(found, lists),
        *_verified(found),
        *_remarks(found),
    ]
    # Last, when everything on the page is known.
    body.append(tag("script", lists.data(), type="application/json", id="lists"))
    return page(f"{said} · {found.model}", body, version, _STYLES, _SCRIPTS)


# --------------------------------------------------------------------------------------- overview


def _top(found: Triage, said: str) -> str:
    doubtful = not found.complete or found.of_verdict("broken")
    verdict = "unknown" if doubtful else "satisfied"
    if found.faults:
        verdict = "violated"
    partial = "Partial: interrupted before all logs were done."
    return tag(
        "header",
        tag("h1", escaped(said)),
        tag("p", code(clean(found.model)), tag("span", f" · {count(found.logs, 'log')}",
                                               class_="quiet")),
        "" if found.complete else tag("p", partial, class_="partial"),
        class_=f"top {verdict}",
    )  # fmt: skip


def _overview(found: Triage) -> str:
    groups = [
        (
            "Traces",
            [
                (len(found.of_verdict("conforming")), "conforming", "satisfied"),
                (len(found.of_verdict("faulty")), "faulty", "violated"),
                (len(found.of_verdict("broken")), "broken", "unknown"),
            ],
        ),
        ("Faults", [(len(found.faults), "all", "violated")]),
    ]
    classes = [(len(found.classes), "all", "violated")]
    if found.compared:
        new = sum(each.status == "new" for each in found.classes)
        classes = [
            (new, "new", "violated"),
            (len(found.classes) - new, "known", "unknown"),
            (len(found.gone), "gone", "satisfied"),
        ]
    groups.append(("Classes", classes))
    if found.marks:
        groups.append(
            (
                "Who finds the fault",
                [
                    (found.found_by_both, "model and environment", "none"),
                    (len(found.only_by_model), "model only", "error"),
                    (len(found.only_by_environment), "environment only", "unknown"),
                ],
            )
        )
    shown = [
        tag(
            "div",
            tag("h2", name),
            tag(
                "dl",
                *(
                    tag(
                        "div",
                        tag("dt", label if label != "all" else name.lower()),
                        tag("dd", f"{number:,}"),
                        class_=tone if number else "none",
                    )
                    for number, label, tone in numbers
                ),
            ),
        )
        for name, numbers in groups
    ]
    return tag("div", "\n".join(shown), class_="overview")


# ---------------------------------------------------------------------------- the table of classes


def _classes(found: Triage) -> Iterator[str]:
    if not found.classes:
        return
    words = GROUPING_WORDS[found.grouping]
    yield tag("h2", "Classes", id="classes")
    yield tag("p", f"Faults are in one class if {words}.", class_="quiet")
    yield tag(
        "form",
        tag(
            "label",
            "Filter ",
            '<input type="search" name="filter" autocomplete="off" spellcheck="false" '
            'aria-describedby="filtered">',
        ),
        tag("output", f"{len(found.classes):,} classes", id="filtered"),
        class_="filter",
        role="search",
    )
    heads = [("#", "n"), ("Faults", "n")]
    heads += [("Status", "")] if found.compared else []
    heads += [("Violated", ""), ("Kind", ""), ("Observed", ""), ("Expected", "")]
    heads += [("Marked", "n")] if found.marks else []
    heads += [("First seen", ""), ("Last seen", "")]
    head = "".join(
        tag("th", name, scope="col", class_=kind or None,
            aria_sort="ascending" if name == "#" else None) for name, kind in heads
    )  # fmt: skip
    rows = "\n".join(_row(found, n, each) for n, each in enumerate(found.classes, 1))
    table = tag(
        "table",
        tag("caption", "Classes of faults", class_="unseen"),
        tag("thead", tag("tr", head)),
        tag("tbody", "\n", rows, "\n"),
        class_="classes",
    )
    yield tag("div", table, class_="wide", tabindex=0, role="group", aria_label="Classes")


def _row(found: Triage, number: int, each: FaultClass) -> str:
    names = ", ".join(code(clean(name)) for name in each.requirements)
    cells = [
        tag("td", tag("a", str(number), href=f"#{class_anchor(each)}"), class_="n",
            data_v=str(number)),
        tag("td", f"{each.size:,}", class_="n", data_v=str(each.size)),
    ]  # fmt: skip
    if found.compared:
        cells.append(tag("td", status_badge(each.status)))
    cells += [
        tag("td", names or "–", class_="names"),
        tag("td", KIND_WORDS[each.kind], class_="nowrap"),
        tag("td", code(clean(each.observed)), class_="words"),
        tag("td", escaped(clean(each.expected)), class_="words"),
    ]
    if found.marks:
        marked = sum(found.marked[n] is not None for n in each.members)
        tone = "n few" if marked < each.size else "n"
        cells.append(tag("td", f"{marked:,} of {each.size:,}", class_=tone,
                         data_v=f"{marked / each.size:.6f}"))  # fmt: skip
    for seen in (each.first, each.last):
        # Dates that say the day come first, as numbers do.
        value = f"{0 if seen.absolute else 1}{float(seen.date):020.6f}"
        cells.append(tag("td", escaped(clean(seen_words(seen))), data_v=value, class_="seen"))
    return tag("tr", *cells, data_class=each.ident)


# ---------------------------------------------------------------------------------------- the rest


def _sections(found: Triage, lists: Lists) -> Iterator[str]:
    by_trace: dict[int, list[FoundMark]] = {}
    for mark in found.marks:
        if mark.trace is not None:
            by_trace.setdefault(mark.trace, []).append(mark)
    for number, each in enumerate(found.classes, 1):
        representative = found.faults[each.representative]
        marks = by_trace.get(representative.trace, ())
        yield class_section(found, number, each, lists, marks, number <= MOST_DRAWN)
    if len(found.classes) > MOST_DRAWN:
        yield tag("p", f"Diagrams are drawn of the {MOST_DRAWN} largest classes.", class_="quiet")


def _gone(found: Triage) -> Iterator[str]:
    if not found.gone:
        return
    yield tag("h2", "Not seen any more", id="gone")
    rows = [
        tag(
            "tr",
            tag("td", code(clean(gone.ident))),
            tag("td", escaped(clean(title(gone)))),
            tag("td", code(clean(gone.observed))),
            tag("td", escaped(clean(gone.expected))),
            tag("td", escaped(clean(seen_words(gone.last)))),
        )
        for gone in found.gone
    ]
    names = ("Class", "Violated", "Observed", "Expected", "Last seen")
    heads = "".join(tag("th", name, scope="col") for name in names)
    table = tag("table", tag("thead", tag("tr", heads)), tag("tbody", "\n".join(rows)))
    yield tag("div", table, class_="wide", tabindex=0, role="group", aria_label="Classes gone")


def _environment(found: Triage, lists: Lists) -> Iterator[str]:
    if not found.marks:
        return
    yield tag("h2", "Marks of the environment", id="environment")
    both, model = found.found_by_both, len(found.only_by_model)
    only = found.only_by_environment
    yield tag(
        "p",
        f"Of {count(len(found.faults), 'fault')}, {both:,} are marked by the environment of the "
        f"tests too, and {model:,} are found by the model only. "
        + (f"{count(len(only), 'mark')} {'stands' if len(only) == 1 else 'stand'} where the model "
           "finds nothing:" if only else "Each mark stands at a fault."),
    )  # fmt: skip
    if only:
        rows = [[_place(found, mark), mark.text or mark.verdict, mark.why] for mark in only]
        yield lists.texts("marks", "marks", ("Log", "Mark", "Why the model does not"), rows)


def _place(found: Triage, mark: FoundMark) -> Place | str:
    return "" if mark.trace is None else Place(found.traces[mark.trace].file, mark.line)


def _broken(found: Triage, lists: Lists) -> Iterator[str]:
    broken = found.of_verdict("broken")
    if broken:
        yield tag("h2", "Broken traces", id="broken")
        yield tag("p", "They could not be replayed.", class_="quiet")
        rows: list[list[Place | str]] = [
            [Place(trace.file, trace.line), trace.reason, trace.hint] for trace in broken
        ]
        yield lists.texts("broken", "traces", ("Log", "Reason", "Hint"), rows)
    problems = [each for several in found.problems.values() for each in several]
    if problems:
        yield tag("h2", "Problems in logs that were replayed", id="problems")
        told: list[list[Place | str]] = [
            [Place(each.origin.file, each.origin.line), f"{each.severity}: {each.message}",
             each.hint] for each in problems
        ]  # fmt: skip
        yield lists.texts("problems", "problems", ("Log", "Problem", "Hint"), told)


def _verified(found: Triage) -> Iterator[str]:
    if not found.verified:
        return
    several = [each for fault in found.faults for each in fault.explanations]
    wrong = sum(bool(each.problems) for each in several)
    yield tag("h2", "Proofs")
    yield tag("p", f"{len(several) - wrong:,} of {count(len(several), 'proof')} are valid.")


def _remarks(found: Triage) -> Iterator[str]:
    if found.passed_over:
        files = count(len(found.passed_over), "file")
        names = ", ".join(map(printable, found.passed_over[:3]))
        more = ", …" if len(found.passed_over) > 3 else ""
        words = f"{files} passed over, neither logs nor called so: {names}{more}"
        yield tag("p", escaped(clean(words)), class_="quiet remark")
