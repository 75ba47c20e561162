"""Circuits of floating point against Python's floats and the machine's."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.solve import floats, words
from whence.solve.circuits import Circuit
from whence.solve.floats import DOUBLE, SINGLE, Format
from whence.solve.words import Word

BINARY: dict[str, Callable[[Circuit, Word, Word, Format], Word]] = {
    "add": floats.float_add,
    "subtract": floats.float_subtract,
    "multiply": floats.float_multiply,
    "divide": floats.float_divide,
}
MACHINE = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide}
RELATIONS: dict[str, Callable[[Circuit, Word, Word, Format], int]] = {
    "less": floats.float_less,
    "less_equal": floats.float_less_equal,
    "equal": floats.float_equal,
}
MACHINE_RELATIONS = {"less": np.less, "less_equal": np.less_equal, "equal": np.equal}
TYPES = {SINGLE: (np.float32, np.uint32), DOUBLE: (np.float64, np.uint64)}
SIZES = {SINGLE: 32, DOUBLE: 64}


def patterns(form: Format, count: int, seed: int) -> list[int]:
    """Bits of numbers of all kinds, near each other and far."""
    rng = Random(seed)
    high = (1 << form.exponent) - 1
    found = []
    for _ in range(count):
        exponent = rng.choice(
            [0, 0, 1, high - 1, high, form.bias, form.bias + rng.randint(-30, 30)]
            + [rng.randrange(high)] * 3
        )
        fraction = rng.choice(
            [0, 1, (1 << (form.significand - 1)) - 1, 1 << (form.significand - 2)]
            + [rng.getrandbits(form.significand - 1)] * 4
        )
        sign = rng.getrandbits(1)
        found.append((sign << (form.width - 1)) | (exponent << (form.significand - 1)) | fraction)
    return found


def same(form: Format, bits: int, expected: float) -> bool:
    number, raw = TYPES[form]
    if math.isnan(expected):
        return bool(np.isnan(np.array([bits], raw).view(number))[0])
    return bits == int(np.array([expected], number).view(raw)[0])


def packed(values: list[int], word: Word) -> dict[int, int]:
    return {
        bit >> 1: sum((value >> place & 1) << case for case, value in enumerate(values))
        for place, bit in enumerate(word)
    }


def unpacked(bits: tuple[int, ...], cases: int) -> list[int]:
    return [
        sum((bit >> case & 1) << place for place, bit in enumerate(bits)) for case in range(cases)
    ]


@pytest.mark.parametrize("form", [SINGLE, DOUBLE])
@pytest.mark.parametrize("name", BINARY)
def test_arithmetic_is_that_of_the_machine(name: str, form: Format) -> None:
    circuit = Circuit()
    a, b = words.fresh(circuit, form.width), words.fresh(circuit, form.width)
    result = BINARY[name](circuit, a, b, form)
    count = 6_000
    xs, ys = patterns(form, count, 1), patterns(form, count, 2)
    # Some that almost cancel.
    ys[::5] = [(x ^ 1 << (form.width - 1)) ^ (k % 4) for k, x in enumerate(xs[::5])]
    number, raw = TYPES[form]
    with np.errstate(all="ignore"):
        expected = MACHINE[name](np.array(xs, raw).view(number), np.array(ys, raw).view(number))
    found = unpacked(circuit.values(result, packed(xs, a) | packed(ys, b), width=count), count)
    nan = np.isnan(expected)
    got = np.array(found, raw)
    wrong = np.flatnonzero(np.where(nan, ~np.isnan(got.view(number)), got != expected.view(raw)))
    assert not len(wrong), [(hex(xs[k]), hex(ys[k]), hex(found[k])) for k in wrong[:3]]


@pytest.mark.parametrize("form", [SINGLE, DOUBLE])
@pytest.mark.parametrize("name", RELATIONS)
def test_comparisons_are_those_of_the_machine(name: str, form: Format) -> None:
    circuit = Circuit()
    a, b = words.fresh(circuit, form.width), words.fresh(circuit, form.width)
    result = RELATIONS[name](circuit, a, b, form)
    count = 4_000
    xs, ys = patterns(form, count, 3), patterns(form, count, 4)
    ys[::3] = xs[::3]
    ys[1::6] = [x ^ 1 << (form.width - 1) for x in xs[1::6]]
    number, raw = TYPES[form]
    expected = MACHINE_RELATIONS[name](
        np.array(xs, raw).view(number), np.array(ys, raw).view(number)
    )
    (found,) = circuit.values([result], packed(xs, a) | packed(ys, b), width=count)
    assert [bool(found >> k & 1) for k in range(count)] == expected.tolist()


@pytest.mark.parametrize("form", [SINGLE, DOUBLE])
def test_roots_are_those_of_the_machine(form: Format) -> None:
    circuit = Circuit()
    a = words.fresh(circuit, form.width)
    result = floats.float_sqrt(circuit, a, form)
    count = 5_000
    xs = patterns(form, count, 5)
    number, raw = TYPES[form]
    with np.errstate(all="ignore"):
        expected = np.sqrt(np.array(xs, raw).view(number))
    found = unpacked(circuit.values(result, packed(xs, a), width=count), count)
    for x, bits, wanted in zip(xs, found, expected.tolist(), strict=True):
        assert same(form, bits, wanted), hex(x)


@pytest.mark.parametrize(("form", "to"), [(SINGLE, DOUBLE), (DOUBLE, SINGLE)])
def test_conversions_between_formats(form: Format, to: Format) -> None:
    circuit = Circuit()
    a = words.fresh(circuit, form.width)
    result = floats.convert(circuit, a, form, to)
    count = 5_000
    xs = patterns(form, count, 6)
    if form == DOUBLE:
        xs += [struct.unpack("<Q", struct.pack("<d", x))[0] for x in singles_and_neighbours()]
    count = len(xs)
    number, raw = TYPES[form]
    with np.errstate(all="ignore"):
        expected = np.array(xs, raw).view(number).astype(TYPES[to][0])
    found = unpacked(circuit.values(result, packed(xs, a), width=count), count)
    for x, bits, wanted in zip(xs, found, expected.tolist(), strict=True):
        assert same(to, bits, wanted), hex(x)


def singles_and_neighbours() -> list[float]:
    """Halfway between single numbers, and almost."""
    rng = Random(7)
    found = []
    for _ in range(1_000):
        bits = rng.getrandbits(32) & 0x7F7FFFFF
        low, high = (struct.unpack("<f", struct.pack("<I", bits + k))[0] for k in (0, 1))
        middle = (low + high) / 2
        found += [middle, math.nextafter(middle, 0), math.nextafter(middle, math.inf)]
    return [x for x in found if math.isfinite(x)]


@pytest.mark.parametrize("form", [SINGLE, DOUBLE])
@pytest.mark.parametrize("width", [1, 8, 16, 32, 64])
@pytest.mark.parametrize("signed", [False, True])
def test_integers_become_floats(form: Format, width: int, signed: bool) -> None:
    circuit = Circuit()
    a = words.fresh(circuit, width)
    result = floats.from_integer(circuit, a, form, signed=signed)
    rng = Random(8)
    xs = [0, (1 << width) - 1, 1 << (width - 1)]
    xs += [rng.getrandbits(rng.randint(1, width)) for _ in range(1_000)]
    found = unpacked(circuit.values(result, packed(xs, a), width=len(xs)), len(xs))
    for x, bits in zip(xs, found, strict=True):
        value = x - (1 << width) if signed and x >> (width - 1) else x
        assert bits == nearest(Fraction(value), form), value


def nearest(value: Fraction, form: Format) -> int:
    """From the definition: of all numbers, the nearest one, with the even one of two. For numbers
    that are no smaller than 1, or 0."""
    if value == 0:
        return 0
    size = abs(value)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if Fraction(2) ** exponent > size:
        exponent -= 1
    scaled = round(size / Fraction(2) ** (exponent - form.significand + 1))  # ties to even
    if scaled == 1 << form.significand:
        scaled, exponent = scaled >> 1, exponent + 1
    fraction = scaled - (1 << (form.significand - 1))
    return (
        (value < 0) << (form.width - 1) | (exponent + form.bias) << (form.significand - 1)
    ) | fraction


@pytest.mark.parametrize("form", [SINGLE, DOUBLE])
@pytest.mark.parametrize("width", [1, 8, 16, 32, 64])
@pytest.mark.parametrize("signed", [False, True])
def test_floats_become_integers(form: Format, width: int, signed: bool) -> None:
    circuit = Circuit()
    a = words.fresh(circuit, form.width)
    result, undefined = floats.to_integer(circuit, a, form, width, signed=signed)
    number, raw = TYPES[form]
    limits = [0.0, -0.0, 0.5, -0.5, -0.99, 1.0, -1.0, 1.5]
    for limit in (2.0**width, 2.0 ** (width - 1), 2.0 ** (width + 1)):
        around = number(limit)
        for sign in (1, -1):
            limits += [
                sign * float(x)
                for x in (
                    around,
                    np.nextafter(around, number(0)),
                    around + number(1),
                    np.nextafter(around, number(np.inf)),
                )
            ]
    xs = [int(x) for x in np.array(limits, number).view(raw)] + patterns(form, 1_000, 9)
    *bits, flags = circuit.values([*result, undefined], packed(xs, a), width=len(xs))
    found = unpacked(tuple(bits), len(xs))
    low, high = (-(1 << (width - 1)), 1 << (width - 1)) if signed else (0, 1 << width)
    for case, x in enumerate(xs):
        value = float(np.array([x], raw).view(number)[0])
        whole = math.trunc(value) if math.isfinite(value) else None
        fits = whole is not None and low <= whole < high
        assert bool(flags >> case & 1) == (not fits), value
        if whole is not None and fits:
            assert found[case] == whole % (1 << width), value


@given(st.floats(), st.floats())
def test_constants_fold(x: float, y: float) -> None:
    circuit = Circuit()
    a, b = (floats.float_constant(value, DOUBLE) for value in (x, y))
    total = floats.float_add(circuit, a, b, DOUBLE)
    bits = words.as_constant(total)
    assert bits is not None
    assert same(DOUBLE, bits, x + y)
    assert len(circuit) == 1


def test_constants_of_single_precision_are_rounded() -> None:
    assert words.as_constant(floats.float_constant(1e300, SINGLE)) == 0x7F800000
    assert words.as_constant(floats.float_constant(-1e300, SINGLE)) == 0xFF800000
    assert words.as_constant(floats.float_constant(math.nan, SINGLE)) == 0x7FC00000
    assert words.as_constant(floats.float_constant(0.1, SINGLE)) == 0x3DCCCCCD
    assert words.as_constant(floats.float_negate(floats.float_constant(0.0, SINGLE))) == 1 << 31
    assert words.as_constant(floats.absolute(floats.float_constant(-2.0, SINGLE))) == 0x40000000
    with pytest.raises(ValueError, match="format"):
        floats.float_constant(1.0, Format(5, 11))
