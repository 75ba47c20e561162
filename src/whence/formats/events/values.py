"""Dates, parameters and names as the plain formats write them; all of it reads back equal."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from fractions import Fraction
from typing import Final

from whence.formats.can.addresses import parse_pair
from whence.model.events import AddressPair, Field
from whence.source import UsageError

__all__ = [
    "date_text",
    "field_texts",
    "pair_of",
    "parse_date",
    "parse_fields",
    "parse_word",
    "word",
]

_DATE: Final = re.compile(r"-?\d{1,40}(?:\.\d{1,40}|/[1-9]\d{0,39})?", re.ASCII)
_INTEGER: Final = re.compile(r"-?(?:0x[0-9A-Fa-f]{1,64}|\d{1,80})", re.ASCII)
#: What needs no quotes as a name or a value.
_PLAIN: Final = re.compile(r"\w[\w.\[\]/:+-]*", re.ASCII)
_STRING: Final = r'"(?:[^"\\]|\\.)*"'
_FIELD: Final = re.compile(
    rf"(?P<name>{_STRING}|[^\s=\"()]+)=(?P<value>{_STRING}|[^\s\"()]*)"
    rf"(?:\((?P<text>{_STRING}|[^\s\"()]*)\))?(?=\s|\Z)"
)


def date_text(date: Fraction | None) -> str:
    """A decimal number, or a fraction where no decimal number is exact; "" for None."""
    if date is None:
        return ""
    denominator, digits = date.denominator, 0
    while denominator % 10 == 0:
        denominator //= 10
        digits += 1
    while denominator % 2 == 0:
        denominator //= 2
        digits += 1
    while denominator % 5 == 0:
        denominator //= 5
        digits += 1
    if denominator != 1:
        return str(date)
    whole = abs(date.numerator) * 10**digits // date.denominator
    text = str(whole).rjust(digits + 1, "0")
    sign = "-" if date < 0 else ""
    return sign + (f"{text[:-digits]}.{text[-digits:]}".rstrip("0") if digits else text)


def parse_date(text: str) -> Fraction | None:
    """None: this is no date."""
    return Fraction(text) if _DATE.fullmatch(text) else None


def word(text: str) -> str:
    """A name as one word: in quotes if it is not plain."""
    return text if _PLAIN.fullmatch(text) else json.dumps(text)


def parse_word(text: str) -> str:
    """Raises ValueError if the quotes do not fit."""
    if not text.startswith('"'):
        return text
    value = json.loads(text)
    if not isinstance(value, str):
        raise ValueError(text)
    return value


def field_texts(fields: Iterable[Field]) -> list[str]:
    return [_field_text(field) for field in fields]


def _field_text(field: Field) -> str:
    value = field.value
    if isinstance(value, int):
        text = str(value)
    elif _INTEGER.fullmatch(value):
        text = json.dumps(value)
    else:
        text = word(value)
    meaning = f"({word(field.text)})" if field.text else ""
    return f"{word(field.name)}={text}{meaning}"


def parse_fields(text: str) -> tuple[tuple[Field, ...], dict[str, str]]:
    """`name=value(meaning) …`, and apart from these, as texts, what stands as `:name=value`.
    Raises ValueError with what is wrong."""
    fields: list[Field] = []
    besides: dict[str, str] = {}
    at = 0
    text = text.strip()
    while at < len(text):
        found = _FIELD.match(text, at)
        if found is None:
            raise ValueError(f"`{text[at : at + 40]}` is not of the form name=value")
        name, value = found["name"], found["value"]
        if name.startswith(":"):
            besides[name[1:]] = parse_word(value)
        else:
            fields.append(Field(parse_word(name), _value(value), parse_word(found["text"] or "")))
        at = found.end()
        while at < len(text) and text[at].isspace():
            at += 1
    return tuple(fields), besides


def _value(text: str) -> int | str:
    if _INTEGER.fullmatch(text):
        return int(text, 16 if "0x" in text else 10)
    return parse_word(text)


def pair_of(ecu: str) -> AddressPair | None:
    """The pair of addresses that this names, if it names one."""
    if ":" not in ecu:
        return None
    try:
        pair = parse_pair(ecu)
    except UsageError:
        return None
    return pair if str(pair) == ecu else None
