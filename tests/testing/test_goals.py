"""Goals that are pairs, and those of inputs, counted by hand."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from tests.testing.support import model

from whence.testing.generate import GenerateSettings, generate
from whence.testing.goals import ALL_KINDS, KINDS, goals_of
from whence.testing.inputs import classes, interesting

TWO = """\
variables: {i: "input int[0,99]", b: input bool, o: "output int[0,3]"}
machines:
  A:
    initial: P
    states: {P: {}, Q: {initial: R, states: {R: {}, S: {}}}}
    transitions:
      - {from: P, to: Q, when: i >= 10}
      - {from: R, to: S, when: i == 50}
      - {from: Q, to: P, when: i < 10}
  B:
    initial: X
    states: {X: {}, Y: {entry: o = 1}}
    transitions:
      - {from: X, to: Y, when: A.S}
"""


def test_pairs() -> None:
    found = model(TWO)
    goals = goals_of(found, kinds=ALL_KINDS)
    kinds = [goal.kind for goal in goals]
    # P, R, S with X, Y; and P to R, R to S or P, S to P.
    assert kinds.count("state-pair") == 6
    pairs = [goal.ident for goal in goals if goal.kind == "transition-pair"]
    assert pairs == [
        "transition-pair A.P -> Q then A.Q.R -> Q.S",
        "transition-pair A.P -> Q then A.Q -> P",
        "transition-pair A.Q.R -> Q.S then A.Q -> P",
        "transition-pair A.Q -> P then A.P -> Q",
    ]
    assert not {"state-pair", "transition-pair"} & {goal.kind for goal in goals_of(found)}
    assert set(KINDS) < set(ALL_KINDS)


def test_pairs_are_covered_or_not() -> None:
    """B never leaves Y, and is there one step after A is in S."""
    suite = generate(model(TWO), GenerateSettings(kinds=("state-pair", "transition-pair")))
    assert {goal.ident for goal in suite.goals if goal.status != "covered"} == set()
    once = TWO.replace("{from: Q, to: P, when: i < 10}", "{from: R, to: P, when: i < 10}")
    suite = generate(model(once), GenerateSettings(kinds=("state-pair", "transition-pair")))
    # S is never left: with B in Y, A is nowhere else.
    missing = {goal.ident: goal.status for goal in suite.goals if goal.status != "covered"}
    assert set(missing) == {"state-pair A.P with B.Y", "state-pair A.Q.R with B.Y"}


def test_classes_of_inputs() -> None:
    found = model(TWO)
    i = next(v for v in found.variables if v.name == "i")
    assert classes(found, i) == ((0, 9), (10, 49), (50, 50), (51, 99))
    goals = [goal.ident for goal in goals_of(found) if goal.kind == "class"]
    assert goals[0] == "class i from 0 to 9"
    # The truth value has two values, which are boundary values.
    assert len(goals) == 4


@given(
    st.lists(
        st.tuples(st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), st.integers(-2, 12)),
        min_size=1,
        max_size=4,
    ),
    st.booleans(),
)
def test_a_class_is_what_guards_treat_alike(
    comparisons: list[tuple[str, int]], turned: bool
) -> None:
    parts = [f"{c} {op} i" if turned else f"i {op} {c}" for op, c in comparisons]
    text = (
        'variables: {i: "input int[0,9]"}\n'
        "machines: {M: {initial: P, states: {P: {}}, transitions: "
        f'[{{from: P, to: P, when: "{" && ".join(parts)}"}}]}}}}\n'
    )
    found = model(text)
    (i,) = found.having("input")
    ranges = classes(found, i)
    assert [n for low, high in ranges for n in range(low, high + 1)] == list(range(10))

    def answers(value: int) -> list[bool]:
        return [bool(eval(part, {"i": value})) for part in parts]

    for low, high in ranges:
        assert all(answers(n) == answers(low) for n in range(low, high + 1))
    for (_, end), (begin, _) in pairwise(ranges):
        assert answers(end) != answers(begin)
    assert {0, 9} <= set(interesting(found, i))
