"""Event order logic by the letter of the definitions, for short traces.

Formulas are nested tuples: ("var", action, occurrence or None), ("not", f), ("and", f, g),
("or", f, g), ("ordered", f, g), ("after", psi, phi), ("before", phi, psi),
("between", psi1, phi, psi2). It shares no code with what it checks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import Any

__all__ = ["all_traces", "chain_holds", "holds", "linear_extensions"]

Plain = Any


def holds(trace: Sequence[str], formula: Plain) -> bool:
    """(3.5)."""
    return _holds(list(trace), formula, 0, len(trace))


def _event(trace: list[str], state: int, variable: Plain) -> bool:
    """(3.1): no event leads to state 0."""
    _, action, occurrence = variable
    if state == 0 or trace[state - 1] != action:
        return False
    return occurrence is None or trace[:state].count(action) == occurrence


def _holds(trace: list[str], formula: Plain, i: int, r: int) -> bool:
    kind = formula[0]
    states = range(i, r + 1)
    if kind == "var":  # (3.3)
        return any(_event(trace, j, formula) for j in states)
    if kind == "not":
        inner = formula[1]
        if inner[0] == "var":  # (3.4)
            return all(not _event(trace, j, inner) for j in states)
        if inner[0] == "and":  # (3.8)
            return any(_holds(trace, ("not", part), i, r) for part in inner[1:])
        if inner[0] == "or":  # (3.9)
            return all(_holds(trace, ("not", part), i, r) for part in inner[1:])
        assert inner[0] == "not"
        return _holds(trace, inner[1], i, r)
    if kind == "and":  # (3.6), (3.10)
        return _holds(trace, formula[1], i, r) and _holds(trace, formula[2], i, r)
    if kind == "or":  # (3.7), (3.11)
        return _holds(trace, formula[1], i, r) or _holds(trace, formula[2], i, r)
    if kind == "ordered":  # (3.12)
        _, psi1, psi2 = formula
        return any(_holds(trace, psi1, i, j) and _holds(trace, psi2, j + 1, r) for j in states)
    if kind == "after":  # (3.13)
        _, psi, phi = formula
        return any(
            _holds(trace, psi, i, j) and all(_holds(trace, phi, k, k) for k in range(j, r + 1))
            for j in states
        )
    if kind == "before":  # (3.14)
        _, phi, psi = formula
        return any(
            _holds(trace, psi, j, r) and all(_holds(trace, phi, k, k) for k in range(j + 1))
            for j in states
        )
    assert kind == "between"  # (3.15)
    _, psi1, phi, psi2 = formula
    return any(
        _holds(trace, psi1, i, j)
        and _holds(trace, psi2, k, r)
        and all(_holds(trace, phi, m, m) for m in range(j, k + 1))
        for j in states
        for k in range(j + 1, r + 1)
    )


def chain_holds(trace: Sequence[str], chain: Sequence[tuple[str, int | None, bool]]) -> bool:
    """A row of (action, occurrence, happens): places for what happens, and gaps between them in
    which what must not happen does not. Absences of the same gap share it out."""
    needed = [link for link in chain if link[2]]
    for places in combinations(range(1, len(trace) + 1), len(needed)):
        if not all(
            _event(list(trace), at, ("var", *link[:2]))
            for at, link in zip(places, needed, strict=True)
        ):
            continue
        ends = [0, *places, len(trace) + 1]
        gaps: list[list[tuple[str, int | None, bool]]] = [[]]
        for link in chain:
            if link[2]:
                gaps.append([])
            else:
                gaps[-1].append(link)
        if all(
            _shared(list(trace), range(ends[n] + 1, ends[n + 1]), gap) for n, gap in enumerate(gaps)
        ):
            return True
    return False


def _shared(trace: list[str], stretch: range, absent: list[tuple[str, int | None, bool]]) -> bool:
    if not absent:
        return True
    (action, occurrence, _), *others = absent
    if not others:
        return not any(_event(trace, at, ("var", action, occurrence)) for at in stretch)
    return any(
        _shared(trace, range(stretch.start, cut), absent[:1])
        and _shared(trace, range(cut, stretch.stop), others)
        for cut in range(stretch.start, stretch.stop + 1)
    )


def all_traces(actions: Sequence[str], longest: int) -> Iterator[tuple[str, ...]]:
    for length in range(longest + 1):
        yield from product(actions, repeat=length)


def linear_extensions(
    events: Sequence[str], order: Sequence[tuple[str, str]]
) -> Iterator[tuple[str, ...]]:
    """All sequences of the events, each once, that keep to the order."""
    if not events:
        yield ()
    for first in events:
        if not any(later == first and earlier in events for earlier, later in order):
            for rest in linear_extensions([e for e in events if e != first], order):
                yield (first, *rest)
