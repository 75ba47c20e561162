"""The listings of Graussam's chapters 4 and 5, with the outcomes of table 7.1.

What the thesis takes as inputs are globals, or arguments; lines are its own. Of listing 4.12 the
outcome is not here: the thesis checks an index that does not change only once, we check each use.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from whence.formats.c.read import read_c
from whence.formats.observations.inline import inline_observations
from whence.locate.diagnosis import Diagnoser
from whence.locate.encode import encode_program
from whence.locate.fault_model import LIKE_THESIS, Decisions, FaultModel
from whence.locate.localize import Localization, Settings, localize
from whence.model.program import Program
from whence.model.program_test import Test

PREFERRED = FaultModel("line", checks=LIKE_THESIS.checks, definitions=False)


def program_of(text: str) -> Program:
    program, _ = inline_observations(read_c(["test.c"], text=text))
    return program


def located(
    text: str, tests: list[Test], model: FaultModel, entry: str = "f", **settings: object
) -> Localization:
    return localize(program_of(text), entry, tests, Settings(model, **settings))  # type: ignore[arg-type]


def lines(found: Localization) -> set[frozenset[int]]:
    return {
        frozenset(place.origin.line for place in diagnosis.places) for diagnosis in found.diagnoses
    }


def sets(*members: set[int]) -> set[frozenset[int]]:
    return {frozenset(each) for each in members}


def without(decision: str) -> FaultModel:
    return replace(PREFERRED, decisions=replace(Decisions(), **{decision: False}))


def contradicts(text: str, test: Test, model: FaultModel) -> bool:
    """Whether the test contradicts the program with all components healthy."""
    encoded = encode_program(program_of(text), "f", [test], model, rounds={})
    with Diagnoser(encoded.system, encoded.observations) as diagnoser:
        return bool(diagnoser.failing())


NOTHING = Test("1", args=())

LISTING_4_4 = """int a, b, c, *p; void f(void) {
    if (a > b) {
        p = &b; }
    else {
        p = &a; }
    c = *p + a;
    *p = 5;
    __CPROVER_assert(a < 0, ""); }
"""


def test_example_4_2_6() -> None:
    test = Test("1", globals={"a": 1, "b": -1}, args=())
    assert sets({7}) <= lines(located(LISTING_4_4, [test], LIKE_THESIS))
    exact = lines(located(LISTING_4_4, [test], PREFERRED))
    assert sets({2, 7}) <= exact
    assert not sets({7}) & exact


UNUSABLE = [
    ("read_pointers", "void f(void) { int a, *c;\n    a = *c; }\n"),
    ("written_pointers", "void f(void) { int a, *c;\n    *c = a; }\n"),
    ("read_bounds", "int a[2], x; void f(void) {\n    x = a[3]; }\n"),
    ("written_bounds", "int a[2]; void f(void) {\n    a[3] = 4; }\n"),
]


@pytest.mark.parametrize(("decision", "text"), UNUSABLE, ids=["4.5", "4.6", "4.10", "4.11"])
def test_checks_go_with_their_line(decision: str, text: str) -> None:
    assert lines(located(text, [NOTHING], PREFERRED)) == sets({2})
    assert lines(located(text, [NOTHING], LIKE_THESIS)) == sets({2})
    kept = located(text, [NOTHING], without(decision))
    assert not kept.diagnoses
    assert kept.unexplained == ("1",)


def test_example_4_2_4() -> None:
    text = """void f(int a, int b, int c) { int *p;
    if (c) {
        p = &a; }
    *p = 5;
    __CPROVER_assert(a == b, ""); }
"""
    test = Test("1", args=(0, 0, 0))
    assert lines(located(text, [test], PREFERRED)) == sets({4})
    assert lines(located(text, [test], without("written_pointers"))) == sets({2, 4})


def test_example_4_2_5() -> None:
    text = 'void f(void) { int a, *c;\n    a = *c;\n    __CPROVER_assert(a == 1, ""); }\n'
    assert lines(located(text, [NOTHING], PREFERRED)) == sets({2})
    assert not contradicts(text, NOTHING, replace(PREFERRED, checks=frozenset()))


def test_example_4_2_9() -> None:
    text = 'int a[2], x; void f(void) {\n    x = a[3];\n    __CPROVER_assert(x == 2, ""); }\n'
    test = Test("1", args=(), globals={"a": [2, 2], "x": -1})
    assert lines(located(text, [test], PREFERRED)) == sets({2})
    assert not contradicts(text, test, replace(PREFERRED, checks=frozenset()))


def test_example_4_2_10() -> None:
    text = """int i, a[2], x; void f(void) {
    i = 0;
    a[i] = x;
    __CPROVER_assert(a[1] == -1, ""); }
"""
    test = Test("1", args=(), globals={"a": [1, 1], "x": 0})
    assert sets({3}) <= lines(located(text, [test], LIKE_THESIS))
    exact = lines(located(text, [test], PREFERRED))
    assert exact == sets({2, 3})


def max_plus_one(operator: str, added: str) -> str:
    """Listings 5.1 and 5.2."""
    return f"""int maxPlusOne(int a, int b) {{
    int result;
    if (a {operator} b)
        result = b{added};
    else
        result = a{added};
    __CPROVER_assert(a < result && b < result, "");
    return result;
}}
"""


FIRST, SECOND = Test("1", args=(1, 2)), Test("2", args=(2, 1))


@pytest.mark.parametrize("model", [LIKE_THESIS, PREFERRED, FaultModel()])
def test_example_5_1_1(model: FaultModel) -> None:
    text = max_plus_one("<", "")
    assert lines(located(text, [FIRST], model, "maxPlusOne")) == sets({4})
    assert lines(located(text, [SECOND], model, "maxPlusOne")) == sets({6})
    both = located(text, [FIRST, SECOND], model, "maxPlusOne")
    # The thesis names the first; as line 3 then decides which branch is taken, the formula 5.4 has
    # the others too.
    assert lines(both) == sets({4, 6}, {3, 4}, {3, 6})
    # What would pass: more than both.
    (named,) = (
        each for each in both.diagnoses if {place.origin.line for place in each.places} == {4, 6}
    )
    for witness in named.witnesses:
        (change,) = witness.changes
        assert change.what == "result"
        assert change.gave == 2
        assert change.wanted > 2


@pytest.mark.parametrize("model", [LIKE_THESIS, PREFERRED, FaultModel()])
def test_example_5_1_2(model: FaultModel) -> None:
    text = max_plus_one(">", " + 1")
    assert lines(located(text, [FIRST], model, "maxPlusOne")) == sets({3}, {6})
    assert lines(located(text, [SECOND], model, "maxPlusOne")) == sets({3}, {4})
    both = located(text, [FIRST, SECOND], model, "maxPlusOne")
    assert lines(both) == sets({3})
    (change,) = both.diagnoses[0].witnesses[0].changes
    assert change.decision
    assert (change.gave, change.wanted) == (0, 1)


def test_example_5_1_2_all_minimal() -> None:
    found = located(
        max_plus_one(">", " + 1"), [FIRST, SECOND], PREFERRED, "maxPlusOne", minimum=False
    )
    assert lines(found) == sets({3}, {4, 6})


def test_listing_6_1() -> None:
    """Observations in the source; section 6.2: division by zero is looked at if asked for."""
    text = """int functionInTest(int a, int b) {
    return a - b;
}
int main(void) {
    int a, b, expectedOut;
    __CPROVER_observation_begin();
    a = 3; b = 4; expectedOut = 7;
    __CPROVER_observation_end();
    __CPROVER_observation_begin();
    a = -2; b = 0; expectedOut = -2;
    __CPROVER_observation_end();
    __CPROVER_assert(functionInTest(a, b) == expectedOut, "error");
    return 0;
}
"""
    program, tests = inline_observations(read_c(["test.c"], text=text))
    assert [dict(test.globals) for test in tests] == [
        {"observation.a": 3, "observation.b": 4, "observation.expectedOut": 7},
        {"observation.a": -2, "observation.b": 0, "observation.expectedOut": -2},
    ]
    found = localize(program, "main", tests, Settings(PREFERRED))
    assert [each.test.name for each in found.failing] == ["1"]
    assert lines(found) == sets({2})


def test_example_6_2_1() -> None:
    text = "void f(void) { int a;\n    for (int i = 3; i >= 0; i--) {\n        a = 5 / i; } }\n"
    model = replace(PREFERRED, checks=frozenset({"division"}))
    assert sets({3}) <= lines(located(text, [NOTHING], model))
    encoded = encode_program(
        program_of(text), "f", [NOTHING], replace(model, checks=frozenset()), rounds={3: 5, 4: 5}
    )
    with Diagnoser(encoded.system, encoded.observations) as diagnoser:
        assert not diagnoser.failing()
