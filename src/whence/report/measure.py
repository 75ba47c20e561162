"""How wide a text will be, without a font engine.

The widths are those of DejaVu Sans, which is about as wide as Verdana and wider than Arial,
Helvetica, Segoe UI or Roboto: whatever a browser takes, the text stays inside the room that we
leave for it.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

__all__ = ["LINE", "elide", "fit", "text_width"]

#: The distance of two lines in units of the font size.
LINE = 1.3

#: Characters by their width in thousandths of the font size.
_WIDTHS = {
    275: "'",
    278: "ijl",
    295: "IJ",
    318: " !.,",
    337: "/\\:;|",
    361: "-",
    390: "()[]",
    392: "ft",
    411: "r",
    460: '"',
    500: "`°*_",
    521: "s",
    525: "z",
    531: "?",
    550: "c",
    557: "L",
    575: "F",
    580: "k",
    592: "vxy",
    603: "P",
    611: "T",
    613: "aδe",
    615: "op",
    632: "E",
    634: "hnu",
    636: "0123456789$bdgq{}",
    656: "K",
    685: "ASVXYZB",
    695: "RC",
    732: "U",
    748: "N",
    752: "H",
    770: "DG",
    787: "OQ",
    818: "w",
    838: "#+<=>~^≤≥→←∞…∈",
    863: "M",
    950: "%",
    974: "m",
    989: "W",
    1000: "@—",
    780: "&",
}
_WIDTH_OF = {character: width for width, characters in _WIDTHS.items() for character in characters}
#: For letters of other alphabets: as wide as the wide ones of ours.
_OTHER = 790
_WIDE = 1050
_BOLD = 1.13

#: Where a name may be broken: after separators, and before a capital in camelCase.
_BREAKS = re.compile(r"(?<=[\s_.,:;&|)\]/+=-])(?=\S)|(?<=[a-z0-9])(?=[A-Z(\[])")


@lru_cache(maxsize=100_000)
def _character(character: str) -> int:
    width = _WIDTH_OF.get(character)
    if width is not None:
        return width
    if unicodedata.combining(character):
        return 0
    return _WIDE if unicodedata.east_asian_width(character) in "WF" else _OTHER


def text_width(text: str, size: float, bold: bool = False) -> float:
    """The width of one line of text in a font of `size`."""
    width = sum(map(_character, text)) * size / 1000
    return width * _BOLD if bold else width


def elide(text: str, room: float, size: float, bold: bool = False) -> str:
    """The text, or as much of its start as fits into `room` with an ellipsis behind it."""
    if text_width(text, size, bold) <= room:
        return text
    kept = text
    while kept and text_width(kept + "…", size, bold) > room:
        kept = kept[:-1]
    return kept.rstrip() + "…"


def fit(text: str, room: float, size: float, lines: int = 2, bold: bool = False) -> tuple[str, ...]:
    """The text in at most so many lines of width `room`, elided where that is too little."""
    pieces = _BREAKS.split(text) if text else [""]
    result: list[str] = []
    current = ""
    for number, piece in enumerate(pieces):
        if not current or text_width(current + piece.rstrip(), size, bold) <= room:
            current += piece
        elif len(result) + 1 < lines:
            result.append(current)
            current = piece
        else:
            current += "".join(pieces[number:])
            break
    result.append(current)
    return tuple(elide(line.rstrip(), room, size, bold) for line in result)
