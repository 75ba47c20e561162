"""The railroad crossing (Koelbl, Example 1): how many ways lead to the accident, by brute force."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

import numpy as np

from whence.explore.systems import transition_system
from whence.formats.charts.yaml import read_chart_file
from whence.model.transitions import TransitionSystem

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
Word = tuple[str, ...]


def system(name: str) -> TransitionSystem:
    return transition_system(read_chart_file(EXAMPLES / name))


def contains(word: Word, part: Word) -> bool:
    """Whether `part` is a subtrace of `word`, which need not be contiguous."""
    letters = iter(word)
    return all(letter in letters for letter in part)


def minimal_bad_words(ts: TransitionSystem, proposition: str, longest: int) -> list[Word]:
    """All action traces up to a length that lead to a state with the proposition, and contain no
    shorter one that does: found word by word."""
    leaving: dict[int, list[tuple[str, int]]] = defaultdict(list)
    for source, action, target in zip(ts.source, ts.action, ts.target, strict=True):
        leaving[int(source)].append((ts.actions[action].name, int(target)))
    bad = ts.propositions[proposition]
    words: dict[Word, set[int]] = {(): set(ts.initial)}
    found: list[Word] = []
    for _ in range(longest):
        longer: dict[Word, set[int]] = defaultdict(set)
        for word, states in words.items():
            for state in states:
                for action, target in leaving[state]:
                    longer[(*word, action)].add(target)
        longer = {w: s for w, s in longer.items() if not any(contains(w, f) for f in found)}
        new = [word for word, states in longer.items() if any(bad[state] for state in states)]
        found.extend(new)
        words = {word: states for word, states in longer.items() if word not in new}
    return found


def test_railroad() -> None:
    """62 traces in four groups, as the definitions give them for this reading of the figure."""
    found = minimal_bad_words(system("railroad.yaml"), "accident", 13)
    groups = Counter(tuple(sorted(Counter(word).items())) for word in found)
    once = dict.fromkeys(("Ca", "Cc", "Ta", "Tc"), 1)
    expected = [
        (once | {"Gf": 1}, 20),
        (once | {"Gc": 1, "Go": 1}, 12),
        (once | {"Gc": 1, "Go": 1, "Gf": 1}, 12),
        ({"Ca": 1, "Cc": 1, "Gc": 1, "Go": 2, "Ta": 2, "Tc": 2, "Tl": 1}, 18),
    ]
    assert groups == {tuple(sorted(names.items())): count for names, count in expected}
    assert len(found) == 62


def test_railroad_without_a_gate() -> None:
    found = minimal_bad_words(system("railroad_unguarded.yaml"), "accident", 10)
    assert sorted(found) == [
        ("Ca", "Cc", "Ta", "Tc"),
        ("Ca", "Ta", "Cc", "Tc"),
        ("Ta", "Ca", "Cc", "Tc"),
    ]


def test_railroad_actions() -> None:
    actions = {action.name: action for action in system("railroad.yaml").actions}
    assert set(actions) == {"Ta", "Tc", "Tl", "Ca", "Cc", "Cl", "Go", "Gc", "Gf"}
    assert [name for name, action in actions.items() if action.failure] == ["Gf"]
    assert actions["Gf"].detected is False
    assert {a.component for a in actions.values()} == {"Train", "Car", "Gate"}
    assert not any(action.silent for action in actions.values())


def test_initial_state() -> None:
    """The first state is outside of everything, with an open gate."""
    ts = system("railroad.yaml")
    leaving = {ts.actions[a].name for a in ts.action[ts.source == 0]}
    assert ts.initial == (0,)
    assert leaving == {"Ta", "Ca", "Go", "Gf"}
    assert np.all(np.diff(ts.source) >= 0)
