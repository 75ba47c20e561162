"""Who talks to whom: pairs of addresses as people write them, and as a log shows them.

Conventions name some pairs: 0x7E0 to 0x7E7 with the answer 8 higher and requests to all at 0x7DF
(ISO 15765-4), 0x18DAxxyy with xx and yy exchanged and requests to all at 0x18DBxxyy (normal fixed
addressing), and 0x18CExxyy, 0x18CDxxyy in the same way with an address byte (mixed addressing).
Other pairs are learned: what one address asks (a service with some parameter), another one answers
(the service plus 0x40, or 0x7F and the service), or steers by flow control. An identifier takes
part only if nearly all its frames can be frames of ISO 15765-2.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable
from typing import Final

from whence.formats.can.services import is_request_service, repeats
from whence.model.events import Address, AddressPair, CanFrame
from whence.source import Diagnostic, UsageError

__all__ = ["Survey", "parse_pair", "surveyed"]

_ADDRESS: Final = re.compile(
    r"(?:0x)?(?P<ident>[0-9A-Fa-f]{1,8})(?P<x>x?)(?:/(?:0x)?(?P<extension>[0-9A-Fa-f]{1,2}))?",
    re.ASCII,
)


def parse_pair(text: str) -> AddressPair:
    """`7E0:7E8`, `18DA10F1:18DAF110`, `6F1/12:612/F1`; without an answer (`7DF:`), to all."""
    request, colon, response = text.strip().partition(":")
    asked = _address(request)
    answered = _address(response) if response else None
    if not colon or asked is None or (response and answered is None) or asked == answered:
        raise UsageError(
            Diagnostic(
                f"`{text}` is not a pair of addresses",
                hint="write REQUEST:RESPONSE in hexadecimal, such as 7E0:7E8, 18DA10F1:18DAF110 "
                "or, with address bytes, 6F1/12:612/F1; `7DF:` is a request to all",
            )
        )
    return AddressPair(asked, answered)


def _address(text: str) -> Address | None:
    found = _ADDRESS.fullmatch(text.strip())
    if found is None:
        return None
    ident = int(found["ident"], 16)
    extended = bool(found["x"]) or len(found["ident"]) > 3 or ident > 0x7FF
    if ident > 0x1FFFFFFF:
        return None
    extension = None if found["extension"] is None else int(found["extension"], 16)
    return Address(ident, extended, extension)


# ------------------------------------------------------------------------------------ conventions

_FIXED, _FIXED_ALL, _MIXED, _MIXED_ALL = 0x18DA, 0x18DB, 0x18CE, 0x18CD
#: The address of testers: requests come from there.
_TESTERS: Final = range(0xF0, 0xFE)


def _partner(address: Address) -> Address | None:
    """Who answers there, or asks, if a convention says so."""
    ident = address.ident
    if not address.extended:
        if 0x7E0 <= ident <= 0x7E7:
            return Address(ident + 8)
        return Address(ident - 8) if 0x7E8 <= ident <= 0x7EF else None
    if ident >> 16 in (_FIXED, _MIXED):
        swapped = ident & 0x1FFF0000 | (ident & 0xFF) << 8 | ident >> 8 & 0xFF
        return Address(swapped, True, address.extension)
    return None


def _is_conventional_request(address: Address) -> bool:
    ident = address.ident
    if not address.extended:
        return 0x7DF <= ident <= 0x7E7
    return ident & 0xFF in _TESTERS and ident >> 8 & 0xFF not in _TESTERS


def _is_to_all(address: Address) -> bool:
    if not address.extended:
        return address.ident == 0x7DF
    return address.ident >> 16 in (_FIXED_ALL, _MIXED_ALL)


def _is_mixed(frame: CanFrame) -> bool:
    return frame.extended and frame.ident >> 16 in (_MIXED, _MIXED_ALL)


# ----------------------------------------------------------------------------------------- survey

Key = tuple[str, int, bool, int | None]

#: So many frames that cannot be of ISO 15765-2 are forgiven, and one of so many.
_FORGIVEN: Final = 2
_SHARE: Final = 20
#: So many addresses are remembered with their last request.
_RECENT: Final = 16


class _Speaker:
    """What was seen of one address."""

    __slots__ = ("address", "bad", "good", "requests", "responses", "starting")

    def __init__(self, address: Address) -> None:
        self.address = address
        self.good = 0
        self.bad = 0
        self.requests = 0
        self.responses = 0
        #: Whether the last frame was a first frame: the next flow control is for it.
        self.starting = False

    def is_out(self) -> bool:
        return self.bad > _FORGIVEN and self.bad * _SHARE > self.good

    def is_clean(self) -> bool:
        return self.bad * _SHARE <= self.good


class Survey:
    """Watches all frames of a log and tells who talks to whom."""

    def __init__(self) -> None:
        self.speakers: dict[Key, _Speaker] = {}
        #: Identifiers of which it is known that they are something else.
        self.out: set[tuple[str, int, bool]] = set()
        #: The last request of each address, the latest last: service and start of its parameters.
        self.recent: OrderedDict[Key, tuple[int, bytes]] = OrderedDict()
        #: Who sent a first frame last, and waits for flow control.
        self.waiting: Key | None = None
        self.answered: dict[tuple[Key, Key], int] = {}
        self.steered: dict[tuple[Key, Key], int] = {}

    def see(self, frame: CanFrame) -> None:
        name = (frame.channel, frame.ident, frame.extended)
        if name in self.out or frame.kind != "data":
            return
        data = frame.data
        at = 1 if _is_mixed(frame) else 0
        extension = data[0] if at and data else None
        key = (*name, extension)
        speaker = self.speakers.get(key)
        if speaker is None:
            address = Address(frame.ident, frame.extended, extension)
            speaker = self.speakers[key] = _Speaker(address)
        if not self._understood(key, speaker, data, at):
            speaker.bad += 1
            if speaker.is_out() and not at:
                self.out.add(name)
                del self.speakers[key]
                self.recent.pop(key, None)
        else:
            speaker.good += 1

    def _understood(self, key: Key, speaker: _Speaker, data: bytes, at: int) -> bool:
        if len(data) <= at:
            return False
        kind, low = data[at] >> 4, data[at] & 15
        if kind == 0:
            start = at + 1
            if low == 0 and len(data) > 8:
                low, start = data[at + 1], at + 2
            payload = data[start : start + low]
            return 0 < low == len(payload) and self._message(key, speaker, payload)
        if kind == 1:
            if len(data) < 8:
                return False
            length, start = low << 8 | data[at + 1], at + 2
            if length == 0:
                length, start = int.from_bytes(data[at + 2 : at + 6], "big"), at + 6
            if length <= len(data) - start:
                return False
            self.waiting = key
            return self._message(key, speaker, data[start:])
        if kind == 2:
            return speaker.good > 0 and len(data) > at + 1
        if kind == 3:
            if low > 2 or len(data) < at + 3:
                return False
            if self.waiting is not None and self.waiting[0] == key[0] and self.waiting != key:
                pair = (self.waiting, key)
                self.steered[pair] = self.steered.get(pair, 0) + 1
                self.waiting = None
            return True
        return False

    def _message(self, key: Key, speaker: _Speaker, payload: bytes) -> bool:
        """Whether this can be how a request or an answer starts; remembers or credits it."""
        service = payload[0]
        if service == 0x7F:
            if len(payload) < 3:
                return False
            speaker.responses += 1
            self._credit(key, payload[1], b"")
            return True
        if service & 0x40:
            speaker.responses += 1
            self._credit(key, service - 0x40, payload[1:])
            return is_request_service(service - 0x40)
        speaker.requests += 1
        if is_request_service(service):
            self.recent[key] = (service, payload[1:4])
            self.recent.move_to_end(key)
            if len(self.recent) > _RECENT:
                self.recent.popitem(last=False)
        # Services of a manufacturer count neither for the address nor against it.
        return is_request_service(service) or speaker.good > 0

    def _credit(self, key: Key, service: int, start: bytes) -> None:
        """The latest request with this service, and with what an answer repeats, was answered."""
        for asker, (asked, parameters) in reversed(self.recent.items()):
            if asker == key or asker[0] != key[0] or asked != service:
                continue
            if not repeats(service, parameters, start):
                continue
            pair = (asker, key)
            self.answered[pair] = self.answered.get(pair, 0) + 1
            return

    # ---------------------------------------------------------------------------------- answers

    def pairs(self) -> tuple[AddressPair, ...]:
        """All pairs that were seen, sorted; requests to all behind the others."""
        found: dict[AddressPair, None] = {}
        for speaker in self.speakers.values():
            address = speaker.address
            partner = _partner(address)
            if not speaker.is_clean() or not speaker.requests + speaker.responses:
                continue
            if _is_to_all(address):
                found[AddressPair(address, None)] = None
            elif partner is not None and _is_conventional_request(address):
                found[AddressPair(address, partner)] = None
            elif partner is not None and _is_conventional_request(partner):
                found[AddressPair(partner, address)] = None
        known = {pair.request for pair in found} | {pair.response for pair in found}
        for (asker, answerer), count in self.answered.items():
            if self._is_pair(asker, answerer, count):
                request, response = (self.speakers[key].address for key in (asker, answerer))
                # A convention says more than a coincidence.
                if request not in known or response not in known:
                    found[AddressPair(request, response)] = None
        return tuple(sorted(found, key=_order))

    def _is_pair(self, asker: Key, answerer: Key, count: int) -> bool:
        one, other = self.speakers.get(asker), self.speakers.get(answerer)
        if one is None or other is None or not (one.is_clean() and other.is_clean()):
            return False
        if one.responses * 10 > one.requests or other.requests * 10 > other.responses:
            return False
        if self.steered.get((asker, answerer)) or self.steered.get((answerer, asker)):
            return True
        return 2 * count > one.requests or 5 * count >= other.responses


def _order(pair: AddressPair) -> list[int]:
    request, response = pair.request, pair.response
    numbers = [response is None, request.extended, request.ident, request.extension or 0]
    if response is not None:
        numbers += [response.ident, response.extension or 0]
    return [int(number) for number in numbers]


def surveyed(frames: Iterable[CanFrame]) -> tuple[AddressPair, ...]:
    survey = Survey()
    for frame in frames:
        survey.see(frame)
    return survey.pairs()
