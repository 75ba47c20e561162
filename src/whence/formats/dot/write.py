"""Writes a transition system as a digraph (see :mod:`whence.formats.dot`)."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np

from whence.formats.dot.read import KEYWORDS, SILENT_LABELS
from whence.model.transitions import Action, TransitionSystem
from whence.source import UsageError

__all__ = ["write_dot"]

_PLAIN_ID = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|0|[1-9][0-9]*")


def write_dot(system: TransitionSystem, names: Sequence[str] | None = None) -> str:
    """The system as a digraph; states are called by `names`, or their numbers.

    How far the system was explored is not written, nor are actions without transitions. Raises
    UsageError for a name that could not be read back.
    """
    called = [str(state) for state in range(system.states)] if names is None else list(names)
    if len(called) != system.states or len(set(called)) != len(called):
        raise UsageError(f"{system.states} states need as many different names")
    lines = [f"digraph {_id(system.name)} {{\n" if system.name else "digraph {\n"]
    others = {name: marks for name, marks in system.propositions.items() if name != "bad"}
    escaped = {name: _escaped_proposition(name) for name in others}
    if others:
        lines.append(f"  props={_quoted(','.join(escaped.values()))};\n")
    held: list[list[str]] = [[] for _ in called]
    for name, marks in others.items():
        for state in np.flatnonzero(marks).tolist():
            held[state].append(escaped[name])
    bad = system.propositions.get("bad", np.zeros(system.states, bool))
    initial = set(system.initial)
    for state, name in enumerate(called):
        attributes = []
        if state in initial:
            attributes.append("initial=true")
        if bad[state]:
            attributes.append("bad=true, shape=doublecircle")
        if held[state]:
            attributes.append(f"props={_quoted(','.join(held[state]))}")
        said = f" [{', '.join(attributes)}]" if attributes else ""
        lines.append(f"  {_id(name)}{said};\n")
    labels = [_action_attributes(action) for action in system.actions]
    ids = [_id(name) for name in called]
    rates = [math.nan] * system.transitions if system.rate is None else system.rate.tolist()
    columns = (system.source.tolist(), system.action.tolist(), system.target.tolist(), rates)
    for source, action, target, rate in zip(*columns, strict=True):
        rated = "" if math.isnan(rate) else f', rate="{rate!r}"'
        lines.append(f"  {ids[source]} -> {ids[target]} [{labels[action]}{rated}];\n")
    lines.append("}\n")
    return "".join(lines)


def _action_attributes(action: Action) -> str:
    if not action.name:
        raise UsageError("an action without a name cannot be written")
    label = action.name.replace("\\", "\\\\").replace("\n", "\\n")
    parts = [f"label={_quoted(label)}"]
    if action.failure:
        parts.append("failure=true")
    if action.detected is not None:
        parts.append(f"detected={str(action.detected).lower()}")
    if action.silent != (action.name in SILENT_LABELS):
        parts.append(f"silent={str(action.silent).lower()}")
    if action.component:
        if "\\" in action.component:
            raise UsageError(f"the component {action.component!r} has a backslash in it")
        parts.append(f"component={_quoted(action.component)}")
    return ", ".join(parts)


def _escaped_proposition(name: str) -> str:
    if not name or name != name.strip():
        raise UsageError(f"the proposition {name!r} cannot be written: it begins or ends blank")
    return name.replace("\\", "\\\\").replace(",", "\\,")


def _id(name: str) -> str:
    if _PLAIN_ID.fullmatch(name) and name.lower() not in KEYWORDS:
        return name
    if "\\" in name:
        raise UsageError(f"the name {name!r} has a backslash in it")
    return _quoted(name)


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '\\"') + '"'
