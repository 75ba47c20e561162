"""CAN frames as Linux has them in memory, in packets of a capture."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, Literal, NamedTuple

from whence.formats.can.lines import Item, Note
from whence.model.events import CanFrame, Direction
from whence.source import Diagnostic, Origin

__all__ = ["LINK_TYPES", "Decoder", "Packet"]

#: The length of what stands before the frame, by link type (that of packets of tcpdump.org).
LINK_TYPES: Final[dict[int, int]] = {227: 0, 113: 16, 276: 20}
_SOCKETCAN: Final = 227
_CAN, _CAN_FD = 0x000C, 0x000D
_EXTENDED, _REMOTE, _ERROR, _IDENT = 0x80000000, 0x40000000, 0x20000000, 0x1FFFFFFF
#: Of CAN FD frames in packets of link type 227: the flag that says so (old programs omit it).
_FDF: Final = 0x04
#: So many packets vote on the byte order before the first frame is told.
_VOTERS: Final = 256


class Packet(NamedTuple):
    """`time` in nanoseconds, and where in the file the packet is."""

    time: int | None
    channel: str
    link: int
    data: bytes
    record: int
    offset: int


Order = Literal["big", "little"]


class Decoder:
    """Frames of packets.

    An identifier of 11 bits is not possible in the wrong byte order, unless it is 0; one of 29 bits
    seldom is. Where both are possible, the majority of the first packets decides, and big-endian if
    there is none.
    """

    def __init__(self, file: str) -> None:
        self.file = file
        self.votes: dict[Order, int] = {"big": 0, "little": 0}
        self.order: Order = "big"
        self.said: set[str] = set()

    def items(self, packets: Iterable[Packet | Item]) -> Iterator[Item]:
        held: list[Packet | Item] | None = []
        for packet in packets:
            if held is None:
                yield from self._item(packet)
                continue
            held.append(packet)
            if isinstance(packet, Packet):
                self._vote(packet)
            if len(held) >= _VOTERS:
                waiting, held = held, None
                yield from self._decided(waiting)
        if held is not None:
            yield from self._decided(held)

    def _decided(self, held: Iterable[Packet | Item]) -> Iterator[Item]:
        if self.votes["little"] > self.votes["big"]:
            self.order = "little"
            yield Note("identifiers are little-endian, other than the format says; read as such")
        for packet in held:
            yield from self._item(packet)

    def _vote(self, packet: Packet) -> None:
        possible = _possible(packet.data[LINK_TYPES[packet.link] :][:4])
        if len(possible) == 1:
            self.votes[possible[0]] += 1

    def _item(self, packet: Packet | Item) -> Iterator[Item]:
        if isinstance(packet, Note):
            # A note that each packet would give is given once.
            if packet.text not in self.said:
                self.said.add(packet.text)
                yield packet
        elif isinstance(packet, Packet):
            item = self._frame(packet)
            if item is not None:
                yield item
        else:
            yield packet

    def _frame(self, packet: Packet) -> Item | None:
        skip = LINK_TYPES[packet.link]
        frame = packet.data[skip:]
        protocol, direction = _cooked(packet)
        if protocol not in (None, _CAN, _CAN_FD):
            return None  # another protocol on the same machine
        if len(frame) < 8:
            return self._broken(packet, "the frame is not whole")
        possible = _possible(frame[:4])
        if not possible:
            return self._broken(packet, "an identifier that is none in either byte order")
        order = self.order if self.order in possible else possible[0]
        word = int.from_bytes(frame[:4], order)
        length, flags = frame[4], frame[5]
        fd = protocol == _CAN_FD if protocol is not None else bool(flags & _FDF) or length > 8
        data = b"" if word & _REMOTE and not word & _ERROR else frame[8 : 8 + length]
        if length > (64 if fd else 8):
            return self._broken(packet, f"a frame of {length} bytes is none")
        if not word & _REMOTE and len(data) < length:
            return self._broken(packet, "the frame is not whole")
        extended = bool(word & _EXTENDED)
        return CanFrame(
            packet.time,
            packet.channel,
            word & _IDENT,
            extended,
            data,
            fd,
            direction,
            "error" if word & _ERROR else "remote" if word & _REMOTE else "data",
            packet.record,
        )

    def _broken(self, packet: Packet, why: str) -> Diagnostic:
        return Diagnostic(
            f"record {packet.record}, at byte {packet.offset}: {why}",
            Origin(self.file),
            "this record is left out",
        )


def _cooked(packet: Packet) -> tuple[int | None, Direction]:
    """The protocol, if the packet names one, and the direction."""
    data = packet.data
    if packet.link == _SOCKETCAN:
        return None, ""
    if packet.link == 113:
        kind, protocol = data[0:2], data[14:16]
    else:
        kind, protocol = data[10:11], data[0:2]
    direction: Direction = "tx" if int.from_bytes(kind, "big") == 4 else "rx"
    return int.from_bytes(protocol, "big"), direction


def _possible(word: bytes) -> list[Order]:
    """In which byte orders this is an identifier with its flags."""
    orders: tuple[Order, ...] = ("big", "little")
    return [order for order in orders if len(word) == 4 and _is_ident(int.from_bytes(word, order))]


def _is_ident(word: int) -> bool:
    if word & _ERROR:
        return not word & _EXTENDED and word & _IDENT <= 0x7FF
    return bool(word & _EXTENDED) or word & _IDENT <= 0x7FF
