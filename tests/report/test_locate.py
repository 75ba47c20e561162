"""Fault localization as JSON fits its schema; what is said of results without diagnoses."""

from __future__ import annotations

import jsonschema
import pytest

from whence.formats.c.read import read_c
from whence.locate.fault_model import FaultModel
from whence.locate.localize import Localization, Settings, localize
from whence.model.program_test import Expected, Test
from whence.report.locate_json import locate_document, sarif_document
from whence.report.locate_schema import LOCATE
from whence.report.locate_text import locate_text

TEXT = "#define TWO 3\nint a[1];\nint f(int x) {\n    a[x] = 1;\n    return x * TWO;\n}\n"


def located(*cases: tuple[int, int], trusted: bool = False) -> Localization:
    program = read_c(["dir/a file.c"], text=TEXT)
    tests = [
        Test(str(number), (x,), expected=Expected((y,))) for number, (x, y) in enumerate(cases, 1)
    ]
    model = FaultModel(trusted=frozenset({"f"} if trusted else ()), definitions=not trusted)
    return localize(program, "f", tests, Settings(model))


@pytest.mark.parametrize(
    "found",
    [located((0, 0)), located((0, 1)), located((1, 2), (0, 0)), located((0, 1), trusted=True)],
)
def test_json_fits_its_schema(found: Localization) -> None:
    jsonschema.validate(locate_document(found, 0.5, "1"), LOCATE)
    assert sarif_document(found, "1")["runs"][0]["results"] is not None


def test_sarif_places() -> None:
    found = located((1, 2), (0, 0))
    (run,) = sarif_document(found, "1")["runs"]
    uris = {
        place["physicalLocation"]["artifactLocation"]["uri"]
        for result in run["results"]
        for place in (*result["locations"], *result.get("relatedLocations", ()))
    }
    assert uris == {"dir/a%20file.c"}
    said = {
        place["message"]["text"]
        for result in run["results"]
        for place in (*result["locations"], *result.get("relatedLocations", ()))
        if "message" in place
    }
    assert {"macro `TWO`", "the size of `a`"} <= said


def test_words() -> None:
    text = "\n".join(part.plain for part in locate_text(located((0, 1), trusted=True), {}, 0.0))
    assert "1 of 1 test fails; no place was found." in text
    assert "No change of the places that can be faulty makes these tests pass: 1." in text
