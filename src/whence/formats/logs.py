"""Logs of all kinds, told apart by what is in them: of a bus, or plain events."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from whence.formats.can.isotp import N_CR
from whence.formats.can.read import FORMATS, backwards, format_of, from_stream, head_of
from whence.formats.can.trace import BusLog, Log, Told, whole
from whence.formats.events.read import PLAIN_FORMATS, plain_format_of
from whence.model.events import NANO, AddressPair, BusEvent, Trace
from whence.source import Diagnostic, InputError, Origin

if TYPE_CHECKING:
    from whence.formats.can.odx import Database

__all__ = ["LOG_FORMATS", "open_log", "read_trace"]

LOG_FORMATS: tuple[str, ...] = (*FORMATS, *PLAIN_FORMATS)


@dataclass
class PlainLog(Log):
    """A file of events."""

    def told(self) -> Iterator[Told]:
        count = 0
        before: Fraction | None = None
        for item in from_stream(self.path, self.path, PLAIN_FORMATS[self.format]):
            if not isinstance(item, BusEvent):
                yield from self._other(item, count)
                continue
            count += 1
            # An error stands where it was noticed, which may be later.
            if item.last is not None and item.kind != "error":
                if before is not None and item.last < before:
                    amount = int((before - item.last) * NANO)
                    for _ in self._other(backwards(self.path, item.origin.line, amount), count):
                        pass
                before = item.last
            yield item


def open_log(
    path: str,
    pairs: Sequence[AddressPair] = (),
    database: Database | None = None,
    *,
    n_cr: int = N_CR,
    raw: bool = False,
) -> Log:
    """The log at this path. Raises InputError if it cannot be read or its format is not known."""
    head = head_of(path)
    if not head.strip():
        raise InputError(Diagnostic("the log is empty", Origin(path)))
    plain = plain_format_of(head)
    if plain is not None:
        return PlainLog(path, plain)
    form = format_of(head)
    if form is None:
        raise InputError(
            Diagnostic(
                "not a log that whence knows", Origin(path), f"it knows {', '.join(LOG_FORMATS)}"
            )
        )
    return BusLog(path, form, tuple(pairs), database=database, n_cr=n_cr, raw=raw)


def read_trace(
    path: str,
    pairs: Sequence[AddressPair] = (),
    database: Database | None = None,
    *,
    n_cr: int = N_CR,
    raw: bool = False,
) -> Trace:
    """All that the log at this path tells. Raises InputError as :func:`open_log` does."""
    return whole(open_log(path, pairs, database, n_cr=n_cr, raw=raw))
