"""What the parsers make of texts that are right."""

import pytest

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
from whence.expr.printer import print_expression
from whence.expr.tree import (
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
    FunctionSyntax,
    If,
    Index,
    Initialiser,
    Instantiation,
    IntLiteral,
    Name,
    NamedType,
    ParameterSyntax,
    Quantifier,
    QuerySyntax,
    RangeType,
    Return,
    ScalarSyntax,
    SelectSyntax,
    Step,
    StructSyntax,
    SystemLine,
    Typedef,
    Unary,
    While,
)
from whence.source import SourceText

INT = NamedType("int")
X, Y, COUNT = Name("x"), Name("y"), Name("i")


def number(value: int) -> IntLiteral:
    return IntLiteral(value)


def expression(text: str) -> Expr:
    """Any expression, those with effects too."""
    (result,) = parse_updates(SourceText(text))
    return result


def grouped(expr: Expr) -> str:
    """The expression with all parentheses that one could write."""
    match expr:
        case Binary(op, left, right):
            return f"({grouped(left)} {op} {grouped(right)})"
        case Unary(op, operand):
            return f"({op}{grouped(operand)})"
        case Step(op, prefix, target):
            return f"({op}{grouped(target)})" if prefix else f"({grouped(target)}{op})"
        case Conditional(condition, then, otherwise):
            return f"({grouped(condition)} ? {grouped(then)} : {grouped(otherwise)})"
        case Assignment(op, target, value):
            return f"({grouped(target)} {op} {grouped(value)})"
        case Quantifier(kind, _, _, body):
            return f"({kind} {grouped(body)})"
        case Index(array, index):
            return f"({grouped(array)}[{grouped(index)}])"
        case Field(record, name):
            return f"({grouped(record)}.{name})"
        case _:
            return print_expression(expr)


# The precedence of utap's grammar and of the table in UPPAAL's help.
@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("a + b * c", "(a + (b * c))"),
        ("a - b - c", "((a - b) - c)"),
        ("a / b % c", "((a / b) % c)"),
        ("a << b + c", "(a << (b + c))"),
        ("a <? b << c", "(a <? (b << c))"),
        ("a < b >? c", "(a < (b >? c))"),
        ("a <= b < c", "((a <= b) < c)"),
        ("a == b < c", "(a == (b < c))"),
        ("a & b == c", "(a & (b == c))"),
        ("a ^ b & c", "(a ^ (b & c))"),
        ("a | b ^ c", "(a | (b ^ c))"),
        ("a && b | c", "(a && (b | c))"),
        ("a || b && c", "(a || (b && c))"),
        ("a or b and c", "(a || (b && c))"),
        ("a || b and c", "(a || (b && c))"),
        ("a && b or c", "((a && b) || c)"),
        ("not a == b", "((!a) == b)"),
        ("not a and b", "((!a) && b)"),
        ("a imply b imply c", "((a imply b) imply c)"),
        ("a imply b or c", "((a imply b) || c)"),
        ("a or b imply c", "((a || b) imply c)"),
        ("a imply b and c", "(a imply (b && c))"),
        ("a ? b : c ? d : e", "(a ? b : (c ? d : e))"),
        ("a ? b ? c : d : e", "(a ? (b ? c : d) : e)"),
        ("a || b ? c : d", "((a || b) ? c : d)"),
        ("a ? b : c = d", "(a ? b : (c = d))"),
        ("a = b = c", "(a = (b = c))"),
        ("a = b ? c : d", "(a = (b ? c : d))"),
        ("a := b imply c", "(a = (b imply c))"),
        ("a + b = c", "((a + b) = c)"),
        ("a <<= b >> c", "(a <<= (b >> c))"),
        ("-a.b[c]++", "(-(((a.b)[c])++))"),
        ("- -a", "(-(-a))"),
        ("!a++", "(!(a++))"),
        ("++a--", "(++(a--))"),
        ("-a * b", "((-a) * b)"),
        ("a-- > b", "((a--) > b)"),
        ("a && forall (i : T) b || c", "(a && (forall (b || c)))"),
        ("-sum (i : T) a + b", "(-(sum (a + b)))"),
        ("forall (i : T) exists (j : T) a ? b : c", "(forall (exists (a ? b : c)))"),
        ("a ? forall (i : T) b : c", "(a ? (forall b) : c)"),
    ],
)
def test_precedence(text: str, groups: str) -> None:
    assert grouped(expression(text)) == groups


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("0042", IntLiteral(42)),
        ("2147483647", IntLiteral(2147483647)),
        ("-2147483648", Unary("-", IntLiteral(2147483648))),
        ("true", BoolLiteral(True)),
        ("not false", Unary("!", BoolLiteral(False))),
        ("+x", Unary("+", X)),
        ("deadlock", Deadlock()),
        ("x // comment\n /* another\n one */ && y", Binary("&&", X, Y)),
        ("x && \\\n y", Binary("&&", X, Y)),
        ("((x))", X),
        ("f()", Call("f", ())),
        ("f(x, 1)", Call("f", (X, number(1)))),
        ("Train(i).Cross", Field(Call("Train", (COUNT,)), "Cross")),
        ("P.x", Field(Name("P"), "x")),
        ("P.init", Field(Name("P"), "init")),
        ("a[1][x]", Index(Index(Name("a"), number(1)), X)),
        ("A.E", Field(Name("A"), "E")),
        ("sum (i : int[0, 3]) x", Quantifier("sum", "i", RangeType(number(0), number(3)), X)),
        ("exists (i : id_t) x", Quantifier("exists", "i", NamedType("id_t"), X)),
        ("x <? y", Binary("<?", X, Y)),
        ("x<-1", Binary("<", X, Unary("-", number(1)))),
        ("x_$1#", Name("x_$1#")),
        ("sin(x)", Call("sin", (X,))),
    ],
)
def test_expressions(text: str, tree: Expr) -> None:
    assert parse_expression(SourceText(text)) == tree


def test_commas_between_conditions_mean_conjunction() -> None:
    both = Binary("&&", Binary(">", X, number(1)), Binary("<", Y, number(2)))
    assert parse_expression(SourceText("x>1, y<2")) == both
    assert parse_expression(SourceText("x>1, y<2, x")) == Binary("&&", both, X)


def test_updates() -> None:
    updates = parse_updates(SourceText("x = 1, y := x++, --x"))
    assert updates == (
        Assignment("=", X, number(1)),
        Assignment("=", Y, Step("++", False, X)),
        Step("--", True, X),
    )
    assert parse_updates(SourceText("")) == ()
    assert parse_updates(SourceText(" // nothing \n")) == ()


def test_selects() -> None:
    assert parse_selects(SourceText("i : int[0,3], j : id_t")) == (
        SelectSyntax("i", RangeType(number(0), number(3))),
        SelectSyntax("j", NamedType("id_t")),
    )
    assert parse_selects(SourceText("\n")) == ()


@pytest.mark.parametrize(
    ("text", "channel", "direction"),
    [
        ("c!", Name("c"), "!"),
        ("c?", Name("c"), "?"),
        (" c [ x ] ? ", Index(Name("c"), X), "?"),
        ("c[x ? 1 : 2]?", Index(Name("c"), Conditional(X, number(1), number(2))), "?"),
        ("c[!x]!", Index(Name("c"), Unary("!", X)), "!"),
        ("c.d! // why", Field(Name("c"), "d"), "!"),
    ],
)
def test_synchronisations(text: str, channel: Expr, direction: str) -> None:
    assert parse_synchronisation(SourceText(text)) == (channel, direction)


def test_parameters() -> None:
    parameters = parse_parameters(
        SourceText("int &x, const int N, clock c[3], urgent broadcast chan &d, id_t i")
    )
    assert parameters == (
        ParameterSyntax(INT, "x", True),
        ParameterSyntax(NamedType("int", ("const",)), "N"),
        ParameterSyntax(NamedType("clock"), "c", False, (number(3),)),
        ParameterSyntax(NamedType("chan", ("urgent", "broadcast")), "d", True),
        ParameterSyntax(NamedType("id_t"), "i"),
    )
    assert parse_parameters(SourceText("  ")) == ()


def test_parameters_of_uppaal_3_4() -> None:
    constant = NamedType("int", ("const",))
    assert parse_parameters(SourceText("const N, M; int x, y; clock c")) == (
        ParameterSyntax(constant, "N"),
        ParameterSyntax(constant, "M"),
        ParameterSyntax(INT, "x", True),
        ParameterSyntax(INT, "y", True),
        ParameterSyntax(NamedType("clock"), "c", True),
    )


def test_declarations() -> None:
    text = """
    // Everything that can be declared.
    const int N = 3;
    int x, y[N] = {1, 2, 3};
    meta bool b = true;
    typedef int[0, N-1] id_t;
    typedef struct { int a, b[2]; clock c; } S, T[2];
    typedef scalar[4] colour;
    S s = { {1, 2}, a: 3 };
    int m[id_t][int[1,2]];
    urgent broadcast chan go[2];
    chan priority go[0], tick < default < x;
    """
    n_less_1 = Binary("-", Name("N"), number(1))
    record = StructSyntax(
        (
            Declarator(INT, "a"),
            Declarator(INT, "b", (number(2),)),
            Declarator(NamedType("clock"), "c"),
        )
    )
    go = Name("go")
    assert parse_declarations(SourceText(text)) == (
        Declarator(NamedType("int", ("const",)), "N", (), number(3)),
        Declarator(INT, "x"),
        Declarator(
            INT,
            "y",
            (Name("N"),),
            Initialiser(((None, number(1)), (None, number(2)), (None, number(3)))),
        ),
        Declarator(NamedType("bool", ("meta",)), "b", (), BoolLiteral(True)),
        Typedef(RangeType(number(0), n_less_1), "id_t"),
        Typedef(record, "S"),
        Typedef(record, "T", (number(2),)),
        Typedef(ScalarSyntax(number(4)), "colour"),
        Declarator(
            NamedType("S"),
            "s",
            (),
            Initialiser(
                (
                    (None, Initialiser(((None, number(1)), (None, number(2))))),
                    ("a", number(3)),
                )
            ),
        ),
        Declarator(INT, "m", (Name("id_t"), RangeType(number(1), number(2)))),
        Declarator(NamedType("chan", ("urgent", "broadcast")), "go", (number(2),)),
        ChannelPriorities(((Index(go, number(0)), Name("tick")), (None,), (X,))),
    )


def test_constants_of_uppaal_3_4() -> None:
    constant = NamedType("int", ("const",))
    assert parse_declarations(SourceText("const N 5, M -1; const a[2] {1, 2};")) == (
        Declarator(constant, "N", (), number(5)),
        Declarator(constant, "M", (), Unary("-", number(1))),
        Declarator(
            constant, "a", (number(2),), Initialiser(((None, number(1)), (None, number(2))))
        ),
    )


def test_functions_and_statements() -> None:
    text = """
    id_t f(int a[2], int &b) {
        int k = 0;
        T other;
        k++;
        ;
        { }
        if (a) k = 1; else if (b) k = 2; else return;
        while (k) k--;
        do { k = 1; } while (k < 2);
        for (k = 0; k < 3; k++) x;
        for (;;) ;
        for (i : id_t) x = y;
        return k;
    };
    """
    k = Name("k")

    def assign(value: int) -> Evaluate:
        return Evaluate(Assignment("=", k, number(value)))

    assert parse_declarations(SourceText(text)) == (
        FunctionSyntax(
            NamedType("id_t"),
            "f",
            (ParameterSyntax(INT, "a", False, (number(2),)), ParameterSyntax(INT, "b", True)),
            Block(
                (Declarator(INT, "k", (), number(0)), Declarator(NamedType("T"), "other")),
                (
                    Evaluate(Step("++", False, k)),
                    Evaluate(None),
                    Block((), ()),
                    If(Name("a"), assign(1), If(Name("b"), assign(2), Return(None))),
                    While(k, Evaluate(Step("--", False, k))),
                    DoWhile(Block((), (assign(1),)), Binary("<", k, number(2))),
                    For(
                        Assignment("=", k, number(0)),
                        Binary("<", k, number(3)),
                        Step("++", False, k),
                        Evaluate(X),
                    ),
                    For(None, None, None, Evaluate(None)),
                    ForEach("i", NamedType("id_t"), Evaluate(Assignment("=", X, Y))),
                    Return(k),
                ),
            ),
        ),
    )


def test_commas_in_the_head_of_for_become_statements() -> None:
    (function,) = parse_declarations(
        SourceText("void f() { for (x = 0, y = 1; x < y; x++, y--) i; }")
    )
    assert isinstance(function, FunctionSyntax)
    assert function.body.statements == (
        Block(
            (),
            (
                Evaluate(Assignment("=", X, number(0))),
                For(
                    Assignment("=", Y, number(1)),
                    Binary("<", X, Y),
                    Step("--", False, Y),
                    Block((), (Evaluate(COUNT), Evaluate(Step("++", False, X)))),
                ),
            ),
        ),
    )


def test_an_else_belongs_to_the_nearest_if() -> None:
    (function,) = parse_declarations(SourceText("void f() { if (x) if (y) ; else return; }"))
    assert isinstance(function, FunctionSyntax)
    assert function.body.statements == (If(X, If(Y, Evaluate(None), Return(None)), None),)


def test_system() -> None:
    text = """
    const int K = 2;
    P1 = T(1, x);
    Q(int[0,3] i, int &v) := T(i, v);
    system P1, Q < R;
    """
    assert parse_system(SourceText(text)) == (
        Declarator(NamedType("int", ("const",)), "K", (), number(2)),
        Instantiation("P1", (), "T", (number(1), X)),
        Instantiation(
            "Q",
            (
                ParameterSyntax(RangeType(number(0), number(3)), "i"),
                ParameterSyntax(INT, "v", True),
            ),
            "T",
            (COUNT, Name("v")),
        ),
        SystemLine(((Name("P1"), Name("Q")), (Name("R"),))),
    )


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("E<> P.x", QuerySyntax("E<>", Field(Name("P"), "x"))),
        ("A[] not deadlock", QuerySyntax("A[]", Unary("!", Deadlock()))),
        ("E[]x;", QuerySyntax("E[]", X)),
        ("A<> (x)", QuerySyntax("A<>", X)),
        ("x --> y", QuerySyntax("-->", X, Y)),
        ("sup: x, y", QuerySyntax("sup", None, None, (X, Y))),
        ("inf{x}: y", QuerySyntax("inf", X, None, (Y,))),
        ("sup --> inf", QuerySyntax("-->", Name("sup"), Name("inf"))),
        ("E<> P.guard", QuerySyntax("E<>", Field(Name("P"), "guard"))),
        ("E<> E.A /* why */", QuerySyntax("E<>", Field(Name("E"), "A"))),
        (
            "E<> Train(1).Cross",
            QuerySyntax("E<>", Field(Call("Train", (number(1),)), "Cross")),
        ),
        (
            "A[] x imply \\\n y",
            QuerySyntax("A[]", Binary("imply", X, Y)),
        ),
    ],
)
def test_queries(text: str, query: QuerySyntax) -> None:
    assert parse_query(SourceText(text)) == query


# -------------------------------------------------------------------------------------- origins


def stretch(text: str, node: Expr) -> str:
    """What a one-line text says where the node stands."""
    assert node.origin.line == node.origin.end_line == 1
    return text[node.origin.column - 1 : node.origin.end_column - 1]


def test_every_node_covers_its_characters() -> None:
    text = "(a + b) * -c[ i ].d <= f( x , 1 ) && forall (i : int[0,3]) ( x ? y : z )"
    tree = parse_expression(SourceText(text))
    assert isinstance(tree, Binary)
    assert stretch(text, tree) == text
    assert isinstance(tree.left, Binary)
    assert stretch(text, tree.left) == "(a + b) * -c[ i ].d <= f( x , 1 )"
    product = tree.left.left
    assert isinstance(product, Binary)
    assert stretch(text, product) == "(a + b) * -c[ i ].d"
    assert stretch(text, product.left) == "a + b"
    assert stretch(text, product.right) == "-c[ i ].d"
    assert stretch(text, tree.left.right) == "f( x , 1 )"
    quantifier = tree.right
    assert isinstance(quantifier, Quantifier)
    assert stretch(text, quantifier) == "forall (i : int[0,3]) ( x ? y : z )"
    assert stretch(text, quantifier.body) == "x ? y : z"
    assert quantifier.domain is not None
    domain = quantifier.domain.origin
    assert text[domain.column - 1 : domain.end_column - 1] == "int[0,3]"


def test_origins_are_places_of_the_file() -> None:
    pieces = ((0, 7, 20), (4, 9, 3))
    tree = parse_expression(SourceText("x + y", "model.xml", pieces))
    assert isinstance(tree, Binary)
    assert str(tree.left.origin) == "model.xml:7:20"
    assert str(tree.right.origin) == "model.xml:9:3"
    assert (tree.origin.end_line, tree.origin.end_column) == (9, 4)


def test_origins_of_declarations() -> None:
    text = "int a, b[2] = {1,\n  2};\nvoid f() {\n}\n"
    a, b, f = parse_declarations(SourceText(text, "m"))
    assert (a.origin.column, a.origin.end_column) == (5, 6)
    assert (b.origin.line, b.origin.column, b.origin.end_line, b.origin.end_column) == (1, 8, 2, 5)
    assert (f.origin.line, f.origin.column, f.origin.end_line, f.origin.end_column) == (3, 1, 4, 2)
