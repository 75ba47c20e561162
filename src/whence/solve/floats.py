"""IEEE 754 binary floating point, as circuits: bit-precise, rounding to nearest, ties to even.

A number is a word as it stands in memory: fraction, exponent, sign.  Wherever a result is not a
number, it is the same one, quiet and positive; what bits C compilers give it differs anyway.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Final

from whence.solve.circuits import FALSE, TRUE, Circuit, Literal
from whence.solve.words import (
    Word,
    add,
    choose,
    constant,
    equal,
    extend,
    is_zero,
    less,
    less_equal,
    multiply,
    negate,
    nonzero,
    subtract,
)

__all__ = [
    "DOUBLE",
    "SINGLE",
    "Format",
    "absolute",
    "convert",
    "float_add",
    "float_constant",
    "float_divide",
    "float_equal",
    "float_less",
    "float_less_equal",
    "float_multiply",
    "float_negate",
    "float_sqrt",
    "float_subtract",
    "from_integer",
    "is_infinite",
    "is_nan",
    "to_integer",
]


@dataclass(frozen=True, slots=True)
class Format:
    """`significand` counts the bit that is not written, `exponent` the bits of the exponent."""

    exponent: int
    significand: int

    @property
    def width(self) -> int:
        return self.exponent + self.significand

    @property
    def bias(self) -> int:
        return (1 << (self.exponent - 1)) - 1


SINGLE: Final = Format(8, 24)
DOUBLE: Final = Format(11, 53)


def float_constant(value: float, form: Format) -> Word:
    """Pre: `form` is SINGLE or DOUBLE. Rounded to it; too large a number is infinite."""
    if value != value:
        return _nan(form)
    if form == DOUBLE:
        return constant(int.from_bytes(struct.pack("<d", value), "little"), 64)
    if form != SINGLE:
        raise ValueError("a format that Python does not have")
    try:
        packed = struct.pack("<f", value)
    except OverflowError:
        packed = struct.pack("<f", float("inf") if value > 0 else float("-inf"))
    return constant(int.from_bytes(packed, "little"), 32)


# -------------------------------------------------------------------------------------- the parts


def _fraction(a: Word, form: Format) -> Word:
    return a[: form.significand - 1]


def _exponent(a: Word, form: Format) -> Word:
    return a[form.significand - 1 : -1]


def is_nan(circuit: Circuit, a: Word, form: Format) -> Literal:
    return circuit.and_(circuit.all_(_exponent(a, form)), nonzero(circuit, _fraction(a, form)))


def is_infinite(circuit: Circuit, a: Word, form: Format) -> Literal:
    return circuit.and_(circuit.all_(_exponent(a, form)), is_zero(circuit, _fraction(a, form)))


def _is_zero(circuit: Circuit, a: Word) -> Literal:
    return is_zero(circuit, a[:-1])


def _nan(form: Format) -> Word:
    return (
        constant(1 << (form.significand - 2), form.significand - 1)
        + (TRUE,) * form.exponent
        + (FALSE,)
    )


def _infinity(sign: Literal, form: Format) -> Word:
    return (FALSE,) * (form.significand - 1) + (TRUE,) * form.exponent + (sign,)


def float_negate(a: Word) -> Word:
    return (*a[:-1], a[-1] ^ 1)


def absolute(a: Word) -> Word:
    return (*a[:-1], FALSE)


def _leading_zeros(circuit: Circuit, a: Word) -> tuple[Word, Word]:
    """(a, shifted left until its last bit is 1, by how much); 0 stays 0."""
    count: list[Literal] = []
    places = (len(a) - 1).bit_length()
    for place in range(places - 1, -1, -1):
        distance = 1 << place
        empty = is_zero(circuit, a[-distance:])
        a = choose(circuit, empty, (FALSE,) * distance + a[:-distance], a)
        count.append(empty)
    return a, tuple(reversed(count))


def _shift_sticky(circuit: Circuit, a: Word, amount: Word) -> Word:
    """Shifted right; the first bit of the result is 1 if it or a bit that went out is."""
    lost = FALSE
    for place, bit in enumerate(amount):
        distance = 1 << place
        if distance >= len(a):
            far = circuit.any_(amount[place:])
            lost = circuit.or_(lost, circuit.and_(far, nonzero(circuit, a)))
            a = choose(circuit, far, (FALSE,) * len(a), a)
            break
        gone = nonzero(circuit, a[:distance])
        lost = circuit.or_(lost, circuit.and_(bit, gone))
        a = choose(circuit, bit, a[distance:] + (FALSE,) * distance, a)
    return (circuit.or_(a[0], lost), *a[1:])


@dataclass(frozen=True, slots=True)
class _Parts:
    """A finite number, not 0: 1.f times 2^exponent, the significand with its leading 1."""

    sign: Literal
    exponent: Word  # signed, two bits wider than the format's
    significand: Word


def _unpack(circuit: Circuit, a: Word, form: Format) -> _Parts:
    width = form.exponent + 2
    raw = extend(_exponent(a, form), width, signed=False)
    normal = nonzero(circuit, raw)
    significand, zeros = _leading_zeros(circuit, (*_fraction(a, form), normal))
    # The exponent of numbers that are not normal is that of the least normal ones.
    base = subtract(
        circuit,
        choose(circuit, normal, raw, constant(1, width)),
        constant(form.bias, width),
    )
    exponent = subtract(circuit, base, extend(zeros, width, signed=False)[:width])
    return _Parts(a[-1], exponent, significand)


def _round(
    circuit: Circuit, sign: Literal, exponent: Word, significand: Word, form: Format
) -> Word:
    """The nearest number. The significand is 1.f with any number of bits, the first of which may
    stand for all that were cut off; or it is 0, and the exponent anything."""
    bits = form.significand
    if len(significand) < bits + 2:
        significand = (FALSE,) * (bits + 2 - len(significand)) + significand
    width = max(len(exponent), form.exponent + 2) + 1
    exponent = extend(exponent, width, signed=True)
    # Below the least exponent, the number is cut where the least one is.
    biased = add(circuit, exponent, constant(form.bias, width))
    small = less(circuit, biased, constant(1, width), signed=True)
    distance = subtract(circuit, constant(1, width), biased)
    shifted = _shift_sticky(
        circuit, significand, tuple(circuit.and_(small, bit) for bit in distance)
    )
    kept, guard, rest = shifted[-bits:], shifted[-bits - 1], shifted[: -bits - 1]
    up = circuit.and_(guard, circuit.or_(nonzero(circuit, rest), kept[0]))
    # The leading 1 adds one to the exponent's field, and so does a carry.
    field = choose(
        circuit, small, constant(0, width), subtract(circuit, biased, constant(1, width))
    )
    size = bits - 1 + width
    total = add(
        circuit,
        add(circuit, (FALSE,) * (bits - 1) + field, extend(kept, size, signed=False)),
        extend((up,), size, signed=False),
    )
    # `field` is not negative.
    highest = constant((1 << form.exponent) - 1, width)
    overflows = less_equal(circuit, highest, total[bits - 1 :], signed=False)
    overflows = circuit.and_(overflows, nonzero(circuit, significand))
    packed = (*total[: form.width - 1], sign)
    packed = choose(circuit, overflows, _infinity(sign, form), packed)
    nothing = is_zero(circuit, significand)
    return choose(circuit, nothing, (FALSE,) * (form.width - 1) + (sign,), packed)


# -------------------------------------------------------------------------------------- arithmetic


def float_add(circuit: Circuit, a: Word, b: Word, form: Format) -> Word:
    bits = form.significand
    # The larger one, by magnitude, first: magnitudes are ordered as their words are.
    swap = less(circuit, a[:-1], b[:-1], signed=False)
    x, y = choose(circuit, swap, b, a), choose(circuit, swap, a, b)

    def parts(word: Word) -> tuple[Word, Word]:
        raw = _exponent(word, form)
        normal = nonzero(circuit, raw)
        # 0 and the numbers that are not normal have the exponent 1.
        raw = (circuit.or_(raw[0], normal ^ 1), *raw[1:])
        return raw, (FALSE, FALSE, FALSE, *_fraction(word, form), normal)

    (x_raw, x_significand), (y_raw, y_significand) = parts(x), parts(y)
    distance = subtract(circuit, x_raw, y_raw)
    aligned = _shift_sticky(circuit, y_significand, distance)
    minus = circuit.xor(a[-1], b[-1])
    wide = extend(x_significand, bits + 4, signed=False)
    other = tuple(circuit.xor(bit, minus) for bit in extend(aligned, bits + 4, signed=False))
    total = add(circuit, wide, other)
    total = add(circuit, total, extend((minus,), bits + 4, signed=False))
    significand, zeros = _leading_zeros(circuit, total)
    width = form.exponent + 2
    # The last bit of the sum stands for twice the exponent.
    exponent = add(circuit, extend(x_raw, width, signed=False), constant(1 - form.bias, width))
    exponent = subtract(circuit, exponent, extend(zeros, width, signed=False)[:width])
    nothing = is_zero(circuit, total)
    sign = circuit.ite(nothing, circuit.and_(a[-1], b[-1]), x[-1])
    result = _round(circuit, sign, exponent, significand, form)

    infinite_a, infinite_b = is_infinite(circuit, a, form), is_infinite(circuit, b, form)
    infinite = circuit.or_(infinite_a, infinite_b)
    result = choose(circuit, infinite, _infinity(x[-1], form), result)
    none = circuit.any_(
        [
            is_nan(circuit, a, form),
            is_nan(circuit, b, form),
            circuit.all_([infinite_a, infinite_b, minus]),
        ]
    )
    return choose(circuit, none, _nan(form), result)


def float_subtract(circuit: Circuit, a: Word, b: Word, form: Format) -> Word:
    return float_add(circuit, a, float_negate(b), form)


def float_multiply(circuit: Circuit, a: Word, b: Word, form: Format) -> Word:
    bits = form.significand
    x, y = _unpack(circuit, a, form), _unpack(circuit, b, form)
    sign = circuit.xor(a[-1], b[-1])
    product = multiply(
        circuit,
        extend(x.significand, 2 * bits, signed=False),
        extend(y.significand, 2 * bits, signed=False),
    )
    # Between 1 and 4.
    large = product[-1]
    product = choose(circuit, large, product, (FALSE, *product[:-1]))
    width = form.exponent + 3
    exponent = add(
        circuit,
        extend(x.exponent, width, signed=True),
        extend(y.exponent, width, signed=True),
    )
    exponent = add(circuit, exponent, extend((large,), width, signed=False))
    result = _round(circuit, sign, exponent, product, form)

    zero = circuit.or_(_is_zero(circuit, a), _is_zero(circuit, b))
    infinite = circuit.or_(is_infinite(circuit, a, form), is_infinite(circuit, b, form))
    result = choose(circuit, zero, (FALSE,) * (form.width - 1) + (sign,), result)
    result = choose(circuit, infinite, _infinity(sign, form), result)
    none = circuit.any_(
        [is_nan(circuit, a, form), is_nan(circuit, b, form), circuit.and_(zero, infinite)]
    )
    return choose(circuit, none, _nan(form), result)


def float_divide(circuit: Circuit, a: Word, b: Word, form: Format) -> Word:
    """Also by 0, as IEEE has it."""
    bits = form.significand
    x, y = _unpack(circuit, a, form), _unpack(circuit, b, form)
    sign = circuit.xor(a[-1], b[-1])
    rest = extend(x.significand, bits + 1, signed=False)
    divisor = extend(y.significand, bits + 1, signed=False)
    quotient: list[Literal] = []
    for _ in range(bits + 2):
        fits = less_equal(circuit, divisor, rest, signed=False)
        quotient.append(fits)
        rest = choose(circuit, fits, subtract(circuit, rest, divisor), rest)
        rest = (FALSE, *rest[:-1])
    # Between 1/2 and 2; what is left of the rest is below all bits.
    significand = (nonzero(circuit, rest), *reversed(quotient))
    large = significand[-1]
    significand = choose(circuit, large, significand, (FALSE, *significand[:-1]))
    width = form.exponent + 3
    exponent = subtract(
        circuit,
        extend(x.exponent, width, signed=True),
        extend(y.exponent, width, signed=True),
    )
    exponent = subtract(circuit, exponent, extend((large ^ 1,), width, signed=False))
    result = _round(circuit, sign, exponent, significand, form)

    zero_a, zero_b = _is_zero(circuit, a), _is_zero(circuit, b)
    infinite_a, infinite_b = is_infinite(circuit, a, form), is_infinite(circuit, b, form)
    nothing = circuit.or_(zero_a, infinite_b)
    result = choose(circuit, nothing, (FALSE,) * (form.width - 1) + (sign,), result)
    infinite = circuit.or_(infinite_a, zero_b)
    result = choose(circuit, infinite, _infinity(sign, form), result)
    none = circuit.any_(
        [
            is_nan(circuit, a, form),
            is_nan(circuit, b, form),
            circuit.and_(zero_a, zero_b),
            circuit.and_(infinite_a, infinite_b),
        ]
    )
    return choose(circuit, none, _nan(form), result)


def float_sqrt(circuit: Circuit, a: Word, form: Format) -> Word:
    bits = form.significand
    x = _unpack(circuit, a, form)
    # With an even exponent: the significand, or twice it, is between 1 and 4.
    odd = x.exponent[0]
    value = choose(circuit, odd, (FALSE, *x.significand), (*x.significand, FALSE))
    steps = bits + 2
    # The digits of the radicand, two at a time, the highest first.
    digits = (FALSE,) * (2 * steps - len(value)) + value
    root: Word = ()
    rest: Word = (FALSE, FALSE)
    for step in range(steps - 1, -1, -1):
        rest = (digits[2 * step], digits[2 * step + 1], *rest)
        # Does (2 root + 1)^2 still fit? That is 4 root + 1 to be taken away.
        trial = extend((TRUE, FALSE, *root), len(rest), signed=False)
        fits = less_equal(circuit, trial, rest, signed=False)
        rest = choose(circuit, fits, subtract(circuit, rest, trial), rest)
        root = (fits, *root)
        # The rest is at most twice the root.
        rest = rest[: len(root) + 2]
    significand = (nonzero(circuit, rest), *root)
    # Halved, towards minus infinity: with an odd exponent, one of it went into the radicand.
    exponent = (*x.exponent[1:], x.exponent[-1])
    result = _round(circuit, FALSE, exponent, significand, form)
    result = choose(circuit, _is_zero(circuit, a), a, result)
    result = choose(circuit, is_infinite(circuit, a, form), a, result)
    negative = circuit.and_(a[-1], _is_zero(circuit, a) ^ 1)
    none = circuit.or_(is_nan(circuit, a, form), negative)
    return choose(circuit, none, _nan(form), result)


# ------------------------------------------------------------------------------------ comparisons


def float_equal(circuit: Circuit, a: Word, b: Word, form: Format) -> Literal:
    zeros = circuit.and_(_is_zero(circuit, a), _is_zero(circuit, b))
    numbers = circuit.and_(is_nan(circuit, a, form) ^ 1, is_nan(circuit, b, form) ^ 1)
    return circuit.and_(numbers, circuit.or_(zeros, equal(circuit, a, b)))


def float_less(circuit: Circuit, a: Word, b: Word, form: Format) -> Literal:
    zeros = circuit.and_(_is_zero(circuit, a), _is_zero(circuit, b))
    numbers = circuit.and_(is_nan(circuit, a, form) ^ 1, is_nan(circuit, b, form) ^ 1)
    below = less(circuit, a[:-1], b[:-1], signed=False)
    above = less(circuit, b[:-1], a[:-1], signed=False)
    ordered = circuit.ite(circuit.xor(a[-1], b[-1]), a[-1], circuit.ite(a[-1], above, below))
    return circuit.all_([numbers, zeros ^ 1, ordered])


def float_less_equal(circuit: Circuit, a: Word, b: Word, form: Format) -> Literal:
    return circuit.or_(float_less(circuit, a, b, form), float_equal(circuit, a, b, form))


# ------------------------------------------------------------------------------------ conversions


def convert(circuit: Circuit, a: Word, form: Format, to: Format) -> Word:
    if form == to:
        return a
    x = _unpack(circuit, a, form)
    result = _round(circuit, a[-1], x.exponent, x.significand, to)
    result = choose(circuit, is_infinite(circuit, a, form), _infinity(a[-1], to), result)
    return choose(circuit, is_nan(circuit, a, form), _nan(to), result)


def from_integer(circuit: Circuit, a: Word, form: Format, *, signed: bool) -> Word:
    sign = a[-1] if signed else FALSE
    magnitude = choose(circuit, sign, negate(circuit, a), a)
    significand, zeros = _leading_zeros(circuit, magnitude)
    width = max(len(zeros), len(a).bit_length()) + 2
    exponent = subtract(circuit, constant(len(a) - 1, width), extend(zeros, width, signed=False))
    return _round(circuit, sign, exponent, significand, form)


def to_integer(
    circuit: Circuit, a: Word, form: Format, width: int, *, signed: bool
) -> tuple[Word, Literal]:
    """(cut towards 0, whether that is no such number: then C leaves the result undefined)."""
    bits = form.significand
    raw = _exponent(a, form)
    size = max(form.exponent + 1, width.bit_length() + 2)
    unbiased = subtract(circuit, extend(raw, size, signed=False), constant(form.bias, size))
    fractional = unbiased[-1]  # below 1, also if the number is not normal
    # A number with more bits than that is too large; so is what is infinite or no number.
    too_large = less(circuit, constant(width, size), unbiased, signed=True)
    fixed = extend((*_fraction(a, form), TRUE), bits + width, signed=False)
    for place in range(width.bit_length()):
        distance = 1 << place
        shifted = ((FALSE,) * distance + fixed)[: len(fixed)]
        fixed = choose(circuit, unbiased[place], shifted, fixed)
    magnitude = fixed[bits - 1 :]  # width + 1 bits
    magnitude = tuple(circuit.and_(fractional ^ 1, bit) for bit in magnitude)
    sign = a[-1]
    result = choose(circuit, sign, negate(circuit, magnitude), magnitude)
    something = nonzero(circuit, magnitude)
    if signed:
        limit = constant(1 << (width - 1), width + 1)
        beyond = circuit.ite(
            sign,
            less(circuit, limit, magnitude, signed=False),
            less_equal(circuit, limit, magnitude, signed=False),
        )
    else:
        beyond = circuit.ite(sign, something, magnitude[width])
    undefined = circuit.or_(circuit.and_(fractional ^ 1, too_large), beyond)
    return result[:width], undefined
