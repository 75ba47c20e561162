"""The example that runs through the paper: the ECU CTR of Figures 1 and 2."""

from __future__ import annotations

from fractions import Fraction

from whence.model.prd import (
    AllOf,
    Assignment,
    Captured,
    Clock,
    ClockBound,
    Comparison,
    Constant,
    EventPattern,
    EventTrace,
    FieldPattern,
    Guard,
    Initial,
    Operator,
    PrdAutomaton,
    PrdTransition,
    Read,
    State,
    TimedEvent,
    Variable,
)
from whence.triage.product import product


def ms(milliseconds: int | Fraction) -> Fraction:
    return Fraction(milliseconds) / 1000


def on(label: str, capture: str = "") -> EventPattern:
    fields = (FieldPattern(capture, capture=capture),) if capture else ()
    return EventPattern(frozenset([label]), fields)


def clock(name: str, operator: Operator, milliseconds: int) -> Guard:
    return ClockBound(name, operator, ms(milliseconds))


def events_automaton() -> PrdAutomaton:
    """A_E of Figure 2: p0 is idle, the others await the response to set, get and log."""
    idle = [PrdTransition(state, state, None) for state in ("p0", "p1", "p2", "p3")]
    same = Comparison(Captured("val"), "==", Read("ctx"))
    return PrdAutomaton(
        name="A_E",
        states=(
            State("p0"),
            State("p1", awaits="the response to set"),
            State("p2", awaits="the response to get"),
            State("p3", awaits="the response to log"),
        ),
        initial=(Initial("p0"),),
        variables=(Variable("ctx"),),
        transitions=(
            *idle,
            PrdTransition("p0", "p1", on("req CTR set", "val"), requirements=("SET",)),
            PrdTransition(
                "p1",
                "p0",
                on("res CTR ack", "val"),
                assignments=(Assignment("ctx", Captured("val")),),
                requirements=("SET",),
            ),
            PrdTransition("p1", "p0", on("res CTR fail"), requirements=("SET",)),
            PrdTransition("p0", "p2", on("req CTR get"), requirements=("GET",)),
            PrdTransition("p2", "p0", on("res CTR ret", "val"), same, requirements=("GET",)),
            PrdTransition("p0", "p3", on("req CTR log", "data"), requirements=("LOG",)),
            PrdTransition("p3", "p0", on("res CTR done"), requirements=("LOG",)),
        ),
    )


def time_automaton() -> PrdAutomaton:
    """A_Δ of Figure 2, as the examples force it."""
    ack = on("res CTR ack")
    rest = EventPattern(unless=(ack,))
    return PrdAutomaton(
        name="A_Δ",
        states=(State("p4"), State("p5")),
        initial=(Initial("p5"),),
        variables=(Variable("ctx"),),
        clocks=(Clock("clk"),),
        transitions=(
            PrdTransition("p5", "p5", None),
            PrdTransition("p4", "p4", None, clock("clk", "<", 55), requirements=("SLACK",)),
            PrdTransition(
                "p4",
                "p5",
                None,
                AllOf((clock("clk", ">=", 50), clock("clk", "<", 55))),
                assignments=(Assignment("ctx", Constant(0)),),
                requirements=("RESET",),
            ),
            PrdTransition("p4", "p4", rest),
            PrdTransition("p5", "p5", rest),
            PrdTransition("p4", "p4", ack, resets=("clk",)),
            PrdTransition("p5", "p4", ack, resets=("clk",)),
        ),
    )


def ctr() -> PrdAutomaton:
    return product(events_automaton(), time_automaton())


def trace(name: str, *steps: tuple[int | Fraction, str]) -> EventTrace:
    """From delays in milliseconds and events like `req CTR set 5`."""
    events = []
    now = Fraction(0)
    for index, (delay, text) in enumerate(steps):
        now += ms(delay)
        *label, last = text.split()
        fields: dict[str, int | str | bytes] = {}
        if last.isdigit():
            fields["val" if label[2] != "log" else "data"] = int(last)
        else:
            label.append(last)
        events.append(TimedEvent(now, " ".join(label), fields, index, text))
    return EventTrace(name, tuple(events), start=Fraction(0))


TEST_1 = trace(
    "Test-1",
    (10, "req CTR set 5"),
    (7, "res CTR ack 5"),
    (15, "req CTR get"),
    (8, "res CTR ret 0"),
)
TEST_2 = trace(
    "Test-2",
    (9, "req CTR set 5"),
    (6, "res CTR ack 5"),
    (12, "req CTR log 7"),
    (11, "res CTR done"),
    (1, "req CTR get"),
    (3, "res CTR ret 0"),
)
TEST_3 = trace(
    "Test-3",
    (11, "req CTR set 5"),
    (8, "res CTR ack 5"),
    (58, "req CTR get"),
    (4, "res CTR ret 5"),
)
