"""Charts as networks, explored by the kernels, against an interpreter that executes them."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, event, given, settings
from tests.explore.chart_strategies import charts
from tests.reference.charts import Ambiguous, Broken, Label, Reference, State, TooLarge

from whence.explore.charts import LoweredChart, lower
from whence.explore.check import explore_all
from whence.explore.kernels import tables as t
from whence.explore.search import Search
from whence.explore.systems import transition_system
from whence.model.chart import Chart
from whence.source import InputError

LIMIT = 400
EXAMPLES = max(180, settings().max_examples * 3)


def decoded(reference: Reference, lowered: LoweredChart, search: Search) -> list[State]:
    """The states of the network as the reference has them."""
    layout, processes = search.compiled.layout, lowered.network.processes
    address = {(s.scope, s.name): a for s, a in layout.address.items()}
    signals = [signal.name for signal in reference.chart.signals]
    states = []
    for row in search.store.rows[: search.node_count].tolist():
        data = row[len(processes) :]
        at = tuple(
            (process.name, process.locations[place].ident)
            for process, place in zip(processes, row, strict=False)
        )
        values = tuple((key, data[address[key]]) for key in reference.variables)
        queues = []
        for machine in reference.chart.machines:
            start = address.get((machine.name, "(queue)"))
            cells = [] if start is None else data[start : start + machine.capacity]
            messages = tuple(signals[cell - 1] for cell in cells if cell)
            assert not any(cells[len(messages) :]), "free cells hold nothing"
            queues.append((machine.name, messages))
        states.append(State(at, values, tuple(queues)))
    return states


def labels(lowered: LoweredChart) -> list[Label]:
    found: list[Label] = []
    for action in lowered.actions:
        name = action.name.removeprefix(f"{action.component}.")
        found.append((action.component, None if action.silent else name))
    return found


def compare(chart: Chart) -> None:
    reference = Reference(chart)
    try:
        first, steps, known = reference.explore(LIMIT)
    except TooLarge:
        event("too large")
        assume(False)
    except Ambiguous:
        event("no single start")
        with pytest.raises(InputError):
            lower(chart)
        return
    except Broken:
        event("leaves a range")
        with pytest.raises(InputError, match="goes wrong"):
            transition_system(chart)
        return
    event(f"{2 ** (len(known).bit_length() - 1)} states or more")
    lowered = lower(chart)
    search, outcome = explore_all(lowered.network)
    assert outcome.reason == "complete"
    states = decoded(reference, lowered, search)
    assert len(set(states)) == len(states)
    assert set(states) == known
    assert states[0] == first
    system = transition_system(lowered)
    assert system.complete
    assert system.initial == (0,)
    called = labels(lowered)
    found = {
        (states[source], called[action], states[target])
        for source, action, target in zip(system.source, system.action, system.target, strict=True)
    }
    assert found == steps
    edges = search.store.edges[: search.store.counts[t.COUNT_EDGES]]
    assert np.array_equal(system.source, edges[:, t.KEPT_SOURCE])


@given(charts())
@settings(max_examples=EXAMPLES)
def test_charts(chart: Chart) -> None:
    compare(chart)


@given(charts())
@settings(max_examples=EXAMPLES // 10)
def test_up_to_a_depth(chart: Chart) -> None:
    """A part is what the whole says of it."""
    try:
        whole = transition_system(chart)
    except InputError:
        assume(False)
    assume(whole.states < LIMIT)
    depths = {0: 0}
    for source, target in zip(whole.source.tolist(), whole.target.tolist(), strict=True):
        depths.setdefault(target, depths[source] + 1)  # the order is that of the depths
    deepest = max(depths.values())
    for depth in {0, 1, deepest // 2, deepest, deepest + 1}:
        part = transition_system(chart, depth=depth)
        inside = [d for d in depths.values() if d <= depth]
        assert part.states == len(inside)
        assert part.complete == (depth > deepest)
        assert part.explored_depth == (None if part.complete else depth)
        kept = np.array([depths[s] < depth for s in whole.source.tolist()], bool)
        assert Counter(
            zip(part.source.tolist(), part.action.tolist(), part.target.tolist(), strict=True)
        ) == Counter(
            zip(
                *(a[kept].tolist() for a in (whole.source, whole.action, whole.target)), strict=True
            )
        )
