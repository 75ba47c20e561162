"""The reference itself, on what the thesis works out by hand."""

from tests.reference.causes import (
    System,
    causal_trace_set,
    classes,
    events_of,
    is_bad_trace,
    is_weak_cause,
    linear_extensions,
    non_occurrences,
    strict_partial_orders,
    weak_causes,
)


def crossing(sees_trains: bool = True) -> System:
    """The unguarded crossing of section 6.1: a train and a car, each away, near or in it. Without
    `sees_trains`, the car enters even if the train is in it."""
    edges: list[tuple[int, str | None, int]] = []
    for train in range(3):
        for car in range(3):
            state = 3 * train + car
            edges.append((state, ("Ta", "Tc", "Tl")[train], 3 * ((train + 1) % 3) + car))
            if not (sees_trains and train == 2 and car == 1):
                edges.append((state, ("Ca", "Cc", "Cl")[car], 3 * train + (car + 1) % 3))
    return System(9, tuple(edges), frozenset({0}), frozenset({8}))


TA, TC, CA, CC = (("Ta", 1), ("Tc", 1), ("Ca", 1), ("Cc", 1))


def test_the_unguarded_crossing() -> None:
    """Section 6.1: one cause over {Ta, Tc, Ca, Cc} with three causal traces."""
    traces = causal_trace_set(crossing())
    assert traces == {
        ("Ta", "Ca", "Cc", "Tc"),
        ("Ca", "Ta", "Cc", "Tc"),
        ("Ca", "Cc", "Ta", "Tc"),
    }
    assert len(classes(traces)) == 1
    order = frozenset({(CA, CC), (CC, TC), (TA, TC), (CA, TC)})
    events = frozenset({TA, TC, CA, CC})
    assert weak_causes(crossing()) == {(events, order)}
    assert len(linear_extensions(events, order)) == 3
    assert not is_weak_cause(crossing(), events, order - {(CA, CC)})
    assert not is_weak_cause(crossing(), events, order | {(CA, TA)})  # not minimal
    # Cl between Cc and Tc keeps the accident from happening; here, nothing else does.
    simple = {
        ("Ca", "Ta", "Cc", "Cl", "Tc"): (3,),
        ("Ca", "Cc", "Ta", "Cl", "Tc"): (3,),
    }
    assert non_occurrences(crossing(), events, order) == simple
    with_loops = {("Ta", "Ca", "Cc", "Cl", "Tc"): (3,), ("Ca", "Cc", "Cl", "Ta", "Tc"): (2,)}
    assert non_occurrences(crossing(), events, order, 6) == simple | with_loops


def test_example_2() -> None:
    """ "There exist only 20 sequences" of Ca < Cc, Ta < Tc, Gf < Tc."""
    gate_fails = ("Gf", 1)
    order = frozenset({(CA, CC), (TA, TC), (gate_fails, TC)})
    assert len(linear_extensions([CA, CC, TA, TC, gate_fails], order)) == 20


def test_a_cause_with_fewer_constraints() -> None:
    """If the car may enter after the train, too, Ca < Cc and Ta < Tc are enough: the six traces
    need no more."""
    events = frozenset({TA, TC, CA, CC})
    assert len(causal_trace_set(crossing(sees_trains=False))) == 6
    order = frozenset({(CA, CC), (TA, TC)})
    assert weak_causes(crossing(sees_trains=False)) == {(events, order)}


def test_strict_partial_orders_are_counted_right() -> None:
    """OEIS A001035."""
    for n, count in enumerate((1, 1, 3, 19, 219)):
        assert len(list(strict_partial_orders([("a", i) for i in range(n)]))) == count


def test_events_are_counted() -> None:
    assert events_of(("a", "b", "a")) == (("a", 1), ("b", 1), ("a", 2))


def test_repeated_actions_and_silent_ones() -> None:
    edges = ((0, "a", 1), (1, None, 2), (2, "a", 3), (0, "b", 2))
    system = System(4, edges, frozenset({0}), frozenset({3}))
    assert causal_trace_set(system) == {("a", "a"), ("b", "a")}
    assert weak_causes(system) == {
        (frozenset({("a", 1), ("a", 2)}), frozenset({(("a", 1), ("a", 2))})),
        (frozenset({("a", 1), ("b", 1)}), frozenset({(("b", 1), ("a", 1))})),
    }
    assert not is_bad_trace(system, ("a", "b"))


def test_nothing_counterfactual_about_a_hazard_from_the_start() -> None:
    system = System(2, ((0, "a", 1),), frozenset({0}), frozenset({0}))
    assert causal_trace_set(system) == {()}
    assert weak_causes(system) == set()
