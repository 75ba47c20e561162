"""Arithmetic of C that takes more than an operator of Python."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import Any, NoReturn

from whence.locate.memory import Pointer, Undefined

__all__ = ["FUNCTIONS", "single", "truncate"]

_SINGLE = struct.Struct("<f")


def single(x: float) -> float:
    """The nearest number of 32 bits."""
    try:
        rounded: float = _SINGLE.unpack(_SINGLE.pack(x))[0]
    except OverflowError:
        return math.copysign(math.inf, x)
    return rounded


def single_of(value: int) -> float:
    """The nearest number of 32 bits to an integer, rounded once."""
    size = abs(value)
    extra = size.bit_length() - 24
    if extra <= 0:
        return float(value)
    low = size & (1 << extra) - 1
    size >>= extra
    half = 1 << extra - 1
    if low > half or (low == half and size & 1):
        size += 1
    return math.copysign(math.ldexp(size, extra), value)


def divide(left: float, right: float) -> float:
    """A quotient as IEEE 754 has it."""
    if right == 0:
        if left == 0 or left != left:
            return math.nan
        return math.copysign(math.inf, left) * math.copysign(1.0, right)
    return left / right


def truncate(x: float, least: int, greatest: int, site: int) -> int:
    """A floating point number as an integer."""
    if x != x or x in (math.inf, -math.inf):
        raise Undefined("conversion", f"conversion of {x} to an integer", site)
    whole = int(x)
    if not least <= whole <= greatest:
        raise Undefined(
            "conversion", f"conversion of {x!r}, which the integer type cannot hold", site
        )
    return whole


def wrapped(value: int, greatest: int) -> int:
    """Modulo the size of a signed type."""
    size = 2 * (greatest + 1)
    return (value + greatest + 1) % size - greatest - 1


def overflow(value: int, bits: int, site: int) -> NoReturn:
    raise Undefined("overflow", f"signed overflow: {value} does not fit into {bits} bits", site)


def quotient(left: int, right: int, site: int) -> int:
    if right == 0:
        raise Undefined("division by zero", "division by zero", site)
    result = abs(left) // abs(right)
    return result if (left < 0) == (right < 0) else -result


def remainder(left: int, right: int, site: int) -> int:
    if right == 0:
        raise Undefined("division by zero", "remainder of a division by zero", site)
    result = abs(left) % abs(right)
    return -result if left < 0 else result


def remainder_checked(left: int, right: int, least: int, site: int) -> int:
    if right == -1 and left == least:
        raise Undefined("overflow", f"signed overflow: {left} % -1", site)
    return remainder(left, right, site)


def far(count: int, bits: int, site: int) -> NoReturn:
    raise Undefined("shift", f"shift of {bits} bits by {count}", site)


def beyond(index: int, length: int, site: int) -> NoReturn:
    raise Undefined("out of bounds", f"index {index} of an array of {length} elements", site)


def unwritten(name: str, site: int) -> NoReturn:
    raise Undefined("uninitialised", f"read of `{name}`, not written before", site)


def no_value(site: int) -> NoReturn:
    raise Undefined(
        "missing return value", "use of the result of a function that returned none", site
    )


def miscalled(message: str, site: int) -> NoReturn:
    raise Undefined("call", message, site)


def difference(left: Pointer, right: Pointer, stride: int, site: int) -> int:
    if left[0] is not right[0]:
        raise Undefined("unrelated pointers", "difference of pointers into two objects", site)
    return (left[1] - right[1]) // stride if stride else 0


def order(left: Pointer, right: Pointer, site: int) -> int:
    """Less than, equal to or greater than 0."""
    if left[0] is not right[0]:
        raise Undefined("unrelated pointers", "order of pointers into two objects", site)
    return left[1] - right[1]


FUNCTIONS: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (
        single,
        single_of,
        divide,
        truncate,
        wrapped,
        overflow,
        quotient,
        remainder,
        remainder_checked,
        far,
        beyond,
        unwritten,
        no_value,
        miscalled,
        difference,
        order,
    )
}
