"""Queries and their verdicts: which search answers which question.

`E<> p` looks for a state in which p holds; `A[] p` is its dual.  Both end at the first hit and
come with a timed diagnostic trace.  For paths that never end (`E[]`, `A<>`, `-->`) see
:mod:`whence.explore.liveness`, for `sup` and `inf` :mod:`whence.explore.suprema`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from whence.explore.compile import Compiled, compile_network
from whence.explore.goals import Alternative, alternatives, negation
from whence.explore.kernels import tables as t
from whence.explore.realize import Realization
from whence.explore.search import REASONS, Budget, Outcome, Progress, Search
from whence.explore.symbolic import SymbolicInterpreter
from whence.explore.traces import FaultInState, trace_of_fault, trace_of_goal
from whence.expr.faults import EvaluationError
from whence.model.network import Network, Query
from whence.model.trace import QueryResult, TimedTrace, Verdict
from whence.source import Diagnostic, InputError

__all__ = ["Checker", "Options", "check", "explore_all"]

Watcher = Callable[[Progress], None] | None


@dataclass(frozen=True, slots=True)
class Options:
    """`trace`: `none`, any one, one with the fewest transitions, or one that is there first."""

    trace: Literal["none", "some", "shortest", "fastest"] = "some"
    realization: Realization = "earliest"
    order: Literal["breadth", "depth"] = "breadth"
    budget: Budget = field(default_factory=Budget)


_ORDERS = {"breadth": t.ORDER_BREADTH, "depth": t.ORDER_DEPTH}


def peak_bytes() -> int:
    """The most memory this process ever had, as the system tells; 0 where it does not."""
    if sys.platform == "win32":
        return 0  # not told there
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak) if sys.platform == "darwin" else int(peak) * 1024


class Checker:
    """Answers queries about one network, which it compiles once."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.compiled: Compiled = compile_network(network)
        self._interpreter: SymbolicInterpreter | None = None

    @property
    def interpreter(self) -> SymbolicInterpreter:
        if self._interpreter is None:
            self._interpreter = SymbolicInterpreter(self.compiled)
        return self._interpreter

    def check(
        self, query: Query, options: Options | None = None, progress: Watcher = None
    ) -> QueryResult:
        """The verdict on one query, with a trace where one can be given."""
        from whence.explore.liveness import check_liveness
        from whence.explore.suprema import check_suprema

        options = options or Options()
        self._require_initial()
        match query.kind:
            case "E<>" | "A[]":
                return self._reach(query, options, progress)
            case "sup" | "inf":
                return check_suprema(self, query, options, progress)
        return check_liveness(self, query, options, progress)

    def _require_initial(self) -> None:
        """The initial state must exist: its invariants must hold with all clocks at 0."""
        try:
            exists = self.interpreter.initial() is not None
        except EvaluationError:
            return  # the search will meet it, too, and report it as an error of the model
        if not exists:
            raise InputError(
                Diagnostic(
                    "the initial state violates an invariant",
                    self.network.origin,
                    hint="check the invariants of the initial locations for all clocks at 0",
                )
            )

    def _reach(self, query: Query, options: Options, progress: Watcher) -> QueryResult:
        assert query.predicate is not None
        exists = query.kind == "E<>"
        goals = alternatives(query.predicate if exists else negation(query.predicate))
        search, outcome = self.search(goals, options, progress)
        hit: Verdict = "satisfied" if exists else "violated"
        miss: Verdict = "violated" if exists else "satisfied"
        if outcome.reason == "found":
            trace = None
            if options.trace != "none":
                trace = self._trace(search, outcome, goals, options, progress)
            return self.result(query, hit, outcome, trace)
        return self.settle(query, miss, search, outcome, options)

    def search(
        self, goals: Sequence[Alternative], options: Options, progress: Watcher
    ) -> tuple[Search, Outcome]:
        """Looks for any of `goals`; without goals (`A[] true`) it goes through all states, which
        still finds what the model does wrong."""
        shortest = options.trace == "shortest"
        tables = self.compiled.search_tables(
            goals,
            order=t.ORDER_BREADTH if shortest else _ORDERS[options.order],
            drop_covered=not shortest,
        )
        search = Search(self.compiled, tables)
        return search, search.run(options.budget, progress)

    def _trace(
        self,
        search: Search,
        outcome: Outcome,
        goals: Sequence[Alternative],
        options: Options,
        progress: Watcher,
    ) -> TimedTrace:
        if options.trace == "fastest":
            timed = Search(
                self.compiled,
                self.compiled.search_tables(goals, order=t.ORDER_TIME, time_clock=True),
            )
            soonest = timed.run(options.budget, progress)
            # Out of budget, the best found so far is no promise: keep what we have then.
            if soonest.reason == "found":
                search, outcome = timed, soonest
        return trace_of_goal(self.interpreter, search, outcome.found, goals, options.realization)

    # ---------------------------------------------------------------------------------- results

    def settle(
        self,
        query: Query,
        complete: Verdict,
        search: Search,
        outcome: Outcome,
        options: Options,
    ) -> QueryResult:
        """The result of a search that found nothing: `complete` if it saw everything."""
        if outcome.reason == "complete":
            return self.result(query, complete, outcome)
        if outcome.reason == "fault":
            trace = None
            if options.trace != "none":
                trace = trace_of_fault(self.interpreter, search, outcome, options.realization)
            place = str(outcome.fault_origin)
            text = outcome.fault.text
            reason = f"{place}: {text}" if place else text
            return self.result(query, "error", outcome, trace, reason)
        return self.result(query, "unknown", outcome, reason=REASONS[outcome.reason])

    def unanswerable(
        self,
        query: Query,
        search: Search,
        outcome: Outcome,
        options: Options,
        fault: FaultInState,
    ) -> QueryResult:
        """The result where asking the query in a state of a search goes wrong."""
        failed = replace(
            outcome,
            reason="fault",
            fault=fault.error.fault,
            fault_origin=fault.error.origin,
            fault_node=fault.node,
            fault_ordinal=-1,
        )
        return self.settle(query, "unknown", search, failed, options)

    @staticmethod
    def result(
        query: Query,
        verdict: Verdict,
        outcome: Outcome,
        trace: TimedTrace | None = None,
        reason: str = "",
    ) -> QueryResult:
        return QueryResult(
            query=query.text,
            verdict=verdict,
            states=outcome.states,
            transitions=outcome.transitions,
            seconds=outcome.seconds,
            trace=trace,
            reason=reason,
            stored=outcome.stored,
            peak_bytes=peak_bytes(),
        )


def check(
    network: Network, query: Query, options: Options | None = None, progress: Watcher = None
) -> QueryResult:
    """The verdict on one query of a network. For several queries, make one :class:`Checker`."""
    return Checker(network).check(query, options, progress)


def explore_all(
    network: Network, budget: Budget | None = None, progress: Watcher = None
) -> tuple[Search, Outcome]:
    """All symbolic states of a network, with the transitions between them."""
    compiled = compile_network(network)
    search = Search(compiled, compiled.search_tables(keep_edges=True))
    return search, search.run(budget, progress)
