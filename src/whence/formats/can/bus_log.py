"""What was seen of a system, as the log of a diagnostic bus: what candump would have written.

Messages are segmented as ISO 15765-2 says, with 8-byte frames, padded with 0x55. The receiver
allows the rest of a long message at once. All frames of a message have its date.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from whence.model.bus_map import SERVICE, BusMap, Field, Spoken
from whence.model.test_run import Seen
from whence.source import Diagnostic, InputError

__all__ = ["bus_log", "isotp_frames"]

_PAD: Final = 0x55
_SINGLE: Final = 7
#: The receiver's "go on": no limit, no pause.
_CONTINUE: Final = bytes((0x30, 0, 0))


def isotp_frames(payload: bytes) -> Iterator[tuple[bool, bytes]]:
    """The frames of a message: whether the sender sends it (not the receiver), and its data."""
    if len(payload) <= _SINGLE:
        yield True, _padded(bytes((len(payload),)) + payload)
        return
    if len(payload) > 0xFFF:
        raise ValueError("a message has 4095 bytes at most")
    yield True, bytes((0x10 | len(payload) >> 8, len(payload) & 0xFF)) + payload[:6]
    yield False, _padded(_CONTINUE)
    for number, at in enumerate(range(6, len(payload), 7), 1):
        yield True, _padded(bytes((0x20 | number & 0xF,)) + payload[at : at + 7])


def _padded(data: bytes) -> bytes:
    return data + bytes((_PAD,)) * (8 - len(data))


def bus_log(
    seen: Iterable[Seen],
    map_: BusMap,
    numbers: Mapping[str, Mapping[str, int]],
    comments: Iterable[tuple[int, str]] = (),
) -> str:
    """`seen` in the order of time; `numbers`: of values that are names, by signal. `comments` are
    put behind what happened at their date. Raises InputError where a value has no message."""
    writer = _Writer(map_, numbers)
    by_date: dict[int, list[Seen]] = {}
    for one in seen:
        by_date.setdefault(one.time, []).append(one)
    said: dict[int, list[str]] = {}
    for date, text in comments:
        said.setdefault(date, []).append(text)
    lines: list[str] = []
    for date in sorted({*by_date, *said}):
        lines += writer.at(date, by_date.get(date, ()))
        lines += (f"# {text}" for text in said.get(date, ()))
    return "".join(f"{line}\n" for line in lines)


class _Writer:
    def __init__(self, map_: BusMap, numbers: Mapping[str, Mapping[str, int]]) -> None:
        self.map = map_
        self.numbers = numbers
        self.values: dict[str, str] = {}
        self.request = ""
        self.service = 0
        self.awaited = False

    def at(self, date: int, seen: Iterable[Seen]) -> Iterator[str]:
        """If there is an answer and a request at one date, the answer is to the request before,
        unless that has one."""
        changes = list(seen)
        before = dict(self.values)
        given = {one.name: one.value for one in changes if one.given}
        self.values |= {one.name: one.value for one in changes if not one.given}
        answer = self._changed(self.map.answers, before)
        if answer is not None and self.awaited:
            yield from self._answer(date, answer)
            answer = None
        self.values |= given
        for name, texts in self.map.comments.items():
            value = given.get(name)
            if value is not None and value != before.get(name) and value in texts:
                yield f"# {texts[value]}"
        request = self._changed(self.map.requests, before)
        if request is not None:
            self.request = request
            payload = self._payload(self.map.requests, request)
            self.service = payload[0]
            self.awaited = True
            yield from self._frames(date, payload, self.map.tester, self.map.ecu)
        if answer is not None:
            yield from self._answer(date, answer)

    def _answer(self, date: int, answer: str) -> Iterator[str]:
        self.awaited = False
        payload = self._payload(self.map.answers, answer)
        return self._frames(date, payload, self.map.ecu, self.map.tester)

    def _changed(self, spoken: Spoken, before: Mapping[str, str]) -> str | None:
        now = self.values.get(spoken.signal, spoken.idle)
        if now == spoken.idle or now == before.get(spoken.signal, spoken.idle):
            return None
        return now

    def _payload(self, spoken: Spoken, value: str) -> bytes:
        parts = spoken.messages.get((value, self.request))
        if parts is None:
            parts = spoken.messages.get((value, ""))
        if parts is None:
            to = f" to the request `{self.request}`" if spoken is self.map.answers else ""
            raise InputError(
                Diagnostic(
                    f"`{spoken.signal}` was {value}{to}, for which there is no message",
                    spoken.origin,
                )
            )
        return b"".join(map(self._bytes, parts))

    def _bytes(self, part: int | Field) -> bytes:
        if isinstance(part, int):
            return bytes((part,))
        if part.name == SERVICE and SERVICE not in self.values:
            return bytes((self.service,))
        text = self.values.get(part.name, "0")
        number = self.numbers.get(part.name, {}).get(text)
        if number is None:
            number = {"true": 1, "false": 0}.get(text)
        if number is None:
            number = int(text)
        return (number % (1 << 8 * part.bytes)).to_bytes(part.bytes, "big")

    def _frames(self, date: int, payload: bytes, sender: int, receiver: int) -> Iterator[str]:
        width = 8 if self.map.extended else 3
        for own, data in isotp_frames(payload):
            ident = sender if own else receiver
            yield (
                f"({date // 1000:010d}.{date % 1000:03d}000) {self.map.channel} "
                f"{ident:0{width}X}#{data.hex().upper()}"
            )
