"""Trees as text again: with as few parentheses as possible, and one spelling for everything.

Law: whatever the parser builds prints as a text that it reads as an equal tree.  Checked trees
print, too: as what their author could have written.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from whence.expr.parse_expressions import ASSIGN, BINARY, CONDITIONAL, POSTFIX, UNARY
from whence.expr.tree import (
    Assignment,
    Binary,
    Block,
    BoolLiteral,
    Call,
    ChannelPriorities,
    Conditional,
    Deadlock,
    Declarator,
    DoWhile,
    Evaluate,
    Expr,
    Field,
    For,
    ForEach,
    Function,
    FunctionSyntax,
    If,
    Index,
    Initialiser,
    InLocation,
    Instantiation,
    IntLiteral,
    Local,
    Name,
    NamedType,
    ParameterSyntax,
    Quantifier,
    QuerySyntax,
    RangeType,
    Return,
    ScalarSyntax,
    SelectSyntax,
    Statement,
    Step,
    StructSyntax,
    Symbol,
    SystemLine,
    SystemSyntax,
    Typedef,
    TypeSyntax,
    Unary,
    While,
)
from whence.expr.types import (
    ArrayType,
    BoolType,
    ChannelType,
    ClockType,
    ConstraintType,
    DifferenceType,
    IntType,
    ScalarType,
    StructType,
    Type,
    VoidType,
)

__all__ = [
    "print_declaration",
    "print_declarations",
    "print_expression",
    "print_parameters",
    "print_query",
    "print_selects",
    "print_statement",
    "print_synchronisation",
    "print_type",
    "print_updates",
]

_INDENT = "    "


# --------------------------------------------------------------------------------- expressions


def print_expression(expr: Expr) -> str:
    return _expr(expr, 0, True)


def print_updates(updates: Iterable[Expr]) -> str:
    return ", ".join(print_expression(update) for update in updates)


def print_synchronisation(channel: Expr, direction: str) -> str:
    return _expr(channel, POSTFIX, False) + direction


def _expr(expr: Expr, minimum: int, last: bool) -> str:
    """The text of an expression where operators must bind as tightly as `minimum`.

    `last` says that nothing follows which a quantifier's body would swallow: a quantifier binds
    loosest of all, but may be the last operand of anything without parentheses.
    """
    match expr:
        case Binary():
            level = BINARY[expr.op]
            if level < minimum:
                return f"({_expr(expr, 0, True)})"
            left = _expr(expr.left, level, False)
            return f"{left} {expr.op} {_expr(expr.right, level + 1, last)}"
        case Name():
            return expr.name
        case IntLiteral():
            text = str(expr.value)
            return f"({text})" if expr.value < 0 and minimum > UNARY else text
        case BoolLiteral():
            return "true" if expr.value else "false"
        case Unary() | Step(prefix=True):
            if minimum > UNARY:
                return f"({_expr(expr, 0, True)})"
            inner = expr.operand if isinstance(expr, Unary) else expr.target
            operand = _expr(inner, UNARY, last)
            # `- -x` is no decrement.
            space = " " if operand[0] == expr.op[0] and operand[0] in "+-" else ""
            return f"{expr.op}{space}{operand}"
        case Step():
            return _expr(expr.target, POSTFIX, False) + expr.op
        case Index():
            return f"{_expr(expr.array, POSTFIX, False)}[{print_expression(expr.index)}]"
        case Field():
            return f"{_expr(expr.record, POSTFIX, False)}.{expr.name}"
        case Call():
            return f"{expr.callee}({print_updates(expr.arguments)})"
        case Conditional():
            if minimum > CONDITIONAL:
                return f"({_expr(expr, 0, True)})"
            condition = _expr(expr.condition, CONDITIONAL + 1, False)
            then = print_expression(expr.then)
            return f"{condition} ? {then} : {_expr(expr.otherwise, ASSIGN, last)}"
        case Assignment():
            if minimum > ASSIGN:
                return f"({_expr(expr, 0, True)})"
            target = _expr(expr.target, CONDITIONAL + 1, False)
            return f"{target} {expr.op} {_expr(expr.value, ASSIGN, last)}"
        case Quantifier():
            if minimum > 0 and not last:
                return f"({_expr(expr, 0, True)})"
            domain = _domain(expr.domain, expr.symbol)
            return f"{expr.kind} ({expr.variable} : {domain}) {_expr(expr.body, 0, True)}"
        case Deadlock():
            return "deadlock"
        case InLocation():
            if expr.text:
                return expr.text
            return f"process({print_expression(expr.process)}).location({expr.location})"
        case _:
            assert_never(expr)


def _domain(syntax: TypeSyntax | None, symbol: Symbol | None) -> str:
    if syntax is not None:
        return print_type(syntax)
    return print_type(symbol.type) if symbol is not None else "int"


# --------------------------------------------------------------------------------------- types


def print_type(type_: TypeSyntax | Type) -> str:
    """A type as written in a declaration, before the name; an array's sizes are left to
    the declarator, so what is printed of an array type is meant for reading only."""
    match type_:
        case NamedType():
            return _prefixed(type_.prefixes, type_.name)
        case RangeType():
            bounds = f"{print_expression(type_.lo)}, {print_expression(type_.hi)}"
            return _prefixed(type_.prefixes, f"int[{bounds}]")
        case ScalarSyntax():
            return _prefixed(type_.prefixes, f"scalar[{print_expression(type_.size)}]")
        case StructSyntax():
            fields = " ".join(f"{_declarators([field])};" for field in type_.fields)
            return _prefixed(type_.prefixes, f"struct {{ {fields} }}" if fields else "struct { }")
        case IntType():
            return str(type_).replace(",", ", ")
        case ScalarType() | BoolType() | ChannelType():
            return str(type_)
        case ClockType() | DifferenceType():
            return "clock"
        case ConstraintType():
            return "bool"
        case VoidType():
            return "void"
        case StructType():
            if type_.name:
                return type_.name
            fields = " ".join(f"{_typed(field, name)};" for name, field in type_.fields)
            return f"struct {{ {fields} }}"
        case ArrayType():
            return _typed(type_, "")
        case _:
            assert_never(type_)


def _prefixed(prefixes: tuple[str, ...], text: str) -> str:
    return " ".join((*prefixes, text))


def _typed(type_: Type, name: str) -> str:
    """The declaration of `name`, an array's sizes behind it."""
    sizes = ""
    while isinstance(type_, ArrayType):
        index = type_.index
        if isinstance(index, IntType) and index.lo == 0:
            sizes += f"[{index.hi + 1}]"
        else:
            sizes += f"[{print_type(index)}]"
        type_ = type_.element
    return f"{print_type(type_)} {name}".rstrip() + sizes


def _dimensions(dimensions: tuple[Expr | TypeSyntax, ...]) -> str:
    return "".join(f"[{_dimension(dimension)}]" for dimension in dimensions)


def _dimension(dimension: Expr | TypeSyntax) -> str:
    if isinstance(dimension, NamedType | RangeType | ScalarSyntax | StructSyntax):
        return print_type(dimension)
    return print_expression(dimension)


# -------------------------------------------------------------------------------- declarations


def _declarators(declarators: list[Declarator]) -> str:
    """Declarators of one type in one declaration, without the semicolon."""
    parts = []
    for declarator in declarators:
        text = declarator.name + _dimensions(declarator.dimensions)
        if declarator.initial is not None:
            text += f" = {_initial(declarator.initial)}"
        parts.append(text)
    return f"{print_type(declarators[0].type)} {', '.join(parts)}"


def _initial(initial: Expr | Initialiser) -> str:
    if not isinstance(initial, Initialiser):
        return print_expression(initial)
    items = (
        f"{name}: {_initial(value)}" if name is not None else _initial(value)
        for name, value in initial.items
    )
    return f"{{{', '.join(items)}}}"


def print_parameters(parameters: Iterable[ParameterSyntax]) -> str:
    return ", ".join(
        f"{print_type(parameter.type)} {'&' * parameter.reference}{parameter.name}"
        f"{_dimensions(parameter.dimensions)}"
        for parameter in parameters
    )


def print_selects(selects: Iterable[SelectSyntax]) -> str:
    return ", ".join(f"{select.name} : {print_type(select.domain)}" for select in selects)


def print_declaration(declaration: SystemSyntax | Function, indent: str = "") -> str:
    """A declaration with all that ends it, without a line end."""
    match declaration:
        case Declarator():
            text = f"{_declarators([declaration])};"
        case Typedef():
            text = f"typedef {print_type(declaration.type)} {declaration.name}"
            text += f"{_dimensions(declaration.dimensions)};"
        case FunctionSyntax():
            text = f"{print_type(declaration.result)} {declaration.name}"
            text += f"({print_parameters(declaration.parameters)})\n"
            return indent + text + print_statement(declaration.body, indent)
        case Function():
            parameters = ", ".join(
                _typed(parameter.symbol.type, "&" * parameter.reference + parameter.symbol.name)
                for parameter in declaration.parameters
            )
            text = f"{_typed(declaration.symbol.type, declaration.symbol.name)}({parameters})\n"
            return indent + text + print_statement(declaration.body, indent)
        case ChannelPriorities():
            groups = (
                ", ".join(
                    "default" if channel is None else print_expression(channel) for channel in group
                )
                for group in declaration.groups
            )
            text = f"chan priority {' < '.join(groups)};"
        case Instantiation():
            parameters = print_parameters(declaration.parameters)
            text = declaration.name + (f"({parameters})" if parameters else "")
            text += f" = {declaration.template}({print_updates(declaration.arguments)});"
        case SystemLine():
            text = " < ".join(print_updates(group) for group in declaration.groups)
            text = f"system {text};"
        case _:
            assert_never(declaration)
    return indent + text


def print_declarations(declarations: Iterable[SystemSyntax], indent: str = "") -> str:
    """One declaration after the other, each on its lines."""
    return "".join(print_declaration(item, indent) + "\n" for item in declarations)


# ---------------------------------------------------------------------------------- statements


def print_statement(statement: Statement, indent: str = "") -> str:
    """A statement on lines of its own, without the last line end."""
    inner = indent + _INDENT
    match statement:
        case Block():
            lines = [print_declaration(item, inner) for item in statement.declarations]
            lines += [inner + _local(local) for local in statement.locals]
            lines += [print_statement(item, inner) for item in statement.statements]
            return "\n".join((f"{indent}{{", *lines, f"{indent}}}"))
        case Evaluate():
            text = "" if statement.expr is None else print_expression(statement.expr)
            return f"{indent}{text};"
        case If():
            then = statement.then
            if statement.otherwise is not None and _ends_open(then):
                # Or the `else` would belong to the inner `if`.
                then = Block((), (then,))
            text = f"{indent}if ({print_expression(statement.condition)})"
            text += _body(then, indent)
            if statement.otherwise is not None:
                text += f"\n{indent}else"
                if isinstance(statement.otherwise, If):
                    text += " " + print_statement(statement.otherwise, indent).lstrip()
                else:
                    text += _body(statement.otherwise, indent)
            return text
        case While():
            condition = print_expression(statement.condition)
            return f"{indent}while ({condition}){_body(statement.body, indent)}"
        case DoWhile():
            condition = print_expression(statement.condition)
            return f"{indent}do{_body(statement.body, indent)}\n{indent}while ({condition});"
        case For():
            head = "; ".join(
                "" if part is None else print_expression(part)
                for part in (statement.start, statement.condition, statement.advance)
            )
            return f"{indent}for ({head}){_body(statement.body, indent)}"
        case ForEach():
            domain = _domain(statement.domain, statement.symbol)
            head = f"{statement.variable} : {domain}"
            return f"{indent}for ({head}){_body(statement.body, indent)}"
        case Return():
            if statement.value is None:
                return f"{indent}return;"
            return f"{indent}return {print_expression(statement.value)};"
        case _:
            assert_never(statement)


def _body(statement: Statement, indent: str) -> str:
    """A statement below the line that governs it; a block is not indented further."""
    deeper = indent if isinstance(statement, Block) else indent + _INDENT
    return "\n" + print_statement(statement, deeper)


def _ends_open(statement: Statement) -> bool:
    """Whether an `else` behind this statement would be read as part of it."""
    while True:
        match statement:
            case If(otherwise=None):
                return True
            case If(otherwise=Block() | Evaluate() | DoWhile() | Return()):
                return False
            case If():
                assert statement.otherwise is not None
                statement = statement.otherwise
            case While() | For() | ForEach():
                statement = statement.body
            case _:
                return False


def _local(local: Local) -> str:
    text = _typed(local.symbol.type, local.symbol.name)
    if not local.initial:
        return f"{text};"
    if isinstance(local.symbol.type, ArrayType | StructType):
        value, _ = _nested(local.symbol.type, local.initial)
    else:
        value = print_expression(local.initial[0])
    return f"{text} = {value};"


def _nested(type_: Type, values: tuple[Expr, ...]) -> tuple[str, tuple[Expr, ...]]:
    """The initialiser of a type from the values of its cells, and the values that are left."""
    if isinstance(type_, ArrayType):
        elements: list[Type] = [type_.element] * type_.length
    elif isinstance(type_, StructType):
        elements = [field for _, field in type_.fields]
    else:
        return print_expression(values[0]), values[1:]
    parts = []
    for element in elements:
        text, values = _nested(element, values)
        parts.append(text)
    return f"{{{', '.join(parts)}}}", values


# ------------------------------------------------------------------------------------- queries


def print_query(query: QuerySyntax) -> str:
    predicate = "" if query.predicate is None else print_expression(query.predicate)
    match query.kind:
        case "-->":
            second = "" if query.second is None else print_expression(query.second)
            return f"{predicate} --> {second}"
        case "sup" | "inf":
            condition = f"{{{predicate}}}" if predicate else ""
            return f"{query.kind}{condition}: {print_updates(query.expressions)}"
        case _:
            return f"{query.kind} {predicate}"
