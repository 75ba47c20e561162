"""What must not happen for a cause to lead to the hazard (Koelbl, Definitions 28 and 29).

A weak cause orders events that lead to the hazard; between them other events can still avert it.
A good trace that contains a causal trace and some more events shows which: none of these may
happen between certain events of the cause.  The thesis lists the good traces one by one (Listing
5.3).  Here they are looked at together, along the graph of a cause's traces: for the node that a
suffix of the trace is, `F` are the states in which all before it can end, and `G` those from which
it can be gone through, in both cases without a bad state.  An action leading from F into G averts
the hazard there.

An absence is as wide as it has to be, over all traces of the cause, and no wider: it leaves out
where the action can happen and the hazard comes about all the same.  Where its two events come in
either order, the cause is split, as an absence between them says which comes first (formulas 4.2
and 4.3).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from whence.causes.orders import TraceClass
from whence.causes.results import Absent
from whence.causes.splitting import with_pair
from whence.explore.kernels.words import add_sources
from whence.explore.quotient import Graph
from whence.model.transitions import TransitionSystem

__all__ = ["Averted", "Refined", "Runs"]

Ints = npt.NDArray[np.int32]
Marks = npt.NDArray[np.bool_]

#: The number of an event, or what is before, or after, all of them.
_End = int | None

#: So many causes may come of one, and so many witnesses be looked at.
_MOST_PARTS = 1000


@dataclass(frozen=True, slots=True)
class Refined:
    """Traces of a weak cause that keep to `order`, and the absences with which each run that has
    these events in this order leads to the hazard (with the number of extra events asked for).
    `complete` is false where there were too many ways to avert it."""

    traces: TraceClass
    order: tuple[int, ...]
    absent: tuple[tuple[str, _End, _End], ...]
    complete: bool = True

    def absences(self) -> tuple[Absent, ...]:
        events = self.traces.events
        return tuple(
            Absent(
                action,
                None if after is None else events[after],
                None if before is None else events[before],
            )
            for action, after, before in self.absent
        )


@dataclass(frozen=True, slots=True)
class Averted:
    """A good trace: an action between the events of a causal trace (Definition 29)."""

    trace: tuple[str, ...]
    extra: tuple[int, ...]


class Runs:
    """The runs of a system up to its bad states."""

    def __init__(self, system: TransitionSystem, bad: Marks) -> None:
        self.system = system
        self.bad = bad
        kept = ~bad[system.source]
        self.graph = Graph.of(
            system.states, system.source[kept], system.action[kept], system.target[kept]
        )
        by_action = np.argsort(self.graph.action, kind="stable")
        self.action_source = self.graph.source[by_action]
        self.action_target = self.graph.target[by_action]
        self.action_start = np.zeros(len(system.actions) + 1, np.int64)
        np.cumsum(
            np.bincount(self.graph.action, minlength=len(system.actions)),
            out=self.action_start[1:],
        )
        self.names = tuple(action.name for action in system.actions)
        self.number = {name: n for n, name in enumerate(self.names)}
        self.initial = np.array([s for s in system.initial if not bad[s]], np.int64)

    def after(self, states: Ints, action: int) -> Ints:
        """Where an action leads from some states; bad states are left out."""
        found: list[int] = []
        graph = self.graph
        for state in states.tolist():
            begin, end = int(graph.start[state]), int(graph.start[state + 1])
            for edge in range(begin, end):
                if graph.action[edge] == action and not self.bad[graph.target[edge]]:
                    found.append(int(graph.target[edge]))
        return np.unique(np.array(found, np.int32))

    def actions_from(self, states: Ints) -> set[int]:
        graph = self.graph
        return {
            int(action)
            for state in states.tolist()
            for action in graph.action[graph.start[state] : graph.start[state + 1]].tolist()
        }

    def before(self, marks: Marks, action: int) -> Marks:
        """From where an action leads to marked states."""
        result = np.zeros(len(marks), bool)
        begin, end = int(self.action_start[action]), int(self.action_start[action + 1])
        add_sources(self.action_source, self.action_target, begin, end, marks, result)
        return result

    # ------------------------------------------------------------------------- along the traces

    def ahead(self, traces: TraceClass) -> list[Ints]:
        """F: for each node, the states in which what comes before it can end."""
        found = [np.empty(0, np.int32) for _ in traces.before]
        for node in range(len(found) - 1, -1, -1):
            parts = [
                self.after(found[longer], self.number[traces.events[event].action])
                for event, longer in traces.before[node]
            ]
            if node in traces.starts:
                parts.append(self.initial.astype(np.int32))
            if parts:
                found[node] = np.unique(np.concatenate(parts))
        return found

    def behind(self, traces: TraceClass, *, bad: bool) -> list[Marks]:
        """G: for each node, from where it can be gone through to an end that is not bad; `bad`:
        to one that is, for the first time."""
        found = [np.zeros(self.system.states, bool) for _ in traces.before]
        found[0] = self.bad.copy() if bad else ~self.bad
        for node, longer in enumerate(traces.before):
            for event, other in longer:
                action = self.number[traces.events[event].action]
                found[other] |= self.before(found[node], action)
        for node in range(1, len(found)):
            found[node] &= ~self.bad
        return found

    def decides(self, traces: TraceClass) -> bool:
        """Whether the events alone decide: no run along one of the traces avoids the hazard."""
        return not len(self.ahead(traces)[0])

    def averted(self, traces: TraceClass) -> Iterator[Averted]:
        """All good traces with one extra event."""
        for trace in traces.traces():
            word = [self.number[traces.events[event].action] for event in trace]
            states = self.initial.astype(np.int32)
            for place in range(len(word)):
                for action in sorted(self.actions_from(states)):
                    onward = self.after(states, action)
                    for rest in word[place:]:
                        onward = self.after(onward, rest)
                    if len(onward):
                        whole = (*word[:place], action, *word[place:])
                        yield Averted(tuple(self.names[a] for a in whole), (place,))
                states = self.after(states, word[place])

    # -------------------------------------------------------------------------------- refining

    def refined(self, traces: TraceClass, extras: int = 1) -> tuple[Refined, ...]:
        """A weak cause as causes with non-occurrence: no run with up to `extras` more events, and
        the events of the cause in its order, avoids the hazard. Pre: the events alone decide."""
        done: list[Refined] = []
        todo = [Refined(traces, traces.order(), ())]
        while todo:
            if len(done) + len(todo) > _MOST_PARTS:
                done += [Refined(p.traces, p.order, p.absent, complete=False) for p in todo]
                break
            parts = self._step(todo.pop(), extras)
            if len(parts) == 1 and parts[0] is not None:
                done.append(parts[0])
            else:
                todo += [part for part in parts if part is not None]
        done.sort(key=lambda part: (part.order, part.absent and part.absent[0][0]))
        return tuple(done)

    def _step(self, part: Refined, extras: int) -> list[Refined | None]:
        """The part itself if nothing averts its hazard, or two or more parts (or one and None) in
        its place that are nearer to that."""
        for action, harmful, benign in self._by_action(part.traces):
            name = self.names[action]
            open_ = [n for n in harmful if not _forbidden(part, name, part.traces.suffix[n])]
            if open_:
                after, before = _interval(part, open_, benign)
                return self._with(part, name, after, before)
        if extras > 1:
            witness = self._witness(part, extras)
            if witness is not None:
                # Each of the extra events is needed to avert the hazard: without one of them, it
                # is not averted.
                parts: list[Refined | None] = []
                for name, after, before in witness:
                    parts += self._with(part, name, after, before)
                return [*parts, None]
        return [part]

    def _with(self, part: Refined, name: str, after: _End, before: _End) -> list[Refined | None]:
        order = part.order
        absent = tuple(sorted((*part.absent, (name, after, before)), key=_key))
        if after is None or before is None or order[after] >> before & 1:
            return [Refined(part.traces, order, absent), None]
        found: list[Refined | None] = [None]
        for first, second, what in ((after, before, absent), (before, after, part.absent)):
            inside = part.traces.within(with_pair(order, first, second))
            if inside is not None:
                found.append(Refined(inside, inside.order(), what))
        return found

    def _by_action(self, traces: TraceClass) -> Iterator[tuple[int, list[int], list[int]]]:
        """(action, nodes before which it averts the hazard, nodes before which it may not)."""
        ahead = self.ahead(traces)
        good = self.behind(traces, bad=False)
        bad = self.behind(traces, bad=True)
        harmful: dict[int, list[int]] = {}
        benign: dict[int, list[int]] = {}
        for node in range(1, len(ahead)):
            for action in self.actions_from(ahead[node]):
                onward = self.after(ahead[node], action)
                if good[node][onward].any():
                    harmful.setdefault(action, []).append(node)
                if bad[node][onward].any():
                    benign.setdefault(action, []).append(node)
        for action in sorted(harmful, key=lambda a: self.names[a]):
            yield action, harmful[action], benign.get(action, [])

    def _witness(self, part: Refined, extras: int) -> list[tuple[str, _End, _End]] | None:
        """The extra events of a good trace with the fewest of them that the absences allow, each
        between its neighbours among the events of the cause."""
        traces = part.traces
        size = len(traces.before)
        #: For each number of extra events, node and state: how it was reached.
        layers: list[list[dict[int, tuple[int, int, int] | None]]] = []
        for used in range(extras + 1):
            layer: list[dict[int, tuple[int, int, int] | None]] = [{} for _ in range(size)]
            layers.append(layer)
            for node in range(size - 1, -1, -1):
                here = layer[node]
                if used == 0 and node in traces.starts:
                    here.update(dict.fromkeys(self.initial.tolist()))
                for event, longer in traces.before[node]:
                    action = self.number[traces.events[event].action]
                    for state in layer[longer]:
                        for onward in self.after(np.array([state], np.int32), action).tolist():
                            here.setdefault(onward, (longer, state, event))
                if used and node:
                    for state in layers[used - 1][node]:
                        for action in sorted(self.actions_from(np.array([state], np.int32))):
                            if _forbidden(part, self.names[action], traces.suffix[node]):
                                continue
                            one = np.array([state], np.int32)
                            for onward in self.after(one, action).tolist():
                                here.setdefault(onward, (node, state, -1 - action))
            if layer[0]:
                return self._extras(part, layers, used)
        return None

    def _extras(
        self,
        part: Refined,
        layers: Sequence[Sequence[dict[int, tuple[int, int, int] | None]]],
        used: int,
    ) -> list[tuple[str, _End, _End]]:
        node, state = 0, min(layers[used][0])
        steps: list[int] = []
        while (way := layers[used][node][state]) is not None:
            node, state, what = way
            steps.append(what)
            used -= what < 0
        steps.reverse()
        found = []
        for place, what in enumerate(steps):
            if what < 0:
                after = next((s for s in reversed(steps[:place]) if s >= 0), None)
                before = next((s for s in steps[place:] if s >= 0), None)
                found.append((self.names[-1 - what], after, before))
        return found


def _key(absence: tuple[str, _End, _End]) -> tuple[str, int, int]:
    name, after, before = absence
    return name, -1 if after is None else after, 10**9 if before is None else before


def _forbidden(part: Refined, name: str, suffix: int) -> bool:
    """Whether an absence forbids an action before a suffix of events."""
    return any(
        action == name
        and (after is None or not suffix >> after & 1)
        and (before is None or suffix >> before & 1)
        for action, after, before in part.absent
    )


def _interval(part: Refined, harmful: Sequence[int], benign: Sequence[int]) -> tuple[_End, _End]:
    """Between which two events an action must not happen: of the intervals that contain the first
    place where it does harm, the one that takes in least where it does none, then most where it
    does, then as little else as possible."""
    suffix = part.traces.suffix
    size = len(part.traces.events)
    harmless = set(benign) - set(harmful)
    place = suffix[harmful[-1]]
    happened: list[_End] = [*(n for n in range(size) if not place >> n & 1), None]
    coming: list[_End] = [*(n for n in range(size) if place >> n & 1), None]

    def inside(node: int, after: _End, before: _End) -> bool:
        return (after is None or not suffix[node] >> after & 1) and (
            before is None or bool(suffix[node] >> before & 1)
        )

    def rank(after: _End, before: _End) -> tuple[int, int, int, int]:
        return (
            sum(inside(node, after, before) for node in harmless),
            -sum(inside(node, after, before) for node in harmful),
            sum(inside(node, after, before) for node in range(len(suffix))),
            (after is None) + (before is None),
        )

    return min(
        ((after, before) for after in happened for before in coming), key=lambda pair: rank(*pair)
    )
