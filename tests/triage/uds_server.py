"""A small ECU on python-can's virtual bus, with two faults, and a tester that drives it.

The ECU is a `can-isotp` stack with a server of its own behind it; the tester is `udsoncan` over
another stack. Everything on the bus is logged. The ECU is the one of
`examples/ecu_requirements.yaml`, with these faults: it keeps the position over a reset, and it
answers a tester present that wants no response.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any, Protocol

import can
import isotp
from udsoncan import services
from udsoncan.client import Client
from udsoncan.configs import default_client_config
from udsoncan.connections import PythonIsoTpConnection

__all__ = ["Flipping", "Lamp", "Server", "bench", "drive", "flip", "light"]

_REQUESTS, _RESPONSES = 0x7E0, 0x7E8
#: How long a restart takes, in seconds.
_BOOT = 0.1


class Answering(Protocol):
    def answer(self, request: bytes) -> bytes | None: ...

    def again(self, request: bytes) -> bytes | None: ...


class Server:
    """What the ECU answers. It knows nothing of the model."""

    def __init__(self) -> None:
        self.ready = 0.0
        self.position = 0
        self.session, self.key = 1, 0

    def answer(self, request: bytes) -> bytes | None:
        if time.monotonic() < self.ready:
            return None
        service, rest = request[0], request[1:]
        if service == 0x10 and rest[0] & 0x7F in (1, 3):
            self.session, self.key = rest[0] & 0x7F, 0
            return None if rest[0] & 0x80 else bytes((0x50, self.session, 0, 50, 1, 0xF4))
        if service == 0x11 and rest == b"\x01":
            # The first fault: the position ought to be 0 again.
            self.session, self.key = 1, 0
            self.ready = time.monotonic() + _BOOT
            return b"\x51\x01"
        if service == 0x3E and rest[0] & 0x7F == 0:
            # The second one: nothing ought to come if 0x80 is set.
            return b"\x7e\x00"
        if service == 0x27:
            return self._security(rest)
        if service == 0x22 and rest == b"\x01\x01":
            return b"\x62\x01\x01" + bytes((self.position,))
        if service == 0x22:
            return b"\x7f\x22\x31"
        if service == 0x2E and rest[:2] == b"\x01\x01":
            if self.session != 3:
                return b"\x7f\x2e\x7f"
            if self.key != 2:
                return b"\x7f\x2e\x33"
            self.position = rest[2]
            return b"\x6e\x01\x01"
        return bytes((0x7F, service, 0x11))

    def again(self, request: bytes) -> bytes | None:
        """A second answer."""
        return None

    def _security(self, rest: bytes) -> bytes:
        if self.session != 3:
            return b"\x7f\x27\x7f"
        if rest[0] == 1:
            self.key = 1
            return b"\x67\x01\x12\x34"
        if self.key != 1:
            return b"\x7f\x27\x24"
        self.key = 2 if rest[1:] == b"\xca\xfe" else 0
        return b"\x67\x02" if self.key else b"\x7f\x27\x35"


class Flipping:
    """The lazy ECU of the database `somersault.pdx`, with two faults of its own: more than three
    flips are counted wrong, and the second time it says twice that it is there."""

    def __init__(self) -> None:
        self.present = 0

    def answer(self, request: bytes) -> bytes | None:
        if request[0] == 0x10:
            return b"\x50\x01"
        if request[0] == 0x3E:
            self.present += 1
            return b"\x7e\x00"
        if request[0] == 0xBA:
            return bytes((0xFA, request[2] + (request[2] > 3), 9))
        return bytes((0x7F, request[0], 0x11))

    def again(self, request: bytes) -> bytes | None:
        return b"\x7e\x00" if request[0] == 0x3E and self.present == 2 else None


class Lamp:
    """The ECU of the database in `small_pdx.py`, with two faults: it sets the lamp in the default
    session, too, and tells another value than it was given if that is large."""

    def __init__(self) -> None:
        self.session = 1

    def answer(self, request: bytes) -> bytes | None:
        if request[0] == 0x10 and request[1:] in (b"\x01", b"\x03"):
            self.session = request[1]
            return bytes((0x50, self.session))
        if request == b"\x3e\x00":
            return b"\x7e\x00"
        if request[:2] == b"\x2e\x01":
            return bytes((0x6E, 0x01, min(request[2], 100)))
        return bytes((0x7F, request[0], 0x11))

    def again(self, request: bytes) -> bytes | None:
        return None


def _stack(bus: can.BusABC, notifier: can.Notifier, own: int, other: int) -> Any:
    address = isotp.Address(isotp.AddressingMode.Normal_11bits, txid=own, rxid=other)
    return isotp.NotifierBasedCanStack(bus, notifier, address=address)


@contextmanager
def bench(log: str, server: Answering) -> Iterator[Client]:
    """A tester at a bus with the ECU; the log is complete when it is left."""
    with ExitStack() as stack:
        channel = f"whence-{id(server)}"
        buses = [can.Bus(interface="virtual", channel=channel) for _ in range(3)]
        logger = can.Logger(log)
        # What is entered first is left last: the log, when everything else has stopped.
        stack.callback(logger.stop)
        for bus in buses:
            stack.callback(bus.shutdown)
        notifiers = [can.Notifier(bus, listeners, timeout=0.05) for bus, listeners in
                     zip(buses, ([], [], [logger]), strict=True)]  # fmt: skip
        for notifier in notifiers:
            stack.callback(notifier.stop)
        ecu = _stack(buses[0], notifiers[0], _RESPONSES, _REQUESTS)
        tester = _stack(buses[1], notifiers[1], _REQUESTS, _RESPONSES)
        stopping = threading.Event()

        def serve() -> None:
            while not stopping.is_set():
                request = ecu.recv(block=True, timeout=0.02)
                for answers in (server.answer, server.again) if request else ():
                    answer = answers(bytes(request))
                    if answer is not None:
                        ecu.send(answer)

        thread = threading.Thread(target=serve, daemon=True)
        ecu.start()
        stack.callback(ecu.stop)
        thread.start()
        stack.callback(thread.join)
        stack.callback(stopping.set)
        config = {**default_client_config, "request_timeout": 5, "p2_timeout": 5}
        yield stack.enter_context(Client(PythonIsoTpConnection(tester), config=config))
        # What comes though nobody waits for it is logged, too.
        time.sleep(0.1)


def _ask(client: Client, text: str) -> None:
    client.conn.empty_rxqueue()
    client.conn.send(bytes.fromhex(text))
    client.conn.wait_frame(timeout=5)


def flip(client: Client) -> None:
    """A test of the lazy ECU."""
    for text in ("10 00 00", "BA 12 02", "3E 00", "BA 12 05", "3E 00", "BA 12 01", "85 01"):
        _ask(client, text)
        time.sleep(0.05)


def light(client: Client, level: int, forgotten: bool = False) -> None:
    """A test that sets the lamp; it may forget to ask for the session in which that is allowed."""
    client.config["standard_version"] = 2006  # no parameters of sessions
    client.tester_present()
    if not forgotten:
        client.change_session(services.DiagnosticSessionControl.Session.extendedDiagnosticSession)
    _ask(client, f"2E 01 {level:02X}")
    client.tester_present()


def drive(client: Client) -> None:
    """A test: writes the position, resets the ECU, and reads it again."""

    ask = partial(_ask, client)
    ask("22 01 01")
    client.change_session(services.DiagnosticSessionControl.Session.extendedDiagnosticSession)
    client.request_seed(1)
    client.send_key(2, b"\xca\xfe")
    ask("2E 01 01 2A")
    ask("22 01 01")
    client.ecu_reset(services.ECUReset.ResetType.hardReset)
    time.sleep(2.5 * _BOOT)
    ask("22 01 01")
    with client.suppress_positive_response:
        client.tester_present()
    time.sleep(0.1)
    ask("22 09 09")
