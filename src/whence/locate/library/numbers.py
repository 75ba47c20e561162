"""stdlib.h: numbers, sorting, ways to end; time.h."""

from __future__ import annotations

import re
from functools import cmp_to_key

from whence.locate.arithmetic import single
from whence.locate.library.registry import library
from whence.locate.machine import Abort, Exit, Machine, Unavailable
from whence.locate.memory import NULL, Object, Pointer, Undefined

__all__: list[str] = []

_SPACE = b" \t\n\v\f\r"


def integer(text: bytes, base: int) -> tuple[int, int, bool]:
    """What strtol reads: the value, how many bytes it took (0: no number), and whether there was
    a minus sign."""
    position = 0
    while position < len(text) and text[position] in _SPACE:
        position += 1
    negative = text[position : position + 1] == b"-"
    if text[position : position + 1] in (b"-", b"+"):
        position += 1
    prefix = text[position : position + 2].lower() == b"0x"
    hexadecimal = text[position + 2 : position + 3].isalnum() and (
        text[position + 2 : position + 3].lower() in _HEX
    )
    if base in (0, 16) and prefix and hexadecimal:
        position += 2
        base = 16
    elif base == 0:
        base = 8 if text[position : position + 1] == b"0" else 10
    value = 0
    first = position
    while position < len(text):
        digit = _digit(text[position])
        if digit >= base:
            break
        value = value * base + digit
        position += 1
    if position == first:
        return 0, 0, False
    return (-value if negative else value), position, negative


_HEX = [bytes([byte]) for byte in b"0123456789abcdef"]


def _digit(byte: int) -> int:
    if 48 <= byte <= 57:
        return byte - 48
    if 97 <= byte <= 122:
        return byte - 87
    if 65 <= byte <= 90:
        return byte - 55
    return 99


FLOATING = re.compile(
    rb"[ \t\n\v\f\r]*[+-]?(?:0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)(?:[pP][+-]?\d+)?"
    rb"|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[iI][nN][fF](?:[iI][nN][iI][tT][yY])?|[nN][aA][nN])"
)


def floating(text: bytes) -> tuple[float, int]:
    """What strtod reads: the value, and how many bytes it took."""
    match = FLOATING.match(text)
    if match is None:
        return 0.0, 0
    word = match.group().strip().decode("ascii")
    if "x" in word.lower():
        return float.fromhex(word), match.end()
    return float(word), match.end()


def _limited(machine: Machine, value: int, bits: int) -> int:
    least, greatest = -(1 << bits - 1), (1 << bits - 1) - 1
    if least <= value <= greatest:
        return value
    machine.set_errno(34)
    return greatest if value > 0 else least


def _strto(
    machine: Machine, site: int, text: Pointer, end: Pointer, base: int, bits: int, signed: bool
) -> int:
    if base != 0 and not 2 <= base <= 36:
        raise Undefined("call", f"a number to base {base}", site)
    value, length, _ = integer(machine.text(text, site), base)
    if end != NULL:
        machine.put(end, "p", (text[0], text[1] + length), site)
    if signed:
        return _limited(machine, value, bits)
    if abs(value) >> bits:
        machine.set_errno(34)
        return (1 << bits) - 1
    return value & (1 << bits) - 1


@library()
def c_strtol(machine: Machine, site: int, text: Pointer, end: Pointer, base: int) -> int:
    return _strto(machine, site, text, end, base, machine.model.long_bits, True)


@library()
def c_strtoul(machine: Machine, site: int, text: Pointer, end: Pointer, base: int) -> int:
    return _strto(machine, site, text, end, base, machine.model.long_bits, False)


@library()
def c_strtoll(machine: Machine, site: int, text: Pointer, end: Pointer, base: int) -> int:
    return _strto(machine, site, text, end, base, 64, True)


@library()
def c_strtoull(machine: Machine, site: int, text: Pointer, end: Pointer, base: int) -> int:
    return _strto(machine, site, text, end, base, 64, False)


@library()
def c_atoi(machine: Machine, site: int, text: Pointer) -> int:
    """Numbers that do not fit are undefined (C99, 7.20.1); glibc goes through `long`."""
    value = _limited(machine, integer(machine.text(text, site), 10)[0], machine.model.long_bits)
    bits = machine.model.int_bits
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> bits - 1 else value


@library()
def c_atol(machine: Machine, site: int, text: Pointer) -> int:
    return _limited(machine, integer(machine.text(text, site), 10)[0], machine.model.long_bits)


@library()
def c_atoll(machine: Machine, site: int, text: Pointer) -> int:
    return _limited(machine, integer(machine.text(text, site), 10)[0], 64)


@library()
def c_atof(machine: Machine, site: int, text: Pointer) -> float:
    return floating(machine.text(text, site))[0]


@library()
def c_strtod(machine: Machine, site: int, text: Pointer, end: Pointer) -> float:
    value, length = floating(machine.text(text, site))
    if end != NULL:
        machine.put(end, "p", (text[0], text[1] + length), site)
    return value


@library()
def c_strtof(machine: Machine, site: int, text: Pointer, end: Pointer) -> float:
    return single(c_strtod(machine, site, text, end))


def _magnitude(value: int, bits: int, site: int) -> int:
    if value == -(1 << bits - 1):
        raise Undefined("overflow", f"signed overflow: the absolute value of {value}", site)
    return abs(value)


@library("abs", "__builtin_abs")
def c_abs(machine: Machine, site: int, value: int) -> int:
    return _magnitude(value, machine.model.int_bits, site)


@library()
def c_labs(machine: Machine, site: int, value: int) -> int:
    return _magnitude(value, machine.model.long_bits, site)


@library()
def c_llabs(machine: Machine, site: int, value: int) -> int:
    return _magnitude(value, 64, site)


def _divided(machine: Machine, site: int, left: int, right: int, bits: int) -> Object:
    """The structure of quotient and remainder."""
    if right == 0:
        raise Undefined("division by zero", "division by zero", site)
    quotient = abs(left) // abs(right)
    quotient = quotient if (left < 0) == (right < 0) else -quotient
    size = bits // 8
    result = machine.memory.new(2 * size, "the result of `div`", True)
    machine.put((result, 0), f"i{bits}", quotient, site)
    machine.put((result, size), f"i{bits}", left - quotient * right, site)
    return result


@library()
def c_div(machine: Machine, site: int, left: int, right: int) -> Object:
    return _divided(machine, site, left, right, machine.model.int_bits)


@library()
def c_ldiv(machine: Machine, site: int, left: int, right: int) -> Object:
    return _divided(machine, site, left, right, machine.model.long_bits)


@library()
def c_lldiv(machine: Machine, site: int, left: int, right: int) -> Object:
    return _divided(machine, site, left, right, 64)


# --- random numbers -------------------------------------------------------------------------
# The additive feedback generator that glibc uses: r[i] = r[i-3] + r[i-31], after a linear
# congruential start and 310 rounds that are thrown away.


def _seeded(seed: int) -> list[int]:
    word = (seed or 1) & 0xFFFFFFFF
    state = [word - (1 << 32) if word >> 31 else word]
    for _ in range(30):
        high, low = _quotient(state[-1], 127773)
        following = 16807 * low - 2836 * high
        state.append(following + 2147483647 if following < 0 else following)
    numbers = [value & 0xFFFFFFFF for value in state]
    numbers += numbers[:3]
    for _ in range(310):
        numbers.append((numbers[-3] + numbers[-31]) & 0xFFFFFFFF)
    return numbers[-32:]


def _quotient(left: int, right: int) -> tuple[int, int]:
    quotient = abs(left) // right
    quotient = -quotient if left < 0 else quotient
    return quotient, left - quotient * right


@library()
def c_srand(machine: Machine, site: int, seed: int) -> None:
    machine.random = _seeded(seed)


@library()
def c_rand(machine: Machine, site: int) -> int:
    if not machine.random:
        machine.random = _seeded(1)
    state = machine.random
    value = (state[-3] + state[-31]) & 0xFFFFFFFF
    state.append(value)
    del state[0]
    return value >> 1 & (1 << machine.model.int_bits - 1) - 1


# --- sorting and searching ------------------------------------------------------------------


@library(calls_back=True)
def c_qsort(
    machine: Machine, site: int, base: Pointer, count: int, size: int, compare: Pointer
) -> None:
    """Stable, as glibc's merge sort is."""
    if count < 2 or size == 0:
        return
    items = [
        machine.memory.snapshot(base[0], base[1] + index * size, size, site)
        for index in range(count)
    ]
    # Elements are compared where nobody moves them meanwhile.
    room = machine.memory.new(count * size, "an array that is being sorted", True)
    for index, item in enumerate(items):
        machine.memory.put(room, index * size, item, site)

    def ordered(left: int, right: int) -> int:
        result: int = machine.call(
            compare, ((room, left * size), (room, right * size)), ("p", "p"), machine.int_code, site
        )
        return result

    positions = sorted(range(count), key=cmp_to_key(ordered))
    for index, position in enumerate(positions):
        machine.memory.put(base[0], base[1] + index * size, items[position], site)
    machine.memory.end(room)


@library(calls_back=True)
def c_bsearch(
    machine: Machine,
    site: int,
    key: Pointer,
    base: Pointer,
    count: int,
    size: int,
    compare: Pointer,
) -> Pointer:
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        element = (base[0], base[1] + middle * size)
        result = machine.call(compare, (key, element), ("p", "p"), machine.int_code, site)
        if result == 0:
            return element
        if result < 0:
            high = middle
        else:
            low = middle + 1
    return NULL


# --- ways to end ----------------------------------------------------------------------------


@library("exit", "_Exit", "_exit", "__builtin_exit")
def c_exit(machine: Machine, site: int, status: int) -> None:
    raise Exit(status)


@library("abort", "__builtin_abort", "__builtin_trap")
def c_abort(machine: Machine, site: int) -> None:
    raise Abort


@library("__builtin_unreachable")
def c_unreachable(machine: Machine, site: int) -> None:
    raise Undefined("call", "`__builtin_unreachable` was reached", site)


@library()
def c_atexit(machine: Machine, site: int, function: Pointer) -> int:
    machine.at_exit.append(function)
    return 0


@library()
def c_getenv(machine: Machine, site: int, name: Pointer) -> Pointer:
    return NULL


@library()
def c_system(machine: Machine, site: int, command: Pointer) -> int:
    if command == NULL:
        return 0
    raise Unavailable("`system` runs other programs, which is not done here", site)


@library("__whence_va_arg")
def c_va_arg(machine: Machine, site: int, list_: Pointer, size: int) -> Pointer:
    """The next argument of `...`; each stands in slots of 8 bytes."""
    current: Pointer = machine.get(list_, "p", site)
    machine.put(list_, "p", (current[0], current[1] + (size + 7 & ~7)), site)
    return current


# --- time -----------------------------------------------------------------------------------


@library()
def c_time(machine: Machine, site: int, now: Pointer) -> int:
    if now != NULL:
        machine.put(now, f"i{machine.model.long_bits}", machine.options.now, site)
    return machine.options.now


@library()
def c_clock(machine: Machine, site: int) -> int:
    return 0


@library()
def c_difftime(machine: Machine, site: int, end: int, start: int) -> float:
    return float(end - start)
