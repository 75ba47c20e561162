"""Models and shorthands that several tests of the room share."""

from __future__ import annotations

from pathlib import Path

import pytest

import whence
from whence.api import Model
from whence.formats.uppaal.write import replace_texts
from whence.timing.results import Repair

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"


def example(name: str) -> Model:
    return whence.load(EXAMPLES / name)


def shared(name: str) -> Model:
    """A model made elsewhere; a clone of the project alone does not have it."""
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"the shared data is not there: {name}")
    return whence.load(path)


def told(repair: Repair) -> tuple[str, ...]:
    return tuple(f"{change.before} -> {change.after}" for change in repair.changes)


def fischer(processes: int, invariant: str = "x <= 3") -> Model:
    """Fischer's protocol as in the thesis' figure 9.2: `x <= 2` would be right."""
    return whence.load_text(
        f"""<nta><declaration>int[0,{processes}] id = 0; typedef int[1,{processes}] pid_t;
        </declaration><template><name>P</name><parameter>const pid_t pid</parameter>
        <declaration>clock x;</declaration>
        <location id="a"><name>start</name></location>
        <location id="b"><name>req</name>
          <label kind="invariant">{invariant.replace("<", "&lt;")}</label></location>
        <location id="c"><name>wait</name></location>
        <location id="d"><name>cs</name></location><init ref="a"/>
        <transition><source ref="a"/><target ref="b"/><label kind="guard">id == 0</label>
          <label kind="assignment">x = 0</label></transition>
        <transition><source ref="b"/><target ref="c"/>
          <label kind="assignment">x = 0, id = pid</label></transition>
        <transition><source ref="c"/><target ref="b"/><label kind="guard">id == 0</label>
          <label kind="assignment">x = 0</label></transition>
        <transition><source ref="c"/><target ref="d"/>
          <label kind="guard">x &gt; 2 &amp;&amp; id == pid</label></transition>
        <transition><source ref="d"/><target ref="a"/>
          <label kind="assignment">id = 0</label></transition>
        </template><system>system P;</system><queries><query><formula>
        A[] forall (i : pid_t) forall (j : pid_t) (P(i).cs and P(j).cs imply i == j)
        </formula></query></queries></nta>""",
        "fischer.xml",
    )


def slow_heart() -> Model:
    """The pacemaker with the invariant of the heart's longest period raised from 400 to 1600."""
    model = shared("uppaal/tartar/6Pacemaker.xml")
    label = next(
        label.source
        for template in model.document.templates
        for location in template.locations
        for label in location.labels
        if label.kind == "invariant" and label.source.text == "clk<=TURI"
    )
    place = label.origin(0, len(label.text))
    return Model(replace_texts(model.document, [(place, "clk<=1600")]))
