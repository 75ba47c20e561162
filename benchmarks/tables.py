"""The tables of the report, from what was measured; for the terminal and as Markdown."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.instances import TCHECKER, TCHECKER_SOURCE, Instance, Method, Run
from rich import box
from rich.table import Table as RichTable

__all__ = ["Measured", "Report", "Table", "tables_of", "to_markdown", "to_rich"]

_MEBIBYTE = 1 << 20
_NONE = "–"


@dataclass(frozen=True, slots=True)
class Measured:
    """The runs of one method on one instance, which agree in all counts."""

    instance: Instance
    method: Method
    runs: tuple[Run, ...]

    @property
    def complete(self) -> bool:
        return self.runs[0].reason == "complete"

    @property
    def seconds(self) -> float:
        return statistics.median(run.seconds for run in self.runs)

    @property
    def peak_bytes(self) -> int:
        return max(run.peak_bytes for run in self.runs)

    @property
    def base_bytes(self) -> int:
        return max(run.base_bytes for run in self.runs)


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that was measured: `machine` by name of the fact, `starts` in seconds."""

    machine: dict[str, str]
    starts: dict[str, float]
    results: tuple[Measured, ...]
    time_limit: float

    def of(self, instance: Instance, method: Method) -> Measured | None:
        for result in self.results:
            if result.instance == instance and result.method == method:
                return result
        return None


@dataclass(frozen=True, slots=True)
class Table:
    """Text in cells; the first column is words, the others are numbers."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()


# ------------------------------------------------------------------------------------- numbers


def _seconds(value: float) -> str:
    """Three significant digits, though none finer than a tenth of a millisecond."""
    if value < 0.001:
        return f"{value:.4f}"
    return f"{value:.3g}" if value < 99.5 else f"{value:,.0f}"


def _mebibytes(size: float) -> str:
    return f"{size / _MEBIBYTE:,.0f}" if size else _NONE


def _ratio(ours: float, theirs: float) -> str:
    return f"{ours / theirs:.2f}" if theirs else _NONE


def _times(factor: float) -> str:
    return f"{factor:.1f}×" if factor < 99.5 else f"{factor:,.0f}×"


def _label(instance: Instance) -> str:
    return instance.name.replace("-", " ")


# -------------------------------------------------------------------------------------- tables


def tables_of(report: Report) -> list[Table]:
    """The tables that have something to show."""
    ours = [result for result in report.results if result.method == "alu"]
    tables = [_size(ours), _speed(ours), _methods(report), _starts(report.starts)]
    return [table for table in tables if table.rows]


def _size(ours: Sequence[Measured]) -> Table:
    rows = []
    for result in ours:
        run = result.runs[0]
        theirs = TCHECKER.get(result.instance.name)
        row = [_label(result.instance), f"{run.visited:,}"]
        if theirs is None:
            row += [_NONE, _NONE, f"{run.stored:,}", _NONE, _NONE, f"{run.transitions:,}", _NONE]
        else:
            row += [
                f"{theirs.visited:,}",
                _ratio(run.visited, theirs.visited),
                f"{run.stored:,}",
                _NONE if theirs.stored is None else f"{theirs.stored:,}",
                _ratio(run.stored, theirs.visited),
                f"{run.transitions:,}",
                f"{theirs.transitions:,}",
            ]
        rows.append(tuple(row))
    return Table(
        "How many symbolic states",
        (
            "model",
            "visited",
            "TChecker",
            "ratio",
            "stored",
            "TChecker",
            "stored / their visited",
            "transitions",
            "TChecker",
        ),
        tuple(rows),
        (*_size_notes(ours),),
    )


def _size_notes(ours: Sequence[Measured]) -> list[str]:
    compared = [
        (result.runs[0], TCHECKER[result.instance.name])
        for result in ours
        if result.instance.name in TCHECKER
    ]
    if not compared:
        return []
    kept = sum(run.stored <= theirs.visited for run, theirs in compared)
    visited = sum(run.visited <= theirs.visited for run, theirs in compared)
    total = len(compared)
    return [
        f"TChecker: {TCHECKER_SOURCE}.",
        f"Goal: no more stored zones than TChecker visits: met on {kept} of {total}; "
        f"no more visited, either: met on {visited} of {total}.",
    ]


def _speed(ours: Sequence[Measured]) -> Table:
    rows = []
    for result in ours:
        theirs = TCHECKER.get(result.instance.name)
        row = [_label(result.instance), _seconds(result.seconds)]
        row += (
            [_NONE, _NONE]
            if theirs is None
            else [
                _seconds(theirs.seconds),
                _times(theirs.seconds / result.seconds),
            ]
        )
        row += [f"{result.runs[0].visited / result.seconds:,.0f}", _mebibytes(result.peak_bytes)]
        row += (
            [_NONE, _NONE]
            if theirs is None
            else [
                f"{theirs.mebibytes:,.0f}",
                _ratio(result.peak_bytes, theirs.mebibytes * _MEBIBYTE),
            ]
        )
        row.append(_mebibytes(result.runs[0].search_bytes) if result.complete else _NONE)
        rows.append(tuple(row))
    return Table(
        "How fast, in how much memory",
        (
            "model",
            "seconds",
            "TChecker",
            "faster",
            "states/s",
            "peak MiB",
            "TChecker",
            "ratio",
            "of it states",
        ),
        tuple(rows),
        (*_speed_notes(ours),),
    )


def _speed_notes(ours: Sequence[Measured]) -> list[str]:
    if not ours:
        return []
    base = statistics.median(result.base_bytes for result in ours)
    count = max(len(result.runs) for result in ours)
    notes = [
        f"Seconds are the median of {count}, peak memory is the most of {count}. "
        f"A process has {_mebibytes(base)} MiB before its search starts."
    ]
    for result in ours:
        if result.instance.name == "fischer-8":
            met = "met" if result.seconds < 2 else "missed"
            notes.append(f"Goal: Fischer 8 in less than 2 s: {met} ({_seconds(result.seconds)} s).")
    runs = [run for result in ours for run in result.runs if run.seconds >= 0.1]
    slowed = sum(run.seconds > 1.1 * run.cpu_seconds for run in runs)
    if slowed:
        notes.append(
            f"The machine was busy: {slowed} of the {len(runs)} runs that took 0.1 s or more "
            "got a processor for less than 90 % of their time."
        )
    return notes


def _methods(report: Report) -> Table:
    rows = []
    limited = False
    for result in report.results:
        if result.method != "alu":
            continue
        naive = report.of(result.instance, "global")
        plain = report.of(result.instance, "lu")
        if naive is None or plain is None:
            continue
        more = "" if naive.complete else "> "
        limited = limited or not naive.complete
        first, second, third = naive.runs[0], plain.runs[0], result.runs[0]
        rows.append(
            (
                _label(result.instance),
                f"{more}{first.visited:,}",
                f"{more}{_seconds(naive.seconds)}",
                f"{second.visited:,}",
                f"{second.stored:,}",
                _seconds(plain.seconds),
                f"{third.visited:,}",
                f"{third.stored:,}",
                _seconds(result.seconds),
                more + _times(first.visited / third.visited),
                more + _times(naive.seconds / result.seconds),
            )
        )
    notes = [
        "naive: Extra+_M with the largest constants of the whole model, and inclusion of zones. "
        "LU: Extra+_LU with the constants of the current locations, and inclusion of zones. "
        "aLU: what whence does: as LU, with inclusion in a_LU.",
        "Naive and LU ran once each.",
    ]
    if limited:
        notes.append(f"> : given up after {report.time_limit:g} s; the figures are those of then.")
    return Table(
        "What the abstraction buys",
        (
            "model",
            "naive visited",
            "s",
            "LU visited",
            "stored",
            "s",
            "aLU visited",
            "stored",
            "s",
            "fewer visited",
            "faster",
        ),
        tuple(rows),
        tuple(notes),
    )


def _starts(starts: dict[str, float]) -> Table:
    return Table(
        "Starting",
        ("what", "seconds"),
        tuple((what, _seconds(seconds)) for what, seconds in starts.items()),
    )


# ----------------------------------------------------------------------------------- rendering


def to_rich(table: Table) -> RichTable:
    shown = RichTable(title=table.title, title_justify="left", box=box.SIMPLE, pad_edge=False)
    for number, name in enumerate(table.header):
        shown.add_column(name, justify="right" if number else "left", overflow="fold")
    for row in table.rows:
        shown.add_row(*row)
    return shown


def to_markdown(table: Table) -> str:
    """A section with the table and its notes."""
    lines = [f"### {table.title}", ""]
    rule = ("---",) + ("---:",) * (len(table.header) - 1)
    for row in (table.header, rule, *table.rows):
        lines.append(f"| {' | '.join(row)} |")
    for note in table.notes:
        lines += ["", note]
    return "\n".join(lines) + "\n"
