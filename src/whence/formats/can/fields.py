"""The parameters of UDS and OBD messages, as ISO 14229-1 and SAE J1979 lay them out.

What no standard lays out (the value of a data identifier, say) stays bytes: hexadecimal digits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from whence.formats.can.services import (
    CONTROL_PARAMETERS,
    DATA_IDENTIFIERS,
    NEGATIVE_CODES,
    SUB_FUNCTIONS,
)
from whence.model.events import Field

__all__ = ["negative_fields", "request_fields", "response_fields"]


class _Reader:
    """Takes parameters from the front of a message."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0
        self.fields: list[Field] = []

    def left(self) -> int:
        return len(self.data) - self.at

    def number(self, name: str, size: int, names: Mapping[int, str] | None = None) -> int | None:
        """An integer of so many bytes, or None (and no field) if they are not all there."""
        if self.left() < size:
            return None
        value = int.from_bytes(self.data[self.at : self.at + size], "big")
        self.at += size
        self.fields.append(Field(name, value, (names or {}).get(value, "")))
        return value

    def rest(self, name: str) -> None:
        if self.left():
            self.fields.append(Field(name, self.data[self.at :].hex().upper()))
            self.at = len(self.data)

    def sized(self, name: str, size: int) -> None:
        """So many bytes as they are."""
        if size and self.left() >= size:
            self.fields.append(Field(name, self.data[self.at : self.at + size].hex().upper()))
            self.at += size


def _sub_function(reader: _Reader, service: int, asked: bool) -> int | None:
    if not reader.left():
        return None
    byte = reader.data[reader.at]
    reader.at += 1
    value = byte & 0x7F
    text = SUB_FUNCTIONS[service].get(value, "")
    if service == 0x27:
        text = "requestSeed" if value & 1 else "sendKey"
    reader.fields.append(Field("sub_function", value, text))
    if asked and byte & 0x80:
        reader.fields.append(Field("suppress_response", 1, "yes"))
    return value


def _address(reader: _Reader) -> None:
    """A memory address and a size, each as long as the byte before them says."""
    form = reader.number("address_and_length_format", 1)
    if form is None:
        return
    for name, size in (("memory_address", form & 15), ("memory_size", form >> 4)):
        if size:
            reader.number(name, size)


def _dtcs(reader: _Reader) -> None:
    reader.number("status_availability_mask", 1)
    while reader.left() >= 4:
        reader.number("dtc", 3)
        reader.number("status", 1)


#: Takes the parameters behind the service and the sub-function (None: the service has none).
Layout = Callable[[_Reader, int | None], None]


def _one(name: str, size: int, names: Mapping[int, str] | None = None) -> Layout:
    def layout(reader: _Reader, _: int | None) -> None:
        reader.number(name, size, names)

    return layout


def _several(name: str, size: int) -> Layout:
    """As many identifiers as there are."""

    def layout(reader: _Reader, _: int | None) -> None:
        while reader.number(name, size, DATA_IDENTIFIERS if size == 2 else None) is not None:
            pass

    return layout


def _session(reader: _Reader, _: int | None) -> None:
    reader.number("p2_server_max", 2)
    reader.number("p2_star_server_max", 2)


def _memory(reader: _Reader, _: int | None) -> None:
    _address(reader)


def _frozen(reader: _Reader, _: int | None) -> None:
    reader.number("pid", 1)
    reader.number("frame", 1)


def _read_dtc_request(reader: _Reader, sub: int | None) -> None:
    if sub in (0x01, 0x02, 0x17):
        reader.number("status_mask", 1)
    elif sub in (0x04, 0x06):
        reader.number("dtc", 3)
        reader.number("record", 1)


def _read_dtc_response(reader: _Reader, sub: int | None) -> None:
    if sub == 0x01:
        reader.number("status_availability_mask", 1)
        reader.number("dtc_format", 1)
        reader.number("count", 2)
    elif sub in (0x02, 0x0A, 0x0B, 0x0C, 0x0D, 0x0E, 0x15):
        _dtcs(reader)


def _security(reader: _Reader, sub: int | None) -> None:
    reader.rest("key" if sub is not None and sub % 2 == 0 else "parameters")


def _seed(reader: _Reader, sub: int | None) -> None:
    reader.rest("seed" if sub is not None and sub % 2 else "parameters")


def _data(reader: _Reader, _: int | None) -> None:
    reader.number("did", 2, DATA_IDENTIFIERS)
    reader.rest("data")


def _control(reader: _Reader, _: int | None) -> None:
    reader.number("did", 2, DATA_IDENTIFIERS)
    reader.number("control", 1, CONTROL_PARAMETERS)
    reader.rest("state")


def _routine(reader: _Reader, _: int | None) -> None:
    reader.number("routine", 2)
    reader.rest("record")


def _transfer(reader: _Reader, _: int | None) -> None:
    reader.number("data_format", 1)
    _address(reader)


def _block_length(reader: _Reader, _: int | None) -> None:
    form = reader.number("length_format", 1)
    if form is not None and form >> 4:
        reader.number("max_block_length", form >> 4)


def _block(reader: _Reader, _: int | None) -> None:
    reader.number("block", 1)
    reader.rest("data")


def _file(reader: _Reader, _: int | None) -> None:
    reader.number("operation", 1)


_REQUESTS: Final[Mapping[int, Layout]] = {
    0x14: _one("group", 3),
    0x19: _read_dtc_request,
    0x22: _several("did", 2),
    0x23: _memory,
    0x24: _several("did", 2),
    0x27: _security,
    0x28: _one("communication_type", 1),
    0x2A: _one("transmission_mode", 1),
    0x2C: _one("did", 2),
    0x2E: _data,
    0x2F: _control,
    0x31: _routine,
    0x34: _transfer,
    0x35: _transfer,
    0x36: _block,
    0x38: _file,
    0x3D: _memory,
    0x01: _several("pid", 1),
    0x02: _frozen,
    0x05: _one("pid", 1),
    0x06: _several("mid", 1),
    0x08: _one("tid", 1),
    0x09: _one("info", 1),
}

_RESPONSES: Final[Mapping[int, Layout]] = {
    0x10: _session,
    0x11: _one("power_down_time", 1),
    0x19: _read_dtc_response,
    0x22: _data,
    0x24: _data,
    0x27: _seed,
    0x2C: _one("did", 2),
    0x2E: _one("did", 2, DATA_IDENTIFIERS),
    0x2F: _control,
    0x31: _routine,
    0x34: _block_length,
    0x35: _block_length,
    0x36: _block,
    0x38: _file,
    0x3D: _memory,
    0x01: _one("pid", 1),
    0x02: _frozen,
    0x06: _one("mid", 1),
    0x09: _one("info", 1),
}


def request_fields(payload: bytes) -> tuple[Field, ...]:
    """The parameters of a request, whose first byte is the service."""
    return _fields(payload[0], payload[1:], _REQUESTS, True)


def response_fields(payload: bytes) -> tuple[Field, ...]:
    """The parameters of a positive response, whose first byte is the service plus 0x40."""
    return _fields(payload[0] - 0x40, payload[1:], _RESPONSES, False)


def _fields(
    service: int, data: bytes, layouts: Mapping[int, Layout], asked: bool
) -> tuple[Field, ...]:
    reader = _Reader(data)
    sub = _sub_function(reader, service, asked) if service in SUB_FUNCTIONS else None
    layout = layouts.get(service)
    if layout is not None:
        layout(reader, sub)
    reader.rest("data")
    return tuple(reader.fields)


def negative_fields(payload: bytes) -> tuple[Field, ...]:
    """Of a negative response (0x7F, service, code): why."""
    reader = _Reader(payload[2:])
    reader.number("code", 1, NEGATIVE_CODES)
    reader.rest("data")
    return tuple(reader.fields)
