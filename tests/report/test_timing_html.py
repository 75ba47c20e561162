"""Pages about ranges and repairs: what a reader finds, and that no name breaks out of them."""

from dataclasses import replace
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.report.support import (
    EVIL,
    assert_nothing_cut_off,
    database,
    overlapping_texts,
    parsed,
    strange,
    with_class,
    words,
)
from tests.report.test_html import Page
from tests.report.timing_support import (
    ALONE,
    BOUND,
    FILE,
    MORE,
    NO_RESET,
    OPEN,
    OPERATOR,
    RESET,
    TOGETHER,
    URGENT,
    a_round,
    evil,
    model,
    ranges,
    repairs,
    trace,
)

from whence.model.layout import layout_of
from whence.report.automaton import Diff, automaton_diagram
from whence.report.sequence import Band, sequence_diagram
from whence.report.story import tell
from whence.report.timing_diff import bands_of, diffs_of
from whence.report.timing_html import Round, ranges_report, repair_report
from whence.timing.results import Change, RangesResult, RepairResult

MODEL = model()
TEMPLATES = ("client", "db")


def of_ranges(result: RangesResult) -> str:
    return ranges_report(MODEL.network, MODEL.layout, result, FILE, "1.2")


def of_repairs(result: RepairResult, applied: int | None = None) -> str:
    return repair_report([a_round(result, MODEL.network, applied)], FILE, "1.2")


# ---------------------------------------------------------------------------------------- ranges


def test_a_page_of_ranges() -> None:
    text = of_ranges(ranges(ranges=(ALONE, TOGETHER, OPEN)))
    page = Page(text)
    assert page.text("h1") == "3 causal ranges of delays"
    assert "2 <= δ4 <= 3" in page.text("code")
    assert "Whenever the system waits between 2 and 3 time units" in page.text("p")
    ids = {section["id"] for section in page.tags["section"]}
    assert ids == {"range-1", "range-2", "range-3", "trace"}
    assert {link["href"] for link in page.tags["a"]} == {"#range-1", "#range-2", "#range-3"}
    cells = page.text("td")
    assert "does not" in cells
    assert "cannot go on" in cells
    assert "://" not in text


def test_each_range_is_drawn_with_a_run_that_shows_it() -> None:
    text = of_ranges(ranges())
    sections = text.split('<section class="range"')[1:]
    alone, together = (section.split("</section>")[0] for section in sections)
    # Two lifelines and the column of delays, for each delay of the range.
    assert (alone.count('class="band"'), together.count('class="band"')) == (3, 6)
    assert "violated if 2 &lt;= δ4 &lt;= 3" in alone
    assert "δ4 = 5/2" in alone
    assert "δ2 = 7/4" in together


def test_pages_without_ranges() -> None:
    nothing = {"trace": None, "causal_delays": (), "ranges": ()}
    page = Page(of_ranges(ranges(verdict="satisfied", **nothing)))
    assert page.text("h1") == "The property holds"
    assert "section" not in page.tags
    page = Page(of_ranges(ranges(ranges=(), causal_delays=(), timed=False)))
    assert "The violation does not depend on time" in page.text("p")
    page = Page(of_ranges(ranges(complete=False, reason="out of time")))
    assert "partial: out of time" in page.text("p")


# --------------------------------------------------------------------------------------- repairs


def test_a_page_of_repairs() -> None:
    page = Page(of_repairs(repairs(), applied=1))
    assert page.text("h1") == "5 repairs"
    assert [section["id"] for section in page.tags["section"]] == [
        *(f"repair-{number}" for number in range(1, 6)),
        "trace",
    ]
    assert {"z <= 3", "w >= 1", "no update", "not urgent"} <= set(page.texts["del"])
    assert {"z <= 1", "w < 1", "y = 0", "urgent"} <= set(page.texts["ins"])
    assert "still violated by another trace" in page.texts["span"]
    assert page.texts["span"].count("made") == 1
    assert "1 more violated" in page.texts["div"]
    assert "Not admissible: only the original model can do this" in page.text("p")
    assert "db: -> reqProcessing" in page.text("code")
    assert page.texts["summary"] == [
        "A run that only the original model has",
        "The trace that violates the property after the repair",
    ]
    assert {link["href"] for link in page.tags["a"]} == {f"#repair-{n}" for n in range(1, 6)}


def test_a_page_of_rounds_shows_what_was_made() -> None:
    done = a_round(repairs(verdict="satisfied", trace=None, repairs=()), MODEL.network)
    page = Page(repair_report([a_round(applied=3), done], FILE, "1.2"))
    assert page.text("h1") == "The property holds after 1 repair"
    assert [section["id"] for section in page.tags["section"]] == [
        "round-1-repair-3",
        "round-1-trace",
    ]
    open_ended = Page(repair_report([a_round(applied=1), a_round(applied=3)], FILE, "1.2"))
    assert open_ended.text("h1") == "The property does not hold yet after 2 repairs"


def test_pages_without_repairs() -> None:
    page = Page(of_repairs(repairs(verdict="satisfied", trace=None, repairs=())))
    assert page.text("h1") == "The property holds"
    page = Page(of_repairs(repairs(repairs=(), complete=False, reason="out of time")))
    assert page.text("h1") == "No repairs"
    assert "partial: out of time" in page.text("p")


# --------------------------------------------------------------------------- changes in automata


def drawn(template: int, *changes: Change) -> ElementTree.Element:
    return parsed(automaton_diagram(MODEL.network.processes[template], diffs=diffs_of(changes)))


def flattened(root: ElementTree.Element) -> ElementTree.Element:
    """Lines that are not in pieces, as those helpers expect them that know where text stands."""
    for line in root.iter("tspan"):
        if "x" in line.attrib:
            text = "".join(line.itertext())
            for piece in list(line):
                line.remove(piece)
            line.text = text
    return root


def marks(root: ElementTree.Element) -> list[tuple[str, str]]:
    return [
        (element.attrib["class"], element.text or "")
        for element in root.iter("tspan")
        if element.attrib.get("class") in ("old", "new")
    ]


@pytest.mark.parametrize(
    ("template", "change", "expected"),
    [
        (0, BOUND, [("old", "z <= 3"), ("new", "z <= 1")]),
        (1, OPERATOR, [("old", "w >= 1"), ("new", "w < 1")]),
        (1, RESET, [("new", "y = 0")]),
        (1, NO_RESET, [("old", "y = 0")]),
        (0, MORE, [("new", "x = 0")]),
        (0, URGENT, [("new", "urgent")]),
    ],
)
def test_a_change_is_drawn_in_its_label(
    template: int, change: Change, expected: list[tuple[str, str]]
) -> None:
    root = drawn(template, change)
    assert marks(root) == expected
    (changed,) = [at for at in with_class(root, "changed") if "labels" not in at.attrib["class"]]
    if change.edge is not None:
        assert changed.attrib["data-edge"] == str(change.edge)
    else:
        assert changed.attrib["data-location"] == str(change.location)
    assert_nothing_cut_off(flattened(root))
    assert overlapping_texts(root) == []


def test_without_a_style_sheet_old_and_new_can_be_told_apart() -> None:
    decorations = [at.attrib.get("text-decoration") for at in drawn(0, BOUND).iter("tspan")]
    assert decorations == [None, "line-through", "underline"]


def test_several_changes_of_one_label() -> None:
    process = MODEL.network.processes[1]
    edge = process.edges[1]
    guard = "w>=1  &&\nx <= 10 && x <= 1"
    labels = {**edge.drawing.labels, "guard": (guard, edge.drawing.labels["guard"][1])}
    edge = replace(edge, drawing=replace(edge.drawing, labels=labels))
    process = replace(process, edges=(process.edges[0], edge, *process.edges[2:]))
    diffs = (
        Diff("edge", 1, "guard", "w >= 1", "w > 1"),
        Diff("edge", 1, "guard", "x <= 1", "x <= 2"),
        Diff("edge", 1, "guard", "y < 7", "y < 8"),
    )
    root = parsed(automaton_diagram(process, diffs=diffs))
    # Spaced as in the file; a number that only begins alike is another one; and what is not
    # found has a line of its own.
    assert marks(root) == [
        *(("old", "w>=1"), ("new", "w > 1"), ("old", "x <= 1"), ("new", "x <= 2")),
        *(("old", "y < 7"), ("new", "y < 8")),
    ]
    (label,) = [at for at in with_class(root, "label") if "guard" in at.attrib["class"]
                and "old" in ElementTree.tostring(at, "unicode")]  # fmt: skip
    lines = ["".join(line.itertext()) for line in label if line.tag == "tspan"]
    assert lines == [
        "w>=1 w > 1  &&",
        "x <= 10 && x <= 1 x <= 2",
        "y < 7 y < 8",
    ]


def test_a_label_that_gets_longer_goes_where_there_is_room() -> None:
    """Beside `x = 0` stands `reqSent`, so that no more words fit there."""
    diff = Diff("edge", 1, "assignment", "", "a_clock_with_a_name_that_is_much_too_long = 0")
    root = flattened(parsed(automaton_diagram(MODEL.network.processes[0], diffs=(diff,))))
    assert "x = 0, a_clock_with_a_name_that_is_much_too_long = 0" in words(root)
    assert overlapping_texts(root) == []
    assert_nothing_cut_off(root)


def test_updates_written_with_a_colon_are_found() -> None:
    process = database().processes[1]
    root = parsed(automaton_diagram(process, diffs=(Diff("edge", 0, "assignment", "y = 0", ""),)))
    assert marks(root) == [("old", "y := 0")]


def test_without_changes_a_drawing_is_as_before() -> None:
    process = MODEL.network.processes[0]
    assert automaton_diagram(process, diffs=()) == automaton_diagram(process)
    nowhere = (Diff("edge", 99, "guard", "a", "b"), Diff("location", -1, "name", "", "urgent"))
    assert automaton_diagram(process, diffs=nowhere) == automaton_diagram(process)


# ------------------------------------------------------------------------------ changes on traces


def stretches(*changes: Change) -> list[tuple[int | None, int, int]]:
    story = tell(trace(), MODEL.network, layout_of(MODEL.network))
    bands = bands_of(changes, MODEL.network, TEMPLATES, story)
    return [(band.process, band.from_step, band.to_step) for band in bands]


def test_where_a_change_matters_on_a_trace() -> None:
    assert stretches(BOUND) == [(0, 4, 5)]  # in serReceiving, to the end
    assert stretches(OPERATOR) == [(1, 2, 3)]  # in reqReceived, until the edge is taken
    assert stretches(RESET) == [(1, 2, 5)]  # from the reset on
    assert stretches(replace(BOUND, location=0)) == [(0, 0, 1)]
    assert stretches(replace(OPERATOR, edge=0)) == [(1, 0, 2)]  # since the start
    assert stretches(replace(OPERATOR, template=0, edge=4)) == []  # never taken
    assert stretches(replace(BOUND, template=7)) == []
    story = tell(trace(), MODEL.network, layout_of(MODEL.network))
    colours = {band.colour for band in bands_of((BOUND, RESET), MODEL.network, TEMPLATES, story)}
    assert len(colours) == 2


def test_lifelines_cross_out_no_words_of_the_legend() -> None:
    network, layout = MODEL.network, MODEL.layout
    bands = [Band(0, 1, 2, "red", "one"), Band(1, 1, 2, "blue", "two")]
    root = parsed(sequence_diagram(trace(), network, layout, None, bands))
    lowest = max(float(at.attrib["y"]) + 12 for at in with_class(root, "swatch"))
    for life in with_class(root, "life"):
        assert float(life.attrib["points"].split()[0].split(",")[1]) > lowest


# -------------------------------------------------------------------------------------- hostility


def pages(text: str) -> list[str]:
    network, explained, repaired = evil(text)
    layout = layout_of(network)
    templates = (network.processes[0].template, "R")
    a = Round(repaired, network, layout, templates, 1)
    return [
        ranges_report(network, layout, explained, text, "1.2"),
        repair_report([a], text, "1.2"),
        repair_report([a, a], text, "1.2"),
    ]


def test_no_name_breaks_out() -> None:
    for text in pages(EVIL):
        page = Page(text)
        assert "img" not in page.tags
        assert len(page.tags["script"]) == 1
        attributes = {name for found in page.tags.values() for at in found for name in at}
        assert not {name for name in attributes if name.startswith("on")}
        assert not {"\x00", "\x1b", "\u202e"} & set(text)
        policy = next(meta["content"] for meta in page.tags["meta"] if "http-equiv" in meta)
        assert policy is not None
        assert policy.startswith("default-src 'none';")


@given(st.text(max_size=20))
def test_any_name_gives_sound_pages(name: str) -> None:
    for text in pages(name):
        Page(text)


def test_the_same_twice() -> None:
    assert pages("c") == pages("c")
    assert strange("c") == strange("c")
