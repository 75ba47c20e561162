"""`whence history`: which classes of faults were seen when?"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from whence.cli.common import FormatOption, terminal
from whence.cli.stores import StoreArgument

HELP = """Which faults were seen when?

Lists the runs in a store (`--store` of `whence triage` and other commands), with the classes that
were new and gone in each, and each class: in which run it was first and last seen, and in which
versions of the code. Runs are compared with those before of the same model, by its name.

\b
Exit status:
  0  the store was read
  2  it is no store, or cannot be read; or there is no such run, model or class

\b
Examples:
  whence history results.db
  whence history results.db --class 09f15b5a
  whence history postgresql://ci@db/results --model ecu --format json
  whence history results.db --run 12
"""


def register(app: typer.Typer) -> None:
    app.command("history", help=HELP, short_help="Which faults were seen when?")(history)


def history(
    store: StoreArgument,
    class_: Annotated[
        str,
        typer.Option(
            "--class",
            metavar="ID",
            help="Only this class, run by run; the first characters of its identifier do.",
            show_default=False,
        ),
    ] = "",
    model: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Only runs of this model: its name, its file, or the first 8 or more characters "
            "of its hash.",
            show_default=False,
        ),
    ] = "",
    run: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Print again what this run answered, as its command did: of `whence triage` as "
            "--format says, of others their JSON.",
            show_default=False,
        ),
    ] = None,
    top: Annotated[
        int, typer.Option(min=1, metavar="N", help="Show so many runs and classes.")
    ] = 20,
    output_format: FormatOption = "text",
) -> None:
    from whence.api import to_text, version
    from whence.api.store import history as told
    from whence.report.store_json import history_document
    from whence.report.store_text import history_text

    if run is not None:
        _again(store, run, top, output_format)
        return
    found = told(store, model=model, ident=class_)
    if output_format == "json":
        sys.stdout.write(to_text(history_document(found, version())))
        return
    console = terminal()
    for part in history_text(found, top):
        console.print(part)


def _again(store: str, run: int, top: int, output_format: str) -> None:
    from whence.api import to_text
    from whence.api.store import stored
    from whence.api.triage import pieces_of

    found = stored(store, run)
    if isinstance(found, dict):
        sys.stdout.write(to_text(found))
    elif output_format == "json":
        for piece in pieces_of(found, ".json"):
            sys.stdout.write(piece)
    else:
        from whence.report.triage_text import triage_text

        console = terminal()
        for part in triage_text(found, top):
            console.print(part)
