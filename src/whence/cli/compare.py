"""`whence compare`: what is different between two runs?"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from whence.cli.common import FormatOption, terminal
from whence.cli.status import ExitStatus
from whence.cli.stores import StoreArgument

HELP = """What is different between two runs in a store?

Tells which classes of faults are new in the later run, gone from it, and still there, and which
traces (of `whence check`: queries; of `whence run`: tests; of `whence locate`: diagnoses) have
another verdict. Traces are the same if their files are, or, in other folders, if their names are.

\b
Exit status:
  0  nothing is different
  1  a class is new or gone, or a verdict is another
  2  it is no store, or there are no such runs; or the runs cannot be compared
  3  one of the runs is not complete; what it has is compared

\b
Examples:
  whence compare results.db 11 12
  whence compare postgresql://ci@db/results 11 12 --format json
"""


def register(app: typer.Typer) -> None:
    app.command("compare", help=HELP, short_help="What is different between two runs?")(compare)


def compare(
    store: StoreArgument,
    before: Annotated[
        int, typer.Argument(min=1, metavar="RUN1", help="The earlier run.", show_default=False)
    ],
    after: Annotated[
        int, typer.Argument(min=1, metavar="RUN2", help="The later run.", show_default=False)
    ],
    top: Annotated[int, typer.Option(min=1, metavar="N", help="Show so many of each kind.")] = 20,
    output_format: FormatOption = "text",
) -> None:
    from whence.api import to_text, version
    from whence.api.store import compare as compared
    from whence.report.store_json import comparison_document
    from whence.report.store_text import comparison_text

    found = compared(store, before, after)
    if output_format == "json":
        sys.stdout.write(to_text(comparison_document(found, version())))
    else:
        console = terminal()
        for part in comparison_text(found, top):
            console.print(part)
    if found.partial:
        raise typer.Exit(ExitStatus.GAVE_UP)
    raise typer.Exit(ExitStatus.FOUND if found.differ else ExitStatus.NOTHING_WRONG)
