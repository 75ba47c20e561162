"""Frames and logs that several tests of the readers share."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

import pytest

from whence.formats.can.lines import Item, Note
from whence.model.events import Annotation, CanFrame
from whence.source import Diagnostic

SHARED = Path(__file__).resolve().parents[4] / "shared" / "data" / "can"
EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


def shared(name: str) -> Path:
    """A log made elsewhere; a clone of the project alone does not have it."""
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"the shared data is not there: {name}")
    return path


class Read:
    """What a reader makes of a log."""

    def __init__(self, items: Iterator[Item]) -> None:
        self.frames: list[CanFrame] = []
        self.notes: list[str] = []
        self.problems: list[Diagnostic] = []
        self.annotations: list[Annotation] = []
        for item in items:
            if isinstance(item, CanFrame):
                self.frames.append(item)
            elif isinstance(item, Note):
                self.notes.append(item.text)
            elif isinstance(item, Diagnostic):
                self.problems.append(item)
            else:
                self.annotations.append(item)

    def told(self) -> list[tuple[int | None, str, str, str]]:
        """Of each frame: time, channel, identifier, bytes."""
        return [
            (
                frame.time,
                frame.channel,
                f"{frame.ident:08X}" if frame.extended else f"{frame.ident:03X}",
                frame.data.hex().upper(),
            )
            for frame in self.frames
        ]


Reader = Callable[[BinaryIO, str], Iterator[Item]]


def read(reader: Reader, text: str | bytes) -> Read:
    data = text.encode("utf-8") if isinstance(text, str) else text
    return Read(reader(io.BytesIO(data), "the.log"))
