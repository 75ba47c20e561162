"""Cuts texts of guards and behaviours to pieces without losing the places of their characters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from whence.source import SourceText

__all__ = ["blanked", "cut", "made", "replaced", "statements", "stripped", "words"]

_HIDDEN = re.compile(
    r"""/\*.*?(?:\*/|\Z)|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.DOTALL
)
_WORD = re.compile(r"[^\W\d]\w*")
_OPENING, _CLOSING = "([{", ")]}"


def blanked(text: str) -> str:
    """The text with blanks for comments and for what stands in quotes; no character moves."""
    return _HIDDEN.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def words(text: str) -> Iterator[str]:
    """The names in a text, with repetitions."""
    return (match[0] for match in _WORD.finditer(blanked(text)))


def cut(text: SourceText, start: int, end: int, element: str | None = None) -> SourceText:
    """The characters from `start` up to `end`."""
    pieces = [(0, *text.position(start))]
    pieces += [(at - start, line, column) for at, line, column in text.pieces if start < at < end]
    what = text.element if element is None else element
    return SourceText(text.text[start:end], text.file, tuple(pieces), what)


def stripped(text: SourceText) -> SourceText:
    """Without the blanks around it."""
    whole = text.text
    start = len(whole) - len(whole.lstrip())
    return cut(text, start, max(len(whole.rstrip()), start))


def replaced(text: SourceText, changes: Iterable[tuple[int, int, str]]) -> SourceText:
    """With other characters instead of some stretches, which ascend and do not overlap. What is
    new stands where the old was."""
    result, at = "", 0
    pieces: list[tuple[int, int, int]] = []

    def keep(start: int, end: int) -> str:
        kept = cut(text, start, end)
        pieces.extend((len(result) + offset, line, column) for offset, line, column in kept.pieces)
        return kept.text

    for start, end, new in changes:
        if start > at:
            result += keep(at, start)
        pieces.append((len(result), *text.position(start)))
        result += new
        at = end
    if at < len(text.text) or not pieces:
        result += keep(at, len(text.text))
    return SourceText(result, text.file, tuple(pieces), text.element)


def made(before: str, text: SourceText, after: str, element: str) -> SourceText:
    """`text` between characters that are nowhere in the file, which get the place of `text`."""
    pieces = [(0, *text.position(0))] if before else []
    pieces += [(len(before) + at, line, column) for at, line, column in text.pieces]
    if after:
        end = len(before) + len(text.text)
        pieces.append((end, *text.position(len(text.text))))
    return SourceText(before + text.text + after, text.file, tuple(pieces), element)


def statements(text: SourceText) -> Iterator[SourceText]:
    """What stands between semicolons, without those in brackets; nothing for an empty one."""
    plain = blanked(text.text)
    depth = start = 0
    for at, character in enumerate(plain + ";"):
        if character in _OPENING:
            depth += 1
        elif character in _CLOSING:
            depth = max(depth - 1, 0)
        elif character == ";" and (depth == 0 or at == len(plain)):
            part = cut(text, start, at)
            if plain[start:at].strip():
                # A comment before or after the statement is no part of it.
                inner = plain[start:at]
                first = len(inner) - len(inner.lstrip())
                yield cut(part, first, len(inner.rstrip()))
            start = at + 1
