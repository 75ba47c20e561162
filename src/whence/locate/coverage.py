"""From counters to what was executed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from whence.locate.code_simple import Counter
from whence.locate.outcome import Coverage, Outcome

__all__ = ["coverage"]


def coverage(
    counts: Sequence[int],
    counters: Sequence[Counter],
    chained: Sequence[tuple[int, int]],
    decisions: Mapping[int, bool],
    outcome: Outcome,
) -> Coverage:
    """Counts by statement. The row of statements that a run failed in was not executed to its
    end the last time: what comes behind the failure was executed once less. `chained` and
    `decisions`: see `Names` and `Interpreter`."""
    failed = outcome.statement if outcome.end != "exit" else 0
    statements: dict[int, int] = {}
    branches: dict[tuple[int, int], int] = {}
    for count, counter in zip(counts, counters, strict=True):
        if not count:
            continue
        last = len(counter.statements)
        if failed and failed in counter.statements:
            last = counter.statements.index(failed)
        for position, number in enumerate(counter.statements):
            executed = count - (position > last)
            if executed:
                statements[number] = statements.get(number, 0) + executed
        if counter.branch is not None:
            branches[counter.branch] = branches.get(counter.branch, 0) + count
    for child, parent in chained:
        # Reached where the decision above was, and came out false.
        reached = statements.get(parent, 0) - branches.get((parent, 1), 0) - (failed == parent)
        if reached > 0:
            statements[child] = reached
    loops: dict[int, int] = {}
    for number, is_loop in decisions.items():
        taken = branches.get((number, 1), 0)
        if is_loop:
            if taken:
                loops[number] = taken
            continue
        missed = statements.get(number, 0) - taken - (failed == number)
        if missed > 0:
            branches[(number, 0)] = missed
    return Coverage(
        MappingProxyType(statements), MappingProxyType(branches), MappingProxyType(loops)
    )
