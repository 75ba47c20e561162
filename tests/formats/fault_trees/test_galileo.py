"""Galileo files, read back as Storm reads them: line by line, and cut at blanks."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from tests.formats.fault_trees.trees import RAILROAD, trees

from whence.formats.fault_trees.galileo import write_galileo
from whence.formats.fault_trees.names import safe_names
from whence.model.fault_tree import FaultTree, Gate
from whence.source import InputError


def read(text: str) -> tuple[str, dict[str, tuple[str, ...]], list[str]]:
    """(top, name → what its line says, comments)."""
    top, said, comments = "", {}, []
    for line in text.split("\n"):
        line, _, comment = line.partition("//")
        if comment:
            comments.append(comment.strip())
        line = line.strip()
        if not line:
            continue
        assert line.count(";") == 1
        assert line[-1] == ";"
        first, *rest = line[:-1].split(" ")
        if first == "toplevel":
            top = unquoted(rest[0])
        else:
            assert unquoted(first) not in said
            said[unquoted(first)] = tuple(rest)
    return top, said, comments


def unquoted(text: str) -> str:
    match = re.fullmatch(r'"([A-Za-z][A-Za-z0-9_]*)"', text)
    assert match, text
    return match[1]


@given(tree=trees())
def test_reads_back(tree: FaultTree) -> None:
    top, said, comments = read(write_galileo(tree))
    names = safe_names(tree)
    assert top == names[tree.top]
    assert set(said) == {names[node.ident] for node in (*tree.gates, *tree.events)}
    for gate in tree.gates:
        kind, *inputs = said[names[gate.ident]]
        assert kind == ("and" if gate.kind == "inhibit" else gate.kind)
        # From left to right, as they were.
        assert [unquoted(one) for one in inputs] == [names[one] for one in gate.inputs]
    for event in tree.events:
        chance = said[names[event.ident]]
        if event.rate is not None:
            assert chance[0].startswith("lambda=")
            assert float(chance[0][7:]) == event.rate
            assert chance[1:] == ("dorm=0",)
        else:
            assert len(chance) == 1
            assert chance[0].startswith("prob=")
            value = chance[0][5:]
            if event.probability is None:
                assert value == "1"
                assert names[event.ident] in comments
            else:
                assert float(value) == event.probability
    assert len({name.lower() for name in names.values()}) == len(names)


def test_what_it_cannot_say_is_in_comments() -> None:
    text = write_galileo(RAILROAD)
    _, said, comments = read(text)
    assert "only if there is no Cl between Cc and train crosses!" in comments
    assert "only if there is no Tl" in comments
    assert "probability 0.00015" in comments
    assert "Probabilities are for a time of 1h." in comments
    # The order of figure 6.1(c): pand over and over pand.
    assert said["g1"] == ("pand", '"g2"', '"train_crosses"')
    assert said["g3"] == ("pand", '"Ca"', '"Cc"')
    assert said["Ca"] == ("lambda=2.5e-05", "dorm=0")
    assert said["Cc"] == ("prob=0.25",)
    assert said["Ta_2"] == ("prob=1",)
    assert "Ta_2" in comments
    assert "Ta#2" in comments
    assert said["Train_car"] == ("or", '"Cause_1"', '"Cause_2"', '"Cause_3"')


def test_storm_reads_it(tmp_path: Path) -> None:
    """Where stormpy is installed, which is no dependency."""
    storm = pytest.importorskip("stormpy.dft")
    path = tmp_path / "tree.dft"
    path.write_text(write_galileo(RAILROAD))
    read_back = storm.load_dft_galileo_file(str(path))
    assert read_back.nr_basic_elements() == len(RAILROAD.events)
    assert read_back.nr_elements() == len(RAILROAD.events) + len(RAILROAD.gates)


def test_what_is_no_tree_is_not_written() -> None:
    loop = FaultTree(
        name="", top="g", gates=(Gate(ident="g", kind="or", inputs=("g",)),), events=()
    )
    with pytest.raises(InputError, match="circle"):
        write_galileo(loop)
