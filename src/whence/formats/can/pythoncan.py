"""Logs in formats that python-can defines (CSV, SQLite) or reads for us (BLF, MF4).

CSV and SQLite are read here, so that nothing has to be installed for them. python-can gives dates
as floating-point numbers, which hold a date in this century to less than a microsecond: they are
rounded to microseconds, and a note says so.
"""

from __future__ import annotations

import base64
import binascii
import gc
import importlib.util
import os
import sqlite3
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final, Literal

from whence.formats.can.lines import (
    Item,
    Note,
    annotation,
    broken,
    decimal_nanoseconds,
    shown,
    stretches,
)
from whence.model.events import CanFrame, Direction
from whence.source import Diagnostic, InputError, Origin

__all__ = ["CSV_HEADER", "read_csv", "read_sqlite", "read_with_python_can"]

CSV_HEADER: Final = "timestamp,arbitration_id,extended,remote,error,dlc,data"
_ROUNDED: Final = Note("dates are rounded to microseconds")
_FLAGS: Final = ("0", "1")
_MANY: Final = 10**12


def _frame(
    time: int | None, ident: int, extended: bool, remote: bool, error: bool, data: bytes,
    number: int, channel: str = "", fd: bool = False, direction: Direction = "",
) -> CanFrame:  # fmt: skip
    return CanFrame(
        time, channel, ident, extended, b"" if remote else data, fd or len(data) > 8, direction,
        "error" if error else "remote" if remote else "data", number,
    )  # fmt: skip


# ------------------------------------------------------------------------------------------- CSV


def read_csv(stream: BinaryIO, file: str) -> Iterator[Item]:
    for first, lines in stretches(stream):
        for number, line in enumerate(lines, first):
            text = line.strip().removeprefix("\xef\xbb\xbf")
            if not text or text == CSV_HEADER:
                continue
            if text.startswith("#"):
                yield annotation(file, number, text.lstrip("# "))
                continue
            frame = _csv_frame(text, number)
            yield frame or broken(file, number, line, f"not a row of `{CSV_HEADER}`")


def _csv_frame(text: str, number: int) -> CanFrame | None:
    words = text.split(",")
    if len(words) != 7 or any(word not in _FLAGS for word in words[2:5]):
        return None
    time = decimal_nanoseconds(words[0])
    try:
        ident, length = int(words[1], 0), int(words[5])
        data = base64.b64decode(words[6].strip(), validate=True)
    except (ValueError, binascii.Error):
        return None
    extended, remote, error = (word == "1" for word in words[2:5])
    if time is None or not 0 <= ident <= (0x1FFFFFFF if extended else 0x7FF):
        return None
    if len(data) > 64 or (not remote and not error and len(data) != length):
        return None
    return _frame(time, ident, extended, remote, error, data, number)


# ---------------------------------------------------------------------------------------- SQLite


def read_sqlite(path: str, file: str) -> Iterator[Item]:
    """The table `messages` of python-can's SqliteWriter."""
    address = f"{Path(path).resolve().as_uri()}?mode=ro&immutable=1"
    try:
        connection = sqlite3.connect(address, uri=True)
    except sqlite3.Error as error:
        raise InputError(Diagnostic(f"not a database: {error}", Origin(file))) from None
    number = 0
    try:
        rows = connection.execute(
            "SELECT ts, arbitration_id, extended, remote, error, data FROM messages ORDER BY rowid"
        )
        yield _ROUNDED
        for row in rows:
            number += 1
            frame = _sqlite_frame(row, number)
            yield frame or Diagnostic(
                f"record {number}: not a frame", Origin(file), "this record is left out"
            )
    except sqlite3.Error as error:
        yield Diagnostic(f"after record {number}: {error}", Origin(file))
    finally:
        connection.close()


def _sqlite_frame(row: tuple[Any, ...], number: int) -> CanFrame | None:
    seconds, ident, extended, remote, error, data = row
    numbers = (ident, extended, remote, error)
    if not isinstance(seconds, int | float) or not all(isinstance(n, int) for n in numbers):
        return None
    if not -_MANY < seconds < _MANY or not 0 <= ident <= (0x1FFFFFFF if extended else 0x7FF):
        return None
    if data is None:
        data = b""
    if not isinstance(data, bytes) or len(data) > 64:
        return None
    time = _microseconds(seconds)
    return _frame(time, ident, bool(extended), bool(remote), bool(error), data, number)


def _microseconds(seconds: float) -> int:
    """In nanoseconds, a whole number of microseconds."""
    return round(seconds * 1_000_000) * 1000


# ------------------------------------------------------------------------------------ python-can

_SOME: Final = 1000
Foreign = Literal["BLF", "MF4"]
_NEEDED: Final = {"BLF": ("can", "whence[can]"), "MF4": ("asammdf", "whence[mf4]")}


def read_with_python_can(path: str, file: str, form: Foreign) -> Iterator[Item]:
    _refuse_without_libraries(file, form)
    yield _ROUNDED
    number = 0
    with open(path, "rb") as stream:
        source = _Source(path, stream, form)
        while messages := source.some():
            for message in messages:
                number += 1
                yield _of_message(message, number)
    if source.failure:
        yield Diagnostic(
            f"after record {number}: the log cannot be read further: {source.failure}",
            Origin(file),
        )
    elif form == "BLF":
        # python-can takes the end of the file for the end of the log.
        there, announced = _blf_sizes(path)
        if there < announced:
            why = f"the log ends too early: {there} of {announced} bytes are there"
            yield Diagnostic(why, Origin(file), "what comes before is read")


def _blf_sizes(path: str) -> tuple[int, int]:
    """How long the file is, and how long it says it is (0: whoever wrote it did not get so far)."""
    with open(path, "rb") as stream:
        announced = int.from_bytes(stream.read(24)[16:], "little")
        return stream.seek(0, os.SEEK_END), announced


def _refuse_without_libraries(file: str, form: Foreign) -> None:
    module, extra = _NEEDED[form]
    if any(importlib.util.find_spec(name) is None for name in ("can", module)):
        hint = f"pip install '{extra}'"
        raise InputError(Diagnostic(f"{form} logs need another library", Origin(file), hint))


class _Source:
    """The messages of a log, some at a time, so that what these libraries have to say about a
    broken log (warnings, and errors while they clean up) is kept back only while they work."""

    def __init__(self, path: str, stream: BinaryIO, form: Foreign) -> None:
        self.path, self.stream, self.form = path, stream, form
        self.messages: Iterator[Any] | None = None
        self.failure = ""

    def some(self) -> list[Any]:
        """Some messages; none at the end, or after a failure."""
        found: list[Any] = []
        if self.failure:
            return found
        with _quietly():
            try:
                if self.messages is None:
                    self.messages = iter(self._opened())
                for message in self.messages:
                    found.append(message)
                    if len(found) == _SOME:
                        break
            except (Exception, RecursionError) as error:
                # Whatever they stumble over in a broken log.
                self.failure = shown(str(error)) or type(error).__name__
            if len(found) < _SOME:
                self.messages = iter(())
                gc.collect()
        return found

    def _opened(self) -> Iterable[Any]:
        import can

        reader: Iterable[Any]
        reader = can.BLFReader(self.stream) if self.form == "BLF" else can.MF4Reader(self.path)
        return reader


@contextmanager
def _quietly() -> Iterator[None]:
    before = sys.unraisablehook
    sys.unraisablehook = lambda _: None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        sys.unraisablehook = before


def _of_message(message: Any, number: int) -> CanFrame:
    channel = "" if message.channel is None else str(message.channel)
    return _frame(
        _microseconds(message.timestamp), message.arbitration_id, message.is_extended_id,
        message.is_remote_frame, message.is_error_frame, bytes(message.data or b""), number,
        channel, message.is_fd, "rx" if message.is_rx else "tx",
    )  # fmt: skip
