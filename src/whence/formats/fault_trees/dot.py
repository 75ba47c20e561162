"""Writes a fault tree for Graphviz (`.dot`)."""

from __future__ import annotations

from whence.formats.fault_trees.names import decimal, one_line
from whence.model.fault_tree import BasicEvent, FaultTree, Gate, absence_text, check

__all__ = ["write_dot"]

_GATES = {"or": "OR", "and": "AND", "pand": "AND, in order", "inhibit": "AND, on condition"}
_SHAPES = {"or": "invtriangle", "and": "house", "pand": "house", "inhibit": "hexagon"}
#: As in the drawings of the reports: dark enough on white.
_RED = "#c4281c"


def write_dot(tree: FaultTree) -> str:
    """Inputs stand from left to right; those of ordered gates are numbered besides."""
    check(tree)
    lines = [
        "digraph fault_tree {",
        f"  label={_quoted(*(tree.name, *tree.notes))};",
        '  graph [ordering=out, rankdir=TB, fontname="Helvetica"];',
        '  node [fontname="Helvetica"];',
        "  edge [dir=none];",
    ]
    for gate in tree.gates:
        words = [gate.label, _GATES[gate.kind]]
        if gate.probability is not None:
            words.append(f"p = {decimal(gate.probability)}")
        label = _quoted(*words, *gate.notes)
        lines.append(f"  {_quoted(gate.ident)} [shape={_SHAPES[gate.kind]}, label={label}];")
    for event in tree.events:
        mark = f", color={_quoted(_RED)}, fontcolor={_quoted(_RED)}" if event.failure else ""
        lines.append(
            f"  {_quoted(event.ident)} [shape=ellipse, label={_quoted(*_words(event))}{mark}];"
        )
    for condition in tree.conditions:
        label = _quoted(absence_text(tree, condition))
        lines.append(f"  {_quoted(condition.ident)} [shape=box, style=dashed, label={label}];")
    for gate in tree.gates:
        lines += _edges(gate)
    lines.append("}")
    return "\n".join(lines) + "\n"


def _words(event: BasicEvent) -> list[str]:
    words = [event.name]
    if event.failure:
        words.append(
            {True: "failure, detected", False: "failure, undetected", None: "failure"}[
                event.detected
            ]
        )
    if event.rate is not None:
        words.append(f"rate {decimal(event.rate)}")
    elif event.probability is not None:
        words.append(f"p = {decimal(event.probability)}")
    return words


def _edges(gate: Gate) -> list[str]:
    lines = []
    start = f"  {_quoted(gate.ident)} ->"
    for number, one in enumerate(gate.inputs, 1):
        mark = f" [label={number}]" if gate.kind == "pand" else ""
        lines.append(f"{start} {_quoted(one)}{mark};")
    lines += [f"{start} {_quoted(one)} [style=dashed];" for one in gate.conditions]
    return lines


def _quoted(*lines: str) -> str:
    """Graphviz reads backslashes in labels, and `\\n` as the end of a line."""
    words = [one_line(line).replace("\\", "\\\\").replace('"', '\\"') for line in lines]
    return '"' + "\\n".join(word for word in words if word) + '"'
