"""Properties speak of processes: `P.location`, `P.variable`, `Train(i).location`."""

from __future__ import annotations

from whence.expr.check_compare import is_integral
from whence.expr.check_names import Unroll
from whence.expr.check_types import TypeRules
from whence.expr.constants import bounds
from whence.expr.printer import print_expression
from whence.expr.scope import (
    AliasEntry,
    BrokenEntry,
    ConstantEntry,
    FamilyEntry,
    Problem,
    ProcessEntry,
    Scope,
    TemplateEntry,
    VariableEntry,
    suggestion,
)
from whence.expr.tree import (
    Binary,
    Call,
    Conditional,
    Expr,
    Field,
    InLocation,
    IntLiteral,
    Name,
    Quantifier,
    Symbol,
    SymbolKind,
)
from whence.expr.types import BOOL, INT32, IntType, ScalarType
from whence.expr.walk import subexpressions
from whence.source import Origin

__all__ = ["ProcessRules"]


class ProcessRules(TypeRules):
    """Resolves what properties say about processes."""

    def process_path(self, expr: Field, scope: Scope) -> Expr | None:
        base = expr.record
        match base:
            case Name(name) | Call(callee=name):
                found = scope.find(name)
            case _:
                return None
        if found is None:
            raise Problem(
                f"unknown process `{name}`",
                base.origin,
                scope.suggestion(name, ProcessEntry, FamilyEntry, VariableEntry),
            )
        entry = found[0]
        match base, entry:
            case _, TemplateEntry():
                raise Problem(
                    f"`{name}` is no process of this system",
                    base.origin,
                    f"list {name} in the line `system …;`",
                )
            case Name(), ProcessEntry():
                return self._member(expr, entry, name)
            case Name(), FamilyEntry():
                raise Problem(
                    f"`{name}` stands for {len(entry.members)} processes",
                    base.origin,
                    f"write {name}(0).{expr.name}, for example",
                )
            case Call(), ProcessEntry():
                raise Problem(
                    f"process `{name}` has no parameters left",
                    base.origin,
                    f"write {name}.{expr.name}",
                )
            case Call(arguments=arguments), FamilyEntry():
                return self._family_member(expr, entry, arguments, scope)
            case _:
                return None

    def _member(self, expr: Field, process: ProcessEntry, text: str) -> Expr:
        location = process.locations.get(expr.name)
        if location is not None:
            number = IntLiteral(
                process.number,
                type=IntType(process.number, process.number),
                origin=expr.record.origin,
            )
            return InLocation(
                number, location, f"{text}.{expr.name}", type=BOOL, origin=expr.origin
            )
        entry = process.scope.entries.get(expr.name)
        if isinstance(entry, VariableEntry | ConstantEntry | AliasEntry):
            return self.visit(Name(expr.name, origin=expr.origin), process.scope)
        if isinstance(entry, BrokenEntry):
            raise Problem("", expr.origin)
        if entry is not None:
            raise Problem(
                f"`{expr.name}` of process `{process.name}` is no location and no variable",
                expr.origin,
            )
        raise self._unknown(expr, process, text)

    def _unknown(self, expr: Field, process: ProcessEntry, text: str) -> Problem:
        names = [*process.locations]
        names += [
            name
            for name, entry in process.scope.entries.items()
            if isinstance(entry, VariableEntry | ConstantEntry | AliasEntry)
        ]
        return Problem(
            f"process `{text}` has no location or variable `{expr.name}`",
            expr.origin,
            suggestion(expr.name, names) or (f"it has: {', '.join(names[:12])}" if names else ""),
        )

    def _family_member(
        self, expr: Field, family: FamilyEntry, arguments: tuple[Expr, ...], scope: Scope
    ) -> Expr:
        any_key = next(iter(family.members))
        if len(arguments) != len(any_key):
            raise Problem(
                f"`{family.name}` takes {len(any_key)} argument{'s' * (len(any_key) != 1)}, "
                f"found {len(arguments)}",
                expr.record.origin,
            )
        checked = [
            self._family_argument(argument, family, position, scope)
            for position, argument in enumerate(arguments)
        ]
        values = [self.constant(argument) for argument in checked]
        known = tuple(value for value in values if value is not None)
        text = f"{family.name}({', '.join(map(print_expression, checked))})"
        if len(known) == len(values):
            process = family.members.get(known)
            if process is None:
                keys = list(family.members)
                raise Problem(
                    f"there is no process {text}",
                    expr.record.origin,
                    f"the processes are {_called(family.name, keys[0])} to "
                    f"{_called(family.name, keys[-1])}",
                    about_value=True,
                )
            return self._member(expr, process, text)
        some = family.members[any_key]
        location = some.locations.get(expr.name)
        if location is not None and family.domains is not None:
            number = self._number(family, checked, expr.record.origin)
            return InLocation(
                number, location, f"{text}.{expr.name}", type=BOOL, origin=expr.origin
            )
        if location is None and expr.name not in some.scope.entries:
            raise self._unknown(expr, some, text)
        bound = frozenset(symbol for argument in checked for symbol in _bound_variables(argument))
        if not bound or any(
            value is None and not _only_bound(argument)
            for value, argument in zip(values, checked, strict=True)
        ):
            raise Problem(
                f"a variable of a process that is not known before the system runs ({text})",
                expr.origin,
                "use constants and variables bound by forall, exists or sum",
                unsupported=True,
            )
        raise Unroll(bound, expr.origin)

    def _family_argument(
        self, argument: Expr, family: FamilyEntry, position: int, scope: Scope
    ) -> Expr:
        checked = self.visit(argument, scope)
        wanted = family.domains[position] if family.domains is not None else None
        if isinstance(wanted, ScalarType):
            if checked.type != wanted:
                raise Problem(
                    f"the argument of `{family.name}` must be of scalar set {wanted}",
                    checked.origin,
                )
        elif not is_integral(checked.type):
            self.require_integer(checked, f"an argument of `{family.name}`")
        return checked

    def _number(self, family: FamilyEntry, arguments: list[Expr], origin: Origin) -> Expr:
        """The number of the process that the arguments name; -1 if there is none, which is a
        fault when it is evaluated."""
        assert family.domains is not None
        first = next(iter(family.members.values())).number
        ranges = [bounds(domain) for domain in family.domains]
        offset = first
        stride = 1
        strides: list[int] = []
        for lo, hi in reversed(ranges):
            strides.insert(0, stride)
            offset -= lo * stride
            stride *= hi - lo + 1
        total: Expr | None = None
        inside: Expr | None = None
        for argument, step, (lo, hi) in zip(arguments, strides, ranges, strict=True):
            term = argument
            if step != 1:
                term = Binary("*", argument, _literal(step, origin), type=INT32, origin=origin)
            total = term if total is None else Binary("+", total, term, type=INT32, origin=origin)
            for op, limit in self._limits(argument, lo, hi):
                test = Binary(op, argument, _literal(limit, origin), type=BOOL, origin=origin)
                inside = (
                    test if inside is None else Binary("&&", inside, test, type=BOOL, origin=origin)
                )
        assert total is not None
        if offset:
            op = "+" if offset > 0 else "-"
            total = Binary(op, total, _literal(abs(offset), origin), type=INT32, origin=origin)
        if inside is None:
            return total
        return Conditional(inside, total, _literal(-1, origin), type=INT32, origin=origin)

    def _limits(self, argument: Expr, lo: int, hi: int) -> list[tuple[str, int]]:
        """The comparisons that make sure that an argument is in `lo..hi`; what its type says
        already needs none."""
        type_ = argument.type
        if not isinstance(type_, IntType):
            return []
        limits = []
        if type_.lo < lo:
            limits.append((">=", lo))
        if type_.hi > hi:
            limits.append(("<=", hi))
        return limits


def _literal(value: int, origin: Origin) -> IntLiteral:
    return IntLiteral(value, type=IntType(value, value), origin=origin)


def _called(name: str, key: tuple[int, ...]) -> str:
    return f"{name}({','.join(map(str, key))})"


def _bound_variables(expr: Expr) -> frozenset[Symbol]:
    return frozenset(
        part.symbol
        for part in subexpressions(expr)
        if isinstance(part, Name)
        and part.symbol is not None
        and part.symbol.kind is SymbolKind.BOUND
    )


def _only_bound(expr: Expr) -> bool:
    """Whether constants and bound variables are all that the value depends on."""
    return all(
        part.symbol is not None and part.symbol.kind in (SymbolKind.BOUND, SymbolKind.CONSTANT)
        if isinstance(part, Name)
        else not isinstance(part, Call | Quantifier)
        for part in subexpressions(expr)
    )
