"""What the reader of UML's state machines makes of good and of bad files."""

from __future__ import annotations

import io
import re
import zipfile
from dataclasses import replace
from fractions import Fraction
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.formats.charts_support import (
    HEAD,
    SAMPLES,
    TRIGGER,
    arrow,
    complaints,
    effect,
    guard,
    machine,
    model,
    only,
    pseudo,
    shared,
    state,
    texts,
)

from whence.formats.charts.xmi import (
    XmiContents,
    contents_of_xmi,
    looks_like_xmi,
    read_xmi,
    read_xmi_file,
)
from whence.model.chart import Assign, Chart, ChartState, ChartTransition, Send
from whence.source import UnsupportedError, WhenceError

CROSSING = (SAMPLES / "crossing.uml").read_bytes()
LAMP = (SAMPLES / "lamp_cameo.xml").read_bytes()


def shown(effects: tuple[Assign | Send, ...]) -> list[str]:
    return [
        one.text.text if isinstance(one, Assign) else f"{one.signal} -> {one.target}"
        for one in effects
    ]


def by_ident(found: ChartState | ChartTransition) -> str:
    return found.ident


# ------------------------------------------------------------------- files of other people's


@pytest.mark.parametrize(
    ("name", "contents", "machines", "states", "transitions", "variables"),
    [
        # The counts of UML elements are those of the file; `grep` finds them too. The chart's
        # states include pseudostates; a submachine stands in its state.
        (
            "charts/SpeedAndDistanceMonitoring.uml",
            XmiContents(5, 19, 5, 42, 0, 36, 27),
            ["SpeedAndDistanceMonitoringCommand", "WarningCalc", "SBICalc", "EBICalc"],
            24,
            42,
            25,
        ),
        (
            "charts/rttesterexample.xmi",
            XmiContents(5, 11, 5, 21, 0, 0, 0),
            ["FLASH_CTRL", "OUTPUT_CTRL", "TurnIndLvrSimulation"],
            16,
            21,
            13,
        ),
        ("xmi/stars_Cameo.xml", XmiContents(1, 4, 5, 13, 6, 0, 0), ["Cameo"], 9, 13, 0),
        ("xmi/stars_Blinky.xml", XmiContents(1, 2, 1, 3, 1, 0, 0), ["Blinky"], 3, 3, 0),
        (
            "xmi/spring_simple-guards.uml",
            XmiContents(1, 4, 1, 4, 2, 0, 0),
            ["StateMachine"],
            5,
            4,
            0,
        ),
        (
            "xmi/spring_simple-state-actions.uml",
            XmiContents(1, 3, 1, 3, 2, 0, 0),
            ["StateMachine"],
            4,
            3,
            0,
        ),
    ],
)
def test_shared_models(
    name: str,
    contents: XmiContents,
    machines: list[str],
    states: int,
    transitions: int,
    variables: int,
) -> None:
    data = shared(name)
    assert looks_like_xmi(data)
    assert contents_of_xmi(data, name) == contents
    chart = read_xmi(data, name)
    assert [one.name for one in chart.machines] == machines
    assert sum(len(one.states) for one in chart.machines) == states
    assert sum(len(one.transitions) for one in chart.machines) == transitions
    count = len(chart.variables) + sum(len(one.variables) for one in chart.machines)
    assert count == variables
    assert len(chart.requirements) == contents.requirements
    check_places(chart, data.decode())


def test_turn_indicator() -> None:
    """What the shared data's README knows about it."""
    chart = read_xmi(shared("charts/rttesterexample.xmi"), "rt.xmi")
    flash, output, environment = chart.machines
    variables = {one.name: one for one in (*chart.variables, *flash.variables, *output.variables)}
    ctr = variables["ctr"]
    assert (ctr.type.lo, ctr.type.hi) == (1, 1)
    assert ctr.initial is not None
    assert ctr.initial.text == "0"
    assert (variables["tilOld"].type.lo, variables["tilOld"].type.hi) == (0, 1)
    assert (variables["TurnIndLvr"].type.lo, variables["TurnIndLvr"].type.hi) == (0, 2)
    assert variables["voltage"].type.bounds == (Fraction(0), Fraction(20))
    roles = {one.name: one.role for one in chart.variables}
    assert roles == {
        "left": "internal",  # the ports of the two controllers are connected
        "right": "internal",
        "voltage": "input",
        "TurnIndLvr": "input",
        "EmerSwitch": "input",
        "LampsLeft": "output",
        "LampsRight": "output",
    }
    assert variables["t"].type.kind == "timer"
    assert [one.environment for one in chart.machines] == [False, False, True]
    assert [one.guard.text for one in environment.transitions if one.guard][:2] == [
        "t.elapsed(100,200)",
        "t.elapsed(1000,1500)",
    ]
    inner = {one.ident: one for one in output.states}
    assert inner["FLASHING"].kind == "composite"
    assert shown(inner["FLASHING.OFF"].entry) == [
        "t.reset()",
        "LampsLeft = 0",
        "LampsRight = 0",
        "ctr = ctr + 1",
    ]
    assert {one.parent for one in output.states} == {None, "FLASHING"}


def test_train_monitoring() -> None:
    data = shared("charts/SpeedAndDistanceMonitoring.uml")
    chart = read_xmi(data, "train.uml")
    command = chart.machines[0]
    states = {one.name: one for one in command.states}
    assert states["NORMAL"].parent == "CSM"
    assert states["OVERSPEED"].requirements == ("3.13.10.3.2", "3.13.10.3.3.t2")
    transitions = {one.ident: one for one in command.transitions}
    # Its satisfying links are four, as its `clientDependency` says.
    assert len(transitions["EB2N"].requirements) == 4
    assert transitions["STOP_CSM"].requirements == ("3.13.10.2.3",)
    assert chart.machines[1].requirements == ("3.13.9.2.6",)
    # Every link arrives somewhere: several may be the same.
    everywhere = {
        ident
        for one in chart.machines
        for part in (one, *one.states, *one.transitions)
        for ident in part.requirements
    }
    root = ElementTree.fromstring(data)
    uml, sysml = (
        "{http://www.eclipse.org/uml2/4.0.0/UML}",
        "{http://www.eclipse.org/papyrus/0.7.0/SysML/Requirements}",
    )
    assert root.find(f"{uml}Model") is not None
    idents = {one.get("base_Class"): one.get("id") for one in root.iter(f"{sysml}Requirement")}
    met = {one.get("base_Abstraction") for one in root.iter(f"{sysml}Satisfy")} - {None}
    xmi = "{http://www.omg.org/spec/XMI/20110701}id"
    suppliers = [one.get("supplier") for one in root.iter() if one.get(xmi) in met]
    assert everywhere == {idents[one] for one in suppliers}
    constants = {one.name: one.type.lo for one in chart.variables if one.role == "constant"}
    assert constants["stopSUT"] == 0
    assert constants["InterventionStatus"] == 4
    location = next(one for one in chart.variables if one.name == "dLocation")
    assert location.type.members == ("None", "PreIndication", "StartRSM")
    assert location.role == "input"


def test_cameo_means_what_its_drawing_says() -> None:
    """The transitions of `stars_Cameo.plantuml`, which is the same machine."""
    chart = read_xmi(shared("xmi/stars_Cameo.xml"), "c.xml")
    arrows = {
        (one.source, one.target, one.trigger, one.guard and one.guard.text, *shown(one.effects))
        for one in chart.machines[0].transitions
    }
    assert arrows == {
        ("initial", "junction", None, None),
        ("junction", "StateS1", None, "guard()"),
        ("junction", "Running", None, None),
        ("Running.initial", "Running.junction", None, None),
        ("Running.junction", "Running.StateS3", None, "guard4()"),
        ("Running.junction", "Running.StateS2", None, None),
        ("Running", "Running", "Ev5", None),
        ("Running", "junction_2", "Ev4", None, "a4()"),
        ("junction_2", "Running", None, None, "a2()"),
        ("junction_2", "StateS1", None, "guard3()"),
        ("Running", "junction_2", "Ev3", None),
        ("Running", "StateS1", "Ev1", "guard2()", "a1()"),
        ("StateS1", "Running", "Ev2", None, "a2()"),
    }
    running = next(one for one in chart.machines[0].states if one.name == "Running")
    assert (shown(running.entry), shown(running.exit)) == (["runningEntry()"], ["runningExit()"])


def test_order_shipping_is_refused_by_name() -> None:
    found = complaints(shared("xmi/spring_ordershipping.uml"), "order.uml")
    assert found == [
        "order.uml:35:7: not supported: the join `JOIN`",
        "order.uml:76:9: not supported: orthogonal regions in state `HANDLE_ORDER` of "
        "`StateMachine`",
        "order.uml:114:7: not supported: the fork `FORK`",
    ]


def test_profiles_have_no_machines() -> None:
    assert "there is no state machine" in complaints(shared("charts/sysml.profile.xmi"))[0]


# ---------------------------------------------------------------------------------- samples


def check_places(chart: Chart, raw: str) -> None:
    """Each character of each text stands in the file where the text says: itself, an entity, or
    a blank for a newline."""
    lines = re.split(r"\r\n|\r|\n", raw)
    for text in texts(chart):
        if "after_" in text.text or text.element.startswith(("the default", "the value")):
            continue
        for offset, character in enumerate(text.text):
            line, column = text.position(offset)
            there = lines[line - 1][column - 1 : column] or "\n"
            assert there in (character, "&") or character in "=!", (text, offset)


@pytest.mark.parametrize("data", [CROSSING, LAMP], ids=["crossing", "lamp"])
def test_places(data: bytes) -> None:
    raw = data.decode()
    check_places(read_xmi(data, "x"), raw)
    crlf = raw.replace("\n", "\r\n")
    check_places(read_xmi(crlf, "x"), crlf)
    for codec in ("utf-16", "utf-16-be"):
        assert read_xmi(raw.replace("UTF-8", "UTF-16").encode(codec), "x") == read_xmi(raw, "x")


def test_crossing_components() -> None:
    chart = read_xmi_file(SAMPLES / "crossing.uml")
    assert chart.name == "Crossing"
    assert [one.name for one in chart.machines] == ["left", "right", "Control"]
    left, right, control = chart.machines
    assert replace(left, name="right") == right
    assert [one.name for one in chart.signals] == ["close", "open", "train"]
    light = next(one for one in control.variables if one.name == "light")
    assert (light.type.members, light.type.name) == (("Dark", "Red"), "Light")
    assert light.initial is not None
    assert light.initial.text == "Dark"
    trains = next(one for one in control.variables if one.name == "trains")
    assert (trains.type.lo, trains.type.hi) == (0, 3)
    assert [one.name for one in control.variables] == ["trains", "light"]  # no String


def test_crossing_machine() -> None:
    control = read_xmi(CROSSING, "crossing.uml").machines[2]
    busy = next(one for one in control.states if one.name == "Busy")
    assert (busy.kind, shown(busy.entry)) == ("composite", ["light = Red"])
    kinds = {one.ident: (one.kind, one.parent) for one in control.states}
    assert kinds["Busy.in"] == kinds["Busy.out"] == ("junction", "Busy")
    assert kinds["how_many"] == ("choice", None)
    arrows = {(one.source, one.target): one for one in control.transitions}
    choice = arrows["how_many", "Busy.in"]
    assert choice.guard is not None
    assert choice.guard.text == "trains == 0 and light != Red"
    # In the order of the control flow, and not of the file.
    assert shown(choice.effects) == ["close -> left", "close -> right"]
    assert arrows["how_many", "Free"].otherwise
    assert shown(arrows["Busy.out", "Free"].effects) == [
        "open -> left",
        "open -> right",
        "light = Dark",
    ]
    assert arrows["Free", "Free"].internal
    assert arrows["Busy.in", "Busy.Near"].trigger is None
    assert arrows["Busy.Near", "Busy.out"].trigger == "train"


def test_crossing_failures_and_requirements() -> None:
    chart = read_xmi(CROSSING, "crossing.uml")
    gate, _, control = chart.machines
    stuck = {one.ident: one for one in gate.transitions}
    opened, closed = stuck["Opened->Stuck"], stuck["Closed->Stuck"]
    assert (opened.rate, opened.failure, opened.detected) == (Fraction("1e-4"), True, None)
    assert (closed.rate, closed.failure, closed.detected, closed.event) == (
        Fraction("2.5e-5"),
        True,
        False,
        "jammed",
    )
    state = next(one for one in gate.states if one.name == "Stuck")
    assert (state.failure, state.tags) == (True, ("@error",))
    assert [(one.ident, one.text) for one in chart.requirements] == [
        ("R1", "Trains meet closed gates."),
        ("R2", ""),
    ]
    assert stuck["lower"].requirements == ("R1",)
    assert next(one for one in control.states if one.name == "Busy").requirements == ("R1",)


def test_time_events_are_timers() -> None:
    gate = read_xmi(CROSSING, "crossing.uml").machines[0]
    timer = gate.variables[-1]
    assert (timer.name, timer.type.kind) == ("after_Closed", "timer")
    closed = next(one for one in gate.states if one.name == "Closed")
    assert shown(closed.entry) == ["after_Closed.reset()"]
    late = next(one for one in gate.transitions if one.ident == "Closed->Opened#2")
    assert late.guard is not None
    assert late.guard.text == "after_Closed.elapsed(30)"
    assert late.guard.position(late.guard.text.index("30")) == (16, 74)
    assert late.trigger is None


def test_lamp() -> None:
    chart = read_xmi(LAMP, "lamp.xml")
    (lamp,) = chart.machines
    assert lamp.name == "Lamp"
    arrows = {(one.source, one.target): one for one in lamp.transitions}
    inner = arrows["On.Low", "On.High"]
    assert inner.guard is not None
    assert inner.guard.text == "level < 3\n && level >= 1"
    assert (inner.trigger, shown(inner.effects)) == ("press", ["level++"])
    broken = arrows["On", "Broken"]
    assert (broken.rate, broken.failure, broken.detected, broken.event) == (
        Fraction("0.002"),
        True,
        True,
        "wire breaks",
    )
    assert next(one for one in lamp.states if one.name == "Broken").failure
    assert arrows["Broken", "final"].trigger == "remove"
    dim = arrows["On", "On.Low"]
    assert dim.guard is not None
    assert dim.guard.text == "level == 3"
    assert next(one for one in lamp.states if one.name == "On").requirements == ("7",)
    assert shown(next(one for one in lamp.states if one.name == "Off").entry) == ["level = 0"]
    notes = [one.message for one in chart.notes]
    assert len(notes) == 2
    assert "is read as a guard" in notes[0]
    assert "are read as messages" in notes[1]


# ------------------------------------------------------------------------------ behaviours


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = 1", ["x = 1"]),
        (" x = 1 ; ; y = f(1; 2);\n", ["x = 1", "y = f(1; 2)"]),
        ("// nothing; here\nx = 1 // or here; no", ["x = 1"]),
        ("go()", ["go -> None"]),
        ("send go", ["go -> None"]),
        ("send go() to self", ["go -> Unit"]),
        ("^go", ["go -> None"]),
        ("^Unit.go", ["go -> Unit"]),
        ("Unit.go( )", ["go -> Unit"]),
        ("this.go()", ["go -> Unit"]),
        ("log(x)", ["log(x)"]),
        ("x = go(1) + go(2)", ["x = go(1) + go(2)"]),
        ("", []),
        ("/* later */", []),
    ],
)
def test_effects(text: str, expected: list[str]) -> None:
    found = only(machine(arrow("t", "a>a", TRIGGER + effect(text))))
    assert shown(found.transitions[1].effects) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("send stop to self", "unknown signal `stop`"),
        ("Unit.stop()", "unknown signal `stop`"),
        ("send go to Nobody", "unknown target `Nobody`"),
        ("^Nobody.go", "unknown target `Nobody`"),
        ("go(3)", "not supported: messages with data: `go` has arguments"),
        ("if (x) y = 1", "not supported: the statement `if`"),
        ("x = 1; while (x) x--", "not supported: the statement `while`"),
    ],
)
def test_bad_effects(text: str, message: str) -> None:
    file = machine(arrow("t", "a>a", TRIGGER + effect(text)))
    (found,) = complaints(file)
    assert found.endswith(message)
    line, column = map(int, found.split(":")[1:3])
    word = re.split(r"[`)]", message.partition("`")[2])[0]
    there = file.split("\n")[line - 1][column - 1 :]
    assert there.startswith(word if "data" not in message else "3")


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("x == 1", "", "x == 1"),
        ("[x == 1];", "C", "x == 1"),
        ("x = 1", "English", "x = 1"),  # the parser of expressions says what is wrong with it
        ("x = 1 and y &lt;> 2 or z >= 3", "OCL", "x == 1 and y != 2 or z >= 3"),
        ("x == True", "Python", "x == true"),
    ],
)
def test_guards(text: str, language: str, expected: str) -> None:
    found = only(machine(arrow("t", "a>a", guard(text, language))))
    assert found.transitions[1].guard is not None
    assert found.transitions[1].guard.text == expected


def test_places_of_what_is_normalised() -> None:
    file = machine(arrow("t", "a>a", guard("x = 1 and y &lt;> 2", "OCL")))
    text = only(file).transitions[1].guard
    assert text is not None
    line, column = text.position(0)
    row = file.split("\n")[line - 1]
    for word, there in (("x", "x"), ("1", "1"), ("y", "y"), ("!=", "&lt;>"), ("2", "2<")):
        assert text.position(text.text.index(word)) == (line, row.index(there, column - 1) + 1)


def test_entry_exit_and_do() -> None:
    inside = effect("x = 1", "entry") + effect("x = 2", "exit") + effect("x = 3", "doActivity")
    found = only(machine(state("b", inside) + arrow("t", "a>b")))
    built = found.states[-1]
    assert [shown(one) for one in (built.entry, built.exit, built.do)] == [
        ["x = 1"],
        ["x = 2"],
        ["x = 3"],
    ]


@pytest.mark.parametrize(
    ("activity", "message"),
    [
        ('<node xmi:type="uml:DecisionNode" xmi:id="n"/>', "DecisionNode in an activity"),
        (
            '<node xmi:type="uml:SendSignalAction" xmi:id="n1" signal="go"/>'
            '<node xmi:type="uml:SendSignalAction" xmi:id="n2" signal="go"/>',
            "not in one sequence",
        ),
        ('<node xmi:type="uml:SendSignalAction" xmi:id="n1" signal="no"/>', "no element `no`"),
        ('<node xmi:type="uml:SendSignalAction" xmi:id="n1"/>', "has no signal"),
        ('<node xmi:type="uml:CallBehaviorAction" xmi:id="n1" behavior="act"/>', "calls itself"),
    ],
)
def test_bad_activities(activity: str, message: str) -> None:
    inside = f'<effect xmi:type="uml:Activity" xmi:id="act" name="act">{activity}</effect>'
    assert message in complaints(machine(arrow("t", "a>a", inside)))[0]


# --------------------------------------------------------------------------- state machines


CHANGE = '<packagedElement xmi:type="uml:ChangeEvent" xmi:id="e" name="e"/>'
ABSOLUTE = (
    '<packagedElement xmi:type="uml:TimeEvent" xmi:id="e" name="e"><when><expr '
    'xmi:type="uml:LiteralInteger" value="3"/></when></packagedElement>'
)
LATER = ABSOLUTE.replace('name="e"', 'name="e" isRelative="true"')
EVENT = '<trigger xmi:id="tr" event="e"/>'
REGION = '<region xmi:id="{0}"><subvertex xmi:type="uml:State" xmi:id="{0}s" name="S"/></region>'


@pytest.mark.parametrize(
    ("region", "more", "message"),
    [
        (pseudo("h", "deepHistory"), "", "not supported: the deep history `h`"),
        (pseudo("h", "shallowHistory"), "", "not supported: the shallow history `h`"),
        (pseudo("h", "fork"), "", "not supported: the fork `h`"),
        (pseudo("h", "magic"), "", "unknown kind of pseudostate: magic"),
        (
            state("b", REGION.format("r1") + REGION.format("r2")),
            "",
            "not supported: orthogonal regions in state `B` of `Unit`",
        ),
        (state("b", REGION.format("r1")) + arrow("t", "a>b"), "", "no initial state inside"),
        (arrow("t", "a>nowhere"), "", "there is no element `nowhere`"),
        (arrow("t", "a>go"), "", "is no state here: signal `go`"),
        ('<transition xmi:id="t" source="a"/>', "", "a transition without a target"),
        (arrow("t", "i>a"), "", "has 2 outgoing transitions, not 1"),
        (pseudo("j", "initial"), "", "a second initial state in one region"),
        (arrow("t", "a>i"), "", "goes to an initial state"),
        (state("b") + arrow("t", "a>b", "", 'kind="internal"'), "", "goes to another state"),
        (arrow("t", "a>a", "", 'kind="local"'), "", "a local transition A -> A of `Unit` of a"),
        (arrow("t", "a>a", "", 'kind="sideways"'), "", "unknown kind of transition: sideways"),
        (pseudo("c", "choice") + arrow("t", "c>a", TRIGGER), "", "starts at a pseudostate"),
        (arrow("t", "a>a", '<trigger xmi:id="x"/>'), "", "has no event"),
        (arrow("t", "a>a", EVENT), "", "there is no element `e`"),
        (arrow("t", "a>a", EVENT), CHANGE, "has no change expression"),
        (arrow("t", "a>a", EVENT), CHANGE.replace("Change", "AnyReceive"), "AnyReceiveEvent as"),
        (arrow("t", "a>a", EVENT), ABSOLUTE, "at an absolute time"),
        (arrow("t", "a>a", EVENT + guard("x")), LATER, "both a time event and a guard"),
        (arrow("t", "a>a", EVENT, 'kind="internal"'), LATER, "does not leave its state"),
        (
            arrow("t", "a>a", EVENT),
            LATER.replace("LiteralInteger", "LiteralString").replace('"3"', '"5 s"'),
            "not supported: the time `5 s`",
        ),
        (state("b", '<deferrableTrigger xmi:id="d"/>'), "", "not supported: deferred messages"),
        (state("b", "", 'submachine="sm"'), "", "state machine `Unit` of `M` contains itself"),
        (state("b", "", 'submachine="gone"'), "", "there is no element `gone`"),
        (state("a"), "", "two elements have the identifier `a`"),
        (arrow("t", "a>a", "<ownedComment><body>@rate often</body></ownedComment>"), "", "rate"),
        (
            arrow("t", "a>a", "<ownedComment><body>@rate -1</body></ownedComment>"),
            "",
            "the rate -1 is negative",
        ),
        (
            arrow("t", "a>a", "<ownedComment><body>@rate 1e999999999</body></ownedComment>"),
            "",
            "the rate is not a number",
        ),
    ],
)
def test_refused(region: str, more: str, message: str) -> None:
    file = machine(region, more)
    found = complaints(file)
    assert any(message in one for one in found), found
    assert all(re.match(r"m\.uml:\d+:\d+: ", one) for one in found)
    with pytest.raises(WhenceError) as caught:
        read_xmi(file, "m.uml")
    supported = any("not supported" not in one for one in found)
    assert isinstance(caught.value, UnsupportedError) is not supported


def test_several_at_once() -> None:
    region = pseudo("h", "deepHistory") + arrow("t", "a>x") + pseudo("f", "join")
    assert len(complaints(machine(region))) == 3


def test_no_initial_state() -> None:
    file = model(
        '<packagedElement xmi:type="uml:StateMachine" xmi:id="sm" name="Unit"/>'
        '<packagedElement xmi:type="uml:StateMachine" xmi:id="sn" name="Other">'
        f"{REGION.format('r')}</packagedElement>"
    )
    assert complaints(file) == [
        "m.uml:2:1: state machine `Unit` of `M` has no initial state",
        f"m.uml:2:{file.split(chr(10))[1].index('<region') + 1}: "
        "state machine `Other` of `M` has no initial state",
    ]


def started(ident: str, inside: str = "", name: str = "") -> str:
    """A region with an initial state."""
    return (
        f'<region xmi:id="{ident}" name="{name}">{pseudo(f"{ident}i", "initial")}'
        f"{state(f'{ident}s')}{arrow(f'{ident}t', f'{ident}i>{ident}s')}{inside}</region>"
    )


def test_regions_of_a_machine_are_machines() -> None:
    """Their object's messages are for each of them that takes them, and its variables are for
    all."""
    waiting = arrow("w", "ls>ls", TRIGGER)
    file = model(
        '<packagedElement xmi:type="uml:Signal" xmi:id="go" name="go"/>'
        '<packagedElement xmi:type="uml:SignalEvent" xmi:id="on-go" signal="go"/>'
        '<packagedElement xmi:type="uml:PrimitiveType" xmi:id="int" name="int"/>'
        '<packagedElement xmi:type="uml:Class" xmi:id="c" name="C" classifierBehavior="b">'
        '<ownedAttribute xmi:id="x" name="x" type="int"/>'
        '<ownedBehavior xmi:type="uml:StateMachine" xmi:id="b" name="B">'
        f"{started('l', waiting, 'L')}"
        f"{started('r', arrow('s', 'rs>rs', effect('send go to self')))}"
        "</ownedBehavior></packagedElement>"
    )
    chart = read_xmi(file, "m.uml")
    assert [one.name for one in chart.machines] == ["C_L", "C_2"]
    assert [one.name for one in chart.variables] == ["x"]
    assert shown(chart.machines[1].transitions[1].effects) == ["go -> C_L"]


def test_submachines_twice() -> None:
    inner = f'<packagedElement xmi:type="uml:StateMachine" xmi:id="in" name="In">{started("n")}'
    region = state("b", "", 'submachine="in"') + state("c", "", 'submachine="in"')
    found = only(
        machine(region + arrow("t", "a>b") + arrow("u", "b>c"), f"{inner}</packagedElement>")
    )
    assert [one.ident for one in found.states if one.kind == "simple"] == ["A", "B.NS", "C.NS"]
    assert len(found.transitions) == 5


def test_points_without_references() -> None:
    """Some tools let a transition end at the entry point itself; with two of them, who knows."""
    points = '<connectionPoint xmi:id="in" name="in" kind="entryPoint"/>'
    inner = (
        f'<packagedElement xmi:type="uml:StateMachine" xmi:id="sub" name="Sub">{points}'
        f"{started('n', arrow('u', 'in>ns'))}</packagedElement>"
    )
    region = state("b", "", 'submachine="sub"') + arrow("t", "a>in")
    found = only(machine(region, inner))
    assert ("A", "B.in") in {(one.source, one.target) for one in found.transitions}
    twice = machine(region + state("c", "", 'submachine="sub"'), inner)
    assert "is in a submachine that stands here twice" in complaints(twice)[0]


def test_literals_with_numbers() -> None:
    """They are in the order of their numbers; other literals are constants where they are used."""
    numbered = "".join(
        f'<ownedLiteral xmi:id="l{value}" name="{name}"><specification '
        f'xmi:type="uml:LiteralInteger" value="{value}"/></ownedLiteral>'
        for name, value in (("Go", 1), ("Stop", 0))
    )
    types = (
        f'<packagedElement xmi:type="uml:Enumeration" xmi:id="e" name="E">{numbered}'
        '</packagedElement><packagedElement xmi:type="uml:Enumeration" xmi:id="f" name="F">'
        '<ownedLiteral xmi:id="k0" name="Zero"/><ownedLiteral xmi:id="k1" name="One"/>'
        "</packagedElement>"
    )
    used = arrow("t", "Crs>Crs", guard("x == Go || 1 == One"))
    chart = read_xmi(
        model(types + active("C", '<ownedAttribute xmi:id="x" name="x" type="e"/>', "", used)), "m"
    )
    (x,) = chart.machines[0].variables
    assert (x.type.kind, x.type.members) == ("enum", ("Stop", "Go"))
    (one,) = chart.variables
    assert (one.name, one.role, one.type.lo, one.type.hi) == ("One", "constant", 1, 1)


def test_cyclic_submachines() -> None:
    def one(ident: str, other: str) -> str:
        return (
            f'<packagedElement xmi:type="uml:StateMachine" xmi:id="{ident}" name="{ident}">'
            f"{started(ident + 'r', state(ident + 'x', '', f'submachine={other!r}'))}"
            "</packagedElement>"
        )

    region = state("b", "", 'submachine="p"')
    found = complaints(machine(region, one("p", "q") + one("q", "p")))
    assert any("contains itself as a submachine" in text for text in found)


def test_submachines_that_multiply() -> None:
    """Each of 40 machines has two states with the next one: too many for any computer."""
    machines = "".join(
        f'<packagedElement xmi:type="uml:StateMachine" xmi:id="k{n}" name="k{n}">'
        + started(
            f"k{n}r",
            "".join(state(f"k{n}{side}", "", f'submachine="k{n + 1}"') for side in "ab"),
        )
        + "</packagedElement>"
        for n in range(40)
    )
    last = '<packagedElement xmi:type="uml:StateMachine" xmi:id="k40" name="k40">'
    file = machine(
        state("b", "", 'submachine="k0"'), f"{machines}{last}{started('l')}</packagedElement>"
    )
    assert any("our limit" in text for text in complaints(file))


# ------------------------------------------------------------------- components and variables


def test_what_is_left_out_is_said() -> None:
    file = model(
        '<packagedElement xmi:type="uml:Class" xmi:id="a" name="A" isAbstract="true">'
        f'<ownedBehavior xmi:type="uml:StateMachine" xmi:id="ab" name="AB">{started("x")}'
        "</ownedBehavior></packagedElement>"
        '<packagedElement xmi:type="uml:Class" xmi:id="b" name="B" classifierBehavior="bb">'
        f'<ownedBehavior xmi:type="uml:StateMachine" xmi:id="bb" name="BB">{started("y")}'
        "</ownedBehavior>"
        f'<ownedBehavior xmi:type="uml:StateMachine" xmi:id="bc" name="BC">{started("z")}'
        "</ownedBehavior></packagedElement>"
    )
    chart = read_xmi(file, "m.uml")
    assert [one.name for one in chart.machines] == ["B"]
    assert [one.message for one in chart.notes] == [
        "state machine `BC` of `B` is not what the class does, which is `BB`: left out",
        "class `A` is abstract, and no part has it as its type: left out",
    ]


def active(ident: str, inside: str = "", more: str = "", region: str = "") -> str:
    return (
        f'<packagedElement xmi:type="uml:Class" xmi:id="{ident}" name="{ident}" {more}>{inside}'
        f'<ownedBehavior xmi:type="uml:StateMachine" xmi:id="{ident}m" name="m">'
        f"{started(ident + 'r', region)}</ownedBehavior></packagedElement>"
    )


def test_parts_of_themselves() -> None:
    part = '<ownedAttribute xmi:id="{0}p" name="p" type="{1}" aggregation="composite"/>'
    file = model(active("A", part.format("A", "B")) + active("B", part.format("B", "A")))
    assert "is a part of itself" in complaints(file)[0]
    top = f'<packagedElement xmi:type="uml:Class" xmi:id="T">{part.format("T", "A")}'
    top += "</packagedElement>"
    assert (
        "is a part of itself" in complaints(file.replace("</uml:Model>", f"{top}</uml:Model>"))[0]
    )


def test_parts_that_multiply() -> None:
    levels = "".join(
        f'<packagedElement xmi:type="uml:Class" xmi:id="c{n}" name="c{n}">'
        + "".join(
            f'<ownedAttribute xmi:id="c{n}{side}" name="{side}" type="c{n + 1}" '
            'aggregation="composite"/>'
            for side in "ab"
        )
        + "</packagedElement>"
        for n in range(40)
    )
    assert any("our limit" in one for one in complaints(model(levels + active("c40"))))


def test_ports_and_inheritance() -> None:
    """`Pump` inherits a port and a variable; what it sends through the port arrives at `Tank`."""
    signal = (
        '<packagedElement xmi:type="uml:Signal" xmi:id="go" name="go"/>'
        '<packagedElement xmi:type="uml:PrimitiveType" xmi:id="byte" name="unsigned char"/>'
        '<packagedElement xmi:type="uml:Interface" xmi:id="pipe" name="Pipe"/>'
    )
    base = (
        '<packagedElement xmi:type="uml:Class" xmi:id="Base" name="Base" isAbstract="true">'
        '<ownedAttribute xmi:type="uml:Port" xmi:id="out" name="out" type="pipe"/>'
        '<ownedAttribute xmi:id="level" name="level" type="byte"/></packagedElement>'
    )
    send = arrow("s", "Pumprs>Pumprs", effect("send go to out; level = 1"))
    pump = active("Pump", '<generalization xmi:id="g" general="Base"/>', "", send)
    tank = active("Tank", '<ownedAttribute xmi:type="uml:Port" xmi:id="in" name="in" type="pipe"/>')
    plant = (
        '<packagedElement xmi:type="uml:Class" xmi:id="Plant" name="Plant">'
        '<ownedAttribute xmi:id="pp" name="pump" type="Pump" aggregation="composite"/>'
        '<ownedAttribute xmi:id="pt" name="tank" type="Tank" aggregation="composite"/>'
        '<ownedConnector xmi:id="k"><end xmi:id="k1" role="out" partWithPort="pp"/>'
        '<end xmi:id="k2" role="in" partWithPort="pt"/></ownedConnector></packagedElement>'
    )
    chart = read_xmi(model(signal + base + pump + tank + plant), "m.uml")
    assert [one.name for one in chart.machines] == ["Pump", "Tank"]
    assert shown(chart.machines[0].transitions[1].effects) == ["go -> Tank", "level = 1"]
    (level,) = chart.machines[0].variables
    assert (level.name, level.type.lo, level.type.hi) == ("level", 0, 255)


@pytest.mark.parametrize(
    ("attribute", "message"),
    [
        ('type="text"/>', "of type `String`"),
        ("/>", "has no type"),
        (
            'type="int"><upperValue xmi:type="uml:LiteralUnlimitedNatural" value="*"/>'
            "</ownedAttribute>",
            "has the upper multiplicity *",
        ),
        (
            'type="int"><lowerValue xmi:type="uml:LiteralInteger"/></ownedAttribute>',
            "has the lower multiplicity 0",
        ),
        ('type="odd"/>', "are not numbered from 0 to 1"),
        ('type="gone"/>', "there is no element `gone`"),
    ],
)
def test_variables_that_are_none(attribute: str, message: str) -> None:
    """It is an error only if somebody uses them."""
    types = (
        '<packagedElement xmi:type="uml:PrimitiveType" xmi:id="text" name="String"/>'
        '<packagedElement xmi:type="uml:PrimitiveType" xmi:id="int" name="int"/>'
        '<packagedElement xmi:type="uml:Enumeration" xmi:id="odd" name="Odd">'
        '<ownedLiteral xmi:id="o1" name="One"><specification xmi:type="uml:LiteralInteger" '
        'value="1"/></ownedLiteral><ownedLiteral xmi:id="o3" name="Three"><specification '
        'xmi:type="uml:LiteralInteger" value="3"/></ownedLiteral></packagedElement>'
    )
    inside = f'<ownedAttribute xmi:id="x" name="x" {attribute}'
    if "gone" not in attribute:
        unused = read_xmi(model(types + active("C", inside)), "m.uml")
        assert unused.machines[0].variables == ()
    used = arrow("t", "Crs>Crs", guard("x > 0"))
    assert any(message in one for one in complaints(model(types + active("C", inside, "", used))))


@pytest.mark.parametrize(
    ("inside", "applied", "expected"),
    [
        ("", '<p:Limits xmi:id="l" base_Property="x" min="2" max="5"/>', (2, 5)),
        ("", '<p:Limits xmi:id="l" base_Property="x"><min>2</min><max>5</max></p:Limits>', (2, 5)),
        ("<ownedComment><body>@range 2..5</body></ownedComment>", "", (2, 5)),
        (
            '<ownedRule><specification xmi:type="uml:LiteralString" value="[2,5]"/></ownedRule>',
            "",
            (2, 5),
        ),
        (
            '<ownedRule><specification xmi:type="uml:OpaqueExpression"><body>2 &lt;= x and x '
            "&lt;= 5</body></specification></ownedRule>",
            "",
            (2, 5),
        ),
        (
            '<ownedRule><specification xmi:type="uml:LiteralString" value="2 &lt;= y &lt;= 5"/>'
            "</ownedRule>",
            "",
            (-(2**31), 2**31 - 1),
        ),
    ],
)
def test_ranges(inside: str, applied: str, expected: tuple[int, int]) -> None:
    int_type = '<packagedElement xmi:type="uml:PrimitiveType" xmi:id="int" name="int"/>'
    attribute = f'<ownedAttribute xmi:id="x" name="x" type="int">{inside}</ownedAttribute>'
    chart = read_xmi(model(int_type + active("C", attribute), applied), "m.uml")
    (x,) = chart.machines[0].variables
    assert (x.type.lo, x.type.hi) == expected


def part(ident: str, kind: str) -> str:
    return (
        f'<ownedAttribute xmi:id="p{ident}" name="{ident}" type="{kind}" aggregation="composite"/>'
    )


def passive(ident: str, inside: str) -> str:
    tag = f'<packagedElement xmi:type="uml:Class" xmi:id="{ident}" name="{ident}">'
    return f"{tag}{inside}</packagedElement>"


GO = '<packagedElement xmi:type="uml:Signal" xmi:id="go" name="go"/>'
INT = '<packagedElement xmi:type="uml:PrimitiveType" xmi:id="int" name="int"/>'


def test_names_of_machines() -> None:
    """As short as they can be told apart."""
    pair = passive("Pair", part("a", "Gate") + part("b", "Gate"))
    twice = passive("Top", part("x", "Pair") + part("y", "Pair") + part("z", "Lamp"))
    chart = read_xmi(model(active("Gate") + active("Lamp") + pair + twice), "m.uml")
    assert [one.name for one in chart.machines] == ["x_a", "x_b", "y_a", "y_b", "Lamp"]
    packages = "".join(
        f'<packagedElement xmi:type="uml:Package" xmi:id="{name}" name="{name}">'
        f"{active(name + 'Gate')}</packagedElement>"
        for name in ("North", "South")
    )
    packages = re.sub('name="(North|South)Gate"', 'name="Gate"', packages)
    chart = read_xmi(model(packages), "m.uml")
    assert [one.name for one in chart.machines] == ["North_Gate", "South_Gate"]


def test_targets_that_may_be_several() -> None:
    send = arrow("s", "Crs>Crs", effect("send go to Gate"))
    top = passive("Top", part("a", "Gate") + part("b", "Gate") + part("c", "C"))
    file = model(GO + active("Gate") + active("C", "", "", send) + top)
    assert complaints(file)[0].endswith("`Gate` may be any of `Top.a`, `Top.b`")
    chart = read_xmi(file.replace("to Gate", "to b"), "m.uml")
    assert shown(chart.machines[2].transitions[1].effects) == ["go -> b"]


def test_environment() -> None:
    """A stereotype at a class is for all that is in it."""
    chart = read_xmi(
        model(
            active("Gate") + active("User") + passive("World", part("u", "User")),
            '<p:TE xmi:id="te" base_Class="World"/>',
        ),
        "m.uml",
    )
    assert [(one.name, one.environment) for one in chart.machines] == [
        ("Gate", False),
        ("User", True),
    ]


def flow(ident: str, name: str) -> str:
    return f'<ownedAttribute xmi:type="uml:Port" xmi:id="{ident}" name="{name}" type="int"/>'


def test_flow_ports() -> None:
    wire = (
        '<ownedConnector xmi:id="k"><end xmi:id="k1" role="fa" partWithPort="pa"/>'
        '<end xmi:id="k2" role="fb" partWithPort="pb"/></ownedConnector>'
    )
    top = passive("Top", part("a", "A") + part("b", "B") + wire)
    directions = (
        '<p:FlowPort xmi:id="d1" base_Port="fa" direction="out"/>'
        '<p:FlowPort xmi:id="d2" base_Port="fb" direction="in"/>'
    )
    file = model(
        INT + active("A", flow("fa", "v")) + active("B", flow("fb", "v")) + top, directions
    )
    chart = read_xmi(file, "m.uml")
    assert [(one.name, one.role) for one in chart.variables] == [("v", "internal")]
    assert [one.variables for one in chart.machines] == [(), ()]
    apart = read_xmi(file.replace(wire, ""), "m.uml")
    assert [(one.name, one.role) for m in apart.machines for one in m.variables] == [
        ("v", "output"),
        ("v", "input"),
    ]
    other = file.replace('xmi:id="fb" name="v"', 'xmi:id="fb" name="w"')
    assert "connected ports with different names: `v`" in complaints(other)[0]
    limits = '<p:L xmi:id="l" base_Port="fb" min="0" max="3"/></xmi:XMI>'
    assert "have different types" in complaints(file.replace("</xmi:XMI>", limits))[0]


def test_attributes_of_what_a_machine_is_part_of() -> None:
    shared_by_all = '<ownedAttribute xmi:id="n" name="n" type="int"/>'
    top = passive("Top", part("a", "A") + shared_by_all)
    used = arrow("t", "Ars>Ars", guard("n > 0"))
    chart = read_xmi(model(INT + active("A", "", "", used) + top), "m.uml")
    assert [one.name for one in chart.variables] == ["n"]
    assert read_xmi(model(INT + active("A") + top), "m.uml").variables == ()


def test_references_as_elements() -> None:
    """As other tools write them: the trigger stands elsewhere, and is referred to."""
    region = arrow("t", "a>a", '<trigger xmi:idref="elsewhere"/><effect xmi:idref="does"/>')
    more = (
        '<packagedElement xmi:type="uml:Trigger" xmi:id="elsewhere" event="on-go"/>'
        '<packagedElement xmi:type="uml:OpaqueBehavior" xmi:id="does"><body>x = 1</body>'
        "</packagedElement>"
    )
    found = only(machine(region, more)).transitions[1]
    assert (found.trigger, shown(found.effects)) == ("go", ["x = 1"])


def test_local_transitions() -> None:
    inner = started("n")
    region = state("b", inner) + arrow("t", "b>ns", "", 'kind="local"')
    assert only(machine(region)).transitions[1].source == "B"
    region = state("b", inner + effect("x = 1", "exit")) + arrow("t", "b>ns", "", 'kind="local"')
    assert "the local transition B -> NS" in complaints(machine(region))[0]
    # A sibling is not inside, whatever its name begins with.
    region = state("b", inner + effect("x = 1", "exit")) + state("bb")
    assert len(only(machine(region + arrow("t", "b>bb", "", 'kind="local"'))).transitions) == 3


def test_change_event_and_guard() -> None:
    event = (
        '<packagedElement xmi:type="uml:ChangeEvent" xmi:id="e" name="e"><changeExpression '
        'xmi:type="uml:OpaqueExpression"><body>x &lt; 1</body></changeExpression></packagedElement>'
    )
    file = machine(arrow("t", "a>a", EVENT + guard("y")), event)
    text = only(file).transitions[1].guard
    assert text is not None
    assert text.text == "(x < 1) && (y)"
    lines = file.split("\n")
    for word, there in (("x", "x &lt;"), ("1", "1</body"), ("y", "y</body")):
        line, column = text.position(text.text.index(word))
        assert lines[line - 1][column - 1 :].startswith(there)


def test_keywords() -> None:
    keyword = (
        '<eAnnotations source="http://www.eclipse.org/uml2/2.0.0/UML">'
        '<details key="{}"/></eAnnotations>'
    )
    for word, failure in (("Failure", True), ("NonFailure", False), ("Terrace", False)):
        built = only(machine(state("b", keyword.format(word)) + arrow("t", "a>b"))).states[-1]
        assert (built.failure, built.tags) == (failure, (word,))


def test_signals_with_one_name() -> None:
    file = machine(
        arrow("t", "a>a", TRIGGER + effect("send go to self")),
        '<packagedElement xmi:type="uml:Package" xmi:id="pk" name="Other">'
        '<packagedElement xmi:type="uml:Signal" xmi:id="go2" name="go"/>'
        '<packagedElement xmi:type="uml:SignalEvent" xmi:id="on2" signal="go2"/></packagedElement>',
    )
    assert "there are several signals called `go`" in complaints(file)[0]
    chart = read_xmi(file.replace("send go to self", "x = 1"), "m.uml")
    assert [one.name for one in chart.signals] == ["M_go", "Other_go"]
    assert chart.machines[0].transitions[1].trigger == "M_go"


def test_messages_with_data() -> None:
    file = machine(arrow("t", "a>a", TRIGGER + guard("value > 3"))).replace(
        'name="go"/>', 'name="go"><ownedAttribute xmi:id="v" name="value"/></packagedElement>', 1
    )
    assert "uses `value` of signal `go`" in complaints(file)[0]
    assert only(file.replace("value > 3", "other > 3")).transitions[1].trigger == "go"


# ------------------------------------------------------------------------------------ files


def zipped(*members: tuple[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return stream.getvalue()


def test_archives() -> None:
    cameo = zipped(("Records.properties", b"x"), ("com.nomagic.magicdraw.uml_model.model", LAMP))
    assert looks_like_xmi(cameo)
    chart = read_xmi(cameo, "lamp.mdzip")
    plain = read_xmi(LAMP, "lamp.xml")
    assert [one.states[0] for one in chart.machines] == [one.states[0] for one in plain.machines]
    assert chart.origin.file == "lamp.mdzip/com.nomagic.magicdraw.uml_model.model"
    assert read_xmi(zipped(("a/b.uml", CROSSING), ("c.txt", b"")), "z").name == "Crossing"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (zipped(("a.uml", CROSSING), ("b.uml", CROSSING)), "several models: a.uml, b.uml"),
        (zipped(("a.txt", CROSSING)), "there is no model in XMI in the archive"),
        (zipped(), "there is no model in XMI in the archive"),
        (zipped(("a.uml", CROSSING))[:-30], "the archive cannot be read"),
        (b"PK\x03\x04", "the archive cannot be read"),
    ],
)
def test_bad_archives(data: bytes, message: str) -> None:
    assert message in complaints(data, "a.zip")[0]


def test_bombs_in_archives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("whence.formats.charts.xmi_container.MAX_BYTES", 100_000)
    data = zipped(("com.nomagic.magicdraw.uml_model.model", b" " * 1_000_000))
    assert "our limit" in complaints(data, "a.mdzip")[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("<nta/>", "this is not XMI: its root element is <nta>"),
        (
            '<XMI xmi.version="1.2" xmlns:UML="org.omg.xmi.namespace.UML"/>',
            "not supported: XMI 1.2",
        ),
        ('<a xmlns:xmi="http://www.omg.org/spec/XMI/20131001"/>', "there is no UML in this XMI"),
        (HEAD.replace("<uml:Model", "<p:x") + "</p:x></xmi:XMI>", "there is no UML model in it"),
        (HEAD, "the file ends while <uml:Model>"),
        (
            '<!DOCTYPE x [<!ENTITY a "b">]><x/>',
            "the file declares the entity 'a', which we refuse",
        ),
        ('<!DOCTYPE x SYSTEM "file:///etc/passwd"><x>&a;</x>', "&a;"),
    ],
)
def test_other_files(text: str, message: str) -> None:
    assert message in complaints(text)[0]


def test_what_looks_like_xmi() -> None:
    assert looks_like_xmi(CROSSING)
    assert looks_like_xmi(LAMP)
    assert looks_like_xmi(CROSSING.decode().replace("UTF-8", "UTF-16").encode("utf-16"))
    assert not looks_like_xmi(b"<nta></nta>")
    assert not looks_like_xmi(b"machines: {}")
    assert not looks_like_xmi(b"")


# ---------------------------------------------------------------------------- hostile input


def survives(text: bytes | str) -> None:
    """A chart, or messages that say where; no other exception."""
    files: list[str] = []
    try:
        files.append(read_xmi(text, "x.uml").origin.file)
    except WhenceError as error:
        files += [one.origin.file for one in error.diagnostics]
    assert set(files) == {"x.uml"}


@given(st.sampled_from([CROSSING, LAMP]), st.data())
def test_damaged_files(whole: bytes, data: st.DataObject) -> None:
    """Whatever is cut out or doubled: a chart or a message, and no other exception."""
    at = data.draw(st.integers(0, len(whole)))
    length = data.draw(st.integers(0, 300))
    middle = data.draw(st.sampled_from([b"", whole[at : at + length] * 2, b"\0", b'"', b"&"]))
    damaged = whole[:at] + middle + whole[at + length :]
    survives(damaged)


@given(st.sampled_from([CROSSING, LAMP]), st.data())
def test_references_that_go_astray(whole: bytes, data: st.DataObject) -> None:
    """Any reference may name any element: a chart or a message, and no other exception."""
    text = whole.decode()
    idents = sorted(set(re.findall(r"""xmi:id=["']([^"']*)""", text)))
    places = [
        match.span(1)
        for match in re.finditer(
            r"""(?:source|target|event|signal|type|submachine|guard|entry|exit|general|role|"""
            r"""client|supplier|instance|classifierBehavior|idref|base_\w+)=["']([^"':]*)["']""",
            text,
        )
    ]
    chosen = data.draw(st.lists(st.sampled_from(places), min_size=1, max_size=4, unique=True))
    for start, end in sorted(chosen, reverse=True):
        text = text[:start] + data.draw(st.sampled_from(idents)) + text[end:]
    survives(text)


@given(st.sampled_from([CROSSING, LAMP]), st.data())
def test_kinds_that_go_astray(whole: bytes, data: st.DataObject) -> None:
    text = whole.decode()
    found = list(re.finditer(r"""xmi:type=["']uml:(\w+)""", text))
    kinds = sorted({match[1] for match in found} | {"Interaction", "Port", "Package"})
    chosen = data.draw(st.lists(st.sampled_from(range(len(found))), min_size=1, max_size=3))
    for index in sorted(set(chosen), reverse=True):
        start, end = found[index].span(1)
        text = text[:start] + data.draw(st.sampled_from(kinds)) + text[end:]
    survives(text)


def test_finally_constraints_are_goals_of_tests() -> None:
    """As RT-Tester's models have them; other constraints are none."""
    text = machine(
        "",
        '<ownedRule xmi:type="uml:Constraint" xmi:id="g" name="lamp">'
        '<specification xmi:type="uml:LiteralString" value="Finally([ A &amp;&amp; x > 1 ])"/>'
        "</ownedRule>"
        '<ownedRule xmi:type="uml:Constraint" xmi:id="h">'
        '<specification xmi:type="uml:LiteralString" value="x > 1"/></ownedRule>',
    )
    (goal,) = read_xmi(text, "goals.uml").goals
    assert (goal.name, goal.text.text) == ("lamp", "F(( A && x > 1 ))")
    assert goal.text.origin(0).file == "goals.uml"
