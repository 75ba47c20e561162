"""Logs packed with gzip. The standard library's reader loses what it has unpacked when the file
turns out to be cut off; this one hands it out first."""

from __future__ import annotations

import zlib
from typing import BinaryIO, Final

__all__ = ["DamagedError", "Unpacked"]

_CHUNK: Final = 1 << 16
#: zlib's number for "in a gzip envelope".
_GZIP: Final = 31


class DamagedError(Exception):
    """The packed data ends too early or is no such data; all before it was handed out."""


class Unpacked:
    """What was packed, as a stream that can be read."""

    def __init__(self, stream: BinaryIO) -> None:
        self.stream = stream
        self.member = zlib.decompressobj(_GZIP)
        self.packed = b""
        self.ready = bytearray()
        self.ended: str | None = None

    def read(self, count: int) -> bytes:
        while len(self.ready) < count and self.ended is None:
            self._more(count - len(self.ready))
        if not self.ready and self.ended:
            raise DamagedError(self.ended)
        data = bytes(self.ready[:count])
        del self.ready[:count]
        return data

    def _more(self, count: int) -> None:
        """Unpacks something, or sets `ended`: to why the data is damaged, or to nothing."""
        if self.member.eof:
            self.packed = self.member.unused_data or self.packed
            if not self._filled() or not self.packed.lstrip(b"\0"):
                self.ended = ""  # members may be padded with zeros
                return
            self.member = zlib.decompressobj(_GZIP)
        elif not self._filled():
            self.ended = "ends too early"
            return
        try:
            self.ready += self.member.decompress(self.packed, max(count, 1))
        except zlib.error:
            self.ended = "is damaged"
            return
        self.packed = self.member.unconsumed_tail

    def _filled(self) -> bool:
        self.packed = self.packed or self.stream.read(_CHUNK)
        return bool(self.packed)
