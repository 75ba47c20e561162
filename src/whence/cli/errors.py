"""What went wrong becomes a message on standard error and an exit status, never a traceback."""

import os
import re
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperGroup

from whence.cli.status import ExitStatus
from whence.source import WhenceError

#: More errors than these are only counted.
_MANY = 40
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class ReportingGroup(TyperGroup):
    """A group of commands whose errors are reported by `reported`, also those while parsing."""

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        with reported():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: Any) -> Any:
        with reported():
            return super().invoke(ctx)


@contextmanager
def reported() -> Iterator[None]:
    """Turn any exception of a command into a message and `typer.Exit`."""
    try:
        yield
    except (typer.Exit, typer.Abort, typer.TyperException):
        raise  # typer's own ways to end
    except BrokenPipeError as error:
        raise typer.Exit(ExitStatus.BROKEN_PIPE) from error
    except WhenceError as error:
        raise _fail(rendered(error), ExitStatus.BAD_INPUT) from error
    except OSError as error:
        where = f"{error.filename}: " if error.filename is not None else ""
        message = f"{where}error: {error.strerror or error}"
        raise _fail(message, ExitStatus.BAD_INPUT) from error
    except KeyboardInterrupt as error:
        raise _fail("interrupted", ExitStatus.INTERRUPTED) from error
    except Exception as error:
        if os.environ.get("WHENCE_DEBUG") == "1":
            traceback.print_exc()
        message = (
            f"internal error: {type(error).__name__}: {error}\n"
            "This is a defect of whence, not of your input. Please report it with the input and\n"
            "with what the same command prints when WHENCE_DEBUG=1 is set."
        )
        raise _fail(message, ExitStatus.INTERNAL) from error


def _fail(message: str, status: ExitStatus) -> typer.Exit:
    print(printable(message), file=sys.stderr)
    return typer.Exit(status)


def rendered(error: WhenceError) -> str:
    """What is wrong, as it is told: a file that is no model at all has an error a character."""
    shown = error.diagnostics[:_MANY]
    lines = [diagnostic.render() for diagnostic in shown]
    if len(shown) < len(error.diagnostics):
        lines.append(f"… and {len(error.diagnostics) - len(shown)} more")
    return "\n".join(lines)


def printable(text: str) -> str:
    """`text` without what would command a terminal: names of files and models may hold it."""
    return _CONTROL.sub("\ufffd", text)


@contextmanager
def quiet_pipe() -> Iterator[None]:
    """End quietly when the reader of the output has gone away, as in `whence … | head`."""
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        # The interpreter flushes once more at its end; let that go nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(ExitStatus.BROKEN_PIPE)
