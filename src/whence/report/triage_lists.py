"""Lists on a page that may have ten thousand entries: the first ones as a table, all of them as
compact JSON, of which the page's script shows a page at a time.

What is in the JSON is text for the script to show, never markup: names in logs are hostile.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Final
from urllib.parse import quote

from whence.report.page import code, tag
from whence.report.svg import clean as printable
from whence.report.svg import escaped
from whence.report.triage_words import clean, date_words
from whence.triage.findings import FoundFault, FoundTrace, Triage
from whence.triage.words import time_text

__all__ = ["PAGE", "Lists", "Place"]

#: So many entries are shown at a time; the script has the same number.
PAGE: Final = 10
#: So much of a text is kept.
_LONGEST: Final = 200


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a log; 0: the whole of it."""

    file: str
    line: int = 0


@dataclass
class Lists:
    """All lists of a page. Links to logs are relative to the `folder` where the page will be."""

    found: Triage
    folder: str = "."
    root: str = ""
    _common: str = ""
    _files: dict[str, int] = field(default_factory=dict)
    _texts: dict[str, int] = field(default_factory=dict)
    #: By number: the place in the JSON, and what stands there.
    _traces: dict[int, tuple[int, tuple[int, ...]]] = field(default_factory=dict)
    _faults: dict[int, tuple[int, tuple[int | str, ...]]] = field(default_factory=dict)
    _lists: dict[str, object] = field(default_factory=dict)
    _base: int = 0

    def __post_init__(self) -> None:
        files = {trace.file for trace in self.found.traces}
        self._common = _common_folder(files)
        if self._common:
            self.root = _reference(self._common, self.folder)
        dates = [int(fault.date * 1000) for fault in self.found.faults if self._is_absolute(fault)]
        self._base = min(dates, default=0)

    # ------------------------------------------------------------------------------- entries

    def members(self, name: str, faults: Sequence[int]) -> str:
        """The table of the faults of a class."""
        heads = ["Log", "Time", "Fault", "Observed"]
        heads += ["Environment"] if self.found.marks else []
        if len(faults) > PAGE:
            self._lists[name] = [self._keep(number) for number in faults]
        rows = [self._member(number) for number in faults[:PAGE]]
        return _table(name, "faults", heads, rows, len(faults))

    def texts(
        self, name: str, noun: str, heads: Sequence[str], rows: Sequence[Sequence[Place | str]]
    ) -> str:
        """A table of texts and places."""
        if len(rows) > PAGE:
            self._lists[name] = [
                [
                    self._text(cell) if isinstance(cell, str)
                    else [self._file(cell.file), cell.line]
                    for cell in row
                ]
                for row in rows
            ]  # fmt: skip
        shown = [
            [
                code(_short(cell)) if isinstance(cell, str) else self._link(cell.file, cell.line)
                for cell in row
            ]
            for row in rows[:PAGE]
        ]
        return _table(name, noun, heads, shown, len(rows))

    def data(self) -> str:
        """The JSON, as it may stand in a page."""
        names = ("trace", "line", "date", "number", "index", "event", "after", "mark")
        columns = list(zip(*(row for _, row in self._faults.values()), strict=True))
        columns = columns or [()] * len(names)
        document = {
            "page": PAGE,
            "root": self.root,
            "base": self._base,
            "marked": bool(self.found.marks),
            "files": [self._entry(file) for file in self._files],
            "texts": list(self._texts),
            "traces": [row for _, row in self._traces.values()],
            "faults": dict(zip(names, map(list, columns), strict=True)),
            "lists": self._lists,
        }
        text = json.dumps(document, separators=(",", ":"), ensure_ascii=True)
        # Nothing in it ends the element that it stands in, or begins another.
        return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")

    # ------------------------------------------------------------------------- one fault, a row

    def _is_absolute(self, fault: FoundFault) -> bool:
        absolute = self.found.absolute
        return fault.trace < len(absolute) and absolute[fault.trace]

    def _member(self, number: int) -> list[str]:
        fault = self.found.faults[number]
        trace = self.found.traces[fault.trace]
        after = _after(fault)
        cells = [
            self._link(trace.file, fault.line) + _conversation(trace),
            tag("span", escaped(date_words(fault.date, self._is_absolute(fault))), class_="date"),
            escaped(_which(fault, trace)),
            code(_short(fault.event) or "the end of the trace") + (f" {after}" if after else ""),
        ]
        if self.found.marks:
            mark = self.found.marked[number]
            cells.append(
                tag("span", "not marked", class_="quiet") if mark is None
                else escaped(_short(self.found.marks[mark].text) or "marked")
            )  # fmt: skip
        return cells

    def _keep(self, number: int) -> int:
        """The place of a fault in the JSON."""
        known = self._faults.get(number)
        if known is not None:
            return known[0]
        fault = self.found.faults[number]
        mark = self.found.marked[number]
        date: int | str = date_words(fault.date, False)
        if self._is_absolute(fault):
            date = int(fault.date * 1000) - self._base
        row = (
            self._trace(fault.trace),
            fault.line,
            date,
            fault.number + 1,
            -1 if fault.index is None else fault.index,
            self._text(fault.event),
            _after(fault),
            -1 if mark is None else self._text(self.found.marks[mark].text or "marked"),
        )
        place = len(self._faults)
        self._faults[number] = place, row
        return place

    def _trace(self, number: int) -> int:
        known = self._traces.get(number)
        if known is not None:
            return known[0]
        trace = self.found.traces[number]
        words = _conversation_words(trace)
        row = self._file(trace.file), self._text(words) if words else -1, trace.faults
        place = len(self._traces)
        self._traces[number] = place, row
        return place

    def _text(self, text: str) -> int:
        return self._texts.setdefault(_short(text), len(self._texts))

    # ----------------------------------------------------------------------------------- files

    def _file(self, file: str) -> int:
        return self._files.setdefault(file, len(self._files))

    def _shown(self, file: str) -> str:
        """The file as far as it is not in the common folder."""
        if not self._common:
            return file
        return os.path.relpath(os.path.abspath(file), self._common).replace(os.sep, "/")

    def _entry(self, file: str) -> str | list[str]:
        """What the script can make a link of: the name of the file, where it needs no more."""
        shown = self._shown(file)
        if self.root and printable(shown) == shown and "\\" not in shown:
            return shown
        return [printable(shown), self._href(file)]

    def _href(self, file: str) -> str:
        if not self.root:
            return _reference(file, self.folder).rstrip("/")
        return self.root + _quoted(self._shown(file))

    def _link(self, file: str, line: int) -> str:
        shown = printable(self._shown(file)) + (f":{line}" if line else "")
        return tag("a", code(shown), href=self._href(file))


def _table(
    name: str, noun: str, heads: Sequence[str], rows: Sequence[Sequence[str]], total: int
) -> str:
    """The first rows, and the place for what the script adds."""
    body = "\n".join(tag("tr", *(tag("td", cell) for cell in row)) for row in rows)
    table = tag(
        "table",
        tag("thead", tag("tr", *(tag("th", head, scope="col") for head in heads))),
        tag("tbody", "\n", body, "\n"),
        class_="members" if noun == "faults" else None,
    )
    frame = tag("div", table, class_="wide", tabindex=0, role="group", aria_label=noun)
    if total <= len(rows):
        return frame
    more = tag("p", f"{len(rows)} of {total:,} {noun}.", class_="quiet more")
    return tag("div", frame, more, class_="list", data_list=name, data_noun=noun)


def _short(text: str) -> str:
    cleaned = printable(clean(text))
    return cleaned if len(cleaned) <= _LONGEST else f"{cleaned[:_LONGEST]}…"


def _which(fault: FoundFault, trace: FoundTrace) -> str:
    which = f"{fault.number + 1} of {trace.faults}"
    return which if fault.index is None else f"{which}, event {fault.index}"


def _after(fault: FoundFault) -> str:
    if fault.kind in ("early", "late") or (fault.after and not fault.event):
        return f"after {time_text(fault.after)}"
    return ""


def _conversation_words(trace: FoundTrace) -> str:
    """What of the log the trace is, if it is not all of it."""
    name = PurePath(trace.file.replace("\\", "/")).name
    return "" if trace.name == name else trace.name.removeprefix(name).strip()


def _conversation(trace: FoundTrace) -> str:
    words = _conversation_words(trace)
    return tag("div", escaped(_short(words)), class_="quiet") if words else ""


def _common_folder(files: set[str]) -> str:
    """The folder that all files are in, "" if there is none."""
    try:
        return os.path.commonpath([os.path.dirname(os.path.abspath(file)) for file in files])
    except ValueError:  # no files, or on several drives
        return ""


def _reference(path: str, folder: str) -> str:
    """A folder or file as it is linked to from a page in `folder`, with a slash at its end. It
    never begins with what could be taken for a protocol."""
    try:
        relative = os.path.relpath(os.path.abspath(path), os.path.abspath(folder))
    except ValueError:  # on another drive
        return Path(path).absolute().as_uri() + "/"
    quoted = _quoted(relative.replace(os.sep, "/"))
    if quoted == ".":
        return "./"
    return f"{quoted}/" if quoted.startswith("../") or quoted == ".." else f"./{quoted}/"


def _quoted(path: str) -> str:
    """As `encodeURIComponent` does it, part by part."""
    try:
        raw = os.fsencode(path)
    except UnicodeEncodeError:
        raw = printable(path).encode()
    return quote(raw, safe="/!'()*")
