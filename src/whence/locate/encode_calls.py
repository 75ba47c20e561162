"""Calls as circuits: functions of the program stand where they are called; a few of the library
have their meaning."""

from __future__ import annotations

from dataclasses import dataclass, field

from whence.locate.encode_statements import Statements
from whence.locate.printed import Printed, format_of
from whence.locate.symbolic import (
    Cell,
    Object,
    Pointer,
    Value,
    leaves_of,
    refuse,
)
from whence.model.program import (
    Call,
    Expression,
    Function,
    IntType,
    Type,
    VoidType,
    size_of,
)
from whence.solve import words
from whence.solve.circuits import FALSE, Literal
from whence.solve.words import Word
from whence.source import Origin

__all__ = ["Calls", "Derived"]

_STREAMS = ("stdout", "stderr")


@dataclass(frozen=True, slots=True)
class Derived:
    """A number that a function of the library reads off an argument of the process."""

    function: str
    argument: int
    word: Word


@dataclass
class Calls(Statements):
    #: How many calls may be open at once.
    depth: int = 50
    printed: list[Printed] = field(default_factory=list)
    #: Where `exit` was called: with what, and what holds then.
    exits: list[tuple[Literal, Word, dict[tuple[Object, int], Cell]]] = field(default_factory=list)
    derived: dict[tuple[str, int], Derived] = field(default_factory=dict)
    #: The strings that are arguments of the process.
    arguments: dict[Object, int] = field(default_factory=dict)
    #: What string literals say.
    texts: dict[Object, bytes] = field(default_factory=dict)
    cut: bool = False
    _open: list[str] = field(default_factory=list)

    def call(self, statement: Call) -> None:
        place = self.place
        callee = statement.callee
        if isinstance(callee, str):
            function = self.program.functions.get(callee)
            if function is None:
                self._library(statement, callee)
                return
            arguments = self._arguments(statement, function)
            self._inline(statement, function, arguments)
            return
        pointer = self.expression(callee)
        assert isinstance(pointer, Pointer)
        called = [
            (each.when, self.program.functions[each.target.function])
            for each in pointer.alternatives
            if isinstance(each.target, Object) and each.target.function in self.program.functions
        ]
        circuit = self.circuit
        self.check("pointers", circuit.any_(when for when, _ in called))
        guard, before = self.guard, self.state
        ended = []
        for when, function in called:
            if function.type.parameters != statement.type.parameters:
                raise refuse("a call of a function as another type", statement.origin)
            self.guard, self.state = circuit.and_(guard, when), dict(before)
            self.place = place
            arguments = self._arguments(statement, function)
            self._inline(statement, function, arguments)
            ended.append((self.guard, self.state))
        self.end()
        self.meet(ended)

    def _arguments(self, statement: Call, function: Function) -> list[Value]:
        if len(statement.arguments) != len(function.parameters):
            raise refuse("a call with more or fewer arguments", statement.origin)
        values = []
        for argument, parameter in zip(statement.arguments, function.parameters, strict=True):
            value = self.expression(argument)
            bits = argument.type.bits if isinstance(argument.type, IntType) else 0
            if isinstance(parameter.type, IntType) and bits != parameter.type.bits:
                raise refuse("an argument of another type", argument.origin)
            values.append(
                self.havoc(self.place, value, parameter.type, parameter.name, argument.origin)
            )
        return values

    def _inline(self, statement: Call, function: Function, arguments: list[Value]) -> None:
        place = self.place
        if len(self._open) >= self.depth:
            self.circuit.require(self.guard ^ 1)
            self.cut = True
            self.end()
            return
        made = self.enter(function, arguments, statement.origin)
        if self.guard == FALSE:
            return
        self.place = place
        if statement.result is not None and made is not None:
            # The result of a call that was written as an expression is assigned where that is.
            value = self.load(self._whole(made, made.type), statement.origin)
            self.assign(statement.result, value, "", statement.origin)
        if made is not None:
            for at in range(len(made.leaves)):
                self.state.pop((made, at), None)

    def enter(self, function: Function, arguments: list[Value], origin: Origin) -> Object | None:
        """Runs the function to its end; where its result is then."""
        before = {variable.key: self.objects.get(variable.key) for variable in function.variables}
        name, returns, returned = self.function, self._returns, self.returned
        leaves, nexts = self._leaves, self._nexts
        self.function, self._returns, self._leaves, self._nexts = function.key, [], {}, {}
        result = function.type.result
        self.returned = None
        if not isinstance(result, VoidType):
            parts = leaves_of(self.program, result, function.origin)
            self.returned = Object("result", result, tuple(parts), size_of(result))
            self.declare(self.returned)
        made = []
        for variable in function.variables:
            self.objects[variable.key] = fresh = self.new_object(variable)
            made.append(fresh)
        for variable, value in zip(function.parameters, arguments, strict=True):
            fresh = self.objects[variable.key]
            self.store(self._whole(fresh, variable.type), value, origin)
        self._open.append(function.key)
        self.body(function.body)
        self._open.pop()
        self.meet(self._returns)
        for fresh in made:
            fresh.dead = True
            for at in range(len(fresh.leaves)):
                self.state.pop((fresh, at), None)
        ended = self.returned
        self.function, self._returns, self.returned = name, returns, returned
        self._leaves, self._nexts = leaves, nexts
        for key, old in before.items():
            if old is None:
                del self.objects[key]
            else:
                self.objects[key] = old
        return ended

    # ---------------------------------------------------------------------------------- library

    def _library(self, statement: Call, name: str) -> None:
        origin, arguments = statement.origin, statement.arguments
        value: Value | None = None
        match name:
            case "exit" | "_exit" | "_Exit" if len(arguments) == 1:
                code = self._number(arguments[0])
                code = self._word(self.havoc(self.place, code, arguments[0].type, "exit", origin))
                self.exits.append((self.guard, code, self.state))
                self.end()
                return
            case "abort":
                self.circuit.require(self.guard ^ 1)
                self.end()
                return
            case "atoi" | "atol" | "atoll" if len(arguments) == 1:
                value = self._read_number(name, arguments[0], statement.type.result, origin)
            case "abs" | "labs" | "llabs" if len(arguments) == 1:
                number = self._number(arguments[0])
                zero = words.constant(0, len(number))
                over = words.subtract_overflows(self.circuit, zero, number, signed=True)
                # The library's functions do not wrap, as the interpreter has it.
                fits = self.circuit.and_(number[-1], over) ^ 1
                self.check("overflow", fits, always=True)
                minus = words.negate(self.circuit, number)
                value = words.choose(self.circuit, number[-1], minus, number)
            case "printf" | "fprintf" | "puts" | "putchar":
                self._print(statement, name)
                if statement.result is not None:
                    raise refuse(f"the result of `{name}`", origin)
                return
            case _:
                raise refuse(
                    f"a call of `{name}`",
                    origin,
                    "functions of the program can be encoded, and exit, abort, atoi, abs, printf",
                )
        if statement.result is not None:
            self.assign(statement.result, value, "", origin)

    def _number(self, expression: Expression) -> Word:
        return self._word(self.expression(expression))

    def _read_number(self, name: str, argument: Expression, type: Type, origin: Origin) -> Word:
        """Of an argument of the process that nobody has written to."""
        pointer = self.expression(argument)
        assert isinstance(pointer, Pointer)
        assert isinstance(type, IntType)
        result = self.circuit.inputs(type.bits)
        known = []
        for each in pointer.alternatives:
            if not isinstance(each.target, Object):
                continue
            number = self.arguments.get(each.target)
            if number is None or words.as_constant(each.offset) != 0:
                raise refuse(f"`{name}` of anything but an argument of the process", origin)
            found = self.derived.get((name, number))
            if found is None:
                word = self.circuit.inputs(type.bits)
                found = self.derived[name, number] = Derived(name, number, word)
            known.append(each.when)
            result = words.choose(self.circuit, each.when, found.word, result)
        self.check("pointers", self.circuit.any_(known))
        return result

    def _text(self, expression: Expression) -> bytes:
        """Of a string literal."""
        pointer = self.expression(expression)
        if isinstance(pointer, Pointer) and len(pointer.alternatives) == 1:
            target = pointer.alternatives[0].target
            offset = words.as_constant(pointer.alternatives[0].offset)
            if isinstance(target, Object) and target in self.texts and offset is not None:
                return self.texts[target][offset:].split(b"\0")[0]
        raise refuse("printing of a string that is no literal", expression.origin)

    def _print(self, statement: Call, name: str) -> None:
        arguments = list(statement.arguments)
        healthy, guard = self.healthy(self.place), self.guard
        if name == "fprintf":
            stream = self.expression(arguments.pop(0))
            assert isinstance(stream, Pointer)
            circuit = self.circuit
            ways: dict[str, Literal] = {}
            for each in stream.alternatives:
                if isinstance(each.target, Object) and each.target.name in _STREAMS:
                    known = ways.get(each.target.name, FALSE)
                    ways[each.target.name] = circuit.or_(known, each.when)
            self.check("pointers", circuit.any_(ways.values()))
            guard = circuit.and_(guard, circuit.or_(ways.get("stdout", FALSE), healthy ^ 1))
        if name == "putchar":
            character = words.truncate(self._number(arguments[0]), 8)
            self.printed.append(Printed(guard, healthy, (("%c", character, False),)))
            return
        text = self._text(arguments[0])
        if name == "puts":
            self.printed.append(Printed(guard, healthy, (text + b"\n",)))
            return
        pieces: list[bytes | tuple[str, Word, bool]] = []
        rest = arguments[1:]
        for piece in format_of(text, statement.origin):
            if isinstance(piece, bytes):
                pieces.append(piece)
                continue
            if not rest:
                raise refuse("a format with too few arguments", statement.origin)
            argument = rest.pop(0)
            if piece.endswith("s"):
                inner = self._text(argument)
                pieces.append((piece % inner.decode("latin-1")).encode("latin-1"))
                continue
            if not isinstance(argument.type, IntType):
                raise refuse(f"printing with `{piece}`", argument.origin)
            value = self._number(argument)
            if piece.endswith("c"):
                value = words.truncate(value, 8)
            pieces.append((piece, value, piece[-1] == "i"))
        self.printed.append(Printed(guard, healthy, tuple(pieces)))
