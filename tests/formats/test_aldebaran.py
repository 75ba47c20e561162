"""Reading and writing `.aut` files."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.formats import aldebaran
from whence.formats.aldebaran import read_aldebaran, read_aldebaran_file, write_aldebaran
from whence.model.transitions import Action, TransitionSystem
from whence.source import InputError, UnsupportedError, UsageError

#: As CADP's and mCRL2's manuals write them.
SAMPLE = """des (0, 5, 4)
(0, "PUT !true", 1)
(1,i,2)
( 2 ,\t"say \\"hi\\", now" , 3 )\r
(2, GET, 0)
(3, tau, 3)
"""


def edges(system: TransitionSystem) -> list[tuple[int, str, int]]:
    return [
        (s, system.actions[a].name, t)
        for s, a, t in zip(
            system.source.tolist(), system.action.tolist(), system.target.tolist(), strict=True
        )
    ]


def test_a_file_as_others_write_it(tmp_path: Path) -> None:
    path = tmp_path / "sample.aut"
    path.write_text(SAMPLE, newline="")
    system = read_aldebaran_file(path, bad=[3], bad_labels=["GET"])
    assert edges(system) == [
        (0, "PUT !true", 1),
        (1, "i", 2),
        (2, 'say "hi", now', 3),
        (2, "GET", 0),
        (3, "tau", 3),
    ]
    assert [action.name for action in system.actions if action.silent] == ["i", "tau"]
    assert system.initial == (0,)
    assert system.propositions["bad"].tolist() == [True, False, False, True]
    assert system.rate is None
    assert system.name == "sample"
    assert {str(a.origin) for a in system.actions if a.name == "GET"} == {f"{path}:5:5"}
    assert not read_aldebaran(SAMPLE, silent=["GET"]).actions[1].silent


@pytest.mark.parametrize(
    ("line", "label"),
    [
        ("(0,a(b, c),1)", "a(b, c)"),
        ("(0,PUT !1 !2,1)", "PUT !1 !2"),
        ('(0,"",1)', ""),
        ('(0,"a),(1,b",1)', "a),(1,b"),
        ('(0,"C:\\dir\\\\",1)', "C:\\dir\\"),
        ("(0,*,1)", "*"),
        ('(0,"größer",1)', "größer"),
        ("\t( 0 ,  x  , 1 )  ", "x"),
        ("(0,rate limiter,1)", "rate limiter"),
    ],
)
def test_labels(line: str, label: str) -> None:
    assert edges(read_aldebaran(f"des(0,1,2)\n{line}")) == [(0, label, 1)]


def test_rates() -> None:
    system = read_aldebaran('des (0,3,2)\n(0,"a; rate 2.5e-3",1)\n(0,a,1)\n(1,"rate 4",0)')
    assert edges(system) == [(0, "a", 1), (0, "a", 1), (1, "i", 0)]
    assert system.rate is not None
    assert np.array_equal(system.rate, [0.0025, np.nan, 4], equal_nan=True)


def test_empty_lines_and_ends_of_lines() -> None:
    for end in ("\n", "\r\n"):
        for last in ("", end, end * 3):
            text = end.join(["", "des (1, 2, 2)", "(0,a,1)", "", "(1,b,0)"]) + last
            assert edges(read_aldebaran(text)) == [(0, "a", 1), (1, "b", 0)]
    assert read_aldebaran("des (0, 0, 1)").transitions == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1:1: .*the file is empty"),
        ("\n\nfoo\n", "3:1: .*expected the header .* found `foo`"),
        ("des (0, 1)\n", "1:1: .*expected the header"),
        ("des (0, x, 1)\n", "1:9: .*the number of transitions is `x`"),
        ("des (0, 1, 99999999999999999999)", "1:12: .*larger than 2147483647"),
        ("des (3, 0, 2)", "1:6: .*initial state 3 is none of the 2 states"),
        ("des (0, 1, 2000000000)\n(0,a,1)", "1 transitions cannot connect 2000000000 states"),
        ("des (0, 3, 2)\n(0,a,1)\n(1,b,0)\n", "3:1: .*announces 3 transitions, but there are 2"),
        ("des (0, 1, 2)\n(0,a,1)\n(1,b,0)\n", "1:1: .*announces 1 transitions, but there are 2"),
        ("des (0, 2, 2)\n(0,a,1)\n(1,b,", r"3:6: .*expected `\)`"),
        ("des (0, 2, 2)\n(0,a,1)\n(1,", r"3:4: .*expected `\)`"),
        ('des (0, 2, 2)\n(0,a,1)\n(1,"b', r"3:6: .*expected `\)`"),
        ("des (0, 1, 2)\n(0,a)", "2:1: .*expected a state, a label and a state"),
        ("des (0, 1, 2)\n(0,a,x)", "2:6: .*expected the number of a state, found `x`"),
        ("des (0, 1, 2)\n( -1,a,0)", "2:3: .*expected the number of a state, found `-1`"),
        ("des (0, 1, 2)\n(0,a,7)", "2:6: .*the target 7 is none of the 2 states"),
        ("des (0, 2, 2)\n\n(0,a,1)\n( 5,a,1)", "4:3: .*the source 5 is none of the 2 states"),
        ("des (0, 1, 2)\n(0,a,123456789012345678901)", "2:6: .*larger than"),
        ("des (0, 1, 2)\nnonsense", r"2:1: .*expected `\("),
        ("des (0, 1, 2)\ndes (0, 1, 2)", "2:1: .*a second header"),
        ("des (0, 1, 2)\n(0,,1)", "2:4: .*without a label"),
        ("des (0, 1, 2)\n(0,a,b,1)", "2:5: .*has a `,` in it"),
        ('des (0, 1, 2)\n(0,a"b,1)', '2:5: .*has a `"` in it'),
        ('des (0, 1, 2)\n(0,"a"b",1)', '2:6: .*the label ends at this `"`'),
        ('des (0, 1, 2)\n(0,"a,1)', '2:4: .*this `"` is never closed'),
        ('des (0, 1, 2)\n(0,"a\\",1)', "2:4: .*backslash"),
        ("des (0, 1, 2)\n(0,a;rate -1,1)", "2:4: .*the rate -1 is negative"),
        ("des (0, 1, 2)\n(0,prob 0.5,1)", "2:4: .*not supported"),
        (b"des (0, 1, 2)\n(0,a\xff,1)", "2:5: .*byte 0xff is not UTF-8"),
        ("des (0, 1, 2)\n(0,a,1".encode("utf-16-le"), "expected the header"),
        ("des (0, 1, 2)\n(0,a\0", "2:5: .*NUL"),
    ],
)
def test_what_is_wrong_with_a_file(text: str | bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_aldebaran(text, "x.aut")


def test_all_that_is_wrong_is_told_up_to_a_point() -> None:
    with pytest.raises(InputError) as caught:
        read_aldebaran("des (0, 3, 2)\n(0,a,5)\n(9,b,1)\n(0,c,x)")
    assert [d.origin.line for d in caught.value.diagnostics] == [4, 3, 2]
    with pytest.raises(InputError) as caught:
        read_aldebaran("des (0, 3, 2)\n" + "bad\n" * 1000)
    assert len(caught.value.diagnostics) == 20


def test_probabilistic_systems_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="probabilistic"):
        read_aldebaran("des (0 1/2 1, 1, 2)\n(0,a,1)")


def test_bad_states_must_be_there() -> None:
    with pytest.raises(UsageError, match="state 4 is to be bad, but the states are 0 to 3"):
        read_aldebaran(SAMPLE, bad=[4])
    with pytest.raises(UsageError, match=r"labelled `GETT`(.|\n)*did you mean `GET`"):
        read_aldebaran(SAMPLE, bad_labels=["GETT"])
    with pytest.raises(InputError, match="no such file"):
        read_aldebaran_file("there is none.aut")


# ---------------------------------------------------------------------------------- both ways

names = st.one_of(
    st.sampled_from(["a", "b", "PUT !true", 'q"uote', "back\\slash", '\\"', "(,)", " ", "", "é"]),
    st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=6),
).filter(lambda name: name not in ("i", "tau"))


@st.composite
def systems(draw: st.DrawFn) -> TransitionSystem:
    states = draw(st.integers(1, 6))
    actions = draw(st.lists(names, max_size=4, unique=True))
    state = st.integers(0, states - 1)
    rows = []
    if actions:
        action = st.integers(0, len(actions))
        rows = draw(st.lists(st.tuples(state, action, state), max_size=8))
    rate = None
    if draw(st.booleans()):
        actions = [name for name in actions if name == name.rstrip()]
        rows = [row for row in rows if row[1] <= len(actions)]
        values = st.one_of(st.just(np.nan), st.floats(0, 1e300))
        rate = np.array([draw(values) for _ in rows], np.float64)
    table = np.array(rows, np.int32).reshape(-1, 3)
    return TransitionSystem(
        states=states,
        actions=(*(Action(name=name) for name in actions), Action(name="i", silent=True)),
        source=table[:, 0],
        action=table[:, 1],
        target=table[:, 2],
        initial=(draw(state),),
        propositions=MappingProxyType({"bad": np.zeros(states, bool)}),
        rate=rate,
    )


@given(systems())
def test_what_was_written_reads_back_equal(system: TransitionSystem) -> None:
    again = read_aldebaran(write_aldebaran(system))
    assert again.states == system.states
    assert again.initial == system.initial
    assert edges(again) == edges(system)
    assert {a.name for a in again.actions if a.silent} <= {"i"}
    if system.rate is None or np.isnan(system.rate).all():
        assert again.rate is None
    else:
        assert again.rate is not None
        assert np.array_equal(again.rate, system.rate, equal_nan=True)


@given(st.lists(st.sampled_from([*'(0123,,"\\;) ab\t\r', '(0,"a",1)', "(1, b, 0)"]), max_size=8))
def test_quick_and_careful_reading_agree(parts: list[str]) -> None:
    """What is read many lines at once is what one line after the other would give."""

    def outcome() -> object:
        try:
            system = read_aldebaran(f"des (0, 2, 4)\n(2, z, 3)\n{''.join(parts)}")
        except InputError as error:
            return [(d.message, d.origin) for d in error.diagnostics]
        return edges(system)

    def nothing_usual(*given: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        table, places = fields(*given)
        return np.full_like(table, -1), np.zeros_like(places)

    quick, fields = outcome(), aldebaran._fields
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(aldebaran, "_fields", nothing_usual)
        assert outcome() == quick


def test_lines_in_many_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aldebaran, "_LINES_AT_ONCE", 2)
    assert len(edges(read_aldebaran(SAMPLE))) == 5
    with pytest.raises(InputError, match=r"6:10: .*the target 9"):
        read_aldebaran(SAMPLE.replace("tau, 3", "tau, 9"))


def test_large_files_are_read_quickly() -> None:
    """300,000 lines; a million a second or so."""
    count = 300_000
    lines = [f'({n}, "act !{n % 50}", {n * 7 % count})\n' for n in range(count)]
    text = f"des (0, {count}, {count})\n" + "".join(lines)
    began = time.perf_counter()
    system = read_aldebaran(text)
    assert time.perf_counter() - began < 10
    assert system.transitions == count
    assert len(system.actions) == 50
    assert edges(system)[1234] == (1234, "act !34", 8638)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("tau", "`tau` is not silent"),
        ("a; rate 5", "read as a rate"),
        ("prob 0.5", "a probability"),
        ("a\nb", "more than one line"),
    ],
)
def test_actions_that_cannot_be_written(name: str, message: str) -> None:
    system = TransitionSystem.from_edges([(0, name, 1)], 0)
    with pytest.raises(UsageError, match=re.escape(message)):
        write_aldebaran(system)


def test_blanks_before_a_rate_cannot_be_written() -> None:
    system = replace(TransitionSystem.from_edges([(0, "a ", 1)], 0), rate=np.ones(1))
    with pytest.raises(UsageError, match="cannot be written with the rate"):
        write_aldebaran(system)


def test_several_initial_states_cannot_be_written() -> None:
    system = replace(TransitionSystem.from_edges([(0, "a", 1)], 0), initial=(0, 1))
    with pytest.raises(UsageError, match="2 initial states"):
        write_aldebaran(system)
