"""Plain formats: what is written reads back equal, and what a line means."""

from __future__ import annotations

import io
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.formats.can.support import EXAMPLES

from whence.formats.events.read import PLAIN_FORMATS, plain_format_of
from whence.formats.events.tables import csv_header, csv_line, json_line
from whence.formats.events.text import read_text, text_line
from whence.formats.events.values import date_text, parse_date
from whence.formats.logs import read_trace
from whence.model.events import KINDS, VERDICTS, Annotation, BusEvent, Field
from whence.source import Diagnostic

text = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp")), max_size=8
)
words = st.one_of(
    st.sampled_from(["", "GET", "7E0", "007", "0x10", "a=b", ":x", "-", "(", "#"]), text
)
dates = st.builds(
    Fraction, st.integers(-(10**12), 10**12), st.sampled_from([1, 2, 10, 1000, 10**9, 3, 2**20])
)
fields = st.builds(Field, words, st.one_of(st.integers(-(2**70), 2**70), words), words)


@st.composite
def events(draw: st.DrawFn) -> BusEvent:
    first = draw(st.none() | dates)
    last = first if draw(st.booleans()) else draw(dates)
    return BusEvent(
        draw(st.sampled_from(KINDS)),
        first,
        last,
        draw(words),
        draw(words),
        draw(st.none() | st.integers(0, 255)),
        tuple(draw(st.lists(fields, max_size=3))),
        draw(st.binary(max_size=9)),
        draw(st.none() | st.integers(0, 10**6)),
        draw(words),
        None,
        draw(words),
    )


@st.composite
def annotations(draw: st.DrawFn) -> Annotation:
    said = " ".join(draw(text).split())
    time = draw(st.none() | dates)
    if draw(st.booleans()):
        return Annotation("comment", said, "", time)
    return Annotation("verdict", said, draw(st.sampled_from(VERDICTS)), time)


def rows(told: list[BusEvent | Annotation]) -> str:
    return "".join(f"{line}\n" for line in [csv_header(), *map(csv_line, told)])


WRITERS: dict[str, Callable[[list[BusEvent | Annotation]], str]] = {
    "event lines": lambda told: "".join(f"{text_line(item)}\n" for item in told),
    "event CSV": rows,
    "event JSON lines": lambda told: "".join(f"{json_line(item)}\n" for item in told),
}


@pytest.mark.parametrize("form", WRITERS)
@given(told=st.lists(events() | annotations(), max_size=5))
def test_what_is_written_reads_back(form: str, told: list[BusEvent | Annotation]) -> None:
    written = WRITERS[form](told)
    assert list(PLAIN_FORMATS[form](io.BytesIO(written.encode()), "f")) == told


@pytest.mark.parametrize("form", WRITERS)
@given(data=st.binary(max_size=200))
def test_anything_is_read_or_told(form: str, data: bytes) -> None:
    start = f"{csv_header()}\n".encode() if form == "event CSV" else b""
    list(PLAIN_FORMATS[form](io.BytesIO(start + data), "f"))


@given(dates)
def test_dates_are_exact(date: Fraction) -> None:
    assert parse_date(date_text(date)) == date


@pytest.mark.parametrize(
    ("date", "expected"),
    [
        ("25/2", "12.5"),
        ("3", "3"),
        ("-1/8", "-0.125"),
        ("1/3", "1/3"),
        ("1/1000000000", "0.000000001"),
    ],
)
def test_dates_are_decimal_where_they_can_be(date: str, expected: str) -> None:
    assert date_text(Fraction(date)) == expected


def lines(written: str) -> list[object]:
    return list(read_text(io.BytesIO(written.encode()), "f"))


def test_the_trace_of_the_paper() -> None:
    """Becker et al., figure 1: dates count from the line before."""
    found = lines(
        "%unit ms\n%dates differences\n"
        "0 req @CTR set value=5\n10 res @CTR set value=5\n"
        "20.5 req @CTR get\n1 res @CTR get value=0\n! fail the value was not kept\n"
    )
    told = [item for item in found if isinstance(item, BusEvent)]
    assert [(event.kind, event.first, event.ecu, event.name) for event in told] == [
        ("request", Fraction(0), "CTR", "set"),
        ("positive", Fraction("0.01"), "CTR", "set"),
        ("request", Fraction("0.0305"), "CTR", "get"),
        ("positive", Fraction("0.0315"), "CTR", "get"),
    ]
    assert told[3].fields == (Field("value", 0),)
    assert [(m.verdict, m.text) for m in found if isinstance(m, Annotation)] == [
        ("fail", "the value was not kept")
    ]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("12.5 ask GET", "not an event"),
        ("12.5.1 req GET", "`12.5.1` is no date"),
        ("12.5 req GET 5", "`5` is not of the form name=value"),
        ('12.5 req GET a="b', "is not of the form name=value"),
        ("12.5 req GET :colour=red", "`:colour` is unknown"),
        ("12.5 req GET :payload=123", "hexadecimal"),
        ("12.5 req GET :answers=x", "answers is one"),
        ("! maybe so", "`maybe` is no verdict"),
        ("%unit hours", "not a directive"),
    ],
)
def test_what_is_wrong_with_a_line_is_told(line: str, said: str) -> None:
    (problem,) = lines(f"\n{line}\n")
    assert isinstance(problem, Diagnostic)
    assert said in problem.message
    assert str(problem.origin) == "f:2:1"


@pytest.mark.parametrize(
    ("head", "form"),
    [
        ("# a comment\n\n12.5 req GET\n", "event lines"),
        ("%unit ms\n", "event lines"),
        ("kind,first\nreq,1\n", "event CSV"),
        ('{"first": 1, "kind": "req"}\n', "event JSON lines"),
        ("(1.5) can0 7E0#00\n", None),
        ("first,second\n", None),
        ("", None),
    ],
)
def test_plain_formats_are_told_apart(head: str, form: str | None) -> None:
    assert plain_format_of(head.encode()) == form


@pytest.mark.parametrize("form", WRITERS)
def test_a_log_passed_on_is_the_same_trace(form: str, tmp_path: Path) -> None:
    trace = read_trace(str(EXAMPLES / "ecu.log"))
    told: list[BusEvent | Annotation] = [*trace.events]
    for annotation in reversed(trace.annotations):
        told.insert(annotation.position, annotation)
    path = tmp_path / "passed"
    path.write_text(WRITERS[form](told), encoding="utf-8")
    again = read_trace(str(path))
    assert (again.format, again.problems) == (form, ())
    assert (again.events, again.annotations) == (trace.events, trace.annotations)


def test_clocks_that_run_backwards(tmp_path: Path) -> None:
    path = tmp_path / "events"
    path.write_text("2 req A\n1 res A\n")
    (problem,) = read_trace(str(path)).problems
    assert (problem.severity, problem.origin.line) == ("warning", 2)
