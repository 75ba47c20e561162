"""Fault localization as JSON, SARIF and a page; what is said of results without diagnoses."""

from __future__ import annotations

from collections.abc import Mapping

import jsonschema
import pytest
from tests.report.sarif_schema import SARIF
from tests.report.support import EVIL
from tests.report.test_html import Page

from whence.formats.c.read import read_c
from whence.locate.fault_model import FaultModel
from whence.locate.fixes import with_fixes
from whence.locate.interpreter import Interpreter
from whence.locate.lines import line_spectra
from whence.locate.localize import Localization, Settings, localize, options_for
from whence.locate.observations import expect
from whence.model.program import Program
from whence.model.program_test import Expected, Test
from whence.report.locate_html import locate_report
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


def a_page(text: str, wrong: str, name: str = "a file.c") -> str:
    """The report of a program that is to do what `text` does."""
    model = FaultModel()
    program = read_c([name], text=wrong)
    golden = Interpreter(read_c(["right.c"], text=text), options_for(model))
    cases = [Test(f"{EVIL}{x}", (x,)) for x in range(-2, 30)]
    tests, _ = expect(golden, "f", cases)
    found = localize(program, "f", tests, Settings(model))

    def reread(texts: Mapping[str, str]) -> Program:
        return read_c([name], text=texts.get(name, wrong))

    found = with_fixes(found, program, model, {name: wrong.encode()}, reread)
    spectra = line_spectra(program, found.ran)
    return locate_report(found, {name: wrong.split("\n")}, spectra, 0.25, "1.2", 2)


def test_page() -> None:
    right = "#define TWO 2 /* \u00e9 */\nint f(int x)\n{\n    if (x < TWO) /* <b> */\n"
    right += "        return x;\n    return 7;\n}\n"
    text = a_page(right, right.replace("x < TWO", "x <= TWO"))
    page = Page(text)
    assert "1 of 32 tests fails" in page.text("h1")
    assert page.texts["del"][0] == "-    if (x <= TWO) /* <b> */"
    assert page.texts["ins"][0] == "+    if (x < TWO) /* <b> */"
    assert "x <= TWO" in page.text("mark")
    anchors = {values["id"] for each in page.tags.values() for values in each if "id" in values}
    links = [values["href"] for values in page.tags["a"]]
    assert links
    assert {str(link)[1:] for link in links} <= anchors
    # The line is executed by all tests, and by the one that fails.
    (row,) = [each for each in text.split("<tr") if 'id="line-1-4"' in each]
    assert '<td class="n">1</td><td class="n">31</td>' in row
    # Everything that scrolls can be reached with the keyboard.
    for values in (*page.tags["div"], *page.tags["pre"]):
        if values.get("class") in ("source", "wide", "diff"):
            assert values["tabindex"] == "0"


def test_pages_without_diagnoses() -> None:
    text = "int f(int x) { return x; }\n"
    assert "All 32 tests pass." in Page(a_page(text, text)).text("h1")


def test_nothing_breaks_out_of_the_page() -> None:
    right = 'char *s = "</script><img src=x>";\nint f(int x) { return x + 1; }\n'
    page = Page(a_page(right, right.replace("+", "-"), name="a<b>&.c"))
    assert "img" not in page.tags
    assert len(page.tags["script"]) == 1


def test_sarif_fits_its_schema() -> None:
    right = "int f(int x) { int y = x + 1; return y; }\n"
    model = FaultModel()
    wrong = right.replace("+", "-")
    program = read_c(["a file.c"], text=wrong)
    tests = [Test(str(x), (x,), expected=Expected((x + 1,))) for x in range(4)]
    found = localize(program, "f", tests, Settings(model))
    fixed = with_fixes(
        found,
        program,
        model,
        {"a file.c": wrong.encode()},
        lambda texts: read_c(["a file.c"], text=texts.get("a file.c", wrong)),
    )
    for each in (located((0, 0)), located((1, 2), (0, 0)), located((0, 1), trusted=True), fixed):
        jsonschema.validate(sarif_document(each, "1"), SARIF)
    jsonschema.validate(locate_document(fixed, 0.5, "1"), LOCATE)
    (run,) = sarif_document(fixed, "1")["runs"]
    (change,) = run["results"][0]["fixes"][0]["artifactChanges"]
    (replacement,) = change["replacements"]
    assert replacement["insertedContent"] == {"text": "+"}
    assert replacement["deletedRegion"]["startColumn"] == wrong.index("-") + 1
    document = sarif_document(fixed, "1")
    for wrong_part in ({"level": "bad"}, {"rank": 101}, {"message": {}}, {"colour": 1}):
        document["runs"][0]["results"][0] = {**run["results"][0], **wrong_part}
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(document, SARIF)
