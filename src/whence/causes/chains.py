"""Chains: sEOL formulas (Koelbl, Definition 26) as small automata that read a trace once.

A chain is a row of events that happen and events that do not, such as `Cc ; !Cl ; Tc`. A trace
satisfies it where one can choose, from left to right, a place for each event that happens so that
no event that must not happen does so in the gap where it stands: between the two chosen places
beside it, or from the start, or up to the end. Several that must not happen in the same gap share
it out among them, one after the other.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import assert_never

from whence.causes.eol import (
    After,
    And,
    Before,
    Between,
    Formula,
    Not,
    Or,
    Ordered,
    Variable,
    walk,
)
from whence.source import Diagnostic, Origin, UnsupportedError

__all__ = ["Automaton", "Chain", "Letter", "Link", "automaton", "chains_of"]

#: An action and how many times it has happened, this one included.
Letter = tuple[str, int]
#: More chains than this are no formula of a cause.
_MOST_CHAINS = 4096


@dataclass(frozen=True, slots=True)
class Link:
    variable: Variable
    happens: bool


Chain = tuple[Link, ...]


def chains_of(formula: Formula) -> tuple[Chain, ...]:
    """The chains whose conjunction an sEOL formula is. Raises UnsupportedError, which names the
    part, for what is no conjunction of orders and absences."""
    found: dict[Chain, None] = {}
    for part in formula.operands if isinstance(formula, And) else (formula,):
        found.update(dict.fromkeys(_chains(part)))
    return tuple(found)


def _chains(formula: Formula) -> list[Chain]:
    match formula:
        case Variable():
            return [(Link(formula, True),)]
        case Not():
            if isinstance(formula.operand, Variable):
                return [(Link(formula.operand, False),)]
            raise _unsupported("the negation of more than one event", formula.origin)
        case And():
            together = [chain for part in formula.operands for chain in _chains(part)]
            return list(dict.fromkeys(together))
        case Ordered():
            return _in_a_row(formula)
        case Or():
            raise _unsupported("a disjunction", formula.origin)
        case After() | Before() | Between():
            raise _unsupported("an interval", formula.origin, "write a ; !b ; c")
        case _:
            assert_never(formula)


def _in_a_row(formula: Ordered) -> list[Chain]:
    """`(a & b) ; c` is `a ; c & b ; c`: the last c comes after all of them if it comes after each.
    With absences that is not so: which places are chosen then matters to several of them."""
    rows: list[Chain] = [()]
    branching = absent = False
    for part in formula.operands:
        chains = _chains(part)
        branching = branching or len(chains) > 1
        absent = absent or any(isinstance(node, Not) for node in walk(part))
        if branching and absent:
            what = "a conjunction within an order that says what must not happen"
            raise _unsupported(what, part.origin, "write each order with !… by itself")
        if len(rows) * len(chains) > _MOST_CHAINS:
            raise _unsupported(f"an order of more than {_MOST_CHAINS} chains", formula.origin)
        rows = list(dict.fromkeys((*row, *chain) for row in rows for chain in chains))
    return rows


def _unsupported(what: str, origin: Origin, hint: str = "") -> UnsupportedError:
    text = f"{what} is no sEOL formula, a conjunction of orders and absences"
    return UnsupportedError(Diagnostic(text, origin, hint, "formula of event order logic"))


@dataclass(frozen=True, slots=True)
class Automaton:
    """Of a chain, without a choice of where to start. While in state k it reads what `forbidden[k]`
    (None: nothing) does not match; what `awaited[k]` matches leads on to state k + 1, and where
    that is None, nothing has to be read for it. The last state accepts.

    Sets of states are bits."""

    forbidden: tuple[Variable | None, ...]
    awaited: tuple[Variable | None, ...]

    def start(self) -> int:
        return self._closed(1)

    def accepts(self, states: int) -> bool:
        return bool(states >> (len(self.forbidden) - 1) & 1)

    def for_good(self, states: int) -> bool:
        """Whether it accepts whatever comes now."""
        return self.accepts(states) and self.forbidden[-1] is None

    def step(self, states: int, letter: Letter) -> int:
        result = 0
        for state, (forbidden, awaited) in enumerate(
            zip(self.forbidden, self.awaited, strict=True)
        ):
            if states >> state & 1:
                if forbidden is None or not matches(forbidden, letter):
                    result |= 1 << state
                if awaited is not None and matches(awaited, letter):
                    result |= 2 << state
        return self._closed(result)

    def _closed(self, states: int) -> int:
        for state, awaited in enumerate(self.awaited[:-1]):
            if awaited is None and states >> state & 1:
                states |= 2 << state
        return states


def automaton(chain: Chain) -> Automaton:
    forbidden: list[Variable | None] = []
    awaited: list[Variable | None] = []
    gap: list[Variable | None] = []
    for link in chain:
        if not link.happens:
            gap.append(link.variable)
            continue
        gap = gap or [None]
        forbidden += gap
        awaited += [*(None for _ in gap[1:]), link.variable]
        gap = []
    gap = gap or [None]
    forbidden += gap
    awaited += [None for _ in gap]
    return Automaton(tuple(forbidden), tuple(awaited))


def matches(variable: Variable, letter: Letter) -> bool:
    action, count = letter
    return variable.action == action and variable.occurrence in (None, count)


def numbered(chains: Iterable[Chain]) -> dict[str, int]:
    """The actions of which the chains count occurrences, and how far."""
    most: dict[str, int] = {}
    for chain in chains:
        for link in chain:
            occurrence = link.variable.occurrence
            if occurrence is not None:
                action = link.variable.action
                most[action] = max(most.get(action, 0), occurrence)
    return most
