"""`whence check`: can this model go wrong, and how?"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from whence.cli.common import Format, FormatOption, ModelArgument, complain, read_model, terminal
from whence.cli.errors import rendered
from whence.cli.status import ExitStatus
from whence.cli.stores import CodeOption, StoreOption
from whence.cli.watch import noticing_interruption, watching
from whence.source import Diagnostic, Origin, SourceText, UsageError, WhenceError

if TYPE_CHECKING:
    from whence.api import Model, Settings
    from whence.model.network import Query
    from whence.model.trace import QueryResult

HELP = """Can this model go wrong, and how?

Answers the queries in the model, or those given by --query and --queries, and shows a run of the
model for each verdict that one run decides.

\b
Exit status:
  0  every query was answered, and nothing is violated
  1  a query is violated, or the model does something undefined (verdict `error`)
  2  the model or a query cannot be read or checked; the other queries are answered
  3  a verdict is unknown: the budget ran out, or Ctrl-C; nothing is violated

\b
Examples:
  whence check model.xml
  whence check model.xml -q 'A[] not deadlock' -q 'E<> Train(0).Cross'
  whence check model.xml --trace shortest -o report.html
  whence check model.xml --budget 60s,2GB --format json > result.json
"""


def register(app: typer.Typer) -> None:
    app.command("check", help=HELP, short_help="Can this model go wrong, and how?")(check)


def check(
    model: ModelArgument,
    query: Annotated[
        list[str] | None,
        typer.Option(
            "--query", "-q", metavar="TEXT", help="Ask this instead; can be given several times."
        ),
    ] = None,
    queries: Annotated[
        str | None,
        typer.Option("--queries", metavar="FILE", help="Ask what stands in this .q file instead."),
    ] = None,
    output_format: FormatOption = "text",
    report: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="Also write a report in HTML."),
    ] = None,
    trace: Annotated[
        Literal["none", "some", "shortest", "fastest"],
        typer.Option(
            help="Which run to show: none, any, one with the fewest steps, one that is there first."
        ),
    ] = "some",
    realization: Annotated[
        Literal["earliest", "latest", "middle"],
        typer.Option(help="Which of the possible delays the run has."),
    ] = "earliest",
    order: Annotated[
        Literal["breadth", "depth"], typer.Option(help="What is searched first.")
    ] = "breadth",
    budget: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="When to give up on a query: 60s, 2GB, 1000000 states; several with commas.",
        ),
    ] = None,
    save_trace: Annotated[
        str | None,
        typer.Option(
            "--save-trace",
            metavar="FILE",
            help="Keep the run: as JSON, or, if FILE ends in .xml, as UPPAAL's symbolic trace.",
        ),
    ] = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Replay each run on the model, by other means.")
    ] = False,
    store: StoreOption = None,
    code: CodeOption = "",
    quiet: Annotated[
        bool, typer.Option("--quiet", help="Print only the verdicts, and no progress.")
    ] = False,
) -> None:
    from whence import api, files
    from whence.api.store import check_store

    # What can be seen to be wrong is said before any work.
    limits = api.parse_budget(budget) if budget is not None else None
    for path in (report, save_trace):
        if path is not None:
            files.check_writable(path)
    check_store(store)
    read = read_model(model, queries)
    session = _Session(read, _asked(read, query or [], queries), verify)
    settings: Settings = {
        "trace": trace,
        "realization": realization,
        "order": order,
        "budget": limits,
        "verify": verify,
    }
    session.run(settings, not quiet)
    # First to files: whoever reads standard output may go away.
    failed: list[WhenceError] = []
    if report is not None:
        try:
            read.save_report(session.results, report)
        except WhenceError as error:
            failed.append(error)
    notes = session.save_traces(save_trace, failed) if save_trace is not None else []
    if store is not None:
        try:
            session.keep(store, code, [model, *([queries] if queries is not None else [])])
        except WhenceError as error:
            failed.append(error)
    session.show(output_format, quiet)
    for wrong in (*session.errors, *failed):
        complain(rendered(wrong))
    for note in notes:
        complain(note)
    raise typer.Exit(ExitStatus.BAD_INPUT if failed else session.status())


def _asked(
    model: Model, given: Sequence[str], file: str | None
) -> list[tuple[str, Query | WhenceError]]:
    """The queries to be answered, each as text and as what it means."""
    asked: list[tuple[str, Query | WhenceError]] = []
    for number, text in enumerate(given, 1):
        name = "--query" if len(given) == 1 else f"--query (number {number})"
        try:
            asked.append((text.strip(), model.query(SourceText(text, name))))
        except WhenceError as error:
            asked.append((text.strip(), error))
    if file is not None or not given:
        asked.extend((text.formula.text.strip(), query) for text, query in model.asked)
    if not asked:
        hint = "give one with --query 'A[] not deadlock', or a file of them with --queries"
        where = Origin(file if file is not None else model.file)
        raise UsageError(Diagnostic("there is nothing to check: no queries", where, hint))
    return asked


@dataclass
class _Session:
    """One run over the queries. `errors` are about queries that could not be checked."""

    model: Model
    asked: list[tuple[str, Query | WhenceError]]
    verify: bool
    results: list[QueryResult] = field(default_factory=list)
    errors: list[WhenceError] = field(default_factory=list)

    def run(self, settings: Settings, show_progress: bool) -> None:
        with noticing_interruption() as interruption, watching(show_progress) as watch:
            for number, (text, query) in enumerate(self.asked, 1):
                if isinstance(query, WhenceError):
                    self._refuse(text, query)
                    continue
                if interruption.happened:
                    self.results.append(_unknown(text, "interrupted before this query"))
                    continue
                watch.begin(number, len(self.asked), " ".join(text.split()))
                settings["progress"] = watch.progress
                try:
                    self.results.append(self.model.check(query, **settings))
                except WhenceError as error:
                    self._refuse(text, error)
                except KeyboardInterrupt:
                    # Not in the search itself, which ends with a result: around it.
                    interruption.happened = True
                    self.results.append(_unknown(text, "interrupted"))
                except MemoryError:
                    self.results.append(_unknown(text, "there is no memory left"))

    def _refuse(self, text: str, error: WhenceError) -> None:
        from whence.model.trace import QueryResult

        self.errors.append(error)
        reason = "; ".join(diagnostic.message for diagnostic in error.diagnostics)
        self.results.append(QueryResult(text, "error", 0, 0, 0.0, reason=f"not checked: {reason}"))

    def status(self) -> ExitStatus:
        verdicts = {result.verdict for result in self.results}
        if self.errors:
            return ExitStatus.BAD_INPUT
        if verdicts & {"violated", "error"}:
            return ExitStatus.FOUND
        return ExitStatus.GAVE_UP if "unknown" in verdicts else ExitStatus.NOTHING_WRONG

    @property
    def _open(self) -> int:
        return sum(result.verdict == "unknown" for result in self.results)

    # ---------------------------------------------------------------------------------- output

    def save_traces(self, path: str, failed: list[WhenceError]) -> list[str]:
        """Where several queries were asked, each has a file of its own; says which."""
        notes = []
        for number, result in enumerate(self.results, 1):
            if result.trace is None:
                continue
            target = path if len(self.results) == 1 else _numbered(path, number)
            try:
                self.model.save_trace(result.trace, target, result.query)
                notes.append(f"wrote {target}")
            except WhenceError as error:
                failed.append(error)
        return notes or ["no trace to save"]

    def keep(self, store: str, code: str, files: Sequence[str]) -> None:
        from whence.api.store import keep

        verdict = self.status().outcome
        keep(
            store,
            self._document(),
            model=self.model.file,
            name=self.model.network.name,
            files=files,
            code=code,
            verdict=verdict,
            complete=verdict != "gave up",
        )

    def show(self, output_format: Format, quiet: bool) -> None:
        if output_format == "json":
            self._show_json()
        elif len(self.errors) < len(self.results):
            self._show_text(quiet)

    def _show_json(self) -> None:
        from whence.api import to_text

        sys.stdout.write(to_text(self._document()))

    def _document(self) -> dict[str, Any]:
        from whence.api import fields

        document: dict[str, Any] = self.model.to_json(self.results)
        document["partial"] = self._open > 0
        document["diagnostics"] = [
            fields(diagnostic) for error in self.errors for diagnostic in error.diagnostics
        ]
        if self.verify:
            for entry in document["queries"]:
                # A trace that does not replay never gets here.
                entry["verified"] = entry["trace"] is not None
        return document

    def _show_text(self, quiet: bool) -> None:
        from rich.text import Text

        from whence.report.story import one_line, title
        from whence.report.text import trace_table, verdict_table

        console = terminal()
        console.print(verdict_table(self.results, self.model.network))
        traces = [result for result in self.results if result.trace is not None]
        if not quiet:
            for result in traces:
                assert result.trace is not None
                console.print()
                console.print(Text(f"{title(result)}: {one_line(result.query)}", style="bold"))
                console.print()
                console.print(trace_table(result.trace, self.model.network, self.model.layout))
        if self.verify and traces:
            console.print()
            what = "the trace replays" if len(traces) == 1 else f"{len(traces)} traces replay"
            console.print(f"verified: {what} on the model, step by step")
        if self._open:
            console.print()
            console.print(
                f"partial: no verdict on {self._open} of {len(self.results)} queries",
                style="bold yellow",
            )


def _unknown(text: str, reason: str) -> QueryResult:
    from whence.model.trace import QueryResult

    return QueryResult(text, "unknown", 0, 0, 0.0, reason=reason)


def _numbered(path: str, number: int) -> str:
    """`trace.json` becomes `trace-2.json`."""
    pure = PurePath(path)
    return str(pure.with_name(f"{pure.stem}-{number}{pure.suffix}"))
