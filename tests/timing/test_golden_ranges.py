"""Causal ranges that the thesis publishes (M. Kölbl, Konstanz 2022, chapter 9)."""

from __future__ import annotations

import pytest
from tests.timing.support import example, fischer, slow_heart

from whence.model.trace import EdgeUse, TimedTrace, Transition
from whence.timing.results import RangesResult


def texts(result: RangesResult) -> list[str]:
    return [str(found) for found in result.ranges]


def test_database() -> None:
    """Example 3 with the property of the thesis' text."""
    result = example("database.xml").ranges()
    assert result.causal_delays == (2, 4)
    assert texts(result) == ["2 < δ4 <= 3", "3 < δ2 + δ4 <= 5"]
    assert result.timed
    assert not result.always


def test_database_as_in_the_formula() -> None:
    """Example 3 with `x < 4`, as the thesis' Φ has it."""
    result = example("database.xml").ranges("A[] not client.serReceiving or x < 4")
    assert result.causal_delays == (2, 4)
    assert texts(result) == ["2 <= δ4 <= 3", "3 <= δ2 + δ4 <= 5"]


def test_camel_transporter() -> None:
    """Figure 9.3."""
    result = example("camel.xml").ranges()
    assert result.causal_delays == (0, 1, 2, 3)
    assert texts(result) == [
        "7 < δ0 + δ3 <= 8",
        "7 < δ1 + δ3 <= 8",
        "7 < δ2 + δ3 <= 8",
        "7 < δ0 + δ1 + δ3 <= 11",
        "7 < δ0 + δ2 + δ3 <= 11",
        "7 < δ1 + δ2 + δ3 <= 11",
        "7 < δ0 + δ1 + δ2 + δ3 <= 11",
    ]


def _run(steps: list[tuple[int, int]]) -> TimedTrace:
    """Steps of (process, edge), all internal."""
    transitions = tuple(Transition("tau", (EdgeUse(p, e),)) for p, e in steps)
    return TimedTrace((), transitions, ())


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        # The faster process asks first.
        (
            [(1, 0), (0, 0), (1, 1), (1, 3), (0, 1), (0, 3)],
            ["2 < δ1 <= 3", "0 <= δ2 < 1", "2 < δ3 <= 3"],
        ),
        # The slower one does, so that it is in `req` during delays 1 to 4.
        (
            [(0, 0), (1, 0), (1, 1), (1, 3), (0, 1), (0, 3)],
            ["2 < δ3 <= 3", "0 <= δ1 + δ2 < 1"],
        ),
    ],
)
def test_fischer(steps: list[tuple[int, int]], expected: list[str]) -> None:
    """Figure 9.2. Published: delays 1 to 3, and 2 < δ1 <= 3, 0 <= δ2 < 1, 2 < δ3 <= 3 and
    0 <= δ1 + δ2 < 1.

    These are the ranges of two traces. Of the first, the last one is none by Definition 39
    (CR3): every run in it is in the range of δ2 alone.
    """
    result = fischer(2).ranges(trace=_run(steps))
    assert result.always
    assert result.causal_delays == (1, 2, 3)
    assert texts(result) == expected


def test_pacemaker() -> None:
    """The invariant of the heart's period raised from 400 to 1600. Published, on a trace of 7
    transitions: two causal delays, and one range, 200 wide: 150 < δ6 < 350. Our shortest trace
    has 9 transitions, in which the same delay starts later."""
    result = slow_heart().ranges()
    assert len(result.causal_delays) == 2
    first = result.ranges[0]
    assert len(first.delays) == 1
    assert first.upper is not None
    assert first.upper.value - first.lower.value == 200
    assert first.lower.strict
    assert first.upper.strict


def test_each_range_comes_with_evidence() -> None:
    model = example("camel.xml")
    result = model.ranges()
    for found in result.ranges:
        total = sum(found.violating[delay] for delay in found.delays)
        assert found.lower.value < total <= (found.upper.value if found.upper else total)
        load = sum(found.violating)
        assert load > 7
        for delay, other in zip(found.delays, found.satisfying, strict=True):
            same = [n for n in range(len(other)) if other[n] == found.violating[n]]
            assert same == [n for n in range(len(other)) if n != delay]
            # It arrives with less, or is stopped by the check behind the third bag.
            assert sum(other) <= 7 or sum(other[:3]) > 7 or any(d > 4 for d in other)


def test_nothing_to_explain() -> None:
    result = example("database.xml").ranges("A[] x >= 0")
    assert result.verdict == "satisfied"
    assert result.trace is None


def test_a_violation_that_does_not_depend_on_time() -> None:
    result = example("traffic_light.xta").ranges("A[] false")
    assert result.causal_delays == ()
    assert not result.timed
