"""What the inputs and outputs of a system are on a diagnostic bus: messages, by their values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeAlias

from whence.source import NOWHERE, Origin

__all__ = ["SERVICE", "BusMap", "Field", "Payload", "Spoken"]

#: The first byte of the latest request, in the payload of an answer.
SERVICE = "service"


@dataclass(frozen=True, slots=True)
class Field:
    """The value of an input or output in so many bytes, the most significant first; or SERVICE."""

    name: str
    bytes: int = 1


Payload: TypeAlias = "tuple[int | Field, ...]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """One side of the conversation. When `signal` leaves the value `idle`, or changes from one
    other value to another, the message of its value is sent. A message may depend on the latest
    request (its value, in the key's second place; "" if it does not)."""

    signal: str
    idle: str
    messages: Mapping[tuple[str, str], Payload]
    origin: Origin = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class BusMap:
    """`tester` and `ecu` are identifiers on `channel`, with 29 bits if `extended`. `comments` are
    what a log says when an input gets a value: by input, then by value."""

    channel: str
    tester: int
    ecu: int
    requests: Spoken
    answers: Spoken
    extended: bool = False
    comments: Mapping[str, Mapping[str, str]] = field(default_factory=lambda: MappingProxyType({}))
    file: str = ""
