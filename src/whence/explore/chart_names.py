"""What the names in the texts of a chart stand for.

In its own texts a machine calls its variables by their names, and those of others
`Machine.variable`.  `Machine.State` is true while the machine is in that state, or in one inside
it.  We rewrite what was parsed, so that the checker of expressions meets names that it knows: the
variable `open` of `Gate` is also declared as `Gate.open`, and a state becomes the locations that
lie in it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from whence.explore.chart_structure import MachineStructure
from whence.expr.check import Checker, builtin_scope, constant_literal
from whence.expr.constants import bounds, default_cells
from whence.expr.lexer import QUERY_KEYWORDS
from whence.expr.parser import parse_expression, parse_updates
from whence.expr.scope import (
    BrokenEntry,
    ConstantEntry,
    Context,
    Problem,
    Scope,
    VariableEntry,
    suggestion,
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
    Symbol,
    SymbolKind,
    Unary,
)
from whence.expr.types import BOOL, BoolType, IntType
from whence.expr.walk import subexpressions
from whence.model.chart import Chart, ChartVariable
from whence.model.network import Variable
from whence.source import Origin, SourceText

__all__ = ["ChartNames", "joined"]


class ChartNames:
    """Reads and checks the texts of one chart. What is wrong with its declarations is noted in
    `context.problems`; the other methods raise :class:`Problem` or InputError."""

    def __init__(self, chart: Chart, structures: Sequence[MachineStructure]) -> None:
        self.context = Context()
        self.checker = Checker(self.context)
        self.structures = {structure.machine.name: structure for structure in structures}
        self.variables: list[Variable] = []
        #: The variables whose arithmetic is modulo the size of their range.
        self.wrapping: dict[Symbol, IntType] = {}
        self._global = Scope("", builtin_scope())
        self._of: dict[str, Scope] = {"": self._global}
        for machine in chart.machines:
            self._of[machine.name] = self._global.child(machine.name)
        declared = [("", variable) for variable in chart.variables]
        declared += [(m.name, variable) for m in chart.machines for variable in m.variables]
        problems = self.context.problems
        for _, variable in declared:
            with problems.collecting():
                self._declare_members(variable)
        # Constants first: the initial values of variables may use them, wherever they stand.
        declared.sort(key=lambda pair: pair[1].role != "constant")
        for owner, variable in declared:
            with problems.collecting(f"variable {variable.name}"):
                self._declare(owner, variable)

    # ------------------------------------------------------------------------------ declarations

    def _declare_members(self, variable: ChartVariable) -> None:
        for number, member in enumerate(variable.type.members):
            entry = ConstantEntry(constant_literal(IntType(0, len(variable.type.members)), number))
            known = self._global.entries.get(member)
            if known is None:
                self._global.declare(member, entry, variable.origin)
            elif known != entry:
                raise Problem(
                    f"`{member}` is value number {number} of this type, and another one of "
                    "another type",
                    variable.origin,
                    f"the other type is at {self._global.places.get(member)}",
                )

    def _type(self, variable: ChartVariable) -> IntType | BoolType:
        type_ = variable.type
        match type_.kind:
            case "bool":
                return BOOL
            case "int":
                return IntType(type_.lo, type_.hi)
            case "enum":
                return IntType(0, len(type_.members) - 1)
        raise Problem(
            f"variable `{variable.name}` of type {type_.kind}",
            variable.origin,
            "machines that are interleaved have neither time nor fractions",
            unsupported=True,
        )

    def _declare(self, owner: str, variable: ChartVariable) -> None:
        scope = self._of[owner]
        qualified = f"{owner}.{variable.name}"
        if variable.name in self.structures:
            raise Problem(f"`{variable.name}` is a machine and a variable", variable.origin)
        try:
            if variable.role == "input":
                raise Problem(
                    f"the input variable `{variable.name}`",
                    variable.origin,
                    "let a machine of the environment set it",
                    unsupported=True,
                )
            type_ = self._type(variable)
            value = self._initial(variable, type_, scope)
        except BaseException:
            # Uses of it are not complained about again.
            scope.declare(variable.name, BrokenEntry(), variable.origin)
            if owner:
                self._global.entries.setdefault(qualified, BrokenEntry())
            raise
        entry: ConstantEntry | VariableEntry
        if variable.role == "constant":
            entry = ConstantEntry(constant_literal(type_, value))
        else:
            symbol = Symbol(owner, variable.name, SymbolKind.VARIABLE, type_)
            entry = VariableEntry(symbol)
            self.variables.append(Variable(symbol, (value,), origin=variable.origin))
            if variable.type.wrap and isinstance(type_, IntType):
                self.wrapping[symbol] = type_
        scope.declare(variable.name, entry, variable.origin)
        if owner:
            self._global.declare(qualified, entry, variable.origin)

    def _initial(self, variable: ChartVariable, type_: IntType | BoolType, scope: Scope) -> int:
        if variable.initial is None:
            return default_cells(type_)[0]
        written = self._resolved(parse_expression(variable.initial, QUERY_KEYWORDS), scope.name)
        checked = self.checker.integer_value(written, scope, "an initial value")
        value = self.checker.constant(checked)
        if value is None:
            raise Problem("an initial value must be a constant", checked.origin)
        if isinstance(type_, BoolType):
            return int(value != 0)
        lo, hi = bounds(type_)
        if not lo <= value <= hi:
            raise Problem(
                f"the initial value {value} is outside the range {lo} to {hi}", checked.origin
            )
        return value

    # ------------------------------------------------------------------------------------- texts

    def guard(self, text: SourceText, machine: str) -> Expr:
        written = self._resolved(parse_expression(text, QUERY_KEYWORDS), machine)
        return self.checker.guard(written, self._of[machine])

    def formula(self, text: SourceText) -> Expr:
        """A condition on states, seen from outside of all machines."""
        written = parse_expression(text, QUERY_KEYWORDS)
        for part in subexpressions(written):
            if isinstance(part, Deadlock):
                raise Problem("`deadlock` in a condition", part.origin, unsupported=True)
        return self.checker.guard(self._resolved(written, ""), self._global)

    def updates(self, text: SourceText, machine: str) -> tuple[Expr, ...]:
        """Checked assignments and steps; their effects lie on the top."""
        scope = self._of[machine]
        return tuple(
            self.checker.update(self._resolved(expr, machine), scope)
            for expr in parse_updates(text, QUERY_KEYWORDS)
        )

    def _resolved(self, expr: Expr, machine: str) -> Expr:
        def inside(part: Expr) -> Expr:
            return self._resolved(part, machine)

        match expr:
            case Field():
                return self._path(expr, inside)
            case Unary():
                return replace(expr, operand=inside(expr.operand))
            case Binary():
                return replace(expr, left=inside(expr.left), right=inside(expr.right))
            case Conditional():
                return replace(
                    expr,
                    condition=inside(expr.condition),
                    then=inside(expr.then),
                    otherwise=inside(expr.otherwise),
                )
            case Index():
                return replace(expr, array=inside(expr.array), index=inside(expr.index))
            case Call():
                return replace(expr, arguments=tuple(inside(a) for a in expr.arguments))
            case Assignment():
                return replace(expr, target=inside(expr.target), value=inside(expr.value))
            case Step():
                return replace(expr, target=inside(expr.target))
            case Quantifier():
                return replace(expr, body=inside(expr.body))
        return expr

    def _path(self, expr: Field, inside: Callable[[Expr], Expr]) -> Expr:
        names = [expr.name]
        base = expr.record
        while isinstance(base, Field):
            names.insert(0, base.name)
            base = base.record
        if not isinstance(base, Name):
            return replace(expr, record=inside(expr.record))
        structure = self.structures.get(base.name)
        if structure is None:
            raise Problem(
                f"unknown machine `{base.name}`",
                base.origin,
                suggestion(base.name, list(self.structures)),
            )
        path = ".".join(names)
        variable = self._of[base.name].entries.get(path)
        states = structure.named(path)
        if len(states) + (variable is not None) > 1:
            others = ", ".join(f"{base.name}.{ident}" for ident in states)
            raise Problem(
                f"`{base.name}.{path}` can mean several things",
                expr.origin,
                f"the states {others}" + (", and a variable" if variable is not None else ""),
            )
        if variable is not None:
            return Name(f"{base.name}.{path}", origin=expr.origin)
        if states:
            return self._in_state(structure, states[0], f"{base.name}.{path}", expr.origin)
        known = [ident for ident, s in structure.states.items() if s.kind != "initial"]
        known += [structure.states[ident].name for ident in known]
        known += [variable.name for variable in structure.machine.variables]
        raise Problem(
            f"machine `{base.name}` has no state or variable `{path}`",
            expr.origin,
            suggestion(path, known),
        )

    def _in_state(self, structure: MachineStructure, ident: str, text: str, origin: Origin) -> Expr:
        process = IntLiteral(
            structure.number, type=IntType(structure.number, structure.number), origin=origin
        )
        tests: list[Expr] = [
            InLocation(process, location, text, type=BOOL, origin=origin)
            for location in structure.inside(ident)
        ]
        return joined("||", tests) or BoolLiteral(False, type=BOOL, origin=origin)


def joined(op: str, parts: Sequence[Expr]) -> Expr | None:
    """The parts under `&&` or `||`, in a tree that is as low as can be; None if there are none."""
    if not parts:
        return None
    if len(parts) == 1:
        return parts[0]
    middle = len(parts) // 2
    left, right = joined(op, parts[:middle]), joined(op, parts[middle:])
    assert left is not None
    assert right is not None
    return Binary(op, left, right, type=BOOL, origin=left.origin)
