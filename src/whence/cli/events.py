"""`whence events`: what happened in these logs?"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from whence.cli.common import complain, terminal
from whence.cli.errors import rendered
from whence.cli.status import ExitStatus
from whence.source import Diagnostic, UsageError, WhenceError

if TYPE_CHECKING:
    from whence.formats.can.odx import Database
    from whence.formats.can.trace import Log, Told
    from whence.model.events import AddressPair

HELP = """What happened in these logs?

Reads logs of a CAN bus, puts the messages of ISO-TP (ISO 15765-2) together, and tells the requests
and responses of diagnostics (UDS, OBD) in them: which service, with which parameters, which request
a response belongs to, and when. What is not whole (a lost frame, an interrupted message) is told as
an error, and the rest is read.

\b
LOG is one of these, told apart by what is in it; it may be packed with gzip:
  candump    log files (-l) and what it prints on the console, with or without dates
  ASC, BLF   Vector; BLF needs whence[can]
  TRC        PEAK, versions 1.0 to 2.1; CarBusAnalyzer
  MF4        ASAM MDF 4; needs whence[mf4]
  pcap       and pcapng, with SocketCAN frames or from a Linux cooked capture
  others     BUSMASTER, python-can's CSV and SQLite
  events     lines such as `12.5 req GET`, CSV and JSON lines: what this command writes

\b
Who talks to whom is seen in the log, or told:
  --pair 7E0:7E8            identifiers of requests and of responses
  --pair 18DA10F1:18DAF110  with 29 bits
  --pair 6F1/12:612/F1      with address bytes (extended or mixed addressing)
  --pair 7DF:               requests to all

\b
Exit status:
  0  all logs were read
  1  they were read, but records are broken and left out; which is told
  2  a log cannot be read at all (the others are), or the usage is bad

\b
Examples:
  whence events ecu.log
  whence events ecu.log --pair 7E0:7E8 --format csv -o events.csv
  whence events *.asc --format jsonl | grep '"negative"'
  whence events flash.pcap.gz --pdx ecu.pdx
"""

Output = Literal["text", "json", "csv", "jsonl"]
Write = Callable[[str], object]


def register(app: typer.Typer) -> None:
    app.command("events", help=HELP, short_help="What happened in these logs?")(events)


def events(
    logs: Annotated[
        list[str], typer.Argument(metavar="LOG...", help="The logs.", show_default=False)
    ],
    output_format: Annotated[
        Output, typer.Option("--format", help="Text for people; the others for programs.")
    ] = "text",
    pair: Annotated[
        list[str] | None,
        typer.Option(
            metavar="REQ:RES",
            help="Who talks to whom; can be given several times.",
            show_default=False,
        ),
    ] = None,
    pdx: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Names from an ODX database; needs whence[odx]."),
    ] = None,
    raw: Annotated[
        bool, typer.Option("--raw", help="Tell the frames as they are, one event each.")
    ] = False,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write there, not to the terminal."),
    ] = None,
) -> None:
    from whence import files
    from whence.formats.can.addresses import parse_pair

    # What can be seen to be wrong is said before any work.
    if output is not None:
        files.check_writable(output)
    if raw and (pair or pdx):
        raise UsageError(
            Diagnostic("--raw does not go with --pair and --pdx", hint="frames have no services")
        )
    pairs = tuple(parse_pair(text) for text in pair or ())
    database = None
    if pdx is not None:
        from whence.formats.can.odx import read_pdx

        database = read_pdx(pdx)
    work = _Work(pairs, database, raw)
    if output_format == "json":
        work.json(logs, output)
    elif output_format == "text":
        work.text(logs, output)
    else:
        work.table(logs, output, output_format)
    raise typer.Exit(work.status())


class _Work:
    """The logs, one after the other; a broken one does not keep the others from being read."""

    def __init__(
        self, pairs: tuple[AddressPair, ...], database: Database | None, raw: bool
    ) -> None:
        self.pairs, self.database, self.raw = pairs, database, raw
        self.failed: list[WhenceError] = []
        self.broken = False

    def status(self) -> ExitStatus:
        if self.failed:
            return ExitStatus.BAD_INPUT
        return ExitStatus.FOUND if self.broken else ExitStatus.NOTHING_WRONG

    def opened(self, paths: list[str]) -> Iterator[Log]:
        """The logs that can be opened."""
        from whence.formats.logs import open_log

        for path in paths:
            try:
                yield open_log(path, self.pairs, self.database, raw=self.raw)
            except WhenceError as error:
                self._fail(error)

    def told(self, log: Log) -> Iterator[Told]:
        """What the log tells, as far as it can be read; then what was wrong in it."""
        try:
            yield from log.told()
        except WhenceError as error:
            self._fail(error)
        self.broken |= any(problem.severity == "error" for problem in log.problems)
        if log.problems:
            complain(rendered(WhenceError(log.problems)))
        if log.omitted:
            complain(f"{log.path}: {log.omitted} more of these")

    def _fail(self, error: WhenceError) -> None:
        self.failed.append(error)
        complain(rendered(error))

    # ------------------------------------------------------------------------------------ output

    def text(self, paths: list[str], output: str | None) -> None:
        from whence.report.events_text import EventLines, heading

        console = terminal()
        with _writing(output) as write:
            for number, log in enumerate(self.opened(paths)):
                if output is None and console.is_terminal:

                    def show(text: object) -> None:
                        console.print(text, soft_wrap=True)
                else:

                    def show(text: object) -> None:
                        write(f"{text}\n")

                lines = EventLines()
                if number:
                    show("")
                show(heading(log))
                for told in self.told(log):
                    show(lines.line(told))
                for line in lines.summary(log):
                    show(line)

    def table(self, paths: list[str], output: str | None, form: Literal["csv", "jsonl"]) -> None:
        from whence.formats.events.tables import csv_header, csv_line, json_line

        line = csv_line if form == "csv" else json_line
        with _writing(output) as write:
            if form == "csv":
                write(f"{csv_header()}\n")
            for log in self.opened(paths):
                for told in self.told(log):
                    write(f"{line(told)}\n")

    def json(self, paths: list[str], output: str | None) -> None:
        from whence.api import to_text, version
        from whence.formats.can.trace import whole
        from whence.report.events_json import events_document

        traces = []
        for log in self.opened(paths):
            try:
                traces.append(whole(log))
            except WhenceError as error:
                self._fail(error)
                continue
            self.broken |= any(problem.severity == "error" for problem in log.problems)
        failed = [diagnostic for error in self.failed for diagnostic in error.diagnostics]
        with _writing(output) as write:
            write(to_text(events_document(traces, failed, version())))


@contextmanager
def _writing(output: str | None) -> Iterator[Write]:
    from whence.files import written_atomically

    if output is None:
        yield sys.stdout.write
    else:
        with written_atomically(output) as write:
            yield write
