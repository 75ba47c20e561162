"""Messages out of frames, after the fact: ISO 15765-2 as somebody sees it who listens.

A message is a single frame, or a first frame and consecutive frames, which the partner steers with
flow control. What a receiver would drop in silence is told here: a message that is interrupted,
lacks a frame, waits too long for its next one (N_Cr) or stops with the log becomes an error with
the bytes that were there. Differences from a receiver that follows the letter of the standard: an
escaped length is accepted also where the short form would do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from whence.model.events import NANO, Address, AddressPair, CanFrame

__all__ = ["N_CR", "LogMessage", "Reassembly", "reassembled"]

#: How long a receiver waits for the next consecutive frame, in nanoseconds.
N_CR: Final = NANO
#: No controller has so much memory: a first frame that announces more is an error.
LARGEST: Final = 1 << 26
_EXTENDED: Final = 1 << 31


class LogMessage(NamedTuple):
    """A message to (or, seen from the partner, at) `address`; with `error`, what there is of it.

    `first` and `last` are the dates of its first and last frame, `record` is where it starts.
    """

    address: Address
    channel: str
    payload: bytes
    first: int | None
    last: int | None
    record: int
    error: str = ""


class _Reception:
    """What one partner has sent so far. `data` None: no message has begun."""

    __slots__ = (
        "awaited",
        "data",
        "draining",
        "first",
        "last",
        "length",
        "record",
        "size",
        "timer",
    )

    def __init__(self) -> None:
        self.data: bytearray | None = None
        self.length = 0
        #: The length of the first frame: consecutive ones have the same, the last one aside.
        self.size = 0
        #: The number that the next consecutive frame has to have.
        self.awaited = 0
        self.first: int | None = None
        self.last: int | None = None
        #: When the wait for the next frame began.
        self.timer: int | None = None
        self.record = 0
        #: Whether consecutive frames belong to a message that was given up.
        self.draining = False


Key = tuple[str, Address]


class Reassembly:
    """Takes frames in the order of the log, and gives messages."""

    def __init__(self, pairs: Iterable[AddressPair], n_cr: int = N_CR) -> None:
        self.n_cr = n_cr
        #: By identifier: the addresses with it, by address byte (None: there is none).
        self.addresses: dict[int, dict[int | None, Address]] = {}
        #: Whose messages the flow control of an address steers.
        self.steered: dict[Address, list[Address]] = {}
        self.receptions: dict[Key, _Reception] = {}
        #: The messages that are not whole yet, the oldest first.
        self.open: dict[Key, _Reception] = {}
        for pair in pairs:
            self._know(pair.request)
            if pair.response is not None:
                self._know(pair.response)
                self._steer(pair.request, pair.response)
                self._steer(pair.response, pair.request)

    def _know(self, address: Address) -> None:
        key = address.ident | (_EXTENDED if address.extended else 0)
        self.addresses.setdefault(key, {})[address.extension] = address

    def _steer(self, by: Address, partner: Address) -> None:
        partners = self.steered.setdefault(by, [])
        if partner not in partners:
            partners.append(partner)

    def feed(self, frame: CanFrame) -> Sequence[LogMessage]:
        """The messages (and errors) that this frame completes."""
        known = self.addresses.get(frame.ident | _EXTENDED if frame.extended else frame.ident)
        if known is None or frame.kind != "data":
            return ()
        data = frame.data
        address = known.get(None)
        at = 0
        if address is None:
            address = known.get(data[0]) if data else None
            if address is None:
                return ()
            at = 1
        time = frame.time
        found = self._overdue(time) if self.open and time is not None else []
        if len(data) <= at:
            found.append(_bad(address, frame, "a frame without a protocol byte"))
            return found
        code = data[at] >> 4
        if code == 0:
            start = at + 1
            length = data[at] & 15
            if length == 0 and len(data) > 8:
                length = data[start]
                start += 1
            if length == 0 or start + length > len(data) or (len(data) > 8 and start == at + 1):
                found.append(_bad(address, frame, _bad_single(length, len(data) - start)))
                return found
            if self.receptions:
                self._interrupt(found, (frame.channel, address))
            found.append(
                LogMessage(
                    address, frame.channel, data[start : start + length], time, time, frame.record
                )
            )
        elif code == 1:
            self._first(found, address, frame, at)
        elif code == 2:
            self._consecutive(found, address, frame, at)
        elif code == 3:
            self._flow_control(found, address, frame, at)
        else:
            found.append(_bad(address, frame, f"protocol byte 0x{data[at]:02X} is reserved"))
        return found

    def end(self) -> list[LogMessage]:
        """What is not whole when the log ends."""
        found: list[LogMessage] = []
        for key in list(self.open):
            self._give_up(found, key, "the log ends before the message does")
        return found

    # --------------------------------------------------------------------------------- frames

    def _first(self, found: list[LogMessage], address: Address, frame: CanFrame, at: int) -> None:
        data = frame.data
        if len(data) < 8:
            found.append(_bad(address, frame, "a first frame with less than 8 bytes"))
            return
        length, start = (data[at] & 15) << 8 | data[at + 1], at + 2
        if length == 0:
            length, start = int.from_bytes(data[at + 2 : at + 6], "big"), at + 6
        if length <= len(data) - start or length > LARGEST:
            found.append(_bad(address, frame, f"a first frame that announces {length} bytes"))
            return
        key = (frame.channel, address)
        self._interrupt(found, key)
        reception = self.receptions.setdefault(key, _Reception())
        reception.data = bytearray(data[start:])
        reception.length, reception.size, reception.awaited = length, len(data), 1
        reception.first = reception.last = reception.timer = frame.time
        reception.record = frame.record
        self.open[key] = reception

    def _consecutive(
        self, found: list[LogMessage], address: Address, frame: CanFrame, at: int
    ) -> None:
        key = (frame.channel, address)
        reception = self.receptions.get(key)
        if reception is None:
            reception = self.receptions[key] = _Reception()
        buffer = reception.data
        if buffer is None:
            if not reception.draining:
                reception.draining = True
                found.append(_bad(address, frame, "a consecutive frame without a first frame"))
            return
        data = frame.data
        number = data[at] & 15
        if number != reception.awaited:
            why = f"consecutive frame {number} in place of {reception.awaited}"
            self._give_up(found, key, why)
            return
        missing = reception.length - len(buffer)
        if len(data) - at - 1 < missing and len(data) != reception.size:
            self._give_up(found, key, f"a consecutive frame of {len(data)} bytes in place of "
                                      f"{reception.size}")  # fmt: skip
            return
        buffer += data[at + 1 : at + 1 + missing]
        reception.last = reception.timer = frame.time
        reception.awaited = (number + 1) & 15
        if len(buffer) == reception.length:
            del self.open[key]
            reception.data = None
            found.append(
                LogMessage(
                    address, frame.channel, bytes(buffer), reception.first, frame.time,
                    reception.record,
                )
            )  # fmt: skip

    def _flow_control(
        self, found: list[LogMessage], address: Address, frame: CanFrame, at: int
    ) -> None:
        status = frame.data[at] & 15
        if len(frame.data) < at + 3 or status > 2:
            found.append(_bad(address, frame, "a flow control frame that is none"))
            return
        for partner in self.steered.get(address, ()):
            key = (frame.channel, partner)
            reception = self.open.get(key)
            if reception is None:
                continue
            if status == 2:
                self._give_up(found, key, "the receiver has no room for the message (overflow)")
            else:
                reception.timer = frame.time

    # ------------------------------------------------------------------------------- failures

    def _overdue(self, now: int) -> list[LogMessage]:
        """Gives up the messages that have waited for longer than N_Cr."""
        late = [
            key
            for key, reception in self.open.items()
            if reception.timer is not None and now - reception.timer > self.n_cr
        ]
        found: list[LogMessage] = []
        for key in late:
            self._give_up(found, key, "the next consecutive frame did not come in time (N_Cr)")
        return found

    def _interrupt(self, found: list[LogMessage], key: Key) -> None:
        """Another message begins: the one before is given up, and nothing of it can follow."""
        reception = self.receptions.get(key)
        if reception is None:
            return
        if reception.data is not None:
            self._give_up(found, key, "the message is interrupted by another one")
        reception.draining = False

    def _give_up(self, found: list[LogMessage], key: Key, why: str) -> None:
        reception = self.open.pop(key)
        data = reception.data or b""
        reception.data, reception.draining = None, True
        channel, address = key
        why = f"{why}: {len(data)} of {reception.length} bytes are there"
        found.append(
            LogMessage(
                address,
                channel,
                bytes(data),
                reception.first,
                reception.last,
                reception.record,
                why,
            )
        )


def _bad(address: Address, frame: CanFrame, why: str) -> LogMessage:
    return LogMessage(
        address, frame.channel, frame.data, frame.time, frame.time, frame.record, why
    )  # fmt: skip


def _bad_single(length: int, there: int) -> str:
    if length == 0:
        return "a single frame of length 0"
    if length > there:
        return f"a single frame that announces {length} bytes and has {there}"
    return "a single frame of more than 8 bytes without an escaped length"


def reassembled(
    frames: Iterable[CanFrame], pairs: Iterable[AddressPair], n_cr: int = N_CR
) -> Iterator[LogMessage]:
    """The messages between these partners."""
    reassembly = Reassembly(pairs, n_cr)
    for frame in frames:
        yield from reassembly.feed(frame)
    yield from reassembly.end()
