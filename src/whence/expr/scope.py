"""Names in scope and what they stand for, and the problems found while looking them up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from difflib import get_close_matches

from whence.expr.tree import BoolLiteral, Expr, Function, IntLiteral, Parameter, Symbol
from whence.expr.types import BoolType, IntType, ScalarType, Type
from whence.source import NOWHERE, Diagnostic, InputError, Origin, UnsupportedError

__all__ = [
    "AliasEntry",
    "BrokenEntry",
    "ConstantEntry",
    "Context",
    "Domain",
    "Entry",
    "FamilyEntry",
    "FunctionEntry",
    "Problem",
    "Problems",
    "ProcessEntry",
    "Scope",
    "TemplateEntry",
    "TypeEntry",
    "VariableEntry",
]

#: What quantifiers, selects and process families range over.
Domain = IntType | ScalarType | BoolType


# ---------------------------------------------------------------------------------- problems


class Problem(Exception):
    """One thing that is wrong in what is being checked.

    `about_value` marks what depends on the value of a constant (and so on the instance of a
    template).  An empty message says that somebody else has already complained.
    """

    def __init__(
        self,
        message: str,
        origin: Origin = NOWHERE,
        hint: str = "",
        *,
        unsupported: bool = False,
        about_value: bool = False,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.origin = origin
        self.hint = hint
        self.unsupported = unsupported
        self.about_value = about_value


class Problems:
    """Collects problems, each (place, message) once, to be raised together."""

    def __init__(self) -> None:
        self._found: dict[tuple[Origin, str], Diagnostic] = {}
        self._all_unsupported = True
        #: While a template is checked that no process uses, its values are placeholders, and
        #: what we do not support in it does no harm.
        self.placeholders = False
        #: The process that is being checked, if its template has parameters.
        self.instance = ""

    def __len__(self) -> int:
        return len(self._found)

    def add(self, problem: Problem, element: str = "") -> None:
        if not problem.message:
            return
        if self.placeholders and (problem.about_value or problem.unsupported):
            return
        message = problem.message
        if problem.unsupported:
            message = f"not supported: {message}"
        if self.instance:
            element = f"{element} (process {self.instance})"
        self._note(
            Diagnostic(message, problem.origin, problem.hint, element),
            problem.unsupported,
        )

    def add_error(self, error: InputError) -> None:
        """What the parser or the reader complained about."""
        unsupported = isinstance(error, UnsupportedError)
        if not (self.placeholders and unsupported):
            for diagnostic in error.diagnostics:
                self._note(diagnostic, unsupported)

    def _note(self, diagnostic: Diagnostic, unsupported: bool) -> None:
        self._found.setdefault((diagnostic.origin, diagnostic.message), diagnostic)
        self._all_unsupported &= unsupported

    @contextmanager
    def collecting(self, element: str = "") -> Iterator[None]:
        try:
            yield
        except Problem as problem:
            self.add(problem, element)
        except InputError as error:
            self.add_error(error)

    def raise_any(self) -> None:
        if self._found:
            kind = UnsupportedError if self._all_unsupported else InputError
            raise kind(self._found.values())


# ----------------------------------------------------------------------------------- entries


@dataclass(frozen=True, slots=True)
class VariableEntry:
    """Anything with a place in memory; a constant array is one that is not `writable`."""

    symbol: Symbol
    writable: bool = True


@dataclass(frozen=True, slots=True)
class ConstantEntry:
    """A constant of one cell: its uses are replaced by the literal."""

    literal: IntLiteral | BoolLiteral


@dataclass(frozen=True, slots=True)
class AliasEntry:
    """A template's reference parameter: its uses are replaced by the (checked) target."""

    target: Expr
    writable: bool = True


@dataclass(frozen=True, slots=True)
class TypeEntry:
    type: Type
    const: bool = False
    meta: bool = False


@dataclass(slots=True)
class FunctionEntry:
    """`writes`: a call may change variables other than its arguments."""

    symbol: Symbol
    parameters: tuple[Parameter, ...]
    writes: bool = False


@dataclass(frozen=True, slots=True)
class TemplateEntry:
    """The name of a template, which only the system declaration may use."""

    name: str


@dataclass(frozen=True, slots=True)
class ProcessEntry:
    """Process number `number`, for properties: its locations by name, and its own names."""

    number: int
    name: str
    locations: Mapping[str, int]
    scope: Scope


@dataclass(frozen=True, slots=True)
class FamilyEntry:
    """All processes of a template with parameters, in order of the parameters' values.

    `domains` is None where the processes are not all combinations of independent ranges.
    """

    name: str
    domains: tuple[Domain, ...] | None
    members: Mapping[tuple[int, ...], ProcessEntry]


@dataclass(frozen=True, slots=True)
class BrokenEntry:
    """A name whose declaration was wrong: uses of it are not complained about again."""


Entry = (
    VariableEntry
    | ConstantEntry
    | AliasEntry
    | TypeEntry
    | FunctionEntry
    | TemplateEntry
    | ProcessEntry
    | FamilyEntry
    | BrokenEntry
)


# ------------------------------------------------------------------------------------ scopes


@dataclass(slots=True)
class _Counter:
    value: int = 0


@dataclass(slots=True)
class Scope:
    """Names declared in one place; what is not found here is looked up in `parent`.

    `base` is the global scope (""), a process, a function or an edge; the blocks and quantifiers
    in it are numbered, so that no two symbols have the same scope and name.
    """

    name: str
    parent: Scope | None = None
    base: str = ""
    entries: dict[str, Entry] = field(default_factory=dict)
    places: dict[str, Origin] = field(default_factory=dict)
    counter: _Counter = field(default_factory=_Counter)
    #: The same for every instance of a template.
    shared: bool = False

    def child(self, name: str) -> Scope:
        """A scope of its own inside this one: a process, a function, an edge."""
        return Scope(name, self, name)

    def nested(self) -> Scope:
        """A block or quantifier in this scope."""
        self.counter.value += 1
        return Scope(f"{self.base}/{self.counter.value}", self, self.base, counter=self.counter)

    def declare(self, name: str, entry: Entry, origin: Origin = NOWHERE) -> None:
        if name in self.entries:
            place = self.places.get(name)
            raise Problem(
                f"`{name}` is declared twice in the same scope",
                origin,
                f"the first declaration is at {place}" if place else "",
            )
        self.entries[name] = entry
        self.places[name] = origin

    def find(self, name: str) -> tuple[Entry, Scope] | None:
        scope: Scope | None = self
        while scope is not None:
            entry = scope.entries.get(name)
            if entry is not None:
                return entry, scope
            scope = scope.parent
        return None

    def visible(self) -> Iterator[tuple[str, Entry]]:
        scope: Scope | None = self
        while scope is not None:
            yield from scope.entries.items()
            scope = scope.parent

    def suggestion(self, name: str, *kinds: type) -> str:
        """A hint with the most similar name that stands for one of `kinds`."""
        names = [other for other, entry in self.visible() if not kinds or isinstance(entry, kinds)]
        return suggestion(name, names)


def suggestion(name: str, names: list[str]) -> str:
    """A hint that names the most similar of `names`, or ""."""
    near = get_close_matches(name, names, 1, 0.6)
    if not near:
        folded = [other for other in names if other.lower() == name.lower()]
        near = folded[:1]
    return f"did you mean `{near[0]}`?" if near else ""


@dataclass(slots=True)
class Context:
    """What all checks of one model share: values of constants, checked functions, and which
    scalar set each `scalar[n]` declares."""

    problems: Problems = field(default_factory=Problems)
    values: dict[Symbol, tuple[int, ...]] = field(default_factory=dict)
    functions: dict[Symbol, Function] = field(default_factory=dict)
    scalar_sets: dict[tuple[str, Origin], ScalarType] = field(default_factory=dict)
