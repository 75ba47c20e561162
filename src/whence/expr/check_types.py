"""Types as they are written, and the values that variables start with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from whence.expr.check_compare import describe, holds_channel, holds_clock, is_integral, same_type
from whence.expr.check_expressions import ExpressionRules
from whence.expr.check_names import Place
from whence.expr.constants import default_cells, fold_cells
from whence.expr.evaluate import evaluate_constant
from whence.expr.faults import EvaluationError
from whence.expr.scope import Domain, Problem, Scope, TypeEntry, suggestion
from whence.expr.tree import (
    Binary,
    Call,
    Conditional,
    Expr,
    Initialiser,
    Name,
    NamedType,
    Quantifier,
    RangeType,
    ScalarSyntax,
    StructSyntax,
    TypeSyntax,
    Unary,
)
from whence.expr.types import (
    BOOL,
    CLOCK,
    PLAIN_INT,
    VOID,
    ArrayType,
    BoolType,
    ChannelType,
    IntType,
    ScalarType,
    StructType,
    Type,
    cells,
)
from whence.source import InputError, Origin

__all__ = ["Declared", "TypeRules"]

#: More cells than this in one variable is a mistake in its sizes.
MAX_CELLS = 10_000_000


class Declared(NamedTuple):
    """A type with its prefixes."""

    type: Type
    const: bool = False
    meta: bool = False


class TypeRules(ExpressionRules):
    """Resolves types. Sizes and bounds have to be constants."""

    #: What the type being resolved is called, for scalar sets.
    _type_name = ""

    def declared(
        self,
        syntax: TypeSyntax,
        dimensions: tuple[Expr | TypeSyntax, ...],
        scope: Scope,
        *,
        void: bool = False,
    ) -> Declared:
        """The type of `syntax name[dimensions]`."""
        result = self._base(syntax, scope)
        type_ = result.type
        if type_ == VOID and (not void or dimensions):
            raise Problem("`void` is only good as the result of a function", syntax.origin)
        for dimension in reversed(dimensions):
            type_ = ArrayType(type_, self._dimension(dimension, scope))
        if dimensions and cells(type_) > MAX_CELLS:
            raise Problem(
                f"an array of {cells(type_)} cells (at most {MAX_CELLS})",
                dimensions[0].origin,
                unsupported=True,
            )
        if result.const and (holds_clock(type_) or holds_channel(type_)):
            raise Problem("clocks and channels cannot be constants", syntax.origin)
        return result._replace(type=type_)

    def domain(self, syntax: TypeSyntax, scope: Scope) -> Domain:
        type_ = self.declared(syntax, (), scope).type
        if not isinstance(type_, IntType | ScalarType | BoolType):
            raise Problem(
                f"expected a range of integers or a scalar set, found {describe(type_)}",
                syntax.origin,
                "write int[0, 3], for example",
            )
        return type_

    def constant_value(self, expr: Expr, scope: Scope, what: str) -> tuple[Expr, int]:
        """A checked integer expression, and its value, which has to be known now."""
        checked = self._in_place(expr, scope, what)
        self.require_integer(checked, what)
        values = self.constant_cells(checked, what)
        return checked, values[0]

    def _in_place(self, expr: Expr, scope: Scope, what: str) -> Expr:
        place = self.place
        self.place = Place(what)
        try:
            return self.visit(expr, scope)
        finally:
            self.place = place

    def constant_cells(self, checked: Expr, what: str) -> tuple[int, ...]:
        """The cells of a checked expression, which have to be known now."""
        try:
            values = fold_cells(checked, self.context.values)
            if values is None and _calls(checked):
                values = evaluate_constant(checked, self.context.values, self.context.functions)
        except EvaluationError as error:
            raise Problem(str(error), error.origin, about_value=True) from None
        except InputError:
            values = None
        if values is None:
            raise Problem(
                f"{what} must be a constant",
                checked.origin,
                "it may use numbers, constants, parameters passed by value, and functions of them",
            )
        return values

    def _base(self, syntax: TypeSyntax, scope: Scope) -> Declared:
        const = "const" in syntax.prefixes
        meta = "meta" in syntax.prefixes
        match syntax:
            case NamedType():
                found = self._named(syntax, scope)
                type_ = found.type
                const |= found.const
                meta |= found.meta
            case RangeType():
                type_ = self._range(syntax, scope)
            case ScalarSyntax():
                type_ = self._scalar_set(syntax, scope)
            case StructSyntax():
                type_ = self._struct(syntax, scope)
        if {"urgent", "broadcast"} & set(syntax.prefixes):
            if not isinstance(type_, ChannelType):
                raise Problem(
                    f"only channels can be `urgent` or `broadcast`, found {describe(type_)}",
                    syntax.origin,
                )
            type_ = ChannelType(
                type_.broadcast or "broadcast" in syntax.prefixes,
                type_.urgent or "urgent" in syntax.prefixes,
            )
        if "hybrid" in syntax.prefixes:
            raise Problem("hybrid clocks", syntax.origin, unsupported=True)
        return Declared(type_, const, meta)

    def _named(self, syntax: NamedType, scope: Scope) -> Declared:
        match syntax.name:
            case "int":
                return Declared(PLAIN_INT)
            case "bool":
                return Declared(BOOL)
            case "clock":
                return Declared(CLOCK)
            case "chan":
                return Declared(ChannelType())
            case "void":
                return Declared(VOID)
            case "double" | "string":
                raise Problem(f"type `{syntax.name}`", syntax.origin, unsupported=True)
        found = scope.find(syntax.name)
        if found is None:
            raise Problem(
                f"unknown type `{syntax.name}`",
                syntax.origin,
                scope.suggestion(syntax.name, TypeEntry),
            )
        entry = self.entry(syntax.name, syntax.origin, scope)
        if not isinstance(entry, TypeEntry):
            raise Problem(f"expected a type, but `{syntax.name}` is none", syntax.origin)
        return Declared(entry.type, entry.const, entry.meta)

    def _range(self, syntax: RangeType, scope: Scope) -> IntType:
        _, lo = self.constant_value(syntax.lo, scope, "the lower bound of a range")
        _, hi = self.constant_value(syntax.hi, scope, "the upper bound of a range")
        if lo > hi:
            raise Problem(f"the range {lo} to {hi} is empty", syntax.origin, about_value=True)
        return IntType(lo, hi)

    def _scalar_set(self, syntax: ScalarSyntax, scope: Scope) -> ScalarType:
        _, size = self.constant_value(syntax.size, scope, "the size of a scalar set")
        if size < 1:
            raise Problem(
                f"a scalar set of {size} values (expected at least 1)",
                syntax.size.origin,
                about_value=True,
            )
        # `scalar[3] a, b;` declares one set: it is written once.
        key = (scope.name, syntax.origin)
        known = self.context.scalar_sets.get(key)
        if known is None or known.size != size:
            name = self._type_name or f"scalar[{size}]:{syntax.origin.line}"
            if self._type_name and scope.name:
                name = f"{scope.name}.{name}"
            known = ScalarType(size, name)
            self.context.scalar_sets[key] = known
        return known

    def _struct(self, syntax: StructSyntax, scope: Scope) -> StructType:
        name, self._type_name = self._type_name, ""
        fields: dict[str, Type] = {}
        for field in syntax.fields:
            if field.name in fields:
                raise Problem(f"a struct with two fields `{field.name}`", field.origin)
            fields[field.name] = self.declared(field.type, field.dimensions, scope).type
        return StructType(tuple(fields.items()), name)

    def _dimension(self, dimension: Expr | TypeSyntax, scope: Scope) -> IntType | ScalarType:
        if isinstance(dimension, Name):
            found = scope.find(dimension.name)
            if found is not None and isinstance(found[0], TypeEntry):
                dimension = NamedType(dimension.name, origin=dimension.origin)
        if isinstance(dimension, NamedType | RangeType | ScalarSyntax | StructSyntax):
            domain = self.domain(dimension, scope)
            return IntType(0, 1) if isinstance(domain, BoolType) else domain
        checked, size = self.constant_value(dimension, scope, "the size of an array")
        if size < 1:
            raise Problem(
                f"an array of {size} elements (expected at least 1)",
                checked.origin,
                about_value=True,
            )
        return IntType(0, size - 1)

    # ----------------------------------------------------------------------- initial values

    def initial_values(
        self, type_: Type, initial: Expr | Initialiser | None, scope: Scope, name: str
    ) -> tuple[int, ...]:
        """The cells that a declared variable or constant starts with."""
        if initial is None:
            return default_cells(type_)
        if isinstance(initial, Initialiser):
            return tuple(
                value
                for part, item in self.parts(type_, initial)
                for value in self.initial_values(part, item, scope, name)
            )
        what = f"the initial value of `{name}`"
        checked = self._in_place(initial, scope, what)
        return self.fitting_cells(type_, checked, what)

    def fitting_cells(self, type_: Type, checked: Expr, what: str) -> tuple[int, ...]:
        """The cells of a constant as a value of type `type_`."""
        if holds_channel(type_):
            raise Problem("channels have no values", checked.origin)
        if type_ == CLOCK:
            self.require_integer(checked, what)
            if self.constant_cells(checked, what) != (0,):
                raise Problem("a clock that does not start at 0", checked.origin, unsupported=True)
            return (0,)
        if is_integral(type_):
            self.require_integer(checked, what)
        elif not same_type(type_, checked.type):
            self.reject(checked, what, describe(type_))
        values = self.constant_cells(checked, what)
        if isinstance(type_, BoolType):
            return tuple(int(bool(value)) for value in values)
        self._check_ranges(type_, values, what, checked.origin)
        return values

    def _check_ranges(
        self, type_: Type, values: tuple[int, ...], what: str, origin: Origin
    ) -> None:
        match type_:
            case IntType(lo, hi):
                for value in values:
                    if not lo <= value <= hi:
                        raise Problem(
                            f"{what} is {value}, outside the range {lo} to {hi}",
                            origin,
                            about_value=True,
                        )
            case ArrayType(element=element):
                width = cells(element)
                for start in range(0, len(values), width):
                    self._check_ranges(element, values[start : start + width], what, origin)
            case StructType(fields=fields):
                start = 0
                for _, field_type in fields:
                    width = cells(field_type)
                    self._check_ranges(field_type, values[start : start + width], what, origin)
                    start += width

    def parts(self, type_: Type, initial: Initialiser) -> list[tuple[Type, Expr | Initialiser]]:
        """The items of `{…}` with the types that they have to be of, in order of the cells."""
        items = initial.items
        match type_:
            case ArrayType():
                if len(items) != type_.length:
                    raise Problem(
                        f"expected {type_.length} values for the array, found {len(items)}",
                        initial.origin,
                        about_value=True,
                    )
                for name, _ in items:
                    if name is not None:
                        raise Problem(f"an array has no field `{name}`", initial.origin)
                return [(type_.element, item) for _, item in items]
            case StructType():
                return self._struct_parts(type_, initial)
            case _:
                raise Problem(f"expected {describe(type_)}, found a list in braces", initial.origin)

    def _struct_parts(
        self, type_: StructType, initial: Initialiser
    ) -> list[tuple[Type, Expr | Initialiser]]:
        names = [name for name, _ in type_.fields]
        if len(initial.items) != len(names):
            raise Problem(
                f"expected {len(names)} values for {describe(type_)}, found {len(initial.items)}",
                initial.origin,
            )
        given: dict[str, Expr | Initialiser] = {}
        for position, (name, item) in enumerate(initial.items):
            field = names[position] if name is None else name
            if field not in names:
                raise Problem(
                    f"{type_} has no field `{field}`", initial.origin, suggestion(field, names)
                )
            if field in given:
                raise Problem(f"field `{field}` is given twice", initial.origin)
            given[field] = item
        types: Mapping[str, Type] = dict(type_.fields)
        return [(types[name], given[name]) for name in names]


def _calls(expr: Expr) -> bool:
    """Whether a function call is part of the expression."""
    match expr:
        case Call():
            return True
        case Unary():
            return _calls(expr.operand)
        case Binary():
            return _calls(expr.left) or _calls(expr.right)
        case Conditional():
            return any(map(_calls, (expr.condition, expr.then, expr.otherwise)))
        case Quantifier():
            return _calls(expr.body)
        case _:
            return False
