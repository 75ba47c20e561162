"""Writes UPPAAL's XML, and changes models without touching what did not change.

A document that was read from XML *is* its text (`raw`): each edit is a splice of that text which
is then read again.  So layout, comments, blanks and everything that we do not understand stay
byte for byte as they were, and all places in the new document are those of the new file.  A
document that has no such text is changed as a value and written afresh.

Places move with each edit.  Who wants to change several places that one document tells gives them
to :func:`replace_texts` at once.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from whence.formats.uppaal.document import (
    Document,
    Label,
    QueryText,
    Template,
    TemplateEdge,
    TemplateLocation,
)
from whence.formats.uppaal.xml import TEMPLATE_TAGS, XmlFile, XmlNode, read_tree
from whence.model.network import Point
from whence.source import Origin, SourceText

__all__ = [
    "replace_declaration",
    "replace_label",
    "replace_queries",
    "replace_system",
    "replace_text",
    "replace_texts",
    "set_committed",
    "set_urgent",
    "write_xml",
]

Element = Literal["location", "edge"]

#: UPPAAL reads labels in their order: what a select declares, the guard may use.
_LABEL_ORDER = (
    *("invariant", "exponentialrate", "select", "guard", "synchronisation", "assignment"),
    *("testcodeEnter", "testcodeExit", "testcode", "probability", "comments"),
)
_DOCTYPE = (
    "<!DOCTYPE nta PUBLIC '-//Uppaal Team//DTD Flat System 1.5//EN' "
    "'http://www.it.uu.se/research/group/darts/uppaal/flat-1_5.dtd'>"
)
_BLANKS = " \t\r\n"
#: What no XML 1.0 file can contain, however it is written.
_FORBIDDEN = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_NAME = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)


# ------------------------------------------------------------------------------ how text is written


def _check(text: str) -> None:
    found = _FORBIDDEN.search(text)
    if found:
        raise ValueError(f"the character U+{ord(found[0]):04X} cannot stand in XML")


def _encodable(text: str, encoding: str) -> str:
    """`text` with character references for what `encoding` cannot say."""
    return text.encode(encoding, "xmlcharrefreplace").decode(encoding)


def _escaped(text: str, encoding: str, newline: str = "\n") -> str:
    _check(text)
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    text = text.replace("\r", "&#13;").replace("\n", newline)
    return _encodable(text, encoding)


def _in_cdata(text: str, encoding: str, newline: str = "\n") -> str:
    """`text` for the middle of a CDATA section. Between two sections goes what cannot be said in
    one, or what could become its end together with the characters around it."""
    _check(text)
    if text and not re.search(r"[]>\r]", text) and _encodable(text, encoding) == text:
        return text.replace("\n", newline)
    return f"]]>{_escaped(text, encoding, newline)}<![CDATA["


def _attribute(text: str, encoding: str) -> str:
    text = _escaped(text, encoding).replace('"', "&quot;")
    return text.replace("\t", "&#9;").replace("\n", "&#10;")


# ------------------------------------------------------------------------------ splicing a file


@dataclass(frozen=True, slots=True)
class _Splice:
    start: int
    end: int
    text: str


class _Edit:
    """Changes to the text of a document that was read from XML."""

    def __init__(self, document: Document) -> None:
        assert document.raw is not None
        self.document = document
        self.raw = document.raw
        self.encoding = document.encoding
        self.newline = "\r\n" if "\r\n" in self.raw else "\n"
        reread, self.root = read_tree(self.raw, document.file, encoding=document.encoding)
        if reread != document:
            raise ValueError(_STALE)
        self.splices: list[_Splice] = []

    def done(self) -> Document:
        if not self.splices:
            return self.document
        parts: list[str] = []
        at = 0
        for splice in sorted(self.splices, key=lambda splice: (splice.start, splice.end)):
            if splice.start < at:
                raise ValueError("two changes overlap")
            parts += (self.raw[at : splice.start], splice.text)
            at = splice.end
        raw = "".join((*parts, self.raw[at:]))
        return read_tree(raw, self.document.file, keep=False, encoding=self.encoding)[0]

    # Elements, counted as the document counts them:

    def template(self, index: int) -> XmlNode:
        return [node for node in self.root.children if node.tag in TEMPLATE_TAGS][index]

    def element(self, template: int, element: Element, index: int) -> XmlNode:
        tags = ("location", "branchpoint") if element == "location" else ("transition",)
        return [node for node in self.template(template).children if node.tag in tags][index]

    # Texts:

    def text(self, node: XmlNode, start: int, stop: int, new: str) -> None:
        """Replace the characters `start` up to `stop` of an element's text. Characters that are
        the same before and after stay as they are written."""
        old = node.text[start:stop]
        same = _common(old, new)
        old, new, start = old[same:], new[same:], start + same
        same = _common(old[::-1], new[::-1])
        old, new = old[: len(old) - same], new[: len(new) - same]
        stop = start + len(old)
        if old == new:
            return
        if node.empty:
            self.fill(node, self.escaped(new))
            return
        stretches: list[tuple[int, int, bool]] = []
        at = 0
        for run in node.runs or ():
            first, last = max(start - at, 0), min(stop - at, len(run.text))
            at += len(run.text)
            if first >= last:
                continue
            if len(run.text) == run.end - run.start:
                first, last = run.start + first, run.start + last
            else:
                first, last = run.start, run.end
            if stretches and stretches[-1][1:] == (first, run.cdata):
                first = stretches.pop()[0]
            stretches.append((first, last, run.cdata))
        # Marks of CDATA sections and comments stand between the stretches, and stay.
        for first, last, cdata in stretches or [self.gap(node, start)]:
            self.splice(first, last, self.fitting(first, last, new, cdata))
            new = ""

    def gap(self, node: XmlNode, offset: int) -> tuple[int, int, bool]:
        """The place before the character at `offset` of a text, behind the one before it."""
        at = 0
        for run in node.runs or ():
            if offset == at:
                return run.start, run.start, run.cdata
            at += len(run.text)
            if offset < at:
                place = run.start + offset - at + len(run.text)
                return place, place, run.cdata
            if offset == at:
                return run.end, run.end, run.cdata
        return node.open_end, node.open_end, False

    def fitting(self, start: int, end: int, new: str, cdata: bool) -> str:
        """`new` as it has to be written between the characters of the file around it."""
        if cdata:
            return _in_cdata(new, self.encoding, self.newline)
        text = self.escaped(new)
        # Only the end of a CDATA section may be written like that.
        if "]]>" in self.raw[max(start - 2, 0) : start] + text + self.raw[end : end + 2]:
            text += "<![CDATA[]]>"
        return text

    def escaped(self, text: str) -> str:
        return _escaped(text, self.encoding, self.newline)

    def splice(self, start: int, end: int, text: str) -> None:
        self.splices.append(_Splice(start, end, text))

    # Elements within elements:

    def blanks_before(self, offset: int) -> int:
        while offset and self.raw[offset - 1] in _BLANKS:
            offset -= 1
        return offset

    def indentation(self, node: XmlNode) -> str:
        """The last line break before an element and its indentation; "" if there is none."""
        blanks = self.raw[self.blanks_before(node.start) : node.start]
        return blanks[blanks.rfind(self.newline) :] if self.newline in blanks else ""

    def remove(self, node: XmlNode) -> None:
        self.splice(self.blanks_before(node.start), node.end, "")

    def fill(self, node: XmlNode, content: str) -> None:
        """Give an element that is written `<a/>` a content."""
        slash = node.open_end - 2
        self.splice(self.blanks_before(slash), node.open_end, f">{content}</{node.tag}>")

    def insert(self, parent: XmlNode, after: XmlNode | None, markup: str) -> None:
        """Put an element behind `after`, or at the start of its parent if that is None."""
        if after is not None:
            self.splice(after.end, after.end, self.indentation(after) + markup)
            return
        siblings = parent.children
        outer = self.indentation(parent) or self.newline
        content = (self.indentation(siblings[0]) if siblings else "") or outer + "\t"
        content += markup
        if parent.empty:
            self.fill(parent, content + outer)
        elif siblings or "\n" in self.raw[parent.open_end : parent.close_start]:
            self.splice(parent.open_end, parent.open_end, content)
        else:
            self.splice(parent.open_end, parent.open_end, content + outer)


def _common(one: str, other: str) -> int:
    """How many characters two texts have in common at their start."""
    size = min(len(one), len(other))
    if one[:size] == other[:size]:
        return size
    return next(index for index in range(size) if one[index] != other[index])


_STALE = (
    "the document's values are not those of its raw text: change it with the functions of "
    "whence.formats.uppaal.write, or set raw=None to write it afresh"
)


# ------------------------------------------------------------------------------ editing


def replace_label(
    document: Document,
    template_index: int,
    element: Element,
    element_index: int,
    kind: str,
    new_text: str | None,
) -> Document:
    """Change the label of a location or an edge; add it where there is none; None removes it."""
    template = document.templates[template_index]
    elements = template.locations if element == "location" else template.edges
    owner: TemplateLocation | TemplateEdge = elements[element_index]
    present = any(label.kind == kind for label in owner.labels)
    if new_text is not None:
        _check(new_text)
    if not present and new_text is None:
        return document
    if document.raw is not None:
        edit = _Edit(document)
        node = edit.element(template_index, element, element_index)
        labels = [
            child
            for child in node.children
            if child.tag == "label" and child.attribute("kind") == kind
        ]
        if new_text is None:
            for child in labels:
                edit.remove(child)
        elif labels:
            edit.text(labels[0], 0, len(labels[0].text), new_text)
        else:
            before = [
                child
                for child in node.children
                if child.tag in ("name", "source", "target")
                or (child.tag == "label" and _rank(child.attribute("kind")) <= _rank(kind))
            ]
            label = Label(kind, SourceText(new_text), _label_position(template, owner, kind))
            markup = _label_markup(label, edit.encoding, edit.newline)
            edit.insert(node, before[-1] if before else None, markup)
        return edit.done()
    if new_text is None:
        changed = tuple(label for label in owner.labels if label.kind != kind)
    elif present:
        index = next(i for i, label in enumerate(owner.labels) if label.kind == kind)
        old = owner.labels[index]
        label = replace(old, source=_whole(old.source, new_text))
        changed = (*owner.labels[:index], label, *owner.labels[index + 1 :])
    else:
        source = SourceText(new_text, document.file, (), f"the {kind} of a changed {element}")
        label = Label(kind, source, _label_position(template, owner, kind))
        index = sum(_rank(old.kind) <= _rank(kind) for old in owner.labels)
        changed = (*owner.labels[:index], label, *owner.labels[index:])
    if isinstance(owner, TemplateLocation):
        return _with_location(
            document, template_index, element_index, replace(owner, labels=changed)
        )
    edges = list(template.edges)
    edges[element_index] = replace(owner, labels=changed)
    return _with_template(document, template_index, replace(template, edges=tuple(edges)))


def set_urgent(document: Document, template: int, location: int, value: bool) -> Document:
    """Make a location urgent (and then no longer committed), or not urgent."""
    return _set_kind(document, template, location, "urgent", "committed", value)


def set_committed(document: Document, template: int, location: int, value: bool) -> Document:
    """Make a location committed (and then no longer urgent), or not committed."""
    return _set_kind(document, template, location, "committed", "urgent", value)


def _set_kind(
    document: Document, template: int, location: int, kind: str, other: str, value: bool
) -> Document:
    if document.raw is None:
        owner = document.templates[template].locations[location]
        urgent = (kind == "urgent") if value else owner.urgent and kind != "urgent"
        committed = (kind == "committed") if value else owner.committed and kind != "committed"
        changed = replace(owner, urgent=urgent, committed=committed)
        return _with_location(document, template, location, changed)
    edit = _Edit(document)
    node = edit.element(template, "location", location)
    present = [child for child in node.children if child.tag == kind]
    opposite = [child for child in node.children if child.tag == other]
    if not value:
        for child in present:
            edit.remove(child)
    elif opposite:
        if not present:
            edit.splice(opposite[0].start, opposite[0].end, f"<{kind}/>")
            opposite = opposite[1:]
        for child in opposite:
            edit.remove(child)
    elif not present:
        before = [child for child in node.children if child.tag in ("name", "label")]
        edit.insert(node, before[-1] if before else None, f"<{kind}/>")
    return edit.done()


def replace_declaration(document: Document, template_index: int | None, new_text: str) -> Document:
    """Change the declarations of a template, or the global ones (None)."""
    _check(new_text)
    if document.raw is None:
        if template_index is None:
            source = _whole(document.declaration, new_text, document.file)
            return replace(document, declaration=source)
        template = document.templates[template_index]
        source = _whole(template.declaration, new_text, document.file)
        return _with_template(document, template_index, replace(template, declaration=source))
    edit = _Edit(document)
    parent = edit.root if template_index is None else edit.template(template_index)
    node = parent.child("declaration")
    if node is not None:
        edit.text(node, 0, len(node.text), new_text)
    else:
        before = [child for child in parent.children if child.tag in _BEFORE_DECLARATION]
        _insert_text_element(edit, parent, before, "declaration", new_text)
    return edit.done()


def replace_system(document: Document, new_text: str) -> Document:
    """Change the system declaration."""
    _check(new_text)
    if document.raw is None:
        return replace(document, system=_whole(document.system, new_text))
    edit = _Edit(document)
    node = edit.root.child("system")
    if node is not None:
        edit.text(node, 0, len(node.text), new_text)
    else:
        before = [child for child in edit.root.children if child.tag != "queries"]
        _insert_text_element(edit, edit.root, before, "system", new_text)
    return edit.done()


_BEFORE_DECLARATION = ("imports", "name", "parameter")


def _insert_text_element(
    edit: _Edit, parent: XmlNode, before: Sequence[XmlNode], tag: str, text: str
) -> None:
    markup = f"<{tag}>{edit.escaped(text)}</{tag}>"
    edit.insert(parent, before[-1] if before else None, markup)


def replace_queries(document: Document, queries: Sequence[QueryText]) -> Document:
    """Change the list of queries. Those that stay keep how they are written, results included."""
    for query in queries:
        _check(query.formula.text)
        _check(query.comment)
    if document.raw is None:
        return replace(document, queries=tuple(queries))
    edit = _Edit(document)
    old = [
        node
        for parent in edit.root.children
        if parent.tag == "queries"
        for node in parent.children
        if node.tag == "query"
    ]
    were = [_says(query) for query in document.queries]
    are = [_says(query) for query in queries]
    same = _common_items(were, are)
    same_at_end = _common_items(were[same:][::-1], are[same:][::-1])
    gone = old[same : len(old) - same_at_end]
    new = range(same, len(queries) - same_at_end)
    # A query that only moved takes its own text along.
    texts: dict[tuple[str, str, str], list[str]] = {}
    for index, node in enumerate(gone, same):
        texts.setdefault(were[index], []).append(edit.raw[node.start : node.end])
    parent = edit.root.child("queries")
    shown = gone or old or (parent.children if parent is not None else [])
    indent = (edit.indentation(shown[0]) if shown else "") or edit.newline + "\t\t"
    written = []
    for index in new:
        kept = texts.get(are[index])
        if kept:
            written.append(kept.pop(0))
        else:
            lines = _query_markup(queries[index], edit.encoding, edit.newline)
            written.append(indent.join(lines))
    content = indent.join(written)
    if gone and written:
        edit.splice(gone[0].start, gone[0].end, content)
        gone = gone[1:]
    elif written and parent is not None:
        options = [child for child in parent.children if child.tag == "option"]
        before = old[:same] or options
        if before:
            edit.splice(before[-1].end, before[-1].end, indent + content)
        else:
            edit.insert(parent, None, content)
    elif written:
        outer = indent.removesuffix("\t")
        body = f"<queries>{indent}{content}{outer}</queries>"
        edit.insert(edit.root, edit.root.children[-1] if edit.root.children else None, body)
    for node in gone:
        edit.remove(node)
    return edit.done()


def _says(query: QueryText) -> tuple[str, str, str]:
    return query.formula.text, query.comment, query.expected


def _common_items(one: Sequence[object], other: Sequence[object]) -> int:
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count


def replace_text(document: Document, origin: Origin, new_text: str) -> Document:
    """Replace exactly the characters at `origin`, within one text of the document."""
    return replace_texts(document, ((origin, new_text),))


def replace_texts(document: Document, changes: Iterable[tuple[Origin, str]]) -> Document:
    """Replace the characters at several places at once. All places are those of `document`; they
    must not overlap.  An empty place is where the new text goes in."""
    changes = list(changes)
    for origin, new_text in changes:
        _check(new_text)
        if origin.file != document.file or not origin.line:
            raise ValueError(f"{origin} is no place in {document.file}")
    if document.raw is None:
        return _replace_in_values(document, changes)
    edit = _Edit(document)
    xml = XmlFile(edit.raw, document.file)
    nodes = sorted(_text_nodes(edit.root), key=lambda node: node.open_end)
    starts = [node.open_end for node in nodes]
    done: dict[int, list[tuple[int, int]]] = {}
    for origin, new_text in changes:
        start = xml.offset(origin.line, origin.column)
        end = xml.offset(origin.end_line or origin.line, origin.end_column or origin.column)
        index = bisect_left(starts, start + 1) - 1
        span = _span(nodes[index], start, max(end, start)) if index >= 0 else None
        if span is None:
            raise ValueError(f"{origin} is not within one text of the model")
        before = done.setdefault(index, [])
        # Splices are trimmed, so they alone would not tell.
        if any(span[0] < other[1] and other[0] < span[1] for other in before):
            raise ValueError("two changes overlap")
        before.append(span)
        edit.text(nodes[index], *span, new_text)
    return edit.done()


def _text_nodes(node: XmlNode) -> Iterable[XmlNode]:
    if node.runs is not None:
        yield node
    for child in node.children:
        yield from _text_nodes(child)


def _span(node: XmlNode, start: int, end: int) -> tuple[int, int] | None:
    """Which characters of an element's text stand at `start` up to `end` of the file."""
    if start > node.close_start or end > max(node.close_start, node.open_end):
        return None
    first = last = None
    at = 0
    for run in node.runs or ():
        size = len(run.text)
        single = run.end - run.start != size  # an entity, or a newline of two characters
        if first is None and start < run.end:
            # Behind an entity, a text's own count of columns is one further than its start.
            if start < run.start or (single and start > run.start + (start == end)):
                return None
            first = at + start - run.start
        if end > run.start:
            last = at + (size if single else min(end - run.start, size))
        at += size
    if first is None:
        # Behind the last character, to add something there.
        last_end = node.runs[-1].end if node.runs else node.open_end
        return (at, at) if start == end == last_end else None
    return first, max(first, last or 0)


# Documents without a text of their own:


def _with_template(document: Document, index: int, template: Template) -> Document:
    templates = list(document.templates)
    templates[index] = template
    return replace(document, templates=tuple(templates))


def _with_location(
    document: Document, template_index: int, index: int, location: TemplateLocation
) -> Document:
    template = document.templates[template_index]
    locations = list(template.locations)
    locations[index] = location
    return _with_template(document, template_index, replace(template, locations=tuple(locations)))


def _whole(source: SourceText | None, new_text: str, file: str = "") -> SourceText:
    if source is None:
        return SourceText(new_text, file, (), "")
    return _patched(source, [(0, len(source.text), new_text)])


def _patched(source: SourceText, patches: Sequence[tuple[int, int, str]]) -> SourceText:
    """`source` with some stretches replaced; what is behind them keeps its place in the file, so
    that it can still be found by it."""
    for start, stop, new in sorted(patches, reverse=True):
        pieces = [piece for piece in source.pieces if piece[0] < start]
        if source.pieces and new:
            pieces.append((start, *source.position(start)))
        if source.pieces and (stop < len(source.text) or not pieces):
            pieces.append((start + len(new), *source.position(stop)))
        shift = len(new) - (stop - start)
        pieces += [(at + shift, line, column) for at, line, column in source.pieces if at > stop]
        text = source.text[:start] + new + source.text[stop:]
        source = replace(source, text=text, pieces=tuple(pieces))
    return source


def _map_sources(document: Document, change: Callable[[SourceText], SourceText]) -> Document:
    def optional(source: SourceText | None) -> SourceText | None:
        return None if source is None else change(source)

    def labels(of: tuple[Label, ...]) -> tuple[Label, ...]:
        return tuple(replace(label, source=change(label.source)) for label in of)

    return replace(
        document,
        declaration=optional(document.declaration),
        templates=tuple(
            replace(
                template,
                name=change(template.name),
                parameters=optional(template.parameters),
                declaration=optional(template.declaration),
                locations=tuple(
                    replace(location, name=optional(location.name), labels=labels(location.labels))
                    for location in template.locations
                ),
                edges=tuple(replace(edge, labels=labels(edge.labels)) for edge in template.edges),
            )
            for template in document.templates
        ),
        instantiation=optional(document.instantiation),
        system=change(document.system),
        queries=tuple(replace(query, formula=change(query.formula)) for query in document.queries),
    )


def _replace_in_values(document: Document, changes: Sequence[tuple[Origin, str]]) -> Document:
    open_changes = list(changes)

    def change(source: SourceText) -> SourceText:
        patches = []
        for item in tuple(open_changes):
            span = _span_in(source, item[0])
            if span is not None:
                patches.append((*span, item[1]))
                open_changes.remove(item)
        patches.sort()
        for one, other in pairwise(patches):
            if other[0] < one[1]:
                raise ValueError("two changes overlap")
        return _patched(source, patches) if patches else source

    changed = _map_sources(document, change)
    if open_changes:
        raise ValueError(f"{open_changes[0][0]} is not within one text of the model")
    return changed


def _span_in(source: SourceText, origin: Origin) -> tuple[int, int] | None:
    if source.file != origin.file:
        return None
    start = _offset_in(source, origin.line, origin.column)
    if start is None:
        return None
    if (origin.end_line, origin.end_column) <= (origin.line, origin.column):
        return start, start
    last = _offset_in(source, origin.end_line, origin.end_column - 1)
    return None if last is None or last >= len(source.text) else (start, last + 1)


def _offset_in(source: SourceText, line: int, column: int) -> int | None:
    """Where in a text the character is that stands at a place of the file."""
    for index, (start, first_line, first_column) in enumerate(source.pieces):
        last = index + 1 == len(source.pieces)
        # The end of a text is a place in it, the end of a piece is not.
        stop = len(source.text) + 1 if last else source.pieces[index + 1][0]
        at, at_column = start, first_column
        for _ in range(line - first_line):
            found = source.text.find("\n", at, stop)
            if found < 0:
                at = stop
                break
            at, at_column = found + 1, 1
        offset = at + column - at_column
        if line >= first_line and at <= offset < stop and "\n" not in source.text[at:offset]:
            return offset
    return None


# ------------------------------------------------------------------------------ markup


def _rank(kind: str) -> int:
    return _LABEL_ORDER.index(kind) if kind in _LABEL_ORDER else len(_LABEL_ORDER)


def _at(position: Point | None) -> str:
    return "" if position is None else f' x="{position[0]}" y="{position[1]}"'


def _label_markup(label: Label, encoding: str, newline: str = "\n") -> str:
    text = _escaped(label.source.text, encoding, newline)
    kind = _attribute(label.kind, encoding)
    return f'<label kind="{kind}"{_at(label.position)}>{text}</label>'


def _query_markup(query: QueryText, encoding: str, newline: str = "\n") -> list[str]:
    lines = [
        "<query>",
        f"\t<formula>{_escaped(query.formula.text, encoding, newline)}</formula>",
        f"\t<comment>{_escaped(query.comment, encoding, newline)}</comment>",
    ]
    if query.expected:
        outcome = _attribute(query.expected, encoding)
        lines.append(f'\t<expect outcome="{outcome}" type="symbolic"/>')
    return [*lines, "</query>"]


def _label_position(
    template: Template,
    owner: TemplateLocation | TemplateEdge,
    kind: str,
    positions: Mapping[str, Point] | None = None,
    nails: Sequence[Point] = (),
) -> Point | None:
    """Where a label that has no place goes: below its location, or beside its edge's middle."""
    if positions is None:
        positions = {at.ident: at.position for at in template.locations if at.position is not None}
    if isinstance(owner, TemplateLocation):
        position = positions.get(owner.ident)
        if position is None:
            return None
        line = 0 if kind == "invariant" else 1
        return position[0] - 10, position[1] + 17 * (1 + line)
    nails = owner.nails or nails
    if nails:
        x, y = nails[len(nails) // 2]
    else:
        source, target = positions.get(owner.source), positions.get(owner.target)
        if source is None or target is None:
            return None
        x, y = (source[0] + target[0]) // 2, (source[1] + target[1]) // 2
    line = _rank(kind) - _rank("assignment")
    return x + 8, y + 17 * max(-3, min(line, 1))


# ------------------------------------------------------------------------------ writing


def write_xml(document: Document) -> str:
    """The text of the file that a document is, to be encoded with `document.encoding`."""
    if document.raw is None:
        return _fresh(document)
    encoding = document.encoding
    if read_tree(document.raw, document.file, keep=False, encoding=encoding)[0] != document:
        raise ValueError(_STALE)
    return document.raw


def _fresh(document: Document) -> str:
    encoding = document.encoding
    mark, name = _encoding_name(encoding)
    lines = [f'{mark}<?xml version="1.0" encoding="{name}"?>', _DOCTYPE, "<nta>"]

    def text(tag: str, source: SourceText | None, indent: str = "\t", at: str = "") -> None:
        if source is not None:
            lines.append(f"{indent}<{tag}{at}>{_escaped(source.text, encoding)}</{tag}>")

    text("declaration", document.declaration)
    idents = _idents(document)
    edge_idents = Counter(edge.ident for template in document.templates for edge in template.edges)
    taken = {new for names in idents for new in names.values()}
    for template, names in zip(document.templates, idents, strict=True):
        if template.unsupported:
            raise ValueError(f"{template.unsupported} {template.name.text} cannot be written")
        lines.append("\t<template>")
        text("name", template.name, "\t\t")
        text("parameter", template.parameters, "\t\t")
        text("declaration", template.declaration, "\t\t")
        positions = _positions(template)
        # UPPAAL expects the branchpoints behind all locations.
        for location in sorted(template.locations, key=lambda location: location.branchpoint):
            lines += _location_lines(template, location, names, positions, encoding)
        if template.initial is not None:
            initial = names.get(template.initial, template.initial)
            lines.append(f'\t\t<init ref="{_attribute(initial, encoding)}"/>')
        between: Counter[frozenset[str]] = Counter()
        for edge in template.edges:
            pair = frozenset((edge.source, edge.target))
            nails = edge.nails or _nails(template, edge, positions, between[pair])
            between[pair] += 1
            ident = edge.ident
            if edge_idents[ident] > 1 or ident in taken or not _NAME.fullmatch(ident):
                ident = ""
            lines += _edge_lines(template, edge, ident, names, positions, nails, encoding)
        lines.append("\t</template>")
    text("instantiation", document.instantiation)
    text("system", document.system)
    if document.queries:
        lines.append("\t<queries>")
        for query in document.queries:
            lines += ("\t\t" + line for line in _query_markup(query, encoding))
        lines.append("\t</queries>")
    lines += ("</nta>", "")
    return "\n".join(lines)


def _encoding_name(codec: str) -> tuple[str, str]:
    """(byte order mark, name in an XML declaration) of a codec."""
    for wide in ("utf-16", "utf-32"):
        if codec.startswith(wide):
            return "\ufeff", wide
    name = re.sub("^iso8859", "iso-8859", codec)
    return "", re.sub(r"^cp125(\d)$", r"windows-125\1", name)


def _idents(document: Document) -> list[dict[str, str]]:
    """New identifiers of the locations of each template: in XML they are unique in the file."""
    all_idents = Counter(
        location.ident for template in document.templates for location in template.locations
    )
    if all(count == 1 and _NAME.fullmatch(ident) for ident, count in all_idents.items()):
        return [
            {at.ident: at.ident for at in template.locations} for template in document.templates
        ]
    number = 0
    names = []
    for template in document.templates:
        names.append({at.ident: f"id{number + i}" for i, at in enumerate(template.locations)})
        number += len(template.locations)
    return names


def _positions(template: Template) -> dict[str, Point]:
    """Where the locations are drawn; those without a place go on a grid below the others."""
    positions = {at.ident: at.position for at in template.locations if at.position is not None}
    left = min((x for x, _ in positions.values()), default=0)
    top = max((y + 153 for _, y in positions.values()), default=0)
    missing = [at.ident for at in template.locations if at.position is None]
    width = max(2, round(len(missing) ** 0.5))
    for index, ident in enumerate(missing):
        row, column = divmod(index, width)
        # Back and forth, so that consecutive locations are neighbours.
        column = column if row % 2 == 0 else width - 1 - column
        positions[ident] = (left + 204 * column, top + 153 * row)
    return positions


def _nails(
    template: Template, edge: TemplateEdge, positions: Mapping[str, Point], nth: int
) -> tuple[Point, ...]:
    """Bends for an edge that would be hidden: a loop, or one beside another."""
    placed = {at.ident for at in template.locations if at.position is not None}
    if edge.source in placed and edge.target in placed:
        return ()  # drawn by someone
    source, target = positions.get(edge.source), positions.get(edge.target)
    if source is None or target is None:
        return ()
    if edge.source == edge.target:
        x, y = source
        return (x - 34 - 17 * nth, y - 51 - 17 * nth), (x + 34 + 17 * nth, y - 51 - 17 * nth)
    if not nth:
        return ()
    low, high = min(source, target), max(source, target)
    across, down = high[0] - low[0], high[1] - low[1]
    length = max(1, round((across**2 + down**2) ** 0.5))
    away = 34 * ((nth + 1) // 2) * (1 if nth % 2 else -1)
    middle_x, middle_y = (low[0] + high[0]) // 2, (low[1] + high[1]) // 2
    return ((middle_x - away * down // length, middle_y + away * across // length),)


def _location_lines(
    template: Template,
    location: TemplateLocation,
    names: Mapping[str, str],
    positions: Mapping[str, Point],
    encoding: str,
) -> list[str]:
    position = positions[location.ident]
    tag = "branchpoint" if location.branchpoint else "location"
    colour = f' color="{_attribute(location.colour, encoding)}"' if location.colour else ""
    head = f'<{tag} id="{_attribute(names[location.ident], encoding)}"{_at(position)}{colour}'
    inner = []
    if location.name is not None:
        at = _at(location.name_position or (position[0] - 10, position[1] - 34))
        inner.append(f"<name{at}>{_escaped(location.name.text, encoding)}</name>")
    for label in location.labels:
        place = label.position or _label_position(template, location, label.kind, positions)
        inner.append(_label_markup(replace(label, position=place), encoding))
    inner += ["<urgent/>"] * location.urgent + ["<committed/>"] * location.committed
    if not inner:
        return [f"\t\t{head}/>"]
    return [f"\t\t{head}>", *("\t\t\t" + line for line in inner), f"\t\t</{tag}>"]


def _edge_lines(
    template: Template,
    edge: TemplateEdge,
    ident: str,
    names: Mapping[str, str],
    positions: Mapping[str, Point],
    nails: Sequence[Point],
    encoding: str,
) -> list[str]:
    attributes = {
        "id": ident,
        "controllable": "" if edge.controllable else "false",
        "color": edge.colour,
    }
    head = "".join(
        f' {name}="{_attribute(value, encoding)}"' for name, value in attributes.items() if value
    )
    source, target = (names.get(end, end) for end in (edge.source, edge.target))
    lines = [
        f"\t\t<transition{head}>",
        f'\t\t\t<source ref="{_attribute(source, encoding)}"/>',
        f'\t\t\t<target ref="{_attribute(target, encoding)}"/>',
    ]
    for label in edge.labels:
        place = label.position or _label_position(template, edge, label.kind, positions, nails)
        lines.append("\t\t\t" + _label_markup(replace(label, position=place), encoding))
    lines += (f"\t\t\t<nail{_at(nail)}/>" for nail in nails)
    return [*lines, "\t\t</transition>"]
