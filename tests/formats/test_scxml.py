"""What the reader of SCXML makes of good and of bad documents."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.formats.charts_support import shared

from whence.formats.charts.scxml import looks_like_scxml, read_scxml
from whence.model.chart import Assign, Send
from whence.source import InputError, WhenceError

LAMP = """<scxml xmlns="http://www.w3.org/2005/07/scxml" version="1.0" name="lamp" initial="off">
  <datamodel><data id="level" expr="0"/><data id="warm" expr="false"/></datamodel>
  <state id="off">
    <transition event="press.long press.short" cond="level &lt; 3" target="on"/>
    <transition event="press.*" target="end"/>
    <transition event="look"><assign location="level" expr="level + 1"/></transition>
  </state>
  <state id="on" initial="high">
    <onentry><raise event="press.short"/><log expr="'on'"/></onentry>
    <onexit><assign location="warm" expr="true"/></onexit>
    <state id="low"/>
    <state id="high"><transition event="*" target="low"/></state>
    <transition event="press" target="off"/>
  </state>
  <final id="end"/>
</scxml>"""


def document(inside: str, start: str = "") -> str:
    head = f'<scxml xmlns="http://www.w3.org/2005/07/scxml" {start}>'
    return f'{head}\n<state id="a">{inside}</state>\n<state id="b"/></scxml>'


def complaints(text: str | bytes) -> list[str]:
    with pytest.raises(InputError) as caught:
        read_scxml(text, "m.scxml")
    return [f"{one.origin}: {one.message}" for one in caught.value.diagnostics]


def test_lamp() -> None:
    chart = read_scxml(LAMP, "lamp.scxml")
    (lamp,) = chart.machines
    assert (lamp.name, lamp.unexpected, lamp.capacity) == ("lamp", "discard", 2)
    assert [one.name for one in chart.signals] == [
        "press.long",
        "press.short",
        "press",
        "look",
    ]
    kinds = {one.ident: (one.kind, one.parent) for one in lamp.states}
    assert kinds["on"] == ("composite", None)
    assert kinds["on.initial"] == ("initial", "on")
    assert kinds["end"] == ("final", None)
    found = [
        (one.source, one.target, one.trigger, one.priority)
        for one in lamp.transitions
        if one.source in ("off", "on")
    ]
    assert found == [
        ("off", "on", "press.long", 0),
        ("off", "on", "press.short", 0),
        # `press.*` is `press` with all that begins so.
        ("off", "end", "press.long", 1),
        ("off", "end", "press.short", 1),
        ("off", "end", "press", 1),
        ("off", "off", "look", 2),
        ("on", "off", "press.long", 0),
        ("on", "off", "press.short", 0),
        ("on", "off", "press", 0),
    ]
    arrows = {(one.source, one.target): one for one in lamp.transitions}
    assert arrows["initial", "off"].trigger is None
    assert arrows["on.initial", "on.high"].trigger is None
    guard = arrows["off", "on"].guard
    assert guard is not None
    assert (guard.text, guard.position(6), guard.position(8)) == ("level < 3", (4, 60), (4, 65))
    look = arrows["off", "off"]
    assert look.internal
    (assign,) = look.effects
    assert isinstance(assign, Assign)
    assert assign.text.text == "level = level + 1"
    row = LAMP.split("\n")[5]
    assert assign.text.position(0) == (6, row.index('level"') + 1)
    assert assign.text.position(len("level = ")) == (6, row.index("level + 1") + 1)
    on = next(one for one in lamp.states if one.ident == "on")
    assert on.entry == (Send("press.short", "lamp"),)
    assert [(one.name, one.type.kind) for one in lamp.variables] == [
        ("level", "int"),
        ("warm", "bool"),
    ]
    assert sum(one.trigger is not None for one in lamp.transitions if one.source == "on.high") == 4


@pytest.mark.parametrize("name", ["test144", "test158"])
def test_conformance_documents(name: str) -> None:
    """W3C's tests of the order of raised events."""
    data = shared(f"charts/{name}.scxml")
    assert looks_like_scxml(data)
    (machine,) = read_scxml(data, name).machines
    assert (len(machine.states), len(machine.transitions)) == (5, 7)
    assert [one.kind for one in machine.states].count("final") == 2


@pytest.mark.parametrize(
    ("name", "messages"),
    [
        ("test147", ["the statement <if>"]),
        ("test176", ["`Var2`", "<param>"]),
        ("test179", ["<content>"]),
        ("Probabilistic", ["<data> of line 5 is still open"]),
    ],
)
def test_what_charts_cannot_say(name: str, messages: list[str]) -> None:
    found = complaints(shared(f"charts/{name}.scxml"))
    assert len(found) == len(messages)
    assert all(message in one for message, one in zip(messages, found, strict=True))


@pytest.mark.parametrize(
    ("inside", "message"),
    [
        ("<parallel/>", "parallel states"),
        ("<history/>", "history states"),
        ("<invoke/>", "invoked machines"),
        ('<transition target="c"/>', "there is no state `c`"),
        ('<transition target="a b"/>', "a transition to 2 states"),
        ('<transition event="done.state.a" target="b"/>', "the event `done.state.a`"),
        ('<transition event="x"/><transition target="b"/>', "with and without an event"),
        (
            '<state id="i"><transition event="x"/></state><transition target="b"/>',
            "with and without an event",
        ),
        ('<onentry><raise event="x"/><send event="y"/></onentry>', "both <raise> and <send>"),
        ('<onentry><send event="y" delay="1s"/></onentry>', "<send> with `delay`"),
        ("<onentry><raise/></onentry>", "<raise> without the name"),
        ('<onentry><assign location="x.y" expr="1"/></onentry>', "assignments to `x.y`"),
        ('<initial/><state id="i"/>', "<initial> without a transition"),
        ('<initial><transition target="b"/></initial><state id="i"/>', "is not inside it"),
        ('<final id="f"/><transition event="*" target="b"/>', "`done.state` events happen"),
        (
            '<onexit/><state id="i"/><transition event="x" type="internal" target="i"/>',
            "which has <onentry> or <onexit>",
        ),
        ('<state id="b"/>', "a second state `b`"),
    ],
)
def test_refused(inside: str, message: str) -> None:
    found = complaints(document(inside))
    assert any(message in one for one in found), found
    assert all(one.startswith("m.scxml:2") or message == "a second state `b`" for one in found)


def test_other_documents() -> None:
    assert "the root element is <a>" in complaints("<a/>")[0]
    assert "this is not SCXML" in complaints("<scxml/>")[0]
    assert "has no states" in complaints('<scxml xmlns="http://www.w3.org/2005/07/scxml"/>')[0]
    assert not looks_like_scxml(b"<nta/>")


@given(st.data())
def test_damaged_documents(data: st.DataObject) -> None:
    """A chart, or messages that say where; no other exception."""
    at = data.draw(st.integers(0, len(LAMP)))
    length = data.draw(st.integers(0, 60))
    text = LAMP[:at] + LAMP[at : at + length] * data.draw(st.integers(0, 2)) + LAMP[at + length :]
    files: list[str] = []
    try:
        files.append(read_scxml(text, "x").origin.file)
    except WhenceError as error:
        files += [one.origin.file for one in error.diagnostics]
    assert set(files) == {"x"}
