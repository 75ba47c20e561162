"""The paths that runs with unknown numbers can go (see `whence.locate.lazy_run`).

A path is told by its steps: how decisions came out, what was chosen, which values unknown numbers
were given.  A run that follows the steps of a path that waits comes to where it parted.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from heapq import heappush
from typing import Final

from whence.locate.lazy_numbers import Number, Undecided
from whence.locate.memory import Object
from whence.solve.paths import Condition, PathConditions, opposite

__all__ = ["Dead", "Paths"]

#: So many values of one number are tried.
_MOST_VALUES: Final = 300
#: Of a number that could have more values, only so many.
_SOME_VALUES: Final = 24


class Dead(Exception):
    """No run that passes goes on like this."""


# A step of a path: a decision, a choice among several, a value, or that it is none of these.
_Step = tuple[str, int, tuple[int, ...]]


@dataclass
class Paths:
    """The paths of one test: the one that is being gone, and those that wait. Implements
    `whence.locate.lazy_numbers.Path`."""

    conditions: PathConditions
    expected: bytes | None = None
    prefix: tuple[_Step, ...] = ()
    taken: list[_Step] = field(default_factory=list)
    #: (deviations, the longer ones first, in their order, steps).
    waiting: list[tuple[int, int, int, tuple[_Step, ...]]] = field(default_factory=list)
    deviations: int = 0
    pushed: int = 0
    #: So many questions to the solver, of all paths together.
    most_checks: int = 0
    shadows: dict[int, tuple[Object, dict[int, tuple[int, Number]]]] = field(default_factory=dict)
    constants: dict[object, Number] = field(default_factory=dict)
    #: Unknown numbers, and decisions: what they were, and what they are (None: not known yet).
    unknowns: list[tuple[Number | bool, bool | None]] = field(default_factory=list)
    pointers: list[Object] = field(default_factory=list)

    def begin(self, prefix: tuple[_Step, ...], deviations: int) -> None:
        self.conditions.begin()
        self.prefix, self.taken, self.deviations = prefix, [], deviations
        self.shadows, self.constants, self.unknowns, self.pointers = {}, {}, [], []

    def _next(self) -> _Step | None:
        at = len(self.taken)
        if at >= len(self.prefix):
            return None
        self.taken.append(self.prefix[at])
        return self.prefix[at]

    def _wait(self, step: _Step, cost: int = 1) -> None:
        self.pushed += 1
        depth = -len(self.taken)
        heappush(self.waiting, (self.deviations + cost, depth, self.pushed, (*self.taken, step)))

    def _possible(self, condition: Condition | None = None) -> bool:
        if self.conditions.checks >= self.most_checks:
            raise Undecided
        answer = self.conditions.possible(condition)
        if answer is None:
            raise Undecided
        return answer

    def decide(self, condition: Condition, hint: bool) -> bool:
        step = self._next()
        if step is not None:
            way = bool(step[1])
            self.conditions.require(condition if way else opposite(condition))
            if len(self.taken) == len(self.prefix) and not self._possible():
                raise Dead
            return way
        ways = [
            way
            for way in (hint, not hint)
            if self._possible(condition if way else opposite(condition))
        ]
        if not ways:
            raise Dead
        for other in ways[1:]:
            self._wait(("decide", int(other), ()))
        self.taken.append(("decide", int(ways[0]), ()))
        self.conditions.require(condition if ways[0] else opposite(condition))
        return ways[0]

    def pick(self, count: int, cost: int = 1) -> int:
        """One of several ways that have no condition; the first is how it was."""
        step = self._next()
        if step is not None:
            return step[1]
        for other in range(1, count):
            self._wait(("pick", other, ()), cost)
        self.taken.append(("pick", 0, ()))
        return 0

    def value_of(self, number: Number) -> int:
        if number.least == number.greatest:
            return number.least
        step = self._next()
        excluded: tuple[int, ...] = ()
        if step is not None:
            if step[0] == "value":
                self.conditions.require(number.term == step[1])
                return step[1]
            excluded = step[2]
            self.taken.pop()
            for value in excluded:
                self.conditions.require(number.term != value)
        small = number.greatest - number.least < _MOST_VALUES
        if len(excluded) >= (_MOST_VALUES if small else _SOME_VALUES):
            raise Undecided
        value = number.hint
        if value in excluded or not self._possible(number.term == value):
            if not self._possible():
                raise Dead
            (value,) = self.conditions.values((number.term,))
        self._wait(("none of", 0, (*excluded, value)), cost=0 if excluded else 1)
        self.taken.append(("value", value, ()))
        self.conditions.require(number.term == value)
        return value

    def among(self, number: Number, values: Iterable[int]) -> int:
        """One of these values, or the path is dead."""
        held = [each for each in values if number.least <= each <= number.greatest]
        step = self._next()
        if step is not None:
            self.conditions.require(number.term == step[1])
            if len(self.taken) == len(self.prefix) and not self._possible():
                raise Dead
            return step[1]
        possible = [each for each in held if self._possible(number.term == each)]
        if not possible:
            raise Dead
        possible.sort(key=lambda each: each != number.hint)
        for other in possible[1:]:
            self._wait(("value", other, ()), cost=0)
        self.taken.append(("value", possible[0], ()))
        self.conditions.require(number.term == possible[0])
        return possible[0]

    def unknown(self, least: int, greatest: int, hint: int) -> Number:
        term = self.conditions.unknown(least, greatest)
        made = Number(self, term, least, greatest, hint)
        self.unknowns.append((made, None))
        return made
