"""From the requirements in a file and a simulated ECU on a virtual bus to its two faults."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.formats.can.support import shared
from tests.triage.small_pdx import write_pdx

from whence.api.triage import triage
from whence.formats.can.addresses import parse_pair
from whence.formats.logs import read_trace
from whence.model.ecu import Timing
from whence.triage.explain import analyse
from whence.triage.models import load_prd
from whence.triage.traces import traces_of

ROOT = Path(__file__).resolve().parents[2]


def simulation() -> Any:
    for package in ("can", "isotp", "udsoncan"):
        pytest.importorskip(package, reason=f"the simulation needs {package}")
    from tests.triage import uds_server

    return uds_server


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> str:
    parts = simulation()
    path = str(tmp_path_factory.mktemp("bus") / "ecu.log")
    with parts.bench(path, parts.Server()) as client:
        parts.drive(client)
    return path


def test_the_two_faults_are_found_and_explained(log: str) -> None:
    # The machine that runs this may be busy: times are not what is tested.
    model = load_prd(str(ROOT / "examples" / "ecu_requirements.yaml"), timing=Timing(p2=None))
    (trace,) = traces_of(read_trace(log))
    found = [
        (fault, [trace.events[at].label for at in explanation.events])
        for fault, explanations in analyse(model.automaton, trace)
        for explanation in explanations
    ]
    (kept, because), (answered, _) = found
    assert kept.requirements == ("DAT-1",)
    assert kept.kind == "value"
    assert because[-2:] == ["req ReadDataByIdentifier", "res ReadDataByIdentifier"]
    assert not {"req SecurityAccess", "req WriteDataByIdentifier"} & {*because}
    assert answered.kind == "unexpected"
    assert answered.event is not None
    assert answered.event.label == "res TesterPresent"


def test_all_that_was_said_is_in_the_log(log: str) -> None:
    events = read_trace(log).events
    assert [event.kind for event in events].count("request") == 10
    assert not [event for event in events if event.kind == "error"]


def test_a_night_of_tests_is_two_classes(tmp_path: Path) -> None:
    """From a database and a simulated ECU to classes: five tests fail, for two reasons."""
    pytest.importorskip("odxtools", reason="ODX databases need odxtools")
    parts = simulation()
    database = write_pdx(tmp_path / "lamp.pdx")
    tests = {"a": (7, True), "b": (200, False), "c": (50, False), "d": (9, True), "e": (120, False),
             "f": (33, True)}  # fmt: skip
    (tmp_path / "logs").mkdir()
    for name, (level, forgotten) in tests.items():
        with parts.bench(str(tmp_path / "logs" / f"{name}.log"), parts.Lamp()) as client:
            parts.light(client, level, forgotten)
    # Different levels are different events.
    assert len(triage(database, [tmp_path / "logs"], pairs=["7E0:7E8"]).classes) == 5
    found = triage(database, [tmp_path / "logs"], pairs=["7E0:7E8"], group="events")
    names = {
        tuple(found.traces[found.faults[n].trace].name for n in each.members): each
        for each in found.classes
    }
    assert names.keys() == {("a.log", "d.log", "f.log"), ("b.log", "e.log")}
    assert [trace.name for trace in found.of_verdict("conforming")] == ["c.log"]
    told = {each.kind: each.expected for each in found.classes}
    assert "neg" in told["unexpected"]
    assert "answered_2 == set_lamp.asked_2" in told["value"]
    for each in found.classes:
        shown = [event.label for event in each.case.events if event.role in ("relevant", "fault")]
        assert shown[-1] == "res WriteDataByIdentifier"
        assert "req TesterPresent" not in shown


def test_the_model_of_a_database(tmp_path: Path) -> None:
    """The same on the model that an ODX database makes."""
    pytest.importorskip("odxtools", reason="ODX databases need odxtools")
    database = str(shared("somersault.pdx"))
    parts = simulation()
    path = str(tmp_path / "ecu.log")
    with parts.bench(path, parts.Flipping()) as client:
        parts.flip(client)
    model = load_prd(database, {"variant": "somersault_lazy"})
    (trace,) = traces_of(read_trace(path, [parse_pair("7E0:7E8")]))
    wrong = [trace.events[fault.index].fields["payload"] for fault, _ in
             analyse(model.automaton, trace) if fault.index is not None]  # fmt: skip
    assert wrong == [b"\xfa\x06\x09", b"\x7e\x00"]
