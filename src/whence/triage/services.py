"""Requirements of an ECU, written down in Python (Becker et al., section 7)::

    ecu = EcuDescription("Door", p2="50 ms", p2_star="5 s", activity="s3")
    ecu.variable("session", ["default", "extended"], initial="default", requirements=["SES-1"])
    ecu.service("extended session", "10 03", effects="session = extended", suppressible=True)
    ecu.service("write limit", "2E 01 01 <value>", effects="limit = value",
                needs=["session == extended else 0x7F"])
    ecu.reaction("session timeout", when="session != default", after="5 s", within="5.5 s",
                 effects="session = default")
    automaton = ecu.compile()

What the texts mean is said in docs/prd.md: they are the same as in our YAML files.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeAlias

from whence.expr.scope import Problem
from whence.formats.prd.ecus import precondition
from whence.formats.prd.lexing import Tokens, duration
from whence.model.ecu import (
    SILENT,
    Ecu,
    EcuVariable,
    Incident,
    Parameter,
    Precondition,
    Reaction,
    Refusal,
    Requirement,
    Restart,
    Service,
    ServiceResponse,
    Start,
    Timing,
)
from whence.model.prd import PrdAutomaton
from whence.source import Diagnostic, InputError, SourceText
from whence.triage.ecu_automaton import compile_ecu

__all__ = ["EcuDescription", "Time"]

#: Seconds, or a text such as `50 ms`.
Time: TypeAlias = Fraction | int | str


class EcuDescription:
    """Grows by what is said about it; :meth:`ecu` is what was said so far."""

    def __init__(
        self,
        name: str,
        *,
        p2: Time | None = None,
        p2_star: Time | None = None,
        activity: str = "",
        silent: Iterable[int] = SILENT,
        unknown: Iterable[int] | None = None,
        silences: bool = True,
        start: Start = "power-on",
    ) -> None:
        self._ecu = Ecu(
            name=name,
            services=(),
            activity=activity,
            timing=Timing(p2=_time(p2), p2_star=_time(p2_star)),
            silent=tuple(silent),
            unknown=None if unknown is None else tuple(unknown),
            silences=silences,
            start=start,
        )

    def ecu(self) -> Ecu:
        return self._ecu

    def compile(self, **parameters: str | int) -> PrdAutomaton:
        """The automaton of this variant. Raises InputError with all that is wrong."""
        return compile_ecu(self._ecu, parameters)

    def _add(self, name: str, item: object) -> None:
        changed: dict[str, Any] = {name: (*getattr(self._ecu, name), item)}
        self._ecu = replace(self._ecu, **changed)

    # ---------------------------------------------------------------------- variants and state

    def requirement(self, ident: str, text: str) -> None:
        self._add("requirements", Requirement(ident, text))

    def parameter(
        self, name: str, values: Sequence[str | int], default: str | int | None = None
    ) -> None:
        chosen = values[0] if default is None else default
        self._add("parameters", Parameter(name=name, values=tuple(values), default=chosen))

    def variable(
        self,
        name: str,
        values: Sequence[str] | range,
        initial: str | int | None = None,
        *,
        keeps: bool = False,
        requirements: Iterable[str] = (),
    ) -> None:
        """One of these names, or a number of a range. `initial` None: not known."""
        if isinstance(values, range):
            names: tuple[str, ...] = ()
            low, high = values[0], values[-1]
        else:
            names = tuple(values)
            low, high = 0, len(names) - 1
        first = names.index(initial) if isinstance(initial, str) else initial
        variable = EcuVariable(name=name, low=low, high=high, names=names, initial=first,
                               keeps=keeps, requirements=tuple(requirements))  # fmt: skip
        self._add("variables", variable)

    def clock(self, name: str) -> None:
        self._add("clocks", name)

    def restart(self, after: Time, within: Time, requirements: Iterable[str] = ()) -> None:
        """How long the ECU takes to start again."""
        self._ecu = replace(
            self._ecu,
            restart=Restart(after=_time(after) or Fraction(0), within=_time(within) or Fraction(0),
                            requirements=tuple(requirements)),
        )  # fmt: skip

    # -------------------------------------------------------------------------------- services

    def service(
        self,
        name: str,
        request: str,
        response: str | None = "any",
        *,
        responses: Iterable[str | Mapping[str, Any]] = (),
        needs: Iterable[str | Mapping[str, Any]] = (),
        refusals: Iterable[int | Mapping[str, Any]] = (),
        effects: str = "",
        p2: Time | None = None,
        p2_star: Time | None = None,
        pending: bool = False,
        suppressible: bool = False,
        concurrent: bool = False,
        restarts: bool = False,
        only: str = "",
        requirements: Iterable[str] = (),
    ) -> None:
        """`response` None: it gets none. `responses` in its place: texts, or mappings with
        `message`, `when`, `effects` and `requirements`. `needs`: texts such as
        `session == extended else 0x7F`, or mappings with `condition`, `else` (a code or several),
        `effects` (of the refusal) and `requirements`. `refusals`: codes, or mappings with `code`,
        `when`, `effects` and `requirements`."""
        what = f"service {name}"
        own = None
        if p2 is not None or p2_star is not None:
            own = Timing(
                p2=self._ecu.timing.p2 if p2 is None else _time(p2),
                p2_star=self._ecu.timing.p2_star if p2_star is None else _time(p2_star),
            )
        answers = [_response(one, what) for one in responses]
        if not answers and response not in (None, "any"):
            answers = [ServiceResponse(text=_text(response or "", what))]
        self._add(
            "services",
            Service(
                name=name,
                request=SourceText(request, element=what),
                answers=response is not None,
                responses=tuple(answers),
                preconditions=tuple(_need(one, what) for one in needs),
                refusals=tuple(_refusal(one, what) for one in refusals),
                effects=_text(effects, what),
                timing=own,
                pending=pending,
                suppressible=suppressible,
                concurrent=concurrent,
                restarts=restarts,
                only=_text(only, what),
                requirements=tuple(requirements),
            ),
        )

    def reaction(
        self,
        name: str,
        effects: str,
        *,
        when: str = "",
        clock: str = "",
        after: Time = 0,
        within: Time | None = None,
        only: str = "",
        requirements: Iterable[str] = (),
    ) -> None:
        """What the ECU does by itself. `within` None: it may do it, but need not."""
        what = f"reaction {name}"
        self._add(
            "reactions",
            Reaction(
                name=name,
                condition=_text(when, what),
                clock=clock,
                after=_time(after) or Fraction(0),
                within=_time(within),
                effects=SourceText(effects, element=what),
                only=_text(only, what),
                requirements=tuple(requirements),
            ),
        )

    def incident(
        self,
        name: str,
        event: str,
        *,
        when: str = "",
        effects: str = "",
        restarts: bool = False,
        only: str = "",
        requirements: Iterable[str] = (),
    ) -> None:
        """An event that is no request and no response to one."""
        what = f"incident {name}"
        self._add(
            "incidents",
            Incident(
                name=name,
                event=SourceText(event, element=what),
                condition=_text(when, what),
                effects=_text(effects, what),
                restarts=restarts,
                only=_text(only, what),
                requirements=tuple(requirements),
            ),
        )


def _text(text: str, what: str) -> SourceText | None:
    return SourceText(text, element=what) if text else None


def _response(said: str | Mapping[str, Any], what: str) -> ServiceResponse:
    if isinstance(said, str):
        return ServiceResponse(text=_text(said, what))
    return ServiceResponse(
        text=_text(said.get("message", ""), what),
        condition=_text(said.get("when", ""), what),
        effects=_text(said.get("effects", ""), what),
        requirements=tuple(said.get("requirements", ())),
    )


def _need(said: str | Mapping[str, Any], what: str) -> Precondition:
    if not isinstance(said, str):
        return Precondition(
            condition=SourceText(said["condition"], element=what),
            codes=_codes(said.get("else", ())),
            effects=_text(said.get("effects", ""), what),
            requirements=tuple(said.get("requirements", ())),
        )
    try:
        return precondition(SourceText(said, element=what))
    except Problem as problem:
        raise InputError(Diagnostic(problem.message, hint=problem.hint, element=what)) from None


def _codes(said: int | Iterable[int]) -> tuple[int, ...]:
    return (said,) if isinstance(said, int) else tuple(said)


def _refusal(said: int | Mapping[str, Any], what: str) -> Refusal:
    if isinstance(said, int):
        return Refusal(codes=(said,))
    return Refusal(
        codes=_codes(said.get("code", ())),
        condition=_text(said.get("when", ""), what),
        effects=_text(said.get("effects", ""), what),
        requirements=tuple(said.get("requirements", ())),
    )


def _time(value: Time | None) -> Fraction | None:
    if value is None:
        return None
    if not isinstance(value, str):
        return Fraction(value)
    try:
        tokens = Tokens(SourceText(value))
        found = duration(tokens, None)
        tokens.done()
    except Problem as problem:
        raise InputError(Diagnostic(f"`{value}`: {problem.message}", hint=problem.hint)) from None
    return found
