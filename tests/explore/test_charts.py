"""What charts mean, in small: one rule each; and what is refused, with its place."""

from __future__ import annotations

from dataclasses import replace

import pytest

from whence.explore.charts import lower
from whence.explore.systems import transition_system
from whence.formats.charts.yaml import read_chart
from whence.model.chart import Assign, Chart, ChartState, ChartTransition, Machine
from whence.model.transitions import TransitionSystem
from whence.source import InputError, SourceText, UnsupportedError


def system(text: str, **formulas: str) -> TransitionSystem:
    chart = read_chart(text, "c.yaml")
    return transition_system(chart, {name: SourceText(f) for name, f in formulas.items()})


def words(ts: TransitionSystem, length: int) -> set[tuple[str, ...]]:
    """The action traces of that length."""
    found: dict[tuple[str, ...], set[int]] = {(): set(ts.initial)}
    for _ in range(length):
        longer: dict[tuple[str, ...], set[int]] = {}
        for source, action, target in zip(ts.source, ts.action, ts.target, strict=True):
            for word, states in found.items():
                if int(source) in states:
                    longer.setdefault((*word, ts.actions[action].name), set()).add(int(target))
        found = longer
    return set(found)


def problems_in(text: str) -> str:
    with pytest.raises(InputError) as caught:
        lower(read_chart(text, "c.yaml"))
    return caught.value.render()


def one(body: str, variables: str = "x: int = 0") -> str:
    return f"machines:\n  M:\n    variables: {{{variables}}}\n{body}"


ORDER = """
    initial: A1
    states:
      A:
        exit: x = 10 * x + 2
        states: {A1: {exit: x = 10 * x + 1}}
      B:
        entry: x = 10 * x + 4
        initial: {to: B1, do: x = 10 * x + 5}
        states: {B1: {entry: x = 10 * x + 6}}
    transitions:
      - {from: A, to: B, do: x = 10 * x + 3, event: go}
"""


def test_order_of_effects() -> None:
    """Exits inside out, the transition, entries outside in, initial transitions after the entry."""
    ts = system(
        one(ORDER, 'x: "int[0,999999] = 0"'), done="M.x == 123456 && M.B && M.B1", other="M.x > 0"
    )
    assert ts.propositions["done"].tolist() == [False, True]


def test_start_has_effects() -> None:
    body = """
    initial: {to: A, do: x = 2}
    states: {A: {entry: x = 3 * x, initial: pick, states: {pick: {kind: choice}, a: {}, b: {}}}}
    transitions: [{from: pick, to: a, when: x == 2}, {from: pick, to: b, when: else}]
"""
    assert system(one(body), p="M.b && M.x == 6").propositions["p"].tolist() == [True]


def test_a_transition_from_a_composite_to_a_state_inside_leaves_it() -> None:
    body = """
    initial: a
    states: {S: {exit: x = 7, states: {a: {}, b: {}}}}
    transitions: [S -> b]
"""
    assert system(one(body), p="M.b && M.x == 7").propositions["p"].tolist() == [False, True]


def test_a_choice_sees_what_was_done_and_a_junction_does_not() -> None:
    body = """
    initial: a
    states: {a: {}, yes: {}, no: {}, pick: {kind: KIND}}
    transitions:
      - {from: a, to: pick, do: "x = 5; x += 1"}
      - {from: pick, to: yes, when: x == 6}
      - {from: pick, to: no, when: else}
"""
    assert words(system(one(body.replace("KIND", "choice"))), 1) == {("yes",)}
    assert words(system(one(body.replace("KIND", "junction"))), 1) == {("no",)}


def test_a_choice_sees_truth_values() -> None:
    body = """
    initial: a
    states: {a: {}, yes: {}, no: {}, pick: {kind: choice}}
    transitions:
      - {from: a, to: pick, do: "x = 2; b = x"}
      - {from: pick, to: yes, when: b == 1}
      - {from: pick, to: no, when: else}
"""
    assert words(system(one(body, "x: int, b: bool")), 1) == {("yes",)}


def test_a_choice_without_a_way_keeps_the_step_from_being_taken() -> None:
    body = """
    initial: a
    states: {a: {}, b: {}, pick: {kind: choice}}
    transitions: [{from: a, to: pick}, {from: pick, to: b, when: x == 1}]
"""
    ts = system(one(body))
    assert (ts.states, ts.transitions) == (1, 0)


@pytest.mark.parametrize(
    ("type_", "before", "effect", "after"),
    [
        ("int8", 127, "x += 1", -128),
        ("int8", -128, "x--", 127),
        ("int8", 100, "x = x * 3", 44),
        ("uint8", 0, "x -= 1", 255),
        ("uint8", 255, "x++", 0),
        ("uint8", 7, "x = x - 600", 175),
        ("int16", 32767, "x += 32767", -2),
        ("uint16", 1, "x -= 2", 65535),
    ],
)
def test_arithmetic_that_wraps(type_: str, before: int, effect: str, after: int) -> None:
    body = f"""
    initial: a
    states: {{a: {{}}, b: {{}}}}
    transitions: [{{from: a, to: b, do: "{effect}"}}]
"""
    ts = system(one(body, f"x: {type_} = {before}"), p=f"M.b && M.x == {after}")
    assert ts.propositions["p"].tolist() == [False, True]


def test_terminate_ends_the_machine() -> None:
    """Nothing is left, and the states around it do not act any more."""
    body = """
    initial: a
    states:
      S:
        exit: x = 9
        states: {a: {exit: x = 8}, gone: {kind: terminate}}
      out: {}
    transitions: [{from: a, to: gone, do: x = 1}, S -> out]
"""
    ts = system(one(body), gone="M.gone", left="M.gone && M.x == 1", out="M.out")
    assert ts.propositions["gone"].sum() == ts.propositions["left"].sum() == 1
    assert words(ts, 2) == set()


def test_an_initial_event_is_a_step_in_the_composite_around_it() -> None:
    body = """
    initial: S
    states: {S: {initial: {to: a, event: begin}, states: {a: {}}}, out: {}}
    transitions: [S -> out]
"""
    ts = system(one(body), inside="M.S", at="M.a")
    assert words(ts, 1) == {("begin",), ("out",)}
    assert ts.propositions["inside"].tolist() == [True, True, False]
    assert ts.propositions["at"].sum() == 1


TWO = """
machines:
  A:
    initial: a
    states: {a: {}}
    transitions: [{from: a, internal: true, do: send m to B, event: sent}]
  B:
    queue: {capacity: 2, when-full: FULL, unexpected: UNEXPECTED}
    initial: b
    states: {b: {}, c: {}}
    transitions: [{from: c, to: b, on: m}]
"""


def test_full_queues() -> None:
    keep = TWO.replace("UNEXPECTED", "keep")
    assert words(system(keep.replace("FULL", "block")), 2) == {("sent", "sent")}
    assert words(system(keep.replace("FULL", "block")), 3) == set()
    assert words(system(keep.replace("FULL", "lose")), 3) == {("sent",) * 3}


def test_discarded_messages_are_silent() -> None:
    ts = system(TWO.replace("FULL", "block").replace("UNEXPECTED", "discard"))
    assert [(a.name, a.silent, a.component) for a in ts.actions] == [
        ("sent", False, "A"),
        ("B discards m", True, "B"),
        ("b", False, "B"),
    ]
    assert words(ts, 3) == {
        word for word in words(ts, 3) if word.count("B discards m") <= word.count("sent")
    }
    assert ("sent", "B discards m", "sent") in words(ts, 3)


def test_more_messages_than_a_queue_holds() -> None:
    text = TWO.replace("FULL", "block").replace("UNEXPECTED", "keep")
    three = text.replace("send m to B", "send m to B; send m to B; send m to B")
    assert system(three).transitions == 0


def test_priority_of_inner_states_is_for_triggers_only() -> None:
    body = """
machines:
  E: {initial: e, states: {e: {}}, transitions: [{from: e, internal: true, do: send m to M}]}
  M:
    initial: a
    states: {S: {states: {a: {}, b: {}}}, out: {}}
    transitions:
      - {from: a, to: b, ON when: GUARD event: inner}
      - {from: S, to: out, ON event: outer}
"""
    for on, guard, seen in [
        ("on: m,", "true,", {"inner"}),
        ("on: m,", "E.e,", {"inner"}),
        ("on: m,", '"!E.e",', {"outer"}),
        ("", "true,", {"inner", "outer"}),
    ]:
        ts = system(body.replace("ON", on).replace("GUARD", guard))
        firsts = {word[-1] for word in words(ts, 2)} - {"e"}
        assert firsts == seen, (on, guard)


def test_names_that_two_machines_use_are_qualified() -> None:
    text = """
machines:
  A: {initial: a, states: {a: {}, go: {}}, transitions: [a -> go]}
  B: {initial: a, states: {a: {}, go: {}, own: {}}, transitions: [a -> go, go -> own]}
"""
    assert {a.name for a in system(text).actions} == {"A.go", "B.go", "own"}


def test_flags_of_actions() -> None:
    text = one("""
    initial: a
    states: {a: {}, b: {failure: true}, c: {}}
    transitions:
      - {from: a, to: b}
      - {from: c, to: b, detected: true}
      - {from: b, to: c, failure: true}
""")
    actions = {a.name: (a.failure, a.detected) for a in system(text).actions}
    assert actions == {"b": (True, True), "c": (True, None)}
    found = problems_in(text.replace("{from: c, to: b,", "{from: c, to: c, event: b,"))
    assert "`b` is a failure here, and elsewhere it is not" in found
    assert "c.yaml:8:9" in found


def test_names_of_states_and_variables() -> None:
    """A nested state by its name or by its path, an enumeration's values, a constant."""
    text = """
variables: {mode: "enum {slow, fast} = fast", most: {type: int, initial: 2 + 1, role: constant}}
machines:
  M:
    variables: {mode: "int[0,9] = most"}
    initial: A
    states: {A: {initial: x, states: {x: {}}}, B: {initial: x, states: {x: {}}}}
    transitions: [{from: A, to: B, when: mode == 3}]
"""
    ts = system(text, a="M.A.x", b="M.B.x && mode == fast && M.mode == most")
    assert ts.propositions["a"].tolist() == [True, False]
    assert ts.propositions["b"].tolist() == [False, True]
    with pytest.raises(InputError, match="can mean several things"):
        system(text, p="M.x")


# -------------------------------------------------------------------------------------- mistakes

BODY = """
    initial: a
    states: {a: {}, b: {}, pick: {kind: choice}, hub: {kind: junction}, back: {kind: history}}
    transitions: [TRANSITIONS]
"""


@pytest.mark.parametrize(
    ("transitions", "message"),
    [
        ("{from: a, to: b, when: y > 0}", "c.yaml:7:42: error: unknown name `y`"),
        ("{from: a, to: b, when: N.y}", "unknown machine `N`"),
        ("{from: a, to: b, when: M.bb}", "machine `M` has no state or variable `bb`"),
        ("{from: a, to: b, do: x}", "expected an assignment"),
        ("{from: a, to: b, do: y = 1}", "unknown name `y`"),
        ("{from: a, to: b, do: x = (x += 1)}", "not supported: an effect inside an expression"),
        ("{from: a, to: b, when: x = 1}", "c.yaml:7"),
        ("{from: a, to: b, when: else}", "`else` on a transition that leaves no choice"),
        ("{from: a, to: pick}", "nothing leaves the choice `pick`"),
        (
            "{from: a, to: pick}, {from: pick, to: b, on: m}",
            "a trigger on a transition that leaves",
        ),
        ("{from: a, to: pick}, pick -> hub, hub -> pick", "not supported: a cycle of choices and"),
        (
            "{from: a, to: pick, do: x = 1}, {from: pick, to: b, when: M.a}",
            "not supported: a choice by a state of the machine itself",
        ),
        (
            "{from: a, to: pick, rate: 1}, {from: pick, to: b, rate: 2}",
            "not supported: rates on several transitions",
        ),
        (
            "{from: a, to: pick, do: '"
            + "x = x * x; " * 20
            + "'}, {from: pick, to: b, when: x == 1}",
            "not supported: a choice by a value that takes too much computing",
        ),
    ],
)
def test_mistakes(transitions: str, message: str) -> None:
    body = BODY.replace(", back: {kind: history}", "").replace("TRANSITIONS", transitions)
    assert message in problems_in(one(body))


def test_history_is_refused() -> None:
    with pytest.raises(UnsupportedError, match=r"c.yaml:6:\d+: error: not supported: the history"):
        lower(read_chart(one(BODY.replace("TRANSITIONS", "")), "c.yaml"))


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ("x: float", "not supported: variable `x` of type float"),
        ("x: {type: int, role: input}", "not supported: the input variable `x`"),
        ("x: int = y", "unknown name `y`"),
        ('x: "int[0,3] = 4"', "the initial value 4 is outside the range 0 to 3"),
        ("x: int, y: int = x", "an initial value must be a constant"),
        ('x: "enum {p, q}", y: "enum {q, p}"', "another type"),
    ],
)
def test_wrong_variables(variables: str, message: str) -> None:
    body = BODY.replace(", back: {kind: history}", "").replace("TRANSITIONS", "a -> b")
    assert message in problems_in(one(body, variables))


def test_several_mistakes_are_told_at_once() -> None:
    text = one(
        BODY.replace(", back: {kind: history}", "").replace(
            "TRANSITIONS", "{from: a, to: b, when: u}, {from: b, to: a, do: v = 1}"
        )
    )
    found = problems_in(text + "hazards: {h: M.w}\n")
    assert all(f"`{name}`" in found for name in "uvw")


def test_a_composite_without_an_initial_state() -> None:
    body = """
    initial: a
    states: {a: {}, S: {states: {b: {}}}}
    transitions: [a -> S]
"""
    assert "a transition to `S`, which has no initial state" in problems_in(one(body))


def test_a_start_in_several_states() -> None:
    body = """
    initial: pick
    states: {a: {}, b: {}, pick: {kind: choice}}
    transitions: [pick -> a, pick -> b]
"""
    assert "starts in 2 states" in problems_in(one(body))


def chart(states: list[ChartState], transitions: list[ChartTransition]) -> Chart:
    initial = ChartState(ident="i", name="i", kind="initial")
    first = ChartTransition(ident="t", source="i", target="a")
    machine = Machine(name="M", states=(initial, *states), transitions=(first, *transitions))
    return Chart(name="c", machines=(machine,))


A = ChartState(ident="a", name="a")


@pytest.mark.parametrize(
    ("states", "transitions", "message"),
    [
        ([replace(A, parent="a")], [], "stands inside itself"),
        ([replace(A, parent="z")], [], "the state around `a` is missing"),
        ([A, A], [], "two states are called `a`"),
        ([A, replace(A, ident="j", kind="initial")], [], "a second initial state"),
        ([A], [ChartTransition(ident="u", source="a", target="z")], "has no state `z`"),
        ([A], [ChartTransition(ident="u", source="a", target="i")], "leads to an initial"),
        ([replace(A, do=(Assign(SourceText("x = 1")),))], [], "the activity (`do`)"),
    ],
)
def test_charts_from_elsewhere(
    states: list[ChartState], transitions: list[ChartTransition], message: str
) -> None:
    with pytest.raises(InputError) as caught:
        lower(chart(states, transitions))
    assert message in caught.value.render()


def test_many_transitions_of_one_trigger() -> None:
    """Each of them is kept back by all before it."""
    transitions = "".join(
        f"      - {{from: b, to: s{n}, on: m, when: A.x == {n}, priority: {n}}}\n"
        for n in range(400)
    )
    states = ", ".join(f"s{n}: {{}}" for n in range(400))
    ts = system(f"""
machines:
  A:
    variables: {{x: int = 397}}
    initial: a
    states: {{a: {{}}, b: {{}}}}
    transitions: [{{from: a, to: b, do: send m to B}}]
  B:
    initial: b
    states: {{b: {{}}, {states}}}
    transitions:
{transitions}""")
    assert words(ts, 2) == {("b", "s397")}


def test_no_machines() -> None:
    with pytest.raises(InputError, match="no machines"):
        lower(Chart(name="empty", machines=()))


def test_deep_nesting_and_long_chains_end() -> None:
    deep = [replace(A, ident=f"s{n}", name="s", parent=f"s{n + 1}") for n in range(5000)]
    deep.append(replace(A, ident="s5000", name="s"))
    with pytest.raises(InputError, match="nested more than"):
        lower(chart([A, *deep], []))
    chain = [replace(A, ident=f"c{n}", name=f"c{n}", kind="choice") for n in range(5000)]
    links = [
        ChartTransition(ident=f"l{n}", source=f"c{n - 1}" if n else "a", target=f"c{n}")
        for n in range(5000)
    ]
    with pytest.raises(InputError, match="in a row"):
        lower(chart([A, *chain], links))
    split = [
        ChartTransition(ident=f"{k}{n}", source=f"c{n}", target=f"c{n + 1}" if n < 40 else "a")
        for n in range(41)
        for k in "lr"
    ]
    with pytest.raises(InputError, match="more than 4096 ways"):
        lower(chart([A, *chain[:41]], [links[0], *split]))
