"""A simulated ECU with 23 services of UDS and faults on request, and a tester that logs.

It knows nothing of models: what it does is written down a second time, as requirements, in
`benchmarks/ecu_requirements.py`, so that a triage of its logs is a test of both.  Dates are whole
microseconds; the same seed gives the same logs, byte for byte.

The faults are of the three kinds of Becker et al., section 7: the ECU answers too late (also
another service), it does not reset a variable when it restarts, it answers when it must not.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, Literal

__all__ = [
    "BOOT",
    "MS",
    "P2",
    "P2_STAR",
    "S3",
    "Ecu",
    "Fault",
    "Injected",
    "SimulatedTrace",
    "Tester",
]

MS: Final = 1000
P2: Final = 50 * MS
P2_STAR: Final = 5000 * MS
S3: Final = 5000 * MS
#: How long a restart takes at most.
BOOT: Final = 300 * MS

DEFAULT, PROGRAMMING, EXTENDED = 1, 2, 3
LOCKED, SEEDED, UNLOCKED = 0, 1, 2

#: The data identifiers: what is read there, and whether it needs the extended session.
IDENTIFICATION: Final = {0xF18C: b"000102030", 0xF190: b"WHE0ECU0DOOR00123"}
SESSION_DID: Final = 0xF186
#: A byte that can be written, and that a restart sets back to 0.
LIMIT_DID: Final = 0x0101
#: One that is read in the extended session only.
SENSOR_DID: Final = 0x0102
ERASE: Final = 0xFF00
SELF_TEST: Final = 0x0203

#: The faults, by the name of their class: late, of the routine or of reading; a variable that
#: survives a restart; an answer to a suppressed or to a functional request.
Fault = Literal["late routine", "late data", "kept limit", "answered identifier",
                "answered session", "answered control"]  # fmt: skip

#: What nobody is told who asked all.
_SILENT_TO_ALL: Final = frozenset((0x11, 0x12, 0x31, 0x7E, 0x7F))
_WITH_SUB_FUNCTION: Final = frozenset((0x10, 0x11, 0x19, 0x27, 0x28, 0x29, 0x2C, 0x31, 0x3E, 0x85,
                                       0x87))  # fmt: skip

Answer = tuple[int, bytes]
Handler = Callable[["Ecu", bytes], bytes]


class Refused(Exception):
    """A negative response with this code."""

    def __init__(self, code: int) -> None:
        super().__init__(f"{code:02X}")
        self.code = code


@dataclass
class Ecu:
    """The state of the ECU. `faults`: which faults show now. The limit is one of `limits` values,
    and blocks are counted modulo `blocks`, a power of 2."""

    numbers: random.Random
    limits: int = 256
    blocks: int = 256
    faults: set[Fault] = field(default_factory=set)
    session: int = DEFAULT
    security: int = LOCKED
    limit: int = 0
    transferring: bool = False
    block: int = 0
    #: Until when it restarts, and since when nothing was asked.
    ready: int = 0
    quiet: int = 0

    def ask(self, at: int, payload: bytes, to_all: bool = False) -> list[Answer]:
        """What it answers to a request whose last frame comes at `at`, each with its date."""
        if at < self.ready:
            return []
        if self.session != DEFAULT and at - self.quiet > S3:
            self._change_session(DEFAULT)
        service = payload[0]
        suppressed = False
        if service in _WITH_SUB_FUNCTION and len(payload) > 1 and payload[1] & 0x80:
            suppressed = True
            payload = bytes((service, payload[1] & 0x7F)) + payload[2:]
        began = at
        answers: list[Answer] = []
        if service == 0x31 and payload[2:4] == b"\xff\x00" and self._may_start(payload):
            began += self._latency()
            answers.append((began, bytes((0x7F, service, 0x78))))
            began += self.numbers.randrange(100 * MS, 900 * MS)
        date = began + self._latency()
        try:
            handler = _HANDLERS.get(service)
            if handler is None:
                raise Refused(0x11)
            answer = handler(self, payload)
        except Refused as refused:
            if to_all and refused.code in _SILENT_TO_ALL and not self._answers_all(service):
                self.quiet = at
                return answers
            answers.append((date, bytes((0x7F, service, refused.code))))
        else:
            date = self._delayed(date, service, payload)
            if not suppressed or (
                service == 0x28 and payload[1] == 3 and "answered control" in self.faults
            ):
                answers.append((date, answer))
            if service == 0x11:
                self._restart(date)
        self.quiet = answers[-1][0] if answers else at
        return answers

    # ------------------------------------------------------------------------------------ faults

    def _delayed(self, date: int, service: int, payload: bytes) -> int:
        """Later, if the fault is there. The dates are spread, but each after P2."""
        if service == 0x31 and payload[2:4] == b"\x02\x03" and "late routine" in self.faults:
            return date + P2 + self.numbers.randrange(0, 20 * MS)
        if service == 0x22 and "late data" in self.faults:
            return date + P2 + self.numbers.randrange(0, 150 * MS)
        return date

    def _answers_all(self, service: int) -> bool:
        return (service == 0x22 and "answered identifier" in self.faults) or (
            service == 0x10 and "answered session" in self.faults
        )

    # ------------------------------------------------------------------------------------- state

    def _latency(self) -> int:
        return self.numbers.randrange(2 * MS, 30 * MS)

    def _change_session(self, session: int) -> None:
        self.session, self.security, self.transferring = session, LOCKED, False

    def _restart(self, date: int) -> None:
        self._change_session(DEFAULT)
        self.block = 0
        if "kept limit" not in self.faults:
            self.limit = 0
        self.ready = date + self.numbers.randrange(200 * MS, BOOT)

    def _may_start(self, payload: bytes) -> bool:
        return self.session != DEFAULT and self.security == UNLOCKED and payload[1] == 1

    def need_session(self, *sessions: int) -> None:
        if self.session not in sessions:
            raise Refused(0x7F)

    def need_key(self) -> None:
        if self.security != UNLOCKED:
            raise Refused(0x33)


# -------------------------------------------------------------------------------------- services


def _session(ecu: Ecu, payload: bytes) -> bytes:
    if payload[1] not in (DEFAULT, PROGRAMMING, EXTENDED):
        raise Refused(0x12)
    if payload[1] == PROGRAMMING and ecu.session == DEFAULT:
        raise Refused(0x22)
    ecu._change_session(payload[1])
    return bytes((0x50, payload[1], 0, 50, 1, 0xF4))


def _reset(ecu: Ecu, payload: bytes) -> bytes:
    if payload[1] not in (1, 2, 3):
        raise Refused(0x12)
    return bytes((0x51, payload[1]))


def _clear(ecu: Ecu, payload: bytes) -> bytes:
    if payload[1:4] != b"\xff\xff\xff":
        raise Refused(0x31)
    return b"\x54"


def _troubles(ecu: Ecu, payload: bytes) -> bytes:
    if payload[1] != 2:
        raise Refused(0x12)
    return b"\x59\x02\xff"


def _read(ecu: Ecu, payload: bytes) -> bytes:
    did = int.from_bytes(payload[1:3], "big")
    if did in IDENTIFICATION:
        data = IDENTIFICATION[did]
    elif did == SESSION_DID:
        data = bytes((ecu.session,))
    elif did == LIMIT_DID:
        data = bytes((ecu.limit,))
    elif did == SENSOR_DID and ecu.session == EXTENDED:
        data = bytes((ecu.numbers.randrange(256),))
    else:
        raise Refused(0x31)
    return b"\x62" + payload[1:3] + data


def _read_memory(ecu: Ecu, payload: bytes) -> bytes:
    ecu.need_session(PROGRAMMING, EXTENDED)
    ecu.need_key()
    return b"\x63" + ecu.numbers.randbytes(payload[-1])


def _scaling(ecu: Ecu, payload: bytes) -> bytes:
    return b"\x64" + payload[1:3] + b"\x01"


def _security(ecu: Ecu, payload: bytes) -> bytes:
    ecu.need_session(PROGRAMMING, EXTENDED)
    if payload[1] == 1:
        ecu.security = max(ecu.security, SEEDED)
        return b"\x67\x01" + ecu.numbers.randbytes(4)
    if payload[1] != 2:
        raise Refused(0x12)
    if ecu.security == LOCKED:
        raise Refused(0x24)
    if payload[2:6] != b"\xca\xfe\xba\xbe":
        ecu.security = LOCKED
        raise Refused(0x35)
    ecu.security = UNLOCKED
    return b"\x67\x02"


def _communication(ecu: Ecu, payload: bytes) -> bytes:
    if payload[1] > 3:
        raise Refused(0x12)
    return bytes((0x68, payload[1]))


def _authentication(ecu: Ecu, payload: bytes) -> bytes:
    if payload[1] != 8:
        raise Refused(0x12)
    return b"\x69\x08\x02"


def _periodic(ecu: Ecu, payload: bytes) -> bytes:
    ecu.need_session(EXTENDED)
    return b"\x6a"


def _define(ecu: Ecu, payload: bytes) -> bytes:
    ecu.need_session(EXTENDED)
    return bytes((0x6C, payload[1])) + payload[2:4]


def _write(ecu: Ecu, payload: bytes) -> bytes:
    ecu.need_session(EXTENDED)
    if payload[1:3] != LIMIT_DID.to_bytes(2, "big"):
        raise Refused(0x31)
    ecu.need_key()
    ecu.limit = payload[3]
    return b"\x6e" + payload[1:3]


def _control(ecu: Ecu, payload: bytes) -> bytes:
    ecu.need_session(EXTENDED)
    return b"\x6f" + payload[1:4]


def _routine(ecu: Ecu, payload: bytes) -> bytes:
    routine = int.from_bytes(payload[2:4], "big")
    if payload[1] != 1:
        raise Refused(0x12)
    if routine not in (ERASE, SELF_TEST):
        raise Refused(0x31)
    if routine == ERASE:
        ecu.need_session(PROGRAMMING, EXTENDED)
        ecu.need_key()
    return b"\x71\x01" + payload[2:4]


def _download(ecu: Ecu, payload: bytes) -> bytes:
    ecu.need_session(PROGRAMMING)
    ecu.need_key()
    ecu.transferring, ecu.block = True, 1
    return bytes((payload[0] + 0x40, 0x20, 0x00, 0x82))


def _transfer(ecu: Ecu, payload: bytes) -> bytes:
    ecu.need_session(PROGRAMMING)
    if not ecu.transferring:
        raise Refused(0x24)
    if payload[1] != ecu.block:
        raise Refused(0x73)
    ecu.block = (ecu.block + 1) % ecu.blocks
    return bytes((0x76, payload[1]))


def _exit(ecu: Ecu, payload: bytes) -> bytes:
    ecu.need_session(PROGRAMMING)
    if not ecu.transferring:
        raise Refused(0x24)
    ecu.transferring = False
    return b"\x77"


def _file(ecu: Ecu, payload: bytes) -> bytes:
    raise Refused(0x70)


def _write_memory(ecu: Ecu, payload: bytes) -> bytes:
    ecu.need_session(PROGRAMMING, EXTENDED)
    ecu.need_key()
    return b"\x7d" + payload[1:4]


def _present(ecu: Ecu, payload: bytes) -> bytes:
    if payload[1] != 0:
        raise Refused(0x12)
    return b"\x7e\x00"


def _dtc_setting(ecu: Ecu, payload: bytes) -> bytes:
    ecu.need_session(EXTENDED)
    if payload[1] not in (1, 2):
        raise Refused(0x12)
    return bytes((0xC5, payload[1]))


def _link(ecu: Ecu, payload: bytes) -> bytes:
    ecu.need_session(PROGRAMMING, EXTENDED)
    raise Refused(0x12 if payload[1] > 3 else 0x22)


_HANDLERS: Final[dict[int, Handler]] = {
    0x10: _session, 0x11: _reset, 0x14: _clear, 0x19: _troubles, 0x22: _read, 0x23: _read_memory,
    0x24: _scaling, 0x27: _security, 0x28: _communication, 0x29: _authentication, 0x2A: _periodic,
    0x2C: _define, 0x2E: _write, 0x2F: _control, 0x31: _routine, 0x34: _download, 0x35: _download,
    0x36: _transfer, 0x37: _exit, 0x3D: _write_memory, 0x3E: _present, 0x85: _dtc_setting,
    0x87: _link,
}  # fmt: skip


# --------------------------------------------------------------------------------------- the log


@dataclass(frozen=True, slots=True)
class Injected:
    """A fault that shows: the date of the answer that gives it away, its class, and whether the
    environment marked it."""

    date: int
    fault: Fault
    marked: bool


@dataclass(frozen=True, slots=True)
class SimulatedTrace:
    """`wrong`: how often the environment marked what is no fault. `messages`: how many requests
    and responses there are."""

    name: str
    text: str
    injected: tuple[Injected, ...]
    wrong: int
    messages: int


_REQUEST, _RESPONSE, _ALL = 0x7E0, 0x7E8, 0x7DF
#: When the log starts, in seconds since 1970.
_EPOCH: Final = 1_700_000_000


class Tester:
    """Asks an ECU, and writes what happens on the bus as candump does."""

    def __init__(self, name: str, ecu: Ecu) -> None:
        self.name, self.ecu = name, ecu
        self.now = ecu.numbers.randrange(5 * MS, 50 * MS)
        self.lines: list[str] = [f"# {name}"]
        self.injected: list[Injected] = []
        self.wrong = 0
        self.messages = 0
        self.step = 0

    def ask(self, text: str, to_all: bool = False) -> list[Answer]:
        """Sends a request (hexadecimal digits), and waits for what comes."""
        payload = bytes.fromhex(text)
        self.step += 1
        self.messages += 1
        self._message(self.now, _ALL if to_all else _REQUEST, payload)
        answers = self.ecu.ask(self.now, payload, to_all)
        for date, answer in answers:
            self.messages += 1
            self.now = max(self.now, date)
            self._message(self.now, _RESPONSE, answer)
        self.wait(self.ecu.numbers.randrange(5 * MS, 60 * MS) + (0 if answers else P2))
        return answers

    def wait(self, time: int) -> None:
        self.now += time

    def fault(self, fault: Fault, text: str, marked: bool, to_all: bool = False) -> None:
        """Asks while the fault is there; with `marked`, the environment notices."""
        self.ecu.faults.add(fault)
        answers = self.ask(text, to_all)
        self.ecu.faults.discard(fault)
        self.shown(fault, answers, marked)

    def shown(self, fault: Fault, answers: list[Answer], marked: bool) -> None:
        assert answers, f"{fault} does not show"
        self.injected.append(Injected(answers[-1][0], fault, marked))
        if marked:
            self.lines.append(f"# Step {self.step}: FAILED, {answers[-1][1].hex(' ').upper()}")

    def late(self, fault: Fault, text: str, missed: bool) -> None:
        """As `fault`; the environment marks nothing, or (`missed`) a response that is missing:
        it did not wait for it."""
        before = len(self.lines)
        self.fault(fault, text, False)
        if missed:
            self.wrong += 1
            sent = next(at for at in range(before, len(self.lines)) if " can0 " in self.lines[at])
            mark = f"# Step {self.step}: FAILED, no response"
            self.lines.insert(sent + 1, mark)

    def trace(self) -> SimulatedTrace:
        text = "\n".join(self.lines) + "\n"
        return SimulatedTrace(self.name, text, tuple(self.injected), self.wrong, self.messages)

    # ------------------------------------------------------------------------------------ frames

    def _message(self, date: int, ident: int, payload: bytes) -> None:
        """The frames of a message, whose first one comes at `date`; with `self.now` behind."""
        partner = _REQUEST if ident == _RESPONSE else _RESPONSE
        for number, frame in enumerate(_frames(payload)):
            if number == 1:
                date += self._pause()
                self._line(date, partner, b"\x30\x00\x00")
            if number:
                date += self._pause()
            self._line(date, ident, frame)
        self.now = max(self.now, date)

    def _pause(self) -> int:
        return self.ecu.numbers.randrange(200, 900)

    def _line(self, date: int, ident: int, data: bytes) -> None:
        seconds, micro = divmod(date, 1_000_000)
        padded = data.ljust(8, b"\x55").hex().upper()
        self.lines.append(f"({_EPOCH + seconds}.{micro:06d}) can0 {ident:03X}#{padded}")


def _frames(payload: bytes) -> Iterator[bytes]:
    """ISO 15765-2: a single frame, or a first one and consecutive ones."""
    if len(payload) < 8:
        yield bytes((len(payload),)) + payload
        return
    yield bytes((0x10 | len(payload) >> 8, len(payload) & 0xFF)) + payload[:6]
    for number, at in enumerate(range(6, len(payload), 7), 1):
        yield bytes((0x20 | number & 15,)) + payload[at : at + 7]
