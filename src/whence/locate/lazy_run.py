"""Runs of a program in which some components compute anything: is there one that passes a test?

Each run is a path.  Where it could go more than one way, the run goes the way of the run as it was,
and the other ways wait; those with few such deviations are run first.  All else is computed as
always.  What is printed has to be the beginning of what should be printed: most paths end there.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from heapq import heappop
from typing import Any, Final, Literal

from whence.locate.flow import falls_off
from whence.locate.interpreter import Interpreter
from whence.locate.lazy_code import PRINTING, LazyCode
from whence.locate.lazy_numbers import Number, Truth, Undecided, wrapped_number
from whence.locate.lazy_paths import Dead, Paths
from whence.locate.lazy_printing import numbers_in, wanted_numbers
from whence.locate.library import LIBRARY
from whence.locate.memory import NULL, Memory, Object, Pointer, Undefined
from whence.locate.observations import failure
from whence.model.program import Program
from whence.model.program_test import Test, Value
from whence.solve.paths import Condition, PathConditions, either, opposite
from whence.source import Origin

__all__ = ["Answer", "Doubt", "Effort", "LazyInterpreter", "Tried"]

#: "open": it could not be found out.
Answer = Literal["passes", "excluded", "open"]

_CHARACTERS: Final = frozenset(
    f"is{kind}"
    for kind in (
        *("alnum", "alpha", "cntrl", "digit", "graph", "lower", "print", "punct", "space"),
        *("upper", "xdigit", "blank"),
    )
)
#: So many values of one number are tried, and so many pointers.
_MOST_VALUES: Final = 300
#: Of a number that could have more values, only so many.
_SOME_VALUES: Final = 24
_MOST_POINTERS: Final = 400
#: So much of what is still to be printed is searched for numbers.
_WINDOW: Final = 4_000


#: What an operation raises that knows nothing of unknown numbers.
_NOT_FOLLOWED: Final = (
    Undecided,
    TypeError,
    AttributeError,
    ValueError,
    AssertionError,
    ArithmeticError,
    LookupError,
    struct.error,
)


@dataclass(frozen=True, slots=True)
class Doubt:
    """What may compute anything."""

    statements: frozenset[int] = frozenset()
    definitions: frozenset[Origin] = frozenset()


@dataclass(frozen=True, slots=True)
class Effort:
    """For one test: at most so many paths, iterations and calls of all of them together, and
    questions to the solver."""

    paths: int = 1_500
    steps: int = 50_000
    checks: int = 200


@dataclass(frozen=True, slots=True)
class Tried:
    """`executed` are statements that any of the paths came by; `changes` what unknown numbers and
    decisions were in the path that passes: where, what it was, what passes."""

    answer: Answer
    executed: frozenset[int]
    paths: int
    changes: tuple[tuple[int, int, bool], ...] = ()


class LazyInterpreter(Interpreter):
    """An interpreter whose components can be doubted, one set after the other."""

    _code = LazyCode

    def __init__(self, program: Program, options: Any, files: Sequence[str] = ()) -> None:
        self.path = Paths(PathConditions())
        #: The test that runs are to pass.
        self.wanted: Test | None = None
        super().__init__(program, options)
        self._originals = {key: self._space[name] for key, name in self._names.functions.items()}
        self._made_counters = len(self._counters)
        self._now: Doubt = Doubt()

    # ----------------------------------------------------------------------------------- doubts

    def doubt(self, doubt: Doubt, functions: Iterable[str]) -> None:
        """From now on these compute anything. `functions` are the keys of those that they stand
        in; of a definition, of those that use it."""
        for key, original in self._originals.items():
            self._set(key, original)
        del self._counters[self._made_counters :]
        self._names.doubted = doubt.statements
        self._names.doubted_definitions = doubt.definitions
        fall_off = falls_off(self.program)
        for key in functions:
            function = self.program.functions[key]
            code = LazyCode(self._names, self.program, function, self._counters, fall_off)
            exec(compile("\n".join(code.text()) + "\n", "<doubted>", "exec"), self._space)
            self._callable[key] = self._space[self._names.functions[key]]
        self._now = doubt

    def _set(self, key: str, function: Callable[..., Any]) -> None:
        self._space[self._names.functions[key]] = function
        self._callable[key] = function

    # ------------------------------------------------------------------------------------ trying

    def explains(self, entry: str, test: Test, effort: Effort) -> Tried:
        """Whether a run passes in which what is in doubt computes anything."""
        path = self.path
        self.wanted = test
        path.expected = test.expected.stdout
        path.waiting, path.pushed = [(0, 0, 0, ())], 0
        executed: set[int] = set()
        path.most_checks = path.conditions.checks + effort.checks
        undecided = False
        paths = steps = 0
        while path.waiting:
            if (
                paths >= effort.paths
                or steps >= effort.steps
                or path.conditions.checks >= path.most_checks
            ):
                undecided = True
                break
            deviations, _, _, prefix = heappop(path.waiting)
            path.begin(prefix, deviations)
            paths += 1
            try:
                passes = self._passes(entry, test)
            except Dead:
                passes = False
            except _NOT_FOLLOWED:
                undecided, passes = True, False
            executed |= self._seen()
            steps += self.options.steps - max(self._space["steps"], 0) + 30
            if passes:
                return Tried("passes", frozenset(executed), paths, self._changes())
        answer: Answer = "open" if undecided else "excluded"
        return Tried(answer, frozenset(executed), paths)

    def _passes(self, entry: str, test: Test) -> bool:
        outcome = self.run(
            entry,
            test.args,
            argv=test.argv,
            stdin=test.stdin,
            globals=test.globals,
            observe=tuple(test.expected.globals),
        )
        return not failure(test, outcome) and self.path._possible()

    def _changes(self) -> tuple[tuple[int, int, bool], ...]:
        path = self.path
        numbers = [each for each, _ in path.unknowns if isinstance(each, Number)]
        values = iter(path.conditions.values([each.term for each in numbers]) if numbers else ())
        found = []
        for each, way in path.unknowns:
            if isinstance(each, Number):
                value = next(values)
                if value != each.hint:
                    found.append((each.hint, value, False))
            elif way is not None and way != each:
                found.append((int(each), int(way), True))
        return tuple(found)

    def _seen(self) -> set[int]:
        counts = self._space["counts"]
        found = {
            number
            for count, counter in zip(counts, self._counters, strict=False)
            if count
            for number in (*counter.statements, *(counter.branch or ())[:1])
        }
        for child, parent in self._names.chained:
            if parent in found:
                found.add(child)
        return found

    # --------------------------------------------------------------- what compiled functions call

    def _fill(self) -> None:
        memory = self.machine.memory
        for code, load in list(memory.loads.items()):
            if code[0] != "f" and code != "p":
                memory.loads[code] = self._loading(load, code)
        for code, store in list(memory.stores.items()):
            memory.stores[code] = self._storing(store, code, memory)
        super()._fill()
        space = self._space
        for name in LIBRARY:
            space[f"library_{name}"] = self._library(name, space[f"library_{name}"])
        for name in ("load_bits", "store_bits", "snapshot", "put", "clear"):
            space[name] = self._flushing(space[name])
        space.update(
            Undefined=Undefined,
            free=self._free,
            free_way=self._free_way,
            free_other=_free_other,
            free_print=self._free_print,
            free_constant=self._free_constant,
            fitted=_fitted,
            checked=self._checked,
        )
        new = memory.new

        def noted(size: int, name: str, written: bool = False) -> Object:
            made = new(size, name, written)
            self.path.pointers.append(made)
            return made

        memory.new = noted  # type: ignore[method-assign]

    def run(self, *args: Any, **keywords: Any) -> Any:
        machine = self.machine
        begin = machine.begin

        def begins(stdin: bytes) -> None:
            begin(stdin)
            put = machine.stdout.put
            expected = self.path.expected

            def checked(data: bytes) -> None:
                put(data)
                if expected is not None and not expected.startswith(machine.stdout.data):
                    raise Dead

            machine.stdout.put = checked  # type: ignore[method-assign]

        machine.begin = begins  # type: ignore[method-assign]
        entry = self._entry(args[0])
        called = self._callable[entry.key]

        def as_wanted(*given: Any) -> Any:
            """What is returned is what should be, if it can be."""
            value = called(*given)
            if isinstance(value, Number) and self.wanted is not None and entry.name != "main":
                returned = self.wanted.expected.returned
                return self._as_wanted(value, None if returned is None else returned[0])
            return value

        self._callable[entry.key] = as_wanted
        try:
            return super().run(*args, **keywords)
        finally:
            machine.begin = begin  # type: ignore[method-assign]
            self._callable[entry.key] = called

    def _as_wanted(self, number: Number, value: Value) -> int:
        if value is None:
            return number.hint
        if not isinstance(value, int):
            raise Dead
        return self.path.among(number, [int(value)])

    def _global(self, name: str) -> Value:
        held = self._space[self._names.variable(self._variable(name))]
        if isinstance(held, Number) and self.wanted is not None:
            return self._as_wanted(held, self.wanted.expected.globals.get(name))
        if isinstance(held, Object):
            self._flush(held)
        return super()._global(name)

    def _status(self, function: Any, value: Any) -> int | None:
        if isinstance(value, Number) and function.name == "main":
            return value & 0xFF  # type: ignore[no-any-return]
        return super()._status(function, value)

    def _free(
        self, code: str, thunk: Callable[[], Any], least: int, greatest: int, stride: int
    ) -> Any:
        try:
            value = thunk()
        except Undefined:
            value = None
        if code == "p":
            return self._free_pointer(value, stride)
        if code[0] in "fr":
            raise Undecided
        hint = value.hint if isinstance(value, Number) else value
        return self.path.unknown(least, greatest, int(hint) if isinstance(hint, int) else least)

    def _free_pointer(self, value: Pointer | None, stride: int) -> Pointer:
        """As it was, null, or a pointer to an element of any object."""
        found: list[Pointer] = [] if value is None else [value]
        if value != NULL:
            found.append(NULL)
        statics = [made for made in self._statics.values() if not made.constant]
        for made in (*statics, *self.path.pointers):
            if made.size < 0 or made.stream is not None:
                continue
            for offset in range(0, max(made.size, 1), stride or 1):
                if (made, offset) != value:
                    found.append((made, offset))
                if len(found) > _MOST_POINTERS:
                    raise Undecided
        if any(made.function is not None for made in self._statics.values()) and stride == 0:
            raise Undecided
        return found[self.path.pick(len(found))]

    def _free_way(self, thunk: Callable[[], Any]) -> bool:
        try:
            was = bool(thunk())
        except Undefined:
            was = True
        way = was if self.path.pick(2) == 0 else not was
        self.path.unknowns.append((was, way))
        return way

    def _free_print(self, thunk: Callable[[], Any]) -> Any:
        """Prints what it would, or as much as anybody likes of what should be printed."""
        expected, stdout = self.path.expected, self.machine.stdout
        if expected is None:
            raise Undecided
        rest = expected[len(stdout.data) :]
        if len(rest) > _MOST_POINTERS:
            raise Undecided
        # Words end more often than anything else does.
        lengths = sorted(
            range(len(rest) + 1), key=lambda length: not rest[length - 1 : length].isspace()
        )
        picked = self.path.pick(len(lengths) + 1, cost=0)
        if picked == 0:
            return thunk()
        length = lengths[picked - 1]
        stdout.put(rest[:length])
        return length

    def _free_constant(self, key: object, value: int, least: int, greatest: int) -> Number:
        known = self.path.constants.get(key)
        if known is None:
            known = self.path.constants[key] = self.path.unknown(least, greatest, value)
        return known

    def _checked(self, value: Any, least: int, greatest: int, bits: int, site: int) -> Any:
        if least <= value <= greatest:
            return value
        raise Undefined("overflow", f"signed overflow of {bits} bits", site)

    # ------------------------------------------------------------------------------------ memory

    def _storing(
        self, store: Callable[..., None], code: str, memory: Memory
    ) -> Callable[..., None]:
        size = memory.pointer_size if code == "p" else int(code[1:]) // 8

        def lazily(object: Object, offset: Any, value: Any, site: int) -> None:
            offset = int(offset) if isinstance(offset, Number) else offset
            shadows = self.path.shadows
            if isinstance(value, Number):
                if code[0] == "f":
                    raise Undecided
                if isinstance(value, Truth) and code[0] == "b":
                    store(object, offset, value.hint, site)
                else:
                    store(object, offset, _inside(value.hint, code), site)
                held = shadows.setdefault(id(object), (object, {}))[1]
                _drop(held, offset, size)
                held[offset] = (size, value)
                return
            store(object, offset, value, site)
            if id(object) in shadows:
                _drop(shadows[id(object)][1], offset, size)

        return lazily

    def _loading(self, load: Callable[..., Any], code: str) -> Callable[..., Any]:
        bits = int(code[1:])
        size = bits // 8
        least, greatest = _range(code)

        def lazily(object: Object, offset: Any, site: int) -> Any:
            offset = int(offset) if isinstance(offset, Number) else offset
            value = load(object, offset, site)
            known = self.path.shadows.get(id(object))
            if known is None or not known[1]:
                return value
            exact = known[1].get(offset)
            if exact is not None and exact[0] == size:
                if code[0] == "b":
                    return exact[1] != 0
                return wrapped_number(exact[1], least, greatest)
            if any(at < offset + size and offset < at + s for at, (s, _) in known[1].items()):
                self._flush(object)
                return load(object, offset, site)
            return value

        return lazily

    def _flush(self, object: Object) -> None:
        """What is unknown in the object becomes known."""
        known = self.path.shadows.pop(id(object), None)
        if known is None:
            return
        for offset, (size, number) in sorted(known[1].items()):
            bits = 8 * size
            value = int(number) & (1 << bits) - 1
            object.data[offset : offset + size] = value.to_bytes(
                size, self.machine.memory.byteorder
            )

    def _flushing(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def flushed(*given: Any) -> Any:
            known = []
            for each in given:
                if isinstance(each, Object):
                    self._flush(each)
                known.append(int(each) if isinstance(each, Number) else each)
            return function(*known)

        return flushed

    # ----------------------------------------------------------------------------------- library

    def _library(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        variadic = LIBRARY[name].variadic

        def lazily(site: int, *given: Any) -> Any:
            if name in PRINTING:
                known = self._printed(name, given, variadic)
            else:
                if name in _CHARACTERS and isinstance(given[0], Number):
                    return self._character(function, site, given[0])
                known = []
                for each in given:
                    if isinstance(each, tuple) and isinstance(each[0], Object):
                        self._flush(each[0])
                        each = (each[0], int(each[1]))
                    known.append(int(each) if isinstance(each, Number) else each)
            return function(site, *known)

        return lazily

    def _character(self, function: Callable[..., Any], site: int, number: Number) -> Any:
        """Of what kind is this character? As many ways as there are answers."""
        answers: dict[int, list[int]] = {}
        for value in range(-1, 256):
            answers.setdefault(function(site, value), []).append(value)
        hint = function(site, number.hint) if -1 <= number.hint < 256 else 0
        for answer, values in sorted(answers.items(), key=lambda pair: pair[0] != hint):
            condition = either(
                [_between(number, first, last) for first, last in _stretches(values)]
            )
            if self.path.decide(condition, answer == hint):
                return answer
        raise Undefined("call", "a character that is none", site)

    def _printed(self, name: str, given: Sequence[Any], variadic: bool) -> list[Any]:
        """Unknown numbers that are printed are among those that should be printed next."""
        known: list[Any] = []
        stream = next(
            (each[0].stream for each in given if isinstance(each, tuple) and each[0].stream), None
        )
        counts = stream is None or stream is self.machine.stdout
        wanted = self._wanted(given) if variadic and counts else None
        for at, each in enumerate(given):
            if isinstance(each, tuple) and isinstance(each[0], Object):
                object = each[0]
                last = variadic and at == len(given) - 1
                held = self.path.shadows.get(id(object))
                if last and held is not None and held[1]:
                    for offset, (size, number) in sorted(held[1].items()):
                        among = None if wanted is None else wanted[offset // 8]
                        value = self._shown(number, counts, among)
                        object.data[offset : offset + size] = (
                            value & (1 << 8 * size) - 1
                        ).to_bytes(size, self.machine.memory.byteorder)
                    del self.path.shadows[id(object)]
                else:
                    self._flush(object)
                known.append((object, int(each[1])))
            elif isinstance(each, Number):
                known.append(self._shown(each, counts))
            else:
                known.append(each)
        return known

    def _wanted(self, given: Sequence[Any]) -> list[list[int]] | None:
        expected, pointer = self.path.expected, given[-2]
        if expected is None or not isinstance(pointer, tuple):
            return None
        format = self.machine.text(pointer, 0)
        return wanted_numbers(format, expected, len(self.machine.stdout.data))

    def _shown(self, number: Number, counts: bool, wanted: list[int] | None = None) -> int:
        if not counts:
            # Nobody looks at it.
            return number.hint
        if wanted is not None:
            return self.path.among(number, wanted)
        expected = self.path.expected
        if expected is None:
            return int(number)
        rest = expected[len(self.machine.stdout.data) :]
        if len(rest) > _WINDOW:
            raise Undecided
        return self.path.among(number, numbers_in(rest, number))


def _free_other(thunk: Callable[[], Any]) -> Any:
    raise Undecided


def _fitted(value: Any, least: int, greatest: int) -> Any:
    """Modulo the size of a type."""
    if isinstance(value, Number):
        return wrapped_number(value, least, greatest)
    if least <= value <= greatest:
        return value
    return (value - least) % (greatest - least + 1) + least


def _range(code: str) -> tuple[int, int]:
    bits = int(code[1:])
    if code[0] == "i":
        return -(1 << bits - 1), (1 << bits - 1) - 1
    return 0, (1 << bits) - 1


def _inside(value: int, code: str) -> int:
    least, greatest = _range(code)
    return (value - least) % (greatest - least + 1) + least


def _drop(held: dict[int, tuple[int, Number]], offset: int, size: int) -> None:
    for at in [at for at, (s, _) in held.items() if at < offset + size and offset < at + s]:
        del held[at]


def _stretches(values: Sequence[int]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for value in values:
        if found and found[-1][1] == value - 1:
            found[-1] = (found[-1][0], value)
        else:
            found.append((value, value))
    return found


def _between(number: Number, first: int, last: int) -> Condition:
    if first == last:
        return number.term == first
    return opposite(either([number.term < first, number.term > last]))
