"""Dataclasses as JSON and back, by their types: what journals and stores keep.

A dataclass is a list of its fields in order, a mapping a list of pairs, a fraction a text, and
bytes are an object with their hexadecimal digits. Reading checks everything, as whoever can write
the file can write anything: what does not fit raises ValueError.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from types import MappingProxyType
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
    if isinstance(value, bytes):
        return {"hex": value.hex()}
    if isinstance(value, Mapping):
        return [[to_record(name), to_record(each)] for name, each in value.items()]
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
    if kind is bytes:
        return _bytes(record)
    if origin in (Union, types.UnionType):
        return _one_of(arguments, record)
    if not isinstance(record, list):
        raise ValueError(f"{record!r} is no list")
    if origin is tuple:
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            return tuple(_read(arguments[0], each) for each in record)
        if len(arguments) != len(record):
            raise ValueError("a list of another length")
        return tuple(map(_read, arguments, record))
    if origin is Mapping:
        return MappingProxyType(dict(_pair(arguments, each) for each in record))
    hints = _fields(kind)
    if len(hints) != len(record):
        raise ValueError(f"not the fields of a {kind.__name__}")
    return kind(*map(_read, hints, record))


def _pair(kinds: tuple[Any, ...], record: object) -> tuple[Any, Any]:
    if not isinstance(record, list) or len(record) != 2:
        raise ValueError(f"{record!r} is no pair")
    return _read(kinds[0], record[0]), _read(kinds[1], record[1])


def _one_of(kinds: tuple[Any, ...], record: object) -> Any:
    """Optional values, and values of one of several plain types, which records tell apart."""
    others = [each for each in kinds if each is not type(None)]
    if record is None and len(others) < len(kinds):
        return None
    if len(others) == 1:
        return _read(others[0], record)
    for kind in others:
        if type(record) is (dict if kind is bytes else kind):
            return _read(kind, record)
    raise ValueError(f"{record!r} is none of {others}")


def _bytes(record: object) -> bytes:
    if not isinstance(record, dict) or record.keys() != {"hex"}:
        raise ValueError(f"{record!r} is no bytes")
    if not isinstance(record["hex"], str):
        raise ValueError(f"{record!r} is no bytes")
    return bytes.fromhex(record["hex"])


@cache
def _fields(kind: type) -> tuple[Any, ...]:
    hints = get_type_hints(kind)
    return tuple(hints[f.name] for f in dataclasses.fields(kind))
