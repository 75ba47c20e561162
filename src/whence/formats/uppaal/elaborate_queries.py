"""Properties of an elaborated document: those in its file, and those that are asked later."""

from __future__ import annotations

from typing import cast

from whence.expr.check import Checker
from whence.expr.parser import parse_expression, parse_query
from whence.expr.scope import Context, Problems, Scope
from whence.expr.tree import Expr, QuerySyntax
from whence.formats.uppaal.document import QueryText
from whence.formats.uppaal.elaborate import Elaborated
from whence.formats.uppaal.elaborate_templates import is_blank
from whence.model.network import Query, QueryKind
from whence.source import InputError, Origin, SourceText

__all__ = ["check_formula", "check_query", "queries"]


def check_query(
    elaborated: Elaborated, query: str | SourceText | QueryText | QuerySyntax, comment: str = ""
) -> Query:
    """The checked property; raises :class:`InputError` if it is none of this network."""
    text, element, origin = "", "", Origin()
    if isinstance(query, str):
        query = SourceText(query, element="the query")
    if isinstance(query, QueryText):
        comment = comment or query.comment
        query = query.formula
    if isinstance(query, SourceText):
        text, element = query.text.strip(), query.element
        start = len(query.text) - len(query.text.lstrip())
        origin = query.origin(start, start + max(1, len(text)))
        query = parse_query(query)
    # Problems of one query are its own.
    problems = Problems()
    known = elaborated.context
    checker = Checker(Context(problems, known.values, known.functions, known.scalar_sets))
    checked = query
    with problems.collecting(element):
        checked = checker.query(query, Scope("query", elaborated.names, "query"))
    problems.raise_any()
    return Query(
        cast("QueryKind", checked.kind),
        checked.predicate,
        checked.second,
        checked.expressions,
        text,
        comment,
        origin if origin.line else checked.origin,
    )


def check_formula(elaborated: Elaborated, text: SourceText) -> Expr:
    """A state formula in a text of its own, checked."""
    query = check_query(elaborated, QuerySyntax("E<>", parse_expression(text), None, ()))
    assert query.predicate is not None
    return query.predicate


def queries(elaborated: Elaborated) -> tuple[tuple[QueryText, Query | InputError], ...]:
    """Each query of the document with what it becomes; one that is wrong does not stop the
    others. Queries that are empty are left out: UPPAAL's editor leaves them behind."""
    result: list[tuple[QueryText, Query | InputError]] = []
    for query in elaborated.query_texts:
        if is_blank(query.formula):
            continue
        try:
            result.append((query, check_query(elaborated, query)))
        except InputError as error:
            result.append((query, error))
    return tuple(result)
