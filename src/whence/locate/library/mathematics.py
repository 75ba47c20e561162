"""math.h. Errors of domain and range give what IEEE 754 says."""

from __future__ import annotations

import math
from collections.abc import Callable

from whence.locate.arithmetic import single, truncate
from whence.locate.library.registry import LIBRARY, Entry, library
from whence.locate.machine import Machine
from whence.locate.memory import Pointer

__all__: list[str] = []

_INF = math.inf
_NAN = math.nan


def _sqrt(x: float) -> float:
    return math.sqrt(x) if x >= 0 else _NAN


def _log(function: Callable[[float], float], pole: float = 0.0) -> Callable[[float], float]:
    def safe(x: float) -> float:
        if x == pole:
            return -_INF
        return function(x) if x > pole else _NAN

    return safe


def _guarded(function: Callable[[float], float]) -> Callable[[float], float]:
    def safe(x: float) -> float:
        try:
            return function(x)
        except ValueError:
            return _NAN
        except OverflowError:
            return _INF

    return safe


def _sinh(x: float) -> float:
    try:
        return math.sinh(x)
    except OverflowError:
        return math.copysign(_INF, x)


def _atanh(x: float) -> float:
    if abs(x) == 1:
        return math.copysign(_INF, x)
    return math.atanh(x) if abs(x) < 1 else _NAN


def _whole(function: Callable[[float], float]) -> Callable[[float], float]:
    def rounded(x: float) -> float:
        if x != x or x in (_INF, -_INF):
            return x
        return math.copysign(float(function(x)), x)

    return rounded


def _away(x: float) -> float:
    """To the nearest integer, halves away from zero."""
    floor = math.floor(abs(x))
    return float(floor + (abs(x) - floor >= 0.5))


def _even(x: float) -> float:
    return float(round(x))


def _logb(x: float) -> float:
    if x == 0:
        return -_INF
    if x in (_INF, -_INF):
        return _INF
    return x if x != x else float(math.frexp(x)[1] - 1)


def _exp2(x: float) -> float:
    return math.pow(2.0, x)


def _cbrt(x: float) -> float:
    if x == 0 or x != x or x in (_INF, -_INF):
        return x
    root: float = math.copysign(abs(x) ** (1 / 3), x)
    # One step of Newton's method, so that cubes have exact roots.
    return root - (root * root * root - x) / (3 * root * root)


_ONE: dict[str, Callable[[float], float]] = {
    "acos": _guarded(math.acos),
    "asin": _guarded(math.asin),
    "atan": math.atan,
    "cos": _guarded(math.cos),
    "sin": _guarded(math.sin),
    "tan": _guarded(math.tan),
    "acosh": _guarded(math.acosh),
    "asinh": math.asinh,
    "atanh": _atanh,
    "cosh": _guarded(math.cosh),
    "sinh": _sinh,
    "tanh": math.tanh,
    "exp": _guarded(math.exp),
    "exp2": _guarded(_exp2),
    "expm1": _guarded(math.expm1),
    "log": _log(math.log),
    "log10": _log(math.log10),
    "log1p": _log(math.log1p, -1.0),
    "log2": _log(math.log2),
    "fabs": abs,
    "cbrt": _cbrt,
    "sqrt": _sqrt,
    "erf": math.erf,
    "erfc": math.erfc,
    "lgamma": _guarded(math.lgamma),
    "tgamma": _guarded(math.gamma),
    "ceil": _whole(math.ceil),
    "floor": _whole(math.floor),
    "trunc": _whole(math.trunc),
    "nearbyint": _whole(_even),
    "rint": _whole(_even),
    "round": _whole(_away),
    "logb": _logb,
}


def _pow(x: float, y: float) -> float:
    try:
        return math.pow(x, y)
    except OverflowError:
        odd = y == math.floor(y) and math.fmod(y, 2) != 0
        return -_INF if x < 0 and odd else _INF
    except ValueError:
        if x == 0:
            odd = y == math.floor(y) and math.fmod(y, 2) != 0
            return math.copysign(_INF, x) if odd else _INF
        return _NAN


def _fmod(x: float, y: float) -> float:
    try:
        return math.fmod(x, y)
    except ValueError:
        return _NAN


def _remainder(x: float, y: float) -> float:
    try:
        return math.remainder(x, y)
    except ValueError:
        return _NAN


def _fmax(x: float, y: float) -> float:
    if x != x:
        return y
    return x if y != y or x >= y else y


def _fmin(x: float, y: float) -> float:
    if x != x:
        return y
    return x if y != y or x <= y else y


def _fdim(x: float, y: float) -> float:
    return x - y if not x <= y else 0.0


_TWO: dict[str, Callable[[float, float], float]] = {
    "atan2": math.atan2,
    "fmod": _fmod,
    "fmax": _fmax,
    "fmin": _fmin,
    "fdim": _fdim,
    "hypot": math.hypot,
    "pow": _pow,
    "remainder": _remainder,
    "copysign": math.copysign,
    "nextafter": math.nextafter,
}


def _register(name: str, one: Callable[..., float], count: int) -> None:
    def double(machine: Machine, site: int, *values: float) -> float:
        return float(one(*values))

    def float_(machine: Machine, site: int, *values: float) -> float:
        return single(float(one(*values)))

    LIBRARY[name] = Entry(double, count)
    if name != "nextafter":
        LIBRARY[name + "f"] = Entry(float_, count)


for _name, _function in _ONE.items():
    _register(_name, _function, 1)
for _name, _pair in _TWO.items():
    _register(_name, _pair, 2)


@library()
def c_frexp(machine: Machine, site: int, x: float, exponent: Pointer) -> float:
    fraction, power = math.frexp(x) if abs(x) < _INF else (x, 0)
    machine.put(exponent, machine.int_code, power, site)
    return fraction


@library("ldexp", "scalbn")
def c_ldexp(machine: Machine, site: int, x: float, exponent: int) -> float:
    try:
        return math.ldexp(x, exponent)
    except OverflowError:
        return math.copysign(_INF, x)


@library()
def c_modf(machine: Machine, site: int, x: float, whole: Pointer) -> float:
    fraction, integer = math.modf(x)
    machine.put(whole, "f64", integer, site)
    return fraction


@library()
def c_modff(machine: Machine, site: int, x: float, whole: Pointer) -> float:
    fraction, integer = math.modf(x)
    machine.put(whole, "f32", integer, site)
    return fraction


def _to_integer(machine: Machine, site: int, x: float, bits: int) -> int:
    return truncate(x, -(1 << bits - 1), (1 << bits - 1) - 1, site)


@library()
def c_lround(machine: Machine, site: int, x: float) -> int:
    return _to_integer(machine, site, _whole(_away)(x), machine.model.long_bits)


@library()
def c_llround(machine: Machine, site: int, x: float) -> int:
    return _to_integer(machine, site, _whole(_away)(x), 64)


@library()
def c_lrint(machine: Machine, site: int, x: float) -> int:
    return _to_integer(machine, site, _whole(_even)(x), machine.model.long_bits)


@library()
def c_llrint(machine: Machine, site: int, x: float) -> int:
    return _to_integer(machine, site, _whole(_even)(x), 64)


@library("__whence_isnan")
def c_isnan(machine: Machine, site: int, x: float) -> int:
    return int(x != x)


@library("__whence_isinf")
def c_isinf(machine: Machine, site: int, x: float) -> int:
    return int(x in (_INF, -_INF))


@library("__whence_isfinite")
def c_isfinite(machine: Machine, site: int, x: float) -> int:
    return int(math.isfinite(x))


@library("__whence_signbit")
def c_signbit(machine: Machine, site: int, x: float) -> int:
    return int(math.copysign(1.0, x) < 0)


@library("__builtin_huge_val", "__builtin_inf", "__builtin_huge_valf", "__builtin_inff")
def c_infinity(machine: Machine, site: int) -> float:
    return _INF


@library("__builtin_nan", "__builtin_nanf")
def c_nan(machine: Machine, site: int, text: Pointer) -> float:
    return _NAN
