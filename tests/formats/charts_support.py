"""Small models in XMI, and the places of their texts, for the tests of the chart readers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from whence.formats.charts.xmi import read_xmi
from whence.model.chart import Assign, Chart, Machine
from whence.source import InputError, SourceText

SAMPLES = Path(__file__).parent / "samples" / "charts"
SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "data"


def shared(name: str) -> bytes:
    """A file made elsewhere; a clone of the project alone does not have it."""
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"the shared data is not there: {name}")
    return path.read_bytes()


HEAD = (
    '<xmi:XMI xmi:version="20131001" xmlns:xmi="http://www.omg.org/spec/XMI/20131001"'
    ' xmlns:p="http://example.org/profile" xmlns:uml="http://www.eclipse.org/uml2/5.0.0/UML">'
    '<uml:Model xmi:id="M" name="M">\n'
)


def model(elements: str, applications: str = "") -> str:
    """A file with these elements in its model, and these stereotypes beside it."""
    return f"{HEAD}{elements}\n</uml:Model>\n{applications}\n</xmi:XMI>"


def machine(region: str, more: str = "") -> str:
    """A model with one state machine: a signal `go`, its event, an initial state, and a region."""
    return model(
        '<packagedElement xmi:type="uml:Signal" xmi:id="go" name="go"/>'
        '<packagedElement xmi:type="uml:SignalEvent" xmi:id="on-go" signal="go"/>'
        '<packagedElement xmi:type="uml:StateMachine" xmi:id="sm" name="Unit">'
        '<region xmi:id="r"><subvertex xmi:type="uml:Pseudostate" xmi:id="i"/>'
        '<transition xmi:id="t0" source="i" target="a"/>'
        f'<subvertex xmi:type="uml:State" xmi:id="a" name="A"/>\n{region}\n</region>'
        f"</packagedElement>\n{more}"
    )


def state(ident: str, inside: str = "", more: str = "") -> str:
    tag = f'<subvertex xmi:type="uml:State" xmi:id="{ident}" name="{ident.upper()}" {more}>'
    return f"{tag}{inside}</subvertex>"


def pseudo(ident: str, kind: str) -> str:
    return f'<subvertex xmi:type="uml:Pseudostate" xmi:id="{ident}" name="{ident}" kind="{kind}"/>'


def arrow(ident: str, ends: str, inside: str = "", more: str = "") -> str:
    source, target = ends.split(">")
    return (
        f'<transition xmi:id="{ident}" source="{source}" target="{target}" {more}>'
        f"{inside}</transition>"
    )


def guard(text: str, language: str = "") -> str:
    return (
        '<guard xmi:type="uml:Constraint"><specification xmi:type="uml:OpaqueExpression">'
        f"<language>{language}</language><body>{text}</body></specification></guard>"
    )


def effect(text: str, role: str = "effect", language: str = "") -> str:
    return (
        f'<{role} xmi:type="uml:OpaqueBehavior"><language>{language}</language>'
        f"<body>{text}</body></{role}>"
    )


TRIGGER = '<trigger event="on-go"/>'


def only(text: str) -> Machine:
    (found,) = read_xmi(text, "m.uml").machines
    return found


def complaints(text: str | bytes, file: str = "m.uml") -> list[str]:
    """What is wrong with it, each with its line and column."""
    with pytest.raises(InputError) as caught:
        read_xmi(text, file)
    return [f"{one.origin}: {one.message}" for one in caught.value.diagnostics]


def texts(chart: Chart) -> Iterator[SourceText]:
    for variable in chart.variables:
        if variable.initial is not None:
            yield variable.initial
    for found in chart.machines:
        for variable in found.variables:
            if variable.initial is not None:
                yield variable.initial
        effects = [one for part in found.states for one in (*part.entry, *part.exit, *part.do)]
        for transition in found.transitions:
            effects += transition.effects
            if transition.guard is not None:
                yield transition.guard
        for one in effects:
            if isinstance(one, Assign):
                yield one.text
