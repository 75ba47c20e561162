"""Runs of suites on the terminal."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from whence.model.test_run import SuiteRun, TestVerdict, requirement_verdicts
from whence.report.run_words import KINDS, coverage_rows, headline

__all__ = ["run_text"]

_STYLES: dict[TestVerdict | str, str] = {
    "pass": "green",
    "fail": "red",
    "error": "magenta",
    "inconclusive": "yellow",
    "untested": "yellow",
}
_LISTED = 40


def run_text(run: SuiteRun) -> RenderableType:
    """What a user wants to see first."""
    name = run.suite.model or run.suite.file
    parts: list[RenderableType] = [
        Text(f"Tests of {name} against {run.system}", style="bold", overflow="fold")
    ]
    if run.notes:
        parts.append(Group(*(Text(note, style="yellow", overflow="fold") for note in run.notes)))
    parts += [_tests(run), _requirements(run), _coverage(run)]
    style = _STYLES[run.verdict]
    parts.append(Text(headline(run), style=f"bold {style}", overflow="fold"))
    if not run.complete:
        parts.append(Text("partial: not all tests have run", style="bold yellow"))
    parts.append(Text(f"{run.seconds:.3f} s", style="dim"))
    lines: list[RenderableType] = []
    for part in parts:
        lines += [Text(""), part] if lines else [part]
    return Group(*lines)


def _tests(run: SuiteRun) -> RenderableType:
    shown = list(run.runs)
    if len(shown) > _LISTED:
        shown = [one for one in shown if one.verdict != "pass"][:_LISTED]
    lines: list[RenderableType] = []
    for one in shown:
        line = Text(f"{one.verdict:<13}", style=_STYLES[one.verdict], overflow="fold")
        line.append(one.test, style="default")
        line.append(f"  {one.time} ms", style="dim")
        if one.drift is not None:
            line.append(f", inputs up to {one.drift.most * 1000:.1f} ms late", style="dim")
        if one.reason:
            line.append(f"\n  {one.reason}", style="default")
        lines.append(line)
    if len(shown) < len(run.runs):
        lines.append(Text(f"… and {len(run.runs) - len(shown)} more"))
    return Group(*lines)


def _requirements(run: SuiteRun) -> RenderableType:
    lines: list[RenderableType] = []
    for one in requirement_verdicts(run.suite, run.runs):
        line = Text(f"{one.verdict:<13}", style=_STYLES[one.verdict], overflow="fold")
        line.append(one.ident, style="default")
        if one.text:
            line.append(f"  {one.text}", style="dim")
        lines.append(line)
    return Group(*lines) if lines else Text("the model has no requirements", style="dim")


def _coverage(run: SuiteRun) -> RenderableType:
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("goals")
    for name in ("all", "run", "passed"):
        table.add_column(name, justify="right")
    for row in coverage_rows(run):
        name = KINDS.get(row.kind, row.kind)
        table.add_row(name, str(row.goals), str(row.run), str(row.passed))
    return table
