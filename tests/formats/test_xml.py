"""What the reader of UPPAAL's XML makes of good and of bad files."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.formats import markup
from whence.formats.uppaal.document import Document
from whence.formats.uppaal.xml import MAX_DEPTH, read_xml, read_xml_file
from whence.source import InputError, SourceText

SAMPLE = Path(__file__).parent / "samples" / "lamp.xml"
WILD = Path(__file__).parents[2].parent / "shared" / "data" / "uppaal"
WILD_FILES = sorted(WILD.rglob("*.xml"))

wild = pytest.mark.skipif(not WILD_FILES, reason="the public models are not at ../shared/data")


def texts(document: Document) -> Iterator[SourceText]:
    """All texts of a document, in a fixed order."""
    single = [document.declaration, document.instantiation, document.system]
    for template in document.templates:
        single += [template.name, template.parameters, template.declaration]
        for location in template.locations:
            single.append(location.name)
            single += [label.source for label in location.labels]
        for edge in template.edges:
            single += [label.source for label in edge.labels]
    single += [query.formula for query in document.queries]
    return (text for text in single if text is not None)


def lines_of(raw: str) -> list[str]:
    return re.split(r"\r\n|\r|\n", raw.removeprefix("\ufeff"))


def check_places(document: Document) -> None:
    """Each character of each text stands in the file where its place says."""
    assert document.raw is not None
    lines = lines_of(document.raw)
    for text in texts(document):
        for offset, character in enumerate(text.text):
            line, column = text.position(offset)
            rest = lines[line - 1][column - 1 :]
            if not rest:
                assert character == "\n"
            elif rest[0] == "&" and not rest.startswith(character):
                assert re.match(r"&(lt|gt|amp|quot|apos|#\d+|#x[0-9a-fA-F]+);", rest)
            elif rest[0] != "&":
                assert rest[0] == character, text.element
        assert text.file == document.file


def with_guard(guard: str) -> str:
    """A model whose only label starts with a newline, and then has `guard` on line 2."""
    return (
        '<nta><template><name>P</name><location id="a"/><init ref="a"/><transition>'
        '<source ref="a"/><target ref="a"/><label kind="guard">'
        f"\n{guard}</label></transition></template><system>system P;</system></nta>"
    )


def guard_of(document: Document) -> SourceText:
    return document.templates[0].edges[0].labels[0].source


# ------------------------------------------------------------------------------ good files


def test_sample() -> None:
    document = read_xml_file(SAMPLE)
    assert document.file == str(SAMPLE)
    assert document.raw == SAMPLE.read_text(encoding="utf-8")
    assert document.encoding == "utf-8"
    assert document.declaration is not None
    assert document.declaration.text.startswith("// Zustände für")
    assert document.instantiation is None
    assert document.system.text == "x = Lamp(1, c);\nsystem x;"
    [template] = document.templates
    assert template.name.text == "Lamp"
    assert template.name.position(0) == (12, 22)
    assert template.parameters is not None
    assert template.parameters.text == "const int &start, clock &t"
    assert template.initial == "id0"
    assert (template.initial_origin.line, template.initial_origin.column) == (31, 3)
    off, low, bright, odd, branch = template.locations
    assert (off.ident, off.name and off.name.text, off.position, off.colour) == (
        "id0",
        "off",
        (0, 0),
        "#ff0000",
    )
    assert off.name_position == (-10, -34)
    assert [(label.kind, label.source.text, label.position) for label in low.labels] == [
        ("invariant", "y <= 10", (160, 17)),
        ("comments", 'it may stay "low"', None),
    ]
    assert bright.name is None
    assert bright.urgent
    assert not bright.committed
    assert [(label.kind, label.source.text) for label in bright.labels] == [
        ("invariant", "y <= 7 && t < 9"),
        ("exponentialrate", "3"),
    ]
    assert odd.committed
    assert odd.position == (341, 170)
    assert branch.branchpoint
    assert not low.branchpoint
    first, second, third = template.edges
    assert (first.source, first.target, first.ident) == ("id0", "id1", "id5")
    assert not first.controllable
    assert second.controllable
    assert first.colour == "#00ff00"
    assert first.nails == ((34, 51), (68, 51))
    assert [(label.kind, label.source.text) for label in first.labels] == [
        ("select", "i : int[0,2]"),
        ("synchronisation", "press?"),
        ("assignment", "y = 0,\nlevel = i"),
    ]
    assert third.source == "id4"
    assert third.labels[0].kind == "probability"
    assert [(query.formula.text, query.comment, query.expected) for query in document.queries] == [
        ("E<> x.low", "can it\nbe low?", "success"),
        ("A[] not deadlock", "", "failure"),
        ("", "", ""),
    ]
    check_places(document)


def test_elements_in_words() -> None:
    document = read_xml_file(SAMPLE)
    words = {text.element for text in texts(document)}
    assert {
        "the global declarations",
        "the declarations of template Lamp",
        "the parameters of template Lamp",
        "the invariant of location low of template Lamp",
        "the invariant of location id2 of template Lamp",
        "the guard of the edge low -> id2 of template Lamp",
        "the name of location off of template Lamp",
        "the system declaration",
        "query 2",
    } <= words


def test_origins_of_elements() -> None:
    document = read_xml_file(SAMPLE)
    location = document.templates[0].locations[1].origin
    assert (location.line, location.column) == (19, 3)
    assert (location.end_line, location.end_column) == (23, 14)
    edge = document.templates[0].edges[1].origin
    assert (edge.line, edge.column, edge.end_line, edge.end_column) == (41, 3, 46, 16)


@wild
@pytest.mark.parametrize("path", WILD_FILES, ids=lambda path: path.stem[-40:])
def test_wild(path: Path) -> None:
    data = path.read_bytes()
    document = read_xml(data, path.name)
    assert document.raw is not None
    assert document.raw.encode(document.encoding) == data
    check_places(document)


# ------------------------------------------------------------------------------ places


def test_places_with_entities() -> None:
    document = read_xml(with_guard("x &lt;= 5 &amp;&amp; y &#62; 3"), "f")
    guard = guard_of(document)
    assert guard.text == "\nx <= 5 && y > 3"
    line = 2
    #                     x  ' '  <   =   ' ' 5  ' ' &   &   ' ' y  ' ' >   ' ' 3
    columns = [1, 2, 3, 7, 8, 9, 10, 11, 16, 21, 22, 23, 24, 29, 30]
    assert [guard.position(1 + index) for index in range(15)] == [(line, at) for at in columns]
    origin = guard.origin(3, 5)
    assert (origin.line, origin.column, origin.end_line, origin.end_column) == (2, 3, 2, 8)
    assert str(origin) == "f:2:3"


def test_places_after_a_newline_written_as_entity() -> None:
    guard = guard_of(read_xml(with_guard("a&#10;b&#xA;&#13;\nc"), "f"))
    assert guard.text == "\na\nb\n\r\nc"
    assert [guard.position(index) for index in range(1, 8)] == [
        (2, 1),
        (2, 2),
        (2, 7),
        (2, 8),
        (2, 13),
        (2, 18),
        (3, 1),
    ]


def test_places_in_cdata_and_around_comments() -> None:
    guard = guard_of(read_xml(with_guard("a<![CDATA[<&lt;\nb]]>c<!-- x\ny -->d<?p q?>e"), "f"))
    assert guard.text == "\na<&lt;\nbcde"
    assert [guard.position(index) for index in range(1, 12)] == [
        (2, 1),
        (2, 11),
        (2, 12),
        (2, 13),
        (2, 14),
        (2, 15),
        (2, 16),
        (3, 1),
        (3, 5),
        (4, 6),
        (4, 14),
    ]


@pytest.mark.parametrize("newline", ["\r\n", "\r", "\n"])
def test_newlines(newline: str) -> None:
    text = with_guard("a\n\tb\n\n&lt;c").replace("\n", newline)
    document = read_xml(text.encode(), "f")
    assert document.raw == text
    guard = guard_of(document)
    assert guard.text == "\na\n\tb\n\n<c"
    assert [guard.position(index) for index in range(len(guard.text))][1:] == [
        (2, 1),
        (2, 2),
        (3, 1),
        (3, 2),
        (3, 3),
        (4, 1),
        (5, 1),
        (5, 5),
    ]
    check_places(document)


@pytest.mark.parametrize(
    ("head", "codec", "expected"),
    [
        ("", "utf-8", "utf-8"),
        ("\ufeff", "utf-8", "utf-8"),
        ('<?xml version="1.0" encoding="utf-8"?>', "utf-8", "utf-8"),
        ('\ufeff<?xml version="1.0" encoding="ISO-8859-1"?>', "utf-8", "utf-8"),
        ("<?xml version='1.0' encoding='iso-8859-1'?>", "latin-1", "iso8859-1"),
        ('<?xml version="1.0" encoding = "windows-1252"?>', "cp1252", "cp1252"),
        ('\ufeff<?xml version="1.0" encoding="utf-16"?>', "utf-16-le", "utf-16-le"),
        ('\ufeff<?xml version="1.0" encoding="UTF-16"?>', "utf-16-be", "utf-16-be"),
        ('<?xml version="1.0" encoding="utf-16"?>', "utf-16-le", "utf-16-le"),
        ("\ufeff", "utf-32-le", "utf-32-le"),
        # A text that was decoded and saved anew, but still says what it was.
        ('<?xml version="1.0" encoding="utf-16"?>', "utf-8", "utf-8"),
    ],
)
def test_encodings(head: str, codec: str, expected: str) -> None:
    text = head + with_guard("ä // ß").replace("<nta>", "<nta><declaration>ööö</declaration>")
    document = read_xml(text.encode(codec), "f")
    assert document.encoding == expected
    assert document.raw == text
    assert guard_of(document).text == "\nä // ß"
    assert document.declaration is not None
    # The mark in front belongs to no column.
    column = len(head.removeprefix("\ufeff")) + len("<nta><declaration>") + 1
    assert document.declaration.position(0) == (1, column)
    check_places(document)


def test_columns_count_characters() -> None:
    guard = guard_of(read_xml(with_guard("/* 😀é */ x &lt; 1").encode(), "f"))
    assert guard.position(guard.text.index("x")) == (2, 10)
    assert guard.position(guard.text.index("1")) == (2, 17)


def test_a_decoded_text() -> None:
    assert read_xml(with_guard("ä"), "f").encoding == "utf-8"
    latin = '<?xml version="1.0" encoding="latin1"?>' + with_guard("ä")
    assert read_xml(latin, "f").encoding == "iso8859-1"
    wide = '<?xml version="1.0" encoding="UTF-16"?>' + with_guard("ä")
    assert read_xml(wide, "f").encoding == "utf-16"
    assert read_xml("\ufeff" + wide, "f").encoding == "utf-16-le"


def test_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text can be cut anywhere on its way to expat."""
    document = read_xml_file(SAMPLE)
    for size in (1, 2, 3, 7, 64):
        monkeypatch.setattr(markup, "_CHUNK", size)
        again = read_xml_file(SAMPLE)
        assert list(texts(again)) == list(texts(document))


def test_empty_texts_have_a_place() -> None:
    document = read_xml(
        "<nta><declaration/><system></system><queries><query/></queries></nta>", "f"
    )
    assert document.declaration is not None
    assert document.declaration.position(0) == (1, 20)
    assert document.system.position(0) == (1, 28)
    assert document.queries[0].formula.position(0) == (1, 54)


def test_no_system() -> None:
    document = read_xml("<nta>\n<declaration>int a;</declaration>\n</nta>\n", "f")
    assert document.system.text == ""
    assert document.system.position(0) == (3, 1)
    assert document.templates == ()


def test_other_tools_constructs_are_named() -> None:
    document = read_xml(
        "<nta><template><name>A</name><dynamic/></template>"
        "<lsc><name>B</name><instance id='i'/></lsc><system/></nta>",
        "f",
    )
    assert [template.unsupported for template in document.templates] == ["dynamic", "lsc"]


def test_a_doctype_alone_is_harmless() -> None:
    for doctype in (
        "<!DOCTYPE nta PUBLIC '-//Uppaal Team//DTD Flat System 1.1//EN' 'file:///etc/passwd'>",
        '<!DOCTYPE nta SYSTEM "http://localhost:1/x.dtd">',
        "<!DOCTYPE nta [<!ATTLIST location x CDATA #IMPLIED>]>",
        "<!DOCTYPE nta SYSTEM 'http://localhost:1/x.dtd' [%nothing;]>",
    ):
        assert read_xml(doctype + with_guard("x"), "f").templates


# ------------------------------------------------------------------------------ bad files


def refused(data: bytes | str, message: str, place: str | None = None) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read_xml(data, "f")
    if place is not None:
        assert str(caught.value.diagnostics[0].origin) == place


def in_template(content: str) -> str:
    return f"<nta><template><name>P</name>{content}</template></nta>"


LAUGHS = (
    '<?xml version="1.0"?>\n<!DOCTYPE nta [\n<!ENTITY a "lol">\n'
    + "".join(
        f'<!ENTITY {b} "{f"&{a};" * 10}">\n' for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    )
    + "]>\n<nta><system>&i;</system></nta>"
)


@pytest.mark.parametrize(
    ("data", "message", "place"),
    [
        (LAUGHS, "declares the entity 'a'", "f:3:1"),
        ('<!DOCTYPE nta [<!ENTITY % x SYSTEM "http://h/e"> %x;]><nta/>', "declares", None),
        (
            '<!DOCTYPE nta [<!NOTATION n SYSTEM "n"><!ENTITY x SYSTEM "y" NDATA n>]><nta/>',
            "declares the entity 'x'",
            None,
        ),
        (
            "<!DOCTYPE nta SYSTEM 'x.dtd'><nta><system>a &nbsp; b</system></nta>",
            "unknown entity &nbsp;",
            "f:1:45",
        ),
        (
            '<!DOCTYPE nta [<!ENTITY x SYSTEM "file:///etc/passwd">]><nta><system>&x;</system></nta>',
            "declares the entity 'x'",
            "f:1:16",
        ),
        ("<nta><system>a &nbsp; b</system></nta>", "undefined entity", "f:1:16"),
        ("", "the file is empty", "f:1:1"),
        ("\ufeff \n\t", "the file is empty", None),
        ("process P() {}", "this is not XML", "f:1:1"),
        ("  \n  clock x;", "this is not XML", "f:2:3"),
        ("<nta>\n<system>a\0b</system></nta>", "NUL", "f:2:10"),
        ("<nta><system>\x01</system></nta>", "not well-formed", "f:1:14"),
        ("\n<project><system/></project>", "the root element is <project>, not <nta>", "f:2:1"),
        ("<trace/>", "the root element is <trace>", "f:1:1"),
        ("<nta>\n<system>x < 3</system></nta>", "not well-formed", "f:2:12"),
        ("<nta><system>é x & 3</system></nta>", "not well-formed", "f:1:19"),
        ("<nta>\n  <template>\n </nta>", "<template> of line 2 is still open", "f:3:2"),
        ("<nta>\n<template>\n<name>P", "while <name> of line 3 is still open", "f:3:8"),
        ("<nta>\n<template", "while <nta> of line 1 is still open", None),
        ("<!-- nothing", "the file ends before its root element", None),
        ("<nta></nta>\n<nta/>", "junk after document element", "f:2:1"),
        ("<nta a='1' a='2'/>", "duplicate attribute", None),
        ("<nta>" + "<a>" * 100_000, f"nested more than {MAX_DEPTH} deep", "f:1:195"),
        ("<nta><system>a<b/>c</system></nta>", "<b> inside the text of <system>", "f:1:15"),
        ("<nta><declaration/>\n<declaration/></nta>", "a second <declaration>", "f:2:1"),
        ("<nta><system/>\n<system/></nta>", "a second <system>", "f:2:1"),
        ("<nta>\n<template></template></nta>", "a template without a name", "f:2:1"),
        ("<nta><template><name> </name></template></nta>", "without a name", None),
        (
            in_template("<name>Q</name>"),
            "a second <name>",
            "f:1:30",
        ),
        (in_template("<location/>"), "without an id", "f:1:30"),
        (
            in_template("<transition><source ref='a'/></transition>"),
            "without a target",
            "f:1:30",
        ),
        (
            in_template("<transition><source/></transition>"),
            "without a source",
            "f:1:42",
        ),
        (
            in_template("<location id='a'><label>x</label></location>"),
            "a label without a kind",
            "f:1:47",
        ),
        ('<?xml version="1.0" encoding="klingon"?><nta/>', "unknown encoding 'klingon'", "f:1:31"),
        ('<?xml version="1.0" encoding="idna"?><nta/>', "unknown encoding", None),
        ('<?xml version="1.0" encoding="unicode_escape"?><nta/>', "unknown encoding", None),
        ('<?xml version="1.0" encoding="base64"?><nta/>', "unknown encoding", None),
        ("<nta>\n<system>aä\ud800</system></nta>", "surrogate", "f:2:11"),
        (b"<nta>\n<system>\xc3\xa4\xff</system></nta>", "byte 0xff is not utf-8", "f:2:10"),
        (b"\xff\xfe<\x00n\x00\x00\xd8x\x00", "is not utf-16-le", "f:1:3"),
        (b"\xff\xfe<", "is not utf-16-le", None),
        (b"\x89PNG\r\n\x1a\n", "byte 0x89", "f:1:1"),
        (b"PK\x03\x04zip", "this is not XML", None),
    ],
)
def test_refused(data: bytes | str, message: str, place: str | None) -> None:
    refused(data, message, place)


def test_long_tags(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(markup, "_MAX_TOKEN", 1000)
    monkeypatch.setattr(markup, "_CHUNK", 100)
    refused("<nta>\n<!--" + "x" * 2000 + "--></nta>", "longer than", "f:2:1")
    refused("<nta>\n<system a='" + "x" * 2000 + "'/></nta>", "longer than", "f:2:1")
    long = "x" * 2000
    assert read_xml(f"<nta><system>{long}</system></nta>", "f").system.text == long


def test_every_truncation_is_refused() -> None:
    data = SAMPLE.read_bytes()
    for size in range(data.rindex(b"</nta>") + len("</nta>")):
        with pytest.raises(InputError) as caught:
            read_xml(data[:size], "f")
        assert caught.value.diagnostics[0].origin.line > 0


@given(
    st.lists(
        st.tuples(
            st.integers(0, SAMPLE.stat().st_size),
            st.integers(0, 20),
            st.binary(max_size=4) | st.sampled_from([b"<", b"&", b"]]>", b"<!--", b"<a>", b"\xff"]),
        ),
        min_size=1,
        max_size=3,
    )
)
def test_damaged_files(changes: list[tuple[int, int, bytes]]) -> None:
    """Whatever happens to a file, we read it or say what is wrong with it."""
    data = SAMPLE.read_bytes()
    for start, length, new in changes:
        data = data[:start] + new + data[start + length :]
    try:
        document = read_xml(data, "f")
    except InputError as caught:
        assert all(found.origin.line > 0 for found in caught.diagnostics)  # noqa: PT017
    else:
        assert document.raw is not None
        assert document.raw.encode(document.encoding) == data


# ------------------------------------------------------------------------------ paths


def test_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="no such file") as caught:
        read_xml_file(tmp_path / "none.xml")
    assert str(tmp_path / "none.xml") in caught.value.render()
    with pytest.raises(InputError, match="directory"):
        read_xml_file(tmp_path)
    with pytest.raises(InputError, match="cannot be read"):
        read_xml_file("a\0b")
    with pytest.raises(InputError, match="cannot be read"):
        read_xml_file(SAMPLE / "inside.xml")
    with pytest.raises(InputError, match="cannot be read"):
        read_xml_file("x" * 5000)
    empty = tmp_path / "empty.xml"
    empty.touch()
    with pytest.raises(InputError, match="empty"):
        read_xml_file(str(empty))
    monkeypatch.setattr(markup, "MAX_BYTES", 100)
    with pytest.raises(InputError, match="larger than"):
        read_xml_file(SAMPLE)


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything"
)
def test_permissions(tmp_path: Path) -> None:
    secret = tmp_path / "secret.xml"
    secret.write_text("<nta/>")
    secret.chmod(0)
    with pytest.raises(InputError, match="permission denied"):
        read_xml_file(secret)


def test_permissions_as_any_user(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(InputError, match="permission denied"):
        read_xml_file("secret.xml")
