"""The whole of whence from Python: read a model, ask it, replay and keep what it answers.

The commands are made of this package, and can do nothing that it cannot.  Importing it is cheap;
the search is loaded when something is searched for.  `models` are networks of timed automata,
`systems` whatever has states and events.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from whence.api.models import (
    Limits,
    Model,
    Recorded,
    RepairSettings,
    Settings,
    fields,
    load,
    load_text,
    parse_budget,
    read_document,
    read_document_text,
    read_query_file,
    to_text,
    version,
)
from whence.api.runs import OpenSuite, RunOptions, open_suite, write_run
from whence.api.tests import TimedChart, load_timed_chart, write_suite

if TYPE_CHECKING:
    from whence.api.systems import CausesSettings, System, load_system

__all__ = [
    "CausesSettings",
    "Limits",
    "Model",
    "OpenSuite",
    "Recorded",
    "RepairSettings",
    "RunOptions",
    "Settings",
    "System",
    "TimedChart",
    "fields",
    "load",
    "load_system",
    "load_text",
    "load_timed_chart",
    "open_suite",
    "parse_budget",
    "read_document",
    "read_document_text",
    "read_query_file",
    "to_text",
    "version",
    "write_run",
    "write_suite",
]


def __getattr__(name: str) -> object:
    """Systems are arrays: what needs them is loaded when it is asked for."""
    if name in __all__:
        from whence.api import systems

        return getattr(systems, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
