"""Reads requirements as we write them by hand: our YAML format (docs/prd.md, schema.json), of an
ECU's services or of plain automata."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

from whence.expr.scope import Problem, Problems
from whence.formats.charts.nodes import Mapping, decode, read_nodes
from whence.formats.prd.automata import read_system
from whence.formats.prd.ecus import read_ecu
from whence.formats.uppaal.xml import read_bytes
from whence.model.ecu import Ecu, PrdSystem
from whence.source import Diagnostic, InputError, Origin

__all__ = ["read_prd", "read_prd_file", "schema"]


def schema() -> dict[str, Any]:
    """The JSON schema of the format."""
    text = resources.files(__package__).joinpath("schema.json").read_text("utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def read_prd_file(path: Path | str) -> Ecu | PrdSystem:
    return read_prd(read_bytes(path), str(path))


def read_prd(text: str | bytes, file: str = "") -> Ecu | PrdSystem:
    """The ECU or the automata in a text. Raises one InputError with all that is wrong with it; what
    conditions and effects of an ECU mean is looked at when it is compiled."""
    if isinstance(text, bytes):
        text = decode(text, file)
    problems = Problems()
    root = read_nodes(text.removeprefix("\ufeff"), file, problems)
    hint = "it begins with `ecu:` (services) or `automaton:` (states and transitions)"
    if not isinstance(root, Mapping):
        origin = Origin(file, 1, 1, 1, 1) if root is None else root.origin
        raise InputError(Diagnostic("expected requirements", origin, hint))
    keys = {key.value for key, _ in root.pairs}
    found: Ecu | PrdSystem
    if keys & {"ecu", "services"}:
        found = read_ecu(root, problems)
    elif keys & {"automaton", "parts", "transitions"}:
        found = read_system(root, problems)
    else:
        problems.add(Problem("expected requirements", root.origin, hint))
        problems.raise_any()
        raise AssertionError
    problems.raise_any()
    return found
