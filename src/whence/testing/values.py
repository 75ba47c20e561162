"""Values of variables: as texts of a suite, as numbers of a state, and as a system speaks of them.

A system gets truth values, integers, names of an enumeration's members, and floating-point numbers;
it answers with the same, with 0 and 1 for truth values, or with numbers for members.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TypeAlias

from whence.expr.ieee import Format, from_ordinal, nearest, ordinal, ordinal_of_text, rounded
from whence.testing.model import Variable

__all__ = [
    "Native",
    "Number",
    "Unreadable",
    "alike",
    "as_native",
    "as_text",
    "number_of",
    "observed",
]

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
        if variable.ieee is not None:
            place = ordinal_of_text(text, variable.ieee)
            if not variable.limits[0] <= place <= variable.limits[1]:
                raise ValueError
            return place
        if variable.real is not None:
            value = Fraction(text)
            if not variable.real[0] <= value <= variable.real[1]:
                raise ValueError
            if variable.fixed:
                if (value * variable.scale).denominator != 1:
                    raise ValueError
                return int(value * variable.scale)
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
    if variable.ieee is not None:
        return from_ordinal(number, variable.ieee)
    if variable.real is not None:
        return float(Fraction(variable.shown(number)))
    return number


def observed(variable: Variable, value: object) -> Number:
    """What a system said of an output. It need not be within the output's range: that is for the
    oracle to say."""
    if variable.ieee is not None:
        return _float(variable, variable.ieee, value)
    if isinstance(value, str) and value in variable.members:
        return variable.members.index(value)
    if isinstance(value, bool):
        if variable.boolean:
            return int(value)
    elif isinstance(value, int):
        if abs(value) < 1 << 63 and not (variable.boolean and value not in (0, 1)):
            return value * variable.scale
    elif isinstance(value, float) and math.isfinite(value) and not variable.boolean:
        number = Fraction(value) * variable.scale
        whole = round(number)
        # Floating-point numbers have no tenths.
        if number == whole or (variable.fixed and abs(number - whole) < Fraction(1, 10**6)):
            return whole
        return number
    raise _unreadable(variable, value)


def _float(variable: Variable, format_: Format, value: object) -> Number:
    """The nearest number of the output's format; JSON has no names for `nan` and infinities, so
    that texts are read, too."""
    if isinstance(value, float):
        return ordinal(rounded(value, format_), format_)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 1024:
        return nearest(Fraction(value), format_)
    if isinstance(value, str) and value.lower().lstrip("+-") in ("nan", "inf", "infinity"):
        return ordinal_of_text(value, format_)
    raise _unreadable(variable, value)


def _unreadable(variable: Variable, value: object) -> Unreadable:
    shown = repr(value)
    shown = shown if len(shown) <= 60 else f"{shown[:57]}..."
    return Unreadable(f"{shown} is no value of the output `{variable.name}`")


def alike(variable: Variable, model: int, seen: Number, error: Fraction) -> bool:
    """Whether what is seen is what the model has, up to an error. Both zeros are alike, and all
    that is no number."""
    if variable.ieee is None or not isinstance(seen, int):
        return model == seen if not error else abs(Fraction(model) - seen) <= error
    one, other = (from_ordinal(number, variable.ieee) for number in (model, seen))
    if one == other or (one != one and other != other):
        return True
    if not error or not (math.isfinite(one) and math.isfinite(other)):
        return False
    return abs(Fraction(one) - Fraction(other)) <= error


def as_text(variable: Variable, number: Number) -> str:
    """Of an output that was seen."""
    if variable.fixed:
        return str(Fraction(number) / variable.scale)
    if isinstance(number, int):
        known = len(variable.members) if variable.members else 2
        if not (variable.members or variable.boolean) or 0 <= number < known:
            return variable.shown(number)
        return str(number)
    return f"{float(number):g}"
