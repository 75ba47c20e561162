"""Lines of a text log, with what they say besides frames, and dates as texts have them.

Logs are read in stretches of a mebibyte, so that a log of any size, or one without any line end,
needs no more memory than that.  Characters are bytes (Latin-1) until somebody reads a comment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import BinaryIO, TypeAlias

from whence.model.events import NANO, Annotation, CanFrame, Verdict
from whence.source import Diagnostic, Origin

__all__ = [
    "Item",
    "Note",
    "annotation",
    "broken",
    "decimal_nanoseconds",
    "nanoseconds",
    "shown",
    "stretches",
]


@dataclass(frozen=True, slots=True)
class Note:
    """How the log is to be understood."""

    text: str


#: What a reader of logs yields.
Item: TypeAlias = CanFrame | Annotation | Diagnostic | Note

_STRETCH = 1 << 20
#: No record of any log has a longer line: the rest of such a line is dropped.
_LONGEST = 1 << 16
_LINE_END = re.compile(r"[\r\n]")
_DECIMAL = re.compile(r"\d{1,15}(?:\.\d{1,30})?", re.ASCII)


def stretches(stream: BinaryIO, longest: int = _LONGEST) -> Iterator[tuple[int, list[str]]]:
    """The number of the first line, and some lines without their ends (LF, CR LF or CR)."""
    number, rest, cut = 1, "", False
    while data := stream.read(_STRETCH):
        text = data.decode("latin-1")
        if cut:
            end = _LINE_END.search(text)
            if end is None:
                continue
            text, cut = text[end.start() :], False
        text = rest + text
        # A CR at the end may be half of a CR LF.
        held = text.endswith("\r")
        if held:
            text = text[:-1]
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        lines = text.split("\n")
        rest = lines.pop()
        if lines:
            yield number, lines
            number += len(lines)
        if held:
            rest += "\r"
        elif len(rest) > longest:
            rest, cut = rest[:longest], True
    if rest:
        yield number, [rest.removesuffix("\r")]


def nanoseconds(seconds: str, fraction: str) -> int:
    """A date with the digits before and after its point. Digits beyond the ninth are dropped."""
    if len(fraction) == 6:
        return int(seconds + fraction) * 1000
    return int(seconds) * NANO + int(fraction.ljust(9, "0")[:9] or "0")


def decimal_nanoseconds(text: str, unit: int = NANO) -> int | None:
    """A decimal number of `unit` nanoseconds each, or None if it is none."""
    if not _DECIMAL.fullmatch(text):
        return None
    whole, _, digits = text.partition(".")
    scale: int = 10 ** len(digits)
    return int(whole + digits) * unit // scale


def shown(line: str, longest: int = 60) -> str:
    """A line as it is quoted in a message."""
    text = " ".join(_unicode(line).split())
    return text if len(text) <= longest else text[:longest] + "…"


def _unicode(line: str) -> str:
    return line.encode("latin-1", "replace").decode("utf-8", "replace")


def broken(file: str, number: int, line: str, why: str) -> Diagnostic:
    return Diagnostic(f"{why}: `{shown(line)}`", Origin(file, number, 1), "this record is left out")


# ----------------------------------------------------------------------------------- annotations

#: Words that test environments say about a test or one of its steps.
_VERDICTS: tuple[tuple[Verdict, re.Pattern[str]], ...] = (
    ("fail", re.compile(r"\b(?:FAIL(?:ED|URE)?|NOK|NOT OK)\b", re.IGNORECASE)),
    ("inconclusive", re.compile(r"\bINCONC(?:LUSIVE)?\b", re.IGNORECASE)),
    ("error", re.compile(r"\bERROR\b", re.IGNORECASE)),
    ("pass", re.compile(r"\b(?:PASS(?:ED)?|OK)\b", re.IGNORECASE)),
)
_ABOUT_A_TEST = re.compile(
    r"\b(?:verdict|result|test ?(?:case|step|module|unit)?|check|step)\b"
    r"|^\W*(?:PASS(?:ED)?|FAIL(?:ED|URE)?|NOK|OK|ERROR|INCONC(?:LUSIVE)?)\b",
    re.IGNORECASE,
)
#: Nobody writes these in capitals but to judge.
_SHOUTED = re.compile(r"\b(?:PASSED|FAILED|FAIL|NOK|INCONCLUSIVE)\b")


def annotation(file: str, number: int, text: str, time: int | None = None) -> Annotation:
    """A comment, which is a verdict mark if it says that a test or a step passed or failed."""
    text = " ".join(_unicode(text).split())
    date = None if time is None else Fraction(time, NANO)
    origin = Origin(file, number, 1)
    if _ABOUT_A_TEST.search(text) or _SHOUTED.search(text):
        for verdict, pattern in _VERDICTS:
            if pattern.search(text):
                return Annotation("verdict", text, verdict, date, origin=origin)
    return Annotation("comment", text, "", date, origin=origin)
