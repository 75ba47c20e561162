"""Event order logic: its text, and what it means by the letter of Definition 10."""

from __future__ import annotations

import pytest
from hypothesis import given
from tests.causes.eol_strategies import FORMULAS, TRACES, plain
from tests.reference.eol import holds

from whence.causes.eol import (
    After,
    And,
    Before,
    Between,
    Formula,
    Not,
    Or,
    Ordered,
    Variable,
    is_strict_subset,
    is_subset,
    print_formula,
    variables,
)
from whence.causes.eol_parser import parse_formula
from whence.causes.eol_semantics import models
from whence.source import InputError, SourceText

A, B, C = map(Variable, "abc")


@given(formula=FORMULAS, trace=TRACES)
def test_against_the_definition(formula: Formula, trace: list[str]) -> None:
    assert models(trace, formula) == holds(trace, plain(formula))


@pytest.mark.parametrize(
    ("trace", "formula", "expected"),
    [
        # The two corrections of section 3.5.
        ("ab", "!a ; !b", False),
        ("abc", "(a ; b) ; c", True),
        # Nothing is wrong with the other order, in which b happens first.
        ("ba", "!a ; !b", True),
        ("ab", "a ; b", True),
        ("ba", "a ; b", False),
        ("a", "a ; a", False),
        ("aa", "a ; a", True),
        # No event leads to the first state: nothing holds there but what is negated.
        ("", "a", False),
        ("", "!a", True),
        ("a", "!a ; a", True),
        # (3.12): the second stretch may be empty, and what is about order fails there.
        ("a", "a ; !b", True),
        ("a", "(a ; !b) ; !c", True),
        ("a", "a ; (!b ; !c)", False),
        # (3.13): from the end of the first stretch on, the state there included.
        ("ab", "a ;[ !b", False),
        ("abc", "a ;[ !b", True),
        ("a", "a ;[ a", True),
        ("ax", "a ;[ a", False),
        # (3.14): the first state counts, in which nothing happens.
        ("a", "a ;] a", False),
        ("ba", "!b ;] a", True),
        ("ba", "!b ;] (!b ; a)", True),
        # (3.15): two states, and both are in the interval.
        ("ac", "a ;< !b ;> c", True),
        ("abc", "a ;< !b ;> c", False),
        ("abdc", "a ;< !b ;> c", True),
        ("a", "a ;< !b ;> a", False),
        # The number of an occurrence counts from the start of the trace.
        ("aba", "b ; a#2", True),
        ("aba", "b ; a#1", False),
        ("aba", "a#3", False),
    ],
)
def test_meaning(trace: str, formula: str, expected: bool) -> None:
    parsed = parse_formula(formula)
    assert models(trace, parsed) is expected
    assert holds(trace, plain(parsed)) is expected


def test_the_cause_of_definition_12() -> None:
    """ψ^A: the car must not leave between entering and the train's entering."""
    cause = parse_formula("Ta & Ca & Gf & Cc ;< !Cl ;> Tc")
    assert models(["Ta", "Ca", "Gf", "Cc", "Tc"], cause)
    assert not models(["Ta", "Ca", "Gf", "Cc", "Cl", "Tc"], cause)
    assert not models(["Ta", "Ca", "Cc", "Tc"], cause)


def test_long_traces() -> None:
    """A thousand actions, for which the definition itself would take a day."""
    trace = "abc" * 334
    assert models(trace, parse_formula("(a ; b) ; (c ;< !x ;> a) ;[ (!x & !y)"))
    assert not models(trace, parse_formula("c#334 ; a"))


# -------------------------------------------------------------------------------------------- text


@given(formula=FORMULAS)
def test_what_is_printed_reads_back(formula: Formula) -> None:
    for spelling in ("ascii", "unicode"):
        text = print_formula(formula, spelling)  # type: ignore[arg-type]
        assert parse_formula(text) == formula


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a | b & c ; !a", Or((A, And((B, Ordered((C, Not(A)))))))),
        ("a ; b ; c", Ordered((A, B, C))),
        ("a ; (b ; c)", Ordered((A, Ordered((B, C))))),
        ("a ; b ;[ !c", After(Ordered((A, B)), Not(C))),
        ("!a ;] b ; c", Ordered((Before(Not(A), B), C))),
        ("a ;< !b & !c ;> c", None),
        ("a ;< (!b & !c) ;> c", Between(A, And((Not(B), Not(C))), C)),
        ("a ⋏ b ∧ ¬c ∨ a⋏[¬b", Or((And((Ordered((A, B)), Not(C))), After(A, Not(B))))),
        ("a ⋏< ¬b ⋏> c && ¬a ⋏] c || b", None),
        ('"Gate open!"#2 ; Gate.open', Ordered((Variable("Gate open!", 2), Variable("Gate.open")))),
        (r'"\"\\\n"', Variable('"\\\n')),
        ("!!a", Not(Not(A))),
    ],
)
def test_parsed(text: str, expected: Formula | None) -> None:
    if expected is not None:
        assert parse_formula(text) == expected


def test_both_spellings_are_the_same() -> None:
    one = parse_formula("a ⋏< ¬b ⋏> c ∧ ¬a ⋏] c ∨ b ⋏[ ¬c")
    other = parse_formula("a ;< !b ;> c && !a ;] c || b ;[ !c")
    assert one == other
    assert print_formula(one) == "a ;< !b ;> c & !a ;] c | b ;[ !c"
    assert print_formula(one, "unicode") == "a ⋏< ¬b ⋏> c ∧ ¬a ⋏] c ∨ b ⋏[ ¬c"


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("", "1:1", "expected an event, ! or ( here"),
        ("a ;", "1:4", "expected an event, ! or ( here"),
        ("a b", "1:3", "expected an operator or the end here"),
        ("(a", "1:3", "expected ) here"),
        ("a)", "1:2", "expected an operator or the end here"),
        ("a ;> b", "1:3", "this ;> has no ;< before it"),
        ("a ;< b ; c", "1:8", "expected ;> here"),
        ("a ;< !b & !c ;> c", "1:9", "expected ;> here"),
        ("!(a ; b)", "1:3", "only a formula without order can be negated"),
        ("a ;[ (b ; c)", "1:7", "what holds throughout must be a formula without order"),
        ("a\n  & $", "2:5", "unexpected character '$'"),
        ('a & "b', "1:5", "this text in quotation marks does not end"),
        ('""', "1:1", "an event has a name that is not empty"),
        ("a#0", "1:2", "occurrences are counted from 1"),
        ("a#" + "9" * 5000, "1:2", "occurrences are counted from 1"),
        ("(" * 5000, "1:101", "nested more than 100 deep"),
        ("!" * 5000 + "a", "1:101", "nested more than 100 deep"),
    ],
)
def test_errors_have_places(text: str, place: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        parse_formula(SourceText(text, "cause.eol"))
    assert f"cause.eol:{place}: error: {message}" in str(error.value)


def test_long_formulas_are_read() -> None:
    text = " & ".join(f"e{n} ; e{n + 1}" for n in range(5000))
    parsed = parse_formula(text)
    assert print_formula(parsed) == text
    assert models(["e0", "e1"], parsed) is False
    chain = " ; ".join(["a"] * 5000)
    assert print_formula(parse_formula(chain)) == chain


def test_variables_and_the_subset_relation() -> None:
    """Definition 11, with the example of the thesis, and that of section 4.1 where it says too
    much: order does not count."""
    assert is_strict_subset(A, parse_formula("a ; b"))
    assert is_subset(A, A)
    assert not is_strict_subset(A, A)
    assert is_subset(parse_formula("a ; b"), parse_formula("b ; a"))
    assert not is_subset(parse_formula("a | c"), parse_formula("a ; b"))
    assert variables(parse_formula("!a ;] (b#2 ; b)")) == {A, Variable("b", 2), B}
