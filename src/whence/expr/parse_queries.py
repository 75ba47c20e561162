"""Queries: `E<> …`, `A[] …`, `… --> …`, `sup{…}: …`, and the names of those that we refuse."""

from __future__ import annotations

from whence.expr.lexer import END, INT, NAME, QUERY_KEYWORDS
from whence.expr.parse_core import Stop
from whence.expr.parse_expressions import ExpressionReader
from whence.expr.tree import Expr, QuerySyntax
from whence.source import SourceText

__all__ = ["QueryReader"]

_STRATEGIES = "strategies and games"
_STATISTICS = "statistical queries"
#: How queries begin that only other branches of UPPAAL answer: a word, and what follows it.
_FOREIGN: dict[str, tuple[str, tuple[str, ...]]] = {
    "control": (_STRATEGIES, (":",)),
    "control_t": (_STRATEGIES, ("*",)),
    "strategy": (_STRATEGIES, (NAME,)),
    "loadStrategy": (_STRATEGIES, ("(", "{")),
    "saveStrategy": (_STRATEGIES, ("(",)),
    "minE": (_STRATEGIES, ("(", "[")),
    "maxE": (_STRATEGIES, ("(", "[")),
    "minPr": (_STRATEGIES, ("(", "[")),
    "maxPr": (_STRATEGIES, ("(", "[")),
    "Pr": (_STATISTICS, ("[", "(", "<")),
    "Pmax": (_STATISTICS, (NAME,)),
    "simulate": (_STATISTICS, ("[", INT)),
    "sat": ("scenario queries (live sequence charts)", (":",)),
    "bounds": ("queries for bounds", (":", "{")),
}


class QueryReader(ExpressionReader):
    """A reader of one query."""

    def __init__(self, source: SourceText) -> None:
        super().__init__(source, QUERY_KEYWORDS, condition=True)

    def query(self) -> QuerySyntax:
        if self.kinds[self.at] == END:
            self.expected("a query", hint="for example `E<> Process.location`")
        if self._foreign():
            # Whatever it says, we do not answer it.
            self.finish()
        result = self._read_query()
        if self.texts[self.at] in ("under", "imitate") and self.kinds[self.at + 1] == NAME:
            self.refuse(f"{_STRATEGIES} (`{self.texts[self.at]}`)", self.at)
            self.finish()
        self.accept(";")
        if self.kinds[self.at] != END:
            if self._path() or self.texts[self.at] in ("sup", "inf"):
                self.wrong("expected the end of the query", "write one query a line")
            if self.texts[self.at - 1] == ";":
                self.wrong("expected nothing after `;`", "write one query a line")
            self.expected("an operator or the end of the query")
        return result

    def _foreign(self) -> bool:
        text, following = self.texts[self.at], self.at + 1
        construct, openings = _FOREIGN.get(text, ("", ()))
        kind = self.kinds[following] if construct else END
        if (kind if kind in (NAME, INT) else self.texts[following]) in openings:
            hint = "ask for `sup: …` and `inf: …`" if text == "bounds" else ""
            self.refuse(f"{construct} (`{text}`)", self.at, hint)
            return True
        if text == "E" and self.texts[following] == "[" and self.texts[following + 1] != "]":
            self.refuse(f"{_STATISTICS} (`E[…]`)", self.at)
            return True
        if text == "A" and self.texts[following] == "[" and self.texts[following + 1] != "]":
            self.refuse("the path operators `U` and `W` (until)", self.at)
            return True
        if text == "{":
            self.refuse(f"{_STRATEGIES} (partial observability)", self.at)
            return True
        if self._path() and self.texts[self.at + 3 : self.at + 5] == ["control", ":"]:
            self.refuse(f"{_STRATEGIES} (`control`)", self.at + 3)
            return True
        return False

    def _path(self) -> str:
        """The path quantifier that stands here, if one does."""
        if self.texts[self.at] in ("A", "E"):
            signs = "".join(self.texts[self.at + 1 : self.at + 3])
            if signs in ("<>", "[]"):
                return self.texts[self.at] + signs
        return ""

    def _read_query(self) -> QuerySyntax:
        first = self.at
        text = self.texts[first]
        path = self._path()
        if path:
            self.at += 3
            if self.texts[self.at] in ("+", "*") and self.ends[self.at - 1] == self.starts[self.at]:
                self.refuse(f"the path quantifier `{path}{self.texts[self.at]}`", first)
                self.finish()
            predicate = self._predicate(path)
            return QuerySyntax(path, predicate, origin=self.origin(first))
        if text in ("sup", "inf") and self.texts[first + 1] in (":", "{"):
            self.at += 1
            condition = None
            if self.texts[self.at] == "{":
                opening = self.at
                self.at += 1
                condition = self.expression()
                self.close(opening)
            self.expect(":", f" after `{text}`")
            expressions = self.expressions()
            return QuerySyntax(text, condition, None, expressions, origin=self.origin(first))
        left = self._predicate("")
        if not self.accept("-->"):
            if self.kinds[self.at] != END and self.texts[self.at] != ";":
                self.expected("an operator or `-->`")
            self.problem(
                "this expression is no query",
                self.origin(first),
                "begin with `E<>`, `A[]`, `E[]` or `A<>`, or write `… --> …`",
                order=self.starts[first],
            )
            raise Stop
        right = self._predicate("-->")
        return QuerySyntax("-->", left, right, origin=self.origin(first))

    def _predicate(self, after: str) -> Expr:
        path = self._path()
        if path:
            self.wrong(
                f"`{path}` stands inside of another query",
                "path quantifiers cannot be nested",
            )
        if after and self.kinds[self.at] == END:
            self.expected(f"a condition after `{after}`")
        return self.expression()
