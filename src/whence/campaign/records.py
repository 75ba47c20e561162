"""Dataclasses as JSON and back, by their types: what a journal keeps.

A dataclass is a list of its fields in order, a fraction a text. Reading checks everything, as
whoever can write the file can write anything: what does not fit raises ValueError.
"""

from __future__ import annotations

import dataclasses
import types
from fractions import Fraction
from functools import cache
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

__all__ = ["from_record", "to_record"]

_T = TypeVar("_T")


def to_record(value: object) -> object:
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, tuple):
        return [to_record(each) for each in value]
    if dataclasses.is_dataclass(value):
        return [to_record(getattr(value, f.name)) for f in dataclasses.fields(value)]
    raise TypeError(f"{type(value).__name__} cannot be kept")


def from_record(kind: type[_T], record: object) -> _T:
    """The dataclass. Raises ValueError."""
    found: _T = _read(kind, record)
    return found


def _read(kind: Any, record: object) -> Any:
    if kind in (int, str, bool):
        if type(record) is not kind:
            raise ValueError(f"{record!r} is no {kind.__name__}")
        return record
    if kind is Fraction:
        if not isinstance(record, str) or len(record) > 1000:
            raise ValueError(f"{record!r} is no fraction")
        try:
            return Fraction(record)
        except ZeroDivisionError:
            raise ValueError(f"{record!r} is no fraction") from None
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Literal:
        if record not in arguments:
            raise ValueError(f"{record!r} is none of {arguments}")
        return record
    if origin in (Union, types.UnionType):
        (other,) = [each for each in arguments if each is not type(None)]
        return None if record is None else _read(other, record)
    if not isinstance(record, list):
        raise ValueError(f"{record!r} is no list")
    if origin is tuple:
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            return tuple(_read(arguments[0], each) for each in record)
        if len(arguments) != len(record):
            raise ValueError("a list of another length")
        return tuple(map(_read, arguments, record))
    hints = _fields(kind)
    if len(hints) != len(record):
        raise ValueError(f"not the fields of a {kind.__name__}")
    return kind(*map(_read, hints, record))


@cache
def _fields(kind: type) -> tuple[Any, ...]:
    hints = get_type_hints(kind)
    return tuple(hints[f.name] for f in dataclasses.fields(kind))
