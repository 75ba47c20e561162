"""`whence demo`: the whole chain, on a control unit that comes with whence."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from whence.cli.common import terminal
from whence.cli.counterexample import QuietOption
from whence.cli.status import ExitStatus

HELP = """From a model to the faulty lines, on a control unit that comes with whence.

Generates tests from the model of a blower's control unit, builds its code, which has five seeded
faults, runs the tests on a simulated bus, classifies what is wrong in the logs by a model of the
requirements, makes a short test of each class, and looks for the lines that can be the fault. Then
it asks a timed model for the delays that violate a property, and for repairs.

All of it is written to a folder: report.html, loop.json, the logs, and the sources. Without a C
compiler the code is interpreted.

\b
Exit status:
  0  the chain went through
  2  the folder cannot be written

\b
Examples:
  whence demo
  whence demo -o blower --interpret
  whence demo --correct
"""


def register(app: typer.Typer) -> None:
    app.command("demo", help=HELP, short_help="From a model to the faulty lines: an example.")(demo)


def demo(
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FOLDER", help="Where to write everything.")
    ] = "whence-demo",
    correct: Annotated[
        bool, typer.Option("--correct", help="Take the code without faults.")
    ] = False,
    interpret: Annotated[
        bool, typer.Option("--interpret", help="Interpret the code, compiler or not.")
    ] = False,
    quiet: QuietOption = False,
) -> None:
    from whence.api.loop import demo as run_demo
    from whence.report.loop_text import loop_lines
    from whence.source import Diagnostic, InputError, Origin

    def say(text: str) -> None:
        if not quiet:
            print(text, file=sys.stderr)

    try:
        found = run_demo(output, correct=correct, compiler=False if interpret else None, say=say)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(
            Diagnostic(f"the folder cannot be written: {reason}", Origin(output))
        ) from None
    console = terminal()
    for line in loop_lines(found):
        console.print(line, soft_wrap=True)
    console.print(f"\nwritten: {output}/report.html, {output}/loop.json", soft_wrap=True)
    raise typer.Exit(ExitStatus.NOTHING_WRONG)
