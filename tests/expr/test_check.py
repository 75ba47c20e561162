"""The checker by itself: expressions in a scope made of declarations."""

from __future__ import annotations

import pytest

from whence.expr.check import Checker, Declarations, builtin_scope
from whence.expr.parser import parse_declarations, parse_expression, parse_updates
from whence.expr.printer import print_expression
from whence.expr.scope import Context, Problem, Scope
from whence.expr.tree import Binary, BoolLiteral, Expr, IntLiteral, Name, SymbolKind
from whence.expr.types import BOOL, CONSTRAINT, DIFFERENCE, INT32, ArrayType, IntType
from whence.source import InputError, SourceText, UnsupportedError

GLOBALS = """
const int N = 3;
const int BIG = 250000;
const int table[N] = {1, 2, 3};
typedef int[0, N - 1] id_t;
typedef scalar[4] set_t;
typedef struct { int[0,9] a; bool b; id_t list[2]; } rec_t;
int i; int[0,5] small; bool b; id_t id; set_t s, s2; rec_t r, r2;
int arr[N]; int bySet[set_t]; int byId[id_t];
clock x, y, cs[N];
chan c; urgent chan u; broadcast chan d[2];
int pure(int k) { return k + N; }
void change(int k) { i = k; }
void swap(int &p, int &q) { int t = p; p = q; q = t; }
int fact(int n) { if (n <= 1) return 1; return n * fact(n - 1); }
const int six = fact(3);
"""


class World:
    def __init__(self, declarations: str = GLOBALS) -> None:
        self.context = Context()
        self.checker = Checker(self.context)
        self.scope = Scope("", builtin_scope(), shared=True)
        self.declared = Declarations()
        text = SourceText(declarations, "m.xml")
        self.checker.declare(parse_declarations(text), self.scope, self.declared)
        self.context.problems.raise_any()

    def guard(self, text: str) -> Expr:
        return self.checker.guard(parse_expression(SourceText(text)), self.scope)

    def formula(self, text: str) -> Expr:
        return self.checker.formula(parse_expression(SourceText(text)), self.scope)

    def update(self, text: str) -> Expr:
        (expr,) = parse_updates(SourceText(text))
        return self.checker.update(expr, self.scope)


@pytest.fixture(scope="module")
def world() -> World:
    return World()


def test_constants_become_literals(world: World) -> None:
    expr = world.guard("i < N")
    assert isinstance(expr, Binary)
    assert expr.type == BOOL
    assert expr.right == IntLiteral(3)
    assert expr.right.type == IntType(3, 3)
    assert expr.right.origin.column == 5
    assert world.guard("true") == BoolLiteral(True)


def test_constants_may_be_large_and_use_functions(world: World) -> None:
    assert world.guard("BIG") == IntLiteral(250000)
    assert world.guard("six") == IntLiteral(6)


def test_constant_arrays_keep_their_name(world: World) -> None:
    expr = world.guard("table[i]")
    (table,) = [item for item in world.declared.constants if item.symbol.name == "table"]
    assert table.initial == (1, 2, 3)
    assert table.symbol.kind is SymbolKind.CONSTANT
    assert print_expression(expr) == "table[i]"


def test_types_are_resolved(world: World) -> None:
    types = {item.symbol.name: item.symbol.type for item in world.declared.variables}
    assert types["id"] == IntType(0, 2)
    assert types["byId"] == ArrayType(IntType(-32768, 32767), IntType(0, 2))
    assert types["s"] == types["s2"]
    assert world.guard("i + 1").type == INT32


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("x <= 5", "x <= 5"),
        ("5 < x", "x > 5"),
        ("x == N", "x == 3"),
        ("x < y", "x - y < 0"),
        ("x < y + i", "x - y < i"),
        ("y + i > x", "x - y < i"),
        ("x - y + 2 < i", "x - y < i - 2"),
        ("5 < x - y", "x - y > 5"),
        ("x + 2 <= 7", "x <= 7 - 2"),
        ("-x <= 3", "x >= -3"),
        ("cs[i] >= 3", "cs[i] >= 3"),
        ("x - cs[1] >= 3 && i > 0", "x - cs[1] >= 3 && i > 0"),
        ("x - y + y < 4", "x < 4"),
    ],
)
def test_clock_comparisons_have_one_form(world: World, text: str, normal: str) -> None:
    expr = world.guard(text)
    assert print_expression(expr) == normal
    assert expr.type == CONSTRAINT


def test_differences_are_typed(world: World) -> None:
    expr = world.guard("x - y < 3")
    assert isinstance(expr, Binary)
    assert expr.left.type == DIFFERENCE


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("b || x <= 5", "b || x <= 5"),
        ("x <= 5 || b", "b || x <= 5"),
        ("b imply x <= 5", "b imply x <= 5"),
        ("b ? x <= 5 : y <= 3", "(b imply x <= 5) && (b || y <= 3)"),
        ("forall (k : id_t) cs[k] <= 5", "forall (k : id_t) cs[k] <= 5"),
    ],
)
def test_guards_stay_conjunctions(world: World, text: str, normal: str) -> None:
    assert print_expression(world.guard(text)) == normal


def test_formulas_combine_constraints_freely(world: World) -> None:
    text = "!(x < 5) || (exists (k : id_t) cs[k] == 2 && b)"
    assert world.formula(text).type == CONSTRAINT
    assert print_expression(world.formula("x != 5")) == "x < 5 || x > 5"
    assert world.formula("deadlock").type == CONSTRAINT


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x <= 5 || y <= 5", "`||` of clock constraints in a guard"),
        ("x <= 5 imply b", "`imply` of clock constraints in a guard"),
        ("!(x <= 5)", "the negation of a clock constraint in a guard"),
        ("x != 5", "`!=` between a clock and a number in a guard"),
        ("exists (k : id_t) cs[k] <= 5", "`exists` over clock constraints in a guard"),
        ("arr[x] > 0", "reading the value of a clock (an array index)"),
        ("pure(x) > 0", "reading the value of a clock (argument `k` of `pure`)"),
        ("x * 2 < 3", "reading the value of a clock (the left operand of `*`)"),
    ],
)
def test_refused_by_name(world: World, text: str, message: str) -> None:
    with pytest.raises(Problem) as caught:
        world.guard(text)
    assert caught.value.message == message
    assert caught.value.unsupported
    assert caught.value.origin.line


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("smal == 1", "unknown name `smal`"),
        ("arr == 1", "an array int[3] and an integer cannot be compared"),
        ("arr", "a guard must be an integer, found an array int[3]"),
        ("arr[3] == 1", "index 3 is outside the array (expected 0 to 2)"),
        ("arr[table[2]] == 1", "index 3 is outside the array (expected 0 to 2)"),
        ("i / (N - 3) == 1", "division by zero"),
        ("i << 40 == 1", "a shift by 40 (expected 0 to 31)"),
        ("i[2] == 1", "only arrays can be indexed, found an integer"),
        ("r.c == 1", "rec_t has no field `c`"),
        ("s < s2", "an operand of `<` must be an integer, found a value of scalar set set_t"),
        ("s == 1", "a value of scalar set set_t and an integer cannot be compared"),
        ("bySet[1] == 1", "the index must be of scalar set set_t, found an integer"),
        (
            "x - y - cs[0] < 1",
            "a clock constraint compares one clock, or the difference of two, with an integer",
        ),
        (
            "x - x < 1",
            "a clock constraint compares one clock, or the difference of two, with an integer",
        ),
        ("pure(1, 2) == 1", "`pure` takes 1 argument, found 2"),
        ("pure", "expected a variable or constant, but `pure` is a function"),
        ("i(3)", "expected a function, but `i` is a variable"),
        ("i++ > 0", "`++` is not allowed in a guard"),
        ("change(3)", "`change` changes variables, which is not allowed in a guard"),
        ("swap(i, i)", "passing argument `p` of `swap` by reference is not allowed in a guard"),
        ("c == c", "a channel and a channel cannot be compared"),
        ("2147483647 + 1 > i", "an integer that does not fit into 32 bits (2147483648)"),
        ("deadlock", "`deadlock` is only allowed in properties"),
        ("forall (k : int) k > x", None),
    ],
)
def test_wrong(world: World, text: str, message: str | None) -> None:
    if message is None:
        assert world.guard(text).type == CONSTRAINT
        return
    with pytest.raises(Problem) as caught:
        world.guard(text)
    assert caught.value.message == message
    assert not caught.value.unsupported


def test_hints_name_what_was_meant(world: World) -> None:
    with pytest.raises(Problem) as caught:
        world.guard("smal == 1")
    assert caught.value.hint == "did you mean `small`?"


def test_decided_branches_may_be_faulty(world: World) -> None:
    world.guard("N > 5 && arr[N] == 1")
    world.guard("N == 3 || arr[N] == 1")
    world.guard("(N > 3 ? arr[N] : 0) == 1")


@pytest.mark.parametrize(
    "text",
    [
        "i = 3",
        "i += b",
        "b = i",
        "small++",
        "x = i",
        "cs[1] = 0",
        "arr = arr",
        "r = r2",
        "s = s2",
        "change(3)",
        "swap(arr[0], i)",
        "r.list[1] = N - 1",
        "i = i > 2 ? 1 : 0",
        "i = abs(small - 3)",
        "1",
    ],
)
def test_updates(world: World, text: str) -> None:
    assert world.update(text).type is not None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("N = 3", "an assignment cannot change `N`, which is a constant"),
        ("table[1] = 3", "an assignment cannot change `table`, which is a constant"),
        ("small = 6", "what is assigned is 6, outside the range 0 to 5"),
        ("x = -1", "a clock set to a negative value (-1)"),
        ("x = y", "assigning a clock to a clock"),
        ("x += 1", "`+=` on a clock"),
        ("x++", "`++` on a clock"),
        ("i = x", "reading the value of a clock (what is assigned)"),
        ("b = x < 3", "a comparison of clocks in an update"),
        ("r = arr", "what is assigned must be a struct rec_t, found an array int[3]"),
        ("3 = i", "an assignment needs a variable"),
        ("c = c", "an assignment to a channel"),
        ("change(x)", "reading the value of a clock (argument `k` of `change`)"),
        ("swap(i, N)", "passing argument `q` of `swap` by reference cannot change `N`, "
         "which is a constant"),
        ("i = sqrt(2)", "the floating-point function `sqrt`"),
    ],
)  # fmt: skip
def test_wrong_updates(world: World, text: str, message: str) -> None:
    with pytest.raises(Problem) as caught:
        world.update(text)
    assert caught.value.message == message


def test_quantifiers_bind_their_own_symbols(world: World) -> None:
    expr = world.guard("forall (k : id_t) exists (k : id_t) arr[k] > 0")
    names: list[Name] = []

    def walk(node: object) -> None:
        if isinstance(node, Name) and node.name == "k":
            names.append(node)
        for attribute in ("body", "left", "right", "array", "index"):
            if hasattr(node, attribute):
                walk(getattr(node, attribute))

    walk(expr)
    (name,) = names
    assert name.symbol is not None
    assert name.symbol.kind is SymbolKind.BOUND
    assert name.symbol == expr.body.symbol  # type: ignore[union-attr]
    assert name.symbol != expr.symbol  # type: ignore[union-attr]


def test_recursion_and_effects() -> None:
    world = World("int g; int down(int n) { g = n; return n > 0 ? down(n - 1) : 0; }")
    assert world.update("down(3)").type is not None
    with pytest.raises(Problem, match="`down` changes variables"):
        world.guard("down(3) == 0")


def test_initial_values() -> None:
    world = World(
        "typedef struct { int[2,5] lo; bool on; } t;"
        "t one = {3, true}; t named = {on: 1, lo: 4}; t rest[2]; int[3,7] seven = 7; bool m = 5;"
    )
    values = {item.symbol.name: item.initial for item in world.declared.variables}
    assert values == {
        "one": (3, 1), "named": (4, 1), "rest": (2, 0, 2, 0), "seven": (7,), "m": (1,),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("int a[n];", "unknown name `n`"),
        ("int n; int a[n];", "the size of an array must be a constant"),
        ("int a[0];", "an array of 0 elements (expected at least 1)"),
        ("int[3,1] a;", "the range 3 to 1 is empty"),
        ("int[0,3] a = 4;", "the initial value of `a` is 4, outside the range 0 to 3"),
        ("int a = 40000;", "the initial value of `a` is 40000, outside the range -32768 to 32767"),
        ("const int a;", "constant `a` has no value"),
        ("const int a = 1 / 0;", "division by zero"),
        ("int a; int a;", "`a` is declared twice in the same scope"),
        ("int a[2] = {1};", "expected 2 values for the array, found 1"),
        ("int a = {1};", "expected an integer, found a list in braces"),
        ("urgent int a;", "only channels can be `urgent` or `broadcast`, found an integer"),
        ("void a;", "`void` is only good as the result of a function"),
        ("typedef struct { T next; } T;", "unknown type `T`"),
        ("int f() { return; }", "expected an integer after `return`"),
        ("void f() { return 1; }", "this function is declared to return nothing"),
        ("void f() { int a; int a; }", "`a` is declared twice in the same scope"),
        ("void f(int a) { int a; }", "`a` is declared twice in the same scope"),
        ("void f(const int a) { a = 1; }", "an assignment cannot change `a`, which is a constant"),
        ("void f() { for (i : int[0,2]) i = 1; }",
         "an assignment cannot change `i`, which is a bound variable"),
        ("void f(clock c) { }", "clock parameter `c` must be passed by reference"),
        ("chan a; int b; chan priority a < b;", "expected a channel, found an integer"),
    ],
)  # fmt: skip
def test_wrong_declarations(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        World(text)
    assert [item.message for item in caught.value.diagnostics] == [message]
    assert not isinstance(caught.value, UnsupportedError)


def test_several_errors_at_once_and_no_echoes() -> None:
    with pytest.raises(InputError) as caught:
        World("int a = q;\nvoid f() {\n  a = 1;\n  z = 2;\n  w = 3;\n}")
    found = [(str(item.origin), item.message) for item in caught.value.diagnostics]
    assert found == [
        ("m.xml:1:9", "unknown name `q`"),
        ("m.xml:4:3", "unknown name `z`"),
        ("m.xml:5:3", "unknown name `w`"),
    ]


def test_local_values_of_several_cells_are_assigned() -> None:
    world = World(
        "typedef struct { int a; int b; } t; t g;"
        "int f() { int k = 1; t l = g; int m = l.a; int n[2] = {m, k}; return n[0]; }"
    )
    (function,) = world.context.functions.values()
    assert [len(local.initial) for local in function.body.locals] == [1, 0, 0, 0]
    assert len(function.body.statements) == 4


def test_blocks_have_scopes_of_their_own() -> None:
    world = World("void f() { int a; { int a; a = 1; } for (a : int[0,1]) { int b; b = a; } }")
    (function,) = world.context.functions.values()
    assert function.body.locals[0].symbol.scope == "f"
    inner = function.body.statements[0]
    assert inner.locals[0].symbol.scope == "f/1"  # type: ignore[union-attr]
