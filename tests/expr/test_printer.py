"""The printer, and its law: a printed tree parses as an equal tree."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from whence.expr.parser import (
    parse_declarations,
    parse_expression,
    parse_parameters,
    parse_query,
    parse_selects,
    parse_synchronisation,
    parse_system,
    parse_updates,
)
from whence.expr.printer import (
    print_declaration,
    print_declarations,
    print_expression,
    print_parameters,
    print_query,
    print_selects,
    print_statement,
    print_synchronisation,
    print_type,
    print_updates,
)
from whence.expr.tree import (
    BINARY_OPS,
    Assignment,
    Binary,
    Block,
    BoolLiteral,
    Call,
    ChannelPriorities,
    Conditional,
    Deadlock,
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
    InLocation,
    Instantiation,
    IntLiteral,
    Local,
    Name,
    NamedType,
    Parameter,
    ParameterSyntax,
    Quantifier,
    QuerySyntax,
    RangeType,
    Return,
    ScalarSyntax,
    SelectSyntax,
    Statement,
    Step,
    StructSyntax,
    Symbol,
    SymbolKind,
    SystemLine,
    Typedef,
    Unary,
    While,
)
from whence.expr.types import (
    BOOL,
    CLOCK,
    INT32,
    PLAIN_INT,
    VOID,
    ArrayType,
    ChannelType,
    IntType,
    ScalarType,
    StructType,
)
from whence.source import InputError, SourceText

# ----------------------------------------------------------------------------- trees of all kinds

NAMES = st.sampled_from(["a", "b", "x", "y1", "_z", "e5", "id_t", "A", "E", "sup", "Train"])
BASIC = ["int", "bool", "clock", "chan"]
PREFIXES = st.sampled_from(
    [(), ("const",), ("meta",), ("urgent",), ("broadcast",), ("urgent", "broadcast")]
)
ASSIGNMENTS = ["=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="]


def types(inner: st.SearchStrategy[Expr], *, dimension: bool = False) -> st.SearchStrategy:
    """`dimension`: a plain name between `[` and `]` is read as an expression."""
    named = st.builds(NamedType, st.sampled_from([*BASIC, "void"]), PREFIXES)
    choices = [
        named,
        st.builds(RangeType, inner, inner, PREFIXES),
        st.builds(ScalarSyntax, inner, PREFIXES),
    ]
    if not dimension:
        choices.append(st.builds(NamedType, NAMES, PREFIXES))
        fields = st.builds(Declarator, named, NAMES, dimensions(inner))
        choices.append(st.builds(StructSyntax, st.lists(fields, max_size=3).map(tuple), PREFIXES))
    return st.one_of(choices)


def dimensions(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy:
    return st.lists(inner | types(inner, dimension=True), max_size=2).map(tuple)


def deeper(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    return st.one_of(
        st.builds(Unary, st.sampled_from("-+!"), inner),
        st.builds(Binary, st.sampled_from(BINARY_OPS), inner, inner),
        st.builds(Conditional, inner, inner, inner),
        st.builds(Index, inner, inner),
        st.builds(Field, inner, NAMES),
        st.builds(Call, NAMES, st.lists(inner, max_size=3).map(tuple)),
        st.builds(Assignment, st.sampled_from(ASSIGNMENTS), inner, inner),
        st.builds(Step, st.sampled_from(["++", "--"]), st.booleans(), inner),
        st.builds(
            Quantifier, st.sampled_from(["forall", "exists", "sum"]), NAMES, types(inner), inner
        ),
    )


LEAVES: st.SearchStrategy[Expr] = st.one_of(
    st.builds(Name, NAMES),
    st.builds(IntLiteral, st.integers(0, 2**31 - 1)),
    st.builds(BoolLiteral, st.booleans()),
    st.just(Deadlock()),
)
EXPRESSIONS: st.SearchStrategy[Expr] = st.recursive(LEAVES, deeper, max_leaves=12)
SMALL: st.SearchStrategy[Expr] = st.recursive(LEAVES, deeper, max_leaves=3)

INITIALISERS = st.recursive(
    SMALL,
    lambda inner: st.builds(
        Initialiser, st.lists(st.tuples(st.none() | NAMES, inner), max_size=3).map(tuple)
    ),
    max_leaves=5,
)
DECLARATORS = st.builds(
    Declarator, types(SMALL), NAMES, dimensions(SMALL), st.none() | INITIALISERS
)
TYPEDEFS = st.builds(Typedef, types(SMALL), NAMES, dimensions(SMALL))
PARAMETERS = st.lists(
    st.builds(ParameterSyntax, types(SMALL), NAMES, st.booleans(), dimensions(SMALL)), max_size=3
).map(tuple)


def no_dangling_else(condition: Expr, then: Statement, otherwise: Statement | None) -> If:
    """Only braces keep the `else` from an inner `if`."""
    if otherwise is not None and isinstance(then, If | While | For | ForEach):
        then = Block((), (then,))
    return If(condition, then, otherwise)


def blocks(inner: st.SearchStrategy[Statement]) -> st.SearchStrategy[Block]:
    return st.builds(
        Block,
        st.lists(DECLARATORS | TYPEDEFS, max_size=2).map(tuple),
        st.lists(inner, max_size=3).map(tuple),
    )


STATEMENTS: st.SearchStrategy[Statement] = st.recursive(
    st.builds(Evaluate, st.none() | SMALL) | st.builds(Return, st.none() | SMALL),
    lambda inner: st.one_of(
        blocks(inner),
        st.builds(no_dangling_else, SMALL, inner, st.none() | inner),
        st.builds(While, SMALL, inner),
        st.builds(DoWhile, inner, SMALL),
        st.builds(For, st.none() | SMALL, st.none() | SMALL, st.none() | SMALL, inner),
        st.builds(ForEach, NAMES, types(SMALL), inner),
    ),
    max_leaves=6,
)
CHANNELS = st.recursive(
    st.builds(Name, NAMES), lambda inner: st.builds(Index, inner, SMALL), max_leaves=2
)
DECLARATIONS = st.one_of(
    DECLARATORS,
    TYPEDEFS,
    st.builds(FunctionSyntax, types(SMALL), NAMES, PARAMETERS, blocks(STATEMENTS)),
    st.builds(
        ChannelPriorities,
        st.lists(
            st.lists(st.none() | CHANNELS, min_size=1, max_size=2).map(tuple),
            min_size=1,
            max_size=3,
        ).map(tuple),
    ),
)
SYSTEM_ITEMS = st.one_of(
    DECLARATIONS,
    st.builds(Instantiation, NAMES, PARAMETERS, NAMES, st.lists(SMALL, max_size=3).map(tuple)),
    st.builds(
        SystemLine,
        st.lists(
            st.lists(st.builds(Name, NAMES), min_size=1, max_size=2).map(tuple),
            min_size=1,
            max_size=3,
        ).map(tuple),
    ),
)


def assigns(text: str) -> bool:
    """Whether this cannot be a condition."""
    try:
        parse_expression(SourceText(text))
    except InputError as error:
        return all("this is a condition" in each.message for each in error.diagnostics)
    return False


# --------------------------------------------------------------------------------------- the law


@given(EXPRESSIONS)
def test_expressions(expr: Expr) -> None:
    text = print_expression(expr)
    assert parse_updates(SourceText(text)) == (expr,)
    if not assigns(text):
        assert parse_expression(SourceText(text)) == expr


@given(st.lists(EXPRESSIONS, max_size=3).map(tuple))
def test_updates(updates: tuple[Expr, ...]) -> None:
    assert parse_updates(SourceText(print_updates(updates))) == updates


@given(EXPRESSIONS, st.sampled_from("!?"))
def test_synchronisations(channel: Expr, direction: str) -> None:
    text = print_synchronisation(channel, direction)
    assert parse_synchronisation(SourceText(text)) == (channel, direction)


@given(st.lists(DECLARATIONS, max_size=3).map(tuple))
def test_declarations(declarations: tuple) -> None:
    assert parse_declarations(SourceText(print_declarations(declarations))) == declarations


@given(st.lists(SYSTEM_ITEMS, max_size=3).map(tuple))
def test_systems(items: tuple) -> None:
    assert parse_system(SourceText(print_declarations(items, "  "))) == items


@given(STATEMENTS)
def test_statements(statement: Statement) -> None:
    text = f"void f()\n{{\n{print_statement(statement, '    ')}\n}}"
    (function,) = parse_declarations(SourceText(text))
    assert isinstance(function, FunctionSyntax)
    assert function.body == Block((), (statement,))


@given(PARAMETERS)
def test_parameters(parameters: tuple[ParameterSyntax, ...]) -> None:
    assert parse_parameters(SourceText(print_parameters(parameters))) == parameters


@given(st.lists(st.builds(SelectSyntax, NAMES, types(SMALL)), max_size=3).map(tuple))
def test_selects(selects: tuple[SelectSyntax, ...]) -> None:
    assert parse_selects(SourceText(print_selects(selects))) == selects


@given(
    st.one_of(
        st.builds(QuerySyntax, st.sampled_from(["E<>", "A[]", "E[]", "A<>"]), EXPRESSIONS),
        st.builds(QuerySyntax, st.just("-->"), EXPRESSIONS, EXPRESSIONS),
        st.builds(
            QuerySyntax,
            st.sampled_from(["sup", "inf"]),
            st.none() | SMALL,
            st.none(),
            st.lists(SMALL, min_size=1, max_size=3).map(tuple),
        ),
    )
)
def test_queries(query: QuerySyntax) -> None:
    text = print_query(query)
    try:
        again = parse_query(SourceText(text))
    except InputError as error:
        # Assignments are no part of queries, and `A[x]` begins a query of its own.
        problems = [diagnostic.message for diagnostic in error.diagnostics]
        assume(not all("condition" in each or "not supported" in each for each in problems))
        raise
    assert again == query


# ---------------------------------------------------------------------------- what it looks like


@pytest.mark.parametrize(
    "text",
    [
        "a + b * c",
        "(a + b) * c",
        "a - (b - c)",
        "a - b - c",
        "a imply b || c",
        "a imply (b || c)",
        "!(a == b) && !c",
        "- -x - -y",
        "-(a + b)",
        "- --x",
        "(-x)++",
        "a && forall (i : int[0, 3]) b || c",
        "(forall (i : id_t) a) && b",
        "!forall (i : id_t) a",
        "a && (forall (i : id_t) b) || c",
        "a ? b : c ? d : e",
        "(a ? b : c) ? d : e",
        "(a ? b : c) + 1",
        "f(a ? b : c, forall (i : id_t) a)",
        "Train(i).Cross",
        "P.a[i + 1].b",
        "(a + b).c",
        "x <? y >? 3",
        "2147483647",
    ],
)
def test_expressions_print_with_minimal_parentheses(text: str) -> None:
    assert print_expression(parse_expression(SourceText(text))) == text


def test_words_print_as_signs() -> None:
    text = "not a and b or c imply deadlock"
    assert print_expression(parse_expression(SourceText(text))) == "!a && b || c imply deadlock"


def test_negative_numbers() -> None:
    two = IntLiteral(-2)
    assert print_expression(two) == "-2"
    assert print_expression(Binary("-", Name("x"), two)) == "x - -2"
    assert print_expression(Unary("-", two)) == "- -2"
    assert print_expression(Step("++", False, two)) == "(-2)++"
    assert print_expression(IntLiteral(INT32.lo)) == "-2147483648"


def test_functions() -> None:
    text = """int f(int &a, const int b[2])
{
    int k = 0, n[2];
    if (a)
        k++;
    else if (b[0])
    {
        k = 1;
    }
    else
        return 2;
    while (k)
        k--;
    do
        ;
    while (k < 2);
    for (k = 0; k < 3; k++)
    {
    }
    for (i : id_t)
        x;
    return k;
}"""
    (function,) = parse_declarations(SourceText(text))
    expected = text.replace("int k = 0, n[2];", "int k = 0;\n    int n[2];")
    assert print_declaration(function) == expected


def test_an_else_stays_with_its_if() -> None:
    inner = If(Name("b"), Evaluate(None), None)
    outer = If(Name("a"), While(Name("c"), inner), Return(None))
    assert print_statement(outer) == (
        "if (a)\n{\n    while (c)\n        if (b)\n            ;\n}\nelse\n    return;"
    )


def test_declarations_of_all_kinds() -> None:
    text = """const int N = 3;
typedef struct { int a; clock c[2]; } S;
typedef scalar[N] colour;
S s[2] = {{1, c: {2, 3}}, x};
urgent broadcast chan go[int[0, 3]];
chan priority go[0], tick < default < x;
P(int[0, 3] i, int &v) = T(i, v);
Q = T();
system P, Q < R;
"""
    assert print_declarations(parse_system(SourceText(text))) == text


# ------------------------------------------------------------------------------- checked trees


def symbol(name: str, type_: object, kind: SymbolKind = SymbolKind.LOCAL) -> Symbol:
    return Symbol("f", name, kind, type_)  # type: ignore[arg-type]


def test_types() -> None:
    record = StructType((("a", PLAIN_INT), ("b", ArrayType(BOOL, IntType(0, 1)))))
    assert print_type(PLAIN_INT) == "int"
    assert print_type(IntType(-1, 3)) == "int[-1, 3]"
    assert print_type(CLOCK) == "clock"
    assert print_type(VOID) == "void"
    assert print_type(ChannelType(broadcast=True, urgent=True)) == "urgent broadcast chan"
    assert print_type(ScalarType(3, "id_t")) == "id_t"
    assert print_type(ScalarType(3, "")) == "scalar[3]"
    assert print_type(record) == "struct { int a; bool b[2]; }"
    assert print_type(StructType((), "S")) == "S"


def test_resolved_quantifiers_and_locations() -> None:
    bound = symbol("i", IntType(0, 3), SymbolKind.BOUND)
    body = InLocation(Name("i", bound), 2, "Train(i).Cross")
    assert (
        print_expression(Quantifier("forall", "i", None, body, bound))
        == "forall (i : int[0, 3]) Train(i).Cross"
    )
    fallback = print_expression(InLocation(Name("i", bound), 2))
    assert fallback == "process(i).location(2)"


def test_checked_functions() -> None:
    record = StructType((("a", PLAIN_INT), ("b", ArrayType(BOOL, IntType(0, 1)))), "S")
    values = tuple(IntLiteral(value) for value in (1, 0, 1))
    i = symbol("i", IntType(0, 1), SymbolKind.BOUND)
    function = Function(
        symbol("f", PLAIN_INT, SymbolKind.FUNCTION),
        (
            Parameter(symbol("p", ArrayType(PLAIN_INT, IntType(0, 2))), True),
            Parameter(symbol("q", BOOL), False),
        ),
        Block(
            (),
            (ForEach("i", NamedType("id_t"), Evaluate(Name("i", i)), i), Return(None)),
            (
                Local(symbol("s", record), values),
                Local(symbol("k", IntType(1, 4)), (IntLiteral(2),)),
                Local(symbol("m", ArrayType(BOOL, IntType(1, 2)))),
            ),
        ),
    )
    assert print_declaration(function) == (
        "int f(int &p[3], bool q)\n"
        "{\n"
        "    S s = {1, {0, 1}};\n"
        "    int[1, 4] k = 2;\n"
        "    bool m[int[1, 2]];\n"
        "    for (i : id_t)\n"
        "        i;\n"
        "    return;\n"
        "}"
    )
