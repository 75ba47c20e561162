"""Single-point and multiple-point, detected and undetected failures (Koelbl, section 7.4)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.causes.support import RAILROAD, RAILROAD_ACTIONS, UNGUARDED, cause, result

from whence.causes.cut_sets import CutSet, cut_sets, safety_summary
from whence.causes.results import Event
from whence.model.transitions import Action

ACTIONS = (
    Action(name="ADS_backup_undetected", failure=True, detected=False),
    Action(name="Perception_ClassificationError", failure=True),
    Action(name="trajectory_error", failure=True, detected=True),
    Action(name="start"),
)
BACKUP, PERCEPTION, TRAJECTORY = (Event(action.name) for action in ACTIONS[:3])
#: Cause 2 of variant 2 and cause 6 of variant 1, and two more.
DRIVING = result(
    cause(1, "start trajectory_error", probability=1e-6),
    cause(2, "start ADS_backup_undetected", probability=9.98999501e-7),
    cause(
        6,
        "start ADS_backup_undetected Perception_ClassificationError",
        probability=9.91367948e-11,
    ),
    cause(7, "trajectory_error Perception_ClassificationError", probability=1e-9),
    cause(8, "Perception_ClassificationError trajectory_error#2", probability=1e-10),
    actions=ACTIONS,
)


def test_the_classes_of_section_7_4() -> None:
    summary = safety_summary(DRIVING)
    told = [(one.cause, one.points, one.detection, one.latent) for one in summary.classes]
    assert told == [
        (1, "single-point", "detected", False),
        (2, "single-point", "undetected", False),
        (6, "multiple-point", "undetected", True),
        (7, "multiple-point", "unknown", False),
        (8, "multiple-point", "unknown", False),
    ]
    assert [one.cause for one in summary.undetected] == [2, 6]
    assert [one.cause for one in summary.latent] == [6]
    assert [one.cause for one in summary.of("single-point")] == [1, 2]
    assert summary.of("none") == ()
    assert summary.probability_single_point == pytest.approx(1.998999501e-6, rel=1e-12)
    assert summary.probability_undetected == pytest.approx(9.99098637795e-7, rel=1e-10)


def test_minimal_cut_sets() -> None:
    """A second failure adds nothing to one that is enough; a second time is another event."""
    assert safety_summary(DRIVING).over == "failures"
    assert cut_sets(DRIVING) == (
        CutSet((TRAJECTORY,), (1,), "detected"),
        CutSet((BACKUP,), (2,), "undetected"),
        CutSet((PERCEPTION, Event("trajectory_error", 2)), (8,), "unknown"),
    )


def test_causes_without_a_failure() -> None:
    """The railroad's causes 2 and 4 are the design's."""
    summary = safety_summary(result(*RAILROAD, actions=RAILROAD_ACTIONS))
    assert [one.cause for one in summary.of("none")] == [2, 4]
    assert [one.cause for one in summary.of("single-point")] == [1, 3]
    assert summary.cut_sets == (CutSet((Event("Gf"),), (1, 3), "undetected"),)
    assert summary.probability_multiple_point == 0
    # No cause that is asked about lacks its probability: cause 4 has no failure.
    assert summary.probability_undetected == pytest.approx(1.51e-4)


def test_a_system_that_tells_of_no_failures() -> None:
    bare = result(UNGUARDED, cause(2, "Ca Cc Ta Tc x"))
    summary = safety_summary(bare)
    assert summary.over == "all events"
    assert [set(map(str, one.events)) for one in summary.cut_sets] == [{"Ca", "Cc", "Ta", "Tc"}]
    assert summary.cut_sets[0].order == 4
    # A failure that is in no cause is one that the system tells of.
    told = result(UNGUARDED, actions=(Action(name="Gf", failure=True),))
    assert safety_summary(told).over == "failures"
    assert cut_sets(told) == ()


def test_a_probability_that_is_not_known() -> None:
    some = result(
        cause(1, "trajectory_error", probability=0.7),
        cause(2, "trajectory_error#2", probability=0.7),
        cause(3, "trajectory_error trajectory_error#2"),
        actions=ACTIONS,
    )
    summary = safety_summary(some)
    assert summary.probability_single_point == 1.0
    assert summary.probability_multiple_point is None


@given(st.lists(st.sets(st.sampled_from("abcdef"), min_size=1), min_size=1, max_size=8))
def test_minimal_against_the_definition(sets: list[set[str]]) -> None:
    """Over fault a to d; e and f are no failures."""
    actions = tuple(Action(name=name, failure=name in "abcd") for name in "abcdef")
    causes = [cause(n, " ".join(sorted(one))) for n, one in enumerate(sets, 1)]
    found = {
        frozenset(e.action for e in one.events)
        for one in cut_sets(result(*causes, actions=actions))
    }
    failing = {frozenset(one & set("abcd")) for one in sets} - {frozenset()}
    assert found == {one for one in failing if not any(two < one for two in failing)}
    assert found <= failing
