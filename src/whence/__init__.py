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
    from whence.api import Model, load, load_text
    from whence.source import WhenceError

__all__ = ["Model", "WhenceError", "load", "load_text"]


def __getattr__(name: str) -> object:
    """Loads what is asked for when it is asked for: every start of the command passes here."""
    if name == "WhenceError":
        from whence.source import WhenceError

        return WhenceError
    if name in __all__:
        from whence import api

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
