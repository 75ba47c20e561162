"""Random small transition systems, for the package and, the same, for the slow reference."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

import numpy as np
from hypothesis import strategies as st
from tests.reference.causes import System

from whence.model.transitions import Action, TransitionSystem

ACTIONS = ("a", "b", "c", "d")


@st.composite
def systems(
    draw: st.DrawFn, largest: int = 8, silent: bool = False, several_initial: bool = False
) -> System:
    """2 to `largest` states, 2 to 4 actions, one to three bad states; not deterministic, and with
    loops of length one. Most have a path through all states, so that there is something to find."""
    states = draw(st.integers(2, largest))
    actions: list[str | None] = list(ACTIONS[: draw(st.integers(2, 4))])
    if silent:
        actions.append(None)
    state, action = st.integers(0, states - 1), st.sampled_from(actions)
    edges = draw(st.lists(st.tuples(state, action, state), max_size=2 * states + 2))
    if draw(st.integers(0, 4)):
        edges += [(at, draw(action), at + 1) for at in range(states - 1)]
    bad = draw(st.sets(st.integers(1, states - 1), min_size=1, max_size=3))
    initial = {0}
    if several_initial:
        initial |= draw(st.sets(state, max_size=2))
    if draw(st.integers(0, 9)) == 9:
        bad.add(0)
    order = draw(st.permutations(sorted(set(edges), key=str)))
    return System(states, tuple(order), frozenset(initial), frozenset(bad))


def transition_system(system: System) -> TransitionSystem:
    names = [*ACTIONS, None]
    table = np.array([(s, names.index(a), t) for s, a, t in system.edges], np.int32).reshape(-1, 3)
    return TransitionSystem(
        states=system.states,
        actions=(*(Action(name=name) for name in ACTIONS), Action(name="tau", silent=True)),
        source=table[:, 0].copy(),
        action=table[:, 1].copy(),
        target=table[:, 2].copy(),
        initial=tuple(sorted(system.initial)),
        propositions=MappingProxyType({"bad": marks(system.states, system.bad)}),
    )


def marks(states: int, members: frozenset[int]) -> np.ndarray:
    result = np.zeros(states, bool)
    result[list(members)] = True
    return result


def reference_system(system: TransitionSystem) -> System:
    """The other way round."""
    names = [None if action.silent else action.name for action in system.actions]
    return System(
        system.states,
        tuple(
            (s, names[a], t)
            for s, a, t in zip(
                system.source.tolist(), system.action.tolist(), system.target.tolist(), strict=True
            )
        ),
        frozenset(system.initial),
        frozenset(np.flatnonzero(system.propositions["bad"]).tolist()),
    )


def incomplete(system: TransitionSystem, depth: int) -> TransitionSystem:
    """What is left if states that `depth` transitions reach are not expanded."""
    depths = dict.fromkeys(system.initial, 0)
    for _ in range(system.states):
        for s, t in zip(system.source.tolist(), system.target.tolist(), strict=True):
            if s in depths:
                depths[t] = min(depths.get(t, system.states), depths[s] + 1)
    kept = np.array([depths.get(s, depth) < depth for s in system.source.tolist()], bool)
    return replace(
        system,
        source=system.source[kept],
        action=system.action[kept],
        target=system.target[kept],
        complete=False,
        explored_depth=depth,
    )
