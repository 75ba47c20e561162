"""The paper's example as files: the automaton of Figure 2 in YAML, the traces of Figure 1 as event
lines."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from whence.formats.logs import read_trace
from whence.model.ecu import PrdSystem
from whence.model.prd import AllOf, ClockBound, PrdAutomaton, PrdTransition
from whence.triage.checks import check_automaton
from whence.triage.classify import classify
from whence.triage.explain import analyse
from whence.triage.models import load_prd
from whence.triage.traces import traces_of
from whence.triage.unfold import Unfolded, unfold

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "prd_paper.yaml"

#: Delays in milliseconds; those of Test-2 around the log exchange are the paper's.
LOGS = {
    "Test-1": "10 req set value=5|7 res ack value=5|15 req get|8 res ret value=0",
    "Test-2": "9 req set value=5|6 res ack value=5|12 req log data=7|11 res done|1 req get"
    "|3 res ret value=0",
    "Test-3": "11 req set value=5|8 res ack value=5|58 req get|4 res ret value=5",
}


def part(name: str) -> PrdAutomaton:
    (found,) = [each for each in load_prd(str(EXAMPLE)).parts if each.name == name]
    return found


def of_time(automaton: PrdAutomaton) -> list[PrdTransition]:
    return [transition for transition in automaton.transitions if transition.pattern is None]


def test_the_time_automaton_of_figure_2() -> None:
    """As the examples force it: p4 is left for p5, or not, from 50 ms on and before 55 ms."""
    before = ClockBound("clk", "<", Fraction(55, 1000))
    from_then = ClockBound("clk", ">=", Fraction(50, 1000))
    stay, reset, rest = of_time(part("A_Delta"))
    assert (stay.source, stay.target, stay.guard, stay.assignments) == ("p4", "p4", before, ())
    assert (reset.source, reset.target, reset.guard) == ("p4", "p5", AllOf((from_then, before)))
    assert [(each.variable, each.value.value) for each in reset.assignments] == [("ctx", 0)]  # type: ignore[union-attr]
    assert (rest.source, rest.target, rest.guard) == ("p5", "p5", AllOf())


def test_time_is_free_in_the_other_automaton() -> None:
    events = part("A_E")
    assert [(t.source, t.target, t.guard) for t in of_time(events)] == [
        (state, state, AllOf()) for state in ("p0", "p1", "p2", "p3")
    ]
    assert [state.awaits for state in events.states] == [
        "", "the response to set", "the response to get", "the response to log",
    ]  # fmt: skip


def test_the_only_choice_is_when_to_reset() -> None:
    (found,) = check_automaton(part("A_Delta"))
    assert "nondeterminism: in `p4`, time can lead to `p4`" in found.message
    assert not check_automaton(part("A_E"))
    assert load_prd(str(EXAMPLE)).checks() == (found,)


def test_sizes() -> None:
    """By hand: A_E has four states, of which ctx makes 4 * 256; an acknowledged value leads from
    p1 with each ctx to p0 with each, ret to one state only."""
    size = unfold(part("A_E"))
    requests_and_failure, time = 4, 4
    assert size == Unfolded(1024, 256 * (requests_and_failure + time + 256 + 1 + 1), True)


def explained(folder: Path, name: str) -> tuple[object, ...]:
    path = folder / f"{name}.events"
    lines = LOGS[name].replace(" req ", " req @CTR ").replace(" res ", " res @CTR ").split("|")
    path.write_text("%unit ms\n%dates differences\n" + "\n".join(lines) + "\n")
    (trace,) = traces_of(read_trace(str(path)))
    ((fault, (explanation,)),) = analyse(load_prd(str(EXAMPLE)).automaton, trace)
    assert fault.index == len(lines) - 1
    assert fault.requirements == ("GET-1",)
    return (explanation,)


@pytest.mark.parametrize(
    ("name", "events"),
    [("Test-1", (0, 1, 2, 3)), ("Test-2", (0, 1, 4, 5)), ("Test-3", (0, 1, 2, 3))],
)
def test_relevant_events_of_figure_1(tmp_path: Path, name: str, events: tuple[int, ...]) -> None:
    (explanation,) = explained(tmp_path, name)
    assert explanation.events == events  # type: ignore[attr-defined]


def test_classes_of_figure_1(tmp_path: Path) -> None:
    found = [each for name in LOGS for each in explained(tmp_path, name)]
    classes = classify(found)  # type: ignore[arg-type]
    assert sorted(sorted(each.members) for each in classes.classes) == [[0, 1], [2]]


def test_the_file_is_a_system() -> None:
    from whence.formats.prd.yaml import read_prd_file

    system = read_prd_file(EXAMPLE)
    assert isinstance(system, PrdSystem)
    assert [each.ident for each in system.requirements] == ["SET-1", "GET-1", "GET-2", "LOG-1"]
