"""Watching whether a run has a cause: a deterministic automaton over actions.

A run has a cause (`whence.causes.results.Cause`) if its events can be matched with different
transitions of the run, each with one of its action, so that

- what the order puts earlier is matched earlier; the occurrences of one action (`a`, `a#2`, …)
  count as ordered, as that is what the numbers mean;
- for each non-occurrence event (Definition 29, `a ∧ ¬x ∧ b`), `a` is matched before `b`, and no
  transition between the two has the action x, unless it is itself matched. Without `a` that holds
  from the start, and without `b` up to the hazard.

It is one matching for all of these: the thesis speaks of the neighbours of x in *the* cause, where
Definition 10, taken literally, would let every conjunct choose its own.

While the run goes on, the events that were matched are a set that has with each event all earlier
ones: an ideal of the order. Reading an action, a matching may take it for the first event of this
action that it has not matched, if all earlier ones are, or may leave it. The automaton follows all
matchings at once (subset construction), but forgets those that another one dominates.

*Ideal J dominates I, if I ⊆ J and each watch (a, x, b) that is open in J, which means a ∈ J and
b ∉ J, is open in I too; provided that no watched action is the action of an event.* Proof: let J do
what I does, but leave what it has matched already. Then I ⊆ J stays true. When I matches an event e
that J has not, J can: the earlier ones are in I, and so in J; and e is the first unmatched one of
its action also in J, as those are ordered. A watch that opens by this in J opens in I as well; if
one closes in I, it closes in J or was closed there. So no x kills J that does not kill I, and where
I has matched all, so has J. ∎ Without non-occurrence events it follows that matching greedily is
right: of "match" and "leave", the first dominates, and there is only ever one ideal.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from whence.causes.results import Absent, Event, Order
from whence.source import UnsupportedError, UsageError

__all__ = ["DEAD", "Monitor"]

#: The state that no way leads from to acceptance.
DEAD: frozenset[int] = frozenset()

_LARGEST = 1_000_000

#: Matchings that are under way, as ideals: bit k stands for event k.
_State = frozenset[int]


@dataclass(frozen=True, slots=True)
class _Watch:
    action: str
    after: int  # a bit, or 0
    before: int


class Monitor:
    """Of one cause. States are numbers: 0 is the first; `step` finds others as it is asked."""

    def __init__(
        self, events: Iterable[Event], order: Order, absent: Sequence[Absent] = ()
    ) -> None:
        self.events = tuple(sorted(events, key=lambda event: (event.action, event.occurrence)))
        if len(set(self.events)) < len(self.events):
            raise UsageError("a cause has one of its events twice")
        number = {event: index for index, event in enumerate(self.events)}
        for event in [end for pair in order for end in pair] + [
            end for watch in absent for end in (watch.after, watch.before) if end is not None
        ]:
            if event not in number:
                raise UsageError(f"the order speaks of `{event}`, which is not in the cause")
        self._all = (1 << len(self.events)) - 1
        self._watches = tuple(
            _Watch(
                watch.action,
                0 if watch.after is None else 1 << number[watch.after],
                0 if watch.before is None else 1 << number[watch.before],
            )
            for watch in absent
        )
        self._before = [0] * len(self.events)
        self._of_action: dict[str, list[int]] = {}
        for index, event in enumerate(self.events):
            mine = self._of_action.setdefault(event.action, [])
            if mine:
                self._before[index] |= 1 << mine[-1]
            mine.append(index)
        for earlier, later in order:
            self._before[number[later]] |= 1 << number[earlier]
        for watch in absent:
            if watch.after is not None and watch.before is not None:
                self._before[number[watch.before]] |= 1 << number[watch.after]
        self._check_order()
        self.actions = frozenset(self._of_action) | {watch.action for watch in self._watches}
        self._prunes = not any(watch.action in self._of_action for watch in self._watches)
        self._states: list[_State] = []
        self._number: dict[_State, int] = {}
        self._next: dict[tuple[int, str], int] = {}
        self._add(frozenset([0]))

    def _check_order(self) -> None:
        matched = 0
        for _ in self.events:
            for index, before in enumerate(self._before):
                if before & ~matched == 0:
                    matched |= 1 << index
        if matched != self._all:
            rest = [str(e) for index, e in enumerate(self.events) if not matched >> index & 1]
            raise UsageError(f"the order of the cause has a cycle, among {', '.join(rest)}")

    def _add(self, state: _State) -> int:
        if state not in self._number:
            if len(self._states) == _LARGEST:
                raise UnsupportedError(
                    f"to watch for a cause of {len(self.events)} events takes more than"
                    f" {_LARGEST} states"
                )
            self._number[state] = len(self._states)
            self._states.append(state)
        return self._number[state]

    @property
    def states(self) -> int:
        """How many are known by now."""
        return len(self._states)

    def accepts(self, state: int) -> bool:
        return self._all in self._states[state]

    def is_dead(self, state: int) -> bool:
        return self._states[state] == DEAD

    def step(self, state: int, action: str) -> int:
        key = state, action
        if key not in self._next:
            self._next[key] = self._add(self._successor(self._states[state], action))
        return self._next[key]

    def _successor(self, state: _State, action: str) -> _State:
        found: set[int] = set()
        for ideal in state:
            if not any(watch.action == action for watch in self._open(ideal)):
                found.add(ideal)
            for index in self._of_action.get(action, ()):
                if not ideal >> index & 1:
                    if self._before[index] & ~ideal == 0:
                        found.add(ideal | 1 << index)
                    break
        if not self._prunes:
            return frozenset(found)
        return frozenset(
            ideal
            for ideal in found
            if not any(other != ideal and self._dominates(other, ideal) for other in found)
        )

    def _open(self, ideal: int) -> list[_Watch]:
        return [
            watch
            for watch in self._watches
            if watch.after & ~ideal == 0 and not (watch.before and watch.before & ideal)
        ]

    def _dominates(self, larger: int, ideal: int) -> bool:
        return ideal & ~larger == 0 and all(
            watch.after & ~ideal == 0 for watch in self._open(larger)
        )
