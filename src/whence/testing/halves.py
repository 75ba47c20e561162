"""Floating-point inputs of which only the halves matter (:mod:`whence.testing.model`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

from whence.expr.lexer import QUERY_KEYWORDS
from whence.expr.parser import parse_expression, parse_updates
from whence.expr.scope import Problem
from whence.expr.tree import Binary, Expr, Field, IntLiteral, Name, Unary
from whence.expr.walk import subexpressions
from whence.model.chart import Assign, Chart, Effect
from whence.source import SourceText, WhenceError
from whence.testing.texts import functions, path_of

__all__ = ["halves", "only_with_whole_numbers"]

_COMPARISONS = frozenset(("==", "!=", "<", "<=", ">", ">="))


def halves(value: Fraction) -> int:
    """2·v, or the odd number for what lies between two whole numbers."""
    return 2 * value.numerator if value.denominator == 1 else 2 * (value // 1) + 1


def only_with_whole_numbers(chart: Chart) -> frozenset[str]:
    """The names of floating-point variables that no text of the chart computes with, or compares
    with anything but whole numbers. (Of several variables with one name, all are so or none.)"""
    declared = [*chart.variables, *(v for m in chart.machines for v in m.variables)]
    names = {v.name for v in declared if v.type.kind == "float" and v.type.step is None}
    if not names:
        return frozenset()
    known = {v.name for v in declared if v.role == "constant" and v.type.kind == "int"}
    found: Counter[str] = Counter()
    for expr in _expressions(chart):
        for part in subexpressions(expr):
            name = _last(part)
            if name in names:
                found[name] += 1
            if isinstance(part, Binary) and part.op in _COMPARISONS:
                for side, other in ((part.left, part.right), (part.right, part.left)):
                    whole = all(
                        isinstance(one, IntLiteral | Unary | Binary) or _last(one) in known
                        for one in subexpressions(other)
                    )
                    name = _last(side)
                    if name in names and whole:
                        found[name] -= 1
    return frozenset(name for name in names if not found[name])


def _last(expr: Expr) -> str:
    path = path_of(expr) if isinstance(expr, Name | Field) else None
    return "" if path is None else path.rpartition(".")[2]


def _expressions(chart: Chart) -> Iterator[Expr]:
    """Those that can be read; the others are complained about elsewhere."""
    for text, updates in _texts(chart):
        try:
            if updates:
                yield from parse_updates(functions(text), QUERY_KEYWORDS)
            else:
                yield parse_expression(functions(text), QUERY_KEYWORDS)
        except (WhenceError, Problem):
            continue


def _texts(chart: Chart) -> Iterator[tuple[SourceText, bool]]:
    effects: list[Effect] = []
    for machine in chart.machines:
        for state in machine.states:
            effects += (*state.entry, *state.do, *state.exit)
        for one in machine.transitions:
            effects += one.effects
            if one.guard is not None:
                yield one.guard, False
    for effect in effects:
        if isinstance(effect, Assign):
            yield effect.text, True
