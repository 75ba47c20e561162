"""A run of a suite as a page of HTML; see :mod:`whence.report.page`."""

from __future__ import annotations

from whence.model.test_run import SuiteRun, TestRun, requirement_verdicts
from whence.report.page import code, page, tag
from whence.report.run_words import KINDS, TONES, coverage_rows, headline
from whence.report.svg import escaped
from whence.report.waves import Wave, draw_waves

__all__ = ["run_page", "waves_of"]

_STYLES = ("waves.css",)
_SIGNS = {"pass": "✓", "fail": "✗", "error": "!", "inconclusive": "?", "untested": "–"}
#: Pictures of so many tests that passed.
_SHOWN = 40


def run_page(run: SuiteRun, version: str) -> str:
    """The whole page."""
    said = headline(run)
    name = run.suite.model or run.suite.file
    facts = [f"{run.seconds:.1f} s", f"model {run.hash[:12]}"]
    if not run.complete:
        facts.append("partial: not all tests have run")
    body = [
        tag(
            "header",
            tag("h1", escaped(said)),
            tag("p", code(name), " against ", code(run.system)),
            tag("p", escaped(" · ".join(facts)), class_="quiet"),
            *(tag("p", escaped(note), class_="partial") for note in run.notes),
            class_=f"top {TONES[run.verdict]}",
        ),
        tag("h2", "Tests"),
        _table(run),
        *_matrix(run),
        tag("h2", "Goals"),
        _coverage(run),
        *_sections(run),
    ]
    return page(f"{said} · {name}", body, version, _STYLES)


def badge_of(verdict: str) -> str:
    return tag("span", verdict, class_=f"badge {TONES[verdict]}")


def _table(run: SuiteRun) -> str:
    heads = [tag("th", text) for text in ("Test", "Verdict", "Why")]
    heads += [tag("th", text, class_="n") for text in ("Ends at", "Goals", "Seconds")]
    rows = [
        tag(
            "tr",
            tag("td", tag("a", escaped(one.test), href=f"#{escaped(one.test)}"), class_="nowrap"),
            tag("td", badge_of(one.verdict)),
            tag("td", escaped(one.reason), _drift(one)),
            tag("td", f"{one.time} ms", class_="n"),
            tag("td", str(len(one.goals)), class_="n"),
            tag("td", f"{one.seconds:.3f}", class_="n"),
        )
        for one in run.runs
    ]
    return _framed(heads, rows)


def _drift(run: TestRun) -> str:
    if run.drift is None:
        return ""
    return tag("p", f"inputs up to {run.drift.most * 1000:.1f} ms late", class_="quiet")


def _framed(heads: list[str], rows: list[str], kind: str | None = None) -> str:
    table = tag(
        "table",
        tag("thead", tag("tr", *heads)),
        tag("tbody", "\n", "\n".join(rows), "\n"),
        class_=kind,
    )
    return tag("div", table, class_="wide")


def _matrix(run: SuiteRun) -> list[str]:
    """Requirements and the tests that cover them."""
    requirements = requirement_verdicts(run.suite, run.runs)
    if not requirements:
        return []
    found = {one.test: one.verdict for one in run.runs}
    names = [test.ident for test in run.suite.tests if test.ident in found]
    heads = [tag("th", "Requirement"), tag("th", "Verdict")]
    heads += [tag("th", escaped(name), class_="test") for name in names]
    heads.append(tag("th", "Text"))
    rows = []
    for one in requirements:
        cells = []
        for name in names:
            verdict = found[name] if name in one.tests else None
            sign = "" if verdict is None else _SIGNS[verdict]
            tone = "" if verdict is None else f" {TONES[verdict]}"
            cells.append(tag("td", sign, class_=f"cell{tone}", title=verdict))
        rows.append(
            tag(
                "tr",
                tag("td", code(one.ident), class_="nowrap"),
                tag("td", badge_of(one.verdict)),
                *cells,
                tag("td", escaped(one.text), class_="quiet"),
            )
        )
    return [tag("h2", "Requirements"), _framed(heads, rows, "matrix")]


def _coverage(run: SuiteRun) -> str:
    heads = [tag("th", "Goals")]
    heads += [tag("th", text, class_="n") for text in ("All", "Run", "Passed")]
    rows = [
        tag(
            "tr",
            tag("td", escaped(KINDS.get(row.kind, row.kind))),
            *(tag("td", str(count), class_="n") for count in (row.goals, row.run, row.passed)),
        )
        for row in coverage_rows(run)
    ]
    return _framed(heads, rows, "count")


def waves_of(run: TestRun) -> list[Wave]:
    """What was given and seen, inputs first."""
    names: dict[tuple[bool, str], list[tuple[int, str]]] = {}
    for one in run.seen:
        names.setdefault((not one.given, one.name), []).append((one.time, one.value))
    return [
        Wave(name, tuple(changes), given=not told)
        for (told, name), changes in sorted(names.items(), key=lambda pair: pair[0][0])
    ]


def _sections(run: SuiteRun) -> list[str]:
    found = [
        tag("h2", "What was seen"),
        tag(
            "p",
            tag("b", "▬", class_="given"),
            " inputs ",
            tag("b", "▬", class_="told"),
            " outputs",
            class_="legend quiet",
        ),
    ]
    good = 0
    for one in run.runs:
        good += one.verdict == "pass"
        if one.verdict == "pass" and good > _SHOWN:
            continue
        end = max([one.time, *(seen.time for seen in one.seen)])
        mark = None if one.verdict == "pass" else one.time
        parts = [
            tag("h3", escaped(one.test), badge_of(one.verdict)),
            tag(
                "p",
                escaped(one.reason or f"{len(one.goals)} goals; " + ", ".join(one.requirements)),
                class_=f"reason {TONES[one.verdict]}" if one.reason else "quiet",
            ),
            tag("div", draw_waves(waves_of(one), end, mark), class_="waves", tabindex=0),
        ]
        found.append(tag("section", *parts, class_="test", id=escaped(one.test)))
    if good > _SHOWN:
        found.append(tag("p", f"… and {good - _SHOWN} more tests that passed", class_="quiet"))
    return found
