"""Pages and files of suites and runs: what stands in them, and that names do no harm."""

from __future__ import annotations

import csv
import io
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser

import jsonschema
import pytest

from whence.formats.events.read import plain_format_of
from whence.model.chart import Requirement
from whence.model.suite import Expected, GoalResult, Input, Suite, TestCase
from whence.model.test_run import Drift, Seen, SuiteRun, TestRun, requirement_verdicts
from whence.report.run_files import junit, matrix_csv, trace_text
from whence.report.run_html import run_page
from whence.report.run_json import one_run_document, one_run_of, run_document
from whence.report.run_schema import RUN
from whence.report.run_words import coverage_rows, headline
from whence.report.suite_html import suite_page
from whence.report.waves import Wave, draw_waves

EVIL = '<script>alert("1")</script>\x00\x1b[31m]]>&\u202e'
FIRST = TestCase(
    ident="test_001",
    inputs=(Input(0, EVIL, "1"), Input(20, EVIL, "2")),
    expected=(Expected(0, "o", "false", 50), Expected(20, "o", "true", 50)),
    end=90,
    goals=("state A",),
    requirements=("R1", EVIL),
)
SECOND = TestCase(
    ident="test_002", inputs=(), expected=(), end=10, goals=("state B",), requirements=("R1",)
)
SUITE = Suite(
    model=EVIL,
    file=EVIL,
    hash="0" * 64,
    seed=0,
    goals=(
        GoalResult(ident="state A", kind="state", status="covered", test="test_001", time=20),
        GoalResult(ident="state B", kind="state", status="covered", test="test_002", time=5),
        GoalResult(ident=EVIL, kind="user", status="open", reason=EVIL),
    ),
    tests=(FIRST, SECOND),
    requirements=(
        Requirement(ident="R1", text="one"),
        Requirement(ident=EVIL, text=EVIL),
        Requirement(ident="R3", text="three"),
    ),
)
FAILED = TestRun(
    test="test_001",
    verdict="fail",
    time=20,
    reason=EVIL,
    seen=(Seen(0, EVIL, "1", True), Seen(0, "o", "false", False), Seen(20, "o", "-3", False)),
    requirements=FIRST.requirements,
    goals=FIRST.goals,
    drift=Drift(0.001, 0.0005),
)
PASSED = TestRun(
    test="test_002",
    verdict="pass",
    time=10,
    requirements=SECOND.requirements,
    goals=SECOND.goals,
)
RUN_ = SuiteRun(suite=SUITE, system=EVIL, runs=(FAILED, PASSED), hash="0" * 64, notes=(EVIL,))


class Elements(HTMLParser):
    """The elements of a page, and how many are not closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.open: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.found.append(tag)
        if tag not in ("meta", "input", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        self.found.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("page", [run_page(RUN_, "1.0"), suite_page(SUITE, "1.0")])
def test_pages_are_whole_and_names_do_no_harm(page: str) -> None:
    elements = Elements(page)
    assert elements.open == []
    # Ours is one, with its hash in the page's policy.
    assert elements.found.count("script") == 1
    assert "<script>alert" not in page
    for bad in "\x00\x1b\u202e":
        assert bad not in page
    assert page.count("<svg") == 2


def test_what_is_said() -> None:
    assert headline(RUN_) == "1 of 2 tests fails, 1 passes"
    verdicts = {one.ident: one.verdict for one in requirement_verdicts(SUITE, RUN_.runs)}
    assert verdicts == {"R1": "fail", EVIL: "fail", "R3": "untested"}
    only = requirement_verdicts(SUITE, (PASSED,))
    assert [one.verdict for one in only] == ["inconclusive", "untested", "untested"]
    rows = [(row.kind, row.goals, row.run, row.passed) for row in coverage_rows(RUN_)]
    assert rows == [("state", 2, 2, 1), ("user", 1, 0, 0)]


def test_json() -> None:
    document = run_document(RUN_, "1.0")
    jsonschema.validate(document, RUN)
    assert document["summary"] == {"fail": 1, "error": 0, "inconclusive": 0, "pass": 1}
    for run in RUN_.runs:
        assert one_run_of(one_run_document(run)) == run


def test_files_for_other_tools() -> None:
    root = ElementTree.fromstring(junit(RUN_))
    cases = root.findall("testsuite/testcase")
    assert [case.find("failure") is not None for case in cases] == [True, False]
    assert root.attrib["failures"] == "1"
    rows = list(csv.reader(io.StringIO(matrix_csv(RUN_))))
    assert rows[0] == ["requirement", "verdict", "test_001", "test_002", "text"]
    assert rows[1] == ["R1", "fail", "fail", "pass", "one"]
    assert rows[3] == ["R3", "untested", "", "", "three"]
    text = trace_text(FAILED, "a system")
    assert plain_format_of(text.encode()) is not None
    assert "20 other outputs o=-3" in text
    assert text.splitlines()[-1].startswith("20 ! fail")


def test_waves() -> None:
    truth = Wave("b", ((0, "false"), (10, "true"), (30, "false")), given=False)
    picture = draw_waves((truth, Wave("i", ((0, "7"), (20, "8")), given=True)), 40, 30)
    assert picture.count('class="mark"') == 1
    assert picture.count("<path") == 3
    assert ">7</text>" in picture
    assert ">40 ms</text>" not in picture  # there is no room for it
    # Nothing to show is no error.
    assert draw_waves((), 0).startswith("<svg")
    assert draw_waves((Wave("x", (), given=True),), 0)
