"""Which of the plain formats a file has, and its events."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import BinaryIO, Final

from whence.formats.can.lines import Item
from whence.formats.events import tables, text
from whence.model.events import BusEvent

__all__ = ["PLAIN_FORMATS", "plain_format_of"]

PLAIN_FORMATS: Final[dict[str, Callable[[BinaryIO, str], Iterator[BusEvent | Item]]]] = {
    "event lines": text.read_text,
    "event CSV": tables.read_csv,
    "event JSON lines": tables.read_jsonl,
}
_DIRECTIVE: Final = re.compile(r"%(?:unit|dates)\s")
_ANNOTATION: Final = re.compile(r"\s*[#!]")


def plain_format_of(head: bytes) -> str | None:
    """The plain format of a file that starts like this, if it is one."""
    lines = head.removeprefix(b"\xef\xbb\xbf").decode("latin-1").splitlines()
    lines = [line for line in lines if line.strip()]
    if not lines:
        return None
    first = lines[0].strip()
    if first.startswith("{") and '"kind"' in first:
        return "event JSON lines"
    columns = {name.strip() for name in first.split(",")}
    if {"first", "kind"} <= columns:
        return "event CSV"
    for line in lines[:200]:
        if _DIRECTIVE.match(line) or text.EVENT_LINE.match(line[:4000].strip()):
            return "event lines"
        if not _ANNOTATION.match(line):
            return None
    return None
