"""`whence locate`: which lines of this C code can be the fault?"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from whence.cli.common import complain, terminal
from whence.cli.counterexample import QuietOption
from whence.cli.errors import rendered
from whence.cli.status import ExitStatus
from whence.cli.watch import watching
from whence.source import Diagnostic, UsageError, WhenceError

if TYPE_CHECKING:
    from whence.api.code import Located
    from whence.locate.fault_model import FaultModel

HELP = """Which lines of this C code can be the fault?

Runs the tests, and finds the smallest sets of places that, changed, could make all failing tests
pass: assignments, conditions, returned values, arguments, macros, sizes of arrays, initialisers.
They are ranked by how many places there are, and by which tests execute them. No compiler is
needed; the code is read by clang's parser.

Tests are a table (.csv) or a document (.yaml, .json) of arguments, globals and results; or, for
`main`, a file with the arguments of the process line by line. What is right can also be what a
golden program does, or stand in files.

\b
Exit status:
  0  no test fails
  1  tests fail; what was found is listed
  2  the code or the tests cannot be read, or are not supported
  3  gave up within the budget; what was found by then is printed, marked partial

\b
Examples:
  whence locate heater.c --tests heater.csv --entry heater
  whence locate prog.c --tests universe --golden right.c
  whence locate heater.c --tests heater.csv --entry heater --fix
  whence locate prog.c --tests t.csv --entry f --max 3 --format sarif > faults.sarif
"""


def register(app: typer.Typer) -> None:
    app.command("locate", help=HELP, short_help="Which lines of C can be the fault?")(locate)


def locate(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE.c...", help="The program's source.", show_default=False),
    ],
    tests: Annotated[
        str | None,
        typer.Option(
            "--tests",
            metavar="FILE",
            help="The tests; without them, observations in the source are taken.",
        ),
    ] = None,
    entry: Annotated[
        str, typer.Option("--entry", metavar="NAME", help="The function that is tested.")
    ] = "main",
    golden: Annotated[
        str | None,
        typer.Option("--golden", metavar="FILE.c", help="A program that does what is right."),
    ] = None,
    outputs: Annotated[
        str | None,
        typer.Option(
            "--outputs", metavar="DIR", help="What each test should print: files t1, t2, ..."
        ),
    ] = None,
    most: Annotated[
        int | None,
        typer.Option(
            "--max",
            min=1,
            metavar="N",
            help="All minimal sets of up to N places, not only the smallest ones.",
        ),
    ] = None,
    like_thesis: Annotated[
        bool,
        typer.Option(
            "--like-thesis",
            help="Lines only, without macros, sizes and initialisers; a faulty assignment through "
            "a pointer or at an index changes all that it could have meant.",
        ),
    ] = False,
    granularity: Annotated[
        Literal["line", "statement"] | None,
        typer.Option(help="What a place is; by default, a statement."),
    ] = None,
    check: Annotated[
        list[str] | None,
        typer.Option(
            "--check",
            metavar="KIND",
            help="Which undefined behaviour fails a test: bounds, pointers, division, shifts, "
            "overflow, uninitialised; can be given several times. By default all but overflow.",
        ),
    ] = None,
    trust: Annotated[
        list[str] | None,
        typer.Option(
            "--trust", metavar="NAME", help="A function without faults; can be given several times."
        ),
    ] = None,
    include: Annotated[
        list[str] | None, typer.Option("-I", metavar="DIR", help="Where headers are.")
    ] = None,
    define: Annotated[
        list[str] | None, typer.Option("-D", metavar="NAME[=VALUE]", help="Define a macro.")
    ] = None,
    std: Annotated[str, typer.Option("--std", metavar="STD", help="The dialect of C.")] = "gnu99",
    data_model: Annotated[
        Literal["lp64", "ilp32", "int16"], typer.Option(help="The sizes of types.")
    ] = "lp64",
    slack: Annotated[
        int,
        typer.Option(min=0, metavar="N", help="Unroll loops so much further than failing tests."),
    ] = 1,
    unwind: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="Unroll no loop further than that.")
    ] = None,
    steps: Annotated[
        int,
        typer.Option(min=1, metavar="N", help="A test fails after so many iterations and calls."),
    ] = 1_000_000,
    witnesses: Annotated[
        int,
        typer.Option(
            min=0, metavar="N", help="Say for so many failing tests of each set what would pass."
        ),
    ] = 3,
    top: Annotated[int, typer.Option(min=1, metavar="N", help="Show so many sets.")] = 20,
    fix: Annotated[
        bool,
        typer.Option(
            "--fix", help="Try simple edits, and show those after which all tests pass: candidates."
        ),
    ] = False,
    apply: Annotated[
        bool,
        typer.Option("--apply", help="Write the first candidate into the files. Implies --fix."),
    ] = False,
    budget: Annotated[
        str | None, typer.Option(metavar="TEXT", help="When to give up the search, such as 60s.")
    ] = None,
    report: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="Also write a report in HTML."),
    ] = None,
    output_format: Annotated[
        Literal["text", "json", "sarif"],
        typer.Option("--format", help="Text for people; JSON or SARIF for programs."),
    ] = "text",
    quiet: QuietOption = False,
) -> None:
    from whence import files as written
    from whence.api.code import locate as run
    from whence.formats.c.read import COptions
    from whence.locate.localize import Settings
    from whence.locate.results import Stop

    # What can be seen to be wrong is said before any work.
    if report is not None:
        written.check_writable(report)
    settings = Settings(
        model=_model(like_thesis, granularity, check, trust),
        minimum=most is None,
        most=most,
        witnesses=witnesses,
        slack=slack,
        rounds=unwind,
        stop=Stop(seconds=_seconds(budget)),
        steps=steps,
    )
    options = COptions(
        data_model=data_model,
        std=std,
        include=tuple(include or ()),
        define=tuple(define or ()),
    )
    with watching(not quiet) as watch:
        say = watch.stage

        def progress(what: str, one: int, two: int) -> None:
            if say is None:
                return
            if what == "searching":
                say(f"{one:,} conflicts, {two:,} diagnoses")
            else:
                say(f"{what}: {one:,} of {two:,}")

        located = run(
            files,
            entry=entry,
            tests=tests,
            golden=golden,
            outputs=outputs,
            options=options,
            settings=settings,
            fix=fix or apply,
            progress=progress,
        )
    for note in located.notes:
        complain(note.render())
    # First to files: whoever reads standard output may go away.
    failed: WhenceError | None = None
    if report is not None:
        try:
            written.write_atomically(report, _page(located, top))
        except WhenceError as error:
            failed = error
    _show(located, output_format, top, quiet)
    if apply:
        _apply(located)
    if failed is not None:
        complain(rendered(failed))
        raise typer.Exit(ExitStatus.BAD_INPUT)
    raise typer.Exit(_status(located))


def _page(located: Located, top: int) -> str:
    from whence.api import version
    from whence.locate.lines import line_spectra
    from whence.report.locate_html import locate_report

    spectra = line_spectra(located.program, located.found.ran)
    return locate_report(located.found, located.sources, spectra, located.csr, version(), top)


def _model(
    like_thesis: bool,
    granularity: Literal["line", "statement"] | None,
    check: list[str] | None,
    trust: list[str] | None,
) -> FaultModel:
    from whence.locate.fault_model import CHECKS, LIKE_THESIS, FaultModel

    model = LIKE_THESIS if like_thesis else FaultModel()
    if granularity is not None:
        model = replace(model, granularity=granularity)
    if check is not None:
        unknown = [name for name in check if name not in CHECKS]
        if unknown:
            raise UsageError(
                Diagnostic(
                    f"--check {unknown[0]}: there is no such check",
                    hint=f"there are: {', '.join(CHECKS)}",
                )
            )
        model = replace(model, checks=frozenset(kind for kind in CHECKS if kind in check))
    return replace(model, trusted=frozenset(trust or ()))


def _seconds(budget: str | None) -> float | None:
    if budget is None:
        return None
    from whence.api import parse_budget

    seconds = parse_budget(budget).seconds
    if seconds is None:
        raise UsageError(f"--budget {budget}: only a time, such as 60s, ends this search")
    return float(seconds)


def _status(located: Located) -> ExitStatus:
    found = located.found
    if not found.failing:
        return ExitStatus.NOTHING_WRONG
    return ExitStatus.FOUND if found.complete else ExitStatus.GAVE_UP


def _apply(located: Located) -> None:
    """Writes the first candidate."""
    from whence.files import write_atomically

    first = next((fix for each in located.found.diagnoses for fix in each.fixes), None)
    if first is None:
        return
    for name, text in first.texts.items():
        write_atomically(name, text)
        complain(f"{name}: a candidate was written into this file; all tests pass with it")


def _show(located: Located, output_format: str, top: int, quiet: bool) -> None:
    from whence.api import to_text, version

    if output_format == "text":
        from whence.report.locate_text import locate_text

        parts = locate_text(located.found, located.sources, located.csr, top, quiet)
        for part in parts:
            terminal().print(part, soft_wrap=True)
        return
    from whence.report.locate_json import locate_document, sarif_document

    if output_format == "json":
        document = locate_document(located.found, located.csr, version())
    else:
        document = sarif_document(located.found, version())
    sys.stdout.write(to_text(document))
