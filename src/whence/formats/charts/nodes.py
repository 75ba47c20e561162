"""YAML as a tree of nodes that know where they stand, and no more of YAML than a model needs.

We take the events of PyYAML's parser and build the tree ourselves.  So scalars stay texts (`on`
is no truth value, `1e-4` no rounded number), keys that stand twice are found, and what makes small
files huge or deep never gets started: aliases are refused, and depth has a limit.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Any

import yaml

from whence.expr.scope import Problem, Problems
from whence.source import Diagnostic, InputError, Origin, SourceText, UnsupportedError

__all__ = ["MAX_DEPTH", "Mapping", "Node", "Scalar", "Sequence", "decode", "read_nodes"]

#: Composite states nest two levels each; more than this is an attack or a mistake.
MAX_DEPTH = 100

_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
_QUOTE_HINT = "put the whole text into quotes"
#: The lengths of escapes with digits, and the escapes that stand for blanks.
_ESCAPES = {"x": 4, "u": 6, "U": 10}
_BLANK_ESCAPES = frozenset("tnvfrNLP_ \t\n\r\x85\u2028\u2029")


@dataclass(frozen=True, slots=True, eq=False)
class Scalar:
    """`plain`: written without quotes."""

    text: SourceText
    origin: Origin
    plain: bool

    @property
    def value(self) -> str:
        return self.text.text

    @property
    def empty(self) -> bool:
        """Nothing was written."""
        return self.plain and self.value in ("", "~", "null")


@dataclass(frozen=True, slots=True, eq=False)
class Sequence:
    items: tuple[Node, ...]
    origin: Origin


@dataclass(frozen=True, slots=True, eq=False)
class Mapping:
    pairs: tuple[tuple[Scalar, Node], ...]
    origin: Origin


Node = Scalar | Sequence | Mapping


def decode(data: bytes, file: str) -> str:
    """The text of a file. Raises InputError where it is not UTF-8."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8-sig", "replace")
        line = before.count("\n") + 1
        column = len(before) - (before.rfind("\n") + 1) + 1
        raise InputError(
            Diagnostic(
                "this is not UTF-8 text",
                Origin(file, line, column, line, column + 1),
                "save the file in the encoding UTF-8",
            )
        ) from None


def read_nodes(text: str, file: str, problems: Problems) -> Node | None:
    """The one document in a text; None if it is empty. Keys that stand twice are noted in
    `problems`; raises InputError where the text is no YAML, or uses what we refuse."""
    builder = _Builder(text, file, problems)
    try:
        stream: Any = _Events(text)
        while stream.check_event():
            builder.take(stream.get_event())
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = builder.places.origin(mark.index) if mark is not None else Origin(file)
        raise InputError(
            Diagnostic(f"this is no YAML: {_reason(error)}", place, _hint(error))
        ) from None
    except yaml.reader.ReaderError as error:
        place = builder.places.origin(error.position)
        raise InputError(
            Diagnostic(f"this is no text: it has the character {error.character:#x}", place)
        ) from None
    except (ValueError, OverflowError):
        # PyYAML lets escapes through that are no characters.
        place = builder.places.origin(stream.get_mark().index)
        raise InputError(
            Diagnostic("this is no YAML: no character has this number", place)
        ) from None
    return builder.root


class _Events(yaml.reader.Reader, yaml.scanner.Scanner, yaml.parser.Parser):
    """PyYAML's parser without what would make values of the events."""

    def __init__(self, text: str) -> None:
        yaml.reader.Reader.__init__(self, text)
        yaml.scanner.Scanner.__init__(self)
        yaml.parser.Parser.__init__(self)


def _reason(error: yaml.MarkedYAMLError) -> str:
    problem = error.problem or "it cannot be read"
    if "\\t" in problem:
        return "a tab cannot stand here"
    parts = [error.context, problem] if error.context else [problem]
    return ", ".join(str(part) for part in parts)


def _hint(error: yaml.MarkedYAMLError) -> str:
    problem = error.problem or ""
    if "\\t" in problem:
        return "indent with spaces"
    if "mapping values are not allowed" in problem:
        return f"if `: ` is part of a text, {_QUOTE_HINT}"
    if "tag" in (error.context or ""):
        return f"if `!` is part of the text, {_QUOTE_HINT}"
    if "expected ',' or" in problem:
        return f"inside braces and brackets, a text must not contain , [ ] {{ }}: {_QUOTE_HINT}"
    if "undefined alias" in problem or "cannot start any token" in problem:
        return _QUOTE_HINT
    return ""


# ---------------------------------------------------------------------------------------- places


class _Places:
    """Lines and columns of the characters of a text."""

    def __init__(self, text: str, file: str) -> None:
        self.text = text
        self.file = file
        self._starts = [0, *(match.end() for match in _BREAK.finditer(text))]

    def position(self, index: int) -> tuple[int, int]:
        line = bisect_right(self._starts, index)
        return line, index - self._starts[line - 1] + 1

    def origin(self, start: int, end: int | None = None) -> Origin:
        stop = start + 1 if end is None else end
        return Origin(self.file, *self.position(start), *self.position(max(start, stop)))

    def source(self, start: int, end: int, value: str, style: str | None) -> SourceText:
        """The text of a scalar, with the place of each of its characters."""
        first = start + (1 if style in ("'", '"') else 0)
        whole = self.text[first : first + len(value)] == value
        if whole and not _BREAK.search(value):
            return SourceText(value, self.file, ((0, *self.position(first)),))
        pieces = tuple(
            (offset, *self.position(index))
            for offset, index in _pieces(self.text, start, end, value, style)
        )
        return SourceText(value, self.file, pieces or ((0, *self.position(start)),))


def _pieces(
    text: str, start: int, end: int, value: str, style: str | None
) -> list[tuple[int, int]]:
    """(offset in `value`, index in `text`) of each stretch of a scalar that stands in one piece.

    Folding and indentation change blanks only, and escapes are the only other change: so the
    characters that are no blanks come in the same order in both.
    """
    at = start
    if style in ("'", '"'):
        at += 1
    elif style in ("|", ">"):
        header = _BREAK.search(text, start, end)
        at = header.end() if header else end
    pieces: list[tuple[int, int]] = []
    joined = False
    for offset, char in enumerate(value):
        if char.isspace():
            if joined and at < end and text[at] == char and not _BREAK.match(char):
                at += 1
            else:
                joined = False
            continue
        while at < end:
            length = _blank(text, at, style)
            if not length:
                break
            at += length
            joined = False
        if at >= end:
            break
        if not joined:
            pieces.append((offset, at))
        length = _length(text, at, style)
        joined = length == 1
        at += length
    if pieces and pieces[0][0] > 0:
        pieces.insert(0, (0, start))
    return pieces


def _length(text: str, at: int, style: str | None) -> int:
    """How many characters the one at `at` is written with."""
    if style == '"' and text[at] == "\\":
        return _ESCAPES.get(text[at + 1 : at + 2], 2)
    if style == "'" and text[at] == "'":
        return 2
    return 1


def _blank(text: str, at: int, style: str | None) -> int:
    """The length of the blank that is written at `at`; 0 if it is none."""
    if text[at].isspace():
        return 1
    if style != '"' or text[at] != "\\":
        return 0
    kind = text[at + 1 : at + 2]
    length = _length(text, at, style)
    if kind in _ESCAPES:
        return length if chr(int(text[at + 2 : at + length], 16)).isspace() else 0
    return length if kind in _BLANK_ESCAPES else 0


# ----------------------------------------------------------------------------------------- nodes


@dataclass(slots=True)
class _Open:
    """A sequence or mapping that is being read; of a mapping, keys and values take turns."""

    keyed: bool
    start: int
    nodes: list[Node] = field(default_factory=list)


class _Builder:
    def __init__(self, text: str, file: str, problems: Problems) -> None:
        self.places = _Places(text, file)
        self.problems = problems
        self.root: Node | None = None
        self._documents = 0
        self._open: list[_Open] = []

    def take(self, event: Any) -> None:
        start, end = event.start_mark.index, event.end_mark.index
        match event:
            case yaml.DocumentStartEvent():
                self._documents += 1
                if self._documents > 1:
                    self._refuse("several documents in one file", start)
            case yaml.AliasEvent():
                self._refuse("aliases (`*name`)", start, _QUOTE_HINT)
            case yaml.ScalarEvent():
                self._check_properties(event)
                self._add(self._scalar(event, start, end))
            case yaml.SequenceStartEvent() | yaml.MappingStartEvent():
                self._check_properties(event)
                if len(self._open) >= MAX_DEPTH:
                    raise InputError(
                        Diagnostic(
                            f"this is nested more than {MAX_DEPTH} levels deep",
                            self.places.origin(start),
                        )
                    )
                self._open.append(_Open(isinstance(event, yaml.MappingStartEvent), start))
            case yaml.SequenceEndEvent() | yaml.MappingEndEvent():
                self._close(end)

    def _check_properties(self, event: Any) -> None:
        start = event.start_mark.index
        if event.anchor is not None:
            self._refuse("anchors (`&name`)", start, _QUOTE_HINT)
        if event.tag is not None:
            # `when: !open` or `when: ! open` would lose its negation otherwise.
            hint = f"if `!` is part of the text, {_QUOTE_HINT}"
            self._refuse(f"tags (`{event.tag[:40]}`)", start, hint)

    def _refuse(self, what: str, at: int, hint: str = "") -> None:
        raise UnsupportedError(Diagnostic(f"not supported: {what}", self.places.origin(at), hint))

    def _scalar(self, event: Any, start: int, end: int) -> Scalar:
        value: str = event.value
        origin = self.places.origin(start, end)
        if any("\ud800" <= char <= "\udfff" for char in value):
            raise InputError(Diagnostic("half a character (a surrogate) in a text", origin))
        text = self.places.source(start, end, value, event.style)
        return Scalar(text, origin, event.style is None)

    def _add(self, node: Node) -> None:
        if self._open:
            self._open[-1].nodes.append(node)
        elif self._documents == 1:
            self.root = node

    def _close(self, end: int) -> None:
        done = self._open.pop()
        # A block ends where the next thing begins: what is said about it is about its start.
        origin = self.places.origin(done.start, max(done.start + 1, end))
        if not done.keyed:
            self._add(Sequence(tuple(done.nodes), origin))
            return
        pairs: list[tuple[Scalar, Node]] = []
        seen: dict[str, Origin] = {}
        for key, value in zip(done.nodes[::2], done.nodes[1::2], strict=True):
            with self.problems.collecting():
                if not isinstance(key, Scalar):
                    raise Problem("expected a name as key", key.origin)
                if key.value in seen:
                    raise Problem(
                        f"`{key.value}` stands here twice",
                        key.origin,
                        f"the first is at {seen[key.value]}",
                    )
                seen[key.value] = key.origin
                pairs.append((key, value))
        self._add(Mapping(tuple(pairs), origin))
