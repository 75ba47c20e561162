"""A program and its tests as a system for diagnosis (Graussam, equations 3.1, 4.5 and 5.2).

The program is encoded once: what tests give is inputs of the circuit, what they ask for literals of
it.  A test is an observation: values for the inputs, and literals that have to be true.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from whence.locate.description import Description, describe
from whence.locate.description import Place as Described
from whence.locate.encode_calls import Calls
from whence.locate.encode_places import Havoc
from whence.locate.fault_model import FaultModel, Place, Suspects
from whence.locate.observations import Test
from whence.locate.outcome import Value as Given
from whence.locate.printed import prints
from whence.locate.symbolic import (
    OFFSET,
    Alternative,
    Cell,
    Leaf,
    Object,
    Pointer,
    State,
    Value,
    choose_cell,
    leaves_of,
    merge,
    point,
    refuse,
)
from whence.model.mbd import Observation, System
from whence.model.program import (
    ArrayType,
    Function,
    Global,
    IntType,
    Loop,
    PointerType,
    Program,
    RecordType,
    Type,
    Variable,
    size_of,
)
from whence.solve import words
from whence.solve.circuits import FALSE, TRUE, Literal
from whence.solve.words import Word
from whence.source import Origin, UnsupportedError

__all__ = ["EncodedProgram", "encode_program"]

_NUMBER = re.compile(rb"[ \t\n\v\f\r]*([-+]?[0-9]+)")
_MOST_PRINTED = 2_000_000


@dataclass(frozen=True, slots=True)
class EncodedProgram:
    """`observations` are the tests, in their order; `places` the components, in the order of
    the description's. `unwound` are loops of which it was assumed that they do not run longer than
    in the tests, with how often their bodies run at most; `cut`: so was the depth of calls. `uses`
    are the places whose statements use a macro or an array."""

    description: Description
    observations: tuple[Observation, ...]
    places: tuple[Place, ...]
    havocs: tuple[Havoc, ...]
    unwound: tuple[tuple[Loop, int], ...]
    cut: bool
    uses: Mapping[Place, frozenset[Place]]

    @property
    def system(self) -> System:
        return self.description.system


class _Encoder(Calls):
    """`reads` gives the value of each input in a test."""

    def begin(self, entry: Function, tests: Sequence[Test]) -> None:
        self.reads: list[tuple[Word, Callable[[Test], int]]] = []
        self.tests = tests
        self.entry = entry
        self._globals()

    # ----------------------------------------------------------------------------------- globals

    def _variable(self, name: str) -> Global:
        entry = self.program.globals.get(name)
        if entry is not None:
            return entry
        (found,) = (g for g in self.program.globals.values() if g.variable.name == name)
        return found

    def _globals(self) -> None:
        given = {
            self._variable(name).variable.key: name for test in self.tests for name in test.globals
        }
        for key, entry in self.program.globals.items():
            variable = entry.variable
            if not entry.defined and key not in given:
                made = Object(variable.name, variable.type, (), size_of(variable.type))
                if isinstance(variable.type, PointerType):
                    made.leaves = (Leaf(0, variable.type),)
                    made.__post_init__()
                    stream = Object(variable.name, variable.type, (), 0)
                    self.state[made, 0] = Cell(point(stream), TRUE)
            elif entry.constant:
                # Nobody suspects the size of a literal.
                parts = leaves_of(self.program, variable.type, variable.origin, 1 << 16)
                made = Object(variable.name, variable.type, tuple(parts), size_of(variable.type))
            else:
                try:
                    made = self.new_object(variable)
                except UnsupportedError as error:
                    self.refused[key] = error
                    continue
            self.objects[key] = made
            for at, leaf in enumerate(made.leaves):
                if (made, at) not in self.state:
                    self.state[made, at] = self.zero(leaf)
        for key, entry in self.program.globals.items():
            if key not in self.refused:
                self._initials(entry)
        for key, name in given.items():
            self._given_global(self.program.globals[key].variable, name)

    def _initials(self, entry: Global) -> None:
        made = self.objects[entry.variable.key]
        characters = bytearray(made.room if entry.constant else 0)
        for initial in entry.initial:
            self.place = None
            location = self.locate(initial.place)
            value = self.expression(initial.value)
            offset = words.as_constant(location.alternatives[0].offset)
            if entry.constant and isinstance(value, tuple) and offset is not None:
                known = words.as_constant(value) or 0
                if len(value) == 8 and offset < len(characters):
                    characters[offset] = known
            elif not entry.constant:
                origin = initial.value.origin
                place = self.suspects.initialiser(origin, entry.variable.name)
                if isinstance(location.type, (IntType, PointerType)):
                    value = self.havoc(place, value, location.type, entry.variable.name, origin)
            self.store(location, value, entry.variable.origin)
        if entry.constant:
            made.constant = True
            for at, leaf in enumerate(made.leaves):
                if isinstance(leaf.type, IntType) and leaf.type.bits == 8:
                    word = words.constant(characters[leaf.offset], 8)
                    self.state[made, at] = Cell(word, TRUE)
            self.texts[made] = bytes(characters)

    def _given_global(self, variable: Variable, name: str) -> None:
        """Tests that do not give it have what it starts with."""
        made = self.object(variable)
        everywhere = all(name in test.globals for test in self.tests)
        there: Literal = TRUE
        if not everywhere:
            there = self.circuit.input()
            self.reads.append(((there,), lambda test: name in test.globals))
        paths = list(self._paths(variable.type, variable.origin))
        for at, (leaf, path) in enumerate(paths):
            if isinstance(leaf.type, PointerType):
                raise refuse(f"the pointer `{name}` as an input of tests", variable.origin)
            word = self.circuit.inputs(leaf.bits)

            def read(test: Test, path: tuple[int | str, ...] = path) -> int:
                return _number(test.globals.get(name, 0), path)

            self.reads.append((word, read))
            cell = Cell(word, TRUE)
            self.state[made, at] = choose_cell(self.circuit, there, cell, self.state[made, at])

    def _paths(self, type: Type, origin: Origin) -> Iterator[tuple[Leaf, tuple[int | str, ...]]]:
        """Leaves, and the way to each in a value as tests have it."""

        def walk(type: Type, path: tuple[int | str, ...]) -> Iterator[tuple[int | str, ...]]:
            match type:
                case ArrayType():
                    for index in range(type.length or 0):
                        yield from walk(type.element, (*path, index))
                case RecordType():
                    for part in self.program.records[type.name].fields:
                        if part.width is None or (part.width and part.name):
                            yield from walk(part.type, (*path, part.name))
                case _:
                    yield path

        leaves = leaves_of(self.program, type, origin)
        yield from zip(leaves, walk(type, ()), strict=True)

    # --------------------------------------------------------------------------------- arguments

    def arguments_of_entry(self) -> list[Value]:
        function = self.entry
        given = any(test.args is not None for test in self.tests)
        if function.name == "main" and function.parameters and not given:
            return self._of_process(function)
        return [
            self._argument(number, parameter)
            for number, parameter in enumerate(function.parameters)
        ]

    def _argument(self, number: int, parameter: Variable) -> Value:
        circuit, type = self.circuit, parameter.type
        if isinstance(type, IntType):
            word = circuit.inputs(type.bits)
            self.reads.append((word, lambda test: _number((test.args or ())[number], ())))
            return word
        if isinstance(type, PointerType):
            return self._pointed(number, parameter, type)
        raise refuse(f"the parameter `{parameter.name}` of this type", parameter.origin)

    def _pointed(self, number: int, parameter: Variable, type: PointerType) -> Pointer:
        """What a pointer that tests give points at: as much as the longest of them."""
        circuit = self.circuit

        def held(test: Test) -> Given:
            value = (test.args or ())[number]
            if isinstance(value, bytes):
                return [*value, 0]
            return value if isinstance(value, list) or value is None else [value]

        lengths = {len(value) for test in self.tests if isinstance(value := held(test), list)}
        null = circuit.input()
        self.reads.append(((null,), lambda test: held(test) is None))
        nothing = Alternative(null, None, words.constant(0, OFFSET))
        if not lengths:
            return Pointer((nothing,))
        array = ArrayType(type.target, max(lengths))
        parts = leaves_of(self.program, array, parameter.origin)
        made = Object(parameter.name, array, tuple(parts), size_of(array))
        size = size_of(type.target)
        if len(lengths) > 1:
            made.extent = circuit.inputs(OFFSET)

            def extent(test: Test) -> int:
                value = held(test)
                return size * len(value) if isinstance(value, list) else 0

            self.reads.append((made.extent, extent))
        for at, (leaf, path) in enumerate(self._paths(array, parameter.origin)):
            if isinstance(leaf.type, PointerType):
                raise refuse(f"a pointer behind `{parameter.name}`", parameter.origin)
            word = circuit.inputs(leaf.bits)

            def read(test: Test, path: tuple[int | str, ...] = path) -> int:
                value = held(test)
                first = path[0]
                assert isinstance(first, int)
                if not isinstance(value, list) or first >= len(value):
                    return 0
                return _number(value, path)

            self.reads.append((word, read))
            self.state[made, at] = Cell(word, TRUE)
        self._addressed[made] = None
        there = Alternative(null ^ 1, made, words.constant(0, OFFSET))
        return Pointer((there, nothing))

    def _of_process(self, function: Function) -> list[Value]:
        """`argc` and `argv`."""
        circuit = self.circuit
        count_type = function.parameters[0].type
        assert isinstance(count_type, IntType)
        count = circuit.inputs(count_type.bits)
        self.reads.append((count, lambda test: len(test.argv) + 1))
        most = max(len(test.argv) for test in self.tests)
        pointer = function.parameters[1].type if len(function.parameters) > 1 else None
        if not isinstance(pointer, PointerType) or not isinstance(pointer.target, PointerType):
            held: list[Value] = [count]
            return held
        character = IntType(8, self.program.data_model.char_signed)
        step = size_of(pointer.target)
        table_type = ArrayType(pointer.target, most + 2)
        parts = leaves_of(self.program, table_type, function.origin)
        table = Object("argv", table_type, tuple(parts), size_of(table_type))
        table.extent = circuit.inputs(OFFSET)
        self.reads.append((table.extent, lambda test: step * (len(test.argv) + 2)))
        for index in range(most + 2):
            longest = max(len(_argument_text(test, index)) for test in self.tests)
            text_type = ArrayType(character, longest + 1)
            leaves = leaves_of(self.program, text_type, function.origin)
            text = Object(f"argv[{index}]", text_type, tuple(leaves), longest + 1)
            text.extent = circuit.inputs(OFFSET)

            def extent(test: Test, index: int = index) -> int:
                return len(_argument_text(test, index)) + 1

            self.reads.append((text.extent, extent))
            for at in range(longest + 1):
                word = circuit.inputs(8)

                def read(test: Test, index: int = index, at: int = at) -> int:
                    held = _argument_text(test, index)
                    return held[at] if at < len(held) else 0

                self.reads.append((word, read))
                self.state[text, at] = Cell(word, TRUE)
            self.arguments[text] = index
            there = circuit.input()

            def is_there(test: Test, index: int = index) -> int:
                return index <= len(test.argv)

            self.reads.append(((there,), is_there))
            zero = words.constant(0, OFFSET)
            cell = Pointer((Alternative(there, text, zero), Alternative(there ^ 1, None, zero)))
            self.state[table, index] = Cell(cell, TRUE)
        if len(function.parameters) > 2:
            raise refuse("a third argument of `main`", function.origin)
        return [count, point(table)]


def _argument_text(test: Test, index: int) -> bytes:
    if index == 0:
        return b"program"
    return test.argv[index - 1] if index <= len(test.argv) else b""


def _number(value: Given, path: tuple[int | str, ...]) -> int:
    """The number at the end of the way; 0 where a list is too short."""
    for step in path:
        if isinstance(value, (bytes, list)) and isinstance(step, int):
            value = value[step] if step < len(value) else 0
        elif isinstance(value, dict) and isinstance(step, str):
            value = value.get(step, 0)
        else:
            return 0
    return int(value) if isinstance(value, (int, float)) else 0


def _as_number(text: bytes) -> int:
    match = _NUMBER.match(text)
    return int(match[1]) if match else 0


def encode_program(
    program: Program,
    entry: str,
    tests: Sequence[Test],
    model: FaultModel,
    *,
    rounds: Mapping[int, int],
    depth: int = 50,
) -> EncodedProgram:
    """`tests` are the observations. `rounds`: how often the bodies of loops run at most."""
    suspects = Suspects(program, model)
    encoder = _Encoder(program, model, suspects, rounds=rounds, depth=depth)
    function = _function(program, entry)
    encoder.begin(function, tests)
    result = encoder.enter(function, encoder.arguments_of_entry(), function.origin)
    return _Finish(encoder, result).made(tests)


def _function(program: Program, entry: str) -> Function:
    if entry in program.functions:
        return program.functions[entry]
    (found,) = (f for f in program.functions.values() if f.name == entry)
    return found


class _Finish:
    """What the tests ask for."""

    def __init__(self, encoder: _Encoder, result: Object | None) -> None:
        self.encoder = encoder
        self.circuit = encoder.circuit
        self.result = result
        normal = (encoder.guard, encoder.state)
        paths = [(guard, state) for guard, _, state in encoder.exits]
        met = merge(self.circuit, [*paths, normal])
        self.state: State = met[1] if met is not None else {}
        self._texts: dict[bytes, Literal] = {}

    def made(self, tests: Sequence[Test]) -> EncodedProgram:
        encoder = self.encoder
        for found in encoder.derived.values():

            def number(test: Test, index: int = found.argument) -> int:
                return _as_number(_argument_text(test, index))

            encoder.reads.append((found.word, number))
        wanted = [tuple(self._wanted(test)) for test in tests]
        places = sorted(
            encoder.healthy_of,
            key=lambda place: (
                place.origin.file,
                place.origin.line,
                place.origin.column,
                place.kind,
            ),
        )
        # What nothing depends on need not be said.
        asked = dict.fromkeys(chain.from_iterable(wanted))
        needed = set(self.circuit.cone([*self.circuit.required, *asked]))
        observable = [
            (bit, place, get)
            for word, get in encoder.reads
            for place, bit in enumerate(word)
            if bit >> 1 in needed
        ]
        description = describe(
            self.circuit,
            [Described(encoder.healthy_of[each], str(each), each.origin) for each in places],
            observable=[bit for bit, _, _ in observable],
            assertable=asked,
        )
        observations = []
        for test, literals in zip(tests, wanted, strict=True):
            values = {get: get(test) for _, _, get in observable}
            given = [bit ^ 1 ^ (values[get] >> place & 1) for bit, place, get in observable]
            observations.append(
                description.observation([*given, *dict.fromkeys(literals)], test.name, test.origin)
            )
        return EncodedProgram(
            description,
            tuple(observations),
            tuple(places),
            tuple(encoder.havocs),
            tuple(
                (loop, encoder.rounds.get(number, 0))
                for number, loop in sorted(encoder.unwound.items())
            ),
            encoder.cut,
            {place: frozenset(users) for place, users in encoder.uses.items()},
        )

    def _wanted(self, test: Test) -> Iterator[Literal]:
        expected, encoder, circuit = test.expected, self.encoder, self.circuit
        if expected.returned is not None:
            if self.result is None:
                yield FALSE
            else:
                yield encoder.guard
                yield from self._equals(self.result, encoder.state, expected.returned[0])
        for name, value in expected.globals.items():
            variable = encoder._variable(name).variable
            yield from self._equals(encoder.object(variable), self.state, value)
        if expected.stdout is not None:
            known = self._texts.get(expected.stdout)
            if known is None:
                if len(encoder.printed) * len(expected.stdout) > _MOST_PRINTED:
                    raise refuse("so much output", test.origin)
                known = prints(circuit, encoder.printed, expected.stdout)
                self._texts[expected.stdout] = known
            yield known
        if expected.exit_code is not None:
            yield self._exits(expected.exit_code)

    def _exits(self, code: int) -> Literal:
        encoder, circuit = self.encoder, self.circuit
        wanted = words.constant(code, 8)
        ways = [
            circuit.and_(guard, words.equal(circuit, words.truncate(word, 8), wanted))
            for guard, word, _ in encoder.exits
        ]
        if encoder.guard != FALSE and self.result is not None and encoder.entry.name == "main":
            cell = encoder.state[self.result, 0]
            assert isinstance(cell.value, tuple)
            same = words.equal(circuit, words.truncate(cell.value, 8), wanted)
            ways.append(circuit.all_((encoder.guard, cell.defined, same)))
        return circuit.any_(ways)

    def _equals(self, made: Object, state: State, value: Given) -> Iterator[Literal]:
        encoder = self.encoder
        parts = encoder._paths(made.type, encoder.entry.origin)
        for at, (leaf, path) in enumerate(parts):
            cell = state.get((made, at))
            if cell is None:
                yield FALSE
                return
            yield cell.defined
            if isinstance(cell.value, Pointer):
                if value is None:
                    yield self.circuit.any_(
                        each.when for each in cell.value.alternatives if each.target is None
                    )
                    continue
                raise refuse("a pointer as a result of a test", encoder.entry.origin)
            number = _number(value, path)
            word = cell.value
            signed = isinstance(leaf.type, IntType) and leaf.type.signed
            least = -(1 << len(word) - 1) if signed else 0
            if not least <= number < 1 << len(word) - signed:
                yield FALSE
            for place, bit in enumerate(word):
                yield bit if number >> place & 1 else bit ^ 1
