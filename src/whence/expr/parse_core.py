"""What all parsers of the UPPAAL language share: walking over tokens, and saying what is wrong.

A problem is recorded and, where the text cannot be followed any further, :class:`Stop` is raised;
whoever knows where the next declaration or statement begins catches it and goes on there, so that
one run reports several errors.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import NoReturn

from whence.expr.lexer import END, KEYWORDS, NAME, STRING, Tokens, words
from whence.source import Diagnostic, InputError, Origin, SourceText, UnsupportedError

__all__ = ["MAX_DEPTH", "Reader", "Stop"]

#: How deep expressions and statements may be nested. Whoever walks a tree may recurse: this keeps
#: it clear of Python's own limit, with three calls a level and room for the callers.
MAX_DEPTH = 200
#: More errors than this in one text help nobody.
MAX_PROBLEMS = 20

_CLOSING = {"(": ")", "[": "]", "{": "}"}
#: Words that begin a declaration: good places to go on after an error.
_BEGINNINGS = words(
    "typedef const urgent broadcast meta bool int chan clock void struct scalar system process "
    "import before_update after_update"
)


class Stop(Exception):
    """Parsing cannot go on here; the problem is already recorded."""


class Reader:
    """Tokens with a place in them."""

    def __init__(self, source: SourceText, reserved: frozenset[str] = KEYWORDS) -> None:
        self.source = source
        self.tokens = Tokens(source)
        self.texts = self.tokens.texts
        self.kinds = self.tokens.kinds
        self.starts = self.tokens.starts
        self.ends = self.tokens.ends
        self.reserved = reserved
        #: The index of the next token.
        self.at = 0
        self.depth = 0
        self._problems: list[tuple[int, Diagnostic]] = []
        self._refused: set[str] = set()
        self._wrong = False

    # ------------------------------------------------------------------------------- places

    def origin(self, first: int, last: int | None = None) -> Origin:
        """From token `first` up to the token before the current one, or up to token `last`."""
        end = self.ends[self.at - 1 if last is None else last]
        return self.tokens.places.origin(self.starts[first], end)

    def line(self, index: int) -> int:
        return self.tokens.places.position(self.starts[index])[0]

    def describe(self, index: int) -> str:
        if self.kinds[index] == END:
            return "the end of the text"
        text = self.texts[index]
        if self.kinds[index] == STRING and len(text) > 30:
            text = text[:27] + '..."'
        return f"`{text}`"

    # ----------------------------------------------------------------------------- problems

    def problem(self, message: str, origin: Origin, hint: str = "", *, order: int) -> None:
        self._wrong = True
        diagnostic = Diagnostic(message, origin, hint, self.source.element)
        self._problems.append((order, diagnostic))
        if len(self._problems) >= MAX_PROBLEMS:
            self.finish()

    def wrong(self, message: str, hint: str = "", *, index: int | None = None) -> NoReturn:
        """The token at `index`, by default the current one, is not what it should be."""
        where = self.at if index is None else index
        self.problem(message, self.origin(where, where), hint, order=self.starts[where])
        raise Stop

    def refuse(
        self, construct: str, first: int, hint: str = "", *, last: int | None = None
    ) -> None:
        """Record the use of a construct that we refuse: once a text, and parsing goes on.

        What stands in parentheses at the end of `construct` says how it showed itself."""
        kind = construct.split(" (")[0]
        if kind in self._refused:
            return
        self._refused.add(kind)
        origin = self.origin(first, first if last is None else last)
        diagnostic = Diagnostic(f"not supported: {construct}", origin, hint, self.source.element)
        self._problems.append((self.starts[first], diagnostic))

    def finish(self) -> None:
        """Raise what was found wrong, if anything."""
        if self.tokens.problems:
            # What the parser says after that would be about tokens that are not there.
            raise InputError(self.tokens.problems)
        if self._problems:
            ordered = [item for _, item in sorted(self._problems, key=lambda pair: pair[0])]
            raise (InputError if self._wrong else UnsupportedError)(ordered)

    def expected(self, what: str, *, hint: str = "") -> NoReturn:
        """The current token is not `what` should stand here."""
        index = self.at
        text = self.texts[index]
        if text in (")", "]", "}") and not hint:
            self.wrong(f"expected {what}, found `{text}`", self._unmatched(text))
        self.wrong(f"expected {what}, found {self.describe(index)}", hint or self.guess())

    def _unmatched(self, closing: str) -> str:
        opening = next(key for key, value in _CLOSING.items() if value == closing)
        before = self.texts[: self.at]
        if before.count(opening) <= before.count(closing):
            return f"no `{opening}` is open here"
        return ""

    def guess(self) -> str:
        """A hint at what may have been meant."""
        index, texts = self.at, self.texts
        text = texts[index]
        before = texts[index - 2 : index] if index >= 2 else []
        if text == ";" and before[:1] == ["&"] and before[1] in ("lt", "gt", "amp"):
            sign = {"lt": "<", "gt": ">", "amp": "&"}[before[1]]
            return f"`&{before[1]};` is read as it stands here: write `{sign}`"
        if text in ("=<", "=>"):
            return f"write `{text[::-1]}`" + (", or `imply`" if text == "=>" else "")
        if text == "-->":
            return "`-->` (leads to) is only for queries; `x-- > 0` needs its space"
        if text == "->":
            return "write `.` to select a field"
        if text in ("/\\", "\\/"):
            return f"write `{'&&' if text[0] == '/' else '||'}`"
        for candidate in (text, texts[index - 1] if index else ""):
            word = candidate.isidentifier() and candidate not in self.reserved
            if word and len(candidate) > 1:
                near = get_close_matches(candidate.lower(), KEYWORDS, 1, 0.66)
                if near and near[0] != candidate:
                    return f"did you mean `{near[0]}`?"
        return ""

    # ------------------------------------------------------------------------------- walking

    def accept(self, text: str) -> bool:
        if self.texts[self.at] == text and self.kinds[self.at] != END:
            self.at += 1
            return True
        return False

    def expect(self, text: str, after: str = "") -> None:
        if self.texts[self.at] == text:
            self.at += 1
            return
        self.expected(f"`{text}`{after}")

    def close(self, opening: int) -> None:
        """Take the token that closes the one at index `opening`."""
        sign = self.texts[opening]
        closing = _CLOSING[sign]
        found = self.texts[self.at]
        if found == closing:
            self.at += 1
            return
        if found in ("", ";", ")", "]", "}", "{"):
            self.wrong(
                f"this `{sign}` is not closed: found {self.describe(self.at)} where `{closing}` "
                "was expected",
                self.guess(),
                index=opening,
            )
        line, column = self.tokens.places.position(self.starts[opening])
        guess = self.guess()
        self.expected(
            f"`{closing}`", hint=guess or f"the `{sign}` to close stands at {line}:{column}"
        )

    def name(self, what: str = "a name") -> str:
        text = self.texts[self.at]
        if self.kinds[self.at] != NAME:
            self.expected(what)
        if text in self.reserved:
            self.wrong(
                f"expected {what}, found the keyword `{text}`",
                self.guess() or f"`{text}` cannot be a name",
            )
        self.at += 1
        return text

    def semicolon(self, after: str) -> None:
        """Take a `;`. One that is missing at the end of a line is reported, and read anyway."""
        if self.accept(";"):
            return
        previous = self.at - 1
        if self.kinds[self.at] == END or self.line(self.at) > self.line(previous):
            end = self.ends[previous]
            self.problem(
                f"`;` is missing after {after}",
                self.tokens.places.origin(end, end),
                self.guess(),
                order=end,
            )
            return
        self.expected(f"`;` after {after}")

    def enter(self) -> None:
        """One level deeper; the caller lowers `depth` again."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.too_deep()

    def too_deep(self) -> NoReturn:
        self.problem(
            f"this is nested more than {MAX_DEPTH} levels deep",
            self.origin(self.at, self.at),
            "name parts of it, in functions or variables of their own",
            order=self.starts[self.at],
        )
        # Everything after this would be reported again, level by level.
        self.finish()
        raise AssertionError

    def skip(self, first: int, *, in_block: bool = False) -> None:
        """After an error in what began at token `first`: go to where the next one begins."""
        self.at = max(self.at, first)
        begun = self.texts[first : self.at]
        level = begun.count("{") - begun.count("}")
        while self.kinds[self.at] != END:
            text = self.texts[self.at]
            if text == "{":
                level += 1
            elif text == "}":
                if level == 0 and in_block:
                    return
                level -= 1
                if level <= 0:
                    self.at += 1
                    self.accept(";")
                    return
            elif level == 0 and text == ";":
                self.at += 1
                return
            elif level == 0 and self.at > first and text in _BEGINNINGS:
                new_line = self.line(self.at) > self.line(self.at - 1)
                if new_line or text in ("system", "process", "typedef"):
                    return
            self.at += 1

    def skip_braces(self) -> None:
        """Go past the `{ … }` that begins here."""
        opening = self.at
        self.expect("{")
        level = 1
        while level:
            if self.kinds[self.at] == END:
                self.wrong("this `{` is not closed", index=opening)
            level += {"{": 1, "}": -1}.get(self.texts[self.at], 0)
            self.at += 1
