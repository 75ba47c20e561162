"""Which variables need memory, and where the parts of the others are.

A variable whose address nobody takes needs no bytes: a scalar becomes a variable of Python, an
array or structure that is only used part by part a list with one item for each scalar part
(`leaf`). Both are several times faster than memory.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from whence.model.program import (
    AddressOf,
    ArrayType,
    Assign,
    Call,
    Clear,
    Element,
    Field,
    FloatType,
    IntType,
    Load,
    Member,
    Place,
    PointerType,
    Program,
    Record,
    RecordType,
    Type,
    Variable,
    VariablePlace,
)
from whence.model.program_walk import expressions, places, root, statements, subexpressions

__all__ = ["Layout", "is_scalar", "layout"]

#: Lists of Python take eight times the room of bytes: large arrays stay in memory.
_LARGEST = 1 << 16


def is_scalar(type: Type) -> bool:
    return isinstance(type, (IntType, FloatType, PointerType))


@dataclass
class Layout:
    program: Program
    #: Keys of the variables that are in memory.
    exposed: set[str]
    _leaves: dict[Type, list[Type]] = field(default_factory=dict)

    def in_memory(self, variable: Variable) -> bool:
        return variable.key in self.exposed

    def record(self, type: RecordType) -> Record:
        return self.program.records[type.name]

    def leaves(self, type: Type) -> list[Type]:
        """The scalar parts of a type, in order."""
        known = self._leaves.get(type)
        if known is not None:
            return known
        match type:
            case ArrayType():
                found = self.leaves(type.element) * (type.length or 0)
            case RecordType():
                found = [
                    leaf for part in self.record(type).fields for leaf in self.leaves(part.type)
                ]
            case _:
                found = [type]
        self._leaves[type] = found
        return found

    def first_leaf(self, type: Type, wanted: Field) -> int:
        """The number of the first scalar part of a field."""
        assert isinstance(type, RecordType)
        count = 0
        for part in self.record(type).fields:
            if part == wanted:
                return count
            count += len(self.leaves(part.type))
        raise AssertionError(wanted)


def layout(program: Program, everything: bool = False) -> Layout:
    """With `everything`, all variables are in memory."""
    result = Layout(program, set())
    expose = result.exposed
    variables = [entry.variable for entry in program.globals.values()]
    for function in program.functions.values():
        variables += function.variables
        expose.update(v.key for v in function.parameters if not is_scalar(v.type))
        for statement in statements(function.body):
            for expression in expressions(statement):
                for part in subexpressions(expression):
                    match part:
                        case AddressOf():
                            _expose(part.place, expose)
                        case Load():
                            _used(part.place, part.type, result)
            for place in places(statement):
                if isinstance(statement, Clear) and isinstance(place, VariablePlace):
                    continue
                type = place.type
                if isinstance(statement, (Assign, Call, Clear)):
                    _used(place, type, result)
    for entry in program.globals.values():
        if entry.constant or not entry.defined:
            expose.add(entry.variable.key)
        for initial in entry.initial:
            for part in subexpressions(initial.value):
                if isinstance(part, AddressOf):
                    _expose(part.place, expose)
            # A string that initialises an array of characters.
            _used(initial.place, initial.place.type, result)
    for variable in variables:
        if everything or _large(variable.type, result):
            expose.add(variable.key)
    return result


def _expose(place: Place, exposed: set[str]) -> None:
    variable = root(place)
    if variable is not None:
        exposed.add(variable.key)


def _used(place: Place, type: Type, result: Layout) -> None:
    """A use of a part that is no scalar, of a union, or of an array without a length."""
    if not is_scalar(type):
        _expose(place, result.exposed)
        return
    inner: Place = place
    while True:
        match inner:
            case Element():
                if inner.flexible:
                    _expose(place, result.exposed)
                inner = inner.array
            case Member():
                assert isinstance(inner.record.type, RecordType)
                if inner.record.type.union:
                    _expose(place, result.exposed)
                inner = inner.record
            case _:
                return


def _large(type: Type, result: Layout) -> bool:
    match type:
        case ArrayType():
            count = 1
            inner: Type = type
            while isinstance(inner, ArrayType):
                count *= inner.length or 0
                inner = inner.element
            if count > _LARGEST:
                return True
            return isinstance(inner, RecordType) and (
                _large(inner, result) or count * len(result.leaves(inner)) > _LARGEST
            )
        case RecordType():
            return type.union or any(
                _large(part.type, result) for part in result.record(type).fields
            )
    return False
