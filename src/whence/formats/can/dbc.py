"""Databases of CAN messages (DBC, and what else cantools reads): which bits are which signal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whence.source import Diagnostic, InputError, Origin, UsageError

__all__ = ["BusDatabase", "BusFrame", "read_database"]

_MAX_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class BusFrame:
    ident: int
    extended: bool
    data: bytes


class BusDatabase:
    """Values of signals are physical ones, without names for numbers."""

    def __init__(self, database: Any, file: str) -> None:
        self._database = database
        self.file = file

    def message_names(self) -> list[str]:
        return [str(message.name) for message in self._database.messages]

    def signal_names(self, message: str) -> list[str]:
        """Raises InputError if there is no such message."""
        return [str(signal.name) for signal in self._message(message).signals]

    def key(self, message: str) -> tuple[int, bool]:
        """Its identifier, and whether that has 29 bits."""
        found = self._message(message)
        return int(found.frame_id), bool(found.is_extended_frame)

    def encode(self, message: str, values: Mapping[str, float | int]) -> BusFrame:
        """Signals that are not given are 0, or as near to that as they can be. Raises
        ValueError where a value does not fit."""
        found = self._message(message)
        complete: dict[str, float | int] = {}
        for signal in found.signals:
            default = signal.initial if signal.initial is not None else signal.offset
            complete[signal.name] = values.get(signal.name, default)
        try:
            data = found.encode(complete, scaling=True, strict=True)
        except Exception as error:
            raise ValueError(f"message {message}: {error}") from None
        ident, extended = self.key(message)
        return BusFrame(ident, extended, bytes(data))

    def decode(self, frame: BusFrame) -> tuple[str, dict[str, float | int]] | None:
        """The message and its signals; None: it is not in the database. Raises ValueError where
        the frame is shorter than its message."""
        for message in self._database.messages:
            if (message.frame_id, message.is_extended_frame) == (frame.ident, frame.extended):
                try:
                    values = message.decode(frame.data, decode_choices=False)
                except Exception as error:
                    raise ValueError(f"message {message.name}: {error}") from None
                return str(message.name), dict(values)
        return None

    def _message(self, name: str) -> Any:
        for message in self._database.messages:
            if message.name == name:
                return message
        raise InputError(
            Diagnostic(f"there is no message `{name}` in this database", Origin(self.file))
        )


def read_database(path: str | Path) -> BusDatabase:
    """Needs the extra `bus`. Raises InputError."""
    file = str(path)
    try:
        import cantools
    except ImportError:
        raise UsageError("databases of CAN need cantools: pip install 'whence[bus]'") from None
    try:
        data = Path(path).read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(
            Diagnostic(f"the file cannot be read: {reason.lower()}", Origin(file))
        ) from None
    if len(data) > _MAX_BYTES:
        raise InputError(
            Diagnostic(f"the file is larger than {_MAX_BYTES >> 20} MiB, our limit", Origin(file))
        )
    try:
        text = data.decode("cp1252", "replace")
        database = cantools.database.load_string(text, database_format="dbc")
    except Exception as error:
        reason = " ".join(str(error).split())[:300]
        raise InputError(Diagnostic(f"this is no DBC database: {reason}", Origin(file))) from None
    return BusDatabase(database, file)
