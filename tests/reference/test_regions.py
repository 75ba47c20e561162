"""The reference checker on cases that are small enough to be decided by thinking."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reference.networks import (
    PRESETS,
    Features,
    Model,
    assign,
    at,
    binary,
    deadlock,
    element,
    models,
    name,
    negation,
    number,
    quantifier,
    text_of,
    to_uppaal_xml,
    truth,
    variable,
)
from tests.reference.regions import (
    Bound,
    ModelError,
    Reference,
    TooLarge,
    allowed_answers,
    reachable_count_discrete,
    reachable_discrete,
    reachable_valuations,
    reference_check,
)

from whence.expr.tree import Expr, Step, Symbol, SymbolKind
from whence.expr.types import BOOL, CLOCK, ArrayType, ChannelType, IntType
from whence.model.network import (
    Edge,
    Location,
    Network,
    Process,
    Query,
    QueryKind,
    Select,
    Synchronisation,
    Variable,
)

# ---------------------------------------------------------------------- models in few words

X = variable("x", CLOCK)
Y = variable("y", CLOCK)
x, y = name(X.symbol), name(Y.symbol)


def every(*parts: Expr) -> Expr:
    result = parts[0]
    for part in parts[1:]:
        result = binary("&&", result, part)
    return result


def compare(op: str, left: Expr, right: int | Expr) -> Expr:
    return binary(op, left, number(right) if isinstance(right, int) else right)


def le(left: Expr, right: int | Expr) -> Expr:
    return compare("<=", left, right)


def lt(left: Expr, right: int | Expr) -> Expr:
    return compare("<", left, right)


def ge(left: Expr, right: int | Expr) -> Expr:
    return compare(">=", left, right)


def gt(left: Expr, right: int | Expr) -> Expr:
    return compare(">", left, right)


def eq(left: Expr, right: int | Expr) -> Expr:
    return compare("==", left, right)


def minus(left: Expr, right: Expr) -> Expr:
    return binary("-", left, right)


def imply(left: Expr, right: Expr) -> Expr:
    return binary("imply", left, right)


def put(target: Expr, value: int | Expr) -> Expr:
    return assign(target, number(value) if isinstance(value, int) else value)


def place(
    invariant: Expr | None = None, kind: Literal["normal", "urgent", "committed"] = "normal"
) -> Location:
    return Location("", kind, invariant)


def edge(
    source: int,
    target: int,
    guard: Expr | None = None,
    *updates: Expr,
    send: Expr | None = None,
    receive: Expr | None = None,
    selects: Sequence[Select] = (),
) -> Edge:
    channel = send or receive
    action = None if channel is None else Synchronisation(channel, "!" if send else "?")
    return Edge(source, target, tuple(selects), guard, action, updates)


def process(places: int | Sequence[Location], *edges: Edge, priority: int = 0) -> Process:
    locations = [place()] * places if isinstance(places, int) else places
    named = tuple(replace(one, name=f"L{index}") for index, one in enumerate(locations))
    return Process("", "", named, edges, 0, priority=priority)


def network(variables: Sequence[Variable], *processes: Process, **more: Any) -> Network:
    named = tuple(
        replace(one, name=f"P{index}", template=f"P{index}") for index, one in enumerate(processes)
    )
    return Network("test", tuple(variables), named, **more)


def check(model: Network, kind: QueryKind, predicate: Expr, second: Expr | None = None) -> bool:
    answer = reference_check(model, Query(kind, predicate, second))
    assert answer in ("satisfied", "violated")
    return answer == "satisfied"


def extreme(model: Network, kind: QueryKind, expr: Expr, where: Expr | None = None) -> Bound:
    answer = reference_check(model, Query(kind, where, None, (expr,)))
    assert not isinstance(answer, str), answer
    (bound,) = answer[1]
    return bound


# ------------------------------------------------------------------------------ reachability


def fischer(enter: str, k: int = 2) -> Network:
    """Fischer's protocol: write within k, wait for longer than k (or, wrong, for at least k)."""
    owner = variable("owner", IntType(0, 2))
    who = name(owner.symbol)
    clocks = [X, Y]
    processes = []
    for index, clock in enumerate((x, y)):
        processes.append(
            process(
                [place(), place(le(clock, k)), place(), place()],
                edge(0, 1, eq(who, 0), put(clock, 0)),
                edge(1, 2, le(clock, k), put(clock, 0), put(who, index + 1)),
                edge(2, 3, every(compare(enter, clock, k), eq(who, index + 1))),
                edge(2, 1, eq(who, 0), put(clock, 0)),
                edge(3, 0, None, put(who, 0)),
            )
        )
    return network([owner, *clocks], *processes)


@pytest.mark.parametrize(("enter", "safe"), [(">", True), (">=", False)])
def test_fischer(enter: str, safe: bool) -> None:
    model = fischer(enter)
    assert check(model, "A[]", negation(every(at(0, 3), at(1, 3)))) is safe
    assert check(model, "E<>", at(1, 3))
    assert check(model, "A[]", negation(deadlock()))


def test_strict_bounds_and_equal_clocks() -> None:
    model = network([X, Y], process(2, edge(0, 1, every(gt(x, 1), lt(y, 2)), put(y, 0))))
    assert check(model, "E<>", at(0, 1))
    assert check(model, "E<>", every(at(0, 1), eq(y, 0), gt(x, 1), lt(x, 2)))
    assert not check(model, "E<>", every(at(0, 1), eq(y, 0), ge(x, 2)))
    assert not check(model, "E<>", every(at(0, 0), lt(x, 1), gt(y, 1)))
    assert not check(model, "E<>", every(at(0, 0), compare("!=", minus(x, y), 0)))
    # The fractions stay where they are: x is ahead of y by more than 1 and less than 2.
    assert check(model, "E<>", every(at(0, 1), lt(y, 2), gt(x, 3)))
    assert not check(model, "E<>", every(at(0, 1), eq(y, 2), le(x, 3)))


def test_differences_outlive_the_caps() -> None:
    model = network([X, Y], process(2, edge(0, 1, ge(x, 1), put(y, 0)), edge(1, 1, ge(y, 3))))
    assert check(model, "A[]", imply(at(0, 1), ge(minus(x, y), 1)))
    assert check(model, "E<>", every(at(0, 1), ge(y, 3), eq(minus(x, y), 1)))
    assert check(model, "E<>", every(at(0, 1), ge(y, 3), gt(minus(x, y), 1)))
    assert not check(model, "E<>", every(at(0, 1), lt(x, y)))


@pytest.mark.parametrize("apart", [-2, -1, 0, 1, 2, 3])
def test_nonzero_resets_under_differences(apart: int) -> None:
    """y is compared with nothing but x, and x is only ever set: to 2. All that a cap that does
    not count resets would remember of y is too little."""
    model = network([X, Y], process(2, edge(0, 1, None, put(x, 2))))
    reached = every(at(0, 1), eq(minus(y, x), apart))
    assert check(model, "E<>", reached) is (apart >= -2)
    assert check(model, "E<>", every(reached, eq(x, 2), eq(y, apart + 2)))
    assert not check(model, "E<>", every(reached, eq(x, 2), gt(y, apart + 2)))
    assert not check(model, "E<>", every(at(0, 1), lt(minus(y, x), -2)))


def test_bounds_can_depend_on_data() -> None:
    limit = variable("limit", IntType(0, 5), 3)
    bound = name(limit.symbol)
    model = network(
        [limit, X],
        process(
            [place(le(x, bound)), place()],
            edge(0, 0, eq(x, bound), put(bound, binary("<?", minus(bound, number(-1)), number(5)))),
            edge(0, 1, gt(x, 4)),
        ),
    )
    assert check(model, "E<>", at(0, 1))
    assert extreme(model, "sup", x, at(0, 0)) == Bound(5, False)
    assert extreme(model, "inf", x, at(0, 1)) == Bound(4, True)


def test_invariant_of_the_target() -> None:
    model = network([X], process([place(), place(le(x, 2))], edge(0, 1)))
    assert check(model, "A[]", imply(at(0, 1), le(x, 2)))
    assert check(model, "A[]", imply(every(at(0, 0), gt(x, 2)), deadlock()))


def test_initial_state_outside_its_invariant() -> None:
    model = network([X], process([place(lt(x, 0))]))
    assert reference_check(model, Query("E<>", truth(True))) == "error"


# --------------------------------------------------------------------------------- deadlock


def test_deadlock() -> None:
    assert check(network([], process(1)), "A[]", deadlock())
    assert not check(network([], process(1, edge(0, 0))), "E<>", deadlock())
    until_two = network([X], process(1, edge(0, 0, le(x, 2))))
    assert check(until_two, "A[]", binary("==", gt(x, 2), deadlock()))
    from_three = network([X], process(1, edge(0, 0, ge(x, 3))))
    assert not check(from_three, "E<>", deadlock())
    too_late = network([X], process([place(le(x, 2))], edge(0, 0, ge(x, 3))))
    assert check(too_late, "A[]", deadlock())
    frozen = network([X], process([place(kind="urgent")], edge(0, 0, ge(x, 1))))
    assert check(frozen, "A[]", every(deadlock(), eq(x, 0)))
    missed_point = network([X], process([place(lt(x, 2))], edge(0, 0, eq(x, 2))))
    assert check(missed_point, "A[]", deadlock())


# ------------------------------------------------------------------------- synchronisation


def channel(label: str = "c", *, broadcast: bool = False, urgent: bool = False) -> Variable:
    return variable(label, ChannelType(broadcast, urgent))


def test_binary_synchronisation() -> None:
    c = channel()
    v = variable("v", IntType(0, 9))
    go, value = name(c.symbol), name(v.symbol)
    double = put(value, binary("*", value, number(2)))
    receiver = process(2, edge(0, 1, None, double, receive=go))
    sender = process(2, edge(0, 1, None, put(value, 3), send=go))
    # The sender's update comes first, wherever the sender stands.
    for pair in ((sender, receiver), (receiver, sender)):
        model = network([c, v], *pair)
        assert check(model, "A[]", imply(at(0, 1), every(at(1, 1), eq(value, 6))))
        assert check(model, "E<>", at(0, 1))
    assert reachable_count_discrete(network([c, v], sender, receiver)) == 2
    # Three processes: one of two receivers, never both. Alone, nobody synchronises.
    model = network([c, v], sender, receiver, receiver)
    assert check(model, "E<>", at(1, 1))
    assert check(model, "E<>", at(2, 1))
    assert not check(model, "E<>", every(at(1, 1), at(2, 1)))
    both = process(2, edge(0, 1, None, send=go), edge(0, 1, None, receive=go))
    assert not check(network([c, v], both), "E<>", at(0, 1))
    assert check(network([c, v], both, both), "E<>", every(at(0, 1), at(1, 1)))


@pytest.mark.parametrize("urgent", [True, False])
def test_urgent_channel(urgent: bool) -> None:
    c = channel(urgent=urgent)
    go = name(c.symbol)
    sender, receiver = process(2, edge(0, 1, None, send=go)), process(2, edge(0, 1, receive=go))
    model = network([c, X], sender, receiver)
    assert check(model, "A[]", imply(at(0, 0), eq(x, 0))) is urgent
    assert check(model, "A<>", at(0, 1)) is urgent
    assert check(model, "E<>", every(at(0, 1), gt(x, 5)))
    # Urgent is a synchronisation, not an offer.
    assert check(network([c, X], sender), "E<>", every(at(0, 0), gt(x, 5)))


def test_urgency_is_a_matter_of_guards() -> None:
    """An urgent synchronisation stops time even if an invariant then forbids it."""
    c, flag = channel(urgent=True), variable("flag", BOOL)
    go = name(c.symbol)
    model = network(
        [c, flag, X],
        process([place(), place(name(flag.symbol))], edge(0, 1, None, send=go)),
        process(2, edge(0, 1, receive=go)),
    )
    assert check(model, "A[]", every(eq(x, 0), deadlock()))


def test_urgent_broadcast_needs_no_receiver() -> None:
    c = channel(broadcast=True, urgent=True)
    model = network([c, X], process(2, edge(0, 1, None, send=name(c.symbol))))
    assert check(model, "A[]", imply(at(0, 0), eq(x, 0)))
    assert check(model, "E<>", at(0, 1))


def test_broadcast() -> None:
    c = channel(broadcast=True)
    v = variable("v", IntType(0, 99), 1)
    flag = variable("flag", BOOL)
    go, value = name(c.symbol), name(v.symbol)

    def append(digit: int) -> Expr:
        tens = binary("*", value, number(10))
        return put(value, binary("%", binary("+", tens, number(digit)), number(100)))

    model = network(
        [c, v, flag],
        process(2, edge(0, 1, None, append(2), receive=go)),
        process(2, edge(0, 1, None, append(1), send=go)),
        process(2, edge(0, 1, None, append(3), receive=go)),
        process(2, edge(0, 1, name(flag.symbol), append(4), receive=go)),
    )
    # All that can, do: sender first, then by process; the last one's guard is false.
    after = every(at(0, 1), at(2, 1), at(3, 0), eq(value, 23))
    assert check(model, "A[]", imply(at(1, 1), after))
    assert check(model, "E<>", at(1, 1))
    assert reachable_count_discrete(model) == 2


def test_broadcast_with_two_edges_of_one_receiver() -> None:
    c = channel(broadcast=True)
    go = name(c.symbol)
    chooser = process(3, edge(0, 1, receive=go), edge(0, 2, receive=go))
    model = network([c], process(2, edge(0, 1, None, send=go)), chooser, chooser)
    assert reachable_count_discrete(model) == 1 + 4


def test_clock_guard_of_a_receiver() -> None:
    c = channel(broadcast=True)
    go = name(c.symbol)
    model = network(
        [c, X],
        process([place(), place(kind="committed")], edge(0, 1, None, send=go)),
        process(2, edge(0, 1, ge(x, 1), receive=go)),
    )
    assert check(model, "A[]", imply(at(0, 1), binary("==", at(1, 1), ge(x, 1))))


def test_receiver_that_must_take_part_but_may_not_arrive() -> None:
    c = channel(broadcast=True)
    go = name(c.symbol)
    model = network(
        [c, X],
        process(2, edge(0, 1, None, send=go)),
        process([place(), place(le(x, 1))], edge(0, 1, receive=go)),
    )
    assert not check(model, "E<>", every(at(0, 1), at(1, 0)))
    assert check(model, "A[]", imply(every(at(0, 0), gt(x, 1)), deadlock()))


def test_channel_array_and_select() -> None:
    array = variable("c", ArrayType(ChannelType(), IntType(0, 2)))
    v = variable("v", IntType(0, 3))
    choice = Symbol("P0.e0", "i", SymbolKind.SELECT, IntType(0, 2))
    model = network(
        [array, v],
        process(
            2,
            edge(
                0,
                1,
                compare("!=", name(choice), 1),
                put(name(v.symbol), name(choice)),
                send=element(name(array.symbol), name(choice)),
                selects=[Select(choice, 0, 2)],
            ),
        ),
        *(process(2, edge(0, 1, receive=element(name(array.symbol), number(i)))) for i in range(3)),
    )
    for index in range(3):
        found = every(at(0, 1), at(index + 1, 1), eq(name(v.symbol), index))
        assert check(model, "E<>", found) is (index != 1)
    assert reachable_count_discrete(model) == 3


def test_committed_locations() -> None:
    c = channel()
    go = name(c.symbol)
    committed = process([place(kind="committed"), place()], edge(0, 1))
    model = network([X, c], committed, process(2, edge(0, 1)))
    assert not check(model, "E<>", every(at(0, 0), at(1, 1)))
    assert check(model, "E<>", every(at(0, 1), at(1, 1)))
    assert check(model, "A[]", imply(at(0, 0), eq(x, 0)))
    # It is enough that one participant leaves a committed location, be it the receiver.
    receiver = process([place(kind="committed"), place()], edge(0, 1, receive=go))
    model = network([c], receiver, process(2, edge(0, 1, None, send=go)), process(2, edge(0, 1)))
    assert not check(model, "E<>", every(at(0, 0), at(2, 1)))
    assert check(model, "A<>", at(1, 1))
    # A committed location that nothing can leave stops everything.
    stuck = network([], process([place(kind="committed")]), process(2, edge(0, 1)))
    assert check(stuck, "A[]", deadlock())


# ------------------------------------------------------------------------------- priorities


def test_priorities_of_processes() -> None:
    def model(high: Process) -> Network:
        return network([X], process(2, edge(0, 1)), replace(high, priority=1))

    first = every(at(0, 1), at(1, 0))
    always = model(process(2, edge(0, 1)))
    assert not check(always, "E<>", first)
    assert check(always, "E<>", at(0, 1))
    # It blocks at the moments at which it is possible, and delays are not blocked.
    early = model(process(2, edge(0, 1, le(x, 1))))
    assert check(early, "E<>", first)
    assert check(early, "A[]", imply(first, gt(x, 1)))
    # What cannot be taken because of an invariant blocks nothing.
    forbidden = model(process([place(), place(lt(x, 0))], edge(0, 1)))
    assert check(forbidden, "E<>", every(first, eq(x, 0)))


def test_priorities_of_channels_come_first() -> None:
    low, high = channel("low", broadcast=True), channel("high", broadcast=True)
    below = process(2, edge(0, 1, None, send=name(low.symbol)), priority=2)
    internal = process(2, edge(0, 1), priority=0)
    above = process(2, edge(0, 1, None, send=name(high.symbol)), priority=1)
    model = network([low, high], below, internal, above, channel_priorities={0: -1, 1: 1})
    # high, internal, low: one order only, though `below` is the most important process.
    assert reachable_discrete(model) == {
        (locations, ()) for locations in [(0, 0, 0), (0, 0, 1), (0, 1, 1), (1, 1, 1)]
    }
    # Without the channels' priorities, the processes' decide.
    assert not check(replace(model, channel_priorities={}), "E<>", every(at(2, 1), at(0, 0)))


def test_priority_of_a_synchronisation_is_its_highest_process() -> None:
    c = channel()
    go = name(c.symbol)
    model = network(
        [c],
        process(2, edge(0, 1, None, send=go), priority=0),
        process(2, edge(0, 1), priority=1),
        process(2, edge(0, 1, receive=go), priority=2),
    )
    assert not check(model, "E<>", every(at(1, 1), at(0, 0)))
    assert check(model, "A<>", at(0, 1)) is False  # delays are never blocked
    assert check(model, "E<>", every(at(0, 1), at(1, 0)))


# --------------------------------------------------------------------------------- liveness


def test_time_that_stops() -> None:
    closed = network([X], process([place(le(x, 2))]))
    assert check(closed, "E[]", le(x, 2))
    assert not check(closed, "E[]", lt(x, 2))
    assert check(closed, "A<>", ge(x, 2))
    assert not check(closed, "A<>", gt(x, 2))
    open_ = network([X], process([place(lt(x, 2))]))
    assert check(open_, "E[]", lt(x, 2))
    assert check(open_, "A<>", gt(x, 1))
    assert not check(open_, "A<>", ge(x, 2))
    frozen = network([X], process([place(kind="urgent")]))
    assert check(frozen, "E[]", eq(x, 0))


def test_time_that_passes_for_ever() -> None:
    def model(first: Location, guard: Expr | None = None) -> Network:
        return network([X], process([first, place()], edge(0, 1, guard)))

    assert not check(model(place()), "A<>", at(0, 1))
    assert check(model(place()), "E[]", at(0, 0))
    assert not check(model(place()), "E[]", every(at(0, 0), le(x, 2)))
    assert not check(model(place()), "E[]", le(x, 2))
    assert check(model(place()), "A<>", gt(x, 7))
    assert check(model(place(kind="urgent")), "A<>", at(0, 1))
    assert check(model(place(le(x, 3))), "A<>", at(0, 1))
    assert not check(model(place(le(x, 3)), ge(x, 5)), "A<>", at(0, 1))
    # Under a strict invariant there is no last moment, but something can always happen still.
    assert check(model(place(lt(x, 3))), "A<>", at(0, 1))
    assert check(model(place(lt(x, 3)), gt(x, 2)), "A<>", at(0, 1))
    # Who lets the only chance go by is stuck in the end.
    assert not check(model(place(lt(x, 3)), le(x, 2)), "A<>", at(0, 1))
    assert check(model(place(lt(x, 3)), le(x, 2)), "E[]", at(0, 0))
    assert not check(model(place(), le(x, 2)), "E[]", every(at(0, 0), le(x, 2)))


def test_zeno_runs_count() -> None:
    zeno = network([X], process(1, edge(0, 0, lt(x, 1))))
    assert check(zeno, "E[]", lt(x, 1))
    assert check(zeno, "E[]", eq(x, 0))
    no_zeno = network([X], process([place(le(x, 1))], edge(0, 0, eq(x, 1), put(x, 0))))
    assert not check(no_zeno, "E[]", lt(x, 1))
    assert check(no_zeno, "E[]", le(x, 1))
    assert check(no_zeno, "A<>", eq(x, 1))


def test_p_must_hold_during_delays() -> None:
    model = network([X], process([place(le(x, 2))], edge(0, 0, eq(x, 2), put(x, 0))))
    assert not check(model, "E[]", compare("!=", x, 1))
    assert check(model, "E[]", compare("!=", x, 3))
    assert check(model, "A<>", every(gt(x, 1), lt(x, 2)))


def test_no_successors_without_p() -> None:
    """A run may not end just because all that can happen next violates p."""
    model = network([], process([place(kind="urgent"), place()], edge(0, 1)))
    assert not check(model, "E[]", at(0, 0))
    assert check(model, "A<>", at(0, 1))
    assert not check(model, "E[]", truth(False))
    assert check(model, "E[]", truth(True))


def test_leads_to() -> None:
    model = network(
        [X],
        process(
            [place(), place(le(x, 5)), place()],
            edge(0, 1, ge(x, 1), put(x, 0)),
            edge(1, 2, ge(x, 2)),
            edge(2, 0, None, put(x, 0)),
        ),
    )
    assert check(model, "-->", at(0, 1), at(0, 2))
    assert check(model, "-->", at(0, 1), at(0, 1))
    assert not check(model, "-->", at(0, 0), at(0, 1))
    assert not check(model, "-->", at(0, 2), at(0, 0))
    assert check(model, "-->", every(at(0, 1), eq(x, 1)), every(at(0, 1), eq(x, 2)))
    # Not everybody waits until 5.
    assert not check(model, "-->", at(0, 1), every(at(0, 1), eq(x, 5)))
    assert check(model, "-->", truth(False), truth(False))


def test_deadlock_inside_liveness() -> None:
    model = network([X], process([place(le(x, 3))], edge(0, 0, le(x, 1))))
    assert check(model, "A<>", deadlock()) is False  # Zeno: it may loop for ever
    assert check(model, "E[]", negation(deadlock()))
    assert check(model, "-->", gt(x, 1), eq(x, 3))


# ---------------------------------------------------------------------------- data and faults


def test_arithmetic_is_that_of_c() -> None:
    v = variable("v", IntType(-99, 99))
    value = name(v.symbol)
    cases: list[tuple[str, int, int, int]] = [
        ("/", -7, 2, -3),
        ("/", 7, -2, -3),
        ("%", -7, 2, -1),
        ("%", 7, -2, 1),
        ("<<", 3, 2, 12),
        (">>", -5, 1, -3),
        ("<?", 3, -4, -4),
        (">?", 3, -4, 3),
        ("^", 6, 3, 5),
        ("&", 6, 3, 2),
        ("|", 6, 3, 7),
    ]
    for op, left, right, result in cases:
        update = put(value, binary(op, number(left), number(right)))
        model = network([v], process(2, edge(0, 1, None, update)))
        assert extreme(model, "sup", value, at(0, 1)) == Bound(result, False), op


@pytest.mark.parametrize(
    ("op", "prefix", "seen"), [("++", True, 5), ("++", False, 4), ("--", True, 3), ("--", False, 4)]
)
def test_steps(op: str, prefix: bool, seen: int) -> None:
    v, w = variable("v", IntType(0, 9), 4), variable("w", IntType(0, 9))
    value, copy = name(v.symbol), name(w.symbol)
    update = put(copy, Step(op, prefix, value, type=value.type))
    model = network([v, w], process(2, edge(0, 1, None, update)))
    after = 5 if op == "++" else 3
    assert check(model, "A[]", imply(at(0, 1), every(eq(copy, seen), eq(value, after))))


def test_arrays_and_quantifiers() -> None:
    array = variable("a", ArrayType(IntType(0, 3), IntType(0, 2)), 1, 2, 3)
    position = variable("i", IntType(0, 2))
    a, i = name(array.symbol), name(position.symbol)
    each = Symbol("q", "q", SymbolKind.BOUND, IntType(0, 2))
    model = network(
        [array, position],
        process(
            1,
            edge(
                0,
                0,
                gt(element(a, i), 0),
                assign(element(a, i), number(1), "-="),
                put(i, binary("%", binary("+", i, number(1)), number(3))),
            ),
        ),
    )
    assert extreme(model, "inf", quantifier("sum", each, element(a, name(each)))) == Bound(3, False)
    assert check(model, "E<>", quantifier("exists", each, eq(element(a, name(each)), 0)))
    assert not check(model, "E<>", quantifier("forall", each, eq(element(a, name(each)), 0)))
    # 123 023 013 012, where a[0] is 0 and blocks.
    assert reachable_count_discrete(model) == 4
    assert check(model, "A<>", deadlock()) is False
    assert check(model, "E<>", deadlock())


def test_faults() -> None:
    v = variable("v", IntType(0, 1))
    value = name(v.symbol)
    count = assign(value, number(1), "+=")
    model = network([v], process(1, edge(0, 0, None, count)))
    assert reference_check(model, Query("E<>", eq(value, 1))) == "error"
    assert allowed_answers(model, Query("E<>", eq(value, 1))) == {"satisfied", "error"}
    assert allowed_answers(model, Query("E<>", gt(value, 1))) == {"error"}
    assert allowed_answers(model, Query("A[]", le(value, 1))) == {"error"}
    assert allowed_answers(model, Query("A[]", eq(value, 0))) == {"violated", "error"}
    # The fault lies beyond what E[] v == 0 has to look at.
    assert allowed_answers(model, Query("E[]", eq(value, 0))) == {"satisfied", "error"}
    assert allowed_answers(model, Query("sup", None, None, (value,))) == {"error"}
    assert not check(network([v], process(1, edge(0, 0, eq(value, 0), count))), "E<>", gt(value, 1))


@pytest.mark.parametrize("fault", ["range", "division", "index", "clock", "overflow"])
def test_each_fault_is_one(fault: str) -> None:
    v, array = variable("v", IntType(0, 3)), variable("a", ArrayType(BOOL, IntType(0, 1)))
    value = name(v.symbol)
    big = number(2**31 - 1)
    updates = {
        "range": put(value, 4),
        "division": put(value, binary("/", number(1), value)),
        "index": put(element(name(array.symbol), minus(value, number(1))), 1),
        "clock": put(x, -1),
        "overflow": put(value, binary("%", binary("+", big, number(1)), number(2))),
    }
    model = network([v, array, X], process(1, edge(0, 0, ge(x, 2), updates[fault])))
    assert allowed_answers(model, Query("A[]", truth(True))) == {"error"}
    assert not reachable_discrete(model) - {((0,), (0, 0, 0))}


def test_fault_of_a_guard_may_be_missed() -> None:
    c, v = channel(), variable("v", IntType(0, 3))
    guard = eq(binary("/", number(1), name(v.symbol)), 1)
    model = network([c, v], process(2, edge(0, 1, guard, send=name(c.symbol))))
    assert allowed_answers(model, Query("A[]", at(0, 0))) == {"satisfied", "error"}


def test_fault_that_is_blocked_by_a_higher_priority() -> None:
    v = variable("v", IntType(0, 1))
    low = process(2, edge(0, 1, None, put(name(v.symbol), 2)), priority=0)
    high = process(1, edge(0, 0), priority=1)
    assert check(network([v], low, high), "A[]", at(0, 0))


# ---------------------------------------------------------------------------------- suprema


def test_suprema_of_clocks() -> None:
    model = network(
        [X, Y],
        process(
            [place(lt(x, 3)), place(le(x, 3)), place()],
            edge(0, 1, gt(x, 1), put(x, 0)),
            edge(1, 2, every(eq(x, 3))),
        ),
    )
    assert extreme(model, "sup", x, at(0, 0)) == Bound(3, True)
    assert extreme(model, "inf", x, at(0, 0)) == Bound(0, False)
    assert extreme(model, "sup", y, at(0, 1)) == Bound(6, True)  # far beyond any constant
    assert extreme(model, "inf", y, at(0, 1)) == Bound(1, True)
    assert extreme(model, "inf", y, at(0, 2)) == Bound(4, True)
    assert extreme(model, "sup", y) == Bound(None, True)
    assert reference_check(model, Query("sup", truth(False), None, (x,))) == ("value", ())


# --------------------------------------------------------------------------- random networks


def _with_caps(model: Network, query: Query, finer: Callable[[Any], None]) -> object:
    reference = Reference(model)
    finer(reference.caps)
    return reference.outcome(query)


@given(models(Features(faults=True, processes=2, locations=3, edges=2)), st.integers(1, 3))
def test_a_finer_equivalence_changes_nothing(model: Model, extra: int) -> None:
    """Larger caps, and differences though nobody asks for them, only cost time."""
    tiny, queries = model.network, model.queries

    def higher(caps: Any) -> None:
        caps.single = [cap + extra for cap in caps.single]
        if caps.difference >= 0:
            caps.single = [max(caps.single) + extra] * len(caps.single)

    def differences(caps: Any) -> None:
        if caps.single:
            caps.difference = max(caps.difference, extra)
            caps._lift()

    for query in queries:
        try:
            expected = Reference(tiny).outcome(query)
            assert _with_caps(tiny, query, higher) == expected
            assert _with_caps(tiny, query, differences) == expected
        except (ModelError, TooLarge):
            continue


@given(models(Features(faults=True)))
def test_duals(model: Model) -> None:
    tiny, queries = model.network, model.queries
    for query in queries:
        if query.predicate is None or query.kind in ("sup", "inf", "-->"):
            continue
        dual: QueryKind = {"E<>": "A[]", "A[]": "E<>", "E[]": "A<>", "A<>": "E[]"}[query.kind]  # type: ignore[assignment]
        answers = {
            reference_check(tiny, query),
            reference_check(tiny, Query(dual, negation(query.predicate))),
        }
        assert answers in ({"satisfied", "violated"}, {"error"})


@given(models(Features(faults=True)))
def test_written_networks_are_well_formed(model: Model) -> None:
    tiny, queries = model.network, model.queries
    root = ElementTree.fromstring(to_uppaal_xml(tiny, queries))
    assert [len(t.findall("transition")) for t in root.findall("template")] == [
        len(one.edges) for one in tiny.processes
    ]
    assert [one.findtext("formula") for one in root.iter("query")] == [q.text for q in queries]


@pytest.mark.parametrize("preset", PRESETS)
@given(data=st.data())
def test_every_random_network_can_be_decided(preset: str, data: st.DataObject) -> None:
    model = data.draw(models(PRESETS[preset]))
    reference = Reference(model.network, limit=2_000)
    try:
        # The initial state is there, or this would fail.
        assert reachable_discrete(model.network, limit=2_000)
        valuations = reachable_valuations(model.network, limit=2_000)
        assert all(min(clocks, default=0) >= 0 for _, _, clocks in valuations)
        for query in model.queries:
            answer = reference.check(query)
            assert answer in reference.allowed(query) or answer == "error"
            assert PRESETS[preset].faults or answer != "error"
    except TooLarge:
        pass


def test_text() -> None:
    mine = name(variable("v", IntType(0, 3), scope="P1").symbol)
    assert text_of(le(mine, 2)) == "(P1.v <= 2)"
    assert text_of(le(mine, 2), "P1") == "(v <= 2)"
    assert text_of(put(x, -1)) == "x = (-1)"
