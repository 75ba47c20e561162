"""Marks in copies of logs: nothing else changes, whatever the ends of lines."""

from __future__ import annotations

import gzip
from fractions import Fraction
from pathlib import Path

import pytest

from whence.formats.logs import read_trace
from whence.formats.marks import Mark, marked_copy
from whence.source import InputError

FRAMES = ["(1.0) can0 7E0#023E00", "(1.1) can0 7E8#027E00", "(2.0) can0 7E0#023E00"]
MARKS = [
    Mark(3, "first\nof two", Fraction(11, 10)),
    Mark(3, "second"),
    Mark(0, "third", Fraction(2)),
]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("last", ["", "end"])
def test_lines_stay_as_they_were(tmp_path: Path, end: str, last: str) -> None:
    log = tmp_path / "x.log"
    text = end.join(FRAMES) + (end if last else "")
    log.write_bytes(text.encode())
    copy = marked_copy(str(log), tmp_path / "m" / "x.log", MARKS)
    said = [f"# FAILED: {mark}" for mark in ("first of two", "second", "third")]
    expected = [*FRAMES[:2], *said[:2], FRAMES[2], said[2], ""]
    assert copy.read_bytes() == end.join(expected).encode()
    assert log.read_bytes() == text.encode()
    assert [mark.verdict for mark in read_trace(str(copy)).annotations] == ["fail"] * 3


def test_a_carriage_return_ends_a_line(tmp_path: Path) -> None:
    """For those who read logs, so that lines have the same numbers here."""
    log = tmp_path / "x.log"
    log.write_bytes(b"\r".join(line.encode() for line in FRAMES) + b"\n")
    copy = marked_copy(str(log), tmp_path / "y.log", [Mark(3, "here")])
    lines = copy.read_bytes().replace(b"\r", b"\n").split(b"\n")
    assert [line for line in lines if line][2] == b"# FAILED: here"


def test_trc(tmp_path: Path) -> None:
    log = tmp_path / "x.trc"
    log.write_text(
        ";$FILEVERSION=1.1\n;$STARTTIME=45000.0\n"
        "     1)      1000.0  Rx         07E0  3  02 3E 00\n"
        "     2)      1010.0  Rx         07E8  3  02 7E 00\n"
    )
    copy = marked_copy(str(log), tmp_path / "y.trc", [Mark(4, "here")])
    assert copy.read_text().splitlines()[3] == "; FAILED: here"
    assert read_trace(str(copy)).frames == read_trace(str(log)).frames == 2


def test_a_packed_log_has_its_marks_beside_it(tmp_path: Path) -> None:
    log = tmp_path / "x.log.gz"
    log.write_bytes(gzip.compress("\n".join(FRAMES).encode()))
    beside = marked_copy(str(log), tmp_path / "m" / "x.log.gz", MARKS)
    assert beside.name == "x.log.gz.marks.events"
    assert (tmp_path / "m" / "x.log.gz").read_bytes() == log.read_bytes()
    told = [(mark.text, mark.time) for mark in read_trace(str(beside)).annotations[1:]]
    assert told == [("first of two", Fraction(11, 10)), ("second", None), ("third", Fraction(2))]


def test_columns_of_a_table_in_any_order(tmp_path: Path) -> None:
    log = tmp_path / "x.csv"
    log.write_text("kind,first,name,message\nrequest,1,get,\npositive,2,get,\n")
    copy = marked_copy(str(log), tmp_path / "y.csv", [Mark(3, "too, late", Fraction(1, 2))])
    assert copy.read_text().splitlines()[2] == 'verdict:fail,0.5,,"too, late"'
    (mark,) = read_trace(str(copy)).annotations
    assert (mark.verdict, mark.text, mark.position) == ("fail", "too, late", 1)


def test_the_log_itself_is_never_overwritten(tmp_path: Path) -> None:
    log = tmp_path / "x.log"
    log.write_text("\n".join(FRAMES))
    (tmp_path / "link").symlink_to(tmp_path)
    for target in (log, tmp_path / "link" / "x.log"):
        with pytest.raises(InputError, match="take the place of the log"):
            marked_copy(str(log), target, MARKS)
    with pytest.raises(InputError, match="no copy can be made"):
        marked_copy(str(log), log / "x.log", MARKS)
