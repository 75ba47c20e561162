"""Open-PSA files: their structure by the format's grammar, and what they say."""

from __future__ import annotations

import re
from collections.abc import Callable
from xml.etree import ElementTree

import pytest
from hypothesis import given
from tests.formats.fault_trees.trees import RAILROAD, trees

from whence.formats.fault_trees.names import safe_names
from whence.formats.fault_trees.open_psa import write_open_psa
from whence.model.fault_tree import BasicEvent, FaultTree, Gate, nodes

Element = ElementTree.Element

# ------------------------------------------------------------- the grammar, as far as it is needed

_IDENTIFIER = re.compile(r"[A-Za-z_][\w]*(-\w+)*")
_FORMULAE = {"and", "or", "not", "xor", "nand", "nor"}
_REFERENCES = {"gate", "basic-event", "house-event", "event"}


def attributes_are(element: Element, *names: str) -> None:
    assert set(element.attrib) == set(names), element.attrib
    if "name" in names:
        assert _IDENTIFIER.fullmatch(element.attrib["name"])


def text_is(text: str | None) -> None:
    """A normalized string that is not blank."""
    assert text is not None
    assert text.strip()
    assert not re.search(r"[\n\r\t]", text)


def definition(element: Element, then: Callable[[list[Element]], None]) -> None:
    """name, label?, attributes?, and what the kind of definition goes on with."""
    attributes_are(element, "name")
    rest = list(element)
    if rest and rest[0].tag == "label":
        label = rest.pop(0)
        attributes_are(label)
        text_is(label.text)
    if rest and rest[0].tag == "attributes":
        for attribute in rest.pop(0):
            assert attribute.tag == "attribute"
            attributes_are(attribute, "name", "value")
            text_is(attribute.attrib["value"])
    then(rest)


def formula(parts: list[Element]) -> None:
    (one,) = parts
    if one.tag in _REFERENCES:
        attributes_are(one, "name")
        assert len(one) == 0
        return
    assert one.tag in _FORMULAE
    attributes_are(one)
    # The grammar is content with one operand, SCRAM is not.
    assert len(one) >= 2
    for part in one:
        formula([part])


def chance(parts: list[Element]) -> None:
    if not parts:
        return
    (one,) = parts
    if one.tag == "exponential":
        rate, time = one
        chance([rate])
        assert time.tag == "system-mission-time"
        attributes_are(time)
        return
    assert one.tag == "float"
    attributes_are(one, "value")
    assert float(one.attrib["value"]) >= 0


def constant(parts: list[Element]) -> None:
    (one,) = parts
    assert one.tag == "constant"
    assert one.attrib == {"value": "true"}


def valid(root: Element) -> None:
    assert root.tag == "opsa-mef"
    tree, data = root
    assert tree.tag == "define-fault-tree"
    assert data.tag == "model-data"

    def gates(parts: list[Element]) -> None:
        for part in parts:
            assert part.tag == "define-gate"
            definition(part, formula)

    definition(tree, gates)
    for part in data:
        then = {"define-house-event": constant, "define-basic-event": chance}[part.tag]
        definition(part, then)


# ------------------------------------------------------------------------------------------- tests


def told(element: Element) -> dict[str, str]:
    found = element.find("attributes")
    return {} if found is None else {a.attrib["name"]: a.attrib["value"] for a in found}


@given(tree=trees())
def test_valid_and_reads_back(tree: FaultTree) -> None:
    root = ElementTree.fromstring(write_open_psa(tree))
    valid(root)
    names, known = safe_names(tree), nodes(tree)
    defined = {e.attrib["name"]: e for e in root.iter() if e.tag.startswith("define-")}
    assert set(defined) == {"fault_tree", *names.values()}
    for gate in tree.gates:
        element = defined[names[gate.ident]]
        children = [c for c in element if c.tag not in ("label", "attributes")]
        if len(gate.inputs) + len(gate.conditions) > 1:
            (operator,) = children
            assert operator.tag == ("or" if gate.kind == "or" else "and")
            children = list(operator)
        assert [child.attrib["name"] for child in children] == [
            names[one] for one in (*gate.inputs, *gate.conditions)
        ]
        for child, ident in zip(children, gate.inputs, strict=False):
            assert child.tag == ("gate" if isinstance(known[ident], Gate) else "basic-event")
        attributes = told(element)
        assert ("ordered" in attributes) == (gate.kind == "pand")
        if gate.probability is not None:
            assert float(attributes["probability"]) == gate.probability
    for event in tree.events:
        element = defined[names[event.ident]]
        value = element.find("float")
        rate = element.find("exponential/float")
        assert (None if rate is None else float(rate.attrib["value"])) == event.rate
        if event.rate is None:
            assert (None if value is None else float(value.attrib["value"])) == event.probability
        attributes = told(element)
        assert attributes["occurrence"] == str(event.occurrence)
        assert ("failure" in attributes) == event.failure


def test_what_it_cannot_say() -> None:
    text = write_open_psa(RAILROAD)
    comments = re.findall(r"<!-- (.*?) -->", text, re.DOTALL)
    assert any("order of events is lost" in comment for comment in comments)
    assert any("must not happen is a house event" in comment for comment in comments)
    root = ElementTree.fromstring(text)
    houses = {e.attrib["name"]: e for e in root.iter("define-house-event")}
    condition = houses["no_Cl_between_Cc_and_train_crosses"]
    assert told(condition) == {"absent": "Cl", "after": "Cc", "before": "train_crosses"}
    failure = root.find(".//define-basic-event[@name='Gf']")
    assert failure is not None
    assert told(failure) == {
        **{"action": "Gf", "occurrence": "1", "failure": "true"},
        **{"detected": "false", "component": "gate"},
    }


@pytest.mark.parametrize("name", ["a--b", "-->", "--", "x-", "<!--", "]]>", "&amp;", "\x00"])
def test_names_cannot_end_comments(name: str) -> None:
    tree = FaultTree(
        name=name,
        top="g",
        gates=(Gate(ident="g", kind="or", inputs=("e",), label=name),),
        events=(BasicEvent(ident="e", action=name),),
        notes=(name,),
    )
    valid(ElementTree.fromstring(write_open_psa(tree)))
