"""`whence run`: what are the verdicts of these tests?"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from whence.cli.common import FormatOption, complain, terminal
from whence.cli.counterexample import QuietOption
from whence.cli.status import ExitStatus
from whence.cli.watch import watching
from whence.source import UsageError

if TYPE_CHECKING:
    from whence.model.test_run import SuiteRun

HELP = """What are the verdicts of these tests?

Runs a suite that `whence tests MODEL -o SUITE` made against a system. While a test runs, the
system's part of the model runs beside it and says which outputs are right.

\b
--sut names the system:
  model                    the model itself
  model:FILE               another model, such as a mutant
  python:MODULE:NAME       a Python object with reset and step; MODULE may be a file
  process:COMMAND          a process that speaks JSON, an object a line
  c:FILE[,FILE]            C sources, which are compiled and run (see --c-interface)
  can:INTERFACE:CHANNEL    a CAN bus, by python-can; needs --signals

\b
Exit status:
  0  all tests pass
  1  a test fails or ends in an error
  2  the suite, the model or the system cannot be read or built, or the usage is bad
  3  a test is inconclusive, or not all tests have run

\b
Examples:
  whence run suite/
  whence run suite/ --sut c:turn_indicator.c --sanitize address,undefined -o results/
  whence run suite/ --sut "process:python system.py" --workers 2
  whence run suite/ --sut can:socketcan:can0 --signals signals.yaml --dbc lamps.dbc
"""


def register(app: typer.Typer) -> None:
    app.command("run", help=HELP, short_help="What are the verdicts of these tests?")(run)


def run(
    suite: Annotated[
        str, typer.Argument(metavar="SUITE", help="The folder of a suite.", show_default=False)
    ],
    sut: Annotated[
        str, typer.Option("--sut", metavar="SYSTEM", help="The system under test.")
    ] = "model",
    model: Annotated[
        str | None,
        typer.Option("--model", metavar="MODEL", help="The model, if it is not where it was."),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Take a model that has changed since.")
    ] = False,
    tests: Annotated[
        list[str] | None,
        typer.Option("--test", metavar="NAME", help="Only this test; several times."),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FOLDER",
            help="Write a report, JSON, JUnit's XML, a matrix and traces to this folder.",
        ),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Keep the results that FOLDER has of the same tests."),
    ] = False,
    workers: Annotated[
        int, typer.Option(min=1, max=256, metavar="N", help="How many tests run at once.")
    ] = 1,
    timeout: Annotated[
        float, typer.Option(min=0.1, metavar="S", help="How many seconds a test may take.")
    ] = 60.0,
    period: Annotated[
        int,
        typer.Option(
            min=1, max=60_000, metavar="MS", help="How often a simulated system is looked at."
        ),
    ] = 1,
    latency: Annotated[
        int | None,
        typer.Option(min=0, max=600_000, metavar="MS", help="How much later an output may come."),
    ] = None,
    jitter: Annotated[
        int | None,
        typer.Option(
            min=0, max=10_000, metavar="MS", help="How late reactions may be by themselves."
        ),
    ] = None,
    real_time: Annotated[
        bool, typer.Option("--real-time", help="A process has a time of its own.")
    ] = False,
    overrun: Annotated[
        int,
        typer.Option(min=1, metavar="MS", help="How late inputs may be in real time."),
    ] = 100,
    signals: Annotated[
        str | None,
        typer.Option("--signals", metavar="FILE", help="A signal map (see docs/run.md)."),
    ] = None,
    dbc: Annotated[
        str | None, typer.Option("--dbc", metavar="FILE", help="The database of a CAN bus.")
    ] = None,
    start: Annotated[
        str,
        typer.Option(
            "--start", metavar="FILE:NAME", help="A Python function to start beside a bus."
        ),
    ] = "",
    sanitize: Annotated[
        str,
        typer.Option(
            "--sanitize", metavar="LIST", help="Compile C with -fsanitize=LIST: address,undefined."
        ),
    ] = "",
    c_interface: Annotated[
        bool,
        typer.Option("--c-interface", help="Print the header that C systems implement, and end."),
    ] = False,
    output_format: FormatOption = "text",
    quiet: QuietOption = False,
) -> None:
    from whence.api import to_text, version
    from whence.api.runs import RunOptions, open_suite, write_run
    from whence.report.run_json import run_document
    from whence.report.run_text import run_text

    if resume and output is None:
        raise UsageError("--resume needs the folder with the earlier results: -o FOLDER")
    opened = open_suite(suite, model, force=force)
    if c_interface:
        sys.stdout.write(opened.c_interface()[1])
        return
    options = RunOptions(
        tests=tuple(tests or ()),
        workers=workers,
        seconds=timeout,
        period=period,
        real_time=real_time,
        latency=latency,
        jitter=jitter,
        overrun=overrun,
        sanitize=_sanitizers(sanitize),
        signals=signals,
        dbc=dbc,
        node=start,
        folder=output,
        resume=resume,
    )
    with watching(not quiet) as watch:
        result = opened.run(sut, options, watch.stage)
    if output is not None:
        write_run(result, output)
    if output_format == "json":
        sys.stdout.write(to_text(run_document(result, version())))
    else:
        terminal().print(run_text(result))
    if not result.complete:
        complain("interrupted: not all tests have run")
    raise typer.Exit(_status(result))


def _sanitizers(text: str) -> tuple[str, ...]:
    known = ("address", "undefined", "leak", "thread")
    found = tuple(part.strip() for part in text.split(",") if part.strip())
    for one in found:
        if one not in known:
            raise UsageError(f"unknown sanitizer `{one}`; known are {', '.join(known)}")
    return found


def _status(result: SuiteRun) -> ExitStatus:
    if result.count("fail") or result.count("error"):
        return ExitStatus.FOUND
    if not result.complete or result.count("inconclusive"):
        return ExitStatus.GAVE_UP
    return ExitStatus.NOTHING_WRONG
