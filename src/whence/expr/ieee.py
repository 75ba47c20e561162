"""IEEE 754 numbers of 32 and 64 bits among integers: their places in order, and operations on them.

A floating-point number is kept as its *ordinal*: +0 is 0, each ordinal is followed by that of the
next larger number, and -0 is -1.  Behind +infinity comes the one NaN that there is, as programs
cannot tell NaNs apart by their values.  So order, neighbours and intervals are those of integers.

Operations on such numbers are calls of built-in functions, `f32 +` for instance; `call` makes one.
An argument that is a number of the same format is an expression whose value is an ordinal, an
IntLiteral among them.

* `+ - * /`, `-x` (as `neg`), `<?`, `>?`: rounded to the nearest, ties to even; `<?` and `>?` are
  fmin and fmax of C, with -0 less than +0.
* `== != < <= > >=`: as in C; NaN is different from everything, and not ordered.
* `from int` (32 bits), `f32 from f64` (rounded to the nearest), `f64 from f32` (exact);
  `f64 to int`, towards 0: what does not fit into 32 bits has no value.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from ctypes import c_float
from dataclasses import replace
from fractions import Fraction
from functools import cache, lru_cache
from typing import Final, Literal

from whence.expr.tree import (
    Binary,
    Call,
    Conditional,
    Expr,
    IntLiteral,
    Name,
    Symbol,
    SymbolKind,
    Unary,
)
from whence.expr.types import BOOL, INT32, IntType, Type
from whence.source import NOWHERE, Origin

__all__ = [
    "ARITHMETIC",
    "COMPARISONS",
    "Format",
    "call",
    "divided",
    "format_of",
    "from_ordinal",
    "infinity",
    "literal",
    "nan",
    "nearest",
    "numbers",
    "operation_of",
    "ordinal",
    "ordinal_of_text",
    "readable",
    "rounded",
    "smaller",
    "written",
]

Format = Literal[32, 64]

ARITHMETIC: Final = ("+", "-", "*", "/", "<?", ">?", "neg")
COMPARISONS: Final = ("==", "!=", "<", "<=", ">", ">=")
_SIGN: Final = {32: 1 << 31, 64: 1 << 63}
_INFINITY: Final = {32: 0x7F80_0000, 64: 0x7FF0_0000_0000_0000}


def infinity(format_: Format) -> int:
    """The ordinal of +infinity."""
    return _INFINITY[format_]


def nan(format_: Format) -> int:
    """The ordinal of NaN, the last."""
    return _INFINITY[format_] + 1


@cache
def numbers(format_: Format) -> IntType:
    """All ordinals, from -infinity to NaN."""
    return IntType(-1 - _INFINITY[format_], nan(format_))


# --------------------------------------------------------------------------------------- numbers


def rounded(value: float, format_: Format) -> float:
    """The nearest number of a format."""
    return c_float(value).value if format_ == 32 else value


@lru_cache(maxsize=1 << 16)
def from_ordinal(number: int, format_: Format) -> float:
    """Its value; both formats fit into Python's numbers."""
    if number == nan(format_):
        return math.nan
    bits = number if number >= 0 else _SIGN[format_] | (-1 - number)
    if format_ == 32:
        return float(struct.unpack("<f", struct.pack("<I", bits))[0])
    return float(struct.unpack("<d", struct.pack("<Q", bits))[0])


def ordinal(value: float, format_: Format) -> int:
    """Pre: the value is one of that format."""
    if value != value:
        return nan(format_)
    if format_ == 32:
        bits = int(struct.unpack("<I", struct.pack("<f", value))[0])
    else:
        bits = int(struct.unpack("<Q", struct.pack("<d", value))[0])
    sign = _SIGN[format_]
    return bits if bits < sign else -1 - (bits - sign)


def nearest(value: Fraction, format_: Format) -> int:
    """The ordinal of the number that is nearest to an exact one, ties to even."""
    try:
        wide = float(value)
    except OverflowError:
        wide = math.inf if value > 0 else -math.inf
    found = ordinal(rounded(wide, format_), format_)
    if format_ == 64:
        return found

    # Rounded twice: the first may have made a tie. An infinity stands for the next power of two.
    def distance(one: int) -> tuple[Fraction, int, bool]:
        near = from_ordinal(one, 32)
        exact = (
            Fraction(near) if math.isfinite(near) else Fraction(2**128 if near > 0 else -(2**128))
        )
        return abs(exact - value), (one if one >= 0 else -1 - one) & 1, one != found

    most = infinity(32)
    near = (one for one in (found - 1, found, found + 1) if -1 - most <= one <= most)
    return min(near, key=distance)


def ordinal_of_text(text: str, format_: Format) -> int:
    """The number that is nearest to a written one. Raises ValueError."""
    plain = text.strip().lower()
    if plain.lstrip("+-") in ("inf", "infinity", "nan"):
        return ordinal(float(plain), format_)
    if len(plain) > 400 or "_" in plain:
        raise ValueError(text)
    try:
        found = nearest(Fraction(plain), format_)
    except ZeroDivisionError:
        raise ValueError(text) from None
    return -1 if found == 0 and plain.startswith("-") else found


def written(number: int, format_: Format) -> str:
    """The shortest decimal number that is nearest to this one; `inf`, `-inf` and `nan`."""
    value = from_ordinal(number, format_)
    if format_ == 64 or not value or not math.isfinite(value):
        return repr(value)
    texts = (f"{value:.{digits}g}" for digits in range(1, 10))
    return next(repr(float(text)) for text in texts if rounded(float(text), 32) == value)


def divided(left: float, right: float) -> float:
    """Division as IEEE 754 has it."""
    if right:
        return left / right
    if not left or left != left:
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1.0, right)


def smaller(left: float, right: float) -> float:
    """fmin of C, with -0 less than +0."""
    if left != left:
        return right
    if right != right or left < right:
        return left
    if left == right:
        return left if math.copysign(1.0, left) < 0 else right
    return right


# ----------------------------------------------------------------------------------- expressions


def call(format_: Format, op: str, *arguments: Expr, origin: Origin = NOWHERE) -> Expr:
    """An operation whose result (or, of a comparison and of `to int`, whose argument) has that
    format. Known arguments are computed at once."""
    type_: Type = BOOL if op in COMPARISONS else INT32 if op == "to int" else numbers(format_)
    name = f"f{format_} {op}"
    place = origin if origin.line else arguments[0].origin
    symbol = Symbol("", name, SymbolKind.FUNCTION, type_)
    new = Call(name, arguments, symbol, type=type_, origin=place)
    if op in _FOLDED and all(isinstance(one, IntLiteral) for one in arguments):
        known = [one.value for one in arguments if isinstance(one, IntLiteral)]
        return literal(_FOLDED[op](format_, *known), place)
    return new


def _neg(format_: Format, number: int) -> int:
    return number if number == nan(format_) else -1 - number


def _from_int(format_: Format, number: int) -> int:
    return ordinal(rounded(float(number), format_), format_)


def _from_32(_: Format, number: int) -> int:
    return ordinal(from_ordinal(number, 32), 64)


def _from_64(_: Format, number: int) -> int:
    return ordinal(rounded(from_ordinal(number, 64), 32), 32)


_FOLDED: Final[dict[str, Callable[..., int]]] = {
    "neg": _neg,
    "from int": _from_int,
    "from f32": _from_32,
    "from f64": _from_64,
}


def literal(number: int, origin: Origin = NOWHERE) -> Expr:
    """A number by its ordinal."""
    return IntLiteral(number, type=IntType(number, number), origin=origin)


def operation_of(expr: Call) -> tuple[Format, str] | None:
    """The format and the operation, if it is one of ours."""
    if expr.callee[:4] == "f32 ":
        return 32, expr.callee[4:]
    return (64, expr.callee[4:]) if expr.callee[:4] == "f64 " else None


def format_of(expr: Call, number: int) -> Format | None:
    """The format of an argument of an operation; None: it is an integer."""
    found = operation_of(expr)
    assert found is not None
    match found:
        case _, "from int":
            return None
        case _, "from f32":
            return 32
        case _, "from f64":
            return 64
    return found[0]


def readable(expr: Expr) -> Expr:
    """As its author may have written it: only good for printing."""
    match expr:
        case Call():
            found = operation_of(expr)
            if found is None:
                return expr
            parts: list[Expr] = []
            for place, one in enumerate(expr.arguments):
                format_ = format_of(expr, place)
                if format_ is not None and isinstance(one, IntLiteral):
                    parts.append(Name(written(one.value, format_)))
                else:
                    parts.append(readable(one))
            if found[1] == "neg":
                return Unary("-", parts[0], origin=expr.origin)
            if len(parts) == 1:
                return parts[0]
            return Binary(found[1], parts[0], parts[1], origin=expr.origin)
        case Unary():
            return replace(expr, operand=readable(expr.operand))
        case Binary():
            return replace(expr, left=readable(expr.left), right=readable(expr.right))
        case Conditional():
            return replace(
                expr,
                condition=readable(expr.condition),
                then=readable(expr.then),
                otherwise=readable(expr.otherwise),
            )
    return expr
