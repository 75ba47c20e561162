"""Models and traces to draw, and how to look at what was drawn."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from xml.etree import ElementTree

from whence.expr.tree import Assignment, IntLiteral, Name, Symbol, SymbolKind
from whence.expr.types import ChannelType, ClockType, IntType
from whence.formats.uppaal.elaborate import elaborate
from whence.formats.uppaal.xml import read_xml
from whence.model.network import (
    Drawing,
    Edge,
    Location,
    Network,
    Process,
    Synchronisation,
    Variable,
)
from whence.model.trace import EdgeUse, SymbolicState, TimedTrace, Transition
from whence.report.measure import text_width
from whence.report.svg import Box

#: A client that waits for its database (Koelbl, figure 8.1), with a counter to watch.
DATABASE = """<?xml version="1.0" encoding="utf-8"?>
<nta>
<declaration>clock x, y; chan req, ser; int[0,9] sent; bool busy;</declaration>
<template><name>Client</name>
<location id="a" x="0" y="0"><name x="17" y="-25">initial</name></location>
<location id="b" x="0" y="60"><name x="17" y="35">reqCreate</name><urgent/></location>
<location id="c" x="0" y="140"><name x="17" y="115">reqSent</name></location>
<location id="d" x="0" y="230"><name x="17" y="205">serReceiving</name>
<label kind="invariant" x="0" y="247">x &lt;= 5</label></location>
<init ref="a"/>
<transition><source ref="a"/><target ref="b"/>
<label kind="assignment" x="8" y="17">x := 0</label></transition>
<transition><source ref="b"/><target ref="c"/>
<label kind="synchronisation" x="-34" y="86">req!</label>
<label kind="assignment" x="8" y="86">sent++</label></transition>
<transition><source ref="c"/><target ref="d"/>
<label kind="synchronisation" x="-34" y="170">ser?</label></transition>
<transition><source ref="d"/><target ref="a"/><nail x="-68" y="200"/><nail x="-68" y="0"/>
</transition>
</template>
<template><name>Server</name>
<location id="e" x="0" y="0"><name x="17" y="-25">waiting</name></location>
<location id="f" x="0" y="60"><name x="17" y="42">working</name>
<label kind="invariant" x="17" y="60">y &lt;= 2</label></location>
<init ref="e"/>
<transition><source ref="e"/><target ref="f"/>
<label kind="synchronisation" x="9" y="17">req?</label>
<label kind="assignment" x="-60" y="17">y := 0,
busy = true</label></transition>
<transition><source ref="f"/><target ref="e"/>
<label kind="guard" x="-93" y="68">y &gt;= 1</label>
<label kind="synchronisation" x="-85" y="51">ser!</label>
<nail x="-51" y="119"/><nail x="-51" y="0"/></transition>
</template>
<template><name>Idle</name>
<location id="g" x="0" y="0"/><init ref="g"/>
</template>
<system>client = Client(); db = Server(); one = Idle(); two = Idle();
system client, db, one, two;</system>
</nta>"""

#: Everything that XML, HTML, scripts and terminals react to.
EVIL = "</script><img src=x onerror=alert(1)>\"'& ]]> [red]a\u202eb\x1b[31m\x00c"


def database() -> Network:
    return elaborate(read_xml(DATABASE, "db.xml")).network


def database_trace() -> TimedTrace:
    """initial -tau-> reqCreate -req-> reqSent -tau... the server works 3/2 -ser-> serReceiving"""
    states = (
        SymbolicState((0, 0, 0, 0), (0, 0), constraints=("x == y",)),
        SymbolicState((1, 0, 0, 0), (0, 0), constraints=("x == 0",)),
        SymbolicState((2, 1, 0, 0), (1, 1), constraints=("y <= 2", "x == y")),
        SymbolicState((3, 0, 0, 0), (1, 1), constraints=("x <= 5", "y - x <= 0")),
    )
    transitions = (
        Transition("tau", (EdgeUse(0, 0),)),
        Transition("req", (EdgeUse(0, 1), EdgeUse(1, 0))),
        Transition("ser", (EdgeUse(1, 1), EdgeUse(0, 2))),
    )
    delays = (Fraction(2), Fraction(0), Fraction(3, 2), Fraction(1))
    return TimedTrace(states, transitions, delays)


def strange(text: str = EVIL) -> Network:
    """A network whose names are all `text` or long, without any coordinates."""
    channel = Symbol("", text, SymbolKind.VARIABLE, ChannelType(broadcast=True))
    clock = Symbol("", text + "clock", SymbolKind.VARIABLE, ClockType())
    count = Symbol("", text + "[0]", SymbolKind.VARIABLE, IntType(0, 9))
    on_channel = Name(text, channel)

    def sync(direction: str) -> Synchronisation:
        assert direction in ("!", "?")
        return Synchronisation(on_channel, direction)  # type: ignore[arg-type]

    locations = (
        Location("idle"),
        Location("waiting_for_the_acknowledgement_of_the_other_side", "urgent"),
        Location(text, "committed", drawing=Drawing(colour='red"/><b>')),
        Location("日本語の状態名"),
    )
    update = Assignment("=", Name(text, count), IntLiteral(1))
    sender = Process(
        text,
        f"T<b>{text}",
        locations,
        (
            Edge(0, 1, updates=(update,)),
            Edge(1, 2, synchronisation=sync("!")),
            Edge(2, 2, drawing=Drawing(colour='#12345"onload="x')),
            Edge(2, 3, synchronisation=sync("!"), updates=(update,)),
        ),
        0,
        ((text, text),),
    )
    edges = (
        Edge(
            0,
            3,
            synchronisation=sync("?"),
            drawing=Drawing(labels={"synchronisation": (text, None)}),
        ),
        Edge(3, 3, synchronisation=sync("?")),
        Edge(3, 0),
        Edge(0, 3),
    )
    receiver = Process("Receiver_with_a_long_process_name(17)", "R", locations, edges, 0)
    return Network(
        text,
        (Variable(channel, (0,)), Variable(clock, (0,)), Variable(count, (0,))),
        (sender, receiver, Process("other", "R", locations, edges, 0)),
    )


def strange_trace(network: Network, end: str = "error") -> TimedTrace:
    """Internal steps, a message, one that nobody hears, long fractions; ends as asked for."""
    channel = network.processes[0].edges[1].synchronisation
    assert channel is not None
    assert isinstance(channel.channel, Name)
    name = channel.channel.name
    transitions = (
        Transition("tau", (EdgeUse(0, 0),)),
        Transition(name, (EdgeUse(0, 1), EdgeUse(1, 0), EdgeUse(2, 0))),
        Transition("tau", (EdgeUse(0, 2),)),
        Transition(name, (EdgeUse(0, 3),)),
        Transition(name, (EdgeUse(0, 3), EdgeUse(1, 1))),
    )
    places = ((0, 0, 0), (1, 0, 0), (2, 3, 3), (2, 3, 3), (3, 3, 3))
    states = tuple(
        SymbolicState(at, (number % 3,), constraints=tuple(f"{name} <= {n}" for n in range(9)))
        for number, at in enumerate(places)
    )
    delays = (
        Fraction(0),
        Fraction(123456789123, 1000007),
        Fraction(1, 3),
        Fraction(0),
        Fraction(2),
    )
    if end == "error":
        return TimedTrace(states, transitions, delays, "error", message=f"division in {name}")
    if end == "lasso":
        return TimedTrace(states, transitions[:4], delays, "lasso", 2)
    return TimedTrace(states, transitions[:4], delays, "goal")


# --------------------------------------------------------------------------------- looking at it


def parsed(svg: str) -> ElementTree.Element:
    """The elements of a drawing, without the namespace that only files need."""
    return ElementTree.fromstring(svg.replace(' xmlns="http://www.w3.org/2000/svg"', "", 1))


def view(root: ElementTree.Element) -> Box:
    left, top, width, height = map(float, root.attrib["viewBox"].split())
    assert (width, height) == (float(root.attrib["width"]), float(root.attrib["height"]))
    return Box(left, top, left + width, top + height)


def with_class(root: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    return [at for at in root.iter() if name in at.attrib.get("class", "").split()]


def words(element: ElementTree.Element) -> str:
    """What is written in an element, without its tool tips."""
    return " ".join(part for text in element.iter("text") for part in text.itertext())


def text_boxes(root: ElementTree.Element) -> Iterator[tuple[str, Box]]:
    """Where each line of text stands, by the same measures that a browser would apply."""
    for text in root.iter("text"):
        size = float(text.attrib["font-size"])
        bold = text.attrib.get("font-weight") == "bold"
        lines = [text] if text.text else list(text.iter("tspan"))
        for line in lines:
            x, y = float(line.attrib["x"]), float(line.attrib["y"])
            width = text_width(line.text or "", size, bold)
            shift = {"middle": width / 2, "end": width}.get(text.attrib.get("text-anchor", ""), 0)
            # Ascenders and descenders: what letters cover of the line's height.
            top, bottom = y - 0.8 * size, y + 0.2 * size
            yield line.text or "", Box(x - shift, top, x - shift + width, bottom)


def boxes(root: ElementTree.Element) -> Iterator[Box]:
    """The extent of everything that is drawn."""
    for element in root.iter():
        at = element.attrib
        if element.tag == "rect":
            x, y = float(at["x"]), float(at["y"])
            yield Box(x, y, x + float(at["width"]), y + float(at["height"]))
        elif element.tag == "circle":
            yield Box.around(
                float(at["cx"]), float(at["cy"]), 2 * float(at["r"]), 2 * float(at["r"])
            )
        elif element.tag in ("polyline", "polygon"):
            for point in at["points"].split():
                x, y = map(float, point.split(","))
                yield Box(x, y, x, y)
    for _, box in text_boxes(root):
        yield box


def assert_nothing_cut_off(root: ElementTree.Element) -> None:
    # Coordinates are written with one decimal.
    whole = view(root).grown(0.1)
    for box in boxes(root):
        assert whole.contains(box), (box, whole)


def overlapping_texts(root: ElementTree.Element) -> list[tuple[str, str]]:
    found = list(text_boxes(root))
    return [
        (text, other)
        for number, (text, box) in enumerate(found)
        for other, other_box in found[number + 1 :]
        if box.grown(-0.5).overlaps(other_box.grown(-0.5))
    ]
