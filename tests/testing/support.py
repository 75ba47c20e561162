"""Timed charts written by hand, and files made elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from whence.expr.tree import Symbol
from whence.formats.charts.yaml import read_chart
from whence.testing.elaborate import elaborate
from whence.testing.model import TimedModel
from whence.testing.semantics.simulator import State

ROOT = Path(__file__).resolve().parents[2]
TURN_INDICATOR = ROOT / "examples" / "turn_indicator.yaml"
SHARED = ROOT.parent / "shared" / "data"


def shared(name: str) -> Path:
    """A file made elsewhere; a clone of the project alone does not have it."""
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"the shared data is not there: {name}")
    return path


def model(text: str) -> TimedModel:
    return elaborate(read_chart(text, "model.yaml"))


def values(found: TimedModel, state: State) -> dict[str, int]:
    """A state by names; of a machine, the number of its control state."""
    names: list[Symbol] = list(found.symbols)
    return {str(symbol): value for symbol, value in zip(names, state, strict=True)}


def at(found: TimedModel, state: State) -> list[str]:
    """The control states."""
    pairs = zip(found.machines, state, strict=False)
    return [machine.locations[machine.basics[value].number].ident for machine, value in pairs]
