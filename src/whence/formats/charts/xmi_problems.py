"""What is wrong in a file, collected: a reader reports everything, and not only the first."""

from __future__ import annotations

from dataclasses import dataclass, field

from whence.source import Diagnostic, InputError, Origin, UnsupportedError

__all__ = ["Problems"]

#: More than these help nobody.
_MOST = 50
_REFUSED = "not supported: "


@dataclass(slots=True)
class Problems:
    """`errors` are in the file's own terms, `refused` is what we do not support, `notes` are what
    the user should know although the file can be read."""

    errors: dict[Diagnostic, None] = field(default_factory=dict)
    refused: dict[Diagnostic, None] = field(default_factory=dict)
    notes: dict[Diagnostic, None] = field(default_factory=dict)

    def error(self, message: str, origin: Origin, hint: str = "", element: str = "") -> None:
        self.add(Diagnostic(message, origin, hint, element))

    def refuse(self, construct: str, origin: Origin, hint: str = "", element: str = "") -> None:
        self.add(Diagnostic(f"{_REFUSED}{construct}", origin, hint, element))

    def add(self, problem: Diagnostic) -> None:
        """Something that :meth:`refuse` or :meth:`error` could have said."""
        refused = problem.message.startswith(_REFUSED)
        # Each once: a submachine that is used twice is read twice.
        (self.refused if refused else self.errors)[problem] = None

    def note(self, message: str, origin: Origin, hint: str = "") -> None:
        self.notes[Diagnostic(message, origin, hint, severity="note")] = None

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
