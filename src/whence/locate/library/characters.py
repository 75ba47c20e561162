"""ctype.h, in the "C" locale."""

from __future__ import annotations

from collections.abc import Callable

from whence.locate.library.registry import LIBRARY, Entry
from whence.locate.machine import Machine
from whence.locate.memory import Undefined

__all__: list[str] = []

_UPPER = frozenset(range(ord("A"), ord("Z") + 1))
_LOWER = frozenset(range(ord("a"), ord("z") + 1))
_DIGITS = frozenset(range(ord("0"), ord("9") + 1))
_PRINTED = frozenset(range(32, 127))
_ALPHA = _UPPER | _LOWER

_CLASSES: dict[str, frozenset[int]] = {
    "isalpha": _ALPHA,
    "isdigit": _DIGITS,
    "isalnum": _ALPHA | _DIGITS,
    "isupper": _UPPER,
    "islower": _LOWER,
    "isspace": frozenset(b" \t\n\v\f\r"),
    "isblank": frozenset(b" \t"),
    "iscntrl": frozenset(range(32)) | {127},
    "isprint": _PRINTED,
    "isgraph": _PRINTED - {32},
    "ispunct": _PRINTED - {32} - _ALPHA - _DIGITS,
    "isxdigit": frozenset(b"0123456789abcdefABCDEF"),
    "isascii": frozenset(range(128)),
}


def _check(name: str, c: int, site: int) -> None:
    # C99, 7.4: an unsigned char or EOF. glibc also takes what a signed char can hold.
    if not -128 <= c <= 255:
        raise Undefined("call", f"`{name}` of {c}, which is no character", site)


def _asks(name: str, members: frozenset[int]) -> Callable[[Machine, int, int], int]:
    def function(machine: Machine, site: int, c: int) -> int:
        _check(name, c, site)
        return 1 if c in members else 0

    return function


for _name, _members in _CLASSES.items():
    LIBRARY[_name] = Entry(_asks(_name, _members), 1)


def _tolower(machine: Machine, site: int, c: int) -> int:
    _check("tolower", c, site)
    return c + 32 if c in _UPPER else c


def _toupper(machine: Machine, site: int, c: int) -> int:
    _check("toupper", c, site)
    return c - 32 if c in _LOWER else c


def _toascii(machine: Machine, site: int, c: int) -> int:
    return c & 127


LIBRARY["tolower"] = Entry(_tolower, 1)
LIBRARY["toupper"] = Entry(_toupper, 1)
LIBRARY["toascii"] = Entry(_toascii, 1)
