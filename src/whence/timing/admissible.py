"""Whether a changed network still does what the original did (Kölbl, section 10.3).

The untimed automaton of a network (Definition 40) is its zone graph without clocks: words are
sequences of labels of action transitions, delays cannot be seen, and every state accepts.  (The
loops that the definition adds for time that passes only make words infinite; by Theorem 17 the
finite prefixes decide.)  A repair is admissible if the automata of both networks are equivalent.

Nodes are told apart by equality of extrapolated zones.  That is exact: each zone lies in the
abstraction a_LU of what is really reached there, so that for each of its valuations there is one
that is reached by the same transitions and can do all that it can do (a_LU is a simulation); by
induction, each path of the graph is a run of the network, and no run is missing, as abstraction
only adds valuations.  Replacing a zone by one that *includes* it, as searches for single states
do, would not be: the larger zone was reached in another way, and its transitions would become
words that no run has.  Bounds that keep bisimilar states apart, as liveness needs them, are not
needed for finite words.  (Networks with priorities or differences of clocks get them anyway, as
there a_LU is no simulation; in the latter, a state may be several nodes.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
import numpy.typing as npt

from whence.explore.check import Checker
from whence.explore.kernels import tables as t
from whence.explore.labels import Labels, label_of
from whence.explore.realize import Realization
from whence.explore.search import REASONS, Budget, Outcome, Progress, Search
from whence.explore.traces import walk
from whence.model.trace import TimedTrace, Transition
from whence.timing.language import (
    Automaton,
    LanguageBudgetExceeded,
    deterministic,
    difference,
    missing_word,
)

__all__ = [
    "Comparison",
    "LabelTable",
    "Labels",
    "Test",
    "UntimedGraph",
    "alike",
    "compare",
    "label_of",
    "untimed",
    "witness_trace",
]

#: `nothing lost`: the repaired network has all words of the original; `nothing new`: it has no
#: others; `equal`: both.
Test = Literal["equal", "nothing lost", "nothing new"]
Side = Literal["original", "repaired"]

Ints = npt.NDArray[np.int64]

#: Columns of the edges of a graph.
SOURCE, LABEL, TARGET, TRANSITION = range(4)


# ---------------------------------------------------------------------------------------- labels


class LabelTable:
    """Numbers for labels; graphs that are compared share one table."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        """The number of a label, made if new."""
        found = self._numbers.setdefault(text, len(self._texts))
        if found == len(self._texts):
            self._texts.append(text)
        return found

    def text(self, number: int) -> str:
        return self._texts[number]

    def __len__(self) -> int:
        return len(self._texts)


# ---------------------------------------------------------------------------------------- graphs


@dataclass(frozen=True, slots=True, eq=False)
class UntimedGraph:
    """The untimed automaton of a network, and what its edges stand for.

    `edges` has a row (source, label, target, number in `transitions`) for each edge, sorted.
    Unless `complete`, it is only the part of the graph that was explored until `reason`: its
    words are words of the network, but others are missing.
    """

    labels: Labels
    table: LabelTable
    automaton: Automaton
    edges: Ints
    transitions: tuple[Transition, ...]
    outcome: Outcome
    complete: bool
    reason: str = ""

    def path(self, word: Sequence[int]) -> tuple[Transition, ...] | None:
        """The transitions of one path with the labels `word`; None if there is none. Each path
        of the graph is one of the network."""
        layers = [set(self.automaton.initial)]
        for letter in word:
            leaving = (self.automaton.edges[state] for state in layers[-1])
            layers.append({target for e in leaving for label, target in e if label == letter})
        if not layers[-1]:
            return None
        state = min(layers[-1])
        found: list[Transition] = []
        for letter, before in zip(reversed(word), reversed(layers[:-1]), strict=True):
            row = self._row_into(state, letter, before)
            found.append(self.transitions[row[TRANSITION]])
            state = int(row[SOURCE])
        return tuple(reversed(found))

    def _row_into(self, target: int, label: int, sources: set[int]) -> Ints:
        """The first edge with a label from one of the sources to the target."""
        edges = self.edges
        rows = np.flatnonzero((edges[:, TARGET] == target) & (edges[:, LABEL] == label))
        inside = np.isin(edges[rows, SOURCE], list(sources))
        found: Ints = edges[rows[inside][0]]
        return found


def untimed(
    checker: Checker,
    labels: Labels,
    table: LabelTable,
    budget: Budget | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> UntimedGraph:
    """The untimed automaton of a network (Definition 40). Where the model does something wrong,
    the search ends, and the graph is not complete."""
    compiled = checker.compiled
    tables = compiled.search_tables(cover=t.COVER_EQUAL, keep_edges=True, drop_covered=False)
    search = Search(compiled, tables)
    outcome = search.run(budget, progress)
    transitions, edges = _edges_of(checker, search, labels, table)
    nodes = search.store.nodes[: search.node_count]
    initial = np.flatnonzero(nodes[:, t.NODE_PARENT] < 0).tolist()
    complete = outcome.reason == "complete"
    return UntimedGraph(
        labels=labels,
        table=table,
        automaton=Automaton(
            tuple(initial),
            _leaving(edges, len(nodes)),
            frozenset(np.flatnonzero(nodes[:, t.NODE_STATUS] != t.EXPANDED).tolist()),
        ),
        edges=edges,
        transitions=transitions,
        outcome=outcome,
        complete=complete,
        reason="" if complete else _reason(outcome),
    )


def _reason(outcome: Outcome) -> str:
    if outcome.reason == "fault":
        place = str(outcome.fault_origin)
        return f"{place}: {outcome.fault.text}" if place else outcome.fault.text
    return REASONS[outcome.reason]


def _edges_of(
    checker: Checker, search: Search, labels: Labels, table: LabelTable
) -> tuple[tuple[Transition, ...], Ints]:
    """(all transitions that occur, the rows of a graph's edges)."""
    kept = search.store.edges[: search.store.counts[t.COUNT_EDGES]].astype(np.int64)
    first, places = alike(search, kept)
    numbers: dict[Transition, int] = {}
    meanings = np.empty((len(first), 2), np.int64)
    processes = len(checker.network.processes)
    letters: list[int] = []
    for place, edge in enumerate(first.tolist()):
        state = search.row_of(int(kept[edge, t.KEPT_SOURCE])).tolist()
        candidates = checker.interpreter.candidates(state[:processes], state[processes:])
        transition = candidates[kept[edge, t.KEPT_ORDINAL]].transition
        number = numbers.setdefault(transition, len(numbers))
        if number == len(letters):
            letters.append(table.number(label_of(checker.network, transition, labels)))
        meanings[place] = letters[number], number
    found = np.empty((len(kept), 4), np.int64)
    found[:, SOURCE], found[:, TARGET] = kept[:, t.KEPT_SOURCE], kept[:, t.KEPT_TARGET]
    found[:, LABEL], found[:, TRANSITION] = meanings[places].T
    order = np.lexsort(found.T[::-1])
    return tuple(numbers), found[order]


def alike(search: Search, kept: Ints) -> tuple[Ints, Ints]:
    """Groups the kept edges of a search by transitions: (the first edge of each group, the group of
    each edge). Several groups may have one transition."""
    edges = search.search_tables.tables.edges
    # The edges of a sender and its one receiver tell which transition it is, unless the data
    # decides on the channel.
    plain = (edges[:, t.EDGE_CHANNEL] >= 0) | (edges[:, t.EDGE_DIRECTION] == 0)
    acting, partner = kept[:, t.KEPT_EDGE], kept[:, t.KEPT_PARTNER]
    simple = plain[acting] & (partner > -2)
    # Otherwise: nodes with the same discrete state have the same transitions as their ordinals.
    rows = search.store.nodes[kept[:, t.KEPT_SOURCE], t.NODE_ROW]
    groups = np.where(
        simple[:, None],
        np.column_stack([acting, partner]),
        np.column_stack([-1 - rows, kept[:, t.KEPT_ORDINAL]]),
    )
    most = int(groups[:, 1].max(initial=0)) + 2
    _, first, places = np.unique(
        groups[:, 0] * most + groups[:, 1] + 1, return_index=True, return_inverse=True
    )
    return first, places.reshape(-1)


def _leaving(edges: Ints, count: int) -> tuple[tuple[tuple[int, int], ...], ...]:
    """The (label, target) pairs of each node, without repetitions."""
    different = np.ones(len(edges), bool)
    different[1:] = (edges[1:, :TRANSITION] != edges[:-1, :TRANSITION]).any(axis=1)
    kept = edges[different]
    pairs = list(zip(kept[:, LABEL].tolist(), kept[:, TARGET].tolist(), strict=True))
    starts = np.searchsorted(kept[:, SOURCE], np.arange(count + 1)).tolist()
    return tuple(tuple(pairs[begin:end]) for begin, end in pairwise(starts))


# ------------------------------------------------------------------------------------ comparison


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a repair changes.

    `admissible` None: given up, for `reason`.  Where it is False, `word` is a shortest word that
    distinguishes (the first of them that is known, where a graph is not complete), and
    `transitions` are a path that has it in the network `only_in`.
    """

    admissible: bool | None
    test: Test
    word: tuple[str, ...] | None = None
    only_in: Side | None = None
    transitions: tuple[Transition, ...] | None = None
    reason: str = ""


_DIRECTIONS: dict[Test, tuple[Side, ...]] = {
    "equal": ("original", "repaired"),
    "nothing lost": ("original",),
    "nothing new": ("repaired",),
}


def compare(
    original: UntimedGraph, repaired: UntimedGraph, test: Test = "equal", budget: int | None = None
) -> Comparison:
    """Whether a repair is admissible in the sense of `test`; `budget` is how many pairs of states
    may be looked at. Pre: the graphs have the same kind of labels, in one table."""
    if original.table is not repaired.table or original.labels != repaired.labels:
        raise ValueError("graphs can be compared only if they share a table of labels")
    graphs: dict[Side, UntimedGraph] = {"original": original, "repaired": repaired}
    try:
        found = _first_word(graphs, test, budget)
    except LanguageBudgetExceeded as error:
        return Comparison(None, test, reason=str(error))
    if found is not None:
        word, side = found
        texts = tuple(original.table.text(letter) for letter in word)
        return Comparison(False, test, texts, side, graphs[side].path(word))
    reasons = [f"{side}: {graph.reason}" for side, graph in graphs.items() if not graph.complete]
    if reasons:
        return Comparison(None, test, reason="; ".join(reasons))
    return Comparison(True, test)


def _first_word(
    graphs: dict[Side, UntimedGraph], test: Test, budget: int | None
) -> tuple[tuple[int, ...], Side] | None:
    """The first word that breaks `test`, and where it is from."""
    left, right = graphs["original"], graphs["repaired"]
    known = left.complete and right.complete
    # Of a word of a deterministic graph that is not complete we know where it leads.
    walked = deterministic(left.automaton) and deterministic(right.automaton)
    if test == "equal" and (known or walked):
        found = difference(left.automaton, right.automaton, budget)
        return None if found is None else (found.word, _SIDES[found.only_in])
    words: list[tuple[int, tuple[int, ...], Side]] = []
    for side in _DIRECTIONS[test]:
        mine, other = (left, right) if side == "original" else (right, left)
        # That an unfinished graph lacks a word says nothing; that it has one does.
        if other.complete or walked:
            word = missing_word(mine.automaton, other.automaton, budget)
            if word is not None:
                words.append((len(word), word, side))
    return min(words)[1:] if words else None


_SIDES: dict[Literal["left", "right"], Side] = {"left": "original", "right": "repaired"}


def witness_trace(
    checker: Checker, transitions: Sequence[Transition], realization: Realization = "earliest"
) -> TimedTrace | None:
    """A timed trace along these transitions; None if the network has no run along them."""
    for path in walk(checker.interpreter, transitions):
        trace = path.trace(checker.interpreter, (), realization)
        if trace is not None:
            return trace
    return None
