"""A fault tree on a page: its picture, and buttons for what the script can do with it."""

from __future__ import annotations

from whence.model.fault_tree import FaultTree
from whence.report.fault_tree_svg import draw_fault_tree
from whence.report.page import page, tag
from whence.report.svg import escaped

__all__ = ["FAULT_TREE_SCRIPTS", "FAULT_TREE_STYLES", "fault_tree_page", "fault_tree_view"]

#: The assets of a page with a fault tree, for :func:`whence.report.page.page`.
FAULT_TREE_STYLES = ("fault_tree.css",)
FAULT_TREE_SCRIPTS = ("fault_tree.js",)


def fault_tree_view(tree: FaultTree) -> str:
    """For any page with these assets."""
    controls = tag(
        "div",
        tag("button", "Fold all causes", type="button", data_fold="all"),
        tag("button", "Unfold all", type="button", data_fold="none"),
        tag(
            "span",
            "Click a gate’s symbol to fold it, and anything else to see where it belongs. With the "
            "keyboard: arrows to move and to fold, Enter to select, Escape to let go.",
            class_="quiet",
        ),
        class_="controls",
    )
    picture = tag("div", draw_fault_tree(tree), class_="canvas")
    return tag("div", controls, "\n", picture, "\n", class_="fault-tree-view")


def fault_tree_page(tree: FaultTree, version: str) -> str:
    """A page of the tree alone."""
    title = f"Fault tree of {tree.name}" if tree.name else "Fault tree"
    body = [tag("h1", escaped(title)), fault_tree_view(tree)]
    return page(title, body, version, FAULT_TREE_STYLES, FAULT_TREE_SCRIPTS)
