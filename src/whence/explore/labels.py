"""What the transitions of a network are called, where words of them are compared or explained."""

from __future__ import annotations

from typing import Literal

from whence.model.network import Network
from whence.model.trace import EdgeUse, Transition

__all__ = ["Labels", "label_of"]

#: What a letter is: the edges that are taken, or only the channel (`tau` for an internal step).
Labels = Literal["transitions", "actions"]


def label_of(network: Network, transition: Transition, labels: Labels) -> str:
    """The letter that a transition is. It names processes and locations, and so is the same in
    networks that differ in their guards, invariants and updates only."""
    if labels == "transitions":
        uses = ", ".join(_use_text(network, use) for use in transition.uses)
        return f"{transition.action}: {uses}"
    first = transition.uses[0]
    edge = network.processes[first.process].edges[first.edge]
    if transition.action == "tau" and edge.synchronisation is not None:
        return "channel tau"  # no internal step, whatever its name
    return transition.action


def _use_text(network: Network, use: EdgeUse) -> str:
    """`client.reqCreate->reqSent`, with what else it takes to tell the edge from others."""
    process = network.processes[use.process]
    edge = process.edges[use.edge]
    source, target = (
        process.locations[number].name or f"#{number}" for number in (edge.source, edge.target)
    )
    text = f"{process.name}.{source}->{target}"
    parallel = [e for e in process.edges if (e.source, e.target) == (edge.source, edge.target)]
    if len(parallel) > 1:
        text += f"#{use.edge}"
    if use.selects:
        names = [select.symbol.name for select in edge.selects]
        values = (f"{name}={value}" for name, value in zip(names, use.selects, strict=True))
        text += f"[{', '.join(values)}]"
    return text
