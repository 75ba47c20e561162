"""What the plain evaluator computes, operator by operator and statement by statement."""

from __future__ import annotations

from fractions import Fraction

import pytest

from whence.expr import evaluate as module
from whence.expr.evaluate import (
    Returned,
    Store,
    apply_updates,
    evaluate,
    evaluate_constant,
    execute,
    holds,
)
from whence.expr.faults import CALL_DEPTH, EvaluationError, Fault
from whence.expr.tree import (
    Assignment,
    Binary,
    Block,
    BoolLiteral,
    Call,
    Conditional,
    Deadlock,
    DoWhile,
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
    Unary,
    While,
)
from whence.expr.types import (
    BOOL,
    CLOCK,
    INT32,
    VOID,
    ArrayType,
    IntType,
    ScalarType,
    StructType,
    Type,
)
from whence.source import InputError, Origin

LO, HI = -(2**31), 2**31 - 1


def n(value: int) -> IntLiteral:
    return IntLiteral(value)


def variable(name: str, type_: Type, kind: SymbolKind = SymbolKind.VARIABLE) -> Name:
    return Name(name, Symbol("" if kind is SymbolKind.VARIABLE else "f", name, kind, type_))


def local(name: str, type_: Type = INT32) -> Name:
    return variable(name, type_, SymbolKind.LOCAL)


def symbol(name: Name) -> Symbol:
    assert name.symbol is not None
    return name.symbol


PAIR = StructType((("id", IntType(1, 9)), ("on", BOOL)), "Pair")
A = variable("a", INT32)
SMALL = variable("small", IntType(0, 7))
FLAG = variable("flag", BOOL)
LIST = variable("list", ArrayType(IntType(0, 7), IntType(0, 3)))
OTHER = variable("other", ArrayType(INT32, IntType(0, 3)))
P = variable("p", PAIR)
Q = variable("q", ArrayType(PAIR, IntType(1, 2)))
X = variable("x", CLOCK)
Y = variable("y", CLOCK)
BAG = variable("bag", ScalarType(3, "S"))
VARIABLES = (A, SMALL, FLAG, LIST, OTHER, P, Q, BAG)


def make_store(**values: int) -> Store:
    address: dict[Symbol, int] = {}
    data: list[int] = []
    for name in VARIABLES:
        address[symbol(name)] = len(data)
        data += module.default_cells(symbol(name).type)
    address[symbol(X)] = len(data)
    address[symbol(Y)] = len(data) + 1
    store = Store(
        data=data,
        address=address,
        clock_of=[0] * len(data) + [1, 2],
        clocks=[Fraction(0), Fraction(5, 2), Fraction(1)],
        locations=[0, 2],
    )
    for name, value in values.items():
        (found,) = (place for at, place in address.items() if at.name == name)
        data[found] = value
    return store


def fault_of(expr: Expr, store: Store | None = None) -> EvaluationError:
    with pytest.raises(EvaluationError) as caught:
        evaluate(expr, make_store() if store is None else store)
    return caught.value


@pytest.mark.parametrize(
    ("op", "left", "right", "expected"),
    [
        ("+", 2, 3, 5),
        ("+", HI, 0, HI),
        ("-", LO, 0, LO),
        ("*", -4, 3, -12),
        ("*", 65536, -32768, LO),
        ("/", 7, 2, 3),
        ("/", -7, 2, -3),
        ("/", 7, -2, -3),
        ("/", -7, -2, 3),
        ("/", 0, -5, 0),
        ("%", 7, 3, 1),
        ("%", -7, 3, -1),
        ("%", 7, -3, 1),
        ("%", -7, -3, -1),
        ("%", LO, -1, 0),
        ("<<", 1, 30, 2**30),
        ("<<", -1, 31, LO),
        ("<<", 5, 0, 5),
        (">>", -8, 1, -4),
        (">>", -1, 31, -1),
        (">>", HI, 31, 0),
        ("&", 12, 10, 8),
        ("&", -1, 10, 10),
        ("|", 12, 10, 14),
        ("|", LO, HI, -1),
        ("^", 12, 10, 6),
        ("^", -1, 0, -1),
        ("<?", -3, 2, -3),
        (">?", -3, 2, 2),
        ("==", 3, 3, 1),
        ("!=", 3, 3, 0),
        ("<", 2, 3, 1),
        ("<=", 3, 3, 1),
        (">", 2, 3, 0),
        (">=", 3, 4, 0),
        ("&&", 2, 3, 1),
        ("&&", 2, 0, 0),
        ("||", 0, -1, 1),
        ("||", 0, 0, 0),
        ("imply", 0, 0, 1),
        ("imply", 5, 0, 0),
        ("imply", 5, 7, 1),
    ],
)
def test_binary_operators(op: str, left: int, right: int, expected: int) -> None:
    assert evaluate(Binary(op, n(left), n(right)), Store()) == expected


@pytest.mark.parametrize(
    ("op", "left", "right", "fault"),
    [
        ("+", HI, 1, Fault.OVERFLOW),
        ("-", LO, 1, Fault.OVERFLOW),
        ("*", 65536, 32768, Fault.OVERFLOW),
        ("/", LO, -1, Fault.OVERFLOW),
        ("<<", 1, 31, Fault.OVERFLOW),
        ("<<", -3, 31, Fault.OVERFLOW),
        ("/", 1, 0, Fault.DIVISION_BY_ZERO),
        ("%", 0, 0, Fault.DIVISION_BY_ZERO),
        ("<<", 1, 32, Fault.BAD_SHIFT),
        (">>", 1, -1, Fault.BAD_SHIFT),
    ],
)
def test_faults_of_operators(op: str, left: int, right: int, fault: Fault) -> None:
    at = Origin("m.xml", 3, 4)
    error = fault_of(Binary("+", Binary(op, n(left), n(right), origin=at), n(0)))
    assert error.fault is fault
    assert error.origin == at
    assert error.detail == f"{left} {op} {right}"


def test_unary_operators() -> None:
    assert evaluate(Unary("-", n(5)), Store()) == -5
    assert evaluate(Unary("+", n(5)), Store()) == 5
    assert evaluate(Unary("!", n(5)), Store()) == 0
    assert evaluate(Unary("!", n(0)), Store()) == 1
    assert fault_of(Unary("-", n(LO))).fault is Fault.OVERFLOW


BOOM = Binary("/", n(1), n(0))


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        (Binary("&&", n(0), BOOM), 0),
        (Binary("||", n(2), BOOM), 1),
        (Binary("imply", n(0), BOOM), 1),
        (Conditional(n(2), n(7), BOOM), 7),
        (Conditional(n(0), BOOM, n(8)), 8),
    ],
)
def test_short_circuit(expr: Expr, expected: int) -> None:
    assert evaluate(expr, Store()) == expected


def bound(type_: Type) -> Name:
    return variable("i", type_, SymbolKind.BOUND)


@pytest.mark.parametrize(
    ("kind", "body", "expected"),
    [
        ("forall", lambda i: Binary(">=", i, n(-1)), 1),
        ("forall", lambda i: Binary("&&", Binary("!=", i, n(-1)), BOOM), 0),
        ("exists", lambda i: Conditional(Binary("<", i, n(0)), n(1), BOOM), 1),
        ("exists", lambda i: Binary(">", i, n(2)), 0),
        ("sum", lambda i: Binary("*", i, i), 6),
        ("sum", lambda i: Binary(">", i, n(0)), 2),
    ],
)
def test_quantifiers(kind: str, body: object, expected: int) -> None:
    assert callable(body)
    i = bound(IntType(-1, 2))
    store = Store()
    assert evaluate(Quantifier(kind, "i", None, body(i), i.symbol), store) == expected
    assert not store.frame


@pytest.mark.parametrize(
    ("type_", "expected"), [(BOOL, 1), (ScalarType(4, ""), 6), (IntType(0, -1), 0)]
)
def test_domains(type_: Type, expected: int) -> None:
    i = bound(type_)
    assert evaluate(Quantifier("sum", "i", None, i, i.symbol), Store()) == expected


def test_sum_overflows() -> None:
    i = bound(IntType(0, 1))
    assert fault_of(Quantifier("sum", "i", None, n(HI), i.symbol)).fault is Fault.OVERFLOW


# ------------------------------------------------------------------------------------- assignments


@pytest.mark.parametrize(
    ("op", "start", "operand", "expected"),
    [
        ("=", 1, 6, 6),
        ("+=", 1, 6, 7),
        ("-=", 7, 6, 1),
        ("*=", 2, 3, 6),
        ("/=", 7, 2, 3),
        ("%=", 7, 4, 3),
        ("&=", 6, 3, 2),
        ("|=", 4, 3, 7),
        ("^=", 6, 3, 5),
        ("<<=", 1, 2, 4),
        (">>=", 7, 1, 3),
    ],
)
def test_assignments(op: str, start: int, operand: int, expected: int) -> None:
    store = make_store(small=start)
    assert evaluate(Assignment(op, SMALL, n(operand)), store) == expected
    assert evaluate(SMALL, store) == expected


@pytest.mark.parametrize(
    ("op", "prefix", "value", "after"),
    [("++", True, 4, 4), ("++", False, 3, 4), ("--", True, 2, 2), ("--", False, 3, 2)],
)
def test_steps(op: str, prefix: bool, value: int, after: int) -> None:
    store = make_store(small=3)
    assert evaluate(Step(op, prefix, SMALL), store) == value
    assert evaluate(SMALL, store) == after


@pytest.mark.parametrize(
    ("update", "detail"),
    [
        (Assignment("=", SMALL, n(8)), "small := 8, allowed 0..7"),
        (Assignment("-=", SMALL, n(1)), "small := -1, allowed 0..7"),
        (Step("--", False, SMALL), "small := -1, allowed 0..7"),
        (Assignment("=", Index(LIST, n(3)), n(12)), "list[3] := 12, allowed 0..7"),
        (Assignment("=", Field(P, "id"), n(0)), "p.id := 0, allowed 1..9"),
        (Assignment("=", Field(Index(Q, n(2)), "id"), n(10)), "q[2].id := 10, allowed 1..9"),
        (Assignment("=", BAG, n(3)), "bag := 3, allowed 0..2"),
    ],
)
def test_range_of_target(update: Expr, detail: str) -> None:
    error = fault_of(update)
    assert error.fault is Fault.OUT_OF_RANGE
    assert error.detail == detail


def test_arrays_of_other_ranges_are_checked_cell_by_cell() -> None:
    store = make_store()
    apply_updates([Assignment("=", Index(OTHER, n(2)), n(9))], store)
    error = fault_of(Assignment("=", LIST, OTHER), store)
    assert error.detail == "list[2] := 9, allowed 0..7"
    assert evaluate(LIST, store) == (0, 0, 0, 0)


def test_truth_values_are_stored_as_0_and_1() -> None:
    store = make_store()
    assert evaluate(Assignment("=", FLAG, n(-8)), store) == 1
    assert evaluate(Step("++", False, FLAG), store) == 1
    assert evaluate(FLAG, store) == 1
    assert evaluate(Assignment("+=", SMALL, FLAG), store) == 1
    assert evaluate(Binary("==", FLAG, BoolLiteral(True)), store) == 1


def test_an_assignment_is_evaluated_from_left_to_right() -> None:
    store = make_store(a=1)
    # The index before the value: list[1] := (a becomes 2).
    apply_updates([Assignment("=", Index(LIST, A), Step("++", True, A))], store)
    assert evaluate(LIST, store) == (0, 2, 0, 0)
    # The old value before the operand: 2 + 5, though the operand sets `a` to 5.
    assert evaluate(Assignment("+=", A, Assignment("=", A, n(5))), store) == 7


def test_assignments_as_targets() -> None:
    store = make_store()
    apply_updates([Assignment("+=", Assignment("=", A, n(3)), n(4)), Step("++", True, A)], store)
    assert evaluate(A, store) == 8
    either = Conditional(BoolLiteral(False), A, SMALL)
    assert evaluate(Assignment("=", Step("--", True, either), n(2)), make_store(small=3)) == 2


@pytest.mark.parametrize("index", [-1, 4])
def test_bad_index(index: int) -> None:
    error = fault_of(Index(LIST, n(index), origin=Origin("f", 1, 2)))
    assert error.fault is Fault.BAD_INDEX
    assert error.detail == f"list[{index}], allowed 0..3"
    assert error.origin == Origin("f", 1, 2)


def test_arrays_that_do_not_start_at_zero() -> None:
    store = make_store()
    apply_updates([Assignment("=", Field(Index(Q, n(1)), "id"), n(4))], store)
    assert evaluate(Q, store) == (4, 0, 1, 0)
    assert fault_of(Index(Q, n(0)), store).fault is Fault.BAD_INDEX


def test_structs() -> None:
    store = make_store()
    second = Index(Q, n(2))
    apply_updates(
        [
            Assignment("=", Field(second, "id"), n(6)),
            Assignment("=", Field(second, "on"), n(2)),
            Assignment("=", P, second),
        ],
        store,
    )
    assert evaluate(P, store) == (6, 1)
    assert evaluate(Binary("==", P, second), store) == 1
    assert evaluate(Binary("!=", P, second), store) == 0
    assert evaluate(Binary("==", P, Index(Q, n(1))), store) == 0
    assert evaluate(Field(Conditional(n(0), P, Index(Q, n(1))), "id"), store) == 1


# ------------------------------------------------------------------------------ clocks, locations


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        (Binary("<=", X, n(2)), False),
        (Binary("<", X, n(3)), True),
        (Binary("==", Y, n(1)), True),
        (Binary("!=", Y, n(1)), False),
        (Binary(">=", Binary("-", X, Y), n(1)), True),
        (Binary(">", Binary("-", Y, X), n(-2)), True),
        (Binary("&&", Binary(">", X, n(2)), Binary("<=", Y, n(1))), True),
        (Unary("!", Binary(">", X, n(2))), False),
    ],
)
def test_clock_constraints(expr: Expr, expected: bool) -> None:
    assert holds(expr, make_store()) is expected


def test_clock_reset() -> None:
    store = make_store()
    apply_updates([Assignment("=", X, Binary("+", n(1), n(2)))], store)
    assert store.clocks == [0, 3, 1]
    error = fault_of(Assignment("=", X, n(-1)), store)
    assert error.fault is Fault.NEGATIVE_CLOCK
    assert error.detail == "x := -1"


def test_locations() -> None:
    store = make_store()
    assert holds(InLocation(n(1), 2), store)
    assert not holds(InLocation(n(0), 2), store)
    assert fault_of(InLocation(n(2), 0), store).fault is Fault.BAD_INDEX


def test_deadlock_is_for_somebody_else_to_decide() -> None:
    store = make_store()
    with pytest.raises(InputError):
        holds(Deadlock(), store)
    store.deadlock = lambda: True
    assert holds(Deadlock(), store)


# --------------------------------------------------------------------------------------- functions


def function(
    name: str,
    result: Type,
    parameters: list[tuple[Name, bool]],
    *statements: Statement,
    locals_: tuple[Local, ...] = (),
) -> Function:
    return Function(
        Symbol("", name, SymbolKind.FUNCTION, result),
        tuple(Parameter(symbol(name), reference) for name, reference in parameters),
        Block((), statements, locals_),
    )


def call(of: Function, *arguments: Expr, store: Store | None = None) -> object:
    store = make_store() if store is None else store
    store.functions = {**store.functions, of.symbol: of}
    return evaluate(Call(of.symbol.name, arguments, of.symbol), store)


COUNT, S = local("i"), local("s")


def test_loops() -> None:
    body = Evaluate(Assignment("+=", S, COUNT))
    start = Local(symbol(S), (n(0),))
    count = Local(symbol(COUNT), (n(0),))
    less = Binary("<", COUNT, n(5))
    more = Step("++", False, COUNT)
    step = Block((), (body, Evaluate(more)))
    for loop, expected in (
        (For(Assignment("=", COUNT, n(1)), less, more, body), 10),
        (While(less, step), 10),
        (DoWhile(step, less), 10),
        (DoWhile(step, n(0)), 0),
        (For(None, None, more, If(less, body, Return(S))), 10),
        (ForEach("i", None, body, COUNT.symbol), 3),  # type: ignore[arg-type]
    ):
        if isinstance(loop, ForEach):
            i = variable("i", IntType(-1, 2), SymbolKind.BOUND)
            loop = ForEach("i", loop.domain, Evaluate(Assignment("+=", S, i)), i.symbol)
            expected = 2
        f = function("f", INT32, [], loop, Return(S), locals_=(start, count))
        assert call(f) == expected


def test_locals_start_anew() -> None:
    j, low = local("j", IntType(3, 9)), local("low")
    inner = Block((), (Evaluate(Step("++", False, j)),), (Local(symbol(j)),))
    f = function(
        "f",
        INT32,
        [],
        For(Assignment("=", low, n(0)), Binary("<", low, n(9)), Step("++", True, low), inner),
        Return(low),
        locals_=(Local(symbol(low)),),
    )
    assert call(f) == 9


def test_range_of_locals_parameters_and_results() -> None:
    small = local("k", IntType(0, 3))
    by_initial = function("f", INT32, [], Return(small), locals_=(Local(symbol(small), (n(4),)),))
    by_argument = function("f", INT32, [(small, False)], Return(small))
    by_result = function("f", IntType(0, 3), [], Return(n(4)))
    for f, arguments, detail in (
        (by_initial, (), "k := 4, allowed 0..3"),
        (by_argument, (n(-1),), "k := -1, allowed 0..3"),
        (by_result, (), "f() := 4, allowed 0..3"),
    ):
        with pytest.raises(EvaluationError) as caught:
            call(f, *arguments)
        assert caught.value.fault is Fault.OUT_OF_RANGE
        assert caught.value.detail == detail


def test_references_and_copies() -> None:
    whole = local("v", ArrayType(IntType(0, 7), IntType(0, 3)))
    change = Evaluate(Assignment("=", Index(whole, n(1)), n(5)))
    store = make_store()
    assert call(function("f", VOID, [(whole, False)], change), LIST, store=store) == ()
    assert evaluate(LIST, store) == (0, 0, 0, 0)
    call(function("g", VOID, [(whole, True)], change), LIST, store=store)
    assert evaluate(LIST, store) == (0, 5, 0, 0)


def test_a_reference_keeps_the_range_of_what_it_stands_for() -> None:
    wide = local("v", IntType(-100, 100))
    f = function("f", VOID, [(wide, True)], Evaluate(Assignment("=", wide, n(50))))
    store = make_store()
    with pytest.raises(EvaluationError) as caught:
        call(f, SMALL, store=store)
    assert caught.value.detail == "small := 50, allowed 0..7"
    narrow = local("w", IntType(0, 3))
    f = function("f", VOID, [(narrow, True)], Evaluate(Assignment("=", narrow, n(5))))
    with pytest.raises(EvaluationError):
        call(f, A, store=store)


def test_a_reference_is_indexed_as_the_parameter_says() -> None:
    moved = local("v", ArrayType(IntType(0, 7), IntType(1, 4)))
    f = function("f", VOID, [(moved, True)], Evaluate(Assignment("=", Index(moved, n(4)), n(5))))
    store = make_store()
    call(f, LIST, store=store)
    assert evaluate(LIST, store) == (0, 0, 0, 5)


def test_structs_as_results() -> None:
    f = function("f", PAIR, [], Return(Index(Q, n(2))))
    store = make_store()
    assert call(f, store=store) == (1, 0)
    assert evaluate(Field(Call("f", (), f.symbol), "id"), store) == 1


def test_clocks_as_references() -> None:
    c = local("c", CLOCK)
    store = make_store()
    call(function("f", VOID, [(c, True)], Evaluate(Assignment("=", c, n(7)))), Y, store=store)
    assert store.clocks == [0, Fraction(5, 2), 7]


def test_no_return() -> None:
    f = function("f", INT32, [(COUNT, False)], If(COUNT, Return(n(1)), None))
    assert call(f, n(1)) == 1
    with pytest.raises(EvaluationError) as caught:
        call(f, n(0))
    assert caught.value.fault is Fault.NO_RETURN


def recursion(depth: int) -> tuple[Function, Expr]:
    f = Symbol("", "f", SymbolKind.FUNCTION, INT32)
    inner: Expr = Binary("+", Call("f", (Binary("-", COUNT, n(1)),), f), n(1))
    for _ in range(20):
        inner = Binary("+", n(0), inner)
    body = Block((), (If(COUNT, Return(inner), None), Return(n(0))))
    return Function(f, (Parameter(symbol(COUNT), False),), body), Call("f", (n(depth),), f)


def test_recursion_down_to_the_limit() -> None:
    f, outermost = recursion(CALL_DEPTH - 1)
    assert evaluate(outermost, Store(functions={f.symbol: f})) == CALL_DEPTH - 1
    f, outermost = recursion(CALL_DEPTH)
    store = Store(functions={f.symbol: f})
    assert fault_of(outermost, store).fault is Fault.RECURSION
    assert store.depth == 0


def test_endless_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LOOP_STEPS", 100)

    def twice(rounds: int) -> Function:
        i = variable("i", IntType(1, rounds), SymbolKind.BOUND)
        loop = ForEach("i", None, Evaluate(None), i.symbol)  # type: ignore[arg-type]
        return function("f", INT32, [], loop, loop, Return(n(0)))

    assert call(twice(50)) == 0
    for f in (twice(51), function("g", VOID, [], While(n(1), Evaluate(None)))):
        with pytest.raises(EvaluationError) as caught:
            call(f)
        assert caught.value.fault is Fault.ENDLESS_LOOP


def test_statements_alone() -> None:
    store = make_store()
    assert execute(Evaluate(Assignment("=", A, n(2))), store) is None
    assert execute(Block((), (Return(A), Evaluate(BOOM))), store) == Returned((2,))


def test_constants() -> None:
    table = variable("T", ArrayType(INT32, IntType(0, 2)), SymbolKind.CONSTANT)
    constants = {symbol(table): (4, 5, 6)}
    assert evaluate_constant(Index(table, n(2)), constants, {}) == (6,)
    assert evaluate_constant(table, constants, {}) == (4, 5, 6)
    with pytest.raises(InputError, match="`a` has no value here"):
        evaluate_constant(A, constants, {})


def test_deep_expressions() -> None:
    deep: Expr = n(0)
    for _ in range(5_000):
        deep = Binary("+", deep, n(1))
    assert evaluate(deep, Store()) == 5_000
