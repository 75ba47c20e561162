"""Causes on the terminal, as small trees; see :mod:`whence.report.text`."""

from __future__ import annotations

from collections.abc import Mapping

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from whence.causes.causal_tree import CausalTree, causal_tree
from whence.causes.cut_sets import safety_summary
from whence.causes.results import Cause, CausesResult
from whence.model.transitions import Action
from whence.report.causes_words import (
    absent_words,
    event_words,
    headline,
    how_many,
    is_partial,
    limits_words,
    probability,
    safety_words,
    sentences,
)

__all__ = ["causes_text", "comparison_text"]

_BAD, _DOUBT = "red", "yellow"


def causes_text(result: CausesResult) -> RenderableType:
    """What is asked, each cause as a tree of its events, and what they are together."""
    actions = {action.name: action for action in result.actions}
    parts: list[RenderableType] = [
        Text(f"What causes {result.hazard}", style="bold", overflow="fold"),
        Text(f"{result.model}: {how_many(result)}", style="dim", overflow="fold"),
    ]
    head = headline(result)
    parts.append(
        Text(head, style="bold green" if result.verdict == "satisfied" else f"bold {_BAD}")
    )
    parts += [_cause(cause, actions) for cause in result.causes]
    said = sentences(result)
    if said:
        parts.append(Text(" ".join(said), overflow="fold"))
    if result.causes:
        found = safety_words(safety_summary(result))
        if found:
            parts.append(Group(*(Text(f"* {line}", overflow="fold") for line in found)))
    partial = is_partial(result)
    if partial:
        parts.append(Text(partial, style=f"bold {_DOUBT}", overflow="fold"))
    parts.append(Text(f"{result.seconds:.3f} s to find them", style="dim"))
    lines: list[RenderableType] = []
    for part in parts:
        lines += [Text(""), part] if lines else [part]
    return Group(*lines)


def _cause(cause: Cause, actions: Mapping[str, Action]) -> RenderableType:
    head = Text(f"{cause.ident}. ", style="bold")
    head.append(limits_words(cause), style="bold")
    if cause.probability is not None:
        head.append(f"   probability {probability(cause.probability)}")
    tree = causal_tree(cause.events, cause.order)
    drawn = _tree(tree, tree.root, actions)
    for absent in cause.absent:
        drawn.add(Text(absent_words(absent), style=_DOUBT))
    return Group(head, Padding(drawn, (0, 0, 0, 3)))


def _tree(tree: CausalTree, number: int, actions: Mapping[str, Action]) -> Tree:
    node = tree.nodes[number]
    if node.event is not None:
        return Tree(_event(tree, number, actions), guide_style="dim")
    words = "in this order" if node.kind == "ordered-and" else "all of"
    drawn = Tree(Text(words, style="dim"), guide_style="dim")
    for one in node.inputs:
        drawn.children.append(_tree(tree, one, actions))
    return drawn


def _event(tree: CausalTree, number: int, actions: Mapping[str, Action]) -> Text:
    event = tree.nodes[number].event
    assert event is not None
    action = actions.get(event.action)
    failure = action is not None and action.failure
    return Text(event_words(event, actions), style=f"bold {_BAD}" if failure else "")


def comparison_text(first: CausesResult, second: CausesResult) -> RenderableType:
    """Two models side by side, a cause in both being one with the same events."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("cause", ratio=1, overflow="fold")
    for result in (first, second):
        table.add_column(result.model, justify="right", overflow="fold", max_width=28)
    table.add_row("the hazard", *(_whole(result) for result in (first, second)), style="bold")
    known = [_by_events(result) for result in (first, second)]
    for events in dict.fromkeys((*known[0], *known[1])):
        cells = [_cell(found.get(events, [])) for found in known]
        table.add_row(Text(", ".join(events)), *cells)
    return Group(Text(f"What causes {first.hazard}", style="bold"), Text(""), table)


def _whole(result: CausesResult) -> str:
    if result.probability is not None:
        return probability(result.probability)
    return headline(result).lower()


def _by_events(result: CausesResult) -> dict[tuple[str, ...], list[Cause]]:
    found: dict[tuple[str, ...], list[Cause]] = {}
    for cause in result.causes:
        found.setdefault(tuple(sorted(str(event) for event in cause.events)), []).append(cause)
    return found


def _cell(causes: list[Cause]) -> Text:
    if not causes:
        return Text("–", style="dim")
    chances = [cause.probability for cause in causes]
    if any(chance is None for chance in chances):
        return Text(f"{sum(cause.traces for cause in causes)} orders")
    return Text(", ".join(probability(chance) for chance in chances if chance is not None))
