"""The functions by name. Each takes the machine and the site of the call first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["LIBRARY", "Entry", "library"]

Function = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Entry:
    """`fixed` arguments come one by one; those of `...`, if `variadic`, as one pointer."""

    function: Function
    fixed: int
    variadic: bool = False
    #: Whether it calls functions of the program.
    calls_back: bool = False


LIBRARY: dict[str, Entry] = {}


def library(
    *names: str, variadic: bool = False, calls_back: bool = False
) -> Callable[[Function], Function]:
    """Registers a model; by default under its own name without what comes before `c_`."""

    def register(function: Function) -> Function:
        count = function.__code__.co_argcount - 2 - variadic
        for name in names or (function.__name__.removeprefix("c_"),):
            LIBRARY[name] = Entry(function, count, variadic, calls_back)
        return function

    return register
