"""Writes a table of the causes, one a row, for spreadsheets and scripts."""

from __future__ import annotations

import csv
import io

from whence.formats.fault_trees.names import decimal, one_line
from whence.model.fault_tree import (
    FaultTree,
    Gate,
    absence_text,
    check,
    conditions_below,
    detection,
    events_below,
    failure_class,
    nodes,
    order_below,
)
from whence.model.partial_order import direct

__all__ = ["COLUMNS", "write_csv"]

COLUMNS = (
    *("cause", "events", "order", "absent", "probability"),
    *("failures", "class", "detection", "notes"),
)


def write_csv(tree: FaultTree) -> str:
    """A cause is an input of the top gate. Lists within a cell are separated by `; `, and the
    order has its direct dependencies only (Koelbl, Definition 31)."""
    check(tree)
    known = nodes(tree)
    top = known[tree.top]
    assert isinstance(top, Gate)
    names = {event.ident: event.name for event in tree.events}
    rank = {event.ident: number for number, event in enumerate(tree.events)}
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for ident in top.inputs:
        node = known[ident]
        events = events_below(tree, ident)
        pairs = sorted(
            direct(order_below(tree, ident)), key=lambda pair: (rank[pair[0]], rank[pair[1]])
        )
        gate = node if isinstance(node, Gate) else None
        probability = None if gate is None else gate.probability
        cells = (
            gate.label or ident if gate is not None else names[ident],
            "; ".join(event.name for event in events),
            "; ".join(f"{names[first]} < {names[then]}" for first, then in pairs),
            "; ".join(absence_text(tree, one) for one in conditions_below(tree, ident)),
            "" if probability is None else decimal(probability),
            "; ".join(event.name for event in events if event.failure),
            failure_class(events),
            detection(events) or "",
            "; ".join(gate.notes if gate is not None else ()),
        )
        writer.writerow(map(_inert, cells))
    return out.getvalue()


def _inert(cell: str) -> str:
    """One line, and a name of the model's must not become a formula of the spreadsheet's."""
    line = one_line(cell)
    return f"'{line}" if line.startswith(("=", "+", "-", "@")) else line
