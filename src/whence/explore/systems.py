"""Transition systems (Koelbl, Definition 1) of charts and networks, explored by the kernels.

States are numbered as breadth-first search finds them, so that what is known of a part is clear:
if not everything was explored, all states up to some depth were.  Everything here goes through
arrays as wholes, as systems with many millions of states are meant.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from whence.explore.bounds import atoms_of
from whence.explore.charts import LoweredChart, lower
from whence.explore.check import Checker
from whence.explore.compile import Compiled, compile_network
from whence.explore.goals import Alternative, alternatives
from whence.explore.kernels import tables as t
from whence.explore.kernels import vm
from whence.explore.kernels.expand import NO_ROOM
from whence.explore.kernels.marks import mark
from whence.explore.labels import Labels, label_of
from whence.explore.search import REASONS, Budget, Outcome, Progress, Search
from whence.expr.faults import Fault
from whence.expr.tree import Expr
from whence.model.chart import Chart
from whence.model.trace import EdgeUse, Transition
from whence.model.transitions import Action, TransitionSystem
from whence.source import NOWHERE, Diagnostic, InputError, SourceText, UnsupportedError

__all__ = ["transition_system", "untimed_system"]

Ints = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]
Marks = npt.NDArray[np.bool_]
N = TypeVar("N", bound=np.generic)
Watcher = Callable[[Progress], None] | None

#: How many transitions or states are looked at in one go: numpy makes copies of that size.
_CHUNK = 1 << 22


def transition_system(
    chart: Chart | LoweredChart,
    formulas: Mapping[str, SourceText] | None = None,
    *,
    depth: int | None = None,
    budget: Budget | None = None,
    progress: Watcher = None,
) -> TransitionSystem:
    """The reachable states of a chart, and its transitions between them, sorted by their source.

    Propositions are the `formulas`, by default the chart's hazards that are conditions on states.
    With a `depth`, states from which no path of at most so many transitions comes are left out.
    Rates are in the chart's unit of time.  Raises InputError where the chart is wrong, or does
    something wrong while it runs.
    """
    lowered = lower(chart) if isinstance(chart, Chart) else chart
    if formulas is None:
        formulas = {h.name: h.text for h in lowered.chart.hazards if not h.temporal}
    checked = {name: lowered.formula(text) for name, text in formulas.items()}
    compiled = compile_network(lowered.network)
    explored = _explore(compiled, checked, t.COVER_EQUAL, depth, budget, progress)
    explored.forget_states()
    labels = [lowered.labels[i.process][i.edge] for i in compiled.instances]
    system = explored.system(
        lowered.actions, np.array([label.action for label in labels], np.int32)
    )
    if not any(label.rate is not None for label in labels):
        return replace(system, name=lowered.chart.name)
    rates = np.array([np.nan if x.rate is None else float(x.rate) for x in labels], np.float64)
    return replace(system, name=lowered.chart.name, rate=explored.by_edge(rates))


def untimed_system(
    checker: Checker,
    formulas: Mapping[str, Expr],
    *,
    labels: Labels = "transitions",
    depth: int | None = None,
    budget: Budget | None = None,
    progress: Watcher = None,
) -> TransitionSystem:
    """The zone graph of a network without its clocks (Koelbl, Definition 40): its words are
    exactly those of the network, as delays cannot be seen.

    Actions are named by the edges that are taken, or by channels; internal steps then are all
    `tau`, and silent.  A formula, which may speak of clocks, is true in a node if it is in some
    of the states that the node stands for, so that a word leads to a node where a formula is true
    just if some run with this word leads to a state where it is.  (The negation of a formula with
    clocks is another formula.)  Where a_LU is a simulation, zones that simulate each other are one
    node, else equal ones; see :mod:`whence.timing.admissible` for why that is exact for words.
    """
    compiled = checker.compiled
    watch = [a for f in formulas.values() for a in atoms_of(f, compiled.layout, compiled.ranges)]
    plain = compiled.search_tables(watch=watch).tables.settings
    exact = plain[t.SET_DIAGONALS] or plain[t.SET_PRIORITIES]
    cover = t.COVER_EQUAL if exact else t.COVER_MUTUAL
    explored = _explore(compiled, formulas, cover, depth, budget, progress)
    actions, of_class, classes = _network_actions(checker, explored, labels)
    system = explored.system(actions, of_class, classes)
    return replace(system, name=checker.network.name)


# ----------------------------------------------------------------------------------- exploration


@dataclass(slots=True)
class _Explored:
    """What a search found. `rows` are the discrete states of its nodes, `states` what these are;
    both are there only as long as they are wanted."""

    search: Search
    rows: Ints
    states: Ints
    count: int
    initial: tuple[int, ...]
    propositions: dict[str, Marks]
    complete: bool
    depth: int | None
    reason: str

    def forget_states(self) -> None:
        """Frees what transitions need not, before the arrays of the transition system are made."""
        store = self.search.store
        self.rows, self.states = np.empty(0, np.int32), np.empty((0, 0), np.int32)
        store.rows = np.empty((1, store.rows.shape[1]), np.int32)
        store.slots = np.zeros(2, np.int64)
        store.head = np.empty(1, np.int32)
        store.nodes = np.empty((1, t.NODE_COLUMNS), np.int32)
        store.zones = store.zones[:1].copy()

    @property
    def kept(self) -> Ints:
        store = self.search.store
        found: Ints = store.edges[: store.counts[t.COUNT_EDGES]]
        return found

    def by_edge(self, values: npt.NDArray[N]) -> npt.NDArray[N]:
        """What `values` has for the row of the acting edge, for each transition."""
        return _looked_up(values, self.kept[:, t.KEPT_EDGE])

    def system(
        self, actions: Sequence[Action], of_class: Ints, classes: Ints | None = None
    ) -> TransitionSystem:
        """`of_class` are the numbers of actions by class of transitions; the class is that in
        `classes`, or else the row of the acting edge."""
        kept = self.kept
        of = kept[:, t.KEPT_EDGE] if classes is None else classes
        return TransitionSystem(
            states=self.count,
            actions=tuple(actions),
            source=kept[:, t.KEPT_SOURCE].copy(),
            action=_looked_up(of_class, of),
            target=kept[:, t.KEPT_TARGET].copy(),
            initial=self.initial,
            propositions=MappingProxyType(self.propositions),
            complete=self.complete,
            explored_depth=self.depth,
            reason=self.reason,
        )


def _looked_up(values: npt.NDArray[N], at: Ints) -> npt.NDArray[N]:
    found: npt.NDArray[N] = np.empty(len(at), values.dtype)
    for start in range(0, len(at), _CHUNK):
        found[start : start + _CHUNK] = values[at[start : start + _CHUNK]]
    return found


def _explore(
    compiled: Compiled,
    formulas: Mapping[str, Expr],
    cover: int,
    depth: int | None,
    budget: Budget | None,
    progress: Watcher,
) -> _Explored:
    # All code has to be there before the tables, which hold it.
    goals = {name: _goal_rows(compiled, formula) for name, formula in formulas.items()}
    watch = [a for f in formulas.values() for a in atoms_of(f, compiled.layout, compiled.ranges)]
    tables = compiled.search_tables(cover=cover, keep_edges=True, drop_covered=False, watch=watch)
    search = Search(compiled, tables)
    outcome = _run(search, depth, budget or Budget(), progress)
    if outcome.reason == "fault":
        raise InputError(_fault(search, outcome.fault, outcome.fault_node, outcome))
    marks = {name: _marks(search, rows) for name, rows in goals.items()}
    nodes = search.store.nodes[: search.node_count]
    initial = np.flatnonzero(nodes[:, t.NODE_PARENT] < 0)
    complete = outcome.reason == "complete"
    explored = None if complete else _explored_depth(nodes, outcome.states)
    if complete:
        reason = ""
    elif depth is not None and explored == depth:
        reason = f"only the first {depth} steps were asked for"
    else:
        reason = REASONS[outcome.reason]
    return _Explored(
        search,
        nodes[:, t.NODE_ROW],
        search.store.rows,
        len(nodes),
        tuple(initial.tolist()),
        marks,
        complete,
        explored,
        reason,
    )


def _run(search: Search, depth: int | None, budget: Budget, progress: Watcher) -> Outcome:
    """Searches the whole, or layer by layer up to a depth."""
    if depth is None:
        return search.run(budget, progress)
    began = time.perf_counter()
    outcome = search.run(replace(budget, states=0), progress)
    expanded = 0
    for _ in range(depth):
        layer = search.node_count
        limit = layer if budget.states is None else min(layer, budget.states)
        seconds = budget.seconds
        if seconds is not None:
            seconds = max(0.0, seconds - (time.perf_counter() - began))
        outcome = search.run(replace(budget, states=limit, seconds=seconds), progress)
        if outcome.reason != "states" or limit < layer or layer == expanded:
            break
        expanded = layer
    if outcome.reason == "states" and outcome.states == search.node_count:
        # Nothing waits, which the search finds out when it asks for more.
        return search.run(replace(budget, states=outcome.states + 1), progress)
    return outcome


def _explored_depth(nodes: Ints, expanded: int) -> int:
    """The depth of the first state that was not expanded. States come in the order of their
    depths, and so do their parents."""
    parents = np.ascontiguousarray(nodes[:, t.NODE_PARENT])
    end = int(np.searchsorted(parents, 0))  # of the layer, and the start of the next one
    depth = 0
    while end <= expanded < len(parents):
        end = int(np.searchsorted(parents, end))
        depth += 1
    return depth


# ---------------------------------------------------------------------------------- propositions


def _goal_rows(compiled: Compiled, formula: Expr) -> Ints:
    rows = []
    for goal in alternatives(formula):
        if goal.deadlock:
            raise UnsupportedError(
                Diagnostic("not supported: `deadlock` in a condition on states", formula.origin)
            )
        rows.append([_program(compiled, goal), 0])
    return np.array(rows, np.int32).reshape(-1, t.GOAL_COLUMNS)


def _program(compiled: Compiled, goal: Alternative) -> int:
    return compiled.assembler.guard(goal.condition)


def _marks(search: Search, goals: Ints) -> Marks:
    """In which nodes one of the goals holds."""
    tables = search.search_tables.tables
    tables.goals = goals
    marks: Marks = np.zeros(search.node_count, np.bool_)
    for first in range(0, len(marks), _CHUNK):
        end = min(first + _CHUNK, len(marks))
        node = mark(tables, search.store, search.work, marks, first, end)
        if node >= 0:
            number = int(search.work.out[vm.RESULT])
            if number >= NO_ROOM:
                raise InputError("a clock bound left the range that zones can hold")
            origin = search.compiled.place_of(int(search.work.out[vm.FAULT_PC]))
            text = f"{Fault(number).text}, in a state that can be reached"
            raise InputError(Diagnostic(text, origin))
    tables.goals = np.empty((0, t.GOAL_COLUMNS), np.int32)
    return marks


def _fault(search: Search, fault: Fault, node: int, outcome: Outcome) -> Diagnostic:
    """What went wrong while the model ran, and after how many steps."""
    steps = 0
    while node > 0 and search.store.nodes[node, t.NODE_PARENT] >= 0:
        node = int(search.store.nodes[node, t.NODE_PARENT])
        steps += 1
    where = "in the first state" if steps == 0 else f"after {steps} step{'s' * (steps > 1)}"
    return Diagnostic(f"the model goes wrong {where}: {fault.text}", outcome.fault_origin)


# --------------------------------------------------------------------------------------- networks


def _network_actions(
    checker: Checker, explored: _Explored, labels: Labels
) -> tuple[tuple[Action, ...], Ints, Ints]:
    """(the actions, the action of each class of transitions, the class of each transition).

    A class is a pair of edges.  Where more edges take part, or the channel depends on the state,
    it is a discrete state with one of its possible transitions.
    """
    kept = explored.kept
    edges = checker.compiled.search_tables().tables.edges
    open_ = (kept[:, t.KEPT_PARTNER] == -2) & (labels == "transitions")
    open_ |= (edges[:, t.EDGE_DIRECTION] > 0)[kept[:, t.KEPT_EDGE]] & (
        edges[:, t.EDGE_CHANNEL] < 0
    )[kept[:, t.KEPT_EDGE]]
    pairs = kept[:, t.KEPT_EDGE].astype(np.int64) * (len(edges) + 2) + kept[:, t.KEPT_PARTNER] + 2
    keys, of_pairs = np.unique(pairs[~open_], return_inverse=True)
    transitions = [_pair(checker, *divmod(int(key), len(edges) + 2)) for key in keys]
    classes = np.empty(len(kept), np.int32)
    classes[~open_] = of_pairs.reshape(-1)
    places = explored.rows[kept[open_, t.KEPT_SOURCE]].astype(np.int64)
    most = int(kept[:, t.KEPT_ORDINAL].max(initial=0)) + 1
    states, of_states = np.unique(places * most + kept[open_, t.KEPT_ORDINAL], return_inverse=True)
    classes[open_] = of_states.reshape(-1) + len(transitions)
    transitions.extend(_possible(checker, explored, states, most))
    actions: dict[str, Action] = {}
    numbers: dict[str, int] = {}
    of_class = np.empty(len(transitions), np.int32)
    for place, transition in enumerate(transitions):
        name = label_of(checker.network, transition, labels)
        of_class[place] = numbers.setdefault(name, len(numbers))
        actions.setdefault(name, _action(checker, name, transition, labels))
    return tuple(actions.values()), of_class, classes


def _pair(checker: Checker, edge: int, partner: int) -> Transition:
    """The transition of two rows of edges; `partner` is one too many by 2."""
    compiled = checker.compiled
    channel = int(compiled.search_tables().tables.edges[edge, t.EDGE_CHANNEL])
    rows = [edge] if partner < 2 else [edge, partner - 2]
    uses = [compiled.instances[row] for row in rows]
    return Transition(
        "tau" if channel < 0 else compiled.layout.channels[channel].name,
        tuple(EdgeUse(use.process, use.edge, use.selects) for use in uses),
    )


def _possible(
    checker: Checker, explored: _Explored, states: npt.NDArray[np.int64], most: int
) -> list[Transition]:
    """The transitions of discrete states, which are given as state * `most` + ordinal."""
    processes = len(checker.network.processes)
    found: list[Transition] = []
    latest, candidates = -1, []
    for key in states.tolist():
        row, ordinal = divmod(key, most)
        if row != latest:
            state = explored.states[row].tolist()
            candidates = checker.interpreter.candidates(state[:processes], state[processes:])
            latest = row
        found.append(candidates[ordinal].transition)
    return found


def _action(checker: Checker, name: str, transition: Transition, labels: Labels) -> Action:
    processes = {use.process for use in transition.uses}
    first = transition.uses[0]
    process = checker.network.processes[first.process]
    edge = process.edges[first.edge]
    internal = edge.synchronisation is None
    # A channel has many edges; of an edge, one can say where it is and whose.
    one = labels == "transitions" and len(processes) == 1
    return Action(
        name=name,
        silent=internal and labels == "actions",
        component=process.name if one else "",
        origin=edge.origin if labels == "transitions" else NOWHERE,
    )
