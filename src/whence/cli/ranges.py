"""`whence ranges`: which delays cause the violation?"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Literal

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
from whence.source import WhenceError

if TYPE_CHECKING:
    from whence.api import Model
    from whence.timing.results import RangesResult

HELP = """Which delays cause the violation, and which values of them?

Takes a run that violates an `A[]` property and looks at all other delays that its steps allow.
A causal range, such as 2 <= d4 <= 3, is a range of a delay, or of a sum of delays, in which every
run along the trace violates the property, while the same run with another value would not.

\b
Exit status:
  0  the property holds: there is nothing to explain
  1  the property is violated, and the answer tells what is to blame, if time is
  2  the model, the query or the trace cannot be read or does not fit
  3  gave up within the budget; what was found by then is printed, marked partial

\b
Examples:
  whence ranges model.xml
  whence ranges model.xml -q 'A[] not Client.late' -o report.html
  whence check model.xml --format json > result.json
  whence ranges model.xml --trace result.json
"""


def register(app: typer.Typer) -> None:
    app.command("ranges", help=HELP, short_help="Which delays cause the violation?")(ranges)


def ranges(
    model: ModelArgument,
    query: QueryOption = None,
    trace: TraceOption = None,
    output_format: FormatOption = "text",
    report: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="Also write a report in HTML."),
    ] = None,
    realization: Annotated[
        Literal["earliest", "latest", "middle"],
        typer.Option(help="Which of the possible delays the trace that is searched for has."),
    ] = "earliest",
    budget: BudgetOption = None,
    quiet: QuietOption = False,
) -> None:
    from whence import files

    # What can be seen to be wrong is said before any work.
    limits = limits_of(budget)
    if report is not None:
        files.check_writable(report)
    read = read_model(model)
    meant, recorded = asked(read, query, trace)
    with watching(not quiet) as watch:
        watch.begin(1, 1, meant.text if meant is not None else "")
        result = read.ranges(
            meant, trace=recorded, realization=realization, budget=limits, progress=watch.stage
        )
    # First to files: whoever reads standard output may go away.
    failed: list[WhenceError] = []
    if report is not None:
        try:
            files.write_atomically(report, _page(read, result))
        except WhenceError as error:
            failed.append(error)
    _show(read, result, output_format, quiet)
    for wrong in failed:
        complain(rendered(wrong))
    raise typer.Exit(outcome(result, failed))


def _page(model: Model, result: RangesResult) -> str:
    from whence.api import version
    from whence.report.timing_html import ranges_report

    return ranges_report(model.network, model.layout, result, model.file, version())


def _show(model: Model, result: RangesResult, output_format: Format, quiet: bool) -> None:
    from whence.api import to_text, version

    if output_format == "json":
        from whence.report.timing_json import ranges_document

        sys.stdout.write(to_text(ranges_document(model.file, model.network, result, version())))
    else:
        from whence.report.timing_text import ranges_text

        terminal().print(ranges_text(result, model.network, model.layout, quiet))
