"""A system on a CAN bus: inputs are signals of messages that we send, outputs of those it sends.

A message is sent when one of its signals changes, and all of them at the start.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from fractions import Fraction
from math import isfinite

from whence.formats.can.dbc import BusDatabase
from whence.formats.can.live import LiveBus
from whence.model.signals import Interface, InterfaceSignal, SignalEntry, SignalMap
from whence.source import Diagnostic, InputError, Origin
from whence.testing.systems.base import Inputs, SystemFault
from whence.testing.values import Native

__all__ = ["BusSystem", "check_map"]

Node = Callable[[str, str, threading.Event], None]


def check_map(interface: Interface, signals: SignalMap, database: BusDatabase) -> None:
    """Raises InputError where an input or output is not on the bus."""
    wrong = []
    for one in (*interface.inputs, *interface.outputs):
        entry = signals.entry(one.name)
        if entry is None or not entry.message:
            wrong.append(
                Diagnostic(
                    f"the signal map does not say which message carries `{one.name}`",
                    Origin(signals.file),
                    f"signals: {{{one.name}: {{message: …, signal: …}}}}",
                )
            )
            continue
        if entry.message not in database.message_names():
            wrong.append(
                Diagnostic(
                    f"there is no message `{entry.message}` in {database.file}", entry.origin
                )
            )
        elif entry.signal not in database.signal_names(entry.message):
            wrong.append(
                Diagnostic(
                    f"the message `{entry.message}` has no signal `{entry.signal}` in "
                    f"{database.file}",
                    entry.origin,
                )
            )
    if wrong:
        raise InputError(wrong)


class BusSystem:
    """A system with a time of its own. `node`: what is started beside us for each test, in a
    thread, and given the interface, the channel and an event that ends it."""

    def __init__(
        self,
        interface: Interface,
        signals: SignalMap,
        database: BusDatabase,
        bus: tuple[str, str],
        node: Node | None = None,
    ) -> None:
        check_map(interface, signals, database)
        self.interface = interface
        self.database = database
        self.address = bus
        self.node = node
        self.deadline = float("inf")
        self._entries: dict[str, SignalEntry] = {one.name: one for one in signals.entries}
        self._messages: dict[tuple[int, bool], list[InterfaceSignal]] = {}
        for one in interface.outputs:
            key = database.key(self._entries[one.name].message)
            self._messages.setdefault(key, []).append(one)
        self._bus: LiveBus | None = None
        self._sent: dict[str, dict[str, float | int]] = {}
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._failure = ""

    def start(self, inputs: Inputs) -> None:
        self.close()
        self._bus = LiveBus(*self.address)
        self._failure = ""
        if self.node is not None:
            self._stop = threading.Event()
            self._thread = threading.Thread(target=self._run_node, daemon=True)
            self._thread.start()
            # It has to be on the bus before we talk.
            time.sleep(0.05)
        self._sent = {}
        self.send(inputs)

    def _run_node(self) -> None:
        assert self.node is not None
        try:
            self.node(*self.address, self._stop)
        except Exception as error:
            self._failure = f"the node raised {type(error).__name__}: {error}"[:300]

    def send(self, inputs: Inputs) -> None:
        assert self._bus is not None
        messages: dict[str, dict[str, float | int]] = {}
        for one in self.interface.inputs:
            entry = self._entries[one.name]
            value = _physical(one, entry, inputs[one.name])
            messages.setdefault(entry.message, {})[entry.signal] = value
        for name, values in messages.items():
            if self._sent.get(name) == values:
                continue
            self._sent[name] = values
            try:
                self._bus.send(self.database.encode(name, values))
            except (ValueError, OSError) as error:
                raise SystemFault(f"the inputs cannot be sent: {error}") from None

    def receive(self, until: float) -> tuple[float, Mapping[str, object]] | None:
        assert self._bus is not None
        while True:
            if self._failure:
                raise SystemFault(self._failure)
            left = until - time.monotonic()
            try:
                heard = self._bus.receive(min(max(left, 0.0), 0.05))
            except OSError as error:
                raise SystemFault(str(error)) from None
            if heard is None:
                if left <= 0:
                    return None
                continue
            date, frame = heard
            outputs = self._messages.get((frame.ident, frame.extended))
            if outputs is None:
                continue
            try:
                decoded = self.database.decode(frame)
            except ValueError as error:
                raise SystemFault(f"the system sent what is no message: {error}") from None
            assert decoded is not None
            values = decoded[1]
            return date, {one.name: _value(one, self._entries[one.name], values) for one in outputs}

    def close(self) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join(2.0)
            self._thread = None
        if self._bus is not None:
            self._bus.close()
            self._bus = None


def _physical(one: InterfaceSignal, entry: SignalEntry, value: Native) -> float | int:
    number = one.members.index(value) if isinstance(value, str) else value
    if isinstance(number, float) and not isfinite(number):
        return number
    found = Fraction(number) * entry.factor + entry.offset
    return int(found) if found.denominator == 1 else float(found)


def _value(one: InterfaceSignal, entry: SignalEntry, values: Mapping[str, float | int]) -> object:
    physical = values[entry.signal]
    if isinstance(physical, float) and not isfinite(physical):
        return physical
    number = (Fraction(physical) - entry.offset) / entry.factor
    if one.bits:
        return float(number)
    whole = round(number)
    # Physical values are computed in floating point.
    if abs(number - whole) < Fraction(1, 10**6):
        return bool(whole) if one.kind == "bool" and whole in (0, 1) else whole
    return float(number)
