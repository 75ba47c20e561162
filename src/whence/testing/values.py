"""Values of variables: as texts of a suite, as numbers of a state, and as a system speaks of them.

A system gets truth values, integers, names of an enumeration's members, and floating-point numbers;
it answers with the same, with 0 and 1 for truth values, or with numbers for members.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TypeAlias

from whence.testing.model import Variable

__all__ = ["Native", "Number", "Unreadable", "as_native", "as_text", "number_of", "observed"]

Native: TypeAlias = "bool | int | float | str"
#: What an output was seen to be; only an output of a real system is no whole number.
Number: TypeAlias = "int | Fraction"


class Unreadable(Exception):
    """A value that a variable cannot have."""


def number_of(variable: Variable, text: str) -> int:
    """The number in a state that a text of a suite stands for."""
    try:
        if variable.members:
            return variable.members.index(text)
        if variable.boolean:
            return ("false", "true").index(text)
        if variable.real is not None:
            value = Fraction(text)
            if not variable.real[0] <= value <= variable.real[1]:
                raise ValueError
            whole = value.denominator == 1
            return 2 * value.numerator if whole else 2 * math.floor(value) + 1
        number = int(text)
        if not variable.limits[0] <= number <= variable.limits[1]:
            raise ValueError
        return number
    except (ValueError, ZeroDivisionError):
        raise Unreadable(f"`{text[:60]}` is no value of `{variable.name}`") from None


def as_native(variable: Variable, number: int) -> Native:
    """What a system is told."""
    if variable.members:
        return variable.members[number]
    if variable.boolean:
        return bool(number)
    if variable.real is not None:
        return float(Fraction(variable.shown(number)))
    return number


def observed(variable: Variable, value: object) -> Number:
    """What a system said of an output. It need not be within the output's range: that is for the
    oracle to say."""
    if isinstance(value, str) and value in variable.members:
        return variable.members.index(value)
    if isinstance(value, bool) and variable.boolean:
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        if abs(value) < 1 << 63 and not (variable.boolean and value not in (0, 1)):
            return value
    elif isinstance(value, float) and math.isfinite(value):
        number = Fraction(value)
        if not variable.boolean:
            return number.numerator if number.denominator == 1 else number
    shown = repr(value)
    shown = shown if len(shown) <= 60 else f"{shown[:57]}..."
    raise Unreadable(f"{shown} is no value of the output `{variable.name}`")


def as_text(variable: Variable, number: Number) -> str:
    """Of an output that was seen."""
    if isinstance(number, int):
        known = len(variable.members) if variable.members else 2
        if not (variable.members or variable.boolean) or 0 <= number < known:
            return variable.shown(number)
        return str(number)
    return f"{float(number):g}"
