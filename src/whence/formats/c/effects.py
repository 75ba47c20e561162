"""What expressions read and statements change: which operands must be saved before which
statements, so that values come about from left to right although statements come first."""

from __future__ import annotations

from collections.abc import Iterable

from whence.model.program import (
    AddressOf,
    Assign,
    Block,
    Call,
    Clear,
    Declare,
    Expression,
    If,
    Load,
    Loop,
    Place,
    PointerType,
    Statement,
    Switch,
    Variable,
)
from whence.model.program_walk import root, subexpressions

__all__ = ["disturbs", "reads", "where"]


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
