"""Suites on the terminal: what is covered, what is not and why, and the tests."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from whence.model.mutation import Mutation
from whence.model.suite import GoalResult, Suite
from whence.report.run_words import KINDS

__all__ = ["suite_text"]

#: So many goals that are not covered are listed.
_LISTED = 60


def suite_text(suite: Suite) -> RenderableType:
    """What a user wants to see first."""
    parts: list[RenderableType] = [
        Text(f"Tests for {suite.model or suite.file}", style="bold", overflow="fold")
    ]
    if suite.findings:
        parts.append(_findings(suite))
    parts.append(_coverage(suite))
    missing = [goal for goal in suite.goals if goal.status != "covered"]
    if missing:
        parts.append(Group(*(_missing(goal) for goal in missing[:_LISTED])))
        if len(missing) > _LISTED:
            parts.append(Text(f"… and {len(missing) - _LISTED} more, in the manifest or as JSON"))
    parts.append(_summary(suite))
    if suite.mutation is not None:
        parts.append(_mutation(suite.mutation))
    if not suite.complete:
        parts.append(Text("partial: a budget ended the search", style="bold yellow"))
    parts.append(Text(f"{suite.seconds:.3f} s, {suite.steps} steps simulated", style="dim"))
    lines: list[RenderableType] = []
    for part in parts:
        lines += [Text(""), part] if lines else [part]
    return Group(*lines)


def _findings(suite: Suite) -> RenderableType:
    styles = {"error": "red", "warning": "yellow"}
    return Group(
        *(
            Text(one.render(), style=styles.get(one.severity, "dim"), overflow="fold")
            for one in suite.findings
        )
    )


def _coverage(suite: Suite) -> RenderableType:
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("goals")
    for name in ("all", "covered", "unreachable", "open"):
        table.add_column(name, justify="right")
    for kind, name in KINDS.items():
        goals = [goal for goal in suite.goals if goal.kind == kind]
        if goals:
            counts = [
                sum(goal.status == status for goal in goals)
                for status in ("covered", "unreachable", "open")
            ]
            table.add_row(name, str(len(goals)), *map(str, counts))
    return table


def _missing(goal: GoalResult) -> Text:
    style = "yellow" if goal.status == "open" else "red"
    text = Text(f"{goal.status}: ", style=style, overflow="fold")
    text.append(goal.ident, style="default")
    if goal.reason:
        text.append(f"\n  {goal.reason}", style="dim")
    return text


def _mutation(mutation: Mutation) -> RenderableType:
    score = mutation.score
    percent = "" if score is None else f", score {float(score) * 100:.1f} %"
    lines = [
        Text(
            f"{len(mutation.mutants)} mutants: {mutation.count('killed')} killed, "
            f"{mutation.count('survived')} survived, {mutation.count('equivalent')} proved "
            f"equivalent{percent}",
            style="bold",
            overflow="fold",
        )
    ]
    survivors = [one for one in mutation.mutants if one.status == "survived"]
    for one in survivors[:_LISTED]:
        line = Text(f"survived: {one.ident} ", style="yellow", overflow="fold")
        line.append(one.text, style="default")
        told = f"{one.test} would kill it, {one.reason}" if one.test else one.reason
        line.append(f"\n  {told}", style="dim")
        lines.append(line)
    if len(survivors) > _LISTED:
        lines.append(Text(f"… and {len(survivors) - _LISTED} more, as JSON"))
    if mutation.tests:
        count = len(mutation.tests)
        tests = f"{count} more {'test' if count == 1 else 'tests'}"
        lines.append(Text(f"{tests} would kill survivors: --kill puts them into the suite"))
    return Group(*lines)


def _summary(suite: Suite) -> RenderableType:
    longest = max((test.end for test in suite.tests), default=0)
    count = len(suite.tests)
    tests = f"{count} {'test' if count == 1 else 'tests'}"
    told = f"{tests}, the longest takes {longest} ms" if suite.tests else "no test"
    return Text(
        f"{told}; {suite.count('covered')} of {len(suite.goals)} goals are covered, "
        f"{suite.count('unreachable')} proved unreachable, {suite.count('open')} open",
        style="bold",
        overflow="fold",
    )
