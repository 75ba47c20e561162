"""What the rows of a table, and the entries of a document, mean.

A field is an argument or a global variable of its name, or one of these: `name` (of the test),
`argv`, `stdin`; `return`, `stdout`, `exit` and `expect.NAME` (a global variable afterwards) are
what should come out.  `args.NAME` and `globals.NAME` say which of two is meant.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from whence.model.program import Function, Program
from whence.model.program_test import Expected, Test, Value
from whence.source import Diagnostic, InputError, Origin, UsageError

__all__ = ["Cell", "Names", "bytes_of", "entry_function", "number_of"]


@dataclass(frozen=True, slots=True)
class Cell:
    value: Value | str
    origin: Origin


def entry_function(program: Program, entry: str) -> Function:
    """The function of this name. Raises UsageError if there is none, or more than one."""
    if entry in program.functions:
        return program.functions[entry]
    named = [function for function in program.functions.values() if function.name == entry]
    if len(named) == 1:
        return named[0]
    known = ", ".join(sorted(program.functions)) or "none"
    problem = "there is no function" if not named else "there are several functions"
    raise UsageError(Diagnostic(f"{problem} `{entry}`", hint=f"there are: {known[:200]}"))


def number_of(text: str) -> Value | str:
    """A number as C writes it, or a list of them in brackets, or a text as it is."""
    stripped = text.strip()
    if stripped.startswith("[") and stripped.endswith("]"):
        inner = stripped[1:-1].strip()
        if not inner:
            return []
        parts = [number_of(part) for part in inner.replace(";", ",").split(",")]
        if not any(isinstance(part, str) for part in parts):
            return [part for part in parts if not isinstance(part, str)]
        return text
    if stripped in ("NULL", "null"):
        return None
    if len(stripped) == 3 and stripped[0] == stripped[2] == "'":
        return ord(stripped[1])
    try:
        return int(stripped, 0)
    except ValueError:
        pass
    try:
        # As C has it: 017 is no number of Python.
        return int(stripped, 10)
    except ValueError:
        pass
    try:
        return float(stripped)
    except ValueError:
        return text


def bytes_of(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


class Names:
    """What the fields of tests mean for a function of a program."""

    def __init__(self, program: Program, entry: str) -> None:
        self.function = entry_function(program, entry)
        self.parameters = [parameter.name for parameter in self.function.parameters]
        self.globals: dict[str, str] = {}
        for key, known in program.globals.items():
            if not known.constant:
                self.globals.setdefault(known.variable.name, key)
                self.globals.setdefault(key, key)

    def check(self, fields: Iterable[tuple[str, Origin]]) -> list[Diagnostic]:
        """What is wrong with the names of fields."""
        found = []
        for name, origin in fields:
            if name in ("name", "argv", "stdin", "return", "stdout", "exit"):
                continue
            kind, _, rest = name.partition(".")
            known = {"args": self.parameters, "globals": self.globals, "expect": self.globals}
            if rest and kind in known:
                good = rest in known[kind]
            else:
                good = name in self.parameters or name in self.globals
            if not good:
                listed = ", ".join([*self.parameters, *sorted(self.globals)]) or "none"
                found.append(
                    Diagnostic(
                        f"`{name}` is neither a parameter of `{self.function.name}` nor a global "
                        "variable",
                        origin,
                        hint=f"there are: {listed[:200]}; and name, argv, stdin, return, stdout, "
                        "exit, expect.NAME",
                    )
                )
        return found

    def test(self, row: Mapping[str, Cell], name: str, origin: Origin) -> Test:
        """Raises InputError where values do not fit."""
        wrong: list[Diagnostic] = []
        args: dict[str, Value] = {}
        given: dict[str, Value] = {}
        after: dict[str, Value] = {}
        returned: tuple[Value] | None = None
        texts: dict[str, bytes] = {}
        argv: tuple[bytes, ...] = ()
        exit_code: int | None = None
        for field, cell in row.items():
            kind, _, rest = field.partition(".")
            value = cell.value
            if field == "name":
                name = str(value)
            elif field in ("stdin", "stdout"):
                texts[field] = bytes_of(value if isinstance(value, str) else str(value))
            elif field == "argv":
                argv = self._argv(cell, wrong)
            elif field == "exit":
                if isinstance(value, int):
                    exit_code = value & 0xFF
                else:
                    wrong.append(Diagnostic("an exit status is a number", cell.origin))
            elif isinstance(value, str) and kind != "expect" and field != "return":
                # A string, for what points at characters.
                self._input(field, bytes_of(value), args, given)
            elif isinstance(value, str):
                wrong.append(Diagnostic(f"`{value}` is no number", cell.origin))
            elif field == "return":
                returned = (value,)
            elif kind == "expect" and rest:
                after[rest] = value
            else:
                self._input(field, value, args, given)
        missing = [one for one in self.parameters if one not in args]
        process = self.function.name == "main" and not args
        if missing and not process:
            needed = ", ".join(missing)
            wrong.append(Diagnostic(f"test {name} gives no value for {needed}", origin))
        if wrong:
            raise InputError(wrong)
        expected = Expected(returned, MappingProxyType(after), texts.get("stdout"), exit_code)
        return Test(
            name,
            None if process else tuple(args[one] for one in self.parameters),
            MappingProxyType(given),
            argv,
            texts.get("stdin", b""),
            expected,
            origin,
        )

    def _input(
        self, field: str, value: Value, args: dict[str, Value], given: dict[str, Value]
    ) -> None:
        kind, _, rest = field.partition(".")
        if kind == "args" and rest in self.parameters:
            args[rest] = value
        elif kind == "globals" and rest in self.globals:
            given[rest] = value
        elif field in self.parameters:
            args[field] = value
        else:
            given[field] = value

    def _argv(self, cell: Cell, wrong: list[Diagnostic]) -> tuple[bytes, ...]:
        if isinstance(cell.value, list):
            return tuple(
                one if isinstance(one, bytes) else bytes_of(str(one)) for one in cell.value
            )
        try:
            return tuple(bytes_of(word) for word in shlex.split(str(cell.value)))
        except ValueError:
            wrong.append(Diagnostic("a quote in argv is not closed", cell.origin))
            return ()
