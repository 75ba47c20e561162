"""Output files that are there whole, or not at all.

A text is written to a temporary file in the folder of the real one, which then takes its place in
one step.  Whatever goes wrong in between, a file that was there before stays as it was.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from whence.source import Diagnostic, InputError, Origin

__all__ = ["check_writable", "write_atomically", "written_atomically"]


def check_writable(path: Path | str) -> None:
    """Raises InputError if `path` plainly cannot be written: to be asked before long work."""
    target = Path(path)
    try:
        if "\0" in str(path):
            raise ValueError("embedded null byte")
        if target.is_dir():
            raise _error(path, "this is a directory", "name a file in it instead")
        folder = target.parent
        if not folder.is_dir():
            raise _error(path, f"there is no folder {folder}", "create it first")
        if not _is_special(target) and not os.access(folder, os.W_OK | os.X_OK):
            raise _error(path, "the file cannot be written: permission denied")
    except (OSError, ValueError) as error:
        raise _error(path, f"the file cannot be written: {_reason(error)}") from None


def write_atomically(path: Path | str, text: str, encoding: str = "utf-8") -> None:
    """Write `text`. Raises InputError if that is not possible; then nothing changed."""
    target = Path(path)
    # Names of files may hold what is no text; it must not keep a result from being written.
    data = text.encode(encoding, "replace")
    try:
        if _is_special(target):
            # A device or a pipe (`-o /dev/stdout`) has no content to be kept.
            target.write_bytes(data)
            return
        # The file that a link leads to is meant, not the link.
        target = target.resolve()
        _replace(target, data)
    except (OSError, ValueError) as error:
        raise _error(path, f"the file cannot be written: {_reason(error)}") from None


@contextmanager
def written_atomically(path: Path | str) -> Iterator[Callable[[str], object]]:
    """What takes text, piece by piece, for a file that is there when all has been said. If the
    block ends in an exception, nothing changed. Raises InputError if the file cannot be written."""
    target = Path(path)
    writing = True
    try:
        # A device or a pipe has no content to be kept; of a link, the file that it leads to.
        pieces: AbstractContextManager[BinaryIO] = (
            target.open("wb") if _is_special(target) else _pieces(target.resolve())
        )
        with pieces as stream:

            def write(text: str) -> None:
                nonlocal writing
                writing = True
                stream.write(text.encode("utf-8", "replace"))
                writing = False

            writing = False
            yield write
            writing = True
    except (OSError, ValueError) as error:
        # What goes wrong inside of the block is told by whoever wrote it.
        if not writing:
            raise
        raise _error(path, f"the file cannot be written: {_reason(error)}") from None


def _replace(target: Path, data: bytes) -> None:
    with _pieces(target) as stream:
        stream.write(data)


@contextmanager
def _pieces(target: Path) -> Iterator[BinaryIO]:
    descriptor, temporary = tempfile.mkstemp(prefix=f".{target.name[:64]}.", dir=target.parent)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        # A temporary file is private; the one to be written has the usual permissions.
        os.chmod(temporary, _mode(target))
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _mode(target: Path) -> int:
    try:
        return target.stat().st_mode & 0o777
    except FileNotFoundError:
        # The mask can only be read by setting it.
        mask = os.umask(0o077)
        os.umask(mask)
        return 0o666 & ~mask


def _is_special(path: Path) -> bool:
    return path.exists() and not path.is_file() and not path.is_dir()


def _reason(error: Exception) -> str:
    return (getattr(error, "strerror", None) or str(error)).lower()


def _error(path: Path | str, message: str, hint: str = "") -> InputError:
    return InputError(Diagnostic(message, Origin(str(path)), hint))
