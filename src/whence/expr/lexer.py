"""Cuts a text of the UPPAAL language into tokens, and knows where each one stands in its file."""

from __future__ import annotations

import re
from bisect import bisect_right
from contextlib import suppress

from whence.source import Diagnostic, Origin, SourceText

__all__ = [
    "END",
    "FLOAT",
    "FLOAT_FUNCTIONS",
    "INT",
    "KEYWORDS",
    "LOOKAHEAD",
    "NAME",
    "OP",
    "QUERY_KEYWORDS",
    "RANDOM_FUNCTIONS",
    "STRING",
    "Places",
    "Tokens",
    "cut",
    "words",
]

NAME, INT, FLOAT, STRING, OP, END = "name", "int", "float", "string", "op", "end"

#: How far one can look ahead, the next token included.
LOOKAHEAD = 6


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_EXPRESSION_WORDS = words("true false and or xor not imply forall exists sum deadlock int scalar")
#: Words that cannot be names in a model.
KEYWORDS = _EXPRESSION_WORDS | words(
    "const urgent broadcast meta bool chan clock void struct typedef process state branchpoint "
    "commit init trans select guard sync assign probability system for while do if else default "
    "return import before_update after_update assert priority"
)
#: Words that cannot be names in a query: locations called `init` or `guard` can be asked about.
QUERY_KEYWORDS = _EXPRESSION_WORDS

#: Built-in functions of UPPAAL 5 that compute with floating-point numbers. They are no keywords
#: here: models older than these functions declare some of the names themselves.
FLOAT_FUNCTIONS = words(
    "fabs fmod fma fmax fmin fdim exp exp2 expm1 ln log log10 log2 log1p pow sqrt cbrt hypot sin "
    "cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh erf erfc tgamma lgamma ceil "
    "floor trunc round fint ldexp ilogb logb nextafter copysign fpclassify isfinite isinf isnan "
    "isnormal signbit isunordered"
)
RANDOM_FUNCTIONS = words(
    "random random_arcsine random_beta random_gamma random_normal random_poisson random_tri "
    "random_weibull"
)

_OPERATORS = (
    *("-->", "<<=", ">>="),
    *("->", ":=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<?", ">?", "<<", ">>", "&&"),
    *("||", "<=", ">=", "==", "!=", "++", "--", "=<", "=>", "**", "/\\", "\\/"),
    *"+-*/%&|^!<>=?:,;.(){}[]'#",
)

# A backslash at the end of a line continues the line: queries are one to a line otherwise.
_TOKEN = re.compile(
    r"""(?P<space>(?:\s+|//[^\n]*|/\*.*?\*/|\\[ \t\r]*(?:\n|\Z))+)
    |(?P<name>[A-Za-z_][A-Za-z0-9_$#]*)
    |(?P<float>\d+(?:\.\d+(?:[eE][+-]?\d+)?|[eE][+-]?\d+)(?!\w))
    |(?P<int>\d+(?!\w))
    |(?P<number>\d\w*)
    |(?P<string>"[^"\n]*")
    |(?P<comment>/\*)
    |(?P<op>"""
    + "|".join(re.escape(operator) for operator in _OPERATORS)
    + r""")
    |(?P<bad>.)""",
    re.VERBOSE | re.DOTALL | re.ASCII,
)

#: Characters from word processors and papers: (what to read instead, so that the parser can go
#: on, or "" to skip the character).
_LOOKALIKES = {
    "≤": "<=",
    "≥": ">=",
    "≠": "!=",
    "∧": "&&",
    "∨": "||",
    "¬": "!",
    "⇒": "imply",
    "→": "imply",
    "∀": "forall",
    "∃": "exists",
    "−": "-",
    "–": "-",
    "×": "*",
    "·": "*",
    "÷": "/",
    "’": "'",
    "′": "'",
}
_INVISIBLE = {
    "\u00a0": "a non-breaking space",
    "\u2007": "a figure space",
    "\u202f": "a narrow non-breaking space",
    "\u200b": "a zero-width space",
    "\ufeff": "a byte order mark",
}


class Places:
    """Origins of a text's characters, like SourceText.origin, but fast for long texts."""

    def __init__(self, source: SourceText) -> None:
        self._file = source.file
        self._pieces = source.pieces
        self._piece_starts = [piece[0] for piece in source.pieces]
        self._newlines = [match.start() for match in re.finditer("\n", source.text)]

    def position(self, offset: int) -> tuple[int, int]:
        if not self._pieces:
            return (0, 0)
        start, line, column = self._pieces[max(0, bisect_right(self._piece_starts, offset) - 1)]
        # A newline at `offset` itself still belongs to the line that it ends.
        before = bisect_right(self._newlines, offset - 1)
        lines = before - bisect_right(self._newlines, start - 1)
        if lines > 0:
            return line + lines, offset - self._newlines[before - 1]
        return line, column + offset - start

    def origin(self, start: int, end: int) -> Origin:
        line, column = self.position(start)
        if end <= start:
            return Origin(self._file, line, column, line, column)
        end_line, end_column = self.position(end - 1)
        return Origin(self._file, line, column, end_line, end_column + 1)


class Tokens:
    """The tokens of a text as parallel lists.

    Behind the `count` tokens stand some of kind END and text "", so that one can look ahead."""

    def __init__(self, source: SourceText) -> None:
        self.kinds: list[str] = []
        self.texts: list[str] = []
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.places = Places(source)
        self.problems: list[Diagnostic] = []
        self._element = source.element
        self._cut(source.text)

    def _cut(self, text: str) -> None:
        kinds, texts, starts, ends = self.kinds, self.texts, self.starts, self.ends
        for match in _TOKEN.finditer(text):
            kind = match.lastgroup
            if kind == "space":
                continue
            assert kind is not None
            token = match.group()
            start, end = match.span()
            if kind == "comment":
                self._problem("this comment is never closed", start, end, "close it with `*/`")
                break
            if kind == "number":
                kind = self._malformed_number(token, start, end)
            elif kind == "bad":
                token = self._bad_character(token, start, end)
                if not token:
                    continue
                kind = NAME if token.isalpha() else OP
            kinds.append(kind)
            texts.append(token)
            starts.append(start)
            ends.append(end)
        self.count = len(kinds)
        # The end stands right after the last token: that is where something is missing.
        end = ends[-1] if ends else 0
        kinds.extend([END] * LOOKAHEAD)
        texts.extend([""] * LOOKAHEAD)
        starts.extend([end] * LOOKAHEAD)
        ends.extend([end] * LOOKAHEAD)

    def _problem(self, message: str, start: int, end: int, hint: str = "") -> None:
        origin = self.places.origin(start, end)
        self.problems.append(Diagnostic(message, origin, hint, self._element))

    def _malformed_number(self, token: str, start: int, end: int) -> str:
        hint = "names start with a letter or `_`"
        if token[:2] in ("0x", "0X", "0b", "0B"):
            hint = "only decimal numbers can be written"
            with suppress(ValueError):
                hint += f": write {int(token, 0)}"
        self._problem(f"`{token}` is neither a number nor a name", start, end, hint)
        return INT

    def _bad_character(self, token: str, start: int, end: int) -> str:
        """Reports the character; returns what to read in its place."""
        instead = _LOOKALIKES.get(token, "")
        if instead:
            self._problem(f"unknown character `{token}`", start, end, f"write `{instead}`")
        elif token in _INVISIBLE:
            message = f"unknown character U+{ord(token):04X}: {_INVISIBLE[token]}"
            self._problem(message, start, end, "replace it by a space")
        elif token == '"':
            self._problem('this `"` is never closed', start, end)
        elif token.isprintable():
            hint = "write `&&` or `||`" if token == "\\" else ""
            if token.isalpha():
                hint = "names are made of the letters A to Z, digits and `_`"
            elif token == "~":
                hint = "write `!` for a negation"
            self._problem(f"unknown character `{token}`", start, end, hint)
        else:
            self._problem(f"unknown character U+{ord(token):04X}", start, end)
        return instead


def cut(source: SourceText, start: int, end: int, element: str = "") -> SourceText:
    """The characters from `start` up to `end` as a text of their own that knows its place."""
    inner = [
        (offset - start, line, column)
        for offset, line, column in source.pieces
        if start < offset < end
    ]
    pieces = ((0, *source.position(start)), *inner) if source.pieces else ()
    return SourceText(source.text[start:end], source.file, pieces, element or source.element)
