"""Markov chains by the definition: matrix exponentials, exact fractions, and causes in words.

It shares no code with what it checks. A chain is a list of edges (source, action, target, rate),
with None for the rate of a transition that is no matter of chance.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fractions import Fraction
from itertools import product
from math import factorial

import numpy as np
import numpy.typing as npt
from scipy.linalg import expm

__all__ = [
    "cause_within",
    "cause_words",
    "exact_within",
    "has_cause",
    "limit_within",
    "poisson_tail",
    "reach_within",
]

Edge = tuple[int, str, int, "float | None"]
Event = tuple[str, int]
Pairs = Collection[tuple[Event, Event]]
#: (action, after, before)
Absent = tuple[str, "Event | None", "Event | None"]


def generator(
    states: int, edges: Sequence[Edge], stopped: Collection[int], speed: float
) -> npt.NDArray[np.float64]:
    """The rates, with `speed` for those that are None; stopped states are not left."""
    found = np.zeros((states, states))
    for source, _, target, rate in edges:
        if source not in stopped:
            found[source, target] += speed if rate is None else rate
    return found - np.diag(found.sum(axis=1))


def reach_within(
    states: int,
    edges: Sequence[Edge],
    bad: Collection[int],
    time: float,
    speed: float,
    stopped: Collection[int] = (),
) -> list[float]:
    """That a bad state is reached within the time, from each state; other stopped states end it."""
    moves = generator(states, edges, {*bad, *stopped}, speed)
    after: npt.NDArray[np.float64] = expm(moves * time)
    return [float(row[list(bad)].sum()) for row in after]


def limit_within(
    states: int,
    edges: Sequence[Edge],
    bad: Collection[int],
    time: float,
    stopped: Collection[int] = (),
) -> list[float]:
    """The same for a speed that grows without bound: with an error of the order of 1/speed, two
    speeds give the limit up to one of the order of 1/speed²."""
    speed = 1e5
    slow = reach_within(states, edges, bad, time, speed, stopped)
    fast = reach_within(states, edges, bad, time, 2 * speed, stopped)
    return [2 * f - s for s, f in zip(slow, fast, strict=True)]


def poisson_tail(mean: Fraction, k: int, terms: int = 80) -> Fraction:
    """P(N >= k), as a fraction that is right to many digits; for small means."""
    exponential = sum(mean**n / factorial(n) for n in range(3 * terms))
    return sum((mean**n / factorial(n) for n in range(k, k + terms)), start=Fraction(0)) / Fraction(
        exponential
    )


def exact_within(
    states: int,
    edges: Sequence[tuple[int, int, Fraction]],
    bad: Collection[int],
    time: Fraction,
    terms: int = 60,
) -> list[Fraction]:
    """That a bad state is reached within the time, in fractions: uniformised, the first terms."""
    rates = [[Fraction(0)] * states for _ in range(states)]
    for source, target, rate in edges:
        if source not in bad and source != target:
            rates[source][target] += rate
    fastest = max(sum(row) for row in rates) or Fraction(1)
    step = [[rate / fastest for rate in row] for row in rates]
    for state in range(states):
        step[state][state] = 1 - sum(step[state], start=Fraction(0))
    mean = fastest * time
    exponential = sum(mean**n / factorial(n) for n in range(3 * terms))
    reached = [Fraction(state in bad) for state in range(states)]
    total = [Fraction(0)] * states
    for n in range(terms):
        weight = mean**n / factorial(n)
        total = [t + weight * r for t, r in zip(total, reached, strict=True)]
        reached = [
            sum((p * r for p, r in zip(row, reached, strict=True)), start=Fraction(0))
            for row in step
        ]
    return [t / exponential for t in total]


def has_cause(
    word: Sequence[str], events: Sequence[Event], order: Pairs, absent: Sequence[Absent] = ()
) -> bool:
    """Whether the events can be matched with places of the word, by trying all ways to do so."""
    places = [[i for i, a in enumerate(word) if a == action] for action, _ in events]
    for chosen in product(*places):
        at = dict(zip(events, chosen, strict=True))
        if len(set(chosen)) < len(chosen):
            continue
        if any(at[earlier] >= at[later] for earlier, later in order):
            continue
        if any(
            one[0] == other[0] and one[1] < other[1] and at[one] > at[other]
            for one in events
            for other in events
        ):
            continue

        if all(_kept(word, at, watch) for watch in absent):
            return True
    return False


def _kept(word: Sequence[str], at: dict[Event, int], watch: Absent) -> bool:
    """Whether the action does not happen between the places of the two events, unmatched."""
    action, after, before = watch
    start = -1 if after is None else at[after]
    end = len(word) if before is None else at[before]
    between = range(start + 1, end)
    return start < end and not any(
        word[place] == action and place not in at.values() for place in between
    )


def cause_words(
    events: Sequence[Event], order: Pairs, absent: Sequence[Absent], letters: Sequence[str]
) -> tuple[list[list[int]], list[bool]]:
    """A deterministic automaton of the words that have the cause: for each state where the letters
    lead, and whether it accepts. A state is the set of all partial matchings, each as the events
    that were matched."""

    def allowed(done: frozenset[Event], event: Event) -> bool:
        earlier = [one for one, other in order if other == event]
        earlier += [one for one in events if one[0] == event[0] and one[1] < event[1]]
        earlier += [one for _, one, other in absent if one is not None and other == event]
        return all(one in done for one in earlier)

    def watched(done: frozenset[Event], letter: str) -> bool:
        return any(
            action == letter and (after is None or after in done) and before not in done
            for action, after, before in absent
        )

    start = frozenset({frozenset[Event]()})
    numbers = {start: 0}
    found = [start]
    table = []
    for state in found:
        row = []
        for letter in letters:
            after = set()
            for done in state:
                if not watched(done, letter):
                    after.add(done)
                for event in events:
                    if event[0] == letter and event not in done and allowed(done, event):
                        after.add(done | {event})
            target = frozenset(after)
            if target not in numbers:
                numbers[target] = len(found)
                found.append(target)
            row.append(numbers[target])
        table.append(row)
    return table, [frozenset(events) in state for state in found]


def cause_within(
    states: int,
    edges: Sequence[Edge],
    bad: Collection[int],
    events: Sequence[Event],
    order: Pairs,
    absent: Sequence[Absent],
    time: float,
    speed: float | None,
) -> float:
    """That a bad state is reached from state 0 within the time by a run with the cause; with
    `speed` None, in the limit."""
    letters = sorted({action for _, action, _, _ in edges})
    table, accepting = cause_words(events, order, absent, letters)
    pairs: list[Edge] = []
    for row in range(len(table)):
        for source, action, target, rate in edges:
            after = table[row][letters.index(action)]
            pairs.append((row * states + source, action, after * states + target, rate))
    goal = {row * states + b for row in range(len(table)) if accepting[row] for b in bad}
    other = {row * states + b for row in range(len(table)) if not accepting[row] for b in bad}
    if not goal:
        return 0.0
    size = len(table) * states
    if speed is None:
        return limit_within(size, pairs, goal, time, other)[0]
    return reach_within(size, pairs, goal, time, speed, other)[0]
