"""Models from ODX databases: the one that is shared, and what is wrong with others."""

from __future__ import annotations

import zipfile
from fractions import Fraction
from pathlib import Path

import pytest
from tests.formats.can.support import shared

from whence.formats.prd.odx import OdxEcu, read_odx
from whence.model.ecu import Service, Timing
from whence.source import InputError
from whence.triage.ecu_automaton import compile_ecu
from whence.triage.models import load_prd

pytest.importorskip("odxtools", reason="ODX databases need odxtools")


@pytest.fixture
def lazy() -> OdxEcu:
    return read_odx(str(shared("somersault.pdx")), "somersault_lazy")


def service(found: OdxEcu, name: str) -> Service:
    (one,) = [each for each in found.ecu.services if each.name == name]
    return one


def test_one_of_two_variants_has_to_be_chosen() -> None:
    path = str(shared("somersault.pdx"))
    with pytest.raises(InputError, match="2 variants: somersault_lazy, somersault_assiduous"):
        read_odx(path)
    with pytest.raises(InputError, match="`x` is no variant"):
        read_odx(path, "x")
    assert load_prd(path, {"variant": "somersault_assiduous"}).parameters == {
        "variant": "somersault_assiduous"
    }


def test_state_charts_are_variables(lazy: OdxEcu) -> None:
    annoyed, angry = lazy.ecu.variables
    assert (annoyed.name, annoyed.names, annoyed.initial) == (
        "annoyed_chart", ("in_bed", "on_street", "in_park", "at_lunch"), 0,
    )  # fmt: skip
    assert angry.names[-1] == "in_hospital"


def test_messages(lazy: OdxEcu) -> None:
    assert [each.name for each in lazy.ecu.services] == [
        "session_start", "session_stop", "tester_present", "report_status", "do_forward_flips",
    ]  # fmt: skip
    assert service(lazy, "session_start").request.text == "10 00 .."
    flips = service(lazy, "do_forward_flips")
    # The number of flips that were done repeats the one that was asked for.
    assert flips.request.text == "BA .. <asked_2>"
    (done,) = flips.responses
    assert done.text is not None
    assert done.text.text == "FA <answered_1> .."
    assert done.condition is not None
    assert done.condition.text == "(answered_1 == asked_2)"
    # NRC-CONST parameters of one response, a constant of the other.
    assert set(flips.refusals[0].codes) >= {0, 1, 2}


def test_preconditions_and_state_transitions(lazy: OdxEcu) -> None:
    start = service(lazy, "session_start")
    assert [each.condition.text for each in start.preconditions] == ["annoyed_chart in {in_bed}"]
    stop = service(lazy, "session_stop")
    effects = {each.effects.text for each in stop.responses if each.effects is not None}
    assert effects == {
        "annoyed_chart = in_bed; angry_chart = in_bed", "annoyed_chart = in_bed",
        "angry_chart = in_bed",
    }  # fmt: skip


def test_what_the_model_does_not_use_is_told(lazy: OdxEcu) -> None:
    told = {(each.element, each.message.split(":")[0]) for each in lazy.notes}
    assert ("schroedinger", "its request does not begin with a constant byte") in told
    assert ("", "the database says nothing about CP_P2Max") in told


def test_it_compiles_and_times_can_be_given() -> None:
    timing = Timing(p2=Fraction(1, 10), p2_star=Fraction(1))
    found = read_odx(str(shared("somersault.pdx")), "somersault_lazy", timing)
    automaton = compile_ecu(found.ecu)
    assert "await do_forward_flips" in {state.name for state in automaton.states}
    assert not any("CP_P2" in each.message for each in found.notes)


@pytest.mark.parametrize("content", [b"", b"PK", b"PK\x03\x04 garbage"])
def test_broken_databases(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.pdx"
    path.write_bytes(content)
    with pytest.raises(InputError):
        read_odx(str(path))


def test_a_database_without_ecus(tmp_path: Path) -> None:
    path = tmp_path / "a.pdx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("index.xml", "<CATALOG/>")
    with pytest.raises(InputError):
        read_odx(str(path))
