"""What `candump` writes: its log files (`-l`, `-L`) and what it prints on the console.

A log line is `(1436509052.249713) can0 7E0#021003`, with `##` and a flag digit for CAN FD and
perhaps `R` or `T` behind it. A console line is `can0  7E0   [8]  02 10 03 00 …`, with the date only
if candump was asked for one (`-t a`, `-t A`, `-t d`, `-t z`), and `RX`/`TX` before the identifier
with `-x`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import BinaryIO, Final, cast

from whence.formats.can.lines import Item, Note, annotation, broken, nanoseconds, stretches
from whence.model.events import NANO, CanFrame, Direction
from whence.source import Diagnostic, Origin

__all__ = ["CONSOLE_LINE", "LOG_LINE", "read_console", "read_log"]

_ERROR_FLAG: Final = 0x20000000
_IDENT: Final = 0x1FFFFFFF

LOG_LINE: Final = re.compile(
    r"\((\d{1,12})\.(\d{1,12})\) +(\S+) +([0-9A-Fa-f]{8}|[0-9A-Fa-f]{3})"
    r"#((?:[0-9A-Fa-f]{2})*)(?:_[9A-Fa-f])?(?: +([RT]))?[ \t]*\Z",
    re.ASCII,
)
_LOG_OTHER: Final = re.compile(
    r"\((\d{1,12})\.(\d{1,12})\) +(\S+) +([0-9A-Fa-f]{8}|[0-9A-Fa-f]{3})"
    r"#(?:(?P<fd>#[0-9A-Fa-f])(?P<data>(?:[0-9A-Fa-f]{2})*)"
    r"|(?P<remote>[Rr])[0-9A-Fa-f]?(?:_[0-9A-Fa-f])?"
    r"|(?P<dotted>[0-9A-Fa-f]{2}(?:\.[0-9A-Fa-f]{2})+))(?: +(?P<direction>[RT]))?[ \t]*\Z",
    re.ASCII,
)
_COMMENT: Final = ("#", ";", "//")
_DIRECTIONS: Final[dict[str | None, Direction]] = {
    "R": "rx",
    "T": "tx",
    "RX": "rx",
    "TX": "tx",
    None: "",
}


def read_log(stream: BinaryIO, file: str) -> Iterator[Item]:
    """What `candump -l` wrote."""
    #: What identifiers are, and their form: few different ones come again and again.
    known: dict[str, tuple[int, bool, bool]] = {}
    match, fromhex, frame = LOG_LINE.match, bytes.fromhex, CanFrame._make
    told = False
    tail = _Tail(stream)
    for first, lines in stretches(cast(BinaryIO, tail)):
        for number, line in enumerate(lines, first):
            found = match(line)
            if found is None:
                item = _other_log_line(file, number, line)
                if item is not None:
                    yield item
                continue
            seconds, fraction, channel, ident_text, data, way = found.groups()
            ident = known.get(ident_text)
            if ident is None:
                ident = known[ident_text] = _ident(ident_text)
            if len(fraction) == 6:
                time = int(seconds + fraction) * 1000
            else:
                time = nanoseconds(seconds, fraction)
            if not told:
                told = True
                yield _since(time)
            if len(data) > 16:
                yield broken(file, number, line, "more than 8 bytes in a frame")
                continue
            yield frame(
                (
                    time,
                    channel,
                    ident[0],
                    ident[1],
                    fromhex(data),
                    False,
                    _DIRECTIONS[way],
                    "error" if ident[2] else "data",
                    number,
                )
            )
    if tail.last and tail.last not in b"\r\n":
        # The line does not say how many bytes it has: what is there can look like all of it.
        yield Diagnostic(
            "the last line has no end: the log may be cut off, and the last frame with it",
            Origin(file),
            severity="warning",
        )


class _Tail:
    """Remembers how the stream ended."""

    def __init__(self, stream: BinaryIO) -> None:
        self.stream = stream
        self.last = b""

    def read(self, count: int) -> bytes:
        data = self.stream.read(count)
        self.last = data[-1:] or self.last
        return data


def _since(time: int) -> Note:
    """What the first date tells about all of them."""
    if time >= _ABSOLUTE:
        return Note("dates count from 1970-01-01, UTC")
    return Note("dates are relative: they count from some start that the log does not name")


def _ident(text: str) -> tuple[int, bool, bool]:
    """The identifier, whether it is extended, and whether the frame tells of a bus error."""
    value = int(text, 16)
    error = len(text) == 8 and bool(value & _ERROR_FLAG)
    return value & _IDENT, len(text) == 8 and not error, error


def _other_log_line(file: str, number: int, line: str) -> Item | None:
    found = _LOG_OTHER.match(line)
    if found is None:
        return _no_frame(file, number, line, "not a line of a candump log")
    ident, extended, error = _ident(found[4])
    data = bytes.fromhex((found["data"] or found["dotted"] or "").replace(".", ""))
    limit = 64 if found["fd"] else 8
    if len(data) > limit:
        return broken(file, number, line, f"more than {limit} bytes in a frame")
    return CanFrame(
        nanoseconds(found[1], found[2]),
        found[3],
        ident,
        extended,
        data,
        found["fd"] is not None,
        _DIRECTIONS[found["direction"]],
        "error" if error else "remote" if found["remote"] else "data",
        number,
    )


def _no_frame(file: str, number: int, line: str, why: str) -> Item | None:
    text = line.strip()
    if not text:
        return None
    if text.startswith(_COMMENT):
        return annotation(file, number, text.lstrip("#;/ "))
    return broken(file, number, line, why)


# -------------------------------------------------------------------------------------- console

CONSOLE_LINE: Final = re.compile(
    r"\s*(?:\((?P<date>[^()]{1,40})\)\s+)?(?P<channel>\S+)\s+(?:(?P<way>RX|TX)\s+\S+\s+\S+\s+)?"
    r"(?P<ident>[0-9A-Fa-f]{8}|[0-9A-Fa-f]{3})\s+"
    r"\[(?P<length>\d{1,2})\](?P<rest>(?:\s.*)?)\Z",
    re.ASCII,
)
_BYTES: Final = re.compile(r"((?:\s+[0-9A-Fa-f]{2})*)(?:\s+(?:'.*'|ERRORFRAME))?\s*\Z", re.ASCII)
_COLOUR: Final = re.compile(r"\x1b\[[0-9;]*m")
_SECONDS: Final = re.compile(r"(\d{1,12})\.(\d{1,12})", re.ASCII)
_DAY: Final = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\.(\d{1,12})", re.ASCII)
#: Seconds since 1970 have so many digits since 2001; those since the start of a log never do.
_ABSOLUTE: Final = NANO * NANO
#: The first dates tell whether they are differences.
_SAMPLE: Final = 500


def read_console(stream: BinaryIO, file: str) -> Iterator[Item]:
    """What candump prints."""
    reader = _Console(file)
    for first, lines in stretches(stream):
        for number, line in enumerate(lines, first):
            yield from reader.line(number, line)
    yield from reader.end()


class _Console:
    """Holds the first frames back until it is known what their dates are."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.held: list[CanFrame | Item] | None = []
        self.dates: list[int] = []
        self.differences = False
        self.clock = 0

    def line(self, number: int, line: str) -> Iterator[Item]:
        item = self._read(number, line)
        if item is None:
            return
        if self.held is None:
            yield self._dated(item)
            return
        self.held.append(item)
        if isinstance(item, CanFrame) and item.time is not None:
            self.dates.append(item.time)
        if len(self.held) >= _SAMPLE:
            yield from self.end()

    def end(self) -> Iterator[Item]:
        """Tells what the dates are, then what was held back."""
        if self.held is None:
            return
        held, self.held = self.held, None
        frames = [item for item in held if isinstance(item, CanFrame)]
        if frames:
            yield Note(self._judge(len(frames)))
        for item in held:
            yield self._dated(item)

    def _judge(self, frames: int) -> str:
        if not self.dates:
            return "the log has no dates: only the order of its frames is known"
        if self.dates[0] >= _ABSOLUTE:
            return _since(self.dates[0]).text
        self.differences = _are_differences(self.dates)
        if self.differences:
            return "dates are relative: differences to the frame before, summed up (candump -t d)"
        return "dates are relative: they count from the first frame (candump -t z)"

    def _dated(self, item: Item) -> Item:
        if not self.differences or not isinstance(item, CanFrame) or item.time is None:
            return item
        self.clock += item.time
        return item._replace(time=self.clock)

    def _read(self, number: int, line: str) -> Item | None:
        if "\x1b" in line:
            line = _COLOUR.sub("", line)
        found = CONSOLE_LINE.match(line)
        if found is None:
            return _no_frame(self.file, number, line, "not a line that candump prints")
        date, rest = found["date"], found["rest"]
        time = None if date is None else _date(date)
        if date is not None and time is None:
            return broken(self.file, number, line, "a date that candump does not print")
        ident, extended, error = _ident(found["ident"])
        length = int(found["length"])
        fd = len(found["length"]) == 2
        remote = rest.strip().startswith("remote request")
        data = b""
        if not remote:
            listed = _BYTES.match(rest)
            data = bytes.fromhex(listed[1]) if listed else b""
            if listed is None or len(data) != length:
                return broken(self.file, number, line, f"not the {length} bytes that it announces")
        if len(data) > (64 if fd else 8):
            return broken(self.file, number, line, "too many bytes in a frame")
        return CanFrame(
            time,
            found["channel"],
            ident,
            extended,
            data,
            fd,
            _DIRECTIONS[found["way"]],
            "error" if error else "remote" if remote else "data",
            number,
        )


def _date(text: str) -> int | None:
    found = _SECONDS.fullmatch(text.strip())
    if found is not None:
        return nanoseconds(found[1], found[2])
    found = _DAY.fullmatch(text.strip())
    if found is None:
        return None
    try:
        # The day as printed: candump uses the local time, which the log does not name.
        day = datetime.strptime(found[1], "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC)
    except ValueError:
        return None
    since = (day - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(seconds=1)
    return nanoseconds(str(max(since, 0)), found[2])


def _are_differences(dates: Sequence[int]) -> bool:
    """Dates since the start never fall; differences do, half of the time."""
    falls = sum(after < before for before, after in pairwise(dates))
    return 10 * falls > len(dates)
