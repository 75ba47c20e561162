"""PEAK's TRC logs, versions 1.0 to 2.1, and what CarBusAnalyzer writes under the same suffix.

PEAK's files say their version in `;$FILEVERSION=` (1.0 says none) and, from 2.0 on, their columns
in `;$COLUMNS=`. Dates are milliseconds since the start of the log.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import BinaryIO, Final

from whence.formats.can.lines import (
    Item,
    Note,
    broken,
    decimal_nanoseconds,
    shown,
    stretches,
)
from whence.model.events import CanFrame, Direction, FrameKind
from whence.source import Diagnostic, Origin

__all__ = ["CARBUS_LINE", "TRC_LINE", "read_carbus", "read_trc"]

_MILLISECOND: Final = 1_000_000
_LENGTHS: Final = (*range(9), 12, 16, 20, 24, 32, 48, 64)
TRC_LINE: Final = re.compile(r"\s*\d+\)?\s+\d+(?:\.\d+)?\s+\S", re.ASCII)
_HEX: Final = re.compile(r"[0-9A-Fa-f]{1,8}", re.ASCII)
_BYTES: Final = re.compile(r"(?:[0-9A-Fa-f]{2})*", re.ASCII)

#: The columns of the versions that do not list theirs, by the letters of version 2.
_COLUMNS: Final[Mapping[str, Sequence[str]]] = {
    "1.0": "NOILD",
    "1.1": "NOdILD",
    "1.2": "NOBdILD",
    "1.3": "NOBdIRLD",
}
_DIRECTIONS: Final[dict[str, Direction]] = {"Rx": "rx", "Tx": "tx"}
#: The types of version 2: which are frames, and which of them of CAN FD.
_FRAMES: Final[dict[str, tuple[FrameKind, bool]]] = {
    "DT": ("data", False),
    "FD": ("data", True),
    "FB": ("data", True),
    "FE": ("data", True),
    "BI": ("data", True),
    "RR": ("remote", False),
    "ER": ("error", False),
}
#: What stands in place of the direction in version 1 in lines that are no frames.
_STATES: Final = ("Warng", "Error", "Event", "Stat")
#: The types of version 2 that are no frames: states of the hardware, counters, events.
_EVENTS: Final = ("ST", "EC", "EV")


@dataclass(frozen=True, slots=True)
class _Columns:
    """Where the columns are in a line; the last one goes to the end of the line."""

    letters: tuple[str, ...]

    def of(self, line: str) -> dict[str, str] | None:
        words = line.replace(")", " ", 1).split(maxsplit=len(self.letters) - 1)
        if len(words) < len(self.letters) - 1:
            return None
        return dict(zip(self.letters, [*words, ""], strict=False))


def read_trc(stream: BinaryIO, file: str) -> Iterator[Item]:
    columns = _Columns(tuple(_COLUMNS["1.0"]))
    start = ""
    told = False
    for first, lines in stretches(stream):
        for number, line in enumerate(lines, first):
            text = line.strip()
            if text.startswith(";"):
                name, equals, value = text[1:].partition("=")
                if equals and name == "$FILEVERSION":
                    version = value.strip()
                    if version[:2] == "1.":
                        if version not in _COLUMNS:
                            yield _unknown_version(file, number, version)
                            return
                        columns = _Columns(tuple(_COLUMNS[version]))
                    elif version not in ("2.0", "2.1"):
                        yield _unknown_version(file, number, version)
                        return
                elif equals and name == "$COLUMNS":
                    columns = _Columns(tuple(word.strip() for word in value.split(",")))
                elif equals and name == "$STARTTIME":
                    start = value.strip()
                continue
            if not text:
                continue
            if not told:
                told = True
                since = f" ({shown(start)} days after 1899-12-30)" if start else ""
                yield Note(f"dates are relative: they count from the start of the log{since}")
            item = _frame(columns, file, number, text)
            if item is not None:
                yield item


def _unknown_version(file: str, number: int, version: str) -> Diagnostic:
    return Diagnostic(
        f"TRC version `{shown(version)}` is not supported",
        Origin(file, number, 1),
        "versions 1.0 to 1.3, 2.0 and 2.1 are",
    )


def _frame(columns: _Columns, file: str, number: int, line: str) -> Item | None:
    words = columns.of(line)
    if words is None or "I" not in words or "O" not in words:
        return broken(file, number, line, "fewer columns than the log has")
    kind: FrameKind
    kind, fd = "data", False
    if "T" in words:
        if words["T"] in _EVENTS:
            return None
        if words["T"] not in _FRAMES:
            return broken(file, number, line, f"unknown type `{shown(words['T'])}`")
        kind, fd = _FRAMES[words["T"]]
    way = words.get("d", "Rx")
    if "T" not in words and (way in _STATES or words["I"] == "FFFFFFFF"):
        return None
    time = decimal_nanoseconds(words["O"], _MILLISECOND)
    channel = words.get("B", "1")
    if time is not None and kind == "error":
        return CanFrame(time, channel, 0, False, b"", fd, "", "error", number)
    if time is None or way not in _DIRECTIONS or not _HEX.fullmatch(words["I"]):
        return broken(file, number, line, "not a frame")
    ident, extended = int(words["I"], 16), len(words["I"]) > 4
    if ident > (0x1FFFFFFF if extended else 0x7FF):
        return broken(file, number, line, "no identifier has so many bits")
    listed = "".join(words.get("D", "").split())
    if listed.upper().startswith("RTR"):
        kind, listed = "remote", ""
    length = _length(words, fd)
    if kind == "remote":
        listed = ""
    elif length is None or not _BYTES.fullmatch(listed) or len(listed) != 2 * length:
        return broken(file, number, line, "not the bytes that the length announces")
    data = bytes.fromhex(listed)
    return CanFrame(
        time, channel, ident, extended, data, fd, _DIRECTIONS[way], kind, number
    )  # fmt: skip


def _length(words: Mapping[str, str], fd: bool) -> int | None:
    """From the length in bytes (`l`) or the length code (`L`)."""
    text = words.get("l", words.get("L", ""))
    if not text.isascii() or not text.isdecimal() or len(text) > 2:
        return None
    value = int(text)
    if "l" not in words and fd:
        return _LENGTHS[value] if value < len(_LENGTHS) else None
    # In classic CAN, codes above 8 mean 8 bytes.
    return value if fd else min(value, 8)


# -------------------------------------------------------------------------------- CarBusAnalyzer

CARBUS_LINE: Final = re.compile(
    r"(\d{1,12}),(\d{1,9})\t(\d+)\t[0-9A-Fa-f]{4}\t([0-9A-Fa-f]{1,8})\t(\d)\t"
    r"((?:[0-9A-Fa-f]{2} ?)*)(?:\t.*)?\Z",
    re.ASCII,
)


def read_carbus(stream: BinaryIO, file: str) -> Iterator[Item]:
    """CarBusAnalyzer: tabs, decimal commas, CR at the ends of lines."""
    yield Note("dates are relative: they count from the start of the log")
    for first, lines in stretches(stream):
        for number, line in enumerate(lines, first):
            found = CARBUS_LINE.match(line)
            if found is None:
                if line.lstrip().startswith("@"):
                    continue  # the header: counters, and how long the log is
                if line.strip():
                    yield broken(file, number, line, "not a line of CarBusAnalyzer")
                continue
            seconds, fraction, channel, ident_text, length, listed = found.groups()
            time = decimal_nanoseconds(f"{seconds}.{fraction}")
            ident, data = int(ident_text, 16), bytes.fromhex(listed)
            extended = len(ident_text) > 3
            if ident > (0x1FFFFFFF if extended else 0x7FF):
                yield broken(file, number, line, "no identifier has so many bits")
            elif len(data) != int(length):
                yield broken(file, number, line, "not the bytes that the length announces")
            else:
                yield CanFrame(time, channel, ident, extended, data, record=number)
