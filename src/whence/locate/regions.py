"""Where the code of a place stands in the user's text, and as what it can be taken apart.

A *region* is an expression as it is spelled: a condition, a value, a whole statement, the body of a
macro, the size of an array, an initialiser.  Offsets count bytes, as clang's columns do: texts are
decoded as Latin-1 here, a character a byte, whatever they are.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from whence.formats.c.spelled import NotSpelled, Spelled, Token, spelled, tokens
from whence.locate.fault_model import Place, Suspects
from whence.model.program import Function, Program
from whence.model.program_walk import statements
from whence.source import Origin

__all__ = ["Form", "Region", "SourceFile", "regions_of", "statement_regions"]

#: `effect`: a statement, of which nobody uses the value. `definition`: what must be constant.
Form = Literal["condition", "value", "effect", "macro", "definition"]

_HEADS: Final = {"if", "while", "switch"}
_OBJECT_MACRO: Final = re.compile(r"[A-Za-z_]\w*(\([^()]*\))?[ \t]*")


@dataclass(frozen=True)
class SourceFile:
    """A file; `text` has a character for each byte."""

    name: str
    text: str
    starts: tuple[int, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        starts = [0, *(match.end() for match in re.finditer("\n", self.text))]
        object.__setattr__(self, "starts", tuple(starts))

    def offset(self, line: int, column: int) -> int:
        return min(self.starts[min(line, len(self.starts)) - 1] + column - 1, len(self.text))

    def line(self, offset: int) -> int:
        return bisect_right(self.starts, offset)

    def stretch(self, origin: Origin) -> tuple[int, int]:
        start = self.offset(origin.line, origin.column)
        return start, max(start, self.offset(origin.end_line, origin.end_column))


@dataclass(frozen=True, slots=True)
class Region:
    """`start` to `end` in its file; `function` is the key of the one that it stands in."""

    file: str
    start: int
    end: int
    form: Form
    tree: Spelled
    function: str = ""


def _region(
    source: SourceFile, start: int, end: int, form: Form, function: str = ""
) -> Iterator[Region]:
    text = source.text[start:end]
    if "#" in text and re.search(r"^[ \t]*#", text, re.MULTILINE):
        return
    try:
        tree = spelled(source.text, start, end)
    except NotSpelled:
        return
    yield Region(source.name, tree.start, tree.end, form, tree, function)


def regions_of(
    place: Place, program: Program, suspects: Suspects, sources: Mapping[str, SourceFile]
) -> tuple[Region, ...]:
    """What can be changed of a place. Nothing where the text cannot be taken apart."""
    source = sources.get(place.origin.file)
    if source is None or not place.origin.line:
        return ()
    found: list[Region] = []
    match place.kind:
        case "macro" | "constant":
            found += _macro(source, place) if place.kind == "macro" else _constant(source, place)
        case "array size":
            found += _sizes(source, place)
        case "initialiser":
            # The place is that of the value.
            found += _region(source, *source.stretch(place.origin), "definition")
        case _:
            for function in program.functions.values():
                origins = [
                    statement.origin
                    for statement in statements(function.body)
                    if suspects.of_statement.get(statement.number) == place
                ]
                found += statement_regions(source, origins, function)
    return tuple(found)


def statement_regions(
    source: SourceFile, origins: Sequence[Origin], function: Function
) -> list[Region]:
    """Of statements: the outermost of them."""
    stretches = sorted(
        {source.stretch(each) for each in origins if each.file == source.name and each.line},
        key=lambda pair: (pair[0], -pair[1]),
    )
    found: list[Region] = []
    reached = -1
    for start, end in stretches:
        if start >= reached and end > start:
            found += _statement(source, start, end, function.key)
            reached = end
    return found


def _statement(source: SourceFile, start: int, end: int, function: str) -> Iterator[Region]:
    try:
        words = list(tokens(source.text, start, end))
    except NotSpelled:
        return
    if not words:
        return
    first = words[0].text
    if first in _HEADS and len(words) > 2 and words[1].text == "(":
        form: Form = "value" if first == "switch" else "condition"
        yield from _region(source, words[2].start, end, form, function)
    elif first == "for":
        yield from _for(source, words, end, function)
    elif first == "return":
        if len(words) > 1:
            yield from _region(source, words[1].start, end, "value", function)
    elif first != "do":
        before = source.text[:start].rstrip()[-1:]
        for region in _region(source, start, end, "effect", function):
            acts = region.tree.kind in ("assignment", "call", "postfix", "comma") or (
                region.tree.kind == "prefix" and region.tree.operator in ("++", "--")
            )
            form = "effect" if acts and before != "=" else "value"
            yield Region(region.file, region.start, region.end, form, region.tree, function)


def _for(source: SourceFile, words: list[Token], end: int, function: str) -> Iterator[Region]:
    depth, marks = 0, []
    for word in words[2:]:
        depth += word.text in "([{"
        depth -= word.text in ")]}"
        if depth < 0:
            end = word.start
            break
        if word.text == ";" and not depth:
            marks.append(word)
    if not marks or len(words) < 3:
        return
    first = words[2]
    yield from _region(source, first.start, marks[0].start, "effect", function)
    stop = marks[1].start if len(marks) > 1 else end
    yield from _region(source, marks[0].end, stop, "condition", function)
    if len(marks) > 1:
        yield from _region(source, marks[1].end, end, "effect", function)


def _macro(source: SourceFile, place: Place) -> Iterator[Region]:
    start, end = source.stretch(place.origin)
    head = _OBJECT_MACRO.match(source.text, start, end)
    if head is not None and head.end() < end:
        yield from _region(source, head.end(), end, "macro")


def _constant(source: SourceFile, place: Place) -> Iterator[Region]:
    start, end = source.stretch(place.origin)
    at = source.text.find("=", start, end)
    if at >= 0:
        yield from _region(source, at + 1, end, "definition")


def _sizes(source: SourceFile, place: Place) -> Iterator[Region]:
    start, _ = source.stretch(place.origin)
    # The declaration's stretch may end before its brackets do.
    named = re.compile(rf"\b{re.escape(place.name)}\s*((?:\[[^\]\[]*\]\s*)+)").search(
        source.text, start
    )
    if named is None or source.line(named.start()) > place.origin.end_line + 1:
        return
    for match in re.finditer(r"\[([^\]\[]+)\]", source.text[named.start(1) : named.end(1)]):
        at = named.start(1)
        yield from _region(source, at + match.start(1), at + match.end(1), "definition")
