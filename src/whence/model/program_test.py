"""Tests of a program: what goes in, and what should come out.

Where a test says nothing about what should come out, only assertions and undefined behaviour
count.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeAlias

from whence.source import NOWHERE, Origin

__all__ = ["Expected", "Test", "Value"]

#: Numbers; bytes and lists for what arrays and pointers hold; None: a null pointer.
Value: TypeAlias = "int | float | bytes | list[Value] | dict[str, Value] | None"


@dataclass(frozen=True, slots=True)
class Expected:
    """What a test asks for; None: nothing. `returned` is a tuple of one value, which may be None:
    a null pointer."""

    returned: tuple[Value] | None = None
    globals: Mapping[str, Value] = field(default_factory=lambda: MappingProxyType({}))
    stdout: bytes | None = None
    exit_code: int | None = None


@dataclass(frozen=True, slots=True)
class Test:
    """`args` None: none were given."""

    __test__ = False

    name: str
    args: tuple[Value, ...] | None = None
    globals: Mapping[str, Value] = field(default_factory=lambda: MappingProxyType({}))
    argv: tuple[bytes, ...] = ()
    stdin: bytes = b""
    expected: Expected = field(default_factory=Expected)
    origin: Origin = NOWHERE
