"""Explores a transition system the way causality checking wants it (Koelbl, section 5.3).

The search visits each state once, breadth first or depth first, and does not stop at the first
violation.  What it hands over are *executions*: paths from an initial state that end

- in a bad state (a counterexample; nothing is explored beyond it),
- in a state that was visited before (a duplicate execution), or
- in a state that nothing leads out of.

All its steps but the last are those by which the search first reached their states.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from whence.model.transitions import TransitionSystem

__all__ = ["Execution", "Exploration", "ExplorationOrder", "Trace", "bad_states", "is_subtrace"]

#: An action trace: the names of its actions.
Trace = tuple[str, ...]

ExplorationOrder = Literal["bfs", "dfs"]
_End = Literal["bad", "duplicate", "terminal"]


def bad_states(system: TransitionSystem, bad: str = "bad") -> npt.NDArray[np.bool_]:
    """The marks of the bad states; a system that knows no such proposition has none."""
    marks = system.propositions.get(bad)
    return np.zeros(system.states, bool) if marks is None else marks


def is_subtrace(short: str | Trace, long: str | Trace) -> bool:
    """Whether `short` is a (non-contiguous) subtrace of `long` (section 3.2), or equal to it."""
    rest = iter(long)
    return all(action in rest for action in short)


@dataclass(frozen=True, slots=True)
class Execution:
    """`last` is the number of its last transition. `depth` is how many transitions it has, which
    for a breadth-first search never decreases from one execution to the next."""

    last: int
    end: _End
    depth: int


class Exploration:
    """One exploration: :meth:`executions` runs it, once.

    With `depth`, states that the search reaches with so many transitions are not expanded;
    `cut` then tells whether there was such a state that had transitions.
    """

    def __init__(
        self,
        system: TransitionSystem,
        order: ExplorationOrder = "bfs",
        depth: int | None = None,
        bad: str = "bad",
    ) -> None:
        self.order = order
        self.depth_limit = depth
        self.source: list[int] = system.source.tolist()
        self.action: list[int] = system.action.tolist()
        self.target: list[int] = system.target.tolist()
        self.initial = frozenset(system.initial)
        self.bad: list[bool] = bad_states(system, bad).tolist()
        by_source = np.argsort(system.source, kind="stable")
        counts = np.bincount(system.source, minlength=system.states)
        self._transitions: list[int] = by_source.tolist()
        self._first: list[int] = np.concatenate(([0], np.cumsum(counts))).tolist()
        #: By which transition each state was reached first; -1 for one that was not, or that is
        #: where the search began.
        self.reached_by = [-1] * system.states
        self.cut = False

    def leaving(self, state: int) -> list[int]:
        """The transitions out of a state."""
        return self._transitions[self._first[state] : self._first[state + 1]]

    def path(self, execution: Execution) -> list[int]:
        """The transitions of an execution."""
        result = [execution.last]
        while (before := self.reached_by[self.source[result[-1]]]) >= 0:
            result.append(before)
        result.reverse()
        return result

    def states(self, path: list[int]) -> list[int]:
        return [self.source[path[0]], *(self.target[transition] for transition in path)]

    def executions(self) -> Iterator[Execution]:
        """All executions, in the order in which the search comes upon them."""
        if self.order == "bfs":
            return self._breadth_first()
        return self._depth_first()

    def _ended(self, transition: int, visited: bytearray) -> _End | None:
        state = self.target[transition]
        if self.bad[state]:
            return "bad"
        if visited[state]:
            return "duplicate"
        visited[state] = 1
        self.reached_by[state] = transition
        return None if self._first[state] < self._first[state + 1] else "terminal"

    def _breadth_first(self) -> Iterator[Execution]:
        visited = bytearray(len(self.bad))
        queue: deque[tuple[int, int]] = deque()
        for state in sorted(self.initial):
            visited[state] = 1
            if not self.bad[state]:
                queue.append((state, 0))
        while queue:
            state, depth = queue.popleft()
            leaving = self.leaving(state)
            if depth == self.depth_limit:
                self.cut = self.cut or bool(leaving)
                continue
            for transition in leaving:
                end = self._ended(transition, visited)
                if end is not None:
                    yield Execution(transition, end, depth + 1)
                else:
                    queue.append((self.target[transition], depth + 1))

    def _depth_first(self) -> Iterator[Execution]:
        visited = bytearray(len(self.bad))
        for start in self.initial:
            visited[start] = 1
        for start in sorted(self.initial):
            if self.bad[start]:
                continue
            stack = [iter(self.leaving(start))]
            while stack:
                transition = next(stack[-1], None)
                if transition is None:
                    stack.pop()
                    continue
                end = self._ended(transition, visited)
                if end is not None:
                    yield Execution(transition, end, len(stack))
                elif len(stack) == self.depth_limit:
                    self.cut = True
                else:
                    stack.append(iter(self.leaving(self.target[transition])))
