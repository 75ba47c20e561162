"""Random chains, and plain edges as transition systems."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from hypothesis import strategies as st
from tests.reference.chance import Edge

from whence.model.transitions import Action, TransitionSystem

RATES = (0.25, 0.5, 1.0, 1 / 3, 3.0)
LETTERS = "abc"


def system_of(
    states: int, edges: Sequence[Edge], bad: Collection[int], initial: Sequence[int] = (0,)
) -> TransitionSystem:
    names = sorted({action for _, action, _, _ in edges})
    marks = np.zeros(states, bool)
    marks[list(bad)] = True
    return TransitionSystem(
        states=states,
        actions=tuple(Action(name=name) for name in names),
        source=np.array([edge[0] for edge in edges], np.int32),
        action=np.array([names.index(edge[1]) for edge in edges], np.int32),
        target=np.array([edge[2] for edge in edges], np.int32),
        initial=tuple(initial),
        propositions={"bad": marks},
        rate=np.array([np.nan if edge[3] is None else edge[3] for edge in edges], np.float64),
    )


@st.composite
def chains(
    draw: st.DrawFn, immediate: bool, largest: int = 6
) -> tuple[int, list[Edge], frozenset[int]]:
    """Of up to `largest` states, some of them bad."""
    states = draw(st.integers(2, largest))
    state = st.integers(0, states - 1)
    rate: st.SearchStrategy[float | None] = st.sampled_from(RATES)
    if immediate:
        rate = st.one_of(st.none(), rate)
    edge = st.tuples(state, st.sampled_from(LETTERS), state, rate)
    edges = draw(st.lists(edge, min_size=1, max_size=3 * states))
    bad = draw(st.frozensets(state, min_size=1, max_size=2))
    return states, edges, bad
