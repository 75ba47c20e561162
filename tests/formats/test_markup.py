"""XML with places, as far as UPPAAL's own reader (`test_xml.py`) does not use it."""

import pytest

from whence.formats.markup import XmlFile, XmlNode, attribute_text, element_text, parse
from whence.source import InputError


def read(text: str) -> tuple[XmlFile, XmlNode]:
    xml = XmlFile(text, "a.xml")
    return xml, parse(xml, None, None, lambda _node, _around: True)


def test_any_root_and_texts_of_leaves() -> None:
    _, root = read("<p:a xmlns:p='u'> lost <b>x &lt; 1</b> lost <c><d/>lost</c> lost </p:a>")
    assert root.tag == "p:a"
    assert root.text == ""
    b, c = root.children
    assert b.text == "x < 1"
    assert c.text == ""
    assert c.children[0].runs == []


def test_places_of_leaf_texts() -> None:
    xml, root = read("<a>\n junk <b>x &lt;\n1</b></a>")
    text = element_text(xml, root.children[0], "b")
    assert text.text == "x <\n1"
    assert [text.position(offset) for offset in range(5)] == [
        (2, 10),
        (2, 11),
        (2, 12),
        (2, 16),
        (3, 1),
    ]


def test_places_in_attributes() -> None:
    xml, root = read("<a>\n<b é='1'\n  value = \"é &lt;&#xA; y\r\n<\"/></a>".replace('<"', '&gt;"'))
    text = attribute_text(xml, root.children[0], "value", "value")
    assert text is not None
    assert text.text == "é <\n y >"
    # Each character where it stands: `é`, blank, `&lt;`, `&#xA;`, blank, `y`, CRLF, `&gt;`.
    places = [text.position(offset) for offset in range(3)]
    assert places == [(3, 12), (3, 13), (3, 14)]
    assert text.position(text.text.index("y")) == (3, 24)
    assert text.position(text.text.index(">")) == (4, 1)


def test_places_of_missing_and_empty_attributes() -> None:
    xml, root = read("<a b='' cb='1'/>")
    assert attribute_text(xml, root, "c", "") is None
    empty = attribute_text(xml, root, "b", "")
    assert empty is not None
    assert empty.position(0) == (1, 7)
    other = attribute_text(xml, root, "cb", "")
    assert other is not None
    assert other.position(0) == (1, 13)


@pytest.mark.parametrize(
    "text", ["<a><b></a>", "<a", "", "x", "<!DOCTYPE a [<!ENTITY e 'e'>]><a>&e;</a>", "<a>\0</a>"]
)
def test_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"a\.xml:"):
        read(text)
