"""Where the nodes of a fault tree stand: an outline that grows to the right and downwards.

A fault tree of a hazard is wide and flat: twenty causes of six events each. Drawn from the top
down it would be ten times as wide as a page. So the top stands at the left, each cause below the
one before, and each event has a row of its own, in which its name can be read. A gate stands in
the row of its first input. From top to bottom is what is from left to right elsewhere.

Events are drawn wherever they are inputs. Gates are drawn once; where they are needed again, a
transfer mark says where they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from whence.model.fault_tree import FaultTree, Gate, NonOccurrence, check, nodes

__all__ = ["Layout", "Placed", "lay_out"]


@dataclass(frozen=True, slots=True)
class Placed:
    """One place where a node is drawn. `under` are the gates that it is below, the top first;
    `place` is its number among the inputs of the last of them, from 1. `last_row` is the row of
    the last input or condition, of a gate. `again`: an event that is in this cause already."""

    kind: Literal["gate", "event", "condition", "transfer"]
    ident: str
    row: int
    under: tuple[str, ...]
    place: int
    last_row: int
    again: bool = False

    @property
    def column(self) -> int:
        """0 is the top's, 1 that of the causes."""
        return len(self.under)


@dataclass(frozen=True, slots=True)
class Layout:
    """`starts` are the rows in which causes start; `columns` how many columns gates have;
    `causes` tells for each node in which causes (inputs of the top) it is."""

    placed: tuple[Placed, ...]
    rows: int
    starts: frozenset[int]
    columns: int
    causes: dict[str, tuple[str, ...]]


def lay_out(tree: FaultTree) -> Layout:
    check(tree)
    known = nodes(tree)
    drawn: set[str] = set()
    in_cause: set[str] = set()
    placed: list[Placed] = []
    starts: set[int] = set()
    row = 0
    waiting: list[tuple[str, tuple[str, ...], int]] = [(tree.top, (), 1)]
    while waiting:
        ident, under, place = waiting.pop()
        node = known[ident]
        if len(under) == 1:
            starts.add(row)
            in_cause = set()
        kind: Literal["gate", "event", "condition", "transfer"] = "gate"
        if isinstance(node, Gate) and ident not in drawn:
            drawn.add(ident)
            below = (*under, ident)
            inputs = (*node.inputs, *node.conditions)
            waiting.extend((one, below, n) for n, one in reversed([*enumerate(inputs, 1)]))
        elif isinstance(node, Gate):
            kind = "transfer"
        else:
            kind = "condition" if isinstance(node, NonOccurrence) else "event"
        again = kind == "event" and ident in in_cause
        in_cause.add(ident)
        placed.append(Placed(kind, ident, row, under, place, row, again))
        if kind != "gate":
            row += 1
    return Layout(
        placed=tuple(_with_last_rows(placed)),
        rows=row,
        starts=frozenset(starts),
        columns=1 + max(one.column for one in placed if one.kind == "gate"),
        causes=_causes(tree),
    )


def _with_last_rows(placed: list[Placed]) -> list[Placed]:
    last: dict[str, int] = {}
    for one in placed:
        if one.under:
            last[one.under[-1]] = one.row
    return [
        Placed(
            one.kind,
            one.ident,
            one.row,
            one.under,
            one.place,
            last[one.ident] if one.kind == "gate" else one.row,
            one.again,
        )
        for one in placed
    ]


def _causes(tree: FaultTree) -> dict[str, tuple[str, ...]]:
    known = nodes(tree)
    top = known[tree.top]
    assert isinstance(top, Gate)
    found: dict[str, list[str]] = {}
    for cause in top.inputs:
        seen: set[str] = set()
        waiting = [cause]
        while waiting:
            ident = waiting.pop()
            if ident in seen:
                continue
            seen.add(ident)
            found.setdefault(ident, []).append(cause)
            node = known[ident]
            if isinstance(node, Gate):
                waiting.extend((*node.inputs, *node.conditions))
    return {ident: tuple(causes) for ident, causes in found.items()}
