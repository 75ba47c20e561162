"""Inclusion and equivalence of the languages of finite automata in which every state accepts.

Such a language is closed under prefixes.  Closed Büchi automata are compared by their finite
prefixes (Kölbl, section 10.3, Theorem 17), so that nothing here speaks of infinite words.

Inclusion goes by antichains (De Wulf, Doyen, Henzinger & Raskin 2006): pairs of a state of the
left automaton and the set of states that the right one can be in after the same word.  Neither
side is made deterministic as a whole.  Before that, bisimilar states of both automata are merged:
from a state that is also in the set, no word can be missing.

All answers are words that are first in the order by length, and among words of equal length by
labels.  This word depends on the two languages only, and not on the automata.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal

__all__ = [
    "Automaton",
    "Difference",
    "LanguageBudgetExceeded",
    "deterministic",
    "difference",
    "missing_word",
]

Word = tuple[int, ...]

#: For each state of an automaton, where each label leads.
_Successors = list[dict[int, frozenset[int]]]


@dataclass(frozen=True, slots=True)
class Automaton:
    """States `0 .. len(edges) - 1`, all accepting; `edges` has (label, target) pairs for each of
    them.  Automata that are compared share the meaning of labels.  Without an initial state the
    language is empty: not even the empty word is in it.

    Edges of `open` states may be missing: the automaton is a part of another, and no word is said
    to be missing for what such a state does not have."""

    initial: tuple[int, ...]
    edges: tuple[tuple[tuple[int, int], ...], ...]
    open: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Difference:
    """A word that one of two languages has and the other does not."""

    word: Word
    only_in: Literal["left", "right"]


class LanguageBudgetExceeded(Exception):
    """More pairs of states had to be looked at than was allowed."""

    def __init__(self, pairs: int) -> None:
        self.pairs = pairs
        super().__init__(f"gave up comparing languages after {pairs} pairs of states")


def missing_word(left: Automaton, right: Automaton, budget: int | None = None) -> Word | None:
    """The first word, shortest words first, that `left` has and `right` does not; None if `right`
    has them all.  Raises LanguageBudgetExceeded after `budget` pairs of states.

    Pre: no state is open, or both are deterministic; then None says that no word is known."""
    pairs = _Pairs(budget)
    if not left.initial:
        return None
    if not right.initial:
        return ()
    if deterministic(left) and deterministic(right):
        found = _product_walk(left, right, pairs, both=False)
        return None if found is None else found.word
    merged = _Merged.of(left, right)
    return _antichain_walk(merged.successors, merged.left, merged.right, pairs)


def difference(left: Automaton, right: Automaton, budget: int | None = None) -> Difference | None:
    """The first word, shortest words first, that only one of the two has; None if they are
    equivalent.  Raises LanguageBudgetExceeded after `budget` pairs of states.

    Pre: no state is open, or both are deterministic; then None says that no word is known."""
    pairs = _Pairs(budget)
    if not left.initial and not right.initial:
        return None
    if not left.initial or not right.initial:
        return Difference((), "left" if left.initial else "right")
    if deterministic(left) and deterministic(right):
        return _product_walk(left, right, pairs, both=True)
    merged = _Merged.of(left, right)
    lost = _antichain_walk(merged.successors, merged.left, merged.right, pairs)
    longest = None if lost is None else len(lost)
    new = _antichain_walk(merged.successors, merged.right, merged.left, pairs, longest)
    if lost is None or (new is not None and (len(new), new) < (len(lost), lost)):
        return None if new is None else Difference(new, "right")
    return Difference(lost, "left")


# --------------------------------------------------------------------------------- bookkeeping


class _Pairs:
    """How many pairs of states were looked at."""

    def __init__(self, budget: int | None) -> None:
        self._budget = budget
        self._count = 0

    def add(self) -> None:
        if self._count == self._budget:
            raise LanguageBudgetExceeded(self._count)
        self._count += 1


class _Words:
    """A tree of words; each has a number, and number 0 is the empty word."""

    def __init__(self) -> None:
        self._before = [0]
        self._label = [0]
        self._length = [0]

    def add(self, word: int, label: int) -> None:
        self._before.append(word)
        self._label.append(label)
        self._length.append(self._length[word] + 1)

    def length(self, word: int) -> int:
        return self._length[word]

    def extended(self, word: int, label: int) -> Word:
        """The labels of word number `word`, and `label`."""
        found = [label]
        while word:
            found.append(self._label[word])
            word = self._before[word]
        return tuple(reversed(found))


# ------------------------------------------------------------------------- deterministic automata


def deterministic(automaton: Automaton) -> bool:
    """Whether each word leads to at most one state."""
    return len(set(automaton.initial)) <= 1 and all(
        len({label for label, _ in leaving}) == len(set(leaving)) for leaving in automaton.edges
    )


def _product_walk(
    left: Automaton, right: Automaton, pairs: _Pairs, *, both: bool
) -> Difference | None:
    """The first word that only `left` has; with `both`, that only one of the two has.

    Pre: both are deterministic and have an initial state.
    """
    # A pair is met first by the first of its words: successors go in the order of labels.
    of_left = [dict(sorted(leaving)) for leaving in left.edges]
    of_right = [dict(sorted(leaving)) for leaving in right.edges]
    words = _Words()
    start = (left.initial[0], right.initial[0])
    seen = {start}
    pairs.add()
    waiting = [start]
    for number, (mine, theirs) in enumerate(waiting):  # grows while we go through it
        here, there = of_left[mine], of_right[theirs]
        if here.keys() != there.keys():
            apart = set() if theirs in right.open else here.keys() - there.keys()
            if both and mine not in left.open:
                apart |= there.keys() - here.keys()
            if apart:
                label = min(apart)
                side: Literal["left", "right"] = "left" if label in here else "right"
                return Difference(words.extended(number, label), side)
        for label, target in here.items():
            if label not in there:
                continue  # perhaps: the state is open
            pair = (target, there[label])
            if pair not in seen:
                seen.add(pair)
                pairs.add()
                waiting.append(pair)
                words.add(number, label)
    return None


# ------------------------------------------------------------------------------------ antichains


def _antichain_walk(
    successors: _Successors,
    left: frozenset[int],
    right: frozenset[int],
    pairs: _Pairs,
    longest: int | None = None,
) -> Word | None:
    """The first word, of at most `longest` labels, that can be read from `left` but not from
    `right`: sets of states of one automaton.  Pre: neither is empty.

    Pairs that belong to the same word wait together.  This keeps words in order, so that a pair
    is dropped only for one with an earlier word: whatever is missing after the later word is
    missing after the earlier one, and the first missing word is never lost.
    """
    known: dict[int, list[frozenset[int]]] = {}
    after: dict[frozenset[int], Mapping[int, frozenset[int]]] = {}
    words = _Words()
    waiting = [(_not_covered(left, right, known, pairs), right)]
    for number, (states, others) in enumerate(waiting):  # grows while we go through it
        if longest is not None and words.length(number) >= longest:
            return None
        mine = _after(states, successors)
        theirs = after.get(others)
        if theirs is None:
            theirs = after[others] = _after(others, successors)
        missing = mine.keys() - theirs.keys()
        if missing:
            return words.extended(number, min(missing))
        for label in sorted(mine):
            kept = _not_covered(mine[label], theirs[label], known, pairs)
            if kept:
                waiting.append((kept, theirs[label]))
                words.add(number, label)
    return None


def _after(states: frozenset[int], successors: _Successors) -> dict[int, frozenset[int]]:
    """Where each label leads from a set of states."""
    if len(states) == 1:
        return successors[next(iter(states))]
    found: dict[int, set[int]] = {}
    for state in states:
        for label, targets in successors[state].items():
            found.setdefault(label, set()).update(targets)
    return {label: frozenset(targets) for label, targets in found.items()}


def _not_covered(
    states: frozenset[int],
    others: frozenset[int],
    known: dict[int, list[frozenset[int]]],
    pairs: _Pairs,
) -> frozenset[int]:
    """The `states` whose pair with `others` must be looked at; `known` has the smallest sets
    that each state was paired with before."""
    kept = []
    for state in states - others:
        sets = known.setdefault(state, [])
        if any(smaller <= others for smaller in sets):
            continue
        pairs.add()
        sets[:] = [larger for larger in sets if not others <= larger]
        sets.append(others)
        kept.append(state)
    return frozenset(kept)


# ---------------------------------------------------------------------------------- bisimulation


@dataclass(frozen=True, slots=True)
class _Merged:
    """Two automata in one, bisimilar states merged, with the initial states of each."""

    successors: _Successors
    left: frozenset[int]
    right: frozenset[int]

    @staticmethod
    def of(left: Automaton, right: Automaton) -> _Merged:
        shift = len(left.edges)
        edges = [set(leaving) for leaving in left.edges]
        edges += [{(label, shift + target) for label, target in e} for e in right.edges]
        block = _bisimilar(edges)
        successors: _Successors = [{} for _ in range(max(block, default=-1) + 1)]
        done: set[int] = set()
        for state, number in enumerate(block):
            if number in done:
                continue
            done.add(number)
            targets: dict[int, set[int]] = {}
            for label, target in edges[state]:
                targets.setdefault(label, set()).add(block[target])
            successors[number] = {label: frozenset(of) for label, of in targets.items()}
        return _Merged(
            successors,
            frozenset(block[state] for state in left.initial),
            frozenset(block[shift + state] for state in right.initial),
        )


def _bisimilar(edges: Sequence[set[tuple[int, int]]]) -> list[int]:
    """A number for each state, the same for those that are bisimilar.

    Partition refinement by signatures (Blom & Orzan 2005).  The largest part of a block that is
    split keeps its number, so that a state gets a new one at most log(n) times, and only what
    leads to states with new numbers is looked at again.
    """
    before: list[list[int]] = [[] for _ in edges]
    for state, leaving in enumerate(edges):
        for target in {target for _, target in leaving}:
            before[target].append(state)
    block = [0] * len(edges)
    members = [set(range(len(edges)))]
    dirty = set(members[0])
    while dirty:
        leaving_parts = [
            (number, _parts(members[number], touched, edges, block))
            for number, touched in _by_block(dirty, block)
        ]
        # Signatures are of the numbers before this round: change them only now.
        moved: list[set[int]] = []
        for number, parts in leaving_parts:
            for part in parts:
                members[number] -= part
            parts.append(members[number])
            parts.sort(key=len)
            members[number] = parts.pop()
            for part in parts:
                for state in part:
                    block[state] = len(members)
                members.append(part)
                moved.append(part)
        dirty = {state for target in chain.from_iterable(moved) for state in before[target]}
    return block


def _by_block(states: set[int], block: Sequence[int]) -> list[tuple[int, set[int]]]:
    found: dict[int, set[int]] = {}
    for state in states:
        found.setdefault(block[state], set()).add(state)
    return list(found.items())


def _parts(
    members: set[int],
    touched: set[int],
    edges: Sequence[set[tuple[int, int]]],
    block: Sequence[int],
) -> list[set[int]]:
    """A block split by signatures, without one of its parts.  Pre: all of `members` that are not
    `touched` have the same signature; they, or else the largest part, are what is left out.

    None of the others has it: what was touched leads to a number that was not there before."""

    def signature(state: int) -> frozenset[tuple[int, int]]:
        return frozenset([(label, block[target]) for label, target in edges[state]])

    if len(members) == 1:
        return []
    parts: dict[frozenset[tuple[int, int]], set[int]] = {}
    for state in touched:
        parts.setdefault(signature(state), set()).add(state)
    if len(touched) < len(members):
        return list(parts.values())
    return sorted(parts.values(), key=len)[:-1]
