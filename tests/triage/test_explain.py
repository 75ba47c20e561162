"""What is relevant, in examples that each show one thing."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from tests.triage.support import ctr, ms, on, trace

from whence.model.prd import (
    AllOf,
    Assignment,
    Clock,
    ClockBound,
    Constant,
    EventTrace,
    Initial,
    PrdAutomaton,
    PrdTransition,
    State,
    TimedEvent,
    Variable,
)
from whence.source import InputError, UnsupportedError, UsageError
from whence.triage.classify import classify
from whence.triage.explain import analyse, explain
from whence.triage.localize import localize
from whence.triage.results import Atom, Template
from whence.triage.templates import satisfied
from whence.triage.verify import verify

CTR = ctr()


def events(*steps: tuple[int, str], complete: bool = True) -> EventTrace:
    now = Fraction(0)
    found = []
    for index, (delay, label) in enumerate(steps):
        now += ms(delay)
        found.append(TimedEvent(now, label, {}, index))
    return EventTrace("t", tuple(found), Fraction(0), complete=complete)


def server(*more: PrdTransition, deadline: bool = True) -> PrdAutomaton:
    """Requests `req`, answered by `res` within 50 ms, in a session that `open` begins. If
    `deadline`, no more time than that can pass; otherwise only the response is not possible."""
    within = ClockBound("p2", "<=", ms(50))
    return PrdAutomaton(
        states=(State("idle"), State("wait", "the response"), State("open")),
        initial=(Initial("idle"),),
        transitions=(
            PrdTransition("idle", "idle", None),
            PrdTransition("wait", "wait", None, within if deadline else AllOf()),
            PrdTransition("idle", "wait", on("req"), resets=("p2",)),
            PrdTransition("wait", "idle", on("res"), within, requirements=("P2",)),
            *more,
        ),
        variables=(Variable("session", 0, 3, initial=0),),
        clocks=(Clock("p2"),),
    )


def test_a_late_response_is_explained_by_its_request() -> None:
    """The paper's first kind of fault: the request and the late response are relevant."""
    log = events((5, "req"), (7, "res"), (900, "req"), (10, "res"), (30, "req"), (60, "res"))
    for deadline in (True, False):
        model = server(deadline=deadline)
        ((fault, (explanation,)),) = analyse(model, log)
        assert (fault.index, fault.kind, fault.requirements) == (5, "late", ("P2",))
        assert explanation.events == (4, 5)
        assert explanation.of_time == deadline
        assert not verify(model, log, explanation)
        assert explanation.template.atoms[0].text == "u1 > 50 ms"
        assert {atom.text for atom in explanation.template.atoms[1:]} == (
            set() if deadline else {"p2 > 50 ms"}
        )
        assert [str(each.window) for each in fault.expected if each.text == "res"] == ["[0, 1/20]"]


def test_a_missing_response() -> None:
    """At the end of the log, and before the next request, which is then gone on with."""
    model = server()
    log = events((5, "req"), (7, "res"), (9, "req"), (200, "req"), (8, "res"), (3, "req"))
    faults = localize(model, log).faults
    assert [(fault.index, fault.kind) for fault in faults] == [(3, "missing"), (None, "missing")]
    assert faults[0].date == ms(5 + 7 + 9 + 200)
    assert not localize(model, replace(log, complete=False)).faults[1:]
    for fault, (explanation,) in analyse(model, log):
        assert explanation.events == ((2,) if fault.number == 0 else (5,))
        assert explanation.signature[-1] == "missing"
        assert explanation.rebased


def test_one_fault_does_not_draw_others_after_it() -> None:
    """A wrong value is believed: later the same value is no fault any more, another one is."""
    log = trace(
        "several",
        *((5, text) for text in ("req CTR set 5", "res CTR ack 5", "req CTR get", "res CTR ret 0")),
        *((5, text) for text in ("req CTR get", "res CTR ret 0", "req CTR get", "res CTR ret 9")),
        (5, "res CTR done"),
        *((5, text) for text in ("req CTR log 1", "res CTR done")),
    )
    found = [(f.index, f.kind, f.resynchronised) for f in localize(CTR, log).faults]
    assert found == [
        (3, "value", "believed"),
        (7, "value", "believed"),
        (8, "unexpected", "skipped"),
    ]


def test_a_fault_that_others_have_nothing_to_do_with() -> None:
    """The response to log that nobody asked for is left out of the next explanation."""
    log = trace(
        "stray",
        *((5, text) for text in ("req CTR set 5", "res CTR ack 5", "res CTR done", "req CTR get")),
        (5, "res CTR ret 0"),
    )
    (stray, _), (fault, (explanation,)) = analyse(CTR, log)
    assert (stray.index, stray.kind, fault.index) == (2, "unexpected", 4)
    assert (explanation.events, explanation.rebased) == ((0, 1, 3, 4), True)
    assert explain(CTR, log, fault) == (explanation,)
    assert not verify(CTR, log, explanation)


def test_memory_that_no_longer_matters() -> None:
    """What the session was, makes no difference to a response in time, so nothing that set it is
    relevant; and where it does, it is."""
    set_ = (Assignment("session", Constant(1)),)
    model = server(PrdTransition("idle", "idle", on("open"), assignments=set_))
    log = events((1, "open"), (5, "req"), (60, "res"))
    assert analyse(model, log)[0][1][0].events == (1, 2)


def test_what_is_left_is_the_same_fault() -> None:
    """Without `tick` but with its time, `use` would be too late: that would be another fault, so
    the time goes, too."""
    states = ("idle", "on", "wait")
    early = ClockBound("s", "<", ms(5000))
    model = PrdAutomaton(
        states=tuple(map(State, states)),
        initial=(Initial("idle"),),
        transitions=(
            *(PrdTransition(state, state, None) for state in states),
            PrdTransition("idle", "on", on("open"), resets=("s",)),
            PrdTransition("on", "on", on("tick"), resets=("s",)),
            PrdTransition("on", "wait", on("use"), early),
            PrdTransition("wait", "on", on("ok")),
        ),
        clocks=(Clock("s"),),
    )
    log = events((1, "open"), (4000, "tick"), (4000, "use"), (5, "bad"), (5, "ok"))
    ((_, (explanation,)),) = analyse(model, log)
    assert explanation.events == (0, 2, 3)
    assert (explanation.gaps[1].dropped, explanation.gaps[1].kept) == ((1,), False)
    assert explanation.gaps[1].time == ms(4000)
    assert not verify(model, log, explanation)


def test_all_explanations_where_irrelevant_sequences_overlap() -> None:
    """Two ways to the fault: `a b a` may lose its beginning or its end. What is left looks
    different: `x` and `y` mean the same to the model and are two events."""
    states = ("p", "q", "r")
    loops = tuple(PrdTransition(state, state, None) for state in states)
    model = PrdAutomaton(
        states=tuple(map(State, states)),
        initial=(Initial("p"),),
        transitions=(
            *loops,
            PrdTransition("p", "q", on("x")),
            PrdTransition("p", "q", on("y")),
            PrdTransition("q", "p", on("back")),
            PrdTransition("r", "r", on("z")),
        ),
    )
    log = events((1, "x"), (1, "back"), (1, "y"), (1, "z"), complete=False)
    ((fault, found),) = analyse(model, log)
    assert fault.kind == "unexpected"
    assert [explanation.events for explanation in found] == [(0, 3), (2, 3)]
    assert all(explanation.complete for explanation in found)
    # With `x` twice they look the same, and the later one is told.
    log = events((1, "x"), (1, "back"), (1, "x"), (1, "z"), complete=False)
    assert [explanation.events for _, found in analyse(model, log) for explanation in found] == [
        (2, 3)
    ]


def test_hidden_variables_and_clocks() -> None:
    log = trace(
        "Test-4",
        *((5, text) for text in ("req CTR set 5", "res CTR ack 5", "req CTR set 3")),
        *((5, text) for text in ("res CTR ack 3", "req CTR get", "res CTR ret 0")),
    )
    ((fault, (whole,)),) = analyse(CTR, log)
    # After the second response ctx is 3, after the first it need not be.
    assert whole.events == (0, 1, 2, 3, 4, 5)
    (hidden,) = explain(CTR, log, fault, hide=("ctx", "clk"))
    assert hidden.events == (0, 1, 4, 5)
    with pytest.raises(UsageError, match="no variable or clock nothing"):
        explain(CTR, log, fault, hide=("nothing",))
    with pytest.raises(UsageError, match="no fault number 3"):
        explain(CTR, log, replace(fault, number=3))


def test_a_long_way_to_the_same_fault() -> None:
    """A thousand exchanges before it make no difference to an explanation, or its class."""
    exchange = [(5, "req"), (7, "res")]
    fault = [(30, "req"), (60, "res")]
    short, long = events(*fault), events(*exchange * 1000, *fault)
    explanations = [analyse(server(), log)[0][1][0] for log in (short, long)]
    assert explanations[1].events == (2000, 2001)
    assert len(classify(explanations).classes) == 1


def test_a_cycle_that_never_ends_is_refused() -> None:
    counting = PrdAutomaton(
        states=(State("s"),),
        initial=(Initial("s"),),
        transitions=(
            PrdTransition("s", "s", None, ClockBound("x", "==", Fraction(1, 10**6)), resets=("x",)),
        ),
        clocks=(Clock("x", Fraction(0)), Clock("y", Fraction(0))),
    )
    with pytest.raises(UnsupportedError, match="not idempotent"):
        localize(counting, events((1000, "e")))


def test_dates_that_run_backwards_are_refused() -> None:
    log = events((5, "req"), (7, "res"))
    log = replace(log, events=log.events[::-1])
    with pytest.raises(InputError, match="is before that of the event before"):
        localize(server(), log)
    with pytest.raises(InputError, match="too finely divided"):
        localize(server(), replace(log, events=(), start=Fraction(0), end=Fraction(1, 3**40)))


def test_what_can_be_satisfied() -> None:
    """With a clock, which may have any value, only upper bounds can fail."""

    def atom(clock: str, operator: str, bound: int) -> Atom:
        return Atom(0, "", operator, Fraction(bound), 0, 1, clock)  # type: ignore[arg-type]

    atoms = [atom(c, op, 5) for c in ("", "clk") for op in ("<", "<=", ">", ">=")]
    template = Template("", (), tuple(atoms))
    times = [Fraction(2), Fraction(3), Fraction(100)]
    assert satisfied(template, times) == (False, True, False, True, False, True, True, True)
