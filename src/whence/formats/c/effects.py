"""What expressions read and statements change: which operands must be saved before which
statements, so that values come about from left to right although statements come first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from whence.model.program import (
    AddressOf,
    Assign,
    Binary,
    Block,
    Call,
    Cast,
    Clear,
    Conditional,
    Declare,
    Dereference,
    Element,
    Expression,
    If,
    Load,
    Logical,
    Loop,
    Member,
    Place,
    PointerAdd,
    PointerDifference,
    PointerType,
    Statement,
    Switch,
    Unary,
    Variable,
    VariablePlace,
)

__all__ = ["disturbs", "reads", "root", "subexpressions", "where"]


def root(place: Place) -> Variable | None:
    """The variable that a place is or is part of; None behind a pointer."""
    while True:
        match place:
            case VariablePlace():
                return place.variable
            case Element():
                place = place.array
            case Member():
                place = place.record
            case Dereference():
                return None


def _within(place: Place) -> Iterator[Expression]:
    """The expressions that decide where a place is."""
    while True:
        match place:
            case VariablePlace():
                return
            case Element():
                yield place.index
                place = place.array
            case Member():
                place = place.record
            case Dereference():
                yield place.pointer
                return


def subexpressions(expression: Expression) -> Iterator[Expression]:
    """The expression and all in it, also within places."""
    stack = [expression]
    while stack:
        part = stack.pop()
        yield part
        match part:
            case Load() | AddressOf():
                stack.extend(_within(part.place))
            case Unary() | Cast():
                stack.append(part.operand)
            case Binary() | Logical() | PointerDifference():
                stack += (part.right, part.left)
            case PointerAdd():
                stack += (part.index, part.pointer)
            case Conditional():
                stack += (part.otherwise, part.then, part.condition)


def reads(expressions: Iterable[Expression]) -> tuple[set[Variable], bool]:
    """The variables that are read, and whether anything is read through a pointer."""
    variables: set[Variable] = set()
    memory = False
    for expression in expressions:
        for part in subexpressions(expression):
            if isinstance(part, Load):
                variable = root(part.place)
                if variable is None:
                    memory = True
                else:
                    variables.add(variable)
    return variables, memory


def disturbs(
    statements: Iterable[Statement], values: Iterable[Expression], addressed: set[Variable]
) -> bool:
    """Whether the statements may change what the values are. `addressed` are the variables that
    pointers may point at, besides those that are not local."""
    variables, memory = reads(values)
    exposed = memory or any(_exposed(variable, addressed) for variable in variables)
    for statement in statements:
        match statement:
            case Assign(target=place) | Clear(place=place):
                written = root(place)
                if written is None:
                    if exposed:
                        return True
                elif written in variables or (memory and _exposed(written, addressed)):
                    return True
            case Call():
                if exposed:
                    return True
                if statement.result is not None and root(statement.result) in variables:
                    return True
            case Declare():
                if statement.variable in variables:
                    return True
            case If() | Loop() | Switch() | Block():
                # Rare inside an expression; whatever is read is saved.
                if variables or memory:
                    return True
    return False


def _exposed(variable: Variable, addressed: set[Variable]) -> bool:
    return variable.storage in ("global", "static") or variable in addressed


def where(place: Place) -> tuple[Expression, ...]:
    """What decides where the place is, as one expression to look into."""
    return (AddressOf(place, PointerType(place.type, 0)),)
