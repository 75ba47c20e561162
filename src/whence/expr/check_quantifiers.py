"""The rules of `forall`, `exists` and `sum`."""

from __future__ import annotations

from whence.expr.check_names import (
    Mode,
    NameRules,
    Unroll,
    literal_type,
)
from whence.expr.constants import bounds
from whence.expr.scope import (
    ConstantEntry,
    Domain,
    Problem,
    Scope,
    VariableEntry,
)
from whence.expr.tree import (
    Binary,
    BoolLiteral,
    Expr,
    IntLiteral,
    Quantifier,
    Symbol,
    SymbolKind,
)
from whence.expr.types import (
    BOOL,
    CONSTRAINT,
    INT32,
    BoolType,
    Type,
)

__all__ = ["QuantifierRules"]

#: How many nodes a property may grow to when its quantifiers are written out.
UNROLL_LIMIT = 100_000


class QuantifierRules(NameRules):
    """Checks quantifiers, and writes them out where their bodies need to know the values."""

    def count_unrolled(self, expr: Expr) -> None:
        """Note one more node of a quantifier that is being written out."""
        assert self.unrolled is not None
        self.unrolled += 1
        if self.unrolled > UNROLL_LIMIT:
            raise Problem(
                f"a property of more than {UNROLL_LIMIT} nodes when its quantifiers are "
                "written out",
                expr.origin,
                unsupported=True,
            )

    def quantifier(self, expr: Quantifier, scope: Scope) -> Expr:
        assert expr.domain is not None
        type_ = self.domain(expr.domain, scope)
        inner = scope.nested()
        self.shared = False
        symbol = Symbol(inner.name, expr.variable, SymbolKind.BOUND, type_)
        inner.declare(expr.variable, VariableEntry(symbol, writable=False), expr.origin)
        place = self.place
        self.place = place._replace(effects=False, name=f"the body of `{expr.kind}`")
        if place.mode is not Mode.DATA:
            self.place = place._replace(effects=False)
        try:
            body = self.visit(expr.body, inner)
        except Unroll as unroll:
            if symbol not in unroll.symbols:
                raise
            return self._unroll(expr, type_, scope)
        finally:
            self.place = place
        result = self._quantified_type(expr, body)
        return Quantifier(
            expr.kind, expr.variable, expr.domain, body, symbol, type=result, origin=expr.origin
        )

    def _quantified_type(self, expr: Quantifier, body: Expr) -> Type:
        if body.type == CONSTRAINT and expr.kind != "sum":
            if expr.kind == "exists" and self.place.mode is not Mode.FORMULA:
                raise Problem(
                    f"`exists` over clock constraints in {self.place.name}",
                    expr.origin,
                    "use an edge with a select",
                    unsupported=True,
                )
            return CONSTRAINT
        self.require_integer(body, f"the body of `{expr.kind}`")
        return INT32 if expr.kind == "sum" else BOOL

    def _unroll(self, expr: Quantifier, type_: Domain, scope: Scope) -> Expr:
        """The quantifier written out, one copy of its body for each value."""
        lo, hi = bounds(type_)
        if self.unrolled is None:
            self.unrolled = 0
        op = {"forall": "&&", "exists": "||", "sum": "+"}[expr.kind]
        bodies: list[Expr] = []
        for value in range(lo, hi + 1):
            inner = scope.nested()
            literal: IntLiteral | BoolLiteral
            if isinstance(type_, BoolType):
                literal = BoolLiteral(bool(value), type=BOOL)
            else:
                literal = IntLiteral(value, type=literal_type(type_, value))
            inner.declare(expr.variable, ConstantEntry(literal), expr.origin)
            bodies.append(self.visit(expr.body, inner))
            self._quantified_type(expr, bodies[-1])
        # A balanced tree, so that nobody who walks it needs a deep stack.
        while len(bodies) > 1:
            pairs = [
                Binary(op, left, right, type=_joined(op, left, right), origin=expr.origin)
                for left, right in zip(bodies[::2], bodies[1::2], strict=False)
            ]
            bodies = [*pairs, *bodies[len(pairs) * 2 :]]
        return bodies[0]


def _joined(op: str, left: Expr, right: Expr) -> Type:
    if op == "+":
        return INT32
    return CONSTRAINT if CONSTRAINT in (left.type, right.type) else BOOL
