"""Random checked expressions and updates, for comparing interpretations of them."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from whence.expr.evaluate import Store, evaluate
from whence.expr.faults import EvaluationError
from whence.expr.tree import (
    Assignment,
    Binary,
    Block,
    BoolLiteral,
    Call,
    Conditional,
    Evaluate,
    Expr,
    Field,
    For,
    ForEach,
    Function,
    If,
    Index,
    InLocation,
    IntLiteral,
    Local,
    Name,
    Parameter,
    Quantifier,
    Return,
    Statement,
    Step,
    Symbol,
    SymbolKind,
    TypeSyntax,
    Unary,
    While,
)
from whence.expr.types import (
    BOOL,
    CLOCK,
    CONSTRAINT,
    DIFFERENCE,
    INT32,
    ArrayType,
    BoolType,
    IntType,
    StructType,
    Type,
    named_cells,
)

LO, HI = INT32.lo, INT32.hi


def name(text: str, type_: Type, kind: SymbolKind = SymbolKind.VARIABLE, scope: str = "") -> Name:
    return Name(text, Symbol(scope, text, kind, type_), type=type_)


def symbol(of: Name) -> Symbol:
    assert of.symbol is not None
    return of.symbol


def number(value: int) -> IntLiteral:
    return IntLiteral(value, type=IntType(value, value))


def add(left: Expr, right: Expr) -> Binary:
    return Binary("+", left, right, type=INT32)


PAIR = StructType((("id", IntType(-3, 9)), ("on", BOOL)), "Pair")
A, B = name("a", INT32), name("b", IntType(-4, 5))
FLAG = name("flag", BOOL)
LIST = name("list", ArrayType(IntType(-8, 8), IntType(0, 2)))
GRID = name("grid", ArrayType(ArrayType(PAIR, IntType(1, 2)), IntType(0, 1)))
X, Y = name("x", CLOCK), name("y", CLOCK)
TABLE = name("T", ArrayType(IntType(0, 99), IntType(0, 3)), SymbolKind.CONSTANT)
CHOSEN = name("s", IntType(0, 2), SymbolKind.SELECT, "edge")

DATA = (A, B, FLAG, LIST, GRID)
CELLS = [cell.type for of in DATA for cell in named_cells(of.name, symbol(of).type)]
CONSTANTS = {symbol(TABLE): (3, 1, 4, 15)}
ADDRESS: dict[Symbol, int] = {}
for _of in DATA:
    ADDRESS[symbol(_of)] = sum(len(list(named_cells("", other.type))) for other in ADDRESS)
ADDRESS[symbol(X)] = len(CELLS)
ADDRESS[symbol(Y)] = len(CELLS) + 1
CLOCK_OF = (0,) * len(CELLS) + (1, 2)
PROCESSES = 2


def store(cells: list[int], clocks: list[Fraction], locations: list[int], chosen: int) -> Store:
    result = Store(
        data=list(cells),
        address=ADDRESS,
        clocks=[Fraction(0), *clocks],
        clock_of=CLOCK_OF,
        locations=list(locations),
        constants=CONSTANTS,
        functions=FUNCTIONS,
    )
    result.bind(symbol(CHOSEN), chosen)
    return result


# --------------------------------------------------------------------------------------- functions

NO_SYNTAX: TypeSyntax = None  # type: ignore[assignment]


def local(text: str, type_: Type, scope: str) -> Name:
    return name(text, type_, SymbolKind.LOCAL, scope)


def function(text: str, result: Type, parameters: list[tuple[Name, bool]], body: Block) -> Function:
    return Function(
        Symbol("", text, SymbolKind.FUNCTION, result),
        tuple(Parameter(symbol(of), reference) for of, reference in parameters),
        body,
    )


def block(*statements: Statement, locals_: tuple[Local, ...] = ()) -> Block:
    return Block((), statements, locals_)


def effect(target: Expr, op: str, value: Expr) -> Evaluate:
    return Evaluate(Assignment(op, target, value, type=target.type))


def _functions() -> list[Function]:
    v = local("v", IntType(-50, 50), "square")
    square = function(
        "square", IntType(0, 900), [(v, False)], block(Return(Binary("*", v, v, type=INT32)))
    )
    # The first position of a value, by a loop that is left early; none: -1.
    wanted, i = local("wanted", INT32, "find"), local("i", INT32, "find")
    hit = Binary("==", Index(LIST, i, type=IntType(-8, 8)), wanted, type=BOOL)
    find = function(
        "find",
        IntType(-1, 2),
        [(wanted, False)],
        block(
            For(
                Assignment("=", i, number(0), type=INT32),
                Binary("<", i, number(3), type=BOOL),
                Step("++", False, i, type=INT32),
                If(hit, Return(i), None),
            ),
            Return(number(-1)),
            locals_=(Local(symbol(i)),),
        ),
    )
    # Adds to what a reference stands for, unless that is odd; then there is no result.
    target, by = local("target", INT32, "raise"), local("by", INT32, "raise")
    odd = Binary("!=", Binary("%", target, number(2), type=INT32), number(0), type=BOOL)
    lift = function(
        "lift",
        BOOL,
        [(target, True), (by, False)],
        block(
            If(odd, block(effect(target, "-=", number(1))), Return(effect(target, "+=", by).expr)),
            If(Binary("<", by, number(0), type=BOOL), Return(by), None),
        ),
    )
    j = name("j", IntType(0, 2), SymbolKind.BOUND, "total")
    total_of, rounds = local("sum", IntType(-99, 99), "total"), local("n", INT32, "total")
    item = Index(LIST, j, type=IntType(-8, 8))
    total = function(
        "total",
        INT32,
        [],
        block(
            ForEach(
                "j",
                NO_SYNTAX,
                block(
                    If(Binary("<", item, number(-7), type=BOOL), Return(number(-100)), None),
                    effect(total_of, "+=", item),
                ),
                symbol(j),
            ),
            While(
                Binary("<", rounds, number(2), type=BOOL),
                block(
                    effect(total_of, "*=", number(2)),
                    Evaluate(Step("++", True, rounds, type=INT32)),
                ),
            ),
            Return(total_of),
            locals_=(Local(symbol(total_of), (FLAG,)), Local(symbol(rounds))),
        ),
    )
    return [square, find, lift, total]


SQUARE, FIND, LIFT, TOTAL = _functions()
FUNCTIONS = {of.symbol: of for of in (SQUARE, FIND, LIFT, TOTAL)}


def call(of: Function, *arguments: Expr) -> Call:
    return Call(of.symbol.name, arguments, of.symbol, type=of.symbol.type)


# -------------------------------------------------------------------------------------- strategies

_numbers = st.one_of(
    st.integers(-3, 9),
    st.sampled_from([LO, LO + 1, HI, HI - 1, 31, 32, 255, 65536, -65536]),
)
literals = st.one_of(
    st.builds(number, _numbers), st.booleans().map(lambda b: BoolLiteral(b, type=BOOL))
)


def _quantified(kind: str, scope: str, body: Expr) -> Quantifier:
    bound = symbol(name("k", IntType(-1, 2), SymbolKind.BOUND, scope))
    type_ = INT32 if kind == "sum" else BOOL
    return Quantifier(kind, "k", None, body, bound, type=type_)


BOUND = name("k", IntType(-1, 2), SymbolKind.BOUND, "q")


def expressions(*, effects: bool, bound: bool = False, depth: int = 3) -> st.SearchStrategy[Expr]:
    """Expressions of one integer or boolean cell."""
    leaves: list[st.SearchStrategy[Expr]] = [
        literals,
        st.sampled_from([A, B, FLAG, CHOSEN, *([BOUND] * bound)]),
    ]
    if depth == 0:
        return st.one_of(leaves)
    inner = st.deferred(lambda: expressions(effects=effects, bound=bound, depth=depth - 1))
    places = lvalues(effects=effects, bound=bound, depth=depth - 1)
    branches: list[st.SearchStrategy[Expr]] = [
        *leaves,
        places,
        st.builds(
            lambda op, left, right: Binary(op, left, right, type=INT32),
            st.sampled_from(["+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "<?", ">?"]),
            inner,
            inner,
        ),
        st.builds(
            lambda op, left, right: Binary(op, left, right, type=BOOL),
            st.sampled_from(["==", "!=", "<", "<=", ">", ">=", "&&", "||", "imply"]),
            inner,
            inner,
        ),
        st.builds(lambda of: Unary("-", of, type=INT32), inner),
        st.builds(lambda of: Unary("!", of, type=BOOL), inner),
        st.builds(lambda c, a, b: Conditional(c, a, b, type=INT32), inner, inner, inner),
        st.builds(lambda i: Index(TABLE, i, type=IntType(0, 99)), inner),
        st.builds(lambda i: call(SQUARE, i), inner),
        st.builds(lambda i: call(FIND, i), inner),
        st.just(call(TOTAL)),
        st.builds(lambda i, at: InLocation(i, at, type=BOOL), inner, st.integers(0, PROCESSES - 1)),
    ]
    if not bound:
        body = st.deferred(lambda: expressions(effects=False, bound=True, depth=depth - 1))
        branches.append(
            st.builds(
                lambda kind, of: _quantified(kind, "q", of),
                st.sampled_from(["forall", "exists", "sum"]),
                body,
            )
        )
    if effects:
        branches += [
            assignments(bound=bound, depth=depth - 1),
            st.builds(lambda of, by: call(LIFT, of, by), places, inner),
        ]
    return st.one_of(branches)


def lvalues(*, effects: bool, bound: bool, depth: int) -> st.SearchStrategy[Expr]:
    plain = st.sampled_from([A, B, FLAG])
    if depth == 0:
        return plain
    inner = st.deferred(lambda: expressions(effects=effects, bound=bound, depth=depth - 1))
    # Mostly indices that are inside.
    index = st.one_of(st.integers(0, 2).map(number), inner, st.just(CHOSEN))
    element = st.builds(lambda i: Index(LIST, i, type=IntType(-8, 8)), index)

    def in_grid(i: Expr, j: Expr, field: str) -> Expr:
        row = Index(GRID, i, type=ArrayType(PAIR, IntType(1, 2)))
        found = PAIR.field(field)
        assert found is not None
        return Field(Index(row, j, type=PAIR), field, type=found[1])

    of_grid = st.builds(in_grid, index, index, st.sampled_from(["id", "on"]))
    return st.one_of(plain, element, of_grid)


def assignments(*, bound: bool = False, depth: int = 2) -> st.SearchStrategy[Expr]:
    places = lvalues(effects=True, bound=bound, depth=depth)
    inner = expressions(effects=True, bound=bound, depth=depth)
    ops = ["=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="]
    return st.one_of(
        st.builds(
            lambda op, target, value: Assignment(op, target, value, type=target.type),
            st.sampled_from(["=", *ops]),
            places,
            inner,
        ),
        st.builds(
            lambda op, prefix, target: Step(op, prefix, target, type=target.type),
            st.sampled_from(["++", "--"]),
            st.booleans(),
            places,
        ),
    )


def updates() -> st.SearchStrategy[list[Expr]]:
    index = expressions(effects=False, depth=1)
    row = ArrayType(PAIR, IntType(1, 2))
    whole = st.builds(
        lambda i, j: Assignment("=", Index(GRID, i, type=row), Index(GRID, j, type=row), type=row),
        index,
        index,
    )
    reset = st.builds(
        lambda clock, value: Assignment("=", clock, value, type=CLOCK),
        st.sampled_from([X, Y]),
        expressions(effects=False, depth=2),
    )
    return st.lists(st.one_of(assignments(), assignments(), whole, reset), min_size=1, max_size=4)


def constraints(depth: int = 2) -> st.SearchStrategy[Expr]:
    """State formulas over clocks and data."""
    clocks: st.SearchStrategy[Expr] = st.sampled_from(
        [X, Y, Binary("-", X, Y, type=DIFFERENCE), Binary("-", Y, X, type=DIFFERENCE)]
    )
    atom = st.builds(
        lambda op, left, right: Binary(op, left, right, type=CONSTRAINT),
        st.sampled_from(["<", "<=", "==", ">=", ">"]),
        clocks,
        expressions(effects=False, depth=1),
    )
    if depth == 0:
        return atom
    inner = st.deferred(lambda: constraints(depth - 1))
    return st.one_of(
        atom,
        st.builds(lambda of: Unary("!", of, type=CONSTRAINT), inner),
        st.builds(
            lambda op, left, right: Binary(op, left, right, type=CONSTRAINT),
            st.sampled_from(["&&", "||", "imply"]),
            inner,
            st.one_of(inner, expressions(effects=False, depth=2)),
        ),
        st.builds(
            lambda kind, of: Quantifier(kind, "k", None, of, BOUND.symbol, type=CONSTRAINT),
            st.sampled_from(["forall", "exists"]),
            inner,
        ),
    )


def cell_values(type_: Type) -> st.SearchStrategy[int]:
    match type_:
        case BoolType():
            return st.integers(0, 1)
        case IntType(lo, hi) if hi - lo < 100:
            return st.integers(lo, hi)
        case _:
            return _numbers


#: The cells, the clocks, the locations, and the value of the select variable.
states = st.tuples(
    st.tuples(*map(cell_values, CELLS)).map(list),
    st.lists(st.fractions(0, 9, max_denominator=3), min_size=2, max_size=2),
    st.lists(st.integers(0, 1), min_size=PROCESSES, max_size=PROCESSES),
    st.integers(0, 2),
)


@given(expr=expressions(effects=True), sample=states)
def test_samples_are_typed_and_repeatable(
    expr: Expr, sample: tuple[list[int], list[Fraction], list[int], int]
) -> None:
    assert expr.type is not None
    outcomes = []
    for _ in range(2):
        try:
            outcomes.append(str(evaluate(expr, store(*sample))))
        except EvaluationError as error:
            outcomes.append(str(error))
    assert outcomes[0] == outcomes[1]
