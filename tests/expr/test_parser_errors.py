"""What the parsers say of texts that are wrong: where, what, and what to do."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.expr.lexer import Places
from whence.expr.parse_core import MAX_DEPTH, MAX_PROBLEMS
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
from whence.source import Diagnostic, InputError, Origin, SourceText, UnsupportedError

Parser = Callable[[SourceText], Any]


def failure(parse: Parser, text: str) -> InputError:
    with pytest.raises(InputError) as caught:
        parse(SourceText(text, "m.xml", element="the text"))
    return caught.value


def lines(parse: Parser, text: str) -> list[str]:
    """`line:column message` or `line:column message (hint)` of each diagnostic."""
    error = failure(parse, text)
    assert all(diagnostic.element == "the text" for diagnostic in error.diagnostics)
    assert all(diagnostic.origin.file == "m.xml" for diagnostic in error.diagnostics)
    return [
        f"{diagnostic.origin.line}:{diagnostic.origin.column} {diagnostic.message}"
        + (f" ({diagnostic.hint})" if diagnostic.hint else "")
        for diagnostic in error.diagnostics
    ]


@pytest.mark.parametrize(
    ("parse", "text", "expected"),
    [
        (parse_expression, "", "1:1 expected an expression, found the end of the text"),
        (parse_expression, "  // no\n", "1:1 expected an expression, found the end of the text"),
        (
            parse_expression,
            "x = 1 && y",
            "1:3 `=` assigns, but this is a condition (write `==` to compare)",
        ),
        (
            parse_query,
            "E<> x := 1",
            "1:7 `:=` assigns, but this is a condition (write `==` to compare)",
        ),
        (parse_expression, "x +", "1:4 expected an expression, found the end of the text"),
        (
            parse_expression,
            "x y",
            "1:3 expected an operator or the end of the expression, found `y`",
        ),
        (
            parse_expression,
            "x adn y",
            "1:3 expected an operator or the end of the expression, found `adn` "
            "(did you mean `and`?)",
        ),
        (
            parse_expression,
            "x > 1;",
            "1:6 expected an operator or the end of the expression, found `;` "
            "(no `;` is written here)",
        ),
        (
            parse_expression,
            "x \u2264 5",
            "1:3 unknown character `≤` (write `<=`)",
        ),
        (
            parse_expression,
            "x <=\u00a05",
            "1:5 unknown character U+00A0: a non-breaking space (replace it by a space)",
        ),
        (
            parse_expression,
            "x =< 5",
            "1:3 expected an operator or the end of the expression, found `=<` (write `<=`)",
        ),
        (
            parse_expression,
            "x && (y || (z > 1)",
            "1:6 this `(` is not closed: found the end of the text where `)` was expected",
        ),
        (
            parse_expression,
            "f(x y)",
            "1:5 expected `)`, found `y` (the `(` to close stands at 1:2)",
        ),
        (
            parse_expression,
            "x)",
            "1:2 expected an operator or the end of the expression, found `)` "
            "(no `(` is open here)",
        ),
        (parse_expression, "a[", "1:3 expected an expression, found the end of the text"),
        (parse_expression, "a[]", "1:3 expected an expression, found `]`"),
        (
            parse_expression,
            "x ? y",
            "1:6 expected `:` and the second value of `?:`, found the end of the text",
        ),
        (
            parse_expression,
            "x\n  /* never",
            "2:3 this comment is never closed (close it with `*/`)",
        ),
        (
            parse_expression,
            "0x1F",
            "1:1 `0x1F` is neither a number nor a name "
            "(only decimal numbers can be written: write 31)",
        ),
        (
            parse_expression,
            "3 + 2nd",
            "1:5 `2nd` is neither a number nor a name (names start with a letter or `_`)",
        ),
        (
            parse_expression,
            "2147483648",
            "1:1 2147483648 does not fit into 32 bits (the largest number is 2147483647)",
        ),
        (
            parse_expression,
            "forall i : T x",
            "1:8 expected `(` after `forall`, found `i` (write `forall (i : int[0, 3]) …`)",
        ),
        (
            parse_expression,
            "forall (i) x",
            "1:10 expected `:` and a type, found `)` (write `forall (i : type) …`)",
        ),
        (parse_expression, "5(y)", "1:2 only functions can be called"),
        (parse_expression, "x . 5", "1:5 expected a name after `.`, found `5`"),
        (
            parse_expression,
            "x->y",
            "1:2 expected an operator or the end of the expression, found `->` "
            "(write `.` to select a field)",
        ),
        (
            parse_updates,
            "x = 1;",
            "1:6 expected an operator, `,` or the end of the update, found `;` "
            "(no `;` is written here)",
        ),
        (parse_updates, "x = 1,", "1:7 expected an expression, found the end of the text"),
        (
            parse_updates,
            "x &lt; 5",
            "1:6 expected an operator, `,` or the end of the update, found `;` "
            "(`&lt;` is read as it stands here: write `<`)",
        ),
        (
            parse_selects,
            "i int",
            "1:3 expected `:` and a type, found `int` (write `i : int[0, 3]`)",
        ),
        (
            parse_synchronisation,
            "c",
            "1:2 `!` or `?` is missing after the channel (`!` sends and `?` receives)",
        ),
        (parse_synchronisation, "", "1:1 expected an expression, found the end of the text"),
        (
            parse_synchronisation,
            "a b!",
            "1:3 expected `!` or `?` after the channel, found `b`",
        ),
        (
            parse_parameters,
            "int",
            "1:4 expected the name of the parameter, found the end of the text",
        ),
        (parse_declarations, "int x", "1:6 `;` is missing after the declaration of `x`"),
        (
            parse_declarations,
            "int x = 1 y;",
            "1:11 expected `;` after the declaration of `x`, found `y`",
        ),
        (
            parse_declarations,
            "int x == 1;",
            "1:7 expected `=` or `;`, found `==` (write `=` to initialise)",
        ),
        (
            parse_declarations,
            "int[3] x;",
            "1:6 expected `,` and an upper bound, found `]` "
            "(an array's size is written behind its name)",
        ),
        (
            parse_declarations,
            "typdef int x;",
            "1:8 expected the name of what is declared, found the keyword `int` "
            "(did you mean `typedef`?)",
        ),
        (
            parse_declarations,
            "int guard;",
            "1:5 expected the name of what is declared, found the keyword `guard` "
            "(`guard` cannot be a name)",
        ),
        (
            parse_declarations,
            "int f(int a { }",
            "1:6 this `(` is not closed: found `{` where `)` was expected",
        ),
        (
            parse_declarations,
            "void f() {\n x = 1;\n",
            "1:10 this `{` is never closed",
        ),
        (
            parse_declarations,
            "void f() { x = 1; int y; }",
            "1:19 declarations come before all statements of their block",
        ),
        (
            parse_declarations,
            "void f() { for (int i = 0; i < 3; i++) ; }",
            "1:17 a `for` declares no variable "
            "(declare it at the start of the block, or write `for (i : int[0, 3])`)",
        ),
        (parse_declarations, "void f() { else ; }", "1:12 this `else` belongs to no `if`"),
        (
            parse_declarations,
            "P = T();",
            "1:1 expected a declaration, found `P =` "
            "(a variable is declared with its type; instances belong into the system)",
        ),
        (
            parse_system,
            "system P(1);",
            "1:9 expected `,`, `<` or `;`, found `(` "
            "(instantiate it first: `p = P(…);`, and write `system p;`)",
        ),
        (parse_system, "system P", "1:9 `;` is missing after the line `system …`"),
        (
            parse_system,
            "P(int i) T(i);",
            "1:10 expected `=` and the template that `P` is an instance of, found `T`",
        ),
        (
            parse_query,
            "",
            "1:1 expected a query, found the end of the text (for example `E<> Process.location`)",
        ),
        (
            parse_query,
            "P.x",
            "1:1 this expression is no query "
            "(begin with `E<>`, `A[]`, `E[]` or `A<>`, or write `… --> …`)",
        ),
        (
            parse_query,
            "E<> x; E<> y",
            "1:8 expected the end of the query (write one query a line)",
        ),
        (
            parse_query,
            "E<> A[] x",
            "1:5 `A[]` stands inside of another query (path quantifiers cannot be nested)",
        ),
    ],
)
def test_messages(parse: Parser, text: str, expected: str) -> None:
    assert lines(parse, text) == [expected]


def test_a_missing_semicolon_is_where_it_should_stand() -> None:
    assert lines(parse_declarations, "int x = 1 // one\nint y;\nclock c\nchan d;") == [
        "1:10 `;` is missing after the declaration of `x`",
        "3:8 `;` is missing after the declaration of `c`",
    ]


def test_several_errors_of_one_text() -> None:
    text = """int 1x;
int y = ;
void f(int a) {
    a = (1;
    b == 2 3;
    if a { }
    return;
}
chan c d;
int fine;
"""
    assert lines(parse_declarations, text) == [
        "1:5 `1x` is neither a number nor a name (names start with a letter or `_`)"
    ]
    assert lines(parse_declarations, text.replace("1x", "x")) == [
        "2:9 expected an expression, found `;`",
        "4:9 this `(` is not closed: found `;` where `)` was expected",
        "5:12 expected `;` after this statement, found `3`",
        "6:8 expected `(` after `if`, found `a`",
        "9:8 expected `;` after the declaration of `c`, found `d`",
    ]


def test_errors_inside_initialisers_do_not_hide_what_follows() -> None:
    assert lines(parse_declarations, "int a[2] = {1 2};\nint b = ;\nint c;") == [
        "1:15 expected `}`, found `2` (the `{` to close stands at 1:12)",
        "2:9 expected an expression, found `;`",
    ]


def test_too_many_errors_are_cut_off() -> None:
    assert len(lines(parse_declarations, "int = 1;\n" * 100)) == MAX_PROBLEMS


@pytest.mark.parametrize(
    ("parse", "text", "expected"),
    [
        (parse_declarations, "double d;", "1:1 not supported: floating-point numbers (`double`)"),
        (parse_declarations, 'const string s = "a";', "1:7 not supported: strings (`string`)"),
        (parse_expression, "x < 1.5", "1:5 not supported: floating-point numbers"),
        (parse_expression, "x < 1e-3", "1:5 not supported: floating-point numbers"),
        (
            parse_expression,
            "2 ** x",
            "1:3 not supported: floating-point numbers (the power operator `**`)",
        ),
        (
            parse_expression,
            "x' == 0",
            "1:1 not supported: clock rates (stop-watches and hybrid clocks: `x'`)",
        ),
        (
            parse_expression,
            "x xor y",
            "1:3 not supported: the operator `xor` (on truth values, `!=` says the same)",
        ),
        (parse_expression, "random(3) > 1", "1:1 not supported: random numbers (`random`)"),
        (parse_expression, "numOf(T) > 1", "1:1 not supported: dynamic templates (`numOf`)"),
        (parse_expression, "typeof(x)", "1:1 not supported: `typeof`"),
        (parse_updates, "exit()", "1:1 not supported: dynamic templates (`exit`)"),
        (parse_updates, "spawn T(1)", "1:1 not supported: dynamic templates (`spawn`)"),
        (
            parse_expression,
            "P.f(1)",
            "1:1 not supported: calls of functions that belong to a process",
        ),
        (parse_declarations, "hybrid clock c;", "1:1 not supported: hybrid clocks"),
        (
            parse_declarations,
            "dynamic T(int x);",
            "1:1 not supported: dynamic templates (`dynamic`)",
        ),
        (
            parse_declarations,
            'import "lib.so" { int f(int x); g = void h(); };\nint x;',
            "1:1 not supported: external functions (`import`)",
        ),
        (parse_declarations, "before_update { x = 1 }", "1:1 not supported: `before_update`"),
        (parse_declarations, "after_update { x = 1, y++ }", "1:1 not supported: `after_update`"),
        (
            parse_declarations,
            "void f() { assert x > 1; }",
            "1:12 not supported: `assert` (state a query instead)",
        ),
        (
            parse_declarations,
            "void f() { break; }",
            "1:12 not supported: `break` (UPPAAL has no such statement)",
        ),
        (
            parse_declarations,
            "void f() { switch (x) { case 1: y; default: z; } x; }",
            "1:12 not supported: `switch` (UPPAAL has no such statement)",
        ),
        (
            parse_declarations,
            "void f() { if (x = 1, y) ; }",
            "1:21 not supported: several expressions in one condition (write `&&`)",
        ),
        (
            parse_system,
            "system P; IO P { a, b }",
            "1:11 not supported: input and output interfaces (`IO`)",
        ),
        (parse_query, "Pr[<=10] (<> x)", "1:1 not supported: statistical queries (`Pr`)"),
        (
            parse_query,
            "simulate 1 [<=9] {x}",
            "1:1 not supported: statistical queries (`simulate`)",
        ),
        (parse_query, "E[<=9; 5] (max: x)", "1:1 not supported: statistical queries (`E[…]`)"),
        (parse_query, "control: A[] x", "1:1 not supported: strategies and games (`control`)"),
        (parse_query, "E<> control: A[] x", "1:5 not supported: strategies and games (`control`)"),
        (
            parse_query,
            "strategy s = control: A[] x",
            "1:1 not supported: strategies and games (`strategy`)",
        ),
        (parse_query, "A[] x under s", "1:7 not supported: strategies and games (`under`)"),
        (
            parse_query,
            "minE(x)[<=9]: <> y",
            "1:1 not supported: strategies and games (`minE`)",
        ),
        (
            parse_query,
            'saveStrategy("a", s)',
            "1:1 not supported: strategies and games (`saveStrategy`)",
        ),
        (
            parse_query,
            "bounds: x",
            "1:1 not supported: queries for bounds (`bounds`) (ask for `sup: …` and `inf: …`)",
        ),
        (
            parse_query,
            "A[x U y]",
            "1:1 not supported: the path operators `U` and `W` (until)",
        ),
    ],
)
def test_refused_constructs(parse: Parser, text: str, expected: str) -> None:
    assert lines(parse, text) == [expected]
    assert isinstance(failure(parse, text), UnsupportedError)


def test_a_refused_construct_is_named_once() -> None:
    assert len(lines(parse_declarations, "double a; double b;\nint x = 1.5;")) == 1


def test_errors_outrank_refusals() -> None:
    error = failure(parse_declarations, "double a;\nint = 3;")
    assert not isinstance(error, UnsupportedError)
    assert len(error.diagnostics) == 2


@pytest.mark.parametrize(
    "text",
    [
        "(" * 5000 + "x" + ")" * 5000,
        "-" * 5000 + "x",
        "!" * 5000 + "x",
        "+".join("x" * 5000),
        "a" + "[0]" * 5000,
        "a" + ".b" * 5000,
        "x" + "[x" * 5000 + "]" * 5000,
        "x ? y : " * 5000 + "z",
        "x ? " * 5000 + "y" + " : z" * 5000,
        "forall (i : T) " * 5000 + "x",
        "f(" * 5000 + ")" * 5000,
        "x imply " * 5000 + "x",
    ],
)
def test_deep_nesting_is_an_error(text: str) -> None:
    (line,) = lines(parse_expression, text.replace("- -", "--"))
    assert f"nested more than {MAX_DEPTH} levels deep" in line


@pytest.mark.parametrize(
    "text",
    [
        "void f() " + "{" * 5000 + "}" * 5000,
        "void f() {" + "if (x) " * 5000 + ";}",
        "void f() {" + "if (x) ; else " * 5000 + ";}",
        "void f() {" + "while (x) " * 5000 + ";}",
        "int a = " + "{" * 5000 + "1" + "}" * 5000 + ";",
        "struct { " * 5000 + "int x; } y;" * 5000,
    ],
)
def test_deep_declarations_are_an_error(text: str) -> None:
    found = lines(parse_declarations, text)
    assert f"nested more than {MAX_DEPTH} levels deep" in found[-1]


def test_nesting_below_the_limit_is_read() -> None:
    depth = MAX_DEPTH - 5
    parse_expression(SourceText("(" * depth + "x" + ")" * depth))
    parse_expression(SourceText(" && ".join("x" * depth)))
    parse_declarations(SourceText("void f() {" + "if (x) ; else " * depth + ";}"))


# ------------------------------------------------------------------------------- whatever comes

PARSERS = (
    parse_declarations,
    parse_expression,
    parse_parameters,
    parse_query,
    parse_selects,
    parse_synchronisation,
    parse_system,
    parse_updates,
)
WORDS = """x y T int bool chan clock const typedef struct scalar [ ] ( ) { } ; , : ? ! ' . = == :=
    < <= > + - ++ -- && and not forall sum if else for while do return import spawn exit process
    state system default priority void sup A E <> --> -> 1 2.5 " "s" /* // \\ \u2264 0x1"""


@given(
    st.lists(st.sampled_from(WORDS.split()), max_size=14).map(" ".join), st.sampled_from(PARSERS)
)
def test_any_text_is_read_or_refused(text: str, parse: Parser) -> None:
    problems: tuple[Diagnostic, ...] = ()
    try:
        parse(SourceText(text, "m"))
    except InputError as error:
        problems = error.diagnostics
    assert all(problem.origin.line == 1 for problem in problems)


@given(
    st.text("ab\n", max_size=12),
    st.lists(st.tuples(st.integers(0, 12), st.integers(1, 9), st.integers(1, 9)), max_size=3),
    st.tuples(st.integers(0, 12), st.integers(0, 12)),
)
def test_places_are_those_of_the_text(
    text: str, pieces: list[tuple[int, int, int]], span: tuple[int, int]
) -> None:
    ascending = sorted({piece[0]: piece for piece in pieces if piece[0] <= len(text)}.values())
    source = SourceText(text, "m", ((0, 1, 1), *(piece for piece in ascending if piece[0])))
    start, end = (min(offset, len(text)) for offset in sorted(span))
    found: Origin = Places(source).origin(start, end)
    assert found == source.origin(start, end)


def test_progress_measures_and_charts_are_passed_over() -> None:
    """They steer UPPAAL's search and draw on its screen; the model means the same without."""
    text = "system P;\nprogress { x; y : z; }\ngantt { G(i : int[0,1]) : x -> 1; }"
    assert parse_system(SourceText(text)) == parse_system(SourceText("system P;"))
