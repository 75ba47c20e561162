"""`whence repair`: which time bound do I change?"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from whence.cli.common import Format, FormatOption, ModelArgument, complain, read_model, terminal
from whence.cli.counterexample import (
    BudgetOption,
    QueryOption,
    QuietOption,
    TraceOption,
    asked,
    limits_of,
    outcome,
)
from whence.cli.errors import rendered
from whence.cli.watch import watching
from whence.source import Diagnostic, Origin, UsageError, WhenceError

if TYPE_CHECKING:
    from whence.api import Model
    from whence.model.network import Query
    from whence.timing.results import Repair, RepairResult

HELP = """Which time bound do I change, so that the property holds?

Takes a run that violates an `A[]` property and searches for small changes of the model after which
no run along the same steps violates it: other bounds, comparisons, clocks and resets, or a location
made urgent. Then it says of each whether the whole changed model has the property, and whether the
change is admissible: whether the model can still do, time aside, what it could do before.

\b
Exit status:
  0  the property holds: there is nothing to repair
  1  the property is violated; the repairs are listed, if there are any
  2  the model, the query or the trace cannot be read or does not fit; there is no such repair
  3  gave up within the budget; what was found by then is printed, marked partial

\b
Examples:
  whence repair model.xml
  whence repair model.xml --kind bound --max-changes 1 -o report.html
  whence repair model.xml --apply 2 -o repaired.xml
  whence repair model.xml --iterate -o repaired.xml
"""


class KindName(StrEnum):
    """The kinds of changes, as typer wants them in a list."""

    BOUND = "bound"
    OPERATOR = "operator"
    CLOCK = "clock"
    RESET = "reset"
    URGENCY = "urgency"
    MIXED = "mixed"


_PAGES = (".html", ".htm")
_TEXTUAL = (".xta", ".ta")


def register(app: typer.Typer) -> None:
    app.command("repair", help=HELP, short_help="Which time bound do I change?")(repair)


def repair(
    model: ModelArgument,
    query: QueryOption = None,
    trace: TraceOption = None,
    kind: Annotated[
        list[KindName] | None,
        typer.Option(
            "--kind",
            metavar="KIND",
            help="Search only for such changes: bound, operator, clock, reset, urgency, mixed; "
            "can be given several times.",
        ),
    ] = None,
    limit: Annotated[
        int, typer.Option(min=1, metavar="N", help="Stop after so many repairs of a kind.")
    ] = 20,
    max_changes: Annotated[
        int, typer.Option(min=1, metavar="N", help="How many changes a repair may have.")
    ] = 3,
    labels: Annotated[
        Literal["transitions", "actions"],
        typer.Option(
            help="What of a run counts for admissibility: its transitions, or only their channels."
        ),
    ] = "transitions",
    admissibility: Annotated[
        Literal["equal", "nothing-lost", "none"],
        typer.Option(
            help="Admissible is what changes nothing that can be done, or what loses "
            "nothing; or do not test that."
        ),
    ] = "equal",
    apply: Annotated[
        int | None,
        typer.Option("--apply", metavar="N", help="Make repair number N; needs -o MODEL."),
    ] = None,
    iterate: Annotated[
        bool,
        typer.Option("--iterate", help="Make one repair after the other until the property holds."),
    ] = False,
    output: Annotated[
        list[str] | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write a report (.html) or the repaired model (anything else); can be given "
            "several times.",
        ),
    ] = None,
    output_format: FormatOption = "text",
    budget: BudgetOption = None,
    quiet: QuietOption = False,
) -> None:
    # What can be seen to be wrong is said before any work.
    limits = limits_of(budget)
    files = _files(output or [], apply, iterate)
    if iterate and trace is not None:
        raise UsageError("--iterate searches for the traces itself: leave out --trace")
    read = read_model(model)
    meant, recorded = asked(read, query, trace)
    settings: dict[str, Any] = {
        "kinds": [one.value for one in kind] if kind else None,
        "limit": limit,
        "max_changes": max_changes,
        "labels": labels,
        "test": admissibility.replace("-", " "),
        "budget": limits,
    }
    if not iterate:
        settings["trace"] = recorded
    session = _Session(read, apply, iterate)
    session.run(meant, settings, not quiet)
    # First to files: whoever reads standard output may go away.
    session.save(files)
    session.show(output_format, quiet)
    for wrong in session.failed:
        complain(rendered(wrong))
    for note in session.notes:
        complain(note)
    raise typer.Exit(session.status())


@dataclass(frozen=True)
class _Files:
    pages: tuple[str, ...]
    models: tuple[str, ...]


def _files(output: Sequence[str], apply: int | None, iterate: bool) -> _Files:
    """What is to be written where; refuses what makes no sense together."""
    from whence.files import check_writable

    for path in output:
        check_writable(path)
    pages = tuple(path for path in output if path.lower().endswith(_PAGES))
    models = tuple(path for path in output if path not in pages)
    if apply is not None and iterate:
        raise UsageError("--apply makes one repair and --iterate several: give only one of them")
    if models and apply is None and not iterate:
        hint = "say which one with --apply N, or use --iterate; a report ends in .html"
        raise UsageError(Diagnostic("which repair is this model to have?", Origin(models[0]), hint))
    if apply is not None and not models:
        raise UsageError(
            Diagnostic("--apply needs a file for the repaired model", hint="add -o repaired.xml")
        )
    for path in models:
        if path.lower().endswith(_TEXTUAL):
            hint = "give it a name that ends in .xml"
            raise UsageError(Diagnostic("repaired models are written as XML", Origin(path), hint))
    return _Files(pages, models)


@dataclass
class _Session:
    """The rounds of one call: only one, unless it iterates. `models` has the model of each."""

    model: Model
    apply: int | None
    iterate: bool
    rounds: list[tuple[RepairResult, Repair | None]] = field(default_factory=list)
    models: list[Model] = field(default_factory=list)
    repaired: Model | None = None
    failed: list[WhenceError] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def run(self, query: Query | None, settings: dict[str, Any], show_progress: bool) -> None:
        with watching(show_progress) as watch:
            watch.begin(1, 1, query.text if query is not None else "")
            settings["progress"] = watch.stage
            if self.iterate:
                self.rounds = list(self.model.iterate(query, **settings))
            else:
                result = self.model.repair(query, **settings)
                self.rounds = [(result, self._chosen(result))]
        self.models = [self.model]
        for _, repair in self.rounds:
            if repair is not None:
                self.repaired = self.models[-1].repaired(repair)
                self.models.append(self.repaired)

    def _chosen(self, result: RepairResult) -> Repair | None:
        if self.apply is None or result.verdict == "satisfied":
            return None
        for repair in result.repairs:
            if repair.number == self.apply:
                return repair
        count = len(result.repairs)
        there = "there are no repairs" if not count else f"there are {count} repairs"
        if count == 1:
            there = "there is 1 repair"
        self.failed.append(UsageError(f"--apply {self.apply}: {there}"))
        return None

    def status(self) -> int:
        first, last = self.rounds[0][0], self.rounds[-1][0]
        # A property that holds only after repairs did not hold.
        return outcome(first if last.verdict == "satisfied" else last, self.failed)

    # ---------------------------------------------------------------------------------- output

    def save(self, files: _Files) -> None:
        from whence.files import write_atomically

        for path in files.pages:
            try:
                write_atomically(path, self._page())
            except WhenceError as error:
                self.failed.append(error)
        for path in files.models:
            if self.repaired is None:
                self.notes.append(f"no repair was made: {path} is not written")
                continue
            try:
                _save(self.repaired, path)
                self.notes.append(f"wrote {path}")
            except WhenceError as error:
                self.failed.append(error)

    def _page(self) -> str:
        from whence.api import version
        from whence.report.timing_html import Round, repair_report

        rounds = [
            Round(
                result,
                model.network,
                model.layout,
                [template.name.text.strip() for template in model.document.templates],
                None if repair is None else repair.number,
            )
            for (result, repair), model in zip(self.rounds, self.models, strict=False)
        ]
        return repair_report(rounds, self.model.file, version())

    def show(self, output_format: Format, quiet: bool) -> None:
        if output_format == "json":
            self._show_json()
            return
        from whence.report.timing_text import iteration_text, repairs_text

        network, layout = self.model.network, self.model.layout
        if self.iterate:
            terminal().print(iteration_text(self.rounds, network, layout))
        else:
            terminal().print(repairs_text(self.rounds[0][0], network, layout, quiet))

    def _show_json(self) -> None:
        from whence.api import to_text, version
        from whence.report.timing_json import repair_document

        (result, repair), *further = self.rounds
        network = self.model.network
        document = repair_document(self.model.file, network, result, version(), repair, further)
        sys.stdout.write(to_text(document))


def _save(model: Model, path: str) -> None:
    """The model's file, with all that was not changed as it was."""
    from whence.files import write_atomically
    from whence.formats.uppaal.write import write_xml

    write_atomically(path, write_xml(model.document), model.document.encoding)
