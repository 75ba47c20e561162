"""What several commands need: reading models, writing results."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from whence.cli.errors import printable

if TYPE_CHECKING:
    from rich.console import Console

    from whence.api import Model
    from whence.formats.uppaal.document import Document

#: What stands for standard input in place of a file, and what messages then call it.
STDIN, STDIN_NAME = "-", "<stdin>"

ModelArgument = Annotated[
    str,
    typer.Argument(
        metavar="MODEL",
        help="The model: .xml, .xta or .ta as UPPAAL writes them; - reads XML from standard input.",
        show_default=False,
    ),
]
Format = Literal["text", "json"]
FormatOption = Annotated[
    Format, typer.Option("--format", help="Text for people or JSON for programs.")
]


def read_document(path: str, queries: str | None = None) -> Document:
    """The model's file as it is written."""
    from whence import api
    from whence.formats.uppaal.xml import MAX_BYTES
    from whence.source import Diagnostic, InputError, Origin

    if path != STDIN:
        return api.read_document(path, queries)
    data = sys.stdin.buffer.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        limit = f"the model is larger than {MAX_BYTES // 2**20} MiB, our limit"
        raise InputError(Diagnostic(limit, Origin(STDIN_NAME)))
    return api.read_document_text(data, STDIN_NAME, queries)


def read_model(path: str, queries: str | None = None) -> Model:
    from whence.api import Model

    return Model(read_document(path, queries))


def terminal() -> Console:
    """Standard output for people: names of models are no markup and no emoji."""
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False)


def complain(text: str) -> None:
    """A message on standard error, behind all that standard output has so far."""
    sys.stdout.flush()
    print(printable(text), file=sys.stderr)
