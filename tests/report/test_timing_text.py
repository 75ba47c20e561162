"""Causal ranges and repairs on the terminal: what is said, in words that can be trusted."""

import io
from dataclasses import replace

import pytest
from rich.console import Console, RenderableType
from tests.report.support import EVIL
from tests.report.timing_support import (
    ALONE,
    OPEN,
    TOGETHER,
    admissibility,
    evil,
    fractions,
    limit,
    model,
    ranges,
    repairs,
    trace,
)

from whence.model.layout import layout_of
from whence.report.story import tell
from whence.report.timing_text import iteration_text, ranges_text, repairs_text
from whence.report.timing_words import (
    deadlock_words,
    extent,
    other_queries_words,
    range_words,
    state_words,
    what_admissible_means,
)
from whence.timing.results import Admissibility, CausalRange, OtherQuery, RangesResult, RepairResult

MODEL = model()


def shown(renderable: RenderableType, width: int = 200, colour: bool = False) -> str:
    stream = io.StringIO()
    Console(file=stream, width=width, force_terminal=colour, legacy_windows=False).print(renderable)
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines())


def told(result: RangesResult | RepairResult, quiet: bool = False, width: int = 200) -> str:
    show = ranges_text if isinstance(result, RangesResult) else repairs_text
    return shown(show(result, MODEL.network, MODEL.layout, quiet), width)  # type: ignore[arg-type]


def words(found: CausalRange) -> tuple[str, str]:
    return range_words(found, tell(trace(), MODEL.network, MODEL.layout))


# ---------------------------------------------------------------------------------------- ranges


@pytest.mark.parametrize(
    ("lower", "upper", "expected"),
    [
        (limit(2), limit(3), "between 2 and 3"),
        (limit(2, True), limit("7/2"), "more than 2 and at most 7/2"),
        (limit(2), limit(3, True), "at least 2 and less than 3"),
        (limit(2), limit(2), "exactly 2"),
        (limit(0), limit(3), "at most 3"),
        (limit(0), limit(3, True), "less than 3"),
        (limit(0, True), limit(3), "more than 0 and at most 3"),
        (limit(2), None, "at least 2"),
        (limit(2, True), None, "more than 2"),
    ],
)
def test_how_long_a_wait_is(lower: object, upper: object, expected: str) -> None:
    assert extent(lower, upper) == expected  # type: ignore[arg-type]


def test_a_range_of_one_delay_in_words() -> None:
    assert words(ALONE) == (
        "Whenever the system waits between 2 and 3 time units while client is in serReceiving and "
        "db in reqAwaiting (δ4), the property is violated, whatever the other delays are.",
        "For example, a run with the delays (0, 0, 1, 1, 5/2) violates it; had δ4 been 0 instead "
        "of 5/2, it would not have.",
    )


def test_a_range_of_a_sum_in_words() -> None:
    rule, evidence = words(TOGETHER)
    assert "between 3 and 5 time units in all" in rule
    assert "(δ2) and while client is in serReceiving and db in reqAwaiting (δ4)" in rule
    assert "however the time is divided among them" in rule
    assert "had δ2 been 1 instead of 7/4 or had δ4 been 0 instead of 7/4" in evidence


def test_a_run_that_cannot_go_on_is_no_run_that_satisfies() -> None:
    rule, evidence = words(OPEN)
    assert "more than 3/2 time units" in rule
    assert evidence == (
        "For example, a run with the delays (0, 0, 2, 1, 3) violates it; had δ2 been 1/3 instead "
        "of 2, the trace could not have gone on."
    )
    one = replace(OPEN, lower=limit(1), upper=limit(1))
    assert "waits exactly 1 time unit while" in words(one)[0]


def test_of_many_processes_those_are_named_that_move() -> None:
    story = tell(trace(), MODEL.network, MODEL.layout)
    crowd = replace(
        story,
        takes_part=(0, 1, 2, 3),
        process_names=("client", "db", "c", "d"),
        location_names=(*story.location_names, ("x",), ("y",)),
        steps=tuple(replace(step, locations=(*step.locations, 0, 0)) for step in story.steps),
    )
    assert state_words(crowd, 3) == "client is in reqSent and db in reqProcessing"
    assert state_words(crowd, 0) == "client is in initial"


def test_ranges_are_told_with_their_trace() -> None:
    text = told(ranges())
    assert "Which delays cause the violation: A[] not client.serReceiving or x <= 4" in text
    assert "client: reqCreate -> reqSent" in text
    assert "delays: δ0 = 0, δ1 = 0, δ2 = 1, δ3 = 1, δ4 = 5/2" in text
    assert (
        "δ4              5/2   [0, 3]     client is in serReceiving and db in reqAwaiting" in text
    )
    assert "1. 2 <= δ4 <= 3" in text
    assert "2. 3 <= δ2 + δ4 <= 5" in text
    assert "partial" not in text
    assert "reqCreate -> reqSent" not in told(ranges(), quiet=True)


def test_what_else_can_come_of_it() -> None:
    nothing = {"trace": None, "causal_delays": (), "ranges": ()}
    holds = told(ranges(verdict="satisfied", timed=False, **nothing))
    assert "The property holds: nothing to explain." in holds
    assert "Counterexample" not in holds
    untimed = told(ranges(timed=False, causal_delays=(), ranges=()))
    assert "The violation does not depend on time: no timed cause exists." in untimed
    always = told(ranges(always=True))
    assert "Every run along this trace violates the property." in always
    assert "To avoid it means that the trace is not completed." in always
    none = told(ranges(ranges=()))
    assert "No range of delays is a cause of the violation." in none


def test_what_was_not_finished_is_said_to_be_partial() -> None:
    partial = told(ranges(ranges=(), complete=False, reason="the budget of time is used up"))
    assert "partial: the budget of time is used up" in partial
    assert "No range" not in partial
    unknown = ranges(verdict="unknown", trace=None, causal_delays=(), ranges=(), reason="no\nmore")
    assert "partial: no more" in told(unknown)
    assert "No trace that violates the property is known." in told(unknown)


# --------------------------------------------------------------------------------------- repairs


def test_repairs_are_listed_with_what_they_cost() -> None:
    text = told(repairs(), width=140)
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert "1 bound z <= 3 -> z <= 1 holds yes 1 more violated" in lines
    assert "2 operator w >= 1 -> w < 1 holds no new" in lines
    assert any(line.startswith("3 reset no update -> y = 0 still violated") for line in lines)
    assert "4 urgency not urgent -> urgent holds unknown" in lines
    assert any("mixed" in line and "not tested" in line for line in lines)
    assert "examples/database.xml:27" in lines
    assert "Repair 1: E<> client.timeout: satisfied -> violated" in lines
    assert "Repair 4: it is not known whether it is admissible: out of time." in lines
    assert "Repair 4: E<>" not in text
    assert "delays (0, 0, 2, 1, 3)" in text
    assert "All repairs of up to 2 changes are listed" in text


def test_columns_without_news_are_left_out() -> None:
    usual = repairs().repairs[:1]
    text = told(repairs(repairs=(replace(usual[0], other_queries=()),)))
    assert "other queries" not in text
    assert "deadlock" not in text


def test_a_witness_is_told_once_for_all_repairs_that_it_speaks_of() -> None:
    second = repairs().repairs[1]
    text = told(repairs(repairs=(second, replace(second, number=7))))
    assert "Repairs 2 and 7 are not admissible: only the original model can do this" in text
    assert text.count("client: initial -> reqCreate") == 2  # once in the trace
    only = told(repairs(repairs=(second,)), quiet=True)
    assert "not admissible" not in only
    empty = replace(second, admissibility=Admissibility("equal", "actions", False, ()))
    assert "only one of the models can do this (the empty word)" in told(repairs(repairs=(empty,)))


@pytest.mark.parametrize(
    ("test", "labels", "expected"),
    [
        ("equal", "transitions", "the same sequences of transitions as the original: none is lost"),
        ("equal", "actions", "the same sequences of actions (channels) as the original"),
        ("nothing lost", "actions", "can still do all sequences of actions (channels)"),
    ],
)
def test_what_admissible_means(test: str, labels: str, expected: str) -> None:
    (one, *_) = repairs().repairs
    found = Admissibility(test, labels, True)  # type: ignore[arg-type]
    assert expected in what_admissible_means(repairs(repairs=(replace(one, admissibility=found),)))
    untested = repairs(repairs=(replace(one, admissibility=None),))
    assert what_admissible_means(untested) == "Admissibility was not tested."


def test_only_what_is_new_about_other_queries_and_deadlocks() -> None:
    (one, *_) = repairs().repairs
    verdicts = [
        ("satisfied", "violated"),
        ("violated", "satisfied"),
        ("violated", "violated"),
        ("satisfied", "unknown"),
        ("unknown", "satisfied"),
        ("satisfied", "error"),
    ]
    others = tuple(OtherQuery("E<> p", before, after) for before, after in verdicts)  # type: ignore[arg-type]
    assert other_queries_words(replace(one, other_queries=others)) == [
        *("1 more violated", "1 more with an error", "1 now unknown"),
        *("1 no longer violated", "1 now satisfied"),
    ]
    old = replace(one, deadlock_before="violated", deadlock_after="violated")
    assert deadlock_words(old) == ""
    assert deadlock_words(replace(one, deadlock_after="unknown")) == "unknown"


def test_no_repairs() -> None:
    nothing = repairs(verdict="satisfied", trace=None, repairs=())
    assert "The property holds: nothing to repair." in told(nothing)
    none = told(repairs(repairs=(), complete_to=1, complete=False, reason="out of time"))
    assert "There is no repair of up to 1 change of the kinds asked for." in none
    assert "partial: out of time" in none
    blocking = told(repairs(always=True))
    assert "so repairs take the trace itself away" in blocking
    gave_up = told(repairs(repairs=(), complete_to=0, complete=False))
    assert "No repair was found." in gave_up
    assert "partial: the search was not finished" in gave_up


def test_rounds() -> None:
    result = repairs()
    done = repairs(verdict="satisfied", trace=None, repairs=())

    def rounds(*made: tuple[RepairResult, object]) -> str:
        return shown(iteration_text(made, MODEL.network, MODEL.layout))  # type: ignore[arg-type]

    text = rounds((result, result.repairs[2]), (result, result.repairs[0]), (done, None))
    assert "3 of 5" in text
    assert "The property holds after 2 repairs." in text
    # No round after the last repair: the repaired model was checked when it was judged.
    assert "holds after 1 repair." in rounds((result, result.repairs[0]))
    assert "still violated after 1 repair." in rounds((result, result.repairs[2]))
    stuck = rounds((repairs(repairs=()), None))
    assert "The property is still violated." in stuck
    assert "There is no repair of up to 2 changes" in stuck
    assert "nothing to repair" in rounds((done, None))


# -------------------------------------------------------------------------------------- hostility


@pytest.mark.parametrize("width", [40, 80, 100, 160])
def test_nothing_in_a_model_breaks_the_terminal(width: int) -> None:
    network, explained, repaired = evil(EVIL)
    layout = layout_of(network)
    chosen = repaired.repairs[0]
    for view in (
        ranges_text(explained, network, layout),
        repairs_text(repaired, network, layout),
        iteration_text([(repaired, chosen)], network, layout),
    ):
        text = shown(view, width)
        assert not {"\x1b", "\x00", "\u202e"} & set(text)
        assert "[red]" in text.replace("\n", "").replace(" ", "")
        assert max(map(len, text.splitlines())) <= width


def test_the_empty_reason_and_the_long_word_are_shown_whole() -> None:
    found = replace(admissibility(None), reason="")
    (one, *_) = repairs().repairs
    assert "the test was not finished" in told(
        repairs(repairs=(replace(one, admissibility=found),))
    )
    word = tuple(f"label {number}" for number in range(12))
    lost = Admissibility("equal", "transitions", False, word, "repaired")
    text = told(repairs(repairs=(replace(one, admissibility=lost),)))
    assert "    1  label 0\n" in text
    assert "   12  label 11" in text
    assert fractions("1/2 3")[0].denominator == 2
