"""Languages of finite automata in which every state accepts, compared by the definition.

Both automata are made deterministic first, one set of states after the other, and what is left
to do is a walk over pairs of such sets.  An automaton is (initial states, edges), with (label,
target) pairs for each state.  It shares no code with what it checks.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["TooLarge", "bisimilar", "first_word", "has_word", "words_of"]

Plain = tuple[Sequence[int], Sequence[Sequence[tuple[int, int]]]]
States = frozenset[int]
Word = tuple[int, ...]


class TooLarge(Exception):
    """More sets of states than allowed."""


def step(automaton: Plain, states: States, label: int) -> States:
    """Where a label leads from any of the states."""
    _, edges = automaton
    return frozenset(target for state in states for mine, target in edges[state] if mine == label)


def alphabet(*automata: Plain) -> list[int]:
    return sorted({label for _, edges in automata for leaving in edges for label, _ in leaving})


def has_word(automaton: Plain, word: Sequence[int]) -> bool:
    states = frozenset(automaton[0])
    for label in word:
        states = step(automaton, states, label)
    return bool(states)


def words_of(automaton: Plain, length: int) -> set[Word]:
    """All words of at most `length` labels."""
    found: set[Word] = {()} if automaton[0] else set()
    latest = set(found)
    for _ in range(length):
        longer = {(*word, label) for word in latest for label in alphabet(automaton)}
        latest = {word for word in longer if has_word(automaton, word)}
        found |= latest
    return found


def determinised(
    automaton: Plain, letters: Sequence[int], limit: int
) -> dict[States, dict[int, States]]:
    """All sets that words over `letters` lead to, the empty one among them."""
    start = frozenset(automaton[0])
    found: dict[States, dict[int, States]] = {}
    waiting = [start]
    while waiting:
        states = waiting.pop()
        if states in found:
            continue
        if len(found) == limit:
            raise TooLarge
        found[states] = {label: step(automaton, states, label) for label in letters}
        waiting.extend(found[states].values())
    return found


def first_word(
    left: Plain, right: Plain, only_left: bool = False, limit: int = 20_000
) -> Word | None:
    """Of the words that one of the two has and the other has not (`only_left`: that only `left`
    has), the shortest, and of these the one with the smallest labels; None if there is none."""
    letters = alphabet(left, right)
    of_left, of_right = determinised(left, letters, limit), determinised(right, letters, limit)
    seen = {(frozenset(left[0]), frozenset(right[0]))}
    level: list[tuple[Word, tuple[States, States]]] = [((), pair) for pair in seen]
    while level:
        apart = []
        for word, (mine, theirs) in level:
            if (mine and not theirs) or (theirs and not mine and not only_left):
                apart.append(word)
        if apart:
            return min(apart)
        longer = []
        # In the order of words, so that each pair is kept with the first of its words.
        for word, (mine, theirs) in sorted(level, key=lambda entry: entry[0]):
            for label in letters:
                pair = (of_left[mine][label], of_right[theirs][label])
                if pair not in seen:
                    seen.add(pair)
                    longer.append(((*word, label), pair))
        level = longer
    return None


def bisimilar(edges: Sequence[Sequence[tuple[int, int]]]) -> set[tuple[int, int]]:
    """The largest bisimulation: all pairs, without those that cannot answer a step."""
    states = range(len(edges))
    related = {(one, other) for one in states for other in states}

    def answers(one: int, other: int) -> bool:
        return all(
            any(mine == theirs and (to, its) in related for theirs, its in edges[other])
            for mine, to in edges[one]
        )

    while True:
        kept = {(a, b) for a, b in related if answers(a, b) and answers(b, a)}
        if kept == related:
            return related
        related = kept
