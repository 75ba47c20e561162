"""Which numbers are printed, if a certain text is to be printed."""

from __future__ import annotations

import re
from typing import Final

from whence.locate.lazy_numbers import Number, Undecided
from whence.locate.lazy_paths import Dead

__all__ = ["numbers_in", "wanted_numbers"]

#: Conversions of `printf` without more ado, and how what they print looks.
_CONVERSION: Final = re.compile(rb"%[dic]")
_GROUPS: Final = {b"%d": rb"(-?[0-9]+)", b"%i": rb"(-?[0-9]+)", b"%c": rb"(.)"}


def wanted_numbers(format: bytes, expected: bytes, at: int) -> list[list[int]] | None:
    """What the numbers of a format have to be so that what should be printed from `at` on is
    printed, one list of choices for each; None: that is not so simple."""
    pieces = _CONVERSION.split(format)
    kinds = _CONVERSION.findall(format)
    if b"%" in b"".join(pieces) or any(
        piece == b"" or piece[:1].isdigit() for piece in pieces[1:-1]
    ):
        return None
    pattern = b"".join(
        re.escape(piece) + (_GROUPS[kind] if kind else b"")
        for piece, kind in zip(pieces, [*kinds, b""], strict=True)
    )
    match = re.compile(pattern, re.DOTALL).match(expected, at)
    if match is None:
        raise Dead
    found = []
    for number, kind in enumerate(kinds, 1):
        text = match[number]
        if kind == b"%c":
            found.append([text[0], text[0] - 256])
        elif number == len(kinds) and not pieces[-1]:
            # What comes behind may begin with digits.
            shorter = [text[:end] for end in range(1, len(text) + 1)]
            found.append([int(each) for each in shorter if each != b"-"])
        else:
            found.append([int(text)])
    return found


def numbers_in(text: bytes, number: Number) -> list[int]:
    """What can be printed with this text coming next: numbers, and characters."""
    found: dict[int, None] = {}
    for character in text:
        found.setdefault(character)
        found.setdefault(character - 256)
    for match in re.finditer(rb"[0-9A-Fa-f]+", text):
        word = match[0]
        for start in range(len(word)):
            for end in range(start + 1, min(len(word), start + 20) + 1):
                piece = word[start:end]
                for base in (10, 16, 8):
                    try:
                        value = int(piece, base)
                    except ValueError:
                        continue
                    found.setdefault(value)
                    found.setdefault(-value)
                    # Printed without a sign, as numbers of 32 and 64 bits.
                    found.setdefault(value - (1 << 32))
                    found.setdefault(value - (1 << 64))
        if len(found) > 20_000:
            raise Undecided
    return [value for value in found if number.least <= value <= number.greatest]
