"""What lists of statements do: where control can leave them, and with what."""

from __future__ import annotations

from whence.model.program import (
    Assign,
    Block,
    Call,
    Clear,
    Expression,
    Function,
    If,
    Leave,
    Load,
    Loop,
    Next,
    Program,
    Return,
    Statement,
    Switch,
    Variable,
    VoidType,
)
from whence.model.program_walk import bodies, root, statements, subexpressions

__all__ = ["ends_always", "falls_off", "joined", "leaves", "mentions", "only_tail", "written"]


def joined(ends: list[set[str] | None]) -> set[str] | None:
    """What is certain whichever way control came."""
    result: set[str] | None = None
    for end in ends:
        if end is not None:
            result = set(end) if result is None else result & end
    return result


def leaves(body: tuple[Statement, ...], label: str) -> bool:
    return any(
        isinstance(statement, Leave) and statement.label == label for statement in statements(body)
    )


def only_tail(body: tuple[Statement, ...], label: str) -> bool:
    """Whether control leaves `label` only where the list ends anyway."""
    if any(leaves((statement,), label) for statement in body[:-1]):
        return False
    if not body:
        return True
    last = body[-1]
    match last:
        case Leave():
            return True
        case If():
            return only_tail(last.then, label) and only_tail(last.otherwise, label)
    return not any(leaves(inner, label) for inner in bodies(last))


def ends_always(body: tuple[Statement, ...]) -> bool:
    """Whether control never runs off the end of the list."""
    if not body:
        return False
    last = body[-1]
    match last:
        case Leave() | Next() | Return():
            return True
        case If():
            return ends_always(last.then) and ends_always(last.otherwise)
        case Loop():
            return last.condition is None and not leaves(last.body, last.label)
        case Block():
            return ends_always(last.body) and not leaves(last.body, last.label)
        case Switch():
            return (
                any(section.default for section in last.sections)
                and not any(leaves(section.body, last.label) for section in last.sections)
                and ends_always(last.sections[-1].body)
            )
    return False


def falls_off(program: Program) -> frozenset[str]:
    """The functions that may return without the value that they promise."""
    found = set()
    for key, function in program.functions.items():
        if isinstance(function.type.result, VoidType):
            continue
        bare = any(
            isinstance(statement, Return) and statement.value is None
            for statement in statements(function.body)
        )
        if bare or not ends_always(function.body):
            found.add(key)
    return frozenset(found)


def written(function: Function) -> list[Variable]:
    found = []
    for statement in statements(function.body):
        match statement:
            case Assign(target=place) | Clear(place=place):
                variable = root(place)
            case Call(result=result) if result is not None:
                variable = root(result)
            case _:
                continue
        if variable is not None:
            found.append(variable)
    return found


def mentions(value: Expression, variable: Variable) -> bool:
    return any(
        isinstance(part, Load) and root(part.place) == variable for part in subexpressions(value)
    )
