"""The causal traces of a system: its minimal bad action traces (Koelbl, Definition 30).

Words are read from their ends.  For a word w, let R(w) be the states from which some subtrace of
w leads to the bad state, and M(w) those for which w itself is needed: s is in M(w) if w leads
from s to the bad state, and no true subtrace of w does.  A causal trace is a word w with an
initial state in M(w), and none in R(w) - M(w).  With D(w) = R(w) - M(w), and pre(a, X) for the
states with a transition `a` into X,

    R(a w) = R(w) + pre(a, R(w)),        D(a w) = R(w) + pre(a, D(w)):

a subtrace of `a w` is one of w, or `a` and one of w; a true one is w itself, a true subtrace of w,
or `a` and a true subtrace of w.  So the pair (R, M) says all that matters of a word, and words with
equal pairs are one node of a graph; causal traces that are the interleavings of few events share
almost everything (of 67,200 traces that are two partial orders nothing like 67,200 is kept).

No suffix of a causal trace has an empty M: the state that it starts from in a minimal bad run is
in it (this is the prune rule PR2; PR1 is that words with an initial state in R are not made
longer).  By length, all causal traces up to a length are there when it is done: with a limit on
the length, the answer is complete and sound up to that.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from whence.causes.prepared import BAD, Prepared
from whence.explore.kernels import words as kernels

__all__ = ["CausalTraces", "Progress", "Stop", "causal_traces"]

Ints = npt.NDArray[np.int32]

#: What is said while it works: (length of words, nodes, causal traces found so far).
Progress = Callable[[int, int, int], None]


@dataclass(frozen=True, slots=True)
class Stop:
    """When to give up; None: never."""

    depth: int | None = None
    seconds: float | None = None
    megabytes: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class CausalTraces:
    """All causal traces, as the paths of a graph without cycles: from one of `starts` to node 0,
    `edges[n]` having (action, next node) pairs. From node 0 backwards, the graph is deterministic:
    different paths are different traces.

    `depth` None: these are all. Otherwise all that are no longer than `depth` are there, and no
    others, for `reason`.
    """

    actions: tuple[str, ...]
    edges: tuple[tuple[tuple[int, int], ...], ...]
    starts: tuple[int, ...]
    depth: int | None = None
    reason: str = ""

    def count(self) -> int:
        """How many traces there are."""
        counts = [1]
        for leaving in self.edges[1:]:
            counts.append(sum(counts[node] for _, node in leaving))
        return sum(counts[start] for start in self.starts)

    def words(self) -> Iterator[tuple[str, ...]]:
        """The traces, in an order that depends on the graph only."""
        stack: list[tuple[int, tuple[str, ...]]] = [(start, ()) for start in reversed(self.starts)]
        while stack:
            node, word = stack.pop()
            if node == 0:
                yield word
                continue
            for action, onward in reversed(self.edges[node]):
                stack.append((onward, (*word, self.actions[action])))


@dataclass(slots=True, eq=False)
class _Node:
    """A pair (R, M), R packed to bits."""

    number: int
    reached: npt.NDArray[np.uint8]
    minimal: Ints


class _Search:
    def __init__(self, prepared: Prepared) -> None:
        self.prepared = prepared
        graph = prepared.graph
        self.graph = graph
        self.states = graph.states
        source = graph.source
        by_target = np.argsort(graph.target, kind="stable")
        self.into_start = np.zeros(self.states + 1, np.int64)
        np.cumsum(np.bincount(graph.target, minlength=self.states), out=self.into_start[1:])
        self.into_source = source[by_target]
        self.into_action = graph.action[by_target]
        by_action = np.argsort(graph.action, kind="stable")
        self.action_start = np.zeros(len(prepared.actions) + 1, np.int64)
        np.cumsum(
            np.bincount(graph.action, minlength=len(prepared.actions)), out=self.action_start[1:]
        )
        self.action_source = source[by_action]
        self.action_target = graph.target[by_action]
        self.initial = np.asarray(prepared.initial, np.int64)
        self.minimal = np.zeros(self.states, bool)
        self.found = np.empty((1024, 2), np.int32)
        #: For each node, (action, node with one letter less) of each way to it.
        self.edges: list[list[tuple[int, int]]] = [[]]
        self.starts: list[int] = []

    def layers(self) -> Iterator[list[_Node]]:
        """The nodes of words of length 0, 1, 2 and so on that may still become causal traces."""
        reached = np.zeros(self.states, bool)
        reached[BAD] = True
        layer = [_Node(0, np.packbits(reached), np.array([BAD], np.int32))]
        while layer:
            yield layer
            known: dict[bytes, int] = {}
            longer: list[_Node] = []
            for node in layer:
                self._extend(node, known, longer)
                node.reached = node.reached[:0]
            layer = longer

    def _extend(self, node: _Node, known: dict[bytes, int], longer: list[_Node]) -> None:
        reached = np.unpackbits(node.reached, count=self.states).view(bool)
        pairs = self._candidates(node, reached)
        if not len(pairs):
            return
        order = np.lexsort((pairs[:, 1], pairs[:, 0]))
        letters, states = pairs[order, 0], pairs[order, 1]
        bounds = np.flatnonzero(np.diff(letters, prepend=-1, append=-1))
        for begin, end in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
            letter = int(letters[begin])
            after = reached.copy()
            kernels.add_sources(
                self.action_source,
                self.action_target,
                int(self.action_start[letter]),
                int(self.action_start[letter + 1]),
                reached,
                after,
            )
            minimal = np.ascontiguousarray(states[begin:end])
            packed = np.packbits(after)
            key = blake2b(packed.tobytes() + minimal.tobytes(), digest_size=20).digest()
            number = known.get(key, -1)
            if number >= 0:
                self.edges[number].append((letter, node.number))
                continue
            starts = after[self.initial]
            if starts.any():
                # Longer words are not minimal, whether this one is or not.
                if not np.isin(self.initial[starts], minimal).all():
                    continue
                self.starts.append(len(self.edges))
            else:
                longer.append(_Node(len(self.edges), packed, minimal))
            known[key] = len(self.edges)
            self.edges.append([(letter, node.number)])

    def _candidates(self, node: _Node, reached: npt.NDArray[np.bool_]) -> Ints:
        self.minimal[node.minimal] = True
        while True:
            count = kernels.extensions(
                node.minimal,
                reached,
                self.minimal,
                self.into_start,
                self.into_source,
                self.into_action,
                self.graph.start,
                self.graph.action,
                self.graph.target,
                self.found,
            )
            if count >= 0:
                break
            self.found = np.empty((-2 * count, 2), np.int32)
        self.minimal[node.minimal] = False
        found: Ints = self.found[:count]
        return found


def causal_traces(
    prepared: Prepared, stop: Stop | None = None, progress: Progress | None = None
) -> CausalTraces:
    """The causal traces of a prepared system, shortest first."""
    stop = stop or Stop()
    search = _Search(prepared)
    began = time.perf_counter()
    depth: int | None = None
    reason = ""
    length = 0
    try:
        for length, layer in enumerate(search.layers()):
            if progress is not None:
                progress(length, len(search.edges), len(search.starts))
            if stop.depth is not None and length >= stop.depth:
                depth, reason = length, f"only traces of up to {length} events were asked for"
                break
            if stop.seconds is not None and time.perf_counter() - began > stop.seconds:
                depth, reason = length, "the time budget ran out"
                break
            size = sum(len(node.reached) + 4 * len(node.minimal) for node in layer) / 2**20
            if stop.megabytes is not None and size > stop.megabytes:
                depth, reason = length, "the memory budget ran out"
                break
    except KeyboardInterrupt:
        depth, reason = length, "interrupted"
    return _pruned(prepared, search, depth, reason)


def _pruned(prepared: Prepared, search: _Search, depth: int | None, reason: str) -> CausalTraces:
    """Only the nodes that causal traces (of no more than `depth` events) go through."""
    lengths = [0] * len(search.edges)
    for number, leaving in enumerate(search.edges[1:], 1):
        lengths[number] = lengths[leaving[0][1]] + 1
    starts = [n for n in search.starts if depth is None or lengths[n] <= depth]
    used = {0, *starts}
    stack = list(starts)
    while stack:
        for _, onward in search.edges[stack.pop()]:
            if onward not in used:
                used.add(onward)
                stack.append(onward)
    place = {old: new for new, old in enumerate(sorted(used))}
    edges = tuple(
        tuple(sorted((action, place[onward]) for action, onward in search.edges[old]))
        for old in sorted(used)
    )
    return CausalTraces(
        prepared.actions, edges, tuple(place[start] for start in starts), depth, reason
    )
