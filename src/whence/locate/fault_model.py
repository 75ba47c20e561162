"""What can be faulty, and what that means (Graussam, chapter 4).

A *component* is a place in the source: a line, or a statement.  If it is not healthy, what its
assignments, decisions, returned values and arguments come to is anything of their type; paths still
merge as they did (section 4.2.3).  Checks of pointers and bounds within it hold no more, as
decisions 1 to 6 have it.

Beyond the thesis, definitions of macros, constants of enumerations, sizes of arrays and
initialisers are components too.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final, Literal

from whence.model.program import (
    Assert,
    Assign,
    Call,
    Evaluate,
    Expansion,
    Function,
    If,
    Loop,
    Program,
    Return,
    Statement,
    Switch,
)
from whence.model.program_walk import statements
from whence.source import Origin

__all__ = [
    "CHECKS",
    "LIKE_THESIS",
    "Check",
    "Decisions",
    "FaultModel",
    "Granularity",
    "Place",
    "Suspects",
]

Granularity = Literal["line", "statement", "expression"]
Check = Literal["bounds", "pointers", "division", "shifts", "overflow", "uninitialised"]
CHECKS: Final[tuple[Check, ...]] = (
    "bounds",
    "pointers",
    "division",
    "shifts",
    "overflow",
    "uninitialised",
)
Kind = Literal["line", "statement", "expression", "macro", "constant", "array size", "initialiser"]


@dataclass(frozen=True, slots=True)
class Decisions:
    """Decisions 1 to 6 of sections 4.2.4 and 4.2.5; true is "b", what the thesis prefers. 1, 2, 4
    and 5: are checks dropped with the component, of pointers that are read and written through, of
    indices that are read and written at? 3 and 6: is only what is written anything, and not all
    that a pointer could point at, or the whole array?"""

    read_pointers: bool = True
    written_pointers: bool = True
    exact_dereference: bool = True
    read_bounds: bool = True
    written_bounds: bool = True
    exact_index: bool = True


@dataclass(frozen=True, slots=True)
class FaultModel:
    """With the granularity "expression", parts of expressions are components besides statements.
    `definitions`: macros, sizes of arrays and initialisers can be faulty. `trusted` are
    functions in which nothing is."""

    granularity: Granularity = "statement"
    decisions: Decisions = field(default_factory=Decisions)
    checks: frozenset[Check] = frozenset(
        ("bounds", "pointers", "division", "shifts", "uninitialised")
    )
    definitions: bool = True
    trusted: frozenset[str] = frozenset()


#: The implementation of the thesis: lines, decisions 3.a and 6.a (table 6.1).
LIKE_THESIS: Final = FaultModel(
    "line",
    Decisions(exact_dereference=False, exact_index=False),
    frozenset(("bounds", "pointers")),
    definitions=False,
)


@dataclass(frozen=True, slots=True)
class Place:
    """A component: where it is, and what of it is there."""

    kind: Kind
    origin: Origin
    name: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.name}".strip()


class Suspects:
    """Which places the parts of a program belong to. The same place is the same value."""

    def __init__(self, program: Program, model: FaultModel) -> None:
        self.model = model
        self._places: dict[object, Place] = {}
        #: Of statements by number; None: what it does is not in doubt.
        self.of_statement: dict[int, Place | None] = {}
        for function in program.functions.values():
            self._statements(function)

    def _place(self, kind: Kind, origin: Origin, name: str = "") -> Place:
        if self.model.granularity == "line":
            key: object = (origin.file, origin.line)
            place = Place("line", replace(origin, end_line=origin.line), "")
        else:
            key = (kind, origin)
            place = Place(kind, origin, name)
        return self._places.setdefault(key, place)

    def _statements(self, function: Function) -> None:
        trusted = bool({function.key, function.name} & self.model.trusted)
        whole = [
            (statement, origin)
            for statement in statements(function.body)
            for origin in [_extent(statement)]
            if origin is not None
        ]
        # Of what begins at one place, the longest first: it contains the others.
        whole.sort(key=lambda pair: (*_start(pair[1]), *(-at for at in _end(pair[1])[1:])))
        outer: Origin | None = None
        stated = False
        for statement, origin in whole:
            if outer is None or not _inside(origin, outer):
                outer, stated = origin, isinstance(statement, Assert)
            elif origin == outer and isinstance(statement, Assert):
                stated = True
            place = None
            if not stated and not trusted and origin.line:
                place = self._place("statement", outer)
            self.of_statement[statement.number] = place

    def macro(self, expansion: Expansion) -> Place | None:
        """Of the definition of a macro, or of the constant of an enumeration."""
        if not self.model.definitions or not expansion.definition.line:
            return None
        kind: Kind = "constant" if expansion.enumerated else "macro"
        return self._place(kind, expansion.definition, expansion.macro)

    def part(self, origin: Origin, statement: Place) -> Place | None:
        """Of a part of an expression that stands in a statement."""
        if self.model.granularity != "expression" or not origin.line:
            return None
        whole = statement.origin
        if origin == whole or not _inside(origin, whole):
            return None
        return self._place("expression", origin)

    def array_size(self, origin: Origin, name: str, function: str) -> Place | None:
        if not self.model.definitions or not origin.line or function in self.model.trusted:
            return None
        return self._place("array size", origin, name)

    def initialiser(self, origin: Origin, name: str) -> Place | None:
        if not self.model.definitions or not origin.line:
            return None
        return self._place("initialiser", origin, name)


def _extent(statement: Statement) -> Origin | None:
    match statement:
        case Loop() if statement.condition is None or statement.tests_last:
            # Its origin is all of the loop: what is in doubt is whether it goes on.
            condition = statement.condition
            if condition is not None and _inside(condition.origin, statement.origin):
                return condition.origin
            start = statement.origin
            return replace(start, end_line=start.line, end_column=start.column + 3)
        case Assign() | Call() | Evaluate() | Return() | If() | Loop() | Switch() | Assert():
            return statement.origin
    return None


def _start(origin: Origin) -> tuple[str, int, int]:
    return (origin.file, origin.line, origin.column)


def _end(origin: Origin) -> tuple[str, int, int]:
    return (origin.file, origin.end_line, origin.end_column)


def _inside(inner: Origin, outer: Origin) -> bool:
    return _start(inner) >= _start(outer) and _end(inner) <= _end(outer)
