"""Vector's ASC logs.

The header says how numbers are written (`base hex` or `base dec`) and what dates are (`timestamps
absolute`: since the start of the measurement; `relative`: since the event before). Besides frames
there are statistics, states of controllers, messages of other protocols: these are counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO, Final

from whence.formats.can.lines import Item, Note, annotation, broken, nanoseconds, shown, stretches
from whence.model.events import CanFrame, Direction, FrameKind

__all__ = ["FRAME_LINE", "HEADER_LINE", "read_asc"]

FRAME_LINE: Final = re.compile(
    r"\s*(\d{1,12})\.(\d{1,12})\s+(\d+)\s+([0-9A-Fa-f]{1,8})(x?)\s+(Rx|Tx|TxRq)\s+d\s+"
    r"([0-9A-Fa-f])((?:\s+[0-9A-Fa-f]{2}(?!\S))*)",
    re.ASCII,
)
HEADER_LINE: Final = re.compile(
    r"\s*(?:date\s|base\s+(?:hex|dec)|(?:no\s+)?internal\s+events|(?:begin|end)\s+triggerblock)",
    re.IGNORECASE | re.ASCII,
)
_BASE: Final = re.compile(
    r"\s*base\s+(hex|dec)(?:\s+timestamps\s+(absolute|relative))?", re.IGNORECASE | re.ASCII
)
_EVENT: Final = re.compile(r"\s*(\d{1,12})\.(\d{1,12})\s+(.*)", re.ASCII)
#: A frame of this bus, or what starts as one.
_FRAME_START: Final = re.compile(r"(\d+)\s+(\S+)\s+(Rx|Tx|TxRq)\s+([dr])\b\s*(.*)", re.ASCII)
_FD_START: Final = re.compile(r"CANFD\s+(\d+)\s+(Rx|Tx|TxRq)\s+(.*)", re.ASCII)
_ERROR_START: Final = re.compile(r"(\d+)\s+ErrorFrame\b", re.ASCII)
#: Starts as the event of a channel (`1 7E0x …`), and not as that of anything else.
_LIKE_A_FRAME: Final = re.compile(r"\d+\s+[0-9A-Fa-f]{1,8}x?(?:\s|\Z)", re.ASCII)
_COMMENT_EVENT: Final = re.compile(r"(?:TFS:|Comment:|log\s+trigger\s+event\b|//)", re.IGNORECASE)

_DIRECTIONS: Final[dict[str, Direction]] = {"Rx": "rx", "Tx": "tx", "TxRq": "tx"}
#: In the flags of a CANFD event: remote frame, and that the frame is one of CAN FD.
_RTR, _EDL = 0x10, 0x1000
_LENGTHS: Final = (*range(9), 12, 16, 20, 24, 32, 48, 64)


def read_asc(stream: BinaryIO, file: str) -> Iterator[Item]:
    reader = _Asc(file)
    match, fromhex, frame = FRAME_LINE.match, bytes.fromhex, CanFrame._make
    known: dict[tuple[str, str], int] = {}
    for first, lines in stretches(stream):
        for number, line in enumerate(lines, first):
            found = match(line) if reader.plain else None
            if found is None:
                yield from reader.line(number, line)
                continue
            seconds, fraction, channel, ident_text, x, way, length, data_text = found.groups()
            ident = known.get((ident_text, x))
            if ident is None:
                ident = known[ident_text, x] = int(ident_text, 16)
            data = fromhex(data_text)
            if ident > (0x1FFFFFFF if x else 0x7FF) or len(data) != min(int(length, 16), 8):
                yield from reader.line(number, line)
                continue
            if len(fraction) == 6:
                time = int(seconds + fraction) * 1000
            else:
                time = nanoseconds(seconds, fraction)
            way_known = _DIRECTIONS[way]
            yield frame((time, channel, ident, bool(x), data, False, way_known, "data", number))
    yield from reader.end()


class _Asc:
    """Reads the lines that the fast road leaves over."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.base = 16
        self.differences = False
        #: Whether a line that is a frame in the usual form can be read without looking further.
        self.plain = True
        self.clock = 0
        self.told = False
        self.day = ""
        self.others = 0

    def line(self, number: int, line: str) -> Iterator[Item]:
        found = _EVENT.match(line)
        if found is None:
            yield from self._header(number, line)
            return
        yield from self._tell()
        time = nanoseconds(found[1], found[2])
        if self.differences:
            self.clock += time
            time = self.clock
        item = self._event(number, line, time, found[3])
        if item is not None:
            yield item

    def end(self) -> Iterator[Item]:
        yield from self._tell()
        if self.others:
            lines = "line is" if self.others == 1 else "lines are"
            yield Note(f"{self.others} {lines} about other things than CAN frames")

    # ------------------------------------------------------------------------------------ header

    def _header(self, number: int, line: str) -> Iterator[Item]:
        text = line.strip()
        based = _BASE.match(line)
        if not text:
            return
        if based is not None:
            self.base = 10 if based[1].lower() == "dec" else 16
            self.differences = (based[2] or "").lower() == "relative"
            self.plain = self.base == 16 and not self.differences
        elif text.startswith("//"):
            yield annotation(self.file, number, text.lstrip("/ "))
        elif text.lower().startswith("date "):
            self.day = text[5:]
        elif not HEADER_LINE.match(line):
            yield broken(self.file, number, line, "not a line of an ASC log")

    def _tell(self) -> Iterator[Item]:
        if self.told:
            return
        self.told = True
        day = f", {shown(self.day)}" if self.day else ""
        text = f"dates are relative: they count from the start of the measurement{day}"
        if self.differences:
            text += "; in the log they are differences to the event before, summed up here"
        yield Note(text)

    # ------------------------------------------------------------------------------------ events

    def _event(self, number: int, line: str, time: int, rest: str) -> Item | None:
        found = _FRAME_START.match(rest)
        if found is not None:
            return self._classic(number, line, time, *found.groups())
        found = _FD_START.match(rest)
        if found is not None:
            return self._fd(number, line, time, *found.groups())
        found = _ERROR_START.match(rest)
        if found is not None:
            return CanFrame(time, found[1], 0, False, b"", False, "", "error", number)
        if _COMMENT_EVENT.match(rest):
            return annotation(self.file, number, rest.lstrip("/ "), time)
        if _LIKE_A_FRAME.match(rest) or rest.startswith("CANFD"):
            return broken(self.file, number, line, "not a whole frame")
        self.others += 1
        return None

    def _classic(
        self, number: int, line: str, time: int, channel: str, ident: str, way: str, kind: str,
        rest: str,
    ) -> Item:  # fmt: skip
        address = self._ident(ident)
        if address is None:
            return broken(self.file, number, line, f"`{shown(ident)}` is no identifier")
        direction = _DIRECTIONS[way]
        if kind == "r":
            return CanFrame(time, channel, *address, b"", False, direction, "remote", number)
        words = rest.split()
        length = self._number(words[0], 15) if words else None
        data = None if length is None else self._bytes(words[1 : 1 + min(length, 8)])
        if length is None or data is None or len(data) != min(length, 8):
            return broken(self.file, number, line, "not the bytes that the length announces")
        return CanFrame(time, channel, *address, data, False, direction, "data", number)

    def _fd(self, number: int, line: str, time: int, channel: str, way: str, rest: str) -> Item:
        words = rest.split()
        direction = _DIRECTIONS[way]
        if words and words[0].lower() == "errorframe":
            return CanFrame(time, channel, 0, False, b"", True, direction, "error", number)
        address = self._ident(words[0]) if words else None
        if address is None:
            return broken(self.file, number, line, "no identifier")
        # A message that a database knows has its name here; names do not start with a digit.
        words = words[1 if len(words) > 1 and words[1][:1].isdigit() else 2 :]
        length = int(words[3]) if len(words) > 3 and words[3].isdecimal() else -1
        data = self._bytes(words[4 : 4 + length]) if length in _LENGTHS else None
        if data is None or len(data) != length:
            return broken(self.file, number, line, "not the bytes that the length announces")
        # Behind the bytes: duration, bits, flags, ...; python-can's and old files have no flags.
        after = words[4 + length :]
        flags = int(after[2], 16) if len(after) > 2 and _is_hex(after[2]) else _EDL
        fd = length > 8 or flags == 0 or bool(flags & _EDL)
        remote = bool(flags & _RTR) or (length == 0 and words[2] != "0")
        kind: FrameKind = "remote" if remote else "data"
        return CanFrame(time, channel, *address, data, fd, direction, kind, number)

    def _ident(self, text: str) -> tuple[int, bool] | None:
        extended = text[-1:] in ("x", "X")
        value = self._number(text[:-1] if extended else text, 0x1FFFFFFF if extended else 0x7FF)
        return None if value is None else (value, extended)

    def _bytes(self, words: list[str]) -> bytes | None:
        values = [self._number(word, 255) for word in words]
        return None if None in values else bytes(value for value in values if value is not None)

    def _number(self, text: str, most: int) -> int | None:
        good = _is_hex(text) if self.base == 16 else text.isascii() and text.isdecimal()
        if not good or len(text) > 10:
            return None
        value = int(text, self.base)
        return value if value <= most else None


def _is_hex(text: str) -> bool:
    return bool(text) and len(text) <= 16 and all(c in "0123456789abcdefABCDEF" for c in text)
