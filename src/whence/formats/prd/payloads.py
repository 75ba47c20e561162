"""Patterns of bytes, as people write them and as regular expressions::

    22 F1 90          these bytes
    31 01 .. .. *     any byte, and any number of them
    10 {01, 03}       one of these; 10 01-03 is one of a range
    2E 01 01 <v>      a byte that is captured
    36 .. <n:2>       two bytes are captured as a number, the most significant first
    2E 01 01 <v:00-0F>  a byte of this range is captured

The regular expressions are those of :class:`whence.model.prd.FieldPattern`: over Latin-1.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from whence.expr.scope import Problem
from whence.source import SourceText

__all__ = ["ANY", "Captures", "OneOf", "Payload", "is_payload", "parse_payload", "written"]

_PART: Final = re.compile(
    r"\s*(?:(?P<range>(?P<low>[0-9A-Fa-f]{2})-(?P<high>[0-9A-Fa-f]{2}))"
    r"|(?P<byte>[0-9A-Fa-f]{2})"
    r"|(?P<any>\.\.)|(?P<rest>\*)"
    r"|\{(?P<set>\s*[0-9A-Fa-f]{2}(?:\s*,\s*[0-9A-Fa-f]{2})*\s*)\}"
    r"|<(?P<name>[A-Za-z_]\w*)(?::(?:(?P<size>[1-8])"
    r"|(?P<least>[0-9A-Fa-f]{2})-(?P<most>[0-9A-Fa-f]{2})))?>)(?=\s|\Z)",
    re.ASCII,
)
_FIRST: Final = re.compile(r"\s*[0-9A-F]{2}(?=\s|\Z)", re.ASCII)


@dataclass(frozen=True, slots=True)
class OneOf:
    """A byte that is one of these."""

    values: frozenset[int]


@dataclass(frozen=True, slots=True)
class Captures:
    """So many bytes, whose number gets this name; a single one can be restricted to `values`."""

    name: str
    size: int
    values: frozenset[int] = frozenset(range(256))

    def ends(self) -> tuple[int, int]:
        """The lowest and the highest number."""
        if self.size == 1:
            return min(self.values), max(self.values)
        return 0, (1 << 8 * self.size) - 1


ANY: Final = OneOf(frozenset(range(256)))


@dataclass(frozen=True, slots=True)
class Payload:
    """`rest`: more bytes may follow."""

    parts: tuple[OneOf | Captures, ...]
    rest: bool = False

    @property
    def captures(self) -> tuple[str, ...]:
        return tuple(part.name for part in self.parts if isinstance(part, Captures))

    def regex(self) -> str:
        return "".join(map(_regex, self.parts)) + (".*" if self.rest else "")

    def first(self) -> int | None:
        """The first byte, if it is a certain one."""
        part = self.parts[0] if self.parts else ANY
        if isinstance(part, OneOf) and len(part.values) == 1:
            return min(part.values)
        return None

    def bytes(self) -> tuple[frozenset[int], ...]:
        """What each byte may be."""
        found: list[frozenset[int]] = []
        for part in self.parts:
            if isinstance(part, OneOf):
                found.append(part.values)
            else:
                found += [part.values] * part.size
        return tuple(found)


def is_payload(text: str) -> bool:
    """Whether this text is a pattern of bytes: it begins with two hexadecimal digits."""
    return _FIRST.match(text) is not None


def parse_payload(source: SourceText) -> Payload:
    """Raises Problem."""
    text = source.text
    if len(text) > 1 << 16:
        raise Problem("this pattern is longer than 65536 characters, our limit", source.origin(0))
    parts: list[OneOf | Captures] = []
    rest = False
    at, end = 0, len(text.rstrip())
    while at < end:
        found = _PART.match(text, at)
        start = at + len(text[at:]) - len(text[at:].lstrip())
        if found is None:
            word = text[start:].split()[0]
            raise Problem(
                f"`{word[:40]}` is no part of a pattern of bytes",
                source.origin(start, start + len(word)),
                "expected two hexadecimal digits, 01-0F, {01, 02}, .. (any byte), <name>, "
                "<name:2>, <name:00-0F> or, at the end, *",
            )
        if rest:
            raise Problem("`*` stands at the end only", source.origin(start))
        rest = found["rest"] is not None
        if not rest:
            parts.append(_part(found, source, start, [p.name for p in parts
                                                     if isinstance(p, Captures)]))  # fmt: skip
        at = found.end()
    if not parts:
        raise Problem("a pattern of bytes begins with a byte", source.origin(0))
    return Payload(tuple(parts), rest)


def _part(
    found: re.Match[str], source: SourceText, start: int, names: list[str]
) -> OneOf | Captures:
    if found["byte"]:
        return OneOf(frozenset((int(found["byte"], 16),)))
    if found["any"]:
        return ANY
    if found["set"]:
        return OneOf(frozenset(int(byte, 16) for byte in found["set"].split(",")))
    if found["range"]:
        return OneOf(_range(found["low"], found["high"], source, start))
    if found["name"] in names:
        raise Problem(f"`{found['name']}` is captured twice", source.origin(start))
    if found["least"]:
        values = _range(found["least"], found["most"], source, start)
        return Captures(found["name"], 1, values)
    return Captures(found["name"], int(found["size"] or 1))


def _range(low: str, high: str, source: SourceText, start: int) -> frozenset[int]:
    values = frozenset(range(int(low, 16), int(high, 16) + 1))
    if not values:
        raise Problem(f"the range {low}-{high} is empty", source.origin(start))
    return values


def _regex(part: OneOf | Captures) -> str:
    if isinstance(part, Captures):
        if part.size > 1:
            return f"(?P<{part.name}>.{{{part.size}}})"
        return f"(?P<{part.name}>{_regex(OneOf(part.values))})"
    if part == ANY:
        return "."
    values = sorted(part.values)
    if len(values) == 1:
        return _byte(values[0])
    texts = []
    at = 0
    while at < len(values):
        end = at
        while end + 1 < len(values) and values[end + 1] == values[end] + 1:
            end += 1
        low, high = _byte(values[at]), _byte(values[end])
        texts.append(low if at == end else f"{low}-{high}")
        at = end + 1
    return f"[{''.join(texts)}]"


def _byte(value: int) -> str:
    return f"\\x{value:02x}"


def written(payload: Payload) -> str:
    """The text that reads as this pattern."""
    texts = [_written(part) for part in payload.parts]
    return " ".join((*texts, "*") if payload.rest else texts)


def _written(part: OneOf | Captures) -> str:
    if isinstance(part, Captures):
        if part.size > 1:
            return f"<{part.name}:{part.size}>"
        low, high = part.ends()
        return (
            f"<{part.name}>" if (low, high) == (0, 255) else f"<{part.name}:{low:02X}-{high:02X}>"
        )
    values = sorted(part.values)
    if part == ANY:
        return ".."
    if len(values) == 1:
        return f"{values[0]:02X}"
    if values == list(range(values[0], values[-1] + 1)):
        return f"{values[0]:02X}-{values[-1]:02X}"
    return "{" + ", ".join(f"{value:02X}" for value in values) + "}"
