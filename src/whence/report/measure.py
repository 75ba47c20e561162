"""How wide a text will be, without a font engine.

Each character is as wide as it is in DejaVu Sans (about the widths of Verdana) or in Liberation
Sans (those of Arial and Helvetica), whichever is wider, as a browser has measured them.  Segoe UI
and Roboto are narrower: whatever a browser takes, the text stays inside the room left for it.
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
    280: "'ijl",
    300: "I",
    320: " .,",
    340: "/:;|\\",
    350: "f",
    370: "-",
    390: "()[]",
    400: "rt",
    410: "!",
    460: '"',
    500: "*J`",
    530: "sz",
    550: "c",
    560: "L?_",
    580: "k",
    600: "vxy",
    610: "eo",
    620: "FTaδ",
    640: "0123456789$bdghnpqu{}",
    670: "EKPSY",
    690: "BVXZ",
    710: "A",
    730: "CR",
    740: "U",
    750: "N",
    760: "H",
    770: "D",
    780: "G&",
    790: "OQ",
    820: "w",
    840: "#+<=>^~≤≥∞",
    870: "M",
    880: "∈",
    950: "%",
    980: "m",
    990: "W",
    1000: "—…→",
    1020: "@",
}
_WIDTH_OF = {character: width for width, characters in _WIDTHS.items() for character in characters}
#: For letters of other alphabets: as wide as the wide ones of ours.
_OTHER = 910
_WIDE = 1050
_BOLD = 1.18

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
    width = _character("…")
    kept = 0
    for character in text:
        width += _character(character)
        if width * size / 1000 * (_BOLD if bold else 1) > room:
            break
        kept += 1
    return text[:kept].rstrip() + "…"


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
