"""The one expression tree: what the parser builds, the checker types and everybody else reads.

The parser leaves `type` and `symbol` empty; the checker returns a new tree in which they are
filled in, names of constants are resolved, reference parameters are replaced by what they stand
for, and process locations are :class:`InLocation`.  Both trees print.  Nodes are values: equal
when they say the same, wherever they stand (`origin` and `type` do not count).

Meaning lives elsewhere: every interpretation (evaluation, bytecode, intervals, SMT, printing) is
a module of its own that walks this tree.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from whence.expr.types import Type
from whence.source import NOWHERE, Origin


class SymbolKind(Enum):
    CONSTANT = "constant"
    VARIABLE = "variable"  # data, clock or channel, global or of one process
    LOCAL = "local variable"  # of a function: locals and parameters alike
    SELECT = "select variable"
    BOUND = "bound variable"  # of a quantifier, or of `for (i : T)`
    FUNCTION = "function"


@dataclass(frozen=True, slots=True)
class Symbol:
    """A declared thing. `scope` is "" (global), a process, or a function, block or edge in one:
    (scope, name) is unique in a network."""

    scope: str
    name: str
    kind: SymbolKind
    type: Type

    def __str__(self) -> str:
        return f"{self.scope}.{self.name}" if self.scope else self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class _Node:
    origin: Origin = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Expr(_Node):
    type: Type | None = field(default=None, compare=False, repr=False)


# --------------------------------------------------------------------------------- expressions


@dataclass(frozen=True, slots=True)
class IntLiteral(_Expr):
    value: int


@dataclass(frozen=True, slots=True)
class BoolLiteral(_Expr):
    value: bool


@dataclass(frozen=True, slots=True)
class Name(_Expr):
    name: str
    symbol: Symbol | None = None


@dataclass(frozen=True, slots=True)
class Unary(_Expr):
    """`op` is one of `-`, `+`, `!` (`not` is read as `!`)."""

    op: str
    operand: Expr


@dataclass(frozen=True, slots=True)
class Binary(_Expr):
    """`op` is one of BINARY_OPS; `and`, `or` are read as `&&`, `||` and keep their meaning."""

    op: str
    left: Expr
    right: Expr


#: From the loosest to the tightest.
BINARY_OPS = (
    *("imply", "||", "&&", "|", "^", "&", "==", "!=", "<", "<=", ">", ">="),
    *("<?", ">?", "<<", ">>", "+", "-", "*", "/", "%"),
)


@dataclass(frozen=True, slots=True)
class Conditional(_Expr):
    condition: Expr
    then: Expr
    otherwise: Expr


@dataclass(frozen=True, slots=True)
class Index(_Expr):
    array: Expr
    index: Expr


@dataclass(frozen=True, slots=True)
class Field(_Expr):
    """`record.name`; before checking also `process.location` and `process.variable`."""

    record: Expr
    name: str


@dataclass(frozen=True, slots=True)
class Call(_Expr):
    """A function call; before checking also `Train(3)`, an instance of a template. `symbol` is
    the function called."""

    callee: str
    arguments: tuple[Expr, ...]
    symbol: Symbol | None = None


@dataclass(frozen=True, slots=True)
class Assignment(_Expr):
    """`op` is `=` (also written `:=`), `+=`, `-=`, `*=`, `/=`, `%=`, `&=`, `|=`, `^=`, `<<=`,
    `>>=`. On a clock it is a reset."""

    op: str
    target: Expr
    value: Expr


@dataclass(frozen=True, slots=True)
class Step(_Expr):
    """`++` and `--`, before (`prefix`) or after the target."""

    op: str
    prefix: bool
    target: Expr


@dataclass(frozen=True, slots=True)
class Quantifier(_Expr):
    """`forall (i : T) body`, `exists`, `sum`. `domain` is as written until checked; then
    `symbol` is set, and its type (an IntType, ScalarType or BoolType) is the domain."""

    kind: str
    variable: str
    domain: TypeSyntax | None
    body: Expr
    symbol: Symbol | None = None


@dataclass(frozen=True, slots=True)
class InLocation(_Expr):
    """Process number `process` (an integer expression) is in its location number `location`.

    `text` is what was written, e.g. `Train(i).Cross`."""

    process: Expr
    location: int
    text: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Deadlock(_Expr):
    """`deadlock`: no action transition is possible, now or after any delay."""


Expr = (
    IntLiteral
    | BoolLiteral
    | Name
    | Unary
    | Binary
    | Conditional
    | Index
    | Field
    | Call
    | Assignment
    | Step
    | Quantifier
    | InLocation
    | Deadlock
)


# ---------------------------------------------------------------------- types as they are written


@dataclass(frozen=True, slots=True)
class NamedType(_Node):
    """`int`, `bool`, `clock`, `chan`, `void` or a typedef's name, with its prefixes
    (`const`, `urgent`, `broadcast`, `meta`)."""

    name: str
    prefixes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RangeType(_Node):
    """`int[lo, hi]`."""

    lo: Expr
    hi: Expr
    prefixes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ScalarSyntax(_Node):
    """`scalar[n]`."""

    size: Expr
    prefixes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StructSyntax(_Node):
    fields: tuple[Declarator, ...]
    prefixes: tuple[str, ...] = ()


TypeSyntax = NamedType | RangeType | ScalarSyntax | StructSyntax


@dataclass(frozen=True, slots=True)
class Initialiser(_Node):
    """`{1, 2, {3}}` or `{x: 1, y: 2}`."""

    items: tuple[tuple[str | None, Expr | Initialiser], ...]


@dataclass(frozen=True, slots=True)
class Declarator(_Node):
    """One declared name: a variable, a constant, a struct's field."""

    type: TypeSyntax
    name: str
    dimensions: tuple[Expr | TypeSyntax, ...] = ()
    initial: Expr | Initialiser | None = None


@dataclass(frozen=True, slots=True)
class Typedef(_Node):
    type: TypeSyntax
    name: str
    dimensions: tuple[Expr | TypeSyntax, ...] = ()


@dataclass(frozen=True, slots=True)
class ParameterSyntax(_Node):
    """A template's or function's parameter; `reference` is the `&`."""

    type: TypeSyntax
    name: str
    reference: bool = False
    dimensions: tuple[Expr | TypeSyntax, ...] = ()


@dataclass(frozen=True, slots=True)
class FunctionSyntax(_Node):
    result: TypeSyntax
    name: str
    parameters: tuple[ParameterSyntax, ...]
    body: Block


@dataclass(frozen=True, slots=True)
class ChannelPriorities(_Node):
    """`chan priority a, b < default < c;`: groups from lowest to highest; None is `default`."""

    groups: tuple[tuple[Expr | None, ...], ...]


@dataclass(frozen=True, slots=True)
class SelectSyntax(_Node):
    """`i : int[0,3]` in an edge's select label."""

    name: str
    domain: TypeSyntax


@dataclass(frozen=True, slots=True)
class Instantiation(_Node):
    """`P1(int[0,3] i) = Template(i, x);` in the system declaration."""

    name: str
    parameters: tuple[ParameterSyntax, ...]
    template: str
    arguments: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class SystemLine(_Node):
    """`system A, B < C;`: names by priority group, from lowest to highest."""

    groups: tuple[tuple[Name, ...], ...]


@dataclass(frozen=True, slots=True)
class QuerySyntax(_Node):
    """A property as written: `kind` is `E<>`, `A[]`, `E[]`, `A<>`, `-->`, `sup` or `inf`; the
    fields are those of :class:`whence.model.network.Query`."""

    kind: str
    predicate: Expr | None
    second: Expr | None = None
    expressions: tuple[Expr, ...] = ()


DeclarationSyntax = Declarator | Typedef | FunctionSyntax | ChannelPriorities
SystemSyntax = DeclarationSyntax | Instantiation | SystemLine


# ----------------------------------------------------------------------------------- statements


@dataclass(frozen=True, slots=True)
class Local(_Node):
    """A checked local variable of a block: which symbol, and what it starts as (one expression a
    cell; empty: all zero, or the lowest value of the range)."""

    symbol: Symbol
    initial: tuple[Expr, ...] = ()


@dataclass(frozen=True, slots=True)
class Block(_Node):
    """`{ ... }`. Before checking, `declarations` are as written; after, they are `locals`."""

    declarations: tuple[DeclarationSyntax, ...]
    statements: tuple[Statement, ...]
    locals: tuple[Local, ...] = ()


@dataclass(frozen=True, slots=True)
class Evaluate(_Node):
    """An expression as a statement; None is the empty statement `;`."""

    expr: Expr | None


@dataclass(frozen=True, slots=True)
class If(_Node):
    condition: Expr
    then: Statement
    otherwise: Statement | None


@dataclass(frozen=True, slots=True)
class While(_Node):
    condition: Expr
    body: Statement


@dataclass(frozen=True, slots=True)
class DoWhile(_Node):
    body: Statement
    condition: Expr


@dataclass(frozen=True, slots=True)
class For(_Node):
    start: Expr | None
    condition: Expr | None
    advance: Expr | None
    body: Statement


@dataclass(frozen=True, slots=True)
class ForEach(_Node):
    """`for (i : T) body`, like :class:`Quantifier` in how its domain is resolved."""

    variable: str
    domain: TypeSyntax
    body: Statement
    symbol: Symbol | None = None


@dataclass(frozen=True, slots=True)
class Return(_Node):
    value: Expr | None


Statement = Block | Evaluate | If | While | DoWhile | For | ForEach | Return


# ---------------------------------------------------------------------------- checked functions


@dataclass(frozen=True, slots=True)
class Parameter:
    symbol: Symbol
    reference: bool


@dataclass(frozen=True, slots=True)
class Function:
    """A checked function. `symbol.type` is the result type."""

    symbol: Symbol
    parameters: tuple[Parameter, ...]
    body: Block
    origin: Origin = field(default=NOWHERE, compare=False, repr=False)
