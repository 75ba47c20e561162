"""Query files (`.q`): one property a line, each under its comment."""

from __future__ import annotations

import re

from whence.expr.lexer import cut
from whence.formats.uppaal.document import QueryText
from whence.source import Diagnostic, InputError, SourceText

__all__ = ["read_queries", "says_nothing", "write_queries"]

# A newline behind a backslash, or inside a comment, does not end a property.
_PART = re.compile(
    r"""(?P<comment>/\*(?P<inside>.*?)\*/)
    |(?P<open>/\*)
    |(?P<line_comment>//[^\n]*)
    |(?P<continued>\\[ \t\r]*\n)
    |(?P<end>\n)
    |(?P<space>[^\S\n]+)
    |(?P<text>"[^"\n]*"|.)""",
    re.VERBOSE | re.DOTALL,
)
_SPACE_AND_COMMENTS = re.compile(r"(?:\s|\\[ \t\r]*\n|//[^\n]*|/\*.*?\*/)*", re.DOTALL)


def says_nothing(source: SourceText) -> bool:
    """Whether a query consists of nothing but comments: such entries structure UPPAAL's list."""
    return _SPACE_AND_COMMENTS.fullmatch(source.text) is not None


def read_queries(source: SourceText) -> tuple[QueryText, ...]:
    """The properties of a query file, in their order.

    A comment `/* … */` on lines of its own belongs to the next property; below one that stands
    for itself, UPPAAL writes `//NO_QUERY`.
    """
    result: list[QueryText] = []
    comments: list[str] = []
    start = end = -1  # of the property on the present line

    def finish() -> None:
        nonlocal start
        if start >= 0:
            formula = cut(source, start, end, f"query {len(result) + 1}")
            result.append(QueryText(formula, "\n\n".join(comments)))
            comments.clear()
        start = -1

    for part in _PART.finditer(source.text):
        match part.lastgroup:
            case "comment":
                if start < 0:
                    comments.append(_outdent(part.group("inside")))
            case "open":
                origin = source.origin(part.start(), part.end())
                raise InputError(
                    Diagnostic("this comment is never closed", origin, "close it with `*/`")
                )
            case "line_comment":
                if part.group().strip() == "//NO_QUERY":
                    comments.clear()
            case "end":
                finish()
            case "text":
                if start < 0:
                    start = part.start()
                end = part.end()
    finish()
    return tuple(result)


def write_queries(queries: tuple[QueryText, ...]) -> str:
    """A query file that reads as these queries."""
    parts = []
    for query in queries:
        comment = query.comment.replace("*/", "* /")
        parts.append(f"/*\n{comment}\n*/\n" if comment else "")
        lines = [
            line.rstrip().removesuffix("\\").rstrip() for line in query.formula.text.split("\n")
        ]
        parts.append(" \\\n".join(lines).strip() + "\n\n")
    return "".join(parts)


def _outdent(comment: str) -> str:
    lines = [line.strip() for line in comment.strip().split("\n")]
    return "\n".join(lines)
