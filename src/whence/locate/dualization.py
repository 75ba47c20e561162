"""Minimal diagnoses by hitting set dualization: the algorithm HSD (Graussam, chapter 5; Ignatiev,
Morgado, Weissenbacher, Marques-Silva, Model-Based Diagnosis with Multiple Observations, 2019).

A *conflict* is a set of components that cannot all be healthy, given some observation.  Diagnoses
are the hitting sets of all conflicts of all observations, and the minimal ones those of the minimal
conflicts (Reiter).  There may be far too many conflicts, so they are found when they are needed: a
smallest hitting set of those that are known is either a diagnosis, or the oracle has a conflict
that it misses.  Diagnoses come out by size, and each is minimal: a smaller one would hit the known
conflicts too, and would have come before.

This works with any oracle that knows conflicts; `whence.locate.diagnosis` has one for systems in
conjunctive normal form.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from whence.locate.results import Conflict, Progress, Stop, Told
from whence.solve.hitting import GaveUp, HittingSets
from whence.solve.sat import Limit

__all__ = ["Found", "Oracle", "Unexplained", "dualize"]


class Unexplained(Exception):
    """No set of components explains the observation with this number."""

    def __init__(self, observation: int) -> None:
        super().__init__(observation)
        self.observation = observation


class Oracle(Protocol):
    """Knows the system and what was observed."""

    @property
    def checks(self) -> int:
        """How many questions it has asked of its solver."""
        ...

    def conflict(self, candidate: frozenset[int], limit: Limit) -> Conflict | None:
        """Components outside of `candidate` that cannot all be healthy; None: the candidate is a
        diagnosis. Raises Unexplained if there are no diagnoses, GaveUp if the limit is reached."""
        ...


@dataclass(slots=True)
class Found:
    """What is known so far; `reason` says why there is no more, if something ended it."""

    diagnoses: list[frozenset[int]]
    conflicts: list[Conflict]
    below: int | None = 0
    reason: str = ""
    unexplained: int | None = None


def dualize(
    oracle: Oracle,
    components: int,
    *,
    max_size: int | None = None,
    minimum: bool = True,
    stop: Stop | None = None,
    progress: Told | None = None,
) -> Found:
    """All minimal diagnoses with up to `max_size` of the components; `minimum`: only those that
    have as few components as possible."""
    stop = stop or Stop()
    began = time.perf_counter()
    deadline = None if stop.seconds is None else began + stop.seconds
    limit = Limit(deadline=deadline)
    found = Found([], [])
    hitting = HittingSets(components)

    def tell() -> None:
        if progress is not None:
            progress(
                Progress(
                    hitting.size,
                    len(found.conflicts),
                    len(found.diagnoses),
                    oracle.checks,
                    time.perf_counter() - began,
                )
            )

    def learn(conflict: Conflict) -> None:
        if not conflict.components:
            raise Unexplained(conflict.observation)
        found.conflicts.append(conflict)
        hitting.hit(sorted(conflict.components))

    try:
        for explanation in _disjoint(oracle, limit):
            learn(explanation)
            tell()
        while True:
            if stop.checks is not None and oracle.checks >= stop.checks:
                found.reason = f"stopped after {oracle.checks:,} checks"
                break
            if deadline is not None and time.perf_counter() >= deadline:
                raise GaveUp
            most = max_size
            if minimum and found.diagnoses:
                most = len(found.diagnoses[0])
            candidate = hitting.smallest(most, limit)
            found.below = hitting.size
            if candidate is None:
                left = most is not None and hitting.size > most
                found.below = most + 1 if most is not None and left else None
                if minimum and found.diagnoses:
                    found.below = None
                break
            conflict = oracle.conflict(candidate, limit)
            if conflict is None:
                found.diagnoses.append(candidate)
                hitting.block(sorted(candidate))
            else:
                learn(conflict)
            tell()
    except GaveUp:
        found.reason = f"stopped after {stop.seconds:g} s"
    except KeyboardInterrupt:
        found.reason = "interrupted"
    except Unexplained as nothing:
        found.unexplained = nothing.observation
        found.below = None
    finally:
        hitting.close()
    return found


def _disjoint(oracle: Oracle, limit: Limit) -> Iterator[Conflict]:
    """Conflicts without common components, as many as it takes until the rest is consistent: a
    start that says much about the size of diagnoses."""
    used: frozenset[int] = frozenset()
    while (conflict := oracle.conflict(used, limit)) is not None:
        yield conflict
        used |= conflict.components
