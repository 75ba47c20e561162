"""Statements numbered in the order of the program."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import cast

from whence.model.program import Block, Function, If, Loop, Statement, Switch

__all__ = ["numbered"]


def numbered(functions: dict[str, Function]) -> dict[str, Function]:
    numbers = count(1)

    def renew(body: tuple[Statement, ...]) -> tuple[Statement, ...]:
        return tuple(one(statement) for statement in body)

    def one(statement: Statement) -> Statement:
        number = next(numbers)
        match statement:
            case If():
                return replace(
                    statement,
                    number=number,
                    then=renew(statement.then),
                    otherwise=renew(statement.otherwise),
                )
            case Loop():
                return replace(
                    statement,
                    number=number,
                    before=renew(statement.before),
                    body=renew(statement.body),
                    step=renew(statement.step),
                )
            case Switch():
                sections = tuple(
                    replace(section, body=renew(section.body)) for section in statement.sections
                )
                return replace(statement, number=number, sections=sections)
            case Block():
                return replace(statement, number=number, body=renew(statement.body))
        return cast(Statement, replace(statement, number=number))

    return {
        key: replace(function, body=renew(function.body)) for key, function in functions.items()
    }
