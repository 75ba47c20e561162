"""Parametric benchmark models, written out as UPPAAL 4.1 XML.

Each generator returns the text of one complete model file, with its queries, whose size is set by
the number of processes:

``fischer``
    Fischer's real-time mutual exclusion protocol.
``csma_cd``
    The CSMA/CD medium access protocol: stations on a bus that detects collisions.
``fddi``
    The FDDI token ring: stations with three clocks each and a ring that hands on the token.
``train_gate``
    Trains sharing one bridge behind a controller with a queue, written with functions and arrays.
``discrete``
    A token ring with stocks and no clocks, whose numbers of reachable states and transitions are
    known exactly (see :func:`discrete_size`).

The first three have the locations, clocks, guards, invariants and default constants under which
these protocols are commonly used to compare timed-automata checkers, so the numbers of symbolic
states that different checkers report on them can be set side by side. Their queries speak about
locations and integers only: a query with a clock in it would change the clock bounds, and with
them the number of symbolic states.

Use as a program::

    python benchmarks/models.py fischer 5 > fischer-5.xml
    python benchmarks/models.py fddi 4 --target 200 > fddi-4.xml
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal
from xml.etree import ElementTree as ET

_HEADER: Final = (
    '<?xml version="1.0" encoding="utf-8"?>\n'
    "<!DOCTYPE nta PUBLIC '-//Uppaal Team//DTD Flat System 1.1//EN' "
    "'http://www.it.uu.se/research/group/darts/uppaal/flat-1_2.dtd'>\n"
)

# Layout, in UPPAAL's pixels (y grows downwards).
_LINE: Final = 17  # height of a line of label text
_BEND: Final = 60  # how far apart edges between the same two locations are drawn
_LOOP: Final = 50  # size of a self-loop

Kind = Literal["ordinary", "urgent", "committed"]


@dataclass(frozen=True, slots=True)
class _Location:
    name: str
    x: int
    y: int
    invariant: str
    kind: Kind


@dataclass(frozen=True, slots=True)
class _Edge:
    source: str
    target: str
    labels: tuple[tuple[str, str], ...]


@dataclass(slots=True)
class _Template:
    """One template under construction; the first location added is the initial one."""

    name: str
    parameter: str = ""
    declaration: str = ""
    locations: dict[str, _Location] = field(default_factory=dict)
    edges: list[_Edge] = field(default_factory=list)

    def location(
        self, name: str, x: int, y: int, invariant: str = "", kind: Kind = "ordinary"
    ) -> None:
        """Add a location drawn at (x, y)."""
        self.locations[name] = _Location(name, x, y, invariant, kind)

    def edge(
        self,
        source: str,
        target: str,
        *,
        select: str = "",
        guard: str = "",
        sync: str = "",
        update: str = "",
    ) -> None:
        """Add an edge between two locations added before."""
        labels = (
            ("select", select),
            ("guard", guard),
            ("synchronisation", sync),
            ("assignment", update),
        )
        self.edges.append(_Edge(source, target, tuple(label for label in labels if label[1])))

    def to_xml(self, parent: ET.Element, first_id: int) -> None:
        """Append the template to ``parent``, numbering its locations from ``first_id``."""
        template = ET.SubElement(parent, "template")
        ET.SubElement(template, "name").text = self.name
        if self.parameter:
            ET.SubElement(template, "parameter").text = self.parameter
        if self.declaration:
            ET.SubElement(template, "declaration").text = self.declaration

        ids = {name: f"id{first_id + index}" for index, name in enumerate(self.locations)}
        for loc in self.locations.values():
            node = ET.SubElement(
                template, "location", {"id": ids[loc.name], "x": str(loc.x), "y": str(loc.y)}
            )
            _text(node, "name", loc.name, loc.x - 10, loc.y - 2 * _LINE)
            if loc.invariant:
                _text(node, "label", loc.invariant, loc.x - 10, loc.y + _LINE, kind="invariant")
            if loc.kind != "ordinary":
                ET.SubElement(node, loc.kind)
        ET.SubElement(template, "init", {"ref": ids[next(iter(self.locations))]})

        alike = Counter(_ends(edge) for edge in self.edges)
        drawn: Counter[tuple[str, str]] = Counter()
        for edge in self.edges:
            node = ET.SubElement(template, "transition")
            ET.SubElement(node, "source", {"ref": ids[edge.source]})
            ET.SubElement(node, "target", {"ref": ids[edge.target]})
            ends = _ends(edge)
            (label_x, label_y), nails = self._route(edge, drawn[ends], alike[ends])
            drawn[ends] += 1
            for line, (kind, text) in enumerate(edge.labels):
                _text(node, "label", text, label_x, label_y + _LINE * line, kind=kind)
            for x, y in nails:
                ET.SubElement(node, "nail", {"x": str(x), "y": str(y)})

    def _route(
        self, edge: _Edge, index: int, count: int
    ) -> tuple[tuple[int, int], list[tuple[int, int]]]:
        """Return where the first label of an edge goes, and the edge's nails.

        ``index`` is the edge's number among the ``count`` edges between the same two locations.
        """
        first, second = (self.locations[name] for name in _ends(edge))
        height = _LINE * len(edge.labels)
        if first is second:  # the first, third, ... loop above the location, the others below it
            side = 1 if index % 2 else -1
            y = first.y + side * (_LOOP + _BEND * (index // 2))
            label_y = y if index % 2 else y - height
            nails = [(first.x - _LOOP // 2, y), (first.x + _LOOP // 2, y)]
            return (first.x + _LOOP // 2, label_y), nails
        x, y = (first.x + second.x) // 2, (first.y + second.y) // 2
        across_x, across_y = second.y - first.y, first.x - second.x
        bend = _BEND * (2 * index - count + 1)
        length = math.hypot(across_x, across_y)
        shift_y = round(bend * across_y / length)
        x, y = x + round(bend * across_x / length), y + shift_y
        if abs(across_x) >= abs(across_y):  # a steep edge: its labels go to the right of it
            label = (x + 8, y - height // 2)
        elif shift_y <= 0:
            label = (x - 30, y - height - 4)
        else:
            label = (x - 30, y + 4)
        return label, [(x, y)] if bend else []


def _ends(edge: _Edge) -> tuple[str, str]:
    """Return the two locations of an edge, whichever way it points."""
    first, second = sorted((edge.source, edge.target))
    return first, second


def _text(parent: ET.Element, tag: str, text: str, x: int, y: int, *, kind: str = "") -> None:
    """Append a positioned piece of text."""
    attributes = {"kind": kind} if kind else {}
    ET.SubElement(parent, tag, {**attributes, "x": str(x), "y": str(y)}).text = text


def _document(
    declaration: str,
    templates: Sequence[_Template],
    system: str,
    queries: Sequence[tuple[str, str]],
) -> str:
    """Return the model file; each query is a formula and what it says."""
    root = ET.Element("nta")
    ET.SubElement(root, "declaration").text = declaration
    first_id = 0
    for template in templates:
        template.to_xml(root, first_id)
        first_id += len(template.locations)
    ET.SubElement(root, "system").text = system
    parent = ET.SubElement(root, "queries")
    for formula, comment in queries:
        query = ET.SubElement(parent, "query")
        ET.SubElement(query, "formula").text = formula
        ET.SubElement(query, "comment").text = comment
    ET.indent(root)
    return _HEADER + ET.tostring(root, encoding="unicode") + "\n"


def _instances(template: str, prefix: str, numbers: range) -> tuple[str, str]:
    """Return the lines that instantiate ``template`` once for each number, and the names."""
    lines = "".join(f"{prefix}{number} = {template}({number});\n" for number in numbers)
    return lines, ", ".join(f"{prefix}{number}" for number in numbers)


def _at_least(name: str, value: int, least: int) -> None:
    if value < least:
        raise ValueError(f"{name} must be at least {least}, not {value}")


def fischer(n: int, k: int = 10) -> str:
    """Return Fischer's mutual exclusion protocol for ``n`` processes.

    A process that finds the shared variable free writes its number to it at most ``k`` time units
    later, waits more than ``k``, and enters the critical section if its number is still there.

    Origin: M. Fischer, in a message to L. Lamport (1985); published in L. Lamport, "A Fast Mutual
    Exclusion Algorithm", ACM Transactions on Computer Systems 5(1), 1987. The processes are
    ``P1`` ... ``Pn``; the default delay is 10.
    """
    _at_least("n", n, 2)
    _at_least("k", k, 1)
    process = _Template("P", "const int[1,N] pid", "clock x;")
    process.location("idle", 0, 0)
    process.location("req", 340, 0, "x <= K")
    process.location("wait", 340, 300)
    process.location("cs", 0, 300)
    process.edge("idle", "req", guard="id == 0", update="x = 0")
    process.edge("req", "wait", guard="x <= K", update="x = 0, id = pid")
    process.edge("wait", "req", guard="id == 0", update="x = 0")
    process.edge("wait", "cs", guard="x > K && id == pid")
    process.edge("cs", "idle", update="id = 0")
    lines, names = _instances("P", "P", range(1, n + 1))
    return _document(
        f"const int N = {n};\nconst int K = {k};\nint[0,N] id = 0;",
        [process],
        f"{lines}system {names};",
        [
            ("A[] not (P1.cs and P2.cs)", "No two processes are in the critical section at once."),
            ("E<> P1.cs", "A process can enter the critical section."),
        ],
    )


def csma_cd(n: int, transmission: int = 808, propagation: int = 26) -> str:
    """Return the CSMA/CD protocol for ``n`` stations on one bus.

    A station that has the bus transmits for exactly ``transmission`` time units. The start of a
    transmission is heard everywhere within ``propagation``: until then a second station may start
    too, after which the bus tells every station in turn of the collision, within ``propagation``
    and without time passing between the first and the last; a station that met a collision or a
    busy bus tries again within twice ``propagation``.

    Origin: IEEE 802.3; as timed automata in the line of X. Nicollin, J. Sifakis, S. Yovine,
    "Compiling Real-Time Specifications into Extended Automata", IEEE Transactions on Software
    Engineering 18(9), 1992. The default constants are the usual ones, in microseconds for an
    Ethernet of 10 Mbit/s. The processes are ``Bus`` and ``Station1`` ... ``Stationn``.
    """
    _at_least("n", n, 2)
    _at_least("propagation", propagation, 1)
    _at_least("transmission", transmission, 1)
    bus = _Template("BusTemplate", "", "int[1,N+1] j = 1;\nclock y;")
    bus.location("Idle", 0, 0)
    bus.location("Active", 420, 0)
    bus.location("Collision", 420, 340, "y < S")
    bus.location("Loop", 0, 340, kind="committed")
    bus.edge("Idle", "Active", sync="begin?", update="y = 0")
    bus.edge("Active", "Collision", guard="y < S", sync="begin?", update="y = 0")
    bus.edge("Active", "Active", guard="y >= S", sync="busy!")
    bus.edge("Active", "Idle", sync="end?", update="y = 0")
    bus.edge("Collision", "Loop", guard="y < S", update="j = 1")
    bus.edge("Loop", "Idle", guard="j == N + 1 && y < S", update="y = 0, j = 1")
    bus.edge("Loop", "Loop", select="i : int[1,N]", guard="j == i", sync="cd[i]!", update="j = j+1")

    station = _Template("StationTemplate", "const int[1,N] pid", "clock x;")
    station.location("Wait", 0, 0)
    station.location("Start", 600, 0, "x <= L")
    station.location("Retry", 300, 480, "x < 2*S")
    station.edge("Wait", "Start", sync="begin!", update="x = 0")
    station.edge("Wait", "Retry", sync="busy?", update="x = 0")
    station.edge("Wait", "Wait", sync="cd[pid]?", update="x = 0")
    station.edge("Wait", "Retry", sync="cd[pid]?", update="x = 0")
    station.edge("Start", "Wait", guard="x == L", sync="end!", update="x = 0")
    station.edge("Start", "Retry", guard="x < S", sync="cd[pid]?", update="x = 0")
    station.edge("Retry", "Start", guard="x < 2*S", sync="begin!", update="x = 0")
    station.edge("Retry", "Retry", guard="x < 2*S", sync="busy?", update="x = 0")
    station.edge("Retry", "Retry", guard="x < 2*S", sync="cd[pid]?", update="x = 0")

    lines, names = _instances("StationTemplate", "Station", range(1, n + 1))
    return _document(
        f"const int N = {n};\nconst int L = {transmission};\nconst int S = {propagation};\n"
        "chan begin, busy, end;\nchan cd[N+1];",
        [bus, station],
        f"Bus = BusTemplate();\n{lines}system Bus, {names};",
        [
            (
                "A[] not (Bus.Active and Station1.Start and Station2.Start)",
                "Two stations transmit at once only while the bus is handling a collision.",
            ),
            ("E<> Bus.Collision", "A collision can happen."),
        ],
    )


def fddi(
    n: int,
    target: int | None = None,
    allocation: int = 20,
    delay: int = 0,
) -> str:
    """Return the FDDI token ring for ``n`` stations.

    The token takes ``delay`` time units from one station to the next. A station that gets it
    transmits synchronously for exactly ``allocation``; if the token came back before the target
    rotation time ``target``, the station may go on asynchronously, as long as no more than
    ``target + allocation`` have passed since the token came the time before. Two of the three
    clocks of a station (``xA`` and ``xB``) take turns to measure that.

    Origin: ANSI X3T9.5 / ISO 9314; as timed automata in C. Daws, A. Olivero, S. Tripakis,
    S. Yovine, "The Tool KRONOS", Hybrid Systems III, LNCS 1066, 1996. The processes are ``P1``
    ... ``Pn`` and the ring ``R``; the default ``target`` is 50 for each station.
    """
    _at_least("n", n, 2)
    target = 50 * n if target is None else target
    _at_least("target", target, 0)
    _at_least("allocation", allocation, 0)
    _at_least("delay", delay, 0)
    station = _Template("StationTemplate", "const int[1,N] pid", "clock trt, xA, xB;")
    station.location("q0", 0, 300)
    station.location("q1", 450, -120, "trt <= SA")
    station.location("q2", 300, 180, "trt <= SA")
    station.location("q3", 600, 180, "xA <= TTRT + SA")
    station.location("q4", 900, 300)
    station.location("q5", 450, 720, "trt <= SA")
    station.location("q6", 600, 420, "trt <= SA")
    station.location("q7", 300, 420, "xB <= TTRT + SA")
    for start, late, early, spare, after, reset in (
        ("q0", "q1", "q2", "q3", "q4", "xB"),
        ("q4", "q5", "q6", "q7", "q0", "xA"),
    ):
        update = f"trt = 0, {reset} = 0"
        station.edge(start, late, guard="trt >= TTRT", sync="TT[pid]?", update=update)
        station.edge(start, early, guard="trt < TTRT", sync="TT[pid]?", update=update)
        station.edge(late, after, guard="trt == SA", sync="RT[pid]!")
        station.edge(early, spare, guard="trt == SA")
        station.edge(spare, after, sync="RT[pid]!")

    ring = _Template("RingTemplate", "", "clock t;")
    radius = 60 * n
    for place in range(2 * n):  # q1, r1, q2, r2, ... around a circle
        angle = math.pi * place / n
        name = f"{'qr'[place % 2]}{place // 2 + 1}"
        x, y = round(radius * math.cos(angle)), round(radius * math.sin(angle))
        ring.location(name, x, y, "" if place % 2 else "t <= TD")
    for i in range(1, n + 1):
        ring.edge(f"q{i}", f"r{i}", guard="t == TD", sync=f"TT[{i}]!")
        ring.edge(f"r{i}", f"q{i % n + 1}", sync=f"RT[{i}]?", update="t = 0")

    lines, names = _instances("StationTemplate", "P", range(1, n + 1))
    return _document(
        f"const int N = {n};\nconst int TTRT = {target};\nconst int SA = {allocation};\n"
        f"const int TD = {delay};\nchan TT[N+1], RT[N+1];",
        [station, ring],
        f"{lines}R = RingTemplate();\nsystem {names}, R;",
        [
            (
                "A[] (P1.q0 or P1.q4 or P2.q0 or P2.q4)",
                "No two stations have the token at once.",
            ),
            ("E<> P1.q7", "A station can get to transmit asynchronously on its second turn."),
        ],
    )


def train_gate(n: int) -> str:
    """Return the train-gate controller for ``n`` trains and one bridge.

    A train announces itself and can be stopped in the first 10 time units, if the bridge is taken.
    The gate remembers the trains it let wait in a queue and lets the first one go as soon as the
    bridge is free. Unlike the other models this one uses functions, arrays, urgent channels and
    quantifiers.

    Origin: W. Yi, P. Pettersson, M. Daniels, "Automatic Verification of Real-Time Communicating
    Systems by Constraint-Solving", FORTE 1994; the version with a queue in the gate is that of
    G. Behrmann, A. David, K. G. Larsen, "A Tutorial on Uppaal", LNCS 3185, 2004. The processes
    are ``Train(0)`` ... ``Train(n-1)`` and ``Gate``.
    """
    _at_least("n", n, 2)
    train = _Template("Train", "const id_t id", "clock x;")
    train.location("Safe", 0, 0)
    train.location("Appr", 0, 240, "x <= 20")
    train.location("Stop", 0, 520)
    train.location("Start", 360, 520, "x <= 15")
    train.location("Cross", 360, 0, "x <= 5")
    train.edge("Safe", "Appr", sync="appr[id]!", update="x = 0")
    train.edge("Appr", "Cross", guard="x >= 10", update="x = 0")
    train.edge("Appr", "Stop", guard="x <= 10", sync="stop[id]?")
    train.edge("Stop", "Start", sync="go[id]?", update="x = 0")
    train.edge("Start", "Cross", guard="x >= 7", update="x = 0")
    train.edge("Cross", "Safe", guard="x >= 3", sync="leave[id]!")

    gate = _Template(
        "Gate",
        "",
        """\
// The trains on the bridge or waiting for it, the first one in waiting[0].
id_t waiting[N+1];
int[0,N+1] len = 0;

void enqueue(id_t train)
{
    waiting[len] = train;
    len++;
}

void dequeue()
{
    int i;
    len--;
    for (i = 0; i < len; i++)
        waiting[i] = waiting[i + 1];
    waiting[len] = 0;
}

id_t front()
{
    return waiting[0];
}

id_t tail()
{
    return waiting[len - 1];
}
""",
    )
    gate.location("Free", 0, 0)
    gate.location("Occ", 0, 340)
    gate.location("Stopping", 340, 340, kind="committed")
    gate.edge("Free", "Occ", guard="len > 0", sync="go[front()]!")
    gate.edge(
        "Free", "Occ", select="e : id_t", guard="len == 0", sync="appr[e]?", update="enqueue(e)"
    )
    gate.edge(
        "Occ", "Free", select="e : id_t", guard="e == front()", sync="leave[e]?", update="dequeue()"
    )
    gate.edge("Occ", "Stopping", select="e : id_t", sync="appr[e]?", update="enqueue(e)")
    gate.edge("Stopping", "Occ", sync="stop[tail()]!")

    others = "forall (i : id_t) (i != 0 imply Train(i).Stop)"
    return _document(
        f"const int N = {n};\ntypedef int[0,N-1] id_t;\n"
        "chan appr[N], stop[N], leave[N];\nurgent chan go[N];",
        [train, gate],
        "system Train, Gate;",
        [
            (
                "A[] forall (i : id_t) forall (j : id_t) "
                "((Train(i).Cross and Train(j).Cross) imply i == j)",
                "There is never more than one train on the bridge.",
            ),
            ("A[] Gate.len <= N", "The queue never overflows."),
            ("A[] not deadlock", "The system never gets stuck."),
            (
                f"E<> Train(0).Cross and ({others})",
                "A train can be on the bridge while all the others wait.",
            ),
            ("Train(0).Appr --> Train(0).Cross", "A train that comes gets across."),
        ],
    )


def discrete(n: int = 4, limit: int = 17) -> str:
    """Return a token ring with stocks: ``n`` stations, no clocks, and a known number of states.

    A station is ``idle``, ``want``s the token or ``hold``s it. An idle station may want at any
    time; a wanting one takes the token when it is there; a holding one gives it back, and with it
    puts one item on its own stock, which has room for ``limit``. The free token passes on at any
    time, and items go off the stock that the token is at.

    The number of reachable states is exactly ::

        3 * n * 2**(n - 1) * (limit + 1)**n

    Only the station that has the token can hold it, so a token place allows ``3 * 2**(n - 1)``
    combinations of station locations (the ring is busy just if a station holds); each stock has
    ``limit + 1`` values. All of these are reachable: fill the stocks as wished, one turn of one
    station after the other; with all stations idle pass the token to its place; then let the
    stations want, or the one with the token hold, as wished. See :func:`discrete_size` for the
    number of transitions, about 4 for each state. ``n=4, limit=17`` (the defaults) has 10,077,696
    states, ``n=4, limit=9`` 960,000 and ``n=3, limit=13`` 98,784.

    Origin: made for this benchmark. The processes are ``S0`` ... ``Sn-1``, ``Ring`` and ``Drain``.
    """
    _at_least("n", n, 2)
    _at_least("limit", limit, 1)
    station = _Template("Station", "const id_t id")
    station.location("idle", 0, 0)
    station.location("want", 340, 0)
    station.location("hold", 170, 240)
    station.edge("idle", "want")
    station.edge("want", "hold", guard="token == id", sync="take!")
    station.edge("hold", "idle", guard="stock[id] < LIMIT", sync="give!", update="stock[id]++")

    ring = _Template("RingTemplate")
    ring.location("free", 0, 0)
    ring.location("busy", 340, 0)
    ring.edge("free", "free", update="token = (token + 1) % N")
    ring.edge("free", "busy", sync="take?")
    ring.edge("busy", "free", sync="give?", update="token = (token + 1) % N")

    drain = _Template("DrainTemplate")
    drain.location("on", 0, 0)
    drain.edge("on", "on", guard="stock[token] > 0", update="stock[token]--")

    lines, names = _instances("Station", "S", range(n))
    return _document(
        f"const int N = {n};\nconst int LIMIT = {limit};\ntypedef int[0,N-1] id_t;\n"
        "id_t token = 0;\nint[0,LIMIT] stock[N];\nchan take, give;",
        [station, ring, drain],
        f"{lines}Ring = RingTemplate();\nDrain = DrainTemplate();\nsystem {names}, Ring, Drain;",
        [
            ("A[] not (S0.hold and S1.hold)", "No two stations hold the token at once."),
            ("E<> stock[0] == LIMIT", "A stock can get full."),
        ],
    )


def discrete_size(n: int = 4, limit: int = 17) -> tuple[int, int]:
    """Return the exact numbers of reachable states and of transitions of :func:`discrete`.

    Of all states, each station without the token is idle in one half (it may want); the one with
    it is idle in one third (want, and pass on), wants in one third (take, and pass on), and holds
    in one third (give, unless its stock is full, as in one of ``limit + 1``). The drain can move
    unless the stock at the token is empty. A transition is counted once from each state it leaves;
    no two of them from one state lead to the same state.
    """
    control = n * 2 ** (n - 1)  # the states for given stocks, by three
    states = 3 * control * (limit + 1) ** n
    wants = 3 * control * (n - 1) // 2 * (limit + 1) ** n
    token_moves = control * (limit + 1) ** (n - 1) * (4 * (limit + 1) + limit)
    drains = 3 * control * (limit + 1) ** (n - 1) * limit
    return states, wants + token_moves + drains


def _parser() -> argparse.ArgumentParser:
    """Return the command line's parser; the chosen model's generator is in ``build``."""
    parser = argparse.ArgumentParser(
        description="Write a benchmark model to standard output as UPPAAL XML.",
        epilog="example: python benchmarks/models.py fischer 5 > model.xml",
    )
    models = parser.add_subparsers(title="models", metavar="model", required=True)

    def add(
        name: str,
        about: str,
        build: Callable[[argparse.Namespace], str],
        options: Sequence[tuple[str, int | None, str]] = (),
    ) -> None:
        model = models.add_parser(
            name,
            help=about,
            description=about,
            formatter_class=argparse.ArgumentDefaultsHelpFormatter,
        )
        model.add_argument("n", type=int, help="number of processes, at least 2")
        for flag, default, meaning in options:
            shown = {"default": argparse.SUPPRESS} if default is None else {"default": default}
            model.add_argument(flag, type=int, metavar="NUMBER", help=meaning, **shown)
        model.set_defaults(build=build)

    add(
        "fischer",
        "Fischer's mutual exclusion protocol",
        lambda given: fischer(given.n, given.delay),
        [("--delay", 10, "the delay before entering")],
    )
    add(
        "csma_cd",
        "CSMA/CD stations on a bus",
        lambda given: csma_cd(given.n, given.transmission, given.propagation),
        [
            ("--transmission", 808, "length of a transmission"),
            ("--propagation", 26, "delay after which a transmission is heard"),
        ],
    )
    add(
        "fddi",
        "FDDI token ring",
        lambda given: fddi(given.n, getattr(given, "target", None), given.allocation, given.delay),
        [
            ("--target", None, "target token rotation time (default: 50 for each station)"),
            ("--allocation", 20, "time of a synchronous transmission"),
            ("--delay", 0, "time the token takes to the next station"),
        ],
    )
    add("train_gate", "trains at a bridge", lambda given: train_gate(given.n))
    add(
        "discrete",
        "token ring with stocks, without clocks and with a known number of states",
        lambda given: discrete(given.n, given.limit),
        [("--limit", 17, "how many items a stock can have")],
    )
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the model that the command line asks for; return the exit status."""
    parser = _parser()
    given = parser.parse_args(arguments)
    build: Callable[[argparse.Namespace], str] = given.build
    try:
        text = build(given)
    except ValueError as problem:
        parser.error(str(problem))
    sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
