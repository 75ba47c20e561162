"""What is wrong in a file, collected: a reader reports everything, and not only the first."""

from __future__ import annotations

from dataclasses import dataclass, field

from whence.source import Diagnostic, InputError, Origin, UnsupportedError

__all__ = ["Problems"]

#: More than these help nobody.
_MOST = 50


@dataclass(slots=True)
class Problems:
    """`errors` are in the file's own terms, `refused` is what we do not support, `notes` are what
    the user should know although the file can be read."""

    errors: list[Diagnostic] = field(default_factory=list)
    refused: list[Diagnostic] = field(default_factory=list)
    notes: list[Diagnostic] = field(default_factory=list)

    def error(self, message: str, origin: Origin, hint: str = "", element: str = "") -> None:
        self._add(self.errors, Diagnostic(message, origin, hint, element))

    def refuse(self, construct: str, origin: Origin, hint: str = "", element: str = "") -> None:
        self._add(self.refused, Diagnostic(f"not supported: {construct}", origin, hint, element))

    def note(self, message: str, origin: Origin, hint: str = "") -> None:
        self._add(self.notes, Diagnostic(message, origin, hint, severity="note"))

    @staticmethod
    def _add(where: list[Diagnostic], what: Diagnostic) -> None:
        # A submachine that is used twice is read twice.
        if what not in where:
            where.append(what)

    def finish(self) -> tuple[Diagnostic, ...]:
        """The notes, or an exception with all that is wrong, in the order of the file."""
        found = sorted(
            (*self.errors, *self.refused),
            key=lambda one: (one.origin.file, one.origin.line, one.origin.column),
        )
        if not found:
            return tuple(self.notes)
        more = len(found) - _MOST
        shown = found[:_MOST]
        if more > 0:
            shown.append(Diagnostic(f"and {more} more", Origin(found[0].origin.file)))
        raise (InputError if self.errors else UnsupportedError)(shown)
