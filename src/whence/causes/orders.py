"""Causal traces of the same events, and their order (Koelbl, chapter 6).

A cause stands for causal traces over the same multiset of actions.  Occurrences of an action are
told apart by number: in each trace the first comes before the second.  An event precedes another
in the cause if it does so in all traces (Theorems 9 and 10), which the graph of the traces tells
without listing them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from whence.causes.results import Event, Order
from whence.causes.traces import CausalTraces

__all__ = ["TraceClass", "reduced", "trace_classes"]

#: How often each action occurs in a word, in the order of `CausalTraces.actions`.
_Count = tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class TraceClass:
    """All causal traces over the same events.

    Node 0 is the end of all traces. `before[n]` has (event, node) pairs: with this event in front,
    what node n stands for becomes what the other node stands for; there is one for each event at
    the most. `starts` are whole traces. `suffix[n]` are the events that node n stands for, as bits.
    Nodes are sorted by how many these are.
    """

    events: tuple[Event, ...]
    before: tuple[tuple[tuple[int, int], ...], ...]
    starts: frozenset[int]
    suffix: tuple[int, ...]

    def count(self) -> int:
        """How many traces there are."""
        ways = [1] + [0] * (len(self.before) - 1)
        for node, longer in enumerate(self.before):
            for _, other in longer:
                ways[other] += ways[node]
        return sum(ways[start] for start in self.starts)

    def preceding(self) -> tuple[int, ...]:
        """For each event, as bits: those that it precedes in some trace."""
        found = [0] * len(self.events)
        for node, longer in enumerate(self.before):
            for event, _ in longer:
                found[event] |= self.suffix[node]
        return tuple(found)

    def order(self) -> tuple[int, ...]:
        """For each event, as bits: those that come later in all traces (Algorithm 6.1)."""
        preceding = self.preceding()
        size = len(self.events)
        return tuple(
            sum(1 << later for later in range(size) if not preceding[later] >> event & 1)
            & ~(1 << event)
            for event in range(size)
        )

    def admits_others(self, order: Sequence[int]) -> list[int] | None:
        """A sequence of all events that keeps to the order and is none of the traces, or None.

        Read from the end, an order admits each event of which all later ones are there already.
        The graph is deterministic in this direction, so that it has all sequences just if each
        node that is met has all admitted events.
        """
        everything = (1 << len(self.events)) - 1
        ways: list[tuple[int, int] | None] = [None] * len(self.before)
        met = [False] * len(self.before)
        met[0] = True
        for node, longer in enumerate(self.before):
            if not met[node] or self.suffix[node] == everything:
                continue
            there = dict(longer)
            for event in self.admitted(order, self.suffix[node]):
                other = there.get(event)
                if other is None:
                    tail = [event, *self._path(node, ways)]
                    return _completed(order, tail, len(self.events))
                if not met[other]:
                    met[other] = True
                    ways[other] = event, node
        return None

    @staticmethod
    def admitted(order: Sequence[int], suffix: int) -> list[int]:
        """The events that an order admits in front of a suffix."""
        return [
            event
            for event, later in enumerate(order)
            if not suffix >> event & 1 and later & ~suffix == 0
        ]

    @staticmethod
    def _path(node: int, ways: Sequence[tuple[int, int] | None]) -> list[int]:
        path = []
        while (way := ways[node]) is not None:
            event, node = way
            path.append(event)
        return path

    def within(self, order: Sequence[int]) -> TraceClass | None:
        """Those of the traces that keep to an order; None if there are none."""
        met = [False] * len(self.before)
        met[0] = True
        kept: list[list[tuple[int, int]]] = [[] for _ in self.before]
        for node, longer in enumerate(self.before):
            if met[node]:
                suffix = self.suffix[node]
                for event, other in longer:
                    if order[event] & ~suffix == 0:
                        kept[node].append((event, other))
                        met[other] = True
        alive = [False] * len(self.before)
        for node in range(len(self.before) - 1, -1, -1):
            if not met[node]:
                continue
            kept[node] = [(event, other) for event, other in kept[node] if alive[other]]
            alive[node] = node in self.starts or bool(kept[node])
        if not alive[0]:
            return None
        number = {old: new for new, old in enumerate(n for n in range(len(alive)) if alive[n])}
        return TraceClass(
            self.events,
            tuple(tuple((event, number[other]) for event, other in kept[old]) for old in number),
            frozenset(number[start] for start in self.starts if alive[start]),
            tuple(self.suffix[old] for old in number),
        )

    def traces(self) -> Iterator[tuple[int, ...]]:
        """The traces, as numbers of events, in a fixed order."""
        after: list[list[tuple[int, int]]] = [[] for _ in self.before]
        for node, longer in enumerate(self.before):
            for event, other in longer:
                after[other].append((event, node))
        stack: list[tuple[int, tuple[int, ...]]] = [(s, ()) for s in sorted(self.starts)[::-1]]
        while stack:
            node, word = stack.pop()
            if node == 0:
                yield word
                continue
            for event, onward in sorted(after[node], reverse=True):
                stack.append((onward, (*word, event)))

    def named(self, order: Sequence[int]) -> Order:
        """The direct dependencies of an order (Definition 31)."""
        return frozenset(
            (self.events[first], self.events[second]) for first, second in reduced(order)
        )


def _completed(order: Sequence[int], tail: list[int], size: int) -> list[int]:
    suffix = sum(1 << event for event in tail)
    while len(tail) < size:
        event = TraceClass.admitted(order, suffix)[-1]
        tail = [event, *tail]
        suffix |= 1 << event
    return tail


def reduced(order: Sequence[int]) -> list[tuple[int, int]]:
    """The pairs (earlier, later) of an order that do not follow from others."""
    pairs = []
    for first, later in enumerate(order):
        implied = 0
        for second in range(len(order)):
            if later >> second & 1:
                implied |= order[second]
        pairs += [(first, s) for s in range(len(order)) if (later & ~implied) >> s & 1]
    return pairs


def trace_classes(traces: CausalTraces) -> tuple[TraceClass, ...]:
    """The causal traces by their events: few and short ones first."""
    suffixes = _suffix_counts(traces)
    finals: dict[_Count, set[int]] = {}
    for start in traces.starts:
        for count in suffixes[start]:
            finals.setdefault(count, set()).add(start)
    names = traces.actions
    ordered = sorted(
        finals, key=lambda count: (sum(count), [(names[a], n) for a, n in enumerate(count) if n])
    )
    return tuple(_class_of(traces, suffixes, count, finals[count]) for count in ordered)


def _suffix_counts(traces: CausalTraces) -> list[frozenset[_Count]]:
    """For each node, how often each action occurs in the words from it to the end."""
    zero = (0,) * len(traces.actions)
    found: list[frozenset[_Count]] = [frozenset({zero})]
    for leaving in traces.edges[1:]:
        found.append(
            frozenset(
                _with(count, action, 1) for action, onward in leaving for count in found[onward]
            )
        )
    return found


def _with(count: _Count, action: int, more: int) -> _Count:
    return (*count[:action], count[action] + more, *count[action + 1 :])


def _class_of(
    traces: CausalTraces,
    suffixes: Sequence[frozenset[_Count]],
    total: _Count,
    starts: set[int],
) -> TraceClass:
    events = tuple(
        Event(traces.actions[action], occurrence)
        for action, number in sorted(enumerate(total), key=lambda item: traces.actions[item[0]])
        for occurrence in range(1, number + 1)
    )
    number_of: Mapping[Event, int] = {event: n for n, event in enumerate(events)}
    todo = [(start, total) for start in sorted(starts)]
    known = set(todo)
    edges: list[tuple[tuple[int, _Count], int, tuple[int, _Count]]] = []
    while todo:
        node, count = todo.pop()
        for action, onward in traces.edges[node]:
            rest = _with(count, action, -1)
            if rest not in suffixes[onward]:
                continue
            occurrence = total[action] - count[action] + 1
            event = number_of[Event(traces.actions[action], occurrence)]
            edges.append(((node, count), event, (onward, rest)))
            if (onward, rest) not in known:
                known.add((onward, rest))
                todo.append((onward, rest))
    ordered = sorted(known, key=lambda item: (sum(item[1]), item))
    place = {item: n for n, item in enumerate(ordered)}
    before: list[list[tuple[int, int]]] = [[] for _ in ordered]
    for longer, event, shorter in edges:
        before[place[shorter]].append((event, place[longer]))
    return TraceClass(
        events,
        tuple(tuple(sorted(longer)) for longer in before),
        frozenset(place[start, total] for start in starts),
        tuple(_bits(events, number_of, count, total, traces.actions) for _, count in ordered),
    )


def _bits(
    events: Sequence[Event],
    number_of: Mapping[Event, int],
    count: _Count,
    total: _Count,
    names: Sequence[str],
) -> int:
    """The last `count` occurrences of each action."""
    return sum(
        1 << number_of[Event(names[action], occurrence)]
        for action, number in enumerate(count)
        for occurrence in range(total[action] - number + 1, total[action] + 1)
    )
