"""XML with places: what every reader of XML builds on.

Expressions in models are code, so every message about them needs the exact character of the file.
We therefore let expat tell only *what* stands in the file and look up *where* ourselves: the file
is decoded first, expat reads the decoded text, and its byte index is turned into a character of
that text.  Entities, CDATA sections, comments inside a text and CRLF newlines then come out right,
whatever the encoding.

XML can do harm: entities that grow without end, files and addresses that are fetched.  A model
needs none of it.  Declarations of entities are refused, nothing is fetched (a DOCTYPE that names
a DTD is fine and stays a name), and depth and size have limits.
"""

from __future__ import annotations

import codecs
import re
from array import array
from bisect import bisect_right
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from whence.source import Diagnostic, InputError, Origin, SourceText

__all__ = [
    "MAX_BYTES",
    "MAX_DEPTH",
    "OnEnd",
    "Run",
    "XmlFile",
    "XmlNode",
    "attribute_text",
    "codec_of_text",
    "decode",
    "element_text",
    "parse",
    "read_bytes",
]

#: Larger files are refused; generated models of 100 MB exist.
MAX_BYTES = 512 * 2**20
#: Models are far less deep; more than this is an attack or a mistake.
MAX_DEPTH = 64
#: The longest single tag or comment.  Expat reads an unfinished one again with every chunk, so
#: that a very long one would take quadratic time.
_MAX_TOKEN = 2**23
_CHUNK = 2**20

_DECLARED = re.compile(r"""\s*<\?xml\s[^>]*?\bencoding\s*=\s*["']([A-Za-z][\w.:-]*)["']""")
#: Python knows codecs that are no character encodings of files (`idna`, `unicode_escape`).
_CODEC = re.compile(
    r"utf-8|ascii|(iso8859|cp|koi8|mac|euc|iso2022)[-_a-z0-9]*|gb(k|2312|18030)|big5\w*"
    r"|(shift_jis|johab|hz|tis-620|ptcp154)\w*"
)
_WIDE = re.compile(r"utf-?(16|32)|(iso-10646-)?ucs-?[24]", re.IGNORECASE)
_START_TAG = re.compile(r"""<[^<>"']*(?:"[^"]*"[^<>"']*|'[^']*'[^<>"']*)*>""")
_ATTRIBUTE = re.compile(r"""(?P<name>[^\s=<>"'/]+)\s*=\s*(?P<value>"[^"]*"|'[^']*')""")
#: In a value, a newline is read as one blank.
_ATTRIBUTE_STRETCH = re.compile(r"(?P<plain>[^&\r\n]+)|&[^;]*;|\r\n?|\n")
_NEWLINE = re.compile(r"\r\n?|\n")


# ------------------------------------------------------------------------------ bytes to text


def read_bytes(path: Path | str) -> bytes:
    """The bytes of a file, or an :class:`InputError` that says why there are none."""
    place = Origin(str(path))
    try:
        with open(path, "rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except IsADirectoryError:
        raise InputError(
            Diagnostic("this is a directory", place, "name a file in it instead")
        ) from None
    except FileNotFoundError:
        raise InputError(Diagnostic("there is no such file", place)) from None
    except PermissionError:
        raise InputError(Diagnostic("the file may not be read: permission denied", place)) from None
    except (OSError, ValueError) as error:  # ValueError: a NUL character in the path
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(Diagnostic(f"the file cannot be read: {reason}", place)) from None
    if len(data) > MAX_BYTES:
        raise InputError(
            Diagnostic(f"the file is larger than {MAX_BYTES // 2**20} MiB, our limit", place)
        )
    return data


def decode(data: bytes, file: str) -> tuple[str, str]:
    """The text of an XML file, its byte order mark included, and the codec it was written with:
    encoding the text with it gives `data` again."""
    codec = _codec(data, file)
    try:
        return data.decode(codec), codec
    except UnicodeDecodeError as error:
        before = data[: error.start].decode(codec, "replace")
        line, column = XmlFile(before, file).place(len(before))
        raise InputError(
            Diagnostic(
                f"byte 0x{data[error.start]:02x} is not {codec} text",
                Origin(file, line, column, line, column + 1),
                "save the file as UTF-8, or name its encoding in the first line: "
                '<?xml version="1.0" encoding="…"?>',
            )
        ) from None


def _codec(data: bytes, file: str) -> str:
    for mark, codec in (
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it starts with
        (codecs.BOM_UTF32_BE, "utf-32-be"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (b"<\0", "utf-16-le"),
        (b"\0<", "utf-16-be"),
    ):
        if data.startswith(mark):
            return codec
    return _declared_codec(data[:1000].decode("latin-1"), file)


def codec_of_text(start: str, file: str) -> str:
    """How a text that somebody has decoded for us is to be written."""
    mark, start = start.startswith("\ufeff"), start.removeprefix("\ufeff")
    found = _DECLARED.match(start)
    if found is not None and _WIDE.match(found[1]):
        # Without a mark in the text, Python's codec has to write one.
        codec = "utf-32" if "32" in found[1] or "4" in found[1] else "utf-16"
        return codec + "-le" * mark
    return _declared_codec(start, file)


def _declared_codec(start: str, file: str) -> str:
    found = _DECLARED.match(start)
    if found is None:
        return "utf-8"
    name = found[1]
    try:
        codec = codecs.lookup(name).name
    except (LookupError, ValueError):
        codec = ""
    if _WIDE.match(name):
        # We can read this declaration byte by byte, so the text is not what it says.
        return "utf-8"
    if not _CODEC.fullmatch(codec):
        line, column = XmlFile(start, file).place(found.start(1))
        raise InputError(
            Diagnostic(
                f"unknown encoding {name!r}",
                Origin(file, line, column, line, column + len(name)),
                "save the file as utf-8",
            )
        )
    return codec


# ------------------------------------------------------------------------------ text to elements


class XmlFile:
    """A decoded file, to find lines and columns in."""

    def __init__(self, raw: str, file: str) -> None:
        self.raw = raw
        self.file = file
        # The byte order mark belongs to no column.
        self._lines = array("q", [1 if raw.startswith("\ufeff") else 0])
        self._lines.extend(match.end() for match in _NEWLINE.finditer(raw))

    def place(self, offset: int) -> tuple[int, int]:
        """(line, column) of the character at `offset`."""
        line = max(bisect_right(self._lines, offset), 1)
        return line, max(offset - self._lines[line - 1], 0) + 1

    def offset(self, line: int, column: int) -> int:
        """The character at a line and column that :meth:`place` gave; beyond the file: its end."""
        if not 0 < line <= len(self._lines) or column < 1:
            return len(self.raw)
        return min(self._lines[line - 1] + column - 1, len(self.raw))

    def origin(self, start: int, end: int | None = None) -> Origin:
        line, column = self.place(start)
        if end is None:
            return Origin(self.file, line, column, line, column + 1)
        return Origin(self.file, line, column, *self.place(end))

    def error(self, message: str, start: int, end: int | None = None, hint: str = "") -> InputError:
        return InputError(Diagnostic(message, self.origin(start, end), hint))


@dataclass(slots=True)
class Run:
    """Characters of a text that stand side by side in the file at `start` up to `end`: several
    that stand for themselves, or one written as an entity or as a newline of two characters."""

    text: str
    start: int
    end: int
    cdata: bool
    entity: bool


@dataclass(slots=True)
class XmlNode:
    """An element. All positions are offsets in the decoded file; `runs` is None for an element
    whose text nobody asked for."""

    tag: str
    attributes: dict[str, str]
    start: int
    #: Where the start tag ends.
    open_end: int
    #: Written `<a/>`.
    empty: bool
    #: Where the end tag starts.
    close_start: int = 0
    end: int = 0
    children: list[XmlNode] = field(default_factory=list)
    runs: list[Run] | None = None

    @property
    def text(self) -> str:
        return "".join(run.text for run in self.runs or ())

    def child(self, tag: str) -> XmlNode | None:
        return next((child for child in self.children if child.tag == tag), None)

    def attribute(self, name: str) -> str:
        return self.attributes.get(name, "")


#: Is told of each complete element with the elements around it, outermost first; returns whether
#: the element has to stay in the tree.
OnEnd = Callable[[XmlNode, list[XmlNode]], bool]


class _Parser:
    """Drives expat over one file."""

    def __init__(
        self,
        xml: XmlFile,
        root: str | None,
        root_hint: str,
        texts: Collection[str] | None,
        on_end: OnEnd,
    ) -> None:
        self.xml = xml
        self.root_tag = root
        self.root_hint = root_hint
        self.texts = texts
        self.on_end = on_end
        self.root: XmlNode | None = None
        self.stack: list[XmlNode] = []
        #: What expat told of the text of the innermost element: (text, byte index, in CDATA).
        self.pending: list[tuple[str, int, bool]] = []
        self.cdata = False
        try:
            self.data = xml.raw.encode("utf-8")
        except UnicodeEncodeError as error:
            raise xml.error("half a surrogate pair is no character", error.start) from None
        self.ascii = len(self.data) == len(xml.raw)
        self.byte = self.char = 0  # a byte index that was looked up, and its character
        # Naming the encoding here makes expat ignore the one that the file declares.
        parser = expat.ParserCreate("utf-8")
        parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        parser.buffer_text = False  # one call for each stretch, which is what we need
        parser.StartElementHandler = self.start_element
        parser.EndElementHandler = self.end_element
        parser.CharacterDataHandler = self.character_data
        parser.StartCdataSectionHandler = self.start_cdata
        parser.EndCdataSectionHandler = self.end_cdata
        parser.EntityDeclHandler = self.entity_declaration
        parser.UnparsedEntityDeclHandler = self.entity_declaration
        parser.ExternalEntityRefHandler = self.external_entity
        parser.SkippedEntityHandler = self.skipped_entity
        self.expat = parser

    def run(self) -> XmlNode:
        try:
            view = memoryview(self.data)
            for start in range(0, len(view), _CHUNK):
                chunk = view[start : start + _CHUNK]
                self.expat.Parse(chunk, False)
                behind = start + len(chunk) - self.expat.CurrentByteIndex
                if behind > _MAX_TOKEN:
                    raise self.xml.error(
                        f"a tag or comment is longer than {_MAX_TOKEN // 2**20} MiB, our limit",
                        self.offset(self.expat.CurrentByteIndex),
                    )
            self.expat.Parse(b"", True)
        except expat.ExpatError as error:
            raise self.malformed(error) from None
        assert self.root is not None  # expat refuses a file without a root element
        return self.root

    def offset(self, byte: int) -> int:
        """The character at a byte index of the UTF-8 that expat reads."""
        if self.ascii:
            return byte
        if byte < self.byte:  # does not happen in a sound file, where all goes forward
            self.byte = self.char = 0
        self.char += len(self.data[self.byte : byte].decode("utf-8", "ignore"))
        self.byte = byte
        return self.char

    def malformed(self, error: expat.ExpatError) -> InputError:
        xml = self.xml
        offset = min(self.offset(self.expat.ErrorByteIndex), len(xml.raw))
        code, names = error.code, expat.errors
        number = names.codes
        if code in (
            number[names.XML_ERROR_NO_ELEMENTS],
            number[names.XML_ERROR_UNCLOSED_TOKEN],
            number[names.XML_ERROR_PARTIAL_CHAR],
            number[names.XML_ERROR_UNCLOSED_CDATA_SECTION],
        ):
            still = "before its root element"
            if self.stack:
                inner = self.stack[-1]
                line = xml.place(inner.start)[0]
                still = f"while <{inner.tag}> of line {line} is still open"
            return xml.error(f"the file ends {still}", offset, None, "was it cut off?")
        if code == number[names.XML_ERROR_TAG_MISMATCH] and self.stack:
            inner = self.stack[-1]
            line = xml.place(inner.start)[0]
            return xml.error(
                f"this end tag does not fit: <{inner.tag}> of line {line} is still open",
                max(xml.raw.rfind("<", 0, offset), 0),
                None,
                f"close it with </{inner.tag}> first",
            )
        hint = ""
        if code == number[names.XML_ERROR_INVALID_TOKEN]:
            hint = "in XML, write < as &lt; and & as &amp;"
        return xml.error(f"not well-formed XML: {expat.ErrorString(code)}", offset, hint=hint)

    # What expat calls:

    def start_element(self, tag: str, attributes: dict[str, str]) -> None:
        xml = self.xml
        start = self.offset(self.expat.CurrentByteIndex)
        match = _START_TAG.match(xml.raw, start)
        assert match is not None  # expat has just read it
        if not self.stack and self.root_tag is not None and tag != self.root_tag:
            raise xml.error(
                f"the root element is <{tag}>, not <{self.root_tag}>",
                start,
                match.end(),
                self.root_hint,
            )
        if len(self.stack) >= MAX_DEPTH:
            raise xml.error(f"elements are nested more than {MAX_DEPTH} deep", start, match.end())
        if self.texts is None:
            if self.stack:
                self.stack[-1].runs = None
            self.pending.clear()
        elif self.stack and self.stack[-1].runs is not None:
            raise xml.error(
                f"<{tag}> inside the text of <{self.stack[-1].tag}>",
                start,
                match.end(),
                "write < as &lt; if it is meant as a character",
            )
        node = XmlNode(tag, attributes, start, match.end(), match[0].endswith("/>"))
        if self.texts is None or tag in self.texts:
            node.runs = []
        self.stack.append(node)

    def end_element(self, _tag: str) -> None:
        node = self.stack.pop()
        if node.runs is not None:
            node.runs = [self.located(*run) for run in self.pending]
            self.pending.clear()
        if node.empty:
            node.close_start = node.end = node.open_end
        else:
            node.close_start = self.offset(self.expat.CurrentByteIndex)
            node.end = self.xml.raw.index(">", node.close_start) + 1
        keep = self.on_end(node, self.stack)
        if not self.stack:
            self.root = node
        elif keep:
            self.stack[-1].children.append(node)

    def located(self, text: str, byte: int, cdata: bool) -> Run:
        raw = self.xml.raw
        start = self.offset(byte)
        first = raw[start]
        if first == "&" and not cdata:
            return Run(text, start, raw.index(";", start) + 1, cdata, True)
        if first == "\r":
            return Run(text, start, start + 1 + raw.startswith("\n", start + 1), cdata, False)
        return Run(text, start, start + len(text), cdata, False)

    def character_data(self, text: str) -> None:
        if self.stack[-1].runs is not None:
            self.pending.append((text, self.expat.CurrentByteIndex, self.cdata))

    def start_cdata(self) -> None:
        self.cdata = True

    def end_cdata(self) -> None:
        self.cdata = False

    def entity_declaration(self, name: str, *_: object) -> None:
        end = self.offset(self.expat.CurrentByteIndex)
        raise self.xml.error(
            f"the file declares the entity {name!r}, which we refuse",
            max(self.xml.raw.rfind("<!ENTITY", 0, end), 0),
            None,
            "write the text itself instead: entities are a way to attack who reads the file",
        )

    def external_entity(self, *_: object) -> int:
        raise self.xml.error(
            "the file refers to another file, which we refuse to read",
            self.offset(self.expat.CurrentByteIndex),
        )

    def skipped_entity(self, name: str, _is_parameter: bool) -> None:
        raise self.xml.error(
            f"unknown entity &{name};",
            self.offset(self.expat.CurrentByteIndex),
            None,
            "write & as &amp;",
        )


def parse(
    xml: XmlFile,
    root: str | None,
    texts: Collection[str] | None,
    on_end: OnEnd,
    root_hint: str = "",
) -> XmlNode:
    """Read a file whose root element is `root` (None: any); keep the texts of elements named in
    `texts`, which have no elements in them (None: of every element that has no others in it)."""
    raw = xml.raw
    if not raw.strip("\ufeff \t\r\n"):
        raise xml.error("the file is empty", 0, None, root_hint)
    nul = raw.find("\0")
    if nul >= 0:
        raise xml.error("a NUL character: this is not a text file", nul)
    start = len(raw) - len(raw.lstrip("\ufeff \t\r\n"))
    if raw[start] != "<":
        raise xml.error("this is not XML, which starts with <", start, None, root_hint)
    return _Parser(xml, root, root_hint, texts, on_end).run()


def attribute_text(xml: XmlFile, node: XmlNode, name: str, element: str) -> SourceText | None:
    """The value of an attribute with the places of its characters; None if there is no such."""
    value = node.attributes.get(name)
    if value is None:
        return None
    tag = xml.raw[node.start : node.open_end]
    found = next((match for match in _ATTRIBUTE.finditer(tag) if match["name"] == name), None)
    assert found is not None  # expat has read it
    start = node.start + found.start("value") + 1
    pieces: list[tuple[int, int, int]] = []
    offset = 0
    behind = -1
    # One character of the value is one of the file, an entity, or a newline of two characters.
    for match in _ATTRIBUTE_STRETCH.finditer(found["value"][1:-1]):
        at = start + match.start()
        if at != behind:
            pieces.append((offset, *xml.place(at)))
        plain = match["plain"] is not None
        offset += len(match[0]) if plain else 1
        behind = start + match.end() if plain else -1
    return SourceText(value, xml.file, tuple(pieces) or ((0, *xml.place(start)),), element)


def element_text(xml: XmlFile, node: XmlNode, element: str) -> SourceText:
    """The text of an element with the places of its characters; `element` says what it is."""
    place = xml.place
    pieces: list[tuple[int, int, int]] = []
    offset = 0
    expected = -1
    for run in node.runs or ():
        if run.start != expected:
            pieces.append((offset, *place(run.start)))
        offset += len(run.text)
        # What follows an entity stands further right than its one character tells.
        expected = -1 if run.entity else run.end
    if not pieces:
        pieces.append((0, *place(node.open_end)))
    return SourceText(node.text, xml.file, tuple(pieces), element)
