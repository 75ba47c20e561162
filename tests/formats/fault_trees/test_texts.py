"""Fault trees for Graphviz, as JSON and as a table of causes."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import Any

import pytest
from hypothesis import given
from tests.formats.fault_trees.trees import RAILROAD, trees

from whence.formats.fault_trees.csv import write_csv
from whence.formats.fault_trees.dot import write_dot
from whence.formats.fault_trees.json import write_fault_tree_json
from whence.formats.fault_trees.names import safe_names
from whence.model.fault_tree import BasicEvent, FaultTree, Gate, NonOccurrence
from whence.source import InputError

# ---------------------------------------------------------------------------------------- Graphviz

_STRING = r'"((?:[^"\\]|\\.)*)"'
_NODE = re.compile(rf"  {_STRING} \[(.*)\];")
_EDGE = re.compile(rf"  {_STRING} -> {_STRING}(?: \[(.*)\])?;")
_ATTRIBUTE = re.compile(rf"(\w+)=(?:{_STRING}|([\w.]+))(?:, |$)")


def attributes(text: str) -> dict[str, str]:
    found = {}
    at = 0
    while at < len(text):
        match = _ATTRIBUTE.match(text, at)
        assert match, text[at:]
        found[match[1]] = match[3] if match[2] is None else match[2]
        at = match.end()
    return found


def graph(text: str) -> tuple[dict[str, dict[str, str]], list[tuple[str, str, dict[str, str]]]]:
    lines = text.split("\n")
    assert lines[0] == "digraph fault_tree {"
    assert lines[-2:] == ["}", ""]
    assert re.fullmatch(rf"  label={_STRING};", lines[1])
    drawn, edges = {}, []
    for line in lines[5:-2]:
        edge = _EDGE.fullmatch(line)
        if edge:
            edges.append((edge[1], edge[2], attributes(edge[3] or "")))
            continue
        node = _NODE.fullmatch(line)
        assert node, line
        drawn[node[1]] = attributes(node[2])
    return drawn, edges


@given(tree=trees())
def test_graphs_read_back(tree: FaultTree) -> None:
    drawn, edges = graph(write_dot(tree))
    assert set(drawn) == {n.ident for n in (*tree.gates, *tree.events, *tree.conditions)}
    assert [(one, other) for one, other, _ in edges] == [
        (gate.ident, other) for gate in tree.gates for other in (*gate.inputs, *gate.conditions)
    ]
    for event in tree.events:
        assert ("color" in drawn[event.ident]) == event.failure
        # Not by colour alone.
        assert not event.failure or "failure" in drawn[event.ident]["label"]


def test_the_graph_of_the_railroad() -> None:
    drawn, edges = graph(write_dot(RAILROAD))
    assert drawn["g1"]["label"] == "AND, in order"
    assert drawn["gf"]["label"] == "Gf\\nfailure, undetected"
    assert drawn["n1"]["label"] == "no Cl between Cc and train crosses!"
    assert drawn["c1"]["label"] == "Cause 1\\nAND, on condition\\np = 0.00015\\na -- note"
    assert [e[2] for e in edges if e[0] == "g3"] == [{"label": "1"}, {"label": "2"}]
    assert [e[2] for e in edges if e[0] == "c1"] == [{}, {"style": "dashed"}, {"style": "dashed"}]


def test_backslashes_stay_backslashes() -> None:
    tree = FaultTree(
        name="",
        top="node",
        gates=(Gate(ident="node", kind="or", inputs=("e",)),),
        events=(BasicEvent(ident="e", action='a\\n"b'),),
    )
    assert '"e" [shape=ellipse, label="a\\\\n\\"b"];' in write_dot(tree)


# -------------------------------------------------------------------------------------------- JSON


def from_json(found: dict[str, Any]) -> FaultTree:
    """Only from what the schema names."""
    return FaultTree(
        name=found["name"],
        top=found["top"],
        gates=tuple(
            Gate(
                ident=gate["ident"],
                kind=gate["kind"],
                inputs=tuple(gate["inputs"]),
                conditions=tuple(gate["conditions"]),
                label=gate["label"],
                probability=gate["probability"],
                notes=tuple(gate["notes"]),
            )
            for gate in found["gates"]
        ),
        events=tuple(
            BasicEvent(**{key: value for key, value in event.items() if key != "name"})
            for event in found["events"]
        ),
        conditions=tuple(
            NonOccurrence(
                ident=one["ident"], action=one["absent"], after=one["after"], before=one["before"]
            )
            for one in found["conditions"]
        ),
        notes=tuple(found["notes"]),
    )


@given(tree=trees())
def test_json_reads_back(tree: FaultTree) -> None:
    text = write_fault_tree_json(tree, "1.2.3")
    assert text.isascii()
    found = json.loads(text)
    assert (found["whence"], found["schema"]) == ("1.2.3", "fault-tree/1")
    assert from_json(found) == tree
    assert [event["name"] for event in found["events"]] == [event.name for event in tree.events]


# --------------------------------------------------------------------------------------------- CSV


def test_the_table_of_the_railroad() -> None:
    rows = list(csv.DictReader(io.StringIO(write_csv(RAILROAD))))
    assert rows[0] == {
        "cause": "Cause 1",
        "events": "Ca; Cc; Ta; Gf; train crosses!",
        "order": "Ca < Cc; Cc < train crosses!; Ta < train crosses!; Gf < train crosses!",
        "absent": "no Cl between Cc and train crosses!; no Tl",
        "probability": "0.00015",
        "failures": "Gf; train crosses!",
        "class": "multiple-point",
        "detection": "undetected",
        "notes": "a -- note",
    }
    assert [row["class"] for row in rows] == ["multiple-point", "single-point", "none"]
    assert [row["detection"] for row in rows] == ["undetected", "unknown", ""]
    assert [row["probability"] for row in rows] == ["0.00015", "", ""]
    assert rows[2]["events"] == "Ta#2"


@given(tree=trees())
def test_tables_have_a_row_for_each_cause(tree: FaultTree) -> None:
    try:
        text = write_csv(tree)
    except InputError:
        # Gates that were drawn at random may describe no order.
        return
    rows = list(csv.reader(io.StringIO(text, newline="")))
    top = next(gate for gate in tree.gates if gate.ident == tree.top)
    assert len(rows) == 1 + len(top.inputs)
    assert {len(row) for row in rows} == {9}
    assert not any(cell.startswith(("=", "+", "-", "@")) for row in rows for cell in row)


def test_causes_that_are_events() -> None:
    tree = FaultTree(
        name="",
        top="g",
        gates=(Gate(ident="g", kind="or", inputs=("e", "f")),),
        events=(
            BasicEvent(ident="e", action="=1+1"),
            BasicEvent(ident="f", action="b", failure=True),
        ),
    )
    rows = list(csv.DictReader(io.StringIO(write_csv(tree))))
    assert [row["cause"] for row in rows] == ["'=1+1", "b"]
    assert [row["class"] for row in rows] == ["none", "single-point"]


def test_an_or_within_a_cause_has_no_order() -> None:
    tree = FaultTree(
        name="",
        top="g",
        gates=(
            Gate(ident="g", kind="or", inputs=("h",)),
            Gate(ident="h", kind="pand", inputs=("e", "i")),
            Gate(ident="i", kind="or", inputs=("e", "f")),
        ),
        events=(BasicEvent(ident="e", action="a"), BasicEvent(ident="f", action="b")),
    )
    with pytest.raises(InputError, match="below the or gate 'i' have no order"):
        write_csv(tree)


# ------------------------------------------------------------------------------------------- names


def test_names_are_told_apart() -> None:
    actions = ["a b", "a_b", "A-B", "→", "2x", "", "x" * 100, "x" * 99, "G1", "a_b_2"]
    tree = FaultTree(
        name="",
        top="g1",
        gates=(Gate(ident="g1", kind="or", inputs=("e0",), label="a.b"),),
        events=tuple(BasicEvent(ident=f"e{n}", action=name) for n, name in enumerate(actions)),
    )
    names = safe_names(tree)
    assert names["g1"] == "a_b"
    assert [names[f"e{n}"] for n in range(6)] == ["a_b_2", "a_b_3", "A_B_4", "e3", "x_2x", "e5"]
    assert names["e6"] == "x" * 60
    assert names["e7"] == "x" * 60 + "_2"
    assert len({name.lower() for name in names.values()}) == len(names)
