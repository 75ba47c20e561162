"""The chain and the monitor of a cause side by side: only pairs that are reached, and only as far
as the hazard and the cause may still come about."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from whence.causes.chance.chain import Chain, Floats, Ints, Marks
from whence.causes.chance.monitor import Monitor
from whence.source import UnsupportedError

__all__ = ["product"]

_PAIRS = 20_000_000
_CELLS = 500_000_000


class _Numbering:
    """Numbers for pairs of a state of the chain and one of the monitor, as they come up."""

    def __init__(self, states: int) -> None:
        self.states = states
        self.count = 0
        self.pieces: list[tuple[Ints, Ints]] = [(np.zeros(0, np.int64), np.zeros(0, np.int64))]
        self._tables: dict[int, npt.NDArray[np.int32]] = {}

    def enter(self, which: Ints, at: Ints) -> Ints:
        """The numbers of pairs; those that are new get the next ones."""
        found = np.empty(len(which), np.int64)
        if not len(which):
            return found
        order = np.argsort(at, kind="stable")
        different, starts = np.unique(at[order], return_index=True)
        for mine, here in zip(different.tolist(), np.split(order, starts[1:]), strict=True):
            if mine not in self._tables:
                self._tables[mine] = np.full(self.states, -1, np.int32)
            table = self._tables[mine]
            fresh = np.unique(which[here])
            fresh = fresh[table[fresh] < 0]
            table[fresh] = np.arange(self.count, self.count + len(fresh))
            self.pieces.append((fresh, np.full(len(fresh), mine, np.int64)))
            self.count += len(fresh)
            found[here] = table[which[here]]
        if self.count > _PAIRS or len(self._tables) * self.states > _CELLS:
            raise UnsupportedError(
                f"the {self.states} states of the system, and what is watched for, make too many"
                f" pairs: more than {self.count}"
            )
        return found

    def since(self, piece: int) -> tuple[Ints, Ints]:
        """The pairs that are new since there were so many pieces."""
        states, monitors = zip(*self.pieces[piece:], strict=True)
        return np.concatenate(states), np.concatenate(monitors)


def product(
    chain: Chain, bad: Marks, initial: Ints, monitor: Monitor, letters: Sequence[str]
) -> tuple[Chain, Floats, Ints]:
    """The chain of pairs, to which nobody needs to listen any more; 1 for pairs in which a bad
    state is reached with the cause, else 0; and the pairs of the initial states, in their order.

    Pre: bad states are not left. `letters[k - 1]` is the action of letter k.
    """
    order = np.argsort(chain.source, kind="stable")
    ends = np.zeros(chain.states + 1, np.int64)
    np.cumsum(np.bincount(chain.source, minlength=chain.states), out=ends[1:])
    follow: dict[int, list[int]] = {}  # where each letter leads; letter 0 stays
    pairs = _Numbering(chain.states)
    starts = pairs.enter(initial, np.zeros(len(initial), np.int64))
    sources: list[Ints] = [np.zeros(0, np.int64)]
    targets, edges = list(sources), list(sources)
    first, piece = 0, 0
    while first < pairs.count:
        mine, at = pairs.since(piece)
        numbers = np.arange(first, pairs.count)
        different, which = np.unique(at, return_inverse=True)
        for state in different.tolist():
            if state not in follow:
                follow[state] = [state, *(monitor.step(state, action) for action in letters)]
        table = np.array([follow[state] for state in different.tolist()], np.int64)
        dead = np.array([monitor.is_dead(state) for state in different.tolist()])
        alive = ~dead[which]
        numbers, mine, which = numbers[alive], mine[alive], which[alive]
        many = ends[mine + 1] - ends[mine]
        source = np.repeat(numbers, many)
        offset = np.arange(len(source)) - np.repeat(np.cumsum(many) - many, many)
        edge = order[np.repeat(ends[mine], many) + offset]
        after = table[np.repeat(which, many), chain.letter[edge]]
        first, piece = pairs.count, len(pairs.pieces)
        targets.append(pairs.enter(chain.target[edge], after))
        sources.append(source)
        edges.append(edge)
    edge = np.concatenate(edges)
    of, watched = pairs.since(0)
    accepting = np.array([monitor.accepts(state) for state in range(monitor.states)])
    together = Chain(
        states=pairs.count,
        source=np.concatenate(sources),
        target=np.concatenate(targets),
        letter=np.zeros(len(edge), np.int64),
        weight=chain.weight[edge],
        instant=chain.instant[edge],
    )
    return together, (bad[of] & accepting[watched]).astype(np.float64), starts
