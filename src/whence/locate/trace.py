"""Dynamic dependences: which executions of statements made the values that others used.

Each byte of memory knows the event that wrote it. What is read between two events is used by the
second one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from whence.locate.memory import Memory, Object
from whence.locate.outcome import Event

__all__ = ["Trace"]


class Trace:
    """`at` is the number of the statement that is being executed, `control` the last decision
    that control depends on."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.events: list[Event] = []
        self.begin()
        for code, load in list(memory.loads.items()):
            memory.loads[code] = self._loading(load, self._size(code))
        for code, store in list(memory.stores.items()):
            memory.stores[code] = self._storing(store, self._size(code))

    def begin(self) -> None:
        self.events = []
        self.uses: list[int] = []
        self.pending: list[int] = []
        self.at = 0
        self.control = -1
        self.returned = -1
        self.library = False
        #: What is written before the program begins is no event.
        self.recording = False

    def _size(self, code: str) -> int:
        return self.memory.pointer_size if code == "p" else int(code[1:]) // 8

    def event(self, statement: int, decision: int | None = None) -> int:
        """An event that used what has been read since the last one."""
        uses = tuple(dict.fromkeys(use for use in self.uses if use >= 0))
        self.uses.clear()
        self.events.append(Event(statement, uses, self.control, decision))
        return len(self.events) - 1

    # --- memory -----------------------------------------------------------------------------

    def used(self, object: Object, offset: int, size: int) -> None:
        defs = object.defs
        if defs is not None and self.recording:
            self.uses += [event - 1 for event in defs[offset : offset + size]]

    def wrote(self, object: Object, offset: int, size: int) -> None:
        """Marks bytes with the event of the write. Events are counted from 1 there: 0 is what
        was there from the start."""
        if not self.recording:
            return
        if self.library:
            # All that one call of the library writes depends on all that it has read by then.
            kept = list(self.uses)
            number = self.event(self.at)
            self.uses += kept
        else:
            number = self.event(self.at)
        self.mark(object, offset, size, number)

    @staticmethod
    def mark(object: Object, offset: int, size: int, event: int) -> None:
        if object.defs is None or len(object.defs) < len(object.data):
            object.defs = [0] * len(object.data)
        object.defs[offset : offset + size] = [event + 1] * size

    def _loading(self, load: Callable[..., Any], size: int) -> Callable[..., Any]:
        def traced(object: Object, offset: int, site: int) -> Any:
            value = load(object, offset, site)
            self.used(object, offset, size)
            return value

        return traced

    def _storing(self, store: Callable[..., None], size: int) -> Callable[..., None]:
        def traced(object: Object, offset: int, value: Any, site: int) -> None:
            store(object, offset, value, site)
            self.wrote(object, offset, size)

        return traced

    # --- what the compiled program calls ----------------------------------------------------

    def decide(self, statement: int, condition: Any) -> Any:
        self.control = self.event(statement, 1 if condition else 0)
        return condition

    def select(self, statement: int, value: int) -> int:
        self.control = self.event(statement, value)
        return value

    def argument(self, statement: int, value: Any) -> Any:
        self.pending.append(self.event(statement))
        return value

    def arrive(self, count: int) -> list[int]:
        """The events of the arguments; of calls that the library makes there are none."""
        if len(self.pending) < count:
            self.pending.clear()
            return [-1] * count
        arrived = self.pending[-count:]
        self.pending.clear()
        return arrived

    def parameter(self, object: Object, event: int) -> None:
        """The store before this noted an event of its own, which is none."""
        if (
            self.events
            and object.defs is not None
            and max(object.defs, default=0) == len(self.events)
        ):
            self.events.pop()
        self.uses.clear()
        self.mark(object, 0, len(object.data), event)

    def give(self, statement: int, value: Any) -> Any:
        self.returned = self.event(statement)
        return value

    def take(self, statement: int) -> None:
        """The result of a call is about to be stored."""
        self.uses.clear()
        self.uses.append(self.returned)
        self.returned = -1
        self.at = statement

    def rest(self, statement: int, make: Callable[[], Any]) -> Any:
        """The arguments of `...`: each depends on what was read for any of them."""
        self.at = statement
        outer, self.library = self.library, True
        value = make()
        self.library = outer
        self.uses.clear()
        return value

    def enter_library(self, statement: int, call: Callable[[], Any]) -> Any:
        self.at = statement
        outer, self.library = self.library, True
        try:
            value = call()
        finally:
            self.library = outer
        self.returned = self.event(statement)
        return value
