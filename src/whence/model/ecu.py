"""What a requirements document says about an ECU: services with requests and responses, their
conditions, times and effects (Becker et al., section 7: "an API capable of programmatically
describing services and their communication requirements").

Values without behaviour. Conditions, effects and patterns are texts as they were written;
`whence.triage.services` makes a PRD automaton of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, TypeAlias

from whence.model.prd import PrdAutomaton
from whence.source import NOWHERE, Origin, SourceText

__all__ = [
    "SILENT",
    "Ecu",
    "EcuVariable",
    "Incident",
    "Parameter",
    "PrdSystem",
    "Precondition",
    "Reaction",
    "Refusal",
    "Requirement",
    "Restart",
    "Service",
    "ServiceResponse",
    "Start",
    "Timing",
]


@dataclass(frozen=True, slots=True)
class Requirement:
    """What the document says under this number."""

    ident: str
    text: str
    origin: Origin = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class PrdSystem:
    """Automata that take every step together, over the same variables and clocks: their product is
    what the requirements allow."""

    name: str = ""
    parts: tuple[PrdAutomaton, ...]
    requirements: tuple[Requirement, ...] = ()
    origin: Origin = field(default=NOWHERE, compare=False)


# ----------------------------------------------------------------------------- variants and state


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """Something that does not change while a test runs, such as the variant or the version of the
    software: the requirements differ by it. `values`: names, or numbers."""

    name: str
    values: tuple[str | int, ...]
    default: str | int
    origin: Origin = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class EcuVariable:
    """A part of the state: `low .. high`, or one of `names`. `initial`: what it is after power-on,
    None if that is not known. `keeps`: it is not reset by a restart."""

    name: str
    low: int = 0
    high: int = 255
    names: tuple[str, ...] = ()
    initial: int | None = None
    keeps: bool = False
    requirements: tuple[str, ...] = ()
    origin: Origin = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """`p2`: from the end of a request to the start of its response; `p2_star`: from a pending
    response to the next one. In seconds; None: no matter when."""

    p2: Fraction | None = None
    p2_star: Fraction | None = None


# --------------------------------------------------------------------------------------- services


@dataclass(frozen=True, slots=True, kw_only=True)
class Precondition:
    """What has to hold at the end of the request for the service to be done; if it does not, the
    ECU refuses, with one of `codes` (none given: with any code)."""

    condition: SourceText
    codes: tuple[int, ...] = ()
    requirements: tuple[str, ...] = ()
    effects: SourceText | None = None
    origin: Origin = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A negative response that the ECU may give, whatever it is asked, if the condition holds."""

    codes: tuple[int, ...] = ()
    condition: SourceText | None = None
    effects: SourceText | None = None
    requirements: tuple[str, ...] = ()
    origin: Origin = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceResponse:
    """A positive response; `condition` can speak of what it captures. `text` None: any positive
    response to this service."""

    text: SourceText | None = None
    condition: SourceText | None = None
    effects: SourceText | None = None
    requirements: tuple[str, ...] = ()
    origin: Origin = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """A request and what may follow.

    Of services whose requests can be the same, the first counts. `responses` empty, `answers` true:
    any positive response. `effects` come with each positive response. `suppressible`: the tester
    may ask not to get a positive response. `pending`: the ECU may put off its response.
    `concurrent`: it may be asked while another response is awaited, and never gets a response.
    `only`: a condition on parameters; without it the service does not exist. `restarts`: the ECU
    starts again after it.
    """

    name: str
    request: SourceText
    answers: bool = True
    responses: tuple[ServiceResponse, ...] = ()
    preconditions: tuple[Precondition, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    effects: SourceText | None = None
    timing: Timing | None = None
    pending: bool = False
    suppressible: bool = False
    concurrent: bool = False
    restarts: bool = False
    only: SourceText | None = None
    requirements: tuple[str, ...] = ()
    origin: Origin = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reaction:
    """What the ECU does by itself while nothing is asked: `clock` seconds between `after` and
    `within` later it takes the effects, if the condition holds. `within` None: it may, at any time
    from `after` on. A clock starts at the end of each response with `activity`, or where effects
    restart it."""

    name: str
    condition: SourceText | None = None
    clock: str = ""
    after: Fraction = Fraction(0)
    within: Fraction | None = None
    effects: SourceText
    only: SourceText | None = None
    requirements: tuple[str, ...] = ()
    origin: Origin = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """An event that is neither a request nor a response to one: a voltage that is switched, a
    message that the ECU sends by itself. `restarts`: the ECU starts again."""

    name: str
    event: SourceText
    condition: SourceText | None = None
    effects: SourceText | None = None
    restarts: bool = False
    only: SourceText | None = None
    requirements: tuple[str, ...] = ()
    origin: Origin = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Restart:
    """How long it takes, in seconds: nothing is answered until then."""

    after: Fraction = Fraction(0)
    within: Fraction = Fraction(0)
    requirements: tuple[str, ...] = ()


#: The codes with which ISO 14229-1 has no refusal sent if all were asked.
SILENT = (0x11, 0x12, 0x31, 0x7E, 0x7F)

Start: TypeAlias = Literal["power-on", "any"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ecu:
    """`activity`: the clock that every request and response restarts (S3), if there is one.
    `silent`: the codes of refusals that are not sent if all were asked. `start`: whether traces
    begin with variables as after power-on, or with any values. `unknown`: with which codes
    requests are refused that no service is for; None: such a request is a fault. `silences`: after
    a request that gets no response there is a state of its own for P2, so that a response that
    comes nevertheless is explained by it."""

    name: str
    services: tuple[Service, ...]
    variables: tuple[EcuVariable, ...] = ()
    clocks: tuple[str, ...] = ()
    activity: str = ""
    parameters: tuple[Parameter, ...] = ()
    reactions: tuple[Reaction, ...] = ()
    incidents: tuple[Incident, ...] = ()
    restart: Restart = Restart()
    timing: Timing = Timing()
    silent: tuple[int, ...] = SILENT
    unknown: tuple[int, ...] | None = None
    silences: bool = True
    start: Start = "power-on"
    requirements: tuple[Requirement, ...] = ()
    origin: Origin = field(default=NOWHERE, compare=False)
