"""`sup{cond}: e` and `inf{cond}: e`: the largest and smallest value of an integer expression or
a clock over the reachable states in which the condition holds.

Values of clocks are only as exact as the abstraction: a clock's supremum is right if it is no
larger than the constant that the abstraction keeps for it.  So that constant is raised until it
is, or until a path shows that there is no bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from whence.explore.bounds import clocks_named
from whence.explore.goals import Alternative, alternatives
from whence.explore.kernels import tables as t
from whence.explore.search import Outcome, Search
from whence.explore.symbolic import Moment, constrained
from whence.explore.traces import FaultInState, goal_constraints, ordinals_of, walk
from whence.expr.evaluate import evaluate
from whence.expr.faults import EvaluationError
from whence.expr.printer import print_expression
from whence.expr.tree import Expr
from whence.expr.types import ClockType
from whence.model.network import Query
from whence.model.trace import QueryResult, Supremum
from whence.zones.bounds import INFINITY
from whence.zones.zone import Zone

if TYPE_CHECKING:
    from whence.explore.check import Checker, Options, Watcher

__all__ = ["check_suprema"]

_FIRST_BOUND = 64
_LAST_BOUND = 1 << 24


def check_suprema(
    checker: Checker, query: Query, options: Options, progress: Watcher
) -> QueryResult:
    goals = (Alternative(()),) if query.predicate is None else alternatives(query.predicate)
    found: list[Supremum] = []
    outcome: Outcome | None = None
    for expr in query.expressions:
        bound = _FIRST_BOUND
        while True:
            clock = _clock(checker, expr)
            search = Search(
                checker.compiled,
                checker.compiled.search_tables(
                    goals,
                    stop=False,
                    drop_covered=False,
                    extra_bounds=[(clock, bound)] if clock else [],
                ),
            )
            outcome = search.run(options.budget, progress)
            if outcome.reason not in ("complete", "found"):
                return checker.settle(query, "unknown", search, outcome, options)
            marked = np.flatnonzero(search.store.nodes[: search.node_count, t.NODE_MARK])
            if not len(marked):
                return checker.result(
                    query, "unknown", outcome, reason="no reachable state satisfies the condition"
                )
            if not clock:
                try:
                    found.append(_of_integer(checker, search, marked.tolist(), expr, query.kind))
                except FaultInState as fault:
                    return checker.unanswerable(query, search, outcome, options, fault)
                break
            extreme, node = _of_clock(checker, search, marked.tolist(), goals, clock, query.kind)
            value = extreme.value
            if value is not None and value < bound:
                found.append(_named(expr, extreme))
                break
            if query.kind == "sup" and _is_open(checker, search, node, goals, clock):
                found.append(_named(expr, Supremum("", None)))
                break
            if bound >= _LAST_BOUND:
                return checker.result(
                    query,
                    "unknown",
                    outcome,
                    reason=f"{print_expression(expr)} exceeds {bound}; no bound was found",
                )
            bound *= 8
    assert outcome is not None
    result = checker.result(query, "satisfied", outcome)
    return QueryResult(
        query=result.query,
        verdict=result.verdict,
        states=result.states,
        transitions=result.transitions,
        seconds=result.seconds,
        suprema=tuple(found),
        stored=result.stored,
        peak_bytes=result.peak_bytes,
    )


def _named(expr: Expr, value: Supremum) -> Supremum:
    return Supremum(print_expression(expr), value.value, value.strict)


def _clock(checker: Checker, expr: Expr) -> int:
    """The clock that is asked for, or 0 for an integer expression."""
    if not isinstance(expr.type, ClockType):
        return 0
    clocks = clocks_named(expr, checker.compiled.layout)
    return clocks[0]


def _rows(search: Search, nodes: list[int]) -> Iterator[tuple[int, int]]:
    """(node, row), one node a row."""
    seen: set[int] = set()
    for node in nodes:
        row = int(search.store.nodes[node, t.NODE_ROW])
        if row not in seen:
            seen.add(row)
            yield node, row


def _of_integer(
    checker: Checker, search: Search, nodes: list[int], expr: Expr, kind: str
) -> Supremum:
    processes = len(checker.network.processes)
    values = []
    for node, _ in _rows(search, nodes):
        row = search.row_of(node).tolist()
        store = checker.interpreter.store(row[:processes], row[processes:])
        try:
            value = evaluate(expr, store)
        except EvaluationError as error:
            raise FaultInState(node, error) from None
        assert isinstance(value, int)
        values.append(value)
    return _named(expr, Supremum("", max(values) if kind == "sup" else min(values)))


def _of_clock(
    checker: Checker,
    search: Search,
    nodes: list[int],
    goals: tuple[Alternative, ...],
    clock: int,
    kind: str,
) -> tuple[Supremum, int]:
    """The extreme over the (abstract) zones, and a node that has it."""
    best: int | None = None
    at = nodes[0]
    for node in nodes:
        for zone in _where(checker, search, node, goals, search.zone_of(node)):
            raw = int(zone.matrix[clock, 0]) if kind == "sup" else int(zone.matrix[0, clock])
            # Lower bounds are kept negated: the least one is the largest entry.
            if best is None or raw > best:
                best, at = raw, node
    assert best is not None
    if best == INFINITY:
        return Supremum("", None), at
    value = best >> 1
    return Supremum("", value if kind == "sup" else -value, strict=not best & 1), at


def _where(
    checker: Checker,
    search: Search,
    node: int,
    goals: tuple[Alternative, ...],
    matrix: object,
) -> Iterator[Zone]:
    """The parts of a node's clock values (or of others in the same state) that satisfy the
    condition."""
    interpreter = checker.interpreter
    processes = len(checker.network.processes)
    row = search.row_of(node).tolist()
    zone = Zone(np.array(matrix, np.int32))
    moment = Moment(tuple(row[:processes]), tuple(row[processes:]), zone, (), False)
    if any(goal.deadlock for goal in goals):
        moment = replace(moment, still=not interpreter.may_delay(moment.locations, moment.values))
    for constraints in goal_constraints(interpreter, goals, moment):
        part = constrained(zone, constraints)
        if not part.is_empty:
            yield part


def _is_open(
    checker: Checker, search: Search, node: int, goals: tuple[Alternative, ...], clock: int
) -> bool:
    """Whether the clock is unbounded at the end of the path to a node, exactly."""
    for path in walk(checker.interpreter, ordinals_of(search, node)):
        exact = path.moments[-1].zone
        for zone in _where(checker, search, node, goals, exact.matrix):
            if int(zone.matrix[clock, 0]) == INFINITY:
                return True
    return False
