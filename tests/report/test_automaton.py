"""Automata: drawn as in the file, or by a layout of our own."""

from dataclasses import replace
from itertools import combinations
from math import hypot
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.report.support import (
    EVIL,
    assert_nothing_cut_off,
    database,
    database_trace,
    overlapping_texts,
    parsed,
    strange,
    with_class,
    words,
)

from whence.expr.tree import BoolLiteral
from whence.model.layout import layout_of
from whence.model.network import Drawing, Edge, Location, Process
from whence.report.automaton import Highlight, automaton_diagram, highlights
from whence.report.placement import RADIUS, place
from whence.report.story import tell


def client() -> Process:
    return database().processes[0]


def undrawn(process: Process) -> Process:
    """The process as a file without coordinates would have it."""
    return replace(
        process,
        locations=tuple(replace(at, drawing=Drawing()) for at in process.locations),
        edges=tuple(replace(edge, drawing=Drawing()) for edge in process.edges),
    )


def numbers(text: str) -> list[tuple[float, float]]:
    return [tuple(map(float, point.split(","))) for point in text.split()]  # type: ignore[misc]


def test_locations_stand_as_in_the_file() -> None:
    placed = place(client())
    (x0, y0), (x1, y1), _, (x3, y3) = placed.centres
    assert x0 == x1 == x3
    assert (y1 - y0) / (y3 - y0) == pytest.approx(60 / 230)


def test_kinds_of_locations() -> None:
    root = parsed(automaton_diagram(client(), number=3))
    locations = with_class(root, "location")
    assert [at.attrib["data-location"] for at in locations] == ["3:0", "3:1", "3:2", "3:3"]
    assert [len(with_class(at, "ring")) for at in locations] == [1, 0, 0, 0]
    assert [words(at) for at in locations] == [
        *("initial", "U reqCreate", "reqSent", "serReceiving x <= 5")
    ]
    committed = parsed(automaton_diagram(strange("c").processes[0]))
    assert [at.text for at in with_class(committed, "mark")] == ["U", "C"]


def test_labels_have_the_text_of_the_file_and_their_colours() -> None:
    root = parsed(automaton_diagram(database().processes[1]))
    found = {
        (label.attrib["class"], "\n".join(label.itertext())) for label in with_class(root, "label")
    }
    assert found == {
        ("label name", "waiting"),
        ("label name", "working"),
        ("label invariant", "y <= 2"),
        ("label synchronisation", "req?"),
        ("label assignment", "y := 0,\nbusy = true"),
        ("label guard", "y >= 1"),
        ("label synchronisation", "ser!"),
    }


def test_edges_go_through_nails_and_end_at_the_circle() -> None:
    process = client()
    placed = place(process)
    root = parsed(automaton_diagram(process))
    for number, edge in enumerate(with_class(root, "edge")):
        (hit,) = with_class(edge, "hit")
        route = numbers(hit.attrib["points"])
        assert len(route) == 2 + len(process.edges[number].drawing.nails)
        x, y = placed.centres[process.edges[number].target]
        assert hypot(route[-1][0] - x, route[-1][1] - y) == pytest.approx(RADIUS + 1, abs=0.2)
        (tip,) = with_class(edge, "tip")
        assert numbers(tip.attrib["points"])[0] == route[-1]


def test_the_way_of_a_trace_is_marked() -> None:
    network = database()
    story = tell(database_trace(), network, layout_of(network))
    marked = highlights(story)
    assert marked == {
        0: Highlight(frozenset({0, 1, 2, 3}), {0: (1,), 1: (2,), 2: (3,)}, 3),
        1: Highlight(frozenset({0, 1}), {0: (2,), 1: (3,)}, 0),
    }
    root = parsed(automaton_diagram(network.processes[0], marked[0], 0))
    edges = with_class(root, "edge")
    assert ["visited" in edge.attrib["class"] for edge in edges] == [True, True, True, False]
    title = edges[1].find("title")
    assert title is not None
    assert title.text == "reqCreate → reqSent\nreq!\nsent++\ntaken in step 2"
    assert len(with_class(root, "last")) == 1


@pytest.mark.parametrize("number", [0, 1])
def test_without_coordinates_nothing_lies_on_anything_else(number: int) -> None:
    process = undrawn(database().processes[number])
    placed = place(process)
    for (ax, ay), (bx, by) in combinations(placed.centres, 2):
        assert hypot(bx - ax, by - ay) > 3 * RADIUS
    root = parsed(automaton_diagram(process))
    assert_nothing_cut_off(root)
    assert overlapping_texts(root) == []


def test_locations_that_all_have_one_position_are_laid_out_again() -> None:
    process = client()
    nowhere = Drawing(position=(0, 0))
    process = replace(
        process, locations=tuple(replace(at, drawing=nowhere) for at in process.locations)
    )
    assert len(set(place(process).centres)) == 4


def test_edges_between_the_same_locations_do_not_cover_each_other() -> None:
    process = Process(
        "P",
        "P",
        (Location("a"), Location("b")),
        (Edge(0, 1), Edge(0, 1), Edge(1, 0), Edge(0, 0), Edge(0, 0), Edge(1, 1)),
        0,
    )
    routes = place(process).routes
    assert len(set(routes) | {route[::-1] for route in routes}) == 12
    assert all(len(routes[loop]) == 4 for loop in (3, 4, 5))


def test_a_loop_through_one_nail_does_not_go_back_on_itself() -> None:
    here = Location("a", drawing=Drawing(position=(0, 0)))
    edge = Edge(0, 0, drawing=Drawing(nails=((0, -40),)))
    (route,) = place(Process("P", "P", (here,), (edge,), 0)).routes
    assert len(set(route)) == 3
    assert route[1][0] == -route[2][0] != 0


def test_edges_make_a_detour_around_other_locations() -> None:
    process = Process(
        "P",
        "P",
        tuple(Location(name) for name in "abcd"),
        (Edge(0, 1), Edge(1, 2), Edge(2, 3), Edge(3, 0)),
        0,
    )
    back = place(process).routes[3]
    assert len(back) == 3


def test_unreachable_locations_are_drawn_too() -> None:
    process = Process(
        "P", "P", tuple(Location(name) for name in "abcd"), (Edge(3, 2), Edge(2, 2)), 1
    )
    assert len(set(place(process).centres)) == 4
    assert_nothing_cut_off(parsed(automaton_diagram(process)))


def test_hostile_names_and_colours() -> None:
    for process in strange().processes:
        svg = automaton_diagram(process)
        root = parsed(svg)
        assert_nothing_cut_off(root)
        assert "onload" not in svg
        assert 'red"' not in svg
        assert {element.tag for element in root.iter()} <= {
            *("svg", "g", "title", "circle", "polyline", "polygon", "text", "tspan")
        }
    assert "<img" not in automaton_diagram(strange(EVIL).processes[0])


def test_a_file_of_its_own() -> None:
    svg = automaton_diagram(client(), standalone=True)
    assert svg == automaton_diagram(client(), standalone=True)
    assert ElementTree.fromstring(svg).tag == "{http://www.w3.org/2000/svg}svg"
    assert "prefers-color-scheme" in svg


@st.composite
def automata(draw: st.DrawFn) -> Process:
    count = draw(st.integers(1, 7))
    point = st.tuples(st.integers(-90, 90), st.integers(-90, 90))
    place_of = st.none() | point
    text = st.text(max_size=12)

    def drawing(kinds: tuple[str, ...]) -> Drawing:
        return Drawing(
            position=draw(place_of),
            nails=tuple(draw(st.lists(point, max_size=3))),
            labels={kind: (draw(text), draw(place_of)) for kind in kinds},
        )

    locations = tuple(Location(draw(text), drawing=drawing(("name",))) for _ in range(count))
    index = st.integers(0, count - 1)
    edges = tuple(
        Edge(draw(index), draw(index), guard=BoolLiteral(True), drawing=drawing(("guard",)))
        for _ in range(draw(st.integers(0, 8)))
    )
    return Process("P", "P", locations, edges, draw(index))


@given(automata())
def test_any_automaton_gives_a_sound_drawing(process: Process) -> None:
    root = parsed(automaton_diagram(process))
    assert_nothing_cut_off(root)
    assert len(with_class(root, "location")) == len(process.locations)
    assert len(with_class(root, "edge")) == len(process.edges)
