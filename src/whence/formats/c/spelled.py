"""Expressions of C as they are spelled: a tree whose parts know their characters.

clang's tree says what an expression means; to change one character of it, one has to know where in
the file each operator and operand stands, with macros as they are written.  That is in the text
alone: this is a parser of expressions by precedence, over tokens with offsets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

__all__ = ["Kind", "NotSpelled", "Spelled", "Token", "parts_of", "spelled", "tokens"]

Kind = Literal[
    "name",
    "number",
    "text",
    "group",
    "call",
    "index",
    "member",
    "prefix",
    "postfix",
    "cast",
    "binary",
    "relation",
    "logical",
    "conditional",
    "assignment",
    "comma",
    "type",
]


class NotSpelled(Exception):
    """This is no expression that can be taken apart."""


@dataclass(frozen=True, slots=True)
class Token:
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


@dataclass(frozen=True, slots=True)
class Spelled:
    """`start` to `end` are its characters. `operator` stands at `at`: of a call, an index and a
    group that is the opening parenthesis."""

    kind: Kind
    start: int
    end: int
    parts: tuple[Spelled, ...] = ()
    operator: str = ""
    at: int = 0


_SKIPPED: Final = r"\s+|\\\n|/\*.*?\*/|//[^\n]*"
_TOKEN: Final = re.compile(
    rf"""(?P<skipped>(?:{_SKIPPED})+)
    | (?P<name>[A-Za-z_$][A-Za-z0-9_$]*)
    | (?P<number>\.?[0-9](?:[eEpP][+-]|[A-Za-z0-9_.])*)
    | (?P<text>(?:L|u8|u|U)?"(?:[^"\\\n]|\\.)*"|(?:L|u|U)?'(?:[^'\\\n]|\\.)*')
    | (?P<mark><<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=
        |[-+*/%&|^!~<>=?:;,.(){{}}\[\]])
    """,
    re.DOTALL | re.VERBOSE,
)

_LEVELS: Final[tuple[tuple[str, ...], ...]] = (
    ("||",),
    ("&&",),
    ("|",),
    ("^",),
    ("&",),
    ("==", "!="),
    ("<", ">", "<=", ">="),
    ("<<", ">>"),
    ("+", "-"),
    ("*", "/", "%"),
)
_LEVEL: Final = {operator: level for level, row in enumerate(_LEVELS) for operator in row}
_ASSIGNMENTS: Final = {"=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "|=", "^="}
_RELATIONS: Final = {"==", "!=", "<", ">", "<=", ">="}
_OF_TYPES: Final = {
    "void", "char", "short", "int", "long", "float", "double", "signed", "unsigned", "const",
    "volatile", "struct", "union", "enum", "_Bool",
}  # fmt: skip
#: So deep do parentheses nest; what nests deeper is left alone.
_DEEPEST: Final = 200


def tokens(text: str, start: int, end: int) -> Iterator[Token]:
    at = start
    while at < end:
        match = _TOKEN.match(text, at, end)
        if match is None:
            raise NotSpelled
        if match.lastgroup != "skipped":
            yield Token(match[0], at)
        at = match.end()


def spelled(text: str, start: int, end: int) -> Spelled:
    """The expression that these characters are. Raises NotSpelled."""
    parser = _Parser(list(tokens(text, start, end)))
    found = parser.comma()
    if parser.at < len(parser.tokens):
        raise NotSpelled
    return found


def parts_of(tree: Spelled) -> Iterator[Spelled]:
    """The expression and all in it."""
    stack = [tree]
    while stack:
        part = stack.pop()
        yield part
        stack.extend(reversed(part.parts))


class _Parser:
    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.at = 0
        self.depth = 0

    def peek(self, ahead: int = 0) -> str:
        at = self.at + ahead
        return self.tokens[at].text if at < len(self.tokens) else ""

    def take(self, text: str = "") -> Token:
        if self.at >= len(self.tokens) or (text and self.peek() != text):
            raise NotSpelled
        self.at += 1
        return self.tokens[self.at - 1]

    def comma(self) -> Spelled:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise NotSpelled
        left = self.assignment()
        while self.peek() == ",":
            mark = self.take()
            right = self.assignment()
            left = Spelled("comma", left.start, right.end, (left, right), ",", mark.start)
        self.depth -= 1
        return left

    def assignment(self) -> Spelled:
        left = self.conditional()
        if self.peek() in _ASSIGNMENTS:
            mark = self.take()
            right = self.assignment()
            return Spelled(
                "assignment", left.start, right.end, (left, right), mark.text, mark.start
            )
        return left

    def conditional(self) -> Spelled:
        condition = self.binary(0)
        if self.peek() != "?":
            return condition
        mark = self.take()
        then = self.comma()
        self.take(":")
        otherwise = self.conditional()
        parts = (condition, then, otherwise)
        return Spelled("conditional", condition.start, otherwise.end, parts, "?", mark.start)

    def binary(self, level: int) -> Spelled:
        left = self.prefix()
        while _LEVEL.get(self.peek(), -1) >= level:
            mark = self.take()
            right = self.binary(_LEVEL[mark.text] + 1)
            kind: Kind = "binary"
            if mark.text in _RELATIONS:
                kind = "relation"
            elif mark.text in ("&&", "||"):
                kind = "logical"
            left = Spelled(kind, left.start, right.end, (left, right), mark.text, mark.start)
        return left

    def prefix(self) -> Spelled:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise NotSpelled
        try:
            return self._prefix()
        finally:
            self.depth -= 1

    def _prefix(self) -> Spelled:
        text = self.peek()
        if text in ("++", "--", "&", "*", "+", "-", "~", "!"):
            mark = self.take()
            inner = self.prefix()
            return Spelled("prefix", mark.start, inner.end, (inner,), text, mark.start)
        if text == "sizeof":
            mark = self.take()
            type = self._type()
            stop = type if type is not None else self.prefix().end
            return Spelled("type", mark.start, stop, (), "sizeof", mark.start)
        start = self.at
        if self._type() is not None:
            inner = self.prefix()
            first = self.tokens[start].start
            return Spelled("cast", first, inner.end, (inner,), "", first)
        return self.postfix()

    def _type(self) -> int | None:
        """The end of a type in parentheses, if one stands here."""
        if self.peek() != "(":
            return None
        ahead, words, stars = 1, 0, 0
        named = False
        while (text := self.peek(ahead)) and text != ")":
            if text in _OF_TYPES:
                named = True
            elif text == "*" and words:
                stars += 1
            elif not _is_name(text) or stars or (words and not named):
                return None
            words += text != "*"
            ahead += 1
        behind = self.peek(ahead + 1)
        plain = words == 1 and not named and not stars
        if not words or (plain and not (_is_name(behind) or behind[:1].isdigit())):
            return None
        self.at += ahead + 1
        return self.tokens[self.at - 1].end

    def postfix(self) -> Spelled:
        found = self.primary()
        while True:
            mark = self.peek()
            if mark == "(":
                opening = self.take()
                parts = [found]
                while self.peek() != ")":
                    parts.append(self.assignment())
                    if self.peek() != ")":
                        self.take(",")
                end = self.take(")").end
                found = Spelled("call", found.start, end, tuple(parts), "(", opening.start)
            elif mark == "[":
                opening = self.take()
                index = self.comma()
                end = self.take("]").end
                found = Spelled("index", found.start, end, (found, index), "[", opening.start)
            elif mark in (".", "->"):
                dot = self.take()
                name = self.take()
                found = Spelled("member", found.start, name.end, (found,), mark, dot.start)
            elif mark in ("++", "--"):
                after = self.take()
                found = Spelled("postfix", found.start, after.end, (found,), mark, after.start)
            else:
                return found

    def primary(self) -> Spelled:
        token = self.take()
        first = token.text[0]
        if token.text == "(":
            inner = self.comma()
            end = self.take(")").end
            return Spelled("group", token.start, end, (inner,), "(", token.start)
        if first.isdigit() or (first == "." and len(token.text) > 1):
            return Spelled("number", token.start, token.end)
        if token.text[-1] in "\"'":
            end = token.end
            while token.text[-1] == '"' and self.peek()[-1:] == '"':
                end = self.take().end
            return Spelled("text", token.start, end)
        if _is_name(token.text) and token.text not in _OF_TYPES:
            return Spelled("name", token.start, token.end)
        raise NotSpelled


def _is_name(text: str) -> bool:
    return bool(text) and (text[0].isalpha() or text[0] in "_$")
