"""What is written at locations and edges: the file's words, or the expressions printed."""

from __future__ import annotations

from whence.expr.printer import print_expression, print_synchronisation, print_updates
from whence.model.network import Edge, Location
from whence.report.svg import clean

__all__ = ["EDGE_LABELS", "LABEL_SIZE", "edge_texts", "location_texts"]

LABEL_SIZE = 12.0
EDGE_LABELS = ("select", "guard", "synchronisation", "assignment")


def _lines(text: str) -> tuple[str, ...]:
    lines = [line.strip("\n").expandtabs(4).rstrip() for line in clean(text).split("\n")]
    while lines and not lines[0].strip():
        lines.pop(0)
    while lines and not lines[-1]:
        lines.pop()
    indent = min((len(line) - len(line.lstrip()) for line in lines if line), default=0)
    return tuple(line[indent:] for line in lines)


def location_texts(location: Location) -> dict[str, tuple[str, ...]]:
    """Name and invariant, in lines, without those that are empty."""
    written = location.drawing.labels
    texts = {"name": location.name}
    if location.invariant is not None:
        invariant = written.get("invariant", ("", None))[0]
        texts["invariant"] = invariant or print_expression(location.invariant)
    return _by_lines(texts)


def edge_texts(edge: Edge) -> dict[str, tuple[str, ...]]:
    """Select, guard, synchronisation and update, in this order; of an edge that stands for a
    transition of a chart, what is written at that."""
    if "transition" in edge.drawing.labels:
        return _by_lines({"synchronisation": edge.drawing.labels["transition"][0]})
    texts: dict[str, str] = {}
    if edge.selects:
        texts["select"] = ", ".join(
            f"{select.symbol.name} : int[{select.lo}, {select.hi}]" for select in edge.selects
        )
    if edge.guard is not None:
        texts["guard"] = print_expression(edge.guard)
    if edge.synchronisation is not None:
        sync = edge.synchronisation
        texts["synchronisation"] = print_synchronisation(sync.channel, sync.direction)
    if edge.updates:
        texts["assignment"] = print_updates(edge.updates)
    written = edge.drawing.labels
    for kind in EDGE_LABELS:
        if kind in texts and written.get(kind, ("", None))[0].strip():
            texts[kind] = written[kind][0]
    return _by_lines({kind: texts[kind] for kind in EDGE_LABELS if kind in texts})


def _by_lines(texts: dict[str, str]) -> dict[str, tuple[str, ...]]:
    return {kind: lines for kind, text in texts.items() if (lines := _lines(text))}
