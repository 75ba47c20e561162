"""Replaying traces: what is true passes, and each kind of lie is told where it is."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reference.networks import (
    Features,
    assign,
    at,
    binary,
    name,
    networks,
    number,
    variable,
)

from whence.explore.concrete import IllegalStep, Interpreter
from whence.explore.replay import Replay, holds_at_end, replay
from whence.explore.trace_json import trace_from_json, trace_from_text, trace_to_json
from whence.expr.faults import EvaluationError, Fault
from whence.expr.tree import Expr, Symbol, SymbolKind
from whence.expr.types import CLOCK, ChannelType, IntType
from whence.model.network import (
    Drawing,
    Edge,
    Location,
    Network,
    Process,
    Select,
    Synchronisation,
)
from whence.model.trace import EdgeUse, SymbolicState, TimedTrace, Transition
from whence.source import InputError, Origin

X = variable("x", CLOCK)
N = variable("n", IntType(0, 9))
GO = variable("go", ChannelType())
BELL = variable("bell", ChannelType(broadcast=True))
NOW = variable("now", ChannelType(urgent=True))
x, n = name(X.symbol), name(N.symbol)
CHOICE = Symbol("Lamp.e0", "i", SymbolKind.SELECT, IntType(1, 3))


def cmp(left: Expr, op: str, right: int) -> Expr:
    return binary(op, left, number(right))


def sync(channel: Any, direction: Literal["!", "?"]) -> Synchronisation:
    return Synchronisation(name(channel.symbol), direction)


LABELS = {
    "guard": ("x >= 2", None),
    "synchronisation": ("go?", None),
    "assignment": ("n = i", None),
}
LAMP = Process(
    "Lamp",
    "Lamp",
    (Location("Off", invariant=cmp(x, "<=", 5)), Location("On"), Location("Hurry", "urgent")),
    (
        Edge(
            0,
            1,
            (Select(CHOICE, 1, 3),),
            cmp(x, ">=", 2),
            sync(GO, "?"),
            (assign(n, name(CHOICE)), assign(x, number(0))),
            drawing=Drawing(labels=LABELS),
            origin=Origin("lamp.xml", 12, 3),
        ),
        Edge(1, 0, synchronisation=sync(BELL, "?"), updates=(assign(n, number(0)),)),
        Edge(1, 2),
        Edge(1, 1, updates=(assign(n, cmp(n, "*", 4)),)),
    ),
    0,
)
USER = Process(
    "User",
    "User",
    (Location("Idle"),),
    (Edge(0, 0, synchronisation=sync(GO, "!")), Edge(0, 0, synchronisation=sync(BELL, "!"))),
    0,
)
NETWORK = Network("lamps", (X, N, GO, BELL, NOW), (LAMP, USER))

PRESS = Transition("go", (EdgeUse(1, 0), EdgeUse(0, 0, (2,))))
RING = Transition("bell", (EdgeUse(1, 1), EdgeUse(0, 1)))
OFF = SymbolicState((0, 0), (0,), constraints=("x <= 5",))
ON = SymbolicState((1, 0), (2,))
TRACE = TimedTrace((OFF, ON, OFF), (PRESS, RING), (Fraction(7, 2), Fraction(1, 3), Fraction(0)))


def failure(trace: TimedTrace) -> Replay:
    result = replay(NETWORK, trace)
    assert not result
    assert not holds_at_end(NETWORK, trace, binary("==", number(1), number(1)))
    return result


def test_a_true_trace() -> None:
    result = replay(NETWORK, TRACE)
    assert result
    assert result.step is None
    assert [state.clocks[1] for state in result.states] == [
        0,
        Fraction(7, 2),
        0,
        Fraction(1, 3),
        Fraction(1, 3),
        Fraction(1, 3),
    ]
    assert holds_at_end(NETWORK, TRACE, binary("&&", at(0, 0), cmp(x, "<", 1)))
    assert not holds_at_end(NETWORK, TRACE, cmp(x, ">=", 1))


def test_what_a_trace_leaves_out_is_not_compared() -> None:
    assert replay(NETWORK, replace(TRACE, states=(SymbolicState((), ()),) * 3))


@pytest.mark.parametrize(
    ("changes", "step", "reason"),
    [
        ({"delays": (Fraction(1), Fraction(0), Fraction(0))}, 0, "the guard of edge 0 of Lamp"),
        ({"delays": (Fraction(6), Fraction(0), Fraction(0))}, 0, "the invariant of location"),
        ({"states": (OFF, replace(ON, values=(3,)), OFF)}, 1, "n is 2, the trace says 3"),
        ({"states": (OFF, OFF, OFF)}, 1, "Lamp is in On, the trace says Off"),
        ({"states": (OFF, ON, replace(ON, values=(0,)))}, 2, "Lamp is in Off, the trace says On"),
        ({"states": (OFF, replace(ON, values=(2, 2)), OFF)}, 1, "the trace has 2 values"),
        ({"states": (OFF, ON)}, 0, "number of transitions"),
        ({"delays": (Fraction(0),)}, 0, "number of delays"),
        (
            {"transitions": (PRESS, Transition("bell", (EdgeUse(1, 1),)))},
            1,
            "Lamp can receive the broadcast bell",
        ),
        (
            {
                "states": (OFF, ON, SymbolicState((), ())),
                "transitions": (PRESS, Transition("tau", (EdgeUse(0, 2),))),
                "delays": (Fraction(3), Fraction(0), Fraction(1)),
            },
            2,
            "in the urgent location Lamp.Hurry",
        ),
        ({"end": "lasso"}, 2, "does not say to which earlier state"),
        ({"end": "lasso", "loop_to": 1}, 2, "does not repeat state 1"),
        ({"end": "deadlock"}, 2, "this is no deadlock"),
        ({"end": "divergence"}, 2, "time cannot pass without bound"),
        ({"end": "error"}, 2, "there is no fault of the model here"),
    ],
)
def test_lies(changes: dict[str, Any], step: int, reason: str) -> None:
    result = failure(replace(TRACE, **changes))
    assert result.step == step
    assert reason in result.reason


def test_zones_are_compared() -> None:
    # x <= 3, and -x <= 0
    zone = ((1, 1), (7, 1))
    assert (
        "x - 0 is 7/2, the trace's zone says <= 3"
        in failure(replace(TRACE, states=(replace(OFF, zone=zone), ON, OFF))).reason
    )
    no_bound = 2**31 - 1
    # x < 4 or no bound at all
    for entry in (8, no_bound):
        zone = ((1, 1), (entry, 1))
        assert replay(NETWORK, replace(TRACE, states=(replace(OFF, zone=zone), ON, OFF)))


def test_lassos() -> None:
    assert replay(NETWORK, replace(TRACE, end="lasso", loop_to=0))


def test_ends_without_action() -> None:
    hurry = TimedTrace(
        (OFF, ON, SymbolicState((2, 0), (2,))),
        (PRESS, Transition("tau", (EdgeUse(0, 2),))),
        (Fraction(2), Fraction(0), Fraction(0)),
    )
    # The user's bell can ring for ever.
    assert not replay(NETWORK, replace(hurry, end="deadlock"))
    alone = Network("alone", (X, N, GO), (replace(LAMP, edges=()),))
    stuck = TimedTrace((SymbolicState((0,), (0,)),), (), (Fraction(1),), end="deadlock")
    assert replay(alone, stuck)
    assert "time cannot pass" in replay(alone, replace(stuck, end="divergence")).reason
    free = replace(LAMP, initial=1, edges=())
    waiting = TimedTrace((SymbolicState((1,), (0,)),), (), (Fraction(1),), end="divergence")
    assert replay(Network("free", (X, N), (free,)), waiting)


def test_errors_of_the_model() -> None:
    grow = Transition("tau", (EdgeUse(0, 3),))
    eight = replace(ON, values=(8,))
    trace = TimedTrace(
        (OFF, ON, eight), (PRESS, grow, grow), (Fraction(2), Fraction(0), Fraction(1)), end="error"
    )
    result = replay(NETWORK, trace)
    assert result
    assert result.fault is not None
    assert result.fault.fault is Fault.OUT_OF_RANGE
    assert result.fault.detail == "n := 32, allowed 0..9"
    assert not holds_at_end(NETWORK, trace, cmp(n, "==", 9))
    assert (
        "the last action is no fault of the model"
        in failure(replace(trace, transitions=(PRESS, grow, RING))).reason
    )
    unexpected = replace(
        trace, states=(*trace.states, OFF), delays=(*trace.delays, Fraction(0)), end="goal"
    )
    assert "the model has a fault here" in failure(unexpected).reason
    # A guard that fails is met while looking for actions.
    broken = replace(USER, edges=(Edge(0, 0, guard=binary("/", number(1), n)),))
    model = replace(NETWORK, processes=(LAMP, broken))
    assert replay(model, TimedTrace((OFF,), (), (Fraction(0),), end="error")).fault is not None


def test_an_initial_state_that_is_none() -> None:
    broken = replace(LAMP, locations=(Location("Off", invariant=cmp(n, ">", 0)),) * 3)
    result = replay(replace(NETWORK, processes=(broken, USER)), TRACE)
    assert "in the initial state is not possible" in result.reason
    assert result.states == ()


# ------------------------------------------------------------------------------------------- JSON


def test_trace_as_json() -> None:
    obj = trace_to_json(TRACE, NETWORK)
    assert obj["delays"] == ["7/2", "1/3", 0]
    assert obj["steps"][0] == {
        "locations": {"Lamp": "Off", "User": "Idle"},
        "variables": {"n": 0},
        "zone": ["x <= 5"],
    }
    step = obj["steps"][1]
    assert step["action"] == "go"
    assert step["edges"][1] == {
        "process": "Lamp",
        "edge": 0,
        "source": "Off",
        "target": "On",
        "guard": "x >= 2",
        "sync": "go?",
        "update": "n = i",
        "selects": {"i": 2},
        "file": "lamp.xml",
        "line": 12,
    }
    assert trace_from_json(obj, NETWORK) == TRACE
    assert trace_from_text(json.dumps(obj), NETWORK) == TRACE


def test_traces_of_errors_as_json() -> None:
    trace = TimedTrace((OFF,), (PRESS,), (Fraction(0),), end="error", message="division by zero")
    obj = trace_to_json(trace, NETWORK)
    assert obj["steps"][1].keys() == {"action", "edges"}
    assert trace_from_json(obj, NETWORK) == trace


def test_exact_numbers() -> None:
    def delays(text: str) -> tuple[Fraction, ...]:
        return trace_from_text(f'{{"steps": [{{}}], "delays": [{text}]}}', NETWORK).delays

    assert delays("0.1") == (Fraction(1, 10),)
    assert delays('"22/7"') == (Fraction(22, 7),)
    assert delays('"2.5"') == (Fraction(5, 2),)
    for bad in ("1e999999999", '"1e9"', "NaN", '"x"', '"1/0"', "-1", "true", "null"):
        with pytest.raises(InputError):
            delays(bad)


def test_unnamed_and_equal_locations() -> None:
    locations = (Location("", ident="id7"), Location("A"), Location("A", ident="id9"), Location(""))
    model = replace(NETWORK, processes=(replace(LAMP, locations=locations), USER))
    trace = TimedTrace(
        tuple(SymbolicState((number, 0), (0,)) for number in range(4)),
        (Transition("tau", ()),) * 3,
        (Fraction(0),) * 4,
    )
    obj = trace_to_json(trace, model)
    names = [step["locations"]["Lamp"] for step in obj["steps"]]
    assert names == ["id7", "#1", "id9", "#3"]
    assert trace_from_json(obj, model) == trace


def _set(path: str, value: object) -> Any:
    def change(obj: Any) -> Any:
        *parts, last = path.split("/")
        inner = obj
        for part in parts:
            inner = inner[int(part)] if part.isdigit() else inner[part]
        inner[int(last) if last.isdigit() else last] = value
        return obj

    return change


def _drop(path: str) -> Any:
    def change(obj: Any) -> Any:
        *parts, last = path.split("/")
        inner = obj
        for part in parts:
            inner = inner[int(part)] if part.isdigit() else inner[part]
        del inner[int(last) if last.isdigit() else last]
        return obj

    return change


@pytest.mark.parametrize(
    ("change", "where", "what"),
    [
        (lambda obj: [obj], "its top", "expected an object, found a list"),
        (_drop("steps"), "its top", "`steps` is missing"),
        (_drop("delays"), "its top", "`delays` is missing"),
        (_set("steps", []), "steps", "at least its initial state"),
        (_set("steps/1", 3), "steps[1]", "expected an object, found a number"),
        (_set("steps/0/action", "go"), "steps[0]", "the first step is a state"),
        (_set("steps/1/locations/Lamp", "Dim"), "steps[1].locations.Lamp", "no location 'Dim'"),
        (_set("steps/1/locations/Fan", "On"), "steps[1].locations", "unknown process 'Fan'"),
        (_drop("steps/1/locations/User"), "steps[1].locations", "'User' is missing"),
        (_set("steps/0/variables/m", 1), "steps[0].variables", "unknown variable 'm'"),
        (_set("steps/0/variables/n", True), "steps[0].variables.n", "found a truth value"),
        (_set("steps/0/zone", "x"), "steps[0].zone", "expected a list, found a string"),
        (_set("steps/0/zone/0", None), "steps[0].zone[0]", "found null"),
        (_drop("steps/1/action"), "steps[1]", "`action` is missing"),
        (_set("steps/1/action", "stop"), "steps[1].action", "unknown channel 'stop'"),
        (_set("steps/1/edges/0/process", "Fan"), "edges[0].process", "unknown process 'Fan'"),
        (_set("steps/1/edges/0/edge", 7), "edges[0].edge", "no edge number 7"),
        (_set("steps/1/edges/0/edge", {}), "edges[0].edge", "found an object"),
        (_set("steps/1/edges/1/target", "Off"), "edges[1].target", "is On"),
        (_set("steps/1/edges/1/selects", {}), "edges[1].selects", "'i' is missing"),
        (_set("steps/1/edges/1/selects/j", 0), "edges[1].selects", "select variable 'j'"),
        (_set("delays", [1, 2]), "delays", "expected 3 delays"),
        (_set("delays/1", 0.5), "delays[1]", "found a number"),
        (_set("end", "soon"), "end", "unknown end 'soon'"),
        (_set("loop_to", 5), "loop_to", "no state number 5"),
    ],
)
def test_malformed_json(change: Any, where: str, what: str) -> None:
    obj = change(json.loads(json.dumps(trace_to_json(TRACE, NETWORK))))
    with pytest.raises(InputError) as caught:
        trace_from_json(obj, NETWORK, "t.json")
    (diagnostic,) = caught.value.diagnostics
    assert what in diagnostic.message
    assert diagnostic.element.endswith(where)
    assert diagnostic.origin.file == "t.json"


def test_text_that_is_no_json() -> None:
    with pytest.raises(InputError, match=r"t\.json:2:3: error: this is not JSON"):
        trace_from_text("{\n  steps", NETWORK, "t.json")
    for text in ("[" * 100_000, '{"steps": [{}], "delays": [' + "9" * 5000 + "]}"):
        with pytest.raises(InputError):
            trace_from_text(text, NETWORK)


# ------------------------------------------------------------------------------------ random walks


@given(data=st.data(), model=networks(Features(faults=True)))
def test_walks_replay_and_survive_json(data: st.DataObject, model: Network) -> None:
    interpreter = Interpreter(model)
    try:
        state = interpreter.initial()
    except (IllegalStep, EvaluationError):
        return
    states = [SymbolicState(state.locations, state.values)]
    delays: list[Fraction] = []
    transitions: list[Transition] = []
    for _ in range(5):
        wish = data.draw(st.fractions(0, 4, max_denominator=4))
        try:
            delay = wish if interpreter.refuses_delay(state, wish) is None else Fraction(0)
            later = interpreter.delay(state, delay)
            enabled = interpreter.enabled(later)
            if not enabled:
                break
            transition = data.draw(st.sampled_from(enabled))
            state = interpreter.fire(later, transition)
        except EvaluationError:
            break
        delays.append(delay)
        transitions.append(transition)
        states.append(SymbolicState(state.locations, state.values))
    trace = TimedTrace(tuple(states), tuple(transitions), (*delays, Fraction(0)))
    assert replay(model, trace)
    again = trace_from_text(json.dumps(trace_to_json(trace, model)), model)
    assert again == trace
