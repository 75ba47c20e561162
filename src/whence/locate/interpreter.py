"""Runs programs of the core language (`Interpreter`).

Each function is compiled once to a function of Python; `run` makes the machine as new, sets the
globals and calls one of them.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any, Final

from whence.locate.arithmetic import FUNCTIONS, single
from whence.locate.code_expressions import Names
from whence.locate.code_simple import Counter
from whence.locate.code_statements import FunctionCode
from whence.locate.coverage import coverage
from whence.locate.flow import falls_off
from whence.locate.layout import is_scalar, layout
from whence.locate.library import LIBRARY
from whence.locate.machine import Abort, Exit, Machine, Unavailable
from whence.locate.memory import (
    NULL,
    Object,
    OutOfMemory,
    Pointer,
    Undefined,
    code_of,
)
from whence.locate.outcome import Fault, Options, Outcome, Value
from whence.locate.values import Values
from whence.model.program import (
    FloatType,
    Function,
    FunctionAddress,
    If,
    IntType,
    Loop,
    PointerType,
    Program,
    Type,
    Variable,
    VoidType,
    size_of,
)
from whence.model.program_walk import statements, subexpressions
from whence.source import NOWHERE, Diagnostic, Origin, UsageError

__all__ = ["COMPILED", "Interpreter"]

#: The file that compiled functions say they are from.
COMPILED: Final = "<whence program>"


class _OutOfSteps(Exception):
    pass


class _Failed(Exception):
    """An assertion does not hold."""

    def __init__(self, text: str, site: int) -> None:
        super().__init__(text)
        self.text = text
        self.site = site


class Interpreter:
    """A program, ready to run. Runs of one interpreter do not see each other, and follow each
    other; they are not made for threads."""

    #: What writes functions as Python.
    _code: type[FunctionCode] = FunctionCode

    def __init__(self, program: Program, options: Options | None = None) -> None:
        self.program = program
        self.options = options or Options()
        self.machine = Machine(program.data_model, self.options)
        self.layout = layout(program, everything=self.options.dependences)
        self._names = Names(self.layout, self.options)
        self._counters: list[Counter] = []
        self._space: dict[str, Any] = {}
        self._values = Values(program, self.machine.memory)
        self._statics: dict[str, Object] = {}
        self._lines: list[int] = []
        self._origins: dict[int, Origin] = {}
        #: Decisions with two outcomes by number: whether they are those of loops.
        self._decisions: dict[int, bool] = {}
        for function in program.functions.values():
            for statement in statements(function.body):
                self._origins[statement.number] = statement.origin
                if isinstance(statement, (If, Loop)):
                    self._decisions[statement.number] = isinstance(statement, Loop)
        self.source = self._compile()

    # --- making the program -----------------------------------------------------------------

    def _compile(self) -> str:
        names, program = self._names, self.program
        for number, key in enumerate(program.functions):
            names.functions[key] = f"f{number}"
        fall_off = falls_off(program)
        lines: list[str] = []
        for function in program.functions.values():
            code = self._code(names, program, function, self._counters, fall_off)
            lines += code.text()
            self._lines += code.numbers
        text = "\n".join(lines) + "\n"
        self._fill()
        compiled = compile(text, COMPILED, "exec")
        exec(compiled, self._space)
        self._globals()
        self._functions()
        return text

    def _fill(self) -> None:
        """The names that compiled functions know."""
        space, memory, machine = self._space, self.machine.memory, self.machine
        space.update(FUNCTIONS)
        space.update(NULL=NULL, NAN=float("nan"), INF=float("inf"), steps=0)
        for code, load in memory.loads.items():
            space[f"load_{code}"] = load
            space[f"get_{code}"] = _through(load)
        for code, store in memory.stores.items():
            space[f"store_{code}"] = store
            space[f"set_{code}"] = _into(store)
        for name, entry in LIBRARY.items():
            space[f"library_{name}"] = partial(entry.function, machine)
        space.update(
            address=memory.address,
            pointer=memory.pointer,
            counts=[],
            out_of_steps=_out_of_steps,
            failed=_failed,
            unknown=self._unknown,
            indirect=self._indirect,
            arguments=self._arguments,
            trace=machine.trace,
        )
        space.update(self._values.helpers(machine))
        machine.indirect = self._indirect

    def _globals(self) -> None:
        """Objects that live through all runs, and what globals start with."""
        memory, names = self.machine.memory, self._names
        for entry in self.program.globals.values():
            for initial in entry.initial:
                for part in subexpressions(initial.value):
                    if isinstance(part, FunctionAddress):
                        names.address(part.function)
        for key, entry in self.program.globals.items():
            variable = entry.variable
            name = names.variable(variable)
            if not self.layout.in_memory(variable):
                continue
            made = memory.static(size_of(variable.type), variable.name)
            made.constant = entry.constant
            if not entry.defined:
                made.size = -1
                made.name = f"`{variable.name}`, which is declared and nowhere defined"
            self._statics[key] = made
            self._space[name] = made
        for function, name in names.addresses.items():
            made = memory.static(1, f"the function `{function}`")
            made.size = -1
            made.function = function
            self._space[name] = (made, 0)
        memory.begin(1 << 62)
        self._known_globals()
        self._initials = self._values.initials(self._statics, self._space, names, self.layout)

    def _known_globals(self) -> None:
        """What the library defines."""
        for key, entry in self.program.globals.items():
            if entry.defined or key not in self._statics:
                continue
            made = self._statics[key]
            if key in self.machine.standard and isinstance(entry.variable.type, PointerType):
                made.size = made.extent
                made.name = key
                self.machine.memory.stores["p"](made, 0, self.machine.standard[key], 0)
            elif key == "errno":
                made.size = made.extent
                made.name = key
                self.machine.errno = made

    def _functions(self) -> None:
        self._callable = {key: self._space[name] for key, name in self._names.functions.items()}

    # --- what compiled functions call -------------------------------------------------------

    def _arguments(self, items: list[tuple[Any, str]]) -> Pointer:
        """The arguments of `...` in slots of 8 bytes."""
        memory = self.machine.memory
        sizes = [value.extent if code == "r" else 8 for value, code in items]
        made = memory.new(sum(size + 7 & ~7 for size in sizes), "the arguments of `...`")
        offset = 0
        for (value, code), size in zip(items, sizes, strict=True):
            if code == "r":
                memory.put(made, offset, value, 0)
            else:
                memory.stores[code](made, offset, value, 0)
            offset += size + 7 & ~7
        return (made, 0)

    def _indirect(
        self,
        pointer: Pointer,
        arguments: tuple[Any, ...],
        codes: tuple[str, ...],
        result: str,
        site: int,
    ) -> Any:
        """A call through a pointer."""
        key = pointer[0].function
        if key is None or pointer[1] != 0:
            if pointer == NULL:
                raise Undefined("null pointer", "call through a null pointer", site)
            raise Undefined("call", "call through a pointer to what is no function", site)
        function = self.program.functions.get(key)
        if function is not None:
            return self._call_defined(function, arguments, codes, result, site)
        entry = LIBRARY.get(key)
        if entry is None:
            return self._unknown(key, arguments, result, site)
        if len(arguments) < entry.fixed or (len(arguments) > entry.fixed and not entry.variadic):
            raise Undefined("call", f"`{key}` called with {len(arguments)} arguments", site)
        given = list(arguments[: entry.fixed])
        if entry.variadic:
            rest = list(zip(arguments[entry.fixed :], codes[entry.fixed :], strict=True))
            given.append(self._arguments(rest))
        value = entry.function(self.machine, site, *given)
        return 0 if value is None and result == "" else value

    def _call_defined(
        self,
        function: Function,
        arguments: tuple[Any, ...],
        codes: tuple[str, ...],
        result: str,
        site: int,
    ) -> Any:
        wanted = [_code(type) for type in function.type.parameters]
        count = len(wanted)
        returned = _code(function.type.result)
        if (
            len(arguments) < count
            or (len(arguments) > count and not function.type.variadic)
            or list(codes[:count]) != wanted
            or (result and result != returned)
        ):
            raise Undefined(
                "call",
                f"`{function.name}` is called through a pointer to another type of function",
                site,
            )
        given = list(arguments[:count])
        if function.type.variadic:
            rest = list(zip(arguments[count:], codes[count:], strict=True))
            given.append(self._arguments(rest))
        return self._callable[function.key](*given)

    def _unknown(self, name: str, arguments: tuple[Any, ...], result: str, site: int) -> Any:
        """A function that is not there."""
        if self.options.unknown is None or result in ("p", "r"):
            raise Unavailable(f"`{name}` is called, and is neither defined nor known", site)
        numbers = tuple(value if isinstance(value, (int, float)) else None for value in arguments)
        value = self.options.unknown(name, numbers)
        if result == "v" or not result:
            return None
        if value is None:
            raise Unavailable(f"`{name}` is called, and has been given no result", site)
        if result[0] == "f":
            return float(value) if result == "f64" else single(float(value))
        bits = int(result[1:])
        number = int(value) & (1 << bits) - 1
        return number - (1 << bits) if result[0] == "i" and number >> bits - 1 else number

    # --- running ----------------------------------------------------------------------------

    def run(
        self,
        entry: str = "main",
        args: Sequence[Value] | None = None,
        *,
        argv: Sequence[str | bytes] = (),
        stdin: bytes | str = b"",
        globals: Mapping[str, Value] | None = None,
        observe: Sequence[str] = (),
        fresh: bool = True,
    ) -> Outcome:
        """Calls `entry`. Of `main`, `argv` are the arguments behind the program's name. For other
        functions `args` has a number for each number, and for a pointer None, bytes (with a zero
        behind them), or a list of what it points at. `globals` are set before the call.
        `observe` names globals, and parameters that point somewhere, to be looked at afterwards.
        Without `fresh`, memory is as the run before left it.
        """
        function = self._entry(entry)
        machine = self.machine
        if fresh:
            machine.begin(stdin.encode() if isinstance(stdin, str) else stdin)
        space = self._space
        space["steps"] = self.options.steps
        counts = space["counts"]
        counts[:] = [0] * len(self._counters)
        if fresh:
            self._initials.apply(space)
        for name, value in (globals or {}).items():
            self._set_global(name, value)
        given = self._given(function, args, argv)
        limit = sys.getrecursionlimit()
        outcome = Outcome("exit", None, None, b"")
        result: Any = None
        if machine.trace is not None:
            machine.trace.recording = True
        try:
            # A call of the program is one of Python; the library and we need some besides.
            sys.setrecursionlimit(_depth() + self.options.depth + 200)
            try:
                result = self._callable[function.key](*given)
                status = self._status(function, result)
                machine_exit: int | None = status
            except Exit as stop:
                machine_exit = stop.status & 0xFF
            while machine.at_exit:
                self._indirect(machine.at_exit.pop(), (), (), "", 0)
            outcome = replace(outcome, exit_code=machine_exit)
        except Exit as stop:
            outcome = replace(outcome, exit_code=stop.status & 0xFF)
        except Exception as error:
            outcome = self._ended(error)
        finally:
            sys.setrecursionlimit(limit)
        if machine.trace is not None:
            machine.trace.recording = False
        shown = None if result is None else self._values.shown(function.type.result, result)
        covered = None
        if self.options.coverage:
            covered = coverage(
                space["counts"], self._counters, self._names.chained, self._decisions, outcome
            )
        trace = machine.trace
        return replace(
            outcome,
            value=shown if outcome.end == "exit" else None,
            stdout=bytes(machine.stdout.data),
            stderr=bytes(machine.stderr.data),
            steps=self.options.steps - max(space["steps"], 0),
            coverage=covered,
            events=tuple(trace.events) if trace is not None else (),
            observed=MappingProxyType({name: self._global(name) for name in observe}),
            files=MappingProxyType(
                {
                    name: bytes(machine.files[name].data)
                    for name in sorted(machine.written & machine.files.keys())
                }
            ),
        )

    def _status(self, function: Function, value: Any) -> int | None:
        if function.name != "main" or not isinstance(value, int):
            return None
        return int(value) & 0xFF

    def _entry(self, entry: str) -> Function:
        functions = self.program.functions
        if entry in functions:
            return functions[entry]
        named = [function for function in functions.values() if function.name == entry]
        if len(named) == 1:
            return named[0]
        known = ", ".join(sorted(functions)) or "none"
        raise UsageError(
            Diagnostic(f"there is no function `{entry}`", hint=f"there are: {known[:200]}")
        )

    def _given(
        self, function: Function, args: Sequence[Value] | None, argv: Sequence[str | bytes]
    ) -> list[Any]:
        types = function.type.parameters
        if args is None and function.name == "main" and types:
            return self._main_arguments(function, argv)
        args = args or ()
        if len(args) != len(types):
            raise UsageError(
                f"`{function.name}` takes {len(types)} arguments, {len(args)} were given"
            )
        return [
            self._values.made(type, value, parameter.name)
            for type, value, parameter in zip(types, args, function.parameters, strict=True)
        ]

    def _main_arguments(self, function: Function, argv: Sequence[str | bytes]) -> list[Any]:
        memory = self.machine.memory
        texts = [b"program", *(a.encode() if isinstance(a, str) else a for a in argv)]
        size = memory.pointer_size
        table = memory.new(size * (len(texts) + 1), "argv", True)
        for index, text in enumerate(texts):
            string = memory.new(len(text) + 1, f"argv[{index}]", True)
            string.data[:-1] = text
            memory.stores["p"](table, index * size, (string, 0), 0)
        environment = memory.new(size, "the environment", True)
        given = [len(texts), (table, 0), (environment, 0)]
        return given[: len(function.type.parameters)]

    def _variable(self, name: str) -> Variable:
        entry = self.program.globals.get(name)
        if entry is None:
            named = [
                entry for entry in self.program.globals.values() if entry.variable.name == name
            ]
            if len(named) != 1:
                raise UsageError(f"there is no global variable `{name}`")
            entry = named[0]
        return entry.variable

    def _set_global(self, name: str, value: Value) -> None:
        variable = self._variable(name)
        python = self._names.variable(variable)
        if self.layout.in_memory(variable):
            made = self._space[python]
            # A variable that is only declared becomes one by being given a value.
            made.size = made.extent
            self._values.write(made, 0, variable.type, value, variable.name)
        elif is_scalar(variable.type):
            self._space[python] = self._values.scalar(variable.type, value, variable.name)
        else:
            leaves = self._values.leaves(variable.type, value, variable.name, self.layout)
            self._space[python][:] = leaves

    def _global(self, name: str) -> Value:
        variable = self._variable(name)
        held = self._space[self._names.variable(variable)]
        if self.layout.in_memory(variable):
            return self._values.read(held, 0, variable.type)
        if is_scalar(variable.type):
            return self._values.shown(variable.type, held)
        return self._values.gathered(variable.type, list(held))

    # --- how it ended -----------------------------------------------------------------------

    def _ended(self, error: Exception) -> Outcome:
        base = Outcome("undefined", None, None, b"")
        match error:
            case Undefined():
                origin, statement = self._place(error.site)
                fault = Fault(error.kind, error.message, origin, statement)
                return replace(
                    base, fault=fault, message=error.message, origin=origin, statement=statement
                )
            case _Failed():
                origin, statement = self._place(error.site)
                message = f"assertion `{error.text}` failed"
                return replace(
                    base,
                    end="assertion",
                    exit_code=134,
                    message=message,
                    origin=origin,
                    statement=statement,
                )
            case Abort():
                return replace(
                    base, end="abort", exit_code=134, message="aborted", **self._where(error)
                )
            case Unavailable():
                origin, statement = self._place(error.site)
                return replace(
                    base, end="unknown", message=error.message, origin=origin, statement=statement
                )
            case _OutOfSteps():
                message = f"no end after {self.options.steps} loop iterations and calls"
            case RecursionError():
                message = f"more than {self.options.depth} calls are open"
            case OutOfMemory() | MemoryError():
                message = f"more than {self.options.memory} bytes of memory are in use"
            case _:
                raise error
        return replace(base, end="limit", message=message, **self._where(error))

    def _place(self, site: int) -> tuple[Origin, int]:
        sites = self._names.sites
        return sites[site] if 0 <= site < len(sites) else (NOWHERE, 0)

    def _where(self, error: Exception) -> dict[str, Any]:
        """The statement that was being executed, from the line of Python."""
        trace = error.__traceback__
        line = 0
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == COMPILED:
                line = trace.tb_lineno
            trace = trace.tb_next
        number = self._lines[line - 1] if 0 < line <= len(self._lines) else 0
        return {"statement": number, "origin": self._origins.get(number, NOWHERE)}


def _code(type: Type) -> str:
    if isinstance(type, (IntType, FloatType, PointerType)):
        return code_of(type)
    return "" if isinstance(type, VoidType) else "r"


def _through(load: Any) -> Any:
    def get(pointer: Pointer, offset: int, site: int) -> Any:
        return load(pointer[0], pointer[1] + offset, site)

    return get


def _into(store: Any) -> Any:
    def set(pointer: Pointer, offset: int, value: Any, site: int) -> None:
        store(pointer[0], pointer[1] + offset, value, site)

    return set


def _out_of_steps() -> None:
    raise _OutOfSteps


def _failed(text: str, site: int) -> None:
    raise _Failed(text, site)


def _depth() -> int:
    depth = 0
    frame: Any = sys._getframe()
    while frame is not None:
        depth += 1
        frame = frame.f_back
    return depth
