"""The words of guards, updates and patterns, with their places."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, NoReturn

from whence.expr.scope import Problem
from whence.source import Origin, SourceText

__all__ = ["UNITS", "Token", "Tokens", "duration", "stretch"]

#: Seconds in a unit of time.
UNITS: Final = {
    "s": Fraction(1),
    "ms": Fraction(1, 1000),
    "us": Fraction(1, 1_000_000),
    "min": Fraction(60),
}

#: No text of a model is longer.
_LONGEST: Final = 1 << 16
_TOKEN: Final = re.compile(
    r"(?P<space>\s+)"
    r"|(?P<timed>\d{1,40}(?:\.\d{1,20})?(?:min|ms|us|s))(?!\w)"
    r"|(?P<number>0[xX][0-9A-Fa-f]{1,32}|\d{1,40}(?:\.\d{1,20})?)(?!\w|\.\d)"
    r"|(?P<string>\"(?:[^\"\\]|\\.)*\")"
    r"|(?P<regex>/(?:[^/\\\n]|\\.)+/)"
    r"|(?P<bytes>\[[^\[\]\n]*\])"
    r"|(?P<name>[^\W\d]\w*(?:\.[^\W\d]\w*)*)"
    r"|(?P<op>\.\.|\?=|:=|==|!=|<=|>=|<<|>>|&&|\|\||->|[-+*/%&|^<>=!(){},;:@])"
)


@dataclass(frozen=True, slots=True)
class Token:
    """`kind`: number, timed, string, regex, bytes, name, op, end."""

    kind: str
    text: str
    start: int
    end: int


class Tokens:
    """The words of one text, read from front to back. Raises Problem."""

    def __init__(self, source: SourceText, *, regexes: bool = False) -> None:
        self.source = source
        self.tokens = self._split(regexes)
        self.at = 0

    def _split(self, regexes: bool) -> list[Token]:
        text = self.source.text
        if len(text) > _LONGEST:
            raise Problem(f"this is longer than {_LONGEST} characters, our limit", self.origin())
        found: list[Token] = []
        at = 0
        while at < len(text):
            match = _TOKEN.match(text, at)
            kind = "" if match is None else match.lastgroup or ""
            if match is not None and kind == "regex" and not regexes:
                match, kind = re.compile("//?").match(text, at), "op"
            if match is None:
                word = re.compile(r"\w+|.", re.DOTALL).match(text, at)
                shown = word[0][:40] if word is not None else text[at]
                raise Problem(f"`{shown}` cannot stand here", self.source.origin(at, at + 1))
            if kind != "space":
                found.append(Token(kind, match[0], at, match.end()))
            at = match.end()
        found.append(Token("end", "", len(text), len(text)))
        return found

    # ----------------------------------------------------------------------------------- reading

    @property
    def next(self) -> Token:
        return self.tokens[self.at]

    def peek(self, distance: int = 1) -> Token:
        return self.tokens[min(self.at + distance, len(self.tokens) - 1)]

    def take(self) -> Token:
        token = self.tokens[self.at]
        if token.kind != "end":
            self.at += 1
        return token

    def sees(self, *texts: str) -> bool:
        """Whether one of these operators or words is next."""
        token = self.next
        return token.kind in ("op", "name") and token.text in texts

    def accept(self, *texts: str) -> Token | None:
        return self.take() if self.sees(*texts) else None

    def expect(self, text: str) -> Token:
        token = self.accept(text)
        if token is None:
            self.fail(f"expected `{text}`")
        return token

    def done(self) -> None:
        if self.next.kind != "end":
            self.fail(f"`{self.next.text[:40]}` cannot stand here")

    # ------------------------------------------------------------------------------------ places

    def origin(self, token: Token | None = None, to: Token | None = None) -> Origin:
        if token is None:
            return self.source.origin(0, max(1, len(self.source.text)))
        return self.source.origin(token.start, max(token.start + 1, (to or token).end))

    def fail(self, message: str, hint: str = "") -> NoReturn:
        token = self.next
        at = " at the end" if token.kind == "end" and message.startswith("expected") else ""
        raise Problem(f"{message}{at}", self.origin(token), hint)


def duration(tokens: Tokens, unit: Fraction | None) -> Fraction:
    """A number with a unit of time, in seconds; without one it counts `unit` (None: it needs
    one)."""
    token = tokens.next
    if token.kind == "timed":
        tokens.take()
        name = token.text.lstrip("0123456789.")
        return Fraction(token.text[: -len(name)]) * UNITS[name]
    if token.kind != "number" or token.text[:2] in ("0x", "0X"):
        tokens.fail("expected a time, such as 50 ms")
    tokens.take()
    follower = tokens.next
    if follower.kind == "name" and follower.text in UNITS:
        tokens.take()
        return Fraction(token.text) * UNITS[follower.text]
    if unit is None and Fraction(token.text) != 0:
        raise Problem("this time has no unit", tokens.origin(token), "write `ms`, `s` or `us`")
    return Fraction(token.text) * (unit or 1)


def stretch(source: SourceText, start: int, end: int) -> SourceText:
    """A part of a text, which knows where it stands."""
    pieces = [(0, *source.position(start))]
    pieces += [(at - start, line, column) for at, line, column in source.pieces if start < at < end]
    return SourceText(source.text[start:end], source.file, tuple(pieces), source.element)
