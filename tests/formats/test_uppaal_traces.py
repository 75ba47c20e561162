"""UPPAAL's symbolic traces: what files say, and which run of a model that is."""

import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reference.networks import assign, binary, element, name, networks, number, variable

from whence.explore.concrete import IllegalStep, Interpreter
from whence.expr.faults import EvaluationError
from whence.expr.tree import Symbol, SymbolKind
from whence.expr.types import CLOCK, ArrayType, ChannelType, IntType
from whence.formats.uppaal.elaborate import elaborate
from whence.formats.uppaal.traces import (
    ClockBound,
    TraceSymbol,
    UppaalTrace,
    match,
    read_trace,
    read_trace_file,
    write_trace,
)
from whence.formats.uppaal.xml import read_xml_file
from whence.model.layout import Layout, layout_of
from whence.model.network import Edge, Location, Network, Process, Select, Synchronisation
from whence.model.trace import EdgeUse, SymbolicState, TimedTrace, Transition
from whence.source import InputError, UnsupportedError

DATA = Path(__file__).parents[2].parent / "shared" / "data" / "uppaal-traces"
DATABASE = DATA / "tartar_0db_symbolic_trace.xml"
URGENT = DATA / "pyuppaal_t2-1.xml"

public = pytest.mark.skipif(
    not DATABASE.exists(), reason="the public traces are not at ../shared/data"
)
NO_BOUND = 2**31 - 1


# ------------------------------------------------------------------------------ public files


@public
def test_a_public_trace() -> None:
    trace = read_trace_file(DATABASE)
    assert [clock.name for clock in trace.clocks] == ["t(0)", "x", "y", "z"]
    assert [process.name for process in trace.processes] == ["dbServer", "db"]
    assert [node.ident for node in trace.nodes] == [f"State{n}" for n in range(1, 6)]
    assert trace.nodes[2].locations == ("dbServer.reqSent", "db.reqReceived")
    assert trace.nodes[2].bounds is not None
    assert ClockBound("sys.x", "sys.t(0)", 2, False) in trace.nodes[2].bounds
    assert ClockBound("sys.y", "sys.t(0)", None, True) in trace.nodes[2].bounds
    assert [step.edges for step in trace.steps] == [
        ("dbServer.Edge1",),
        ("dbServer.Edge2", "db.Edge1"),
        ("db.Edge2",),
        ("db.Edge3", "dbServer.Edge3"),
    ]
    assert trace.processes[1].edges[1].guard == "x >= 1"
    assert trace.processes[1].locations[1].invariant == "1 && x <= 2"
    assert trace.loop_to is None


@public
def test_a_public_trace_of_its_model() -> None:
    network = elaborate(read_xml_file(DATA / "tartar_0db_model.xml")).network
    layout = layout_of(network)
    found = match(read_trace_file(DATABASE), network, layout)
    assert [transition.action for transition in found.transitions] == ["tau", "req", "tau", "ser"]
    # The sender goes first, though its process comes later.
    assert found.transitions[-1].uses == (EdgeUse(1, 2), EdgeUse(0, 5))
    last = found.states[-1]
    assert [p.locations[at].name for p, at in zip(network.processes, last.locations, strict=True)]
    # x <= 5 when the answer arrives, x - z between 1 and 3: what the thesis reads off it.
    x, z = layout.clocks.index("x"), layout.clocks.index("z")
    assert last.zone[x][0] == 2 * 5 + 1
    assert last.zone[z][x] == 2 * -2 + 1
    assert found.delays == ()
    assert match(read_trace(write_trace(found, network, layout), "f"), network, layout) == found


@public
def test_clocks_that_only_uppaal_has() -> None:
    trace = read_trace_file(URGENT)
    assert [clock.name for clock in trace.clocks] == ["#t(0)", "#time"]
    assert trace.processes[0].clocks == (TraceSymbol("P2.t", "P2.t"),)
    t = Symbol("P2", "t", SymbolKind.VARIABLE, CLOCK)
    process = Process(
        "P2",
        "P2",
        (Location("A"), Location("B"), Location("C")),
        (
            Edge(0, 1, guard=binary(">=", name(t), number(10))),
            Edge(1, 2),
        ),
        0,
    )
    network = Network("", (variable("t", CLOCK, scope="P2"),), (process,))
    found = match(trace, network, layout_of(network))
    assert [state.zone for state in found.states] == [
        ((1, 1), (21, 1)),
        ((1, -19), (21, 1)),
        ((1, -19), (41, 1)),
    ]


# ------------------------------------------------------------------------------ a model of our own

SMALL = IntType(0, 9)
GO = Symbol("", "go", SymbolKind.VARIABLE, ArrayType(ChannelType(), IntType(0, 2)))
ALL = Symbol("", "all", SymbolKind.VARIABLE, ChannelType(broadcast=True))
X = Symbol("", "x", SymbolKind.VARIABLE, CLOCK)
Y = Symbol("Rx(1, 2)", "y", SymbolKind.VARIABLE, CLOCK)
N = Symbol("", "n", SymbolKind.VARIABLE, SMALL)
M = Symbol("Rx(1, 2)", "m", SymbolKind.VARIABLE, ArrayType(SMALL, IntType(0, 1)))
I = Symbol("edge", "i", SymbolKind.SELECT, IntType(0, 2))  # noqa: E741
J = Symbol("edge", "j", SymbolKind.SELECT, IntType(0, 2))


def go(index: Symbol, direction: str) -> Synchronisation:
    return Synchronisation(element(name(GO), name(index)), "!" if direction == "!" else "?")


def the_network() -> Network:
    sender = Process(
        "Tx",
        "Tx",
        (Location("Idle"), Location("", ident="id7")),
        (
            Edge(0, 1, (Select(I, 0, 2),), None, go(I, "!"), (assign(name(N), name(I)),)),
            Edge(
                1, 0, guard=binary("==", name(N), number(1)), updates=(assign(name(X), number(0)),)
            ),
            Edge(
                1, 0, guard=binary("==", name(N), number(2)), updates=(assign(name(N), number(7)),)
            ),
            Edge(0, 0, synchronisation=Synchronisation(name(ALL), "!")),
            # Nothing but clocks tells these apart.
            Edge(1, 1, guard=binary("<=", name(X), number(3))),
            Edge(1, 1, guard=binary(">=", name(X), number(2))),
        ),
        0,
    )
    receiver = Process(
        "Rx(1, 2)",
        "Rx",
        (Location("A"), Location("B")),
        (
            Edge(
                0,
                1,
                (Select(J, 0, 2),),
                None,
                go(J, "?"),
                (assign(element(name(M), number(1)), binary("+", name(N), number(1))),),
            ),
            Edge(1, 0, synchronisation=Synchronisation(name(ALL), "?")),
        ),
        0,
    )
    return Network(
        "",
        (
            variable("go", GO.type),
            variable("all", ALL.type),
            variable("x", CLOCK),
            variable("n", SMALL),
            variable("y", CLOCK, scope="Rx(1, 2)"),
            variable("m", M.type, scope="Rx(1, 2)"),
        ),
        (sender, receiver),
        (variable("LIMIT", SMALL, 4),),
    )


NETWORK = the_network()
LAYOUT = layout_of(NETWORK)

#: Written by hand in UPPAAL's manner: clocks and variables in an order that is not ours, node
#: names that say nothing, a clock missing in one zone.
TEXT = """<?xml version="1.0" encoding="UTF-8"?>
<trace initial_node="Start" trace_options="symbolic"><system>
<clock name="#t(0)" id="sys.#t(0)"/><clock name="#time" id="sys.#time"/>
<variable name="n" id="sys.n"/><variable name="LIMIT" id="sys.LIMIT"/>
<process id="Rx(1,2)" name="Rx(1,2)"><clock name="y" id="Rx(1,2).y"/>
<variable name="m[0]" id="Rx(1,2).m[0]"/><variable name="m[1]" id="Rx(1,2).m[1]"/>
<location id="Rx(1,2).A" name="A"/><location id="Rx(1,2).B" name="B"><![CDATA[1 && y <= 2]]></location>
<edge id="Rx(1,2).Edge1" from="Rx(1,2).A" to="Rx(1,2).B">
<guard>1</guard><sync>go[j]?</sync><update>m[1] := n + 1</update></edge>
</process>
<process id="Tx" name="Tx">
<location id="Tx.Idle" name="Idle"/><location id="Tx._id7" name="_id7"/>
<edge id="Tx.Edge1" from="Tx.Idle" to="Tx._id7"><guard>1</guard><sync>go[i]!</sync><update>n := i</update></edge>
<edge id="Tx.Edge2" from="Tx._id7" to="Tx.Idle"><guard>n == 2</guard><sync>tau</sync><update>n := 7</update></edge>
</process><clock name="x" id="sys.x"/></system>
<location_vector id="L2" locations="Rx(1,2).B Tx._id7 "/>
<location_vector id="L1" locations="Rx(1,2).A Tx.Idle "/>
<location_vector id="L3" locations="Rx(1,2).B Tx.Idle "/>
<variable_vector id="V1"><variable_state variable="sys.n" value="0"/></variable_vector>
<variable_vector id="V2"><variable_state variable="sys.n" value="2"/><variable_state variable="Rx(1,2).m[1]" value="3"/></variable_vector>
<variable_vector id="V3"><variable_state variable="sys.LIMIT" value="4"/><variable_state variable="sys.n" value="7"/></variable_vector>
<node id="End" location_vector="L3" dbm_instance="Z3 " variable_vector="V3"/>
<node id="Start" location_vector="L1" dbm_instance="Z1 " variable_vector="V1"/>
<node id="Between" location_vector="L2" dbm_instance="" variable_vector="V2"/>
<dbm_instance id="Z1">
<clockbound clock1="sys.#t(0)" clock2="sys.#t(0)" bound="0" comp="&lt;="/>
<clockbound clock1="sys.#t(0)" clock2="sys.x" bound="0" comp="&lt;="/>
<clockbound clock1="sys.#t(0)" clock2="Rx(1,2).y" bound="-1" comp="&lt;"/>
<clockbound clock1="sys.x" clock2="sys.#t(0)" bound="inf" comp="&lt;"/>
<clockbound clock1="sys.x" clock2="sys.x" bound="0" comp="&lt;="/>
<clockbound clock1="sys.x" clock2="Rx(1,2).y" bound="0" comp="&lt;="/>
<clockbound clock1="Rx(1,2).y" clock2="sys.#t(0)" bound="8" comp="&lt;"/>
<clockbound clock1="Rx(1,2).y" clock2="sys.x" bound="3" comp="&lt;="/>
<clockbound clock1="Rx(1,2).y" clock2="Rx(1,2).y" bound="0" comp="&lt;="/>
</dbm_instance>
<dbm_instance id="Z3">
<clockbound clock1="sys.#t(0)" clock2="sys.x" bound="-1" comp="&lt;"/>
<clockbound clock1="sys.x" clock2="sys.#t(0)" bound="4" comp="&lt;="/>
</dbm_instance>
<transition from="Between" to="End" edges="Tx.Edge2 "/>
<transition from="Start" to="Between" edges="Rx(1,2).Edge1 Tx.Edge1 "/>
</trace>
"""  # noqa: E501


def matched(text: str, network: Network = NETWORK) -> TimedTrace:
    return match(read_trace(text, "f"), network, layout_of(network))


def test_a_trace_by_hand() -> None:
    # Ours: n, Rx.m[0], Rx.m[1]; clocks x, Rx.y.
    assert LAYOUT.clocks == ("0", "x", "Rx(1, 2).y")
    trace = matched(TEXT)
    assert trace == TimedTrace(
        (
            SymbolicState((0, 0), (0, 0, 0), ((1, 1, -2), (NO_BOUND, 1, 1), (16, 7, 1))),
            SymbolicState((1, 1), (2, 0, 3)),
            # What no bound tells of y is that it is not negative.
            SymbolicState((0, 1), (7, 0, 3), ((1, -2, 1), (9, 1, 9), (NO_BOUND, NO_BOUND, 1))),
        ),
        (
            Transition("go[2]", (EdgeUse(0, 0, (2,)), EdgeUse(1, 0, (2,)))),
            Transition("tau", (EdgeUse(0, 2),)),
        ),
        (),
    )
    assert matched(write_trace(trace, NETWORK, LAYOUT)) == trace


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('name="Tx"', 'name="Ty"', "there is no process Ty in it"),
        ('name="x" id', 'name="w" id', "there is no clock w in it"),
        ('name="n" id', 'name="k" id', "there is no variable k in it"),
        ('name="n" id', 'name="x" id', "there is no variable x in it"),
        ('"Tx.Idle" name="Idle"', '"Tx.Idle" name="Rest"', "process Tx has no location Rest"),
        (
            '"L1" locations="Rx(1,2).A Tx.Idle',
            '"L1" locations="Rx(1,2).A',
            "in the initial state: nothing tells where Tx is",
        ),
        (
            '"L1" locations="Rx(1,2).A Tx.Idle',
            '"L1" locations="Rx(1,2).A Tx.Out',
            "unknown location Tx.Out",
        ),
        (
            '"L1" locations="Rx(1,2).A',
            '"L1" locations="Rx(1,2).B',
            "in the initial state: Rx(1, 2) starts in A, not in B",
        ),
        (
            'variable="sys.n" value="0"',
            'variable="sys.n" value="1"',
            "in the initial state: n is 0 in the model and 1 in the trace",
        ),
        (
            'variable="sys.n" value="7"',
            'variable="sys.n" value="6"',
            "in step 2: n is 7 in the model and 6 in the trace",
        ),
        ('variable="sys.n" value="2"', 'variable="sys.n" value="3"', "in step 1: "),
        (
            'variable="sys.n" value="2"',
            'variable="sys.o" value="3"',
            "in step 1: unknown variable sys.o",
        ),
        ("go[i]!", "come[i]!", "in step 1: Tx has no edge from Idle to id7 with come[i]!"),
        ("go[i]!", "go[i]?", "in step 1: its edges do not make one action: go[j]?, go[i]?"),
        ("go[i]!", "tau", "in step 1: its edges do not make one action"),
        ("go[j]?", "go[1]?", "in step 1: "),
        ('"Tx.Edge2 "', '"Tx.Edge3 "', "in step 2: unknown edge Tx.Edge3"),
        ('"Tx.Edge2 "', '"Tx.Edge1 "', "in step 2: Tx is in id7, but its edge starts in Idle"),
        ('"Tx.Edge2 "', '"Tx.Edge2 Tx.Edge2"', "in step 2: a process takes part twice"),
        ('"Tx.Edge2 "', '""', "in step 2: no edge takes part"),
        (
            'from="Tx._id7" to="Tx.Idle"',
            'from="Tx.Idle" to="Tx.Idle"',
            "in step 2: Tx is in id7, but its edge starts in Idle",
        ),
        (
            'from="Tx._id7" to="Tx.Idle"',
            'from="Tx._id7" to="Tx._id7"',
            "in step 2: Tx gets to id7, but the trace has it in Idle",
        ),
        (
            'from="Tx._id7" to="Tx.Idle"',
            'from="Tx._id7" to="Rx(1,2).A"',
            "edge Tx.Edge2 has an unknown location",
        ),
        (
            '"L3" locations="Rx(1,2).B',
            '"L3" locations="Rx(1,2).A',
            "in step 2: Rx(1, 2) gets to B, but the trace has it in A",
        ),
        (
            'clock2="sys.x" bound="-1"',
            'clock2="sys.q" bound="-1"',
            "in step 2: unknown clock sys.q",
        ),
        (
            'clock2="sys.x" bound="-1"',
            'clock2="sys.x" bound="-9"',
            "in step 2: the zone of End is empty",
        ),
    ],
)
def test_traces_of_other_models(old: str, new: str, message: str) -> None:
    assert TEXT.count(old) == 1, old
    with pytest.raises(InputError, match="does not belong to the model") as caught:
        matched(TEXT.replace(old, new))
    assert message in str(caught.value)
    assert caught.value.diagnostics[0].origin.file == "f"


def changed_edge(process: int, edge: int, change: Callable[[Edge], Edge]) -> Network:
    processes = list(NETWORK.processes)
    edges = list(processes[process].edges)
    edges[edge] = change(edges[edge])
    processes[process] = replace(processes[process], edges=tuple(edges))
    return replace(NETWORK, processes=tuple(processes))


def test_other_models_of_a_trace() -> None:
    def refuses(network: Network, message: str) -> None:
        with pytest.raises(InputError, match=re.escape(message)):
            matched(TEXT, network)

    other = replace(NETWORK.processes[0], name="Third")
    refuses(
        replace(NETWORK, processes=(*NETWORK.processes, other)),
        "it has a process Third, the trace has none",
    )
    refuses(
        changed_edge(0, 2, lambda edge: replace(edge, target=1)),
        "in step 2: the edge of Tx from id7 to Idle is not enabled there",
    )
    refuses(
        changed_edge(0, 0, lambda edge: replace(edge, target=0)),
        "in step 1: Tx has no edge from Idle to id7",
    )
    refuses(
        changed_edge(0, 0, lambda edge: replace(edge, updates=(assign(name(N), number(10)),))),
        "in step 1: the updates go wrong",
    )
    refuses(
        changed_edge(1, 0, lambda edge: replace(edge, selects=(Select(J, 0, 1),))),
        "in step 1: ",
    )
    refuses(
        changed_edge(0, 0, lambda edge: replace(edge, selects=(Select(I, 0, 10**6),))),
        "in too many ways",
    )


def lonely(sync: str, channel: Symbol) -> str:
    """A trace of one step in which a sender finds nobody."""
    network = changed_edge(
        0, 3, lambda edge: replace(edge, synchronisation=Synchronisation(name(channel), "!"))
    )
    trace = TimedTrace(
        (SymbolicState((0, 0), (0, 0, 0)),) * 2, (Transition(sync, (EdgeUse(0, 3),)),), ()
    )
    return write_trace(trace, network, layout_of(network))


def test_a_broadcast_may_find_nobody() -> None:
    trace = matched(lonely("all", ALL))
    assert trace.transitions == (Transition("all", (EdgeUse(0, 3),)),)
    binary_channel = replace(ALL, type=ChannelType())
    network = replace(
        changed_edge(
            0,
            3,
            lambda edge: replace(edge, synchronisation=Synchronisation(name(binary_channel), "!")),
        ),
        variables=(variable("go", GO.type), variable("all", ChannelType()), *NETWORK.variables[2:]),
    )
    with pytest.raises(InputError, match="all is no broadcast channel"):
        matched(lonely("all", ALL), network)


def test_edges_that_look_the_same() -> None:
    states = (
        SymbolicState((0, 0), (0, 0, 0)),
        SymbolicState((1, 1), (1, 0, 2)),
        SymbolicState((1, 1), (1, 0, 2)),
    )
    first = Transition("go[1]", (EdgeUse(0, 0, (1,)), EdgeUse(1, 0, (1,))))
    for number_ in (4, 5):
        trace = TimedTrace(states, (first, Transition("tau", (EdgeUse(0, number_),))), ())
        text = write_trace(trace, NETWORK, LAYOUT)
        assert matched(text) == trace
        # Without the numbers, which only we write, the guards decide.
        plain = re.sub(r' number="\d+"|<select>.*?</select>', "", text)
        assert matched(plain) == trace
        assert matched(plain.replace("x &lt;= 3", "((x)&lt;=3)")) == trace
        # Without guards, nothing does.
        with pytest.raises(InputError, match="it can be edge 5 or edge 6 of Tx"):
            matched(plain.replace("x &lt;= 3", "1").replace("x &gt;= 2", "1"))


def test_a_lasso() -> None:
    states = (
        SymbolicState((0, 0), (0, 0, 0)),
        SymbolicState((0, 0), (0, 0, 0), ((1, 1, 1), (NO_BOUND, 1, 1), (NO_BOUND, 1, 1))),
    )
    step = Transition("all", (EdgeUse(0, 3),))
    trace = TimedTrace((*states, states[1]), (step, step), (), "lasso", 1)
    text = write_trace(trace, NETWORK, LAYOUT)
    assert text.count("<node") == 2
    assert matched(text) == trace


def test_a_failing_step_is_only_told() -> None:
    state = SymbolicState((0, 0), (0, 0, 0))
    step = Transition("all", (EdgeUse(0, 3),))
    trace = TimedTrace((state, state), (step, step), (), "error", message="a -- b --> c")
    text = write_trace(trace, NETWORK, LAYOUT)
    assert "fails: a - - b - -&gt; c" in text
    assert matched(text) == TimedTrace((state, state), (step,), ())


# ------------------------------------------------------------------------------ bad files


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ("", "the file is empty", "f:1:1"),
        ("State1", "this is not XML", "f:1:1"),
        ("<nta/>", "the root element is <nta>, not <trace>", "f:1:1"),
        ('<!DOCTYPE trace [<!ENTITY a "b">]><trace/>', "declares the entity", "f:1:18"),
        ("<trace/>", "without `initial_node`", "f:1:1"),
        ('<trace initial_node="S"/>', "there is no node S", "f:1:1"),
        ('<trace initial_node="S" trace_options="concrete"/>', "not a symbolic trace", "f:1:1"),
        ('<trace initial_node="S">\n<node/></trace>', "<node> without `id`", "f:2:1"),
        (
            '<trace initial_node="S">\n<node id="S" location_vector="L"/></trace>',
            "node S has no location vector",
            "f:2:1",
        ),
        ("<trace>" + "<a>" * 1000, "nested more than", None),
        (TEXT.replace('initial_node="Start"', 'initial_node="End"'), "does not get to", "f:40:1"),
        (TEXT.replace('to="End"', 'to="Nowhere"'), "there is no node Nowhere", "f:40:1"),
        (TEXT.replace('"V2"/>', '"V9"/>'), "there is no variable vector V9", "f:24:1"),
        (TEXT.replace('"Z3 "', '"Z9 "'), "there is no zone Z9", None),
        (TEXT.replace('"Z3 "', '"Z3 Z1"'), "more than one zone", None),
        (TEXT.replace('id="End"', 'id="Start"'), "a second <node> Start", None),
        (TEXT.replace('bound="8"', 'bound="many"'), "`bound` of <clockbound> is 'many'", None),
        (TEXT.replace('bound="8"', 'bound="-inf"'), "is no integer", None),
        (TEXT.replace('bound="8"', 'bound="2000000000"'), "too large", None),
        (TEXT.replace('bound="4" comp="&lt;="', 'bound="4" comp="="'), "< or <=", None),
        (TEXT.replace('value="7"', 'value=""'), "is no integer", None),
        (TEXT.replace(' to="End"', ""), "<transition> without `to`", None),
        (TEXT.replace("<update>n := i</update>", "<select>a</select>"), "are integers", None),
        (TEXT.replace("n == 2<", "n < 2<"), "not well-formed", None),
    ],
)
def test_bad_traces(text: str, message: str, place: str | None) -> None:
    with pytest.raises(InputError, match=re.escape(message)) as caught:
        read_trace(text.encode(), "f")
    if place is not None:
        assert str(caught.value.diagnostics[0].origin) == place


def test_unsupported_is_said_so() -> None:
    with pytest.raises(UnsupportedError):
        read_trace('<trace initial_node="S" trace_options="concrete"/>', "f")
    with pytest.raises(UnsupportedError):
        read_trace(TEXT.replace('"Z3 "', '"Z3 Z1"'), "f")


@given(st.integers(0, len(TEXT)), st.integers(0, 30), st.text(max_size=3))
def test_damaged_traces(start: int, length: int, new: str) -> None:
    text = TEXT[:start] + new + TEXT[start + length :]
    try:
        trace = read_trace(text, "f")
    except InputError:
        return
    assert isinstance(trace, UppaalTrace)
    try:
        match(trace, NETWORK, LAYOUT)
    except InputError as caught:
        assert all(found.origin.file == "f" for found in caught.diagnostics)  # noqa: PT017


# ------------------------------------------------------------------------------ the round trip


@st.composite
def runs(draw: st.DrawFn) -> tuple[Network, Layout, TimedTrace]:
    """A network and a run of it, with any zones."""
    network = draw(networks())
    interpreter = Interpreter(network)
    layout = layout_of(network)
    size = len(layout.clocks)
    bounds = st.integers(-6, 9) | st.just(NO_BOUND)
    states, transitions = [], []
    try:
        state = interpreter.initial()
        while True:
            zone = [[1 if i == j else draw(bounds) for j in range(size)] for i in range(size)]
            states.append(SymbolicState(state.locations, state.values, tuple(map(tuple, zone))))
            if len(states) > 5:
                break
            pause = draw(st.sampled_from([0, 1, Fraction(1, 2)]))
            if interpreter.refuses_delay(state, Fraction(pause)) is None:
                state = interpreter.delay(state, pause)
            possible = interpreter.enabled(state)
            if not possible:
                break
            transition = draw(st.sampled_from(possible))
            state = interpreter.fire(state, transition)
            transitions.append(transition)
    except (IllegalStep, EvaluationError):
        pass
    return network, layout, TimedTrace(tuple(states), tuple(transitions), ())


@given(runs())
def test_written_traces_read_back(drawn: tuple[Network, Layout, TimedTrace]) -> None:
    network, layout, trace = drawn
    if not trace.states:
        return
    trace = replace(trace, transitions=trace.transitions[: len(trace.states) - 1])
    text = write_trace(trace, network, layout)
    assert match(read_trace(text, "f"), network, layout) == trace
    # Without what only we write, the states and actions are still the same.
    plain = re.sub(r' number="\d+"|<select>.*?</select>', "", text)
    try:
        guessed = match(read_trace(plain, "f"), network, layout)
    except InputError as caught:
        assert "nothing tells which" in str(caught)  # noqa: PT017
    else:
        assert guessed.states == trace.states
        assert [t.action for t in guessed.transitions] == [t.action for t in trace.transitions]
