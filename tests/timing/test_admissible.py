"""Untimed automata of networks, against the database of the thesis and against regions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference.languages import TooLarge, first_word
from tests.reference.networks import PRESETS, models, to_uppaal_xml
from tests.reference.regions import Reference
from tests.reference.regions import TooLarge as TooManyRegions

import whence
from whence.explore.check import Checker
from whence.explore.replay import replay
from whence.explore.search import Budget
from whence.expr.types import ArrayType, ChannelType
from whence.model.network import Network, Query
from whence.source import UnsupportedError
from whence.timing.admissible import (
    Comparison,
    Labels,
    LabelTable,
    Test,
    UntimedGraph,
    compare,
    untimed,
    witness_trace,
)

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "database_z2.xml"
LABELS: tuple[Labels, ...] = ("transitions", "actions")


def checker_of(text: str) -> Checker:
    return Checker(whence.load_text(text).network)


def changed(text: str, *pairs: tuple[str, str]) -> str:
    for old, new in pairs:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def compared(
    original: str, repaired: str, labels: Labels = "transitions", test: Test = "equal"
) -> Comparison:
    table = LabelTable()
    checkers = {"original": checker_of(original), "repaired": checker_of(repaired)}
    left, right = (untimed(checker, labels, table) for checker in checkers.values())
    assert left.complete
    assert right.complete
    found = compare(left, right, test)
    if found.transitions is not None:
        # What distinguishes is a run of the one network.
        assert found.only_in is not None
        assert found.word is not None
        assert len(found.transitions) == len(found.word)
        checker = checkers[found.only_in]
        trace = witness_trace(checker, found.transitions)
        assert trace is not None
        assert trace.transitions == found.transitions
        assert replay(checker.network, trace).ok
    return found


# ---------------------------------------------------------------------------------- models as text


def escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


def template(name: str, places: str, edges: str) -> str:
    """`places` has lines `name`, `name urgent` or `name invariant`, the initial one first; `edges`
    has lines `source target labels` with labels like `guard:x<=1`, `sync:a!` and `do:x=0`."""
    kinds = {"guard": "guard", "sync": "synchronisation", "do": "assignment", "select": "select"}
    lines = [f"<template><name>{name}</name>"]
    named = [line.split() for line in places.strip().splitlines()]
    for place, *rest in named:
        lines.append(f'<location id="{place}"><name>{place}</name>')
        if rest and rest != ["urgent"]:
            lines.append(f'<label kind="invariant">{escaped(rest[0])}</label>')
        lines.append("<urgent/></location>" if rest == ["urgent"] else "</location>")
    lines.append(f'<init ref="{named[0][0]}"/>')
    for source, target, *labels in (line.split() for line in edges.strip().splitlines()):
        lines.append(f'<transition><source ref="{source}"/><target ref="{target}"/>')
        for kind, content in (label.split(":", 1) for label in labels):
            lines.append(f'<label kind="{kinds[kind]}">{escaped(content)}</label>')
        lines.append("</transition>")
    return "\n".join([*lines, "</template>"])


def network_of(edges: str, declaration: str = "", invariant: str = "") -> str:
    """One process P with locations L0, L1 and L2; the invariant is that of L0."""
    process = template("P", f"L0 {invariant}\nL1\nL2", edges)
    return f"<nta><declaration>{declaration}</declaration>{process}<system>system P;</system></nta>"


CLIENT = template(
    "client",
    """
    initial
    reqCreate urgent
    reqSent
    serReceiving z<=2
    timeout urgent
    """,
    """
    initial reqCreate do:w=0
    reqCreate reqSent sync:req! do:x=0
    reqSent serReceiving sync:ser?
    serReceiving timeout guard:z==2
    timeout initial
    serReceiving initial guard:z>=1
    """,
)
DB = template(
    "db",
    """
    reqAwaiting
    reqReceived w<=2
    reqProcessing y<=1
    """,
    """
    reqAwaiting reqReceived sync:req?
    reqReceived reqProcessing guard:w>=1 do:y=0
    reqProcessing reqAwaiting guard:y>=1 sync:ser! do:z=0
    """,
)
#: The database with answers within 2 (Kölbl, figure 10.1), where the client comes back.
DATABASE = (
    f"<nta><declaration>clock x, y, z, w; chan req, ser;</declaration>{CLIENT}{DB}"
    "<system>system client, db;</system></nta>"
)


# ------------------------------------------------------------------------------------ the database

LESS_TIME = changed(DATABASE, ("z&lt;=2", "z&lt;=1"))

#: The shortest way to the timeout, which waits for z == 2.
TIMEOUT = (
    "tau: client.initial->reqCreate",
    "req: client.reqCreate->reqSent, db.reqAwaiting->reqReceived",
    "tau: db.reqReceived->reqProcessing",
    "ser: db.reqProcessing->reqAwaiting, client.reqSent->serReceiving",
    "tau: client.serReceiving->timeout",
)


def test_a_repair_that_loses_the_timeout() -> None:
    found = compared(DATABASE, LESS_TIME)
    assert found.admissible is False
    assert found.only_in == "original"
    assert found.word == TIMEOUT
    assert found.transitions is not None
    last = found.transitions[-1].uses[0]
    client = checker_of(DATABASE).network.processes[last.process]
    assert client.locations[client.edges[last.edge].target].name == "timeout"
    assert compared(DATABASE, LESS_TIME, test="nothing lost").word == TIMEOUT
    assert compared(DATABASE, LESS_TIME, test="nothing new") == Comparison(True, "nothing new")
    found = compared(LESS_TIME, DATABASE, test="nothing new")
    assert (found.admissible, found.word, found.only_in) == (False, TIMEOUT, "repaired")
    assert compared(LESS_TIME, DATABASE, test="nothing lost").admissible is True


def test_the_example() -> None:
    """Whether or not its client comes back."""
    text = EXAMPLE.read_text(encoding="utf-8")
    less_time = changed(text, ("z &lt;= 2", "z &lt;= 1"))
    assert compared(text, less_time).word == TIMEOUT
    assert compared(text, less_time, "actions").admissible is False
    assert compared(text, changed(text, ("w &lt;= 2", "w &lt;= 1"))).admissible is True


def test_the_timeout_by_actions() -> None:
    """Back from the timeout is one internal step more than back from the answer: the next
    request comes after three of them."""
    found = compared(DATABASE, LESS_TIME, "actions")
    assert found.word == ("tau", "req", "tau", "ser", "tau", "tau", "tau")
    assert found.only_in == "original"


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize(
    "changes",
    [
        [("w&lt;=2", "w&lt;=1")],
        [("y>=1", "y>=0"), ("y&lt;=1", "y&lt;=0")],
    ],
    ids=["w", "y"],
)
def test_admissible_repairs(changes: list[tuple[str, str]], labels: Labels) -> None:
    assert compared(DATABASE, changed(DATABASE, *changes), labels) == Comparison(True, "equal")


# ------------------------------------------------------------------------------- small networks


def test_clocks_are_not_merged_by_inclusion() -> None:
    """L1 is reached at once, or later with more clock values: what only the latter can do must
    not become a word of the former. (By inclusion, both would be one node.)"""
    model = network_of(
        """
        L0 L1 guard:x>=0 do:y=0
        L0 L1 guard:x<=0
        L1 L2 guard:x>=2&&y<=1
        """,
        "clock x, y;",
    )
    without = network_of(
        """
        L0 L1 guard:x>=0 do:y=0
        L0 L1 guard:x<=0
        L1 L2 guard:x>=2&&y<=1&&x-y>=1
        """,
        "clock x, y;",
    )
    assert compared(model, without).admissible is True
    # The second edge alone never leads on.
    graph = untimed(checker_of(model), "transitions", table := LabelTable())
    assert len(graph.automaton.edges[0]) == 2
    second = table.number("tau: P.L0->L1#1")
    onward = table.number("tau: P.L1->L2")
    assert graph.path((second,)) is not None
    assert graph.path((second, onward)) is None
    assert graph.path((table.number("tau: P.L0->L1#0"), onward)) is not None


def test_labels_tell_edges_and_selects_apart() -> None:
    model = network_of(
        """
        L0 L1 select:i:int[0,1] sync:c[i]!
        L0 L1 sync:b!
        L0 L1
        L0 L2
        """,
        "broadcast chan c[2], b, tau;",
    )
    checker = checker_of(model)
    texts = {}
    for labels in LABELS:
        table = LabelTable()
        untimed(checker, labels, table)
        texts[labels] = {table.text(n) for n in range(len(table))}
    assert texts["transitions"] == {
        "c[0]: P.L0->L1#0[i=0]",
        "c[1]: P.L0->L1#0[i=1]",
        "b: P.L0->L1#1",
        "tau: P.L0->L1#2",
        "tau: P.L0->L2",
    }
    assert texts["actions"] == {"c[0]", "c[1]", "b", "tau"}


def test_a_channel_with_the_name_of_internal_steps() -> None:
    channel = network_of("L0 L1 sync:tau!", "broadcast chan tau;")
    internal = network_of("L0 L1", "broadcast chan tau;")
    assert compared(channel, internal, "actions").admissible is False


def test_budgets_and_faults() -> None:
    table = LabelTable()
    whole = untimed(checker_of(DATABASE), "transitions", table)
    less = untimed(checker_of(LESS_TIME), "transitions", table)
    part = untimed(checker_of(DATABASE), "transitions", table, Budget(states=2))
    assert (part.complete, part.reason) == (False, "the budget of states is used up")
    found = compare(part, less)
    assert found.admissible is None
    assert found.reason == "original: the budget of states is used up"
    # Enough of it is there to see that something was lost.
    most = untimed(checker_of(DATABASE), "transitions", table, Budget(states=8))
    assert not most.complete
    assert compare(most, less).word == TIMEOUT
    # Enough of both, even.
    rest = untimed(checker_of(LESS_TIME), "transitions", table, Budget(states=7))
    assert not rest.complete
    assert compare(most, rest).word == TIMEOUT
    assert compare(part, rest).admissible is None
    assert compare(most, less, "nothing new").admissible is None
    found = compare(whole, less, budget=1)
    assert found.admissible is None
    assert "pairs of states" in found.reason
    wrong = network_of("L0 L1 do:v=v+2", "int[0,1] v;")
    graph = untimed(checker_of(wrong), "transitions", table)
    assert not graph.complete
    assert "range" in graph.reason


def test_graphs_that_cannot_be_compared() -> None:
    checker, table = checker_of(DATABASE), LabelTable()
    graph = untimed(checker, "transitions", table)
    for other in (
        untimed(checker, "actions", table),
        untimed(checker, "transitions", LabelTable()),
    ):
        with pytest.raises(ValueError, match="share a table"):
            compare(graph, other)


def test_an_initial_state_that_violates_an_invariant() -> None:
    """It has not even the empty word."""
    good = network_of("L0 L1", "clock x;")
    bad = network_of("L0 L1", "clock x;", invariant="x>=1")
    assert compared(good, bad).word == ()
    assert compared(bad, good, test="nothing lost").admissible is True


# ----------------------------------------------------------------------------- against regions


Uses = tuple[tuple[int, int, tuple[int, ...]], ...]
Labelled = tuple[list[int], list[list[tuple[Any, int]]]]


def region_automaton(
    network: Network, labels: Labels, limit: int, within: Query | None = None
) -> Labelled:
    """The graph of regions without delays; labels are the edges taken, or the channel's name.
    `within`: only of the states in which that predicate holds."""
    reference = Reference(network, limit)
    inside = reference.inside(within) if within is not None else None
    graph = reference.graph()
    if inside is None:
        inside = [True] * len(graph.states)
    steps = reference._steps
    edge_of: dict[int, tuple[int, int, tuple[int, ...]]] = {}
    for number, process in enumerate(network.processes):
        for source, ways in enumerate(steps.ways[number]):
            rest = iter(ways)
            for index, edge in enumerate(process.edges):
                if edge.source == source:
                    combinations = 1
                    for select in edge.selects:
                        combinations *= select.hi - select.lo + 1
                    for _ in range(combinations):
                        way = next(rest)
                        values = tuple(way.selects[select.symbol] for select in edge.selects)
                        edge_of[id(way)] = (number, index, values)
    taken: list[tuple[Any, Any]] = []
    after_of = steps._after

    def recording(state: Any, action: Any) -> Any:
        after = after_of(state, action)
        if after is not None:
            # Only the first of the ways may send.
            (channel,) = [number for way, number in steps._enabled(state) if way is action.ways[0]]
            taken.append((tuple(edge_of[id(way)] for way in action.ways), after, channel))
        return after

    steps._after = recording  # type: ignore[method-assign]
    names = channel_names(network)
    number_of = {state: number for number, state in enumerate(graph.states)}
    now: list[list[tuple[Any, int]]] = []
    for state in graph.states:
        taken.clear()
        steps.successors(state)
        now.append(
            [
                (uses if labels == "transitions" else names[channel], number_of[after])
                for uses, after, channel in taken
            ]
        )
    edges = []
    for state in range(len(graph.states)):
        later: list[int] = []
        while state >= 0 and state not in later and inside[state]:
            later.append(state)
            state = graph.delay[state]
        edges.append([pair for place in later for pair in now[place] if inside[pair[1]]])
    return [0] if inside[0] else [], edges


def channel_names(network: Network) -> dict[int | None, str]:
    found: dict[int | None, str] = {None: "tau"}
    for variable in network.variables:
        type_ = variable.symbol.type
        if isinstance(type_, ChannelType):
            found[len(found) - 1] = variable.symbol.name
        elif isinstance(type_, ArrayType) and isinstance(type_.element, ChannelType):
            for index in range(type_.length):
                found[len(found) - 1] = f"{variable.symbol.name}[{index}]"
    return found


def numbered(*automata: Labelled) -> list[Any]:
    """The same with numbers for labels."""
    known: dict[Any, int] = {}
    return [
        (
            initial,
            [[(known.setdefault(label, len(known)), to) for label, to in e] for e in edges],
        )
        for initial, edges in automata
    ]


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("preset", ["everything", "clocks", "synchronisation", "priorities"])
@settings(max_examples=max(25, settings().max_examples // 4))
@given(data=st.data())
def test_against_regions(preset: str, labels: Labels, data: st.DataObject) -> None:
    """The language is that of the graph of regions, neither more nor less."""
    model = data.draw(models(PRESETS[preset], most_queries=1))
    checker = checker_of(to_uppaal_xml(model.network, ()))
    try:
        regions = region_automaton(model.network, labels, 2_000)
        table = LabelTable()
        graph = untimed(checker, labels, table)
    except (TooManyRegions, UnsupportedError):
        return
    assert_same_words(graph, regions)


def assert_same_words(graph: UntimedGraph, regions: Labelled) -> None:
    assert graph.complete
    edges: list[list[tuple[Any, int]]] = [[] for _ in graph.automaton.edges]
    for source, letter, target, number in graph.edges.tolist():
        uses = tuple((u.process, u.edge, u.selects) for u in graph.transitions[number].uses)
        label = uses if graph.labels == "transitions" else graph.table.text(letter)
        edges[source].append((label, target))
    left, right = numbered((list(graph.automaton.initial), edges), regions)
    try:
        assert first_word(left, right, limit=2_000) is None
    except TooLarge:
        return


@settings(max_examples=max(25, settings().max_examples // 4))
@given(model=models(most_queries=1))
def test_paths_of_the_graph_are_runs(model: Any) -> None:
    """Also where priorities or differences of clocks make several nodes of one state."""
    checker = checker_of(to_uppaal_xml(model.network, ()))
    try:
        graph = untimed(checker, "actions", LabelTable())
    except UnsupportedError:
        return
    word: tuple[int, ...] = ()
    states = set(graph.automaton.initial)
    while len(word) < 6:
        letters = sorted({label for state in states for label, _ in graph.automaton.edges[state]})
        if not letters:
            break
        letter = letters[len(word) % len(letters)]
        states = {
            to for state in states for label, to in graph.automaton.edges[state] if label == letter
        }
        word = (*word, letter)
    path = graph.path(word)
    assert path is not None
    trace = witness_trace(checker, path)
    assert trace is not None
    assert replay(checker.network, trace).ok
