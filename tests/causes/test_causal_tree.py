"""Causal trees: Algorithm 6.2 against what an order means (Koelbl, Definitions 33 and 36)."""

from __future__ import annotations

from itertools import pairwise, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.causes.support import RAILROAD, UNGUARDED

from whence.causes.causal_tree import CausalTree, causal_tree, order_of
from whence.causes.results import Cause, Event
from whence.source import InputError

Pairs = list[tuple[Event, Event]]


def written(tree: CausalTree, at: int | None = None) -> str:
    """With `;` for ordered-and gates and `&` for and gates."""
    node = tree.nodes[tree.root if at is None else at]
    if node.event is not None:
        return str(node.event)
    sign = " ; " if node.kind == "ordered-and" else " & "
    return "(" + sign.join(written(tree, one) for one in node.inputs) + ")"


@st.composite
def orders(draw: st.DrawFn) -> tuple[list[Event], Pairs]:
    """Events, some of them occurrences of the same action, and an order by some of its pairs."""
    size = draw(st.integers(1, 6))
    events = [Event("abc"[n % 3], n // 3 + 1) for n in range(size)]
    events = list(draw(st.permutations(events)))
    pairs = [(events[i], events[j]) for i in range(size) for j in range(i + 1, size)]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return list(draw(st.permutations(events))), chosen


def completed(tree: CausalTree, sequence: tuple[Event, ...], at: int | None = None) -> int | None:
    """When a gate is satisfied, by a sequence of all events; None if it never is."""
    node = tree.nodes[tree.root if at is None else at]
    if node.event is not None:
        return sequence.index(node.event)
    times = [completed(tree, sequence, one) for one in node.inputs]
    if None in times or (node.kind == "ordered-and" and times != sorted(times)):  # type: ignore[type-var]
        return None
    return max(times)  # type: ignore[type-var]


@given(made=orders())
def test_the_tree_has_the_order(made: tuple[list[Event], Pairs]) -> None:
    """Definition 36, sound and complete; and what the gates say is that order."""
    events, pairs = made
    tree = causal_tree(events, pairs)
    closure = set(pairs)
    for middle in events:
        closure |= {
            (first, last)
            for first in events
            for last in events
            if (first, middle) in closure and (middle, last) in closure
        }
    assert order_of(tree) == closure
    for sequence in permutations(events):
        keeps = all(sequence.index(first) < sequence.index(last) for first, last in pairs)
        assert (completed(tree, sequence) is not None) == keeps


@given(made=orders())
def test_its_shape(made: tuple[list[Event], Pairs]) -> None:
    events, pairs = made
    tree = causal_tree(events, pairs)
    leaves = [node.event for node in tree.nodes if node.event is not None]
    assert sorted(leaves) == sorted(events)
    for number, node in enumerate(tree.nodes):
        assert all(one < number for one in node.inputs)
        assert node.event is not None or len(set(node.inputs)) == len(node.inputs) >= 2
        if node.kind == "ordered-and":
            # Merged, as the optimization of section 6.2 says.
            assert tree.nodes[node.inputs[0]].kind != "ordered-and"
    inner = {one for node in tree.nodes for one in node.inputs}
    assert inner == set(range(tree.root))
    gates = [(node.kind, node.inputs) for node in tree.nodes if node.event is None]
    assert len(set(gates)) == len(gates)


@pytest.mark.parametrize(
    ("cause", "expected"),
    [
        # Figure 6.1(c).
        (UNGUARDED, "(((Ca ; Cc) & Ta) ; Tc)"),
        # Example 2.
        (RAILROAD[0], "((Ca ; Cc) & ((Ta & Gf) ; Tc))"),
        (RAILROAD[2], "(((Ta ; Gc ; Tc ; Gf) & Ca) ; Cc)"),
    ],
)
def test_of_the_thesis(cause: Cause, expected: str) -> None:
    assert written(causal_tree(cause.events, cause.order)) == expected


def test_small_ones() -> None:
    a, b, c, d = map(Event, "abcd")
    assert written(causal_tree([a], [])) == "a"
    assert written(causal_tree([b, a], [])) == "(b & a)"
    assert written(causal_tree([a, b, c], [(a, b), (b, c), (a, c)])) == "(a ; b ; c)"
    diamond = causal_tree([a, b, c, d], [(a, b), (a, c), (b, d), (c, d)])
    assert written(diamond) == "(((a ; b) & (a ; c)) ; d)"
    # What several events wait for is one node.
    assert len(diamond.nodes) == 4 + 4
    both = causal_tree([a, b, c, d], [(a, c), (b, c), (a, d), (b, d)])
    assert written(both) == "(((a & b) ; c) & ((a & b) ; d))"
    assert len(both.nodes) == 4 + 4


def test_long_chains_and_wide_layers() -> None:
    """The size of the tree stays small where writing it out would not."""
    events = [Event("a", n + 1) for n in range(800)]
    chain = causal_tree(events, pairwise(events))
    assert len(chain.nodes) == 801
    layers = [[Event("ab"[n], m + 1) for n in range(2)] for m in range(40)]
    pairs = [
        (one, other)
        for layer, following in pairwise(layers)
        for one in layer
        for other in following
    ]
    tree = causal_tree([event for layer in layers for event in layer], pairs)
    assert len(tree.nodes) == 80 + 2 * 39 + 40


def test_what_is_no_order() -> None:
    a, b, c, d = map(Event, "abcd")
    with pytest.raises(InputError, match=r"goes round in a circle: b, c$"):
        causal_tree([a, b, c, d], [(a, b), (b, c), (c, b), (c, d)])
    with pytest.raises(InputError, match="goes round in a circle: a"):
        causal_tree([a], [(a, a)])
    with pytest.raises(InputError, match="speaks of d, which is none of its events"):
        causal_tree([a], [(a, d)])
    with pytest.raises(InputError, match="without events"):
        causal_tree([], [])
    with pytest.raises(InputError, match="the same event twice"):
        causal_tree([a, a], [])
