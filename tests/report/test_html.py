"""The report: one sound HTML file that fetches nothing and that no name can break out of."""

import base64
import hashlib
import re
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.report.support import EVIL, database, database_trace, strange, strange_trace

from whence.formats.uppaal.elaborate import elaborate
from whence.formats.uppaal.xml import read_xml_file
from whence.model.layout import layout_of
from whence.model.network import Network
from whence.model.trace import EdgeUse, QueryResult, Supremum, SymbolicState, TimedTrace, Transition
from whence.report.html import check_report
from whence.source import InputError

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "uppaal"
MODELS = sorted(DATA.glob("tartar/*.xml"))

_VOID = {"meta", "input"}


class Page(HTMLParser):
    """Checks that every element is closed in turn, and collects what is on the page."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: dict[str, list[dict[str, str | None]]] = {}
        self.texts: dict[str, list[str]] = {}
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.setdefault(tag, []).append(dict(attrs))
        assert len(dict(attrs)) == len(attrs)
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        # Only SVG knows these; in HTML they would stay open.
        assert "svg" in self.open, tag
        self.tags.setdefault(tag, []).append(dict(attrs))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open:
            self.texts.setdefault(self.open[-1], []).append(data)

    def text(self, tag: str) -> str:
        return " ".join(self.texts.get(tag, []))


def report(network: Network, *results: QueryResult, file: str = "db.xml") -> str:
    return check_report(network, layout_of(network), results, file, "1.2")


def violated(trace: TimedTrace | None = None) -> QueryResult:
    return QueryResult("A[] client.x <= 4", "violated", 12, 34, 0.5, trace or database_trace())


def test_what_a_reader_finds() -> None:
    page = Page(
        report(
            database(),
            violated(),
            QueryResult("E<> client.reqSent", "satisfied", 1, 2, 0.5),
            QueryResult("sup: x", "satisfied", 1, 2, 0.5, None, (Supremum("x", 5),)),
            QueryResult("A<> p", "unknown", 1, 2, 0.5, reason="the budget of time is used up"),
        )
    )
    assert page.text("h1") == "1 of 4 queries is violated, 1 is undecided"
    assert "A[] client.x <= 4" in page.text("code")
    assert "x <= 5" in page.text("code")
    assert "the budget of time is used up" in page.text("p")
    assert page.text("h2").split()[1:5] == ["Counterexample", "for", "query", "1"]
    assert "client: reqCreate → reqSent" in page.text("code")
    assert "sent: 0 → 1" in page.text("code")
    assert "2 processes that take no part: one, two" in page.text("summary")
    # Both stand in the same place of the same automaton, which is drawn once.
    assert len(page.tags["figure"]) == 3


@pytest.mark.parametrize(
    ("verdicts", "headline"),
    [
        ((), "No queries"),
        (("satisfied",), "The query is satisfied"),
        (("satisfied", "satisfied"), "All 2 queries are satisfied"),
        (
            ("violated", "violated", "error"),
            "2 of 3 queries are violated, 1 is stopped by an error",
        ),
        (("unknown",), "The query is undecided"),
    ],
)
def test_headlines(verdicts: tuple[str, ...], headline: str) -> None:
    results = [QueryResult("A[] p", verdict, 1, 1, 0.5) for verdict in verdicts]  # type: ignore[arg-type]
    assert Page(report(database(), *results)).text("h1") == headline


def test_steps_locations_and_edges_are_linked() -> None:
    page = Page(report(database(), violated()))
    rows = [row for row in page.tags["tr"] if "data-step" in row]
    assert [row["data-step"] for row in rows] == ["0", "1", "2", "3"]
    assert rows[2]["data-locations"] == "0:2 1:1"
    assert rows[2]["data-edges"] == "0:1 1:0"
    groups = page.tags["g"]
    locations = {group["data-location"] for group in groups if "data-location" in group}
    edges = {group["data-edge"] for group in groups if "data-edge" in group}
    for row in rows:
        assert set((row["data-locations"] or "").split()) <= locations
        assert set((row["data-edges"] or "").split()) <= edges
    (slider,) = page.tags["input"]
    assert (slider["min"], slider["max"]) == ("0", "3")


def test_nothing_is_fetched_and_only_our_script_runs() -> None:
    text = report(database(), violated())
    assert "://" not in text
    assert not re.search(r"url\(|@import|<link|<img|<iframe|\bsrc=", text)
    page = Page(text)
    (script,) = page.texts["script"]
    assert len(page.tags["script"]) == 1
    policy = next(meta["content"] for meta in page.tags["meta"] if "http-equiv" in meta)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy == (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    )


@pytest.mark.parametrize("end", ["goal", "lasso", "error"])
def test_no_name_breaks_out(end: str) -> None:
    network = strange()
    result = QueryResult(EVIL, "error", 1, 1, 0.5, strange_trace(network, end), reason=EVIL)
    text = report(network, result, file=EVIL)
    page = Page(text)
    assert "img" not in page.tags
    assert [len(at) for at in page.tags["b"]] == [1, 1]  # those of the key, with their class
    assert len(page.tags["script"]) == 1
    attributes = {name for found in page.tags.values() for at in found for name in at}
    assert not {name for name in attributes if name.startswith("on")}
    assert not {"\x00", "\x1b", "\u202e"} & set(text)


@given(st.text(max_size=30))
def test_any_name_gives_a_sound_page(name: str) -> None:
    network = strange(name)
    result = QueryResult(name, "violated", 1, 1, 0.5, strange_trace(network, "lasso"), reason=name)
    page = Page(report(network, result, file=name))
    assert len(page.tags["script"]) == 1
    assert page.tags.keys() <= {
        *(
            "html",
            "head",
            "meta",
            "title",
            "style",
            "body",
            "header",
            "h1",
            "h2",
            "h4",
            "p",
            "code",
        ),
        *(
            "span",
            "div",
            "table",
            "thead",
            "tbody",
            "tfoot",
            "tr",
            "th",
            "td",
            "ul",
            "li",
            "a",
            "b",
        ),
        *("section", "button", "input", "output", "figure", "figcaption", "details", "summary"),
        *("svg", "g", "rect", "circle", "polyline", "polygon", "text", "tspan"),
        *("script", "footer"),
    }


def test_the_same_twice() -> None:
    network = strange()
    results = [violated(strange_trace(network, end)) for end in ("goal", "lasso", "error")]
    assert report(network, *results) == report(network, *results)


def _first_steps(network: Network, count: int) -> TimedTrace:
    """Edges one after the other as the processes have them; nobody asks whether they are
    enabled, as that is no concern of a drawing."""
    at = [process.initial for process in network.processes]
    states = [SymbolicState(tuple(at), ())]
    transitions = []
    for number in range(count):
        here = number % len(at)
        edges = network.processes[here].edges
        found = next((n for n, edge in enumerate(edges) if edge.source == at[here]), None)
        if found is None:
            continue
        at[here] = edges[found].target
        transitions.append(
            Transition("tau", (EdgeUse(here, found, (0,) * len(edges[found].selects)),))
        )
        states.append(SymbolicState(tuple(at), ()))
    return TimedTrace(tuple(states), tuple(transitions), _delays(len(states)))


def _delays(count: int) -> tuple[Fraction, ...]:
    return tuple(Fraction(number % 5, 2) for number in range(count))


@pytest.mark.skipif(not MODELS, reason="the public models are not at ../shared/data")
@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_public_models(path: Path) -> None:
    try:
        network = elaborate(read_xml_file(path)).network
    except InputError:
        pytest.skip("not a model that we read")
    Page(report(network, violated(_first_steps(network, 279)), file=path.name))
