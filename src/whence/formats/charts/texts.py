"""The texts inside a chart that are no expressions: types of variables, effects, rates."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final, Literal

from whence.expr.scope import Problem
from whence.model.chart import Assign, Effect, Send, VariableType
from whence.source import Origin, SourceText

__all__ = [
    "NAME",
    "cut",
    "read_declaration",
    "read_effects",
    "read_rate",
    "read_type",
    "write_effects",
    "write_type",
]

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)

_RANGE = re.compile(r"int\s*\[\s*(-?\d{1,10})\s*,\s*(-?\d{1,10})\s*\]", re.ASCII)
_FRACTION = r"(-?\d{1,9}(?:\.\d{1,9})?)"
_FLOAT = re.compile(
    rf"(float|float32|float64|double)\s*\[\s*{_FRACTION}\s*,\s*{_FRACTION}\s*\]", re.ASCII
)
_FIXED = re.compile(
    rf"fixed\s*\[\s*{_FRACTION}\s*,\s*{_FRACTION}\s*,\s*(\d{{1,9}}(?:\.\d{{1,9}}|/\d{{1,9}})?)\s*\]",
    re.ASCII,
)
_ENUM = re.compile(r"enum\s*\{([^{}]*)\}")
_WRAPPING = {
    f"{sign}int{bits}": (0 if sign else -(2 ** (bits - 1)), 2 ** (bits - (not sign)) - 1)
    for bits in (8, 16)
    for sign in ("", "u")
}
_BITS: Final[dict[str, Literal[0, 32, 64]]] = {
    "float": 0,
    "float32": 32,
    "float64": 64,
    "double": 64,
}
_TYPES = (
    "bool, int, int[lo,hi], int8, uint8, int16, uint16, enum {a, b}, float, float[lo,hi], "
    "float32, float64, double, fixed[lo,hi,step] or timer"
)

_SEND = re.compile(r"\s*send\b\s*(?![-+*/%&|^<>:=.])(.*)", re.DOTALL)
_SENT = re.compile(r"([A-Za-z_]\w*)(?:\s+to\s+([A-Za-z_]\w*))?\s*", re.ASCII)

_NUMBER = re.compile(r"\d{1,40}(?:\.\d{1,40})?(?:[eE][+-]?\d{1,3})?", re.ASCII)
_RATIO = re.compile(r"(\d{1,40})\s*/\s*(\d{1,40})", re.ASCII)


def cut(source: SourceText, start: int, end: int) -> SourceText:
    """The characters `start .. end - 1` of a text, which keep their places."""
    pieces = [(0, *source.position(start))]
    pieces += [(o - start, line, column) for o, line, column in source.pieces if start < o < end]
    return SourceText(source.text[start:end], source.file, tuple(pieces), source.element)


def _trimmed(source: SourceText, start: int, end: int) -> SourceText:
    text = source.text[start:end]
    blank = len(text) - len(text.lstrip())
    return cut(source, start + blank, max(start + blank, start + len(text.rstrip())))


# ----------------------------------------------------------------------------------------- types


def read_declaration(source: SourceText) -> tuple[VariableType, SourceText | None]:
    """`type` or `type = initial value`."""
    at = source.text.find("=")
    if at < 0:
        return read_type(_trimmed(source, 0, len(source.text))), None
    return read_type(_trimmed(source, 0, at)), _trimmed(source, at + 1, len(source.text))


def read_type(source: SourceText) -> VariableType:
    text = source.text
    place = source.origin(0, len(text))
    if text == "bool":
        return VariableType(kind="bool", name=text)
    if text == "int":
        return VariableType(kind="int", lo=-(2**15), hi=2**15 - 1, name=text)
    if text == "timer":
        return VariableType(kind="timer", name=text)
    if text in _BITS:
        return VariableType(kind="float", name=text, bits=_BITS[text])
    if text in _WRAPPING:
        lo, hi = _WRAPPING[text]
        return VariableType(kind="int", lo=lo, hi=hi, wrap=True, name=text)
    if found := _RANGE.fullmatch(text):
        lo, hi = int(found[1]), int(found[2])
        if lo > hi:
            raise Problem(f"the range {lo} to {hi} is empty", place)
        if lo < -(2**31) or hi >= 2**31:
            raise Problem("the range does not fit into 32 bits", place)
        return VariableType(kind="int", lo=lo, hi=hi)
    if found := _FLOAT.fullmatch(text):
        bounds = Fraction(found[2]), Fraction(found[3])
        if bounds[0] > bounds[1]:
            raise Problem(f"the range {found[2]} to {found[3]} is empty", place)
        return VariableType(kind="float", bounds=bounds, bits=_BITS[found[1]])
    if found := _FIXED.fullmatch(text):
        return _fixed(Fraction(found[1]), Fraction(found[2]), found[3], place)
    if found := _ENUM.fullmatch(text):
        members = tuple(member.strip() for member in found[1].split(","))
        for member in members:
            if not NAME.fullmatch(member):
                raise Problem(f"expected the name of a value, found `{member[:40]}`", place)
        if len(set(members)) < len(members):
            raise Problem("a value of this type stands here twice", place)
        return VariableType(kind="enum", members=members)
    if text in ("int32", "uint32", "int64", "uint64"):
        raise Problem(
            f"the type `{text}`", place, "arithmetic has 32 bits: use int[lo,hi]", unsupported=True
        )
    raise Problem(f"unknown type `{text[:40]}`", place, f"expected {_TYPES}")


def _fixed(low: Fraction, high: Fraction, written: str, place: Origin) -> VariableType:
    if written.endswith("/0"):
        raise Problem("a step of 1/0", place)
    step = Fraction(written)
    if step.numerator != 1:
        raise Problem(
            f"the step {written} of a fixed-point number", place, "expected 1/k, such as 0.1 or 1/8"
        )
    if low > high:
        raise Problem(f"the range {low} to {high} is empty", place)
    if (low / step).denominator != 1 or (high / step).denominator != 1:
        raise Problem(f"the bounds are no multiples of the step {written}", place)
    return VariableType(kind="float", bounds=(low, high), step=step)


def write_type(type_: VariableType) -> str:
    match type_.kind:
        case "enum":
            return f"enum {{{', '.join(type_.members)}}}"
        case "int" if type_.wrap:
            for name, bounds in _WRAPPING.items():
                if bounds == (type_.lo, type_.hi):
                    return name
            raise Problem(f"a type that wraps from {type_.lo} to {type_.hi}", unsupported=True)
        case "int" if (type_.lo, type_.hi) == (-(2**15), 2**15 - 1):
            return "int"
        case "int":
            return f"int[{type_.lo},{type_.hi}]"
        case "float" if type_.bounds is not None and type_.step is not None:
            bounds_ = ",".join(_decimal(bound) for bound in type_.bounds)
            return f"fixed[{bounds_},{type_.step}]"
        case "float" if type_.bounds is not None:
            bounds_ = ",".join(_decimal(bound) for bound in type_.bounds)
            return f"float{type_.bits or ''}[{bounds_}]"
        case "float":
            return f"float{type_.bits or ''}"
    return type_.kind


def _decimal(value: Fraction) -> str:
    """Exactly, with at most nine digits behind the point."""
    scaled = value * 10**9
    if scaled.denominator != 1:
        raise Problem(f"the bound {value} has no short decimal form", unsupported=True)
    digits = f"{abs(scaled.numerator):010d}"
    text = f"{digits[:-9]}.{digits[-9:]}".rstrip("0").rstrip(".")
    return f"-{text}" if scaled < 0 else text


# --------------------------------------------------------------------------------------- effects


def read_effects(source: SourceText) -> tuple[Effect, ...]:
    """Assignments and `send SIGNAL to MACHINE`, separated by `;`. What assignments say is left
    to those who know the names."""
    found: list[Effect] = []
    start = 0
    for part in source.text.split(";"):
        end = start + len(part)
        if part.strip():
            piece = _trimmed(source, start, end)
            found.append(_read_effect(piece))
        start = end + 1
    return tuple(found)


def _read_effect(source: SourceText) -> Effect:
    send = _SEND.fullmatch(source.text)
    if send is None:
        return Assign(source)
    origin = source.origin(0, len(source.text))
    sent = _SENT.fullmatch(send[1])
    if sent is None:
        raise Problem(
            "expected `send SIGNAL to MACHINE` or `send SIGNAL`",
            origin,
            "effects are separated by `;`" if "," in send[1] else "",
        )
    return Send(sent[1], sent[2], origin)


def write_effects(effects: tuple[Effect, ...]) -> str:
    texts = []
    for effect in effects:
        if isinstance(effect, Assign):
            texts.append(effect.text.text)
        elif effect.target is None:
            texts.append(f"send {effect.signal}")
        else:
            texts.append(f"send {effect.signal} to {effect.target}")
    return "; ".join(texts)


# ----------------------------------------------------------------------------------------- rates


def read_rate(source: SourceText) -> Fraction:
    """A positive number, exactly: `1e-4`, `0.5`, `1/3`."""
    text = source.text.strip()
    place = source.origin(0, len(source.text))
    rate: Fraction | None = None
    if ratio := _RATIO.fullmatch(text):
        if int(ratio[2]) == 0:
            raise Problem("a rate with the denominator 0", place)
        rate = Fraction(int(ratio[1]), int(ratio[2]))
    elif _NUMBER.fullmatch(text):
        rate = Fraction(text)
    if rate is None:
        raise Problem(
            f"expected a rate, found `{text[:40]}`", place, "write a positive number such as 1e-4"
        )
    if not Fraction(1, 10**300) <= rate <= 10**300:
        raise Problem("a rate must be positive, and from 1e-300 to 1e300", place)
    return rate
