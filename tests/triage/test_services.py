"""What descriptions of ECUs mean: which responses may follow which requests, and when."""

from __future__ import annotations

from fractions import Fraction

import pytest

from whence.formats.can.addresses import parse_pair
from whence.formats.can.isotp import LogMessage
from whence.formats.can.uds import Matcher
from whence.model.prd import EventTrace, FieldValue, PrdAutomaton, TimedEvent
from whence.source import InputError
from whence.triage.localize import localize
from whence.triage.results import Fault
from whence.triage.services import EcuDescription
from whence.triage.traces import event_label, timed_event

PAIRS = (parse_pair("7E0:7E8"), parse_pair("7DF:"))
REQUEST, RESPONSE, ALL = PAIRS[0].request, PAIRS[0].response, PAIRS[1].request


def trace(text: str) -> EventTrace:
    """`0 > 10 03 | 20 < 50 03 | 1000 * 3E 80`: milliseconds, and the bytes of a request, a
    response, or a request to all."""
    matcher = Matcher(PAIRS)
    events = []
    for number, step in enumerate(text.split("|")):
        date, way, *digits = step.split()
        address = {">": REQUEST, "<": RESPONSE, "*": ALL}[way]
        assert address is not None
        time = int(date) * 1_000_000
        message = LogMessage(address, "", bytes.fromhex("".join(digits)), time, time, number)
        timed = timed_event(matcher.event(message), number)
        assert timed is not None
        events.append(timed)
    return EventTrace("t", tuple(events))


def faults(automaton: PrdAutomaton, text: str) -> list[Fault]:
    return [*localize(automaton, trace(text)).faults]


def places(automaton: PrdAutomaton, text: str) -> list[tuple[int | None, str]]:
    return [(fault.index, fault.kind) for fault in faults(automaton, text)]


def door() -> EcuDescription:
    ecu = EcuDescription("door", p2="50 ms", p2_star="1 s", activity="s3", unknown=[0x11])
    ecu.parameter("version", [1, 2])
    ecu.variable("session", ["default", "extended"], "default")
    ecu.variable("position", range(256), 0)
    ecu.restart("100 ms", "200 ms", ["RST"])
    ecu.service("default session", "10 01", effects="session = default", suppressible=True)
    ecu.service("extended session", "10 03", effects="session = extended", suppressible=True)
    ecu.service("other session", "10 *", needs=["false else 0x12"])
    ecu.service("reset", "11 01", "51 01", restarts=True)
    ecu.service("present", "3E 80", None, concurrent=True)
    ecu.service("read", "22 01 01",
                responses=[{"message": "62 01 01 <value>", "when": "value == position"}],
                requirements=["DAT"])  # fmt: skip
    ecu.service("write", "2E 01 01 <new>", "6E 01 01", effects="position = new",
                needs=["session == extended else 0x7F"], refusals=[0x21])  # fmt: skip
    ecu.service("routine", "31 01 02 03", pending=True, only="version >= 2")
    ecu.reaction("timeout", "session = default", when="session != default", after="5 s",
                 within="5.5 s")  # fmt: skip
    return ecu


MODEL = door().compile(version=2)


@pytest.mark.parametrize(
    "text",
    [
        "0 > 10 03 | 20 < 50 03",
        "0 > 10 03 | 50 < 50 03",
        "0 > 10 05 | 20 < 7F 10 12",
        "0 > 2E 01 01 05 | 20 < 7F 2E 7F",
        "0 > 10 03 | 20 < 50 03 | 99 > 2E 01 01 05 | 110 < 6E 01 01 | 200 > 22 01 01 "
        "| 210 < 62 01 01 05",
        "0 > 10 03 | 20 < 50 03 | 99 > 2E 01 01 05 | 110 < 7F 2E 21",
        # Nothing comes, and the session has changed.
        "0 > 10 83 | 99 > 2E 01 01 05 | 110 < 6E 01 01",
        # A refusal comes also if no positive response is wanted.
        "0 > 10 85 | 20 < 7F 10 12",
        # The response is put off.
        "0 > 31 01 02 03 | 20 < 7F 31 78 | 900 < 7F 31 78 | 1800 < 71 01 02 03",
        # Nothing is said to all of what is not supported.
        "0 * 10 05 | 99 > 10 03 | 120 < 50 03",
        "0 * 10 03 | 20 < 50 03",
        "0 * 83 01 | 99 * 2E 01 01 05 | 200 > 10 01 | 220 < 50 01",
        "0 > 83 01 | 20 < 7F 83 11",
        # While a response is awaited, the tester tells that it is there.
        "0 > 22 01 01 | 10 > 3E 80 | 20 < 62 01 01 00",
        # After a reset, nothing is answered, and the position is 0.
        "0 > 10 03 | 20 < 50 03 | 99 > 2E 01 01 05 | 110 < 6E 01 01 | 200 > 11 01 | 210 < 51 01 "
        "| 250 > 22 01 01 | 500 > 22 01 01 | 510 < 62 01 01 00",
        # The session ends by itself between 5 s and 5.5 s: until then either is right.
        "0 > 10 03 | 20 < 50 03 | 5010 > 2E 01 01 05 | 5020 < 6E 01 01",
        "0 > 10 03 | 20 < 50 03 | 5300 > 2E 01 01 05 | 5320 < 6E 01 01",
        "0 > 10 03 | 20 < 50 03 | 5300 > 2E 01 01 05 | 5320 < 7F 2E 7F",
        "0 > 10 03 | 20 < 50 03 | 5600 > 2E 01 01 05 | 5620 < 7F 2E 7F",
        # What keeps it alive.
        "0 > 10 03 | 20 < 50 03 | 4900 > 3E 80 | 9800 > 2E 01 01 05 | 9810 < 6E 01 01",
    ],
)
def test_what_conforms(text: str) -> None:
    assert not faults(MODEL, text)


@pytest.mark.parametrize(
    ("text", "index", "kind"),
    [
        ("0 > 10 03 | 51 < 50 03", 1, "late"),
        ("0 > 10 03 | 20 < 50 01", 1, "value"),
        ("0 > 10 83 | 20 < 50 03", 1, "unexpected"),
        ("0 > 10 03 | 20 < 50 03 | 30 < 50 03", 2, "unexpected"),
        ("0 * 10 05 | 20 < 7F 10 12", 1, "unexpected"),
        ("0 > 2E 01 01 05 | 20 < 6E 01 01", 1, "unexpected"),
        ("0 > 10 03 | 20 < 50 03 | 5600 > 2E 01 01 05 | 5620 < 6E 01 01", 3, "unexpected"),
        ("0 > 22 01 01 | 20 < 62 01 01 01", 1, "value"),
        ("0 > 22 01 01 | 20 < 7F 22 78", 1, "unexpected"),
        ("0 > 31 01 02 03 | 20 < 7F 31 78 | 1021 < 71 01 02 03", 2, "late"),
        ("0 > 83 01 | 20 < 7F 84 11", 1, None),
        ("0 > 22 01 01 | 99 > 10 03 | 120 < 50 03", 1, "missing"),
        ("0 > 22 01 01", None, "missing"),
        ("0 > 11 01 | 10 < 51 01 | 20 > 22 01 01 | 30 < 62 01 01 00", 3, "unexpected"),
    ],
)
def test_what_does_not(text: str, index: int | None, kind: str | None) -> None:
    (first, *_) = places(MODEL, text)
    assert first[0] == index
    assert kind is None or first[1] == kind


def test_requirements_are_cited() -> None:
    (fault,) = faults(MODEL, "0 > 22 01 01 | 20 < 62 01 01 01")
    assert fault.requirements == ("DAT",)


def test_variants_have_different_services() -> None:
    first = door().compile(version=1)
    assert places(first, "0 > 31 01 02 03 | 20 < 7F 31 11") == []
    assert places(MODEL, "0 > 31 01 02 03 | 20 < 7F 31 11") == [(1, "unexpected")]


def test_without_silences_there_is_only_idle() -> None:
    ecu = EcuDescription("e", p2="50 ms", silences=False)
    ecu.service("present", "3E 00", suppressible=True)
    assert {state.name for state in ecu.compile().states} == {"idle", "await present"}


def test_named_messages() -> None:
    ecu = EcuDescription("e", p2="50 ms")
    ecu.variable("ctx", range(10), 0)
    ecu.service("set", "set value=<v: 0..9>", "set value=<echo>", effects="ctx = v")
    ecu.service("get", "get", responses=[{"message": "get value=<v>", "when": "v == ctx"}])
    automaton = ecu.compile()

    def run(*steps: tuple[int, str, int]) -> list[int | None]:
        events = []
        for number, (date, label, value) in enumerate(steps):
            fields: dict[str, FieldValue] = {} if value < 0 else {"value": value}
            events.append(TimedEvent(Fraction(date, 1000), label, fields, number))
        return [fault.index for fault in localize(automaton, EventTrace("t", tuple(events))).faults]

    good = ((0, "req set", 5), (10, "res set", 5), (20, "req get", -1))
    assert run(*good, (30, "res get", 5)) == []
    assert run(*good, (30, "res get", 0)) == [3]


def wrong(ecu: EcuDescription, **parameters: str | int) -> str:
    with pytest.raises(InputError) as caught:
        ecu.compile(**parameters)
    return caught.value.render()


def test_what_is_wrong_with_a_description() -> None:
    ecu = door()
    ecu.service("read", "22 02 02")
    assert "there are two services `read`" in wrong(ecu)
    ecu = door()
    ecu.service("twice", "22 02 <position>")
    assert "`position` is captured here, and is a part of the state" in wrong(ecu)
    ecu = door()
    ecu.service("odd", "22 02 02", effects="posision = 1")
    assert "`posision` is neither a variable nor a clock" in wrong(ecu)
    assert "did you mean `position`?" in wrong(ecu)
    ecu = door()
    ecu.variable("p2", range(2))
    assert "the name `p2` is used twice" in wrong(ecu)
    ecu = door()
    ecu.variable("fresh", range(2))
    assert "after a restart nobody knows what `fresh` is" in wrong(ecu)
    ecu = door()
    ecu.service("wide", "19 .. *", suppressible=True)
    assert ecu.compile()
    ecu.service("narrow", "2F 01 81", suppressible=True)
    assert ecu.compile()
    ecu.service("none", "2C", suppressible=True)
    assert "only a request with a sub-function below 80" in wrong(ecu)
    ecu = door()
    ecu.reaction("r", "position = 0", clock="z", after="1 s")
    assert "`z` is no clock of this model" in wrong(ecu)
    ecu = door()
    ecu.service("set", "set value=<v>")
    assert "only where all requests are bytes" in wrong(ecu)
    assert "the parameter `version` cannot be 3" in wrong(door(), version=3)
    assert "`color` is no parameter" in wrong(door(), color="red")
    ecu = door()
    ecu.service("assigns", "22 03 03", effects="version = 2")
    assert "`version` is a parameter, which cannot change" in wrong(ecu)
    with pytest.raises(InputError, match="this time has no unit"):
        EcuDescription("e", p2="50")


def test_incidents() -> None:
    ecu = EcuDescription("e", p2="50 ms")
    ecu.variable("power", ["on", "off"], "on")
    ecu.restart("100 ms", "100 ms")
    ecu.incident("switched off", 'other "power off"', effects="power = off")
    ecu.incident("switched on", 'other "power on"', restarts=True)
    ecu.service("read", "22 01 01", needs=["power == on else 0x22"])
    automaton = ecu.compile()
    names = {(t.source, t.target) for t in automaton.transitions if t.name == "switched on"}
    assert names == {(state.name, "restarting") for state in automaton.states}


def test_labels_do_not_depend_on_a_database() -> None:
    matcher = Matcher(PAIRS)
    assert REQUEST is not None
    event = matcher.event(LogMessage(REQUEST, "", b"\xba\x12", 0, 0, 0))
    assert event_label(event) == "req service 0xBA"


def test_a_wrong_response_is_a_response() -> None:
    """It is one fault, and the next request is none: bytes that nothing allows, and a refusal in
    place of a response."""
    wrong = "0 > 31 01 02 03 | 20 < 71 01 02 04 | 200 > 10 01 | 210 < 50 01"
    assert [(index, kind) for index, kind, *_ in places(MODEL, wrong)] == [(1, "value")]
    again = "0 > 31 01 02 03 | 20 < 71 01 02 04 | 30 < 71 01 02 03"
    assert [index for index, *_ in places(MODEL, again)] == [1]
    refused = "0 > 22 01 01 | 20 < 7F 22 31 | 200 > 10 01 | 210 < 50 01"
    assert [index for index, *_ in places(MODEL, refused)] == [1]
