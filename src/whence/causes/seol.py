"""Simple event order logic (sEOL; Koelbl, section 4.4): what causes are written in.

sEOL formulas are conjunctions of orders and absences (Definition 26). They are read as section 4.4
reads them, where `Cc ; !Cl ; Tc` keeps Cl from happening between Cc and Tc: as chains (see
:mod:`whence.causes.chains`). By the letter of Definition 10 (:mod:`whence.causes.eol_semantics`)
that formula would say no more than `Cc ; Tc`, since an empty stretch may be chosen for `!Cl`, and
no cause with a non-occurrence event would satisfy CC2(2). Where no `!` stands beside a `;`, both
readings agree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from whence.causes.causal_tree import causal_tree
from whence.causes.chains import Automaton, Chain, Letter, automaton, chains_of, numbered
from whence.causes.eol import And, Formula, Not, Ordered, Variable, walk
from whence.causes.eol_semantics import models
from whence.causes.results import Cause, Event
from whence.source import InputError, WhenceError

__all__ = [
    "SubsumptionBudgetExceeded",
    "formula_of",
    "satisfies",
    "separating_trace",
    "strictly_subsumes",
    "subsumes",
]

#: How many combinations of states a comparison looks at before it gives up.
BUDGET = 200_000


class SubsumptionBudgetExceeded(WhenceError):
    """Two formulas are too large to be compared."""


# ------------------------------------------------------------------------------- causes as formulas


def formula_of(cause: Cause) -> Formula:
    """The cause as an sEOL formula, as (4.2) is one: its order, and for each non-occurrence event
    a chain. Where an action happens several times in it, its events carry their numbers."""
    several = {action for action, n in Counter(e.action for e in cause.events).items() if n > 1}
    known = set(cause.events)

    def variable(event: Event) -> Variable:
        if event not in known:
            raise InputError(f"the cause speaks of {event}, which is no event of it")
        plain = event.action not in several and event.occurrence == 1
        return Variable(event.action, None if plain else event.occurrence)

    made: list[Formula] = []
    for node in causal_tree(cause.events, cause.order).nodes:
        inputs = tuple(made[one] for one in node.inputs)
        if node.event is not None:
            made.append(variable(node.event))
        else:
            made.append(And(inputs) if node.kind == "and" else Ordered(inputs))
    root = made[-1]
    constraints: list[Formula] = list(root.operands) if isinstance(root, And) else [root]
    for absent in cause.absent:
        chain: list[Formula] = [Not(Variable(absent.action))]
        if absent.after is not None:
            chain.insert(0, variable(absent.after))
        if absent.before is not None:
            chain.append(variable(absent.before))
        constraints.append(chain[0] if len(chain) == 1 else Ordered(tuple(chain)))
    return constraints[0] if len(constraints) == 1 else And(tuple(constraints))


def satisfies(trace: Sequence[str], formula: Formula) -> bool:
    """Whether a trace satisfies an sEOL formula."""
    return all(_holds(trace, part) for part in _conjuncts(formula))


def _conjuncts(formula: Formula) -> tuple[Formula, ...]:
    return formula.operands if isinstance(formula, And) else (formula,)


def _holds(trace: Sequence[str], formula: Formula) -> bool:
    if all(isinstance(node, Variable | And | Ordered) for node in walk(formula)):
        # Without absences Definition 10 says the same, and has no need of the chains.
        return models(trace, formula)
    for chain in chains_of(formula):
        reader = automaton(chain)
        states = reader.start()
        for letter in _letters(trace):
            states = reader.step(states, letter)
        if not reader.accepts(states):
            return False
    return True


def _letters(trace: Sequence[str]) -> Iterator[Letter]:
    happened: Counter[str] = Counter()
    for action in trace:
        happened[action] += 1
        yield action, happened[action]


# -------------------------------------------------------------------------------------- subsumption


def subsumes(general: Formula, special: Formula, budget: int = BUDGET) -> bool:
    """Definition 27: `general ⊆ special`. Every trace that satisfies `special` satisfies
    `general`."""
    return separating_trace(special, general, budget) is None


def strictly_subsumes(general: Formula, special: Formula, budget: int = BUDGET) -> bool:
    """Definition 27: `general ⊂ special`. Some trace satisfies `general` alone besides."""
    return subsumes(general, special, budget) and not subsumes(special, general, budget)


def separating_trace(
    holds: Formula, fails: Formula, budget: int = BUDGET
) -> tuple[str, ...] | None:
    """A trace that satisfies the one sEOL formula and not the other, of which no action can be
    left out; None if there is none.

    Decided exactly, one chain of `fails` after the other: the automata of both sides read the
    same words over the actions of both formulas and one more. Raises SubsumptionBudgetExceeded
    after `budget` combinations of their states."""
    left = chains_of(holds)
    right = [chain for chain in chains_of(fails) if chain not in left]
    search = _Search(left, budget, _alphabet(holds, fails))
    for chain in right:
        # Mostly a single order implies the other: that is found out fast.
        if any(_Search((one,), budget, search.alphabet).word(chain) is None for one in left):
            continue
        word = search.word(chain)
        if word is not None:
            return _shortest(word, holds, fails)
    return None


def _alphabet(*formulas: Formula) -> tuple[str, ...]:
    actions = sorted(
        {
            node.action
            for formula in formulas
            for node in walk(formula)
            if isinstance(node, Variable)
        }
    )
    other = "other"
    while other in actions:
        other += "'"
    return (*actions, other)


def _shortest(word: list[str], holds: Formula, fails: Formula) -> tuple[str, ...]:
    at = 0
    while at < len(word):
        without = word[:at] + word[at + 1 :]
        if satisfies(without, holds) and not satisfies(without, fails):
            # What could not be left out before may be superfluous now.
            word, at = without, 0
        else:
            at += 1
    return tuple(word)


@dataclass(frozen=True, slots=True)
class _State:
    """How often actions have happened, and where the automata are."""

    counts: tuple[int, ...]
    left: tuple[int, ...]
    right: int


class _Search:
    """For a word that satisfies all chains on the left and not one on the right."""

    def __init__(self, left: Sequence[Chain], budget: int, alphabet: Sequence[str]) -> None:
        self.left = left
        self.alphabet = alphabet
        self.budget = budget

    def word(self, right: Chain) -> list[str] | None:
        lefts = [automaton(chain) for chain in self.left]
        target = automaton(right)
        counted = numbered((*self.left, right))
        names = tuple(sorted(counted))
        start = _State((0,) * len(names), tuple(one.start() for one in lefts), target.start())
        # Depth first: a word has at least as many letters as the left side has events.
        before: dict[_State, tuple[_State, str] | None] = {start: None}
        waiting = [start]
        while waiting:
            state = waiting.pop()
            if not target.accepts(state.right) and all(
                one.accepts(states) for one, states in zip(lefts, state.left, strict=True)
            ):
                return _way(before, state)
            following: list[tuple[int, int, str, _State]] = []
            for rank, action in enumerate(self.alphabet):
                then = self._step(state, action, lefts, target, names, counted)
                if then is not None and then not in before:
                    before[then] = (state, action)
                    # What brings the left side forward and the right side not comes first.
                    forward = sum(states.bit_length() for states in then.left)
                    following.append((forward - 2 * then.right.bit_length(), -rank, action, then))
            if len(before) > self.budget:
                raise SubsumptionBudgetExceeded(
                    f"gave up comparing two formulas after {self.budget} combinations of states"
                )
            waiting.extend(state for *_, state in sorted(following, key=lambda entry: entry[:2]))
        return None

    def _step(
        self,
        state: _State,
        action: str,
        lefts: Sequence[Automaton],
        target: Automaton,
        names: Sequence[str],
        counted: dict[str, int],
    ) -> _State | None:
        """None where no word that begins like this can be what is searched for."""
        counts = state.counts
        count = 0
        if action in counted:
            at = names.index(action)
            # What lies beyond all numbers that are asked for is all the same.
            count = min(counts[at] + 1, counted[action] + 1)
            counts = (*counts[:at], count, *counts[at + 1 :])
        letter = (action, count)
        left = tuple(
            one.step(states, letter) for one, states in zip(lefts, state.left, strict=True)
        )
        right = target.step(state.right, letter)
        if not all(left) or target.for_good(right):
            return None
        return _State(counts, left, right)


def _way(before: dict[_State, tuple[_State, str] | None], state: _State) -> list[str]:
    word = []
    step = before[state]
    while step is not None:
        state, action = step
        word.append(action)
        step = before[state]
    return word[::-1]
