"""What others do with several observations, to compare with (Graussam, sections 2 and 5.1).

They ask for the diagnoses of each observation alone, and put the answers together:

- BugAssist (Jose, Majumdar) takes the union of all components of smallest diagnoses;
- SNIPER (Lamraoui, Nakajima) unites each diagnosis of one observation with each of the next, by its
  algorithm DiagCombine;
- others take what the observations have in common.

All use MaxSAT for one observation; so does this.  CFaults (Orvalho, Janota, Manquinho) writes down
all copies of equation 5.3, and asks for all observations at once: `replicated`.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from whence.locate.results import Stop
from whence.model.mbd import Observation, System
from whence.solve.maxsat import correction_sets
from whence.solve.sat import Solver

__all__ = [
    "Combined",
    "Single",
    "diagcombine",
    "intersection",
    "replicated",
    "single_diagnoses",
    "union",
]

Sets = tuple[frozenset[int], ...]


@dataclass(frozen=True, slots=True)
class Single:
    """Diagnoses of one failing observation."""

    observation: int
    diagnoses: Sets


@dataclass(frozen=True, slots=True)
class Combined:
    """`diagnoses` of all observations, minimal or not, `built` in so many steps; `complete` is
    false where it was stopped before all were there."""

    diagnoses: Sets
    built: int
    complete: bool = True


def single_diagnoses(
    system: System,
    observations: Sequence[Observation],
    *,
    minimum: bool = True,
    max_size: int | None = None,
    stop: Stop | None = None,
) -> tuple[tuple[Single, ...], bool]:
    """(for each failing observation its diagnoses: the smallest, or all minimal ones with up to
    `max_size` components; whether these are all observations)."""
    seconds = None if stop is None else stop.seconds
    deadline = None if seconds is None else time.perf_counter() + seconds
    healthy = [component.healthy for component in system.components]
    number = {literal: place for place, literal in enumerate(healthy)}
    found: list[Single] = []
    for place, observation in enumerate(observations):
        clauses = [*system.clauses, *((literal,) for literal in observation.literals)]
        with Solver(clauses) as solver:
            if solver.solve(healthy):
                continue
        members: list[frozenset[int]] = []
        for literals in correction_sets(clauses, healthy):
            if members and minimum and len(literals) > len(members[0]):
                break
            if max_size is not None and len(literals) > max_size:
                break
            members.append(frozenset(number[literal] for literal in literals))
            if deadline is not None and time.perf_counter() > deadline:
                return tuple(found), False
        found.append(Single(place, tuple(members)))
    return tuple(found), True


def union(singles: Sequence[Single]) -> tuple[tuple[int, int], ...]:
    """(component, how many observations have a diagnosis with it), the most first."""
    counts: Counter[int] = Counter()
    for single in singles:
        counts.update(frozenset().union(*single.diagnoses))
    return tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def intersection(singles: Sequence[Single]) -> Sets:
    """The diagnoses that all observations have in common."""
    if not singles:
        return ()
    common = frozenset(singles[0].diagnoses).intersection(*(each.diagnoses for each in singles[1:]))
    return tuple(sorted(common, key=lambda members: (len(members), sorted(members))))


def diagcombine(singles: Sequence[Single], *, stop: Stop | None = None) -> Combined:
    """The unions of one diagnosis of each observation, without those that others are a part of.

    Observations with equal diagnoses count once. Of all minimal diagnoses of the observations, it
    makes all minimal ones of them together; it is the number of unions that is too large."""
    seconds = None if stop is None else stop.seconds
    most = None if stop is None else stop.checks
    deadline = None if seconds is None else time.perf_counter() + seconds
    families = sorted({frozenset(single.diagnoses) for single in singles}, key=_order)
    built = 0
    known: set[frozenset[int]] = set()
    for members in _unions(families):
        built += 1
        known.add(members)
        late = deadline is not None and built % 1024 == 0 and time.perf_counter() > deadline
        if late or (most is not None and built >= most):
            return Combined(tuple(sorted(known, key=sorted)), built, False)
    return Combined(_minimal(known), built)


def _order(family: frozenset[frozenset[int]]) -> list[list[int]]:
    return sorted(map(sorted, family))


def _unions(families: Sequence[frozenset[frozenset[int]]]) -> Iterator[frozenset[int]]:
    ordered = [sorted(family, key=sorted) for family in families]
    chosen = [0] * len(ordered)
    prefix: list[frozenset[int]] = [frozenset()]
    # Depth first, without recursion: there may be a thousand observations.
    if not all(ordered):
        return
    while True:
        depth = len(prefix) - 1
        if depth == len(ordered):
            yield prefix[-1]
            prefix.pop()
            depth -= 1
            chosen[depth] += 1
        if chosen[depth] == len(ordered[depth]):
            if depth == 0:
                return
            chosen[depth] = 0
            prefix.pop()
            chosen[depth - 1] += 1
            continue
        prefix.append(prefix[-1] | ordered[depth][chosen[depth]])


def _minimal(sets: set[frozenset[int]]) -> Sets:
    kept: list[frozenset[int]] = []
    for members in sorted(sets, key=lambda each: (len(each), sorted(each))):
        if not any(smaller <= members for smaller in kept):
            kept.append(members)
    return tuple(kept)


def replicated(
    system: System, observations: Sequence[Observation], *, stop: Stop | None = None
) -> Combined:
    """The smallest diagnoses, by MaxSAT of one formula with a copy of the system an observation."""
    seconds = None if stop is None else stop.seconds
    deadline = None if seconds is None else time.perf_counter() + seconds
    healthy = [component.healthy for component in system.components]
    number = {literal: place for place, literal in enumerate(healthy)}
    shared = {abs(literal) for literal in healthy}
    own = [v for v in range(1, system.variables + 1) if v not in shared]
    clauses: list[Sequence[int]] = []
    for copy, observation in enumerate(observations):
        first = system.variables + copy * len(own) + 1
        renamed = {v: v for v in shared} | {v: first + place for place, v in enumerate(own)}
        for clause in (*system.clauses, *((literal,) for literal in observation.literals)):
            clauses.append([renamed[v] if v > 0 else -renamed[-v] for v in clause])
    found: list[frozenset[int]] = []
    for literals in correction_sets(clauses, healthy):
        if found and len(literals) > len(found[0]):
            break
        found.append(frozenset(number[literal] for literal in literals))
        if deadline is not None and time.perf_counter() > deadline:
            return Combined(tuple(found), len(found), False)
    return Combined(_minimal(set(found)), len(found))
