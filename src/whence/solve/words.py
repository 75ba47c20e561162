"""Arithmetic of bit vectors, as circuits.

A *word* is a tuple of literals, the least significant bit first; as in C, it is the operation that
is signed or not, and results are cut to the width of the operands.  What C leaves undefined has a
condition of its own, for the caller to check or to require: `add_overflows` and its kin,
`divides_by_zero`, `division_overflows`, `shifts_too_far`.  Where such a condition holds, results
are those of SMT-LIB's bit vectors: they are the same each time.
"""

from __future__ import annotations

from collections.abc import Sequence

from whence.solve.circuits import FALSE, TRUE, Circuit, Literal

__all__ = [
    "Word",
    "add",
    "add_overflows",
    "as_constant",
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "bitwise_xor",
    "choose",
    "constant",
    "divides_by_zero",
    "division_overflows",
    "equal",
    "extend",
    "fresh",
    "havoc",
    "is_zero",
    "less",
    "less_equal",
    "multiply",
    "multiply_overflows",
    "negate",
    "nonzero",
    "parity",
    "shift_left",
    "shift_right",
    "shifts_too_far",
    "signed_div_rem",
    "subtract",
    "subtract_overflows",
    "truncate",
    "unsigned_div_rem",
    "value_of",
]

Word = tuple[Literal, ...]


# ---------------------------------------------------------------------------- making and reading


def constant(value: int, width: int) -> Word:
    """`value` modulo 2^width."""
    return tuple(value >> bit & 1 for bit in range(width))


def as_constant(word: Word, *, signed: bool = False) -> int | None:
    """The value of a word that has no variable bits."""
    if any(bit > 1 for bit in word):
        return None
    return value_of(word, signed=signed)


def value_of(bits: Sequence[int], *, signed: bool = False) -> int:
    """The number that these bits, each 0 or 1, stand for."""
    number = sum(bit << place for place, bit in enumerate(bits))
    if signed and bits and bits[-1]:
        number -= 1 << len(bits)
    return number


def fresh(circuit: Circuit, width: int) -> Word:
    """New inputs."""
    return circuit.inputs(width)


def havoc(circuit: Circuit, healthy: Literal, word: Word) -> Word:
    """`word` if `healthy`, otherwise anything."""
    return tuple(circuit.havoc(healthy, bit) for bit in word)


def truncate(word: Word, width: int) -> Word:
    return word[:width]


def extend(word: Word, width: int, *, signed: bool) -> Word:
    """The same number in at least `width` bits. Pre: a signed word is not empty."""
    return word + (word[-1] if signed else FALSE,) * (width - len(word))


# ------------------------------------------------------------------------------------- bit by bit


def bitwise_not(word: Word) -> Word:
    return tuple(bit ^ 1 for bit in word)


def bitwise_and(circuit: Circuit, a: Word, b: Word) -> Word:
    return tuple(circuit.and_(p, q) for p, q in zip(a, b, strict=True))


def bitwise_or(circuit: Circuit, a: Word, b: Word) -> Word:
    return tuple(circuit.or_(p, q) for p, q in zip(a, b, strict=True))


def bitwise_xor(circuit: Circuit, a: Word, b: Word) -> Word:
    return tuple(circuit.xor(p, q) for p, q in zip(a, b, strict=True))


def choose(circuit: Circuit, condition: Literal, then: Word, otherwise: Word) -> Word:
    return tuple(circuit.ite(condition, p, q) for p, q in zip(then, otherwise, strict=True))


def parity(circuit: Circuit, word: Word) -> Literal:
    result = FALSE
    for bit in word:
        result = circuit.xor(result, bit)
    return result


# ------------------------------------------------------------------------------------ comparisons


def nonzero(circuit: Circuit, word: Word) -> Literal:
    return circuit.any_(word)


def is_zero(circuit: Circuit, word: Word) -> Literal:
    return nonzero(circuit, word) ^ 1


def equal(circuit: Circuit, a: Word, b: Word) -> Literal:
    return circuit.all_(circuit.iff(p, q) for p, q in zip(a, b, strict=True))


def less(circuit: Circuit, a: Word, b: Word, *, signed: bool) -> Literal:
    """a < b."""
    if signed and a:
        # With the sign bits negated, two's complement is ordered as unsigned numbers are.
        a, b = (*a[:-1], a[-1] ^ 1), (*b[:-1], b[-1] ^ 1)
    # The borrow of a - b.
    borrow = FALSE
    for p, q in zip(a, b, strict=True):
        borrow = circuit.majority(p ^ 1, q, borrow)
    return borrow


def less_equal(circuit: Circuit, a: Word, b: Word, *, signed: bool) -> Literal:
    return less(circuit, b, a, signed=signed) ^ 1


# ----------------------------------------------------------------------------- sums and products


def _sum(circuit: Circuit, a: Word, b: Word, carry: Literal) -> tuple[Word, Literal, Literal]:
    """(a + b + carry, the carry out of the last bit, the carry into it)."""
    bits = []
    before = carry
    for p, q in zip(a, b, strict=True):
        before = carry
        bits.append(circuit.xor(circuit.xor(p, q), carry))
        carry = circuit.majority(p, q, carry)
    return tuple(bits), carry, before


def add(circuit: Circuit, a: Word, b: Word) -> Word:
    return _sum(circuit, a, b, FALSE)[0]


def subtract(circuit: Circuit, a: Word, b: Word) -> Word:
    return _sum(circuit, a, bitwise_not(b), TRUE)[0]


def negate(circuit: Circuit, a: Word) -> Word:
    return subtract(circuit, constant(0, len(a)), a)


def add_overflows(circuit: Circuit, a: Word, b: Word, *, signed: bool) -> Literal:
    _, out, into = _sum(circuit, a, b, FALSE)
    return circuit.xor(out, into) if signed else out


def subtract_overflows(circuit: Circuit, a: Word, b: Word, *, signed: bool) -> Literal:
    """Also that of `negate`, where a is 0."""
    _, out, into = _sum(circuit, a, bitwise_not(b), TRUE)
    return circuit.xor(out, into) if signed else out ^ 1


def multiply(circuit: Circuit, a: Word, b: Word) -> Word:
    width = len(a)
    # Fewer rows: the operand that is constant, or has more constant bits, chooses them.
    if sum(bit > 1 for bit in b) > sum(bit > 1 for bit in a):
        a, b = b, a
    known = as_constant(b)
    if known is not None:
        return _multiply_constant(circuit, a, known)
    total = constant(0, width)
    for place, chooser in enumerate(b):
        if chooser == FALSE:
            continue
        row = tuple(circuit.and_(chooser, bit) for bit in a[: width - place])
        total = total[:place] + add(circuit, total[place:], row)
    return total


def _multiply_constant(circuit: Circuit, a: Word, factor: int) -> Word:
    """By digits 1, 0 and -1, no two neighbours of which are not 0."""
    width = len(a)
    total = constant(0, width)
    place = 0
    while factor and place < width:
        if factor & 1:
            shifted = a[: width - place]
            upper = total[place:]
            if factor & 3 == 3:
                factor += 1
                total = total[:place] + subtract(circuit, upper, shifted)
            else:
                factor -= 1
                total = total[:place] + add(circuit, upper, shifted)
        factor >>= 1
        place += 1
    return total


def multiply_overflows(circuit: Circuit, a: Word, b: Word, *, signed: bool) -> Literal:
    width = len(a)
    wide = [extend(word, 2 * width, signed=signed) for word in (a, b)]
    product = multiply(circuit, *wide)
    if not signed:
        return nonzero(circuit, product[width:])
    return circuit.any_(circuit.xor(product[width - 1], bit) for bit in product[width:])


# -------------------------------------------------------------------------------------- division


def unsigned_div_rem(circuit: Circuit, a: Word, b: Word) -> tuple[Word, Word]:
    """(a / b, a % b); with b = 0: (the largest number, a)."""
    width = len(a)
    known = as_constant(b)
    if known is not None and known and known & (known - 1) == 0:
        places = known.bit_length() - 1
        return a[places:] + (FALSE,) * places, a[:places] + (FALSE,) * (width - places)
    quotient: list[Literal] = [FALSE] * width
    rest: Word = ()
    for place in range(width - 1, -1, -1):
        # `rest` is smaller than b, and has no more bits than have been brought down.
        rest = (a[place], *rest)
        size = len(rest)
        difference, fits, _ = _sum(circuit, rest, bitwise_not(b[:size]), TRUE)
        fits = circuit.and_(fits, circuit.any_(b[size:]) ^ 1)
        quotient[place] = fits
        rest = choose(circuit, fits, difference, rest)
    return tuple(quotient), rest


def signed_div_rem(circuit: Circuit, a: Word, b: Word) -> tuple[Word, Word]:
    """As in C: the quotient is cut towards 0, and the remainder has the sign of a. With b = 0: -1
    or 1, which is not a's sign, and a. The least number by -1: itself, and 0."""
    minus_a, minus_b = a[-1], b[-1]
    quotient, rest = unsigned_div_rem(
        circuit,
        choose(circuit, minus_a, negate(circuit, a), a),
        choose(circuit, minus_b, negate(circuit, b), b),
    )
    return (
        choose(circuit, circuit.xor(minus_a, minus_b), negate(circuit, quotient), quotient),
        choose(circuit, minus_a, negate(circuit, rest), rest),
    )


def divides_by_zero(circuit: Circuit, b: Word) -> Literal:
    return is_zero(circuit, b)


def division_overflows(circuit: Circuit, a: Word, b: Word) -> Literal:
    """Of signed numbers: the least one by -1."""
    least = constant(1 << (len(a) - 1), len(a))
    return circuit.and_(equal(circuit, a, least), circuit.all_(b))


# ---------------------------------------------------------------------------------------- shifts


def shift_left(circuit: Circuit, a: Word, amount: Word) -> Word:
    """0 with an amount, which is unsigned, of the width of a or more."""
    return _shift(circuit, a[::-1], amount, FALSE)[::-1]


def shift_right(circuit: Circuit, a: Word, amount: Word, *, signed: bool) -> Word:
    """Copies of the sign bit come in, if it is signed."""
    return _shift(circuit, a, amount, a[-1] if signed else FALSE)


def _shift(circuit: Circuit, a: Word, amount: Word, filling: Literal) -> Word:
    width = len(a)
    far = FALSE
    for place, bit in enumerate(amount):
        distance = 1 << place
        if distance >= width:
            far = circuit.any_(amount[place:])
            break
        a = choose(circuit, bit, a[distance:] + (filling,) * distance, a)
    return choose(circuit, far, (filling,) * width, a)


def shifts_too_far(circuit: Circuit, width: int, amount: Word, *, signed: bool) -> Literal:
    """The amount is negative, or not less than the width of what is shifted."""
    if signed:
        # A negative number is a large unsigned one.
        amount = extend(amount, max(len(amount), width.bit_length() + 1), signed=True)
    else:
        amount = extend(amount, width.bit_length(), signed=False)
    return less(circuit, amount, constant(width, len(amount)), signed=False) ^ 1
