"""Writes the textual format of Galileo (`.dft`), which Storm and DFTCalc read.

The order of events is kept: `pand` gates are satisfied from left to right. That something must not
happen cannot be said in this format, nor the probability of a gate: comments tell them. Basic
events need a rate or a probability there. One that has neither is no matter of chance, as far as is
known, and is taken for certain: what is computed of the file is then a bound from above. The file
says so, and names these events. (Storm knows parameters, but its usual reader refuses them.)
"""

from __future__ import annotations

from whence.formats.fault_trees.names import decimal, one_line, safe_names
from whence.model.fault_tree import BasicEvent, FaultTree, Gate, absence_text, check

__all__ = ["write_galileo"]


def write_galileo(tree: FaultTree) -> str:
    check(tree)
    names = safe_names(tree)
    absences = {one.ident: absence_text(tree, one) for one in tree.conditions}
    lines = [f"// {one_line(note)}" for note in (f"Fault tree of {tree.name}", *tree.notes)]
    if tree.conditions:
        lines.append("// This format cannot say what must not happen: see the comments at gates.")
    unknown = [event for event in tree.events if event.rate is None and event.probability is None]
    if unknown:
        lines.append(
            "// No probability is known of these basic events; they are certain (prob=1) here:"
        )
        lines += [f"//   {names[event.ident]}" for event in unknown]
    lines.append(f'toplevel "{names[tree.top]}";')
    for gate in tree.gates:
        lines += [f"// {told}" for told in _told(gate, names, absences)]
        kind = "and" if gate.kind == "inhibit" else gate.kind
        inputs = " ".join(f'"{names[one]}"' for one in gate.inputs)
        lines.append(f'"{names[gate.ident]}" {kind} {inputs};')
    for event in tree.events:
        if event.name != names[event.ident]:
            lines.append(f"// {one_line(event.name)}")
        lines.append(f'"{names[event.ident]}" {_chance(event)};')
    return "\n".join(lines) + "\n"


def _told(gate: Gate, names: dict[str, str], absences: dict[str, str]) -> list[str]:
    """What a gate of this format does not tell itself."""
    told = []
    if gate.label and gate.label != names[gate.ident]:
        told.append(one_line(gate.label))
    if gate.probability is not None:
        told.append(f"probability {decimal(gate.probability)}")
    told += [f"only if there is {one_line(absences[one])}" for one in gate.conditions]
    told += map(one_line, gate.notes)
    return told


def _chance(event: BasicEvent) -> str:
    if event.rate is not None:
        return f"lambda={decimal(event.rate)} dorm=0"
    if event.probability is not None:
        return f"prob={decimal(event.probability)}"
    return "prob=1"
