"""What stands behind `--sut`: which kind of system, and where it is."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from whence.source import UsageError

__all__ = ["SystemKind", "SystemSpec", "parse_system"]

SystemKind = Literal["model", "python", "process", "c", "interpreted", "can"]
_LATER = {
    "fmu": "functional mock-up units",
    "uds": "diagnostic services as inputs and outputs",
    "ros": "robots",
    "tcp": "sockets",
}
_KNOWN = (
    "model, model:FILE, python:MODULE:NAME, process:COMMAND, c:FILE, interpreted:FILE, "
    "can:INTERFACE:CHANNEL"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemSpec:
    """`parts`: the file of a model; the place of a Python object; the words of a command; sources
    in C; the interface and channel of a bus."""

    kind: SystemKind
    text: str
    parts: tuple[str, ...]

    @property
    def files(self) -> tuple[str, ...]:
        """What it is made of, as far as that is known."""
        if self.kind in ("model", "c", "interpreted"):
            return self.parts
        if self.kind == "python":
            module = self.parts[0].rpartition(":")[0]
            return (module,) if module.endswith(".py") else ()
        return tuple(part for part in self.parts if Path(part).is_file())


def parse_system(text: str) -> SystemSpec:
    """Raises UsageError."""
    kind, _, rest = text.partition(":")
    parts: Sequence[str]
    if kind == "model":
        return SystemSpec(kind="model", text=text, parts=(rest,) if rest else ())
    if kind in _LATER:
        raise UsageError(f"not supported: a system behind `{kind}:` ({_LATER[kind]})")
    if kind == "python" and ":" in rest:
        return SystemSpec(kind="python", text=text, parts=(rest,))
    if kind == "process" and rest.strip():
        try:
            parts = shlex.split(rest)
        except ValueError as error:
            raise UsageError(f"the command `{rest}` cannot be read: {error}") from None
        return SystemSpec(kind="process", text=text, parts=tuple(parts))
    if kind == "interpreted" and rest:
        return SystemSpec(kind="interpreted", text=text, parts=tuple(rest.split(",")))
    if kind == "c" and rest:
        return SystemSpec(kind="c", text=text, parts=tuple(rest.split(",")))
    if kind == "can" and ":" in rest:
        interface, _, channel = rest.partition(":")
        return SystemSpec(kind="can", text=text, parts=(interface, channel))
    raise UsageError(f"`{text}` names no system; known are {_KNOWN}")
