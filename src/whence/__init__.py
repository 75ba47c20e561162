"""From what place, from what cause: models, their faults, and what to change.

::

    import whence

    model = whence.load("examples/database.xml")
    for result in model.check():
        print(result.query, result.verdict)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from whence.api import Model, System, load, load_system, load_text
    from whence.model.transitions import TransitionSystem
    from whence.source import WhenceError

__all__ = [
    "Model",
    "System",
    "TransitionSystem",
    "WhenceError",
    "load",
    "load_system",
    "load_text",
]


def __getattr__(name: str) -> object:
    """Loads what is asked for when it is asked for: every start of the command passes here."""
    if name == "WhenceError":
        from whence.source import WhenceError

        return WhenceError
    if name == "TransitionSystem":
        from whence.model.transitions import TransitionSystem

        return TransitionSystem
    if name in __all__:
        from whence import api

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
