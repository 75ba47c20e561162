"""Pictures of fault trees: what is in them, where it stands, and what the script finds."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from tests.causes.support import (
    RAILROAD,
    RAILROAD_ACTIONS,
    UNGUARDED,
    WITH_ABSENCES,
    cause,
    driving,
    result,
)
from tests.formats.fault_trees.trees import RAILROAD as HAND_MADE
from tests.formats.fault_trees.trees import trees
from tests.report.support import EVIL, overlapping_texts, parsed, view, with_class, words

from whence.causes.fault_tree import fault_tree
from whence.model.fault_tree import BasicEvent, FaultTree, Gate
from whence.report.fault_tree_html import fault_tree_page
from whence.report.fault_tree_layout import lay_out
from whence.report.fault_tree_svg import draw_fault_tree, probability_text
from whence.report.svg import asset

FOUR = fault_tree(result(*RAILROAD, actions=RAILROAD_ACTIONS, probability=2.1e-3, time="1h"))
ABSENCES = fault_tree(result(*WITH_ABSENCES, actions=RAILROAD_ACTIONS))
NINETEEN = fault_tree(driving())
#: Two gates wait for what is below a third.
SHARED = fault_tree(result(cause(1, "a b c d", "a<c b<c a<d b<d")))


def shown(tree: FaultTree) -> ElementTree.Element:
    """With the rows where they are, and without what is there only while folded."""
    root = parsed(draw_fault_tree(tree))
    for group in with_class(root, "node"):
        for child in list(group):
            if child.get("class") == "closed":
                group.remove(child)
        match = re.fullmatch(r"translate\(0,(-?[\d.]+)\)", group.attrib["transform"])
        assert match
        for element in group.iter():
            for name in ("y", "cy"):
                if name in element.attrib:
                    element.set(name, str(float(element.attrib[name]) + float(match[1])))
            if "points" in element.attrib:
                points = [point.split(",") for point in element.attrib["points"].split()]
                moved = [f"{x},{float(y) + float(match[1])}" for x, y in points]
                element.set("points", " ".join(moved))
    # Symbols are drawn around (0, 0) and moved: their letters overlap nothing but themselves.
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag == "text" and child.text == "F":
                parent.remove(child)
    return root


def labels(root: ElementTree.Element, class_: str) -> list[str]:
    return [group.attrib["data-label"] for group in with_class(root, class_)]


# -------------------------------------------------------------------------------------- the picture


@pytest.mark.parametrize("tree", [FOUR, ABSENCES, NINETEEN, SHARED, HAND_MADE])
def test_texts_stand_apart_and_inside(tree: FaultTree) -> None:
    root = shown(tree)
    assert overlapping_texts(root) == []
    whole = view(root).grown(0.1)
    for element in root.iter():
        if element.tag in ("text", "rect", "tspan") and "y" in element.attrib:
            assert whole.top <= float(element.attrib["y"]) <= whole.bottom
            assert whole.left <= float(element.attrib["x"]) <= whole.right


@pytest.mark.parametrize("tree", [FOUR, ABSENCES, NINETEEN])
def test_it_fits_a_page(tree: FaultTree) -> None:
    """However many causes there are, one need not scroll sideways to read one of them."""
    assert view(parsed(draw_fault_tree(tree))).width < 1250


def test_failures_are_marked_in_words_too() -> None:
    root = parsed(draw_fault_tree(FOUR))
    failing = with_class(root, "failure")
    events = [group for group in failing if "event" in group.attrib["class"].split()]
    assert [words(group) for group in events] == [
        "4 F Gf failure, undetected in 2 causes" if n else "F Gf failure, undetected in 2 causes"
        for n in (0, 1)
    ]
    assert labels(root, "cause") == [
        "Cause 1, single-point, undetected, all of these, probability 0.00015",
        "Cause 2, no failure, all of these, in this order, probability 0.002",
        "Cause 3, single-point, undetected, all of these, in this order, probability 1e-6",
        "Cause 4, no failure, all of these, in this order",
    ]
    assert "4. Gf, failure, undetected, of gate, in Cause 1, Cause 3" in labels(root, "event")


def test_absences_are_in_words() -> None:
    root = parsed(draw_fault_tree(ABSENCES))
    assert [words(group) for group in with_class(root, "condition")] == [
        "no Cl between Cc and Tc",
        "no Tl between Tc and Cc",
    ]
    assert "does not happen" in words(root)


def test_the_order_is_that_of_the_rows() -> None:
    """Figure 6.1(c), and inputs of ordered gates have numbers."""
    layout = lay_out(fault_tree(result(UNGUARDED)))
    leaves = sorted((one.row, one.ident) for one in layout.placed if one.kind == "event")
    assert leaves == [(0, "e1"), (1, "e2"), (2, "e3"), (3, "e4")]
    rows = {one.ident: (one.row, one.last_row, one.column) for one in layout.placed}
    assert rows["top"] == (0, 0, 0)
    assert rows["cause1"] == (0, 3, 1)
    assert rows["cause1_2"] == (0, 2, 2)
    assert rows["cause1_1"] == (0, 1, 3)
    root = parsed(draw_fault_tree(fault_tree(result(UNGUARDED))))
    numbers = {group.attrib["data-node"]: words(group)[:1] for group in with_class(root, "event")}
    assert numbers == {"e1": "1", "e2": "2", "e3": "T", "e4": "2"}


def test_what_is_needed_twice() -> None:
    root = parsed(draw_fault_tree(SHARED))
    (transfer,) = with_class(root, "transfer")
    assert "the same as G1 above" in words(transfer)
    (gate,) = (
        group
        for group in with_class(root, "gate")
        if group.attrib["data-node"] == transfer.attrib["data-node"] and group is not transfer
    )
    assert "G1" in words(gate)
    assert len(with_class(root, "event")) == 4
    # An event is drawn again, and says so.
    (again,) = (one for one in lay_out(FOUR).placed if one.again)
    assert again.ident == FOUR.events[2].ident
    assert "as above" in words(parsed(draw_fault_tree(FOUR)))


def test_notes_have_their_marks() -> None:
    root = parsed(draw_fault_tree(NINETEEN))
    (legend,) = with_class(root, "legend")
    assert "* The order admits more sequences than lead to the hazard." in words(legend)
    assert "Probabilities are for a time of 1h." in words(legend)
    starred = [
        words(group).split()[1] for group in with_class(root, "cause") if "*" in words(group)
    ]
    assert starred == ["5*", "10*", "15*"]


@settings(max_examples=40)
@given(tree=trees())
def test_any_tree_can_be_drawn(tree: FaultTree) -> None:
    """Each node that can be reached, each edge, and each name in full."""
    svg = draw_fault_tree(tree)
    assert svg == draw_fault_tree(tree)
    root = parsed(svg)
    layout = lay_out(tree)
    gates = {gate.ident: gate for gate in tree.gates}
    reached = {tree.top}
    for gate in tree.gates:  # The top first: see the strategy.
        if gate.ident in reached:
            reached.update((*gate.inputs, *gate.conditions))
    assert {one.ident for one in layout.placed} == reached
    once = [one.ident for one in layout.placed if one.kind == "gate"]
    assert len(once) == len(set(once))
    edges = {(one.under[-1], one.ident, one.place) for one in layout.placed if one.under}
    assert edges == {
        (ident, other, place)
        for ident in once
        for place, other in enumerate((*gates[ident].inputs, *gates[ident].conditions), 1)
    }
    leaves = [one.row for one in layout.placed if one.kind != "gate"]
    assert leaves == list(range(layout.rows))
    assert len(with_class(root, "node")) == len(layout.placed)


def test_hostile_names() -> None:
    tree = FaultTree(
        name=EVIL,
        top="g",
        gates=(Gate(ident="g", kind="or", inputs=("e", "f"), label=EVIL * 9, notes=(EVIL,)),),
        events=(
            BasicEvent(ident="e", action=EVIL, failure=True, component=EVIL),
            BasicEvent(ident="f", action="x" * 5000),
        ),
        notes=(EVIL,),
    )
    root = parsed(draw_fault_tree(tree))
    assert not list(root.iter("img"))
    assert view(root).width < 1500
    assert "<img" not in fault_tree_page(tree, "1")


def test_trees_as_large_as_they_get() -> None:
    """28 causes, as section 7.4 has, and a chain that no stack could hold."""
    assert lay_out(fault_tree(driving(28))).rows > 28 * 4
    size = 3000
    deep = FaultTree(
        name="",
        top="g0",
        gates=tuple(
            Gate(ident=f"g{n}", kind="and", inputs=("e", f"g{n + 1}") if n < size else ("e",))
            for n in range(size + 1)
        ),
        events=(BasicEvent(ident="e", action="a"),),
    )
    assert lay_out(deep).columns == size + 1


@pytest.mark.parametrize(
    ("value", "text"),
    [(9.91367948e-11, "9.914e-11"), (1e-6, "1e-6"), (0.5, "0.5"), (0.0, "0"), (1.0, "1")],
)
def test_probabilities(value: float, text: str) -> None:
    assert probability_text(value) == text


def test_alone_it_has_its_style() -> None:
    alone = draw_fault_tree(FOUR, standalone=True)
    assert 'xmlns="http://www.w3.org/2000/svg"' in alone
    assert ".fault-tree .symbol" in alone
    assert "prefers-color-scheme: dark" in alone
    assert "<style" not in draw_fault_tree(FOUR)


# ----------------------------------------------------------------------------------- for the script


@pytest.mark.parametrize("tree", [FOUR, ABSENCES, NINETEEN, SHARED])
def test_the_script_finds_rows_where_they_are(tree: FaultTree) -> None:
    """As `heights` counts them, with nothing folded."""
    root = parsed(draw_fault_tree(tree))
    step, start = float(root.attrib["data-row"]), float(root.attrib["data-cause"])
    starts = set(map(int, root.attrib["data-starts"].split()))
    groups = [group for group in with_class(root, "node") if "data-row" in group.attrib]
    rows = {int(group.attrib["data-row"]): group.attrib["transform"] for group in groups}
    at = 0.0
    for row in range(len(rows)):
        if row:
            at += start if row in starts else step
        assert rows[row] == f"translate(0,{at:g})"
    idents = {group.attrib["data-node"] for group in groups}
    for group in groups:
        assert set(group.attrib["data-under"].split()) <= idents
    for bus in with_class(root, "bus"):
        assert bus.attrib["y1"] == rows[int(bus.attrib["data-from"])][12:-1]
        assert bus.attrib["y2"] == rows[int(bus.attrib["data-to"])][12:-1]


def test_the_page_runs_two_scripts_and_fetches_nothing() -> None:
    page = fault_tree_page(NINETEEN, "1.2.3")
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    assert scripts == [asset("report.js"), asset("fault_tree.js")]
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy
    for script in scripts:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"sha256-{digest}" in policy[1]
    assert not re.search(r"https?://", page)
    assert "fetch(" not in page
    assert "written by whence 1.2.3" in page.lower()


def test_the_page_without_a_name() -> None:
    assert "<h1>Fault tree</h1>" in fault_tree_page(replace(FOUR, name=""), "1")
