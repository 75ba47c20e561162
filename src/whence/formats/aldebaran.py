"""Transition systems in the format of Aldebaran (`.aut`), as CADP, mCRL2 and others write them.

::

    des (0, 3, 3)
    (0, "send !1", 1)
    (1, i, 2)
    (2, ack, 0)

The first line has the initial state, the number of transitions and the number of states; each
other one is a transition.  Blanks between the parts mean nothing.  A label stands between `"`,
with a backslash before a `"` or a backslash in it (before anything else, a backslash is just
that); or it is written as it is, if it has no `"` and no comma outside of parentheses.  Labels `i`
and `tau` are silent.  A label that ends in `; rate 0.5` has that rate, and `rate 0.5` alone is a
silent transition with one; `prob` is refused.

The format knows no bad states.  The reader takes them from its caller: numbers of states, or
labels; a state that a transition with such a label leads to is bad.

Files may have millions of lines.  What is usual is read with numpy, whole blocks of lines at a
time; a line that is not goes, alone, through :func:`_careful`, which also tells what is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import NoReturn

import numpy as np
import numpy.typing as npt

from whence.formats.markup import read_bytes
from whence.model.transitions import Action, TransitionSystem
from whence.source import Diagnostic, InputError, Origin, UnsupportedError, UsageError

__all__ = ["SILENT_LABELS", "read_aldebaran", "read_aldebaran_file", "write_aldebaran"]

SILENT_LABELS = ("i", "tau")

Ints = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]

#: Numbers of states are kept in 32 bits.
_MOST = 2**31 - 1
_LINES_AT_ONCE = 2**17
_MOST_PROBLEMS = 20
#: So many states more than transitions can mention are taken for a mistake, not for a system.
_SPARE_STATES = 1_000_000

_HEADER = re.compile(rb"[ \t]*des[ \t]*\([ \t]*([^,()]*),[ \t]*([^,()]*),[ \t]*([^,()]*)\)[ \t\r]*")
_EDGE = re.compile(rb"[ \t]*\([ \t]*(\d*)[ \t]*,(.*),[ \t]*(\d*)[ \t]*\)[ \t\r]*", re.DOTALL)
_NUMBER = re.compile(rb"[0-9]+")
_ESCAPED = re.compile(r'\\(["\\])')
_UNESCAPED_QUOTE = re.compile(r'(?<!\\)(?:\\\\)*"')
_VALUE = r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*"
_RATE = re.compile(r"(?:(.*\S|)\s*;\s*|)rate\s+" + _VALUE, re.DOTALL)
_PROBABILITY = re.compile(r"(?:.*;\s*|)prob\s+" + _VALUE, re.DOTALL)
_PLAIN_LABEL = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def read_aldebaran_file(
    path: Path | str,
    *,
    bad: Iterable[int] = (),
    bad_labels: Collection[str] = (),
    silent: Collection[str] = SILENT_LABELS,
) -> TransitionSystem:
    return read_aldebaran(
        read_bytes(path), str(path), bad=bad, bad_labels=bad_labels, silent=silent
    )


def read_aldebaran(
    text: bytes | str,
    file: str = "",
    *,
    bad: Iterable[int] = (),
    bad_labels: Collection[str] = (),
    silent: Collection[str] = SILENT_LABELS,
) -> TransitionSystem:
    """The system of an `.aut` text. Its proposition `bad` marks the states in `bad`, and those that
    a transition labelled in `bad_labels` leads to. Labels in `silent` are silent."""
    data = text.encode() if isinstance(text, str) else text
    return _Reader(data.removeprefix(b"\xef\xbb\xbf"), file).read(bad, bad_labels, silent)


@dataclass(frozen=True, slots=True)
class _Header:
    initial: int
    transitions: int
    states: int
    line: int


@dataclass(slots=True)
class _Labels:
    """Labels, by their bytes, in the order in which they come up; where each did first."""

    numbers: dict[bytes, int] = field(default_factory=dict)
    first: list[tuple[int, int]] = field(default_factory=list)

    def number(self, label: bytes, line: int, column: int) -> int:
        number = self.numbers.setdefault(label, len(self.first))
        if number == len(self.first):
            self.first.append((line, column))
        return number


@dataclass(frozen=True, slots=True)
class _Label:
    name: str
    rate: float | None


class _Reader:
    def __init__(self, data: bytes, file: str) -> None:
        self.data = data
        self.file = file
        self.problems: list[Diagnostic] = []
        self.labels = _Labels()

    # ------------------------------------------------------------------------------ complaints

    def problem(self, message: str, line: int, column: int, width: int = 1, hint: str = "") -> None:
        origin = Origin(self.file, line, column, line, column + width)
        self.problems.append(Diagnostic(message, origin, hint))
        if len(self.problems) >= _MOST_PROBLEMS:
            raise InputError(self.problems)

    def stop(
        self, message: str, line: int, column: int, width: int = 1, hint: str = ""
    ) -> NoReturn:
        self.problem(message, line, column, width, hint)
        raise InputError(self.problems)

    # ------------------------------------------------------------------------------ the whole

    def read(
        self, bad: Iterable[int], bad_labels: Collection[str], silent: Collection[str]
    ) -> TransitionSystem:
        header, begin = self.header()
        blocks = list(self.blocks(begin, header))
        table = np.concatenate(blocks) if blocks else np.zeros((0, 3), np.int64)
        self.check_count(header, len(table))
        meanings = self.meanings()
        if self.problems:
            raise InputError(self.problems)
        return self.system(header, table, meanings, bad, bad_labels, silent)

    def header(self) -> tuple[_Header, int]:
        """The header, and where the next line begins."""
        line, begin = 1, 0
        while begin < len(self.data):
            end = self.data.find(b"\n", begin)
            end = len(self.data) if end < 0 else end
            text = self.data[begin:end]
            if text.strip():
                return self.header_line(text, line), end + 1
            line, begin = line + 1, end + 1
        self.stop("the file is empty", 1, 1, hint="it must begin with `des (0, 1, 2)`")

    def header_line(self, text: bytes, line: int) -> _Header:
        column = len(text) - len(text.lstrip()) + 1
        found = _HEADER.fullmatch(text)
        if found is None:
            shown = text.strip()[:40].decode("utf-8", "replace")
            hint = "it is `des (<initial state>, <number of transitions>, <number of states>)`"
            message = f"expected the header `des (…)`, found `{shown}`"
            self.stop(message, line, column, len(shown), hint)
        numbers = []
        words = ("the initial state", "the number of transitions", "the number of states")
        for group, what in enumerate(words, 1):
            word = found[group].rstrip()
            column, width = found.start(group) + 1, max(len(word), 1)
            if re.search(rb"\d\s*[/ ]\s*\d", word):
                raise UnsupportedError(
                    Diagnostic(
                        "probabilistic transition systems are not supported",
                        Origin(self.file, line, column, line, column + width),
                    )
                )
            if not _NUMBER.fullmatch(word):
                shown = word.decode("utf-8", "replace")
                self.stop(f"{what} is `{shown}`, which is no number", line, column, width)
            if len(word) > 18 or int(word) > _MOST:
                self.stop(f"{what} is larger than {_MOST}, our limit", line, column, width)
            numbers.append(int(word))
        header = _Header(numbers[0], numbers[1], numbers[2], line)
        if header.initial >= header.states:
            column = found.start(1) + 1
            message = f"the initial state {header.initial} is none of the {header.states} states"
            self.stop(message, line, column, hint="states are numbered from 0")
        if header.states > 2 * header.transitions + _SPARE_STATES:
            message = f"{header.transitions} transitions cannot connect {header.states} states"
            self.stop(message, line, found.start(3) + 1)
        return header

    def check_count(self, header: _Header, found: int) -> None:
        if found == header.transitions or self.problems:
            return
        lines = self.data.count(b"\n") + (not self.data.endswith(b"\n"))
        message = f"the header announces {header.transitions} transitions, but there are {found}"
        hint = "the file may be truncated" if found < header.transitions else ""
        self.problem(message, lines if hint else header.line, 1, hint=hint)

    def system(
        self,
        header: _Header,
        table: Ints,
        meanings: list[_Label],
        bad: Iterable[int],
        bad_labels: Collection[str],
        silent: Collection[str],
    ) -> TransitionSystem:
        names = {
            name: number for number, name in enumerate(dict.fromkeys(m.name for m in meanings))
        }
        action = np.array([names[meaning.name] for meaning in meanings] or [0], np.int32)
        label = table[:, 1]
        target = table[:, 2].astype(np.int32)
        marks = np.zeros(header.states, bool)
        for state in bad:
            if not 0 <= state < header.states:
                raise UsageError(
                    Diagnostic(
                        f"state {state} is to be bad, but the states are 0 to {header.states - 1}",
                        Origin(self.file),
                    )
                )
            marks[state] = True
        action_of = action[label]
        for name in bad_labels:
            if name not in names:
                near = get_close_matches(name, names, 1)
                raise UsageError(
                    Diagnostic(
                        f"no transition is labelled `{name}`, which is to lead to bad states",
                        Origin(self.file),
                        f"did you mean `{near[0]}`?" if near else "then nothing bad can happen",
                    )
                )
            marks[target[action_of == names[name]]] = True
        rate = None
        if any(meaning.rate is not None for meaning in meanings):
            rates = [np.nan if meaning.rate is None else meaning.rate for meaning in meanings]
            rate = np.array(rates, np.float64)[label]
        return TransitionSystem(
            states=header.states,
            actions=tuple(
                Action(name=name, silent=name in silent, origin=self.origin_of(name, meanings))
                for name in names
            ),
            source=table[:, 0].astype(np.int32),
            action=action_of,
            target=target,
            initial=(header.initial,),
            propositions=MappingProxyType({"bad": marks}),
            rate=rate,
            name=Path(self.file).stem,
        )

    def origin_of(self, name: str, meanings: list[_Label]) -> Origin:
        line, column = self.labels.first[[meaning.name for meaning in meanings].index(name)]
        return Origin(self.file, line, column, line, column + 1)

    # ------------------------------------------------------------------------------ transitions

    def blocks(self, begin: int, header: _Header) -> Iterator[Ints]:
        """(source, label, target) of the transitions, block by block."""
        if begin >= len(self.data):
            return
        whole = np.frombuffer(self.data, np.uint8)
        ends = np.flatnonzero(whole[begin:] == ord("\n")) + begin
        if not len(ends) or ends[-1] + 1 < len(whole):
            ends = np.append(ends, len(whole))  # the last line need not end in a line feed
        starts = np.concatenate(([begin], ends[:-1] + 1))
        for first in range(0, len(starts), _LINES_AT_ONCE):
            some = slice(first, first + _LINES_AT_ONCE)
            yield self.block(whole, starts[some], ends[some], header.line + 1 + first, header)

    def block(self, whole: Bytes, starts: Ints, ends: Ints, line: int, header: _Header) -> Ints:
        begin = int(starts[0])
        text = whole[begin : int(ends[-1])]
        starts, ends = starts - begin, ends - begin
        table, fields = _fields(text, starts, ends)
        usual = (table[:, 0] >= 0) & (table[:, 2] >= 0)
        unusual = np.flatnonzero(~usual)
        raw = text.tobytes()
        known = self.labels.numbers
        left, right = fields[:, 0].tolist(), fields[:, 1].tolist()
        numbers = [known.get(raw[i:j], -1) for i, j in zip(left, right, strict=True)]
        table[:, 1] = numbers
        for at in np.flatnonzero(usual & (table[:, 1] < 0)).tolist():
            column = left[at] - int(starts[at]) + 1
            table[at, 1] = self.labels.number(raw[left[at] : right[at]], line + at, column)
        empty = []
        for at in unusual.tolist():
            content = raw[int(starts[at]) : int(ends[at])]
            edge = self.careful(content, line + at) if content.strip() else None
            if edge is None:
                empty.append(at)
            else:
                table[at] = edge
        table = np.delete(table, empty, axis=0)
        self.check_states(table, header, raw, starts, line, np.array(empty, np.int64))
        return table

    def check_states(
        self, table: Ints, header: _Header, raw: bytes, starts: Ints, line: int, empty: Ints
    ) -> None:
        lines = np.delete(np.arange(len(starts)), empty)
        for column, what in ((0, "source"), (2, "target")):
            for at in np.flatnonzero(table[:, column] >= header.states)[:_MOST_PROBLEMS].tolist():
                state, number = int(table[at, column]), int(lines[at])
                content = raw[int(starts[number]) :].split(b"\n", 1)[0]
                found = _EDGE.fullmatch(content)
                place = found.start(1 if column == 0 else 3) if found else 0
                self.problem(
                    f"the {what} {state} is none of the {header.states} states",
                    line + number,
                    place + 1,
                    len(str(state)),
                    f"the header says that the states are 0 to {header.states - 1}",
                )

    def careful(self, content: bytes, line: int) -> tuple[int, int, int] | None:
        """A transition that is written in an unusual way, or wrongly: that is told."""
        found = _EDGE.fullmatch(content)
        if found is None or not (found[1] and found[3]):
            self.malformed(content, line)
            return None
        numbers = []
        for group in (1, 3):
            if len(found[group]) > 18 or int(found[group]) > _MOST:
                message = f"a state is larger than {_MOST}, our limit"
                self.problem(message, line, found.start(group) + 1, len(found[group]))
                return None
            numbers.append(int(found[group]))
        label = found[2].strip(b" \t")
        column = found.start(2) + len(found[2]) - len(found[2].lstrip(b" \t")) + 1
        return numbers[0], self.labels.number(label, line, column), numbers[1]

    def malformed(self, content: bytes, line: int) -> None:
        shown = content.strip()
        column = len(content) - len(content.lstrip()) + 1
        hint = 'it is `(<state>, "<label>", <state>)`'
        if b"\0" in shown:
            self.stop("a NUL character: this is no text", line, content.index(b"\0") + 1)
        if shown.startswith(b"des"):
            self.problem("a second header", line, column, 3)
        elif not shown.startswith(b"("):
            self.problem("expected `(`, where a transition begins", line, column, hint=hint)
        elif not shown.endswith(b")"):
            end = len(content.rstrip()) + 1
            self.problem("expected `)`, where the transition ends", line, end, hint=hint)
        elif shown.count(b",") < 2:
            message = "expected a state, a label and a state, with commas between them"
            self.problem(message, line, column, len(shown), hint)
        else:
            inner = content[column:].split(b",", 1)[0]
            if inner.strip().isdigit():
                column += content[column:].rindex(b",") + 2
                inner = content[column - 1 :].rstrip()[:-1]
            else:
                column += 1
            word = inner.strip().decode("utf-8", "replace")
            column += len(inner) - len(inner.lstrip())
            message = f"expected the number of a state, found `{word[:40]}`"
            self.problem(message, line, column, max(len(word), 1), hint)

    # ------------------------------------------------------------------------------ labels

    def meanings(self) -> list[_Label]:
        """What each of the labels says."""
        result = []
        for raw, (line, column) in zip(self.labels.numbers, self.labels.first, strict=True):
            try:
                text = raw.decode()
            except UnicodeDecodeError as error:
                message = f"byte 0x{raw[error.start]:02x} is not UTF-8 text"
                self.problem(message, line, column + error.start)
                continue
            name = self.label(text, line, column)
            rate = None
            found = _RATE.fullmatch(name)
            if _PROBABILITY.fullmatch(name):
                self.problem(f"probabilities (`{name}`) are not supported", line, column, len(text))
            elif found is not None:
                name = SILENT_LABELS[0] if found[1] is None else found[1]
                rate = self.rate(found[2], line, column, len(text))
            result.append(_Label(name, rate))
        return result

    def label(self, text: str, line: int, column: int) -> str:
        if not text.startswith('"'):
            self.check_unquoted(text, line, column)
            return text
        inner = text[1:-1]
        if len(text) < 2 or not text.endswith('"'):
            self.problem('this `"` is never closed', line, column)
        elif (quote := _UNESCAPED_QUOTE.search(inner)) is not None:
            hint = 'within a label, write `\\"`'
            self.problem('the label ends at this `"`', line, column + quote.end(), hint=hint)
        elif (len(inner) - len(inner.rstrip("\\"))) % 2:
            self.problem("the last backslash escapes the end of the label", line, column)
        return _ESCAPED.sub(r"\1", inner)

    def check_unquoted(self, text: str, line: int, column: int) -> None:
        if not text:
            self.problem("a transition without a label", line, column, hint="silent ones have `i`")
        depth = 0
        for at, character in enumerate(text):
            depth += (character == "(") - (character == ")")
            if character == '"' or depth < 0 or (character == "," and not depth):
                message = f"the label `{text[:40]}` has a `{character}` in it"
                self.problem(message, line, column + at, hint='put the label between `"`')
                return

    def rate(self, text: str, line: int, column: int, width: int) -> float:
        rate = float(text)
        if not 0 <= rate < float("inf"):
            self.problem(f"the rate {text} is negative, or too large", line, column, width)
        return rate


def _fields(text: Bytes, starts: Ints, ends: Ints) -> tuple[Ints, Ints]:
    """For each line, its states in columns 0 and 2 of a table, -1 where the line is not written in
    the usual way; and where its label begins and ends."""
    table = np.full((len(starts), 3), -1, np.int64)
    commas = np.flatnonzero(text == ord(","))
    fields = np.zeros((len(starts), 2), np.int64)
    if not len(commas):
        return table, fields
    padded = np.concatenate((text, np.zeros(1, np.uint8)))
    ends = ends - ((ends > starts) & (padded[np.maximum(ends - 1, 0)] == ord("\r")))
    number = np.searchsorted(commas, starts)
    left = commas[np.minimum(number, len(commas) - 1)]
    last = np.searchsorted(commas, ends) - 1
    right = commas[np.maximum(last, 0)]
    good = (
        (last > number)
        & (padded[starts] == ord("("))
        & (padded[np.maximum(ends - 1, 0)] == ord(")"))
    )
    left, right = np.where(good, left, starts), np.where(good, right, starts)
    blank = ord(" ")
    before = right + 1
    before += good & (padded[np.minimum(before, len(text))] == blank)
    source = _numbers(padded, starts + 1, left)
    target = _numbers(padded, before, ends - 1)
    begin = left + 1
    begin += good & (padded[np.minimum(begin, len(text))] == blank)
    # A label with blanks around it, or tabs, is left to the careful reader.
    inside = begin < right
    around = padded[np.minimum(begin, len(text))], padded[np.maximum(right - 1, 0)]
    for character in (blank, ord("\t")):
        inside &= (around[0] != character) & (around[1] != character)
    good &= inside & (source >= 0) & (target >= 0)
    table[good, 0], table[good, 2] = source[good], target[good]
    fields[good, 0], fields[good, 1] = begin[good], right[good]
    return table, fields


def _numbers(text: Bytes, begin: Ints, end: Ints) -> Ints:
    """The numbers that stand between these places, of up to nine digits; -1 for anything else."""
    length = end - begin
    good = (length >= 1) & (length <= 9)
    result = np.zeros(len(begin), np.int64)
    for place in range(int(length[good].max(initial=0))):
        more = good & (place < length)
        digit = text[np.where(more, begin + place, 0)].astype(np.int64) - ord("0")
        good &= ~more | ((digit >= 0) & (digit <= 9))
        result = np.where(more, result * 10 + digit, result)
    return np.where(good, result, -1)


# ------------------------------------------------------------------------------ writing


def write_aldebaran(system: TransitionSystem) -> str:
    """The system as an `.aut` text: its transitions and their rates. What the format has no place
    for is left out: which states are bad (and all other propositions), what is a failure, names of
    states, and how far the system was explored. A silent action becomes `i`.

    Raises UsageError for a system with several initial states, and for an action that would read
    as something else.
    """
    if len(system.initial) != 1:
        raise UsageError(
            f"the system has {len(system.initial)} initial states; an `.aut` file has one"
        )
    labels = [_written(action) for action in system.actions]
    lines = [f"des ({system.initial[0]}, {system.transitions}, {system.states})\n"]
    columns = (system.source.tolist(), system.action.tolist(), system.target.tolist())
    if system.rate is None or np.isnan(system.rate).all():
        quoted = [_quoted(label) for label in labels]
        lines += [f"({s}, {quoted[a]}, {t})\n" for s, a, t in zip(*columns, strict=True)]
    else:
        for s, a, t, rate in zip(*columns, system.rate.tolist(), strict=True):
            label = labels[a] if rate != rate else _with_rate(labels[a], rate)
            lines.append(f"({s}, {_quoted(label)}, {t})\n")
    return "".join(lines)


def _written(action: Action) -> str:
    if action.silent:
        return SILENT_LABELS[0]
    name = action.name
    if name in SILENT_LABELS:
        raise UsageError(f"the action `{name}` is not silent, but would be read so")
    if _RATE.fullmatch(name) or _PROBABILITY.fullmatch(name):
        raise UsageError(f"the action `{name}` would be read as a rate or a probability")
    if "\n" in name or "\r" in name:
        raise UsageError(f"the action {name!r} has more than one line")
    return name


def _with_rate(name: str, rate: float) -> str:
    label = f"{name}; rate {rate!r}"
    found = _RATE.fullmatch(label)
    if found is None or found[1] != name:
        raise UsageError(f"the action {name!r} cannot be written with the rate {rate!r}")
    return label


def _quoted(label: str) -> str:
    if _PLAIN_LABEL.fullmatch(label):
        return label
    return '"' + label.replace("\\", "\\\\").replace('"', '\\"') + '"'
