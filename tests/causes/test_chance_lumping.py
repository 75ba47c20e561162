"""Lumping: against the definition of the coarsest partition, by splitting until nothing splits."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from whence.causes.chance.chain import Chain
from whence.causes.chance.lumping import lump, quotient

Row = tuple[int, int, int, Fraction, bool]


def coarsest(states: int, rows: list[Row], labels: list[int]) -> list[int]:
    block = list(labels)
    while True:
        signatures = []
        for state in range(states):
            sums: dict[tuple[int, int, bool], Fraction] = {}
            for source, target, letter, weight, instant in rows:
                if source == state and (letter or block[target] != block[state]):
                    key = block[target], letter, instant
                    sums[key] = sums.get(key, Fraction(0)) + weight
            signatures.append((block[state], frozenset(sums.items())))
        known: dict[object, int] = {}
        after = [known.setdefault(signature, len(known)) for signature in signatures]
        if len(known) == len(set(block)):
            return after
        block = after


@st.composite
def labelled(draw: st.DrawFn) -> tuple[int, list[Row], list[int]]:
    states = draw(st.integers(1, 9))
    state = st.integers(0, states - 1)
    tenth = st.sampled_from([Fraction(k, 10) for k in (1, 2, 3)] + [Fraction(k, 3) for k in (1, 2)])
    row = st.tuples(state, state, st.integers(0, 2), tenth, st.booleans())
    labels = st.lists(st.integers(0, 1), min_size=states, max_size=states)
    return states, draw(st.lists(row, max_size=25)), draw(labels)


def chain_of(states: int, rows: list[Row]) -> Chain:
    return Chain(
        states=states,
        source=np.array([row[0] for row in rows], np.int64),
        target=np.array([row[1] for row in rows], np.int64),
        letter=np.array([row[2] for row in rows], np.int64),
        weight=np.array([float(row[3]) for row in rows], np.float64),
        instant=np.array([row[4] for row in rows], bool),
    )


@given(labelled())
@settings(max_examples=max(300, settings().max_examples * 5))
def test_coarsest(given: tuple[int, list[Row], list[int]]) -> None:
    """As 1/10 + 2/10 is 3/10, which the numbers of the machine deny."""
    states, rows, labels = given
    found = lump(chain_of(states, rows), np.array(labels))
    expected = coarsest(states, rows, labels)
    assert found.block.tolist() == expected
    assert [expected[state] for state in found.example] == list(range(found.blocks))
    small = quotient(chain_of(states, rows), found)
    assert small.states == found.blocks
    for letter in range(3):
        for instant in (False, True):
            for block, example in enumerate(found.example.tolist()):
                for target in range(found.blocks):
                    if letter == 0 and target == block:
                        continue
                    total = sum(
                        row[3]
                        for row in rows
                        if (row[0], row[2], row[4]) == (example, letter, instant)
                        and expected[row[1]] == target
                    )
                    edges = (small.source == block) & (small.target == target)
                    edges &= (small.letter == letter) & (small.instant == instant)
                    assert abs(float(small.weight[edges].sum()) - float(total)) < 1e-15


def test_letters_are_told_apart() -> None:
    """And a third is taken as that, so that three of them are one."""
    one = Fraction(1)
    rows: list[Row] = [(0, 4, 1, one, False), (1, 4, 2, one, False), (3, 4, 1, one, True)]
    rows += [(2, 4, 1, one / 3, False)] * 3
    assert lump(chain_of(5, rows), np.zeros(5)).block.tolist() == [0, 1, 0, 2, 3]


def test_a_long_chain_is_quick() -> None:
    """Each round of a naive refinement would split off one state of 50,000."""
    count = 50_000
    states = np.arange(count - 1)
    ones = np.ones(count - 1)
    chain = Chain(
        states=count,
        source=states,
        target=states + 1,
        letter=np.zeros(count - 1, np.int64),
        weight=ones,
        instant=np.zeros(count - 1, bool),
    )
    assert lump(chain, (np.arange(count) == count - 1)).blocks == count
