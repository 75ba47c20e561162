"""Reads state machines of UML and SysML from XMI: Eclipse UML2 and Papyrus (`.uml`), Cameo and
MagicDraw (`.xml`, `.xmi`, `.mdzip`), RT-Tester's exports.  What becomes what is in docs/xmi.md.

=========================  ===============================================================
:mod:`.xmi_container`      archives
:mod:`.xmi_tree`           elements, identities, references, stereotypes: the dialects
:mod:`.xmi_marks`          rates, failures, requirements
:mod:`.xmi_components`     which machines run: classes, parts, ports
:mod:`.xmi_signals`        the kinds of messages
:mod:`.xmi_targets`        whom they are for
:mod:`.xmi_variables`      attributes as variables
:mod:`.xmi_behaviours`     guards, effects, activities
:mod:`.xmi_events`         what transitions wait for
:mod:`.xmi_machines`       states and transitions
:mod:`.xmi_goals`          goals of tests
:mod:`.xmi_chart`          all of it together
=========================  ===============================================================
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from whence.formats.charts.xmi_chart import chart_of
from whence.formats.charts.xmi_container import is_archive, looks_like_uml, unpacked
from whence.formats.charts.xmi_marks import requirements_of
from whence.formats.charts.xmi_problems import Problems
from whence.formats.charts.xmi_tree import Model, read_model
from whence.formats.markup import read_bytes
from whence.model.chart import Chart

__all__ = ["XmiContents", "contents_of_xmi", "looks_like_xmi", "read_xmi", "read_xmi_file"]


@dataclass(frozen=True, slots=True)
class XmiContents:
    """How many elements of UML a file has, submachines and unused ones included.  A chart may
    have fewer machines, as submachines are put in their places, and more states and transitions,
    as this may be in several."""

    machines: int
    states: int
    pseudostates: int
    transitions: int
    signals: int
    requirements: int
    #: Links from an element to a requirement that it satisfies.
    links: int


def looks_like_xmi(data: bytes) -> bool:
    """Whether a file is XMI, or an archive that may have a model in it."""
    return is_archive(data) or looks_like_uml(data)


def _model(text: bytes | str, file: str, problems: Problems) -> Model:
    if isinstance(text, bytes) and is_archive(text):
        text, file = unpacked(text, file)
    return read_model(text, file, problems)


def read_xmi(text: bytes | str, file: str) -> Chart:
    """All state machines of the active classes of a model; `notes` of the chart say what was left
    out. `file` is the file's name in messages."""
    problems = Problems()
    chart = chart_of(_model(text, file, problems), problems)
    return replace(chart, notes=problems.finish())


def read_xmi_file(path: Path | str) -> Chart:
    return read_xmi(read_bytes(path), str(path))


def contents_of_xmi(text: bytes | str, file: str) -> XmiContents:
    """What is in a file, whether or not it can become a chart."""
    problems = Problems()
    model = _model(text, file, problems)
    elements = [one for one in model.everything() if not model.is_reference(one.node)]

    def count(*kinds: str) -> int:
        return sum(one.kind in kinds for one in elements)

    requirements = requirements_of(model, problems)
    return XmiContents(
        machines=count("StateMachine"),
        states=count("State", "FinalState"),
        pseudostates=count("Pseudostate"),
        transitions=count("Transition"),
        signals=count("Signal"),
        requirements=len(requirements.all),
        links=len(requirements.links),
    )
