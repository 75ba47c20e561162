"""The charts of docs/ads.md: their rates, and what comes out."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from tests.causes.ads import HARDWARE, ads, functions

from whence.api import System
from whence.causes.chance.questions import hazard_probability
from whence.formats.charts.yaml import read_chart_file
from whence.model.chart import Chart

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
ACTIVATION = "ADS_primary.bad || Perception.bad || Trajectory.bad"
BOTH = pytest.mark.parametrize("variant", [1, 2])


def chart(variant: int) -> Chart:
    return read_chart_file(EXAMPLES / f"ads_variant{variant}.yaml")


@BOTH
def test_the_rates_of_hardware_add_up(variant: int) -> None:
    machines = {machine.name: machine for machine in chart(variant).machines}
    for unit, total in HARDWARE.items():
        rates = {
            transition.event: transition.rate
            for transition in machines[unit].transitions
            if transition.rate is not None
        }
        faults = Fraction(repr(total))
        assert sum(rates.values(), start=Fraction(0)) == faults
        assert rates.pop(f"{unit}_undetected") == faults / 100
        here = [name for name, on in functions(variant).items() if on == unit]
        assert len(rates) == 2 * len(here)
        share = faults * Fraction(99, 100) / len(here)
        assert sorted(rates.values()) == sorted(
            [share / 10] * len(here) + [share * Fraction(9, 10)] * len(here)
        )


@pytest.mark.nightly
@BOTH
def test_the_charts_are_the_system_built_by_hand(variant: int) -> None:
    """That one starts; which takes no time where transitions without a rate are immediate."""
    system = System(chart(variant))
    for goal in ("SG1", "SG2"):
        explored, _ = system.explored(goal)
        found = hazard_probability(explored, "bad", 1)
        expected = hazard_probability(ads(variant), goal, 1)
        assert found.value == pytest.approx(expected.value, rel=1e-11)


@pytest.mark.nightly
@pytest.mark.parametrize(("variant", "causes", "alone"), [(1, 19, 3), (2, 16, 4)])
def test_causes(variant: int, causes: int, alone: int) -> None:
    """The numbers of causes of section 7.4, and its single-point failures."""
    found = System(chart(variant)).causes("SG1", time="1h")
    assert len(found.causes) == causes
    single = [cause for cause in found.causes if cause.failures == 1]
    assert len(single) == alone
    assert found.probability is not None
    assert all(cause.probability is not None for cause in found.causes)
    together = sum(cause.probability or 0.0 for cause in found.causes)
    assert found.probability <= together <= found.probability * 1.001


@pytest.mark.nightly
def test_emergency() -> None:
    """Variant 2 is the better one, as in the thesis; the numbers are those of docs/ads.md."""
    found = [System(chart(v)).emergency(ACTIVATION, "SG1").value for v in (1, 2)]
    assert found == pytest.approx([6.10244580e-9, 5.86644410e-9], rel=1e-8)
