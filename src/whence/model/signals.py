"""What goes into a system and comes out of it, and how that is carried on a bus."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from whence.source import NOWHERE, Origin

__all__ = ["Interface", "InterfaceSignal", "SignalEntry", "SignalMap"]


@dataclass(frozen=True, slots=True)
class InterfaceSignal:
    """An input or output. `low` and `high` are its bounds, as texts; an enumeration has
    `members`, numbered from 0. `bits`: 32 or 64, of what is a floating-point number in the model,
    too."""

    name: str
    kind: Literal["bool", "int", "enum", "real"]
    low: str = ""
    high: str = ""
    members: tuple[str, ...] = ()
    bits: int = 0


@dataclass(frozen=True, slots=True)
class Interface:
    """`chooses`: the system may react in several ways."""

    name: str
    inputs: tuple[InterfaceSignal, ...]
    outputs: tuple[InterfaceSignal, ...]
    file: str = ""
    chooses: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalEntry:
    """What is said of one input or output. `latency` and `error` are admitted (None: as the suite
    has it).  On a bus it is `signal` of `message`, where `physical = value * factor + offset`."""

    name: str
    latency: int | None = None
    error: Fraction | None = None
    message: str = ""
    signal: str = ""
    factor: Fraction = Fraction(1)
    offset: Fraction = Fraction(0)
    origin: Origin = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalMap:
    """`latency`, `jitter`: of all outputs, where nothing else is said."""

    entries: tuple[SignalEntry, ...] = ()
    latency: int | None = None
    jitter: int | None = None
    #: The database of the bus, as the file has it (relative to that file).
    dbc: str = ""
    file: str = ""

    def entry(self, name: str) -> SignalEntry | None:
        return next((one for one in self.entries if one.name == name), None)
