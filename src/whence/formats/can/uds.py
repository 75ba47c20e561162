"""Events out of messages: requests, and the responses that belong to them (ISO 14229-1, -2).

A response belongs to the last request to its ECU, or to all, with the same service: preferably to
one whose parameters it repeats. "Response pending" (negative response code 0x78) leaves the request
open. A positive response that is suppressed, or that nobody waits for, is no error here: whether it
should have come is for the model to say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from whence.formats.can.fields import negative_fields, request_fields, response_fields
from whence.formats.can.isotp import LogMessage
from whence.formats.can.services import PENDING, repeats, service_name
from whence.model.events import NANO, Address, AddressPair, BusEvent, EventKind, Field
from whence.source import Origin

__all__ = ["Decoded", "Matcher", "Names", "seconds"]

#: So many requests of one tester are remembered that were not answered.
_OPEN = 4


@dataclass(frozen=True, slots=True)
class Decoded:
    """What a database says about a message."""

    name: str
    fields: tuple[Field, ...]


#: Asked for a message of a pair and, if it is a response, the request that it answers. None: the
#: database does not know it.
Names = Callable[[AddressPair, bytes, bytes | None], Decoded | None]


def seconds(time: int | None) -> Fraction | None:
    return None if time is None else Fraction(time, NANO)


@dataclass(slots=True)
class _Request:
    index: int
    payload: bytes
    pair: AddressPair


class Matcher:
    """Takes messages in the order of the log; gives one event for each."""

    def __init__(self, pairs: Iterable[AddressPair], file: str = "", names: Names | None = None):
        self.pairs = tuple(pairs)
        self.file = file
        self.names = names
        self.count = 0
        responses = [pair.response for pair in self.pairs if pair.response is not None]
        #: Who can answer a request, by its address; and the pairs that an address belongs to.
        self.answerers: dict[Address, list[Address]] = {}
        self.asking: dict[Address, AddressPair] = {}
        self.answering: dict[Address, AddressPair] = {}
        for pair in self.pairs:
            self.asking.setdefault(pair.request, pair)
            heard = self.answerers.setdefault(pair.request, [])
            heard += responses if pair.response is None else [pair.response]
            if pair.response is not None:
                self.answering.setdefault(pair.response, pair)
        #: By channel and answerer: by tester, the requests that wait, the latest last.
        self.waiting: dict[tuple[str, Address], dict[Address, list[_Request]]] = {}

    def event(self, message: LogMessage) -> BusEvent:
        if message.error:
            event = self._told(message, "error", self._pair(message.address))
        elif message.address in self.asking:
            event = self._request(message)
        else:
            event = self._response(message)
        self.count += 1
        return event

    def events(self, messages: Iterable[LogMessage]) -> Iterator[BusEvent]:
        return map(self.event, messages)

    # --------------------------------------------------------------------------------- requests

    def _request(self, message: LogMessage) -> BusEvent:
        pair = self.asking[message.address]
        payload = message.payload
        if payload[0] & 0x40:
            return self._told(message, "other", pair)
        request = _Request(self.count, payload, pair)
        for answerer in self.answerers[message.address]:
            waiting = self.waiting.setdefault((message.channel, answerer), {})
            requests = waiting.setdefault(message.address, [])
            requests.append(request)
            del requests[:-_OPEN]
        known = self.names(pair, payload, None) if self.names is not None else None
        return self._told(message, "request", pair, payload[0], known or _own(payload))

    # -------------------------------------------------------------------------------- responses

    def _response(self, message: LogMessage) -> BusEvent:
        payload, address = message.payload, message.address
        negative = payload[0] == 0x7F
        if not payload[0] & 0x40 or (negative and len(payload) < 3):
            return self._told(message, "other", self._pair(address))
        service = payload[1] if negative else payload[0] - 0x40
        pending = negative and payload[2] == PENDING
        request = self._answered(message.channel, address, service, payload, negative, pending)
        pair = self._pair(address) if request is None else self._of(request.pair, address)
        kind: EventKind = "pending" if pending else "negative" if negative else "positive"
        known = None
        if self.names is not None and pair is not None:
            known = self.names(pair, payload, b"" if request is None else request.payload)
        return self._told(
            message, kind, pair, service, known or _own(payload),
            None if request is None else request.index,
        )  # fmt: skip

    def _answered(
        self, channel: str, address: Address, service: int, payload: bytes, negative: bool,
        pending: bool,
    ) -> _Request | None:  # fmt: skip
        waiting = self.waiting.get((channel, address))
        if not waiting:
            return None
        chosen: tuple[bool, int, Address] | None = None
        for tester, requests in waiting.items():
            for request in requests:
                if request.payload[0] == service:
                    same = negative or repeats(service, request.payload[1:], payload[1:])
                    rank = (same, request.index, tester)
                    if chosen is None or rank[:2] > chosen[:2]:
                        chosen = rank
        if chosen is None:
            return None
        _, index, tester = chosen
        requests = waiting[tester]
        at = next(at for at, request in enumerate(requests) if request.index == index)
        request = requests[at]
        if not pending:
            # An ECU answers in order: what came before has no answer.
            del requests[: at + 1]
        return request

    def _of(self, pair: AddressPair, address: Address) -> AddressPair:
        """The pair of a request and who answered it: one to all has no answerer of its own."""
        return AddressPair(pair.request, address) if pair.response is None else pair

    def _pair(self, address: Address) -> AddressPair | None:
        return self.asking.get(address) or self.answering.get(address)

    # ------------------------------------------------------------------------------------ events

    def _told(
        self,
        message: LogMessage,
        kind: EventKind,
        pair: AddressPair | None,
        service: int | None = None,
        known: Decoded | None = None,
        answers: int | None = None,
    ) -> BusEvent:
        first = seconds(message.first)
        last = first if message.last == message.first else seconds(message.last)
        return BusEvent(
            kind,
            first,
            last,
            known.name if known is not None else "",
            str(pair) if pair is not None else "",
            service,
            known.fields if known is not None else (),
            message.payload,
            answers,
            message.error,
            pair,
            message.channel,
            Origin(self.file, message.record, 1),
        )


def _own(payload: bytes) -> Decoded:
    """What the standards say about a request or a response."""
    if payload[0] == 0x7F:
        return Decoded(service_name(payload[1]), negative_fields(payload))
    if payload[0] & 0x40:
        return Decoded(service_name(payload[0] - 0x40), response_fields(payload))
    return Decoded(service_name(payload[0]), request_fields(payload))
