"""What all rules of expressions share: names, requirements, and where an expression stands."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from whence.expr.check_clocks import is_clocked
from whence.expr.check_compare import (
    describe,
    is_integral,
)
from whence.expr.constants import fold
from whence.expr.faults import EvaluationError
from whence.expr.scope import (
    AliasEntry,
    BrokenEntry,
    ConstantEntry,
    Context,
    Domain,
    Entry,
    FamilyEntry,
    FunctionEntry,
    Problem,
    ProcessEntry,
    Scope,
    TemplateEntry,
    TypeEntry,
    VariableEntry,
)
from whence.expr.tree import (
    BoolLiteral,
    Expr,
    Field,
    Index,
    IntLiteral,
    Name,
    Symbol,
    SymbolKind,
    TypeSyntax,
)
from whence.expr.types import (
    IntType,
    Type,
)
from whence.source import Origin

__all__ = [
    "Mode",
    "NameRules",
    "Place",
    "Unroll",
    "kind_of",
    "literal_type",
    "moved",
    "root_symbol",
]


class Mode(Enum):
    """What clocks may be used for where an expression stands."""

    DATA = "data"
    CONSTRAINT = "constraint"  # guards and invariants: conjunctions of clock constraints
    FORMULA = "formula"  # state formulas of properties: any boolean combination


class Place(NamedTuple):
    """Where an expression stands: what it is called, and what it may do there."""

    name: str
    mode: Mode = Mode.DATA
    effects: bool = False


class Unroll(Exception):
    """Something depends on bound variables that has to be known: the quantifiers that bind
    them are to be written out."""

    def __init__(self, symbols: frozenset[Symbol], origin: Origin) -> None:
        super().__init__()
        self.symbols = symbols
        self.origin = origin


class NameRules:
    """The state of a check, and the rules that all others are made of.

    After a check, `shared` says whether the result is the same for every instance of the
    template; `parametric`, whether it depends on the values of its parameters; `writes`,
    whether evaluating it may change a variable.
    """

    def __init__(self, context: Context) -> None:
        self.context = context
        self.place = Place("an expression")
        self.shared = True
        self.parametric = False
        self.writes = False
        self.dead = 0
        self.unrolled: int | None = None

    def domain(self, syntax: TypeSyntax, scope: Scope) -> Domain:
        raise NotImplementedError

    def process_path(self, expr: Field, scope: Scope) -> Expr | None:
        """`P.location` or `P.variable` in a property; None if it is not of that form."""
        raise NotImplementedError

    def visit(self, expr: Expr, scope: Scope) -> Expr:
        """`expr` checked, of whatever type it is."""
        raise NotImplementedError

    def start(self, place: Place) -> None:
        self.place = place
        self.shared = True
        self.parametric = False
        self.writes = False
        self.dead = 0
        self.unrolled = None

    def integer(self, expr: Expr, scope: Scope, what: str) -> Expr:
        """`expr`, which has to be an integer or a truth value."""
        checked = self.visit(expr, scope)
        self.require_integer(checked, what)
        return checked

    def require_integer(self, checked: Expr, what: str) -> None:
        if not is_integral(checked.type):
            self.reject(checked, what, "an integer")

    def reject(self, checked: Expr, what: str, expected: str) -> None:
        type_ = checked.type
        if is_clocked(type_):
            raise Problem(
                f"reading the value of a clock ({what})",
                checked.origin,
                "clocks may only be compared with integers, in guards, invariants and properties",
                unsupported=True,
            )
        raise Problem(f"{what} must be {expected}, found {describe(type_)}", checked.origin)

    def constant(self, checked: Expr) -> int | None:
        """The value of a checked expression, or None if it is not a constant."""
        try:
            return fold(checked, self.context.values)
        except EvaluationError as error:
            raise Problem(str(error), error.origin, about_value=True) from None

    def probe(self, checked: Expr) -> int | None:
        """Like `constant`, but a fault is only a problem if it is sure to happen at run time:
        not in a branch that constants decide against, and not if parameters are involved
        (another part of the template may keep the fault from happening)."""
        try:
            return fold(checked, self.context.values)
        except EvaluationError as error:
            self.value_problem(str(error), error.origin)
            return None

    def value_problem(self, message: str, origin: Origin) -> None:
        if not self.dead and not self.parametric:
            raise Problem(message, origin, about_value=True)

    def check_divisor(self, op: str, right: Expr, origin: Origin) -> None:
        if op in ("/", "%") and self.probe(right) == 0:
            self.value_problem("division by zero", origin)
        elif op in ("<<", ">>"):
            amount = self.probe(right)
            if amount is not None and not 0 <= amount <= 31:
                self.value_problem(f"a shift by {amount} (expected 0 to 31)", origin)

    def entry(self, name: str, origin: Origin, scope: Scope, *wanted: type) -> Entry:
        found = scope.find(name)
        if found is None:
            raise Problem(f"unknown name `{name}`", origin, scope.suggestion(name, *wanted))
        entry, where = found
        if not where.shared:
            self.shared = False
            self.parametric |= isinstance(entry, ConstantEntry)
        if isinstance(entry, BrokenEntry):
            raise Problem("", origin)
        return entry

    def name_of(self, expr: Name, scope: Scope) -> Expr:
        entry = self.entry(expr.name, expr.origin, scope, VariableEntry, ConstantEntry, AliasEntry)
        match entry:
            case VariableEntry(symbol):
                return Name(expr.name, symbol, type=symbol.type, origin=expr.origin)
            case ConstantEntry(literal):
                if isinstance(literal, IntLiteral):
                    return IntLiteral(literal.value, type=literal.type, origin=expr.origin)
                return BoolLiteral(literal.value, type=literal.type, origin=expr.origin)
            case AliasEntry(target):
                return moved(target, expr.origin)
            case _:
                raise Problem(
                    f"expected a variable or constant, but `{expr.name}` is {kind_of(entry)}",
                    expr.origin,
                    f"write {expr.name}.location"
                    if isinstance(entry, ProcessEntry | FamilyEntry)
                    else "",
                )

    def target(self, expr: Expr, scope: Scope, what: str) -> Expr:
        """An lvalue that may be changed here."""
        root = expr
        while isinstance(root, Index | Field):
            root = root.array if isinstance(root, Index) else root.record
        if not isinstance(root, Name):
            raise Problem(f"{what} needs a variable", expr.origin)
        entry = self.entry(root.name, root.origin, scope, VariableEntry, ConstantEntry, AliasEntry)
        if isinstance(entry, ConstantEntry) or (
            isinstance(entry, VariableEntry | AliasEntry) and not entry.writable
        ):
            kind = "a constant"
            if isinstance(entry, VariableEntry) and entry.symbol.kind in (
                SymbolKind.SELECT,
                SymbolKind.BOUND,
            ):
                kind = f"a {entry.symbol.kind.value}"
            raise Problem(f"{what} cannot change `{root.name}`, which is {kind}", expr.origin)
        checked = self.visit(expr, scope)
        symbol = root_symbol(checked)
        if not self.place.effects:
            raise Problem(f"{what} is not allowed in {self.place.name}", expr.origin)
        if symbol is not None and symbol.kind is SymbolKind.VARIABLE:
            self.writes = True
        return checked


def literal_type(type_: Domain, value: int) -> Type:
    """The type of a literal that stands for a constant: only integers forget their range."""
    return IntType(value, value) if isinstance(type_, IntType) else type_


def root_symbol(expr: Expr) -> Symbol | None:
    """The variable that an lvalue is a part of."""
    while isinstance(expr, Index | Field):
        expr = expr.array if isinstance(expr, Index) else expr.record
    return expr.symbol if isinstance(expr, Name) else None


def moved(target: Expr, origin: Origin) -> Expr:
    """A checked lvalue as it is used elsewhere."""
    match target:
        case Name():
            return Name(target.name, target.symbol, type=target.type, origin=origin)
        case Index():
            return Index(target.array, target.index, type=target.type, origin=origin)
        case Field():
            return Field(target.record, target.name, type=target.type, origin=origin)
        case _:
            return target


def kind_of(entry: Entry) -> str:
    match entry:
        case TypeEntry():
            return "a type"
        case FunctionEntry():
            return "a function"
        case TemplateEntry():
            return "a template"
        case ProcessEntry() | FamilyEntry():
            return "a process"
        case ConstantEntry():
            return "a constant"
        case _:
            return "a variable"
