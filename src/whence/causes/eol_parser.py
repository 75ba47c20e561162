"""Reads formulas of event order logic, in the spelling of the thesis or in ASCII (docs/eol.md).

    disjunction  ::=  conjunction (("|" | "||" | "∨") conjunction)*
    conjunction  ::=  order (("&" | "&&" | "∧") order)*
    order        ::=  unary (then unary | then "[" unary | then "]" unary
                            | then "<" unary then ">" unary)*
    unary        ::=  ("!" | "¬") unary | variable | "(" disjunction ")"
    variable     ::=  (NAME | '"' … '"') ("#" NUMBER)?
    then         ::=  ";" | "⋏"

What is about order groups to the left. Simple formulas (Definition 9) are asked for after the
parsing, where `!` and the intervals need them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from whence.causes.eol import (
    After,
    And,
    Before,
    Between,
    Formula,
    Not,
    Or,
    Ordered,
    Variable,
    is_simple,
    walk,
)
from whence.source import Diagnostic, InputError, Origin, SourceText

__all__ = ["parse_formula"]

#: How deep parentheses and negations may be nested: more would exhaust the stack of somebody.
_DEEPEST = 100
_ELEMENT = "formula of event order logic"

_TOKEN = re.compile(
    r"""(?P<space>\s+)
    |(?P<name>[^\W\d][\w.]*)
    |(?P<quoted>"(?:[^"\\\n]|\\.)*")
    |(?P<number>\#\d+)
    |(?P<op>&&?|∧|\|\|?|∨|!|¬|[;⋏][\[\]<>]?|\(|\))
    |(?P<bad>.)""",
    re.VERBOSE | re.DOTALL,
)
_SAME = {"&&": "&", "∧": "&", "||": "|", "∨": "|", "¬": "!"}


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    start: int
    end: int


def parse_formula(text: str | SourceText) -> Formula:
    """Raises InputError where the text is no formula."""
    source = SourceText(text, element=_ELEMENT) if isinstance(text, str) else text
    parser = _Parser(source)
    formula = parser.disjunction()
    parser.expect_end()
    _check(formula)
    return formula


def _check(formula: Formula) -> None:
    """Definition 9: what is negated, and what has to hold throughout, says nothing about order."""
    wrong = []
    for node in walk(formula):
        if isinstance(node, Not) and not is_simple(node.operand):
            wrong.append((node.operand, "only a formula without order can be negated"))
        if isinstance(node, After | Before | Between) and not is_simple(node.always):
            wrong.append((node.always, "what holds throughout must be a formula without order"))
    if wrong:
        raise InputError(
            Diagnostic(message, part.origin, "of ; and its relatives, none may stand in it")
            for part, message in wrong
        )


class _Parser:
    def __init__(self, source: SourceText) -> None:
        self.source = source
        self.tokens = self._cut()
        self.at = 0
        self.depth = 0

    def _cut(self) -> list[_Token]:
        tokens = []
        for match in _TOKEN.finditer(self.source.text):
            kind = match.lastgroup or "bad"
            token = _Token(kind, match[0], match.start(), match.end())
            if kind == "bad":
                what = (
                    "this text in quotation marks does not end"
                    if match[0] == '"'
                    else (f"unexpected character {match[0]!r}")
                )
                raise self._error(what, token, 'names of other characters: "like this"')
            if kind == "op":
                text = _SAME.get(match[0], match[0]).replace("⋏", ";")
                token = _Token(kind, text, match.start(), match.end())
            if kind != "space":
                tokens.append(token)
        end = len(self.source.text)
        tokens.append(_Token("end", "", end, end))
        return tokens

    # ------------------------------------------------------------------------------- the grammar

    def disjunction(self) -> Formula:
        start = self.at
        operands = self._separated("|", self.conjunction)
        return operands[0] if len(operands) == 1 else Or(operands, self._since(start))

    def conjunction(self) -> Formula:
        start = self.at
        operands = self._separated("&", self.order)
        return operands[0] if len(operands) == 1 else And(operands, self._since(start))

    def order(self) -> Formula:
        start = self.at
        left = self.unary()
        while self.token.text[:1] == ";":
            match self._next().text:
                case ";":
                    operands = [left, self.unary()]
                    while self._taken(";"):
                        operands.append(self.unary())
                    left = Ordered(tuple(operands), self._since(start))
                case ";[":
                    left = After(left, self.unary(), self._since(start))
                case ";]":
                    left = Before(left, self.unary(), self._since(start))
                case ";<":
                    always = self.unary()
                    if not self._taken(";>"):
                        raise self._error("expected ;> here", self.token, "ψ1 ;< φ ;> ψ2")
                    left = Between(left, always, self.unary(), self._since(start))
                case _:
                    closing = self.tokens[self.at - 1]
                    raise self._error("this ;> has no ;< before it", closing, "ψ1 ;< φ ;> ψ2")
        return left

    def unary(self) -> Formula:
        start = self.at
        token = self._next()
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self._error(f"nested more than {_DEEPEST} deep", token)
        try:
            match token.kind, token.text:
                case "op", "!":
                    operand = self.unary()
                    return Not(operand, self._since(start))
                case "op", "(":
                    inner = self.disjunction()
                    if not self._taken(")"):
                        raise self._error("expected ) here", self.token)
                    return inner
                case "name", name:
                    return self._variable(name, start)
                case "quoted", text:
                    name = re.sub(r"\\(.)", _unescaped, text[1:-1], flags=re.DOTALL)
                    if not name:
                        raise self._error("an event has a name that is not empty", token)
                    return self._variable(name, start)
                case _:
                    raise self._error("expected an event, ! or ( here", token)
        finally:
            self.depth -= 1

    def _variable(self, name: str, start: int) -> Variable:
        occurrence = None
        if self.token.kind == "number":
            token = self._next()
            # A number with more digits than this is no count of anything.
            occurrence = int(token.text[1:]) if len(token.text) < 10 else 0
            if occurrence < 1:
                raise self._error("occurrences are counted from 1, up to 99999999", token)
        return Variable(name, occurrence, self._since(start))

    def expect_end(self) -> None:
        if self.token.kind != "end":
            raise self._error("expected an operator or the end here", self.token)

    # ------------------------------------------------------------------------------------ tokens

    @property
    def token(self) -> _Token:
        return self.tokens[self.at]

    def _next(self) -> _Token:
        token = self.tokens[self.at]
        if token.kind != "end":
            self.at += 1
        return token

    def _taken(self, text: str) -> bool:
        if self.token.kind == "op" and self.token.text == text:
            self.at += 1
            return True
        return False

    def _separated(self, sign: str, part: Callable[[], Formula]) -> tuple[Formula, ...]:
        operands = [part()]
        while self._taken(sign):
            operands.append(part())
        return tuple(operands)

    def _since(self, start: int) -> Origin:
        return self.source.origin(self.tokens[start].start, self.tokens[self.at - 1].end)

    def _error(self, message: str, token: _Token, hint: str = "") -> InputError:
        origin = self.source.origin(token.start, max(token.end, token.start + 1))
        return InputError(Diagnostic(message, origin, hint, self.source.element))


def _unescaped(match: re.Match[str]) -> str:
    return "\n" if match[1] == "n" else match[1]
