"""Causal ranges and repairs to show, made by hand, for the database of Koelbl's example 3."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from tests.report.support import strange, strange_trace

from whence.api import Model, load
from whence.model.layout import layout_of
from whence.model.network import Network
from whence.model.trace import (
    DelayRange,
    EdgeUse,
    SymbolicState,
    TimedTrace,
    Transition,
    Verdict,
)
from whence.report.timing_html import Round
from whence.source import Origin
from whence.timing.results import (
    Admissibility,
    CausalRange,
    Change,
    Kind,
    Limit,
    OtherQuery,
    RangesResult,
    Repair,
    RepairResult,
)

ROOT = Path(__file__).resolve().parents[2]
QUERY = "A[] not client.serReceiving or x <= 4"
FILE = "examples/database.xml"


def model() -> Model:
    return load(ROOT / "examples" / "database.xml")


def fractions(delays: str) -> tuple[Fraction, ...]:
    return tuple(map(Fraction, delays.split()))


def trace(delays: str = "0 0 1 1 5/2") -> TimedTrace:
    """The run that `whence check` shows, or another one along its transitions."""
    states = (
        SymbolicState((0, 0), (), constraints=("y == x", "z == x", "w == x")),
        SymbolicState((1, 0), (), constraints=("y == x", "z == x", "w == 0")),
        SymbolicState((2, 1), (), constraints=("z == y", "w == x", "x <= 2", "x <= y")),
        SymbolicState((2, 2), (), constraints=("w == x", "1 <= x", "x <= 3", "y <= 1")),
        SymbolicState((3, 0), (), constraints=("y - z == 1", "2 <= x", "x <= 6", "z <= 3")),
    )
    transitions = (
        Transition("tau", (EdgeUse(0, 0),)),
        Transition("req", (EdgeUse(0, 1), EdgeUse(1, 0))),
        Transition("tau", (EdgeUse(1, 1),)),
        Transition("ser", (EdgeUse(1, 2), EdgeUse(0, 2))),
    )
    ranges = (
        DelayRange(0, False, None, True),
        DelayRange(0, False, 0, False),
        DelayRange(1, False, 2, False),
        DelayRange(1, False, 1, False),
        DelayRange(0, False, 3, False),
    )
    return TimedTrace(states, transitions, fractions(delays), delay_ranges=ranges)


def limit(value: int | str, strict: bool = False) -> Limit:
    return Limit(Fraction(value), strict)


#: The two ranges of the thesis (section 9.2): 2 <= δ4 <= 3 and 3 <= δ2 + δ4 <= 5.
ALONE = CausalRange((4,), limit(2), limit(3), fractions("0 0 1 1 5/2"), (fractions("0 0 1 1 0"),))
TOGETHER = CausalRange(
    (2, 4),
    limit(3),
    limit(5),
    fractions("0 0 7/4 1 7/4"),
    (fractions("0 0 1 1 7/4"), fractions("0 0 7/4 1 0")),
)
#: A range that is open, and avoided only by a run that does not go on.
OPEN = CausalRange(
    (2,),
    limit("3/2", True),
    None,
    fractions("0 0 2 1 3"),
    (fractions("0 0 1/3"),),
)


def ranges(**changes: object) -> RangesResult:
    result = RangesResult(QUERY, "violated", trace(), (2, 4), (ALONE, TOGETHER), timed=True)
    return replace(result, seconds=0.25, **changes)  # type: ignore[arg-type]


def change(kind: Kind, where: tuple[int, int | None, int | None], element: str, before: str,
           after: str, line: int, amount: int = 0) -> Change:  # fmt: skip
    return Change(kind, *where, element, before, after, Origin(FILE, line, 9), amount)


BOUND = change("bound", (0, 3, None), "invariant of client.serReceiving",
               "z <= 3", "z <= 1", 27, -2)  # fmt: skip
OPERATOR = change("operator", (1, None, 1), "guard of db.reqReceived -> reqProcessing",
                  "w >= 1", "w < 1", 91)  # fmt: skip
RESET = change("reset", (1, None, 0), "reset on db.reqAwaiting -> reqReceived",
               "no update", "y = 0", 83)  # fmt: skip
NO_RESET = change("reset", (1, None, 1), "resets on db.reqReceived -> reqProcessing",
                  "y = 0", "no update", 92)  # fmt: skip
MORE = change("reset", (0, None, 0), "resets on client.initial -> reqCreate",
              "w = 0", "w = 0, x = 0", 36)  # fmt: skip
URGENT = change("urgency", (0, 3, None), "location client.serReceiving",
                "not urgent", "urgent", 25)  # fmt: skip

LOST = Admissibility(
    "equal", "transitions", False, ("client: initial -> reqCreate", "req", "db: -> reqProcessing"),
    "original", trace("0 0 1 1 0"),
)  # fmt: skip


def admissibility(admissible: bool | None = True, reason: str = "") -> Admissibility:
    return Admissibility("equal", "transitions", admissible, reason=reason)


def repairs(**changes: object) -> RepairResult:
    def repair(number: int, kind: Kind, *made: Change, **more: object) -> Repair:
        usual = {
            "verdict": "satisfied",
            "admissibility": admissibility(),
            "deadlock_before": "satisfied",
            "deadlock_after": "satisfied",
        }
        return Repair(number, kind, made, False, **(usual | more))  # type: ignore[arg-type]

    def other(before: Verdict, after: Verdict) -> OtherQuery:
        return OtherQuery("E<> client.timeout", before, after)

    result = RepairResult(
        QUERY,
        "violated",
        trace(),
        (
            repair(1, "bound", BOUND, other_queries=(other("satisfied", "violated"),)),
            repair(2, "operator", OPERATOR, admissibility=LOST, deadlock_after="violated"),
            repair(3, "reset", RESET, verdict="violated",
                   trace=trace("0 0 2 1 3")),
            repair(4, "urgency", URGENT, admissibility=admissibility(None, "out of time"),
                   other_queries=(other("satisfied", "satisfied"),)),
            repair(5, "mixed", BOUND, RESET, NO_RESET, MORE, verdict="unknown", admissibility=None),
        ),
        complete_to=2,
        seconds=3.5,
        search_seconds=0.75,
    )  # fmt: skip
    return replace(result, **changes)  # type: ignore[arg-type]


def a_round(
    result: RepairResult | None = None, network: Network | None = None, applied: int | None = None
) -> Round:
    made = network or model().network
    return Round(result or repairs(), made, layout_of(made), ("client", "db"), applied)


# ------------------------------------------------------------------------------------ what is evil


def evil(text: str) -> tuple[Network, RangesResult, RepairResult]:
    """Results in which every text that can come from a model is `text`."""
    network = strange(text)
    run = strange_trace(network, "goal")
    found = CausalRange(
        (1, 3),
        limit(1, True),
        limit("9/2"),
        run.delays,
        ((*run.delays[:1], Fraction(0)), run.delays),
    )
    explained = RangesResult(
        text, "violated", run, (1, 3), (found,), True, True, False, reason=text
    )
    told = Admissibility("equal", text, False, (text, text), "repaired", run, text)
    origin = Origin(text, 3, 1)
    changes = (
        Change("bound", 0, 2, None, text, text, text, origin, 1),
        Change("reset", 0, None, 1, text, "", text, origin),
        Change("urgency", 1, 1, None, text, text, "", origin),
        Change("operator", 7, None, 99, text, "a", "b", origin),
    )
    repair = Repair(
        1, "mixed", changes, True, "violated", told,
        (OtherQuery(text, "satisfied", "violated"),), "satisfied", "violated", run,
    )  # fmt: skip
    repaired = RepairResult(text, "violated", run, (repair,), True, 1, False, text, 1.0, 0.5)
    return network, explained, repaired
