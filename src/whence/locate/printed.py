"""What a program prints, as a condition: is it this text?

What is printed, in the order of the program, is a list of pieces, each with the condition that it
is printed.  A text is printed if one can go through it piece by piece; how far one can have come
is a literal for each place in the text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from whence.locate.symbolic import refuse
from whence.solve import words
from whence.solve.circuits import FALSE, TRUE, Circuit, Literal
from whence.solve.words import Word
from whence.source import Origin

__all__ = ["Piece", "Printed", "format_of", "prints"]

#: Bytes; or how a number is printed, the number, and whether it is signed.
Piece: TypeAlias = "bytes | tuple[str, Word, bool]"

_LONGEST = 24
_FORMAT = re.compile(r"%(%|([-+ 0#]*\d*)(?:hh|h|ll|l|z|j|t)?([a-zA-Z]))")


@dataclass(frozen=True, slots=True)
class Printed:
    """If `guard` holds; if `healthy` does not, then anything instead."""

    guard: Literal
    healthy: Literal
    pieces: tuple[Piece, ...]


def format_of(text: bytes, origin: Origin) -> list[bytes | str]:
    """The format of a `printf`: bytes as they are, and formats as Python has them."""
    found: list[bytes | str] = []
    at = 0
    decoded = text.decode("latin-1")
    while at < len(decoded):
        next = decoded.find("%", at)
        if next < 0:
            found.append(text[at:])
            break
        if next > at:
            found.append(text[at:next])
        match = _FORMAT.match(decoded, next)
        if match is None or (match[3] and match[3] not in "diuxXcs"):
            raise refuse(f"the format `{decoded[next : next + 4]}`", origin)
        if match[1] == "%":
            found.append(b"%")
        else:
            letter = "d" if match[3] in "iu" else match[3]
            # Python has no letter for unsigned numbers: `i` says signed, `d` not.
            if match[3] in "di":
                letter = "i"
            found.append(f"%{match[2]}{letter}")
        at = match.end()
    return found


def prints(circuit: Circuit, printed: Sequence[Printed], text: bytes) -> Literal:
    """What is printed is `text`."""
    reached: list[Literal] = [TRUE] + [FALSE] * len(text)
    for each in printed:
        if each.guard == FALSE:
            continue
        after = reached
        for piece in each.pieces:
            after = _through(circuit, after, piece, text)
        if each.healthy != TRUE:
            anything: list[Literal] = []
            sofar = FALSE
            for literal in reached:
                sofar = circuit.or_(sofar, literal)
                anything.append(sofar)
            after = [
                circuit.ite(each.healthy, one, other)
                for one, other in zip(after, anything, strict=True)
            ]
        reached = [
            circuit.ite(each.guard, one, other) for one, other in zip(after, reached, strict=True)
        ]
    return reached[-1]


def _through(circuit: Circuit, reached: list[Literal], piece: Piece, text: bytes) -> list[Literal]:
    after: list[Literal] = [FALSE] * len(reached)
    for at, literal in enumerate(reached):
        if literal == FALSE:
            continue
        if isinstance(piece, bytes):
            if text.startswith(piece, at):
                after[at + len(piece)] = circuit.or_(after[at + len(piece)], literal)
            continue
        format, word, signed = piece
        for end in range(at + 1, min(len(text), at + _LONGEST) + 1):
            value = _value(format, text[at:end].decode("latin-1"))
            if value is None:
                continue
            least = -(1 << len(word) - 1) if signed else 0
            if not least <= value < 1 << len(word) - signed:
                continue
            same = words.equal(circuit, word, words.constant(value, len(word)))
            after[end] = circuit.or_(after[end], circuit.and_(literal, same))
    return after


def _value(format: str, text: str) -> int | None:
    """The number that is printed as this text."""
    if format[-1] == "c":
        # Of a width we only know what is behind it.
        found: int | None = ord(text[-1])
    else:
        try:
            found = int(text.strip(" "), 16 if format[-1] in "xX" else 10)
        except ValueError:
            return None
    shown = format % (chr(found or 0) if format[-1] == "c" else found)
    return found if shown == text else None
