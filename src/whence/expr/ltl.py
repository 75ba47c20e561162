"""Linear temporal logic over state formulas: how it is written (Koelbl, Definition 2, and more).

Temporal operators, and the words that may be written for them:

=============  ============================================================
``G p``        ``[] p``, ``always p``, ``globally p``; ``never p`` is ``G !p``
``F p``        ``<> p``, ``eventually p``, ``finally p``
``X p``        ``next p``
``p U q``      ``p until q``
``p W q``      ``p unless q``, ``p weak_until q``: as ``U``, but q need not come
``p R q``      ``p releases q``: q holds up to, and including, when p first does
=============  ============================================================

From tight to loose bind ``!`` (``not``) and the prefixes, ``U W R`` (to the right), ``&&``
(``and``), ``||`` (``or``), ``->`` (``=>``, ``imply``, ``implies``, to the right), ``<->``
(``<=>``, ``iff``).

An atom is a state formula of the expression language: ``Train.Tc``, ``P(1).cs``, ``x < 5``.  What
stands in parentheses without a temporal operator or an arrow is one atom, whatever it is.  Atoms
stay text here; who knows the system evaluates them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, NamedTuple, NoReturn

from whence.expr.lexer import cut
from whence.source import Diagnostic, InputError, SourceText

__all__ = ["Formula", "Operator", "parse_ltl"]

Operator = Literal[
    "true", "false", "atom", "!", "&&", "||", "->", "<->", "X", "F", "G", "U", "W", "R"
]

#: So many operators and parentheses may stand within each other.
MAX_DEPTH = 100


@dataclass(frozen=True, slots=True)
class Formula:
    """`&&` and `||` have two operands or more. `atom` is the number of an atom. The formula
    stands from `start` up to `end` of its source."""

    operator: Operator
    operands: tuple[Formula, ...] = ()
    atom: int = -1
    start: int = 0
    end: int = 0


class _Token(NamedTuple):
    kind: str
    text: str
    start: int
    end: int


_TOKEN = re.compile(
    r"""(?P<space>(?:\s+|//[^\n]*|/\*.*?\*/)+)
    |(?P<name>[A-Za-z_][A-Za-z0-9_$\#]*)
    |(?P<number>\d[\w.]*)
    |(?P<string>"[^"\n]*")
    |(?P<op><->|<=>|<<|>>|<\?|>\?|->|=>|\[\]|<>|&&|\|\||<=|>=|==|!=|[-+*/%&|^!<>?:,;.()\[\]'])
    |(?P<bad>.)""",
    re.VERBOSE | re.DOTALL | re.ASCII,
)

_PREFIXES: dict[str, Operator] = {
    **dict.fromkeys(("!", "not"), "!"),
    **dict.fromkeys(("G", "[]", "always", "globally"), "G"),
    **dict.fromkeys(("F", "<>", "eventually", "finally"), "F"),
    **dict.fromkeys(("X", "next"), "X"),
}
_NEVER = "never"
_TEMPORAL: dict[str, Operator] = {
    **dict.fromkeys(("U", "until"), "U"),
    **dict.fromkeys(("W", "unless", "weak_until"), "W"),
    **dict.fromkeys(("R", "releases"), "R"),
}
_ARROWS: dict[str, Operator] = {
    **dict.fromkeys(("->", "=>", "imply", "implies"), "->"),
    **dict.fromkeys(("<->", "<=>", "iff"), "<->"),
}
_BINARIES: dict[str, Operator] = {
    **_TEMPORAL,
    **_ARROWS,
    **dict.fromkeys(("&&", "and"), "&&"),
    **dict.fromkeys(("||", "or"), "||"),
}
_STRENGTHS: dict[Operator, int] = {"<->": 1, "->": 2, "||": 3, "&&": 4, "U": 5, "W": 5, "R": 5}
_TO_THE_RIGHT = ("->", "U", "W", "R")
#: What makes a text in parentheses more than a state formula. `imply` is in the expression
#: language, too.
_NOT_OF_A_STATE = {*_PREFIXES, _NEVER, *_BINARIES} - {"!", "not", "&&", "and", "||", "or", "imply"}
#: What goes on with a state formula behind a closing parenthesis.
_GOING_ON = frozenset(
    ("<", "<=", "==", "!=", ">=", ">", "+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>")
) | frozenset(("<?", ">?", "?", ".", "[", "(", "'"))
_LOOKALIKES = {"∧": "&&", "∨": "||", "¬": "!", "→": "->", "⇒": "->", "↔": "<->", "⇔": "<->"}
_LOOKALIKES |= {"□": "G", "◇": "F", "◯": "X", "○": "X", "≤": "<=", "≥": ">=", "≠": "!=", "~": "!"}
_EXAMPLE = "for example `G !(Car.Cc && Train.Tc)` or `!Train.Tc W Gate.Gc`"


def parse_ltl(source: SourceText) -> tuple[Formula, tuple[SourceText, ...]]:
    """The formula, and its atoms, each once, as it was first written. Raises InputError."""
    reader = _Reader(source)
    formula = reader.formula(0, 0)
    if reader.token.text == ";":
        reader.at += 1
    if reader.token.kind != "end":
        reader.expected("an operator or the end of the formula")
    return formula, tuple(reader.atoms)


class _Reader:
    def __init__(self, source: SourceText) -> None:
        self.source = source
        self.tokens: list[_Token] = []
        for match in _TOKEN.finditer(source.text):
            kind = match.lastgroup
            assert kind is not None
            token = _Token(kind, match.group(), *match.span())
            if kind == "bad":
                self.bad_character(token)
            if kind != "space":
                self.tokens.append(token)
        end = self.tokens[-1].end if self.tokens else 0
        self.tokens.append(_Token("end", "", end, end))
        self.closing = self.match_parentheses()
        self.at = 0
        self.atoms: list[SourceText] = []
        self.numbers: dict[str, int] = {}

    @property
    def token(self) -> _Token:
        return self.tokens[self.at]

    # -------------------------------------------------------------------------- complaints

    def error(self, message: str, start: int, end: int, hint: str = "") -> NoReturn:
        origin = self.source.origin(start, end)
        raise InputError(Diagnostic(message, origin, hint, self.source.element))

    def expected(self, what: str, hint: str = "") -> NoReturn:
        token = self.token
        found = f"`{token.text}`" if token.kind != "end" else "nothing more"
        self.error(f"expected {what}, found {found}", token.start, token.end, hint)

    def bad_character(self, token: _Token) -> NoReturn:
        shown = f"`{token.text}`" if token.text.isprintable() else f"U+{ord(token.text):04X}"
        instead = _LOOKALIKES.get(token.text)
        hint = f"write `{instead}`" if instead else ""
        if token.text == "=":
            hint = "write `==` to compare"
        if token.text == '"':
            self.error('this `"` is never closed', token.start, token.end)
        self.error(f"unknown character {shown}", token.start, token.end, hint)

    def match_parentheses(self) -> dict[int, int]:
        """Where each opening parenthesis or bracket is closed, by numbers of tokens."""
        closing: dict[int, int] = {}
        opened: list[int] = []
        for number, token in enumerate(self.tokens):
            if token.text in ("(", "["):
                opened.append(number)
            elif token.text in (")", "]"):
                if not opened or (self.tokens[opened[-1]].text == "(") != (token.text == ")"):
                    self.error(f"this `{token.text}` closes nothing", token.start, token.end)
                closing[opened.pop()] = number
        if opened:
            token = self.tokens[opened[-1]]
            self.error(f"this `{token.text}` is never closed", token.start, token.end)
        return closing

    # -------------------------------------------------------------------------- formulas

    def formula(self, weakest: int, depth: int) -> Formula:
        """Operators that bind less than `weakest` end the formula."""
        self.check_depth(depth)
        left = self.operand(depth)
        while True:
            depth += 1  # another operator around what is to the left
            self.check_depth(depth)
            operator = _BINARIES.get(self.token.text)
            if operator is None or _STRENGTHS[operator] < max(weakest, 1):
                return left
            strength = _STRENGTHS[operator]
            operands = [left]
            while _BINARIES.get(self.token.text) == operator:
                self.at += 1
                beyond = strength if operator in _TO_THE_RIGHT else strength + 1
                operands.append(self.formula(beyond, depth))
                if operator not in ("&&", "||"):
                    break
            left = Formula(operator, tuple(operands), -1, left.start, operands[-1].end)

    def operand(self, depth: int) -> Formula:
        token = self.token
        if token.text == _NEVER:
            self.at += 1
            inner = self.prefixed(depth)
            negated = Formula("!", (inner,), -1, inner.start, inner.end)
            return Formula("G", (negated,), -1, token.start, inner.end)
        operator = _PREFIXES.get(token.text)
        if operator is not None:
            self.at += 1
            first = self.at
            inner = self.prefixed(depth)
            if operator == "!" and inner.operator == "atom":
                self.check_negated(first)
            return Formula(operator, (inner,), -1, token.start, inner.end)
        if token.text == "(" and not self.is_state_formula():
            closing = self.tokens[self.closing[self.at]]
            self.at += 1
            inner = self.formula(0, depth + 1)
            if self.token != closing:
                self.expected("an operator or `)`")
            self.at += 1
            return Formula(inner.operator, inner.operands, inner.atom, token.start, closing.end)
        return self.atom()

    def prefixed(self, depth: int) -> Formula:
        self.check_depth(depth)
        return self.operand(depth + 1)

    def check_depth(self, depth: int) -> None:
        if depth > MAX_DEPTH:
            token = self.token
            self.error(
                f"more than {MAX_DEPTH} operators and parentheses within each other",
                token.start,
                token.end,
            )

    def check_negated(self, first: int) -> None:
        """`!x < 5` reads one way in C and another way here."""
        at = first
        while at < self.at:
            if self.tokens[at].text in _GOING_ON - {".", "[", "(", "'"}:
                operator, last = self.tokens[at], self.tokens[self.at - 1]
                self.error(
                    f"what does the `!` before this negate, with `{operator.text}` behind it?",
                    self.tokens[first].start,
                    last.end,
                    "put what is negated into parentheses",
                )
            at = self.closing.get(at, at) + 1

    # -------------------------------------------------------------------------- atoms

    def is_state_formula(self) -> bool:
        """Whether the parentheses that open here hold a state formula, or a part of one."""
        closing = self.closing[self.at]
        within = range(self.at + 1, closing)
        return not any(self.is_word_of(number, _NOT_OF_A_STATE) for number in within)

    def is_word_of(self, number: int, words: set[str]) -> bool:
        """A state can be called `X`: behind a dot, everything is a name."""
        return self.tokens[number].text in words and self.tokens[number - 1].text != "."

    def atom(self) -> Formula:
        first = self.at
        token = self.token
        if token.text in ("forall", "exists"):
            self.error(
                f"`{token.text}` reaches how far?",
                token.start,
                token.end,
                "put it, with all that belongs to it, into parentheses",
            )
        if token.text == "(":
            closing = self.closing[first]
            if closing == first + 1:
                self.error("there is nothing in these parentheses", token.start, token.end + 1)
            if self.tokens[closing + 1].text not in _GOING_ON:
                self.at = closing + 1
                formula = self.make(first + 1, closing - 1)
                start, end = token.start, self.tokens[closing].end
                return Formula(formula.operator, (), formula.atom, start, end)
        while not self.at_end_of_atom(first):
            self.at = self.closing.get(self.at, self.at) + 1
        if self.at == first:
            hint = _EXAMPLE if len(self.tokens) == 1 else ""
            self.expected("a state formula or an operator before one", hint)
        return self.make(first, self.at - 1)

    def at_end_of_atom(self, first: int) -> bool:
        token = self.token
        if token.kind == "end" or token.text in (")", "]", ";", ",", "[]", "<>"):
            return True
        before = self.tokens[self.at - 1] if self.at > first else None
        if before is not None and before.text == ".":
            return False
        if token.text in _BINARIES:
            return True
        # Two operands without an operator between them: what comes is no part of this one.
        names = ("name", "number", "string")
        return (
            before is not None
            and token.kind in names
            and (before.kind in names or before.text in (")", "]"))
        )

    def make(self, first: int, last: int) -> Formula:
        """The atom from one token to another."""
        start, end = self.tokens[first].start, self.tokens[last].end
        if first == last and self.tokens[first].text in ("true", "false"):
            constant: Operator = "true" if self.tokens[first].text == "true" else "false"
            return Formula(constant, (), -1, start, end)
        key = " ".join(token.text for token in self.tokens[first : last + 1])
        number = self.numbers.setdefault(key, len(self.atoms))
        if number == len(self.atoms):
            self.atoms.append(cut(self.source, start, end))
        return Formula("atom", (), number, start, end)
