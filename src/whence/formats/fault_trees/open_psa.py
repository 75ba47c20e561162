"""Writes the Open-PSA Model Exchange Format, which SCRAM and XFTA read.

Its fault trees are static: the order of events is lost, and so these trees say that the hazard
comes about more often than it does. Gates that had an order carry the attribute `ordered`. What
must not happen is a house event, true until somebody sets it; its attributes tell between which
events. A comment at the start says all this.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from whence.formats.fault_trees.names import decimal, one_line, safe_names
from whence.model.fault_tree import (
    BasicEvent,
    FaultTree,
    Gate,
    NonOccurrence,
    absence_text,
    check,
    nodes,
)

__all__ = ["write_open_psa"]

_ORDER_LOST = (
    "The order of events is lost in this format: gates that had one carry the attribute ordered, "
    "and the order of their inputs is that of the events."
)
_ABSENCE_LOST = (
    "What must not happen is a house event here, which is true: without order it cannot be said "
    "when it must not."
)


def write_open_psa(tree: FaultTree) -> str:
    check(tree)
    writer = _Writer(tree)
    comments = [f"Fault tree of {tree.name}.", *tree.notes]
    if any(gate.kind == "pand" for gate in tree.gates):
        comments.append(_ORDER_LOST)
    if tree.conditions:
        comments.append(_ABSENCE_LOST)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', "<opsa-mef>"]
    lines += [f"  <!-- {_comment(comment)} -->" for comment in comments]
    lines.append('  <define-fault-tree name="fault_tree">')
    for gate in tree.gates:
        lines += writer.gate(gate)
    lines.append("  </define-fault-tree>")
    lines.append("  <model-data>")
    for condition in tree.conditions:
        lines += writer.condition(condition)
    for event in tree.events:
        lines += writer.event(event)
    lines += ["  </model-data>", "</opsa-mef>"]
    return "\n".join(lines) + "\n"


def _comment(text: str) -> str:
    """Without what would end the comment."""
    return escape(one_line(text), quote=False).replace("--", "- -").removesuffix("-")


class _Writer:
    def __init__(self, tree: FaultTree) -> None:
        self.tree = tree
        self.nodes = nodes(tree)
        self.names = safe_names(tree)

    def gate(self, gate: Gate) -> Iterable[str]:
        told = {
            "ordered": "true" if gate.kind == "pand" else None,
            "probability": None if gate.probability is None else decimal(gate.probability),
            **{f"note_{n}": note for n, note in enumerate(gate.notes, 1)},
        }
        yield f'    <define-gate name="{self.names[gate.ident]}">'
        yield from self._described(gate.label, told, "      ")
        inputs = [self._reference(one) for one in (*gate.inputs, *gate.conditions)]
        if len(inputs) == 1:
            # Tools ask for two operands at least.
            yield f"      {inputs[0]}"
        else:
            operator = "or" if gate.kind == "or" else "and"
            yield f"      <{operator}>"
            yield from (f"        {one}" for one in inputs)
            yield f"      </{operator}>"
        yield "    </define-gate>"

    def condition(self, condition: NonOccurrence) -> Iterable[str]:
        ends = (condition.after, condition.before)
        after, before = (None if end is None else self.names[end] for end in ends)
        yield f'    <define-house-event name="{self.names[condition.ident]}">'
        told = {"absent": condition.action, "after": after, "before": before}
        yield from self._described(absence_text(self.tree, condition), told, "      ")
        yield '      <constant value="true"/>'
        yield "    </define-house-event>"

    def event(self, event: BasicEvent) -> Iterable[str]:
        detected = {True: "true", False: "false", None: None}[event.detected]
        told = {
            "action": event.action,
            "occurrence": str(event.occurrence),
            "failure": "true" if event.failure else None,
            "detected": detected,
            "component": event.component or None,
        }
        yield f'    <define-basic-event name="{self.names[event.ident]}">'
        yield from self._described(event.name, told, "      ")
        if event.rate is not None:
            yield "      <exponential>"
            yield f'        <float value="{decimal(event.rate)}"/>'
            yield "        <system-mission-time/>"
            yield "      </exponential>"
        elif event.probability is not None:
            yield f'      <float value="{decimal(event.probability)}"/>'
        yield "    </define-basic-event>"

    def _described(self, label: str, told: dict[str, str | None], indent: str) -> Sequence[str]:
        lines = []
        if one_line(label):
            lines.append(f"{indent}<label>{escape(one_line(label), quote=False)}</label>")
        # An attribute without a value would not be valid.
        rows = [(name, one_line(value)) for name, value in told.items() if value]
        rows = [(name, value) for name, value in rows if value]
        if rows:
            lines.append(f"{indent}<attributes>")
            lines += [
                f'{indent}  <attribute name="{name}" value="{escape(value)}"/>'
                for name, value in rows
            ]
            lines.append(f"{indent}</attributes>")
        return lines

    def _reference(self, ident: str) -> str:
        node = self.nodes[ident]
        tag = "basic-event" if isinstance(node, BasicEvent) else "gate"
        if isinstance(node, NonOccurrence):
            tag = "house-event"
        return f'<{tag} name="{self.names[ident]}"/>'
