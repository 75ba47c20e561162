"""Observations within the source, as the thesis writes them (Graussam, listing 6.1):

    __CPROVER_observation_begin();
    a = 3; b = 4; expected = 5;
    __CPROVER_observation_end();

Blocks of this kind stand one behind the other, and each is a test: the others are not there then.
`__CPROVER_assert(condition, "...")` is an assertion.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from types import MappingProxyType

from whence.model.program import (
    Assert,
    Assign,
    Block,
    Call,
    Cast,
    Element,
    Expression,
    Global,
    If,
    IntConstant,
    IntType,
    Load,
    Loop,
    Member,
    Place,
    Program,
    Section,
    Statement,
    Switch,
    Unary,
    Variable,
    VariablePlace,
)
from whence.model.program_test import Test, Value
from whence.source import NOWHERE, Diagnostic, InputError, Origin, UnsupportedError

__all__ = ["inline_observations"]

_BEGIN, _END = "__CPROVER_observation_begin", "__CPROVER_observation_end"
_ASSERT = "__CPROVER_assert"


@dataclass
class _Found:
    globals: dict[str, Global]
    tests: list[Test]
    asserted: bool = False


def inline_observations(program: Program) -> tuple[Program, tuple[Test, ...]]:
    """The program without them, and the tests: they set variables that the program takes its
    inputs from. The program as it is, and no tests, where there are none."""
    if not {_BEGIN, _END, _ASSERT} & program.declared.keys():
        return program, ()
    found = _Found({}, [])
    functions = {
        key: replace(function, body=_body(function.body, found))
        for key, function in program.functions.items()
    }
    declared = {
        key: type for key, type in program.declared.items() if key not in (_BEGIN, _END, _ASSERT)
    }
    changed = replace(
        program,
        functions=MappingProxyType(functions),
        globals=MappingProxyType({**program.globals, **found.globals}),
        declared=MappingProxyType(declared),
    )
    return changed, tuple(found.tests)


def _body(body: tuple[Statement, ...], found: _Found) -> tuple[Statement, ...]:
    kept: list[Statement] = []
    blocks: list[tuple[Origin, dict[str, Assign]]] = []
    block: dict[str, Assign] | None = None
    for statement in body:
        name = statement.callee if isinstance(statement, Call) else None
        if name == _BEGIN:
            if block is not None:
                raise InputError(Diagnostic("an observation within another", statement.origin))
            if not blocks and found.tests:
                raise UnsupportedError(
                    Diagnostic("observations in more than one place", statement.origin)
                )
            block = {}
            blocks.append((statement.origin, block))
        elif name == _END:
            if block is None:
                raise InputError(
                    Diagnostic("an observation ends here that did not begin", statement.origin)
                )
            block = None
        elif block is not None:
            if not isinstance(statement, Assign):
                raise UnsupportedError(
                    Diagnostic("an observation that is not of assignments", statement.origin)
                )
            block[_text(statement.target, statement.origin)] = statement
        else:
            if blocks:
                kept += _inputs(blocks, found)
                blocks = []
            kept.append(_inner(statement, found))
    if block is not None:
        raise InputError(Diagnostic("this observation does not end", blocks[-1][0]))
    if blocks:
        kept += _inputs(blocks, found)
    return tuple(kept)


def _inner(statement: Statement, found: _Found) -> Statement:
    match statement:
        case Call(callee=callee) if callee == _ASSERT:
            if len(statement.arguments) != 2:
                problem = f"`{_ASSERT}` takes a condition and a text"
                raise InputError(Diagnostic(problem, statement.origin))
            condition = statement.arguments[0]
            return Assert(statement.number, condition, _ASSERT, statement.origin)
        case If():
            return replace(
                statement,
                then=_body(statement.then, found),
                otherwise=_body(statement.otherwise, found),
            )
        case Loop():
            return replace(
                statement,
                before=_body(statement.before, found),
                body=_body(statement.body, found),
                step=_body(statement.step, found),
            )
        case Block():
            return replace(statement, body=_body(statement.body, found))
        case Switch():
            sections: list[Section] = [
                replace(section, body=_body(section.body, found)) for section in statement.sections
            ]
            return replace(statement, sections=tuple(sections))
    return statement


def _inputs(blocks: list[tuple[Origin, dict[str, Assign]]], found: _Found) -> Iterator[Statement]:
    """In place of the blocks: what they set comes from variables that the tests give."""
    places = blocks[0][1]
    for origin, block in blocks:
        if block.keys() != places.keys():
            other = next(iter(block.keys() ^ places.keys()))
            raise UnsupportedError(
                Diagnostic(
                    f"`{other}` is set by one observation and not by another",
                    origin,
                    hint="set the same variables in all of them",
                )
            )
    for name, assign in places.items():
        key = f"observation.{name}"
        variable = Variable(key, key, assign.target.type, "global", NOWHERE)
        found.globals[key] = Global(variable)
        load = Load(VariablePlace(variable, variable.type), variable.type)
        # Nowhere: nobody suspects it.
        yield Assign(assign.number, assign.target, load, NOWHERE)
    for number, (origin, block) in enumerate(blocks, 1):
        given: dict[str, Value] = {
            f"observation.{name}": _constant(assign.value) for name, assign in block.items()
        }
        found.tests.append(Test(str(number), globals=MappingProxyType(given), origin=origin))


def _text(place: Place, origin: Origin) -> str:
    match place:
        case VariablePlace():
            return place.variable.name
        case Member():
            return f"{_text(place.record, origin)}.{place.field.name}"
        case Element(index=IntConstant(value=index)):
            return f"{_text(place.array, origin)}[{index}]"
        case Element():
            return f"{_text(place.array, origin)}[{_constant(place.index)}]"
    raise UnsupportedError(Diagnostic("an observation of what a pointer points at", origin))


def _constant(value: Expression) -> int:
    match value:
        case IntConstant():
            return value.value
        case Unary(operator="-"):
            return -_constant(value.operand)
        case Cast(type=IntType(bits=bits, signed=signed)):
            number = _constant(value.operand) & (1 << bits) - 1
            return number - (1 << bits) if signed and number >> bits - 1 else number
    raise UnsupportedError(Diagnostic("an observation of what is no number", value.origin))
