"""BUSMASTER's logs.

The header says whether numbers are hexadecimal (`***HEX***`, `***DEC***`) and what dates are: the
time of day (`***SYSTEM MODE***`), since the start (`***ABSOLUTE MODE***`) or since the frame before
(`***RELATIVE MODE***`). Old versions write milliseconds (`22:20:15:2`), new ones four digits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO, Final

from whence.formats.can.lines import Item, Note, broken, shown, stretches
from whence.model.events import NANO, CanFrame, Direction

__all__ = ["BUSMASTER_HEADER", "read_busmaster"]

BUSMASTER_HEADER: Final = re.compile(r"\*\*\*BUSMASTER\b")
_LINE: Final = re.compile(
    r"(\d{1,6}):(\d{1,2}):(\d{1,2}):(\d{1,4})\s+(Rx|Tx)\s+(\S+)\s+((?:0x)?[0-9A-Fa-f]{1,10})\s+"
    r"([sx])(r?)\s+(\d{1,2})((?:\s+[0-9A-Fa-f]{1,3})*)\s*\Z",
    re.ASCII,
)
_FD_LINE: Final = re.compile(
    r"(\d{1,6}):(\d{1,2}):(\d{1,2}):(\d{1,4})\s+(Rx|Tx)\s+(\S+)\s+((?:0x)?[0-9A-Fa-f]{1,10})\s+"
    r"([sx])(?:-fd|fd)()\s+(\d{1,2})((?:\s+[0-9A-Fa-f]{1,3})*)\s*\Z",
    re.ASCII | re.IGNORECASE,
)
_DIRECTIONS: Final[dict[str, Direction]] = {"Rx": "rx", "Tx": "tx"}
_DAY: Final = 86_400 * NANO


def read_busmaster(stream: BinaryIO, file: str) -> Iterator[Item]:
    reader = _BusMaster(file)
    for first, lines in stretches(stream):
        for number, line in enumerate(lines, first):
            yield from reader.line(number, line)


class _BusMaster:
    def __init__(self, file: str) -> None:
        self.file = file
        self.base = 16
        self.mode = "SYSTEM MODE"
        self.start = ""
        self.told = False
        self.clock = 0
        #: The time of day starts again at midnight.
        self.days = 0
        self.before = 0

    def line(self, number: int, line: str) -> Iterator[Item]:
        text = line.strip()
        if not text:
            return
        if text.startswith("***"):
            self._header(text.strip("*"))
            return
        found = _LINE.match(line) or _FD_LINE.match(line)
        if found is None:
            yield broken(self.file, number, line, "not a line of a BUSMASTER log")
            return
        if not self.told:
            self.told = True
            yield self._note()
        hours, minutes, seconds, small, way, channel, ident_text, form, remote, length, listed = (
            found.groups()
        )
        fd = found.re is _FD_LINE
        time = self._time(int(hours), int(minutes), int(seconds), small)
        try:
            ident = int(ident_text, self.base)
            data = bytes(int(word, self.base) for word in listed.split())
        except ValueError:
            kind = "hexadecimal" if self.base == 16 else "decimal"
            yield broken(self.file, number, line, f"a number that is not {kind}, or no byte")
            return
        extended = form.lower() == "x"
        if ident > (0x1FFFFFFF if extended else 0x7FF):
            yield broken(self.file, number, line, "no identifier has so many bits")
        elif not remote and (len(data) != int(length) or len(data) > (64 if fd else 8)):
            yield broken(self.file, number, line, "not the bytes that the length announces")
        else:
            yield CanFrame(
                time, channel, ident, extended, b"" if remote else data, fd, _DIRECTIONS[way],
                "remote" if remote else "data", number,
            )  # fmt: skip

    def _header(self, text: str) -> None:
        if text in ("HEX", "DEC"):
            self.base = 16 if text == "HEX" else 10
        elif text in ("SYSTEM MODE", "ABSOLUTE MODE", "RELATIVE MODE"):
            self.mode, self.told = text, False
        elif text.startswith("START DATE AND TIME"):
            self.start = text.removeprefix("START DATE AND TIME").strip()

    def _note(self) -> Note:
        start = f", started {shown(self.start)}" if self.start else ""
        if self.mode == "SYSTEM MODE":
            return Note(f"dates are relative: they count from midnight{start}")
        if self.mode == "ABSOLUTE MODE":
            return Note(f"dates are relative: they count from the start of the log{start}")
        return Note(f"dates are relative: differences to the frame before, summed up{start}")

    def _time(self, hours: int, minutes: int, seconds: int, small: str) -> int:
        unit = 100_000 if len(small) == 4 else 1_000_000
        time = ((hours * 60 + minutes) * 60 + seconds) * NANO + int(small) * unit
        if self.mode == "RELATIVE MODE":
            self.clock += time
            return self.clock
        if self.mode == "SYSTEM MODE":
            if time < self.before - _DAY // 2:
                self.days += 1
            self.before = time
            time += self.days * _DAY
        return time
