"""Where things stand in the user's files, and how we speak about what is wrong there.

Every element of a model carries an :class:`Origin`, so that each message and each result can
point at the characters that it is about.  Texts cut out of a larger file (a guard inside an XML
label, say) are :class:`SourceText`: they know which file position each of their characters has.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = [
    "Diagnostic",
    "InputError",
    "Origin",
    "SourceText",
    "UnsupportedError",
    "UsageError",
    "WhenceError",
]


@dataclass(frozen=True, slots=True)
class Origin:
    """A stretch of a file. Lines and columns count from 1; 0 means "not known"."""

    file: str = ""
    line: int = 0
    column: int = 0
    end_line: int = 0
    end_column: int = 0

    def __str__(self) -> str:
        if not self.line:
            return self.file
        return f"{self.file}:{self.line}:{self.column}"

    def to(self, other: Origin) -> Origin:
        """The stretch from the start of this one to the end of `other`."""
        return Origin(self.file, self.line, self.column, other.end_line, other.end_column)


NOWHERE = Origin()


@dataclass(frozen=True, slots=True)
class SourceText:
    """A text together with the place in its file where each piece of it stands.

    `pieces` holds (offset in `text`, line, column) of every stretch that is contiguous in the
    file, ascending; within a stretch, columns and lines advance as in `text`.  A text that is a
    whole file has the single piece (0, 1, 1).  `element` says in words what the text is.
    """

    text: str
    file: str = ""
    pieces: tuple[tuple[int, int, int], ...] = ((0, 1, 1),)
    element: str = ""

    def position(self, offset: int) -> tuple[int, int]:
        """(line, column) in the file of the character at `offset`."""
        if not self.pieces:
            return (0, 0)
        index = max(0, bisect_right(self.pieces, offset, key=lambda piece: piece[0]) - 1)
        start, line, column = self.pieces[index]
        between = self.text[start:offset]
        newlines = between.count("\n")
        if newlines:
            return line + newlines, len(between) - between.rfind("\n")
        return line, column + len(between)

    def origin(self, start: int, end: int | None = None) -> Origin:
        """The origin of the characters from `start` up to `end` (one character by default)."""
        line, column = self.position(start)
        stop = start + 1 if end is None else max(end, start)
        # The end of a piece is the position after its last character, not the next piece's start.
        if stop > start:
            end_line, end_column = self.position(stop - 1)
            end_column += 1
        else:
            end_line, end_column = line, column
        return Origin(self.file, line, column, end_line, end_column)


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One thing that is wrong: what, where, in which element, and what to do about it."""

    message: str
    origin: Origin = NOWHERE
    hint: str = ""
    element: str = ""
    severity: str = "error"

    def render(self) -> str:
        place = f"{self.origin}: " if str(self.origin) else ""
        lines = [f"{place}{self.severity}: {self.message}"]
        if self.element:
            lines.append(f"  in {self.element}")
        if self.hint:
            lines.append(f"  hint: {self.hint}")
        return "\n".join(lines)


class WhenceError(Exception):
    """The root of everything that we raise on purpose; it ends a command with exit status 2."""

    def __init__(self, diagnostics: Iterable[Diagnostic] | Diagnostic | str) -> None:
        if isinstance(diagnostics, str):
            diagnostics = Diagnostic(diagnostics)
        if isinstance(diagnostics, Diagnostic):
            diagnostics = (diagnostics,)
        self.diagnostics: tuple[Diagnostic, ...] = tuple(diagnostics)
        super().__init__(self.render())

    def render(self) -> str:
        return "\n".join(diagnostic.render() for diagnostic in self.diagnostics)


class InputError(WhenceError):
    """The user's input is not what it should be: a syntax error, an unknown name, a wrong type."""


class UnsupportedError(InputError):
    """The input is legal elsewhere, but uses a construct that we refuse by name."""


class UsageError(WhenceError):
    """The command was called in a way that makes no sense."""
