"""The concrete interpreter on small networks, rule by rule, and against the region reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reference.networks import (
    Features,
    assign,
    at,
    binary,
    deadlock,
    element,
    name,
    negation,
    networks,
    number,
    variable,
)
from tests.reference.regions import (
    ModelError,
    TooLarge,
    allowed_answers,
    reachable_discrete,
)

from whence.explore.concrete import ConcreteState, IllegalStep, Interpreter
from whence.expr.faults import EvaluationError, Fault
from whence.expr.tree import Expr, Symbol, SymbolKind
from whence.expr.types import CLOCK, ArrayType, ChannelType, IntType
from whence.model.network import (
    Edge,
    Location,
    Network,
    Process,
    Query,
    Select,
    Synchronisation,
    Variable,
)
from whence.model.trace import EdgeUse, Transition

X, Y = variable("x", CLOCK), variable("y", CLOCK)
N = variable("n", IntType(0, 20))
GO = variable("go", ChannelType())
ALL = variable("all", ChannelType(broadcast=True))
NOW = variable("now", ChannelType(urgent=True))
MANY = variable("many", ArrayType(ChannelType(), IntType(0, 2)))
VARIABLES = (X, Y, N, GO, ALL, NOW, MANY)
x, y, n = (name(of.symbol) for of in (X, Y, N))

Kind = Literal["normal", "urgent", "committed"]


def compare(left: Expr, op: str, right: int | Expr) -> Expr:
    return binary(op, left, number(right) if isinstance(right, int) else right)


def edge(
    source: int = 0,
    target: int = 1,
    *,
    guard: Expr | None = None,
    sync: tuple[Variable | Expr, Literal["!", "?"]] | None = None,
    updates: Sequence[Expr] = (),
    selects: Sequence[Select] = (),
) -> Edge:
    synchronisation = None
    if sync is not None:
        channel = name(sync[0].symbol) if isinstance(sync[0], Variable) else sync[0]
        synchronisation = Synchronisation(channel, sync[1])
    return Edge(source, target, tuple(selects), guard, synchronisation, tuple(updates))


def process(
    *edges: Edge,
    kinds: Sequence[Kind] = ("normal", "normal"),
    invariants: Sequence[Expr | None] = (None, None),
    priority: int = 0,
) -> tuple[tuple[Location, ...], tuple[Edge, ...], int]:
    locations = tuple(
        Location(f"L{at}", kind, invariant)
        for at, (kind, invariant) in enumerate(zip(kinds, invariants, strict=True))
    )
    return locations, edges, priority


def network(
    *parts: tuple[tuple[Location, ...], tuple[Edge, ...], int],
    channel_priorities: dict[int, int] | None = None,
    constants: Sequence[Variable] = (),
) -> Network:
    processes = tuple(
        Process(f"P{at}", f"T{at}", locations, edges, 0, priority=priority)
        for at, (locations, edges, priority) in enumerate(parts)
    )
    return Network(
        "test",
        VARIABLES,
        processes,
        constants=tuple(constants),
        channel_priorities=channel_priorities or {},
    )


def named(interpreter: Interpreter, state: ConcreteState) -> list[str]:
    """What is enabled: the action and the edges, as `go 0.0 1.0`."""
    result = []
    for transition in interpreter.enabled(state):
        assert interpreter.refuses(state, transition) is None
        uses = (
            f"{use.process}.{use.edge}" + "".join(f"({value})" for value in use.selects)
            for use in transition.uses
        )
        result.append(" ".join((transition.action, *uses)))
    return result


def refusal(interpreter: Interpreter, state: ConcreteState, action: str, *uses: EdgeUse) -> str:
    transition = Transition(action, uses)
    with pytest.raises(IllegalStep) as caught:
        interpreter.fire(state, transition)
    assert transition not in interpreter.enabled(state)
    return caught.value.refusal.reason


def no_delay(interpreter: Interpreter, state: ConcreteState, duration: Fraction | int) -> str:
    with pytest.raises(IllegalStep) as caught:
        interpreter.delay(state, duration)
    return caught.value.refusal.reason


# -------------------------------------------------------------------------------------------- time


def test_delay_up_to_an_invariant() -> None:
    for op, allowed, forbidden in (("<=", 5, 6), ("<", Fraction(49, 10), 5)):
        invariants = (compare(x, op, 5), None)
        interpreter = Interpreter(network(process(edge(), invariants=invariants)))
        state = interpreter.initial()
        later = interpreter.delay(state, allowed)
        assert later.clocks == (0, allowed, allowed)
        reason = no_delay(interpreter, state, forbidden)
        assert reason == (
            f"the invariant of location P0.L0 does not hold after a delay of {forbidden}"
        )
    assert "backwards" in no_delay(interpreter, state, -1)
    assert interpreter.delay(state, 0) == state


@pytest.mark.parametrize("kind", ["urgent", "committed"])
def test_no_delay_in_such_locations(kind: Kind) -> None:
    interpreter = Interpreter(network(process(edge(), kinds=(kind, "normal"))))
    state = interpreter.initial()
    assert f"in the {kind} location P0.L0" in no_delay(interpreter, state, 1)
    assert interpreter.delay(state, 0) == state


def test_no_initial_state() -> None:
    interpreter = Interpreter(network(process(invariants=(compare(n, ">", 0), None))))
    with pytest.raises(IllegalStep, match=r"the invariant of location P0\.L0 does not hold"):
        interpreter.initial()


def test_urgent_channels() -> None:
    receiver = process(edge(sync=(NOW, "?"), guard=compare(n, "==", 1)))
    count = edge(0, 0, updates=[assign(n, number(1))])
    interpreter = Interpreter(network(process(edge(sync=(NOW, "!")), count), receiver))
    state = interpreter.delay(interpreter.initial(), 3)
    state = interpreter.fire(state, Transition("tau", (EdgeUse(0, 1),)))
    assert "while the urgent channel now is enabled" in no_delay(interpreter, state, 1)


def test_urgency_looks_at_guards_only() -> None:
    """Neither a target invariant nor a priority makes a synchronisation less urgent."""
    receiver = process(edge(sync=(NOW, "?")), invariants=(None, compare(n, ">", 0)))
    interpreter = Interpreter(network(process(edge(sync=(NOW, "!"))), receiver))
    state = interpreter.initial()
    assert named(interpreter, state) == []
    assert "urgent" in no_delay(interpreter, state, 1)
    assert interpreter.deadlocked(state)


def test_urgency_that_begins_with_time() -> None:
    """A clock guard on an urgent channel: time stops where it begins to hold."""
    for op, last in ((">=", Fraction(2)), (">", Fraction(2))):
        guard = binary("&&", compare(x, op, 2), compare(y, ">=", 1))
        interpreter = Interpreter(
            network(process(edge(sync=(NOW, "!"), guard=guard)), process(edge(sync=(NOW, "?"))))
        )
        state = interpreter.initial()
        assert interpreter.delay(state, last).clocks[1] == last
        assert "urgent" in no_delay(interpreter, state, last + Fraction(1, 100))
        # After the end of the guard, time would pass again, but there is no way through it.
        assert "urgent" in no_delay(interpreter, state, 50)


# ----------------------------------------------------------------------------------------- actions


def test_internal_edges_and_selects() -> None:
    i = Symbol("P0.e0", "i", SymbolKind.SELECT, IntType(1, 3))
    interpreter = Interpreter(
        network(
            process(
                edge(
                    guard=compare(name(i), "!=", 2),
                    updates=[assign(n, binary("*", name(i), number(4)))],
                    selects=[Select(i, 1, 3)],
                )
            )
        )
    )
    state = interpreter.initial()
    assert named(interpreter, state) == ["tau 0.0(1)", "tau 0.0(3)"]
    after = interpreter.fire(state, Transition("tau", (EdgeUse(0, 0, (3,)),)))
    assert (after.locations, after.values) == ((1,), (12,))
    assert "the guard of edge 0 of P0 (L0 -> L1) does not hold" in refusal(
        interpreter, state, "tau", EdgeUse(0, 0, (2,))
    )
    for selects in ((4,), (), (1, 1)):
        assert "no such select values" in refusal(interpreter, state, "tau", EdgeUse(0, 0, selects))
    assert "does not start in L1" in refusal(interpreter, after, "tau", EdgeUse(0, 0, (1,)))
    assert "has no edge number 5" in refusal(interpreter, state, "tau", EdgeUse(0, 5))
    assert "no process number 2" in refusal(interpreter, state, "tau", EdgeUse(2, 0))
    assert "no process takes part" in refusal(interpreter, state, "tau")


def test_binary_synchronisation() -> None:
    """Guards before all updates, the sender's updates first, wherever it stands."""
    receiver = process(
        edge(
            sync=(GO, "?"),
            guard=compare(n, "==", 0),
            updates=[assign(n, binary("*", n, number(2)))],
        )
    )
    sender = process(edge(sync=(GO, "!"), updates=[assign(n, number(7)), assign(x, number(3))]))
    interpreter = Interpreter(network(receiver, sender, receiver))
    state = interpreter.delay(interpreter.initial(), 1)
    assert named(interpreter, state) == ["go 1.0 0.0", "go 1.0 2.0"]
    after = interpreter.fire(state, Transition("go", (EdgeUse(1, 0), EdgeUse(2, 0))))
    assert after == ConcreteState((0, 1, 1), (14,), (Fraction(0), Fraction(3), Fraction(1)))
    zero, one, two = EdgeUse(0, 0), EdgeUse(1, 0), EdgeUse(2, 0)
    assert "receives go, it does not send it" in refusal(interpreter, state, "go", zero, one)
    assert "exactly one receiver, not 0" in refusal(interpreter, state, "go", one)
    assert "exactly one receiver, not 2" in refusal(interpreter, state, "go", one, zero, two)
    assert "sends go, not now" in refusal(interpreter, state, "now", one, zero)
    assert "takes part twice" in refusal(interpreter, state, "go", one, one)


def test_channel_arrays() -> None:
    i = Symbol("P0.e0", "i", SymbolKind.SELECT, IntType(0, 2))
    many = name(MANY.symbol)
    sender = process(edge(sync=(element(many, name(i)), "!"), selects=[Select(i, 0, 2)]))
    receiver = process(edge(sync=(element(many, n), "?")), edge(updates=[assign(n, number(2))]))
    interpreter = Interpreter(network(sender, receiver))
    state = interpreter.initial()
    assert named(interpreter, state) == ["many[0] 0.0(0) 1.0", "tau 1.1"]
    assert "does not receive many[1]" in refusal(
        interpreter, state, "many[1]", EdgeUse(0, 0, (1,)), EdgeUse(1, 0)
    )
    assert "nobody else takes part" in refusal(
        interpreter, state, "tau", EdgeUse(1, 1), EdgeUse(0, 0, (0,))
    )
    assert "it is not go" in refusal(interpreter, state, "go", EdgeUse(1, 1))


def test_broadcast() -> None:
    """One edge of every process that can receive; clock guards decide who can."""
    early = process(
        edge(sync=(ALL, "?"), guard=compare(x, "<=", 1), updates=[assign(n, number(1))]),
        edge(0, 0, sync=(ALL, "?"), guard=compare(x, "<=", 1)),
    )
    late = process(
        edge(sync=(ALL, "?"), guard=compare(x, ">=", 1), updates=[assign(n, compare(n, "+", 5))])
    )
    sender = process(edge(sync=(ALL, "!")))
    interpreter = Interpreter(network(late, sender, early))
    start = interpreter.initial()
    late_use, sender_use, early_use, other_use = (
        EdgeUse(0, 0),
        EdgeUse(1, 0),
        EdgeUse(2, 0),
        EdgeUse(2, 1),
    )
    assert named(interpreter, start) == ["all 1.0 2.0", "all 1.0 2.1"]
    both = interpreter.delay(start, 1)
    assert named(interpreter, both) == ["all 1.0 0.0 2.0", "all 1.0 0.0 2.1"]
    alone = interpreter.delay(start, 2)
    assert named(interpreter, alone) == ["all 1.0 0.0"]
    after = interpreter.fire(both, Transition("all", (sender_use, late_use, early_use)))
    # In the order of processes: 0 + 5, then 1.
    assert after.values == (1,)
    assert "P2 can receive the broadcast all, so it has to take part" in refusal(
        interpreter, both, "all", sender_use, late_use
    )
    assert "not in the order of processes" in refusal(
        interpreter, both, "all", sender_use, other_use, late_use
    )
    nobody = Interpreter(network(sender))
    assert named(nobody, nobody.initial()) == ["all 0.0"]


def test_broadcast_into_a_broken_invariant() -> None:
    """A receiver that cannot enter its target is not left out: there is no broadcast."""
    receiver = process(edge(sync=(ALL, "?")), invariants=(None, compare(n, ">", 0)))
    interpreter = Interpreter(network(process(edge(sync=(ALL, "!"))), receiver))
    state = interpreter.initial()
    assert named(interpreter, state) == []
    assert "the invariant of location P1.L1 does not hold" in refusal(
        interpreter, state, "all", EdgeUse(0, 0), EdgeUse(1, 0)
    )


def test_committed_locations_go_first() -> None:
    committed = process(edge(sync=(GO, "?")), kinds=("committed", "normal"))
    sender = process(edge(sync=(GO, "!")), edge())
    interpreter = Interpreter(network(sender, committed, process(edge(sync=(GO, "?")))))
    state = interpreter.initial()
    assert named(interpreter, state) == ["go 0.0 1.0"]
    assert "P1 is in a committed location" in refusal(interpreter, state, "tau", EdgeUse(0, 1))


def test_invariants_of_the_target() -> None:
    step = edge(guard=compare(x, ">=", 2), updates=[assign(y, number(1))])
    target = binary("&&", compare(y, "<=", 1), compare(x, "<=", 4))
    interpreter = Interpreter(network(process(step, invariants=(None, target))))
    start = interpreter.initial()
    assert named(interpreter, start) == []
    assert named(interpreter, interpreter.delay(start, 4)) == ["tau 0.0"]
    assert named(interpreter, interpreter.delay(start, 5)) == []


# -------------------------------------------------------------------------------------- priorities


def channel_number(wanted: Variable) -> int:
    channels = [of for of in VARIABLES if of not in (X, Y, N)]
    return channels.index(wanted)


def test_channel_priorities_block_at_this_moment_only() -> None:
    late = edge(sync=(GO, "!"), guard=compare(x, ">=", 3))
    model = network(
        process(late, edge()),
        process(edge(sync=(GO, "?"))),
        channel_priorities={channel_number(GO): 1},
    )
    interpreter = Interpreter(model)
    state = interpreter.initial()
    assert named(interpreter, state) == ["tau 0.1"]
    later = interpreter.delay(state, 3)
    assert named(interpreter, later) == ["go 0.0 1.0"]
    assert refusal(interpreter, later, "tau", EdgeUse(0, 1)) == (
        "go has a higher priority and is enabled"
    )


def test_low_priority_channels() -> None:
    model = network(
        process(edge(sync=(ALL, "!")), edge()), channel_priorities={channel_number(ALL): -1}
    )
    interpreter = Interpreter(model)
    assert named(interpreter, interpreter.initial()) == ["tau 0.1"]


def test_process_priorities_come_second() -> None:
    """The highest priority of the processes that take part counts, if channels are equal."""
    parts = (
        process(edge(sync=(GO, "!")), priority=1),
        process(edge(sync=(GO, "?")), edge(sync=(ALL, "!")), priority=3),
        process(edge(), priority=2),
    )
    interpreter = Interpreter(network(*parts))
    assert named(interpreter, interpreter.initial()) == ["go 0.0 1.0", "all 1.1"]
    interpreter = Interpreter(network(*parts, channel_priorities={channel_number(GO): -1}))
    assert named(interpreter, interpreter.initial()) == ["all 1.1"]
    interpreter = Interpreter(
        network(*parts, channel_priorities={channel_number(GO): -1, channel_number(ALL): -1})
    )
    assert named(interpreter, interpreter.initial()) == ["tau 2.0"]


def test_what_cannot_happen_does_not_block() -> None:
    high = process(edge(), priority=1, invariants=(None, compare(n, ">", 0)))
    interpreter = Interpreter(network(process(edge()), high))
    assert named(interpreter, interpreter.initial()) == ["tau 0.0"]


# ------------------------------------------------------------------------------ faults, the future


def test_faults_are_possible_steps() -> None:
    fault = edge(updates=[assign(n, number(21))])
    interpreter = Interpreter(network(process(fault), process(edge(), priority=-1)))
    state = interpreter.initial()
    assert named(interpreter, state) == ["tau 0.0"]
    with pytest.raises(EvaluationError) as caught:
        interpreter.fire(state, Transition("tau", (EdgeUse(0, 0),)))
    assert caught.value.fault is Fault.OUT_OF_RANGE
    assert not interpreter.deadlocked(state)


@pytest.mark.parametrize(
    ("guard", "invariant", "expected"),
    [
        (compare(x, ">", 3), None, False),
        (compare(x, ">", 3), compare(x, "<=", 3), True),
        (compare(x, ">=", 3), compare(x, "<=", 3), False),
        (compare(x, ">=", 3), compare(x, "<", 3), True),
        (binary("&&", compare(x, ">", 3), compare(y, "<", 4)), None, False),
        (binary("&&", compare(x, ">", 3), compare(y, "<=", 3)), None, True),
        (compare(n, ">", 0), None, True),
    ],
)
def test_deadlocks(guard: Expr, invariant: Expr | None, expected: bool) -> None:
    model = network(process(edge(guard=guard), invariants=(invariant, None)))
    interpreter = Interpreter(model)
    state = interpreter.initial()
    assert interpreter.deadlocked(state) is expected
    assert interpreter.holds(state, deadlock()) is expected
    assert interpreter.holds(state, negation(deadlock())) is not expected


def test_deadlock_with_a_target_that_is_reset() -> None:
    """The target's invariant speaks of a clock that the step itself sets."""
    step = edge(guard=compare(x, ">=", 2), updates=[assign(y, number(5))], target=1)
    model = network(process(step, invariants=(None, compare(y, "<=", 4))))
    assert Interpreter(model).deadlocked(Interpreter(model).initial())


@pytest.mark.parametrize(
    ("kind", "invariant", "guard", "expected"),
    [
        ("normal", None, None, True),
        ("urgent", None, None, False),
        ("normal", compare(x, "<", 9), None, False),
        ("normal", compare(n, "<", 9), None, True),
        ("normal", None, compare(x, ">", 100), False),
        ("normal", None, compare(n, ">", 0), True),
    ],
)
def test_waiting_for_ever(
    kind: Kind, invariant: Expr | None, guard: Expr | None, expected: bool
) -> None:
    urgent = edge(sync=(NOW, "!"), guard=compare(n, ">", 0) if guard is None else guard)
    part = process(urgent, kinds=(kind, "normal"), invariants=(invariant, None))
    interpreter = Interpreter(network(part, process(edge(sync=(NOW, "?")))))
    assert interpreter.can_wait_for_ever(interpreter.initial()) is expected


def test_formulas() -> None:
    interpreter = Interpreter(network(process(edge())))
    state = interpreter.delay(interpreter.initial(), Fraction(5, 2))
    assert interpreter.holds(state, binary("&&", at(0, 0), compare(x, ">", 2)))
    assert not interpreter.holds(state, binary("||", at(0, 1), compare(x, "==", 2)))


# ------------------------------------------------------------------------- against the reference

SMALL = Features(processes=2, locations=3, edges=2, faults=False)
DELAYS = st.sampled_from([Fraction(d, 4) for d in (0, 0, 1, 2, 3, 4, 6, 8, 12)])


@given(data=st.data(), model=networks(SMALL))
def test_walks_stay_inside_what_is_reachable(data: st.DataObject, model: Network) -> None:
    try:
        reachable = reachable_discrete(model)
        answer = allowed_answers(model, Query("E<>", deadlock()))
    except (TooLarge, ModelError):
        return
    interpreter = Interpreter(model)
    try:
        state = interpreter.initial()
    except IllegalStep:
        return
    found_deadlock = False
    for _ in range(6):
        assert (state.locations, state.values) in reachable
        found_deadlock |= interpreter.deadlocked(state)
        delay = data.draw(DELAYS)
        if interpreter.refuses_delay(state, delay) is None:
            state = interpreter.delay(state, delay)
        possible = interpreter.enabled(state)
        for transition in possible:
            assert interpreter.refuses(state, transition) is None
        if not possible:
            break
        state = interpreter.fire(state, data.draw(st.sampled_from(possible)))
    if found_deadlock:
        assert answer != {"violated"}


#: Without anything that makes a set of clock values open, whole time units reach everything
#: (Henzinger, Manna & Pnueli, "What good are digital clocks?", 1992).
CLOSED = replace(
    SMALL,
    strict=False,
    diagonals=False,
    symbolic_bounds=False,
    receiver_clocks=False,
    urgent_channels=False,
    channel_priorities=False,
    process_priorities=False,
)
#: More than any constant in these networks.
CEILING = Fraction(8)


@given(model=networks(CLOSED))
def test_whole_time_units_reach_everything(model: Network) -> None:
    try:
        reachable = reachable_discrete(model)
    except (TooLarge, ModelError):
        return
    interpreter = Interpreter(model)
    try:
        start = interpreter.initial()
    except IllegalStep:
        return
    seen = {start}
    todo = [start]
    while todo:
        state = todo.pop()
        successors = [interpreter.fire(state, step) for step in interpreter.enabled(state)]
        if interpreter.refuses_delay(state, Fraction(1)) is None:
            later = interpreter.delay(state, 1)
            clocks = tuple(min(clock, CEILING) for clock in later.clocks)
            successors.append(replace(later, clocks=clocks))
        for successor in successors:
            if successor not in seen:
                seen.add(successor)
                todo.append(successor)
    assert {(state.locations, state.values) for state in seen} == reachable
