"""What the texts in the description of an ECU mean for one variant of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from whence.expr.scope import Problem, Problems
from whence.formats.prd.expressions import Scope, Updates, parse_guard, parse_updates
from whence.formats.prd.patterns import captures, without
from whence.model.ecu import Ecu, Precondition, Service, Timing
from whence.model.prd import (
    TRUE,
    Assignment,
    Captured,
    Comparison,
    EventPattern,
    FieldPattern,
    Guard,
    Read,
    Variable,
)
from whence.source import NOWHERE, SourceText
from whence.triage.folding import FALSE, assigned, folded
from whence.triage.messages import (
    UNKNOWN,
    UNKNOWN_REFUSED,
    Request,
    negative,
    read_request,
    response,
)
from whence.triage.overlaps import overlap

__all__ = ["Entry", "Meaning", "parameters_of"]

_WORD = re.compile(r"[^\W\d]\w*")


def parameters_of(ecu: Ecu, chosen: Mapping[str, str | int]) -> dict[str, str | int]:
    """The value of each parameter: what was chosen, or its default. Raises InputError."""
    problems = Problems()
    values = {parameter.name: parameter.default for parameter in ecu.parameters}
    known = {parameter.name: parameter for parameter in ecu.parameters}
    for name, value in chosen.items():
        parameter = known.get(name)
        if parameter is None:
            has = ", ".join(known) or "none"
            problems.add(
                Problem(f"`{name}` is no parameter of this model", NOWHERE, f"it has {has}")
            )
        elif value not in parameter.values:
            has = ", ".join(map(str, parameter.values[:20]))
            problems.add(
                Problem(f"the parameter `{name}` cannot be {value}", NOWHERE, f"it can be {has}")
            )
        else:
            values[name] = value
    problems.raise_any()
    return values


@dataclass(frozen=True, slots=True)
class Entry:
    """A service of this variant. `plain` and `quiet` are its requests as far as no service before
    it has them; `kept` are values of the request that are remembered for the response, by the
    name of their capture."""

    service: Service
    request: Request
    plain: EventPattern
    quiet: EventPattern | None
    timing: Timing
    kept: dict[str, Variable] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.service.name

    def remembering(self) -> tuple[Assignment, ...]:
        return tuple(
            Assignment(variable.name, Captured(name)) for name, variable in self.kept.items()
        )

    def negative(self, codes: Iterable[int]) -> tuple[EventPattern, Guard]:
        if self.request.service is not None or not self._is_unknown():
            return negative(self.request, codes), TRUE
        wanted = frozenset(codes)
        fields = (FieldPattern("code", wanted),) if wanted else ()
        pattern = EventPattern(
            UNKNOWN_REFUSED.labels, (*UNKNOWN_REFUSED.fields, *fields), text="refused"
        )
        return pattern, Comparison(Captured("service"), "==", Read(self.kept["service"].name))

    def _is_unknown(self) -> bool:
        return self.request.plain is UNKNOWN


class Meaning:
    """`problems` collects what is wrong."""

    def __init__(self, ecu: Ecu, values: Mapping[str, str | int], problems: Problems) -> None:
        self.ecu = ecu
        self.problems = problems
        self.parameters = {p.name: _parameter(p.name, p.values) for p in ecu.parameters}
        #: Of the parameters: what they are in guards.
        self.fixed = {
            p.name: _number(p.values, values[p.name]) for p in ecu.parameters
        }  # fmt: skip
        known = ecu.start == "power-on"
        self.variables = {
            v.name: Variable(v.name, v.low, v.high, v.names, v.initial if known else None, v.origin)
            for v in ecu.variables
        }
        activity = (ecu.activity,) if ecu.activity else ()
        self.clocks = tuple(dict.fromkeys((*ecu.clocks, *activity)))
        self.reactions = [r for r in ecu.reactions if self.exists(r.only)]
        self.incidents = [i for i in ecu.incidents if self.exists(i.only)]
        self.entries: list[Entry] = []
        self._read_services()

    # ----------------------------------------------------------------------------------- meanings

    def scope(
        self, names: Mapping[str, Variable] | None = None, captured: Iterable[str] = ()
    ) -> Scope:
        return Scope(
            {**self.variables, **self.parameters, **(names or {})},
            frozenset(self.clocks),
            frozenset(captured),
        )

    def exists(self, only: SourceText | None) -> bool:
        """Whether this is there in this variant."""
        if only is None:
            return True
        with self.problems.collecting(only.element):
            guard = folded(parse_guard(only, Scope(self.parameters)), self.fixed)
            return guard != FALSE
        return False

    def guard(self, text: SourceText | None, scope: Scope) -> Guard:
        if text is not None:
            with self.problems.collecting(text.element):
                return folded(parse_guard(text, scope), self.fixed)
        return TRUE

    def updates(self, scope: Scope, *texts: SourceText | None) -> Updates:
        """Of what is assigned twice, the later text wins."""
        assignments: dict[str, Assignment] = {}
        resets: dict[str, None] = {}
        for text in texts:
            if text is None:
                continue
            with self.problems.collecting(text.element):
                found = parse_updates(text, scope)
                for assignment in assigned(found.assignments, self.fixed):
                    if assignment.variable in self.parameters:
                        raise Problem(
                            f"`{assignment.variable}` is a parameter, which cannot change",
                            text.origin(0, len(text.text)),
                        )
                    assignments[assignment.variable] = assignment
                resets.update(dict.fromkeys(found.resets))
        return Updates(tuple(assignments.values()), tuple(resets))

    def restarts(self) -> bool:
        return any(entry.service.restarts for entry in self.entries) or any(
            incident.restarts for incident in self.incidents
        )

    # ----------------------------------------------------------------------------------- services

    def _read_services(self) -> None:
        names: set[str] = set()
        for service in self.ecu.services:
            if not self.exists(service.only):
                continue
            with self.problems.collecting(f"service {service.name}"):
                if service.name in names:
                    raise Problem(
                        f"there are two services `{service.name}`",
                        service.origin,
                        "give one of them another name",
                    )
                names.add(service.name)
                request = read_request(service)
                self._add(service, request, self._kept(service, request))
        if self.ecu.unknown is not None:
            with self.problems.collecting("unknown requests"):
                self._add_unknown(self.ecu.unknown)

    def _add(self, service: Service, request: Request, kept: dict[str, Variable]) -> None:
        earlier = [pattern for entry in self.entries for pattern in entry.request.whole()]

        def unlike(pattern: EventPattern) -> EventPattern:
            return without(pattern, *(other for other in earlier if overlap(other, pattern)))

        quiet = None if request.quiet is None else unlike(request.quiet)
        timing = service.timing or self.ecu.timing
        self.entries.append(Entry(service, request, unlike(request.plain), quiet, timing, kept))

    def _add_unknown(self, codes: tuple[int, ...]) -> None:
        """Requests that no service is for. The refusal has to name the service that was asked."""
        if any(entry.request.service is None for entry in self.entries):
            raise Problem(
                "what is an unknown request can be told only where all requests are bytes",
                self.ecu.origin,
            )
        refused = Precondition(condition=SourceText("false"), codes=codes)
        service = Service(
            name="unknown service", request=SourceText("any request"), preconditions=(refused,)
        )
        kept = {"service": Variable("unknown.service", 0, 255, (), 0)}
        request = Request("any service", UNKNOWN, None, {"service": (0, 255)})
        self._add(service, request, kept)

    def _kept(self, service: Service, request: Request) -> dict[str, Variable]:
        """The values of the request that its responses speak of."""
        texts = [service.effects]
        own: set[str] = set()
        for refusal in service.refusals:
            texts += [refusal.condition, refusal.effects]
        for item in service.responses:
            texts += [item.condition, item.effects]
            own.update(captures(response(item.text)) if item.text is not None else ())
        words = {word for text in texts if text is not None for word in _WORD.findall(text.text)}
        slug = re.sub(r"\W+", "_", service.name).strip("_")
        found: dict[str, Variable] = {}
        for name, (low, high) in request.ranges.items():
            if name in self.variables or name in self.clocks or name in self.parameters:
                raise Problem(
                    f"`{name}` is captured here, and is a part of the state",
                    service.request.origin(0, len(service.request.text)),
                    "give the captured value another name",
                )
            if name in own:
                raise Problem(
                    f"`{name}` is captured from the request and from a response",
                    service.request.origin(0, len(service.request.text)),
                )
            if name in words:
                found[name] = Variable(f"{slug}.{name}", low, high, (), 0)
        return found


def _parameter(name: str, values: tuple[str | int, ...]) -> Variable:
    numbers = [value for value in values if isinstance(value, int)]
    if len(numbers) == len(values):
        return Variable(name, min(numbers, default=0), max(numbers, default=0))
    return Variable(name, 0, len(values) - 1, tuple(map(str, values)))


def _number(values: tuple[str | int, ...], value: str | int) -> int:
    if all(isinstance(one, int) for one in values) and isinstance(value, int):
        return value
    return values.index(value)
