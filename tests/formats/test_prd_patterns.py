"""Patterns, payloads, guards and updates as texts."""

from __future__ import annotations

import re
from contextlib import suppress
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.expr.scope import Problem
from whence.formats.prd.expressions import Scope, parse_guard, parse_updates
from whence.formats.prd.patterns import captures, parse_message, parse_pattern
from whence.formats.prd.payloads import Captures, OneOf, Payload, parse_payload, written
from whence.model.prd import (
    TRUE,
    AllOf,
    AnyOf,
    Arithmetic,
    Assignment,
    Captured,
    ClockBound,
    Comparison,
    Constant,
    FieldPattern,
    Not,
    Read,
    Variable,
)
from whence.source import SourceText

SCOPE = Scope(
    {"n": Variable("n", 0, 9), "session": Variable("session", 0, 1, ("default", "extended"))},
    frozenset({"x", "y"}),
    frozenset({"v"}),
    {"version": 3},
    Fraction(1, 1000),
)
N, V, X = Read("n"), Captured("v"), "x"


def ms(value: int) -> Fraction:
    return Fraction(value, 1000)


# ---------------------------------------------------------------------------------------- payloads


def matches(text: str, payload: str) -> bool:
    pattern = re.compile(parse_payload(SourceText(text)).regex(), re.DOTALL)
    return pattern.fullmatch(bytes.fromhex(payload).decode("latin-1")) is not None


@pytest.mark.parametrize(
    ("text", "yes", "no"),
    [
        ("22 F1 90", ["22F190"], ["22F1", "22F19000", "22F191"]),
        ("31 01 .. *", ["310100", "31010A0B0C"], ["3101", "310200"]),
        ("10 {01, 03}", ["1001", "1003"], ["1002", "10"]),
        ("10 01-03", ["1002"], ["1000", "1004"]),
        ("36 <n> *", ["360A", "36FF00"], ["36"]),
        ("36 <n:2>", ["360A0B"], ["360A"]),
        ("36 <n:00-0F>", ["360F"], ["3610"]),
    ],
)
def test_payloads(text: str, yes: list[str], no: list[str]) -> None:
    assert all(matches(text, payload) for payload in yes)
    assert not any(matches(text, payload) for payload in no)


def test_captured_bytes_are_groups() -> None:
    found = re.fullmatch(
        parse_payload(SourceText("2E <did:2> <v>")).regex(), "\x2e\x01\x0a\xff", re.DOTALL
    )
    assert found is not None
    assert found.groupdict() == {"did": "\x01\n", "v": "\xff"}


PARTS = st.one_of(
    st.frozensets(st.integers(0, 255), min_size=1).map(OneOf),
    st.builds(Captures, st.sampled_from("abc"), st.integers(1, 4)),
    st.integers(0, 255).flatmap(
        lambda low: st.integers(low, 255).map(
            lambda high: Captures("d", 1, frozenset(range(low, high + 1)))
        )
    ),
)


@given(st.lists(PARTS, max_size=5), st.booleans())
def test_written_payloads_read_back(parts: list[OneOf | Captures], rest: bool) -> None:
    names = [part.name for part in parts if isinstance(part, Captures)]
    if len(set(names)) < len(names):
        return
    payload = Payload((OneOf(frozenset({0x22})), *parts), rest)
    assert parse_payload(SourceText(written(payload))) == payload


@pytest.mark.parametrize(
    ("text", "message", "column"),
    [
        ("22 F1 9", "`9` is no part of a pattern of bytes", 7),
        ("22 * 01", "`*` stands at the end only", 6),
        ("22 <a> <a>", "`a` is captured twice", 8),
        ("22 05-01", "the range 05-01 is empty", 4),
        ("22 <a:9>", "`<a:9>` is no part", 4),
    ],
)
def test_wrong_payloads(text: str, message: str, column: int) -> None:
    with pytest.raises(Problem, match=re.escape(message)) as caught:
        parse_payload(SourceText(text, "f"))
    assert caught.value.origin.column == column


# ---------------------------------------------------------------------------------------- patterns


def test_a_pattern_with_all_kinds_of_fields() -> None:
    text = 'res @CTR {ack, nack} a=5 b={1, 2, 7..9} c=<v: 0..3> d?=* e=/x.*/ f="a b" !g'
    pattern = parse_pattern(SourceText(text))
    assert pattern.labels == {"res CTR ack", "res CTR nack"}
    assert pattern.fields == (
        FieldPattern("a", frozenset({5})),
        FieldPattern("b", frozenset({1, 2}), ((7, 9),)),
        FieldPattern("c", ranges=((0, 3),), capture="v"),
        FieldPattern("d", required=False),
        FieldPattern("e", regex="x.*"),
        FieldPattern("f", frozenset({"a b"})),
    )
    assert [each.fields for each in pattern.unless] == [(FieldPattern("g"),)]
    assert captures(pattern) == ("v",)
    assert pattern.text == text


def test_exceptions() -> None:
    pattern = parse_pattern(SourceText("any except res @CTR ack, err broken"))
    assert not pattern.labels
    assert [each.labels for each in pattern.unless] == [{"res CTR ack"}, {"err broken"}]


def test_bytes_tell_service_and_kind() -> None:
    assert parse_message(SourceText("22 F1 90"), "req").pattern.labels == {
        "req ReadDataByIdentifier"
    }
    assert parse_message(SourceText("62 *"), "res").pattern.labels == {"res ReadDataByIdentifier"}
    refused = parse_message(SourceText("7F 22 {31, 78}"), "res").pattern
    assert refused.labels == {"neg ReadDataByIdentifier", "pend ReadDataByIdentifier"}
    with pytest.raises(Problem, match="the first byte of a request is its service"):
        parse_message(SourceText("62 01"), "req")


@pytest.mark.parametrize(
    ("text", "message", "column"),
    [
        ("request get", "`request` is no kind of event", 1),
        ("req get value=", "expected a value at the end", 15),
        ("req get value=5 value=6", "`value` stands here twice", 17),
        ("req get value=9..1", "this range is empty", 15),
        ("req get value=/(/", "this is no regular expression", 15),
        ("req get a=<v> b=<v>", "`v` is captured twice", 18),
        ("req get 5", "`5` cannot stand here", 9),
    ],
)
def test_wrong_patterns(text: str, message: str, column: int) -> None:
    with pytest.raises(Problem, match=re.escape(message)) as caught:
        parse_pattern(SourceText(text, "f"))
    assert caught.value.origin.column == column


# ------------------------------------------------------------------------------- guards and updates


@pytest.mark.parametrize(
    ("text", "guard"),
    [
        ("", TRUE),
        ("x < 50", ClockBound(X, "<", ms(50))),
        ("2 s >= x", ClockBound(X, "<=", Fraction(2))),
        ("x - y > 1.5ms", ClockBound(X, ">", ms(3) / 2, "y")),
        ("50 <= x < 55", AllOf((ClockBound(X, ">=", ms(50)), ClockBound(X, "<", ms(55))))),
        ("session == extended", Comparison(Read("session"), "==", Constant(1))),
        ("extended != session", Comparison(Constant(1), "!=", Read("session"))),
        ("n + 1 <= v", Comparison(Arithmetic("+", N, Constant(1)), "<=", V)),
        ("n", Comparison(N, "!=", Constant(0))),
        ("not n == 0x0A", Not(Comparison(N, "==", Constant(10)))),
        ("version == 3", TRUE),
        ("version < 3", AnyOf()),
        ("n in {1, 3..5}", AnyOf((
            Comparison(N, "==", Constant(1)),
            AllOf((Comparison(N, ">=", Constant(3)), Comparison(N, "<=", Constant(5)))),
        ))),
        ("n not in {2}", Not(Comparison(N, "==", Constant(2)))),
        ("(n < 2 or n > 5) and x == 0",
         AllOf((AnyOf((Comparison(N, "<", Constant(2)), Comparison(N, ">", Constant(5)))),
                ClockBound(X, "==", Fraction(0))))),
        ("(n + 2) * 3 == v",
         Comparison(Arithmetic("*", Arithmetic("+", N, Constant(2)), Constant(3)), "==", V)),
        ("n & 4 == 4", Comparison(Arithmetic("&", N, Constant(4)), "==", Constant(4))),
        ("n // 2 == 1", Comparison(Arithmetic("//", N, Constant(2)), "==", Constant(1))),
        ("n == -1", Comparison(N, "==", Constant(-1))),
    ],
)  # fmt: skip
def test_guards(text: str, guard: object) -> None:
    assert parse_guard(SourceText(text), SCOPE) == guard


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x < n", "clocks are compared with times and with clocks only"),
        ("x + 1 < 3", "there is no arithmetic with clocks"),
        ("n < 5 ms", "a time is compared with clocks only"),
        ("session == exteded", "`exteded` is no value of `session`"),
        ("m == 1", "unknown name `m`"),
        ("n / 2 == 1", "`/` is not exact"),
        ("n <", "expected a value at the end"),
        ("n == 1 n", "`n` cannot stand here"),
        ("(" * 60 + "n" + ")" * 60 + " == 1", "nested more than 50 levels deep"),
        ("not " * 60 + "n == 1", "nested more than 50 levels deep"),
        ("n == §", "`§` cannot stand here"),
    ],
)
def test_wrong_guards(text: str, message: str) -> None:
    with pytest.raises(Problem, match=re.escape(message)):
        parse_guard(SourceText(text), SCOPE)


def test_times_need_units_where_there_is_no_default() -> None:
    with pytest.raises(Problem, match="this time has no unit"):
        parse_guard(SourceText("x < 5"), Scope(clocks=frozenset("x")))


def test_updates() -> None:
    found = parse_updates(SourceText("n += v; session = extended; restart x; y = 0"), SCOPE)
    assert found.assignments == (
        Assignment("n", Arithmetic("+", N, V)),
        Assignment("session", Constant(1)),
    )
    assert found.resets == ("x", "y")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 5", "a clock can only be set to 0"),
        ("n = 1; n = 2", "`n` gets two values"),
        ("n = 10", "`n` cannot become 10"),
        ("restart n", "`n` is no clock"),
        ("m = 1", "`m` is neither a variable nor a clock"),
        ("n = 1 x = 0", "expected `;`"),
    ],
)
def test_wrong_updates(text: str, message: str) -> None:
    with pytest.raises(Problem, match=re.escape(message)):
        parse_updates(SourceText(text), SCOPE)


@given(st.text("nvx <>=!&|+-*/().{},;:5s\"'[]/\\@?%^~§\n", max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    for read in (
        lambda: parse_guard(SourceText(text), SCOPE),
        lambda: parse_updates(SourceText(text), SCOPE),
        lambda: parse_pattern(SourceText(text)),
        lambda: parse_payload(SourceText(text)),
        lambda: parse_message(SourceText(text), "req"),
    ):
        with suppress(Problem):
            read()
