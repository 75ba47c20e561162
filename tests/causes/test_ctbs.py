"""CTBS and what it is compared with, against the definition of the causal trace set."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.causes.strategies import incomplete, reference_system, systems, transition_system
from tests.reference.causes import (
    System,
    causal_trace_set,
    is_bad_trace,
    is_good_trace,
    simple_bad_traces,
    subtraces,
)

from whence.causes import ctbs
from whence.causes.ctbs import causal_trace_backward_search
from whence.causes.dspm import duplicate_state_prefix_matching, ignore_duplicates
from whence.causes.exploration import Exploration, ExplorationOrder, Trace
from whence.causes.silent import without_silent
from whence.model.transitions import TransitionSystem
from whence.source import UsageError

orders = st.sampled_from(["bfs", "dfs"])

#: Figure 5.2(a), as far as the text of section 5.1 tells it: its traces are abc, abac, bac, baac,
#: deac and deaac, and c leads from s2 and s5 into bad states.
FIGURE_5_2 = (
    ("s0", "a", "s1"),
    ("s1", "b", "s2"),
    ("s2", "c", "f1"),
    ("s2", "a", "s5"),
    ("s5", "c", "f2"),
    ("s0", "b", "s3"),
    ("s3", "a", "s2"),
    ("s0", "d", "s4"),
    ("s4", "e", "s3"),
)


def figure_5_2(d_first: bool = False) -> TransitionSystem:
    edges = sorted(FIGURE_5_2, key=lambda edge: edge[1] != "d") if d_first else FIGURE_5_2
    return TransitionSystem.from_edges(edges, "s0", bad=("f1", "f2"))


def words(*texts: str) -> frozenset[Trace]:
    return frozenset(tuple(text) for text in texts)


# ---------------------------------------------------------------------------------- the example


@pytest.mark.parametrize("order", ["bfs", "dfs"])
@pytest.mark.parametrize("d_first", [False, True])
def test_causal_traces_of_figure_5_2(order: ExplorationOrder, d_first: bool) -> None:
    found = causal_trace_backward_search(figure_5_2(d_first), order=order)
    assert found.traces == words("abc", "bac", "deac")
    assert found.complete


def test_dspm_depends_on_the_order_of_exploration() -> None:
    found = duplicate_state_prefix_matching(figure_5_2())
    assert found.traces == words("abc", "bac", "deac")
    # "DSPM would in this situation disregard … <d, e, a, c>": it comes upon <d, e> before <b, a>.
    missed = duplicate_state_prefix_matching(figure_5_2(d_first=True))
    assert missed.traces == words("abc", "bac")
    assert not missed.complete
    modified = duplicate_state_prefix_matching(figure_5_2(d_first=True), modified=True)
    assert modified.traces == words("abc", "bac", "deac")
    assert modified.complete


def test_ignoring_duplicates_finds_one_way_to_each_state() -> None:
    assert ignore_duplicates(figure_5_2()).traces == words("abc")


# ---------------------------------------------------------------------- against the definition


@given(systems(silent=True, several_initial=True), orders)
def test_ctbs_finds_the_causal_trace_set(system: System, order: ExplorationOrder) -> None:
    found = causal_trace_backward_search(transition_system(system), order=order)
    assert found.traces == causal_trace_set(system)
    assert found.complete


@given(systems(silent=True), st.integers(0, 6))
def test_ctbs_up_to_a_depth(system: System, depth: int) -> None:
    found = causal_trace_backward_search(transition_system(system), depth=depth)
    expected = causal_trace_set(system)
    if found.complete:
        assert found.traces == expected
    else:
        assert found.depth == depth
        assert found.traces == {trace for trace in expected if len(trace) <= depth}


@given(systems(silent=True), st.integers(0, 5))
def test_ctbs_on_what_was_explored_of_a_system(system: System, depth: int) -> None:
    part = incomplete(transition_system(system), depth)
    found = causal_trace_backward_search(part)
    expected = causal_trace_set(system)
    if found.complete:
        assert found.traces == expected == {()}
    elif found.depth is None:  # it is unknown where the initial state leads silently
        assert all(is_bad_trace(system, trace) for trace in found.traces)
    else:
        assert found.traces == {trace for trace in expected if len(trace) <= found.depth}


@given(systems(), st.integers(0, 8))
def test_ctbs_stopped_at_any_time(system: System, steps: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        asked = iter(range(steps))
        patch.setattr(ctbs, "_CHECK_EVERY", 1)
        patch.setattr(ctbs._Tree, "_late", lambda tree: next(asked, None) is None)
        found = causal_trace_backward_search(transition_system(system), seconds=1)
    expected = causal_trace_set(system)
    if not found.complete:
        assert found.depth is not None
        expected = {trace for trace in expected if len(trace) <= found.depth}
    assert found.traces == expected


@given(systems(several_initial=True), orders)
@example(
    System(
        4,
        ((0, "c", 1), (1, "a", 2), (2, "b", 3), (1, "b", 3)),
        frozenset({0}),
        frozenset({3}),
    ),
    "dfs",
)
def test_the_tree_keeps_to_its_rules(system: System, order: ExplorationOrder) -> None:
    """Both rules alone make the result minimal; together they keep the tree small."""
    exploration = Exploration(transition_system(system), order)
    if system.initial & system.bad:
        return
    tree = ctbs._Tree(exploration, None, None)
    for execution in exploration.executions():
        assert tree.add_execution(execution)
    causal = [vertex.sequence for vertex in tree.causal if vertex.states & exploration.initial]
    for vertices in tree.vertices.values():
        sequences = [vertex.sequence for vertex in vertices]
        for sequence in sequences:
            shorter = subtraces(tuple(sequence)) - {tuple(sequence)}
            assert not shorter & {tuple(other) for other in sequences}  # PR2
            assert not shorter & {tuple(trace) for trace in causal}  # PR1


def test_a_shorter_trace_from_another_initial_state() -> None:
    """Depth first, <b, a> is found before <a>, which begins elsewhere."""
    edges = [(0, "b", 2), (2, "a", 3), (1, "a", 3)]
    model = TransitionSystem.from_edges(edges, 0, bad=(3,))
    numbers = {0: 0, 2: 1, 3: 2, 1: 3}
    model = replace(model, initial=(numbers[0], numbers[1]))
    for order in ("bfs", "dfs"):
        assert causal_trace_backward_search(model, order=order).traces == words("a")


def test_traces_can_be_longer_than_the_exploration_is_deep() -> None:
    edges = [(0, "a", 1), (1, "b", "x"), (0, "c", 2), (2, "d", 1)]
    model = TransitionSystem.from_edges(edges, 0, bad=("x",))
    found = causal_trace_backward_search(model, depth=2)
    assert (found.traces, found.complete, found.depth) == (words("ab"), False, 2)
    found = causal_trace_backward_search(model, depth=3)
    assert (found.traces, found.complete) == (words("ab", "cdb"), True)


@given(systems(silent=True, several_initial=True), orders)
def test_what_ctbs_is_compared_with_finds_bad_traces(
    system: System, order: ExplorationOrder
) -> None:
    model = transition_system(system)
    for found in (
        ignore_duplicates(model, order=order),
        duplicate_state_prefix_matching(model, order=order),
    ):
        assert all(is_bad_trace(system, trace) for trace in found.traces)
        for trace in found.traces:
            assert not (subtraces(trace) - {trace}) & found.traces


@given(systems(largest=6, silent=True, several_initial=True), orders)
def test_modified_dspm_finds_the_causal_trace_set(system: System, order: ExplorationOrder) -> None:
    model = transition_system(system)
    found = duplicate_state_prefix_matching(model, order=order, modified=True)
    assert found.traces == causal_trace_set(system)
    assert found.complete


# ---------------------------------------------------------------------------------- silent actions


@given(systems(silent=True, several_initial=True), st.data())
def test_silent_actions_are_eliminated(system: System, data: st.DataObject) -> None:
    """The traces stay what they are, good and bad ones."""
    eliminated = without_silent(transition_system(system))
    found = reference_system(eliminated)
    assert not any(action is None for _, action, _ in found.edges)
    traces = sorted(simple_bad_traces(system) | simple_bad_traces(found))
    traces += data.draw(
        st.lists(st.lists(st.sampled_from("abcd"), max_size=4).map(tuple), max_size=5)
    )
    for trace in traces:
        assert is_bad_trace(found, trace) == is_bad_trace(system, trace)
        assert is_good_trace(found, trace) == is_good_trace(system, trace)


def silent_system(*edges: tuple[int, str | None, int], bad: int) -> TransitionSystem:
    states = max(max(s, t) for s, _, t in edges) + 1
    return transition_system(System(states, edges, frozenset({0}), frozenset({bad})))


def test_nothing_is_explored_beyond_a_bad_state_silently() -> None:
    model = silent_system((0, None, 1), (1, None, 2), (2, "a", 3), bad=1)
    found = without_silent(model)
    assert found.initial == (0, 1)
    assert found.transitions == 0


def test_what_an_unexplored_state_reaches_silently_is_unknown() -> None:
    model = incomplete(silent_system((0, "a", 1), (1, None, 2), bad=2), 1)
    found = causal_trace_backward_search(model)
    assert (found.traces, found.complete, found.depth) == (frozenset(), False, 0)


def test_a_long_silent_way_is_no_problem() -> None:
    edges = [(state, "tau", state + 1) for state in range(100_000)]
    model = TransitionSystem.from_edges([*edges, (100_000, "a", "x")], 0, bad=("x",))
    model = replace(model, actions=(replace(model.actions[0], silent=True), model.actions[1]))
    assert causal_trace_backward_search(model).traces == words("a")


# ---------------------------------------------------------------------------------- odd ends


def test_a_hazard_from_the_start_has_the_empty_trace() -> None:
    model = TransitionSystem.from_edges([(0, "a", 1)], 0, bad=(0, 1))
    for found in (
        causal_trace_backward_search(model),
        duplicate_state_prefix_matching(model),
        ignore_duplicates(model),
    ):
        assert found.traces == {()}


def test_without_bad_states_there_are_no_causal_traces() -> None:
    model = TransitionSystem.from_edges([(0, "a", 1), (1, "b", 0)], 0)
    assert causal_trace_backward_search(model).traces == frozenset()
    assert duplicate_state_prefix_matching(model).traces == frozenset()


def test_a_depth_is_for_breadth_first_only() -> None:
    with pytest.raises(UsageError, match="breadth-first"):
        causal_trace_backward_search(figure_5_2(), order="dfs", depth=3)
    with pytest.raises(UsageError, match="depth is -1"):
        causal_trace_backward_search(figure_5_2(), depth=-1)


def test_long_traces_need_no_recursion() -> None:
    edges = [(state, "ab"[state % 2], state + 1) for state in range(3_000)]
    model = TransitionSystem.from_edges(edges, 0, bad=(3_000,))
    (trace,) = causal_trace_backward_search(model).traces
    assert len(trace) == 3_000


def test_a_system_made_of_nothing() -> None:
    nothing = np.zeros(0, np.int32)
    model = TransitionSystem(
        states=1, actions=(), source=nothing, action=nothing, target=nothing, initial=(0,)
    )
    assert causal_trace_backward_search(model).complete
