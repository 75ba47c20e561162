"""What an ODX database (PDX) says of an ECU, as far as it is about what may follow a request:
services, their messages, state charts, preconditions, state transitions, times.

One diagnostic layer is read, that of a variant. What the database leaves open, the model does:

- a service may be refused at any time, with the codes that its negative responses have;
- a response may be put off, unless the database says otherwise (CP_RC78Handling);
- of parameters, the constant ones and those that repeat the request are compared; others have
  any value.

What it says and the model does not use is told in notes.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any, Final, Literal

from whence.formats.can.odx import read_pdx
from whence.formats.can.services import PENDING
from whence.formats.prd.payloads import ANY, Captures, OneOf, Payload, written
from whence.model.ecu import (
    Ecu,
    EcuVariable,
    Parameter,
    Precondition,
    Refusal,
    Service,
    ServiceResponse,
    Timing,
)
from whence.source import Diagnostic, InputError, Origin, SourceText

__all__ = ["OdxEcu", "read_odx"]

#: A service with more combinations of state transitions than this is refused.
_MOST_RESPONSES: Final = 256
_MICRO: Final = 1_000_000
#: The kinds of layers that are ECUs.
_KINDS: Final = ("EcuVariant", "BaseVariant")


@dataclass(frozen=True, slots=True)
class OdxEcu:
    """`notes` say what of the database the model does not have. `variants`: the layers that could
    have been read."""

    ecu: Ecu
    variants: tuple[str, ...]
    notes: tuple[Diagnostic, ...]


def read_odx(path: str, variant: str = "", timing: Timing | None = None) -> OdxEcu:
    """The ECU variant of this name; none named: the only one. `timing` takes the place of what the
    database says about times. Raises InputError."""
    database = read_pdx(path)
    origin = Origin(path)
    layers = [
        layer for kind in _KINDS for layer in database.whole.diag_layers
        if type(layer).__name__ == kind
    ]  # fmt: skip
    variants = [layer for layer in layers if type(layer).__name__ == _KINDS[0]] or layers
    names = tuple(str(layer.short_name) for layer in variants)
    wanted = (
        [layer for layer in layers if str(layer.short_name) == variant] if variant else variants
    )
    if len(wanted) != 1:
        what = "there is no ECU in this database"
        if wanted:
            what = f"this database has {len(wanted)} variants: {', '.join(names)}"
        elif names:
            what = f"`{variant}` is no variant in this database; it has {', '.join(names)}"
        hint = "choose one: `--set variant=NAME`" if names else ""
        raise InputError(Diagnostic(what, origin, hint))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            reader = _Reader(wanted[0], path, timing)
            ecu = reader.ecu(names)
    except InputError:
        raise
    except (Exception, RecursionError) as error:  # odxtools raises what it likes
        why = " ".join(str(error).split())[:200] or type(error).__name__
        raise InputError(Diagnostic(f"the database contradicts itself: {why}", origin)) from None
    return OdxEcu(ecu, names, tuple(reader.notes))


class _Reader:
    def __init__(self, layer: Any, path: str, timing: Timing | None) -> None:
        self.layer = layer
        self.timing = timing
        self.path = path
        self.origin = Origin(path)
        self.notes: list[Diagnostic] = []
        self.charts = [chart for chart in layer.state_charts if len(chart.states)]

    def ecu(self, variants: tuple[str, ...]) -> Ecu:
        layer = self.layer
        name = str(layer.short_name)
        services = tuple(self._services())
        if not services:
            raise InputError(Diagnostic(f"`{name}` has no services", self.origin))
        values = variants if name in variants else (*variants, name)
        return Ecu(
            name=name,
            services=services,
            variables=tuple(map(self._variable, self.charts)),
            parameters=(
                Parameter(name="variant", values=values, default=name, origin=self.origin),
            ),
            timing=self.timing
            or Timing(p2=self._time("CP_P2Max"), p2_star=self._time("CP_P2Star")),
            unknown=(),
            origin=self.origin,
        )

    def _note(self, message: str, element: str = "") -> None:
        self.notes.append(Diagnostic(message, self.origin, "", element, "note"))

    def _text(self, text: str, element: str) -> SourceText:
        return SourceText(text, self.path, (), element)

    def _parameter(self, name: str) -> str:
        found = self.layer.get_comparam(name)
        value = None if found is None else found.value
        return value if isinstance(value, str) else ""

    def _time(self, name: str) -> Fraction | None:
        """Times of communication parameters are microseconds."""
        text = self._parameter(name)
        if not (text.isascii() and text.isdigit() and len(text) < 16):
            self._note(f"the database says nothing about {name}: responses may come at any time")
            return None
        return Fraction(int(text), _MICRO)

    def _variable(self, chart: Any) -> EcuVariable:
        names = tuple(_name(state.short_name) for state in chart.states)
        first = _name(chart.start_state_snref)
        return EcuVariable(
            name=_name(chart.short_name),
            low=0,
            high=len(names) - 1,
            names=names,
            initial=names.index(first) if first in names else None,
            origin=self.origin,
        )

    # ----------------------------------------------------------------------------------- services

    def _services(self) -> Iterator[Service]:
        # The more constant bytes a request has, the more special it is: it comes first.
        found: list[tuple[int, int, Any, Payload]] = []
        for service in self.layer.services:
            name = str(service.short_name)
            if getattr(service, "request", None) is None:
                self._note("a job without a request is no matter here", name)
                continue
            if str(service.transmission_mode).endswith("RECEIVE_ONLY"):
                self._note("messages that the ECU sends by itself are not modelled", name)
                continue
            parts = _parts(service.request)
            if parts.first() is None:
                self._note("its request does not begin with a constant byte: it is left out", name)
                continue
            found.append((-sum(len(each) == 1 for each in parts.bytes()), len(found), service,
                          parts))  # fmt: skip
        for _, _, service, parts in sorted(found, key=lambda one: one[:2]):
            yield self._service(service, parts)

    def _service(self, service: Any, request: Payload) -> Service:
        name = str(service.short_name)
        what = f"service {name}"
        responses, repeated = [], dict[int, Captures]()
        for response in service.positive_responses:
            message, condition, needed = _response(response, request)
            repeated.update(needed)
            responses.append((message, condition))
        parts = list(request.parts)
        for at, capture in repeated.items():
            parts[at : at + capture.size] = [capture]
        asked = Payload(tuple(parts), request.rest)
        mode = str(service.transmission_mode)
        answers = not mode.endswith("SEND_ONLY")
        return Service(
            name=name,
            request=self._text(written(asked), what),
            answers=answers,
            responses=tuple(self._responses(service, responses, what)),
            preconditions=tuple(self._preconditions(service, what)),
            refusals=(Refusal(codes=self._codes(service, what), origin=self.origin),),
            pending=self._parameter("CP_RC78Handling") != "Disabled",
            origin=self.origin,
        )

    def _responses(
        self, service: Any, messages: Sequence[tuple[Payload, str]], what: str
    ) -> Iterator[ServiceResponse]:
        """Each message with each combination of what can become of the state charts."""
        choices = [self._changes(service, chart, what) for chart in self.charts]
        choices = [changes for changes in choices if changes]
        size = len(messages or (1,))
        for changes in choices:
            size *= len(changes)
        if size > _MOST_RESPONSES:
            raise InputError(
                Diagnostic(f"more than {_MOST_RESPONSES} combinations of state transitions",
                           self.origin, "", what)
            )  # fmt: skip
        if not choices and not messages:
            return
        for message, condition in messages or ((None, ""),):
            for chosen in product(*choices):
                conditions = [condition, *(when for when, _ in chosen)]
                effects = "; ".join(effect for _, effect in chosen if effect)
                when = " and ".join(f"({each})" for each in conditions if each)
                yield ServiceResponse(
                    text=None if message is None else self._text(written(message), what),
                    condition=self._text(when, what) if when else None,
                    effects=self._text(effects, what) if effects else None,
                    origin=self.origin,
                )

    def _changes(self, service: Any, chart: Any, what: str) -> list[tuple[str, str]]:
        """(condition, effect) of each transition of the chart that the service takes, and of none
        if there is none from the current state."""
        variable = _name(chart.short_name)
        own = {id(transition) for transition in chart.state_transitions}
        known = {str(transition.odx_id): transition for transition in chart.state_transitions}
        taken = {}
        for reference, transition in zip(
            service.state_transition_refs, service.state_transitions, strict=True
        ):
            if id(transition) not in own and str(transition.odx_id) not in known:
                continue
            if getattr(reference, "value", None) is not None:
                self._note(f"`{transition.short_name}` depends on a parameter: whether it is taken "
                           "is left open", what)  # fmt: skip
            source, target = _name(transition.source_snref), _name(transition.target_snref)
            taken[f"{variable} == {source}", f"{variable} = {target}"] = source
            if getattr(reference, "value", None) is not None:
                taken[f"{variable} == {source}", ""] = source
        if not taken:
            return []
        sources = dict.fromkeys(taken.values())
        return [*taken, (f"{variable} not in {{{', '.join(sources)}}}", "")]

    def _preconditions(self, service: Any, what: str) -> Iterator[Precondition]:
        """In each chart that the preconditions are about, one of their states has to be there."""
        needed: dict[str, dict[str, None]] = {}
        for reference, state in zip(
            service.pre_condition_state_refs, service.pre_condition_states, strict=True
        ):
            if getattr(reference, "value", None) is not None:
                self._note(f"the precondition `{state.short_name}` depends on a parameter and is "
                           "left out", what)  # fmt: skip
                continue
            for chart in self.charts:
                if any(str(one.odx_id) == str(state.odx_id) for one in chart.states):
                    names = needed.setdefault(_name(chart.short_name), {})
                    names[_name(state.short_name)] = None
        for variable, names in needed.items():
            text = f"{variable} in {{{', '.join(names)}}}"
            yield Precondition(condition=self._text(text, what), origin=self.origin)

    def _codes(self, service: Any, what: str) -> tuple[int, ...]:
        """Of its negative responses, if all of them have constant ones; none: any."""
        codes: set[int] = set()
        for response in (*service.negative_responses, *self.layer.global_negative_responses):
            parts = _parts(response).bytes()
            if len(parts) < 3:
                self._note("a negative response without a code is no refusal here", what)
            elif len(parts[2]) > 64:
                return ()
            else:
                codes |= parts[2]
        return tuple(sorted(codes - {PENDING}))


# --------------------------------------------------------------------------------------- messages


def _parts(coding: Any) -> Payload:
    """What each byte of a message may be."""
    found, rest, _ = _layout(coding)
    return Payload(tuple(map(OneOf, found)), rest)


def _layout(coding: Any) -> tuple[list[frozenset[int]], bool, list[tuple[Any, int]]]:
    """The bytes, whether more may follow, and where parameters that repeat the request begin."""
    parts: list[frozenset[int]] = []
    repeats: list[tuple[Any, int]] = []
    cursor: int | None = 0
    rest = False
    for parameter in coding.parameters:
        at = parameter.byte_position if parameter.byte_position is not None else cursor
        length = parameter.get_static_bit_length()
        kind = type(parameter).__name__
        if kind == "MatchingRequestParameter":
            length = 8 * parameter.byte_length
        if at is None or length is None:
            # What comes behind a parameter of unknown length is at an unknown place.
            rest, cursor = True, None
            if at is None:
                continue
            length = 0
        bits = (parameter.bit_position or 0) + length
        size = (bits + 7) // 8
        parts += [ANY.values] * (at + size - len(parts))
        for offset, values in enumerate(_constants(parameter, kind, size)):
            parts[at + offset] &= values
        if kind == "MatchingRequestParameter":
            repeats.append((parameter, at))
        if not rest:
            cursor = at + size
    return parts, rest, repeats


def _constants(parameter: Any, kind: str, size: int) -> list[frozenset[int]]:
    """What the bytes of a constant parameter may be; nothing for others."""
    if kind == "CodedConstParameter":
        numbers = [parameter.coded_value]
    elif kind == "NrcConstParameter":
        numbers = list(parameter.coded_values)
    else:
        return []
    length = parameter.get_static_bit_length()
    shift = parameter.bit_position or 0
    if not all(isinstance(number, int) for number in numbers) or length is None:
        return []
    low = getattr(parameter.diag_coded_type, "is_highlow_byte_order_raw", None) is False
    mask = ((1 << length) - 1) << shift
    order: Literal["little", "big"] = "little" if low else "big"
    masks = mask.to_bytes(size, order)
    found: list[set[int]] = [set() for _ in range(size)]
    for number in numbers:
        told = (number << shift & mask).to_bytes(size, order)
        for at in range(size):
            found[at] |= {byte for byte in range(256) if byte & masks[at] == told[at]}
    return [frozenset(values) for values in found]


def _response(coding: Any, request: Payload) -> tuple[Payload, str, dict[int, Captures]]:
    """The message, a condition on it, and what the request has to capture for that, by place."""
    parts, rest, repeats = _layout(coding)
    asked = request.bytes()
    wanted: dict[int, Captures] = {}
    given: dict[int, Captures] = {}
    conditions = []
    for parameter, at in repeats:
        start, size = parameter.request_byte_position, parameter.byte_length
        if start + size > len(asked):
            continue
        copied = asked[start : start + size]
        if all(values == ANY.values for values in copied) and size <= 8:
            wanted[start] = Captures(f"asked_{start}", size)
            given[at] = Captures(f"answered_{at}", size)
            conditions.append(f"answered_{at} == asked_{start}")
        else:
            for offset, values in enumerate(copied):
                parts[at + offset] &= values
    whole: list[OneOf | Captures] = list(map(OneOf, parts))
    for at in sorted(given, reverse=True):
        whole[at : at + given[at].size] = [given[at]]
    return Payload(tuple(whole), rest), " and ".join(conditions), wanted


def _name(text: Any) -> str:
    return str(text)
