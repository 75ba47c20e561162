"""The rules of what may change variables: assignments, steps and calls."""

from __future__ import annotations

from whence.expr.check_clocks import is_clocked
from whence.expr.check_compare import (
    assignable,
    describe,
    holds_channel,
    holds_clock,
    same_type,
)
from whence.expr.check_names import (
    NameRules,
    kind_of,
)
from whence.expr.scope import (
    FunctionEntry,
    Problem,
    Scope,
)
from whence.expr.tree import (
    Assignment,
    Binary,
    Call,
    Expr,
    Step,
    Unary,
)
from whence.expr.types import (
    INT32,
    BoolType,
    ClockType,
    IntType,
    Type,
)

__all__ = ["EffectRules"]


class EffectRules(NameRules):
    """Checks assignments, `++` and `--`, and calls of functions."""

    def assignment(self, expr: Assignment, scope: Scope) -> Expr:
        target = self.target(expr.target, scope, "an assignment")
        value = self.visit(expr.value, scope)
        op, origin, type_ = expr.op, expr.origin, target.type
        if isinstance(type_, ClockType):
            if op != "=":
                raise Problem(f"`{op}` on a clock", origin, unsupported=True)
            if is_clocked(value.type):
                raise Problem("assigning a clock to a clock", origin, unsupported=True)
            self.require_integer(value, "what a clock is set to")
            known = self.probe(value)
            if known is not None and known < 0:
                self.value_problem(f"a clock set to a negative value ({known})", value.origin)
            return Assignment(op, target, value, type=type_, origin=origin)
        if holds_channel(type_) or holds_clock(type_):
            raise Problem(
                f"an assignment to {describe(type_)}", origin, unsupported=holds_clock(type_)
            )
        if op != "=":
            self.require_integer(target, f"the left operand of `{op}`")
            self.require_integer(value, f"the right operand of `{op}`")
            self.check_divisor(op[:-1], value, origin)
            return Assignment(op, target, value, type=type_, origin=origin)
        self.check_assignable(type_, value, "what is assigned")
        return Assignment(op, target, value, type=type_, origin=origin)

    def check_assignable(self, type_: Type | None, value: Expr, what: str) -> None:
        """`value` may become the value of something of type `type_`."""
        if isinstance(type_, IntType | BoolType):
            self.require_integer(value, what)
            if isinstance(type_, IntType):
                known = self.probe(value)
                if known is not None and not type_.lo <= known <= type_.hi:
                    self.value_problem(
                        f"{what} is {known}, outside the range {type_.lo} to {type_.hi}",
                        value.origin,
                    )
        elif not assignable(type_, value.type):
            self.reject(value, what, describe(type_))

    def step(self, expr: Step, scope: Scope) -> Expr:
        target = self.target(expr.target, scope, f"`{expr.op}`")
        if isinstance(target.type, ClockType):
            raise Problem(f"`{expr.op}` on a clock", expr.origin, unsupported=True)
        self.require_integer(target, f"the operand of `{expr.op}`")
        return Step(expr.op, expr.prefix, target, type=target.type, origin=expr.origin)

    def call(self, expr: Call, scope: Scope) -> Expr:
        if expr.callee == "abs" and scope.find("abs") is None:
            return self._absolute(expr, scope)
        if expr.callee in _REAL_FUNCTIONS and scope.find(expr.callee) is None:
            raise Problem(
                f"the floating-point function `{expr.callee}`", expr.origin, unsupported=True
            )
        entry = self.entry(expr.callee, expr.origin, scope, FunctionEntry)
        if not isinstance(entry, FunctionEntry):
            raise Problem(
                f"expected a function, but `{expr.callee}` is {kind_of(entry)}", expr.origin
            )
        wanted = len(entry.parameters)
        if len(expr.arguments) != wanted:
            raise Problem(
                f"`{expr.callee}` takes {wanted} argument{'s' * (wanted != 1)}, "
                f"found {len(expr.arguments)}",
                expr.origin,
            )
        if entry.writes:
            if not self.place.effects:
                raise Problem(
                    f"`{expr.callee}` changes variables, which is not allowed in {self.place.name}",
                    expr.origin,
                )
            self.writes = True
        arguments = []
        for parameter, argument in zip(entry.parameters, expr.arguments, strict=True):
            what = f"argument `{parameter.symbol.name}` of `{expr.callee}`"
            type_ = parameter.symbol.type
            if parameter.reference:
                checked = self.target(argument, scope, f"passing {what} by reference")
                if not same_type(type_, checked.type):
                    raise Problem(
                        f"{what} must be {describe(type_)}, found {describe(checked.type)}",
                        checked.origin,
                    )
            else:
                checked = self.visit(argument, scope)
                self.check_assignable(type_, checked, what)
            arguments.append(checked)
        result = entry.symbol.type
        return Call(expr.callee, tuple(arguments), entry.symbol, type=result, origin=expr.origin)

    def _absolute(self, expr: Call, scope: Scope) -> Expr:
        """`abs(e)`, which UPPAAL 5 knows, is `e >? -e`."""
        if len(expr.arguments) != 1:
            raise Problem("`abs` takes 1 argument", expr.origin)
        writes, self.writes = self.writes, False
        operand = self.integer(expr.arguments[0], scope, "argument of `abs`")
        if self.writes:
            raise Problem("`abs` of an expression with side effects", expr.origin, unsupported=True)
        self.writes = writes
        negated = Unary("-", operand, type=INT32, origin=operand.origin)
        return Binary(">?", operand, negated, type=INT32, origin=expr.origin)


_REAL_FUNCTIONS = frozenset(
    [
        "fabs",
        "fmod",
        "fma",
        "fmax",
        "fmin",
        "fdim",
        "exp",
        "exp2",
        "expm1",
        "ln",
        "log",
        "log10",
        "log2",
        "log1p",
        "pow",
        "sqrt",
        "cbrt",
        "hypot",
        "sin",
        "cos",
        "tan",
        "asin",
        "acos",
        "atan",
        "atan2",
        "sinh",
        "cosh",
        "tanh",
        "asinh",
        "acosh",
        "atanh",
        "erf",
        "erfc",
        "tgamma",
        "lgamma",
        "ceil",
        "floor",
        "trunc",
        "round",
        "fint",
        "ldexp",
        "ilogb",
        "logb",
        "nextafter",
        "copysign",
        "signbit",
        "random",
        "random_normal",
        "random_poisson",
        "random_arcsine",
        "random_beta",
        "random_gamma",
        "random_tri",
        "random_weibull",
    ]
)
