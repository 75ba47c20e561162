"""Statements that are being written while expressions are read."""

from __future__ import annotations

from abc import ABC, abstractmethod

from whence.formats.c.effects import disturbs
from whence.formats.c.nodes import Node
from whence.formats.c.unit import Symbols, Unit
from whence.model.program import (
    Assign,
    Dereference,
    Element,
    Expression,
    FloatConstant,
    FunctionAddress,
    IntConstant,
    Load,
    Member,
    NullPointer,
    Place,
    Statement,
    Storage,
    Type,
    Variable,
    VariablePlace,
)
from whence.source import Diagnostic, InputError, Origin

__all__ = ["Writing"]


class Writing(ABC):
    """Reads the expressions of one function, or, with `constant`, of a global initialiser.

    `out` is the list of statements that is being written.
    """

    def __init__(self, unit: Unit, function: str = "", constant: bool = False) -> None:
        self.unit = unit
        self.function = function
        self.constant = constant
        self.out: list[Statement] = []
        self.locals: dict[str, Variable] = {}
        self.symbols = Symbols()
        self.addressed: set[Variable] = set()
        self._temporaries = 0
        self._depth = 0

    @abstractmethod
    def value(self, node: Node) -> Expression:
        """The value of an expression; what it does is written to `out`."""

    @abstractmethod
    def place(self, node: Node) -> Place:
        """The place that an expression names."""

    @abstractmethod
    def effect(self, node: Node) -> None:
        """Writes what the expression does; its value is not needed."""

    def emit(self, statement: Statement) -> None:
        if self.constant:
            raise InputError(
                Diagnostic("an initialiser of a global must be constant", statement.origin)
            )
        self.out.append(statement)

    def local(
        self, name: str, type: Type, storage: Storage, origin: Origin, volatile: bool = False
    ) -> Variable:
        key = f"{self.function}::{name}"
        number = 1
        while key in self.locals:
            number += 1
            key = f"{self.function}::{name}#{number}"
        variable = Variable(key, name, type, storage, origin, volatile, self.function)
        self.locals[key] = variable
        return variable

    def temporary(self, type: Type, node: Node) -> VariablePlace:
        self._temporaries += 1
        name = f"${self._temporaries}"
        variable = self.local(name, type, "temporary", node.origin)
        return VariablePlace(variable, type, node.origin, node.expansion)

    def saved(self, value: Expression, node: Node) -> Expression:
        """The value, kept from what happens later."""
        if isinstance(value, (IntConstant, FloatConstant, NullPointer, FunctionAddress)):
            return value
        place = self.temporary(value.type, node)
        self.emit(Assign(0, place, value, node.origin, node.expansion))
        return Load(place, value.type, node.origin, node.expansion)

    def apart(self, node: Node) -> tuple[Expression, list[Statement]]:
        """The value, and the statements that come before it, not written yet."""
        outer, self.out = self.out, []
        try:
            value = self.value(node)
            return value, self.out
        finally:
            self.out = outer

    def operands(self, nodes: list[Node]) -> list[Expression]:
        """The values from left to right, none disturbed by what later ones do."""
        values: list[Expression] = []
        for node in nodes:
            value, statements = self.apart(node)
            if statements:
                for index, earlier in enumerate(values):
                    if disturbs(statements, (earlier,), self.addressed):
                        values[index] = self.saved(earlier, nodes[index])
                self.out += statements
            values.append(value)
        return values

    def frozen(self, place: Place, node: Node) -> Place:
        """The same place, whatever happens to the variables that led to it."""
        match place:
            case VariablePlace():
                return place
            case Element():
                return Element(
                    self.frozen(place.array, node),
                    self.saved(place.index, node),
                    place.type,
                    place.flexible,
                    place.origin,
                    place.expansion,
                )
            case Member():
                return Member(
                    self.frozen(place.record, node),
                    place.field,
                    place.type,
                    place.origin,
                    place.expansion,
                )
            case Dereference():
                pointer = self.saved(place.pointer, node)
                return Dereference(pointer, place.type, place.origin, place.expansion)

    @staticmethod
    def bare(node: Node) -> Node:
        """Without parentheses and `__extension__`."""
        while node.kind == "PAREN_EXPR" and node.children:
            node = node.expressions()[-1]
        return node
