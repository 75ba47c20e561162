"""Sequence diagrams: who is on them, that nothing overlaps or is cut off."""

from dataclasses import replace
from fractions import Fraction
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.report.support import (
    assert_nothing_cut_off,
    database,
    database_trace,
    overlapping_texts,
    parsed,
    strange,
    strange_trace,
    view,
    with_class,
    words,
)

from whence.model.layout import layout_of
from whence.model.trace import EdgeUse, SymbolicState, TimedTrace, Transition
from whence.report.sequence import Band, draw_sequence, sequence_diagram
from whence.report.story import tell


def diagram(
    trace: TimedTrace | None = None,
    delay_ranges: list[str] | None = None,
    bands: tuple[Band, ...] = (),
) -> ElementTree.Element:
    network = database()
    return parsed(
        sequence_diagram(
            trace or database_trace(), network, layout_of(network), delay_ranges, bands
        )
    )


def texts(root: ElementTree.Element, class_: str) -> list[str]:
    return [words(element) for element in with_class(root, class_)]


def lifelines(root: ElementTree.Element) -> list[float]:
    return [float(line.attrib["points"].split(",")[0]) for line in with_class(root, "life")]


def test_only_processes_that_take_part_have_lifelines() -> None:
    root = diagram()
    assert len(lifelines(root)) == 2
    assert "client" in words(root)
    assert "one" not in words(root).split()


def test_locations_stand_where_processes_enter_them() -> None:
    root = diagram()
    assert texts(root, "state") == [
        *("initial", "waiting"),
        "reqCreate",
        *("reqSent", "working"),
        *("serReceiving", "waiting"),
    ]
    left, right = lifelines(root)
    for state in with_class(root, "state"):
        (text,) = state.iter("text")
        assert float(text.attrib["x"]) in (left, right)


def test_messages_go_from_sender_to_receiver() -> None:
    root = diagram()
    left, right = lifelines(root)
    req, ser = with_class(root, "message")
    assert (words(req), words(ser)) == ("req", "ser")
    for message, end in ((req, right), (ser, left)):
        (tip,) = with_class(message, "tip")
        assert float(tip.attrib["points"].split(",")[0]) == end
        title = message.find("title")
        assert title is not None
        assert title.text is not None
        assert title.text.startswith("step ")
    assert texts(root, "internal") == ["tau"]


def test_delays_and_times_are_exact() -> None:
    root = diagram()
    assert texts(root, "delay") == ["δ0 = 2", "δ1 = 0 urgent", "δ2 = 3/2", "δ3 = 1"]
    assert texts(root, "time") == ["0", "2", "2", "7/2", "9/2"]
    assert len(with_class(root, "none")) == 1


def test_ranges_of_delays() -> None:
    root = diagram(delay_ranges=["[0, ∞)", "[0, 0]", "[1, 2]"])
    assert texts(root, "delay") == [
        "δ0 = 2 ∈ [0, ∞)",
        "δ1 = 0 ∈ [0, 0]",
        "δ2 = 3/2 ∈ [1, 2]",
        "δ3 = 1",
    ]
    assert_nothing_cut_off(root)
    assert overlapping_texts(root) == []


def test_time_flows_down() -> None:
    times = [float(time.attrib["y"]) for group in with_class(diagram(), "time") for time in group]
    assert times == sorted(times)
    assert len(set(times)) == len(times)


def test_bands_colour_what_lies_between_two_steps() -> None:
    bands = (
        Band(0, 1, 3, "#ff0000", "too long"),
        Band(None, 2, 99, "green", 'fine "&'),
        Band(0, 0, 1, "#ff0000", "too long"),
        Band(3, 0, 1, "blue", "not drawn: no lifeline"),
    )
    root = diagram(bands=bands)
    drawn = [band.find("rect") for band in with_class(root, "band")]
    assert [rect.attrib["fill"] for rect in drawn if rect is not None] == [
        *("#ff0000", "green", "#ff0000")
    ]
    moments = {
        words(group): float(next(group.iter("text")).attrib["y"])
        for group in with_class(root, "message")
    }
    first = drawn[0]
    assert first is not None
    bottom = float(first.attrib["y"]) + float(first.attrib["height"])
    # The band ends at the arrow that the text stands above.
    assert moments["ser"] < bottom < moments["ser"] + 8
    # Equal entries are in the legend once.
    assert len(with_class(root, "swatch")) == 3
    assert_nothing_cut_off(root)
    assert overlapping_texts(root) == []


@pytest.mark.parametrize("end", ["goal", "lasso", "error"])
def test_strange_names_neither_overlap_nor_leave_the_drawing(end: str) -> None:
    network = strange()
    bands = (Band(0, 1, 2, '"/><script>', network.name * 5),)
    root = parsed(
        sequence_diagram(
            strange_trace(network, end), network, layout_of(network), [network.name] * 5, bands
        )
    )
    assert_nothing_cut_off(root)
    assert overlapping_texts(root) == []
    # What does not fit is there as a whole where the mouse rests.
    assert any("acknowledgement_of_the_other_side" in (at.text or "") for at in root.iter("title"))


def test_all_receivers_of_a_broadcast_have_an_arrow_and_nobody_none() -> None:
    network = strange("c")
    root = parsed(sequence_diagram(strange_trace(network, "goal"), network, layout_of(network)))
    to_all, to_none = with_class(root, "message")
    assert len(with_class(to_all, "tip")) == 2
    assert len(with_class(to_none, "tip")) == 0
    assert len(with_class(to_none, "lost")) == 1


def test_an_error_and_a_loop_are_shown() -> None:
    network = strange("c")
    layout = layout_of(network)
    root = parsed(sequence_diagram(strange_trace(network, "error"), network, layout))
    (failed,) = with_class(root, "failed")
    assert len(with_class(failed, "cross")) == 2
    assert with_class(failed, "state") == []
    assert "error: division in c" in words(root)
    root = parsed(sequence_diagram(strange_trace(network, "lasso"), network, layout))
    assert len(with_class(root, "loop")) == 1
    assert "loops back to step 2" in words(root)


def test_a_trace_without_steps() -> None:
    trace = TimedTrace((SymbolicState((0, 0, 0, 0), (0, 0)),), (), (Fraction(5, 3),), "divergence")
    root = diagram(trace)
    assert len(lifelines(root)) == 4  # nobody takes part, so all of them are of interest
    assert texts(root, "delay") == ["δ0 = 5/3"]
    assert_nothing_cut_off(root)


def test_states_of_a_trace_may_be_bare() -> None:
    """A trace read from elsewhere need not tell locations and values."""
    whole = database_trace()
    bare = replace(whole, states=tuple(SymbolicState((), ()) for _ in whole.states))
    assert texts(diagram(bare), "state") == texts(diagram(whole), "state")


def test_many_steps_and_processes_make_a_long_drawing() -> None:
    once = database_trace()
    around = Transition("tau", (EdgeUse(0, 3),))
    back = SymbolicState((0, 0, 0, 0), (1, 1))
    trace = TimedTrace(
        (*once.states, *((back, *once.states[1:]) * 69)),
        (*once.transitions, *((around, *once.transitions) * 69)),
        once.delays * 70,
    )
    root = diagram(trace)
    assert len(trace.transitions) == 279
    assert len(with_class(root, "row")) == 280
    assert 279 * 30 < view(root).height < 279 * 90
    assert_nothing_cut_off(root)


def test_head_and_body_for_a_page_have_one_width() -> None:
    network = database()
    trace = database_trace()
    drawn = draw_sequence(tell(trace, network, layout_of(network)), trace)
    head, body = parsed(drawn.head), parsed(drawn.body)
    assert view(head).width == view(body).width
    assert_nothing_cut_off(head)
    assert_nothing_cut_off(body)
    assert lifelines(body) == lifelines(diagram())


def test_every_step_is_marked_for_the_script() -> None:
    root = diagram()
    steps = [row.attrib["data-step"] for row in with_class(root, "row")]
    assert steps == ["0", "1", "2", "3"]
    assert [hit.attrib["data-step"] for hit in with_class(root, "hit")] == steps


def test_the_same_twice() -> None:
    network = strange()
    trace = strange_trace(network)
    assert sequence_diagram(trace, network, layout_of(network)) == sequence_diagram(
        trace, network, layout_of(network)
    )


def test_a_file_of_its_own_brings_its_colours() -> None:
    network = database()
    svg = sequence_diagram(database_trace(), network, layout_of(network))
    assert svg.startswith("<svg")
    assert "prefers-color-scheme: dark" in svg
    # The namespace is the only address, and nobody fetches it.
    assert svg.count("://") == 1
    ElementTree.fromstring(svg)


@given(st.text(min_size=1, max_size=40))
def test_any_name_gives_a_sound_drawing(name: str) -> None:
    network = strange(name)
    root = parsed(sequence_diagram(strange_trace(network, "lasso"), network, layout_of(network)))
    assert_nothing_cut_off(root)
    assert overlapping_texts(root) == []
