"""Arithmetic of bit vectors on Python's integers, as SMT-LIB and C define it.

A number of `width` bits is an integer from 0 up to 2^width; `signed` reads it in two's complement.
"""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["BINARY", "CONDITIONS", "signed"]


def signed(value: int, width: int) -> int:
    return value - (1 << width) if value >= 1 << (width - 1) else value


def _fits(value: int, width: int, is_signed: bool) -> bool:
    if is_signed:
        return -(1 << (width - 1)) <= value < 1 << (width - 1)
    return 0 <= value < 1 << width


def _towards_zero(a: int, b: int) -> tuple[int, int]:
    """As in C: the quotient is cut towards 0, and a = quotient * b + remainder."""
    quotient = abs(a) // abs(b)
    if (a < 0) != (b < 0):
        quotient = -quotient
    return quotient, a - quotient * b


def _signed_div(a: int, b: int, w: int) -> int:
    x, y = signed(a, w), signed(b, w)
    if y == 0:
        return 1 if x < 0 else -1
    return _towards_zero(x, y)[0]


def _signed_rem(a: int, b: int, w: int) -> int:
    x, y = signed(a, w), signed(b, w)
    return x if y == 0 else _towards_zero(x, y)[1]


#: (a, b, width) to the result, which is then taken modulo 2^width.
BINARY: dict[str, Callable[[int, int, int], int]] = {
    "add": lambda a, b, w: a + b,
    "subtract": lambda a, b, w: a - b,
    "multiply": lambda a, b, w: a * b,
    "and": lambda a, b, w: a & b,
    "or": lambda a, b, w: a | b,
    "xor": lambda a, b, w: a ^ b,
    "unsigned_div": lambda a, b, w: a // b if b else -1,
    "unsigned_rem": lambda a, b, w: a % b if b else a,
    "signed_div": _signed_div,
    "signed_rem": _signed_rem,
    "shift_left": lambda a, b, w: a << b if b < w else 0,
    "shift_right": lambda a, b, w: a >> b,
    "signed_shift_right": lambda a, b, w: signed(a, w) >> b,
}

#: (a, b, width) to whether it holds.
CONDITIONS: dict[str, Callable[[int, int, int], bool]] = {
    "equal": lambda a, b, w: a == b,
    "less": lambda a, b, w: a < b,
    "signed_less": lambda a, b, w: signed(a, w) < signed(b, w),
    "less_equal": lambda a, b, w: a <= b,
    "signed_less_equal": lambda a, b, w: signed(a, w) <= signed(b, w),
    "add_overflows": lambda a, b, w: not _fits(a + b, w, False),
    "signed_add_overflows": lambda a, b, w: not _fits(signed(a, w) + signed(b, w), w, True),
    "subtract_overflows": lambda a, b, w: not _fits(a - b, w, False),
    "signed_subtract_overflows": lambda a, b, w: not _fits(signed(a, w) - signed(b, w), w, True),
    "multiply_overflows": lambda a, b, w: not _fits(a * b, w, False),
    "signed_multiply_overflows": lambda a, b, w: not _fits(signed(a, w) * signed(b, w), w, True),
    "division_overflows": lambda a, b, w: a == 1 << (w - 1) and b == (1 << w) - 1,
    "shifts_too_far": lambda a, b, w: b >= w,
    "signed_shifts_too_far": lambda a, b, w: not 0 <= signed(b, w) < w,
}
