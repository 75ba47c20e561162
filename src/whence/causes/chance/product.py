"""The chain and the monitor of a cause side by side: only pairs that are reached, and only as far
as the hazard and the cause may still come about."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whence.causes.chance.chain import Chain, Floats, Ints, Marks
from whence.causes.chance.monitor import Monitor
from whence.source import UnsupportedError

__all__ = ["product"]

_PAIRS = 20_000_000


def _rows(monitor: Monitor, letters: Sequence[str], first: int) -> Ints:
    """Where each letter leads from the monitor's states from `first` on; letter 0 stays."""
    rows = [
        [state, *(monitor.step(state, action) for action in letters)]
        for state in range(first, monitor.states)
    ]
    return np.array(rows, np.int64).reshape(-1, len(letters) + 1)


def product(
    chain: Chain, bad: Marks, initial: Ints, monitor: Monitor, letters: Sequence[str]
) -> tuple[Chain, Floats, Ints]:
    """The chain of pairs, to which nobody needs to listen any more; 1 for pairs in which a bad
    state is reached with the cause, else 0; and the pairs of the initial states, in their order.

    Pre: bad states are not left. `letters[k - 1]` is the action of letter k.
    """
    states = chain.states
    order = np.argsort(chain.source, kind="stable")
    ends = np.zeros(states + 1, np.int64)
    np.cumsum(np.bincount(chain.source, minlength=states), out=ends[1:])
    follow = np.zeros((0, len(letters) + 1), np.int64)
    numbers: dict[int, Ints] = {}  # for each monitor state: the pair of each state, or -1
    pair_state: list[Ints] = []
    pair_monitor: list[Ints] = []
    sources: list[Ints] = []
    targets: list[Ints] = []
    edges: list[Ints] = []
    count = 0

    def enter(which: Ints, at: Ints) -> tuple[Ints, Ints]:
        """The numbers of pairs; those that are new get one, and are also returned."""
        nonlocal count
        found = np.empty(len(which), np.int64)
        fresh: list[Ints] = []
        for mine in np.unique(at).tolist():
            table = numbers.setdefault(mine, np.full(states, -1, np.int64))
            here = at == mine
            unknown = np.unique(which[here])
            unknown = unknown[table[unknown] < 0]
            table[unknown] = np.arange(count, count + len(unknown))
            fresh.append(table[unknown])
            pair_state.append(unknown)
            pair_monitor.append(np.full(len(unknown), mine, np.int64))
            count += len(unknown)
            found[here] = table[which[here]]
        if count > _PAIRS:
            raise UnsupportedError(
                f"more than {_PAIRS} states of the system and of what is watched for together"
            )
        return found, np.concatenate(fresh) if fresh else np.zeros(0, np.int64)

    starts, waiting = enter(initial, np.zeros(len(initial), np.int64))
    while len(waiting):
        mine = np.concatenate(pair_state)[waiting]
        at = np.concatenate(pair_monitor)[waiting]
        pair_state, pair_monitor = [np.concatenate(pair_state)], [np.concatenate(pair_monitor)]
        if monitor.states > len(follow):
            follow = np.concatenate([follow, _rows(monitor, letters, len(follow))])
        dead = np.array([monitor.is_dead(state) for state in range(len(follow))])
        alive = ~dead[at]
        waiting, mine, at = waiting[alive], mine[alive], at[alive]
        many = ends[mine + 1] - ends[mine]
        source = np.repeat(waiting, many)
        offset = np.arange(len(source)) - np.repeat(np.cumsum(many) - many, many)
        edge = order[np.repeat(ends[mine], many) + offset]
        after = follow[np.repeat(at, many), chain.letter[edge]]
        target, waiting = enter(chain.target[edge], after)
        sources.append(source)
        targets.append(target)
        edges.append(edge)
    edge = np.concatenate(edges) if edges else np.zeros(0, np.int64)
    accepting = np.array([monitor.accepts(state) for state in range(monitor.states)])
    both = bad[np.concatenate(pair_state)] & accepting[np.concatenate(pair_monitor)]
    pairs = Chain(
        states=count,
        source=np.concatenate(sources) if sources else edge,
        target=np.concatenate(targets) if targets else edge,
        letter=np.zeros(len(edge), np.int64),
        weight=chain.weight[edge],
        instant=chain.instant[edge],
    )
    return pairs, both.astype(np.float64), starts
