"""What a run of a program came to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, TypeAlias

from whence.source import NOWHERE, Origin

__all__ = [
    "Coverage",
    "Event",
    "Fault",
    "FaultKind",
    "Options",
    "Outcome",
    "Unknown",
    "Value",
]

#: Values as Python has them: numbers, `bytes` and lists for what arguments and globals hold.
Value: TypeAlias = "int | float | bytes | list[Value] | dict[str, Value] | None"

#: Stands in for a function that is not there: its name and arguments, as numbers where they are
#: numbers and None elsewhere. What it returns is converted to the function's type.
Unknown: TypeAlias = Callable[[str, tuple[int | float | None, ...]], int | float | None]

FaultKind = Literal[
    "out of bounds",
    "null pointer",
    "invalid pointer",
    "dangling pointer",
    "uninitialised",
    "overflow",
    "division by zero",
    "shift",
    "conversion",
    "double free",
    "invalid free",
    "missing return value",
    "read-only",
    "unrelated pointers",
    "call",
    "overlap",
    "format",
]


@dataclass(frozen=True, slots=True)
class Fault:
    """Where a run went wrong. `statement` is the number of the statement that was executed."""

    kind: FaultKind
    message: str
    origin: Origin
    statement: int


@dataclass(frozen=True, slots=True)
class Options:
    """`steps` bounds how many loop iterations and calls are made, `depth` how many calls are open
    at once (one through a pointer counts as three), `memory` the bytes that live on heap and
    stack together. Undefined behaviour ends a run, unless these say that it is defined: signed
    arithmetic may wrap, what was never written may read as 0."""

    steps: int = 10_000_000
    depth: int = 5_000
    memory: int = 256 * 1024 * 1024
    signed_overflow: Literal["undefined", "wrap"] = "undefined"
    uninitialised: Literal["undefined", "zero"] = "undefined"
    #: Counts executed statements, branches and loops; costs a tenth to a third of the speed.
    coverage: bool = True
    #: Notes which definitions each assignment and decision used; several times slower.
    dependences: bool = False
    #: Files that `fopen` finds, by name.
    files: Mapping[str, bytes] = field(default_factory=lambda: MappingProxyType({}))
    #: What `time` says.
    now: int = 0
    unknown: Unknown | None = None


@dataclass(frozen=True, slots=True)
class Coverage:
    """How often statements were executed, by number; branches are (number of the decision,
    outcome): True and False, or of a switch the position of the section that was chosen (-1:
    none). `loops` says how often the bodies of loops were entered."""

    statements: Mapping[int, int]
    branches: Mapping[tuple[int, int], int]
    loops: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class Event:
    """One execution of a statement that defines or decides something. `uses` are the positions of
    the earlier events whose results it read, `control` that of the decision it depends on (-1:
    none), `decision` how a decision came out."""

    statement: int
    uses: tuple[int, ...]
    control: int
    decision: int | None = None


End = Literal["exit", "abort", "assertion", "undefined", "limit", "unknown"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """`end`: the entry function returned or `exit` was called; `abort` was; an assertion failed;
    the behaviour was undefined; a limit was reached; something that is not there was needed."""

    end: End
    #: What the entry function returned; None where it did not.
    value: Value
    #: Of the process: the low byte of what `main` returned or `exit` was given; None where there
    #: is no such thing, as when `main` returned without a value.
    exit_code: int | None
    stdout: bytes
    stderr: bytes = b""
    #: What went wrong, for all ends but `exit`.
    fault: Fault | None = None
    message: str = ""
    origin: Origin = NOWHERE
    statement: int = 0
    steps: int = 0
    coverage: Coverage | None = None
    events: tuple[Event, ...] = ()
    #: What `observe` asked for.
    observed: Mapping[str, Value] = field(default_factory=lambda: MappingProxyType({}))
    #: What was written to files.
    files: Mapping[str, bytes] = field(default_factory=lambda: MappingProxyType({}))
