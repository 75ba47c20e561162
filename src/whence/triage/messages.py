"""The messages of a service: its request, asked for a response or not, and what answers it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from whence.expr.scope import Problem
from whence.formats.can.services import repeated
from whence.formats.prd.patterns import (
    PAYLOAD,
    captures,
    label,
    parse_message,
    payload_pattern,
    without,
)
from whence.formats.prd.payloads import Captures, OneOf, Payload, written
from whence.model.ecu import Service
from whence.model.prd import EventPattern, FieldPattern
from whence.source import SourceText

__all__ = [
    "SUPPRESSED",
    "TO_ALL",
    "TO_ONE",
    "UNKNOWN",
    "UNKNOWN_REFUSED",
    "Request",
    "both",
    "codes_text",
    "negative",
    "pending",
    "positive",
    "read_request",
    "response",
    "silent_to_all",
]

#: A request that was sent to all ECUs, or to this one.
TO_ALL = EventPattern(fields=(FieldPattern("to_all", frozenset((1,))),), text="to_all=1")
TO_ONE = EventPattern(unless=(TO_ALL,), text="not to_all")
#: A request for a service that is described by its fields and wants no positive response.
SUPPRESSED = EventPattern(
    fields=(FieldPattern("suppress_response", frozenset((1,))),), text="suppress_response=1"
)
#: The bit of a sub-function that says the same in bytes.
_SUPPRESS = 0x80
#: The largest number that an unrestricted field has, if it is kept.
_LARGEST = (1 << 32) - 1


@dataclass(frozen=True, slots=True)
class Request:
    """`plain` wants a response, `quiet` none if it would be positive (None: it cannot be asked so).
    `ranges`: what the captured values may be. `service` and `payload`: its number and
    the bytes of `plain`, if requests are bytes."""

    name: str
    plain: EventPattern
    quiet: EventPattern | None
    ranges: dict[str, tuple[int, int]]
    service: int | None = None
    payload: Payload | None = None

    def whole(self) -> tuple[EventPattern, ...]:
        return (self.plain,) if self.quiet is None else (self.plain, self.quiet)


def read_request(service: Service) -> Request:
    """Raises Problem."""
    source = service.request
    found = parse_message(source, "req")
    payload = found.payload
    if payload is None:
        plain, quiet = found.pattern, None
        if service.suppressible:
            quiet = EventPattern(plain.labels, (*plain.fields, *SUPPRESSED.fields), (),
                                 plain.unless, plain.text)  # fmt: skip
            plain = without(plain, SUPPRESSED)
        return Request(found.name, plain, quiet, _field_ranges(found.pattern.fields))
    ranges = {part.name: part.ends() for part in payload.parts if isinstance(part, Captures)}
    number = payload.first()
    if not service.suppressible:
        return Request(found.name, found.pattern, None, ranges, number, payload)
    part = payload.parts[1] if len(payload.parts) > 1 else None
    if not isinstance(part, OneOf) or part.values & set(range(_SUPPRESS, 256)) not in (
        set(),
        set(range(_SUPPRESS, 256)),
    ):
        raise Problem(
            "only a request with a sub-function below 80 can ask for no response",
            source.origin(0, len(source.text)),
        )
    low = frozenset(value for value in part.values if value < _SUPPRESS)

    def variant(bits: int) -> Payload:
        sub = OneOf(frozenset(value | bits for value in low))
        return Payload((payload.parts[0], sub, *payload.parts[2:]), payload.rest)

    loud, silent = variant(0), variant(_SUPPRESS)
    return Request(
        found.name,
        payload_pattern(loud, "req", written(loud)),
        payload_pattern(silent, "req", written(silent)),
        ranges,
        number,
        loud,
    )


def _field_ranges(fields: Iterable[FieldPattern]) -> dict[str, tuple[int, int]]:
    found = {}
    for field in fields:
        numbers = [value for value in field.values if isinstance(value, int)]
        ends = [*numbers, *(end for ends in field.ranges for end in ends)]
        if field.capture:
            found[field.capture] = (min(ends), max(ends)) if ends else (0, _LARGEST)
    for name in captures(EventPattern(fields=tuple(fields))):
        found.setdefault(name, (0, _LARGEST))
    return found


# -------------------------------------------------------------------------------------- responses


def response(source: SourceText) -> EventPattern:
    """A positive response as it was written."""
    return parse_message(source, "res").pattern


def positive(request: Request) -> EventPattern:
    """Any positive response that repeats what it has to of the request, as far as that is certain
    (ISO 14229-1: the sub-function, the identifier of what is read, and so on)."""
    if request.payload is None or request.service is None:
        name = label("res", request.name)
        return EventPattern(frozenset((name,)), text=f"res {request.name}")
    asked = request.payload.bytes()[1 : 1 + repeated(request.service)]
    parts = (frozenset((request.service + 0x40,)), *asked)
    payload = Payload(tuple(map(OneOf, parts)), True)
    return payload_pattern(payload, "res", written(payload))


def negative(request: Request, codes: Iterable[int]) -> EventPattern:
    """A refusal with one of these codes; none given: with any."""
    wanted = frozenset(codes)
    fields = (FieldPattern("code", wanted),) if wanted else ()
    text = f"neg {request.name}" + (f" code={codes_text(wanted)}" if wanted else "")
    return EventPattern(frozenset((label("neg", request.name),)), fields, text=text)


def pending(request: Request) -> EventPattern:
    return EventPattern(frozenset((label("pend", request.name),)), text=f"pend {request.name}")


def codes_text(codes: Iterable[int]) -> str:
    texts = [f"0x{code:02X}" for code in sorted(codes)]
    return texts[0] if len(texts) == 1 else "{" + ", ".join(texts) + "}"


def silent_to_all(codes: Iterable[int], silent: Iterable[int]) -> tuple[bool, tuple[int, ...]]:
    """What becomes of a refusal with these codes if all were asked: whether nothing may come, and
    with which codes something has to. Any code (none given) may be one of either kind."""
    wanted, kept = tuple(codes), frozenset(silent)
    if not wanted:
        return bool(kept), ()
    return bool(kept & {*wanted}), tuple(code for code in wanted if code not in kept)


_REQUESTED = (frozenset(range(0x40)) | frozenset(range(0x80, 0xC0)),)
#: Any request in bytes, and its refusal; both tell the number of the service.
UNKNOWN = EventPattern(
    payload_pattern(Payload((OneOf(*_REQUESTED),), True), "req").labels,
    (FieldPattern(PAYLOAD, regex=r"(?P<service>[\x00-\x3f\x80-\xbf]).*"),),
    text="any request",
)
UNKNOWN_REFUSED = EventPattern(
    frozenset(name.replace("req ", "neg ", 1) for name in UNKNOWN.labels),
    (FieldPattern(PAYLOAD, regex=r"\x7f(?P<service>.).*"),),
    text="refused",
)


def both(one: EventPattern, other: EventPattern) -> EventPattern:
    """What matches both."""
    text = f"{one.text} {other.text}"
    return EventPattern(one.labels, one.fields, (*one.also, other), one.unless, text)
