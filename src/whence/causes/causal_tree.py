"""From the order of a cause to a tree of gates (Koelbl, section 6.2: Algorithm 6.2).

A causal tree (Definition 33) says which events a cause has and which of them come after which: an
ordered-and gate is satisfied when its inputs come about from left to right, an and gate when all
of them do. It is a DAG: an event that several others wait for is one node.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from whence.causes.results import Event
from whence.model.partial_order import direct, predecessors
from whence.source import InputError

__all__ = ["CausalNode", "CausalTree", "causal_tree", "order_of"]


@dataclass(frozen=True, slots=True)
class CausalNode:
    """An event, or a gate over other nodes of the tree, by their numbers, from left to right."""

    kind: Literal["event", "and", "ordered-and"]
    event: Event | None = None
    inputs: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class CausalTree:
    """Inputs stand before the gates that they are inputs of; the last node is the root."""

    nodes: tuple[CausalNode, ...]

    @property
    def root(self) -> int:
        return len(self.nodes) - 1


def causal_tree(events: Sequence[Event], order: Iterable[tuple[Event, Event]]) -> CausalTree:
    """Algorithm 6.2. `order` is a strict partial order, by all of its pairs or by some that
    imply the others. Inputs of and gates stand in the order of `events`, so that the same cause
    always has the same tree."""
    if not events:
        raise InputError("a cause without events has no causal tree")
    if len(set(events)) != len(events):
        raise InputError("a cause has the same event twice")
    before = predecessors(events, order)
    # Its direct dependencies (Definition 31) are the edges of the DDAG (Definition 32).
    preconditions: dict[Event, list[Event]] = {event: [] for event in events}
    rank = {event: number for number, event in enumerate(events)}
    for earlier, later in sorted(direct(before), key=lambda pair: rank[pair[0]]):
        preconditions[later].append(earlier)
    builder = _Builder()
    trees: dict[Event, int] = {}
    # Preconditions first, where the thesis recurs (`createTree`).
    for event in sorted(events, key=lambda event: (len(before[event]), rank[event])):
        trees[event] = builder.tree(event, [trees[one] for one in preconditions[event]])
    used = {one for several in preconditions.values() for one in several}
    return builder.finished(
        builder.conjunction([trees[event] for event in events if event not in used])
    )


class _Builder:
    """Collects nodes. Each is made when everything it needs is there."""

    def __init__(self) -> None:
        self.nodes: list[CausalNode] = []
        self.conjunctions: dict[tuple[int, ...], int] = {}

    def add(self, node: CausalNode) -> int:
        self.nodes.append(node)
        return len(self.nodes) - 1

    def conjunction(self, trees: Sequence[int]) -> int:
        if len(trees) == 1:
            return trees[0]
        inputs = tuple(trees)
        if inputs not in self.conjunctions:
            self.conjunctions[inputs] = self.add(CausalNode("and", inputs=inputs))
        return self.conjunctions[inputs]

    def tree(self, event: Event, preconditions: Sequence[int]) -> int:
        """Lines 17 to 25. An ordered-and below an ordered-and becomes one with it."""
        leaf = self.add(CausalNode("event", event))
        if not preconditions:
            return leaf
        first = self.conjunction(preconditions)
        node = self.nodes[first]
        earlier = node.inputs if node.kind == "ordered-and" else (first,)
        return self.add(CausalNode("ordered-and", inputs=(*earlier, leaf)))

    def finished(self, root: int) -> CausalTree:
        """The tree below a node. Gates that became one with others are left out."""
        reached = {root}
        for number in range(root, -1, -1):
            if number in reached:
                reached.update(self.nodes[number].inputs)
        numbers = {old: new for new, old in enumerate(sorted(reached))}
        return CausalTree(
            tuple(
                CausalNode(
                    self.nodes[old].kind,
                    self.nodes[old].event,
                    tuple(numbers[one] for one in self.nodes[old].inputs),
                )
                for old in sorted(reached)
            )
        )


def order_of(tree: CausalTree) -> frozenset[tuple[Event, Event]]:
    """The order that a tree describes (Definition 33): whatever is below an input of an
    ordered-and gate comes before what is below the inputs to its right."""
    below: list[frozenset[Event]] = []
    pairs: set[tuple[Event, Event]] = set()
    for node in tree.nodes:
        if node.event is not None:
            below.append(frozenset((node.event,)))
            continue
        below.append(frozenset().union(*(below[one] for one in node.inputs)))
        if node.kind == "ordered-and":
            earlier: frozenset[Event] = frozenset()
            for one in node.inputs:
                pairs.update((first, then) for first in earlier for then in below[one])
                earlier |= below[one]
    return frozenset(pairs)
