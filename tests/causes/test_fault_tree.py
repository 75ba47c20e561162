"""The fault tree of all causes of a hazard."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.causes.support import (
    RAILROAD,
    RAILROAD_ACTIONS,
    UNGUARDED,
    WITH_ABSENCES,
    cause,
    driving,
    result,
)

from whence.causes.fault_tree import fault_tree
from whence.causes.results import CausesResult
from whence.model.fault_tree import (
    BasicEvent,
    FaultTree,
    Gate,
    NonOccurrence,
    absence_text,
    check,
    conditions_below,
    detection,
    events_below,
    failure_class,
    nodes,
    order_below,
)
from whence.source import InputError, UsageError


def written(tree: FaultTree, ident: str) -> str:
    node = nodes(tree)[ident]
    if isinstance(node, BasicEvent):
        return node.name
    if isinstance(node, NonOccurrence):
        return absence_text(tree, node)
    sign = {"or": " | ", "and": " & ", "pand": " ; ", "inhibit": " if "}[node.kind]
    return f"({sign.join(written(tree, one) for one in (*node.inputs, *node.conditions))})"


def test_the_unguarded_crossing() -> None:
    """Figure 6.1(c): an or with one cause below it."""
    tree = fault_tree(result(UNGUARDED))
    assert written(tree, tree.top) == "((((Ca ; Cc) & Ta) ; Tc))"
    top, first = tree.gates[:2]
    assert (top.kind, top.label, top.inputs) == ("or", "TrainCarHazard", (first.ident,))
    assert (first.kind, first.label) == ("pand", "Cause 1")
    names = {event.ident: event.name for event in tree.events}
    order = order_below(tree, first.ident)
    assert {(names[one], names[then]) for then, ones in order.items() for one in ones} == {
        *(("Ca", "Cc"), ("Cc", "Tc"), ("Ta", "Tc"), ("Ca", "Tc"))
    }


def test_the_railroad() -> None:
    tree = fault_tree(result(*RAILROAD, actions=RAILROAD_ACTIONS))
    assert written(tree, "cause1") == "((Ca ; Cc) & ((Ta & Gf) ; Tc))"
    # Each event is one node, however many causes it is in; a second time is another event.
    assert [event.name for event in tree.events] == [
        "Ca",
        "Cc",
        "Ta",
        "Tc",
        "Gf",
        "Gc",
        "Go",
        "Ta#2",
    ]
    assert [event.name for event in tree.events if event.failure] == ["Gf"]
    assert next(e for e in tree.events if e.failure).detected is False
    assert {event.component for event in tree.events} == {"train", "car", "gate"}
    assert [gate.probability for gate in tree.gates if gate.label.startswith("Cause")] == [
        *(1.5e-4, 2e-3, 1e-6),
        None,
    ]
    third = events_below(tree, "cause3")
    assert {event.name for event in events_below(tree, "cause1")} < {e.name for e in third}
    assert failure_class(third) == "single-point"
    assert detection(third) == "undetected"
    assert failure_class(events_below(tree, "cause2")) == "none"
    assert detection(events_below(tree, "cause2")) is None


def test_absences_are_conditions() -> None:
    """Figure 6.3's first two causes."""
    tree = fault_tree(result(*WITH_ABSENCES))
    assert written(tree, "cause1") == "((((Ca ; Cc) & Ta & Gf) ; Tc) if no Cl between Cc and Tc)"
    assert written(tree, "cause2") == "(((Ca & ((Ta & Gf) ; Tc)) ; Cc) if no Tl between Tc and Cc)"
    assert nodes(tree)["cause1"] == Gate(
        ident="cause1",
        kind="inhibit",
        inputs=("cause1_3",),
        conditions=("n1",),
        label="Cause 1",
    )
    assert [absence_text(tree, one) for one in conditions_below(tree, tree.top)] == [
        "no Cl between Cc and Tc",
        "no Tl between Tc and Cc",
    ]


def test_causes_of_one_event_and_shared_absences() -> None:
    tree = fault_tree(
        result(
            cause(1, "a"),
            cause(2, "b", absent=(("x", None, "b"), ("y", None, None))),
            cause(3, "b c", absent=(("x", None, "b"), ("z", "c", None)), exact=False),
        ),
        rates={"a": 2.0},
        probabilities={"b": 0.5},
    )
    assert written(tree, tree.top) == (
        "((a) | (b if no x before b if no y) | ((b & c) if no x before b if no z after c))"
    )
    assert [(event.rate, event.probability) for event in tree.events] == [
        *((2.0, None), (None, 0.5), (None, None))
    ]
    assert len(tree.conditions) == 3
    assert nodes(tree)["cause3"].notes  # type: ignore[union-attr]


def test_notes() -> None:
    found = result(
        UNGUARDED, complete=False, depth=5, reason="out of time", probability=0.5, time="1h"
    )
    assert fault_tree(found).notes == (
        "Only the causes whose traces are of at most 5 events are shown: out of time.",
        "Probabilities are for a time of 1h.",
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"verdict": "satisfied"}, "it cannot come about"),
        ({"initially": True}, "it holds from the start"),
        ({"verdict": "unknown", "reason": "out of memory"}, "out of memory"),
    ],
)
def test_without_causes(changes: dict[str, object], message: str) -> None:
    empty: CausesResult = replace(result(), **changes)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=message):
        fault_tree(empty)


def test_of_the_size_of_chapter_7() -> None:
    tree = fault_tree(driving())
    assert len(tree.gates[0].inputs) == 19
    assert len({event.ident for event in tree.events}) == len(tree.events) < 20


# ------------------------------------------------------------------------------------------ values


def made(**changes: object) -> FaultTree:
    sound = FaultTree(
        name="t",
        top="top",
        gates=(
            Gate(ident="top", kind="or", inputs=("g",)),
            Gate(ident="g", kind="inhibit", inputs=("a", "b"), conditions=("n",)),
        ),
        events=(BasicEvent(ident="a", action="a"), BasicEvent(ident="b", action="b")),
        conditions=(NonOccurrence(ident="n", action="x", after="a", before="b"),),
    )
    return replace(sound, **changes)  # type: ignore[arg-type]


def test_sound_values() -> None:
    check(made())


@pytest.mark.parametrize(
    ("changes", "messages"),
    [
        ({"top": "a"}, ["the top 'a' is no gate"]),
        ({"events": (BasicEvent(ident="a b", action="a"),)}, ["the ident 'a b'", "'a', an input"]),
        ({"events": (BasicEvent(ident="g", action="a"),)}, ["two nodes have the same ident"]),
        (
            {"gates": (Gate(ident="top", kind="or", inputs=()),)},
            ["the gate 'top' has no inputs"],
        ),
        (
            {"gates": (Gate(ident="top", kind="or", inputs=("a", "a", "n")),)},
            ["has the same input twice", "'n', an input of 'top', is no gate and no event"],
        ),
        (
            {"gates": (Gate(ident="top", kind="or", inputs=("a",), conditions=("b",)),)},
            ["only inhibit gates have conditions", "'b', a condition of 'top'"],
        ),
        (
            {"conditions": (NonOccurrence(ident="n", action="x", after="g", before=None),)},
            ["'g', an end of 'n', is no event"],
        ),
        (
            {
                "gates": (
                    Gate(ident="top", kind="or", inputs=("g",)),
                    Gate(ident="g", kind="and", inputs=("top", "a")),
                )
            },
            ["goes round in a circle: g, top"],
        ),
    ],
)
def test_what_is_no_fault_tree(changes: dict[str, object], messages: list[str]) -> None:
    with pytest.raises(InputError) as error:
        check(made(**changes))
    for message in messages:
        assert message in str(error.value)
