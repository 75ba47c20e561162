"""What commands that use a store have in common."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["CodeOption", "StoreArgument", "StoreOption"]

StoreOption = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="STORE",
        help="Store the run there: a file, or postgresql://user@host/name. See `whence history`.",
        show_default=False,
    ),
]
CodeOption = Annotated[
    str,
    typer.Option(
        "--code",
        metavar="VERSION",
        help="How the store is to call the version of the code that was tested.",
        show_default=False,
    ),
]
StoreArgument = Annotated[
    str,
    typer.Argument(
        metavar="STORE",
        help="The store: a file, or postgresql://user@host/name.",
        show_default=False,
    ),
]
