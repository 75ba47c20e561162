"""Consistency-based diagnosis with several observations (Graussam, chapter 5).

Equation 5.3 has a copy of the system for each observation, which share nothing but the healthy
predicates.  For given healthy components the copies have nothing to do with each other, so that
each can be asked alone: is SD and OBS_i consistent if all components outside of a set are healthy?
There is one encoding, and one solver, for all of these questions; observations and healthy
predicates are assumptions.  What the solver learns of the system serves all observations.  Solvers
of their own, in each of which an observation is fixed, took two to eighteen times as long on
circuits and programs of all sizes: the system must be told to each.

A component that is not assumed healthy may be either: as equation 4.2 has it, it restricts nothing
to say that it is not.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from whence.locate.dualization import dualize
from whence.locate.results import Conflict, Diagnoses, Stop, Told
from whence.model.mbd import Observation, System
from whence.solve.hitting import GaveUp
from whence.solve.sat import ENGINES, Limit, Solver

__all__ = ["Diagnoser", "Witness", "diagnose"]

#: Conflicts with more components are left as the solver has them. They are nearly minimal, and to
#: make them so took five times as long as everything else on circuits with 3,000 gates.
_SMALL = 16
#: A question that only serves to make a conflict smaller may take so many of the solver's.
_SHRINKING = Limit(conflicts=1_000)


@dataclass(frozen=True, slots=True)
class Witness:
    """How the system can have done what was observed. A variable that does not matter is false."""

    model: tuple[int, ...]

    def true(self, literal: int) -> bool:
        variable = abs(literal)
        value = variable <= len(self.model) and self.model[variable - 1] > 0
        return value if literal > 0 else not value


class Diagnoser:
    """A system and what was observed of it, to be asked again and again."""

    def __init__(
        self,
        system: System,
        observations: Sequence[Observation],
        *,
        engine: str = ENGINES[0],
    ) -> None:
        self.system = system
        self.observations = tuple(observations)
        _check(system, self.observations)
        self._healthy = [component.healthy for component in system.components]
        self._number = {literal: number for number, literal in enumerate(self._healthy)}
        self._literals = [list(observation.literals) for observation in self.observations]
        self._solver = Solver(system.clauses, engine=engine)
        # So that a solution has few components that are not healthy.
        self._solver.prefer(self._healthy)
        self.checks = 0
        #: For an observation, sets of components (as bits) of which it is known that they explain
        #: it; so do their supersets.
        self._explained: list[list[int]] = [[] for _ in self.observations]
        self._failing: list[int] | None = None
        # The observations to be asked about, those that had the last conflicts first.
        self._order: list[int] = []

    # ---------------------------------------------------------------------------- questions

    def _ask(self, observation: int, healthy: list[int], limit: Limit | None) -> bool | None:
        """Is the system consistent with the observation if these healthy literals are true?"""
        self.checks += 1
        return self._solver.solve(self._literals[observation] + healthy, limit)

    def _outside(self, members: Collection[int]) -> list[int]:
        """The healthy literals of all other components."""
        return [literal for number, literal in enumerate(self._healthy) if number not in members]

    def _core(self) -> list[int]:
        """The healthy literals of the contradiction."""
        return [literal for literal in self._solver.core() if literal in self._number]

    def _free(self, among: Iterable[int]) -> int:
        """Those of these components that are not healthy in the solver's solution, as bits."""
        true = self._solver.true
        return sum(1 << number for number in among if not true(self._healthy[number]))

    def _remember(self, observation: int, free: int) -> None:
        known = self._explained[observation]
        if any(not old & ~free for old in known):
            return
        known[:] = [old for old in known if free & ~old]
        known.append(free)

    def failing(self, limit: Limit | None = None) -> tuple[int, ...]:
        """The observations that contradict a healthy system (equation 5.1). The others can change
        nothing (section 7.5). Raises GaveUp if the limit is reached."""
        if self._failing is None:
            failing: list[int] = []
            seen: dict[frozenset[int], bool] = {}
            for number, observation in enumerate(self.observations):
                literals = frozenset(observation.literals)
                if literals in seen:
                    # Once more the same: it fails as well, and need not be asked again.
                    if seen[literals]:
                        failing.append(number)
                    continue
                answer = self._ask(number, self._healthy, limit)
                if answer is None:
                    raise GaveUp
                seen[literals] = not answer
                if not answer:
                    failing.append(number)
                    self._order.append(number)
            self._failing = failing
        return tuple(self._failing)

    def conflict(self, candidate: frozenset[int], limit: Limit) -> Conflict | None:
        """See `whence.locate.dualization.Oracle`."""
        self.failing(limit)
        bits = sum(1 << number for number in candidate)
        healthy = self._outside(candidate)
        for place, observation in enumerate(self._order):
            if any(not known & ~bits for known in self._explained[observation]):
                continue
            answer = self._ask(observation, healthy, limit)
            if answer is None:
                raise GaveUp
            if answer:
                self._remember(observation, self._free(candidate))
                continue
            literals = self._shrink(observation, self._core(), limit)
            self._order.insert(0, self._order.pop(place))
            return Conflict(frozenset(map(self._number.__getitem__, literals)), observation)
        return None

    def _shrink(self, observation: int, literals: list[int], limit: Limit) -> list[int]:
        """A conflict among these, without any that it does not need: unless there are many, or
        finding that out takes too long. Pre: they are one."""
        if len(literals) > _SMALL:
            return literals
        needed: list[int] = []
        rest = literals
        while rest:
            if limit.deadline is not None and time.perf_counter() >= limit.deadline:
                raise GaveUp
            last = rest.pop()
            answer = self._ask(observation, needed + rest, _SHRINKING)
            if answer is False:
                core = frozenset(self._core())
                rest = [literal for literal in rest if literal in core]
            else:
                needed.append(last)
                if answer:
                    self._remember(observation, self._free(self._number.values()))
        return needed

    # ------------------------------------------------------------------------------ answers

    def diagnose(
        self,
        *,
        max_size: int | None = None,
        minimum: bool = True,
        stop: Stop | None = None,
        progress: Told | None = None,
    ) -> Diagnoses:
        """See :func:`diagnose`."""
        began, before = time.perf_counter(), self.checks
        found = dualize(
            self,
            len(self._healthy),
            max_size=max_size,
            minimum=minimum,
            stop=stop,
            progress=progress,
        )
        members = [tuple(sorted(diagnosis)) for diagnosis in found.diagnoses]
        return Diagnoses(
            diagnoses=tuple(sorted(members, key=lambda each: (len(each), each))),
            minimum=minimum,
            below=found.below,
            reason=found.reason,
            failing=tuple(self._failing or ()),
            unexplained=() if found.unexplained is None else self._unexplained(),
            conflicts=tuple(found.conflicts),
            checks=self.checks - before,
            seconds=time.perf_counter() - began,
        )

    def _unexplained(self) -> tuple[int, ...]:
        return tuple(
            number for number in self._failing or () if self._ask(number, [], None) is False
        )

    def witness(self, diagnosis: Sequence[int], observation: int) -> Witness | None:
        """How the observation can come about if all components outside of the diagnosis are
        healthy; None: it cannot."""
        answer = self._ask(observation, self._outside(frozenset(diagnosis)), None)
        return Witness(tuple(self._solver.model())) if answer else None

    def contradiction(self, observation: int) -> tuple[int, ...] | None:
        """Literals of an observation that cannot all be true whatever the components do; None: the
        whole observation is possible."""
        if self._ask(observation, [], None):
            return None
        return self._solver.core()

    def close(self) -> None:
        self._solver.close()

    def __enter__(self) -> Diagnoser:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def diagnose(
    system: System,
    observations: Sequence[Observation],
    *,
    max_size: int | None = None,
    minimum: bool = True,
    stop: Stop | None = None,
    progress: Told | None = None,
) -> Diagnoses:
    """Sets of components that explain all the observations: those with as few components as
    possible; or, with `minimum` false, all minimal ones. In any case with no more than `max_size`.
    """
    with Diagnoser(system, observations) as diagnoser:
        return diagnoser.diagnose(max_size=max_size, minimum=minimum, stop=stop, progress=progress)


def _check(system: System, observations: Sequence[Observation]) -> None:
    variables = system.variables
    literals = [component.healthy for component in system.components]
    if len(set(map(abs, literals))) < len(literals):
        raise ValueError("two components have the same healthy variable")
    literals += [literal for observation in observations for literal in observation.literals]
    wrong = [literal for literal in literals if not 0 < abs(literal) <= variables]
    if wrong:
        raise ValueError(f"the system has no variable {abs(wrong[0])}")
