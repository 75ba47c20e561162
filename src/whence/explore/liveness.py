"""Paths that never end: `E[] p`, `A<> p` (the negation of `E[] !p`) and `p --> q` (that from no
state of p there is a path along which q never comes).

`E[] p` asks for a maximal path along which p holds, also while time passes.  A path is maximal
if it goes through infinitely many transitions, if time can pass for ever in its last state, or
if nothing more is possible there.  Paths that stop time (Zeno) count, as in UPPAAL.

Where p does not speak of clocks, the zone graph restricted to p is built by the kernel, with
equality of zones instead of inclusion (a cycle through an inclusion need not be one) and bounds
that keep bisimilar states apart (Tripakis 2009; Li 2009).  Otherwise see
:mod:`whence.explore.timed_liveness`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from whence.explore.goals import Alternative, negation
from whence.explore.kernels import tables as t
from whence.explore.search import Search
from whence.explore.symbolic import Constraint, Moment
from whence.explore.timed_liveness import check_timed_liveness
from whence.explore.traces import FaultInState, best_trace, goal_constraints
from whence.expr.evaluate import holds
from whence.expr.faults import EvaluationError
from whence.expr.tree import Deadlock, Expr
from whence.expr.types import ConstraintType
from whence.expr.walk import subexpressions
from whence.model.network import Query
from whence.model.trace import QueryResult, TimedTrace, Verdict
from whence.source import Diagnostic, UnsupportedError
from whence.zones.bounds import INFINITY

if TYPE_CHECKING:
    from whence.explore.check import Checker, Options, Watcher

__all__ = ["Lasso", "check_liveness", "find_lasso"]

_STUCK = Alternative((), 1)


@dataclass(frozen=True, slots=True)
class Lasso:
    """A path of node numbers, and what ends it; `loop_to` is a position in it for a lasso whose
    last node is the one at that position again."""

    nodes: tuple[int, ...]
    ordinals: tuple[int, ...]
    end: str
    loop_to: int | None = None


def _has_clocks(expr: Expr) -> bool:
    return any(isinstance(part.type, ConstraintType) for part in subexpressions(expr))


def check_liveness(
    checker: Checker, query: Query, options: Options, progress: Watcher
) -> QueryResult:
    """The verdict on an `E[]`, `A<>` or `-->` query."""
    assert query.predicate is not None
    for formula in (query.predicate, query.second):
        if formula is not None and any(isinstance(p, Deadlock) for p in subexpressions(formula)):
            raise UnsupportedError(
                Diagnostic(f"not supported: `deadlock` inside `{query.kind}`", formula.origin)
            )
    if query.kind == "E[]":
        start, along = None, query.predicate
    elif query.kind == "A<>":
        start, along = None, negation(query.predicate)
    else:
        assert query.second is not None
        start, along = query.predicate, negation(query.second)
    found_verdict: Verdict = "satisfied" if query.kind == "E[]" else "violated"
    other: Verdict = "violated" if query.kind == "E[]" else "satisfied"
    if _has_clocks(along) or (start is not None and _has_clocks(start)):
        return check_timed_liveness(
            checker, query, start, along, (found_verdict, other), options, progress
        )
    tables = checker.compiled.search_tables(
        [_STUCK],
        cover=t.COVER_EQUAL,
        keep_edges=True,
        drop_covered=False,
        stop=False,
        merge_bounds=True,
        within=along if start is None else None,
    )
    search = Search(checker.compiled, tables)
    outcome = search.run(options.budget, progress)
    if outcome.reason not in ("complete", "found"):
        return checker.settle(query, other, search, outcome, options)
    try:
        lasso = _search_lasso(checker, search, start, along)
    except FaultInState as fault:
        return checker.unanswerable(query, search, outcome, options, fault)
    if lasso is None:
        return checker.result(query, other, outcome)
    trace = None
    if options.trace != "none":
        trace = _trace(checker, lasso, options)
    return checker.result(query, found_verdict, outcome, trace)


def _search_lasso(
    checker: Checker, search: Search, start: Expr | None, along: Expr
) -> Lasso | None:
    count = search.node_count
    nodes = search.store.nodes[:count]
    edges = search.store.edges[: search.store.counts[t.COUNT_EDGES]]
    if start is None:
        # The search left out what violates `along`.
        inside = np.ones(count, bool)
        starts = np.zeros(count, bool)
        starts[:1] = True
    else:
        inside = _rows_where(checker, search, along)[nodes[:, t.NODE_ROW]]
        starts = inside & _rows_where(checker, search, start)[nodes[:, t.NODE_ROW]]
    stuck = nodes[:, t.NODE_MARK] == 1
    kept = inside[edges[:, 0]] & inside[edges[:, 1]]
    into = _shortest_paths(count, edges, np.array([True]), np.arange(count) == 0)
    within = _shortest_paths(count, edges, kept, starts)
    for node in np.flatnonzero(within.reached & inside):
        end = ""
        if stuck[node]:
            end = "deadlock"
        elif _diverges(checker, search, int(node)):
            end = "divergence"
        if end:
            path = _joined(into, within, int(node))
            return Lasso(path[0], path[1], end)
    return find_lasso(count, edges, kept, into, within)


def _rows_where(checker: Checker, search: Search, formula: Expr) -> npt.NDArray[np.bool_]:
    """In which discrete states a formula without clocks holds."""
    rows = search.store.rows[: search.store.counts[t.COUNT_ROWS]]
    processes = len(checker.network.processes)
    found = np.zeros(len(rows), bool)
    for number, row in enumerate(rows.tolist()):
        store = checker.interpreter.store(row[:processes], row[processes:])
        try:
            found[number] = holds(formula, store)
        except EvaluationError as error:
            nodes = search.store.nodes[: search.node_count, t.NODE_ROW]
            raise FaultInState(int(np.flatnonzero(nodes == number)[0]), error) from None
    return found


def _diverges(checker: Checker, search: Search, node: int) -> bool:
    """Whether time can pass for ever in a node."""
    zone = search.zone_of(node) if search.search_tables.clocks > 1 else None
    if zone is not None and (zone[1:, 0] != INFINITY).any():
        return False
    row = search.row_of(node).tolist()
    processes = len(checker.network.processes)
    return checker.interpreter.may_delay(row[:processes], row[processes:])


@dataclass(frozen=True)
class _Paths:
    """A breadth-first forest: each reached node's predecessor (-1 for a root) and ordinal."""

    reached: npt.NDArray[np.bool_]
    parent: npt.NDArray[np.int64]
    ordinal: npt.NDArray[np.int64]

    def to(self, node: int) -> tuple[list[int], list[int]]:
        nodes, ordinals = [node], []
        while self.parent[node] >= 0:
            ordinals.append(int(self.ordinal[node]))
            node = int(self.parent[node])
            nodes.append(node)
        return nodes[::-1], ordinals[::-1]


def _shortest_paths(
    count: int,
    edges: npt.NDArray[np.int32],
    kept: npt.NDArray[np.bool_],
    roots: npt.NDArray[np.bool_],
) -> _Paths:
    successors = _Successors(count, edges, np.broadcast_to(kept, len(edges)))
    reached = roots.copy()
    parent = np.full(count, -1, np.int64)
    ordinal = np.full(count, -1, np.int64)
    waiting = np.flatnonzero(roots).tolist()
    for node in waiting:  # grows while we go through it
        for target, number in successors(node):
            if not reached[target]:
                reached[target] = True
                parent[target] = node
                ordinal[target] = number
                waiting.append(target)
    return _Paths(reached, parent, ordinal)


class _Successors:
    """node -> (target, ordinal) of its kept edges, in order."""

    def __init__(
        self, count: int, edges: npt.NDArray[np.int32], kept: npt.NDArray[np.bool_]
    ) -> None:
        rows = np.flatnonzero(kept)
        order = rows[np.argsort(edges[rows, 0], kind="stable")]
        self._targets = edges[order, 1].tolist()
        self._ordinals = edges[order, 2].tolist()
        sizes = np.bincount(edges[order, 0], minlength=count)
        self._start = np.concatenate([[0], np.cumsum(sizes)]).tolist()

    def __call__(self, node: int) -> Iterator[tuple[int, int]]:
        first, end = self._start[node], self._start[node + 1]
        return zip(self._targets[first:end], self._ordinals[first:end], strict=True)


def _joined(into: _Paths, within: _Paths, node: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """From the initial node to where the infinite part may begin, and on to `node`."""
    nodes, ordinals = within.to(node)
    before, first = into.to(nodes[0])
    return (*before, *nodes[1:]), (*first, *ordinals)


def find_lasso(
    count: int,
    edges: npt.NDArray[np.int32],
    kept: npt.NDArray[np.bool_],
    into: _Paths,
    within: _Paths,
) -> Lasso | None:
    """A cycle of kept edges that can be reached, if there is one.

    Nodes without successors are peeled off until only nodes are left that have one: whoever
    walks on from there comes back to a node sooner or later.
    """
    rows = np.flatnonzero(kept & within.reached[edges[:, 0]] & within.reached[edges[:, 1]])
    degree = np.bincount(edges[rows, 0], minlength=count)
    backwards = np.argsort(edges[rows, 1], kind="stable")
    sources = edges[rows[backwards], 0].tolist()
    start = np.concatenate([[0], np.cumsum(np.bincount(edges[rows, 1], minlength=count))]).tolist()
    left = within.reached.copy()
    waiting = np.flatnonzero(left & (degree == 0)).tolist()
    degrees = degree.tolist()
    while waiting:
        node = waiting.pop()
        left[node] = False
        for source in sources[start[node] : start[node + 1]]:
            degrees[source] -= 1
            if degrees[source] == 0:
                waiting.append(source)
    if not left.any():
        return None
    inner = np.zeros(len(edges), bool)
    inner[rows] = left[edges[rows, 0]] & left[edges[rows, 1]]
    successors = _Successors(count, edges, inner)
    node = int(np.flatnonzero(left)[0])
    walked: list[int] = []
    ordinals: list[int] = []
    seen: dict[int, int] = {}
    while node not in seen:
        seen[node] = len(walked)
        walked.append(node)
        target, ordinal = next(iter(successors(node)))
        ordinals.append(ordinal)
        node = target
    before, first = _joined(into, within, walked[0])
    return Lasso(
        nodes=(*before, *walked[1:], node),
        ordinals=(*first, *ordinals),
        end="lasso",
        loop_to=len(before) - 1 + seen[node],
    )


def _trace(checker: Checker, lasso: Lasso, options: Options) -> TimedTrace | None:
    def at_end(moment: Moment) -> Iterator[tuple[Constraint, ...]]:
        if lasso.end == "deadlock":
            yield from goal_constraints(checker.interpreter, [_STUCK], moment)
        else:
            yield ()

    return best_trace(
        checker.interpreter,
        lasso.ordinals,
        at_end,
        options.realization,
        lasso.end,  # type: ignore[arg-type]
        lasso.loop_to,
    )
