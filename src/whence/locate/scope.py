"""Which names could stand instead of which, as the program's types have it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from whence.formats.c.spelled import Spelled, parts_of
from whence.locate.layout import is_scalar
from whence.locate.regions import SourceFile, statement_regions
from whence.model.program import IntType, Program, Type
from whence.model.program_walk import statements

__all__ = ["Scope", "number_of", "scope_of"]

_DEFINE: Final = re.compile(r"^[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w*)[ \t]+(\S.*)$", re.MULTILINE)
_COMMENT: Final = re.compile(r"/\*.*?(\*/|$)|//.*")
_MOST_CONDITIONS: Final = 60
_MOST_ATOMS: Final = 30
_MOST_INNER: Final = 12


@dataclass(frozen=True)
class Scope:
    """What one file of a program speaks of. `numbers` are macros that are numbers; `functions` take
    nothing and return an integer. `conditions` are written somewhere in the file and speak of
    nothing local."""

    program: Program
    names: Mapping[str, Type]
    functions: Mapping[str, Type]
    numbers: Mapping[str, int]
    conditions: Sequence[str]
    #: Those that speak of variables of a function, by its key.
    inner: Mapping[str, Sequence[str]]
    #: Integers that stand in the text.
    constants: frozenset[int]

    def type_of(self, name: str, function: str) -> Type | None:
        for variable in self._locals(function):
            if variable[0] == name:
                return variable[1]
        return self.names.get(name)

    def _locals(self, function: str) -> list[tuple[str, Type]]:
        known = self.program.functions.get(function)
        if known is None:
            return []
        return [
            (each.name, each.type)
            for each in known.variables
            if each.storage in ("local", "parameter") and each.name.isidentifier()
        ]

    def locals(self, type: Type, function: str) -> list[str]:
        found = [name for name, held in self._locals(function) if held == type]
        return sorted(set(found))[:_MOST_ATOMS]

    def atoms(self, type: Type) -> list[str]:
        """Variables and calls of this type that mean the same everywhere in the file."""
        found = [name for name, held in self.names.items() if held == type]
        found += [f"{name}()" for name, held in self.functions.items() if held == type]
        return found[:_MOST_ATOMS]


def number_of(text: str) -> int | None:
    """The integer that a literal is."""
    word = text.rstrip("uUlL")
    try:
        if len(word) > 1 and word[0] == "0" and word.isdigit():
            return int(word, 8)
        return int(word, 0)
    except ValueError:
        return None


def scope_of(program: Program, source: SourceFile) -> Scope:
    names = {
        entry.variable.name: entry.variable.type
        for entry in program.globals.values()
        if not entry.constant
        and not entry.variable.function
        and entry.variable.name.isidentifier()
        and (is_scalar(entry.variable.type))
        and (entry.variable.storage == "global" or entry.variable.origin.file == source.name)
    }
    functions = {
        function.name: function.type.result
        for function in program.functions.values()
        if not function.parameters
        and isinstance(function.type.result, IntType)
        and function.name != "main"
        and (not function.static or function.origin.file == source.name)
    }
    numbers = {}
    for match in _DEFINE.finditer(source.text):
        value = number_of(_COMMENT.sub("", match[2]).strip(" \t\r()"))
        if value is not None:
            numbers[match[1]] = value
    known = {*names, *(each.name for each in program.functions.values()), *numbers}
    conditions: dict[str, None] = {}
    inner: dict[str, list[str]] = {}
    constants: set[int] = set(numbers.values())
    for function in program.functions.values():
        origins = [each.origin for each in statements(function.body)]
        own = {each.name for each in function.variables}
        here: dict[str, None] = {}
        for region in statement_regions(source, origins, function):
            for part in parts_of(region.tree):
                text = source.text[part.start : part.end]
                if part.kind == "number":
                    value = number_of(text)
                    if value is not None:
                        constants.add(value)
                if _is_condition(part, text, functions):
                    named = _names(source, part)
                    if named <= known - own:
                        conditions.setdefault(" ".join(text.split()))
                    elif named <= known | own:
                        here.setdefault(" ".join(text.split()))
        inner[function.key] = list(here)[:_MOST_INNER]
    first = list(conditions)[:_MOST_CONDITIONS]
    return Scope(program, names, functions, numbers, first, inner, frozenset(constants))


def _is_condition(part: Spelled, text: str, functions: Mapping[str, Type]) -> bool:
    if part.kind == "call":
        return text.partition("(")[0].strip() in functions
    return part.kind == "relation" and all(
        inner.kind not in ("assignment", "postfix")
        and not (inner.kind == "prefix" and inner.operator in ("++", "--", "&", "*"))
        for inner in parts_of(part)
    )


def _names(source: SourceFile, tree: Spelled) -> set[str]:
    return {source.text[part.start : part.end] for part in parts_of(tree) if part.kind == "name"}
