"""Laws of the writer: what is not changed stays byte for byte, and what is written reads back."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.formats.test_xml import SAMPLE, WILD_FILES, check_places, texts, wild

from whence.formats.uppaal.document import (
    Document,
    Label,
    QueryText,
    Template,
    TemplateEdge,
    TemplateLocation,
)
from whence.formats.uppaal.write import (
    replace_declaration,
    replace_label,
    replace_queries,
    replace_system,
    replace_text,
    replace_texts,
    set_committed,
    set_urgent,
    write_xml,
)
from whence.formats.uppaal.xml import read_xml, read_xml_file
from whence.source import Origin, SourceText

RAW = SAMPLE.read_text(encoding="utf-8")


def sample(raw: str = RAW) -> Document:
    return read_xml(raw, "lamp.xml")


def variants() -> Sequence[Document]:
    """The sample in several spellings that mean the same."""
    cdata = RAW.replace("y&lt;QUICK", "<![CDATA[y<]]>QUICK<![CDATA[]]>")
    latin = RAW.replace('encoding="utf-8"', 'encoding="iso-8859-1"').encode("latin-1")
    wide = ("\ufeff" + RAW.replace("utf-8", "utf-16")).encode("utf-16-be")
    return [
        sample(),
        sample(cdata),
        sample(RAW.replace("\n", "\r\n")),
        read_xml(latin, "lamp.xml"),
        read_xml(wide, "lamp.xml"),
        replace(sample(), raw=None),
        replace(sample(cdata), raw=None, encoding="iso8859-1"),
    ]


VARIANTS = variants()


def reread(document: Document) -> Document:
    """What the file of a document says."""
    data = write_xml(document).encode(document.encoding)
    return read_xml(data, document.file)


def contents(document: Document) -> object:
    """What a document says, without places and without how it is drawn."""

    def text(source: SourceText | None) -> str | None:
        return None if source is None else source.text

    def labels(of: Sequence[Label]) -> object:
        return [(label.kind, label.source.text) for label in of]

    templates = []
    for template in document.templates:
        number = {at.ident: index for index, at in enumerate(template.locations)}
        templates.append(
            (
                template.name.text,
                text(template.parameters),
                text(template.declaration),
                [
                    (text(at.name), labels(at.labels), at.urgent, at.committed, at.branchpoint)
                    for at in template.locations
                ],
                [
                    (number.get(at.source), number.get(at.target), labels(at.labels))
                    for at in template.edges
                ],
                number.get(template.initial or ""),
            )
        )
    return (
        text(document.declaration),
        templates,
        text(document.instantiation),
        document.system.text,
        [(query.formula.text, query.comment, query.expected) for query in document.queries],
    )


def changes(before: str, after: str) -> list[tuple[str, str]]:
    """What was replaced by what, stretch by stretch."""
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    return [
        (before[a:b], after[c:d]) for tag, a, b, c, d in matcher.get_opcodes() if tag != "equal"
    ]


def written(document: Document) -> str:
    check_places(document)
    return write_xml(document)


# ------------------------------------------------------------------------------ nothing changed


@wild
@pytest.mark.parametrize("path", WILD_FILES, ids=lambda path: path.stem[-40:])
def test_wild_files_stay(path: Path) -> None:
    document = read_xml_file(path)
    assert write_xml(document).encode(document.encoding) == path.read_bytes()
    # Written afresh, they say the same.
    fresh = reread(replace(document, raw=None))
    assert contents(fresh) == contents(document)


@pytest.mark.parametrize("document", VARIANTS)
def test_read_back(document: Document) -> None:
    again = reread(document)
    assert contents(again) == contents(document)
    if document.raw is not None:
        assert again == document
    check_places(again)


def test_changes_that_change_nothing() -> None:
    document = sample()
    assert replace_label(document, 0, "edge", 1, "guard", "y<QUICK") is document
    assert replace_label(document, 0, "edge", 1, "select", None) is document
    assert set_urgent(document, 0, 2, True) is document
    assert set_committed(document, 0, 2, False) is document
    assert replace_queries(document, document.queries) is document
    assert replace_declaration(document, None, document.declaration.text) is document  # type: ignore[union-attr]
    assert replace_texts(document, ()) is document


def test_stale_values() -> None:
    document = sample()
    stale = replace(document, queries=())
    with pytest.raises(ValueError, match="raw=None"):
        write_xml(stale)
    with pytest.raises(ValueError, match="raw=None"):
        set_urgent(stale, 0, 0, True)


# ------------------------------------------------------------------------------ single edits


def test_one_bound() -> None:
    document = sample()
    invariant = document.templates[0].locations[1].labels[0].source
    start = invariant.text.index("10")
    changed = replace_text(document, invariant.origin(start, start + 2), "12")
    assert written(changed) == RAW.replace("the bound -->10<", "the bound -->12<")
    assert changed.templates[0].locations[1].labels[0].source.text == "y <= 12"


def test_across_a_comment() -> None:
    document = sample()
    invariant = document.templates[0].locations[1].labels[0].source
    changed = replace_text(document, invariant.origin(0, len(invariant.text)), "z > 3 & 4")
    assert "z &gt; 3 &amp; 4<!-- the bound --></label>" in written(changed)
    assert changed.templates[0].locations[1].labels[0].source.text == "z > 3 & 4"


def test_in_cdata() -> None:
    document = sample()
    invariant = document.templates[0].locations[2].labels[0].source
    changed = replace_text(document, invariant.origin(5, 6), "8")
    assert changes(RAW, written(changed)) == [("7", "8")]
    changed = replace_text(document, invariant.origin(2, 4), "]]>\r&<")
    assert changed.templates[0].locations[2].labels[0].source.text == "y ]]>\r&< 7 && t < 9"
    written(changed)


def test_an_operator_that_is_an_entity() -> None:
    document = sample()
    guard = document.templates[0].edges[1].labels[0].source
    changed = replace_text(document, guard.origin(1), "<=")
    assert written(changed) == RAW.replace("y&lt;QUICK", "y&lt;=QUICK")
    changed = replace_text(document, guard.origin(1), ">")
    assert written(changed) == RAW.replace("y&lt;QUICK", "y&gt;QUICK")


def test_ends_of_cdata_do_not_arise() -> None:
    raw = "<nta><system>a]]x>b]x>c]]x&gt;<![CDATA[d]]x>e]x>]]>f]]x></system></nta>"
    document = read_xml(raw, "f")
    text = document.system.text
    assert text == "a]]x>b]x>c]]x>d]]x>e]x>f]]x>"
    for offset in range(len(text)):
        for new in ("", "]", "]]", ">", "]]>", "]>"):
            for stop in (offset, offset + 1):
                changed = replace_text(document, document.system.origin(offset, stop), new)
                assert changed.system.text == text[:offset] + new + text[stop:]
    changed = replace_system(document, text.replace("x", ""))
    assert changed.system.text == text.replace("x", "")


def test_newlines_stay_those_of_the_file() -> None:
    document = sample(RAW.replace("\n", "\r\n"))
    document = replace_declaration(document, None, "int a;\nint b;\n")
    document = replace_label(document, 0, "location", 0, "invariant", "a\n&& b")
    document = replace_label(document, 0, "location", 2, "invariant", "a\n&& b")
    document = replace_queries(document, [*document.queries, query("A[] a", "b\nc")])
    document = set_committed(document, 0, 0, True)
    assert document.raw is not None
    assert document.raw.count("\n") == document.raw.count("\r\n")
    assert "\r" not in "".join(source.text for source in texts(document))
    written(document)


def test_several_bounds_at_once() -> None:
    document = sample()
    declaration = document.declaration
    assert declaration is not None
    five, three = declaration.text.index("5"), declaration.text.index("3")
    guard = document.templates[0].edges[1].labels[0].source
    changed = replace_texts(
        document,
        [
            (declaration.origin(three), "1000"),
            (guard.origin(2, 7), "6"),
            (declaration.origin(five), "4 + 4"),
        ],
    )
    expected = RAW.replace("QUICK = 5", "QUICK = 4 + 4").replace("int[0,3]", "int[0,1000]")
    assert written(changed) == expected.replace("y&lt;QUICK", "y&lt;6")


def test_changes_that_do_not_fit() -> None:
    for document in (sample(), replace(sample(), raw=None)):
        guard = document.templates[0].edges[1].labels[0].source
        other = document.templates[0].edges[1].labels[1].source
        with pytest.raises(ValueError, match="overlap"):
            replace_texts(document, [(guard.origin(0, 3), "a"), (guard.origin(2, 4), "b")])
        for origin in (
            Origin("lamp.xml", 1, 1, 1, 2),
            Origin("lamp.xml", 999, 1, 999, 2),
            Origin("lamp.xml"),
            Origin("other.xml", *guard.position(0), *guard.position(1)),
            guard.origin(0, 2).to(other.origin(0, 2)),
        ):
            with pytest.raises(ValueError, match=r"no place in|not within one text"):
                replace_text(document, origin, "x")
        with pytest.raises(ValueError, match=r"U\+0000"):
            replace_text(document, guard.origin(0), "\0")
        with pytest.raises(IndexError):
            replace_label(document, 0, "edge", 7, "guard", "x")


def test_add_a_label() -> None:
    changed = replace_label(sample(), 0, "edge", 0, "guard", "y < 1 &&\ny > 0")
    assert written(changed) == RAW.replace(
        "i : int[0,2]</label>\n",
        'i : int[0,2]</label>\n\t\t\t<label kind="guard" x="76" y="17">y &lt; 1 &amp;&amp;\n'
        "y &gt; 0</label>\n",
    )
    changed = replace_label(sample(), 0, "location", 0, "invariant", "t < 1")
    assert written(changed) == RAW.replace(
        ">off</name>\n",
        '>off</name>\n\t\t\t<label kind="invariant" x="-10" y="17">t &lt; 1</label>\n',
    )
    changed = replace_label(sample(), 0, "location", 3, "invariant", "t < 1")
    assert '<name>odd</name><label kind="invariant"' in written(changed)


def test_add_to_an_element_without_content() -> None:
    raw = RAW.replace(
        '<branchpoint id="id4" x="85" y="85"/>',
        '<location id="id4" x="85" y="85" />\n\t\t<location id="id9">\n\t\t</location>',
    )
    changed = replace_label(sample(raw), 0, "location", 4, "invariant", "t < 1")
    changed = set_committed(changed, 0, 5, True)
    assert written(changed) == raw.replace(
        ' y="85" />',
        ' y="85">\n\t\t\t<label kind="invariant" x="75" y="102">t &lt; 1</label>\n\t\t</location>',
    ).replace('id="id9">', 'id="id9">\n\t\t\t<committed/>')


def test_remove_a_label() -> None:
    changed = replace_label(sample(), 0, "edge", 1, "guard", None)
    guard = '\n\t\t\t<label kind="guard" x="188" y="-34">y&lt;QUICK</label>'
    assert written(changed) == RAW.replace(guard, "")


def test_kinds_of_locations() -> None:
    urgent = set_urgent(sample(), 0, 0, True)
    assert written(urgent) == RAW.replace(">off</name>", ">off</name>\n\t\t\t<urgent/>")
    assert write_xml(set_urgent(urgent, 0, 0, False)) == RAW
    committed = set_committed(sample(), 0, 2, True)
    assert written(committed) == RAW.replace("<urgent/>", "<committed/>")
    assert "<committed/></location>" not in written(set_committed(sample(), 0, 3, False))


def test_declarations() -> None:
    document = sample()
    assert document.declaration is not None
    text = document.declaration.text.replace("QUICK = 5", "QUICK = 6") + "\nint more;"
    changed = replace_declaration(document, None, text)
    assert written(changed) == RAW.replace("QUICK = 5", "QUICK = 6").replace(
        "level = 0;", "level = 0;\nint more;"
    )
    bare = (
        RAW[: RAW.index("<declaration>clock y")].rstrip()
        + RAW[RAW.index('<location id="id0"') - 3 :]
    )
    changed = replace_declaration(sample(bare), 0, "clock a;\nclock b;")
    assert written(changed) == bare.replace(
        "</parameter>", "</parameter>\n\t\t<declaration>clock a;\nclock b;</declaration>"
    )
    changed = replace_declaration(read_xml("<nta><system/></nta>", "f"), None, "int a;")
    assert "<declaration>int a;</declaration>" in write_xml(changed)


def test_system() -> None:
    changed = replace_system(sample(), "system Lamp, Lamp;")
    assert changed.system.text == "system Lamp, Lamp;"
    start, end = RAW.index("<system>") + 8, RAW.index("</system>")
    assert written(changed) == RAW[:start] + "system Lamp, Lamp;" + RAW[end:]
    changed = replace_system(read_xml("<nta>\n</nta>", "f"), "system a;")
    assert write_xml(changed) == "<nta>\n\t<system>system a;</system>\n</nta>"


def query(formula: str, comment: str = "", expected: str = "") -> QueryText:
    return QueryText(SourceText(formula), comment, expected)


def test_queries() -> None:
    document = sample()
    first, second, third = document.queries
    new = query("A[] a < 3", "new", "failure")
    markup = (
        "\n\t\t<query>\n\t\t\t<formula>A[] a &lt; 3</formula>\n\t\t\t<comment>new</comment>"
        '\n\t\t\t<expect outcome="failure" type="symbolic"/>\n\t\t</query>'
    )
    last = "\n\t\t<query>\n\t\t\t<formula/>\n\t\t\t<comment/>\n\t\t</query>"
    changed = replace_queries(document, [first, second, third, new])
    assert written(changed) == RAW.replace(last, last + markup)
    changed = replace_queries(document, [new, first, second, third])
    assert written(changed) == RAW.replace('value="0"/>', 'value="0"/>' + markup)
    changed = replace_queries(document, [first, second])
    assert written(changed) == RAW.replace(last, "")
    changed = replace_queries(document, [first, new, third])
    assert [entry.formula.text for entry in changed.queries] == ["E<> x.low", "A[] a < 3", ""]
    assert written(changed).startswith(RAW[: RAW.index("<formula>A[] not") - 15])
    # What moves takes along what only UPPAAL understands.
    changed = replace_queries(document, [third, second, first])
    assert [entry.formula.text for entry in changed.queries] == [
        "",
        "A[] not deadlock",
        "E<> x.low",
    ]
    assert "timestamp" in written(changed)
    changed = replace_queries(document, [])
    assert changed.queries == ()
    assert '<option key="--extrapolation" value="0"/>\n\t</queries>' in written(changed)
    assert contents(replace_queries(changed, document.queries)) == contents(document)


@pytest.mark.parametrize(
    "raw",
    [
        "<nta>\n\t<system>s</system>\n</nta>",
        "<nta>\n\t<system>s</system>\n\t<queries/>\n</nta>",
        "<nta>\n\t<system>s</system>\n\t<queries>\n\t</queries>\n</nta>",
        "<nta/>",
    ],
)
def test_first_query(raw: str) -> None:
    changed = replace_queries(read_xml(raw, "f"), [query("E<> a", "b\nc")])
    assert [(entry.formula.text, entry.comment) for entry in changed.queries] == [("E<> a", "b\nc")]
    assert "\n\t\t<query>\n\t\t\t<formula>E&lt;&gt; a</formula>" in written(changed)
    assert "\n\t</queries>\n" in written(changed)


def test_what_an_encoding_cannot_say() -> None:
    latin = VARIANTS[3]
    assert latin.encoding == "iso8859-1"
    for changed in (
        replace_declaration(latin, None, "// 10 €"),
        replace_label(latin, 0, "location", 2, "invariant", "y <= 7 && t < 9 /* 10 € */"),
        replace_declaration(VARIANTS[6], None, "// 10 €"),
    ):
        assert "&#8364;" in write_xml(changed)
        assert contents(reread(changed)) == contents(changed)


# ------------------------------------------------------------------------------ all edits

PIECES = st.sampled_from(
    ["a", "x <= 5", "]]>", "]", ">", "<", "&amp;", "&", "\n", "\t", " ", "€", "ä", "\r"]
)
TEXTS = st.lists(PIECES, max_size=6).map("".join) | st.text(
    st.characters(blacklist_categories=["Cs", "Cc"], blacklist_characters="\ufffe\uffff"),
    max_size=8,
)
DOCUMENTS = st.sampled_from(VARIANTS)


@st.composite
def replacements(draw: st.DrawFn) -> tuple[Document, list[tuple[int, int, int, str]]]:
    """A document and stretches of its texts (number of the text, start, stop, new text)."""
    document = draw(DOCUMENTS)
    sources = list(texts(document))
    chosen = []
    for number in draw(st.lists(st.integers(0, len(sources) - 1), min_size=1, max_size=3)):
        start = draw(st.integers(0, len(sources[number].text)))
        stop = draw(st.integers(start, min(len(sources[number].text), start + 12)))
        chosen.append((number, start, stop, draw(TEXTS)))
    for index, (number, start, stop, _) in enumerate(chosen):
        for other, from_, to, _ in chosen[:index]:
            assume(number != other or stop < from_ or to < start)
    return document, chosen


@given(replacements())
def test_texts_are_replaced_where_they_stand(
    drawn: tuple[Document, list[tuple[int, int, int, str]]],
) -> None:
    document, chosen = drawn
    sources = list(texts(document))
    expected = [source.text for source in sources]
    for number, start, stop, new in sorted(chosen, reverse=True):
        expected[number] = expected[number][:start] + new + expected[number][stop:]
    # A name without its blanks, or without anything, is not what was written.
    names = {id(template.name) for template in document.templates} | {
        id(location.name) for template in document.templates for location in template.locations
    }
    for number, *_ in chosen:
        is_name = id(sources[number]) in names
        assume(not is_name or expected[number].strip(" \t\r\n") == expected[number] != "")
        assume(not is_name or expected[number].strip() == expected[number])
    changed = replace_texts(
        document,
        [(sources[number].origin(start, stop), new) for number, start, stop, new in chosen],
    )
    assert [source.text for source in texts(changed)] == expected
    again = reread(changed)
    assert [source.text for source in texts(again)] == expected
    check_places(again)
    if document.raw is None:
        return
    assert again == changed
    # Everything around the changes is still there, in its order.
    assert changed.raw is not None
    at = 0
    for part in untouched(document, [sources[n].origin(a, b) for n, a, b, _ in chosen]):
        at = changed.raw.index(part, at) + len(part)


def untouched(document: Document, origins: Sequence[Origin]) -> list[str]:
    """The lines of a file that no change touches."""
    assert document.raw is not None
    lines = document.raw.splitlines(keepends=True)
    touched = {line for at in origins for line in range(at.line, at.end_line + 1)}
    return [line for number, line in enumerate(lines, 1) if number not in touched]


EDITS = st.one_of(
    st.tuples(
        st.just(replace_label),
        st.just(0),
        st.just("location"),
        st.integers(0, 4),
        st.sampled_from(["invariant", "comments", "exponentialrate", '<new & "kind">']),
        st.none() | TEXTS,
    ),
    st.tuples(
        st.just(replace_label),
        st.just(0),
        st.just("edge"),
        st.integers(0, 2),
        st.sampled_from(["select", "guard", "synchronisation", "assignment", "probability"]),
        st.none() | TEXTS,
    ),
    st.tuples(st.just(set_urgent), st.just(0), st.integers(0, 3), st.booleans()),
    st.tuples(st.just(set_committed), st.just(0), st.integers(0, 3), st.booleans()),
    st.tuples(st.just(replace_declaration), st.none() | st.just(0), TEXTS),
    st.tuples(st.just(replace_system), TEXTS),
    st.tuples(
        st.just(replace_queries),
        st.lists(
            st.builds(query, TEXTS, TEXTS, st.sampled_from(["", "success", "failure"]))
            | st.sampled_from(VARIANTS[0].queries),
            max_size=4,
        ),
    ),
)


@given(st.sampled_from(range(len(VARIANTS))), st.lists(EDITS, max_size=4))
def test_edited_texts_read_back(
    variant: int, edits: list[tuple[Callable[..., Document], object]]
) -> None:
    document, plain = VARIANTS[variant], replace(VARIANTS[variant], raw=None)
    for edit, *arguments in edits:
        document, plain = edit(document, *arguments), edit(plain, *arguments)
        # With and without the text of a file, an edit means the same.
        assert contents(document) == contents(plain)
    again = reread(document)
    assert contents(again) == contents(document)
    assert contents(reread(plain)) == contents(plain)
    if document.raw is not None:
        assert again == document
        check_places(document)


# ------------------------------------------------------------------------------ fresh files


def built(*templates: Template) -> Document:
    return Document("", None, templates, None, SourceText("system P;"), ())


def test_fresh_file() -> None:
    """A document that somebody made, without any drawing."""
    locations = tuple(
        TemplateLocation(name, SourceText(name), labels=(Label("invariant", SourceText("x<1")),))
        for name in "ABC"
    )
    edges = (
        TemplateEdge("A", "B"),
        TemplateEdge("B", "A", labels=(Label("guard", SourceText("x > 0")),)),
        TemplateEdge("C", "C"),
    )
    one = Template(SourceText("P"), None, SourceText("clock x;"), locations, edges, "A")
    two = replace(one, name=SourceText("Q"), parameters=SourceText("int &a"))
    document = replace(built(one, two), queries=(query("A[] true", "c"),))
    text = write_xml(document)
    assert text.startswith('<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE nta PUBLIC ')
    assert text.endswith("</nta>\n")
    again = read_xml(text, "f")
    assert contents(again) == contents(document)
    idents = [at.ident for template in again.templates for at in template.locations]
    assert len(set(idents)) == len(idents) == 6
    positions = [at.position for at in again.templates[0].locations]
    assert None not in positions
    assert len(set(positions)) == 3
    first, back, loop = again.templates[0].edges
    assert len(first.nails) == 0
    assert len(back.nails) == 1
    assert len(loop.nails) == 2
    assert all(label.position for edge in again.templates[0].edges for label in edge.labels)
    assert write_xml(replace(again, raw=None)) == text


def test_branchpoints_come_last() -> None:
    locations = (
        TemplateLocation("b", branchpoint=True),
        TemplateLocation("a", position=(1, 2), labels=(Label("invariant", SourceText("x<1")),)),
    )
    template = Template(SourceText("P"), None, None, locations, (TemplateEdge("b", "a"),), "a")
    text = write_xml(built(template))
    assert text.index("<location") < text.index("<branchpoint") < text.index("<init")


def test_what_cannot_be_written() -> None:
    template = Template(SourceText("P"), None, None, (), (), None, unsupported="lsc")
    with pytest.raises(ValueError, match="lsc P"):
        write_xml(built(template))
    with pytest.raises(ValueError, match=r"U\+0007"):
        write_xml(replace(built(), system=SourceText("\a")))
