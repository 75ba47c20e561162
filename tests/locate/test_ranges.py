"""The ranges of expressions contain what the expressions come to."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st
from tests.locate.support import parsed

from whence.locate.interpreter import Interpreter
from whence.locate.outcome import Options
from whence.locate.ranges import bounds
from whence.model.program import Return

ATOMS = st.sampled_from(["x", "y", "c", "u", "s.b", "s.w", "0", "1", "7", "-3", "200", "65537u"])
OPERATORS = st.sampled_from(["+", "-", "*", "&", "|", "^", "%", "/", ">>", "<", "=="])


def _more(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(inner, OPERATORS, inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        st.tuples(inner, inner, inner).map(lambda t: f"({t[0]} ? {t[1]} : {t[2]})"),
        st.tuples(st.sampled_from(["char", "unsigned char", "short", "unsigned"]), inner).map(
            lambda t: f"({t[0]})({t[1]})"
        ),
        inner.map(lambda e: f"!{e}"),
    )


EXPRESSIONS = st.recursive(ATOMS, _more, max_leaves=5)
INTS = st.one_of(st.integers(-9, 9), st.sampled_from([-(2**31), 2**31 - 1, 255, -129]))


@example("(x % 7)", [(-3, 0)])
@given(EXPRESSIONS, st.lists(st.tuples(INTS, INTS), min_size=3, max_size=6))
def test_values_are_within_their_range(expression: str, inputs: list[tuple[int, int]]) -> None:
    text = (
        "struct { unsigned b : 3; int w : 5; } s;"
        "long long f(int x, int y) { char c = x; unsigned u = y; s.b = x; s.w = y;"
        f"return {expression}; }}"
    )
    program = parsed(text)
    result = program.functions["f"].body[-1]
    assert isinstance(result, Return)
    assert result.value is not None
    least, greatest = bounds(result.value)
    interpreter = Interpreter(program, Options(signed_overflow="wrap"))
    for pair in inputs:
        outcome = interpreter.run("f", list(pair))
        if outcome.end == "exit":
            assert isinstance(outcome.value, int)
            assert least <= outcome.value <= greatest
