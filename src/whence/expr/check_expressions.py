"""The typing rules of expressions."""

from __future__ import annotations

from whence.expr.check_clocks import COMPARISONS, compare_clocks, is_clocked
from whence.expr.check_compare import (
    common_type,
    describe,
    holds_channel,
    holds_clock,
    is_integral,
    same_type,
)
from whence.expr.check_effects import EffectRules
from whence.expr.check_names import (
    Mode,
)
from whence.expr.check_quantifiers import QuantifierRules
from whence.expr.scope import (
    Problem,
    Scope,
)
from whence.expr.tree import (
    Assignment,
    Binary,
    BoolLiteral,
    Call,
    Conditional,
    Deadlock,
    Expr,
    Field,
    Index,
    InLocation,
    IntLiteral,
    Name,
    Quantifier,
    Step,
    Unary,
)
from whence.expr.types import (
    BOOL,
    CONSTRAINT,
    DIFFERENCE,
    INT32,
    ArrayType,
    ConstraintType,
    IntType,
    ScalarType,
    StructType,
)
from whence.source import Origin

__all__ = ["ExpressionRules"]

_ARITHMETIC = frozenset(("+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "<?", ">?"))
_CONNECTIVES = frozenset(("&&", "||", "imply"))


class ExpressionRules(EffectRules, QuantifierRules):
    """Turns expressions as parsed into checked ones."""

    def visit(self, expr: Expr, scope: Scope) -> Expr:
        if self.unrolled is not None:
            self.count_unrolled(expr)
        match expr:
            case Name():
                return self.name_of(expr, scope)
            case IntLiteral(value):
                if value > INT32.hi:
                    raise Problem(f"{value} does not fit into 32 bits", expr.origin)
                return IntLiteral(value, type=IntType(value, value), origin=expr.origin)
            case Binary():
                return self._binary(expr, scope)
            case Index():
                return self._index(expr, scope)
            case Field():
                return self._field(expr, scope)
            case BoolLiteral(truth):
                return BoolLiteral(truth, type=BOOL, origin=expr.origin)
            case Unary():
                return self._unary(expr, scope)
            case Assignment():
                return self.assignment(expr, scope)
            case Call():
                return self.call(expr, scope)
            case Step():
                return self.step(expr, scope)
            case Conditional():
                return self._conditional(expr, scope)
            case Quantifier():
                return self.quantifier(expr, scope)
            case Deadlock():
                if self.place.mode is not Mode.FORMULA:
                    raise Problem("`deadlock` is only allowed in properties", expr.origin)
                return Deadlock(type=CONSTRAINT, origin=expr.origin)
            case InLocation():
                return expr

    def _unary(self, expr: Unary, scope: Scope) -> Expr:
        op, origin = expr.op, expr.origin
        if op == "-" and isinstance(expr.operand, IntLiteral) and expr.operand.value == 2**31:
            return IntLiteral(-(2**31), type=IntType(-(2**31), -(2**31)), origin=origin)
        operand = self.visit(expr.operand, scope)
        if op == "!":
            if isinstance(operand.type, ConstraintType):
                if self.place.mode is not Mode.FORMULA:
                    raise Problem(
                        f"the negation of a clock constraint in {self.place.name}",
                        origin,
                        "turn the comparison around",
                        unsupported=True,
                    )
                return Unary("!", operand, type=CONSTRAINT, origin=origin)
            self.require_integer(operand, "the operand of `!`")
            return Unary("!", operand, type=BOOL, origin=origin)
        if is_clocked(operand.type):
            return Unary(op, operand, type=DIFFERENCE, origin=origin)
        self.require_integer(operand, f"the operand of `{op}`")
        result = Unary(op, operand, type=INT32, origin=origin)
        self.probe(result)
        return result

    def _binary(self, expr: Binary, scope: Scope) -> Expr:
        op, origin = expr.op, expr.origin
        if op in _CONNECTIVES:
            return self._connective(expr, scope)
        left = self.visit(expr.left, scope)
        right = self.visit(expr.right, scope)
        clocked = is_clocked(left.type) or is_clocked(right.type)
        if op in COMPARISONS:
            if clocked:
                return self._clock_comparison(op, left, right, origin)
            return self._comparison(op, left, right, origin)
        if clocked and op in ("+", "-"):
            for side in (left, right):
                if not is_clocked(side.type):
                    self.require_integer(side, f"an operand of `{op}`")
            return Binary(op, left, right, type=DIFFERENCE, origin=origin)
        assert op in _ARITHMETIC
        self.require_integer(left, f"the left operand of `{op}`")
        self.require_integer(right, f"the right operand of `{op}`")
        result = Binary(op, left, right, type=INT32, origin=origin)
        self.check_divisor(op, right, origin)
        self.probe(result)
        return result

    def _clock_comparison(self, op: str, left: Expr, right: Expr, origin: Origin) -> Expr:
        for side in (left, right):
            if not is_clocked(side.type):
                self.require_integer(side, "what a clock is compared with")
        if self.place.mode is Mode.DATA:
            raise Problem(
                f"a comparison of clocks in {self.place.name}",
                origin,
                "clocks may only be compared in guards, invariants and properties",
                unsupported=True,
            )
        if op == "!=" and self.place.mode is not Mode.FORMULA:
            raise Problem(
                f"`!=` between a clock and a number in {self.place.name}",
                origin,
                "use two edges, one with `<` and one with `>`",
                unsupported=True,
            )
        return compare_clocks(op, left, right, origin)

    def _comparison(self, op: str, left: Expr, right: Expr, origin: Origin) -> Expr:
        if not (is_integral(left.type) and is_integral(right.type)):
            for side in (left, right):
                if isinstance(side.type, ConstraintType):
                    self.reject(side, f"an operand of `{op}`", "a value")
            if op not in ("==", "!="):
                side = right if is_integral(left.type) else left
                self.reject(side, f"an operand of `{op}`", "an integer")
            if (
                not same_type(left.type, right.type)
                or holds_channel(left.type)
                or holds_clock(left.type)
            ):
                raise Problem(
                    f"{describe(left.type)} and {describe(right.type)} cannot be compared",
                    origin,
                )
        result = Binary(op, left, right, type=BOOL, origin=origin)
        self.probe(result)
        return result

    def _connective(self, expr: Binary, scope: Scope) -> Expr:
        op, origin = expr.op, expr.origin
        left = self.visit(expr.left, scope)
        # What a constant has decided already is never evaluated: faults in it do not count.
        known = None if left.type == CONSTRAINT else self.probe(left)
        decided = known is not None and bool(known) is (op == "||")
        self.dead += decided
        right = self.visit(expr.right, scope)
        self.dead -= decided
        clocks = [side.type == CONSTRAINT for side in (left, right)]
        for side, clock in zip((left, right), clocks, strict=True):
            if not clock:
                self.require_integer(side, f"an operand of `{op}`")
        if not any(clocks):
            return Binary(op, left, right, type=BOOL, origin=origin)
        if op != "&&" and self.place.mode is Mode.CONSTRAINT:
            if all(clocks) or (op == "imply" and clocks[0]):
                raise Problem(
                    f"`{op}` of clock constraints in {self.place.name}",
                    origin,
                    "only one side may mention clocks (for `imply`, the right one); "
                    "use several edges",
                    unsupported=True,
                )
            if clocks[0]:
                left, right = right, left
        return Binary(op, left, right, type=CONSTRAINT, origin=origin)

    def _conditional(self, expr: Conditional, scope: Scope) -> Expr:
        origin = expr.origin
        condition = self.visit(expr.condition, scope)
        known = None
        if condition.type != CONSTRAINT:
            self.require_integer(condition, "the condition of `?:`")
            known = self.probe(condition)
        self.dead += known == 0
        then = self.visit(expr.then, scope)
        self.dead += (known not in (None, 0)) - (known == 0)
        otherwise = self.visit(expr.otherwise, scope)
        self.dead -= known not in (None, 0)
        if CONSTRAINT in (condition.type, then.type, otherwise.type):
            return self._conditional_constraint(condition, then, otherwise, origin)
        type_ = common_type(then.type, otherwise.type)
        if type_ is None:
            raise Problem(
                f"the branches of `?:` differ: {describe(then.type)} and "
                f"{describe(otherwise.type)}",
                origin,
            )
        if is_clocked(type_) or holds_channel(type_):
            raise Problem(f"a choice between {describe(type_)}s", origin, unsupported=True)
        return Conditional(condition, then, otherwise, type=type_, origin=origin)

    def _conditional_constraint(
        self, condition: Expr, then: Expr, otherwise: Expr, origin: Origin
    ) -> Expr:
        """`c ? p : q` about clocks says `(c imply p) && (c || q)`, a conjunction."""
        if condition.type == CONSTRAINT and self.place.mode is not Mode.FORMULA:
            raise Problem(
                f"a choice by a clock constraint in {self.place.name}",
                origin,
                unsupported=True,
            )
        for branch in (then, otherwise):
            if branch.type != CONSTRAINT:
                self.require_integer(branch, "a branch of `?:`")
        return Binary(
            "&&",
            Binary("imply", condition, then, type=CONSTRAINT, origin=then.origin),
            Binary("||", condition, otherwise, type=CONSTRAINT, origin=otherwise.origin),
            type=CONSTRAINT,
            origin=origin,
        )

    def _index(self, expr: Index, scope: Scope) -> Expr:
        array = self.visit(expr.array, scope)
        type_ = array.type
        if not isinstance(type_, ArrayType):
            raise Problem(f"only arrays can be indexed, found {describe(type_)}", expr.origin)
        index = self.visit(expr.index, scope)
        if isinstance(type_.index, ScalarType):
            if index.type != type_.index:
                raise Problem(
                    f"the index must be of scalar set {type_.index}, found {describe(index.type)}",
                    index.origin,
                )
        else:
            self.require_integer(index, "an array index")
            known = self.probe(index)
            if known is not None and not type_.lo <= known < type_.lo + type_.length:
                self.value_problem(
                    f"index {known} is outside the array "
                    f"(expected {type_.lo} to {type_.lo + type_.length - 1})",
                    index.origin,
                )
        return Index(array, index, type=type_.element, origin=expr.origin)

    def _field(self, expr: Field, scope: Scope) -> Expr:
        if self.place.mode is Mode.FORMULA:
            path = self.process_path(expr, scope)
            if path is not None:
                return path
        record = self.visit(expr.record, scope)
        if not isinstance(record.type, StructType):
            raise Problem(f"only structs have fields, found {describe(record.type)}", expr.origin)
        found = record.type.field(expr.name)
        if found is None:
            names = ", ".join(name for name, _ in record.type.fields)
            raise Problem(
                f"{record.type} has no field `{expr.name}`", expr.origin, f"it has: {names}"
            )
        return Field(record, expr.name, type=found[1], origin=expr.origin)
