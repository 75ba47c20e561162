"""The checker: names are resolved, types are given, and what makes no sense is refused.

:class:`Checker` checks what stands in one place of a model, in a given scope::

    checker = Checker(context)
    guard = checker.guard(parse_expression(text), scope)

Each method returns the checked tree or raises :class:`whence.expr.scope.Problem`; declarations
note their problems in the context and go on.  Of a checked guard or invariant, later stages can
rely on that:

* it is a conjunction (`&&`, `forall`) of integer conditions, clock comparisons, and `c || p` and
  `c imply p` with `c` free of clocks and `p` such a conjunction again;
* a clock comparison is `x ~ e` or `x - y ~ e`, with `x` and `y` clocks (names, elements or
  fields), `~` one of `<`, `<=`, `>`, `>=`, `==`, and `e` free of clocks.

State formulas are built of the same comparisons by any connectives.
"""

from __future__ import annotations

from whence.expr.check_compare import describe
from whence.expr.check_names import Mode, Place, Unroll
from whence.expr.check_statements import (
    Declaration,
    Declarations,
    StatementRules,
    constant_literal,
)
from whence.expr.scope import Context, Domain, Problem, Scope, TypeEntry, VariableEntry
from whence.expr.tree import Expr, QuerySyntax, SelectSyntax, Symbol, SymbolKind
from whence.expr.types import CONSTRAINT, ChannelType, ClockType, IntType

__all__ = [
    "Checker",
    "Declaration",
    "Declarations",
    "builtin_scope",
    "constant_literal",
]

_GUARD = Place("a guard", Mode.CONSTRAINT)
_INVARIANT = Place("an invariant", Mode.CONSTRAINT)
_FORMULA = Place("a property", Mode.FORMULA)
_UPDATE = Place("an update", effects=True)
_SYNCHRONISATION = Place("a synchronisation")
_SELECT = Place("a select")
_ARGUMENT = Place("an argument")
_REFERENCE = Place("an argument", effects=True)


def builtin_scope() -> Scope:
    """The names that UPPAAL declares itself."""
    scope = Scope("", shared=True)
    for bits in (8, 16, 32):
        lo, hi = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
        for name, value in ((f"INT{bits}_MIN", lo), (f"INT{bits}_MAX", hi)):
            symbol = Symbol("", name, SymbolKind.CONSTANT, IntType(value, value))
            scope.declare(name, StatementRules(Context()).constant_entry(symbol, (value,)))
        scope.declare(f"int{bits}_t", TypeEntry(IntType(lo, hi)))
        if bits < 32:
            top = 2**bits - 1
            symbol = Symbol("", f"UINT{bits}_MAX", SymbolKind.CONSTANT, IntType(top, top))
            scope.declare(symbol.name, StatementRules(Context()).constant_entry(symbol, (top,)))
            scope.declare(f"uint{bits}_t", TypeEntry(IntType(0, top)))
    return scope


class Checker(StatementRules):
    """Checks what stands in the elements of a model. Not to be shared between threads."""

    def guard(self, expr: Expr, scope: Scope) -> Expr:
        return self._condition_of(expr, scope, _GUARD)

    def invariant(self, expr: Expr, scope: Scope) -> Expr:
        return self._condition_of(expr, scope, _INVARIANT)

    def _condition_of(self, expr: Expr, scope: Scope, place: Place) -> Expr:
        self.start(place)
        checked = self.visit(expr, scope)
        if checked.type != CONSTRAINT:
            self.require_integer(checked, place.name)
        return checked

    def integer_value(self, expr: Expr, scope: Scope, what: str = "this expression") -> Expr:
        """An integer expression without side effects, free of clocks."""
        self.start(Place(what))
        return self.integer(expr, scope, what)

    def update(self, expr: Expr, scope: Scope, dead: bool = False) -> Expr:
        """An expression of an update label; `dead`, if its edge can never be taken."""
        self.start(_UPDATE)
        self.dead = int(dead)
        return self.visit(expr, scope)

    def channel(self, expr: Expr, scope: Scope, dead: bool = False) -> Expr:
        self.start(_SYNCHRONISATION)
        self.dead = int(dead)
        checked = self.visit(expr, scope)
        if not isinstance(checked.type, ChannelType):
            raise Problem(f"expected a channel, found {describe(checked.type)}", checked.origin)
        return checked

    def select(self, syntax: SelectSyntax, scope: Scope, inner: Scope) -> tuple[Symbol, Domain]:
        """A select variable, declared in the scope of its edge."""
        self.start(_SELECT)
        type_ = self.domain(syntax.domain, scope)
        symbol = Symbol(inner.name, syntax.name, SymbolKind.SELECT, type_)
        inner.declare(syntax.name, VariableEntry(symbol, writable=False), syntax.origin)
        return symbol, type_

    def argument(self, expr: Expr, scope: Scope) -> Expr:
        """An argument of a template, of any type."""
        self.start(_ARGUMENT)
        return self.visit(expr, scope)

    def reference(self, expr: Expr, scope: Scope) -> Expr:
        """An argument that is passed by reference: a variable that may be changed."""
        self.start(_REFERENCE)
        return self.target(expr, scope, "passing by reference")

    # --------------------------------------------------------------------------- properties

    def formula(self, expr: Expr, scope: Scope) -> Expr:
        """A state formula: true or false of a state, with any use of clock constraints."""
        checked = self._property(expr, scope)
        if checked.type != CONSTRAINT:
            self.require_integer(checked, "a state formula")
        return checked

    def measure(self, expr: Expr, scope: Scope) -> Expr:
        """What `sup` and `inf` ask for: an integer expression, or a clock."""
        checked = self._property(expr, scope)
        if not isinstance(checked.type, ClockType):
            if checked.type == CONSTRAINT:
                raise Problem(
                    "expected an integer or a clock, found a clock constraint", checked.origin
                )
            self.require_integer(checked, "what `sup` and `inf` ask for")
        return checked

    def _property(self, expr: Expr, scope: Scope) -> Expr:
        self.start(_FORMULA)
        try:
            return self.visit(expr, scope)
        except Unroll as unroll:
            raise AssertionError(f"nobody binds {unroll.symbols}") from None

    def query(self, syntax: QuerySyntax, scope: Scope) -> QuerySyntax:
        """The query with its expressions checked."""
        return QuerySyntax(
            syntax.kind,
            None if syntax.predicate is None else self.formula(syntax.predicate, scope),
            None if syntax.second is None else self.formula(syntax.second, scope),
            tuple(self.measure(expr, scope) for expr in syntax.expressions),
            origin=syntax.origin,
        )
