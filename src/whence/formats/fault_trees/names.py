"""Names for the nodes of a fault tree that every tool reads: ASCII letters, digits and `_`."""

from __future__ import annotations

import re

from whence.model.fault_tree import FaultTree, absence_text

__all__ = ["decimal", "one_line", "safe_names"]

#: Longer names are cut; what was cut off tells nobody anything in a list of names.
_LONGEST = 60
#: Control characters, and those that turn the direction of the text around them.
_UNPRINTABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]+"
)


def safe_names(tree: FaultTree) -> dict[str, str]:
    """For each ident a name like that of the node. No two are the same, not even where capitals
    do not count. The top and the causes come first, so that they keep theirs."""
    wanted = [(gate.ident, gate.label) for gate in tree.gates if gate.label]
    wanted += [(event.ident, event.name) for event in tree.events]
    wanted += [(gate.ident, gate.ident) for gate in tree.gates if not gate.label]
    wanted += [(one.ident, absence_text(tree, one)) for one in tree.conditions]
    names: dict[str, str] = {}
    taken: set[str] = set()
    for ident, text in wanted:
        name = re.sub(r"[^A-Za-z0-9]+", "_", text)[:_LONGEST].strip("_") or ident
        if not name[0].isalpha():
            name = f"x_{name}"
        number, candidate = 2, name
        while candidate.lower() in taken:
            candidate = f"{name}_{number}"
            number += 1
        taken.add(candidate.lower())
        names[ident] = candidate
    return names


def one_line(text: str) -> str:
    """A text of the user's, as it can stand in a comment."""
    return _UNPRINTABLE.sub(" ", text).strip()


def decimal(value: float) -> str:
    """The shortest number that reads back as this one."""
    return repr(float(value))
