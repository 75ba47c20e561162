"""Bus logs of any format: told apart by what is in them, not by their names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final, TypeVar, cast

from whence.formats.can import asc, busmaster, candump, pcap, pythoncan, trc
from whence.formats.can.lines import Item
from whence.formats.can.unpack import DamagedError, Unpacked
from whence.model.events import NANO, CanFrame
from whence.source import Diagnostic, InputError, Origin

__all__ = ["FORMATS", "backwards", "format_of", "from_stream", "head_of", "items"]

_T = TypeVar("_T")
_HEAD: Final = 1 << 16
_GZIP: Final = b"\x1f\x8b"

_READERS: Final[dict[str, Callable[[BinaryIO, str], Iterator[Item]]]] = {
    "candump": candump.read_log,
    "candump console": candump.read_console,
    "ASC": asc.read_asc,
    "TRC": trc.read_trc,
    "CarBusAnalyzer": trc.read_carbus,
    "BUSMASTER": busmaster.read_busmaster,
    "pcap": pcap.read_pcap,
    "pcapng": pcap.read_pcapng,
    "python-can CSV": pythoncan.read_csv,
}
#: What is read by its path, because a library or the database opens it.
_BY_PATH: Final[dict[str, Callable[[str, str], Iterator[Item]]]] = {
    "SQLite": pythoncan.read_sqlite,
    "BLF": lambda path, file: pythoncan.read_with_python_can(path, file, "BLF"),
    "MF4": lambda path, file: pythoncan.read_with_python_can(path, file, "MF4"),
}
FORMATS: Final = (*_READERS, *_BY_PATH)

_MAGIC: Final = (
    *((magic, "pcap") for magic in pcap.PCAP_MAGICS),
    (pcap.PCAPNG_MAGIC, "pcapng"),
    (b"LOGG", "BLF"),
    (b"MDF     ", "MF4"),
    (b"SQLite format 3\0", "SQLite"),
)
#: How lines of the text formats look; the format with the most such lines is it.
_LINES: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    ("candump", re.compile(r"\(\d+\.\d+\) +\S+ +[0-9A-Fa-f]{3,8}#", re.ASCII)),
    ("candump console", candump.CONSOLE_LINE),
    ("ASC", asc.HEADER_LINE),
    ("ASC", asc.FRAME_LINE),
    ("ASC", re.compile(r"\s*\d+\.\d+\s+CANFD\s", re.ASCII)),
    ("TRC", re.compile(r";\$(?:FILEVERSION|STARTTIME|COLUMNS)\s*=")),
    ("TRC", trc.TRC_LINE),
    ("CarBusAnalyzer", trc.CARBUS_LINE),
    ("BUSMASTER", busmaster.BUSMASTER_HEADER),
    ("python-can CSV", re.compile(re.escape(pythoncan.CSV_HEADER))),
)
#: A header decides at once.
_HEADERS: Final = {"BUSMASTER", "python-can CSV"}


@contextmanager
def _opened(path: str) -> Iterator[BinaryIO]:
    with open(path, "rb") as stream:
        magic = stream.read(2)
        stream.seek(0)
        yield cast(BinaryIO, Unpacked(stream)) if magic == _GZIP else stream


def head_of(path: str) -> bytes:
    """How the file starts, unpacked."""
    if Path(path).is_dir():
        raise InputError(Diagnostic("this is a directory, not a log", Origin(path)))
    if Path(path).exists() and not Path(path).is_file():
        why = "a log is read from its start more than once, which a pipe or device cannot do"
        raise InputError(Diagnostic(why, Origin(path), "write it to a file first"))
    try:
        with _opened(path) as stream:
            return _readable(stream)
    except OSError as error:
        raise InputError(
            Diagnostic(f"the file cannot be read: {error.strerror or error}", Origin(path))
        ) from None


def _readable(stream: BinaryIO) -> bytes:
    """What can be read of the head, also of a packed file that is cut off."""
    head = b""
    try:
        while len(head) < _HEAD and (data := stream.read(min(512, _HEAD - len(head)))):
            head += data
    except DamagedError:
        pass
    return head


def format_of(head: bytes) -> str | None:
    """The format of a log that starts like this; None: it is no log of a bus."""
    for magic, name in _MAGIC:
        if head.startswith(magic):
            return name
    lines = re.split(r"[\r\n]+", head.decode("latin-1"))
    seen: dict[str, int] = {}
    for line in lines[:2000]:
        for name, pattern in _LINES:
            if pattern.match(line[:300]):
                if name in _HEADERS:
                    return name
                seen[name] = seen.get(name, 0) + 1
                break
    return max(seen, key=lambda name: seen[name]) if seen else None


def items(path: str, form: str, file: str | None = None) -> Iterator[Item]:
    """What is in the log, in the order of its records. `file` is its name in messages."""
    file = path if file is None else file
    return _watched(_items(path, form, file), file)


def _items(path: str, form: str, file: str) -> Iterator[Item]:
    if form in _BY_PATH:
        return _BY_PATH[form](path, file)
    return from_stream(path, file, _READERS[form])


def from_stream(
    path: str, file: str, read: Callable[[BinaryIO, str], Iterator[_T]]
) -> Iterator[_T | Diagnostic]:
    """What `read` makes of the file, unpacked; the end of what can be read is a diagnostic."""
    try:
        with _opened(path) as stream:
            yield from read(stream, file)
    except DamagedError as error:
        yield Diagnostic(f"the packed log {error}; what comes before is read", Origin(file))
    except OSError as error:
        why = error.strerror or str(error)
        yield Diagnostic(f"the log cannot be read further: {why}", Origin(file))


def _watched(found: Iterator[Item], file: str) -> Iterator[Item]:
    """Reports where the clock runs backwards."""
    before = -1
    for item in found:
        if type(item) is CanFrame:
            time = item.time
            if time is not None:
                if time < before:
                    yield backwards(file, item.record, before - time)
                before = time
        yield item


def backwards(file: str, record: int, amount: int) -> Diagnostic:
    """Tells that a date is so many nanoseconds before the one before."""
    seconds, rest = divmod(amount, NANO)
    text = f"{seconds}.{rest:09d}".rstrip("0").rstrip(".")
    return Diagnostic(
        f"the clock runs backwards here, by {text} s",
        Origin(file, record, 1),
        "the order is that of the log",
        severity="warning",
    )
