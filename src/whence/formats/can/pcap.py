"""Captures of CAN frames: pcap and pcapng, in either byte order.

Frames stand in packets of link type 227 (CAN_SOCKETCAN), 113 or 276 (Linux cooked capture, with
protocol 0x000C or 0x000D). An identifier should be big-endian, but some programs write it as their
machine has it: see :class:`whence.formats.can.socketcan.Decoder`.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, Final, Literal

from whence.formats.can.lines import Item, Note, annotation, shown
from whence.formats.can.socketcan import LINK_TYPES, Decoder, Packet
from whence.model.events import NANO
from whence.source import Diagnostic, Origin, UnsupportedError

__all__ = ["PCAPNG_MAGIC", "PCAP_MAGICS", "read_pcap", "read_pcapng"]

Order = Literal["<", ">"]

#: The magic number, as it stands in the file: byte order, nanoseconds of the unit of dates.
PCAP_MAGICS: Final[dict[bytes, tuple[Order, int]]] = {
    b"\xd4\xc3\xb2\xa1": ("<", 1000),
    b"\xa1\xb2\xc3\xd4": (">", 1000),
    b"\x4d\x3c\xb2\xa1": ("<", 1),
    b"\xa1\xb2\x3c\x4d": (">", 1),
}
PCAPNG_MAGIC: Final = b"\x0a\x0d\x0d\x0a"
#: Nothing on a CAN bus comes near it: a larger packet is a broken record.
_LARGEST: Final = 1 << 18
_EPOCH: Final = Note("dates count from 1970-01-01, UTC")


def _broken(file: str, record: int, offset: int, why: str, hint: str = "") -> Diagnostic:
    return Diagnostic(f"record {record}, at byte {offset}: {why}", Origin(file), hint)


def _refuse_link_type(file: str, link: int) -> None:
    if link not in LINK_TYPES:
        raise UnsupportedError(
            Diagnostic(
                f"packets of link type {link} are not supported",
                Origin(file),
                "CAN frames have link type 227 (CAN_SOCKETCAN), 113 or 276 (Linux cooked)",
            )
        )


def _exactly(stream: BinaryIO, count: int) -> bytes:
    """So many bytes, or fewer at the end of the file."""
    data = stream.read(count)
    while len(data) < count:
        more = stream.read(count - len(data))
        if not more:
            break
        data += more
    return data


# ------------------------------------------------------------------------------------------ pcap


def read_pcap(stream: BinaryIO, file: str) -> Iterator[Item]:
    yield _EPOCH
    yield from Decoder(file).items(_pcap_packets(stream, file))


def _pcap_packets(stream: BinaryIO, file: str) -> Iterator[Packet | Item]:
    header = _exactly(stream, 24)
    if len(header) < 24 or header[:4] not in PCAP_MAGICS:
        yield _broken(file, 0, 0, "the header of the file is not whole")
        return
    order, unit = PCAP_MAGICS[header[:4]]
    # The upper bits say whether packets end in a checksum.
    link = struct.unpack(f"{order}I", header[20:])[0] & 0x0FFFFFFF
    _refuse_link_type(file, link)
    unpack = struct.Struct(f"{order}IIII").unpack
    offset, record = 24, 0
    while head := _exactly(stream, 16):
        record += 1
        if len(head) < 16:
            yield _broken(file, record, offset, "the file ends inside of a record")
            return
        seconds, small, captured, _ = unpack(head)
        if captured > _LARGEST:
            yield _broken(
                file, record, offset, f"a record of {captured} bytes is none",
                "what follows it cannot be found",
            )  # fmt: skip
            return
        data = _exactly(stream, captured)
        if len(data) < captured:
            yield _broken(file, record, offset, "the file ends inside of a record")
            return
        yield Packet(seconds * NANO + small * unit, "", link, data, record, offset)
        offset += 16 + captured


# ---------------------------------------------------------------------------------------- pcapng


@dataclass(slots=True)
class _Interface:
    link: int
    name: str = ""
    #: A date counts so many parts of a second.
    parts: int = 1_000_000
    since: int = 0


@dataclass(slots=True)
class _Section:
    order: Order = "<"
    interfaces: list[_Interface] = field(default_factory=list)


_SECTION, _INTERFACE, _OLD_PACKET, _SIMPLE, _ENHANCED = 0x0A0D0D0A, 1, 2, 3, 6


def read_pcapng(stream: BinaryIO, file: str) -> Iterator[Item]:
    yield _EPOCH
    yield from Decoder(file).items(_pcapng_packets(stream, file))


def _pcapng_packets(stream: BinaryIO, file: str) -> Iterator[Packet | Item]:
    section, offset, record = _Section(), 0, 0
    while head := _exactly(stream, 8):
        record += 1
        if len(head) == 8 and head[:4] == PCAPNG_MAGIC:
            magic = _exactly(stream, 4)
            order: Order = "<" if magic == b"\x4d\x3c\x2b\x1a" else ">"
            if magic not in (b"\x4d\x3c\x2b\x1a", b"\x1a\x2b\x3c\x4d"):
                yield _broken(file, record, offset, "a section without its byte order")
                return
            section, head = _Section(order), head + magic
        if len(head) < 8:
            yield _broken(file, record, offset, "the file ends inside of a block")
            return
        kind, length = struct.unpack(f"{section.order}II", head[:8])
        if length < 12 or length % 4 or length > _LARGEST:
            yield _broken(
                file, record, offset, f"a block of {length} bytes is none",
                "what follows it cannot be found",
            )  # fmt: skip
            return
        body = head[8:] + _exactly(stream, length - len(head))
        if len(body) < length - 8:
            yield _broken(file, record, offset, "the file ends inside of a block")
            return
        if body[-4:] != head[4:8]:
            yield _broken(file, record, offset, "a block that does not end as it starts")
            return
        try:
            yield from _block(section, kind, body[:-4], file, record, offset)
        except (struct.error, IndexError):
            yield _broken(file, record, offset, "the block is too short for what it holds")
        offset += length


def _block(
    section: _Section, kind: int, body: bytes, file: str, record: int, offset: int
) -> Iterator[Packet | Item]:
    order = section.order
    if kind == _INTERFACE:
        section.interfaces.append(_interface(section, body))
    elif kind in (_ENHANCED, _OLD_PACKET):
        if kind == _ENHANCED:
            number, high, low, captured, _ = struct.unpack(f"{order}IIIII", body[:20])
        else:
            number, _, high, low, captured, _ = struct.unpack(f"{order}HHIIII", body[:20])
        interface = section.interfaces[number]
        _refuse_link_type(file, interface.link)
        if captured > len(body) - 20:
            raise IndexError
        ticks = (high << 32) + low
        time = interface.since * NANO + ticks * NANO // interface.parts
        if interface.parts > NANO and ticks * NANO % interface.parts:
            yield Note("dates finer than nanoseconds are rounded down to nanoseconds")
        for code, value in _options(order, body[20 + (captured + 3) // 4 * 4 :]):
            if code == 1:
                yield annotation(file, record, value.decode("latin-1"), time)
        yield Packet(
            time, interface.name, interface.link, body[20 : 20 + captured], record, offset
        )  # fmt: skip
    elif kind == _SIMPLE:
        interface = section.interfaces[0]
        _refuse_link_type(file, interface.link)
        (length,) = struct.unpack(f"{order}I", body[:4])
        yield Packet(None, interface.name, interface.link, body[4 : 4 + length], record, offset)


def _interface(section: _Section, body: bytes) -> _Interface:
    (link,) = struct.unpack(f"{section.order}H", body[:2])
    interface = _Interface(link, str(len(section.interfaces)))
    for code, value in _options(section.order, body[8:]):
        if code == 2 and value:
            interface.name = shown(value.decode("latin-1"))
        elif code == 9 and value:
            # The upper bit says whether the exponent is one of 2 or of 10.
            base = 2 if value[0] & 0x80 else 10
            interface.parts = base ** (value[0] & 0x7F)
        elif code == 14 and len(value) == 8:
            (interface.since,) = struct.unpack(f"{section.order}q", value)
    return interface


def _options(order: Order, data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 4 <= len(data):
        code, length = struct.unpack(f"{order}HH", data[at : at + 4])
        if code == 0:
            return
        yield code, data[at + 4 : at + 4 + length]
        at += 4 + (length + 3) // 4 * 4
