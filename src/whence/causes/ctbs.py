"""Causal Trace Backward Search (Koelbl, section 5.3.2 and Listing 5.2).

The search reads the executions that an exploration of the transition system comes upon, and keeps
the *Backwards Causal Trace tree*: its edges are labelled with actions, and a vertex stands for the
sequence of actions on the way from it to the root.  A vertex is labelled with states that reach a
bad state by this sequence.  The sequences of the vertices that an initial state stands at are, in
the end, the causal trace set of Definition 30: all minimal bad traces, by the order of subtraces.

Two rules keep the tree small:

- PR1: a vertex goes, with all beyond it, if its sequence contains a shorter causal trace.
- PR2: a state goes from a vertex if its sequence contains that of another vertex of the state.

The listing leaves out three things.  Its `return` after a causal trace must go on with the
state's other vertices.  A transition out of a bad state is not looked at: bad states are
absorbing.  And its recursion is a list of work here, as traces can be long.

Breadth first, the search can be stopped at any time: what it has found with up to as many actions
as the transitions that the exploration has completed is sound, and nothing of that is missing.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass

from whence.causes.exploration import (
    Execution,
    Exploration,
    ExplorationOrder,
    Trace,
    bad_states,
)
from whence.causes.silent import without_silent
from whence.model.transitions import TransitionSystem
from whence.source import UnsupportedError, UsageError

__all__ = ["CausalTraces", "causal_trace_backward_search"]

#: An action is a character of a sequence.
_MOST_ACTIONS = sys.maxunicode
#: After so many steps, the search looks at the clock.
_CHECK_EVERY = 256
#: How many bits tell which actions a sequence has.
_BITS = 512


@dataclass(frozen=True, slots=True)
class CausalTraces:
    """What a search for the causal trace set found.

    `complete`: `traces` are all minimal bad traces.  Otherwise, with a `depth`, they are all of at
    most so many actions, each minimal.  Without one, nothing is known but that they are bad, and
    that none contains another.
    """

    traces: frozenset[Trace]
    complete: bool
    depth: int | None = None


def causal_trace_backward_search(
    system: TransitionSystem,
    *,
    order: ExplorationOrder = "bfs",
    depth: int | None = None,
    seconds: float | None = None,
    bad: str = "bad",
) -> CausalTraces:
    """The causal trace set of a system whose bad states have the proposition `bad`.

    `depth` bounds the number of actions in a trace, for the breadth-first order only: depth first,
    nothing can be said of the traces until all is explored.  After `seconds` the search stops with
    what it has.  Silent actions are eliminated first.  If an initial state is bad, the empty trace
    is the only causal one.
    """
    if depth is not None and order != "bfs":
        raise UsageError("a depth bounds the breadth-first search only")
    if depth is not None and depth < 0:
        raise UsageError(f"the depth is {depth}; it counts actions")
    system = without_silent(system, bad)
    if len(system.actions) > _MOST_ACTIONS:
        raise UnsupportedError(f"the system has more than {_MOST_ACTIONS} actions, our limit")
    if bad_states(system, bad)[list(system.initial)].any():
        return CausalTraces(frozenset({()}), True)
    known = None if system.complete else system.explored_depth
    limits = [limit for limit in (depth, known) if limit is not None]
    limit = min(limits) if limits and order == "bfs" else None
    stop_at = None if seconds is None else time.monotonic() + seconds
    exploration = Exploration(system, order, limit, bad)
    tree = _Tree(exploration, limit, stop_at)
    finished, reached = True, 0
    for execution in exploration.executions():
        # All executions of fewer transitions have been handed over.
        reached = execution.depth - 1
        if not tree.add_execution(execution):
            finished = False
            break
    complete = finished and system.complete and not exploration.cut and not tree.cut
    within = limit if finished else reached
    if complete or order == "dfs" or (known is None and not system.complete):
        within = None
    return CausalTraces(tree.traces(system, within), complete, within)


class _Vertex:
    """`sequence` leads from here to the root, an action a character. `actions` are its actions as
    bits: a sequence can only contain another if it has all of its bits."""

    __slots__ = ("actions", "children", "removed", "sequence", "states")

    def __init__(self, sequence: str, actions: int) -> None:
        self.sequence = sequence
        self.actions = actions
        self.states: set[int] = set()
        #: The vertices from which an action leads here ("fathers" in the listing).
        self.children: dict[int, _Vertex] = {}
        self.removed = False

    def contains(self, other: _Vertex) -> bool:
        """Whether the sequence of the other is a true subtrace of this one's."""
        sequence = self.sequence
        if len(other.sequence) >= len(sequence) or other.actions & ~self.actions:
            return False
        # As `is_subtrace`; most of the time goes by here.
        at = 0
        for action in other.sequence:
            at = sequence.find(action, at) + 1
            if not at:
                return False
        return True


class _Tree:
    def __init__(self, exploration: Exploration, limit: int | None, stop_at: float | None) -> None:
        self.exploration = exploration
        self.limit = limit
        self.stop_at = stop_at
        self.root = _Vertex("", 0)
        #: Which vertices a state stands at (`v_map`; a dictionary, for its order), and which
        #: transitions into a state were handed over (`t_map`).
        self.vertices: dict[int, dict[_Vertex, None]] = {}
        self.transitions: dict[int, list[int]] = {}
        #: Whether a transition was handed over already.
        self.handed_over = bytearray(len(exploration.source))
        #: The vertices with an initial state; from some, it may have gone since.
        self.causal: list[_Vertex] = []
        #: Whether some sequence was left out because it is too long.
        self.cut = False
        self.rounds = 0

    def traces(self, system: TransitionSystem, longest: int | None) -> frozenset[Trace]:
        return frozenset(
            tuple(system.actions[ord(action)].name for action in vertex.sequence)
            for vertex in self.causal
            if self._stands(vertex) and (longest is None or len(vertex.sequence) <= longest)
        )

    def add_execution(self, execution: Execution) -> bool:
        """False if the time is over before all is added."""
        exploration = self.exploration
        if execution.end == "bad":
            state = exploration.target[execution.last]
            if state not in self.root.states:
                self._add(self.root, state)
        # What was handed over before was so with all that leads there.
        new = [execution.last]
        while True:
            before = exploration.reached_by[exploration.source[new[-1]]]
            if before < 0 or self.handed_over[before]:
                break
            new.append(before)
        for transition in reversed(new):
            self.handed_over[transition] = 1
            target = exploration.target[transition]
            self.transitions.setdefault(target, []).append(transition)
            work = [(transition, vertex) for vertex in self.vertices.get(target, ())]
            if not self._add_transitions(work):
                return False
        return True

    def _add_transitions(self, work: list[tuple[int, _Vertex]]) -> bool:
        """Listing 5.2's `addTransition`, for pairs of a transition and a vertex of its target."""
        exploration = self.exploration
        work.reverse()
        while work:
            self.rounds += 1
            if self.stop_at is not None and not self.rounds % _CHECK_EVERY and self._late():
                return False
            transition, after = work.pop()
            if after.removed or exploration.target[transition] not in after.states:
                continue  # pruned in the meantime
            state = exploration.source[transition]
            vertex = self._father(after, exploration.action[transition])
            if vertex is None or state in vertex.states:
                continue
            others = self.vertices.get(state, {})
            if any(vertex.contains(other) for other in others):
                continue  # PR2
            self._add(vertex, state)
            for other in [other for other in others if other.contains(vertex)]:  # PR2
                self._remove(other, state)
            if state in exploration.initial:
                self.causal = [*filter(self._stands, self.causal), vertex]
                self._prune(vertex)
                continue
            leading = self.transitions.get(state, ())
            work.extend((before, vertex) for before in reversed(leading))
        return True

    def _late(self) -> bool:
        assert self.stop_at is not None
        return time.monotonic() > self.stop_at

    def _father(self, after: _Vertex, action: int) -> _Vertex | None:
        """The vertex from which the action leads to `after`; None if PR1 forbids it."""
        vertex = after.children.get(action)
        if vertex is None:
            if self.limit is not None and len(after.sequence) >= self.limit:
                self.cut = True
                return None
            vertex = _Vertex(chr(action) + after.sequence, after.actions | 1 << action % _BITS)
            if self._contains_causal(vertex):
                return None
            after.children[action] = vertex
        return None if vertex.removed else vertex

    def _contains_causal(self, vertex: _Vertex) -> bool:
        """PR1 for a new vertex; :meth:`_prune` takes care of old ones."""
        return any(vertex.contains(other) for other in self.causal if self._stands(other))

    def _stands(self, causal: _Vertex) -> bool:
        return not causal.states.isdisjoint(self.exploration.initial)

    def _add(self, vertex: _Vertex, state: int) -> None:
        vertex.states.add(state)
        self.vertices.setdefault(state, {})[vertex] = None

    def _remove(self, vertex: _Vertex, state: int) -> None:
        vertex.states.discard(state)
        del self.vertices[state][vertex]

    def _prune(self, causal: _Vertex) -> None:
        """PR1 for all vertices: those whose sequence contains the new causal trace go."""
        trace = causal.sequence
        # With each vertex, how much of the trace its sequence does not contain; only the causal
        # vertex itself may have none left.
        pending = [(self.root, len(trace))]
        while pending:
            vertex, left = pending.pop()
            for action, child in vertex.children.items():
                if child.removed:
                    continue
                missing = left - (left > 0 and action == ord(trace[left - 1]))
                if missing or child is causal:
                    pending.append((child, missing))
                else:
                    self._cut_off(child)

    def _cut_off(self, vertex: _Vertex) -> None:
        """Removes a vertex and those beyond it. It stays in its parent's `children`, so that it is
        not made again."""
        pending = [vertex]
        while pending:
            vertex = pending.pop()
            vertex.removed = True
            for state in list(vertex.states):
                self._remove(vertex, state)
            pending.extend(vertex.children.values())
            vertex.children.clear()
