"""A suite of tests as a page of HTML: its goals, its tests, and how they belong together."""

from __future__ import annotations

from whence.model.mutation import MutantStatus
from whence.model.suite import GoalResult, Suite, TestCase
from whence.report.page import code, page, tag
from whence.report.run_words import KINDS
from whence.report.svg import escaped
from whence.report.waves import Wave, draw_waves

__all__ = ["suite_page"]

_STYLES = ("waves.css",)
_TONES = {"covered": "satisfied", "unreachable": "unknown", "open": "violated"}
_FATES = {"killed": "satisfied", "survived": "violated", "equivalent": "unknown"}
_ORDER: tuple[MutantStatus, ...] = ("survived", "equivalent", "killed")
_SHOWN = 60


def suite_page(suite: Suite, version: str) -> str:
    """The whole page."""
    said = (
        f"{suite.count('covered')} of {len(suite.goals)} goals are covered by "
        f"{len(suite.tests)} {'test' if len(suite.tests) == 1 else 'tests'}"
    )
    tone = "violated" if suite.count("open") else "satisfied"
    if not suite.goals:
        tone = "unknown"
    name = suite.model or suite.file
    facts = [
        f"{suite.count('unreachable')} proved unreachable",
        f"{suite.count('open')} open",
        f"seed {suite.seed}",
        f"model {suite.hash[:12]}",
    ]
    body = [
        tag(
            "header",
            tag("h1", escaped(said)),
            tag("p", code(name), " ", code(suite.file)),
            tag("p", escaped(" · ".join(facts)), class_="quiet"),
            class_=f"top {tone}",
        ),
        *_findings(suite),
        *_matrix(suite),
        tag("h2", "Goals"),
        *_goals(suite),
        *_mutants(suite),
        tag("h2", "Tests"),
        *(_section(test) for test in suite.tests[:_SHOWN]),
    ]
    return page(f"{said} · {name}", body, version, _STYLES)


def _findings(suite: Suite) -> list[str]:
    if not suite.findings:
        return []
    rows = [
        tag(
            "li",
            tag("b", escaped(one.severity)),
            f": {escaped(one.message)} ",
            tag("span", escaped(str(one.origin)), class_="quiet"),
        )
        for one in suite.findings
    ]
    return [tag("h2", "What is wrong with the model"), tag("ul", *rows)]


def _table(heads: list[str], rows: list[str], kind: str | None = None) -> str:
    table = tag(
        "table",
        tag("thead", tag("tr", *heads)),
        tag("tbody", "\n", "\n".join(rows), "\n"),
        class_=kind,
    )
    return tag("div", table, class_="wide")


def _matrix(suite: Suite) -> list[str]:
    if not suite.requirements:
        return []
    heads = [tag("th", "Requirement")]
    heads += [tag("th", escaped(test.ident), class_="test") for test in suite.tests]
    heads.append(tag("th", "Text"))
    rows = [
        tag(
            "tr",
            tag("td", code(one.ident), class_="nowrap"),
            *(
                tag("td", "●" if one.ident in test.requirements else "", class_="cell satisfied")
                for test in suite.tests
            ),
            tag("td", escaped(one.text), class_="quiet"),
        )
        for one in suite.requirements
    ]
    return [tag("h2", "Requirements"), _table(heads, rows, "matrix")]


def _goals(suite: Suite) -> list[str]:
    found = []
    for kind in dict.fromkeys(goal.kind for goal in suite.goals):
        goals = [goal for goal in suite.goals if goal.kind == kind]
        covered = sum(goal.status == "covered" for goal in goals)
        said = f"{KINDS.get(kind, kind)}: {covered} of {len(goals)} covered"
        heads = [tag("th", text) for text in ("Goal", "Status", "Where", "Requirements")]
        rows = [_goal(goal) for goal in goals]
        missing = covered < len(goals)
        found.append(
            tag(
                "details",
                tag("summary", escaped(said)),
                _table(heads, rows),
                open="open" if missing else None,
            )
        )
    return found


def _goal(goal: GoalResult) -> str:
    where = escaped(goal.reason)
    if goal.test is not None:
        link = tag("a", escaped(goal.test), href=f"#{escaped(goal.test)}")
        where = f"{link} at {goal.time} ms"
    return tag(
        "tr",
        tag("td", code(goal.ident)),
        tag("td", tag("span", goal.status, class_=f"badge {_TONES[goal.status]}")),
        tag("td", where),
        tag("td", escaped(", ".join(goal.requirements))),
    )


def _mutants(suite: Suite) -> list[str]:
    """How good the suite is, if somebody asked."""
    mutation = suite.mutation
    if mutation is None:
        return []
    score = "" if mutation.score is None else f": {float(mutation.score) * 100:.1f} % are killed"
    words = {"killed": "killed", "survived": "survived", "equivalent": "proved equivalent"}
    counts = ", ".join(f"{mutation.count(status)} {words[status]}" for status in _ORDER)
    heads = [tag("th", text) for text in ("Mutant", "Change", "Status", "Test", "Why")]
    rows = [
        tag(
            "tr",
            tag("td", escaped(one.ident), class_="nowrap"),
            tag("td", code(one.text)),
            tag("td", tag("span", one.status, class_=f"badge {_FATES[one.status]}")),
            tag("td", escaped(one.test or ""), class_="nowrap"),
            tag("td", escaped(one.reason), class_="quiet"),
        )
        for one in sorted(mutation.mutants, key=lambda one: _ORDER.index(one.status))
    ]
    return [
        tag("h2", "Mutants"),
        tag("p", escaped(f"{counts}{score}.")),
        tag("details", tag("summary", f"{len(rows)} mutants"), _table(heads, rows)),
    ]


def _section(test: TestCase) -> str:
    names: dict[tuple[bool, str], list[tuple[int, str]]] = {}
    for one in test.inputs:
        names.setdefault((False, one.name), []).append((one.time, one.value))
    for change in test.expected:
        names.setdefault((True, change.name), []).append((change.time, change.value))
    waves = [Wave(name, tuple(rows), given=not told) for (told, name), rows in names.items()]
    said = f"{test.end} ms, {len(test.goals)} goals"
    if test.requirements:
        said += f"; {', '.join(test.requirements)}"
    return tag(
        "section",
        tag("h3", escaped(test.ident)),
        tag("p", escaped(said), class_="quiet"),
        tag("div", draw_waves(waves, test.end), class_="waves", tabindex=0),
        class_="test",
        id=escaped(test.ident),
    )
