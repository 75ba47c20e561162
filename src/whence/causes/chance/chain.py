"""Markov chains in continuous time, some transitions of which take no time.

A transition of a :class:`TransitionSystem` without a rate is no matter of chance: it happens as
soon as it can. That is read in one of two ways.

- *Immediate*: such transitions are infinitely fast, and all equally so. This is the limit, for
  K → ∞, of giving each of them the rate K. It decides between several (each is as likely), and
  says that no time passes, and that nothing that takes time comes in between.
- *With a default rate*, as the thesis has it (section 7.3, step 4: PRISM takes 1 for a rate that is
  not given).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse import csgraph

from whence.model.transitions import TransitionSystem
from whence.source import InputError, UsageError

__all__ = ["Chain", "backward", "forward", "marks_of"]

Ints = npt.NDArray[np.int64]
Marks = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Chain:
    """Edge k leads from `source[k]` to `target[k]` with the rate `weight[k]`, or, if `instant[k]`,
    with that speed compared with other instant edges. `letter[k]` says which action it is, to
    those who listen; 0 is all that nobody listens to."""

    states: int
    source: Ints
    target: Ints
    letter: Ints
    weight: Floats
    instant: Marks

    def only(self, kept: Marks) -> Chain:
        return Chain(
            states=self.states,
            source=self.source[kept],
            target=self.target[kept],
            letter=self.letter[kept],
            weight=self.weight[kept],
            instant=self.instant[kept],
        )

    def matrix(self, instant: bool) -> sparse.csr_array:
        """The speeds of instant edges, or the rates of the others, without loops at a state."""
        kept = (self.instant == instant) & (self.source != self.target)
        entries = (self.weight[kept], (self.source[kept], self.target[kept]))
        return sparse.csr_array(sparse.coo_array(entries, shape=(self.states, self.states)))

    @staticmethod
    def of(system: TransitionSystem, letters: Ints, default_rate: float | None) -> Chain:
        """`letters` gives each action its letter. A `default_rate` of None: transitions without a
        rate are immediate."""
        if not system.complete:
            raise UsageError(
                "the probability needs the whole state space, and only a part of it was explored"
            )
        count = system.transitions
        rates = np.full(count, np.nan) if system.rate is None else system.rate.astype(np.float64)
        wrong = np.flatnonzero((rates < 0) | np.isinf(rates))
        if len(wrong):
            action = system.actions[system.action[wrong[0]]]
            raise InputError(f"`{action.name}` has the rate {rates[wrong[0]]}, which is no rate")
        untimed = np.isnan(rates)
        if default_rate is not None and not (0 < default_rate < np.inf):
            raise UsageError(f"the default rate is {default_rate}, and has to be positive")
        weights = np.where(untimed, 1.0 if default_rate is None else default_rate, rates)
        kept = weights > 0
        return Chain(
            states=system.states,
            source=system.source[kept].astype(np.int64),
            target=system.target[kept].astype(np.int64),
            letter=letters[system.action[kept]],
            weight=weights[kept],
            instant=untimed[kept] if default_rate is None else np.zeros(kept.sum(), bool),
        )


def marks_of(system: TransitionSystem, proposition: str | Marks) -> Marks:
    """The states in which a proposition holds; marks may be given as they are."""
    if isinstance(proposition, str):
        if proposition not in system.propositions:
            known = ", ".join(f"`{name}`" for name in system.propositions) or "none"
            raise UsageError(f"there is no proposition `{proposition}`; there are: {known}")
        return system.propositions[proposition]
    if proposition.shape != (system.states,):
        raise UsageError(f"{len(proposition)} marks for {system.states} states")
    return proposition


def _reached(states: int, source: Ints, target: Ints, seeds: Marks) -> Marks:
    """What paths of edges source -> target lead to from the seeds, which are included."""
    # One more state, from which all seeds are reached, makes it one search.
    start = np.flatnonzero(seeds)
    rows = np.concatenate([source, np.full(len(start), states)])
    columns = np.concatenate([target, start])
    shape = (states + 1, states + 1)
    graph = sparse.csr_array(sparse.coo_array((np.ones(len(rows)), (rows, columns)), shape=shape))
    order = csgraph.breadth_first_order(graph, states, return_predecessors=False)
    found = np.zeros(states + 1, bool)
    found[order] = True
    return found[:states]


def forward(chain: Chain, seeds: Marks) -> Marks:
    """The states that can be reached from the seeds."""
    return _reached(chain.states, chain.source, chain.target, seeds)


def backward(chain: Chain, goals: Marks) -> Marks:
    """The states from which a goal can be reached."""
    return _reached(chain.states, chain.target, chain.source, goals)
