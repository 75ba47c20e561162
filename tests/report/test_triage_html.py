"""The page of `whence triage`: what a reader finds, that no name in a log breaks out of it, and
what the script is given."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any, TypeVar
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest
from benchmarks.ecu_requirements import requirements
from benchmarks.triage_study import study, write
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cli.support import EXAMPLES
from tests.report.support import (
    EVIL,
    assert_nothing_cut_off,
    overlapping_texts,
    parsed,
    with_class,
    words,
)
from tests.report.test_html import Page

from whence.api.triage import save, triage
from whence.report.triage_html import triage_report
from whence.report.triage_lists import PAGE
from whence.report.triage_sequence import draw_case
from whence.report.triage_story import CaseStory, line_of, tell_case
from whence.source import Diagnostic, Origin
from whence.triage.findings import FaultClass, FoundMark, FoundTrace, KnownClass, Triage
from whence.triage.models import PrdModel

MODEL, LOGS = EXAMPLES / "prd_paper.yaml", EXAMPLES / "prd_paper"
#: What is set is not what is returned.
WRONG = """%unit ms
0 req @CTR set value=5
1 res @CTR ack value=5
2 req @CTR get
3 res @CTR ret value=7
"""
_T = TypeVar("_T")


@cache
def paper(*names: str) -> Triage:
    """Becker et al., Tests 1 to 3, or some of them."""
    return triage(MODEL, [LOGS / f"{name}.events" for name in names] or [LOGS])


@cache
def of_study() -> Triage:
    """Becker et al., section 7."""
    with TemporaryDirectory() as folder:
        write(study(), Path(folder))
        (Path(folder) / "diary.log").write_text("Dear diary,\n")
        model = PrdModel(automaton=requirements(), requirements={}, parameters={})
        return triage(model, [folder])


def story_of(found: Triage, number: int = 0) -> CaseStory:
    each = found.classes[number]
    trace = found.faults[each.representative].trace
    return tell_case(each.case, [mark for mark in found.marks if mark.trace == trace])


def drawn(story: CaseStory) -> ElementTree.Element:
    return parsed(draw_case(story, "what it shows"))


class Tables(HTMLParser):
    """The rows of all tables, as texts of cells, by the class or the list that they belong to."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tables: list[list[list[str]]] = []
        self.data = ""
        self.in_data = self.in_cell = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
            self.in_cell = True
        self.in_data = ("type", "application/json") in attrs

    def handle_endtag(self, tag: str) -> None:
        self.in_data = False
        self.in_cell = self.in_cell and tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        if self.in_data:
            self.data += data
        elif self.in_cell:
            self.tables[-1][-1][-1] += data

    def with_heads(self, *heads: str) -> list[list[list[str]]]:
        return [
            table[1:] for table in self.tables
            if tuple(cell.strip() for cell in table[0][: len(heads)]) == heads
        ]  # fmt: skip


def given_to_script(text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Tables(text).data)
    return found


# ---------------------------------------------------------------------------- what a reader finds


def test_the_paper_on_a_page() -> None:
    text = triage_report(paper(), "1.2")
    page = Page(text)
    assert page.text("h1") == "3 traces, 3 faulty: 3 faults in 2 classes."
    assert {"3", "2"} <= set(page.texts["dd"])
    assert page.text("p").count("get returns the value of the latest set.") == 2
    sections = [at["id"] for at in page.tags["section"]]
    assert sections == [f"class-{each.ident}" for each in paper().classes]
    assert {at["href"] for at in page.tags["a"]} >= {f"#{ident}" for ident in sections}
    tables = Tables(text)
    (classes,) = tables.with_heads("#", "Faults", "Violated")
    assert [(row[1], row[2], row[3], row[4]) for row in classes] == [
        ("2", "GET-1", "wrong value", "res CTR ret value=0"),
        ("1", "GET-1", "wrong value", "res CTR ret value=5"),
    ]
    # Figure 4: the three constraints, and how long they take in Test-1.
    first, _ = tables.with_heads("", "Constraint", "Here")
    assert [row[1:] for row in first] == [
        ["u2 + u3 < 50 ms", "23 ms", "holds"],
        ["clk + u2 + u3 < 50 ms", "clock + 23 ms", "holds"],
        ["clk + u3 < 50 ms", "clock + 8 ms", "holds"],
    ]
    accepted, other = tables.with_heads("", "Event", "Values")
    assert [row[2:4] for row in other] == [["", "after 4 ms"], ["val == ctx (0)", "at any time"]]
    assert [(row[0], row[2], row[3]) for row in accepted] == [
        ("observed", "", "after 8 ms"),
        ("accepted", "val == ctx (0)", "from 35 ms on"),
        ("accepted", "val == ctx (5)", "before 40 ms"),
    ]
    members, _ = tables.with_heads("Log", "Time", "Fault")
    assert [row[:3] for row in members] == [
        ["test_1.events:7", "0.04 s", "1 of 1, event 3"],
        ["test_2.events:9", "0.042 s", "1 of 1, event 5"],
    ]


def test_what_does_not_matter_is_dimmed() -> None:
    """Test-2: the log and its response; they stand within the 24 ms that count."""
    story = story_of(paper("test_2"))
    roles = [(row.kind, row.role) for row in story.rows if row.kind != "start"]
    assert roles == [
        *[("event", "relevant")] * 2, *[("event", "irrelevant")] * 2, ("event", "relevant"),
        ("event", "fault"), ("accepted", "fault"),
    ]  # fmt: skip
    assert [each.text for each in story.measures[2:]] == ["u2 = 24 ms", "u3 = 3 ms"]
    measure = story.measures[2]
    assert story.rows[measure.first].text == "res CTR ack value=5"
    assert story.rows[measure.last].text == "req CTR get"
    spans = {each.text: (each.first, each.last, each.here) for each in story.brackets}
    get, ret = measure.last, measure.last + 1
    assert spans == {
        "u2 + u3 < 50 ms": (measure.first, ret, Fraction(27, 1000)),
        "clk + u2 + u3 < 50 ms": (measure.first, ret, Fraction(27, 1000)),
        "clk + u3 < 50 ms": (get, ret, Fraction(3, 1000)),
    }
    root = drawn(story)
    assert len(with_class(root, "irrelevant")) == 2
    assert len(with_class(root, "bracket")) == 3
    assert len(with_class(root, "life")) == 2
    assert len(with_class(root, "cross")) == 2


def test_messages_point_from_the_tester_to_the_ecu_and_back() -> None:
    root = drawn(story_of(paper("test_1")))
    tester, ecu = (float(at.attrib["points"].split(",")[0]) for at in with_class(root, "life"))
    tips = [
        [float(point.split(",")[0]) for point in with_class(at, "tip")[0].attrib["points"].split()]
        for at in with_class(root, "event")
    ]
    assert [tip[0] for tip in tips] == [ecu, tester, ecu, tester]
    assert all(tester <= x <= ecu for tip in tips for x in tip)


def test_the_study_on_a_page() -> None:
    """Becker et al., section 7: six classes, 95 faults marked, ten found by the model only."""
    found = of_study()
    text = triage_report(found, "1.2")
    page, tables = Page(text), Tables(text)
    assert page.text("h1").startswith("87 traces, 86 faulty: 105 faults in 6 classes.")
    numbers = dict(zip(page.texts["dt"], page.texts["dd"], strict=True))
    assert numbers == {
        "conforming": "0", "faulty": "86", "broken": "1", "faults": "105", "classes": "6",
        "model and environment": "95", "model only": "10", "environment only": "5",
    }  # fmt: skip
    (classes,) = tables.with_heads("#", "Faults")
    assert [row[1] for row in classes] == ["91", "8", "2", "2", "1", "1"]
    assert [row[6] for row in classes] == [
        "91 of 91", "0 of 8", "2 of 2", "2 of 2", *sorted([classes[4][6], classes[5][6]]),
    ]  # fmt: skip
    (marks,) = tables.with_heads("Log", "Mark")
    assert len(marks) == 5
    assert all("the fault is 1 event later" in row[2] for row in marks)
    ((broken,),) = tables.with_heads("Log", "Reason")
    assert broken[:2] == ["diary.log", "not a log that whence knows"]
    assert "1 event is" not in text


def test_marks_of_the_environment_have_a_lifeline() -> None:
    found = of_study()
    # The first class is marked at its faults; of the second some are said to be missing before.
    first, second = story_of(found), story_of(found, 1)
    assert [(row.role, "FAILED" in row.text) for row in first.rows if row.kind == "mark"] == [
        ("fault", True)
    ]
    (early,) = [row for row in second.rows if row.kind == "mark"]
    assert (early.role, "no response" in early.text) == ("context", True)
    assert len(with_class(drawn(first), "life")) == 3


@pytest.mark.parametrize("number", range(6))
def test_diagrams_are_whole_and_legible(number: int) -> None:
    root = drawn(story_of(of_study(), number))
    assert_nothing_cut_off(root)
    assert overlapping_texts(root) == []
    assert "tester" in words(root)


def test_a_drawing_that_stands_alone_says_what_its_brackets_mean() -> None:
    alone = parsed(draw_case(story_of(paper("test_2")), "a fault", standalone=True))
    assert_nothing_cut_off(alone)
    assert overlapping_texts(alone) == []
    assert "a u2 + u3 < 50 ms b clk + u2 + u3 < 50 ms c clk + u3 < 50 ms" in words(alone)


def test_many_events_are_folded_with_their_time() -> None:
    story = story_of(of_study(), 1)
    (fold,) = [row for row in story.rows if row.kind == "fold"]
    events = [e for e in of_study().classes[1].case.events if e.role == "irrelevant"]
    assert fold.text.startswith(f"{len(events)} events that make no difference, in ")
    assert fold.line == events[0].line


def test_the_end_of_a_trace(tmp_path: Path) -> None:
    log = tmp_path / "cut.events"
    log.write_text("%unit ms\n0 req @CTR set value=5\n")
    story = story_of(triage(MODEL, [log]))
    assert [row.kind for row in story.rows] == ["start", "event", "end", "accepted"]
    assert story.measures[-1].last == 2
    assert "the end of the trace" in words(drawn(story))


def test_where_events_are_drawn() -> None:
    labels = ("req A", "res A", "neg A", "pend A", "err", "other power on")
    assert [line_of(label) for label in labels] == [
        "request", "response", "response", "response", "ecu", "environment",
    ]  # fmt: skip


def test_new_known_and_gone() -> None:
    found = paper()
    one, other = found.classes
    gone = KnownClass(
        "0123", 7, "late", (), (), ("R-1",), "expected then", "seen then", one.first, one.last
    )
    found = replace(
        found,
        compared=True,
        classes=(replace(one, status="known"), replace(other, status="new")),
        gone=(gone,),
    )
    text = triage_report(found, "1.2")
    page = Page(text)
    numbers = dict(zip(page.texts["dt"], page.texts["dd"], strict=True))
    assert (numbers["new"], numbers["known"], numbers["gone"]) == ("1", "1", "1")
    (classes,) = Tables(text).with_heads("#", "Faults", "Status")
    assert [row[2] for row in classes] == ["known", "new"]
    ((row,),) = Tables(text).with_heads("Class", "Violated")
    assert row[2:4] == ["seen then", "expected then"]


def test_pages_without_faults(tmp_path: Path) -> None:
    log = tmp_path / "fine.events"
    log.write_text("%unit ms\n0 req @CTR set value=5\n7 res @CTR ack value=5\n")
    page = Page(triage_report(triage(MODEL, [log]), "1.2"))
    assert page.text("h1") == "1 trace, no fault."
    assert "section" not in page.tags
    empty = Triage(
        model="m", grouping="similar", logs=0, traces=(), faults=(), marks=(), marked=(),
        classes=(), complete=False,
    )  # fmt: skip
    page = Page(triage_report(empty, "1.2"))
    assert "Partial: interrupted before all logs were done." in page.text("p")


def test_only_the_largest_classes_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("whence.report.triage_html.MOST_DRAWN", 1)
    page = Page(triage_report(paper(), "1.2"))
    assert len(page.tags["figure"]) == 1
    assert len(page.tags["section"]) == 2
    assert "Diagrams are drawn of the 1 largest classes." in page.text("p")
    assert "res CTR ret value=5" in page.texts["code"]


def test_a_long_explanation_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("whence.report.triage_class._MOST_EVENTS", 3)
    page = Page(triage_report(paper(), "1.2"))
    assert "figure" not in page.tags
    assert page.text("h4").count("The events that explain it") == 2
    assert len(page.tags["ol"]) == 2


# -------------------------------------------------------------------------------- long lists, links


def test_the_script_gets_all_members() -> None:
    found = of_study()
    data = given_to_script(triage_report(found, "1.2"))
    large = found.classes[0]
    assert list(data["lists"]) == [large.ident]  # the others are on the page already
    told = []
    for place in data["lists"][large.ident]:
        file, conversation, several = data["traces"][data["faults"]["trace"][place]]
        assert conversation == -1
        mark = data["faults"]["mark"][place]
        told.append(
            (
                data["files"][file], data["faults"]["line"][place], several,
                data["faults"]["number"][place], data["faults"]["index"][place],
                data["texts"][data["faults"]["event"][place]],
                data["base"] + data["faults"]["date"][place],
                None if mark < 0 else data["texts"][mark],
            )
        )  # fmt: skip
    expected = []
    for number in large.members:
        fault, mark = found.faults[number], found.marked[number]
        trace = found.traces[fault.trace]
        expected.append(
            (
                trace.name, fault.line, trace.faults, fault.number + 1, fault.index, fault.event,
                int(fault.date * 1000), None if mark is None else found.marks[mark].text,
            )
        )  # fmt: skip
    assert told == expected


def test_long_lists_begin_on_the_page() -> None:
    found = of_study()
    text = triage_report(found, "1.2")
    members = Tables(text).with_heads("Log", "Time", "Fault")[0]
    assert len(members) == PAGE
    assert f"{PAGE} of 91 faults." in Page(text).text("p")
    traces = tuple(
        FoundTrace(f"b{n}.log", f"logs/b{n}.log", "broken", reason=f"reason {n}", hint="h")
        for n in range(25)
    )
    text = triage_report(replace(paper(), traces=paper().traces + traces), "1.2")
    data = given_to_script(text)
    assert len(data["lists"]["broken"]) == 25
    (file, line), reason, hint = data["lists"]["broken"][24]
    assert data["files"][file].endswith("logs/b24.log")
    assert (line, data["texts"][reason], data["texts"][hint]) == (0, "reason 24", "h")


def test_links_lead_from_the_page_to_the_logs(tmp_path: Path) -> None:
    logs = tmp_path / "a #1%" / "logs"
    logs.mkdir(parents=True)
    names = ["javascript:alert(1)", "so & <so>?.events", "ü.events"]
    for name in names:
        (logs / name).write_text(WRONG, encoding="utf-8")
    page = tmp_path / "pages" / "report.html"
    page.parent.mkdir()
    save(triage(MODEL, [logs / name for name in names]), page)
    hrefs = [
        at["href"] or "" for at in Page(page.read_text(encoding="utf-8")).tags["a"]
        if not (at["href"] or "").startswith("#")
    ]  # fmt: skip
    assert len(hrefs) == 3
    assert all(href.startswith("../a%20%231%25/logs/") for href in hrefs)
    found = {os.path.normpath(page.parent / unquote(href)) for href in hrefs}
    assert found == {str(logs / name) for name in names}


def test_links_from_the_folder_of_the_logs(tmp_path: Path) -> None:
    (tmp_path / "javascript:x").write_text(WRONG, encoding="utf-8")
    found = triage(MODEL, [tmp_path / "javascript:x"])
    hrefs = [at["href"] for at in Page(triage_report(found, "1", str(tmp_path))).tags["a"]]
    assert hrefs[-1] == "./javascript%3Ax"


# -------------------------------------------------------------------------------------- hostility

#: What a program writes, and no log.
_OURS = {
    "kind", "role", "status", "verdict", "grouping", "operator", "resynchronised", "severity",
    "similar", "by_events", "by_requirements", "key", "label",
}  # fmt: skip


def renamed(value: _T, text: str) -> _T:
    """The same with this text in place of each that comes from a file."""
    return _renamed(value, text)  # type: ignore[no-any-return]


def _renamed(value: Any, text: str) -> Any:
    if isinstance(value, str):
        return text
    if isinstance(value, tuple):
        return tuple(_renamed(each, text) for each in value)
    if isinstance(value, Mapping):
        values = [_renamed(each, text) for each in value.values()]
        return MappingProxyType(dict(zip([text], values, strict=False)))
    if dataclasses.is_dataclass(value) and not isinstance(value, (type, Origin)):
        changed = {
            at.name: _renamed(getattr(value, at.name), text)
            for at in dataclasses.fields(value)
            if at.init and at.name not in _OURS
        }
        return replace(value, **changed)
    return value


@cache
def small() -> Triage:
    """With something of everything, and lists that are long enough for the script."""
    found = paper()
    known = KnownClass("k", 1, "late", (), (), ("R",), "e", "o", *[found.classes[0].first] * 2)
    one, other = found.classes
    faults = found.faults * 5
    broken = FoundTrace("b.log", "logs/b.log", "broken", 3, reason="r", hint="h")
    traces = (*(replace(trace, name="a conversation") for trace in found.traces), *[broken] * 12)
    marks = [FoundMark("m", "fail", 8, None, 0, 3, 0), *[FoundMark("w", "fail", 5, None, 1, 1, None,
                                                                  "why")] * 11]  # fmt: skip
    return replace(
        found,
        classes=(
            replace(one, status="new", members=tuple(range(13))),
            replace(other, status="known"),
        ),
        faults=faults,
        marks=tuple(marks),
        marked=(0, *[None] * (len(faults) - 1)),
        compared=True,
        verified=True,
        gone=(known,),
        traces=traces,
        absolute=(True, *[False] * (len(traces) - 1)),
        passed_over=("p",),
        problems=MappingProxyType({"f": (Diagnostic("m", Origin("f", 2), "h"),)}),
    )


def assert_sound(text: str) -> None:
    page = Page(text)
    assert "img" not in page.tags
    scripts = page.tags["script"]
    assert [at.get("type") for at in scripts] == ["application/json", None, None]
    names = {name for found in page.tags.values() for at in found for name in at}
    assert not {name for name in names if name.startswith("on")}
    assert not {"\x00", "\x1b", "\u202e"} & set(text)
    for at in page.tags["a"]:
        assert (at["href"] or "").startswith(("#", "./", "../"))
    data = given_to_script(text)
    assert not {"<", ">", "&"} & set(Tables(text).data)
    assert all(not {"\x00", "\x1b", "\u202e"} & set(each) for each in data["texts"])
    for entry in data["files"]:
        assert isinstance(entry, str) or entry[1].startswith(("./", "../"))
    assert data["root"].startswith(("./", "../"))


def test_no_name_breaks_out() -> None:
    text = triage_report(renamed(small(), EVIL), "1.2")
    assert_sound(text)
    policy = next(at["content"] for at in Page(text).tags["meta"] if "http-equiv" in at)
    assert policy is not None
    assert policy.startswith("default-src 'none';")


@settings(max_examples=40)
@given(st.text(max_size=20))
def test_any_name_gives_a_sound_page(name: str) -> None:
    assert_sound(triage_report(renamed(small(), name), "1.2"))


@settings(max_examples=40)
@given(st.text(max_size=400), st.integers(0, 5))
def test_any_name_can_be_drawn(name: str, number: int) -> None:
    each: FaultClass = of_study().classes[number]
    story = tell_case(renamed(each.case, name), of_study().marks[:3])
    root = drawn(story)
    assert_nothing_cut_off(root)
    assert overlapping_texts(root) == []


def test_nothing_is_fetched() -> None:
    text = triage_report(small(), "1.2")
    assert "://" not in text
    page = Page(text)
    assert "link" not in page.tags
    assert not any("src" in at for found in page.tags.values() for at in found)


def test_the_same_twice() -> None:
    assert triage_report(small(), "1.2") == triage_report(small(), "1.2")
