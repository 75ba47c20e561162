"""Marks written into copies of logs, as comments of their format."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Final

from whence.files import written_atomically
from whence.formats.can.read import format_of, head_of
from whence.formats.events.read import plain_format_of
from whence.formats.events.tables import json_line
from whence.formats.events.text import text_line
from whence.model.events import Annotation
from whence.source import Diagnostic, InputError, Origin

__all__ = ["SIDECAR", "Mark", "marked_copy"]

#: What is put behind the name of a log that has no room for comments: event lines.
SIDECAR: Final = ".marks.events"
_COMMENT: Final = {
    "candump": "# ",
    "candump console": "# ",
    "ASC": "// ",
    "TRC": "; ",
    "python-can CSV": "# ",
}
_PLAIN: Final = ("event lines", "event CSV", "event JSON lines")
_GZIP: Final = b"\x1f\x8b"
_LINE: Final = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


@dataclass(frozen=True, slots=True)
class Mark:
    """Something that failed. It is put before this line of the log, 0: at its end."""

    before: int
    text: str
    date: Fraction | None = None


def marked_copy(path: str, target: Path, marks: Sequence[Mark]) -> Path:
    """A copy of the log with the marks in it. If its format has no comments, or it is packed, the
    copy is as it was, and the marks stand in a file beside it. Returns the file with the marks.
    Raises InputError if it cannot be read or written."""
    if target.exists() and Path(path).exists() and target.samefile(path):
        raise InputError(
            Diagnostic(
                "the copy would take the place of the log", Origin(str(target)),
                "name another folder",
            )
        )  # fmt: skip
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        head = head_of(path)
        form = plain_format_of(head) or format_of(head) or ""
        with open(path, "rb") as stream:
            packed = stream.read(2) == _GZIP
        if packed or form not in (*_COMMENT, *_PLAIN):
            shutil.copyfile(path, target)
            beside = target.with_name(target.name + SIDECAR)
            _write_sidecar(beside, path, marks)
            return beside
        _write_marked(path, target, form, marks)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise InputError(Diagnostic(f"no copy can be made: {why}", Origin(str(target)))) from None
    return target


def _annotation(mark: Mark, date: bool) -> Annotation:
    return Annotation("verdict", mark.text, "fail", mark.date if date else None)


def _write_sidecar(beside: Path, path: str, marks: Sequence[Mark]) -> None:
    with written_atomically(beside) as write:
        write(f"%unit s\n# {' '.join(Path(path).name.split())}\n")
        for mark in marks:
            write(f"{text_line(_annotation(mark, True))}\n")


def _write_marked(path: str, target: Path, form: str, marks: Sequence[Mark]) -> None:
    by_line: dict[int, list[Mark]] = {}
    for mark in marks:
        by_line.setdefault(mark.before, []).append(mark)
    told = _teller(path, form)
    temporary = target.with_name(f".{target.name}.part")
    try:
        with open(temporary, "wb") as stream:
            end, last = b"\n", b"\n"
            for number, line in enumerate(_lines(path), 1):
                if number == 1 and line.endswith(b"\r\n"):
                    end = b"\r\n"
                for mark in by_line.pop(number, ()):
                    stream.write(told(mark) + end)
                stream.write(line)
                last = line
            rest = [mark for line in sorted(by_line) for mark in by_line[line]]
            if rest and not last.endswith((b"\n", b"\r")):
                stream.write(end)
            for mark in rest:
                stream.write(told(mark) + end)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def _lines(path: str) -> Iterator[bytes]:
    """With their ends; a CR alone ends a line, too, as for those who read logs."""
    with open(path, "rb") as stream:
        for line in stream:
            if b"\r" in line[:-2]:
                yield from _LINE.findall(line)
            else:
                yield line


def _teller(path: str, form: str) -> Callable[[Mark], bytes]:
    """What is written for a mark, without the end of the line."""
    if form in _COMMENT:
        sign = _COMMENT[form]
        return lambda mark: f"{sign}FAILED: {' '.join(mark.text.split())}".encode()
    if form == "event lines":
        return lambda mark: text_line(_annotation(mark, False)).encode()
    if form == "event JSON lines":
        return lambda mark: json_line(_annotation(mark, True)).encode()
    columns = _columns(path)

    def row(mark: Mark) -> bytes:
        values: dict[str, str] = json.loads(json_line(_annotation(mark, True)))
        stream = io.StringIO()
        csv.writer(stream, lineterminator="").writerow([values.get(name, "") for name in columns])
        return stream.getvalue().encode()

    return row


def _columns(path: str) -> list[str]:
    """Those of the first row."""
    with open(path, encoding="utf-8-sig", errors="replace", newline="") as stream:
        return [name.strip() for name in next(csv.reader(stream), [])]
