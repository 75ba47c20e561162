"""The numbers of the paper: Figures 1 to 4, Examples 1 to 7."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
from tests.triage.support import TEST_1, TEST_2, TEST_3, ctr, ms, time_automaton, trace

from whence.triage.classify import classify
from whence.triage.explain import analyse, explain
from whence.triage.images import before_time, during, post_time
from whence.triage.localize import localize
from whence.triage.machine import Machine, prepared
from whence.triage.results import Explanation
from whence.triage.verify import verify
from whence.zones.dates import age, anything, at_most, back_over_step, close_dates

CTR = ctr()


def only(name: str) -> Explanation:
    test = {"1": TEST_1, "2": TEST_2, "3": TEST_3}[name]
    ((_, (explanation,)),) = analyse(CTR, test)
    return explanation


def test_the_faults_are_the_last_responses() -> None:
    """Figure 1, Example 3."""
    for test in (TEST_1, TEST_2, TEST_3):
        (fault,) = localize(CTR, test).faults
        assert fault.index == len(test.events) - 1
        assert fault.kind == "value"
        assert fault.requirements == ("GET",)


def test_what_the_model_would_have_accepted() -> None:
    """After `get` in Test-1, 15 ms after the response to set: 5 until the reset can have
    happened, which is in 35 ms at the earliest and, with the slack of A_Δ, before 40 ms."""
    (fault,) = localize(CTR, TEST_1).faults
    found = {each.values: each.window for each in fault.expected}
    five, zero = found["val == ctx (5)",], found["val == ctx (0)",]
    assert (five.earliest, five.latest, five.latest_strict) == (0, ms(40), True)
    assert (zero.earliest, zero.latest) == (ms(35), None)


def test_the_log_exchange_is_irrelevant_but_not_its_time() -> None:
    """Example 4."""
    explanation = only("2")
    assert explanation.events == (0, 1, 4, 5)
    assert explanation.gaps[2].dropped == (2, 3)
    assert explanation.gaps[2].kept
    assert explanation.gaps[2].time == ms(12 + 11 + 1)
    assert only("1").events == (0, 1, 2, 3)
    assert explain(CTR, TEST_2, localize(CTR, TEST_2).faults[0]) == (explanation,)


def test_time_that_is_needed_is_all_kept() -> None:
    """Test-3 with a log exchange: only with all of its time has the value to be reset."""
    log = trace(
        "Test-3 with log",
        *((10, text) for text in ("req CTR set 5", "res CTR ack 5")),
        *((20, text) for text in ("req CTR log 7", "res CTR done", "req CTR get")),
        (4, "res CTR ret 5"),
    )
    ((_, (explanation,)),) = analyse(CTR, log)
    assert explanation.events == (0, 1, 4, 5)
    assert explanation.gaps[2].time == ms(60)
    assert explanation.gaps[2].matters
    assert explanation.key == only("3").key


def test_the_assertions_of_figure_3() -> None:
    explanation = only("2")
    after_ack, before_get = explanation.after[2], explanation.before[2]
    assert {str(literal) for clause in after_ack[0].clauses for literal in clause} == {
        "ctx != 0",
        "clk < 23 ms",
    }
    assert {str(literal) for clause in before_get[0].clauses for literal in clause} == {
        "ctx != 0",
        "clk < 47 ms",
    }
    assert [each.state for each in after_ack] == ["p0,p4"]
    assert [str(each) for each in explanation.before[3]] == ["p2,p4: ctx != 0"]


def test_the_classes_and_the_template_of_figure_4() -> None:
    explanations = [only(name) for name in "123"]
    classes = classify(explanations)
    assert [each.members for each in classes.classes] == [(0, 1), (2,)]
    # u1 and u2 of the paper, which counts backwards, are u3 and u2 here.
    assert {atom.text for atom in explanations[0].template.atoms} == {
        "u2 + u3 < 50 ms",
        "clk + u3 < 50 ms",
        "clk + u2 + u3 < 50 ms",
    }
    assert explanations[0].template == explanations[1].template
    assert explanations[0].satisfied == (True, True, True)
    assert explanations[0].key != explanations[2].key


def test_the_proofs_are_valid_and_others_are_not() -> None:
    for test, name in ((TEST_1, "1"), (TEST_2, "2"), (TEST_3, "3")):
        explanation = only(name)
        assert not verify(CTR, test, explanation)
        for n in range(len(explanation.gaps)):
            # True everywhere is too weak before the fault.
            weak = tuple(replace(each, clauses=()) for each in explanation.before[n])
            before = (*explanation.before[:n], weak, *explanation.before[n + 1 :])
            changed = replace(explanation, before=before)
            assert bool(verify(CTR, test, changed)) == (weak != explanation.before[n])
        longer = replace(explanation.gaps[2], time=explanation.gaps[2].time + ms(30))
        gaps = (*explanation.gaps[:2], longer, *explanation.gaps[3:])
        assert bool(verify(CTR, test, replace(explanation, gaps=gaps))) == (name != "3")


def test_classes_do_not_depend_on_what_the_model_cannot_tell_apart() -> None:
    """Neither an event that comes before and has no part in the fault, nor a value that no guard
    and no update reads, makes another class; one that is read does."""

    def explained(before: int, data: int) -> Explanation:
        log = trace(
            f"{before} {data}",
            (3, f"req CTR log {before}"),
            (4, "res CTR done"),
            (40, f"req CTR log {data}"),
            (20, "res CTR ack 4"),
            (2, "res CTR done"),
        )
        ((fault, (explanation,)),) = analyse(CTR, log)
        assert (fault.kind, fault.resynchronised) == ("unexpected", "ignored")
        assert explanation.events == (2, 3)
        assert explanation.signature == ("req CTR log", "res CTR ack val=4")
        return explanation

    assert len({explained(*each).key for each in ((9, 1), (8, 1), (9, 2))}) == 1
    other = trace(
        "other",
        *((10, text) for text in ("req CTR set 6", "res CTR ack 6", "req CTR get")),
        (8, "res CTR ret 0"),
    )
    assert analyse(CTR, other)[0][1][0].key != only("1").key


# ----------------------------------------------------------------------------- Examples 6 and 7


def of_time() -> Machine:
    return prepared(time_automaton()).machine(TEST_1)


def clock_between(machine: Machine, low: int, high: int) -> np.ndarray:  # type: ignore[type-arg]
    zone = anything(2, 1)
    unit = machine.scale // 1000
    zone[1, 0], zone[0, 1] = at_most(high * unit), at_most(-low * unit)
    assert close_dates(zone)
    return zone


def interval(machine: Machine, zone: np.ndarray) -> str:  # type: ignore[type-arg]
    unit = machine.scale // 1000
    low, high = int(zone[0, 1]), int(zone[1, 0])
    return (
        f"{'[' if low & 1 else '('}{Fraction(-(low >> 1), unit)},"
        f" {Fraction(high >> 1, unit)}{']' if high & 1 else ')'}"
    )


def test_example_6() -> None:
    """From clk in [49, 52] in p4, 1 ms later. sp goes over all decompositions of 1 ms, the
    example over one step; here the two agree, but for the reset, which may be a while ago."""
    machine = of_time()
    zone = clock_between(machine, 49, 52)
    p4, p5 = 0, 1
    found = post_time(machine, {p4: [(machine.ranges, zone)]}, machine.scale // 1000)
    assert [(memory, interval(machine, z)) for memory, z in found[p4]] == [
        (machine.ranges, "[50, 53]")
    ]
    assert [(memory, interval(machine, z)) for memory, z in found[p5]] == [
        (((((0, 0)),),), "[50, 53]")
    ]
    # 5 ms more: it has to be in p5, since a wait of 6 ms in p4 would end at 55 or later.
    later = post_time(machine, {p4: [(machine.ranges, zone)]}, 6 * machine.scale // 1000)
    assert p4 not in later
    assert [interval(machine, z) for _, z in later[p5]] == ["[55, 58]"]
    # The printed (p4, 55 <= clk <= 58) contradicts Lemma 4: nobody waits in p4 up to 55.
    assert len(during(machine, {p4: [(machine.ranges, zone)]}, machine.scale // 1000)) == 2


def test_example_7() -> None:
    """From which configurations of p4 is one in p4 with clk in [49, 52] after each way to spend
    1 ms? From those of clk in [48, 49), and, by Lemma 6, which the printed set leaves out, from
    those that cannot spend it: clk >= 54."""
    machine = of_time()
    p4, p5 = 0, 1
    outside = [
        (machine.ranges, clock_between(machine, 0, 49)),
        (machine.ranges, clock_between(machine, 52, 10**6)),
    ]
    for _, zone in outside:
        # The complement of [49, 52] is open there.
        zone[zone == at_most(49 * machine.scale // 1000)] -= 1
        zone[zone == at_most(-52 * machine.scale // 1000)] -= 1
    wide = machine.unbounded
    amount = machine.scale // 1000
    one_step = []
    for way in wide.waits(p4):
        targets = outside if way.target == p4 else [(machine.ranges, anything(2, 1))]
        for _, zone in targets:
            stepped, earlier = np.empty_like(zone), np.empty_like(zone)
            if back_over_step(zone, way.constraints, way.resets, 1, stepped) and age(
                stepped, -amount, 1, earlier
            ):
                one_step.append(interval(machine, earlier))
    # pre in one step: what is neither here nor stuck is [48, 49), as printed.
    assert set(one_step) == {"[0, 48)", "(51, 54)", "[49, 54)"}
    # In several steps one can leave p4 at once, and spend the time in p5.
    escapes = before_time(wide, {p4: outside}, {p4}, [p4], amount, anything(2, 1))
    assert {interval(machine, zone) for _, zone in escapes[p4]} == {"[0, 48)", "[49, 55)"}
    assert p5 not in escapes
