"""The encoding of a bound ``x - y < c`` or ``x - y <= c`` in one 32-bit integer.

A bound with the constant ``c`` is the *raw* integer ``2*c + 1`` when it is weak (``<=``) and
``2*c`` when it is strict (``<``); no bound at all is :data:`INFINITY`.  The order of the raw
integers is then the order of bounds of Bengtsson & Yi (2004, section 4.1): smaller is tighter,
and ``< c`` is tighter than ``<= c``.

Finite constants are limited to ``-MAX_CONSTANT <= c <= MAX_CONSTANT``, that is, finite raw
bounds to ``MIN_RAW <= raw <= MAX_RAW``.  The limits are far enough inside 32 bits that the sum
of *three* finite bounds still fits, so kernels may add first and compare afterwards.  The range
is closed under :func:`negated`.  A result outside it is reported as an overflow, never wrapped.

This module imports neither numba nor numpy.
"""

from typing import Final

__all__ = [
    "EMPTY",
    "FULL",
    "INFINITY",
    "LE_ZERO",
    "LT_ZERO",
    "MAX_CONSTANT",
    "MAX_RAW",
    "MIN_RAW",
    "NO_BOUND",
    "OK",
    "OVERFLOW",
    "UNBOUNDED",
    "ZoneOverflow",
    "add",
    "bound",
    "constant",
    "is_strict",
    "negated",
]

INFINITY: Final = 2**31 - 1
"""The raw bound that is always satisfied."""

LE_ZERO: Final = 1
"""The raw bound ``<= 0``, the neutral element of :func:`add`."""

LT_ZERO: Final = 0
"""The raw bound ``< 0``."""

MAX_CONSTANT: Final = 2**28
"""The largest magnitude of a constant in a finite bound."""

MAX_RAW: Final = 2 * MAX_CONSTANT + 1
"""The loosest finite raw bound, ``<= MAX_CONSTANT``."""

MIN_RAW: Final = -2 * MAX_CONSTANT
"""The tightest finite raw bound, ``< -MAX_CONSTANT``; equals ``negated(MAX_RAW)``."""

EMPTY: Final = 0
"""Status of a kernel: the resulting zone is empty."""

OK: Final = 1
"""Status of a kernel: the resulting zone is not empty and its matrix is canonical."""

OVERFLOW: Final = 2
"""Status of a kernel: a finite bound would have left ``MIN_RAW .. MAX_RAW``."""

FULL: Final = 3
"""Status of a kernel that writes several matrices: the buffer has no room for all of them."""

NO_BOUND: Final = -(2**30)
"""In a vector of constants for extrapolation: the clock is never compared that way (-oo)."""

UNBOUNDED: Final = 2**29
"""In a vector of constants for extrapolation: never abstract the clock on that side (+oo)."""


class ZoneOverflow(ArithmeticError):
    """A bound of a zone left the range of constants that a matrix can hold."""


def bound(c: int, strict: bool = False) -> int:
    """The raw form of ``< c`` (strict) or ``<= c``.

    Pre: none.  Post: ``constant(result) == c`` and ``is_strict(result) == strict``.
    Raises :class:`ZoneOverflow` if ``c`` is out of range.
    """
    if not -MAX_CONSTANT <= c <= MAX_CONSTANT:
        raise ZoneOverflow(f"the constant {c} exceeds the limit of {MAX_CONSTANT} on clock bounds")
    return 2 * c + (0 if strict else 1)


def constant(raw: int) -> int:
    """The constant of a finite raw bound.  Pre: ``raw != INFINITY``."""
    return raw >> 1


def is_strict(raw: int) -> bool:
    """Whether a raw bound is strict.  ``INFINITY`` counts as weak.  Pre: none."""
    return (raw & 1) == 0


def add(a: int, b: int) -> int:
    """The sum of two bounds (Bengtsson & Yi 2004, section 4.1): strict if either is strict.

    Pre: both are raw bounds.  Post: the tightest bound on ``x - z`` implied by ``a`` on
    ``x - y`` and ``b`` on ``y - z``.  The result is not checked for overflow.
    """
    if a == INFINITY or b == INFINITY:
        return INFINITY
    return a + b - ((a | b) & 1)


def negated(raw: int) -> int:
    """The bound on ``y - x`` that holds exactly when ``x - y`` violates ``raw``.

    ``not (x - y <= c)`` is ``y - x < -c`` and ``not (x - y < c)`` is ``y - x <= -c``.
    Pre: ``raw`` is finite.  Post: finite, and ``negated(negated(raw)) == raw``.
    """
    return 1 - raw
