"""Writes a fault tree as JSON, schema `fault-tree/1` (docs/fault-trees.md)."""

from __future__ import annotations

import json
from typing import Any

from whence.model.fault_tree import FaultTree, absence_text, check

__all__ = ["fault_tree_document", "write_fault_tree_json"]


def fault_tree_document(tree: FaultTree, version: str) -> dict[str, Any]:
    """For `json.dumps`. What is not known is null."""
    check(tree)
    return {
        "whence": version,
        "schema": "fault-tree/1",
        "name": tree.name,
        "top": tree.top,
        "gates": [
            {
                "ident": gate.ident,
                "kind": gate.kind,
                "label": gate.label,
                "inputs": list(gate.inputs),
                "conditions": list(gate.conditions),
                "probability": gate.probability,
                "notes": list(gate.notes),
            }
            for gate in tree.gates
        ],
        "events": [
            {
                "ident": event.ident,
                "name": event.name,
                "action": event.action,
                "occurrence": event.occurrence,
                "failure": event.failure,
                "detected": event.detected,
                "probability": event.probability,
                "rate": event.rate,
                "component": event.component,
            }
            for event in tree.events
        ],
        "conditions": [
            {
                "ident": condition.ident,
                "absent": condition.action,
                "after": condition.after,
                "before": condition.before,
                "text": absence_text(tree, condition),
            }
            for condition in tree.conditions
        ],
        "notes": list(tree.notes),
    }


def write_fault_tree_json(tree: FaultTree, version: str) -> str:
    return json.dumps(fault_tree_document(tree, version), indent=2) + "\n"
