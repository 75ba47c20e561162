"""Inclusion and equivalence of languages against making both automata deterministic."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reference.languages import bisimilar, first_word, has_word, words_of

from whence.timing.language import (
    Automaton,
    Difference,
    LanguageBudgetExceeded,
    _bisimilar,
    difference,
    missing_word,
)


@st.composite
def automata(draw: st.DrawFn, labels: int = 3) -> Automaton:
    """Mostly with many edges: with few, the first letter already tells two apart."""
    size = draw(st.integers(1, 6))
    state = st.integers(0, size - 1)
    edge = st.tuples(st.integers(0, labels - 1), state)
    most = draw(st.sampled_from([2, 3, labels * size]))
    edges = draw(st.lists(st.lists(edge, max_size=most).map(tuple), min_size=size, max_size=size))
    initial = draw(st.lists(state, min_size=draw(st.sampled_from([0, 1, 1, 1])), max_size=2))
    return Automaton(tuple(initial), tuple(edges))


@st.composite
def deterministic(draw: st.DrawFn) -> Automaton:
    made = draw(automata())
    return Automaton(made.initial[:1], tuple(tuple(dict(e).items()) for e in made.edges))


@st.composite
def similar(draw: st.DrawFn, made: st.SearchStrategy[Automaton]) -> tuple[Automaton, Automaton]:
    """Two automata; often the second is the first with few edges more or less, or with its states
    doubled: two that are drawn apart are rarely equivalent."""
    left = draw(made)
    how = draw(st.sampled_from(["apart", "doubled", "changed", "both"]))
    if how == "apart":
        return left, draw(made)
    size = len(left.edges)
    right = left
    if how in ("doubled", "both"):
        # Each edge leads to one of the two copies of its target, or to both.
        bits = st.sampled_from([(0,), (1,), (0, 1)])
        copied = [
            tuple((label, target + size * bit) for label, target in e for bit in draw(bits))
            for e in (*left.edges, *left.edges)
        ]
        right = Automaton(left.initial, tuple(copied))
    if how in ("changed", "both"):
        edges = [list(leaving) for leaving in right.edges]
        state = draw(st.integers(0, len(edges) - 1))
        if edges[state] and draw(st.booleans()):
            edges[state].pop()
        else:
            target = st.integers(0, len(edges) - 1)
            edges[state].append((draw(st.integers(0, 2)), draw(target)))
        right = Automaton(right.initial, tuple(map(tuple, edges)))
    return (left, right) if draw(st.booleans()) else (right, left)


PAIRS = st.one_of(
    similar(automata()), similar(automata(labels=1)), similar(automata(2)), similar(deterministic())
)


def plain(automaton: Automaton):  # type: ignore[no-untyped-def]
    return automaton.initial, automaton.edges


@given(pair=PAIRS)
def test_against_determinising_both(pair: tuple[Automaton, Automaton]) -> None:
    """The word is the first one, not just any: it distinguishes, and is a shortest one."""
    left, right = pair
    assert missing_word(left, right) == first_word(plain(left), plain(right), only_left=True)
    found = difference(left, right)
    word = first_word(plain(left), plain(right))
    assert (None if found is None else found.word) == word
    if found is not None:
        side, other = (left, right) if found.only_in == "left" else (right, left)
        assert has_word(plain(side), found.word)
        assert not has_word(plain(other), found.word)


@given(pair=similar(automata(labels=2)))
def test_against_all_short_words(pair: tuple[Automaton, Automaton]) -> None:
    left, right = (words_of(plain(automaton), 5) for automaton in pair)
    lost = min(left - right, key=lambda word: (len(word), word), default=None)
    found = missing_word(*pair)
    assert found == lost or (lost is None and found is not None and len(found) > 5)


@given(made=automata(labels=1), other=automata(labels=2))
def test_all_bisimilar_states_are_merged(made: Automaton, other: Automaton) -> None:
    """Merging too few would only cost time, and no verdict would notice."""
    shift = len(made.edges)
    moved = [{(label, to + shift) for label, to in leaving} for leaving in other.edges]
    edges = [*map(set, made.edges), *moved]
    block = _bisimilar(edges)
    states = range(len(edges))
    merged = {(one, two) for one in states for two in states if block[one] == block[two]}
    assert merged == bisimilar([sorted(leaving) for leaving in edges])


def test_equivalent_though_not_bisimilar() -> None:
    """a(b + c) and ab + ac."""
    one = Automaton((0,), (((0, 1),), ((1, 2), (2, 2)), ()))
    two = Automaton((0,), (((0, 1), (0, 2)), ((1, 3),), ((2, 3),), ()))
    assert difference(one, two) is None
    longer = Automaton((0,), (((0, 1), (0, 2)), ((1, 3),), ((2, 3),), ((0, 3),)))
    assert missing_word(longer, one) == (0, 1, 0)
    assert missing_word(one, longer) is None
    assert difference(one, longer) == Difference((0, 1, 0), "right")


def test_of_equally_short_words_the_first() -> None:
    """Each has a word of two letters that the other has not."""
    one = Automaton((0,), (((0, 1), (0, 2)), ((2, 1),), ()))
    two = Automaton((0,), (((0, 1), (0, 2)), ((1, 1),), ()))
    assert difference(one, two) == Difference((0, 1), "right")
    assert difference(two, one) == Difference((0, 1), "left")
    assert missing_word(one, two) == (0, 2)


def test_the_first_word_does_not_depend_on_the_order_of_edges() -> None:
    one = Automaton((0,), (((1, 1), (0, 1)), ((1, 2), (0, 2)), ()))
    two = Automaton((0,), (((1, 1), (0, 1)), ()))
    assert missing_word(one, two) == (0, 0)
    assert difference(one, two) == Difference((0, 0), "left")
    assert difference(two, one) == Difference((0, 0), "right")


def test_empty_languages() -> None:
    nothing, only_empty = Automaton((), ()), Automaton((0,), ((),))
    assert difference(nothing, Automaton((), (((0, 0),),))) is None
    assert missing_word(nothing, only_empty) is None
    assert missing_word(only_empty, nothing) == ()
    assert difference(nothing, only_empty) == Difference((), "right")


def far_back(distance: int) -> Automaton:
    """Words of 0 and 1 that may go on with 2 where, `distance` letters ago, there was a 1: as a
    deterministic automaton it has 2**distance states."""
    chain = [((0, n + 1), (1, n + 1)) for n in range(1, distance)]
    return Automaton((0,), (((0, 0), (1, 0), (1, 1)), *chain, ((2, 0),)))


def test_what_is_large_when_deterministic() -> None:
    one, two = far_back(40), far_back(41)
    doubled = Automaton((0, 0), (*one.edges[:-1], ((2, 0), (2, 0))))
    assert difference(one, doubled, budget=1) is None
    assert difference(one, two) == Difference((1, *(0,) * 39, 2), "left")
    with pytest.raises(LanguageBudgetExceeded) as error:
        difference(one, two, budget=20)
    assert error.value.pairs == 20
    assert "20 pairs" in str(error.value)


def test_pairs_are_looked_at_once() -> None:
    loop = Automaton((0,), (((0, 0),),))
    # Its last state only makes it nondeterministic.
    two = Automaton((0,), (((0, 1),), ((0, 0), (1, 1)), ((0, 0), (0, 1))))
    assert missing_word(loop, two, budget=2) is None
    with pytest.raises(LanguageBudgetExceeded):
        missing_word(loop, two, budget=1)


def test_budget_of_deterministic_automata() -> None:
    ring, longer = (
        Automaton((0,), tuple(((0, (n + 1) % size),) for n in range(size))) for size in (7, 11)
    )
    assert difference(ring, longer, budget=77) is None
    with pytest.raises(LanguageBudgetExceeded):
        missing_word(ring, longer, budget=76)


def test_long_automata() -> None:
    """A chain of bisimilar states that differ only at its very end; in pairs, so that neither is
    deterministic."""
    size = 20_000

    def chain(last: int) -> Automaton:
        edges = [((0, 2 * (n // 2) + 2), (0, 2 * (n // 2) + 3)) for n in range(2 * size)]
        return Automaton((0, 1), (*edges, ((last, 2 * size),), ((last, 2 * size),)))

    assert difference(chain(0), chain(0)) is None
    assert difference(chain(1), chain(2)) == Difference((0,) * size + (1,), "left")


def test_open_states() -> None:
    """What leaves an open state is not known: nothing is missing there, and what is behind it is
    not looked at."""
    chain = Automaton((0,), (((0, 1),), ((1, 2),), ()))
    part = Automaton((0,), (((0, 1),), ()), frozenset({1}))
    other = Automaton((0,), (((0, 1),), ((2, 2),), ()))
    assert missing_word(chain, part) is None
    assert difference(chain, part) is None
    assert difference(part, chain) is None
    assert missing_word(chain, other) == (0, 1)
    # What an open state has is known.
    known = Automaton((0,), (((0, 1),), ((2, 2),), ()), frozenset({1, 2}))
    assert missing_word(known, chain) == (0, 2)
    assert missing_word(chain, known) is None
    assert difference(chain, known) == Difference((0, 2), "right")
