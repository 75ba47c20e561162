"""Causes as JSON, text and HTML."""

from __future__ import annotations

from pathlib import Path

import jsonschema
import pytest
from rich.console import Console

import whence
from whence.api import System
from whence.causes.results import CausesResult
from whence.report.causes_json import causes_document, comparison_document
from whence.report.causes_schema import CAUSES, COMPARISON
from whence.report.causes_text import causes_text
from whence.report.causes_words import absent_words, is_partial

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture(scope="module")
def system() -> System:
    return whence.load_system(EXAMPLES / "railroad.yaml")


@pytest.fixture(scope="module")
def result(system: System) -> CausesResult:
    return system.causes(non_occurrence=1)


def test_documents_fit_their_schema(system: System, result: CausesResult) -> None:
    jsonschema.validate(causes_document(result, "1"), CAUSES)
    jsonschema.validate(causes_document(system.causes("false"), "1"), CAUSES)
    jsonschema.validate(causes_document(system.causes(depth=5), "1"), CAUSES)
    jsonschema.validate(comparison_document(result, result, "1"), COMPARISON)


def test_text(result: CausesResult) -> None:
    console = Console(width=100, no_color=True)
    with console.capture() as capture:
        console.print(causes_text(result))
    text = capture.get()
    assert "no Cl after Cc before Tc" in text
    assert "whenever its events happen in its order" in text


def test_words(system: System, result: CausesResult) -> None:
    assert {absent_words(absent) for cause in result.causes for absent in cause.absent} == {
        "no Cl after Cc before Tc",
        "no Tl after Tc before Cc",
        "no Tl after Go#2 before Cc",
    }
    assert is_partial(result) == ""
    assert "up to 5 events" in is_partial(system.causes(depth=5))


def test_page(system: System, result: CausesResult) -> None:
    """Each cause has its row, its gate and a run on the machines."""
    text = system.report(result)
    for cause in result.causes:
        assert f'id="cause-{cause.ident}"' in text
    assert text.count("One of its runs") == len(result.causes)
    assert "send gateClose to Gate" in text
    assert "<script" in text
    assert "http://" not in text.replace("http://www.w3.org", "")


def test_hostile_names_stay_text() -> None:
    name = "<script>alert(1)</script>"
    edges = [(0, name, 1)]
    system = System(whence.TransitionSystem.from_edges(edges, 0, [1]))
    assert name not in system.report(system.causes())
