"""The parsers of everything that UPPAAL files say in words.

Each takes the text of one element — a declaration, a guard, a query — and returns its tree, or
raises one :class:`whence.source.InputError` with all that is wrong in it:
:class:`whence.source.UnsupportedError` if the text is fine but uses what we refuse.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Literal

from whence.expr.lexer import END, KEYWORDS, NAME
from whence.expr.parse_core import Stop
from whence.expr.parse_declarations import DeclarationReader
from whence.expr.parse_expressions import ExpressionReader
from whence.expr.parse_queries import QueryReader
from whence.expr.tree import (
    Binary,
    DeclarationSyntax,
    Expr,
    Instantiation,
    Name,
    ParameterSyntax,
    QuerySyntax,
    SelectSyntax,
    SystemLine,
    SystemSyntax,
)
from whence.source import SourceText

__all__ = [
    "parse_declarations",
    "parse_expression",
    "parse_parameters",
    "parse_query",
    "parse_selects",
    "parse_synchronisation",
    "parse_system",
    "parse_updates",
]


def parse_expression(text: SourceText, reserved: frozenset[str] = KEYWORDS) -> Expr:
    """A guard, an invariant or another condition. Commas mean conjunction, as in UPPAAL 3.4;
    an assignment is an error here. `reserved` words cannot be names."""
    reader = ExpressionReader(text, reserved, condition=True)
    with suppress(Stop):
        result = reader.expression()
        while reader.texts[reader.at] == ",":
            reader.at += 1
            right = reader.expression()
            result = Binary("&&", result, right, origin=reader.origin(0))
        _end(reader, "an operator or the end of the expression")
    reader.finish()
    return result


def parse_updates(text: SourceText, reserved: frozenset[str] = KEYWORDS) -> tuple[Expr, ...]:
    """The expressions of an edge's update, separated by commas; none for an empty text."""
    reader = ExpressionReader(text, reserved)
    result: tuple[Expr, ...] = ()
    with suppress(Stop):
        if reader.kinds[0] != END:
            result = reader.expressions()
        _end(reader, "an operator, `,` or the end of the update")
    reader.finish()
    return result


def parse_selects(text: SourceText) -> tuple[SelectSyntax, ...]:
    reader = DeclarationReader(text)
    result: tuple[SelectSyntax, ...] = ()
    with suppress(Stop):
        if reader.kinds[0] != END:
            result = reader.selects()
        _end(reader, "`,` or the end of the selection")
    reader.finish()
    return result


def parse_synchronisation(text: SourceText) -> tuple[Expr, Literal["!", "?"]]:
    """The channel, and whether it is sent on (`!`) or received from (`?`)."""
    reader = ExpressionReader(text)
    direction: Literal["!", "?"] = "!"
    with suppress(Stop):
        last = reader.tokens.count - 1
        sign = reader.texts[last] if last >= 0 else ""
        if sign in ("!", "?"):
            direction = "!" if sign == "!" else "?"
            # Read what stands before the sign as if the text ended there: behind an expression,
            # `?` begins a conditional.
            reader.texts[last], reader.kinds[last] = "", END
        channel = reader.expression()
        if sign in ("!", "?"):
            if reader.at != last:
                reader.expected("`!` or `?` after the channel")
        elif reader.kinds[reader.at] == END:
            end = reader.ends[reader.at]
            reader.problem(
                "`!` or `?` is missing after the channel",
                reader.tokens.places.origin(end, end),
                "`!` sends and `?` receives",
                order=end,
            )
        else:
            reader.expected("`!` or `?` after the channel")
    reader.finish()
    return channel, direction


def parse_parameters(text: SourceText) -> tuple[ParameterSyntax, ...]:
    reader = DeclarationReader(text)
    result: tuple[ParameterSyntax, ...] = ()
    with suppress(Stop):
        result = reader.parameters()
        _end(reader, "`,` or the end of the parameters")
    reader.finish()
    return result


def parse_declarations(text: SourceText) -> tuple[DeclarationSyntax, ...]:
    reader = DeclarationReader(text)
    result: list[DeclarationSyntax] = []
    while reader.kinds[reader.at] != END:
        first = reader.at
        try:
            result.extend(reader.declaration())
        except Stop:
            _recover(reader, first)
    reader.finish()
    return tuple(result)


def parse_system(text: SourceText) -> tuple[SystemSyntax, ...]:
    """The system declaration: declarations, instantiations and the line `system …;`."""
    reader = DeclarationReader(text)
    result: list[SystemSyntax] = []
    while reader.kinds[reader.at] != END:
        first = reader.at
        try:
            result.extend(_system_item(reader))
        except Stop:
            _recover(reader, first)
    reader.finish()
    return tuple(result)


def parse_query(text: SourceText) -> QuerySyntax:
    reader = QueryReader(text)
    with suppress(Stop):
        result = reader.query()
    reader.finish()
    return result


def _end(reader: ExpressionReader, what: str) -> None:
    if reader.kinds[reader.at] == END:
        return
    if reader.texts[reader.at] == ";":
        reader.expected(what, hint=reader.guess() or "no `;` is written here")
    reader.expected(what)


def _recover(reader: DeclarationReader, first: int) -> None:
    reader.depth = 0
    reader.skip(first)
    if reader.at == first:
        reader.at += 1


def _system_item(reader: DeclarationReader) -> list[SystemSyntax]:
    first = reader.at
    text, following = reader.texts[first], reader.texts[first + 1]
    if text == "system":
        return [_system_line(reader)]
    if text in ("progress", "gantt") and following == "{":
        # Advice to UPPAAL's search and drawings for its screen: neither changes what the model
        # means, so both are passed over.
        reader.at += 1
        reader.skip_braces()
        return []
    if text == "IO" and reader.texts[first + 2] == "{":
        reader.refuse("input and output interfaces (`IO`)", first)
        reader.at += 2
        reader.skip_braces()
        return []
    named = reader.kinds[first] == NAME and text not in reader.reserved
    if named and following in ("=", ":=", "("):
        return [_instantiation(reader)]
    return list(reader.declaration())


def _instantiation(reader: DeclarationReader) -> Instantiation:
    first = reader.at
    name = reader.name("the name of a process")
    parameters: tuple[ParameterSyntax, ...] = ()
    opening = reader.at
    if reader.accept("("):
        parameters = reader.parameters()
        reader.close(opening)
    if not reader.accept(":=") and not reader.accept("="):
        reader.expected(f"`=` and the template that `{name}` is an instance of")
    template = reader.name("the name of a template")
    opening = reader.at
    if reader.texts[opening] != "(":
        reader.expected(f"`(` and the arguments of `{template}`")
    reader.at += 1
    arguments = () if reader.texts[reader.at] == ")" else reader.expressions()
    reader.close(opening)
    origin = reader.origin(first)
    reader.semicolon(f"the instance `{name}`")
    return Instantiation(name, parameters, template, arguments, origin=origin)


def _system_line(reader: DeclarationReader) -> SystemLine:
    first = reader.at
    reader.at += 1
    groups: list[list[Name]] = [[]]
    while True:
        at = reader.at
        name = reader.name("the name of a process or a template")
        groups[-1].append(Name(name, origin=reader.origin(at)))
        if reader.texts[reader.at] == "(":
            reader.expected(
                "`,`, `<` or `;`",
                hint=f"instantiate it first: `p = {name}(…);`, and write `system p;`",
            )
        if reader.accept("<"):
            groups.append([])
        elif not reader.accept(","):
            break
    origin = reader.origin(first)
    reader.semicolon("the line `system …`")
    return SystemLine(tuple(tuple(group) for group in groups), origin=origin)
