"""What the names in the texts of a timed chart stand for, and what timers become.

`elapsed(t, c)` becomes `age >= c` of the timer's age (:mod:`whence.testing.model`), and so do
`t.elapsed(c)` and resets, as RT-Tester writes them.  `elapsed(t, lo, hi)` may become true from `lo`
on and is true from `hi` on; which, is a choice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from whence.expr.check import Checker, builtin_scope, constant_literal
from whence.expr.constants import bounds, default_cells
from whence.expr.ieee import Format, nearest, numbers, ordinal_of_text
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
    Expr,
    Field,
    IntLiteral,
    Name,
    Step,
    Symbol,
    SymbolKind,
    Unary,
)
from whence.expr.types import BOOL, BoolType, IntType
from whence.expr.walk import subexpressions
from whence.model.chart import Chart, ChartVariable
from whence.source import Diagnostic, Origin, SourceText
from whence.testing.fixed import decimal_symbol, fixed_numbers
from whence.testing.floating import Meaning, constant_symbol, literal_symbol
from whence.testing.halves import halves, only_with_whole_numbers
from whence.testing.logic import both, compare, either, number, operation, wrapped
from whence.testing.machine_names import MachineNames, TimerNames
from whence.testing.model import Elapsed, Location, Role, Variable, Write
from whence.testing.texts import functions, path_of

__all__ = ["Names"]

_COMPARISONS = frozenset(("==", "!=", "<", "<=", ">", ">="))
_LONGEST = 2**24


@dataclass(slots=True, eq=False)
class Names:
    """Reads and checks the texts of one chart.  What is wrong with declarations is noted in
    `context.problems`; methods raise :class:`Problem` or InputError."""

    chart: Chart
    context: Context = field(default_factory=Context)
    machines: dict[str, MachineNames] = field(default_factory=dict)
    variables: dict[Symbol, Variable] = field(default_factory=dict)
    findings: list[Diagnostic] = field(default_factory=list)
    elapsed: list[Elapsed] = field(default_factory=list)
    checker: Checker = field(init=False)
    top: Scope = field(init=False)
    _timers: dict[tuple[str, str], TimerNames] = field(default_factory=dict)
    _floats: dict[tuple[str, str], Symbol] = field(default_factory=dict)
    #: The scales of fixed-point numbers.
    _scales: dict[Symbol, int] = field(default_factory=dict)
    #: The formats of floating-point numbers that are computed with.
    _formats: dict[Symbol, Format] = field(default_factory=dict)
    #: Floating-point inputs for which halves are enough.
    _compared: frozenset[str] = frozenset()
    _choices: int = 0

    def __post_init__(self) -> None:
        self.checker = Checker(self.context)
        self.top = Scope("", builtin_scope())
        for machine in self.chart.machines:
            control = Symbol("", f"state of {machine.name}", SymbolKind.VARIABLE, IntType(0, 0))
            self.machines[machine.name] = MachineNames(
                machine.name, machine.environment, control, self.top.child(machine.name)
            )
        declared = [("", variable) for variable in self.chart.variables]
        declared += [(m.name, one) for m in self.chart.machines for one in m.variables]
        problems = self.context.problems
        self._compared = only_with_whole_numbers(self.chart)
        for _, variable in declared:
            with problems.collecting():
                self._declare_members(variable)
        # Constants first: other declarations may use them, wherever they stand.
        declared.sort(key=lambda pair: pair[1].role != "constant")
        for owner, variable in declared:
            with problems.collecting(f"variable {variable.name}"):
                self._declare(owner, variable)

    def _scope(self, machine: str) -> Scope:
        return self.machines[machine].scope if machine else self.top

    def place_machine(self, machine: str, locations: Sequence[Location]) -> Symbol:
        """Make the states of a machine known. The symbol of its control state."""
        known = self.machines[machine]
        known.locations = locations
        known.control = replace(known.control, type=IntType(0, locations[0].last))
        self.top.declare(known.control.name, VariableEntry(known.control, writable=False))
        return known.control

    # ------------------------------------------------------------------------------ declarations

    def _declare_members(self, variable: ChartVariable) -> None:
        for value, member in enumerate(variable.type.members):
            entry = ConstantEntry(constant_literal(IntType(0, len(variable.type.members)), value))
            known = self.top.entries.get(member)
            if known is None:
                self.top.declare(member, entry, variable.origin)
            elif known != entry:
                raise Problem(
                    f"`{member}` is value number {value} of this type, and another one of "
                    "another type",
                    variable.origin,
                    f"the other type is at {self.top.places.get(member)}",
                )

    def _declare(self, owner: str, variable: ChartVariable) -> None:
        scope = self._scope(owner)
        if variable.name in self.machines:
            raise Problem(f"`{variable.name}` is a machine and a variable", variable.origin)
        try:
            if variable.type.kind == "timer":
                self._declare_timer(owner, variable)
            elif variable.type.step is not None:
                self._declare_fixed(owner, variable, variable.type.step)
            elif variable.type.kind == "float":
                self._declare_float(owner, variable)
            else:
                self._declare_discrete(owner, variable, scope)
        except BaseException:
            # Uses of it are not complained about again.
            scope.entries.setdefault(variable.name, BrokenEntry())
            raise

    def _declare_timer(self, owner: str, variable: ChartVariable) -> None:
        if variable.role not in ("internal", "output"):
            raise Problem(f"a timer that is an {variable.role}", variable.origin, unsupported=True)
        if variable.initial is not None and variable.initial.text.strip() not in ("0", "0.0"):
            raise Problem(
                f"the initial value of the timer `{variable.name}`",
                variable.initial.origin(0),
                "timers start at 0",
                unsupported=True,
            )
        symbol = Symbol(owner, f"age of {variable.name}", SymbolKind.VARIABLE, IntType(0, 0))
        self._timers[owner, variable.name] = TimerNames(symbol, variable)

    def _declare_float(self, owner: str, variable: ChartVariable) -> None:
        real = variable.type.bounds
        if (
            variable.role != "input"
            or real is None
            or variable.type.bits
            or variable.name not in self._compared
        ):
            self._declare_ieee(owner, variable)
            return
        low, high = (halves(bound) for bound in real)
        initial = low
        if variable.initial is not None:
            try:
                initial = halves(Fraction(variable.initial.text.strip()))
            except (ValueError, ZeroDivisionError):
                raise Problem("expected a number", variable.initial.origin(0)) from None
        symbol = Symbol(owner, variable.name, SymbolKind.VARIABLE, IntType(low, high))
        self._floats[owner, variable.name] = symbol
        self._scope(owner).declare(f"halves of {variable.name}", VariableEntry(symbol))
        self._add(symbol, variable, "input", initial, scale=2, real=real)

    def _declare_ieee(self, owner: str, variable: ChartVariable) -> None:
        format_: Format = 64 if variable.type.bits == 64 else 32
        scope = self._scope(owner)
        everything = numbers(format_)
        low, high = everything.lo, everything.hi
        if variable.type.bounds is not None:
            low, high = (nearest(bound, format_) for bound in variable.type.bounds)
            # Both zeros are equal.
            low, high = low - (low == 0), high + (high == -1)
        initial = min(max(0, low), high)
        if variable.initial is not None:
            try:
                initial = ordinal_of_text(variable.initial.text, format_)
            except ValueError:
                raise Problem("expected a number", variable.initial.origin(0)) from None
        if variable.role == "constant":
            entry = VariableEntry(constant_symbol(initial, format_), writable=False)
            scope.declare(variable.name, entry, variable.origin)
            return
        symbol = Symbol(owner, variable.name, SymbolKind.VARIABLE, IntType(low, high))
        scope.declare(variable.name, VariableEntry(symbol), variable.origin)
        self._formats[symbol] = format_
        self._add(symbol, variable, variable.role, initial, ieee=format_)
        new = self.variables[symbol]
        if not low <= initial <= high:
            self._default_outside(variable, *map(new.shown, (initial, low, high)))

    def _declare_fixed(self, owner: str, variable: ChartVariable, step: Fraction) -> None:
        low, high, initial = fixed_numbers(variable, step)
        symbol = Symbol(owner, variable.name, SymbolKind.VARIABLE, IntType(low, high))
        self._scope(owner).declare(variable.name, VariableEntry(symbol), variable.origin)
        self._scales[symbol] = step.denominator
        # A constant is refused.
        role: Role = "internal" if variable.role == "constant" else variable.role
        real = variable.type.bounds
        self._add(symbol, variable, role, initial, scale=step.denominator, real=real)

    def _declare_discrete(self, owner: str, variable: ChartVariable, scope: Scope) -> None:
        type_ = BOOL if variable.type.kind == "bool" else self._range(variable)
        value = default_cells(type_)[0]
        if variable.initial is not None:
            written = self._resolved(parse_expression(variable.initial, QUERY_KEYWORDS), owner)
            checked = self.checker.integer_value(written, scope, "an initial value")
            given = self.checker.constant(checked)
            if given is None:
                raise Problem("an initial value must be a constant", checked.origin)
            value = int(given != 0) if isinstance(type_, BoolType) else given
        low, high = bounds(type_)
        if not low <= value <= high:
            self._default_outside(variable, str(value), str(low), str(high))
        if variable.role == "constant":
            scope.declare(
                variable.name, ConstantEntry(constant_literal(type_, value)), variable.origin
            )
            return
        symbol = Symbol(owner, variable.name, SymbolKind.VARIABLE, type_)
        scope.declare(variable.name, VariableEntry(symbol), variable.origin)
        self._add(symbol, variable, variable.role, value)

    def _default_outside(self, variable: ChartVariable, value: str, low: str, high: str) -> None:
        self.findings.append(
            Diagnostic(
                f"the default {value} of `{variable.name}` is outside its range {low} to {high}",
                variable.origin,
                "no run can start so",
                f"variable {variable.name}",
            )
        )

    def _add(
        self,
        symbol: Symbol,
        variable: ChartVariable,
        role: Role,
        initial: int,
        *,
        scale: int = 1,
        real: tuple[Fraction, Fraction] | None = None,
        ieee: Format | None = None,
    ) -> None:
        assert isinstance(symbol.type, IntType | BoolType)
        self.variables[symbol] = Variable(
            symbol=symbol,
            role=role,
            initial=initial,
            limits=bounds(symbol.type),
            wrap=variable.type.wrap,
            real=real,
            scale=scale,
            fixed=variable.type.step is not None,
            ieee=ieee,
            boolean=variable.type.kind == "bool",
            members=variable.type.members,
            origin=variable.origin,
        )

    @staticmethod
    def _range(variable: ChartVariable) -> IntType:
        type_ = variable.type
        if type_.kind == "enum":
            return IntType(0, len(type_.members) - 1)
        if type_.lo < -(2**31) or type_.hi >= 2**31:
            raise Problem(
                f"the range {type_.lo} to {type_.hi} of `{variable.name}`",
                variable.origin,
                "arithmetic has 32 bits",
                unsupported=True,
            )
        return IntType(type_.lo, type_.hi)

    def finish_timers(self) -> None:
        """Give the ages their types, once all guards have been read."""
        for (owner, name), timer in self._timers.items():
            timer.symbol = replace(timer.symbol, type=IntType(0, timer.longest))
            self._scope(owner).declare(timer.symbol.name, VariableEntry(timer.symbol))
            self.variables[timer.symbol] = Variable(
                symbol=timer.symbol,
                role="timer",
                initial=0,
                limits=(0, timer.longest),
                origin=timer.variable.origin,
            )
            self.elapsed = [
                Elapsed(timer.symbol, one.constant)
                if (one.age.scope, one.age.name) == (owner, f"age of {name}")
                else one
                for one in self.elapsed
            ]

    def choice(self, machine: str, options: int) -> Symbol:
        """A free choice of the environment among so many."""
        self._choices += 1
        type_ = IntType(0, options - 1)
        symbol = Symbol(machine, f"choice {self._choices}", SymbolKind.VARIABLE, type_)
        self._scope(machine).declare(symbol.name, VariableEntry(symbol))
        self.variables[symbol] = Variable(
            symbol=symbol, role="choice", initial=0, limits=(0, options - 1)
        )
        return symbol

    # ------------------------------------------------------------------------------------- texts

    def read_guard(self, text: SourceText, machine: str) -> Expr:
        """A guard as it is written, with its timers noted; see `guard`."""
        written = parse_expression(functions(text), QUERY_KEYWORDS)
        for part in subexpressions(written):
            if isinstance(part, Call) and part.callee == "elapsed":
                self._note_elapsed(part, machine)
        return written

    def _note_elapsed(self, call: Call, machine: str) -> None:
        timer = self._timer(call, machine)
        times = call.arguments[1:]
        if not 1 <= len(times) <= 2:
            raise Problem("expected elapsed(timer, milliseconds)", call.origin)
        for time in times:
            constant = self._constant(time, machine)
            if not 0 <= constant <= _LONGEST:
                raise Problem(f"a time from 0 to {_LONGEST} ms is expected", time.origin)
            timer.longest = max(timer.longest, constant)
            self.elapsed.append(Elapsed(timer.symbol, constant))

    def _timer(self, call: Call, machine: str) -> TimerNames:
        name = call.arguments[0] if call.arguments else None
        path = path_of(name) if name is not None else None
        if path is not None:
            owner, _, last = path.rpartition(".")
            found = self._timers.get((owner or machine, last)) or self._timers.get((owner, last))
            if found is not None:
                return found
        known = [last for _, last in self._timers]
        raise Problem(
            f"`{call.callee}` of what is no timer",
            call.origin,
            suggestion(path or "", known) or "timers are variables of the type `timer`",
        )

    def _constant(self, expr: Expr, machine: str) -> int:
        scope = self._scope(machine)
        checked = self.checker.integer_value(self._resolved(expr, machine), scope, "a time")
        value = self.checker.constant(checked)
        if value is None:
            raise Problem("expected a constant", expr.origin)
        return value

    def guard(self, written: Expr, machine: str) -> Expr:
        resolved = self._resolved(written, machine, timers=True)
        checked = self._pure(self.checker.guard(resolved, self._scope(machine)))
        return self._meaning.truth(checked)

    @property
    def _meaning(self) -> Meaning:
        return Meaning(self._scales, self._formats)

    def formula(self, text: SourceText) -> Expr:
        """A condition on states, seen from outside. Names that only one machine has need not be
        qualified."""
        written = parse_expression(functions(text), QUERY_KEYWORDS)
        resolved = self._resolved(written, "", loose=True)
        return self._meaning.truth(self._pure(self.checker.guard(resolved, self.top)))

    def writes(self, text: SourceText, machine: str) -> tuple[Write, ...]:
        """Assignments; all of them use the values before."""
        return tuple(
            self._write(part, machine) for part in parse_updates(functions(text), QUERY_KEYWORDS)
        )

    def _write(self, update: Expr, machine: str) -> Write:
        origin = update.origin
        if isinstance(update, Call) and update.callee == "reset":
            if len(update.arguments) != 1:
                raise Problem("expected reset(timer)", origin)
            return Write(self._timer(update, machine).symbol, number(0, origin), origin)
        if not isinstance(update, Assignment | Step):
            raise Problem("expected an assignment or reset(timer)", origin)
        if isinstance(update.target, Name | Field):
            path = path_of(update.target) or ""
            if (machine, path) in self._timers or ("", path) in self._timers:
                raise Problem(
                    f"an assignment to the timer `{path}`",
                    origin,
                    f"write reset({path})",
                    unsupported=True,
                )
        scope = self._scope(machine)
        target = self.checker.integer_value(self._resolved(update.target, machine), scope)
        symbol = target.symbol if isinstance(target, Name) else None
        if symbol is None or symbol not in self.variables:
            raise Problem("an assignment to what is no variable", origin)
        # Not checked as an assignment: that a value is outside its variable's range is a finding.
        if isinstance(update, Step):
            value = operation(update.op[0], target, number(1, origin))
        else:
            value = self.checker.integer_value(self._resolved(update.value, machine), scope)
            if update.op != "=":
                value = operation(update.op[:-1], target, value)
        value = self._meaning.assigned(self._pure(value), symbol)
        value = replace(value, origin=origin)
        if isinstance(symbol.type, BoolType) and not isinstance(value.type, BoolType):
            value = compare("!=", value, number(0, origin))
        if self.variables[symbol].wrap:
            value = wrapped(value, self.variables[symbol].limits)
        return Write(symbol, value, origin)

    @staticmethod
    def _pure(expr: Expr) -> Expr:
        for part in subexpressions(expr):
            if not isinstance(part, IntLiteral | BoolLiteral | Name | Unary | Binary | Conditional):
                raise Problem(
                    "quantifiers, arrays, calls and assignments inside expressions",
                    part.origin,
                    unsupported=True,
                )
        return expr

    # --------------------------------------------------------------------------------- resolving

    def _resolved(
        self, expr: Expr, machine: str, *, timers: bool = False, loose: bool = False
    ) -> Expr:
        def inside(part: Expr) -> Expr:
            return self._resolved(part, machine, timers=timers, loose=loose)

        match expr:
            case Name() | Field():
                return self._named(expr, machine, loose)
            case Unary():
                return replace(expr, operand=inside(expr.operand))
            case Binary():
                return self._with_halves(expr, machine, inside)
            case Conditional():
                return replace(
                    expr,
                    condition=inside(expr.condition),
                    then=inside(expr.then),
                    otherwise=inside(expr.otherwise),
                )
            case Assignment():
                return replace(expr, target=inside(expr.target), value=inside(expr.value))
            case Step():
                return replace(expr, target=inside(expr.target))
            case Call(callee="elapsed"):
                if not timers:
                    raise Problem("`elapsed` outside of a guard", expr.origin, unsupported=True)
                return self._elapsed(expr, machine)
            case Call("decimal_", (IntLiteral(value=top), IntLiteral(value=below))):
                symbol = decimal_symbol(Fraction(top, below))
                self.top.entries.setdefault(f" {symbol.name}", VariableEntry(symbol))
                return Name(f" {symbol.name}", origin=expr.origin)
            case Call("float_", arguments):
                return self._float_literal(expr, arguments)
            case Call():
                raise Problem(f"unknown function `{expr.callee}`", expr.origin)
        return expr

    def _float_literal(self, expr: Call, arguments: Sequence[Expr]) -> Expr:
        """`2.5f`, `1.0e-3`: see :func:`whence.testing.texts.functions`."""
        parts = [self.checker.constant(one) for one in arguments]
        symbol = literal_symbol(parts)
        if symbol is None:
            raise Problem(f"unknown function `{expr.callee}`", expr.origin)
        self.top.entries.setdefault(f" {symbol.name}", VariableEntry(symbol, writable=False))
        return Name(f" {symbol.name}", origin=expr.origin)

    def _elapsed(self, call: Call, machine: str) -> Expr:
        age = self._timer(call, machine).symbol
        name = Name(f" {age}")
        self.top.entries.setdefault(name.name, VariableEntry(age))
        times = [self._constant(time, machine) for time in call.arguments[1:]]
        surely = Binary(">=", name, IntLiteral(times[-1]), origin=call.origin)
        if len(times) == 1:
            return surely
        # Time need not stop at the first bound: only `>=` limits waits (`definitions.timers`).
        possibly = Unary("!", Binary("<", name, IntLiteral(times[0]), origin=call.origin))
        now = Binary("==", Name(self.choice(machine, 2).name), IntLiteral(1))
        return either((surely, both((possibly, now))))

    def _named(self, expr: Name | Field, machine: str, loose: bool) -> Expr:
        path = path_of(expr)
        if path is None:
            raise Problem("expected a variable or Machine.State", expr.origin)
        owner, _, last = path.partition(".")
        for place, name in ((machine, path), ("", path), (owner, last)):
            if (place, name) in self._timers:
                raise Problem(
                    f"the value of the timer `{path}`",
                    expr.origin,
                    "timers can be used in elapsed(timer, milliseconds) and reset(timer)",
                    unsupported=True,
                )
            if (place, name) in self._floats:
                raise Problem(
                    f"arithmetic with the floating-point number `{path}`",
                    expr.origin,
                    "it can be compared with whole numbers",
                    unsupported=True,
                )
        if isinstance(expr, Name):
            known = self._scope(machine).find(expr.name) is not None
            return self._alone(expr) if loose and not known else expr
        if owner not in self.machines:
            raise Problem(
                f"unknown machine `{owner}`", expr.origin, suggestion(owner, list(self.machines))
            )
        return self._member(self.machines[owner], last, path, expr.origin)

    def _alone(self, expr: Name) -> Expr:
        """A name that is not declared for all: what of the machines is called so?"""
        homes = [
            one
            for one in self.machines.values()
            if expr.name in one.scope.entries or one.states(expr.name)
        ]
        if not homes:
            return expr
        if len(homes) > 1:
            options = " or ".join(f"{one.name}.{expr.name}" for one in homes[:5])
            raise Problem(f"`{expr.name}` is in several machines", expr.origin, f"write {options}")
        return self._member(homes[0], expr.name, f"{homes[0].name}.{expr.name}", expr.origin)

    def _member(self, home: MachineNames, last: str, path: str, origin: Origin) -> Expr:
        entry = home.scope.entries.get(last)
        states = home.states(last)
        if len(states) + (entry is not None) > 1:
            others = ", ".join(f"{home.name}.{one.ident}" for one in states)
            also = ", and a variable" if entry is not None else ""
            raise Problem(f"`{path}` can mean several things", origin, f"the states {others}{also}")
        match entry:
            case ConstantEntry(literal):
                return replace(literal, origin=origin)
            case VariableEntry():
                # A name with a blank is no name that anybody can write.
                alias = f" {path}"
                self.top.entries.setdefault(alias, entry)
                return Name(alias, origin=origin)
            case None:
                pass
            case _:
                raise Problem("", origin)
        if states:
            return replace(home.inside(states[0]), origin=origin)
        known = [one.ident for one in home.locations] + [one.name for one in home.locations]
        raise Problem(
            f"machine `{home.name}` has no state or variable `{last}`",
            origin,
            suggestion(last, [*known, *(n for n in home.scope.entries if " " not in n)]),
        )

    def _with_halves(self, expr: Binary, machine: str, inside: Callable[[Expr], Expr]) -> Expr:
        """A floating-point number compared with a constant: both doubled."""
        sides = []
        for side in (expr.left, expr.right):
            path = path_of(side) if isinstance(side, Name | Field) else None
            owner, _, last = ("", "", "") if path is None else path.rpartition(".")
            found = self._floats.get((owner or machine, last)) or self._floats.get((owner, last))
            sides.append(found)
        if expr.op not in _COMPARISONS or (sides[0] is None) == (sides[1] is None):
            return replace(expr, left=inside(expr.left), right=inside(expr.right))
        symbol = sides[0] or sides[1]
        assert symbol is not None
        other = expr.right if sides[0] is not None else expr.left
        constant = self._constant(other, machine)
        alias = f" halves of {symbol}"
        self.top.entries.setdefault(alias, VariableEntry(symbol))
        parts = [
            Name(alias, origin=side.origin)
            if found is not None
            else IntLiteral(2 * constant, origin=side.origin)
            for side, found in zip((expr.left, expr.right), sides, strict=True)
        ]
        return replace(expr, left=parts[0], right=parts[1])
