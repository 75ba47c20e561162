"""Texts are fitted into the room that there is, by a table of widths."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.report.measure import elide, fit, text_width

SIZE = 12.0


def test_wide_letters_are_wider() -> None:
    assert text_width("iii", SIZE) < text_width("nnn", SIZE) < text_width("WWW", SIZE)
    assert text_width("日", SIZE) > text_width("W", SIZE)
    assert text_width("e\u0301", SIZE) == text_width("e", SIZE)
    assert text_width("abc", SIZE, bold=True) > text_width("abc", SIZE)


@given(st.text(max_size=60), st.floats(20, 200))
def test_elided_text_fits(text: str, room: float) -> None:
    short = elide(text, room, SIZE)
    assert text_width(short, SIZE) <= room
    if short != text:
        assert short.endswith("…")
        assert text.startswith(short[:-1])


@given(st.text(max_size=80), st.floats(30, 200), st.integers(1, 4))
def test_fitted_lines_fit(text: str, room: float, lines: int) -> None:
    fitted = fit(text, room, SIZE, lines)
    assert 1 <= len(fitted) <= lines
    assert all(text_width(line, SIZE) <= room for line in fitted)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ("",)),
        ("short", ("short",)),
        ("waiting_for_acknowledge", ("waiting_for_", "acknowledge")),
        ("waitingForAcknowledge", ("waitingFor", "Acknowledge")),
        ("Train(17).position[3]", ("Train(17).", "position[3]")),
        ("aaaaaaaaaaaaaaaaaaaaaaaaaa", ("aaaaaaaaaa…",)),
        ("one_two_three_four_five_six_seven", ("one_two_", "three_four_fi…")),
    ],
)
def test_names_break_where_they_have_parts(text: str, expected: tuple[str, ...]) -> None:
    assert fit(text, 92, SIZE) == expected
