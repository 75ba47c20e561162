"""What formulas of event order logic mean (Koelbl, Definition 10, as adapted there).

A trace `a1 … an` has the states `s0 … sn`; state k is the one that the k-th action leads to, and no
action leads to `s0`. A formula holds on a stretch `i..r` of these states. The indices are those
of the thesis, to the letter. What the letter leaves open, or makes surprising:

- Of two simple formulas, (3.3) and (3.4) are meant for event variables; (3.6) to (3.9) lead
  others back to these. So `!φ` holds exactly where φ does not, `!!φ` where φ does.
- In (3.12) the second stretch may be empty (j = r). No action happens in it, so `a ; !b` holds
  wherever `a` does; and nothing about order holds on it, so `;` is not associative there.
- In (3.14) the states before ψ count from s0, also where the formula stands within another.
- The ends of a stretch may lie apart from the events that are looked for in it: `a ;< !b ;> c`
  holds on `a b d c` (j = 3, k = 4). For what must not happen between two events, the thesis itself
  reads `a ; !b ; c` otherwise in section 4.4: see :mod:`whence.causes.seol`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
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
    parts,
)

__all__ = ["models"]

#: For each first state i of a stretch the set of its last states r, as bits: bit r + 1, so that
#: the empty stretch (r = i - 1) has one too.
_Rows = list[int]


def models(trace: Sequence[str], formula: Formula) -> bool:
    """Whether the trace satisfies the formula: τ ⊨ ψ, (3.5)."""
    return bool(_Meaning(trace).rows(formula)[0] >> (len(trace) + 1) & 1)


class _Meaning:
    def __init__(self, trace: Sequence[str]) -> None:
        self.last = len(trace)
        #: The states that each event variable holds in, as bits: bit k.
        self.states: dict[tuple[str, int | None], int] = {}
        happened: Counter[str] = Counter()
        for state, action in enumerate(trace, 1):
            happened[action] += 1
            self.states[action, happened[action]] = 1 << state
            self.states[action, None] = self.states.get((action, None), 0) | 1 << state
        self.known: dict[int, _Rows] = {}

    def rows(self, formula: Formula) -> _Rows:
        """On which stretches the formula holds. Parts come first, without recursion."""
        waiting = [formula]
        while waiting:
            node = waiting[-1]
            missing = [part for part in parts(node) if id(part) not in self.known]
            if missing:
                waiting.extend(missing)
                continue
            waiting.pop()
            if id(node) not in self.known:
                self.known[id(node)] = self._rows(node)
        return self.known[id(formula)]

    def _stretches(self, first: int) -> int:
        """All stretches from `first`, also the empty one."""
        return self._from(first - 1)

    def _from(self, last: int) -> int:
        """Those that end at `last` or later."""
        return (1 << (self.last + 2)) - (1 << (last + 1)) if last <= self.last else 0

    def _rows(self, formula: Formula) -> _Rows:
        of = self.known
        first_states = range(self.last + 2)
        match formula:
            case Variable():
                held = self.states.get((formula.action, formula.occurrence), 0)
                return [
                    self._from(_lowest(held >> first << first)) if held >> first else 0
                    for first in first_states
                ]
            case Not():
                inner = of[id(formula.operand)]
                return [self._stretches(first) & ~inner[first] for first in first_states]
            case And() | Or():
                rows = [of[id(part)] for part in formula.operands]
                every = isinstance(formula, And)
                result = []
                for first in first_states:
                    row = self._stretches(first) if every else 0
                    for operand in rows:
                        row = row & operand[first] if every else row | operand[first]
                    result.append(row)
                return result
            case Ordered():
                rows = [of[id(part)] for part in formula.operands]
                left = rows[0]
                for right in rows[1:]:
                    left = self._ordered(left, right)
                return left
            case After():
                runs = self._runs(of[id(formula.always)])
                return [
                    self._union(self._between(j, runs[j]) for j in self._ends(row, first))
                    for first, row in enumerate(of[id(formula.first)])
                ]
            case Before():
                run = self._runs(of[id(formula.always)])[0]
                last = of[id(formula.last)]
                return [
                    self._union(last[j] & self._from(j) for j in range(first, run + 1))
                    for first in first_states
                ]
            case Between():
                runs = self._runs(of[id(formula.always)])
                last = of[id(formula.last)]
                # What follows after a first part that ends in state j.
                follow = [
                    self._union(last[k] & self._from(k) for k in range(j + 1, runs[j] + 1))
                    for j in range(self.last + 1)
                ]
                return [
                    self._union(follow[j] for j in self._ends(row, first))
                    for first, row in enumerate(of[id(formula.first)])
                ]
            case _:
                assert_never(formula)

    def _ordered(self, left: _Rows, right: _Rows) -> _Rows:
        """(3.12): the second part goes on right after the first."""
        return [
            self._union(right[j + 1] for j in self._ends(row, first))
            for first, row in enumerate(left)
        ]

    def _ends(self, row: int, first: int) -> list[int]:
        """The last states of the stretches in a row that are not empty."""
        return [last for last in range(first, self.last + 1) if row >> (last + 1) & 1]

    def _runs(self, always: _Rows) -> list[int]:
        """For each state k, how far all states from it on satisfy a simple formula, each alone;
        k - 1 where k itself does not."""
        runs = list(range(-1, self.last + 1))
        for state in range(self.last, -1, -1):
            if always[state] >> (state + 1) & 1:
                runs[state] = max(state, runs[state + 1])
        return runs

    def _between(self, least: int, most: int) -> int:
        return self._from(least) & ~self._from(most + 1)

    @staticmethod
    def _union(rows: Iterable[int]) -> int:
        result = 0
        for row in rows:
            result |= row
        return result


def _lowest(bits: int) -> int:
    return (bits & -bits).bit_length() - 1
