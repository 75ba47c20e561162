"""Declarations and functions."""

from __future__ import annotations

from dataclasses import dataclass, field

from whence.expr.check_compare import describe, holds_channel, holds_clock, widened
from whence.expr.check_names import Place, literal_type
from whence.expr.check_processes import ProcessRules
from whence.expr.scope import (
    BrokenEntry,
    ConstantEntry,
    FunctionEntry,
    Problem,
    Scope,
    TypeEntry,
    VariableEntry,
)
from whence.expr.tree import (
    Assignment,
    Block,
    BoolLiteral,
    ChannelPriorities,
    DeclarationSyntax,
    Declarator,
    DoWhile,
    Evaluate,
    Expr,
    Field,
    For,
    ForEach,
    Function,
    FunctionSyntax,
    If,
    Index,
    Initialiser,
    IntLiteral,
    Local,
    Name,
    Parameter,
    ParameterSyntax,
    Return,
    Statement,
    Symbol,
    SymbolKind,
    Typedef,
    While,
)
from whence.expr.types import (
    BOOL,
    VOID,
    ArrayType,
    BoolType,
    IntType,
    ScalarType,
    StructType,
    Type,
)
from whence.source import Origin

__all__ = ["Declaration", "Declarations", "StatementRules"]


@dataclass(frozen=True, slots=True)
class Declaration:
    """A checked variable or constant: its symbol and first value, one integer a cell."""

    symbol: Symbol
    initial: tuple[int, ...]
    meta: bool
    origin: Origin


@dataclass(slots=True)
class Declarations:
    """What a text of declarations declares. Functions go to the context."""

    variables: list[Declaration] = field(default_factory=list)
    constants: list[Declaration] = field(default_factory=list)
    priorities: list[tuple[ChannelPriorities, tuple[tuple[Expr | None, ...], ...]]] = field(
        default_factory=list
    )


def constant_literal(type_: Type, value: int) -> IntLiteral | BoolLiteral:
    """The literal that the uses of a constant of one cell become."""
    if isinstance(type_, BoolType):
        return BoolLiteral(bool(value), type=BOOL)
    assert isinstance(type_, IntType | ScalarType)
    return IntLiteral(value, type=literal_type(type_, value))


class StatementRules(ProcessRules):
    """Checks declarations, functions and statements."""

    #: The result type of the function being checked.
    _result: Type = VOID

    # ------------------------------------------------------------------------- declarations

    def declare(
        self,
        declarations: tuple[DeclarationSyntax, ...],
        scope: Scope,
        result: Declarations,
        element: str = "",
    ) -> None:
        """Declare all of them in `scope`, noting each problem and going on behind it."""
        for declaration in declarations:
            try:
                self._declare_one(declaration, scope, result, element)
            except Problem as problem:
                self.context.problems.add(problem, element)
                name = getattr(declaration, "name", "")
                if name:
                    scope.entries.setdefault(name, BrokenEntry())

    def _declare_one(
        self,
        declaration: DeclarationSyntax,
        scope: Scope,
        result: Declarations,
        element: str,
    ) -> None:
        self.start(Place("a declaration"))
        match declaration:
            case Declarator():
                self._declare_variable(declaration, scope, result)
            case Typedef():
                self._declare_type(declaration, scope)
            case FunctionSyntax():
                self._declare_function(declaration, scope, element)
            case ChannelPriorities():
                self._declare_priorities(declaration, scope, result)

    def _declare_type(self, declaration: Typedef, scope: Scope) -> None:
        self._type_name = declaration.name
        try:
            found = self.declared(declaration.type, declaration.dimensions, scope)
        finally:
            self._type_name = ""
        scope.declare(
            declaration.name,
            TypeEntry(found.type, found.const, found.meta),
            declaration.origin,
        )

    def _declare_variable(
        self, declaration: Declarator, scope: Scope, result: Declarations
    ) -> None:
        found = self.declared(declaration.type, declaration.dimensions, scope)
        name, origin, type_ = declaration.name, declaration.origin, found.type
        if found.const and declaration.initial is None:
            raise Problem(f"constant `{name}` has no value", origin, f"write {name} = …")
        if found.const:
            # Only what is stored in a state is held to the range of a plain `int`.
            type_ = widened(type_)
        values = self.initial_values(type_, declaration.initial, scope, name)
        kind = SymbolKind.CONSTANT if found.const else SymbolKind.VARIABLE
        symbol = Symbol(scope.name, name, kind, type_)
        entry: ConstantEntry | VariableEntry
        if not found.const:
            entry = VariableEntry(symbol)
            result.variables.append(Declaration(symbol, values, found.meta, origin))
        else:
            result.constants.append(Declaration(symbol, values, found.meta, origin))
            entry = self.constant_entry(symbol, values)
        scope.declare(name, entry, origin)

    def constant_entry(
        self, symbol: Symbol, values: tuple[int, ...]
    ) -> ConstantEntry | VariableEntry:
        """What a constant's name stands for: its value, or an array or struct of values."""
        if isinstance(symbol.type, ArrayType | StructType):
            self.context.values[symbol] = values
            return VariableEntry(symbol, writable=False)
        return ConstantEntry(constant_literal(symbol.type, values[0]))

    def _declare_priorities(
        self, declaration: ChannelPriorities, scope: Scope, result: Declarations
    ) -> None:
        if result.priorities:
            raise Problem("channel priorities are declared twice", declaration.origin)
        groups: list[tuple[Expr | None, ...]] = []
        for group in declaration.groups:
            checked: list[Expr | None] = []
            for item in group:
                channel = None if item is None else self.visit(item, scope)
                if channel is not None and not holds_channel(channel.type):
                    raise Problem(
                        f"expected a channel, found {describe(channel.type)}", channel.origin
                    )
                checked.append(channel)
            groups.append(tuple(checked))
        result.priorities.append((declaration, tuple(groups)))

    # ---------------------------------------------------------------------------- functions

    def _declare_function(self, declaration: FunctionSyntax, scope: Scope, element: str) -> None:
        name, origin = declaration.name, declaration.origin
        result = self.declared(declaration.result, (), scope, void=True).type
        if holds_clock(result) or holds_channel(result):
            raise Problem(f"a function cannot return {describe(result)}", origin)
        symbol = Symbol(scope.name, name, SymbolKind.FUNCTION, result)
        inner = scope.child(str(symbol))
        parameters = tuple(
            self._parameter(parameter, inner) for parameter in declaration.parameters
        )
        entry = FunctionEntry(symbol, parameters)
        # Declared before its body is checked: a function may call itself.
        scope.declare(name, entry, origin)
        self.start(Place(f"function `{name}`", effects=True))
        self._result = result
        writes = [False]
        body = self._block(declaration.body, inner, element, writes)
        entry.writes = writes[0]
        self.context.functions[symbol] = Function(symbol, parameters, body, origin=origin)

    def _parameter(self, syntax: ParameterSyntax, scope: Scope) -> Parameter:
        found = self.declared(syntax.type, syntax.dimensions, scope)
        # What cannot be changed through a reference may as well be copied.
        reference = syntax.reference and not found.const
        if holds_channel(found.type):
            raise Problem(
                f"channels as parameters of functions (`{syntax.name}`)",
                syntax.origin,
                unsupported=True,
            )
        if holds_clock(found.type) and not reference:
            raise Problem(
                f"clock parameter `{syntax.name}` must be passed by reference",
                syntax.origin,
                "write `&` before its name",
            )
        symbol = Symbol(scope.name, syntax.name, SymbolKind.LOCAL, found.type)
        scope.declare(syntax.name, VariableEntry(symbol, not found.const), syntax.origin)
        return Parameter(symbol, reference)

    # --------------------------------------------------------------------------- statements

    def _block(self, block: Block, scope: Scope, element: str, writes: list[bool]) -> Block:
        locals_: list[Local] = []
        before: list[Statement] = []
        for declaration in block.declarations:
            self._forget()
            try:
                local, assignment = self._local(declaration, scope, late=bool(before))
            except Problem as problem:
                self.context.problems.add(problem, element)
                name = getattr(declaration, "name", "")
                if name:
                    scope.entries.setdefault(name, BrokenEntry())
                continue
            finally:
                writes[0] |= self.writes
            if local is not None:
                locals_.append(local)
            if assignment is not None:
                before.append(assignment)
        statements = tuple(
            self._statement(statement, scope, element, writes) for statement in block.statements
        )
        return Block((), (*before, *statements), tuple(locals_), origin=block.origin)

    def _forget(self) -> None:
        """What one statement depends on says nothing about the next one."""
        self.parametric = False
        self.writes = False

    def _local(
        self, declaration: DeclarationSyntax, scope: Scope, late: bool
    ) -> tuple[Local | None, Statement | None]:
        """A local variable and, if need be, the assignment that initialises it: a value of
        several cells comes from one expression, and everything behind it has to wait for it."""
        match declaration:
            case Typedef():
                self._declare_type(declaration, scope)
                return None, None
            case Declarator():
                pass
            case _:
                raise Problem("only variables and types can be local", declaration.origin)
        found = self.declared(declaration.type, declaration.dimensions, scope)
        name, origin, type_ = declaration.name, declaration.origin, found.type
        initial = declaration.initial
        if holds_channel(type_) or holds_clock(type_):
            raise Problem(f"local variable `{name}` is {describe(type_)}", origin)
        symbol = Symbol(scope.name, name, SymbolKind.LOCAL, type_)
        values: tuple[Expr, ...] = ()
        assignment: Statement | None = None
        what = f"the initial value of `{name}`"
        if isinstance(initial, Initialiser):
            values = self._initial_exprs(type_, initial, scope, what)
        elif initial is not None:
            value = self.visit(initial, scope)
            self.check_assignable(type_, value, what)
            values = (value,)
        if found.const and not values:
            raise Problem(f"constant `{name}` has no value", origin, f"write {name} = …")
        scope.declare(name, VariableEntry(symbol, not found.const), origin)
        if values and (
            late
            or (not isinstance(initial, Initialiser) and isinstance(type_, ArrayType | StructType))
        ):
            assignment = self._assignments(symbol, values, isinstance(initial, Initialiser), origin)
            values = ()
        return Local(symbol, values, origin=origin), assignment

    def _initial_exprs(
        self, type_: Type, initial: Expr | Initialiser, scope: Scope, what: str
    ) -> tuple[Expr, ...]:
        if isinstance(initial, Initialiser):
            return tuple(
                value
                for part, item in self.parts(type_, initial)
                for value in self._initial_exprs(part, item, scope, what)
            )
        value = self.visit(initial, scope)
        self.check_assignable(type_, value, what)
        if isinstance(type_, ArrayType | StructType):
            return tuple(part for _, part in _cells_of(value, type_))
        return (value,)

    def _assignments(
        self, symbol: Symbol, values: tuple[Expr, ...], flat: bool, origin: Origin
    ) -> Statement:
        place = Name(symbol.name, symbol, type=symbol.type, origin=origin)
        targets: list[Expr] = [place]
        if flat:
            targets = [part for _, part in _cells_of(place, symbol.type)]
        statements = tuple(
            Evaluate(
                Assignment("=", target, value, type=target.type, origin=value.origin),
                origin=value.origin,
            )
            for target, value in zip(targets, values, strict=True)
        )
        return statements[0] if len(statements) == 1 else Block((), statements, origin=origin)

    def _statement(
        self, statement: Statement, scope: Scope, element: str, writes: list[bool]
    ) -> Statement:
        """The checked statement. What is wrong in it is noted; the check goes on behind it."""
        match statement:
            case Block():
                return self._block(statement, scope.nested(), element, writes)
            case If():
                condition = self._condition(statement.condition, scope, "if", element, writes)
                known = None if condition is None else self._known(condition)
                self.dead += known == 0
                then = self._statement(statement.then, scope, element, writes)
                self.dead += (known not in (None, 0)) - (known == 0)
                otherwise = None
                if statement.otherwise is not None:
                    otherwise = self._statement(statement.otherwise, scope, element, writes)
                self.dead -= known not in (None, 0)
                return If(condition or _ZERO, then, otherwise, origin=statement.origin)
            case While():
                condition = self._condition(statement.condition, scope, "while", element, writes)
                dead = condition is not None and self._known(condition) == 0
                self.dead += dead
                body = self._statement(statement.body, scope, element, writes)
                self.dead -= dead
                return While(condition or _ZERO, body, origin=statement.origin)
            case DoWhile():
                body = self._statement(statement.body, scope, element, writes)
                condition = self._condition(statement.condition, scope, "while", element, writes)
                return DoWhile(body, condition or _ZERO, origin=statement.origin)
            case For():
                return self._for(statement, scope, element, writes)
            case ForEach():
                return self._for_each(statement, scope, element, writes)
            case Evaluate():
                if statement.expr is None:
                    return statement
                expr = self._guarded(statement.expr, scope, element, writes)
                return Evaluate(expr, origin=statement.origin)
            case Return():
                return self._return(statement, scope, element, writes)

    def _known(self, condition: Expr) -> int | None:
        try:
            return self.constant(condition)
        except Problem:
            return None

    def _guarded(self, expr: Expr, scope: Scope, element: str, writes: list[bool]) -> Expr | None:
        """A checked expression of any type, or None (and a note) if it is wrong."""
        self._forget()
        try:
            return self.visit(expr, scope)
        except Problem as problem:
            self.context.problems.add(problem, element)
            return None
        finally:
            writes[0] |= self.writes

    def _condition(
        self, expr: Expr, scope: Scope, keyword: str, element: str, writes: list[bool]
    ) -> Expr | None:
        checked = self._guarded(expr, scope, element, writes)
        with self.context.problems.collecting(element):
            if checked is not None:
                self.require_integer(checked, f"the condition of `{keyword}`")
        return checked

    def _for(self, statement: For, scope: Scope, element: str, writes: list[bool]) -> Statement:
        start = condition = advance = None
        if statement.start is not None:
            start = self._guarded(statement.start, scope, element, writes)
        if statement.condition is not None:
            condition = self._condition(statement.condition, scope, "for", element, writes)
        if statement.advance is not None:
            advance = self._guarded(statement.advance, scope, element, writes)
        body = self._statement(statement.body, scope, element, writes)
        return For(start, condition, advance, body, origin=statement.origin)

    def _for_each(
        self, statement: ForEach, scope: Scope, element: str, writes: list[bool]
    ) -> Statement:
        inner = scope.nested()
        self._forget()
        symbol = None
        try:
            type_ = self.domain(statement.domain, scope)
            symbol = Symbol(inner.name, statement.variable, SymbolKind.BOUND, type_)
            inner.declare(statement.variable, VariableEntry(symbol, writable=False))
        except Problem as problem:
            self.context.problems.add(problem, element)
            inner.entries.setdefault(statement.variable, BrokenEntry())
        body = self._statement(statement.body, inner, element, writes)
        return ForEach(statement.variable, statement.domain, body, symbol, origin=statement.origin)

    def _return(
        self, statement: Return, scope: Scope, element: str, writes: list[bool]
    ) -> Statement:
        value = None
        with self.context.problems.collecting(element):
            if statement.value is None:
                if self._result != VOID:
                    raise Problem(
                        f"expected {describe(self._result)} after `return`", statement.origin
                    )
            else:
                value = self._guarded(statement.value, scope, element, writes)
                if value is not None and self._result == VOID:
                    # UPPAAL lets a void function return the nothing that a call gives.
                    if value.type != VOID:
                        raise Problem(
                            "this function is declared to return nothing", statement.origin
                        )
                elif value is not None:
                    self.check_assignable(self._result, value, "what is returned")
        return Return(value, origin=statement.origin)


_ZERO = IntLiteral(0, type=IntType(0, 0))


def _cells_of(place: Expr, type_: Type) -> list[tuple[Type, Expr]]:
    """The cells of an lvalue (or constant), each as an expression."""
    match type_:
        case ArrayType():
            return [
                cell
                for index in range(type_.lo, type_.lo + type_.length)
                for cell in _cells_of(
                    Index(
                        place,
                        IntLiteral(index, type=IntType(index, index), origin=place.origin),
                        type=type_.element,
                        origin=place.origin,
                    ),
                    type_.element,
                )
            ]
        case StructType():
            return [
                cell
                for name, field_type in type_.fields
                for cell in _cells_of(
                    Field(place, name, type=field_type, origin=place.origin), field_type
                )
            ]
        case _:
            return [(type_, place)]
